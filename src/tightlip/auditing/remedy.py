"""Search for changes of the plan that meet a budget, exactly, from the counts of the plan: no table is asked again.

Families of change, the best of each: hide small cells; coarsen or leave out one column, or several; both; add
randomised response, or more of the noise it has, to one column. Only if none of these meets the budget, all columns
but one are left out and that one is randomised. A change is called optimal where it is proved best in its family: the
smallest min_count, the least noise of a grid (a noisier release is a post-processing of the other and never leaks
more), the most detail among all nodes of a lattice (see lattice.py).

Few numbers of people may be the smallest min_count. A cell above the budget stays until it is hidden, so its size is a
lower end. Beyond that only the hidden people as one cell can be above the budget, and their counts are running sums
over the cells by size.

Remedies for a sample leave out one column or two, the only changes that are fixed before the data is seen. Which cells
are small, which values are rare and which ε would do is read off the sample, so no bound could hold for the change
that looks best. The ways to leave out columns are few and known in advance: each gets its part of the error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.budget import Budget
from tightlip.auditing.certainty import FACTORS, people_by_factor
from tightlip.auditing.counted import Counted
from tightlip.auditing.counting import Cells
from tightlip.auditing.lattice import Best, Climb, Lattice, Look, Node
from tightlip.auditing.leakage import cell_pml, worst_leakage
from tightlip.auditing.plan import (
    Subject,
    about,
    apply_policy,
    applying,
    left_out,
    mechanisms_of,
    name_of,
    odds_of,
    only,
)
from tightlip.auditing.result import Among, Family, Kind, Remedy
from tightlip.auditing.sample import Errors, SampleMode, release_bounds
from tightlip.auditing.tally import Places, Tally, group_keys, sum_by
from tightlip.errors import InvalidInput
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats
from tightlip.table.mechanism import ColumnMechanism, RandomizedResponse
from tightlip.table.policy import Policy

Budgets = Mapping[Subject, Budget]
_MOST_SUMS = 2_000_000  # at a time
_CLEARLY = 1e-9  # nats; far more than the rounding of a lift
_MOST_CHECKS = 200
_SLOWER = 20  # times, sums of large whole numbers than of others


def min_counts(counted: Counted, budgets: Budgets, policy: Policy, *, noise: bool) -> Iterator[int]:
    """List the values of min_count above the planned one that may meet the budgets, each hiding more cells, in order.

    `counted` has the cells before any is hidden. A value that is passed over surely does not meet them; with noise
    afterwards nothing is sure and none is passed over.
    """
    tally = counted.tally
    sizes, place = group_keys(tally.of_cell)
    least, lifts, allowed = policy.min_count or 1, np.zeros(len(sizes)), _only_level(budgets, policy)
    if not noise:
        above = np.flatnonzero(cells_over(counted, budgets, policy))
        least = max(least, int(tally.of_cell[above].max(initial=0)))
        if allowed is not None:
            lifts = _lifts_of_hidden(tally, place, len(sizes))
    for at in range(int(np.searchsorted(sizes, least)), len(sizes) - 1):
        if allowed is None or lifts[at] <= float(allowed) + _CLEARLY:
            yield int(sizes[at]) + 1


def cells_over(release: Counted, budgets: Budgets, policy: Policy) -> NDArray[np.bool_]:
    """Decide exactly which cells of a release say more than a budget allows, about any of the secrets."""
    over = np.zeros(release.tally.shape[1], dtype=bool)
    for subject, budget in budgets.items():
        whole = about(release, subject)
        gone = left_out(whole, policy)
        cells = whole.tally.without_secrets(gone)[1] if gone.any() else slice(None)
        over[cells] |= budget.over(whole.without_secrets(gone))
    return over


def _only_level(budgets: Budgets, policy: Policy) -> Nats | None:
    """The level, where the only budget is one level about all that was counted."""
    ((subject, budget), *others) = budgets.items()
    alone = not others and subject == policy.secret and len(budget.rules) == 1
    return budget.level if alone and not any(secret.not_secret for secret in policy.secrets) else None


def _lifts_of_hidden(tally: Tally, place: Places, sizes: int) -> FloatArray:
    """log max_x s_x of the people hidden when all cells up to each size are, a block of sizes at a time."""
    secrets, places = tally.shape[0], place[tally.cell]
    block = max(_MOST_SUMS // secrets, 1)
    hidden = np.zeros((1, secrets), dtype=tally.count.dtype)
    found = []
    for first in range(0, sizes, block):
        inside = np.flatnonzero((places >= first) & (places < first + block))
        keys = (places[inside] - first) * secrets + tally.secret[inside]
        wide = min(block, sizes - first)
        sums = sum_by(keys, tally.count[inside], wide * secrets).reshape(wide, secrets)
        hidden = hidden[-1] + np.cumsum(sums, axis=0)
        chances = np.asarray(hidden / tally.of_secret, dtype=np.float64)
        shares = np.asarray(hidden.sum(axis=1) / tally.total, dtype=np.float64)
        found.append(np.log(chances.max(axis=1) / shares))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Remedies:
    """Changes that meet the budget, the one that keeps most detail first; where there are none, the closest one.

    `stopped` says that the time was over before all kinds of change were tried.
    """

    found: tuple[Remedy, ...] = ()
    closest: Remedy | None = None
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Search:
    """A plan that leaks too much, its counts, and all ways to coarsen it."""

    counted: Counted
    policy: Policy
    budgets: Budgets
    lattice: Lattice
    until: Deadline = NEVER

    @property
    def noise(self) -> bool:
        return bool(mechanisms_of(self.policy))

    def measure(self, counted: Counted, policy: Policy, kind: Kind, among: Among) -> Remedy | None:
        """Measure a change; None where nothing is released any more."""
        release = apply_policy(counted, policy)
        if release.tally.shape[1] == 1:
            return None
        whole = entropy_of(self.counted.tally)
        kept = detail_of(release) / whole if whole else 0.0
        worst = self.worst(release)
        hidden = counted.tally.share_of(np.flatnonzero(counted.tally.of_cell < (policy.min_count or 0)))
        return Remedy(
            policy, worst, min(max(kept, 0.0), 1.0), kind, among, float(hidden), self.by_factor(release)
        )

    def by_factor(self, release: Counted) -> dict[str, tuple[int, ...]]:
        """Count people by the factor of their cell, for each secret that has a budget."""
        seen = {subject: applying(release, subject, self.policy) for subject in self.budgets}
        return {
            name_of(subject): people_by_factor(cell_pml(each.tally), FACTORS)
            for subject, each in seen.items()
        }

    def meets(self, release: Counted) -> bool:
        """Whether a release says something and keeps the budget, decided exactly."""
        return release.tally.shape[1] > 1 and not self.over(release)

    def over(self, release: Counted) -> bool:
        """Whether a release says more than a budget allows, about any of the secrets."""
        if self.until.left() <= 0:
            raise _TimeOver
        return bool(cells_over(release, self.budgets, self.policy).any())

    def worst(self, release: Counted) -> Nats:
        """Compute the worst leakage about any of the secrets that have a budget."""
        seen = (applying(release, subject, self.policy) for subject in self.budgets)
        return max(worst_leakage(each.tally) for each in seen)

    def measure_if_met(self, counted: Counted, policy: Policy, kind: Kind, among: Among) -> Remedy | None:
        """Measure a change if it meets the budget."""
        if not self.meets(apply_policy(counted, policy)):
            return None
        return self.measure(counted, policy, kind, among)

    def smallest_min_count(self, counted: Counted, policy: Policy) -> int | None:
        """Find the smallest min_count above the plan's that meets the budget; None where none does.

        With noise, where each takes long, only the first 200 are tried.
        """
        found = min_counts(counted, self.budgets, policy, noise=self.noise)
        for least in islice(found, _MOST_CHECKS if self.noise else None):
            if self.meets(apply_policy(counted, replace(policy, min_count=least))):
                return least
        return None


def remedies_for(
    counted: Counted, policy: Policy, budgets: Budgets, kinds: Mapping[str, str], until: Deadline = NEVER
) -> Remedies:
    """Search for changes of a plan that meet all budgets of its secrets, some of which it does not meet.

    Parameters
    ----------
    counted : the counts of the policy before small cells are hidden
    kinds : the kind of each column of the table
    until : when the search has to end; what was found by then is returned
    """
    search = _Search(counted, policy, budgets, Lattice.of(policy, counted, kinds), until)
    climb = Climb(search.lattice, lambda node: _look(search, node), monotone=_quiet(search), until=until)
    tried: list[Remedy | None] = []
    closest, stopped = None, False
    try:
        climb.greedy()
        tried.extend(_try_coarsening(search, climb))
        tried.extend(_try_hiding(search, climb))
        tried.extend(_try_noise(search, policy, item.column) for item in policy.release)
        if not _distinct(tried):
            alone = (_try_noise(search, only(policy, [item.column]), item.column) for item in policy.release)
            tried.extend(alone)
        closest = None if _distinct(tried) else _closest(search, climb)
    except _TimeOver:
        stopped = True
    found = sorted(_distinct(tried), key=lambda remedy: -remedy.kept)
    return Remedies(tuple(found), closest, stopped)


class _TimeOver(Exception):
    """The time for the search is over; what was found by then is told."""


def _quiet(search: _Search) -> bool:
    """Whether the plan neither hides cells nor adds noise: then coarser columns never leak more."""
    return search.policy.min_count is None and not search.noise


def _look(search: _Search, node: Node, *, hiding: bool = False) -> Look:
    """A node with what the plan hides and randomises; or, where that is not enough, with the smallest min_count."""
    policy = search.lattice.policy_at(node)
    if policy is None:
        return Look(0.0, -math.inf, math.inf, 0)
    counted, work = search.lattice.count_at(node)
    work *= len(search.budgets)
    entropy, release = entropy_of(counted.tally), apply_policy(counted, policy)
    if release.tally.count.dtype == object:
        work += _SLOWER * len(release.tally.count)
    if release.tally.shape[1] == 1:
        return Look(entropy, -math.inf, math.inf, work)
    worst = float(search.worst(release))
    if not search.over(release):
        return Look(entropy, detail_of(release), worst, work)
    least = search.smallest_min_count(counted, policy) if hiding else None
    if least is None:
        return Look(entropy, -math.inf, worst, work)
    hidden = apply_policy(counted, replace(policy, min_count=least))
    return Look(entropy, detail_of(hidden), float(search.worst(hidden)), work)


def _try_coarsening(search: _Search, climb: Climb) -> Iterator[Remedy | None]:
    """The best way to coarsen several columns, then each column alone."""
    columns = range(len(search.policy.release))
    if len(columns) > 1:
        yield _at(search, climb.upwards(columns), _among(climb, columns, "coarsen"))
    for column in columns:
        best = climb.upwards([column])
        name = search.policy.release[column].column
        yield _at(search, best, _among(climb, [column], "coarsen", name))


def _try_hiding(search: _Search, climb: Climb) -> Iterator[Remedy | None]:
    """Small cells hidden in the plan itself, then in the best coarsening of it."""
    # with noise one below the planned may do, since hiding is told
    least = search.policy.min_count is None or not search.noise
    yield _at(search, Best(search.lattice.bottom, least), Among("hide"), hiding=True)
    if search.noise:
        return
    columns = range(len(search.policy.release))
    both = Climb(search.lattice, lambda node: _look(search, node, hiding=True), monotone=False)
    start = climb.best_known(columns)
    if start is not None:
        both.look(start)
    best = both.upwards(columns)
    yield _at(search, best, _among(both, columns, "coarsen and hide"), hiding=True)


def _among(climb: Climb, free: Sequence[int], family: Family, column: str | None = None) -> Among:
    """Among how many changes a node was searched for, and how many of them were counted."""
    counted = len({*climb.nodes_counted(free)} - {climb.lattice.bottom})
    return Among(family, column, climb.lattice.size(free) - 1, counted)


def _at(search: _Search, best: Best, among: Among, *, hiding: bool = False) -> Remedy | None:
    """A node as a remedy; when hiding, one that needs a larger min_count than the plan's, with the smallest."""
    policy = None if best.node is None else search.lattice.policy_at(best.node)
    if best.node is None or policy is None:
        return None
    counted, _ = search.lattice.count_at(best.node)
    if hiding:
        enough = search.meets(apply_policy(counted, policy))
        least = None if enough else search.smallest_min_count(counted, policy)
        if least is None:
            return None
        policy = replace(policy, min_count=least)
    return search.measure_if_met(counted, policy, "optimal" if best.proved else "heuristic", among)


