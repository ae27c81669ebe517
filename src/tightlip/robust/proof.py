"""Proofs that no prior of a set lets any post-processing leak more than log T with probability δ.

For multipliers λ_x > 0, whatever the prior p, no post-processing Z has (certificate/envelope.py)
    P{ℓ(Z) ≥ log T} > f(p) = Σ_y g_y(q_y(p)),   g_y(q) = max(0, max_x λ_x K_xy + (1 − λ_x T) q).
f is convex, so on a cell (the hull of some points, not all of them priors) it is largest at one of the points, and on a
set with too many corners each g_y lies below its chord between the smallest and largest q_y: a linear function of p.
Without multipliers the proof is that no lift exceeds T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightlip.certificate.rational import rational
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.channel import Channel
from tightlip.model.jsonio import check_keys
from tightlip.model.matrix import dense
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import exact_text, number
from tightlip.robust.region import Point, Region, Simplex, cover_of, dot

Multipliers = tuple[Fraction, ...] | None
Path = tuple[int, ...]  # which simplex, then which half each time
_LONGEST = 300  # steps of a path in a file: halved so often a cell has no more points than floats tell apart


@dataclass(frozen=True)
class Likelihoods:
    """The rows of a channel that some prior of the set makes possible, by outcome, as rationals."""

    columns: tuple[tuple[Fraction, ...], ...]
    possible: tuple[int, ...]

    @classmethod
    def of(cls, channel: Channel, region: Region) -> Likelihoods:
        """Read the rows of the secrets to which some member gives mass."""
        columns = dense(channel.matrix).T.tolist()
        return cls(tuple(tuple(map(Fraction, column)) for column in columns), tuple(region.possible))

    @cached_property
    def entries(self) -> list[list[Any]]:
        """K_xy of the possible secrets, by outcome, for flint."""
        return [[rational(column[secret]) for secret in self.possible] for column in self.columns]

    def least_total(self) -> Fraction:
        """Compute the least probability of all outcomes together: 1, but for the rounding of stored floats."""
        return min(sum((column[secret] for column in self.columns), Fraction(0)) for secret in self.possible)

    def reachable(self, delta: Fraction) -> Fraction:
        """Compute δ, or the least probability of all outcomes together, if that is less."""
        return min(delta, self.least_total())

    def total(self, point: Point, multipliers: Multipliers, ratio: Fraction) -> Any:
        """f(p), or 0 where without multipliers no lift exceeds the ratio, else 1."""
        masses = [rational(point[secret]) for secret in self.possible]
        bound, found = rational(ratio), rational(Fraction(0))
        lines = None if multipliers is None else _lines(multipliers, bound)
        for column in self.entries:
            probability = sum((mass * entry for mass, entry in zip(masses, column, strict=True)), 0 * bound)
            if lines is None:
                if max(column) > bound * probability:
                    return rational(Fraction(1))
            else:
                found += _highest_line(lines, column, probability)
        return found


@dataclass(frozen=True)
class Chords:
    """The upper bound of f over a whole set: each g_y below its chord."""

    region: Region
    known: Likelihoods

    @cached_property
    def ranges(self) -> list[tuple[Fraction, Fraction]]:
        """The smallest and the largest q_y of each outcome."""
        return [
            (self.region.lowest(column)[0], self.region.highest(column)[0]) for column in self.known.columns
        ]

    def lift(self) -> Fraction | None:
        """Compute the largest lift under any prior of the set; None where it is unbounded."""
        peaks = [max(column[secret] for secret in self.known.possible) for column in self.known.columns]
        pairs = [(peak, least) for peak, (least, _) in zip(peaks, self.ranges, strict=True) if peak]
        if not all(least for _, least in pairs):
            return None
        return max(peak / least for peak, least in pairs)

    def total(self, multipliers: tuple[Fraction, ...], ratio: Fraction) -> Any:
        """Compute the bound, as a flint rational."""
        lines = _lines(multipliers, rational(ratio))
        slopes, constant = [Fraction(0)] * self.region.size, rational(Fraction(0))
        parts = zip(self.known.columns, self.known.entries, self.ranges, strict=True)
        for column, entries, (least, most) in parts:
            low, high = (_highest_line(lines, entries, rational(end)) for end in (least, most))
            constant += low
            if most > least:
                slope = _fraction((high - low) / rational(most - least))
                constant -= rational(slope * least)
                slopes = [total + slope * entry for total, entry in zip(slopes, column, strict=True)]
        return constant + rational(self.region.highest(slopes)[0])


def _lines(multipliers: tuple[Fraction, ...], ratio: Any) -> list[tuple[Any, Any]]:
    """(λ_x, 1 − λ_x T) of each possible secret."""
    return [(rational(value), 1 - rational(value) * ratio) for value in multipliers]


def _highest_line(lines: list[tuple[Any, Any]], column: list[Any], probability: Any) -> Any:
    """g_y at one probability of the outcome."""
    best = 0 * probability
    for (slope, rest), entry in zip(lines, column, strict=True):
        value = slope * entry + rest * probability
        if value > best:
            best = value
    return best


@dataclass(frozen=True, slots=True)
class WholeProof:
    """One set of multipliers for the whole set, by chords."""

    multipliers: Multipliers

    def check(self, region: Region, known: Likelihoods, ratio: Fraction, mass: Fraction) -> None:
        """Raise CertificateInvalid unless it proves the ratio at this probability."""
        chords = Chords(region, known)
        if self.multipliers is None:
            lift = chords.lift()
            if lift is None or lift > ratio:
                raise CertificateInvalid("upper end fails: some prior of the set has a larger lift.")
            return
        _require_positive(self.multipliers, known)
        _require(chords.total(self.multipliers, ratio), mass, "the whole set")

    def to_dict(self) -> dict[str, Any]:
        """Write the multipliers as JSON values."""
        return {"whole": _to_json(self.multipliers)}


@dataclass(frozen=True, slots=True)
class CellsProof:
    """Multipliers for each cell of a partition of the set; a cell is named by how it was cut out."""

    leaves: dict[Path, Multipliers]

    def check(self, region: Region, known: Likelihoods, ratio: Fraction, mass: Fraction) -> None:
        """Raise CertificateInvalid unless the cells cover the set and each proves the ratio."""
        cover = cover_of(region)
        if cover is None:
            raise CertificateInvalid("upper end fails: the set has too many corners to be cut into cells.")
        for place, root in enumerate(cover.cells):
            for path, cell in self._cells(root, (place,), divisible=cover.divisible):
                multipliers = self.leaves[path]
                _require_positive(multipliers, known)
                for point in cell:
                    _require(known.total(point, multipliers, ratio), mass, f"cell {path}")

    def to_dict(self) -> dict[str, Any]:
        """Write the path and the multipliers of each cell as JSON values."""
        return {"cells": [[list(path), _to_json(kept)] for path, kept in self.leaves.items()]}

    def _cells(self, cell: Simplex, path: Path, *, divisible: bool) -> Iterator[tuple[Path, Simplex]]:
        if path in self.leaves:
            yield path, cell
            return
        if not divisible or not any(leaf[: len(path)] == path for leaf in self.leaves):
            raise CertificateInvalid(f"upper end fails: cell {path} of the set is not covered.")
        for side, half in enumerate(halves(cell)):
            yield from self._cells(half, (*path, side), divisible=divisible)


def proof_from_dict(record: Any) -> CellsProof | WholeProof:
    """Read what `to_dict` of a proof wrote."""
    parts = check_keys(record, "proof", set(), {"whole", "cells"})
    if len(parts) != 1:
        raise ValueError("the proof must be of cells or of the whole set")
    if "whole" in parts:
        return WholeProof(_from_json(parts["whole"]))
    return CellsProof({_read_path(path): _from_json(kept) for path, kept in parts["cells"]})


def _to_json(multipliers: Multipliers) -> list[str] | None:
    return None if multipliers is None else [exact_text(value) for value in multipliers]


def _from_json(values: Any) -> Multipliers:
    return None if values is None else tuple(Fraction(number(value, "multipliers")) for value in values)


def _read_path(path: Any) -> Path:
    steps = tuple(path)
    if len(steps) > _LONGEST or not all(type(step) is int for step in steps):
        raise ValueError(f"a path must be at most {_LONGEST} whole numbers, got {quoted(path)}")
    return steps


def halves(cell: Simplex) -> tuple[Simplex, Simplex]:
    """Bisect a simplex at the middle of its longest edge (the first of several)."""
    pairs = [(one, two) for two in range(len(cell)) for one in range(two)]
    one, two = max(pairs, key=lambda pair: _distance(cell[pair[0]], cell[pair[1]]))
    middle = tuple((a + b) / 2 for a, b in zip(cell[one], cell[two], strict=True))
    first, second = list(cell), list(cell)
    first[two], second[one] = middle, middle
    return tuple(first), tuple(second)


def _distance(one: Point, two: Point) -> Fraction:
    difference = [a - b for a, b in zip(one, two, strict=True)]
    return dot(difference, difference)


def _require_positive(multipliers: Multipliers, known: Likelihoods) -> None:
    if multipliers is not None and (len(multipliers) != len(known.possible) or min(multipliers) <= 0):
        raise CertificateInvalid(
            "upper end fails: there must be one positive multiplier for each possible secret."
        )


def _require(total: Any, mass: Fraction, where: str) -> None:
    if total > rational(mass):
        shown = format_exactly(_fraction(total))
        raise CertificateInvalid(
            f"upper end fails: on {where} the multipliers prove a probability of {shown}, not {format_exactly(mass)}."
        )


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
