"""The whole program by scipy's linear programming and bisection: slow, and written from the definition alone."""

import numpy as np
from scipy.optimize import linprog


def largest_mass(rows, masses, ratio):
    """V(t): the largest P{ℓ(Z) ≥ log t} over all post-processings."""
    rows, masses = np.asarray(rows, dtype=float), np.asarray(masses, dtype=float)
    rows = rows[masses > 0]
    q = masses[masses > 0] @ rows
    secrets, outcomes = rows.shape
    once = np.tile(np.eye(outcomes), secrets)
    ratios = np.zeros((secrets, secrets * outcomes))
    for secret in range(secrets):
        ratios[secret, secret * outcomes : (secret + 1) * outcomes] = ratio * q - rows[secret]
    found = linprog(
        -np.tile(q, secrets),
        A_ub=np.vstack([once, ratios]),
        b_ub=np.concatenate([np.ones(outcomes), np.zeros(secrets)]),
        method="highs",
    )
    assert found.status == 0
    return -found.fun


def largest_ratio(rows, masses, delta, tolerance=1e-8):
    """e^{ε_c(δ)} by bisection."""
    rows, masses = np.asarray(rows, dtype=float), np.asarray(masses, dtype=float)
    q = masses @ rows
    low, high = 1.0, float((rows[masses > 0][:, q > 0] / q[q > 0]).max()) * (1 + 1e-9)
    while high - low > tolerance * low:
        middle = (low + high) / 2
        low, high = (middle, high) if largest_mass(rows, masses, middle) >= delta - 1e-9 else (low, middle)
    return low
