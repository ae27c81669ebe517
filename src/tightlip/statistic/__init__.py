"""What a release tells about a statistic of what went in: statistic maximal leakage and its relatives."""

from __future__ import annotations

from tightlip.statistic.continuous import NoiseStatisticLeakage, noise_leakage, noise_resolved_leakage
from tightlip.statistic.maximal import cost_leakage, maximal_leakage_of_map, statistic_maximal_leakage
from tightlip.statistic.relations import (
    StatisticComposition,
    attribute_privacy,
    comparisons,
    composition,
    ldp,
    ldp_to_statistic,
    ldp_to_statistic_cost,
    min_entropy_leakage,
    outcome_leakage,
    outcome_to_statistic_ldp,
)
from tightlip.statistic.result import StatisticLeakage

__all__ = [
    "NoiseStatisticLeakage",
    "StatisticComposition",
    "StatisticLeakage",
    "attribute_privacy",
    "comparisons",
    "composition",
    "cost_leakage",
    "ldp",
    "ldp_to_statistic",
    "ldp_to_statistic_cost",
    "maximal_leakage_of_map",
    "min_entropy_leakage",
    "noise_leakage",
    "noise_resolved_leakage",
    "outcome_leakage",
    "outcome_to_statistic_ldp",
    "statistic_maximal_leakage",
]
