"""Guarantees as cones of columns: what a mechanism may say, as linear bounds on each of its columns.

A guarantee allows a channel exactly if it allows every column k = (P(y | x))_x, and with k every multiple of it. With
t = e^ε, p the prior and b = min_x k_x, the allowed columns k ≥ 0 are

    PML                    k_x ≤ t p·k                             PMC     k_x ≥ p·k / t
    ALIP(ε_l, ε_u)         both, with ε_u above and ε_l below      LDP     k_x ≤ t b
    PML for all of Q(c)    k_x ≤ t (c Σ k + (1 − nc) b)
    PML for a set of priors  k_x ≤ t q·k for every q of it: few of them matter, and are found one by one
    PML about a secret S   Σ_x P(x | s) k_x ≤ t p·k                PMC about S   Σ_x P(x | s) k_x ≥ p·k / t

Two are about all columns together, through a number m_y of each:

    maximal leakage        k_x ≤ m,                          Σ_y m_y ≤ t
    envelope at δ          k_x ≤ θ p·k + (t − θ) m,          Σ_y m_y ≤ δ,     for some θ in [1, t)

All are kept by merging outputs and by releasing nothing, so guarantees never contradict each other.

e^ε is irrational for most ε: `Side.INNER` takes the rational below, for channels that must keep the guarantee,
`Side.OUTER` the one above, for bounds on all channels that do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tightlip.errors import InvalidInput, InvalidPrior, quoted
from tightlip.measures.capacity import read_min_mass
from tightlip.model.channel import Channel
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Labels, match, show
from tightlip.model.prior import Prior
from tightlip.model.prior_set import AnyPriorSet, prior_set_from_dict, prior_set_to_dict
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_python, format_up
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import exact_level, exact_ratio, level_exact, level_exactly
from tightlip.numeric.rounding import float_above, gamma
from tightlip.robust.region import Region, region_of

Vector = tuple[Fraction, ...]
Level = float | Fraction


_LARGEST = 500  # nats; e^ε and its reciprocal are floats with room to spare
_FLAT = Fraction(10**12)  # a factor beyond which a bound by the least entry hardly forbids anything
_SAME = 1e-7  # how far a prior may be from a mixture of P(x | s)
_LONGEST, _DIGITS = 24, 12  # characters of a share that is told exactly, and digits of one that is not
_ARGUMENTS = {"min_mass": "pml", "prior_set": "pml"}  # what stands beside `pml`, by the guarantee's key


class Side(Enum):
    """Whether a level is taken from below, for a channel, or from above, for a bound on all channels."""

    INNER = "inner"
    OUTER = "outer"


class Upper(NamedTuple):
    """An upper bound u·k + φ b + ψ m on every entry of a column."""

    row: Vector
    floor: Fraction = Fraction(0)
    own: Fraction = Fraction(0)

    def tamed(self, side: Side) -> Upper:
        """Write the bound, if its factor is beyond what floats can work with, with a smaller one.

        What is more than Σ k bounds nothing, however much more. A bound by the least entry alone is made stricter for
        channels, and left out for what bounds them all.
        """
        least = min(self.row)
        if self.own or (least <= 1 and self.floor <= _FLAT):
            return self
        if least > 1:
            return Upper(tuple(entry / least for entry in self.row), self.floor / least)
        return self._replace(floor=_FLAT) if side is Side.INNER else Upper((Fraction(1),) * len(self.row))

    @property
    def room(self) -> Fraction:
        """How far the column 1 with m = 0 stays below its bound; negative where it needs an m."""
        return sum(self.row, self.floor) - 1


@dataclass(frozen=True, slots=True)
class Rows:
    """A cone of columns k ≥ 0, by linear functionals of k, of its least entry b and of a number m of its own.

    Attributes
    ----------
    upper : every k_x ≤ u·k + φ b + ψ m
    lower : l: every k_x ≥ l·k
    positive : r: r·k ≥ 0
    most : T: Σ_y m_y ≤ T over all columns; None where no ψ is positive
    """

    upper: tuple[Upper, ...] = ()
    lower: tuple[Vector, ...] = ()
    positive: tuple[Vector, ...] = ()
    most: Fraction | None = None

    def __add__(self, other: Rows) -> Rows:
        if self.most is not None and other.most is not None:
            raise InvalidInput(
                "maximal_leakage and envelope must not be given together; the envelope at δ implies a maximal "
                "leakage of at most ε + log(1 + δ)."
            )
        return Rows(
            self.upper + other.upper,
            self.lower + other.lower,
            self.positive + other.positive,
            self.most if other.most is None else other.most,
        )


class Guarantee(ABC):
    """A bound on what every output of a mechanism may say, and against whom it protects."""

    __slots__ = ()
    registry: ClassVar[dict[str, type[Guarantee]]] = {}
    key: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.key:
            cls.registry[cls.key] = cls

    @abstractmethod
    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Write the cone; `room` makes a factor t smaller by this share, but for nothing below 1."""

    @abstractmethod
    def words(self) -> str:
        """Say the bound in words."""

    @property
    def scope(self) -> str:
        """Say of which priors or which secret its level is, to stand behind its name; nothing where it goes without."""
        return ""

    @abstractmethod
    def against(self) -> str:
        """Say whom it protects against."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values, with its key."""

    @property
    @abstractmethod
    def silent(self) -> bool:
        """Whether only constant channels keep it."""

    @classmethod
    @abstractmethod
    def from_dict(cls, record: dict[str, Any]) -> Guarantee:
        """Read what `to_dict` gave."""

    def level_named(self, name: str) -> Level | None:
        """Return its level, where it is of the guarantee that an argument of that name gives."""
        return getattr(self, "epsilon", None) if name in (self.key, _ARGUMENTS.get(self.key)) else None

    def covers(self, prior: Prior) -> bool:
        """Whether it says something about whoever has this prior."""
        return True

    def refine(self, columns: Sequence[Sequence[int]]) -> Guarantee:
        """Add what decides about these columns, where the cone has too many bounds to write out."""
        return self

    def lifts(self, masses: Vector) -> Lifts:
        """Bound how far the lift P(y|x)/P(y) of each secret can be from 1, from above; masses are positive."""
        return Lifts(np.ones(len(masses)), np.full(len(masses), np.inf))

    def require(self, prior: Prior) -> None:
        """Refuse what cannot be meant of this prior; what was read from arguments can."""
        return


