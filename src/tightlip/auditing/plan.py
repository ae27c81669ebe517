"""Apply a policy to counts: columns, small cells hidden, then noise; about which secrets, and in which stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.budget import Budget, Rule
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.quantity import Nats, largest
from tightlip.table.budget import Rule as Asked
from tightlip.table.kinds import MISSING
from tightlip.table.mechanism import ColumnMechanism
from tightlip.table.policy import Policy

Subject = tuple[str, ...]
SKIPPED = ("columns", "envelope", "remedies", "protect")
"""Stages that can be left out, and that a time limit ends."""
OnStage = Callable[[str], None]


def apply_policy(counted: Counted, policy: Policy, columns: Sequence[str] | None = None) -> Counted:
    """Apply a policy to counts of its recoded columns (and perhaps others) before anything was hidden.

    Small cells are hidden first; noise is then added to the values that are shown. A local recoding takes what noise
    makes of all columns, so where only some `columns` are wanted, they are chosen from what it publishes.
    """
    if policy.local is not None:
        drawn = counted.randomise(mechanisms_of(policy))
        published = drawn.publish(policy.local, counted.tally.total)
        wanted = [item.column for item in policy.release] if columns is None else list(columns)
        return published if tuple(wanted) == published.columns else published.select(wanted)
    policy = policy if columns is None else only(policy, columns)
    columns = [item.column for item in policy.release]
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


def left_out(seen: Counted, policy: Policy) -> NDArray[np.bool_]:
    """Tell which secrets have a value that is no secret: they are left out of what is said about these columns."""
    own = [policy.secret_of(column) for column in seen.secret_columns]
    if not any(secret.not_secret for secret in own):  # there may be millions of secrets
        return np.zeros(seen.tally.shape[0], dtype=bool)
    return np.array(
        [
            any(secret.leaves_out(label) for secret, label in zip(own, seen.secret_label(place), strict=True))
            for place in range(seen.tally.shape[0])
        ],
        dtype=bool,
    )


def sensitive(seen: Counted, policy: Policy) -> NDArray[np.bool_]:
    """Tell which secrets a cap on certainty is about: those of named values, where some are named."""
    own = [policy.secret_of(column) for column in seen.secret_columns]
    if not any(secret.values for secret in own):
        return np.ones(seen.tally.shape[0], dtype=bool)
    return np.array(
        [
            all(
                secret.is_sensitive(label)
                for secret, label in zip(own, seen.secret_label(place), strict=True)
            )
            for place in range(seen.tally.shape[0])
        ],
        dtype=bool,
    )


def applying(release: Counted, subject: Subject, policy: Policy) -> Counted:
    """Marginalise a release to some of its secret columns, of the people to whom all of these apply."""
    seen = about(release, subject)
    if not any(policy.secret_of(column).not_secret for column in subject):
        return seen
    return seen.without_secrets(left_out(seen, policy))


def worst_leakage_of(release: Counted, policy: Policy) -> Nats:
    """Compute the worst leakage of a released cell, exactly: about all secret columns together, and about each.

    Each is of the people to whom it applies. Where it applies to all, together bounds each.
    """
    all_apply = not any(item.not_secret for item in policy.secrets)
    subjects = [policy.secret] if all_apply else _applying_subjects(release, policy)
    leaks = [cell_pml(applying(release, subject, policy).tally) for subject in subjects]
    return largest(leak.value(leak.worst_first(1)[0]) for leak in leaks)


def _applying_subjects(release: Counted, policy: Policy) -> list[Subject]:
    """All secret columns together, if they apply to anybody together, and each, which does."""
    found = dict.fromkeys([policy.secret, *((column,) for column in policy.secret)])
    return [subject for subject in found if not left_out(about(release, subject), policy).all()]


def require_unweighted(policy: Policy, what: str) -> None:
    """Refuse sampling weights where people are counted as rows.

    Raises
    ------
    InvalidInput
        When the policy names a column of weights.
    """
    if policy.weight is not None:
        raise InvalidInput(
            f"weight must be left out of a plan that is {what}, got {quoted(policy.weight)}: there every row counts as "
            "one person; audit with it."
        )


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
        yield Rule(given.allowed, frozenset({_label(given.value)}))
        return
    named = next((secret.values for secret in policy.secrets if subject == (secret.column,)), ())
    sensitive = given.allowed.kind == "cap" and named
    yield Rule(given.allowed, frozenset(map(_label, named)) if sensitive else None)


def _label(value: str) -> tuple[str | None]:
    """The label of a value that a plan names; missing ones have a name there."""
    return (None if value == MISSING else value,)


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
