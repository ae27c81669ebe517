"""Closed forms against the program, and against values that were worked out by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import design_oracle as oracle
import tightlip as tl
from tightlip.designs import design
from tightlip.designs.closed import candidates, greatest, symmetric
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage
from tightlip.designs.linear import Problem, find, keeps

THIRD = Fraction(1, 3)


def _problem(masses, gains, *guarantees):
    exact = tl.Prior(masses).exact().masses
    values = np.array(
        [[Fraction(entry) for entry in row] for row in np.asarray(gains).tolist()], dtype=object
    )
    return Problem(tuple(exact), values, guarantees)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "guarantee",
    [
        Alip(None, 0.7),
        Alip(0.7, None),
        Alip(0.4, 0.9),
        Ldp(0.7),
        FloorPml(0.7, Fraction(1, 10)),
    ],
)
def test_two_secrets_have_a_greatest_mechanism(guarantee, seed):
    rng = np.random.default_rng(seed)
    problem = _problem(rng.dirichlet([1, 1]), rng.normal(size=(2, 4)), guarantee)
    columns = greatest(problem)
    assert [sum(entries) for entries in zip(*columns, strict=True)] == [1, 1]
    _, kernel, prices = find(problem)
    best = max(own.gain(problem) for _, own in candidates(problem))
    assert float(best) >= float(kernel.gain(problem)) - 1e-12
    assert float(prices.bound(problem.rows(prices_side()))) == pytest.approx(float(best), abs=1e-7)


def prices_side():
    from tightlip.designs.guarantee import Side

    return Side.OUTER


def test_two_secrets_under_ldp_are_randomised_response():
    found = design(tl.Prior(["2/3", "1/3"]), ldp=tl.log_of(3), gain=[[3, 0], [0, 6]])
    assert found.channel.matrix.tolist() == [
        [Fraction(3, 4), Fraction(1, 4)],
        [Fraction(1, 4), Fraction(3, 4)],
    ]
    assert found.method.startswith("closed form")


def test_the_reference_channel_under_pmc():
    # design.md: P = (.5, .3, .2), PMC log 2: K = ½I + ½·1pᵀ, for every utility that tells outputs apart
    found = design(tl.Prior([".5", ".3", ".2"]), pmc=tl.log_of(2), loss="hamming")
    half, masses = Fraction(1, 2), [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    expected = [[half * (x == y) + half * masses[y] for y in range(3)] for x in range(3)]
    assert found.channel.matrix.tolist() == expected
    assert found.gap <= 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_every_channel_is_a_post_processing_of_the_greatest_under_pmc(seed):
    rng = np.random.default_rng(seed)
    masses, gains = rng.dirichlet(np.ones(4)), rng.normal(size=(4, 3))
    rows = oracle.rows_of("pmc", masses, 0.6)
    problem = _problem(masses, gains, Alip(0.6, None))
    best = max(own.gain(problem) for _, own in candidates(problem))
    assert float(best) == pytest.approx(oracle.best_gain(masses, gains, rows), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_extremal_mechanism_under_pml_at_high_privacy(seed):
    rng = np.random.default_rng(seed)
    masses, gains = rng.dirichlet(4 * np.ones(4)), rng.normal(size=(4, 4))
    level = 0.9 * float(-np.log(1 - masses.min()))
    problem = _problem(masses, gains, Alip(None, level))
    names = dict(candidates(problem))
    kernel = names["greatest mechanism, followed by the best output"]
    rows = oracle.rows_of("pml", masses, level)
    assert float(kernel.gain(problem)) == pytest.approx(oracle.best_gain(masses, gains, rows), abs=1e-9)


@pytest.mark.parametrize(
    ("guarantee", "truth"),
    [
        (Alip(None, tl.log_of(2)), Fraction(2, 5)),
        (Ldp(tl.log_of(3)), Fraction(3, 7)),
        (Alip(tl.log_of(2), None), Fraction(3, 5)),
        (MaximalLeakage(tl.log_of(2)), Fraction(2, 5)),
    ],
)
def test_uniform_priors_and_hamming_loss(guarantee, truth):
    problem = _problem([Fraction(1, 5)] * 5, np.eye(5, dtype=int), guarantee)
    kernel = symmetric(problem)
    assert Fraction(kernel.weights[0, 0], kernel.scale) == truth
    assert keeps(problem, kernel)
    _, other, _ = find(problem)
    assert float(other.gain(problem)) == pytest.approx(float(truth), abs=1e-7)


def test_several_symmetric_guarantees_together():
    guarantees = (Ldp(1.0), Alip(None, 0.5), MaximalLeakage(0.6))
    problem = _problem([Fraction(1, 6)] * 6, np.eye(6, dtype=int), *guarantees)
    _, other, _ = find(problem)
    assert float(symmetric(problem).gain(problem)) == pytest.approx(float(other.gain(problem)), abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_hamming_under_pml_fills_a_budget(seed):
    # docs/design.md: K_xx costs max(p_x, 1/t) of a budget of 1, likely secrets first; a bound that is attained where
    # p_max ≤ 1/t and the ⌊t⌋ likeliest secrets have at most 1 − 1/t
    rng = np.random.default_rng(seed)
    masses = np.sort(rng.dirichlet(6 * np.ones(6)))[::-1]
    factor = float(rng.uniform(1.1, 1 / masses[0]))
    found = design(tl.Prior(masses), pml=np.log(factor), gain="hamming")
    assert found.value <= _filled(masses, factor) + 1e-9
    if masses[: int(factor)].sum() <= 1 - 1 / factor:
        assert found.value == pytest.approx(_filled(masses, factor), abs=1e-6)


def _filled(masses, factor):
    left, gain = 1.0, 0.0
    for mass in sorted(masses, reverse=True):
        told = min(1.0, left / max(mass, 1 / factor))
        gain, left = gain + mass * told, left - told * max(mass, 1 / factor)
    return gain


@pytest.mark.parametrize(
    ("masses", "factor", "gain", "budget"),
    [
        (["2/5", "2/5", "1/5"], "5/2", 0.8, 0.9),  # p_max = 1/t, and 4/5 > 1 − 1/t
        (["7/10", "1/5", "1/10"], "2", 0.7, 0.82),  # p_max > 1/t
        (["1/2", "3/10", "1/5"], "2", 0.8, 0.8),  # a whole t: attained
    ],
)
def test_a_budget_that_cannot_be_filled(masses, factor, gain, budget):
    found = design(tl.Prior(masses), pml=tl.log_of(factor), gain="hamming")
    assert found.value == pytest.approx(gain, abs=1e-6)
    assert found.bound == pytest.approx(gain, abs=1e-6)
    assert _filled([float(Fraction(mass)) for mass in masses], float(Fraction(factor))) == pytest.approx(
        budget
    )


def test_the_truth_where_it_is_allowed():
    prior = tl.Prior(["1/2", "1/4", "1/4"])
    found = design(prior, pml=tl.log_of(4), loss="hamming")
    assert (found.value, found.bound, found.gap) == (0, 0, 0)
    assert found.method == "closed form: the best output for each secret"


@pytest.mark.parametrize("name", ["pml", "ldp", "pmc", "lip", "maximal_leakage"])
def test_nothing_at_level_zero(name):
    found = design(tl.Prior([0.5, 0.3, 0.2]), loss="hamming", **{name: 0})
    assert found.value == pytest.approx(0.5)
    assert found.gap <= 1e-12
    assert found.channel.shape[1] == 1
    found.verify()


def test_one_secret():
    found = design(tl.Prior({"a": 1}), ldp=1.0, loss=[[3, 2]])
    assert (found.value, found.bound) == (2, 2)
    found.verify()


def test_top_two_names_pairs():
    prior = tl.Prior([0.4, 0.3, 0.2, 0.1])
    found = design(prior, ldp=1.0, loss="top-2")
    rows = oracle.rows_of("ldp", prior.floats, 1.0)
    pairs = list(combinations(range(4), 2))
    gains = np.array([[float(x in pair) for pair in pairs] for x in range(4)])
    assert 1 - found.value == pytest.approx(oracle.best_gain(prior.floats, gains, rows), abs=1e-6)
    assert set(found.channel.outputs) <= set(pairs)
