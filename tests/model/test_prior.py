"""Priors: distributions over named secrets."""

import copy
import math
import pickle
from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import distributions
from tightlip import Prior, PriorSet
from tightlip.errors import InvalidInput, InvalidLabels, InvalidPrior, ShapeMismatch, WrongType

exact_masses = st.integers(1, 6).flatmap(distributions)
float_masses = st.lists(
    st.one_of(st.floats(0, 1), st.floats(5e-324, 1e-290)), min_size=1, max_size=8
).map(np.array).filter(lambda masses: masses.sum() > 0.01).map(lambda masses: masses / masses.sum())  # fmt: skip


def same(one, two):
    return one == two and hash(one) == hash(two) and one.masses.tolist() == two.masses.tolist()


@given(st.one_of(exact_masses, float_masses))
def test_json_pickles_and_copies_change_nothing(masses):
    prior = Prior(masses, labels=[("s", place) for place in range(len(masses))])
    for again in (
        Prior.from_json(prior.to_json()),
        pickle.loads(pickle.dumps(prior)),
        copy.copy(prior),
        copy.deepcopy(prior),
    ):
        assert same(again, prior)
        assert again.is_exact == prior.is_exact
        assert again.labels.given
        assert not again.masses.flags.writeable


def test_a_renormalised_prior_reads_back_bit_for_bit():
    rng = np.random.default_rng(1)
    for size in (2, 3, 1000, 100_000):
        masses = rng.dirichlet(np.ones(size)) * (1 + 7e-10)
        prior = Prior(masses)
        assert prior.adjustment == pytest.approx(7e-10, rel=1e-3)
        again = Prior.from_json(prior.to_json())
        assert (again.masses == prior.masses).all()
        assert again.adjustment == prior.adjustment
        assert abs(math.fsum(prior.masses.tolist()) - 1) <= 2**-50


def test_the_adjustment_is_visible():
    assert repr(Prior([0.5, 0.5 + 3e-10])) == "Prior(0: 0.5, 1: 0.5; sum adjusted by 3e-10)"
    assert Prior([0.1] * 10).adjustment == 0.0
    exact = Prior(["1/2", Fraction(1, 2) + Fraction(1, 10**10)])
    assert exact.adjustment == 1e-10
    assert sum(exact.masses) == 1
    assert pickle.loads(pickle.dumps(exact)).adjustment == 1e-10


def test_kinds_of_masses():
    assert not Prior([0.5, 0.5]).is_exact
    assert Prior(["1/2", Decimal("0.5")]).is_exact
    assert Prior([1, 0]).masses.tolist() == [Fraction(1), Fraction(0)]
    assert Prior(["1/3", "2/3"]).floats.tolist() == [1 / 3, 2 / 3]
    assert Prior(OrderedDict(b=0.25, a=0.75)).labels == ["b", "a"]
    assert Prior({"a": "1/3", "b": "2/3"}).mass("b") == Fraction(2, 3)
    assert type(Prior([0.25, 0.75]).mass(0)) is float
    assert len(Prior([0.25, 0.75])) == 2


def test_the_callers_array_is_copied_and_ours_is_read_only():
    data = np.array([0.5, 0.5])
    prior = Prior(data)
    data[0] = 0.9
    assert prior.masses.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        prior.masses[0] = 0.9
    with pytest.raises(AttributeError):
        prior.adjustment = 1.0


