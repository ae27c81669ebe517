"""How many people a private study needs, and what their releases say."""

from __future__ import annotations

from tightlip.planning.frequency import (
    FrequencyEstimate,
    estimate_frequencies,
    estimation_variance,
    samples_for_standard_error,
)
from tightlip.planning.privacy import KnownChannel, LocalPrivacy, PmlPrivacy
from tightlip.planning.risk import RiskBound, risk_lower_bound
from tightlip.planning.samples import PlanRow, PlanTable, effective_samples, plan_table, samples_needed
from tightlip.planning.study import Study

__all__ = [
    "FrequencyEstimate",
    "KnownChannel",
    "LocalPrivacy",
    "PlanRow",
    "PlanTable",
    "PmlPrivacy",
    "RiskBound",
    "Study",
    "effective_samples",
    "estimate_frequencies",
    "estimation_variance",
    "plan_table",
    "risk_lower_bound",
    "samples_for_standard_error",
    "samples_needed",
]
