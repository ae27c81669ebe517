"""Count cells by column, and work out what a plan makes of them: fewer columns, small cells hidden, columns randomised.

Leave-one-out counts, suppression and noise are worked out here from one count, so the engine is asked once.

A mechanism on one column makes a tally of larger whole numbers. Where it releases value v as w with probability
W_vw / T in whole numbers, a secret x and a combination r of the other columns have C_x(r, w) = Σ_v W_vw c_x(r, v):
whole numbers again, with every n_x multiplied by T. For randomised response with odds a/b that is
b Σ_v c_x(r, v) + (a − b) c_x(r, w).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places, Tally, divide, equal_columns, group_keys, group_rows, sum_by
from tightlip.errors import InvalidInput
from tightlip.numeric.parse import FloatArray
from tightlip.table.cell_kinds import CellKinds
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import ColumnChannel, ColumnMechanism, Value

MOST_PAIRS = 1_000_000
SUPPRESSED, UNNAMED = -1, -2  # in place of codes of values
_MOST_HOLDERS = 1 << 53  # people who are counted as such
SMALL = 10  # people; a value that fewer have is not told without leave


def randomise_column(
    tally: Tally, codes: NDArray[np.int64], column: int, channel: ColumnChannel
) -> tuple[Tally, NDArray[np.int64]]:
    """Apply a mechanism to one column of a tally; returns the new tally and cell codes.

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


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A tally whose secrets and cells are known by column.

    `codes` has a row for each cell and a column for each released column: the place of its value in `values`; −1
    throughout for the one cell that all suppressed people share, −2 throughout for kinds of cells that the engine
    counted, whose values stay there. `secret_codes` likewise for secrets. Once there is noise, `holders` has how many
    people had the values of each cell before, and `noise_entropy` is H(released cell | cell before) in nats.
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    codes: NDArray[np.int64]
    secret_columns: tuple[str, ...]
    secret_values: tuple[tuple[Value, ...], ...]
    secret_codes: NDArray[np.int64]
    tally: Tally
    holders: NDArray[np.int64] | None = None
    noise_entropy: float = 0.0

    @classmethod
    def of_kinds(cls, kinds: CellKinds, secret_columns: Sequence[str], columns: Sequence[str]) -> Counted:
        """Read the kinds of cells that an engine counted; their values stay there."""
        secret_values, secret_codes = _by_column(kinds.secrets, len(secret_columns))
        shape = len(kinds.secrets), len(kinds.cells)
        tally = Tally.of(kinds.secret_of, kinds.kind_of, kinds.count, shape, kinds.cells)
        codes = np.full((len(kinds.cells), len(columns)), UNNAMED)
        values: tuple[tuple[Value, ...], ...] = ((),) * len(columns)
        return cls(tuple(columns), values, codes, tuple(secret_columns), secret_values, secret_codes, tally)

    @classmethod
    def of(cls, counts: Any, secret_columns: Sequence[str], columns: Sequence[str]) -> Counted:
        """Read the counts that an engine made."""
        values, codes = _by_column(counts.cells, len(columns))
        secret_values, secret_codes = _by_column(counts.secrets, len(secret_columns))
        shape = len(counts.secrets), len(counts.cells)
        tally = Tally.of(counts.secret_of, counts.cell_of, counts.count, shape)
        return cls(tuple(columns), values, codes, tuple(secret_columns), secret_values, secret_codes, tally)

    def cell_label(self, cell: int) -> tuple[Value, ...] | None:
        """Read the released values of a cell in column order; None for the suppressed one and for unnamed ones."""
        row = self.codes[cell]
        if len(row) and row[0] < 0:
            return None
        return tuple(values[code] for values, code in zip(self.values, row.tolist(), strict=True))

    def secret_label(self, secret: int) -> tuple[Value, ...]:
        """Read the values of a secret, one for each secret column."""
        row = self.secret_codes[secret].tolist()
        return tuple(values[code] for values, code in zip(self.secret_values, row, strict=True))

    def select(self, columns: Sequence[str]) -> Counted:
        """Release some of the columns only."""
        places = [self.columns.index(column) for column in columns]
        kinds, kind = group_rows(self.codes[:, places])
        return replace(
            self,
            columns=tuple(columns),
            values=tuple(self.values[place] for place in places),
            codes=self.codes[kinds][:, places],
            tally=self.tally.with_cells(kind),
        )

    def recode(
        self, columns: Sequence[str], values: Sequence[tuple[Value, ...]], groups: Sequence[NDArray[np.int64]]
    ) -> Counted:
        """Recode some columns: groups[i][v] is the place in values[i] of old value v."""
        places = [self.columns.index(column) for column in columns]
        codes = np.column_stack([own[self.codes[:, at]] for own, at in zip(groups, places, strict=True)])
        kinds, kind = group_rows(codes)
        return replace(
            self,
            columns=tuple(columns),
            values=tuple(values),
            codes=codes[kinds],
            tally=self.tally.with_cells(kind),
        )

    def about(self, secret_columns: Sequence[str]) -> Counted:
        """Marginalise the secret to some of its columns."""
        places = [self.secret_columns.index(column) for column in secret_columns]
        kinds, kind = group_rows(self.secret_codes[:, places])
        return replace(
            self,
            secret_columns=tuple(secret_columns),
            secret_values=tuple(self.secret_values[place] for place in places),
            secret_codes=self.secret_codes[kinds][:, places],
            tally=self.tally.with_secrets(kind),
        )

    def without_secrets(self, gone: NDArray[np.bool_]) -> Counted:
        """Leave out the people of some secrets, and cells that nobody else is in."""
        if not gone.any():
            return self
        tally, left = self.tally.without_secrets(gone)
        return replace(
            self,
            codes=self.codes[left],
            holders=None if self.holders is None else self.holders[left],
            secret_codes=self.secret_codes[~gone],
            tally=tally,
        )

    def hide(self, columns: Sequence[str], cells: NDArray[np.bool_]) -> Counted:
        """Show nothing in some columns of some cells, and count cells that then show the same as one."""
        if not cells.any():
            return self
        codes = self.codes.copy()
        places = np.array([self.columns.index(column) for column in columns])
        codes[np.flatnonzero(cells)[:, None], places] = SUPPRESSED
        kinds, kind = group_rows(codes)
        return replace(self, codes=codes[kinds], tally=self.tally.with_cells(kind))

    def with_values_shown(self, columns: Sequence[str]) -> Counted:
        """Forget the values of some columns that no cell shows."""
        codes, values = self.codes.copy(), list(self.values)
        for place in map(self.columns.index, columns):
            own = codes[:, place]
            shown = np.unique(own[own >= 0])
            values[place] = tuple(values[place][code] for code in shown.tolist())
            codes[:, place] = np.where(own >= 0, np.searchsorted(shown, own), SUPPRESSED)
        return replace(self, codes=codes, values=tuple(values))

    def keep(self, cells: NDArray[np.bool_]) -> Counted:
        """Count the people of some cells alone."""
        if cells.all():
            return self
        kept = np.flatnonzero(cells[self.tally.cell])
        left, cell = group_keys(self.tally.cell[kept])
        held, secret = group_keys(self.tally.secret[kept])
        tally = Tally.of(secret, cell, self.tally.count[kept], (len(held), len(left)), self.tally.cells[left])
        return replace(self, codes=self.codes[left], secret_codes=self.secret_codes[held], tally=tally)

    def publish(
        self, local: LocalRecoding, people: int | None = None, columns: Sequence[str] | None = None
    ) -> Counted:
        """Recode cell by cell: counts of what is published, multiplied by the recoding's scale.

        `people` is how many there are, where these counts are of noisy columns and so multiplied already. `columns` are
        those here that it is for, where others stand beside them; cells that show nothing there go on doing so.
        """
        names = local.columns if columns is None else tuple(columns)
        if columns is None and self.columns != names:
            raise InvalidInput(
                "a local recoding must be of the columns that are counted; protect the table again."
            )
        places, tally = [self.columns.index(name) for name in names], self.tally
        # one more cell at the end, with one more value: nothing, for nothing
        starts = np.append(local.starts, len(local.cell) + 1)
        value, weight = np.append(local.value, len(local.published)), np.append(local.weight, local.scale)
        labels, shown = _by_column(local.published, len(names))
        shown = np.vstack([shown, np.full((1, len(names)), SUPPRESSED)])
        own = self._places_in(local, places)[tally.cell]
        width = starts[own + 1] - starts[own]
        pair = np.repeat(np.arange(len(own)), width)
        entry = np.arange(len(pair)) + np.repeat(starts[own] - (np.cumsum(width) - width), width)
        codes = self.codes[tally.cell[pair]]
        codes[:, places] = shown[value[entry]]
        kinds, cell = group_rows(codes)
        count = tally.count[pair].astype(object) * weight[entry].astype(object)
        joined = Tally.of(tally.secret[pair], cell, count, (tally.shape[0], len(kinds)))
        values = [dict(zip(places, labels, strict=True)).get(at, old) for at, old in enumerate(self.values)]
        unit = local.scale * (1 if people is None else tally.total // people)
        expected = (joined.of_cell // unit).astype(np.int64)  # by chance as many are expected, or more
        return replace(self, values=tuple(values), codes=codes[kinds], tally=joined, holders=expected)

    def _places_in(self, local: LocalRecoding, places: Sequence[int]) -> NDArray[np.intp]:
        """Which cell of a recoding each cell is, by some columns; beyond the last where these show nothing."""
        kinds, kind = group_rows(self.codes[:, places])
        rows = self.codes[kinds][:, places]
        there = np.flatnonzero(rows[:, 0] >= 0)
        labels = [
            tuple(self.values[place][code] for place, code in zip(places, row, strict=True))
            for row in rows[there].tolist()
        ]
        found = np.full(len(kinds), len(local.cells), dtype=np.intp)
        found[there] = local.places_of(labels)
        return found[kind]

    def suppress(self, min_count: int | None) -> Counted:
        """Suppress small cells: all people in cells of fewer than `min_count` share one cell that shows nothing."""
        small = self.tally.sizes < (min_count or 0)
        if not small.any():
            return self
        codes = np.vstack([self.codes[~small], np.full((1, self.codes.shape[1]), SUPPRESSED)])
        return replace(self, codes=codes, tally=self.tally.join_cells(small)[0])

    def by_kind(self) -> Counted:
        """Keep cells of equal counts as one, which is called by the first of them."""
        tally, first = self.tally.by_kind()
        if len(first) == len(self.codes):
            return self
        holders = None if self.holders is None else self.holders[first]
        return replace(self, codes=self.codes[first], holders=holders, tally=tally)

    def randomise(self, mechanisms: Mapping[str, ColumnMechanism]) -> Counted:
        """Apply mechanisms to some columns."""
        tally, codes, values, entropy = self.tally, self.codes, list(self.values), 0.0
        likeliest: dict[int, NDArray[np.intp]] = {}
        for place, column in enumerate(self.columns):
            mechanism, own = mechanisms.get(column), self.values[place]
            if mechanism is not None and mechanism.acts_on(own):
                channel, shares = mechanism.on(column, own), self._shares(place)
                entropy += float(shares @ channel.entropies())
                tally, codes = randomise_column(tally, codes, place, channel)
                values[place] = channel.outcomes
                likeliest |= {place: channel.likeliest(shares)} if mechanism.renames else {}
        if codes is self.codes:
            return self
        return replace(
            self,
            tally=tally,
            codes=codes,
            values=tuple(values),
            holders=self._holders(codes, values, likeliest),
            noise_entropy=entropy,
        )

    def _shares(self, place: int) -> FloatArray:
        """The share of people who show each value of a column."""
        codes = self.codes[:, place]
        shown = np.flatnonzero(codes >= 0)
        counts = sum_by(codes[shown], self.tally.of_cell[shown], len(self.values[place]))
        return divide(counts, self.tally.total)

    def _holders(
        self,
        codes: NDArray[np.int64],
        values: Sequence[tuple[Value, ...]],
        likeliest: Mapping[int, NDArray[np.intp]],
    ) -> NDArray[np.int64]:
        """How many people of this release have the values of each cell of another one.

        Outcomes of some columns have names of their own. They stand for the values that make them likeliest, and for
        those that they are called like; the fewer people count.
        """
        named = [_places(old, new) for old, new in zip(self.values, values, strict=True)]
        meant = [
            np.append(likeliest[at], SUPPRESSED) if at in likeliest else own for at, own in enumerate(named)
        ]
        called = [
            np.where(own < len(old), own, other)
            for own, old, other in zip(named, self.values, meant, strict=True)
        ]
        held = self._people_at(codes, meant)
        return np.minimum(held, self._people_at(codes, called)) if likeliest else held

    def _people_at(self, codes: NDArray[np.int64], places: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """How many people of this release are in the cells that codes of another one have, given its places here."""
        own = np.column_stack([place[column] for place, column in zip(places, codes.T, strict=True)])
        _, kind = group_rows(np.vstack([self.codes, own]))
        before = sum_by(kind[: len(self.codes)], self.tally.of_cell, int(kind.max()) + 1)
        # counts that were drawn once already are multiplied, and may be any number
        return np.asarray(
            np.minimum(before, _MOST_HOLDERS)[kind[len(self.codes) :]].astype(np.int64), dtype=np.int64
        )

    def holders_of(self, cell: int) -> int:
        """Count the people who have the values of one cell, before noise."""
        return int((self.tally.sizes if self.holders is None else self.holders)[cell])

    def reorder(self, cells: Places, secrets: Places) -> Counted:
        """Put cells and secrets in another order."""
        return replace(
            self,
            codes=self.codes[cells],
            holders=None if self.holders is None else self.holders[cells],
            secret_codes=self.secret_codes[secrets],
            tally=self.tally.reorder(cells, secrets),
        )


def _places(old: Sequence[Value], new: Sequence[Value]) -> NDArray[np.int64]:
    """Where each new value is among old ones, beyond their end where it is not; −1, for a hidden one, stays."""
    known = {value: place for place, value in enumerate(old)}
    return np.array([*(known.get(value, len(old)) for value in new), SUPPRESSED], dtype=np.int64)


def _by_column(
    rows: Sequence[Sequence[Value]], width: int
) -> tuple[tuple[tuple[Value, ...], ...], NDArray[np.int64]]:
    """Each column's distinct values, and the rows as places among them."""
    values, codes = [], np.zeros((len(rows), width), dtype=np.int64)
    for place in range(width):
        known: dict[Value, int] = {}
        codes[:, place] = [known.setdefault(row[place], len(known)) for row in rows]
        values.append(tuple(known))
    return tuple(values), codes


def proportional_groups(tally: Tally) -> Places:
    """Group cells of proportional counts, exactly: they say the same about the secret.

    Merging them changes neither the distribution of the leakage nor the envelope.

    >>> proportional_groups(Tally.of([0, 1, 0, 1, 0], [0, 0, 1, 1, 2], [2, 4, 1, 2, 5], (2, 3))).tolist()
    [0, 0, 1]
    """
    starts = tally.starts
    divisor = np.gcd.reduceat(tally.count, starts)
    return equal_columns(tally.secret, tally.count // divisor[tally.cell], starts)


def order_by_code(counted: Counted, seed: int | None = None) -> Counted:
    """Put cells and secrets of a release in the order of their codes, so that a code gives nothing away.

    Secrets are numbered from the most to the least frequent, cells from the largest to the smallest. Shares and sizes
    are shown next to the codes anyway, so this order adds nothing to them. Alphabetical order would: who knows that a
    secret is "no" or "yes" could read the codes. Equally frequent ones are therefore shuffled, by the system's
    randomness unless a seed is given.

    Parameters
    ----------
    seed : int, optional
        Makes the order of ties repeatable; whoever knows the seed and the values can then undo it.
    """
    generator = np.random.default_rng(seed)
    secrets = by_size(counted.tally.of_secret, generator)
    return counted.reorder(by_size(counted.tally.sizes, generator), secrets)


def by_size(sizes: NDArray[Any], generator: np.random.Generator) -> Places:
    """Sort places from the largest size down, ties in random order."""
    shuffled = generator.permutation(len(sizes))
    return shuffled[np.argsort(-sizes[shuffled], kind="stable")].astype(np.intp)


def counts_digest(counted: Counted) -> str:
    """Hash the table of counts by SHA-256, whatever the order of its rows.

    Each secret that occurs in a cell is a line, the JSON array [secret values…, released values…, number of rows]
    with null for missing values and everything outside ASCII escaped. The lines are sorted and end with a line feed.

    Who can guess the whole table can check the guess with this number, so it is as confidential as the counts.
    """
    tally = counted.tally
    secrets = [json.dumps(counted.secret_label(place))[1:-1] for place in range(tally.shape[0])]
    cells = [json.dumps(counted.cell_label(place))[1:-1] for place in range(tally.shape[1])]
    triples = zip(tally.secret.tolist(), tally.cell.tolist(), tally.count.tolist(), strict=True)
    lines = sorted(f"[{secrets[secret]}, {cells[cell]}, {count}]\n" for secret, cell, count in triples)
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
