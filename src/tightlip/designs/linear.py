"""The best mechanism for a linear utility: a channel that keeps its guarantees exactly, and a bound on all others.

A gain g(x, y) for outputs y, the prior p, and a cone of columns by `Rows`. **Theorem.** Take any prices w_x, λ ≥ 0 and,
for each output, multipliers A_i of the upper bounds, B_j of the lower ones and γ_s of the positive ones, all ≥ 0. With

    c_x = p_x g(x, y) − w_x + Σ_i A_i u_ix − Σ_j B_j l_jx + Σ_s γ_s r_sx,
    A = Σ_i A_i,     B = Σ_j B_j + Σ_i A_i φ_i,

if Σ_x max(c_x, 0) ≤ A, Σ_x c_x ≤ A − B and Σ_i A_i ψ_i ≤ λ for every output y, then no channel of the cone gains more
than Σ_x w_x + λT.

*Proof.* Take a column k of the cone, M = max k and b = min k ≥ 0. Then

    Σ c_x k_x = b Σ c_x + Σ c_x (k_x − b) ≤ b(A − B) + (M − b)A = MA − bB,
    Σ_i A_i u_i·k ≥ MA − b Σ_i A_i φ_i − λm,     Σ_j B_j l_j·k ≤ b Σ_j B_j,     Σ_s γ_s r_s·k ≥ 0.

So Σ_x (p_x g(x, y) − w_x) k_x ≤ λm. Summed over the columns, whose rows sum to 1 and whose numbers m to at most T:
gain − Σ w ≤ λT. ∎

*Repair.* A column k that breaks bounds keeps them after k + e·1 for a large enough e, since the constant column has
room in all of them: e ≥ (M − u·k − φb)/(u·1 + φ − 1), (l·k − b)/(1 − l·1), −r·k/(r·1). Dividing by 1 + Σ_y e_y makes it
a channel again. Where Σ_y m_y exceeds T, constants that add up to e = (Σ m − T)/(T − ρ) do, with ρ the largest
(1 − u·1 − φ)/ψ, or 0. In whole numbers this is exact, and costs as much gain as the solver was wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.guarantee import Guarantee, Rows, Side, Vector, all_rows
from tightlip.designs.interior import Optimum, Shape, solve
from tightlip.designs.written_out import MOST, size_of, solve_written_out
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above

Whole = NDArray[np.object_]

SCALE = 1 << 53  # of the weights of a channel: what a float resolves
ROOM = Fraction(
    1, 1 << 40
)  # for measuring with floats: more than the roundings of sums over thousands of secrets
_CLEAN = (1e-7, 1e-9, 1e-11, 0.0)  # entries below are nothing, if that costs no gain worth mentioning
_WORTH = 2e-8  # of the gain: what a cleaner channel may cost
_HINT = 1e-5  # of a row: an output that is never more likely is hardly published
_TRIES = 3  # of leaving such outputs out
_OPEN = 1e-6  # of the gain: a gap beyond which other prices are tried
_PATIENT = 10  # times as many rows are written out where the interior point fails
_CUTS = 40  # rounds of adding priors of a set; each adds one for each output at most
_MET = 1e-9  # of the probability: how much an added prior may lack before the next round
_NEWTON = 200  # steps to the least shift of prices; it takes as many as entries change sides, a few


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be designed: prior p, gains g (a row for each secret, a column for each output), and guarantees.

    `room` is the share by which a channel stays inside its guarantees, so that they hold as measured with floats too.
    """

    masses: Vector
    gains: Whole
    guarantees: tuple[Guarantee, ...]
    room: Fraction = Fraction(0)

    def rows(self, side: Side) -> Rows:
        """Write the cone of allowed columns."""
        return self._inner if side is Side.INNER else self._outer

    @cached_property
    def _inner(self) -> Rows:
        return self._tamed(all_rows(self.guarantees, self.masses, Side.INNER, self.room), Side.INNER)

    @cached_property
    def _outer(self) -> Rows:
        return self._tamed(all_rows(self.guarantees, self.masses, Side.OUTER), Side.OUTER)

    def _tamed(self, rows: Rows, side: Side) -> Rows:
        return replace(rows, upper=tuple(own.tamed(side) for own in rows.upper))

    @property
    def of_one_kind(self) -> bool:
        """Whether the cone has the same bounds from inside and outside, but for roundings; an envelope has others."""
        inner, outer = ([own.own for own in self.rows(side).upper] for side in (Side.INNER, Side.OUTER))
        return inner == outer

    @property
    def silent(self) -> bool:
        """Whether only constant channels are allowed, or hardly any other."""
        rows = self.rows(Side.INNER)
        tight = any(own.room + own.own * (rows.most or 0) <= 0 for own in rows.upper)
        tight |= any(sum(row) >= 1 for row in rows.lower) or any(sum(row) <= 0 for row in rows.positive)
        return tight or any(own.silent for own in self.guarantees)

    def weighted(self) -> Whole:
        """Weigh gains by the prior: p_x g(x, y), a row for each output."""
        return np.asarray((self.gains * np.array(self.masses, dtype=object)[:, None]).T)

    def refine(self, weights: Whole) -> Problem:
        """Add the bounds of guarantees that decide about these columns."""
        refined = tuple(own.refine(weights.tolist()) for own in self.guarantees)
        return self if refined == self.guarantees else replace(self, guarantees=refined)


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A channel in whole numbers: P(y | x) = weights[y, x] / scale."""

    weights: Whole
    scale: int

    def gain(self, problem: Problem) -> Fraction:
        """Compute Σ p_x K_xy g(x, y) exactly."""
        values, unit = whole(problem.weighted())
        return Fraction(int((values * self.weights).sum()), unit * self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What bounds the gain of all channels: prices of secrets and of the total, and multipliers of an output's rows.

    `upper`, `lower` and `positive` have a row for each output and a column for each bound of that kind.
    """

    secrets: FloatArray
    total: float
    upper: FloatArray
    lower: FloatArray
    positive: FloatArray

    def bound(self, rows: Rows) -> Fraction:
        """Compute Σ w + λT."""
        values, unit = whole(_exact(self.secrets))
        return Fraction(int(values.sum()), unit) + Fraction(self.total) * (rows.most or 0)


