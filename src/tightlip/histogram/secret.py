"""Secrets of a table: the share of a category, a share within a group, or the difference of two such shares.

    Share({"income": ">50K"})                                     count of the category over the number of rows
    Ratio({"income": ">50K"}, {"race": "White"})                  share of the part within the whole
    RatioDifference({"income": ">50K"}, {"race": "White"}, {"race": Except("White")}, resolution="1/20")

A category is the set of cells (attribute combinations) whose columns have the named values. A share of an empty group
counts as 0, so that every histogram has a value. Values are exact rationals; with a resolution the secret is the value
rounded down to a multiple of it. A share of 1 is a multiple of 1/20, so it is a value of its own beside 19/20.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.histogram.scale import Scale, exact_scale, grid_scale, share_scale
from tightlip.histogram.source import as_text
from tightlip.numeric.parse import number

if TYPE_CHECKING:
    from tightlip.histogram.table import Domain

Where = Mapping[str, object]


@dataclass(frozen=True, slots=True, init=False)
class Except:
    """Every value of a column but these.

    >>> Except("White", "Black").values == {"White", "Black"}
    True
    """

    values: frozenset[str]

    def __init__(self, *values: object) -> None:
        object.__setattr__(self, "values", frozenset(as_text(value, "values") for value in values))


@dataclass(frozen=True, slots=True)
class Condition:
    """What one column must be: one of the values, or none of them."""

    column: str
    values: frozenset[str]
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.column}{'!=' if self.negated else '='}{'|'.join(sorted(self.values))}"


@dataclass(frozen=True, slots=True, init=False)
class Category:
    """Rows whose columns meet every condition; no condition means every row.

    Parameters
    ----------
    where : mapping from column to a value, several values, or Except(values)

    Raises
    ------
    WrongType
        When it is not such a mapping.

    >>> str(Category({"income": ">50K", "race": Except("White")}))
    'income=>50K and race!=White'
    """

    conditions: tuple[Condition, ...]

    def __init__(self, where: Where, argument: str = "a category") -> None:
        if not isinstance(where, Mapping):
            raise WrongType(
                f'{argument} must be a mapping like {{"income": ">50K"}}, got {quoted(where)} '
                f"of type {type(where).__name__}."
            )
        object.__setattr__(self, "conditions", tuple(_condition(*item, argument) for item in where.items()))

    def cells(self, domain: Domain) -> NDArray[np.bool_]:
        """Which cells of the domain belong to the category.

        Raises
        ------
        InvalidInput
            When a column or a value is not in the domain.
        """
        inside = np.ones(domain.size, dtype=bool)
        for condition in self.conditions:
            place = domain.place_of_column(condition.column)
            known = domain.values[place]
            for value in sorted(condition.values - set(known)):
                raise InvalidInput(
                    f"column {quoted(condition.column)} must have the value {quoted(value)} of the secret, got "
                    f"{len(known)} others; check the spelling or add it to the feasible values."
                )
            wanted = np.array([(value in condition.values) != condition.negated for value in known])
            inside &= wanted[domain.codes[:, place]]
        return inside

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions)) or "any row"


@dataclass(frozen=True, slots=True, init=False)
class Share:
    """The share of a category among all rows; its values are 0, 1/τ, …, 1.

    >>> str(Share({"income": ">50K"}))
    'share of income=>50K'
    """

    category: Category

    def __init__(self, category: Where) -> None:
        object.__setattr__(self, "category", Category(category, "category"))

    def on(self, domain: Domain, total: int) -> GroupedSecret:
        """The secret in terms of counts of groups of cells."""
        groups, sizes = _groups(domain, self.category, [Category({})])
        return GroupedSecret(groups, sizes, total, scale_of(sizes, total, None))

    def __str__(self) -> str:
        return f"share of {self.category}"


@dataclass(frozen=True, slots=True, init=False)
class Ratio:
    """The share of a part within a whole, such as high incomes among one group.

    Parameters
    ----------
    part, whole : mappings as for Category; the part counts inside the whole only
    resolution : the secret is the ratio rounded down to a multiple of this; None is the ratio itself, which has about
        0.3 τ² values and is for tables of up to 300 rows

    >>> str(Ratio({"income": ">50K"}, {"race": "White"}, resolution="1/20"))
    'share of income=>50K within race=White, in steps of 1/20'
    """

    part: Category
    whole: Category
    resolution: Fraction | None

    def __init__(self, part: Where, whole: Where, *, resolution: object = None) -> None:
        object.__setattr__(self, "part", Category(part, "part"))
        object.__setattr__(self, "whole", Category(whole, "whole"))
        object.__setattr__(self, "resolution", _resolution(resolution))

    def on(self, domain: Domain, total: int) -> GroupedSecret:
        """The secret in terms of counts of groups of cells."""
        groups, sizes = _groups(domain, self.part, [self.whole])
        if not sizes[-1]:
            raise InvalidInput(f"whole must leave out some cells, got {quoted(str(self.whole))}; use Share.")
        return GroupedSecret(groups, sizes, total, scale_of(sizes, total, self.resolution))

    def __str__(self) -> str:
        return f"share of {self.part} within {self.whole}{_steps(self.resolution)}"


@dataclass(frozen=True, slots=True, init=False)
class RatioDifference:
    """The share of a part within a first group minus its share within a second, disjoint one.

    Parameters
    ----------
    part, first, second : mappings as for Category
    resolution : as for Ratio; None is for tables of up to 40 rows

    >>> str(RatioDifference({"income": ">50K"}, {"race": "White"}, {"race": Except("White")}))
    'share of income=>50K within race=White minus within race!=White'
    """

    part: Category
    first: Category
    second: Category
    resolution: Fraction | None

    def __init__(self, part: Where, first: Where, second: Where, *, resolution: object = None) -> None:
        for name, where in (("part", part), ("first", first), ("second", second)):
            object.__setattr__(self, name, Category(where, name))
        object.__setattr__(self, "resolution", _resolution(resolution))

    def on(self, domain: Domain, total: int) -> GroupedSecret:
        """The secret in terms of counts of groups of cells."""
        groups, sizes = _groups(domain, self.part, [self.first, self.second])
        return GroupedSecret(groups, sizes, total, scale_of(sizes, total, self.resolution))

    def __str__(self) -> str:
        return f"share of {self.part} within {self.first} minus within {self.second}{_steps(self.resolution)}"


TableSecret = Share | Ratio | RatioDifference


@dataclass(frozen=True, slots=True, eq=False)
class GroupedSecret:
    """A secret reduced to what it depends on: how many rows each group of cells has.

    The groups are part and remainder of each whole, and at last the cells outside every whole; `sizes` has the
    number of cells of each, `scale` the ordered values.
    """

    group_of_cell: NDArray[np.int8]
    sizes: tuple[int, ...]
    total: int
    scale: Scale

    @property
    def size(self) -> int:
        """The number s of different values."""
        return self.scale.size

    def group_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows in each group."""
        return np.array(
            [counts[self.group_of_cell == group].sum() for group in range(len(self.sizes))], dtype=np.int64
        )

    def value(self, counts: NDArray[np.int64]) -> Fraction:
        """The exact value of a histogram, before any rounding to the resolution."""
        rows = self.group_counts(counts).tolist()
        shares = [
            Fraction(rows[at], rows[at] + rows[at + 1]) if rows[at] + rows[at + 1] else Fraction(0)
            for at in range(0, len(rows) - 1, 2)
        ]
        return shares[0] - sum(shares[1:], Fraction(0))

    def index(self, counts: NDArray[np.int64]) -> int:
        """The place of a histogram's value among the ordered values, from 0."""
        return int(self.index_each(self.group_counts(counts)[None, :])[0])

    def index_each(self, group_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same for many histograms given by the counts of their groups, one per row."""
        return self.scale.index(*_ratio_of(group_counts))


def _ratio_of(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numerators and positive denominators of the values, as 64-bit integers."""
    top, bottom = _share_of(rows, 0)
    if rows.shape[1] == 5:
        other, below = _share_of(rows, 2)
        return top * below - other * bottom, bottom * below
    return top, bottom


def _share_of(rows: NDArray[np.int64], at: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return rows[:, at], np.maximum(rows[:, at] + rows[:, at + 1], 1)


def scale_of(sizes: tuple[int, ...], total: int, resolution: Fraction | None) -> Scale:
    """The values of a secret whose groups have these numbers of cells; a share where nothing is outside one whole."""
    if len(sizes) == 3 and not sizes[-1]:
        return share_scale(total)
    return exact_scale(sizes, total) if resolution is None else grid_scale(sizes, total, resolution)


def _groups(
    domain: Domain, part: Category, wholes: list[Category]
) -> tuple[NDArray[np.int8], tuple[int, ...]]:
    """The group of each cell and the size of each group."""
    inside = part.cells(domain)
    groups = np.full(domain.size, 2 * len(wholes), dtype=np.int8)
    for place, whole in enumerate(wholes):
        members = whole.cells(domain)
        if (groups[members] < 2 * place).any():
            raise InvalidInput(f"first and second must be disjoint, got {wholes[0]} and {whole}.")
        groups[members] = np.where(inside[members], 2 * place, 2 * place + 1)
        for side, name in ((2 * place, "no cell"), (2 * place + 1, "every cell")):
            if not (groups[members] == side).any():
                raise InvalidInput(
                    f"the secret must be able to vary, got {name} of {whole} in {part}; choose another category."
                )
    sizes = np.bincount(groups, minlength=2 * len(wholes) + 1)
    return groups, tuple(int(size) for size in sizes)


def _condition(column: object, wanted: object, argument: str) -> Condition:
    if not isinstance(column, str):
        raise WrongType(f"{argument} must name its columns by text, got {quoted(column)}.")
    if isinstance(wanted, Except):
        return Condition(column, wanted.values, negated=True)
    if isinstance(wanted, Iterable) and not isinstance(wanted, (str, bytes)):
        return Condition(
            column, frozenset(as_text(value, f"{argument}[{quoted(column)}]") for value in wanted)
        )
    return Condition(column, frozenset([as_text(wanted, f"{argument}[{quoted(column)}]")]))


def _resolution(given: object) -> Fraction | None:
    if given is None:
        return None
    step = Fraction(number(given, "resolution"))
    if not 0 < step <= 1:
        raise InvalidInput(f"resolution must be in (0, 1], got {quoted(given)}; 1/20 is 5 percentage points.")
    return step


def _steps(resolution: Fraction | None) -> str:
    return "" if resolution is None else f", in steps of {resolution}"
