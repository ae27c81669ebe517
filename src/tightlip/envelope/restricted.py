"""Envelopes of adversaries who may not do everything: deterministic maps, and maps to few symbols.

For a post-processing Z of Y the objective is the right quantile of ℓ(Z): the largest level that symbols
of total probability δ all reach. Fix the level log t. A symbol z reaches it when some secret x, its
suspect, has Σ_y W_yz (K_xy − t q_y) ≥ 0. That is closed under addition, so

1. bad symbols with one suspect may be merged: at most one bad symbol for each secret is needed;
2. the symbols that are not bad may be merged into one, the rest.

Deterministic maps. Merging keeps a map deterministic, so the best one is a set U of outcomes with
P(U) ≥ δ, cut into bad cells, and one cell with all other outcomes. With r(B) the ratio e^ℓ of cell B,
    best(U) = max over cells B of U that hold its first outcome of min(r(B), best(U∖B))
runs over all set partitions of all U in 3^M steps. All of it is done in rationals.

k symbols, randomised. By 1 and 2 either at most k − 1 symbols are bad, with suspects S, |S| ≤ k − 1, and
there is a rest; or all k are bad, so that their probability is 1. With v_S(t) the largest bad mass,
    v_S(t) = max Σ q_y w_xy  s.t.  Σ_{x∈S} w_xy ≤ 1,  Σ_y w_xy (K_xy − t q_y) ≥ 0 (x ∈ S),  w ≥ 0,
and t_S(δ) the largest t with v_S(t) ≥ δ (v_S falls with t), the answer is therefore
    ε_k(δ) = log max( max_{|S| = k−1} t_S(δ),  max_{|S| = k} t_S(1) ).
From k = N + 1 on that is the envelope ε_c itself. Any multipliers λ ≥ 0 prove
    v_S(t) ≤ D(t) = Σ_y q_y max(0, max_{x∈S} 1 + λ_x (K_xy/q_y − t)),
and D falls with t, so D(t) < δ proves t_S(δ) < t. A solver suggests w and λ; both are checked in rationals.

The chain is: binary ≤ k-ary ≤ any, and deterministic with k symbols ≤ deterministic ≤ any. A randomised
event is **not** always matched by a deterministic map: with X = Y, p = (1/5, 4/5) and δ = 1/2 the event
form reaches log 2 and no deterministic map more than log 5/4; in ENV Example 1 at δ = 1/5, 5/3 and 6/5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tightlip.envelope.binary import fill_exact
from tightlip.envelope.bounds import count_bound, envelope_bounds
from tightlip.envelope.result import Adversary, Envelope, read_delta
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.measure.joint import ExactJoint, FloatJoint, exact_sum, join
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_columns
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT

_MOST_OUTCOMES = 13  # 3^13 = 1.6 million steps, 28 million set partitions
_MOST_WORK = 40_000  # suspect sets × symbols × outcomes
_STEPS = 36  # bisections of the search
_ROUNDS = 50  # linear programs for one set of suspects

Cells = list[list[int]]


def deterministic_attack(
    channel: Channel, prior: Prior, delta: object, *, symbols: int | None = None
) -> Envelope:
    """ε_d(δ): the largest leakage that a deterministic map of the outcome reaches with probability δ.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : number in (0, 1]
    symbols : int, optional
        At most so many symbols; any number by default.

    Returns
    -------
    Envelope
        In nats. With at most 13 possible outcomes all set partitions are searched in rationals: the ends
        differ by rounding only and `method` says "enumeration". With more, `method` says "heuristic", `lower`
        is what the attack found reaches, and `upper` a bound that no adversary exceeds.

    >>> from tightlip import Prior, mechanism
    >>> deterministic_attack(mechanism.env_example_1(), Prior.uniform(4), "1/5")
    Envelope(delta=0.2, 0.182321 to 0.182322 nats, adversary: deterministic, by enumeration of set partitions)
    """
    wanted, count = read_delta(delta), _read_symbols(symbols)
    joint = join(channel, prior)
    size = len(joint.places)
    few = count if count is not None and count < size else None
    suffix = "" if few is None else f" with at most {few} symbols"
    if size <= _MOST_OUTCOMES:
        ratio, cells = _enumerate(_Rationals.of(joint), wanted, few)
        lower, upper = (max(0.0, end) for end in log_bounds(ratio))
        method = f"enumeration of set partitions{suffix}"
    else:
        cells = _search(joint, wanted, few)
        lower = max(0.0, log_bounds(_reached(joint, cells, wanted))[0])
        upper = _general_upper(channel, prior, wanted, joint, few)
        method = f"heuristic: greedy cover and bisection{suffix}; upper end from general bounds"
    attack = _deterministic_channel(channel, joint, cells)
    return Envelope(wanted, lower, upper, method, "deterministic", attack)


def kary_attack(channel: Channel, prior: Prior, delta: object, symbols: int) -> Envelope:
    """ε_k(δ): the largest leakage that a randomised map to at most k symbols reaches with probability δ.

    For k = 2 it is the binary envelope as the ENV paper defines it, also for δ > ½; for k above the number
    of possible secrets it is ε_c. The reduction to sets of suspects is proved in the module's docstring.

    Parameters
    ----------
    channel, prior : Channel, Prior
    delta : number in (0, 1]
    symbols : int
        k, at least 1.

    Returns
    -------
    Envelope
        In nats. Where the sets of suspects are few, all are solved and the ends differ by what the solver
        leaves open; otherwise `method` says "heuristic" and `upper` is a bound that no adversary exceeds.

    >>> from tightlip import Prior, mechanism
    >>> found = kary_attack(mechanism.env_example_1(), Prior.uniform(4), "1/5", 3)
    >>> round(found.lower, 6), round(found.upper, 6), found.method
    (0.893818, 0.893818, 'linear programs for all sets of suspects')
    """
    wanted, count, joint = read_delta(delta), _read_symbols(symbols), join(channel, prior)
    if count is None:
        raise WrongType("symbols must be a whole number of at least 1, got None; write 2 for binary maps.")
    exact = _Rationals.of(joint)
    tasks, work = _tasks(exact, wanted, count)
    if work <= _MOST_WORK:
        best, upper = _solve_all(exact, tasks)
        method = "linear programs for all sets of suspects"
    else:
        best, upper = _solve_all(exact, _greedy_tasks(exact, wanted, count))
        upper = math.inf
        method = "heuristic: linear programs for suspects chosen greedily; upper end from general bounds"
    lower = max(0.0, log_bounds(best.ratio)[0])
    upper = min(upper, _general_upper(channel, prior, wanted, joint, count))
    attack = _randomised_channel(channel, joint, exact, best)
    return Envelope(wanted, lower, upper, method, _adversary(count, len(exact.rows)), attack)


def _read_symbols(symbols: object) -> int | None:
    if symbols is None:
        return None
    if isinstance(symbols, bool) or not isinstance(symbols, (int, np.integer)):
        raise WrongType(f"symbols must be a whole number of at least 1, got {quoted(symbols)}; write 2.")
    if symbols < 1:
        raise InvalidInput(f"symbols must be at least 1, got {symbols}; an adversary sees something.")
    return int(symbols)


def _adversary(symbols: int, secrets: int) -> Adversary:
    if symbols > secrets:
        return "any"
    return "binary" if symbols == 2 else "k-ary"


def _general_upper(
    channel: Channel, prior: Prior, delta: Fraction, joint: ExactJoint | FloatJoint, symbols: int | None
) -> float:
    """The best general bound; k symbols leak at most ℒ(Z) + log 1/δ ≤ log min(k, N)/δ."""
    secrets = len(joint.secrets)
    count = secrets if symbols is None else min(symbols, secrets)
    return min(envelope_bounds(channel, prior, delta).upper, count_bound(count, delta, exact=joint.exact))


@dataclass(frozen=True, slots=True)
class _Rationals:
    """K and q of the possible secrets and outcomes, as the rationals that are stored."""

    rows: list[list[Fraction]]
    marginal: list[Fraction]

    @classmethod
    def of(cls, joint: ExactJoint | FloatJoint) -> _Rationals:
        columns = dense_columns(joint.given_matrix, joint.places)
        rows = [[Fraction(entry) for entry in row] for row in columns.tolist()]
        weights = [Fraction(mass) for mass in joint.given_weights.tolist()]
        marginal = [
            sum((mass * entry for mass, entry in zip(weights, column, strict=True) if entry), Fraction(0))
            for column in zip(*rows, strict=True)
        ]
        return cls(rows, marginal)

    def tail_ratio(self, suspects: Iterable[int], delta: Fraction) -> Fraction:
        """t_S(δ) is at most the mean of max_{x∈S} K_xy/q_y over its largest part of mass δ."""
        peaks = [max(column) for column in zip(*(self.rows[place] for place in suspects), strict=True)]
        return fill_exact(peaks, self.marginal, [delta])[0].ratio


# Deterministic maps, all of them.


def _enumerate(exact: _Rationals, delta: Fraction, symbols: int | None) -> tuple[Fraction, Cells]:
    """The best ratio and its cells, the rest last."""
    masses = _subset_sums(exact.marginal)
    peaks = np.max([_subset_sums(row) for row in exact.rows], axis=0)
    ratios = [peak / mass for peak, mass in zip(peaks[1:], masses[1:], strict=True)]
    levels = sorted(set(ratios))
    position = {ratio: rank for rank, ratio in enumerate(levels)}
    ranks = np.array([-1, *(position[ratio] for ratio in ratios)], dtype=np.int64)
    best, cut = _covers(ranks, len(exact.marginal), symbols)
    reach = np.array([mass >= min(delta, masses[-1]) for mass in masses], dtype=bool)
    value = np.where(reach, best[-1 if symbols is None else -2], -1)
    value[-1] = best[-1, -1]  # all symbols bad: no rest needed
    chosen = int(np.argmax(value))
    layer = best.shape[0] - (1 if symbols is None or chosen == len(value) - 1 else 2)
    cells = _cells(cut, chosen, layer, symbols is not None)
    rest = (len(value) - 1) & ~chosen
    return levels[value[chosen]], [_members(cell) for cell in [*cells, *([rest] if rest else [])]]


def _subset_sums(values: Sequence[Fraction]) -> NDArray[Any]:
    """The sum over each set of places, sets being read as binary numbers."""
    sums = np.array([Fraction(0)], dtype=object)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _covers(
    ranks: NDArray[np.int64], size: int, symbols: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """best[j, U]: the largest least rank of at most j cells that make up U (any number where symbols is None).

    Row 0 is no cells at all; cut[j, U] is the cell of U's first outcome.
    """
    layers = 1 if symbols is None else symbols
    best = np.full((layers + 1, 1 << size), -1, dtype=np.int64)
    best[:, 0] = np.iinfo(np.int64).max
    cut = np.zeros_like(best)
    earlier = best[1:] if symbols is None else best[:-1]
    for subset in range(1, 1 << size):
        first = subset & -subset
        cells = _subsets(subset ^ first) | first
        values = np.minimum(ranks[cells], earlier[:, subset ^ cells])
        pick = values.argmax(axis=1)
        best[1:, subset] = values[np.arange(layers), pick]
        cut[1:, subset] = cells[pick]
    return best, cut


def _subsets(subset: int) -> NDArray[np.int64]:
    found = np.zeros(1, dtype=np.int64)
    while subset:
        bit = subset & -subset
        found = np.concatenate([found, found | bit])
        subset ^= bit
    return found


def _cells(cut: NDArray[np.int64], subset: int, layer: int, counted: bool) -> list[int]:
    cells = []
    while subset:
        cells.append(int(cut[layer, subset]))
        subset ^= cells[-1]
        layer -= counted
    return cells


def _members(subset: int) -> list[int]:
    return [place for place in range(subset.bit_length()) if subset >> place & 1]


# Deterministic maps, searched.


def _search(joint: ExactJoint | FloatJoint, delta: Fraction, symbols: int | None) -> Cells:
    """Cells from the highest level at which a greedy cover has mass δ; at worst the best single event."""
    rows = dense_columns(joint.given_matrix, joint.places).astype(np.float64)
    marginal = joint.probabilities()
    wanted = min(float(delta), float(marginal.sum())) * (1 - 1e-12)
    orders = 6 if rows.size <= 100_000 else 1
    low, high, found = 1.0, float((rows.max(axis=0) / marginal).max()), None
    for _ in range(_STEPS):
        middle = math.sqrt(low * high) if found is not None else low + (high - low) / 2
        owners = _any_cover(rows, marginal, middle, wanted, symbols, orders)
        if owners is None:
            high = middle
        else:
            low, found = middle, owners
    candidates = [_single_event(rows, marginal, wanted)] if symbols != 1 else [np.zeros(len(marginal), int)]
    if found is not None:
        candidates.append(found)
    return max(map(_grouped, candidates), key=lambda cells: _reached(joint, cells, delta))


def _any_cover(
    rows: FloatArray, marginal: FloatArray, level: float, wanted: float, symbols: int | None, orders: int
) -> NDArray[np.int64] | None:
    """Owners of a cover at this level, from several orders; None if no order has the mass."""
    rng = np.random.default_rng(0)
    for attempt in range(orders):
        noise = 1.0 if attempt == 0 else rng.uniform(0.5, 1.5, len(marginal))
        owners = _cover(rows, marginal, level, wanted, np.arange(len(rows)), noise)
        if symbols is not None and not _fits(owners, symbols):
            held = np.bincount(owners + 1, weights=marginal, minlength=len(rows) + 1)[1:]
            few = np.argsort(-held)[: symbols - 1]
            owners = _cover(rows, marginal, level, wanted, few, noise)
        if marginal[owners >= 0].sum() >= wanted:
            return owners
    return None


def _fits(owners: NDArray[np.int64], symbols: int) -> bool:
    return len(np.unique(owners)) <= symbols


def _cover(
    rows: FloatArray,
    marginal: FloatArray,
    level: float,
    wanted: float,
    suspects: NDArray[np.intp],
    noise: FloatArray | float,
) -> NDArray[np.int64]:
    """Give each outcome to the suspect it costs least while the suspect's pool of slack lasts; −1 is the rest."""
    owners = np.full(len(marginal), -1)
    if not len(suspects):
        return owners
    slack = rows[suspects] - level * marginal
    peak = slack.max(axis=0)
    owners[peak >= 0] = slack.argmax(axis=0)[peak >= 0]
    pools = np.bincount(owners[peak >= 0], weights=peak[peak >= 0], minlength=len(suspects))
    mass = float(marginal[peak >= 0].sum())
    for place in np.argsort(-peak / marginal * noise, kind="stable").tolist():
        if mass >= wanted:
            break
        left = np.where(pools + slack[:, place] >= 0, slack[:, place], -np.inf)
        owner = int(left.argmax())
        if owners[place] < 0 and left[owner] > -np.inf:
            owners[place] = owner
            pools[owner] += slack[owner, place]
            mass += marginal[place]
    owners[owners >= 0] = suspects[owners[owners >= 0]]
    return owners


