"""What (ε, c)-PML says about every channel that has it, the channels that reach it, and ε-LDP to compare with.

(ε, c)-PML on N secrets is e^ε and c, in rationals where they are known, else in balls (`Setting`). Every channel is
(log 1/c, c)-PML, so e^ε above 1/c is read as 1/c.

Total variation and likelihood ratios:

    η_TV ≤ min{(e^ε − 1) / (e^ε(1 − Nc) + 1), 1}                                        (DOB paper, Theorem 1)
    Γ = sup PK(y)/QK(y) over P, Q ∈ Q(c) = 1 + (1 − Nc)(e^ε − m*),
        m* = max(0, (1 − c(N−1)e^ε) / (1 − (N−1)c))

The paper's Proposition 2 bounds Γ by (1 − Nc)e^ε + 1. The exact one: scale a column so that
c Σ + (1 − Nc) min = 1; then its largest entry is at most e^ε, Γ = 1 + (1 − Nc)(max − min), and the smallest entry is
smallest where all others are e^ε. A small multiple of that column completes to a channel.

Channels that reach the Dobrushin bound, with two outcomes:

- q secrets with M = e^ε(1 − cq)/D and N − q with m = (1 − e^ε cq)/D, D = 1 + e^ε(1 − Nc) (DOB paper, Remark 2).
  These are probabilities only for N − 1/(c e^ε) ≤ q ≤ 1/(c e^ε), which the paper does not say; there may be no such q.
- One secret with (1 + η)/2, one with (1 − η)/2, the others with ½: for every ε and c.

The channels are exact. Where e^ε is not a known rational it is replaced by the double below it, so that the channel
has the guarantee asked for, and reaches the bound up to that rounding.

f-divergences behind an (ε, c)-PML channel, for inputs P, Q ∈ Q(c) (DOB paper, Corollaries 1 and 2). Binette's
inequality: f is below its chords, so if 1/Γ ≤ dPK/dQK ≤ Γ then

    D_f(PK‖QK) ≤ TV(PK, QK)·[f(1/Γ)/(1 − 1/Γ) + f(Γ)/(Γ − 1)],    TV(PK, QK) ≤ η·TV(P, Q).

    tv    η·TV          kl    η·log Γ·TV
    chi2  η·(Γ − 1/Γ)·TV    h2    η·(2 − 4/(√Γ + 1))·TV

What ε-LDP says, to compare with: any inputs, no smallest mass.

    η_TV ≤ (e^ε − 1)/(e^ε + 1)                                                  Kairouz et al.
    η_KL = η_χ² = η_H² ≤ ((e^ε − 1)/(e^ε + 1))²                                 Asoodeh and Zhang
    KL(PK‖QK) + KL(QK‖PK) ≤ min(4, e^{2ε})(e^ε − 1)² TV(P, Q)²                  Duchi et al.
    KL(PK‖QK) ≤ ((e^ε − 1)/(e^ε + 1))² log(1 + 2 TV²/c), Q ∈ Q(c)               the second, with KL ≤ log(1 + χ²)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np

from tightlip.arguments import choice, whole
from tightlip.contraction.divergences import Kind, check_kind
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.measures.capacity import read_min_mass
from tightlip.model.channel import Channel
from tightlip.numeric.ball import Ball, ball, enclose, exp_bounds, log_exceeds
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Probability, exact_level, exact_ratio, level, real_end
from tightlip.numeric.rounding import up
from tightlip.showing import Shown

Which = Literal["exact", "paper"]
_MOST = Fraction(2) ** 200
_GRID = 65
_TOLERANCE = 1e-9


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


def dobrushin_bound(n: int, epsilon: Any, min_mass: Any) -> Probability:
    """Bound the Dobrushin coefficient of every (ε, c)-PML channel on n secrets, rounded up (DOB paper, Theorem 1).

    Parameters
    ----------
    n : int
        The number of secrets N.
    epsilon : level in nats
        `log_of("10/3")` and an exact c give an exact result; infinite is allowed.
    min_mass : number
        c in [0, 1/N]; at 0 it is the LDP bound (e^ε − 1)/(e^ε + 1).

    >>> from tightlip import log_of
    >>> dobrushin_bound(10, log_of("10/3"), "1/20").fraction
    Fraction(7, 8)
    >>> round(dobrushin_bound(3, 0.5, 0.3), 10)
    0.5569034194
    """
    setting = Setting.of(n, epsilon, min_mass)
    if setting.unbounded:
        return Probability(1.0, Fraction(1))
    _, upper, exact = setting.evaluate(lambda t, lift: eta(setting, t, lift))
    if exact is not None:
        return Probability.of(min(exact, Fraction(1)))
    return Probability(min(upper, 1.0))


def eta(setting: Setting, growth: Any, lift: Callable[[Any], Any]) -> Any:
    """Compute (e^ε − 1)/(e^ε(1 − Nc) + 1), not yet cut at 1."""
    return (growth - 1) / (growth * lift(setting.rest) + 1)


def likelihood_ratio_bound(n: int, epsilon: Any, min_mass: Any, *, gamma: Which = "exact") -> float:
    """Bound the likelihood ratio Γ: P{Y = y}/Q{Y = y} over (ε, c)-PML channels and P, Q ∈ Q(c), rounded up.

    `gamma="paper"` gives the looser (1 − Nc)e^ε + 1 of DOB Proposition 2.

    >>> round(likelihood_ratio_bound(4, 0.3, 0.1), 10), round(likelihood_ratio_bound(4, 0.3, 0.1, gamma="paper"), 10)
    (1.2998789779, 1.8099152845)
    """
    setting = Setting.of(n, epsilon, min_mass)
    check_which(gamma)
    if setting.unbounded:
        return math.inf
    return setting.evaluate(lambda t, lift: likelihood_ratio(setting, t, lift, gamma))[1]


def likelihood_ratio(setting: Setting, growth: Any, lift: Callable[[Any], Any], which: Which) -> Any:
    """Compute Γ by the exact formula or by the paper's."""
    rest = lift(setting.rest)
    if which == "paper":
        return 1 + rest * growth
    others = (setting.secrets - 1) * setting.min_mass
    least = (1 - lift(others) * growth) / lift(1 - others)
    return 1 + rest * (growth - positive_part(least))


