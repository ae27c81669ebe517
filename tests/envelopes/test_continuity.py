"""ε_c falls with δ and is continuous, so lower (and upper) semicontinuous: an attack of probability δ and ratio t grows
to δ′ > δ when each bad symbol takes its share of the rest, which divides no ratio by more than δ′/δ. So

    0 ≤ ε_c(δ) − ε_c(δ′) ≤ log δ′/δ,   that is, t falls and δ·t rises.

The right quantile of ℓ(Y) jumps.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from envelope_oracle import largest_ratio
from strategies import exact_pairs
from tightlip import papers
from tightlip.envelopes.attack import Shares, evaluate, extend
from tightlip.envelopes.exact import Release
from tightlip.model.channel import align

CLOSE = Fraction(1, 10**8)
STEPS = [Fraction(1, 10**digits) for digits in (1, 3, 6, 9, 12, 15)]
unit = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)


def example(name):
    generator = np.random.default_rng(11)
    match name:
        case "ENV example 1":
            return papers.env_example_1(), tl.Prior.uniform(4)
        case "randomised response":
            return tl.mechanism.randomized_response(5, 1), tl.Prior(["1/10", "1/5", "1/5", "1/5", "3/10"])
        case "two secrets":
            return tl.Channel([["1/2", "1/4", "1/4"], ["1/10", "3/10", "3/5"]]), tl.Prior(["1/3", "2/3"])
        case "the secret itself":
            return tl.Channel(np.eye(4, dtype=int)), tl.Prior(["1/10", "1/5", "3/10", "2/5"])
        case "two releases":
            response = tl.mechanism.randomized_response(3, 1)
            return tl.envelopes.compose([response, response]), tl.Prior(["1/5", "3/10", "1/2"])
        case "floats":
            rows = generator.dirichlet(np.full(12, 0.3), 10)
            return tl.Channel(rows), tl.Prior(generator.dirichlet(np.ones(10)))


EXAMPLES = [
    "ENV example 1",
    "randomised response",
    "two secrets",
    "the secret itself",
    "two releases",
    "floats",
]


def around(delta):
    """A δ, and others that come near it from both sides."""
    beside = [delta * (1 - step) for step in STEPS] + [delta * (1 + step) for step in STEPS]
    return sorted({delta, *(value for value in beside if value <= 1)})


def critical(channel, prior):
    """Where the quantile of ℓ(Y) jumps: as probable as the worst outcomes are together."""
    leak = tl.pml(channel, prior)
    order = np.argsort(-np.asarray(leak.values))
    masses = np.cumsum(np.asarray(leak.probabilities)[order])
    return [Fraction(float(mass)) for mass in masses if mass <= 1]


def require_ends_to_meet(point):
    """Ends far apart would pass for continuous whatever lies between them."""
    proved = point.certificate
    assert proved.upper.ratio <= proved.lower.ratio * (1 + CLOSE)


def require_continuous(points):
    """Falling t and rising δ·t, in the exact ratios that the certificates prove."""
    for point in points:
        require_ends_to_meet(point)
    for one, two in pairwise(points):
        assert one.delta < two.delta
        assert two.certificate.lower.ratio <= one.certificate.upper.ratio
        assert one.delta * one.certificate.lower.ratio <= two.delta * two.certificate.upper.ratio


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_does_not_jump_where_the_outcomes_do(name):
    channel, prior = example(name)
    jumps = critical(channel, prior)
    assert jumps
    for delta in jumps:
        require_continuous(tl.envelope_curve(channel, prior, around(delta)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_come_near_the_value_from_both_sides(name):
    """Lower semicontinuous: the value is no more than the limit of its neighbours, within what floats can tell."""
    channel, prior = example(name)
    for delta in [*critical(channel, prior)[:3], Fraction(1, 3)]:
        value = tl.envelope(channel, prior, delta)
        require_ends_to_meet(value)
        for step in STEPS:
            for beside in {delta * (1 - step), min(delta * (1 + step), Fraction(1))}:
                near = tl.envelope(channel, prior, beside)
                require_ends_to_meet(near)
                assert near.upper >= value.lower - float(step) * 1.2
                assert near.lower <= value.upper + float(step) * 1.2


@settings(max_examples=60, deadline=None)
@given(exact_pairs(), st.lists(unit, min_size=2, max_size=6, unique=True))
def test_of_any_channel(pair, deltas):
    channel, prior = pair
    require_continuous(tl.envelope_curve(channel, prior, sorted(deltas)))


@settings(max_examples=25, deadline=None)
@given(exact_pairs(), unit, unit)
def test_an_independent_program_says_the_same(pair, one, two):
    channel, prior = pair
    rows, masses = channel.floats, prior.floats
    low, high = sorted((one, two))
    near, far = (largest_ratio(rows, masses, float(delta)) for delta in (low, high))
    assert far <= near * (1 + 1e-6)
    assert float(low) * near <= float(high) * far * (1 + 1e-6)


def test_the_quantile_of_the_outcomes_jumps():
    channel, prior = example("ENV example 1")
    leak = tl.pml(channel, prior)
    points = [(delta, leak.quantile(delta)) for jump in critical(channel, prior) for delta in around(jump)]
    points.sort()
    drops = [one[1] - two[1] for one, two in pairwise(points) if two[0] / one[0] < Fraction(101, 100)]
    assert max(drops) > 0.1


def test_an_attack_may_have_to_pay_all_of_it():
    """X = Y: the rare secret's symbol takes more and more of the other outcome, so that δ·t stays 1."""
    channel, prior = tl.Channel(np.eye(2, dtype=int)), tl.Prior(["1/10", "9/10"])
    points = tl.envelope_curve(channel, prior, ["1/10", "1/8", "1/5", "1/2"])
    paid = [float(point.delta * point.certificate.upper.ratio) for point in points]
    assert paid == pytest.approx([1, 1, 1, 1], rel=1e-9)


@pytest.mark.parametrize("step", STEPS)
def test_beside_a_jump_of_tiny_masses_the_attack_grows(step):
    """Masses of 1e-9: what leaks 5·10⁸ with probability 2e-9 leaks that divided by 1 + s with as much more."""
    mass = Fraction(1, 10**9)
    channel = tl.Channel([["1", "0"], ["1", "0"], ["0", "1"]])
    found = tl.envelope(channel, tl.Prior([mass, mass, 1 - 2 * mass]), 2 * mass * (1 + step))
    found.verify()
    reached = np.log(float(1 / (2 * mass * (1 + step))))
    assert found.lower == pytest.approx(reached, abs=1e-9)
    assert found.gap < 1e-6 if step > CLOSE else found.gap < 2e-9


@settings(max_examples=60, deadline=None)
@given(exact_pairs(), unit, st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=100))
def test_a_grown_attack_loses_no_more_than_the_mass_it_lacked(pair, delta, kept):
    release = Release.of(pair[0], align(pair[1], pair[0]))
    pairs, count = release.pairs, max(int(kept * release.pairs.outcomes), 1)
    attack = Shares(pairs.leads[:count], np.ones(count))
    ratio, mass = evaluate(pairs, attack)
    wanted = float(delta) * (1 - 1e-9)
    after, reached = evaluate(pairs, extend(pairs, attack, wanted))
    assert (extend(pairs, attack, wanted).totals(pairs) <= 1 + 1e-12).all()
    if mass < wanted < 1 - 1e-6:
        assert reached >= wanted
        assert after >= ratio * mass / wanted * (1 - 1e-12)
