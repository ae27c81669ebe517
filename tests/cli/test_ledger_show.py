"""tightlip ledger show: the answer, its exit status, and what it writes."""

import json
import stat

import pytest

from contract.warnings_of_engines import IGNORED
from ledger_example import example_ledger, release, survey
from tightlip.cli.main import main

pytestmark = IGNORED

HEADLINE = "The one release of the data frame makes no ill more than twice as likely (budget 3x): the budget is kept."


@pytest.fixture(autouse=True)
def nobody_says_how_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # as workers of a parallel run do


@pytest.fixture
def kept(tmp_path):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "age")
    return ledger, table


def run(capsys, *words):
    status = main(["ledger", "show", *map(str, words)])
    told = capsys.readouterr()
    return status, told.out, told.err


def words(text):
    """Text without the ends of its lines, which the terminal's width decides."""
    return " ".join(text.split())


def test_it_says_the_answer_first(kept, capsys):
    ledger, _ = kept
    status, out, err = run(capsys, ledger.path)
    assert (status, err) == (0, "")
    assert words(out).startswith(HEADLINE)
    assert f"Head: entry 3, {ledger.entries()[-1].digest}" in words(out)
    assert words(run(capsys, ledger.path, "--quiet")[1]) == HEADLINE


def test_json_is_the_record_in_the_unit_asked_for(kept, capsys):
    status, out, _ = run(capsys, kept[0].path, "--json", "--unit", "bits")
    found = json.loads(out)
    assert (status, found["kept"], found["unit"]) == (0, True, "bits")
    assert found["secrets"][0]["spent"] == {"value": 1.0, "unit": "bits", "words": "2x (1 bit)"}
    assert found["command"].startswith("tightlip ledger show ")
    wanted = kept[0].to_dict(unit="bits")
    assert {**found, "made": None, "command": None} == {**wanted, "made": None, "command": None}


def test_the_page_is_written_for_the_owner(kept, tmp_path, capsys):
    page = tmp_path / "ledger.html"
    status, out, _ = run(capsys, kept[0].path, "--html", page)
    assert status == 0
    assert f"Wrote html:{page}." in "".join(out.split("\n")).replace("html: ", "html:")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert HEADLINE in page.read_text(encoding="utf-8")
    status, out, err = run(capsys, kept[0].path, "--html", page)
    assert (status, out) == (2, "")
    assert "exists already" in err
    assert run(capsys, kept[0].path, "--html", page, "--force")[0] == 0


def test_a_budget_that_is_not_known_to_be_kept_has_status_1(kept, capsys):
    ledger, table = kept
    ledger.declare(**survey("10"), table=table)
    status, out, _ = run(capsys, ledger.path)
    assert status == 1
    assert "whether the budget is kept is not known." in words(out)


def test_a_release_that_was_not_measured_has_status_1(kept, capsys):
    ledger, _ = kept
    ledger.declare(**survey())
    status, out, _ = run(capsys, ledger.path, "--json")
    assert (status, json.loads(out)["state"]) == (1, "not known")


def test_nothing_released_has_status_0(tmp_path, capsys):
    ledger, _ = example_ledger(tmp_path)
    status, out, _ = run(capsys, ledger.path)
    assert status == 0
    assert out.startswith("Nothing of the data frame counts as released: the whole budget (3x) is left.")


def test_a_ledger_that_may_only_be_read_is_shown(kept, capsys):
    before = kept[0].path.read_bytes()
    kept[0].path.chmod(0o400)
    assert run(capsys, kept[0].path)[0] == 0
    assert kept[0].path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.ledger"], "cannot be opened"),
        (["people.csv"], "no ledger"),
        (["people.ledger", "--html", "page.txt"], "--html must end in .html"),
        (["people.ledger", "--html", "nowhere/page.html"], "there is no folder"),
        (["people.ledger", "--unit", "trits"], "'trits'"),
    ],
)
def test_bad_input_has_status_2(kept, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    status, out, err = run(capsys, *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_ledger_called_a_page_is_not_overwritten(kept, tmp_path, capsys):
    page = kept[0].path.rename(tmp_path / "ledger.html")
    before = page.read_bytes()
    status, _, err = run(capsys, page, "--html", page, "--force")
    assert status == 2
    assert "is the ledger" in err
    assert page.read_bytes() == before
