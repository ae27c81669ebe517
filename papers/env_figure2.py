"""ENV Figure 2: bounds on the envelope of k-ary randomised response, and the envelope itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip import Prior
from tightlip.envelopes import randomized_response
from tightlip.envelopes.binary import binary_envelope
from tightlip.mechanism import randomized_response as response
from tightlip.papers import theorem5_bound

EPSILON = 1.0
POINTS = 49  # δ = 1/50, …, 49/50
CURVES = ["envelope", "h (lower)", "binary", "log kα/δ (upper)", "log α/q₁ (upper)", "(ε, δ)-DP"]


def four_levels(k: int, rho: Fraction) -> list[Fraction]:
    """The prior with four levels: 1 − 3ρ, 1 − ρ, 1 + ρ and 1 + 3ρ times the uniform mass."""
    levels = [1 - 3 * rho, 1 - rho, 1 + rho, 1 + 3 * rho]
    return [levels[4 * i // k] / k for i in range(k)]


PRIORS = {
    "(a) k = 3": [Fraction(n, 10) for n in (2, 3, 5)],
    "(b) k = 5": [Fraction(n, 10) for n in (1, 2, 2, 2, 3)],
    "(c) k = 12": four_levels(12, Fraction(1, 10)),
    "(d) k = 20": four_levels(20, Fraction(1, 10)),
}


def panel(name: str, masses: list[Fraction]) -> Iterator[Row]:
    """Every curve of one panel."""
    prior, k = Prior(masses), len(masses)
    alpha = math.exp(EPSILON) / (math.exp(EPSILON) + k - 1)
    beta = alpha / math.exp(EPSILON)
    first = beta + (alpha - beta) * float(min(masses))
    channel = response(k, EPSILON)
    for step in range(1, POINTS + 1):
        delta = Fraction(step, POINTS + 1)
        values = [
            randomized_response(prior, EPSILON, delta).upper,
            theorem5_bound(prior, EPSILON, delta),
            binary_envelope(channel, prior, delta).lower,
            math.log(k * alpha / delta),
            math.log(alpha / first),
            max(math.log((alpha - float(delta)) / beta), 0.0) if float(delta) < alpha else 0.0,
        ]
        for curve, value in zip(CURVES, values, strict=True):
            yield {"panel": name, "curve": curve, "delta": float(delta), "nats": float(value)}


def reproduce(quick: bool = False) -> Reproduction:
    """Compute all four panels, and the paper's remarks on them; the first panel alone where it must be quick."""
    names = list(PRIORS)[: 1 if quick else None]
    rows = [row for name in names for row in panel(name, PRIORS[name])]
    panels = []
    for name in names:
        own = [row for row in rows if row["panel"] == name]
        panels.append(
            Panel(name, curves(own, "delta", "nats", order=CURVES, x_title="δ", y_title="leakage, nats"))
        )
    return Reproduction(
        "ENV Figure 2",
        "Randomised response with ε_r = 1: the paper's bounds of Theorem 5, the binary envelope, (ε, δ)-DP, "
        "and the "
        "exact envelope, which the paper does not have.",
        rows,
        panels,
        list(_remarks(rows, names)),
        "The paper draws continuous curves; here δ runs over 1/50 to 49/50. The DP curve is 0 from δ = α on.",
    )


def _remarks(rows: list[Row], names: list[str]) -> Iterator[Compared]:
    value = {(row["panel"], row["curve"], round(50 * row["delta"])): row["nats"] for row in rows}
    steps = range(1, POINTS + 1)
    for name in names:
        gap = max(value[name, "envelope", i] - value[name, "h (lower)", i] for i in steps)
        yield Compared(
            f"{name}: h is the envelope (a conjecture, after Theorem 5)",
            "equal under the theorem's condition on the prior",
            f"largest difference {gap:.1e} nats",
            gap < 1e-9,
        )
        crossing = _crossing(value, name, steps)
        yield Compared(
            f"{name}: for small δ log α/q₁ is the tighter upper bound, then log kα/δ",
            "log α/q₁ first",
            f"log kα/δ is smaller from δ = {crossing / 50:.2f} on",
            value[name, "log α/q₁ (upper)", 1] < value[name, "log kα/δ (upper)", 1] and crossing <= POINTS,
        )
    gaps = []
    for name in names:
        gaps.append(
            max(
                min(value[name, "log kα/δ (upper)", i], value[name, "log α/q₁ (upper)", i])
                - value[name, "h (lower)", i]
                for i in steps
            )
        )
    yield Compared(
        "the gap between the bounds of Theorem 5 shrinks as k grows",
        "shrinks",
        "largest gap, nats: "
        + ", ".join(f"{name[4:]}: {gap:.3f}" for name, gap in zip(names, gaps, strict=True)),
        gaps == sorted(gaps, reverse=True),
    )


def _crossing(value: dict[tuple[str, str, int], float], name: str, steps: range) -> int:
    """The first δ, in fiftieths, at which log kα/δ is the smaller upper bound."""
    below = (i for i in steps if value[name, "log kα/δ (upper)", i] < value[name, "log α/q₁ (upper)", i])
    return next(below, POINTS + 1)


if __name__ == "__main__":
    main(reproduce)
