"""Audits end to end: views, columns, remedies that are counted anew, samples, words and records."""

import json
import os
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import audit_oracle as oracle
import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.counting import Cells
from tightlip.auditing.leakage import worst_leakage
from tightlip.auditing.plan import apply_policy
from tightlip.auditing.risk import cell_risks, suppress_counts
from tightlip.auditing.run import audit, audit_counts
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput, WrongType
from tightlip.report.audit_record import audit_report
from tightlip.report.audit_words import change_words, headline, paragraphs
from tightlip.report.disclosure import Names
from tightlip.table.counts import count_cells
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins
from tightlip.table.source import open_table

COLUMNS = ["illness", "job", "age", "zip", "sex"]


def people(count=600, seed=2):
    generator = np.random.default_rng(seed)
    sex = generator.choice(["f", "m"], count)
    age = generator.integers(20, 60, count)
    illness = np.where(generator.random(count) < 0.05 + 0.1 * (age > 45), "qqq", "www")
    illness[generator.random(count) < 0.2] = "rrr"
    job = generator.choice(["office", "field"], count)
    region = generator.choice(["10115", "10117", "20095", "20097"], count)
    return pd.DataFrame({"illness": illness, "job": job, "age": age, "zip": region, "sex": sex})


def rows_of(frame, columns):
    return [tuple(map(str, row)) for row in frame[columns].itertuples(index=False)]


def test_numbers_are_those_of_the_rows():
    frame = people()
    found = audit(frame, "illness", ["zip", "sex"], delta="1/20", budget=0.2)
    joint = oracle.joint_of(rows_of(frame, ["illness", "zip", "sex"]))
    assert found.total == 600
    assert found.deciding.worst.leakage.ratio == max(oracle.lifts(joint).values())
    for effect in found.deciding.columns:
        place = ["zip", "sex"].index(effect.column)
        assert effect.alone.ratio == max(oracle.lifts(oracle.keep_columns(joint, [place])).values())
        assert effect.without.ratio == max(oracle.lifts(oracle.keep_columns(joint, [1 - place])).values())
    assert found.deciding.columns[0].over_without <= found.deciding.columns[1].over_without
    assert found.verdict == (found.deciding.worst.leakage <= 0.2)


def test_several_secrets_are_seen_each_and_jointly():
    found = audit(people(), ["illness", "job"], ["zip", "sex"], statistic=["illness"])
    assert list(found.views) == ["illness × job", "illness", "job"]
    joint, one, two = found.views.values()
    assert joint is found.deciding
    assert max(one.worst.leakage, two.worst.leakage) <= joint.worst.leakage
    assert one.envelope.lower <= joint.envelope.upper
    assert joint.sml is two.sml is None
    assert one.sml.upper <= joint.maximal_leakage + 1e-12
    assert (
        one.sml.upper >= one.maximal_leakage - 1e-12
    )  # rows of one group, mixed, say less than the best of them
    rows = rows_of(people(), ["job", "zip", "sex"])
    assert two.worst.leakage.ratio == max(oracle.lifts(oracle.joint_of(rows)).values())
    assert list(audit(people(), ["illness", "job"], ["zip", "sex"]).views) == ["illness", "job"]
    asked = audit(people(), ["illness", "job"], ["zip", "sex"], jointly=True, budget={"job": "3x"})
    assert [view.verdict is None for view in asked.views.values()] == [True, True, False]


def test_one_column_alone_leaves_nothing_without_it():
    found = audit(people(), "illness", ["sex"])
    assert found.deciding.columns[0].without == 0
    assert found.deciding.columns[0].alone.ratio == found.deciding.worst.leakage.ratio
    assert found.verdict is None
    assert found.remedies == ()


def recounted(frame, policy):
    """The worst leakage of a policy, audited from scratch."""
    return audit(frame, policy=policy).deciding.worst.leakage


def test_one_bin_for_everybody_is_called_leaving_the_column_out():
    frame = pd.DataFrame({"age": [1, 5, 9] * 8, "sex": ["f", "m"] * 12, "ill": (["yes"] + ["no"] * 2) * 8})
    policy = Policy("ill", [Released("age", Bins(width=2)), "sex"])
    changes = [change_words(policy, remedy) for remedy in audit(frame, policy=policy, budget=0.1).remedies]
    assert "leave out age" in changes
    assert not any("bins of" in change for change in changes)


