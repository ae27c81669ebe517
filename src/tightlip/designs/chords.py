"""What bounds on single lifts alone allow: an f-information is at most that of the chords.

**Theorem.** If guarantees keep the lift v_x = P(y|x)/P(y) of every secret between m_x and M_x, then

    I_f ≤ Σ_x p_x { (M_x − 1) f(m_x) + (1 − m_x) f(M_x) } / (M_x − m_x).

*Proof.* f is convex, so on [m_x, M_x] it is below its chord, which is linear. Lifts average to 1 over outputs,
Σ_y q_y v_xy = 1, so the mean of a chord is its value at 1. ∎ It is attained where every output has every secret at an
end of its range: under PMC, under PML of high privacy, with two secrets, and, without guarantees, by the truth. Under
PML and LIP it is off by what one entry between the ends costs, which is little where secrets are many.

The slopes of the chords, times the masses, are prices: no column is worth more than its price beyond one constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tightlip.designs.f_information import Information
from tightlip.designs.guarantee import Guarantee, Vector, all_lifts
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import float_above, gamma, sum_up, up


class Ceiling(NamedTuple):
    """A bound on an f-information that is known without prices, rounded up, and prices near it to begin with."""

    bound: float
    prices: FloatArray


def chords(masses: Vector, guarantees: Sequence[Guarantee], utility: Information) -> Ceiling:
    """Bound I_f of every channel that keeps the guarantees by the chords; infinite where a secret has no mass.

    >>> from fractions import Fraction
    >>> from tightlip.designs.guarantee import Ldp
    >>> half = (Fraction(1, 2), Fraction(1, 2))
    >>> round(chords(half, (Ldp(50.0),), Information("mutual_information")).bound, 9)
    0.693147181
    """
    if not all(masses):
        return Ceiling(np.inf, np.zeros(len(masses)))
    # the further apart the ends, the higher the chord at 1
    below, above = all_lifts(guarantees, masses)
    apart = np.maximum(below + above, 1e-300)
    low, high = utility.excess_up(-below), utility.excess_up(above)
    shares = np.array([float_above(mass) for mass in masses])
    heights = shares * ((above * low + below * high) / apart)
    return Ceiling(up(sum_up(heights) * (1 + gamma(16))), shares * (high - low) / apart)
