"""The trade-off: how much detail can be kept at each budget, for one count of the table and one choice of levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tightlip.arguments import instance, listed
from tightlip.auditing.leakage import tail_levels
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.budget import Allowed
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats
from tightlip.protection.overview import WholeColumns, everything_from, whole_columns
from tightlip.showing import Charted, Tabled

if TYPE_CHECKING:
    from tightlip.protection.result import Protection

_HUGE = 10**9
_POINTS = 5  # chosen budgets; each takes as long as protecting the table once


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What can be kept at one budget.

    Attributes
    ----------
    budget : the worst leakage allowed about each secret column, and about all together where the plan says jointly
    kept : the linear detail of the release that was found, rounded down; `information` is its I(X; Y)/H(X), to nearest
    bound : the linear detail that no truthful release over these levels exceeds, rounded up
    leakage : the worst leakage of the release that was found
    finished : whether its search ended by itself
    """

    budget: Nats
    kept: float
    information: float
    bound: float
    leakage: Nats
    finished: bool


@dataclass(frozen=True, slots=True)
class Curve(Charted, Tabled):
    """Budget against detail.

    Attributes
    ----------
    points : by rising budget
    randomised : whether one cell may be published as different values
    whole_columns : the best recodings of whole columns over the same levels, for comparison; exact at every budget
    plan : the worst leakage of the columns as they are, at which everything can be kept; None where `min_count` forbids
        that at every budget
    """

    points: tuple[CurvePoint, ...]
    randomised: bool
    whole_columns: tuple[WholeColumns, ...]
    plan: Nats | None

    def kept_by_whole_columns(self, budget: float) -> float | None:
        """The detail of the best recoding of whole columns at a budget; None where they were too many to count."""
        kept = [one.kept for one in self.whole_columns if float(one.leakage) <= budget]
        return max(kept) if kept else None


def trade_off(
    found: Protection,
    budgets: Iterable[Any] | None = None,
    *,
    seconds: float = 1.0,
    gap: float = 5e-3,
) -> Curve:
    """Protect a table at several budgets, from the counts and with the levels of a protection: it is not read again.

    Parameters
    ----------
    found : Protection
        Of the same kind are all releases of the curve, deterministic or randomised.
    budgets : levels, optional
        "2x", "log(3)", numbers of nats: the worst leakage allowed, as for `protect`. Chosen where left out; the
        protection's own is always there where it is such a level.
    seconds, gap : as for `protect`, for each budget

    Returns
    -------
    Curve

    Raises
    ------
    InvalidInput
        When a budget is no level, or columns that must be kept exceed it alone.
    """
    from tightlip.protection.result import Protection

    instance(found, Protection, "found", "protect a table first")
    seconds, gap = _positive(seconds, "seconds"), _positive(gap, "gap")
    plan, own = found.leakage_before, found.budget
    given = None if budgets is None else listed(budgets, "budgets", "levels")
    asked = _chosen(plan) if given is None else [_level(budget) for budget in given]
    wanted = {float(level): level for level in asked}
    points = [] if own is None else [_point(own, found)]
    for level in wanted.values():
        if own is not None and float(level) == float(own):
            continue
        try:
            points.append(_point(level, _protect(found, level, seconds, gap)))
        except InvalidInput:
            # a chosen budget that the columns which must be kept exceed is left out, a given one is refused
            if given is not None:
                raise
    points.sort(key=lambda point: float(point.budget))
    return Curve(_tighten(points), found.randomised, whole_columns(found), everything_from(found))


def _tighten(points: Sequence[CurvePoint]) -> tuple[CurvePoint, ...]:
    """Give every budget the least bound of its own and all larger ones, which hold for it too."""
    least, tightened = 1.0, []
    for point in reversed(points):
        least = min(least, point.bound)
        tightened.append(replace(point, bound=least))
    return tuple(reversed(tightened))


def _protect(found: Protection, budget: Nats, seconds: float, gap: float) -> Protection:
    from tightlip.protection.run import Request, protect_counts

    columns = zip(found.levels, found.certificate.table.weights, strict=True)
    weights = {column.column: weight for column, weight in columns if not column.fixed}
    asked = Request(
        budget,
        least=found.certificate.least,
        weights=weights,
        randomised=found.randomised,
        gap=gap,
        seconds=seconds,
    )
    return protect_counts(found.counted, found.plan, found.levels, asked, found.past)


def _point(budget: Nats, found: Protection) -> CurvePoint:
    return CurvePoint(budget, found.kept, found.information, found.bound, found.leakage, found.finished)


def _chosen(plan: Nats) -> list[Nats]:
    """Factors up to that of the plan as it is, spread over the range."""
    below = [level for level in tail_levels()[1:] if level < plan and not math.isinf(plan)]
    step = max(1, math.ceil(len(below) / _POINTS))
    return below[::step]


def _positive(value: Any, argument: str) -> float:
    """A number of ordinary size, above 0."""
    read = number(value, argument)
    if not 0 < read < _HUGE:
        raise InvalidInput(
            f"{argument} must be positive and below {_HUGE}, got {quoted(value)}; leave it out."
        )
    return float(read)


def _level(budget: Any) -> Nats:
    """A budget in nats, never more than was given."""
    allowed = Allowed.read(budget, "budgets")
    if allowed.kind == "cap":
        raise InvalidInput(
            f"budgets must be levels of leakage, got {quoted(allowed.given)}, a cap on certainty; write 3x."
        )
    return allowed.nats()
