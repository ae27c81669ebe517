"""Where output goes: closed and broken streams, screens of no width, and characters that would steer a terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tightlip.cli.main import main
from tightlip.cli.output import print_json

CHANNEL = {"prior": ["1/2", "1/2"], "channel": [["3/4", "1/4"], ["1/4", "3/4"]]}


@pytest.fixture
def channel(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps(CHANNEL))
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "30,yes\n40,no\n" * 20)
    return path


def shell(line, *arguments, **environment):
    """Run one line of bash, in which "$@" are the arguments after the program."""
    words = ["bash", "-c", line, "bash", sys.executable, "-m", "tightlip", *map(str, arguments)]
    found = subprocess.run(words, capture_output=True, text=True, env=os.environ | environment, check=False)
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_closed_stdout_changes_no_status(channel, options):
    assert shell('"$@" >&-', "measure", channel, *options) == (0, "", "")
    assert shell('"$@" >&-', "measure", "nowhere")[0] == 2
    assert shell('"$@" 2>&-', "measure", "nowhere") == (2, "", "")


def test_no_file_becomes_a_closed_stream(table, tmp_path):
    risks = tmp_path / "risks.csv"
    command = ("audit", table, "--secret", "ill", "--release", "age", "--risks", risks)
    assert shell('"$@" >&- 2>&-', *command)[0] == 0
    assert len(risks.read_text().splitlines()) == 41


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize(("budget", "status"), [("0.1 nats", 1), ("9 nats", 0)])
def test_a_reader_who_leaves_early_changes_no_verdict(table, options, budget, status):
    command = ("audit", table, "--secret", "ill", "--release", "age", "--budget", budget, *options)
    found = shell('"$@" > >(exec 0<&-); exit $?', *command)
    assert found[0] == status
    assert "Traceback" not in found[2]
    assert "Exception ignored" not in found[2]


def test_a_broken_pipe_is_the_end_of_printing_only(monkeypatch):
    class Left:
        encoding = "utf-8"

        def write(self, _):
            raise BrokenPipeError

        flush = write

    monkeypatch.setattr(sys, "stdout", Left())
    print_json({"a": 1})
    assert sys.stdout.name == os.devnull
    sys.stdout.close()


@pytest.mark.parametrize("columns", ["0", "00", "1", "7", "-3", "abc", "9" * 5000, ""])
def test_every_width_of_screen_is_readable(capsys, channel, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["measure", str(channel)]) == 0
    out = capsys.readouterr().out
    assert "The largest factor:" in out
    assert 38 <= max(map(len, out.splitlines())) <= 110


def test_help_on_a_screen_without_columns():
    status, out, _ = shell('"$@"', "measure", "--help", COLUMNS="0")
    assert (status, "Usage: tightlip measure" in out) == (0, True)


HOSTILE = "\x1b[31m\x7f\x9b2J\u202e\u2066\u200b\ufeff\U000e0041\udcff é"


def test_json_shows_no_character_that_steers_a_terminal(capsys, tmp_path):
    path, name = tmp_path / "channel.json", HOSTILE.replace("\udcff", "")
    path.write_text(json.dumps(CHANNEL | {"outputs": [name, "b"]}))
    assert main(["measure", str(path), "--json"]) == 0
    out = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in out)
    assert json.loads(out)["outcomes"][0]["outcome"] == name


def test_json_means_what_it_did(capsys):
    print_json({HOSTILE: [HOSTILE]})
    out = capsys.readouterr().out
    assert json.loads(out) == {HOSTILE: [HOSTILE]}
    assert "é" in out
    assert not {*HOSTILE} - {*" é[312mJ"} & {*out}


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are always text there")
def test_a_mapping_needs_a_name_that_a_policy_can_hold(capsys, table):
    folder = os.fsencode(table.parent)
    Path(os.fsdecode(folder + b"/m\xff.csv")).write_text("age,group\n30,young\n40,old\n")
    mapping = os.fsdecode(b"age=" + folder + b"/m\xff.csv")
    command = ["audit", str(table), "--secret", "ill", "--release", "age", "--map", mapping]
    for options in ([], ["--json"], ["--budget", "1 nats", "--write-policy", str(table.parent / "p.toml")]):
        assert main([*command, *options]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert "must have a name in UTF-8, else no policy file can name it; rename it." in captured.err
