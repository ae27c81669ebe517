"""tightlip ledger and --ledger, from an empty ledger to one that refuses."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main
from tightlip.ledger import Ledger

pytestmark = IGNORED
PEOPLE = "age,sex,ill\n" + "".join(
    f"{i % 30},{'FM'[i % 2]},{'yes' if i % 3 == 0 else 'no'}\n" for i in range(120)
)
CREATE = [
    "ledger",
    "create",
    "study.ledger",
    "--table",
    "people.csv",
    "--secret",
    "ill",
    "--budget",
    "factor 2",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "one.toml").write_text('secret = "ill"\n[release.age]\nbins = 10\n')
    (tmp_path / "all.toml").write_text('secret = "ill"\n[release.age]\n[release.sex]\n')
    assert main(CREATE) == 0
    return tmp_path


def run(capsys, *arguments):
    capsys.readouterr()
    status = main(list(arguments))
    said = capsys.readouterr()
    return status, said.out, said.err


RELEASE = ("release", "table", "people.csv", "--ledger", "study.ledger")


def test_from_an_empty_ledger_to_one_that_refuses(folder, capsys):
    assert run(capsys, *RELEASE, "--policy", "one.toml", "--out", "one.csv")[0] == 0
    status, out, _ = run(
        capsys, "audit", "people.csv", "--policy", "all.toml", "--ledger", "study.ledger", "--json"
    )
    assert status == 1
    record = json.loads(out)
    assert record["verdict"]["met"] is False
    assert "together" in record["headline"]
    status, _, said = run(capsys, *RELEASE, "--policy", "all.toml", "--out", "all.csv")
    assert status == 1
    assert "a factor of 1.666 is left" in said
    assert not (folder / "all.csv").exists()
    safe = ["protect", "people.csv", "--policy", "all.toml", "--ledger", "study.ledger", "--seconds", "1"]
    assert run(capsys, *safe, "--out", "safe.csv", "--key", "second")[0] == 0
    assert [one.key for one in Ledger("study.ledger").releases()][1] == "second"
    assert run(capsys, "ledger", "show", "study.ledger")[0] == 0
    receipts = ["--receipt", "one.csv.receipt.json", "--receipt", "safe.csv.receipt.json"]
    status, out, _ = run(capsys, "ledger", "verify", "study.ledger", *receipts, "--json")
    assert (status, json.loads(out)["receipts"]) == (0, 2)


def test_what_if_charges_nothing(folder, capsys):
    before = (folder / "study.ledger").read_bytes()
    plan = ["audit", "people.csv", "--release", "age", "--bins", "age=10", "--ledger", "study.ledger"]
    status, out, _ = run(capsys, *plan)
    assert status == 0
    assert "The one release (plan 1)" in out
    assert (folder / "study.ledger").read_bytes() == before


def test_protect_without_out_charges_nothing(folder, capsys):
    plan = ["protect", "people.csv", "--release", "age,sex", "--ledger", "study.ledger", "--seconds", "1"]
    assert run(capsys, *plan)[0] == 0
    assert len(Ledger("study.ledger").entries()) == 1


def test_declare_and_settle(folder, capsys):
    assert run(capsys, *RELEASE, "--policy", "one.toml", "--out", "one.csv")[0] == 0
    said = run(
        capsys, "ledger", "declare", "study.ledger", "survey", "--ldp", "log(4)", "--table", "people.csv"
    )
    assert said[0] == 1
    assert "It is not known that the budget is kept with it." in said[1]
    assert run(capsys, "ledger", "show", "study.ledger")[0] == 1, "it is not known that the budget is kept"
    status, _, said = run(capsys, "ledger", "settle", "study.ledger", "1", "--not-released", "--reason", "no")
    assert status == 2
    assert "there is none" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*CREATE], "is there already"),
        (
            ["ledger", "create", "new.ledger", "--table", "people.csv", "--secret", "ill"],
            "--budget must be given",
        ),
        (["ledger", "show", "people.csv"], "people.csv"),
        (["ledger", "settle", "study.ledger", "1", "--reason", "x"], "--released or --not-released"),
        (["ledger", "declare", "study.ledger", "x", "--ldp", "0"], "positive"),
        (["ledger", "declare", "study.ledger", "x", "--ldp", "nan"], "ldp"),
        (["ledger", "declare", "study.ledger", "x", "--ldp", "-1"], "ldp"),
        (["ledger", "declare", "study.ledger", "x", "--ldp", "inf"], "ldp"),
        ([*RELEASE, "--policy", "one.toml", "--out", "x.csv", "--keep", "sex"], "keep must be left out"),
        (
            [*RELEASE[:3], "--policy", "one.toml", "--out", "x.csv", "--key", "k"],
            "--key must be given with --ledger",
        ),
        (
            ["audit", "people.csv", "--release", "age", "--ledger", "study.ledger", "--budget", "2x"],
            "--budget must be",
        ),
        (["audit", "people.csv", "--release", "age", "--ledger", "study.ledger", "--sample"], "--sample"),
        (
            ["protect", "people.csv", "--release", "age", "--ledger", "study.ledger", "--delta", "0.1"],
            "--delta must",
        ),
        (["protect", "people.csv", "--release", "age", "--ledger", "no.ledger"], "no.ledger"),
    ],
)
def test_bad_input_is_one_line(folder, capsys, arguments, said):
    status, _, error = run(capsys, *arguments)
    assert status == 2
    assert said in error
    assert error.count("\n") == 1
    assert not (folder / "x.csv").exists()


def test_a_changed_ledger_is_told(folder, capsys):
    content = bytearray((folder / "study.ledger").read_bytes())
    place = content.index(b"factor 2")
    content[place : place + 8] = b"factor 9"
    (folder / "study.ledger").write_bytes(content)
    status, _, said = run(capsys, "ledger", "verify", "study.ledger")
    assert status == 1
    assert "study.ledger" in said


def test_a_policy_need_not_repeat_the_secret(folder, capsys):
    (folder / "bare.toml").write_text("[release.age]\nbins = 10\n")
    assert run(capsys, *RELEASE, "--policy", "bare.toml", "--out", "one.csv")[0] == 0
    (folder / "own.toml").write_text('budget = "9x"\n[release.sex]\n')
    status, _, said = run(capsys, *RELEASE, "--policy", "own.toml", "--out", "two.csv")
    assert status == 2
    assert "budget must be that of the other releases" in said


def test_part_of_a_budget_is_spent(folder, capsys):
    plan = ["protect", "people.csv", "--release", "age,sex", "--ledger", "study.ledger", "--seconds", "1"]
    assert run(capsys, *plan, "--budget", "factor 3/2", "--out", "one.csv")[0] == 0
    assert Ledger("study.ledger").releases()[0].standings[0].upper.ratio <= Fraction(3, 2)
    assert run(capsys, *plan, "--budget", "9x", "--out", "two.csv")[0] == 0, (
        "the ledger's own is kept besides"
    )
    assert Ledger("study.ledger").releases()[1].standings[0].kept


def test_an_audit_advises_nothing_that_meets_the_budget_only_alone(folder, capsys):
    assert run(capsys, *RELEASE, "--policy", "one.toml", "--out", "one.csv")[0] == 0
    plan = ["audit", "people.csv", "--policy", "all.toml", "--ledger", "study.ledger"]
    status, out, _ = run(capsys, *plan, "--json")
    record = json.loads(out)
    assert (status, record["remedies"], record.get("protect")) == (1, [], None)
    assert "--ledger" in record["todo"][0]
    assert run(capsys, *plan, "--write-policy", "better.toml")[0] == 2


def test_a_mistaken_declaration_is_settled(folder, capsys):
    assert run(capsys, "ledger", "declare", "study.ledger", "survey", "--ldp", "log(4)")[0] == 0
    settle = ["ledger", "settle", "study.ledger", "survey", "--not-released", "--reason", "of other people"]
    assert run(capsys, *settle)[0] == 0
    assert [one.state for one in Ledger("study.ledger").releases()] == ["withdrawn"]
    assert run(capsys, *settle)[0] == 2
