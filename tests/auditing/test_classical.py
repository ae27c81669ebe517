"""Classical measures: each equals its definition in rationals, stands where it should beside PML, and pyCANON's."""

import math
import os
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import classical_oracle as oracle
from classical_example import FAR, counts_of_people, tally_of
from tightlip.auditing.classical import PopulationSizes, classical_measures, people_at_risk
from tightlip.auditing.leakage import cell_pmc, cell_pml, maximal_leakage_of
from tightlip.auditing.tally import Tally
from tightlip.errors import InvalidInput, WrongType
from tightlip.numeric.ball import log_exceeds

NEAR_LOG_2 = [Fraction(111975815, 161546953), Fraction(385107953, 555593334)]  # convergents of log 2
NEAR_LOG_2 += [Fraction(497083768, 717140287), Fraction(6847196937, 9878417065)]


@given(counts_of_people(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_every_measure_is_its_definition(counts, random):
    order = random.sample(range(len(counts)), len(counts))
    found = classical_measures(tally_of(counts), order=order)
    assert found.alpha.fraction == oracle.alpha(counts)
    assert found.distinct_l == oracle.distinct_l(counts)
    assert oracle.is_recursive_diverse(counts, found.recursive_c + Fraction(1, 10**9), found.distinct_l)
    assert not oracle.is_recursive_diverse(counts, found.recursive_c, found.distinct_l)
    assert found.t_equal.fraction == oracle.equal_distance(counts)
    assert found.t_ordered.fraction == oracle.ordered_distance(counts, order)
    assert found.basic_beta == max((gain for _, gain in oracle.gains(counts)), default=0)
    assert found.delta_occurring.ratio == max(max(s, 1 / s) for s in oracle.lifts(counts) if s)
    everywhere = all(oracle.lifts(counts))
    assert found.delta == (found.delta_occurring if everywhere else math.inf)


@given(counts_of_people(least=0))
@settings(max_examples=100, deadline=None)
def test_entropy_is_rounded_down_and_exact_where_it_is_whole(counts):
    found = Fraction(classical_measures(tally_of(counts)).entropy_l)
    assert oracle.is_entropy_diverse(counts, found)
    assert not oracle.is_entropy_diverse(counts, found * (1 + Fraction(1, 2**51)))
    assert not oracle.is_entropy_diverse(counts, math.floor(found) + 1)


@pytest.mark.parametrize(
    ("counts", "entropy_l"), [([4, 1, 1, 1, 1], 4), ([7, 7, 7], 3), ([1], 1), ([3**20, 3**20], 2)]
)
def test_entropies_that_are_logarithms_of_whole_numbers(counts, entropy_l):
    found = classical_measures(tally_of([[c] for c in counts]))
    assert found.entropy_l == entropy_l
    assert classical_measures(tally_of([[c] for c in counts], FAR)).entropy_l == entropy_l


def test_entropy_of_numbers_too_large_to_factor_is_rounded_down():
    prime_like = 2**89 - 1
    counts = [[4 * prime_like + 1], [prime_like], [prime_like], [prime_like], [prime_like]]
    found = classical_measures(tally_of(counts))
    assert 4 - 1e-15 < found.entropy_l < 4


@given(counts_of_people())
@settings(max_examples=100, deadline=None)
def test_enhanced_likeness_is_basic_or_impossible(counts):
    found = classical_measures(tally_of(counts))
    p = oracle.prior(counts)
    possible = not any(not log_exceeds(1 / p[x], gain) for x, gain in oracle.gains(counts))
    assert found.enhanced_beta == (found.basic_beta if possible else None)


def test_enhanced_likeness_is_decided_beyond_floats():
    """Gains on either side of log 2 that are one float; two secrets of prior ½ each."""
    possible = [log_exceeds(Fraction(2), gain) for gain in NEAR_LOG_2]
    assert possible == [False, True, False, True]
    for gain, fine in zip(NEAR_LOG_2, possible, strict=True):
        h, k = gain.numerator, gain.denominator
        found = classical_measures(tally_of([[k + h, k - h], [k - h, k + h]]))
        assert found.basic_beta == gain
        assert found.enhanced_beta == (gain if fine else None)


@pytest.mark.parametrize("python", [False, True])
def test_fractions_that_are_one_float_are_told_apart(python):
    assert len({float(share) for share in NEAR_LOG_2}) == 1
    for shares in (NEAR_LOG_2, NEAR_LOG_2[::-1]):
        held = [[q.numerator for q in shares], [q.denominator - q.numerator for q in shares]]
        found = classical_measures(tally_of(held, python=python))
        assert found.alpha.fraction == max(NEAR_LOG_2)
        assert found.recursive_c == max(q / (1 - q) for q in NEAR_LOG_2)
        assert found.t_equal.fraction == oracle.equal_distance(held)


@given(counts_of_people())
@settings(max_examples=60, deadline=None)
def test_people_in_cells(counts):
    found, sizes = classical_measures(tally_of(counts)).identity, oracle.sizes(counts)
    people = [f for f in sizes for _ in range(f)]
    assert found.k == min(sizes)
    assert found.unique == people.count(1)
    assert found.unique_share.fraction == Fraction(people.count(1), len(people))
    assert found.below == {limit: sum(f < limit for f in people) for limit in (3, 5, 10)}
    assert found.prosecutor.fraction == found.journalist.fraction == max(Fraction(1, f) for f in people)
    mean = sum(Fraction(1, f) for f in people) / len(people)
    assert found.average.fraction == found.marketer.fraction == mean
    for threshold in (Fraction(1, 3), Fraction(2, 7), Fraction(1)):
        assert people_at_risk(tally_of(counts), threshold) == sum(Fraction(1, f) > threshold for f in people)


@given(counts_of_people(), st.data())
@settings(max_examples=60, deadline=None)
def test_cells_of_equal_counts_together_give_the_same(counts, data):
    tally = tally_of(counts)
    order = list(range(len(counts)))[::-1]
    more = data.draw(st.lists(st.fractions(0, 9), min_size=tally.shape[1], max_size=tally.shape[1]))
    population = [int(f) + extra for f, extra in zip(tally.sizes, more, strict=True)]
    sizes = PopulationSizes.of(tally, population)
    kinds, first = tally.by_kind()
    columns = [tuple(column) for column in oracle.columns(counts)]
    kind = [[columns[at] for at in first.tolist()].index(column) for column in columns]
    found = classical_measures(tally, order=order, population=sizes)
    assert classical_measures(kinds, order=order) == classical_measures(tally, order=order)
    together = classical_measures(kinds, order=order, population=PopulationSizes.of(kinds, population, kind))
    assert replace(together, identity=None) == replace(found, identity=None)
    assert together.identity.journalist == found.identity.journalist
    assert together.identity.marketer == pytest.approx(found.identity.marketer, rel=1e-14)
    people = [F for f, F in zip(oracle.sizes(counts), population, strict=True) for _ in range(f)]
    for one in (found.identity, together.identity):
        mean, worst = sum(1 / Fraction(F) for F in people) / len(people), 1 / Fraction(min(population))
        assert worst <= Fraction(one.journalist) <= worst * (1 + Fraction(1, 2**50))
        assert mean <= Fraction(one.marketer) <= max(mean * (1 + Fraction(1, 2**48)), mean)
        assert one.marketer <= one.journalist * (1 + 1e-14) <= one.prosecutor * (1 + 1e-13)


@given(counts_of_people(), st.sampled_from([10**10, FAR]))
@settings(max_examples=60, deadline=None)
def test_large_counts_are_not_rounded(counts, times):
    """Beyond the products of int64, and beyond int64: shares are what they were, and scaled counts no people."""
    order = list(range(len(counts)))
    scaled = classical_measures(tally_of(counts, times), order=order, scale=Fraction(1, times))
    assert scaled.identity is None
    assert scaled == replace(classical_measures(tally_of(counts), order=order), identity=None)


def test_near_fractions_of_large_counts_are_told_apart():
    n = 2 * 10**15
    found = classical_measures(tally_of([[n, 2 * n + 1], [n + 1, 2 * n]]), order=[1, 0])
    counts = [[n, 2 * n + 1], [n + 1, 2 * n]]
    assert found.alpha.fraction == oracle.alpha(counts) == Fraction(n + 1, 2 * n + 1)
    assert found.t_equal.fraction == found.t_ordered.fraction == oracle.equal_distance(counts)
    assert found.basic_beta == max(gain for _, gain in oracle.gains(counts))


def test_noise_beyond_the_range_of_floats():
    far = 2**1300
    counts = [[3 * far + 5, 3 + 5 * far], [far + 2, 1 + 2 * far], [4 * far, 4]]
    found = classical_measures(tally_of(counts), order=[2, 0, 1], scale=Fraction(1, far + 1))
    assert found.alpha.fraction == oracle.alpha(counts)
    assert found.t_equal.fraction == oracle.equal_distance(counts)
    assert found.t_ordered.fraction == oracle.ordered_distance(counts, [2, 0, 1])
    assert found.basic_beta == max(gain for _, gain in oracle.gains(counts))
    assert found.delta.ratio == max(max(s, 1 / s) for s in oracle.lifts(counts))
    assert found.entropy_l == pytest.approx(7 / (5**5 * 2**2) ** (1 / 7), rel=1e-14)


@given(counts_of_people())
@settings(max_examples=80, deadline=None)
def test_likeness_and_disclosure_are_pml_and_pmc(counts):
    tally = tally_of(counts)
    found, gain, cost = classical_measures(tally), cell_pml(tally), cell_pmc(tally)
    lift = gain.ratio(gain.worst_first(1)[0])
    assert found.basic_beta == lift - 1
    ruled_out = [cost.ratio(cell) for cell in range(tally.shape[1])]
    if None in ruled_out:
        assert found.delta == math.inf
        assert found.distinct_l < tally.shape[0]
    else:
        assert found.delta.ratio == max(lift, *ruled_out)
        assert found.distinct_l == tally.shape[0]
    assert found.delta_occurring.ratio >= lift


@given(counts_of_people())
@settings(max_examples=80, deadline=None)
def test_what_pml_promises_of_the_others(counts):
    """The inequalities of docs/classical.md, exactly."""
    found, p = classical_measures(tally_of(counts), order=range(len(counts))), oracle.prior(counts)
    factor, total = found.basic_beta + 1, sum(map(sum, counts))
    assert found.alpha.fraction <= factor * max(p)
    assert factor <= found.alpha.fraction / min(p)
    assert oracle.is_entropy_diverse(counts, max(1 / (factor * max(p)), Fraction(1)))
    assert found.t_ordered.fraction <= found.t_equal.fraction <= 1 - 1 / factor
    assert factor <= 1 + found.t_equal.fraction / min(p)
    assert factor <= Fraction(total, found.identity.k)
    if found.delta < math.inf:
        cost = max(1 / s for s in oracle.lifts(counts))
        assert found.t_equal.fraction <= 1 - 1 / cost
    if found.distinct_l == 2:
        alpha = max(max(q) for q in oracle.posteriors(counts))
        assert found.recursive_c == alpha / (1 - alpha)


def test_where_the_inequalities_are_equalities():
    told = classical_measures(
        tally_of([[2, 0], [0, 2], [2, 0], [0, 2]])
    )  # uniform prior, uniform on half of it
    factor = told.basic_beta + 1
    assert factor == 2
    assert told.alpha.fraction == factor / 4
    assert told.entropy_l == 4 / factor
    assert told.t_equal.fraction == 1 - 1 / factor
    rare = classical_measures(tally_of([[1, 0], [1, 8]]))  # the rarest secret gains all that is moved
    assert (
        rare.basic_beta + 1
        == 1 + rare.t_equal.fraction / Fraction(1, 10)
        == 5
        == Fraction(10, rare.identity.k)
    )


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_reidentification_is_leakage_about_identity(sizes):
    people = sum(sizes)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    who = Tally.of(np.arange(people), cell, np.ones(people, dtype=np.int64), (people, len(sizes)))
    gain, found = cell_pml(who), classical_measures(who).identity
    assert found.prosecutor.fraction == gain.ratio(gain.worst_first(1)[0]) / people
    assert found.average.fraction == maximal_leakage_of(gain).ratio / people


def test_a_single_secret_tells_nothing():
    found = classical_measures(tally_of([[3, 4]]), order=[0])
    assert (found.basic_beta, found.enhanced_beta, found.delta, found.t_equal, found.t_ordered) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert (found.alpha, found.distinct_l, found.entropy_l, found.recursive_c) == (1, 1, 1, 1)


TWO = tally_of([[3, 0], [1, 2]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: classical_measures(TWO, order=[0]),
            "order must have each place from 0 to 1 once, got .0.; list",
        ),
        (lambda: classical_measures(TWO, order=[1, 1]), "order must have each place from 0 to 1 once"),
        (
            lambda: classical_measures(TWO, order=[0, 2]),
            "order must be a whole number from 0 to 1, got 2; list",
        ),
        (
            lambda: classical_measures(TWO, population=PopulationSizes([4], [1])),
            "each of the 2 columns, got 1 and 1",
        ),
        (
            lambda: classical_measures(TWO, population=PopulationSizes([3.5, 2], [1, 1])),
            "at least the people .* 3.5",
        ),
        (
            lambda: classical_measures(TWO, population=PopulationSizes([8, 2], [0.4, 1])),
            r"risk\[0\] must lie between .* got 0.4; add up",
        ),
        (
            lambda: classical_measures(TWO, population=PopulationSizes([8, 2], [0.5, 1.1])),
            r"risk\[1\] must lie between .* got 1.1; add up",
        ),
        (
            lambda: classical_measures(TWO, population=PopulationSizes([8, 2], [0.5, 1]), scale="1/2"),
            "population needs counts of people, got scale=1/2; leave it out with noise",
        ),
        (lambda: PopulationSizes([8, 0.0], [1, 1]), r"smallest\[1\] must be positive and finite, got 0.0"),
        (lambda: PopulationSizes.of(TWO, [8]), "a number for each of the 2 cells, got 1; say by column"),
        (
            lambda: PopulationSizes.of(TWO, [8, 2], [0, 0]),
            "a number for each of the 2 cells, got 2; say by column",
        ),
        (lambda: PopulationSizes.of(TWO, [8, "3/2"]), "at least the people .* got 3/2; use weights"),
        (lambda: people_at_risk(TWO, 0), "threshold must be positive, got 0; write 1/5"),
    ],
)
def test_what_cannot_be_used_is_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


def test_a_table_is_no_tally():
    with pytest.raises(WrongType, match=r"tally must be a Tally, got .* take counted.tally"):
        classical_measures([[3, 0], [1, 2]])


def test_population_sizes_are_rounded_to_the_safe_side():
    sizes = PopulationSizes(["100000000000000000001/10000000000"], ["1/3"])
    assert Fraction(sizes.smallest[0]) < Fraction("100000000000000000001/10000000000")
    assert Fraction(sizes.risk[0]) > Fraction(1, 3)


# ---- pyCANON


def frame_of(rows, seed, kind):
    generator = np.random.default_rng(seed)
    secret = generator.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "zip": generator.integers(0, 3, rows),
            "sex": generator.choice(["f", "m"], rows),
            "ill": secret * 10 if kind == "number" else np.array(["a", "b", "c", "d"])[secret],
        }
    )


