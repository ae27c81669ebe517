"""Names of secrets and outcomes: distinct, hashable, and the same after a trip through JSON.

Numbers that bring labels along are read by label, never by position.

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

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import is_frame, is_list, whole
from tightlip.errors import InvalidLabels, ShapeMismatch, WrongType, quoted
from tightlip.numeric.parse import numbers, require_unmasked

MOST_COUNTED = 10**8  # secrets that are only counted: more would fill the memory before anything is computed

Label = Any  # str, int, float, bool, None or a tuple of these
# how polars, Arrow and pandas call the second column of value_counts
_COUNTS = ("count", "counts", "proportion")


class Labels(Sequence[Label]):
    """An immutable sequence of distinct labels; `given` is False for the default 0, 1, 2, ….

    >>> Labels.of(["a", "b"], 2, "inputs").position("b")
    1
    """

    __slots__ = ("_given", "_items", "_positions")
    _items: tuple[Label, ...] | range
    _positions: dict[Label, int] | None
    _given: bool

    def __init__(self, items: tuple[Label, ...] | range, given: bool) -> None:
        self._items = items
        self._positions = None
        self._given = given

    @property
    def given(self) -> bool:
        """Whether someone named these; False for the default 0, 1, 2, …."""
        return self._given

    @classmethod
    def of(cls, labels: Iterable[Label] | None, size: int, argument: str) -> Labels:
        """Check labels given by the user, or count from 0 where there are none."""
        if labels is None:
            return cls(range(size), given=False)
        if isinstance(labels, Labels):
            items: tuple[Label, ...] | range = labels._items
            given = labels.given
        else:
            items, given = _read(labels, argument), True
        if len(items) != size:
            raise ShapeMismatch(
                f"{argument} must have one label each for {size} entries, got {len(items)}; add or drop some."
            )
        return cls(items, given)

    @classmethod
    def read(cls, secrets: int | Iterable[Label], argument: str, *, most: int = MOST_COUNTED) -> Labels:
        """Read how many there are, or their labels.

        >>> Labels.read(3, "secrets"), Labels.read(["a", "b"], "secrets")
        ([0, 1, 2], ["a", "b"])
        """
        if isinstance(secrets, (int, np.integer)) and not isinstance(secrets, bool):
            return cls(range(whole(secrets, argument, 1, most)), given=False)
        if isinstance(secrets, (int, np.integer)) or not (is_list(secrets) or isinstance(secrets, Mapping)):
            raise WrongType(
                f"{argument} must be a count or a list of labels, got {quoted(secrets)}; write 3 or [..]."
            )
        items = _read(secrets, argument)
        whole(len(items), f"the number of {argument}", 1, most)
        return cls(items, given=True)

    def position(self, label: Label, argument: str = "label") -> int:
        """Find where a label stands."""
        if isinstance(self._items, range):
            if isinstance(label, (int, np.integer)) and int(label) in self._items:
                return int(label)
        else:
            if self._positions is None:
                self._positions = {item: place for place, item in enumerate(self._items)}
            try:
                return self._positions[label]
            except (KeyError, TypeError):
                pass
        known = ", ".join(quoted(item, 20) for item in self._items[:6])
        more = ", …" if len(self) > 6 else ""
        raise InvalidLabels(f"{argument} must be one of {known}{more}; got {quoted(label)}.")

    def take(self, places: Iterable[int]) -> Labels:
        """Take labels at some places, in that order; they count as given, since 0, 1, 2, … no longer fits."""
        return Labels(tuple(self._items[place] for place in places), given=True)

    @overload
    def __getitem__(self, place: int) -> Label: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Label]: ...
    def __getitem__(self, place: int | slice) -> Label:
        return self._items[place]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels):
            if type(self._items) is type(other._items):
                return bool(self._items == other._items)
        elif not isinstance(other, (tuple, list)):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self._items))

    def __repr__(self) -> str:
        shown = ", ".join(quoted(item, 20) for item in self._items[:6])
        return f"[{shown}, … {len(self)} in all]" if len(self) > 6 else f"[{shown}]"

    def to_json(self) -> list[Any] | None:
        """Write the labels as JSON values (tuples become lists), or None for default ones."""
        return [_to_json(item) for item in self._items] if self.given else None


def labels_from_json(values: Any, argument: str) -> list[Label] | None:
    """Labels as they were before JSON; None where there were none."""
    if values is None:
        return None
    if not isinstance(values, list):
        raise WrongType(f"{argument} must be a list of labels, got {quoted(values)}; put them in a list.")
    return [label_from_json(value) for value in values]


def label_from_json(value: Any) -> Label:
    """Read a label as it was before JSON: lists were tuples."""
    return tuple(label_from_json(part) for part in value) if isinstance(value, list) else value


def show(label: Label) -> str:
    """Write a label as people read it: text as it is, a tuple as its parts joined by commas."""
    if isinstance(label, tuple):
        return "(" + ", ".join(show(part) for part in label) + ")"
    return str(label)


def match(wanted: Labels, given: Labels, what: str, to: str) -> NDArray[np.intp] | None:
    """Find how to reorder `given` so that it stands as `wanted`; None where it already does.

    Labels decide where both sides have them, positions otherwise.
    """
    if len(wanted) != len(given):
        raise ShapeMismatch(
            f"{what} must be as many as {to}, got {len(given)} for {len(wanted)}; add or drop some."
        )
    if not (wanted.given and given.given) or wanted == given:
        return None
    known = set(given)
    for label in wanted:
        if label not in known:
            raise ShapeMismatch(f"{what} must be {to}, got none for {quoted(label)}; rename them.")
    return np.array([given.position(label) for label in wanted], dtype=np.intp)


def _to_json(label: Label) -> Any:
    return [_to_json(part) for part in label] if isinstance(label, tuple) else label


def _read(labels: Iterable[Label], argument: str) -> tuple[Label, ...]:
    if isinstance(labels, (str, bytes)):
        raise WrongType(
            f"{argument} must be a sequence of labels, got the text {quoted(labels)}; put it in a list."
        )
    if not is_list(labels) and not isinstance(labels, Mapping):
        raise WrongType(
            f"{argument} must be a sequence of labels, got {quoted(labels)}; put them in a list, in their order."
        )
    if isinstance(labels, np.ndarray):
        require_unmasked(labels, argument)
    try:
        items = tuple(read_label(item, f"{argument} entry {place}") for place, item in enumerate(labels))
    except (TypeError, RecursionError) as error:
        if isinstance(error, WrongType):
            raise
        raise WrongType(
            f"{argument} must be a sequence of labels, got {quoted(labels)}; put them in a list."
        ) from error
    seen: dict[Label, int] = {}
    for place, item in enumerate(items):
        if item in seen:
            raise _alike(items[seen[item]], item, f"entries {seen[item]} and {place}", argument)
        seen[item] = place
    return items


def _alike(one: Label, two: Label, where: str, argument: str) -> InvalidLabels:
    if repr(one) == repr(two):
        return InvalidLabels(f"{argument} must be distinct, got {quoted(two)} at {where}; rename one.")
    return InvalidLabels(
        f"{argument} must not be equal in Python, got {quoted(one)} and {quoted(two)} at {where}; "
        f"write them as text, {quoted(str(one))} and {quoted(str(two))}."
    )


def read_label(item: Label, argument: str) -> Label:
    """Read one label: text, a number, a boolean, None or a tuple of these."""
    if isinstance(item, np.generic) and not isinstance(item, (np.datetime64, np.timedelta64)):
        item = item.item()  # of a date it would be a count of nanoseconds
    if isinstance(item, (tuple, list)):
        try:
            return tuple(read_label(part, argument) for part in item)
        except RecursionError:
            raise WrongType(
                f"{argument} must be a label, got a list nested too deeply; use str(…)."
            ) from None
    if isinstance(item, float) and not math.isfinite(item):
        raise InvalidLabels(f"{argument} must not be {item!r}; give missing values a name of their own.")
    if isinstance(item, str):
        return _require_unicode(item, argument)
    if item is None or isinstance(item, (int, float, bool)):
        return item
    raise WrongType(
        f"{argument} must be text, a number, a boolean, None or a tuple of these, "
        f"got {quoted(item)} of type {type(item).__name__}; use str(…)."
    )


def _require_unicode(text: str, argument: str) -> str:
    """Refuse half of a surrogate pair: such text can be neither printed nor hashed into a certificate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidLabels(
            f"{argument} must be text that can be written as UTF-8, got {quoted(text)}; remove the broken character."
        ) from None
    return text


