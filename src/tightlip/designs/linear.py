"""The best mechanism for a linear utility: a channel that keeps its guarantees exactly, and a bound on all others.

A gain g(x, y) for outputs y, the prior p, and a cone of columns by `Rows`. **Theorem.** Take any prices w_x, λ ≥ 0 and,
for each output, multipliers A_i of the upper bounds, B_j of the lower ones and γ_s of the positive ones, all ≥ 0. With

    c_x = p_x g(x, y) − w_x + Σ_i A_i u_ix − Σ_j B_j l_jx + Σ_s γ_s r_sx,
    A = λ + Σ_i A_i,     B = Σ_j B_j + Σ_i A_i φ_i,

if Σ_x max(c_x, 0) ≤ A and Σ_x c_x ≤ A − B for every output y, then no channel of the cone gains more than Σ_x w_x + λT.

*Proof.* Take a column k of the cone, M = max k and b = min k ≥ 0. Then

    Σ c_x k_x = b Σ c_x + Σ c_x (k_x − b) ≤ b(A − B) + (M − b)A = MA − bB,
    Σ_i A_i u_i·k ≥ M Σ_i A_i − b Σ_i A_i φ_i,     Σ_j B_j l_j·k ≤ b Σ_j B_j,     Σ_s γ_s r_s·k ≥ 0.

So Σ_x (p_x g(x, y) − w_x) k_x ≤ λM. Summed over the columns, whose rows sum to 1 and whose largest entries sum to at
most T: gain − Σ w ≤ λT. ∎

*Repair.* A column k that breaks bounds keeps them after k + e·1 for a large enough e, since the constant column has
room in all of them: e ≥ (M − u·k − φb)/(u·1 + φ − 1), (l·k − b)/(1 − l·1), −r·k/(r·1). Dividing by 1 + Σ_y e_y makes it
a channel again. In whole numbers this is exact, and costs as much gain as the solver was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tightlip.designs.guarantee import Guarantee, Rows, Side, Vector, all_rows
from tightlip.designs.interior import Optimum, Shape, solve
from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

Whole = NDArray[np.object_]

SCALE = 1 << 53  # of the weights of a channel: what a float resolves
ROOM = Fraction(
    1, 1 << 40
)  # for measuring with floats: more than the roundings of sums over thousands of secrets
_CLEAN = (1e-7, 1e-9, 1e-11, 0.0)  # entries below are nothing, if that costs no gain worth mentioning
_WORTH = 2e-8  # of the gain: what a cleaner channel may cost
_CUTS = 40  # rounds of adding priors of a set; each adds one for each output at most
_MET = 1e-9  # of the level: how much an added prior may be broken before the next round


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be designed: prior p, gains g (a row for each secret, a column for each output), and guarantees."""

    masses: Vector
    gains: Whole
    guarantees: tuple[Guarantee, ...]
    room: Fraction = Fraction(0)

    def rows(self, side: Side) -> Rows:
        """Write the cone of allowed columns."""
        return all_rows(self.guarantees, self.masses, side, self.room if side is Side.INNER else Fraction(0))

    @property
    def silent(self) -> bool:
        """Whether only constant channels are allowed."""
        rows = self.rows(Side.INNER)
        tight = any(sum(row) + floor <= 1 for row, floor in rows.upper) or any(
            sum(row) >= 1 for row in rows.lower
        )
        return tight or rows.most == 1 or any(own.silent for own in self.guarantees)

    def weighted(self) -> Whole:
        """Weigh gains by the prior: p_x g(x, y), a row for each output."""
        return np.asarray((self.gains * np.array(self.masses, dtype=object)[:, None]).T)


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

    `upper`, `lower` and `positive` have a row for each output and a column for each row of the cone.
    """

    secrets: FloatArray
    total: float
    upper: FloatArray
    lower: FloatArray
    positive: FloatArray

    def bound(self, most: Fraction | None) -> Fraction:
        """Compute Σ w + λT."""
        values, unit = whole(_exact(self.secrets))
        total = Fraction(self.total) * most if most is not None else Fraction(0)
        return Fraction(int(values.sum()), unit) + total


def find(problem: Problem) -> tuple[Problem, Kernel, Prices]:
    """Find a channel and prices; the problem comes back with what was added to describe its guarantees."""
    if problem.silent:
        problem = _refined(problem, np.ones((1, len(problem.masses)), dtype=object))
        return problem, constant_kernel(problem), plain_prices(problem)
    gains = np.array(problem.weighted(), dtype=np.float64)
    problem = _refined(problem, np.ones((1, len(problem.masses)), dtype=object))
    optimum = _solve(problem, gains)
    for _ in range(_CUTS):
        refined = _refined(problem, _weights(optimum.columns))
        if refined is problem:
            break
        problem, optimum = refined, _solve(refined, gains)
    prices = repair_prices(problem, optimum, gains)
    return (*repair_channel(problem, optimum.columns, float(prices.secrets.sum())), prices)


def _solve(problem: Problem, gains: FloatArray) -> Optimum:
    """Solve in floats; the constant channel and its own prices where the solver fails."""
    try:
        return solve(gains, shape_of(problem.rows(Side.INNER), len(problem.masses)))
    except SolverFailure:
        return plain_optimum(problem, gains)


def _refined(problem: Problem, weights: Whole) -> Problem:
    """Add the bounds of guarantees that decide about these columns; the problem itself where none is new or broken."""
    refined = tuple(own.refine(weights.tolist()) for own in problem.guarantees)
    if all(one is two or one == two for one, two in zip(refined, problem.guarantees, strict=True)):
        return problem
    found = replace(problem, guarantees=refined)
    if sum(map(sum, _needed(found.rows(Side.INNER), weights))) <= _MET * sum(weights.ravel().tolist()):
        return problem
    return found


def shape_of(rows: Rows, secrets: int) -> Shape:
    """Write a cone as floats, with the least entry and the largest one of a column as auxiliaries where needed."""
    floor = any(share for _, share in rows.upper)
    extra = floor + (rows.most is not None)
    functionals = np.zeros((len(rows.upper) + len(rows.lower) + len(rows.positive) + extra, secrets + extra))
    for place, (row, share) in enumerate(rows.upper):
        functionals[place, :secrets] = [float(entry) for entry in row]
        if floor:
            functionals[place, secrets] = float(share)
    for place, row in enumerate(rows.lower + rows.positive, len(rows.upper)):
        functionals[place, :secrets] = [float(entry) for entry in row]
    ends = np.cumsum([len(rows.upper), len(rows.lower), len(rows.positive), floor, rows.most is not None])
    groups = [tuple(range(start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    start = []
    if floor:
        functionals[groups[3][0], secrets] = 1.0
        room = min((sum(row) + share - 1) / share for row, share in rows.upper if share)
        start.append(float(1 - min(room, Fraction(1)) / 2))
    if rows.most is not None:
        functionals[groups[4][0], -1] = 1.0
        start.append(float(1 + rows.most) / 2)
    total = None if rows.most is None else float(rows.most)
    return Shape(functionals, groups[0] + groups[4], groups[1] + groups[3], groups[2], np.array(start), total)


def repair_prices(problem: Problem, optimum: Optimum, gains: FloatArray) -> Prices:
    """Raise prices until they prove a bound, in exact arithmetic."""
    rows = problem.rows(Side.OUTER)
    ends = np.cumsum([len(rows.upper), len(rows.lower), len(rows.positive)])
    own = np.maximum(optimum.multipliers, 0.0)
    prices = Prices(
        optimum.prices,
        max(optimum.total, 0.0),
        own[:, : ends[0]],
        own[:, ends[0] : ends[1]],
        own[:, ends[1] : ends[2]],
    )
    masses = np.array([float(mass) for mass in problem.masses])
    size = max(float(np.abs(gains).max()), float(np.abs(optimum.prices).max()), 1e-300)
    raised, step = _shift(rows, gains, masses, prices), 2.0**-50 * size * len(masses)
    while True:
        found = replace(prices, secrets=prices.secrets + raised * masses)
        if proves(problem, found):
            return found
        raised, step = raised + step, 2 * step


def _shift(rows: Rows, gains: FloatArray, masses: FloatArray, prices: Prices) -> float:
    """Find the least α for which prices w + αp prove a bound, up to rounding, by Newton's method from below."""
    base = gains - prices.secrets
    for part, vectors, sign in (
        (prices.upper, [row for row, _ in rows.upper], 1.0),
        (prices.lower, rows.lower, -1.0),
        (prices.positive, rows.positive, 1.0),
    ):
        if len(vectors):
            base = base + sign * part @ np.array([[float(entry) for entry in row] for row in vectors])
    above = prices.total + prices.upper.sum(axis=1)
    floors = prices.upper @ np.array([float(share) for _, share in rows.upper])
    # where all entries count, the first premise is linear, and the second always is
    shift = (base.sum(axis=1) - above + prices.lower.sum(axis=1) + floors) / masses.sum()
    for _ in range(200):
        over = base - shift[:, None] * masses
        active = over > 0
        rest = np.where(active, over, 0.0).sum(axis=1) - above
        weight = np.where(active, masses, 0.0).sum(axis=1)
        move = np.where((rest > 0) & (weight > 0), rest / np.maximum(weight, 1e-300), 0.0)
        shift = shift + move
        if not (move > 1e-16 * np.maximum(np.abs(shift), 1e-300)).any():
            break
    return float(shift.max())


