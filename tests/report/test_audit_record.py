"""The audit's record: complete, free of values unless asked, and rounded to the safe side."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest

import tightlip as tl
from audit_example import SECRETS, VALUES, example_audit, example_record
from exact_oracle import at_least_log, at_most_log
from tightlip.auditing.sample import SampleMode
from tightlip.errors import CertificateInvalid
from tightlip.numeric.quantity import Nats, Probability
from tightlip.report.amounts import amount, factor, percent
from tightlip.report.audit_record import as_json, audit_report
from tightlip.report.audit_words import ViewWords


def record_of(audit, **changes):
    options = {
        "table": "t.csv",
        "command": "c",
        "unit": "nats",
        "show_values": False,
        "version": "0",
        "made": "2026-01-02T03:04:05Z",
    }
    return audit_report(audit, **options | changes).to_dict()


def test_it_says_what_the_audit_found():
    audit, record = example_audit(), example_record()
    view, said = audit.deciding, record["views"][0]
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert (record["rows"], record["unit"], record["delta"]) == (audit.total, "nats", 0.01)
    assert said["worst"]["leakage"]["value"] == float(view.worst.leakage)
    assert said["envelope"]["upper"]["value"] == view.envelope.upper
    assert said["cells"] == len(view.worst_cells) == 18
    assert [column["column"] for column in said["columns"]] == [effect.column for effect in view.columns]
    assert [entry["share"]["value"] for entry in said["secrets"]] == [float(share) for share in view.shares]
    assert len(said["tail"]) == len(view.tail)
    assert len(record["remedies"]) == len(audit.remedies) > 0
    assert all(remedy["leakage"]["value"] <= record["budget"]["value"] for remedy in record["remedies"])


def test_bits_are_nats_over_log_two():
    nats, bits = example_record(), example_record(unit="bits")
    for name in ("worst", "ruled_out"):
        one, two = nats["views"][0][name]["leakage"]["value"], bits["views"][0][name]["leakage"]["value"]
        assert (one == two == "inf") or two == pytest.approx(one / math.log(2))
    assert (nats["budget"]["words"], bits["budget"]["words"]) == ("log(2)", "log(2)")  # as it was given
    assert (bits["budget"]["value"], bits["budget"]["unit"]) == (1.0, "bits")
    assert " bits)" in bits["verdict"]["words"]
    assert "nats" not in " ".join(
        [bits["headline"], bits["verdict"]["words"], *bits["views"][0]["words"], *bits["paragraphs"]]
    )


@pytest.mark.parametrize("secrets", [1, 2])
def test_no_secret_value_and_no_small_cell_without_leave(secrets):
    hidden = json.dumps(example_record(show_values=False, secrets=secrets))
    for value in [*SECRETS["ill"], '"yes"', "age = old, sex = M, home = west", "certificate"]:
        assert value not in hidden
    shown = json.dumps(example_record(show_values=True))
    for value in [*SECRETS["ill"], "age = old, sex = M, home = west", "certificate"]:
        assert value in shown
    assert "secret 1" in hidden


def test_the_size_of_a_small_cell_is_not_told_without_leave():
    hidden = example_record(show_values=False)["views"][0]["worst_cells"]
    shown = example_record(show_values=True)["views"][0]["worst_cells"]
    assert (hidden[0]["people"], shown[0]["people"]) == ("under 10", "4")
    assert [cell["people"] for cell in hidden[1:]] == [cell["people"] for cell in shown[1:]]
    assert all(value in hidden[1]["cell"] for value in VALUES)


def test_exact_fractions_which_are_made_of_counts_are_not_told():
    text = json.dumps(example_record(show_values=False))
    assert '"ratio"' not in text
    assert '"exact"' not in text


def test_the_proof_in_the_record_can_be_checked(tmp_path, capsys):
    from tightlip.cli.main import main

    proof = example_record()["views"][0]["proof"]
    (tmp_path / "proof.json").write_text(json.dumps(proof["certificate"]))
    assert main(["verify", str(tmp_path / "proof.json")]) == 0
    assert "Valid" in capsys.readouterr().out


def test_a_proof_that_is_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr("tightlip.report.audit_record._LARGEST_PROOF", 10)
    proof = example_record()["views"][0]["proof"]
    assert "left out" in proof["words"]
    assert "certificate" not in proof


def test_a_proof_that_does_not_hold_stops_the_report():
    audit = example_audit()
    view = audit.deciding
    wrong = replace(view, envelope=replace(view.envelope, lower=0.0, upper=view.envelope.upper / 2))
    with pytest.raises(CertificateInvalid):
        record_of(replace(audit, views={view.name: wrong}))


@pytest.mark.parametrize(
    ("budget", "met", "words", "advice"),
    [
        (None, None, "No budget was set", "add --budget"),
        (tl.log_of(10), True, "ill: within the budget of log(10); the worst", "Nothing has to change"),
        (
            tl.log_of(2),
            False,
            "ill: over the budget of log(2) for at most 0.554 % of people; the worst",
            "No change",
        ),
    ],
)
def test_verdicts(budget, met, words, advice):
    record = record_of(replace(example_audit(budget=budget), remedies=()))
    assert record["verdict"]["met"] is met
    assert record["verdict"]["words"].startswith(words)
    assert advice in record["no_remedy"]


def test_where_changes_are_listed_none_is_said_to_be_missing():
    record = example_record()
    assert record["remedies"]
    assert record["no_remedy"] is None


@pytest.mark.parametrize(
    ("budget", "words", "decides"),
    [
        (2, "could not be proved", "rows prove that at most 1 %"),
        (1000, "is proved", "the sample proves that"),
    ],
)
def test_samples_say_how_sure_they_are(budget, words, decides):
    record = example_record(sample=SampleMode(0.9), budget=tl.log_of(budget), show_values=False)
    view = record["views"][0]
    assert words in record["verdict"]["words"]
    assert (record["mode"], record["confidence"], view["certified"]["confidence"]) == ("sample", 0.9, 0.9)
    assert "too small to certify" in view["words"][-2]
    assert decides in view["words"][-1]
    assert view["certified"]["observed_above"]["value"] <= 0.01
    assert (view["certified"]["rows_to_decide"] > record["rows"]) == (budget == 2)
    assert len(view["curve"]) == 1
    assert not view["proof"]["checked"]
    assert "90 % confidence" in record["method"][0]
    assert not any("LDP" in figure["name"] for figure in view["figures"])


def test_the_curve_falls_and_has_the_audit_in_it():
    view = example_record()["views"][0]
    deltas = [point["delta"] for point in view["curve"]]
    assert deltas == sorted(deltas)
    assert view["envelope"]["delta"] in deltas
    pairs = zip(view["curve"], view["curve"][1:], strict=False)
    assert all(later["lower"]["value"] <= sooner["upper"]["value"] for sooner, later in pairs)
    assert len(example_record(curve=False)["views"][0]["curve"]) == 1


def test_suppression_is_part_of_the_plan():
    record = example_record(min_count=5)
    assert record["plan"][-1] == "cells of fewer than 5 rows released as one"


def test_what_is_said_of_one_view_stands_with_it():
    record = example_record(secrets=2, jointly=True, show_values=False)
    assert [view["name"] for view in record["views"]] == ["ill × rich", "ill", "rich"]
    assert all(len(view["words"]) >= 5 for view in record["views"])
    assert not any(text.startswith("About") for text in record["paragraphs"])
    worst = record["views"][0]["worst"]["leakage"]["value"]
    assert all(view["worst"]["leakage"]["value"] <= worst for view in record["views"])
    alone = example_record(secrets=2, show_values=False)
    assert [view["name"] for view in alone["views"]] == ["ill", "rich"]
    assert alone["views"] == record["views"][1:]


def test_finite_costs_and_statistics_have_meanings():
    audit = example_audit()
    half = Nats.of_ratio(Fraction(3, 2))
    view = replace(
        audit.deciding,
        ldp=half,
        others={"pmc": replace(audit.deciding.pmc, leakage=half)},
        sml=tl.statistic_maximal_leakage(tl.Channel([["1/2", "1/2"], ["1/4", "3/4"]]), ["a", "b"]),
    )
    found = {figure.name: figure for figure in ViewWords(audit, view).figures()}
    assert "1.5 times less likely" in found["What can be ruled out (PMC)"].meaning
    assert "1.5 times as likely" in found["Between any two secrets (LDP)"].meaning
    assert found["As a statistic (SML)"].value == "at most 1.25x (0.224 nats)"
    assert "some prior" not in found["As a statistic (SML)"].meaning
    apart = replace(view, sml=replace(view.sml, lower=0.1, exact=False, ratio=None))
    meaning = ViewWords(audit, apart).figures()[-1].meaning
    assert meaning.endswith("; some prior reaches 1.1x (0.1 nats)")


@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(10, 3), Fraction(10**6 + 1, 7)])
def test_numbers_shown_short_are_still_guarantees(ratio):
    up, down = (amount(Nats.of_ratio(ratio, side), "nats").words for side in ("up", "down"))
    (more, above), (less, below) = (
        re.fullmatch(r"(\S+)x \((\S+) nats\)", told).groups() for told in (up, down)
    )
    assert Fraction(less) <= ratio <= Fraction(more)
    assert at_most_log(float(below), ratio)
    assert at_least_log(float(above), ratio)
    assert float(factor(Nats.of_ratio(ratio))) >= ratio
    assert float(factor(Nats(float(Nats.of_ratio(ratio))))) >= ratio
    share = 1 / ratio
    assert Fraction(percent(Probability.of(share)).split()[0]) >= 100 * share
    assert Fraction(percent(Probability.of(share, "down")).split()[0]) <= 100 * share


def test_shares_that_are_round_look_round():
    assert percent(Probability.of(Fraction(6, 10), "nearest")) == "60 %"
    assert as_json(amount(Nats(math.inf), "bits")) == {"value": "inf", "unit": "bits", "words": "infinite"}


def test_a_change_with_noise_has_as_many_people_as_the_plan():
    """Randomised response multiplies counts by a scale of its own; people are told, not counts."""
    rows = [("ill", "a")] * 30 + [("well", "a")] * 30 + [("ill", "b")] * 2 + [("well", "b")] * 58
    found = tl.audit(pd.DataFrame(rows, columns=["s", "p"]), "s", ["p"], budget="3/2x")
    told = record_of(found, show_values=True)["remedies"]
    noisy = [change for change in told if "randomised response" in change["change"]]
    assert noisy
    for change in told:
        counts = [bar["people"]["count"] for bar in change["by_factor"]["s"]]
        assert abs(sum(counts) - len(rows)) <= len(counts) / 2 + 1, change["change"]
