"""Changes of the plan that meet a budget, each counted anew.

One change first: hide small cells, leave a column out, coarsen it, or randomise it. If none does, two: hide small
cells after any change of a column, or leave two columns out. If none does, columns are left out one after the other,
each time the one without which least is left. Only two things are proved best, each within its own family: the smallest
min_count (every smaller one was checked or leaves a cell above the budget as it is), and the largest ε on a grid of
1/20 nat (a larger ε of randomised response never leaks less: the noisier release is a post-processing of the other).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tightlip.audit.coarser import coarser
from tightlip.audit.counted import Counted
from tightlip.audit.leakage import cell_pml
from tightlip.audit.plan import odds_of, only, released
from tightlip.audit.result import Kind, Remedy
from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_about
from tightlip.numeric.quantity import Nats
from tightlip.table.policy import Policy, RandomizedResponse, Released

GRID = 20  # steps of ε in a nat
_MOST_GRID = 200
_MOST_CHECKS = 200


@dataclass(frozen=True, slots=True)
class _Search:
    """A policy that leaks too much, its counts, and how to count another one."""

    counted: Counted
    policy: Policy
    budget: Nats
    recount: Callable[[Policy], Counted]
    kinds: Mapping[str, str]
    detail: float

    def tried(self, counted: Counted, policy: Policy, change: str, kind: Kind = "heuristic") -> Remedy | None:
        """The change as a remedy, if it meets the budget and still releases something."""
        release = released(counted, policy)
        leak = cell_pml(release.tally)
        if release.tally.shape[1] == 1 or leak.above(self.budget).any():
            return None
        kept = detail_of(release, policy) / self.detail if self.detail else 0.0
        return Remedy(change, policy, leak.value(leak.worst_first(1)[0]), min(max(kept, 0.0), 1.0), kind)


def remedies_for(
    counted: Counted,
    policy: Policy,
    budget: Nats,
    recount: Callable[[Policy], Counted],
    kinds: Mapping[str, str],
) -> tuple[Remedy, ...]:
    """Changes that meet the budget, the one that keeps most detail first; none if all columns must go.

    Parameters
    ----------
    counted : the counts of the policy before small cells are hidden
    recount : counts the columns of a changed policy
    kinds : the kind of each column of the table
    """
    detail = detail_of(released(counted, policy), policy)
    search = _Search(counted, policy, budget, recount, kinds, detail)
    found = [remedy for remedy in _single(search) if remedy is not None]
    if not found:
        found = [remedy for remedy in _pairs(search) if remedy is not None]
    if not found:
        found = [remedy for remedy in _one_after_the_other(search) if remedy is not None]
    return tuple(sorted(found, key=lambda remedy: -remedy.kept))


def _single(search: _Search) -> Iterator[Remedy | None]:
    yield _hidden(search, search.counted, search.policy, "")
    for item in search.policy.release:
        yield _randomised(search, item.column)
        for counted, policy, change in _column_changes(search, item.column):
            remedy = search.tried(counted, policy, change)
            if remedy is not None:
                yield remedy
                break


def _pairs(search: _Search) -> Iterator[Remedy | None]:
    names = [item.column for item in search.policy.release]
    for name in names:
        for counted, policy, change in _column_changes(search, name):
            remedy = _hidden(search, counted, policy, f"{change}, then ", "heuristic")
            if remedy is not None:
                yield remedy
                break
    for one, two in combinations(names, 2) if len(names) > 2 else ():
        policy = only(search.policy, [name for name in names if name not in (one, two)])
        yield search.tried(search.counted, policy, f"leave out {one} and {two}")


def _one_after_the_other(search: _Search) -> Iterator[Remedy | None]:
    names = [item.column for item in search.policy.release]
    gone: list[str] = []
    while len(names) > 1:
        rest = {name: _worst(search, [other for other in names if other != name]) for name in names}
        gone.append(min(names, key=rest.__getitem__))
        names.remove(gone[-1])
        remedy = search.tried(search.counted, only(search.policy, names), f"leave out {listed(gone)}")
        if remedy is not None:
            yield remedy
            return


def _worst(search: _Search, names: list[str]) -> float:
    return float(cell_pml(released(search.counted, only(search.policy, names)).tally).upper.max())


def _column_changes(search: _Search, name: str) -> Iterator[tuple[Counted, Policy, str]]:
    """A column coarser and coarser, and at last left out."""
    item = next(item for item in search.policy.release if item.column == name)
    for recoding in coarser(item, search.kinds.get(name, "text"), search.counted):
        changed = replace(item, recoding=recoding)
        release = tuple(changed if other is item else other for other in search.policy.release)
        policy = replace(search.policy, release=release)
        try:
            counted = search.recount(policy)
        except InvalidInput:  # the recoding does not fit this column after all
            continue
        if len(counted.values[counted.columns.index(name)]) > 1:  # one value for everybody is leaving it out
            yield counted, policy, f"release {name} {recoding.words()}"
    rest = only_without(search.policy, name)
    if rest is not None:
        yield search.counted, rest, f"leave out {name}"


def only_without(policy: Policy, name: str) -> Policy | None:
    """The policy without one column; None where it is the last."""
    names = [item.column for item in policy.release if item.column != name]
    return only(policy, names) if names else None


def _hidden(
    search: _Search, counted: Counted, policy: Policy, before: str, kind: Kind = "optimal"
) -> Remedy | None:
    """The smallest min_count that meets the budget."""
    whole = released(counted, replace(policy, min_count=None, release=_quiet(policy)))
    sizes = np.unique(whole.tally.of_cell)
    least = policy.min_count or 1
    if not odds_of(policy):
        above = np.flatnonzero(cell_pml(whole.tally).above(search.budget))
        least = max(least, int(whole.tally.of_cell[above].max()) if len(above) else 0)
    for size in [int(size) for size in sizes if size >= least][:_MOST_CHECKS]:
        changed = replace(policy, min_count=size + 1)
        share = float(whole.tally.share_of(np.flatnonzero(whole.tally.of_cell <= size)))
        change = f"{before}hide cells of fewer than {size + 1} people ({format_about(100 * share, 2)} % of all people)"
        remedy = search.tried(counted, changed, change, kind)
        if remedy is not None:
            return remedy
    return None


def _quiet(policy: Policy) -> tuple[Released, ...]:
    return tuple(replace(item, mechanism=None) for item in policy.release)


def _randomised(search: _Search, name: str) -> Remedy | None:
    """The largest ε on the grid for randomised response on one column."""
    item = next(item for item in search.policy.release if item.column == name)
    most = _MOST_GRID if item.mechanism is None else math.ceil(item.mechanism.epsilon * GRID) - 1

    def at(step: int) -> Remedy | None:
        epsilon = step / GRID
        changed = replace(item, mechanism=RandomizedResponse(epsilon))
        release = tuple(changed if other is item else other for other in search.policy.release)
        change = f"add randomised response with ε = {epsilon:g} nats to {name}"
        return search.tried(search.counted, replace(search.policy, release=release), change, "optimal")

    try:
        return _largest(at, min(most, _MOST_GRID))
    except InvalidInput:  # too many cells for noise
        return None


def _largest(at: Callable[[int], Remedy | None], most: int) -> Remedy | None:
    """The remedy of the largest step from 1 that is one; they are one up to some step and none above."""
    low, high = 0, most + 1
    best: Remedy | None = None
    while high - low > 1:
        middle = 1 if low == 0 and best is None and high == most + 1 else (low + high) // 2
        found = at(middle)
        if found is None:
            high = middle
        else:
            low, best = middle, found
    return best


def detail_of(release: Counted, policy: Policy) -> float:
    """I(recoded cell; released cell) in nats: the entropy of what is released less that of the noise."""
    shares = np.asarray(release.tally.of_cell / release.tally.total, dtype=np.float64)
    entropy = -float((shares * np.log(shares)).sum())
    hidden = (release.codes < 0).any(axis=1)
    shown = 1 - float(shares[hidden].sum())
    for column, odds in odds_of(policy).items():
        count = len(release.values[release.columns.index(column)])
        truth, lie = float(odds / (odds + count - 1)), float(1 / (odds + count - 1))
        entropy += shown * (
            truth * math.log(truth) + ((count - 1) * lie * math.log(lie) if count > 1 else 0.0)
        )
    return max(entropy, 0.0)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
