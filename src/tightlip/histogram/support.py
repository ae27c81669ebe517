"""Releases on a list of combinations that is not the feasible one: SML's Γ ∪ Γ̂*.

The holder lists combinations, some perhaps infeasible, and m feasible ones are not listed. A release lies on the listed
cells and those that the table has. So an unlisted cell in a release tells that the table has it, and quantization leaks
more than its bins. In bin k, a table with the unlisted cells S has the release uniform on a set H_k(S) that grows with
S. Of a release with the unlisted cells T, every S ⊇ T can be the reason, and e^Π = Σ_k e_k with

    e_k ≤ number of secrets in the bin,
    e_k ≤ Σ_T P{a uniform release of H_k(T) has all of T} ≤ Π_g Σ_t C(m_g, t) Π_{i<t} (N_g−i)/(N_g+ℓ_g+t−1−i),
    e_k ≤ 1 + (secrets in the bin − 1)(1 − Π_g Π_{i<m_g} (ℓ_g+i)/(N_g+ℓ_g+i)):

a group of the secret has ℓ_g listed and m_g unlisted cells and at most N_g rows in a release of the bin (the middle
for a share, otherwise τ); given its rows, what is in its cells is uniform and independent of the other groups, and both
chances are monotone in the rows. In the last bound whatever has an unlisted cell counts for every secret but one.
For one listed cell whose share is the secret this is SML Proposition 4, sharpened; for other secrets that is false.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag, listed, whole
from tightlip.certificate.recomputation import UNLISTED_PRIVACY, certify_by_recomputation
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.histogram.conditional import ConditionalDraw, draw_given_secret
from tightlip.histogram.counting import LARGEST, Field, Number, smallest
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.ratio_distortion import pure_tables
from tightlip.histogram.secret import GroupedSecret
from tightlip.histogram.table import CellTable, Domain, extended
from tightlip.numeric.randomness import Integers, RandomSource

_MOST_TERMS = 64
_MOST_BINS_ONE_BY_ONE = 200


@dataclass(frozen=True, slots=True, eq=False)
class ListedCells:
    """Which cells of a domain are listed, and which are feasible."""

    listed: NDArray[np.bool_]
    feasible: NDArray[np.bool_]

    @property
    def note(self) -> str:
        """What the guarantee supposes."""
        unlisted = int((self.feasible & ~self.listed).sum())
        return (
            f"Releases lie on {int(self.listed.sum())} listed combinations and those of the table. The guarantee is "
            f"for tables on the {int(self.feasible.sum())} feasible combinations, {unlisted} of which are not listed."
        )

    def per_group(self, secret: GroupedSecret) -> tuple[list[int], list[int]]:
        """Listed cells and unlisted feasible ones of each group.

        Raises
        ------
        InvalidInput
            When a group has no listed cell: its rows would have to be shown as they are.
        """
        width = len(secret.sizes)
        groups = secret.group_of_cell
        count = np.bincount(groups[self.listed], minlength=width).tolist()
        unlisted = np.bincount(groups[self.feasible & ~self.listed], minlength=width).tolist()
        for place, (own, cells) in enumerate(zip(count, secret.sizes, strict=True)):
            if cells and not own:
                raise InvalidInput(
                    f"support must list a combination of every group of the secret, got none of group {place} "
                    f"({_GROUPS[place]}); add one."
                )
        return count, unlisted

    def draw(
        self, counts: Integers, secret: GroupedSecret, wanted: range, random: RandomSource
    ) -> ConditionalDraw:
        """Draw a histogram on the listed cells and those of the table, its secret in a range."""
        allowed = self.listed | (counts > 0)
        groups = secret.group_of_cell[allowed]
        sizes = tuple(np.bincount(groups, minlength=len(secret.sizes)).tolist())
        found = draw_given_secret(GroupedSecret(groups, sizes, secret.total, secret.scale), wanted, random)
        whole_counts = np.zeros(len(allowed), dtype=np.int64)
        whole_counts[allowed] = found.counts
        return ConditionalDraw(whole_counts, found.exact, found.method)


_GROUPS = (
    "the part of the first whole",
    "the remainder of the first whole",
    "the part of the second whole, or what is outside of the only one",
    "the remainder of the second whole",
    "what is outside of both wholes",
)


def with_support(counted: CellTable, support: Iterable[Sequence[object]]) -> tuple[CellTable, ListedCells]:
    """Widen the domain of a table by listed combinations, and tell which cells are listed."""
    rows = [
        listed(row, f"support row {at}", "values")
        for at, row in enumerate(listed(support, "support", "rows"))
    ]
    if not rows:
        raise InvalidInput("support must have at least one row, got none; list the combinations.")
    width = len(counted.domain.columns)
    for at, row in enumerate(rows):
        if len(row) != width:
            raise ShapeMismatch(f"support row {at} must have {width} values, one per column, got {len(row)}.")
    table, places = extended(counted, rows)
    is_listed = np.zeros(table.domain.size, dtype=bool)
    is_listed[places] = True
    is_feasible = np.arange(table.domain.size) < counted.domain.size
    cells = ListedCells(is_listed, is_feasible)
    domain = table.domain
    note = " ".join(filter(None, (domain.note, cells.note)))
    return CellTable(Domain(domain.columns, domain.values, domain.codes, note), table.counts), cells


def unlisted_distortion(secret: GroupedSecret, cells: ListedCells, bin_size: int) -> Distortion:
    """Bound Δ from below by tables with all rows in one listed and feasible cell; above it is at most 1."""
    known = np.bincount(secret.group_of_cell[cells.listed & cells.feasible], minlength=len(secret.sizes))
    own, _ = cells.per_group(secret)
    sizes = tuple(size if both else 0 for size, both in zip(own, known.tolist(), strict=True))
    if not any(sizes):
        ends = Distortion.of(Fraction(0), ""), Distortion.of(Fraction(1), "")
        return Distortion.between(*ends, "no listed combination is feasible")
    return pure_tables(GroupedSecret(secret.group_of_cell, sizes, secret.total, secret.scale), bin_size)


def unlisted_privacy(
    total: int,
    listed_cells: Sequence[int],
    unlisted_cells: Sequence[int],
    secrets: int,
    bin_size: int,
    *,
    share: bool = False,
    ordered: bool = True,
    attained: bool = True,
) -> Privacy:
    """Bound Π of quantization whose releases lie on the listed cells and those of the table.

    Parameters
    ----------
    total : τ
    listed_cells, unlisted_cells : of each group of the secret, ℓ_g and m_g
    secrets, bin_size : s and I
    share : whether the secret is the share of the first of two groups
    ordered : whether the bin's middle value is released
    attained : whether every value of the secret has a table, so that Π ≥ log ⌈s/I⌉

    >>> unlisted_privacy(5, [1, 2], [0, 1], 6, 3, share=True).upper.ratio
    Fraction(3, 1)
    """
    read = partial(whole, remedy="count the cells of each group")
    own = [read(size, "listed_cells", 0, LARGEST) for size in listed_cells]
    more = [read(size, "unlisted_cells", 0, LARGEST) for size in unlisted_cells]
    for name, value in (("share", share), ("ordered", ordered), ("attained", attained)):
        flag(value, name)
    if len(own) != len(more) or any(m and not size for size, m in zip(own, more, strict=True)):
        raise InvalidInput(
            f"listed_cells must be positive for each group with unlisted ones, got {quoted(list(listed_cells))} and "
            f"{quoted(list(unlisted_cells))}."
        )
    bins = list(_bins(total, secrets, bin_size, share, ordered, len(own)))

    def upper(field: Field) -> Number:
        parts = (count * _bin(field, values, rows, own, more) for count, values, rows in bins)
        return sum(parts, field.number(0))

    number_of_bins = sum(count for count, _, _ in bins)
    found = Privacy.between(
        lambda field: field.number(number_of_bins if attained else 1),
        upper,
        "unlisted combinations, bin by bin",
        same=False,
    )
    return certify_by_recomputation(
        UNLISTED_PRIVACY,
        found,
        total=total,
        listed_cells=own,
        unlisted_cells=more,
        secrets=secrets,
        bin_size=bin_size,
        share=share,
        ordered=ordered,
        attained=attained,
    )


def _bins(
    total: int, secrets: int, bin_size: int, share: bool, ordered: bool, groups: int
) -> Iterable[tuple[int, int, list[int]]]:
    """How many bins, how many values each has, and the most rows that a release has in each group."""
    full, rest = divmod(secrets, bin_size)
    if not share or full > _MOST_BINS_ONE_BY_ONE:
        yield from (
            (count, size, [total] * groups) for count, size in ((full, bin_size), (1, rest)) if count * size
        )
        return
    for start in range(0, secrets, bin_size):
        last = min(start + bin_size, secrets) - 1
        middle = min(start + bin_size // 2, secrets - 1)
        high, low = (middle, middle) if ordered else (last, start)
        yield 1, last - start + 1, [high, total - low] + [0] * (groups - 2)


def _bin(field: Field, values: int, rows: list[int], own: list[int], more: list[int]) -> Number:
    """The least of the three bounds on a bin."""
    groups = [one for one in zip(rows, own, more, strict=True) if one[2]]
    told, none = field.number(1), field.number(1)
    for most, size, missing in groups:
        told = told * _told(field, most, size, missing)
        none = none * _none(field, most, size, missing)
    return smallest([field.number(values), told, 1 + (values - 1) * (1 - none)])


def _told(field: Field, most: int, size: int, missing: int) -> Number:
    """Σ_t C(m, t) Π_{i<t} (N−i)/(N+ℓ+t−1−i); for many cells by at most (1 + N/(N+ℓ))^m."""
    if missing > _MOST_TERMS:
        return field.power(1 + Fraction(most, most + size), missing)
    terms = (
        comb(missing, t)
        * prod((Fraction(most - i, most + size + t - 1 - i) for i in range(t)), start=Fraction(1))
        for t in range(min(missing, most) + 1)
    )
    return field.number(sum(terms, Fraction(0)))


def _none(field: Field, most: int, size: int, missing: int) -> Number:
    """Π_{i<m} (ℓ+i)/(N+ℓ+i); for many cells by at least (ℓ/(N+ℓ))^m."""
    if missing > _MOST_TERMS:
        return field.power(Fraction(size, most + size), missing)
    factors = (Fraction(size + i, most + size + i) for i in range(missing))
    return field.number(prod(factors, start=Fraction(1)))