def find(problem: Problem) -> tuple[Problem, Kernel, Prices]:
    """Find a channel and prices; the problem comes back with what was added to describe its guarantees."""
    gains = np.array(problem.weighted(), dtype=np.float64)
    problem = problem.refine(np.ones((1, len(problem.masses)), dtype=object))
    if problem.silent:
        return problem, constant_kernel(problem), repair_prices(problem, plain_optimum(problem, gains), gains)
    optimum = _solve(problem, gains, Side.INNER)
    for _ in range(_CUTS):
        weights = whole_weights(optimum.columns)
        refined = problem.refine(weights)
        if refined.guarantees == problem.guarantees or _nearly(refined.rows(Side.INNER), weights):
            break
        problem, optimum = refined, _solve(refined, gains, Side.INNER)
    bounding = optimum
    if not problem.of_one_kind:
        bounding = _solve(problem, gains, Side.OUTER)
    outer = problem.rows(Side.OUTER)
    prices = repair_prices(problem, bounding, gains)
    kernel = _repair_channel(problem, optimum.columns, float(prices.bound(outer)))
    with suppress(SolverFailure):
        # rounding may have ended the interior point early; and a vertex is cleaner than a point in the middle of optima
        other = repair_prices(problem, _written_out(problem, gains, Side.OUTER), gains)
        prices = min(prices, other, key=lambda own: own.bound(outer))
        columns = _written_out(problem, gains, Side.INNER).columns
        vertex = _repair_channel(problem, columns, float(prices.bound(outer)))
        kernel = vertex if _as_good(problem, vertex, kernel, float(prices.bound(outer))) else kernel
    kernel = _without_hints(problem, kernel, gains, float(prices.bound(outer)))
    if prices.bound(outer) - kernel.gain(problem) > _OPEN * abs(prices.bound(outer)):
        # at levels so small or so large that rounding leaves the solver little, nothing or the truth is nearly the best
        plain = repair_prices(problem, plain_optimum(problem, gains), gains)
        prices = min(prices, plain, truth_prices(problem), key=lambda own: own.bound(outer))
        told = repaired(problem, truth_kernel(problem).weights * SCALE)
        kernel = max(kernel, told, key=lambda own: own.gain(problem))
    return problem, kernel, prices


