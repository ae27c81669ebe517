"""What SML Figure 5 becomes with the right distortion: privacy against distortion in the Census setting.

    python experiments/sml_figure5.py --data figure5.json --plot figure5.svg

Randomised response, quantization by the middle and by membership are exact; beside them the formula that the
paper prints for quantization. MaxL keeps one random histogram per bin (all of them, since its greedy rule stops
at the first one); its distortion lies between two proved ends, and is drawn only up to `--draw` bins. The plot
needs altair and vl-convert-python.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.histogram.maxl import MaxLMechanism
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace
from tightlip.papers.comparison import compare


@dataclass(frozen=True)
class Point:
    """The mechanisms at one privacy; MaxL is missing where its histograms were not drawn."""

    bin_size: int
    bins: int
    bits: float
    response: float
    quantization: float
    membership: float
    printed: float
    any_points: float
    maxl_lower: float | None
    maxl_upper: float | None


def bin_sizes(secrets: int, points: int) -> list[int]:
    """Bin sizes from 1 to s, even on a logarithmic scale of privacy."""
    wanted = (round(2 ** (i * math.log2(secrets) / (points - 1))) for i in range(points))
    return sorted({max(1, min(secrets, -(-secrets // bins))) for bins in wanted})


def printed_distortion(space: HistogramSpace, bin_size: int) -> float:
    """SML Theorem 4 as printed, which is wrong."""
    cells, total = space.cells, space.total
    return 0.5 + (cells * (bin_size // 2) - total) / (2 * total * (cells - 1))


def random_histogram(space: HistogramSpace, members: range, draw: np.random.Generator) -> NDArray[np.int64]:
    """Uniform among the histograms whose first count is in `members`: that count first, then stars and bars."""
    total, cells = space.total, space.cells
    logs = [math.lgamma(total - count + cells - 1) - math.lgamma(total - count + 1) for count in members]
    chances = np.exp(np.array(logs) - max(logs))
    count = int(draw.choice(np.array(members), p=chances / chances.sum()))
    slots = total - count + cells - 2
    bars = np.sort(draw.choice(slots, cells - 2, replace=False))
    rest = np.diff(np.concatenate([[-1], bars, [slots]])) - 1
    return np.concatenate([[count], rest]).astype(np.int64)


def maxl(space: HistogramSpace, bin_size: int, draw: np.random.Generator) -> MaxLMechanism:
    """One random histogram per bin."""
    case = Quantization(space, bin_size)
    return MaxLMechanism(
        space, np.array([random_histogram(space, case.members(k), draw) for k in range(case.bins)])
    )


def measure(space: HistogramSpace, bin_size: int, most_drawn: int, draw: np.random.Generator) -> Point:
    """One row of the figure."""
    case = compare(space, bin_size)
    bins = Quantization(space, bin_size).bins
    ends = maxl(space, bin_size, draw).distortion if bins <= most_drawn else None
    return Point(
        bin_size,
        bins,
        case.privacy.in_bits(),
        case.response.value,
        case.quantization.value,
        case.membership.value,
        printed_distortion(space, bin_size),
        float(case.any_points),
        ends.lower if ends else None,
        ends.upper if ends else None,
    )


def table(points: list[Point]) -> str:
    """The result as text."""
    lines = ["   bins     bits   response    quantization  membership    printed     MaxL at least"]
    for point in points:
        lower = "" if point.maxl_lower is None else f"{point.maxl_lower:.6f}"
        lines.append(
            f"{point.bins:7} {point.bits:8.3f}   {point.response:.6f}    {point.quantization:.6f}"
            f"      {point.membership:.6f}      {point.printed:.6f}    {lower}"
        )
    return "\n".join(lines) + "\n"


def plot(points: list[Point], path: Path) -> bool:
    """Distortion against privacy; False where altair is not installed."""
    try:
        altair: Any = import_module("altair")
        import_module("vl_convert")  # altair needs it to write files
    except ImportError:
        return False
    names = {
        "response": "randomised response",
        "quantization": "quantization",
        "printed": "quantization, as printed",
        "maxl_lower": "MaxL, at least",
    }
    rows = [
        {"bits": record["bits"], "distortion": record[key], "mechanism": name}
        for record in map(asdict, points)
        for key, name in names.items()
        if record[key] is not None
    ]
    chart = (
        altair.Chart(altair.Data(values=rows))
        .mark_line(point=True)
        .encode(
            x=altair.X("bits:Q", title="statistic maximal leakage, bits"),
            y=altair.Y("distortion:Q", title="worst-case expected total variation"),
            color=altair.Color("mechanism:N", title=None),
        )
    )
    chart.properties(width=480, height=300, title="SML Figure 5, recomputed").save(path)
    return True


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description="SML Figure 5 with the right distortion.")
    parser.add_argument("--total", type=int, default=48842)
    parser.add_argument("--cells", type=int, default=22381)
    parser.add_argument("--points", type=int, default=32, help="privacy levels")
    parser.add_argument("--draw", type=int, default=200, help="most histograms to draw for MaxL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="write the points here, as JSON")
    parser.add_argument("--plot", type=Path, help="write a plot here (.svg or .png)")
    options = parser.parse_args(arguments)
    space, draw = HistogramSpace(options.total, options.cells), np.random.default_rng(options.seed)
    points = [measure(space, size, options.draw, draw) for size in bin_sizes(space.secrets, options.points)]
    sys.stdout.write(table(points))
    if options.data:
        options.data.write_text(json.dumps([asdict(point) for point in points], indent=1) + "\n")
    if options.plot and not plot(points, options.plot):
        sys.stdout.write("no plot: pip install altair vl-convert-python\n")


if __name__ == "__main__":
    main()
