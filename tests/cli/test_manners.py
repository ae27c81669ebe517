"""How much commands say: --quiet, --verbose, pipes, files that were written, and completion."""

import json
import os
import re
import subprocess
import sys
from itertools import groupby

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli import output
from tightlip.cli.main import main

pytestmark = IGNORED

CHANNEL = {"prior": ["1/2", "1/2"], "channel": [["3/4", "1/4"], ["1/4", "3/4"]]}
ROWS = "age,zip code,ill\n" + "".join(
    f"{20 + place % 5 * 10},{place % 3},{'yes' if place % 10 < 3 else 'no'}\n" for place in range(210)
)
COMMANDS = (
    "audit",
    "protect",
    "measure",
    "design",
    "envelope",
    "verify",
    "sml",
    "contraction",
    "plan",
    "convert",
)


@pytest.fixture(autouse=True)
def nobody_says_how_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # as workers of a parallel run do


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


@pytest.fixture
def channel(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps(CHANNEL))
    return path


def run(capsys, *words):
    status = main([str(word) for word in words])
    told = capsys.readouterr()
    return status, told.out, told.err


def audit(table, *more):
    return ["audit", table, "--secret", "ill", "--release", "age,zip code", *more]


def protect(table, *more):
    command = ["protect", table, "--secret", "ill", "--release", "age,zip code", "--budget", "2x"]
    return [*command, "--seconds", "1", *more]


@pytest.mark.parametrize(
    ("budget", "status", "said"),
    [
        ([], 0, "No budget was set, so there is no verdict. For nobody the released values make some ill "),
        (
            ["--budget", "9x"],
            0,
            "Can be published as planned: nobody's ill becomes more than 9 times as likely.",
        ),
        (
            ["--budget", "1.01x"],
            1,
            "Do not publish as planned: for all 210 people the released values make some ill more than ",
        ),
    ],
)
def test_a_quiet_audit_prints_its_verdict(capsys, table, budget, status, said):
    found, out, err = run(capsys, *audit(table, "--quiet", "--seed", "1", *budget))
    assert (found, err) == (status, "")
    assert out.startswith(said)
    assert out.count("\n") == 1
    assert out in run(capsys, *audit(table, *budget, "--seed", "1"))[1]


def test_a_quiet_protection_prints_its_headline_and_writes_its_files(capsys, table, tmp_path):
    out = tmp_path / "safe.csv"
    status, said, err = run(capsys, *protect(table, "-q", "--out", out))
    assert (status, err) == (0, "")
    assert said.startswith("The release keeps ")
    assert said.count("\n") == 1
    assert out.is_file()


def test_commands_without_a_verdict_say_nothing(capsys, channel, table, tmp_path):
    chart = tmp_path / "chart.svg"
    assert run(capsys, "envelope", channel, "--chart", chart, "-q") == (0, "", "")
    assert chart.is_file()
    policy, out = tmp_path / "plan.toml", tmp_path / "safe.csv"
    policy.write_text('secret = "ill"\nrelease = ["age"]\n')
    assert run(capsys, "release", "table", table, "--policy", policy, "--out", out, "-q") == (0, "", "")
    assert out.is_file()


def test_a_quiet_check_says_whether_it_holds(capsys, channel, tmp_path):
    proof = tmp_path / "proof.json"
    assert run(capsys, "envelope", channel, "--delta", "0.1", "--certificate", proof, "-q")[0] == 0
    status, out, err = run(capsys, "verify", proof, "-q")
    assert (status, out[:7], err) == (0, "Valid: ", "")
    assert out.count("\n") == 1


