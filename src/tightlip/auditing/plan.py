"""What a policy makes of counted cells: which columns, small cells hidden, then noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tightlip.auditing.counted import Counted
from tightlip.table.mechanism import ColumnMechanism
from tightlip.table.policy import Policy


def released(counted: Counted, policy: Policy) -> Counted:
    """The release of a policy, from counts of its recoded columns (and perhaps others) before anything was hidden.

    Small cells are hidden first; noise is then added to the values that are shown.
    """
    columns = [item.column for item in policy.release]
    kept = counted if tuple(columns) == counted.columns else counted.keeping(columns)
    return kept.suppressed(policy.min_count).randomised(mechanisms_of(policy))


def mechanisms_of(policy: Policy) -> dict[str, ColumnMechanism]:
    """The mechanism of every column that has one."""
    return {item.column: item.mechanism for item in policy.release if item.mechanism is not None}


def odds_of(policy: Policy) -> dict[str, Fraction]:
    """The odds e^ε of every column with randomised response."""
    odds = {column: mechanism.response_odds() for column, mechanism in mechanisms_of(policy).items()}
    return {column: own for column, own in odds.items() if own is not None}


def only(policy: Policy, columns: Sequence[str]) -> Policy:
    """The policy with some of its released columns."""
    return replace(policy, release=tuple(item for item in policy.release if item.column in columns))
