"""Audit a planned release, end to end: count once, then measure.

Besides the release itself, each released column is measured alone, and the release without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Unpack

import numpy as np

from tightlip.arguments import choice, listed, whole
from tightlip.auditing.budget import REFERENCE, Budget
from tightlip.auditing.counted import Counted, order_by_code
from tightlip.auditing.counting import Cells
from tightlip.auditing.leakage import worst_leakage
from tightlip.auditing.plan import (
    SKIPPED,
    OnStage,
    Subject,
    budgets_of,
    mechanisms_of,
    name_of,
    odds_of,
    sensitive,
    silent,
    subjects_of,
)
from tightlip.auditing.remedy import Remedies, departures, remedies_for, sample_remedies
from tightlip.auditing.result import Audit, ColumnEffect, Remedy, SecretView
from tightlip.auditing.sample import Errors, SampleMode, release_bounds
from tightlip.auditing.scales import order_of
from tightlip.auditing.view import population_view, sample_view, statistic_of
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.numeric.parse import float_number
from tightlip.numeric.quantity import Nats
from tightlip.table.plan import PlanKeywords, planned, require_keywords
from tightlip.table.policy import Policy, Released
from tightlip.table.source import Table, open_table

_DELTA = Fraction(1, 100)  # where neither the call nor the policy says one


def audit(
    table: Any,
    secret: Any = None,
    release: Iterable[str | Released] | None = None,
    *,
    delta: Any = None,
    budget: Any = None,
    policy: Policy | None = None,
    min_count: int | None = None,
    statistic: str | Iterable[str] | None = None,
    sample: SampleMode | None = None,
    seconds: float | None = None,
    skip: str | Iterable[str] = (),
    code_seed: int | None = None,
    on_stage: OnStage = silent,
    **plan: Unpack[PlanKeywords],
) -> Audit:
    """Audit a planned release of a table: what it gives away about its secret columns.

    Parameters
    ----------
    table : Table or anything `open_table` takes
        A path, a database URL, a data frame, an Ibis table.
    secret : column names, `Secret` objects, or {"DPHY": ["1"]}: a column and its sensitive values
    release : column names, or `Released` objects
    delta : probability in (0, 1]; a float is read as the decimal it shows, 0.01 as one in a hundred; 0.01 if left out
        Of the envelope, and the share of people that may be above the budget in the population of a sample.
    budget : level, cap, or mapping of secret columns to such; optional
        "3x": nobody's secret becomes more than 3 times as likely; "50%": nobody's becomes more than that likely. Each
        secret column is judged against its own. Changes that meet all budgets are searched for where one is not kept.
    policy : Policy, optional
        A plan; what else is given adds to it.
    min_count : cells of fewer people are hidden
    statistic : column names, optional
        Of several secret columns those that are a statistic of all of them together; SML about each is added.
    sample : SampleMode, optional
        The rows are a sample; all numbers are then confidence bounds. By default the table is the population.
    seconds : how long each stage may take: "columns", "envelope" and "remedies"; what is proved by then is told
    skip : stages to leave out, of "columns", "envelope", "remedies" and "protect"
    code_seed : int, optional
        Makes the codes of equally frequent values repeatable; who has it and knows the values can undo them.
    on_stage : callable, optional
        Is told the name of each stage when it begins; `stages_of` lists them.
    plan : what the flags of `tightlip audit` say, as keywords
        bins={"age": 10}, prefix=, top=, bottom=, mapping=, suppress=, randomize=, where="age >= 18",
        missing={"age": ["-9"]}, not_secret=["N"], jointly=True, weight="w", scales={"grade": "ordinal"}, nominal=,
        ordinal=, numeric=; see `table.planned`.

    Returns
    -------
    Audit

    Raises
    ------
    InvalidInput
        When the plan does not fit the table, or a sample is asked of a plan whose cells depend on it (min_count), or
        about a statistic.

    >>> import pyarrow
    >>> rows = pyarrow.table({"age": [31, 35, 47, 48], "ill": ["no", "yes", "no", "no"]})
    >>> audit(rows, "ill", ["age"], bins={"age": 10}, budget="3x").verdict
    True
    """
    require_keywords(audit, plan, PlanKeywords.__annotations__)
    given = {"min_count": min_count, "statistic": statistic, "budget": budget, "delta": delta}
    planned_ = planned(secret, release, policy, **given, **plan)
    asked = Asked.of(planned_, sample=sample, seconds=seconds, skip=skip)
    if not callable(on_stage):
        raise WrongType(
            f"on_stage must be a function of a stage's name, got {quoted(on_stage)}; leave it out."
        )
    if code_seed is not None:
        whole(code_seed, "code_seed", 0, 2**63)
    with nullcontext(table) if isinstance(table, Table) else open_table(table) as opened:
        on_stage("counting")
        cells = Cells.of(opened, planned_)
        kinds = opened.under(planned_).kinds(planned_.columns)
        return audit_cells(cells, asked, kinds, code_seed=code_seed, on_stage=on_stage)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked about a plan, besides its budgets: δ, of a population or a sample, and how long it may take.

    `seconds` is for each stage that can be stopped; `skip` names stages that are left out.
    """

    delta: Fraction
    sample: SampleMode | None = None
    seconds: float | None = None
    skip: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Policy, *, sample: Any = None, seconds: Any = None, skip: Any = ()) -> Asked:
        """Read the arguments of `audit`, or refuse them, before the table is read."""
        if sample is not None:
            _require_judgeable(plan, sample)
        names = [skip] if isinstance(skip, str) else listed(skip, "skip", "stages")
        for name in names:
            choice(name, "skip", SKIPPED)
        if seconds is not None and float_number(seconds, "seconds") < 0:
            raise InvalidInput(f"seconds must not be negative, got {quoted(seconds)}; leave it out.")
        limit = None if seconds is None else float(seconds)
        return cls(plan.delta or _DELTA, sample, limit, frozenset(names))


