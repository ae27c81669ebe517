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
from tightlip.audit.phrases import budget_words, factor, leakage, surely
from tightlip.audit.sample import SampleMode
from tightlip.audit.words import headline, paragraphs, remedy_words, sure, verdict
from tightlip.numeric.quantity import Nats

NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


def told(text, unit):
    """The amounts in a text that carry a unit."""
    return [Fraction(number) for number in re.findall(rf"{NUMBER} {unit[:-1]}s?\b", text)]


def everything(audit, unit):
    """All words but the level of randomised response and its grid, settings that a plan has in nats."""
    text = " ".join([headline(audit, unit=unit), *paragraphs(audit, unit=unit)])
    return re.sub(rf"ε = {NUMBER} nats|on a grid of 1/20 nat", "ε", text)


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
    assert len(told(nats, "nats")) == len(told(bits, "bits")) > 5
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
    worst = audit.joint.worst.leakage
    exact = worst.ratio
    for text in (headline(audit, unit=unit), verdict(audit, unit=unit)):
        assert holds(told(text, unit)[-1], exact, unit)
    shown = [told(text, unit)[-1] for text in remedy_words(audit, unit=unit)]
    for amount, remedy in zip(shown, audit.remedies, strict=False):
        assert holds(amount, remedy.leakage.ratio, unit)
    upper, lower = told(next(text for text in paragraphs(audit, unit=unit) if "(envelope;" in text), unit)
    scale = math.log(2) if unit == "bits" else 1
    assert float(upper) * scale >= audit.joint.envelope.upper
    assert float(lower) * scale <= audit.joint.envelope.lower


def holds(amount, ratio, unit):
    """Whether a printed amount is at least the logarithm; it has six digits, the logarithm fifteen."""
    return amount >= Fraction(math.log2(ratio) if unit == "bits" else math.log(ratio)) * (
        1 - Fraction(1, 10**14)
    )


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


def test_confidence_is_never_rounded_up():
    audit = example_audit()
    for confidence, words in ((0.95, "95 %"), (0.57, "57 %"), (0.9999999, "99.9999 %")):
        assert sure(replace(audit, confidence=confidence)) == words


def test_what_an_attack_reaches_is_rounded_down():
    assert surely(2 / 3) == "66.6 %"
    assert surely(1.0) == "99.9 %"


def test_small_cells_are_called_small():
    assert "cell 18 (fewer than 10 people), the release raises" in headline(example_audit())
    assert "fewer than" not in headline(example_audit(), show_values=True)


def test_without_a_budget_there_is_no_verdict():
    assert verdict(example_audit(budget=None)).startswith("No budget was set")


def test_an_audit_prints_as_its_words():
    audit = example_audit()
    assert str(audit) == "\n".join([headline(audit), *paragraphs(audit)])
    assert audit.words(unit="bits").splitlines()[0] == headline(audit, unit="bits")
    assert "asthma" in audit.words(show_values=True)
    assert "asthma" not in str(audit)
