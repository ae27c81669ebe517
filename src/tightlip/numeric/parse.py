"""Numbers as users write them: floats, integers, Fractions, decimals and text such as "1/3".

Floats stay floats. Everything else is exact and stays exact, unless it is mixed with floats. A real parameter, a
position on the line or a positive scale, stays a float where a float can hold it, and else an exact Fraction.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.numeric.display import format_about

FloatArray = NDArray[np.float64]
ObjectArray = NDArray[np.object_]
Real = float | Fraction

_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_PARAMETER = 1e150  # squares and ratios of parameters then stay inside the float range
_NORMAL = 2.0**-1022
_MAX_EXPONENT = 5000  # "1e999999999" would fill the memory with one integer
_MAX_LENGTH = (
    100_000  # characters: to cancel a ratio of this length takes half a second, of ten times that a minute
)
_PLAIN_RATIO = re.compile(r"([+-]?[0-9]+)(?:/([0-9]+))?")
_PLAIN = {float, int, str, Fraction, list, tuple}
_SHAPES = {1: "a list of numbers", 2: "a list of rows"}
_WHAT = 'a float, an integer, a Fraction, a Decimal or text like "1/3"'


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array read from the user: floats, or exact rationals (then `floats` is None)."""

    floats: FloatArray | None
    exact: ObjectArray | None


def number(value: object, argument: str) -> float | Fraction:
    """Read one finite real number; text and integers become exact.

    >>> number("1/3", "p"), number("0.25", "p"), number(0.25, "p")
    (Fraction(1, 3), Fraction(1, 4), 0.25)
    """
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()  # of a date it would be a count of nanoseconds
    if isinstance(value, bool) or not isinstance(value, (float, int, Fraction, Decimal, str)):
        raise WrongType(f"{argument} must be {_WHAT}, got {quoted(value)} of type {type(value).__name__}.")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{argument} must be finite, got {value!r}; remove or impute it first.")
        return float(value)
    return _exact(value, argument)


def float_number(value: object, argument: str) -> float:
    """Read one number as the nearest float.

    >>> float_number("1/4", "gap")
    0.25
    """
    read = number(value, argument)
    if not -_LARGEST <= read <= _LARGEST:
        raise InvalidInput(
            f"{argument} must fit a float, got {quoted(value)}; write a number below {_LARGEST:.1g} in size."
        )
    return float(read)


def _exact(value: int | Fraction | Decimal | str, argument: str) -> Fraction:
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    text = str(value).strip()
    if len(text) > _MAX_LENGTH:
        raise InvalidInput(
            f"{argument} must be written with at most {_MAX_LENGTH} characters, got {len(text)}; round it."
        )
    _, _, exponent = text.lower().replace("_", "").partition("e")
    digits = exponent.lstrip("+-").lstrip("0")
    if digits.isdecimal() and (len(digits) > 4 or int(digits) > _MAX_EXPONENT):
        raise InvalidInput(
            f"{argument} must have an exponent up to {_MAX_EXPONENT}, got {quoted(value)}; "
            "give a Fraction if it is meant."
        )
    try:
        return _long_ratio(text) or Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(
            f"{argument} must be a finite number, got {quoted(value)}; {_remedy(text)}."
        ) from error


def _remedy(text: str) -> str:
    """How to write the number that a text is likely to mean."""
    if text.endswith("%"):
        return "write a share without the percent sign: 5 % is 0.05"
    return "write one number like 0.25 or 1/4, with a decimal point and no other marks"


def exact_text(value: Fraction) -> str:
    """Write a rational as text "p/q", of any length; Python alone stops at 4300 digits.

    >>> exact_text(Fraction(1, 3)), len(exact_text(Fraction(1, 10**5000)))
    ('1/3', 5003)
    """
    from flint import fmpq

    return str(fmpq(value.numerator, value.denominator))


def _long_ratio(text: str) -> Fraction | None:
    """Read what `exact_text` wrote, where it is too long for Python."""
    plain = _PLAIN_RATIO.fullmatch(text) if len(text) > 1000 else None
    if plain is None:
        return None
    from flint import fmpz

    return Fraction(int(fmpz(plain[1].lstrip("+"))), int(fmpz(plain[2] or "1")))


