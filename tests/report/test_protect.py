"""The report of a protection: what it says is what was found, nobody small is in it, and it is escaped."""

import json
import re
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import tightlip as tl
from audit_example import HOSTILE, example_audit, example_report
from protect_example import RARE, example_curve, example_protection, example_table, protect_report
from tightlip.auditing.result import Audit
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.protection.advice import advise
from tightlip.protection.overview import column_details, factor_shares, patterns, whole_columns
from tightlip.protection.result import Protection
from tightlip.report.amounts import printable
from tightlip.report.protect import protect_html, protect_record, protect_text


@pytest.fixture(scope="module")
def library():
    """The charts' library takes seconds to bundle; a stand-in will do where no browser runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")
        yield


def published_rows(found):
    """What is published for every person, worked out row by row from the local recoding."""
    table, local = example_table(), found.local
    told = {cell: [] for cell in local.cells}
    for cell, value, weight in zip(local.cell, local.value, local.weight, strict=True):
        told[local.cells[cell]].append((local.published[value], weight / local.scale))
    return [
        (row.ill, (row.age, row.town), value, chance)
        for row in table.itertuples()
        for value, chance in told[row.age, row.town]
    ]


@pytest.mark.parametrize("randomised", [False, True])
def test_factors_are_those_of_the_rows(randomised):
    found = example_protection(randomised=randomised)
    rows = pd.DataFrame(published_rows(found), columns=["ill", "cell", "value", "chance"])
    for side, key in (("before", "cell"), ("after", "value")):
        prior = rows.groupby("ill").chance.sum() / rows.chance.sum()
        seen = rows.groupby([key, "ill"]).chance.sum().unstack(fill_value=0)
        lift = (seen.div(seen.sum(axis=1), axis=0) / prior).max(axis=1)
        people = seen.sum(axis=1) / rows.chance.sum()
        for step in factor_shares(found, ("ill",)):
            above = people[lift > float(step.level.ratio) * (1 + 1e-12)].sum()
            assert float(getattr(step, side)) == pytest.approx(above, abs=1e-12)


@pytest.mark.parametrize("randomised", [False, True])
def test_columns_keep_the_content_of_what_is_published(randomised):
    found = example_protection(randomised=randomised)
    rows = published_rows(found)
    groups = {"20": "a", "21": "a", "22": "b", "23": "b"}
    table = example_table()
    for place, detail in enumerate(column_details(found)):
        raw = table[detail.column]
        shares = {value: (raw == value).mean() for value in set(raw)}
        for name in "ab":
            shares[name] = sum(share for value, share in shares.items() if groups.get(value) == name)
        shares["*"] = 1.0
        whole = sum(-np.log(shares[cell[place]]) * chance for _, cell, _, chance in rows)
        kept = sum(-np.log(shares[value[place]]) * chance for _, _, value, chance in rows)
        assert detail.kept == pytest.approx(kept / whole)
        assert sum(share for _, share in detail.levels) == pytest.approx(1)


def test_patterns_are_everybody_and_their_examples_true():
    found = example_protection()
    listed = patterns(found, 10)
    assert sum(one.people for one in listed) == pytest.approx(400)
    told = {(cell, value) for _, cell, value, _ in published_rows(found)}
    for one in listed:
        assert (one.before, one.after) in told


def test_whole_columns_are_audited_alike():
    """Every recoding of whole columns against an audit of the recoded table."""
    found, table = example_protection(), example_table()
    for one in whole_columns(found):
        frame = table.copy()
        if one.levels[0] == "out":
            frame["age"] = "*"
        elif one.levels[0] != "as is":
            frame["age"] = frame.age.map({"20": "a", "21": "a", "22": "b", "23": "b"})
        if one.levels[1] == "out":
            frame["town"] = "*"
        assert tl.audit(frame, "ill", ["age", "town"]).deciding.worst.leakage == one.leakage
        shares = frame.groupby(["age", "town"]).ill.transform("size") / 400
        raw = table.groupby(["age", "town"]).ill.transform("size") / 400
        assert one.kept == pytest.approx(np.log(shares).sum() / np.log(raw).sum())


def test_the_curve_rises_and_its_releases_keep_their_budgets():
    curve = example_curve()
    assert [float(point.budget) for point in curve.points] == sorted(float(p.budget) for p in curve.points)
    assert len(curve.points) == 3
    for point in curve.points:
        assert point.leakage <= point.budget
        assert point.kept <= point.bound
        # one recoding for everybody is a truthful release too
        assert curve.kept_by_whole_columns(float(point.budget)) <= point.bound
    assert [p.bound for p in curve.points] == sorted(p.bound for p in curve.points)
    own = curve.points[1]
    assert own.kept == example_protection().kept
    frame = curve.to_pandas()
    assert list(frame.columns[:3]) == ["budget", "kept", "bound"]
    with pytest.raises(InvalidInput, match="budgets"):
        example_protection().trade_off(["a lot"])


@pytest.mark.parametrize("randomised", [False, True])
def test_the_answer_comes_first_and_readers_are_told_apart(randomised):
    report, found = protect_report(randomised=randomised), example_protection(randomised=randomised)
    assert report.headline.startswith("The release keeps ")
    assert report.kept == found.kept <= report.bound
    assert "Within the budget" in report.verdict
    reader, neighbour = report.readers
    assert reader.covered
    assert neighbour.covered is not randomised
    assert ("never publish" in neighbour.words) is randomised
    assert any("why this recoding" in sentence for sentence in report.outside)
    assert any("Several releases" in sentence for sentence in report.outside)


def test_a_search_that_was_stopped_is_told():
    stopped = protect_record(example_protection(seconds=1e-9))
    assert not stopped.finished
    assert "was stopped" in stopped.search
    ended = protect_report()
    assert ended.finished
    assert "was stopped" not in ended.search


def test_binding_limits_are_named_with_their_gain():
    coded, shown = protect_report(), protect_report(show_values=True)
    assert coded.limits
    assert all(re.match(r"secret \d may become at most twice as likely", one.words) for one in coded.limits)
    assert {one.words.split(" may")[0] for one in shown.limits} <= {
        f'ill "{name}"' for name in ("none", "flu", "gout")
    }
    assert [one.gain for one in coded.limits] == [one.gain for one in shown.limits]
    caps = protect_report(budget="90%", curve=False)
    assert caps.trade_off is None
    assert "no curve" in caps.trade_note


def test_no_secret_and_no_small_group_without_leave():
    text = json.dumps(protect_report().to_dict())
    for secret in ("none", "flu", "gout"):
        assert f'"{secret}' not in text
        assert f'{secret}\\"' not in text
    found = example_protection()
    held = found.published.tally.of_cell
    assert (example_table().query("age == '23' and town == 'south'").shape[0]) == RARE
    for value in np.flatnonzero(held < 10).tolist():
        name = ", ".join(
            f"{c} = {v}"
            for c, v in zip(found.published.columns, found.published.cell_label(value), strict=True)
        )
        assert name not in text
    assert "age = 23, town = south" not in text
    assert protect_report().proof.about is None
    assert 'ill \\"gout\\"' in json.dumps(protect_report(show_values=True).to_dict())


@pytest.mark.parametrize("text", ["", HOSTILE], ids=["plain", "hostile"])
def test_the_page_shows_the_record_and_nothing_becomes_markup(library, text):
    report = protect_report(text)
    page = protect_html(report)
    record = page.split('id="record">')[1].split("</script>")[0]
    assert json.loads(record) == printable(report).to_dict()
    assert "<script>window.harmed" not in page
    assert "<img" not in page
    assert "http-equiv" in page
    for name in ("factors-1", "trade-off", "columns"):
        assert f'id="{name}"' in page
        assert name in json.loads(page.split('id="charts">')[1].split("</script>")[0])


def test_the_text_says_the_same():
    report = protect_report(HOSTILE)
    out = StringIO()
    Console(file=out, width=120).print(protect_text(report))
    printed = out.getvalue()
    assert "\x1b" not in printed
    for words in (printable(report).verdict, "Who is protected against whom", "What holds detail back"):
        assert " ".join(words.split()) in " ".join(printed.split())


def test_units_reach_every_amount():
    text = json.dumps(protect_report(unit="bits").to_dict())
    assert "nats" not in text
    assert "bit" in text


def test_a_protection_shows_itself(tmp_path, library):
    found = example_protection()
    assert repr(found).count("\n") == 3
    assert str(found).startswith(found.words().split("\n")[0])
    assert found._repr_html_().startswith("<div>")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["kind"] == "deterministic"
    for picture in ("factors", "columns", "trade-off"):
        assert found.chart(picture).to_dict()["layer"]
    found.to_html(tmp_path / "safe.html", curve=example_curve())
    with pytest.raises(InvalidInput, match="exists"):
        found.to_html(tmp_path / "safe.html")
    with pytest.raises(InvalidInput, match="html"):
        found.to_html(tmp_path / "safe.txt")
    with pytest.raises(InvalidInput, match="picture"):
        found.chart("nonsense")


def test_steps_of_the_trade_off_are_bounds():
    """Between the points, what is found is drawn from below and what none exceeds from above."""
    drawn = example_curve().chart().to_dict()
    lines = {
        layer["data"]["values"][0]["curve"]: layer["mark"]["interpolate"]
        for layer in _layers(drawn)
        if layer.get("mark", {}).get("type") == "line"
    }
    assert lines == {
        "no truthful release keeps more": "step-before",
        "deterministic release": "step-after",
        "whole columns recoded for everybody": "step-after",
    }


def _layers(chart):
    for layer in chart["layer"]:
        yield from _layers(layer) if "layer" in layer else [layer]


def test_an_audit_over_its_budget_leads_with_protect():
    report = example_report(show_values=False)
    audit = example_audit()
    found = advise(audit)
    assert isinstance(found, Protection)
    assert found.leakage <= audit.budget
    assert report.protect.kept.value == pytest.approx(found.information)
    assert "tightlip protect" in report.protect.words
    # what row by row keeps is at least what the best recoding of whole columns does
    assert found.kept >= max(one.kept for one in whole_columns(found) if one.leakage <= audit.budget) - 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": None}, None),
        ({"budget": tl.log_of(1000)}, None),
        ({"sample": SampleMode()}, "for a sample"),
    ],
)
def test_no_lead_where_nothing_must_change_or_none_can_be_found(options, words):
    lead = example_report(**options).protect
    assert lead is None if words is None else words in lead.words


def test_a_large_table_is_not_tried():
    audit = example_audit()
    assert isinstance(audit, Audit)
    assert advise(audit, most_pairs=10) == "large"
