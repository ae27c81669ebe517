"""Frequencies of the secret from private releases: unbiased estimates with confidence intervals.

n people drawn independently from one population send one release each through the channel K; n_y of them send y. With
K·B = I (`right_inverse`)

    p̂_x = Σ_y n_y B_yx / n,     E p̂ = p,     Cov p̂ = Bᵀ(diag q − q qᵀ)B/n,     q = pK.

p̂ sums to 1, and may be negative: cutting it off would bias it. p̂_x is a mean of n independent numbers between
min_y B_yx and max_y B_yx, which gives intervals with proved coverage.

Undoing a channel on average: a matrix B with K·B = I, so that E[B_Yx] = P(X = x). B exists exactly if K has full row
rank. Otherwise some direction d has dK = 0, and the distributions p and p + td look the same from outside, whatever the
number of samples. With more outcomes than secrets there are many B; this is

    B = D⁻¹Kᵀ(K D⁻¹ Kᵀ)⁻¹,   D = diag(q₀),   q₀ = p₀K,

which has the smallest covariance of all if the secret is distributed as p₀. Its rows sum to 1: (K D⁻¹Kᵀ)p₀ = K·1 = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import choice, flag
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.model.channel import Channel, align, as_channel
from tightlip.model.column import count_places, read_column
from tightlip.model.labels import Labels, labelled_vector, show
from tightlip.model.matrix import dense
from tightlip.model.normalize import non_negative
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.proportions import chernoff, clopper_pearson
from tightlip.numeric.rounding import float_above, float_below
from tightlip.showing import Shown, Tabled

IntervalMethod = Literal["proved", "asymptotic"]

_SAME = Fraction(1, 10**9)
_SHOWN = 4
_SINGULAR = 1e-10
_SECRETS_SHOWN = 6


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
class FrequencyEstimate(Shown, Tabled):
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
        """The estimated covariance matrix of p̂, with q estimated by the shares of outcomes; plain floats.

        An outcome that is seen less often than the channel gives it for every secret counts as often as that: one that
        was not seen, and decides much, is not taken for certain.
        """
        shares = np.maximum(np.array(self._tallies, dtype=np.float64) / self.samples, self._inverse.least)
        return outcome_covariance(self._inverse, shares / shares.sum()) / self.samples

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
            [self._bound_frequency(place, tail) for place in range(len(self.labels))]
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
        """Compute the distribution nearest to p̂ (least squares): a proper one, but biased towards the inside.

        >>> from tightlip import Channel
        >>> estimate_frequencies([9, 1], Channel([["3/4", "1/4"], ["1/4", "3/4"]])).projected()
        Prior(0: 1, 1: 0)
        """
        return Prior(project_to_simplex(self.values), self.labels if self.labels.given else None)

    def _bound_frequency(self, place: int, tail: Fraction) -> tuple[float, float, str]:
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
    counts: Any = None,
    channel: Channel | None = None,
    *,
    released: Any = None,
    reference: Prior | None = None,
) -> FrequencyEstimate:
    """Estimate, without bias, how frequent each secret is, from what was released.

    Parameters
    ----------
    counts : sequence or mapping, optional
        The number of releases of each outcome: a list in the channel's order; or a dict, a pandas Series or what
        `value_counts` gives, which are read by label, an outcome that is left out having 0.
    channel : Channel
        The mechanism everyone used; it must tell every two distributions of the secret apart.
    released : column of outcomes, optional
        The releases themselves in place of their counts, as `Channel.draw` gives them: a list, a numpy array, a
        Series of pandas or polars, an Arrow array.
    reference : Prior, optional
        A guess made before the data are seen, for which the variance is smallest; uniform by default. It does not
        bias the estimate, and matters only if there are more outcomes than secrets.

    Raises
    ------
    InvalidInput
        If both counts and releases are given or neither, or if one is of an outcome that the channel never gives.
    PreconditionFailed
        If some distributions of the secret cannot be told apart; the message names a direction.

    >>> from tightlip import Channel
    >>> channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["yes", "no"])
    >>> estimate_frequencies([60, 40], channel).values
    array([Fraction(7, 10), Fraction(3, 10)], dtype=object)
    >>> estimate_frequencies(channel=channel, released=["yes", "no", "yes", "yes", "no"]).values
    array([Fraction(7, 10), Fraction(3, 10)], dtype=object)
    """
    _require_one(counts, released)
    known = as_channel(channel)
    inverse = right_inverse(known, reference)
    tallies = (
        _tallies(counts, known, inverse) if released is None else _tally_releases(released, known, inverse)
    )
    total = sum(tallies)
    if not total:
        raise InvalidInput("counts must have a positive sum, got 0; there are no releases to estimate from.")
    if known.is_exact:
        values = np.array([Fraction(tally, total) for tally in tallies], dtype=object) @ inverse.weights
    else:
        values = np.array([tally / total for tally in tallies]) @ inverse.weights
    return FrequencyEstimate(known.inputs, total, np.asarray(values), tallies, inverse)


def estimation_variance(channel: Channel, prior: Prior) -> FloatArray:
    """Compute n times the variance of each estimated frequency, if the secret is distributed as `prior`; plain floats.

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
    """Compute how many people give every estimated frequency at most this standard error: ⌈max_x V_x/s²⌉.

    >>> from tightlip import Channel
    >>> samples_for_standard_error(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), Prior(["1/2", "1/2"]), "0.01")
    10000
    """
    wanted = Fraction(number(standard_error, "standard_error"))
    if wanted <= 0:
        raise InvalidInput(f"standard_error must be positive, got {quoted(standard_error)}.")
    return max(math.ceil(_largest_variance(channel, prior) / wanted**2), 1)


