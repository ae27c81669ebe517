"""Slow and obvious: releases about one secret, their joint likelihoods and leakages, in rationals.

A world has a prior of the secret, a record given the secret, and releases: a "secret" one is a matrix over secrets, a
"record" one over records, and a "shared" one over pairs of record and coin; the coin is common to all shared ones.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product


@dataclass
class World:
    prior: list
    records: list  # P(x|s)
    coin: list = field(default_factory=lambda: [Fraction(1)])
    releases: list = field(default_factory=list)  # (how, matrix)

    def likelihoods(self, chosen=None):
        """For every joint outcome of the chosen releases, the vector of P(outcome | s)."""
        releases = self.releases if chosen is None else [self.releases[i] for i in chosen]
        return {
            outcome: [self._likelihood(s, releases, outcome) for s in range(len(self.prior))]
            for outcome in product(*(range(len(matrix[0])) for _, matrix in releases))
        }

    def _likelihood(self, s, releases, outcome):
        total = Fraction(0)
        for x, weight in enumerate(self.records[s]):
            for c, chance in enumerate(self.coin):
                likely = weight * chance
                for (how, matrix), y in zip(releases, outcome, strict=True):
                    row = {"secret": s, "record": x, "shared": x * len(self.coin) + c}[how]
                    likely *= matrix[row][y]
                total += likely
        return total


def mean(vector, prior):
    return sum(p * a for p, a in zip(prior, vector, strict=True))


def worst(vectors, prior):
    """(e^PML, e^PMC, e^LDP, e^ℒ) over the outcomes that occur; None is infinite."""
    vectors = [vector for vector in vectors if any(vector)]
    low = [min(vector) for vector in vectors]
    return (
        max(max(vector) / mean(vector, prior) for vector in vectors),
        None
        if not all(low)
        else max(mean(vector, prior) / least for vector, least in zip(vectors, low, strict=True)),
        None
        if not all(low)
        else max(max(vector) / least for vector, least in zip(vectors, low, strict=True)),
        sum(max(vector) for vector in vectors),
    )
