"""The audit of a planned release, end to end: count once, then measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightlip.audit.codes import coded
from tightlip.audit.columns import about, column_effects
from tightlip.audit.counted import Counted
from tightlip.audit.leakage import cell_pml
from tightlip.audit.plan import odds_of, released
from tightlip.audit.remedy import remedies_for
from tightlip.audit.result import Audit, SecretView
from tightlip.audit.sample import SampleMode
from tightlip.audit.sample_noise import Errors, release_bounds
from tightlip.audit.sample_remedy import departures, sampled_remedies
from tightlip.audit.sample_view import sample_view
from tightlip.audit.view import population_view
from tightlip.envelope.result import read_delta
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.quantity import Nats, level
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.result import StatisticLeakage
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.source import open_table

Subject = tuple[str, ...]

SML_SECONDS = 10.0


def audit(
    table: Any,
    secret: str | Iterable[str] | None = None,
    release: Iterable[str | Released] | None = None,
    *,
    delta: Any = 0.01,
    budget: Any = None,
    sample: SampleMode | None = None,
    policy: Policy | None = None,
    statistic: bool = False,
    code_seed: int | None = None,
) -> Audit:
    """What a planned release of a table gives away about its secret columns.

    Parameters
    ----------
    table : Table or anything `open_table` takes
        A path, a database URL, a data frame, an Ibis table.
    secret, release : column names (or Released), or
    policy : Policy
        The same with recodings, noise and min_count.
    delta : probability in (0, 1]
        Of the envelope.
    budget : float, optional
        Worst leakage allowed, in nats; changes of the plan that meet it are searched for where it does not.
    sample : SampleMode, optional
        The rows are a sample; all numbers are then confidence bounds. By default the table is the population.
    statistic : bool
        Take each of several secret columns for a statistic of the joint secret and add its SML.
    code_seed : int, optional
        Makes the codes of equally frequent values repeatable.

    Returns
    -------
    Audit

    Raises
    ------
    InvalidInput
        When the plan does not fit the table, or a sample is asked of a plan whose cells depend on it (min_count).
    """
    plan = _plan(secret, release, policy)
    opened = open_table(table)

    def recount(changed: Policy) -> Counted:
        counts = count_cells(opened, replace(changed, min_count=None))
        return Counted.of(counts, changed.secret, [item.column for item in changed.release])

    return audit_counts(
        recount,
        plan,
        kinds=opened.columns,
        delta=read_delta(delta),
        budget=None if budget is None else _read_budget(budget),
        sample=sample,
        statistic=statistic,
        code_seed=code_seed,
    )


def audit_counts(
    recount: Callable[[Policy], Counted],
    policy: Policy,
    *,
    kinds: Mapping[str, str],
    delta: Fraction,
    budget: Nats | None,
    sample: SampleMode | None = None,
    statistic: bool = False,
    code_seed: int | None = None,
) -> Audit:
    """The audit of a policy, given what counts a policy's columns before small cells are hidden."""
    if sample is not None:
        _require_fixed_cells(policy)
    counted = recount(policy)
    release = coded(released(counted, policy), code_seed)
    subjects = _subjects(policy.secret)
    if sample is not None:
        return _sampled(counted, release, policy, subjects, delta, budget, sample, code_seed)
    effects = column_effects(counted, policy, subjects, lambda _, seen: worst_leakage(seen))
    scale = Fraction(counted.tally.total, release.tally.total)
    views = {}
    for subject in subjects:
        seen = _recoded(release, subject, code_seed)
        sml = _statistic(release, subject) if statistic and len(subject) < len(policy.secret) else None
        view = population_view(seen, scale, delta, budget, columns=effects[subject], sml=sml)
        views[view.name] = view
    verdict = None if budget is None else not next(iter(views.values())).share_above_budget
    remedies = (
        ()
        if verdict is not False or budget is None
        else remedies_for(counted, policy, budget, recount, kinds)
    )
    total = counted.tally.total
    return Audit(policy, total, delta, budget, "population", None, views, remedies, verdict)


def worst_leakage(release: Counted) -> Nats:
    """The worst leakage of any cell, exactly."""
    leak = cell_pml(release.tally)
    return leak.value(leak.worst_first(1)[0])


def _sampled(
    counted: Counted,
    release: Counted,
    policy: Policy,
    subjects: list[Subject],
    delta: Fraction,
    budget: Nats | None,
    mode: SampleMode,
    code_seed: int | None,
) -> Audit:
    """Every secret gets an equal part of the error: a quarter for its priors, which all releases share, three eighths
    for the release, and as much for what leaves columns out, in equal parts.
    """
    error = float(1 - Fraction(mode.confidence)) * (1 - 2**-50) / len(subjects)
    trials = 2 * len(policy.release) + len(departures(policy))
    main, each = Errors(error / 4, error * 3 / 8), Errors(error / 4, error * 3 / 8 / trials)
    odds = odds_of(policy)
    effects = column_effects(
        counted,
        policy,
        subjects,
        lambda plain, seen: release_bounds(plain, seen, odds, each, mode).mean_of_worst(delta),
    )
    views = {}
    for subject in subjects:
        plain, seen = about(counted, subject), _recoded(release, subject, code_seed)
        view = sample_view(plain, seen, odds, delta, budget, errors=main, mode=mode, columns=effects[subject])
        views[view.name] = view
    verdict = None if budget is None else all(_kept(view, delta) for view in views.values())
    remedies = (
        ()
        if verdict is not False or budget is None
        else sampled_remedies(counted, policy, subjects, budget, delta, each, mode)
    )
    total = counted.tally.total
    return Audit(policy, total, delta, budget, "sample", mode.confidence, views, remedies, verdict)


def _kept(view: SecretView, delta: Fraction) -> bool:
    """Whether a leakage above the budget is proved to have probability at most δ.

    In a sample each view must say so: secrets in scope may be made of joint ones that are too rare to be.
    """
    return view.share_above_budget is not None and view.share_above_budget <= delta


def _plan(secret: Any, release: Any, policy: Policy | None) -> Policy:
    if policy is None:
        if secret is None or release is None:
            raise InvalidInput("secret and release must both be given, or a policy; name the columns.")
        return Policy(secret, release)
    if secret is not None or release is not None:
        raise InvalidInput("policy already says what is secret and released; leave secret and release out.")
    if not isinstance(policy, Policy):
        raise WrongType(f"policy must be a Policy, got {quoted(policy)}; use Policy.from_toml(path).")
    return policy


def _read_budget(budget: Any) -> Nats:
    amount = level(budget, "budget")
    return amount if isinstance(amount, Nats) else Nats(amount)


def _subjects(secret: Subject) -> list[Subject]:
    return [secret] if len(secret) == 1 else [secret, *((column,) for column in secret)]


def _recoded(release: Counted, subject: Subject, code_seed: int | None) -> Counted:
    """The release about some secret columns, these in the order of their own codes; cells keep theirs."""
    if subject == release.secret_columns:
        return release
    return coded(about(release, subject), code_seed, cells=False)


def _statistic(release: Counted, subject: Subject) -> StatisticLeakage:
    places = [release.secret_columns.index(column) for column in subject]
    groups = [tuple(row) for row in release.secret_codes[:, places].tolist()]
    return statistic_maximal_leakage(release.tally.channel(), groups, time_limit=SML_SECONDS)


def _require_fixed_cells(policy: Policy) -> None:
    if policy.min_count is not None:
        raise InvalidInput(
            "min_count hides cells that depend on the sample, so a sample cannot bound their tail; audit it without: "
            "worst leakage, envelope and maximal leakage bound the release with any cells hidden too."
        )
