"""tightlip audit: what a planned release of a table gives away, in words, numbers and a report."""

from __future__ import annotations

import csv
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tightlip import __version__
from tightlip.cli.arguments import Unit, read_level, read_probabilities
from tightlip.cli.output import print_json, print_text
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number

if TYPE_CHECKING:
    from tightlip.audit.sample import SampleMode
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table

_Settings = list[str] | None
_COLUMN = "COLUMN=VALUE; repeat for several columns."


def audit(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(help="A CSV, Parquet, DuckDB or SQLite file, or postgresql://… with --table.")
    ],
    secret: Annotated[str | None, typer.Option(help="Secret columns, comma-separated.")] = None,
    release: Annotated[str | None, typer.Option(help="Columns to be released, comma-separated.")] = None,
    policy: Annotated[Path | None, typer.Option(help="The planned release as a TOML file instead.")] = None,
    name: Annotated[str | None, typer.Option("--table", help="Which table of a database.")] = None,
    bins: Annotated[
        _Settings, typer.Option(help=f"Numbers in bins of a width, or cut at edges: {_COLUMN}")
    ] = None,
    prefix: Annotated[_Settings, typer.Option(help=f"The first characters only: {_COLUMN}")] = None,
    top: Annotated[_Settings, typer.Option(help=f"Larger numbers as one value: {_COLUMN}")] = None,
    bottom: Annotated[_Settings, typer.Option(help=f"Smaller numbers as one value: {_COLUMN}")] = None,
    mapping: Annotated[
        _Settings, typer.Option("--map", help="Groups from a file: COLUMN=FILE[:LEVEL].")
    ] = None,
    suppress: Annotated[_Settings, typer.Option(help="A column that is released as * throughout.")] = None,
    randomize: Annotated[
        _Settings, typer.Option(help=f"Randomised response, level in nats: {_COLUMN}")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option("--min-count", help="Cells of fewer rows are released as one.")
    ] = None,
    delta: Annotated[
        str, typer.Option(help="The probability of a larger leak that may be accepted.")
    ] = "0.01",
    budget: Annotated[
        str | None,
        typer.Option(help="Largest leakage allowed, in nats; log(3) is exact. Exit status 1 if not met."),
    ] = None,
    population: Annotated[
        bool, typer.Option("--population/--sample", help="The table is everyone, or a random sample of them.")
    ] = True,
    confidence: Annotated[
        str | None, typer.Option(help="With --sample: all bounds hold together with this probability (0.95).")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the report to one HTML file that works offline.")
    ] = None,
    risks: Annotated[
        Path | None, typer.Option(help="Write the risk of every row to a .csv or .parquet file.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="With --risks: a column to keep beside each risk.")
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show secret values and small cells, not codes.")
    ] = False,
    unit: Annotated[Unit, typer.Option(help="Unit of the printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """What a planned release of a table gives away about its secret columns."""
    from tightlip.audit.run import audit as run_audit
    from tightlip.report.audit_json import audit_record
    from tightlip.report.audit_text import audit_text
    from tightlip.table.source import open_table

    _require_together(population=population, confidence=confidence, risks=risks, id_column=id_column)
    inputs = {"the table": [table], "the policy": [str(policy or "")], "a mapping": _mapping_files(mapping)}
    _check_outputs([path for path in (html, risks) if path is not None], inputs, force=force)
    recodings = {"bins": bins, "prefix": prefix, "top": top, "bottom": bottom, "map": mapping}
    recodings |= {"suppress": suppress, "randomize": randomize}
    plan = _plan(policy, secret, release, min_count, recodings)
    with _working() as say:
        say("Counting and measuring")
        opened = open_table(table, table=name)
        found = run_audit(
            opened,
            policy=plan,
            delta=_delta(delta),
            budget=None if budget is None else read_level(budget, "budget"),
            sample=None if population else _sample_mode(confidence),
        )
        record = audit_record(
            found,
            table=_public(table),
            command=_command(context),
            unit=unit.value,
            show_values=show_values,
            curve=json or html is not None,
            version=__version__,
        )
        say("Writing")
        _write(record, opened, plan, html=html, risks=risks, id_column=id_column, force=force)
    print_json(record) if json else print_text(audit_text(record))
    if found.verdict is False:
        raise typer.Exit(1)


def _write(
    record: dict[str, Any],
    table: Table,
    plan: Policy,
    *,
    html: Path | None,
    risks: Path | None,
    id_column: str | None,
    force: bool,
) -> None:
    """The page and the risks, both or none: the page takes its name when the risks are written."""
    from tightlip.audit.risk import cell_risks
    from tightlip.report.audit_html import audit_html
    from tightlip.table.counts import count_cells
    from tightlip.table.risk import write_risks
    from tightlip.table.whole_file import whole_file

    with ExitStack() as stack:
        if html is not None:
            page = audit_html(record)
            stack.enter_context(whole_file(html, force=force)).write_text(page, encoding="utf-8")
        if risks is not None:
            found = cell_risks(count_cells(table, plan), plan)
            write_risks(table, plan, found, risks, id_column=id_column, force=force)


def _delta(text: str) -> Fraction:
    """One probability."""
    found = read_probabilities(text)
    if len(found) > 1:
        raise InvalidInput(f"delta must be one probability, got {quoted(text)}.")
    return found[0]


def _sample_mode(confidence: str | None) -> SampleMode:
    from tightlip.audit.sample import SampleMode

    return SampleMode() if confidence is None else SampleMode(float(number(confidence, "confidence")))


def _check_outputs(paths: list[Path], inputs: Mapping[str, Sequence[str]], *, force: bool) -> None:
    """Refuse, before any work, a name that is taken, used twice, is that of a file to be read or is in no folder."""
    from tightlip.files import require_free

    for place, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:place]]:
            raise InvalidInput(f"{path} is asked for twice; give each output a name of its own.")
        for what, files in inputs.items():
            if any(file and os.path.exists(file) and path.exists() and path.samefile(file) for file in files):
                raise InvalidInput(f"{path} must not be {what} itself; choose another name.")
        if not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
        require_free(path, force=force)


def _mapping_files(settings: _Settings) -> list[str]:
    """What follows the = in COLUMN=FILE and COLUMN=FILE:LEVEL, with and without a level."""
    named = [text.rpartition("=")[2] for text in settings or []]
    return [file for text in named for file in (text, text.rpartition(":")[0])]


def _plan(
    policy: Path | None,
    secret: str | None,
    release: str | None,
    min_count: int | None,
    recodings: dict[str, _Settings],
) -> Policy:
    """The planned release, from the policy file or from the flags."""
    from tightlip.table.policy import Policy

    if policy is not None:
        given = {"secret": secret, "release": release, "min-count": min_count, **recodings}
        for flag, value in given.items():
            if value is not None:
                raise InvalidInput(f"--{flag} must not be given with --policy; write it into {policy}.")
        return Policy.from_toml(policy)
    if secret is None or release is None:
        raise InvalidInput("--secret and --release must be given, or --policy; name the columns.")
    flags = {"mapping" if flag == "map" else flag: values or () for flag, values in recodings.items()}
    return Policy.from_flags(_columns(secret), _columns(release), min_count=min_count, **flags)


def _columns(text: str) -> list[str]:
    """Names separated by commas; a name with a comma in it is put in double quotes.

    >>> _columns('age, zip,"income, net"')
    ['age', 'zip', 'income, net']
    """
    rows = list(csv.reader([text], skipinitialspace=True))
    names = [name.strip() for row in rows for name in row]
    if not names or not all(names):
        raise InvalidInput(f"columns must be names separated by commas, got {quoted(text)}.")
    return names


def _require_together(
    *, population: bool, confidence: str | None, risks: Path | None, id_column: str | None
) -> None:
    if population and confidence is not None:
        raise InvalidInput(
            "--confidence must be given with --sample; of a whole population the numbers are exact."
        )
    if id_column is not None and risks is None:
        raise InvalidInput("--id must be given with --risks; it names the column to keep beside each risk.")
    if risks is not None and not population:
        raise InvalidInput(
            "--risks must not be given with --sample; shares within a sample's cells bound nothing."
        )
    if risks is not None and risks.suffix.lower() not in (".csv", ".parquet"):
        raise InvalidInput(f"--risks must end in .csv or .parquet, got {risks.name}; choose one of these.")


def _command(context: typer.Context) -> str:
    """The command line that was given; defaults, passwords and leave to overwrite are left out."""
    words = ["tightlip", "audit"]
    for option in context.command.params:
        if option.name == "force":
            continue
        value = context.params.get(str(option.name))
        if value in (None, [], option.default):
            continue
        if option.param_type_name == "argument":
            words.append(_public(str(value)))
        elif isinstance(value, bool):
            words.append(option.opts[0] if value else option.secondary_opts[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [option.opts[0], str(getattr(one, "value", one))]
    return shlex.join(words)


def _public(address: str) -> str:
    """A table's address without its password.

    >>> _public("postgresql://me:p@ss/word@host/db"), _public("patients.csv")
    ('postgresql://me:***@host/db', 'patients.csv')
    """
    hidden = re.sub(r"(://[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1***", hidden)


@contextmanager
def _working() -> Iterator[Callable[[str], None]]:
    """What is being done and for how long, on a terminal; a function to say the next step."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda step: bar.update(task, description=step)
