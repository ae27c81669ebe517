"""Bounds on f-divergences behind an (ε, c)-PML channel, for inputs P, Q ∈ Q(c) (DOB paper, Corollaries 1 and 2).

Binette's inequality: f is below its chords, so if 1/Γ ≤ dPK/dQK ≤ Γ then

    D_f(PK‖QK) ≤ TV(PK, QK)·[f(1/Γ)/(1 − 1/Γ) + f(Γ)/(Γ − 1)],    TV(PK, QK) ≤ η·TV(P, Q).

    tv    η·TV          kl    η·log Γ·TV
    chi2  η·(Γ − 1/Γ)·TV    h2    η·(2 − 4/(√Γ + 1))·TV
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Self

import numpy as np

from tightlip.contraction.bound import (
    Which,
    check_which,
    dobrushin_bound,
    eta,
    likelihood_ratio,
    likelihood_ratio_bound,
)
from tightlip.contraction.divergences import Kind, check_kind
from tightlip.contraction.setting import Setting
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import real_end
from tightlip.numeric.rounding import up

_GRID = 65
_TOLERANCE = 1e-9


class DivergenceBound(float):
    """An upper bound on D_f(PK‖QK): one end, rounded up; no channel is said to reach it.

    Attributes
    ----------
    value : the bound, as a plain float
    eta : the bound on the Dobrushin coefficient
    gamma : the bound Γ on likelihood ratios
    certified : whether every rounding is covered; False for a function given by the user
    method : the inequality used
    """

    __slots__ = ("certified", "eta", "gamma", "method")
    eta: float
    gamma: float
    certified: bool
    method: str

    def __new__(cls, value: float, *, eta: float, gamma: float, certified: bool, method: str) -> Self:
        """Check that the bound is a number."""
        if math.isnan(value) or value < 0:
            raise InvalidInput(f"a bound must be at least 0, got {value!r}; is f convex with f(1) = 0?")
        self = super().__new__(cls, value)
        self.eta, self.gamma, self.certified, self.method = eta, gamma, certified, method
        return self

    @property
    def value(self) -> float:
        """The bound, as a plain float."""
        return float(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (float(self), self.eta, self.gamma, self.certified, self.method)


def _restored(value: float, eta: float, gamma: float, certified: bool, method: str) -> DivergenceBound:
    return DivergenceBound(value, eta=eta, gamma=gamma, certified=certified, method=method)


def divergence_bound(
    divergence: Kind | Callable[[float], float],
    n: int,
    epsilon: Any,
    min_mass: Any,
    *,
    tv: Any = 1,
    gamma: Which = "exact",
) -> DivergenceBound:
    """The largest D_f(PK‖QK) behind an (ε, c)-PML channel, for P, Q ∈ Q(c) at distance TV(P, Q) ≤ tv, rounded up.

    Parameters
    ----------
    divergence : "tv", "kl", "chi2", "h2", or a convex function f with f(1) = 0
        D_f(p‖q) = Σ q f(p/q). A function is sampled for convexity, and its floats are taken as they come:
        the result says `certified=False`.
    n, epsilon, min_mass : as for `dobrushin_bound`
    tv : the total variation of the inputs; 1 gives the constant in front of it
    gamma : "exact", or "paper" for the looser Γ of DOB Proposition 2

    >>> round(divergence_bound("kl", 4, 0.1, 0.1, gamma="paper"), 5), round(divergence_bound("kl", 4, 0.1, 0.1), 5)
    (0.03217, 0.00546)
    >>> divergence_bound(lambda t: (t - 1)**2, 4, 0.1, 0.1).certified
    False
    """
    setting = Setting.of(n, epsilon, min_mass)
    check_which(gamma)
    distance = number(tv, "tv")
    if not 0 <= distance <= 1:
        raise InvalidInput(f"tv must be in [0, 1], got {quoted(tv)}; it is ½ Σ|P − Q|.")
    if not callable(divergence):
        check_kind(divergence)
    shrink = float(dobrushin_bound(n, epsilon, min_mass))
    most = likelihood_ratio_bound(n, epsilon, min_mass, gamma=gamma)
    method = f"Binette's inequality with the {gamma} Γ"
    if callable(divergence):
        value = _of_function(divergence, shrink, most, float(distance))
        method += "; f was sampled, not proved convex, and its floats are trusted"
    else:
        value = _of_name(divergence, setting, Fraction(distance), gamma)
    return DivergenceBound(value, eta=shrink, gamma=most, certified=not callable(divergence), method=method)


def _of_name(kind: Kind, setting: Setting, distance: Fraction, which: Which) -> float:
    if not distance:
        return 0.0
    if setting.unbounded:
        return {"tv": float(distance), "h2": 2 * float(distance)}.get(kind, math.inf)

    def formula(growth: Any, lift: Callable[[Any], Any]) -> Any:
        shrink = eta(setting, growth, lift)
        cut = min(shrink, Fraction(1)) if isinstance(shrink, Fraction) else shrink.min(1)
        return cut * lift(distance) * _CONSTANTS[kind](likelihood_ratio(setting, growth, lift, which))

    if kind in ("tv", "chi2"):  # rational functions of e^ε
        return setting.evaluate(formula)[1]
    return enclose(lambda: formula(setting.growth(), ball))[1]


_CONSTANTS: dict[str, Callable[[Any], Any]] = {
    "tv": lambda most: 1,
    "kl": lambda most: most.log(),
    "chi2": lambda most: most - 1 / most,
    "h2": lambda most: 2 - 4 / (most.sqrt() + 1),
}


def _of_function(function: Callable[[float], float], shrink: float, most: float, distance: float) -> float:
    if most == 1 or not distance:
        return 0.0
    if math.isinf(most):
        return math.inf
    _check_convex(function, most)
    least = 1 / most
    constant = float(function(least)) / (1 - least) + float(function(most)) / (most - 1)
    return up(shrink * distance * constant * (1 + 1e-12), 4)


def _check_convex(function: Callable[[float], float], most: float) -> None:
    """Sample f: f(1) = 0, finite, and no point above the chord of its neighbours."""
    points = np.unique(np.append(np.exp(np.linspace(-math.log(most), math.log(most), _GRID)), 1.0))
    values = np.array([real_end(function(float(point)), "what divergence returns") for point in points])
    if not np.isfinite(values).all():
        raise InvalidInput(f"f must be finite on [{1 / most:.6g}, {most:.6g}], got a value that is not.")
    scale = float(np.abs(values).max())
    middle = float(function(1.0))
    if abs(middle) > _TOLERANCE * max(scale, 1.0):
        raise InvalidInput(f"f(1) must be 0, got {middle!r}; subtract it from f.")
    share = (points[1:-1] - points[:-2]) / (points[2:] - points[:-2])
    above = values[1:-1] - ((1 - share) * values[:-2] + share * values[2:])
    if (above > _TOLERANCE * scale).any():
        place = float(points[1:-1][int(np.argmax(above))])
        raise InvalidInput(
            f"f must be convex, got a value above its chord near t={place:.6g}; check its sign."
        )
