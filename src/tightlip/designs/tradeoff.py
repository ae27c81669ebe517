"""Trade-offs: what can be reached at every level of one guarantee, and the least level at which something can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

from tightlip.arguments import choice, listed
from tightlip.designs.extremes import extremes
from tightlip.designs.frequency import NAME, FrequencyVariance
from tightlip.designs.guarantee import Guarantee, Level, named, secret_of
from tightlip.designs.result import Design
from tightlip.designs.run import Task, read_task, read_utility
from tightlip.designs.utility import Utility
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import float_number
from tightlip.numeric.quantity import exceeds, level_exactly
from tightlip.showing import Charted, Shown, Tabled

LEVELS = ("pml", "ldp", "pmc", "lip", "maximal_leakage")
"""The guarantees that have one level, of which there can be a trade-off."""

_STEPS = 60  # of the search for a level
_FINE = 1e-6  # of the level: how near the ends of a smallest budget come
_NEARLY = 1e-9  # of the best value: a target so near to it is lost to roundings
_DIGITS = 8  # of a level that is found
_LEAST = 1e-5  # nats; a level about a secret that says almost nothing
_LARGEST = 64.0  # nats; a loss that is not met below is met at no level that protects anybody


@dataclass(frozen=True, slots=True)
class DesignPoint:
    """What can be reached at one level.

    Attributes
    ----------
    level : of the guarantee, in nats
    value : what some mechanism reaches, rounded to the safe side
    bound : what none can beat
    """

    level: Level
    value: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class DesignCurve(Charted, Tabled):
    """Level of a guarantee against the best value.

    Attributes
    ----------
    guarantee : which guarantee has the levels: "pml", "ldp", …
    utility : what mechanisms are good for
    others : guarantees that hold at every level
    points : by rising level; both ends are sound at each
    scope : of which priors or which secret the guarantee is, in words; empty where it goes without saying
    secret : P(x | s) of the secret s that the guarantee is about, where x is only the data; otherwise None
    """

    guarantee: str
    utility: Utility
    others: tuple[Guarantee, ...]
    points: tuple[DesignPoint, ...]
    scope: str = ""
    secret: Channel | None = None

    @property
    def gap(self) -> float:
        """The largest distance between value and bound."""
        return max(abs(point.bound - point.value) for point in self.points)

    def __repr__(self) -> str:
        low, high = self.points[0], self.points[-1]
        levels = f"{level_exactly(low.level)} to {level_exactly(high.level)} nats"
        return (
            f"DesignCurve({self.utility.words()} {low.value:.6g} to {high.value:.6g} at {len(self.points)} levels of "
            f"{self.guarantee}{self.scope}, {levels}; within {self.gap:.2g})"
        )


@dataclass(frozen=True, slots=True, eq=False)
class SmallestBudget(Shown):
    """The least level of a guarantee at which something can be reached, between two proved ends.

    Attributes
    ----------
    guarantee : which guarantee has the level
    target : what is to be reached: a loss of at most, or a gain or information of at least this
    lower : a level at which it is proved that no mechanism reaches it; 0 where none is needed
    upper : a level at which `design` does
    design : the mechanism at `upper`
    refuted : the design at `lower`, whose bound proves that; None where `lower` is 0
    """

    guarantee: str
    target: float
    lower: float
    upper: float
    design: Design
    refuted: Design | None

    @property
    def value(self) -> float:
        """The level at which the target is met."""
        return self.upper

    def verify(self) -> None:
        """Check both designs, and that they say this.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        self.design.verify()
        if not _reaches(self.design.utility, self.design.value, self.target):
            raise CertificateInvalid(f"the mechanism reaches {self.design.value!r}, not {self.target!r}.")
        if self.refuted is not None:
            self.refuted.verify()
            if _reaches(self.refuted.utility, self.refuted.bound, self.target):
                raise CertificateInvalid(f"mechanisms at the lower level may reach {self.refuted.bound!r}.")

    def __repr__(self) -> str:
        beat = "at most" if self.design.utility.minimised else "at least"
        return (
            f"SmallestBudget({self.guarantee} {self.upper:.7g} nats, no less than {self.lower:.7g}, for "
            f"{self.design.utility.words()} of {beat} {self.target:.6g})"
        )


