"""Read the arguments that several commands share, text, files or standard input, with one clear error."""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tightlip import reading
from tightlip.arguments import public_address
from tightlip.cli.interrupt import Interrupted
from tightlip.cli.output import manner
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel_file import ChannelFile, PriorFile, channel_file_of, prior_file_of
from tightlip.model.jsonio import parse_json
from tightlip.numeric.budget import Allowed
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, exact_level


class Unit(StrEnum):
    """Units of leakage."""

    nats = "nats"
    bits = "bits"


def read_levels(text: str, argument: str = "epsilon") -> list[Nats | Fraction]:
    """Read levels separated by commas, all exact: what `exact_level` reads.

    >>> read_levels("0.5,log(3)")
    [Fraction(1, 2), 1.0986122886681098 nats]
    """
    return [read_level(part, argument) for part in read_parts(text, argument)]


def read_level(text: str, argument: str = "epsilon") -> Nats | Fraction:
    """Read one level, perhaps infinite; a number without unit is in nats."""
    found = exact_level(text, argument, allow_infinite=True)
    assert isinstance(found, (Nats, Fraction))
    return found


def read_budgets(given: Sequence[str], secrets: Sequence[str], option: str = "--budget") -> list[Any]:
    """Read budgets that must all be kept: LEVEL, COLUMN=LEVEL or COLUMN=VALUE=LEVEL; a level says what it is.

    Names and values may have "=" in them: the level is behind the last one, and the longest name that fits counts.

    >>> [found] = read_budgets(["ill=flu=50%"], ["ill"])
    >>> found["ill"]["flu"].kind
    'cap'
    """
    found: list[Any] = []
    for text in given:
        head, equals, level = text.rpartition("=")
        if equals and not head:
            raise InvalidInput(
                f"{option} must be LEVEL, COLUMN=LEVEL or COLUMN=VALUE=LEVEL, got {quoted(text)}; name the column."
            )
        column = named_column(head, secrets, f"{option} secret column") if equals else None
        allowed = Allowed.read(level, option, bare=False)
        if column is None:
            found.append(allowed)
        elif head == column:
            found.append({column: allowed})
        else:
            found.append({column: {head.removeprefix(f"{column}="): allowed}})
    return found


def named_column(text: str, known: Sequence[str], what: str) -> str:
    """Find which column a setting COLUMN or COLUMN=… is of: the longest name that fits, since names may have "=".

    Raises
    ------
    InvalidInput
        When it is none of them, with those that look like it.
    """
    from tightlip.table.policy import require_known

    fitting = [name for name in known if text == name or text.startswith(f"{name}=")]
    if not fitting:
        require_known(text.partition("=")[0], known, what)
    return max(fitting, key=len)


def read_probabilities(text: str, argument: str = "delta", *, or_one: bool = False) -> list[Fraction]:
    """Probabilities strictly between 0 and 1, or 1 too, separated by commas, exact.

    >>> read_probabilities("0.1,1/3")
    [Fraction(1, 10), Fraction(1, 3)]
    """
    found = [Fraction(number(part, argument)) for part in read_parts(text, argument)]
    range_ = "above 0 and at most 1" if or_one else "strictly between 0 and 1"
    for probability in found:
        if not 0 < probability < 1 and not (or_one and probability == 1):
            raise InvalidInput(
                f"{argument} must be {range_}, got {format_exactly(probability)}; write 0.05 for 5 %."
            )
        if probability < sys.float_info.min:
            raise InvalidInput(
                f"{argument} must be at least {sys.float_info.min:.3g}, got {format_exactly(probability)}, "
                "which would be shown as 0; give a larger one."
            )
    return found


def read_parts(text: str, argument: str) -> list[str]:
    """Split numbers that are separated by commas; none may be missing."""
    parts = text.split(",")
    if not all(part.strip() for part in parts):
        raise InvalidInput(
            f"{argument} must be one or more numbers separated by commas, got {quoted(text)}; "
            "write a number on each side of every comma."
        )
    return parts


_Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print the verdict alone, or nothing where there is none.")
]
_Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Tell each stage and its seconds on standard error.")
]


def with_manners(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --quiet and --verbose, which only `output` has to know of."""
    taken = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in (("quiet", _Quiet), ("verbose", _Verbose))
    ]

    @functools.wraps(command)
    def run(*arguments: Any, quiet: bool = False, verbose: bool = False, **options: Any) -> None:
        if quiet and verbose:
            raise InvalidInput("--quiet must not be given with --verbose; drop one of them.")
        with manner(quiet=quiet, verbose=verbose):
            command(*arguments, **options)

    signature = taken.replace(parameters=[*taken.parameters.values(), *added])
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return run


class Command(TyperCommand):
    """A command whose help speaks of what to write, not of Python's types."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; of an interrupt different versions of click make different things, all silent."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters with the names that the help shows for what they take."""
        params = super().get_params(ctx)
        for param in params:
            if param.param_type_name == "argument":
                param.metavar = param.metavar or str(param.name).upper()
            elif getattr(param, "is_flag", False):
                param.metavar = ""
        return list(params)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line without the braces that some versions of typer put around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def read_channel_file(path: Path) -> ChannelFile:
    """Read and check a channel file; - is standard input."""
    return channel_file_of(parse_json(read_text(path), str(path)), str(path))


def read_prior_file(path: Path) -> PriorFile:
    """Read and check a channel file that needs only a prior; - is standard input."""
    return prior_file_of(parse_json(read_text(path), str(path)), str(path))


def read_text(path: Path) -> str:
    """Read the text of a channel, a study or a certificate; - is standard input."""
    return reading.read_standard_input() if str(path) == "-" else reading.read_text(path, most=reading.LARGE)


def typed_command(context: typer.Context, *names: str) -> str:
    """Write the command line that was given; defaults, passwords, leave to overwrite and manners are left out."""
    words = ["tightlip", *names]
    for given in context.command.params:
        if given.name in ("force", "quiet", "verbose"):
            continue
        value = context.params.get(str(given.name))
        if value in (None, [], given.default):
            continue
        if given.param_type_name == "argument":
            words.append(public_address(str(value)))
        elif isinstance(value, bool):
            words.append(given.opts[0] if value else given.secondary_opts[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [given.opts[0], public_address(str(getattr(one, "value", one)))]
    return shlex.join(words)
