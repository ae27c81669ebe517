"""One use of a mechanism on two secrets, as the distribution of its privacy loss.

The loss of an outcome is L = log P(y)/Q(y), P and Q the distributions of the outcome under the two secrets. All that
an adversary can do with the outcome depends on how likely each loss is, and losses of independent uses add up.
Probabilities and losses are balls, so nothing here is rounded without being told.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from tightlip.numeric.ball import Ball, ball

# bits of the balls: twice those of the masses on a grid, so that differences of neighbours keep theirs
WORKING_BITS = 256
# how many standard deviations of a normal loss are put on a grid: beyond lies less than 1e-35
_REACH = Fraction(25, 2)


class Atom(NamedTuple):
    """An outcome of probability P and Q > 0, and its loss log P/Q."""

    first: Ball
    second: Ball
    loss: Ball


class Density(Protocol):
    """The part of a loss that has a density, on [low, high] and perhaps a little beyond."""

    @property
    def low(self) -> Fraction:
        """Where the grid begins."""

    @property
    def high(self) -> Fraction:
        """Where it ends."""

    @property
    def mass(self) -> Ball:
        """Its probability under P."""

    def tails(self, loss: Fraction) -> tuple[Ball, Ball]:
        """P{L > loss} and Q{L > loss}, of this part alone."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The privacy loss of one use: outcomes one by one, a part with a density, and what Q rules out.

    Attributes
    ----------
    atoms : outcomes that are possible under both secrets
    density : the part with a density, if there is one
    infinite : the probability under P of outcomes that are impossible under Q
    key : what tells two losses apart
    """

    atoms: Sequence[Atom]
    density: Density | None
    infinite: Fraction
    key: Hashable = field(repr=False)

    @property
    def ends(self) -> tuple[Ball, Ball] | None:
        """The smallest and the largest finite loss; None where there is none."""
        found = [(atom.loss, atom.loss) for atom in self.atoms]
        if self.density is not None:
            found.append((ball(self.density.low), ball(self.density.high)))
        if not found:
            return None
        return min((low for low, _ in found), key=_middle), max((high for _, high in found), key=_middle)


def _middle(value: Ball) -> float:
    return float(value.mid())


def channel_loss(first: Sequence[Fraction], second: Sequence[Fraction]) -> Loss:
    """Take the loss of two rows of a channel in rationals, P the first."""
    shared: dict[Fraction, list[Fraction]] = {}
    infinite = Fraction(0)
    for one, two in zip(first, second, strict=True):
        if one and not two:
            infinite += one
        elif one:
            total = shared.setdefault(one / two, [Fraction(0), Fraction(0)])
            total[0] += one
            total[1] += two
    atoms = [Atom(ball(one), ball(two), ball(ratio).log()) for ratio, (one, two) in sorted(shared.items())]
    key = "channel", infinite, tuple((ratio, total[0]) for ratio, total in sorted(shared.items()))
    return Loss(atoms, None, infinite, key)


@dataclass(frozen=True, slots=True)
class NormalDensity:
    """The loss between N(0, σ²) and N(Δ, σ²): normal with mean ±m²/2 and variance m², m = Δ/σ.

    Uses add their m², so any number of them is again of this kind.
    """

    squared: Fraction

    @property
    def low(self) -> Fraction:
        """As many deviations below the mean as are kept."""
        return self.squared / 2 - self._reach

    @property
    def high(self) -> Fraction:
        """As many above."""
        return self.squared / 2 + self._reach

    @property
    def _reach(self) -> Fraction:
        return _REACH * Fraction(math.isqrt(math.ceil(self.squared * (1 << 400))) + 1, 1 << 200)

    @property
    def mass(self) -> Ball:
        """All of it."""
        return ball(1)

    def tails(self, loss: Fraction) -> tuple[Ball, Ball]:
        """Φ((m²/2 − l)/m) and Φ((−m²/2 − l)/m)."""
        scale = (ball(2 * self.squared)).sqrt()
        return tuple(
            ((ball(loss - mean)) / scale).erfc() / 2 for mean in (self.squared / 2, -self.squared / 2)
        )


def normal_loss(squared: Fraction) -> Loss:
    """Take the loss between two normal distributions, m² = (Δ/σ)² summed over uses."""
    return Loss((), NormalDensity(squared), Fraction(0), ("normal", squared))


@dataclass(frozen=True, slots=True)
class LaplaceDensity:
    """The loss between Laplace noise around 0 and around Δ where the outcome lies between them, D = Δ/b."""

    high: Fraction

    @property
    def low(self) -> Fraction:
        """−D."""
        return -self.high

    @property
    def mass(self) -> Ball:
        """½(1 − e^{−D})."""
        return -(-ball(self.high)).expm1() / 2

    def tails(self, loss: Fraction) -> tuple[Ball, Ball]:
        """½(1 − e^{−(D−l)/2}) and ½(e^{−(D+l)/2} − e^{−D}), for l in [−D, D]."""
        inside = min(max(loss, -self.high), self.high)
        near = (ball(inside - self.high) / 2).exp()
        return (1 - near) / 2, (-(ball(inside + self.high) / 2)).exp() * (1 - near) / 2


def laplace_loss(distance: Fraction) -> Loss:
    """Take the loss between Laplace noise around two numbers, D = Δ/b apart."""
    most, least = ball(Fraction(1, 2)), (-ball(distance)).exp() / 2
    atoms = [Atom(least, most, ball(-distance)), Atom(most, least, ball(distance))]
    return Loss(atoms, LaplaceDensity(distance), Fraction(0), ("laplace", distance))


def merge_alike(parts: Sequence[tuple[Loss, int]]) -> list[tuple[Loss, int]]:
    """Add up the uses of losses that are the same, all normal ones in one, in an order that is theirs alone."""
    counted: dict[Any, tuple[Loss, int]] = {}
    squared = Fraction(0)
    for loss, uses in parts:
        if isinstance(loss.density, NormalDensity):
            squared += uses * loss.density.squared
        else:
            counted[loss.key] = (loss, uses + counted.get(loss.key, (loss, 0))[1])
    merged = sorted(counted.values(), key=lambda part: repr(part[0].key))
    return merged if not squared else [*merged, (normal_loss(squared), 1)]
