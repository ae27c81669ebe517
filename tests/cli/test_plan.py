"""The plan command."""

import json
import math

import pytest

from tightlip.cli.main import main

EXAMPLE3 = {
    "labels": ["a", "b", "c", "d"],
    "loss": "absolute",
    "hypotheses": [
        {"name": "low", "parameter": 0, "prior": ["1/5", "3/10", "1/4", "1/4"]},
        {"name": "high", "parameter": 1, "prior": {"b": "1/5", "a": "3/10", "c": "1/4", "d": "1/4"}},
    ],
}
CHANNEL = {"channel": [["1/2", "1/2"], ["1/4", "3/4"], ["1/2", "1/2"], ["1/3", "2/3"]]}


@pytest.fixture
def study_file(tmp_path):
    return written(tmp_path, EXAMPLE3)


def written(folder, record, name="plan.json"):
    path = folder / name
    path.write_text(json.dumps(record))
    return path


def run(capsys, *arguments):
    status = main(["plan", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json(capsys, study_file):
    command = (study_file, "--samples", 1000, "--epsilon", "0,log(2),2", "--target-risk", "1/20", "--json")
    status, out, err = run(capsys, *command)
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert (record["samples"], record["target_risk"], record["loss"]) == (1000, "1/20", "absolute")
    assert record["hypotheses"] == ["low", "high"]
    rows = record["rows"]
    assert [row["privacy"]["kind"] for row in rows] == ["ldp", "ldp", "ldp", "none"]
    assert rows[0]["risk"]["lower_bound"] == 0.5
    assert (rows[0]["samples_needed"], rows[0]["factor"]) == ("inf", None)
    assert rows[1]["contraction"] == pytest.approx(1 / 9)
    assert rows[1]["effective_samples"] == pytest.approx(1000 / 9)
    assert rows[1]["risk"]["pair"] == ["low", "high"]
    assert set(rows[1]["risk"]["methods"]) == {
        "le cam, coupling",
        "le cam, hellinger",
        "le cam, kl",
        "bretagnolle-huber",
    }
    assert rows[1]["samples_needed"] > rows[2]["samples_needed"] > rows[3]["samples_needed"] > 0
    assert rows[3]["factor"] == 1


def test_pml_and_text(capsys, study_file):
    command = (study_file, "--samples", 1000, "--epsilon", "0.1,1", "--currency", "pml", "--min-mass", "1/10")
    status, out, _ = run(capsys, *command, "--target-risk", "0.05")
    words = " ".join(out.split())
    assert status == 0
    assert words.startswith("With 1000 people under PML ε = 0.1, c = 1/10, no procedure can promise a risk")
    assert "needs at least 35221 people (without privacy: 82)" in words
    assert "necessary, not sufficient" in words
    assert "may depend on earlier releases" in words
    assert "low / high" in out
    assert "needed" not in " ".join(run(capsys, *command)[1].split("Risk bounds")[0].split())


def test_a_channel_that_everyone_uses(capsys, study_file, tmp_path):
    channel = written(tmp_path, CHANNEL, "channel.json")
    record = json.loads(run(capsys, study_file, "--samples", 10, "--channel", channel, "--json")[1])
    assert [row["privacy"]["kind"] for row in record["rows"]] == ["channel", "none"]
    kl = record["rows"][0]["risk"]["methods"]["bretagnolle-huber"]
    one, two = 0.2 * 0.5 + 0.3 * 0.25, 0.3 * 0.5 + 0.2 * 0.25
    rest = 0.25 * (1 / 2 + 1 / 3)
    p, q = one + rest, two + rest
    smaller = min(a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b)) for a, b in ((p, q), (q, p)))
    assert kl == pytest.approx(math.exp(-10 * smaller) / 4)
    text = run(capsys, study_file, "--samples", 1, "--channel", channel)[1]
    assert "through the same channel" in text
    assert "With 1 person under the given channel" in text


def test_impossible_and_enormous_targets(capsys, study_file, tmp_path):
    arguments = ("--samples", 10, "--target-risk", "0.1", "--epsilon")
    assert "is never reached" in run(capsys, study_file, *arguments, "0")[1]
    many = ("--samples", 10**400, "--epsilon", "1", "--chart", tmp_path / "many.svg")
    record = json.loads(run(capsys, study_file, *many, "--json")[1])
    assert record["rows"][0]["effective_samples"] == "inf"
    assert "inf" in run(capsys, study_file, *many, "--force")[1]
    assert "4.086e36 people" in " ".join(run(capsys, study_file, *arguments, "1e-17")[1].split())


