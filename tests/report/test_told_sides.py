"""Every printed δ, ε and share: told exactly, or rounded to the side that keeps its sentence true."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import tightlip as tl
from exact_oracle import at_least_log, at_most_log
from tightlip.cli.main import main
from tightlip.envelopes.bracketing import Bracket
from tightlip.envelopes.exact import describe
from tightlip.numeric.quantity import Nats, level_exact, level_words, log_of
from tightlip.report.amounts import about, both_sides, budget_words, delta_json
from tightlip.report.audit_words import headline, paragraphs, verdict
from tightlip.report.chart import GUARANTEED, REACHED, _words

TINY = Fraction(1, 10**30)
SOURCES = Path(tl.__file__).parent
CHANNEL = {"prior": ["1/10", "9/10"], "channel": [[1, 0], [0, 1]]}
EXACT = {
    "0.1000000001": "0.1000000001",
    "1/3": "1/3",
    "0.125000000000000000000000000001": "0.125000000000000000000000000001",
    "0.1": "0.1",
    "0.3": "0.3",
}


@pytest.fixture
def channel_file(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps(CHANNEL))
    return path


def run(capsys, monkeypatch, *arguments):
    monkeypatch.setenv("COLUMNS", "400")
    status = main([str(argument) for argument in arguments])
    return status, capsys.readouterr().out


@pytest.mark.parametrize(("given", "told"), EXACT.items())
def test_the_delta_of_a_table_and_of_an_attack_is_told_exactly(
    capsys, monkeypatch, channel_file, given, told
):
    for command in ("envelope", "measure"):
        out = run(capsys, monkeypatch, command, channel_file, "--delta", given)[1]
        assert re.search(rf"│\s+{re.escape(told)} │", out)
    assert f"At δ = {told}: " in run(capsys, monkeypatch, "envelope", channel_file, "--delta", given)[1]


@pytest.mark.parametrize("given", EXACT)
def test_json_has_delta_exactly_beside_a_number_that_is_not_below_it(
    capsys, monkeypatch, channel_file, given
):
    for command, key in (("envelope", "points"), ("measure", "quantiles")):
        record = json.loads(run(capsys, monkeypatch, command, channel_file, "--delta", given, "--json")[1])
        point = record[key][0]
        assert Fraction(point["delta_exact"]) == Fraction(given)
        assert Fraction(repr(point["delta"])) >= Fraction(given)
    assert delta_json(Fraction(3, 10))["delta"] == 0.3


def test_an_outcome_that_is_possible_has_no_probability_of_0(capsys, monkeypatch, tmp_path):
    path = tmp_path / "rare.json"
    path.write_text(
        json.dumps({"prior": ["1/2", "1/2"], "channel": [["1e-400", "1"], ["0", "1"]]}).replace('"1"', '"1"')
    )
    rest = "0." + 400 * "9"
    path.write_text(json.dumps({"prior": ["1/2", "1/2"], "channel": [["1e-400", rest], ["0", "1"]]}))
    assert "5e-401" in run(capsys, monkeypatch, "measure", path)[1]
    found = json.loads(run(capsys, monkeypatch, "measure", path, "--json")[1])["outcomes"][0]
    assert Fraction(1, 2) * Fraction(1, 10**400) == Fraction(found["probability_exact"])


def test_a_mass_too_small_for_a_float_is_not_called_0():
    tiny = Fraction(1, 10**400)
    prior = tl.Prior([tiny, 1 - tiny])
    for call in (
        lambda: tl.mechanism.pml_extremal(prior, 1.0),
        lambda: tl.convert.pml_to_pmc(0.5, tiny),
        lambda: tl.convert.pml_to_ldp(0.5, tiny),
    ):
        with pytest.raises(tl.errors.PreconditionFailed) as caught:
            call()
        assert "= 1e-400 nats" in str(caught.value)
        assert "p_min = 1e-400" in str(caught.value)


def test_ends_that_do_not_meet_are_apart_by_nats():
    """e^gap − 1 was called how close they are."""
    assert describe(Bracket(1.0, 2.2e4, None, None), 1e-9, by_sorting=False) == (
        "the worst outcomes decide; the ends could not be brought closer than 10 nats"
    )


@pytest.mark.parametrize(
    ("level", "words", "exact"),
    [
        (Fraction(1, 10), "0.1", "1/10"),
        (Fraction(1, 10) + TINY, "0.100000000000000000000000000001", f"{10**29 + 1}/{10**30}"),
        (log_of("10/9"), "log(10/9)", "log(10/9)"),
        (log_of(1), "0", "log(1)"),
        (0.1, "0.1", "3602879701896397/36028797018963968"),
        (0.3, "0.299999", "5404319552844595/18014398509481984"),
        (Nats(float("inf")), "inf", "inf"),
    ],
)
def test_a_premise_is_told_exactly_or_rounded_down(level, words, exact):
    assert (level_words(level), level_exact(level)) == (words, exact)


def test_levels_that_are_given_are_told_as_given(capsys, monkeypatch, tmp_path):
    out = run(capsys, monkeypatch, "convert", "ldp", "log(3)", "--min-mass", "1/5")[1]
    assert "What LDP log(3) nats implies" in out
    pair = run(capsys, monkeypatch, "convert", "alip", "0.5,0.1000000001", "--min-mass", "1/5")[1]
    assert re.search(r"│ PML +│ +0\.1000000001 │", pair)
    given = json.loads(
        run(capsys, monkeypatch, "convert", "ldp", "0.1", "--to", "pml", "--min-mass", "0.2", "--json")[1]
    )
    assert given["given"]["epsilon_exact"] == ["1/10"]
    out = run(capsys, monkeypatch, "contraction", "--n", 3, "--epsilon", "0.1000000001", "--min-mass", "0.1")[
        1
    ]
    assert "What ε = 0.1000000001 nats" in out
    assert tl.planning.privacy.LocalPrivacy("0.1000000001").words == "LDP ε = 0.1000000001"


@pytest.mark.parametrize(
    "exact", [Fraction(1, 8) + TINY, Fraction(1, 8) - TINY, Fraction(1, 10), Fraction(0.1)]
)
def test_what_a_chart_says_of_a_point_is_on_the_side_of_its_curve(exact):
    row = {"δ": delta_json(exact)["delta"], "δ_exact": str(exact), "ε": 1 / 3}
    upper, lower = (_words(row, "δ", "ε", bound) for bound in (GUARANTEED, REACHED))
    assert Fraction(lower["δ_words"]) <= exact <= Fraction(upper["δ_words"])
    assert Fraction(lower["ε_words"]) < Fraction(1 / 3) < Fraction(upper["ε_words"])


def rare(delta):
    """e^ε(δ) of a column that is released as it is and that one in a hundred has."""
    return min(max(1 / delta, Fraction(100, 99)), Fraction(100))


_ENVELOPE = re.compile(
    r"a leakage above (\S+)x \((\S+) nats\) stays less likely than (\S+) % "
    r"\(envelope; at least (\S+)x \((\S+) nats\) can be reached(?: with probability (\S+) %)?\)"
)


@pytest.mark.parametrize(
    "delta",
    [
        0.01004,
        "0.01004",
        0.01,
        "1/100",
        Fraction(1, 100) + TINY,
        Fraction(1, 100) - TINY,
        "1/3",
        0.3,
        "0.0100401",
    ],
    ids=str,
)
def test_what_an_audit_says_of_its_envelope_is_true(delta):
    frame = {"ill": ["yes"] + ["no"] * 99, "card": ["red"] + ["blue"] * 99}
    pandas = pytest.importorskip("pandas")
    found = tl.audit(pandas.DataFrame(frame), secret="ill", release=["card"], delta=delta)
    said = "\n".join(paragraphs(found))
    most_likely, upper, above, reached, lower, below = _ENVELOPE.search(said).groups()
    most, least = Fraction(above) / 100, Fraction(below or above) / 100
    assert least <= found.delta <= most
    assert at_least_log(float(upper), rare(most))
    assert at_most_log(float(lower), rare(least))
    assert Fraction(reached) <= rare(least)
    assert rare(most) <= Fraction(most_likely)
    if isinstance(delta, float):
        assert found.delta == Fraction(repr(delta))


def test_a_budget_that_is_not_kept_is_rounded_down():
    assert budget_words(log_of(3), "nats") == "1.09862 nats"
    assert budget_words(log_of(3), "nats", kept=False) == "1.09861 nats"
    assert budget_words(Nats(0.1), "nats", kept=False) == "0.1 nats"


@pytest.mark.parametrize(
    ("budget", "start"),
    [
        ("3x", "over the budget of 3x for 1 % of people"),
        (log_of("2001/1000"), "over the budget of log(2001/1000) for 1 % of people"),
        (log_of(101), "within the budget of log(101); the worst released value leaks 100x (4.61 nats)"),
        (1 / 3, "over the budget of 0.333333 nats for"),
        (4.6666666666666667, "within the budget of 4.66667 nats; the worst"),
    ],
)
def test_a_verdict_is_true_of_the_budget_that_is_told(budget, start):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"ill": ["yes"] + ["no"] * 99, "card": ["red"] + ["blue"] * 99})
    found = tl.audit(frame, secret="ill", release=["card"], budget=budget)
    assert verdict(found).startswith(f"ill: {start}")


@pytest.mark.parametrize(
    ("budget", "told", "people"),
    [
        ("2.001x", "more than 2.001 times as likely", 44),  # not "more than 2.01", which ten are
        ("10/3x", "more than 10/3 times as likely", 10),
        ("0.1 nats", "more than about 1.11 times as likely", 44),
        ("0.6935 nats", "more than about 2.01 times as likely", 44),
    ],
)
def test_the_people_of_the_headline_are_those_above_the_factor_that_it_tells(budget, told, people):
    """The 34 people of the golden card have a factor of 2.00803, which a rounded budget would not be exceeded by."""
    pandas = pytest.importorskip("pandas")
    rows = [("red", "yes")] * 10 + [("gold", "yes")] * 17 + [("gold", "no")] * 17
    rows += [("blue", "yes")] * 222 + [("blue", "no")] * 734
    frame = pandas.DataFrame(rows, columns=["card", "ill"])
    found = tl.audit(frame, secret="ill", release=["card"], budget=budget)
    assert f"for {people} of 1,000 people" in headline(found)
    assert told in headline(found)


@pytest.mark.parametrize(
    ("budget", "told"), [("4.4444x", "4.4444"), ("1.5 nats", "4.49"), ("13/3x", "13/3"), ("1.4 nats", "4.06")]
)
def test_what_nobody_exceeds_is_told_exactly_or_rounded_up(budget, told):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"ill": ["yes"] * 25 + ["no"] * 75, "card": ["red"] * 25 + ["blue"] * 75})
    found = tl.audit(frame, secret="ill", release=["card"], budget=budget)
    assert headline(found) == (
        f"Can be published as planned: nobody's ill becomes more than {told} times as likely."
    )
    exact = found.budget.ratio
    assert at_most_log(float(found.budget), Fraction(told)) if exact is None else exact == Fraction(told)


def test_shares():
    assert both_sides(Fraction("0.01004")) == ("1.004 %", "1.004 %")
    assert both_sides(Fraction(1, 3)) == ("33.3333 %", "33.3334 %")
    assert about(1 - TINY) == about(Fraction(99_999, 100_000)) == "over 99.9 %"
    assert about(Fraction(1)) == "100 %"


def test_a_repr_tells_a_float_from_a_decimal():
    prior, channel = tl.Prior(CHANNEL["prior"]), tl.Channel(CHANNEL["channel"])
    assert repr(tl.envelope(channel, prior, 0.1)).startswith("Envelope(delta=0.1, ")
    assert repr(tl.envelope(channel, prior, "0.1")).startswith("Envelope(delta=1/10, ")
    assert "(epsilon=log(2) nats" in repr(
        tl.failure_probability(channel, prior, log_of(2))
    ) or "epsilon=0.69" in repr(tl.failure_probability(channel, prior, log_of(2)))


def test_no_probability_or_level_is_formatted_to_nearest_outside_errors():
    """display.py is where a number gets its side; what is left is the value at fault in an error."""
    left = {
        "contraction/bounds.py": 1,
        "noise/monotone.py": 1,
        "noise/unbounded.py": 1,
        "mechanism/named.py": 1,
        "papers/examples.py": 1,
    }
    nearest = re.compile(r"\{[^{}]*(?:delta|epsilon|level|confidence|budget)[^{}]*:[^{}]*[gf%]\}")
    found = {
        str(path.relative_to(SOURCES)): count
        for path in SOURCES.rglob("*.py")
        if (
            count := sum(
                bool(nearest.search(line)) for line in path.read_text().splitlines() if ">>>" not in line
            )
        )
    }
    assert found == left


def test_the_headline_names_the_worst_secrets_first_and_says_how_many_more_there_are():
    """Everybody has a card of their own, so all who hold a secret of so few are above the budget."""
    pandas = pytest.importorskip("pandas")
    held = {f"s{many}": ["yes"] * many + ["no"] * (100 - many) for many in (4, 12, 18, 14, 16, 20)}
    frame = pandas.DataFrame({"card": [f"card {place}" for place in range(100)], **held})
    found = tl.audit(frame, [*held], ["card"], budget="3x", skip=["remedies", "protect"])
    said = re.findall(r"some (s\d+) more", headline(found))
    assert said == ["s20", "s18", "s16", "s14"]
    assert headline(found).endswith("; and 2 more secrets.")
    fewer = tl.audit(frame, [*held][:5], ["card"], budget="3x", skip=["remedies", "protect"])
    assert headline(fewer).endswith("; and 1 more secret.")
