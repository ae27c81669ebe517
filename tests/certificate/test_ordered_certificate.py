"""Proofs about interval adversaries travel as JSON and fail when anything is changed."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip import papers
from tightlip.certificate.ordered import OrderedCertificate
from tightlip.errors import CertificateInvalid

CHANNEL, PRIOR = papers.env_example_1(), tl.Prior.uniform(4)


@pytest.fixture(scope="module")
def certificate():
    """Ratio 6/5 at δ = 1/5: outcome 1 alone, outcomes 2 and 3 together, outcome 4 the rest."""
    return tl.envelope(CHANNEL, PRIOR, "0.2", adversary="ordered").certificate


def test_round_trip(certificate):
    again = OrderedCertificate.from_json(certificate.to_json())
    again.verify()
    assert (again.upper, again.lower, again.delta) == (
        certificate.upper,
        certificate.lower,
        certificate.delta,
    )
    rng = np.random.default_rng(2)
    channel, prior = tl.Channel(rng.dirichlet(np.ones(7), 3)), tl.Prior([0.2, 0.3, 0.5])
    floats = tl.envelope(channel, prior, 0.3, adversary="ordered")
    OrderedCertificate.from_json(floats.certificate.to_json()).verify()


def test_the_edge_is_strict():
    """At δ = 1/10 the cells of ratio above 3 have probability 1/10 exactly, which does not prove 3."""
    found = tl.envelope(CHANNEL, PRIOR, "0.1", adversary="ordered").certificate
    assert found.upper.ratio == 4
    potentials = (Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1, 10), Fraction(1, 10))
    claim = replace(found.upper, ratio=Fraction(3), potentials=potentials)
    with pytest.raises(CertificateInvalid, match="which is not below"):
        replace(found, upper=claim).verify()
    replace(found, upper=claim, delta=Fraction(11, 100), lower=_whole(found)).verify()


def _whole(certificate):
    return replace(certificate.lower, ratio=Fraction(1), cuts=(0, 4), suspects=(0,))


class TestTampering:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"ratio": Fraction(1199, 1000)}, "more probability than its potentials allow"),
            ({"ratio": Fraction(0)}, "positive ratio"),
            ({"potentials": (Fraction(0),)}, "5 potentials"),
            ({"potentials": (Fraction(0),) * 5}, "the cell of outcomes 0 to 0"),
            ({"potentials": (Fraction(-1),) * 5}, "at least 0 and never fall"),
            ({"potentials": tuple(Fraction(5 - place, 100) for place in range(5))}, "never fall"),
            ({"potentials": (Fraction(1),) * 5}, "which is not below"),
        ],
    )
    def test_the_upper_end(self, certificate, change, message):
        with pytest.raises(CertificateInvalid, match=f"upper end fails.*{message}"):
            replace(certificate, upper=replace(certificate.upper, **change)).verify()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"ratio": Fraction(1201, 1000)}, "ratio below"),
            ({"ratio": Fraction(-1)}, "must be positive"),
            ({"cuts": ()}, "must lead from 0 to 4"),
            ({"cuts": (0, 1, 3, 3)}, "must lead from 0 to 4"),
            ({"cuts": (0, 3, 1, 4)}, "beyond the one before"),
            ({"cuts": (1, 2, 3, 4)}, "must lead from 0 to 4"),
            ({"suspects": (3, 2)}, "make 2 cells"),
            ({"suspects": (3, None, None)}, "the attack has probability 0.05, not 0.2"),
            ({"suspects": (3, 17, None)}, "suspects secret 17, which is impossible"),
            ({"suspects": (3, -1, None)}, "suspects secret -1, which is impossible"),
            ({"suspects": (0, 2, None)}, "the cell of outcomes 0 to 0 has a ratio below"),
        ],
    )
    def test_the_lower_end(self, certificate, change, message):
        assert certificate.lower.suspects == (3, 2, None)
        with pytest.raises(CertificateInvalid, match=f"lower end fails.*{message}"):
            replace(certificate, lower=replace(certificate.lower, **change)).verify()

    def test_an_impossible_secret_is_no_suspect(self, certificate):
        prior = tl.Prior(["1/3", "1/3", "1/3", 0])
        found = tl.envelope(CHANNEL, prior, "0.2", adversary="ordered").certificate
        found.verify()
        wrong = tuple(3 if place is not None else None for place in found.lower.suspects)
        with pytest.raises(CertificateInvalid, match="suspects secret 3, which is impossible"):
            replace(found, lower=replace(found.lower, suspects=wrong)).verify()

    def test_another_probability_channel_or_order(self, certificate):
        for delta in (Fraction(1, 20), Fraction(1)):
            with pytest.raises(CertificateInvalid, match="end fails"):
                replace(certificate, delta=delta).verify()
        with pytest.raises(CertificateInvalid, match="delta must be in"):
            replace(certificate, delta=Fraction(0)).verify()
        turned = tl.Channel([[row[i] for i in (0, 2, 1, 3)] for row in CHANNEL.matrix.tolist()])
        with pytest.raises(CertificateInvalid, match="end fails"):
            replace(certificate, channel=turned).verify()

    @pytest.mark.parametrize("delta", ["1/10", "1"])
    def test_a_proof_for_another_probability_is_refused(self, delta):
        found = tl.envelope(CHANNEL, PRIOR, "0.2", adversary="ordered")
        with pytest.raises(CertificateInvalid, match="certificate proves"):
            replace(found, delta=Fraction(delta)).verify()


class TestJson:
    def changed(self, certificate, change):
        record = json.loads(certificate.to_json())
        change(record)
        return json.dumps(record)

    def test_the_order_is_in_the_hash(self, certificate):
        text = self.changed(certificate, lambda record: record["channel"]["outputs"].reverse())
        with pytest.raises(CertificateInvalid, match="was changed: the hash"):
            OrderedCertificate.from_json(text)

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["upper"].pop("ratio"),
            lambda record: record["upper"].update(ratio="x"),
            lambda record: record["upper"].update(potentials=3),
            lambda record: record["lower"].update(cuts=[0, True]),
            lambda record: record["lower"].update(suspects=["a"]),
            lambda record: record.update(lower=None),
            lambda record: record.update(channel={}),
        ],
    )
    def test_malformed(self, certificate, change):
        with pytest.raises(CertificateInvalid, match="malformed"):
            OrderedCertificate.from_json(self.changed(certificate, change))

    def test_another_format(self, certificate):
        with pytest.raises(tl.errors.InvalidInput, match="certificate format must be"):
            OrderedCertificate.from_json(self.changed(certificate, lambda record: record.update(format="x")))
