"""The smallest risk that any procedure can promise after n private samples: lower bounds, rounded down.

Model. Each of n people holds a secret X_i, independent with the same unknown distribution P_θ, and sends one release
Y_i through a channel of the given privacy level. The channels may differ, and each may depend on the releases before
it. From Y_1 … Y_n a procedure answers a. Its risk is the largest expected loss over the hypotheses, so the average
over any of them is a lower bound:

    Le Cam     max_ij (Δ_ij/2)·(1 − TV(P_i^n, P_j^n))
    Bretagnolle–Huber    max_ij (Δ_ij/4)·e^{−n·KL}
    Fano       min_ij s_ij · p,  p from `fano_error` with I ≤ n·(1/M)·Σ_j KL(P_j K‖P̄K),  P̄ the average of the P_j
    Assouad    Σ_k (Δ_k/2)·(average of 1 − TV over the pairs that differ in coordinate k alone), for a cube

Why. Le Cam: ½Σ_y [p_i L(θ_i, a) + p_j L(θ_j, a)] ≥ ½Σ_y min(p_i, p_j)·Δ_ij. Fano: if i is the hypothesis with the
smallest loss for the answer a, every other j has L(θ_j, a) ≥ s_ij, so the loss is at least s·1{i ≠ J}; and
I(J; Y^n) ≤ (1/M)Σ KL(law under P_j‖law under P̄), which adds up over the samples. Assouad: Le Cam for each coordinate
of a loss that is a sum over coordinates, averaged over the others.

Fano's inequality, solved for the error. J uniform on M hypotheses, Y any data with I(J; Y) ≤ I. Every guess of J errs
with a probability p that satisfies

    h(p) + p·log(M − 1) ≥ log M − I,        h(p) = −p log p − (1 − p) log(1 − p).

The left side rises in p ≤ 1 − 1/M, so p is at least the solution of the equation; p ≥ 1 − (I + log 2)/log M is the
weaker form in textbooks, which says nothing for two hypotheses.

Overlap. How much the laws of n releases still overlap: lower bounds on 1 − TV(P^n, Q^n), rounded down.

    coupling             (1 − TV)^n
    hellinger            1 − √(1 − ρ^{2n}),  ρ = 1 − H²/2 = Σ√(pq)
    kl                   1 − √(1 − e^{−n·KL})                          (Bretagnolle and Huber)
    bretagnolle-huber    ½·e^{−n·KL}, the same in the usual weaker form

TV, H² and KL bound the divergence of one release, KL in either direction. Each holds for n independent releases
through channels of the level that may differ, and also where each channel may depend on the earlier releases: step by
step the coupling stays together with probability 1 − TV, the affinity Σ√(pq) keeps a factor ρ, and KL adds up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from tightlip.arguments import choice, whole
from tightlip.errors import WrongType, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.rounding import float_above, float_below
from tightlip.planning.privacy import Privacy, Separation, as_privacy
from tightlip.planning.study import Study
from tightlip.showing import Shown, Tabled

Method = Literal[
    "le cam, coupling", "le cam, hellinger", "le cam, kl", "bretagnolle-huber", "fano", "assouad"
]

_TWO_POINT: dict[Tensor, Method] = {
    "coupling": "le cam, coupling",
    "hellinger": "le cam, hellinger",
    "kl": "le cam, kl",
    "bretagnolle-huber": "bretagnolle-huber",
}
_BITS = 128
_BISECTIONS = 60
Tensor = Literal["coupling", "hellinger", "kl", "bretagnolle-huber"]

_TOGETHER = Separation(0.0, 0.0, 0.0, 0.0)
_NOTHING = 800  # e^-800 is nothing that a float can hold


@dataclass(frozen=True, slots=True)
class MethodBound:
    """One method's bound; `pair` are the two hypotheses it rests on, where it is two."""

    method: Method
    value: float
    pair: tuple[Label, Label] | None


