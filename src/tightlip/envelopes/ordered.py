"""Interval adversaries of a finite channel: what a monotone function of ordered outcomes can give away.

The outcomes are ordered as the channel lists them. A deterministic monotone function of the outcome cuts them into
cells of consecutive outcomes. With r(B) = max_x P(B|x)/P(B) the ratio e^ℓ of a cell B, let

    V(t) = the largest total probability of disjoint cells B with r(B) ≥ t.

**The envelope is log max{t : V(t) ≥ δ}, which is the logarithm of one of the M(M+1)/2 ratios r(B).**

*Proof.* A monotone function whose symbols of leakage log t or more have probability δ shows V(t) ≥ δ: those symbols are
disjoint cells. Conversely disjoint cells that reach V(t) ≥ δ, with the gaps between them as further cells, are a
monotone function. V is a step function that falls only just after a ratio r(B), so the largest t is one of them. ∎

V is found from left to right: with v_j the largest probability within the first j outcomes, v_j is the larger of
v_{j−1} and all v_i + P(i+1, …, j) over cells of enough ratio. The same v are the proof that a level cannot be exceeded
(`certificate.ordered`). Floats only suggest where to look; all that is returned is decided in whole numbers.

*Randomised monotone functions.* Drawing the cuts at random and telling which were drawn does not help: at each level
the bad probability is a mean over the draws, so the best draw does as well. Not telling helps: with X = Y,
p = (1/5, 4/5) and δ = 1/2 a threshold that moves at random reaches log 2, no monotone function more than log 5/4.
Those adversaries are not meant here; what holds for them is the envelope against any post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tightlip.certificate.ordered import (
    OrderedCells,
    OrderedCertificate,
    OrderedLowerProof,
    OrderedUpperProof,
    leaking_starts,
)
from tightlip.envelopes.result import Envelope
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_count
from tightlip.numeric.parse import FloatArray, ObjectArray

_MOST_OUTCOMES = 5_000  # their ratios are 200 MB
_MOST_WORK = 10_000_000_000  # secrets × outcomes × (outcomes, or 2000 if these are fewer)
_ROUNDING = 1e-12  # by how much floats are expected to be off
_FINEST = 80  # bits: ratios closer than 2^−80 are not told apart further
_METHOD = "dynamic programming over cuts, in whole numbers"

Cell = tuple[int, int]


def ordered_points(channel: Channel, prior: Prior, deltas: Sequence[Fraction]) -> Iterator[Envelope]:
    """ε(δ) against ordered adversaries, one δ after the other: the outcomes stand in their order.

    log max{t : disjoint runs B of outcomes with max_x P(B|x)/P(B) ≥ t have probability at least δ}

    The ends differ by rounding only. `attack` maps each outcome to the run it is in, named by its first and last
    outcome; `certificate` proves both ends.

    Raises
    ------
    InvalidInput
        When there are more than 5000 outcomes, or too many secrets for as many outcomes.

    Reference: the finite form of GAU Theorem 2, for interval cells.

    >>> from tightlip import Prior
    >>> ages = Channel([["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]])
    >>> (found,) = ordered_points(ages, Prior.uniform(3), [Fraction(1, 2)])
    >>> found.certificate.upper.ratio, found.attack.outputs
    (Fraction(2, 1), [(0, 0), (1, 1), (2, 2)])
    """
    _require_size(channel)
    cells = OrderedCells.of(channel, prior)
    guess = _Guess.of(cells)
    for delta in deltas:
        mass = min(delta, cells.total())
        attack, upper = _search(cells, mass, guess.level(float(mass)))
        lower = _lower_proof(cells, attack)
        proof = OrderedCertificate(channel, prior, delta, upper, lower)
        ends = max(log_bounds(lower.ratio)[0], 0.0), max(log_bounds(upper.ratio)[1], 0.0)
        yield Envelope(delta, *ends, _METHOD, "ordered", certificate=proof)


def _require_size(channel: Channel) -> None:
    if not isinstance(channel, Channel):
        raise WrongType(f"channel must be a Channel, got {quoted(channel)}; write Channel(rows).")
    secrets, outcomes = channel.shape
    if outcomes > _MOST_OUTCOMES:
        raise InvalidInput(
            f"channel must have at most {format_count(_MOST_OUTCOMES)} outcomes for an ordered adversary, "
            f"got {format_count(outcomes)}; merge neighbouring outcomes first, or use any adversary."
        )
    most = _MOST_WORK // (outcomes * max(outcomes, 2000))
    if secrets > most:
        raise InvalidInput(
            f"channel must have at most {format_count(most)} secrets where it has {format_count(outcomes)} outcomes, "
            f"got {format_count(secrets)}; merge neighbouring outcomes first, or use any adversary."
        )


class _Attack(NamedTuple):
    """Disjoint cells from left to right, and the least of their ratios."""

    ratio: Fraction
    cells: list[Cell]


class _Cover(NamedTuple):
    """The potentials v_0, …, v_M in units of the cells, and the disjoint cells that have v_M."""

    potentials: list[int]
    cells: list[Cell]


def _search(cells: OrderedCells, mass: Fraction, level: float) -> tuple[_Attack, OrderedUpperProof]:
    """Search for the best attack and the proof that it is, from a level that floats suggest.

    The best cover of ratios above a trial either has the mass, then it is a better attack, or it proves the trial.
    An attack's own ratio is tried first: where the attack is best that ends the search. In turn with it comes the
    middle, for the case that many ratios are nearly equal.
    """
    attack = _Attack(cells.ratio(0, cells.size), [(0, cells.size)])
    proof, own, spread = None, True, Fraction(0)
    trial = Fraction(level) * (1 - Fraction(_ROUNDING))
    while proof is None or proof.ratio > attack.ratio:
        cover = _best_cover(cells, trial)
        if Fraction(cover.potentials[-1], cells.unit) >= mass:
            attack = max(attack, _attack(cells, cover.cells))
        else:
            proof = OrderedUpperProof(trial, tuple(Fraction(value, cells.unit) for value in cover.potentials))
        if proof is None:
            trial, spread = attack.ratio * (1 + spread), 1000 * spread + Fraction(_ROUNDING)
        else:
            own = not own
            trial = attack.ratio if own else _middle(attack.ratio, proof.ratio)
            if trial == proof.ratio:
                break
    return attack, proof


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """Choose a short number about half way; the higher one where they are too close to tell."""
    middle = Fraction(round((low + high) / 2 * 2**_FINEST), 2**_FINEST)
    return middle if low < middle < high else high


def _attack(cells: OrderedCells, found: list[Cell]) -> _Attack:
    return _Attack(min(cells.ratio(*cell) for cell in found), found)


def _best_cover(cells: OrderedCells, ratio: Fraction) -> _Cover:
    """Find the disjoint cells of ratio above this one that have the largest probability."""
    ranks, masses = cells.ranks(ratio), cells.masses.tolist()
    potentials, starts = [0], [0]
    surplus = np.zeros(len(masses), dtype=object)  # v_i − Q(i): what a cell from i on starts with
    for end in range(1, len(masses)):
        best, start = potentials[-1], end
        places = np.flatnonzero(leaking_starts(ranks, end))
        if len(places):
            place = int(places[np.argmax(surplus[places])])
            if surplus[place] + masses[end] > best:
                best, start = surplus[place] + masses[end], place
        potentials.append(best)
        starts.append(start)
        surplus[end] = best - masses[end]
    return _Cover(potentials, _chain(starts))


def _chain(starts: list[int]) -> list[Cell]:
    """List the cells that end where each begins, from the last back to the first; start = end is no cell."""
    found, end = [], len(starts) - 1
    while end > 0:
        start = starts[end]
        if start < end:
            found.append((start, end))
        end = min(start, end - 1)
    return found[::-1]


@dataclass(frozen=True, slots=True)
class _Guess:
    """All ratios in floats: ratios[j, i] is that of the cell i+1, …, j+1; a row is ready for one step of the sums."""

    ratios: FloatArray
    levels: FloatArray
    masses: FloatArray

    @classmethod
    def of(cls, cells: OrderedCells) -> _Guess:
        """Sums of entries that are not negative, so that rare outcomes keep their digits."""
        likelihoods = _steps(cells.chances, cells.unit // cells.prior_unit)
        steps = _steps(cells.masses, cells.unit)
        size = cells.size
        ratios, sums, weights = np.zeros((size, size)), np.zeros(likelihoods.shape), np.zeros(size)
        for end in range(size):
            sums[:, : end + 1] += likelihoods[:, end : end + 1]
            weights[: end + 1] += steps[end]
            peaks = sums[:, : end + 1].max(axis=0)
            np.divide(peaks, weights[: end + 1], out=ratios[end, : end + 1], where=weights[: end + 1] > 0)
        levels = np.unique(ratios[np.tri(size, dtype=bool)])
        return cls(ratios, levels, np.concatenate([[0.0], np.cumsum(steps)]))

    def level(self, mass: float) -> float:
        """Estimate the largest level at which disjoint cells have the mass."""
        low, high = 0, len(self.levels)
        while high - low > 1:
            middle = (low + high) // 2
            reached = self._most(self.levels[middle]) >= mass * (1 - _ROUNDING)
            low, high = (middle, high) if reached else (low, middle)
        return float(self.levels[low])

    def _most(self, level: float) -> float:
        """V(level)."""
        enough, masses, best = self.ratios >= level, self.masses.tolist(), 0.0
        surplus = np.zeros(len(masses))
        for end in range(1, len(masses)):
            reached = surplus[:end].max(where=enough[end - 1, :end], initial=-1.0)
            best = max(best, float(reached) + masses[end])
            surplus[end] = best - masses[end]
        return best


def _steps(sums: ObjectArray, unit: int) -> FloatArray:
    """Compute what each outcome adds to sums of whole numbers, in floats."""
    steps = np.diff(sums, axis=-1)
    return np.array([step / unit for step in steps.ravel().tolist()]).reshape(steps.shape)


def _lower_proof(cells: OrderedCells, attack: _Attack) -> OrderedLowerProof:
    """Write down the cells of the attack with the gaps between them as further cells."""
    cuts = sorted({0, cells.size, *(cut for cell in attack.cells for cut in cell)})
    bad = set(attack.cells)
    suspects = tuple(
        int(cells.secrets[cells.suspect(*cell)]) if cell in bad else None for cell in pairwise(cuts)
    )
    return OrderedLowerProof(attack.ratio, tuple(cuts), suspects)
