"""What is said is a sentence, however many there are: one person, one cell, nobody, with noise, of a sample."""

import re

import pandas as pd
import pytest

from tightlip.auditing.run import audit
from tightlip.auditing.sample import SampleMode
from tightlip.report.audit_record import audit_report

PEOPLE = (
    [("no", "a", "f")] * 40 + [("yes", "a", "f")] * 25 + [("no", "b", "m")] * 30 + [("yes", "b", "m")] * 5
)
ONE = [*PEOPLE, ("yes", "z", "f")]
RARE = [("no", "a", "f")] * 40 + [("no", "b", "m")] * 40 + [("yes", "b", "m")]
ALONE = [("no", "a", "f"), ("yes", "b", "m")]
SAME = [("no", "a", "f"), ("yes", "a", "f")] * 20
FAULTS = (
    r"\bis/are\b|\w\(s\)",
    r"(?<![\d.,])1 (?:cells|people|rows|values|secrets|groups|ways|persons)\b",
    r"(?:at most|under|below|for|fewer than) 0(?: %|\b(?![.,]\d))",
    r"\b(?:nobody|the one person|1 of [\d,]+ people \([^)]*\)) are\b",
    r"\b(?:fewer than \d+|some|[02-9]|\d\d+) of [\d,]+ people(?: \([^)]*\))? is\b",
    r"\ball 1 people\b|of 1 people|of 1 person",
    r"\bNone\b(?! of the rows)|\bnan\b|Fraction\(|Nats\(|Probability\(",
    r"  |\.\.|,,|;;| \.| ,|\( | \)",
)
AUDITS = {
    "people": (PEOPLE, {}),
    "over": (PEOPLE, {"budget": "1.05x"}),
    "kept": (PEOPLE, {"budget": "50x"}),
    "cap": (PEOPLE, {"secret": {"s": ["yes"]}, "budget": "39%"}),
    "cap kept": (PEOPLE, {"secret": {"s": ["yes"]}, "budget": "90%"}),
    "one person": (ONE, {"budget": "2x"}),
    "rare": (RARE, {"budget": "2x"}),
    "alone": (ALONE, {"budget": "1.5x"}),
    "one cell": (SAME, {"budget": "2x"}),
    "zero": (SAME, {"budget": "1x"}),
    "hidden": (ONE, {"min_count": 5, "budget": "1.1x"}),
    "noise": (ONE, {"randomize": {"p": 1.0}, "budget": "1.2x"}),
    "much noise": (ALONE, {"randomize": {"p": 0.1}}),
    "two": (ONE, {"secret": ["s", "t"], "release": ["p"], "budget": "1.2x"}),
    "jointly": (ONE, {"secret": ["s", "t"], "release": ["p"], "budget": "1.2x", "jointly": True}),
    "statistic": (ONE, {"secret": ["s", "t"], "release": ["p"], "statistic": "s"}),
    "left out": ([*ONE, ("unknown", "z", "m")], {"not_secret": {"s": ["unknown"]}, "budget": "1.2x"}),
    "sample": (ONE * 20, {"sample": SampleMode(0.95), "budget": "3x"}),
    "sample kept": (PEOPLE * 50, {"sample": SampleMode(0.9), "budget": "30x"}),
    "sample without": (ONE, {"sample": SampleMode(0.9)}),
    "noisy sample": (
        PEOPLE * 20,
        {"sample": SampleMode(0.9), "randomize": {"p": 1.0, "t": 1.0}, "budget": "3x"},
    ),
}


def texts(value):
    if isinstance(value, dict):
        return [text for key, item in value.items() if key != "policy" for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("show_values", [False, True])
def test_every_sentence_is_one(name, show_values):
    rows, options = AUDITS[name]
    plan = {"secret": "s", "release": ["p", "t"]} | options
    found = audit(pd.DataFrame(rows, columns=["s", "p", "t"]), **plan)
    said = [found.words(show_values=show_values), repr(found)]
    said += texts(audit_report(found, show_values=show_values, version="0", made="now").to_dict())
    for text in said:
        for fault in FAULTS:
            assert not re.search(fault, text), (fault, text)


@pytest.mark.parametrize(
    "text",
    [
        "1 cells",
        "1 people are",
        "for at most 0 % of people",
        "nobody are unique",
        "fewer than 10 of 61 people is unique",
        "1 of 61 people (1.64 %) are unique",
        "12 of 61 people (20 %) is found out",
        "X is/are",
        "all 1 people",
    ],
)
def test_faults_are_found(text):
    assert any(re.search(fault, text) for fault in FAULTS)


@pytest.mark.parametrize(
    "text", ["21 cells", "at most 0.5 %", "at most 0.0261", "nobody is unique", "1,001 people"]
)
def test_sentences_are_none(text):
    assert not any(re.search(fault, text) for fault in FAULTS)
