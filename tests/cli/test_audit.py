"""The audit command: words, JSON, files all together or not at all, exit statuses, and one line for bad input."""

import csv
import json
import os
import random
import re
import shlex
import stat
import subprocess
import sys

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.arguments import typed_command
from tightlip.cli.main import main

pytestmark = IGNORED
HEADER = "id,age,zip,sex,disease\n"


@pytest.fixture(scope="module")
def people():
    """Six hundred people; three old men in one zip code are all ill."""
    draw = random.Random(7)
    rows = [
        f"p{place},{draw.randint(20, 79)},{draw.choice(['44139', '44141', '55301'])},{draw.choice('FM')},"
        f"{draw.choices(['none', 'flu', 'asthma'], [7, 2, 1])[0]}"
        for place in range(597)
    ]
    return HEADER + "\n".join([*rows, *(f"old{place},91,55301,M,=HIV" for place in range(3))]) + "\n"


@pytest.fixture
def table(tmp_path, people):
    path = tmp_path / "patients.csv"
    path.write_text(people)
    return path


@pytest.fixture(autouse=True)
def quick_library(monkeypatch):
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def command(table, *options):
    return "audit", table, "--secret", "disease", "--release", "age,zip,sex", "--bins", "age=10", *options


def test_text_finds_the_planted_cell(capsys, table):
    status, out, err = run(capsys, *command(table))
    words = " ".join(out.split())
    assert (status, err) == (0, "")
    assert words.startswith("No budget was set, so there is no verdict. For 98 of 600 people (16.3 %) the ")
    assert re.search(
        r"The worst leakage is 200x \(5.3 nats\), cell \d+, where secret \d rises from 0.5 % to 100 %", words
    )
    assert "HIV" not in out
    shown = " ".join(run(capsys, *command(table, "--show-values"))[1].split())
    assert 'age = [90, 100), zip = 55301, sex = M, where disease "=HIV" rises from 0.5 % to 100 %' in shown


def test_json_is_one_object_and_the_command_makes_it_again(capsys, table):
    status, out, err = run(
        capsys, *command(table, "--json", "--delta", "1/50", "--unit", "bits", "--min-count", 5)
    )
    record = json.loads(out)
    assert (status, err, record["unit"], record["delta"]) == (0, "", "bits", 0.02)
    again = shlex.split(record["command"])
    assert again[0] == "tightlip"
    repeated = json.loads(run(capsys, *again[1:])[1])
    assert repeated["command"] == record["command"]
    for part in ("figures", "tail", "columns"):  # codes of equally frequent values are drawn anew
        assert repeated["views"][0][part] == record["views"][0][part]
    assert record["plan"] == [
        "age in bins of 10",
        "zip as it is",
        "sex as it is",
        "scales: age numeric (guessed: in bins of 10), zip nominal (guessed: 3 distinct whole numbers), "
        "sex nominal (guessed)",
        "cells of fewer than 5 rows released as one",
    ]


def test_a_budget_decides_the_exit_status(capsys, table):
    status, out, _ = run(capsys, *command(table, "--budget", "log(3)"))
    assert status == 1
    assert "Over the budget" in out
    assert "each of these alone meets the budget" in out
    assert run(capsys, *command(table, "--budget", "10 nats"))[0] == 0


def test_page_and_risks(capsys, table, tmp_path):
    page, risks = tmp_path / "report.html", tmp_path / "risks.csv"
    status, out, err = run(
        capsys, *command(table, "--html", page, "--risks", risks, "--id", "id", "--budget", "1 nats")
    )
    assert (err, status) == ("", 1)
    assert "<h1" in page.read_text()
    assert "HIV" not in page.read_text()
    said = " ".join(out.split()).replace("/ ", "/")
    assert f"Wrote this report: {page}. Wrote the risk of each of 600 rows: {risks}." in said
    lines = risks.read_text().splitlines()
    assert len(lines) == 601
    assert lines[1].startswith('"p0",')
    assert all(line.split(",")[1] == "3" and line.endswith(",1") for line in lines[-3:])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv", "report.html", "risks.csv"]


