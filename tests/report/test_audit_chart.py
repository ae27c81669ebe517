"""The pictures of an audit: each draws, has its numbers from the record alone, and says what is not told."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import get_args

import pytest

import tightlip as tl
from audit_example import HOSTILE, example_audit, example_report
from tightlip.auditing.certainty import FACTORS
from tightlip.auditing.result import Picture
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.report.amounts import Amount, People, printable
from tightlip.report.audit_chart import audit_pictures
from tightlip.report.audit_html import _advice, _deciding
from tightlip.report.audit_record import Bin, Heat, HeatCell
from tightlip.report.chart import factor_axis
from tightlip.report.people_chart import _kind, remedies_picture

CASES = {
    "over the budget": {"show_values": False},
    "with values": {"show_values": True},
    "hostile": {"text": HOSTILE},
    "two secrets": {"secrets": 2, "show_values": False},
    "no budget": {"budget": None, "show_values": False},
    "within the budget": {"budget": tl.log_of(10), "show_values": False},
    "in bits": {"unit": "bits"},
    "sample": {"sample": SampleMode(0.9), "show_values": False},
}


def drawn(report):
    """All pictures of a report, by name and view."""
    change = report.remedies[0] if report.remedies else None
    changes = remedies_picture(report)
    return ({} if changes is None else {("remedies", ""): changes}) | {
        (name, view.name): picture
        for view in report.views
        for name, picture in audit_pictures(view, unit=report.unit, change=change).items()
    }


def rows(picture, field):
    """The data of the layers that have a field, once."""
    spec = picture.spec()
    data = [
        (layer.get("data") or spec["data"])["values"] for layer in spec["layer"]
    ]  # all the same is told once
    return next(values for values in data if values and field in values[0])


def told(people):
    return (9, True) if people.count is None else (people.count, False)


@pytest.mark.parametrize("case", CASES)
def test_every_picture_draws_and_is_told(case):
    import vl_convert

    report = printable(example_report(**CASES[case]))
    pictures = drawn(report)
    assert pictures
    for name, picture in pictures.items():
        svg = vl_convert.vegalite_to_svg({**picture.spec(), "width": 300})
        assert "<path" in svg, name
        assert "NaN" not in svg, name
        assert picture.title, name
        assert picture.caption.endswith("."), name
        assert picture.rows, name
        assert {len(row) for row in picture.rows} == {len(picture.names)}
        axes = [layer["encoding"].get(axis, {}) for layer in picture.spec()["layer"] for axis in "xy"]
        assert any(axis.get("title") for axis in axes), name


def test_amounts_are_drawn_in_their_unit_and_labelled_by_factors():
    for unit, power in (("nats", "exp("), ("bits", "pow(2")):
        for (name, _), picture in drawn(example_report(unit=unit)).items():
            if name in ("tail", "envelope", "remedies"):
                labels = [
                    (layer["encoding"][axis].get("axis") or {}).get("labelExpr", "")
                    for layer in picture.spec()["layer"]
                    for axis in "xy"
                    if axis in layer["encoding"]
                ]
                assert any(label.startswith(f"format({power}") for label in labels), name


@pytest.mark.parametrize("show_values", [True, False])
def test_people_are_those_of_the_record_before_and_after(show_values):
    report = example_report(show_values=show_values)
    view, change = report.views[0], report.remedies[0]
    found = {
        (row["plan"], row["factor"]): (row["people"], row["few"], row["people_words"])
        for row in rows(audit_pictures(view, unit="nats", change=change)["people"], "plan")
    }
    for plan, bars in (
        ("as planned", view.by_factor),
        ("after the first change", change.by_factor[view.name]),
    ):
        shown = {bar.words: (*told(bar.people), bar.people.words) for bar in bars}
        assert {factor: row for (own, factor), row in found.items() if own == plan}.items() <= shown.items()
        left_out = [bar for bar in bars if (plan, bar.words) not in found]
        assert all(bar.people.count == 0 for bar in left_out)


def test_bars_are_on_their_side_of_the_budget():
    """Of factors just above the lower edge and at the upper one: both over, both within, or one of each."""
    edges = [Fraction(1), *FACTORS, Fraction(10**9)]
    cases = {
        f"log({factor})": factor
        for factor in (*FACTORS, Fraction(5, 2), Fraction(2999, 1000), Fraction(2001))
    }
    cases |= {"1/2": Fraction(math.exp(0.5)), "0": Fraction(1)}  # no edge is near e^0.5
    for given, factor in cases.items():
        budget = Amount(1.0, "nats", given, given)
        for low, high in pairwise(edges):
            bar = Bin(float(low), None if high == edges[-1] else float(high), "", People(1, 2, ""))
            some, all_ = high > factor, low >= factor
            if low == high:  # nobody is told more: as likely as before
                some = all_ = low > factor
            wanted = (
                "over the budget" if all_ else "on both sides of the budget" if some else "up to the budget"
            )
            if low < high:
                assert _kind(bar, "as planned", budget) == wanted, (given, low, high)


def test_a_cap_on_certainty_colours_no_factor():
    endless = Amount("inf", "nats", "50%")
    assert _kind(Bin(100.0, 1000.0, "", People(1, 2, "")), "as planned", endless) == "as planned"


def test_certainty_is_that_of_the_record():
    view = example_report(show_values=False).views[0]
    picture = audit_pictures(view, unit="nats")["certainty"]
    found = {
        (row["secret"], row["range"]): (row["people"], row["few"], row["share"])
        for row in rows(picture, "range")
    }
    wanted = {
        (one.secret.removeprefix(f"{view.name} "), bar.words): (
            *told(bar.people),
            told(bar.people)[0] / bar.people.of,
        )
        for one in view.certainty
        for bar in one.bins
        if bar.people.count != 0
    }
    assert found == wanted
    assert {row[:2] for row in picture.rows} == {
        (one.secret, bar.words) for one in view.certainty for bar in one.bins if bar.people.count != 0
    }


def heat_view():
    people, few = People(40, 90, "40 of 90 people (44.4 %)"), People(None, 90, "fewer than 10 of 90 people")
    cells = (
        HeatCell("young", "F", people, Amount(0.5, "nats", "1.65x (0.5 nats)")),
        HeatCell("old", "F", people, Amount(2.0, "nats", "7.39x (2 nats)")),
        HeatCell("old", "M", few, None),
    )
    return replace(
        example_report(show_values=False).views[0],
        heat=Heat(("age", "sex"), ("young", "old"), ("F", "M"), cells),
        budget=Amount(math.log(2), "nats", "2x", "log(2)"),
    )


def test_a_heat_map_is_red_over_the_budget_and_grey_where_it_is_not_told():
    picture = audit_pictures(heat_view(), unit="nats")["heat"]
    found = [(row["down"], row["across"], row["kind"], row["label"]) for row in rows(picture, "across")]
    assert found == [
        ("young", "F", "up to the budget", "1.65x"),
        ("old", "F", "over the budget", "7.39x"),
        ("old", "M", "under 10 people", "<10"),
    ]
    assert picture.rows[2] == ("old", "M", "fewer than 10 of 90 people", "not told")


def test_the_example_has_a_heat_map_of_its_record():
    view = example_report(show_values=True).views[0]
    picture = audit_pictures(view, unit="nats")["heat"]
    wanted = sorted((cell.people.words, cell.leakage.value, cell.leakage.words) for cell in view.heat.cells)
    assert wanted == sorted(
        (row["people_words"], row["leakage"], row["leakage_words"]) for row in rows(picture, "across")
    )


def test_columns_are_those_of_the_record_and_the_plan_is_a_rule():
    view = example_report(show_values=True).views[0]
    picture = audit_pictures(view, unit="nats")["columns"]
    found = [(row["column"], row["people"], row["few"]) for row in rows(picture, "way")]
    wanted = [
        (one.column, *told(people)) for one in view.columns for people in (one.over_without, one.over_alone)
    ]
    assert found == wanted
    rule = [layer for layer in picture.spec()["layer"] if layer["mark"]["type"] == "rule"]
    assert [layer["data"]["values"][0]["people"] for layer in rule] == [view.over.count]
    hidden = replace(view, over=People(None, view.over.of, "fewer than 10"))
    marks = [
        layer["mark"]["type"] for layer in audit_pictures(hidden, unit="nats")["columns"].spec()["layer"]
    ]
    assert "rule" not in marks


def test_changes_are_those_of_the_record_and_the_plan_keeps_everything():
    report = example_report(show_values=True)
    view = report.views[0]
    found = [(row["name"], row["kept"], row["leakage"]) for row in rows(remedies_picture(report), "kept")]
    wanted = [("as planned", 1.0, view.worst.leakage.value)]
    wanted += [("protect", report.protect.kept.value, report.protect.leakage.value)]
    wanted += [
        (str(place), one.kept.value, one.leakage.value) for place, one in enumerate(report.remedies, 1)
    ]
    assert found == wanted
    assert rows(remedies_picture(report), "words") == [
        {"leakage": view.budget.value, "words": f"budget {view.budget.words}"}
    ]
    assert remedies_picture(example_report(budget=None)) is None


def test_points_on_one_spot_are_named_together_and_others_apart():
    report = example_report(show_values=True)
    one = report.remedies[0]
    here, there = (replace(one, kept=replace(one.kept, value=kept)) for kept in (0.3, 0.4))
    crowded = replace(report, protect=None, remedies=(here, there, here, here))
    labels = {row["label"]: row["side"] for row in rows(remedies_picture(crowded), "name") if "label" in row}
    assert set(labels) == {"as planned", "1, 3, 4", "2"}
    spec = remedies_picture(crowded).spec()
    beside = [layer["mark"] for layer in spec["layer"] if "transform" in layer]
    assert beside
    assert all(abs(mark.get("dx", 0)) + abs(mark.get("dy", 0)) == 8 for mark in beside)


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_axes_of_leakage_are_labelled_by_factors(unit):
    """A tick stands where its factor is: at its logarithm, in the unit of the data."""
    axis = factor_axis(math.log(30) / (math.log(2) if unit == "bits" else 1), unit).to_dict()
    log = math.log2 if unit == "bits" else math.log
    assert axis["values"] == pytest.approx([log(factor) for factor in (1, 2, 5, 10, 20)])
    assert ("pow(2" if unit == "bits" else "exp(") in axis["labelExpr"]


def test_a_sample_has_no_pictures_of_people():
    report = example_report(sample=SampleMode(0.9), show_values=False)
    names = {name for name, _ in drawn(report)}
    assert {"tail", "envelope"} <= names <= {"tail", "envelope", "remedies"}
    audit = example_audit(sample=SampleMode(0.9))
    with pytest.raises(InvalidInput, match=r'picture must be one of tail, envelope, got "people"'):
        audit.chart(picture="people")


def test_nobody_exposed_is_no_picture():
    view = example_report(budget=tl.log_of(10**6)).views[0]
    assert "columns" not in audit_pictures(view, unit="nats")


def test_an_audit_has_each_picture_by_name():
    audit = example_audit(secrets=2)
    for picture in get_args(Picture):
        chart = audit.chart("ill", picture=picture).to_dict()
        assert chart["layer"], picture
        assert chart["title"], picture
    with pytest.raises(InvalidInput, match="picture must be one of the others"):
        example_audit(budget=None).chart(picture="remedies")


def test_what_can_be_run_is_advised_first():
    report = example_report(show_values=False)
    first, call, others = _advice(report)
    assert call == report.protect.command
    assert f"{first} {call}" == report.todo[0]
    assert others == []
    sample = example_report(sample=SampleMode(0.9), show_values=False)
    first, call, others = _advice(sample)
    assert call is None
    assert first.startswith(("To meet the budget", "No change"))
    assert sample.protect.words in others
    assert _advice(example_report(budget=None))[0].startswith("Without a budget")


def test_the_deciding_view_is_that_of_the_audit():
    audit = example_audit(secrets=2)
    assert _deciding(example_report(secrets=2)) == audit.deciding.name
