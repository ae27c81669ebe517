"""Saving and loading: channels, certificates and results go through files without loss."""

import json
import pickle
from importlib import import_module

import pytest

import tightlip as tl
import tightlip.contraction
import tightlip.robust
from tightlip.certificate import loading
from tightlip.certificate.base import Certificate
from tightlip.errors import CertificateInvalid, InvalidInput, ShapeMismatch
from tightlip.numeric.quantity import Bound

EXACT = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"], [0, 1]], inputs=["a", "b", ("c", 1)], outputs=["+", "-"])
FLOATS = tl.Channel([[0.75, 0.25], [0.1, 0.9], [0.3, 0.7]])
PRIOR = tl.Prior([0.2, 0.3, 0.5])
PROOFS = {
    "envelope": lambda: tl.envelope(FLOATS, PRIOR, "1/10"),
    "failure probability": lambda: tl.failure_probability(FLOATS, PRIOR, 0.7),
    "randomised response": lambda: tl.envelopes.randomized_response(PRIOR, 1.0, "1/10"),
    "ordered": lambda: tl.envelope(FLOATS, PRIOR, "1/10", adversary="ordered"),
    "statistic": lambda: tl.statistic_maximal_leakage(FLOATS, list("xxy")),
    "statistic cost": lambda: tl.statistic.cost_leakage(FLOATS, list("xxy")),
    "robust": lambda: tl.robust.envelope(FLOATS, tl.PriorSet(min_mass=0.1), "1/10", cells=4, tries=4),
    "robust over a ball": lambda: tl.robust.envelope(
        EXACT, tl.robust.PriorBall(tl.Prior(["1/2", "1/4", "1/4"]), 0.1), "1/10", cells=4, tries=4
    ),
    "robust over a polytope": lambda: tl.robust.envelope(
        EXACT,
        tl.robust.PriorPolytope([[1, 0, 0], [0, 1, -1]], ["1/10", 0.25], labels=[("c", 1), "b", "a"]),
        "1/2",
        cells=4,
        tries=4,
    ),
    "robust over a list": lambda: tl.robust.envelope(
        FLOATS, tl.robust.PriorList([PRIOR, tl.Prior.uniform(3)]), "1/10"
    ),
    "robust randomised response": lambda: tl.robust.envelope(
        tl.mechanism.randomized_response(4, 1.0), tl.PriorSet(min_mass="1/8"), "1/4", cells=4, tries=4
    ),
    "leakage capacity": lambda: tl.leakage_capacity(FLOATS, min_mass=0.1),
    "robust PMC": lambda: tl.robust.pmc(FLOATS, tl.robust.PriorBall(PRIOR, 0.25)),
    "robust maximal leakage": lambda: tl.robust.maximal_leakage(EXACT, tl.PriorSet(min_mass="1/8")),
    "Dobrushin": lambda: tl.dobrushin(FLOATS),
    "Dobrushin, exact": lambda: tl.dobrushin(EXACT),
    "E_γ": lambda: tl.contraction.e_gamma_contraction(FLOATS, 1.5),
    "χ²": lambda: tl.contraction.chi_squared_contraction(FLOATS),
    "χ² towards": lambda: tl.contraction.chi_squared_contraction(FLOATS, PRIOR),
    "KL": lambda: tl.contraction.kl_contraction(EXACT),
    "KL towards": lambda: tl.contraction.kl_contraction(FLOATS, PRIOR),
    "Hellinger": lambda: tl.contraction.hellinger_contraction(FLOATS),
    "Hellinger towards": lambda: tl.contraction.hellinger_contraction(FLOATS, tl.Prior([0.5, 0.5, 0])),
    "map": lambda: tl.statistic.maximal_leakage_of_map(list("aab"), list("xyy")),
}


@pytest.mark.parametrize("channel", [EXACT, FLOATS], ids=["exact", "floats"])
@pytest.mark.parametrize("with_prior", [True, False])
def test_a_channel_comes_back_as_it_was(tmp_path, channel, with_prior):
    prior = tl.Prior(PRIOR.masses, channel.inputs) if with_prior else None
    channel.save(tmp_path / "channel.json", prior=prior, secret=["x", ("y", 2), 3])
    given, masses, secret = found = tl.load(tmp_path / "channel.json")
    assert (given, masses, secret) == (channel, prior, ("x", ("y", 2), 3))
    assert found.channel is given
    channel.save(tmp_path / "plain.json")
    assert tl.load(str(tmp_path / "plain.json"))[1:] == (None, None)


