"""How much closer a channel brings two inputs: contraction coefficients and the bounds that privacy gives."""

from __future__ import annotations

from tightlip.contraction.bounds import (
    DivergenceBound,
    block_kernel,
    divergence_bound,
    dobrushin_bound,
    ldp_contraction_bound,
    ldp_kl_bound,
    likelihood_ratio_bound,
    optimal_kernel,
    valid_counts,
)
from tightlip.contraction.certificate import ContractionCertificate, PairCertificate
from tightlip.contraction.coefficients import (
    chi_squared_contraction,
    dobrushin,
    e_gamma_contraction,
    hellinger_contraction,
    kl_contraction,
)
from tightlip.contraction.divergences import Divergence, divergence
from tightlip.contraction.result import Coefficient
from tightlip.contraction.summary import ContractionSummary, LevelBounds, level_bounds, measure

__all__ = [
    "Coefficient",
    "ContractionCertificate",
    "ContractionSummary",
    "Divergence",
    "DivergenceBound",
    "LevelBounds",
    "PairCertificate",
    "block_kernel",
    "chi_squared_contraction",
    "divergence",
    "divergence_bound",
    "dobrushin",
    "dobrushin_bound",
    "e_gamma_contraction",
    "hellinger_contraction",
    "kl_contraction",
    "ldp_contraction_bound",
    "ldp_kl_bound",
    "level_bounds",
    "likelihood_ratio_bound",
    "measure",
    "optimal_kernel",
    "valid_counts",
]