def numbers(values: Any, argument: str, dimensions: int) -> Numbers:
    """Read a vector or a matrix of finite numbers, without changing the caller's data.

    numpy arrays of numbers are floats. In lists, integers and text are exact; one float among
    them makes the whole array float.

    >>> numbers(["1/3", "2/3"], "prior", 1).exact
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    """
    array = _as_array(values, argument, dimensions)
    if array.dtype.kind in "fiu":
        return Numbers(_own_floats(array, argument), None)
    read = np.array(
        [number(entry, f"{argument}{_place(index)}") for index, entry in np.ndenumerate(array)], dtype=object
    ).reshape(array.shape)
    if any(isinstance(entry, float) for entry in read.flat):
        return Numbers(to_floats(read, argument), None)
    return Numbers(None, read)


def to_floats(exact: ObjectArray, argument: str) -> FloatArray:
    """Round exact numbers to the nearest floats; none may vanish or lose digits below the normal range."""
    large = np.argwhere((exact > _LARGEST) | (exact < -_LARGEST))
    if len(large):
        index = tuple(int(i) for i in large[0])
        raise InvalidInput(
            f"{argument}{_place(index)} is too large for a float, got {format_about(Fraction(exact[index]))}; "
            "give all numbers exactly, or in a larger unit."
        )
    floats = np.array([float(entry) for entry in exact.flat], dtype=np.float64).reshape(exact.shape)
    for place in np.argwhere((np.abs(floats) < _NORMAL) & (exact != 0)):
        index = tuple(int(i) for i in place)
        if Fraction(float(floats[index])) == exact[index]:
            continue
        raise InvalidInput(
            f"{argument}{_place(index)} is too small for a float, got {format_about(exact[index])}; "
            "give channel and prior both as exact numbers."
        )
    return floats


def require_finite(floats: FloatArray, argument: str) -> None:
    """Refuse NaN and infinities, naming the first place."""
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(floats.sum()):  # one pass, no temporary matrix
            return
    bad = ~np.isfinite(floats)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidInput(
            f"{argument}{_place(index)} must be finite, got {float(floats[index])!r}; remove or impute it first."
        )


def _own_floats(array: NDArray[Any], argument: str) -> FloatArray:
    with np.errstate(over="ignore"):  # of long doubles; the infinity is refused below
        floats = np.array(array, dtype=np.float64, order="C")
    require_finite(floats, argument)
    if array.dtype.itemsize > floats.dtype.itemsize and ((floats == 0) & (array != 0)).any():
        raise InvalidInput(
            f"{argument} must fit 64-bit floats, got {array.dtype} too small for them; scale it."
        )
    return floats


def _as_array(values: Any, argument: str, dimensions: int) -> NDArray[Any]:
    if values is None or isinstance(values, (str, bytes, bytearray, set, frozenset)):
        raise WrongType(
            f"{argument} must be {_SHAPES[dimensions]}, got {quoted(values)}; put numbers in a list."
        )
    require_unmasked(values, argument)
    _require_plain_rows(values, argument)
    try:
        array = np.asarray(values) if hasattr(values, "__array__") else _from_nested(values)
    except Exception as error:  # also of polars and Arrow, which have errors of their own
        raise WrongType(
            f"{argument} must be {_SHAPES[dimensions]}, got {quoted(values)}; {quoted(str(error), 120)[1:-1]}."
        ) from error
    if array.dtype.kind not in "fiuOUS":
        raise WrongType(
            f"{argument} must hold numbers, got {array.dtype}; convert it to floats or Fractions."
        )
    _require_shape(array, values, argument, dimensions)
    return array


def _from_nested(values: Any) -> NDArray[Any]:
    """Read nested lists entry by entry: numpy would read True as 1.0 and turn numbers beside text into text."""
    boxed = np.asarray(values, dtype=object)
    return boxed.astype(np.float64) if set(map(type, boxed.flat)) <= {float, np.float64} else boxed


