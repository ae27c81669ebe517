"""Mis-specified supports: the holder's list of attribute combinations is not the true one (SML, App. G and H).

Of the d* feasible cells the holder knows d̂0 and misses m = d* − d̂0; it lists d̂1 spurious ones besides. It
releases histograms on its d̂ = d̂0 + d̂1 cells *and those of the table*, so a missing cell that shows up in a
release tells something about the table. The secret is the share of a known cell.

Privacy is between two ends, equal up to three missing cells (selections, below). For quantization each bin is a group
of its own, with the free units τ − R(k), and the e^Π add up; with many bins they are taken in blocks, since more
free units never tell less (removing a random unit turns a uniform histogram of n units into one of n − 1).

Distortion is a maximum over the number β of missing cells that the table has: the worst table has one unit in
each of them but one, which has all the rest, since the expected distance is convex in θ and symmetric. With
E = E min(q, Y), Y the count of one of D cells in a uniform histogram of n units,

    randomised response   (1 − ((β−1) P(Y ≥ 1) + E)/τ)/(1 + r_β),     n = τ,          D = d̂ + β,     q = τ − β + 1,
    quantization          1 − (min(a, R) + (β−1) P(Y ≥ 1) + E)/τ,     n = τ − R(0),   D = d̂ + β − 1, q = τ − a − β + 1,

a the first or last value of the first bin, R = R(0). The bounds of App. H-D, with the corrected formula, hold
too: Theorem 4 at d̂ cells below and at d* + d̂1 cells above. As printed, the one for quantization is false.

Selections. Which missing cells should each secret's table have, so that the release tells most?

A holder who releases on its estimated cells and those of the table shows, with every missing cell in the
release, that the table had it. Let m cells be missing. For a group of secrets whose releases share an output
space of n free units, a selection gives each secret's table a set S of missing cells; its release is uniform on
histograms of n units on the `base` estimated cells and S, but for the weight e^ε − 1 on the table itself.
With everything divided by the number N_0 = C(n + base − 1, base − 1) of histograms without missing cells,

    N_t = Π_{i<t} (n + base + i)/(base + i)      histograms on base + t cells,
    c_t = Π_{i<t} (n − i)/(base + i)             those of them that use all t missing cells,
    Z_t = N_t + ρ,   ρ = (e^ε − 1)/N_0,
    e^Π = Σ_T c_|T| max{1/Z_|S| : S ⊇ T chosen} + ρ Σ_secrets 1/Z_|S|.

A table with g units in the secret's cell has τ − g others, so |S| ≤ τ − g. Up to three missing cells all
selections are tried. Beyond, two kinds of selection give a lower end (all sets within j cells; disjoint blocks),
and an upper end is the smallest of

    secrets,    Σ_t C(m, t) c_t/Z_t + secrets · ρ/Z_0,    1 + (secrets − 1)(1 − 1/Z_m):

in the first sum every T is told by the smallest S there can be, T itself; in the last, whatever has a missing
cell counts for every secret but one. Both sharpen SML Proposition 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations
from math import comb, prod

from tightlip.arguments import instance, whole
from tightlip.certificate.recomputation import (
    WRONG_QUANTIZATION_DISTORTION,
    WRONG_QUANTIZATION_PRIVACY,
    WRONG_RESPONSE_DISTORTION,
    WRONG_RESPONSE_PRIVACY,
    certify_by_recomputation,
)
from tightlip.errors import PreconditionFailed
from tightlip.histogram.counting import LARGEST, Field, Growth, Number, largest, read_growth, smallest
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization, middle_distortion
from tightlip.histogram.space import HistogramSpace

ALL_TRIED = 3
_MOST_TERMS = 64
_MOST_BLOCKS = 200
_MOST_MISSING = 200


@dataclass(frozen=True, slots=True)
class Group:
    """Secrets with counts first, …, last that share an output space.

    Attributes
    ----------
    total, missing : int
        τ and m.
    free, base : int
        n and the number of estimated cells they go to.
    growth : Growth | None
        e^ε of randomised response; None for quantization, where the table itself has no extra weight.
    """

    total: int
    missing: int
    first: int
    last: int
    free: int
    base: int
    growth: Growth | None = None

    @property
    def secrets(self) -> int:
        """How many there are."""
        return self.last - self.first + 1

    @property
    def most(self) -> int:
        """The most missing cells that any of the tables can have."""
        return min(self.missing, self.total - self.first)

    def own(self, field: Field) -> Number:
        """Compute ρ, the extra weight of the table itself."""
        if self.growth is None:
            return field.number(0)
        return (field.growth(self.growth) - 1) / field.binomial(self.free + self.base - 1, self.base - 1)

    def inside(self, field: Field, size: int) -> Number:
        """c_t."""
        return field.number(prod(Fraction(self.free - i, self.base + i) for i in range(size)))

    def weight(self, field: Field, size: int) -> Number:
        """Compute 1/Z_t."""
        return 1 / (self._count(field, size) + self.own(field))

    def _count(self, field: Field, size: int) -> Number:
        """N_t."""
        if size <= _MOST_TERMS:
            return field.number(prod(Fraction(self.free + self.base + i, self.base + i) for i in range(size)))
        side = self.base - 1
        wide = field.binomial(self.free + side + size, side + size)
        return wide / field.binomial(self.free + side, side)


@dataclass(frozen=True, slots=True)
class Family:
    """Distinct sets of missing cells that are chosen.

    Attributes
    ----------
    sizes : tuple[tuple[int, int], ...]
        (size, how many) of the chosen sets that are not empty, from the largest.
    told : tuple[tuple[int, int, int], ...]
        (t, size, how many): sets T of t cells whose smallest chosen superset has that size.
    """

    sizes: tuple[tuple[int, int], ...]
    told: tuple[tuple[int, int, int], ...]

    @property
    def count(self) -> int:
        """How many sets are chosen, the empty one apart."""
        return sum(count for _, count in self.sizes)


def selection_lower(group: Group, field: Field) -> Number:
    """Bound e^Π of the group from below, by the best selection known."""
    if group.missing <= ALL_TRIED:
        return _best_of_all(group, field)
    blocks = [_disjoint_blocks(group, field, count) for count in _block_counts(group)]
    return largest([_value(group, field, [_all_within(group)]), *blocks])


def selection_upper(group: Group, field: Field) -> Number:
    """Bound e^Π of the group from above."""
    if group.missing <= ALL_TRIED:
        return _best_of_all(group, field)
    spread = 1 + (group.secrets - 1) * (1 - group.weight(field, group.most))
    return smallest([field.number(group.secrets), spread, _every_set(group, field)])


def _best_of_all(group: Group, field: Field) -> Number:
    fitting = [family for family in all_families(group.missing) if _fits(group, family)]
    full = [family for family in fitting if family.count == group.secrets]
    partial = [_with_empty(family) for family in fitting if family.count < group.secrets]
    return _value(group, field, full + partial)


def _value(group: Group, field: Field, families: list[Family]) -> Number:
    """Maximise e^Π over selections: the family's sets for as many secrets, no missing cell for the others."""
    sizes = range(min(group.missing, _MOST_TERMS) + 1)
    inside, weight = [group.inside(field, t) for t in sizes], [group.weight(field, t) for t in sizes]
    own, zero = group.own(field), field.number(0)
    values = []
    for family in families:
        told = sum((count * inside[t] * weight[size] for t, size, count in family.told), zero)
        kept = sum((count * weight[size] for size, count in family.sizes), zero)
        values.append(told + own * (kept + (group.secrets - family.count) * weight[0]))
    return largest(values)


