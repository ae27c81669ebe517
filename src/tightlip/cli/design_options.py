"""Read what `tightlip design` is asked for: guarantees, a utility, levels of a trade-off, a target."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tightlip.cli.arguments import read_channel_file, read_parts
from tightlip.designs.frequency import NAME as VARIANCE
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.model.prior_set import PriorList
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import exact_level, nats_of_bits
from tightlip.showing import Unit as LeakageUnit

INFORMATION = "mutual_information"  # the utility that has a unit
_LEVELS = ("pml", "ldp", "pmc", "lip", "maximal_leakage")  # with one level each
_PAIRS = {"alip": "LOWER,UPPER", "envelope": "LEVEL,DELTA"}
_ABOUT = ("pml", "pmc", "lip", "alip")  # what can be about a secret of which x is the data
_POINTS = 50  # of a trade-off around a single level
_DIGITS = 4  # of these levels, so that a table tells them exactly
_ARGUMENT = re.compile(
    r"^(pml|ldp|pmc|lip|alip|maximal_leakage|envelope|min_mass|priors|secret|loss|gain|utility)\b"
)
_IN_PYTHON = {  # what messages advise, and how it is written here
    "leave it out with prior.restricted(), or give it mass": "leave it out of the file, or give it mass",
    "loss_at_most must be": "--at-most must be",
    "gain_at_least must be": "--at-least must be",
    "at_most must be": "--at-most must be",
    "at_least must be": "--at-least must be",
    "guarantee must be one of": "--smallest must be one of",
    "must be a matrix or one of": "must be a file that ends in .csv or one of",
}


@dataclass(frozen=True, slots=True)
class Guarantees:
    """Guarantees as `tl.design` takes them, and which of them has several levels.

    Attributes
    ----------
    asked : levels as text, and pairs of them
    varied : the guarantee whose level a trade-off varies; None where none is asked for
    levels : its levels; a single one where they are to be chosen around it
    """

    asked: dict[str, Any]
    varied: str | None
    levels: tuple[str, ...]

    @property
    def single(self) -> bool:
        """Whether there is one mechanism to design: no guarantee has several levels."""
        return len(self.levels) < 2

    def traced(self) -> list[Any]:
        """The levels of the trade-off: those given, or evenly from a twentieth of the one given to twice it."""
        if not self.single:
            return [*self.levels]
        assert self.varied is not None
        middle = float(exact_level(self.levels[0], self.varied, rounding="down"))
        if not middle:
            raise InvalidInput(
                f"{option(self.varied)} must be positive for --curve, got 0; write {option(self.varied)} 0.5,1,2."
            )
        low, high = middle / 20, 2 * middle
        evenly = (low + (high - low) * step / (_POINTS - 1) for step in range(_POINTS))
        return [*dict.fromkeys(format_about(level, _DIGITS) for level in evenly)]


def option(name: str) -> str:
    """Write an argument as its option."""
    return f"--{name.replace('_', '-')}"


def read_guarantees(given: Mapping[str, str | None], *, curve: bool) -> Guarantees:
    """Read the guarantees; several levels of one of them are for a trade-off."""
    asked: dict[str, Any] = {}
    several: dict[str, list[str]] = {}
    for name, text in given.items():
        if text is None:
            continue
        parts = [part.strip() for part in read_parts(text, option(name))]
        if name in _PAIRS and len(parts) != 2:
            raise InvalidInput(
                f"{option(name)} must be a pair {_PAIRS[name]}, got {quoted(text)}; write {option(name)} 1,0.5."
            )
        asked[name] = tuple(parts) if name in _PAIRS else parts[0]
        if name in _LEVELS:
            several[name] = parts
    return _vary(asked, several, curve=curve)


def _vary(asked: dict[str, Any], levels: dict[str, list[str]], *, curve: bool) -> Guarantees:
    lists = [name for name, parts in levels.items() if len(parts) > 1]
    if not curve:
        if lists:
            raise InvalidInput(
                f"{option(lists[0])} must have one level, got {len(levels[lists[0]])}; add --curve for a trade-off."
            )
        return Guarantees(asked, None, ())
    chosen = lists or [*levels]
    if len(chosen) != 1:
        raise InvalidInput(
            f"--curve must have one guarantee with several levels, got {' and '.join(map(option, chosen)) or 'none'}; "
            "write --ldp 0.5,1,2."
        )
    (name,) = chosen
    return Guarantees(asked, name, tuple(levels[name]))


def require_pml(given: Mapping[str, object], guarantees: Guarantees, smallest: str | None) -> None:
    """Refuse options that say of which priors PML is, where there is none."""
    for name, value in given.items():
        if value is not None and "pml" not in {*guarantees.asked, smallest}:
            raise InvalidInput(f"{option(name)} must stand beside --pml, got no --pml; write --pml 1 too.")


def read_priors(path: Path, labels: Labels) -> PriorList:
    """Read a list of priors: a .csv file with the secrets in its first row, and a row for each prior."""
    from tightlip.model.matrix_file import read_conditional_file

    rows = read_conditional_file(path, labels, "--priors", "prior").matrix
    return PriorList([Prior(row, labels) for row in rows.tolist()])


def read_secret(path: Path, guarantees: Guarantees, smallest: str | None, labels: Labels) -> Channel:
    """Read P(x | s): a .csv file, or a channel file whose outputs are the prior's labels."""
    from tightlip.model.matrix_file import read_conditional_file

    if not {*guarantees.asked, smallest} & {*_ABOUT}:
        raise InvalidInput(
            f"--secret must stand beside one of {', '.join(map(option, _ABOUT))}, got none of them; they can be about "
            "a secret: write --pml 1 too."
        )
    if is_file(str(path)):
        return read_conditional_file(path, labels, "--secret", "value s")
    return read_channel_file(path).channel


