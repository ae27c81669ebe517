"""Certificates of PML, PMC and maximal leakage over sets of priors: what is found holds, what was changed does not."""

import contextlib
import copy
import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

import tightlip as tl
from strategies import float_pairs
from tightlip.errors import CertificateInvalid, TightlipError
from tightlip.robust import LeakageCertificate, PriorBall, PriorList, PriorPolytope

CHANNEL = tl.Channel([["3/4", "1/4", 0], ["1/4", "1/4", "1/2"], ["1/2", "1/4", "1/4"]], inputs=list("abc"))
COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
CENTER = tl.Prior(["1/2", "1/4", "1/4"], labels=list("abc"))
SETS = {
    "floor": tl.PriorSet(min_mass="1/10"),
    "ball": PriorBall(CENTER, "1/5"),
    "whole ball": PriorBall(CENTER, 2),
    "polytope": PriorPolytope([[1, 0, 0], [0, 1, -1]], ["1/10", 0], labels=list("abc")),
    "list": PriorList([CENTER, tl.Prior(["1/2", 0, "1/2"], labels=list("abc"))]),
    "floats": tl.PriorSet(min_mass=0.1),
}
FUNCTIONS = {
    "leakage capacity": lambda prior_set: tl.leakage_capacity(CHANNEL, prior_set=prior_set),
    "robust PMC": lambda prior_set: tl.robust.pmc(CHANNEL, prior_set),
    "robust maximal leakage": lambda prior_set: tl.robust.maximal_leakage(CHANNEL, prior_set),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_what_is_found_is_proved_and_nothing_beyond(tmp_path, kind, name):
    found = FUNCTIONS[kind](SETS[name])
    found.verify()
    own = found.certificate
    assert (own.kind, own.lower, own.upper) == (kind, found.lower, found.upper)
    found.save(tmp_path / "proof.json")
    read = tl.load(tmp_path / "proof.json")
    assert read.to_json() == own.to_json()
    read.verify()
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        twin.verify()
        assert twin.certificate.to_json() == own.to_json()
    if math.isfinite(found.upper):
        with pytest.raises(CertificateInvalid, match="lower end fails"):
            replace(own, lower=math.nextafter(found.upper, 9), upper=9.0).verify()
        with pytest.raises(CertificateInvalid, match="upper end fails"):
            replace(own, lower=0.0, upper=math.nextafter(found.lower, 0)).verify()
        with pytest.raises(CertificateInvalid, match="lower end fails"):
            replace(own, lower=math.inf, upper=math.inf).verify()
    else:
        with pytest.raises(CertificateInvalid, match="upper end fails"):
            replace(own, lower=0.0, upper=100.0).verify()


@settings(max_examples=40)
@given(float_pairs())
def test_floats_are_proved_too(pair):
    channel, prior = pair
    sets = [tl.PriorSet(min_mass=0.5 / len(prior)), PriorBall(prior, 0.25), PriorList([prior])]
    for prior_set in sets:
        tl.leakage_capacity(channel, prior_set=prior_set).verify()
        tl.robust.pmc(channel, prior_set).verify()
        tl.robust.maximal_leakage(channel, prior_set).verify()
    tl.leakage_capacity(channel, min_mass=0).verify()
    tl.leakage_capacity(channel, min_mass=1 / len(prior)).verify()


@pytest.mark.parametrize("channel", [CHANNEL, COIN], ids=["infinite", "finite"])
def test_without_any_knowledge_the_worst_is_approached(channel):
    found = tl.leakage_capacity(channel, min_mass=0)
    assert (found.prior, found.attained, found.certificate.prior_set) == (None, False, None)
    found.verify()
    assert found == tl.ldp(channel)
    read = LeakageCertificate.from_json(found.certificate.to_json())
    read.verify()
    if math.isfinite(found):
        with pytest.raises(CertificateInvalid, match="lower end fails"):
            replace(read, secret=1 - read.secret).verify()


def test_a_result_with_ends_of_another_proof_is_refused():
    found = tl.robust.pmc(COIN, tl.PriorSet(min_mass="1/10"))
    found.certificate = tl.robust.pmc(COIN, tl.PriorSet(min_mass="1/20")).certificate
    with pytest.raises(CertificateInvalid, match="the certificate proves"):
        found.verify()


PROVED = tl.leakage_capacity(COIN, min_mass="1/10").certificate
LISTED = tl.robust.pmc(COIN, PriorList([tl.Prior(["1/5", "4/5"]), tl.Prior([1, 0])])).certificate
MAXIMAL = tl.robust.maximal_leakage(COIN, tl.PriorSet(min_mass="1/10")).certificate
CHANGES = {
    "a prior outside": (PROVED, "prior", tl.Prior(["1/20", "19/20"]).to_dict()),
    "a prior that reaches less": (PROVED, "prior", tl.Prior(["1/2", "1/2"]).to_dict()),
    "a prior of others": (PROVED, "prior", tl.Prior.uniform(3).to_dict()),
    "no prior": (PROVED, "prior", None),
    "another outcome": (PROVED, "outcome", 1 - PROVED.outcome),
    "another secret": (PROVED, "secret", 1 - PROVED.secret),
    "no outcome": (PROVED, "outcome", None),
    "an outcome that is not there": (PROVED, "outcome", 7),
    "an outcome from the end": (PROVED, "outcome", -1),
    "a flag for an outcome": (PROVED, "outcome", True),
    "a wider set": (PROVED, "prior_set", {"floor": {"secrets": 2, "min_mass": "1/100"}}),
    "any prior": (PROVED, "prior_set", None),
    "a set of other secrets": (PROVED, "prior_set", {"floor": {"secrets": 3, "min_mass": "1/10"}}),
    "no set": (PROVED, "prior_set", {}),
    "another channel": (PROVED, "channel", tl.Channel([[1, 0], [0, 1]]).to_dict()),
    "a larger channel": (PROVED, "channel", CHANNEL.to_dict()),
    "a higher lower end": (PROVED, "lower", 0.92),
    "a lower upper end": (PROVED, "upper", 0.91),
    "negative ends": (PROVED, "lower", -1.0),
    "words for an end": (PROVED, "upper", "much"),
    "another kind": (PROVED, "kind", "robust PMC"),
    "a prior not in the list": (LISTED, "prior", tl.Prior(["1/2", "1/2"]).to_dict()),
    "a secret without mass": (LISTED, "secret", 1 - LISTED.secret),
    "a longer list": (
        LISTED,
        "prior_set",
        {"list": [prior.to_dict() for prior in (*LISTED.prior_set, tl.Prior(["1/100", "99/100"]))]},
    ),
    "less in all": (MAXIMAL, "upper", 0.4),
    "more in all": (MAXIMAL, "upper", "inf"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("hashed", [True, False])
def test_what_was_changed_is_refused(name, hashed):
    """A hash that fits makes it no truer; only ends that are wider and still true may pass."""
    own, key, value = CHANGES[name]
    record = json.loads(own.to_json()) | {key: value}
    if hashed:
        with contextlib.suppress(TightlipError, TypeError, ValueError):
            record["inputs"] = LeakageCertificate.from_parts(record).digest()
    if name == "more in all":
        LeakageCertificate.from_json(json.dumps(record)).verify()
        return
    with pytest.raises(CertificateInvalid):
        LeakageCertificate.from_json(json.dumps(record)).verify()


def test_a_secret_that_no_member_holds_possible_proves_nothing():
    """The ball of radius 0 has one member, which gives the first secret no mass."""
    prior_set = PriorBall(tl.Prior([0, "1/2", "1/2"], labels=list("abc")), 0)
    found = tl.leakage_capacity(CHANNEL, prior_set=prior_set)
    found.verify()
    with pytest.raises(CertificateInvalid, match="no prior of the set gives its secret any mass"):
        replace(found.certificate, outcome=0, secret=0, lower=0.1, upper=math.inf).verify()


def test_the_ends_that_are_claimed_are_those_of_the_ratio():
    assert tl.leakage_capacity(COIN, min_mass="1/10").ratio == Fraction(5, 2)
    claim = PROVED.claim()
    assert (claim.kind, claim.unit) == ("leakage capacity", "nats")
    assert math.exp(claim.lower) == pytest.approx(2.5)
