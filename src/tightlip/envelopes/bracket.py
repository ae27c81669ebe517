"""A bracket around e^{ε_c(δ)} and what may narrow it: thresholds from above, attacks from below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from tightlip.envelopes.attack import Shares, filled, grown, repaired, worth
from tightlip.envelopes.dual import proved_ratio
from tightlip.envelopes.pairs import Pairs
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_up
from tightlip.numeric.parse import FloatArray

_CLOSE, _NEARLY = 1 - 1e-11, 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Aim:
    """What is searched for: the δ, the relative gap allowed, and what has probability δ.

    `enough` decides whether an attack, by its shares and their mass, surely has.
    """

    delta: float
    gap: float
    enough: Callable[[Shares, float], bool]


class Bracket(NamedTuple):
    """low ≤ e^{ε_c(δ)} ≤ high, with the attack and the thresholds that prove it (None: not by these)."""

    low: float
    high: float
    attack: Shares | None
    thresholds: FloatArray | None
    solves: int = 0
    stopped: str = ""  # by what the solver said, if it ended the search

    def within(self, gap: float) -> bool:
        """Whether the ends are within a relative gap."""
        return self.high <= self.low * (1 + gap)


def with_thresholds(pairs: Pairs, delta: float, bracket: Bracket, thresholds: FloatArray) -> Bracket:
    """Lower the upper end to what the thresholds prove, if that is less."""
    proved = proved_ratio(pairs, thresholds, delta, bracket.low, bracket.high)
    if proved < bracket.high:
        return bracket._replace(high=proved, thresholds=thresholds)
    return bracket


def with_attack(pairs: Pairs, aim: Aim, bracket: Bracket, attack: Shares, ratio: float) -> Bracket:
    """Try the attack as it is, and if that misses the ratio mended to reach it."""
    for as_it_is in (True, False):
        tried = attack if as_it_is else repaired(pairs, attack, ratio)
        bracket, reached = _with_enough(pairs, aim, bracket, tried)
        if reached >= ratio * _CLOSE:
            break
    return bracket


def _with_enough(pairs: Pairs, aim: Aim, bracket: Bracket, attack: Shares) -> tuple[Bracket, float]:
    """Raise the lower end to what the attack reaches, if that is more; it takes more outcomes where it lacks mass.

    The rarest ones cost nothing; any others as much of the ratio as it lacks.
    """
    reached, mass = worth(pairs, attack)
    enough = reached > bracket.low and aim.enough(attack, mass)
    if reached > bracket.low and not enough and mass > aim.delta * _NEARLY:
        attack = filled(pairs, attack)
        reached, mass = worth(pairs, attack)
        enough = reached > bracket.low and aim.enough(attack, mass)
    if not enough and mass < aim.delta and reached * mass > bracket.low * aim.delta:
        attack = grown(pairs, attack, aim.delta)
        reached, mass = worth(pairs, attack)
        enough = reached > bracket.low and aim.enough(attack, mass)
    if enough:
        bracket = bracket._replace(low=min(reached, bracket.high), attack=attack)
    return bracket, reached


def how_found(found: Bracket, gap: float, *, by_sorting: bool) -> str:
    """The method, in words, and why the ends do not meet where they do not."""
    if found.thresholds is None and found.solves == 0:
        text = "the worst outcomes decide"
    else:
        how = "sorting two secrets" if by_sorting else f"linear program, {_solves(found.solves)}"
        text = f"{how}, proved by thresholds and an attack"
    if found.high > found.low * (1 + gap):
        apart = log_bounds(Fraction(found.high) / Fraction(found.low))[1]
        text += f"; the ends could not be brought closer than {format_up(apart, 2)} nats"
        if found.stopped:
            text += f", since the solver stopped: {found.stopped}"
    return text


def _solves(count: int) -> str:
    """How often the program was solved for one δ; an optimum that is moved from another δ needs none."""
    return "no solve of its own" if not count else f"{count} solve{'s' if count > 1 else ''}"