def test_remedies_meet_the_budget_when_counted_anew():
    frame = people()
    found = audit(frame, "illness", ["age", "zip", "sex"], budget=1.0)
    assert found.verdict is False
    assert len({change_words(found.policy, remedy).split()[0] for remedy in found.remedies}) >= 3
    assert [remedy.kept for remedy in found.remedies] == sorted(
        (r.kept for r in found.remedies), reverse=True
    )
    for remedy in found.remedies:
        assert remedy.leakage <= 1.0
        assert 0 <= remedy.kept <= 1
        assert recounted(frame, remedy.policy).ratio == remedy.leakage.ratio


def test_the_smallest_min_count_is_smallest():
    frame = people()
    found = audit(frame, "illness", ["age", "sex"], budget=1.0)
    hidden = next(remedy for remedy in found.remedies if remedy.policy.min_count)
    assert hidden.kind == "optimal"
    for least in range(1, hidden.policy.min_count):
        assert recounted(frame, replace(hidden.policy, min_count=least)) > 1.0


def test_hiding_more_is_not_called_least_where_hiding_less_would_do():
    """That a cell is hidden is told without noise: a plan with both may leak less when nothing is hidden."""
    generator = np.random.default_rng(3)
    refuted = 0
    for _ in range(40):
        rows = zip(
            generator.choice(list("xy"), 30),
            generator.choice(list("abc"), 30, p=[0.7, 0.2, 0.1]),
            generator.choice(list("01"), 30, p=[0.9, 0.1]),
            strict=True,
        )
        frame = pd.DataFrame(rows, columns=["s", "a", "b"])
        noisy = Released("a", mechanism=RandomizedResponse(tl.log_of(2)))
        plan = Policy("s", [noisy, Released("b")], min_count=3)
        counted = Counted.of(count_cells(open_table(frame), replace(plan, min_count=None)), ["s"], ["a", "b"])
        found = audit_counts(
            counted,
            plan,
            kinds={},
            delta=Fraction(1, 10),
            budget=tl.log_of("3/2"),
        )
        bare = worst_leakage(apply_policy(counted, replace(plan, min_count=None)).tally)
        for remedy in found.remedies:
            if remedy.policy.min_count not in (None, 3) and bare.ratio <= Fraction(3, 2):
                refuted += 1
                assert remedy.kind == "heuristic"
    assert refuted


def test_the_largest_epsilon_on_the_grid_is_largest():
    frame = people(300)
    whole = audit(frame, "illness", ["zip", "sex"]).deciding
    budget = (float(whole.worst.leakage) + float(whole.columns[0].without)) / 2
    found = audit(frame, "illness", ["zip", "sex"], budget=budget)
    noisy = [
        remedy for remedy in found.remedies if "randomised response" in change_words(found.policy, remedy)
    ]
    assert noisy
    for remedy in noisy:
        assert remedy.kind == "optimal"
        item = next(item for item in remedy.policy.release if item.mechanism)
        more = replace(item, mechanism=RandomizedResponse(item.mechanism.epsilon + 0.05))
        release = tuple(more if other is item else other for other in remedy.policy.release)
        assert recounted(frame, replace(remedy.policy, release=release)) > budget


def test_noise_that_makes_too_many_cells_is_passed_over(monkeypatch):
    frame = people(200)
    monkeypatch.setattr("tightlip.auditing.counted.MOST_PAIRS", 10)
    found = audit(frame, "illness", ["age", "zip"], budget=1.0)
    changes = [change_words(found.policy, remedy) for remedy in found.remedies]
    assert changes
    assert not any("randomised" in change for change in changes)


