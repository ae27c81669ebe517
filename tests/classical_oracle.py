"""Slow and obvious: the classical measures of a matrix of counts (secrets × cells), in rationals, by definition."""

from collections import Counter
from fractions import Fraction


def columns(counts):
    return [list(column) for column in zip(*counts, strict=True)]


def prior(counts):
    total = sum(map(sum, counts))
    return [Fraction(sum(row), total) for row in counts]


def posteriors(counts):
    return [[Fraction(c, sum(column)) for c in column] for column in columns(counts)]


def alpha(counts):
    return max(max(q) for q in posteriors(counts))


def distinct_l(counts):
    return min(sum(c > 0 for c in column) for column in columns(counts))


def is_entropy_diverse(counts, level):
    """Whether H(q) ≥ log level in every cell: level^n Π c^c ≤ n^n."""
    for column in columns(counts):
        product = 1
        for c in column:
            product *= c**c if c else 1
        if Fraction(level) ** sum(column) * product > sum(column) ** sum(column):
            return False
    return True


def is_recursive_diverse(counts, c, level):
    """Whether r_1 < c (r_l + … + r_m) in every cell."""
    sorted_down = [sorted((one for one in column if one), reverse=True) for column in columns(counts)]
    return all(r[0] < c * sum(r[level - 1 :]) for r in sorted_down)


def equal_distance(counts):
    p = prior(counts)
    return max(sum(abs(q - p) for q, p in zip(own, p, strict=True)) / 2 for own in posteriors(counts))


def ordered_distance(counts, order):
    p, m = prior(counts), len(counts)
    found = []
    for q in posteriors(counts):
        far = Fraction(0)
        for i in range(m):
            far += abs(sum(q[x] - p[x] for x in order[: i + 1]))
        found.append(far / (m - 1) if m > 1 else Fraction(0))
    return max(found)


def gains(counts):
    """(secret, (q − p) / p) wherever q > p."""
    p = prior(counts)
    return [(x, (q[x] - p[x]) / p[x]) for q in posteriors(counts) for x in range(len(p)) if q[x] > p[x]]


def lifts(counts):
    p = prior(counts)
    return [q[x] / p[x] for q in posteriors(counts) for x in range(len(p))]


def sizes(counts):
    return [sum(column) for column in columns(counts)]


def people_of(counts):
    """(secret, posterior, prior, e^PML of the cell) of every single person."""
    p = prior(counts)
    for q, column in zip(posteriors(counts), columns(counts), strict=True):
        factor = max(one / of for one, of in zip(q, p, strict=True))
        for x, c in enumerate(column):
            yield from [(x, q[x], p[x], factor)] * c


def binned(values, edges, *, closed):
    """How many values lie between edges; an edge belongs to the bin below it ("right") or above it ("left")."""
    if closed == "right":
        found = Counter(sum(value > edge for edge in edges) for value in values)
    else:
        found = Counter(sum(value >= edge for edge in edges) for value in values)
    return tuple(found[at] for at in range(len(edges) + 1))
