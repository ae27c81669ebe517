"""Mis-specified supports: the holder's list of attribute combinations is not the true one (SML, App. G and H).

Of the d* feasible cells the holder knows d̂0 and misses m = d* − d̂0; it lists d̂1 spurious ones besides. It
releases histograms on its d̂ = d̂0 + d̂1 cells *and those of the table*, so a missing cell that shows up in a
release tells something about the table. The secret is the share of a known cell.

Privacy is between two ends, equal up to three missing cells (`selection`). For quantization each bin is a group
of its own, with the free units τ − R(k), and the e^Π add up; with many bins they are taken in blocks, since more
free units never tell less (removing a random unit turns a uniform histogram of n units into one of n − 1).

Distortion is a maximum over the number β of missing cells that the table has: the worst table has one unit in
each of them but one, which has all the rest, since the expected distance is convex in θ and symmetric. With
E = E min(q, Y), Y the count of one of D cells in a uniform histogram of n units,

    randomised response   (1 − ((β−1) P(Y ≥ 1) + E)/τ)/(1 + r_β),     n = τ,          D = d̂ + β,     q = τ − β + 1,
    quantization          1 − (min(a, R) + (β−1) P(Y ≥ 1) + E)/τ,     n = τ − R(0),   D = d̂ + β − 1, q = τ − a − β + 1,

a the first or last value of the first bin, R = R(0). The bounds of App. H-D, with the corrected formula, hold
too: Theorem 4 at d̂ cells below and at d* + d̂1 cells above. As printed, the one for quantization is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tightlip.arguments import instance, whole
from tightlip.errors import PreconditionFailed
from tightlip.histogram.counting import LARGEST, Field, Growth, Number, largest, read_growth
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization, middle_distortion
from tightlip.histogram.space import HistogramSpace
from tightlip.papers.selection import ALL_TRIED, Group, selection_lower, selection_upper

_MOST_BLOCKS = 200
_MOST_MISSING = 200


@dataclass(frozen=True, slots=True)
class MisspecifiedSupport:
    """What the holder lists, against what is feasible.

    Parameters
    ----------
    total : int
        τ.
    known, spurious, missing : int
        d̂0 listed and feasible cells, among them the secret's; d̂1 listed but infeasible; m feasible but not listed.

    >>> MisspecifiedSupport(total=5, known=2, spurious=0, missing=1).estimated
    2
    """

    total: int
    known: int
    spurious: int
    missing: int

    def __post_init__(self) -> None:
        whole(self.total, "total", 1, LARGEST, remedy="give the number of rows, or τ")
        for name, value in (("known", self.known), ("spurious", self.spurious), ("missing", self.missing)):
            whole(value, name, 0, LARGEST, remedy="count the cells")
        whole(self.widest, "known + spurious + missing", 0, LARGEST, remedy="merge rare combinations")
        if self.known < 2:
            raise PreconditionFailed(
                f"known must be at least 2, got {self.known}: the secret must be the share of a listed feasible cell, "
                "with another beside it; list more cells."
            )

    @property
    def estimated(self) -> int:
        """d̂ = d̂0 + d̂1, the cells that the holder lists."""
        return self.known + self.spurious

    @property
    def true_cells(self) -> int:
        """d* = d̂0 + m, the feasible cells."""
        return self.known + self.missing

    @property
    def widest(self) -> int:
        """d* + d̂1, all cells that can appear in a release."""
        return self.estimated + self.missing

    @property
    def secrets(self) -> int:
        """τ + 1."""
        return self.total + 1


def read_support(support: object) -> MisspecifiedSupport:
    """Refuse what is not a mis-specified support."""
    remedy = "write MisspecifiedSupport(total, known, spurious, missing)"
    return instance(support, MisspecifiedSupport, "support", remedy)


def misspecified_response_privacy(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Privacy:
    """Π of randomised response whose list of cells is wrong.

    >>> leak = misspecified_response_privacy(MisspecifiedSupport(5, 2, 0, 1), ratio=2)
    >>> leak.ratio
    Fraction(177, 77)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    total = support.total
    group = Group(total, support.missing, 0, total, total, support.estimated, growth)
    return Privacy.between(
        partial(selection_lower, group),
        partial(selection_upper, group),
        "selection of missing cells",
        same=support.missing <= ALL_TRIED,
    )


def misspecified_quantization_privacy(support: MisspecifiedSupport, bin_size: int) -> Privacy:
    """Π of quantization by the middle whose list of cells is wrong.

    >>> misspecified_quantization_privacy(MisspecifiedSupport(5, 2, 1, 2), 2).ratio
    Fraction(319, 70)
    """
    blocks = list(_bin_blocks(support, bin_size))

    def lower(field: Field) -> Number:
        return sum((count * selection_lower(last, field) for count, _, last in blocks), field.number(0))

    def upper(field: Field) -> Number:
        return sum((count * selection_upper(first, field) for count, first, _ in blocks), field.number(0))

    apart = support.missing <= ALL_TRIED and all(first == last for _, first, last in blocks)
    return Privacy.between(lower, upper, "selection of missing cells, bin by bin", same=apart)