def _single_event(rows: FloatArray, marginal: FloatArray, wanted: float) -> NDArray[np.int64]:
    """The outcomes of largest lift for one secret, until they have the mass."""
    best, event = -1.0, np.zeros(0, dtype=np.intp)
    for row in rows:
        order = np.argsort(-row / marginal)
        masses = np.cumsum(marginal[order])
        count = min(int(np.searchsorted(masses, wanted)), len(row) - 1) + 1
        ratio = float(row[order[:count]].sum() / masses[count - 1])
        if ratio > best:
            best, event = ratio, order[:count]
    owners = np.full(len(marginal), -1)
    owners[event] = 0
    return owners


def _grouped(owners: NDArray[np.int64]) -> Cells:
    """Cells by owner, the rest last."""
    names = [name for name in np.unique(owners) if name >= 0]
    groups = [np.flatnonzero(owners == name).tolist() for name in [*names, -1]]
    return [group for group in groups if group]


def _reached(joint: ExactJoint | FloatJoint, cells: Cells, delta: Fraction) -> Fraction:
    """The right quantile of a deterministic map, as a ratio, from the stored numbers."""
    weights = [Fraction(mass) for mass in joint.given_weights.tolist()]
    found = []
    for cell in cells:
        columns = dense_columns(joint.given_matrix, joint.places[np.asarray(cell)])
        likelihoods = [exact_sum(row) for row in columns]
        mass = sum((p * entry for p, entry in zip(weights, likelihoods, strict=True)), Fraction(0))
        found.append((max(likelihoods) / mass, mass))
    found.sort(reverse=True)
    total = Fraction(0)
    for ratio, mass in found:
        total += mass
        if total >= delta:
            return ratio
    return found[-1][0]


