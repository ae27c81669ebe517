"""What results show of themselves in a notebook: short, escaped, JSON-ready, as tables and as pictures."""

import importlib
import json
import os
import pickle
import pkgutil
import sys
import tempfile
from pathlib import Path

import pandas as pd
import pytest

import tightlip
import tightlip as tl
from audit_example import HOSTILE, example_audit
from ledger_example import example_ledger, release
from protect_example import example_curve
from tightlip import papers
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput
from tightlip.histogram import HistogramSpace, Quantization, Share, plan_release, release_histogram, tabulate
from tightlip.ledger import Declared, Measured, account
from tightlip.numeric.proved import Proved
from tightlip.numeric.quantity import ProvedLeakage, ProvedNats
from tightlip.report import card
from tightlip.showing import Charted, Paged, Shown, Tabled

CHANNEL, PRIOR = papers.env_example_1(), tl.Prior.uniform(4)
COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
ROWS = {"sex": ["F", "M", "M", "M"], "ill": ["yes", "no", "yes", "no"]}
STUDY = tl.planning.Study([tl.Prior(["1/2", "1/2"]), tl.Prior(["1/4", "3/4"])], loss="zero-one")
NORMAL = tl.noise.AdditiveNoise(tl.noise.GaussianSecret(1), tl.noise.Gaussian(1))


def _ledger_results():
    """What a ledger with one release and one that is declared knows."""
    declared = Declared("survey", {"ldp": tl.log_of(2)})
    measured = Measured(*[tl.log_of(2)] * 4)
    with tempfile.TemporaryDirectory() as folder:
        ledger, table = example_ledger(Path(folder))
        release(ledger, table, Path(folder), "age")
        recorded, together = ledger.releases()[0], ledger.account(table)
    return {
        "together": together,
        "secret account": together.deciding,
        "recorded": recorded,
        "standing": recorded.standings[0],
        "account": account(measured, [declared]),
        "charge": account(measured, [declared]).pml,
        "declared": declared,
        "measured": measured,
    }


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
    "comparison": tl.compare([example_audit(), example_audit(min_count=5)]),
    "trade-off": example_curve(),
    "design": tl.design(PRIOR, ldp=1, loss="absolute"),
    "design curve": tl.designs.curve(PRIOR, pml=[0.5, 1], gain="hamming"),
    "smallest budget": tl.designs.smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most="1/2"),
    "designs compared": tl.designs.compare({"given": CHANNEL}, PRIOR, pml=1, loss="hamming"),
    "failure": tl.failure_probability(CHANNEL, PRIOR, 0.5),
    "many uses": tl.envelopes.repeat(COIN, 10, points=64).delta(1.0),
    "bounds": tl.envelopes.bounds(CHANNEL, PRIOR, "1/10"),
    "robust envelope": tl.robust.envelope(CHANNEL, tl.robust.PriorList([PRIOR]), "1/10"),
    "capacity": tl.leakage_capacity(CHANNEL, min_mass="1/10"),
    "average": tl.robust.maximal_leakage(CHANNEL, tl.PriorSet(4, "1/10")),
    "coefficient": tl.dobrushin(CHANNEL),
    "KL": tl.contraction.divergence(["1/2", "1/2"], ["1/4", "3/4"], "kl"),
    "infinite KL": tl.contraction.divergence(["1/2", "1/2"], [1, 0], "kl"),
    "chi-squared": tl.contraction.divergence(["1/2", "1/2"], ["1/4", "3/4"], "chi2"),
    "divergence bound": tl.contraction.divergence_bound("kl", 4, 0.1, 0.1),
    "noise": tl.noise.pml(tl.noise.AdditiveNoise(tl.noise.UniformSecret(0, 1), tl.noise.Laplace(1)), 1),
    "posterior": tl.noise.posterior_moments(NORMAL, 1).mean,
    "posterior variance": tl.noise.posterior_variance_bound(NORMAL),
    "noise statistic": tl.statistic.noise_leakage(tl.noise.Gaussian(1), {"low": (0, 1), "high": (1, 2)}),
    "two statistics": tl.statistic.composition(CHANNEL, CHANNEL, ["a", "a", "b", "b"]),
    "privacy": Quantization(HistogramSpace(11, 3), 4).privacy,
    "distortion": Quantization(HistogramSpace(11, 3), 4).distortion,
    "release": release_histogram(ROWS, None, Share({"ill": "yes"}), bin_size=2, seed_for_tests=1),
    "release plan": plan_release(ROWS, None, Share({"ill": "yes"}), bin_size=2),
    "cells": tabulate(ROWS),
    "adversary": tl.measures.gain_leakage(CHANNEL, PRIOR, [[1, 0], [0, 1], [0, 1], [1, 0]]),
    "density": tl.information_density(CHANNEL, PRIOR),
    "composition": tl.measures.pml_composition(CHANNEL, CHANNEL, PRIOR),
    "frequencies": tl.planning.estimate_frequencies([60, 40], COIN),
    "risk": tl.planning.risk_lower_bound(STUDY, tl.planning.LocalPrivacy(1), 10),
    "plan row": tl.planning.plan_table(STUDY, [], 10, target_risk="1/20")[0],
    **_ledger_results(),
}
CHARTED = [name for name, result in RESULTS.items() if isinstance(result, Charted)]
TABLED = [name for name, result in RESULTS.items() if isinstance(result, Tabled)]
# bases of results, which are none themselves
BASES = {Paged, Shown, Charted, Tabled, Proved, ProvedLeakage, ProvedNats}


