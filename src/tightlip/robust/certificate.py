"""Certify both ends of an envelope over a set of priors.

The upper end is a proof that no prior of the set lets any post-processing leak more than log T with probability δ. For
multipliers λ_x > 0, whatever the prior p, no post-processing Z has (certificate/envelope.py)

    P{ℓ(Z) ≥ log T} > f(p) = Σ_y g_y(q_y(p)),   g_y(q) = max(0, max_x λ_x K_xy + (1 − λ_x T) q).

f is convex, so on a cell (the hull of some points, not all of them priors) it is largest at one of the points, and on a
set with too many corners each g_y lies below its chord between the smallest and largest q_y: a linear function of p.
Without multipliers the proof is that no lift exceeds T.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.certificate.envelope import EnvelopeCertificate, EnvelopeProof
from tightlip.certificate.randomized_response import RandomizedResponseCertificate
from tightlip.certificate.rational import rational
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.jsonio import check_keys
from tightlip.model.labels import Label
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.model.prior_set import AnyPriorSet, PriorList, prior_set_from_dict, prior_set_to_dict
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import exact_text, number
from tightlip.robust.region import Point, Region, Simplex, cover_of, dot, region_of

Multipliers = tuple[Fraction, ...] | None
Path = tuple[int, ...]  # which simplex, then which half each time
_LONGEST = 300  # steps of a path in a file: halved so often a cell has no more points than floats tell apart
KIND: Final = "robust envelope"
_WITNESSES: dict[str, type[EnvelopeProof]] = {
    known.FORMAT: known for known in (EnvelopeCertificate, RandomizedResponseCertificate)
}


@dataclass(frozen=True)
class Likelihoods:
    """The rows of a channel that some prior of the set makes possible, by outcome, as rationals."""

    columns: tuple[tuple[Fraction, ...], ...]
    possible: tuple[int, ...]

    @classmethod
    def of(cls, channel: Channel, region: Region) -> Likelihoods:
        """Read the rows of the secrets to which some member gives mass."""
        columns = dense(channel.matrix).T.tolist()
        return cls(tuple(tuple(map(Fraction, column)) for column in columns), tuple(region.possible))

    @cached_property
    def entries(self) -> list[list[Any]]:
        """K_xy of the possible secrets, by outcome, for flint."""
        return [[rational(column[secret]) for secret in self.possible] for column in self.columns]

    def least_total(self) -> Fraction:
        """Compute the least probability of all outcomes together: 1, but for the rounding of stored floats."""
        return min(sum((column[secret] for column in self.columns), Fraction(0)) for secret in self.possible)

    def reachable(self, delta: Fraction) -> Fraction:
        """Compute δ, or the least probability of all outcomes together, if that is less."""
        return min(delta, self.least_total())

    def total(self, point: Point, multipliers: Multipliers, ratio: Fraction) -> Any:
        """f(p), or 0 where without multipliers no lift exceeds the ratio, else 1."""
        masses = [rational(point[secret]) for secret in self.possible]
        bound, found = rational(ratio), rational(Fraction(0))
        lines = None if multipliers is None else _lines(multipliers, bound)
        for column in self.entries:
            probability = sum((mass * entry for mass, entry in zip(masses, column, strict=True)), 0 * bound)
            if lines is None:
                if max(column) > bound * probability:
                    return rational(Fraction(1))
            else:
                found += _highest_line(lines, column, probability)
        return found


@dataclass(frozen=True)
class Chords:
    """The upper bound of f over a whole set: each g_y below its chord."""

    region: Region
    known: Likelihoods

    @cached_property
    def ranges(self) -> list[tuple[Fraction, Fraction]]:
        """The smallest and the largest q_y of each outcome."""
        return [
            (self.region.lowest(column)[0], self.region.highest(column)[0]) for column in self.known.columns
        ]

    def lift(self) -> Fraction | None:
        """Compute the largest lift under any prior of the set; None where it is unbounded."""
        peaks = [max(column[secret] for secret in self.known.possible) for column in self.known.columns]
        pairs = [(peak, least) for peak, (least, _) in zip(peaks, self.ranges, strict=True) if peak]
        if not all(least for _, least in pairs):
            return None
        return max(peak / least for peak, least in pairs)

    def total(self, multipliers: tuple[Fraction, ...], ratio: Fraction) -> Any:
        """Compute the bound, as a flint rational."""
        lines = _lines(multipliers, rational(ratio))
        slopes, constant = [Fraction(0)] * self.region.size, rational(Fraction(0))
        parts = zip(self.known.columns, self.known.entries, self.ranges, strict=True)
        for column, entries, (least, most) in parts:
            low, high = (_highest_line(lines, entries, rational(end)) for end in (least, most))
            constant += low
            if most > least:
                slope = _fraction((high - low) / rational(most - least))
                constant -= rational(slope * least)
                slopes = [total + slope * entry for total, entry in zip(slopes, column, strict=True)]
        return constant + rational(self.region.highest(slopes)[0])


def _lines(multipliers: tuple[Fraction, ...], ratio: Any) -> list[tuple[Any, Any]]:
    """(λ_x, 1 − λ_x T) of each possible secret."""
    return [(rational(value), 1 - rational(value) * ratio) for value in multipliers]


def _highest_line(lines: list[tuple[Any, Any]], column: list[Any], probability: Any) -> Any:
    """g_y at one probability of the outcome."""
    best = 0 * probability
    for (slope, rest), entry in zip(lines, column, strict=True):
        value = slope * entry + rest * probability
        if value > best:
            best = value
    return best


@dataclass(frozen=True, slots=True)
class WholeProof:
    """One set of multipliers for the whole set, by chords."""

    multipliers: Multipliers

    def check(self, region: Region, known: Likelihoods, ratio: Fraction, mass: Fraction) -> None:
        """Raise CertificateInvalid unless it proves the ratio at this probability."""
        chords = Chords(region, known)
        if self.multipliers is None:
            lift = chords.lift()
            if lift is None or lift > ratio:
                raise CertificateInvalid("upper end fails: some prior of the set has a larger lift.")
            return
        _require_positive(self.multipliers, known)
        _require(chords.total(self.multipliers, ratio), mass, "the whole set")

    def to_dict(self) -> dict[str, Any]:
        """Write the multipliers as JSON values."""
        return {"whole": _to_json(self.multipliers)}


@dataclass(frozen=True, slots=True)
class CellsProof:
    """Multipliers for each cell of a partition of the set; a cell is named by how it was cut out."""

    leaves: dict[Path, Multipliers]

    def check(self, region: Region, known: Likelihoods, ratio: Fraction, mass: Fraction) -> None:
        """Raise CertificateInvalid unless the cells cover the set and each proves the ratio."""
        cover = cover_of(region)
        if cover is None:
            raise CertificateInvalid("upper end fails: the set has too many corners to be cut into cells.")
        for place, root in enumerate(cover.cells):
            for path, cell in self._cells(root, (place,), divisible=cover.divisible):
                multipliers = self.leaves[path]
                _require_positive(multipliers, known)
                for point in cell:
                    _require(known.total(point, multipliers, ratio), mass, f"cell {path}")

    def to_dict(self) -> dict[str, Any]:
        """Write the path and the multipliers of each cell as JSON values."""
        return {"cells": [[list(path), _to_json(kept)] for path, kept in self.leaves.items()]}

    def _cells(self, cell: Simplex, path: Path, *, divisible: bool) -> Iterator[tuple[Path, Simplex]]:
        if path in self.leaves:
            yield path, cell
            return
        if not divisible or not any(leaf[: len(path)] == path for leaf in self.leaves):
            raise CertificateInvalid(f"upper end fails: cell {path} of the set is not covered.")
        for side, half in enumerate(halves(cell)):
            yield from self._cells(half, (*path, side), divisible=divisible)


def proof_from_dict(record: Any) -> CellsProof | WholeProof:
    """Read what `to_dict` of a proof wrote."""
    parts = check_keys(record, "proof", set(), {"whole", "cells"})
    if len(parts) != 1:
        raise ValueError("the proof must be of cells or of the whole set")
    if "whole" in parts:
        return WholeProof(_from_json(parts["whole"]))
    return CellsProof({_read_path(path): _from_json(kept) for path, kept in parts["cells"]})


def _to_json(multipliers: Multipliers) -> list[str] | None:
    return None if multipliers is None else [exact_text(value) for value in multipliers]


def _from_json(values: Any) -> Multipliers:
    return None if values is None else tuple(Fraction(number(value, "multipliers")) for value in values)


def _read_path(path: Any) -> Path:
    steps = tuple(path)
    if len(steps) > _LONGEST or not all(type(step) is int for step in steps):
        raise ValueError(f"a path must be at most {_LONGEST} whole numbers, got {quoted(path)}")
    return steps


def halves(cell: Simplex) -> tuple[Simplex, Simplex]:
    """Bisect a simplex at the middle of its longest edge (the first of several)."""
    pairs = [(one, two) for two in range(len(cell)) for one in range(two)]
    one, two = max(pairs, key=lambda pair: _distance(cell[pair[0]], cell[pair[1]]))
    middle = tuple((a + b) / 2 for a, b in zip(cell[one], cell[two], strict=True))
    first, second = list(cell), list(cell)
    first[two], second[one] = middle, middle
    return tuple(first), tuple(second)


def _distance(one: Point, two: Point) -> Fraction:
    difference = [a - b for a, b in zip(one, two, strict=True)]
    return dot(difference, difference)


def _require_positive(multipliers: Multipliers, known: Likelihoods) -> None:
    if multipliers is not None and (len(multipliers) != len(known.possible) or min(multipliers) <= 0):
        raise CertificateInvalid(
            "upper end fails: there must be one positive multiplier for each possible secret."
        )


def _require(total: Any, mass: Fraction, where: str) -> None:
    if total > rational(mass):
        shown = format_exactly(_fraction(total))
        raise CertificateInvalid(
            f"upper end fails: on {where} the multipliers prove a probability of {shown}, not {format_exactly(mass)}."
        )


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


class RobustCertificate(Certificate):
    """A proof of both ends at one δ that can be checked again without a solver."""

    __slots__ = ()
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    ABOUT: ClassVar[str] = "channel and set of priors"

    if TYPE_CHECKING:  # fields of the dataclasses below

        @property
        def channel(self) -> Channel:
            """The channel."""

        @property
        def prior_set(self) -> AnyPriorSet:
            """The set of priors."""

        @property
        def delta(self) -> Fraction:
            """The probability."""

    @property
    def kind(self) -> Literal["robust envelope"]:
        """The number that it bounds: the largest ε(δ) under any prior of a set."""
        return KIND

    @property
    @abstractmethod
    def witness(self) -> EnvelopeProof:
        """The proof, under one prior of the set, of the lower end."""

    @property
    @abstractmethod
    def upper_ratio(self) -> Fraction:
        """e^ε that no post-processing exceeds under any prior of the set."""

    @property
    def prior(self) -> Prior:
        """The prior of the set under which the lower end is reached."""
        return self.witness.prior

    @property
    def lower_ratio(self) -> Fraction:
        """e^ε that the attack reaches under it."""
        return self.witness.lower_at(self.delta)

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        lower, upper = log_bounds(self.lower_ratio)[0], log_bounds(self.upper_ratio)[1]
        return Claim(self.kind, max(lower, 0.0), max(upper, 0.0), delta=self.delta)

    def digest(self) -> str:
        """Compute a hash of the kind, the channel and the set that the proof is about."""
        return _digest(self.channel, self.prior_set)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel of a file and the same set; None for a file whose prior is not in it."""
        if prior is not None and align(prior, channel) not in self.prior_set:
            return None
        return _digest(channel, self.prior_set)


