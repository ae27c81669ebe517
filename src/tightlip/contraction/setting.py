"""(ε, c)-PML on N secrets as the bounds compute with it: e^ε and c, in rationals where they are known, else in balls.

Every channel is (log 1/c, c)-PML, so e^ε above 1/c is read as 1/c.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.arguments import whole
from tightlip.measures.capacity import read_min_mass
from tightlip.numeric.ball import Ball, ball, enclose, exp_bounds, log_exceeds
from tightlip.numeric.quantity import exact_level, exact_ratio, level


@dataclass(frozen=True, slots=True)
class Setting:
    """N secrets, e^ε ≤ 1/c and c; `ratio` is e^ε where it is a known rational, None where ε is not exact.

    `unbounded` stands for e^ε = ∞, which only c = 0 allows; `known` for input that was all exact.
    """

    secrets: int
    min_mass: Fraction
    ratio: Fraction | None
    epsilon: float | Fraction
    unbounded: bool
    known: bool

    @classmethod
    def of(cls, n: int, epsilon: Any, min_mass: Any) -> Setting:
        """Read and check the three numbers."""
        n = whole(n, "n", 2, remedy="it counts secrets, and one secret has no pair to tell apart")
        mass, known = read_min_mass(min_mass, int(n))
        infinite = math.isinf(level(epsilon, allow_infinite=True))
        own = math.inf if infinite else exact_level(epsilon)
        ratio = None if infinite else exact_ratio(own)
        if mass and (infinite or _at_least(own, ratio, 1 / mass)):
            ratio, infinite = 1 / mass, False
        return cls(int(n), mass, ratio, own, infinite, known and ratio is not None)

    @property
    def rest(self) -> Fraction:
        """1 − Nc."""
        return 1 - self.secrets * self.min_mass

    def growth(self) -> Ball:
        """e^ε as a ball."""
        return ball(self.epsilon).exp() if self.ratio is None else ball(self.ratio)

    def growth_below(self) -> Fraction:
        """A rational at most e^ε, equal to it where it is known and within one unit in the last place elsewhere."""
        return self.ratio if self.ratio is not None else Fraction(exp_bounds(self.epsilon)[0])

    def evaluate(
        self, formula: Callable[[Any, Callable[[Any], Any]], Any]
    ) -> tuple[float, float, Fraction | None]:
        """Ends of formula(e^ε, number), and its exact value where all is known; `number` lifts rationals."""
        if self.ratio is not None:
            value = Fraction(formula(self.ratio, Fraction))
            lower, upper = enclose(lambda: ball(value))
            return lower, upper, value if self.known else None
        return (*enclose(lambda: formula(self.growth(), ball)), None)


def _at_least(epsilon: float | Fraction, ratio: Fraction | None, wanted: Fraction) -> bool:
    """Whether e^ε ≥ wanted."""
    return ratio >= wanted if ratio is not None else not log_exceeds(wanted, epsilon)
