"""Neutral names for the columns of files and frames, so that none of theirs can clash, be cut, or be taken for SQL."""

from __future__ import annotations

from collections.abc import Sequence

from tightlip.errors import InvalidInput, quoted

ROW = "row"  # the place of a row in its file or frame


def neutral_names(names: Sequence[str], table: str) -> dict[str, str]:
    """Users' names and those that the engine knows the columns by: c0, c1, ….

    Raises
    ------
    InvalidInput
        When a name is there twice.

    >>> neutral_names(["age", "Age"], "people.csv")
    {'age': 'c0', 'Age': 'c1'}
    """
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        if name in found:
            raise InvalidInput(
                f"{table} must have each column name once, got {quoted(name)} twice; rename one."
            )
        found[name] = f"c{place}"
    return found
