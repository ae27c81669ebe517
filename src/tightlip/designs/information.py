"""The channel that says most under guarantees, by an f-information: found, evaluated, and a bound on all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast, get_args

import numpy as np

from tightlip.designs.closed import cyclic, greatest
from tightlip.designs.f_information import ERROR, Information, Name
from tightlip.designs.generation import (
    CLOSE,
    BoxSearch,
    FloorSearch,
    GeneralSearch,
    Listed,
    Mixture,
    RatioSearch,
    Search,
    box_columns,
    floor_columns,
    generate,
    ratio_columns,
)
from tightlip.designs.guarantee import (
    Alip,
    Envelope,
    FloorPml,
    Guarantee,
    Ldp,
    MaximalLeakage,
    Side,
    Vector,
    all_rows,
)
from tightlip.designs.linear import Kernel, Problem, keeps, repaired, shape_of, whole, whole_weights
from tightlip.designs.pricing import Box, Curve, Floor, Ratio, cones_of
from tightlip.designs.subset_sums import search_grid
from tightlip.designs.tracing import monotone
from tightlip.designs.utility import GREATEST, Found, Utility
from tightlip.designs.vertices import vertices
from tightlip.errors import CertificateInvalid, InvalidInput, InvalidPrior, SolverFailure, quoted
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above, sum_down, sum_up, up

INFORMATIONS: tuple[str, ...] = get_args(Name)
"""The names of informations that a mechanism can be designed for."""

_SAME = 1e-9  # of the information: a closed form that is worse by no more is preferred
_DRAWN = 30  # prices drawn at random, each of which finds some extreme columns
_LISTED = 10  # secrets of which all extreme columns of one cone are listed: some thousands
FEW = 6  # secrets of which those of several cones together are found, in rationals
_EASE = Fraction(1, 1 << 42)  # of the level, for rounding
_DEAREST = 1e100  # beyond it prices are not read
_SMALLEST = Fraction(1, 10**100)  # of a mass; lifts are up to its reciprocal
_LOOSE = 5e-3  # relative gap at which the search for a level of a curve ends: hardly seen in a picture
_CUTS = 6  # times that a set of priors is described better; each searches anew

_Pools = dict[tuple[tuple[str, ...], int], Mixture]
"""What the next level goes on from, by the kinds of guarantee and the place of the search."""


@dataclass(frozen=True, slots=True)
class MostInformation(Utility):
    """An f-information of secret and output; outputs are free."""

    key = "information"
    information: Information

    @property
    def kind(self) -> str:
        """The number that a certificate bounds."""
        return GREATEST.format(self.words())

    @property
    def minimised(self) -> bool:
        """More is better."""
        return False

    @property
    def unit(self) -> Literal["nats"] | None:
        """Mutual information is in nats, the others are numbers."""
        return "nats" if self.information.name == "mutual_information" else None

    def words(self) -> str:
        """Say what the value is."""
        return self.information.words()

    def find(self, masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Found:
        """Find a mechanism in closed form or by column generation, with prices."""
        kernel, prices, guarantees = _find(masses, guarantees, self.information, room)
        method = "column generation" if len(kernel.weights) > 1 else "nothing can be released"
        problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)
        for name, other in _closed(problem):
            if self.worth(masses, other) >= self.worth(masses, kernel) * (1 - _SAME):
                kernel, method = other, f"closed form: {name}"
        return Found(guarantees, kernel, prices, method)

    def worth(self, masses: Vector, kernel: Kernel) -> float:
        """Compute the information of a channel, rounded down."""
        return information(kernel, masses, self.information)[0]

    def potential(self, masses: Vector, kernel: Kernel) -> float:
        """Compute the information of a channel, rounded down."""
        return self.worth(masses, kernel)

    def bound(self, masses: Vector, guarantees: tuple[Guarantee, ...], proof: Any) -> float:
        """Bound the information of every channel by prices, rounded up."""
        if not isinstance(proof, np.ndarray) or proof.shape != (len(masses),):
            raise CertificateInvalid(f"prices must be one for each of {len(masses)} secrets.")
        return upper_bound(masses, guarantees, self.information, proof)

    def trace(
        self, masses: Vector, guarantees: Sequence[tuple[Guarantee, ...]], room: Fraction
    ) -> list[tuple[float, float]]:
        """Generate columns for one level after the other, each from those of the level before."""
        pools: _Pools = {}
        ends = []
        for own in guarantees:
            problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), own, room)
            found = _generated(problem, self.information, pools, _LOOSE)
            worth = max(self.worth(masses, kernel) for kernel in found.kernels)
            # of each search the prices that promise most: a proof takes as long as a pricing, or longer
            prices = [mixture.prices[0] for mixture in found.mixtures] or [np.zeros(len(masses))]
            bound = min(self.bound(masses, found.problem.guarantees, one) for one in prices)
            ends.append((worth, max(bound, worth)))
        return monotone(ends)

    def require(self, prior: Prior) -> None:
        """Squares of lifts must be floats."""
        least = min(prior.exact().masses)
        if least < _SMALLEST:
            raise InvalidPrior(
                f"prior must give every secret a mass of at least {float(_SMALLEST):.0e} for {self.words()}, got "
                f"{format_about(least, 3)}; leave it out, or give it more."
            )

    def outputs(self, kernel: Kernel) -> Labels:
        """Number the outputs."""
        names = [f"y{place + 1}" for place in range(len(kernel.weights))]
        return Labels.of(names, len(names), "outputs")

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {"kind": self.key, "name": self.information.name}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> MostInformation:
        """Read what `to_dict` gave."""
        return read_information(record["name"])

    def proof_to_dict(self, proof: FloatArray) -> dict[str, Any]:
        """Write prices as JSON values."""
        return {"secrets": proof.tolist()}

    def proof_from_dict(self, record: dict[str, Any]) -> FloatArray:
        """Read what `proof_to_dict` gave."""
        return np.array(record["secrets"], dtype=np.float64)


def read_information(name: object) -> MostInformation:
    """Read an information by its name."""
    if not isinstance(name, str) or name not in INFORMATIONS:
        raise InvalidInput(
            f"utility must be one of {', '.join(INFORMATIONS)} or frequency_variance, got {quoted(name)}; "
            "choose one of them."
        )
    return MostInformation(Information(cast(Name, name)))


def _closed(problem: Problem) -> Iterator[tuple[str, Kernel]]:
    """List mechanisms in closed form that keep the guarantees."""
    if problem.silent:
        return
    columns = greatest(problem)
    if columns is not None:
        kernel = Kernel(*whole(np.array(columns, dtype=object)))
        if keeps(problem, kernel):
            yield "greatest mechanism", kernel
    for kernel in cyclic(problem):
        yield "shifts of one column", kernel


def find(
    masses: Vector, guarantees: tuple[Guarantee, ...], utility: Information, room: Fraction
) -> tuple[Kernel, FloatArray]:
    """Find a channel that keeps the guarantees in whole numbers and says much, and prices that bound all others."""
    return _find(masses, guarantees, utility, room)[:2]


def _find(
    masses: Vector, guarantees: tuple[Guarantee, ...], utility: Information, room: Fraction
) -> tuple[Kernel, FloatArray, tuple[Guarantee, ...]]:
    """Find channel and prices, and describe sets of priors as the bound by these prices needs them."""
    problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)
    found = _generated(problem, utility, {}, CLOSE)
    # zeros are prices in proportion to the prior, near the optimum where secrets are many
    prices = [np.zeros(len(masses)), *(one for mixture in found.mixtures for one in mixture.prices)]
    described = [guarantees]
    described += [] if found.problem.guarantees == guarantees else [found.problem.guarantees]
    _, place, own = min(
        (upper_bound(masses, known, utility, one), place, known_place)
        for known_place, known in enumerate(described)
        for place, one in enumerate(prices)
    )
    best = max(found.kernels, key=lambda one: information(one, masses, utility)[0])
    return best, prices[place], described[own]


@dataclass(frozen=True, slots=True, eq=False)
class _Generated:
    """Channels, mixtures whose prices may prove them good, and the problem with sets of priors as those need them."""

    problem: Problem
    kernels: list[Kernel]
    mixtures: list[Mixture]


def _generated(problem: Problem, utility: Information, pools: _Pools, close: float) -> _Generated:
    """Generate columns up to a relative gap, from the mixtures of a stricter level, which are replaced."""
    p = np.array([float(mass) for mass in problem.masses])
    kinds = tuple(own.key for own in problem.guarantees)
    found = _Generated(problem, [Kernel(np.ones((1, len(p)), dtype=object), 1)], [])
    if problem.silent or len(p) == 1:
        return found
    found = replace(found, problem=_refined(problem))
    for _ in range(_CUTS):
        # with a little more room than asked for, rounding needs no repair, and what is never said stays so
        eased = replace(found.problem, room=problem.room + _EASE)
        mixture = None if eased.silent else _mixture(_search(eased, utility, p), pools, (kinds, 0), close)
        if mixture is None:
            break
        weights = whole_weights(mixture.columns * mixture.shares[:, None])
        found.kernels.append(repaired(found.problem, weights))
        found.mixtures.append(mixture)
        refined = found.problem.refine(weights)
        if refined.guarantees == found.problem.guarantees:
            break
        found = replace(found, problem=refined)
    if len(kinds) > 1 and not eased.silent:
        for place, search in enumerate(_searches(eased, utility, p), 1):
            mixture = _mixture((search, utility, p, None), pools, (kinds, place), close)
            found.mixtures.extend([] if mixture is None else [mixture])
    for own in problem.guarantees if len(kinds) == 1 else ():
        if isinstance(own, MaximalLeakage | Envelope):
            # PML of the same level implies it, and is searched better
            stricter = replace(problem, guarantees=(Alip(None, own.epsilon),))
            found.kernels.extend(_generated(stricter, utility, pools, close).kernels)
    return found


def _mixture(
    where: tuple[Search, Information, FloatArray, float | None],
    pools: _Pools,
    key: tuple[tuple[str, ...], int],
    close: float,
) -> Mixture | None:
    """Generate columns from the mixture under a key, and leave the next one there; None where the solver fails."""
    if isinstance(where[0], Listed):
        # one program has all columns: nothing is gained by less
        pools, close = {}, CLOSE
    try:
        found = generate(*where, before=pools.get(key), close=close)
    except SolverFailure:
        return None
    pools[key] = found
    return found


def _refined(problem: Problem) -> Problem:
    """Describe sets of priors by those that decide about the constant channel."""
    column = [[1] * len(problem.masses)]
    return replace(problem, guarantees=tuple(own.refine(column) for own in problem.guarantees))


def _search(
    problem: Problem, utility: Information, masses: FloatArray
) -> tuple[Search, Information, FloatArray, float | None]:
    """Choose where columns come from: the cone's own sets, all extreme columns, or any cone's tangents."""
    rows = problem.rows(Side.INNER)
    alone = len(problem.guarantees) == 1 or all(isinstance(own, Alip) for own in problem.guarantees)
    simple = isinstance(problem.guarantees[0], Alip | Ldp | FloorPml) and not rows.positive
    if alone and simple:
        return _searches(problem, utility, masses)[-1], utility, masses, None
    if len(masses) <= FEW and rows.most is None:
        corners = vertices(rows, problem.masses)
        if corners is not None:
            return (
                Listed(np.array(corners, dtype=np.float64), utility, masses),
                utility,
                masses,
                None,
            )
    shape = shape_of(rows, len(masses))
    parts = _searches(problem, utility, masses)
    return GeneralSearch(shape, utility, masses, tuple(parts)), utility, masses, shape.total


def extreme_columns(problem: Problem) -> FloatArray:
    """List extreme columns of the guarantees' cone: all of them where secrets are few, many otherwise."""
    p = np.array([float(mass) for mass in problem.masses])
    search, draws = _search(problem, Information("chi_squared"), p)[0], np.random.default_rng(0)
    if isinstance(search, Listed):
        return search.columns
    found = [search.start(draws)]
    found += [search.price(draws.standard_normal(len(p)) * p)[0] for _ in range(_DRAWN)]
    return np.concatenate(found)