def require_unmasked(values: Any, argument: str) -> None:
    """Refuse masked entries, which numpy turns into None, nan or the number below the mask."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    for place, part in enumerate(parts):
        if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
            where = f" entry {place}" if parts is values else ""
            raise InvalidInput(
                f"{argument}{where} must not be masked, got {quoted(part)}; fill or remove it."
            )


def _require_plain_rows(values: Any, argument: str) -> None:
    """Refuse lists of rows that have labels of their own: they would be read by position."""
    if not isinstance(values, (list, tuple)):
        return
    if set(map(type, values)) <= _PLAIN:
        return
    for place, row in enumerate(values):
        if isinstance(row, (dict, set, frozenset)) or (
            hasattr(row, "__array__") and not callable(getattr(row, "index", len))
        ):
            raise WrongType(
                f"{argument} entry {place} must be a number or a list, got {quoted(row)} "
                f"of type {type(row).__name__}; put rows with labels into one data frame."
            )


def _require_shape(array: NDArray[Any], values: Any, argument: str, dimensions: int) -> None:
    if array.ndim == 0:
        raise WrongType(
            f"{argument} must be {_SHAPES[dimensions]}, got {quoted(values)} of type {type(values).__name__}; "
            "put numbers in a list."
        )
    if dimensions == 2 and array.ndim == 1 and any(isinstance(row, (list, tuple)) for row in array):
        lengths = sorted({len(row) if isinstance(row, (list, tuple)) else 1 for row in array})
        raise ShapeMismatch(
            f"{argument} must have rows of equal length, got lengths {lengths}; fill the gaps."
        )
    if array.ndim != dimensions:
        raise ShapeMismatch(
            f"{argument} must have {dimensions} dimension(s), got shape {array.shape}; give {_SHAPES[dimensions]}."
        )
    if array.size == 0:
        raise InvalidInput(
            f"{argument} must not be empty, got shape {array.shape}; give {_SHAPES[dimensions]}."
        )


def _place(index: tuple[int, ...]) -> str:
    if len(index) == 2:
        return f" row {index[0]}, column {index[1]}"
    return f" entry {index[0]}" if index else ""


def real(value: object, argument: str) -> Real:
    """Read a position: finite, at most 1e150 in size.

    >>> real(1, "mean"), real("1/3", "mean")
    (1.0, Fraction(1, 3))
    """
    read = number(value, argument)
    if not -_LARGEST_PARAMETER <= read <= _LARGEST_PARAMETER:
        raise InvalidInput(
            f"{argument} must be at most {_LARGEST_PARAMETER:g} in size, got {float_text(read)}; choose a larger unit."
        )
    nearest = float(read)
    return nearest if nearest == read else read


def extended_real(value: object, argument: str) -> Real:
    """Read a position that may also be plus or minus infinity.

    >>> extended_real(math.inf, "b")
    inf
    """
    if isinstance(value, float) and math.isinf(value):
        return float(value)
    return real(value, argument)


def positive(value: object, argument: str, remedy: str) -> Real:
    """Read a scale: positive, between 1e-150 and 1e150; `remedy` ends the message when it is not.

    >>> positive("1/2", "sigma", "no noise is no mechanism")
    0.5
    """
    read = real(value, argument)
    if read <= 0:
        raise InvalidInput(f"{argument} must be positive, got {argument}={float(read)!r}; {remedy}.")
    if read < 1 / _LARGEST_PARAMETER:
        raise InvalidInput(
            f"{argument} must be at least {1 / _LARGEST_PARAMETER:g}, got {float_text(read)}; choose a smaller unit."
        )
    return read


def exact(value: Real) -> Real:
    """Convert a finite number to the rational it stands for; infinities stay floats.

    >>> exact(0.5), exact(-math.inf)
    (Fraction(1, 2), -inf)
    """
    return value if math.isinf(value) else Fraction(value)


def float_text(value: Real) -> str:
    """Write a number inside a message, also where it is too large for a float.

    >>> float_text(Fraction(10) ** 400)
    'about 1e400'
    """
    if isinstance(value, float):
        return repr(value)
    return quoted(value)
