"""Randomised response: tell the truth, or name another value at random."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tightlip.arguments import listed
from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels
from tightlip.numeric.quantity import exact_ratio, level

MOST_SECRETS = 10_000  # of a mechanism with a matrix: its square must fit the memory
_LARGEST = 680.0  # e^−ε/k stays a normal float


def randomized_response(secrets: int | Iterable[Label], epsilon: float) -> Channel:
    """k-ary randomised response: K_xx = e^ε/(e^ε + k − 1), K_xy = 1/(e^ε + k − 1) (PMC paper, Example 3).

    ε-LDP, and ε is the smallest such number.

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
    rows = np.full((size, size), other, dtype=object if ratio is not None else np.float64)
    np.fill_diagonal(rows, truth)
    return Channel(rows, labels, labels)


def binary_randomized_response(epsilon: float, labels: Iterable[Label] = (0, 1)) -> Channel:
    """Warner's randomised response on two secrets: truth with probability e^ε/(1 + e^ε).

    >>> from tightlip import log_of
    >>> binary_randomized_response(log_of(3)).matrix[0]
    array([Fraction(3, 4), Fraction(1, 4)], dtype=object)
    """
    names = Labels.counted(listed(labels, "labels", "two labels"), "labels")
    if len(names) != 2:
        raise InvalidInput(f"labels must be two, got {names!r}; use randomized_response for more.")
    return randomized_response(names, epsilon)


def secret_labels(secrets: int | Iterable[Label], *, most: int = MOST_SECRETS) -> tuple[Labels | None, int]:
    """Read a count of secrets or their names."""
    labels = Labels.counted(secrets, "secrets", most=most)
    return labels if labels.given else None, len(labels)
