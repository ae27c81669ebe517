"""Restricted adversaries against brute force: every set partition, every set of suspects, a slow linear program."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tightlip as tl
from exact_oracle import at_least_log, at_most_log, log, marginal, masses_of, rows_of, supported
from strategies import exact_pairs, float_pairs
from tightlip import papers
from tightlip.envelopes.binary import binary_envelope
from tightlip.envelopes.deterministic import deterministic_attack
from tightlip.envelopes.kary import kary_attack
from tightlip.envelopes.known_bounds import bounds as envelope_bounds

EXAMPLE, UNIFORM = papers.env_example_1(), tl.Prior.uniform(4)
levels = st.fractions(Fraction(1, 20), 1, max_denominator=20)


def partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for part in partitions(rest):
        yield [[first], *part]
        for place in range(len(part)):
            yield [*part[:place], [first, *part[place]], *part[place + 1 :]]


def right_quantile(rows, masses, weights, delta):
    """max over sets of symbols of mass ≥ δ of the least ratio; weights[z][y] is the chance of z after y."""
    rows, masses = supported(rows, masses)
    q = marginal(rows, masses)
    delta, found = min(Fraction(delta), sum(q)), []
    for symbol in weights:
        mass = sum(w * p for w, p in zip(symbol, q, strict=True))
        if mass:
            peak = max(sum(w * k for w, k in zip(symbol, row, strict=True)) for row in rows)
            found.append((peak / mass, mass))
    total = Fraction(0)
    for ratio, mass in sorted(found, reverse=True):
        total += mass
        if total >= delta:
            return ratio
    raise AssertionError("the symbols do not make up everything")


def best_partition(rows, masses, delta, symbols):
    size = len(rows[0])
    cells = (
        [[Fraction(y in cell) for y in range(size)] for cell in part]
        for part in partitions(list(range(size)))
        if symbols is None or len(part) <= symbols
    )
    return max(right_quantile(rows, masses, weights, delta) for weights in cells)


def attack_weights(attack):
    rows = [[Fraction(entry) for entry in row] for row in attack.matrix.tolist()]
    return [[row[z] / sum(row) for row in rows] for z in range(len(rows[0]))]


def most_bad_mass(matrix, q, suspects, ratio):
    """v_S(t) by a dense linear program."""
    size = matrix.shape[1]
    limits = np.zeros((len(suspects) + size, len(suspects) * size))
    for place, suspect in enumerate(suspects):
        limits[place, place * size : (place + 1) * size] = ratio * q - matrix[suspect]
        limits[len(suspects) :, place * size : (place + 1) * size] = np.eye(size)
    right = np.concatenate([np.zeros(len(suspects)), np.ones(size)])
    return -linprog(-np.tile(q, len(suspects)), A_ub=limits, b_ub=right).fun


def largest_ratio(matrix, masses, suspects, delta):
    q = masses @ matrix
    low, high = 1.0, 1 / masses.min()
    for _ in range(38):
        middle = (low + high) / 2
        reached = most_bad_mass(matrix, q, suspects, middle) >= delta - 1e-10
        low, high = (middle, high) if reached else (low, middle)
    return low


def oracle_envelope(channel, prior, delta, symbols=None):
    """ε_k by bisection over all sets of suspects, or ε_c."""
    matrix, masses = np.array(channel.floats), np.array(prior.floats)
    secrets = range(len(masses))
    count = len(masses) + 1 if symbols is None else symbols
    sets = [(chosen, float(delta)) for chosen in combinations(secrets, min(count - 1, len(masses)))]
    if count <= len(masses):
        sets += [(chosen, 1.0) for chosen in combinations(secrets, count)]
    return math.log(max(largest_ratio(matrix, masses, chosen, mass) for chosen, mass in sets if chosen))


@given(exact_pairs(), levels, st.one_of(st.none(), st.integers(1, 4)))
@settings(max_examples=80, deadline=None)
def test_enumeration_is_exact(pair, delta, symbols):
    channel, prior = pair
    rows, masses = rows_of(channel), masses_of(prior)
    truth = best_partition(rows, masses, delta, symbols)
    found = deterministic_attack(channel, prior, delta, symbols=symbols)
    assert at_most_log(found.lower, truth)
    assert at_least_log(found.upper, truth)
    assert found.gap <= 2 * math.ulp(found.upper)
    assert found.method.startswith("enumeration")
    assert right_quantile(rows, masses, attack_weights(found.attack), delta) == truth
    assert symbols is None or found.attack.shape[1] <= symbols


@given(float_pairs(), st.one_of(levels, st.floats(1e-9, 1)))
@settings(max_examples=30, deadline=None)
def test_enumeration_is_exact_for_the_stored_floats(pair, delta):
    channel, prior = pair
    truth = best_partition(rows_of(channel), masses_of(prior), delta, None)
    found = deterministic_attack(channel, prior, delta)
    assert found.lower == 0 or at_most_log(found.lower, truth)
    assert at_least_log(found.upper, truth) or truth < 1


@given(exact_pairs(), levels)
@settings(max_examples=6, deadline=None)
def test_the_chain(pair, delta):
    """Randomised maps: binary ≤ k-ary ≤ any. Deterministic ones: by symbols, and below randomised ones of as many."""
    channel, prior = pair
    limit = len(prior) + 1
    any_one = oracle_envelope(channel, prior, delta)
    maps = [kary_attack(channel, prior, delta, k) for k in range(1, limit + 1)]
    cells = [deterministic_attack(channel, prior, delta, symbols=k) for k in range(1, limit + 1)]
    assert binary_envelope(channel, prior, delta).lower <= maps[1].upper
    for one, two in pairwise(maps):
        assert one.lower <= two.upper
    for one, two in pairwise(cells):
        assert one.lower <= two.lower
    for cut, spread in zip(cells, maps, strict=True):
        assert cut.lower <= spread.upper
    assert maps[-1].lower - 1e-7 <= any_one <= maps[-1].upper + 1e-7
    assert deterministic_attack(channel, prior, delta).lower <= any_one + 1e-7
    bounds = envelope_bounds(channel, prior, delta)
    assert bounds.lower <= any_one + 1e-7
    assert any_one <= bounds.upper + 1e-7


def test_a_randomised_event_can_beat_every_deterministic_map():
    identity, prior = tl.mechanism.identity(2), tl.Prior(["1/5", "4/5"])
    assert binary_envelope(identity, prior, "1/2").lower == pytest.approx(math.log(2))
    assert deterministic_attack(identity, prior, "1/2").upper == pytest.approx(math.log(5 / 4))
    assert binary_envelope(EXAMPLE, UNIFORM, "1/5").lower == pytest.approx(math.log(5 / 3))
    assert deterministic_attack(EXAMPLE, UNIFORM, "1/5").upper == pytest.approx(math.log(6 / 5))


def test_env_example_1():
    """The paper's bound max{ε̄, ε_b} gives 1.667 at δ = .2; the envelope is 22/9, with three symbols already."""
    bounds = envelope_bounds(EXAMPLE, UNIFORM, "1/5")
    assert bounds.lower.ratio == Fraction(5, 3)
    for delta, ratio in (("1/10", 4), ("1/5", 22 / 9), ("1/2", 68 / 45), ("4/5", 23 / 18)):
        found = kary_attack(EXAMPLE, UNIFORM, delta, 5)
        assert found.adversary == "any"
        assert found.lower == pytest.approx(math.log(ratio), abs=1e-8)
        assert found.upper == pytest.approx(math.log(ratio), abs=1e-8)
        assert found.lower <= found.upper
    assert kary_attack(EXAMPLE, UNIFORM, "1/5", 3).lower == pytest.approx(math.log(22 / 9), abs=1e-8)
    assert kary_attack(EXAMPLE, UNIFORM, "1/5", 3).adversary == "k-ary"


