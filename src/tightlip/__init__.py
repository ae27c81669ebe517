"""tightlip tells you exactly what a data release gives away about a secret, proves it, and helps you give away less.

>>> import tightlip as tl
>>> channel = tl.Channel([[0.9, 0.1], [0.2, 0.8]], inputs=["ill", "well"], outputs=["+", "-"])
>>> tl.pml(channel, tl.Prior({"ill": 0.05, "well": 0.95}))
PML of 2 outcomes: worst 1.34281 nats at outcome + about secret ill

Names are loaded when they are first used, so that importing the package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tightlip import convert as convert
    from tightlip import errors as errors
    from tightlip import histogram as histogram
    from tightlip import mechanism as mechanism
    from tightlip.audit.result import Audit as Audit
    from tightlip.audit.risk import cell_risks as cell_risks
    from tightlip.audit.run import audit as audit
    from tightlip.audit.sample import SampleMode as SampleMode
    from tightlip.contraction.bound import dobrushin_bound as dobrushin_bound
    from tightlip.contraction.bound import likelihood_ratio_bound as likelihood_ratio_bound
    from tightlip.contraction.coefficients import chi_squared_contraction as chi_squared_contraction
    from tightlip.contraction.coefficients import hellinger_contraction as hellinger_contraction
    from tightlip.contraction.coefficients import kl_contraction as kl_contraction
    from tightlip.contraction.divergence import Divergence as Divergence
    from tightlip.contraction.divergence import divergence as divergence
    from tightlip.contraction.divergence_bound import DivergenceBound as DivergenceBound
    from tightlip.contraction.divergence_bound import divergence_bound as divergence_bound
    from tightlip.contraction.dobrushin import dobrushin as dobrushin
    from tightlip.contraction.dobrushin import e_gamma_contraction as e_gamma_contraction
    from tightlip.contraction.kernels import block_kernel as block_kernel
    from tightlip.contraction.kernels import optimal_kernel as optimal_kernel
    from tightlip.contraction.kernels import valid_counts as valid_counts
    from tightlip.contraction.ldp_bounds import duchi_bound as duchi_bound
    from tightlip.contraction.ldp_bounds import ldp_contraction_bound as ldp_contraction_bound
    from tightlip.contraction.ldp_bounds import ldp_kl_bound as ldp_kl_bound
    from tightlip.contraction.result import Coefficient as Coefficient
    from tightlip.envelope.binary import binary_envelope as binary_envelope
    from tightlip.envelope.binary import binary_envelope_curve as binary_envelope_curve
    from tightlip.envelope.bounds import dp_epsilon as dp_epsilon
    from tightlip.envelope.bounds import envelope_bounds as envelope_bounds
    from tightlip.envelope.compose import compose as compose
    from tightlip.envelope.compose import composition_bound as composition_bound
    from tightlip.envelope.compose import power as power
    from tightlip.envelope.deterministic import deterministic_attack as deterministic_attack
    from tightlip.envelope.exact import envelope as envelope
    from tightlip.envelope.exact import envelope_curve as envelope_curve
    from tightlip.envelope.failure import FailureProbability as FailureProbability
    from tightlip.envelope.failure import failure_probability as failure_probability
    from tightlip.envelope.kary import kary_attack as kary_attack
    from tightlip.envelope.noise_envelope import noise_envelope as noise_envelope
    from tightlip.envelope.ordered import ordered_envelope as ordered_envelope
    from tightlip.envelope.ordered import ordered_envelope_curve as ordered_envelope_curve
    from tightlip.envelope.randomized_response import (
        randomized_response_envelope as randomized_response_envelope,
    )
    from tightlip.envelope.result import Envelope as Envelope
    from tightlip.envelope.unbounded import unbounded_attack as unbounded_attack
    from tightlip.histogram.release import HistogramRelease as HistogramRelease
    from tightlip.histogram.release import release_histogram as release_histogram
    from tightlip.measure.additive import noise_information_density as noise_information_density
    from tightlip.measure.additive import noise_pmc as noise_pmc
    from tightlip.measure.additive import noise_pml as noise_pml
    from tightlip.measure.adversary import AdversaryLeakage as AdversaryLeakage
    from tightlip.measure.adversary import cost_leakage as cost_leakage
    from tightlip.measure.adversary import function_cost_leakage as function_cost_leakage
    from tightlip.measure.adversary import function_gain_leakage as function_gain_leakage
    from tightlip.measure.adversary import gain_leakage as gain_leakage
    from tightlip.measure.capacity import LeakageCapacity as LeakageCapacity
    from tightlip.measure.capacity import ZeroCountCheck as ZeroCountCheck
    from tightlip.measure.capacity import allowed_zeros as allowed_zeros
    from tightlip.measure.capacity import check_zero_count as check_zero_count
    from tightlip.measure.conditional import CompositionBound as CompositionBound
    from tightlip.measure.conditional import conditional_pmc as conditional_pmc
    from tightlip.measure.conditional import conditional_pml as conditional_pml
    from tightlip.measure.conditional import pmc_composition as pmc_composition
    from tightlip.measure.conditional import pml_composition as pml_composition
    from tightlip.measure.cumulant import cumulant as cumulant
    from tightlip.measure.density import InformationDensity as InformationDensity
    from tightlip.measure.density import information_density as information_density
    from tightlip.measure.distribution import PointwiseLeakage as PointwiseLeakage
    from tightlip.measure.event import event_leakage as event_leakage
    from tightlip.measure.gaussian_tail import gaussian_pmc_bounds as gaussian_pmc_bounds
    from tightlip.measure.gaussian_tail import gaussian_pmc_tail as gaussian_pmc_tail
    from tightlip.measure.interval import interval_leakage as interval_leakage
    from tightlip.measure.local import alip as alip
    from tightlip.measure.local import ldp as ldp
    from tightlip.measure.local import lip as lip
    from tightlip.measure.maximal import conditional_maximal_leakage as conditional_maximal_leakage
    from tightlip.measure.maximal import maximal_cost_leakage as maximal_cost_leakage
    from tightlip.measure.maximal import maximal_leakage as maximal_leakage
    from tightlip.measure.maximal import maximal_realizable_cost as maximal_realizable_cost
    from tightlip.measure.pointwise import guesswork_leakage as guesswork_leakage
    from tightlip.measure.pointwise import pmc as pmc
    from tightlip.measure.pointwise import pml as pml
    from tightlip.measure.posterior import posterior as posterior
    from tightlip.measure.profile import dp_tail_bound as dp_tail_bound
    from tightlip.measure.profile import privacy_profile as privacy_profile
    from tightlip.measure.profile import probabilistic_dp_tail as probabilistic_dp_tail
    from tightlip.measure.profile import psi1 as psi1
    from tightlip.measure.profile import psi2 as psi2
    from tightlip.measure.sample_mean import laplace_mean_pmc as laplace_mean_pmc
    from tightlip.measure.sample_mean import noise_pmc_supremum as noise_pmc_supremum
    from tightlip.measure.summary import Summary as Summary
    from tightlip.measure.summary import measure_all as measure_all
    from tightlip.measure.witness import pmc_cost_witness as pmc_cost_witness
    from tightlip.measure.witness import pmc_function_witness as pmc_function_witness
    from tightlip.measure.witness import pml_function_witness as pml_function_witness
    from tightlip.measure.witness import pml_gain_witness as pml_gain_witness
    from tightlip.model.channel import Channel as Channel
    from tightlip.model.noise import AdditiveNoise as AdditiveNoise
    from tightlip.model.noise import Gaussian as Gaussian
    from tightlip.model.noise import Laplace as Laplace
    from tightlip.model.prior import Prior as Prior
    from tightlip.model.prior import PriorSet as PriorSet
    from tightlip.model.prior_set import PriorBall as PriorBall
    from tightlip.model.prior_set import PriorList as PriorList
    from tightlip.model.prior_set import PriorPolytope as PriorPolytope
    from tightlip.model.secret import BoundedSecret as BoundedSecret
    from tightlip.model.secret import DiscreteSecret as DiscreteSecret
    from tightlip.model.secret import DistributionSecret as DistributionSecret
    from tightlip.model.secret import GaussianSecret as GaussianSecret
    from tightlip.model.secret import UniformSecret as UniformSecret
    from tightlip.numeric.alip import Alip as Alip
    from tightlip.numeric.quantity import Bound as Bound
    from tightlip.numeric.quantity import Nats as Nats
    from tightlip.numeric.quantity import Probability as Probability
    from tightlip.numeric.quantity import log_of as log_of
    from tightlip.planning.frequency import FrequencyEstimate as FrequencyEstimate
    from tightlip.planning.frequency import estimate_frequencies as estimate_frequencies
    from tightlip.planning.frequency import estimation_variance as estimation_variance
    from tightlip.planning.frequency import samples_for_standard_error as samples_for_standard_error
    from tightlip.planning.privacy import KnownChannel as KnownChannel
    from tightlip.planning.privacy import LocalPrivacy as LocalPrivacy
    from tightlip.planning.privacy import PmlPrivacy as PmlPrivacy
    from tightlip.planning.risk import RiskBound as RiskBound
    from tightlip.planning.risk import risk_lower_bound as risk_lower_bound
    from tightlip.planning.samples import effective_samples as effective_samples
    from tightlip.planning.samples import samples_needed as samples_needed
    from tightlip.planning.study import Study as Study
    from tightlip.planning.table import PlanRow as PlanRow
    from tightlip.planning.table import plan_table as plan_table
    from tightlip.robust.envelope import robust_envelope as robust_envelope
    from tightlip.robust.maximal import robust_maximal_leakage as robust_maximal_leakage
    from tightlip.robust.pointwise import leakage_capacity as leakage_capacity
    from tightlip.robust.pointwise import robust_pmc as robust_pmc
    from tightlip.robust.result import RobustEnvelope as RobustEnvelope
    from tightlip.robust.result import RobustLeakage as RobustLeakage
    from tightlip.statistic.continuous import NoiseStatisticLeakage as NoiseStatisticLeakage
    from tightlip.statistic.continuous import noise_resolved_leakage as noise_resolved_leakage
    from tightlip.statistic.continuous import noise_statistic_leakage as noise_statistic_leakage
    from tightlip.statistic.maximal import statistic_cost_leakage as statistic_cost_leakage
    from tightlip.statistic.maximal import statistic_maximal_leakage as statistic_maximal_leakage
    from tightlip.statistic.maximal import (
        statistic_maximal_leakage_of_map as statistic_maximal_leakage_of_map,
    )
    from tightlip.statistic.outcome import statistic_ldp as statistic_ldp
    from tightlip.statistic.outcome import statistic_min_entropy_leakage as statistic_min_entropy_leakage
    from tightlip.statistic.outcome import statistic_outcome_leakage as statistic_outcome_leakage
    from tightlip.statistic.relations import StatisticComposition as StatisticComposition
    from tightlip.statistic.relations import ldp_to_statistic as ldp_to_statistic
    from tightlip.statistic.relations import ldp_to_statistic_cost as ldp_to_statistic_cost
    from tightlip.statistic.relations import outcome_to_statistic_ldp as outcome_to_statistic_ldp
    from tightlip.statistic.relations import statistic_composition as statistic_composition
    from tightlip.statistic.relations import statistic_leakage_range as statistic_leakage_range
    from tightlip.statistic.result import StatisticLeakage as StatisticLeakage
    from tightlip.table.bins import Bins as Bins
    from tightlip.table.counts import count_cells as count_cells
    from tightlip.table.mapping import Mapping as Mapping
    from tightlip.table.policy import Policy as Policy
    from tightlip.table.policy import RandomizedResponse as RandomizedResponse
    from tightlip.table.policy import Released as Released
    from tightlip.table.recoding import BottomCode as BottomCode
    from tightlip.table.recoding import Keep as Keep
    from tightlip.table.recoding import Prefix as Prefix
    from tightlip.table.recoding import Suppress as Suppress
    from tightlip.table.recoding import TopCode as TopCode
    from tightlip.table.risk import write_risks as write_risks
    from tightlip.table.source import Table as Table
    from tightlip.table.source import open_table as open_table

__version__ = "0.1.0"

_HOMES = {
    "audit.result": ("Audit",),
    "audit.risk": ("cell_risks",),
    "audit.run": ("audit",),
    "audit.sample": ("SampleMode",),
    "contraction.bound": ("dobrushin_bound", "likelihood_ratio_bound"),
    "contraction.coefficients": ("chi_squared_contraction", "hellinger_contraction", "kl_contraction"),
    "contraction.divergence": ("Divergence", "divergence"),
    "contraction.divergence_bound": ("DivergenceBound", "divergence_bound"),
    "contraction.dobrushin": ("dobrushin", "e_gamma_contraction"),
    "contraction.kernels": ("block_kernel", "optimal_kernel", "valid_counts"),
    "contraction.ldp_bounds": ("duchi_bound", "ldp_contraction_bound", "ldp_kl_bound"),
    "contraction.result": ("Coefficient",),
    "envelope.binary": ("binary_envelope", "binary_envelope_curve"),
    "envelope.bounds": ("dp_epsilon", "envelope_bounds"),
    "envelope.compose": ("compose", "composition_bound", "power"),
    "envelope.deterministic": ("deterministic_attack",),
    "envelope.exact": ("envelope", "envelope_curve"),
    "envelope.failure": ("FailureProbability", "failure_probability"),
    "envelope.kary": ("kary_attack",),
    "envelope.noise_envelope": ("noise_envelope",),
    "envelope.ordered": ("ordered_envelope", "ordered_envelope_curve"),
    "envelope.randomized_response": ("randomized_response_envelope",),
    "envelope.result": ("Envelope",),
    "envelope.unbounded": ("unbounded_attack",),
    "histogram.release": ("HistogramRelease", "release_histogram"),
    "measure.additive": ("noise_information_density", "noise_pmc", "noise_pml"),
    "measure.adversary": (
        "AdversaryLeakage",
        "cost_leakage",
        "function_cost_leakage",
        "function_gain_leakage",
        "gain_leakage",
    ),
    "measure.capacity": ("LeakageCapacity", "ZeroCountCheck", "allowed_zeros", "check_zero_count"),
    "measure.conditional": (
        "CompositionBound",
        "conditional_pmc",
        "conditional_pml",
        "pmc_composition",
        "pml_composition",
    ),
    "measure.cumulant": ("cumulant",),
    "measure.density": ("InformationDensity", "information_density"),
    "measure.distribution": ("PointwiseLeakage",),
    "measure.event": ("event_leakage",),
    "measure.gaussian_tail": ("gaussian_pmc_bounds", "gaussian_pmc_tail"),
    "measure.interval": ("interval_leakage",),
    "measure.local": ("alip", "ldp", "lip"),
    "measure.maximal": (
        "conditional_maximal_leakage",
        "maximal_cost_leakage",
        "maximal_leakage",
        "maximal_realizable_cost",
    ),
    "measure.pointwise": ("guesswork_leakage", "pmc", "pml"),
    "measure.posterior": ("posterior",),
    "measure.profile": ("dp_tail_bound", "privacy_profile", "probabilistic_dp_tail", "psi1", "psi2"),
    "measure.sample_mean": ("laplace_mean_pmc", "noise_pmc_supremum"),
    "measure.summary": ("Summary", "measure_all"),
    "measure.witness": (
        "pmc_cost_witness",
        "pmc_function_witness",
        "pml_function_witness",
        "pml_gain_witness",
    ),
    "model.channel": ("Channel",),
    "model.noise": ("AdditiveNoise", "Gaussian", "Laplace"),
    "model.prior": ("Prior", "PriorSet"),
    "model.prior_set": ("PriorBall", "PriorList", "PriorPolytope"),
    "model.secret": (
        "BoundedSecret",
        "DiscreteSecret",
        "DistributionSecret",
        "GaussianSecret",
        "UniformSecret",
    ),
    "numeric.alip": ("Alip",),
    "numeric.quantity": ("Bound", "Nats", "Probability", "log_of"),
    "planning.frequency": (
        "FrequencyEstimate",
        "estimate_frequencies",
        "estimation_variance",
        "samples_for_standard_error",
    ),
    "planning.privacy": ("KnownChannel", "LocalPrivacy", "PmlPrivacy"),
    "planning.risk": ("RiskBound", "risk_lower_bound"),
    "planning.samples": ("effective_samples", "samples_needed"),
    "planning.study": ("Study",),
    "planning.table": ("PlanRow", "plan_table"),
    "robust.envelope": ("robust_envelope",),
    "robust.maximal": ("robust_maximal_leakage",),
    "robust.pointwise": ("leakage_capacity", "robust_pmc"),
    "robust.result": ("RobustEnvelope", "RobustLeakage"),
    "statistic.continuous": ("NoiseStatisticLeakage", "noise_resolved_leakage", "noise_statistic_leakage"),
    "statistic.maximal": (
        "statistic_cost_leakage",
        "statistic_maximal_leakage",
        "statistic_maximal_leakage_of_map",
    ),
    "statistic.outcome": ("statistic_ldp", "statistic_min_entropy_leakage", "statistic_outcome_leakage"),
    "statistic.relations": (
        "StatisticComposition",
        "ldp_to_statistic",
        "ldp_to_statistic_cost",
        "outcome_to_statistic_ldp",
        "statistic_composition",
        "statistic_leakage_range",
    ),
    "statistic.result": ("StatisticLeakage",),
    "table.bins": ("Bins",),
    "table.counts": ("count_cells",),
    "table.mapping": ("Mapping",),
    "table.policy": ("Policy", "RandomizedResponse", "Released"),
    "table.recoding": ("BottomCode", "Keep", "Prefix", "Suppress", "TopCode"),
    "table.risk": ("write_risks",),
    "table.source": ("Table", "open_table"),
}
_MODULES = ("convert", "errors", "histogram", "mechanism")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"tightlip.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tightlip' has no attribute {name!r}")
    found = getattr(import_module(f"tightlip.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"])
