"""What is to be found out: hypotheses about the distribution of the secret, and what a wrong answer costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.model.labelled import column_labels, matrix, places_of, row_labels, split
from tightlip.model.labels import Label, Labels, match
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import number, require_unmasked
from tightlip.planning.loss import (
    LOSS_NAMES,
    Gaps,
    Point,
    named_gap,
    named_test_gap,
    row_gap,
    row_test_gap,
)

_MOST = 256


@dataclass(frozen=True, slots=True, init=False)
class Study:
    """Two or more distributions of the secret to be told apart, and a loss.

    Parameters
    ----------
    hypotheses : sequence of Prior
        Distributions on the same secrets; floats are read as the rationals they store.
    parameters : sequence, optional
        The value of the parameter under each hypothesis: a number, or a point as a list of numbers. 0, 1, 2, …
        by default, which only the zero-one loss and tables of losses can use.
    loss : "absolute", "squared", "hamming", "zero-one" or a table
        See `tightlip.planning.loss`. A table has a row for each hypothesis and a column for each answer.
    separation : table, instead of `loss`
        The gaps Δ_ij themselves, symmetric with a zero diagonal, for answers that are not finitely many.
    names : labels of the hypotheses, optional
        By these, dicts and pandas Series of parameters and data frames of losses and gaps are read.

    Attributes
    ----------
    gaps : Δ_ij = inf_a [L(θ_i, a) + L(θ_j, a)]
    test_gaps : s_ij = inf_a max(L(θ_i, a), L(θ_j, a)); Δ_ij/2, which is never more, where only Δ is known

    Raises
    ------
    InvalidInput
        If there are fewer than 2 or more than 256 hypotheses, or a loss is negative or does not fit.

    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], parameters=["1/2", "1/4"], loss="absolute")
    >>> study.gaps[0][1], study.test_gaps[0][1]
    (Fraction(1, 4), Fraction(1, 8))
    """

    hypotheses: tuple[Prior, ...]
    names: Labels
    parameters: tuple[Point, ...]
    loss: str
    gaps: Gaps
    test_gaps: Gaps

    def __init__(
        self,
        hypotheses: Iterable[Prior],
        *,
        parameters: Sequence[Any] | None = None,
        loss: Any = None,
        separation: Any = None,
        names: Iterable[Label] | None = None,
    ) -> None:
        aligned = _aligned(hypotheses)
        size = len(aligned)
        named = Labels.of(names, size, "names")
        points = _points(parameters, named)
        if (loss is None) == (separation is None):
            raise InvalidInput(
                'give loss or separation, and not both; loss="zero-one" counts every mistake as 1.'
            )
        kind, gaps, test_gaps = (
            _from_separation(separation, named)
            if loss is None
            else _from_loss(loss, points, named, with_parameters=parameters is not None)
        )
        fields = {
            "hypotheses": aligned,
            "names": named,
            "parameters": points,
            "loss": kind,
            "gaps": gaps,
            "test_gaps": test_gaps,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @property
    def secrets(self) -> int:
        """The number of values of the secret."""
        return len(self.hypotheses[0])

    def pairs(self) -> Iterable[tuple[int, int]]:
        """All pairs of hypotheses."""
        return combinations(range(len(self.hypotheses)), 2)

    def average(self) -> Prior:
        """The mixture of all hypotheses in equal parts, exact."""
        total = sum(hypothesis.masses for hypothesis in self.hypotheses)
        return Prior(np.asarray(total / Fraction(len(self.hypotheses))), self.hypotheses[0].labels)

    def cube(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Where the parameters are the 2^d corners of a box: for each side, the pairs that differ in it alone.

        Empty where they are not, where d < 2, or where the loss is not a sum over coordinates.
        """
        if self.loss not in ("absolute", "squared", "hamming"):
            return ()
        sides = [sorted(set(values)) for values in zip(*self.parameters, strict=True)]
        corners = {point: place for place, point in enumerate(self.parameters)}
        if len(sides) < 2 or any(len(side) != 2 for side in sides) or len(corners) != 2 ** len(sides):
            return ()
        return tuple(_edges(corners, sides, axis) for axis in range(len(sides)))


def _edges(corners: dict[Point, int], sides: list[list[Fraction]], axis: int) -> tuple[tuple[int, int], ...]:
    low, high = sides[axis]
    others = product(*sides[:axis], [low], *sides[axis + 1 :])
    return tuple((corners[point], corners[(*point[:axis], high, *point[axis + 1 :])]) for point in others)


