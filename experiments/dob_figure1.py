"""DOB Figure 1: how tight are the divergence bounds behind an (ε, c)-PML channel?

    python experiments/dob_figure1.py --count 4000 --data figure1.json --plot figure1.svg

(a) KL behind K1 (10 secrets, c = 0.05), with the LDP bounds; (b) H² behind K2 (5 secrets, c = 0.1), which has no
finite LDP level. The curve of Zamanlooy and Asoodeh (Theorem 5) is left out: its formula could not be obtained.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tightlip.contraction.bounds import block_kernel, divergence_bound, duchi_bound, ldp_kl_bound
from tightlip.measures.local import ldp
from tightlip.model.channel import Channel
from tightlip.numeric.quantity import log_of
from tightlip.robust.pointwise import leakage_capacity


@dataclass(frozen=True)
class Panel:
    """One panel: random pairs (TV, divergence) and the bounds along TV."""

    name: str
    divergence: str
    pairs: list[tuple[float, float]]
    distances: list[float]
    bounds: dict[str, list[float]]

    def tightness(self) -> dict[str, float]:
        """The largest share of each bound that a pair reaches."""
        return {name: self._largest_share(values) for name, values in self.bounds.items()}

    def exceeded(self) -> dict[str, int]:
        """How many pairs lie above each bound; bounds are evaluated at the next larger distance of the grid."""
        return {name: self._above(values) for name, values in self.bounds.items()}

    def _at(self, values: list[float]) -> np.ndarray[Any, Any]:
        places = np.searchsorted(self.distances, [tv for tv, _ in self.pairs])
        return np.asarray(values)[np.minimum(places, len(values) - 1)]

    def _above(self, values: list[float]) -> int:
        return int((np.array([found for _, found in self.pairs]) > self._at(values)).sum())

    def _largest_share(self, values: list[float]) -> float:
        return float((np.array([found for _, found in self.pairs]) / self._at(values)).max())


def first_kernel() -> Channel:
    """DOB Example 2, K1: 10 secrets, entries 15/16 and 1/16, (log 10/3, 0.05)-PML and log 15-LDP."""
    return block_kernel(10, log_of("10/3"), "1/20", 5)


def second_kernel() -> Channel:
    """DOB Example 2, K2: 5 secrets, thirds in a circle, (log 10/3, 0.1)-PML and no finite LDP."""
    row = [Fraction(1, 3)] * 3 + [Fraction(0)] * 2
    return Channel(np.array([np.roll(row, shift) for shift in range(5)], dtype=object))


def panel(name: str, channel: Channel, min_mass: Fraction, kind: str, count: int, seed: int) -> Panel:
    """Random pairs in Q(c), from spread out to nearly on a corner, and every bound on a grid of distances."""
    generator = np.random.default_rng(seed)
    size, rows = channel.shape[0], np.asarray(channel.floats)
    shapes = 10 ** generator.uniform(-1.5, 1, size=(count, 1))
    free = generator.standard_gamma(np.broadcast_to(shapes, (2, count, size))) + 1e-12
    mass = float(min_mass)
    one, two = mass + (1 - size * mass) * free / free.sum(axis=-1, keepdims=True)
    found = _stable(one @ rows, two @ rows, kind)
    pairs = list(zip((0.5 * np.abs(one - two).sum(axis=1)).tolist(), found.tolist(), strict=True))
    distances = np.linspace(0, float(1 - size * min_mass), 201)[1:].tolist()
    return Panel(name, kind, pairs, distances, _bounds(channel, min_mass, kind, distances))


def _bounds(
    channel: Channel, min_mass: Fraction, kind: Any, distances: list[float]
) -> dict[str, list[float]]:
    level = leakage_capacity(channel, min_mass=min_mass)
    size, local = channel.shape[0], ldp(channel)
    bounds = {
        which: [float(divergence_bound(kind, size, level, min_mass, tv=tv, gamma=which)) for tv in distances]
        for which in ("exact", "paper")
    }
    if kind == "kl" and local.ratio is not None:
        bounds["LDP and χ²"] = [ldp_kl_bound(local, tv, min_mass) for tv in distances]
        bounds["Duchi et al."] = [duchi_bound(local, tv) for tv in distances]
    return bounds


def _stable(p: np.ndarray[Any, Any], q: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    """KL and H² with terms that are all at least 0: naive KL loses its digits where TV is small."""
    terms = {
        "h2": lambda: ((p - q) / (np.sqrt(p) + np.sqrt(q))) ** 2,
        "kl": lambda: p * np.log1p((p - q) / q) - (p - q),
    }
    return np.asarray(terms[kind]().sum(axis=1))


def figure(count: int, seed: int) -> list[Panel]:
    """Both panels."""
    return [
        panel("K1", first_kernel(), Fraction(1, 20), "kl", count, seed),
        panel("K2", second_kernel(), Fraction(1, 10), "h2", count, seed + 1),
    ]


def table(panels: list[Panel]) -> str:
    """The result as text."""
    lines = ["panel  divergence  bound           pairs above   largest share reached"]
    for one in panels:
        above, share = one.exceeded(), one.tightness()
        lines += [
            f"{one.name:6} {one.divergence:11} {name:15} {above[name]:11} {share[name]:14.4f}"
            for name in one.bounds
        ]
    return "\n".join(lines) + "\n"


def plot(panels: list[Panel], path: Path) -> bool:
    """Pairs and bounds against TV; False where altair is not installed."""
    try:
        altair: Any = import_module("altair")
        import_module("vl_convert")  # altair needs it to write files
    except ImportError:
        return False
    charts = []
    for one in panels:
        pairs = [{"TV": tv, "value": found} for tv, found in one.pairs]
        largest = 1.5 * max(max(one.bounds["exact"]), max(found for _, found in one.pairs))
        lines = [
            {"TV": tv, "value": value, "bound": name}
            for name, values in one.bounds.items()
            for tv, value in zip(one.distances, values, strict=True)
            if value <= largest
        ]
        axis = altair.X("TV:Q", title="TV(P, Q)")
        height = altair.Y("value:Q", title=one.divergence)
        points = altair.Chart(altair.Data(values=pairs)).mark_circle(size=8, opacity=0.4)
        curves = altair.Chart(altair.Data(values=lines)).mark_line().encode(x=axis, y=height, color="bound:N")
        charts.append(
            (points.encode(x=axis, y=height) + curves).properties(width=360, height=260, title=one.name)
        )
    altair.hconcat(*charts).save(path)
    return True


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description="DOB Figure 1: bounds against random pairs.")
    parser.add_argument("--count", type=int, default=4000, help="random pairs per panel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="write pairs and bounds here, as JSON")
    parser.add_argument("--plot", type=Path, help="write a plot here (.svg or .png)")
    options = parser.parse_args(arguments)
    panels = figure(options.count, options.seed)
    sys.stdout.write(table(panels))
    if options.data:
        options.data.write_text(json.dumps([asdict(one) for one in panels], indent=1) + "\n")
    if options.plot and not plot(panels, options.plot):
        sys.stdout.write("no plot: pip install altair vl-convert-python\n")


if __name__ == "__main__":
    main()