def test_json_and_errors_are_never_quiet(capsys, channel):
    assert run(capsys, "measure", channel, "--json", "-q")[1] == run(capsys, "measure", channel, "--json")[1]
    assert run(capsys, "measure", "nowhere.json", "-q")[2].startswith("tightlip: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_both(capsys, command):
    help_text = run(capsys, command, "--help")[1]
    assert "--quiet" in help_text
    assert "--verbose" in help_text


def test_both_at_once_are_refused(capsys, channel):
    status, _, err = run(capsys, "measure", channel, "-q", "-v")
    assert (status, err) == (2, "tightlip: --quiet must not be given with --verbose; drop one of them.\n")


def test_manners_end_with_their_command(capsys, channel):
    assert run(capsys, "measure", channel, "-q")[1] == ""
    assert run(capsys, "measure", "nowhere.json", "-q")[0] == 2
    assert run(capsys, "measure", channel)[1] != ""


def test_manners_are_no_part_of_the_command_that_is_reported(capsys, table):
    found = json.loads(run(capsys, *audit(table, "--json", "-v"))[1])
    assert found["command"].endswith("--json")


def stages(err):
    """Names of stages in order, from lines like "tightlip: 0.12 s counting"."""
    lines = [re.fullmatch(r"tightlip: (\d+\.\d\d) s (.+)", line) for line in err.splitlines()]
    assert all(lines), err
    seconds = [float(line[1]) for line in lines]
    assert sum(seconds[:-1]) <= seconds[-1] + 0.01 * len(seconds)
    return [line[2] for line in lines]


def test_verbose_commands_tell_their_stages_on_stderr(capsys, table, channel):
    status, out, err = run(capsys, *audit(table, "-v", "--json"))
    assert (status, json.loads(out)["rows"]) == (0, 210)
    found = stages(err)
    assert found[0] == "counting"
    assert found[-3:] == ["report", "writing", "in all"]
    found = stages(run(capsys, *protect(table, "--verbose"))[2])
    assert (found[0], found[-3:]) == ("counting", ["report", "writing", "in all"])
    assert len(found) > 4
    assert stages(run(capsys, "measure", channel, "-v")[2]) == ["in all"]
    made = ("design", channel, "--loss", "hamming", "-v")
    told = stages(run(capsys, *made, "--pml", "1", "--curve")[2])
    assert told == ["reading", "trade-off", "designing", "writing", "in all"]
    told = stages(run(capsys, *made, "--smallest", "pml", "--at-most", "0.3")[2])
    assert told == ["reading", "searching", "writing", "in all"]


def test_a_quiet_or_verbose_command_has_no_bar(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert output._Manner().has_bar
    assert not output._Manner(quiet=True).has_bar
    assert not output._Manner(verbose=True).has_bar


def piped(*words, **environment):
    unset = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    line = [sys.executable, "-m", "tightlip", *map(str, words)]
    found = subprocess.run(line, capture_output=True, text=True, env=unset | environment, check=False)
    return found.stdout.splitlines()


def test_nothing_is_folded_into_a_pipe(table):
    lines = piped(*audit(table, "--budget", "1.01x"))
    (first,) = [line for line in lines if line.startswith("Do not publish as planned: ")]
    assert first.endswith(" more than 1.01 times as likely.")
    assert max(map(len, lines)) > 110
    assert not any(line.endswith(" ") for line in lines)
    sentences = [line for line in lines if line.startswith("• ")]
    assert all(line.endswith((".", ")")) for line in sentences)
    rows = [line for line in lines if line.startswith("│")]
    tables = [list(run_) for is_row, run_ in groupby(lines, lambda line: line[:1] == "│") if is_row]
    assert len(tables) > 3
    assert all(len({len(line) for line in table_}) == 1 for table_ in tables)
    assert not any(line.startswith("│  ") for line in rows)  # a folded row goes on with an empty cell


def test_a_pipe_is_folded_where_somebody_says_how(table):
    assert max(map(len, piped(*audit(table), COLUMNS="80"))) <= 80


def test_every_file_that_is_written_is_told_in_one_wording(capsys, table, channel, tmp_path):
    names = (
        "a.html",
        "a.csv",
        "a.toml",
        "b.html",
        "b.parquet",
        "b.toml",
        "b.json",
        "c.svg",
        "c.json",
        "d.csv",
    )
    at = {name: tmp_path / name for name in names}
    lines = run(
        capsys,
        *audit(
            table,
            "--budget",
            "9x",
            "--html",
            at["a.html"],
            "--risks",
            at["a.csv"],
            "--write-policy",
            at["a.toml"],
        ),
    )[1].splitlines()
    written = ["--html", at["b.html"], "--out", at["b.parquet"]]
    written += ["--policy-out", at["b.toml"], "--certificate", at["b.json"]]
    lines += run(capsys, *protect(table, *written))[1].splitlines()
    command = ["envelope", channel, "--delta", "0.1", "--chart", at["c.svg"], "--certificate", at["c.json"]]
    lines += run(capsys, *command)[1].splitlines()
    lines += run(capsys, "release", "table", table, "--policy", at["b.toml"], "--out", at["d.csv"])[
        1
    ].splitlines()
    told = [re.fullmatch(r"Wrote [^:]+: (.+)\.", line) for line in lines if line.startswith("Wrote ")]
    assert all(told)
    made = {str(path) for path in tmp_path.iterdir()} - {str(table), str(channel)}
    assert sorted(line[1] for line in told) == sorted(made)


def test_json_has_the_files_and_nothing_else_is_printed(capsys, table, tmp_path):
    page, out = tmp_path / "page.html", tmp_path / "safe.csv"
    status, said, err = run(capsys, *protect(table, "--json", "--html", page, "--out", out))
    record = json.loads(said)
    assert (status, err) == (0, "")
    assert record["written"] == {"page": str(page)}
    assert (record["release"]["out"], record["release"]["receipt"]) == (str(out), f"{out}.receipt.json")


def completed(*words):
    environment = os.environ | {
        "_TIGHTLIP_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["tightlip", *map(str, words)]),
        "COMP_CWORD": str(len(words)),
    }
    line = [sys.executable, "-m", "tightlip"]
    found = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
    assert found.stderr == ""
    return found.stdout.split("\n") if found.stdout.strip() else []


def test_options_and_columns_are_completed(table, tmp_path):
    assert "--secret" in " ".join(completed("audit", "--se"))
    assert [line for line in completed("au") if line] == ["audit"]
    assert [line for line in completed("audit", table, "--secret", "i") if line] == ["ill"]
    assert [line for line in completed("protect", table, "--release", "ill,a") if line] == ["ill,age"]
    (tmp_path / "broken.csv").write_text('a,"b')
    assert not [line for line in completed("audit", tmp_path / "broken.csv", "--secret", "a") if line]


def test_a_shell_is_shown_how_to_complete():
    words = ["bash", "-c", '"$@"; exit $?', "bash", sys.executable, "-m", "tightlip", "--show-completion"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert "_TIGHTLIP_COMPLETE=complete_bash" in found.stdout
