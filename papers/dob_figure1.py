"""DOB Figure 1: how tight are the divergence bounds behind an (ε, c)-PML channel?

(a) KL behind K₁ (10 secrets, c = 0.05), with the LDP bounds; (b) H² behind K₂ (5 secrets, c = 0.1), which has no finite
LDP level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip import Channel, ldp
from tightlip.contraction import divergence_bound, ldp_kl_bound
from tightlip.papers import dob_example_2_circulant, dob_example_2_two_level, duchi_bound
from tightlip.robust import leakage_capacity

COUNT = 4000  # random pairs for each panel
DRAWN = 450  # of them, those in the data and the picture
GRID, EVERY = 200, 5  # distances, and which of them are in the data
SEED = 1
Shapes = tuple[float, float]
SHAPES = (-1.5, 1.0)  # powers of ten between which the gamma weights' shape is drawn
TRUE = "random pairs (dots)"
OURS, EXACT = "the paper's bound", "the same with the exact Γ"
ASOODEH, DUCHI = "Asoodeh and Zhang, with χ²", "Duchi et al."


@dataclass(frozen=True)
class Sample:
    """One panel: random pairs (TV, divergence) and the bounds along TV."""

    name: str
    divergence: str
    pairs: list[tuple[float, float]]
    distances: list[float]
    bounds: Mapping[str, list[float]]

    def tightness(self) -> dict[str, float]:
        """The largest share of each bound that a pair reaches."""
        return {name: float((self._found() / self._at(name)).max()) for name in self.bounds}

    def exceeded(self) -> dict[str, int]:
        """How many pairs lie above each bound; bounds are evaluated at the next larger distance of the grid."""
        return {name: int((self._found() > self._at(name)).sum()) for name in self.bounds}

    def _found(self) -> np.ndarray[Any, Any]:
        return np.array([found for _, found in self.pairs])

    def _at(self, name: str) -> np.ndarray[Any, Any]:
        places = np.searchsorted(self.distances, [tv for tv, _ in self.pairs])
        return np.asarray(self.bounds[name])[np.minimum(places, len(self.distances) - 1)]


def sample(
    name: str, channel: Channel, min_mass: Fraction, kind: str, count: int, seed: int, shapes: Shapes
) -> Sample:
    """Draw pairs in Q(c), from spread out to nearly on a corner, and evaluate every bound on a grid of distances."""
    generator = np.random.default_rng(seed)
    size, rows = channel.shape[0], np.asarray(channel.floats)
    powers = 10 ** generator.uniform(*shapes, size=(count, 1))
    free = generator.standard_gamma(np.broadcast_to(powers, (2, count, size))) + 1e-12
    mass = float(min_mass)
    one, two = mass + (1 - size * mass) * free / free.sum(axis=-1, keepdims=True)
    found = _stable(one @ rows, two @ rows, kind)
    pairs = list(zip((0.5 * np.abs(one - two).sum(axis=1)).tolist(), found.tolist(), strict=True))
    distances = np.linspace(0, float(1 - size * min_mass), GRID + 1)[1:].tolist()
    return Sample(name, kind, pairs, distances, _bounds(channel, min_mass, kind, distances))


def _bounds(
    channel: Channel, min_mass: Fraction, kind: Any, distances: list[float]
) -> dict[str, list[float]]:
    level = leakage_capacity(channel, min_mass=min_mass)
    size = channel.shape[0]
    bounds = {
        name: [float(divergence_bound(kind, size, level, min_mass, tv=tv, gamma=gamma)) for tv in distances]
        for name, gamma in ((OURS, "paper"), (EXACT, "exact"))
    }
    if kind == "kl" and math.isfinite(ldp(channel)):
        for name, bound in _local_bounds(channel, min_mass).items():
            bounds[name] = [bound(tv) for tv in distances]
    return bounds


def _stable(p: np.ndarray[Any, Any], q: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    """KL and H² with terms that are all at least 0: naive KL loses its digits where TV is small."""
    terms = {
        "h2": lambda: ((p - q) / (np.sqrt(p) + np.sqrt(q))) ** 2,
        "kl": lambda: p * np.log1p((p - q) / q) - (p - q),
    }
    return np.asarray(terms[kind]().sum(axis=1))


def figure(count: int = COUNT, seed: int = SEED, shapes: Shapes = SHAPES) -> list[Sample]:
    """Both panels."""
    return [
        sample("(a) K₁", dob_example_2_two_level(), Fraction(1, 20), "kl", count, seed, shapes),
        sample("(b) K₂", dob_example_2_circulant(), Fraction(1, 10), "h2", count, seed + 1, shapes),
    ]


def reproduce(quick: bool = False) -> Reproduction:
    """Compute both panels; without other draws where it must be quick."""
    samples = figure()
    rows = [row for one in samples for row in _rows(one)]
    return Reproduction(
        "DOB Figure 1",
        "What is left of a divergence behind the two kernels of Example 2: random pairs of distributions "
        "in Q(c), the bounds of Corollaries 1 and 2, and for K₁ what its LDP level alone says.",
        rows,
        [_picture(one, rows) for one in samples],
        [*(remark for one in samples for remark in _remarks(one)), *_against_ldp()],
        "The curve of Zamanlooy and Asoodeh (Theorem 5 there) is left out: its formula could not be "
        f"obtained. The paper does not say how its distributions are drawn. Chosen: {COUNT} pairs a panel, "
        f"c + (1 − Nc) times normalised gamma weights whose shape runs from 0.03 to 10, seed {SEED}; the "
        f"data has the first {DRAWN}. {'' if quick else _influence()} The reverse Pinsker inequality that "
        "the paper adds to Asoodeh and Zhang is cited by number only; used here: KL ≤ log(1 + 2TV²/c).",
    )


def _rows(one: Sample) -> Iterator[Row]:
    for tv, found in one.pairs[:DRAWN]:
        yield {"panel": one.name, "curve": TRUE, "tv": tv, "divergence": found}
    for name, values in one.bounds.items():
        for tv, value in list(zip(one.distances, values, strict=True))[EVERY - 1 :: EVERY]:
            yield {"panel": one.name, "curve": name, "tv": tv, "divergence": value}


def _picture(one: Sample, rows: list[Row]) -> Panel:
    title, top = {"kl": ("KL(PK‖QK), nats", 1.05), "h2": ("H²(PK‖QK)", 0.22)}[one.divergence]
    own = [row for row in rows if row["panel"] == one.name]
    names = [name for name in one.bounds if name != EXACT]
    return Panel(
        one.name,
        curves(
            [row for row in own if row["curve"] in names],
            "tv",
            "divergence",
            order=[*names, TRUE],
            x_title="TV(P, Q)",
            y_title=title,
            y_domain=(0, top),
            dots=[row for row in own if row["curve"] == TRUE],
        ),
    )


def _remarks(one: Sample) -> Iterator[Compared]:
    above, share = one.exceeded(), one.tightness()
    yield Compared(
        f"{one.name}: no pair is above a bound",
        "none",
        "; ".join(f"{name}: {above[name]} above, {share[name]:.1%} reached" for name in one.bounds),
        not any(above.values()),
    )
    yield Compared(
        f"{one.name}: the distances that occur in Q(c), 0 to 1 − Nc",
        "the axis is labelled from 0.0 to 0.5",
        f"0 to {one.distances[-1]:g}, drawn up to {max(tv for tv, _ in one.pairs):.4f}",
        math.isclose(one.distances[-1], 0.5),
    )
    same = max(abs(a / b - 1) for a, b in zip(one.bounds[OURS], one.bounds[EXACT], strict=True))
    yield Compared(
        f"{one.name}: Γ of Proposition 2 against the exact one",
        "an upper bound",
        f"largest relative difference of the bounds {same:.1e}",
        all(a >= b for a, b in zip(one.bounds[OURS], one.bounds[EXACT], strict=True)),
    )


def _against_ldp() -> Iterator[Compared]:
    """Compare Corollary 1 with what the LDP level of K₁ says: where each is the smaller."""
    channel, mass = dob_example_2_two_level(), Fraction(1, 20)
    level = leakage_capacity(channel, min_mass=mass)
    slope = float(divergence_bound("kl", 10, level, mass, gamma="paper"))
    for name, bound in _local_bounds(channel, mass).items():
        crossing = brentq(lambda tv, bound=bound: bound(tv) / tv - slope, 1e-9, 0.5)
        yield Compared(
            f"(a) K₁: the paper's bound against {name}",
            "tighter (abstract: 'tighter bounds for mechanisms satisfying LDP')",
            f"tighter beyond TV = {crossing:.4f}, at TV = 0.5 by a factor "
            f"{bound(0.5) / (0.5 * slope):.3g}; looser below",
            bound(crossing / 2) >= slope * crossing / 2,
            "the paper's bound is linear in TV and this one quadratic, so it is the larger one at small "
            "distances",
        )


def _local_bounds(channel: Channel, min_mass: Fraction) -> dict[str, Callable[[float], float]]:
    level = ldp(channel)
    return {
        ASOODEH: lambda tv: ldp_kl_bound(level, tv, min_mass),
        DUCHI: lambda tv: duchi_bound(level, tv),
    }


def _influence() -> str:
    """Say what other draws change: the share of the paper's bound that is reached, and the distances that occur."""
    parts = []
    for one in figure(shapes=(0.0, 0.0)):
        farthest = max(tv for tv, _ in one.pairs)
        parts.append(
            f"{one.tightness()[OURS]:.1%} of the paper's bound and TV = {farthest:.2f} in {one.name[:3]}"
        )
    return f"Uniform draws from Q(c), shape 1, would reach {' and '.join(parts)}."


if __name__ == "__main__":
    main(reproduce)
