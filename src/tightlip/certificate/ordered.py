"""The proof of both ends of an envelope against deterministic monotone functions of ordered outcomes.

A monotone function of the outcome cuts the outcomes, in the order of the channel, into cells of consecutive ones.
Notation: C_x(j) = P(the first j outcomes | x) and Q(j) = Σ_x p_x C_x(j), of the numbers as stored; δ is at most Q(M).

Upper end. Potentials 0 ≤ v_0 ≤ v_1 ≤ … ≤ v_M < δ with v_j ≥ v_i + Q(j) − Q(i) for every cell i+1, …, j of ratio above
T. Then disjoint cells of ratio above T have probability at most v_M: going from left to right, v grows by at least the
probability of each. So no monotone function leaks more than log T with probability δ.

Lower end. Cuts 0 < … < M, and for some of the cells between them a suspected secret x with P(cell|x) ≥ T P(cell); these
cells have probability δ together.

Cells in whole numbers. The cell of the outcomes i+1, …, j leaks more than log T exactly when some possible secret x has
C_x(j) − C_x(i) > T (Q(j) − Q(i)),
    that is G_x(i) < G_x(j)   for   G_x(j) = C_x(j) − T·Q(j).
So M + 1 numbers for each secret, put in order once, decide all M² cells, without rounding and ties included.
Outcomes that cannot happen change neither C nor Q: they are in cells, and make none of them leak.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeProof, input_digest
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label, Labels
from tightlip.model.matrix import dense, take_rows
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_count, format_exactly
from tightlip.numeric.parse import ObjectArray, exact_text, number

KIND: Final = "ordered envelope"
_MOST_BITS = 1 << 32  # of all whole numbers together, half a gigabyte

Ranks = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class OrderedUpperProof:
    """Disjoint cells of ratio above `ratio` have a probability of at most the last of the potentials."""

    ratio: Fraction
    potentials: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class OrderedLowerProof:
    """Cells between `cuts` and, for each, the position of the secret it points to, or None."""

    ratio: Fraction
    cuts: tuple[int, ...]
    suspects: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class OrderedCertificate(EnvelopeProof):
    """Both ends of ε(δ), with the channel and the prior they are about.

    A δ above the probability of all outcomes (1 up to the rounding of stored floats) means that probability.
    """

    FORMAT: ClassVar[str] = "tightlip ordered envelope certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior", "delta", "upper", "lower"})
    ABOUT: ClassVar[str] = "channel and prior"

    channel: Channel
    prior: Prior
    delta: Fraction
    upper: OrderedUpperProof
    lower: OrderedLowerProof

    @property
    def kind(self) -> Literal["ordered envelope"]:
        """The number that it bounds: ε(δ) against monotone functions of the outcome."""
        return KIND

    def verify(self) -> None:
        """Check both ends in whole numbers, without a solver.

        Raises
        ------
        CertificateInvalid
            Naming the inequality that fails.
        """
        if not 0 < self.delta <= 1:
            raise CertificateInvalid(f"delta must be in (0, 1], got {format_exactly(self.delta)}.")
        cells = OrderedCells.of(self.channel, self.prior)
        mass = min(self.delta, cells.total())
        _check_upper(self.upper, cells, mass)
        _check_lower(self.lower, cells, mass)

    @property
    def attack(self) -> Channel:
        """From each outcome to the run it is in."""
        runs, outputs = list(pairwise(self.lower.cuts)), self.channel.outputs
        symbols = np.repeat(np.arange(len(runs)), np.diff(self.lower.cuts))
        names = tuple((outputs[start], outputs[end - 1]) for start, end in runs)
        shares = np.ones(len(symbols))
        return Attack(np.arange(len(symbols)), symbols, shares, outputs, Labels(names, given=True)).channel

    @property
    def probability(self) -> Fraction:
        """δ."""
        return self.delta

    def upper_at(self, delta: Fraction) -> Fraction | None:
        """Tell what the upper end proves of e^ε at a probability; None if nothing."""
        return self.upper.ratio if self.delta <= delta else None

    def lower_at(self, delta: Fraction) -> Fraction:
        """Tell what the lower end proves of e^ε at a probability: beyond δ nothing but that no leakage is below 0."""
        return self.lower.ratio if delta <= self.delta else Fraction(1)

    def digest(self) -> str:
        """Hash the kind, the channel, with the order of its outcomes, and the prior that the proof is about."""
        return input_digest(self.kind, self.channel, self.prior)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel and the prior of a file."""
        return None if prior is None else input_digest(self.kind, channel, prior)

    def is_about(self, channel: Channel) -> bool:
        """Whether the channel is the same."""
        return self.channel == channel

    def parts(self) -> dict[str, Any]:
        """Write the channel, the prior, δ and both ends as JSON values."""
        return {
            "channel": self.channel.to_dict(),
            "prior": self.prior.to_dict(),
            "delta": exact_text(self.delta),
            "upper": {
                "ratio": exact_text(self.upper.ratio),
                "potentials": [exact_text(value) for value in self.upper.potentials],
            },
            "lower": {
                "ratio": exact_text(self.lower.ratio),
                "cuts": list(self.lower.cuts),
                "suspects": list(self.lower.suspects),
            },
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> OrderedCertificate:
        """Read what `parts` wrote."""
        upper = check_keys(record["upper"], "upper", {"ratio", "potentials"}, set())
        lower = check_keys(record["lower"], "lower", {"ratio", "cuts", "suspects"}, set())
        return cls(
            Channel.from_dict(record["channel"]),
            Prior.from_json(json.dumps(record["prior"])),
            _read(record["delta"], "delta"),
            OrderedUpperProof(
                _read(upper["ratio"], "ratio"),
                tuple(_read(value, "potentials") for value in upper["potentials"]),
            ),
            OrderedLowerProof(
                _read(lower["ratio"], "ratio"),
                tuple(_place(cut) for cut in lower["cuts"]),
                tuple(None if place is None else _place(place) for place in lower["suspects"]),
            ),
        )


def _check_upper(proof: OrderedUpperProof, cells: OrderedCells, mass: Fraction) -> None:
    potentials = proof.potentials
    if len(potentials) != cells.size + 1 or proof.ratio <= 0:
        raise CertificateInvalid(
            f"upper end fails: it must have a positive ratio and {cells.size + 1} potentials, "
            f"got {format_exactly(proof.ratio)} and {len(potentials)}."
        )
    if potentials[0] < 0 or any(later < earlier for earlier, later in pairwise(potentials)):
        raise CertificateInvalid("upper end fails: the potentials must be at least 0 and never fall.")
    if potentials[-1] >= mass:
        raise CertificateInvalid(
            f"upper end fails: cells above the ratio may have probability {format_exactly(potentials[-1])}, "
            f"which is not below {format_exactly(mass)}."
        )
    uncovered = [cells.mass(0, end) - value for end, value in enumerate(potentials)]
    rank_of = {height: rank for rank, height in enumerate(sorted(set(uncovered)))}
    heights, ranks = np.array([rank_of[height] for height in uncovered]), cells.ranks(proof.ratio)
    for end in range(1, cells.size + 1):
        broken = leaking_starts(ranks, end) & (heights[:end] < heights[end])
        if broken.any():
            raise CertificateInvalid(
                f"upper end fails: the cell of outcomes {int(broken.argmax())} to {end - 1} has a ratio above "
                f"{format_exactly(proof.ratio)} and more probability than its potentials allow."
            )


def _check_lower(proof: OrderedLowerProof, cells: OrderedCells, mass: Fraction) -> None:
    cuts = proof.cuts
    if len(cuts) != len(proof.suspects) + 1 or cuts[0] != 0 or cuts[-1] != cells.size:
        raise CertificateInvalid(
            f"lower end fails: the cuts must lead from 0 to {cells.size} and make {len(proof.suspects)} cells."
        )
    if proof.ratio <= 0 or any(later <= earlier for earlier, later in pairwise(cuts)):
        raise CertificateInvalid(
            "lower end fails: the ratio must be positive and each cut beyond the one before."
        )
    possible, reached = {int(place): row for row, place in enumerate(cells.secrets)}, Fraction(0)
    for (start, end), suspect in zip(pairwise(cuts), proof.suspects, strict=True):
        if suspect is None:
            continue
        if suspect not in possible:
            raise CertificateInvalid(
                f"lower end fails: a cell suspects secret {suspect}, which is impossible."
            )
        row = cells.chances[possible[suspect]]
        likelihood = Fraction((row[end] - row[start]) * cells.prior_unit, cells.unit)
        if likelihood < proof.ratio * cells.mass(start, end):
            raise CertificateInvalid(
                f"lower end fails: the cell of outcomes {start} to {end - 1} has a ratio below "
                f"{format_exactly(proof.ratio)}."
            )
        reached += cells.mass(start, end)
    if reached < mass:
        raise CertificateInvalid(
            f"lower end fails: the attack has probability {format_exactly(reached)}, not {format_exactly(mass)}."
        )


def _read(value: object, name: str) -> Fraction:
    return Fraction(number(value, name))


def _place(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"a place must be a whole number, got {quoted(value)}.")
    return value


@dataclass(frozen=True, slots=True)
class OrderedCells:
    """C and Q as whole numbers; `secrets` are the possible ones.

    C_x(j) = chances[x, j]·prior_unit/unit and Q(j) = masses[j]/unit.
    """

    chances: ObjectArray
    masses: ObjectArray
    prior_unit: int
    unit: int
    secrets: NDArray[np.intp]

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> OrderedCells:
        """Weigh a channel whose outcomes are ordered as listed, and a prior.

        Raises
        ------
        InvalidInput
            When exact numbers have so many different denominators that their sums do not fit the memory.
        """
        aligned = align(prior, channel)
        rows = dense(take_rows(channel.matrix, aligned.support))
        weights, prior_unit = _whole(aligned.masses[aligned.support], rows.size)
        entries, row_unit = _whole(rows, rows.size)
        return cls(
            _from_nothing(np.add.accumulate(entries, axis=1)),
            _from_nothing(np.add.accumulate(weights @ entries)),
            prior_unit,
            prior_unit * row_unit,
            aligned.support,
        )

    @property
    def size(self) -> int:
        """The number of outcomes."""
        return len(self.masses) - 1

    def total(self) -> Fraction:
        """Compute the probability of all outcomes together: 1, but for the rounding of stored floats."""
        return self.mass(0, self.size)

    def mass(self, start: int, end: int) -> Fraction:
        """Compute the probability of a cell."""
        return Fraction(self.masses[end] - self.masses[start], self.unit)

    def ratio(self, start: int, end: int) -> Fraction:
        """Compute the largest P(cell | x)/P(cell) of a cell that can happen."""
        likelihoods = self.chances[:, end] - self.chances[:, start]
        return Fraction(max(likelihoods) * self.prior_unit, self.masses[end] - self.masses[start])

    def suspect(self, start: int, end: int) -> int:
        """Find the possible secret under which a cell is likeliest."""
        return int(np.argmax(self.chances[:, end] - self.chances[:, start]))

    def ranks(self, ratio: Fraction) -> Ranks:
        """Rank G_x(0), …, G_x(M) for each possible secret x, equal numbers having equal ranks."""
        heights = self.chances * (self.prior_unit * ratio.denominator) - self.masses * ratio.numerator
        found = np.empty(heights.shape, dtype=np.min_scalar_type(self.size))
        for place, row in enumerate(heights.tolist()):
            rank_of = {height: rank for rank, height in enumerate(sorted(set(row)))}
            found[place] = [rank_of[height] for height in row]
        return found


def leaking_starts(ranks: Ranks, end: int) -> NDArray[np.bool_]:
    """Mark each i < end where the cell i+1, …, end leaks more than the level that the ranks are for."""
    return np.asarray((ranks[:, :end] < ranks[:, end : end + 1]).any(axis=0))


def _whole(values: NDArray[Any], count: int) -> tuple[ObjectArray, int]:
    """Scale to whole numbers and a unit, values = numbers/unit; `count` numbers of that size must fit the memory."""
    pairs = [entry.as_integer_ratio() for entry in values.ravel().tolist()]
    unit = _common({denominator for _, denominator in pairs}, count)
    numbers = np.empty(len(pairs), dtype=object)
    numbers[:] = [numerator * (unit // denominator) for numerator, denominator in pairs]
    return numbers.reshape(values.shape), unit


def _common(denominators: Iterable[int], count: int) -> int:
    unit = 1
    for denominator in denominators:
        unit = math.lcm(unit, denominator)
        if unit.bit_length() * count > _MOST_BITS:
            raise InvalidInput(
                f"channel must have denominators with a common multiple of at most {format_count(_MOST_BITS // count)} "
                f"bits for {format_count(count)} entries, got a longer one; give the numbers as floats."
            )
    return unit


def _from_nothing(sums: ObjectArray) -> ObjectArray:
    """Accumulate running sums with the empty one in front."""
    return np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
