"""The tutorial, the README, the first page and the page on design, run: Python, files, commands and what they print."""

import contextlib
import doctest
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED
ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STATUSES = {"Do not publish": 1, "Not shown to be safe": 1, "tightlip: ": 2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the examples, as the project's own and as the tutorial's; lines are not folded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    shutil.copytree(ROOT / "examples", "examples")
    shutil.copy(ROOT / "examples" / "census_extract.csv", ".")
    return tmp_path


def test_the_tutorial_tells_the_truth(folder):
    seen, printed = [], ""
    for language, content in blocks("docs/tutorial.md"):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(content, "tutorial.md", "exec"), {})
        elif language == "toml":
            Path("plan.toml").write_text(content)
        elif language == "console":
            for program, printed in check(content):  # noqa: B007 (what was printed last is looked at below)
                seen.append(program)
        elif language == "text":  # a part of what was printed last
            assert matches(f"... {content} ...", printed), content
    assert seen.count("tightlip") == 14
    assert seen.count("head") == 3
    assert "<h1" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "commands"), [("README.md", 3), ("docs/index.md", 2)])
def test_the_first_pages_tell_the_truth(folder, page, commands):
    consoles = [content for language, content in blocks(page) if language == "console"]
    assert [program for content in consoles for program, _ in check(content)] == ["tightlip"] * commands


def test_the_page_on_design_tells_the_truth(folder):
    names, seen = {"json": "msp.json", "toml": "plan.toml"}, []
    for language, content in blocks("docs/design.md"):
        if language in names:
            Path(names[language]).write_text(content)
        elif language == "console":
            seen += [program for program, _ in check(content)]
    assert seen == ["tightlip"] * 12


def blocks(page):
    """The blocks of code of a page, with their languages."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def check(content):
    """Run the lines of a console, compare what is printed and the exit status; yield programs and outputs."""
    content = content.replace("\\\n", " ")
    for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
        words = shlex.split(command)
        status, printed = run(words)
        assert matches(wanted, printed), f"{command}\n{printed}"
        assert status == next((code for word, code in STATUSES.items() if word in wanted), 0), command
        yield words[0], printed


def run(words):
    """Run one line of a console: tightlip, or `head -n NUMBER FILE`."""
    if words[0] == "head":
        return 0, "\n".join(Path(words[3]).read_text(encoding="utf-8").splitlines()[: int(words[2])])
    assert words[0] == "tightlip"
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = main(words[1:])
    return status, output.getvalue()


def matches(wanted, printed):
    """Whether the output is as written, whatever the line breaks; … and ... stand for anything."""
    one, two = (" ".join(text.split()) for text in (wanted.replace("…", "..."), printed))
    return doctest.OutputChecker().check_output(one, two, doctest.ELLIPSIS)


@pytest.mark.parametrize(
    ("wanted", "printed", "same"),
    [("a ... c", "a b c", True), ("a … d", "a b c", False), ("a c", "a b c", False)],
)
def test_the_comparison_can_fail(wanted, printed, same):
    assert matches(wanted, printed) is same