@dataclass(frozen=True, slots=True)
class RegionCertificate(RobustCertificate):
    """Both ends over a convex set of priors: an envelope under one member, and multipliers for all."""

    FORMAT: ClassVar[str] = "tightlip robust envelope certificate 2"
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior_set", "delta", "worst", "ratio", "proof"})

    channel: Channel
    prior_set: AnyPriorSet
    delta: Fraction
    worst: EnvelopeProof
    ratio: Fraction
    proof: CellsProof | WholeProof

    @property
    def witness(self) -> EnvelopeProof:
        """The envelope under the worst prior found."""
        return self.worst

    @property
    def upper_ratio(self) -> Fraction:
        """What the multipliers prove."""
        return self.ratio

    def verify(self) -> None:
        """Check that the prior is a member, its envelope, and the multipliers."""
        if self.prior not in self.prior_set:
            raise CertificateInvalid("lower end fails: its prior is not in the set.")
        _require_about(self.worst, self.channel, self.delta)
        self.worst.verify()
        region = _region(self.prior_set, self.channel)
        known = Likelihoods.of(self.channel, region)
        self.proof.check(region, known, self.ratio, known.reachable(self.delta))

    def parts(self) -> dict[str, Any]:
        """Write the question, the envelope under the worst prior and the multipliers as JSON values."""
        return {
            **_question(self),
            "worst": json.loads(self.worst.to_json()),
            "ratio": exact_text(self.ratio),
            "proof": self.proof.to_dict(),
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> RegionCertificate:
        """Read what `parts` wrote."""
        channel, prior_set, delta = _read_question(record)
        _region(prior_set, channel)
        ratio = Fraction(number(record["ratio"], "ratio"))
        return cls(
            channel, prior_set, delta, _read_witness(record["worst"]), ratio, proof_from_dict(record["proof"])
        )


@dataclass(frozen=True, slots=True)
class ListCertificate(RobustCertificate):
    """Both ends over a list of priors: the envelope under each of them."""

    FORMAT: ClassVar[str] = "tightlip robust envelope over a list certificate 2"
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior_set", "delta", "envelopes"})

    channel: Channel
    prior_set: PriorList
    delta: Fraction
    envelopes: tuple[EnvelopeProof, ...]

    @property
    def witness(self) -> EnvelopeProof:
        """The envelope with the largest lower end."""
        return max(self.envelopes, key=lambda one: one.lower_at(self.delta))

    @property
    def upper_ratio(self) -> Fraction:
        """The largest that is proved under one of the priors."""
        found = [one.upper_at(self.delta) for one in self.envelopes]
        proved = [ratio for ratio in found if ratio is not None]
        if len(proved) != len(found):
            raise CertificateInvalid(
                f"upper end fails: an envelope is not about δ = {format_exactly(self.delta)}."
            )
        return max(proved)

    def verify(self) -> None:
        """Check that there is an envelope for each prior, and each envelope."""
        priors = [align(prior, self.channel) for prior in self.prior_set]
        if len(self.envelopes) != len(priors):
            raise CertificateInvalid(
                f"both ends fail: the list has {len(priors)} priors, got {len(self.envelopes)} envelopes."
            )
        for place, (one, prior) in enumerate(zip(self.envelopes, priors, strict=True)):
            if one.prior != prior:
                raise CertificateInvalid(
                    f"both ends fail: the envelope of prior {place} is about another one."
                )
            _require_about(one, self.channel, self.delta)
            one.verify()
        _ = self.upper_ratio

    def parts(self) -> dict[str, Any]:
        """Write the question and the envelope under each prior as JSON values."""
        return {**_question(self), "envelopes": [json.loads(one.to_json()) for one in self.envelopes]}

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> ListCertificate:
        """Read what `parts` wrote."""
        channel, prior_set, delta = _read_question(record)
        if not isinstance(prior_set, PriorList):
            raise ValueError("the priors must be a list")
        region_of(prior_set, channel)
        return cls(channel, prior_set, delta, tuple(_read_witness(one) for one in record["envelopes"]))


def _region(prior_set: AnyPriorSet, channel: Channel) -> Region:
    """The convex set in the order of the channel's secrets."""
    region = region_of(prior_set, channel)
    if isinstance(region, tuple):
        raise CertificateInvalid("upper end fails: a list of priors is no convex set.")
    return region


def _digest(channel: Channel, prior_set: AnyPriorSet) -> str:
    return kind_digest(KIND, {"channel": channel_json(channel), "prior_set": prior_set_to_dict(prior_set)})


def _question(certificate: RobustCertificate) -> dict[str, Any]:
    return {
        "channel": certificate.channel.to_dict(),
        "prior_set": prior_set_to_dict(certificate.prior_set),
        "delta": exact_text(certificate.delta),
    }


def _read_question(record: dict[str, Any]) -> tuple[Channel, AnyPriorSet, Fraction]:
    delta = Fraction(number(record["delta"], "delta"))
    if not 0 < delta <= 1:
        raise InvalidInput(f"delta must be in (0, 1], got {quoted(record['delta'])}")
    return Channel.from_dict(record["channel"]), prior_set_from_dict(record["prior_set"]), delta


def _read_witness(record: Any) -> EnvelopeProof:
    """The certificate of an envelope under one prior."""
    check_keys(record, "an envelope", {"format"}, set(record))
    if record["format"] not in _WITNESSES:
        raise InvalidInput(f"an envelope must be one against any adversary, got {quoted(record['format'])}")
    return _WITNESSES[record["format"]].from_json(json.dumps(record))


def _require_about(found: EnvelopeProof, channel: Channel, delta: Fraction) -> None:
    """Refuse an envelope of another channel or probability, however well proved."""
    if not found.is_about(channel):
        raise CertificateInvalid("lower end fails: its envelope is about another channel.")
    if found.lower_at(delta) != found.lower.ratio:
        raise CertificateInvalid(f"lower end fails: its envelope is not about δ = {format_exactly(delta)}.")
