"""Contraction coefficients: a number in [0, 1] with two sound ends and what reaches the lower one."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from tightlip.errors import InvalidInput
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Probability, real_end


class Coefficient(Probability):
    """η = sup D(PK‖QK) / D(P‖Q), known to lie in [lower, upper]; as a float it is the sound (upper) end.

    Attributes
    ----------
    lower : rounded down, reached by the witness
    fraction : the rational value, where the input was exact and the formula is rational
    method : how the ends were found
    pair : the two secrets whose rows decide, where it is two secrets
    inputs : distributions (P, Q) whose ratio is at least `lower`, where some are known

    >>> Coefficient(0.25, 0.5, method="example")
    0.5 (at least 0.25, by example)
    """

    __slots__ = ("inputs", "lower", "method", "pair")
    lower: float
    method: str
    pair: tuple[Label, Label] | None
    inputs: tuple[Prior, Prior] | None

    def __new__(
        cls,
        lower: float,
        upper: float,
        *,
        method: str,
        fraction: Fraction | None = None,
        pair: tuple[Label, Label] | None = None,
        inputs: tuple[Prior, Prior] | None = None,
    ) -> Self:
        """Check that the ends are in order."""
        lower, upper = real_end(lower, "lower"), real_end(upper, "upper")
        if not lower <= upper:
            raise InvalidInput(f"lower must not exceed upper, got lower={lower!r} and upper={upper!r}.")
        self = super().__new__(cls, min(upper, 1.0), fraction)
        self.lower, self.method, self.pair, self.inputs = max(lower, 0.0), method, pair, inputs
        return self

    @classmethod
    def known(cls, value: Fraction, *, method: str, pair: tuple[Label, Label] | None = None) -> Self:
        """A coefficient known as a rational."""
        ends = Probability.of(value, "down"), Probability.of(value)
        return cls(*ends, method=method, fraction=value, pair=pair)

    @property
    def upper(self) -> float:
        """The sound end, as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        return f"{float(self)!r} (at least {self.lower!r}, by {self.method})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.lower, float(self), self.method, self.fraction, self.pair, self.inputs)


def _restored(
    lower: float,
    upper: float,
    method: str,
    fraction: Fraction | None,
    pair: tuple[Label, Label] | None,
    inputs: tuple[Prior, Prior] | None,
) -> Coefficient:
    return Coefficient(lower, upper, method=method, fraction=fraction, pair=pair, inputs=inputs)
