"""What privacy costs at best: trade-offs of designed mechanisms, with bounds, on one page that loads nothing.

    python examples/design_tradeoffs.py tradeoffs.html [--points 13]

The theorems behind the curves are in docs/design.md.
"""

from __future__ import annotations

import argparse
import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair
import vl_convert

import tightlip as tl

SKEWED = tl.Prior(["7/20", "1/4", "1/5", "3/25", "2/25"])
AGES = tl.Prior.from_counts(
    [4, 7, 11, 14, 16, 15, 12, 9, 6, 4, 2], labels=[str(10 * age) for age in range(11)], exact=True
)
WIDTH, HEIGHT = 340, 240  # legible beside another picture at 1280 pixels, and alone at 390
COLORS = ["#1f5fa8", "#c14f00", "#1b7837", "#6a3d9a", "#333333"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2]]


@dataclass(frozen=True)
class Experiment:
    """A question, curves that were designed, and lines beside them: pairs of a level and a value, by name."""

    title: str
    says: str
    unit: str
    curves: Mapping[str, tl.designs.DesignCurve]
    beside: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)

    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """What is drawn: what is reached at each level, and what stands beside it."""
        reached = {
            name: [(float(point.level), point.value) for point in curve.points]
            for name, curve in self.curves.items()
        }
        return reached | {name: list(line) for name, line in self.beside.items()}

    def gap(self) -> float:
        """How far any curve is from its bound, at most."""
        return max(curve.gap for curve in self.curves.values())

    def within(self) -> str:
        """The gap with one digit, rounded up."""
        unit = 10.0 ** math.floor(math.log10(max(self.gap(), 1e-300)))
        return f"{math.ceil(self.gap() / unit) * unit:.1g}"


def levels(points: int, most: float = 3.0) -> list[float]:
    """Levels from near nothing to `most` nats, evenly spaced."""
    return [most * step / points for step in range(1, points + 1)]


def hamming(points: int) -> Experiment:
    """One prior and one loss under three guarantees."""
    asked = {name: levels(points) for name in ("pml", "ldp", "pmc")}
    return Experiment(
        "Naming the secret: the least Hamming loss",
        "Five secrets, of 35, 25, 20, 12 and 8 %. Who names the likeliest without any data is wrong 65 % of the "
        "time. The same number of nats says different things: PML protects against those who know the prior, LDP "
        "against everybody, and PMC against being ruled out, for which telling the truth with probability 1 − e^−ε "
        "is best.",
        "expected Hamming loss",
        {name.upper(): tl.designs.curve(SKEWED, loss="hamming", **{name: at}) for name, at in asked.items()},
    )


def information(points: int) -> Experiment:
    """What LDP lets through at best, and what randomised response lets through."""
    at = levels(points, 2.0)
    beside = {"bound for every prior": [(level, information_bound(level)) for level in at]}
    beside["randomised response, 30 secrets"] = [(level, randomized_response(30, level)) for level in at]
    return Experiment(
        "Information under local privacy",
        "Equally likely secrets. With two, randomised response is best. With more it names a single secret, and "
        "sets of secrets say more. No prior and no number of secrets lets more through than u − 1 − log u, "
        "u = εe^ε/(e^ε − 1).",
        "mutual information (nats)",
        {
            f"best, {size} secrets": tl.designs.curve(
                tl.Prior.uniform(size), ldp=at, utility="mutual_information"
            )
            for size in (2, 30)
        },
        beside,
    )


def absolute(points: int) -> Experiment:
    """A number, where near is good enough."""
    at, names = levels(points), list(AGES.labels)
    distance = [[abs(int(one) - int(two)) for two in names] for one in names]
    usual = []
    for level in at:
        mechanism = tl.mechanism.randomized_response(names, level)
        kept = tl.designs.compare({"usual": mechanism}, AGES, ldp=level, loss=distance)
        usual.append((level, kept.mechanisms[0].value))
    return Experiment(
        "A number: the least distance",
        "Ages in tens, 0 to 100, most of them near 45. What is published may be off, and is best off by little. "
        "Randomised response knows no distances: even with the best age for each of its outcomes it is far from "
        "what is possible.",
        "expected distance (years)",
        {name.upper(): tl.designs.curve(AGES, loss=distance, **{name: at}) for name in ("ldp", "pml")},
        {"randomised response": usual},
    )


def information_bound(level: float) -> float:
    """Compute u − 1 − log u with u = εe^ε/(e^ε − 1), which no ε-LDP mechanism exceeds, in nats."""
    u = level / -math.expm1(-level)
    return u - 1 - math.log(u)


