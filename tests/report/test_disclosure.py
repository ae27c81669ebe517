"""Without leave, nothing tells how many people a cell of fewer than ten has; and what is told stays true."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import groupby

import numpy as np
import pandas as pd
import pytest

from audit_example import example_audit, example_record
from tightlip.auditing.run import audit
from tightlip.auditing.sample import SampleMode
from tightlip.report.audit_record import audit_report
from tightlip.report.audit_words import ViewWords, headline, paragraphs
from tightlip.report.disclosure import Names, Veil, share_range, veil_audit


def test_every_range_is_one_of_many_sizes():
    shares = sorted((Fraction(held, size), size) for size in range(1, 10) for held in range(size + 1))
    for ends, members in groupby(shares, key=lambda pair: share_range(pair[0])):
        told = list(members)
        low, high = ends
        assert all(low <= share < high or low == share == high for share, _ in told)
        assert len({size for _, size in told}) >= 5


@pytest.mark.parametrize("share", ["1/10", "1/100", "1/1000000", "8/9", "1/9", "1/18"])
def test_ranges_hold_their_share(share):
    low, high = share_range(Fraction(share))
    assert low <= Fraction(share) < high <= 2 * max(low, Fraction(1, 4))


def table(small, rest=300, seed=2):
    """A table whose worst cell has the given counts of secrets 0 and 1; the secret 1 is rare elsewhere."""
    generator = np.random.default_rng(seed)
    secret = generator.choice(2, rest, p=[0.98, 0.02])
    place = generator.choice(["a", "b", "c"], rest)
    people = [*zip(secret, place, strict=True), *[(0, "z")] * small[0], *[(1, "z")] * small[1]]
    return pd.DataFrame(people, columns=["s", "p"])


def record_of(found, **options):
    usual = {"table": "t", "command": "c", "unit": "nats", "show_values": False}
    made = {"version": "0", "made": "2026-01-02T03:04:05Z"}
    return audit_report(found.with_curves(), **usual | options | made).to_dict()


def numbers(value):
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("small", [(2, 1), (1, 2), (4, 3), (5, 2), (1, 8), (7, 2)])
@pytest.mark.parametrize("budget", [None, 0.1, 5.0])
def test_no_number_is_that_of_a_small_cell(small, budget):
    found = audit(table(small), "s", ["p"], budget=budget)
    record, worst, total = record_of(found), found.deciding.worst, found.total
    assert Names(found, found.deciding).cell(worst.cell).startswith("cell ")
    shown = numbers({key: value for key, value in record.items() if key != "remedies"})
    told = [
        worst.posterior.fraction,
        worst.leakage.ratio,
        Fraction(sum(small), total),
        Fraction(small[1], total),
    ]
    secrets = [float(share) for share in found.deciding.shares]
    for ratio in told:
        for number in (float(ratio), math.log(ratio), math.log2(ratio)):
            near = [
                one
                for one in shown
                if math.isclose(one, number, rel_tol=1e-9) and one not in (0.5, 0.25, 0.75)
            ]
            assert not set(near) - set(secrets), (ratio, near)
    for text in (json.dumps(record["views"]), headline(found), " ".join(paragraphs(found))):
        assert f"{float(worst.leakage):.4f}" not in text


@pytest.mark.parametrize("small", [(2, 1), (4, 3), (1, 8)])
def test_what_is_told_is_true(small):
    found = audit(table(small), "s", ["p"])
    view, told = found.deciding, veil_audit(found).deciding
    for exact, ranged in zip([view.worst, *view.worst_cells], [told.worst, *told.worst_cells], strict=True):
        assert ranged.leakage >= exact.leakage
        assert (ranged.least or exact.posterior) <= exact.posterior <= ranged.posterior
    assert told.at_least <= view.at_least
    assert told.pmc.leakage >= view.pmc.leakage
    assert all(one.above >= other.above for one, other in zip(told.tail, view.tail, strict=True))
    assert all(one.at_least <= other.at_least for one, other in zip(told.tail, view.tail, strict=True))
    assert told.envelope.lower <= view.envelope.lower <= view.envelope.upper <= told.envelope.upper
    assert all(
        one.without >= other.without and one.alone >= other.alone
        for one, other in zip(told.columns, view.columns, strict=True)
    )


def test_within_a_budget_nothing_is_told_to_be_above_it():
    exact = audit(table((4, 3)), "s", ["p"]).deciding.worst.leakage
    budget = round(float(exact) + 0.02, 2)
    found = audit(table((4, 3)), "s", ["p"], budget=budget)
    assert found.verdict
    assert veil_audit(found).deciding.worst.leakage == budget
    words = record_of(found)["verdict"]["words"]
    assert words.startswith(f"s: within the budget of {budget} nats; the worst released value leaks at most ")
    assert words.endswith(f"({budget} nats).")


def test_words_say_that_it_is_a_range():
    found = audit(table((4, 3)), "s", ["p"], budget=0.1)
    record = record_of(found)
    assert " to between 25 % and 50 %." in next(
        words for words in record["views"][0]["words"] if words.startswith("The worst leakage is at most ")
    )
    cell = record["views"][0]["worst_cells"][0]
    assert (cell["people"], cell["posterior"]["words"]) == ("under 10", "25 % to 50 %")
    assert (cell["posterior"]["at_least"], cell["posterior"]["value"]) == (0.25, 0.5)
    assert "; the worst leaks at most " in record["verdict"]["words"]
    assert "42.9 %" not in json.dumps(record)
    assert "42.9 %" in json.dumps(record_of(found, show_values=True))


def test_a_share_of_fewer_than_ten_people_is_a_bound():
    found = audit(table((4, 3), rest=633), "s", ["p"], budget=2.0)
    assert found.deciding.share_above_budget.fraction == Fraction(7, 640)
    record = record_of(found)
    assert "over the budget of 2.0 nats for at most 1.57 % of people" in record["verdict"]["words"]
    assert record["views"][0]["share_above_budget"]["value"] == 1 / 64
    told = {"of": 640, "words": "fewer than 10 of 640 people"}
    assert record["views"][0]["over"] == {"count": None, **told}
    assert record["summary"][0]["over"] == told["words"]
    assert all(told["words"] in text for text in (record["headline"], record["views"][0]["words"][0]))
    assert record_of(found, show_values=True)["views"][0]["over"]["count"] == 7


def classical_of(found, *, show_values):
    told = found if show_values else veil_audit(found)
    words = ViewWords(told, told.deciding, show_values).classical()
    return {name: value for name, value, _ in words}


def number_of(words):
    """The number in a bound, as a share where it is in per cent."""
    number = Fraction(words.removeprefix("at most ").removeprefix("at least ").split()[0])
    return number / 100 if words.endswith("%") else number


def even(small):
    """Three large cells in which all secrets are alike, and one with the given counts of each secret."""
    people = [(secret, place) for secret in range(len(small)) for place in "abc"] * 50
    people += [(secret, "z") for secret, count in enumerate(small) for _ in range(count)]
    return pd.DataFrame(people, columns=["s", "p"])


@pytest.mark.parametrize("small", [(2, 1), (4, 3), (5, 2), (1, 8), (2, 1, 1), (3, 2, 1, 1), (5, 1, 1, 1)])
@pytest.mark.parametrize("budget", [None, "1.1x", "500x"])
def test_what_officers_know_is_told_as_bounds_where_a_cell_is_small(small, budget):
    """α and t of the worst cell are fractions of its size, β and δ follow from them, and the entropy too."""
    found = audit(even(small), "s", ["p"], budget=budget)
    exact = found.deciding.risk.classical
    told, shown = (classical_of(found, show_values=show) for show in (False, True))
    bounds = {"t-closeness": exact.t_equal.fraction, "β-likeness": exact.basic_beta}
    bounds |= {"α of (α, k)": exact.alpha.fraction, "δ-disclosure": Fraction(float(exact.delta))}
    for name, amount in bounds.items():
        assert told[name].startswith("at most ")
        assert number_of(told[name]) >= amount
        assert told[name] != shown[name]
        assert number_of(shown[name]) == pytest.approx(float(amount), rel=0.01)
    alpha, t = (share_range(bounds[name])[1] for name in ("α of (α, k)", "t-closeness"))
    assert number_of(told["α of (α, k)"]) == alpha
    assert t <= number_of(told["t-closeness"]) < t * Fraction(101, 100)
    worst = veil_audit(found).deciding.worst.leakage
    assert number_of(told["β-likeness"]) >= worst.ratio - 1
    assert told["l-diversity, entropy"] == f"at least {math.floor(exact.entropy_l)}"
    same = {"k-anonymity", "l-diversity, distinct", "prosecutor risk", "marketer risk"}
    assert all(told[name] == shown[name] for name in same)


def test_what_officers_know_is_told_the_same_of_cells_that_tell_the_same():
    """Two of three, four of six, or five of nine have the most frequent secret."""
    names = ("α of (α, k)", "t-closeness", "l-diversity, entropy")
    found = [audit(even(small), "s", ["p"]) for small in ((2, 1), (4, 2), (5, 4))]
    told, shown = (
        [tuple(classical_of(one, show_values=show)[name] for name in names) for one in found]
        for show in (False, True)
    )
    assert told == [("at most 75 %", "at most 0.25", "at least 1")] * 2 + [told[2]]
    assert told[2][0] == "at most 75 %"
    assert len(set(shown)) == 3


def test_what_officers_know_stays_exact_of_large_cells():
    found = audit(table((9, 6)), "s", ["p"])
    assert classical_of(found, show_values=False) == classical_of(found, show_values=True)


def test_a_verb_does_not_tell_how_many_there_are():
    """One person who is unique, or two: what is said is the same."""
    said = []
    for alone in (["x"], ["x", "y"]):
        rows = [("no", "a")] * 30 + [("yes", "a")] * 30 + [("no", one) for one in alone]
        found = audit(pd.DataFrame(rows, columns=["s", "p"]), "s", ["p"])
        said.append(next(text for text in paragraphs(found) if " unique: " in text))
        exact = next(text for text in paragraphs(found, show_values=True) if " unique: " in text)
        assert (" is unique" in exact) == (len(alone) == 1)
    assert [text.replace("62", "61") for text in said] == [said[0]] * 2
    assert "fewer than 10 of 61 people are unique" in said[0]


def test_what_every_size_can_have_is_told_exactly():
    found = audit(table((0, 3)), "s", ["p"])
    assert veil_audit(found).deciding.worst == found.deciding.worst
    assert Veil.of(found, found.deciding).hidden is None
    assert " to 100 %." in next(text for text in paragraphs(found) if "the worst leakage is " in text)


def test_large_cells_and_shown_values_stay_exact():
    found = audit(table((9, 6)), "s", ["p"])
    assert veil_audit(found).deciding.worst == found.deciding.worst
    small = audit(table((4, 3)), "s", ["p"])
    exact = record_of(small, show_values=True)["views"][0]["worst"]
    assert exact["posterior"]["value"] == pytest.approx(3 / 7)
    assert exact["leakage"]["value"] == float(small.deciding.worst.leakage)


def test_a_sample_s_bounds_stay_bounds():
    found = example_audit(sample=SampleMode(0.9))
    record = example_record(sample=SampleMode(0.9), show_values=False)["views"][0]
    for cell, risk in zip(record["worst_cells"], found.deciding.worst_cells, strict=True):
        assert cell["posterior"]["value"] >= risk.posterior
        assert cell["leakage"]["value"] <= record["worst"]["leakage"]["value"]


def test_another_measure_is_told_of_large_cells_alone():
    audit = example_audit()
    view = audit.deciding
    small = view.worst.cell
    large = next(risk.cell for risk in view.worst_cells if view.counted.holders_of(risk.cell) >= 10)
    for cell, told in ((small, False), (large, True)):
        others = {**view.others, "new": replace(view.pmc, cell=cell)}
        changed = replace(audit, views={view.name: replace(view, others=others)})
        hidden, shown = (record_of(changed, show_values=show)["views"][0] for show in (False, True))
        assert ("new" in hidden.get("others", {})) is told
        assert shown["others"]["new"]["leakage"] == shown["ruled_out"]["leakage"]
    assert "others" not in record_of(audit)["views"][0]


def test_a_group_of_many_small_cells_is_not_called_small():
    """Forty cells of one person each are forty people, also where cells alike are counted as one kind."""
    people = [("ill", f"place {number}") for number in range(40)] + [("well", "elsewhere")] * 960
    found = audit(pd.DataFrame(people, columns=["s", "p"]), "s", ["p"], delta="1/25")
    (group,) = [group for group in veil_audit(found).views["s"].attack if group.posterior > 0.9]
    assert not group.few
    assert "happens to 4 % of people" in " ".join(paragraphs(found))


@pytest.mark.parametrize("alone", [1, 2])
def test_grammar_does_not_tell_how_few_people_there_are(alone):
    people = [("ill", f"place {number}") for number in range(alone)]
    people += [("ill", "elsewhere")] * 20 + [("well", "elsewhere")] * 960
    words = " ".join(paragraphs(audit(pd.DataFrame(people, columns=["s", "p"]), "s", ["p"])))
    assert "fewer than 10 of 98" in words
    assert "people are unique" in words
    assert "people are found out with at least 90 %" in words
    assert "people is " not in words
