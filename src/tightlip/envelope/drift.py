"""How an optimum moves with the ratio while its basis stays.

On the basis the program's matrix is B + h·B' at ratio t + h, so weights and multipliers are power series in h:

    w(t + h) = Σ_k h^k w_k,   B w_0 = b,   B w_k = −B' w_{k−1},

each term one more solve with the factors that HiGHS holds. Beyond the range of the basis they mean nothing; what they
suggest is checked like any other suggestion. Thresholds hardly move where multipliers do, so they are what is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tightlip.envelope.pairs import Places
from tightlip.numeric.parse import FloatArray

TERMS = 8
_FARTHEST = 0.02  # of the ratio
_LEFT_OUT = 1e-11  # the last term of V may be as large, of V


@dataclass(frozen=True, slots=True)
class Drift:
    """Power series in h = ratio − t of V, of the weights of some pairs, and of the secrets' 1/λ.

    `values`, and the rows of `weights` and `reaches`, are the terms from h⁰ on.
    """

    ratio: float
    places: Places
    values: FloatArray
    weights: FloatArray
    reaches: FloatArray

    def crossing(self, delta: float, lowest: float, highest: float) -> float | None:
        """The ratio at which V is δ by the series, or the end of the range beyond which it must be.

        None where the series do not reach so far, or V does not fall.
        """
        if not self.values[1] < 0:
            return None
        last = abs(float(self.values[-1]))
        reach = _FARTHEST * self.ratio
        if last:
            reach = min(reach, (_LEFT_OUT * delta / last) ** (1 / (TERMS - 1)))
        least, most = max(lowest - self.ratio, -reach), min(highest - self.ratio, reach)
        if self._value(least) < delta:
            return lowest if least > -reach else None
        if self._value(most) > delta:
            return highest if most < reach else None
        return self.ratio + self._root(delta, least, most)

    def _value(self, step: float) -> float:
        return float(step ** np.arange(TERMS) @ self.values)

    def _root(self, delta: float, least: float, most: float) -> float:
        from scipy.optimize import brentq

        if least == most:
            return least
        return float(brentq(lambda step: self._value(step) - delta, least, most, xtol=1e-16 * self.ratio))

    def weights_at(self, ratio: float) -> FloatArray:
        """The weights of `places`; a basis that has ended gives negative ones."""
        return np.asarray(self._powers(ratio) @ self.weights)

    def reaches_at(self, ratio: float) -> FloatArray:
        """1/λ of each secret: how far below the ratio its threshold is."""
        return np.asarray(self._powers(ratio) @ self.reaches)

    def _powers(self, ratio: float) -> FloatArray:
        return np.asarray((ratio - self.ratio) ** np.arange(TERMS))


def reciprocal(terms: FloatArray) -> FloatArray:
    """The power series of 1/λ from that of λ, column by column; constant and infinite where λ is 0 at first."""
    moving = terms[0] > 0
    scaled = -terms / np.where(moving, terms[0], 1.0)
    found = np.zeros_like(terms)
    found[0] = np.divide(1.0, terms[0], out=np.ones(terms.shape[1]), where=moving)
    for k in range(1, len(terms)):
        found[k] = np.einsum("ks,ks->s", scaled[k:0:-1], found[:k])
    found[:, ~moving] = 0.0
    found[0, ~moving] = np.inf
    return found