def positive_part(value: Any) -> Any:
    """Compute max(0, value) of a rational or a ball."""
    return max(Fraction(0), value) if isinstance(value, Fraction) else value.max(0)


def check_which(gamma: object) -> None:
    """Refuse an unknown name of a Γ."""
    choice(gamma, "gamma", ("exact", "paper"))


def valid_counts(n: int, epsilon: Any, min_mass: Any) -> range:
    """List the q ∈ {1, …, N−1} for which Remark 2's kernel is a channel: N − 1/(c e^ε) ≤ q ≤ 1/(c e^ε); may be empty.

    >>> from tightlip import log_of
    >>> valid_counts(10, log_of("10/3"), "1/20"), len(valid_counts(5, log_of("10/3"), "1/8"))
    (range(4, 7), 0)
    """
    setting = _finite(n, epsilon, min_mass)
    if not setting.min_mass:
        return range(1, setting.secrets)
    most = 1 / (setting.min_mass * setting.growth_below())
    first = max(1, math.ceil(setting.secrets - most))
    return range(first, max(first, min(setting.secrets - 1, math.floor(most)) + 1))


def block_kernel(n: int, epsilon: Any, min_mass: Any, q: int) -> Channel:
    """Build the exact kernel of DOB Remark 2: q secrets give outcome 0 with chance M, others m; refused for invalid q.

    >>> from tightlip import log_of
    >>> block_kernel(10, log_of("10/3"), "1/20", 5).matrix[[0, 9], 0]
    array([Fraction(15, 16), Fraction(1, 16)], dtype=object)
    """
    setting = _finite(n, epsilon, min_mass)
    allowed = valid_counts(n, epsilon, min_mass)
    if whole(q, "q", 0, setting.secrets) not in allowed:
        known = f"{allowed[0]} to {allowed[-1]}" if allowed else "none"
        raise PreconditionFailed(
            f"q must satisfy N − 1/(c·e^ε) ≤ q ≤ 1/(c·e^ε), got q={quoted(q)}, valid: {known}; "
            "optimal_kernel works for every ε and c."
        )
    growth, mass = _growth(setting), setting.min_mass
    scale = 1 + growth * setting.rest
    high, low = growth * (1 - mass * q) / scale, (1 - growth * mass * q) / scale
    return _two_outcomes([high] * q + [low] * (setting.secrets - q))


