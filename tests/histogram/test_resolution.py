"""Secrets with a resolution: rounded down to a multiple of it, and what is stated to leak is true of just that.

Everything here is compared with listed tables: the secret by its words, and releases as explicit channels.
"""

import re
from fractions import Fraction
from math import floor

import numpy as np
import pytest

import histogram_oracle as oracle
from tightlip.errors import InvalidInput, NumericalFailure
from tightlip.histogram.chain import chain_group_counts
from tightlip.histogram.conditional import draw_given_secret
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.ratio_blocks import draw_ratio
from tightlip.histogram.release import plan_release
from tightlip.histogram.scale import grid_scale
from tightlip.histogram.secret import Except, Ratio, RatioDifference
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.table import tabulate
from tightlip.numeric.quantity import log_of
from tightlip.numeric.randomness import RandomSource

GROWTH = 7
FEASIBLE = [("a", "high"), ("a", "low"), ("b", "high"), ("b", "low")]
WITH_OTHERS = [*FEASIBLE[:2], ("b", "low"), ("c", "high"), ("c", "low")]
STEPS = [Fraction(1), Fraction(3, 4), Fraction(2, 3), Fraction(1, 2), Fraction(2, 5), Fraction(1, 3)]


def share(rows, part):
    return Fraction(part, rows) if rows else Fraction(0)


def rounded_down(value, step):
    return floor(value / step) * step


CASES = [
    (
        lambda step: Ratio({"income": "high"}, {"group": "a"}, resolution=step),
        lambda h: share(h[0] + h[1], h[0]),
        FEASIBLE[:3],
    ),
    (
        lambda step: RatioDifference(
            {"income": "high"}, {"group": "a"}, {"group": Except("a")}, resolution=step
        ),
        lambda h: share(h[0] + h[1], h[0]) - share(h[2] + h[3], h[2]),
        FEASIBLE,
    ),
    (
        lambda step: RatioDifference({"income": "high"}, {"group": "a"}, {"group": "c"}, resolution=step),
        lambda h: share(h[0] + h[1], h[0]) - share(h[3] + h[4], h[3]),
        WITH_OTHERS,
    ),
]


def case(kind, step, total):
    """A secret, its value in words, and every table."""
    make, value, feasible = CASES[kind]
    tables = list(oracle.histograms(total, len(feasible)))
    return make(step), lambda h: rounded_down(value(h), step), feasible, tables


def cells(total, feasible):
    """Some table of these cells: what is stated does not depend on which."""
    return tabulate([{"group": "a", "income": "low"}] * total, ["group", "income"], feasible=feasible)


@pytest.mark.parametrize("kind", range(len(CASES)))
@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("total", [1, 2, 3, 4, 5])
def test_the_secret_is_what_its_words_say(kind, step, total):
    if step * max(total - 1, 1) < 1:
        return  # refused: some multiples would have no table
    secret, words, feasible, tables = case(kind, step, total)
    domain = cells(total, feasible).domain
    grouped = secret.on(domain, total)
    listed = list(domain.cells(np.arange(domain.size)))
    values = sorted({words(h) for h in tables})
    assert grouped.size == len(values)
    for h in tables:
        counts = np.array([h[feasible.index(cell)] for cell in listed])
        assert values[grouped.index(counts)] == words(h)
        low, high = grouped.scale.interval(grouped.index(counts))
        assert low <= grouped.value(counts) <= high


@pytest.mark.parametrize("kind", range(len(CASES)))
@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("total", [1, 2, 3])
def test_what_randomised_response_is_said_to_leak(kind, step, total):
    if step * max(total - 1, 1) < 1:
        return
    secret, words, feasible, _ = case(kind, step, total)
    table = [{"group": "a", "income": "low"}] * total
    plan = plan_release(
        table,
        ["group", "income"],
        secret,
        mechanism="rr",
        epsilon=log_of(GROWTH),
        feasible=feasible,
    )
    channel = oracle.randomized_response(total, len(feasible), GROWTH)
    assert plan.privacy.ratio == oracle.leakage(channel, words)


