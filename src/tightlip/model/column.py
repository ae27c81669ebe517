"""Columns of labels: many values read at once as places of labels, and places written back as labels.

A value is the label that it equals: 1.0 is the label 1, and "1" and True are not. Columns are lists, numpy arrays, and
series of pandas, polars and Arrow. What a series calls missing is the label None, or refused where there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import is_list
from tightlip.errors import InvalidInput, InvalidLabels, ShapeMismatch, WrongType, quoted
from tightlip.model.labels import Label, Labels, read_label
from tightlip.numeric.parse import require_unmasked

_BLOCK = 1 << 16  # values at a time: what they need stays in the cache
_SEARCHED = 1000  # labels that are looked at for one that a wrong value may stand for
_PLAIN = {int, float, str, type(None)}

Codes = NDArray[Any]  # places of labels, in the smallest unsigned integers that hold them


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose labels a column has, for messages."""

    argument: str
    labels: Labels
    what: str

    @property
    def code(self) -> np.dtype[Any]:
        """What holds a place of every label."""
        return np.min_scalar_type(len(self.labels))

    def place(self, value: Any) -> int | None:
        """Find one value; None where it is no label."""
        try:
            label = read_label(value, self.argument)
            place = self.labels.position(int(label) if _whole(label) else label)
        except InvalidInput:
            return None
        return place if _alike(label, self.labels[place]) else None

    def unknown(self, place: int, value: Any) -> InvalidLabels:
        """Say what is wrong with a value."""
        where = f"{self.argument} entry {place}"
        if _missing(value):
            return InvalidLabels(
                f"{where} must be one of the {self.what} {self.labels!r}, got a missing value, {quoted(value)}; "
                "drop or fill it first, or give missing values a label of their own."
            )
        near = [label for label in islice(self.labels, _SEARCHED) if _stands_for(value, label)]
        remedy = (
            f"write {near[0]!r}, of type {type(near[0]).__name__}"
            if near
            else "rename or drop it, or use a channel that knows it"
        )
        return InvalidLabels(
            f"{where} must be one of the {self.what} {self.labels!r}, got {quoted(value)} "
            f"of type {type(value).__name__}; {remedy}."
        )


def read_column(values: Any, labels: Labels, argument: str, what: str) -> Codes:
    """Read the place of every value among labels.

    Raises
    ------
    InvalidLabels
        When a value is none of the labels; the message has its position.
    WrongType, ShapeMismatch
        When the values are no column.

    >>> read_column(["b", "a", "b"], Labels.of(["a", "b"], 2, "inputs"), "values", "inputs")
    array([1, 0, 1], dtype=uint8)
    """
    owner = Owner(argument, labels, what)
    if isinstance(values, np.ndarray):
        require_unmasked(values, argument)
        if values.ndim != 1:
            raise ShapeMismatch(
                f"{argument} must be one column, got an array of shape {values.shape}; take one column, or write [..]."
            )
        return _read_array(np.asarray(values), owner)
    if not is_list(values):
        raise WrongType(
            f"{argument} must be a list or a column of values, got {quoted(values)} of type {type(values).__name__}; "
            "put a single value in a list, and take one column of a table."
        )
    if isinstance(values, (list, tuple)):
        return _read_items(values, owner)
    return _read_series(values, owner)


def count_places(codes: Codes, size: int) -> NDArray[np.int64]:
    """Count how often each place occurs.

    >>> count_places(np.array([1, 0, 1], dtype=np.uint8), 3)
    array([1, 2, 0])
    """
    counts = np.zeros(size, dtype=np.int64)
    for block in blocks(len(codes)):
        counts += np.bincount(codes[block], minlength=size)
    return counts


def write_column(codes: Codes, labels: Labels, like: Any) -> Any:
    """Write labels by their places: a series where `like` is one of pandas or polars, else an array.

    >>> write_column(np.array([1, 0], dtype=np.uint8), Labels.of(["a", "b"], 2, "outputs"), like=[])
    array(['b', 'a'], dtype='<U1')
    """
    names = _label_array(labels)
    if _is_series(like, "pandas"):
        import pandas as pd

        kind = object if names.dtype == object else None
        return pd.Series(names, name=like.name, dtype=kind).take(codes).set_axis(like.index)
    if _is_series(like, "polars"):
        import polars as pl

        if names.dtype == object:
            return pl.Series(like.name, names[codes].tolist(), dtype=pl.Object)
        return pl.Series(like.name, names)[codes]
    found = np.empty(len(codes), dtype=names.dtype)
    for block in blocks(len(codes)):
        names.take(codes[block], out=found[block], mode="clip")
    return found


def blocks(count: int) -> Iterator[slice]:
    """Cut a column into blocks."""
    return (slice(start, start + _BLOCK) for start in range(0, count, _BLOCK))


def _read_array(values: NDArray[Any], owner: Owner) -> Codes:
    """Read an array that has one type by searching among sorted labels, any other one by one."""
    kind = values.dtype.kind
    if kind not in "biufU":
        return _read_items(list(values), owner)  # .tolist() would make whole numbers of dates
    if kind in "iu" and not owner.labels.given:
        return _read_counted(values, owner)
    holds = _HOLDS[kind]
    held = [(read, place) for place, label in enumerate(owner.labels) if (read := holds(label)) is not None]
    if kind in "iu":
        range_ = np.iinfo(values.dtype)
        held = [(read, place) for read, place in held if range_.min <= read <= range_.max]
    if not held:
        return _read_items(list(values[:1]), owner)
    known = np.array([read for read, _ in held], dtype=None if kind in "fU" else values.dtype)
    order = np.argsort(known)
    return _read_sorted(values, known[order], np.array([place for _, place in held])[order], owner)