def randomized_response(size: int, level: float) -> float:
    """Compute the mutual information of randomised response for equally likely secrets."""
    total = math.exp(level) + size - 1
    return math.exp(level) * level / total - math.log(total / size)


def picture(experiment: Experiment) -> str:
    """Draw all lines of an experiment together, as SVG."""
    lines = experiment.lines()
    values = [
        {"level": level, "value": value, "curve": name}
        for name, line in lines.items()
        for level, value in line
    ]
    names = {"domain": list(lines)}
    legend = altair.Legend(
        title=None, orient="bottom", columns=1, labelLimit=0, symbolType="stroke", symbolSize=180
    )
    chart = (
        altair.Chart(altair.Data(values=values))
        .mark_line(point={"size": 18})
        .encode(
            x=altair.X("level:Q", title="level (nats)", scale=altair.Scale(domainMin=0)),
            y=altair.Y("value:Q", title=experiment.unit, scale=altair.Scale(zero=True)),
            color=altair.Color("curve:N", scale=altair.Scale(range=COLORS, **names), legend=legend),
            strokeDash=altair.StrokeDash("curve:N", scale=altair.Scale(range=DASHES, **names), legend=legend),
        )
    )
    return drawn(chart)


def drawn(chart: Any) -> str:
    """Draw a chart as SVG that shrinks with the page."""
    svg = vl_convert.vegalite_to_svg(chart.properties(width=WIDTH, height=HEIGHT).to_dict())
    return re.sub(r'^(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', r"\1", svg, count=1)


def table(experiment: Experiment) -> str:
    """Write some of the numbers, with what no mechanism can beat."""
    rows = []
    for name, curve in experiment.curves.items():
        for point in curve.points[:: max(1, len(curve.points) // 4)]:
            # what is reached is told a little worse than it is, and what cannot be beaten a little better
            worse = math.ceil if curve.utility.minimised else math.floor
            better = math.floor if curve.utility.minimised else math.ceil
            ends = (worse(point.value * 1e6) / 1e6, max(better(point.bound * 1e6) / 1e6, 0.0))
            cells = (name, f"{float(point.level):.3g}", *(f"{end:.6f}" for end in ends))
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    head = "<th>guarantee or prior</th><th>nats</th><th>reached</th><th>none is better than</th>"
    body = "".join(f"<tr>{row}</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def page(experiments: Sequence[Experiment]) -> str:
    """Write the page."""
    sections = []
    for one in experiments:
        own = [
            f"<figure><figcaption>{html.escape(name)}</figcaption>{drawn(curve.chart())}</figure>"
            for name, curve in one.curves.items()
        ]
        sections.append(
            f"<h2>{html.escape(one.title)}</h2>\n<p>{html.escape(one.says)}</p>\n"
            f'<div class="panels"><figure>{picture(one)}</figure>\n<div>{table(one)}'
            f"<p>Both ends are proved at every level; they are at most {one.within()} apart.</p></div></div>\n"
            f"<details><summary>Each curve with its bound</summary>\n"
            f'<div class="panels">{"".join(own)}</div></details>'
        )
    return PAGE.replace("SECTIONS", "\n".join(sections))


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What privacy costs at best</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
body { margin: 0 auto; max-width: 68rem; padding: 1rem; }
h2 { margin-top: 2.5rem; } p { max-width: 46rem; }
.panels { display: flex; flex-wrap: wrap; gap: 1.5rem 2rem; align-items: flex-start; } .panels > * { max-width: 100%; }
figure { margin: 0; width: 28rem; max-width: 100%; } figure svg { width: 100%; height: auto; }
figcaption { font-weight: 600; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .5rem; border-bottom: 1px solid #ccc; }
th:first-child, td:first-child { text-align: left; }
</style>
</head>
<body>
<h1>What privacy costs at best</h1>
<p>Each point is a mechanism that keeps its guarantee, and a proof that none is better by more than the gap. Lines only
join them.</p>
SECTIONS
</body>
</html>
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Draw trade-offs of designed mechanisms.")
    parser.add_argument("out", type=Path, help="the page that is written")
    parser.add_argument("--points", type=int, default=15, help="levels of each curve")
    asked = parser.parse_args(arguments)
    experiments = [run(asked.points) for run in (hamming, information, absolute)]
    asked.out.write_text(page(experiments), encoding="utf-8")
    for one in experiments:
        print(f"{one.title}: {len(one.curves)} curves of {asked.points} levels, within {one.within()}")
    print(f"Wrote {asked.out}.")


if __name__ == "__main__":
    main()
