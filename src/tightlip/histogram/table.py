"""Tables as counts over attribute combinations, and back.

A cell is one combination of values of the chosen columns. Which cells are feasible should be public knowledge, such
as a code book: a guarantee is about tables on those cells. When they are read off the table itself, the release also
tells which values (or even which combinations) occur in it, and the guarantee says nothing about that; `Domain.note`
then says so in words.

All values are text. A missing value must be written as a value of its own, such as "?".
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.histogram.source import as_text, read_columns
from tightlip.numeric.randomness import Integers

_MOST_CELLS = 10**8
_LARGEST_KEY = 1 << 62
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_VALUES_SEEN = (
    "The values of each column were read from the table itself: the release also tells which values occur, and the "
    "guarantee does not cover that. Give the feasible values from a public code book to avoid it."
)
_CELLS_SEEN = (
    "The feasible combinations were read from the table itself: the release also tells which combinations can occur "
    "in it, and the guarantee does not cover that (a mis-specified support). Give them from public knowledge."
)


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The feasible cells: `codes[i, j]` is the place of cell i's value among `values[j]`, the values of column j."""

    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]
    note: str | None = None

    @property
    def size(self) -> int:
        """The number d of cells."""
        return len(self.codes)

    def place_of_column(self, column: str) -> int:
        """Where a column stands.

        Raises
        ------
        InvalidInput
            When there is no such column.
        """
        if column not in self.columns:
            raise InvalidInput(
                f"column {quoted(column)} must be one of the released columns {quoted(', '.join(self.columns))}; "
                "add it to the columns."
            )
        return self.columns.index(column)

    def texts(self) -> Iterator[str]:
        """Every name and value."""
        yield from self.columns
        for values in self.values:
            yield from values

    def cells(self, places: Integers) -> Iterator[tuple[str, ...]]:
        """The values of some cells."""
        columns = (
            map(values.__getitem__, self.codes[places, column].tolist())
            for column, values in enumerate(self.values)
        )
        return zip(*columns, strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class CellTable:
    """A table as counts over the cells of a domain.

    >>> table = tabulate([{"sex": "F", "ill": "yes"}, {"sex": "M", "ill": "no"}], ["sex", "ill"])
    >>> table.domain.size, table.counts.tolist(), list(table.rows())
    (4, [0, 1, 1, 0], [('F', 'yes'), ('M', 'no')])
    """

    domain: Domain
    counts: Integers

    @property
    def total(self) -> int:
        """The number τ of rows."""
        return int(self.counts.sum())

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The rows, grouped by cell, in the order of the cells."""
        occupied = np.flatnonzero(self.counts)
        cells = self.domain.cells(occupied)
        for cell, count in zip(cells, self.counts[occupied].tolist(), strict=True):
            yield from repeat(cell, count)

    def csv_text(self, *, spreadsheet_safe: bool = False) -> str:
        """The rows as CSV with a header line.

        Cells are written as they are, so that what is read back is what was released. With `spreadsheet_safe`
        those that a spreadsheet would run as a formula (=, +, -, @ at the start) get an apostrophe in front.
        """
        safe = _defused if spreadsheet_safe else tuple
        target = io.StringIO(newline="")
        returns = any("\r" in text for text in self.domain.texts())  # the writer would leave them unquoted
        writer = csv.writer(
            target, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        )
        writer.writerow(safe(self.domain.columns))
        writer.writerows(map(safe, self.rows()))
        return target.getvalue()

    def has_formulas(self) -> bool:
        """Whether a spreadsheet would run a name or a value as a formula."""
        return any(text.startswith(_FORMULA) for text in self.domain.texts())


def tabulate(table: Any, columns: Sequence[str] | None = None, *, feasible: Any = None) -> CellTable:
    """Count the rows of a table in each cell.

    Parameters
    ----------
    table : path of a CSV file with a header line, mapping from column to values, list of records, or data frame
    columns : names of the columns to keep; all when left out
    feasible : which cells there are
        None: every combination of the values that occur in each column; "observed": only the combinations that occur;
        a mapping from column to its feasible values: every combination of those; or a list of feasible rows.

    Raises
    ------
    InvalidInput, WrongType, ShapeMismatch
        When the table is empty, ragged or not UTF-8, a column is missing, or a row is not feasible.
    """
    data = read_columns(table, columns)
    names = tuple(data)
    kept = list(data.values())
    if not kept or not kept[0]:
        raise InvalidInput(
            "table must have at least one row and one column, got none; there is nothing to release."
        )
    if isinstance(feasible, str) and feasible != "observed":
        raise InvalidInput(
            f'feasible must be "observed", a mapping or a list of rows, got {quoted(feasible)}.'
        )
    if feasible is None or isinstance(feasible, Mapping):
        return _counted_in_product(names, kept, feasible)
    return _counted_in_list(names, kept, None if isinstance(feasible, str) else feasible)


def _counted_in_product(
    names: tuple[str, ...], kept: list[list[str]], feasible: Mapping[str, Iterable[object]] | None
) -> CellTable:
    values = tuple(
        tuple(sorted(set(column)) if feasible is None else _feasible_values(feasible, name))
        for name, column in zip(names, kept, strict=True)
    )
    shape = tuple(map(len, values))
    cells = math.prod(shape)
    if cells > _MOST_CELLS:
        raise InvalidInput(
            f"columns must have at most {_MOST_CELLS} combinations of values, got {cells}; "
            'choose fewer columns, coarser values, or feasible="observed".'
        )
    codes = _all_codes(kept, names, values)
    counts = np.bincount(np.ravel_multi_index(list(codes.T), shape), minlength=cells).astype(np.int64)
    grid = np.stack(np.unravel_index(np.arange(cells), shape), axis=1).astype(np.int32)
    return CellTable(Domain(names, values, grid, _VALUES_SEEN if feasible is None else None), counts)


def _feasible_values(feasible: Mapping[str, Iterable[object]], name: str) -> list[str]:
    given = feasible.get(name, ())
    values = (
        [] if isinstance(given, str) else list(dict.fromkeys(as_text(value, "feasible") for value in given))
    )
    if not values:
        raise InvalidInput(f"feasible must list the values of column {quoted(name)}, got {quoted(given)}.")
    return values


def _codes(column: Sequence[str], name: str, values: tuple[str, ...]) -> Integers:
    """The place of each value among the feasible ones."""
    place = {value: at for at, value in enumerate(values)}
    codes = np.fromiter(map(place.get, column, repeat(-1)), dtype=np.int64, count=len(column))
    if (codes < 0).any():
        row = int(codes.argmin())
        raise InvalidInput(
            f"table row {row + 1}, column {quoted(name)} must be a feasible value, got {quoted(column[row])}; "
            "add it to the feasible values."
        )
    return codes


def _counted_in_list(
    names: tuple[str, ...], kept: list[list[str]], feasible: Iterable[Sequence[object]] | None
) -> CellTable:
    listed = kept if feasible is None else _feasible_columns(feasible, len(names))
    values = tuple(tuple(sorted(set(column))) for column in listed)
    in_list = _all_codes(listed, names, values)
    in_table = in_list if feasible is None else _all_codes(kept, names, values)
    keys = _joint_keys(np.concatenate([in_list, in_table]), [len(known) for known in values])
    cells, first = np.unique(keys[: len(in_list)], return_index=True)
    found = np.searchsorted(cells, keys[len(in_list) :])
    wrong = np.flatnonzero(cells[np.minimum(found, len(cells) - 1)] != keys[len(in_list) :])
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            f"table row {row + 1} must be a feasible combination, got {quoted(tuple(c[row] for c in kept))}; "
            "add it to the feasible rows."
        )
    domain = Domain(names, values, in_list[first].astype(np.int32), _CELLS_SEEN if feasible is None else None)
    return CellTable(domain, np.bincount(found, minlength=len(cells)).astype(np.int64))


def _all_codes(
    columns: list[list[str]], names: tuple[str, ...], values: tuple[tuple[str, ...], ...]
) -> Integers:
    return np.stack([_codes(*given) for given in zip(columns, names, values, strict=True)], axis=1)


def _joint_keys(codes: Integers, sizes: list[int]) -> Integers:
    """One integer per row of codes, in the order of the rows; made dense again before it could overflow."""
    keys, largest = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in enumerate(sizes):
        if largest * size > _LARGEST_KEY:
            dense, keys = np.unique(keys, return_inverse=True)
            largest = len(dense)
        keys, largest = keys * size + codes[:, column], largest * size
    return keys


def _feasible_columns(feasible: Iterable[Sequence[object]], width: int) -> list[list[str]]:
    rows = [
        tuple(as_text(value, f"feasible row {at}") for value in listed(row, f"feasible row {at}", "values"))
        for at, row in enumerate(listed(feasible, "feasible", "rows"))
    ]
    for at, row in enumerate(rows):
        if len(row) != width:
            raise ShapeMismatch(
                f"feasible row {at} must have {width} values, one per column, got {len(row)}."
            )
    if not rows:
        raise InvalidInput("feasible must have at least one row, got none.")
    return [list(column) for column in zip(*rows, strict=True)]


def _defused(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells)
