"""An attack that a proof holds is a channel: entries that share out no outcome, or more than it, are refused."""

from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.certificate.attack import Attack
from tightlip.model.labels import Labels


def attack(outcomes, symbols, shares):
    places = np.array(outcomes, dtype=np.intp), np.array(symbols, dtype=np.intp)
    return Attack(*places, np.array(shares), Labels(range(3), given=False), Labels(range(2), given=False))


@pytest.mark.parametrize(
    ("outcomes", "symbols", "shares"),
    [
        pytest.param([0, 0, 1, 2], [0, 1, 1, 1], [2.0, -1.0, 1.0, 1.0], id="negative"),
        pytest.param([0, 0, 1, 2], [0, 1, 1, 1], [1.0, 0.0, 1.0, 1.0], id="zero"),
        pytest.param([0, 1, 2], [0, 1, 1], [np.nan, 1.0, 1.0], id="not a number"),
        pytest.param([0, 1, 2], [0, 1, 1], [np.inf, 1.0, 1.0], id="infinite"),
        pytest.param([0, 1, 2, 2], [0, 0, 0, 1], [1.0, 1.0, 1e308, 1e308], id="sum beyond floats"),
        pytest.param([0, 1, 2], [0, 1, 1], [0.5, 1.0, 1.0], id="half an outcome"),
        pytest.param([0, 1], [0, 1], [1.0, 1.0], id="an outcome left out"),
        pytest.param([], [], np.array([], dtype=float), id="nothing"),
        pytest.param([0, 0, 1, 2], [0, 0, 1, 1], [0.5, 0.5, 1.0, 1.0], id="twice"),
        pytest.param([0, 1, 3], [0, 1, 1], [1.0, 1.0, 1.0], id="no such outcome"),
        pytest.param([0, 1, -1], [0, 1, 1], [1.0, 1.0, 1.0], id="outcome from the end"),
        pytest.param([0, 1, 2], [0, 1, 2], [1.0, 1.0, 1.0], id="no such symbol"),
        pytest.param([0, 1, 2], [0, 1], [1.0, 1.0, 1.0], id="a symbol missing"),
    ],
)
def test_entries_that_are_no_channel(outcomes, symbols, shares):
    with pytest.raises(tl.errors.InvalidInput, match="attack must"):
        attack(outcomes, symbols, shares)


def test_entries_in_any_order():
    found = attack([2, 0, 1, 0], [1, 1, 0, 0], [1.0, 0.25, 1.0, 0.75])
    assert found == Attack.of(tl.Channel([[0.75, 0.25], [1.0, 0.0], [0.0, 1.0]]))


def test_exact_shares_smaller_than_floats():
    tiny = Fraction(1, 10**400)
    found = Attack.of(tl.Channel([[tiny, 1 - tiny]] * 3))
    assert len(found.shares) == 6
