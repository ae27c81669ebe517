"""Grouped counts: what the engine is asked for, and the same codes for them on every engine.

Keys travel without missing values, since some engines' ways to Python turn whole numbers with gaps into floats: where a
key is missing stands in bit masks beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import grouped
from tightlip.table.failure import engine_work
from tightlip.table.kinds import Kind
from tightlip.table.policy import Policy
from tightlip.table.recoding import BottomCode, Keep, Recoding, TopCode
from tightlip.table.source import Table

Codes = NDArray[np.int64]
Label = str | None

_BITS = 60
_GROUPS_PER_CELL = 20


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A recoded column, as an Ibis expression on the table, and how its values are called."""

    column: str
    expression: Any
    recoding: Recoding
    kind: Kind

    def label(self, value: Any) -> str:
        """The released value as people read it."""
        try:
            return self.recoding.label(value, self.kind)
        except InvalidInput as error:
            raise InvalidInput(f"column {quoted(self.column)}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Grouped counts: for each group a code in each key, its count, and the keys as they travel (`arrow`)."""

    labels: list[list[Label]]
    codes: list[Codes]
    count: Codes
    arrow: Any


def keys_of(table: Table, policy: Policy) -> list[Key]:
    """The keys to count by: the secret columns as they are, then the released ones after their recodings."""
    recodings = [*(Keep() for _ in policy.secret), *(item.recoding for item in policy.release)]
    plain = table.plain_columns(policy.columns)
    kept = [
        name
        for name, recoding in zip(policy.columns, recodings, strict=True)
        if isinstance(recoding, (Keep, TopCode, BottomCode))
    ]
    table.require_one_spelling(kept)
    keys = []
    for name, recoding, (column, kind) in zip(policy.columns, recodings, plain, strict=True):
        recoding.require(name, kind)
        keys.append(Key(name, recoding.key(column, kind), recoding, kind))
    return keys


def count_groups(table: Table, keys: Sequence[Key], max_cells: int) -> Groups:
    """Count the rows of each combination of keys in the engine.

    Raises
    ------
    InvalidInput
        When there are no rows, or too many combinations to be worth bringing to Python.
    """
    limit = max_cells * _GROUPS_PER_CELL
    names = [f"k{place}" for place in range(len(keys))]
    chosen = table.expression.select(**{name: key.expression for name, key in zip(names, keys, strict=True)})
    tallied = chosen.group_by(names).aggregate(n=chosen.count())
    with engine_work(table.name, "counted"):
        arrow = table.fetch(tallied.select(**without_gaps(tallied, names), n=tallied["n"]).limit(limit + 1))
    table.require_unchanged()
    if arrow.num_rows > limit:
        raise too_many_cells(f"over {grouped(limit)} combinations of secret and released values", max_cells)
    if not arrow.num_rows:
        raise InvalidInput(f"{table.name} has no rows; there is nothing to count.")
    found = [_encode(arrow, place, key) for place, key in enumerate(keys)]
    count = arrow["n"].to_numpy().astype(np.int64)
    return Groups([labels for labels, _ in found], [codes for _, codes in found], count, arrow)


def too_many_cells(got: str, max_cells: int) -> InvalidInput:
    """The refusal of a release that is nearly the table itself."""
    return InvalidInput(
        f"release must have at most {grouped(max_cells)} combinations of values, got {got}; "
        "coarsen or drop columns."
    )


def without_gaps(expression: Any, names: Sequence[str]) -> dict[str, Any]:
    """Keys with something in place of missing values, and bit masks m0, m1, … of where they are missing."""
    import ibis

    filled: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    for place, name in enumerate(names):
        column = expression[name]
        filled[name] = column.fill_null(
            "" if column.type().is_string() else ibis.literal(0).cast(column.type())
        )
        mask, bit = f"m{place // _BITS}", 1 << (place % _BITS)
        missing = ibis.ifelse(column.isnull(), ibis.literal(bit, "int64"), ibis.literal(0, "int64"))
        masks[mask] = masks[mask] + missing if mask in masks else missing
    return filled | masks


def _encode(arrow: Any, place: int, key: Key) -> tuple[list[Label], Codes]:
    """Number the labels of a key in the order of its values, missing first."""
    mask = arrow[f"m{place // _BITS}"].to_numpy().astype(np.int64, copy=False)
    missing = (mask >> (place % _BITS)) & 1 == 1
    encoded = arrow[f"k{place}"].combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    places = encoded.indices.to_numpy().astype(np.int64)
    occurring = np.flatnonzero(np.bincount(places[~missing], minlength=len(values)))
    present = sorted(occurring.tolist(), key=values.__getitem__)
    code_of: dict[Label, int] = {None: 0} if missing.any() else {}
    lookup = np.zeros(len(values), dtype=np.int64)
    for value in present:
        lookup[value] = code_of.setdefault(key.label(values[value]), len(code_of))
    return list(code_of), np.where(missing, 0, lookup[places])
