"""Noise on numbers: what one noisy value, a mean or an interval gives away, and its envelope."""

from __future__ import annotations

from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.dispatch import comparisons, envelope
from tightlip.noise.gaussian_bounds import gaussian_pmc_bounds, gaussian_pmc_tail
from tightlip.noise.pointwise import information_density, interval_leakage, pmc, pml
from tightlip.noise.posterior import PosteriorMoment, PosteriorMoments, posterior_moments
from tightlip.noise.sample_mean import cumulant, laplace_mean_pmc, pmc_supremum
from tightlip.noise.unbounded import unbounded_attack
from tightlip.noise.variance import PosteriorVarianceBound, posterior_variance_bound

__all__ = [
    "AdditiveNoise",
    "BoundedSecret",
    "DiscreteSecret",
    "DistributionSecret",
    "Gaussian",
    "GaussianMixture",
    "GaussianSecret",
    "Laplace",
    "PosteriorMoment",
    "PosteriorMoments",
    "PosteriorVarianceBound",
    "UniformSecret",
    "comparisons",
    "cumulant",
    "envelope",
    "gaussian_pmc_bounds",
    "gaussian_pmc_tail",
    "information_density",
    "interval_leakage",
    "laplace_mean_pmc",
    "pmc",
    "pmc_supremum",
    "pml",
    "posterior_moments",
    "posterior_variance_bound",
    "unbounded_attack",
]