def tally_of_frame(frame, secret, released):
    """Counts by pandas; secrets in their own order."""
    names = sorted(frame[secret].unique())
    place = frame[secret].map({name: at for at, name in enumerate(names)})
    cell = frame.groupby(released, dropna=False).ngroup()
    shape = len(names), int(cell.max()) + 1
    return Tally.of(place.to_numpy(), cell.to_numpy(), np.ones(len(frame), dtype=np.int64), shape)


def theirs(frame, released, secret):
    anonymity = pytest.importorskip("pycanon.anonymity")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alpha, k = anonymity.alpha_k_anonymity(frame, released, [secret])
        return {
            "k": k,
            "alpha": alpha,
            "distinct_l": anonymity.l_diversity(frame, released, [secret]),
            "entropy_l": anonymity.entropy_l_diversity(frame, released, [secret]),
            "recursive": anonymity.recursive_c_l_diversity(frame, released, [secret]),
            "t": anonymity.t_closeness(frame, released, [secret]),
            "basic_beta": anonymity.basic_beta_likeness(frame, released, [secret]),
            "enhanced_beta": anonymity.enhanced_beta_likeness(frame, released, [secret]),
            "delta": anonymity.delta_disclosure(frame, released, [secret]),
        }


def require_same(frame, released, secret):
    """Where both have a measure; where pyCANON has another one, what it has."""
    tally, given_ = tally_of_frame(frame, secret, released), theirs(frame, released, secret)
    own = classical_measures(tally, order=range(tally.shape[0]))
    number = pd.api.types.is_numeric_dtype(frame[secret])
    assert given_["k"] == own.identity.k
    assert given_["alpha"] == pytest.approx(own.alpha, rel=1e-14)
    assert given_["distinct_l"] == own.distinct_l == given_["recursive"][1]
    whole = own.entropy_l == int(own.entropy_l)
    assert given_["entropy_l"] in {
        int(own.entropy_l),
        int(own.entropy_l) - 1 if whole else int(own.entropy_l),
    }
    assert given_["t"] == pytest.approx(own.t_ordered if number else own.t_equal, rel=1e-12)
    assert given_["basic_beta"] == pytest.approx(float(own.basic_beta), rel=1e-12)
    assert given_["delta"] == pytest.approx(own.delta_occurring, rel=1e-12)
    rarest = float(min(tally.of_secret)) / tally.total
    assert given_["enhanced_beta"] == pytest.approx(min(float(own.basic_beta), -math.log(rarest)), rel=1e-12)
    return own, given_


