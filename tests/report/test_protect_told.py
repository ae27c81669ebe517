"""What the report of a protection says is true of the release: exceptions, limits, weights, bounds and names."""

import math
from dataclasses import replace
from fractions import Fraction
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import tightlip as tl
from audit_example import example_audit, example_report
from protect_example import example_protection, example_table, protect_report
from tightlip.numeric.quantity import Nats
from tightlip.protection.curve import Curve, CurvePoint
from tightlip.protection.facts import release_facts
from tightlip.report.audit_chart import tail_chart
from tightlip.report.audit_words import protect_call
from tightlip.report.protect import protect_html, protect_record, protect_text
from tightlip.report.protect_chart import BOUND, protect_charts, trade_chart

LEVELS = {"age": ["as is", {"20": "a", "21": "a", "22": "b", "23": "b"}, "out"], "town": ["as is", "out"]}


def protect(**options):
    given = {"budget": "factor 2", "levels": LEVELS, "seconds": 2} | options
    return tl.protect(example_table(), "ill", ["age", "town"], **given)


def printed(report):
    out = StringIO()
    Console(file=out, width=120).print(protect_text(report))
    return " ".join(out.getvalue().split())


def test_people_above_the_budget_are_an_exception_everywhere():
    found = protect(delta=0.05)
    assert 0 < found.exposed <= Fraction(1, 20)
    report = protect_record(found)
    shown = report.verdict.split("all but ")[1].split(" %")[0]
    assert Fraction(shown) >= 100 * found.exposed > Fraction(shown) - Fraction(1, 100)
    assert f"for all but {shown} % of people, no ill becomes more than twice as likely" in report.headline
    for reader in report.readers:
        assert not reader.covered
        assert reader.status == f"protected for all but {shown} % of people"
        assert "does not hold" in reader.words
    assert "5 % of people were allowed above" in report.verdict
    assert release_facts(found).proved["protects_against"].startswith(f"for all but {shown} % of people")
    none = protect()
    assert [reader.status for reader in protect_record(none).readers] == ["protected", "protected"]
    assert "protects_against" not in release_facts(none).proved


def test_what_holds_detail_back_is_not_told_before_it_is_known():
    found = example_protection()
    prices = found.certificate.prices
    empty = replace(prices, value=prices.value[:0], limit=prices.limit[:0], price=prices.price[:0])
    stopped = replace(found, certificate=replace(found.certificate, prices=empty, upper=1.0), finished=False)
    assert protect_record(stopped).limits_note == (
        "What holds detail back is not worked out; the search was stopped."
    )
    everything = protect(budget="factor 1000")
    assert everything.kept == 1
    assert protect_record(everything).limits_note == "No limit holds detail back."


def test_each_of_several_limits_is_told_and_so_is_the_smallest_group():
    found = protect(budget=["factor 8", {"ill": "95%"}], pmc="factor 50", min_count=12)
    report = protect_record(found)
    assert "all 3 limits hold" in report.headline
    for limit in (
        "no ill becomes more than 8 times as likely",
        "no ill becomes more than 95 % likely",
        "no ill becomes more than 50 times less likely",
        "at least 12 people share every published value",
    ):
        assert limit in report.verdict
    assert "at least 12 people share every published value" in report.plan
    single = protect_record(protect(min_count=12))
    assert single.verdict.endswith("(a factor of 2). At least 12 people share every published value.")
    assert "12" not in protect_record(protect()).verdict


def test_weighted_detail_is_what_the_sentence_says():
    """The number from the rows, by the definition that is printed."""
    found = protect(weights={"age": 3})
    table = example_table()
    rows = list(zip(table.age, table.town, strict=True))
    local = found.local
    told = {
        local.cells[cell]: local.published[value] for cell, value in zip(local.cell, local.value, strict=True)
    }

    def true_of(value):
        groups = LEVELS["age"][1]
        return [
            (age, town)
            for age, town in rows
            if value[0] in (age, groups[age], "*") and value[1] in (town, "*")
        ]

    def content(value):
        people = true_of(value)
        ages = {age for age, _ in people}
        having = sum(age in ages for age, _ in rows)
        return math.log(len(rows) / len(people)) + 2 * math.log(len(rows) / having)

    kept = sum(content(told[row]) for row in rows) / sum(content(row) for row in rows)
    assert found.kept == pytest.approx(kept, rel=1e-9)
    report = protect_record(found)
    assert "of the weighted detail" in report.headline
    assert "Detail is weighted: age 3, town 1." in report.notes
    assert any(
        "adds, w − 1 times, the logarithm of 1 over the share of all people" in one for one in report.method
    )
    assert "weighted detail kept" in printed(report)
    assert "weighted" not in printed(protect_record(protect()))


