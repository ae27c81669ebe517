"""Mechanisms on one released column: random changes of its recoded value, each a small channel on its values.

A new mechanism is a subclass of `ColumnMechanism` and its name in `MECHANISMS`; policies, flags, audits and remedies
find all they need here:

    key, read, setting   how a policy file has it, `key = setting`; a flag has it as `--randomize "COLUMN=key setting"`
    words                in words, for reports and remedies
    channel              what it makes of each value, in whole numbers, so that audits stay exact
    noisier              what a remedy may put in its place, each a post-processing of the next
    response_odds        whether it is randomised response, which is what a sample can judge

The engine does not randomise: what a mechanism does to the release is worked out from the counts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import exact_ratio, level

Value = str | None

MOST_EPSILON = 100.0  # nats; with more, randomised response is as good as none
GRID = 20  # steps of ε in a nat that a remedy tries
_MOST_GRID = 200  # steps: up to 10 nats; a plan that needs less noise than that leaks hardly more without


@dataclass(frozen=True, slots=True, eq=False)
class ColumnChannel:
    """What a mechanism makes of each value of a column, in whole numbers.

    Value v is released as outcome w with probability (base[w] + extra[v, w]) / total: a part that all values share
    and a sparse rest, since most mechanisms treat most pairs alike. `starts`, `places` and `extra` are the rest's
    rows in compressed form.

    Attributes
    ----------
    outcomes : the released values
    base : for each outcome, the weight that it has whatever the value
    starts, places, extra : entries starts[v] to starts[v + 1] are the outcomes that v makes likelier, and by how much
    total : the sum of all weights of one value
    """

    outcomes: tuple[Value, ...]
    base: NDArray[Any]
    starts: NDArray[np.intp]
    places: NDArray[np.intp]
    extra: NDArray[Any]
    total: int

    @classmethod
    def of(cls, outcomes: Sequence[Value], rows: Sequence[Sequence[object]]) -> ColumnChannel:
        """From exact probabilities: a row for each value, an entry for each outcome.

        >>> lost = ColumnChannel.of(["a", "b", "lost"], [["3/4", 0, "1/4"], [0, "3/4", "1/4"]])
        >>> lost.base.tolist(), lost.extra.tolist(), lost.total
        ([0, 0, 1], [3, 3], 4)
        """
        exact = [[Fraction(number(entry, "probability")) for entry in row] for row in rows]
        for place, row in enumerate(exact):
            if len(row) != len(outcomes) or min(row, default=-1) < 0 or sum(row) != 1:
                raise InvalidInput(
                    f"channel row {place} must be {len(outcomes)} probabilities that sum to 1 exactly, got "
                    f"{quoted([str(entry) for entry in row])}; write them as fractions."
                )
        if len(set(outcomes)) != len(outcomes):
            raise InvalidInput("outcomes must differ from each other; name each once.")
        total = math.lcm(*(entry.denominator for row in exact for entry in row))
        weights = np.array([[int(entry * total) for entry in row] for row in exact], dtype=object)
        base = weights.min(axis=0)
        value, places = np.nonzero(weights - base)
        starts = np.searchsorted(value, np.arange(len(weights) + 1))
        return cls(tuple(outcomes), base, starts, places, (weights - base)[value, places], total)

    @classmethod
    def response(cls, values: Sequence[Value], odds: Fraction) -> ColumnChannel:
        """Randomised response: the value itself is `odds` times as likely as each other one.

        >>> ColumnChannel.response(["a", "b", "c"], Fraction(3, 2)).probability(0, 0)
        Fraction(3, 7)
        """
        same, other = odds.numerator, odds.denominator
        own = np.arange(len(values))
        return cls(
            tuple(values),
            np.full(len(values), other, dtype=object),
            np.arange(len(values) + 1),
            own,
            np.full(len(values), same - other, dtype=object),
            same + (len(values) - 1) * other,
        )

    def probability(self, value: int, outcome: int) -> Fraction:
        """P(outcome | value), exactly."""
        own = slice(self.starts[value], self.starts[value + 1])
        added = self.extra[own][self.places[own] == outcome].sum()
        return Fraction(int(self.base[outcome] + added), self.total)

    def entropies(self) -> FloatArray:
        """H(outcome | value) of each value, in nats."""
        row = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        shared = self.base[self.places]
        found = np.full(len(self.starts) - 1, _entropy_parts(self.base, self.total).sum())
        change = _entropy_parts(shared + self.extra, self.total) - _entropy_parts(shared, self.total)
        np.add.at(found, row, change)
        return np.asarray(np.maximum(found, 0.0))


def _entropy_parts(weights: NDArray[Any], total: int) -> FloatArray:
    """−p log p of each weight's share p of the total."""
    shares = np.asarray(weights / total, dtype=np.float64)
    return -shares * np.log(np.where(shares > 0, shares, 1.0))


