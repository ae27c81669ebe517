"""Certificates over sets of priors as JSON: what was changed is refused, whatever hash it states."""

import json
from fractions import Fraction

import pytest

import tightlip as tl
from tightlip.errors import CertificateInvalid, TightlipError
from tightlip.robust.certificate import ListCertificate, RegionCertificate

CHANNEL = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]])
PRIORS = [tl.Prior(["1/2", "1/4", "1/4"]), tl.Prior(["1/3", "1/3", "1/3"])]
REGION = tl.robust.envelope(CHANNEL, tl.PriorSet(min_mass="1/8"), "1/2", cells=6, tries=6).certificate
LIST = tl.robust.envelope(CHANNEL, tl.robust.PriorList(PRIORS), "1/2").certificate


def changed(certificate, change):
    """Read the certificate again after a change of its record, with a hash that fits."""
    record = json.loads(certificate.to_json())
    change(record)
    try:
        twin = type(certificate).from_parts(record)
        record["inputs"] = twin.digest()
    except Exception:  # what cannot be read keeps its old hash
        pass
    return type(certificate).from_json(json.dumps(record))


def _set(record, *path_and_value):
    *path, last, value = path_and_value
    for key in path:
        record = record[key]
    record[last] = value


CHANGES = {
    "a smaller ratio": (REGION, ("ratio", "11/10")),
    "another δ": (REGION, ("delta", "1/100")),
    "no δ": (REGION, ("delta", 0)),
    "a wider set": (REGION, ("prior_set", {"floor": {"secrets": None, "min_mass": "1/100"}})),
    "a set without the prior": (REGION, ("prior_set", {"floor": {"secrets": None, "min_mass": "1/3"}})),
    "a list for a set": (REGION, ("prior_set", {"list": [prior.to_dict() for prior in PRIORS]})),
    "two sets": (
        REGION,
        ("prior_set", {"floor": {"secrets": 3, "min_mass": "1/8"}, "list": [PRIORS[0].to_dict()]}),
    ),
    "no set": (REGION, ("prior_set", {})),
    "a set of other secrets": (REGION, ("prior_set", {"floor": {"secrets": 4, "min_mass": "1/8"}})),
    "no cells": (REGION, ("proof", {"cells": []})),
    "no multipliers": (REGION, ("proof", {"whole": None})),
    "two proofs": (REGION, ("proof", {"whole": None, "cells": []})),
    "a cell that is no path": (REGION, ("proof", {"cells": [[["a"], None]]})),
    "an endless path": (REGION, ("proof", {"cells": [[[0] * 5000, None]]})),
    "a poem for an envelope": (REGION, ("worst", {"format": "poem"})),
    "nothing for an envelope": (REGION, ("worst", None)),
    "another channel": (REGION, ("channel", tl.Channel([["1/2", "1/2"]] * 3).to_dict())),
    "a fake attack": (REGION, ("worst", "lower", "ratio", 3.0)),
    "fewer envelopes": (LIST, ("envelopes", [])),
    "another δ for a list": (LIST, ("delta", "1/100")),
    "a set for a list": (LIST, ("prior_set", {"floor": {"secrets": None, "min_mass": "1/8"}})),
    "a third prior": (LIST, ("prior_set", {"list": [prior.to_dict() for prior in (*PRIORS, PRIORS[0])]})),
    "another order": (LIST, ("prior_set", {"list": [prior.to_dict() for prior in reversed(PRIORS)]})),
}


@pytest.mark.parametrize(("certificate", "change"), CHANGES.values(), ids=list(CHANGES))
def test_what_was_changed_is_refused(certificate, change):
    with pytest.raises((CertificateInvalid, TightlipError)):
        changed(certificate, lambda record: _set(record, *change)).verify()


@pytest.mark.parametrize("certificate", [REGION, LIST], ids=["region", "list"])
def test_what_was_not_changed_holds(certificate):
    twin = changed(certificate, lambda record: None)
    twin.verify()
    assert (twin.claim(), twin.prior, twin.delta) == (certificate.claim(), certificate.prior, Fraction(1, 2))


def test_a_hash_ties_it_to_channel_and_set():
    record = json.loads(REGION.to_json())
    record["prior_set"]["floor"]["min_mass"] = "1/7"
    with pytest.raises(CertificateInvalid, match="hash of its kind, channel and set of priors"):
        RegionCertificate.from_json(json.dumps(record))


def test_which_channel_files_it_is_about():
    other = tl.Channel([["1/2", "1/2"], ["1/4", "3/4"], ["1/2", "1/2"]])
    assert REGION.digest_for(CHANNEL, None, None) == REGION.digest() != LIST.digest()
    assert REGION.digest_for(CHANNEL, tl.Prior.uniform(3), None) == REGION.digest()
    assert REGION.digest_for(CHANNEL, tl.Prior(["9/10", "1/20", "1/20"]), None) is None
    assert REGION.digest_for(other, None, None) != REGION.digest()
    assert LIST.digest_for(CHANNEL, PRIORS[0], None) == LIST.digest()
    assert isinstance(LIST, ListCertificate)