@pytest.mark.parametrize(
    ("delta", "value"), [("0.25", 0.7046054709), ("0.4", 0.5842647782), ("0.9", 0.3798854930)]
)
def test_randomized_response_reference(delta, value):
    found = kary_attack(tl.mechanism.randomized_response(3, 1.0), tl.Prior([0.2, 0.3, 0.5]), delta, 4)
    assert found.lower == pytest.approx(value, abs=1e-8)
    assert found.upper == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_suspect_sets_against_the_oracle(seed):
    rng = np.random.default_rng(seed)
    secrets, outcomes = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    channel = tl.Channel(rng.dirichlet(np.full(outcomes, 0.6), secrets))
    prior = tl.Prior(rng.dirichlet(np.full(secrets, 3.0)))
    delta = float(rng.uniform(0.1, 0.95))
    rows, masses = rows_of(channel), masses_of(prior)
    for symbols in range(1, secrets + 2):
        found = kary_attack(channel, prior, delta, symbols)
        truth = oracle_envelope(channel, prior, delta, symbols)
        assert found.lower - 1e-7 <= truth <= found.upper + 1e-7
        assert found.gap < 1e-7
        assert found.attack.shape[1] <= symbols
        reached = right_quantile(rows, masses, attack_weights(found.attack), delta)
        assert found.lower == 0 or at_most_log(found.lower, reached)