def test_families_name_fano_and_assouad(capsys, tmp_path):
    corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    priors = [["9/40", "11/40"], ["11/40", "9/40"]]
    family = {
        "loss": "squared",
        "hypotheses": [{"parameter": [i, j], "prior": priors[i] + priors[j]} for i, j in corners],
    }
    path = written(tmp_path, family)
    record = json.loads(run(capsys, path, "--samples", 20, "--epsilon", "1", "--json")[1])
    assert record["rows"][0]["risk"]["method"] == "assouad"
    assert record["rows"][0]["risk"]["pair"] is None
    assert "fano" in record["rows"][0]["risk"]["methods"]
    assert "Assouad" in run(capsys, path, "--samples", 20, "--epsilon", "1")[1]


def test_tables_of_losses_and_separations(capsys, tmp_path):
    bare = [{"prior": hypothesis["prior"]} for hypothesis in EXAMPLE3["hypotheses"]]
    bare[1] = {"prior": ["3/10", "1/5", "1/4", "1/4"]}
    many = [*bare, *bare, *bare]
    for record, bound in (
        ({"hypotheses": bare, "loss": [[0, "1/2"], ["1/2", 0]]}, 0.25),
        ({"hypotheses": bare, "separation": [[0, 3], [3, 0]]}, 1.5),
        ({"hypotheses": many, "loss": "zero-one"}, 5 / 6),
    ):
        path = written(tmp_path, record)
        out = json.loads(run(capsys, path, "--samples", 1, "--epsilon", "0", "--json")[1])
        assert out["rows"][0]["risk"]["lower_bound"] == pytest.approx(bound)
    assert "6 hypotheses" in run(capsys, path, "--samples", 1, "--epsilon", "0")[1]


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_charts(capsys, study_file, tmp_path, suffix):
    picture = tmp_path / f"picture{suffix}"
    command = (study_file, "--samples", 100, "--epsilon", "0.5,1", "--chart", picture)
    assert run(capsys, *command)[0] == 0
    assert len(picture.read_bytes()) > 3000
    assert list(tmp_path.glob(".*")) == []
    assert "exists already" in run(capsys, *command)[2]
    status, out, _ = run(capsys, *command, "--force", "--target-risk", "0.1", "--json")
    assert (status, json.loads(out)["chart"]) == (0, str(picture))


def test_names_that_would_garble_the_terminal_are_shown_harmlessly(capsys, tmp_path):
    odd = json.loads(json.dumps(EXAMPLE3))
    odd["hypotheses"][0]["name"] = "\x1b[31mred"
    odd["hypotheses"][1]["name"] = "[bold]b"
    out = run(capsys, written(tmp_path, odd), "--samples", 1, "--epsilon", "1")[1]
    assert "\x1b[31m" not in out
    assert "[bold]b" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--samples", "10"), "--epsilon or --channel"),
        (("--samples", "10", "--epsilon", "1", "--channel", "x.json"), "not both"),
        (("--samples", "10", "--epsilon", "1", "--currency", "pml"), "belong together"),
        (("--samples", "10", "--epsilon", "1", "--min-mass", "0.1"), "belong together"),
        (
            ("--samples", "10", "--channel", "x", "--currency", "pml", "--min-mass", "0.1"),
            "--min-mass cannot",
        ),
        (("--samples", "10", "--epsilon", "1", "--currency", "pml", "--min-mass", "0.5"), "1/4"),
        (("--samples", "-1", "--epsilon", "1"), "--samples"),
        (("--samples", "0", "--epsilon", "1"), "--samples"),
        (("--samples", "10", "--epsilon", "-1"), "negative"),
        (("--samples", "10", "--epsilon", "1", "--target-risk", "0"), "positive"),
        (("--samples", "10", "--epsilon", "1", "--chart", "x.pdf"), "must end in"),
        (("--epsilon", "1"), "samples"),
    ],
)
def test_bad_requests(capsys, study_file, arguments, words):
    status, out, err = run(capsys, study_file, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hypotheses": "two"}, "must be a list of objects"),
        ({"hypotheses": [1, 2]}, "hypothesis 0 must be an object"),
        ({"hypotheses": EXAMPLE3["hypotheses"][:1]}, "got 1"),
        ({"hypotheses": [{"parameter": 1}]}, '"prior"'),
        ({"hypotheses": [{"prior": [0.5, 0.6]}]}, "hypothesis 0: prior"),
        ({"hypotheses": [{"prior": [5, 6, 7, 8]}]}, "got 26; divide counts by their sum"),
        (
            {"hypotheses": [*EXAMPLE3["hypotheses"], {"prior": ["1/4"] * 4}]},
            'hypothesis 2 must have a "parameter"',
        ),
        ({"loss": "cubic"}, "absolute, squared"),
        ({"loss": None}, "loss or separation"),
        ({"extra": 1}, "unknown key"),
    ],
)
def test_bad_files(capsys, tmp_path, change, words):
    path = written(tmp_path, {**EXAMPLE3, **change})
    status, out, err = run(capsys, path, "--samples", 10, "--epsilon", "1")
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
