"""Whether a paper's number and the computed one agree is decided by computing, and shown with the number."""

import json
import math
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest
from papers.reproduction import Value, point

from papers import Compared


@pytest.mark.parametrize(
    ("printed", "computed", "agrees"),
    [
        (Fraction(1, 3), Fraction(1, 3), True),
        (Fraction(1, 3), Fraction(10**12 + 1, 3 * 10**12), False),  # rationals are compared as such
        (1 / 3, 1 / 3 + 1e-12, True),
        (1 / 3, 0.33333, False),
        (math.inf, math.inf, True),
        (math.inf, 1e300, False),
    ],
)
def test_agreement_is_computed(printed, computed, agrees):
    value = Value("Example 1", "x", "printed", printed, computed, why="because")
    assert value.agrees is agrees
    assert value.compared().agrees is agrees
    assert value.row() == {**point("Example 1", "x", "", float(computed)), "paper": float(printed)}


def test_logarithms_are_shown_beside_the_exact_ratio():
    value = Value("Example 1", "ℓ", "log 10/9", Fraction(10, 9), Fraction(10, 9), log=True)
    assert value.compared().computed == "log 10/9 = 0.105361"
    assert value.compared().printed == "log 10/9"
    assert value.row()["computed"] == pytest.approx(math.log(10 / 9))


def test_a_formula_is_shown_with_its_number():
    assert Value("", "x", "log kα", 0.25, 0.25).compared().printed == "log kα = 0.25"


def test_truth_values_of_numpy_can_be_kept():
    assert json.loads(json.dumps(asdict(Compared("a", "b", "c", np.True_))))["agrees"] is True
