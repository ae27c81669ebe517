"""Counts to numbers: every measure of a tally equals the definition in rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit_oracle as oracle
import tightlip as tl
from tightlip.auditing.counted import Counted, proportional_groups
from tightlip.auditing.leakage import cell_pmc, cell_pml, local_privacy_of, maximal_leakage_of
from tightlip.auditing.tally import Tally, group_rows, sum_by
from tightlip.errors import InvalidInput
from tightlip.table.mechanism import RandomizedResponse

ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from(["0", "1", None])),
    min_size=2,
    max_size=40,
)


def counted_of(rows, secrets=1):
    counts = oracle.counts_of(rows, secrets)
    width = len(rows[0]) - secrets
    return Counted.of(counts, [f"s{i}" for i in range(secrets)], ["a", "b", "c"][:width])


def response(odds):
    """Randomised response at any odds, also larger ones than a plan may have."""

    class Response(RandomizedResponse):
        def response_odds(self):
            return Fraction(odds)

    return Response(0)


def by_cell(counted, leak):
    return {counted.cell_label(cell): leak.ratio(cell) for cell in range(counted.tally.shape[1])}


@given(ROWS)
@settings(max_examples=60)
def test_every_cell_is_measured_exactly(rows):
    counted, joint = counted_of(rows), oracle.joint_of(rows)
    gain, cost = cell_pml(counted.tally), cell_pmc(counted.tally)
    assert by_cell(counted, gain) == oracle.lifts(joint)
    assert by_cell(counted, cost) == oracle.costs(joint)
    assert maximal_leakage_of(gain).ratio == oracle.maximal_leakage(joint)
    assert gain.value(gain.worst_first(1)[0]).ratio == max(oracle.lifts(joint).values())
    ratios = [gain.ratio(cell) for cell in gain.worst_first(50)]
    assert ratios == sorted(oracle.lifts(joint).values(), reverse=True)
    exact = tl.ldp(counted.tally.channel())
    assert local_privacy_of(gain, cost) == exact
    assert local_privacy_of(gain, cost).ratio == exact.ratio


@given(ROWS, st.sampled_from(["1", "4/3", "3/2", "2", "5"]))
@settings(max_examples=40)
def test_tails_are_exact_also_at_ties(rows, ratio):
    gain = cell_pml(counted_of(rows).tally)
    assert gain.tail(tl.log_of(ratio)).fraction == oracle.tail(oracle.joint_of(rows), Fraction(ratio))


@given(ROWS, st.integers(1, 6), st.sampled_from(["1", "2", "7/2"]))
@settings(max_examples=40)
def test_suppression_then_noise_is_the_definition(rows, min_count, odds):
    counted = counted_of(rows).suppress(min_count).randomise({"b": response(odds)})
    joint = oracle.suppress(oracle.joint_of(rows), len(rows), min_count)
    values = list(dict.fromkeys(row[2] for row in rows))
    joint = oracle.randomise(joint, 1, values, Fraction(odds)) if len(values) > 1 else joint
    assert by_cell(counted, cell_pml(counted.tally)) == oracle.lifts(joint)
    assert by_cell(counted, cell_pmc(counted.tally)) == oracle.costs(joint)


def test_a_cell_that_excludes_secrets_names_the_likeliest():
    rows = [("x", "a", "0")] * 5 + [("y", "b", "0")] * 3 + [("z", "b", "0"), ("z", "a", "0")]
    counted = counted_of(rows)
    cost = cell_pmc(counted.tally)
    assert [cost.ratio(cell) for cell in cost.worst_first(2)] == [None, None]
    assert cost.value(0) == np.inf
    told = {counted.cell_label(cell)[0]: counted.secret_label(cost.secret(cell))[0] for cell in range(2)}
    assert told == {"a": "y", "b": "x"}
    assert cost.tail(tl.log_of(10**9)) == 1


def test_two_randomised_columns_are_independent():
    rows = [("x", "a", "0"), ("x", "b", "1"), ("y", "b", "0"), ("y", "a", "0"), ("y", "b", "1")]
    noisy = counted_of(rows).randomise({"a": response(3), "b": response(2)})
    joint = oracle.randomise(oracle.joint_of(rows), 0, ["a", "b"], Fraction(3))
    joint = oracle.randomise(joint, 1, ["0", "1"], Fraction(2))
    assert by_cell(noisy, cell_pml(noisy.tally)) == oracle.lifts(joint)
    assert maximal_leakage_of(cell_pml(noisy.tally)).ratio == oracle.maximal_leakage(joint)


def test_odds_of_an_irrational_level_are_rounded_up():
    odds = RandomizedResponse(1.0).response_odds()
    assert tl.log_of(odds) >= 1.0
    assert float(tl.log_of(odds)) - 1.0 < 1e-15
    with pytest.raises(InvalidInput, match="at most 100 nats"):
        RandomizedResponse(101).response_odds()


def test_noise_that_needs_too_many_cells_is_refused(monkeypatch):
    monkeypatch.setattr("tightlip.auditing.counted.MOST_PAIRS", 5)
    rows = oracle.every_row("xy", "abc", "01")
    with pytest.raises(InvalidInput, match="12 pairs of secret and cell, more than 5; coarsen"):
        counted_of(rows).randomise({"a": response(2)})


def test_noise_beyond_the_range_of_floats_is_measured(monkeypatch):
    """Cells of probability e^−800 have a lift like any other, and a cost of e^1500 is larger than all floats."""
    monkeypatch.setattr("tightlip.auditing.counted.MOST_PAIRS", 10**6)
    far = Fraction(2) ** 1300
    rows = [("x", "a", "0")] * 2 + [("y", "a", "0")] + [("x", "b", "1")] + [("y", "b", "1")] * 3
    noisy = counted_of(rows).randomise({"a": response(far), "b": response(far)})
    joint = oracle.randomise(oracle.joint_of(rows), 0, ["a", "b"], far)
    joint = oracle.randomise(joint, 1, ["0", "1"], far)
    gain, cost = cell_pml(noisy.tally), cell_pmc(noisy.tally)
    assert by_cell(noisy, gain) == oracle.lifts(joint)
    assert by_cell(noisy, cost) == oracle.costs(joint)
    assert not np.isnan([gain.lower, gain.upper, cost.lower, cost.upper]).any()
    told = [("x", "a")] * 3 + [("y", "b")] * 5
    loud = counted_of(told).randomise({"a": response(far)})
    gain, cost = cell_pml(loud.tally), cell_pmc(loud.tally)
    assert (cost.lower < 700).all()
    assert (cost.upper == np.inf).all()
    assert cost.above(800.0).all()
    assert not cost.above(1000.0).any()
    assert local_privacy_of(gain, cost).ratio == far


def test_huge_counts_are_compared_as_whole_numbers():
    n = 2 * 10**15
    close = Tally.of([0, 1, 0, 1], [0, 0, 1, 1], [n, n + 1, 2 * n + 1, 2 * n], (2, 2))
    assert close.count.dtype == object
    gain = cell_pml(close)
    x, y = Fraction(n, 3 * n + 1), Fraction(n + 1, 3 * n + 1)
    assert x < y
    assert int(close.secret[gain.pair[0]]) == 1
    assert int(close.secret[gain.pair[1]]) == 0
    assert int(close.secret[cell_pmc(close).pair[0]]) == 0


def test_fractions_that_round_to_one_float_are_told_apart():
    a, b = 10**20, 10**20 + 1
    tally = Tally.of([0, 1, 0, 1], [0, 0, 1, 1], [a, a, b, b + 1], (2, 2))
    first, second = Fraction(a, a + b), Fraction(a, a + b + 1)
    assert float(first) == float(second)
    assert first > second
    assert int(tally.secret[cell_pml(tally).pair[0]]) == 0
    assert int(tally.secret[cell_pmc(tally).pair[0]]) == 1


def test_large_channels_are_floats_within_one_rounding_of_the_counts():
    generator = np.random.default_rng(5)
    counts = generator.integers(0, 50, size=(7, 2000))
    counts[:, 0] = 1
    secret, cell = np.nonzero(counts)
    tally = Tally.of(secret, cell, counts[secret, cell], (7, 2000))
    channel, prior = tally.channel(), tally.prior()
    assert not channel.is_exact
    assert channel.adjustment == prior.adjustment == 0.0
    for x, y in zip(secret[:300].tolist(), cell[:300].tolist(), strict=True):
        true = Fraction(int(counts[x, y]), int(counts[x].sum()))
        assert abs(Fraction(float(channel.matrix[x, y])) / true - 1) <= Fraction(1, 2**53)


@given(ROWS)
@settings(max_examples=30)
def test_proportional_cells_are_those_that_reduce_merges(rows):
    tally = counted_of(rows).tally
    merged = tally.with_cells(proportional_groups(tally))
    assert merged.shape[1] == tally.channel().reduce().shape[1]


def test_proportional_cells_of_large_integers():
    big = 10**20
    tally = Tally.of(
        [0, 1, 0, 1, 0], [0, 0, 1, 1, 2], np.array([big, 2 * big, 3, 6, 1], dtype=object), (2, 3)
    )
    assert proportional_groups(tally).tolist() == [0, 0, 1]


def test_projection_and_coarser_secrets_sum_the_counts():
    rows = [
        ("x", "u", "a", "0"),
        ("x", "v", "a", "1"),
        ("y", "u", "b", "0"),
        ("y", "v", "b", "1"),
        ("x", "u", "b", "1"),
    ]
    counted = counted_of(rows, secrets=2)
    assert counted.select(["b"]).tally.of_cell.sum() == 5
    about = counted.select(["b"]).about(["s1"])
    joint = oracle.joint_of([(row[1], row[3]) for row in rows])
    assert by_cell(about, cell_pml(about.tally)) == oracle.lifts(joint)
    assert about.secret_label(0) in {("u",), ("v",)}


def test_tally_refuses_counts_below_one():
    with pytest.raises(InvalidInput, match="at least 1"):
        Tally.of([0, 1], [0, 0], [1, 0], (2, 1))


def test_sums_and_groups():
    assert sum_by(np.array([], dtype=np.intp), np.array([], dtype=np.int64), 2).tolist() == [0, 0]
    kinds, place = group_rows(np.zeros((3, 0), dtype=np.int64))
    assert kinds.tolist() == [0]
    assert place.tolist() == [0, 0, 0]


def test_rows_of_wide_codes_are_grouped_without_overflow():
    far = 2**40
    codes = np.array([[far, 0, -1], [0, far, far], [far, 0, -1], [0, far, far - 1]])
    kinds, place = group_rows(codes)
    assert place.tolist() == [2, 1, 2, 0]
    assert kinds.tolist() == [3, 1, 0]


def test_cells_of_equal_counts_are_one_kind() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        secrets, cells = int(rng.integers(1, 5)), int(rng.integers(1, 40))
        counts = rng.integers(0, 3, (secrets, cells))
        counts = counts[:, counts.sum(axis=0) > 0]
        counts = counts[counts.sum(axis=1) > 0]
        if not counts.size:
            continue
        secret, cell = np.nonzero(counts)
        tally = Tally.of(secret, cell, counts[secret, cell], counts.shape)
        kinds, first = tally.by_kind()
        columns = [tuple(column) for column in counts.T.tolist()]
        distinct = list(dict.fromkeys(columns))
        assert first.tolist() == [columns.index(column) for column in distinct]
        assert kinds.cells.tolist() == [columns.count(column) for column in distinct]
        assert kinds.sizes.tolist() == [sum(column) for column in distinct]
        again, _ = kinds.by_kind()
        assert again.cells.tolist() == kinds.cells.tolist()
        left, places = tally.without_secrets(np.arange(len(counts)) == 0)
        assert left.of_secret.tolist() == counts.sum(axis=1)[1:].tolist()
        assert places.tolist() == np.flatnonzero(counts[1:].sum(axis=0)).tolist()