@pytest.mark.parametrize(
    ("masses", "error", "message"),
    [
        ([0.5, 0.499], InvalidPrior, "prior must sum to 1 within 1e-09, got 0.999; use Prior.from_counts"),
        ([0.5, 0.5 + 1.1e-9], InvalidPrior, "prior must sum to 1 within 1e-09"),
        ([1.1, -0.1], InvalidPrior, "prior, entry 1 must not be negative, got -0.1"),
        (["11/10", "-1/10"], InvalidPrior, "prior, entry 1 must not be negative, got -0.1"),
        ([math.nan, 1.0], InvalidInput, "prior entry 0 must be finite, got nan"),
        ([math.inf, -math.inf], InvalidInput, "prior entry 0 must be finite, got inf"),
        ([10**400, 0], InvalidPrior, r"must sum to 1 within 1e-09, got 1e\+400"),
        ([1.7e308, 1.7e308], InvalidPrior, "must sum to 1 within 1e-09, got inf"),
        ([0.0, 0.0], InvalidPrior, "must sum to 1 within 1e-09, got 0"),
        ([], InvalidInput, "prior must not be empty"),
        ({}, InvalidInput, "prior must not be empty"),
        ([[0.5, 0.5]], ShapeMismatch, "prior must have 1 dimension"),
        ([True, False], WrongType, "prior entry 0 must be a float, .* got True of type bool"),
        ({"a": None}, WrongType, "prior entry 0 must be a float, .* got None"),
        (np.ma.masked_array([0.5, 0.5, 0.3], mask=[0, 0, 1]), InvalidInput, "prior must not be masked"),
        (
            np.array([1 / 3] * 3, dtype=np.float32),
            InvalidPrior,
            "must sum to 1 within 1e-09, got 1.0000000298",
        ),
        (Prior([1]), WrongType, "prior masses must be numbers, got a Prior; use it as it is"),
        ({0.25, 0.75}, WrongType, "prior must be a list of numbers, got {"),
    ],
)
def test_what_is_no_prior_is_refused(masses, error, message):
    with pytest.raises(error, match=message):
        Prior(masses)


def test_labels_are_checked():
    with pytest.raises(InvalidLabels, match='prior labels must be distinct, got "a" at entries 0 and 1'):
        Prior([0.5, 0.5], labels=["a", "a"])
    with pytest.raises(ShapeMismatch, match="prior labels must have one label each for 2 entries, got 3"):
        Prior([0.5, 0.5], labels=["a", "b", "c"])
    with pytest.raises(InvalidLabels, match=r"prior labels must not be given twice, got .*; drop one"):
        Prior({"a": 1}, labels=["b"])
    with pytest.raises(InvalidLabels, match="prior labels must not be given twice"):
        Prior.from_counts({"a": 1}, labels=["b"])
    assert Prior({"a": 1}, labels=["a"]).labels == ["a"]
    assert Prior([0.5, 0.5], labels=(x for x in "ab")).labels == ["a", "b"]


def test_uniform():
    prior = Prior.uniform(3)
    assert prior.masses.tolist() == [Fraction(1, 3)] * 3
    assert prior.floats.tolist() == [1 / 3] * 3
    assert not prior.labels.given
    assert Prior.uniform(np.int64(2)) == Prior(["1/2", "1/2"])
    assert Prior.uniform(x for x in "ab") == Prior({"a": "1/2", "b": "1/2"})
    assert Prior.uniform({"a": 5, "b": 6}).labels == ["a", "b"]


@pytest.mark.parametrize("secrets", [True, None, 2.0, "abc", b"ab", len])
def test_uniform_over_what_is_neither_count_nor_labels(secrets):
    with pytest.raises(WrongType, match=r"secrets must be a count or a list of labels, got .*; write 3 or"):
        Prior.uniform(secrets)


@pytest.mark.parametrize("secrets", [0, -1, [], np.zeros(0)])
def test_uniform_over_nothing(secrets):
    with pytest.raises(InvalidInput, match=r"secrets must be a whole number from 1 to 100000000, got (0|-1)"):
        Prior.uniform(secrets)


def test_from_counts():
    assert Prior.from_counts(Counter("abba")) == Prior({"a": 0.5, "b": 0.5})
    assert Prior.from_counts(np.array([1, 3])).masses.tolist() == [0.25, 0.75]
    assert Prior.from_counts([1, 2], exact=True).masses.tolist() == [Fraction(1, 3), Fraction(2, 3)]
    assert sum(Prior.from_counts([0.1, 0.2, 0.7], exact=True).masses) == 1
    assert Prior.from_counts([1, 2], exact=True).adjustment == 0.0
    assert Prior.from_counts([10**400, 10**400]).masses.tolist() == [0.5, 0.5]
    assert Prior.from_counts([0, 1], labels=["a", "b"]).mass("a") == 0.0


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50).filter(any))
def test_frequencies_need_no_adjustment(counts):
    prior = Prior.from_counts(np.array(counts))
    assert prior.adjustment == 0.0
    assert prior.support.tolist() == np.flatnonzero(counts).tolist()


