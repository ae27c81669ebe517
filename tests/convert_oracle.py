"""Slow, obvious, exact: measures of a channel and the worst case over channels, in rationals.

Everything is a ratio (e^leakage); None stands for infinite.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

Matrix = list[list[Fraction]]
Ratio = Fraction | None

unhurried = settings(deadline=None)  # a busy machine is no counterexample


def lifts(channel: Matrix, prior: list[Fraction]) -> list[list[Fraction]]:
    """K_xy/q_y, one list per outcome of positive probability."""
    found = []
    for y in range(len(channel[0])):
        q = sum(p * row[y] for p, row in zip(prior, channel, strict=True))
        if q:
            found.append([row[y] / q for row in channel])
    return found


def inverse(value: Fraction) -> Ratio:
    return 1 / value if value else None


def worst(values: list[Ratio]) -> Ratio:
    return None if None in values else max(v for v in values if v is not None)


def pml(columns: list[list[Fraction]]) -> Fraction:
    return max(max(column) for column in columns)


def pmc(columns: list[list[Fraction]]) -> Ratio:
    return worst([inverse(min(column)) for column in columns])


def ldp(columns: list[list[Fraction]]) -> Ratio:
    return worst([max(column) / min(column) if min(column) else None for column in columns])


def measures(channel: Matrix, prior: list[Fraction]) -> dict[str, Ratio]:
    columns = lifts(channel, prior)
    lower, upper = pmc(columns), pml(columns)
    return {"pml": upper, "pmc": lower, "lip": worst([lower, upper]), "ldp": ldp(columns)}


def boxed_lifts(low: Fraction, high: Ratio, prior: list[Fraction]) -> Iterator[list[Fraction]]:
    """The vertices of {s : low ≤ s ≤ high, Σ p s = 1}: all but one entry at a bound.

    Convex and quasi-convex functions (max, 1/min, max/min) are largest at one of them.
    """
    top = 1 / min(prior) if high is None else high
    for free in range(len(prior)):
        others = [x for x in range(len(prior)) if x != free]
        for ends in itertools.product((low, top), repeat=len(others)):
            rest = sum(prior[x] * end for x, end in zip(others, ends, strict=True))
            value = (1 - rest) / prior[free]
            if low <= value <= top:
                yield [value if x == free else ends[others.index(x)] for x in range(len(prior))]


def ratio_lifts(t: Fraction, prior: list[Fraction]) -> Iterator[list[Fraction]]:
    """The extreme lifts under LDP(log t): each secret at 1 or t, scaled to average 1."""
    for ends in itertools.product((Fraction(1), t), repeat=len(prior)):
        scale = sum(p * end for p, end in zip(prior, ends, strict=True))
        yield [end / scale for end in ends]


def two_outcomes(column: list[Fraction], weight: Fraction) -> Matrix:
    """The channel whose first outcome has probability `weight` and these lifts."""
    return [[weight * lift, 1 - weight * lift] for lift in column]


def extremal(prior: list[Fraction], t: Fraction) -> Matrix:
    """The PML-extremal mechanism."""
    n = range(len(prior))
    return [[1 - t * (1 - prior[x]) if x == y else t * prior[y] for y in n] for x in n]


@st.composite
def priors(draw: st.DrawFn, min_size: int = 2, max_size: int = 4) -> list[Fraction]:
    counts = draw(st.lists(st.integers(1, 12), min_size=min_size, max_size=max_size))
    return [Fraction(count, sum(counts)) for count in counts]


@st.composite
def channels(draw: st.DrawFn, secrets: int) -> Matrix:
    """Rows of random counts; mixed with a constant row, so that private channels are common."""
    outcomes = draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 9), min_size=outcomes, max_size=outcomes).filter(any)
    noise = Fraction(draw(st.sampled_from([0, 1, 5, 20, 100])))
    common = draw(st.lists(st.integers(1, 5), min_size=outcomes, max_size=outcomes))
    matrix = []
    for _ in range(secrets):
        entries = [entry + noise * share for entry, share in zip(draw(row), common, strict=True)]
        matrix.append([entry / sum(entries) for entry in entries])
    return matrix


@st.composite
def cases(draw: st.DrawFn) -> tuple[Matrix, list[Fraction]]:
    prior = draw(priors())
    return draw(channels(len(prior))), prior


def ratios() -> st.SearchStrategy[Fraction]:
    """e^ε for levels from 0 to beyond every threshold."""
    return st.fractions(min_value=1, max_value=12, max_denominator=40)
