"""Many independent uses of mechanisms on one secret: an accountant whose numbers have two proved ends.

For two secrets everything is a function of the privacy loss, whose distribution is put on a grid from both sides and
convolved in whole numbers (`loss_grid`); for up to four secrets of channels likelihood ratios are (`simplex_grid`).
(ε, δ) of more secrets is the worst of their pairs. Noise that is normal in all uses has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tightlip.arguments import is_list, listed, whole
from tightlip.certificate.recomputation import (
    REPEATED_DELTA,
    REPEATED_ENVELOPE,
    REPEATED_EPSILON,
    REPEATED_FAILURE,
    REPEATED_LEAKAGE,
    Recomputation,
    certify_by_recomputation,
)
from tightlip.envelopes.failure import failure_probability
from tightlip.envelopes.known_bounds import read_slack
from tightlip.envelopes.loss_curve import Side
from tightlip.envelopes.loss_envelope import Pair, envelope_ends, likely_at_least, likely_at_most
from tightlip.envelopes.losses import WORKING_BITS, Loss, channel_loss, laplace_loss, merge_alike, normal_loss
from tightlip.envelopes.repeated_rules import has_few_histograms, joint_channel, rule_envelope, rule_leakage
from tightlip.envelopes.result import Envelope, read_delta
from tightlip.envelopes.simplex_envelope import Outcomes, failure_ends, leakage_ends
from tightlip.envelopes.simplex_envelope import envelope_ends as simplex_ends
from tightlip.envelopes.simplex_grid import Lattice, alike, convolve
from tightlip.errors import InvalidInput, ShapeMismatch, WrongType, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.labels import match
from tightlip.model.matrix import dense
from tightlip.model.noise import AdditiveNoise, Gaussian
from tightlip.model.prior import Prior, as_prior
from tightlip.model.secret import BoundedSecret, DiscreteSecret, UniformSecret
from tightlip.numeric.ball import ball, enclose, enclose_exactly, log_exceeds, round_down, round_up
from tightlip.numeric.display import format_down, format_up, several
from tightlip.numeric.parse import ObjectArray
from tightlip.numeric.proved import MET, Proved, require_order
from tightlip.numeric.quantity import Bound, Probability, exact_level, exact_ratio, level_exact

Mechanism = Channel | AdditiveNoise

# points of a grid: time grows with them, the gap falls with their square
POINTS = 1 << 15
_LEAST_POINTS, _MOST_POINTS = 1 << 6, 1 << 20
_MOST_USES = 10**9
# secrets whose likelihood ratios are put on a grid: with one more, the points in each direction become too few
_MOST_RATIOS = 4
# ends of an envelope so far apart: rules are asked too
_COARSE = 0.02
# pairs of secrets that differ in their losses: each takes as long as two secrets
_MOST_SIDES = 64
_LEAST_APART, _MOST_APART = Fraction(1, 10**30), 10**6
_ABOVE = Fraction(10**12 + 1, 10**12)


@dataclass(frozen=True, slots=True)
class ProvedProbability(Proved):
    """A probability known to lie in [lower, upper].

    Attributes
    ----------
    lower, upper : sound ends
    method : how they were found
    certificate : what they were computed from
    """

    lower: float
    upper: float
    method: str
    certificate: Recomputation | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_order(self.lower, self.upper)

    @property
    def value(self) -> Probability:
        """The sound (upper) end."""
        return Probability(self.upper)

    @property
    def exact(self) -> bool:
        """Whether the ends met, so that they are roundings of one probability."""
        return self.gap <= MET * self.upper

    def __repr__(self) -> str:
        return f"ProvedProbability({format_down(self.lower)} to {format_up(self.upper)}, by {self.method})"


@dataclass(frozen=True, slots=True)
class Repetition:
    """Independent uses of mechanisms on one secret, as `repeat` makes it.

    Attributes
    ----------
    mechanisms : what is used
    uses : how often each of them is
    points : how many points a grid may have
    """

    mechanisms: tuple[Mechanism, ...]
    uses: tuple[int, ...]
    points: int
    _sides: dict[Any, Side] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lattices: dict[Any, tuple[Lattice, Lattice]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def epsilon(self, delta: object) -> Bound:
        """Find the smallest ε ≥ 0 for which all uses together are (ε, δ)-private between any two secrets.

        Parameters
        ----------
        delta : number in [0, 1]

        Returns
        -------
        Bound
            In nats; infinite where no ε will do.

        >>> from tightlip import Channel
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> found = repeat(coin, 1000).epsilon("1e-6")
        >>> round(found.upper, 6), found.gap < 1e-9
        (687.262554, True)
        """
        allowed = read_slack(delta)
        sides = list(self._pairs().values())
        if allowed == 1 or not sides:
            found = Bound(0.0, 0.0, "δ = 1 allows everything" if sides else "there is one secret")
        elif allowed == 0:
            found = Bound(*_largest([side.largest() for side in sides]), "largest losses add up")
        else:
            found = Bound(*_largest([side.epsilon(allowed) for side in sides]), self._method())
        return certify_by_recomputation(REPEATED_EPSILON, found, **self._arguments(), delta=allowed)

    def delta(self, epsilon: Any) -> ProvedProbability:
        """Compute δ(ε) = max over pairs of secrets of Σ_y (P(y) − e^ε Q(y))₊: the privacy profile of all uses together.

        Parameters
        ----------
        epsilon : level in nats, at least 0; `log_of(3)` is exact

        >>> from tightlip import Channel, log_of
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> round(repeat(coin, 2).delta(log_of(3)).upper, 15)  # 9/16 − 3·1/16
        0.375
        """
        level = exact_level(epsilon)
        sides = self._pairs().values()
        ends = _largest([side.excess(level) for side in sides] or [(0.0, 0.0)])
        found = ProvedProbability(*ends, self._method())
        return certify_by_recomputation(
            REPEATED_DELTA, found, **self._arguments(), epsilon=level_exact(level)
        )

    def envelope(self, prior: Prior, delta: object) -> Envelope:
        """Bracket ε_c(δ), the largest PML that some post-processing of all outcomes reaches with probability δ.

        Parameters
        ----------
        prior : Prior
            On the secrets, in the order of the first channel or by label. Two of them may have mass, or up to four
            where all mechanisms are channels: the ends are then near each other. With more, histograms of outcomes give
            the exact envelope where they are few; otherwise rules bound it, and `method` says which.
        delta : number in (0, 1]

        >>> from tightlip import Channel, Prior
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> found = repeat(coin, 100).envelope(Prior(["1/10", "9/10"]), "1/20")
        >>> round(found.upper, 6), found.gap < 1e-9
        (2.302585, True)
        """
        allowed, aligned = read_delta(delta), self._align(prior)
        support = [int(place) for place in aligned.support]
        if len(support) == 1:
            found = Envelope(allowed, 0.0, 0.0, "there is one secret")
        elif len(support) == 2:
            found = Envelope(allowed, *envelope_ends(self._pair(aligned, support), allowed), self._grid())
        elif self._has_simplex(support) and not has_few_histograms(self.mechanisms, self.uses):
            found = self._ratio_envelope(aligned, support, allowed)
        else:
            found = rule_envelope(self.mechanisms, self.uses, aligned, allowed, self._pairs)
        if found.certificate is not None:
            return found
        return certify_by_recomputation(
            REPEATED_ENVELOPE, found, **self._arguments(), prior=prior, delta=allowed
        )

    def failure_probability(self, prior: Prior, epsilon: Any) -> ProvedProbability:
        """Bracket δ_c(ε), the largest probability with which some post-processing of all outcomes leaks more than ε.

        Parameters
        ----------
        prior : Prior
            Two secrets may have mass, or up to four where all mechanisms are channels; more where histograms are few.
        epsilon : level in nats, at least 0; `log_of("10/9")` is exact

        >>> from tightlip import Channel, Prior
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> found = repeat(coin, 3).failure_probability(Prior.uniform(2), 0.65)
        >>> round(found.upper, 6), found.gap < 1e-9
        (0.451219, True)
        """
        level = exact_level(epsilon, rounding="down")
        aligned = self._align(prior)
        support = [int(place) for place in aligned.support]
        if len(support) == 1:
            found = ProvedProbability(0.0, 0.0, "there is one secret")
        elif len(support) == 2:
            found = ProvedProbability(*_failure(self._pair(aligned, support), level), self._grid())
        else:
            found = self._failure_of_more(aligned, support, level)
        return certify_by_recomputation(
            REPEATED_FAILURE, found, **self._arguments(), prior=prior, epsilon=level_exact(level)
        )

    def _ratio_envelope(self, prior: Prior, support: list[int], delta: Fraction) -> Envelope:
        """Bracket by a grid of likelihood ratios, and where that is coarse by rules too: the nearer ends."""
        lower, upper = simplex_ends(*self._simplex(prior, support), delta)
        method = self._simplex_grid()
        if upper - lower > _COARSE:
            ruled = rule_envelope(self.mechanisms, self.uses, prior, delta, self._pairs)
            lower = max(lower, ruled.lower)
            if ruled.upper < upper:
                upper, method = ruled.upper, f"{ruled.method}, or {method}"
        return Envelope(delta, min(lower, upper), upper, method)

    def _failure_of_more(
        self, prior: Prior, support: list[int], level: float | Fraction
    ) -> ProvedProbability:
        if has_few_histograms(self.mechanisms, self.uses):
            joint = joint_channel(self.mechanisms, self.uses)
            exact = failure_probability(joint, Prior(prior.masses), level)
            return ProvedProbability(exact.lower, exact.upper, exact.method)
        if not self._has_simplex(support):
            raise ShapeMismatch(
                f"prior must hold two secrets possible here, or up to four for channels alone, got {len(support)}; use "
                "envelope() for a bound."
            )
        ends = failure_ends(*self._simplex(prior, support), _ratio_ends(level))
        return ProvedProbability(*ends, self._simplex_grid())

    def maximal_leakage(self) -> Bound:
        """Bracket ℒ = log Σ_y max_x P(y|x) of all uses: by grids for two secrets and few of channels, else by rules.

        >>> from tightlip import Channel
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> repeat(coin, 2).maximal_leakage().upper  # log 3/2
        0.4054651081081645
        """
        everybody = list(range(self._secrets()))
        if self._has_simplex(everybody):
            found = Bound(
                *leakage_ends(*self._simplex(Prior.uniform(len(everybody)), everybody)), self._simplex_grid()
            )
        else:
            found = self._leakage_of_pairs()
        return certify_by_recomputation(REPEATED_LEAKAGE, found, **self._arguments())

    def _leakage_of_pairs(self) -> Bound:
        """Take log(1 + δ(0)), which is all of two secrets and a lower end of more."""
        sides = list(self._pairs().values())
        ends = _largest([side.excess(0.0) for side in sides] or [(0.0, 0.0)])
        lower = max(0.0, enclose(lambda: ball(ends[0]).log1p())[0])
        upper = max(0.0, enclose(lambda: ball(ends[1]).log1p())[1])
        if self._secrets() > 2:
            return rule_leakage(self.mechanisms, self.uses, lower)
        return Bound(lower, upper, self._method())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mechanisms, self.uses, self.points)

    def __repr__(self) -> str:
        kinds = several(len(self.mechanisms), "mechanism")
        return (
            f"Repetition({several(sum(self.uses), 'use')} of {kinds} on {several(self._secrets(), 'secret')})"
        )

    def _arguments(self) -> dict[str, Any]:
        return {"mechanisms": list(self.mechanisms), "uses": list(self.uses), "points": self.points}

    def _secrets(self) -> int:
        return _secrets(self.mechanisms[0])

    def _grid(self) -> str:
        return f"a grid of {self.points} points at most"

    def _simplex_grid(self) -> str:
        return f"a grid of likelihood ratios with {self.points} points at most"

    def _has_simplex(self, support: list[int]) -> bool:
        return 2 < len(support) <= _MOST_RATIOS and all(isinstance(each, Channel) for each in self.mechanisms)

    def _simplex(self, prior: Prior, support: list[int]) -> tuple[Outcomes, Outcomes]:
        """The outcomes on a lattice from below and from above, with the masses of the possible secrets."""
        key = tuple(support)
        if key not in self._lattices:
            rows = [_rows(each, self.mechanisms)[support] for each in self.mechanisms]
            parts = alike(list(zip(rows, self.uses, strict=True)))
            low, high = (convolve(parts, self.points, split=split) for split in (False, True))
            self._lattices[key] = low, high
        masses = [Fraction(prior.masses[place]) for place in support]
        below, above = (Outcomes(lattice, masses) for lattice in self._lattices[key])
        return below, above

    def _method(self) -> str:
        closed = all(side.normal is not None for side in self._pairs().values())
        return "closed form" if closed else self._grid()

    def _align(self, prior: Prior) -> Prior:
        as_prior(prior)
        for mechanism in self.mechanisms:
            if isinstance(mechanism, Channel):
                return align(prior, mechanism).exact()
        if len(prior) != self._secrets():
            raise ShapeMismatch(
                f"prior must have as many masses as there are secrets, got {len(prior)} for {self._secrets()}; "
                "give one for each."
            )
        return prior.exact()

    def _pair(self, prior: Prior, support: list[int]) -> Pair:
        one, two = support
        pairs = self._pairs()
        return (pairs[one, two], Fraction(prior.masses[one])), (pairs[two, one], Fraction(prior.masses[two]))

    def _pairs(self) -> dict[Any, Side]:
        """The losses of each ordered pair of secrets; pairs with the same losses share their work."""
        if not self._sides and self._secrets() > 1:
            self._sides.update(_sides(self.mechanisms, self.uses, self.points))
        return self._sides


def repeat(mechanisms: Any, uses: Any, *, points: int = POINTS) -> Repetition:
    """Account for many independent uses of mechanisms on one secret, up to thousands of them and more.

    Parameters
    ----------
    mechanisms : Channel, AdditiveNoise, or a list of them
        About the same secrets. The secrets of a DiscreteSecret with noise are its points, in the order given; those of
        a uniform or bounded one are the ends of its range, the pair that noise protects least.
    uses : int or list of int
        How often each is used, at least once, independently.
    points : int
        How many points a grid of privacy losses may have: time grows with them, the gap falls with their square.

    Returns
    -------
    Repetition
        Whose `epsilon(delta)`, `delta(epsilon)`, `envelope(prior, delta)`, `failure_probability(prior, epsilon)` and
        `maximal_leakage()` have two proved ends each.

    Raises
    ------
    ShapeMismatch
        If the secrets differ in number or label, or too many pairs of them differ in their losses.
    InvalidInput, WrongType
        If something is no mechanism, or not used at least once.

    >>> from tightlip import noise
    >>> between = noise.BoundedSecret(0, 1)  # one person changes a sum by at most 1
    >>> both = [noise.AdditiveNoise(between, noise.Gaussian(20)), noise.AdditiveNoise(between, noise.Laplace(40))]
    >>> found = repeat(both, [100, 50], points=4096).epsilon("1e-6")
    >>> round(found.lower, 3), round(found.upper, 3)
    (2.403, 2.403)
    """
    given = listed(mechanisms, "mechanisms", "mechanisms") if is_list(mechanisms) else [mechanisms]
    if not given:
        raise InvalidInput("mechanisms must not be empty, got none; give at least one.")
    for place, mechanism in enumerate(given):
        _require_mechanism(mechanism, f"mechanisms entry {place}" if is_list(mechanisms) else "mechanisms")
    counts = listed(uses, "uses", "whole numbers") if is_list(uses) else [uses] * len(given)
    if len(counts) != len(given):
        raise ShapeMismatch(
            f"uses must be one number, or one for each of mechanisms, got {len(counts)} for {len(given)}; "
            "add or drop some."
        )
    read = tuple(whole(count, "uses", 1, _MOST_USES) for count in counts)
    _require_same_secrets(given)
    return Repetition(tuple(given), read, whole(points, "points", _LEAST_POINTS, _MOST_POINTS))


def repeated_epsilon(delta: object, **arguments: Any) -> Bound:
    """Compute ε(δ) again."""
    return _again(arguments).epsilon(delta)


def repeated_delta(epsilon: object, **arguments: Any) -> ProvedProbability:
    """Compute δ(ε) again."""
    return _again(arguments).delta(epsilon)


def repeated_envelope(prior: Prior, delta: object, **arguments: Any) -> Envelope:
    """Compute an envelope again."""
    return _again(arguments).envelope(prior, delta)


def repeated_failure(prior: Prior, epsilon: object, **arguments: Any) -> ProvedProbability:
    """Compute a failure probability again."""
    return _again(arguments).failure_probability(prior, epsilon)


def repeated_leakage(**arguments: Any) -> Bound:
    """Compute maximal leakage again."""
    return _again(arguments).maximal_leakage()


def _again(arguments: dict[str, Any]) -> Repetition:
    return repeat(arguments["mechanisms"], arguments["uses"], points=arguments["points"])


def _failure(pair: Pair, level: float | Fraction) -> tuple[float, float]:
    from flint import ctx

    exact = exact_ratio(level)
    most = 1 / min(mass for _, mass in pair)
    if not (log_exceeds(most, level) if exact is None else most > exact):
        return 0.0, 0.0
    low, high = _ratio_ends(level)
    with ctx.workprec(WORKING_BITS):
        upper = min(1.0, round_up(likely_at_most(pair, low))) if low > 1 else 1.0
        above = min(high * _ABOVE, most)
        lower = round_down(likely_at_least(pair, above)) if above > high else 0.0
    return min(max(0.0, lower), upper), upper


def _ratio_ends(level: float | Fraction) -> tuple[Fraction, Fraction]:
    """Bracket e^ε by rationals."""
    exact = exact_ratio(level)
    return enclose_exactly(lambda: ball(level).exp()) if exact is None else (exact, exact)


def _largest(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(low for low, _ in ends), max(high for _, high in ends)


def _sides(mechanisms: Sequence[Mechanism], uses: Sequence[int], points: int) -> dict[Any, Side]:
    from flint import ctx

    secrets = _secrets(mechanisms[0])
    known: dict[Any, Side] = {}
    found: dict[Any, Side] = {}
    tables = [_losses_of(mechanism, mechanisms) for mechanism in mechanisms]
    with ctx.workprec(WORKING_BITS):
        for pair in ((one, two) for one in range(secrets) for two in range(secrets) if one != two):
            losses = [table(*pair) for table in tables]
            parts = merge_alike(list(zip(losses, uses, strict=True)))
            key = tuple((loss.key, times) for loss, times in parts)
            found[pair] = known.setdefault(key, Side(parts, points))
            if len(known) > _MOST_SIDES:
                raise ShapeMismatch(
                    f"mechanisms must not have more than {_MOST_SIDES} pairs of secrets with different losses, got "
                    f"{secrets} secrets; choose fewer of them with Channel.restricted_to."
                )
    return found


def _losses_of(mechanism: Mechanism, mechanisms: Sequence[Mechanism]) -> Any:
    """Prepare a function from two secrets to the loss between them."""
    if isinstance(mechanism, Channel):
        rows = _rows(mechanism, mechanisms)
        return lambda one, two: channel_loss(rows[one].tolist(), rows[two].tolist())
    points = [Fraction(point) for point in _points_of(mechanism)]
    width, normal = Fraction(mechanism.noise.width), isinstance(mechanism.noise, Gaussian)

    def loss(one: int, two: int) -> Loss:
        apart = abs(points[one] - points[two]) / width
        if not _LEAST_APART <= apart <= _MOST_APART:
            raise InvalidInput(
                "mechanisms must have noise whose width is within 1e-6 and 1e30 times the distance of secrets, got "
                f"secrets {format_up(float(apart))} widths apart; use tl.noise for a single use."
            )
        return normal_loss(apart**2) if normal else laplace_loss(apart)

    return loss


def _rows(mechanism: Any, mechanisms: Sequence[Mechanism]) -> ObjectArray:
    """The rows of a channel in rationals, in the order of the first channel's secrets."""
    first = next(each for each in mechanisms if isinstance(each, Channel))
    rows: ObjectArray = dense(mechanism.exact().matrix)
    order = match(first.inputs, mechanism.inputs, "inputs of a later channel", "the first channel's inputs")
    return rows if order is None else rows[order]


