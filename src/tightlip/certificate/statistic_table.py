"""Statistic leakage in exact arithmetic: a channel's entries, the total of a selection, the bound of prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from tightlip.certificate.rational import rational
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.matrix import Matrix, is_sparse

Kind = Literal["statistic maximal leakage", "statistic cost leakage"]
MAXIMAL: Final = "statistic maximal leakage"
COST: Final = "statistic cost leakage"


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices made ready: as rationals, as floats where they all are floats, their sum, and the gain of a zero row."""

    exact: list[Any]
    floats: list[float] | None
    total: Any
    base: Any

    @classmethod
    def of(cls, prices: Sequence[Fraction]) -> PriceList:
        """Convert once what every row needs."""
        exact = [rational(price) for price in prices]
        floats = [nearest_float(price) for price in prices]
        same = all(Fraction(near) == price for near, price in zip(floats, prices, strict=True))
        zero = rational(0.0)
        base = sum((-price for price in exact if price < 0), zero)
        return cls(exact, floats if same else None, sum(exact, zero), base)


@dataclass(frozen=True, slots=True)
class Table:
    """W as stored (floats, or flint rationals): for each row the nonzero entries, and the rows of each secret."""

    rows: list[list[tuple[int, Any]]]
    groups: list[list[int]]
    outputs: int
    in_floats: bool

    @classmethod
    def of(cls, channel: Channel, secret: Sequence[Label], kind: Kind) -> Table:
        """Read a channel exactly."""
        sign = 1 if kind == MAXIMAL else -1
        read = rational if channel.is_exact else float
        rows = [[(place, sign * read(entry)) for place, entry in row] for row in _entries(channel.matrix)]
        groups: dict[Label, list[int]] = {}
        for place, label in enumerate(secret):
            groups.setdefault(label, []).append(place)
        return cls(rows, list(groups.values()), channel.shape[1], not channel.is_exact)

    def total(self, selection: Sequence[int]) -> Any:
        """F of a selection."""
        return sum(self.peaks(selection), rational(0.0))

    def peaks(self, selection: Sequence[int]) -> list[Any]:
        """max_g W(r_g, y) for each output, in rationals."""
        best: list[Any] = [None] * self.outputs
        seen = [0] * self.outputs
        for row in selection:
            for place, entry in self.rows[row]:
                seen[place] += 1
                if best[place] is None or entry > best[place]:
                    best[place] = entry
        found = (
            entry if entry is not None and (count == len(selection) or entry > 0) else 0.0
            for entry, count in zip(best, seen, strict=True)
        )
        return [rational(entry) if isinstance(entry, float) else entry for entry in found]

    def gain(self, row: int, prices: PriceList) -> Any:
        """Σ_y (W_ry − u_y)_+, in rationals; floats are compared as floats, which is exact and fast."""
        total = prices.base
        by_float = self.in_floats and prices.floats is not None
        compared = prices.floats if by_float else prices.exact
        assert compared is not None
        for place, stored in self.rows[row]:
            entry = rational(stored) if self.in_floats and not by_float else stored
            price = compared[place]
            if entry > price:
                total += (rational(entry) if by_float else entry) - prices.exact[place]
            if price < 0:
                total += prices.exact[place]
        return total

    def bound(self, prices: PriceList, allowed: Sequence[Sequence[int]]) -> Any:
        """Σ_y u_y + Σ_g max_{allowed r of g} Σ_y (W_ry − u_y)_+."""
        return sum((max(self.gain(row, prices) for row in rows) for rows in allowed), prices.total)


def exact_fraction(value: Any) -> Fraction:
    """A flint rational as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def nearest_float(value: Fraction) -> float:
    """A float near a rational, 0 where there is none of that size."""
    return float(value) if abs(value) < 10**300 else 0.0


def _entries(matrix: Matrix) -> Iterator[Iterator[tuple[int, float | Fraction]]]:
    if is_sparse(matrix):
        for start, end in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
            places, entries = matrix.indices[start:end].tolist(), matrix.data[start:end].tolist()
            yield ((place, entry) for place, entry in zip(places, entries, strict=True) if entry)
    else:
        for row in matrix:
            yield ((place, entry) for place, entry in enumerate(row.tolist()) if entry)