@dataclass(frozen=True, slots=True)
class RiskBound(Shown, Tabled):
    """No procedure has a risk below `value`, the best of `methods`; in the unit of the loss, rounded down.

    One end only, and the sound one: no procedure is said to reach it.
    """

    samples: int
    value: float
    method: Method
    pair: tuple[Label, Label] | None
    methods: tuple[MethodBound, ...]

    def by(self, method: Method) -> float:
        """Look up the bound of one method; 0 where it does not apply."""
        choice(method, "method", get_args(Method))
        return next((entry.value for entry in self.methods if entry.method == method), 0.0)


Overlaps = dict[Separation, dict[Tensor, float]]


@dataclass(frozen=True, slots=True)
class PrivateStudy:
    """A study and a privacy level, reduced to what the bounds need for any number of samples.

    Attributes
    ----------
    leading : for each separation that some pair has, the largest gap Δ among such pairs, and where
    sides : for each side of a cube, Δ_k/2 and the share of its pairs that have each separation
    test_gap : the smallest s_ij
    information : a bound on the information of one release about a hypothesis drawn at random

    >>> from tightlip import Prior
    >>> from tightlip.planning import LocalPrivacy
    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    >>> round(PrivateStudy.of(study, LocalPrivacy(1.0)).risk(10).value, 4)
    0.3157
    """

    study: Study
    privacy: Privacy
    leading: dict[Separation, tuple[Fraction, tuple[int, int]]]
    sides: tuple[tuple[Fraction, dict[Separation, Fraction]], ...]
    test_gap: Fraction
    information: float

    @classmethod
    def of(cls, study: Study, privacy: Privacy | Channel) -> PrivateStudy:
        """Bound the divergences of one release for all pairs of hypotheses."""
        if not isinstance(study, Study):
            raise WrongType(f"study must be a Study, got {quoted(study)}; write Study(hypotheses, loss=…).")
        level = as_privacy(privacy)
        found = {(i, j): level.separation(study.hypotheses[i], study.hypotheses[j]) for i, j in study.pairs()}
        leading: dict[Separation, tuple[Fraction, tuple[int, int]]] = {}
        for (i, j), separation in found.items():
            if separation not in leading or study.gaps[i][j] > leading[separation][0]:
                leading[separation] = study.gaps[i][j], (i, j)
        sides = tuple(_side(study, edges, found) for edges in study.cube())
        test_gap = min(study.test_gaps[i][j] for i, j in study.pairs())
        return cls(study, level, leading, sides, test_gap, _information(study, level))

    def risk(self, samples: int) -> RiskBound:
        """Compute the lower bound on the risk after this many private samples, by every method."""
        count = read_samples(samples)
        shared = {separation: overlaps(separation, count) for separation in self.leading}
        methods = [self._two_point(tensor, shared) for tensor in _TWO_POINT]
        if len(self.study.hypotheses) > 2:
            methods.append(self._fano(count))
        if self.sides:
            methods.append(self._assouad(shared))
        best = max(methods, key=lambda entry: entry.value)
        return RiskBound(count, best.value, best.method, best.pair, tuple(methods))

    def _two_point(self, tensor: Tensor, shared: Overlaps) -> MethodBound:
        value, (i, j) = max(
            (gap / 2 * Fraction(shared[separation][tensor]), pair)
            for separation, (gap, pair) in self.leading.items()
        )
        return MethodBound(_TWO_POINT[tensor], float_below(value), (self.study.names[i], self.study.names[j]))

    def _fano(self, samples: int) -> MethodBound:
        error = fano_error(len(self.study.hypotheses), float_above(Fraction(self.information) * samples))
        return MethodBound("fano", float_below(self.test_gap * Fraction(error)), None)

    def _assouad(self, shared: Overlaps) -> MethodBound:
        total = sum(
            half_gap * share * Fraction(max(shared[separation].values()))
            for half_gap, shares in self.sides
            for separation, share in shares.items()
        )
        return MethodBound("assouad", float_below(Fraction(total)), None)


def _side(
    study: Study, edges: tuple[tuple[int, int], ...], found: dict[tuple[int, int], Separation]
) -> tuple[Fraction, dict[Separation, Fraction]]:
    i, j = edges[0]
    counted = Counter(found[min(edge), max(edge)] for edge in edges)
    return study.gaps[i][j] / 2, {
        separation: Fraction(count, len(edges)) for separation, count in counted.items()
    }


