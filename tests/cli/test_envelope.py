"""The envelope and verify commands."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

import tightlip as tl
from tightlip import papers
from tightlip.cli.main import main
from tightlip.envelopes.known_bounds import bounds as envelope_bounds
from tightlip.envelopes.known_bounds import dp_epsilon

EXAMPLE = {"prior": "uniform", **papers.env_example_1().to_dict()}


@pytest.fixture
def channel_file(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps(EXAMPLE))
    return str(path)


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json(capsys, channel_file):
    status, out, err = run(capsys, "envelope", channel_file, "--delta", "0.2,0.5", "--json", "--compare")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert [point["delta"] for point in record["points"]] == [0.2, 0.5]
    point = record["points"][0]
    assert point["lower"] <= 0.8938178760 <= point["upper"] + 1e-9
    assert point["epsilon"]["value"] == point["upper"]
    assert point["compared"]["dp"] == 0  # total variation 0.2 between any two rows
    assert point["compared"]["binary"] == pytest.approx(0.5108256)
    assert 'points to secret "3"' in " ".join(point["attack"])


def test_methods_are_told_by_probability_where_they_differ(capsys, channel_file):
    out = " ".join(run(capsys, "envelope", channel_file, "--delta", "0.05,0.1,0.2")[1].split())
    assert "Method at δ = 0.05, 0.1: the worst outcomes decide." in out
    assert re.search(r"Method at δ = 0\.2: column generation, (1 solve|\d+ solves), proved by", out)
    alone = " ".join(run(capsys, "envelope", channel_file, "--delta", "0.05,0.1")[1].split())
    assert "Method: the worst outcomes decide." in alone


def test_text_and_bits(capsys, channel_file):
    out = " ".join(run(capsys, "envelope", channel_file, "--delta", "0.2")[1].split())
    assert "0.893818" in out
    assert "At δ = 0.2: grouping" in out
    bits = json.loads(run(capsys, "envelope", channel_file, "--delta", "0.2", "--unit", "bits", "--json")[1])
    assert bits["points"][0]["upper"] == pytest.approx(1.2895066)


@pytest.mark.parametrize("adversary", ["binary", "deterministic", "ordered"])
def test_other_adversaries(capsys, channel_file, adversary):
    command = ("envelope", channel_file, "--delta", "0.2", "--adversary", adversary, "--json")
    record = json.loads(run(capsys, *command)[1])
    assert record["adversary"] == adversary
    assert all("points to secret" in sentence for sentence in record["points"][0]["attack"])


def test_one_event_is_not_called_two_symbols(capsys, channel_file):
    """At δ above one half two symbols may both be bad: a bound on one event must not be read as one on them."""
    command = ("envelope", channel_file, "--delta", "0.9", "--compare")
    event = " ".join(run(capsys, *command, "--adversary", "binary")[1].split())
    assert "post-processing by adversaries who learn one event (nats)" in event
    assert "binary" not in event
    pair = json.loads(run(capsys, *command, "--adversary", "k-ary", "--symbols", "2", "--json")[1])
    assert pair["points"][0]["lower"] > 1.5 * pair["points"][0]["compared"]["binary"] > 0
    assert len(pair["points"][0]["attack"]) == 2


def _proof_at(delta):
    return json.loads(tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), delta).certificate.to_json())


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("lower", _proof_at("0.1")["lower"]),  # true at 0.1 only
        ("upper", {"mass": 1}),
        ("lower", {"mass": 0}),
        ("lower", {"ratio": 0}),
    ],
)
def test_verify_claims_no_more_than_the_two_ends_prove_together(capsys, tmp_path, part, changes):
    """Each end may be weakened without breaking; what is printed must be weaker too."""
    proof = _proof_at("0.5")
    proof[part].update(changes)
    status, out, _ = run(capsys, "verify", _written(tmp_path, json.dumps(proof)), "--json")
    said = json.loads(out)
    assert status == 0
    truth = tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), said["delta"])
    assert said["lower"] <= truth.upper
    assert said["upper"] >= truth.lower


@pytest.mark.parametrize("changes", [{"mass": -1}, {"ratio": -1}, {"mass": "-100", "ratio": "-100"}])
def test_verify_refuses_negative_ends(capsys, tmp_path, changes):
    """Two of them multiply to a large lower end."""
    proof = _proof_at("0.5")
    proof["lower"].update(changes)
    status, out, err = run(capsys, "verify", _written(tmp_path, json.dumps(proof)))
    assert (status, out) == (1, "")
    assert "lower end fails: its ratio and its probability must not be negative" in " ".join(err.split())


def test_verify_refuses_a_probability_above_one(capsys, tmp_path):
    proof = _proof_at("0.5")
    proof["upper"]["mass"] = 10**400
    status, out, err = run(capsys, "verify", _written(tmp_path, json.dumps(proof)))
    assert (status, out) == (1, "")
    assert "proves no upper end at δ = 1e+400" in err


def test_verify_of_what_is_never_exceeded(capsys, tmp_path):
    found = tl.failure_probability(papers.env_example_1(), tl.Prior.uniform(4), tl.log_of(4))
    status, out, _ = run(capsys, "verify", _written(tmp_path, found.certificate.to_json()))
    assert status == 0
    assert out == "Valid: no post-processing ever leaks more than 1.3863 nats.\n"


def test_verify_of_a_failure_probability_has_its_ends_in_order(capsys, tmp_path):
    found = tl.failure_probability(papers.env_example_1(), tl.Prior.uniform(4), 0.5)
    _, out, _ = run(capsys, "verify", _written(tmp_path, found.certificate.to_json()), "--json")
    assert json.loads(out)["lower"] <= json.loads(out)["upper"]


def test_certificate_and_verify(capsys, channel_file, tmp_path):
    proof = tmp_path / "proof.json"
    command = ("envelope", channel_file, "--delta", "0.2", "--certificate", proof)
    assert run(capsys, *command)[0] == 0
    status, out, _ = run(capsys, "verify", proof, "--channel", channel_file)
    assert (status, out.startswith("Valid")) == (0, True)
    proved = json.loads(run(capsys, "verify", proof, "--json")[1])
    assert (proved["valid"], proved["adversary"]) == (True, "any")
    assert "exists already" in run(capsys, *command)[2]
    assert run(capsys, *command, "--force")[0] == 0
    record = json.loads(proof.read_text())
    record["upper"]["ratio"] = 2.0
    proof.write_text(json.dumps(record))
    status, out, err = run(capsys, "verify", proof)
    assert (status, out) == (1, "")
    assert "upper end fails" in err
    assert "one --delta" in run(capsys, "envelope", channel_file, "--certificate", tmp_path / "x.json")[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (EXAMPLE, "must be a certificate, which --certificate of `tightlip design`"),
        ([1], "got no format; a channel file goes to --channel"),
        ({"format": "tightlip envelope certificate 0"}, 'got format "tightlip envelope certificate 0"'),
        ({"format": ["x"]}, "must be a certificate"),
    ],
)
def test_what_is_no_certificate_is_told(capsys, tmp_path, content, message):
    status, out, err = run(capsys, "verify", _written(tmp_path, json.dumps(content)))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_a_part_that_is_missing_is_told(capsys, channel_file, tmp_path):
    proof = tmp_path / "proof.json"
    run(capsys, "envelope", channel_file, "--delta", "0.2", "--certificate", proof)
    record = json.loads(proof.read_text())
    del record["lower"]["suspects"]
    status, _, err = run(capsys, "verify", _written(tmp_path, json.dumps(record)))
    assert status == 1
    assert 'malformed: the key "suspects" is missing; make it again.' in err


def test_a_proof_about_another_channel_is_told(capsys, channel_file, tmp_path):
    proof, other = tmp_path / "proof.json", tmp_path / "other.json"
    run(capsys, "envelope", channel_file, "--delta", "0.2", "--certificate", proof)
    other.write_text(json.dumps({"prior": "uniform", "channel": [["1/4"] * 4] * 4}))
    status, _, err = run(capsys, "verify", proof, "--channel", other)
    assert status == 1
    assert "about another channel" in err


def test_randomised_response_has_its_own_proof(capsys, tmp_path):
    path, proof = tmp_path / "rr.json", tmp_path / "rr-proof.json"
    channel = tl.mechanism.randomized_response(3, tl.log_of(3))
    path.write_text(json.dumps({"prior": ["1/5", "3/10", "1/2"], **channel.to_dict()}))
    assert run(capsys, "envelope", path, "--delta", "0.4", "--certificate", proof)[0] == 0
    assert run(capsys, "verify", proof, "--channel", path)[0] == 0
    other = tmp_path / "other.json"
    other.write_text(json.dumps(EXAMPLE))
    assert run(capsys, "verify", proof, "--channel", other)[0] == 1


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html", ".SVG"])
def test_charts(capsys, channel_file, tmp_path, suffix):
    picture = tmp_path / f"curve{suffix}"
    assert run(capsys, "envelope", channel_file, "--delta", "0.1,0.5,0.9", "--chart", picture)[0] == 0
    content = picture.read_bytes()
    assert len(content) > 3000
    if suffix == ".html":
        assert b"cdn.jsdelivr" not in content.split(b"<body>")[0]
    assert list(tmp_path.glob(".*")) == []
    assert "exists already" in run(capsys, "envelope", channel_file, "--chart", picture)[2]


def test_a_chart_of_one_point_stands_at_its_probability(capsys, channel_file, tmp_path):
    picture = tmp_path / "point.svg"
    options = ("--delta", "0.1", "--adversary", "k-ary", "--symbols", "2", "--chart", picture)
    assert run(capsys, "envelope", channel_file, *options)[0] == 0
    drawn = picture.read_text()
    assert ">0.00<" in drawn
    assert ">0.10<" in drawn
    assert ">k-ary adversaries with at most 2 symbols (guaranteed)<" in drawn


@pytest.mark.parametrize(
    ("rows", "adversary", "delta", "told"),
    [
        ([["3/5", "2/5", 0], ["1/10", "9/10", 0], ["1/5", "3/10", "1/2"]], "deterministic", "0.3", "xa zc"),
        (
            [["3/5", "2/5", 0], ["1/10", "9/10", 0], ["1/5", "3/10", "1/2"]],
            "deterministic",
            "0.9",
            "xa yb zc",
        ),
        ([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]], "any", "0.4", "xa yb"),
        ([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]], "any", "0.999", "xa yb zc"),
    ],
)
def test_every_group_of_an_attack_is_told_with_its_secret(capsys, tmp_path, rows, adversary, delta, told):
    path = _written(
        tmp_path,
        json.dumps({"prior": {"a": 0.2, "b": 0.3, "c": 0.5}, "channel": rows, "outputs": list("xyz")}),
    )
    command = ("envelope", path, "--delta", delta, "--adversary", adversary, "--json")
    words = json.loads(run(capsys, *command)[1])["points"][0]["attack"]
    assert words == [f'grouping "{outcome}" points to secret "{secret}"' for outcome, secret in told.split()]


def test_a_chart_that_cannot_be_written_leaves_no_proof_behind(capsys, channel_file, tmp_path):
    proof, picture = tmp_path / "proof.json", tmp_path / "none" / "x.svg"
    command = ("envelope", channel_file, "--delta", "0.1", "--certificate", proof, "--chart", picture)
    status, out, err = run(capsys, *command)
    assert (status, out) == (2, "")
    assert f"{picture} cannot be written" in err
    assert not proof.exists()


def test_bad_requests(capsys, channel_file, tmp_path):
    assert "got 1e+400; write 0.05" in run(capsys, "envelope", channel_file, "--delta", "1e400")[2]
    assert (
        "got 1e-400, which would be shown as 0"
        in run(capsys, "envelope", channel_file, "--delta", "1e-400")[2]
    )
    for text in ("0.1,,0.2", "0.1,", ","):
        status, out, err = run(capsys, "envelope", channel_file, "--delta", text)
        assert (status, out) == (2, "")
        assert "a number on each side of every comma" in err
    assert "must end in .html, .svg, .png" in run(capsys, "envelope", channel_file, "--chart", "x.pdf")[2]
    assert "must be valid JSON" in run(capsys, "verify", _written(tmp_path, "{"))[2]
    assert run(capsys, "verify", _written(tmp_path, "{}"))[0] == 2
    content = {"format": "tightlip envelope certificate 2", "kind": "envelope", "channel": []}
    path = _written(tmp_path, json.dumps(content))
    assert f'{path}: certificate must have the key "inputs"' in run(capsys, "verify", path)[2]


def test_no_output_is_written_over_another_or_over_the_channel(capsys, channel_file, tmp_path):
    both = tmp_path / "both.svg"
    one = ("envelope", channel_file, "--delta", "0.2", "--force", "--certificate")
    status, out, err = run(capsys, *one, both, "--chart", both)
    assert (status, out) == (2, "")
    assert "asked for twice" in err
    assert not both.exists()
    status, out, err = run(capsys, *one, channel_file)
    assert (status, out) == (2, "")
    assert "would be lost" in err
    assert json.loads(Path(channel_file).read_text()) == json.loads(json.dumps(EXAMPLE))


def test_the_whole_probability_is_a_delta(capsys, channel_file):
    status, out, _ = run(capsys, "envelope", channel_file, "--delta", "1", "--json")
    assert status == 0
    found = tl.envelope(papers.env_example_1(), tl.Prior.uniform(4), 1)
    assert json.loads(out)["points"][0]["upper"] == found.upper
    status, _, err = run(capsys, "envelope", channel_file, "--delta", "1.1")
    assert status == 2
    assert "delta must be above 0 and at most 1, got 1.1" in err


def _written(folder, text):
    path = folder / "text.json"
    path.write_text(text)
    return path


def test_what_is_compared_with_is_rounded_to_its_own_side_in_bits(capsys, channel_file):
    command = ("envelope", channel_file, "--delta", "0.01,0.1,0.2,0.3", "--compare", "--unit", "bits")
    channel = papers.env_example_1()
    prior = tl.Prior.uniform(channel.shape[0])
    for point in json.loads(run(capsys, *command, "--json")[1])["points"]:
        delta = Fraction(str(point["delta"]))
        bounds = envelope_bounds(channel, prior, delta)
        known = {
            "maximal_leakage_bound": bounds.maximal_leakage,
            "binary": bounds.event,
            "quantile": bounds.quantile,
            "dp": dp_epsilon(channel, delta, prior),
        }
        assert {name: float(value) for name, value in point["compared"].items()} == {
            name: amount.in_bits() for name, amount in known.items()
        }
        assert [amount.rounding for amount in known.values()] == ["up", "down", "down", "up"]


def test_what_others_reach_is_shown_rounded_down(capsys, tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps({"prior": ["1/3", "2/3"], "channel": [["1/2", "1/2"], ["1/4", "3/4"]]}))
    out = run(capsys, "envelope", path, "--delta", "0.2", "--compare")[1]
    row = next(line for line in out.splitlines() if "│ 0.2 " in line)
    shown = [cell.strip() for cell in row.strip("│").split("│")]  # log(3/2) = 0.405465108…
    assert shown[1:3] == ["0.405466", "0.405465"]
    assert shown[4:6] == ["0.405465", "0.405465"]


def test_a_deterministic_attack_names_the_secrets_it_points_to(capsys, channel_file):
    command = ("envelope", channel_file, "--delta", "0.2", "--adversary", "deterministic", "--json")
    attack = json.loads(run(capsys, *command)[1])["points"][0]["attack"]
    assert len(attack) == 2
    assert {sentence.rpartition(" ")[2] for sentence in attack} == {'"3"', '"4"'}


class TestInterval:
    def test_exact_ends_and_runs_in_words(self, capsys, channel_file):
        command = ("envelope", channel_file, "--delta", "0.2", "--adversary", "ordered")
        point = json.loads(run(capsys, *command, "--json")[1])["points"][0]
        assert point["lower"] < point["upper"] <= point["lower"] + 1e-15
        assert point["upper"] == pytest.approx(math.log(6 / 5), abs=1e-15)
        assert point["attack"] == [
            '"1" alone points to secret "4"',
            'reading "2" to "3" as one points to secret "3"',
        ]
        out = " ".join(run(capsys, *command)[1].split())
        assert "by ordered adversaries (nats)" in out
        assert "Method: dynamic programming over cuts, in whole numbers." in out

    def test_its_proof_is_verified_and_told_apart(self, capsys, channel_file, tmp_path):
        proof, turned = tmp_path / "proof.json", tmp_path / "turned.json"
        options = ("--delta", "0.2", "--adversary", "ordered", "--certificate", proof)
        assert run(capsys, "envelope", channel_file, *options)[0] == 0
        status, out, _ = run(capsys, "verify", proof, "--channel", channel_file)
        assert status == 0
        assert "some monotone function of the outcome leaks 0.182321" in " ".join(out.split())
        assert json.loads(run(capsys, "verify", proof, "--json")[1])["adversary"] == "ordered"
        rows = [[row[place] for place in (0, 2, 1, 3)] for row in EXAMPLE["channel"]]
        turned.write_text(json.dumps({**EXAMPLE, "channel": rows}))
        assert run(capsys, "verify", proof, "--channel", turned)[0] == 1
        record = json.loads(proof.read_text())
        record["lower"]["ratio"] = "5/4"
        proof.write_text(json.dumps(record))
        status, out, err = run(capsys, "verify", proof)
        assert (status, out, "lower end fails" in err) == (1, "", True)

    def test_long_attacks_are_cut_in_text_only(self, capsys, tmp_path):
        path = tmp_path / "identity.json"
        path.write_text(json.dumps({"prior": "uniform", **tl.mechanism.identity(9).to_dict()}))
        command = ("envelope", path, "--delta", "0.9", "--adversary", "ordered")
        assert "and 3 more (--json lists all)" in " ".join(run(capsys, *command)[1].split())
        assert len(json.loads(run(capsys, *command, "--json")[1])["points"][0]["attack"]) == 9


class TestSymbols:
    def test_few_symbols(self, capsys, channel_file):
        command = ("envelope", channel_file, "--delta", "0.2", "--adversary", "k-ary", "--symbols", "3")
        record = json.loads(run(capsys, *command, "--json")[1])
        assert (record["adversary"], record["symbols"]) == ("k-ary", 3)
        point = record["points"][0]
        assert point["method"] == "linear programs for all sets of suspects"
        assert point["lower"] <= math.log(22 / 9) <= point["upper"]
        assert all("points to secret" in sentence for sentence in point["attack"])
        assert "k-ary adversaries with at most 3 symbols" in " ".join(run(capsys, *command)[1].split())

    def test_two_symbols_are_still_called_k_ary(self, capsys, channel_file):
        """Above one half both cells of a binary map may be bad, which the event form of `binary` leaves out."""
        command = ("envelope", channel_file, "--delta", "0.2", "--adversary", "k-ary", "--symbols", "2")
        assert json.loads(run(capsys, *command, "--json")[1])["adversary"] == "k-ary"

    def test_a_heuristic_says_so(self, capsys, channel_file, monkeypatch, tmp_path):
        monkeypatch.setattr("tightlip.envelopes.kary._MOST_WORK", 1)
        picture = tmp_path / "both.svg"
        command = ("envelope", channel_file, "--delta", "0.2", "--adversary", "k-ary", "--symbols", "3")
        out = run(capsys, *command, "--chart", picture)[1]
        assert "Method: heuristic: linear programs for suspects chosen greedily" in out
        assert all(end in picture.read_text() for end in ("3 symbols (guaranteed)", "reached by an attack"))

    def test_deterministic_maps_may_be_counted_too(self, capsys, channel_file):
        command = (
            "envelope",
            channel_file,
            "--delta",
            "0.2",
            "--adversary",
            "deterministic",
            "--symbols",
            "1",
        )
        assert json.loads(run(capsys, *command, "--json")[1])["points"][0]["lower"] == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--adversary", "k-ary"), "needs --symbols, got none"),
            (("--symbols", "3"), "--symbols is for --adversary k-ary or deterministic, got any"),
            (("--adversary", "k-ary", "--symbols", "0"), "symbols must be a whole number of at least 1"),
            (("--adversary", "nobody"), "nobody"),
        ],
    )
    def test_bad_requests(self, capsys, channel_file, options, message):
        status, out, err = run(capsys, "envelope", channel_file, "--delta", "0.1", *options)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert message in err
