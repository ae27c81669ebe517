"""Slow and obvious: sets of priors by testing every point of a grid, in rationals."""

from fractions import Fraction

from exact_oracle import pmc, pml, supported
from tightlip import Prior


def grid(size, steps):
    """All distributions whose masses are multiples of 1/steps."""
    if size == 1:
        return [[Fraction(1)]]
    return [[Fraction(part, steps) for part in parts] for parts in _compositions(steps, size)]


def _compositions(total, parts):
    if parts == 1:
        return [[total]]
    return [[first, *rest] for first in range(total + 1) for rest in _compositions(total - first, parts - 1)]


def members(prior_set, size, steps):
    """The priors of the grid that are in the set."""
    return [masses for masses in grid(size, steps) if Prior(masses) in prior_set]


def worst_pml(rows, priors):
    return max((max(pml(rows, masses)) for masses in priors), default=Fraction(1))


def worst_pmc(rows, priors):
    """None is infinite."""
    found = [ratio for masses in priors for ratio in pmc(rows, masses)]
    return None if None in found else max(found, default=Fraction(1))


def worst_maximal_leakage(rows, priors):
    sums = [sum(max(column) for column in zip(*supported(rows, masses)[0], strict=True)) for masses in priors]
    return max(sums)