def _read_sorted(values: NDArray[Any], known: NDArray[Any], places: NDArray[Any], owner: Owner) -> Codes:
    found = np.empty(len(values), dtype=owner.code)
    for block in blocks(len(values)):
        part = values[block]
        at = np.minimum(np.searchsorted(known, part), len(known) - 1)
        wrong = known[at] != part
        if wrong.any():
            place = block.start + int(wrong.argmax())
            raise owner.unknown(place, values[place].item())
        found[block] = places[at]
    return found


def _read_counted(values: NDArray[Any], owner: Owner) -> Codes:
    """Read whole numbers that are places already."""
    if len(values) and not (values.min() >= 0 and values.max() < len(owner.labels)):
        place = int(((values < 0) | (values >= len(owner.labels))).argmax())
        raise owner.unknown(place, values[place].item())
    return values.astype(owner.code)


def _read_items(items: Sequence[Any], owner: Owner) -> Codes:
    """Read values one by one; plain ones by a dict that holds no booleans, which equal numbers in Python."""
    if set(map(type, items)) <= _PLAIN:
        known = {
            label: place
            for place, label in enumerate(owner.labels)
            if type(label) in _PLAIN  # neither booleans nor tuples
        }
        try:
            return np.fromiter(map(known.__getitem__, items), dtype=owner.code, count=len(items))
        except KeyError:
            pass
    found = np.empty(len(items), dtype=owner.code)
    for place, item in enumerate(items):
        code = owner.place(item)
        if code is None:
            raise owner.unknown(place, item)
        found[place] = code
    return found


def _read_series(values: Any, owner: Owner) -> Codes:
    """Read a series of pandas, polars or Arrow, each different value once where it can name them quickly."""
    if hasattr(values, "factorize"):  # pandas
        if isinstance(values.dtype, np.dtype):
            return _read_array(values.to_numpy(), owner)
        codes, different = values.factorize()
        return _read_coded(codes, [*different.tolist(), None], owner)
    if _is_series(values, "polars"):
        import polars as pl

        if values.dtype.is_numeric() and not values.null_count() and not values.dtype.is_decimal():
            return _read_array(values.to_numpy(), owner)
        if values.dtype in (pl.String, pl.Categorical, pl.Enum):
            different = values.drop_nulls().unique()
            codes = values.replace_strict(
                different, list(range(len(different))), default=len(different), return_dtype=pl.Int64
            )
            return _read_coded(codes.to_numpy(), [*different.to_list(), None], owner)
    if hasattr(values, "to_pylist"):  # Arrow
        return _read_items(values.to_pylist(), owner)
    try:
        return _read_items(list(values), owner)
    except (TypeError, RecursionError) as error:
        if isinstance(error, WrongType):
            raise
        raise WrongType(
            f"{owner.argument} must be a list or a column of values, got {quoted(values)}; put them in a list."
        ) from error


def _read_coded(codes: NDArray[Any], different: Sequence[Any], owner: Owner) -> Codes:
    """Read values that are numbered already; the last of the different ones, numbered −1 also, is what is missing."""
    places = [owner.place(value) for value in different]
    known = np.array([place is not None for place in places])
    if not known.all():
        wrong = ~known[codes]
        if wrong.any():
            first = int(wrong.argmax())
            raise owner.unknown(first, different[int(codes[first])])
    return np.asarray(np.array([place or 0 for place in places], dtype=owner.code)[codes])


def _label_array(labels: Labels) -> NDArray[Any]:
    """Labels as an array: of one type where they have one, else of objects."""
    if not labels.given:
        return np.arange(len(labels))
    items = list(labels)
    kinds = set(map(type, items))
    if kinds == {int} and all(-(1 << 63) <= item < 1 << 63 for item in items):
        return np.array(items, dtype=np.int64)
    if kinds in ({float}, {bool}) or (kinds == {str} and not any(item.endswith("\0") for item in items)):
        return np.array(items)
    found = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):  # all at once, tuples would become a matrix
        found[place] = item
    return found


def _is_series(values: Any, library: str) -> bool:
    """Whether something is a Series of a library, which is then there already."""
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(values, loaded.Series)


def _boolean(label: Label) -> bool | None:
    return label if isinstance(label, bool) else None


def _text(label: Label) -> str | None:
    """Text that an array of numpy can hold, which has no zero characters at its end."""
    return label if isinstance(label, str) and not label.endswith("\0") else None


def _whole_number(label: Label) -> int | None:
    return int(label) if _number(label) and label == int(label) else None


def _float(label: Label) -> float | None:
    try:
        return float(label) if _number(label) and label == float(label) else None
    except OverflowError:
        return None


# which labels an array of each kind can hold, as what
_HOLDS: dict[str, Callable[[Label], Any]] = {
    "b": _boolean,
    "i": _whole_number,
    "u": _whole_number,
    "f": _float,
    "U": _text,
}


def _number(label: Label) -> bool:
    return isinstance(label, (int, float)) and not isinstance(label, bool)


def _whole(label: Label) -> bool:
    """Whether a float is a whole number."""
    return isinstance(label, float) and label == int(label)


def _alike(one: Label, two: Label) -> bool:
    """Whether labels that are equal in Python are so to people: True is not 1."""
    if isinstance(one, tuple) and isinstance(two, tuple):
        return all(map(_alike, one, two))
    return isinstance(one, bool) == isinstance(two, bool)


def _missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA: what is missing does not equal itself, or will not say."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except Exception:
        return type(value).__name__ == "NAType"


def _stands_for(value: Any, label: Label) -> bool:
    """Whether a value looks like a label of another type."""
    try:
        return bool(value == label) or str(value) == str(label)
    except Exception:
        return False
