"""Which secret each row of a channel belongs to: a labelling of the rows, read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidLabels, ShapeMismatch, WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels

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
        """The number of rows of each secret."""
        return np.bincount(self.codes, minlength=self.count)

    def rows(self) -> tuple[Label, ...]:
        """The secret of each row."""
        return tuple(self.labels[code] for code in self.codes.tolist())

    def take(self, places: Places) -> Groups:
        """The labelling of some of the rows; secrets that lose all their rows are dropped."""
        kept, codes = np.unique(self.codes[places], return_inverse=True)
        return Groups(self.labels.take(kept.tolist()), codes)


def groups_of(channel: Channel, secret: Any = None) -> Groups:
    """Read the secret of each row of a channel: a sequence, a mapping from row labels, or None for the rows themselves.

    >>> groups_of(Channel([[1, 0], [0, 1], [1, 0]]), ["young", "old", "young"]).codes.tolist()
    [0, 1, 0]
    """
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    if secret is None:
        return Groups(channel.inputs, np.arange(channel.shape[0]))
    if isinstance(secret, Mapping):
        secret = by_key(channel.inputs, secret, "secret", "the channel's inputs")
    return labelled(secret, channel.shape[0], "secret", "channel rows")


def by_key(keys: Iterable[Label], mapping: Mapping[Label, Label], argument: str, owner: str) -> list[Label]:
    """The values of a mapping in the order of some keys, which must be all of its keys."""
    wanted = list(keys)
    for key in wanted:
        if key not in mapping:
            raise InvalidLabels(
                f"{argument} must have a label for each of {owner}, got none for {quoted(key)}; add it."
            )
    if len(mapping) != len(wanted):
        known = set(wanted)
        extra = next(key for key in mapping if key not in known)
        raise InvalidLabels(f"{argument} must be about {owner} only, got {quoted(extra)}; leave it out.")
    return [mapping[key] for key in wanted]


def labelled(values: Any, size: int, argument: str, owner: str) -> Groups:
    """Number the labels of a sequence in the order in which they first appear."""
    items = _sequence(values, argument)
    if len(items) != size:
        raise ShapeMismatch(
            f"{argument} must have one label for each of {size} {owner}, got {len(items)}; add or drop some."
        )
    return _number_array(items, argument) if isinstance(items, np.ndarray) else _number(items, argument)


def _sequence(values: Any, argument: str) -> list[Label] | NDArray[Any]:
    """The labels as a list, or as an array of integers or text, which numpy can number fast."""
    if values is None or isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise WrongType(f"{argument} must be a sequence of labels, got {quoted(values)}; put them in a list.")
    if not isinstance(values, np.ndarray):
        items = [item.item() if isinstance(item, np.generic) else item for item in values]
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
        if item != item:
            raise InvalidLabels(
                f"{argument} entry {place} must not be {item!r}; give missing values a name of their own."
            )
        try:
            codes[place] = order.setdefault((isinstance(item, bool), _as_tuple(item)), len(order))
        except TypeError as error:
            raise WrongType(
                f"{argument} entry {place} must be text, a number, a boolean, None or a tuple of these, "
                f"got {quoted(item)}; use str(…)."
            ) from error
    return Groups(Labels.of([item for _, item in order], len(order), argument), codes)


def _as_tuple(item: Label) -> Label:
    return tuple(_as_tuple(part) for part in item) if isinstance(item, list) else item
