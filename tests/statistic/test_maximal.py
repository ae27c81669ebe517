"""Statistic maximal leakage and its relatives against enumeration, references and bad input."""

import math
from fractions import Fraction
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

import exact_oracle as oracle
import statistic_oracle as every
import tightlip as tl
from strategies import exact_channels, float_rows
from tightlip.statistic import search
from tightlip.statistic.maximal import (
    cost_leakage as statistic_cost_leakage,
)
from tightlip.statistic.maximal import (
    maximal_leakage_of_map as statistic_maximal_leakage_of_map,
)
from tightlip.statistic.maximal import (
    statistic_maximal_leakage,
)
from tightlip.statistic.relations import (
    ldp as statistic_ldp,
)
from tightlip.statistic.relations import (
    min_entropy_leakage as statistic_min_entropy_leakage,
)
from tightlip.statistic.relations import (
    outcome_leakage as statistic_outcome_leakage,
)

REFERENCE = tl.Channel(
    [["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.2", "0.2", "0.6"], ["0.5", "0.25", "0.25"]]
)
HALVES = [0, 0, 1, 1]


@st.composite
def labelled(draw, channels):
    channel = draw(channels)
    return channel, draw(st.lists(st.integers(0, 2), min_size=channel.shape[0], max_size=channel.shape[0]))


exact_cases = labelled(st.integers(1, 6).flatmap(lambda rows: exact_channels(inputs=rows)))
float_cases = labelled(
    st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(lambda size: float_rows(*size)).map(tl.Channel)
)


class TestReferences:
    def test_values_of_the_specification(self):
        assert statistic_maximal_leakage(REFERENCE, HALVES).value == pytest.approx(0.4054651081, abs=1e-10)
        assert tl.maximal_leakage(REFERENCE) == pytest.approx(0.6418538862, abs=1e-10)
        assert statistic_cost_leakage(REFERENCE, HALVES).value == pytest.approx(0.6931471806, abs=1e-10)
        assert statistic_outcome_leakage(REFERENCE, HALVES) == pytest.approx(0.5389965007, abs=1e-10)
        assert statistic_ldp(REFERENCE, HALVES) == pytest.approx(1.7917594692, abs=1e-10)

    def test_bits(self):
        assert statistic_maximal_leakage(tl.mechanism.identity(4)).in_bits() == 2


class TestEnumeration:
    @settings(max_examples=60)
    @given(exact_cases)
    def test_exact(self, case):
        channel, secret = case
        rows = oracle.rows_of(channel)
        found = statistic_maximal_leakage(channel, secret)
        assert found.exact
        assert found.ratio == every.largest_total(rows, secret)
        found.verify()
        cost, total = statistic_cost_leakage(channel, secret), every.smallest_total(rows, secret)
        cost.verify()
        assert cost.exact
        assert cost.ratio == (1 / total if total else None)
        assert math.isinf(cost.lower) == (total == 0)

    @settings(max_examples=60)
    @given(float_cases)
    def test_float(self, case):
        channel, secret = case
        rows = oracle.rows_of(channel)
        found, total = statistic_maximal_leakage(channel, secret), every.largest_total(rows, secret)
        found.verify()
        assert found.exact
        assert oracle.at_least_log(found.upper, total)
        assert found.lower == 0 or oracle.at_most_log(found.lower, total)
        assert found.gap < 3e-12
        cost, least = statistic_cost_leakage(channel, secret), every.smallest_total(rows, secret)
        cost.verify()
        assert oracle.at_least_log(cost.upper, 1 / least if least else None)

    @settings(max_examples=60)
    @given(exact_cases)
    def test_worst_outcome(self, case):
        channel, secret = case
        rows = oracle.rows_of(channel)
        assert statistic_outcome_leakage(channel, secret).ratio == every.outcome(rows, secret)
        ldp = statistic_ldp(channel, secret)
        assert (None if math.isinf(ldp) else ldp.ratio) == every.ldp(rows, secret)

    @settings(max_examples=40)
    @given(float_cases)
    def test_worst_outcome_of_floats_is_rounded_up(self, case):
        channel, secret = case
        rows = oracle.rows_of(channel)
        assert oracle.at_least_log(statistic_outcome_leakage(channel, secret), every.outcome(rows, secret))
        assert oracle.at_least_log(statistic_ldp(channel, secret), every.ldp(rows, secret))

    @settings(max_examples=60)
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
    def test_deterministic(self, pairs):
        outputs, secret = zip(*pairs, strict=True)
        rows = [[int(output == y) for y in range(5)] for output in outputs]
        found = statistic_maximal_leakage_of_map(outputs, secret)
        found.verify()
        assert found.exact
        assert found.ratio == every.largest_total(rows, secret)
        assert found.ratio == min_cost_flow(rows, secret)
        for matrix in (rows, np.array(rows, dtype=float), csr_array(np.array(rows, dtype=float))):
            same = statistic_maximal_leakage(tl.Channel(matrix), secret)
            assert (same.ratio, same.exact) == (found.ratio, True)
            same.verify()