def curve(prior: Prior, **asked: Any) -> DesignCurve:
    """Trace the best value over levels of one guarantee, in one run.

    The levels are solved one after the other, each from the one before, and less exactly than by `design`, which gives
    a mechanism and a certificate at any of them. Both ends are sound at every level, with roundings on the safe side.

    Parameters
    ----------
    prior : Prior
    **asked : as for `design`, with a list of levels for one of pml, ldp, pmc, lip and maximal_leakage

    Returns
    -------
    DesignCurve

    Raises
    ------
    InvalidInput
        When not exactly one guarantee has a list of levels.

    >>> from tightlip import Prior
    >>> found = curve(Prior(["1/2", "3/10", "1/5"]), ldp=[0.5, 1.0, 2.0], loss="hamming")
    >>> [round(point.value, 3) for point in found.points]
    [0.5, 0.415, 0.213]
    """
    lists = [
        name for name in LEVELS if isinstance(asked.get(name), Iterable) and not isinstance(asked[name], str)
    ]
    if len(lists) != 1:
        pairs = [name for name in ("alip", "envelope") if asked.get(name) is not None]
        beside = f" ({' and '.join(pairs)} can only stand beside it)" if pairs else ""
        raise InvalidInput(
            f"one of {', '.join(LEVELS)} must have a list of levels{beside}, got {' and '.join(lists) or 'none'}; "
            "write ldp=[0.5, 1, 2]."
        )
    (name,) = lists
    wanted = listed(asked[name], name, "levels")
    if not wanted:
        raise InvalidInput(f"{name} must have levels, got an empty list; write {name}=[0.5, 1, 2].")
    first = read_task(prior, **{**asked, name: wanted[0]})
    tasks = [first, *(first.under(**{**asked, name: level}) for level in wanted[1:])]
    varied = [named(task.guarantees, name)[1] for task in tasks]
    order = sorted(range(len(tasks)), key=lambda place: _ordered(varied[place]))
    return _trace(name, [varied[place] for place in order], [tasks[place] for place in order])


def _compared(one: Level, two: Level) -> int:
    return int(exceeds(one, two)) - int(exceeds(two, one))


_ordered = cmp_to_key(_compared)


def _trace(name: str, levels: list[Level], tasks: list[Task]) -> DesignCurve:
    first = tasks[0]
    masses = tuple(first.prior.exact().masses)
    ends = first.utility.trace(masses, [task.guarantees for task in tasks], first.room)
    sign = -1 if first.utility.minimised else 1
    points = [
        DesignPoint(level, sign * worth + 0.0, sign * bound + 0.0)
        for level, (worth, bound) in zip(levels, ends, strict=True)
    ]
    varied, _, scope = named(first.guarantees, name)
    others = tuple(own for own in first.guarantees if own is not varied)
    return DesignCurve(name, first.utility, others, tuple(points), scope, secret_of([varied]))


def smallest_budget(
    prior: Prior,
    guarantee: str = "pml",
    *,
    loss_at_most: Any = None,
    gain_at_least: Any = None,
    at_least: Any = None,
    at_most: Any = None,
    **asked: Any,
) -> SmallestBudget:
    """Find the least level of a guarantee at which a loss, gain or information can be reached, between proved ends.

    Parameters
    ----------
    prior : Prior
    guarantee : "pml", "ldp", "pmc", "lip" or "maximal_leakage"
    loss_at_most, gain_at_least, at_least, at_most : the target, of a loss, a gain, an information or a variance
    **asked : as for `design`: the utility, and guarantees that hold besides

    Returns
    -------
    SmallestBudget

    Raises
    ------
    InvalidInput
        When no level reaches the target, saying what stands in the way and by how much.

    >>> from tightlip import Prior
    >>> found = smallest_budget(Prior.uniform(4), "ldp", loss="hamming", loss_at_most=0.5)
    >>> round(found.upper, 4)
    1.0986
    """
    choice(guarantee, "guarantee", LEVELS)
    if asked.get(guarantee) is not None:
        raise InvalidInput(f"{guarantee} must not be given: it is what is looked for; leave it out.")
    asked.pop(guarantee, None)
    utility = read_utility(
        prior, **{name: asked.get(name) for name in ("loss", "gain", "utility", "outputs")}
    )
    target = _target(
        utility,
        asked,
        loss_at_most=loss_at_most,
        gain_at_least=gain_at_least,
        at_least=at_least,
        at_most=at_most,
    )

    # about a secret there is no level 0, and from nothing no frequency can be estimated
    plain = asked.get("secret") is None or guarantee in ("ldp", "maximal_leakage")
    least = 0.0 if plain and not isinstance(utility, FrequencyVariance) else _LEAST
    first = read_task(prior, **{**asked, guarantee: least})

    def at(level: float) -> Design:
        return first.under(**{**asked, guarantee: level}).solve()

    nothing = first.solve()
    if _reaches(utility, nothing.value, target):
        return SmallestBudget(guarantee, target, 0.0, least, nothing, None)
    low, high = _bracket(at, utility, target, guarantee, prior, asked, least)
    return _search(at, guarantee, target, low, high)


