"""What is to be found out: hypotheses about the distribution of the secret, and what a wrong answer costs.

What a wrong answer costs is reduced to two numbers for each pair of hypotheses. For a loss L(θ, a) ≥ 0 of answering a
when θ is true

    gap       Δ_ij = inf_a [L(θ_i, a) + L(θ_j, a)]        what no answer can avoid in sum   (Le Cam, Assouad)
    test gap  s_ij = inf_a max(L(θ_i, a), L(θ_j, a))      what no answer can avoid twice    (Fano)

Always s_ij ≤ Δ_ij ≤ 2 s_ij. Parameters are points of ℝ^d, answers any point:

    absolute   Σ_k |θ_k − a_k|         Δ = ‖θ_i − θ_j‖₁         s = Δ/2      (midpoint, triangle inequality)
    squared    Σ_k (θ_k − a_k)²        Δ = ‖θ_i − θ_j‖₂²/2      s = Δ/2      (midpoint, parallelogram law)
    hamming    Σ_k 1{θ_k ≠ a_k}        Δ = #{k: they differ}    s = ⌈Δ/2⌉
    zero-one   1{θ ≠ a}                Δ = 1                    s = 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, Literal, get_args

import numpy as np

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.model.labels import (
    Label,
    Labels,
    column_labels,
    labelled_matrix,
    match,
    places_of,
    row_labels,
    split_labels,
)
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import number, require_unmasked

LossName = Literal["absolute", "squared", "zero-one", "hamming"]
LOSS_NAMES: tuple[str, ...] = get_args(LossName)
Point = tuple[Fraction, ...]
Gaps = tuple[tuple[Fraction, ...], ...]
_MOST = 256


def named_gap(loss: str, one: Point, two: Point) -> Fraction:
    """Compute the gap Δ of two parameters.

    >>> named_gap("squared", (Fraction(0),), (Fraction(1),))
    Fraction(1, 2)
    """
    return _GAPS[loss](one, two)


def named_test_gap(loss: str, one: Point, two: Point) -> Fraction:
    """Compute the test gap s of two parameters.

    >>> named_test_gap("hamming", (Fraction(0),) * 3, (Fraction(1),) * 3)
    Fraction(2, 1)
    """
    gap = _GAPS[loss](one, two)
    if loss == "zero-one":
        return gap
    return Fraction(-(-gap // 2)) if loss == "hamming" else gap / 2


def row_gap(one: tuple[Fraction, ...], two: tuple[Fraction, ...]) -> Fraction:
    """Compute the gap Δ of two rows of a table of losses, one column per answer."""
    return min(a + b for a, b in zip(one, two, strict=True))


def row_test_gap(one: tuple[Fraction, ...], two: tuple[Fraction, ...]) -> Fraction:
    """Compute the test gap s of two rows of a table of losses."""
    return min(max(a, b) for a, b in zip(one, two, strict=True))


_GAPS: dict[str, Callable[[Point, Point], Fraction]] = {
    "absolute": lambda one, two: sum((abs(a - b) for a, b in zip(one, two, strict=True)), Fraction(0)),
    "squared": lambda one, two: sum(((a - b) ** 2 for a, b in zip(one, two, strict=True)), Fraction(0)) / 2,
    "hamming": lambda one, two: Fraction(sum(a != b for a, b in zip(one, two, strict=True))),
    "zero-one": lambda one, two: Fraction(one != two),
}


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
        See the top of `tightlip.planning.study`. A table has a row for each hypothesis and a column for each answer.
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
        aligned = _align_hypotheses(hypotheses)
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
        """List all pairs of hypotheses."""
        return combinations(range(len(self.hypotheses)), 2)

    def average(self) -> Prior:
        """Compute the mixture of all hypotheses in equal parts, exact."""
        total = sum(hypothesis.masses for hypothesis in self.hypotheses)
        return Prior(np.asarray(total / Fraction(len(self.hypotheses))), self.hypotheses[0].labels)

    def cube(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """List, where the parameters are the 2^d corners of a box, for each side the pairs that differ in it alone.

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


def _align_hypotheses(hypotheses: Iterable[Prior]) -> tuple[Prior, ...]:
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
    values, own = split_labels(parameters, "parameters")
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
    table = labelled_matrix(values, names, argument, "hypotheses")
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