def min_cost_flow(rows, secret):
    """The paper's Algorithm 1 as a linear program over its network; minus the least cost."""
    members, inputs, outputs = every.groups(secret), len(rows), len(rows[0])
    source, sink = 0, 1 + len(members) + inputs + outputs
    edges = [(source, 1 + g, 0) for g in range(len(members))]
    edges += [(1 + g, 1 + len(members) + r, 0) for g, part in enumerate(members) for r in part]
    first = 1 + len(members) + inputs
    edges += [(1 + len(members) + r, first + y, -rows[r][y]) for r in range(inputs) for y in range(outputs)]
    edges += [(first + y, sink, 0) for y in range(outputs)]
    balance = np.zeros((sink + 1, len(edges)))
    for place, (tail, head, _) in enumerate(edges):
        balance[tail, place], balance[head, place] = 1, -1
    inner = balance[1:sink]
    flow = linprog([cost for *_, cost in edges], A_eq=inner, b_eq=np.zeros(len(inner)), bounds=(0, 1))
    return round(-flow.fun)


class TestHardness:
    """The 3-set cover instances of the paper's Theorem 1."""

    SETS = tuple(combinations(range(6), 3))

    def channel(self, sets, k, points):
        rows = [[Fraction(int(y in part), 3) for y in range(points)] for _ in range(k) for part in sets]
        return tl.Channel(rows), [g for g in range(k) for _ in sets]

    def test_a_cover_exists(self):
        channel, secret = self.channel(self.SETS, 2, 6)
        found = statistic_maximal_leakage(channel, secret)
        assert (found.exact, found.ratio) == (True, 2)

    def test_no_cover_exists(self):
        sets = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]  # the Fano plane
        channel, secret = self.channel(sets, 2, 7)
        found = statistic_maximal_leakage(channel, secret)
        assert (found.exact, found.ratio) == (True, Fraction(5, 3))
        assert any(not isinstance(node, search.Leaf) for node in found.certificate.upper.nodes)
        found.verify()
        three = statistic_maximal_leakage(*self.channel(sets, 3, 7))
        assert (three.exact, three.ratio) == (True, every.largest_total(*self.as_lists(sets, 3, 7)))

    def as_lists(self, sets, k, points):
        channel, secret = self.channel(sets, k, points)
        return oracle.rows_of(channel), secret