def _try_noise(search: _Search, policy: Policy, name: str) -> Remedy | None:
    """The least noise that will do on one column, of those that its mechanism offers."""
    ways = _noisier(policy, name)

    def at(step: int) -> Remedy | None:
        changed = _with_noise(policy, name, ways[step - 1])
        return search.measure_if_met(search.counted, changed, "optimal", Among("randomise", name))

    try:
        return _largest(at, len(ways))
    except InvalidInput:  # too many cells for noise
        return None


def _noisier(policy: Policy, name: str) -> Sequence[ColumnMechanism]:
    """What may be tried on a column: more noise of its own kind; randomised response where it has none."""
    mechanism = mechanisms_of(policy).get(name)
    return RandomizedResponse.grid() if mechanism is None else mechanism.noisier()


def _with_noise(policy: Policy, name: str, mechanism: ColumnMechanism) -> Policy:
    release = tuple(
        replace(item, mechanism=mechanism) if item.column == name else item for item in policy.release
    )
    return replace(policy, release=release)


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


def _closest(search: _Search, climb: Climb) -> Remedy | None:
    """Of everything that was measured the change that leaks least, though too much; none where all say nothing."""
    among = Among("any")
    found = []
    node = min(climb.known, key=lambda node: climb.known[node].leakage, default=None)
    policy = None if node is None else search.lattice.policy_at(node)
    if node is not None and policy is not None:
        counted, _ = search.lattice.count_at(node)
        found.append(search.measure(counted, policy, "heuristic", among))
    for item in search.policy.release:
        alone = only(search.policy, [item.column])
        ways = _noisier(alone, item.column)
        if not ways:
            continue
        changed = _with_noise(alone, item.column, ways[0])
        try:
            found.append(search.measure(search.counted, changed, "heuristic", among))
        except InvalidInput:  # too many cells for noise
            continue
    told = [remedy for remedy in found if remedy is not None]
    return min(told, key=lambda remedy: remedy.leakage, default=None)


