"""Tables as histograms: mechanisms that release one, what they leak about a statistic, and what they distort."""

from tightlip.histogram.comparison import (
    Comparison,
    asymptotic_ratio,
    compare,
    matched_response,
    quantization_wins,
)
from tightlip.histogram.conditional import ConditionalDraw, draw_given_secret
from tightlip.histogram.maxl import MaxLMechanism, greedy_maxl, released_points_bound
from tightlip.histogram.misspecified import (
    MisspecifiedSupport,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    misspecified_response_distortion,
    misspecified_response_privacy,
)
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.propositions import (
    proposition3_quantization,
    proposition3_response,
    proposition4_quantization,
    proposition4_response,
    proposition5_quantization,
    proposition5_response,
)
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.release import HistogramRelease, ReleasePlan, plan_release, release_histogram
from tightlip.histogram.sampling import uniform_histogram, uniform_in_groups
from tightlip.histogram.secret import Except, Ratio, RatioDifference, Share
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.table import CellTable, tabulate

__all__ = [
    "CellTable",
    "Comparison",
    "ConditionalDraw",
    "Distortion",
    "Except",
    "HistogramRelease",
    "HistogramSpace",
    "MaxLMechanism",
    "MisspecifiedSupport",
    "Privacy",
    "Quantization",
    "RandomizedResponse",
    "Ratio",
    "RatioDifference",
    "ReleasePlan",
    "Share",
    "asymptotic_ratio",
    "compare",
    "draw_given_secret",
    "greedy_maxl",
    "matched_response",
    "misspecified_quantization_distortion",
    "misspecified_quantization_privacy",
    "misspecified_response_distortion",
    "misspecified_response_privacy",
    "plan_release",
    "proposition3_quantization",
    "proposition3_response",
    "proposition4_quantization",
    "proposition4_response",
    "proposition5_quantization",
    "proposition5_response",
    "quantization_wins",
    "release_histogram",
    "released_points_bound",
    "tabulate",
    "uniform_histogram",
    "uniform_in_groups",
]
