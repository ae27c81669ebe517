"""Which secret each row of a channel belongs to: a labelling of the rows, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, ShapeMismatch
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Label, Labels, places_of, read_label, split_labels
from tightlip.numeric.parse import require_unmasked

Places = NDArray[np.intp]

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by secret: `codes` has, for each row, the place of its secret in `labels`."""

    labels: Labels
    codes: Places

    @property
    def count(self) -> int:
        """The number of secrets, s."""
        return len(self.labels)

    def sizes(self) -> Places:
        """Count the rows of each secret."""
        return np.bincount(self.codes, minlength=self.count)

    def rows(self) -> tuple[Label, ...]:
        """List the secret of each row."""
        return tuple(self.labels[code] for code in self.codes.tolist())

    def take(self, places: Places) -> Groups:
        """Take the labelling of some of the rows; secrets that lose all their rows are dropped."""
        kept, codes = np.unique(self.codes[places], return_inverse=True)
        return Groups(self.labels.take(kept.tolist()), codes)


def groups_of(channel: Channel, secret: Any = None) -> Groups:
    """Read the secret of each row of a channel: a sequence, a mapping from row labels, or None for the rows themselves.

    A pandas Series is a mapping from its index.

    >>> groups_of(Channel([[1, 0], [0, 1], [1, 0]]), ["young", "old", "young"]).codes.tolist()
    [0, 1, 0]
    """
    as_channel(channel)
    if secret is None:
        return Groups(channel.inputs, np.arange(channel.shape[0]))
    values, own = split_labels(secret, "secret")
    if own is not None:
        places = places_of(channel.inputs, own, "secret", "rows of the channel")
        values = [values[place] for place in places]
    return group_by_label(values, channel.shape[0], "secret", "channel rows")


def group_by_label(values: Any, size: int, argument: str, owner: str) -> Groups:
    """Number the labels of a sequence in the order in which they first appear."""
    items = _sequence(values, argument)
    if len(items) != size:
        raise ShapeMismatch(
            f"{argument} must have one label for each of {size} {owner}, got {len(items)}; add or drop some."
        )
    return _number_array(items, argument) if isinstance(items, np.ndarray) else _number(items, argument)


def group_outputs(outputs: Any) -> tuple[Groups, Labels | None]:
    """Number the outputs of inputs; and the names of the inputs, where the outputs come by name."""
    values, own = split_labels(outputs, "outputs")
    items = _sequence(values, "outputs")
    if not len(items):
        raise InvalidInput("outputs must not be empty, got no inputs; give the output of each input.")
    return group_by_label(items, len(items), "outputs", "inputs"), (
        None if own is None else Labels.of(own, len(own), "labels of outputs")
    )


def _sequence(values: Any, argument: str) -> list[Label] | NDArray[Any]:
    """The labels as a list, or as an array of integers or text, which numpy can number fast."""
    require_unmasked(values, argument)
    if hasattr(values, "to_pylist"):  # of Arrow, which would give its own scalars
        values = values.to_pylist()
    if not isinstance(values, np.ndarray):
        items = [
            item.item() if isinstance(item, np.generic) else item
            for item in listed(values, argument, "labels")
        ]
        fits = set(map(type, items)) == {int} and min(items) > -_LARGEST and max(items) < _LARGEST
        return np.array(items) if fits else items
    if values.ndim != 1:
        raise ShapeMismatch(
            f"{argument} must have 1 dimension, got shape {values.shape}; give a list of labels."
        )
    return values if values.dtype.kind in "iuU" else values.tolist()


def _number_array(array: NDArray[Any], argument: str) -> Groups:
    found, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return Groups(Labels.of(found[order].tolist(), len(order), argument), place[inverse])


def _number(items: list[Label], argument: str) -> Groups:
    order: dict[
        tuple[bool, Label], int
    ] = {}  # True and 1 are told apart here, and refused as too alike below
    codes = np.empty(len(items), dtype=np.intp)
    for place, item in enumerate(items):
        own = tuple(item) if isinstance(item, list) else item
        try:
            known = order.get((isinstance(own, bool), own))
        except TypeError:  # a list within a list, or what is no label
            known = None
        if known is None:
            read = read_label(item, f"{argument} entry {place}")
            known = order.setdefault((isinstance(read, bool), read), len(order))
        codes[place] = known
    return Groups(Labels.of([item for _, item in order], len(order), argument), codes)
