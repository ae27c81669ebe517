"""How much a release leaks: one quantity per file, exact where its input is."""

from __future__ import annotations

from tightlip.measures.adversary import (
    AdversaryLeakage,
    cost_leakage,
    function_cost_leakage,
    function_gain_leakage,
    gain_leakage,
)
from tightlip.measures.conditional import (
    CompositionBound,
    conditional_pmc,
    conditional_pml,
    pmc_composition,
    pml_composition,
    posterior,
)
from tightlip.measures.density import density_pmc, density_pml
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.event import event_leakage
from tightlip.measures.local import alip, ldp, lip
from tightlip.measures.loss import alpha_loss_leakage, lp_loss_leakage
from tightlip.measures.maximal import (
    conditional_maximal_leakage,
    maximal_cost_leakage,
    maximal_leakage,
    maximal_realizable_cost,
)
from tightlip.measures.pointwise import InformationDensity, guesswork_leakage, information_density, pmc, pml
from tightlip.measures.profile import dp_tail_bound, privacy_profile, probabilistic_dp_tail, psi1, psi2
from tightlip.measures.summary import Summary, measure
from tightlip.measures.witness import (
    pmc_cost_witness,
    pmc_function_witness,
    pml_function_witness,
    pml_gain_witness,
)
from tightlip.numeric.quantity import Alip, Bound

__all__ = [
    "AdversaryLeakage",
    "Alip",
    "Bound",
    "CompositionBound",
    "InformationDensity",
    "PointwiseLeakage",
    "Summary",
    "alip",
    "alpha_loss_leakage",
    "conditional_maximal_leakage",
    "conditional_pmc",
    "conditional_pml",
    "cost_leakage",
    "density_pmc",
    "density_pml",
    "dp_tail_bound",
    "event_leakage",
    "function_cost_leakage",
    "function_gain_leakage",
    "gain_leakage",
    "guesswork_leakage",
    "information_density",
    "ldp",
    "lip",
    "lp_loss_leakage",
    "maximal_cost_leakage",
    "maximal_leakage",
    "maximal_realizable_cost",
    "measure",
    "pmc",
    "pmc_composition",
    "pmc_cost_witness",
    "pmc_function_witness",
    "pml",
    "pml_composition",
    "pml_function_witness",
    "pml_gain_witness",
    "posterior",
    "privacy_profile",
    "probabilistic_dp_tail",
    "psi1",
    "psi2",
]
