"""GAU Figure 1: the points a_1, b_1, a_δ and b_δ of the proof of Lemma 1 (iii)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair
import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from papers.charts import sized
from papers.reproduction import Compared, Panel, Reproduction, Row, main

NOISE = 1.0  # σ_N
A, B, DELTA = -6.0, 6.0, 0.1
POINTS = 200
LABELS = ("a", "b_δ", "a_1", "b_1", "a_δ", "b")


@dataclass(frozen=True)
class Mixture:
    """The law of Y: weights, means and standard deviations of its Gaussian parts, the noise included."""

    name: str
    parts: tuple[tuple[float, float, float], ...]

    def cdf(self, y: Any) -> Any:
        """F_Y."""
        return sum(weight * ndtr((y - mean) / deviation) for weight, mean, deviation in self.parts)

    def density(self, y: Any) -> Any:
        """f_Y."""
        return sum(
            weight * np.exp(-(((y - mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
            for weight, mean, deviation in self.parts
        )

    def mode(self) -> float:
        """The highest point of f_Y."""
        grid = np.linspace(A, B, 20001)
        return float(grid[np.argmax(self.density(grid))])


def noisy(name: str, *parts: tuple[float, float, float]) -> Mixture:
    """Add the noise to a mixture of Gaussian secrets."""
    return Mixture(name, tuple((weight, mean, math.hypot(sigma, NOISE)) for weight, mean, sigma in parts))


LAWS = (
    noisy("(a) X from ⅘N(−½, 0.3²) + ⅕N(2, 1.5²)", (0.8, -0.5, 0.3), (0.2, 2.0, 1.5)),
    noisy("(b) X from N(0, 1)", (1.0, 0.0, 1.0)),
)


def points(law: Mixture, delta: float = DELTA) -> dict[str, float]:
    """Find the points: P(a, b_δ) = P(a_δ, b) = δ; f_Y(b_1) = f_Y(b_δ) and f_Y(a_1) = f_Y(a_δ) across the mode."""
    left = brentq(lambda y: law.cdf(y) - law.cdf(A) - delta, A, B)
    right = brentq(lambda y: law.cdf(B) - law.cdf(y) - delta, A, B)
    top = law.mode()
    first = brentq(lambda y: law.density(y) - law.density(right), A, top)
    last = brentq(lambda y: law.density(y) - law.density(left), top, B)
    return dict(zip(LABELS, (A, left, first, last, right, B), strict=True))


def longest(law: Mixture, delta: float = DELTA) -> tuple[float, float]:
    """Find the longest interval in (a, b) of probability δ, on a grid of left ends."""
    starts = np.linspace(A, points(law, delta)["a_δ"], 201)
    ends = np.array([brentq(lambda v, u=u: law.cdf(v) - law.cdf(u) - delta, u, B + 1e-9) for u in starts])
    place = int(np.argmax(ends - starts))
    return float(starts[place]), float(ends[place])


def reproduce(quick: bool = False) -> Reproduction:
    """Compute the points for two secrets; it is quick anyway."""
    rows = [row for law in LAWS for row in _rows(law)]
    return Reproduction(
        "GAU Figure 1",
        "The construction behind Lemma 1 (iii): of all intervals in (a, b) with probability δ, the "
        "longest, which leaks most, is one of the two tails (a, b_δ) and (a_δ, b). The core (a_1, b_1) "
        "keeps them apart.",
        rows,
        [Panel(law.name, _picture(law, [row for row in rows if row["panel"] == law.name])) for law in LAWS],
        [remark for law in LAWS for remark in _remarks(law)] + [_names()],
        f"The paper gives no law and no numbers. Chosen: σ_N = 1, (a, b) = ({A:g}, {B:g}), δ = {DELTA:g}; "
        "in (a) a secret that is not symmetric, so that all points differ. For a symmetric one, as in "
        "(b), a_1 = b_δ and b_1 = a_δ. " + _influence(),
    )


def _rows(law: Mixture) -> Iterator[Row]:
    for y in np.linspace(A - 0.5, B + 0.5, POINTS).tolist():
        yield {"panel": law.name, "point": "", "y": y, "density": float(law.density(y))}
    for name, y in points(law).items():
        yield {"panel": law.name, "point": name, "y": y, "density": float(law.density(y))}


def _picture(law: Mixture, rows: list[Row]) -> dict[str, Any]:
    found = points(law)
    line = [dict(row) for row in rows if not row["point"]]
    tails = [
        [
            {"y": y, "density": float(law.density(y))}
            for y in np.linspace(found[low], found[high], 60).tolist()
        ]
        for low, high in (("a", "b_δ"), ("a_δ", "b"))
    ]
    # a point of the core is named beside the curve, one of the tails below its foot
    marks = [{**row, "foot": 0.0} for row in rows if row["point"]]
    core = [mark for mark in marks if mark["point"] in ("a_1", "b_1")]
    feet = [mark for mark in marks if mark not in core]
    across = altair.X("y:Q", title="y", scale=altair.Scale(domain=[A - 0.5, B + 0.5], nice=False))
    height = altair.Y(
        "density:Q",
        title="density of Y",
        scale=altair.Scale(domain=[-0.035, 0.35], nice=False),
        axis=altair.Axis(values=[0, 0.1, 0.2, 0.3], titlePadding=10),
    )

    def chart(values: list[dict[str, Any]]) -> Any:
        return altair.Chart(altair.Data(values=values))

    layers = [
        *(chart(tail).mark_area(color="#c6dbef").encode(x=across, y=height) for tail in tails),
        chart(line).mark_line(color="#1f77b4").encode(x=across, y=height),
        chart(marks)
        .mark_rule(color="#555", strokeDash=[3, 3])
        .encode(x=across, y=altair.Y("foot:Q", title="density of Y"), y2="density:Q"),
        chart(marks).mark_circle(color="#111", size=30).encode(x=across, y=height),
        *(
            chart([mark]).mark_text(fontSize=13, dx=side).encode(x=across, y="density:Q", text="point:N")
            for mark, side in zip(core, (-15, 15), strict=True)
        ),
        chart(feet).mark_text(fontSize=13, dy=11).encode(x=across, y="foot:Q", text="point:N"),
    ]
    return sized(altair.layer(*layers))


def _remarks(law: Mixture) -> Iterator[Compared]:
    short, at = law.name[:3], points(law)
    core = float(law.cdf(at["b_1"]) - law.cdf(at["a_1"]))
    yield Compared(
        f"{short} (19): P_Y(a_1, b_1) > δ",
        f"above {DELTA:g}",
        f"{core:.4f}, with " + ", ".join(f"{name} = {at[name]:.4f}" for name in LABELS[1:-1]),
        core > DELTA,
    )
    grid = np.linspace(A, B, 20001)[1:-1]
    density = law.density(grid)
    left = grid[(grid < at["b_1"] - 1e-3) & (density < law.density(at["b_δ"]) * (1 - 1e-9))]
    right = grid[(grid > at["a_1"] + 1e-3) & (density < law.density(at["a_δ"]) * (1 - 1e-9))]
    only = bool(left.max() <= at["b_δ"] and right.min() >= at["a_δ"])
    yield Compared(
        f"{short} (19): f_Y is below f_Y(b_δ) on (a, b_1) only in (a, b_δ), and below f_Y(a_δ) on (a_1, b) "
        "only in (a_δ, b)",
        "only there",
        "only there" if only else "also elsewhere",
        only,
    )
    start, end = longest(law)
    tails = {"(a, b_δ)": at["b_δ"] - at["a"], "(a_δ, b)": at["b"] - at["a_δ"]}
    best = max(tails.values())
    yield Compared(
        f"{short} Lemma 1 (iii): the longest interval of probability δ in (a, b)",
        "one of the two tails",
        f"({start:.4f}, {end:.4f}), length {end - start:.4f}; the tails have "
        + " and ".join(f"{length:.4f}" for length in tails.values()),
        end - start <= best + 1e-6,
    )


def _names() -> Compared:
    """Lemma 1 (iii) and its proof name the two points the other way round."""
    at = points(LAWS[0])
    printed = [float(LAWS[0].cdf(at["a_δ"]) - LAWS[0].cdf(A)), float(LAWS[0].cdf(B) - LAWS[0].cdf(at["b_δ"]))]
    return Compared(
        "(a) Lemma 1 (iii): P_Y(a, a_δ) = P_Y(b_δ, b) = δ, with the points of its proof and of Figure 1",
        f"both {DELTA:g}",
        " and ".join(f"{value:.4f}" for value in printed),
        all(math.isclose(value, DELTA, rel_tol=1e-9) for value in printed),
        "the lemma calls the two points by each other's name: its proof has P_Y(a, b_δ) = P_Y(a_δ, b) = δ",
    )


def _influence() -> str:
    parts = []
    for delta in (0.02, 0.1, 0.3):
        at = points(LAWS[0], delta)
        start, end = longest(LAWS[0], delta)
        holds = end - start <= max(at["b_δ"] - A, B - at["a_δ"]) + 1e-6
        parts.append(f"{delta:g} ({'holds' if holds else 'fails'})")
    return f"Lemma 1 (iii) in (a), δ = {', '.join(parts)}."


if __name__ == "__main__":
    main(reproduce)
