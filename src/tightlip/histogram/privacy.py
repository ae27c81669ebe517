"""What a histogram mechanism gives away and what it costs, each between two proved ends.

Privacy     Π = statistic maximal leakage about the secret (SML paper, section IV).
Distortion  Δ = max over θ of E[TV(θ, θ')], TV(θ, θ') = Σ_i |θ_i − θ'_i| / 2τ: the expected total variation
            distance between the table's histogram and the released one, in the worst case over tables
            (SML paper, equation (1) and Lemma 1). It lies in [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from tightlip.certificate.recomputation import Recomputation
from tightlip.histogram.counting import BALLS, Field, Number, exactly
from tightlip.numeric.ball import enclose
from tightlip.numeric.proved import Proved
from tightlip.numeric.quantity import Nats, Probability, ProvedLeakage


@dataclass(frozen=True, slots=True)
class Privacy(ProvedLeakage):
    """Statistic maximal leakage in nats, in [lower, upper].

    Attributes
    ----------
    lower, upper : Nats
        Rounded down and up; `upper` is the guarantee. `.ratio` is e^Π where it is a short rational.
    exact : bool
        Whether the ends differ by rounding only.
    method : str
        The formula behind the ends.
    certificate : Recomputation | None
        The proof of both, which computes them again; None where no mechanism is known.

    >>> Privacy.of_ratio(Fraction(8), "bins").in_bits()
    3.0
    """

    lower: Nats
    upper: Nats
    exact: bool = field()  # over the property of the base
    method: str
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Nats:
        """The guarantee, the upper end."""
        return self.upper

    @property
    def ratio(self) -> Fraction | None:
        """e^Π where it is known as a rational."""
        return self.upper.ratio if self.exact else None

    def in_bits(self) -> float:
        """The guarantee in bits, rounded up."""
        return self.upper.in_bits()

    @classmethod
    def of_ratio(cls, ratio: Fraction, method: str) -> Self:
        """Π = log ratio."""
        return cls(Nats.of_ratio(ratio, "down"), Nats.of_ratio(ratio, "up"), True, method)

    @classmethod
    def of_excess(cls, excess: Callable[[Field], Number], method: str) -> Self:
        """Π = log(1 + excess), accurate also where the excess is tiny."""
        known = exactly(excess)
        if known is not None:
            return cls.of_ratio(1 + known, method)
        lower, upper = enclose(lambda: excess(BALLS).log1p())
        return cls(Nats(max(0.0, lower), rounding="down"), Nats(max(0.0, upper)), True, method)

    @classmethod
    def between(
        cls,
        lower: Callable[[Field], Number],
        upper: Callable[[Field], Number],
        method: str,
        *,
        same: bool,
    ) -> Self:
        """log lower ≤ Π ≤ log upper, for formulas of e^Π; `same` says that the two are known to be equal."""
        low = cls.of_excess(lambda field: lower(field) - 1, method)
        high = cls.of_excess(lambda field: upper(field) - 1, method)
        met = low.upper.ratio is not None and low.upper.ratio == high.upper.ratio
        return cls(low.lower, high.upper, met or same, method)


@dataclass(frozen=True, slots=True)
class Distortion(Proved):
    """Worst-case expected total variation distance, in [lower, upper]; `.fraction` of an end is its rational.

    >>> Distortion.of(Fraction(1, 2), "formula").value
    0.5
    """

    lower: Probability
    upper: Probability
    exact: bool = field()  # over the property of the base
    method: str
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Probability:
        """The sound end, the upper one."""
        return self.upper

    @classmethod
    def of(cls, value: Fraction, method: str) -> Self:
        """An exact distortion."""
        return cls(Probability.of(value, "down"), Probability.of(value, "up"), True, method)

    @classmethod
    def of_formula(cls, formula: Callable[[Field], Number], method: str) -> Self:
        """A distortion in closed form, exact where its numbers are short."""
        known = exactly(formula)
        if known is not None:
            return cls.of(known, method)
        low, high = enclose(lambda: formula(BALLS))
        return cls(Probability(max(0.0, low), None, "down"), Probability(min(1.0, high)), True, method)

    @classmethod
    def between(cls, lower: Distortion, upper: Distortion, method: str) -> Self:
        """From the lower end of one to the upper end of another."""
        met = lower.upper.fraction is not None and lower.upper.fraction == upper.upper.fraction
        return cls(lower.lower, upper.upper, met, method)
