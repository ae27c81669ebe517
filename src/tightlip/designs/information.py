"""The channel that says most under guarantees, by an f-information: found, evaluated, and a bound on all others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal, cast, get_args

import numpy as np

from tightlip.designs.chords import Ceiling, chords
from tightlip.designs.closed import cyclic, greatest
from tightlip.designs.f_information import ERROR, Information, Name
from tightlip.designs.generation import CLOSE, Mixture, Search, generate
from tightlip.designs.guarantee import (
    Alip,
    FloorPml,
    Guarantee,
    Ldp,
    MaximalLeakage,
    Side,
    Vector,
    all_rows,
    under_pml,
)
from tightlip.designs.linear import Kernel, Problem, keeps, repaired, shape_of, whole, whole_weights
from tightlip.designs.listing import LISTED, Listing, list_corners
from tightlip.designs.pricing import (
    Cone,
    Peaks,
    beyond_peaks,
    cones_of,
    listing_of,
    multiplier,
)
from tightlip.designs.searches import GeneralSearch, Listed, knapsack_search
from tightlip.designs.simplex import follow
from tightlip.designs.tracing import monotone, repaired_shares
from tightlip.designs.utility import GREATEST, Found, Utility, read_proof, require_room
from tightlip.designs.vertices import corners_of
from tightlip.errors import CertificateInvalid, InvalidInput, InvalidPrior, SolverFailure, quoted
from tightlip.model.labels import Labels
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.rounding import UNIT, float_above, float_below, sum_down, sum_up, up

INFORMATIONS: tuple[str, ...] = get_args(Name)
"""The names of informations that a mechanism can be designed for."""

_SAME = 1e-9  # of the information: a closed form that is worse by no more is preferred
_DRAWN = 30  # prices drawn at random, each of which finds some extreme columns
FEW = 6  # secrets of which those of several cones together are found, in rationals
_EASE = Fraction(1, 1 << 42)  # of the level, for rounding
_DEAREST = 1e100  # beyond it prices are not read
_SMALLEST = Fraction(1, 10**100)  # of a mass; lifts are up to its reciprocal
_LOOSE = 5e-3  # relative gap at which the search for a level of a curve ends: hardly seen in a picture
_BYTES, _SECONDS = 1600.0, 6e-7  # for each pair and each triple of secrets, as measured up to 800
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
        problem = Problem(masses, np.zeros((len(masses), 1), dtype=object), guarantees, room)
        method = "column generation"
        if len(kernel.weights) == 1:
            # a solver that fails is no proof that nothing can be: the bound says what might
            sure = problem.silent or len(masses) == 1
            method = "nothing can be released" if sure else "nothing was found to release"
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
        problems = [
            Problem(masses, np.zeros((len(masses), 1), dtype=object), own, room) for own in guarantees
        ]
        silent = next((place for place, own in enumerate(problems) if not own.silent), len(problems))
        zeros = np.zeros(len(masses))
        ends = [
            (0.0, upper_bound(masses, own.guarantees, self.information, zeros)) for own in problems[:silent]
        ]
        if all(
            isinstance(own.guarantees[0], MaximalLeakage) and len(own.guarantees) == 1 for own in problems
        ):
            return monotone([*ends, *_concave_levels(problems[silent:], self.information)])
        pools: _Pools = {}
        for problem in problems[silent:]:
            ends.append(_level(problem, self.information, pools))
        return monotone(ends)

    def require(self, prior: Prior) -> None:
        """Squares of lifts must be floats, and the columns of the master program fit into memory."""
        count = len(prior)
        require_room(f"{count} secrets", _BYTES * float(count) ** 2, _SECONDS * float(count) ** 3)
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
        return read_proof(record["secrets"], "secrets", 1)


def read_information(name: object) -> MostInformation:
    """Read an information by its name."""
    if not isinstance(name, str) or name not in INFORMATIONS:
        known = [*INFORMATIONS, "frequency_variance"]
        near = get_close_matches(str(name).lower().replace("-", "_"), known, n=1)
        raise InvalidInput(
            f"utility must be one of {', '.join(known)}, got {quoted(name)}; "
            f"{f'write {quoted(near[0])}' if near else 'choose one of them'}."
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
    prices = [np.zeros(len(masses))]
    prices += [one for mixture in (*found.channels, *found.others) for one in mixture.prices]
    described = [guarantees]
    described += [] if found.problem.guarantees == guarantees else [found.problem.guarantees]
    _, place, own = min(
        (upper_bound(masses, known, utility, one), place, known_place)
        for known_place, known in enumerate(described)
        for place, one in enumerate(prices)
    )
    kernels = [Kernel(np.ones((1, len(masses)), dtype=object), 1)]
    kernels += [repaired(found.problem, whole_weights(_columns(one))) for one in found.channels]
    best = max(kernels, key=lambda one: information(one, masses, utility)[0])
    return best, prices[place], described[own]


def _level(problem: Problem, utility: Information, pools: _Pools) -> tuple[float, float]:
    """Bound the best I_f from both sides, roughly, in floats with roundings on the safe side."""
    masses = problem.masses
    one_cone = len(masses) > 1 and _is_cone(problem.guarantees, len(masses))
    found = _in_cone(problem, utility, pools) if one_cone else _generated(problem, utility, pools, _LOOSE)
    worth = max((_worth(found.problem, utility, one) for one in found.channels), default=0.0)
    bound = found.known.bound
    if not bound - worth <= _LOOSE * bound < math.inf:
        # of each search the prices that promise most: a proof takes as long as a pricing, or longer
        for one in (*found.channels, *found.others):
            bound = min(
                bound, _bound_by(masses, found.problem.guarantees, found.cones, utility, one.prices[0])
            )
    if not bound - worth <= _LOOSE * bound < math.inf:
        bound = min(bound, chords(masses, problem.guarantees, utility).bound)
    return worth, max(bound, worth)


def _in_cone(problem: Problem, utility: Information, pools: _Pools) -> _Generated:
    """Generate columns of the one cone there is, for channels and bounds alike: what roundings forbid is repaired."""
    masses, p = problem.masses, np.array([float(mass) for mass in problem.masses])
    cones = cones_of(problem.guarantees, masses, Side.OUTER, Fraction(0))
    (cone,), known = cones, Ceiling(np.inf, 0 * p)
    if len(p) > LISTED:
        known = Ceiling(cone.plain(utility), 0 * p)
        own = chords(masses, problem.guarantees, utility)
        known = own._replace(bound=min(own.bound, known.bound))
    mixture = _mixture(_search_in(cone, problem, utility, p), utility, p, known, pools, ((), 0), _LOOSE)
    return _Generated(problem, known, [] if mixture is None else [mixture], [], cones)


def _concave_levels(problems: Sequence[Problem], utility: Information) -> list[tuple[float, float]]:
    """Bound the best I_f under maximal leakage of several levels from both sides, of which some are solved.

    It is concave in T = e^ε: mixing channels of two levels mixes their sums of largest entries, and Σw + λT bounds it
    at every T. Every other level is solved, from the one before, and of those between the ones that mixtures of their
    neighbours do not reach and their tangents do not bound.
    """
    count, secrets = len(problems), Fraction(len(problems[0].masses) if problems else 1)
    inner = [min(one.rows(Side.INNER).most or secrets, secrets) for one in problems]
    outer = [float_above(min(one.rows(Side.OUTER).most or secrets, secrets)) for one in problems]
    bounds = [utility.largest_lift(most) for most in outer]
    pools: list[_Pools] = [{} for _ in range(count + 1)]  # the last one is empty, where the first level looks
    worths = [0.0] * count
    for place in (*range(0, count, 2), *range(1, count, 2)):
        if place % 2:
            worths[place] = _mixed(inner[place - 1 : place + 2], worths[place - 1 : place + 2])
            if bounds[place] - worths[place] <= _LOOSE * bounds[place]:
                continue
        pools[place] = dict(pools[place - 1] or pools[place - 2])
        for one in _in_cone(problems[place], utility, pools[place]).channels:
            worths[place] = max(worths[place], _worth(problems[place], utility, one))
            slope = multiplier(problems[place].masses, utility, one.prices[0])
            start = sum_up(one.prices[0])
            bounds = [min(own, up(start + up(slope * most))) for own, most in zip(bounds, outer, strict=True)]
    return [(worth, max(worth, bound)) for worth, bound in zip(worths, bounds, strict=True)]


def _mixed(totals: Sequence[Fraction], worths: Sequence[float]) -> float:
    """Compute what a mixture of the channels on both sides of a level reaches there, rounded down."""
    if len(totals) < 3 or totals[0] == totals[2]:
        return worths[0]
    low, here, high = totals
    share = (high - here) / (high - low)
    return float_below(share * Fraction(worths[0]) + (1 - share) * Fraction(worths[2]))


@dataclass(frozen=True, slots=True, eq=False)
class _Generated:
    """Mixtures: those that are channels, others whose prices may prove these good; a bound that needs no prices.

    The problem has sets of priors as the channels need them; the cones contain all that it allows.
    """

    problem: Problem
    known: Ceiling
    channels: list[Mixture]
    others: list[Mixture]
    cones: list[Cone]


def _columns(mixture: Mixture) -> FloatArray:
    return np.asarray(mixture.columns * mixture.shares[:, None])


def _generated(problem: Problem, utility: Information, pools: _Pools, close: float) -> _Generated:
    """Generate columns up to a relative gap, from the mixtures of a stricter level, which are replaced."""
    p = np.array([float(mass) for mass in problem.masses])
    kinds = tuple(own.key for own in problem.guarantees)
    if problem.silent or len(p) == 1:
        nothing = Ceiling(upper_bound(problem.masses, problem.guarantees, utility, 0 * p), 0 * p)
        return _Generated(problem, nothing, [], [], [])
    problem = _refined(problem)
    found = _Generated(problem, chords(problem.masses, problem.guarantees, utility), [], [], [])
    for cut in range(_CUTS):
        # with a little more room than asked for, rounding needs no repair, and what is never said stays so
        eased = replace(found.problem, room=problem.room + _EASE)
        search = None if eased.silent else _search(eased, utility, p)
        # columns of a set of priors that is described worse need not be allowed
        before = {} if cut else pools
        mixture = (
            None if search is None else _mixture(search, utility, p, found.known, before, (kinds, 0), close)
        )
        if mixture is None:
            break
        found.channels.append(mixture)
        refined = found.problem.refine(whole_weights(_columns(mixture)))
        if refined.guarantees == found.problem.guarantees:
            break
        found = replace(found, problem=refined)
    found = replace(found, cones=cones_of(found.problem.guarantees, problem.masses, Side.OUTER, Fraction(0)))
    if not eased.silent and not _is_cone(problem.guarantees, len(p)):
        # a bound is by cones that contain what is allowed: prices are those of the best channels of each
        for place, cone in enumerate(found.cones, 1):
            one = _search_in(cone, eased, utility, p)
            mixture = _mixture(one, utility, p, found.known, pools, (kinds, place), close)
            found.others.extend([] if mixture is None else [mixture])
    return found


def _mixture(
    search: Search,
    utility: Information,
    masses: FloatArray,
    known: Ceiling,
    pools: _Pools,
    key: tuple[tuple[str, ...], int],
    close: float,
) -> Mixture | None:
    """Generate columns from the mixture under a key, and leave the next one there; None where the solver fails."""
    before, found = pools.get(key), None
    if isinstance(search, Listed) and before is not None:
        found, before = follow(search, utility, masses, before, close), None
    try:
        found = found or generate(search, utility, masses, known, before=before, close=close)
    except SolverFailure:
        return None
    pools[key] = found
    return found


def _refined(problem: Problem) -> Problem:
    """Describe sets of priors by those that decide about the constant channel."""
    column = [[1] * len(problem.masses)]
    return replace(problem, guarantees=tuple(own.refine(column) for own in problem.guarantees))


def _search(problem: Problem, utility: Information, masses: FloatArray) -> Search:
    """Choose where columns come from: the cone's own sets, all extreme columns, or any cone's tangents."""
    guarantees = under_pml(problem.guarantees) or problem.guarantees
    if _is_cone(guarantees, len(masses)):
        (cone,) = cones_of(guarantees, problem.masses, Side.INNER, problem.room)
        return _search_in(cone, problem, utility, masses)
    rows = problem.rows(Side.INNER)
    if len(masses) <= FEW:
        corners = corners_of(rows, problem.masses)
        if corners is not None:
            most = None if rows.most is None else float(rows.most)
            return Listed(list_corners(corners, masses, utility), masses, most=most)
    parts = tuple(_search_in(cone, problem, utility, masses) for cone in _cones(problem))
    return GeneralSearch(shape_of(rows, len(masses)), utility, masses, parts)


def search_of(problem: Problem) -> Search:
    """Say where extreme columns of the guarantees' cone come from, whatever is asked of them."""
    return _search(problem, Information("chi_squared"), np.array([float(mass) for mass in problem.masses]))


