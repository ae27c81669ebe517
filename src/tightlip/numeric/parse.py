"""Numbers as users write them: floats, integers, Fractions, decimals and text such as "1/3".

Floats stay floats. Everything else is exact and stays exact, unless it is mixed with floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted

FloatArray = NDArray[np.float64]
ObjectArray = NDArray[np.object_]

_MAX_EXPONENT = 5000  # "1e999999999" would fill the memory with one integer
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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (float, int, Fraction, Decimal, str)):
        raise WrongType(f"{argument} must be {_WHAT}, got {quoted(value)} of type {type(value).__name__}.")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{argument} must be finite, got {value!r}; remove or impute it first.")
        return float(value)
    return _exact(value, argument)


def _exact(value: int | Fraction | Decimal | str, argument: str) -> Fraction:
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    text = str(value).strip()
    _, _, exponent = text.lower().partition("e")
    if exponent.lstrip("+-").isdigit() and abs(int(exponent)) > _MAX_EXPONENT:
        raise InvalidInput(f"{argument} must have an exponent up to {_MAX_EXPONENT}, got {quoted(value)}.")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidInput(
            f"{argument} must be a finite number, got {quoted(value)}; write {_WHAT}."
        ) from error


def numbers(values: Any, argument: str, dimensions: int) -> Numbers:
    """Read a vector or a matrix of finite numbers, without changing the caller's data.

    numpy arrays of numbers are floats. In lists, integers and text are exact; one float among
    them makes the whole array float.

    >>> numbers(["1/3", "2/3"], "prior", 1).exact
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    """
    array = _as_array(values, argument, dimensions)
    if array.size == 0:
        raise InvalidInput(f"{argument} must not be empty, got shape {array.shape}.")
    if array.dtype.kind in "fiu":
        floats = np.array(array, dtype=np.float64, order="C")
        require_finite(floats, argument)
        return Numbers(floats, None)
    read = np.array(
        [number(entry, f"{argument}{_place(index)}") for index, entry in np.ndenumerate(array)], dtype=object
    ).reshape(array.shape)
    if any(isinstance(entry, float) for entry in read.flat):
        return Numbers(to_floats(read, argument), None)
    return Numbers(None, read)


def to_floats(exact: ObjectArray, argument: str) -> FloatArray:
    """The nearest floats of exact numbers; a positive one must not vanish."""
    floats = np.array([float(entry) for entry in exact.flat], dtype=np.float64).reshape(exact.shape)
    vanished = (floats == 0) & (exact != 0)
    if vanished.any():
        index = tuple(int(i) for i in np.argwhere(vanished)[0])
        raise InvalidInput(
            f"{argument}{_place(index)} is too small for a float, got {quoted(str(exact[index]))}; "
            "give channel and prior both as exact numbers."
        )
    return floats


def require_finite(floats: FloatArray, argument: str) -> None:
    """Refuse NaN and infinities, naming the first place."""
    if np.isfinite(floats.sum()) and not np.isnan(floats.min()):  # one pass each, no temporary matrix
        return
    bad = ~np.isfinite(floats)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidInput(
            f"{argument}{_place(index)} must be finite, got {floats[index]!r}; remove or impute it first."
        )


def _as_array(values: Any, argument: str, dimensions: int) -> NDArray[Any]:
    if isinstance(values, (str, bytes)) or values is None:
        raise WrongType(f"{argument} must be a sequence of numbers, got {quoted(values)}.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeMismatch(f"{argument} must have rows of equal length; {error}.") from error
    if array.dtype.kind in "US" or (array.dtype.kind in "iub" and not isinstance(values, np.ndarray)):
        array = np.asarray(values, dtype=object)  # text must not turn numbers into text, integers stay exact
    if array.dtype.kind not in "fiuO":
        raise WrongType(
            f"{argument} must hold numbers, got {array.dtype}; convert it to floats or Fractions."
        )
    if array.ndim != dimensions:
        raise ShapeMismatch(f"{argument} must have {dimensions} dimension(s), got shape {array.shape}.")
    return array


def _place(index: tuple[int, ...]) -> str:
    if len(index) == 2:
        return f" row {index[0]}, column {index[1]}"
    return f" entry {index[0]}" if index else ""
