"""Pointwise maximal leakage, pointwise maximal cost, and the information density behind both.

    i(x; y) = log K_xy / q_y
    PML(y)  = log max_x K_xy / q_y        what an outcome lets an adversary gain
    PMC(y)  = log max_x q_y / K_xy        what an outcome lets an adversary rule out

over secrets x of positive prior mass, q_y = Σ_x p_x K_xy (PMC paper, Theorems 1 and 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.measures.distribution import Kind, PointwiseLeakage, exact_ends
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels
from tightlip.model.matrix import dense_columns, freeze
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.showing import Shown, Tabled


def pml(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute the pointwise maximal leakage of each outcome, ℓ(y) = log max_x K_xy / q_y.

    Parameters
    ----------
    channel : Channel
    prior : Prior
        Secrets of mass 0 do not count. Labels are matched where both sides have them.

    Returns
    -------
    PointwiseLeakage
        In nats, rounded up; 0 ≤ ℓ(y) ≤ log 1/p_min.

    >>> from tightlip import Channel, Prior
    >>> leak = pml(Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["+", "-"]), Prior(["1/5", "4/5"]))
    >>> leak.ratios, leak.worst_outcome, leak.worst_secret
    ((Fraction(15, 7), Fraction(15, 13)), '+', 0)
    """
    return from_joint(join(channel, prior), "pml")


def pmc(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute the pointwise maximal cost of each outcome, log max_x q_y / K_xy; infinite where it excludes a secret.

    Parameters and result as for `pml`.

    >>> from tightlip import Channel, Prior
    >>> pmc(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/5", "4/5"])).ratios
    (Fraction(7, 5), Fraction(13, 5))
    >>> pmc(Channel([[1, 0], [0, 1]]), Prior.uniform(2)).worst
    inf nats
    """
    return from_joint(join(channel, prior), "pmc")


def guesswork_leakage(channel: Channel, prior: Prior) -> PointwiseLeakage:
    """Compute pointwise maximal guesswork leakage: equal to PMC for every outcome (PMC paper, section III-D).

    The largest ratio, over randomized functions U of the secret, of the expected number of guesses
    needed to find U before and after the outcome is seen.
    """
    return pmc(channel, prior)


def from_joint(joint: ExactJoint | FloatJoint, kind: Kind) -> PointwiseLeakage:
    """Compute the leakage of each outcome of an aligned channel and prior."""
    ratios = None
    if isinstance(joint, ExactJoint):
        found = [*joint.lifts()] if kind == "pml" else joint.costs()
        ratios = tuple(found)
        lower, upper = exact_ends(list(found))
    else:
        lower, upper = joint.log_lift_ends() if kind == "pml" else joint.log_cost_ends()
    return PointwiseLeakage(
        kind=kind,
        values=freeze(upper),
        lower=freeze(lower),
        probabilities=freeze(joint.probabilities()),
        outcomes=joint.outcomes,
        ratios=ratios,
        _joint=joint,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InformationDensity(Shown, Tabled):
    """i(x; y) in nats, a plain value (not rounded to a side): rows are secrets, columns outcomes, that can occur.

    −∞ where an outcome excludes a secret. `lifts` holds the exact e^i for exact input.
    """

    values: FloatArray
    secrets: Labels
    outcomes: Labels
    lifts: NDArray[np.object_] | None

    def at(self, secret: Label, outcome: Label) -> float:
        """Look up i(secret; outcome)."""
        row = self.secrets.position(secret, "secret")
        return float(self.values[row, self.outcomes.position(outcome, "outcome")])

    @property
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""
        return len(self.secrets), len(self.outcomes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True if copy is None else copy)

    def __repr__(self) -> str:
        return f"InformationDensity({self.shape[0]} secrets × {self.shape[1]} outcomes, nats)"


def information_density(channel: Channel, prior: Prior) -> InformationDensity:
    """Compute the information density i(x; y) = log P(y | x) / P(y) for every possible secret and outcome.

    >>> from tightlip import Channel, Prior
    >>> information_density(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/2", "1/2"])).lifts
    array([[Fraction(3, 2), Fraction(1, 2)],
           [Fraction(1, 2), Fraction(3, 2)]], dtype=object)
    """
    joint = join(channel, prior)
    entries = dense_columns(joint.matrix, joint.places)
    if isinstance(joint, ExactJoint):
        lifts = entries / joint.marginal
        values = np.array([[_log(lift) for lift in row] for row in lifts.tolist()])
        return InformationDensity(freeze(values), joint.secrets, joint.outcomes, freeze(lifts))
    middle = joint.lower + (joint.upper - joint.lower) / 2
    with np.errstate(divide="ignore", over="ignore"):
        scaled = np.ldexp(entries, joint.shift)
        ratio = scaled / middle
        inside = (ratio > 1e-300) & (ratio < 1e300)
        values = np.where(inside, np.log(np.where(inside, ratio, 1.0)), np.log(scaled) - np.log(middle))
        for outcome, mass in joint.known.items():
            values[:, outcome] = np.log(entries[:, outcome]) - _log(mass)
    return InformationDensity(freeze(values), joint.secrets, joint.outcomes, None)


def _log(ratio: Fraction) -> float:
    """Compute log of a rational to nearest, also where numerator or denominator leave the float range."""
    from tightlip.numeric.ball import log_bounds

    if not ratio:
        return -np.inf
    lower, upper = log_bounds(ratio)
    return lower + (upper - lower) / 2