def test_small_cells_are_hidden_after_another_change():
    generator = np.random.default_rng(0)
    rows = [(x, a, b) for x in "xy" for a in "012345" for b in "uv" for _ in range(20)]
    rows += [("x", "0", f"rare{place}") for place in range(3)] + [("y", "1", "rare0")]
    rows += [("x", str(place), "u") for place in range(6, 12)]
    rows += [(x, a, "u") for x, a in zip("xxxy", "6789", strict=True)] * 30
    generator.shuffle(rows)
    frame = pd.DataFrame(rows, columns=["s", "a", "b"])
    found = audit(frame, "s", ["a", "b"], budget=0.12)
    for remedy in found.remedies:
        assert recounted(frame, remedy.policy).ratio == remedy.leakage.ratio
        assert remedy.leakage <= 0.12
    assert found.remedies


def hard(columns=4):
    """Every column tells the secret a little; only few may stay."""
    generator = np.random.default_rng(1)
    secret = generator.integers(0, 2, 400)
    data = {"s": secret.astype(str)}
    for place in range(columns):
        flip = generator.random(400) < 0.30 + 0.04 * place
        data[f"c{place}"] = np.where(flip, 1 - secret, secret).astype(str)
    return pd.DataFrame(data)


def test_two_changes_where_one_is_not_enough():
    frame = hard(3)
    names = ["c0", "c1", "c2"]
    budget = float(min(audit(frame, "s", [name]).deciding.worst.leakage for name in names)) + 1e-9
    found = audit(frame, "s", names, budget=budget)
    assert "leave out c0 and c1" in {change_words(found.policy, remedy) for remedy in found.remedies}
    for remedy in found.remedies:
        assert recounted(frame, remedy.policy).ratio == remedy.leakage.ratio
        assert remedy.leakage <= budget


def test_columns_are_left_out_until_the_budget_is_met():
    frame = hard()
    alone = [audit(frame, "s", [f"c{place}"]).deciding.worst.leakage for place in range(4)]
    budget = float(min(alone)) + 1e-9
    without = [
        audit(frame, "s", [f"c{a}", f"c{b}"]).deciding.worst.leakage for a, b in combinations(range(4), 2)
    ]
    assert min(without) > budget
    found = audit(frame, "s", [f"c{place}" for place in range(4)], budget=budget)
    assert found.remedies
    for remedy in found.remedies:
        assert recounted(frame, remedy.policy) <= budget


def test_where_nothing_helps_no_remedy_is_made_up():
    frame = pd.DataFrame({"s": list("xy") * 4, "a": list("01") * 4})
    found = audit(frame, "s", ["a"], budget=0.0)
    assert found.verdict is False
    assert found.remedies == ()
    assert "No change" in " ".join(paragraphs(found))


def test_noise_in_the_plan_lowers_the_leakage_and_is_measured_exactly():
    frame = people()
    plan = Policy("illness", [Released("sex", mechanism=RandomizedResponse(tl.log_of(3))), Released("zip")])
    found = audit(frame, policy=plan)
    joint = oracle.joint_of(rows_of(frame, ["illness", "sex", "zip"]))
    noisy = oracle.randomise(joint, 0, ["f", "m"], Fraction(3))
    assert found.deciding.worst.leakage.ratio == max(oracle.lifts(noisy).values())
    assert found.deciding.worst_cells[0].size < 600
    shy = audit(frame, policy=replace(plan, min_count=3), budget=0.1)
    assert shy.total == 600
    for remedy in shy.remedies:
        assert recounted(frame, remedy.policy) <= 0.1


def test_suppressed_cells_are_one_cell():
    frame = people()
    found = audit(frame, policy=Policy("illness", ["age", "sex"], min_count=8), code_seed=1)
    joint = oracle.joint_of(rows_of(frame, ["illness", "age", "sex"]))
    hidden = oracle.suppress(joint, 600, 8)
    assert found.deciding.worst.leakage.ratio == max(oracle.lifts(hidden).values())
    named = [Names(found, found.deciding).cell(cell) for cell in range(found.deciding.counted.tally.shape[1])]
    assert "the cell of all suppressed people" in named


