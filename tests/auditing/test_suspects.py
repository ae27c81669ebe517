"""Very many secrets: few suspects at a time give the envelope of all, and ends that hold wherever it stops."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.suspects import cell_prices, tally_pairs
from tightlip.auditing.tally import Tally, equal_columns
from tightlip.envelopes.limits import LIMITS
from tightlip.errors import InvalidInput

FEW = replace(LIMITS, suspects=3, least_suspects=2, added_suspects=2)
TABLES = st.tuples(
    st.integers(4, 9), st.integers(2, 12), st.sampled_from([0.2, 0.6, 1.0]), st.integers(0, 10**6)
)
DELTAS = st.sampled_from(["1/50", "1/5", "1/2", "1"]).map(Fraction)


def random_tally(secrets, cells, filled, seed, most=9):
    generator = np.random.default_rng(seed)
    counts = generator.integers(1, most, size=(secrets, cells)) * (
        generator.random((secrets, cells)) < filled
    )
    counts[counts.sum(axis=1) == 0, 0] = 1
    counts[0, counts.sum(axis=0) == 0] = 1
    secret, cell = np.nonzero(counts)
    return Tally.of(secret, cell, counts[secret, cell], counts.shape)


def reached(tally, group):
    """e^leakage of a group of whole cells that points to a secret, exactly."""
    inside = np.isin(tally.cell, group.cells)
    held = int(tally.count[inside & (tally.secret == group.secret)].sum())
    size = int(tally.of_cell[list(group.cells)].sum())
    return Fraction(held * tally.total, int(tally.of_secret[group.secret]) * size)


@given(TABLES, DELTAS)
@settings(max_examples=60, deadline=None)
def test_few_suspects_find_the_envelope_of_all_secrets(table, delta):
    tally = random_tally(*table)
    exact, _ = tally_envelope(tally, delta)
    found, attack = tally_envelope(tally, delta, limits=FEW)
    assert exact.certificate is not None
    assert f" among {tally.shape[0]} secrets" in found.method
    found.verify()
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.gap < 3e-6
    assert sum(group.probability for group in attack) >= float(delta) * (1 - 1e-9)
    for group in attack:
        assert np.log(group.posterior / group.prior) >= found.lower - 1e-8
        if not group.split:
            assert reached(tally, group) == pytest.approx(group.posterior / group.prior)


@given(TABLES, DELTAS, st.sampled_from([1, 2]))
@settings(max_examples=40, deadline=None)
def test_ends_hold_after_any_number_of_rounds_and_without_any_time(table, delta, rounds):
    tally = random_tally(*table)
    exact, _ = tally_envelope(tally, delta)
    found, _ = tally_envelope(tally, delta, limits=replace(FEW, suspect_rounds=rounds))
    quick, attack = tally_envelope(tally, delta, limits=FEW, seconds=0)
    for ends in (found, quick):
        ends.verify()
        assert ends.lower <= exact.upper
        assert exact.lower <= ends.upper
    assert quick.solves == 0
    assert attack
    if quick.gap > 3e-6:
        assert quick.method.endswith("since the time was used up")
    if found.gap > 3e-6:
        assert "the ends could not be brought closer than" in found.method


@pytest.mark.parametrize("delta", ["1/100", "1/3", "1"])
def test_certificates_of_many_secrets_are_about_the_channel_as_stored(monkeypatch, delta):
    tally = random_tally(40, 70, 0.4, 8)
    exact, _ = tally_envelope(tally, Fraction(delta))
    monkeypatch.setattr("tightlip.auditing.tally.EXACT_ENTRIES", 0)
    found, _ = tally_envelope(tally, Fraction(delta), limits=FEW)
    found.verify()
    assert found.certificate.channel.shape == tally.shape
    assert not found.certificate.channel.is_exact
    assert found.method.endswith("for counts stored as floats")
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.gap < 3e-6
    bare, attack = tally_envelope(
        tally, Fraction(delta), limits=replace(FEW, verified_pairs=0, rational_pairs=0)
    )
    assert bare.certificate is None
    assert bare.method.endswith("bounds proved in floats, without a certificate in rationals")
    assert abs(bare.upper - found.upper) < 1e-9
    assert attack


def test_more_rounds_close_the_gap():
    tally = random_tally(60, 80, 0.5, 3)
    found = [
        tally_envelope(tally, Fraction(1, 3), limits=replace(FEW, suspect_rounds=rounds))[0]
        for rounds in (1, 4, 40)
    ]
    gaps = [ends.gap for ends in found]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 1e-2
    assert gaps[-1] < 3e-6


def test_of_secrets_that_occur_once_one_for_each_cell_is_enough():
    generator = np.random.default_rng(0)
    cell = np.concatenate([np.arange(30), generator.choice(30, 4000, p=np.arange(1, 31) / 465)])
    twice = np.arange(0, 1000)  # these occur in two cells: their rows are means of others
    secret = np.concatenate([np.arange(len(cell)), twice])
    cell = np.concatenate([cell, generator.integers(0, 30, len(twice))])
    once = Tally.of(secret, cell, np.ones(len(cell), dtype=np.int64), (int(secret.max()) + 1, 30))
    found, _ = tally_envelope(once, Fraction(1, 10))
    assert found.gap < 3e-6
    assert "for 30 suspects among 4030 secrets" in found.method
    # the same for the secret "which cell"
    rows = Tally.of(np.arange(30), np.arange(30), once.of_cell, (30, 30))
    same, _ = tally_envelope(rows, Fraction(1, 10))
    assert found.lower <= same.upper
    assert same.lower <= found.upper


def test_prices_are_the_definition():
    tally = random_tally(6, 5, 0.5, 11)
    pairs, suspects, thresholds = tally_pairs(tally), np.array([4, 1]), np.array([0.7, -0.2])
    found = cell_prices(pairs, suspects, thresholds, 2.5)
    for cell in range(5):
        share = tally.of_cell[cell] / tally.total
        values = [0.0]
        for secret, threshold in zip(suspects, thresholds, strict=True):
            held = tally.count[(tally.cell == cell) & (tally.secret == secret)].sum()
            lift = held / tally.of_secret[secret] / share
            values.append((lift - threshold) / (2.5 - threshold))
        assert found[cell] == pytest.approx(max(values))


@given(TABLES, DELTAS)
@settings(max_examples=30, deadline=None)
def test_a_time_limit_leaves_ends_that_hold_where_all_secrets_are_solved_for(table, delta):
    tally = random_tally(*table)
    exact, _ = tally_envelope(tally, delta)
    found, _ = tally_envelope(tally, delta, seconds=0)
    found.verify()
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    unhurried, _ = tally_envelope(tally, delta, seconds=60)
    assert (unhurried.lower, unhurried.upper) == (exact.lower, exact.upper)


def test_a_certificate_that_cannot_be_checked_in_time_is_left_out():
    tally = random_tally(5, 40, 0.7, 1)
    exact, attack = tally_envelope(tally, Fraction(1, 4))
    for limits, seconds in (
        (replace(LIMITS, verified_pairs=10, rational_pairs=20), None),
        (replace(LIMITS, verified_pairs=10), 0),
    ):
        found, groups = tally_envelope(tally, Fraction(1, 4), limits=limits, seconds=seconds)
        assert found.certificate is None
        assert "bounds proved in floats" in found.method
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper
    assert attack
    assert groups


def test_more_pairs_than_are_searched_have_closed_forms():
    tally = random_tally(5, 40, 0.7, 1)
    exact, _ = tally_envelope(tally, Fraction(1, 4))
    found, _ = tally_envelope(tally, Fraction(1, 4), limits=replace(LIMITS, searched_pairs=30))
    assert found.method.startswith("closed forms")
    assert found.solves == 0
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.gap > 1e-3


@pytest.mark.parametrize("seconds", [-1, "-0.5", "soon"])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(InvalidInput, match="seconds"):
        tally_envelope(random_tally(4, 4, 1.0, 0), Fraction(1, 4), seconds=seconds)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2)), min_size=1, max_size=9), min_size=1)
)
@settings(max_examples=200)
def test_equal_columns_are_those_with_equal_entries_in_order_of_appearance(columns):
    entries = np.array([entry for column in columns for entry in column])
    starts = np.cumsum([0, *(len(column) for column in columns)])[:-1]
    found = equal_columns(entries[:, 0], entries[:, 1], starts)
    known: dict = {}
    assert found.tolist() == [known.setdefault(tuple(column), len(known)) for column in columns]
