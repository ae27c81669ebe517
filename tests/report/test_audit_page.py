"""The audit's page and text, without a browser: self-contained, escaped, and made from the record alone."""

import base64
import hashlib
import html
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

import tightlip as tl
from audit_example import HOSTILE, example_audit, example_report
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.report.amounts import Amount, Share, printable
from tightlip.report.audit_chart import audit_pictures
from tightlip.report.audit_html import audit_html
from tightlip.report.audit_record import EnvelopePoint, TailStep
from tightlip.report.audit_text import audit_text
from tightlip.report.comparison import NAMES, plan_lines


class Page(HTMLParser):
    """Elements with their attributes, the texts of scripts, and the text that is read."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.scripts, self.texts, self._inside = [], [], [], None
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.scripts += [""] if tag == "script" else []

    def handle_endtag(self, tag):
        self._inside = None if tag == self._inside else self._inside

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside is None:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def library():
    """The charts' library takes seconds to bundle; a stand-in will do where no browser runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")
        yield


@pytest.fixture(scope="module", params=["", HOSTILE], ids=["plain", "hostile"])
def page(request, library):
    report = example_report(request.param)
    return Page(audit_html(report)), report


def test_it_shows_the_record(page):
    found, report = page
    record = printable(report).to_dict()
    wanted = [record["headline"], record["verdict"]["words"], record["command"], record["privacy_note"]]
    wanted += [cell["cell"] for view in record["views"] for cell in view["worst_cells"]]
    wanted += [figure["value"] for view in record["views"] for figure in view["figures"]]
    wanted += [remedy["change"] for remedy in record["remedies"]] + record["plan"] + record["method"]
    for words in wanted:
        assert " ".join(words.split()) in found.text
    assert json.loads(found.scripts[0]) == record


def test_it_loads_nothing_and_runs_only_what_it_names(page):
    found, _ = page
    assert not {tag for tag, _ in found.elements} & {
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "a",
        "b",
    }
    assert len([tag for tag, _ in found.elements if tag == "script"]) == 4
    loading = [attrs.get(name) for _, attrs in found.elements for name in ("src", "href") if name in attrs]
    assert loading == ["data:,"]
    assert not any(name.startswith("on") for _, attrs in found.elements for name in attrs)
    policy = next(attrs["content"] for _, attrs in found.elements if "http-equiv" in attrs)
    allowed = re.findall(r"'sha256-([^']+)'", policy)
    assert policy.startswith("default-src 'none'")
    assert allowed == [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in found.scripts[2:]
    ]
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_each_chart_has_its_place_and_data(page):
    found, report = page
    charts = json.loads(found.scripts[1])
    places = [attrs["id"] for tag, attrs in found.elements if attrs.get("class") == "chart"]
    assert sorted(charts) == sorted(places)
    text = json.dumps(charts)
    for point in report.views[0].curve:
        assert point.upper.words in text
    assert "budget" in text


def test_several_secrets_samples_and_no_budget(library):
    several = Page(audit_html(example_report(secrets=2, show_values=False)))
    assert next(attrs["id"] for _, attrs in several.elements if attrs.get("class") == "chart") == "remedies"
    folded = [attrs for _, attrs in several.elements if attrs.get("class") == "secret"]
    assert ["data-deciding" in attrs for attrs in folded] == [True, False]
    assert all("open" in attrs for attrs in folded)  # what is folded has no width to draw in
    sample = Page(audit_html(example_report(sample=SampleMode(0.9), show_values=False)))
    assert "too small to certify" in sample.text
    layers = json.loads(sample.scripts[1])["envelope-1"]["layer"]
    low, high = next(
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in layers
        if "scale" in layer["encoding"].get("x", {})
    )
    assert low < high == 1  # one point alone would give an axis without length
    free = Page(audit_html(example_report(budget=None)))
    assert "No budget was set" in free.text
    assert "budget" not in free.scripts[1]


def test_the_answer_comes_first_then_what_to_do_then_why(library):
    report = example_report(secrets=2, show_values=False)
    page = Page(audit_html(report)).text
    parts = [
        report.headline,
        "What to do",
        report.protect.command,
        "Or change the plan",
        "Every secret against",
    ]
    parts += ["About ill", "Over the budget", "How much do released values say", "Worst cells"]
    parts += ["Released columns, the one that exposes most people first", "What is known under other names"]
    parts += ["Method and proof", "The planned release", "Make this report again"]
    places = [page.index(" ".join(part.split())) for part in parts]
    assert places == sorted(places)


