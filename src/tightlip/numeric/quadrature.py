"""Functions of a real variable on an interval: proved ranges and integrals, from Taylor series with ball coefficients.

A function is evaluated at a `Variable`: c + x with c a number or a ball around an interval. Over [c − h, c + h], with
a_k its Taylor coefficients at c and r_k those over the whole interval (k-th derivatives over k!),

    f(x) ∈ r_0,    f(x) ∈ a_0 ± h r_1,    f(x) between f(c − h) and f(c + h) where r_1 has one sign,
    ∫ f ∈ Σ_{k even, k < n} a_k 2h^(k+1)/(k+1) + r_n 2h^(n+1)/(n+1)   for even n.

What is not smooth on an interval has coefficients that are not finite, and only r_0 is used.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, Protocol, Self, TypeVar

from tightlip.errors import InvalidInput, TightlipError, WrongType, quoted
from tightlip.numeric.ball import Ball, ball

_ORDER = 8
_LARGEST_POWER = 1000
BITS = 96
_FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tan", "arctan", "erf", "erfc", "lgamma")
_WRITE = f"write it with + − * / ** and numpy's or its own {', '.join(_FUNCTIONS)}"


class Variable:
    """What a function is evaluated at: computes like a number, but cannot be compared.

    `numpy.exp(x)` and `x.exp()` are the same; so with log, sqrt, sin, cos, tan, arctan, erf, erfc and lgamma.
    """

    __slots__ = ("series",)
    __hash__ = None  # type: ignore[assignment]
    series: Any

    def __init__(self, series: Any) -> None:
        self.series = series

    def __add__(self, other: Any) -> Self:
        return self._of(self.series + _series(other))

    def __sub__(self, other: Any) -> Self:
        return self._of(self.series - _series(other))

    def __rsub__(self, other: Any) -> Self:
        return self._of(_series(other) - self.series)

    def __mul__(self, other: Any) -> Self:
        return self._of(self.series * _series(other))

    def __truediv__(self, other: Any) -> Self:
        return self._of(_quotient(self.series, _series(other)))

    def __rtruediv__(self, other: Any) -> Self:
        return self._of(_quotient(_series(other), self.series))

    def __pow__(self, other: Any) -> Self:
        if isinstance(other, (int, float, Fraction)) and other in range(-_LARGEST_POWER, _LARGEST_POWER):
            power = self._of(self.series ** abs(int(other)))
            return power if other >= 0 else power.__rtruediv__(1)
        return self._of(self.series ** _series(other))

    def __rpow__(self, other: Any) -> Self:
        return self._of(_series(other) ** self.series)

    def __neg__(self) -> Self:
        return self._of(-self.series)

    __radd__, __rmul__ = __add__, __mul__

    def _of(self, series: Any) -> Self:
        return type(self)(series)

    def __getattr__(self, name: str) -> Callable[[], Self]:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        own = {"arctan": "atan"}.get(name, name)
        return lambda: self._of(getattr(self.series, own)())

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("it is compared, or its size taken; cut the range where the formula changes")

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __abs__ = _refuse
    __eq__ = __ne__ = _refuse


def _series(number: Any) -> Any:
    if isinstance(number, Variable):
        return number.series
    from flint import arb_series

    if isinstance(number, (int, float, Fraction)):
        return arb_series([ball(number)], _ORDER + 1)
    raise TypeError(f"it meets {type(number).__name__}, which is no number")


def _quotient(one: Any, two: Any) -> Any:
    """Divide; not a number where the divisor may be 0."""
    if not two[0].contains(0):
        return one / two
    return type(one)([ball(0).nan()] * (_ORDER + 1), _ORDER + 1)


Function = Callable[[Variable], Any]


@dataclass(frozen=True, slots=True)
class Expansion:
    """A function on [low, high]: its Taylor coefficients in the middle, and over the interval.

    `argument` names it in messages.
    """

    function: Function
    argument: str
    low: Fraction
    high: Fraction
    middle: Any
    over: Any

    @classmethod
    def of(cls, function: Function, argument: str, low: Fraction, high: Fraction) -> Self:
        """Evaluate a function at the middle and over the interval."""
        centre, half = ball((low + high) / 2), ball((high - low) / 2)
        middle = _evaluate(function, argument, centre)
        return cls(
            function, argument, low, high, middle, _evaluate(function, argument, _around(centre, half))
        )

    def times(self, other: Expansion) -> Expansion:
        """Multiply by another function on the same interval."""
        middle, over = self.middle * other.middle, self.over * other.over
        return Expansion(self.function, self.argument, self.low, self.high, middle, over)

    def integral(self) -> Ball:
        """Enclose the integral."""
        half = ball((self.high - self.low) / 2)
        found = sum(
            (self.middle[k] * 2 * half ** (k + 1) / (k + 1) for k in range(0, _ORDER, 2)),
            self.over[_ORDER] * 2 * half ** (_ORDER + 1) / (_ORDER + 1),
        )
        return _smallest(found, self.over[0] * 2 * half)

    def range(self) -> Ball:
        """Enclose all values."""
        half = ball((self.high - self.low) / 2)
        found = _smallest(self.over[0], self.middle[0] + self.over[1] * _around(ball(0), half))
        if self.over[1] > 0 or self.over[1] < 0:
            found = _smallest(found, self.at(self.low).union(self.at(self.high)))
        return found

    @property
    def continuous(self) -> bool:
        """Whether the function is known to be continuous."""
        return bool(self.over[1].is_finite())

    def at(self, point: Fraction) -> Ball:
        """Enclose one value."""
        return _evaluate(self.function, self.argument, ball(point))[0]


def _around(centre: Ball, half: Ball) -> Ball:
    return (centre - half).union(centre + half)


def _smallest(one: Ball, two: Ball) -> Ball:
    """Intersect two enclosures of one number, of which some may not be finite."""
    if not one.is_finite() or not two.is_finite():
        return one if one.is_finite() else two
    return one.intersection(two)


def _evaluate(function: Function, argument: str, place: Ball) -> Any:
    from flint import arb_series

    try:
        found = _series(function(Variable(arb_series([place, 1], _ORDER + 1))))
        if found.prec <= _ORDER:
            raise TypeError("it divides by what is 0 at x")
        return found
    except TightlipError:
        raise
    except Exception as error:
        said = quoted(" ".join(str(error).split()))
        raise WrongType(
            f"{argument} must be a function of arithmetic alone, got {said}; {_WRITE}."
        ) from error


class Cell(Protocol):
    """A part of the range of integration."""

    @property
    def low(self) -> Fraction:
        """Its lower end."""

    @property
    def high(self) -> Fraction:
        """Its upper end."""


Own = TypeVar("Own", bound=Cell)


def refine(
    cells: Sequence[Own],
    split: Callable[[Own], tuple[Own, Own]],
    worth: Callable[[Own], float],
    enough: Callable[[list[Own]], bool],
    most: int,
) -> list[Own]:
    """Split the cell of largest worth until enough is known, or there are too many."""
    order = itertools.count()
    heap = [(-worth(cell), next(order), cell) for cell in cells]
    heapq.heapify(heap)
    while not enough([cell for *_, cell in heap]) and len(heap) < most:
        for _ in range(1 + len(heap) // 8):  # asking costs as much as the cells there are
            _, _, cell = heapq.heappop(heap)
            for part in split(cell):
                heapq.heappush(heap, (-worth(part), next(order), part))
    return [cell for *_, cell in heap]


def require_function(function: Any, argument: str) -> Function:
    """Refuse what cannot be called."""
    if not callable(function):
        raise WrongType(f"{argument} must be a function of x, got {quoted(function)}; {_WRITE}.")
    return function  # type: ignore[no-any-return]


def require_not_negative(found: Expansion) -> None:
    """Refuse a function that is below 0 on a whole interval."""
    if found.range() < 0:
        raise InvalidInput(
            f"{found.argument} must not be negative, and is on [{float(found.low):g}, {float(found.high):g}]; "
            "a density is at least 0."
        )