class TestLimits:
    def release(self):
        generator = np.random.default_rng(7)
        return tl.Channel(generator.dirichlet(np.full(30, 0.3), size=60)), np.arange(60) % 8

    def test_ends_are_sound_without_time(self):
        channel, secret = self.release()
        hasty = statistic_maximal_leakage(channel, secret, time_limit=0)
        hasty.verify()
        assert hasty.method.endswith("the search stopped after 0 seconds")
        best = statistic_maximal_leakage(channel, secret)
        assert (hasty.exact, best.exact) == (False, True)
        assert hasty.lower <= best.lower <= best.upper <= hasty.upper
        assert "apart" in hasty.method
        assert "ends not met" in repr(hasty)

    def test_a_slow_machine_gives_the_same_answer(self, monkeypatch):
        channel, secret = self.release()
        usual = statistic_maximal_leakage(channel, secret, work=3)
        hours = count(step=3600.0)
        monkeypatch.setattr("time.monotonic", lambda: next(hours))
        slow = statistic_maximal_leakage(channel, secret, work=3)
        assert (usual.lower, usual.upper, usual.method) == (slow.lower, slow.upper, slow.method)
        assert usual.certificate.to_json() == slow.certificate.to_json()
        assert usual.method.endswith("the search stopped after 3 million entries")
        cost = statistic_cost_leakage(channel, secret, work=1)
        assert cost.lower < cost.upper
        assert statistic_maximal_leakage(channel, secret).exact

    def test_a_gap_stops_the_search(self):
        channel, secret = self.release()
        found = statistic_maximal_leakage(channel, secret, gap=0.5)
        assert 0 < found.gap <= math.log(1.5)

    def test_large_problems_descend(self, monkeypatch):
        channel, secret = self.release()
        best = statistic_maximal_leakage(channel, secret)
        monkeypatch.setattr(search, "_MOST_ENTRIES", 10)
        for matrix in (channel.matrix, csr_array(np.where(channel.matrix > 1e-3, channel.matrix, 0))):
            rows = matrix / np.asarray(matrix.sum(axis=1)).reshape(-1, 1)
            found = statistic_maximal_leakage(
                tl.Channel(csr_array(rows) if matrix is not channel.matrix else rows), secret
            )
            found.verify()
            assert found.gap < 0.1
            assert found.upper == pytest.approx(best.upper, abs=0.1)

    def test_exact_channels_meet_by_branching(self):
        generator = np.random.default_rng(3)
        weights = generator.integers(0, 9, size=(24, 8)) + np.eye(24, 8, dtype=int)
        rows = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
        secret = [place % 4 for place in range(24)]
        found = statistic_maximal_leakage(tl.Channel(rows), secret)
        assert found.exact
        assert found.ratio == every.largest_total(rows, secret)

    @pytest.mark.parametrize(
        "options",
        [
            {"time_limit": -1},
            {"work": -1},
            {"work": math.inf},
            {"gap": 1},
            {"gap": -0.1},
            {"time_limit": math.nan},
        ],
    )
    def test_bad_options(self, options):
        with pytest.raises(tl.errors.InvalidInput, match=f"{next(iter(options))} must be"):
            statistic_maximal_leakage(REFERENCE, HALVES, **options)


