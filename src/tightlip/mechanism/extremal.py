"""PML-extremal mechanisms: the most useful release under a PML budget, in the high-privacy regime."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.errors import PreconditionFailed
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.ball import ball, enclose
from tightlip.numeric.quantity import exact_ratio, level


def pml_extremal(prior: Prior, epsilon: float) -> Channel:
    """K_xy = e^ε p_y for y ≠ x and K_xx = 1 − e^ε (1 − p_x): ε-PML, best for every sub-convex utility.

    Valid for ε ≤ −log(1 − p_min), where no entry is negative (PMC paper, Example 4); at that edge the
    rarest secret's own entry is 0. The outcome has the prior's distribution. With floats the stored
    entries are rounded, so measure the channel: its PML is ε up to rounding.

    Raises
    ------
    PreconditionFailed
        Outside that regime, saying by how much.

    >>> from tightlip import log_of, Prior, pml
    >>> prior = Prior(["1/2", "3/10", "1/5"])
    >>> pml(pml_extremal(prior, log_of("6/5")), prior).worst.ratio
    Fraction(6, 5)
    """
    prior = as_prior(prior).restricted()
    epsilon = level(epsilon)
    ratio = exact_ratio(epsilon)
    if len(prior) == 1:
        return Channel([[1]], prior.labels, prior.labels)
    _require_high_privacy(prior, epsilon, ratio)
    exact = ratio is not None and prior.is_exact
    masses: Any = prior.masses if exact else prior.floats
    growth: Any = ratio if exact else math.exp(float(epsilon))
    excess: Any = growth - 1 if exact else math.expm1(float(epsilon))
    rows = np.tile(growth * masses, (len(prior), 1))
    diagonal = growth * masses - excess  # = 1 − e^ε (1 − p), without its cancellation
    np.fill_diagonal(rows, diagonal if exact else np.maximum(diagonal, 0.0))
    return Channel(rows, prior.labels, prior.labels)


def _require_high_privacy(prior: Prior, epsilon: float, ratio: Fraction | None) -> None:
    rest = 1 - Fraction(prior.min_mass)
    if ratio is not None:
        fits = ratio * rest <= 1
    else:
        fits = enclose(lambda: ball(float(epsilon)).exp() * ball(rest) - 1)[0] <= 2.0**-50
    if fits:
        return
    edge = enclose(lambda: -ball(rest).log())[0]
    raise PreconditionFailed(
        f"epsilon must be at most -log(1 - p_min) = {edge:.10g} nats for p_min = {float(prior.min_mass):.6g}, "
        f"got epsilon={float(epsilon):.10g}, which is {float(epsilon) - edge:.3g} too large; "
        "lower epsilon, or merge the rarest secrets to raise p_min."
    )
