"""A channel and a prior together: outcome probabilities and extreme lifts, with sound ends.

With q_y = Σ_x p_x K_xy and the lift s_x(y) = K_xy / q_y over secrets of positive mass,
    PML(y) = log max_x s_x(y)      and      PMC(y) = −log min_x s_x(y).

Float arithmetic. q_y is a sum of n non-negative products, so the computed q̂_y satisfies
|q̂ − q| ≤ γ_{n+4}·q whatever the order of summation, unless products fall below the normal
range. Columns that come near it are rescaled by a power of two, and where even that does not
help (prior masses below 1e-286) the column is summed in rationals: no outcome is dropped
because it is rare.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.labels import Labels
from tightlip.model.matrix import (
    Matrix,
    column_max,
    column_min,
    dense_column,
    dense_columns,
    take_rows,
    weighted_columns,
)
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray, ObjectArray
from tightlip.numeric.rounding import (
    TINY,
    down,
    gamma,
    log_ratio_down,
    log_ratio_up,
    up,
    widen_down,
    widen_up,
)

_DANGER = 2.0**-950
Ends = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class Joint:
    """The parts both kinds of arithmetic share: what is left after alignment and restriction.

    `secrets` are those of positive mass (at the positions `support` of the channel's rows), `outcomes`
    those of positive probability (at the positions `places` of its columns). Where one of channel and
    prior is exact and the other is not, floats do the arithmetic but the numbers as given decide ties.
    """

    secrets: Labels
    outcomes: Labels
    places: NDArray[np.intp]
    weights: NDArray[Any]
    matrix: Matrix
    given_weights: NDArray[Any]
    given_matrix: Matrix
    support: NDArray[np.intp]

    def column(self, outcome: int) -> NDArray[Any]:
        """P(outcome | secret) as given, for the i-th outcome of positive probability."""
        return dense_column(self.given_matrix, int(self.places[outcome]))

    def most_likely_secret(self, outcome: int) -> int:
        """argmax_x K_xy: the secret that the outcome speaks for most, relative to its prior."""
        return int(np.argmax(self.column(outcome)))

    def least_likely_secret(self, outcome: int) -> int:
        """argmin_x K_xy: the secret that the outcome speaks against most."""
        return int(np.argmin(self.column(outcome)))

    def exact_probability(self, outcome: int) -> Fraction:
        """q_y of the numbers given, each float being the rational it stores."""
        pairs = zip(self.given_weights.tolist(), self.column(outcome).tolist(), strict=True)
        return sum((Fraction(mass) * Fraction(entry) for mass, entry in pairs if entry), Fraction(0))

    def exact_mass(self, outcomes: Sequence[int]) -> Fraction:
        """Compute Σ q_y of the stored numbers over some outcomes."""
        columns = dense_columns(self.given_matrix, self.places[np.asarray(outcomes, dtype=np.intp)])
        return sum(
            (
                Fraction(mass) * exact_sum(row)
                for mass, row in zip(self.given_weights.tolist(), columns, strict=True)
            ),
            Fraction(0),
        )

    def exact_lift(self, outcome: int) -> Fraction:
        """Compute max_x K_xy / q_y of the stored numbers."""
        return Fraction(self.column(outcome).max()) / self.exact_probability(outcome)

    def exact_cost(self, outcome: int) -> Fraction | None:
        """Compute max_x q_y / K_xy of the stored numbers; None stands for infinite."""
        smallest = Fraction(self.column(outcome).min())
        return self.exact_probability(outcome) / smallest if smallest else None


@dataclass(frozen=True, slots=True)
class ExactJoint(Joint):
    """Everything in rationals: the ends meet up to the rounding of the logarithm."""

    marginal: ObjectArray

    exact = True

    def probabilities(self) -> FloatArray:
        """q_y, rounded to nearest."""
        return np.array([float(mass) for mass in self.marginal])

    def lifts(self) -> list[Fraction]:
        """Compute max_x K_xy / q_y."""
        return list(column_max(self.matrix)[self.places] / self.marginal)

    def costs(self) -> list[Fraction | None]:
        """Compute max_x q_y / K_xy; None stands for infinite."""
        pits = column_min(self.matrix)[self.places]
        return [mass / pit if pit else None for mass, pit in zip(self.marginal, pits, strict=True)]


@dataclass(frozen=True, slots=True)
class FloatJoint(Joint):
    """Floats with sound ends: q_y ∈ [lower, upper]·2^−shift, exactly `known` where floats fail."""

    peaks: FloatArray
    pits: FloatArray
    lower: FloatArray
    upper: FloatArray
    shift: NDArray[np.intc]
    known: dict[int, Fraction]
    slack: float

    exact = False

    def probability_ends(self) -> Ends:
        """Sound ends of q_y; a positive probability never becomes 0 from above."""
        lower = np.ldexp(self.lower, -self.shift)
        upper = np.ldexp(self.upper, -self.shift)
        scaled = self.shift != 0  # a shift back may round
        lower[scaled] = np.maximum(np.nextafter(lower[scaled], 0.0), 0.0)
        upper[scaled] = np.maximum(np.nextafter(upper[scaled], 1.0), TINY)
        return lower, np.minimum(upper, 1.0)

    def probabilities(self) -> FloatArray:
        """q_y, to nearest within the ends; positive for every outcome that can occur."""
        lower, upper = self.probability_ends()
        return np.maximum(lower + (upper - lower) / 2, TINY)

    def log_lift_ends(self) -> Ends:
        """Sound ends of PML(y), at least 0."""
        return self._log_ends(self.peaks, np.zeros(len(self.peaks), dtype=bool), over_marginal=True)

    def log_cost_ends(self) -> Ends:
        """Sound ends of PMC(y), at least 0; ∞ where some possible secret excludes the outcome."""
        return self._log_ends(self.pits, self.pits == 0, over_marginal=False)

    def _log_ends(self, entries: FloatArray, infinite: NDArray[np.bool_], *, over_marginal: bool) -> Ends:
        """log(entry/q) or log(q/entry), in floats but for what needs rationals or is infinite."""
        apart = infinite.copy()
        apart[list(self.known)] = True
        scaled = np.where(apart, 1.0, np.ldexp(entries, self.shift))
        least, most = np.where(apart, 1.0, self.lower), np.where(apart, 1.0, self.upper)
        if over_marginal:
            lower, upper = log_ratio_down(scaled, most), log_ratio_up(scaled, least)
        else:
            lower, upper = log_ratio_down(least, scaled), log_ratio_up(most, scaled)
        for outcome, mass in self.known.items():
            ratio = Fraction(entries[outcome]) / mass
            if ratio:
                ends = log_bounds(ratio if over_marginal else 1 / ratio)
                if self.slack:
                    ends = down(ends[0] - 2 * self.slack), up(ends[1] + 2 * self.slack)
                lower[outcome], upper[outcome] = ends
        lower[infinite] = upper[infinite] = np.inf
        return np.maximum(lower, 0.0), np.maximum(upper, 0.0)


def on_support(channel: Channel, prior: Prior | None) -> Channel:
    """Restrict a channel to the secrets that a prior, if there is one, holds possible."""
    as_channel(channel)
    return channel if prior is None else channel.restricted_to(prior)


def join(channel: Channel, prior: Prior, *, slack: float = 0.0) -> ExactJoint | FloatJoint:
    """Align, restrict to the support, and sum: exact if both are exact, floats with sound ends otherwise.

    `slack` is a known relative error of the prior's masses (a posterior computed in floats).
    """
    aligned = align(prior, channel)
    support = aligned.support
    names = channel.inputs if channel.inputs.given else aligned.labels
    secrets = names if len(support) == len(aligned) else names.take(support)
    if channel.is_exact and aligned.is_exact:
        return _exact_joint(channel, aligned, support, secrets)
    matrix = take_rows(channel.floats, support)
    weights = aligned.floats[support]
    whole = matrix is channel.matrix
    peaks = channel.peaks if whole else column_max(matrix)
    places = np.flatnonzero(peaks)
    peaks = peaks[places]
    marginal, shift, known = _marginal(weights, matrix, places, peaks)
    if channel.is_exact or aligned.is_exact:
        slack = max(slack, gamma(4)) if known else slack
    relative = gamma(len(weights) + 4) + slack
    return FloatJoint(
        secrets=secrets,
        outcomes=_labels_at(channel, places),
        places=places,
        weights=weights,
        matrix=matrix,
        given_weights=aligned.masses[support],
        given_matrix=take_rows(channel.matrix, support),
        support=support,
        peaks=peaks,
        pits=(channel.pits if whole else column_min(matrix))[places],
        lower=widen_down(marginal, relative),
        upper=widen_up(marginal, relative),
        shift=shift,
        known=known,
        slack=slack,
    )


def _exact_joint(channel: Channel, prior: Prior, support: NDArray[np.intp], secrets: Labels) -> ExactJoint:
    matrix = take_rows(channel.matrix, support)
    weights = prior.masses[support]
    marginal = weighted_columns(weights, matrix)
    places = np.flatnonzero(marginal)
    kept = _labels_at(channel, places)
    return ExactJoint(secrets, kept, places, weights, matrix, weights, matrix, support, marginal[places])


def _marginal(
    weights: FloatArray, matrix: Matrix, places: NDArray[np.intp], peaks: FloatArray
) -> tuple[FloatArray, NDArray[np.intc], dict[int, Fraction]]:
    marginal = weighted_columns(weights, matrix)[places]
    shift = np.zeros(len(places), dtype=np.intc)
    known: dict[int, Fraction] = {}
    rare = np.flatnonzero(marginal < _DANGER)
    if len(rare):
        shift[rare] = -np.frexp(peaks[rare])[1]
        columns = np.ldexp(dense_columns(matrix, places[rare]), shift[rare])
        marginal[rare] = weights @ columns
        for place in rare[marginal[rare] < _DANGER]:
            column = dense_column(matrix, int(places[place]))
            mass = _exact_dot(weights, column)  # of floats; where these are rounded, `slack` covers it
            known[int(place)] = mass
            shift[place] = 0
            marginal[place] = max(float(mass), TINY)
    return marginal, shift, known


def _labels_at(channel: Channel, places: NDArray[np.intp]) -> Labels:
    return channel.outputs if len(places) == channel.shape[1] else channel.outputs.take(places)


def _exact_dot(weights: FloatArray, column: FloatArray) -> Fraction:
    pairs = zip(weights.tolist(), column.tolist(), strict=True)
    return sum((Fraction(mass) * Fraction(entry) for mass, entry in pairs if entry), Fraction(0))


def exact_sum(values: NDArray[Any]) -> Fraction:
    """Sum floats or rationals exactly.

    >>> exact_sum(np.array([0.1, 0.2])) == Fraction(0.1) + Fraction(0.2)
    True
    >>> exact_sum(np.array([1e300, 1.0, -1e300, 2.0**-1074])) == 1 + Fraction(1, 2**1074)
    True
    """
    if values.dtype == object:
        return Fraction(sum(values.tolist(), Fraction(0)))
    terms, exact = values.tolist(), Fraction(0)
    rest = math.fsum(terms)  # rounds the exact sum once, so what is left shrinks by 2⁵³ each time
    while rest:
        exact += Fraction(rest)
        terms.append(-rest)
        rest = math.fsum(terms)
    return exact
