"""Proofs travel as JSON, verify in a fresh process, and fail when anything is changed."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.sparse import coo_array

import tightlip as tl
from tightlip import papers
from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import KIND, EnvelopeCertificate, UpperProof, input_digest
from tightlip.envelopes.adversaries import envelope
from tightlip.errors import CertificateInvalid
from tightlip.model.matrix import is_sparse

CHANNEL, PRIOR = papers.env_example_1(), tl.Prior.uniform(4)


@pytest.fixture(scope="module")
def certificate():
    return envelope(CHANNEL, PRIOR, "0.2").certificate


def test_round_trip(certificate):
    again = EnvelopeCertificate.from_json(certificate.to_json())
    again.verify()
    assert (again.upper, again.lower) == (certificate.upper, certificate.lower)
    assert again.digest() == certificate.digest() == input_digest(KIND, CHANNEL, PRIOR)


def test_fresh_process(certificate, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(certificate.to_json())
    program = (
        "import sys; from pathlib import Path\n"
        "from tightlip.certificate.envelope import EnvelopeCertificate\n"
        f"EnvelopeCertificate.from_json(Path({str(path)!r}).read_text()).verify()\n"
        "print('highspy' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


class TestTampering:
    def test_an_upper_end_too_low(self, certificate):
        lowered = replace(certificate.upper, ratio=certificate.upper.ratio * Fraction(999, 1000))
        with pytest.raises(tl.errors.CertificateInvalid, match="upper end fails: the multipliers prove"):
            replace(certificate, upper=lowered).verify()

    def test_a_mass_too_small(self, certificate):
        with pytest.raises(tl.errors.CertificateInvalid, match="upper end fails"):
            replace(certificate, upper=replace(certificate.upper, mass=Fraction(19, 100))).verify()

    def test_negative_numbers_whose_product_is_not(self, certificate):
        """An attack of mass m proves a ratio of r·m/δ beyond its mass: two minus signs would prove anything."""
        forged = replace(certificate.lower, mass=Fraction(-100), ratio=Fraction(-100))
        for lower in (forged, replace(forged, mass=Fraction(0)), replace(forged, ratio=Fraction(1))):
            with pytest.raises(tl.errors.CertificateInvalid, match="must not be negative, got"):
                replace(certificate, lower=lower).verify()

    def test_multipliers_changed(self, certificate):
        wrong = (*certificate.upper.multipliers[:-1], certificate.upper.multipliers[-1] * 2)
        with pytest.raises(tl.errors.CertificateInvalid, match="upper end fails"):
            replace(certificate, upper=replace(certificate.upper, multipliers=wrong)).verify()
        for broken in ((Fraction(1),), tuple(-value for value in certificate.upper.multipliers)):
            with pytest.raises(tl.errors.CertificateInvalid, match="one multiplier for each secret"):
                replace(certificate, upper=replace(certificate.upper, multipliers=broken)).verify()

    def test_a_lower_end_too_high(self, certificate):
        raised = replace(certificate.lower, ratio=certificate.lower.ratio * Fraction(1001, 1000))
        with pytest.raises(tl.errors.CertificateInvalid, match="lower end fails: symbol"):
            replace(certificate, lower=raised).verify()

    def test_a_mass_the_attack_does_not_have(self, certificate):
        with pytest.raises(tl.errors.CertificateInvalid, match="lower end fails: the attack has probability"):
            replace(certificate, lower=replace(certificate.lower, mass=Fraction(1, 2))).verify()

    def test_another_attack(self, certificate):
        silent = tl.Channel([[0] * len(certificate.lower.suspects[:-1]) + [1]] * 4)
        with pytest.raises(tl.errors.CertificateInvalid, match="lower end fails"):
            replace(certificate, lower=replace(certificate.lower, attack=Attack.of(silent))).verify()
        small = tl.Channel([[1]] * 4, inputs=[1, 2, 3, 4])
        with pytest.raises(tl.errors.CertificateInvalid, match="must map 4 outcomes"):
            replace(certificate, lower=replace(certificate.lower, attack=Attack.of(small))).verify()

    def test_an_attack_whose_rows_are_in_another_order(self, certificate):
        own = certificate.attack
        turned = tl.Channel(own.matrix, list(own.inputs)[::-1], own.outputs)
        with pytest.raises(tl.errors.CertificateInvalid, match="inputs must be the channel's outputs"):
            replace(certificate, lower=replace(certificate.lower, attack=Attack.of(turned))).verify()

    def test_symbols_named_after_other_secrets(self, certificate):
        own = certificate.attack
        names = [own.outputs[1], own.outputs[0], *own.outputs[2:]]
        turned = Attack.of(tl.Channel(own.matrix, own.inputs, names))
        with pytest.raises(
            tl.errors.CertificateInvalid, match="symbol 0 is named 4, not after its suspect 3"
        ):
            replace(certificate, lower=replace(certificate.lower, attack=turned)).verify()

    def test_nothing_is_proved_by_zero_multipliers(self):
        identity, uniform = tl.mechanism.identity(2), tl.Prior.uniform(2)
        lower = envelope(identity, uniform, 1).certificate.lower
        claim = UpperProof(Fraction(1, 1000), Fraction(1), (Fraction(0), Fraction(0)))
        with pytest.raises(tl.errors.CertificateInvalid, match="positive for possible ones"):
            EnvelopeCertificate(identity, uniform, claim, lower).verify()

    def test_ends_that_the_certificate_does_not_prove(self):
        found = envelope(CHANNEL, PRIOR, "0.2")
        for wrong in (replace(found, upper=found.lower), replace(found, lower=found.upper)):
            with pytest.raises(tl.errors.CertificateInvalid, match="the certificate proves"):
                wrong.verify()

    def test_an_impossible_suspect(self, certificate):
        wrong = (17, *certificate.lower.suspects[1:])
        with pytest.raises(tl.errors.CertificateInvalid, match="suspects secret 17, which is impossible"):
            replace(certificate, lower=replace(certificate.lower, suspects=wrong)).verify()

    def test_another_channel(self, certificate):
        other = tl.Channel([["1/4"] * 4] * 4)
        with pytest.raises(tl.errors.CertificateInvalid, match="lower end fails"):
            replace(certificate, channel=other).verify()

    def test_a_maximum_that_is_exceeded(self):
        found = envelope(CHANNEL, PRIOR, "0.1").certificate
        assert found.upper.multipliers is None
        found.verify()
        with pytest.raises(tl.errors.CertificateInvalid, match="outcome 0 has lift 4 above 3"):
            replace(found, upper=replace(found.upper, ratio=Fraction(3))).verify()


class TestAttack:
    """A proof holds the entries of its attack; the channel comes back from them as it was."""

    def test_dense_sparse_and_exact(self):
        for rows in ([[0.5, 0.5], [0.0, 1.0]], [["1/3", "2/3"], [0, 1]]):
            channel = tl.Channel(rows, outputs=["a", "rest"])
            held = Attack.of(channel)
            assert len(held.shares) == 3
            again = Attack(held.outcomes, held.symbols, held.shares, held.inputs, held.outputs)
            assert again.channel == channel
            assert (again, hash(again)) == (held, hash(held))
            assert again != channel
        sparse = tl.Channel(coo_array([[0.5, 0.5], [0.0, 1.0]]), outputs=["a", "rest"])
        assert Attack.of(sparse) == Attack.of(tl.Channel([[0.5, 0.5], [0.0, 1.0]], outputs=["a", "rest"]))

    def test_many_entries_are_kept_sparse(self, monkeypatch):
        monkeypatch.setattr("tightlip.certificate.attack._MOST_DENSE", 3)
        held = Attack.of(tl.Channel([[0.5, 0.5], [0.0, 1.0]]))
        again = Attack(held.outcomes, held.symbols, held.shares, held.inputs, held.outputs)
        assert is_sparse(again.channel.matrix)
        assert again.channel.matrix.toarray().tolist() == [[0.5, 0.5], [0.0, 1.0]]


class TestJson:
    def changed(self, certificate, change):
        record = json.loads(certificate.to_json())
        change(record)
        return json.dumps(record)

    def test_a_changed_channel_is_noticed_by_its_hash(self, certificate):
        text = self.changed(certificate, lambda record: record["channel"]["channel"].reverse())
        with pytest.raises(tl.errors.CertificateInvalid, match="was changed: the hash"):
            EnvelopeCertificate.from_json(text)

    def test_a_changed_prior_is_noticed_by_its_hash(self, certificate):
        text = self.changed(
            certificate, lambda record: record["prior"].update(prior=["1/2", "1/6", "1/6", "1/6"])
        )
        with pytest.raises(tl.errors.CertificateInvalid, match="was changed: the hash"):
            EnvelopeCertificate.from_json(text)

    def test_a_changed_number_is_noticed_by_the_proof(self, certificate):
        text = self.changed(certificate, lambda record: record["upper"].update(ratio=2.0))
        with pytest.raises(tl.errors.CertificateInvalid, match="upper end fails"):
            EnvelopeCertificate.from_json(text).verify()

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["upper"].pop("ratio"),
            lambda record: record["upper"].update(ratio="x"),
            lambda record: record["lower"].update(suspects=["a"]),
            lambda record: record["lower"].update(attack=3),
            lambda record: record["upper"].update(ratio=None),
        ],
    )
    def test_malformed(self, certificate, change):
        with pytest.raises(tl.errors.CertificateInvalid, match="malformed"):
            EnvelopeCertificate.from_json(self.changed(certificate, change))

    def test_another_format(self, certificate):
        with pytest.raises(tl.errors.InvalidInput, match="certificate format must be"):
            EnvelopeCertificate.from_json(self.changed(certificate, lambda record: record.update(format="x")))
        with pytest.raises(tl.errors.InvalidInput, match="certificate must have the key"):
            EnvelopeCertificate.from_json("{}")


@pytest.mark.parametrize("delta", ["1/10", "1"])
def test_a_proof_for_another_probability_is_refused(delta):
    found = tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), "0.9")
    found.verify()
    with pytest.raises(CertificateInvalid, match="certificate proves"):
        replace(found, delta=Fraction(delta)).verify()
