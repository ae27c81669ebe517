"""Tables as histograms: mechanisms that release one, what they leak about a statistic, and what they distort."""

from tightlip.histogram.conditional import ConditionalDraw, draw_given_secret
from tightlip.histogram.maxl import MaxLMechanism, greedy_maxl, released_points_bound
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.release import HistogramRelease, ReleasePlan, plan_release, release_histogram
from tightlip.histogram.sampling import uniform_histogram, uniform_in_groups
from tightlip.histogram.secret import Except, Ratio, RatioDifference, Share
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.table import CellTable, tabulate

__all__ = [
    "CellTable",
    "ConditionalDraw",
    "Distortion",
    "Except",
    "HistogramRelease",
    "HistogramSpace",
    "MaxLMechanism",
    "Privacy",
    "Quantization",
    "RandomizedResponse",
    "Ratio",
    "RatioDifference",
    "ReleasePlan",
    "Share",
    "draw_given_secret",
    "greedy_maxl",
    "plan_release",
    "release_histogram",
    "released_points_bound",
    "tabulate",
    "uniform_histogram",
    "uniform_in_groups",
]