def _searches(problem: Problem, utility: Information, masses: FloatArray) -> list[Search]:
    """List where columns of each cone that contains the allowed ones come from."""
    found: list[Search] = []
    few = len(masses) <= _LISTED
    guarantees = list(problem.guarantees)
    for own in problem.guarantees:
        if isinstance(own, MaximalLeakage | Envelope):
            guarantees.append(Alip(None, own.epsilon))  # PML implies it
    for cone in cones_of(guarantees, problem.masses, Side.INNER, problem.room):
        if isinstance(cone, Ratio):
            curve = Curve(utility, 1.0, cone.factor)
            if few:
                found.append(Listed(ratio_columns(curve, masses), utility, masses))
            else:
                found.append(RatioSearch(curve, masses, search_grid(problem.masses, 1.0)))
        elif isinstance(cone, Floor):
            if few:
                found.append(Listed(floor_columns(cone, masses), utility, masses))
            else:
                most = max(size for size, _ in cone.kinds(len(masses)))
                found.append(
                    FloorSearch(cone, utility, masses, search_grid(problem.masses, float(most) / 10))
                )
        elif isinstance(cone, Box):
            if few:
                found.append(Listed(box_columns(cone, masses), utility, masses))
            else:
                grid = search_grid(problem.masses, float(cone.share))
                found.append(BoxSearch(cone, utility, masses, grid))
    return found


