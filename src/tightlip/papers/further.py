"""What the papers compare with or remark, and nobody else needs: Duchi's bound, DOB Lemma 1, SML's range by ℒ alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.certificate.recomputation import STATISTIC_RANGE, certify_by_recomputation
from tightlip.contraction.bounds import Setting, distance_of
from tightlip.errors import quoted
from tightlip.measures.capacity import allowed_zeros, read_min_mass
from tightlip.measures.maximal import maximal_leakage
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Label
from tightlip.model.matrix import Matrix, is_sparse
from tightlip.numeric.ball import Ball, ball, enclose, log_bounds
from tightlip.numeric.display import format_down, format_python
from tightlip.numeric.quantity import Bound, level, level_words
from tightlip.numeric.rounding import sum_down
from tightlip.statistic.groups import groups_of


def duchi_bound(epsilon: Any, tv: Any) -> float:
    """Bound KL(PK‖QK) + KL(QK‖PK) ≤ min(4, e^{2ε})(e^ε − 1)² TV² for ε-LDP channels (Duchi et al.), rounded up.

    >>> from tightlip import log_of
    >>> duchi_bound(log_of(2), "1/2")
    1.0
    """
    setting, distance = Setting.of(2, epsilon, 0), distance_of(tv)
    if not distance:
        return 0.0
    if setting.unbounded:
        return math.inf

    def expression() -> Ball:
        growth = setting.growth()
        return (growth * growth).min(4) * (growth - 1) ** 2 * ball(distance) ** 2

    return enclose(expression)[1]


@dataclass(frozen=True, slots=True)
class ZeroCountCheck:
    """Whether a channel's zeros agree with (ε, c)-PML, and why (DOB paper, Lemma 1).

    Attributes
    ----------
    holds : whether every outcome excludes at most `allowed` secrets
    allowed : the most zeros that a column may have
    zeros, outcome : the most zeros in a column, and where
    explanation : the reason in words
    """

    holds: bool
    allowed: int
    zeros: int
    outcome: Label
    explanation: str


def check_zero_count(channel: Channel, epsilon: Any, *, min_mass: Any) -> ZeroCountCheck:
    """Compare the zeros of each column with what (ε, c)-PML allows (DOB paper, Lemma 1).

    A failure disproves (ε, c)-PML; success alone does not prove it, `leakage_capacity` decides.

    >>> from tightlip import Channel
    >>> check_zero_count(Channel([[1, 0], [0, 1]]), 0.5, min_mass="1/4").explanation
    'outcome 0 excludes 1 of 2 secrets, so it leaks at least -log((2 - 1) * 1/4) = 1.38629 nats > 0.5: not (ε, c)-PML.'
    """
    as_channel(channel)
    size = channel.shape[0]
    allowed = allowed_zeros(size, epsilon, min_mass)
    mass, _ = read_min_mass(min_mass, size)
    zeros = np.where(channel.peaks > 0, _zeros(channel.matrix), 0)
    place = int(np.argmax(zeros))
    worst = int(zeros[place])
    own = level_words(epsilon if isinstance(epsilon, Fraction) else level(epsilon, allow_infinite=True))
    who = f"outcome {quoted(channel.outputs[place])} excludes {worst} of {size} secrets"
    leak = max(0.0, log_bounds(1 / ((size - worst) * mass))[0]) if mass else math.inf
    shown = str(mass) if mass.denominator < 10**6 else format_python(mass)
    formula = f"-log(({size} - {worst}) * {shown}) = {format_down(leak)} nats"
    if worst > allowed:
        words = f"{who}, so it leaks at least {formula} > {own}: not (ε, c)-PML."
    elif worst:
        words = f"{who}, so it leaks at least {formula}, within {own}; up to {allowed} zeros are allowed."
    else:
        words = f"no outcome excludes a secret; up to {allowed} zeros per outcome are allowed."
    return ZeroCountCheck(worst <= allowed, allowed, worst, channel.outputs[place], words)


def _zeros(matrix: Matrix) -> NDArray[Any]:
    if is_sparse(matrix):
        return np.asarray(matrix.shape[0] - np.diff(matrix.tocsc().indptr))
    return np.asarray((matrix == 0).sum(axis=0))


def statistic_leakage_range(channel: Channel, secret: Any = None) -> Bound:
    """Bound Π by maximal leakage ℒ alone, without any search: ℒ − log max_g|Θ_g| ≤ Π ≤ min(ℒ, log s).

    Worst-case min-entropy leakage is the same number as ℒ, so it gives the same range.

    >>> from tightlip import Channel
    >>> statistic_leakage_range(Channel([["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]]), ["a", "a", "b"]).upper
    0.4054651081081644
    """
    groups = groups_of(channel, secret)
    whole = maximal_leakage(channel)
    total = Fraction(sum_down(channel.peaks)) if whole.ratio is None else whole.ratio
    upper = min(float(whole), log_bounds(Fraction(groups.count))[1])
    lower = log_bounds(total / int(groups.sizes().max()))[0]
    found = Bound(min(max(0.0, lower), upper), upper, "maximal leakage")
    return certify_by_recomputation(STATISTIC_RANGE, found, channel=channel, secret=secret)
