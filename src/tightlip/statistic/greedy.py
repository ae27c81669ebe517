"""Good selections fast: lazy greedy over all secrets, then exchange of single rows until none helps.

The objective is monotone and submodular, so greedy over the partition matroid reaches at least half of the optimum.
"""

from __future__ import annotations

import heapq

import numpy as np

from tightlip.numeric.parse import FloatArray
from tightlip.statistic.cover import Cover
from tightlip.statistic.groups import Places
from tightlip.statistic.work import CALL, Work

_WORTHWHILE = 1 + 1e-13


def greedy(cover: Cover) -> Places:
    """Choose, again and again, the row that adds most among the secrets without one.

    A gain only shrinks as the selection grows, so an old one that is still the largest when renewed is the largest.
    """
    covered = np.zeros(cover.outputs)
    chosen = np.full(cover.groups, -1, dtype=np.intp)
    heap = [(-gain, row, 0) for row, gain in enumerate(cover.gains(covered).tolist())]
    heapq.heapify(heap)
    done = 0
    while done < cover.groups:
        _, row, seen = heapq.heappop(heap)
        group = cover.group_of(row)
        if chosen[group] >= 0:
            continue
        columns, values = cover.entries(row)
        if seen == done:
            chosen[group] = row
            covered[columns] = np.maximum(covered[columns], values)
            done += 1
        else:
            gain = float(np.maximum(values - covered[columns], 0.0).sum())
            heapq.heappush(heap, (-gain, row, done))
    return chosen


def exchange(cover: Cover, selection: Places, work: Work, share: float = 1.0) -> Places:
    """Give one secret after another its best row, the others staying, until a whole round changes nothing.

    It stops early where that share of the work is done.
    """
    chosen = selection.copy()
    best, owner, second = _two_best(cover, chosen)
    value = float(best.sum())
    quiet, group = 0, 0
    while quiet < cover.groups and work.left(share):
        others = np.where(owner == group, second, best)
        gains = cover.gains_of(cover.members(group), others)
        row = int(np.argmax(gains))
        work.add(cover.size_of(cover.members(group)) + cover.outputs + CALL)
        found = float(others.sum() + gains[row])
        quiet += 1
        if found > value * _WORTHWHILE:
            chosen[group] = cover.members(group)[row]
            best, owner, second = _two_best(cover, chosen)
            value, quiet = float(best.sum()), 0
            work.add(cover.groups * CALL)
        group = (group + 1) % cover.groups
    return chosen


def _two_best(cover: Cover, selection: Places) -> tuple[FloatArray, Places, FloatArray]:
    """For each output the largest selected entry, whose it is, and the largest of the others."""
    best, second = np.zeros(cover.outputs), np.zeros(cover.outputs)
    owner = np.full(cover.outputs, -1, dtype=np.intp)
    for group, row in enumerate(selection.tolist()):
        columns, values = cover.entries(row)
        leads = values > best[columns]
        held = columns[~leads]
        second[held] = np.maximum(second[held], values[~leads])
        taken = columns[leads]
        second[taken] = best[taken]
        best[taken] = values[leads]
        owner[taken] = group
    return best, owner, second
