"""A budget at which something can be released.

A limit b that is loosened by a factor c is c·b (a floor b/c). A group of people in which a secret has the share q keeps
it if c ≥ q/b (floor: b/q).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_up
from tightlip.numeric.quantity import exact_ratio
from tightlip.protection.limits import Limit, Limits
from tightlip.protection.values import Values

Loosening = Fraction | None
"""A factor; None where no factor is enough: a floor on a secret that nobody holds."""


def loosening(limits: Limits, values: Values, chosen: Places) -> list[Loosening]:
    """By how much each limit must be loosened for the release of chosen[x] for cell x to keep it, exactly."""
    people = np.bincount(chosen, limits.people, len(values))
    used = np.flatnonzero(people)
    found: list[Loosening] = []
    for limit in limits.limits:
        held = np.bincount(chosen, limits.counts[limit.secret], len(values))
        share = held[used] / people[used]
        worst = used[share.argmin() if limit.floor else share.argmax()]
        found.append(_factor(limit, int(held[worst]), int(people[worst])))
    return found


def _factor(limit: Limit, held: int, people: int) -> Loosening:
    if limit.floor:
        return limit.inside * people / held if held else None
    return Fraction(held, people) / limit.inside


def least_loosening(limits: Limits, values: Values, *, least: int = 1) -> Loosening:
    """A factor by which to loosen all limits so that something can be released; 1 or less where it can be already.

    The least factor of the releases that publish one value for all of its cells, and nothing for all others. A release
    that publishes a value for some of its cells only may need less.
    """
    people = values.sums(limits.people)
    proper = np.ones(len(values), dtype=bool)
    proper[values.last] = False
    top = np.zeros(len(values), dtype=np.intp)
    top[values.value] = values.last[values.cell]
    rest = people[top] - people
    proper &= (people >= least) & ((rest == 0) | (rest >= least))
    if not proper.any():
        return None
    need = np.zeros(len(values))
    for limit in limits.limits:
        held = values.sums(limits.counts[limit.secret])
        need = np.maximum(need, _factors(limit, held, people))
        need = np.maximum(need, np.where(rest > 0, _factors(limit, held[top] - held, rest), 0.0))
    best = int(np.argmin(np.where(proper, need, np.inf)))
    chosen = values.last.copy()
    chosen[values.cells_of(best)] = best
    exact = loosening(limits, values, chosen)
    return None if None in exact else max((one for one in exact if one is not None), default=Fraction(1))


def _factors(limit: Limit, held: NDArray[np.int64], people: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = held / people / float(limit.inside)
        return np.asarray(1 / share if limit.floor else share)


def least_words(limit: Limit, factor: Loosening) -> str:
    """Say what a limit is after it was loosened by a factor, rounded up.

    >>> least_words(Limit.of(0, "cap", Fraction(1, 2), Fraction(1, 10)), Fraction(6, 5))
    'at least 60%'
    """
    if factor is None:
        return "none"
    if limit.kind == "cap":
        return f"at least {format_up(float(min(100 * limit.inside * factor, Fraction(100))))}%"
    ratio = exact_ratio(limit.level)
    times = ratio if ratio is not None else Fraction(exp_bounds(limit.level)[1])
    return f"at least {format_up(float(times * factor) * (1 + 1e-12))}x"
