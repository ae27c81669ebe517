"""What results show of themselves in a notebook: short, escaped, JSON-ready, as tables and as pictures."""

import json
import os
import pickle
import sys

import pandas as pd
import pytest

import tightlip as tl
from audit_example import HOSTILE, example_audit
from tightlip import papers
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput

CHANNEL, PRIOR = papers.env_example_1(), tl.Prior.uniform(4)
STUDY = tl.planning.Study([tl.Prior(["1/2", "1/2"]), tl.Prior(["1/4", "3/4"])], loss="zero-one")
RESULTS = {
    "pml": tl.pml(CHANNEL, PRIOR),
    "pmc": tl.pmc(CHANNEL, PRIOR),
    "measure": tl.measure(CHANNEL, PRIOR),
    "envelope": tl.envelope(CHANNEL, PRIOR, "1/10"),
    "curve": tl.envelope_curve(CHANNEL, PRIOR, ["1/10", "1/2"]),
    "statistic": tl.statistic_maximal_leakage(CHANNEL, ["a", "a", "b", "b"]),
    "contraction": tl.contraction.measure(CHANNEL, PRIOR, gammas=[2]),
    "level": tl.contraction.level_bounds(4, "1/2", "1/10"),
    "plan": tl.planning.plan_table(STUDY, [tl.planning.LocalPrivacy(1)], 10, target_risk="1/20"),
    "risks": example_audit().risks(),
}
CHARTED = ["pml", "pmc", "envelope", "curve", "contraction", "level", "plan"]
TABLED = ["pml", "pmc", "measure", "curve", "statistic", "plan", "risks"]


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_json_and_a_short_page(name):
    result = RESULTS[name]
    for unit in ("nats", "bits"):
        assert json.loads(json.dumps(result.to_dict(unit=unit), allow_nan=False))
    page = result._repr_html_()
    assert page.startswith("<div>")
    assert page.count("<tr>") <= 12
    assert "<script" not in page
    with pytest.raises(InvalidInput, match="unit must be one of"):
        result.to_dict(unit="trits")


@pytest.mark.parametrize("name", TABLED)
def test_tables_are_data_frames(name):
    frame = RESULTS[name].to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0


@pytest.mark.parametrize("name", CHARTED)
def test_pictures_are_charts(name):
    chart = RESULTS[name].chart(unit="bits").to_dict()
    assert chart["layer"]


def test_what_they_show_is_what_they_are():
    leak, curve = RESULTS["pml"], RESULTS["curve"]
    frame = leak.to_pandas()
    assert frame["pml"].max() == float(leak.worst)
    assert frame["probability"].sum() == pytest.approx(1)
    assert leak.to_dict()["worst"]["ratio"] == "4"
    assert curve == list(curve)
    assert [point["upper"] for point in curve.to_dict()["points"]] == [point.upper for point in curve]
    drawn = leak.chart().to_dict()
    tail = (drawn["layer"][0].get("data") or drawn["data"])["values"]
    assert all(row["probability"] >= float(leak.tail(row["leakage"])) for row in tail)
    assert RESULTS["plan"].to_dict()["rows"][0]["samples_needed"] == 114


def test_results_that_carry_more_than_their_rows_can_be_pickled():
    for name in ("curve", "plan"):
        again = pickle.loads(pickle.dumps(RESULTS[name]))
        assert type(again) is type(RESULTS[name])
        assert len(again) == len(RESULTS[name])
    assert pickle.loads(pickle.dumps(RESULTS["plan"])).samples == 10


def test_labels_are_escaped():
    outputs = [HOSTILE, "b"]
    channel = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[f"x{HOSTILE}", "y"], outputs=outputs)
    prior = tl.Prior(["1/2", "1/2"], labels=channel.inputs)
    shown = [tl.pml(channel, prior), tl.measure(channel, prior), tl.envelope(channel, prior, "1/10")]
    shown += [tl.statistic_maximal_leakage(channel, [HOSTILE, "b"]), tl.contraction.measure(channel, prior)]
    for page in [result._repr_html_() for result in shown] + [example_audit(HOSTILE)._repr_html_()]:
        assert "<script" not in page
        assert "<img" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
    assert "\x1b" not in repr(example_audit(HOSTILE))


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidInput, match="pip install pandas"):
        RESULTS["pml"].to_pandas()
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InvalidInput, match=r"tightlip\[chart\]"):
        RESULTS["pml"].chart()
    with pytest.raises(InvalidInput, match=r"tightlip\[chart\]"):
        example_audit().chart()


class TestAudit:
    def test_its_repr_is_short_and_tells_no_value(self):
        for audit in (example_audit(), example_audit(secrets=2), example_audit(sample=SampleMode(0.9))):
            assert len(repr(audit).splitlines()) <= 10
            for told in (repr(audit), audit._repr_html_(), json.dumps(audit.to_dict())):
                assert not any(value in told for value in ("flu", "asthma"))
        assert "asthma" in json.dumps(example_audit().to_dict(show_values=True))

    def test_it_writes_its_page(self, tmp_path, monkeypatch):
        monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")
        audit, path = example_audit(), tmp_path / "report.html"
        audit.to_html(path, name="people", unit="bits")
        page = path.read_text()
        assert "Audit of people" in page
        assert "asthma" not in page
        assert 'id="command"' not in page
        assert "show_values=True" in page
        with pytest.raises(InvalidInput, match="exists"):
            audit.to_html(path)
        audit.to_html(path, show_values=True, force=True)
        assert "asthma" in path.read_text()
        assert os.stat(path).st_mode & 0o077 == 0
        with pytest.raises(InvalidInput, match=r"must end in \.html"):
            audit.to_html(tmp_path / "report.txt")

    def test_it_has_pictures_of_each_view(self):
        audit = example_audit(secrets=2)
        for view in (None, "ill", "rich"):
            for picture in ("tail", "envelope"):
                assert audit.chart(view, picture=picture).to_dict()["layer"]
        with pytest.raises(InvalidInput, match="view must be one of"):
            audit.chart("age")

    def test_its_curves_are_asked_for(self):
        audit = example_audit()
        assert audit.joint.curve == ()
        curve = audit.with_curves().joint.curve
        assert [point.delta for point in curve] == sorted(point.delta for point in curve)
        assert audit.joint.envelope in curve

    def test_its_risks_are_those_of_its_cells(self):
        audit = example_audit()
        frame = audit.risks().to_pandas()
        assert frame["records"].sum() == audit.total
        worst = float(audit.joint.worst.leakage)
        assert worst <= frame["leakage"].max() <= worst + 1e-12
        worst = frame[frame["leakage"] == frame["leakage"].max()]
        assert set(worst["people"]) == {4}
        assert dict(zip(worst["ill"], worst["posterior"], strict=True)) == {"flu": 0.25, "asthma": 0.75}
        hidden = example_audit(min_count=5).risks().to_pandas()
        assert "*" in set(hidden["age"])
        with pytest.raises(InvalidInput, match="needs a population"):
            example_audit(sample=SampleMode(0.9)).risks()
