"""Which missing cells should each secret's table have, so that the release tells most? (mis-specified supports)

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
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, prod

from tightlip.histogram.counting import Field, Growth, Number, largest, smallest

ALL_TRIED = 3
_MOST_TERMS = 64


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
        """ρ, the extra weight of the table itself."""
        if self.growth is None:
            return field.number(0)
        return (field.growth(self.growth) - 1) / field.binomial(self.free + self.base - 1, self.base - 1)

    def inside(self, field: Field, size: int) -> Number:
        """c_t."""
        return field.number(prod(Fraction(self.free - i, self.base + i) for i in range(size)))

    def weight(self, field: Field, size: int) -> Number:
        """1/Z_t."""
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
    """e^Π of the best selection known for the group."""
    if group.missing <= ALL_TRIED:
        return _best_of_all(group, field)
    blocks = [_disjoint_blocks(group, field, count) for count in _block_counts(group)]
    return largest([_value(group, field, [_all_within(group)]), *blocks])


def selection_upper(group: Group, field: Field) -> Number:
    """What e^Π of the group cannot exceed."""
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
    """The largest e^Π of selections: the family's sets for as many secrets, no missing cell for the others."""
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
    """The empty set added: it tells T = ∅ best."""
    return Family(family.sizes, ((0, 0, 1), *(entry for entry in family.told if entry[0])))


@lru_cache(maxsize=ALL_TRIED + 1)
def all_families(missing: int) -> tuple[Family, ...]:
    """Every family of non-empty sets among `missing` cells, one of each kind.

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
    """All sets within j of the missing cells, for the largest j with 2^j ≤ secrets; the tables have the units."""
    span = min(group.missing, group.secrets.bit_length() - 1)
    sizes = tuple((size, comb(span, size)) for size in range(span, 0, -1))
    return Family(sizes, tuple((size, size, comb(span, size)) for size in range(span + 1)))


def _block_counts(group: Group) -> Iterator[int]:
    most = min(group.secrets - 1, group.missing)
    yield from (1 << power for power in range(most.bit_length()))
    if most:
        yield most


def _disjoint_blocks(group: Group, field: Field, count: int) -> Number:
    """`count` secrets have blocks of missing cells of their own, the others none."""
    size = min(group.missing // count, group.total - group.first - count + 1)
    alone = 1 + group.own(field) * (group.secrets - count)
    return count * (1 - group.weight(field, size)) + alone * group.weight(field, 0)


def _every_set(group: Group, field: Field) -> Number:
    """Σ_t C(m, t) c_t/Z_t + secrets · ρ/Z_0; for many missing cells by c_t/N_t ≤ (n/(n + base))^t."""
    kept = group.secrets * group.own(field) * group.weight(field, 0)
    if group.missing > _MOST_TERMS:
        return kept + field.power(1 + Fraction(group.free, group.free + group.base), group.missing)
    terms = (
        comb(group.missing, size) * group.inside(field, size) * group.weight(field, size)
        for size in range(group.most + 1)
    )
    return kept + sum(terms, field.number(0))