def test_samples_are_bounded_not_plugged_in():
    frame = people(3000)
    exact = audit(frame, "illness", ["zip", "sex"], budget=1.0)
    found = audit(frame, "illness", ["zip", "sex"], budget=1.0, sample=SampleMode())
    view = found.deciding
    assert (found.mode, found.confidence) == ("sample", 0.95)
    assert view.worst.leakage > exact.deciding.worst.leakage
    assert view.at_least <= exact.deciding.worst.leakage
    assert view.envelope.upper >= exact.deciding.envelope.upper
    assert view.maximal_leakage > exact.deciding.maximal_leakage
    assert view.ldp == np.inf
    assert all(point.at_least <= point.above for point in view.tail)
    assert view.certified.rarest < 0.01
    assert found.verdict is True
    assert exact.deciding.share_above_budget == 0 < view.share_above_budget <= 0.01
    assert audit(frame, "illness", ["zip", "sex"], budget=0.3, sample=SampleMode()).verdict is False
    told = " ".join([headline(found), *paragraphs(found)])
    assert "95 % confidence" in told
    assert ("too small to certify" in told) == (view.certified.uncertified_cells > 0)


def test_a_sample_with_all_cells_seen_can_keep_a_budget():
    frame = people(20000)
    mode = SampleMode(0.9, cells_complete=True)
    found = audit(frame, "illness", ["zip", "sex"], budget=1.0, sample=mode)
    assert found.verdict is True
    assert found.deciding.worst.leakage < 1.0
    assert "is proved to be at most 1 %" in paragraphs(found)[0]
    worse = audit(frame, "illness", ["age", "zip", "sex"], budget=1.0, sample=mode)
    assert worse.verdict is False
    assert all(remedy.kind == "heuristic" for remedy in worse.remedies)
    assert {"leave out age"} <= {change_words(worse.policy, remedy) for remedy in worse.remedies}
    assert "To meet the budget" in " ".join(paragraphs(worse))


@pytest.mark.parametrize("sample", [True, 0.95, "sample", SampleMode])
def test_a_sample_is_asked_for_by_its_mode(sample):
    with pytest.raises(WrongType, match=r"sample must be a SampleMode, got .*; write SampleMode\(0.95\)"):
        audit(people(12), "illness", ["age"], sample=sample)
    with pytest.raises(WrongType, match="cells_complete must be True or False, got"):
        SampleMode(0.9, "no")


def test_one_cell_too_small_is_told_in_the_singular():
    found = audit(people(12), "illness", ["age", "zip"], sample=SampleMode())
    view = found.deciding
    for count, words in ((1, "; 1 cell ("), (2, "; 2 cells (")):
        few = replace(view, certified=replace(view.certified, uncertified_cells=count))
        said = paragraphs(replace(found, views={view.name: few}))
        assert any(words in line for line in said)


def test_noise_on_too_many_cells_offers_only_what_there_is():
    noisy = Released("age", mechanism=RandomizedResponse(1))
    with (
        open_table(people(12)) as table,
        pytest.raises(InvalidInput, match=r"on \"age\": .*got .*; coarsen or drop columns\.$"),
    ):
        Cells.of(table, Policy("illness", [noisy, "zip"]), max_cells=2)


def test_tiny_samples_say_that_they_say_nothing():
    found = audit(people(12), "illness", ["age", "zip"], sample=SampleMode())
    assert found.deciding.certified.uncertified_share == 1
    assert "by at most a factor of" in headline(found)
    assert headline(found).endswith(" for everybody.")
    assert "does not prove" in " ".join(paragraphs(found))


def test_a_sample_proves_what_can_be_nearly_ruled_out():
    frame = pd.DataFrame({"s": ["x"] * 500 + ["y"] * 500, "y": ["u"] * 500 + ["v"] * 500})
    found = audit(frame, "s", ["y"], sample=SampleMode())
    assert found.deciding.pmc.posterior < 0.05
    assert "less likely: from at least 4" in " ".join(paragraphs(found))
    assert found.deciding.at_least > 0.5


def test_a_sample_of_a_plan_with_noise_is_audited_from_the_rows_before_the_noise():
    frame = people(3000)
    noisy = Released("sex", mechanism=RandomizedResponse(1))
    found = audit(frame, policy=Policy("illness", [noisy, Released("zip")]), budget=1.0, sample=SampleMode())
    exact = audit(frame, policy=Policy("illness", [noisy, Released("zip")]))
    assert found.deciding.envelope.upper >= exact.deciding.envelope.upper
    assert found.deciding.at_least <= exact.deciding.worst.leakage
    assert sum(risk.size for risk in found.deciding.worst_cells) == pytest.approx(3000)
    assert "randomised" not in " ".join(paragraphs(found))
    assert found.deciding.certified.uncertified_cells == 0
    assert "too small to certify" not in " ".join(paragraphs(found))