def _points_of(mechanism: AdditiveNoise) -> Sequence[Any]:
    secret = mechanism.secret
    return secret.points if isinstance(secret, DiscreteSecret) else secret.support


def _secrets(mechanism: Mechanism) -> int:
    return mechanism.shape[0] if isinstance(mechanism, Channel) else len(_points_of(mechanism))


def _require_mechanism(value: object, argument: str) -> None:
    if isinstance(value, AdditiveNoise):
        if not isinstance(value.secret, (DiscreteSecret, UniformSecret, BoundedSecret)):
            raise InvalidInput(
                f"{argument} must be about a secret with bounds, got {type(value.secret).__name__}; "
                "use BoundedSecret(low, high)."
            )
        return
    if not isinstance(value, Channel):
        raise WrongType(
            f"{argument} must be a Channel or an AdditiveNoise, got {quoted(value)}; write Channel(rows)."
        )


def _require_same_secrets(mechanisms: Sequence[Mechanism]) -> None:
    wanted = _secrets(mechanisms[0])
    for place, mechanism in enumerate(mechanisms):
        if _secrets(mechanism) != wanted:
            raise ShapeMismatch(
                f"mechanisms entry {place} must be about as many secrets as the first, got {_secrets(mechanism)} "
                f"for {wanted}; add or drop some."
            )
    channels = [mechanism for mechanism in mechanisms if isinstance(mechanism, Channel)]
    for channel in channels[1:]:
        match(channels[0].inputs, channel.inputs, "inputs of later mechanisms", "the first channel's inputs")
