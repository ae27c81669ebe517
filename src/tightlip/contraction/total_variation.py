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
from tightlip.measures.joint import exact_sum
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_row
from tightlip.numeric.quantity import Probability
from tightlip.numeric.rounding import UNIT, down, gamma, up

_REFINED = 16
EXACT_IN_FLOATS = 1 << 51  # sums of integers up to twice this are exact
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


def largest_variation(channel: Channel) -> Coefficient:
    """Maximise the total variation of two rows; see `dobrushin`."""
    half = Fraction(1, 2)
    return _largest(
        channel,
        _Measure(city_block, total_variation, _variation_integers, half, 0.0, False, "all pairs of rows"),
    )


def largest_excess(channel: Channel, factor: Fraction) -> Coefficient:
    """Maximise E_γ of two rows; see `e_gamma_contraction`."""
    return _largest(channel, _excess(factor))


def total_variation(one: NDArray[Any], two: NDArray[Any]) -> Fraction:
    """Compute ½ Σ_y |a_y − b_y| of two rows as stored."""
    return (exact_sum(np.maximum(one, two)) - exact_sum(np.minimum(one, two))) / 2


def excess(one: NDArray[Any], two: NDArray[Any], factor: Fraction) -> Fraction:
    """Compute Σ_y (a_y − γ b_y)₊ of two rows as stored."""
    pairs = zip(one.tolist(), two.tolist(), strict=True)
    terms = (Fraction(a) - factor * Fraction(b) for a, b in pairs if a)
    return sum((term for term in terms if term > 0), Fraction(0))


def _excess(factor: Fraction) -> _Measure:
    """Σ_y (a_y − γ b_y)₊."""
    multiple = down(float(factor))

    def table(upper: NDArray[Any], lower: NDArray[Any]) -> NDArray[Any]:
        scaled = np.nextafter(multiple * lower, 0.0)  # never too large: a sum of 0 is truly 0
        return np.array([np.maximum(row - scaled, 0.0).sum(axis=1) for row in upper])

    def exact(one: NDArray[Any], two: NDArray[Any]) -> Fraction:
        return excess(one, two, factor)

    def integers(rows: NDArray[Any], unit: int) -> tuple[NDArray[Any], Table, int] | None:
        if unit * factor.numerator >= _EXACT_IN_INTEGERS // rows.shape[1]:
            return None

        def whole_table(upper: NDArray[Any], lower: NDArray[Any]) -> NDArray[Any]:
            scaled = factor.numerator * lower
            return np.array([np.maximum(factor.denominator * row - scaled, 0).sum(axis=1) for row in upper])

        return rows.astype(np.int64), whole_table, unit * factor.denominator

    return _Measure(table, exact, integers, Fraction(1), 8 * UNIT, True, "all ordered pairs of rows")


def _largest(channel: Channel, measure: _Measure) -> Coefficient:
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


def _variation_integers(rows: NDArray[Any], unit: int) -> tuple[NDArray[Any], Table, int] | None:
    """Whole numbers that floats hold exactly, and so do sums of their differences."""
    return (rows.astype(np.float64), city_block, 2 * unit) if unit <= EXACT_IN_FLOATS else None


def _names(channel: Channel, pair: tuple[int, int]) -> tuple[Any, Any]:
    return channel.inputs[pair[0]], channel.inputs[pair[1]]