def test_a_sample_cannot_judge_cells_that_depend_on_it():
    plan = Policy("illness", ["sex"], min_count=5)
    with pytest.raises(InvalidInput, match="min_count hides cells that depend on the sample"):
        audit(people(30), policy=plan, sample=SampleMode())


def test_arguments_are_checked():
    frame = people(30)
    with pytest.raises(InvalidInput, match="both be given"):
        audit(frame, "illness")
    assert audit(frame, "illness", ["sex"], policy=Policy("illness", ["age"])).policy == Policy(
        "illness", ["age", "sex"]
    )
    with pytest.raises(WrongType, match="must be a Policy"):
        audit(frame, policy={"secret": "illness"})
    with pytest.raises(InvalidInput, match="delta must be in"):
        audit(frame, "illness", ["sex"], delta=0)
    with pytest.raises(InvalidInput, match="budget must be"):
        audit(frame, "illness", ["sex"], budget=-1)


def test_bins_are_those_of_a_policy():
    frame = people()
    for size, bins in ((20, Bins(width=20)), ([30, 60], Bins(edges=[30, 60]))):
        short = audit(frame, "illness", ["age", "sex"], bins={"age": size}, code_seed=1)
        policy = Policy("illness", [Released("age", bins), "sex"])
        assert short.policy == policy
        assert short.deciding.worst == audit(frame, policy=policy, code_seed=1).deciding.worst
    for given, words in (
        ({"zip": 3}, 'bins column "zip" is not there'),
        ({"age": 0}, "bin width must be positive"),
        (10, "bins must map columns to settings"),
    ):
        with pytest.raises((InvalidInput, WrongType), match=words):
            audit(frame, "illness", ["age"], bins=given)
    with pytest.raises(InvalidInput, match="without another recoding"):
        audit(frame, "illness", [Released("age", Bins(width=5))], bins={"age": 10})
    plan = Policy("illness", [Released("age", Bins(width=5)), "sex"])
    assert audit(frame, policy=plan, bins={"age": 20}).policy.release[0].recoding == Bins(width=20)


SECRETS = ("qqq", "www", "rrr")


def record_of(found, *, show_values):
    told = {"table": "t", "command": "c", "version": "0", "made": "2026-01-02T03:04:05Z"}
    return audit_report(found, **told, unit="nats", show_values=show_values).to_dict()


@pytest.mark.parametrize("sample", [None, SampleMode()])
def test_no_secret_value_is_told_without_leave(sample):
    found = audit(people(), ["illness", "job"], ["age", "zip", "sex"], budget=0.5, sample=sample)
    told = json.dumps(record_of(found, show_values=False), allow_nan=False)
    assert not any(value in told for value in (*SECRETS, "office", "field"))
    assert "secret 1" in told
    shown = json.dumps(record_of(found, show_values=True), allow_nan=False)
    assert all(value in shown for value in SECRETS)
    certificate = found.deciding.envelope.certificate
    if certificate is not None:
        assert not any(value in certificate.to_json() for value in SECRETS)


def test_small_cells_are_codes_and_large_ones_are_named():
    found = audit(people(), "illness", ["age", "sex"], code_seed=3)
    names, open_names = (Names(found, found.deciding, show) for show in (False, True))
    tally = found.deciding.counted.tally
    sizes = tally.sizes.tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert (tally.cells > 1).any()
    for cell, size in enumerate(sizes):
        assert names.cell(cell).startswith(f"cell {cell + 1}") == (size < 10)
        assert ("like it" in open_names.cell(cell)) == (tally.cells[cell] > 1)
        assert (
            "like it" not in names.cell(cell) or size >= 10
        )  # beside numbers of people it would tell the size
        assert open_names.cell(cell).startswith("age = ")
    shares = [float(share) for share in found.deciding.shares]
    assert shares == sorted(shares, reverse=True)


