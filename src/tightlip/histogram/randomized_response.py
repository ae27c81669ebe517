"""Randomised response on histograms: release the table's own, or any one.

    P(θ' = θ) = e^ε/(|Θ| + e^ε − 1),   any other θ': 1/(|Θ| + e^ε − 1).

The same in two steps, which is how it is drawn: with probability (e^ε − 1)/(|Θ| + e^ε − 1) keep θ,
otherwise draw θ' uniformly from all of Θ, θ included. With r = (e^ε − 1)/|Θ| and s secret values (SML
paper, Theorem 4)

    Π = log (1 + s r)/(1 + r),   Δ = (d − 1)/(d (1 + r)).

*Why.* Rows θ_g of different secrets differ at their own outcome only, which gives Π whatever the secret
is. E TV(θ, θ') is convex and symmetric in θ for uniform θ', so the worst θ has everything in one cell; the
mean of θ'_1/τ is 1/d.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Any

from tightlip.arguments import whole
from tightlip.certificate.recomputation import RESPONSE_DISTORTION, RESPONSE_PRIVACY, certify_by_recomputation
from tightlip.histogram.counting import BALLS, Field, Growth, Number, exactly, read_growth
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.space import HistogramSpace, read_space

_MOST_BITS = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Randomised response on a space of histograms.

    Parameters
    ----------
    space : HistogramSpace
    epsilon : float, optional
        In nats; it must be of the order of log |Θ| to keep anything. An exact level like `log_of(50)` stays exact.
    ratio : optional
        e^ε instead, as an exact number: 50, "5/2", 10**400.
    secrets : int, optional
        How many values the secret takes; the share of one cell when left out.

    >>> response = RandomizedResponse(HistogramSpace(10, 4), ratio=50)
    >>> response.privacy.ratio, response.distortion.upper.fraction
    (Fraction(165, 67), Fraction(429, 670))
    """

    space: HistogramSpace
    secrets: int
    growth: Growth = field(repr=False)

    def __init__(
        self,
        space: HistogramSpace,
        epsilon: object = None,
        *,
        ratio: object = None,
        secrets: int | None = None,
    ) -> None:
        object.__setattr__(self, "space", read_space(space))
        object.__setattr__(self, "secrets", space.read_secrets(secrets))
        object.__setattr__(self, "growth", read_growth(epsilon, ratio))

    @property
    def privacy(self) -> Privacy:
        """Π = log (1 + s r)/(1 + r)."""
        return certify_by_recomputation(RESPONSE_PRIVACY, self._privacy(), **self._arguments)

    @property
    def distortion(self) -> Distortion:
        """Δ = (d − 1)/(d (1 + r))."""
        return certify_by_recomputation(RESPONSE_DISTORTION, self._distortion(), **self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        """What it is made of."""
        return {"space": self.space, "secrets": self.secrets, **self.growth.arguments}

    def _privacy(self) -> Privacy:
        method = "randomised response, SML Theorem 4"
        if self.secrets == 1 or self.growth.ratio == 1:
            return Privacy.of_ratio(Fraction(1), method)
        return Privacy.of_excess(lambda numbers: (self.secrets - 1) * self._keep(numbers), method)

    def _distortion(self) -> Distortion:
        share = Fraction(self.space.cells - 1, self.space.cells)
        method = "randomised response, SML Theorem 4"
        if self.growth.ratio == 1 or not share:
            return Distortion.of(share, method)
        return Distortion.of_formula(lambda numbers: numbers.number(share) / (1 + self._r(numbers)), method)

    @property
    def keep_probability(self) -> Fraction | None:
        """(e^ε − 1)/(|Θ| + e^ε − 1), the chance that no draw is made; None where it is no short rational."""
        return exactly(self._keep)

    def keep_interval(self, bits: int) -> tuple[int, int]:
        """Integers low ≤ 2^bits · keep_probability ≤ high, at most 2 apart, for an exact coin at any size.

        Draw `bits` random bits as an integer u: keep if u < low, draw if u ≥ high, otherwise ask again for
        more bits, extending the same u.

        >>> RandomizedResponse(HistogramSpace(10, 4), ratio=50).keep_interval(10)
        (149, 150)
        """
        from flint import ctx

        bits = whole(bits, "bits", 1, _MOST_BITS, remedy="ask for the bits that the coin needs")
        known, scale = self.keep_probability, 1 << bits
        if known is not None:
            return floor(known * scale), ceil(known * scale)
        precision = bits + 128
        while True:
            with ctx.workprec(precision):
                value = self._keep(BALLS) * scale
                low, high = value.lower().floor().unique_fmpz(), value.upper().ceil().unique_fmpz()
            if low is not None and high is not None and high - low <= 2:
                return max(0, int(low)), min(scale, int(high))
            precision *= 2

    def _r(self, numbers: Field) -> Number:
        return (numbers.growth(self.growth) - 1) / self.space.size_in(numbers)

    def _keep(self, numbers: Field) -> Number:
        rate = numbers.growth(self.growth) - 1
        return rate / (self.space.size_in(numbers) + rate)
