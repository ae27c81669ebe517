"""Joint cells against a slow, obvious count in fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip import Policy, log_of, open_table
from tightlip.auditing.counted import Counted, counts_digest
from tightlip.auditing.joint import Terms, count_jointly
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.run import Asked, audit_cells
from tightlip.errors import InvalidInput
from tightlip.ledger.together import measure_together
from tightlip.table.counts import TooManyCells, count_cells
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Released
from tightlip.table.recoding import Bins, Keep

BINS = ("[0, 10)", "[10, 20)", "[20, 30)")


def joint_oracle(rows, kernels):
    """P(y₁, …, y_k | s) and P(s) by the definition: kernels map a row to {published: probability}."""
    people = defaultdict(Fraction)
    joint = defaultdict(Fraction)
    for row in rows:
        people[row[0]] += Fraction(1, len(rows))
        for outcome in product(*(kernel(row).items() for kernel in kernels)):
            weight = Fraction(1, len(rows))
            for _, chance in outcome:
                weight *= chance
            joint[row[0], tuple(value for value, _ in outcome)] += weight
    return people, joint


def worst_lift(people, joint):
    marginal = defaultdict(Fraction)
    for (_, value), weight in joint.items():
        marginal[value] += weight
    return max(weight / people[secret] / marginal[value] for (secret, value), weight in joint.items())


def response(odds, values):
    def kernel(value):
        total = odds + len(values) - 1
        return {other: Fraction(odds if other == value else 1, total) for other in values}

    return kernel


people = st.lists(
    st.tuples(st.sampled_from("xy"), st.integers(0, 29), st.sampled_from("ab")), min_size=2, max_size=25
).filter(lambda rows: {row[0] for row in rows} == {"x", "y"})


def opened(rows):
    columns = list(zip(*rows, strict=True))
    return open_table(pa.table({"ill": columns[0], "age": columns[1], "sex": columns[2]}))


def worst(table, plans):
    terms = Terms.of(Policy("ill", ["age"]))
    found = count_jointly(table, terms, {name: terms.judge(plan) for name, plan in plans.items()})
    counted = found.cells.counted
    assert counted is not None
    leak = cell_pml(counted.tally)
    return leak.value(leak.worst_first(1)[0]).ratio, found


@settings(max_examples=20)
@given(people, st.integers(0, 9))
def test_two_binnings_are_counted_together(rows, origin):
    plans = {
        "1": Policy("ill", [Released("age", Bins(width=10))]),
        "2": Policy("ill", [Released("age", Bins(width=10, origin=origin)), "sex"]),
    }
    kernels = [
        lambda row: {row[1] // 10: Fraction(1)},
        lambda row: {((row[1] - origin) // 10, row[2]): Fraction(1)},
    ]
    with opened(rows) as table:
        assert worst(table, plans)[0] == worst_lift(*joint_oracle(rows, kernels))


@settings(max_examples=20)
@given(people, st.integers(1, 4))
def test_rows_left_out_and_hidden_cells_are_entries_too(rows, least):
    plans = {
        "1": Policy("ill", [Released("age", Bins(width=10))], where="sex = a", min_count=least),
        "2": Policy("ill", ["sex"], where="age >= 15"),
    }
    if {row[2] for row in rows} != {"a", "b"} or not any(row[1] >= 15 for row in rows):
        return
    sizes = defaultdict(int)
    for row in rows:
        sizes[row[1] // 10] += row[2] == "a"

    def first(row):
        if row[2] != "a":
            return {"absent": Fraction(1)}
        return {row[1] // 10 if sizes[row[1] // 10] >= least else "hidden": Fraction(1)}

    kernels = [first, lambda row: {row[2] if row[1] >= 15 else "absent": Fraction(1)}]
    with opened(rows) as table:
        assert worst(table, plans)[0] == worst_lift(*joint_oracle(rows, kernels))


@settings(max_examples=20)
@given(people, st.integers(2, 5))
def test_independent_noise_multiplies(rows, odds):
    noisy = Released("sex", Keep(), RandomizedResponse(log_of(odds)))
    plans = {
        "1": Policy("ill", [noisy]),
        "2": Policy("ill", [noisy, Released("age", Bins(width=10))]),
        "3": Policy("ill", [noisy], where="age >= 15"),
    }
    if {row[2] for row in rows if row[1] >= 15} != {"a", "b"}:
        return
    once = response(odds, "ab")
    kernels = [
        lambda row: once(row[2]),
        lambda row: {(value, row[1] // 10): chance for value, chance in once(row[2]).items()},
        lambda row: once(row[2]) if row[1] >= 15 else {"absent": Fraction(1)},
    ]
    with opened(rows) as table:
        assert worst(table, plans)[0] == worst_lift(*joint_oracle(rows, kernels))


def recoding(scale, weights):
    """Age in bins of ten, published as it is or as nothing, by whole weights."""
    cells = [(label,) for label in BINS]
    pairs = [
        (cell, value, weight)
        for cell, own in enumerate(weights)
        for value, weight in ((cell, own), (len(cells), scale - own))
        if weight
    ]
    cell, value, weight = (np.array(part) for part in zip(*pairs, strict=True))
    return LocalRecoding(("age",), tuple(cells), (*cells, (None,)), cell, value, weight, scale)


@settings(max_examples=20)
@given(people, st.lists(st.integers(0, 4), min_size=3, max_size=3))
def test_recodings_cell_by_cell_are_counted_with_others(rows, weights):
    local = recoding(4, weights)
    plans = {
        "1": Policy("ill", [Released("age", Bins(width=10))], local=local),
        "2": Policy("ill", ["sex"]),
        "3": Policy("ill", [Released("age", Bins(width=10))], local=local, where="sex = a"),
    }
    if "a" not in {row[2] for row in rows}:
        return

    def published(row):
        own = weights[row[1] // 10]
        return {value: Fraction(w, 4) for value, w in ((row[1] // 10, own), (None, 4 - own)) if w}

    kernels = [
        published,
        lambda row: {row[2]: Fraction(1)},
        lambda row: published(row) if row[2] == "a" else {"absent": Fraction(1)},
    ]
    with opened(rows) as table:
        assert worst(table, plans)[0] == worst_lift(*joint_oracle(rows, kernels))


@settings(max_examples=20)
@given(people)
def test_the_order_of_releases_does_not_matter(rows):
    first, second = Policy("ill", [Released("age", Bins(width=10))], min_count=3), Policy("ill", ["sex"])
    with opened(rows) as table:
        assert worst(table, {"1": first, "2": second})[0] == worst(table, {"1": second, "2": first})[0]


@settings(max_examples=20)
@given(people)
def test_digests_are_those_of_each_plan_alone(rows):
    plans = {
        "1": Policy("ill", [Released("age", Bins(width=10))], min_count=2),
        "2": Policy("ill", ["sex"], where="age >= 15"),
        "3": Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of(3)))]),
    }
    if {row[0] for row in rows if row[1] >= 15} != {"x", "y"}:
        return
    with opened(rows) as table:
        digests = worst(table, plans)[1].digests
        for name, plan in plans.items():
            counts = count_cells(table, Policy(plan.secret, plan.release, where=plan.where))
            alone = Counted.of(counts, plan.secret, [item.column for item in plan.release])
            assert digests[name] == counts_digest(alone)


def test_two_harmless_binnings_are_harmful_together():
    """The differencing example: nobody is found out by one release, and one person is by both."""
    rows = [("y" if age == 12 else "x", age, "a") for age in range(30)]
    plans = {
        "1": Policy("ill", [Released("age", Bins(width=10))]),
        "2": Policy("ill", [Released("age", Bins(width=10, origin=3))]),
    }
    with opened(rows) as table:
        alone = [worst(table, {name: plan})[0] for name, plan in plans.items()]
        both, found = worst(table, plans)
    assert alone == [3, 3]
    assert both == 10
    audit = audit_cells(found.cells, Asked.of(found.cells.policy), {})
    assert audit.views["ill"].worst.leakage.ratio == 10
    audit.verify()


def test_cells_that_do_not_fit_are_left_to_the_engine():
    rows = [("xy"[number % 2], number % 30, "ab"[number % 2]) for number in range(60)]
    terms = Terms.of(Policy("ill", ["age"]))
    plans = {"1": Policy("ill", ["age"]), "2": Policy("ill", ["sex"], where="age >= 15")}
    with opened(rows) as table:
        small = count_jointly(table, terms, plans)
        found = count_jointly(table, terms, plans, max_groups=5)
        assert found.cells.counted is None
        views = [
            audit_cells(one.cells, Asked.of(one.cells.policy), {}).views["ill"] for one in (small, found)
        ]
        assert views[0].worst.leakage.ratio == views[1].worst.leakage.ratio == 2
        noisy = Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of(3)))])
        with pytest.raises(TooManyCells):
            count_jointly(table, terms, {"1": noisy, "2": plans["1"]}, max_groups=5)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Policy("sex", ["age"]), "secret must be that of the other releases"),
        (Policy({"ill": ["x"]}, ["age"]), "secret must be that of the other releases"),
        (Policy("ill", ["age"], missing={"ill": ["?"]}), "missing codes of the secret"),
    ],
)
def test_other_secrets_are_refused(policy, said):
    with pytest.raises(InvalidInput, match=said):
        Terms.of(Policy("ill", ["age"])).judge(policy)


def sum_of_maxima(people, joint):
    largest = defaultdict(Fraction)
    for (secret, value), weight in joint.items():
        largest[value] = max(largest[value], weight / people[secret])
    return sum(largest.values())


@settings(max_examples=20)
@given(people, st.integers(2, 5))
def test_noise_on_some_rows_draws_among_their_values(rows, odds):
    shown = sorted({row[2] for row in rows if row[1] >= 15})
    if not shown:
        return
    plan = Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of(odds)))], where="age >= 15")
    once = response(odds, shown)
    kernels = [lambda row: once(row[2]) if row[1] >= 15 else {"absent": Fraction(1)}]
    expected = sum_of_maxima(*joint_oracle(rows, kernels))
    with opened(rows) as table:
        tally = worst(table, {"1": plan})[1].cells.counted.tally
    largest = defaultdict(Fraction)
    for secret, cell, count in zip(tally.secret, tally.cell, tally.count, strict=True):
        largest[cell] = max(largest[cell], Fraction(int(count), int(tally.of_secret[secret])))
    assert sum(largest.values()) == expected


@pytest.mark.parametrize("way", [{"min_count": 5}, {"where": "age < 3"}])
def test_ends_hold_where_rows_or_cells_are_left_out_of_noise(way):
    rows = [("xy"[number % 4 == 0], 3 + number % 27, "ab"[number % 2]) for number in range(60)]
    rows += [("y", 1, "c"), ("y", 2, "a")]
    terms = Terms.of(Policy("ill", ["age"], budget="2x"))
    noisy = Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of("3/2")))], **way)
    plans = {"1": Policy("ill", [Released("age", Bins(width=30))]), "2": terms.judge(noisy)}
    with opened(rows) as table:
        exact = measure_together(table, terms, plans).deciding.upper.ratio
        found = measure_together(table, terms, plans, limits={"max_groups": 2}).deciding
    assert found.lower <= log_of(exact) <= found.upper
    assert found.kept is False