def risk_lower_bound(study: Study, privacy: Privacy | Channel, samples: int) -> RiskBound:
    """Bound the minimax risk after n private samples from below, rounded down (DOB paper, Example 3, corrected).

    Parameters
    ----------
    study : Study
    privacy : LocalPrivacy, PmlPrivacy or a Channel
    samples : n, the number of people who send one release each

    Returns
    -------
    RiskBound
        In the unit of the loss; `.methods` has Le Cam (three ways), Bretagnolle–Huber, Fano and Assouad.

    >>> from tightlip import Prior
    >>> from tightlip.planning import LocalPrivacy
    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    >>> risk_lower_bound(study, LocalPrivacy(0), 1000).value      # releases that say nothing: a coin decides
    0.5
    """
    return PrivateStudy.of(study, privacy).risk(samples)


def read_samples(samples: object) -> int:
    """Read a number of people."""
    return whole(samples, "samples", 0, remedy="it counts people")


def _information(study: Study, privacy: Privacy) -> float:
    """Bound the mutual information of one sample, (1/M) Σ_j KL(P_j K‖P̄K), from above; finite, since P̄ ≥ P_j/M."""
    center = study.average()
    amounts = [privacy.separation(hypothesis, center).kl for hypothesis in study.hypotheses]
    return float_above(sum((Fraction(amount) for amount in amounts), Fraction(0)) / len(amounts))


def fano_error(hypotheses: int, information: float) -> float:
    """Bound the error probability of every guess among M hypotheses from below, by Fano, rounded down.

    Parameters
    ----------
    hypotheses : M, at least 2
    information : an upper bound on I(J; Y), in nats

    >>> fano_error(4, 0.0), fano_error(4, 2.0)
    (0.75, 0.0)
    >>> 0.133 < fano_error(2, 0.3) < 0.134
    True
    """
    most = float(1 - Fraction(1, hypotheses))
    if Fraction(most) > 1 - Fraction(1, hypotheses):
        most = math.nextafter(most, 0.0)
    if information == 0:
        return most
    if math.isinf(information):
        return 0.0
    low, high = 0.0, most
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _below(middle, hypotheses, information):
            low = middle
        else:
            high = middle
    return low


def _below(error: float, hypotheses: int, information: float) -> bool:
    """Check whether h(p) + p log(M − 1) < log M − I for certain, so that the error is more than p."""
    from flint import ctx

    with ctx.workprec(_BITS):
        left = _entropy(ball(error)) + ball(error) * ball(hypotheses - 1).log()
        return bool(left < ball(hypotheses).log() - ball(information))


def _entropy(error: Ball) -> Ball:
    other = 1 - error
    return -(error * error.log() + other * other.log())


def overlaps(separation: Separation, samples: int) -> dict[Tensor, float]:
    """Bound 1 − TV after n releases from below, in every way.

    >>> {name: round(value, 4) for name, value in overlaps(Separation(0.5, 0.25, 1.0, 2.0), 1).items()}
    {'coupling': 0.5, 'hellinger': 0.5159, 'kl': 0.2049, 'bretagnolle-huber': 0.1839}
    """
    separation = separation if samples else _TOGETHER
    apart = separation.smaller_kl
    gone = math.isinf(apart) or samples * Fraction(apart) > _NOTHING
    return {
        "coupling": _down(lambda: (1 - ball(separation.tv)).max(0) ** samples),
        "hellinger": _down(lambda: _half_angle((1 - ball(separation.h2) / 2).max(0) ** (2 * samples))),
        "kl": 0.0 if gone else _down(lambda: _half_angle((-samples * ball(apart)).exp())),
        "bretagnolle-huber": 0.0 if gone else _down(lambda: (-samples * ball(apart)).exp() / 2),
    }


def _half_angle(kept: Ball) -> Ball:
    """Compute 1 − √(1 − x) = x/(1 + √(1 − x)), without cancellation."""
    return kept / (1 + (1 - kept).max(0).sqrt())


def _down(expression: Callable[[], Ball]) -> float:
    return min(max(enclose(expression)[0], 0.0), 1.0)
