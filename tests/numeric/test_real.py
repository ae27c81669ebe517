"""Reading positions and scales."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightlip.errors import InvalidInput
from tightlip.numeric.parse import extended_real, float_text, real


def test_infinite_ends_only_where_allowed():
    assert extended_real(-math.inf, "a") == -math.inf
    assert extended_real("1/3", "a") == Fraction(1, 3)
    with pytest.raises(InvalidInput, match="a must be finite, got nan"):
        extended_real(math.nan, "a")
    with pytest.raises(InvalidInput, match="y must be finite, got inf"):
        real(math.inf, "y")


def test_sizes_in_messages():
    assert float_text(1e200) == "1e+200"
    with pytest.raises(InvalidInput, match=r"y must be at most 1e.150 in size, got about 1e400"):
        real(10**400, "y")