def _written_out(problem: Problem, gains: FloatArray, side: Side, most: int = MOST) -> Optimum:
    """Solve a small program by the simplex method; a large one is a failure."""
    shape = shape_of(problem.rows(side), len(problem.masses))
    if size_of(gains, shape) > most:
        raise SolverFailure("the program is too large to be written out.")
    return solve_written_out(gains, shape)


def _vertex(problem: Problem, gains: FloatArray) -> Optimum:
    """Solve a small program by the simplex method, and a large one, or one that it fails at, by the interior point."""
    with suppress(SolverFailure):
        return _written_out(problem, gains, Side.INNER)
    return _solve(problem, gains, Side.INNER)


def _without_hints(problem: Problem, kernel: Kernel, gains: FloatArray, bound: float) -> Kernel:
    """Leave out outputs that are hardly ever published, which an interior point leaves, if that costs nothing.

    They would tell much about nobody, and whoever estimates from what is published would divide by them.
    """
    for _ in range(_TRIES):
        peaks = kernel.weights.max(axis=1)
        used = peaks > kernel.scale * _HINT
        if (used | (peaks == 0)).all():
            break
        columns = np.zeros(gains.shape)
        columns[used] = _vertex(problem, gains[used]).columns
        found = _repair_channel(problem, columns, bound)
        if not _as_good(problem, found, kernel, bound):
            break
        kernel = found
    return kernel


def _as_good(problem: Problem, kernel: Kernel, other: Kernel, bound: float) -> bool:
    """Whether a channel gains as much as another, or lacks nothing worth mentioning of a bound."""
    return kernel.gain(problem) >= min(
        other.gain(problem), Fraction(bound) - Fraction(_WORTH) * abs(Fraction(bound))
    )


def _solve(problem: Problem, gains: FloatArray, side: Side) -> Optimum:
    """Solve in floats, slowly where that must be; the constant channel and its own prices where solvers fail."""
    with suppress(SolverFailure):
        return solve(gains, shape_of(problem.rows(side), len(problem.masses)))
    with suppress(SolverFailure):
        return _written_out(problem, gains, side, _PATIENT * MOST)
    return plain_optimum(problem, gains)


def _nearly(rows: Rows, weights: Whole) -> bool:
    lacking = sum(max(needs, default=0) for needs in _lacks(rows, weights, _constant))
    return lacking <= _MET * int(weights[:, 0].sum())


