"""What is refused, and what the message says."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightlip import convert
from tightlip.errors import InvalidInput, PreconditionFailed, WrongType
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.quantity import log_of

FROM_PML = [convert.pml_to_pmc, convert.pml_to_alip, convert.pml_to_lip, convert.pml_to_ldp]
ALL = [getattr(convert, name) for name in convert.__all__ if "_to_" in name]


def call(function, epsilon, p_min):
    if function.__name__.startswith("alip"):
        return function(epsilon, epsilon, p_min)
    return function(epsilon, p_min)


@pytest.mark.parametrize("function", FROM_PML)
def test_precondition_says_threshold_value_excess_and_remedy(function):
    with pytest.raises(PreconditionFailed) as caught:
        function(0.3, 0.2)
    message = str(caught.value)
    for part in (
        "epsilon must be below log 1/(1−p_min) = 0.2231435513",
        "p_min = 0.2",
        "got epsilon=0.3",
        "0.0768564 above",
        "make every secret likelier than 0.259182",
        "keep the PML guarantee",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("epsilon", "p_min", "part"),
    [
        (log_of("5/4"), "1/5", "exactly at it"),
        (log_of("5/4"), Fraction(1, 5), "exactly at it"),
        (math.inf, 0.2, "infinitely above"),
        (0.8, 0.2, "no prior on two or more secrets allows log 2"),
        (log_of(2), "1/2", "no prior on two or more secrets allows log 2"),
        (log_of("4/3"), "1/5", "make every secret likelier than 0.25,"),
        (0.22314355131420976, "1/5", "e-18 above"),
    ],
)
def test_precondition_at_the_edge(epsilon, p_min, part):
    with pytest.raises(PreconditionFailed) as caught:
        convert.pml_to_pmc(epsilon, p_min)
    assert part in str(caught.value)


def test_the_edge_is_decided_by_proof():
    below, above = enclose(lambda: (ball(5) / 4).log())
    assert math.isfinite(convert.pml_to_pmc(below, "1/5"))
    assert convert.pml_to_pmc(below, "1/5") > 30
    with pytest.raises(PreconditionFailed):
        convert.pml_to_pmc(above, "1/5")
    # the float 0.2 is above 1/5, so its limit is higher
    assert math.isfinite(convert.pml_to_pmc(log_of("5/4"), 0.2))


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("epsilon", [-0.1, math.nan, -math.inf, "-1/2"])
def test_levels_must_be_non_negative_numbers(function, epsilon):
    with pytest.raises(InvalidInput) as caught:
        call(function, epsilon, 0.2)
    name = "lower" if function.__name__.startswith("alip") else "epsilon"
    assert f"{name} must be a non-negative number of nats" in str(caught.value)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("epsilon", [None, True, [0.1], "abc"])
def test_levels_must_be_numbers(function, epsilon):
    with pytest.raises(InvalidInput) as caught:
        call(function, epsilon, 0.2)
    assert ("lower" if function.__name__.startswith("alip") else "epsilon") in str(caught.value)


def test_upper_is_named():
    with pytest.raises(InvalidInput, match="upper must be a non-negative number of nats, got upper=-1"):
        convert.alip_to_ldp(1.0, -1.0)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("p_min", [0.0, -0.2, "0.51", 0.7, 1.5, 2, 0.9999999999999999])
def test_p_min_must_be_a_smallest_mass(function, p_min):
    with pytest.raises(InvalidInput) as caught:
        call(function, 0.1, p_min)
    assert "p_min must be in (0, 1/2], or 1 for one single secret, got" in str(caught.value)
    assert "give the smallest positive mass" in str(caught.value)


@pytest.mark.parametrize("p_min", [math.nan, math.inf])
def test_p_min_must_be_finite(p_min):
    with pytest.raises(InvalidInput, match="p_min must be finite"):
        convert.ldp_to_pml(0.1, p_min)


@pytest.mark.parametrize("p_min", [[0.2, 0.8], True, object()])
def test_p_min_must_be_a_number_or_a_prior(p_min):
    with pytest.raises(WrongType, match="p_min must be a float"):
        convert.ldp_to_pml(0.1, p_min)


def test_a_prior_with_an_impossible_smallest_mass_is_refused():
    class Wrong:
        min_mass = 0.6

    with pytest.raises(InvalidInput, match=r"got 0\.6"):
        convert.ldp_to_pml(0.1, Wrong())


def test_implied_refuses_by_name():
    with pytest.raises(InvalidInput, match='one of "ldp", "pml", "pmc", "lip", "alip", got "dp"'):
        convert.implied("dp", 0.1, 0.2)
    for pair in (0.1, (0.1,), (0.1, 0.2, 0.3), "ab"):
        with pytest.raises(InvalidInput, match=r"pair \(lower, upper\)"):
            convert.implied("alip", pair, 0.2)
    with pytest.raises(InvalidInput, match="upper must be"):
        convert.implied("alip", (0.1, -1.0), 0.2)


def test_region_refuses_by_name():
    with pytest.raises(InvalidInput, match="p_min must be at most 1/2 for a picture"):
        convert.region(1)
    with pytest.raises(InvalidInput, match="points must be a whole number from 2 to 1000000, got 1"):
        convert.region(0.2, points=1)
    for points in (2.0, True, "3"):
        with pytest.raises((InvalidInput, WrongType), match="points must be a whole number"):
            convert.region(0.2, points=points)
    with pytest.raises(InvalidInput, match="largest_pmc must be positive"):
        convert.region(0.2, largest_pmc=0)
    with pytest.raises(InvalidInput, match="largest_pmc must be a finite"):
        convert.region(0.2, largest_pmc=math.inf)


def test_compare_names_its_arguments():
    with pytest.raises(InvalidInput, match="epsilon_pml must be"):
        convert.compare(-1, 1, 0.2)
    with pytest.raises(InvalidInput, match="epsilon_pmc must be"):
        convert.compare(1, -1, 0.2)
