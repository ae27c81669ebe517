"""Contraction coefficients: a number in [0, 1] with two sound ends and what reaches the lower one."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from tightlip.certificate.base import Certificate
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.numeric.proved import MET, Proved, require_order
from tightlip.numeric.quantity import Probability, real_end


class Coefficient(Proved, Probability):
    """η = sup D(PK‖QK) / D(P‖Q), known to lie in [lower, upper]; as a float it is the sound (upper) end.

    Attributes
    ----------
    lower : rounded down, reached by the witness
    fraction : the rational value, where the input was exact and the formula is rational
    method : how the ends were found
    pair : the two secrets whose rows decide, where it is two secrets
    inputs : distributions (P, Q) whose ratio is at least `lower`, where some are known
    certificate : the proof of both ends; see certificate.py

    >>> Coefficient(0.25, 0.5, method="example")
    0.5 (at least 0.25, by example)
    """

    __slots__ = ("certificate", "inputs", "lower", "method", "pair")
    lower: float
    method: str
    pair: tuple[Label, Label] | None
    inputs: tuple[Prior, Prior] | None
    certificate: Certificate | None

    def __new__(
        cls,
        lower: float,
        upper: float,
        *,
        method: str,
        fraction: Fraction | None = None,
        pair: tuple[Label, Label] | None = None,
        inputs: tuple[Prior, Prior] | None = None,
        certificate: Certificate | None = None,
    ) -> Self:
        """Check that the ends are in order."""
        lower, upper = real_end(lower, "lower"), real_end(upper, "upper")
        require_order(lower, upper)
        self = super().__new__(cls, min(upper, 1.0), fraction)
        self.lower, self.method, self.pair, self.inputs = max(lower, 0.0), method, pair, inputs
        self.certificate = certificate
        return self

    @classmethod
    def known(cls, value: Fraction, *, method: str, pair: tuple[Label, Label] | None = None) -> Self:
        """A coefficient known as a rational."""
        ends = Probability.of(value, "down"), Probability.of(value)
        return cls(*ends, method=method, fraction=value, pair=pair)

    def proved_by(self, certificate: Certificate) -> Self:
        """The same with its proof."""
        return type(self)(
            self.lower,
            float(self),
            method=self.method,
            fraction=self.fraction,
            pair=self.pair,
            inputs=self.inputs,
            certificate=certificate,
        )

    def without_fraction(self) -> Coefficient:
        """The same where the rational value is that of rounded input."""
        kept = Coefficient(self.lower, float(self), method=self.method, pair=self.pair, inputs=self.inputs)
        return kept if self.certificate is None else kept.proved_by(self.certificate)

    @property
    def upper(self) -> float:
        """The sound end, as a plain float."""
        return float(self)

    @property
    def value(self) -> Probability:
        """The sound (upper) end."""
        return Probability(float(self), self.fraction)

    @property
    def exact(self) -> bool:
        """Whether the ends met, so that they are roundings of one number."""
        return self.fraction is not None or self.gap <= MET * self.upper

    def __repr__(self) -> str:
        return f"{float(self)!r} (at least {self.lower!r}, by {self.method})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        known = self.fraction, self.pair, self.inputs, self.certificate
        return _restored, (self.lower, float(self), self.method, *known)


def _restored(
    lower: float,
    upper: float,
    method: str,
    fraction: Fraction | None,
    pair: tuple[Label, Label] | None,
    inputs: tuple[Prior, Prior] | None,
    certificate: Certificate | None,
) -> Coefficient:
    return Coefficient(
        lower, upper, method=method, fraction=fraction, pair=pair, inputs=inputs, certificate=certificate
    )
