"""Remedies for a sample: leaving out one column or two, the only changes that are fixed before the data is seen.

Which cells are small, which values are rare and which ε would do is read off the sample, so no bound could hold for
the change that looks best. The ways to leave out columns are few and known in advance: each gets its part of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from tightlip.auditing.columns import about
from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import odds_of, only, released
from tightlip.auditing.remedy import detail_of
from tightlip.auditing.result import Among, Remedy
from tightlip.auditing.sample import SampleMode
from tightlip.auditing.sample_noise import Errors, release_bounds
from tightlip.numeric.quantity import Nats
from tightlip.table.policy import Policy


def departures(policy: Policy) -> list[tuple[str, ...]]:
    """The columns that could be left out, alone or two together."""
    names = [item.column for item in policy.release]
    return [gone for count in (1, 2) if count < len(names) for gone in combinations(names, count)]


def sampled_remedies(
    counted: Counted,
    policy: Policy,
    subjects: Sequence[tuple[str, ...]],
    budget: Nats,
    delta: Fraction,
    errors: Errors,
    mode: SampleMode,
) -> tuple[Remedy, ...]:
    """Columns to leave out so that a leakage above the budget has probability at most δ, surely; one before two.

    `errors` are of each change and secret; `leakage` is the largest bound on the envelope at δ.
    """
    found: list[tuple[int, Remedy]] = []
    whole = detail_of(released(counted, policy))
    for gone in departures(policy):
        if found and len(gone) > found[0][0]:
            break
        kept_columns = [item.column for item in policy.release if item.column not in gone]
        changed = only(policy, kept_columns)
        plain, release = counted.keeping(kept_columns), released(counted, changed)
        bounds = [
            release_bounds(
                about(plain, subject), about(release, subject), odds_of(policy), errors, mode, budget
            )
            for subject in subjects
        ]
        if all(bound.above_level(budget) <= delta for bound in bounds):
            kept = detail_of(release) / whole if whole else 0.0
            leakage = max(bound.mean_of_worst(delta) for bound in bounds)
            found.append((len(gone), Remedy(changed, leakage, kept, "heuristic", Among("leave out"))))
    return tuple(sorted((remedy for _, remedy in found), key=lambda remedy: -remedy.kept))
