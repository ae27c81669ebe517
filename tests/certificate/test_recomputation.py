"""Certificates that compute a number again: files, pickles, changes, and what cannot be written."""

import copy
import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
from scipy.stats import beta

import tightlip as tl
from tightlip import papers
from tightlip.certificate import Recomputation
from tightlip.cli.main import main
from tightlip.contraction import divergence
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.histogram import HistogramSpace, MaxLMechanism, Quantization, RandomizedResponse
from tightlip.histogram.maxl import privacy_of_bins
from tightlip.histogram.ratio_distortion import ratio_distortion
from tightlip.histogram.share_distortion import share_distortion
from tightlip.histogram.support import unlisted_privacy
from tightlip.noise import (
    AdditiveNoise,
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    Gaussian,
    GaussianMixture,
    GaussianSecret,
    Laplace,
    UniformSecret,
)

NORMAL = AdditiveNoise(GaussianSecret(1, "1/3"), Gaussian("1/2"))
UNIFORM = AdditiveNoise(UniformSecret(0, Fraction(2, 3)), Laplace(0.5))
COINS = DiscreteSecret([0, "1/3", 1], ["0.5", "0.25", 0.25])
MIXTURE = GaussianMixture(["1/3", "2/3"], [-1, "1.5"], [0.5, 1])
CHANNEL = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"], [0.5, 0.5]], inputs=list("abc"))
BIASED = tl.Prior({"b": 0.25, "a": 0.25, "c": 0.5})
SPACE, SUPPORT = HistogramSpace(11, 3), papers.MisspecifiedSupport(6, 3, 1, 1)
REPEATED = tl.envelopes.repeat(
    [tl.Channel([["3/4", "1/4"], [0.5, 0.5]]), AdditiveNoise(BoundedSecret(0, 1), Gaussian(3))],
    [3, 2],
    points=64,
)
WRITTEN = {
    "PML": lambda: tl.noise.pml(NORMAL, "2/3"),
    "PML, any distribution": lambda: tl.noise.pml(AdditiveNoise(BoundedSecret(-1, 1), Laplace(1)), 2),
    "PMC": lambda: tl.noise.pmc(UNIFORM, 0.1),
    "PMC, infinite": lambda: tl.noise.pmc(NORMAL, 0.1),
    "density, negative": lambda: tl.noise.information_density(NORMAL, 0.0, 2.0),
    "interval": lambda: tl.noise.interval_leakage(NORMAL, 1, math.inf),
    "interval of all": lambda: tl.noise.interval_leakage(NORMAL, -math.inf, math.inf),
    "worst PMC": lambda: tl.noise.pmc_supremum(UNIFORM),
    "worst PMC, Gaussian": lambda: tl.noise.pmc_supremum(AdditiveNoise(COINS, Gaussian(1))),
    "mean": lambda: tl.noise.laplace_mean_pmc(COINS, 3, "1/2"),
    "bounds": lambda: tl.noise.gaussian_pmc_bounds(1, "1/2", 3, ends_in_support=False),
    "cumulant": lambda: tl.noise.cumulant(COINS, -1.5),
    "statistic": lambda: tl.statistic.noise_leakage(
        Gaussian(1), {"low": (0, "1/2"), ("high", 1): [(0.5, 1), (2, 3)], 2: (4, 4)}
    ),
    "divergence": lambda: divergence([0.1, 0.9], ["1/3", "2/3"], "kl"),
    "divergence, infinite": lambda: divergence({"a": 0.5, "b": 0.5}, {"b": 1, "a": 0}, "kl"),
    "total variation": lambda: divergence(["1/4", "3/4"], [0.5, 0.5], "tv"),
    "chi-squared": lambda: divergence([0.1, 0.9], [0.5, 0.5], "chi2"),
    "Rényi": lambda: divergence([0.1, 0.9], [0.5, 0.5], "renyi_inf"),
    "Hellinger": lambda: divergence([0.1, 0.9], [0.5, 0.5], "h2"),
    "envelope bounds": lambda: tl.envelopes.bounds(CHANNEL, BIASED, "1/5"),
    "ε of many uses": lambda: REPEATED.epsilon("1/100"),
    "ε of many uses, infinite": lambda: REPEATED.epsilon(0),
    "δ of many uses": lambda: REPEATED.delta(tl.log_of(3)),
    "envelope of many uses": lambda: REPEATED.envelope(tl.Prior([0.25, 0.75]), 0.1),
    "failure of many uses": lambda: REPEATED.failure_probability(tl.Prior(["1/4", "3/4"]), "1/3"),
    "leakage of many uses": lambda: REPEATED.maximal_leakage(),
    "binary envelope": lambda: tl.envelope(CHANNEL, BIASED, "1/5", adversary="binary"),
    "binary curve": lambda: tl.envelope_curve(CHANNEL, BIASED, [0.2, 1], adversary="binary")[0],
    "deterministic envelope": lambda: tl.envelope(CHANNEL, BIASED, 0.2, adversary="deterministic"),
    "k-ary envelope": lambda: tl.envelope(CHANNEL, BIASED, 0.2, adversary="k-ary", symbols=2),
    "envelope of noise": lambda: tl.noise.envelope(UNIFORM, "1/10", cells=20),
    "envelope of noise, infinite": lambda: tl.noise.envelope(NORMAL, 0.1),
    "deterministic, noise": lambda: tl.noise.envelope(UNIFORM, 0.1, adversary="deterministic", cells=20),
    "ordered, noise": lambda: tl.noise.envelope(NORMAL, "1/10", adversary="ordered"),
    "ordered, noise of a mixture": lambda: tl.noise.envelope(
        AdditiveNoise(MIXTURE, Gaussian("1/2")), "1/10", adversary="ordered", cells=20
    ),
    "posterior mean, negative": lambda: tl.noise.posterior_moments(NORMAL, "-2/3").mean,
    "posterior variance": lambda: tl.noise.posterior_moments(AdditiveNoise(COINS, Gaussian(1)), 1).variance,
    "largest posterior variance": lambda: tl.noise.posterior_variance_bound(
        AdditiveNoise(COINS, Gaussian(1))
    ),
    "binary, noise": lambda: tl.noise.envelope(NORMAL, "1/10", adversary="binary"),
    "size": lambda: SPACE.size_log(),
    "quantization": lambda: Quantization(SPACE, 4).privacy,
    "quantization, distortion": lambda: Quantization(SPACE, 4, ordered=False).distortion,
    "quantization of another secret": lambda: Quantization(SPACE, 2, secrets=7).privacy,
    "share of cells": lambda: share_distortion(SPACE, 2, 2),
    "ratio": lambda: ratio_distortion(6, (2, 1, 1), 2, resolution=Fraction(1, 4)),
    "unlisted cells": lambda: unlisted_privacy(6, [2, 1, 1], [1, 0, 1], 5, 2),
    "response": lambda: RandomizedResponse(SPACE, ratio=50).privacy,
    "response, irrational": lambda: RandomizedResponse(SPACE, "1/2", secrets=9).privacy,
    "response, distortion": lambda: RandomizedResponse(SPACE, 0.5).distortion,
    "MaxL": lambda: MaxLMechanism(HistogramSpace(4, 2), [[1, 3], [3, 1]]).privacy,
    "MaxL, distortion": lambda: MaxLMechanism(HistogramSpace(4, 2), [[1, 3], [3, 1]]).distortion,
    "MaxL by bins": lambda: privacy_of_bins(SPACE, 2, 7),
    "matched response": lambda: papers.compare(SPACE, 2).response,
    "wrong response": lambda: papers.misspecified_response_privacy(SUPPORT, 0.5),
    "wrong response, distortion": lambda: papers.misspecified_response_distortion(SUPPORT, ratio=2),
    "wrong quantization": lambda: papers.misspecified_quantization_privacy(SUPPORT, 2),
    "wrong quantization, distortion": lambda: papers.misspecified_quantization_distortion(SUPPORT, 2),
    "range": lambda: papers.statistic_leakage_range(CHANNEL, {"a": 1, "b": 1, "c": 2}),
}
UNWRITTEN = {
    "PML": lambda: tl.noise.pml(AdditiveNoise(DistributionSecret(beta(2, 5)), Laplace(1)), 0.5),
    "envelope": lambda: tl.noise.envelope(
        AdditiveNoise(DistributionSecret(beta(2, 5)), Laplace(1)), 0.1, cells=20
    ),
    "mean": lambda: tl.noise.laplace_mean_pmc(DistributionSecret(beta(2, 5)), 2, 1.0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_found_is_computed_again_from_a_file(capsys, tmp_path, name):
    found = WRITTEN[name]()
    found.verify()
    path = tmp_path / "proof.json"
    found.save(path)
    read = tl.load(path)
    assert (type(read), read.lower, read.upper) == (Recomputation, found.lower, found.upper)
    read.verify()
    assert read.to_json() == found.certificate.to_json()
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        twin.verify()
        assert twin.certificate.to_json() == read.to_json()
    assert main(["verify", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Valid: ")
    assert " at least " in said
    assert main(["verify", str(path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["kind"], record.get("unit")) == (read.kind, read.claim().unit)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_what_cannot_be_written_is_computed_again_in_memory(tmp_path, name):
    found = UNWRITTEN[name]()
    found.verify()
    pickle.loads(pickle.dumps(found)).verify()
    with pytest.raises(InvalidInput, match="cannot be saved: a file holds no"):
        found.save(tmp_path / "proof.json")
    assert not (tmp_path / "proof.json").exists()


@pytest.mark.parametrize("name", [*WRITTEN])
def test_ends_within_what_is_proved_are_refused_and_wider_ones_hold(name):
    proof = WRITTEN[name]().certificate
    if math.isfinite(proof.upper):
        replace(proof, lower=proof.lower - 1, upper=proof.upper + 1).verify()
        with pytest.raises(CertificateInvalid, match="both ends fail: the number is proved to lie in"):
            replace(proof, upper=math.nextafter(proof.upper, -math.inf)).verify()
        with pytest.raises(CertificateInvalid, match="both ends fail"):
            replace(proof, lower=math.nextafter(proof.lower, math.inf)).verify()
    else:
        with pytest.raises(CertificateInvalid, match="both ends fail"):
            replace(proof, upper=100.0).verify()


def _changed(key, value):
    record = json.loads(WRITTEN["PML"]().certificate.to_json())
    if key in record:
        record[key] = value
    else:
        record["arguments"]["values"][record["arguments"]["labels"].index(key)] = value
    return record


CHANGES = {
    "another outcome": ("y", 3.0),
    "no number": ("y", "much"),
    "a list for an outcome": ("y", [1]),
    "another noise": ("release", {"type": "Gaussian", "sigma": 1}),
    "a type that is none": ("release", {"type": "os.system", "command": "true"}),
    "no type": ("release", {}),
    "a type in a list": ("release", {"type": ["Gaussian"]}),
    "fewer fields": ("release", {"type": "AdditiveNoise"}),
    "other fields": ("release", {"type": "Gaussian", "sigma": 1, "mean": 0}),
    "no arguments": ("arguments", None),
    "a list for arguments": ("arguments", [1]),
    "names that are none": ("arguments", {"type": "mapping", "labels": ["z"], "values": [1]}),
    "too few values": ("arguments", {"type": "mapping", "labels": ["y", "release"], "values": [1]}),
    "another kind": ("kind", "PMC of noise"),
    "a kind that is none": ("kind", "envelope"),
    "no ends": ("lower", None),
    "words for an end": ("upper", "much"),
    "endless below": ("upper", "-inf"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("hashed", [True, False])
def test_what_was_changed_is_refused(name, hashed):
    record = _changed(*CHANGES[name])
    if hashed:
        try:
            record["inputs"] = Recomputation.from_parts(record).digest()
        except Exception:  # what cannot be read keeps its old hash
            record["inputs"] = ""
    with pytest.raises(CertificateInvalid):
        Recomputation.from_json(json.dumps(record)).verify()


def test_every_kind_is_written_here():
    assert {make().certificate.kind for make in WRITTEN.values()} == set(Recomputation.KINDS)


def test_a_kind_decides_which_divergence_is_meant():
    found = WRITTEN["divergence"]().certificate
    with pytest.raises(CertificateInvalid, match="both ends fail: the number cannot be computed"):
        replace(found, arguments={**found.arguments, "kind": "tv"}).verify()
    for kind in ("total variation distance", "chi-squared divergence", "squared Hellinger distance"):
        with pytest.raises(CertificateInvalid, match="both ends fail: the number is proved to lie in"):
            replace(found, kind=kind).verify()


def test_few_symbols_are_told(tmp_path, capsys):
    path = tmp_path / "proof.json"
    WRITTEN["k-ary envelope"]().save(path)
    main(["verify", str(path)])
    assert "some post-processing to at most 2 symbols leaks" in " ".join(capsys.readouterr().out.split())
    main(["verify", str(path), "--json"])
    assert json.loads(capsys.readouterr().out)["symbols"] == 2


def test_an_envelope_at_another_probability_is_not_proved():
    found = WRITTEN["binary envelope"]()
    with pytest.raises(CertificateInvalid, match="proves no end at δ"):
        replace(found, delta=Fraction(1, 10)).verify()


def test_bounds_of_an_envelope_are_about_a_channel_file(tmp_path, capsys):
    proof, channel = tmp_path / "proof.json", tmp_path / "channel.json"
    WRITTEN["envelope bounds"]().save(proof)
    CHANNEL.save(channel, prior=BIASED)
    assert main(["verify", str(proof), "--channel", str(channel)]) == 0
    CHANNEL.save(channel, prior=tl.Prior.uniform(list("abc")), force=True)
    assert main(["verify", str(proof), "--channel", str(channel)]) == 1
    assert "is about another channel" in capsys.readouterr().err.replace("\n", " ")


def test_regions_that_are_changed_later_change_no_proof():
    regions = {"low": [(0, "1/2")], "high": [("1/2", 1)]}
    found = tl.statistic.noise_leakage(Gaussian(1), regions)
    regions["high"][0] = (5, 6)
    found.verify()


def test_it_is_not_about_a_channel_file(tmp_path, capsys):
    WRITTEN["PML"]().save(tmp_path / "proof.json")
    CHANNEL.save(tmp_path / "channel.json")
    assert main(["verify", str(tmp_path / "proof.json"), "--channel", str(tmp_path / "channel.json")]) == 1
    assert "is about another channel" in capsys.readouterr().err.replace("\n", " ")
