"""Named mechanisms, each a function that returns a Channel."""

from tightlip.mechanism.named import (
    binary_randomized_response,
    constant,
    identity,
    pml_extremal,
    randomized_response,
)

__all__ = [
    "binary_randomized_response",
    "constant",
    "identity",
    "pml_extremal",
    "randomized_response",
]