def test_files_are_kept_without_force(capsys, table, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("old")
    status, out, err = run(capsys, *command(table, "--html", page))
    assert (status, out, page.read_text()) == (2, "", "old")
    assert "exists already" in err
    assert run(capsys, *command(table, "--html", page, "--force"))[0] == 0
    assert "<h1" in page.read_text()


def test_when_the_risks_fail_there_is_no_page_either(capsys, table, tmp_path):
    page, risks = tmp_path / "report.html", tmp_path / "risks.csv"
    page.write_text("old")
    options = ("--html", page, "--risks", risks, "--force")
    status, out, err = run(capsys, *command(table, *options, "--id", "disease"))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["patients.csv", "report.html"]


def test_when_the_page_fails_there_are_no_risks_either(capsys, table, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tightlip.report.page._library", full)
    status, out, err = run(
        capsys, *command(table, "--html", tmp_path / "r.html", "--risks", tmp_path / "r.parquet")
    )
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "No space left" in err
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]


def test_policy_files(capsys, table, tmp_path):
    policy = tmp_path / "plan.toml"
    policy.write_text('secret = "disease"\nmin_count = 5\n[release.age]\nbins = 20\n[release.sex]\n')
    status, out, _ = run(capsys, "audit", table, "--policy", policy, "--json")
    record = json.loads(out)
    assert (status, record["released"]) == (0, ["age", "sex"])


def test_flags_add_to_a_policy_file(capsys, table, tmp_path):
    policy = tmp_path / "plan.toml"
    policy.write_text(
        'secret = "disease"\nmin_count = 5\nbudget = "1x"\n[release.age]\nbins = 20\n[release.sex]\n'
    )
    more = (
        "--release",
        "zip",
        "--min-count",
        "3",
        "--bins",
        "age=30",
        "--where",
        "age >= 30",
        "--budget",
        "9999x",
        "--top",
        "age=80",
        "--nominal",
        "zip",
        "--nominal",
        "sex",
    )
    status, out, _ = run(capsys, "audit", table, "--policy", policy, *more, "--json")
    record = json.loads(out)
    assert (status, record["released"]) == (0, ["age", "sex", "zip"])
    assert record["plan"][0] == "age in bins of 30, top-coded at 80"
    assert (
        "scales: age numeric (guessed: in bins of 30, top-coded at 80), sex nominal (declared), "
        "zip nominal (declared)"
    ) in record["plan"]
    assert "cells of fewer than 3 rows released as one" in record["plan"]
    assert record["budget"]["words"] != "0 nats"
    with table.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["age"]) >= 30]
    assert record["rows"] == len(rows)


def test_recodings_in_a_row_and_scales(capsys, table):
    coded = ("--top", "age=70", "--bottom", "age=25", "--numeric", "age", "--nominal", "zip,sex")
    status, out, err = run(capsys, *command(table, *coded, "--json"))
    assert (status, err) == (0, "")
    assert json.loads(out)["plan"][0] == "age in bins of 10, bottom-coded at 25, top-coded at 70"
    status, _, err = run(capsys, *command(table, "--nominal", "age"))
    assert (status, err.count("\n")) == (2, 1)
    assert '"in bins of 10" needs values with an order by size, got it on column "age"' in err


def test_samples(capsys, table):
    status, out, _ = run(capsys, *command(table, "--sample", "--confidence", "0.9", "--json"))
    record = json.loads(out)
    assert (status, record["mode"], record["confidence"]) == (0, "sample", 0.9)
    assert "--sample --confidence 0.9" in record["command"]
    assert json.loads(run(capsys, *command(table, "--sample", "--json"))[1])["confidence"] == 0.95


