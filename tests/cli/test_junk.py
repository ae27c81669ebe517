"""Files and options that hold nonsense: one line on stderr, and exit 2."""

import json

import pytest

from tightlip.cli.main import main

CHANNEL = {
    "channel": [["1/2", "1/2"], ["1/4", "3/4"]],
    "prior": ["1/2", "1/2"],
    "inputs": ["a", "b"],
    "outputs": ["x", "y"],
    "secret": ["s", "t"],
    "labels": ["a", "b"],
}
STUDY = {
    "hypotheses": [{"prior": [0.5, 0.5]}, {"prior": [0.25, 0.75]}],
    "loss": "zero-one",
    "labels": ["u", "v"],
}
JUNK = [
    *(True, 5, -1, 1e308, 10**400, "x", "", "\ud800", "1e999", "1/0", "9" * 6000),
    *([], [[]], {}, {"a": None}, [None], [1, "a", None], [[0.5, 0.5], [1]], {"a": {}}, [{"a": 1}]),
    *([10**400, 1], [True, False], ["\ud800", "b"]),
]
LEVELS = [
    "1e999",
    "1e-999",
    "nan",
    "-1",
    "",
    "x",
    "1/0",
    "9" * 6000,
    "log(1e999)",
    "log(0)",
    "1/" + "9" * 3000,
]


def run(capsys, *arguments):
    status = main(list(arguments))
    told = capsys.readouterr().err
    told.encode()
    assert (status, told.count("\n")) in ((0, 0), (2, 1)), (arguments, told)
    return status, told


@pytest.mark.parametrize("key", [*CHANNEL, "counts", "sparse", "adjustment"])
def test_channel_files(key, tmp_path, capsys):
    path = tmp_path / "channel.json"
    for junk in JUNK:
        record = {**CHANNEL, key: junk}
        if key == "counts":
            del record["channel"], record["prior"]
        path.write_text(json.dumps(record))
        run(capsys, "sml" if key == "secret" else "measure", str(path))


@pytest.mark.parametrize("key", STUDY)
def test_study_files(key, tmp_path, capsys):
    path = tmp_path / "study.json"
    for junk in JUNK:
        path.write_text(json.dumps({**STUDY, key: junk}))
        run(capsys, "plan", str(path), "--epsilon", "1", "--samples", "10")


def test_labels_that_are_no_list(tmp_path, capsys):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps({**CHANNEL, "labels": 5}))
    status, told = run(capsys, "measure", str(path))
    assert (status, told) == (2, "tightlip: labels must be a list of labels, got 5; put them in a list.\n")


@pytest.mark.parametrize("level", LEVELS)
def test_levels(level, capsys):
    for arguments in (
        ["ldp", level],
        ["ldp", level, "--unit", "bits", "--json"],
        ["pml", level, "--min-mass", "0.2"],
        ["pml", "0.1", "--min-mass", level],
        ["alip", f"{level},1"],
    ):
        run(capsys, "convert", *arguments)


def test_a_level_beyond_floats(capsys):
    status, told = run(capsys, "convert", "ldp", "1e999")
    assert status == 2
    assert told == 'tightlip: epsilon must be at most 1.8e+308, got "1e999"; write inf for no bound.\n'
