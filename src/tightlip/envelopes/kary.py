"""Randomised adversaries with k symbols.

By the merging of restricted.py either at most k − 1 symbols are bad, with suspects S, |S| ≤ k − 1, and
there is a rest; or all k are bad, so that their probability is 1. With v_S(t) the largest bad mass,
    v_S(t) = max Σ q_y w_xy  s.t.  Σ_{x∈S} w_xy ≤ 1,  Σ_y w_xy (K_xy − t q_y) ≥ 0 (x ∈ S),  w ≥ 0,
and t_S(δ) the largest t with v_S(t) ≥ δ (v_S falls with t), the answer is therefore
    ε_k(δ) = log max( max_{|S| = k−1} t_S(δ),  max_{|S| = k} t_S(1) ).
From k = N + 1 on that is the envelope ε_c itself. Any multipliers λ ≥ 0 prove
    v_S(t) ≤ D(t) = Σ_y q_y max(0, max_{x∈S} 1 + λ_x (K_xy/q_y − t)),
and D falls with t, so D(t) < δ proves t_S(δ) < t. A solver suggests w and λ; both are checked in rationals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from tightlip.envelopes.restricted import Rationals, general_upper, read_symbols
from tightlip.envelopes.result import Adversary, Envelope, read_delta, rest_label
from tightlip.errors import SolverFailure, WrongType
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT

_MOST_WORK = 40_000  # suspect sets × symbols × outcomes
_ROUNDS = 50  # linear programs for one set of suspects


def kary_attack(channel: Channel, prior: Prior, delta: object, symbols: int | None) -> Envelope:
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

    >>> from tightlip import Prior, papers
    >>> found = kary_attack(papers.env_example_1(), Prior.uniform(4), "1/5", 3)
    >>> round(found.lower, 6), round(found.upper, 6), found.method
    (0.893818, 0.893818, 'linear programs for all sets of suspects')
    """
    wanted, count, joint = read_delta(delta), read_symbols(symbols), join(channel, prior)
    if count is None:
        raise WrongType("symbols must be a whole number of at least 1, got None; write 2 for binary maps.")
    exact = Rationals.of(joint)
    tasks, work = _tasks(exact, wanted, count)
    if work <= _MOST_WORK:
        best, upper = _solve_all(exact, tasks)
        method = "linear programs for all sets of suspects"
    else:
        best, upper = _solve_all(exact, _greedy_tasks(exact, wanted, count))
        upper = math.inf
        method = "heuristic: linear programs for suspects chosen greedily; upper end from general bounds"
    lower = max(0.0, log_bounds(best.ratio)[0])
    upper = min(upper, general_upper(channel, prior, wanted, joint, count))
    attack = _randomised_channel(channel, joint, exact, best)
    return Envelope(wanted, lower, upper, method, _adversary(count, len(exact.rows)), attack)


def _adversary(symbols: int, secrets: int) -> Adversary:
    return "any" if symbols > secrets else "k-ary"


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


def _sizes(exact: Rationals, delta: Fraction, symbols: int) -> list[tuple[int, Fraction]]:
    """Choose how many suspects, and the mass they must cover: k − 1 beside a rest, or k for everything."""
    secrets, total = len(exact.rows), sum(exact.marginal, Fraction(0))
    wanted = min(delta, total)
    sizes = [(symbols, total)] if symbols <= secrets else []
    if symbols > 1 and (wanted < total or not sizes):
        sizes.append((min(symbols - 1, secrets), wanted))
    return sizes


def _tasks(exact: Rationals, delta: Fraction, symbols: int) -> tuple[Iterator[_Task], int]:
    """List all sets of suspects, and the work they are."""
    sizes = _sizes(exact, delta, symbols)
    secrets = range(len(exact.rows))
    work = sum(math.comb(len(secrets), size) * size * len(exact.marginal) for size, _ in sizes)
    found = (
        _Task(chosen, mass, exact.tail_ratio(chosen, mass))
        for size, mass in sizes
        for chosen in combinations(secrets, size)
    )
    return found, work


def _greedy_tasks(exact: Rationals, delta: Fraction, symbols: int) -> Iterator[_Task]:
    """Choose one set of suspects of each size, each suspect being the one that raises the bound most."""
    for size, mass in _sizes(exact, delta, symbols):
        chosen: tuple[int, ...] = ()
        for _ in range(size):
            others = [place for place in range(len(exact.rows)) if place not in chosen]
            chosen += (max(others, key=lambda place, have=chosen: exact.tail_ratio((*have, place), mass)),)  # type: ignore[misc]
        yield _Task(chosen, mass, exact.tail_ratio(chosen, mass))


