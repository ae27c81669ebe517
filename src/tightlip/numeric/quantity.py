"""Results that are numbers: a float that knows its unit, its rounding and, where there is one, its exact value.

`Nats` and `Probability` are floats, so they compare, add and format as floats do; arithmetic
with them gives plain floats. A guarantee is rounded up, an attack down. `Alip` is a pair of them.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from typing import Literal, NamedTuple, Self, get_args

from tightlip.arguments import choice
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.ball import Ball, ball, enclose, log_bounds, log_exceeds, nearest
from tightlip.numeric.display import format_down, format_python, format_sides
from tightlip.numeric.parse import exact_text, number
from tightlip.numeric.proved import Proof, Proved, require_order

Rounding = Literal["up", "down", "nearest"]
_SHORT = 10**6  # a logarithm of larger numbers is told as a decimal


class Nats(float):
    """An amount of leakage in nats.

    Attributes
    ----------
    ratio : Fraction | None
        The exact value of e^self, where the input was exact.
    rounding : "up" | "down" | "nearest"
        The side of the true value on which this float lies.

    >>> Nats(0.5)
    0.5 nats
    >>> Nats(0.6931471805599454).in_bits()
    1.0000000000000002
    """

    __slots__ = ("ratio", "rounding")
    ratio: Fraction | None
    rounding: Rounding

    def __new__(cls, value: float, ratio: Fraction | None = None, rounding: Rounding = "up") -> Self:
        """Check that the value is a number."""
        own = value if type(value) is float else real_end(value, "leakage")
        if math.isnan(own):
            raise InvalidInput("leakage must be a number or infinite, got nan; this is a bug in the caller.")
        self = super().__new__(cls, own)
        self.ratio = ratio
        self.rounding = rounding
        return self

    @classmethod
    def of_ratio(cls, ratio: Fraction, rounding: Rounding = "up") -> Self:
        """Compute the logarithm of an exact ratio, rounded outward.

        >>> Nats.of_ratio(Fraction(4)).ratio
        Fraction(4, 1)
        """
        choice(rounding, "rounding", get_args(Rounding))
        ratio = _rational(ratio, "ratio")
        lower, upper = log_bounds(ratio)
        if rounding == "nearest":
            return cls(nearest(lambda: ball(ratio).log()) if upper else 0.0, ratio, rounding)
        return cls(lower if rounding == "down" else upper, ratio, rounding)

    @property
    def exact(self) -> bool:
        """Whether the amount is known exactly, as the logarithm of `ratio`, and the float is a rounding of it."""
        return self.ratio is not None

    def in_bits(self) -> float:
        """Convert to bits, rounded in the same direction."""
        if math.isinf(self) or not self:
            return float(self)
        power = None if self.ratio is None else _power_of_two(self.ratio)
        if power is not None:
            return float(power)
        if self.rounding == "nearest":
            return nearest(self._bits)
        lower, upper = enclose(self._bits)
        return lower if self.rounding == "down" else upper

    def _bits(self) -> Ball:
        return (ball(float(self)) if self.ratio is None else ball(self.ratio).log()) / ball(2).log()

    def __repr__(self) -> str:
        return f"{float(self)!r} nats"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (float(self), self.ratio, self.rounding)


class ProvedLeakage(Proved):
    """A proved leakage, in nats."""

    __slots__ = ()

    @property
    def value(self) -> Nats:
        """The sound (upper) end, in nats."""
        return Nats(self.upper)

    def in_bits(self) -> float:
        """Convert the sound end to bits, rounded up."""
        return self.value.in_bits()


class ProvedNats(Proved, Nats):
    """A proved leakage that is a float, its sound (upper) end, in nats."""

    __slots__ = ()

    @property
    def upper(self) -> float:
        """The sound end, as a plain float."""
        return float(self)

    @property
    def value(self) -> Nats:
        """The sound (upper) end, in nats."""
        return Nats(float(self), self.ratio)

    @property
    def certificate(self) -> Proof | None:
        """None: the ends were proved as they were computed."""
        return None


class Bound(ProvedNats):
    """A leakage known to lie in [lower, upper]; as a float it is the sound (upper) end.

    >>> Bound(0.4, 0.5, method="quadrature")
    0.5 nats (at least 0.4, by quadrature)
    """

    __slots__ = ("certificate", "lower", "method")
    lower: float
    method: str
    certificate: Proof | None

    def __new__(cls, lower: float, upper: float, method: str, certificate: Proof | None = None) -> Self:
        """Check that the ends are in order."""
        lower, upper = real_end(lower, "lower"), real_end(upper, "upper")
        require_order(lower, upper)
        self = super().__new__(cls, upper)
        self.lower = lower
        self.method = method
        self.certificate = certificate
        return self

    def __repr__(self) -> str:
        return f"{float(self)!r} nats (at least {self.lower!r}, by {self.method})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.lower, float(self), self.method, self.certificate)


class Probability(float):
    """A probability; `fraction` holds the rational where the input was exact.

    >>> half = Probability(0.5, Fraction(1, 2))
    >>> half, half.fraction, half.exact, Probability(0.1).exact
    (0.5, Fraction(1, 2), True, False)
    """

    __slots__ = ("fraction", "rounding")
    fraction: Fraction | None
    rounding: Rounding

    def __new__(cls, value: float, fraction: Fraction | None = None, rounding: Rounding = "up") -> Self:
        """Check that the value is a probability."""
        own = value if type(value) is float else real_end(value, "probability")
        if not 0 <= own <= 1:
            raise InvalidInput(f"probability must be in [0, 1], got {own!r}; this is a bug in the caller.")
        self = super().__new__(cls, own)
        self.fraction = fraction
        self.rounding = rounding
        return self

    @classmethod
    def of(cls, fraction: Fraction, rounding: Rounding = "up") -> Self:
        """Round an exact probability to the nearest double on the asked side.

        >>> Probability.of(Fraction(1, 3)) > 1/3
        True
        """
        choice(rounding, "rounding", get_args(Rounding))
        fraction = _rational(fraction, "probability")
        value = real_end(fraction, "probability")
        if rounding == "up" and Fraction(value) < fraction:
            value = math.nextafter(value, math.inf)
        if rounding == "down" and Fraction(value) > fraction:
            value = math.nextafter(value, -math.inf)
        return cls(value, fraction, rounding)

    @property
    def exact(self) -> bool:
        """Whether the probability is known exactly, as `fraction`, and the float is a rounding of it."""
        return self.fraction is not None

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (float(self), self.fraction, self.rounding)


def real_end(value: object, argument: str) -> float:
    """Read a float that may be infinite: an end of a result, not something a user writes.

    >>> real_end(Fraction(1, 2), "lower")
    0.5
    """
    if not isinstance(value, Real):
        raise WrongType(f"{argument} must be a float, got {quoted(value)}; write 0.5.")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInput(f"{argument} must fit a float, got {quoted(value)}; write inf.") from None


def _rational(value: object, argument: str) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(number(value, argument))


def _power_of_two(ratio: Fraction) -> int | None:
    """k where ratio = 2^k."""
    if ratio.numerator.bit_count() == ratio.denominator.bit_count() == 1:
        return ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return None


def log_of(ratio: object) -> Nats:
    """Build an exact leakage level given by its ratio: `log_of("10/9")` is log(10/9), known exactly.

    Functions that take an epsilon use the ratio instead of the float, so that with exact
    channels and priors the answer is exact too.

    >>> log_of("10/9").ratio
    Fraction(10, 9)
    """
    value = number(ratio, "ratio")
    if value <= 0:
        raise InvalidInput(f"ratio must be positive, got {quoted(ratio)}; a leakage is log of a ratio ≥ 1.")
    return Nats.of_ratio(Fraction(value))


def exact_ratio(epsilon: float | Fraction) -> Fraction | None:
    """Compute e^epsilon as a rational, where it is one that we know."""
    if isinstance(epsilon, Nats) and epsilon.ratio is not None:
        return epsilon.ratio
    return Fraction(1) if epsilon == 0 else None


def level_exact(epsilon: float | Fraction) -> str:
    """Write a level as text that loses nothing, beside a float in JSON: "1/10", "log(3)", "inf".

    >>> level_exact(Fraction(1, 10)), level_exact(log_of(3)), level_exact(0.5), level_exact(Nats(math.inf))
    ('1/10', 'log(3)', '1/2', 'inf')
    """
    ratio = epsilon.ratio if isinstance(epsilon, Nats) else None
    if ratio is not None:
        return f"log({exact_text(ratio)})"
    return "inf" if math.isinf(epsilon) else exact_text(Fraction(epsilon))


def level_words(epsilon: float | Fraction) -> str:
    """Write a level that is a premise, as people read it: exactly where that is short, otherwise rounded down.

    What follows from a level follows from every smaller one.

    >>> level_words(Fraction(1, 10)), level_words(log_of("10/9")), level_words(0.1), level_words(1 / 3)
    ('0.1', 'log(10/9)', '0.1', '0.333333')
    """
    ratio = epsilon.ratio if isinstance(epsilon, Nats) else None
    if ratio is not None and max(ratio.numerator, ratio.denominator) < _SHORT:
        return f"log({ratio})" if ratio != 1 else "0"
    if ratio is not None:
        return format_down(log_bounds(ratio)[0])
    endless = isinstance(epsilon, float) and math.isinf(epsilon)
    return "inf" if endless else format_sides(epsilon)[0]


def level_exactly(epsilon: float | Fraction) -> str:
    """Write a level that opposite bounds are about, as people read it and never rounded.

    >>> level_exactly(Fraction(1, 10)), level_exactly(log_of("10/9")), level_exactly(0.1), level_exactly(1 / 3)
    ('0.1', 'log(10/9)', '0.1', '0.3333333333333333')
    >>> level_exactly(Fraction(1 / 3))  # the same float, read from a file
    '0.3333333333333333'
    """
    words = level_words(epsilon)
    ratio = epsilon.ratio if isinstance(epsilon, Nats) else None
    if ratio is not None:
        return words if max(ratio.numerator, ratio.denominator) < _SHORT else f"log({exact_text(ratio)})"
    if isinstance(epsilon, float):
        return words if math.isinf(epsilon) or float(words) == epsilon else repr(float(epsilon))
    if Fraction(words) == epsilon:
        return words
    nearest = _as_float(epsilon)
    return level_exactly(nearest) if nearest == epsilon else exact_text(epsilon)


def level_repr(epsilon: float | Fraction) -> str:
    """Write a level as Python reads it, for a `repr`.

    >>> level_repr(log_of(3)), level_repr(0.1), level_repr(Fraction(1, 10)), level_repr(math.inf)
    ('log(3)', '0.1', '1/10', 'inf')
    """
    ratio = epsilon.ratio if isinstance(epsilon, Nats) else None
    if ratio is not None:
        return level_words(epsilon)
    return "inf" if math.isinf(epsilon) else format_python(Fraction(epsilon))


def _as_float(value: float | Fraction) -> float:
    """The nearest float; beyond the range an infinity, which `level` judges, and never 0 for what is not."""
    try:
        nearest = float(value)
        return nearest if nearest or not value else math.copysign(math.ulp(0.0), value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)


def exceeds(one: float | Fraction, two: float | Fraction) -> bool:
    """Decide exactly whether one level is larger than another; both finite.

    >>> exceeds(log_of(3), 1.0986122886681098), exceeds(1.0986122886681098, log_of(3)), exceeds(log_of(2), log_of(2))
    (False, True, False)
    """
    first, second = exact_ratio(one), exact_ratio(two)
    if first is not None and second is not None:
        return first > second
    if first is not None:
        return log_exceeds(first, two)
    # a logarithm of a rational is no rational
    return one > two if second is None else not log_exceeds(second, one)


def largest(amounts: Iterable[Nats]) -> Nats:
    """Find the largest amount: by the exact ratios where both have one, by the floats otherwise.

    >>> tiny = Fraction(1, 10**30)
    >>> largest([Nats.of_ratio(2 - tiny), Nats.of_ratio(2 + tiny)]).ratio > 2
    True
    """
    best: Nats | None = None
    for amount in amounts:
        if best is None or _exceeds(amount, best):
            best = amount
    assert best is not None
    return best


def _exceeds(one: Nats, two: Nats) -> bool:
    if one.ratio is not None and two.ratio is not None:
        return one.ratio > two.ratio
    return float(one) > float(two)


def exact_level(
    epsilon: object,
    argument: str = "epsilon",
    *,
    allow_infinite: bool = False,
    rounding: Literal["up", "down"] = "up",
) -> float | Fraction:
    """Read a level as `level` does, but keep text and rationals exact: "0.1" is one tenth.

    >>> exact_level("0.1"), exact_level(0.5), exact_level("3x").ratio
    (Fraction(1, 10), 0.5, Fraction(3, 1))
    """
    if isinstance(epsilon, str):
        return _exact_text_level(epsilon, argument, allow_infinite, rounding)
    value = level(epsilon, argument, allow_infinite=allow_infinite)
    return value if isinstance(epsilon, (float, int)) else number(epsilon, argument)


def level(
    epsilon: object,
    argument: str = "epsilon",
    *,
    allow_infinite: bool = False,
    rounding: Literal["up", "down"] = "up",
) -> float:
    """Read a leakage level: finite and non-negative, in nats; an exact one stays exact.

    Every option, every policy file and every Python function reads levels here and in `exact_level`, so they mean the
    same: a number is in nats, text is a logarithm ("log(3)", "ln 3"), a factor ("3x", "factor 3"), or a number with
    its unit ("2 bits", "1.5 nats") or without. Bits that are not whole make an irrational factor and become a double,
    above by default, as the premise of a guarantee needs it; below for a limit that must not be exceeded.

    >>> level(0.5), level("factor 3").ratio, level("2 bits").ratio
    (0.5, Fraction(3, 1), Fraction(4, 1))
    """
    if isinstance(epsilon, Nats):
        value: float = epsilon
    elif isinstance(epsilon, (float, int)) and not isinstance(epsilon, bool):
        value = _as_float(epsilon)
    elif isinstance(epsilon, str):
        read = _read_text(epsilon, argument, rounding)
        value = read if isinstance(read, Nats) else _as_float(read)
    else:
        try:
            value = _as_float(number(epsilon, argument))
        except WrongType as error:
            raise WrongType(
                f"{argument} must be a number of nats, got {quoted(epsilon)}; "
                f'write log_of("10/9") for an exact logarithm.'
            ) from error
    return _in_range(value, argument, allow_infinite)


def _in_range(value: float, argument: str, allow_infinite: bool) -> float:
    if math.isnan(value) or value < 0 or (math.isinf(value) and not allow_infinite):
        kind = "non-negative number" if allow_infinite else "finite non-negative number"
        raise InvalidInput(f"{argument} must be a {kind} of nats, got {argument}={float(value)!r}.")
    return value


_LOGARITHM = re.compile(
    r"(?:log|ln)\s*(?:\(\s*(?P<inside>[^()]+?)\s*\)|(?P<after>[^()]+?))\s*", re.IGNORECASE
)
_FACTOR = re.compile(r"factor\s+(?:of\s+)?(?P<after>.+)|(?P<before>.+?)\s*[x×]", re.IGNORECASE)
_UNIT = re.compile(r"(.*?[^\sa-z])\s*(nat|bit)s?", re.IGNORECASE)
_MOST_BITS = 10_000  # a whole number of bits is kept as a power of 2
_FORMS = '"3x", "log(3)", "2 bits" or "1.5 nats"'


def _exact_text_level(text: str, argument: str, allow_infinite: bool, rounding: Rounding) -> Nats | Fraction:
    value = _read_text(text, argument, rounding)
    if value < 0:
        raise InvalidInput(f"{argument} must not be negative, got {quoted(text)}; a leakage is at least 0.")
    if isinstance(value, Nats):
        _in_range(value, argument, allow_infinite)
    elif value > sys.float_info.max:
        remedy = "write inf for no bound" if allow_infinite else "give a smaller one"
        raise InvalidInput(
            f"{argument} must be at most {sys.float_info.max:.3g}, got {quoted(text)}; {remedy}."
        )
    return value


def _read_text(text: str, argument: str, rounding: Rounding) -> Nats | Fraction:
    """A level as people write it, see `level`; the range is not checked."""
    words = text.strip()
    if words.lower() in {"inf", "infinity", "∞"}:
        return Nats(math.inf)
    if found := _LOGARITHM.fullmatch(words):
        return _log_of_text(found.group("inside") or found.group("after"), argument)
    if found := _FACTOR.fullmatch(words):
        return _log_of_text(found.group("after") or found.group("before"), argument)
    if words.endswith("%"):
        raise InvalidInput(
            f"{argument} must be a level of leakage, got {quoted(text)}; a share could only cap the probability "
            f"of a secret, which is not possible here: write {_FORMS}."
        )
    found = _UNIT.fullmatch(words)
    if found is None:
        return _amount(words, argument)
    if _LOGARITHM.fullmatch(found.group(1)):
        raise InvalidInput(
            f"{argument} must be a number of {found.group(2)}s, got {quoted(text)}; a logarithm has no unit."
        )
    amount = _amount(found.group(1), argument)
    return amount if found.group(2).lower() == "nat" else _of_bits(amount, text, argument, rounding)


def _log_of_text(words: str, argument: str) -> Nats:
    ratio = _amount(words, argument)
    if ratio <= 0:
        raise InvalidInput(
            f"{argument}: its ratio must be positive, got {quoted(words)}; a leakage is log of one ≥ 1."
        )
    return Nats.of_ratio(ratio)


def _amount(words: str, argument: str) -> Fraction:
    try:
        return Fraction(number(words, argument))
    except InvalidInput as error:
        raise InvalidInput(f"{str(error).rstrip('.')}, or a level like {_FORMS}.") from error


def _of_bits(bits: Fraction, text: str, argument: str, rounding: Rounding) -> Nats:
    """Whole bits are exact."""
    if abs(bits) > _MOST_BITS:
        raise InvalidInput(f"{argument} must be at most {_MOST_BITS} bits, got {quoted(text)}.")
    if bits.denominator == 1:
        return log_of(Fraction(2) ** bits.numerator)
    lower, upper = nats_of_bits(bits)
    return Nats(upper) if rounding == "up" else Nats(lower, rounding="nearest")


def nats_of_bits(bits: float | Fraction) -> tuple[float, float]:
    """Convert an amount in bits to nats, from below and from above.

    >>> nats_of_bits(1)
    (0.6931471805599453, 0.6931471805599454)
    """
    return enclose(lambda: ball(Fraction(bits)) * ball(2).log())


class Alip(NamedTuple):
    """Asymmetric local information privacy: −lower ≤ i(x;y) ≤ upper for every secret and outcome.

    Attributes
    ----------
    lower : Nats
        ε_l, which bounds −i from above: the PMC side. Infinite where a secret may be ruled out.
    upper : Nats
        ε_u, which bounds i from above: the PML side.

    >>> Alip(Nats(1.5), Nats(0.5)).upper
    0.5 nats
    """

    lower: Nats
    upper: Nats

    def in_bits(self) -> tuple[float, float]:
        """Convert the pair (lower, upper) to bits, each rounded in its own direction.

        >>> lower, upper = Alip(Nats(1.5), Nats(0.5)).in_bits()
        >>> f"{lower:.6f}, {upper:.6f}"
        '2.164043, 0.721348'
        """
        return self.lower.in_bits(), self.upper.in_bits()