def require_guarantee(found: Guarantees) -> None:
    """Refuse to design without a guarantee."""
    if not found.asked:
        raise InvalidInput(
            f"a guarantee must be given: one of {', '.join(option(name) for name in (*_LEVELS, *_PAIRS))}, got none; "
            "write --ldp 1."
        )


def require_one_utility(given: Mapping[str, str | None]) -> tuple[str, str]:
    """Tell which of the options that say what a mechanism is good for was given; it must be one."""
    named = [name for name, text in given.items() if text is not None]
    if len(named) != 1:
        raise InvalidInput(
            f"one of --loss, --gain and --utility must be given, got {' and '.join(map(option, named)) or 'none'}; "
            "write --loss hamming."
        )
    text = given[named[0]]
    assert text is not None
    return named[0], text


def is_file(text: str) -> bool:
    """Whether a loss or a gain is a file rather than a name."""
    return Path(text).suffix.lower() == ".csv"


def read_utility(name: str, text: str, secrets: Labels) -> dict[str, Any]:
    """Read a loss, a gain or a utility as `tl.design` takes it."""
    from tightlip.model.matrix_file import read_matrix_file

    if name == "utility" or not is_file(text):
        return {name: text.replace("-", "_") if name == "utility" else text}
    found = read_matrix_file(Path(text), secrets, option(name))
    return {name: found.rows, "outputs": found.outputs}


def read_target(
    name: str, text: str, at_most: str | None, at_least: str | None, unit: LeakageUnit
) -> dict[str, Any]:
    """Read what is to be reached, by the option that fits the utility; a mutual information in the unit asked for."""
    small = name == "loss" or (name == "utility" and text.replace("-", "_") == VARIANCE)
    fits, other = (at_most, at_least) if small else (at_least, at_most)
    wanted, wrong = ("--at-most", "--at-least") if small else ("--at-least", "--at-most")
    if fits is None or other is not None:
        raise InvalidInput(
            f"--smallest with {option(name)} must have {wanted}, got {'none' if other is None else wrong}; "
            f"write {wanted} 0.3."
        )
    python = {"loss": "loss_at_most", "gain": "gain_at_least"}.get(name, "at_most" if small else "at_least")
    target = number(fits, wanted)
    if unit == "bits" and name == "utility" and text.replace("-", "_") == INFORMATION:
        target = nats_of_bits(target)[1]  # the float above: what reaches it reaches the target
    return {python: target}


def refuse_target(at_most: str | None, at_least: str | None) -> None:
    """Refuse a target where no level is looked for."""
    given = [name for name, text in (("--at-most", at_most), ("--at-least", at_least)) if text is not None]
    if given:
        raise InvalidInput(
            f"{given[0]} must stand beside --smallest, got no --smallest; write --smallest ldp."
        )


def as_options(error: InvalidInput) -> str:
    """Write a message as the command line would say it."""
    message = str(error)
    for python, written in _IN_PYTHON.items():
        message = message.replace(python, written)
    if message.startswith("pml must have at most one of"):
        message = re.sub(r"\b(min_mass|priors|secret)\b", lambda found: option(found[0]), message)
    if _ARGUMENT.match(message):
        message = _ARGUMENT.sub(lambda found: option(found[0]), message)
    if message.startswith(("--utility must be", "--smallest must be")):
        message = re.sub(r"(?<=[a-z])_(?=[a-z])", "-", message)
    message = message.replace(" and envelope must not", " and --envelope must not")
    return re.sub(r"\bwrite (pml|ldp|pmc|lip|loss|gain)=", r"write --\1 ", message)