def test_random_maps_never_exceed_the_upper_end():
    rng = np.random.default_rng(4)
    channel = tl.Channel([["1/2", "1/4", "1/4", 0], [0, "1/2", "1/4", "1/4"], ["1/4", 0, 0, "3/4"]])
    prior = tl.Prior(["1/6", "1/3", "1/2"])
    rows, masses = rows_of(channel), masses_of(prior)
    for symbols in (2, 3):
        for delta in (Fraction(1, 3), Fraction(3, 4)):
            upper = kary_attack(channel, prior, delta, symbols).upper
            for _ in range(200):
                counts = (
                    rng.integers(0, 4, (4, symbols)) + np.eye(symbols, dtype=int)[rng.integers(0, symbols, 4)]
                )
                weights = [[Fraction(int(row[z]), int(row.sum())) for row in counts] for z in range(symbols)]
                assert at_least_log(upper, right_quantile(rows, masses, weights, delta))


@pytest.mark.parametrize("symbols", [None, 1, 2, 4])
def test_heuristic_is_a_real_attack_and_not_called_exact(symbols):
    rng = np.random.default_rng(5)
    channel = tl.Channel(rng.dirichlet(np.full(24, 0.4), 5))
    prior = tl.Prior(rng.dirichlet(np.full(5, 3.0)))
    rows, masses = rows_of(channel), masses_of(prior)
    for delta in (0.05, 0.4, 0.9, 1.0):
        found = deterministic_attack(channel, prior, delta, symbols=symbols)
        assert found.method.startswith("heuristic")
        assert set(np.unique(found.attack.matrix)) <= {0.0, 1.0}
        assert symbols is None or found.attack.shape[1] <= symbols
        reached = right_quantile(rows, masses, attack_weights(found.attack), delta)
        assert found.lower == 0 or at_most_log(found.lower, reached)
        assert found.upper <= envelope_bounds(channel, prior, delta).upper
        if symbols is None:
            assert found.lower >= envelope_bounds(channel, prior, delta).quantile - 1e-12


def test_heuristic_comes_close_to_enumeration(monkeypatch):
    rng = np.random.default_rng(6)
    missed = []
    for _ in range(10):
        channel = tl.Channel(rng.dirichlet(np.full(9, 0.5), 4))
        prior = tl.Prior(rng.dirichlet(np.full(4, 3.0)))
        for symbols in (None, 3):
            exact = deterministic_attack(channel, prior, 0.4, symbols=symbols)
            with monkeypatch.context() as patch:
                patch.setattr("tightlip.envelopes.deterministic._MOST_OUTCOMES", 1)
                found = deterministic_attack(channel, prior, 0.4, symbols=symbols)
            assert found.lower <= exact.upper <= found.upper
            missed.append(exact.lower - found.lower)
    assert np.mean(missed) < 0.05
    assert np.median(missed) < 1e-9


