"""Named mechanisms, each a function that returns a Channel."""

from tightlip.mechanism.extremal import pml_extremal
from tightlip.mechanism.plain import constant, identity
from tightlip.mechanism.response import binary_randomized_response, randomized_response

__all__ = [
    "binary_randomized_response",
    "constant",
    "identity",
    "pml_extremal",
    "randomized_response",
]