def test_a_prior_is_saved_in_the_order_of_the_channel_and_a_secret_by_label(tmp_path):
    prior = tl.Prior(["1/2", "1/3", "1/6"], labels=[("c", 1), "b", "a"])
    EXACT.save(tmp_path / "channel.json", prior=prior, secret={"b": 1, ("c", 1): 1, "a": 2})
    _, found, secret = tl.load(tmp_path / "channel.json")
    assert (dict(zip(found.labels, found.masses, strict=True)), secret) == (
        dict(zip(prior.labels, prior.masses, strict=True)),
        (2, 1, 1),
    )
    FLOATS.save(tmp_path / "named.json", prior=tl.Prior([0.2, 0.3, 0.5], labels=list("uvw")))
    assert tl.load(tmp_path / "named.json").prior == tl.Prior([0.2, 0.3, 0.5], labels=list("uvw"))
    with pytest.raises(ShapeMismatch, match="secret must have one label for each of 3 channel rows, got 2"):
        EXACT.save(tmp_path / "other.json", secret=["x", "y"])
    assert not (tmp_path / "other.json").exists()


def test_a_sparse_channel_stays_sparse(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    channel = tl.Channel(sparse.csr_array([[1.0, 0.0], [0.0, 1.0]]))
    channel.save(tmp_path / "channel.json")
    assert tl.load(tmp_path / "channel.json").channel == channel
    assert tl.load(tmp_path / "channel.json").channel.is_sparse


@pytest.mark.parametrize("make", PROOFS.values(), ids=list(PROOFS))
def test_a_result_is_saved_as_its_certificate(tmp_path, make):
    found, path = make(), tmp_path / "proof.json"
    found.verify()
    found.save(path)
    loaded = tl.load(path)
    assert isinstance(loaded, Certificate)
    assert (type(loaded), loaded.digest()) == (type(found.certificate), found.certificate.digest())
    assert loaded.claim() == found.certificate.claim()
    loaded.verify()
    assert found.lower <= found.value == found.upper
    assert found.gap >= 0
    assert isinstance(found.exact, bool)
    twin = pickle.loads(pickle.dumps(found))
    twin.verify()
    assert (twin.lower, twin.upper, twin.method) == (found.lower, found.upper, found.method)


def test_no_file_is_overwritten_unasked(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("mine")
    found = tl.envelope(FLOATS, PRIOR, "1/10")
    for save in (FLOATS.save, found.save, found.certificate.save):
        with pytest.raises(InvalidInput, match="exists already"):
            save(path)
        assert path.read_text() == "mine"
    found.save(path, force=True)
    assert tl.load(path).kind == "envelope"


def test_a_result_without_a_certificate_says_so(tmp_path):
    bound = Bound(0.25, 0.5, "by hand")
    assert (bound.value, bound.certificate) == (bound.upper, None)
    for act in (bound.verify, lambda: bound.save(tmp_path / "x.json")):
        with pytest.raises(InvalidInput, match="has no certificate"):
            act()


def test_what_is_neither_is_refused(tmp_path):
    path = tmp_path / "file.json"
    for content, message in {
        "[]": "must be an object",
        "{}": 'must have the key "channel" or "counts"',
        '{"format": 3}': "must be a certificate",
        '{"format": "tightlip poem 1"}': "must be a certificate",
        '{"format": "tightlip envelope certificate 1"}': "of this version of tightlip",
        "nothing": "must be valid JSON",
    }.items():
        path.write_text(content)
        with pytest.raises(InvalidInput, match=message):
            tl.load(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        tl.load(tmp_path / "none.json")


def test_a_changed_certificate_is_refused(tmp_path):
    record = json.loads(tl.envelope(FLOATS, PRIOR, "1/10").certificate.to_json())
    record["prior"]["prior"] = [0.5, 0.3, 0.2]
    (tmp_path / "file.json").write_text(json.dumps(record))
    with pytest.raises(CertificateInvalid, match="was changed"):
        tl.load(tmp_path / "file.json")


def test_every_format_is_found_by_its_name():
    for home in loading._HOMES.values():
        import_module(home)
    for form, known in Certificate.registry.items():
        assert loading._HOMES[form.rpartition(" ")[0]] == known.__module__
    assert {form.rpartition(" ")[0] for form in Certificate.registry} == set(loading._HOMES)
