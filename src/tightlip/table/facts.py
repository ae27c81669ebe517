"""Tell what is in the columns of a table before anything is planned: kinds, how many values, and which, if asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tightlip.arguments import whole
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_values
from tightlip.table.failure import engine_work
from tightlip.table.kinds import MISSING
from tightlip.table.source import Table

_AT_ONCE = 8  # columns of a text file in memory together: more would read it less often


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a column holds.

    Attributes
    ----------
    column : its name
    kind : text, integer, real, boolean or date; the engine's type where it is none of these
    distinct : how many values there are, missing ones aside; None where the column cannot be read
    refused : why it cannot be read
    """

    column: str
    kind: str
    distinct: int | None = None
    refused: str | None = None


def column_facts(table: Table) -> Iterator[ColumnFacts]:
    """List the columns with their kinds and numbers of values, as they are found.

    >>> import pyarrow
    >>> from tightlip.table.source import open_table
    >>> [(one.column, one.kind, one.distinct) for one in column_facts(open_table(pyarrow.table({"age": [30, 30, 41]})))]
    [('age', 'integer', 2)]
    """
    known = [*table.physical]
    for start in range(0, len(known), _AT_ONCE):
        names = known[start : start + _AT_ONCE]
        kinds = table.kinds(names)
        for name in names:
            try:
                yield ColumnFacts(name, kinds[name], _count_distinct(table, name))
            except InvalidInput as error:
                yield ColumnFacts(name, kinds[name], refused=str(error))
    for name, kind in table.refused.items():
        yield ColumnFacts(name, kind, refused=f"values of type {kind} are not read.")


def _count_distinct(table: Table, name: str) -> int:
    ((column, _),) = table.plain_columns([name])
    with engine_work(table.name):
        rows = table.select({"value": column})
        return int(table.fetch(rows.aggregate(n=rows["value"].nunique()))["n"][0].as_py())


def common_values(table: Table, column: str, most: int = 50) -> list[tuple[str, int]]:
    """List the values of a column that most rows have, with the number of rows; they may be secret.

    >>> import pyarrow
    >>> from tightlip.table.source import open_table
    >>> common_values(open_table(pyarrow.table({"ill": ["no", "yes", "no"]})), "ill")
    [('no', 2), ('yes', 1)]
    """
    whole(most, "most", 1)
    found = count_values(table, [column])
    order = np.argsort(-found.count, kind="stable")[:most]
    labels, codes = found.labels[0], found.codes[0]
    named = [(labels[codes[place]], int(found.count[place])) for place in order]
    return [(MISSING if label is None else label, count) for label, count in named]