def _fits(group: Group, family: Family) -> bool:
    """Whether the tables have the units: larger sets go to secrets with smaller counts, from `first` on."""
    place = group.first
    for size, count in family.sizes:
        place += count
        if size > group.total - place + 1:
            return False
    return family.count <= group.secrets


def _with_empty(family: Family) -> Family:
    """Add the empty set: it tells T = ∅ best."""
    return Family(family.sizes, ((0, 0, 1), *(entry for entry in family.told if entry[0])))


@lru_cache(maxsize=ALL_TRIED + 1)
def all_families(missing: int) -> tuple[Family, ...]:
    """List every family of non-empty sets among `missing` cells, one of each kind.

    >>> len(all_families(1)), len(all_families(2))
    (2, 6)
    """
    sets = [frozenset(c) for size in range(missing + 1) for c in combinations(range(missing), size)]
    kinds = {
        _family(sets, chosen): None for count in range(len(sets)) for chosen in combinations(sets[1:], count)
    }
    return tuple(kinds)


def _family(sets: list[frozenset[int]], chosen: tuple[frozenset[int], ...]) -> Family:
    told: Counter[tuple[int, int]] = Counter()
    for one in sets:
        covers = [len(other) for other in chosen if one <= other]
        if covers:
            told[len(one), min(covers)] += 1
    sizes = sorted(Counter(map(len, chosen)).items(), reverse=True)
    return Family(tuple(sizes), tuple(sorted((t, size, count) for (t, size), count in told.items())))


def _all_within(group: Group) -> Family:
    """Select all sets within j of the missing cells, for the largest j with 2^j ≤ secrets; tables have the units."""
    span = min(group.missing, group.secrets.bit_length() - 1)
    sizes = tuple((size, comb(span, size)) for size in range(span, 0, -1))
    return Family(sizes, tuple((size, size, comb(span, size)) for size in range(span + 1)))


def _block_counts(group: Group) -> Iterator[int]:
    most = min(group.secrets - 1, group.missing)
    yield from (1 << power for power in range(most.bit_length()))
    if most:
        yield most


