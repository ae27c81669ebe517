"""Numbers that bring labels along are read by label, never by position.

    mapping                    its keys
    pandas Series              its index, also the default one 0, 1, 2, …
    pandas DataFrame           its index for the rows, its columns for the columns
    polars or Arrow table      its column names; rows have no labels
    what `value_counts` gives  in polars and Arrow: a column of values and one of their counts
    lists, numpy, polars and Arrow arrays have no labels: they are read by position

A Series with the default index does not fit secrets named "ill" and "well": that is an error, since a Series that was
sorted or filtered before looks the same. Its `.tolist()` is read by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import is_frame
from tightlip.errors import InvalidLabels, ShapeMismatch, quoted
from tightlip.model.labels import Label, Labels
from tightlip.numeric.parse import numbers

_COUNTS = (
    "count",
    "counts",
    "proportion",
)  # how polars, Arrow and pandas call the second column of value_counts


def split(values: Any, argument: str) -> tuple[Any, list[Label] | None]:
    """Tell values, one for each label, from the labels they bring along; None where they bring none.

    >>> split({"yes": 3, "no": 7}, "counts")
    ([3, 7], ['yes', 'no'])
    """
    if isinstance(values, Mapping):
        return list(values.values()), list(values.keys())
    if is_frame(values):
        return _read_counted(values, argument)
    kind: Any = getattr(values, "type", None)
    if hasattr(values, "field") and getattr(kind, "num_fields", 0) == 2 and kind[1].name in _COUNTS:
        return np.asarray(values.field(1)), values.field(0).to_pylist()
    labels = _along(values, "index")
    return (values, None) if labels is None else (np.asarray(values), labels)


def row_labels(matrix: Any) -> list[Label] | None:
    """The labels that a data frame has for its rows; None where it has none."""
    return _along(matrix, "index") if is_frame(matrix) else None


def column_labels(matrix: Any) -> list[Label] | None:
    """The labels that a data frame has for its columns; None where it has none."""
    if not is_frame(matrix):
        return None
    names = getattr(matrix, "column_names", None)  # of Arrow, where .columns are the data
    return list(names) if names is not None else _along(matrix, "columns")


def choose_labels(
    own: list[Label] | None, given: Iterable[Label] | None, argument: str
) -> Iterable[Label] | None:
    """Choose the labels that numbers bring along, or that are given beside them; refused where the two differ."""
    if own is None or given is None:
        return own if given is None else given
    default = own == list(range(len(own)))
    read = Labels.of(given, len(own), argument)
    if default or read == own:
        return read
    brought = Labels.of(own, len(own), argument)
    raise InvalidLabels(
        f"{argument} must not be given twice, got {read!r} for numbers that bring {brought!r} along; drop one of them."
    )


def vector(values: Any, labels: Labels, argument: str, owner: str, *, absent: Any = None) -> NDArray[Any]:
    """Read one number for each label, in the order of the labels; floats, or exact rationals.

    A label without a number is refused unless `absent` is the number it then has.

    >>> vector({"b": 1, "a": 2}, Labels.of(["a", "b"], 2, "labels"), "counts", "outcomes").tolist()
    [Fraction(2, 1), Fraction(1, 1)]
    """
    given, own = split(values, argument)
    read = numbers(given, argument, 1)
    found: NDArray[Any] = read.exact if read.exact is not None else np.asarray(read.floats)
    if own is None:
        if len(found) != len(labels):
            raise ShapeMismatch(
                f"{argument} must be one for each of {len(labels)} {owner}, got {len(found)}; add or drop some."
            )
        return found
    places = places_of(labels, own, argument, owner, partial=absent is not None)
    ordered = [absent if place is None else found[place] for place in places]
    return np.array(ordered, dtype=object if read.exact is not None else np.float64)


def matrix(values: Any, labels: Labels, argument: str, owner: str) -> NDArray[Any]:
    """Read one row of numbers for each label, in the order of the labels; floats, or exact rationals."""
    read = numbers(values, argument, 2)
    found: NDArray[Any] = read.exact if read.exact is not None else np.asarray(read.floats)
    if len(found) != len(labels):
        raise ShapeMismatch(
            f"{argument} must have one row for each of {len(labels)} {owner}, got {len(found)}; add or drop some."
        )
    own = row_labels(values)
    return found if own is None else found[places_of(labels, own, argument, owner)]


def places_of(
    labels: Labels, own: Sequence[Label], argument: str, owner: str, *, partial: bool = False
) -> list[Any]:
    """Where each label stands among labels brought along, which must be the same ones; None where it is absent."""
    given = Labels.of(own, len(own), f"labels of {argument}")
    at: dict[int, int] = {}
    for place, label in enumerate(given):
        try:
            at[labels.position(label)] = place
        except InvalidLabels:
            raise InvalidLabels(
                f"{argument} must be about the {owner} {labels!r} only, got {quoted(label)}; "
                "rename it, leave it out, or give a list to be read by position."
            ) from None
    for place, label in enumerate(labels):
        if not partial and place not in at:
            raise InvalidLabels(
                f"{argument} must have a value for each of {len(labels)} {owner}, got none for {quoted(label)}; "
                "add it, or give a list to be read by position."
            )
    return [at.get(place) for place in range(len(labels))]


def _read_counted(values: Any, argument: str) -> tuple[Any, list[Label]]:
    """Labels and numbers of a table as `value_counts` makes it."""
    names = column_labels(values) or []
    if len(names) == 2 and names[1] in _COUNTS:
        return np.asarray(values[names[1]]), np.asarray(values[names[0]]).tolist()
    raise ShapeMismatch(
        f"{argument} must be one number for each label, got a table with the columns {quoted(names)}; "
        "give one column with the labels as its index, or a dict."
    )


def _along(values: Any, side: str) -> list[Label] | None:
    """An index or the columns of pandas; lists and Arrow have methods of these names."""
    found = getattr(values, side, None)
    if found is None or callable(found) or isinstance(values, np.ndarray):
        return None
    return list(found)
