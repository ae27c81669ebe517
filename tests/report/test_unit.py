"""Bits and nats: every change of unit stays on the safe side."""

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightlip.numeric.quantity import Nats, nats_of_bits
from tightlip.report.amounts import in_unit, with_unit

AMOUNTS = st.floats(min_value=1e-300, max_value=1e300)


def arb(value):
    return flint.arb(flint.fmpq(*Fraction(value).as_integer_ratio()))


@given(AMOUNTS)
def test_the_ends_enclose_the_amount(bits):
    lower, upper = nats_of_bits(bits)
    true = arb(bits) * flint.arb(2).log()
    assert not arb(lower) > true
    assert not arb(upper) < true
    assert upper <= lower * (1 + 2**-51)


@given(AMOUNTS)
def test_a_guarantee_in_bits_is_not_below_the_one_in_nats(amount):
    true = arb(amount) / flint.arb(2).log()
    assert not arb(in_unit(Nats(amount), "bits")) < true
    assert not arb(in_unit(Nats(amount, rounding="down"), "bits")) > true


@pytest.mark.parametrize(
    ("number", "unit", "said"),
    [("1", "bits", "1 bit"), ("1", "nats", "1 nat"), ("0", "nats", "0 nats"), ("inf", "bits", "infinite")],
)
def test_one_is_singular_and_infinite_has_no_unit(number, unit, said):
    assert with_unit(number, unit) == said