def extreme_columns(search: Search) -> FloatArray:
    """List extreme columns: all where secrets are few, many otherwise."""
    if isinstance(search, Listed):
        return search.listing.columns
    secrets, draws = len(search.masses), np.random.default_rng(0)
    # the price of a total is left at nothing
    tries = np.zeros((_DRAWN, secrets + (search.total is not None)))
    tries[:, :secrets] = draws.standard_normal((_DRAWN, secrets)) * search.masses
    return np.concatenate([search.start(0 * tries[0], draws), *(search.price(one)[0] for one in tries)])


def _cones(problem: Problem) -> list[Cone]:
    """List cones that contain what is allowed; of maximal leakage beside others also PML's, which implies it."""
    guarantees = list(under_pml(problem.guarantees) or problem.guarantees)
    if len(guarantees) > 1:
        guarantees += [Alip(None, own.epsilon) for own in guarantees if isinstance(own, MaximalLeakage)]
    return cones_of(guarantees, problem.masses, Side.INNER, problem.room)


def _search_in(cone: Cone, problem: Problem, utility: Information, masses: FloatArray) -> Search:
    """Find columns of a cone: among all extreme ones where secrets are few, by knapsacks otherwise."""
    if len(masses) <= LISTED:
        return Listed(listing_of(cone, problem.masses, utility), masses, cone)
    return knapsack_search(cone, problem.masses, utility)


