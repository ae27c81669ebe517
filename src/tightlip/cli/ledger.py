"""tightlip ledger: what was released of a table so far, and what is left of its budget."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli import audit_options as option
from tightlip.cli import protect_options as own
from tightlip.cli.arguments import Command, Unit, read_budgets, read_level, typed_command, with_manners
from tightlip.cli.audit_options import Force, Html, Json, LeakageUnit
from tightlip.cli.output import complain, print_json, print_text
from tightlip.cli.table_input import open_input
from tightlip.errors import InvalidInput, LedgerInvalid

ledger = typer.Typer(
    help="Keep the account of everything released of a table.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LedgerFile = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.")]
TableAddress = Annotated[
    str, typer.Option("--table", metavar="TABLE", help="The table: a file, or postgresql://… with --name.")
]
TableName = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", help="Which table of a database, or sheet of a workbook."),
]
Level = Annotated[str | None, typer.Option(metavar="LEVEL", help="Level in nats; log(3) is exact.")]


@ledger.callback()
def about() -> None:
    """Keep the account of everything released of a table."""


@ledger.command(cls=Command)
@with_manners
def show(
    context: typer.Context,
    file: LedgerFile,
    html: Html = None,
    unit: LeakageUnit = Unit.nats,
    json: Json = False,
    force: Force = False,
) -> None:
    """What all releases give away together, what is left, and every release.

    The table is not needed. Exit status 1 if it is not known that the
    budget is kept: it is exceeded, or a release was not measured.

    Example: tightlip ledger show patients.ledger --html ledger.html
    """
    from tightlip.files import prepare_output
    from tightlip.ledger import Ledger
    from tightlip.report.ledger import check_page, ledger_record, ledger_text, write_page

    if html is not None:
        check_page(html, file, "--html")
        prepare_output(html, force=force)
    with Ledger(file, write=False) as opened:
        report = ledger_record(opened, unit=unit.value, command=typed_command(context, "ledger", "show"))
    if html is not None:
        write_page(report, html, force=force)
        report = replace(report, written={"html": str(html)})
    print_json(report.to_dict()) if json else print_text(ledger_text(report), verdict=report.headline)
    if report.kept is False:
        raise typer.Exit(1)


@ledger.command(cls=Command)
@with_manners
def create(
    file: LedgerFile,
    table: TableAddress,
    secret: option.Secret = None,
    budget: own.Budgets = None,
    name: TableName = None,
    not_secret: option.NotSecret = None,
    where: option.Where = None,
    missing: option.Missing = None,
    jointly: option.Jointly = False,
    delta: option.Delta = None,
    json: Json = False,
) -> None:
    """Create the ledger of a table: what is secret, and what may be said of it by everything together.

    Example: tightlip ledger create study.ledger --table patients.csv --secret
    disease --budget "factor 3"
    """
    from rich.text import Text

    from tightlip.ledger import Ledger
    from tightlip.report.ledger_words import created_words
    from tightlip.table.flags import keywords, read_secret
    from tightlip.table.plan import planned
    from tightlip.table.policy import read_secrets

    if not secret or not budget:
        raise InvalidInput(
            "--secret and --budget must be given; name the columns, and what may be said of them."
        )
    named: list[Any] = [one for text in secret for one in read_secret(text)]
    allowed = read_budgets(budget, [item.column for item in read_secrets(named)])
    terms = keywords(missing=missing)
    if not_secret:
        named = [*planned(named, ["nothing"], **keywords(not_secret=not_secret)).secrets]
    with open_input(table, table=name) as opened:
        made = Ledger.create(
            file, opened, named, allowed, delta=delta, where=where or (), jointly=jointly, **terms
        )
    words = created_words(made)
    print_json({"ledger": str(file), "id": made.id}) if json else print_text(Text(words), verdict=words)


@ledger.command(cls=Command)
@with_manners
def verify(
    file: LedgerFile,
    receipt: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A receipt that the ledger must know of; repeat for several."),
    ] = None,
    json: Json = False,
) -> None:
    """Check that no entry was changed or lost. Exit status 1 if one was.

    An older copy that was put back is told from the receipts alone: give
    those of the last releases.
    """
    from rich.text import Text

    from tightlip.ledger import Ledger
    from tightlip.report.ledger_words import verified_words

    try:
        with Ledger(file, write=False) as opened:
            opened.verify(receipt or ())
            head, count = opened.entries()[-1], len(receipt or ())
    except LedgerInvalid as error:
        complain(str(error))
        raise typer.Exit(1) from error
    words = verified_words(head, count)
    record = {"valid": True, "entries": head.seq, "head": head.digest, "receipts": count}
    print_json(record) if json else print_text(Text(words), verdict=words)


@ledger.command(cls=Command)
@with_manners
def settle(
    file: LedgerFile,
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Its number or its key.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="What is known of it; it is recorded.")],
    released: Annotated[
        bool | None,
        typer.Option(
            "--released/--not-released", help="Whether it got out; if not, it is no longer counted."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Settle a release that was reserved and never confirmed.

    Only a person can know whether a file got out of which the confirmation
    is missing. Until it is settled it counts as released.
    """
    from rich.text import Text

    from tightlip.ledger import Ledger
    from tightlip.report.ledger_words import state_words

    if released is None:
        raise InvalidInput("--released or --not-released must be given; say which.")
    with Ledger(file) as opened:
        found = opened.settle(release, released=released, reason=reason)
    words = f"Release {found.number}: {state_words(found)}."
    print_json({"release": found.number, "state": found.state}) if json else print_text(
        Text(words), verdict=words
    )


