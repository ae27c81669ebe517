"""Tails and masses as balls, against scipy and against high precision."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from noise_oracle import high_precision_normal_mass
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.tails import (
    laplace_excess,
    laplace_mass,
    normal_excess,
    normal_mass,
    normal_tail,
    sum_tail,
    tilted_tails,
)

ENDS = st.floats(-30, 30)


@given(st.floats(-15, 15), st.floats(1e-3, 20), st.floats(0.4, 5))
def test_normal_mass_far_and_near(u, length, sigma):
    v = u + length
    found = enclose(lambda: normal_mass(Fraction(u), Fraction(v), ball(sigma)))
    with ctx.workprec(4000):
        expected = high_precision_normal_mass(u, v, sigma)
        assert ball(found[0]) <= expected * (1 + ball(1e-25))
        assert ball(found[1]) >= expected * (1 - ball(1e-25))
    assert found[1] <= found[0] * (1 + 1e-15)


@given(ENDS, st.floats(1e-3, 20), st.floats(0.2, 5))
def test_laplace_mass(u, length, scale):
    law = stats.laplace(0, scale)
    v = u + length
    expected = law.sf(u) - law.sf(v) if u > 0 else law.cdf(v) - law.cdf(u)
    assert enclose(lambda: laplace_mass(Fraction(u), Fraction(v), ball(scale)))[1] == pytest.approx(
        expected, rel=1e-10, abs=1e-300
    )


def test_infinite_ends():
    one = ball(1)
    assert float(normal_tail(math.inf, one)) == 0
    assert float(normal_mass(-math.inf, math.inf, one)) == 1
    assert float(laplace_mass(-math.inf, math.inf, one)) == 1
    assert float(laplace_mass(-math.inf, Fraction(-1), one)) == pytest.approx(math.exp(-1) / 2)
    assert float(sum_tail(math.inf, one, one)) == 0
    assert float(sum_tail(-math.inf, one, one)) == 1
    assert float(normal_excess(math.inf, one)) == float(laplace_excess(math.inf, one)) == 0


@pytest.mark.parametrize("u", [-3.0, -0.5, 0.0, 0.7, 4.0])
def test_excess_is_the_integral_of_the_tail(u):
    for excess, law in ((normal_excess, stats.norm(0, 2)), (laplace_excess, stats.laplace(0, 2))):
        expected = integrate.quad(law.sf, u, 100, points=[0.0], epsabs=0, epsrel=1e-12)[0]
        assert float(excess(u, ball(2))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("u", [-3.0, 0.0, 0.7, 5.0])
def test_tail_of_a_gaussian_plus_laplace(u):
    law = stats.norm(0, 1.5)
    expected = integrate.quad(
        lambda n: law.sf(u - n) * stats.laplace.pdf(n), -60, 60, points=[0.0, u], epsabs=0, limit=400
    )[0]
    assert float(sum_tail(u, ball(1.5), ball(1))) == pytest.approx(expected, rel=1e-8)
    below, above = tilted_tails(u, ball(1.5), ball(1))
    expected = integrate.quad(lambda x: law.pdf(x) * math.exp(-(u - x)), -60, u, epsabs=0, limit=400)[0]
    assert float(below) == pytest.approx(expected, rel=1e-8)
    expected = integrate.quad(lambda x: law.pdf(x) * math.exp(-(x - u)), u, 60, epsabs=0, limit=400)[0]
    assert float(above) == pytest.approx(expected, rel=1e-8)