def _largest_variance(channel: Channel, prior: Prior) -> Fraction:
    """Compute max_x V_x in rationals, so that no rounding adds or saves a person."""
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
    """Compute the covariance Bᵀ(diag q − q qᵀ)B, centred first so that it loses no digits."""
    centred = inverse.floats - shares @ inverse.floats
    return np.asarray((centred * shares[:, None]).T @ centred)


def _tallies(counts: Any, channel: Channel, inverse: Inverse) -> tuple[int, ...]:
    """Read whole counts of the possible outcomes, in the channel's order."""
    read = non_negative(labelled_vector(counts, channel.outputs, "counts", "outcomes", absent=0), "counts")
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


def _tally_releases(released: Any, channel: Channel, inverse: Inverse) -> tuple[int, ...]:
    """Count releases of the possible outcomes, in the channel's order."""
    places = read_column(released, channel.outputs, "released", "outcomes")
    if not len(places):
        raise InvalidInput(
            "released must have at least one entry, got none; there is nothing to estimate from."
        )
    counts = count_places(places, channel.shape[1])
    never = np.setdiff1d(np.flatnonzero(counts), inverse.possible)
    if len(never):
        first = int(np.isin(places, never).argmax())
        raise InvalidInput(
            f"released entry {first} ({quoted(channel.outputs[int(places[first])])}) must not occur: "
            "this channel never gives that outcome; check that it is the one that everyone used."
        )
    return tuple(counts[inverse.possible].tolist())


def _require_one(counts: Any, released: Any) -> None:
    """Refuse both counts and releases, and neither."""
    if (counts is None) == (released is None):
        got = "neither" if counts is None else "both"
        raise InvalidInput(
            f"either counts or released must be given, got {got}; "
            "write estimate_frequencies(counts, channel) or estimate_frequencies(channel=channel, released=values)."
        )


@dataclass(frozen=True, slots=True)
class Inverse:
    """A right inverse B of a channel on the outcomes that can occur.

    Attributes
    ----------
    weights : B, a row for each possible outcome; Fractions where the channel is exact
    possible : positions of those outcomes
    bias : for each secret, a bound on |E[estimate] − truth| from rounding; 0 where the channel is exact
    least : how likely each possible outcome is at least, whatever the secret
    """

    weights: NDArray[Any]
    possible: NDArray[np.intp]
    bias: tuple[Fraction, ...]
    least: FloatArray

    @property
    def floats(self) -> FloatArray:
        """B as floats."""
        return np.asarray(self.weights, dtype=np.float64)


def right_inverse(channel: Channel, reference: Prior | None = None) -> Inverse:
    """Compute a right inverse: B with K·B = I, best where the secret is distributed as `reference` (default uniform).

    Raises
    ------
    PreconditionFailed
        If some distributions of the secret give the same distribution of outcomes; the message names a direction.

    >>> right_inverse(Channel([["3/4", "1/4"], ["1/4", "3/4"]])).weights[0]
    array([Fraction(3, 2), Fraction(-1, 2)], dtype=object)
    """
    as_channel(channel)
    center = (
        Prior.uniform(channel.shape[0])
        if reference is None
        else align(as_prior(reference, "reference"), channel)
    )
    possible = np.flatnonzero(channel.peaks > 0)
    rows = dense(channel.matrix)[:, possible]
    least = np.asarray(rows.min(axis=0), dtype=np.float64)
    if channel.is_exact:
        return Inverse(
            _exact_weights(channel, rows, center), possible, (Fraction(0),) * channel.shape[0], least
        )
    weights = _float_weights(channel, rows, center)
    return Inverse(weights, possible, _bias(rows, weights), least)


def _exact_weights(channel: Channel, rows: NDArray[Any], center: Prior) -> NDArray[Any]:
    matrix = _fmpq(rows)
    if matrix.rank() < channel.shape[0]:
        raise _unidentifiable(channel, _exact_direction(rows))
    if len(rows) == rows.shape[1]:
        return _fractions(matrix.inv())
    likely = _spread(center.exact().masses) @ rows
    scaled = _fmpq((rows / likely).T)
    return _fractions(scaled * (matrix * scaled).inv())


