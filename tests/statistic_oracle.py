"""Statistic leakages from their definitions: every selection of one row for each secret, in rationals."""

from fractions import Fraction
from itertools import combinations, product


def groups(secret):
    found = {}
    for row, label in enumerate(secret):
        found.setdefault(label, []).append(row)
    return list(found.values())


def selections(secret):
    return product(*groups(secret))


def largest_total(rows, secret):
    """e^Π: the largest Σ_y max_g over selections."""
    return max(
        sum(max(rows[r][y] for r in chosen) for y in range(len(rows[0]))) for chosen in selections(secret)
    )


def smallest_total(rows, secret):
    """e^{−Π_inf}: the smallest Σ_y min_g over selections."""
    return min(
        sum(min(rows[r][y] for r in chosen) for y in range(len(rows[0]))) for chosen in selections(secret)
    )


def ldp(rows, secret):
    """e^{L_DP}, None where infinite."""
    worst = Fraction(1)
    for one, two in product(range(len(rows)), repeat=2):
        if secret[one] != secret[two]:
            for a, b in zip(rows[one], rows[two], strict=True):
                if a > 0 and b == 0:
                    return None
                worst = max(worst, a / b) if a > 0 else worst
    return worst


def outcome(rows, secret):
    """e^Π̃: every output, every set of secrets with a uniform prior, every row for each."""
    worst = Fraction(1)
    for y in range(len(rows[0])):
        likelihoods = [[rows[r][y] for r in members] for members in groups(secret)]
        for count in range(1, len(likelihoods) + 1):
            for chosen in combinations(likelihoods, count):
                for values in product(*chosen):
                    if any(values):
                        worst = max(worst, count * max(values) / sum(values))
    return worst
