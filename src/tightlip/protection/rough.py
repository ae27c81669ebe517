"""The linear program of the best randomised release where it is too large to be solved: near it, with a proved bound.

Prices come from a first-order method on the dual, made smooth by a temperature that falls from round to round; after
each round values join as in `program`. Any prices prove a bound. The shares that belong to them break limits by little
and are made to keep them: a value that breaks a limit gives up some of the cells that are over it, which then say
nothing; where that is over a limit in turn, cells with room that are published as they are join them, those first that
lose least for the room they give.
"""

from __future__ import annotations

import numpy as np

from tightlip.auditing.tally import Places
from tightlip.numeric.first_order import smoothed
from tightlip.numeric.parse import FloatArray
from tightlip.protection.clock import Deadline
from tightlip.protection.program import OnRound, Optimum, Program

MANY = 500_000  # pairs, from which on a factorisation takes longer than it is worth
_TEMPERATURES = (0.1, 0.1, 0.03, 0.01, 0.005)  # of detail per person, one for each round
_STEPS = (20, 20, 40, 60, 80)  # of the first-order method
_UNUSED = 1e-4  # a share that a temperature gives to what is not used
_SWEEPS = 12  # over all limits; what is withdrawn for one may have been the room of another
_MARGIN = 1e-3  # more is withdrawn from sweep to sweep, so that they come to an end
_GROWTH = 1  # a round lets as many values join as there are
_RAISES = (
    8  # of the prices of values outside the program; where limits pull against each other no number is enough
)
_EDGE = 1e-9  # relative; sums of shares are off by less


def solve_roughly(program: Program, gap: float, until: Deadline, on_round: OnRound) -> Optimum:
    """Come near the optimum, and prove a bound; Ctrl-C and the end of time give the best so far."""
    best = program.nothing()
    prices, exposure, proof = best.prices, best.exposure_price, 0.0
    try:
        active, chosen = program.start()
        for temperature, steps in zip(_TEMPERATURES, _STEPS, strict=True):
            pairs = np.flatnonzero(chosen & active[program.value])
            pairs = pairs[np.argsort(program.cell[pairs], kind="stable")]
            last, search = (prices, exposure), until.before(proof)
            share, worth, prices, exposure = _prices(program, pairs, last, temperature, steps, search)
            left = until.left()
            kept = _keep_limits(program, pairs, share)
            found, gain = program.priced(*kept, worth, prices, exposure, _RAISES)
            best = best.join(found)
            on_round(best.detail, best.bound)
            if best.bound - best.detail <= gap * best.detail:
                return best.ended()
            proof = left - until.left()
            if until.left() <= 2 * proof:
                break
            program.grow(active, chosen, gain, _GROWTH)
    except KeyboardInterrupt:
        return best.interrupted()
    return best


def _prices(
    program: Program,
    pairs: Places,
    last: tuple[FloatArray, float],
    temperature: float,
    steps: int,
    until: Deadline,
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Shares of pairs, the worth of each cell, prices, and the price of exposure, from the last prices."""
    rows = program.rows(pairs)
    start = last[0][rows.limit, rows.value]
    found = smoothed(
        -program.own[pairs],
        rows.matrix.tocsr()[rows.cells :],
        rows.limits[rows.cells :],
        program.cell[pairs],
        program.people,
        start=np.append(start, last[1]) if rows.exposure else start,
        temperature=temperature,
        steps=steps,
        goes_on=lambda: until.left() > 0,
    )
    prices, exposure = rows.duals(found.duals, len(program.excess), len(program.values))
    return found.primal, -found.duals[: rows.cells], prices, exposure


def _keep_limits(program: Program, pairs: Places, share: FloatArray) -> tuple[Places, FloatArray]:
    """Withdraw shares until every value keeps its limits, but for rounding; shares of a cell sum to 1."""
    used = np.flatnonzero((share > _UNUSED) & ~program.says_least[program.value[pairs]])
    pairs, share = pairs[used], share[used]
    out = program.exposed[pairs]
    if out.any():
        shown = float(program.people[program.cell[pairs[out]]] @ share[out])
        share[out] *= min(1.0, program.allowed * (1 - _EDGE) / max(shown, _EDGE))
    bound = np.flatnonzero(~out)
    share[bound] = _withdraw(program, program.value[pairs[bound]], program.cell[pairs[bound]], share[bound])
    share = _make_room(program, program.value[pairs], program.cell[pairs], share)
    silent = np.flatnonzero(program.says_least[program.value])
    rest = np.maximum(1 - np.bincount(program.cell[pairs], share, len(program.people)), 0.0)
    kept = share > 0
    return np.append(pairs[kept], silent), np.append(share[kept], rest[program.cell[silent]])


def _withdraw(program: Program, value: Places, cell: Places, share: FloatArray) -> FloatArray:
    """Take from each value as much of the cells over a limit as is over it, in turns."""
    found, at, many = share.copy(), np.arange(len(share)), len(program.values)
    for sweep in range(_SWEEPS):
        broken = np.zeros(many, dtype=bool)
        for own in program.excess:
            amount = own[cell[at]] * found[at]
            risk = np.bincount(value[at], np.maximum(amount, 0.0), many)
            room = np.bincount(value[at], np.maximum(-amount, 0.0), many) * (1 - _EDGE)
            over = risk > room
            keep = np.where(over, room / np.where(over, risk, 1.0) * (1 - _MARGIN * sweep), 1.0)
            found[at] = np.where(amount > 0, found[at] * keep[value[at]], found[at])
            broken |= over
        at = at[broken[value[at]]]
        if not len(at):
            break
    found[at] = 0.0
    return found


def _make_room(program: Program, value: Places, cell: Places, share: FloatArray) -> FloatArray:
    """Take cells with room from where they are as they are, as far as those that say nothing need it."""
    last, values = program.values.last, len(program.values)
    alone = program.single[value] & ~program.risky[cell]
    loss = program.people[cell] * (program.detail[value] - program.detail[last[cell]])
    for own in program.excess:
        rest = 1 - np.bincount(cell, share, len(program.people))
        over = np.bincount(last, own * rest, values)
        room = np.flatnonzero(alone & (own[cell] < 0) & (share > 0))
        top = last[cell[room]]
        order = np.lexsort((loss[room] / -own[cell[room]], top))
        room, top = room[order], top[order]
        given = -own[cell[room]] * share[room]
        before = np.cumsum(given) - given
        before -= before[np.searchsorted(top, top)] if len(top) else 0.0
        share[room[before < over[top] * (1 + _EDGE)]] = 0.0
    return share
