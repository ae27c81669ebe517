"""Frequencies from private releases: unbiased, identified or refused, and covered as often as promised."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from planning_oracle import laws
from strategies import distributions, exact_channels
from tightlip import Channel, Prior, log_of
from tightlip.errors import InvalidInput, InvalidLabels, PreconditionFailed, ShapeMismatch, WrongType
from tightlip.mechanism import randomized_response
from tightlip.numeric.proportions import chernoff, clopper_pearson
from tightlip.numeric.randomness import RandomSource
from tightlip.planning.frequency import (
    estimate_frequencies,
    estimation_variance,
    project_to_simplex,
    right_inverse,
    samples_for_standard_error,
)

RESPONSE = randomized_response(3, log_of(2))
WIDE = Channel([["1/2", "1/4", "1/8", "1/8"], ["1/8", "1/2", "1/4", "1/8"], ["1/8", "1/8", "1/4", "1/2"]])
WIDE_FLOATS = Channel(WIDE.floats)


@settings(max_examples=40)
@given(st.data())
def test_the_mean_of_the_estimate_is_the_truth(data):
    """Every sequence of three releases, weighted by its probability, exactly."""
    channel = data.draw(exact_channels(2, 3))
    masses = data.draw(distributions(2))
    try:
        found = laws([masses], lambda _: channel.matrix.tolist(), 3)
        possible = {h: chances[0] for h, chances in found.items() if chances[0]}
        means = sum(
            chance * estimate_frequencies([h.count(y) for y in range(3)], channel).values
            for h, chance in possible.items()
        )
    except PreconditionFailed:
        assert (channel.matrix[0] == channel.matrix[1]).all()
        return
    assert means.tolist() == masses


@pytest.mark.parametrize("channel", [RESPONSE, WIDE, WIDE_FLOATS, Channel(RESPONSE.floats)])
def test_estimates_sum_to_one_and_undo_the_channel(channel):
    inverse = right_inverse(channel)
    product = np.asarray(channel.floats)[:, inverse.possible] @ inverse.floats
    assert np.allclose(product, np.eye(3), atol=1e-12)
    assert max(inverse.bias) < 1e-14
    found = estimate_frequencies([5, 1, 1, 0][: channel.shape[1]], channel)
    assert float(sum(found.values)) == pytest.approx(1, abs=1e-12)
    assert np.allclose(found.covariance.sum(axis=0), 0, atol=1e-12)


def test_a_reference_changes_the_variance_and_not_the_mean():
    prior = Prior([0.9, 0.05, 0.05])
    for channel in (WIDE, WIDE_FLOATS):
        inverse = right_inverse(channel, prior)
        assert np.allclose(np.asarray(channel.floats) @ inverse.floats, np.eye(3), atol=1e-12)
        shares = prior.floats @ channel.floats
        ours = (shares[:, None] * inverse.floats**2).sum(axis=0)
        plain = (shares[:, None] * right_inverse(channel).floats ** 2).sum(axis=0)
        assert ours.sum() < plain.sum()
    assert right_inverse(WIDE, Prior([1, 0, 0])).weights.shape == (4, 3)
    assert right_inverse(WIDE_FLOATS, Prior([1.0, 0.0, 0.0])).weights.shape == (4, 3)


def test_variance_formula():
    masses = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    found = estimation_variance(RESPONSE, Prior(masses))
    gap = Fraction(1, 4)  # truth 1/2, others 1/4
    for mass, variance in zip(masses, found, strict=True):
        q = Fraction(1, 4) + gap * mass
        assert variance == pytest.approx(float(q * (1 - q) / gap**2), rel=1e-12)
    outcomes = laws([masses], lambda _: RESPONSE.matrix.tolist(), 2)
    second = sum(
        chances[0] * estimate_frequencies([h.count(y) for y in range(3)], RESPONSE).values[0] ** 2
        for h, chances in outcomes.items()
    )
    assert float(second - masses[0] ** 2) == pytest.approx(found[0] / 2, rel=1e-12)
    needed = samples_for_standard_error(RESPONSE, Prior(masses), "0.01")
    assert needed == math.ceil(max(found) / 0.0001 - 1e-6)


@pytest.mark.parametrize(
    ("channel", "words"),
    [
        (Channel([["1/2", "1/2"], ["1/2", "1/2"]], inputs=["a", "b"]), r"on a, [+-]1 on b"),
        (Channel([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"]), r"on a, [+-]1 on b"),
        (Channel([[1, 0], [0, 1], ["1/2", "1/2"]]), r"-0.5 on 0, -0.5 on 1, \+1 on 2"),
        (Channel([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), "0.5 on 0"),
        (Channel([[0.5, 0.5, 0.0]] * 9), r"and \d more"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_by_name(channel, words):
    with pytest.raises(PreconditionFailed, match=words):
        estimate_frequencies([1] * channel.shape[1], channel)


def test_an_unidentified_direction_truly_leaves_the_outcomes_alone():
    channel = Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/3", "2/3"]])
    with pytest.raises(PreconditionFailed, match=r"-0.333 on 0, -0.667 on 1, \+1 on 2"):
        right_inverse(channel)
    direction = np.array([Fraction(-1, 3), Fraction(-2, 3), Fraction(1)], dtype=object)
    assert not (direction @ channel.matrix).any()


def coverage(channel, masses, samples, rounds, **options):
    """How often each interval holds its frequency, and how often all do."""
    generator = np.random.default_rng(20240611)
    law = np.asarray(masses) @ np.asarray(channel.floats)
    hits = np.zeros(len(masses))
    together = 0
    for counts in generator.multinomial(samples, law / law.sum(), size=rounds):
        found = estimate_frequencies(counts, channel).intervals("0.9", **options)
        inside = (np.array(found.lower) <= masses) & (masses <= np.array(found.upper))
        hits += inside
        together += inside.all()
    return hits / rounds, together / rounds


@pytest.mark.parametrize("channel", [RESPONSE, WIDE, WIDE_FLOATS])
@pytest.mark.parametrize("samples", [8, 200])
def test_proved_intervals_cover(channel, samples):
    masses = np.array([0.7, 0.25, 0.05])
    rounds = 120
    slack = 3 * math.sqrt(0.9 * 0.1 / rounds)
    each, _ = coverage(channel, masses, samples, rounds)
    assert each.min() >= 0.9 - slack
    _, together = coverage(channel, masses, samples, rounds, simultaneous=True)
    assert together >= 0.9 - slack


def test_asymptotic_intervals_cover_for_many_samples_and_are_shorter():
    masses = np.array([0.5, 0.3, 0.2])
    each, _ = coverage(RESPONSE, masses, 20_000, 400, method="asymptotic")
    assert (np.abs(each - 0.9) < 4 * math.sqrt(0.09 / 400)).all()
    found = estimate_frequencies(
        [900, 500, 600], WIDE.post_process(Channel([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]))
    )
    proved, asymptotic = found.intervals(), found.intervals(method="asymptotic")
    for place in range(3):
        assert proved.lower[place] <= asymptotic.lower[place] < asymptotic.upper[place] <= proved.upper[place]
    assert asymptotic.methods == ("wald",) * 3


def test_asymptotic_intervals_can_be_far_too_short():
    """Why they are not the default: nearly no noise, a rare secret and few samples."""
    channel = randomized_response(2, 8.0)
    masses = np.array([0.99, 0.01])
    assert coverage(channel, masses, 20, 300, method="asymptotic")[0].min() < 0.5
    assert coverage(channel, masses, 20, 300)[0].min() > 0.9


def test_binary_coverage_exactly():
    """All 31 counts of 30 releases, weighted: no simulation."""
    channel = randomized_response(2, log_of(3))
    for mass in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)):
        share = Fraction(1, 4) + mass / 2
        covered = Fraction(0)
        for hits in range(31):
            found = estimate_frequencies([hits, 30 - hits], channel).intervals("0.9")
            if Fraction(found.lower[0]) <= mass <= Fraction(found.upper[0]):
                covered += math.comb(30, hits) * share**hits * (1 - share) ** (30 - hits)
        assert covered >= Fraction(9, 10)


def test_methods_are_named_and_float_randomised_response_is_still_a_proportion():
    assert (
        estimate_frequencies([3, 4, 5], randomized_response(3, 1.0)).intervals().methods
        == ("clopper-pearson",) * 3
    )
    assert "chernoff" in estimate_frequencies([3, 4, 5, 6], WIDE).intervals().methods
    alone = estimate_frequencies([4, 6], Channel([["1/2", "1/2"]]))
    assert (alone.intervals().lower, alone.intervals().upper) == ((1.0,), (1.0,))


@pytest.mark.parametrize(("hits", "trials"), [(0, 1), (1, 1), (0, 50), (7, 50), (50, 50), (300, 10_000)])
def test_clopper_pearson_against_scipy_and_within_chernoff(hits, trials):
    reference = binomtest(hits, trials).proportion_ci(0.95, method="exact")
    low, high = clopper_pearson(hits, trials, Fraction(1, 40))
    assert low == pytest.approx(reference.low, abs=1e-9)
    assert high == pytest.approx(reference.high, abs=1e-9)
    wide = chernoff(Fraction(hits, trials), trials, Fraction(1, 40))
    assert wide[0] - 1e-10 <= low <= high <= wide[1] + 1e-10  # the two agree at 0 and at n hits
    reach = math.sqrt(math.log(40) / (2 * trials))
    assert wide[0] >= hits / trials - reach - 1e-9
    assert wide[1] <= hits / trials + reach + 1e-9


def test_projection_is_the_nearest_distribution():
    generator = np.random.default_rng(7)
    grid = generator.dirichlet([0.5] * 3, size=4000)
    for values in generator.normal(1 / 3, 0.7, size=(20, 3)):
        found = project_to_simplex(values)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        assert ((found - values) ** 2).sum() <= ((grid - values) ** 2).sum(axis=1).min() + 1e-9
    exact = estimate_frequencies([10, 0, 0], RESPONSE).projected()
    assert exact.masses.tolist() == [1, 0, 0]
    assert estimate_frequencies(
        {"b": 3, "a": 7}, Channel([[0.9, 0.1], [0.2, 0.8]], ["x", "y"], ["a", "b"])
    ).projected()


def test_counts_by_label_in_any_order():
    channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["yes", "no"])
    by_label = estimate_frequencies({"no": 40, "yes": 60}, channel)
    assert by_label.values.tolist() == estimate_frequencies(np.array([60, 40]), channel).values.tolist()
    assert by_label.samples == 100
    assert by_label.standard_errors[0] == pytest.approx(math.sqrt(0.24 / 100) * 2)


NAMED = Channel(WIDE.matrix, inputs=["a", "b", "c"], outputs=["w", "x", "y", "z"])


@pytest.mark.parametrize(
    "column", [list, tuple, np.array, pd.Series, pl.Series, lambda items: pd.Series(items, dtype="category")]
)
def test_releases_are_counted(column):
    released = ["z", "w", "x", "w", "w", "z"]
    found = estimate_frequencies(channel=NAMED, released=column(released))
    wanted = estimate_frequencies({"w": 3, "x": 1, "z": 2}, NAMED)
    assert found.values.tolist() == wanted.values.tolist()
    assert found.samples == 6
    assert found.intervals() == wanted.intervals()


def test_releases_that_are_numbers_are_outcomes_and_not_counts():
    coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert estimate_frequencies([1, 0], coin).samples == 1
    assert estimate_frequencies(channel=coin, released=[1, 0]).samples == 2


@pytest.mark.parametrize("channel", [RESPONSE, WIDE, WIDE_FLOATS, NAMED])
@pytest.mark.parametrize("samples", [40, 1000])
def test_simultaneous_intervals_cover_the_population_that_was_drawn_from(channel, samples):
    """From people to releases to intervals: all frequencies inside, at least 9 times in 10."""
    rounds, masses = 120, np.array([0.7, 0.25, 0.05])
    generator, source = np.random.default_rng(20250101), RandomSource(seed_for_tests=17)
    covered = 0
    for _ in range(rounds):
        people = np.array(list(channel.inputs))[generator.choice(3, size=samples, p=masses)]
        found = estimate_frequencies(channel=channel, released=channel.draw(people, randomness=source))
        ends = found.intervals("0.9", simultaneous=True)
        covered += all(
            low <= mass <= high for low, mass, high in zip(ends.lower, masses, ends.upper, strict=True)
        )
    assert covered / rounds >= 0.9 - 3 * math.sqrt(0.09 / rounds)


def test_many_releases_find_the_population():
    """A million people: the estimate is within five standard errors, and the proved interval is short."""
    masses = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    channel = randomized_response(5, log_of(3))
    people = np.random.default_rng(3).choice(5, size=1_000_000, p=masses)
    found = estimate_frequencies(
        channel=channel, released=channel.draw(people, randomness=RandomSource(seed_for_tests=4))
    )
    assert (np.abs(np.asarray(found.values, dtype=float) - masses) < 5 * found.standard_errors).all()
    ends = found.intervals(simultaneous=True)
    for low, mass, high in zip(ends.lower, masses, ends.upper, strict=True):
        assert low <= mass <= high < low + 0.01


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: estimate_frequencies([1, 2], RESPONSE), ShapeMismatch, "each of 3 outcomes"),
        (lambda: estimate_frequencies([0, 0, 0], RESPONSE), InvalidInput, "positive sum"),
        (lambda: estimate_frequencies([1, -1, 2], RESPONSE), InvalidInput, "negative"),
        (lambda: estimate_frequencies([1, 1.5, 2], RESPONSE), InvalidInput, "whole number"),
        (lambda: estimate_frequencies([1, float("nan"), 2], RESPONSE), InvalidInput, "finite"),
        (lambda: estimate_frequencies({"x": 1}, RESPONSE), InvalidLabels, "x"),
        (lambda: estimate_frequencies([1, 1], "channel"), WrongType, "Channel"),
        (lambda: estimate_frequencies([1, 1, 1]), WrongType, "channel must be a Channel, got None"),
        (lambda: estimate_frequencies(channel=RESPONSE), InvalidInput, "counts or released .*got neither"),
        (
            lambda: estimate_frequencies(RESPONSE, released=[0]),
            InvalidInput,
            "got both; write .*channel=channel",
        ),
        (
            lambda: estimate_frequencies(channel=RESPONSE, released=[]),
            InvalidInput,
            "released must have at least one entry",
        ),
        (
            lambda: estimate_frequencies(channel=RESPONSE, released=[0, 3]),
            InvalidLabels,
            "released entry 1 .*got 3",
        ),
        (
            lambda: estimate_frequencies(channel=RESPONSE, released=[True]),
            InvalidLabels,
            "write 1, of type int",
        ),
        (
            lambda: estimate_frequencies(channel=NAMED, released=["w", None]),
            InvalidLabels,
            "entry 1 .*missing",
        ),
        (
            lambda: estimate_frequencies(channel=NAMED, released="w"),
            WrongType,
            "put a single value in a list",
        ),
        (
            lambda: estimate_frequencies(channel=Channel([["1/2", "1/2", 0], [1, 0, 0]]), released=[0, 2]),
            InvalidInput,
            r"released entry 1 \(2\) must not occur: this channel never gives that outcome",
        ),
        (
            lambda: estimate_frequencies(channel=Channel([[1, 0], [0, 1], ["1/2", "1/2"]]), released=[0, 1]),
            PreconditionFailed,
            "linearly independent rows .*; merge such secrets, or use a channel that tells them apart",
        ),
        (
            lambda: estimate_frequencies([1, 1, 1], Channel([["1/2", "1/2", 0], [1, 0, 0]])),
            InvalidInput,
            "never gives that outcome",
        ),
        (lambda: estimate_frequencies([1, 1, 1], RESPONSE).intervals(1), InvalidInput, "strictly between"),
        (
            lambda: estimate_frequencies([1, 1, 1], RESPONSE).intervals(method="exact"),
            InvalidInput,
            "asymptotic",
        ),
        (lambda: samples_for_standard_error(RESPONSE, Prior.uniform(3), 0), InvalidInput, "positive"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("method", ["proved", "asymptotic"])
def test_intervals_beyond_every_frequency_end_at_the_edge(method):
    """Data that no population explains well: the interval is the nearest frequency, not one of 143 %."""
    coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    found = estimate_frequencies([100, 0], coin).intervals(method=method)
    assert (found.lower, found.upper) == ((1.0, 0.0), (1.0, 0.0))
    wide = Channel([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    found = estimate_frequencies([100, 0, 0], wide).intervals(method=method)
    assert (found.lower, found.upper) == ((1.0, 0.0), (1.0, 0.0))


def test_samples_for_a_standard_error_are_exact():
    for truth, prior in itertools.product(
        (2, 3, 5, 9), (["1/2", "1/3", "1/6"], ["1/5", "2/5", "2/5"], [1, 0, 0])
    ):
        total = truth + 2
        rows = [[Fraction(truth if x == y else 1, total) for y in range(3)] for x in range(3)]
        masses = [Fraction(mass) for mass in prior]
        shares = [sum(p * row[y] for p, row in zip(masses, rows, strict=True)) for y in range(3)]
        worst = max(share * (1 - share) for share in shares) / Fraction(truth - 1, total) ** 2
        for error in ("1/100", "1/10", "1/3"):
            needed = math.ceil(worst / Fraction(error) ** 2)
            assert samples_for_standard_error(Channel(rows), Prior(prior), error) == needed


def test_counts_that_contradict_the_channel_are_told():
    """No more than 3 of 4 say "+" whatever the truth is, and here all do."""
    channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["ill", "well"])
    found = estimate_frequencies([100, 0], channel).intervals()
    assert (found.lower, found.upper) == ((1.0, 0.0), (1.0, 0.0))
    assert (
        "contradict the channel at this confidence: the frequency of ill above 1, well below 0" in found.note
    )
    assert estimate_frequencies([100, 0], channel).intervals(method="asymptotic").note is not None
    assert estimate_frequencies([70, 30], channel).intervals().note is None
    assert estimate_frequencies([4, 0], channel).intervals().note is None  # so few may all say "+"


def test_an_outcome_that_was_not_seen_and_decides_much_is_not_taken_for_certain():
    small = Fraction(1, 10**6)
    rows = [["3/4", "1/4", 0], ["1/4", "3/4", 0], ["1/2", "1/2", 0]]
    rows = [[Fraction(entry) * (1 - 2 * small) for entry in row] for row in rows]
    for row, rare in zip(rows, (small, small, 2 * small), strict=True):
        row[2] = rare
        row[0] += 2 * small - rare
    channel = Channel(rows)
    found = estimate_frequencies([500, 500, 0], channel)
    # the third outcome alone tells the third secret: n times the variance is about q/(10⁻⁶)² = 10⁶
    assert found.standard_errors[2] == pytest.approx(np.sqrt(1e6 / 1000), rel=0.5)