def _solve_all(exact: Rationals, tasks: Iterable[_Task]) -> tuple[_Cover, float]:
    """Find the best cover, and a sound upper end over all tasks; hopeless tasks are skipped by their bound."""
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


def _solve(exact: Rationals, task: _Task, enough: Fraction) -> tuple[_Cover, Fraction]:
    """Find a cover and a proved upper ratio for one set of suspects: Newton steps on D, bisection where they creep.

    Ends early where the suspects surely reach no more than `enough`, or where the solver's tolerance is met.
    """
    program, halving = _Program.of(exact, task), False
    level, upper, best = float(enough or task.bound), task.bound, None  # one program rules most suspects out
    for _ in range(_ROUNDS):
        shares, multipliers = program.at(level)
        cover = _repair(exact, task, shares)
        gap = upper - (best.ratio if best else 0)
        best = cover if best is None or cover.ratio > best.ratio else best
        upper = min(upper, _prove_upper(exact, task, multipliers, program.root(multipliers)))
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
    def of(cls, exact: Rationals, task: _Task) -> _Program:
        lifts = [
            [float(entry / mass) for entry, mass in zip(exact.rows[place], exact.marginal, strict=True)]
            for place in task.suspects
        ]
        return cls(np.array(lifts), np.array([float(mass) for mass in exact.marginal]), float(task.mass))

    def at(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Shares w_xy and multipliers λ_x at a level; zeros, which prove nothing, where the solver fails."""
        from scipy.sparse import csr_array

        suspects, outcomes = self.lifts.shape
        size = self.lifts.size
        balance, capacity = np.divmod(np.arange(size), outcomes)
        entries = np.concatenate([(level - self.lifts).ravel(), np.ones(size)])
        places = np.concatenate([balance, suspects + capacity]), np.tile(np.arange(size), 2)
        matrix = csr_array((entries, places), shape=(suspects + outcomes, size))
        limits = np.concatenate([np.zeros(suspects), self.marginal])
        try:
            found = minimise(-np.ones(size), matrix, limits, tolerance=1e-10)
        except SolverFailure:
            return np.zeros_like(self.lifts), np.zeros(suspects)
        masses = np.clip(found.primal.reshape(self.lifts.shape), 0.0, self.marginal)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(masses > 0, masses / self.marginal, 0.0)
        return shares, np.maximum(-found.duals[:suspects], 0.0)

    def root(self, multipliers: FloatArray) -> float:
        """Find where D falls to the mass: Newton from the left, finite since D is convex and piecewise linear."""
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


def _prove_upper(exact: Rationals, task: _Task, multipliers: FloatArray, level: float) -> Fraction:
    """Prove a ratio a little above the level, at which D < mass holds in rationals, or else the task's bound."""
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


def _repair(exact: Rationals, task: _Task, shares: FloatArray) -> _Cover:
    """Round the solver's shares to rationals that cover the mass exactly, and the ratio they reach."""
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
        """Compute the least ratio when this suspect takes what is missing."""
        raised = (pairs[place][0] + part * _dot(rows[place], spare), pairs[place][1] + part * free)
        return min(gain / mass for gain, mass in [*pairs[:place], raised, *pairs[place + 1 :]] if mass)

    taker = max(range(len(rows)), key=ratio_if)
    ratio = ratio_if(taker)
    weights[taker] = [w + part * s for w, s in zip(weights[taker], spare, strict=True)]
    return _Cover(ratio, weights, task)


def _dot(first: Iterable[Fraction], second: Iterable[Fraction]) -> Fraction:
    return sum((one * two for one, two in zip(first, second, strict=True) if one and two), Fraction(0))


def _randomised_channel(
    channel: Channel, joint: ExactJoint | FloatJoint, exact: Rationals, cover: _Cover
) -> Channel:
    """Write the attack down: one symbol for each suspect that is used, and one for the rest where there is one."""
    used = [place for place, row in enumerate(cover.weights) if any(row)]
    names: list[Any] = [joint.secrets[cover.task.suspects[place]] for place in used]
    columns = [cover.weights[place] for place in used]
    rest = [1 - sum(column, Fraction(0)) for column in zip(*columns, strict=True)]
    if any(rest):
        columns, names = [*columns, rest], [*names, rest_label(names)]
    rows: list[Any] = [[Fraction(0)] * (len(columns) - 1) + [Fraction(1)] for _ in range(channel.shape[1])]
    for place, row in zip(joint.places.tolist(), zip(*columns, strict=True), strict=True):
        rows[place] = list(row)
    return Channel(rows, channel.outputs, names)
