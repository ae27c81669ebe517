"""The tutorial, run from top to bottom: its Python, its files and its commands with what they print."""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED
TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUSES = {"Over": 1, "tightlip:": 2}


def test_the_tutorial_tells_the_truth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    ran = 0
    for language, content in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(content, str(TUTORIAL), "exec"), {})
        elif language == "toml":
            Path("plan.toml").write_text(content)
        elif language == "console":
            for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
                ran += 1
                status, printed = run(shlex.split(command))
                assert matches(wanted, printed), f"{command}\n{printed}"
                assert status == next((code for word, code in STATUSES.items() if word in wanted), 0)
    assert ran == 10
    assert "<h1" in Path("report.html").read_text(encoding="utf-8")


def run(words):
    """Run one line of a console: tightlip, or `tail -n 1 FILE`."""
    if words[0] == "tail":
        return 0, Path(words[3]).read_text().splitlines()[-1]
    assert words[0] == "tightlip"
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = main(words[1:])
    return status, output.getvalue()


def matches(wanted, printed):
    """Whether the output is as written, whatever the line breaks; ... stands for anything."""
    one, two = (" ".join(text.split()) for text in (wanted, printed))
    return doctest.OutputChecker().check_output(one, two, doctest.ELLIPSIS)


@pytest.mark.parametrize(
    ("wanted", "printed", "same"), [("a ... c", "a b c", True), ("a ... d", "a b c", False)]
)
def test_the_comparison_can_fail(wanted, printed, same):
    assert matches(wanted, printed) is same
