"""Exact draws: every bit of a uniform number is followed, with rationals as the judge."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from scripted_source import Scripted, words_of
from tightlip.numeric.categorical import Categorical, Weights
from tightlip.numeric.randomness import RandomSource

THIRDS = [1, 1, 1]
TINY = [(1 << 80) - 1, 1]
UNEVEN = [5, 1 << 70, 3, 10**20 + 7, 1]
DYADIC = [1, 2, 5, 8]
ROWS = [THIRDS, TINY, UNEVEN, DYADIC, [7], [1] * 40]


def possible(weights, number, bits):
    """The outcomes where a uniform number may still lie that begins with these bits."""
    cuts = [Fraction(part, sum(weights)) for part in accumulate(weights, initial=0)]
    low, high = Fraction(number, 1 << bits), Fraction(number + 1, 1 << bits)
    return [y for y in range(len(weights)) if cuts[y] < high and low < cuts[y + 1]]


def rows_of(*rows, outcomes=64):
    return [Weights(range(len(row)), row) for row in rows], outcomes


@pytest.mark.parametrize("bits", [0, 1, 2, 5, 8])
def test_a_table_says_what_is_certain_and_nothing_else(bits):
    """Cell by cell; what is decided and what the open cells have of each outcome is its probability."""
    table = Categorical(*rows_of(*ROWS), bits=bits)._table.reshape(len(ROWS), -1)
    for weights, cells in zip(ROWS, table.tolist(), strict=True):
        cuts = [Fraction(part, sum(weights)) for part in accumulate(weights, initial=0)]
        mass = [Fraction(0)] * len(weights)
        for number, outcome in enumerate(cells):
            inside = possible(weights, number, bits)
            assert outcome == (inside[0] if len(inside) == 1 else 64)
            for y in inside:
                low = max(cuts[y], Fraction(number, 1 << bits))
                mass[y] += min(cuts[y + 1], Fraction(number + 1, 1 << bits)) - low
        assert mass == [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("bits", [0, 1, 3, 7, 12, 16])
@pytest.mark.parametrize("weights", [DYADIC, [3, 1, 9, 4, 4000, 79], [4095, 1], [1, 1, 1, 4093]])
def test_all_numbers_of_twelve_bits_are_shared_out_as_the_weights_are(weights, bits):
    """The whole probability space of weights of sum 2¹² or less, through the real draw."""
    drawer = Categorical(*rows_of(weights), bits=bits)
    drawn = []
    for number in range(1 << 12):
        source = Scripted(words_of(number << 52, 64, bits))
        drawn.append(int(drawer.draw(np.array([0]), source)[0]))
    scale = (1 << 12) // sum(weights)
    assert np.bincount(drawn).tolist() == [weight * scale for weight in weights]


@pytest.mark.parametrize("bits", [0, 3, 11, 16])
@pytest.mark.parametrize("weights", [row for row in ROWS if len(row) > 1])
def test_numbers_next_to_a_cut_fall_on_the_right_side(weights, bits):
    """256 bits that leave the cut in the last of them: three words more than a comparison of 64 bits has."""
    drawer = Categorical(*rows_of(weights), bits=bits)
    for part in list(accumulate(weights))[:-1]:
        for away in (-2, -1, 0, 1, 2, 1 << 100, -(1 << 100), 1 << 180, -(1 << 180)):
            number = (part << 256) // sum(weights) + away
            if not 0 <= number < 1 << 256 or len(inside := possible(weights, number, 256)) > 1:
                continue
            source = Scripted(words_of(number, 256, bits))
            assert drawer.draw(np.array([0]), source).tolist() == inside


def test_bits_are_drawn_until_a_number_is_off_the_cut():
    """1/3 is 0.010101… in binary: a thousand words of it decide nothing, the next does."""
    third = int("01" * 32, 2)
    drawer = Categorical(*rows_of(THIRDS), bits=4)
    for last, outcome in ((third - 1, 0), (third + 1, 1)):
        source = Scripted([*words_of(third, 64, 4), *[third] * 1000, last])
        assert drawer.draw(np.array([0]), source).tolist() == [outcome]
        assert source.left == []


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(1, 1 << 90), min_size=1, max_size=6), min_size=1, max_size=4),
    st.integers(0, 16),
    st.integers(0, (1 << 320) - 1),
    st.data(),
)
def test_a_draw_is_where_its_number_lies(rows, bits, number, data):
    place = data.draw(st.integers(0, len(rows) - 1))
    inside = possible(rows[place], number, 320)
    if len(inside) == 1:
        source = Scripted(words_of(number, 320, bits))
        assert Categorical(*rows_of(*rows), bits=bits).draw(np.array([place]), source).tolist() == inside


@pytest.mark.parametrize("bits", [0, 2, 9, None])
def test_frequencies(bits):
    rows = [[1, 1, 1], [90, 9, 1], [1] * 30, [3, 5]]
    drawer = Categorical(*rows_of(*rows), bits=bits)
    named = np.arange(200_000) % len(rows)
    drawn = drawer.draw(named, RandomSource(seed_for_tests=11))
    for place, weights in enumerate(rows):
        found = np.bincount(drawn[named == place], minlength=len(weights))
        expected = np.array(weights) / sum(weights) * found.sum()
        assert chisquare(found, expected).pvalue > 1e-3


def test_draws_are_independent_within_and_between_words_and_blocks():
    """Coins that share a word, or stand at the same place of two blocks, agree half of the time."""
    drawn = Categorical(*rows_of([1, 1]), bits=4).draw(
        np.zeros(400_000, dtype=np.uint8), RandomSource(seed_for_tests=2)
    )
    for apart in (1, 2, 3, 4, 1 << 14, 1 << 16, 1 << 17):
        agree = int((drawn[:-apart] == drawn[apart:]).sum())
        pairs = len(drawn) - apart
        assert abs(agree - pairs / 2) < 5 * (pairs / 4) ** 0.5


def test_outcomes_that_cannot_occur_are_left_out():
    weights = Weights.of([4, 7, 9], [0.25, 0.0, 0.75])
    assert (list(weights.outcomes), list(weights.weights)) == ([4, 9], [1, 3])
    for word in (0, (1 << 64) - 1, 1 << 62, (1 << 62) - 1):
        for bits in (0, 3):
            drawer = Categorical([weights], 10, bits=bits)
            found = drawer.draw(np.array([0]), Scripted([word >> 48, word, word, word]))
            assert int(found[0]) in (4, 9)


@pytest.mark.parametrize(
    ("outcomes", "kind"), [(2, np.uint8), (255, np.uint8), (256, np.uint16), (70_000, np.uint32)]
)
def test_many_outcomes(outcomes, kind):
    """The number after the last outcome stands for what is undecided, and must fit too."""
    drawer = Categorical([Weights(range(outcomes), [1] * outcomes)], outcomes)
    drawn = drawer.draw(np.zeros(300_000, dtype=np.uint8), RandomSource(seed_for_tests=8))
    assert drawn.dtype == kind
    assert drawn.max() < outcomes
    halves = np.bincount(drawn.astype(np.int64) * 2 // outcomes, minlength=2)
    middle = -(-outcomes // 2)  # as many outcomes are below one half
    assert (
        chisquare(halves, [300_000 * middle / outcomes, 300_000 * (outcomes - middle) / outcomes]).pvalue
        > 1e-3
    )


def test_nothing_drawn():
    assert Categorical(*rows_of(THIRDS)).draw(np.array([], dtype=np.uint8), RandomSource()).tolist() == []
    assert Categorical([], 3).draw(np.array([], dtype=np.uint8), RandomSource()).tolist() == []
