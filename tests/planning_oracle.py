"""Slow and obvious: the risk of the best procedure, by enumerating every sequence of releases, in rationals."""

from fractions import Fraction


def laws(hypotheses, channel_after, samples):
    """For every sequence of releases its probability under each hypothesis; `channel_after(history)` gives rows."""
    found = {(): [Fraction(1)] * len(hypotheses)}
    for _ in range(samples):
        longer = {}
        for history, chances in found.items():
            rows = channel_after(history)
            for outcome in range(len(rows[0])):
                longer[(*history, outcome)] = [
                    chance * sum(p * row[outcome] for p, row in zip(masses, rows, strict=True))
                    for chance, masses in zip(chances, hypotheses, strict=True)
                ]
        found = longer
    return found


def bayes_risk(found, weights, cost):
    """The smallest average loss: for every sequence the best answer. `cost(weights)` is that answer's cost."""
    return sum(
        cost([w * chance for w, chance in zip(weights, chances, strict=True)]) for chances in found.values()
    )


def absolute(parameters):
    """min_a Σ w_j Σ_k |θ_jk − a_k|: a weighted median is one of the values."""
    return lambda weights: sum(
        min(sum(w * abs(t - a) for w, t in zip(weights, side, strict=True)) for a in side)
        for side in zip(*parameters, strict=True)
    )


def squared(parameters):
    def cost(weights):
        total = sum(weights)
        if not total:
            return Fraction(0)
        found = Fraction(0)
        for side in zip(*parameters, strict=True):
            mean = sum(w * t for w, t in zip(weights, side, strict=True)) / total
            found += sum(w * (t - mean) ** 2 for w, t in zip(weights, side, strict=True))
        return found

    return cost


def hamming(parameters):
    return lambda weights: sum(
        min(sum(w for w, t in zip(weights, side, strict=True) if t != a) for a in side)
        for side in zip(*parameters, strict=True)
    )


def zero_one(parameters):
    return lambda weights: sum(weights) - max(weights)


def table(rows):
    return lambda weights: min(
        sum(w * loss for w, loss in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)
    )


COSTS = {"absolute": absolute, "squared": squared, "hamming": hamming, "zero-one": zero_one}