def _aligned(hypotheses: Iterable[Prior]) -> tuple[Prior, ...]:
    given = [
        as_prior(hypothesis, f"hypotheses entry {place}")
        for place, hypothesis in enumerate(listed(hypotheses, "hypotheses", "Priors"))
    ]
    if not 2 <= len(given) <= _MOST:
        raise InvalidInput(
            f"hypotheses must be 2 to {_MOST}, got {len(given)}; keep those that are hard to tell apart."
        )
    first = given[0].exact()
    if len(first) < 2:
        raise InvalidInput(
            "hypotheses must be about at least 2 secrets, got 1; there is nothing to find out."
        )
    return (first, *(_like(first, other, place) for place, other in enumerate(given[1:], start=1)))


def _like(first: Prior, other: Prior, place: int) -> Prior:
    what = f"labels of hypotheses entry {place}"
    order = match(first.labels, other.labels, what, "those of entry 0")
    masses = other.exact().masses
    return Prior(masses if order is None else masses[order], first.labels)


def _points(parameters: Any, names: Labels) -> tuple[Point, ...]:
    if parameters is None:
        return tuple((Fraction(place),) for place in range(len(names)))
    require_unmasked(parameters, "parameters")
    values, own = split(parameters, "parameters")
    given = listed(values, "parameters", "numbers or points, one for each hypothesis")
    if own is not None:
        given = [given[place] for place in places_of(names, own, "parameters", "hypotheses")]
    if len(given) != len(names):
        raise ShapeMismatch(
            f"parameters must be one for each of {len(names)} hypotheses, got {len(given)}; add or drop some."
        )
    points = tuple(_point(value, f"parameters entry {place}") for place, value in enumerate(given))
    if len({len(point) for point in points}) != 1:
        raise ShapeMismatch(
            f"parameters must be points of one dimension, got {sorted({len(p) for p in points})}; fill the gaps."
        )
    return points


def _point(value: Any, argument: str) -> Point:
    parts = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    if not parts:
        raise InvalidInput(f"{argument} must not be empty, got []; give a number or a list of numbers.")
    return tuple(Fraction(number(part, argument)) for part in parts)


def _from_loss(
    loss: Any, points: tuple[Point, ...], names: Labels, *, with_parameters: bool
) -> tuple[str, Gaps, Gaps]:
    if not isinstance(loss, str):
        rows = _table(loss, "loss", names)
        return "table", _square(rows, row_gap), _square(rows, row_test_gap)
    if loss not in LOSS_NAMES:
        raise InvalidInput(f"loss must be a table or one of {', '.join(LOSS_NAMES)}, got {quoted(loss)}.")
    if loss == "zero-one":  # a mistake is a wrong hypothesis, also where two have the same parameter
        ones = _square([(Fraction(place),) for place in range(len(names))], lambda a, b: Fraction(a != b))
        return loss, ones, ones
    if not with_parameters:
        raise InvalidInput(f'parameters must be given for the {loss} loss, got none; or use loss="zero-one".')
    return (
        loss,
        _square(points, lambda one, two: named_gap(loss, one, two)),
        _square(points, lambda one, two: named_test_gap(loss, one, two)),
    )


def _from_separation(separation: Any, names: Labels) -> tuple[str, Gaps, Gaps]:
    rows, size, own = _table(separation, "separation", names), len(names), column_labels(separation)
    if own is not None and row_labels(separation) is not None:
        order = places_of(names, own, "separation", "hypotheses")
        rows = [tuple(row[place] for place in order) for row in rows]
    for one, two in product(range(size), repeat=2):
        if len(rows[one]) != size or rows[one][two] != rows[two][one] or rows[one][one]:
            raise InvalidInput(
                f"separation must be symmetric with a zero diagonal and {size} columns, "
                f"got a difference at row {one}, column {two}; it holds Δ of each pair."
            )
    return "separation", tuple(rows), tuple(tuple(gap / 2 for gap in row) for row in rows)


def _table(values: Any, argument: str, names: Labels) -> list[Point]:
    table = matrix(values, names, argument, "hypotheses")
    rows = [tuple(Fraction(entry) for entry in row) for row in table.tolist()]
    for place, row in enumerate(rows):
        if min(row) < 0:
            raise InvalidInput(
                f"{argument} row {place} must not be negative, got {format_about(min(row))}; "
                "add a constant to all losses."
            )
    return rows


def _square(items: Sequence[Point], gap: Callable[[Point, Point], Fraction]) -> Gaps:
    places = range(len(items))
    return tuple(tuple(Fraction(0) if i == j else gap(items[i], items[j]) for j in places) for i in places)
