"""No command writes over a file that it reads, also where it may overwrite files."""

import json

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

CHANNEL = {"prior": ["1/2", "1/2"], "channel": [["3/4", "1/4"], ["1/4", "3/4"]]}
STUDY = {"hypotheses": [{"prior": ["1/2", "1/2"]}, {"prior": ["1/4", "3/4"]}], "loss": "zero-one"}
TABLE = "sex,ill\nF,yes\nM,no\nM,yes\nF,no\n"
POLICY = 'secret = "ill"\nrelease = ["sex"]\n'
# the command, the file that it reads and is asked to write, what that holds and is called
COMMANDS = {
    "envelope": (("envelope", "FILE", "--chart", "FILE"), CHANNEL, "the channel file"),
    "envelope, proof": (
        ("envelope", "FILE", "--delta", "0.1", "--certificate", "FILE"),
        CHANNEL,
        "the channel file",
    ),
    "design": (
        ("design", "FILE", "--ldp", "1", "--loss", "hamming", "--out", "FILE"),
        CHANNEL,
        "the channel file",
    ),
    "design, proof": (
        ("design", "FILE", "--ldp", "1", "--loss", "hamming", "--certificate", "FILE"),
        CHANNEL,
        "the channel file",
    ),
    "sml": (("sml", "FILE", "--certificate", "FILE"), CHANNEL, "the channel file"),
    "contraction": (("contraction", "FILE", "--chart", "FILE"), CHANNEL, "the channel file"),
    "plan": (("plan", "FILE", "--samples", "5", "--epsilon", "1", "--chart", "FILE"), STUDY, "the study"),
    "plan, channel": (
        ("plan", "STUDY", "--samples", "5", "--channel", "FILE", "--chart", "FILE"),
        CHANNEL,
        "the channel file",
    ),
    "audit": (
        ("audit", "FILE", "--secret", "ill", "--release", "sex", "--html", "FILE"),
        TABLE,
        "the table",
    ),
    "audit, policy": (("audit", "TABLE", "--policy", "FILE", "--html", "FILE"), POLICY, "the policy"),
    "release": (
        ("release", "histogram", "FILE", "--columns", "sex,ill", "--secret", "ill=yes", "--out", "FILE"),
        TABLE,
        "the table",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_is_read_is_not_written(capsys, tmp_path, name):
    command, content, what = COMMANDS[name]
    names = {
        "FILE": tmp_path / "file.html",
        "STUDY": tmp_path / "study.json",
        "TABLE": tmp_path / "table.csv",
    }
    names["STUDY"].write_text(json.dumps(STUDY))
    names["TABLE"].write_text(TABLE)
    before = content if isinstance(content, str) else json.dumps(content)
    names["FILE"].write_text(before)
    status = main([str(names.get(word, word)) for word in command] + ["--force"])
    told = capsys.readouterr()
    assert (status, told.out) == (2, "")
    assert f"is {what}, which is read and would be lost; choose another name" in told.err
    assert names["FILE"].read_text() == before