def ratio(epsilon: Level, side: Side, room: Fraction = Fraction(0)) -> Fraction:
    """Bound e^ε by a rational from the side; `room` is a share of it, and the ratio stays at least 1.

    >>> from tightlip import log_of
    >>> ratio(log_of(3), Side.INNER), ratio(1.0, Side.INNER) < ratio(1.0, Side.OUTER)
    (Fraction(3, 1), True)
    """
    exact = exact_ratio(epsilon)
    if exact is None:
        exact = _exp_ends(epsilon)[side is Side.OUTER]
    return max(exact * (1 - room), Fraction(1))


@lru_cache(maxsize=512)
def _exp_ends(epsilon: Level) -> tuple[Fraction, Fraction]:
    """Enclose e^ε; the cone of a level is written a dozen times while a channel is found."""
    low, high = exp_bounds(epsilon)
    return Fraction(low), Fraction(high)


class Lifts(NamedTuple):
    """How far below and above 1 the lift P(y|x)/P(y) of each secret can be, rounded up."""

    below: FloatArray
    above: FloatArray


def all_lifts(guarantees: Sequence[Guarantee], masses: Vector) -> Lifts:
    """Bound lifts under all guarantees. They average to 1: one is above 1 by no more than all others are below it."""
    own = [guarantee.lifts(masses) for guarantee in guarantees]
    below = np.minimum(np.min([one.below for one in own], axis=0), 1.0)
    above = np.min([one.above for one in own], axis=0)
    p, slack = np.array([float(mass) for mass in masses]), gamma(2 * len(masses) + 16)

    def others(ends: FloatArray) -> FloatArray:
        """Sum the ends of all others, weighed by their masses, for each."""
        terms = p * ends
        return np.asarray((terms.sum() * (1 + slack) - terms * (1 - slack)) / p * (1 + slack))

    above = np.minimum(above, others(below))
    return Lifts(np.minimum(below, others(above)), above)