def shape_of(rows: Rows, secrets: int) -> Shape:
    """Write a cone as floats, with the least entry b and the number m of a column as auxiliaries where needed."""
    floor, own = any(row.floor for row in rows.upper), rows.most is not None
    uppers, others = len(rows.upper), rows.lower + rows.positive
    functionals = np.zeros((uppers + len(others) + floor + own, secrets + floor + own))
    for place, upper in enumerate(rows.upper):
        functionals[place, :secrets] = [float(entry) for entry in upper.row]
        functionals[place, secrets : secrets + floor] = float(upper.floor)
        functionals[place, secrets + floor :] = float(upper.own)
    for place, row in enumerate(others, uppers):
        functionals[place, :secrets] = [float(entry) for entry in row]
    for place in range(floor + own):
        functionals[uppers + len(others) + place, secrets + place] = 1.0
    ends = np.cumsum([uppers, len(rows.lower), len(rows.positive), floor, own]).tolist()
    groups = [tuple(range(start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    start = _inside(rows)
    total = None if rows.most is None else float(rows.most)
    # PMC and LDP keep entries above 0 by themselves
    signed = not rows.lower and not any(upper.floor and not any(upper.row) for upper in rows.upper)
    lower, positive = groups[1] + groups[3], groups[2] + groups[4]
    rooms = [own.room for own in rows.upper if not own.own] + [
        1 - sum(row, Fraction(0)) for row in rows.lower
    ]
    room = float(min([*rooms, *(sum(row, Fraction(0)) for row in rows.positive)], default=Fraction(1)))
    return Shape(functionals, groups[0], lower, positive, signed, min(room, 1.0), np.array(start), total)


def _inside(rows: Rows) -> list[float]:
    """Choose b and m of the column 1 such that every bound has room."""
    found = []
    least = Fraction(1)
    if any(row.floor for row in rows.upper):
        least -= (
            min(min(row.room / row.floor for row in rows.upper if row.floor and not row.own), Fraction(1)) / 2
        )
        found.append(float(least))
    if rows.most is not None:
        needed = max((1 - sum(row.row) - row.floor * least) / row.own for row in rows.upper if row.own)
        found.append(float(max(needed, Fraction(0)) + rows.most) / 2)
    return found


def repair_prices(problem: Problem, optimum: Optimum, gains: FloatArray) -> Prices:
    """Raise prices until they prove a bound, in exact arithmetic."""
    rows = problem.rows(Side.OUTER)
    prices = split_prices(rows, optimum)
    masses = np.array([float(mass) for mass in problem.masses])
    size = max(float(np.abs(gains).max()), float(np.abs(optimum.prices).max()), 1e-300)
    raised, step = least_shift(rows, gains, masses, prices), 2.0**-50 * size * len(masses)
    while True:
        found = replace(prices, secrets=prices.secrets + raised * masses)
        if proves(problem, found):
            return found
        raised, step = raised + step, 2 * step


def split_prices(rows: Rows, optimum: Optimum) -> Prices:
    """Sort a solver's multipliers by the bounds they are of; the price of the total covers them."""
    ends = np.cumsum([len(rows.upper), len(rows.lower), len(rows.positive)])
    upper, lower, positive = np.split(np.maximum(optimum.multipliers, 0.0)[:, : ends[2]], ends[:2], axis=1)
    owns = np.array([float(row.own) for row in rows.upper])
    total = float(np.nextafter((upper @ owns).max(initial=0.0) * (1 + 1e-15), np.inf)) if rows.most else 0.0
    return Prices(optimum.prices, max(total, optimum.total), upper, lower, positive)


def least_shift(rows: Rows, gains: FloatArray, masses: FloatArray, prices: Prices) -> float:
    """Find the least α for which prices w + αp prove a bound, up to rounding, by Newton's method from below."""
    base = gains - prices.secrets
    for part, vectors, sign in (
        (prices.upper, [own.row for own in rows.upper], 1.0),
        (prices.lower, rows.lower, -1.0),
        (prices.positive, rows.positive, 1.0),
    ):
        if len(vectors):
            base = base + sign * part @ np.array([[float(entry) for entry in row] for row in vectors])
    above = prices.upper.sum(axis=1)
    floors = prices.upper @ np.array([float(own.floor) for own in rows.upper])
    # where all entries count, the first premise is linear, and the second always is
    shift = (base.sum(axis=1) - above + prices.lower.sum(axis=1) + floors) / masses.sum()
    for _ in range(_NEWTON):
        over = base - shift[:, None] * masses
        active = over > 0
        rest = np.where(active, over, 0.0).sum(axis=1) - above
        # what is left is no more than the rounding of one of its terms: further steps would not end
        if not (rest > UNIT * (above + np.abs(base).sum(axis=1))).any():
            break
        weight = np.where(active, masses, 0.0).sum(axis=1)
        shift = shift + np.where(rest > 0, rest / np.maximum(weight, 1e-300), 0.0)
    else:
        # not there yet, which would be too little: a shift under which no entry counts is enough
        shift = np.maximum(shift, (base / masses).max(axis=1))
    return float(shift.max())


def proves(problem: Problem, prices: Prices) -> bool:
    """Check the theorem's premises in whole numbers."""
    parts = (prices.upper, prices.lower, prices.positive)
    if not all(np.isfinite(part).all() and (part >= 0).all() for part in (*parts, np.array(prices.total))):
        return False
    rows = problem.rows(Side.OUTER)
    sizes = len(rows.upper), len(rows.lower), len(rows.positive)
    outputs, secrets = problem.gains.shape[1], len(problem.masses)
    if tuple(part.shape for part in parts) != tuple((outputs, size) for size in sizes):
        return False
    if prices.secrets.shape != (secrets,) or not np.isfinite(prices.secrets).all():
        return False
    over, unit = _excess(problem, rows, prices)
    upper, own_unit = whole(_exact(prices.upper))
    lower, low_unit = whole(_exact(prices.lower))
    for entries, high, low in zip(over.tolist(), upper.tolist(), lower.tolist(), strict=True):
        above = Fraction(sum(high), own_unit)
        floor = sum(Fraction(part, own_unit) * row.floor for part, row in zip(high, rows.upper, strict=True))
        total = sum(Fraction(part, own_unit) * row.own for part, row in zip(high, rows.upper, strict=True))
        if Fraction(sum(entry for entry in entries if entry > 0), unit) > above or total > prices.total:
            return False
        if Fraction(sum(entries), unit) > above - floor - Fraction(sum(low), low_unit):
            return False
    return True


def _excess(problem: Problem, rows: Rows, prices: Prices) -> tuple[Whole, int]:
    """Compute c of the theorem for each output, over one denominator."""
    gains, gain_unit = whole(problem.weighted())
    secrets, secret_unit = whole(_exact(prices.secrets))
    over, unit = gains * secret_unit - secrets[None, :] * gain_unit, gain_unit * secret_unit
    for part, vectors, sign in (
        (prices.upper, [own.row for own in rows.upper], 1),
        (prices.lower, rows.lower, -1),
        (prices.positive, rows.positive, 1),
    ):
        if len(vectors):
            multipliers, own_unit = whole(_exact(part))
            table, row_unit = whole(np.array(vectors, dtype=object))
            added, added_unit = sign * (multipliers @ table), own_unit * row_unit
            over, unit = over * added_unit + added * unit, unit * added_unit
    return over, unit


def _repair_channel(problem: Problem, columns: FloatArray, bound: float) -> Kernel:
    """Make a channel that keeps every bound in whole numbers, as clean as its gain allows."""
    found = []
    for small in _CLEAN:
        kernel = repaired(problem, whole_weights(np.where(columns > small, columns, 0.0)))
        found.append((kernel.gain(problem), kernel))
        if bound - found[-1][0] <= _WORTH * abs(bound):
            return kernel
    return max(found, key=lambda own: own[0])[1]


def repaired(problem: Problem, weights: Whole) -> Kernel:
    """Add constants to the columns until they keep every bound of their own, and together the total."""
    problem = problem.refine(weights)
    rows, scale = problem.rows(Side.INNER), int(weights[:, 0].sum())
    added = np.array([max(needs, default=0) for needs in _lacks(rows, weights, _constant)], dtype=object)
    weights, scale = weights + added[:, None], scale + int(added.sum())
    if rows.most is not None:
        over = _total(rows, weights) - rows.most * scale
        if over > 0:
            worst = max(max(-own.room / own.own for own in rows.upper if own.own), Fraction(0))
            extra = -int(-over // (rows.most - worst))
            weights = weights.copy()
            weights[int(np.argmax(weights.sum(axis=1)))] += extra
            scale += extra
    return Kernel(weights, scale)


def keeps(problem: Problem, kernel: Kernel) -> bool:
    """Whether a channel keeps every guarantee, decided in whole numbers with no room."""
    refined = problem.refine(kernel.weights)
    rows = all_rows(refined.guarantees, refined.masses, Side.INNER)
    if any(needs for needs in _lacks(rows, kernel.weights, lambda lack, room: 1)):
        return False
    return rows.most is None or _total(rows, kernel.weights) <= rows.most * kernel.scale


def _constant(lack: Fraction, room: Fraction) -> int:
    """Find the least whole constant e with e·room ≥ lack."""
    return -int(-lack // room)


def _lacks(rows: Rows, weights: Whole, measure: Callable[[Fraction, Fraction], int]) -> list[list[int]]:
    """List, for each column, what its broken bounds lack; bounds with a number m of their own are none."""
    uppers = [own for own in rows.upper if not own.own]
    vectors = [own.row for own in uppers] + list(rows.lower) + list(rows.positive)
    if not vectors:
        return [[] for _ in weights]
    table, unit = whole(np.array(vectors, dtype=object))
    values, sums = (weights @ table.T).tolist(), table.sum(axis=1).tolist()
    floors = [own.floor * unit for own in uppers]
    found = []
    for column, own in zip(weights.tolist(), values, strict=True):
        high, low, needs = max(column), min(column), []
        for place, value in enumerate(own):
            if place < len(uppers):
                lack, room = high * unit - value - floors[place] * low, sums[place] + floors[place] - unit
            elif place < len(uppers) + len(rows.lower):
                lack, room = value - low * unit, unit - sums[place]
            else:
                lack, room = -value, sums[place]
            if lack > 0:
                needs.append(measure(lack, room))
        found.append(needs)
    return found


def _total(rows: Rows, weights: Whole) -> Fraction:
    """Compute Σ_y m_y, each number m as small as its column allows."""
    own = [upper for upper in rows.upper if upper.own]
    table, unit = whole(np.array([upper.row for upper in own], dtype=object))
    total = Fraction(0)
    for column, values in zip(weights.tolist(), (weights @ table.T).tolist(), strict=True):
        high, low = max(column), min(column)
        lacks = [
            (high - Fraction(value, unit) - upper.floor * low) / upper.own
            for value, upper in zip(values, own, strict=True)
        ]
        total += max(max(lacks), Fraction(0))
    return total


def truth_kernel(problem: Problem) -> Kernel:
    """Publish the best output for each secret."""
    weights = np.zeros(problem.gains.T.shape, dtype=object)
    for secret, row in enumerate(problem.gains.tolist()):
        weights[row.index(max(row)), secret] = 1
    return Kernel(weights, 1)


def truth_prices(problem: Problem) -> Prices:
    """Price each secret by its best output: a bound whatever the guarantees."""
    rows, outputs = problem.rows(Side.OUTER), problem.gains.shape[1]
    best = [float_above(max(row)) for row in problem.weighted().T.tolist()]
    parts = (np.zeros((outputs, len(own))) for own in (rows.upper, rows.lower, rows.positive))
    return Prices(np.array(best), 0.0, *parts)


def constant_kernel(problem: Problem) -> Kernel:
    """Release nothing: always the output with the best gain on the average."""
    gains = problem.weighted()
    weights = np.zeros(gains.shape, dtype=object)
    weights[int(np.argmax(gains.sum(axis=1)))] = 1
    return Kernel(weights, 1)


def plain_optimum(problem: Problem, gains: FloatArray) -> Optimum:
    """Release nothing, with prices v p of what that gains, and multipliers so large that all entries count."""
    rows, masses = problem.rows(Side.OUTER), np.array([float(mass) for mass in problem.masses])
    columns, worth = np.zeros_like(gains), float(gains.sum(axis=1).max())
    columns[int(gains.sum(axis=1).argmax())] = 1.0
    prices, spread = worth * masses, float(np.abs(gains / masses - worth).max())
    multipliers = np.zeros((len(gains), len(rows.upper) + len(rows.lower) + len(rows.positive)))
    rooms = [own.room + own.own * (rows.most or 0) for own in rows.upper]
    rooms += [1 - sum(row, Fraction(0)) for row in rows.lower]
    if rooms:
        tightest = rooms.index(min(rooms))
        multipliers[:, tightest] = spread
        if tightest < len(rows.upper) and rows.upper[tightest].own:
            prices = prices - spread * masses
    return Optimum(columns, prices, 0.0, multipliers)


def whole(values: NDArray[np.object_]) -> tuple[Whole, int]:
    """Write rationals over one denominator."""
    flat = values.ravel().tolist()
    unit = lcm(*{value.denominator for value in flat}) if flat else 1
    parts = np.empty(len(flat), dtype=object)
    parts[:] = [value.numerator * (unit // value.denominator) for value in flat]
    return parts.reshape(values.shape), unit


def whole_weights(columns: FloatArray) -> Whole:
    """Round a channel, given by columns, to whole weights whose rows sum to the scale."""
    sums = columns.sum(axis=0)
    shares = np.maximum(columns, 0.0) / np.where(sums > 0, sums, 1.0)
    weights = np.floor(shares * SCALE).astype(np.int64).astype(object)
    rest = SCALE - weights.sum(axis=0)
    for secret, place in enumerate(shares.argmax(axis=0).tolist()):
        weights[place, secret] += rest[secret]
    return weights


def _exact(values: FloatArray) -> NDArray[np.object_]:
    found = np.empty(values.size, dtype=object)
    found[:] = [Fraction(value) for value in values.ravel().tolist()]
    return found.reshape(values.shape)