def _deterministic_channel(channel: Channel, joint: ExactJoint | FloatJoint, cells: Cells) -> Channel:
    rows = np.zeros((channel.shape[1], len(cells)))
    rows[:, -1] = 1.0  # also the impossible outcomes
    for symbol, cell in enumerate(cells):
        places = joint.places[np.asarray(cell)]
        rows[places, -1], rows[places, symbol] = 0.0, 1.0
    return Channel(rows, channel.outputs)


# Randomised maps to k symbols.


class _Task(NamedTuple):
    """Suspects, the mass they must cover, and a bound on the ratio they can reach."""

    suspects: tuple[int, ...]
    mass: Fraction
    bound: Fraction


class _Cover(NamedTuple):
    """A ratio and the weights w_xy (suspects × outcomes) that reach it."""

    ratio: Fraction
    weights: list[list[Fraction]]
    task: _Task


def _sizes(exact: _Rationals, delta: Fraction, symbols: int) -> list[tuple[int, Fraction]]:
    """How many suspects, and the mass they must cover: k − 1 beside a rest, or k for everything."""
    secrets, total = len(exact.rows), sum(exact.marginal, Fraction(0))
    wanted = min(delta, total)
    sizes = [(symbols, total)] if symbols <= secrets else []
    if symbols > 1 and (wanted < total or not sizes):
        sizes.append((min(symbols - 1, secrets), wanted))
    return sizes


