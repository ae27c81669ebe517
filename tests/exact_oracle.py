"""Slow and obvious: every measure from its definition, in rationals, from plain nested lists.

A float counts as the rational it stores. Results are ratios (e^ε) or probabilities; None is infinite.
"""

from fractions import Fraction
from itertools import product

from flint import arb, ctx, fmpq


def fractions(values):
    return [Fraction(value) for value in values]


def rows_of(channel):
    matrix = channel.matrix.toarray() if channel.is_sparse else channel.matrix
    return [fractions(row) for row in matrix.tolist()]


def masses_of(prior):
    return fractions(prior.masses.tolist())


def marginal(rows, masses):
    return [sum(p * row[y] for p, row in zip(masses, rows, strict=True)) for y in range(len(rows[0]))]


def supported(rows, masses):
    pairs = [(row, p) for row, p in zip(rows, masses, strict=True) if p > 0]
    return [row for row, _ in pairs], [p for _, p in pairs]


def pml(rows, masses):
    rows, masses = supported(rows, masses)
    q = marginal(rows, masses)
    return [max(row[y] for row in rows) / q[y] for y in range(len(q)) if q[y] > 0]


def pmc(rows, masses):
    rows, masses = supported(rows, masses)
    q = marginal(rows, masses)
    pits = [min(row[y] for row in rows) for y in range(len(q))]
    return [q[y] / pits[y] if pits[y] else None for y in range(len(q)) if q[y] > 0]


def ldp(rows):
    worst = Fraction(1)
    for one, two in product(rows, rows):
        for a, b in zip(one, two, strict=True):
            if a > 0 and b == 0:
                return None
            if a > 0:
                worst = max(worst, a / b)
    return worst


def maximal_leakage(rows):
    return sum(max(column) for column in zip(*rows, strict=True))


def maximal_cost_leakage(rows):
    total = sum(min(column) for column in zip(*rows, strict=True))
    return 1 / total if total else None


def psi1(rows, masses, growth):
    rows, masses = supported(rows, masses)
    q = [mass for mass in marginal(rows, masses) if mass]
    return sum(
        max(Fraction(0), mass * (1 - growth / lift)) for mass, lift in zip(q, pml(rows, masses), strict=True)
    )


def psi2(rows, masses, growth):
    rows, masses = supported(rows, masses)
    q = marginal(rows, masses)
    return max(sum(max(Fraction(0), a - growth * b) for a, b in zip(row, q, strict=True)) for row in rows)


def profile(rows, growth):
    return max(
        sum(max(Fraction(0), a - growth * b) for a, b in zip(one, two, strict=True))
        for one in rows
        for two in rows
    )


def dp_tail(rows, growth):
    return max(
        sum((a for a, b in zip(one, two, strict=True) if a > growth * b), Fraction(0))
        for one in rows
        for two in rows
    )


def event(rows, masses, weights):
    rows, masses = supported(rows, masses)
    scores = [sum(w * k for w, k in zip(weights, row, strict=True)) for row in rows]
    return max(scores) / sum(p * s for p, s in zip(masses, scores, strict=True))


def at_least_log(value, ratio):
    """Whether the float `value` is at least log(ratio), decided in ball arithmetic."""
    if ratio is None:
        return value == float("inf")
    return _sign(value, ratio) >= 0


def at_most_log(value, ratio):
    """Whether the float `value` is at most log(ratio)."""
    if ratio is None:
        return True
    if value == float("-inf"):
        return True
    return ratio > 0 and _sign(value, ratio) <= 0


def _sign(value, ratio):
    if value == float("inf"):
        return 1
    if ratio == 1:
        return (value > 0) - (value < 0)
    for bits in (128, 512, 4096):
        with ctx.workprec(bits):
            difference = arb(value) - arb(fmpq(ratio.numerator, ratio.denominator)).log()
            if difference > 0:
                return 1
            if difference < 0:
                return -1
    raise AssertionError("undecided")


def log(ratio):
    """log of a rational as a float, to nearest."""
    if ratio is None:
        return float("inf")
    with ctx.workprec(256):
        return float(arb(fmpq(ratio.numerator, ratio.denominator)).log())
