"""Named mechanisms.

- Identity and constant: the two ends of the scale, everything and nothing.
- Randomised response: tell the truth, or name another value at random.
- PML-extremal: the most useful release under a PML budget, in the high-privacy regime.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, PreconditionFailed
from tightlip.model.channel import Channel
from tightlip.model.labels import MOST_COUNTED, Label, Labels, read_label
from tightlip.model.prior import Prior, as_prior
from tightlip.numeric.ball import ball, enclose, exp_bounds
from tightlip.numeric.display import format_down, format_python
from tightlip.numeric.quantity import exact_ratio, level
from tightlip.numeric.rounding import float_below

MOST_SECRETS = 10_000  # of a mechanism with a matrix: its square must fit the memory
_LARGEST = 680.0  # e^−ε/k stays a normal float


def identity(secrets: int | Iterable[Label]) -> Channel:
    """Publish the secret itself.

    >>> identity(2).matrix[0].tolist()
    [Fraction(1, 1), Fraction(0, 1)]
    """
    labels, size = secret_labels(secrets)
    return Channel([[int(row == column) for column in range(size)] for row in range(size)], labels, labels)


def constant(secrets: int | Iterable[Label], outcome: Label = "nothing") -> Channel:
    """Publish the same outcome whatever the secret: no leakage of any kind.

    >>> constant(3)
    Channel(3 secrets [0, 1, 2] → 1 outcomes ["nothing"], exact)
    """
    labels, size = secret_labels(secrets, most=MOST_COUNTED)
    outcome = read_label(outcome, "outcome")
    return Channel(np.ones((size, 1), dtype=int).tolist(), labels, [outcome])


def randomized_response(secrets: int | Iterable[Label], epsilon: float) -> Channel:
    """Build k-ary randomised response: K_xx = e^ε/(e^ε + k − 1), K_xy = 1/(e^ε + k − 1) (PMC paper, Example 3).

    ε-LDP, and ε is the smallest such number; a float channel stays below it by a few roundings, and never above.

    Parameters
    ----------
    secrets : int or labels
        The number of secrets k, or their names (outcomes have the same names).
    epsilon : float
        In nats; `log_of(3)` gives an exact channel.

    >>> from tightlip import log_of
    >>> randomized_response(3, log_of(2)).matrix[0]
    array([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], dtype=object)
    """
    labels, size = secret_labels(secrets)
    epsilon = level(epsilon)
    ratio = exact_ratio(epsilon)
    truth: Any
    other: Any
    if ratio is not None:
        truth, other = ratio / (ratio + size - 1), 1 / (ratio + size - 1)
    else:  # by e^−ε, which cannot overflow
        if epsilon > _LARGEST:
            raise InvalidInput(
                f"epsilon must be at most {_LARGEST:g} for a float channel, got {float(epsilon)!r}; "
                "use mechanism.identity, or an exact level like log_of(10**400)."
            )
        shrink = math.exp(-float(epsilon))
        truth, other = 1 / (1 + (size - 1) * shrink), shrink / (1 + (size - 1) * shrink)
        truth = kept_below(truth, other, epsilon)
    rows = np.full((size, size), other, dtype=object if ratio is not None else np.float64)
    np.fill_diagonal(rows, truth)
    return Channel(rows, labels, labels)


def kept_below(truth: float, other: float, epsilon: float) -> float:
    """Round K_xx down until K_xx/K_xy, as the floats are stored, is at most the float below e^ε."""
    most = min(Fraction(exp_bounds(epsilon)[0]) * Fraction(other), Fraction(truth))
    return max(float_below(most), other)


def binary_randomized_response(epsilon: float, labels: Iterable[Label] = (0, 1)) -> Channel:
    """Build Warner's randomised response on two secrets: truth with probability e^ε/(1 + e^ε).

    >>> from tightlip import log_of
    >>> binary_randomized_response(log_of(3)).matrix[0]
    array([Fraction(3, 4), Fraction(1, 4)], dtype=object)
    """
    names = Labels.read(listed(labels, "labels", "two labels"), "labels")
    if len(names) != 2:
        raise InvalidInput(f"labels must be two, got {names!r}; use randomized_response for more.")
    return randomized_response(names, epsilon)


def secret_labels(secrets: int | Iterable[Label], *, most: int = MOST_SECRETS) -> tuple[Labels | None, int]:
    """Read a count of secrets or their names."""
    labels = Labels.read(secrets, "secrets", most=most)
    return labels if labels.given else None, len(labels)


def pml_extremal(prior: Prior, epsilon: float) -> Channel:
    """Build the PML-extremal mechanism, ε-PML and best for every sub-convex utility.

    K_xy = e^ε p_y for y ≠ x and K_xx = 1 − e^ε (1 − p_x).

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
        f"epsilon must be at most -log(1 - p_min) = {format_down(edge or 1 - rest, 10)} nats "
        f"for p_min = {format_python(1 - rest)}, "
        f"got epsilon={float(epsilon):.10g}, which is {float(epsilon) - edge:.3g} too large; "
        "lower epsilon, or merge the rarest secrets to raise p_min."
    )