def proves(problem: Problem, prices: Prices) -> bool:
    """Check the theorem's premises in whole numbers."""
    parts = (prices.upper, prices.lower, prices.positive)
    if not all(np.isfinite(part).all() and (part >= 0).all() for part in parts):
        return False
    if not (np.isfinite(prices.secrets).all() and 0 <= prices.total < np.inf):
        return False
    rows = problem.rows(Side.OUTER)
    vectors = (
        [row for row, _ in rows.upper]
        + [tuple(-entry for entry in row) for row in rows.lower]
        + list(rows.positive)
    )
    gains, gain_unit = whole(problem.weighted())
    secrets, secret_unit = whole(_exact(prices.secrets))
    over, unit = gains * secret_unit - secrets[None, :] * gain_unit, gain_unit * secret_unit
    multipliers, own_unit = whole(_exact(np.concatenate(parts, axis=1)))
    if vectors:
        table, row_unit = whole(np.array(vectors, dtype=object))
        added, added_unit = multipliers @ table, own_unit * row_unit
        over, unit = over * added_unit + added * unit, unit * added_unit
    ends = np.cumsum([part.shape[1] for part in parts])
    upper, lower = multipliers[:, : ends[0]], multipliers[:, ends[0] : ends[1]]
    most = Fraction(prices.total) if rows.most is not None else Fraction(0)
    shares = [share for _, share in rows.upper]
    for entries, high, low in zip(over.tolist(), upper.tolist(), lower.tolist(), strict=True):
        above = most + Fraction(sum(high), own_unit)
        floor = sum((part * share for part, share in zip(high, shares, strict=True) if share), Fraction(0))
        below = (sum(low) + floor) / Fraction(own_unit)
        if Fraction(sum(entry for entry in entries if entry > 0), unit) > above:
            return False
        if Fraction(sum(entries), unit) > above - below:
            return False
    return True


