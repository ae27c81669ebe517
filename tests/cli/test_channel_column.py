"""`--randomize "COLUMN=channel FILE"` and `channel = "FILE"`: audited, written back, released and verified."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

TOWNS = tl.Channel(
    [["3/4", "1/8", "1/8", 0], ["1/4", "1/2", 0, "1/4"]],
    inputs=["north", "south"],
    outputs=["north", "south", "here", "there"],
)
ASKED = ("people.csv", "--secret", "ill", "--release", "age,town", "--bins", "age=20")
NOISE = ("--randomize", "town=channel mechanism.json")
WORDS = "town as it is, then a channel from 2 values to 4 outcomes (mechanism.json)"


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")
    draw = np.random.default_rng(5)
    town, age = draw.choice(["north", "south"], 600), draw.integers(20, 60, 600)
    ill = np.where(draw.random(600) < np.where(town == "north", 0.5, 0.1), "flu", "none")
    table = pd.DataFrame({"age": age, "town": town, "ill": ill})
    table.to_csv("people.csv", index=False)
    TOWNS.save("mechanism.json")
    return table


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_a_file_without_the_word_channel_is_told_how_to_write_it(capsys):
    said = run(capsys, "audit", *ASKED, "--randomize", "town=mechanism.json")
    assert said[:2] == (2, "")
    assert (
        'randomized_response must have a level, got the name of a file, "mechanism.json"; write "channel '
        'mechanism.json".' in said[2]
    )


def test_audit_by_flag_and_by_policy_say_the_same(capsys):
    status, out, err = run(capsys, "audit", *ASKED, *NOISE, "--json", "--seed", 1)
    assert (status, err) == (0, "")
    flagged = json.loads(out)
    assert WORDS in flagged["plan"]
    Path("plan.toml").write_text(
        'secret = "ill"\n[release.age]\nbins = 20\n[release.town]\nchannel = "mechanism.json"\n'
    )
    by_policy = json.loads(
        run(capsys, "audit", "people.csv", "--policy", "plan.toml", "--json", "--seed", 1)[1]
    )
    assert by_policy["views"] == flagged["views"]
    bare = json.loads(run(capsys, "audit", *ASKED, "--json", "--seed", 1)[1])
    assert bare["views"] != flagged["views"]


def test_the_page_and_the_text_name_the_mechanism(capsys):
    status, out, err = run(capsys, "audit", *ASKED, *NOISE, "--budget", "1.2x", "--html", "page.html")
    assert (status, err) == (1, "")
    assert WORDS in Path("page.html").read_text()
    assert "Do not publish" in out


def test_a_policy_that_is_written_pins_the_mechanism_and_is_released(capsys, people):
    status, _, err = run(capsys, "audit", *ASKED, *NOISE, "--budget", "3x", "--write-policy", "plan.toml")
    assert (status, err) == (0, "")
    text = Path("plan.toml").read_text()
    assert 'channel = {file = "mechanism.json", sha256 = "' in text
    asked = ("release", "table", "people.csv", "--policy", "plan.toml", "--out", "safe.csv")
    status, out, err = run(capsys, *asked, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["release"] == "random"
    shown = pd.read_csv("safe.csv")
    for town, row in zip(TOWNS.inputs, TOWNS.matrix, strict=True):
        possible = {name for name, chance in zip(TOWNS.outputs, row, strict=True) if chance}
        assert set(shown.town[people.town == town]) == possible
    receipt = json.loads(Path("safe.csv.receipt.json").read_text())
    assert receipt["files"]["mechanism of town"]["name"] == "mechanism.json"
    assert run(capsys, "verify", "safe.csv.receipt.json")[0] == 0
    tl.Channel(TOWNS.matrix[::-1], TOWNS.inputs, TOWNS.outputs).save("mechanism.json", force=True)
    status, _, err = run(capsys, "verify", "safe.csv.receipt.json")
    assert status == 1
    status, _, err = run(capsys, *asked[:-1], "again.csv")
    assert status == 2
    assert "mechanism.json is not the one that its policy was written with" in err
    assert not Path("again.csv").exists()
    Path("mechanism.json").unlink()
    assert run(capsys, "verify", "safe.csv.receipt.json")[0] == 2
    status, _, err = run(capsys, *asked[:-1], "again.csv")
    assert status == 2
    assert "mechanism file mechanism.json cannot be read: No such file" in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            ("audit", *ASKED, "--randomize", "town=channel none.json"),
            "mechanism file none.json cannot be read",
        ),
        (("audit", *ASKED, "--randomize", "town=channel"), "--randomize"),
        (
            ("audit", *ASKED, "--randomize", "age=channel mechanism.json"),
            'on column "age": the channel must have',
        ),
        (("audit", *ASKED, *NOISE, "--sample"), "a sample can bound randomised response only"),
        (
            ("audit", *ASKED, *NOISE, "--budget", "3x", "--write-policy", "mechanism.json", "--force"),
            "a mechanism",
        ),
        (("audit", "people.csv", "--secret", "town", "--release", "age", *NOISE), "channel"),
    ],
    ids=str,
)
def test_refusals_are_one_line(capsys, command, message):
    status, out, err = run(capsys, *command)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert tl.load("mechanism.json").channel == TOWNS


def test_protect_takes_a_designed_mechanism(capsys, people):
    share = (people.town == "north").mean()
    Path("towns.json").write_text(json.dumps({"prior": {"north": share, "south": 1 - share}}))
    design = ("design", "towns.json", "--pml", "1.3x", "--loss", "hamming", "--out", "designed.json")
    status, out, err = run(capsys, *design)
    assert (status, err) == (0, ""), out
    asked = ("people.csv", "--secret", "ill", "--release", "age,town", "--budget", "2x", "--seconds", 2)
    mechanism = ("--randomize", "town=channel designed.json")
    files = (
        "--out",
        "safe.csv",
        "--policy-out",
        "safe.toml",
        "--certificate",
        "proof.json",
        "--html",
        "safe.html",
    )
    status, out, err = run(capsys, "protect", *asked, *mechanism, *files, "--json", "--show-values")
    assert (status, err) == (0, "")
    record = json.loads(out)
    assert record["kind"] == "randomised"
    assert record["levels"]["town"] == ["as drawn"]
    assert [reader["covered"] for reader in record["readers"]] == [True, False]
    assert any("published as drawn" in note for note in record["notes"])
    status, out, _ = run(
        capsys, "audit", "people.csv", "--policy", "safe.toml", "--budget", "2x", "--json", "--show-values"
    )
    assert status == 0
    assert json.loads(out)["views"][0]["worst"]["leakage"]["value"] == record["leakage"]["value"]
    status, out, _ = run(capsys, "verify", "proof.json")
    assert status == 0
    assert "true of every row, but for 1 column published as drawn, meets its budget" in " ".join(out.split())
    assert run(capsys, "verify", "safe.csv.receipt.json")[0] == 0
    again = run(
        capsys, "release", "table", "people.csv", "--policy", "safe.toml", "--out", "again.csv", "--json"
    )
    assert again[0] == 0
    assert len(pd.read_csv("again.csv")) == len(pd.read_csv("safe.csv")) == len(people)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ("--budget", "1.001x"),
            '(mechanism.json) on "town" would keep alone, got 1.001x: what is drawn takes',
        ),
        (("--budget", "3x", "--min-count", 5), "min_count is for deterministic releases, got a channel"),
        (
            ("--budget", "3x", "--out", "o.csv", "--with-secret"),
            "--with-secret must not be given with a channel from",
        ),
        (
            ("--budget", "3x", "--keep-as-is", "town"),
            "levels must be of columns that are published truthfully",
        ),
        (
            ("--budget", "3x", "--out", "mechanism.json.csv", "--certificate", "mechanism.json", "--force"),
            "a mechanism",
        ),
    ],
    ids=str,
)
def test_protect_refuses_in_one_line(capsys, more, message):
    Path("plan.toml").write_text(
        'secret = "ill"\n[release.age]\nbins = 10\n[release.town]\nchannel = "mechanism.json"\n'
    )
    status, _, err = run(capsys, "protect", "people.csv", "--policy", "plan.toml", "--json", *more)
    assert status == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert tl.load("mechanism.json").channel == TOWNS
