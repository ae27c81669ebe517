"""δ_c(ε): how likely some post-processing can make a leakage above ε, at most.

    δ_c(ε) = sup over channels Y → Z of P{ℓ(Z) > ε} = lim of V(t) as t falls to e^ε

V jumps down where a secret's largest lift is passed; exactly at such a level the two ends need not meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.envelopes.attack import Shares, evaluate, lower_proof, margin, repair
from tightlip.envelopes.dual import dual_bound
from tightlip.envelopes.exact import Release
from tightlip.envelopes.lp import Optimum, RestrictedMaster
from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel, align
from tightlip.model.prior import Prior
from tightlip.numeric.ball import ball, enclose, exp_bounds, log_bounds, log_exceeds
from tightlip.numeric.display import format_down, format_exactly, format_up
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.proved import MET, Proved
from tightlip.numeric.quantity import Probability, exact_level, exact_ratio, level_repr

# how far above the level to solve, relatively: at first as close as roundings allow, then, where the ends are still
# apart, farther: at an outcome's own leakage a solver sees little any closer
_ABOVE = 1e-12
_FARTHER = 1e-9, 1e-7, 1e-5
# rounds of pricing, and ends so close count as meeting: these trade time against the gap only
_MOST_SOLVES = 60
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class FailureProbability(Proved):
    """δ_c(ε) between two sound ends; `lower` is reached by `attack`."""

    epsilon: float
    lower: float
    upper: float
    method: str
    attack: Channel
    certificate: EnvelopeCertificate

    @property
    def value(self) -> Probability:
        """The sound (upper) end."""
        return Probability(self.upper)

    @property
    def exact(self) -> bool:
        """Whether the ends met, so that they are roundings of one probability."""
        return self.gap <= MET * self.upper

    def verify(self) -> None:
        """Check the certificate in rational arithmetic, without a solver, and that it proves these very ends.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        self.certificate.verify()
        above, below = self.certificate.upper, self.certificate.lower
        likely = Fraction(0) if above.multipliers is None else above.mass
        if self.upper < 1 and (
            likely > self.upper or log_exceeds(above.ratio, self.epsilon)
        ):  # 1 needs no proof
            raise CertificateInvalid(
                f"upper end fails: the proof is of probability {format_exactly(likely)} at level "
                f"{format_down(log_bounds(above.ratio)[0], 17)}, not of {self.upper!r} at {self.epsilon!r}."
            )
        if self.lower and (below.mass < self.lower or not log_exceeds(below.ratio, self.epsilon)):
            raise CertificateInvalid(
                f"lower end fails: the proof is of probability {format_exactly(below.mass)} at level "
                f"{format_up(log_bounds(below.ratio)[1], 17)}, not of {self.lower!r} above {self.epsilon!r}."
            )

    def __repr__(self) -> str:
        return (
            f"FailureProbability(epsilon={level_repr(self.epsilon)} nats, {format_down(self.lower)} to "
            f"{format_up(self.upper)}, by {self.method})"
        )


def failure_probability(channel: Channel, prior: Prior, epsilon: Any) -> FailureProbability:
    """δ_c(ε): the largest probability with which some post-processing leaks more than ε.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    epsilon : level in nats, at least 0; `log_of("10/9")` is exact

    >>> from tightlip import log_of, papers, Prior
    >>> found = failure_probability(papers.env_example_1(), Prior.uniform(4), 0.5)
    >>> found.verify()
    >>> round(float(found.value), 6), found.value - found.lower < 1e-9
    (0.409447, True)
    """
    level = exact_level(epsilon, rounding="down")
    exact = exact_ratio(level)
    low, high = exp_bounds(level) if exact is None else (exact, exact)
    stated = log_bounds(exact)[1] if exact is not None else enclose(lambda: ball(level))[1]
    release = Release.of(channel, align(prior, channel))
    worst = max(release.joint.exact_lift(place) for place in range(len(release.joint.outcomes)))
    if worst <= low:
        return _impossible(release, stated, worst)
    return _solve(release, stated, Fraction(low), float(high), worst)


def _impossible(release: Release, epsilon: float, worst: Fraction) -> FailureProbability:
    """Prove that no lift is above the level, by the largest one; no attack is needed."""
    channel = release.channel
    silent = Channel(
        np.ones((channel.shape[1], 1)), channel.outputs if channel.outputs.given else None, ["rest"]
    )
    certificate = EnvelopeCertificate(
        channel,
        release.prior,
        UpperProof(worst, Fraction(0), None),
        LowerProof(Fraction(1), Fraction(0), Attack.of(silent), (None,)),
    )
    return FailureProbability(epsilon, 0.0, 0.0, "no outcome leaks more", silent, certificate)


def _solve(
    release: Release, epsilon: float, below: Fraction, above: float, worst: Fraction
) -> FailureProbability:
    pairs, program = release.pairs, RestrictedMaster(release.pairs, above)
    program.add_first()
    closest = max(_ABOVE, 4 * margin(pairs))
    found = _optimum_at(program, above * (1 + closest))
    bound = _upper_proof(release, program.thresholds(found.multipliers, program.ratio), below)
    best = _attack(program, found, above)
    # what leaks more leaks as much
    for step in (step for step in _FARTHER if step > closest):
        if bound.mass - Fraction(best.mass) > _CLOSE:
            best = max(best, _attack(program, _optimum_at(program, above * (1 + step)), above), key=_mass)
    if bound.mass > 1:  # says nothing about the level; what is saved says what no outcome exceeds at all
        bound = UpperProof(worst, Fraction(1), None)
    upper = min(float(bound.mass), 1.0)
    lower = min(best.mass, upper)
    lower_end = lower_proof(
        pairs,
        best.shares,
        release.joint,
        release.channel,
        ratio=Fraction(best.ratio),
        mass=Fraction(lower),
    )
    method = "linear program, proved by thresholds and an attack"
    if upper - lower > _CLOSE:
        method += "; the level is at or near a jump, where the ends need not meet"
    certificate = EnvelopeCertificate(release.channel, release.prior, bound, lower_end)
    # as for an envelope
    if release.is_always_verified:
        certificate.verify_for(release.rationals)
    return FailureProbability(epsilon, lower, upper, method, certificate.attack, certificate)


def _optimum_at(program: RestrictedMaster, ratio: float) -> Optimum:
    """Solve at a ratio by column generation: until no column improves."""
    program.move(ratio)
    found = program.solve()
    for _ in range(_MOST_SOLVES):
        if not program.add(program.price(program.thresholds(found.multipliers, ratio), ratio)):
            break
        found = program.solve()
    return found


def _upper_proof(release: Release, thresholds: FloatArray, below: Fraction) -> UpperProof:
    """Write down what the thresholds prove just below the level."""
    floor = math.nextafter(float(below), 0.0)
    thresholds = np.minimum(thresholds, floor * (1 - 1e-9))
    proved = dual_bound(release.pairs, thresholds, floor)
    return UpperProof(Fraction(floor), Fraction(proved), release.multipliers(thresholds, floor))


class _Attack(NamedTuple):
    """What it gives away, the ratio that reaches, and the mass with which it leaks more than the level."""

    shares: Shares
    ratio: float
    mass: float


def _mass(attack: _Attack) -> float:
    return attack.mass


def _attack(program: RestrictedMaster, found: Optimum, above: float) -> _Attack:
    shares = repair(program.pairs, program.attack(found), program.ratio)
    ratio, mass = evaluate(program.pairs, shares)
    return _Attack(shares, ratio, mass if ratio > above else 0.0)