def repair_channel(problem: Problem, columns: FloatArray, bound: float) -> tuple[Problem, Kernel]:
    """Make a channel that keeps every bound in whole numbers, as clean as its gain allows."""
    best: tuple[Problem, Kernel, float] | None = None
    for small in _CLEAN:
        weights = _weights(np.where(columns > small, columns, 0.0))
        found, kernel = repaired(problem, weights)
        gain = float(kernel.gain(found))
        if best is None or gain > best[2]:
            best = found, kernel, gain
        if bound - gain <= _WORTH * abs(bound):
            break
    assert best is not None
    return best[0], best[1]


def repaired(problem: Problem, weights: Whole) -> tuple[Problem, Kernel]:
    """Add a constant to each column until it keeps every bound, and to one of them until the total does."""
    refined = tuple(own.refine(weights.tolist()) for own in problem.guarantees)
    problem = replace(problem, guarantees=refined)
    rows, scale = problem.rows(Side.INNER), int(weights[:, 0].sum())
    added = [max(needs, default=0) for needs in _needed(rows, weights)]
    weights = weights + np.array(added, dtype=object)[:, None]
    if rows.most is not None:
        over = sum(max(column) for column in weights.tolist()) - rows.most * (scale + sum(added))
        if over > 0:
            extra = -int(-over // (rows.most - 1))
            weights[int(np.argmax(weights.sum(axis=1)))] += extra
            added.append(extra)
    return problem, Kernel(weights, scale + sum(added))


def keeps(problem: Problem, kernel: Kernel) -> bool:
    """Whether a channel keeps every guarantee, decided in whole numbers with no room."""
    refined = tuple(own.refine(kernel.weights.tolist()) for own in problem.guarantees)
    rows = all_rows(refined, problem.masses, Side.INNER)
    if any(any(needs) for needs in _needed(rows, kernel.weights, lazily=True)):
        return False
    largest = sum(max(column) for column in kernel.weights.tolist())
    return rows.most is None or largest <= rows.most * kernel.scale


def _needed(rows: Rows, weights: Whole, *, lazily: bool = False) -> list[list[int]]:
    """Work out, for each column and bound, which constant it lacks; lazily, whether it lacks one."""
    vectors = [row for row, _ in rows.upper] + list(rows.lower) + list(rows.positive)
    if not vectors:
        return [[] for _ in weights]
    table, unit = whole(np.array(vectors, dtype=object))
    values = (weights @ table.T).tolist()
    sums = table.sum(axis=1).tolist()
    shares = [
        int(share * unit) if (share * unit).denominator == 1 else share * unit for _, share in rows.upper
    ]
    uppers, lowers = len(rows.upper), len(rows.lower)
    found = []
    for column, own in zip(weights.tolist(), values, strict=True):
        high, low, needs = max(column) * unit, min(column) * unit, []
        for place, value in enumerate(own):
            if place < uppers:
                lack, room = high - value - shares[place] * min(column), sums[place] + shares[place] - unit
            elif place < uppers + lowers:
                lack, room = value - low, unit - sums[place]
            else:
                lack, room = -value, sums[place]
            if lack > 0:
                needs.append(1 if lazily else -int(-lack // room))
        found.append(needs)
    return found


def constant_kernel(problem: Problem) -> Kernel:
    """Release nothing: always the output with the best gain on the average."""
    gains = problem.weighted()
    weights = np.zeros(gains.shape, dtype=object)
    weights[int(np.argmax(gains.sum(axis=1)))] = 1
    return Kernel(weights, 1)


def plain_prices(problem: Problem) -> Prices:
    """Price secrets by the best constant output: near the optimum where hardly anything may be released."""
    gains = np.array(problem.weighted(), dtype=np.float64)
    return repair_prices(problem, plain_optimum(problem, gains), gains)


def plain_optimum(problem: Problem, gains: FloatArray) -> Optimum:
    """Release nothing, with prices v p of what that gains, and multipliers so large that all entries count."""
    rows, masses = problem.rows(Side.INNER), np.array([float(mass) for mass in problem.masses])
    best = int(gains.sum(axis=1).argmax())
    columns, worth = np.zeros_like(gains), gains.sum(axis=1).max()
    columns[best] = 1.0
    prices, spread = worth * masses, float(np.abs(gains / masses - worth).max())
    multipliers = np.zeros((len(gains), len(rows.upper) + len(rows.lower) + len(rows.positive)))
    rooms = [float(sum(row) + share - 1) for row, share in rows.upper] + [
        float(1 - sum(row)) for row in rows.lower
    ]
    total = 0.0
    if rooms and (rows.most is None or min(rooms) < rows.most - 1):
        multipliers[:, int(np.argmin(rooms))] = spread
    elif rows.most is not None:
        total, prices = spread, prices - spread * masses
    return Optimum(columns, prices, total, multipliers)


def whole(values: NDArray[np.object_]) -> tuple[Whole, int]:
    """Write rationals over one denominator."""
    flat = values.ravel().tolist()
    unit = lcm(*{value.denominator for value in flat}) if flat else 1
    parts = np.empty(len(flat), dtype=object)
    parts[:] = [value.numerator * (unit // value.denominator) for value in flat]
    return parts.reshape(values.shape), unit


def _exact(values: FloatArray) -> NDArray[np.object_]:
    found = np.empty(values.shape, dtype=object)
    found.ravel()[:] = [Fraction(value) for value in values.ravel().tolist()]
    return found


def _weights(columns: FloatArray) -> Whole:
    """Round a channel, given by columns, to whole weights whose rows sum to the scale."""
    sums = columns.sum(axis=0)
    shares = np.maximum(columns, 0.0) / np.where(sums > 0, sums, 1.0)
    weights = np.floor(shares * SCALE).astype(np.int64).astype(object)
    rest = SCALE - weights.sum(axis=0)
    for secret, place in enumerate(shares.argmax(axis=0).tolist()):
        weights[place, secret] += rest[secret]
    return weights
