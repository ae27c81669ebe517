"""Slow and obvious: histogram mechanisms as explicit channels on small spaces, in rationals.

A histogram is a tuple of counts; the secret is the count of its first cell. A channel is a mapping
histogram → {released histogram: probability}. Leakages are ratios (e^Π).
"""

from fractions import Fraction
from itertools import combinations, pairwise
from math import lcm

import numpy as np


def histograms(total, cells):
    """All compositions of `total` into `cells` parts, by stars and bars."""
    for bars in combinations(range(total + cells - 1), cells - 1):
        edges = (-1, *bars, total + cells - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def variation(one, two):
    """Total variation distance of two histograms with the same total."""
    return Fraction(sum(abs(a - b) for a, b in zip(one, two, strict=True)), 2 * sum(one))


def distortion(channel):
    """The worst-case expected total variation distance."""
    return max(sum(p * variation(theta, out) for out, p in row.items()) for theta, row in channel.items())


def uniform(points):
    points = list(points)
    return {point: Fraction(1, len(points)) for point in points}


def leakage(channel, secret=lambda theta: theta[0]):
    """e^Π: the largest Σ_out max_g K(out|θ_g) over all selections of one θ per secret."""
    outputs = sorted({out for row in channel.values() for out in row})
    scale = lcm(*(p.denominator for row in channel.values() for p in row.values()))
    groups = {}
    for theta, row in channel.items():
        entries = tuple(int(row.get(out, 0) * scale) for out in outputs)
        groups.setdefault(secret(theta), set()).add(entries)
    kind = np.int64 if scale < 2**50 else object
    best = np.zeros((1, len(outputs)), dtype=kind)
    for rows in groups.values():
        choices = np.array(sorted(rows), dtype=kind)
        best = np.maximum(best[:, None, :], choices[None, :, :]).reshape(-1, len(outputs))
        best = np.unique(best, axis=0) if kind is np.int64 else best
    return Fraction(int(best.sum(axis=1).max()), scale)


def randomized_response(total, cells, growth):
    """K(θ'|θ) ∝ e^ε for θ' = θ and 1 otherwise."""
    space = list(histograms(total, cells))
    weight = 1 / (len(space) + Fraction(growth) - 1)
    return {theta: {out: weight * (growth if out == theta else 1) for out in space} for theta in space}


def representative(total, bin_size, bin_index):
    """The paper's R(k) = ⌊(k + ½)I⌋ + 1, clamped to s, as a count (its index less 1)."""
    return min(int((Fraction(bin_index) + Fraction(1, 2)) * bin_size) + 1, total + 1) - 1


def quantization(total, cells, bin_size):
    """Uniform on histograms whose secret is the middle of the bin; the only one where there is one cell."""
    space = list(histograms(total, cells))
    if cells == 1:
        return {theta: {theta: Fraction(1)} for theta in space}
    return {
        theta: uniform(
            out for out in space if out[0] == representative(total, bin_size, theta[0] // bin_size)
        )
        for theta in space
    }


def quantization_by_membership(total, cells, bin_size):
    """Uniform on histograms whose secret is in the bin."""
    space = list(histograms(total, cells))
    if cells == 1:
        return {theta: {theta: Fraction(1)} for theta in space}
    return {
        theta: uniform(out for out in space if out[0] // bin_size == theta[0] // bin_size) for theta in space
    }


def nearest_point(total, cells, points):
    """Each histogram is released as the nearest of `points`, the first of equals."""
    return {
        theta: {min(points, key=lambda point: variation(theta, point)): Fraction(1)}
        for theta in histograms(total, cells)
    }


# Mis-specified supports. Cells in order: the known feasible ones (the secret's first), the missing
# ones, the spurious ones. A table is on the known and the missing; a release on the known, the
# spurious and those missing cells that the table has.


def feasible(total, known, spurious, missing):
    for theta in histograms(total, known + missing):
        yield (*theta, *(0,) * spurious)


def releasable(theta, known, missing, outputs):
    absent = [cell for cell in range(known, known + missing) if theta[cell] == 0]
    return [out for out in outputs if not any(out[cell] for cell in absent)]


def misspecified_response(total, growth, known, spurious, missing):
    outputs = list(histograms(total, known + missing + spurious))
    channel = {}
    for theta in feasible(total, known, spurious, missing):
        allowed = releasable(theta, known, missing, outputs)
        weight = 1 / (len(allowed) + Fraction(growth) - 1)
        channel[theta] = {out: weight * (growth if out == theta else 1) for out in allowed}
    return channel


def misspecified_quantization(total, bin_size, known, spurious, missing):
    outputs = list(histograms(total, known + missing + spurious))
    channel = {}
    for theta in feasible(total, known, spurious, missing):
        middle = representative(total, bin_size, theta[0] // bin_size)
        allowed = [out for out in releasable(theta, known, missing, outputs) if out[0] == middle]
        channel[theta] = uniform(allowed)
    return channel