def _distinct(tried: Sequence[Remedy | None]) -> list[Remedy]:
    """Each plan once, with what is proved of it where something is."""
    found: dict[Policy, Remedy] = {}
    for remedy in tried:
        if remedy is not None and (remedy.policy not in found or found[remedy.policy].kind == "heuristic"):
            found[remedy.policy] = remedy
    return list(found.values())


def entropy_of(tally: Tally) -> float:
    """Compute the entropy H(cell) in nats."""
    shares = np.asarray(tally.of_cell / tally.total, dtype=np.float64)
    return -float((shares * np.log(shares / tally.cells)).sum())


def detail_of(release: Counted) -> float:
    """Compute I(recoded cell; released cell) in nats: the entropy of what is released less that of the noise."""
    return max(entropy_of(release.tally) - release.noise_entropy, 0.0)


def departures(policy: Policy) -> list[tuple[str, ...]]:
    """List the columns that could be left out, alone or two together."""
    names = [item.column for item in policy.release]
    return [gone for count in (1, 2) if count < len(names) for gone in combinations(names, count)]


def sample_remedies(
    cells: Cells, budgets: Budgets, delta: Fraction, errors: Errors, mode: SampleMode
) -> tuple[Remedy, ...]:
    """Find columns to leave out so that a leakage above the budget has probability at most δ, surely; one before two.

    `errors` are of each change and secret; `leakage` is the largest bound on the envelope at δ.
    """
    policy, odds = cells.policy, odds_of(cells.policy)
    found: list[tuple[int, Remedy]] = []
    whole = _detail(cells, cells.columns)
    for gone in departures(policy):
        if found and len(gone) > found[0][0]:
            break
        kept_columns = [column for column in cells.columns if column not in gone]
        bounds = [
            release_bounds(
                cells.before_noise(subject, kept_columns),
                cells.release(subject, kept_columns, kinds=not odds),
                odds,
                errors,
                mode,
                budget.level,
            )
            for subject, budget in budgets.items()
        ]
        levels = [budget.level for budget in budgets.values()]
        pairs = zip(bounds, levels, strict=True)
        if all(level is None or bound.above_level(level) <= delta for bound, level in pairs):
            kept = _detail(cells, kept_columns) / whole if whole else 0.0
            leakage = max(bound.upper_envelope(delta) for bound in bounds)
            changed = only(policy, kept_columns)
            found.append((len(gone), Remedy(changed, leakage, kept, "heuristic", Among("leave out"))))
    return tuple(sorted((remedy for _, remedy in found), key=lambda remedy: -remedy.kept))


def _detail(cells: Cells, columns: Sequence[str]) -> float:
    return detail_of(cells.release(cells.policy.secret[:1], columns))
