"""A guarantee is never below its true value, and at most a few units in the last place above."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from convert_oracle import unhurried
from tightlip import convert
from tightlip.convert._theory import proves_positive
from tightlip.numeric.quantity import Nats, log_of

BITS = 4000
levels = st.floats(min_value=1e-12, max_value=300.0)
masses = st.one_of(
    st.floats(min_value=1e-9, max_value=0.5),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(1, 2), max_denominator=5000),
)


def exact(value):
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def assert_just_above(result: Nats, truth) -> None:
    assert isinstance(result, Nats)
    assert result.rounding == "up"
    assert exact(float(result)) >= truth
    below = float(result)
    for _ in range(3):
        below = math.nextafter(below, -math.inf)
    assert exact(below) < truth


def formulas(e, p):
    """The printed formulas of the paper, in 4000 bits."""
    up, down = e.exp(), (-e).exp()
    pml, pmc = -(p + down * (1 - p)).log(), (up - p * (up - 1)).log()
    leak = ((1 - down * (1 - p)) / p).log()
    return {
        "ldp_to_pml": pml,
        "ldp_to_pmc": pmc,
        "ldp_to_lip": pmc,
        "pmc_to_pml": leak,
        "pmc_to_lip": leak if leak > e else e,
        "pmc_to_ldp": e + leak,
        "lip_to_pml": leak if leak < e else e,
        "lip_to_pmc": e,
        "lip_to_ldp": e + (leak if leak < e else e),
    }


@unhurried
@given(levels, masses)
def test_printed_formulas_from_above(epsilon, p_min):
    with ctx.workprec(BITS):
        for name, truth in formulas(exact(epsilon), exact(p_min)).items():
            assert_just_above(getattr(convert, name)(epsilon, p_min), truth)


@unhurried
@given(st.floats(min_value=1e-6, max_value=1.0, exclude_max=True), masses)
def test_printed_formulas_of_pml_from_above(share, p_min):
    with ctx.workprec(BITS):
        p = exact(p_min)
        epsilon = share * float(-(1 - p).log())
        assume(epsilon > 0)
        e = exact(epsilon)
        assume(e < -(1 - p).log())
        pmc = (p / (1 - e.exp() * (1 - p))).log()
        assert_just_above(convert.pml_to_pmc(epsilon, p_min), pmc)
        assert_just_above(convert.pml_to_lip(epsilon, p_min), pmc)
        assert_just_above(convert.pml_to_ldp(epsilon, p_min), pmc + e)
        assert_just_above(convert.pml_to_alip(epsilon, p_min).lower, pmc)
        assert convert.pml_to_alip(epsilon, p_min).upper == epsilon
        assert_just_above(convert.alip_to_ldp(math.inf, epsilon, p_min), pmc + e)
        assert_just_above(convert.alip_to_ldp(1e-3, epsilon), exact(1e-3) + e)


@unhurried
@given(st.fractions(min_value=Fraction(1001, 1000), max_value=50, max_denominator=1000), masses)
def test_exact_levels_are_used_not_their_floats(ratio, p_min):
    with ctx.workprec(BITS):
        for name, truth in formulas(exact(ratio).log(), exact(p_min)).items():
            result = getattr(convert, name)(log_of(ratio), p_min)
            assert exact(float(result)) >= truth, name
            if isinstance(p_min, Fraction):
                assert result.ratio is not None
                assert abs(exact(result.ratio).log() - truth) < arb(2) ** -3000, name


@pytest.mark.parametrize("epsilon", ["1/3", Fraction(1, 3), Decimal("0.1"), "0.7", 3])
def test_an_exact_level_in_nats_is_not_rounded_first(epsilon):
    with ctx.workprec(BITS):
        truth = exact(epsilon)
        assert_just_above(convert.lip_to_pml(epsilon), truth)
        assert_just_above(convert.lip_to_ldp(epsilon), 2 * truth)
        assert_just_above(
            convert.ldp_to_pml(epsilon, "1/5"), -(exact("1/5") + exact("4/5") * (-truth).exp()).log()
        )


@unhurried
@given(levels, masses)
def test_pml_is_never_above_its_cap(epsilon, p_min):
    ceiling = Nats.of_ratio(1 / Fraction(p_min))
    for result in (
        convert.ldp_to_pml(epsilon, p_min),
        convert.pmc_to_pml(epsilon, p_min),
        convert.lip_to_pml(epsilon, p_min),
        convert.alip_to_pml(epsilon, epsilon, p_min),
        convert.implied("pml", epsilon, p_min).pml,
    ):
        assert result <= ceiling


def test_what_cannot_be_decided_counts_as_not_proved():
    one = exact(1)
    assert proves_positive(lambda: one.exp() - 2)
    assert not proves_positive(lambda: 2 - one.exp())
    assert not proves_positive(lambda: one.exp() - one.exp())


@pytest.mark.parametrize("tiny", ["1e-999", Fraction(1, 10**400)])
def test_a_level_too_small_for_floats_is_not_nothing(tiny):
    assert convert.ldp_to_pml(tiny, "1/4") > 0
    assert convert.lip_to_alip(tiny).upper > 0
    assert convert.pml_to_ldp(tiny, "1/4") > 0
