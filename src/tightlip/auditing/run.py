"""Audit a planned release, end to end: count once, then measure.

Besides the release itself, each released column is measured alone, and the release without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tightlip.arguments import whole
from tightlip.auditing.counted import Counted, order_by_code
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import (
    OnStage,
    Subject,
    about,
    apply_policy,
    mechanisms_of,
    name_of,
    odds_of,
    only,
    silent,
    subjects_of,
)
from tightlip.auditing.remedy import Remedies, departures, remedies_for, sample_remedies
from tightlip.auditing.result import Audit, ColumnEffect, Remedy, SecretView
from tightlip.auditing.sample import Errors, SampleMode, release_bounds
from tightlip.auditing.view import population_view, sample_view, statistic_of
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.quantity import Nats, exact_level
from tightlip.numeric.rounding import down
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, Keep
from tightlip.table.source import Table, open_table

Measure = Callable[[Counted, Counted], Nats]


def audit(
    table: Any,
    secret: str | Iterable[str] | None = None,
    release: Iterable[str | Released] | None = None,
    *,
    delta: Any = 0.01,
    budget: Any = None,
    sample: SampleMode | None = None,
    policy: Policy | None = None,
    statistic: str | Iterable[str] | None = None,
    bins: Mapping[str, Any] | None = None,
    code_seed: int | None = None,
    on_stage: OnStage = silent,
) -> Audit:
    """Audit a planned release of a table: what it gives away about its secret columns.

    Parameters
    ----------
    table : Table or anything `open_table` takes
        A path, a database URL, a data frame, an Ibis table.
    secret, release : column names (or Released), or
    policy : Policy
        The same with recodings, noise and min_count.
    delta : probability in (0, 1]; a float is read as the decimal it shows, 0.01 as one in a hundred
        Of the envelope.
    budget : level, optional
        Worst leakage allowed: a number of nats, or text like "3x", "log(3)" or "2 bits"; changes of the plan that meet
        it are searched for where it does not.
    sample : SampleMode, optional
        The rows are a sample; all numbers are then confidence bounds. By default the table is the population.
    statistic : column names, optional
        Of several secret columns those that are a statistic of all of them together; SML about each is added.
    bins : mapping of released column to a number, the width of its bins, or to the edges between them; optional
        Other recodings are in a policy, or `Released("zip", Prefix(3))` among `release`.
    code_seed : int, optional
        Makes the codes of equally frequent values repeatable; who has it and knows the values can undo them.
    on_stage : callable, optional
        Is told the name of each stage when it begins; `stages_of` lists them.

    Returns
    -------
    Audit

    Raises
    ------
    InvalidInput
        When the plan does not fit the table, or a sample is asked of a plan whose cells depend on it (min_count), or
        about a statistic.
    """
    plan = _plan(secret, release, statistic, bins, policy)
    if sample is not None:
        _require_judgeable(plan, sample)  # before the table is read
    if not callable(on_stage):
        raise WrongType(
            f"on_stage must be a function of a stage's name, got {quoted(on_stage)}; leave it out."
        )
    if code_seed is not None:
        whole(code_seed, "code_seed", 0, 2**63)
    level, allowed = _read_delta(delta), None if budget is None else _read_budget(budget)
    with nullcontext(table) if isinstance(table, Table) else open_table(table) as opened:
        kinds = opened.kinds(plan.columns)
        on_stage("counting")
        counts = count_cells(opened, replace(plan, min_count=None))
    counted = Counted.of(counts, plan.secret, [item.column for item in plan.release])
    return audit_counts(
        counted,
        plan,
        kinds=kinds,
        delta=level,
        budget=allowed,
        sample=sample,
        code_seed=code_seed,
        on_stage=on_stage,
    )


def audit_counts(
    counted: Counted,
    policy: Policy,
    *,
    kinds: Mapping[str, str],
    delta: Fraction,
    budget: Nats | None,
    sample: SampleMode | None = None,
    code_seed: int | None = None,
    on_stage: OnStage = silent,
) -> Audit:
    """Audit a policy, given the counts of its columns before small cells are hidden."""
    if sample is not None:
        _require_judgeable(policy, sample)
    release = order_by_code(apply_policy(counted, policy), code_seed)
    job = _Job(counted, release, policy, delta, budget, code_seed, on_stage)
    return _audit_population(job, kinds) if sample is None else _audit_sample(job, sample)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is audited: the counts before small cells are hidden, the release in code order, and what is asked."""

    counted: Counted
    release: Counted
    policy: Policy
    delta: Fraction
    budget: Nats | None
    code_seed: int | None
    on_stage: OnStage

    def view_of(self, subject: Subject) -> Counted:
        """Marginalise the release to some secret columns, in the order of their own codes; cells keep theirs."""
        if subject == self.release.secret_columns:
            return self.release
        return order_by_code(about(self.release, subject), self.code_seed, cells=False)


