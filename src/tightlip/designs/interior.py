"""Interior point for designs: the one linear program behind every linear utility, through its structure.

For each output y a column k_y of the channel and a few auxiliary numbers a_y, together z_y, with linear functionals
ℓ = F z_y:

    maximise   Σ_y c_y·k_y
    subject to k_xy ≤ ℓ_i   for every x and each upper bound i,      ℓ_i ≥ 0   for each positive functional i,
               k_xy ≥ ℓ_i   for every x and each lower bound i,      Σ_y k_y = 1,      Σ_y a_y ≤ T   where there is a T.

General solvers see n·m variables and as many rows, and neither the simplex method nor their interior points finish
at n = m = 400. Here Newton's matrix of one output is a diagonal plus a few dense rows and columns, one for each
functional, so an iteration is one product of an n × qm matrix with its transpose, and one Cholesky factor of size n:
O(n²m). Mehrotra's predictor and corrector; slacks are variables of their own, since differences of nearly equal
numbers would lose them.

What comes back is a suggestion: `linear` repairs the channel and proves the prices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tightlip.errors import SolverFailure
from tightlip.numeric.parse import FloatArray

_ROUNDS = 250  # three times what the slowest of hundreds of random programs took
_CLOSE = 0.995  # of the way to the nearest bound; closer, and rounding puts iterates onto it
_STALLS = 8  # rounds without a smaller error: rounding has the last word
_FREE = (
    2  # entries of a column that no bound holds: the largest of the diagonal's inverse, which would cancel
)
_CORRECTIONS = 2  # of one step; each costs a solution with the same factor
_REACH = 0.3  # how much further a corrected step is to go
_GAIN = 0.03  # of both lengths together, without which a correction is not worth it
_INNER = 0.1  # products between a tenth and ten times the aim are left alone
_PASSES = 4  # solutions of Newton's equations, each with prices refined by what the last one missed
_SUMMED = 1e-13  # what columns may miss of their sums
_ROUGHLY = 1e-6  # the same of rough iterates
_REFINED = 2  # corrections of the solutions of small systems by what they miss
_APART = 1e-3  # of an entry: differences above keep most of their digits
_CLEARLY = 0.97  # of the error before: less is no progress
_EARLY = 0.02  # relative error of an iterate to begin another program with; less gets stuck, more takes long
_EARLIER = 0.1  # the same where secrets are many
_MANY = 100  # secrets beyond which a factor takes so long that rough steps are worth correcting
_ROUGH = 0.1  # a relative error beyond which nothing was found
_SMALL = 1e-9  # of the largest gain; below it an optimum counts as 0
_LEVEL = 1e-13  # of the trace, added to a matrix that rounding made indefinite


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Which columns are allowed, as floats.

    Attributes
    ----------
    functionals : F, a row for each functional over (k, a)
    upper, lower, positive : which functionals bound k from above and from below, and which must be at least 0
    signed : whether entries must be kept above 0 by a bound of their own
    room : how much of a column's entry its bounds leave, at least: what an error costs to repair
    start : auxiliary numbers of the column 1, such that every bound has room
    total : T, for the last auxiliary number, or None
    """

    functionals: FloatArray
    upper: tuple[int, ...]
    lower: tuple[int, ...]
    positive: tuple[int, ...]
    signed: bool
    room: float
    start: FloatArray
    total: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """A channel and prices that nearly prove it optimal.

    Attributes
    ----------
    columns : k_y, a row for each output
    prices : of Σ_y k_y = 1, one for each secret
    total : the price of T
    multipliers : for each output and functional, the sum of the multipliers of its bounds
    """

    columns: FloatArray
    prices: FloatArray
    total: float
    multipliers: FloatArray


def solve(gains: FloatArray, shape: Shape, *, tolerance: float = 1e-10) -> Optimum:
    """Solve the program for gains c (a row for each output) up to a relative gap, or as far as rounding allows.

    Raises
    ------
    SolverFailure
        When not even a rough solution was reached.
    """
    return _run(gains, _State.start(gains, shape), tolerance)[0]


