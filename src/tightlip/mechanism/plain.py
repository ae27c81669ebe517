"""The two ends of the scale: everything and nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tightlip.mechanism.response import secret_labels
from tightlip.model.channel import Channel
from tightlip.model.labels import MOST_COUNTED, Label, read_label


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