def test_bounds_stand_only_where_they_were_worked_out():
    found = example_protection()
    own = CurvePoint(found.budget, found.kept, found.information, found.bound, found.leakage, True)
    lent = replace(
        own, budget=tl.log_of(Fraction(5, 4)), kept=0.1, finished=False
    )  # the bound of a larger budget
    worked = replace(own, budget=tl.log_of(Fraction(3, 2)), kept=0.2, bound=found.bound / 2)
    idle = replace(own, budget=tl.log_of(9), kept=0.9, bound=1.0, finished=False)
    curve = Curve((lent, worked, own, idle), False, (), found.leakage_before)
    report = protect_record(found, curve=curve).trade_off
    bounds = {point.factor: point.bound and point.bound.value for point in report.points}
    assert bounds == {1.25: None, 1.5: worked.bound, 2: found.bound, 9: None}
    lines = [
        layer["data"]["values"]
        for layer in trade_chart(report, "deterministic").to_dict()["layer"]
        if layer["data"]["values"][0].get("curve") == BOUND
    ]
    assert lines
    assert all({row["factor"] for row in rows} == {1.5, 2} for rows in lines)


def test_a_single_budget_is_no_picture():
    found = example_protection()
    alone = replace(protect_record(found).trade_off, points=())
    report = protect_record(found)
    own = tuple(replace(point, whole_columns=None) for point in report.trade_off.points if point.own)
    bare = replace(report, trade_off=replace(alone, points=own))
    assert "trade-off" not in protect_charts(bare)
    assert "trade-off" in protect_charts(report)
    assert "whole columns" not in printed(bare)
    assert "trade_off" not in report.trade_note
    assert "Other budgets were not worked out" in report.trade_note


def test_what_else_is_in_the_file_is_told():
    found = example_protection()
    report = protect_record(found, keep=["nr", "name, first"], with_secret=True)
    assert 'Kept as in the table, and covered by no guarantee: nr and "name, first".' in report.notes
    assert "stays at home" not in report.readers[0].words
    assert "who can tell which row is a person's reads it there" in report.readers[0].words
    plain = protect_record(found)
    assert "stays at home" in plain.readers[0].words
    assert not any("guarantee" in note for note in plain.notes)


def test_a_release_of_nothing_is_told_in_a_whole_sentence():
    report = protect_record(protect(budget="1x"))
    assert report.kept == 0
    assert report.headline.startswith("Nothing is published: no release that says something was found")
    assert report.headline.endswith("gives nothing away about ill.")


def test_a_factor_next_to_one_is_not_rounded_away():
    found = protect(budget="1.0001x", randomised=True)
    assert "(a factor of 1.0001)" in protect_record(found).verdict


def test_names_with_commas_are_in_quotes():
    table = example_table().rename(columns={"town": "town, of birth"})
    found = tl.protect(table, "ill", ["age", "town, of birth"], "factor 2", seconds=1)
    report = protect_record(found)
    assert 'own age and "town, of birth" exactly' in report.readers[1].words
    assert any('"town, of birth"' in one.change + one.after for one in report.examples)


def test_changes_without_an_example_say_so_in_a_note():
    draw = np.random.default_rng(3)
    table = pd.DataFrame(
        {"code": [f"c{n:03}" for n in range(300)], "ill": draw.choice(["a", "b"], 300, p=[0.7, 0.3])}
    )
    found = tl.protect(
        table, "ill", ["code"], "factor 2", levels={"code": ["as is", "prefix 3", "out"]}, seconds=1
    )
    report = protect_record(found)
    assert any(one.before == "–" for one in report.examples)
    assert "– stands where fewer than 10 people share an example" in report.examples_note
    assert "fewer than 10 people" not in " ".join(one.before + one.after for one in report.examples)


