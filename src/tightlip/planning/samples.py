"""How many private samples a study needs at least."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.numeric.parse import number
from tightlip.planning.outward import float_above
from tightlip.planning.privacy import Privacy, as_privacy
from tightlip.planning.risk import PrivateStudy, read_samples
from tightlip.planning.study import Study

# times any positive float it is far beyond e^-800, so what is left here is left for ever
_FOREVER = 1 << 1100
_MOST = 1 << 1023  # the largest number that is returned, so that it is a float too


def samples_needed(study: Study, privacy: Privacy | Channel, target_risk: Any) -> float:
    """The number of samples below which no procedure has a risk of at most `target_risk`.

    It is necessary, not sufficient: with one sample fewer the lower bound is above the target, and fewer samples
    never help. Since the bound is rounded down, the number may be too small by rounding, never too large.

    Returns
    -------
    float
        A whole number, or infinite where the releases never tell the hypotheses apart (an int where finite). At
        most 2^1023, which is too small where more are needed.

    >>> from tightlip import Prior
    >>> from tightlip.planning import LocalPrivacy
    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    >>> samples_needed(study, LocalPrivacy(1.0), "1/20"), samples_needed(study, LocalPrivacy(0), "1/20")
    (114, inf)
    """
    return needed(PrivateStudy.of(study, privacy), read_target(target_risk))


def needed(study: PrivateStudy, target: Fraction) -> float:
    """`samples_needed` for a study whose divergences are known already."""
    return _first(lambda samples: Fraction(study.risk(samples).value) <= target)


def read_target(target_risk: Any) -> Fraction:
    """Read a target risk: positive, in the unit of the loss."""
    target = Fraction(number(target_risk, "target_risk"))
    if target <= 0:
        raise InvalidInput(
            f"target_risk must be positive, got {quoted(target_risk)}; no study has a risk of 0."
        )
    if target > sys.float_info.max:
        raise InvalidInput(
            f"target_risk must be at most {sys.float_info.max:.3g}, got {quoted(target_risk)}; scale the loss."
        )
    return target


def effective_samples(privacy: Privacy | Channel, secrets: int, samples: int) -> float:
    """n·η_KL, rounded up: n private samples bring no more KL between any two hypotheses than this many open ones.

    An upper bound on what the samples are worth for telling hypotheses apart; no procedure is promised to
    get that much out of them.

    >>> from tightlip import log_of
    >>> from tightlip.planning import LocalPrivacy
    >>> effective_samples(LocalPrivacy(log_of(3)), 4, 1000)
    250.0
    """
    return float_above(Fraction(as_privacy(privacy).contraction(secrets)) * read_samples(samples))


def _first(enough: Callable[[int], bool]) -> float:
    """The smallest n with enough(n), by doubling and bisection; the one before it is checked not to be enough."""
    if enough(0):
        return 0
    if not enough(_FOREVER):
        return math.inf
    if not enough(_MOST):
        return _MOST
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