def test_every_flag_reaches_the_plan(capsys, table, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("value,group\n44139,a\n44141,a\n55301,b\n")
    flags = ("--top", "age=70", "--map", f"zip={groups}", "--suppress", "sex")
    given = ("audit", table, "--secret", "disease", "--release", "age,zip,sex", *flags, "--json")
    status, out, err = run(capsys, *given)
    assert (status, err) == (0, "")
    plan = json.loads(out)["plan"]
    assert "70" in plan[0]
    assert plan[2] == "sex suppressed"
    bottom = ("audit", table, "--secret", "disease", "--release", "age", "--bottom", "age=30", "--json")
    assert "30" in json.loads(run(capsys, *bottom)[1])["plan"][0]
    noisy = (
        "audit",
        table,
        "--secret",
        "disease",
        "--release",
        "sex,zip",
        "--prefix",
        "zip=2",
        "--randomize",
        "sex=1",
    )
    assert "randomised response" in json.loads(run(capsys, *noisy, "--json")[1])["plan"][0]


def test_names_with_commas_are_quoted(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"ill, or not",age\nyes,1\nno,2\nno,1\n')
    status, out, _ = run(capsys, "audit", path, "--secret", '"ill, or not"', "--release", "age", "--json")
    assert (status, json.loads(out)["secret_columns"]) == (0, ["ill, or not"])


def test_a_name_with_a_space_at_its_start_is_put_in_quotes(capsys, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age, ill\n1,yes\n2,no\n2,yes\n")
    assert 'did you mean " ill"?' in run(capsys, "audit", path, "--secret", "ill", "--release", "age")[2]
    assert run(capsys, "audit", path, "--secret", '" ill"', "--release", "age")[0] == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--secret", "diseese"), "disease"),
        (("--release", "zipp"), '"zipp" is not there; did you mean "zip"?'),
        (("--release", "age"), 'each column once, got "age" twice'),
        (("--release", "age,,zip"), "separated by commas"),
        (("--release", "disease"), "must not have a secret column"),
        (("--delta", "2"), "strictly between 0 and 1"),
        (("--delta", "0,05"), "write it with a point"),
        (("--delta", "5"), "write 0.05 for 5 %"),
        (
            ("--budget", "50%"),
            'the cap of 50 % on "disease" cannot be kept, since 71 % of all people have one',
        ),
        (("--sample", "--budget", "50%"), "a sample is judged by a factor about every value, got a cap"),
        (("--sample", "--min-count", "5"), "min_count hides cells that depend on the sample"),
        (
            ("--budget", "1.5"),
            'budget must say what it is, got 1.5; write "1.5x" (a factor), "1.5 nats", or "1.5%"',
        ),
        (("--budget", "1/2x"), "must not be negative"),
        (("--budget", "1,5"), "with a decimal point"),
        (("--seed", "-1"), "--seed"),
        (("--budget", "-1"), "must not be negative"),
        (("--budget", "much"), "budget"),
        (("--confidence", "0.9"), "--confidence must be given with --sample"),
        (("--sample", "--confidence", "2"), "confidence must be strictly between 0 and 1"),
        (("--id", "id"), "--id must be given with --risks"),
        (("--risks", "risks.csv", "--sample"), "--risks must not be given with --sample"),
        (("--risks", "risks.txt"), "must end in .csv or .parquet"),
        (("--html", "nowhere/report.html"), "there is no folder"),
        (("--html", "report.txt"), "--html must end in .html"),
        (("--min-count", "few"), "Try 'tightlip audit --help'"),
        (("--bins", "age"), "COLUMN=WIDTH"),
        (("--prefix", "age=1"), "prefix must be of values or groups, got it after bins"),
        (("--ordinal", "sex"), 'column "sex" is declared ordinal, got text'),
        (("--nominal", "zip", "--numeric", "zip"), 'must be of columns declared once, got "zip" twice'),
        (("--nominal", "zap"), 'scales column "zap" is not there'),
        (("--table", "people"), "for databases"),
        (("--statistic", "disease"), "one of several secret columns"),
        (("--budget", "log(2) bits"), "a logarithm has no unit"),
        (("--budget", "20000 bits"), "at most 10000 bits"),
    ],
)
def test_bad_requests_are_one_line(capsys, table, changes, message):
    status, out, err = run(capsys, *command(table, *changes))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_columns_must_be_named(capsys, table):
    assert "--secret and --release must be given" in run(capsys, "audit", table, "--secret", "disease")[2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("no-rows.csv", HEADER.encode(), ""),
        ("one.csv", (HEADER + "1,2,3,F,flu\n2,3,4,M,flu\n").encode(), "flu|disease|two values|one value"),
        ("broken.csv", HEADER.encode() + b"1,2,3,\xff\xfe,flu\n2,3,4,M,none\n", "UTF-8"),
        ("cut.parquet", b"PAR1\x00\x01\x02", "cannot be read"),
        ("table.xlsx", b"PK", "must be a CSV"),
    ],
)
def test_bad_tables_are_one_line(capsys, tmp_path, name, content, message):
    path, page = tmp_path / name, tmp_path / "report.html"
    path.write_bytes(content)
    status, out, err = run(
        capsys, "audit", path, "--secret", "disease", "--release", "age,zip,sex", "--html", page
    )
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert any(part in err for part in message.split("|"))
    assert not page.exists()