def test_other_is_told_by_what_it_is_not():
    job = ["nurse"] * 40 + ["baker"] * 30 + ["judge"] * 20 + ["pilot"] * 12 + ["smith"] * 11 + ["piper"] * 10
    draw = np.random.default_rng(4)
    table = pd.DataFrame({"job": job, "ill": draw.choice(["a", "b"], len(job), p=[0.7, 0.3])})
    found = tl.protect(table, "ill", ["job"], "factor 2", seconds=1)
    assert "other" in found.levels[0].labels[1]
    apart = {
        value
        for value, label in zip(found.levels[0].labels[0], found.levels[0].labels[1], strict=True)
        if value == label
    }
    names = protect_record(found).columns[0].names
    assert len(names) == 1
    assert names[0].startswith("other is every value but nurse")
    assert all(value in names[0] for value in apart)
    assert not any(value in names[0] for value in set(job) - apart)


def test_an_audit_tells_bounds_as_bounds_and_one_measure_by_one_name():
    report = example_report(show_values=False)
    small = [cell for cell in report.views[0].worst_cells if cell.people.startswith("under")]
    assert small
    for cell in small:
        assert cell.leakage.words.startswith("at most ") == (cell.posterior.at_least is not None)
    shown = example_report(show_values=True).views[0].worst_cells
    assert not any(cell.leakage.words.startswith("at most") for cell in shown)
    assert "of the information (" in report.protect.words
    assert report.protect.kept.value != pytest.approx(
        float(report.protect.words.split("(")[1].split(" %")[0]) / 100
    )
    assert "most information" in report.change_note
    assert any(sentence.startswith("Information kept is") for sentence in report.method)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (Nats(1.5), "--budget '1.5 nats'"),
        ("factor 4.4866", "--budget 'factor 4.4866'"),
        ("4/3x", "--budget 4/3x"),
        (Nats.of_ratio(Fraction(4, 3)), "--budget 'log(4/3)'"),
    ],
)
def test_an_audit_repeats_the_budget_that_was_given(budget, told):
    assert told in protect_call(example_audit(budget=budget), "people.csv", python=False)


def test_the_call_that_is_advised_lets_nobody_be_above_the_budget():
    """The δ of an audit is that of its envelope, and what is told of the release is told of one without exceptions."""
    found = example_audit()
    assert found.policy.delta == Fraction(1, 100)
    assert "--delta" not in protect_call(found, "people.csv", python=False)
    assert "delta=None" in protect_call(found, "people.csv", python=True)
    weighted = replace(found, policy=replace(found.policy, weight="w"))
    assert "--weight" not in protect_call(weighted, "people.csv", python=False)
    assert "weight=None" in protect_call(weighted, "people.csv", python=True)
    plain = replace(found, policy=replace(found.policy, delta=None))
    assert protect_call(plain, "people.csv", python=True) == "tl.protect(table, policy=audit.policy)"


def test_random_releases_still_name_the_neighbour():
    assert protect_report(randomised=True).readers[1].status == "not protected"


def test_pages_keep_names_whole_and_labels_off_the_curve(monkeypatch):
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")
    table = example_table().rename(columns={"town": "town, of birth"})
    page = protect_html(
        protect_record(tl.protect(table, "ill", ["age", "town, of birth"], "factor 2", seconds=1))
    )
    assert "age and &#34;town, of birth&#34; published without" in page
    assert '<td class="name" data-name="column">age</td>' in page
    assert "td.name { overflow-wrap: break-word;" in page
    report = example_report(show_values=False)
    layers = tail_chart(report.views[0], "nats", report.budget).to_dict()["layer"]
    labels = [
        layer["mark"] for layer in layers if layer["mark"]["type"] == "text" and layer["mark"].get("y") == 0
    ]
    assert [mark["dy"] <= -14 for mark in labels] == [
        True
    ]  # the dots of the curve at 100 % are 5 pixels high