def optimal_kernel(n: int, epsilon: Any, min_mass: Any) -> Channel:
    """Build an optimal kernel: (ε, c)-PML and reaching the Dobrushin bound, for every ε and c; exact.

    Its column (½(1+η), ½(1−η), ½, …, ½) has C(K, Q(c)) = ε up to ε = log 2/(Nc), where η = 1.

    >>> from tightlip import log_of
    >>> optimal_kernel(3, log_of(2), "1/6").matrix[:, 0]
    array([Fraction(3, 4), Fraction(1, 4), Fraction(1, 2)], dtype=object)
    """
    setting = _finite(n, epsilon, min_mass)
    reached = min(eta(setting, _growth(setting), Fraction), Fraction(1))
    half = Fraction(1, 2)
    return _two_outcomes([half * (1 + reached), half * (1 - reached)] + [half] * (setting.secrets - 2))


def _finite(n: int, epsilon: Any, min_mass: Any) -> Setting:
    setting = Setting.of(n, epsilon, min_mass)
    if setting.unbounded:
        raise InvalidInput("epsilon must be finite at min_mass=0, got inf; use mechanism.identity.")
    return setting


def _growth(setting: Setting) -> Fraction:
    growth = setting.growth_below()
    if growth > _MOST:
        raise InvalidInput(
            f"e^epsilon must be at most 2^200 for a kernel, got {float(setting.epsilon):g} nats."
        )
    return growth


def _two_outcomes(column: list[Fraction]) -> Channel:
    return Channel(np.array([[entry, 1 - entry] for entry in column], dtype=object))


class DivergenceBound(Shown, float):
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
        return _restore, (float(self), self.eta, self.gamma, self.certified, self.method)


def _restore(value: float, eta: float, gamma: float, certified: bool, method: str) -> DivergenceBound:
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
    """Bound D_f(PK‖QK) behind an (ε, c)-PML channel, for P, Q ∈ Q(c) at distance TV(P, Q) ≤ tv, rounded up.

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
    """Check f on samples: f(1) = 0, finite, and no point above the chord of its neighbours."""
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


def ldp_contraction_bound(divergence: Kind, epsilon: Any) -> Probability:
    """Bound the contraction coefficient of every ε-LDP channel, rounded up.

    >>> from tightlip import log_of
    >>> ldp_contraction_bound("tv", log_of(3)).fraction, ldp_contraction_bound("kl", log_of(3)).fraction
    (Fraction(1, 2), Fraction(1, 4))
    """
    check_kind(divergence)
    setting = Setting.of(2, epsilon, 0)
    if setting.unbounded:
        return Probability(1.0, Fraction(1))
    power = 1 if divergence == "tv" else 2
    _, upper, exact = setting.evaluate(lambda t, lift: ((t - 1) / (t + 1)) ** power)
    return Probability.of(exact) if exact is not None else Probability(min(upper, 1.0))


def ldp_kl_bound(epsilon: Any, tv: Any, min_mass: Any) -> float:
    """Bound KL(PK‖QK) ≤ ((e^ε − 1)/(e^ε + 1))² log(1 + 2 TV²/c) for ε-LDP channels, Q of smallest mass c, rounded up.

    χ²(P‖Q) ≤ Σ(p − q)²/c ≤ 2 TV²/c, and KL ≤ log(1 + χ²).

    >>> ldp_kl_bound(1.0, 0, 0.1)
    0.0
    """
    setting, distance, mass = (
        Setting.of(2, epsilon, 0),
        distance_of(tv),
        Fraction(number(min_mass, "min_mass")),
    )
    if not 0 < mass <= 1:
        raise InvalidInput(f"min_mass must be in (0, 1], got {quoted(min_mass)}; write 0.1.")
    if not distance:
        return 0.0

    def expression() -> Ball:
        before = ball(1 + 2 * distance**2 / mass).log()
        if setting.unbounded:
            return before
        growth = setting.growth()
        return ((growth - 1) / (growth + 1)) ** 2 * before

    return enclose(expression)[1]


def distance_of(tv: Any) -> Fraction:
    """Read a total variation distance, exactly."""
    distance = Fraction(number(tv, "tv"))
    if not 0 <= distance <= 1:
        raise InvalidInput(f"tv must be in [0, 1], got {quoted(tv)}; it is ½ Σ|P − Q|.")
    return distance
