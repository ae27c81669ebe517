"""Mechanisms on one released column: random changes of its recoded value, each a small channel on its values.

A new mechanism is a subclass of `ColumnMechanism` and its name in `MECHANISMS`; policies, flags, audits and remedies
find all they need here:

    key, read, setting   how a policy file has it, `key = setting`; a flag has it as `--randomize "COLUMN=key setting"`
    located, path, sha256, setting_in   the same of one that may be in a file of its own, as seen from the policy's
    words                in words, for reports and remedies
    channel              what it makes of each value, in whole numbers, so that audits stay exact
    takes, acts_on       which values it is for, and of which it changes anything
    noisier              what a remedy may put in its place, each a post-processing of the next
    response_odds        whether it is randomised response, which is what a sample can judge

The engine does not randomise: what a mechanism does to the release is worked out from the counts.
"""

from __future__ import annotations

import hashlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import path as read_path
from tightlip.errors import InvalidInput, TightlipError, WrongType, quoted
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Labels
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import several
from tightlip.numeric.parse import FloatArray, exact_text, number
from tightlip.numeric.quantity import Nats, exact_ratio, level
from tightlip.reading import is_below, read_bytes, text_of
from tightlip.table.kinds import MISSING, code_label

Value = str | None

MOST_EPSILON = 100.0  # nats; with more, randomised response is as good as none
MOST_ENTRIES = (
    1_000_000  # of a channel on a column; more fill the memory as fractions, and no audit ends with them
)
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
        exact = [[_exact(entry) for entry in row] for row in rows]
        total = math.lcm(*{entry.denominator for row in exact for entry in row})
        whole = [[entry.numerator * (total // entry.denominator) for entry in row] for row in exact]
        for place, row in enumerate(whole):
            if len(row) != len(outcomes) or min(row, default=-1) < 0 or sum(row) != total:
                raise InvalidInput(
                    f"channel row {place} must be {len(outcomes)} probabilities that sum to 1 exactly, got "
                    f"{quoted([str(entry) for entry in exact[place]])}; write them as fractions."
                )
        if len(set(outcomes)) != len(outcomes):
            raise InvalidInput("outcomes must differ from each other; name each once.")
        weights = np.array(whole, dtype=object)
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

    def local_privacy(self) -> Nats:
        """Compute LDP, the logarithm of the largest P(outcome | value) / P(outcome | other value), exactly.

        >>> ColumnChannel.response(["a", "b", "c"], Fraction(3)).local_privacy().ratio
        Fraction(3, 1)
        """
        outcomes, values = len(self.base), len(self.starts) - 1
        most, least = np.zeros(outcomes, dtype=object), np.full(outcomes, None, dtype=object)
        for place, extra in zip(self.places.tolist(), self.extra.tolist(), strict=True):
            most[place] = max(most[place], extra)
            least[place] = extra if least[place] is None else min(least[place], extra)
        # a value that makes an outcome no likelier than the base has no entry for it
        least[np.bincount(self.places, minlength=outcomes) < values] = 0
        pairs = [(int(high), int(low)) for high, low in zip(self.base + most, self.base + least, strict=True)]
        if any(high and not low for high, low in pairs):
            return Nats(math.inf)
        return Nats.of_ratio(max(Fraction(high, low) for high, low in pairs if high))

    def weights_of(self, value: int) -> list[tuple[Value, int]]:
        """List the outcomes that a value can have, each with its whole weight, which sum to the total.

        >>> ColumnChannel.of(["a", "b", "lost"], [["3/4", 0, "1/4"], [0, "3/4", "1/4"]]).weights_of(1)
        [('b', 3), ('lost', 1)]
        """
        own, weights = slice(self.starts[value], self.starts[value + 1]), self.base.astype(object)
        np.add.at(weights, self.places[own], self.extra[own])
        return [
            (own, int(weight)) for own, weight in zip(self.outcomes, weights.tolist(), strict=True) if weight
        ]

    def likeliest(self, people: NDArray[Any]) -> NDArray[np.intp]:
        """Find for each outcome the value that makes it likeliest; of several that which fewest people have.

        >>> mixed = ColumnChannel.of(["x", "y"], [["1/4", "3/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
        >>> mixed.likeliest(np.array([9, 5, 3])).tolist()
        [1, 2]
        """
        added = np.zeros(len(self.outcomes), dtype=object)
        np.maximum.at(added, self.places, self.extra)
        found = np.full(len(self.outcomes), int(np.argmin(people)), dtype=np.intp)
        found[added > 0] = -1
        values = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        most = np.flatnonzero(self.extra == added[self.places])
        fewest_last = most[np.argsort(-people[values[most]], kind="stable")]
        found[self.places[fewest_last]] = values[fewest_last]
        return found

    def entropies(self) -> FloatArray:
        """H(outcome | value) of each value, in nats."""
        row = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        shared = self.base[self.places]
        found = np.full(len(self.starts) - 1, _entropy_parts(self.base, self.total).sum())
        change = _entropy_parts(shared + self.extra, self.total) - _entropy_parts(shared, self.total)
        np.add.at(found, row, change)
        return np.asarray(np.maximum(found, 0.0))


def _exact(entry: object) -> Fraction:
    return entry if isinstance(entry, Fraction) else Fraction(number(entry, "probability"))


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
    renames: ClassVar[bool] = False
    """Whether its outcomes have names of their own, and one that is called like a value need not mean it."""
    path: Path | None = None
    """The file that it was read from, if it was."""
    sha256: str | None = None
    """The digest of that file."""

    @classmethod
    @abstractmethod
    def read(cls, setting: Any) -> Self:
        """Read it from what stands in a policy file (a number or text) or in a flag (text)."""

    @abstractmethod
    def setting(self) -> Any:
        """Return what a policy file has for it, so that `read` gives it back."""

    @classmethod
    def located(cls, setting: Any, find: Callable[[str], Path]) -> Any:
        """Put the path in place of a file that a setting names; most name none."""
        return setting

    def setting_in(self, folder: Path) -> Any:
        """Return what a policy file in some folder has for it."""
        return self.setting()

    def names_values(self, folder: Path) -> bool:
        """Whether a policy file in some folder has values of the column for it."""
        return False

    @abstractmethod
    def words(self) -> str:
        """Say it in words."""

    @abstractmethod
    def channel(self, values: Sequence[Value]) -> ColumnChannel:
        """Work out what it makes of each of a column's values; where that is irrational, something less noisy.

        The mechanism must then be a post-processing of this channel, so that what an audit proves of the channel
        bounds the mechanism.
        """

    def on(self, column: str, values: Sequence[Value]) -> ColumnChannel:
        """Work out its channel on the values of a named column.

        Raises
        ------
        InvalidInput
            Naming the column, where it is not for these values.
        """
        try:
            return self.channel(values)
        except InvalidInput as error:
            raise type(error)(f"{self.words()} on column {quoted(column)}: {error}") from error

    def takes(self, values: Collection[Value]) -> bool:
        """Whether it is for a column of these values."""
        return True

    def acts_on(self, values: Collection[Value]) -> bool:
        """Whether it changes anything; a column of one value has nothing to hide."""
        return len(values) > 1

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
        if isinstance(setting, str) and Path(setting.strip()).suffix.lower() == ".json":
            raise InvalidInput(
                f"{cls.key} must have a level, got the name of a file, {quoted(setting)}; "
                f"write {quoted(f'{ChannelMechanism.key} {setting.strip()}')}."
            )
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


@dataclass(frozen=True, slots=True)
class ChannelMechanism(ColumnMechanism):
    """A channel on the released values of a column: its inputs are the values, its outputs what is published.

    Labels are compared with values as text, as a release shows them: 1 is "1" and True is "true". None, and
    "(missing)", is missing. Every value that occurs needs an input, missing values too; inputs that do not occur do no
    harm. Entries are exact; those of a float channel are the rationals that `Channel.exact` makes of them.

    Attributes
    ----------
    kernel : Channel
        With exact entries and named inputs and outputs, as text or None.
    path, sha256 : the file that it was read from, if it was, and its digest

    >>> lost = Channel([["3/4", 0, "1/4"], [0, "3/4", "1/4"]], inputs=["f", "m"], outputs=["f", "m", "lost"])
    >>> ChannelMechanism(lost).words()
    'a channel from 2 values to 3 outcomes'
    """

    key = "channel"
    renames = True

    kernel: Channel
    path: Path | None = field(default=None, init=False, compare=False)
    sha256: str | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        given = as_channel(self.kernel, "kernel")
        if given.shape[0] * given.shape[1] > MOST_ENTRIES:
            raise InvalidInput(
                f"a channel on a column must have at most {MOST_ENTRIES} entries, got {given.shape[0]} × "
                f"{given.shape[1]}; recode the column first, or merge outcomes."
            )
        inputs, outputs = _label_texts(given.inputs, "inputs"), _label_texts(given.outputs, "outputs")
        exact = given.exact()
        if exact.inputs != inputs or exact.outputs != outputs:
            exact = Channel(exact.matrix, inputs, outputs)
        object.__setattr__(self, "kernel", exact)

    @classmethod
    def from_file(cls, path: str | Path, *, sha256: str | None = None) -> Self:
        """Read the channel of a file that `Channel.save` wrote, or that has one (see `channel_of_file`).

        Parameters
        ----------
        path : of the file
        sha256 : the digest that it must have, if any will not do

        Raises
        ------
        InvalidInput
            When the file cannot be read, has no channel, or has another digest.
        """
        place = read_path(path, "path")
        if sha256 is not None and not isinstance(sha256, str):
            raise WrongType(f"sha256 of a channel must be text, got {quoted(sha256)}; leave it out.")
        channel, digest = channel_of_file(place)
        if sha256 not in (None, digest):
            raise InvalidInput(
                f"mechanism file {place} is not the one that its policy was written with; audit the plan again with "
                "the file that it has now, and write down that one's sha256."
            )
        try:
            found = cls(channel)
        except TightlipError as error:
            raise type(error)(f"mechanism file {place}: {error}") from error
        for name, value in {"path": place, "sha256": digest}.items():
            object.__setattr__(found, name, value)
        return found

    @classmethod
    def located(cls, setting: Any, find: Callable[[str], Path]) -> Any:
        """Put the path in place of the file's name: the setting itself, or its key `file`."""
        if isinstance(setting, str):
            return find(setting)
        if isinstance(setting, dict) and isinstance(setting.get("file"), str):
            return {**setting, "file": find(setting["file"])}
        return setting

    @classmethod
    def read(cls, setting: Any) -> Self:
        """Read a channel, the path of its file, a table of file and sha256, or one that a channel file could have."""
        if isinstance(setting, Channel):
            return cls(setting)
        if isinstance(setting, (str, Path)):
            setting = {"file": Path(setting)}
        if not isinstance(setting, dict) or not setting:
            raise WrongType(
                f'channel must be a file like "mechanism.json", or a table, got {quoted(setting)}; use Channel.save.'
            )
        if "file" not in setting:
            return cls(Channel.from_dict(setting))
        if {*setting} - {"file", "sha256"} or not isinstance(setting["file"], (str, Path)):
            raise WrongType(
                f"channel must be a table of file and sha256, got {quoted(setting)}; drop the rest."
            )
        return cls.from_file(setting["file"], sha256=setting.get("sha256"))

    def setting(self) -> dict[str, Any]:
        """Return the channel written out, as a channel file has it; missing is "(missing)"."""
        rows = [[exact_text(entry) for entry in row] for row in self.kernel.matrix.tolist()]
        names = {"inputs": self.kernel.inputs, "outputs": self.kernel.outputs}
        written = {side: [MISSING if one is None else one for one in own] for side, own in names.items()}
        return {**written, "channel": rows}

    def setting_in(self, folder: Path) -> dict[str, Any]:
        """Name the file as seen from the folder, with its digest, where it is below; else write the channel out."""
        if self.names_values(folder) or self.path is None:
            return self.setting()
        seen = self.path if self.path.is_absolute() else Path(os.path.relpath(self.path, folder))
        return {"file": seen.as_posix(), "sha256": self.sha256}

    def names_values(self, folder: Path) -> bool:
        """Whether it is written out: it is in no file below the folder."""
        return self.path is None or self.sha256 is None or not is_below(self.path, folder)

    def words(self) -> str:
        """Say how many values it has, how many outcomes, and in which file it is."""
        values, outcomes = self.kernel.shape
        file = "" if self.path is None else f" ({self.path.name})"
        return f"a channel from {several(values, 'value')} to {several(outcomes, 'outcome')}{file}"

    def channel(self, values: Sequence[Value]) -> ColumnChannel:
        """Take the rows of these values, and the outcomes that they can have."""
        known = {value: place for place, value in enumerate(self.kernel.inputs)}
        unknown = [value for value in values if value not in known]
        if unknown:
            raise InvalidInput(
                self._refused(unknown, len(values))
            )  # without values, which few people may have
        return _rows_of(self.kernel, tuple(known[value] for value in values))

    def _refused(self, unknown: Sequence[Value], count: int) -> str:
        said = "the channel must have an input for every value that occurs"
        if unknown == [None]:
            return f"{said}, got none for missing ones; add the input null (None), or leave these rows out by where."
        return (
            f"{said}, got none for {len(unknown)} of {count}; recode them to inputs of the channel, or design it for "
            "the values as they are released."
        )

    def takes(self, values: Collection[Value]) -> bool:
        """Whether all of these are inputs."""
        return {*values} <= {*self.kernel.inputs}

    def acts_on(self, values: Collection[Value]) -> bool:
        """A single value too is published as an outcome."""
        return True


@lru_cache(maxsize=4)  # an audit applies the same mechanism to the same values again and again
def _rows_of(kernel: Channel, places: tuple[int, ...]) -> ColumnChannel:
    """Some rows of a channel, and the outcomes that they can have."""
    rows = kernel.matrix[list(places)]
    possible = np.flatnonzero((rows != 0).any(axis=0)).tolist()
    return ColumnChannel.of([kernel.outputs[at] for at in possible], rows[:, possible].tolist())


def channel_of_file(path: Path) -> tuple[Channel, str]:
    """Read the channel that a file has, and the digest of what was read.

    A channel file has one, and so has a certificate about a channel, whose proof is not looked at: an audit works out
    what the channel gives away.

    Raises
    ------
    InvalidInput
        When the file cannot be read, or has no channel.
    """
    from tightlip.certificate.loading import load_text

    name = f"mechanism file {path}"
    content = read_bytes(path, name)
    channel = getattr(load_text(text_of(content, name), name), "channel", None)
    if not isinstance(channel, Channel):
        raise InvalidInput(f"{name} must have a channel, got none; save it by Channel.save.")
    return channel, hashlib.sha256(content).hexdigest()


def _label_texts(labels: Labels, side: str) -> tuple[Value, ...]:
    """The labels of a channel as values of a column, which must differ."""
    if not labels.given:
        raise InvalidInput(
            f"{side} of a channel on a column must be named, got none for {len(labels)}; write Channel(rows, "
            "inputs=[…], outputs=[…]) with the column's values and what is published."
        )
    found: dict[Value, None] = {}
    for label in labels:
        text = (
            None
            if label is None or label == MISSING
            else code_label(label, f"{side} of a channel on a column")
        )
        if text in found:
            raise InvalidInput(
                f"{side} of a channel on a column must differ as text, got {quoted(MISSING if text is None else text)} "
                "twice; rename one."
            )
        found[text] = None
    return tuple(found)


MECHANISMS: dict[str, type[ColumnMechanism]] = {
    RandomizedResponse.key: RandomizedResponse,
    ChannelMechanism.key: ChannelMechanism,
}
"""Every mechanism that a policy can name, by its key."""


def flag_setting(text: str) -> dict[str, str]:
    """Read a mechanism as a flag has it: its key and its setting; randomised response where no key stands first.

    >>> flag_setting("log(3)"), flag_setting("randomized_response 0.5")
    ({'randomized_response': 'log(3)'}, {'randomized_response': '0.5'})
    """
    key, _, setting = text.strip().partition(" ")
    return {key: setting.strip()} if key in MECHANISMS else {RandomizedResponse.key: text}


def read_mechanism(
    settings: dict[str, Any], place: str, find: Callable[[str, str], Path]
) -> ColumnMechanism | None:
    """Read the mechanism that a column's settings name; None where they name none.

    `find` is given the name of a file and the place where it stands, and finds its path.
    """
    named = [key for key in MECHANISMS if key in settings]
    if len(named) > 1:
        raise InvalidInput(f"{place} must have one mechanism, got {' and '.join(named)}; keep one.")
    if not named:
        return None
    mechanism, setting = MECHANISMS[named[0]], settings[named[0]]
    if isinstance(setting, ColumnMechanism):
        return setting
    return mechanism.read(mechanism.located(setting, lambda file: find(file, f"{place}.{named[0]}")))


def as_mechanism(value: object, column: str) -> ColumnMechanism | None:
    """Read the mechanism of a column: a channel is one; what is neither one nor None is refused."""
    if isinstance(value, Channel):
        return ChannelMechanism(value)
    if value is not None and not isinstance(value, ColumnMechanism):
        raise WrongType(
            f"mechanism of column {quoted(column)} must be a ColumnMechanism or a Channel, got {quoted(value)}; "
            "write RandomizedResponse(1.5), or leave it out."
        )
    return value