def _worth(problem: Problem, utility: Information, mixture: Mixture) -> float:
    """Bound I_f of the channel that a mixture is repaired to, from below, in floats.

    Of its lifts each is known to a relative error, and moved by that much towards 1, where f is least.
    """
    decided = problem.refine(_columns(mixture).astype(object))
    columns, slack = repaired_shares(decided.rows(Side.INNER), _columns(mixture))
    p = np.array([float(mass) for mass in problem.masses])
    totals = columns @ p
    lifts = columns / np.maximum(totals, 1e-300)[:, None]
    lifts = np.where(
        lifts > 1, np.maximum(lifts * (1 - 4 * slack), 1.0), np.minimum(lifts * (1 + 4 * slack), 1.0)
    )
    worths = (utility.excess(lifts - 1, lifts) @ p) * totals
    found = float(worths.sum() / columns.sum(axis=0).max()) * (1 - 8 * slack - 4 * ERROR)
    return found if found > 0 else 0.0


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

    The smallest of: what bounds on single lifts allow (`chords`); Σw + α for each cone that contains the allowed
    columns (`pricing`); and, for few secrets and several cones, for their intersection (`vertices`). Of a guarantee
    about another secret only the first and the last are known, and a set of priors is taken for the members that are
    listed. Prices that are no better than others cost nothing but the bound.
    """
    if len(masses) == 1:
        return 0.0
    guarantees = [own.refine([[1] * len(masses)]) for own in guarantees]
    cones = cones_of(guarantees, masses, Side.OUTER, Fraction(0))
    bounds = [
        chords(masses, guarantees, utility).bound,
        _bound_by(masses, guarantees, cones, utility, prices),
    ]
    return max(min(bound for bound in bounds if math.isfinite(bound)), 0.0)


def _bound_by(
    masses: Vector,
    guarantees: Sequence[Guarantee],
    cones: Sequence[Cone],
    utility: Information,
    prices: FloatArray,
) -> float:
    """Bound I_f by prices: for each cone that contains what is allowed, and for few secrets for all together."""
    # any prices prove something, but not if they overflow; secrets without mass are never worth a negative price
    prices = np.clip(np.nan_to_num(prices), -_DEAREST, _DEAREST)
    prices = np.where([mass == 0 for mass in masses], np.maximum(prices, 0.0), prices)
    bounds = [cone.bound(masses, utility, prices) for cone in cones]
    corners, total = _corners(masses, guarantees, utility)
    if corners is not None:
        rest = corners.beyond(prices) if total is None else up(beyond_peaks(corners, prices) * total)
        bounds.append(sum_up(np.append(prices, rest)))
    return min((bound for bound in bounds if math.isfinite(bound)), default=math.inf)


def listings(
    masses: Vector, guarantees: Sequence[Guarantee], utility: Information
) -> Iterator[tuple[Listing, float | None]]:
    """List extreme columns of each cone that contains what is allowed, and its total, and for few of all together.

    Only where secrets are no more than can be listed.
    """
    guarantees = [own.refine([[1] * len(masses)]) for own in guarantees]
    for cone in cones_of(guarantees, masses, Side.OUTER, Fraction(0)):
        if not cone.silent:
            yield listing_of(cone, masses, utility), cone.total if isinstance(cone, Peaks) else None
    corners, total = _corners(masses, guarantees, utility)
    if corners is not None:
        yield corners, total


def _corners(
    masses: Vector, guarantees: Sequence[Guarantee], utility: Information
) -> tuple[Listing | None, float | None]:
    """List the extreme columns of several guarantees together, for few secrets, and what largest entries may sum to."""
    if len(masses) > FEW or _is_cone(guarantees, len(masses)):
        return None, None
    rows = all_rows(guarantees, masses, Side.OUTER)
    found, total = corners_of(rows, masses), None if rows.most is None else float_above(rows.most)
    return None if found is None else list_corners(found, np.array(masses, dtype=np.float64), utility), total


def _is_cone(guarantees: Sequence[Guarantee], secrets: int) -> bool:
    """Whether what is allowed is one of the cones whose extreme columns are known."""
    others = [type(own) for own in guarantees if not (isinstance(own, Alip) and own.about is None)]
    if secrets <= LISTED and others in (
        [Ldp],
        [MaximalLeakage],
        [Ldp, MaximalLeakage],
        [MaximalLeakage, Ldp],
    ):
        return True
    return not others or (len(guarantees) == 1 and others[0] in (Ldp, FloorPml, MaximalLeakage))
