"""Confidence bounds: one-sided for sure, checked by adding up binomial probabilities in rationals."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.numeric.proportions import lower_shares, upper_shares

ERROR = 0.05
SHARES = [
    Fraction(1, 500),
    Fraction(1, 100),
    Fraction(1, 20),
    Fraction(1, 3),
    Fraction(2, 3),
    Fraction(97, 100),
]


def chances(trials, share):
    return [comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)]


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("weighted", [True, False])
def test_a_bound_fails_no_more_often_than_allowed(trials, share, weighted):
    allowed = Fraction(ERROR) * (share if weighted else 1)
    every = np.arange(trials + 1)
    upper = upper_shares(every, trials, ERROR, weighted=weighted).tolist()
    lower = lower_shares(every, trials, ERROR, weighted=weighted).tolist()
    chance = chances(trials, share)
    assert sum(p for p, bound in zip(chance, upper, strict=True) if Fraction(bound) < share) <= allowed
    assert sum(p for p, bound in zip(chance, lower, strict=True) if Fraction(bound) > share) <= allowed
    assert all(low <= count / trials <= high for count, low, high in zip(every, lower, upper, strict=True))


def test_bounds_are_no_wider_than_they_must_be():
    for count, trials in [(0, 30), (3, 40), (25, 40)]:
        upper = Fraction(float(upper_shares(count, trials, ERROR))) * (1 - Fraction(1, 10**6))
        tail = sum(chances(trials, upper)[: count + 1])
        assert tail > Fraction(ERROR) * upper
    for count, trials in [(2, 30), (3, 40), (25, 40)]:
        lower = Fraction(float(lower_shares(count, trials, ERROR))) * (1 + Fraction(1, 10**6))
        tail = sum(chances(trials, lower)[count:])
        assert tail > Fraction(ERROR) * lower


def test_all_values_of_a_distribution_hold_together():
    """Many rare values, most of them never seen: the weights make up for not knowing how many there are."""
    generator = np.random.default_rng(11)
    shares = np.concatenate([np.full(2000, 0.2 / 2000), np.full(40, 0.3 / 40), [0.2, 0.3]])
    failed = {"upper": 0, "lower": 0}
    for _ in range(150):
        counts = generator.multinomial(500, shares)
        failed["upper"] += bool((upper_shares(counts, 500, 0.2) < shares).any())
        failed["lower"] += bool((lower_shares(counts, 500, 0.2) > shares).any())
    assert max(failed.values()) <= 30 + 3 * 5  # 0.2 of 150 and three standard deviations


def test_ends_of_the_range():
    assert upper_shares([5, 0], [5, 5], ERROR)[0] == 1.0
    assert lower_shares([0, 1], [5, 5], ERROR).tolist() == [0.0, 0.0]
    assert float(lower_shares(5, 5, 0.5, weighted=False)) < 0.5**0.2


def test_bounds_that_cannot_be_proved_are_given_up(monkeypatch):
    monkeypatch.setattr("tightlip.numeric.proportions._rules_out_share", lambda *_, **__: False)
    assert upper_shares([3], [40], ERROR).tolist() == [1.0]
    assert lower_shares([3], [40], ERROR).tolist() == [0.0]


@pytest.mark.parametrize("confidence", [0, 1, 1.5, "x"])
def test_confidence_must_be_a_probability(confidence):
    with pytest.raises(InvalidInput, match="confidence"):
        SampleMode(confidence)