@dataclass(frozen=True, slots=True)
class Levelled(Guarantee):
    """A guarantee with one level ε."""

    key = ""
    epsilon: Level

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {"kind": self.key, "epsilon": _text(self.epsilon)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Guarantee:
        """Read what `to_dict` gave."""
        return cls(_required(record["epsilon"]))

    @property
    def silent(self) -> bool:
        """A level of 0 forbids every change."""
        return self.epsilon == 0


@dataclass(frozen=True, slots=True)
class Alip(Guarantee):
    """Asymmetric local information privacy: e^−lower ≤ P(y|x)/P(y) ≤ e^upper; None is no bound.

    PML is the upper half and PMC the lower one. With `about`, P(x|s) for each value s of a secret, it is about s.
    """

    key = "alip"

    lower: Level | None
    upper: Level | None
    about: Channel | None = None

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound entries by multiples of P(y); about another secret, sums of them."""
        above = None if self.upper is None else _times(masses, ratio(self.upper, side, room))
        below = None if self.lower is None else _times(masses, 1 / ratio(self.lower, side, room))
        if self.about is None:
            return Rows(
                upper=() if above is None else (Upper(above),),
                lower=() if below is None else (below,),
            )
        given = [tuple(map(Fraction, row)) for row in self.about.exact().matrix.tolist()]
        positive = [] if above is None else [_less(above, row) for row in given]
        positive += [] if below is None else [_less(row, below) for row in given]
        return Rows(positive=tuple(positive))

    def lifts(self, masses: Vector) -> Lifts:
        """Bound lifts as asked for; about another secret, P(x | s) P(y | x) ≤ P(y | s) ≤ e^upper P(y)."""
        below, above = Guarantee.lifts(self, masses)
        if self.about is not None:
            given = [max(map(Fraction, column)) for column in self.about.exact().matrix.T.tolist()]
            if self.upper is not None:
                most = ratio(self.upper, Side.OUTER)
                above = np.array([float_above(most / own - 1) if own else np.inf for own in given])
            return Lifts(below, above)
        if self.lower is not None:
            below = np.full(len(masses), float_above(1 - 1 / ratio(self.lower, Side.OUTER)))
        if self.upper is not None:
            above = np.full(len(masses), float_above(ratio(self.upper, Side.OUTER) - 1))
        return Lifts(below, above)

    def level_named(self, name: str) -> Level | None:
        """Return the level of pml, pmc or lip, whichever this is."""
        own = {(False, True): "pml", (True, False): "pmc", (True, True): "lip"}
        which = own[self.lower is not None, self.upper is not None]
        return (self.lower if self.upper is None else self.upper) if which == name else None

    def words(self) -> str:
        """Say the bound in words."""
        levels = {"PML": self.upper, "PMC": self.lower}
        if self.lower is not None and self.upper is not None:
            same = self.lower == self.upper
            name = "LIP" if same else "ALIP"
            at = _nats(self.upper) if same else f"{_nats(self.lower)} below and {_nats(self.upper)} above"
        else:
            name, at = next((name, _nats(own)) for name, own in levels.items() if own is not None)
        return f"{name} of at most {at}{self.scope}"

    @property
    def scope(self) -> str:
        """Say that it is about another secret."""
        return "" if self.about is None else " about the secret"

    def against(self) -> str:
        """Say whom it protects against."""
        whose = "the prior" if self.about is None else "the prior and how the secret goes with the data"
        return f"an adversary who knows {whose} and sees one output"

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        about = {} if self.about is None else {"about": self.about.to_dict()}
        return {"kind": self.key, "lower": _text(self.lower), "upper": _text(self.upper), **about}

    @property
    def silent(self) -> bool:
        """A level of 0 forbids every change."""
        return 0 in (self.lower, self.upper) and self.about is None

    def require(self, prior: Prior) -> None:
        """The secret must be about the prior's labels, in their order, and be able to lead to the prior."""
        if self.about is not None:
            _require_order(prior, self.about.outputs, "outputs of the secret")
            require_mixture(prior, self.about)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Alip:
        """Read what `to_dict` gave."""
        about = record.get("about")
        if record["lower"] is None and record["upper"] is None:
            raise InvalidInput("a bound on lifts must have a level, got none below and none above.")
        return cls(
            _level(record["lower"], "lower"),
            _level(record["upper"], "upper"),
            None if about is None else Channel.from_dict(about),
        )


@dataclass(frozen=True, slots=True)
class Ldp(Levelled):
    """Local differential privacy: P(y|x) ≤ e^ε P(y|x′)."""

    key = "ldp"

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound every entry by a multiple of the least one."""
        return Rows(upper=(Upper((Fraction(0),) * len(masses), ratio(self.epsilon, side, room)),))

    def lifts(self, masses: Vector) -> Lifts:
        """A secret is likeliest where all others are alike and less likely, and the other way round.

        t/(1 + (t − 1)p) − 1 and 1 − 1/(t − (t − 1)p), in sums and products of what is positive.
        """
        more = float_above(ratio(self.epsilon, Side.OUTER) - 1)
        mass, rest = np.array([(float(mass), float(1 - mass)) for mass in masses]).T
        slack = 1 + gamma(16)
        return Lifts(more * rest / (1 + more * rest) * slack, more * rest / (1 + more * mass) * slack)

    def words(self) -> str:
        """Say the bound in words."""
        return f"LDP of at most {_nats(self.epsilon)}"

    def against(self) -> str:
        """Say whom it protects against."""
        return "every adversary who sees one output, whatever he knows beforehand"


@dataclass(frozen=True, slots=True)
class FloorPml(Levelled):
    """(ε, c)-PML: PML of at most ε for every prior that gives each secret at least c."""

    key = "min_mass"
    min_mass: Fraction

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound every entry by a multiple of the least P(y) over Q(c)."""
        factor, size = ratio(self.epsilon, side, room), len(masses)
        rest = 1 - size * self.min_mass
        return Rows(upper=(Upper((factor * self.min_mass,) * size, factor * rest),))

    def lifts(self, masses: Vector) -> Lifts:
        """The prior is one of them, unless it has a smaller mass."""
        known = Guarantee.lifts(self, masses)
        return known if min(masses) < self.min_mass else Alip(None, self.epsilon).lifts(masses)

    def words(self) -> str:
        """Say the bound in words."""
        return f"PML of at most {_nats(self.epsilon)}{self.scope}"

    @property
    def scope(self) -> str:
        """Say of which priors it is."""
        return f" for every prior with masses of at least {_exactly(self.min_mass)}"

    def against(self) -> str:
        """Say whom it protects against."""
        return "an adversary with any prior of that kind who sees one output"

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {"kind": self.key, "epsilon": _text(self.epsilon), "min_mass": number_to_json(self.min_mass)}

    def require(self, prior: Prior) -> None:
        """The set must not be empty, or more than all priors."""
        read_min_mass(self.min_mass, len(prior))

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> FloorPml:
        """Read what `to_dict` gave."""
        return cls(_required(record["epsilon"]), Fraction(number(record["min_mass"], "min_mass")))


@dataclass(frozen=True, slots=True)
class SetPml(Levelled):
    """PML of at most ε for every prior of a set.

    `members` are priors of the set that bounds are written for; `refine` adds those that are worst for some columns,
    so that about these columns nothing is left out.
    """

    key = "prior_set"
    priors: AnyPriorSet
    channel: Channel
    members: tuple[Vector, ...] = ()

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound every entry by a multiple of P(y) under each member."""
        factor = ratio(self.epsilon, side, room)
        return Rows(upper=tuple(Upper(_times(member, factor)) for member in self.members))

    def covers(self, prior: Prior) -> bool:
        """Whether the prior is one of the set."""
        return prior.exact() in self.priors

    def refine(self, columns: Sequence[Sequence[int]]) -> SetPml:
        """Add the members under which each column is least likely."""
        region = region_of(self.priors, self.channel)
        if not isinstance(region, Region):
            return replace(self, members=tuple(tuple(prior.exact().masses) for prior in region))
        known = dict.fromkeys(self.members or (region.inside(),))
        for column in columns:
            if any(column):
                known[region.lowest([Fraction(entry) for entry in column])[1]] = None
        return replace(self, members=tuple(known))

    def lifts(self, masses: Vector) -> Lifts:
        """k_x ≤ t q·k ≤ t max(q/p) p·k for each member q; the prior itself may be one."""
        labels = self.channel.inputs if self.channel.inputs.given else None
        known = [masses] if Prior(np.array(masses, dtype=object), labels) in self.priors else []
        most = [
            max(other / mass for mass, other in zip(masses, member, strict=True))
            for member in (*known, *self.members)
        ]
        below, above = Guarantee.lifts(self, masses)
        if most:
            above = np.full(len(masses), float_above(ratio(self.epsilon, Side.OUTER) * min(most) - 1))
        return Lifts(below, above)

    def words(self) -> str:
        """Say the bound in words."""
        return f"PML of at most {_nats(self.epsilon)}{self.scope}"

    @property
    def scope(self) -> str:
        """Say of which priors it is."""
        return f" for every prior {self.priors.words()}"

    def against(self) -> str:
        """Say whom it protects against."""
        return "an adversary with any prior of the set who sees one output"

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        members = [[number_to_json(mass) for mass in member] for member in self.members]
        return {
            "kind": self.key,
            "epsilon": _text(self.epsilon),
            "priors": prior_set_to_dict(self.priors),
            "secrets": self.channel.to_dict(),
            "members": members,
        }

    def require(self, prior: Prior) -> None:
        """The set must be about the prior's secrets, in their order."""
        _require_order(prior, self.channel.inputs, "secrets of the set")
        if self.channel.inputs.given != prior.labels.given:
            raise InvalidInput("secrets of the set must have labels where the prior's have.")
        if any(len(member) != len(prior) for member in self.members):
            raise InvalidInput(f"members must have a mass for each of {len(prior)} secrets.")
        region = region_of(self.priors, self.channel)
        if isinstance(region, Region):
            # a mass may be 0 in the set where it is positive elsewhere: then a bound holds in the limit
            known = set(region.possible)
            self._require_masses(
                [place in known for place in range(len(prior))], prior, "every prior of the set"
            )
        else:
            for place, one in enumerate(region, 1):
                self._require_masses(one.masses, prior, f"prior {place} of {len(region)}")

    def _require_masses(self, masses: Iterable[object], prior: Prior, where: str) -> None:
        """Refuse priors that rule a secret out: PML says nothing of it, but a bound on all entries of a column does."""
        zeros = [label for label, mass in zip(prior.labels, masses, strict=True) if not mass]
        if zeros:
            raise InvalidPrior(
                f"priors must give every secret a positive mass, got 0 for {show(zeros[0])} in {where}; give it a "
                "small one."
            )

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> SetPml:
        """Read what `to_dict` gave; members that are not in the set are refused."""
        priors, channel = prior_set_from_dict(record["priors"]), Channel.from_dict(record["secrets"])
        members = tuple(
            tuple(Fraction(number(mass, "mass")) for mass in member) for member in record["members"]
        )
        labels = channel.inputs if channel.inputs.given else None
        for member in members:
            if Prior(np.array(member, dtype=object), labels) not in priors:
                raise InvalidInput(
                    f"members must be priors of the set, got {quoted(list(map(str, member)))}."
                )
        return cls(_required(record["epsilon"]), priors, channel, members)


@dataclass(frozen=True, slots=True)
class MaximalLeakage(Levelled):
    """Maximal leakage of at most ε: Σ_y max_x P(y|x) ≤ e^ε."""

    key = "maximal_leakage"

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound the sum of the columns' largest entries."""
        most = _total(ratio(self.epsilon, side, room), masses)
        return Rows(upper=(Upper((Fraction(0),) * len(masses), own=Fraction(1)),), most=most)

    def words(self) -> str:
        """Say the bound in words."""
        return f"maximal leakage of at most {_nats(self.epsilon)}"

    def against(self) -> str:
        """Say whom it protects against."""
        return "every adversary, on the average over outputs"


@dataclass(frozen=True, slots=True)
class Envelope(Guarantee):
    """An envelope of at most ε at δ: no post-processing leaks more than ε with probability above δ.

    Channels are found with one threshold θ for all secrets, which suffices, or without one, as PML of the same level
    does; a bound on all channels takes the maximal leakage that the envelope implies, e^ε (1 + δ).
    """

    key = "envelope"
    epsilon: Level
    delta: Fraction
    threshold: Fraction | None = None

    def rows(self, masses: Vector, side: Side, room: Fraction = Fraction(0)) -> Rows:
        """Bound what exceeds the threshold; from outside, the sum of the columns' largest entries."""
        factor = ratio(self.epsilon, side, room)
        if side is Side.OUTER:
            nothing = (Fraction(0),) * len(masses)
            most = _total(factor * (1 + self.delta), masses)
            return Rows(upper=(Upper(nothing, own=Fraction(1)),), most=most)
        if self.threshold is None or not 1 <= self.threshold < factor:
            return Rows(upper=(Upper(_times(masses, factor)),))
        row = Upper(_times(masses, self.threshold), own=factor - self.threshold)
        return Rows(upper=(row,), most=self.delta)

    def words(self) -> str:
        """Say the bound in words."""
        return f"envelope of at most {_nats(self.epsilon)} at δ = {_exactly(self.delta)}"

    def against(self) -> str:
        """Say whom it protects against."""
        return "an adversary who knows the prior and processes the output as he likes, but for a share δ of outcomes"

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {
            "kind": self.key,
            "epsilon": _text(self.epsilon),
            "delta": number_to_json(self.delta),
            "threshold": None if self.threshold is None else number_to_json(self.threshold),
        }

    @property
    def silent(self) -> bool:
        """Even a level of 0 allows something with probability δ."""
        return self.delta == 0 and self.epsilon == 0

    def require(self, prior: Prior) -> None:
        """δ must be a probability that says something."""
        if not 0 < self.delta < 1:
            raise InvalidInput(f"envelope δ must be in (0, 1), got {quoted(str(self.delta))}.")

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Envelope:
        """Read what `to_dict` gave."""
        threshold = record["threshold"]
        return cls(
            _required(record["epsilon"]),
            Fraction(number(record["delta"], "delta")),
            None if threshold is None else Fraction(number(threshold, "threshold")),
        )

    def fitted(self, masses: Vector, columns: Sequence[Sequence[int]], scale: int) -> Envelope:
        """Take the threshold under which a channel keeps most: what exceeds it is convex, with a kink at each lift."""
        factor = ratio(self.epsilon, Side.INNER)
        ends = [
            (
                Fraction(max(column), scale),
                sum((p * k for p, k in zip(masses, column, strict=True)), Fraction(0)) / scale,
            )
            for column in columns
            if any(column)
        ]
        kinks = {Fraction(1), *(high / mean for high, mean in ends if mean)}

        def lacking(threshold: Fraction) -> Fraction:
            over = sum((max(high - threshold * mean, Fraction(0)) for high, mean in ends), Fraction(0))
            return over / (factor - threshold)

        tried = [kink for kink in kinks if 1 <= kink < factor]
        if max(kinks) <= factor or not tried:
            return self  # PML decides
        return replace(self, threshold=min(tried, key=lacking))

    def thresholds(self, count: int) -> list[Fraction]:
        """List thresholds from 1 to e^ε, evenly, to try."""
        factor = ratio(self.epsilon, Side.INNER)
        return [1 + (factor - 1) * Fraction(step, count) for step in range(count)]


def secret_of(guarantees: Sequence[Guarantee]) -> Channel | None:
    """Return P(x | s) of the secret s that a guarantee is about; None where all are about x, which is released."""
    return next((own.about for own in guarantees if isinstance(own, Alip) and own.about is not None), None)


def named(guarantees: Sequence[Guarantee], name: str) -> tuple[Guarantee, Level, str]:
    """Find the guarantee that an argument gave, its level, and of which priors or which secret it is.

    PML for every prior, whatever its masses, is LDP, and stands first.
    """
    for own in guarantees:
        level = own.level_named(name)
        if level is not None:
            return own, level, own.scope
    level = guarantees[0].level_named("ldp")
    assert level is not None, name
    return guarantees[0], level, " for every prior"


def all_rows(
    guarantees: Sequence[Guarantee], masses: Vector, side: Side, room: Fraction = Fraction(0)
) -> Rows:
    """Write the cone of all guarantees together."""
    return sum((own.rows(masses, side, room) for own in guarantees), Rows())


def under_pml(guarantees: Sequence[Guarantee]) -> tuple[Guarantee, ...] | None:
    """Put PML of the same level, which implies it, in an envelope's place; None where there is no envelope."""
    if not any(isinstance(own, Envelope) for own in guarantees):
        return None
    return tuple(Alip(None, own.epsilon) if isinstance(own, Envelope) else own for own in guarantees)


def same_guarantees(one: Sequence[Guarantee], two: Sequence[Guarantee]) -> bool:
    """Whether these are the same guarantees, however much of a set of priors is written out."""

    def written(own: Guarantee) -> dict[str, Any]:
        return {key: entry for key, entry in own.to_dict().items() if key != "members"}

    return [written(own) for own in one] == [written(own) for own in two]


def _exactly(share: Fraction) -> str:
    """Write a share as it was given; a long one a little larger, which promises less."""
    text = format_python(share)
    return text if len(text) <= _LONGEST else format_up(share, _DIGITS)


def require_mixture(prior: Prior, about: Channel) -> None:
    """Refuse a prior that is not a mixture of the rows P(x | s), but for the rounding of floats."""
    from scipy.optimize import nnls

    far = float(nnls(np.asarray(about.exact().floats).T, prior.floats)[1])
    if far > _SAME:
        raise InvalidInput(
            f"prior must be a mixture of the rows of secret, P(x) = Σ P(s)P(x|s), got one that is {far:.3g} away; "
            "compute both from the same counts."
        )


def _require_order(prior: Prior, labels: Labels, what: str) -> None:
    if match(prior.labels, labels, what, "the prior's labels") is not None:
        raise InvalidInput(f"{what} must be the prior's labels, in their order.")


def _total(most: Fraction, masses: Vector) -> Fraction:
    """Bound what largest entries sum to: no more than all entries, which is a 1 for each secret."""
    return min(most, Fraction(len(masses)))


def _times(vector: Sequence[Fraction], factor: Fraction) -> Vector:
    return tuple(factor * entry for entry in vector)


def _less(one: Sequence[Fraction], two: Sequence[Fraction]) -> Vector:
    return tuple(a - b for a, b in zip(one, two, strict=True))


def _nats(epsilon: Level | None) -> str:
    assert epsilon is not None
    words = level_exactly(epsilon)
    return f"{words} nat" if words == "1" else f"{words} nats"


def _text(epsilon: Level | None) -> str | None:
    return None if epsilon is None else level_exact(epsilon)


def read_level(value: Any, argument: str) -> Level:
    """Read the level of a guarantee: rounded down where it is irrational, and no larger than floats can work with."""
    found = exact_level(value, argument, rounding="down")
    if found > _LARGEST:
        raise InvalidInput(
            f"{argument} must be at most {_LARGEST} nats, got {quoted(value)}; a larger level protects nobody: "
            "leave it out, or give a smaller one."
        )
    return found


def _level(text: Any, argument: str) -> Level | None:
    return None if text is None else read_level(text, argument)


def _required(text: Any) -> Level:
    return read_level(text, "epsilon")