@pytest.mark.parametrize("kind", ["number", "text"])
@pytest.mark.parametrize(("rows", "seed"), [(30, 1), (30, 2), (200, 3), (200, 4), (1000, 5)])
def test_pycanon_has_the_same_numbers(kind, rows, seed):
    require_same(frame_of(rows, seed, kind), ["zip", "sex"], "ill")


def test_pycanon_sorts_the_wrong_way_for_recursive_diversity():
    """Of 9 and 1 people, 9 < c·1 needs c above 9; pyCANON says c = 1, for which 9 < 1 would have to hold."""
    frame = pd.DataFrame({"zip": ["z"] * 10, "ill": ["a"] * 9 + ["b"]})
    own, given_ = require_same(frame, ["zip"], "ill")
    assert given_["recursive"] == (1, 2)
    assert not oracle.is_recursive_diverse([[9], [1]], 1, 2)
    assert own.recursive_c == 9
    assert oracle.is_recursive_diverse([[9], [1]], 10, 2)


def test_pycanon_names_an_enhanced_beta_that_does_not_hold():
    """Prior ½, posterior 1: the gain 1 is above −log ½ whatever β is; pyCANON says 0.69."""
    frame = pd.DataFrame({"zip": ["y", "y", "z", "z"], "ill": ["a", "a", "b", "b"]})
    own, given_ = require_same(frame, ["zip"], "ill")
    assert own.basic_beta == 1 > given_["enhanced_beta"] > 0.69
    assert own.enhanced_beta is None


