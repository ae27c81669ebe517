"""The largest PML, PMC or maximal leakage under any prior of a set.

    sup_p max_y PML = log max_y max_{x∈S} K_xy / min_p q_y(p)      q_y(p) = Σ_x p_x K_xy
    sup_p max_y PMC = log max_y max_p q_y(p) / min_{x∈S} K_xy
    sup_p ℒ         = log Σ_y max_{x∈S} K_xy

with S the secrets to which some prior of the set gives mass. q_y is linear in p, so over a convex set each outcome
asks for one linear program.

Why S, and when a supremum is no maximum. PML and PMC count the secrets of positive mass only. The prior that
minimises q_y may give none to the x that maximises K_xy; but a member that does give it some can be mixed in with an
arbitrarily small share, so the supremum is the ratio above, reached in the limit (`attained` is False). If q_y can
be made 0 at all while K_xy > 0 for some x in S, the same mixing shows that PML is unbounded.

Maximal leakage ℒ = log Σ_y max_{x : p_x > 0} K_xy depends on the support of p only. More possible secrets can only add
to it, and a convex set has members that give mass to every secret to which some member does. So over a convex set it is
one sum, and the supremum is reached; over a list, the largest of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, cast

from tightlip.measures.capacity import FloorCapacity, floor_capacity
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.pointwise import pmc as one_prior_pmc
from tightlip.measures.pointwise import pml as one_prior_pml
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.matrix import column_max
from tightlip.model.prior import Prior, PriorSet
from tightlip.model.prior_set import AnyPriorSet, PriorBall, PriorList, PriorPolytope
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats
from tightlip.robust.leakage_certificate import MAXIMAL, PMC, PML, LeakageCertificate, rational_column
from tightlip.robust.region import (
    Point,
    Region,
    as_prior,
    has_exact_numbers,
    mix,
    region_of,
)
from tightlip.robust.result import RobustLeakage, log_ends

Kind = Literal["pml", "pmc"]

_HALF = Fraction(1, 2)


def leakage_capacity(
    channel: Channel, *, min_mass: Any = None, prior_set: AnyPriorSet | None = None
) -> RobustLeakage:
    """Compute C(K, 𝒫) = sup over the priors of a set of the largest PML of any outcome, in nats, rounded up.

    Parameters
    ----------
    channel : Channel
    min_mass : number
        c in [0, 1/N]: all priors that give each secret at least c; 0 means any prior, which is LDP.
    prior_set : PriorSet, PriorBall, PriorList or PriorPolytope, instead of `min_mass`

    Returns
    -------
    RobustLeakage
        With the worst outcome, secret and prior. A channel is (ε, c)-PML exactly for ε ≥ C(K, Q(c)) (DOB paper,
        Definition 2; Appendix D has the closed form).

    >>> from tightlip import Channel, Prior
    >>> from tightlip.robust import PriorBall
    >>> channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["ill", "well"])
    >>> leakage_capacity(channel, min_mass="1/10").ratio
    Fraction(5, 2)
    >>> found = leakage_capacity(channel, prior_set=PriorBall(Prior(["1/5", "4/5"]), "1/5"))
    >>> found.ratio, found.prior, found.secret
    (Fraction(5, 2), Prior(ill: 1/10, well: 9/10), 'ill')
    """
    if min_mass is None and isinstance(prior_set, (PriorBall, PriorList, PriorPolytope)):
        return _worst(channel, prior_set, "pml")
    found = floor_capacity(channel, min_mass=min_mass, prior_set=cast(Any, prior_set))
    return _closed_form(found, channel, prior_set or _floor(channel, min_mass))


def pmc(channel: Channel, prior_set: AnyPriorSet) -> RobustLeakage:
    """Compute the largest PMC of any outcome under any prior of a set, rounded up; infinite if one excludes a secret.

    >>> from tightlip import Channel, PriorSet
    >>> channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> found = pmc(channel, PriorSet(min_mass="1/10"))
    >>> found.ratio, found.prior
    (Fraction(14, 5), Prior(0: 9/10, 1: 1/10))
    """
    return _worst(channel, prior_set, "pmc")


def _floor(channel: Channel, min_mass: Any) -> PriorSet | None:
    """Q(c) of the channel's secrets; None for all priors."""
    mass = number(min_mass, "min_mass")
    return PriorSet(channel.shape[0], mass) if mass else None


def _closed_form(found: FloorCapacity, channel: Channel, prior_set: AnyPriorSet | None) -> RobustLeakage:
    ends = found.lower, float(found.amount)
    near = found.prior or _point(channel, found.outcome)
    return RobustLeakage(
        found.amount,
        found.lower,
        method="closed form: the rest of the mass on the secret least likely to cause the outcome",
        prior=found.prior,
        attained=found.prior is not None,
        certificate=_certificate("pml", channel, prior_set, ends, near, found.outcome, found.secret),
        outcome=found.outcome,
        secret=found.secret,
    )


def _point(channel: Channel, outcome: Label) -> Prior:
    """The prior that is sure of the secret least likely to cause the outcome."""
    column = rational_column(channel, channel.outputs.position(outcome, "outcome"))
    least = column.index(min(column))
    return as_prior(tuple(Fraction(place == least) for place in range(len(column))), channel)


