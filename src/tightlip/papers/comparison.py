"""Randomised response against quantization at the same privacy, for the share of one cell.

Quantization with bins of I leaks log K, K = ⌈s/I⌉, s = τ + 1. Randomised response leaks the same with
r = (K − 1)/(s − K), and then, in exact rationals at any size,

    Δ_RR = (d − 1)(s − K)/(d τ)   against   Δ_QM = (d − 2)/(d − 1) + min(⌊I/2⌋, τ)/(τ(d − 1)).

Cross-multiplied: **quantization has the smaller distortion if and only if**

    τ > (d − 1)² ⌊τ/I⌋ + d · min(⌊I/2⌋, τ),

roughly for (d − 1)² < I < 2τ/d. So it needs few cells; at (d − 1)² ≥ τ randomised response is at least as
good at every I. For I fixed and τ → ∞ the ratio Δ_RR/Δ_QM tends to (d − 1)²(I − 1)/(d(d − 2)I), which is
below 1 for I < (d − 1)². SML Theorem 4 has this limit at least 1 for every I > 1, from its wrong Δ_QM.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tightlip.arguments import whole
from tightlip.certificate.recomputation import MATCHED_DISTORTION, certify_by_recomputation
from tightlip.errors import PreconditionFailed
from tightlip.histogram.counting import BALLS, LARGEST
from tightlip.histogram.maxl import released_points_bound
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.randomized_response import RandomizedResponse
from tightlip.histogram.space import HistogramSpace
from tightlip.numeric.ball import enclose

Winner = Literal["randomized response", "quantization", "equal"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Distortions at one privacy.

    Attributes
    ----------
    privacy : Privacy
        Of all of them: log ⌈s/I⌉.
    response, quantization, membership : Distortion
        Randomised response; quantization by the middle, and by membership.
    any_points : Fraction
        What no mechanism can beat that releases at most ⌈s/I⌉ different histograms, like MaxL.
    """

    bin_size: int
    privacy: Privacy
    response: Distortion
    quantization: Distortion
    membership: Distortion
    any_points: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """Δ_RR/Δ_QM, exact; None where Δ_QM is 0."""
        response, quantization = self.response.upper.fraction, self.quantization.upper.fraction
        assert response is not None
        return response / quantization if quantization else None

    @property
    def winner(self) -> Winner:
        """Which of randomised response and quantization by the middle has the smaller distortion."""
        response, quantization = self.response.upper.fraction, self.quantization.upper.fraction
        assert response is not None
        assert quantization is not None
        if response == quantization:
            return "equal"
        return "randomized response" if response < quantization else "quantization"


def compare(space: HistogramSpace, bin_size: int) -> Comparison:
    """Compare the mechanisms at the privacy of quantization with bins of `bin_size`.

    >>> case = compare(HistogramSpace(11, 3), 2)
    >>> case.response.upper.fraction, case.quantization.upper.fraction, case.winner
    (Fraction(4, 11), Fraction(6, 11), 'randomized response')
    """
    middle, member = Quantization(space, bin_size), Quantization(space, bin_size, ordered=False)
    response = Distortion.of(_matched_distortion(middle), "randomised response at equal privacy")
    return Comparison(
        bin_size=middle.bin_size,
        privacy=middle.privacy,
        response=certify_by_recomputation(
            MATCHED_DISTORTION, response, space=space, bin_size=middle.bin_size
        ),
        quantization=middle.distortion,
        membership=member.distortion,
        any_points=released_points_bound(space, middle.bins),
    )


def matched_response(space: HistogramSpace, bin_size: int) -> RandomizedResponse:
    """Build the randomised response that leaks as much as quantization with bins of `bin_size`, and no more.

    e^ε = 1 + |Θ|(K − 1)/(s − K), exact where |Θ| is short; otherwise ε is rounded down.

    >>> matched_response(HistogramSpace(11, 3), 2).privacy.ratio
    Fraction(6, 1)
    """
    bins, secrets = Quantization(space, bin_size).bins, space.secrets
    if bins == secrets > 1:
        raise PreconditionFailed(
            f"bin_size must be at least 2, got {bin_size}; randomised response leaks all of log s only as e^ε → ∞."
        )
    rate = Fraction(bins - 1, secrets - bins) if bins > 1 else Fraction(0)
    try:
        return RandomizedResponse(space, ratio=1 + rate * space.size)
    except ValueError:  # |Θ| has too many digits
        pass
    if not rate:
        return RandomizedResponse(space, ratio=1)
    epsilon, _ = enclose(lambda: (space.size_in(BALLS) * BALLS.number(rate)).log1p())
    return RandomizedResponse(space, epsilon)


def quantization_wins(space: HistogramSpace, bin_size: int) -> bool:
    """Check if quantization by the middle has the smaller distortion: τ > (d − 1)²⌊τ/I⌋ + d·min(⌊I/2⌋, τ).

    >>> quantization_wins(HistogramSpace(60, 3), 8), quantization_wins(HistogramSpace(48842, 22381), 8)
    (True, False)
    """
    case = Quantization(space, bin_size)
    total, cells = space.total, space.cells
    if cells == 1:
        return False
    return total > (cells - 1) ** 2 * (total // case.bin_size) + cells * min(case.bin_size // 2, total)


def asymptotic_ratio(cells: int, bin_size: int) -> Fraction:
    """Compute the limit of Δ_RR/Δ_QM as τ → ∞, at fixed I: (d − 1)²(I − 1)/(d(d − 2)I).

    >>> asymptotic_ratio(3, 4), asymptotic_ratio(3, 3)
    (Fraction(1, 1), Fraction(8, 9))
    """
    cells = whole(cells, "cells", 3, LARGEST, remedy="with two cells the limit is infinite")
    bin_size = whole(bin_size, "bin_size", 1, LARGEST, remedy="give how many secret values share a bin")
    return Fraction((cells - 1) ** 2 * (bin_size - 1), cells * (cells - 2) * bin_size)


def _matched_distortion(case: Quantization) -> Fraction:
    cells, total = case.space.cells, case.space.total
    if cells == 1:
        return Fraction(0)
    return Fraction((cells - 1) * (case.secrets - case.bins), cells * total)
