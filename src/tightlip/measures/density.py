"""Information density i(x; y) = log K_xy / q_y, of which PML is the maximum and PMC minus the minimum."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.measures.joint import ExactJoint, join
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels
from tightlip.model.matrix import dense_columns, freeze
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray
from tightlip.showing import Shown, Tabled


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
        """i(secret; outcome)."""
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
