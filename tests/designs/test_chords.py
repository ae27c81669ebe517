"""Bounds by chords, and the lifts they rest on, against all extreme columns in rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest

from design_oracle import FUNCTIONS, NAMES, counts, most_information
from tightlip import Channel, Prior, log_of
from tightlip.designs.chords import chords
from tightlip.designs.f_information import Information
from tightlip.designs.guarantee import Alip, FloorPml, Ldp, MaximalLeakage, SetPml, Side, all_lifts, all_rows
from tightlip.designs.information import find, information
from tightlip.designs.linear import ROOM
from tightlip.designs.vertices import vertices
from tightlip.model.prior_set import PriorBall

MASSES = counts(4, 6)
SECRETS = Channel(np.array([[Fraction(1)]] * 4, dtype=object))
BALL = PriorBall(Prior(np.array(MASSES, dtype=object)), Fraction(1, 10))
FIRST = Channel(
    np.array(
        [[1, 0, 0, 0], [0, *(mass / (1 - MASSES[0]) for mass in MASSES[1:])]],
        dtype=object,
    )
)
GUARANTEES = {
    "PML": (Alip(None, log_of(2)),),
    "PML of high privacy": (Alip(None, log_of("51/50")),),
    "PMC": (Alip(log_of(2), None),),
    "LIP": (Alip(log_of("3/2"), log_of("3/2")),),
    "LDP": (Ldp(log_of(3)),),
    "LDP and PML": (Ldp(log_of(3)), Alip(None, log_of("5/4"))),
    "floor": (FloorPml(log_of(2), Fraction(1, 60)),),
    "floor above a mass": (FloorPml(log_of(2), Fraction(1, 5)),),
    # the prior is one of its set: its own bound is written out too
    "ball": (SetPml(log_of(2), BALL, SECRETS, (MASSES,)).refine([[5, 1, 1, 1], [1, 1, 1, 5]]),),
    "about the first": (Alip(None, log_of("6/5"), FIRST),),
    "about the first, below": (Alip(log_of("6/5"), None, FIRST),),
}
EXACT = ("PML", "PML of high privacy", "PMC", "LIP", "LDP")


@pytest.mark.parametrize("kind", GUARANTEES)
def test_no_allowed_lift_is_beyond_its_bound(kind):
    corners = vertices(all_rows(GUARANTEES[kind], MASSES, Side.INNER), MASSES)
    below, above = all_lifts(GUARANTEES[kind], MASSES)
    for secret in range(4):
        most, least = (end(corner[secret] for corner in corners) for end in (max, min))
        assert Fraction(above[secret]) >= most - 1
        assert Fraction(below[secret]) >= 1 - least
        if kind in EXACT:
            assert above[secret] == pytest.approx(float(most - 1), rel=1e-12)
            assert below[secret] == pytest.approx(float(1 - least), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", GUARANTEES)
def test_no_mixture_exceeds_the_chords(kind, name):
    corners = np.array(vertices(all_rows(GUARANTEES[kind], MASSES, Side.INNER), MASSES), dtype=float)
    best = most_information(corners, MASSES, name)
    bound = chords(MASSES, GUARANTEES[kind], Information(name)).bound
    assert best <= bound * (1 + 1e-9)
    if kind in ("PMC", "PML of high privacy"):
        assert bound == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "guarantee", [Ldp(1.3), Alip(None, 0.4), Alip(0.3, 0.6), FloorPml(0.5, Fraction(1, 5))]
)
def test_two_secrets_reach_the_chords(name, guarantee):
    masses = (Fraction(3, 10), Fraction(7, 10))
    kernel, _ = find(masses, (guarantee,), Information(name), Fraction(0))
    reached = information(kernel, masses, Information(name))[0]
    bound = chords(masses, (guarantee,), Information(name)).bound
    assert reached <= bound
    if not isinstance(guarantee, FloorPml):
        assert bound == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_without_bounds_on_lifts_the_chords_say_what_the_truth_says(name):
    p = np.array([float(mass) for mass in MASSES])
    lifts = np.diag(1 / p)
    truth = float(p @ (FUNCTIONS[name](lifts) @ p))
    bound = chords(MASSES, (MaximalLeakage(1.0),), Information(name)).bound
    assert truth <= bound * (1 + 1e-12)
    assert bound == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-9, 1e-6])
def test_chords_of_small_levels_keep_their_digits(epsilon):
    """To leading order I = ½ Σ p_x (M_x − 1)(1 − m_x), and under LIP both ends of every range are ε away."""
    masses = (Fraction(1, 4),) * 4
    bound = chords(masses, (Alip(epsilon, epsilon),), Information("mutual_information")).bound
    assert bound == pytest.approx(epsilon**2 / 2, rel=2 * epsilon + 1e-9)


def test_many_secrets_come_near():
    masses = counts(40, 2, 10_000)
    for guarantee in (Alip(None, 1.0), Alip(1.0, 1.0)):
        kernel, _ = find(masses, (guarantee,), Information("mutual_information"), ROOM)
        reached = information(kernel, masses, Information("mutual_information"))[0]
        bound = chords(masses, (guarantee,), Information("mutual_information")).bound
        assert reached <= bound <= reached * (1 + 1e-3)


def test_a_secret_without_mass_is_left_to_others():
    zero = (Fraction(0), Fraction(1, 2), Fraction(1, 2))
    assert math.isinf(chords(zero, (Ldp(1.0),), Information("chi_squared")).bound)
