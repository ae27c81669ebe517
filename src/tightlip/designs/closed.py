"""Mechanisms in closed form, where the best one is known without a solver. Proofs are in docs/design.md.

    truth        the best output for each secret, where the guarantees allow it
    constant     nothing, where they allow nothing else
    greatest     where the allowed columns are the mixtures of n of them: two secrets, PMC, PML with
                 e^ε ≤ 1/(1 − p_min). Every allowed channel is a post-processing of the one made of these columns, so
                 it is best for everything, followed by the best output for each of its outcomes
    symmetric    the prior is uniform and so are loss and guarantees: the truth with the largest probability allowed,
                 all other outputs alike (randomised response, under LDP)
    cyclic       for informations under a uniform prior: all outputs are shifts of one extreme column (subset
                 mechanisms, with n outputs in place of all subsets)

All are exact, and offered only where they are proved to keep the guarantees.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from tightlip.designs.guarantee import Alip, Rows, Side, Vector
from tightlip.designs.linear import Kernel, Problem, Whole, constant_kernel, keeps, truth_kernel, whole

_MOST_SUBSETS = 2000  # outputs of a mechanism that is told as a matrix


def candidates(problem: Problem) -> Iterator[tuple[str, Kernel]]:
    """List mechanisms in closed form that keep the guarantees, the most telling first."""
    best = truth_kernel(problem)
    if keeps(problem, best):
        yield "truth", best
        return
    columns = greatest(problem)
    if columns is not None:
        kernel = _followed(problem, columns)
        if keeps(problem, kernel):
            yield "greatest mechanism, followed by the best output", kernel
    kernel_or_none = symmetric(problem)
    if kernel_or_none is not None and keeps(problem, kernel_or_none):
        yield "symmetric mechanism", kernel_or_none
    yield "nothing is released", constant_kernel(problem)


def greatest(problem: Problem, side: Side = Side.INNER) -> list[Vector] | None:
    """Find columns, summing to 1, of whose mixtures the cone consists; None where they are not known."""
    rows, masses = problem.rows(side), problem.masses
    if rows.most is not None:
        return None
    if len(masses) == 2:
        return _two_secrets(rows)
    if len(problem.guarantees) != 1:
        return None
    own = problem.guarantees[0]
    if not isinstance(own, Alip) or own.about is not None:
        return None
    if own.upper is None:
        row = rows.lower[0]
    elif own.lower is None and rows.upper[0].row[0] * (1 - min(masses)) <= masses[0]:
        row = rows.upper[0].row
    else:
        return None
    rest, count = 1 - row[0] / masses[0], len(masses)
    return [
        (same,) * secret + (same + rest,) + (same,) * (count - 1 - secret) for secret, same in enumerate(row)
    ]


def _two_secrets(rows: Rows) -> list[Vector] | None:
    """Find the two extreme columns: (1, least ratio) and (least ratio, 1), scaled to sum to 1."""
    low, high = _least_ratio(rows, 0), _least_ratio(rows, 1)
    if low is None or high is None or low * high == 1:
        return None
    first, second = (1 - high) / (1 - low * high), (1 - low) / (1 - low * high)
    return [(first, first * low), (second * high, second)]


def _least_ratio(rows: Rows, large: int) -> Fraction | None:
    """Find the smallest allowed z of a column with entry 1 at `large` and z ≤ 1 at the other; None where there is none.

    Every bound is linear in z on [0, 1] and holds at z = 1.
    """
    small, found = 1 - large, Fraction(0)
    for own in rows.upper:
        # 1 ≤ u + (u' + φ) z
        slope = own.row[small] + own.floor
        if own.row[large] < 1:
            if slope <= 0:
                return None
            found = max(found, (1 - own.row[large]) / slope)
    for row in rows.lower:
        # z ≥ l + l' z
        if row[small] >= 1:
            return None
        found = max(found, row[large] / (1 - row[small]))
    for row in rows.positive:
        # r + r' z ≥ 0
        if row[large] < 0:
            if row[small] <= 0:
                return None
            found = max(found, -row[large] / row[small])
    return found if found <= 1 else None


def _followed(problem: Problem, columns: list[Vector]) -> Kernel:
    """Publish, for each column, the output with the largest gain; columns with the same output are merged."""
    # whichever output is chosen, the channel keeps its guarantees, so floats may choose
    worths = np.array(problem.weighted(), dtype=np.float64) @ np.array(columns, dtype=np.float64).T
    sums = np.full(problem.gains.T.shape, Fraction(0), dtype=object)
    for column, output in zip(columns, worths.argmax(axis=0).tolist(), strict=True):
        sums[output] += np.array(column, dtype=object)
    return Kernel(*whole(sums))


def symmetric(problem: Problem) -> Kernel | None:
    """Tell the truth as often as allowed, anything else alike; None where prior, gains or bounds are not uniform."""
    size = len(problem.masses)
    if size < 2 or not _is_symmetric(problem):
        return None
    rows, most = problem.rows(Side.INNER), Fraction(1)
    for own in rows.upper:
        each = own.row[0] if not own.own else None
        if each is None:
            # k_x ≤ θ/n + (t − θ) m, Σ m ≤ T: every column has the same m
            assert rows.most is not None
            most = min(most, own.row[0] + own.own * rows.most / size)
        else:
            most = min(most, (each * (size - 1) + own.floor) / (size - 1 + own.floor))
    for row in rows.lower:
        most = min(most, 1 - (size - 1) * row[0])
    if most < Fraction(1, size):
        return None
    other = (1 - most) / (size - 1)
    weights = np.full((size, size), other, dtype=object)
    np.fill_diagonal(weights, most)
    ints, scale = whole(weights)
    return Kernel(ints, scale)


def _is_symmetric(problem: Problem) -> bool:
    """Whether prior, gains and every bound stay the same when secrets change places."""
    size, rows = len(problem.masses), problem.rows(Side.INNER)
    gains: Whole = problem.gains
    if gains.shape != (size, size) or rows.positive or len(set(problem.masses)) != 1:
        return False
    diagonal = set(np.diagonal(gains).tolist())
    others = {gains[x, y] for x in range(size) for y in range(size) if x != y}
    if len(diagonal) != 1 or len(others) > 1 or max(others) > max(diagonal):
        return False
    return all(len(set(own.row)) == 1 for own in rows.upper) and all(len(set(row)) == 1 for row in rows.lower)


def cyclic(problem: Problem) -> Iterator[Kernel]:
    """List mechanisms whose columns are shifts of one extreme column of a single cone, for a uniform prior."""
    for pattern in _patterns(problem):
        shifts = [pattern[-output:] + pattern[:-output] for output in range(len(pattern))]
        yield from _of_columns(problem, shifts)


def subsets(problem: Problem) -> Iterator[Kernel]:
    """List mechanisms with every permutation of one extreme column, for a uniform prior: subset mechanisms."""
    for pattern in _patterns(problem):
        size, large = len(pattern), pattern.count(max(pattern))
        odd = [place for place, entry in enumerate(pattern) if entry not in (max(pattern), min(pattern))]
        if comb(size, large) * (size - large if odd else 1) > _MOST_SUBSETS:
            continue
        columns = []
        for chosen in combinations(range(size), large):
            base = [max(pattern) if place in chosen else min(pattern) for place in range(size)]
            others = [place for place in range(size) if place not in chosen] if odd else [None]
            for other in others:
                columns.append([pattern[odd[0]] if place == other else base[place] for place in range(size)])
        yield from _of_columns(problem, columns)


def _of_columns(problem: Problem, columns: list[list[Fraction]]) -> Iterator[Kernel]:
    """Make a mechanism of columns that are used alike, if it keeps the guarantees."""
    share = 1 / sum((column[0] for column in columns), Fraction(0))
    kernel = Kernel(*whole(np.array([[entry * share for entry in own] for own in columns], dtype=object)))
    if keeps(problem, kernel):
        yield kernel


def _patterns(problem: Problem) -> list[list[Fraction]]:
    """List the extreme columns of a single cone under a uniform prior, up to the order of secrets."""
    size, rows = len(problem.masses), problem.rows(Side.INNER)
    if (
        size < 2
        or len(set(problem.masses)) != 1
        or len(rows.upper) != 1
        or rows.upper[0].own
        or rows.positive
    ):
        return []
    upper, least = rows.upper[0], rows.lower[0][0] if rows.lower else Fraction(0)
    if upper.floor and not any(upper.row) and not rows.lower:
        return [[upper.floor] * large + [Fraction(1)] * (size - large) for large in range(1, size)]
    if upper.floor or len(set(upper.row)) != 1 or any(len(set(row)) != 1 for row in rows.lower):
        return []
    # entries of a column that sums to n: t on as many as fit, one fraction, the rest as small as allowed
    high, low = upper.row[0] * size, least * size
    large = int((1 - low) * size / (high - low)) if high > low else size
    rest = size - large * high - (size - large - 1) * low
    return [[high] * large + [rest] + [low] * (size - large - 1)] if large < size else []
