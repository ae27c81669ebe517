"""A level is read alike wherever it stands: in an option, a policy or a Python call."""

import math
import re
from fractions import Fraction

import pytest

import tightlip as tl
from tightlip.cli.arguments import read_levels
from tightlip.errors import InvalidInput
from tightlip.numeric.budget import Allowed
from tightlip.numeric.quantity import exact_level, level
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy

FACTORS = {
    "log(3)": 3,
    "log 3": 3,
    "ln( 10/9 )": Fraction(10, 9),
    "3x": 3,
    "1.5 x": Fraction(3, 2),
    "2×": 2,
    "factor 3": 3,
    "Factor of 5/2": Fraction(5, 2),
    "2 bits": 4,
    "1 bit": 2,
    "0 bits": 1,
}
NATS = {"1.5 nats": Fraction(3, 2), "1 nat": 1, "1/2": Fraction(1, 2), "0.1": Fraction(1, 10), "2e0nats": 2}
CHANNEL, PRIOR = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]), tl.Prior(["1/2", "1/2"])


@pytest.mark.parametrize(("text", "ratio"), FACTORS.items())
def test_a_factor_is_exact_everywhere(text, ratio, tmp_path):
    assert exact_level(text).ratio == level(text).ratio == ratio
    assert read_levels(text)[0].ratio == Allowed.read(text).level.ratio == ratio
    assert RandomizedResponse(text).epsilon.ratio == ratio
    flags = Policy.from_flags(["s"], ["a"], randomize=[f"a={text}"])
    path = tmp_path / "plan.toml"
    path.write_text(f'secret = "s"\n[release.a]\nrandomized_response = "{text}"\n')
    for plan in (flags, Policy.from_toml(path)):
        assert plan.release[0].mechanism.response_odds() == ratio


@pytest.mark.parametrize(("text", "nats"), NATS.items())
def test_a_number_of_nats_stays_exact(text, nats):
    assert exact_level(text) == read_levels(text)[0] == nats
    assert level(text) == float(nats)
    assert RandomizedResponse(text) == RandomizedResponse(float(nats))


@pytest.mark.parametrize("text", ["log(2)", "2x", "factor 2", "1 bit"])
def test_python_functions_take_what_options_take(text):
    exact = tl.log_of(2)
    assert tl.mechanism.randomized_response(2, text) == tl.mechanism.randomized_response(2, exact)
    assert tl.convert.ldp_to_pml(text, "1/5") == tl.convert.ldp_to_pml(exact, "1/5")
    assert tl.convert.ldp_to_pml(text, "1/5").ratio == tl.convert.ldp_to_pml(exact, "1/5").ratio
    profiles = [tl.measures.privacy_profile(CHANNEL, level) for level in (text, exact)]
    assert profiles[0].fraction == profiles[1].fraction
    assert tl.pml(CHANNEL, PRIOR).tail(text).fraction == tl.pml(CHANNEL, PRIOR).tail(exact).fraction == 0
    assert (
        tl.failure_probability(CHANNEL, PRIOR, text).value
        == tl.failure_probability(CHANNEL, PRIOR, exact).value
    )


def test_bits_that_are_not_whole_are_rounded_to_the_side_that_is_asked_for():
    low, high = exact_level("1.5 bits", rounding="down"), exact_level("1.5 bits")
    assert low < high <= math.nextafter(math.nextafter(low, 9), 9)
    assert Allowed.read("1.5 bits").level == low
    assert RandomizedResponse("1.5 bits").epsilon == high
    assert tl.pml(CHANNEL, PRIOR).tail("0.1 bits") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("50%", "a share could only cap the probability of a secret"),
        ("log(2) bits", "must be a number of bits, got .*; a logarithm has no unit"),
        ("log(2) nats", "must be a number of nats, got .*; a logarithm has no unit"),
        ("-1", "must not be negative|non-negative"),
        ("-2 bits", "must not be negative|non-negative"),
        ("0.5x", "must not be negative|non-negative"),
        ("log(1/2)", "must not be negative|non-negative"),
        ("factor 0", "ratio must be positive"),
        ("10001 bits", "at most 10000 bits"),
        ("inf", "must be a finite non-negative number"),
        ("x", "must be a finite number"),
        ("much", "must be a finite number"),
        ("1e999 nats", r"at most 1\.8e\+308|must be a finite"),
    ],
)
def test_what_is_no_level_is_refused(text, message):
    for read in (level, exact_level, RandomizedResponse):
        with pytest.raises(InvalidInput, match=message):
            read(text)


def test_a_budget_says_what_its_number_means():
    for bare, shown in (("2", "2"), (" 2 ", "2"), (2, "2"), (2.5, "2.5"), (Fraction(1, 3), "1/3")):
        meanings = (
            f'--budget must say what it is, got {shown}; write "{shown}x" (a factor), "{shown} nats", or "{shown}%" '
            "(a cap on certainty)."
        )
        with pytest.raises(InvalidInput, match=re.escape(meanings)):
            Allowed.read(bare, "--budget", bare=False)
    with pytest.raises(InvalidInput, match="budget must be a finite non-negative number of nats"):
        Allowed.read("inf")