def test_other_plans_stand_side_by_side(library):
    plans = tl.compare({"this plan": example_audit(), "hidden": example_audit(min_count=5)})
    lines = tuple(plan_lines(plans))
    found = Page(audit_html(replace(example_report(show_values=False), comparison=lines)))
    ids = [attrs.get("id") for _, attrs in found.elements]
    assert "plans" in ids
    assert ids.index("plans") < ids.index("people-1")
    for words in (*NAMES, *(cell for line in lines for cell in line.cells())):
        assert " ".join(words.split()) in found.text
    assert [line for line in repr(plans).splitlines() if "hidden" in line]
    assert "plans" not in [attrs.get("id") for _, attrs in Page(audit_html(example_report())).elements]


def test_every_picture_has_its_table(page):
    found, _ = page
    classes = [attrs.get("class") for _, attrs in found.elements]
    assert (
        classes.count("chart")
        == classes.count("behind")
        == found.text.count("The numbers behind this picture")
    )


def test_a_policy_can_be_saved_from_the_page(library):
    report = example_report(show_values=True)
    source = audit_html(report)
    for remedy in report.remedies:
        assert html.escape(remedy.policy.rstrip("\n"), quote=True).replace("&quot;", "&#34;") in source


def test_a_library_that_would_end_its_element_is_refused(monkeypatch):
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "'</SCRIPT>'")
    with pytest.raises(InvalidInput, match="another vl-convert-python"):
        audit_html(example_report())


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(InvalidInput, match=r"tightlip\[chart\]"):
        audit_html(example_report())


def written(report):
    console = Console(file=StringIO(), width=100, force_terminal=True)
    console.print(audit_text(report))
    return console.file.getvalue()


def test_text_says_the_same():
    report = example_report(show_values=False, secrets=2)
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", written(report)).split())
    for words in (report.headline, "About ill", "About rich", "Worst cells, "):
        assert words in text
    assert "each of these alone meets all budgets" in text
    sample = written(example_report(sample=SampleMode(0.9), show_values=False))
    assert "too small to certify" in " ".join(sample.split())
    assert "Nothing has to change" in written(example_report(budget=tl.log_of(10)))


def test_values_cannot_write_to_the_terminal():
    text = re.sub(r"\x1b\[[0-9;]*m", "", written(example_report("\x1b]0;t\x07[bold]\u202e")))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[bold]" in text


def test_a_statistic_has_its_figure_and_its_proof(library):
    found = Page(audit_html(example_report(secrets=2, statistic="rich", unit="bits")))
    assert "As a statistic (SML)" in found.text
    assert found.text.count("Proof of SML about rich") == 1
    assert "Statistic maximal leakage (SML) is the logarithm" in found.text
    assert "SML" not in Page(audit_html(example_report(secrets=2))).text


def test_the_tail_ends_at_the_worst_leakage_and_axes_are_in_the_unit():
    report = example_report(unit="bits")
    view = report.views[0]
    charts = {name: one.spec() for name, one in audit_pictures(view, unit="bits").items()}
    line = charts["tail"]["layer"][0]["data"]["values"]
    assert [point["level"] for point in line[-2:]] == [view.worst.leakage.value] * 2
    assert charts["tail"]["layer"][0]["encoding"]["x"]["title"] == "times as likely"
    assert "pow(2, datum.value)" in json.dumps(charts["envelope"])
    assert "nats" not in json.dumps(charts)


def test_a_release_that_tells_nothing_has_charts_too():
    nothing, nobody = Amount(0.0, "nats", "0 nats"), Share(0.0, "0 %")
    point = EnvelopePoint(0.01, "1/100", "0.01", nothing, nothing, "m")
    view = example_report().views[0]
    worst = replace(view.worst, leakage=nothing)
    view = replace(
        view, tail=(TailStep(nothing, nobody, nobody),), envelope=point, curve=(point,), worst=worst
    )
    tail = audit_pictures(view, unit="nats")["tail"].spec()
    assert tail["layer"][0]["data"]["values"] == []