def audit_counts(
    counted: Counted,
    policy: Policy,
    *,
    kinds: Mapping[str, str],
    delta: Any = None,
    budget: Any = None,
    sample: SampleMode | None = None,
    code_seed: int | None = None,
    on_stage: OnStage = silent,
) -> Audit:
    """Audit a policy, given the counts of its columns before small cells are hidden."""
    plan = planned(policy=policy, budget=budget, delta=delta)
    asked = Asked.of(plan, sample=sample)
    cells = Cells(plan, counted.tally.total, counted)
    return audit_cells(cells, asked, kinds, code_seed=code_seed, on_stage=on_stage)


def audit_cells(
    cells: Cells,
    asked: Asked,
    kinds: Mapping[str, str],
    *,
    code_seed: int | None = None,
    on_stage: OnStage = silent,
) -> Audit:
    """Audit a plan, given its cells."""
    job = _Job(cells, asked, budgets_of(cells.policy), code_seed, on_stage)
    return _audit_population(job, kinds) if asked.sample is None else _audit_sample(job, asked.sample, kinds)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is audited: the cells of the plan, what is asked, and the budget of each secret."""

    cells: Cells
    asked: Asked
    budgets: Mapping[Subject, Budget]
    code_seed: int | None
    on_stage: OnStage

    def seen(self, subject: Subject, *, kinds: bool = True) -> Counted:
        """The release as one secret sees it, in the order of its codes."""
        return order_by_code(self.cells.release(subject, kinds=kinds), self.code_seed)

    def deadline(self, stage: str) -> Deadline:
        """Tell that a stage begins; when it has to end."""
        self.on_stage(stage)
        if stage.partition(" ")[0] in self.asked.skip:
            return Deadline.after(0.0)
        return NEVER if self.asked.seconds is None else Deadline.after(self.asked.seconds)

    def budget_of(self, subject: Subject, seen: Counted) -> Budget | None:
        """The budget of a secret, which some release must be able to keep."""
        budget = self.budgets.get(subject)
        if budget is not None:
            budget.require_possible(seen)
        return budget


def _audit_population(job: _Job, kinds: Mapping[str, str]) -> Audit:
    policy, cells, asked = job.cells.policy, job.cells, job.asked
    views: dict[str, SecretView] = {}
    subjects = subjects_of(policy)
    identity = cells.identity(subjects[0])
    for subject in subjects:
        name = name_of(subject)
        seen, sml = job.seen(subject), None
        budget = job.budget_of(subject, seen)
        measure = partial(population_effect, cells, subject, budget or REFERENCE)
        effects = column_effects(cells, measure, job.deadline(f"columns {name}"))
        if len(subject) == 1 and subject[0] in policy.statistic:
            job.on_stage(f"statistic {name}")
            sml = statistic_of(views[name_of(policy.secret)].counted, seen)  # together comes first
        views[name] = population_view(
            seen,
            cells.scale,
            asked.delta,
            budget,
            columns=effects,
            sml=sml,
            left_out=cells.left_out(subject),
            sensitive=sensitive(seen, policy),
            identity=identity,
            order=order_of(seen, policy, kinds),
            heat=cells.heat_map(subject, [effect.column for effect in effects]),
            begin=job.deadline,
        )
    verdict = _verdict(views)
    remedies = Remedies()
    searched = cells.counted is not None and policy.local is None and "remedies" not in asked.skip
    if verdict is False and searched and cells.counted is not None:
        until = job.deadline("remedies")
        remedies = remedies_for(cells.counted, policy, job.budgets, kinds, until)
    return Audit(
        policy=policy,
        total=cells.rows,
        delta=asked.delta,
        mode="population",
        confidence=None,
        views=views,
        remedies=remedies.found,
        verdict=verdict,
        counted=cells.counted,
        closest=remedies.closest,
        kinds=kinds,
        skipped=asked.skip,
        stopped=remedies.stopped,
    )


def _audit_sample(job: _Job, mode: SampleMode, kinds: Mapping[str, str]) -> Audit:
    """Every secret gets an equal part of the error: a twelfth for its priors, which all releases share, a twelfth for
    what leaves columns out, in equal parts, and the rest for the release.
    """
    policy, cells, delta = job.cells.policy, job.cells, job.asked.delta
    subjects = subjects_of(policy)
    error = float(1 - mode.level) * (1 - 2**-50) / len(subjects)
    trials = 2 * len(policy.release) + len(departures(policy))
    main, each = Errors(error / 12, error * 10 / 12), Errors(error / 12, error / 12 / trials)
    odds = odds_of(policy)

    def bound(subject: Subject, columns: Sequence[str]) -> Effect:
        plain, seen = cells.before_noise(subject, columns), cells.release(subject, columns, kinds=not odds)
        return Effect(release_bounds(plain, seen, odds, each, mode).upper_envelope(delta))

    views: dict[str, SecretView] = {}
    for subject in subjects:
        name, seen = name_of(subject), job.seen(subject, kinds=not odds)
        budget = job.budget_of(subject, seen)
        effects = column_effects(cells, partial(bound, subject), job.deadline(f"columns {name}"))
        job.on_stage(f"measuring {name}")
        views[name] = sample_view(
            cells.before_noise(subject),
            seen,
            odds,
            delta,
            budget,
            errors=main,
            mode=mode,
            columns=effects,
            left_out=cells.left_out(subject),
        )
    verdict = _verdict(views)
    remedies: tuple[Remedy, ...] = ()
    if verdict is False and "remedies" not in job.asked.skip:
        job.on_stage("remedies")
        remedies = sample_remedies(cells, job.budgets, delta, each, mode)
    return Audit(
        policy=policy,
        total=cells.rows,
        delta=delta,
        mode="sample",
        confidence=mode.confidence,
        views=views,
        remedies=remedies,
        verdict=verdict,
        counted=cells.counted,
        kinds=kinds,
        skipped=job.asked.skip,
    )


def _verdict(views: Mapping[str, SecretView]) -> bool | None:
    """Whether every secret that has a budget keeps it; None where none has."""
    judged = [view.verdict for view in views.values() if view.verdict is not None]
    return all(judged) if judged else None


@dataclass(frozen=True, slots=True)
class Effect:
    """What some columns give away: the worst leakage, and the share of people above the budget where it is known."""

    leakage: Nats
    over: Fraction | None = None


def population_effect(cells: Cells, subject: Subject, budget: Budget, columns: Sequence[str]) -> Effect:
    """Measure some columns, exactly."""
    seen = cells.release(subject, columns)
    return Effect(worst_leakage(seen.tally), seen.tally.share_of(np.flatnonzero(budget.over(seen))))


def column_effects(
    cells: Cells, measure: Callable[[Sequence[str]], Effect], until: Deadline
) -> tuple[ColumnEffect, ...]:
    """Measure each released column alone and the release without it, the one that is missed most first.

    Suppression and noise are applied anew to the columns that are left; releasing nothing leaks nothing. Columns for
    which no time is left are not listed.
    """
    found = []
    for name in cells.columns:
        if until.left() <= 0:
            break
        others = [other for other in cells.columns if other != name]
        alone = measure([name])
        without = measure(others) if others else Effect(Nats(0.0, Fraction(1)), alone.over and Fraction(0))
        found.append(ColumnEffect(name, alone.leakage, without.leakage, alone.over, without.over))
    return tuple(
        sorted(
            found, key=lambda effect: (effect.over_without or 0, float(effect.without), -float(effect.alone))
        )
    )


def _require_judgeable(policy: Policy, sample: object) -> None:
    if not isinstance(sample, SampleMode):
        raise WrongType(
            f"sample must be a SampleMode, got {quoted(sample)}; write SampleMode(0.95), or leave it out."
        )
    if policy.min_count is not None:
        raise InvalidInput(
            "min_count hides cells that depend on the sample, so a sample cannot bound their tail; audit it without: "
            "worst leakage, envelope and maximal leakage bound the release with any cells hidden too."
        )
    for column, mechanism in mechanisms_of(policy).items():
        if policy.local is not None:
            raise InvalidInput(
                f"a sample cannot bound a local recoding of what was drawn, got {mechanism.words()} on "
                f"{quoted(column)}; audit it as a population."
            )
        if mechanism.response_odds() is None:
            raise InvalidInput(
                f"a sample can bound randomised response only, got {mechanism.words()} on {quoted(column)}; audit the "
                "column without: worst leakage, envelope and maximal leakage bound the release with any noise too."
            )
    for subject, budget in budgets_of(policy).items():
        if any(rule.allowed.kind == "cap" or rule.labels is not None for rule in budget.rules):
            raise InvalidInput(
                f"a sample is judged by a factor about every value, got a cap or a budget of one value for "
                f"{quoted(name_of(subject))}; write budget 3x, or audit it as a population."
            )
    if policy.statistic:
        raise InvalidInput(
            f"the statistic {quoted(policy.statistic[0])} is audited for a population only; leave it out: maximal "
            "leakage about all secret columns together bounds its SML."
        )
