"""Named mechanisms, each a function that returns a Channel."""

from tightlip.mechanism.extremal import pml_extremal
from tightlip.mechanism.paper import (
    dob_example_1,
    dob_example_2_circulant,
    dob_example_2_two_level,
    env_example_1,
    env_example_1_merge,
    env_example_3,
    pmc_countable,
)
from tightlip.mechanism.plain import constant, identity
from tightlip.mechanism.randomized_response import binary_randomized_response, randomized_response

__all__ = [
    "binary_randomized_response",
    "constant",
    "dob_example_1",
    "dob_example_2_circulant",
    "dob_example_2_two_level",
    "env_example_1",
    "env_example_1_merge",
    "env_example_3",
    "identity",
    "pmc_countable",
    "pml_extremal",
    "randomized_response",
]