def test_from_counts_refuses_what_it_must():
    with pytest.raises(InvalidPrior, match="counts must have a positive sum, got 0; there is no data"):
        Prior.from_counts([0, 0])
    with pytest.raises(InvalidInput, match="counts entry 1 must not be negative, got -1"):
        Prior.from_counts({"a": 2, "b": -1})
    with pytest.raises(InvalidInput, match="counts entry 0 is too small beside the others"):
        Prior.from_counts([1e-200, 1e200])


def test_tiny_masses_and_many_secrets():
    prior = Prior([5e-324, 1e-300, 1.0])
    assert prior.min_mass == 5e-324
    assert prior.support.tolist() == [0, 1, 2]
    assert type(prior.min_mass) is float
    assert Prior(["1e-400", 1 - Fraction(1, 10**400)]).min_mass == Fraction(1, 10**400)
    many = Prior(np.full(10**6, 1e-6))
    assert many.min_mass == 1e-6
    assert repr(many).endswith("7: 1e-06, … 1000000 secrets)")


def test_floats_of_masses_too_small_for_them_are_refused():
    prior = Prior(["1e-400", 1 - Fraction(1, 10**400)])
    with pytest.raises(InvalidInput, match="prior entry 0 is too small for a float, got 1e-400"):
        _ = prior.floats


@given(float_masses)
def test_exact_masses_are_those_stored_scaled_to_one(masses):
    prior = Prior(masses)
    exact = prior.exact()
    assert exact.is_exact
    assert sum(exact.masses) == 1
    total = sum(map(Fraction, prior.masses.tolist()))
    assert exact.masses.tolist() == [Fraction(mass) / total for mass in prior.masses.tolist()]
    assert exact.exact() is exact
    assert exact.adjustment == 0.0


def test_restricted():
    full = Prior([0.5, 0.5])
    assert full.restricted() is full
    part = Prior(["1/2", 0, "1/2"]).restricted()
    assert part.labels == [0, 2]
    assert part.labels.given
    assert part.masses.tolist() == [Fraction(1, 2)] * 2


def test_product():
    both = Prior({"a": 0.25, "b": 0.75})
    found = both.product(Prior(["1/2", "1/2"]))
    assert not found.is_exact
    assert found.labels == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert found.masses.tolist() == [0.125, 0.125, 0.375, 0.375]
    with pytest.raises(WrongType, match=r"other must be a Prior, got \[1\]; write Prior"):
        both.product([1])


def test_a_product_never_drops_a_rare_pair():
    rare = Prior([1e-200, 1.0])
    with pytest.raises(
        InvalidInput, match=r"product of priors must stay above .*; use exact\(\) on both first"
    ):
        rare.product(rare)
    assert rare.exact().product(rare.exact()).masses[0] > 0


def test_unknown_secrets():
    with pytest.raises(InvalidLabels, match='label must be one of "a"; got "b"'):
        Prior({"a": 1}).mass("b")


def test_equality_and_hash():
    assert Prior([0.5, 0.5]) == Prior(np.array([0.5, 0.5]))
    assert Prior([0.5, 0.5]) != Prior(["1/2", "1/2"])
    assert Prior([0.5, 0.5]) != Prior([0.5, 0.5], labels=["a", "b"])
    assert Prior([0.5, 0.5]) != Prior([0.25, 0.75])
    assert Prior([0.5, 0.5]) != [0.5, 0.5]
    assert Prior([-0.0, 1.0]) == Prior([0.0, 1.0])
    assert hash(Prior([-0.0, 1.0])) == hash(Prior([0.0, 1.0]))
    assert len({Prior([0.5, 0.5]), Prior([0.5, 0.5]), Prior([1.0, 0.0])}) == 2


def test_repr_is_for_people():
    assert repr(Prior({"a": "1/3", ("b", 1): "2/3"})) == "Prior(a: 1/3, (b, 1): 2/3)"
    assert repr(Prior([0.1, 0.9]).exact()) == "Prior(0: ≈0.1, 1: ≈0.9)"
    assert repr(Prior(["1e-4500", 1 - Fraction(1, 10**4500)])) == "Prior(0: ≈1e-4500, 1: ≈1)"


