"""Secret models: what is read, and what is refused by name."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, WrongType
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)


def test_gaussian_secret():
    assert GaussianSecret(2, mean="1/3").mean == Fraction(1, 3)
    with pytest.raises(InvalidInput, match=r"sigma must be positive.*DiscreteSecret"):
        GaussianSecret(0)
    with pytest.raises(InvalidInput, match="mean must be finite, got nan"):
        GaussianSecret(1, math.nan)


@pytest.mark.parametrize("make", [UniformSecret, BoundedSecret])
def test_ranges(make):
    assert make(-1, 2).support == (-1.0, 2.0)
    with pytest.raises(InvalidInput, match=r"low must be below high, got low=2.0 and high=1.0; swap them"):
        make(2, 1)
    with pytest.raises(InvalidInput, match=r"DiscreteSecret\(\[x\], \[1\]\)"):
        make(1, 1)
    with pytest.raises(InvalidInput, match="high must be finite, got inf"):
        make(0, math.inf)
    with pytest.raises(WrongType, match="low must be a float"):
        make(None, 1)


def test_uniform_is_not_bounded():
    assert UniformSecret(0, 1) != BoundedSecret(0, 1)


def test_discrete_masses_are_normalised_exactly():
    secret = DiscreteSecret([3, 1, 2], [0.1] * 2 + [0.8])
    assert sum(mass for _, mass in secret.atoms) == 1
    assert [x for x, _ in secret.atoms] == [1, 2, 3]
    assert DiscreteSecret([0, 1], ["1/3", "2/3"]).atoms == ((0, Fraction(1, 3)), (1, Fraction(2, 3)))


def test_points_without_mass_are_outside_the_support():
    secret = DiscreteSecret(np.array([-5.0, 0.0, 1.0]), np.array([0.0, 0.5, 0.5]))
    assert secret.support == (0.0, 1.0)
    assert len(secret.atoms) == 2


@pytest.mark.parametrize(
    ("points", "masses", "error", "parts"),
    [
        ([0, 1], [0.5, 0.6], InvalidPrior, "sum to 1 within 1e-9, got 1.1; divide counts"),
        ([0, 1], [-0.5, 1.5], InvalidPrior, "masses entry 0 must be at least 0, got -0.5"),
        ([0, 0], [0.5, 0.5], InvalidInput, "points entry 1 must differ .* as in entry 0; add up"),
        ([0, 1, 2], [0.5, 0.5], ShapeMismatch, "2 masses and 3 points"),
        ([0, math.nan], [0.5, 0.5], InvalidInput, "points entry 1 must be finite, got .*nan"),
        ([0, 1], [0.5, math.inf], InvalidInput, "masses entry 1 must be finite"),
        ([], [], InvalidInput, "points must not be empty"),
        ("01", [0.5, 0.5], WrongType, "points must be a"),
        ([0, 1e200], [0.5, 0.5], InvalidInput, "points entry 1 must be at most 1e.150"),
    ],
)
def test_discrete_refusals(points, masses, error, parts):
    with pytest.raises(error, match=parts):
        DiscreteSecret(points, masses)


def test_masses_within_the_slack_are_accepted():
    assert DiscreteSecret([0, 1], [0.5, 0.5 + 5e-10]).atoms[0][1] < Fraction(1, 2)


def test_distribution_secret():
    secret = DistributionSecret(stats.beta(2, 5, loc=1, scale=2), cdf_error=1e-9)
    assert secret.support == (1.0, 3.0)
    assert secret.cdf_error == 1e-9


@pytest.mark.parametrize(
    ("distribution", "error", "parts"),
    [
        (stats.binom(3, 0.5), WrongType, r"continuous.*use DiscreteSecret\(points, masses\)"),
        (stats.norm, WrongType, "frozen scipy.stats distribution.*call it with its parameters"),
        ("norm", WrongType, "frozen"),
        (stats.multivariate_normal([0, 0]), WrongType, "frozen"),
        (stats.norm(0, -1), InvalidInput, "valid scalar parameters.*check shape, loc and scale"),
        (stats.norm([0, 1], 1), InvalidInput, "valid scalar parameters"),
        (stats.gausshyper(13, 3, 2, 5), InvalidInput, "gausshyper.* integrates its density.*_cdf"),
    ],
)
def test_distribution_refusals(distribution, error, parts):
    with pytest.raises(error, match=parts):
        DistributionSecret(distribution)


def test_integrated_cdfs_need_a_stated_error():
    with pytest.raises(InvalidInput, match=r"at least 1e-6 for skewnorm, got cdf_error=1e-11; scipy finds"):
        DistributionSecret(stats.skewnorm(4))
    assert DistributionSecret(stats.skewnorm(4), cdf_error=1e-6).cdf_error == 1e-6


@pytest.mark.parametrize("bad", [0, -1e-9, 0.1, 1e-16])
def test_cdf_error_range(bad):
    with pytest.raises(InvalidInput, match=r"cdf_error must be in \[1e-13, 0.01\]"):
        DistributionSecret(stats.norm(0, 1), cdf_error=bad)