def _disjoint_blocks(group: Group, field: Field, count: int) -> Number:
    """Give `count` secrets blocks of missing cells of their own, the others none."""
    size = min(group.missing // count, group.total - group.first - count + 1)
    alone = 1 + group.own(field) * (group.secrets - count)
    return count * (1 - group.weight(field, size)) + alone * group.weight(field, 0)


def _every_set(group: Group, field: Field) -> Number:
    """Compute Σ_t C(m, t) c_t/Z_t + secrets · ρ/Z_0; for many missing cells by c_t/N_t ≤ (n/(n + base))^t."""
    kept = group.secrets * group.own(field) * group.weight(field, 0)
    if group.missing > _MOST_TERMS:
        return kept + field.power(1 + Fraction(group.free, group.free + group.base), group.missing)
    terms = (
        comb(group.missing, size) * group.inside(field, size) * group.weight(field, size)
        for size in range(group.most + 1)
    )
    return kept + sum(terms, field.number(0))


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
    """Bound Π of randomised response whose list of cells is wrong.

    >>> leak = misspecified_response_privacy(MisspecifiedSupport(5, 2, 0, 1), ratio=2)
    >>> leak.ratio
    Fraction(177, 77)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    total = support.total
    group = Group(total, support.missing, 0, total, total, support.estimated, growth)
    found = Privacy.between(
        partial(selection_lower, group),
        partial(selection_upper, group),
        "selection of missing cells",
        same=support.missing <= ALL_TRIED,
    )
    return certify_by_recomputation(WRONG_RESPONSE_PRIVACY, found, support=support, **growth.arguments)


def misspecified_quantization_privacy(support: MisspecifiedSupport, bin_size: int) -> Privacy:
    """Bound Π of quantization by the middle whose list of cells is wrong.

    >>> misspecified_quantization_privacy(MisspecifiedSupport(5, 2, 1, 2), 2).ratio
    Fraction(319, 70)
    """
    blocks = list(_bin_blocks(support, bin_size))

    def lower(field: Field) -> Number:
        return sum((count * selection_lower(last, field) for count, _, last in blocks), field.number(0))

    def upper(field: Field) -> Number:
        return sum((count * selection_upper(first, field) for count, first, _ in blocks), field.number(0))

    apart = support.missing <= ALL_TRIED and all(first == last for _, first, last in blocks)
    found = Privacy.between(lower, upper, "selection of missing cells, bin by bin", same=apart)
    return certify_by_recomputation(WRONG_QUANTIZATION_PRIVACY, found, support=support, bin_size=bin_size)


def misspecified_response_distortion(
    support: MisspecifiedSupport, epsilon: object = None, *, ratio: object = None
) -> Distortion:
    """Bound Δ of randomised response whose list of cells is wrong.

    >>> misspecified_response_distortion(MisspecifiedSupport(5, 2, 0, 1), ratio=2).upper.fraction
    Fraction(7, 11)
    """
    read_support(support)
    growth = read_growth(epsilon, ratio)
    upper = partial(_response_at, support.total, support.widest, growth)
    found = _worst_table(support, partial(_response_table, support, growth), upper)
    return certify_by_recomputation(WRONG_RESPONSE_DISTORTION, found, support=support, **growth.arguments)


def misspecified_quantization_distortion(support: MisspecifiedSupport, bin_size: int) -> Distortion:
    """Bound Δ of quantization by the middle whose list of cells is wrong.

    >>> misspecified_quantization_distortion(MisspecifiedSupport(5, 2, 0, 1), 3).upper.fraction
    Fraction(3, 5)
    """
    read_support(support)
    case = Quantization(HistogramSpace(support.total, support.estimated), bin_size)

    def upper(field: Field) -> Number:
        return field.number(middle_distortion(support.total, support.widest, case.bin_size))

    found = _worst_table(support, partial(_quantized_table, support, case), upper)
    return certify_by_recomputation(
        WRONG_QUANTIZATION_DISTORTION, found, support=support, bin_size=case.bin_size
    )


def _bin_blocks(support: MisspecifiedSupport, bin_size: int) -> Iterator[tuple[int, Group, Group]]:
    """Block consecutive bins of one size: how many, and the groups of the first (it tells most) and of the last."""
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
    """Maximise over β; for very many missing cells over some β, with the bound of App. H-D above."""
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
    """Compute (β − 1) P(Y ≥ 1) + E min(rest, Y) for a uniform histogram of `free` units on `cells` cells."""
    if not free:
        return field.number(0)
    seen = field.number(Fraction(max(beta - 1, 0) * free, free + cells - 1))
    mean = field.number(Fraction(free, cells))
    if rest >= free:
        return seen + mean
    over = field.binomial(free - rest + cells - 1, cells) / field.binomial(free + cells - 1, cells - 1)
    return seen + mean - over


def _response_at(total: int, cells: int, growth: Growth, field: Field) -> Number:
    """Apply SML Theorem 4 at some number of cells: (d − 1)/(d(1 + r))."""
    share = field.number(Fraction(cells - 1, cells))
    return share / (1 + _response_rate(total, cells, growth, field))


def _response_rate(total: int, cells: int, growth: Growth, field: Field) -> Number:
    return (field.growth(growth) - 1) / field.binomial(total + cells - 1, cells - 1)
