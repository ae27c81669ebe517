"""Compute the measures that officers know: k-anonymity, l-diversity, t-closeness, β-likeness, re-identification risk.

With c_xy people of secret x in cell y, n_x, n_y and n as in tally.py, f people in a released cell, q_x = c_xy / n_y
the posterior, p_x = n_x / n the prior and s = q_x / p_x the lift, each of these is a property of single cells,
taken in the worst one. Five facts place them beside PML(y) = log max_x s and PMC(y) = −log min_x s:

    identity     if the secret is who somebody is, c_xy ≤ 1 and PML(y) = log n/f: the prosecutor's risk is e^PML / n,
                 and its mean over people, cells/n, is e^(maximal leakage) / n. Of any other secret,
                 c_xy ≤ n_x gives PML(y) ≤ log n/f.
    posteriors   q_x = s p_x ≤ e^PML max_x p_x bounds α and, as H(q) ≥ −log max_x q_x, the entropy from below.
    distances    ½ Σ_x |q_x − p_x| = Σ_x q_x (1 − 1/s)₊ ≤ 1 − e^−PML, and = Σ_x p_x (1 − s)₊ ≤ 1 − e^−PMC; back,
                 q_x − p_x ≤ t gives s ≤ 1 + t/p_x. The ordered distance moves mass by at most 1: it is not larger.
    β-likeness   max_x (q_x − p_x) / p_x = e^PML − 1. It is never negative, since lifts have mean 1.
    δ-disclosure max_x |log s| = max(PML, PMC), infinite where a cell excludes a secret.

Everything is decided in whole numbers: n c_xy and n_x n_y, sums of them, and ratios of these. Floats only put aside
fractions that are far below the largest. The entropy alone is irrational; it is rounded down, being a guarantee that
rises, and known exactly where its exponential is whole, from the powers of primes in n_y^n_y / Π c^c.

The ordered distance needs no dense matrix. With N_i people up to the i-th of m secrets and A of the cell's people up to
one that occurs in it, Σ |n A − n_y N_i| over the secrets from there to the next that occurs has one change of sign,
since N_i rises; on either side of it the sum is a difference of prefix sums of N.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import instance, listed, whole
from tightlip.auditing.tally import Places, Tally, divide, equal_columns, group_keys, sum_by
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.numeric.ball import Ball, ball, enclose, log_exceeds
from tightlip.numeric.parse import FloatArray, number, numbers
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import float_above, float_below, sum_up

SMALL_CELLS = (3, 5, 10)  # the limits that offices use for the smallest number of people in a cell
_COUNT_FIRST = "take counted.tally of a view of an audit"
_WIDEST = 2**62
_NEAR = 1 - 2.0**-48  # fractions of whole numbers as floats differ from them by less, relative
_FACTORED = 2**64  # larger numbers, which only noise makes, may take for ever to factor


@dataclass(frozen=True, slots=True)
class IdentityRisks:
    """How well people can be picked out by what is released: cells of few people, and re-identification risk.

    These are about who somebody is, whatever the secret. Take identity for the secret, and `prosecutor` is e^PML / n in
    the worst cell and `average` is e^ℒ / n, with the maximal leakage ℒ; PML about any secret is at most log n/k.

    Attributes
    ----------
    k : k-anonymity, min f: everybody shares the released values with k − 1 others
    unique : people who are alone in their cell, f = 1; `unique_share` is their part of all people
    below : people in cells of fewer than 3, 5 and 10, by that limit; the prosecutor's risk of these is above 1/limit
    prosecutor : max 1/f, of an attacker who knows that the person is in the table
    average : the mean of 1/f over people, cells / people
    journalist : max 1/F, of an attacker who knows only that the person is in the population, where F people share the
        cell; the prosecutor's risk where the table is the population
    marketer : the mean of 1/F over the people of the table, the share that an attacker expects to name right who
        links everybody; `average` where the table is the population
    """

    k: int
    unique: int
    unique_share: Probability
    below: Mapping[int, int]
    prosecutor: Probability
    average: Probability
    journalist: Probability
    marketer: Probability


@dataclass(frozen=True, slots=True)
class Classical:
    """The classical measures of a release, each in its worst cell.

    Attributes
    ----------
    identity : what the release says about who somebody is; None where counts are not people, as with noise, where
        nobody is in one cell for certain
    alpha : α of (α, k)-anonymity, max q_x: how sure one can be of anybody's secret.
        α ≤ e^PML max p_x, and e^PML ≤ α / min p_x
    distinct_l : distinct l-diversity, the fewest secrets that occur in a cell.
        PMC is finite where it is the number of all secrets, and infinite elsewhere
    entropy_l : entropy l-diversity, min e^H(q), rounded down: secrets that were equally likely would be as uncertain.
        It is at least 1 / (e^PML max p_x)
    recursive_c : recursive (c, l)-diversity with l = `distinct_l`: holds for every c above max r_1 / (r_l + … + r_m),
        with counts r_1 ≥ … ≥ r_m of the secrets in a cell. With l = 2 it is α / (1 − α), the odds
    t_equal : t-closeness of secrets without an order, max ½ Σ |q_x − p_x|. At most 1 − e^−PML, and e^PML is at most
        1 + t / min p_x
    t_ordered : t-closeness of ordered secrets, max Σ_i |Q_i − P_i| / (m − 1) with cumulative shares Q, P of the m
        secrets; at most `t_equal`. None without an order
    basic_beta : basic β-likeness, max (q_x − p_x) / p_x, which is e^PML − 1
    enhanced_beta : enhanced β-likeness, (q_x − p_x) / p_x ≤ min(β, −log p_x) wherever q_x > p_x: `basic_beta`, or None
        where no β will do, since a secret is above −log p_x
    delta : δ-disclosure, max |log q_x / p_x|: the larger of PML and PMC, infinite where a cell excludes a secret
    delta_occurring : the same over the secrets that occur in the cell, as it is often computed; it says nothing of
        secrets that are ruled out
    """

    identity: IdentityRisks | None
    alpha: Probability
    distinct_l: int
    entropy_l: float
    recursive_c: Fraction
    t_equal: Probability
    t_ordered: Probability | None
    basic_beta: Fraction
    enhanced_beta: Fraction | None
    delta: Nats
    delta_occurring: Nats


@dataclass(frozen=True, slots=True, eq=False)
class PopulationSizes:
    """How many people of the population share each cell of a sample: the sum of its sampling weights.

    Attributes
    ----------
    smallest : for each column of a tally, the smallest F of its cells, rounded down
    risk : for each column, the sum of f/F over its cells, rounded up: the people one expects to name right
    """

    smallest: FloatArray
    risk: FloatArray

    def __post_init__(self) -> None:
        """Read both as finite numbers above 0, exact ones rounded to the safe side."""
        for name, safe in (("smallest", float_below), ("risk", float_above)):
            read = numbers(getattr(self, name), name, 1)
            floats = np.array([safe(one) for one in read.exact]) if read.exact is not None else read.floats
            assert floats is not None
            bad = np.flatnonzero(~((floats > 0) & (floats < math.inf)))
            if len(bad):
                raise InvalidInput(
                    f"{name}[{bad[0]}] must be positive and finite, got {float(floats[bad[0]])!r}; "
                    "leave the population out where it is not known."
                )
            object.__setattr__(self, name, floats)

    @classmethod
    def of(cls, tally: Tally, population: Any, column: Any = None) -> PopulationSizes:
        """Take the population size of each cell; `column` says which column of the tally the cell is in.

        >>> tally = Tally.of([0, 1], [0, 1], [2, 3], (2, 2))
        >>> PopulationSizes.of(tally, [8, 6]).risk
        array([0.25, 0.5 ])
        """
        instance(tally, Tally, "tally", _COUNT_FIRST)
        sizes = [Fraction(number(one, "population")) for one in listed(population, "population", "numbers")]
        given = range(len(sizes)) if column is None else listed(column, "column", "places of columns")
        places = [whole(one, "column", 0) for one in given]
        expected = np.repeat(np.arange(tally.shape[1]), tally.cells).tolist()
        if len(sizes) != len(places) or sorted(places) != expected:
            raise ShapeMismatch(
                f"population must have a number for each of the {len(expected)} cells, got {len(sizes)}; "
                "say by column which column of the tally each cell is in."
            )
        held = [int(one) for one in tally.sizes]
        shared: list[list[Fraction]] = [[] for _ in held]
        for size, place in zip(sizes, places, strict=True):
            if size < held[place]:
                raise _too_small(size)
            shared[place].append(size)
        risk = [sum((f / size for size in own), Fraction(0)) for f, own in zip(held, shared, strict=True)]
        return cls(
            np.array([float_below(min(own)) for own in shared]), np.array([float_above(one) for one in risk])
        )


def classical_measures(
    tally: Tally,
    *,
    order: Sequence[int] | None = None,
    population: PopulationSizes | None = None,
    scale: Fraction | int = 1,
) -> Classical:
    """Compute the classical measures of a tally, exactly or rounded to the safe side.

    Parameters
    ----------
    tally : people by secret and released cell
    order : the secrets from the smallest to the largest, by place; None where they have no order
    population : how many people of the population share each cell, where the table is a sample of it
    scale : the people behind a count of 1; where it is not 1, counts are no people, and `identity` is None

    Raises
    ------
    InvalidInput
        When the order is not one of all secrets, or the population does not fit the tally.

    Example
    -------
    Three of four in one cell are ill, and nobody of the two in the other.

    >>> found = classical_measures(Tally.of([0, 1, 1], [0, 0, 1], [3, 1, 2], (2, 2)))
    >>> found.identity.k, found.distinct_l, found.alpha.fraction, found.t_equal.fraction, found.basic_beta
    (2, 1, Fraction(1, 1), Fraction(1, 2), Fraction(1, 1))
    """
    instance(tally, Tally, "tally", _COUNT_FIRST)
    wide = _widened(tally)
    fewest = int(np.diff(np.append(tally.starts, len(tally.cell))).min())
    gain, cost = _lift_ends(wide)
    occurring = Nats.of_ratio(max(gain, cost))
    return Classical(
        identity=_identity(tally, population, Fraction(number(scale, "scale"))),
        alpha=Probability.of(_largest(wide.count, wide.of_cell[wide.cell])),
        distinct_l=fewest,
        entropy_l=_entropy_l(tally) if fewest > 1 else 1.0,
        recursive_c=_recursive_c(tally, fewest) if fewest > 1 else Fraction(1),
        t_equal=Probability.of(_equal_distance(wide)),
        t_ordered=None if order is None else Probability.of(_ordered_distance(tally, _places(order, tally))),
        basic_beta=gain - 1,
        enhanced_beta=gain - 1 if _is_enhanced(wide) else None,
        delta=occurring if fewest == tally.shape[0] else Nats(math.inf),
        delta_occurring=occurring,
    )


def people_at_risk(tally: Tally, threshold: object) -> int:
    """Count the people whose prosecutor's risk 1/f is above a threshold, exactly.

    >>> people_at_risk(Tally.of([0, 0, 0], [0, 1, 2], [4, 5, 9], (1, 3)), "1/5")
    4
    """
    read = Fraction(number(threshold, "threshold"))
    if read <= 0:
        raise InvalidInput(
            f"threshold must be positive, got {quoted(threshold)}; write 1/5 for cells below 5."
        )
    return int(tally.of_cell[tally.sizes < math.ceil(1 / read)].sum())


def _identity(tally: Tally, population: PopulationSizes | None, scale: Fraction) -> IdentityRisks | None:
    if scale != 1 and population is None:
        return None
    if scale != 1:
        raise InvalidInput(
            f"population needs counts of people, got scale={quoted(scale)}; leave it out with noise."
        )
    k, unique = int(tally.sizes.min()), people_at_risk(tally, Fraction(1, 2))
    worst = Probability.of(Fraction(1, k))
    average = Probability.of(Fraction(int(tally.cells.sum()), tally.total))
    journalist, marketer = (worst, average) if population is None else _sampled(tally, population)
    return IdentityRisks(
        k=k,
        unique=unique,
        unique_share=Probability.of(Fraction(unique, tally.total)),
        below={limit: people_at_risk(tally, Fraction(1, limit)) for limit in SMALL_CELLS},
        prosecutor=worst,
        average=average,
        journalist=journalist,
        marketer=marketer,
    )


def _sampled(tally: Tally, population: PopulationSizes) -> tuple[Probability, Probability]:
    """The journalist's largest and the marketer's mean risk, rounded up."""
    instance(population, PopulationSizes, "population", "use PopulationSizes")
    smallest, risk = population.smallest, population.risk
    if smallest.shape != risk.shape or smallest.shape != (tally.shape[1],):
        raise ShapeMismatch(
            f"population must have a number for each of the {tally.shape[1]} columns, "
            f"got {len(smallest)} and {len(risk)}; find both from the same counts."
        )
    small = np.flatnonzero(~(smallest >= tally.sizes))
    if len(small):
        raise _too_small(float(smallest[small[0]]))
    own, most = divide(tally.sizes, smallest), divide(tally.of_cell, smallest)
    wrong = np.flatnonzero((risk < own * _NEAR) | (risk * _NEAR > most))
    if len(wrong):
        raise InvalidInput(
            f"population.risk[{wrong[0]}] must lie between f/F of one cell and that of all cells of its column, "
            f"got {float(risk[wrong[0]])!r}; add up f/F over the cells of each column."
        )
    named = float_above(Fraction(sum_up(risk)) / tally.total)
    return Probability(float_above(1 / Fraction(float(smallest.min())))), Probability(min(named, 1.0))


def _too_small(size: object) -> InvalidInput:
    return InvalidInput(
        f"population must have at least the people that the sample has in each cell, got {quoted(size)}; "
        "use weights that say how many people a row stands for, each at least 1."
    )


def _places(order: Sequence[int], tally: Tally) -> Places:
    last, remedy = tally.shape[0] - 1, "list the places of all secrets, from the smallest to the largest"
    read = [
        whole(one, "order", 0, last, remedy=remedy) for one in listed(order, "order", "places of secrets")
    ]
    if len(read) != last + 1 or len(set(read)) != len(read):
        raise InvalidInput(f"order must have each place from 0 to {last} once, got {quoted(read)}; {remedy}.")
    return np.array(read, dtype=np.intp)


def _widened(tally: Tally, times: int = 1) -> Tally:
    """The same tally in Python integers where so many products of two counts could leave int64."""
    if tally.count.dtype == object or times * tally.total**2 < _WIDEST:
        return tally
    parts = {name: getattr(tally, name).astype(object) for name in ("count", "of_secret", "of_cell")}
    return replace(tally, **parts)


def _largest(numerator: NDArray[Any], denominator: NDArray[Any]) -> Fraction:
    """Find the largest of many fractions of whole numbers, exactly; most of those that are near are the same one."""
    best, of = 0, 1
    if numerator.dtype != object and denominator.dtype != object:
        near = divide(numerator, denominator)
        left = np.flatnonzero(near >= near.max() * _NEAR)
        best, of = int(numerator[left[0]]), int(denominator[left[0]])
        left = left[(numerator[left] != best) | (denominator[left] != of)]
        numerator, denominator = numerator[left], denominator[left]
    for part, base in zip(numerator.tolist(), denominator.tolist(), strict=True):
        if part * of > best * base:
            best, of = part, base
    return Fraction(best, of)


def _lift_ends(tally: Tally) -> tuple[Fraction, Fraction]:
    """The largest lift n c_xy / (n_x n_y), and the largest 1 / lift of a pair that occurs."""
    expected = tally.of_secret[tally.secret] * tally.of_cell[tally.cell]
    return _largest(tally.count, expected) * tally.total, _largest(expected, tally.count) / tally.total


def _is_enhanced(tally: Tally) -> bool:
    """Whether lift − 1 ≤ −log p_x for every pair of lift above 1; near pairs are decided by enclosing the logarithm."""
    of_secret, of_cell = tally.of_secret[tally.secret], tally.of_cell[tally.cell]
    lift = divide(tally.count * tally.total, of_secret * of_cell)
    room = np.log(divide(tally.of_secret, tally.total) ** -1.0)[tally.secret]
    over, doubt = lift - 1 - room, (lift + room + 1) * (1 - _NEAR)
    if (over > doubt).any():
        return False
    close = np.flatnonzero((over >= -doubt) & (tally.count * tally.total > of_secret * of_cell))
    columns = (tally.count[close].tolist(), of_secret[close].tolist(), of_cell[close].tolist())
    for count, held, size in set(zip(*columns, strict=True)):
        if not log_exceeds(Fraction(tally.total, held), Fraction(count * tally.total, held * size) - 1):
            return False
    return True


def _equal_distance(tally: Tally) -> Fraction:
    """The largest total variation: Σ_x (n c_xy − n_x n_y)₊ / (n n_y)."""
    expected = tally.of_secret[tally.secret] * tally.of_cell[tally.cell]
    excess = np.maximum(tally.count * tally.total - expected, 0)
    return _largest(np.add.reduceat(excess, tally.starts), tally.of_cell) / tally.total


def _ordered_distance(tally: Tally, order: Places) -> Fraction:
    """The largest ordered distance: Σ_i |n A_i − n_y N_i| / (n n_y (m − 1)), by runs between secrets that occur."""
    m, starts, total = tally.shape[0], tally.starts, tally.total
    if m == 1:
        return Fraction(0)
    tally = _widened(tally, 2 * m)
    rank = np.argsort(order)[tally.secret]
    pairs = np.argsort(tally.cell * m + rank, kind="stable")
    first = rank[pairs]
    after = np.append(first[1:], m)
    after[np.append(starts[1:], len(pairs)) - 1] = m
    running = np.cumsum(tally.count[pairs])
    held = (running - np.append(0, running[starts[1:] - 1])[tally.cell]) * total
    size = tally.of_cell[tally.cell]
    up_to = np.cumsum(tally.of_secret[order])
    prefix = np.append(0, np.cumsum(up_to))
    turn = np.clip(np.searchsorted(up_to, -(-held // size)), first, after)
    run = held * (2 * turn - first - after) - size * (2 * prefix[turn] - prefix[first] - prefix[after])
    before = tally.of_cell * prefix[first[starts]]
    return _largest(np.add.reduceat(run, starts) + before, tally.of_cell) / (total * (m - 1))


def _sorted_counts(cell: Places, count: NDArray[Any]) -> NDArray[Any]:
    """The counts of each cell, from the largest down; cells are sorted."""
    most = int(count.max())
    narrow = count.dtype != object and (int(cell[-1]) + 1) * (most + 1) < _WIDEST
    size = count if narrow else group_keys(count)[1]  # the order is all we need
    key = cell * (int(size.max()) + 1) + (size.max() - size)
    return count[np.argsort(key, kind="stable")]


def _recursive_c(tally: Tally, l_: int) -> Fraction:
    """The largest r_1 / (r_l + … + r_m)."""
    counts, starts = _sorted_counts(tally.cell, tally.count), tally.starts
    late = np.arange(len(counts)) - starts[tally.cell] >= l_ - 1
    return _largest(counts[starts], sum_by(tally.cell[late], counts[late], tally.shape[1]))


def _entropy_l(tally: Tally) -> float:
    """The least e^H, rounded down: floats leave out cells whose entropy is larger, kinds of the others are enclosed."""
    share = divide(tally.count, tally.of_cell[tally.cell])
    parts = -share * np.log(np.where(share > 0, share, 1.0))
    entropy = np.add.reduceat(parts, tally.starts)
    # each part is wrong by less than 8 u (share + part), and a sum by less than that for each addition
    doubt = (np.diff(np.append(tally.starts, len(share))).max() + 10) * 2.0**-50 * (entropy + 1)
    close = entropy - doubt <= (entropy + doubt).min()
    return min(_exp_entropy(counts) for counts in _mixes(tally, close))


def _mixes(tally: Tally, chosen: NDArray[np.bool_]) -> Iterable[list[int]]:
    """The counts of some cells without a common divisor, sorted; each mix once."""
    kept = np.flatnonzero(chosen[tally.cell])
    counts = _sorted_counts(tally.cell[kept], tally.count[kept])
    starts = np.flatnonzero(np.diff(tally.cell[kept], prepend=-1))
    lengths = np.diff(np.append(starts, len(counts)))
    counts = counts // np.repeat(np.gcd.reduceat(counts, starts), lengths)
    kind = equal_columns(np.zeros(len(counts), dtype=np.intp), counts, starts)
    for place in np.unique(kind, return_index=True)[1].tolist():
        yield counts[starts[place] : starts[place] + lengths[place]].tolist()


def _exp_entropy(counts: list[int]) -> float:
    """e^H = n / (Π c^c)^(1/n) of one cell, rounded down; a whole number where it is one."""
    size = sum(counts)

    def value() -> Ball:
        logs = sum((ball(c * many) * ball(c).log() for c, many in Counter(counts).items()), ball(0))
        return (ball(size).log() - logs / size).exp()

    lower, upper = enclose(value)
    near = math.floor(upper)
    return float(near) if near > lower and _is_whole(counts, size, near) else lower


def _is_whole(counts: list[int], size: int, value: int) -> bool:
    """Whether n^n = value^n Π c^c, prime by prime."""
    if counts[0] == counts[-1]:
        return value == len(counts)
    if size >= _FACTORED:
        return False
    from flint import fmpz

    powers: Counter[int] = Counter()
    for base, power in [
        (size, size),
        (value, -size),
        *((c, -c * many) for c, many in Counter(counts).items()),
    ]:
        for prime, times in fmpz(base).factor():
            powers[int(prime)] += int(times) * power
    return not any(powers.values())
