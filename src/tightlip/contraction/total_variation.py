"""Contraction of total variation and of E_γ: both are decided by one pair of rows.

    Dobrushin      η_TV(K) = max_{x,x'} ½ Σ_y |K_xy − K_x'y|
    E_γ, γ ≥ 1     η_γ(K) = max_{x,x'} Σ_y (K_xy − γ K_x'y)₊       (γ = 1 is the first again)

Why a pair decides. Split P − γQ into its positive part of mass a = E_γ(P‖Q) ≤ 1 and its negative part of mass
b = a + γ − 1 ≥ γa. So PK − γQK = a·UK − b·VK ≤ a(UK − γVK) for distributions U, V, and E_γ is jointly convex in
(U, V), so largest at corners.

A float sum of n non-negative numbers is off by a relative γ_n at most, so pairs below the largest by more than
that are out; those left are summed in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.contraction.pairs import Leading, Table, city_block, leading_pairs
from tightlip.contraction.result import Coefficient
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.measures.joint import exact_sum
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_row
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Probability
from tightlip.numeric.rounding import UNIT, down, gamma, up

_REFINED = 16
_EXACT_IN_FLOATS = 1 << 51  # sums of integers up to twice this are exact
_EXACT_IN_INTEGERS = 1 << 61


@dataclass(frozen=True, slots=True)
class _Measure:
    """One number per pair of rows: in floats with its error, and in rationals."""

    table: Table
    exact: Callable[[NDArray[Any], NDArray[Any]], Fraction]
    integers: Callable[[NDArray[Any], int], tuple[NDArray[Any], Table, int] | None]
    scale: Fraction  # of the float table
    absolute: float
    ordered: bool
    method: str


def dobrushin(channel: Channel) -> Coefficient:
    """The Dobrushin coefficient η_TV(K) = max_{x,x'} TV(K_x, K_x'), rounded up (DOB paper, (2)).

    TV(PK, QK) ≤ η_TV·TV(P, Q) for all P, Q, and no smaller number will do, also among priors that give each
    secret a mass of at least c < 1/N.

    Parameters
    ----------
    channel : Channel
        Dense, sparse or exact; rows are compared in blocks, so that memory stays at a few blocks.

    Returns
    -------
    Coefficient
        `.pair` are the two secrets, `.fraction` the rational value where the channel is exact.

    >>> from tightlip import Channel
    >>> found = dobrushin(Channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]], inputs=["a", "b", "c"]))
    >>> found.fraction, found.pair
    (Fraction(1, 4), ('a', 'c'))
    """
    half = Fraction(1, 2)
    return _largest(
        channel,
        _Measure(city_block, _total_variation, _variation_integers, half, 0.0, False, "all pairs of rows"),
    )


def e_gamma_contraction(channel: Channel, gamma: Any) -> Coefficient:
    """The contraction coefficient of E_γ(P‖Q) = Σ(P − γQ)₊, γ ≥ 1: max_{x,x'} E_γ(K_x‖K_x'), rounded up.

    It equals the privacy profile δ*(log γ): a channel is (ε, δ)-LDP exactly if it contracts E_{e^ε} by δ.

    >>> from tightlip import Channel
    >>> e_gamma_contraction(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), 2).fraction
    Fraction(1, 4)
    """
    read = number(gamma, "gamma")
    if read < 1:
        raise InvalidInput(
            f"gamma must be at least 1, got {quoted(gamma)}; below 1, E_γ(P‖Q) is γ·E_{{1/γ}}(Q‖P)."
        )
    if read > _EXACT_IN_FLOATS:
        raise InvalidInput(f"gamma must be at most 2^51, got {quoted(gamma)}; beyond, only zeros matter.")
    found = _largest(channel, _excess(Fraction(read)))
    return found if isinstance(read, Fraction) else _without_exact(found)


def _excess(factor: Fraction) -> _Measure:
    """Σ_y (a_y − γ b_y)₊."""
    multiple = down(float(factor))

    def table(upper: NDArray[Any], lower: NDArray[Any]) -> NDArray[Any]:
        scaled = np.nextafter(multiple * lower, 0.0)  # never too large: a sum of 0 is truly 0
        return np.array([np.maximum(row - scaled, 0.0).sum(axis=1) for row in upper])

    def exact(one: NDArray[Any], two: NDArray[Any]) -> Fraction:
        pairs = zip(one.tolist(), two.tolist(), strict=True)
        terms = (Fraction(a) - factor * Fraction(b) for a, b in pairs if a)
        return sum((term for term in terms if term > 0), Fraction(0))

    def integers(rows: NDArray[Any], unit: int) -> tuple[NDArray[Any], Table, int] | None:
        if unit * factor.numerator >= _EXACT_IN_INTEGERS // rows.shape[1]:
            return None

        def whole_table(upper: NDArray[Any], lower: NDArray[Any]) -> NDArray[Any]:
            scaled = factor.numerator * lower
            return np.array([np.maximum(factor.denominator * row - scaled, 0).sum(axis=1) for row in upper])

        return rows.astype(np.int64), whole_table, unit * factor.denominator

    return _Measure(table, exact, integers, Fraction(1), 8 * UNIT, True, "all ordered pairs of rows")


def _largest(channel: Channel, measure: _Measure) -> Coefficient:
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    if channel.is_exact:
        return _largest_exact(channel, measure)
    leading = _float_leading(channel.matrix, measure, cap=_REFINED)
    pair, value = _best_of(channel, leading, measure)
    upper = float(Probability.of(min(value, Fraction(1))))
    if not leading.complete and leading.best:
        error = gamma(channel.shape[1] + 4)
        upper = max(
            upper, up(float(leading.best) * float(measure.scale) * (1 + 2 * error) + measure.absolute, 2)
        )
    return Coefficient(
        Probability.of(min(value, Fraction(1)), "down"),
        upper,
        method=measure.method,
        pair=_names(channel, pair),
    )


def _largest_exact(channel: Channel, measure: _Measure) -> Coefficient:
    rows = channel.matrix
    unit = math.lcm(*(entry.denominator for entry in rows.flat))
    whole = measure.integers(rows * unit, unit)
    if whole is not None:
        integers, table, scale = whole
        leading = leading_pairs(integers, table, cap=1, ordered=measure.ordered)
        return Coefficient.known(
            Fraction(int(leading.best), scale),
            method=f"{measure.method}, in integers",
            pair=_names(channel, leading.pairs[0]),
        )
    rounded = rows.astype(np.float64)
    leading = _float_leading(rounded, measure, cap=rows.shape[0] ** 2, rounded=True)
    pair, value = _best_of(channel, leading, measure)
    return Coefficient.known(value, method=f"{measure.method}, in rationals", pair=_names(channel, pair))


def _float_leading(matrix: Any, measure: _Measure, *, cap: int, rounded: bool = False) -> Leading:
    """Pairs within the error of floats; entries that were rounded first add an absolute error."""
    absolute = measure.absolute + (16 * UNIT if rounded else 0.0)
    return leading_pairs(
        matrix,
        measure.table,
        relative=gamma(matrix.shape[1] + 4),
        absolute=absolute,
        cap=cap,
        ordered=measure.ordered,
    )


def _best_of(channel: Channel, leading: Leading, measure: _Measure) -> tuple[tuple[int, int], Fraction]:
    values = [
        measure.exact(dense_row(channel.matrix, one), dense_row(channel.matrix, two))
        for one, two in leading.pairs
    ]
    best = max(range(len(values)), key=values.__getitem__)
    return leading.pairs[best], values[best]


def _total_variation(one: NDArray[Any], two: NDArray[Any]) -> Fraction:
    return (exact_sum(np.maximum(one, two)) - exact_sum(np.minimum(one, two))) / 2


def _variation_integers(rows: NDArray[Any], unit: int) -> tuple[NDArray[Any], Table, int] | None:
    """Whole numbers that floats hold exactly, and so do sums of their differences."""
    return (rows.astype(np.float64), city_block, 2 * unit) if unit <= _EXACT_IN_FLOATS else None


def _names(channel: Channel, pair: tuple[int, int]) -> tuple[Any, Any]:
    return channel.inputs[pair[0]], channel.inputs[pair[1]]


def _without_exact(found: Coefficient) -> Coefficient:
    return Coefficient(found.lower, found.upper, method=found.method, pair=found.pair)
