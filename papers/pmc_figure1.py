"""PMC Figure 1: upper and lower bounds on the information density imply each other (Theorem 4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import altair
import numpy as np

from papers.charts import sized
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip import Channel, Prior, pmc, pml
from tightlip.convert import compare, region
from tightlip.mechanism import pml_extremal

PRIORS = {
    "(a) P = (0.3, 0.3, 0.2, 0.2)": ["3/10", "3/10", "1/5", "1/5"],
    "(b) P = (0.5, 0.5)": ["1/2", "1/2"],
}
POINTS = 61
TOP = 3.0  # nats
CHANNELS = 300
SEED = 1
AREAS = {
    "PML is stronger": "#d0d0d0",
    "neither is": "#c6dbef",
    "PMC is stronger": "#e6e6e6",
}
LINES = {"ε_l*(ε_u): PML to PMC": "#1f77b4", "ε_u*(ε_l): PMC to PML": "#e0730b"}


def rows(name: str, masses: list[str]) -> Iterator[Row]:
    """Both curves of one panel: the PML level on each, at the same PMC levels."""
    picture = region(Prior(masses), points=POINTS, largest_pmc=TOP)
    for curve, found in zip(LINES, (picture.blue, picture.orange), strict=True):
        for level_pml, level_pmc in zip(found.pml, found.pmc, strict=True):
            yield {"panel": name, "curve": curve, "pml": float(level_pml), "pmc": float(level_pmc)}


def reproduce(quick: bool = False) -> Reproduction:
    """Compute both panels; fewer random channels where it must be quick."""
    data = [row for name, masses in PRIORS.items() for row in rows(name, masses)]
    compared, panels = [], []
    for name, masses in PRIORS.items():
        own = [row for row in data if row["panel"] == name]
        compared += [*_curves(name, Prior(masses), own), *_reached(name, Prior(masses), own)]
        compared.append(_random(name, Prior(masses), 40 if quick else CHANNELS))
        panels.append(Panel(name, _picture(own, 1.1 * -math.log(min(map(Fraction, masses))))))
    return Reproduction(
        "PMC Figure 1",
        "The plane of levels: every channel that is ε_u-PML is ε_l-PMC above the blue curve, every one "
        "that is ε_l-PMC is ε_u-PML right of the orange one; between them neither implies the other.",
        data,
        panels,
        compared,
        f"The axes of the figure have no numbers in the text at hand. Chosen: ε_l up to {TOP:g} nats, ε_u "
        "a little beyond log 1/p_min. Nothing but the cut depends on it.",
    )


def _picture(own: list[Row], end: float) -> dict[str, Any]:
    blue, orange = ([row for row in own if row["curve"] == curve] for curve in LINES)
    bands = []
    for left, right in zip(blue, orange, strict=True):
        edges = [0.0, left["pml"], right["pml"], end]
        for place, area in enumerate(AREAS):
            bands.append({"area": area, "pmc": right["pmc"], "from": edges[place], "to": edges[place + 1]})
    return sized(altair.layer(_areas(bands, end), _lines(own)).resolve_scale(color="independent"))


def _areas(bands: list[Row], end: float) -> Any:
    scale = altair.Scale(domain=list(AREAS), range=list(AREAS.values()))
    legend = altair.Legend(title=None, orient="bottom", columns=1, labelLimit=0)
    return (
        altair.Chart(altair.Data(values=bands))
        .mark_area(orient="horizontal")
        .encode(
            x=altair.X("from:Q", title="ε_u, PML in nats", scale=altair.Scale(domain=[0, end], nice=False)),
            x2="to:Q",
            y=altair.Y(
                "pmc:Q",
                title="ε_l, PMC in nats",
                axis=altair.Axis(titlePadding=10),
                scale=altair.Scale(domain=[0, TOP], nice=False),
            ),
            color=altair.Color("area:N", scale=scale, legend=legend),
        )
    )


def _lines(own: list[Row]) -> Any:
    scale = altair.Scale(domain=list(LINES), range=list(LINES.values()))
    legend = altair.Legend(title=None, orient="bottom", columns=1, labelLimit=0, symbolType="stroke")
    dash = altair.StrokeDash("curve:N", scale=altair.Scale(domain=list(LINES)), legend=None)
    return (
        altair.Chart(altair.Data(values=[dict(row) for row in own]))
        .mark_line(strokeWidth=2.5, clip=True)
        .encode(
            x="pml:Q",
            y="pmc:Q",
            order="pmc:Q",
            color=altair.Color("curve:N", scale=scale, legend=legend),
            strokeDash=dash,
        )
    )


def _curves(name: str, prior: Prior, own: list[Row]) -> Iterator[Compared]:
    blue, orange = (np.array([row["pml"] for row in own if row["curve"] == curve]) for curve in LINES)
    p_min, short = float(min(prior.masses)), name[:3]
    levels = np.linspace(0, TOP, POINTS)
    printed = np.log((1 - np.exp(-levels) * (1 - p_min)) / p_min)
    back = np.log(p_min / (1 - np.exp(blue) * (1 - p_min)))
    apart = max(np.abs(printed - orange).max(), np.abs(back - levels).max())
    yield Compared(
        f"{short} Theorem 4, both formulas against the computed curves",
        "ε_l* = log p/(1 − e^ε_u(1 − p)), ε_u* = log (1 − e^−ε_l(1 − p))/p",
        f"largest difference {apart:.0e} nats",
        bool(apart < 1e-9),
    )
    gap, uniform = float(np.abs(orange - blue).max()), p_min == 0.5
    yield Compared(
        f"{short} do the two curves coincide?",
        "they coincide when the prior is binary and uniform" if uniform else "a region lies between them",
        f"largest distance {gap:.2g} nats of PML",
        (gap < 1e-12) is uniform,
    )
    middle = (float(blue[30] + orange[30]) / 2, float(levels[30]))
    words = {"pml": "PML is the stronger", "neither": "neither is the stronger"}
    found = compare(*middle, prior) if not uniform else compare(0.3, 3.0, prior)
    expected = "pml" if uniform else "neither"
    yield Compared(
        f"{short} a pair of levels " + ("far above the curve" if uniform else "between the curves"),
        words[expected],
        words.get(found, found),
        found == expected,
    )


def _reached(name: str, prior: Prior, own: list[Row]) -> Iterator[Compared]:
    """Theorem 4 cannot be improved: the extremal mechanism, and telling the truth with probability 1 − e^−ε."""
    p_min, short = float(min(prior.masses)), name[:3]
    level = 0.9 * -math.log1p(-p_min)
    extremal = pml_extremal(prior, level)
    wanted, found = math.log(p_min / (1 - math.exp(level) * (1 - p_min))), float(pmc(extremal, prior).worst)
    yield Compared(
        f"{short} Remark 6: the extremal mechanism reaches ε_l*, at ε_u = {level:.4f}",
        f"{wanted:.6f}",
        f"{found:.6f}",
        math.isclose(found, wanted, rel_tol=1e-9),
    )
    size, kept = len(prior), math.exp(-1.0)
    truth = Channel((1 - kept) * np.eye(size) + kept * np.tile(prior.floats, (size, 1)))
    wanted, found = math.log((1 - kept * (1 - p_min)) / p_min), float(pml(truth, prior).worst)
    yield Compared(
        f"{short} ε_u* at ε_l = 1 is an upper bound; reached by the truth with probability 1 − e^−1, else "
        "a draw from the prior",
        f"at most {wanted:.6f}",
        f"{found:.6f}",
        found <= wanted + 1e-9,
    )


def _random(name: str, prior: Prior, count: int) -> Compared:
    """Test Theorem 4 on random channels."""
    generator = np.random.default_rng(SEED)
    p_min, worst = float(min(prior.masses)), -math.inf
    for _ in range(count):
        shape = 10 ** generator.uniform(-0.5, 2.5)
        channel = Channel(generator.dirichlet(np.full(len(prior), shape), size=len(prior)))
        high, low = float(pml(channel, prior).worst), float(pmc(channel, prior).worst)
        worst = max(worst, high - math.log((1 - math.exp(-low) * (1 - p_min)) / p_min))
        if high < -math.log1p(-p_min):
            worst = max(worst, low - math.log(p_min / (1 - math.exp(high) * (1 - p_min))))
    return Compared(
        f"{name[:3]} Theorem 4 on {count} random channels",
        "none is beyond its bound",
        f"the nearest is at {abs(worst):.1e} nats {'inside' if worst <= 0 else 'outside, which is rounding'}"
        if worst <= 1e-9
        else f"one is {worst:.1e} nats beyond",
        worst <= 1e-9,
    )


if __name__ == "__main__":
    main(reproduce)
