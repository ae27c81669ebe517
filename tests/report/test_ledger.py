"""The report of a ledger against a table whose numbers are known by hand; names that attack it; what it leaves out."""

import json
import stat
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from io import StringIO

import pytest
from rich.console import Console

from audit_example import HOSTILE
from contract.warnings_of_engines import IGNORED
from ledger_example import example_ledger, lose, release, survey
from report.test_audit_page import Page
from tightlip.errors import InvalidInput
from tightlip.ledger import Declared, Ledger
from tightlip.ledger.store import Store
from tightlip.numeric.quantity import Nats, Probability, log_of
from tightlip.report.card import card_of, record_of
from tightlip.report.ledger import ledger_html, ledger_record, ledger_text
from tightlip.report.ledger_record import left_of, state_of
from tightlip.report.together import together_lines, together_record
from tightlip.table.policy import Policy

pytestmark = IGNORED

# by hand: sex says nothing; age makes "yes" 2 times, or 1/1.5 times, as likely; LDP 3, maximal leakage 4/3; with an LDP
# of 6/5 beside it the LDP is 3.6, which for a least mass of 1/4 is a PML of 1/(1/4 + 3/4/3.6) = 24/11


@pytest.fixture
def made(tmp_path):
    """A ledger of three releases, and its table."""
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "sex")
    release(ledger, table, tmp_path, "age")
    ledger.declare(**survey(), table=table)
    return ledger, table


def text_of(report):
    console = Console(file=StringIO(), width=400, color_system=None)
    console.print(ledger_text(report))
    return console.file.getvalue()


def figures(report, secret=0):
    return {figure.name: figure.value for figure in report.secrets[secret].figures}


def test_the_answer_and_every_number(made):
    report = ledger_record(made[0], made="2026-01-02T03:04:05Z")
    assert report.headline == (
        "All 3 releases of the data frame together make no ill more than 2.19 times as likely (budget 3x): the budget "
        "is kept."
    )
    assert (report.state, report.kept, report.rows, report.todo) == ("kept", True, 80, ())
    assert figures(report) == {
        "spent": "between 2x (0.693 nats) and 2.19x (0.781 nats)",
        "budget": "3x",
        "left": "at least 1.37x (0.318 nats)",  # 3/(24/11) = 1.375
        "envelope at δ = 1 %": "at most 2.19x (0.781 nats)",
        "PMC": "at most 1.75x (0.56 nats)",  # 1/4 + 6/5 · (3/2 − 1/4)
        "LDP": "at most 3.6x (1.29 nats)",
        "maximal leakage": "at most 1.6x (0.471 nats)",  # 4/3 · 6/5
        "people over the budget": "not known",
    }
    assert report.secrets[0].words[1] == "It holds for everything that could have been published."
    assert "the LDP of all others" in report.secrets[0].words[0]
    assert report.reader_words.startswith(
        "Everybody is protected, as the budget says, against somebody who has all"
    )


def test_what_each_release_added(made):
    ledger, _ = made
    report = ledger_record(ledger)
    assert [one.added[0].words for one in report.releases] == [
        "1x (0 nats) → 1x (0 nats)",
        "1x (0 nats) → 2x (0.694 nats)",
        "2x (0.694 nats) → 2.19x (0.781 nats)",
    ]
    assert [one.what for one in report.releases] == [
        ("sex as it is",),
        ("age as it is",),
        ("LDP at most 1.2x (0.183 nats)", "drawn from each person's record with randomness of its own"),
    ]
    entries = ledger.entries()
    assert report.head.digest == entries[-1].digest
    assert report.releases[0].confirmed.digest == entries[2].digest
    assert report.releases[0].receipt == entries[2].body["receipt"]
    assert report.releases[2].receipt is None
    told = text_of(report)
    for entry in entries[1:]:
        assert entry.digest in told
    assert "output sex0.csv, SHA-256 " + entries[2].body["sha256"] in told


def test_nothing_released(tmp_path):
    ledger, _ = example_ledger(tmp_path)
    report = ledger_record(ledger)
    assert report.headline == "Nothing of the data frame counts as released: the whole budget (3x) is left."
    assert (report.state, report.kept) == ("nothing released", True)
    assert figures(report)["left"] == "all of it"
    assert "There are none yet." in ledger_html(report)
    with pytest.raises(InvalidInput, match="no releases to draw"):
        ledger.chart()


