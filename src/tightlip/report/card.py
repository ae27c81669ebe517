"""What a notebook is shown of a result, by the result's type: a record, a card of HTML, a data frame, a picture.

The functions here know no result; `tightlip.report.notebook` and `tightlip.report.proved` register theirs. HTML holds
no script and no style that reaches beyond it, and every text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from typing import Any, NamedTuple

from tightlip.errors import InvalidInput
from tightlip.model.labels import Label
from tightlip.report.amounts import Unit, printable

MOST_ROWS = 10  # of a table in a notebook; `to_pandas` has all


@dataclass(frozen=True, slots=True)
class Card:
    """A few lines and a table."""

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()

    def html(self) -> str:
        """The card as HTML that can do no harm."""
        text = [f"<strong>{_safe(self.title)}</strong>", *(f"<br>{_safe(line)}" for line in self.lines)]
        return f"<div>{''.join(text)}{self._table()}</div>"

    def _table(self) -> str:
        if not self.rows:
            return ""
        head = "".join(f"<th>{_safe(name)}</th>" for name in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>" for row in self.rows[:MOST_ROWS]
        )
        more = len(self.rows) - MOST_ROWS
        rest = f"<div>{more} more</div>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


class Grid(NamedTuple):
    """Entries with a label for each row and each column."""

    entries: Any
    rows: Iterable[Label]
    columns: Iterable[Label]


def _safe(text: str) -> str:
    return escape(printable(text))


@singledispatch
def record_of(result: Any, unit: Unit) -> dict[str, Any]:
    """Write a result as JSON takes it."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def card_of(result: Any) -> Card:
    """Summarise a result in a few lines and a table."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def columns_of(result: Any) -> dict[str, list[Any]] | Grid:
    """Write a result as the columns of a table, or as a grid."""
    raise NotImplementedError(type(result).__name__)


@singledispatch
def chart_of(result: Any, unit: Unit) -> Any:
    """Draw a result."""
    raise NotImplementedError(type(result).__name__)


def html_of(result: Any) -> str:
    """Write a result as HTML, as a notebook shows it."""
    return card_of(result).html()


def frame_of(result: Any) -> Any:
    """Make a pandas data frame of a result."""
    try:
        import pandas as pd
    except ImportError as error:
        raise InvalidInput("a data frame needs pandas; run pip install pandas.") from error
    columns = columns_of(result)
    if not isinstance(columns, Grid):
        return pd.DataFrame(columns)
    sides = (pd.Index(list(side), tupleize_cols=False) for side in (columns.rows, columns.columns))
    return pd.DataFrame(columns.entries, *sides)


def label_json(label: Label) -> Any:
    """Write a label as JSON takes it."""
    return [label_json(part) for part in label] if isinstance(label, tuple) else label
