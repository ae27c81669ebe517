"""What only reproduces the five papers; nothing else in the library imports it."""

from __future__ import annotations

from tightlip.papers.comparison import (
    Comparison,
    asymptotic_ratio,
    compare,
    matched_response,
    quantization_wins,
)
from tightlip.papers.continuous import proposition8
from tightlip.papers.decay import AppendixI, appendix_i
from tightlip.papers.examples import (
    dob_example_1,
    dob_example_2_circulant,
    dob_example_2_two_level,
    env_example_1,
    env_example_1_merge,
    env_example_3,
    pmc_countable,
)
from tightlip.papers.further import ZeroCountCheck, check_zero_count, duchi_bound, statistic_leakage_range
from tightlip.papers.misspecified import (
    MisspecifiedSupport,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    misspecified_response_distortion,
    misspecified_response_privacy,
)
from tightlip.papers.propositions import (
    proposition3_quantization,
    proposition3_response,
    proposition4_quantization,
    proposition4_response,
    proposition5_quantization,
    proposition5_response,
)
from tightlip.papers.theorem2 import theorem2_function
from tightlip.papers.theorem5 import theorem5_bound

__all__ = [
    "AppendixI",
    "Comparison",
    "MisspecifiedSupport",
    "ZeroCountCheck",
    "appendix_i",
    "asymptotic_ratio",
    "check_zero_count",
    "compare",
    "dob_example_1",
    "dob_example_2_circulant",
    "dob_example_2_two_level",
    "duchi_bound",
    "env_example_1",
    "env_example_1_merge",
    "env_example_3",
    "matched_response",
    "misspecified_quantization_distortion",
    "misspecified_quantization_privacy",
    "misspecified_response_distortion",
    "misspecified_response_privacy",
    "pmc_countable",
    "proposition3_quantization",
    "proposition3_response",
    "proposition4_quantization",
    "proposition4_response",
    "proposition5_quantization",
    "proposition5_response",
    "proposition8",
    "quantization_wins",
    "statistic_leakage_range",
    "theorem2_function",
    "theorem5_bound",
]
