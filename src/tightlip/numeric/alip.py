"""The pair of bounds on the information density that asymmetric local information privacy speaks of."""

from __future__ import annotations

from typing import NamedTuple

from tightlip.numeric.quantity import Nats


class Alip(NamedTuple):
    """Asymmetric local information privacy: −lower ≤ i(x;y) ≤ upper for every secret and outcome.

    Attributes
    ----------
    lower : Nats
        ε_l, which bounds −i from above: the PMC side. Infinite where a secret may be ruled out.
    upper : Nats
        ε_u, which bounds i from above: the PML side.

    >>> Alip(Nats(1.5), Nats(0.5)).upper
    0.5 nats
    """

    lower: Nats
    upper: Nats

    def in_bits(self) -> tuple[float, float]:
        """The pair (lower, upper) in bits, each rounded in its own direction.

        >>> lower, upper = Alip(Nats(1.5), Nats(0.5)).in_bits()
        >>> f"{lower:.6f}, {upper:.6f}"
        '2.164043, 0.721348'
        """
        return self.lower.in_bits(), self.upper.in_bits()