def _certificate(
    kind: Kind,
    channel: Channel,
    prior_set: AnyPriorSet | None,
    ends: tuple[float, float],
    prior: Prior,
    outcome: Label,
    secret: Label,
) -> LeakageCertificate:
    places = channel.outputs.position(outcome, "outcome"), channel.inputs.position(secret, "secret")
    return LeakageCertificate(PML if kind == "pml" else PMC, channel, prior_set, *ends, prior, *places)


def _worst(channel: Channel, prior_set: AnyPriorSet, kind: Kind) -> RobustLeakage:
    region = region_of(prior_set, channel)
    if isinstance(region, tuple):
        return _worst_of_list(channel, prior_set, region, kind)
    pick = _pml_case if kind == "pml" else _pmc_case
    cases = [pick(region, place, rational_column(channel, place)) for place in range(channel.shape[1])]
    worst = max((case for case in cases if case is not None), key=lambda case: case.size)
    known = channel.is_exact and has_exact_numbers(prior_set)
    lower, upper = (math.inf, math.inf) if worst.ratio is None else log_ends(worst.ratio)
    prior, outcome = as_prior(worst.point, channel), channel.outputs[worst.place]
    secret = channel.inputs[worst.secret]
    return RobustLeakage(
        Nats(upper, worst.ratio if known else None),
        lower,
        method="the extreme probability of each outcome over the set, in rationals",
        prior=prior,
        attained=worst.attained,
        certificate=_certificate(kind, channel, prior_set, (lower, upper), prior, outcome, secret),
        outcome=outcome,
        secret=secret,
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """The worst prior for one outcome; a ratio of None is infinite."""

    ratio: Fraction | None
    place: int
    secret: int
    point: Point
    attained: bool

    @property
    def size(self) -> Fraction | float:
        return math.inf if self.ratio is None else self.ratio


def _pml_case(region: Region, place: int, column: list[Fraction]) -> _Case | None:
    peak = max(column[secret] for secret in region.possible)
    if not peak:
        return None  # the outcome never occurs
    least, point = region.lowest(column)
    if not least:
        return _Case(None, place, _first(region, column, peak, point), point, False)
    secret = _first(region, column, peak, point)
    return _Case(peak / least, place, secret, point, point[secret] > 0)


def _pmc_case(region: Region, place: int, column: list[Fraction]) -> _Case | None:
    pit = min(column[secret] for secret in region.possible)
    most, point = region.highest(column)
    if not most:
        return None
    if not pit:
        point = mix(point, region.inside(), _HALF)
    secret = _first(region, column, pit, point)
    return _Case(most / pit if pit else None, place, secret, point, point[secret] > 0)


def _first(region: Region, column: list[Fraction], entry: Fraction, point: Point) -> int:
    """A secret with this entry, one of positive mass if there is one."""
    having = [secret for secret in region.possible if column[secret] == entry]
    return next((secret for secret in having if point[secret]), having[0])


def _worst_of_list(
    channel: Channel, prior_set: AnyPriorSet, priors: tuple[Prior, ...], kind: Kind
) -> RobustLeakage:
    measure = one_prior_pml if kind == "pml" else one_prior_pmc
    found = [measure(channel, prior) for prior in priors]
    place = max(range(len(found)), key=lambda one: _exact_size(found[one]))
    upper = max(float(leak.worst) for leak in found)
    worst = found[place]
    lower = max(float(leak.lower.max()) for leak in found)
    outcome, secret = worst.worst_outcome, worst.worst_secret
    return RobustLeakage(
        Nats(upper, worst.worst.ratio if all(leak.ratios is not None for leak in found) else None),
        lower,
        method=f"the largest of {len(priors)} priors",
        prior=priors[place],
        attained=True,
        certificate=_certificate(kind, channel, prior_set, (lower, upper), priors[place], outcome, secret),
        outcome=outcome,
        secret=secret,
    )


def _exact_size(leak: PointwiseLeakage) -> Fraction | float:
    ratio = leak.exact_ratio_of(leak.worst_outcome)
    return math.inf if ratio is None else ratio


def maximal_leakage(channel: Channel, prior_set: AnyPriorSet) -> RobustLeakage:
    """Compute the largest maximal leakage ℒ under any prior of a set, in nats, rounded up.

    >>> from tightlip import Channel, PriorSet
    >>> maximal_leakage(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), PriorSet(min_mass="1/10")).ratio
    Fraction(3, 2)
    """
    region = region_of(prior_set, channel)
    priors = region if isinstance(region, tuple) else (as_prior(region.inside(), channel),)
    ratios = [_ratio(channel, prior) for prior in priors]
    place = max(range(len(ratios)), key=ratios.__getitem__)
    lower, upper = log_ends(ratios[place])
    return RobustLeakage(
        Nats(upper, ratios[place] if channel.is_exact else None),
        lower,
        method="closed form: only the support matters",
        prior=priors[place],
        attained=True,
        certificate=LeakageCertificate(MAXIMAL, channel, prior_set, lower, upper, priors[place]),
    )


def _ratio(channel: Channel, prior: Prior) -> Fraction:
    peaks = column_max(channel.restricted_to(prior).matrix)
    return sum((Fraction(peak) for peak in peaks.tolist()), Fraction(0))
