"""GAU, the numerical statements: leakage of intervals, Theorems 2 and 3, Corollary 1, and whom they hold against."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, Value, main, point
from tightlip.noise import (
    AdditiveNoise,
    Gaussian,
    GaussianSecret,
    envelope,
    interval_leakage,
    unbounded_attack,
)

DELTAS = ("0.3", "0.1", "0.01")
RATIOS = {"σ_X = σ_N": 1, "σ_X = 2σ_N": 2, "σ_X = 3σ_N": 3, "σ_X = 4σ_N": 4}
SYMBOLS = (3, 10, 100)
START = 0.5  # a of Lemma 3


def release(ratio: int) -> AdditiveNoise:
    """Gaussian noise with σ_N = 1 on a Gaussian secret."""
    return AdditiveNoise(GaussianSecret(ratio), Gaussian(1))


def intervals() -> Iterator[Value]:
    """Lemma 2, Lemma 1 (i) and the limit of Lemma 3."""
    for low, high, ratio in ((1.0, 3.0, 1), (0.5, 2.0, 2)):
        deviation = math.hypot(ratio, 1)
        inside = 2 * ndtr((high - low) / 2) - 1
        printed = math.log(inside / (ndtr(high / deviation) - ndtr(low / deviation)))
        found = float(interval_leakage(release(ratio), low, high))
        yield Value("Lemma 2", f"ℓ({low:g}, {high:g}), σ_X = {ratio}σ_N", "formula (3)", printed, found)
    edge = math.sqrt(2) * ndtri(0.9)
    for name, ends in (("right", (edge, math.inf)), ("left", (-math.inf, -edge))):
        found = float(interval_leakage(release(1), *ends))
        yield Value("Lemma 1 (i)", f"ℓ of the {name} tail of probability 0.1", "log 1/δ", math.log(10), found)
    beyond = 1 - ndtr(START / math.sqrt(2))
    found = float(interval_leakage(release(1), START, 60.0))
    yield Value("Lemma 3", f"ℓ({START:g}, b), b = 60σ_N", "log 1/P(Y > a)", -math.log(beyond), found)


def theorem_2() -> Iterator[Value]:
    """The envelope for interval cells, and when the condition of Theorem 3 is the one of Theorem 2."""
    for delta in DELTAS:
        found = envelope(release(1), delta, adversary="ordered").upper
        yield Value(
            "Theorem 2",
            f"ε({delta}) for interval cells, σ_X = σ_N",
            "log 2/δ",
            math.log(2 / float(delta)),
            found,
        )
    xs = np.linspace(-20, 20, 4001)
    for variance in (1, 3):
        weights = np.exp(-(xs**2) / (2 * variance))
        found = _posterior_variance(xs, weights, 0.7)
        printed = 1 / (1 / variance + 1)
        yield Value(
            "Corollary 1",
            f"Var[X given Y = 0.7], Gaussian X, σ_X²/σ_N² = {variance}, the bound of (5)",
            "(1/σ_X² + 1/σ_N²)^−1",
            printed,
            found,
        )


def excess() -> Iterator[Row]:
    """By how much the interval envelope is above log 2/δ, along δ."""
    for name, ratio in RATIOS.items():
        for step in range(-12, 0):
            delta = 10 ** (step / 6)
            found = envelope(release(ratio), delta, adversary="ordered").upper
            yield point("interval envelope − log 2/δ", name, delta, found - math.log(2 / delta))


def lemma_3() -> Iterator[Row]:
    """ℓ(a, b) along b, relative to its limit."""
    for name, ratio in RATIOS.items():
        limit = -math.log(1 - ndtr(START / math.hypot(ratio, 1)))
        for step in range(1, 81):
            length = step / 8
            found = float(interval_leakage(release(ratio), START, START + length))
            yield point("ℓ(½, b) − limit", name, START + length, found - limit)


def attacks(quick: bool) -> Iterator[Row]:
    """Measurable functions that leak more than log 2/δ, each proved to."""
    for symbols in SYMBOLS[: 1 if quick else None]:
        found = unbounded_attack(release(1), "0.3", symbols)
        yield point(
            "Theorem 2, h that is not monotone, δ = 0.3", "every outcome leaks", float(symbols), found.lower
        )


def reproduce(quick: bool = False) -> Reproduction:
    """Compute every statement; one attack and no curves where it must be quick."""
    values, found = [*intervals(), *theorem_2()], list(attacks(quick))
    above, along = ([], []) if quick else (list(excess()), list(lemma_3()))
    remarks = [_against_any(found), *([] if quick else [*_rises(along), _log_concave()])]
    return Reproduction(
        "GAU examples",
        "The paper's statements with numbers. For interval cells they hold; for arbitrary measurable "
        "functions, of which Theorems 2, 3 and Corollary 1 speak, the envelope is infinite." + _beyond(above),
        [value.row() for value in values] + found + above + along,
        [] if quick else [_excess_panel(above), _lemma_panel(along)],
        [value.compared() for value in values] + remarks,
        "The paper has letters only. Chosen: σ_N = 1, σ_X = 1 within the condition σ_X² ≤ 3σ_N² and σ_X = "
        "2, 3, 4 beyond it, δ = 0.3, 0.1 and 0.01; by scale only σ_X/σ_N matters. For Corollary 1 a "
        "density proportional to exp(−e^(−2x) − x²/6), which is √3-strongly log-concave and not symmetric.",
    )


def _excess_panel(rows: list[Row]) -> Panel:
    titles = {"x_title": "δ", "y_title": "ε(δ) − log 2/δ, nats"}
    picture = curves(rows, "at", "computed", by="quantity", order=list(RATIOS), log_x=True, **titles)
    return Panel("Interval cells: the envelope above log 2/δ", picture)


def _lemma_panel(rows: list[Row]) -> Panel:
    titles = {"x_title": "b", "y_title": "ℓ(½, b) − log 1/P(Y > ½), nats"}
    picture = curves(rows, "at", "computed", by="quantity", order=list(RATIOS), **titles)
    return Panel("Lemma 3: leakage of (½, b)", picture)


def _beyond(rows: list[Row]) -> str:
    """What is found where σ_X² > 3σ_N², of which the paper says nothing."""
    if not rows:
        return ""
    most = {name: max(row["computed"] for row in rows if row["quantity"] == name) for name in RATIOS}
    parts = [f"{most[name]:.2g} for {name}" for name in list(RATIOS)[1:]]
    return f" Beyond σ_X² = 3σ_N² interval cells reach more, by up to {', '.join(parts)} nats at δ from 0.01 to 0.68."


def _against_any(rows: list[Row]) -> Compared:
    bound = math.log(2 / 0.3)
    return Compared(
        "Theorem 2: ε_d(0.3) for every measurable function, σ_X = σ_N",
        f"log 2/δ = {bound:.4f}",
        "; ".join(f"{row['at']:.0f} outcomes that leak {row['computed']:.4f} or more each" for row in rows),
        max(row["computed"] for row in rows) <= bound,
        "each outcome is a far interval joined with a part of the middle: m of them leak log m/δ, so "
        "ε_d(δ) = ε_c(δ) = ∞; Theorem 3 and Corollary 1 fail in the same way",
    )


def _rises(rows: list[Row]) -> Iterator[Compared]:
    heights = np.array([row["computed"] for row in rows if row["quantity"] == "σ_X = σ_N"])
    rising = bool((np.diff(heights) > 0).all())
    yield Compared(
        "Lemma 3: b ↦ ℓ(½, b) rises strictly where σ_X² ≤ 3σ_N²; σ_X = σ_N, b = ⅝ to 10½",
        "rises to its limit",
        f"{'rises' if rising else 'falls somewhere'}; {-heights[-1]:.1e} nats below the limit at the end",
        rising and -1e-6 < heights[-1] < 0,
    )


def _log_concave() -> Compared:
    """Corollary 1 for interval cells on a grid: the most probability that intervals leaking ε or more have together."""
    xs = np.linspace(-12, 12, 1601)
    weights = np.exp(-np.exp(-2 * xs) - xs**2 / 6)
    weights /= weights.sum()
    variance = max(_posterior_variance(xs, weights, y) for y in np.linspace(-8, 8, 33))
    edges = np.concatenate([[-1e3], np.linspace(-8, 8, 161), [1e3]])
    tails = np.array([float(weights @ ndtr(xs - y)) for y in edges])
    parts, holds = [], variance <= 0.75 + 1e-9
    for delta in (0.05, 0.3, 0.9):
        bound = math.log(2 / delta)
        over, under = (_most(edges, tails, bound + shift) for shift in (1e-9, -0.1))
        holds = holds and over <= delta + 1e-9 and under >= delta
        parts.append(f"δ = {delta:g}: {over:.4f} leak more, {under:.4f} leak 0.1 nats less")
    return Compared(
        "Corollary 1 for interval cells: ε(δ) = log 2/δ, 'for sufficiently small δ'; a skewed secret with "
        "β = √3σ_N",
        "probability of cells that leak log 2/δ or more: at most δ",
        f"Var[X given Y] at most {variance:.4f}; probability of the cells: {'; '.join(parts)}",
        holds,
    )


def _posterior_variance(xs: np.ndarray, weights: np.ndarray, y: float) -> float:
    posterior = weights * np.exp(-((y - xs) ** 2) / 2)
    posterior /= posterior.sum()
    return float(posterior @ (xs - posterior @ xs) ** 2)


def _most(edges: np.ndarray, tails: np.ndarray, epsilon: float) -> float:
    """The most probability of disjoint intervals between edges that leak ε or more, by dynamic programming."""
    length = edges[None, :] - edges[:, None]
    mass = tails[:, None] - tails[None, :]
    inside = 2 * ndtr(np.maximum(length, 0) / 2) - 1
    leaking = (inside >= math.exp(epsilon) * mass) & (length > 0)
    best = np.zeros(len(edges))
    for j in range(1, len(edges)):
        best[j] = max(best[j - 1], np.max(np.where(leaking[:j, j], best[:j] + mass[:j, j], 0.0)))
    return float(best[-1])


if __name__ == "__main__":
    main(reproduce)