def information(kernel: Kernel, masses: Vector, utility: Information) -> tuple[float, float]:
    """Compute I_f of a channel, rounded down and up; mutual information in nats."""
    shares, unit = whole(np.array(masses, dtype=object))
    totals = (kernel.weights @ shares).tolist()
    p = np.array([share / unit for share in shares.tolist()])
    terms = []
    for column, total in zip(kernel.weights.tolist(), totals, strict=True):
        if total:
            # quotients of whole numbers are rounded once, so that the difference loses nothing
            lifts = np.array([(entry * unit - total) / total for entry in column])
            worths = utility.excess(lifts, np.array([entry * unit / total for entry in column]))
            terms.append(p * worths * (total / (unit * kernel.scale)))
    every = np.concatenate(terms)
    error = 2 * ERROR + 16 * UNIT
    return max(sum_down(every) * (1 - error), 0.0), up(sum_up(every) * (1 + error), steps=2)


def upper_bound(
    masses: Vector, guarantees: Sequence[Guarantee], utility: Information, prices: FloatArray
) -> float:
    """Bound I_f of every channel that keeps the guarantees, by prices of the secrets; recomputed without a solver.

    The smallest of: I_f of the identity; what PML or maximal leakage allows (`Information.largest_lift`); Σw + α for
    each cone that contains the allowed columns (`pricing`); and, for few secrets, for their intersection (`vertices`).
    Of a guarantee about another secret only the first and the last are known, and a set of priors is taken for the
    members that are listed. Prices that are no better than others cost nothing but the bound.
    """
    if len(masses) == 1:
        return 0.0
    # any prices prove something, but not if they overflow; secrets without mass are never worth a negative price
    prices = np.clip(np.nan_to_num(prices), -_DEAREST, _DEAREST)
    prices = np.where([mass == 0 for mass in masses], np.maximum(prices, 0.0), prices)
    guarantees = [own.refine([[1] * len(masses)]) for own in guarantees]
    bounds = [_identity(masses, utility)]
    if len(masses) <= FEW:
        corners = vertices(all_rows(guarantees, masses, Side.OUTER), masses)
        bounds += [] if corners is None else [_listed(corners, masses, utility, prices)]
    for own in guarantees:
        most = own.rows(masses, Side.OUTER).most
        if most is not None:
            bounds.append(utility.largest_lift(float_above(most)))
    for cone in cones_of(guarantees, masses, Side.OUTER, Fraction(0)):
        if isinstance(cone, Box):
            bounds.append(0.0 if cone.lower >= 1 or cone.upper <= 1 else utility.largest_lift(cone.upper))
        moved = cone.moved(masses, utility, prices)
        bounds.append(sum_up(np.append(moved, cone.beyond(masses, utility, moved))))
    return max(min(bound for bound in bounds if math.isfinite(bound)), 0.0)


def _listed(corners: list[Vector], masses: Vector, utility: Information, prices: FloatArray) -> float:
    """Bound I_f by the worth of all extreme columns beyond their price."""
    p = np.array([float_above(mass) for mass in masses])
    exact = [Fraction(price) for price in prices.tolist()]
    beyond = []
    for corner in corners:
        lifts = np.array([float(entry - 1) for entry in corner])
        entries = np.array([float(entry) for entry in corner])
        worth = up(sum_up(p * utility.excess_up(lifts, entries)) * (1 + 8 * UNIT), steps=2)
        beyond.append(Fraction(worth) - sum(a * b for a, b in zip(exact, corner, strict=True)))
    return float_above(sum(exact) + max(beyond))


def _identity(masses: Vector, utility: Information) -> float:
    """Bound I_f of the channel that tells the secret, which no channel exceeds."""
    p = np.array([float(mass) for mass in masses if mass])
    lifts = np.array([float(1 / mass - 1) for mass in masses if mass])
    hit = utility.excess_up(lifts) * p * p
    miss = utility.excess_up(np.array([-1.0])) * p * np.array([float(1 - mass) for mass in masses if mass])
    return up(sum_up(np.append(hit, miss)) * (1 + 32 * UNIT), steps=2)
