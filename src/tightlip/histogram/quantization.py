"""The quantization mechanism: round the secret to its bin, draw the rest afresh.

The s values of the secret, ranked from 0, are cut into ⌈s/I⌉ bins of I values, the last one perhaps shorter.
*By the middle* (the secret has an order) the release is uniform on the histograms whose secret has rank

    R(k) = min(kI + ⌊I/2⌋, s − 1)                    for a table in bin k;

the paper's 1-based R(k) = ⌊(k + ½)I⌋ + 1 is one more, and needs the clamp to s in a short last bin.
*By membership* (no order) it is uniform on the histograms whose secret lies in the bin.

Either way a release depends on the bin only, and differs between bins: Π = log ⌈s/I⌉ for any secret.

Distortion, where the secret is the share of one of d ≥ 2 cells; with u = min(I, s) − 1,

    by the middle       Δ = (d − 2)/(d − 1) + min(⌊I/2⌋, τ)/(τ (d − 1)),
    by membership       Δ = (d − 2)/(d − 1) + E[θ'_1 | θ'_1 ≤ u]/(τ (d − 1))
                          = 1 − [C(τ+d−1, d) − C(τ−u+d−2, d)] / (τ [C(τ+d−1, d−1) − C(τ−u+d−2, d−1)]),

both 0 for d = 1. The proof is in docs/histograms.md. SML Theorem 4 has
½ + (d⌊I/2⌋ − τ)/(2τ(d − 1)) for the first, which is wrong: at τ = 4, d = 3, I = 1 it says ¼, and ½ is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.arguments import whole
from tightlip.certificate.recomputation import (
    QUANTIZATION_DISTORTION,
    QUANTIZATION_PRIVACY,
    certify_by_recomputation,
)
from tightlip.errors import WrongType, quoted
from tightlip.histogram.counting import LARGEST, Field, Number
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.histogram.space import HistogramSpace, read_space

_BIN = "give how many secret values share a bin"


@dataclass(frozen=True, slots=True, init=False)
class Quantization:
    """The quantization mechanism with bins of `bin_size` secret values.

    Parameters
    ----------
    space : HistogramSpace
    bin_size : int
        I; from `space.secrets` on nothing leaks.
    ordered : bool
        True: release the bin's middle value. False: release any value in the bin.
    secrets : int, optional
        How many values the secret takes, for a secret that is not the share of one cell; the
        distortion then has no closed form, and its ends are 0 and 1.

    >>> mechanism = Quantization(HistogramSpace(11, 3), bin_size=4)
    >>> mechanism.privacy.ratio, mechanism.distortion.upper.fraction
    (Fraction(3, 1), Fraction(13, 22))
    >>> [mechanism.representative(k) for k in range(mechanism.bins)]
    [2, 6, 10]
    """

    space: HistogramSpace
    bin_size: int
    ordered: bool
    secrets: int
    is_share: bool

    def __init__(
        self, space: HistogramSpace, bin_size: int, *, ordered: bool = True, secrets: int | None = None
    ) -> None:
        if not isinstance(ordered, bool):
            raise WrongType(f"ordered must be True or False, got {quoted(ordered)}.")
        object.__setattr__(self, "space", read_space(space))
        object.__setattr__(self, "bin_size", whole(bin_size, "bin_size", 1, LARGEST**4, remedy=_BIN))
        object.__setattr__(self, "ordered", ordered)
        object.__setattr__(self, "secrets", space.read_secrets(secrets))
        object.__setattr__(self, "is_share", secrets is None)

    @property
    def bins(self) -> int:
        """⌈s/I⌉."""
        return -(-self.secrets // self.bin_size)

    def bin_of(self, index: int) -> int:
        """The bin k of the secret value of 0-based rank `index`."""
        return whole(index, "index", 0, self.secrets - 1, remedy="ranks start at 0") // self.bin_size

    def members(self, bin_index: int) -> range:
        """The ranks of the secret values in bin k.

        >>> Quantization(HistogramSpace(10, 3), 4).members(2)
        range(8, 11)
        """
        start = self._bin(bin_index) * self.bin_size
        return range(start, min(start + self.bin_size, self.secrets))

    def representative(self, bin_index: int) -> int:
        """The 0-based rank R(k) of the released secret value; the paper's R(k) less 1, clamped.

        >>> Quantization(HistogramSpace(10, 3), 8).representative(1)
        10
        """
        return min(self._bin(bin_index) * self.bin_size + self.bin_size // 2, self.secrets - 1)

    @property
    def privacy(self) -> Privacy:
        """Π = log ⌈s/I⌉."""
        found = Privacy.of_ratio(Fraction(self.bins), "quantization, SML Theorem 4")
        return certify_by_recomputation(QUANTIZATION_PRIVACY, found, **self._arguments)

    @property
    def distortion(self) -> Distortion:
        """Δ in closed form for the share of one cell; otherwise only 0 ≤ Δ ≤ 1 (0 for a single histogram)."""
        return certify_by_recomputation(QUANTIZATION_DISTORTION, self._distortion(), **self._arguments)

    @property
    def _arguments(self) -> dict[str, Any]:
        """What it is made of."""
        secrets = None if self.is_share else self.secrets
        return {"space": self.space, "bin_size": self.bin_size, "ordered": self.ordered, "secrets": secrets}

    def _distortion(self) -> Distortion:
        if self.space.cells == 1:
            return Distortion.of(Fraction(0), "one cell")
        if not self.is_share:
            ends = Distortion.of(Fraction(0), ""), Distortion.of(Fraction(1), "")
            return Distortion.between(*ends, "no closed form for this secret")
        if self.ordered:
            return Distortion.of(
                middle_distortion(self.space.total, self.space.cells, self.bin_size),
                "quantization by the middle",
            )
        return Distortion.of_formula(self._by_membership, "quantization by membership")

    def _by_membership(self, numbers: Field) -> Number:
        total, cells = self.space.total, self.space.cells
        rest = total - min(self.bin_size, self.secrets) + cells - 1
        mass = numbers.binomial(total + cells - 1, cells) - numbers.binomial(rest, cells)
        count = numbers.binomial(total + cells - 1, cells - 1) - numbers.binomial(rest, cells - 1)
        return 1 - mass / (total * count)

    def _bin(self, bin_index: int) -> int:
        return whole(bin_index, "bin_index", 0, self.bins - 1, remedy="bins are numbered from 0")


def middle_distortion(total: int, cells: int, bin_size: int) -> Fraction:
    """(d − 2)/(d − 1) + min(⌊I/2⌋, τ)/(τ(d − 1)): quantization by the middle, d ≥ 2.

    >>> middle_distortion(4, 3, 1)
    Fraction(1, 2)
    """
    return Fraction(cells - 2, cells - 1) + Fraction(min(bin_size // 2, total), total * (cells - 1))
