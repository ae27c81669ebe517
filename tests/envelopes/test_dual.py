"""What thresholds prove: never less than the same multipliers prove in rationals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tightlip as tl
from tightlip.envelopes.column_generation import ColumnGeneration
from tightlip.envelopes.dual import dual_bound
from tightlip.envelopes.exact import Release, Solver
from tightlip.envelopes.limits import LIMITS


def release_with_slack():
    """Secret 0 has an outcome of its own and room for more; what is likely is no other secret's worst outcome."""
    rows = np.zeros((6, 7))
    rows[0, 0] = 1
    rows[1:4, 1:4] = [[8e-4, 1e-4, 3e-4], [2e-4, 9e-4, 1e-4], [1e-4, 3e-4, 7e-4]]
    rows[1:4, 6] = 1 - rows[1:4, 1:4].sum(axis=1)
    rows[4, 4:] = 0.002, 0.001, 0.997
    rows[5, 1:4], rows[5, 4:] = 1e-6, (0.001, 0.002, 0.997 - 3e-6)
    prior = np.array([1e-9, 1e-3, 1e-3, 1e-3, 0.5, 0.497 - 1e-9])
    return tl.Channel(rows), tl.Prior(prior)


# as of a very large channel
ONLY_PAIRS_THAT_OCCUR = replace(LIMITS, complete_pairs=1)


@pytest.mark.parametrize("least", [0.0, 1e-14])
def test_pairs_left_out_are_in_what_thresholds_prove(least):
    release = Release.of(*release_with_slack(), ONLY_PAIRS_THAT_OCCUR)
    assert not release.pairs.complete
    peaks = ColumnGeneration(release.pairs).peaks
    for ratio in np.geomspace(2e3, 1e6, 40):
        thresholds = np.array([least * ratio, *(peaks[1:] * (1 + 1e-11))])
        proof = release.multipliers(thresholds, ratio)
        exact = release.rationals.dual_value(proof, Fraction(ratio))
        proved = dual_bound(release.pairs, thresholds, float(ratio))
        assert Fraction(int(exact.p), int(exact.q)) <= Fraction(proved)


def test_ends_of_a_release_with_pairs_left_out_are_proved():
    for delta in np.geomspace(3e-8, 3e-6, 15):
        solver = Solver(Release.of(*release_with_slack(), ONLY_PAIRS_THAT_OCCUR))
        solver.envelope(Fraction(delta), 1e-9).verify()


@pytest.mark.parametrize("threshold", [2.0, 2.5, math.nan])
def test_thresholds_at_the_ratio_or_above_prove_nothing(threshold):
    release = Release.of(*release_with_slack())
    thresholds = np.full(release.pairs.secrets, 1.0)
    thresholds[2] = threshold
    assert dual_bound(release.pairs, thresholds, 2.0) == math.inf
