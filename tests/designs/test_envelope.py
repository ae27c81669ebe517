"""Designs under an envelope, beside that of PML of the same level."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from design_oracle import best_gain, rows_of
from tightlip.certificate.base import kind_digest
from tightlip.designs import DesignCertificate, design
from tightlip.errors import CertificateInvalid
from tightlip.robust import PriorBall

NAMED = tl.Prior({"a": "1/2", "b": "3/10", "c": "1/5"})


def _drawn(seed, size=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(size)), rng.random((size, size)), float(rng.uniform(0.1, 1.0))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["loss", "gain"])
def test_what_could_be_gained_is_the_difference_of_two_programs(seed, kind):
    masses, table, level = _drawn(seed)
    found = design(tl.Prior(masses), envelope=(level, "1/5"), **{kind: table})
    found.verify()
    gains = -table if kind == "loss" else table
    plain = best_gain(masses, gains, rows_of("pml", masses, level))
    most = best_gain(masses, gains, np.zeros((1, len(masses))), total=np.exp(level) * 1.2)
    assert found.possible_gain == pytest.approx(most - plain, abs=2e-6)
    assert found.possible_gain >= most - plain - 1e-9
    assert 0 <= found.gained <= found.possible_gain
    sign = -1 if kind == "loss" else 1
    assert sign * found.pml.value == pytest.approx(plain, abs=2e-6)
    assert Fraction(found.possible_gain) >= sign * (Fraction(found.bound) - Fraction(found.pml.value))
    assert Fraction(found.gained) <= sign * (Fraction(found.value) - Fraction(found.pml.value))


@pytest.mark.parametrize(
    "asked",
    [
        {"gain": "hamming"},
        {"loss": "hamming"},
        {"utility": "mutual_information"},
        {"utility": "total_variation"},
        {"utility": "frequency_variance"},
    ],
)
@pytest.mark.parametrize(
    "prior", [NAMED, tl.Prior.uniform(3), tl.Prior([0.7, 0.2, 0.1]), tl.Prior([0.4, 0.6])]
)
def test_an_envelope_is_never_worse_than_pml_and_keeps_its_level(asked, prior):
    for level in ("log(11/10)", "log(2)"):
        found = design(prior, envelope=(level, "1/10"), **asked)
        found.verify()
        alone = design(prior, pml=level, **asked)
        sign = -1 if found.utility.minimised else 1
        assert sign * found.value >= sign * alone.value
        assert (found.pml.value, found.pml.bound) == (alone.value, alone.bound)
        assert tl.envelope(found.channel, prior, "1/10").upper <= float(tl.log_of(level[4:-1])) + 1e-9
        assert alone.pml is alone.possible_gain is alone.gained is None


def test_where_pml_allows_the_truth_there_is_nothing_to_gain():
    found = design(NAMED, envelope=("log(5)", "1/10"), loss="hamming")
    assert (found.value, found.possible_gain, found.gained) == (0, 0, 0)
    assert "can beat that: there is nothing to gain." in found.words().splitlines()[0]


def test_some_envelope_gains():
    masses, table, _ = _drawn(1)
    found = design(tl.Prior(masses), envelope=(0.5, 0.3), gain=table)
    assert 0 < found.gained < found.possible_gain
    assert found.value - found.pml.value == pytest.approx(found.gained, rel=1e-9)


def test_other_guarantees_stay_beside_pml():
    ball = PriorBall(NAMED, "1/20")
    asked = {"pml": 0.8, "priors": ball, "ldp": 2, "gain": "hamming"}
    found = design(NAMED, envelope=(0.5, "1/10"), **asked)
    found.verify()
    assert [own.key for own in found.pml.guarantees] == ["prior_set", "ldp", "alip"]
    DesignCertificate.from_json(found.certificate.to_json()).verify()


def _record(found):
    return json.loads(found.certificate.to_json())


def _reread(record):
    about = {key: record[key] for key in ("prior", "secrets", "guarantees", "utility")}
    record["inputs"] = kind_digest(record["kind"], about)
    found = DesignCertificate.from_json(json.dumps(record))
    found.verify()
    return found


def _raise_claim(record):
    record["pml"]["claim"][1] -= 1e-6  # of a loss: more than is reached


def _move_weight(record):
    first, second = record["pml"]["weights"][:2]
    first[0] += record["pml"]["scale"] // 100
    second[0] -= record["pml"]["scale"] // 100


@pytest.mark.parametrize(
    "change",
    [
        _raise_claim,
        _move_weight,
        lambda record: record["pml"]["guarantees"][0].update(upper="1"),
        lambda record: record["pml"].update(guarantees=record["guarantees"]),
        lambda record: record["pml"].update(pml=None),
        lambda record: record["pml"].pop("proof"),
        lambda record: record.update(pml=3),
        lambda record: record.update(guarantees=record["pml"]["guarantees"]),
    ],
)
def test_a_changed_proof_beside_is_refused(change):
    found = design(NAMED, envelope=(0.5, "1/10"), loss="hamming")
    whole = _reread(_record(found))
    assert whole.claim().pml == (found.pml.lower, found.pml.upper)
    record = _record(found)
    change(record)
    with pytest.raises(CertificateInvalid):
        _reread(record)


def test_a_result_that_claims_another_pml_is_refused():
    found = design(NAMED, envelope=(0.5, "1/10"), loss="hamming")
    for other in (replace(found.pml, upper=found.pml.upper / 2), design(NAMED, pml=2, loss="hamming")):
        with pytest.raises(CertificateInvalid):
            replace(found, pml=other).verify()
