"""Divergences of two distributions, rounded outward.

    tv    ½ Σ |p − q|            chi2  Σ (p − q)²/q
    kl    Σ p log(p/q), nats     h2    Σ (√p − √q)²
    renyi_inf  log max p/q, nats: Rényi divergence of order infinity (PMC paper, Definition 1)

PML(y) is renyi_inf of the posterior from the prior, PMC(y) of the prior from the posterior.
Floats are read as the rationals they store and scaled to sum to 1 exactly. Naive float sums of p log(p/q) lose all
digits where p ≈ q, since first-order terms of size TV cancel down to TV². Here every term p log(p/q) − (p − q) is
at least 0, differences are rational, and precision grows until 60 bits of the result are known.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, Self, get_args

from tightlip.arguments import choice
from tightlip.certificate.recomputation import (
    CHI_SQUARED_DIVERGENCE,
    HELLINGER_DISTANCE,
    KL_DIVERGENCE,
    RENYI_DIVERGENCE,
    TOTAL_VARIATION,
    certify_by_recomputation,
)
from tightlip.errors import InvalidInput
from tightlip.model.labels import match
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball, enclose, log_bounds
from tightlip.numeric.proved import Proof, Proved
from tightlip.numeric.quantity import real_end

Kind = Literal["tv", "kl", "chi2", "h2"]
Measured = Kind | Literal["renyi_inf"]
Masses = list[tuple[Fraction, Fraction]]
_PROOFS = {
    "tv": TOTAL_VARIATION,
    "kl": KL_DIVERGENCE,
    "chi2": CHI_SQUARED_DIVERGENCE,
    "h2": HELLINGER_DISTANCE,
    "renyi_inf": RENYI_DIVERGENCE,
}


class Divergence(Proved, float):
    """A divergence known to lie in [lower, upper]; as a float it is the upper end.

    `fraction` is the rational value of tv and chi2 where both distributions were exact.
    """

    __slots__ = ("certificate", "fraction", "lower")
    lower: float
    fraction: Fraction | None
    certificate: Proof | None

    def __new__(
        cls,
        lower: float,
        upper: float,
        fraction: Fraction | None = None,
        certificate: Proof | None = None,
    ) -> Self:
        """Check that the ends are in order."""
        lower, upper = real_end(lower, "lower"), real_end(upper, "upper")
        if not 0 <= lower <= upper:
            raise InvalidInput(f"lower must be in [0, upper], got lower={lower!r} and upper={upper!r}.")
        self = super().__new__(cls, upper)
        self.lower, self.fraction, self.certificate = lower, fraction, certificate
        return self

    @property
    def upper(self) -> float:
        """The upper end, as a plain float."""
        return float(self)

    @property
    def method(self) -> str:
        """How it was found."""
        return "ball arithmetic" if self.fraction is None else "in rationals"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.lower, float(self), self.fraction, self.certificate)


def divergence(p: Any, q: Any, kind: Measured) -> Divergence:
    """Compute D(p‖q) of two distributions on the same outcomes, with sound ends.

    Parameters
    ----------
    p, q : Prior or masses
        Labels are matched where both have them.
    kind : "tv", "kl" (nats), "chi2", "h2" (Σ(√p − √q)², between 0 and 2) or "renyi_inf" (log max p/q, nats)

    Returns
    -------
    Divergence
        Infinite for kl, chi2 and renyi_inf where q has 0 and p has not.

    >>> divergence(["1/2", "1/2"], ["1/4", "3/4"], "chi2").fraction
    Fraction(1, 3)
    >>> divergence([0.5, 0.5], [1, 0], "kl")
    inf
    >>> round(divergence(["1/2", "1/2"], ["1/4", "3/4"], "renyi_inf"), 6)  # log 2
    0.693147
    """
    choice(kind, "kind", tuple(_PROOFS))
    first, second = _read(p, "p"), _read(q, "q")
    order = match(first.labels, second.labels, "labels of q", "the labels of p")
    return certify_by_recomputation(_PROOFS[kind], _of(first, second, order, kind), p=first, q=second)


def _of(first: Prior, second: Prior, order: Any, kind: Measured) -> Divergence:
    """D(p‖q), with q in the order of p."""
    known = first.is_exact and second.is_exact
    own, other = first.exact().masses, second.exact().masses
    pairs = [(a, b) for a, b in zip(own, other if order is None else other[order], strict=True) if a or b]
    if kind in ("kl", "chi2", "renyi_inf") and any(not b for _, b in pairs):
        return Divergence(math.inf, math.inf)
    if kind == "renyi_inf":
        return Divergence(*log_bounds(max(a / b for a, b in pairs)))
    if kind == "tv" or kind == "chi2":
        return _rational(pairs, kind, known)
    if all(a == b for a, b in pairs):
        return Divergence(0.0, 0.0)
    lower, upper = enclose(lambda: sum((_TERMS[kind](a, b) for a, b in pairs), start=ball(0)))
    return Divergence(max(lower, 0.0), upper)


def _read(masses: Any, argument: str) -> Prior:
    try:
        return masses if isinstance(masses, Prior) else Prior(masses)
    except InvalidInput as error:
        raise type(error)(f"{argument}: {error}") from None


def check_kind(kind: object, argument: str = "divergence") -> None:
    """Refuse a name that is no divergence."""
    choice(kind, argument, get_args(Kind))


def _rational(pairs: Masses, kind: Kind, known: bool) -> Divergence:
    if kind == "tv":
        value = sum((abs(a - b) for a, b in pairs), Fraction(0)) / 2
    elif known or len(pairs) < 64:
        value = sum(((a - b) ** 2 / b for a, b in pairs), Fraction(0))
    else:  # sums of many unlike fractions of floats grow long
        return Divergence(
            *_not_negative(enclose(lambda: sum((_chi2(a, b) for a, b in pairs), start=ball(0))))
        )
    return Divergence(*_not_negative(enclose(lambda: ball(value))), value if known else None)


def _not_negative(ends: tuple[float, float]) -> tuple[float, float]:
    return max(ends[0], 0.0), ends[1]


def _kl(p: Fraction, q: Fraction) -> Ball:
    if not p:
        return ball(q)
    return ball(p) * ball((p - q) / q).log1p() - ball(p - q)


def _h2(p: Fraction, q: Fraction) -> Ball:
    root = ball(p).sqrt() + ball(q).sqrt()
    return (ball(p - q) / root) ** 2


def _chi2(p: Fraction, q: Fraction) -> Ball:
    return ball((p - q) ** 2) / ball(q)


_TERMS = {"kl": _kl, "h2": _h2}