def test_a_release_that_was_never_confirmed_counts_until_it_is_settled(tmp_path, monkeypatch):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "sex")
    lose(ledger, table, tmp_path, "age", monkeypatch)
    report = ledger_record(ledger)
    assert report.headline.startswith(
        "Both releases of the data frame together make no ill more than twice as likely"
    )
    assert report.todo == (
        "Release 2 (age) was reserved and never confirmed: it counts as released until it is settled.",
    )
    assert "was never confirmed: settle it" in report.releases[1].state_words
    assert report.releases[1].confirmed is None
    ledger.settle("age", released=False, reason="the disk was full")
    report = ledger_record(ledger)  # the account without it is there: that of the release before
    assert report.headline == (
        "The one release of the data frame makes no ill likelier (budget 3x): the budget is kept."
    )
    assert report.releases[1].state_words == "withdrawn, as was settled; it does not count: the disk was full"
    assert (report.todo, figures(report)["left"]) == ((), "at least 3x (1.09 nats)")


def test_an_account_with_a_withdrawn_release_in_it_is_a_bound_from_above_only(tmp_path, monkeypatch):
    ledger, table = example_ledger(tmp_path)
    lose(ledger, table, tmp_path, "age", monkeypatch)
    release(ledger, table, tmp_path, "sex")
    assert figures(ledger_record(ledger))["spent"] == "2x (0.694 nats)"
    ledger.settle("age", released=False, reason="no file was found")
    report = ledger_record(ledger)
    assert report.state == "kept"
    assert figures(report)["spent"] == "at most 2x (0.694 nats)"
    assert figures(report)["people over the budget"] == "not known"
    assert report.secrets[0].at_least is None
    assert report.todo == (
        "The account was made when release 1, withdrawn since, still counted: what is out says no more than it, and "
        "how much less was not measured since it was withdrawn.",
    )
    # what was withdrawn was not out when the next one was judged
    release(ledger, table, tmp_path, "sex", key="again")
    report = ledger_record(ledger)
    assert (figures(report)["spent"], report.todo) == ("1x (0 nats)", ())
    assert report.releases[2].added[0].words == "not measured → 1x (0 nats)"


def test_a_release_without_the_table_leaves_the_account_unknown(tmp_path):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "age")
    ledger.declare(**survey())
    report = ledger_record(ledger)
    assert report.headline == (
        "What both releases of the data frame give away together is not known (budget 3x): survey was not measured."
    )
    assert (report.state, report.kept) == ("not known", False)
    assert report.todo == (
        "No account was made with survey, since the table was not at hand: tightlip audit of the next plan with "
        "--ledger measures all releases anew.",
    )
    assert report.releases[1].added[0].words == "2x (0.694 nats) → not measured"
    assert report.reader_words.startswith("It is not known whether everybody is protected")
    release(ledger, table, tmp_path, "sex")  # is measured with all before it
    report = ledger_record(ledger)
    assert (report.state, report.todo) == ("kept", ())
    assert report.releases[2].added[0].words == "not measured → 2.19x (0.781 nats)"


def test_a_bound_above_the_budget_decides_nothing(tmp_path):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "age")
    ledger.declare(**survey("10"), table=table)  # 1/(1/4 + 3/4/30) = 3.64
    report = ledger_record(ledger)
    assert report.headline == (
        "Both releases of the data frame together make no ill more than 3.64 times as likely (budget 3x): whether the "
        "budget is kept is not known."
    )
    assert (report.kept, figures(report)["left"], report.secrets[0].left) == (False, "not known", None)


def test_releases_that_no_rule_covers_are_named(tmp_path):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "age")
    ledger.declare("poll", {"pml": log_of("3/2")}, acts_on="unknown", table=table)
    found = ledger_record(ledger).secrets[0]
    assert found.spent.words == "4x (1.39 nats)"  # 1/p_min
    assert found.words == (
        "Decided by: nobody can learn more than everything (no rule covers them together).",
        "It holds for everything that could have been published.",
        "No rule covers poll and the table together: for all that is known, everything may be told.",
    )
    assert figures(ledger_record(ledger))["LDP"] == "no bound"