class ColumnMechanism(ABC):
    """A random change of one released column's value, the same for everybody and independent of all else."""

    __slots__ = ()

    key: ClassVar[str]
    """Its name in a policy file."""
    largest_of: ClassVar[str] = ""
    """What a remedy is largest of, as in "no larger ε on a grid of 1/20 nat"."""

    @classmethod
    @abstractmethod
    def read(cls, setting: Any) -> Self:
        """Read it from what stands in a policy file (a number or text) or in a flag (text)."""

    @abstractmethod
    def setting(self) -> str | float:
        """Return what a policy file has for it, so that `read` gives it back."""

    @abstractmethod
    def words(self) -> str:
        """Say it in words."""

    @abstractmethod
    def channel(self, values: Sequence[Value]) -> ColumnChannel:
        """Work out what it makes of each of a column's values; where that is irrational, something less noisy.

        The mechanism must then be a post-processing of this channel, so that what an audit proves of the channel
        bounds the mechanism.
        """

    def noisier(self) -> Sequence[ColumnMechanism]:
        """Mechanisms of more noise that a remedy may try, the noisiest first, each a post-processing of the next."""
        return ()

    def response_odds(self) -> Fraction | None:
        """Return e^ε where it is randomised response of a level ε; None where it is not.

        The bounds of a sample are proved for such columns only.
        """
        return None


@dataclass(frozen=True, slots=True)
class RandomizedResponse(ColumnMechanism):
    """k-ary randomised response on the released values of a column, at a level in nats (`log_of(3)` is exact).

    A level given as a float has an irrational e^ε; audits take the next double above, a slightly weaker noise of
    which the one asked for is a post-processing.

    >>> RandomizedResponse(1.5).words()
    'randomised response with ε = 1.5 nats'
    """

    key = "randomized_response"
    largest_of = f"no larger ε on a grid of 1/{GRID} nat meets the budget"

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", level(self.epsilon))

    @classmethod
    def read(cls, setting: Any) -> Self:
        """Read a level: a number of nats, or text like "log(3)", "3x" or "2 bits"."""
        return cls(level(setting, cls.key))

    def setting(self) -> str | float:
        """Return the level: as a logarithm where that is exact."""
        ratio = exact_ratio(self.epsilon)
        return self.epsilon if ratio is None else f"log({ratio})"

    def words(self) -> str:
        """Say it in words."""
        return f"randomised response with ε = {float(self.epsilon)!r} nats"

    def channel(self, values: Sequence[Value]) -> ColumnChannel:
        """Truth with weight e^ε, each other value with weight 1."""
        return ColumnChannel.response(values, self.response_odds())

    def noisier(self) -> Sequence[RandomizedResponse]:
        """Smaller levels on a grid."""
        return self.grid(math.ceil(self.epsilon * GRID) - 1)

    @classmethod
    def grid(cls, most: int = _MOST_GRID) -> Sequence[RandomizedResponse]:
        """So many levels of a grid of 1/20 nat, up to 10 nats, the smallest first."""
        return [RandomizedResponse(step / GRID) for step in range(1, min(most, _MOST_GRID) + 1)]

    def response_odds(self) -> Fraction:
        """Return e^ε as a fraction, rounded up to a double where it is irrational.

        >>> from tightlip import log_of
        >>> RandomizedResponse(log_of(3)).response_odds(), RandomizedResponse(0).response_odds()
        (Fraction(3, 1), Fraction(1, 1))
        """
        if self.epsilon > MOST_EPSILON:
            raise InvalidInput(
                f"epsilon of randomised response must be at most {MOST_EPSILON:g} nats, got {float(self.epsilon)!r}; "
                "release the column as it is."
            )
        return exact_ratio(self.epsilon) or Fraction(exp_bounds(self.epsilon)[1])


MECHANISMS: dict[str, type[ColumnMechanism]] = {RandomizedResponse.key: RandomizedResponse}
"""Every mechanism that a policy can name, by its key."""


def flag_setting(text: str) -> dict[str, str]:
    """Read a mechanism as a flag has it: its key and its setting; randomised response where no key stands first.

    >>> flag_setting("log(3)"), flag_setting("randomized_response 0.5")
    ({'randomized_response': 'log(3)'}, {'randomized_response': '0.5'})
    """
    key, _, setting = text.strip().partition(" ")
    return {key: setting.strip()} if key in MECHANISMS else {RandomizedResponse.key: text}


def read_mechanism(settings: dict[str, Any], place: str) -> ColumnMechanism | None:
    """Read the mechanism that a column's settings name; None where they name none."""
    named = [key for key in MECHANISMS if key in settings]
    if len(named) > 1:
        raise InvalidInput(f"{place} must have one mechanism, got {' and '.join(named)}; keep one.")
    return MECHANISMS[named[0]].read(settings[named[0]]) if named else None


def require_mechanism(value: object, column: str) -> None:
    """Refuse what is neither a mechanism nor None."""
    if value is not None and not isinstance(value, ColumnMechanism):
        raise WrongType(
            f"mechanism of column {quoted(column)} must be a ColumnMechanism, got {quoted(value)}; "
            "write RandomizedResponse(1.5), or leave it out."
        )
