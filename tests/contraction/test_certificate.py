"""Certificates of contraction coefficients: ends that are not true, and parts that do not fit, are refused."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.contraction import (
    chi_squared_contraction,
    dobrushin,
    e_gamma_contraction,
    hellinger_contraction,
    kl_contraction,
)
from tightlip.errors import CertificateInvalid

RNG = np.random.default_rng(5)
CHANNEL = tl.Channel(RNG.dirichlet(np.full(4, 0.7), 3))
TALL = tl.Channel(RNG.dirichlet(np.full(2, 0.7), 5))
PRIOR = tl.Prior([0.2, 0.3, 0.5])
FOUND = {
    "TV": dobrushin(CHANNEL),
    "E_γ": e_gamma_contraction(CHANNEL, "5/4"),
    "χ²": chi_squared_contraction(CHANNEL),
    "KL": kl_contraction(CHANNEL),
    "H²": hellinger_contraction(CHANNEL),
    "χ² towards": chi_squared_contraction(CHANNEL, PRIOR),
    "χ² towards, few outcomes": chi_squared_contraction(TALL, tl.Prior.uniform(5)),
    "KL towards": kl_contraction(CHANNEL, PRIOR),
    "H² towards": hellinger_contraction(CHANNEL, PRIOR),
    "equal rows": chi_squared_contraction(tl.Channel([[0.5, 0.5]] * 3), PRIOR),
    "randomised response": chi_squared_contraction(tl.mechanism.randomized_response(9, 1.0)),
}
OPEN = {name: found for name, found in FOUND.items() if found.lower > 0}


@pytest.mark.parametrize("found", FOUND.values(), ids=list(FOUND))
def test_what_was_found_is_proved(found):
    found.verify()
    assert found.certificate.claim().lower == found.lower
    assert found.certificate.claim().upper == found.upper


@pytest.mark.parametrize("found", OPEN.values(), ids=list(OPEN))
def test_ends_that_are_not_true_are_refused(found):
    proof = found.certificate
    reached = Fraction(found.upper) if found.exact else None
    with pytest.raises(CertificateInvalid, match="end fails"):
        replace(proof, upper=Fraction(found.lower) * (1 - Fraction(1, 10**6)), lower=Fraction(0)).verify()
    if reached is not None:
        with pytest.raises(CertificateInvalid, match="lower end fails"):
            replace(proof, lower=reached * (1 + Fraction(1, 10**6)), upper=Fraction(1)).verify()
    with pytest.raises(CertificateInvalid, match="in order and in"):
        replace(proof, upper=Fraction(2)).verify()
    less = found.proved_by(replace(proof, lower=Fraction(0)))
    with pytest.raises(CertificateInvalid, match="the certificate proves"):
        less.verify()


def test_a_kl_coefficient_between_is_not_proved():
    """Towards a prior the ends need not meet; nothing in between is proved by the same witness."""
    proof = FOUND["KL towards"].certificate
    middle = (proof.lower + proof.upper) / 2
    assert proof.lower < middle < proof.upper
    with pytest.raises(CertificateInvalid, match="lower end fails"):
        replace(proof, lower=middle).verify()
    with pytest.raises(CertificateInvalid, match="upper end fails"):
        replace(proof, upper=middle).verify()


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("TV", {"pair": (0, 7)}, "no rows"),
        ("TV", {"pair": (1, 1)}, "lower end fails"),
        ("E_γ", {"gamma": Fraction(1, 2)}, "γ must be in"),
        ("E_γ", {"gamma": Fraction(1)}, "upper end fails"),
        ("χ²", {"inputs": None}, "lower end fails"),
        ("χ²", {"inputs": (PRIOR, PRIOR)}, "lower end fails"),
        ("χ²", {"inputs": (tl.Prior.uniform(2), tl.Prior.uniform(2))}, "both ends fail"),
        ("KL towards", {"inputs": (PRIOR, tl.Prior.uniform(3))}, "second input must be the prior"),
        ("KL towards", {"prior": tl.Prior([0.5, 0.5, 0.0]), "inputs": None}, "end fails"),
    ],
)
def test_parts_that_do_not_fit_are_refused(name, changes, message):
    with pytest.raises(CertificateInvalid, match=message):
        replace(FOUND[name].certificate, **changes).verify()


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("TV", "gamma", "3/2"),
        ("TV", "pair", [0]),
        ("TV", "pair", [0, True]),
        ("TV", "upper", "x"),
        ("E_γ", "gamma", None),
        ("χ²", "prior", PRIOR.to_dict()),
        ("χ²", "witness", []),
        ("χ²", "witness", 3),
        ("KL towards", "prior", None),
        ("KL towards", "kind", "KL contraction"),
        ("KL towards", "kind", "Hellinger contraction towards a prior"),
        ("χ²", "channel", TALL.to_dict()),
    ],
)
def test_records_that_do_not_fit_are_refused(name, key, value):
    proof = FOUND[name].certificate
    record = json.loads(proof.to_json()) | {key: value}
    with pytest.raises(CertificateInvalid, match=r"malformed|was changed"):
        type(proof).from_json(json.dumps(record))
