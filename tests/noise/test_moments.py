"""The cumulant generating function."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from tightlip.errors import PreconditionFailed, WrongType
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise.sample_mean import cumulant

RATES = st.floats(-5, 5).filter(lambda t: abs(t) > 1e-3)


@given(RATES)
def test_closed_forms(t):
    assert cumulant(GaussianSecret(3, 100), t) == pytest.approx(4.5 * t * t, rel=1e-14)
    expected = integrate.quad(lambda x: math.exp(t * (x - 0.5)) / 3, -1, 2, epsabs=0, epsrel=1e-12)[0]
    assert cumulant(UniformSecret(-1, 2), t) == pytest.approx(math.log(expected), rel=1e-6, abs=1e-13)
    coin = DiscreteSecret([0, 1], ["0.7", "0.3"])
    expected = math.log(0.7 * math.exp(-0.3 * t) + 0.3 * math.exp(0.7 * t))
    assert cumulant(coin, t) == pytest.approx(expected, rel=1e-6, abs=1e-13)


@settings(max_examples=6, deadline=None)
@given(RATES)
def test_distributions(t):
    law = stats.beta(2, 5)
    expected = integrate.quad(lambda x: law.pdf(x) * math.exp(t * (x - 2 / 7)), 0, 1, epsabs=0, epsrel=1e-12)[
        0
    ]
    found = cumulant(DistributionSecret(law), t)
    assert found.lower <= math.log(expected) + 1e-12
    assert math.log(expected) - 1e-12 <= found.upper <= found.lower + 2e-3


@given(RATES, st.floats(0.01, 0.99))
def test_hoeffding_covers_every_distribution(t, share):
    bound = cumulant(BoundedSecret(-1, 2), t)
    assert bound.lower == 0
    inside = cumulant(DiscreteSecret([-1, 2], [share, 1 - share]), t)
    assert 0 <= inside.lower <= inside.upper <= bound.upper * (1 + 1e-15)


def test_zero_and_unbounded():
    with pytest.raises(WrongType, match="data must be one of"):
        cumulant([0, 1], 1.0)
    assert cumulant(UniformSecret(0, 1), 0) == 0
    with pytest.raises(
        PreconditionFailed, match=r"data must be bounded, got support \[0.0, inf\]; use Gaussian"
    ):
        cumulant(DistributionSecret(stats.expon()), 1.0)
