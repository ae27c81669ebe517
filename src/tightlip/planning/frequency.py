"""Frequencies of the secret from private releases: unbiased estimates with confidence intervals.

n people drawn independently from one population send one release each through the channel K; n_y of them send y. With
K·B = I (inverse.py)

    p̂_x = Σ_y n_y B_yx / n,     E p̂ = p,     Cov p̂ = Bᵀ(diag q − q qᵀ)B/n,     q = pK.

p̂ sums to 1, and may be negative: cutting it off would bias it. p̂_x is a mean of n independent numbers between
min_y B_yx and max_y B_yx, which gives intervals with proved coverage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import choice, flag
from tightlip.errors import InvalidInput, quoted
from tightlip.model.align import align
from tightlip.model.channel import Channel
from tightlip.model.labelled import vector
from tightlip.model.labels import Labels, show
from tightlip.model.normalize import non_negative
from tightlip.model.prior import Prior
from tightlip.numeric.means import chernoff
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.proportions import clopper_pearson
from tightlip.planning.inverse import Inverse, right_inverse
from tightlip.planning.outward import float_above, float_below
from tightlip.planning.simplex import project_to_simplex

IntervalMethod = Literal["proved", "asymptotic"]

_SAME = Fraction(1, 10**9)
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Intervals:
    """Confidence intervals for the frequency of each secret.

    Attributes
    ----------
    lower, upper : a float for each secret; those of proved intervals are rounded outward
    level : the confidence that was asked for
    simultaneous : whether the level is for all secrets together, or for each alone
    methods : for each secret "clopper-pearson", "chernoff" (coverage proved for every n) or "wald" (for large n)
    note : None, or which intervals lie wholly outside [0, 1] and were moved to its end: at this confidence the counts
        contradict the channel
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    level: Fraction
    simultaneous: bool
    methods: tuple[str, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyEstimate:
    """Unbiased estimates of the frequency of each secret.

    Attributes
    ----------
    labels : the secrets
    samples : n
    values : p̂, Fractions where the channel is exact; they sum to 1 and may be negative
    """

    labels: Labels
    samples: int
    values: NDArray[Any]
    _tallies: tuple[int, ...]
    _inverse: Inverse

    @property
    def covariance(self) -> FloatArray:
        """The estimated covariance matrix of p̂, with q estimated by the shares of outcomes; plain floats."""
        shares = np.array(self._tallies, dtype=np.float64) / self.samples
        return outcome_covariance(self._inverse, shares) / self.samples

    @property
    def standard_errors(self) -> FloatArray:
        """Estimated standard deviations of p̂."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def intervals(
        self, level: Any = "0.95", *, simultaneous: bool = False, method: IntervalMethod = "proved"
    ) -> Intervals:
        """Confidence intervals, cut to [0, 1]; one that lies outside becomes the nearest end, and `note` says so.

        "proved" holds for every n: Clopper–Pearson where p̂ depends on one proportion only (as for randomised
        response), Chernoff's bound otherwise. "asymptotic" is p̂ ± z·standard error: shorter, right for large n,
        and often too short for small. Simultaneous intervals spend (1 − level)/N on each of N secrets.

        >>> from tightlip import Channel
        >>> found = estimate_frequencies([70, 30], Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
        >>> proved = found.intervals("0.9")
        >>> proved.methods, round(proved.lower[0], 4), proved.upper[0]
        (('clopper-pearson', 'clopper-pearson'), 0.7316, 1.0)
        """
        confidence = Fraction(number(level, "level"))
        if not 0 < confidence < 1:
            raise InvalidInput(f"level must be strictly between 0 and 1, got {quoted(level)}; write 0.95.")
        choice(method, "method", get_args(IntervalMethod))
        flag(simultaneous, "simultaneous")
        tail = (1 - confidence) / 2 / (len(self.labels) if simultaneous else 1)
        found = (
            [self._proved(place, tail) for place in range(len(self.labels))]
            if method == "proved"
            else self._asymptotic(tail)
        )
        lower, upper, methods = zip(*found, strict=True)
        ends = tuple(map(_frequency, lower)), tuple(map(_frequency, upper))
        return Intervals(*ends, confidence, simultaneous, methods, self._contradiction(lower, upper))

    def _contradiction(self, lower: tuple[float, ...], upper: tuple[float, ...]) -> str | None:
        """Which intervals have no frequency in them: no distribution of the secret gives such counts often."""
        ends = zip(self.labels, lower, upper, strict=True)
        wrong = [
            f"{show(label)} {'above 1' if low > 1 else 'below 0'}"
            for label, low, high in ends
            if low > 1 or high < 0
        ]
        if not wrong:
            return None
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        shown = ", ".join(wrong[:_SHOWN])
        return (
            f"The counts contradict the channel at this confidence: the frequency of {shown}{more}. "
            "Check that the counts are of this channel's outcomes and the people independent."
        )

    def projected(self) -> Prior:
        """The distribution nearest to p̂ (least squares): a proper one, but biased towards the inside.

        >>> from tightlip import Channel
        >>> estimate_frequencies([9, 1], Channel([["3/4", "1/4"], ["1/4", "3/4"]])).projected()
        Prior(0: 1, 1: 0)
        """
        return Prior(project_to_simplex(self.values), self.labels if self.labels.given else None)

    def _proved(self, place: int, tail: Fraction) -> tuple[float, float, str]:
        weights = [Fraction(weight) for weight in self._inverse.weights[:, place].tolist()]
        least, most = min(weights), max(weights)
        span = most - least
        if not span:  # one secret: its frequency is 1
            return 1.0, 1.0, "clopper-pearson"
        apart = max(min(weight - least, most - weight) for weight in weights)
        if apart <= span * _SAME:  # a proportion, up to rounding of the weights
            hits = sum(tally for tally, w in zip(self._tallies, weights, strict=True) if w - least > most - w)
            ends, method, bias = clopper_pearson(hits, self.samples, tail), "clopper-pearson", apart
        else:
            total = sum((tally * w for tally, w in zip(self._tallies, weights, strict=True)), Fraction(0))
            share = (total / self.samples - least) / span
            ends, method, bias = chernoff(share, self.samples, tail), "chernoff", Fraction(0)
        bias += self._inverse.bias[place]
        low, high = (least + span * Fraction(end) for end in ends)
        return float_below(low - bias), float_above(high + bias), method

    def _asymptotic(self, tail: Fraction) -> list[tuple[float, float, str]]:
        from scipy.special import ndtri

        reach = float(ndtri(1 - float(tail))) * self.standard_errors
        values = np.asarray(self.values, dtype=np.float64)
        return [
            (value - width, value + width, "wald")
            for value, width in zip(values.tolist(), reach.tolist(), strict=True)
        ]


def estimate_frequencies(
    counts: Any, channel: Channel, *, reference: Prior | None = None
) -> FrequencyEstimate:
    """Unbiased estimates of how frequent each secret is, from how often each outcome was released.

    Parameters
    ----------
    counts : sequence or mapping
        The number of releases of each outcome: a list in the channel's order; or a dict, a pandas Series or what
        `value_counts` gives, which are read by label, an outcome that is left out having 0.
    channel : Channel
        The mechanism everyone used; it must tell every two distributions of the secret apart.
    reference : Prior, optional
        A guess made before the data are seen, for which the variance is smallest; uniform by default. It does not
        bias the estimate, and matters only if there are more outcomes than secrets.

    Raises
    ------
    PreconditionFailed
        If some distributions of the secret cannot be told apart; the message names a direction.

    >>> from tightlip import Channel
    >>> estimate_frequencies([60, 40], Channel([["3/4", "1/4"], ["1/4", "3/4"]])).values
    array([Fraction(7, 10), Fraction(3, 10)], dtype=object)
    """
    inverse = right_inverse(channel, reference)
    tallies = _tallies(counts, channel, inverse)
    total = sum(tallies)
    if not total:
        raise InvalidInput("counts must have a positive sum, got 0; there are no releases to estimate from.")
    if channel.is_exact:
        values = np.array([Fraction(tally, total) for tally in tallies], dtype=object) @ inverse.weights
    else:
        values = np.array([tally / total for tally in tallies]) @ inverse.weights
    return FrequencyEstimate(channel.inputs, total, np.asarray(values), tallies, inverse)


def estimation_variance(channel: Channel, prior: Prior) -> FloatArray:
    """n times the variance of each estimated frequency, if the secret is distributed as `prior`; plain floats.

    V_x = Σ_y q_y B_yx² − p_x², with the uniform reference. For randomised response with truth α and others β it is
    q_x(1 − q_x)/(α − β)².

    >>> from tightlip import Channel
    >>> estimation_variance(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/2", "1/2"]))
    array([1., 1.])
    """
    from tightlip.planning.privacy import outcome_masses

    align(prior, channel)
    inverse = right_inverse(channel)
    shares = np.array([float(mass) for mass in outcome_masses(channel, prior)])[inverse.possible]
    return np.maximum(np.diag(outcome_covariance(inverse, shares)), 0.0)


def samples_for_standard_error(channel: Channel, prior: Prior, standard_error: Any) -> int:
    """How many people give every estimated frequency at most this standard error: ⌈max_x V_x/s²⌉.

    >>> from tightlip import Channel
    >>> samples_for_standard_error(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/2", "1/2"]), "0.01")
    10000
    """
    wanted = Fraction(number(standard_error, "standard_error"))
    if wanted <= 0:
        raise InvalidInput(f"standard_error must be positive, got {quoted(standard_error)}.")
    return max(math.ceil(_largest_variance(channel, prior) / wanted**2), 1)


def _largest_variance(channel: Channel, prior: Prior) -> Fraction:
    """max_x V_x in rationals, so that no rounding adds or saves a person."""
    from tightlip.planning.privacy import outcome_masses

    align(prior, channel)
    inverse = right_inverse(channel)
    masses = outcome_masses(channel, prior)
    shares = np.array([masses[place] for place in inverse.possible], dtype=object)
    weights = np.array(
        [[Fraction(weight) for weight in row] for row in inverse.weights.tolist()], dtype=object
    )
    return Fraction(max(shares @ (weights * weights) - (shares @ weights) ** 2))


def _frequency(value: float) -> float:
    """The nearest number in [0, 1]."""
    return min(max(value, 0.0), 1.0)


def outcome_covariance(inverse: Inverse, shares: FloatArray) -> FloatArray:
    """Bᵀ(diag q − q qᵀ)B, centred first so that it loses no digits."""
    centred = inverse.floats - shares @ inverse.floats
    return np.asarray((centred * shares[:, None]).T @ centred)


def _tallies(counts: Any, channel: Channel, inverse: Inverse) -> tuple[int, ...]:
    """Whole counts of the possible outcomes, in the channel's order."""
    read = non_negative(vector(counts, channel.outputs, "counts", "outcomes", absent=0), "counts")
    possible = set(inverse.possible.tolist())
    for place, value in enumerate(read.tolist()):
        if value != int(value):
            raise InvalidInput(f"counts entry {place} must be a whole number, got {quoted(value)}.")
        if value and place not in possible:
            raise InvalidInput(
                f"counts entry {place} ({quoted(channel.outputs[place])}) must be 0, got {quoted(value)}: "
                "this channel never gives that outcome; check the channel or the order."
            )
    return tuple(int(read[place]) for place in inverse.possible)
