"""tightlip protect: the truthful release of a table that keeps most detail under a budget, proved and written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from tightlip.cli import audit_options as option
from tightlip.cli import protect_options as own
from tightlip.cli.arguments import (
    Unit,
    read_budgets,
    typed_command,
)
from tightlip.cli.audit_options import PlanFlags, inputs_of
from tightlip.cli.interrupt import first_is_spared
from tightlip.cli.output import complain, gap_bar, print_json, print_text, stage
from tightlip.cli.table_input import open_input, shown_address
from tightlip.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from tightlip.ledger import Ledger
    from tightlip.protection.curve import Curve
    from tightlip.protection.levels import ColumnLevels
    from tightlip.protection.result import Protection
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table

_MOST_PAIRS = 500_000  # of value and cell: beyond, another point of the page's curve would take too long
_SECONDS = 1.0  # for each of its points


def protect(
    context: typer.Context,
    table: option.Address,
    secret: option.Secret = None,
    not_secret: option.NotSecret = None,
    release: option.Release = None,
    policy: option.PolicyFile = None,
    mappings_anywhere: option.MappingsAnywhere = False,
    name: option.TableName = None,
    bins: option.Bins = None,
    prefix: option.Prefix = None,
    top: option.Top = None,
    bottom: option.Bottom = None,
    mapping: option.Mapping = None,
    suppress: option.Suppress = None,
    randomize: option.Randomize = None,
    nominal: option.Nominal = None,
    ordinal: option.Ordinal = None,
    numeric: option.Numeric = None,
    where: option.Where = None,
    missing: option.Missing = None,
    jointly: option.Jointly = False,
    min_count: own.FewestPeople = None,
    budget: own.Budgets = None,
    randomised: own.Randomised = False,
    levels: own.LevelsOf = None,
    keep_as_is: own.KeepAsIs = None,
    weight: own.Weights = None,
    pmc: own.Pmc = None,
    delta: own.Delta = None,
    seconds: own.Seconds = None,
    gap: own.Gap = 1e-3,
    ledger: option.LedgerFile = None,
    out: own.Out = None,
    out_table: own.OutTable = None,
    receipt: own.ReceiptFile = None,
    keep: own.Keep = None,
    with_secret: own.WithSecret = False,
    key: own.Key = None,
    policy_out: own.PolicyOut = None,
    certificate: own.CertificateFile = None,
    html: option.Html = None,
    show_values: option.ShowValues = False,
    unit: option.LeakageUnit = Unit.nats,
    json: option.Json = False,
    force: option.Force = False,
    seed_for_tests: own.SeedForTests = None,
) -> None:
    """The release of a table that keeps most detail under a budget.

    What is published is true of every person, only coarser: bins, prefixes,
    groups, or nothing. A budget of 3x lets no probability of a secret more
    than triple. Ctrl-C ends the search with the best found so far.

    Example: tightlip protect patients.csv --secret disease --release
    age,zip,sex --budget "log(3)" --out safe.parquet --html report.html
    """
    from tightlip.report.protect import protect_record, protect_text
    from tightlip.table.flags import column_names
    from tightlip.table.publish import UNSAFE_NOTE

    flags: dict[str, Any] = {"bins": bins, "prefix": prefix, "top": top, "bottom": bottom, "mapping": mapping}
    flags |= {"suppress": suppress, "where": where, "missing": missing, "not_secret": not_secret}
    flags |= {"randomize": randomize}
    flags |= {"nominal": nominal, "ordinal": ordinal, "numeric": numeric, "jointly": jointly or None}
    book = _open_ledger(ledger, delta, out)
    terms = None if book is None else book.terms
    plan = PlanFlags(policy, mappings_anywhere, secret, release, budget, flags, terms).plan()
    if book is None and key is not None:
        raise InvalidInput("--key must be given with --ledger; it names what is charged there.")
    own_budget = read_budgets(budget, plan.secret) if budget else None
    asked = _asked(plan, pmc, levels, keep_as_is, weight)
    asked |= {
        "randomised": randomised,
        "delta": delta,
        "min_count": min_count,
        "gap": gap,
        "seconds": seconds,
    }
    kept = [] if keep is None else column_names(keep)
    outputs = own.ProtectOutputs(
        out, out_table, receipt, policy_out, certificate, html, kept, with_secret, force, seed_for_tests, key
    )
    outputs.check(inputs_of(table, policy, plan), plan, randomised=randomised)
    typed = typed_command(context, "protect")
    if not json:
        print_text(_start_line(shown_address(table)))
    stage("counting")
    with open_input(table, table=name) as opened:
        chosen = _chosen_levels(opened, plan, asked["levels"])
        if not json:
            print_text(_level_lines(chosen))
        found = _search(opened, plan, asked, book, own_budget)
        stage("report")
        report = protect_record(
            found,
            unit=unit.value,
            show_values=show_values,
            table=shown_address(table),
            command=typed,
            curve=None if html is None else _curve(found),
            keep=kept,
            with_secret=with_secret,
            unsafe=None if seed_for_tests is None else UNSAFE_NOTE,
        )
        stage("writing")
        done, wrote = outputs.write(found, report, opened, typed, book)
    record = report.to_dict() | {"levels": {column.column: list(column.words) for column in chosen}}
    _tell(record, protect_text(report), report.headline, done, wrote, unit, json)


def _asked(
    plan: Policy,
    pmc: list[str] | None,
    levels: list[str] | None,
    keep_as_is: list[str] | None,
    weight: list[str] | None,
) -> dict[str, Any]:
    """Read what is asked about columns of the plan."""
    if not plan.budget:
        raise InvalidInput('--budget must be given, got none; write --budget 3x, "log(3)", or 50%.')
    released = [item.column for item in plan.release]
    return {
        "pmc": read_budgets(pmc, plan.secret, "--pmc") if pmc else None,
        "levels": own.read_levels(levels, keep_as_is, released),
        "weights": own.read_weights(weight, released),
    }


def _chosen_levels(table: Table, plan: Policy, given: dict[str, Any]) -> tuple[ColumnLevels, ...]:
    """The levels that will be used, so that they are shown before they are."""
    from tightlip.auditing.counted import Counted
    from tightlip.protection.levels import choose_levels
    from tightlip.table.counts import count_cells

    counts = count_cells(table, replace(plan, min_count=None))
    counted = Counted.of(counts, plan.secret, [item.column for item in plan.release])
    return choose_levels(plan, counted, table.under(plan).kinds(plan.columns), given)


def _start_line(table: str) -> Any:
    from rich.text import Text

    from tightlip.report.amounts import printable

    return Text(printable(f"Counting {table}; the search that follows takes a while.") + "\n")


def _level_lines(chosen: tuple[ColumnLevels, ...]) -> Any:
    from rich.console import Group
    from rich.text import Text

    from tightlip.report.amounts import printable

    lines = [f"  {column.column}: {' → '.join(column.words)}" for column in chosen]
    title = "What each column may be published as (change it with --levels, --keep-as-is, --weight):"
    return Group(*(Text(line) for line in printable([title, *lines, ""])))


def _open_ledger(path: Path | None, delta: Any, out: Any) -> Ledger | None:
    """Open the ledger that was named; people above the budget are for releases that stand alone."""
    if path is not None and delta is not None:
        raise InvalidInput("--delta must be left out with --ledger, whose budget is for everybody; drop one.")
    return option.open_ledger(path, write=out is not None)


def _search(table: Table, plan: Policy, asked: dict[str, Any], ledger: Ledger | None, budget: Any) -> Any:
    """Protect, with a bar; the first Ctrl-C ends the search alone."""
    from tightlip.protection.run import protect as run_protect

    with gap_bar() as tell, first_is_spared():
        if ledger is not None:
            return ledger.protect(table, policy=plan, on_progress=tell, budget=budget, **asked)
        return run_protect(table, policy=plan, on_progress=tell, **asked)


def _curve(found: Protection) -> Curve | None:
    """Protect at a few other budgets, for the page's picture; none where that would take long or means nothing."""
    if found.budget is None or len(found.values.cell) > _MOST_PAIRS:
        return None
    return found.trade_off(seconds=_SECONDS)


def _tell(
    record: dict[str, Any],
    text: Any,
    verdict: str,
    done: Any,
    wrote: dict[str, str | None],
    unit: Unit,
    json: bool,
) -> None:
    """Print the answer, then what was written."""
    from tightlip.report.table_release import table_release_record, table_release_text

    released = None if done is None else table_release_record(done, unit=unit.value)
    if json:
        print_json(record | {"release": released, "written": wrote})
    else:
        files = {f"the {what}": path for what, path in wrote.items()}
        print_text(text, verdict=verdict, wrote=files if released is None else None)
        if released is not None:
            files |= {"the rows": released["out"], "the receipt": released["receipt"]}
            print_text(table_release_text(released), wrote=files)
    if released is not None and released["unsafe"]:
        complain(f"warning: {released['unsafe']}.")
