"""Apply a policy to counts: columns, small cells hidden, then noise; about which secrets, and in which stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from tightlip.auditing.budget import Budget, Rule
from tightlip.auditing.counted import Counted
from tightlip.table.budget import Rule as Asked
from tightlip.table.mechanism import ColumnMechanism, Value
from tightlip.table.policy import Policy

Subject = tuple[str, ...]
SKIPPED = ("columns", "envelope", "remedies", "protect")
"""Stages that can be left out, and that a time limit ends."""
OnStage = Callable[[str], None]


def apply_policy(counted: Counted, policy: Policy) -> Counted:
    """Apply a policy to counts of its recoded columns (and perhaps others) before anything was hidden.

    Small cells are hidden first; noise is then added to the values that are shown. A local recoding stands alone.
    """
    columns = [item.column for item in policy.release]
    if policy.local is not None:
        published = counted.publish(policy.local)
        return published if tuple(columns) == counted.columns else published.select(columns)
    kept = counted if tuple(columns) == counted.columns else counted.select(columns)
    return kept.suppress(policy.min_count).randomise(mechanisms_of(policy))


def mechanisms_of(policy: Policy) -> dict[str, ColumnMechanism]:
    """Map every column that has a mechanism to it."""
    return {item.column: item.mechanism for item in policy.release if item.mechanism is not None}


def odds_of(policy: Policy) -> dict[str, Fraction]:
    """Map every column with randomised response to its odds e^ε."""
    odds = {column: mechanism.response_odds() for column, mechanism in mechanisms_of(policy).items()}
    return {column: own for column, own in odds.items() if own is not None}


def only(policy: Policy, columns: Sequence[str]) -> Policy:
    """Restrict a policy to some of its released columns."""
    return replace(policy, release=tuple(item for item in policy.release if item.column in columns))


def about(release: Counted, subject: Subject) -> Counted:
    """Marginalise a release to some of its secret columns."""
    return release if subject == release.secret_columns else release.about(subject)


def silent(stage: str) -> None:
    """Tell nobody."""


def subjects_of(policy: Policy) -> list[Subject]:
    """List what is audited: each secret column and, where that is asked for, all of them together, which comes first.

    A statistic is one of all secret columns together, and asks for that.

    >>> subjects_of(Policy(["ill", "rich"], ["age"], jointly=True))
    [('ill', 'rich'), ('ill',), ('rich',)]
    """
    each: list[Subject] = [(column,) for column in policy.secret]
    jointly = policy.jointly or policy.statistic
    return [policy.secret, *each] if jointly and len(each) > 1 else each


def left_out(policy: Policy, subject: Subject) -> Callable[[tuple[Value, ...]], bool]:
    """Tell which secrets are none: those to whom one of the secret columns does not apply."""
    own = [policy.secret_of(column) for column in subject]
    return lambda label: any(secret.leaves_out(value) for secret, value in zip(own, label, strict=True))


def sensitive_of(policy: Policy, subject: Subject) -> Callable[[tuple[Value, ...]], bool]:
    """Tell which secrets are sensitive: those with a named value in some column, or all where none is named."""
    own = [policy.secret_of(column) for column in subject]
    return lambda label: any(secret.is_sensitive(value) for secret, value in zip(own, label, strict=True))


def budgets_of(policy: Policy) -> dict[Subject, Budget]:
    """Collect the budget of each secret that is audited; those without one are left out.

    A budget that names no column is about every secret that is audited, alone or jointly; a cap is about the sensitive
    values where some are named.
    """
    found = {}
    for subject in subjects_of(policy):
        rules = [rule for given in policy.budget for rule in _rules(policy, subject, given)]
        if rules:
            found[subject] = Budget(tuple(rules))
    return found


def _rules(policy: Policy, subject: Subject, given: Asked) -> Iterator[Rule]:
    if given.column is not None and subject != (given.column,):
        return
    if given.value is not None:
        yield Rule(given.allowed, frozenset({(given.value,)}))
        return
    named = next((secret.values for secret in policy.secrets if subject == (secret.column,)), ())
    sensitive = given.allowed.kind == "cap" and named
    yield Rule(given.allowed, frozenset((value,) for value in named) if sensitive else None)


def name_of(subject: Subject) -> str:
    """Name a view: the column, or "a × b"."""
    return " × ".join(subject)


def stages_of(policy: Policy, *, sample: bool = False, budget: bool = False) -> list[str]:
    """List the names that `on_stage` is called with, in order; "remedies" only if the budget turns out not to be kept.

    >>> stages_of(Policy("ill", ["age", "zip"]), budget=True)
    ['counting', 'columns ill', 'measuring ill', 'envelope ill', 'remedies']
    """
    found = ["counting"]
    for subject in subjects_of(policy):
        name = name_of(subject)
        found.append(f"columns {name}")
        if len(subject) == 1 and subject[0] in policy.statistic:
            found.append(f"statistic {name}")
        found += [f"measuring {name}"] if sample else [f"measuring {name}", f"envelope {name}"]
    return [*found, "remedies"] if budget else found