def follow(gains: FloatArray, shapes: Iterable[Shape], *, tolerance: float) -> Iterator[Optimum | None]:
    """Solve the program for shapes that become looser, each from an early iterate of the one before.

    An early iterate keeps away from all bounds, also when these move; a late one is stuck at them. Steps from there are
    rough: far from the last digits, what refines one costs more than it saves. Where they get stuck, the program is
    solved from the beginning. None stands for one that was not solved.
    """
    early: _State | None = None
    for shape in shapes:
        begin, found = None if early is None else early.under(shape), None
        early = None
        if begin is not None:
            with suppress(SolverFailure):
                found, early = _run(gains, begin, tolerance, tolerance)
        if found is None:
            with suppress(SolverFailure):
                found, early = _run(gains, _State.start(gains, shape), tolerance)
        yield found


def _run(gains: FloatArray, state: _State, tolerance: float, most: float = _ROUGH) -> tuple[Optimum, _State]:
    """Improve an iterate until it is good enough; also return the first one that was near an optimum.

    An error of more than `most` in the end is a failure.
    """
    scale = float(np.abs(gains).max()) or 1.0
    scaled, early = gains / scale, state
    channel, prices, stalls = _Best(state), _Best(state), 0
    with np.errstate(all="ignore"):
        for _ in range(_ROUNDS):
            gap, worth = state.complementarity(), max(abs(float((scaled * state.columns).sum())), _SMALL)
            better = channel.offer(state, gap / worth + state.missing() / state.shape.room)
            better |= prices.offer(state, (gap + state.unpriced(scaled)) / worth)
            stalls = 0 if better else stalls + 1
            early = state if prices.error > (_EARLIER if state.many else _EARLY) else early
            if max(channel.error, prices.error) <= tolerance or stalls >= _STALLS:
                break
            try:
                state = state.improve(scaled)
            except (np.linalg.LinAlgError, ValueError):
                break
        if not max(channel.error, prices.error) <= most:
            raise SolverFailure("the interior point stopped before it came near an optimum.")
        return Optimum(channel.state.columns, *prices.state.prices_of(scaled, scale)), early


