"""Draw a histogram uniformly among those whose secret has one value, or a value in a range.

A secret depends on the counts of at most five groups of cells. So the counts of the groups are drawn first, in
proportion to how many histograms have them, and the histograms inside the groups uniformly after that.

The counts of the groups are drawn
    directly      one value of a share leaves no choice;
    by counting   all vectors of group counts are listed, for a ratio in blocks: exact;
    by rejection  uniform histograms are drawn until one fits: exact;
    by a chain    Metropolis chains, with their convergence checked: not exact, see chain.py.

Whatever the way, a draw depends on the value asked for and on nothing else of the table, so an inexact draw costs
accuracy, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tightlip.arguments import instance
from tightlip.errors import InvalidInput
from tightlip.histogram.chain import chain_group_counts
from tightlip.histogram.ratio_blocks import MOST_ROWS, draw_ratio
from tightlip.histogram.sampling import uniform_histogram, uniform_in_groups
from tightlip.histogram.secret import GroupedSecret
from tightlip.histogram.weights import draw_weighted
from tightlip.numeric.randomness import Integers, RandomSource

_MOST_LISTED = 2_000_000
_TRIES = 200


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalDraw:
    """A histogram, whether its distribution is exactly the stated one, and how it was drawn."""

    counts: Integers
    exact: bool
    method: str


def draw_given_secret(secret: GroupedSecret, values: range, random: RandomSource) -> ConditionalDraw:
    """Draw a histogram uniformly among those whose secret has an index in a range.

    Parameters
    ----------
    secret : GroupedSecret
    values : indices of consecutive secret values, such as those of a bin
    random : where the bits come from

    Returns
    -------
    ConditionalDraw
        `exact` says whether every such histogram was equally likely without any approximation.

    Raises
    ------
    InvalidInput
        When no histogram has such a secret.
    NumericalFailure
        When the chains did not converge.
    """
    instance(secret, GroupedSecret, "secret", "use secret.on(domain, total)")
    instance(values, range, "values", "write range(3, 5)")
    instance(random, RandomSource, "random", "write RandomSource()")
    groups, exact, method = _draw_groups(secret, values, random)
    counts = uniform_in_groups(secret.group_of_cell, groups.tolist(), random)
    return ConditionalDraw(counts, exact, method)


def _draw_groups(secret: GroupedSecret, values: range, random: RandomSource) -> tuple[Integers, bool, str]:
    total, is_share = secret.total, not secret.sizes[-1] and len(secret.sizes) == 3
    if is_share and len(values) == 1:
        return np.array([values[0], total - values[0], 0]), True, "stars and bars"
    if is_share:
        rows = np.arange(values.start, values.stop)
        states = np.stack([rows, total - rows, np.zeros_like(rows)], axis=1)
        return draw_weighted(states, secret.sizes, random), True, "counting"
    used = sum(size > 0 for size in secret.sizes)
    if math.comb(total + used - 1, used - 1) <= _MOST_LISTED:
        return draw_weighted(_listed(secret, used, values), secret.sizes, random), True, "counting"
    if len(secret.sizes) == 3 and total <= MOST_ROWS:
        return draw_ratio(secret, values, random), True, "counting in blocks"
    found = _reject(secret, values, random)
    if found is not None:
        return found, True, "rejection"
    groups, how = chain_group_counts(secret, values, random)
    return groups, False, how


def _listed(secret: GroupedSecret, used: int, values: range) -> Integers:
    """Every vector of group counts whose secret is in range."""
    vectors = compositions(secret.total, used)
    empty = np.zeros(
        (len(vectors), len(secret.sizes) - used), dtype=np.int64
    )  # only the last group can be empty
    vectors = np.hstack([vectors, empty])
    index = secret.index_each(vectors)
    states = vectors[(index >= values.start) & (index < values.stop)]
    if not len(states):
        raise InvalidInput(f"no table of {secret.total} rows has a secret in a bin; choose larger bins.")
    return states


def compositions(total: int, parts: int) -> Integers:
    """List every vector of `parts` counts that add up to `total`."""
    slots = total + parts - 1
    flat = np.fromiter(
        (bar for bars in combinations(range(slots), parts - 1) for bar in bars),
        dtype=np.int64,
        count=math.comb(slots, parts - 1) * (parts - 1),
    )
    return np.diff(flat.reshape(-1, parts - 1), prepend=-1, append=slots, axis=1) - 1


def _reject(secret: GroupedSecret, values: range, random: RandomSource) -> Integers | None:
    """Group counts of the first uniform histogram that fits, if one of a few does."""
    for _ in range(_TRIES):
        rows = secret.group_counts(uniform_histogram(secret.total, len(secret.group_of_cell), random))
        if int(secret.index_each(rows[None, :])[0]) in values:
            return rows
    return None