def test_a_release_chosen_after_others_holds_for_what_was_published(tmp_path):
    ledger, table = example_ledger(tmp_path)
    release(ledger, table, tmp_path, "sex")
    ledger.release(table, Policy("ill", ["age"]), tmp_path / "age.csv", key="age", adaptive="yes")
    report = ledger_record(ledger)
    assert report.releases[1].adaptive == "chosen after earlier releases had been read"
    assert report.secrets[0].holds == "for what was published"
    assert report.secrets[0].words[1].startswith("It holds for what was published, and not for everything")


def forge(ledger, name, clock=None, **changes):
    """Append a release whose account is that of the last one, with changes."""
    last = ledger.releases()[-1].standings[0]
    store = Store.open(ledger.path, **({} if clock is None else {"clock": clock}))
    body = {"guarantees": {"ldp": "log(6/5)"}, "acts_on": "record", "adaptive": "no", "min_mass": None}
    body |= {"statistic": None, "account": [replace(last, **changes).to_body()]}
    store.append("declare", name, body, after=store.head.digest)


def test_a_budget_is_exceeded_where_that_is_proved(made):
    ledger, _ = made
    lower = Nats.of_ratio(Fraction("3.46"), "down")
    forge(ledger, "worse", lower=lower, upper=Nats(float("inf")), kept=False)
    report = ledger_record(ledger)
    assert report.headline == (
        "All 4 releases of the data frame together make some ill at least 3.46 times as likely (budget 3x): the budget "
        "is exceeded."
    )
    assert (report.kept, figures(report)["left"]) == (False, "nothing")
    assert figures(report)["spent"] == "at least 3.46x (1.24 nats)"
    assert report.releases[-1].added[0].after.value == "inf"
    assert report.reader_words.startswith("Not everybody is protected")
    marks = ledger.chart().to_dict()["layer"]
    assert any(row.get("sign") == "∞" for layer in marks for row in layer["data"].get("values", []))


def test_few_people_over_the_budget_are_told_as_a_bound(made):
    ledger, _ = made
    forge(ledger, "few", over=Probability.of(Fraction(3, 80)), kept=False)
    report = ledger_record(ledger)
    assert report.state == "exceeded"
    assert figures(report)["people over the budget"] == "under 12.5 %"
    assert "3/80" not in json.dumps(report.to_dict())


def test_a_clock_that_went_back_is_told(made):
    ledger, _ = made
    forge(ledger, "early", clock=lambda: datetime(2001, 2, 3, tzinfo=UTC))
    report = ledger_record(ledger)
    assert [one.clock_back is not None for one in report.releases] == [False, False, False, True]
    assert "the clock went back" in text_of(report)
    assert "2001-02-03 00:00:00Z" in ledger_html(report)


@pytest.mark.parametrize(
    ("level", "lower", "over", "kept", "state"),
    [
        ("3", "2", None, True, "kept"),
        ("3", "3", None, False, "not known"),
        ("3", "3000000000000000000000001/1000000000000000000000000", None, False, "exceeded"),
        ("3", "1", Fraction(1, 10), False, "exceeded"),
        (None, "2", None, False, "not known"),
    ],
)
def test_states(made, level, lower, over, kept, state):
    found = replace(
        made[0].releases()[-1].standings[0],
        level=None if level is None else Nats.of_ratio(Fraction(level), "down"),
        lower=Nats.of_ratio(Fraction(lower), "down"),
        over=None if over is None else Probability.of(over),
        kept=kept,
    )
    assert state_of(found, "3x", empty=False) == state
    assert state_of(found, None, empty=False) == "no budget"


def test_what_is_left_is_rounded_down():
    three = Nats.of_ratio(Fraction(3), "down")
    assert left_of(three, Nats.of_ratio(Fraction(3))).ratio == 1
    assert left_of(three, Nats.of_ratio(Fraction(3) + Fraction(1, 10**30))) is None
    assert left_of(three, Nats(float("inf"))) is None
    assert left_of(None, three) is None
    rough = left_of(three, Nats(0.5))
    assert rough.rounding == "down"
    assert Fraction(float(rough)) <= Fraction(float(three)) - Fraction(1, 2)


