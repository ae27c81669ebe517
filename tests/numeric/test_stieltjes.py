"""The Riemann–Stieltjes bracket: it holds, it narrows, and its trust in scipy is deserved."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tightlip.errors import NumericalFailure
from tightlip.numeric.stieltjes import Kernel, TailMasses, log_expectation, quiet, support_point_near


def exponential(rate, peak):
    def log_bounds(x):
        error = np.where(np.isinf(x), 0.0, 1e-14 * np.abs(rate * x))
        return rate * x - error, rate * x + error

    return Kernel(log_bounds, peak=peak, width=1 / abs(rate))


@settings(max_examples=30, deadline=None)
@given(st.floats(-4, 4).filter(lambda t: abs(t) > 0.01), st.floats(0.5, 6), st.floats(0.5, 6))
def test_beta_moment_generating_function(rate, a, b):
    with ctx.workprec(200):
        expected = float(arb(rate).hypgeom_1f1(arb(a), arb(a) + arb(b)).log().mid())
    found = log_expectation(stats.beta(a, b), exponential(rate, 1.0 if rate > 0 else 0.0), tolerance=1e-3)
    assert found.lower <= expected <= found.upper
    assert found.upper - found.lower <= 1e-3


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-4])
def test_the_tolerance_is_reached_and_used(tolerance):
    found = log_expectation(stats.expon(), exponential(-1.0, 0.0), tolerance=tolerance, max_points=1 << 20)
    assert found.lower <= math.log(0.5) <= found.upper
    assert tolerance / 50 < found.upper - found.lower <= tolerance


def test_the_point_limit_gives_an_honest_interval():
    found = log_expectation(stats.expon(), exponential(-1.0, 0.0), tolerance=1e-9, max_points=500)
    assert found.lower <= math.log(0.5) <= found.upper
    assert 500 <= found.points <= 1500
    assert found.upper - found.lower > 1e-9


def test_it_stops_when_floats_are_exhausted():
    step = Kernel(lambda x: (np.where(x < 1, -5.0, 0.0), np.where(x < 1, -5.0, 0.0)), peak=5.0, width=1.0)
    found = log_expectation(stats.uniform(0, 2), step, tolerance=1e-300, max_points=1 << 20)
    assert found.lower <= math.log((1 + math.exp(-5)) / 2) <= found.upper
    assert found.points < 1 << 12


def test_a_larger_cdf_error_widens_the_interval():
    narrow = log_expectation(stats.expon(), exponential(-1e-3, 0.0), cdf_error=1e-11)
    wide = log_expectation(stats.expon(), exponential(-1e-3, 0.0), cdf_error=1e-3)
    assert wide.upper - wide.lower > narrow.upper - narrow.lower + 1e-3


def test_nan_is_not_a_number_to_compute_with():
    broken = Kernel(lambda x: (x * math.nan, x * math.nan), peak=0.0, width=1.0)
    with pytest.raises(NumericalFailure, match=r"got nan at x="):
        log_expectation(stats.expon(), broken)


def test_an_atom_does_not_break_it():
    class Censored(stats.rv_continuous):
        """Exponential, cut off at 1: mass e^-1 sits at 1."""

        def _cdf(self, x):
            return np.where(x < 1, -np.expm1(-x), 1.0)

        def _ppf(self, q):
            return np.minimum(-np.log1p(-q), 1.0)

    found = log_expectation(Censored(a=0, b=1, name="censored")(), exponential(-1.0, 0.0))
    expected = math.log((1 - math.exp(-2)) / 2 + math.exp(-2))
    assert found.lower <= expected <= found.upper <= found.lower + 1e-4


def gap():
    return stats.rv_histogram(([1, 0, 1], [0, 1, 2, 3]), density=True)()


@pytest.mark.parametrize(
    ("distribution", "target", "distance"),
    [
        (stats.norm(), 40.0, 0.0),
        (stats.norm(), 3.0, 0.0),
        (stats.beta(2, 2), 1.0, 1e-6),
        (stats.beta(2, 2), 7.0, 6.0 + 1e-6),
        (stats.uniform(0, 1), 0.0, 0.0),
        (gap(), 1.4, 0.4 + 1e-9),
        (gap(), 2.5, 0.0),
    ],
)
def test_shown_points_of_the_support(distribution, target, distance):
    point = support_point_near(distribution, target)
    has_mass = distribution.cdf(point + 1e-6) > distribution.cdf(point - 1e-6)
    assert has_mass or distribution.logpdf(point) > -math.inf
    assert abs(point - target) <= distance


def test_an_unbounded_support_reaches_infinity():
    assert support_point_near(stats.norm(), math.inf) == math.inf


def _beta(a, b, x):
    return x.beta_lower(arb(a), arb(b), regularized=1)


def _student(n, x):
    half = _beta(arb(n) / 2, 0.5, n / (n + x * x)) / 2
    return half if x < 0 else 1 - half


TRUSTED = [
    (stats.norm(), lambda x: (-x / arb(2).sqrt()).erfc() / 2, lambda x: (x / arb(2).sqrt()).erfc() / 2),
    (stats.laplace(), lambda x: x.exp() / 2, lambda x: (-x).exp() / 2),
    (stats.logistic(), lambda x: 1 / (1 + (-x).exp()), lambda x: 1 / (1 + x.exp())),
    (stats.expon(), lambda x: -(-x).expm1(), lambda x: (-x).exp()),
    (
        stats.gamma(2.5),
        lambda x: x.gamma_lower(arb(2.5), regularized=1),
        lambda x: x.gamma_upper(arb(2.5), regularized=1),
    ),
    (
        stats.chi2(3),
        lambda x: (x / 2).gamma_lower(arb(1.5), regularized=1),
        lambda x: (x / 2).gamma_upper(arb(1.5), regularized=1),
    ),
    (stats.beta(2, 5), lambda x: _beta(2, 5, x), lambda x: _beta(5, 2, 1 - x)),
    (stats.t(3), lambda x: _student(3, x), lambda x: _student(3, -x)),
]


@pytest.mark.parametrize(
    ("law", "cdf", "sf"), TRUSTED, ids=lambda law: getattr(getattr(law, "dist", None), "name", "")
)
def test_trusted_tails_are_accurate(law, cdf, sf):
    """The table of distributions whose small tails count as accurate, against ball arithmetic."""
    masses = TailMasses.of(law, 1e-11)
    assert masses.absolute == 0
    levels = 10.0 ** -np.array([1, 3, 8, 20, 50, 120, 250])
    with quiet():
        points = np.concatenate([law.ppf(levels), law.isf(levels)])
        points = points[np.isfinite(points) & (points > masses.low) & (points < masses.high)]
        below, above = masses.log_tails(points)
    assert len(points) >= 9
    with ctx.workprec(2500):
        for x, low, high in zip(points.tolist(), below, above, strict=True):
            exact = (cdf if x <= masses.median else sf)(arb(x)).log()
            assert arb(float(low)) <= exact <= arb(float(high))
    assert np.all(above - below < 1e-10)


def test_other_tails_get_an_absolute_error():
    masses = TailMasses.of(stats.pareto(3), 1e-11)
    below, above = masses.log_tails(np.array([1 + 2e-16, 1e8]))
    assert below[0] == -math.inf
    assert above[1] > -35
    assert TailMasses.of(gap(), 1e-11).absolute == 2.0**-50


def test_underflow_is_not_read_as_zero():
    below, above = TailMasses.of(stats.gamma(2.5), 1e-11).log_tails(np.array([1e4]))
    assert below[0] == -math.inf
    assert above[0] == -700
    below, above = TailMasses.of(stats.norm(), 1e-11).log_tails(np.array([100.0]))
    assert below[0] <= -5005.5242086942 <= above[0] < -5005.524
