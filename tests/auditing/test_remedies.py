"""Remedies by brute force: every node is what the engine counts, leakage falls on the way up, labels are true."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import audit_oracle as oracle
from tightlip.auditing import lattice as climbing
from tightlip.auditing.counted import Counted
from tightlip.auditing.lattice import Lattice
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import apply_policy, budgets_of
from tightlip.auditing.remedy import detail_of, entropy_of, min_counts, remedies_for
from tightlip.auditing.run import audit
from tightlip.numeric.quantity import log_of
from tightlip.report.audit_words import change_words, paragraphs, reason_words
from tightlip.table.counts import count_cells
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.plan import planned
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins
from tightlip.table.source import open_table

KINDS = {"age": "integer", "zip": "text", "job": "text"}


def people(seed, count=160):
    """A small table in which old people, one region and one job point to a secret."""
    generator = np.random.default_rng(seed)
    age = generator.integers(20, 32, count)
    region = generator.choice(["101", "102", "201", "202"], count)
    job = generator.choice(
        ["baker", "nurse", "judge", "smith", "actor"], count, p=[0.4, 0.3, 0.2, 0.07, 0.03]
    )
    odds = 0.2 + 0.3 * (age > 28) + 0.2 * (region == "201") + 0.2 * (job == "judge")
    ill = np.where(generator.random(count) < odds, "ill", "well")
    return pd.DataFrame({"s": ill, "age": age, "zip": region, "job": job})


def counted(frame, names):
    rows = [tuple(map(str, row)) for row in frame[["s", *names]].itertuples(index=False)]
    return Counted.of(oracle.counts_of(rows), ["s"], names)


def nodes_of(lattice):
    every = product(*(range(len(ladder.items)) for ladder in lattice.ladders))
    return [node for node in every if lattice.policy_at(node) is not None]


def worst(tally):
    leak = cell_pml(tally)
    return leak.ratio(leak.worst_first(1)[0])


def cells_of(found):
    tally, sizes = found.tally, {}
    for secret, cell, count in zip(tally.secret, tally.cell, tally.count, strict=True):
        sizes[found.secret_label(secret), found.cell_label(cell)] = int(count)
    return sizes


def test_every_node_is_what_the_engine_counts():
    with open_table(people(1)) as table:
        plan = Policy("s", ["age", "zip", "job"])
        lattice = Lattice.of(
            plan, Counted.of(count_cells(table, plan), ["s"], ["age", "zip", "job"]), table.columns
        )
        nodes = nodes_of(lattice)
        assert len(nodes) > 60
        for node in nodes[:: len(nodes) // 25]:
            policy = lattice.policy_at(node)
            again = Counted.of(count_cells(table, policy), ["s"], [item.column for item in policy.release])
            assert cells_of(lattice.count_at(node)[0]) == cells_of(again)


def test_leakage_and_entropy_never_rise_on_the_way_up():
    plan = Policy("s", ["age", "job"], scales={"age": "numeric"})
    lattice = Lattice.of(plan, counted(people(2), ["age", "job"]), KINDS)
    tallies = {node: lattice.count_at(node)[0].tally for node in nodes_of(lattice)}
    leaks = {node: worst(tally) for node, tally in tallies.items()}
    pairs = 0
    for node in tallies:
        for other in lattice.above(node, [0, 1]):
            if other in tallies:
                pairs += 1
                assert leaks[other] <= leaks[node]
                assert entropy_of(tallies[other]) <= entropy_of(tallies[node]) + 1e-12
    assert pairs > 50


def test_hidden_cells_and_noise_may_leak_more_when_columns_are_coarser():
    """Why only plans without them are pruned: four people are hidden as planned, two of them show when coarser."""
    rows = [("x", "10"), ("x", "11"), ("y", "20"), ("y", "30")] + [(s, "50") for s in "xy"] * 5
    plan = Policy("s", [Released("age", Bins(width=1))], min_count=2)
    fine = Counted.of(oracle.counts_of(rows), ["s"], ["age"])
    coarse = Counted.of(oracle.counts_of([(s, age[0]) for s, age in rows]), ["s"], ["age"])
    assert worst(apply_policy(fine, plan).tally) == 1
    assert worst(apply_policy(coarse, plan).tally) == 2
    noisy = Policy("s", [Released("age", mechanism=RandomizedResponse(log_of(2)))])
    rows = [("x", str(place)) for place in range(10)] + [("y", str(place)) for place in range(10, 20)]
    fine = Counted.of(oracle.counts_of(rows), ["s"], ["age"])
    coarse = Counted.of(oracle.counts_of([(s, s) for s, _ in rows]), ["s"], ["age"])
    assert worst(apply_policy(coarse, noisy).tally) > worst(apply_policy(fine, noisy).tally)


def brute_force(lattice, budget, *, hiding):
    """The most detail of any node that meets the budget, with any min_count or with the plan's own."""
    best = -math.inf
    for node in nodes_of(lattice):
        policy, (found, _) = lattice.policy_at(node), lattice.count_at(node)
        sizes = sorted(set(found.tally.of_cell.tolist())) if hiding else []
        own = policy.min_count
        for least in [own, *(size + 1 for size in sizes if size + 1 > (own or 0))]:
            changed = replace(policy, min_count=least)
            release = apply_policy(found, changed)
            if release.tally.shape[1] > 1 and math.log(worst(release.tally)) <= budget:
                best = max(best, detail_of(release))
    return best