def test_a_cap_has_no_level_to_be_left(tmp_path):
    ledger, table = example_ledger(tmp_path, budget=["3x", {"ill": {"yes": "60%"}}])
    release(ledger, table, tmp_path, "age")
    report = ledger_record(ledger)
    assert figures(report)["left"] == "not one level"
    assert figures(report)["budget"] == "3x and 60% for some values"
    assert "yes" not in json.dumps(report.to_dict())


def test_secrets_without_a_budget_do_not_decide(tmp_path):
    _, table = example_ledger(tmp_path)
    ledger = Ledger.create(tmp_path / "two.ledger", table, ["ill", "sex"], {"ill": "3x"})
    release(ledger, table, tmp_path, "age")
    report = ledger_record(ledger)
    assert [(one.name, one.state) for one in report.secrets] == [("ill", "kept"), ("sex", "no budget")]
    assert (report.deciding, report.kept) == ("ill", True)
    assert len(ledger_html(report).split('class="chart"')) == 3
    assert "│ sex" in text_of(report)
    assert ledger.chart("sex").to_dict()["title"] == "How much do all releases say about sex?"
    with pytest.raises(InvalidInput, match="secret must be one of"):
        ledger.chart("age")


def test_no_counts_and_no_digest_of_counts_are_told(made):
    ledger, _ = made
    page, told = ledger_html(ledger_record(ledger)), text_of(ledger_record(ledger))
    for entry in ledger.entries():
        for name in ("counts", "secrets", "policy"):
            if name in entry.body:
                assert entry.body[name] not in page + told
    assert '"ratio"' not in json.dumps(ledger.to_dict())


def test_units_reach_every_amount(made):
    told = json.dumps(ledger_record(made[0], unit="bits").to_dict()) + text_of(
        ledger_record(made[0], unit="bits")
    )
    assert "nats" not in told
    assert "1.125 bits" not in told
    assert "2x (1 bit)" in told


def test_names_do_no_harm(tmp_path, monkeypatch):
    text = HOSTILE.replace("\x1b", "").replace("\u202e", "")  # keys have neither
    ledger, table = example_ledger(tmp_path, HOSTILE)
    plan = Policy(f"ill{HOSTILE}", [f"age{HOSTILE}"])
    ledger.release(table, plan, tmp_path / "a.csv", key=f"key{text}")
    ledger.declare(**survey(name=f"survey{text}"), table=table)

    def stop(self, receipt):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("tightlip.ledger.ledger.Charge.confirm", stop)
        with pytest.raises(KeyboardInterrupt):
            ledger.release(table, Policy(f"ill{HOSTILE}", [f"sex{HOSTILE}"]), tmp_path / "b.csv", key="lost")
    ledger.settle("lost", released=False, reason=f"reason{HOSTILE}")
    report = ledger_record(ledger)
    page, told = ledger_html(report), text_of(report)
    found = Page(page)
    assert not {tag for tag, _ in found.elements} & {"img", "iframe", "b", "object"}
    assert len(found.scripts) == 4
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert "{{7*7}}" in found.text
    assert not any(mark in page for mark in ("\x1b", "\u202e"))
    for mark in ("\x1b", "\u202e"):
        assert mark not in told + ledger.words() + ledger._repr_html_()
    assert "<img" not in ledger._repr_html_()
    together = ledger.account(table)
    for one in (together, together.deciding, *ledger.releases(), ledger.releases()[0].standings[0]):
        assert "<img" not in card_of(one).html()
    assert not any(mark in line for line in together_lines(together, "nats") for mark in ("\x1b", "\u202e"))


def test_the_page_loads_nothing_and_says_the_same(made):
    report = ledger_record(made[0], command="tightlip ledger show people.ledger")
    page = ledger_html(report)
    assert "default-src 'none'" in page
    assert report.head.digest in page
    island = page.split('id="record">')[1].split("</script>")[0]
    assert json.loads(island) == report.to_dict()
    charts = json.loads(page.split('id="charts">')[1].split("</script>")[0])
    assert list(charts) == ["together-1"]