@ledger.command(cls=Command)
@with_manners
def declare(
    file: LedgerFile,
    release: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    ldp: Level = None,
    pml: Level = None,
    pmc: Level = None,
    lip: Level = None,
    maximal_leakage: Level = None,
    min_mass_pml: Level = None,
    sml: Level = None,
    min_mass: Annotated[str | None, typer.Option(metavar="MASS", help="With --min-mass-pml.")] = None,
    statistic: Annotated[
        str | None, typer.Option(metavar="TEXT", help="With --sml: what it is about.")
    ] = None,
    acts_on: Annotated[
        str, typer.Option(metavar="WHAT", help="record, secret or unknown; see docs/ledger.md.")
    ] = "record",
    adaptive: Annotated[
        str,
        typer.Option(metavar="HOW", help="no, every history or yes: chosen after looking at other releases?"),
    ] = "no",
    table: Annotated[
        str | None, typer.Option("--table", metavar="TABLE", help="Measure the account anew with the table.")
    ] = None,
    name: TableName = None,
    json: Json = False,
) -> None:
    """Record a release about the same people that is known by its guarantees only.

    Exit status 1 if it is not known that the budget is kept with it.

    Example: tightlip ledger declare study.ledger survey --ldp "log(2)"
    --table patients.csv
    """
    from rich.text import Text

    from tightlip.ledger import Ledger
    from tightlip.report.ledger_words import recorded_words

    levels = {"ldp": ldp, "pml": pml, "pmc": pmc, "lip": lip, "maximal_leakage": maximal_leakage}
    levels |= {"min_mass_pml": min_mass_pml, "sml": sml}
    given: Any = {
        kind: read_level(level, f"--{kind.replace('_', '-')}")
        for kind, level in levels.items()
        if level is not None
    }
    if not given:
        raise InvalidInput("a guarantee must be given, got none; write --ldp LEVEL, or another kind.")
    how: dict[str, Any] = {
        "acts_on": acts_on,
        "adaptive": adaptive,
        "min_mass": min_mass,
        "statistic": statistic,
    }
    with Ledger(file) as opened, open_input(table, table=name) if table else nullcontext() as read:
        found = opened.declare(release, given, table=read, **how)
    kept = all(one.kept is not False for one in found.standings)
    words = recorded_words(found)
    record = {"release": found.number, "name": found.name, "kept": kept if found.standings else None}
    print_json(record) if json else print_text(Text(words), verdict=words)
    if not kept:
        raise typer.Exit(1)