def _tasks(exact: _Rationals, delta: Fraction, symbols: int) -> tuple[Iterator[_Task], int]:
    """All sets of suspects, and the work they are."""
    sizes = _sizes(exact, delta, symbols)
    secrets = range(len(exact.rows))
    work = sum(math.comb(len(secrets), size) * size * len(exact.marginal) for size, _ in sizes)
    found = (
        _Task(chosen, mass, exact.tail_ratio(chosen, mass))
        for size, mass in sizes
        for chosen in combinations(secrets, size)
    )
    return found, work


def _greedy_tasks(exact: _Rationals, delta: Fraction, symbols: int) -> Iterator[_Task]:
    """One set of suspects of each size, each suspect being the one that raises the bound most."""
    for size, mass in _sizes(exact, delta, symbols):
        chosen: tuple[int, ...] = ()
        for _ in range(size):
            others = [place for place in range(len(exact.rows)) if place not in chosen]
            chosen += (max(others, key=lambda place, have=chosen: exact.tail_ratio((*have, place), mass)),)  # type: ignore[misc]
        yield _Task(chosen, mass, exact.tail_ratio(chosen, mass))


def _solve_all(exact: _Rationals, tasks: Iterable[_Task]) -> tuple[_Cover, float]:
    """The best cover, and a sound upper end over all tasks; hopeless tasks are skipped by their bound."""
    best, highest = None, Fraction(0)
    for task in sorted(tasks, key=lambda task: task.bound, reverse=True):
        if best is not None and task.bound <= best.ratio:
            break
        cover, ratio = _solve(exact, task, best.ratio if best else Fraction(0))
        highest = max(highest, ratio)
        if best is None or cover.ratio > best.ratio:
            best = cover
    assert best is not None
    return best, max(0.0, log_bounds(max(highest, best.ratio))[1])