def test_the_picture_is_a_step_against_the_budget(made):
    layers = made[0].chart().to_dict()["layer"]
    steps = [layer for layer in layers if layer["mark"]["type"] == "line"]
    assert {layer["mark"]["interpolate"] for layer in steps} == {"step-after"}
    drawn = [[row["release"] for row in layer["data"]["values"]] for layer in steps]
    assert drawn == [[0, 1, 2, 3, 3.5]] * 2
    upper = [row["upper"] for row in steps[0]["data"]["values"]]
    assert upper == pytest.approx([0, 0, 0.6931472, 0.7801586, 0.7801586])
    [rule] = [layer for layer in layers if layer["mark"]["type"] == "rule"]
    assert rule["data"]["values"][0]["upper"] == pytest.approx(1.0986123)


def test_a_ledger_shows_itself(made, tmp_path):
    ledger, _ = made
    assert ledger.words().splitlines()[0] == ledger_record(ledger).headline
    assert json.loads(json.dumps(ledger.to_dict(unit="bits"), allow_nan=False))["unit"] == "bits"
    page = tmp_path / "page.html"
    ledger.to_html(page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    with pytest.raises(InvalidInput, match="exists"):
        ledger.to_html(page)
    with pytest.raises(InvalidInput, match="html"):
        ledger.to_html(tmp_path / "page.txt")
    with pytest.raises(InvalidInput, match="unit must be one of"):
        ledger.to_dict(unit="trits")
    assert ledger._repr_html_().count("<tr>") == 4


def test_an_account_measured_now_in_sentences(made, tmp_path):
    ledger, table = made
    assert together_lines(ledger.account(table), "nats", terms=ledger.terms) == [
        "All 3 releases (release 1, release 2 and survey) together make no ill more than 2.19 times as likely (budget "
        "3x): the budget is kept.",
        "ill: spent between 2x (0.693 nats) and 2.19x (0.781 nats), left at least 1.37x (0.318 nats); envelope at most "
        "2.19x (0.781 nats).",
        "ill: Decided by: the level of one and the LDP of all others are put together, of survey and the table.",
        "ill: It holds for everything that could have been published.",
    ]
    found = together_record(ledger.account(table), "bits")
    assert json.loads(json.dumps(found, allow_nan=False))["secrets"][0]["upper"]["value"] == pytest.approx(
        1.1255309
    )
    assert (found["kept"], found["exact"], found["releases"]) == (True, False, ["1", "2", "survey"])


def test_few_people_are_told_as_a_range_unless_values_may_be_shown(tmp_path):
    """Three people share a room and two of them are ill: 2/3 in place of 1/4."""
    _, table = example_ledger(tmp_path)
    rooms = ["a" if place in (3, 4, 5) else "b" for place in range(table.num_rows)]
    table = table.append_column("room", [rooms])
    ledger = Ledger.create(tmp_path / "rooms.ledger", table, "ill", "3.5x")
    [found] = ledger.what_if(table, Policy("ill", ["room"]))
    exact = together_record(found, "nats", show_values=True)["secrets"][0]
    told = together_record(found, "nats")["secrets"][0]
    assert exact["upper"]["ratio"] == "8/3"
    assert (
        told["lower"]["value"] < exact["lower"]["value"] <= exact["upper"]["value"] < told["upper"]["value"]
    )
    assert "ratio" not in told["upper"]
    assert (told["state"], exact["state"]) == ("kept", "kept")
    assert together_lines(found, "nats") != together_lines(found, "nats", show_values=True)


def test_every_result_has_a_card_and_a_record(made):
    ledger, table = made
    together = ledger.account(table)
    account = together.deciding.rules
    results = [together, together.deciding, account, account.pml, account.envelope, *ledger.releases()]
    results += [*ledger.releases()[0].standings, Declared(**survey())]
    for one in results:
        assert card_of(one).html().startswith("<div><strong>")
        for unit in ("nats", "bits"):
            assert json.loads(json.dumps(record_of(one, unit), allow_nan=False))