def test_exact_input_and_equal_outcomes_in_the_search():
    """20 equal outcomes at δ = ½: ten of them have mass ½ exactly, which floats alone would miss."""
    size = 20
    rows = [[Fraction(2 if y % 4 == x else 1, 25) for y in range(size)] for x in range(4)]
    channel, prior = tl.Channel(rows), tl.Prior.uniform(4)
    found = deterministic_attack(channel, prior, "1/2")
    assert found.lower == pytest.approx(log(Fraction(8, 5)))
    assert found.upper == pytest.approx(log(Fraction(8, 5)))


def test_too_many_suspect_sets(monkeypatch):
    rng = np.random.default_rng(7)
    channel = tl.Channel(rng.dirichlet(np.full(6, 0.5), 4))
    prior = tl.Prior(rng.dirichlet(np.full(4, 3.0)))
    exact = kary_attack(channel, prior, 0.3, 3)
    monkeypatch.setattr("tightlip.envelopes.kary._MOST_WORK", 1)
    found = kary_attack(channel, prior, 0.3, 3)
    assert found.method.startswith("heuristic")
    assert found.lower <= exact.upper <= found.upper
    rows, masses = rows_of(channel), masses_of(prior)
    assert at_most_log(found.lower, right_quantile(rows, masses, attack_weights(found.attack), 0.3))


def test_a_failing_solver_costs_tightness_not_truth(monkeypatch):
    class Nothing:
        x = None

    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: Nothing())
    found = kary_attack(EXAMPLE, UNIFORM, "1/5", 5)
    assert found.lower <= math.log(22 / 9) <= found.upper


def test_attack_labels_and_impossible_outcomes():
    channel = tl.Channel([[0, "1/2", "1/2"], [0, "1/4", "3/4"], [1, 0, 0]], list("abc"), list("uvw"))
    prior = tl.Prior({"a": "1/2", "b": "1/2", "c": 0})
    cut = deterministic_attack(channel, prior, "1/5")
    assert cut.attack.inputs == ["u", "v", "w"]
    assert cut.attack.matrix.sum() == 3
    spread = kary_attack(channel, prior, "1/5", 2)
    assert cut.attack.outputs == ["a", "rest"]
    assert spread.attack.outputs == ["a", "rest"]
    assert channel.post_process(spread.attack).shape[0] == 3
    assert spread.lower == pytest.approx(math.log(4 / 3), abs=1e-9)


def test_one_symbol_tells_nothing():
    for found in (
        deterministic_attack(EXAMPLE, UNIFORM, 0.1, symbols=1),
        kary_attack(EXAMPLE, UNIFORM, 0.1, 1),
    ):
        assert found.lower == 0
        assert found.upper == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("symbols", [0, -1])
def test_too_few_symbols(symbols):
    for attack in (
        lambda: deterministic_attack(EXAMPLE, UNIFORM, 0.1, symbols=symbols),
        lambda: kary_attack(EXAMPLE, UNIFORM, 0.1, symbols),
    ):
        with pytest.raises(
            tl.errors.InvalidInput, match=f"symbols must be a whole number of at least 1, got {symbols}"
        ):
            attack()


@pytest.mark.parametrize("symbols", [True, 2.0, "2"])
def test_symbols_must_be_counts(symbols):
    with pytest.raises(tl.errors.WrongType, match="symbols must be a whole number of at least 1"):
        deterministic_attack(EXAMPLE, UNIFORM, 0.1, symbols=symbols)
    with pytest.raises(tl.errors.WrongType, match="write 2 for binary maps"):
        kary_attack(EXAMPLE, UNIFORM, 0.1, None)


def test_bad_delta():
    with pytest.raises(tl.errors.InvalidInput, match="delta must be in"):
        deterministic_attack(EXAMPLE, UNIFORM, 0)
    with pytest.raises(tl.errors.InvalidInput, match="delta must be in"):
        kary_attack(EXAMPLE, UNIFORM, 2, 2)
