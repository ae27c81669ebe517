"""The commands of `tightlip`: 0 done, 1 a budget or check did not hold, 2 bad input (one line on stderr)."""

from __future__ import annotations

import difflib
import os
import re
import sys
from typing import Annotated, Any

import typer

from tightlip import __version__
from tightlip.cli.arguments import Command, with_manners
from tightlip.cli.audit import audit
from tightlip.cli.contraction import contraction
from tightlip.cli.convert import convert
from tightlip.cli.design import design
from tightlip.cli.envelope import envelope
from tightlip.cli.interrupt import Interrupted, tell_interrupted
from tightlip.cli.interrupt import run as run
from tightlip.cli.ledger import ledger
from tightlip.cli.measure import measure
from tightlip.cli.output import complain, use_readable_width
from tightlip.cli.page import page
from tightlip.cli.plan import plan
from tightlip.cli.protect import protect
from tightlip.cli.release import release
from tightlip.cli.sml import sml
from tightlip.cli.verify import verify
from tightlip.errors import TightlipError

app = typer.Typer(
    name="tightlip",
    help="What a data release gives away about a secret.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for command in (audit, protect, page, measure, design, envelope, verify, sml, contraction, plan, convert):
    app.command(cls=Command)(with_manners(command))
app.add_typer(release, name="release")
app.add_typer(ledger, name="ledger")

# typer brings its own copy of click or uses the installed one, depending on its version
_USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
_NEAR = 0.8  # how like an option another must be to be proposed; 1 is equal
_COUNTS_IN_PYTHON = re.compile(r"use (Prior|Channel)\.from_counts for counts")


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"tightlip {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """What a data release gives away about a secret."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    use_readable_width()
    try:
        status = app(args=arguments or ["--help"], prog_name="tightlip", standalone_mode=False)
    except _USAGE_ERROR as error:
        complain(_with_advice(error))
        return 2
    except BrokenPipeError:  # the reader has had enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except OSError as error:
        complain(f"cannot write the output: {error.strerror or error}.")
        return 2
    except (TightlipError, MemoryError) as error:
        complain(
            _COUNTS_IN_PYTHON.sub("divide counts by their sum", str(error))
            or "not enough memory for this input."
        )
        return 2
    except (Interrupted, KeyboardInterrupt) as error:
        return tell_interrupted(error)
    except typer.Abort as error:  # click makes it of an EOFError too
        if not isinstance(error.__cause__, EOFError):
            return tell_interrupted(error)
        complain("the input ended too early; check that it is whole.")
        return 2
    return status if isinstance(status, int) else 0


def _with_advice(error: Any) -> str:
    """What is wrong with the command line, and which help to read."""
    context = getattr(error, "ctx", None)
    if getattr(error, "possibilities", None):
        error.possibilities = difflib.get_close_matches(error.option_name, error.possibilities, cutoff=_NEAR)
    message = error.format_message()
    stop = "" if message.endswith((".", "?")) else "."
    return f"{message}{stop} Try '{context.command_path if context else 'tightlip'} --help'."
