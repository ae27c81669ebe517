"""Slow and obvious: an audit's numbers from a plain list of rows, in rationals, by definition."""

from collections import Counter
from fractions import Fraction
from itertools import product
from types import SimpleNamespace


def counts_of(rows, secrets=1):
    """Rows are tuples, secret columns first; the counts as an engine hands them over."""
    tally = Counter((row[:secrets], row[secrets:]) for row in rows)
    names = sorted({secret for secret, _ in tally}, key=str)
    cells = sorted({cell for _, cell in tally}, key=str)
    triples = sorted(
        (cells.index(cell), names.index(secret), count) for (secret, cell), count in tally.items()
    )
    return SimpleNamespace(
        secrets=names,
        cells=cells,
        secret_of=[secret for _, secret, _ in triples],
        cell_of=[cell for cell, _, _ in triples],
        count=[count for _, _, count in triples],
        total=len(rows),
    )


def joint_of(rows, secrets=1):
    """{(secret, cell): probability}."""
    tally = Counter((row[:secrets], row[secrets:]) for row in rows)
    return {pair: Fraction(count, len(rows)) for pair, count in tally.items()}


def margins(joint):
    prior, cell = Counter(), Counter()
    for (x, y), mass in joint.items():
        prior[x] += mass
        cell[y] += mass
    return prior, cell


def lifts(joint):
    """{cell: e^PML}."""
    prior, cell = margins(joint)
    return {y: max(joint.get((x, y), 0) / (prior[x] * cell[y]) for x in prior) for y in cell}


def costs(joint):
    """{cell: e^PMC}, None where infinite."""
    prior, cell = margins(joint)
    found = {}
    for y in cell:
        least = min(joint.get((x, y), 0) / (prior[x] * cell[y]) for x in prior)
        found[y] = 1 / least if least else None
    return found


def maximal_leakage(joint):
    prior, cell = margins(joint)
    return sum(max(joint.get((x, y), 0) / prior[x] for x in prior) for y in cell)


def tail(joint, ratio):
    _, cell = margins(joint)
    return sum((cell[y] for y, lift in lifts(joint).items() if lift > ratio), Fraction(0))


def keep_columns(joint, places):
    found = Counter()
    for (x, y), mass in joint.items():
        found[x, tuple(y[place] for place in places)] += mass
    return dict(found)


def suppress(joint, rows, min_count):
    _, cell = margins(joint)
    found = Counter()
    for (x, y), mass in joint.items():
        found[x, None if cell[y] * rows < min_count else y] += mass
    return dict(found)


def randomise(joint, place, values, odds):
    """Randomised response on one released column; the suppressed cell (None) is left alone."""
    found = Counter()
    for (x, y), mass in joint.items():
        if y is None:
            found[x, y] += mass
            continue
        for value in values:
            weight = (odds if value == y[place] else 1) / Fraction(odds + len(values) - 1)
            found[x, (*y[:place], value, *y[place + 1 :])] += mass * weight
    return {pair: mass for pair, mass in found.items() if mass}


def every_row(*columns):
    return list(product(*columns))