def misspecified_response_distortion(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Distortion:
    """Δ of randomised response whose list of cells is wrong.

    >>> misspecified_response_distortion(MisspecifiedSupport(5, 2, 0, 1), ratio=2).upper.fraction
    Fraction(7, 11)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    upper = partial(_response_at, support.total, support.widest, growth)
    return _worst_table(support, partial(_response_table, support, growth), upper)


def misspecified_quantization_distortion(support: MisspecifiedSupport, bin_size: int) -> Distortion:
    """Δ of quantization by the middle whose list of cells is wrong.

    >>> misspecified_quantization_distortion(MisspecifiedSupport(5, 2, 0, 1), 3).upper.fraction
    Fraction(3, 5)
    """
    read_support(support)
    case = Quantization(HistogramSpace(support.total, support.estimated), bin_size)

    def upper(field: Field) -> Number:
        return field.number(middle_distortion(support.total, support.widest, case.bin_size))

    return _worst_table(support, partial(_quantized_table, support, case), upper)


def _bin_blocks(support: MisspecifiedSupport, bin_size: int) -> Iterator[tuple[int, Group, Group]]:
    """Consecutive bins of one size: how many, and the groups of the first (it tells most) and of the last."""
    read_support(support)
    case = Quantization(HistogramSpace(support.total, support.estimated), bin_size)
    full = case.secrets // case.bin_size
    step = max(1, -(-full // _MOST_BLOCKS))
    for start in range(0, full, step):
        last = min(start + step, full) - 1
        yield last - start + 1, _bin_group(support, case, start), _bin_group(support, case, last)
    if full < case.bins:
        short = _bin_group(support, case, full)
        yield 1, short, short


def _bin_group(support: MisspecifiedSupport, case: Quantization, index: int) -> Group:
    members, free = case.members(index), support.total - case.representative(index)
    return Group(support.total, support.missing, members[0], members[-1], free, support.estimated - 1)


def _worst_table(
    support: MisspecifiedSupport,
    tables: Callable[[int, Field], list[Number]],
    upper: Callable[[Field], Number],
) -> Distortion:
    """The maximum over β; for very many missing cells over some β, with the bound of App. H-D above."""
    most = min(support.missing, support.total)
    tried = [*range(min(most, _MOST_MISSING) + 1)]

    def worst(field: Field) -> Number:
        return largest([value for beta in tried for value in tables(beta, field)])

    found = Distortion.of_formula(worst, "worst table")
    if most <= _MOST_MISSING:
        return found
    return Distortion.between(found, Distortion.of_formula(upper, ""), "some tables; SML App. H-D corrected")


def _response_table(support: MisspecifiedSupport, growth: Growth, beta: int, field: Field) -> list[Number]:
    total, cells = support.total, support.estimated + beta
    if not beta:
        return [_response_at(total, cells, growth, field)]
    shared = _shared_units(field, total, cells, beta, total - beta + 1)
    return [(1 - shared / total) / (1 + _response_rate(total, cells, growth, field))]


def _quantized_table(
    support: MisspecifiedSupport, case: Quantization, beta: int, field: Field
) -> list[Number]:
    total, middle = support.total, case.representative(0)
    free, cells = total - middle, support.estimated + beta - 1
    values = []
    for count in {case.members(0)[0], case.members(0)[-1]}:
        rest = total - count - max(beta - 1, 0)
        if rest >= min(beta, 1):
            shared = min(count, middle) + _shared_units(field, free, cells, beta, rest)
            values.append(1 - shared / total)
    return values


def _shared_units(field: Field, free: int, cells: int, beta: int, rest: int) -> Number:
    """(β − 1) P(Y ≥ 1) + E min(rest, Y) for a uniform histogram of `free` units on `cells` cells."""
    if not free:
        return field.number(0)
    seen = field.number(Fraction(max(beta - 1, 0) * free, free + cells - 1))
    mean = field.number(Fraction(free, cells))
    if rest >= free:
        return seen + mean
    over = field.binomial(free - rest + cells - 1, cells) / field.binomial(free + cells - 1, cells - 1)
    return seen + mean - over


def _response_at(total: int, cells: int, growth: Growth, field: Field) -> Number:
    """SML Theorem 4 at some number of cells: (d − 1)/(d(1 + r))."""
    share = field.number(Fraction(cells - 1, cells))
    return share / (1 + _response_rate(total, cells, growth, field))


def _response_rate(total: int, cells: int, growth: Growth, field: Field) -> Number:
    return (field.growth(growth) - 1) / field.binomial(total + cells - 1, cells - 1)