def test_pycanon_leaves_out_people_without_a_released_value():
    """Both with an unknown zip are alone in their cell; pyCANON's smallest cell has two."""
    frame = pd.DataFrame({"zip": ["y", "y", None], "ill": ["a", "b", "a"]})
    assert theirs(frame, ["zip"], "ill")["k"] == 2
    assert classical_measures(tally_of_frame(frame, "ill", ["zip"])).identity.k == 1


def test_pycanon_takes_the_index_of_a_frame_for_positions():
    """The same four rows in another order: a cell with one illness only is not seen."""
    frame = pd.DataFrame({"zip": ["y", "y", "z", "z"], "ill": ["a", "b", "c", "c"]})
    shuffled = frame.iloc[[0, 2, 1, 3]]
    assert theirs(frame, ["zip"], "ill")["distinct_l"] == 1
    assert theirs(shuffled, ["zip"], "ill")["distinct_l"] == 2
    assert classical_measures(tally_of_frame(shuffled, "ill", ["zip"])).distinct_l == 1


def test_pycanon_rounds_an_entropy_of_exactly_l_below_it():
    """Uniform cells have e^H = l; a float below it is cut to l − 1 for some l."""
    cut = []
    for l_ in range(2, 12):
        frame = pd.DataFrame({"zip": ["z"] * l_, "ill": [f"s{at:02d}" for at in range(l_)]})
        own, given_ = require_same(frame, ["zip"], "ill")
        assert own.entropy_l == l_
        cut.append(given_["entropy_l"] == l_ - 1)
    assert any(cut)


@pytest.mark.parametrize(
    ("released", "secret"),
    [
        (["sex", "race"], "occupation"),
        (["sex", "education", "marital-status"], "income"),
        (["sex", "marital-status"], "education-num"),
    ],
)
def test_pycanon_has_the_same_numbers_of_adult(released, secret):
    folder = os.environ.get("TIGHTLIP_ADULT")
    if folder is None:
        assert os.environ.get("CI") != "true", "set TIGHTLIP_ADULT to the folder of adult.data"
        pytest.skip("TIGHTLIP_ADULT is not set: the folder of adult.data")
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
    names += ["relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"]
    frame = pd.read_csv(
        Path(folder) / "adult.data", names=[*names, "native-country", "income"], skipinitialspace=True
    )
    require_same(frame, released, secret)
