"""A pointwise leakage as a random variable of the outcome: ℓ(Y) with its tail and quantiles.

    C(t) = P{ℓ(Y) ≤ t};   left quantile inf{t : C(t) ≥ 1 − δ};   right quantile sup{t : C(t) ≤ 1 − δ}.

Values and tails are rounded up, the CDF down. Whether an outcome lies above t, and whether a
mass reaches δ, is decided exactly for the stored numbers: near a tie the comparison is made in
rationals (and e^t in ball arithmetic), so a guarantee never hangs on the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.measures.joint import ExactJoint, FloatJoint
from tightlip.model.labels import Label, Labels, show
from tightlip.model.matrix import dense
from tightlip.numeric.ball import log_bounds, log_exceeds
from tightlip.numeric.display import format_up
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.quantity import Nats, Probability, exact_level, exact_ratio
from tightlip.numeric.rounding import down, sum_down, sum_up, up
from tightlip.showing import Charted, Tabled

Kind = Literal["pml", "pmc"]

_HIGHEST = Fraction(10**300)  # no leakage of numbers that fit in memory comes near


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointwiseLeakage(Charted, Tabled):
    """The leakage of each outcome that can occur, in outcome order, and its distribution.

    Attributes
    ----------
    values : array of nats, rounded up
    lower : array of nats, rounded down
    probabilities : array, P(Y = y)
    outcomes : labels of the outcomes
    ratios : the exact e^value of each outcome (None where infinite), if the input was exact
    """

    kind: Kind
    values: FloatArray
    lower: FloatArray
    probabilities: FloatArray
    outcomes: Labels
    ratios: tuple[Fraction | None, ...] | None
    _joint: ExactJoint | FloatJoint = field(repr=False)

    @property
    def worst(self) -> Nats:
        """The largest leakage of any outcome: ε for which the release is ε-PML (or ε-PMC)."""
        place = self._worst_place()
        return Nats(float(self.values[place]), self._ratio(place))

    @property
    def worst_outcome(self) -> Label:
        """The outcome that leaks most (the first of several)."""
        return self.outcomes[self._worst_place()]

    @property
    def worst_secret(self) -> Label:
        """The secret that the worst outcome speaks for (PML) or against (PMC) most."""
        return self.secret_of(self.worst_outcome)

    def value_of(self, outcome: Label) -> Nats:
        """Look up the leakage of one outcome."""
        place = self.outcomes.position(outcome, "outcome")
        return Nats(float(self.values[place]), self._ratio(place))

    def exact_ratio_of(self, outcome: Label) -> Fraction | None:
        """Compute the exact e^value of one outcome, from the numbers as given; None is infinite."""
        place = self.outcomes.position(outcome, "outcome")
        if self.ratios is not None:
            return self.ratios[place]
        return self._joint.exact_lift(place) if self.kind == "pml" else self._joint.exact_cost(place)

    def exact_probability_of(self, outcome: Label) -> Fraction:
        """Compute the exact P(Y = outcome), from the numbers as given."""
        return self._joint.exact_probability(self.outcomes.position(outcome, "outcome"))

    def secret_of(self, outcome: Label) -> Label:
        """Look up the secret that decides the leakage of one outcome."""
        place = self.outcomes.position(outcome, "outcome")
        pick = self._joint.most_likely_secret if self.kind == "pml" else self._joint.least_likely_secret
        return self._joint.secrets[pick(place)]

    def prior_of(self, secret: Label) -> Fraction:
        """Look up the prior mass of a possible secret, exactly as given."""
        return Fraction(self._joint.given_weights[self._joint.secrets.position(secret, "secret")])

    def most_certain(self) -> tuple[Label, Label, Fraction]:
        """Find the outcome and secret of the largest posterior P(secret | outcome), and that posterior."""
        weighted = dense(self._joint.matrix)[:, self._joint.places] * self._joint.weights[:, None]
        floats = np.asarray(weighted / np.maximum(self.probabilities, 1e-300), dtype=np.float64)
        row, column = (int(place) for place in np.unravel_index(np.argmax(floats), floats.shape))
        joint = self._joint
        exact = Fraction(joint.given_weights[row]) * Fraction(joint.column(column)[row])
        return joint.outcomes[column], joint.secrets[row], exact / joint.exact_probability(column)

    def tail(self, t: Any) -> Probability:
        """Compute P{ℓ(Y) > t}, rounded up; exact for exact input."""
        above = self._exceeds(t)
        if self._joint.exact:
            return Probability.of(self._exact_mass(above))
        if not above.any() or above.all():
            return Probability(float(above.any()))
        return Probability(min(sum_up(self._ends()[1][above]), 1.0))

    def cdf(self, t: Any) -> Probability:
        """Compute P{ℓ(Y) ≤ t}, rounded down; exact for exact input."""
        below = ~self._exceeds(t)
        if self._joint.exact:
            return Probability.of(self._exact_mass(below), "down")
        if not below.any() or below.all():
            return Probability(float(below.any()), rounding="down")
        return Probability(min(sum_down(self._ends()[0][below]), 1.0), rounding="down")

    def quantile(self, delta: Any) -> Nats:
        """Compute the right quantile sup{t : P{ℓ ≤ t} ≤ 1 − δ}, rounded up, for 0 < δ ≤ 1.

        The largest level that some set of outcomes of probability at least δ reaches everywhere. At a
        tie a float δ is the double you typed: write "0.1" if you mean one tenth.
        """
        wanted = _fraction(delta)
        if not 0 < wanted <= 1:
            raise InvalidInput(
                f"delta must be in (0, 1], got delta={quoted(delta)}; at 0 the quantile is infinite."
            )
        order = self._descending()
        count = self._first_prefix(order, lambda mass: mass >= wanted)
        return self._at(order[min(count, len(order)) - 1])

    def left_quantile(self, delta: Any) -> Nats:
        """Compute the left quantile inf{t : P{ℓ ≤ t} ≥ 1 − δ}, rounded up, for 0 ≤ δ < 1.

        The smallest ε for which the release is (ε, δ)-probabilistic PML (or PMC).
        """
        allowed = _fraction(delta)
        if not 0 <= allowed < 1:
            raise InvalidInput(
                f"delta must be in [0, 1), got delta={quoted(delta)}; at 1 every level would do."
            )
        order = self._descending()
        count = self._first_prefix(order, lambda mass: mass > allowed)
        return self._at(order[min(count, len(order)) - 1])

    def mean(self) -> Nats:
        """E[ℓ(Y)], rounded up; infinite if an outcome's leakage is."""
        if np.isinf(self.values).any():
            return Nats(math.inf)
        upper = self.probabilities if self._joint.exact else self._ends()[1]
        products = np.nextafter(np.nextafter(upper, 2.0) * self.values, math.inf)
        return Nats(sum_up(products[self.values > 0]))

    def levels(self) -> list[tuple[Nats, Probability]]:
        """List the distribution: each level of leakage with its probability, from the lowest up."""
        found: dict[Any, list[int]] = {}
        for place, value in enumerate(self.values.tolist()):
            key = (self.ratios[place],) if self.ratios is not None else value
            found.setdefault(key, []).append(place)
        pairs = [(self._at(places[0]), self._mass(places)) for places in found.values()]
        return sorted(pairs, key=lambda pair: pair[0])

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"{self.kind.upper()} of {len(self)} outcomes: worst {format_up(self.worst)} nats "
            f"at outcome {show(self.worst_outcome)} about secret {show(self.worst_secret)}"
        )

    def _worst_place(self) -> int:
        if self.ratios is None:
            return int(np.argmax(self.values))
        sizes = [math.inf if ratio is None else ratio for ratio in self.ratios]
        return max(range(len(sizes)), key=sizes.__getitem__)

    def _ratio(self, place: int) -> Fraction | None:
        return None if self.ratios is None else self.ratios[place]

    def _at(self, place: int) -> Nats:
        return Nats(float(self.values[place]), self._ratio(int(place)))

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        assert isinstance(self._joint, FloatJoint)
        return self._joint.probability_ends()

    def _mass(self, places: list[int]) -> Probability:
        if isinstance(self._joint, ExactJoint):
            return Probability.of(self._joint.marginal[places].sum())
        return Probability(min(sum_up(self._ends()[1][places]), 1.0))

    def _exact_mass(self, chosen: NDArray[np.bool_]) -> Fraction:
        assert isinstance(self._joint, ExactJoint)
        return Fraction(self._joint.marginal[chosen].sum())

    def _exceeds(self, t: Any) -> NDArray[np.bool_]:
        """Which outcomes leak more than t: by the ends where they decide, exactly where they do not."""
        threshold = _threshold(t)
        ratio = exact_ratio(threshold)
        if self.ratios is not None and ratio is not None:
            return np.array([own is None or own > ratio for own in self.ratios])
        nearest = float(threshold)
        above = self.lower > up(nearest)
        for place in np.flatnonzero(~above & (self.values > down(nearest))):
            above[place] = self._exceeds_exactly(int(place), threshold, ratio)
        return above

    def _exceeds_exactly(self, place: int, threshold: float | Fraction, ratio: Fraction | None) -> bool:
        if isinstance(self._joint, FloatJoint) and self._joint.slack:
            return bool(self.values[place] > threshold)  # the prior itself is rounded: stay on the safe side
        own = self._joint.exact_lift(place) if self.kind == "pml" else self._joint.exact_cost(place)
        if own is None:
            return threshold != math.inf
        return own > ratio if ratio is not None else log_exceeds(own, threshold)

    def _descending(self) -> NDArray[np.intp]:
        if self.ratios is None:
            return np.argsort(-self.values, kind="stable")
        sizes = [math.inf if ratio is None else ratio for ratio in self.ratios]
        return np.array(sorted(range(len(sizes)), key=lambda place: -sizes[place]), dtype=np.intp)

    def _first_prefix(self, order: NDArray[np.intp], reached: Any) -> int:
        """How many of the worst outcomes it takes until their mass satisfies `reached` (one more if never)."""
        if isinstance(self._joint, ExactJoint):
            masses = np.cumsum(self._joint.marginal[order])
            return next((count for count, mass in enumerate(masses, 1) if reached(mass)), len(order) + 1)
        lower, upper = self._cumulative_ends(order)
        low = _bisect(upper, reached)  # no prefix shorter than this can reach
        high = _bisect(lower, reached)  # this prefix surely reaches
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(order[:middle], reached) else (middle + 1, high)
        return low

    def _reaches(self, outcomes: NDArray[np.intp], reached: Any) -> bool:
        assert isinstance(self._joint, FloatJoint)
        if self._joint.slack:
            return True
        return bool(reached(self._joint.exact_mass(outcomes.tolist())))

    def _cumulative_ends(self, order: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        lower, upper = self._ends()
        slack = 2.0**-53 * (len(order) + 1)
        return np.cumsum(lower[order]) * (1 - 2 * slack), np.cumsum(upper[order]) * (1 + 2 * slack)


def _bisect(masses: FloatArray, reached: Any) -> int:
    low, high = 1, len(masses) + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(Fraction(float(masses[middle - 1]))) else (middle + 1, high)
    return low


def _fraction(delta: Any) -> Fraction:
    return Fraction(number(delta, "delta"))


def _threshold(t: Any) -> float | Fraction:
    if isinstance(t, Nats) or (isinstance(t, float) and math.isinf(t)):
        return t
    if isinstance(t, str) and not t.strip().startswith("-"):
        value = exact_level(t, "t", allow_infinite=True, rounding="down")
        return value if isinstance(value, Nats) else min(value, _HIGHEST)
    value = number(t, "t")
    return max(min(value, _HIGHEST), -_HIGHEST)


def exact_ends(ratios: list[Fraction | None]) -> tuple[FloatArray, FloatArray]:
    """Enclose log(ratio) by sound ends; None is infinite. Equal ratios are computed once."""
    known: dict[Fraction | None, tuple[float, float]] = {None: (math.inf, math.inf)}
    for ratio in ratios:
        if ratio not in known:
            assert ratio is not None
            known[ratio] = log_bounds(ratio)
    return np.array([known[ratio][0] for ratio in ratios]), np.array([known[ratio][1] for ratio in ratios])


def add_leakages(first: Nats, second: Nats) -> Nats:
    """Add two leakages, exactly where both ratios are known, else rounded up."""
    if first.ratio is not None and second.ratio is not None:
        return Nats.of_ratio(first.ratio * second.ratio)
    total = float(first) + float(second)
    return Nats(up(total) if first and second and not math.isinf(total) else total)