def _audit_population(job: _Job, kinds: Mapping[str, str]) -> Audit:
    policy, budget = job.policy, job.budget
    subjects = subjects_of(policy)
    job.on_stage("columns")
    effects = column_effects(job.counted, policy, subjects, lambda _, seen: worst_leakage(seen))
    total = job.counted.tally.total
    scale = Fraction(total, job.release.tally.total)
    views: dict[str, SecretView] = {}
    for subject in subjects:
        seen, sml = job.view_of(subject), None
        if len(subject) == 1 and subject[0] in policy.statistic:
            job.on_stage(f"statistic {name_of(subject)}")
            sml = statistic_of(job.release, seen)
        views[name_of(subject)] = population_view(
            seen, scale, job.delta, budget, columns=effects[subject], sml=sml, on_stage=job.on_stage
        )
    verdict = None if budget is None else not next(iter(views.values())).share_above_budget
    remedies = Remedies()
    if budget is not None and verdict is False:
        job.on_stage("remedies")
        remedies = remedies_for(job.counted, policy, budget, kinds)
    return Audit(
        policy=policy,
        total=total,
        delta=job.delta,
        budget=budget,
        mode="population",
        confidence=None,
        views=views,
        remedies=remedies.found,
        verdict=verdict,
        counted=job.counted,
        closest=remedies.closest,
        kinds=kinds,
    )


def _audit_sample(job: _Job, mode: SampleMode) -> Audit:
    """Every secret gets an equal part of the error: a twelfth for its priors, which all releases share, a twelfth for
    what leaves columns out, in equal parts, and the rest for the release.
    """
    policy, delta, budget = job.policy, job.delta, job.budget
    subjects = subjects_of(policy)
    error = float(1 - mode.level) * (1 - 2**-50) / len(subjects)
    trials = 2 * len(policy.release) + len(departures(policy))
    main, each = Errors(error / 12, error * 10 / 12), Errors(error / 12, error / 12 / trials)
    odds = odds_of(policy)
    job.on_stage("columns")
    effects = column_effects(
        job.counted,
        policy,
        subjects,
        lambda plain, seen: release_bounds(plain, seen, odds, each, mode).upper_envelope(delta),
    )
    views: dict[str, SecretView] = {}
    for subject in subjects:
        job.on_stage(f"measuring {name_of(subject)}")
        plain, seen = about(job.counted, subject), job.view_of(subject)
        views[name_of(subject)] = sample_view(
            plain, seen, odds, delta, budget, errors=main, mode=mode, columns=effects[subject]
        )
    verdict = None if budget is None else all(_keeps_budget(view, delta) for view in views.values())
    remedies: tuple[Remedy, ...] = ()
    if budget is not None and verdict is False:
        job.on_stage("remedies")
        remedies = sample_remedies(job.counted, policy, subjects, budget, delta, each, mode)
    total = job.counted.tally.total
    return Audit(
        policy, total, delta, budget, "sample", mode.confidence, views, remedies, verdict, job.counted
    )


def worst_leakage(release: Counted) -> Nats:
    """Compute the worst leakage of any cell, exactly."""
    leak = cell_pml(release.tally)
    return leak.value(leak.worst_first(1)[0])


def _keeps_budget(view: SecretView, delta: Fraction) -> bool:
    """Whether a leakage above the budget is proved to have probability at most δ.

    In a sample each view must say so: secrets in scope may be made of joint ones that are too rare to be.
    """
    return view.share_above_budget is not None and view.share_above_budget <= delta


