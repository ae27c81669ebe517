"""The sml command, and verify on its proofs."""

import json

import numpy as np
import pytest

import tightlip as tl
from tightlip.cli.main import main
from tightlip.statistic.maximal import maximal_leakage_of_map as statistic_maximal_leakage_of_map

EXAMPLE = {
    "channel": [["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.2", "0.2", "0.6"], ["0.5", "0.25", "0.25"]],
    "inputs": ["a", "b", "c", "d"],
    "secret": ["low", "low", "high", "high"],
}


@pytest.fixture
def channel_file(tmp_path):
    return _written(tmp_path, EXAMPLE)


def _written(folder, record, name="channel.json"):
    path = folder / name
    path.write_text(json.dumps(record))
    return path


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json(capsys, channel_file):
    status, out, err = run(capsys, "sml", channel_file, "--json", "--compare")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["leakage"]["ratio"] == "3/2"
    assert record["exact"] is True
    assert record["lower"] <= 0.4054651081081644 <= record["upper"]
    assert record["selection"] == [{"secret": "low", "row": "a"}, {"secret": "high", "row": "c"}]
    assert record["compared"]["ldp"]["ratio"] == "6"


def test_text(capsys, channel_file):
    out = " ".join(run(capsys, "sml", channel_file, "--compare")[1].split())
    assert "at most 1.5 times as easy to guess: 0.405466 nats (2 secrets, any prior)" in out
    assert "Exact: the selection below reaches it." in out
    assert "L_DP" in out
    bits = run(capsys, "sml", channel_file, "--unit", "bits")[1]
    assert "0.584963 bits" in bits


def test_ends_that_do_not_meet(capsys, tmp_path):
    rows = np.random.default_rng(0).dirichlet(np.full(12, 0.3), size=50)
    path = _written(tmp_path, {"channel": rows.tolist(), "secret": [place % 25 for place in range(50)]})
    out = " ".join(run(capsys, "sml", path, "--work", "0")[1].split())
    assert "the search stopped after 0 million entries" in out
    assert "Proved from above; the selection below reaches" in out
    assert "(20 of 25; --json has all)" in out


def test_without_secret_each_row_is_one(capsys, tmp_path):
    path = _written(tmp_path, {"channel": [[1, 0], [0, 1]]})
    assert json.loads(run(capsys, "sml", path, "--json", "--unit", "bits")[1])["upper"] == 1


def test_certificate_and_verify(capsys, channel_file, tmp_path):
    proof = tmp_path / "proof.json"
    assert run(capsys, "sml", channel_file, "--certificate", proof)[0] == 0
    status, out, _ = run(capsys, "verify", proof, "--channel", channel_file)
    assert (status, out.startswith("Valid: the statistic maximal leakage, ")) == (0, True)
    record = json.loads(run(capsys, "verify", proof, "--json")[1])
    assert record["valid"] is True
    assert record["lower"] <= 0.4054651081081644 <= record["upper"]
    assert "exists already" in run(capsys, "sml", channel_file, "--certificate", proof)[2]
    assert run(capsys, "sml", channel_file, "--certificate", proof, "--force")[0] == 0
    other = _written(tmp_path, {**EXAMPLE, "secret": [0, 1, 0, 1]}, "other.json")
    status, _, err = run(capsys, "verify", proof, "--channel", other)
    assert status == 1
    assert "about another channel, prior or secret" in err
    changed = json.loads(proof.read_text())
    changed["upper"]["total"] = 1.2
    status, out, err = run(capsys, "verify", _written(tmp_path, changed, "proof.json"))
    assert (status, out) == (1, "")
    assert "upper end fails" in err


def test_certificates_replace_nothing_unasked(capsys, channel_file, tmp_path):
    before = channel_file.read_text()
    status, _, err = run(capsys, "sml", channel_file, "--certificate", channel_file, "--force")
    assert (status, channel_file.read_text()) == (2, before)
    assert "is the channel file, which is read and would be lost" in err
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "nowhere.json")
    assert "exists already" in run(capsys, "sml", channel_file, "--certificate", link)[2]
    assert link.is_symlink()


def test_a_proof_of_a_trivial_lower_end(capsys, channel_file, tmp_path):
    proof = tmp_path / "proof.json"
    run(capsys, "sml", channel_file, "--certificate", proof)
    changed = json.loads(proof.read_text())
    changed["lower"]["total"] = -5
    status, out, _ = run(capsys, "verify", _written(tmp_path, changed, "proof.json"), "--json")
    assert (status, json.loads(out)["lower"]) == (0, 0)


def test_a_proof_about_a_map(capsys, channel_file, tmp_path):
    proof = tmp_path / "map.json"
    proof.write_text(statistic_maximal_leakage_of_map([1, 1, 2], ["a", "b", "b"]).certificate.to_json())
    assert run(capsys, "verify", proof)[0] == 0
    assert run(capsys, "verify", proof, "--channel", channel_file)[0] == 1


def test_bad_input(capsys, tmp_path):
    path = _written(tmp_path, {**EXAMPLE, "secret": ["low"]})
    status, out, err = run(capsys, "sml", path)
    assert (status, out) == (2, "")
    assert "secret must be a list with one label for each of 4 channel rows" in err
    assert run(capsys, "sml", _written(tmp_path, EXAMPLE), "--time-limit", "-1")[0] == 2
    assert run(capsys, "verify", _written(tmp_path, [1]))[0] == 2


def test_infinite_related_measures(capsys, tmp_path):
    path = _written(tmp_path, {"channel": [["1/2", "1/2", 0], [0, "1/2", "1/2"]]})
    record = json.loads(run(capsys, "sml", path, "--json", "--compare")[1])
    assert record["compared"]["ldp"]["value"] == "inf"
    assert tl.ldp(tl.Channel([["1/2", "1/2", 0], [0, "1/2", "1/2"]])) == float("inf")
