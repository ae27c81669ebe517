"""What a wrong answer costs, reduced to two numbers for each pair of hypotheses.

For a loss L(θ, a) ≥ 0 of answering a when θ is true

    gap       Δ_ij = inf_a [L(θ_i, a) + L(θ_j, a)]        what no answer can avoid in sum   (Le Cam, Assouad)
    test gap  s_ij = inf_a max(L(θ_i, a), L(θ_j, a))      what no answer can avoid twice    (Fano)

Always s_ij ≤ Δ_ij ≤ 2 s_ij. Parameters are points of ℝ^d, answers any point:

    absolute   Σ_k |θ_k − a_k|         Δ = ‖θ_i − θ_j‖₁         s = Δ/2      (midpoint, triangle inequality)
    squared    Σ_k (θ_k − a_k)²        Δ = ‖θ_i − θ_j‖₂²/2      s = Δ/2      (midpoint, parallelogram law)
    hamming    Σ_k 1{θ_k ≠ a_k}        Δ = #{k: they differ}    s = ⌈Δ/2⌉
    zero-one   1{θ ≠ a}                Δ = 1                    s = 1
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, get_args

LossName = Literal["absolute", "squared", "zero-one", "hamming"]
LOSS_NAMES: tuple[str, ...] = get_args(LossName)
Point = tuple[Fraction, ...]
Gaps = tuple[tuple[Fraction, ...], ...]


def named_gap(loss: str, one: Point, two: Point) -> Fraction:
    """Δ of two parameters.

    >>> named_gap("squared", (Fraction(0),), (Fraction(1),))
    Fraction(1, 2)
    """
    return _GAPS[loss](one, two)


def named_test_gap(loss: str, one: Point, two: Point) -> Fraction:
    """The test gap s of two parameters.

    >>> named_test_gap("hamming", (Fraction(0),) * 3, (Fraction(1),) * 3)
    Fraction(2, 1)
    """
    gap = _GAPS[loss](one, two)
    if loss == "zero-one":
        return gap
    return Fraction(-(-gap // 2)) if loss == "hamming" else gap / 2


def row_gap(one: tuple[Fraction, ...], two: tuple[Fraction, ...]) -> Fraction:
    """Δ of two rows of a table of losses, one column per answer."""
    return min(a + b for a, b in zip(one, two, strict=True))


def row_test_gap(one: tuple[Fraction, ...], two: tuple[Fraction, ...]) -> Fraction:
    """The test gap s of two rows of a table of losses."""
    return min(max(a, b) for a, b in zip(one, two, strict=True))


def _differing(one: Point, two: Point) -> Fraction:
    return Fraction(sum(a != b for a, b in zip(one, two, strict=True)))


_GAPS: dict[str, Callable[[Point, Point], Fraction]] = {
    "absolute": lambda one, two: sum((abs(a - b) for a, b in zip(one, two, strict=True)), Fraction(0)),
    "squared": lambda one, two: sum(((a - b) ** 2 for a, b in zip(one, two, strict=True)), Fraction(0)) / 2,
    "hamming": _differing,
    "zero-one": lambda one, two: Fraction(one != two),
}
