"""Tables as counts over attribute combinations, and back.

A cell is one combination of values of the chosen columns. Which cells are feasible should be public knowledge, such
as a code book: a guarantee is about tables on those cells. When they are read off the table itself, the release also
tells which values (or even which combinations) occur in it, and the guarantee says nothing about that; `Domain.note`
then says so in words.

All values are text (see `source`). A missing value must be written as a value of its own, such as "?".
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
from tightlip.histogram.source import Cells, as_text, read_cells
from tightlip.numeric.randomness import Integers
from tightlip.showing import Shown, Tabled

_MOST_CELLS = 10**8
_LARGEST_KEY = 1 << 62
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SEEDED, _UNPROTECTED = "seed_for_tests", "not protected"  # a column that no reader of the file can miss
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
class CellTable(Shown, Tabled):
    """A table as counts over the cells of a domain.

    `seeded`: it was drawn with a seed for tests and protects nobody; a file of it has a column more that says so.

    >>> table = tabulate([{"sex": "F", "ill": "yes"}, {"sex": "M", "ill": "no"}], ["sex", "ill"])
    >>> table.domain.size, table.counts.tolist(), list(table.rows())
    (4, [0, 1, 1, 0], [('F', 'yes'), ('M', 'no')])
    """

    domain: Domain
    counts: Integers
    seeded: bool = False

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

    def columns(self) -> dict[str, list[str]]:
        """The rows by column; those drawn with a seed have a column more that says so."""
        rows = list(self.rows())
        found = {name: [row[place] for row in rows] for place, name in enumerate(self.domain.columns)}
        return found | ({self._mark_name(): [_UNPROTECTED] * len(rows)} if self.seeded else {})

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
        mark = (self._mark_name(),) if self.seeded else ()
        writer.writerow(safe((*self.domain.columns, *mark)))
        mark = (_UNPROTECTED,) if self.seeded else ()
        writer.writerows(safe((*row, *mark)) for row in self.rows())
        return target.getvalue()

    def _mark_name(self) -> str:
        name = _SEEDED
        while name in self.domain.columns:
            name += "_"
        return name

    def has_formulas(self) -> bool:
        """Whether a spreadsheet would run a name or a value as a formula."""
        return any(text.startswith(_FORMULA) for text in self.domain.texts())


def tabulate(table: Any, columns: Sequence[str] | None = None, *, feasible: Any = None) -> CellTable:
    """Count the rows of a table in each cell.

    Parameters
    ----------
    table : what `open_table` takes, mapping from column to values, or list of records
        A CSV, Parquet, DuckDB, SQLite, Excel, SPSS, Stata or SAS file, a Postgres URL, a pandas, polars or Arrow frame,
        an Ibis table, or an opened `Table`. The engine counts; the same is refused as in an audit, missing values too.
    columns : names of the columns to keep; all when left out
    feasible : which cells there are
        None: every combination of the values that occur in each column; "observed": only the combinations that occur;
        a mapping from column to its feasible values: every combination of those; or a list of feasible rows.

    Raises
    ------
    InvalidInput, WrongType, ShapeMismatch
        When the table cannot be read or is empty, a column or a value is missing, or a row is not feasible.
    """
    if isinstance(feasible, str) and feasible != "observed":
        raise InvalidInput(
            f'feasible must be "observed", a mapping or a list of rows, got {quoted(feasible)}.'
        )
    with read_cells(table, columns) as cells:
        if feasible is None or isinstance(feasible, Mapping):
            return _counted_in_product(cells, feasible)
        return _counted_in_list(cells, None if isinstance(feasible, str) else feasible)


def _counted_in_product(found: Cells, feasible: Mapping[str, Iterable[object]] | None) -> CellTable:
    names = tuple(found.columns)
    values = tuple(
        tuple(sorted(set(column)) if feasible is None else _feasible_values(feasible, name))
        for name, column in found.columns.items()
    )
    shape = tuple(map(len, values))
    cells = math.prod(shape)
    if cells > _MOST_CELLS:
        raise InvalidInput(
            f"columns must have at most {_MOST_CELLS} combinations of values, got {cells}; "
            'choose fewer columns, coarser values, or feasible="observed".'
        )
    codes = _found_codes(found, values)
    counts = _added(np.ravel_multi_index(list(codes.T), shape), found.counts, cells)
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


def _codes(columns: Iterable[Sequence[str]], values: Sequence[Sequence[str]]) -> Integers:
    """The place of each value among those of its column; −1 where it is none of them."""
    coded = []
    for column, known in zip(columns, values, strict=True):
        place = {value: at for at, value in enumerate(known)}
        coded.append(np.fromiter(map(place.get, column, repeat(-1)), dtype=np.int64, count=len(column)))
    return np.stack(coded, axis=1)


def _found_codes(found: Cells, values: Sequence[Sequence[str]]) -> Integers:
    """The same of a table's values, which must be feasible."""
    codes = _codes(found.columns.values(), values)
    wrong = np.argwhere(codes < 0)
    if len(wrong):
        place, column = wrong[0].tolist()
        raise InvalidInput(
            f"{_row(found, place)}, column {quoted([*found.columns][column])} must be a feasible value, got another; "
            "look there, and add it to the feasible values."
        )
    return codes


