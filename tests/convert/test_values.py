"""Reference values and closed forms, one conversion at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightlip import convert
from tightlip.numeric.quantity import Alip, Nats, Probability, log_of

PRIOR_DEPENDENT = [
    name for name in convert.__all__ if "_to_" in name and name.startswith(("ldp", "pml", "pmc"))
]
ONE_LEVEL = [name for name in convert.__all__ if "_to_" in name and not name.startswith("alip")]
TWO_LEVELS = [name for name in convert.__all__ if name.startswith("alip_to_")]


class AnyPrior:
    def __init__(self, min_mass: object) -> None:
        self.min_mass = min_mass


def ratios(result: Nats | Alip) -> Fraction | tuple[Fraction, Fraction] | None:
    if isinstance(result, Alip):
        assert result.lower.ratio is not None
        assert result.upper.ratio is not None
        return result.lower.ratio, result.upper.ratio
    return result.ratio


def test_every_pair_the_theory_gives_is_there():
    measures = ("ldp", "pml", "pmc", "lip", "alip")
    expected = {f"{a}_to_{b}" for a in measures for b in measures if a != b}
    assert {name for name in convert.__all__ if "_to_" in name} == expected
    assert all(callable(getattr(convert, name)) for name in convert.__all__)


def test_pmc_paper_figure_prior():
    assert convert.pml_to_pmc(0.2008291962, 0.2) == pytest.approx(2.2042235979, abs=2e-9)
    assert convert.pml_to_ldp(0.2008291962, 0.2) == pytest.approx(2.4050527941, abs=2e-9)
    # where it comes from: 0.9 of the limit log 5/4
    assert 0.9 * math.log(1.25) == pytest.approx(0.2008291962, abs=1e-10)


@pytest.mark.parametrize(
    ("name", "ratio", "p_min", "expected"),
    [
        ("ldp_to_pml", 4, "1/3", Fraction(2)),
        ("ldp_to_pmc", 4, "1/3", Fraction(3)),
        ("ldp_to_lip", 4, "1/3", Fraction(3)),
        ("ldp_to_alip", 4, "1/3", (Fraction(3), Fraction(2))),
        ("pml_to_pmc", "10/9", "1/5", Fraction(9, 5)),
        ("pml_to_lip", "10/9", "1/5", Fraction(9, 5)),
        ("pml_to_ldp", "10/9", "1/5", Fraction(2)),
        ("pml_to_alip", "10/9", "1/5", (Fraction(9, 5), Fraction(10, 9))),
        ("pmc_to_pml", 2, "1/4", Fraction(5, 2)),
        ("pmc_to_lip", 2, "1/4", Fraction(5, 2)),
        ("pmc_to_lip", 3, "1/4", Fraction(3)),
        ("pmc_to_lip", 9, "1/4", Fraction(9)),
        ("pmc_to_ldp", 2, "1/4", Fraction(5)),
        ("pmc_to_alip", 2, "1/4", (Fraction(2), Fraction(5, 2))),
        ("lip_to_pml", 2, None, Fraction(2)),
        ("lip_to_pml", 2, "1/4", Fraction(2)),
        ("lip_to_pml", 9, "1/4", Fraction(11, 3)),
        ("lip_to_pmc", 9, None, Fraction(9)),
        ("lip_to_pmc", 9, "1/4", Fraction(9)),
        ("lip_to_alip", 9, None, (Fraction(9), Fraction(9))),
        ("lip_to_alip", 9, "1/4", (Fraction(9), Fraction(11, 3))),
        ("lip_to_ldp", 9, None, Fraction(81)),
        ("lip_to_ldp", 9, "1/4", Fraction(33)),
    ],
)
def test_exact_values(name, ratio, p_min, expected):
    arguments = [log_of(ratio)] if p_min is None else [log_of(ratio), p_min]
    assert ratios(getattr(convert, name)(*arguments)) == expected


@pytest.mark.parametrize(
    ("name", "lower", "upper", "p_min", "expected"),
    [
        ("alip_to_pml", 2, 3, None, 3),
        ("alip_to_pml", 2, 3, "1/4", Fraction(5, 2)),
        ("alip_to_pmc", 2, 3, "1/4", 2),
        ("alip_to_pmc", 9, "10/9", None, 9),
        ("alip_to_pmc", 9, "10/9", "1/5", Fraction(9, 5)),
        ("alip_to_lip", 9, "10/9", None, 9),
        ("alip_to_lip", 9, "10/9", "1/5", Fraction(9, 5)),
        ("alip_to_lip", 2, 3, "1/4", Fraction(5, 2)),
        ("alip_to_ldp", 9, "10/9", None, 10),
        ("alip_to_ldp", 9, "10/9", "1/5", 2),
        ("alip_to_ldp", 2, 3, "1/4", 5),
    ],
)
def test_exact_values_of_alip(name, lower, upper, p_min, expected):
    assert getattr(convert, name)(log_of(lower), log_of(upper), p_min).ratio == expected


@pytest.mark.parametrize("name", ["alip_to_pml", "alip_to_pmc", "alip_to_lip", "alip_to_ldp"])
@pytest.mark.parametrize("pair", [(0, 3.0), (3.0, 0), (0, "inf"), ("inf", 0.0)])
@pytest.mark.parametrize("p_min", [None, 0.2, "1/5"])
def test_a_zero_on_one_side_forces_the_other(name, pair, p_min):
    assert getattr(convert, name)(*pair, p_min) == 0


def test_definitions_return_the_level_itself():
    assert convert.lip_to_pml(0.1) == 0.1
    assert convert.lip_to_pmc(0.1) == 0.1
    assert convert.lip_to_alip(0.1) == (0.1, 0.1)
    assert convert.lip_to_ldp(0.1) == 0.2
    assert convert.alip_to_pml(0.3, 0.1) == 0.1
    assert convert.alip_to_pmc(0.3, 0.1) == 0.3
    assert convert.alip_to_lip(0.3, 0.1) == 0.3
    assert convert.alip_to_ldp(1.5, 0.25) == 1.75
    assert convert.pmc_to_alip(0.3, 0.2).lower == 0.3
    assert convert.pml_to_alip(0.2, 0.2).upper == 0.2


@pytest.mark.parametrize("name", ONE_LEVEL)
def test_zero_gives_zero(name):
    for p_min in (0.2, "1/5", "1/2", 1):
        result = getattr(convert, name)(0.0, p_min)
        assert result == ((0, 0) if name.endswith("alip") else 0)


@pytest.mark.parametrize("name", ONE_LEVEL)
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 40.0, math.inf, log_of(3)])
@pytest.mark.parametrize("p_min", [1, 1.0, "1", AnyPrior(1.0)])
def test_one_single_secret_leaks_nothing(name, epsilon, p_min):
    result = getattr(convert, name)(epsilon, p_min)
    assert result == ((0, 0) if name.endswith("alip") else 0)


@pytest.mark.parametrize("name", TWO_LEVELS)
@pytest.mark.parametrize("pair", [(0.5, 2.0), (math.inf, math.inf), (log_of(3), 0.4)])
def test_one_single_secret_leaks_nothing_by_alip(name, pair):
    assert getattr(convert, name)(*pair, 1) == 0


@pytest.mark.parametrize("name", PRIOR_DEPENDENT)
def test_a_prior_stands_for_its_smallest_mass(name):
    function = getattr(convert, name)
    assert function(0.1, AnyPrior(0.2)) == function(0.1, 0.2)
    assert ratios(function(log_of("10/9"), AnyPrior(Fraction(1, 5)))) == ratios(
        function(log_of("10/9"), "1/5")
    )


def test_rounding_noise_of_a_float_prior_is_forgiven():
    noisy = AnyPrior(0.5000000000000001)
    assert convert.ldp_to_pml(1.0, noisy) == convert.ldp_to_pml(1.0, 0.5)
    assert convert.ldp_to_pml(1.0, AnyPrior(0.9999999999999999)) == 0


def test_a_probability_keeps_its_exact_mass():
    exact = Probability.of(Fraction(1, 5))
    assert convert.pml_to_ldp(log_of("10/9"), exact).ratio == 2
    assert convert.pml_to_ldp(log_of("10/9"), Probability(0.2)).ratio is None


def test_the_model_class_works_too():
    from tightlip.model.prior import Prior

    prior = Prior(["3/10", "3/10", "1/5", "1/5"])
    assert convert.pml_to_ldp(log_of("10/9"), prior).ratio == 2


def test_ratio_is_claimed_only_for_exact_input():
    assert convert.ldp_to_pml(log_of(4), 0.25).ratio is None
    assert convert.ldp_to_pml(1.0, "1/4").ratio is None
    assert convert.alip_to_lip(log_of(9), 0.25).ratio is None
    assert convert.alip_to_ldp(log_of(9), 0.25, "1/4").ratio is None
    assert convert.pmc_to_lip(log_of(2), 0.25).ratio is None
    assert convert.ldp_to_pml(0.0, 0.25).ratio == 1


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (convert.ldp_to_pml(math.inf, "1/5"), math.log(5)),
        (convert.ldp_to_pmc(math.inf, "1/5"), math.inf),
        (convert.ldp_to_lip("inf", "1/5"), math.inf),
        (convert.pmc_to_pml(math.inf, "1/5"), math.log(5)),
        (convert.pmc_to_lip(math.inf, "1/5"), math.inf),
        (convert.pmc_to_ldp(math.inf, "1/5"), math.inf),
        (convert.pmc_to_alip(math.inf, 0.2).lower, math.inf),
        (convert.pmc_to_alip(math.inf, 0.2).upper, math.log(5)),
        (convert.lip_to_pml(math.inf), math.inf),
        (convert.lip_to_pml(math.inf, 0.2), math.log(5)),
        (convert.lip_to_pmc(math.inf, 0.2), math.inf),
        (convert.lip_to_ldp(math.inf, 0.2), math.inf),
        (convert.lip_to_ldp(math.inf), math.inf),
        (convert.alip_to_pml(math.inf, 9.0, 0.2), math.log(5)),
        (convert.alip_to_pmc(math.inf, 0.1), math.inf),
        (convert.alip_to_pmc(math.inf, 0.3, 0.2), math.inf),
        (convert.alip_to_pmc(math.inf, 0.1, 0.2), math.log(0.2 / (1 - 0.8 * math.exp(0.1)))),
        (convert.alip_to_ldp(math.inf, 0.1, 0.2), 0.1 + math.log(0.2 / (1 - 0.8 * math.exp(0.1)))),
        (convert.alip_to_ldp(0.1, math.inf), math.inf),
        (convert.alip_to_ldp(0.1, math.inf, 0.2), 0.1 + math.log((1 - 0.8 * math.exp(-0.1)) / 0.2)),
        (convert.lip_to_ldp(1.5e308), math.inf),
    ],
)
def test_infinities(result, expected):
    assert result == pytest.approx(expected, rel=1e-13)
    assert isinstance(result, Nats)


@pytest.mark.parametrize("p_min", [5e-324, 1e-300, 1e-17, 0.2, 1 / 3, 0.5])
@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17, 1.0, 745.0, 1e5, 1e308])
def test_extreme_floats(epsilon, p_min):
    for name in ("ldp_to_pml", "pmc_to_pml", "lip_to_pml"):
        assert 0 < getattr(convert, name)(epsilon, p_min) <= Nats.of_ratio(1 / Fraction(p_min)), name
    assert 0 < convert.ldp_to_pmc(epsilon, p_min) <= math.nextafter(epsilon, math.inf)
    assert epsilon <= convert.pmc_to_lip(epsilon, p_min) <= convert.pmc_to_ldp(epsilon, p_min)


def test_tiny_mass_makes_pml_and_pmc_of_ldp_approach_epsilon():
    assert convert.ldp_to_pml(1.0, 1e-300) == pytest.approx(1.0, rel=1e-15)
    assert convert.ldp_to_pmc(1.0, "1e-4000") == pytest.approx(1.0, rel=1e-15)


def test_alip_pair_in_bits():
    pair = convert.pmc_to_alip(log_of(2), "1/4")
    assert pair.in_bits() == (pair.lower.in_bits(), pair.upper.in_bits())
    assert pair.in_bits() == pytest.approx((1.0, math.log2(2.5)), rel=1e-15)