def _search(
    at: Callable[[float], Design], guarantee: str, target: float, low: float, high: float
) -> SmallestBudget:
    """Find the level where the value meets the target, and take the nearest proved ones on both sides."""
    from scipy.optimize import toms748

    tried: dict[float, Design] = {}

    def distance(level: float) -> float:
        found = at(float(level))
        return (found.value + found.bound) / 2 - target

    def off(level: float) -> float:
        tried[level] = at(level)
        return (tried[level].value + tried[level].bound) / 2 - target

    def reaches(level: float) -> bool:
        return _reaches(tried[level].utility, tried[level].value, target)

    def open_(level: float) -> bool:
        return _reaches(tried[level].utility, tried[level].bound, target)

    if off(low) * off(high) < 0:
        met = toms748(distance, low, high, rtol=_FINE / 4, xtol=1e-12, maxiter=_STEPS, disp=False)
        # short numbers are told as they are
        off(float(format_down(met * (1 - _FINE / 3), _DIGITS)))
        off(float(format_up(met * (1 + _FINE / 3), _DIGITS)))
    # where the value stays at the target, or is far from its bound, halves remain
    _halve(tried, off, reaches)
    _halve(tried, off, open_)
    upper = min(level for level in tried if reaches(level))
    lower = max((level for level in tried if level < upper and not open_(level)), default=0.0)
    return SmallestBudget(guarantee, target, lower, upper, tried[upper], tried[lower] if lower else None)


def _halve(
    tried: Mapping[float, Design], look: Callable[[float], object], holds: Callable[[float], bool]
) -> None:
    """Look at levels until the least at which something holds is near one at which it does not."""
    for _ in range(_STEPS):
        upper = min(level for level in tried if holds(level))
        lower = max((level for level in tried if level < upper and not holds(level)), default=upper)
        if upper - lower <= _FINE * upper:
            break
        look((lower + upper) / 2)


def _bracket(
    at: Callable[[float], Design],
    utility: Utility,
    target: float,
    guarantee: str,
    prior: Prior,
    asked: Mapping[str, Any],
    least: float,
) -> tuple[float, float]:
    """Double the level until the target is met; refuse targets that no level meets."""
    low, high = least, 0.5
    while high <= _LARGEST:
        found = at(high)
        if _reaches(utility, found.value, target):
            return low, high
        if not _reaches(utility, found.bound, target):
            low = high
        high *= 2
    raise InvalidInput(_conflict(found, target, guarantee, prior, asked))


def _conflict(found: Design, target: float, guarantee: str, prior: Prior, asked: Mapping[str, Any]) -> str:
    """Say which guarantees a target conflicts with, and by how much."""
    best = found.bound
    beat = "less" if found.utility.minimised else "more"
    others = [name for name in (*LEVELS, "alip", "envelope") if asked.get(name) is not None]
    blamed = []
    for name in others:
        alone = read_task(prior, **{**_without(asked, name), guarantee: _LARGEST}).solve()
        if _reaches(found.utility, alone.value, target):
            blamed.append(name)
    if blamed or others:
        best = read_task(prior, **_without(asked, guarantee)).solve().bound
        why = (
            f"under {' and '.join(blamed or others)} no mechanism reaches {beat} than {best:.6g} at any level"
        )
        remedy = f"loosen {' or '.join(blamed or others)}"
    else:
        best = extremes(found.utility, prior).truth
        reaches = "reaches" if abs(best - target) > _NEARLY * abs(best) else "is proved to reach"
        why = f"no mechanism at all {reaches} {beat} than {best:.6g}"
        nearest = format_up(best, _DIGITS) if found.utility.minimised else format_down(best, _DIGITS)
        where = "" if _reaches(found.utility, best, target) else f" to {nearest}"
        remedy = f"{'raise' if found.utility.minimised else 'lower'} it{where}"
    if _reaches(found.utility, best, target):
        who = f"{' and '.join(others)} alone may allow it" if others else "releasing the truth reaches it"
        told = f"{who}, but nothing was found that does at a level of {guarantee} up to {_LARGEST:g} nats"
    else:
        told = f"{why}, which is {abs(best - target):.3g} away"
    wanted = f"{_target_name(asked)} must be one that some level of {guarantee} reaches"
    return f"{wanted}, got {target:.6g}; {told}; {remedy}."


def _without(asked: Mapping[str, Any], guarantee: str) -> dict[str, Any]:
    """Leave out a guarantee, and of PML which priors it is for."""
    left_out = {guarantee, *(("min_mass", "priors") if guarantee == "pml" else ())}
    return {name: value for name, value in asked.items() if name not in left_out}


def _target_name(asked: Mapping[str, Any]) -> str:
    """Name the argument that has the target, by what the utility is."""
    if asked.get("loss") is not None:
        return "loss_at_most"
    if asked.get("gain") is not None:
        return "gain_at_least"
    return "at_most" if asked.get("utility") == NAME else "at_least"


def _target(utility: Utility, asked: Mapping[str, Any], **given: Any) -> float:
    """Read what is to be reached, under the name that fits the utility."""
    fits = _target_name(asked)
    named = [name for name, value in given.items() if value is not None]
    if named != [fits]:
        raise InvalidInput(
            f"{fits} must be given for {utility.words()}, got {' and '.join(named) or 'none'}; write {fits}=0.1."
        )
    return float_number(given[fits], fits)


def _reaches(utility: Utility, value: float, target: float) -> bool:
    return value <= target if utility.minimised else value >= target
