"""All that follows from one guarantee: true of channels, the best there is, with reasons."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import pytest
from hypothesis import given

from convert_oracle import boxed_lifts, cases, ldp, measures, pmc, pml, priors, ratio_lifts, ratios, unhurried
from tightlip import convert
from tightlip.numeric.quantity import log_of

KINDS = ("ldp", "pml", "pmc", "lip", "alip")


def level(ratio):
    return math.inf if ratio is None else log_of(ratio)


def entries(found):
    return {"pml": found.pml, "pmc": found.pmc, "lip": found.lip, "ldp": found.ldp}


@unhurried
@given(cases())
def test_no_channel_violates_what_is_implied(case):
    channel, prior = case
    seen = {name: level(ratio) for name, ratio in measures(channel, prior).items()}
    seen["alip"] = (seen["pmc"], seen["pml"])
    for kind in KINDS:
        found = convert.implied(kind, seen[kind], min(prior))
        for name, bound in entries(found).items():
            exact = bound.ratio if bound.ratio is not None else math.inf
            measured = math.inf if seen[name] == math.inf else seen[name].ratio
            assert exact >= measured, (kind, name)
        assert found.alip == (found.pmc, found.pml)


@unhurried
@given(priors(), ratios(), ratios())
def test_what_is_implied_is_the_worst_case_over_lifts(prior, t, other):
    worst_lifts = {
        "ldp": (log_of(t), ratio_lifts(t, prior)),
        "pml": (log_of(t), boxed_lifts(Fraction(0), t, prior)),
        "pmc": (log_of(t), boxed_lifts(1 / t, None, prior)),
        "lip": (log_of(t), boxed_lifts(1 / t, t, prior)),
        "alip": ((log_of(t), log_of(other)), boxed_lifts(1 / t, other, prior)),
    }
    for kind, (epsilon, vertices) in worst_lifts.items():
        columns, found = list(vertices), convert.implied(kind, epsilon, min(prior))
        assert found.pml.ratio == pml(columns), kind
        assert found.pmc.ratio == pmc(columns), kind
        assert found.lip.ratio == (None if pmc(columns) is None else max(pml(columns), pmc(columns))), kind
        if kind not in ("lip", "alip") or len(prior) > 2:
            assert found.ldp.ratio == ldp(columns), kind


@unhurried
@given(priors(), ratios())
def test_it_is_a_fixed_point_of_the_conversions(prior, t):
    p = min(prior)
    for kind in KINDS:
        epsilon = (log_of(t), log_of(t)) if kind == "alip" else log_of(t)
        found = convert.implied(kind, epsilon, p)
        for again in ("ldp", "pml", "pmc", "lip", "alip"):
            more = convert.implied(again, getattr(found, again), p)
            for name, bound in entries(more).items():
                assert bound >= entries(found)[name], (kind, again, name)


@unhurried
@given(priors(), ratios())
def test_it_agrees_with_the_single_conversions(prior, t):
    p, epsilon = min(prior), log_of(t)
    for kind in ("ldp", "pmc", "lip"):
        found = entries(convert.implied(kind, epsilon, p))
        for name in found:
            if name != kind:
                assert found[name].ratio == getattr(convert, f"{kind}_to_{name}")(epsilon, p).ratio


@pytest.mark.parametrize("kind", KINDS)
def test_one_single_secret(kind):
    found = convert.implied(kind, (3.0, math.inf) if kind == "alip" else math.inf, 1)
    assert entries(found) == {"pml": 0, "pmc": 0, "lip": 0, "ldp": 0}
    assert {getattr(found.why, field.name) for field in fields(found.why)} >= {
        "one single secret: there is nothing to learn"
    }


def test_reasons_of_a_finite_answer():
    why = convert.implied("ldp", 1.0, 0.2).why
    assert (why.pml, why.pmc, why.ldp) == (
        "PMC paper, Proposition 1: LDP to PML",
        "PMC paper, Proposition 3: LDP to PMC",
        "given",
    )
    assert why.lip == "definition: the larger of the PMC and the PML level"
    assert why.alip == "definition: the pair of the PMC and the PML level"
    why = convert.implied("pml", 0.1, 0.2).why
    assert (why.pml, why.pmc) == ("given", "PMC paper, Theorem 4.1: PML to PMC")
    assert why.ldp == "ALIP to LDP: the sum of the PMC and the PML level"
    why = convert.implied("pmc", 0.1, 0.2).why
    assert (why.pml, why.pmc) == ("PMC paper, Theorem 4.2: PMC to PML", "given")
    why = convert.implied("lip", 5.0, 0.2).why
    assert (why.pml, why.pmc) == ("PMC paper, Theorem 4.2: PMC to PML", "given")
    why = convert.implied("lip", 0.1, 0.2).why
    assert (why.pml, why.pmc) == ("given", "given")
    why = convert.implied("alip", (9.0, 0.1), 0.2).why
    assert (why.pml, why.pmc) == ("given", "PMC paper, Theorem 4.1: PML to PMC")


CAPPED = "no PML is above log 1/p_min"
RULED_OUT = "is not below log 1/(1−p_min) = 0.223143 nats, so a secret may be ruled out"


@pytest.mark.parametrize(
    ("kind", "epsilon", "by_pml", "by_pmc", "value"),
    [
        ("ldp", math.inf, CAPPED, "infinite: the given LDP level is", math.log(5)),
        ("pmc", math.inf, CAPPED, "infinite: the given PMC level is", math.log(5)),
        ("pml", math.inf, CAPPED, RULED_OUT, math.log(5)),
        ("pml", 7.0, CAPPED, RULED_OUT, math.log(5)),
        ("pml", 0.5, "given", RULED_OUT, 0.5),
        ("lip", math.inf, CAPPED, RULED_OUT, math.log(5)),
        ("alip", (math.inf, 0.5), "given", RULED_OUT, 0.5),
        ("alip", (math.inf, math.inf), CAPPED, RULED_OUT, math.log(5)),
    ],
)
def test_reasons_of_an_infinite_answer(kind, epsilon, by_pml, by_pmc, value):
    found = convert.implied(kind, epsilon, 0.2)
    assert found.pml == pytest.approx(value, rel=1e-14)
    assert found.pmc == found.lip == found.ldp == found.alip.lower == math.inf
    assert found.why.pml == by_pml
    assert by_pmc in found.why.pmc
    assert found.why.lip == found.why.alip == found.why.ldp == found.why.pmc


def test_it_is_frozen_and_travels():
    found = convert.implied("pmc", log_of(2), "1/4")
    with pytest.raises(FrozenInstanceError):
        found.pml = 0.0
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found
    assert copy.ldp.ratio == 5
    assert hash(copy) == hash(found)
