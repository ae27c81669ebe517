"""What is said and drawn of designed mechanisms: every number on its side, every step a bound."""

import json
import re
from fractions import Fraction
from itertools import pairwise

import pytest

import tightlip as tl
from tightlip.certificate.base import Claim
from tightlip.designs.utility import GREATEST_GAIN, LEAST_LOSS
from tightlip.report.claims import claim_words
from tightlip.report.design import (
    binding_words,
    curve_record,
    design_record,
    headline,
    smallest_headline,
    smallest_record,
)
from tightlip.report.design_chart import channel_chart, curve_chart, distinct

PRIOR = tl.Prior({"a": "1/2", "b": "3/10", "c": "1/5"})


def numbers(text):
    return [Fraction(found) for found in re.findall(r"\d+\.\d+", text)]


@pytest.mark.parametrize("kind", ["loss", "gain"])
@pytest.mark.parametrize("level", ["1/3", "0.7", "log(2)"])
def test_the_headline_rounds_to_the_safe_side(kind, level):
    found = tl.design(PRIOR, ldp=level, **{kind: "hamming"})
    said = numbers(headline(design_record(found, "nats")))
    reached, beaten = said[0], said[-1]
    if kind == "loss":
        assert reached >= Fraction(found.value)
        assert beaten <= Fraction(found.bound)
    else:
        assert reached <= Fraction(found.value)
        assert beaten >= Fraction(found.bound)


def test_a_level_is_told_as_it_is():
    found = tl.design(PRIOR, ldp=1 / 3, loss="hamming")
    assert found.guarantees[0].words() == "LDP of at most 0.3333333333333333 nats"
    assert tl.design(PRIOR, pml=1, loss="hamming").guarantees[0].words() == "PML of at most 1 nat"


def test_a_bound_that_is_far_is_no_best_mechanism():
    said = headline(design_record(tl.design(PRIOR, envelope=(0.5, "1/10"), loss="hamming"), "nats"))
    assert said.startswith("The mechanism found loses")


def test_nobody_is_at_a_bound_where_nothing_is_released():
    record = design_record(tl.design(PRIOR, ldp=0, loss="hamming"), "nats")
    assert binding_words(record) == ["No output is at the bound of a guarantee."]


def test_ends_of_the_smallest_budget():
    found = tl.designs.smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most=0.3)
    for unit in ("nats", "bits"):
        record = smallest_record(found, unit)
        upper, target, lower = numbers(smallest_headline(record))
        assert (lower < upper, target) == (True, Fraction("0.3"))
        assert upper >= Fraction(record["upper"]) >= Fraction(found.upper)
        assert lower <= Fraction(record["lower"])


@pytest.mark.parametrize("asked", [{"loss": "hamming"}, {"gain": "hamming"}])
def test_steps_of_the_picture_are_bounds(asked):
    found = tl.designs.curve(PRIOR, ldp=["0.5", "1", "2"], **asked)
    chart = curve_chart(curve_record(found, "nats")).to_dict()
    worse = max if "loss" in asked else min
    for layer in chart["layer"][:2]:
        step, rows = layer["mark"]["interpolate"], layer["data"]["values"]
        for left, right in pairwise(rows):
            if left["curve"] != right["curve"]:
                continue
            drawn = left if step == "step-after" else right
            true = tl.design(PRIOR, ldp=(left["level"] + right["level"]) / 2, **asked)
            if drawn["curve"] == "reached":
                assert worse(drawn["value"], true.bound) == drawn["value"]
            else:
                assert worse(drawn["value"], true.value) == true.value


def test_the_heat_map_is_the_channel():
    found = tl.design(PRIOR, ldp=1, loss="hamming")
    chart = channel_chart(found).to_dict()
    values = (chart.get("data") or chart["layer"][0]["data"])["values"]
    assert {(own["secret"], own["output"]): own["probability"] for own in values} == {
        (secret, output): float(found.channel.matrix[row, column])
        for row, secret in enumerate(found.channel.inputs)
        for column, output in enumerate(found.channel.outputs)
    }
    many = tl.design(tl.Prior.uniform(50), ldp=1, loss="absolute")
    assert "10 more secrets" in json.dumps(channel_chart(many).to_dict())


def test_labels_that_look_alike_keep_their_places():
    assert distinct([1, "1", "1 (2)", ("a", 2)]) == ["1", "1 (2)", "1 (2) (2)", "(a, 2)"]


def test_claims():
    assert claim_words(Claim(LEAST_LOSS, 0.1234567, 0.2345671, unit=None)) == (
        "the mechanism keeps its guarantees and loses at most 0.234568 on average, and none that keeps them loses "
        "less than 0.123456."
    )
    assert "gains at least 0.123456 on average" in claim_words(
        Claim(GREATEST_GAIN, 0.1234567, 0.5, unit=None)
    )
    said = claim_words(Claim("greatest mutual information of a mechanism", 0.1234567, 1.0, unit="nats"))
    assert (
        "has a mutual information of at least 0.123456 nats, and none that keeps them has more than 1 nat."
        in said
    )
