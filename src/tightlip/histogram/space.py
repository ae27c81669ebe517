"""The space of histograms: every way to share τ units among d cells.

Θ = {θ ∈ {0, …, τ}^d : θ_1 + … + θ_d = τ},   |Θ| = C(τ + d − 1, d − 1).

A table of n rows is a histogram with τ = n: one cell for each feasible combination of attributes
(SML paper, section V-A). The secret that has closed forms is the share θ_1/τ of one cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tightlip.arguments import whole
from tightlip.certificate.recomputation import SPACE_SIZE, certify_by_recomputation
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.histogram.counting import BALLS, LARGEST, Field, Number, is_short
from tightlip.numeric.ball import enclose
from tightlip.numeric.quantity import Bound


@dataclass(frozen=True, slots=True)
class HistogramSpace:
    """All histograms of `total` units on `cells` cells; each of both from 1 to 10^8.

    >>> HistogramSpace(total=10, cells=4).size
    286
    """

    total: int
    cells: int

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "total", whole(self.total, "total", 1, LARGEST, remedy="give the number of rows, or τ")
        )
        object.__setattr__(
            self,
            "cells",
            whole(self.cells, "cells", 1, LARGEST, remedy="give the number of attribute combinations"),
        )

    @property
    def size(self) -> int:
        """|Θ| as an integer; for spaces with more digits than that is good for, see `size_log`."""
        if not is_short(self.total + self.cells - 1, self.cells - 1):
            raise InvalidInput(
                f"size has too many digits for total={self.total} and cells={self.cells}; use size_log()."
            )
        return math.comb(self.total + self.cells - 1, self.cells - 1)

    def size_log(self) -> Bound:
        """log |Θ|, between two proved ends, at any size.

        >>> HistogramSpace(10**8, 10**8).size_log().upper
        138629425.6361366
        """
        if self.cells == 1:
            return certify_by_recomputation(SPACE_SIZE, Bound(0.0, 0.0, "count"), self=self)
        lower, upper = enclose(lambda: self.size_in(BALLS).log())
        return certify_by_recomputation(SPACE_SIZE, Bound(lower, upper, "log-gamma"), self=self)

    def size_in(self, field: Field) -> Number:
        """|Θ| in a field of numbers."""
        return field.binomial(self.total + self.cells - 1, self.cells - 1)

    @property
    def secrets(self) -> int:
        """How many values the share of one cell takes: τ + 1, but 1 where there is only one cell."""
        return self.total + 1 if self.cells > 1 else 1

    def secret_count(self, index: int) -> int:
        """The units in the secret's cell for the value of 0-based rank `index`; the share is this over τ.

        Values in order are 0, 1/τ, …, 1, so the paper's 1-based g_l has rank l − 1. One cell alone
        always holds everything.

        >>> HistogramSpace(10, 4).secret_count(3), HistogramSpace(10, 1).secret_count(0)
        (3, 10)
        """
        index = whole(index, "index", 0, self.secrets - 1, remedy="ranks of secret values start at 0")
        return index if self.cells > 1 else self.total

    def read_secrets(self, secrets: int | None) -> int:
        """The number of values of a secret: as given, or of the share of one cell; never more than |Θ|."""
        if secrets is None:
            return self.secrets
        most = self.size if is_short(self.total + self.cells - 1, self.cells - 1) else LARGEST**4
        return whole(secrets, "secrets", 1, most, remedy="count the values that the secret takes")


def read_space(space: object) -> HistogramSpace:
    """Refuse what is not a space of histograms."""
    if not isinstance(space, HistogramSpace):
        raise WrongType(
            f"space must be a HistogramSpace, got {quoted(space)}; write HistogramSpace(total, cells)."
        )
    return space