def _plan(secret: Any, release: Any, statistic: Any, bins: Any, policy: Policy | None) -> Policy:
    if policy is None:
        if secret is None or release is None:
            raise InvalidInput("secret and release must both be given, or a policy; name the columns.")
        plan = Policy(secret, release, statistic=() if statistic is None else statistic)
        return plan if bins is None else _in_bins(plan, bins)
    if not isinstance(policy, Policy):
        raise WrongType(f"policy must be a Policy, got {quoted(policy)}; use Policy.from_toml(path).")
    if any(given is not None for given in (secret, release, statistic, bins)):
        raise InvalidInput(
            "policy already says what is secret, released, recoded and a statistic; leave these arguments out."
        )
    return policy


def _in_bins(plan: Policy, bins: Any) -> Policy:
    """The plan with some of its columns in bins, of a width or between edges."""
    if not isinstance(bins, Mapping):
        raise WrongType(f'bins must map columns to widths, got {quoted(bins)}; write {{"age": 10}}.')
    columns = [item.column for item in plan.release]
    for name in bins:
        if name not in columns:
            raise InvalidInput(f"bins must be of released columns, got {quoted(name)}; release it too.")
    return replace(plan, release=tuple(_bin_column(item, bins.get(item.column)) for item in plan.release))


def _bin_column(item: Released, size: Any) -> Released:
    if size is None:
        return item
    if item.recoding != Keep():
        raise InvalidInput(
            f"bins must be of columns without another recoding, got {quoted(item.column)}; leave one of them out."
        )
    if isinstance(size, (list, tuple)):
        return replace(item, recoding=Bins(edges=size))
    return replace(item, recoding=Bins(width=size))


def _read_delta(delta: Any) -> Fraction:
    """A float is the decimal it shows: people are counted exactly, and 0.01 is meant to be one in a hundred."""
    return read_delta(repr(float(delta)) if isinstance(delta, float) else delta)


def _read_budget(budget: Any) -> Nats:
    """Never more than was given: rationals and text become the double at or below them."""
    amount = exact_level(budget, "budget", rounding="down")
    if isinstance(amount, Nats):
        return amount
    nearest = float(amount)
    return Nats(nearest if Fraction(nearest) <= amount else down(nearest))


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
        if mechanism.response_odds() is None:
            raise InvalidInput(
                f"a sample can bound randomised response only, got {mechanism.words()} on {quoted(column)}; audit the "
                "column without: worst leakage, envelope and maximal leakage bound the release with any noise too."
            )
    if policy.statistic:
        raise InvalidInput(
            f"the statistic {quoted(policy.statistic[0])} is audited for a population only; leave it out: maximal "
            "leakage about all secret columns together bounds its SML."
        )


def column_effects(
    counted: Counted, policy: Policy, subjects: Sequence[tuple[str, ...]], measure: Measure
) -> dict[tuple[str, ...], tuple[ColumnEffect, ...]]:
    """Rank the released columns for each secret (a tuple of secret columns), the one that is missed most first.

    `measure` is given the counts of some columns before anything is hidden or randomised, and their release.
    Suppression and noise are applied anew to the columns that are left; releasing nothing leaks nothing.
    """
    names = [item.column for item in policy.release]

    def both(columns: list[str]) -> tuple[Counted, Counted]:
        return counted.select(columns), apply_policy(counted, only(policy, columns))

    alone = {name: both([name]) for name in names}
    without = {name: both([other for other in names if other != name]) for name in names if len(names) > 1}

    def amount(found: tuple[Counted, Counted] | None, subject: tuple[str, ...]) -> Nats:
        if found is None:
            return Nats(0.0, Fraction(1))
        return measure(about(found[0], subject), about(found[1], subject))

    return {
        subject: _rank_effects(
            [
                ColumnEffect(name, amount(alone[name], subject), amount(without.get(name), subject))
                for name in names
            ]
        )
        for subject in subjects
    }


def _rank_effects(effects: list[ColumnEffect]) -> tuple[ColumnEffect, ...]:
    """By how far the leakage falls without the column, then by what it leaks alone."""
    return tuple(sorted(effects, key=lambda effect: (float(effect.without), -float(effect.alone))))
