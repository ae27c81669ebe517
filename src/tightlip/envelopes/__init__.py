"""What survives any post-processing: the PML envelope, its bounds, its adversaries, its composition."""

from __future__ import annotations

from tightlip.envelopes.binary import binary_envelope, binary_envelope_curve
from tightlip.envelopes.composition import compose, composition_bound, power
from tightlip.envelopes.deterministic import deterministic_attack
from tightlip.envelopes.exact import envelope, envelope_curve
from tightlip.envelopes.failure import FailureProbability, failure_probability
from tightlip.envelopes.kary import kary_attack
from tightlip.envelopes.known_bounds import bounds, dp_epsilon
from tightlip.envelopes.ordered import ordered_envelope, ordered_envelope_curve
from tightlip.envelopes.response import randomized_response
from tightlip.envelopes.result import Envelope

__all__ = [
    "Envelope",
    "FailureProbability",
    "binary_envelope",
    "binary_envelope_curve",
    "bounds",
    "compose",
    "composition_bound",
    "deterministic_attack",
    "dp_epsilon",
    "envelope",
    "envelope_curve",
    "failure_probability",
    "kary_attack",
    "ordered_envelope",
    "ordered_envelope_curve",
    "power",
    "randomized_response",
]
