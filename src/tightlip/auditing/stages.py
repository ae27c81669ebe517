"""The stages of an audit by name, so that whoever waits can be told which one runs and how many are to come."""

from __future__ import annotations

from collections.abc import Callable

from tightlip.table.policy import Policy

Subject = tuple[str, ...]
OnStage = Callable[[str], None]


def silent(stage: str) -> None:
    """Tell nobody."""


def subjects_of(policy: Policy) -> list[Subject]:
    """What is audited: all secret columns together and, where there are several, each of them.

    >>> subjects_of(Policy(["ill", "rich"], ["age"]))
    [('ill', 'rich'), ('ill',), ('rich',)]
    """
    secret = policy.secret
    return [secret] if len(secret) == 1 else [secret, *((column,) for column in secret)]


def name_of(subject: Subject) -> str:
    """What a view is called: the column, or "a × b"."""
    return " × ".join(subject)


def stages_of(policy: Policy, *, sample: bool = False, budget: bool = False) -> list[str]:
    """The names that `on_stage` is called with, in order; "remedies" only if the budget turns out not to be kept.

    >>> stages_of(Policy("ill", ["age", "zip"]), budget=True)
    ['counting', 'columns', 'measuring ill', 'envelope ill', 'remedies']
    """
    found = ["counting", "columns"]
    for subject in subjects_of(policy):
        name = name_of(subject)
        if len(subject) == 1 and subject[0] in policy.statistic:
            found.append(f"statistic {name}")
        found += [f"measuring {name}"] if sample else [f"measuring {name}", f"envelope {name}"]
    return [*found, "remedies"] if budget else found