@dataclass(slots=True, eq=False)
class _Best:
    """The iterate with the least error so far; rounding spoils channels and prices at different times."""

    state: _State
    error: float = np.inf

    def offer(self, state: _State, error: float) -> bool:
        """Keep an iterate that is better; tell whether it is clearly so."""
        clearly = error < _CLEARLY * self.error
        if error < self.error:
            self.state, self.error = state, error
        return clearly


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """An iterate: columns k, auxiliaries a, prices w, and for each group of bounds its slacks and multipliers.

    A group is (sign, functional): its slacks are sign·k − sign·ℓ for entries (sign ±1; no functional is ℓ = 0), or ℓ
    itself (sign 0). Steps from a rough one are not refined, nor corrected unless secrets are many.
    """

    shape: Shape
    groups: tuple[tuple[int, int | None], ...]
    columns: FloatArray
    auxiliary: FloatArray
    prices: FloatArray
    slacks: list[FloatArray]
    weights: list[FloatArray]
    rough: bool = False

    @classmethod
    def start(cls, gains: FloatArray, shape: Shape) -> _State:
        """Begin with the constant channel, which has room everywhere."""
        outputs, secrets = gains.shape
        groups: list[tuple[int, int | None]] = [(1, None)] if shape.signed else []
        groups += [(-1, i) for i in shape.upper]
        groups += [(1, i) for i in shape.lower]
        groups += [(0, i) for i in shape.positive]
        columns = np.full((outputs, secrets), 1.0 / outputs)
        auxiliary = np.tile(shape.start / outputs, (outputs, 1))
        values = _functionals(shape, columns, auxiliary)
        slacks = [_slack(group, columns, values) for group in groups]
        if shape.total is not None:
            slacks.append(np.array([shape.total - auxiliary[:, -1].sum()]))
        weights = [0.5 / outputs / np.maximum(slack, 1e-3 / outputs) for slack in slacks]
        prices = np.zeros(secrets)
        if shape.total is not None:
            prices = np.append(prices, weights[-1])
        return cls(shape, tuple(groups), columns, auxiliary, prices, slacks, weights)

    def under(self, shape: Shape) -> _State | None:
        """Take the same iterate, as a rough one, under other bounds; None where it breaks one."""
        values = _functionals(shape, self.columns, self.auxiliary)
        slacks = [_slack(group, self.columns, values) for group in self.groups]
        if shape.total is not None:
            slacks.append(np.array([shape.total - self.auxiliary[:, -1].sum()]))
        if not min(own.min() for own in slacks) > 0:
            return None
        return replace(self, shape=shape, slacks=slacks, rough=True)

    @property
    def many(self) -> bool:
        """Whether there are many secrets."""
        return len(self.columns.T) > _MANY

    def complementarity(self) -> float:
        """Sum slack times multiplier over all bounds: the gap, if both sides are feasible."""
        return sum(float((s * x).sum()) for s, x in zip(self.slacks, self.weights, strict=True))

    def missing(self) -> float:
        """Tell how far the columns are from summing to 1, and from their slacks, which rounding drives apart."""
        values = _functionals(self.shape, self.columns, self.auxiliary)
        apart = [
            float(np.abs(_slack(group, self.columns, values) - slack).max())
            for group, slack in zip(self.groups, self.slacks, strict=False)
        ]
        return max(float(np.abs(1 - self.columns.sum(axis=0)).max()), *apart)

    def unpriced(self, gains: FloatArray) -> float:
        """Tell how far prices and multipliers are from dual feasible."""
        on_columns, on_auxiliary = self._stationarity(gains, self.weights, self.prices)
        return float(np.abs(on_columns).max() + np.abs(on_auxiliary).max(initial=0.0))

    def _stationarity(
        self, gains: FloatArray, weights: Sequence[FloatArray], prices: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute c + Gᵀx − w over columns and auxiliaries: 0 at a dual solution."""
        secrets = self.columns.shape[1]
        on_functionals = np.zeros((len(self.columns), len(self.shape.functionals)))
        on_columns = gains - prices[:secrets]
        for (sign, place), weight in zip(self.groups, weights, strict=False):
            if sign:
                on_columns = on_columns + sign * weight
            if place is not None:
                on_functionals[:, place] += weight if not sign else -sign * weight.sum(axis=1)
        on_auxiliary = on_functionals @ self.shape.functionals[:, secrets:]
        if self.shape.total is not None:
            on_auxiliary[:, -1] -= prices[-1]
        return on_columns + on_functionals @ self.shape.functionals[:, :secrets], on_auxiliary

    def improve(self, gains: FloatArray) -> _State:
        """Take a predictor and a corrector step."""
        system = _System.of(self)
        count = sum(slack.size for slack in self.slacks)
        mean = self.complementarity() / count
        step = self._step(gains, system, [-s * x for s, x in zip(self.slacks, self.weights, strict=True)])
        near, far = self._lengths(step)
        reached = sum(
            float(((s + near * ds) * (x + far * dx)).sum())
            for s, ds, x, dx in zip(self.slacks, step.slacks, self.weights, step.weights, strict=True)
        )
        centre = mean * (reached / count / mean) ** 3
        goal = [
            centre - s * x - ds * dx
            for s, ds, x, dx in zip(self.slacks, step.slacks, self.weights, step.weights, strict=True)
        ]
        step = self._centred(gains, system, goal, centre)
        near, far = (min(1.0, _CLOSE * length) for length in self._lengths(step))
        return _State(
            self.shape,
            self.groups,
            self.columns + near * step.columns,
            self.auxiliary + near * step.auxiliary,
            self.prices + far * step.prices,
            [s + near * ds for s, ds in zip(self.slacks, step.slacks, strict=True)],
            [x + far * dx for x, dx in zip(self.weights, step.weights, strict=True)],
            self.rough,
        )

    def _lengths(self, step: _Step) -> tuple[float, float]:
        return _length(self.slacks, step.slacks), _length(self.weights, step.weights)

    def _centred(self, gains: FloatArray, system: _System, goal: list[FloatArray], centre: float) -> _Step:
        """Correct a step as long as that makes it longer: products far from the centre are pulled in (Gondzio)."""
        step = self._step(gains, system, goal)
        near, far = self._lengths(step)
        for _ in range(0 if self.rough and not self.many else _CORRECTIONS):
            wide, deep = min(1.0, near + _REACH), min(1.0, far + _REACH)
            pulled = []
            for s, ds, x, dx, aim in zip(
                self.slacks, step.slacks, self.weights, step.weights, goal, strict=True
            ):
                product = (s + wide * ds) * (x + deep * dx)
                pull = np.clip(product, _INNER * centre, centre / _INNER) - product
                pulled.append(aim + np.maximum(pull, -centre / _INNER))
            other = self._step(gains, system, pulled)
            longer = self._lengths(other)
            if not longer[0] + longer[1] > near + far + _GAIN:
                break
            step, goal, (near, far) = other, pulled, longer
        return step

    def _step(self, gains: FloatArray, system: _System, goal: Sequence[FloatArray]) -> _Step:
        """Solve Newton's equations: slack·multiplier moves by `goal` (to first order), residuals vanish."""
        shape, secrets = self.shape, self.columns.shape[1]
        raised = [
            weight + aim / slack for weight, aim, slack in zip(self.weights, goal, self.slacks, strict=True)
        ]
        on_columns, on_auxiliary = self._stationarity(gains, raised, self.prices)
        wanted = 1 - self.columns.sum(axis=0)
        loose = 0.0
        if shape.total is not None:
            loose = float((goal[-1] / self.weights[-1])[0])
            short = shape.total - self.auxiliary[:, -1].sum() - float(self.slacks[-1][0])
            wanted = np.append(wanted, short - loose)
        columns, auxiliary, prices, slacks = system.solve(on_columns, on_auxiliary, wanted)
        weights = [
            (aim - weight * ds) / slack
            for aim, weight, ds, slack in zip(goal, self.weights, slacks, self.slacks, strict=False)
        ]
        if shape.total is not None:
            weights.append(prices[secrets:])
            slacks.append(loose - self.slacks[-1] / self.weights[-1] * prices[secrets:])
        return _Step(columns, auxiliary, prices, slacks, weights)

    def prices_of(self, gains: FloatArray, scale: float) -> tuple[FloatArray, float, FloatArray]:
        """Return prices, that of the total, and the multipliers summed over each functional's bounds.

        Prices are raised by what entries lack of dual feasibility.
        """
        sums = np.zeros((len(self.columns), len(self.shape.functionals)))
        for (sign, place), weight in zip(self.groups, self.weights, strict=False):
            if place is not None:
                sums[:, place] += weight.sum(axis=1) if sign else weight
        secrets = self.columns.shape[1]
        total = float(self.prices[-1]) * scale if self.shape.total is not None else 0.0
        lacking = self._stationarity(gains, self.weights, self.prices)[0].max(axis=0)
        return (self.prices[:secrets] + np.maximum(lacking, 0.0)) * scale, total, sums * scale


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    columns: FloatArray
    auxiliary: FloatArray
    prices: FloatArray
    slacks: list[FloatArray]
    weights: list[FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """Newton's matrix, factored: outputs are eliminated, each through the few numbers ξ = (a, ℓ, π) that it has.

    Of one output, with E the diagonal and C = (0, V, −Fᵀ), V the curvatures of the functionals' bounds:

        k = E⁻¹(r + Cξ),     Nξ = (r_a, 0, 0) + CᵀE⁻¹r,     N = ((A, 0, F_aᵀ), (0, D, −1), (F_a, −1, 0)) − CᵀE⁻¹C.
    """

    state: _State
    curvature: list[FloatArray]
    diagonal: FloatArray
    inverse: FloatArray
    spread: FloatArray
    inner: FloatArray
    small: FloatArray
    factor: Any
    give: float | None

    @classmethod
    def of(cls, state: _State) -> _System:
        """Build and factor the matrix at an iterate."""
        shape, (outputs, secrets) = state.shape, state.columns.shape
        size, extra = len(shape.functionals), state.auxiliary.shape[1]
        curvature = [x / s for s, x in zip(state.slacks, state.weights, strict=True)]
        diagonal = np.zeros((outputs, secrets))
        bent = np.zeros((outputs, size, secrets))
        inner = np.zeros((outputs, size, size))
        for (sign, place), own in zip(state.groups, curvature, strict=False):
            if sign:
                diagonal += own
            if place is not None and sign:
                bent[:, place] = own
            elif place is not None:
                inner[:, place, place] += own
        free = (
            np.argpartition(diagonal, _FREE - 1, axis=1)[:, :_FREE]
            if secrets > _FREE
            else np.empty((outputs, 0), int)
        )
        every = np.arange(outputs)[:, None]
        inverse = 1 / diagonal
        inverse[every, free] = 0.0
        spread = np.concatenate(
            [
                np.zeros((outputs, extra, secrets)),
                bent,
                np.broadcast_to(-shape.functionals[:, :secrets], bent.shape),
            ],
            axis=1,
        )
        scaled = spread * inverse[:, None, :]
        rows, ends = slice(extra, extra + size), slice(extra + size, extra + 2 * size)
        small = np.zeros((outputs, extra + 2 * size + free.shape[1], extra + 2 * size + free.shape[1]))
        inside = slice(0, extra + 2 * size)
        small[:, inside, inside] = -np.einsum("yqn,yrn->yqr", scaled, spread)
        # D − VᵀE⁻¹V without its cancellation
        for place in range(size):
            own = bent[:, place] * (diagonal - bent[:, place]) * inverse + np.where(
                inverse == 0, bent[:, place], 0.0
            )
            small[:, extra + place, extra + place] = own.sum(axis=1)
        small[:, rows, rows] += inner
        small[:, rows, ends] -= np.eye(size)
        small[:, ends, rows] -= np.eye(size)
        small[:, :extra, ends] += shape.functionals[:, secrets:].T
        small[:, ends, :extra] += shape.functionals[:, secrets:]
        for place in range(free.shape[1]):
            at = extra + 2 * size + place
            small[:, at, at] = diagonal[every[:, 0], free[:, place]]
            small[:, inside, at] = small[:, at, inside] = -spread[every[:, 0], :, free[:, place]]
        unit = np.zeros((outputs, free.shape[1], secrets))
        unit[every, np.arange(free.shape[1])[None, :], free] = 1.0
        scaled = np.concatenate([scaled, unit], axis=1)
        return cls._factored(state, diagonal, inverse, scaled, small, curvature)

    @classmethod
    def _factored(
        cls,
        state: _State,
        diagonal: FloatArray,
        inverse: FloatArray,
        scaled: FloatArray,
        inner: FloatArray,
        curvature: Sequence[FloatArray],
    ) -> _System:
        from scipy.linalg import cho_factor

        small = _inverse(inner)

        outputs, size, secrets = scaled.shape
        flat = scaled.transpose(2, 0, 1).reshape(secrets, outputs * size)
        turned = np.einsum("yqn,yqr->nyr", scaled, small, optimize=True).reshape(secrets, outputs * size)
        matrix, give = np.diag(inverse.sum(axis=0)) + turned @ flat.T, None
        if state.shape.total is not None:
            last, give = state.auxiliary.shape[1] - 1, float(1 / curvature[-1][0])
            edge = np.einsum("yqn,yq->n", scaled, small[:, :, last])
            corner = small[:, last, last].sum() + give
            matrix = np.block([[matrix, edge[:, None]], [edge[None, :], np.array([[corner]])]])
        matrix = (matrix + matrix.T) / 2
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("not finite")
        try:
            factor = cho_factor(matrix)
        except np.linalg.LinAlgError:
            factor = cho_factor(matrix + np.eye(len(matrix)) * (_LEVEL * np.trace(matrix)))
        return cls(state, list(curvature), diagonal, inverse, scaled, inner, small, factor, give)

    def solve(
        self, on_columns: FloatArray, on_auxiliary: FloatArray, wanted: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, list[FloatArray]]:
        """Solve for columns, auxiliaries, prices and slacks; prices are refined until columns sum to 1."""
        from scipy.linalg import cho_solve

        secrets, prices = on_columns.shape[1], np.zeros(len(wanted))
        most, reached = _ROUGHLY if self.state.rough else _SUMMED, wanted
        for turn in range(_PASSES):
            if turn:
                prices = prices + cho_solve(self.factor, reached - wanted)
            right, rest = on_auxiliary.copy(), on_columns - prices[:secrets]
            if self.give is not None:
                right[:, -1] -= prices[-1]
            inner = self._inner(rest, right)
            columns = rest * self.inverse + np.einsum("yqn,yq->yn", self.spread, inner)
            auxiliary = inner[:, : right.shape[1]]
            reached = columns.sum(axis=0)
            if self.give is not None:
                # the slack of the total moves with its price
                reached = np.append(reached, auxiliary[:, -1].sum() - self.give * prices[-1])
            if np.abs(reached - wanted).max() <= most:
                break
        return columns, auxiliary, prices, self._slacks(columns, rest, inner)

    def _inner(self, on_columns: FloatArray, on_auxiliary: FloatArray) -> FloatArray:
        """Solve the outputs' own equations for ξ."""
        right = np.einsum("yqn,yn->yq", self.spread, on_columns)
        right[:, : on_auxiliary.shape[1]] += on_auxiliary
        found = np.einsum("yqr,yr->yq", self.small, right)
        for _ in range(0 if self.state.rough else _REFINED):
            found += np.einsum("yqr,yr->yq", self.small, right - np.einsum("yqr,yr->yq", self.inner, found))
        return np.asarray(found)

    def _slacks(self, columns: FloatArray, right: FloatArray, inner: FloatArray) -> list[FloatArray]:
        """Compute how slacks move: ℓ − k is the small difference of large numbers, so it is solved for itself.

        From e·k = r + Σ_j d_j ℓ_j − Fᵀπ follows e·(k − ℓ_i) = r + Σ_{j≠i} d_j (ℓ_j − ℓ_i) − Fᵀπ, since e is the sum of
        all curvatures.
        """
        shape, extra, secrets = self.state.shape, self.state.auxiliary.shape[1], columns.shape[1]
        size = len(shape.functionals)
        values = inner[:, extra : extra + size]
        base = right - inner[:, extra + size : extra + 2 * size] @ shape.functionals[:, :secrets]
        entries = [
            (sign, place, own)
            for (sign, place), own in zip(self.state.groups, self.curvature, strict=False)
            if sign
        ]
        found = []
        for sign, place in self.state.groups:
            if place is None:
                found.append(columns)
            elif not sign:
                found.append(values[:, place])
            else:
                pull = base.copy()
                for _, other, own in entries:
                    if other != place:
                        level = 0.0 if other is None else values[:, [other]]
                        pull += own * (level - values[:, [place]])
                apart = columns - values[:, [place]]
                # entries that were taken out, if they have no bound near: nothing cancels then
                plain = (self.inverse == 0) & (np.abs(apart) > _APART * np.abs(columns))
                moved = np.where(plain, apart, pull / self.diagonal)
                found.append(sign * moved)
        return found


def _inverse(matrices: FloatArray) -> FloatArray:
    """Invert small symmetric matrices, balanced first: their entries differ by many orders of magnitude."""
    sizes = np.abs(matrices).max(axis=2)
    scale = 1 / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    for _ in range(2):
        sizes = np.abs(matrices * scale[:, :, None] * scale[:, None, :]).max(axis=2)
        scale = scale / np.sqrt(np.where(sizes > 0, sizes, 1.0))
    balanced = matrices * scale[:, :, None] * scale[:, None, :]
    return np.asarray(np.linalg.inv(balanced) * scale[:, :, None] * scale[:, None, :])


def _functionals(shape: Shape, columns: FloatArray, auxiliary: FloatArray) -> FloatArray:
    secrets = columns.shape[1]
    return np.asarray(
        columns @ shape.functionals[:, :secrets].T + auxiliary @ shape.functionals[:, secrets:].T
    )


def _slack(group: tuple[int, int | None], columns: FloatArray, values: FloatArray) -> FloatArray:
    sign, place = group
    if place is None:
        return columns
    return sign * (columns - values[:, [place]]) if sign else values[:, place]


def _length(values: Sequence[FloatArray], steps: Sequence[FloatArray]) -> float:
    """Find how far a step can go before a value becomes negative, at most 1."""
    fastest = 1.0
    for value, step in zip(values, steps, strict=True):
        fastest = max(fastest, -float(np.fmin.reduce(step / value, axis=None, initial=0.0)))
    return 1 / fastest
