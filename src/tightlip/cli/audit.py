"""tightlip audit: what a planned release of a table gives away, in words, numbers and a report."""

from __future__ import annotations

import csv
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
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
_REPEAT = "; repeat for several columns."


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
        _Settings, typer.Option(help=f"Bins of a width, age=10, or cut at edges, income=1000,2000{_REPEAT}")
    ] = None,
    prefix: Annotated[_Settings, typer.Option(help=f"The first characters only: zip=3{_REPEAT}")] = None,
    top: Annotated[
        _Settings, typer.Option(help=f"This number and larger ones as one value: age=90{_REPEAT}")
    ] = None,
    bottom: Annotated[
        _Settings, typer.Option(help=f"This number and smaller ones as one value: age=18{_REPEAT}")
    ] = None,
    mapping: Annotated[
        _Settings,
        typer.Option("--map", help=f"Groups from a file, COLUMN=FILE[:LEVEL]: job=jobs.csv:2{_REPEAT}"),
    ] = None,
    suppress: Annotated[
        _Settings, typer.Option(help=f"A released column that shows * for everybody{_REPEAT}")
    ] = None,
    randomize: Annotated[
        _Settings,
        typer.Option(help=f"Randomised response at a level in nats: sex=1.5{_REPEAT}"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option("--min-count", help="Cells of fewer people are hidden: released together as one."),
    ] = None,
    delta: Annotated[
        str, typer.Option(help="The share of people for whom a larger leak may be accepted: 0.01 is 1 %.")
    ] = "0.01",
    budget: Annotated[
        str | None,
        typer.Option(
            help="Largest leakage allowed, in nats: log(3) allows a factor of 3. Exit status 1 if not met."
        ),
    ] = None,
    population: Annotated[
        bool, typer.Option("--population/--sample", help="The table is everyone, or a random sample of them.")
    ] = True,
    confidence: Annotated[
        str | None,
        typer.Option(help="With --sample: all bounds hold together with this probability (default 0.95)."),
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
    unit: Annotated[
        Unit,
        typer.Option(help="Unit of every printed leakage; --budget stays in nats."),
    ] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """What a planned release of a table gives away about its secret columns.

    A cell is a combination of released values. Its leakage is the logarithm
    of the largest factor by which seeing it raises the probability of a
    secret: a budget of log(2) lets no probability more than double.

    Example: tightlip audit patients.csv --secret disease --release age,zip
    --bins age=10 --prefix zip=3 --budget "log(2)" --html report.html
    """
    from tightlip.audit.run import audit as run_audit
    from tightlip.report.audit_json import audit_record
    from tightlip.report.audit_text import audit_text
    from tightlip.table.source import open_table

    _check_outputs([path for path in (html, risks) if path is not None], table=table, force=force)
    _require_together(
        population=population, confidence=confidence, html=html, risks=risks, id_column=id_column
    )
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
    if "," in text:
        raise InvalidInput(
            f"delta must be one probability, got {quoted(text)}; write it with a point, like 0.05."
        )
    return read_probabilities(text)[0]


def _sample_mode(confidence: str | None) -> SampleMode:
    from tightlip.audit.sample import SampleMode

    return SampleMode() if confidence is None else SampleMode(float(number(confidence, "confidence")))


def _check_outputs(paths: list[Path], *, table: str, force: bool) -> None:
    """Refuse, before any work, a name that is taken, used twice, is the table's own or is in no folder."""
    from tightlip.files import require_free

    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise InvalidInput(f"{path} is asked for twice; give each output a name of its own.")
        if os.path.exists(table) and path.exists() and path.samefile(table):
            raise InvalidInput(f"{path} must not be the table itself; choose another name.")
        if not path.parent.is_dir():
            raise InvalidInput(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
        require_free(path, force=force)


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
    """Names separated by commas; a name with a comma in it, or a space at its start, is put in double quotes.

    >>> _columns('age, zip,"income, net"," sex"')
    ['age', 'zip', 'income, net', ' sex']
    """
    rows = list(csv.reader([text], skipinitialspace=True))
    names = [name for row in rows for name in row]
    if not names or not all(name.strip() for name in names):
        raise InvalidInput(f"columns must be names separated by commas, got {quoted(text)}.")
    return names


def _require_together(
    *, population: bool, confidence: str | None, html: Path | None, risks: Path | None, id_column: str | None
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
    if html is not None and html.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"--html must end in .html, got {html.name}; browsers know a page by it.")


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

    >>> _public("postgresql://me:secret@host/db"), _public("patients.csv")
    ('postgresql://me:***@host/db', 'patients.csv')
    """
    hidden = re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:***@", address)
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