@pytest.mark.parametrize("min_count", [None, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("budget", [0.15, 0.4, 0.8])
def test_optimal_is_optimal(seed, budget, min_count):
    names = ["age", "job"] if seed % 2 else ["age", "zip", "job"]
    found = counted(people(seed, 120 if seed % 2 else 60), names)
    plan = Policy("s", names, min_count=min_count)
    lattice = Lattice.of(plan, found, KINDS)
    remedies = remedies_for(found, plan, budgets_of(planned(policy=plan, budget=budget)), KINDS).found
    whole = entropy_of(found.tally)
    for hiding in (False, True):
        best = brute_force(lattice, budget, hiding=hiding) / whole
        kept = [
            remedy.kept
            for remedy in remedies
            if "randomised" not in change_words(plan, remedy)
            and (hiding or remedy.policy.min_count == min_count)
        ]
        assert max(kept, default=-math.inf) == pytest.approx(best, abs=1e-12)
    assert all(remedy.kind == "optimal" for remedy in remedies)
    for column in names:
        single = [
            node
            for node in nodes_of(lattice)
            if not any(node[at] for at, name in enumerate(names) if name != column)
        ]
        releases = [
            (apply_policy(lattice.count_at(node)[0], lattice.policy_at(node)), node) for node in single
        ]
        meeting = [
            detail_of(release) / whole
            for release, node in releases
            if release.tally.shape[1] > 1 and math.log(worst(release.tally)) <= budget
        ]
        said = [
            remedy.kept for remedy in remedies if f"ways to coarsen {column} " in reason_words(plan, remedy)
        ]
        assert not said or said[0] == pytest.approx(max(meeting), abs=1e-12)


def test_a_search_that_is_cut_short_says_so_and_still_meets_the_budget(monkeypatch):
    frame = people(3)
    full = audit(frame, "s", ["age", "zip", "job"], budget=0.4)
    monkeypatch.setattr(climbing, "MOST_NODES", 12)
    cut = audit(frame, "s", ["age", "zip", "job"], budget=0.4)
    several = [remedy for remedy in cut.remedies if "columns" in reason_words(cut.policy, remedy)]
    assert several
    for remedy in several:
        assert remedy.kind == "heuristic"
        assert "greedy search stopped after" in reason_words(cut.policy, remedy)
        assert ",;" not in reason_words(cut.policy, remedy)
        assert audit(frame, policy=remedy.policy).deciding.worst.leakage <= 0.4
    assert max(remedy.kept for remedy in cut.remedies) <= max(remedy.kept for remedy in full.remedies)


def test_a_large_lattice_is_bounded(monkeypatch):
    """Eight columns of four levels or more: over 60,000 nodes, of which a few hundred are counted."""
    monkeypatch.setattr(climbing, "MOST_NODES", 150)
    generator = np.random.default_rng(5)
    secret = generator.integers(0, 2, 300)
    columns = {f"c{place}": (secret * 3 + generator.integers(0, 6, 300)).astype(str) for place in range(8)}
    frame = pd.DataFrame({"s": secret.astype(str), **columns})
    found = audit(frame, "s", list(columns), budget=0.6)
    best = found.remedies[0]
    assert best.kind == "heuristic"
    assert audit(frame, policy=best.policy).deciding.worst.leakage.ratio == best.leakage.ratio
    assert best.leakage <= 0.6


def test_a_hierarchy_is_climbed_and_the_policy_file_does_it(tmp_path, monkeypatch):
    frame = people(4)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(
        "job,group,sector\nbaker,food,trade\nsmith,craft,trade\nnurse,care,public\njudge,law,public\nactor,art,public\n"
    )
    plan = Policy.from_flags(["s"], ["job"], mapping=["job=jobs.csv:0"])
    leaks = [
        audit(frame, "s", [Released("job", level)]).deciding.worst.leakage
        for level in (plan.release[0].recoding, *plan.release[0].recoding.higher())
    ]
    assert leaks[2] < leaks[1] <= leaks[0]
    found = audit(frame, policy=plan, budget=float(leaks[2]) + 1e-9)
    climbed = next(remedy for remedy in found.remedies if "level 2" in change_words(found.policy, remedy))
    assert climbed.leakage.ratio == leaks[2].ratio
    assert climbed.kind == "optimal"


def test_where_nothing_meets_the_budget_the_closest_is_told():
    frame = people(1)
    found = audit(frame, "s", ["age", "job"], budget=0.0)
    assert found.remedies == ()
    assert found.closest.leakage > 0
    assert (
        audit(frame, policy=found.closest.policy).deciding.worst.leakage.ratio == found.closest.leakage.ratio
    )
    told = " ".join(paragraphs(found))
    assert "No change" in told
    assert f"The closest: {change_words(found.policy, found.closest)}" in told


def test_only_one_column_randomised_is_the_last_resort():
    frame = people(1)
    found = audit(frame, "s", ["age", "job"], budget=0.003)
    assert found.remedies
    assert all(
        "leave out" in change_words(found.policy, remedy)
        and "randomised" in change_words(found.policy, remedy)
        for remedy in found.remedies
    )
    for remedy in found.remedies:
        assert audit(frame, policy=remedy.policy).deciding.worst.leakage <= 0.003


def test_a_plan_with_noise_and_hidden_cells_gets_remedies_that_hold():
    frame = people(6)
    noisy = Released("job", mechanism=RandomizedResponse(1.0))
    found = audit(frame, policy=Policy("s", ["age", noisy], min_count=2), budget=0.3)
    assert found.remedies
    for remedy in found.remedies:
        assert audit(frame, policy=remedy.policy).deciding.worst.leakage.ratio == remedy.leakage.ratio
        assert remedy.leakage <= 0.3


def test_no_min_count_is_passed_over_that_would_do():
    whole = counted(people(7), ["age", "job"])
    tally = whole.tally
    for budget in (0.1, 0.3, 0.7, 1.2):
        plan = Policy("s", ["age", "job"], budget=budget)
        offered = set(min_counts(whole, budgets_of(plan), plan, noise=False))
        for size in sorted(set(tally.of_cell.tolist()))[:-1]:
            meets = math.log(worst(whole.suppress(int(size) + 1).tally)) <= budget
            assert not meets or int(size) + 1 in offered


def test_sums_are_made_a_block_at_a_time(monkeypatch):
    found, plan = counted(people(7), ["age", "job"]), Policy("s", ["age", "job"], budget=0.8)
    whole = list(min_counts(found, budgets_of(plan), plan, noise=False))
    assert whole
    monkeypatch.setattr("tightlip.auditing.remedy._MOST_SUMS", 6)
    assert list(min_counts(found, budgets_of(plan), plan, noise=False)) == whole


def test_a_column_of_one_value_stays_or_goes_without_harm():
    frame = people(2).assign(land="de")
    found = audit(frame, "s", ["land", "job"], budget=0.2)
    assert found.remedies
    for remedy in found.remedies:
        assert audit(frame, policy=remedy.policy).deciding.worst.leakage <= 0.2


def test_leakage_of_a_union_is_at_most_the_worst_of_its_parts():
    """The step behind monotonicity, in fractions: P(x | C) is an average of the P(x | C_i)."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        parts = generator.integers(0, 6, (3, 4)) + (np.arange(4) == 0)
        prior = [Fraction(int(total), int(parts.sum())) for total in parts.sum(axis=0) + 1]

        def lift(part, prior=prior):
            return max(Fraction(int(n), int(part.sum())) / p for n, p in zip(part, prior, strict=True))

        assert lift(parts.sum(axis=0)) <= max(map(lift, parts))