def _solve(exact: _Rationals, task: _Task, enough: Fraction) -> tuple[_Cover, Fraction]:
    """A cover and a proved upper ratio for one set of suspects: Newton steps on D, bisection where they creep.

    Ends early where the suspects surely reach no more than `enough`, or where the solver's tolerance is met.
    """
    program, halving = _Program.of(exact, task), False
    level, upper, best = float(enough or task.bound), task.bound, None  # one program rules most suspects out
    for _ in range(_ROUNDS):
        shares, multipliers = program.at(level)
        cover = _repaired(exact, task, shares)
        gap = upper - (best.ratio if best else 0)
        best = cover if best is None or cover.ratio > best.ratio else best
        upper = min(upper, _proved(exact, task, multipliers, program.root(multipliers)))
        left = upper - best.ratio
        if upper <= enough or left <= upper / 10**12 or (halving and 10 * left > 9 * gap):
            break
        halving = 2 * left > gap
        level = float((upper + best.ratio) / 2 if halving else upper)
    assert best is not None
    return best, upper


@dataclass(frozen=True, slots=True)
class _Program:
    """The linear program v_S(t) in floats; its variables are the masses q_y w_xy."""

    lifts: FloatArray
    marginal: FloatArray
    mass: float

    @classmethod
    def of(cls, exact: _Rationals, task: _Task) -> _Program:
        lifts = [
            [float(entry / mass) for entry, mass in zip(exact.rows[place], exact.marginal, strict=True)]
            for place in task.suspects
        ]
        return cls(np.array(lifts), np.array([float(mass) for mass in exact.marginal]), float(task.mass))

    def at(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Shares w_xy and multipliers λ_x at a level; zeros, which prove nothing, where the solver fails."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        suspects, outcomes = self.lifts.shape
        size = self.lifts.size
        balance, capacity = np.divmod(np.arange(size), outcomes)
        entries = np.concatenate([(level - self.lifts).ravel(), np.ones(size)])
        places = np.concatenate([balance, suspects + capacity]), np.tile(np.arange(size), 2)
        found = linprog(
            -np.ones(size),
            A_ub=csr_array((entries, places), shape=(suspects + outcomes, size)),
            b_ub=np.concatenate([np.zeros(suspects), self.marginal]),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.x is None:
            return np.zeros_like(self.lifts), np.zeros(suspects)
        masses = np.clip(found.x.reshape(self.lifts.shape), 0.0, self.marginal)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(masses > 0, masses / self.marginal, 0.0)
        return shares, np.maximum(-found.ineqlin.marginals[:suspects], 0.0)

    def root(self, multipliers: FloatArray) -> float:
        """Where D falls to the mass: Newton from the left, finite since D is convex and piecewise linear."""
        level = 0.0
        for _ in range(100):
            values = 1 + multipliers[:, None] * (self.lifts - level)
            peak, best = values.max(axis=0), values.argmax(axis=0)
            slope = float((self.marginal * multipliers[best])[peak > 0].sum())
            step = (float((self.marginal * peak)[peak > 0].sum()) - self.mass) / slope if slope > 0 else 0.0
            if step <= UNIT * level:
                break
            level += step
        return level


def _proved(exact: _Rationals, task: _Task, multipliers: FloatArray, level: float) -> Fraction:
    """A ratio a little above the level at which D < mass holds in rationals, or else the task's bound."""
    weights = [Fraction(value) for value in multipliers.tolist()]
    columns = list(zip(*(exact.rows[place] for place in task.suspects), strict=True))
    for digits in (15, 12, 9, 6) if all(weights) else ():
        ratio = Fraction(level * (1 + 10.0**-digits))
        total = Fraction(0)
        for mass, column in zip(exact.marginal, columns, strict=True):
            pairs = zip(weights, column, strict=True)
            total += max(Fraction(0), max(mass + weight * (entry - ratio * mass) for weight, entry in pairs))
        if total < task.mass:
            return ratio
    return task.bound


def _repaired(exact: _Rationals, task: _Task, shares: FloatArray) -> _Cover:
    """The solver's shares as rationals that cover the mass exactly, and the ratio they reach."""
    weights = [[Fraction(share) for share in row] for row in shares.tolist()]
    totals = [max(Fraction(1), sum(column, Fraction(0))) for column in zip(*weights, strict=True)]
    weights = [[share / total for share, total in zip(row, totals, strict=True)] for row in weights]
    spare = [1 - sum(column, Fraction(0)) for column in zip(*weights, strict=True)]
    free = _dot(exact.marginal, spare)
    missing = task.mass - sum(exact.marginal, Fraction(0)) + free
    part = missing / free if missing > 0 else Fraction(0)
    rows = [exact.rows[place] for place in task.suspects]
    pairs = [(_dot(row, w), _dot(exact.marginal, w)) for row, w in zip(rows, weights, strict=True)]

    def ratio_if(place: int) -> Fraction:
        """The least ratio when this suspect takes what is missing."""
        raised = (pairs[place][0] + part * _dot(rows[place], spare), pairs[place][1] + part * free)
        return min(gain / mass for gain, mass in [*pairs[:place], raised, *pairs[place + 1 :]] if mass)

    taker = max(range(len(rows)), key=ratio_if)
    ratio = ratio_if(taker)
    weights[taker] = [w + part * s for w, s in zip(weights[taker], spare, strict=True)]
    return _Cover(ratio, weights, task)


def _dot(first: Iterable[Fraction], second: Iterable[Fraction]) -> Fraction:
    return sum((one * two for one, two in zip(first, second, strict=True) if one and two), Fraction(0))


def _randomised_channel(
    channel: Channel, joint: ExactJoint | FloatJoint, exact: _Rationals, cover: _Cover
) -> Channel:
    """One symbol for each suspect that is used, named after it, and the rest where there is one."""
    used = [place for place, row in enumerate(cover.weights) if any(row)]
    names: list[Any] = [("suspect", joint.secrets[cover.task.suspects[place]]) for place in used]
    columns = [cover.weights[place] for place in used]
    rest = [1 - sum(column, Fraction(0)) for column in zip(*columns, strict=True)]
    if any(rest):
        columns, names = [*columns, rest], [*names, ("rest",)]
    rows: list[Any] = [[Fraction(0)] * (len(columns) - 1) + [Fraction(1)] for _ in range(channel.shape[1])]
    for place, row in zip(joint.places.tolist(), zip(*columns, strict=True), strict=True):
        rows[place] = list(row)
    return Channel(rows, channel.outputs, names)
