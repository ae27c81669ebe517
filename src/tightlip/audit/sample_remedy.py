"""Remedies for a sample: leaving out one column or two, the only changes that are fixed before the data is seen.

Which cells are small, which values are rare and which ε would do is read off the sample, so no bound could hold for
the change that looks best. The ways to leave out columns are few and known in advance: each gets its part of the error.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from tightlip.audit.counted import Counted
from tightlip.audit.plan import only, released
from tightlip.audit.remedy import detail_of, listed
from tightlip.audit.result import Remedy
from tightlip.audit.sample import SampleMode, sample_bounds
from tightlip.numeric.quantity import Nats
from tightlip.table.policy import Policy


def departures(policy: Policy) -> list[tuple[str, ...]]:
    """The columns that could be left out, alone or two together."""
    names = [item.column for item in policy.release]
    return [gone for count in (1, 2) if count < len(names) for gone in combinations(names, count)]


def sampled_remedies(
    counted: Counted, policy: Policy, budget: Nats, delta: Fraction, error: float, mode: SampleMode
) -> tuple[Remedy, ...]:
    """Columns to leave out so that a leakage above the budget has probability at most δ, surely; one before two.

    `error` is the error probability of each change; `leakage` is the bound on the envelope at δ.
    """
    found: list[tuple[int, Remedy]] = []
    whole = detail_of(released(counted, policy), policy)
    for gone in departures(policy):
        if found and len(gone) > found[0][0]:
            break
        changed = only(policy, [item.column for item in policy.release if item.column not in gone])
        release = released(counted, changed)
        bounds = sample_bounds(release.tally, error, budget, cells_complete=mode.cells_complete)
        if bounds.above_level(budget) <= delta:
            kept = detail_of(release, changed) / whole if whole else 0.0
            leakage = bounds.mean_of_worst(delta)
            found.append(
                (len(gone), Remedy(f"leave out {listed(gone)}", changed, leakage, kept, "heuristic"))
            )
    return tuple(sorted((remedy for _, remedy in found), key=lambda remedy: -remedy.kept))
