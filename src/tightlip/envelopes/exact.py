"""Solve for the PML envelope, exactly: what leakage survives any post-processing with failure probability δ.

    ε_c(δ) = sup over channels Y → Z of the right quantile of ℓ(Z) at δ
           = log of the largest t with V(t) ≥ δ      (see pairs.py and docs/envelope.md)

The answer is a bracket whose ends are proved separately; how it was found does not matter to the proof. Special cases
come first: randomised response (response.py), a δ that the worst outcomes decide, two secrets (two_secrets.py), very
many outcomes (aggregation.py). The rest is column generation (column_generation.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightlip.certificate.envelope import EnvelopeCertificate, UpperProof
from tightlip.certificate.randomized_response import response_pair
from tightlip.certificate.rational import RationalRelease
from tightlip.envelopes.aggregation import should_aggregate, solve_by_groups
from tightlip.envelopes.attack import MassTest, Shares, evaluate, lower_proof, margin
from tightlip.envelopes.bracketing import Bracket, Goal
from tightlip.envelopes.column_generation import ColumnGeneration, common_threshold
from tightlip.envelopes.limits import LIMITS, Effort, Limits
from tightlip.envelopes.pairs import Pairs, Places, pairs_of
from tightlip.envelopes.response import channel_envelope
from tightlip.envelopes.result import CLOSED_FORMS, COLUMN_GENERATION, Envelope
from tightlip.envelopes.two_secrets import solve_two_secrets
from tightlip.errors import InvalidInput
from tightlip.measures.distribution import PointwiseLeakage
from tightlip.measures.joint import ExactJoint, FloatJoint, join
from tightlip.measures.pointwise import from_joint
from tightlip.model.channel import Channel, align
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.numeric.display import format_up
from tightlip.numeric.parse import FloatArray, float_number

GAP = 1e-9
# larger randomised response has an exact closed form too, but no attack is written out
_MOST_RESPONSES = 200
# above it the exact probability of all outcomes is compared, since stored floats may sum to less than 1
_NEAR_ALL = Fraction(999, 1000)


def envelope_points(
    channel: Channel,
    prior: Prior,
    deltas: Sequence[Fraction],
    *,
    gap: float = GAP,
    limits: Limits = LIMITS,
    until: Deadline = NEVER,
) -> Iterator[Envelope]:
    """Compute ε_c(δ) at one δ after another, in the order given; work is shared between them, most if δ falls.

    `gap` is the relative gap allowed between the ends of e^ε. With up to `Limits.verified_pairs` pairs each point's
    proof is checked before it is returned: in rationals, or of several points in floats with a bound on every rounding
    where these can tell. At `until` the search ends with the ends that are proved by then; at once, with closed forms.
    """
    allowed = float_number(gap, "gap")
    if not 1e-12 <= allowed < 1:
        raise InvalidInput(f"gap must be in [1e-12, 1), got {allowed!r}; 1e-9 is the default.")
    aligned = align(prior, channel)
    if 2 < channel.shape[0] <= _MOST_RESPONSES and response_pair(channel) is not None:
        yield from (channel_envelope(channel, aligned, delta) for delta in deltas)
        return
    yield from Solver(Release.of(channel, aligned, limits), until).envelopes(deltas, allowed)


@dataclass(frozen=True)
class Release:
    """Hold a channel and prior made ready for the search; nothing here changes."""

    channel: Channel
    prior: Prior
    joint: ExactJoint | FloatJoint
    pairs: Pairs
    leak: PointwiseLeakage
    limits: Limits = LIMITS

    @classmethod
    def of(cls, channel: Channel, prior: Prior, limits: Limits = LIMITS) -> Release:
        """Join a channel and an aligned prior, and list the pairs."""
        joint = join(channel, prior)
        pairs = pairs_of(joint, limits.complete_pairs)
        return cls(channel, prior, joint, pairs, from_joint(joint, "pml"), limits)

    @cached_property
    def rationals(self) -> RationalRelease:
        """What proofs are checked against."""
        return RationalRelease.of(self.channel, self.prior)

    @property
    def is_always_verified(self) -> bool:
        """Whether it is small enough for every proof to be checked before it is returned."""
        return len(self.pairs.chance) <= self.limits.verified_pairs

    @cached_property
    def everything(self) -> Fraction:
        """The exact probability of all outcomes."""
        return self.joint.exact_mass(range(len(self.joint.outcomes)))

    @cached_property
    def least_gap(self) -> float:
        """Floats come no closer."""
        return 3 * margin(self.pairs)

    @cached_property
    def highest(self) -> float:
        """The largest lift, rounded up."""
        return float(np.exp(self.leak.worst)) * (1 + 1e-15)

    @cached_property
    def worst_first(self) -> tuple[Places, FloatArray]:
        """The outcomes from the largest leakage down, and the probability of as many."""
        order = np.argsort(-self.leak.values)
        return order, np.cumsum(self.pairs.marginal[order])

    @cached_property
    def worst_mass(self) -> float:
        """The probability of the outcomes that have the largest leakage, or nearly."""
        return float(self.worst_first[1][int((self.leak.values >= self.leak.worst - 1e-6).sum()) - 1])

    @cached_property
    def suspects(self) -> Places:
        """The pair of largest lift of each outcome, from the worst outcome down."""
        return np.asarray(self.pairs.leads[self.worst_first[0]])

    @cached_property
    def worst_lift(self) -> Fraction:
        """The largest lift, exactly."""
        # no other can be the worst
        close = np.flatnonzero(self.leak.values >= self.leak.lower.max())
        return max(self.joint.exact_lift(int(place)) for place in close)

    def certificate(self, found: Bracket, mass: Fraction) -> EnvelopeCertificate:
        """Write down the proof of both ends of a bracket."""
        assert found.attack is not None
        if found.thresholds is None:
            upper = UpperProof(self.worst_lift, mass, None)
        else:
            upper = UpperProof(Fraction(found.high), mass, self.multipliers(found.thresholds, found.high))
        lower = lower_proof(
            self.pairs, found.attack, self.joint, self.channel, ratio=Fraction(found.low), mass=mass
        )
        return EnvelopeCertificate(self.channel, self.prior, upper, lower)

    def multipliers(self, thresholds: FloatArray, ratio: float) -> tuple[float, ...]:
        """λ_x = 1/(t − θ_x) for every secret of the channel, 0 for impossible ones."""
        found = np.zeros(self.channel.shape[0])
        found[self.joint.support] = 1 / (ratio - thresholds)
        return tuple(found.tolist())


class Solver:
    """Find the envelope of one release at one δ after another; its search keeps what it learned at other δ."""

    def __init__(self, release: Release, until: Deadline = NEVER) -> None:
        self.release = release
        self._until = until
        self._search: ColumnGeneration | None = None

    @property
    def columns(self) -> int:
        """How many columns the search uses by now."""
        return 0 if self._search is None else self._search.columns

    def envelope(self, delta: Fraction, gap: float) -> Envelope:
        """Compute ε_c(δ) with its certificate, which is checked where the release is small enough."""
        return next(self.envelopes([delta], gap))

    def envelopes(self, deltas: Sequence[Fraction], gap: float) -> Iterator[Envelope]:
        """Find one point after another; of small releases several are solved, then proved: either is faster so."""
        release = self.release
        several = max(release.limits.verified_pairs // len(release.pairs.chance), 1)
        for start in range(0, len(deltas), several):
            batch = deltas[start : start + several]
            brackets = [self._solve(delta, gap) for delta in batch]
            for delta, (mass, bracket) in zip(batch, brackets, strict=True):
                certificate = release.certificate(bracket, mass)
                # a solver's answer is none until its proof is checked
                if release.is_always_verified:
                    certificate.verify_for(release.rationals, filtered=len(deltas) > 1)
                method = describe(bracket, gap, by_sorting=release.pairs.secrets == 2)
                yield _result(certificate, delta, method, bracket.solves)

    def _solve(self, delta: Fraction, gap: float) -> tuple[Fraction, Bracket]:
        """Bracket e^{ε_c(δ)}, beside the probability that it is proved for."""
        release, pairs = self.release, self.release.pairs
        everything = release.everything if delta > _NEAR_ALL else None
        mass = delta if everything is None else min(delta, everything)
        test = MassTest.of(mass, release.joint, everything)
        effort = Effort(release.limits, self._until)
        goal = Goal(float(mass), max(gap, release.least_gap), test, release.limits, effort)
        start = self._start(goal)
        if start.within(goal.gap):
            return mass, start
        if pairs.secrets == 2:
            return mass, solve_two_secrets(pairs, goal, start)
        if effort.ended_by:
            found = start._replace(stopped=effort.ended_by)
        elif should_aggregate(pairs, release.limits):
            found = solve_by_groups(pairs, goal, start)
        else:
            found = self._generate_columns(goal, start)
        if found.thresholds is None and found.stopped:
            found = found.tighten_above(pairs, goal.delta, common_threshold(pairs, goal.delta))
        return mass, found

    def _generate_columns(self, goal: Goal, start: Bracket) -> Bracket:
        """Narrow by the search that knows other δ, and by a new one where that leaves a gap."""
        pairs, limits = self.release.pairs, self.release.limits
        if self._search is not None:
            start = self._search.narrow(goal, start)
            if start.within(goal.gap):
                return start
        # a warm start may lead astray
        self._search = ColumnGeneration(pairs, limits)
        return self._search.narrow(goal, start)

    def _start(self, goal: Goal) -> Bracket:
        """Start from the outcomes themselves as an attack: the worst of them, each blamed on its likeliest secret.

        Unless these decide, an attack that was found for a larger δ is better. What was proved for a smaller δ holds.
        """
        release, known = self.release, self._search
        if known is not None and release.worst_mass < goal.delta * (1 - 1e-9):
            found = known.attack_for(goal.delta)
            if found is not None:
                return found._replace(high=release.highest, thresholds=None, solves=0, stopped="")
        start = _worst_outcomes(release, goal)
        proved = None if known is None else known.proof_for(goal.delta)
        if proved is None or proved.high <= start.low:
            return start
        return start._replace(high=proved.high, thresholds=proved.thresholds)


def _worst_outcomes(release: Release, goal: Goal) -> Bracket:
    """Bracket by the attack that releases the fewest worst outcomes which surely have probability δ."""
    pairs, (order, reached) = release.pairs, release.worst_first
    count = min(int(np.searchsorted(reached, goal.delta * (1 - 1e-12))) + 1, len(order))
    while True:
        attack = Shares(release.suspects[:count], np.ones(count))
        ratio, weight = evaluate(pairs, attack)
        if count == len(order) or goal.mass.holds(pairs, attack, weight):
            break
        count += 1
    start = Bracket(min(ratio, release.highest), release.highest, attack, thresholds=None)
    if count == 1:
        return start
    # fewer leak more, and the mass they lack costs them as much of it
    fewer = int((np.exp(release.leak.values[order[: count - 1]]) * reached[: count - 1]).argmax()) + 1
    return start.tighten_below(pairs, goal, Shares(release.suspects[:fewer], np.ones(fewer)), 0.0)


def describe(found: Bracket, gap: float, *, by_sorting: bool) -> str:
    """Name the method by which a bracket was found, and why its ends do not meet where they do not."""
    if found.thresholds is None and found.solves == 0:
        text = "the worst outcomes decide"
    elif by_sorting:
        text = "sorting two secrets"
    else:
        text = CLOSED_FORMS if found.stopped and not found.solves else COLUMN_GENERATION
    if found.high > found.low * (1 + gap):
        apart = log_bounds(Fraction(found.high) / Fraction(found.low))[1]
        text += f"; the ends could not be brought closer than {format_up(apart, 2)} nats"
        if found.stopped:
            text += f", since {found.stopped}"
    return text


def _result(certificate: EnvelopeCertificate, delta: Fraction, method: str, solves: int) -> Envelope:
    high = max(log_bounds(certificate.upper.ratio)[1], 0.0)
    return Envelope(
        delta=delta,
        lower=min(max(log_bounds(certificate.lower.ratio)[0], 0.0), high),
        upper=high,
        method=method,
        certificate=certificate,
        solves=solves,
    )
