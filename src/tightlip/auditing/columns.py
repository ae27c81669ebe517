"""What each released column adds: its leakage alone, and the leakage of the release without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import only, released
from tightlip.auditing.result import ColumnEffect
from tightlip.numeric.quantity import Nats
from tightlip.table.policy import Policy

Measure = Callable[[Counted, Counted], Nats]


def column_effects(
    counted: Counted, policy: Policy, subjects: Sequence[tuple[str, ...]], measure: Measure
) -> dict[tuple[str, ...], tuple[ColumnEffect, ...]]:
    """For each secret (a tuple of secret columns) the released columns, the one that is missed most first.

    `measure` is given the counts of some columns before anything is hidden or randomised, and their release.
    Suppression and noise are applied anew to the columns that are left; releasing nothing leaks nothing.
    """
    names = [item.column for item in policy.release]

    def both(columns: list[str]) -> tuple[Counted, Counted]:
        return counted.keeping(columns), released(counted, only(policy, columns))

    alone = {name: both([name]) for name in names}
    without = {name: both([other for other in names if other != name]) for name in names if len(names) > 1}

    def amount(found: tuple[Counted, Counted] | None, subject: tuple[str, ...]) -> Nats:
        if found is None:
            return Nats(0.0, Fraction(1))
        return measure(about(found[0], subject), about(found[1], subject))

    return {
        subject: _ranked(
            [
                ColumnEffect(name, amount(alone[name], subject), amount(without.get(name), subject))
                for name in names
            ]
        )
        for subject in subjects
    }


def about(release: Counted, subject: tuple[str, ...]) -> Counted:
    """The release as some of the secret columns see it."""
    return release if subject == release.secret_columns else release.about(subject)


def _ranked(effects: list[ColumnEffect]) -> tuple[ColumnEffect, ...]:
    """By how far the leakage falls without the column, then by what it leaks alone."""
    return tuple(sorted(effects, key=lambda effect: (float(effect.without), -float(effect.alone))))
