"""Slow, obvious programs about designs: the linear program as the definitions say it, and all vertices of a cone."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

NAMES = ("mutual_information", "chi_squared", "hellinger", "total_variation")
FUNCTIONS = {
    "mutual_information": lambda u: u * np.log(np.maximum(u, 1e-300)),
    "chi_squared": lambda u: (u - 1) ** 2,
    "hellinger": lambda u: (np.sqrt(u) - 1) ** 2,
    "total_variation": lambda u: np.abs(u - 1) / 2,
}


def rows_of(kind, masses, level, **extra):
    """Write a guarantee as rows A with A·k ≤ 0, every pair of entries by itself."""
    size, t = len(masses), np.exp(level)
    one = np.eye(size)
    if kind == "pml":
        return one - t * masses[None, :]
    if kind == "pmc":
        return masses[None, :] / t - one
    if kind == "ldp":
        return np.array([one[x] - t * one[z] for x in range(size) for z in range(size) if x != z])
    if kind == "min_mass":
        c = extra["c"]
        priors = np.full((size, size), c) + (1 - size * c) * one
        return np.array([one[x] - t * prior for x in range(size) for prior in priors])
    if kind == "priors":
        return np.array([one[x] - t * prior for x in range(size) for prior in extra["priors"]])
    if kind == "secret":
        return extra["given"] - t * masses[None, :]
    raise AssertionError(kind)


def best_gain(masses, gains, rows, total=None):
    """Maximise Σ p g K over channels with rows·k_y ≤ 0, and Σ_y max_x k_xy ≤ total, by one program over everything."""
    size, outputs = gains.shape
    extra = outputs if total is not None else 0
    width = size * outputs + extra
    cost = np.zeros(width)
    cost[: size * outputs] = -(masses[:, None] * gains).T.ravel()
    table, limits = [], []
    for y in range(outputs):
        for row in rows:
            line = np.zeros(width)
            line[y * size : (y + 1) * size] = row
            table.append(line)
            limits.append(0.0)
        if total is not None:
            for x in range(size):
                line = np.zeros(width)
                line[y * size + x], line[size * outputs + y] = 1.0, -1.0
                table.append(line)
                limits.append(0.0)
    if total is not None:
        line = np.zeros(width)
        line[size * outputs :] = 1.0
        table.append(line)
        limits.append(total)
    sums = np.zeros((size, width))
    for x in range(size):
        sums[x, [y * size + x for y in range(outputs)]] = 1.0
    found = linprog(cost, A_ub=np.array(table), b_ub=limits, A_eq=sums, b_eq=np.ones(size), method="highs")
    assert found.status == 0
    return -found.fun


def vertices(masses, rows):
    """List the extreme columns of {k ≥ 0: rows·k ≤ 0}, scaled to p·k = 1, by trying every set of tight bounds."""
    size = len(masses)
    bounds = np.concatenate([rows, -np.eye(size)])
    found = []
    for chosen in combinations(range(len(bounds)), size - 1):
        system = np.concatenate([bounds[list(chosen)], masses[None, :]])
        if abs(np.linalg.det(system)) < 1e-12:
            continue
        column = np.linalg.solve(system, np.append(np.zeros(size - 1), 1.0))
        if (bounds @ column <= 1e-9).all() and not any(np.allclose(column, other) for other in found):
            found.append(column)
    return np.array(found)


def best_mixture(masses, worths, columns):
    """Maximise Σ λ_i worth_i over mixtures Σ λ_i k_i = 1 of columns."""
    found = linprog(-np.asarray(worths), A_eq=columns.T, b_eq=np.ones(columns.shape[1]), method="highs")
    assert found.status == 0
    return -found.fun


def counts(secrets, seed, total=1000):
    """Draw a prior of whole counts."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(secrets))
    own = [int(mass * total) + 1 for mass in drawn]
    return tuple(Fraction(count, sum(own)) for count in own)


def worths_of(columns, masses, name):
    """Evaluate q_y Σ_x p_x f(k_xy / q_y) of each column as it stands."""
    columns, p = np.array(columns, dtype=float), np.array(masses, dtype=float)
    q = columns @ p
    return q * (FUNCTIONS[name](columns / q[:, None]) @ p)


def most_information(columns, masses, name, total=None):
    """Solve the linear program over given columns; with a total, largest entries sum to at most that."""
    columns = np.array(columns, dtype=float)
    worths = worths_of(columns, masses, name)
    peaks = {} if total is None else {"A_ub": columns.max(axis=1)[None, :], "b_ub": [total]}
    found = linprog(-worths, A_eq=columns.T, b_eq=np.ones(len(masses)), method="highs", **peaks)
    return -found.fun
