"""What every mechanism lies between: releasing nothing, and releasing the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tightlip.designs.linear import Kernel
from tightlip.designs.utility import Utility
from tightlip.model.labels import Label
from tightlip.model.prior import Prior, read_prior


class Extremes(NamedTuple):
    """The values of the least and of the most that can be released, rounded as a design's.

    Attributes
    ----------
    nothing : the value of releasing nothing, which every guarantee allows
    truth : the value of releasing the secret
    """

    nothing: float
    truth: float


def extremes(utility: Utility, prior: Prior | Mapping[Label, Any]) -> Extremes:
    """Evaluate releasing nothing and releasing the truth, each output taken for what it is best taken for."""
    masses = tuple(read_prior(prior).exact().masses)
    silent = Kernel(np.ones((1, len(masses)), dtype=object), 1)
    open_ = Kernel(np.array(np.eye(len(masses), dtype=int), dtype=object), 1)
    sign = -1 if utility.minimised else 1
    nothing, truth = (sign * utility.potential(masses, own) + 0.0 for own in (silent, open_))
    return Extremes(nothing, truth)