def test_a_missing_table(capsys, tmp_path):
    status, _, err = run(capsys, *command(tmp_path / "none.csv"))
    assert (status, err.count("\n")) == (2, 1)
    assert "none.csv" in err


def test_outputs_do_not_destroy_inputs_or_each_other(capsys, table, tmp_path):
    before = table.read_text()
    assert "is the table, which is read" in run(capsys, *command(table, "--risks", table, "--force"))[2]
    assert table.read_text() == before
    same, again = tmp_path / "same.csv", tmp_path / "x" / ".." / "same.csv"
    (tmp_path / "x").mkdir()
    for other in (same, again):
        assert "asked for twice" in run(capsys, *command(table, "--html", other, "--risks", same))[2]
    assert not same.exists()


def test_outputs_do_not_destroy_policies_and_mappings(capsys, table, tmp_path):
    policy, groups = tmp_path / "plan.toml", tmp_path / "groups.csv"
    policy.write_text('secret = "disease"\nrelease = ["age"]\n')
    groups.write_text("value,group\n44139,a\n44141,a\n55301,b\n")
    given = ("audit", table, "--policy", policy, "--html", policy, "--force")
    assert "is the policy, which is read" in run(capsys, *given)[2]
    for named in (f"zip={groups}", f"zip={groups}:1"):
        options = ("--map", named, "--risks", groups, "--force")
        assert "is a mapping, which is read" in run(capsys, *command(table, *options))[2]
    assert (policy.read_text()[:6], groups.read_text()[:5]) == ("secret", "value")


def test_devices_are_not_replaced(capsys, table, tmp_path):
    os.mkfifo(tmp_path / "page.html")
    status, _, err = run(capsys, *command(table, "--html", tmp_path / "page.html", "--force"))
    assert (status, err.count("\n")) == (2, 1)
    assert (tmp_path / "page.html").is_fifo()


def test_names_from_a_table_cannot_steer_the_terminal(capsys, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\x1b]0;owned\x07\u202e,ill\n1,yes\n2,no\n")
    status, _, err = run(capsys, "audit", path, "--secret", "ill", "--release", "age")
    assert (status, err.count("\n")) == (2, 1)
    assert err[:-1].isprintable()


def test_file_names_that_are_no_text_are_escaped_in_json(capsys, table, tmp_path):
    name = os.fsdecode(bytes(tmp_path / "report") + b"\xff.html")
    status, out, err = run(capsys, *command(table, "--json", "--html", name))
    assert (status, err) == (0, "")
    out.encode()
    assert name in json.loads(out)["command"].replace("'", "")


