"""What every mechanism lies between: releasing nothing, and releasing the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tightlip.designs.linear import Kernel
from tightlip.designs.utility import Utility
from tightlip.model.prior import Prior


class Extremes(NamedTuple):
    """The values of the least and of the most that can be released, rounded as a design's.

    Attributes
    ----------
    nothing : the value of releasing nothing, which every guarantee allows
    truth : the value of releasing the secret
    """

    nothing: float
    truth: float


def extremes(utility: Utility, prior: Prior) -> Extremes:
    """Evaluate releasing nothing and releasing the truth, each output taken for what it is best taken for."""
    masses = tuple(prior.exact().masses)
    silent = Kernel(np.ones((1, len(masses)), dtype=object), 1)
    open_ = Kernel(np.array(np.eye(len(masses), dtype=int), dtype=object), 1)
    sign = -1 if utility.minimised else 1
    nothing, truth = (sign * utility.potential(masses, own) + 0.0 for own in (silent, open_))
    return Extremes(nothing, truth)
