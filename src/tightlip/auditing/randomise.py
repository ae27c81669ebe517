"""A mechanism on one released column, as a tally of larger whole numbers.

Where the mechanism releases value v as w with probability W_vw / T in whole numbers, a secret x and a combination r of
the other columns have C_x(r, w) = Σ_v W_vw c_x(r, v): whole numbers again, with every n_x multiplied by T. For
randomised response with odds a/b that is b Σ_v c_x(r, v) + (a − b) c_x(r, w).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Tally, group_rows
from tightlip.errors import InvalidInput
from tightlip.table.mechanism import ColumnChannel

MOST_PAIRS = 1_000_000


def randomised(
    tally: Tally, codes: NDArray[np.int64], column: int, channel: ColumnChannel
) -> tuple[Tally, NDArray[np.int64]]:
    """The tally and cell codes after a mechanism on one column.

    A cell with a negative code in the column (a suppressed one) is released as it is.
    """
    own = codes[:, column]
    rest = codes.copy()
    rest[:, column] = np.where(own < 0, -1, 0)
    kinds, kind = group_rows(rest)
    held, place = np.unique(kind[tally.cell] * tally.shape[0] + tally.secret, return_inverse=True)
    widths = np.where(codes[kinds, column] < 0, 1, len(channel.outcomes))
    pairs = int(widths[held // tally.shape[0]].sum())
    if pairs > MOST_PAIRS:
        raise InvalidInput(
            f"noise would make {pairs} pairs of secret and cell, more than {MOST_PAIRS}; "
            "coarsen the column or release fewer columns."
        )
    return _spread(tally, codes, column, channel, kinds, held, place.astype(np.intp), widths)


def _spread(
    tally: Tally,
    codes: NDArray[np.int64],
    column: int,
    channel: ColumnChannel,
    kinds: NDArray[np.intp],
    held: NDArray[np.int64],
    place: NDArray[np.intp],
    widths: NDArray[np.int64],
) -> tuple[Tally, NDArray[np.int64]]:
    """The counts of each secret and kind of cell (`held`), multiplied by the channel."""
    secrets, count = tally.shape[0], tally.count.astype(object)
    kind = held // secrets
    hidden = (codes[kinds, column] < 0)[kind]
    sums = np.zeros(len(held), dtype=object)
    np.add.at(sums, place, count)
    width = widths[kind]
    first = np.concatenate([[0], np.cumsum(width)])
    offset = np.arange(first[-1]) - np.repeat(first[:-1], width)
    spread = np.repeat(sums, width) * channel.base[offset]
    spread[first[:-1][hidden]] = sums[hidden] * channel.total
    _add_extra(spread, first[place], codes[tally.cell, column], count, channel)
    start = np.concatenate([[0], np.cumsum(widths)])
    cell = np.repeat(start[kind], width) + offset
    new = np.repeat(codes[kinds], widths, axis=0)
    step = np.arange(len(new)) - np.repeat(start[:-1], widths)
    new[:, column] = np.where(new[:, column] < 0, -1, step)
    return _occurring(np.repeat(held % secrets, width), cell, spread, new, secrets)


def _add_extra(
    spread: NDArray[np.object_],
    first: NDArray[np.intp],
    value: NDArray[np.int64],
    count: NDArray[np.object_],
    channel: ColumnChannel,
) -> None:
    """Add what each value's own row has over the base; `first` is where the outcomes of each pair begin."""
    shown = np.flatnonzero(value >= 0)
    start, end = channel.starts[value[shown]], channel.starts[value[shown] + 1]
    many = end - start
    pair = np.repeat(shown, many)
    entry = np.arange(len(pair)) + np.repeat(start - np.concatenate([[0], np.cumsum(many)[:-1]]), many)
    np.add.at(spread, first[pair] + channel.places[entry], channel.extra[entry] * count[pair])


def _occurring(
    secret: NDArray[np.int64],
    cell: NDArray[np.int64],
    count: NDArray[np.object_],
    codes: NDArray[np.int64],
    secrets: int,
) -> tuple[Tally, NDArray[np.int64]]:
    """The pairs that occur: a mechanism may release some outcomes for some values only."""
    kept = np.flatnonzero(count > 0)
    used, place = np.unique(cell[kept], return_inverse=True)
    return Tally.of(secret[kept], place, count[kept], (secrets, len(used))), codes[used]
