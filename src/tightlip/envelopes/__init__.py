"""What survives any post-processing: the PML envelope, its bounds, its adversaries, its composition."""

from __future__ import annotations

from tightlip.envelopes.adversaries import envelope, envelope_curve
from tightlip.envelopes.composition import compose, composition_bound, power
from tightlip.envelopes.curve import EnvelopeCurve
from tightlip.envelopes.failure import FailureProbability, failure_probability
from tightlip.envelopes.known_bounds import bounds, comparisons, dp_epsilon
from tightlip.envelopes.repetition import ProvedProbability, Repetition, repeat
from tightlip.envelopes.response import randomized_response
from tightlip.envelopes.result import Envelope

__all__ = [
    "Envelope",
    "EnvelopeCurve",
    "FailureProbability",
    "ProvedProbability",
    "Repetition",
    "bounds",
    "comparisons",
    "compose",
    "composition_bound",
    "dp_epsilon",
    "envelope",
    "envelope_curve",
    "failure_probability",
    "power",
    "randomized_response",
    "repeat",
]