def test_long_rationals_survive_json():
    prior = Prior([Fraction(1, 7**9000), 1 - Fraction(1, 7**9000)])
    assert Prior.from_json(prior.to_json()) == prior


def test_json_as_people_write_it():
    assert Prior.from_json('{"prior": {"a": 0.25, "b": 0.75}}') == Prior({"a": 0.25, "b": 0.75})
    assert Prior.from_json('{"prior": ["1/3", "2/3"], "labels": ["a", ["b", 1]]}').labels == ["a", ("b", 1)]
    assert Prior.from_json(Prior.uniform(2).to_json()) == Prior.uniform(2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"prior": [0.5, 0.5], "labels": "ab"}', 'labels must be a list of labels, got "ab"'),
        ('{"prior": [0.5, 0.5], "labels": {"a": 1, "b": 2}}', "labels must be a list of labels"),
        ('{"prior": [1e999, 0.5]}', "prior entry 0 must be finite, got inf"),
        ('{"prior": [NaN, 0.5]}', "prior JSON must hold finite numbers only, got NaN"),
        ('{"prior": null}', "prior must be a list of numbers, got None"),
        ('{"prior": "uniform"}', 'prior must be a list of numbers, got "uniform"'),
        ('{"masses": [1]}', 'prior JSON must have the key "prior"'),
        ('{"prior": [1], "labls": ["a"]}', 'prior JSON has an unknown key "labls"'),
        ("[1]", "prior JSON must be an object"),
    ],
)
def test_bad_json_is_refused(text, message):
    with pytest.raises(InvalidInput, match=message):
        Prior.from_json(text)


def test_prior_sets_hold_the_priors_with_enough_mass():
    assert Prior(["1/4", "3/4"]) in PriorSet(2, "1/4")
    assert Prior(["1/4", "3/4"]) not in PriorSet(2, Fraction(1, 4) + Fraction(1, 10**30))
    assert Prior([0.25, 0.75]) not in PriorSet(3, 0.25)
    assert Prior([0.0, 1.0]) not in PriorSet(2, 5e-324)
    assert [0.25, 0.75] not in PriorSet(2, 0.25)


@pytest.mark.parametrize("size", [2, 3, 7, 10, 49])
def test_the_uniform_prior_is_in_the_smallest_set(size):
    for mass in (Fraction(1, size), 1 / size):
        assert Prior.uniform(size) in PriorSet(size, mass)
        assert Prior([1 / size] * size) in PriorSet(size, mass)


def test_prior_sets_compare_hash_and_read_back():
    assert PriorSet(4, "1/4") == PriorSet(np.int64(4), 0.25)
    assert hash(PriorSet(4, "1/4")) == hash(PriorSet(4, 0.25))
    assert repr(PriorSet(np.int64(4), "1/10")) == "PriorSet(secrets=4, min_mass=Fraction(1, 10))"
    for one in (PriorSet(3, "1/7"), PriorSet(3, 0.1), PriorSet(3, Fraction(1, 7**9000))):
        again = PriorSet.from_json(one.to_json())
        assert again == one
        assert type(again.min_mass) is type(one.min_mass)
    with pytest.raises(AttributeError):
        PriorSet(2, 0.5).min_mass = 0.1


@pytest.mark.parametrize("secrets", [0, -1, True, 2.0, "2", None, [2]])
def test_prior_sets_need_a_count(secrets):
    with pytest.raises(InvalidInput, match="secrets must be a whole number of at least 1, got"):
        PriorSet(secrets, 0.1)


@pytest.mark.parametrize("mass", [0, -0.1, 0.51, "2/3", 1])
def test_prior_sets_that_are_empty_are_refused(mass):
    with pytest.raises(
        InvalidPrior,
        match=r"min_mass must be in \(0, 1/2\], got .*; 2 secrets cannot all have more",
    ):
        PriorSet(2, mass)


@pytest.mark.parametrize("mass", [math.nan, math.inf, None, True, "x"])
def test_prior_sets_need_a_number(mass):
    with pytest.raises(InvalidInput, match="min_mass must be"):
        PriorSet(2, mass)
