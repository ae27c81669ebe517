"""tightlip audit: what a planned release of a table gives away, in words, numbers and a report."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from tightlip.cli import audit_options as option
from tightlip.cli.arguments import Unit, read_probabilities, typed_command
from tightlip.cli.audit_options import Outputs, PlanFlags, inputs_of
from tightlip.cli.output import print_json, print_text, stage_bar
from tightlip.cli.table_input import open_input, shown_address
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tightlip.auditing.result import Audit
    from tightlip.auditing.sample import SampleMode
    from tightlip.ledger import Ledger, Together
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table


def audit(
    context: typer.Context,
    table: option.Address,
    secret: option.Secret = None,
    not_secret: option.NotSecret = None,
    statistic: option.Statistic = None,
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
    nominal: option.Nominal = None,
    ordinal: option.Ordinal = None,
    numeric: option.Numeric = None,
    randomize: option.Randomize = None,
    min_count: option.MinCount = None,
    where: option.Where = None,
    missing: option.Missing = None,
    jointly: option.Jointly = False,
    weight: option.SamplingWeight = None,
    delta: option.Delta = None,
    budget: option.Budget = None,
    population: option.Population = True,
    confidence: option.Confidence = None,
    against: option.Against = None,
    ledger: option.LedgerFile = None,
    seconds: option.Seconds = None,
    skip: option.Skip = None,
    html: option.Html = None,
    risks: option.Risks = None,
    write_policy: option.WritePolicy = None,
    id_column: option.IdColumn = None,
    show_values: option.ShowValues = False,
    seed: option.Seed = None,
    unit: option.LeakageUnit = Unit.nats,
    json: option.Json = False,
    force: option.Force = False,
) -> None:
    """What a planned release of a table gives away about its secret columns.

    A cell is a combination of released values. Its leakage is the logarithm
    of the largest factor by which seeing it raises the probability of a
    secret: a budget of log(2) lets no probability more than double.

    Example: tightlip audit patients.csv --secret disease --release age,zip
    --bins age=10 --prefix zip=3 --budget "log(2)" --html report.html
    """
    from tightlip.auditing.comparison import compare
    from tightlip.auditing.plan import stages_of
    from tightlip.auditing.run import audit as run_audit
    from tightlip.report.audit_record import audit_report, now
    from tightlip.report.audit_text import audit_text
    from tightlip.report.comparison import plan_lines
    from tightlip.report.together import with_together
    from tightlip.table.flags import column_names

    made = now()
    sample = _sample_mode(population, confidence)
    flags: dict[str, Any] = {"bins": bins, "prefix": prefix, "top": top, "bottom": bottom, "mapping": mapping}
    flags |= {"suppress": suppress, "randomize": randomize, "where": where, "missing": missing}
    flags |= {"nominal": nominal, "ordinal": ordinal, "numeric": numeric}
    flags |= {"not_secret": not_secret, "weight": weight, "jointly": jointly or None, "min_count": min_count}
    flags |= {"statistic": None if statistic is None else column_names(statistic)}
    flags |= {"delta": None if delta is None else _delta(delta)}
    book = option.open_ledger(ledger, write=False)
    terms = None if book is None else book.terms
    if terms is not None and budget:
        raise InvalidInput("--budget must be left out with --ledger, which has its own; drop one.")
    plan = PlanFlags(policy, mappings_anywhere, secret, release, budget, flags, terms).plan()
    outputs = Outputs(html, risks, write_policy, id_column, force)
    outputs.check(inputs_of(table, policy, plan), population=population, budget=bool(plan.budget))
    if book is not None and write_policy is not None:
        raise InvalidInput(
            "--write-policy must be left out with --ledger: it would meet the budget alone; use tightlip protect with "
            "the same --ledger."
        )
    stages = stages_of(plan, sample=sample is not None, budget=bool(plan.budget))
    more = [] if book is None else ["ledger"]
    with stage_bar([*stages, *more, "report", "writing"]) as tell, open_input(table, table=name) as opened:
        options: dict[str, Any] = {"sample": sample, "seconds": seconds, "code_seed": seed}
        skipped = [] if skip is None else column_names(skip)
        found = run_audit(opened, policy=plan, **options, skip=skipped, on_stage=tell)
        others = _audit_others(opened, plan, against or [], mappings_anywhere, options, tell)
        together = None if book is None else _together(book, opened, plan, sample, tell)
        tell("report")
        report = audit_report(
            found.with_curves() if json or html is not None else found,
            table=shown_address(table),
            command=typed_command(context, "audit"),
            unit=unit.value,
            show_values=show_values,
            made=made,
        )
        if others:
            lines = plan_lines(
                compare({"this plan": found} | others), show_values=show_values, unit=unit.value
            )
            report = replace(report, comparison=tuple(lines))
        if together is not None and book is not None:
            report = with_together(report, together, book.terms, show_values=show_values)
        tell("writing")
        report = replace(report, written=outputs.write(report, opened, plan, found))
    print_json(report.to_dict()) if json else print_text(audit_text(report), verdict=report.headline)
    if found.verdict is False or (together is not None and together.kept is False):
        raise typer.Exit(1)


def _together(
    ledger: Ledger, table: Table, plan: Policy, sample: SampleMode | None, tell: Callable[[str], None]
) -> Together:
    """Measure the plan together with everything in a ledger; nothing is charged."""
    if sample is not None:
        raise InvalidInput("--ledger is for releases of a whole table, got --sample; drop one of them.")
    tell("ledger")
    return ledger.what_if(table, plan)[-1]


def _audit_others(
    table: Table,
    plan: Policy,
    files: list[Path],
    mappings_anywhere: bool,
    options: dict[str, Any],
    tell: Callable[[str], None],
) -> dict[str, Audit]:
    """Audit other plans for the table; one without a budget is judged by that of the plan."""
    from tightlip.auditing.run import audit as run_audit
    from tightlip.table.policy import Policy

    found = {}
    for file in files:
        tell(f"auditing {file.name}")
        other = Policy.from_toml(file, mappings_anywhere=mappings_anywhere)
        known = dict.fromkeys(other.secret)
        budget = [rule for rule in plan.budget if rule.column is None or rule.column in known]
        judged = other if other.budget else replace(other, budget=tuple(budget))
        found[str(file)] = run_audit(table, policy=judged, **options, skip=("columns", "remedies", "protect"))
    return found


def _delta(text: str) -> Fraction:
    """One probability."""
    if "," in text:
        raise InvalidInput(
            f"delta must be one probability, got {quoted(text)}; write it with a point, like 0.05."
        )
    return read_probabilities(text)[0]


def _sample_mode(population: bool, confidence: str | None) -> SampleMode | None:
    """How sure the bounds of a sample must be; None where the table is the population."""
    if population:
        if confidence is not None:
            raise InvalidInput(
                "--confidence must be given with --sample; of a whole population the numbers are exact."
            )
        return None
    from tightlip.auditing.sample import SampleMode

    return SampleMode() if confidence is None else SampleMode(float(number(confidence, "confidence")))