class TestLabels:
    def test_one_secret_leaks_nothing(self):
        for channel in (REFERENCE, tl.Channel([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])):
            only = ["x"] * channel.shape[0]
            assert statistic_maximal_leakage(channel, only).upper < 1e-14
            assert statistic_ldp(channel, only) == statistic_outcome_leakage(channel, only) == 0
            assert statistic_cost_leakage(channel, only).upper < 1e-14

    def test_default_is_maximal_leakage(self):
        assert statistic_maximal_leakage(REFERENCE).ratio == tl.maximal_leakage(REFERENCE).ratio
        assert statistic_cost_leakage(REFERENCE).ratio == tl.measures.maximal_cost_leakage(REFERENCE).ratio
        assert statistic_ldp(REFERENCE) == tl.ldp(REFERENCE)

    def test_kinds_of_labels(self):
        named = tl.Channel(REFERENCE.matrix, inputs=["a", "b", "c", "d"])
        wanted = statistic_maximal_leakage(REFERENCE, HALVES).ratio
        for secret in (
            ("x", "x", None, None),
            np.array(["x", "x", "y", "y"]),
            np.array([1.5, 1.5, 2.5, 2.5]),
            [[1, 2], [1, 2], (3,), (3,)],
            {"d": 1, "c": 1, "b": 0, "a": 0},
            [np.int64(3), 3, 4, 4],
            [2**70, 2**70, 1, 1],
        ):
            assert statistic_maximal_leakage(named, secret).ratio == wanted
        assert statistic_maximal_leakage(named, HALVES).selection == {0: "a", 1: "c"}

    @pytest.mark.parametrize(
        ("secret", "words"),
        [
            ([0, 0, 1], "one label for each of 4 channel rows, got 3"),
            ([0, 0, 1, math.nan], "entry 3 must not be nan"),
            (np.array([0, 0, 1, np.nan]), "entry 3 must not be nan"),
            ([1, True, 0, 0], "must not be equal in Python, got 1 and True"),
            ([{}, 1, 2, 3], "entry 0 must be text"),
            ("abcd", "list of labels"),
            (3, "list of labels"),
            ({0: 1, 1: 1, 2: 1}, "none for 3"),
            ({0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, "leave it out"),
            (np.zeros((4, 1)), "1 dimension"),
        ],
    )
    def test_refused(self, secret, words):
        with pytest.raises(tl.errors.InvalidInput, match=words):
            statistic_maximal_leakage(REFERENCE, secret)

    def test_not_a_channel(self):
        with pytest.raises(tl.errors.WrongType, match="channel must be a Channel"):
            statistic_maximal_leakage([[1.0]])

    def test_maps(self):
        found = statistic_maximal_leakage_of_map({"a": 1, "b": 1, "c": 2}, {"c": "y", "a": "x", "b": "y"})
        assert (found.ratio, dict(found.selection)) == (2, {"x": "a", "y": "c"})
        for outputs, secret, words in (
            ({"a": 1}, [1], "both have labels"),
            ({"a": 1}, {"b": 1}, r'inputs \["a"\] only, got "b"'),
            ([1, 2], [1], "one label for each of 2 inputs"),
            ([], [], "outputs must not be empty"),
            ("ab", "ab", "list of labels"),
        ):
            with pytest.raises(tl.errors.InvalidInput, match=words):
                statistic_maximal_leakage_of_map(outputs, secret)

    def test_outputs_that_never_occur(self):
        channel = tl.Channel([["1/2", 0, "1/2"], ["1/4", 0, "3/4"], ["1/3", 0, "2/3"]])
        assert statistic_maximal_leakage(channel, [0, 1, 1]).ratio == Fraction(5, 4)
        assert statistic_outcome_leakage(channel, [0, 1, 1]).ratio == Fraction(4, 3)
        assert statistic_ldp(channel, [0, 1, 1]).ratio == 2


class TestSparse:
    @settings(max_examples=25)
    @given(float_cases)
    def test_the_same_as_dense(self, case):
        channel, secret = case
        sparse = tl.Channel(csr_array(channel.matrix))
        one, two = statistic_maximal_leakage(channel, secret), statistic_maximal_leakage(sparse, secret)
        two.verify()
        assert one.upper == pytest.approx(two.upper, abs=1e-11)
        assert statistic_ldp(sparse, secret) == statistic_ldp(channel, secret)


class TestMinEntropy:
    @settings(max_examples=40)
    @given(exact_cases, st.data())
    def test_never_above_and_reached_by_the_selection(self, case, data):
        channel, secret = case
        size = channel.shape[0]
        found = statistic_maximal_leakage(channel, secret)
        weights = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
        prior = tl.Prior([Fraction(weight, sum(weights)) for weight in weights])
        assert statistic_min_entropy_leakage(channel, prior, secret).ratio <= found.ratio
        rows = set(found.selection.values())
        worst = tl.Prior([Fraction(int(row in rows), len(rows)) for row in range(size)])
        assert statistic_min_entropy_leakage(channel, worst, secret).ratio == found.ratio

    def test_floats_are_rounded_up(self):
        channel, prior = tl.Channel(REFERENCE.floats), tl.Prior([0.1, 0.4, 0.3, 0.2])
        rows, masses = oracle.rows_of(channel), oracle.masses_of(prior)
        joint = [
            [sum(masses[r] * rows[r][y] for r in part) for y in range(3)] for part in every.groups(HALVES)
        ]
        truth = sum(max(column) for column in zip(*joint, strict=True)) / max(
            sum(masses[r] for r in part) for part in every.groups(HALVES)
        )
        found = statistic_min_entropy_leakage(channel, prior, HALVES)
        assert oracle.at_least_log(found, truth)
        assert found == pytest.approx(math.log(truth), abs=1e-12)
        silent = tl.Channel([[0.5, 0.5]] * 4)
        assert statistic_min_entropy_leakage(silent, prior, HALVES) < 1e-14


def test_impossible_ends_are_refused():
    found = statistic_maximal_leakage(REFERENCE, HALVES)
    with pytest.raises(tl.errors.InvalidInput, match="lower must not exceed"):
        type(found)(1.0, 0.5, True, {}, "", found.certificate)