@pytest.mark.parametrize(("signal_name", "status"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_stopped_while_writing_it_leaves_nothing(table, tmp_path, signal_name, status):
    program = (
        "import os, signal, time\n"
        "from tightlip.table import risk\n"
        "from tightlip.cli.main import run\n"
        "def stopped(writer, batches, names):\n"
        f"    os.kill(os.getpid(), signal.{signal_name})\n"
        "    time.sleep(60)\n"
        "risk._write_all = stopped\n"
        "run()\n"
    )
    words = [str(word) for word in command(table, "--risks", tmp_path / "risks.csv")]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "tightlip: interrupted.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]


def test_passwords_stay_out_of_the_report():
    import typer

    app = typer.Typer()
    seen = []

    @app.command()
    def audit(context: typer.Context, table: str, release: str = "") -> None:
        seen.append(typed_command(context, "audit"))

    for address in ("postgresql://me:geheim@host/db?password=geheim", "postgresql://me:g@x/geheim@host/db"):
        app([address, "--release", "a b"], standalone_mode=False)
        assert "geheim" not in seen[-1]
        assert seen[-1].endswith("--release 'a b'")


def two_secrets(table, *options):
    return "audit", table, "--secret", "disease,sex", "--release", "age,zip", "--bins", "age=20", *options


def test_a_statistic_from_flags_and_from_a_policy(capsys, table, tmp_path):
    status, out, err = run(capsys, *two_secrets(table, "--statistic", "disease", "--json"))
    record = json.loads(out)
    assert (status, err, record["statistic"]) == (0, "", ["disease"])
    joint, disease, sex = record["views"]
    assert joint["sml"] is sex["sml"] is None
    assert (disease["sml"]["of"], disease["sml"]["exact"]) == ("disease × sex", True)
    assert disease["sml"]["at_least"]["value"] <= disease["sml"]["value"] <= joint["maximal_leakage"]["value"]
    assert disease["sml"]["proof"]["checked"]
    assert any("(SML, exact)" in text for text in disease["words"])
    assert "--statistic disease" in record["command"]
    policy = tmp_path / "plan.toml"
    policy.write_text(
        'secret = ["disease", "sex"]\nstatistic = "disease"\n[release.age]\nbins = 20\n[release.zip]\n'
    )
    again = json.loads(run(capsys, "audit", table, "--policy", policy, "--json")[1])
    assert again["views"][1]["sml"]["value"] == disease["sml"]["value"]
    text = run(capsys, *two_secrets(table, "--statistic", "disease"))[1]
    assert "As a statistic (SML)" in text
    assert "SML" not in run(capsys, *two_secrets(table))[1]
    status, out, err = run(capsys, *two_secrets(table, "--statistic", "disease", "--sample"))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert 'the statistic "disease" is audited for a population only' in err


def test_the_proof_of_a_statistic_can_be_checked(capsys, table, tmp_path):
    out = run(capsys, *two_secrets(table, "--statistic", "disease", "--json", "--show-values"))[1]
    (tmp_path / "proof.json").write_text(
        json.dumps(json.loads(out)["views"][1]["sml"]["proof"]["certificate"])
    )
    assert run(capsys, "verify", tmp_path / "proof.json")[0] == 0


def test_budgets_in_bits(capsys, table):
    exact = json.loads(run(capsys, *command(table, "--budget", "2 bits", "--unit", "bits", "--json"))[1])
    assert (exact["budget"]["value"], exact["budget"]["words"]) == (2.0, "2 bits")
    same = json.loads(run(capsys, *command(table, "--budget", "log(4)", "--unit", "bits", "--json"))[1])
    assert same["budget"] | {"words": "2 bits"} == exact["budget"]
    assert same["verdict"]["met"] is exact["verdict"]["met"] is False
    assert same["verdict"]["words"] == exact["verdict"]["words"].replace("of 2 bits", "of log(4)")
    half = json.loads(run(capsys, *command(table, "--budget", "1.5 bits", "--unit", "bits", "--json"))[1])
    assert half["budget"]["words"] == "1.5 bits"


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("log(0)", 'budget: its ratio must be positive, got "0"'),
        ("log(-1)", 'budget: its ratio must be positive, got "-1"'),
        ("inf", "budget must be a finite non-negative number"),
        ("1e999", 'budget must be at most 1.8e+308, got "1e999"; give a smaller one'),
    ],
)
def test_budgets_that_are_none(capsys, table, budget, words):
    status, out, err = run(capsys, *command(table, "--budget", budget))
    assert (status, out) == (2, "")
    assert words in " ".join(err.split())


