"""How an optimum moves with the ratio while its basis stays.

On the basis the program's matrix is B + h·B' at ratio t + h, so weights and multipliers are power series in h:

    w(t + h) = Σ_k h^k w_k,   B w_0 = b,   B w_k = −B' w_{k−1},

each term one more solve with the factors that HiGHS holds, so terms are found as they are needed. Beyond the range of
the basis they mean nothing; what they suggest is checked like any other suggestion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tightlip.envelopes.pairs import Pairs, Places
from tightlip.numeric.parse import FloatArray

_FEWEST, _MOST = 3, 16  # terms
_FARTHEST = 0.1  # of the ratio
_LEFT_OUT = 1e-11  # the last term of V may be as large, of V
_ENDED = -1e-3  # a weight below it tells that the basis ends before
_STEPS, _DIGITS = 20, 1e-9  # of Newton's method
_POWERS = np.arange(_MOST)


class Basis:
    """The pairs in the basis of an optimum, and the factors of their columns, HiGHS's until it solves again."""

    def __init__(self, solver: Any, basic: Places, pairs: Pairs, chosen: Places, scale: float) -> None:
        self._solver = solver
        self._rows = np.flatnonzero(basic >= 0)
        self._sizes = pairs.outcomes, pairs.secrets
        self.columns = basic[self._rows]
        self.places: Places = chosen[self.columns]
        self.weight = pairs.weight[self.places]
        self._scaled = self.weight * scale
        self._secret = pairs.secret[self.places]

    def next_weights(self, weights: FloatArray) -> FloatArray:
        """w_k from w_{k−1}."""
        outcomes, secrets = self._sizes
        right = np.zeros(outcomes + secrets)
        right[outcomes:] = np.bincount(self._secret, self._scaled * weights, secrets)
        return np.asarray(self._solver.getBasisSolve(right)[1])[self._rows]

    def next_multipliers(self, multipliers: FloatArray) -> FloatArray:
        """The same for the secrets' multipliers."""
        outcomes, secrets = self._sizes
        right = np.zeros(outcomes + secrets)
        right[self._rows] = self._scaled * multipliers[self._secret]
        return np.asarray(self._solver.getBasisTransposeSolve(right)[1])[outcomes:]


class Drift:
    """Power series in h = ratio − t of V, of the weights of the basis's pairs, and of the secrets' multipliers."""

    def __init__(self, ratio: float, basis: Basis, weights: FloatArray, multipliers: FloatArray) -> None:
        self.ratio = ratio
        self._basis = basis
        self._weights = _Terms(weights)
        self._multipliers = _Terms(multipliers)
        self._values = [float(weights @ basis.weight)]

    @property
    def places(self) -> Places:
        """The pairs whose weights are meant."""
        return self._basis.places

    def crossing(self, delta: float, lowest: float, highest: float) -> float | None:
        """The ratio at which V is δ by the series, or the end of the range beyond which it must be.

        None where the series do not reach so far, the basis ends before, or V does not fall.
        """
        farthest = _FARTHEST * self.ratio
        least, most = max(lowest - self.ratio, -farthest), min(highest - self.ratio, farthest)
        step, terms = 0.0, max(_FEWEST, self._weights.count)
        while terms <= _MOST:
            self._grow(terms)
            found = self._nearer(step, delta, least, most)
            if found is None or abs(found) == farthest:
                return None
            step = found
            more = self._wanting(step, _LEFT_OUT * delta)
            if not more:
                return {least: lowest, most: highest}.get(step, self.ratio + step)
            if terms > _FEWEST and self.weights_at(self.ratio + step).min() < _ENDED:
                return None
            terms += more
        return None

    def _wanting(self, step: float, allowed: float) -> int:
        """About how many more terms of V there must be until the last one is no more than allowed."""
        last, before = (abs(self._values[-back]) * abs(step) ** (len(self._values) - back) for back in (1, 2))
        if last <= allowed:
            return 0
        if allowed <= 0 or not 2 * last < before:
            return 1
        return math.ceil(math.log(last / allowed) / math.log(before / last))

    def _grow(self, terms: int) -> None:
        while self._weights.count < terms:
            following = self._basis.next_weights(self._weights.last)
            self._weights.append(following)
            self._values.append(float(following @ self._basis.weight))

    def _nearer(self, step: float, delta: float, least: float, most: float) -> float | None:
        """Where the series of V meets δ, or the end of the range that is nearest to it, by Newton's method."""
        for _ in range(_STEPS):
            value, slope = 0.0, 0.0
            for term in reversed(self._values):
                value, slope = value * step + term, slope * step + value
            if not slope < 0:
                return None
            before, step = step, min(max(step - (value - delta) / slope, least), most)
            if abs(step - before) <= _DIGITS * abs(step):  # the next step would be as small as its square
                break
        return step

    def weights_at(self, ratio: float) -> FloatArray:
        """The weights of `places`; a basis that has ended gives negative ones."""
        return self._weights.at(ratio - self.ratio)

    def reaches_at(self, ratio: float) -> FloatArray:
        """1/λ of each secret: how far below the ratio its threshold is."""
        while self._multipliers.count < self._weights.count:
            self._multipliers.append(self._basis.next_multipliers(self._multipliers.last))
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.maximum(self._multipliers.at(ratio - self.ratio), 0.0))


class _Terms:
    """The terms of a power series that are known so far."""

    def __init__(self, first: FloatArray) -> None:
        self._table = np.empty((_MOST, len(first)))
        self._table[0] = first
        self.count = 1

    @property
    def last(self) -> FloatArray:
        """The term of the highest power."""
        return np.asarray(self._table[self.count - 1])

    def append(self, term: FloatArray) -> None:
        """One more."""
        self._table[self.count] = term
        self.count += 1

    def at(self, step: float) -> FloatArray:
        """The sum."""
        return np.asarray(step ** _POWERS[: self.count] @ self._table[: self.count])