@pytest.mark.parametrize("kind", range(len(CASES)))
@pytest.mark.parametrize("step", STEPS[2:4], ids=str)
@pytest.mark.parametrize("bin_size", [1, 2, 3, 9])
@pytest.mark.parametrize("ordered", [True, False])
def test_what_quantization_is_said_to_leak(kind, step, bin_size, ordered):
    total = 3
    secret, words, feasible, tables = case(kind, step, total)
    table = [{"group": "a", "income": "low"}] * total
    plan = plan_release(
        table, ["group", "income"], secret, bin_size=bin_size, ordered=ordered, feasible=feasible
    )
    values = sorted({words(h) for h in tables})
    mechanism = Quantization(HistogramSpace(total, len(feasible)), bin_size, secrets=len(values))

    def released(h):
        own = mechanism.bin_of(values.index(words(h)))
        wanted = [mechanism.representative(own)] if ordered else mechanism.members(own)
        return oracle.uniform(other for other in tables if values.index(words(other)) in wanted)

    assert plan.privacy.ratio == oracle.leakage({h: released(h) for h in tables}, words)


@pytest.mark.parametrize("resolution", ["1/2", "1/3", "2/5", 1])
def test_exactly_one_is_drawn_exactly(resolution):
    """A ratio of 1 is a value of its own where the step divides 1; blocks and lists draw it alike."""
    secret = Ratio({"income": "high"}, {"group": "a"}, resolution=resolution)
    domain = cells(6, FEASIBLE).domain
    grouped, random = secret.on(domain, 6), RandomSource(seed_for_tests=3)
    for start in range(grouped.size):
        for stop in range(start + 1, grouped.size + 1):
            for _ in range(5):
                rows = draw_ratio(grouped, range(start, stop), random)
                assert int(grouped.index_each(rows[None, :])[0]) in range(start, stop)
                drawn = draw_given_secret(grouped, range(start, stop), random)
                assert grouped.index(drawn.counts) in range(start, stop)


def test_errors_do_not_tell_the_bin(monkeypatch):
    """It is the one of the table: who sees the message would know the secret."""
    secret = RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/4")
    grouped = secret.on(cells(2000, FEASIBLE).domain, 2000)
    monkeypatch.setattr("tightlip.histogram.chain._START_ROUNDS", 0)
    told = set()
    for value in (0, 8):
        with pytest.raises(NumericalFailure) as caught:
            chain_group_counts(grouped, range(value, value + 1), RandomSource())
        told.add(str(caught.value))
    assert len(told) == 1


@pytest.mark.parametrize(("feasible", "other"), [(FEASIBLE, "b"), (WITH_OTHERS, "c")])
def test_a_large_table_whose_difference_is_exactly_one(feasible, other):
    """Far from what uniform histograms have, and thin: the chains must find it."""
    secret = RatioDifference({"income": "high"}, {"group": "a"}, {"group": other}, resolution="1/4")
    grouped = secret.on(cells(2000, feasible).domain, 2000)
    drawn = draw_given_secret(grouped, range(8, 9), RandomSource(seed_for_tests=1))
    assert (grouped.size, grouped.value(drawn.counts), drawn.exact) == (9, 1, False)


@pytest.mark.parametrize(
    ("total", "step"), [(5, "1/20"), (2, "1/20"), (1, "1/2"), (30, "1/50"), (9, "0.1249")]
)
def test_a_step_that_is_too_fine_is_refused_with_the_finest_there_is(total, step):
    sizes = (1, 1, 1)
    with pytest.raises(InvalidInput, match="resolution must be at least") as error:
        grid_scale(sizes, total, Fraction(step))
    finest = Fraction(re.search(r"; (\S+) is the finest", str(error.value)).group(1))
    assert grid_scale(sizes, total, finest).size >= 2
    with pytest.raises(InvalidInput):
        grid_scale(sizes, total, finest * Fraction(999, 1000))


@pytest.mark.parametrize("step", ["0.123456789012345", "0.00001234567890123"])
def test_a_step_that_is_too_long_is_refused_with_one_that_is_not(step):
    with pytest.raises(InvalidInput, match="resolution must be a short fraction") as error:
        grid_scale((1, 1, 1), 10**6, Fraction(step))
    other = Fraction(re.search(r"round it up to (\S+)\.$", str(error.value)).group(1))
    assert other >= Fraction(step)
    assert grid_scale((1, 1, 1), 10**6, other).step == other