def _shown(base):
    """The classes of the whole package that inherit from a base."""
    for module in pkgutil.walk_packages(tightlip.__path__, "tightlip."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, todo = set(), [base]
    while todo:
        classes = todo.pop().__subclasses__()
        todo += classes
        found |= {each for each in classes if getattr(sys.modules[each.__module__], each.__name__) is each}
    return found - BASES


def test_every_class_that_shows_itself_has_what_it_shows():
    asked = {Paged: card.card_of, Shown: card.record_of, Charted: card.chart_of, Tabled: card.columns_of}
    for base, ask in asked.items():
        classes = _shown(base)
        assert len(classes) > 4
        nobody = ask.dispatch(object)
        assert [each.__name__ for each in classes if ask.dispatch(each) is nobody] == []


def test_every_class_that_shows_itself_is_tried_here():
    assert _shown(Shown) == {type(result) for result in RESULTS.values()}


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


def test_proved_numbers_are_told_with_both_ends():
    for name in ("failure", "KL", "coefficient", "capacity", "privacy", "distortion", "noise"):
        found, record = RESULTS[name], RESULTS[name].to_dict()
        assert (record["lower"], record["upper"]) == (found.lower, found.upper)
        assert (record["exact"], record["method"]) == (found.exact, found.method)
    assert RESULTS["privacy"].to_dict()["ratio"] == "3"
    assert RESULTS["coefficient"].to_dict()["fraction"] == str(RESULTS["coefficient"].fraction)
    assert RESULTS["privacy"].to_dict(unit="bits")["upper"] == RESULTS["privacy"].in_bits()
    assert "unit" not in RESULTS["chi-squared"].to_dict()
    assert "<strong>Kullback-Leibler divergence: infinite</strong>" in RESULTS["infinite KL"]._repr_html_()


def test_a_table_and_its_plan_show_no_row_unasked():
    for name in ("cells", "release plan", "release"):
        told = RESULTS[name]._repr_html_() + json.dumps(RESULTS[name].to_dict())
        assert "F" not in told.replace("False", "")
    assert RESULTS["cells"].to_pandas().value_counts().to_dict() == {
        ("M", "no"): 2,
        ("F", "yes"): 1,
        ("M", "yes"): 1,
    }
    drawn = RESULTS["release"].to_pandas()
    assert len(drawn) == 4
    assert len(drawn.columns) == 3  # one says that it was drawn with a seed


class TestModels:
    def test_a_channel_is_its_matrix(self):
        frame = CHANNEL.to_pandas()
        assert tl.Channel(frame) == tl.Channel(CHANNEL.floats, CHANNEL.inputs, CHANNEL.outputs)
        pairs = COIN.product(COIN)
        assert list(pairs.to_pandas().columns) == list(pairs.outputs)
        assert "<td>3/4</td>" in COIN._repr_html_()

    def test_a_prior_is_its_masses(self):
        prior = tl.Prior({"a": "1/3", "b": "2/3"})
        assert prior.to_pandas().to_dict("list") == {"secret": ["a", "b"], "probability": [1 / 3, 2 / 3]}
        assert "<td>1/3</td>" in prior._repr_html_()

    def test_large_ones_are_cut(self):
        page = tl.mechanism.identity(30)._repr_html_()
        assert page.count("<tr>") == 11
        assert page.count("<th>") == 11
        assert "20 more" in page

    def test_sparse_ones_are_shown(self):
        from scipy.sparse import identity

        assert tl.Channel(identity(30, format="csr"))._repr_html_().count("<tr>") == 11


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
    shown += [channel, prior, tl.leakage_capacity(channel, min_mass="1/10"), tl.dobrushin(channel)]
    shown += [
        tl.design(prior, ldp=1, loss="hamming"),
        tl.designs.compare({HOSTILE: channel}, prior, pml=1, gain=[[1, 0], [0, 1]]),
    ]
    shown += [tl.planning.estimate_frequencies([60, 40], channel), tl.information_density(channel, prior)]
    shown += [release_histogram({HOSTILE: [HOSTILE, "b"]}, None, Share({HOSTILE: HOSTILE}), bin_size=1)]
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
        assert audit.deciding.curve == ()
        curve = audit.with_curves().deciding.curve
        assert [point.delta for point in curve] == sorted(point.delta for point in curve)
        assert audit.deciding.envelope in curve

    def test_its_risks_are_those_of_its_cells(self):
        audit = example_audit()
        frame = audit.risks().to_pandas()
        assert frame["records"].sum() == audit.total
        worst = float(audit.deciding.worst.leakage)
        assert worst <= frame["leakage"].max() <= worst + 1e-12
        worst = frame[frame["leakage"] == frame["leakage"].max()]
        assert set(worst["people"]) == {4}
        assert dict(zip(worst["ill"], worst["posterior"], strict=True)) == {"flu": 0.25, "asthma": 0.75}
        hidden = example_audit(min_count=5).risks().to_pandas()
        assert "*" in set(hidden["age"])
        with pytest.raises(InvalidInput, match="needs a population"):
            example_audit(sample=SampleMode(0.9)).risks()
