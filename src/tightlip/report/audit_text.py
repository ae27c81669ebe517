"""An audit as text for the terminal: words first, then what is worst and what to change."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tightlip.errors import visible
from tightlip.numeric.display import grouped, several

_MOST_CELLS = 8
_STYLES = {True: "bold green", False: "bold red", None: "dim"}


def audit_text(record: dict[str, Any]) -> RenderableType:
    """The record of `audit_record` in words and tables."""
    record = printable(record)
    verdict = record["verdict"]
    parts: list[RenderableType] = [
        Text(record["headline"], style="bold"),
        Text(verdict["words"], style=_STYLES[verdict["met"]]),
        Text("\n".join(record["paragraphs"])),
    ]
    for view in record["views"]:
        parts += [_words(view), _figures(view), _cells(view), _columns(view)]
    parts += [_remedies(record), *_written(record), Text(record["privacy_note"], style="dim")]
    return Group(*(item for part in parts for item in (part, Text(""))))


def printable(value: Any) -> Any:
    """A record whose texts can do no harm: control characters, invisible ones and broken ones made visible.

    >>> printable({"name": ["a\\x1b[31m", 1, None]})
    {'name': ['a\\\\x1b[31m', 1, None]}
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    return [printable(item) for item in value] if isinstance(value, list) else value


def _words(view: dict[str, Any]) -> RenderableType:
    """Sentences with hanging bullets."""
    table = Table.grid(padding=(0, 1))
    for sentence in view["words"]:
        _row(table, "•", sentence)
    return Group(Text(f"About {view['name']}", style="bold"), table)


def _figures(view: dict[str, Any]) -> Table:
    table = _table("In numbers", "measure", "value", "meaning")
    for figure in view["figures"]:
        _row(table, figure["name"], figure["value"], figure["meaning"])
    return table


def _cells(view: dict[str, Any]) -> Table:
    shown = view["worst_cells"][:_MOST_CELLS]
    title = f"Worst cells, {len(shown)} of {grouped(view['cells'])}"
    table = _table(title, *view["worst_cells_columns"], right={1, 2, 4, 5})
    for cell in shown:
        shares = cell["prior"]["words"], cell["posterior"]["words"]
        _row(table, cell["cell"], cell["people"], cell["leakage"]["words"], cell["secret"], *shares)
    return table


def _columns(view: dict[str, Any]) -> Table:
    table = _table(
        "Released columns, by what each adds", "column", "alone", "release without it", right={1, 2}
    )
    for effect in view["columns"]:
        _row(table, effect["column"], effect["alone"]["words"], effect["without"]["words"])
    return table


def _remedies(record: dict[str, Any]) -> RenderableType:
    if not record["remedies"]:
        return Text(record["no_remedy"])
    names = "change", "leakage after", "detail kept", "found by"
    table = _table("What to change: each of these alone meets the budget", *names, right={1, 2})
    for remedy in record["remedies"]:
        kept = remedy["kept"]["words"]
        found = f"{remedy['kind']}: {remedy['reason']}" if remedy["reason"] else remedy["kind"]
        _row(table, remedy["change"], remedy["leakage"]["words"], kept, found)
    if "policy" in record.get("written", {}):
        return table
    return Group(table, Text("--write-policy FILE writes the first of them as a policy file."))


def _written(record: dict[str, Any]) -> list[RenderableType]:
    """Which file holds what."""
    said = {
        "html": "this report",
        "risks": f"the risk of each of {several(record['rows'], 'row')}",
        "policy": "a policy that keeps the budget, "
        + ("the plan itself" if record["verdict"]["met"] else "the first of these changes"),
    }
    lines = [
        f"Wrote {said[name]}: {path}."
        if path is not None
        else "No policy was written, since none that keeps the budget was found."
        for name, path in record.get("written", {}).items()
    ]
    return [Text("\n".join(lines))] if lines else []


def _table(title: str, *names: str, right: frozenset[int] | set[int] = frozenset()) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for place, name in enumerate(names):
        table.add_column(name, overflow="fold", justify="right" if place in right else "left")
    return table


def _row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(cell) for cell in cells))
