"""Divergences: rational where they can be, sound ends, and KL where p and q nearly agree."""

import math
import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import contraction_oracle as oracle
import tightlip as tl
from strategies import distributions, exact_pairs
from tightlip import Prior
from tightlip.contraction.divergences import divergence
from tightlip.errors import InvalidInput, ShapeMismatch


def precise_kl(p, q):
    """Σ p log(p/q) with 2000 bits."""
    with ctx.workprec(2000):
        total = arb(0)
        for a, b in zip(p, q, strict=True):
            if a:
                ratio = Fraction(a) / Fraction(b)
                total += (
                    arb(fmpq(a.numerator, a.denominator))
                    * arb(fmpq(ratio.numerator, ratio.denominator)).log()
                )
        return total


@st.composite
def pairs(draw):
    size = draw(st.integers(2, 5))
    return draw(distributions(size)), draw(distributions(size, positive=True))


@given(pairs())
def test_rational_kinds_are_exact_and_the_others_bracket(pair):
    p, q = pair
    assert divergence(p, q, "tv").fraction == sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert divergence(p, q, "chi2").fraction == sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))
    found = divergence(p, q, "kl")
    with ctx.workprec(2000):
        truth = precise_kl(p, q)
        assert arb(found.lower) <= truth + arb("1e-500")
        assert arb(found.upper) >= truth - arb("1e-500")
    floats = np.array([float(a) for a in p]), np.array([float(b) for b in q])
    for kind in ("kl", "h2"):
        found = divergence(p, q, kind)
        assert found.lower <= found.upper <= found.lower * (1 + 1e-15)
        assert found.upper == pytest.approx(oracle.divergence(*floats, kind), abs=1e-14)


def test_naive_kl_fails_at_tiny_total_variation():
    """At TV = 1e-9 the float sum of p log(p/q) is wrong in its first digit, and can be negative."""
    shift = Fraction(1, 10**9)
    q = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]
    p = [q[0] + shift, q[1] - shift, q[2]]
    truth = float(precise_kl(p, q))
    naive = sum(float(a) * math.log(float(a) / float(b)) for a, b in zip(p, q, strict=True))
    assert abs(naive / truth - 1) > 0.1
    found = divergence(p, q, "kl")
    assert found.lower <= truth <= found.upper
    assert found.upper == pytest.approx(float(shift**2 / 2 * (1 / q[0] + 1 / q[1])), rel=1e-6)
    # a false violation of Pinsker: naive KL below 2 TV²
    worst = 0.0
    for k in range(200):
        move = Fraction(1, 10**9) + Fraction(k, 10**12)
        other = [q[0] + move, q[1] - move, q[2]]
        naive = sum(float(a) * math.log(float(a) / float(b)) for a, b in zip(other, q, strict=True))
        worst = min(worst, naive - 2 * float(move) ** 2)
        assert divergence(other, q, "kl").lower >= 2 * float(move) ** 2
    assert worst < 0


def test_floats_are_scaled_to_sum_to_one_exactly():
    p, q = np.array([0.1, 0.2, 0.7]), np.array([0.1, 0.2, 0.7]) + np.array([1e-13, -1e-13, 0.0])
    found = divergence(p, q, "kl")
    assert 0 <= found.lower <= found.upper < 1e-24
    assert divergence(p, p, "kl") == divergence(p, p, "h2") == 0
    assert divergence(p, q, "tv").fraction is None


def test_infinite_and_disjoint():
    assert divergence([1, 0], [0, 1], "kl") == divergence([1, 0], [0, 1], "chi2") == math.inf
    assert divergence([1, 0], [0, 1], "tv").fraction == 1
    assert divergence([1, 0], [0, 1], "h2") == pytest.approx(2)
    assert divergence([0, 1], ["1/2", "1/2"], "kl") == pytest.approx(math.log(2))
    assert divergence([0, 1, 0], ["1/2", "1/2", 0], "kl") == pytest.approx(math.log(2))


def test_labels_are_matched_and_long_float_vectors_are_quick():
    one, two = Prior({"a": 0.2, "b": 0.8}), Prior({"b": 0.8, "a": 0.2})
    assert divergence(one, two, "kl") == 0
    generator = np.random.default_rng(0)
    p, q = generator.dirichlet(np.ones(300), size=2)
    for kind in ("tv", "kl", "chi2", "h2"):
        assert divergence(p, q, kind) == pytest.approx(oracle.divergence(p, q, kind), rel=1e-9)


def test_refusals_and_copies():
    with pytest.raises(InvalidInput, match="one of"):
        divergence([1], [1], "hellinger")
    with pytest.raises(ShapeMismatch):
        divergence([1], ["1/2", "1/2"], "kl")
    found = divergence(["1/2", "1/2"], ["1/4", "3/4"], "chi2")
    twin = pickle.loads(pickle.dumps(found))
    assert (twin, twin.lower, twin.fraction) == (found, found.lower, found.fraction)


@settings(max_examples=80, deadline=None)
@given(exact_pairs())
def test_renyi_infinity_of_posterior_and_prior_is_pml_and_pmc(pair):
    channel, prior = pair
    pml, pmc = tl.pml(channel, prior), tl.pmc(channel, prior)
    for outcome in pml.outcomes:
        after = tl.measures.posterior(channel, prior, outcome)
        assert divergence(after, prior, "renyi_inf") == pml.value_of(outcome)
        assert divergence(prior, after, "renyi_inf") == pmc.value_of(outcome)


def test_renyi_infinity_is_the_largest_ratio_of_any_event():
    """log sup P(A)/Q(A) over all events, PMC Definition 1."""
    p, q = [Fraction(n, 10) for n in (1, 2, 3, 4)], [Fraction(n, 10) for n in (4, 3, 2, 1)]
    events = [event for size in range(1, 5) for event in combinations(range(4), size)]
    most = max(sum(p[x] for x in event) / sum(q[x] for x in event) for event in events)
    found = divergence(p, q, "renyi_inf")
    assert found.lower <= math.log(most) <= found.upper
    found.verify()
    assert divergence([0.5, 0.5], [1, 0], "renyi_inf") == math.inf
    assert divergence([1, 0], [0.5, 0.5], "renyi_inf") == pytest.approx(math.log(2))