def split_labels(values: Any, argument: str) -> tuple[Any, list[Label] | None]:
    """Tell values, one for each label, from the labels they bring along; None where they bring none.

    >>> split_labels({"yes": 3, "no": 7}, "counts")
    ([3, 7], ['yes', 'no'])
    """
    if isinstance(values, Mapping):
        return list(values.values()), list(values.keys())
    if is_frame(values):
        return _read_value_counts(values, argument)
    kind: Any = getattr(values, "type", None)
    if hasattr(values, "field") and getattr(kind, "num_fields", 0) == 2 and kind[1].name in _COUNTS:
        return np.asarray(values.field(1)), values.field(0).to_pylist()
    labels = _along(values, "index")
    return (values, None) if labels is None else (np.asarray(values), labels)


def row_labels(matrix: Any) -> list[Label] | None:
    """Read the labels that a data frame has for its rows; None where it has none."""
    return _along(matrix, "index") if is_frame(matrix) else None


def column_labels(matrix: Any) -> list[Label] | None:
    """Read the labels that a data frame has for its columns; None where it has none."""
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


def labelled_vector(
    values: Any, labels: Labels, argument: str, owner: str, *, absent: Any = None
) -> NDArray[Any]:
    """Read one number for each label, in the order of the labels; floats, or exact rationals.

    A label without a number is refused unless `absent` is the number it then has.

    >>> labelled_vector({"b": 1, "a": 2}, Labels.of(["a", "b"], 2, "labels"), "counts", "outcomes").tolist()
    [Fraction(2, 1), Fraction(1, 1)]
    """
    given, own = split_labels(values, argument)
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


def labelled_matrix(values: Any, labels: Labels, argument: str, owner: str) -> NDArray[Any]:
    """Read one row of numbers for each label, in the order of the labels; floats, or exact rationals."""
    read = numbers(values, argument, 2)
    found: NDArray[Any] = read.exact if read.exact is not None else np.asarray(read.floats)
    own = row_labels(values)
    if own is not None:
        return found[places_of(labels, own, argument, owner)]
    if len(found) != len(labels):
        raise ShapeMismatch(
            f"{argument} must have one row for each of {len(labels)} {owner}, got {len(found)}; add or drop some."
        )
    return found


def places_of(
    labels: Labels, own: Sequence[Label], argument: str, owner: str, *, partial: bool = False
) -> list[Any]:
    """Find each label among labels brought along, which must be the same ones; None where it is absent."""
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


def _read_value_counts(values: Any, argument: str) -> tuple[Any, list[Label]]:
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
