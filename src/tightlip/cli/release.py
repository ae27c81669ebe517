"""tightlip release: write what a policy publishes of a table, or draw a histogram whose secret is protected."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tightlip.cli.arguments import Command, Unit, read_level, typed_command, with_manners
from tightlip.cli.audit_options import (
    Address,
    LedgerFile,
    MappingsAnywhere,
    Missing,
    PlanFlags,
    TableName,
    open_ledger,
)
from tightlip.cli.audit_options import Where as WhereRows
from tightlip.cli.output import complain, print_json, print_text, remark, stage
from tightlip.cli.protect_options import Keep, Key, OutTable, ReceiptFile, SeedForTests, WithSecret
from tightlip.cli.table_input import open_input
from tightlip.errors import BudgetExceeded, InvalidInput, quoted
from tightlip.files import prepare_output, require_apart
from tightlip.histogram.secret import Except, Ratio, RatioDifference, Share, TableSecret, Where

release = typer.Typer(
    help="Release a table: by a policy, or so that a statistic of it stays secret.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Conditions = list[str]


class Mechanism(StrEnum):
    """Mechanisms on histograms."""

    qm = "qm"
    rr = "rr"
    maxl = "maxl"


@release.callback()
def about() -> None:
    """Release a table: by a policy, or so that a statistic of it stays secret."""


@release.command(cls=Command)
@with_manners
def histogram(
    table: Address,
    columns: Annotated[str, typer.Option(metavar="COLUMNS", help="Columns to release, comma-separated.")],
    secret: Annotated[
        _Conditions,
        typer.Option(
            metavar="CONDITION",
            help="The category whose share is secret: COLUMN=VALUE[|VALUE] or COLUMN!=VALUE; repeat to narrow.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The CSV file to write.")],
    name: TableName = None,
    within: Annotated[
        _Conditions | None,
        typer.Option(metavar="CONDITION", help="The secret is the share within these rows, not all."),
    ] = None,
    compared_with: Annotated[
        _Conditions | None,
        typer.Option(
            metavar="CONDITION", help="The secret is the share --within less the share within these rows."
        ),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(
            metavar="STEP", help="Round a ratio or a difference down to multiples of this, like 1/20."
        ),
    ] = None,
    mechanism: Annotated[
        Mechanism, typer.Option(help="Quantization, randomised response or MaxL.")
    ] = Mechanism.qm,
    bin_size: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Secret values per bin, for qm and maxl.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Level in nats, for rr; log(3) is exact.")
    ] = None,
    feasible: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A file of the feasible combinations; or `values`: all combinations of the values seen; "
            "or `observed`: the combinations seen.",
        ),
    ] = "values",
    unit: Annotated[Unit, typer.Option(help="Unit of the printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    spreadsheet_safe: Annotated[
        bool, typer.Option("--spreadsheet-safe", help="Put ' before cells that a spreadsheet would run.")
    ] = False,
    seed_for_tests: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Reproducible and therefore unprotected; for tests only."),
    ] = None,
) -> None:
    """Draw a histogram with the secret protected, and write its rows."""
    from tightlip.histogram.release import release_histogram
    from tightlip.report.release import release_record, release_text

    prepare_output(out, force=force)
    require_apart([out], {"the table": [table], "the list of feasible combinations": [feasible]})
    names = [column.strip() for column in columns.split(",")]
    protected = _secret(secret, within, compared_with, resolution)
    level = None if epsilon is None else read_level(epsilon)
    cells = _feasible(feasible, names)
    stage("counting")
    with open_input(table, table=name) as opened:
        drawn = release_histogram(
            opened,
            names,
            protected,
            mechanism=mechanism.value,
            bin_size=bin_size,
            epsilon=level,
            feasible=cells,
            seed_for_tests=seed_for_tests,
        )
    record = release_record(drawn, unit=unit.value) | {"out": str(out)}
    drawn.write_csv(out, force=force, spreadsheet_safe=spreadsheet_safe)
    print_json(record) if json else print_text(release_text(record), wrote={"the rows": str(out)})
    if seed_for_tests is not None:
        complain("warning: drawn with --seed-for-tests; whoever knows the seed can undo the protection.")
    if drawn.table.has_formulas() and not spreadsheet_safe:
        remark("some cells begin with = + - or @; add --spreadsheet-safe if people open it in a spreadsheet.")


@release.command("table", cls=Command)
@with_manners
def whole_table(
    context: typer.Context,
    table: Address,
    policy: Annotated[Path, typer.Option(metavar="FILE", help="What is published: a policy as a TOML file.")],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Write the rows: .csv, .parquet, .duckdb, .sqlite, or a new table of postgresql://….",
        ),
    ],
    name: TableName = None,
    out_table: OutTable = None,
    receipt: ReceiptFile = None,
    keep: Keep = None,
    with_secret: WithSecret = False,
    ledger: LedgerFile = None,
    key: Key = None,
    mappings_anywhere: MappingsAnywhere = False,
    where: WhereRows = None,
    missing: Missing = None,
    unit: Annotated[Unit, typer.Option(help="Unit of the printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    seed_for_tests: SeedForTests = None,
) -> None:
    """Write what a policy publishes of every row, read back and checked, with a receipt.

    Exit status 1, and nothing written, where a policy of `tightlip protect`
    would exceed on this table the budget that it was made for, or everything
    in the ledger together its budget.

    Example: tightlip release table patients.csv --policy plan.toml --out
    safe.parquet
    """
    from tightlip.auditing.releasing import Facts, write_release
    from tightlip.report.table_release import table_release_record, table_release_text
    from tightlip.table.flags import column_names
    from tightlip.table.outputs import output_of

    output = output_of(out, out_table)
    beside = receipt or output.receipt
    require_apart([output.path, beside], {"the table": [table], "the policy": [policy]})
    output.prepare(force=force)
    prepare_output(beside, force=force)
    flags = {"where": where, "missing": missing}
    book = open_ledger(ledger, write=True)
    if book is None and key is not None:
        raise InvalidInput("--key must be given with --ledger; it names what is charged there.")
    plan = PlanFlags(
        policy, mappings_anywhere, None, None, None, flags, None if book is None else book.terms
    ).plan()
    facts = Facts(command=typed_command(context, "release", "table"), files={"policy": policy})
    stage("counting and writing")
    try:
        with open_input(table, table=name) as opened:
            done = write_release(
                opened,
                plan,
                out,
                receipt,
                facts,
                None if book is None else book.charge(key=key, command=facts.command),
                out_table=out_table,
                keep=[] if keep is None else column_names(keep),
                with_secret=with_secret,
                force=force,
                seed_for_tests=seed_for_tests,
            )
    except BudgetExceeded as error:
        complain(str(error))
        raise typer.Exit(1) from error
    record = table_release_record(done, unit=unit.value)
    wrote = {"the rows": record["out"], "the receipt": record["receipt"]}
    print_json(record) if json else print_text(table_release_text(record), wrote=wrote)
    if record["unsafe"]:
        complain(f"warning: {record['unsafe']}.")


def _secret(
    part: _Conditions, within: _Conditions | None, other: _Conditions | None, resolution: str | None
) -> TableSecret:
    if not within:
        if other or resolution is not None:
            raise InvalidInput("--within must be given with --compared-with or --resolution, got none.")
        return Share(_where(part))
    if not other:
        return Ratio(_where(part), _where(within), resolution=resolution)
    return RatioDifference(_where(part), _where(within), _where(other), resolution=resolution)


def _where(conditions: _Conditions) -> Where:
    """Conditions as text: COLUMN=VALUE, COLUMN=VALUE|VALUE or COLUMN!=VALUE."""
    where: dict[str, object] = {}
    for text in conditions:
        column, equals, value = text.partition("=")
        if not equals or not column.rstrip("!") or column.rstrip("!") in where:
            raise InvalidInput(
                f"a condition must be COLUMN=VALUE or COLUMN!=VALUE, each column once, got {quoted(text)}."
            )
        values = value.split("|")
        where[column.removesuffix("!")] = Except(*values) if column.endswith("!") else values
    return where


def _feasible(given: str, columns: list[str]) -> Any:
    """The feasible combinations as `tabulate` takes them."""
    from tightlip.histogram.table import tabulate

    if given in ("values", "observed"):
        return None if given == "values" else given
    book = tabulate(Path(given), columns, feasible="observed").domain
    return list(book.cells(np.arange(book.size)))