def test_codes_of_equal_sizes_do_not_follow_the_alphabet():
    frame = pd.DataFrame({"s": list("abcdef") * 2, "y": list("uv") * 6})
    orders = {
        tuple(found.deciding.counted.secret_label(place) for place in range(6))
        for found in (audit(frame, "s", ["y"], code_seed=seed) for seed in range(8))
    }
    assert len(orders) > 3
    fixed = [audit(frame, "s", ["y"], code_seed=5).deciding.counted.secret_codes.tolist() for _ in range(2)]
    assert fixed[0] == fixed[1]


def test_words_survive_strange_values_and_columns():
    frame = pd.DataFrame({"s\n[bold]": ["a\x1b[31m", None, "b" * 99] * 4, "y": ["=1+1", None, "\u202e"] * 4})
    found = audit(frame, "s\n[bold]", ["y"], budget=0.1)
    told = [headline(found, show_values=True), *paragraphs(found, show_values=True)]
    names = Names(found, found.deciding, True)
    every = [names.secret(place) for place in range(3)] + [names.cell(place) for place in range(3)]
    assert all(character.isprintable() for text in every for character in text)
    assert any("missing" in text for text in every)
    assert told


def test_nothing_given_away_is_said_so():
    rows = pd.DataFrame(oracle.every_row("xy", "ab"), columns=["s", "y"])
    found = audit(rows, "s", ["y"], budget=0.1)
    assert headline(found) == "The release gives nothing away about s."
    assert found.verdict is True
    assert paragraphs(found)[0].startswith("s: within the budget of 0.1 nats;")
    assert "nobody's cell" in " ".join(paragraphs(found))
    assert "nothing can be ruled out" in " ".join(paragraphs(found))


def test_risks_by_record_are_those_of_the_cells():
    frame = people(80)
    plan = Policy("illness", ["zip", "sex"], min_count=8)
    counts = count_cells(open_table(frame), plan)
    found = cell_risks(counts, plan)
    worst = audit(frame, policy=plan).deciding.worst.leakage
    assert max(found.leakage) >= worst
    assert max(found.leakage) <= worst + 1e-12
    sizes = counts.sizes()
    assert found.posterior.tolist() == [
        int(count) / int(sizes[cell]) for count, cell in zip(counts.count, counts.cell_of, strict=True)
    ]
    noisy = Policy("illness", [Released("sex", mechanism=RandomizedResponse(1))])
    with pytest.raises(InvalidInput, match="without noise"):
        cell_risks(count_cells(open_table(frame), noisy), noisy)


@pytest.mark.parametrize("min_count", [None, 2, 8, 1000])
def test_risks_by_record_come_from_the_counts_of_the_report(min_count):
    frame = people(80)
    plan = Policy(["illness", "sex"], ["zip"], min_count=min_count)
    found = suppress_counts(audit(frame, policy=plan))
    assert found.same_as(count_cells(open_table(frame), plan))
    assert found.total == 80


def adult():
    folder = os.environ.get("TIGHTLIP_ADULT")
    if folder is None:
        assert os.environ.get("CI") != "true", "set TIGHTLIP_ADULT to the folder of adult.data"
        pytest.skip("TIGHTLIP_ADULT is not set: the folder of adult.data")
    names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
    names += ["relationship", "race", "sex"]
    names += ["capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]
    return pd.read_csv(Path(folder) / "adult.data", names=names, skipinitialspace=True)


def test_the_adult_table_gives_what_pandas_gives():
    frame = adult()
    released = ["sex", "education", "marital-status"]
    found = audit(frame, "income", released, budget=1.0)
    counts = frame.groupby([*released, "income"]).size().unstack("income", fill_value=0)
    posterior = counts.div(counts.sum(axis=1), axis=0)
    prior = frame["income"].value_counts(normalize=True)
    expected = np.log((posterior / prior).to_numpy().max())
    assert abs(float(found.deciding.worst.leakage) - expected) < 1e-12
    assert found.total == 32561
    plain = oracle.joint_of(rows_of(frame, ["income", *released]))
    assert found.deciding.worst.leakage.ratio == max(oracle.lifts(plain).values())
    for remedy in found.remedies:
        assert recounted(frame, remedy.policy).ratio == remedy.leakage.ratio