def _row(found: Cells, place: int) -> str:
    row = found.row_of(place)
    return "table: some row" if row is None else f"table row {row}"


def _added(places: Integers, counts: Integers, size: int) -> Integers:
    """The counts of each place, added up as whole numbers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, places, counts)
    return total


def _counted_in_list(found: Cells, feasible: Iterable[Sequence[object]] | None) -> CellTable:
    names = tuple(found.columns)
    listed = [*found.columns.values()] if feasible is None else _feasible_columns(feasible, len(names))
    values = tuple(tuple(sorted(set(column))) for column in listed)
    in_list = _codes(listed, values)
    in_table = in_list if feasible is None else _found_codes(found, values)
    keys = _joint_keys(np.concatenate([in_list, in_table]), [len(known) for known in values])
    cells, first = np.unique(keys[: len(in_list)], return_index=True)
    place = np.searchsorted(cells, keys[len(in_list) :])
    wrong = np.flatnonzero(cells[np.minimum(place, len(cells) - 1)] != keys[len(in_list) :])
    if len(wrong):
        raise InvalidInput(
            f"{_row(found, int(wrong[0]))} must be a feasible combination, got another; "
            "look there, and add it to the feasible rows."
        )
    domain = Domain(names, values, in_list[first].astype(np.int32), _CELLS_SEEN if feasible is None else None)
    return CellTable(domain, _added(place, found.counts, len(cells)))


def extended(table: CellTable, rows: Sequence[Sequence[object]]) -> tuple[CellTable, Integers]:
    """The table with further cells after its own, which have no rows yet, and the places of the given ones."""
    domain = table.domain
    texts = [[as_text(value, f"support row {at}") for value in row] for at, row in enumerate(rows)]
    columns = [list(column) for column in zip(*texts, strict=True)]
    values = tuple(
        (*known, *sorted(set(column) - set(known)))
        for known, column in zip(domain.values, columns, strict=True)
    )
    codes = np.concatenate([domain.codes.astype(np.int64), _codes(columns, values)])
    _, first, place = np.unique(
        _joint_keys(codes, [len(known) for known in values]), return_index=True, return_inverse=True
    )
    order = np.argsort(first)  # cells of the table come first, in their order
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    counts = np.concatenate([table.counts, np.zeros(len(order) - domain.size, dtype=np.int64)])
    widened = Domain(domain.columns, values, codes[first[order]].astype(np.int32), domain.note)
    return CellTable(widened, counts, table.seeded), rank[place[domain.size :]]


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
