"""Words follow the unit and round to the safe side: nothing that is printed as a guarantee is below it."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightlip as tl
from audit_example import example_audit, example_record
from tightlip.auditing.sample import SampleMode
from tightlip.numeric.budget import Allowed
from tightlip.numeric.display import format_up
from tightlip.numeric.quantity import Nats, Probability
from tightlip.report.amounts import budget_words, factor, leakage, surely
from tightlip.report.audit_words import ViewWords, headline, paragraphs, remedy_words, sure, verdict
from tightlip.report.disclosure import veil_audit

NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
SETTINGS = re.compile(
    rf"ε = {NUMBER} nats|on a grid of 1/20 nat"
)  # randomised response: its level and its grid


def told(text, unit):
    """The amounts in a text that carry a unit."""
    return [Fraction(number) for number in re.findall(rf"{NUMBER} {unit[:-1]}s?\b", text)]


def everything(audit, unit):
    """All words but settings that a plan has in nats."""
    return SETTINGS.sub("ε", " ".join([headline(audit, unit=unit), *paragraphs(audit, unit=unit)]))


@pytest.mark.parametrize(
    "options",
    [{}, {"secrets": 2, "statistic": "rich"}, {"budget": tl.log_of(100)}, {"sample": SampleMode(0.9)}],
    ids=["population", "statistic", "kept", "sample"],
)
def test_one_unit_is_spoken(options):
    audit = example_audit(**options)
    nats, bits = (everything(audit, unit) for unit in ("nats", "bits"))
    assert "bit" not in nats
    assert "nats" not in bits
    assert len(told(nats, "nats")) == len(told(bits, "bits")) >= 5
    for one, two in zip(told(nats, "nats"), told(bits, "bits"), strict=True):
        assert math.isclose(one, two * math.log(2), rel_tol=1e-2)


def test_the_report_speaks_one_unit_too():
    record = example_record(unit="bits", secrets=2, statistic="rich", show_values=False)
    for view in record["views"]:
        said = [*view["words"], *view["envelope"]["attack"]]
        said += [text for figure in view["figures"] for text in figure.values()]
        said += [part["words"] for column in view["columns"] for part in (column["alone"], column["without"])]
        assert not any("nats" in text for text in said)
    words = [record["headline"], record["verdict"]["words"], *record["paragraphs"], *record["method"]]
    assert not any("nats" in text for text in words)


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_printed_guarantees_are_not_below_the_exact_ones(unit):
    audit = example_audit(budget=tl.log_of(2))
    for text in (verdict(audit, unit=unit), worst_words(audit, unit), worst_words(veil_audit(audit), unit)):
        assert holds(pairs(text, unit)[-1], audit.deciding.worst.leakage.ratio, unit)
    shown = [pairs(text, unit)[-1] for text in remedy_words(audit, unit=unit)]
    assert len(shown) == min(len(audit.remedies), 3) > 0
    for amount, remedy in zip(shown, audit.remedies, strict=False):
        assert holds(amount, remedy.leakage.ratio, unit)
    text = next(text for text in paragraphs(audit, unit=unit) if "(envelope;" in text)
    (most, upper), (least, lower) = pairs(text, unit)
    ends = audit.deciding.envelope.lower, audit.deciding.envelope.upper
    scale = math.log(2) if unit == "bits" else 1
    assert float(lower) * scale <= ends[0] <= ends[1] <= float(upper) * scale
    assert math.log(least) <= ends[0] <= ends[1] <= math.log(most)


def pairs(text, unit):
    """The amounts in a text: factor, and in their unit."""
    text = SETTINGS.sub("ε", text)
    found = re.findall(rf"{NUMBER}x \({NUMBER} {unit[:-1]}s?\)", text)
    assert len(found) == len(told(text, unit))  # there is no amount without its factor
    return [tuple(map(Fraction, pair)) for pair in found]


def worst_words(audit, unit):
    return next(text for text in ViewWords(audit, audit.deciding, unit=unit).sentences() if "worst" in text)


def holds(pair, ratio, unit):
    """Whether a printed factor and amount are at least a ratio and its logarithm, which has fifteen digits."""
    factor_told, amount = pair
    logarithm = Fraction(math.log2(ratio) if unit == "bits" else math.log(ratio))
    return factor_told >= ratio and amount >= logarithm * (1 - Fraction(1, 10**14))


@given(st.fractions(min_value=1, max_value=10**6), st.sampled_from(["nats", "bits"]))
def test_amounts_round_to_the_side_that_they_are_on(ratio, unit):
    up = leakage(Nats.of_ratio(ratio), unit).split()[0].removeprefix("<")
    down = leakage(Nats.of_ratio(ratio, "down"), unit).split()[0].removeprefix("<")
    true = math.log2(ratio) if unit == "bits" else math.log(ratio)
    assert float(down) <= true * (1 + 1e-15) + 1e-12
    assert float(up) >= true * (1 - 1e-15)
    assert float(up) - float(down) <= 2e-5 * max(true, 1e-6) + 1e-12
    assert Fraction(factor(Nats.of_ratio(ratio))) >= ratio


def test_budgets_are_told_as_they_were_given():
    assert budget_words(Nats(0.1), "nats") == "0.1 nats"
    assert budget_words(tl.log_of(4), "bits") == "2 bits"
    assert budget_words(tl.log_of(2), "bits") == "1 bit"
    assert budget_words(Nats(0.12345678), "nats") == "0.123457 nats"
    for text in ("0.1 nats", "0.2 nats", "0.7 nats", "1.1 nats", "2.3 nats"):
        for kept in (True, False):
            found = Allowed.read(text).nats()
            assert float(found) <= float(text.split()[0])
            assert budget_words(found, "nats", kept=kept) == text


def test_confidence_is_never_rounded_up():
    audit = example_audit()
    for confidence, words in ((0.95, "95 %"), (0.57, "57 %"), (0.9999999, "99.9999 %")):
        assert sure(replace(audit, confidence=confidence)) == words


def test_what_an_attack_reaches_is_rounded_down():
    assert surely(2 / 3) == "66.6 %"
    assert surely(1.0) == "99.9 %"


def test_small_cells_are_called_small():
    start = "Do not publish as planned: for "
    assert headline(example_audit()).startswith(f"{start}fewer than 10 of 1,806 people the released values")
    exact = headline(example_audit(), show_values=True)
    assert exact.startswith(f"{start}4 of 1,806 people (0.221 %) the released values")
    said = "over the budget of log(2): "
    assert sentence(example_audit(), said).endswith(f"{said}fewer than 10 of 1,806 people.")
    assert sentence(example_audit(), said, show_values=True).endswith(f"{said}4 of 1,806 people (0.221 %).")


def test_without_a_budget_there_is_no_verdict():
    assert verdict(example_audit(budget=None)).startswith("No budget was set")


def test_an_audit_prints_as_its_words():
    audit = example_audit()
    assert str(audit) == "\n".join([headline(audit), *paragraphs(audit)])
    assert audit.words(unit="bits").splitlines()[0] == headline(audit, unit="bits")
    assert "asthma" in audit.words(show_values=True)
    assert "asthma" not in str(audit)


def sentence(audit, start, **options):
    """The sentence about the joint view that starts so."""
    found = [text for text in paragraphs(audit, **options) if f": {start}" in text]
    return found[0]


def test_columns_are_told_with_the_digits_of_their_table():
    audit, record = example_audit(), example_record()
    words = sentence(audit, "people over the budget if one column is left out")
    for column in record["views"][0]["columns"]:
        assert f"{column['over_without']['words']} without {column['column']}" in words
    sample, record = example_audit(sample=SampleMode(0.9)), example_record(sample=SampleMode(0.9))
    words = sentence(sample, "released columns")
    for column in record["views"][0]["columns"]:
        said = (
            f"{column['column']} (alone {column['alone']['words']}, without it {column['without']['words']})"
        )
        assert said in words


def test_what_says_nothing_is_left_out():
    audit = example_audit(budget=None)
    assert "can rise to at most" in sentence(audit, "the worst leakage is")
    worst = replace(audit.deciding.worst, leakage=tl.log_of(20))
    sure_thing = replace(audit, views={"ill": replace(audit.deciding, worst=worst)})
    assert "can rise" not in sentence(sure_thing, "the worst leakage is", show_values=True)
    assert not re.search(r"\b0 % by more than", sentence(audit, "share of people"))
    sample = example_audit(sample=SampleMode(0.9))
    known = replace(sample.deciding.certified, uncertified_cells=0)
    all_known = replace(sample, views={"ill": replace(sample.deciding, certified=known)})
    assert "too small" in sentence(sample, "the bounds cover")
    assert sentence(all_known, "the bounds cover").endswith("of the population.")


@pytest.mark.parametrize(
    ("observed", "rows", "words"),
    [
        (
            "1/200",
            30_000,
            "above the budget; if the population is like them, about 30,000 rows prove that at most 1 %",
        ),
        ("1/20", 30_000, "no number of rows is likely to prove that at most 1 % of people are; if"),
        ("1/20", 30_000, "about 30,000 rows prove that more than 1 % of people are."),
        ("1/20", None, "no number of rows is likely to prove that at most 1 % of people are."),
        ("1/20", 1, "the sample proves that more than 1 % of people are."),
    ],
)
def test_a_sample_says_how_many_rows_would_decide(observed, rows, words):
    sample = example_audit(sample=SampleMode(0.9), budget=tl.log_of(2))
    known = replace(
        sample.deciding.certified, observed_above=Probability.of(Fraction(observed)), rows_to_decide=rows
    )
    told = replace(sample, views={"ill": replace(sample.deciding, certified=known)})
    assert words in sentence(told, "of the rows")


def test_what_a_sample_only_allows_is_not_told_as_fact():
    assert "some cell excludes a secret." in sentence(example_audit(), "maximal leakage")
    assert "some cell may exclude a secret." in sentence(
        example_audit(sample=SampleMode(0.9)), "maximal leakage"
    )
    assert "with probability at least " in sentence(example_audit(), "grouping")


def test_shares_of_a_sample_fit_the_leakage_beside_them():
    audit = example_audit(sample=SampleMode(0.9))
    record = example_record(sample=SampleMode(0.9))["views"][0]
    assert record["worst_cells_columns"][2:] == [
        "leakage, at most",
        "points to",
        "share before, at least",
        "share after, at most",
    ]
    assert len(record["worst_cells"]) == len(audit.deciding.worst_cells) > 5
    for cell, risk in zip(record["worst_cells"], audit.deciding.worst_cells, strict=True):
        factor_told = max(1.0, cell["posterior"]["value"] / cell["prior"]["value"])
        assert math.isclose(factor_told, math.exp(cell["leakage"]["value"]), rel_tol=1e-9)
        assert risk.leakage >= math.log(factor_told) - 1e-12


def test_the_smallest_share_in_scope_reads_the_same_everywhere():
    audit = example_audit(sample=SampleMode(0.9))
    record = example_record(sample=SampleMode(0.9), show_values=False)
    view, rarest = record["views"][0], audit.deciding.certified.rarest
    edge = [cell["prior"]["words"] for cell in view["worst_cells"] if cell["prior"]["value"] == rarest]
    words = f"{format_up(100 * Fraction(rarest), 3)} %"
    assert set(edge) <= {words}
    assert view["worst"]["prior"]["value"] >= rarest
    assert f"held by at least {words} of the population" in sentence(audit, "the bounds cover")
    proved = [cell["prior"] for cell in view["worst_cells"] if cell["prior"]["value"] > rarest]
    for share in proved:
        assert Fraction(share["words"].removesuffix(" %")) <= 100 * Fraction(share["value"])
    assert proved or edge
