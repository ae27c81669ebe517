"""The exception tree.

    TightlipError
    ├── InvalidInput (ValueError)        something handed in cannot be used
    │   ├── WrongType (TypeError)        it is not a number, a label, a matrix …
    │   ├── InvalidPrior                 a prior is not a distribution
    │   ├── InvalidChannel               a channel row is not a distribution
    │   ├── InvalidLabels                duplicate, missing or unusable labels
    │   ├── ShapeMismatch                two things do not fit together
    │   ├── BudgetExceeded               a policy would exceed on a table what it was made for
    │   ├── PreconditionFailed           a theorem does not apply to these values
    │   └── LedgerInvalid                a ledger is damaged, was changed, or has another history
    ├── CertificateInvalid (ValueError)  a proof does not hold, or is for something else
    ├── LedgerMoved (RuntimeError)       a ledger was added to since it was read
    └── NumericalFailure (ArithmeticError)  no sound number could be computed
        └── SolverFailure                a solver stopped before the optimum

Every message names the argument, the place, the requirement, the value and the remedy:

    channel row 3 ("blue") must sum to 1 within 1e-9, got 0.9987; use Channel.from_counts for counts.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = [
    "BudgetExceeded",
    "CertificateInvalid",
    "InvalidChannel",
    "InvalidInput",
    "InvalidLabels",
    "InvalidPrior",
    "LedgerInvalid",
    "LedgerMoved",
    "NumericalFailure",
    "PreconditionFailed",
    "ShapeMismatch",
    "SolverFailure",
    "TightlipError",
    "WrongType",
]

_LONG = 256  # bits, from which a whole number in a message is shown by its size
_DIGITS_PER_BIT = 0.30102999566398120  # log10 of 2


class TightlipError(Exception):
    """Everything tightlip raises on purpose."""


class InvalidInput(TightlipError, ValueError):
    """An argument cannot be used; the message says which, where, why and what to do."""


class WrongType(InvalidInput, TypeError):
    """An argument has a type that tightlip does not read."""


class InvalidPrior(InvalidInput):
    """A prior is not a probability distribution."""


class InvalidChannel(InvalidInput):
    """A channel row is not a probability distribution."""


class InvalidLabels(InvalidInput):
    """Labels are duplicated, unknown or of an unusable type."""


class ShapeMismatch(InvalidInput):
    """Two arguments do not fit together."""


class PreconditionFailed(InvalidInput):
    """The theorem that would give the answer does not apply; the message says by how much."""


class BudgetExceeded(InvalidInput):
    """A policy that was made for a budget would exceed it on this table."""


class LedgerInvalid(InvalidInput):
    """A ledger is damaged, was changed, is older than a receipt, or has another history."""


class CertificateInvalid(TightlipError, ValueError):
    """A certificate does not prove what it says; the message names the inequality that fails."""


class LedgerMoved(TightlipError, RuntimeError):
    """Another process has added to a ledger since it was read; nothing was written, and it must be judged again."""


class NumericalFailure(TightlipError, ArithmeticError):
    """No sound number could be computed in the precision available."""


class SolverFailure(NumericalFailure):
    """A solver stopped before the optimum; the message has its status and residuals."""


def quoted(value: object, limit: int = 60) -> str:
    """Show a value inside a message, on one line: text in double quotes, long values cut, odd characters escaped.

    >>> quoted("a\\u202eb"), quoted(10**400)
    ('"a\\\\u202eb"', 'about 1e400')
    """
    try:
        text = _shown(value)
    except Exception:  # the message must come out even where the value cannot show itself
        text = f"<{type(value).__name__}>"
    text = visible(" ".join(text.splitlines()))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        digits = _digits(value.numerator) - _digits(value.denominator)
        long = max(abs(value.numerator), value.denominator).bit_length() > _LONG
        return f"about {'-' if value < 0 else ''}1e{digits}" if long else str(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return str(value)  # 1.5, not np.float64(1.5)
    return repr(value)


def _digits(value: int) -> int:
    """The order of magnitude of a whole number; Python writes out no more than 4300 digits."""
    return int(abs(value).bit_length() * _DIGITS_PER_BIT)


def visible(text: str) -> str:
    """Text that can do no harm: what a terminal would obey, not show, or could not even print, as its code.

    >>> visible("a\\x1b[31m\\u202e")
    'a\\\\x1b[31m\\\\u202e'
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