def _float_weights(channel: Channel, rows: FloatArray, center: Prior) -> FloatArray:
    _, sizes, directions = np.linalg.svd(rows.T, full_matrices=True)
    if len(rows) > rows.shape[1] or sizes[-1] < _SINGULAR * sizes[0]:
        raise _unidentifiable(channel, directions[-1])
    likely = np.asarray(_spread(center.floats) @ rows, dtype=np.float64)
    scaled = (rows / likely).T
    return np.asarray(np.linalg.solve((rows @ scaled).T, scaled.T).T)


def _spread(masses: NDArray[Any]) -> NDArray[Any]:
    """Half of the reference and half uniform where the reference rules out a secret: q₀ must be positive."""
    if masses.min() > 0:
        return masses
    return (masses + Fraction(1, len(masses)) if masses.dtype == object else masses + 1 / len(masses)) / 2


def _bias(rows: FloatArray, weights: FloatArray) -> tuple[Fraction, ...]:
    """Bound the bias, max_x |(K·B − I)_xj| for each secret j, in rationals; float rows stand for rows that sum to 1."""
    exact = _fmpq(_unit_rows(rows))
    product = _fractions(exact * _fmpq(weights))
    wanted = np.eye(len(rows), dtype=int).astype(object)
    return tuple(Fraction(max(column)) for column in np.abs(product - wanted).T.tolist())


def _unit_rows(rows: FloatArray) -> NDArray[Any]:
    exact = np.array([[Fraction(entry) for entry in row] for row in rows.tolist()], dtype=object)
    return np.asarray(exact / exact.sum(axis=1)[:, None])


def _exact_direction(rows: NDArray[Any]) -> NDArray[Any]:
    """Find d ≠ 0 with dK = 0: from the reduced row echelon form of Kᵀ, its first free variable set to 1."""
    reduced, rank = _fmpq(rows.T).rref()
    table = _fractions(reduced)
    pivots = [int(np.flatnonzero(table[row])[0]) for row in range(rank)]
    free = next(place for place in range(len(rows)) if place not in pivots)
    direction = np.zeros(len(rows), dtype=object)
    direction[free] = Fraction(1)
    for row, pivot in enumerate(pivots):
        direction[pivot] = -table[row, free]
    return np.asarray(direction)


def _unidentifiable(channel: Channel, direction: NDArray[Any]) -> PreconditionFailed:
    size = float(max(abs(entry) for entry in direction))
    parts = [
        f"{float(entry) / size:+.3g} on {show(label)}"
        for label, entry in zip(channel.inputs, direction, strict=True)
        if abs(float(entry)) > 1e-6 * size
    ]
    more = f" and {len(parts) - _SECRETS_SHOWN} more" if len(parts) > _SECRETS_SHOWN else ""
    return PreconditionFailed(
        "channel must have linearly independent rows to estimate frequencies, got rows that are not: "
        f"a shift of {', '.join(parts[:_SECRETS_SHOWN])}{more} leaves every outcome as likely as before; "
        "merge such secrets, or use a channel that tells them apart."
    )


def _fmpq(rows: NDArray[Any]) -> Any:
    from flint import fmpq, fmpq_mat

    def entry(value: Any) -> Any:
        ratio = Fraction(value)
        return fmpq(ratio.numerator, ratio.denominator)

    return fmpq_mat(rows.shape[0], rows.shape[1], [entry(value) for value in rows.ravel().tolist()])


def _fractions(matrix: Any) -> NDArray[Any]:
    found = np.empty((matrix.nrows(), matrix.ncols()), dtype=object)
    for i, row in enumerate(matrix.tolist()):
        for j, value in enumerate(row):
            found[i, j] = Fraction(int(value.p), int(value.q))
    return found


def project_to_simplex(values: NDArray[Any]) -> NDArray[Any]:
    """Project to the simplex: the nearest point in Euclidean distance, max(v − t, 0) with the t that makes the sum 1.

    Fractions stay exact. Of an unbiased estimate this makes a biased one, with a smaller mean squared error.

    >>> project_to_simplex(np.array([Fraction(6, 5), Fraction(-1, 5)], dtype=object))
    array([Fraction(1, 1), Fraction(0, 1)], dtype=object)
    """
    zero = Fraction(0) if values.dtype == object else 0.0
    ordered = sorted(values.tolist(), reverse=True)
    shift, total = zero, zero
    for count, value in enumerate(ordered, start=1):
        total += value
        candidate = (total - 1) / count
        if value <= candidate:
            break
        shift = candidate
    return np.array([max(value - shift, zero) for value in values.tolist()], dtype=values.dtype)
