"""Protecting a table given what was released of it before: against a program written out, and the joint count."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tightlip as tl
from tightlip import Policy, log_of, open_table
from tightlip.auditing.joint import Terms, count_jointly
from tightlip.auditing.leakage import cell_pml
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Released
from tightlip.table.recoding import Bins, Keep

LEVELS = {"age": ["as is", 10, "out"]}


def opened(rows):
    columns = list(zip(*rows, strict=True))
    return open_table(pa.table({"ill": columns[0], "age": columns[1], "sex": columns[2]}))


def joint_worst(table, plans):
    found = count_jointly(table, Terms.of(Policy("ill", ["age"])), plans).cells.counted
    leak = cell_pml(found.tally)
    return leak.value(leak.worst_first(1)[0]).ratio


def best_randomised(rows, factor, past):
    """The most detail of any K(y | x) for age as it is, by ten and out: a program written out from the definition."""
    ages = sorted({row[1] for row in rows})
    values = (
        [(0, age) for age in ages] + [(1, bin_) for bin_ in sorted({age // 10 for age in ages})] + [(2, 0)]
    )
    inside = {0: lambda age: age, 1: lambda age: age // 10, 2: lambda age: 0}
    people = defaultdict(int)
    for row in rows:
        people[row[1]] += 1
    pairs = [(v, age) for v, (level, name) in enumerate(values) for age in ages if inside[level](age) == name]
    content = [
        -np.log(sum(people[age] for age in ages if inside[level](age) == name) / len(rows))
        for level, name in values
    ]
    whole = sum(people[age] * content[values.index((0, age))] for age in ages)
    cost = [-people[age] * content[v] / whole if whole else 0.0 for v, age in pairs]
    held = defaultdict(float)
    for row in rows:
        for z, chance in past(row).items():
            held[row[0], row[1], z] += chance
    secrets, earlier = sorted({row[0] for row in rows}), sorted({key[2] for key in held})
    upper = []
    for v in range(len(values)):
        for z in earlier:
            for s in secrets:
                prior = sum(row[0] == s for row in rows) / len(rows)
                upper.append(
                    [
                        held[s, age, z] - factor * prior * sum(held[t, age, z] for t in secrets)
                        if v == w
                        else 0.0
                        for w, age in pairs
                    ]
                )
    equal = [[1.0 if age == own else 0.0 for _, own in pairs] for age in ages]
    found = linprog(cost, upper, np.zeros(len(upper)), equal, np.ones(len(ages)))
    return None if found.status else -found.fun if whole else 1.0


people = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from([1, 4, 12, 15, 23]), st.sampled_from("ab")),
    min_size=4,
    max_size=24,
).filter(lambda rows: {row[0] for row in rows} == {"x", "y"} and {row[2] for row in rows} == {"a", "b"})

PASTS = {
    "sex": (Policy("ill", ["sex"]), lambda row: {row[2]: 1.0}),
    "noise": (
        Policy("ill", [Released("sex", Keep(), RandomizedResponse(log_of(3)))]),
        lambda row: {row[2]: 0.75, "ab"[row[2] == "a"]: 0.25},
    ),
    "bins": (
        Policy("ill", [Released("age", Bins(width=10, origin=3))]),
        lambda row: {str((row[1] - 3) // 10): 1.0},
    ),
    "some": (
        Policy("ill", ["sex"], where="age >= 10"),
        lambda row: {row[2] if row[1] >= 10 else "absent": 1.0},
    ),
}


@pytest.mark.parametrize("kind", PASTS)
@given(people, st.sampled_from(["6/5", "3/2", "2"]))
@settings(max_examples=25)
def test_the_bound_is_that_of_a_program_written_out(kind, rows, factor):
    plan, past = PASTS[kind]
    assume(kind != "some" or any(row[1] >= 10 for row in rows))
    best = best_randomised(rows, float(Fraction(factor)), past)
    with opened(rows) as table:
        alone = joint_worst(table, {"1": plan})
        options = {"levels": LEVELS, "randomised": True, "seconds": 1, "earlier": {"1": plan}}
        if alone > Fraction(factor):
            with pytest.raises(InvalidInput, match="budget must be one that"):
                tl.protect(table, "ill", ["age"], f"factor {factor}", **options)
            return
        found = tl.protect(table, "ill", ["age"], f"factor {factor}", **options)
        assert found.bound >= best - 1e-6
        assert found.kept <= best + 1e-6
        assert found.bound - found.kept <= 0.02
        assert joint_worst(table, {"1": plan, "2": found.policy}) <= Fraction(factor)
        found.verify()


@pytest.mark.parametrize("kind", PASTS)
@given(people)
@settings(max_examples=10)
def test_a_deterministic_release_keeps_the_budget_with_the_past(kind, rows):
    plan, _ = PASTS[kind]
    assume(kind != "some" or any(row[1] >= 10 for row in rows))
    with opened(rows) as table:
        if joint_worst(table, {"1": plan}) > 2:
            return
        found = tl.protect(table, "ill", ["age"], "2x", levels=LEVELS, seconds=1, earlier={"1": plan})
        assert joint_worst(table, {"1": plan, "2": found.policy}) <= 2


def test_the_proof_is_written_and_read(tmp_path):
    rows = [
        ("xy"[number % 4 == 0], (1, 4, 12, 15, 23)[number % 5], "ab"[number % 3 == 0]) for number in range(60)
    ]
    with opened(rows) as table:
        found = tl.protect(
            table, "ill", ["age"], "2x", levels=LEVELS, seconds=1, earlier={"1": PASTS["sex"][0]}
        )
    found.save(tmp_path / "proof.json")
    read = tl.load(tmp_path / "proof.json")
    read.verify()
    assert read.digest() == found.certificate.digest()
    assert [limit.inside for limit in read.table.limits.limits] == [
        limit.inside for limit in found.certificate.table.limits.limits
    ]


def sixty():
    return [
        ("xy"[number % 4 == 0], (1, 4, 12, 15, 23)[number % 5], "ab"[number % 3 == 0]) for number in range(60)
    ]


def test_names_of_earlier_releases_are_free():
    with opened(sixty()) as table:
        found = [
            tl.protect(
                table, "ill", ["age"], "2x", levels=LEVELS, seconds=1, earlier={name: PASTS["sex"][0]}
            ).kept
            for name in ("1", "new")
        ]
    assert found[0] == found[1]


def test_earlier_releases_are_read_whatever_their_secrets():
    columns = list(zip(*sixty(), strict=True))
    data = pa.table({"ill": columns[0], "rich": columns[2][::-1], "drug": columns[0], "sex": columns[2]})
    earlier = {"1": Policy("ill", ["drug", "sex"])}
    with open_table(data) as table, pytest.raises(InvalidInput, match="budget must be one that"):
        tl.protect(table, ["ill", "rich"], ["sex"], "3x", seconds=1, earlier=earlier)


def test_noise_is_protected_beside_noise():
    noisy = Released("sex", Keep(), RandomizedResponse(log_of(2)))
    earlier = {"1": Policy("ill", [noisy])}
    with opened(sixty()) as table:
        found = tl.protect(table, "ill", ["age", noisy], "2x", levels=LEVELS, seconds=1, earlier=earlier)
        assert joint_worst(table, earlier | {"2": found.policy}) <= 2
        found.verify()


def test_a_forged_prior_is_told():
    with opened(sixty()) as table:
        found = tl.protect(
            table, "ill", ["age"], "2x", levels=LEVELS, seconds=1, earlier={"1": PASTS["sex"][0]}
        )
    limits = found.certificate.table.limits
    for forged in (0 * limits.prior_of, np.arange(len(limits.prior_of))[::-1] // 3):
        table = replace(found.certificate.table, limits=replace(limits, prior_of=forged))
        with pytest.raises(CertificateInvalid, match="rows of one secret"):
            replace(found.certificate, table=table).verify()
