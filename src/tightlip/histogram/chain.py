"""Metropolis chains on the counts of groups of cells, for secrets whose values are too many to list.

The target is the number of histograms with those counts, restricted to the wanted range of the secret. Where that
range is far from what uniform histograms have, nearly all of its mass lies along one edge of it. So the chains walk in
coordinates that follow the edge: the rows of each whole, the second part, and how many rows the first part is away from
the edge. That map of whole numbers is one to one, so a symmetric step there is a symmetric step between counts. Now
and then any vector at all is proposed, which makes every state reachable.

Convergence is shown, not assumed: many chains start far apart, at places that depend on the range only, and the
split-R̂ of every group count and of the log-weight must come down to 1.01. If it does not, nothing is returned.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import NumericalFailure
from tightlip.histogram.secret import GroupedSecret
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.randomness import Integers, RandomSource

CHAINS = 64
_FIRST_STEPS = 1 << 11
_MOST_STEPS = 1 << 15
_KEPT = 256
_CONVERGED = 1.01
_START_ROUNDS = 200


def chain_group_counts(secret: GroupedSecret, values: range, random: RandomSource) -> tuple[Integers, str]:
    """The counts of the groups at the end of one of the chains, and how it was drawn, with the diagnostic.

    Raises
    ------
    NumericalFailure
        When the chains still disagree after 60000 steps, or no start was found.
    """
    chains = _Chains(secret, values, random)
    steps = _FIRST_STEPS
    while steps <= _MOST_STEPS:
        trace = chains.run(steps)
        worst = split_r_hat(trace)
        if worst <= _CONVERGED:
            return chains.states[
                0
            ].copy(), f"{CHAINS} Metropolis chains of {chains.steps} steps, R-hat {worst:.4f}"
        steps *= 2
    raise NumericalFailure(
        f"{CHAINS} chains did not converge in {chains.steps} steps, R-hat {worst:.3f}; choose a coarser resolution."
    )


def split_r_hat(trace: FloatArray) -> float:
    """The largest split-R̂ over the quantities of a trace of shape (draws, chains, quantities).

    Each chain is cut in two; R̂ compares the variance between halves with that within them, and is 1 for chains that
    have forgotten where they began. Quantities that never vary count as 1, those that only differ between chains as ∞.
    """
    half = len(trace) // 2
    parts = np.concatenate([trace[:half], trace[half : 2 * half]], axis=1)
    within = parts.var(axis=0, ddof=1).mean(axis=0)
    between = parts.mean(axis=0).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r_hat = np.sqrt((half - 1) / half + between / within)
    return float(np.where(between == 0, 1.0, r_hat).max())


class _Chains:
    """Many chains that step together; each row of `states` is one of them."""

    def __init__(self, secret: GroupedSecret, values: range, random: RandomSource) -> None:
        self.secret, self.values, self.random = secret, values, random
        self.used = len(secret.sizes) if secret.sizes[-1] else len(secret.sizes) - 1
        self.edge = self._nearer_edge()
        self.moving = (0, 3) if len(secret.sizes) == 3 else (0, 1, 2, 3) if secret.sizes[-1] else (0, 2, 3)
        self.states = self._starts()
        self.logs = self._log_weight(self.states)
        self.steps = 0
        self.shape = self._spread()

    def run(self, steps: int) -> FloatArray:
        """Take steps of one fixed kind, keep an evenly spaced trace of the second half of them."""
        self.shape = self._spread()
        kept = []
        every = max(1, steps // (2 * _KEPT))
        for step in range(steps):
            self._step()
            if step >= steps // 2 and step % every == 0:
                kept.append(np.column_stack([self.states, self.logs]))
        self.steps += steps
        return np.array(kept)

    def _step(self) -> None:
        accept, jump = self._uniform(2)
        proposal = self._from_edge(self._to_edge(self.states) + self._move())
        anywhere = jump > 0.98
        if anywhere.any():
            proposal[anywhere] = self._any_vectors(int(anywhere.sum()))
        fits = self._fits(proposal)
        logs = np.full(CHAINS, -np.inf)
        logs[fits] = self._log_weight(proposal[fits])
        accepted = np.log(accept) < logs - self.logs
        self.states[accepted] = proposal[accepted]
        self.logs[accepted] = logs[accepted]

    def _move(self) -> Integers:
        """Symmetric steps: half of the chains in one coordinate, of any size; half in all, shaped as the chains are."""
        which, length, shaped = self._uniform(3)
        sizes = np.exp(np.abs(2 * length - 1) * np.log(self.secret.total)).astype(np.int64)
        change = np.zeros((CHAINS, 4), dtype=np.int64)
        coordinate = np.array(self.moving)[(which * len(self.moving)).astype(np.int64)]
        change[np.arange(CHAINS), coordinate] = np.where(length < 0.5, -sizes, sizes)
        normal = self._normal(len(self.moving)) @ self.shape.T
        change[np.ix_(shaped < 0.5, self.moving)] = np.rint(normal[shaped < 0.5]).astype(np.int64)
        return change

    def _spread(self) -> FloatArray:
        """A square root of the covariance of the chains' places, scaled as suits a random walk."""
        walk = self._to_edge(self.states)[:, self.moving].astype(np.float64)
        covariance = np.cov(walk, rowvar=False) + 0.1 * np.eye(len(self.moving))
        root: FloatArray = np.linalg.cholesky(covariance) * (2.4 / np.sqrt(len(self.moving)))
        return root

    def _to_edge(self, states: Integers) -> Integers:
        """Rows of the first whole, of the second whole, of the second part, and of the first part off the edge."""
        first, second, part = (
            states[:, 0] + states[:, 1],
            np.zeros(len(states), dtype=np.int64),
            0 * states[:, 0],
        )
        if len(self.secret.sizes) == 5:
            second, part = states[:, 2] + states[:, 3], states[:, 2]
        return np.stack([first, second, part, states[:, 0] - self._edge(first, second, part)], axis=1)

    def _from_edge(self, walk: Integers) -> Integers:
        """The counts of the groups that coordinates along the edge stand for."""
        first, second, part, off = walk.T
        if not self.secret.sizes[-1]:
            second = self.secret.total - first
        inside = off + self._edge(first, second, part)
        pairs = [inside, first - inside]
        if len(self.secret.sizes) == 5:
            pairs += [part, second - part]
        return np.stack([*pairs, self.secret.total - sum(pairs)], axis=1)

    def _edge(self, first: Integers, second: Integers, part: Integers) -> Integers:
        """The first part at which the secret meets the edge, rounded up: edge = part₁/first − part/second."""
        below = np.maximum(second, 1)
        top = self.edge.numerator * below + self.edge.denominator * part
        edge: Integers = -((-first * top) // (self.edge.denominator * below))
        return edge

    def _any_vectors(self, count: int) -> Integers:
        """Vectors of group counts, each equally likely (stars and bars, up to float rounding)."""
        slots = self.secret.total + self.used - 1
        vectors = np.zeros((count, len(self.secret.sizes)), dtype=np.int64)
        for place in range(count):
            bars = self.random.choose(self.used - 1, slots)
            vectors[place, : self.used] = np.diff(bars, prepend=-1, append=slots) - 1
        return vectors

    def _fits(self, states: Integers) -> NDArray[np.bool_]:
        """Whether counts are possible and the secret in range."""
        possible = np.asarray((states >= 0).all(axis=1))
        index = self.secret.index_each(np.where(possible[:, None], states, 0))
        fits: NDArray[np.bool_] = possible & (index >= self.values.start) & (index < self.values.stop)
        return fits

    def _log_weight(self, states: Integers) -> FloatArray:
        from scipy.special import gammaln

        sizes = np.array(self.secret.sizes[: self.used])
        rows = states[:, : self.used]
        logs: FloatArray = (gammaln(rows + sizes) - gammaln(rows + 1)).sum(axis=1)
        return logs

    def _nearer_edge(self) -> Fraction:
        """The end of the range that is nearer to the shares of the numbers of cells, where uniform histograms are."""
        sizes = self.secret.sizes
        usual = Fraction(sizes[0], sizes[0] + sizes[1])
        if len(sizes) == 5:
            usual -= Fraction(sizes[2], sizes[2] + sizes[3])
        low, high = self._range()
        return low if usual < low else high

    def _range(self) -> tuple[Fraction, Fraction]:
        scale = self.secret.scale
        return scale.interval(self.values.start)[0], scale.interval(self.values.stop - 1)[1]

    def _starts(self) -> Integers:
        """Far apart vectors in range: random wholes, and parts of them that aim at the middle of the range."""
        low, high = map(float, self._range())
        found: list[Integers] = []
        for _ in range(_START_ROUNDS):
            candidates = self._aimed(self._any_vectors(CHAINS), low, high)
            found.append(candidates[self._fits(candidates)])
            if sum(map(len, found)) >= CHAINS:
                return np.concatenate(found)[:CHAINS]
        raise NumericalFailure(
            # which bin it is must not be told: it is the table's own
            f"no table of {self.secret.total} rows with a secret in a bin was found to start from; "
            "choose a coarser resolution."
        )

    def _aimed(self, vectors: Integers, low: float, high: float) -> Integers:
        """Keep the wholes of random vectors and set their parts so that the secret is near a random aim."""
        aim = low + (high - low) * self._uniform(1)[0]
        first = vectors[:, 0] + vectors[:, 1]
        base = np.zeros(CHAINS)
        if len(self.secret.sizes) == 5:
            second = vectors[:, 2] + vectors[:, 3]
            free = np.minimum(1.0, 1.0 - aim) - np.maximum(0.0, -aim)
            part = np.rint((np.maximum(0.0, -aim) + free * self._uniform(1)[0]) * second).astype(np.int64)
            vectors[:, 2], vectors[:, 3] = part, second - part
            base = part / np.maximum(second, 1)
        part = np.clip(np.rint((base + aim) * first), 0, first).astype(np.int64)
        vectors[:, 0], vectors[:, 1] = part, first - part
        return vectors

    def _normal(self, columns: int) -> FloatArray:
        from scipy.special import ndtri

        normal: FloatArray = ndtri(self._uniform(columns).T)
        return normal

    def _uniform(self, rows: int) -> FloatArray:
        """Uniform numbers in (0, 1), one column per chain."""
        words = self.random.words(rows * CHAINS).reshape(rows, CHAINS)
        return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