def test_text_in_bits_has_no_nats(capsys, table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")  # the table's name, which has "nats" in it, stays on one line
    out = run(capsys, *command(table, "--unit", "bits", "--budget", "1 bit"))[1].replace(str(table), "")
    assert "nats" not in re.sub(r"ε = \S+ nats", "", " ".join(out.split()))


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_long_work_is_shown_on_a_terminal(capsys, table, monkeypatch, patience):
    monkeypatch.setattr("tightlip.cli.output.PATIENCE", patience)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    status, _, err = run(capsys, *command(table))
    assert status == 0
    assert ("writing" in err or "envelope disease" in err) == (patience == 0)


def test_nothing_is_shown_elsewhere(capsys, table):
    assert run(capsys, *command(table))[2] == ""


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
def test_what_shows_values_or_rows_is_for_the_owner_alone(capsys, table, tmp_path):
    def mode(name):
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    before = os.umask(0o022)
    try:
        run(capsys, *command(table, "--html", tmp_path / "plain.html", "--risks", tmp_path / "risks.csv"))
        run(capsys, *command(table, "--html", tmp_path / "shown.html", "--show-values"))
        run(capsys, *command(table, "--html", tmp_path / "plain.html", "--show-values", "--force"))
    finally:
        os.umask(before)
    assert [mode(name) for name in ("risks.csv", "shown.html", "plain.html")] == [0o600, 0o600, 0o600]
    run(capsys, *command(table, "--html", tmp_path / "plain.html", "--force"))
    assert mode("plain.html") == 0o644


def test_a_report_can_be_made_again(capsys, table, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    asked = command(table, "--json", "--seed", 0)
    first = run(capsys, *asked)[1]
    record = json.loads(first)
    assert record["command"].endswith("--seed 0 --json")
    assert run(capsys, *shlex.split(record["command"])[1:])[1] == first
    assert record["origin"]["made"] == "2023-11-14T22:13:20Z"
    assert record["origin"]["counts_sha256"] is None
    assert record["origin"]["words"][0].endswith(" from 600 rows.")
    shown = json.loads(run(capsys, *asked, "--show-values")[1])["origin"]
    assert re.fullmatch("[0-9a-f]{64}", shown["counts_sha256"])
    assert shown["counts_sha256"] in shown["words"][1]
    table.write_text(table.read_text().replace("p7,", "p7 ,"))  # a column that is not in use
    assert json.loads(run(capsys, *asked, "--show-values")[1])["origin"] == shown
    table.write_text(table.read_text() + "p600,30,44139,F,flu\n")
    changed = json.loads(run(capsys, *asked, "--show-values")[1])["origin"]
    assert changed["counts_sha256"] != shown["counts_sha256"]


def test_a_bad_time_is_refused_before_any_work(capsys, table, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    monkeypatch.setattr("tightlip.table.source.open_table", None)
    status, _, err = run(capsys, *command(table))
    assert (status, "SOURCE_DATE_EPOCH" in err) == (2, True)
