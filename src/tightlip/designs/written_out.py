"""The program of `interior` written out, row by row, for a general solver: for small programs, where it is sure.

Every bound of every entry is a row, n times as many as `interior` sees. Rounding that ends an interior point early, at
levels that nearly allow the truth or where an optimum is degenerate, leaves the simplex method its digits; and its
optimum is a vertex, in which no output is published with hardly any probability.
"""

from __future__ import annotations

import numpy as np

from tightlip.designs.interior import Optimum, Shape
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray

MOST = 2_000
"""Rows of bounds; a program of more takes the simplex method longer than an interior point."""

_TOLERANCE = 1e-10  # the smallest that HiGHS takes


def size_of(gains: FloatArray, shape: Shape) -> int:
    """Count the rows of bounds that the program has."""
    outputs, secrets = gains.shape
    return int(outputs * (secrets * (len(shape.upper) + len(shape.lower)) + len(shape.positive)))


def solve_written_out(gains: FloatArray, shape: Shape) -> Optimum:
    """Solve the program for gains c, a row for each output, by the simplex method.

    Raises
    ------
    SolverFailure
    """
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    outputs, secrets = gains.shape
    width = shape.functionals.shape[1]
    entries, values = eye_array(secrets, width, format="csr"), csr_array(shape.functionals)
    own, groups = [], []
    for sign, places in ((1.0, shape.upper), (-1.0, shape.lower)):
        for place in places:
            own.append(sign * (entries - csr_array(np.tile(shape.functionals[place], (secrets, 1)))))
            groups += [place] * secrets
    for place in shape.positive:
        own.append(-values[[place]])
        groups.append(place)
    rows = [hstack([entries] * outputs), kron(eye_array(outputs), vstack(own))]
    limits = [np.ones(secrets), np.zeros(outputs * len(groups))]
    if shape.total is not None:
        last = np.zeros((1, width))
        last[0, -1] = 1.0
        rows.append(csr_array(np.tile(last, (1, outputs))))
        limits.append(np.array([shape.total]))
    scale = float(np.abs(gains).max()) or 1.0
    cost = np.zeros((outputs, width))
    cost[:, :secrets] = -gains / scale
    found = minimise(
        cost.ravel(),
        vstack(rows),
        np.concatenate(limits),
        equal=secrets,
        tolerance=_TOLERANCE,
        what="the design",
    )
    ends = np.cumsum([secrets, outputs * len(groups)])
    prices, bounds, total = np.split(-found.duals * scale, ends)
    multipliers = np.zeros((outputs, len(shape.functionals)))
    np.add.at(multipliers.T, groups, np.maximum(bounds, 0.0).reshape(outputs, len(groups)).T)
    columns = np.maximum(found.primal.reshape(outputs, width)[:, :secrets], 0.0)
    return Optimum(columns, prices, float(total[0]) if len(total) else 0.0, multipliers)
