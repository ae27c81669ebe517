"""The envelope over a set of priors: sup over p of ε_c(δ; p), between two proved ends.

Lower end: the envelope, with its attack, under one prior of the set, found by a search (`Seeker`). Upper end:
multipliers that are valid for every prior of the set (proof.py), on cells of the set where it has few corners, and by
chords on the whole set where it has many. A list of priors is no search: the largest of its envelopes.

Why a search below. ε_c(δ) is not quasi-convex in the prior, so its largest value need not lie at a corner: under the
identity channel and δ = 1 it is log 1/max p, largest in the middle. What the search finds is a lower end only.

Branch and bound above (`partition`). The set is cut where the bound is largest. On each cell one linear program looks
for multipliers that are good at all of its points at once. Its answers are suggestions; proof.py checks them.
λ_x = 1/(T − θ_x) with a threshold θ_x that stays when T changes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.certificate.rational import rational
from tightlip.envelopes.adversaries import envelope as one_prior_envelope
from tightlip.envelopes.result import Envelope, read_delta
from tightlip.errors import CertificateInvalid, InvalidInput, SolverFailure, quoted
from tightlip.model.channel import Channel
from tightlip.model.prior_set import AnyPriorSet, PriorList
from tightlip.numeric.display import several
from tightlip.numeric.linear_program import minimise
from tightlip.numeric.parse import FloatArray, float_number
from tightlip.robust.certificate import (
    CellsProof,
    Chords,
    Likelihoods,
    ListCertificate,
    Multipliers,
    Path,
    RegionCertificate,
    RobustCertificate,
    WholeProof,
    halves,
)
from tightlip.robust.region import (
    Cover,
    Point,
    Region,
    Simplex,
    as_prior,
    cover_of,
    dot,
    mean,
    mix,
    region_of,
)
from tightlip.robust.result import RobustEnvelope, log_ends

_SLACKS = [Fraction(1, 10**power) for power in (12, 10, 8)]
_LEAST_DELTA = 1e-300  # the search divides by it in floats
_MOST_WORK = 100_000  # numbers looked at in all cells
_MOST_POLES = 24
_STEPS = [Fraction(1, 2**power) for power in range(1, 8)]
_SAFE = 1 - 1e-11  # of δ: what floats call below δ is below it
_MOST_ENTRIES = 20_000  # of one linear program
_SOLVES = 5
_LEAST = 1e-9  # of 1/T: no smaller multiplier is tried
_GAIN = 1 - 1e-6

Upper = tuple[CellsProof | WholeProof, Fraction, str]


def envelope(
    channel: Channel,
    prior_set: AnyPriorSet,
    delta: Any,
    *,
    gap: float = 1e-4,
    cells: int = 200,
    tries: int = 120,
) -> RobustEnvelope:
    """Bound sup over the priors of a set of ε_c(δ): what survives with probability δ under some prior.

    Parameters
    ----------
    channel : Channel
    prior_set : PriorSet, PriorBall, PriorList or PriorPolytope
    delta : probability in (0, 1]
    gap : float
        The relative gap between the ends of e^ε at which the search may stop.
    cells, tries : int
        The most cells for the upper end (fewer for a large channel) and the most priors tried for the lower one.

    Returns
    -------
    RobustEnvelope
        Two sound ends in nats, never one number that pretends to be exact; the prior and attack that reach the lower
        one; a certificate of both.

    >>> from tightlip import papers, PriorSet
    >>> found = envelope(papers.env_example_1(), PriorSet(min_mass="1/8"), "0.2")
    >>> round(found.lower, 3), found.upper - found.lower < 2e-4, found.prior in PriorSet(min_mass="1/8")
    (0.968, True, True)
    >>> found.verify()
    """
    wanted, allowed = read_delta(delta), _read_gap(gap)
    if wanted < _LEAST_DELTA:
        raise InvalidInput(
            f"delta must be at least {_LEAST_DELTA}, got {quoted(delta)}; robust.maximal_leakage is for no δ at all."
        )
    region = region_of(prior_set, channel)
    if isinstance(region, tuple):
        assert isinstance(prior_set, PriorList)
        return _over_list(channel, prior_set, wanted)
    known = Likelihoods.of(channel, region)
    mass = known.reachable(wanted)
    cover, most, allowed_tries = cover_of(region), whole(cells, "cells", 1), whole(tries, "tries", 1)
    seeker = Seeker(channel, wanted, tries=allowed_tries)
    if cover is not None and cover.divisible:
        seeker.tries = -(-allowed_tries // 2)  # the other half for the middles of cells
    seek(seeker, region, known.columns)
    seeker.tries = allowed_tries
    uppers = [] if cover is None else _by_cells(cover, region, known, mass, seeker, allowed, most)
    if cover is None or not cover.divisible or not uppers:
        uppers.append(_by_chords(region, known, mass, seeker))
    proof, ratio, how = min(uppers, key=lambda upper: upper[1])
    certificate = RegionCertificate(channel, prior_set, wanted, seeker.worst.proof(), ratio, proof)
    return _result(certificate, seeker.worst, f"{how}; lower end the worst of {len(seeker.known)} priors")


def _over_list(channel: Channel, priors: PriorList, delta: Fraction) -> RobustEnvelope:
    found = [one_prior_envelope(channel, prior, delta) for prior in priors]
    certificate = ListCertificate(channel, priors, delta, tuple(one.proof() for one in found))
    worst = next(one for one in found if one.certificate is certificate.witness)
    return _result(certificate, worst, f"the largest of {len(found)} envelopes")


def _result(certificate: RobustCertificate, worst: Envelope, method: str) -> RobustEnvelope:
    upper = log_ends(certificate.upper_ratio)[1]
    return RobustEnvelope(
        delta=certificate.delta,
        lower=min(worst.lower, upper),
        upper=upper,
        method=method,
        prior=certificate.prior,
        attack=worst.attack,
        certificate=certificate,
    )


def _by_cells(
    cover: Cover, region: Region, known: Likelihoods, mass: Fraction, seeker: Seeker, gap: float, most: int
) -> list[Upper]:
    """Prove an upper end by multipliers for each cell; none where floats have too few digits to find any."""
    chances = np.array([[float(column[x]) for column in known.columns] for x in known.possible])
    bound = DualBound(chances, list(known.possible), float(mass))

    def target(cell: Simplex) -> float:
        seeker.try_prior(mean(cell))
        return math.exp(seeker.worst.lower) * (1 + gap)

    affordable = max(_MOST_WORK // (chances.size * len(cover.cells[0])), 1) if cover.divisible else 1
    found = partition(bound, cover.cells, _thresholds(seeker.worst, known), target, min(most, affordable))
    proof = CellsProof({cell.path: cell.multipliers() for cell in found})
    largest = Fraction(max(cell.bound for cell in found))
    for slack in _SLACKS:  # the ratio is raised by as little as makes the proof hold in rationals
        ratio = largest * (1 + slack)
        try:
            proof.check(region, known, ratio, mass)
        except CertificateInvalid:
            continue
        return [(proof, ratio, f"multipliers on {several(len(found), 'cell')} of the set")]
    return []


def _by_chords(region: Region, known: Likelihoods, mass: Fraction, seeker: Seeker) -> Upper:
    """Prove an upper end by one set of multipliers for the whole set, or none."""
    chords = Chords(region, known)
    peaks = (max(column[secret] for secret in known.possible) for column in known.columns)
    ratio = sum(peaks, Fraction(0)) / mass
    proof, how = WholeProof((1 / ratio,) * len(known.possible)), "maximal leakage + log 1/δ"
    lift = chords.lift()
    if lift is not None and lift < ratio:
        proof, ratio, how = WholeProof(None), lift, "leakage capacity"
    thresholds = _thresholds(seeker.worst, known)
    if thresholds is not None:
        better = _chord_ratio(chords, thresholds, mass, math.exp(seeker.worst.lower), ratio)
        if better is not None:
            proof, ratio, how = (*better, "multipliers of the worst prior found, by chords")
    return proof, ratio, f"{how}, on the set uncut"


def _chord_ratio(
    chords: Chords, thresholds: FloatArray, mass: Fraction, low: float, most: Fraction
) -> tuple[WholeProof, Fraction] | None:
    """Find the smallest ratio below `most` that these thresholds prove by chords."""
    own = [Fraction(value) for value in thresholds.tolist()]
    found = None
    low, high = max(low, float(thresholds.max()) * (1 + 1e-9)), float(most)
    while high > low * (1 + 1e-7):
        middle = Fraction(math.sqrt(low * high))
        multipliers = tuple(1 / (middle - value) for value in own)
        if chords.total(multipliers, middle) <= rational(mass):
            found, high = (WholeProof(multipliers), middle), float(middle)
        else:
            low = float(middle)
    return found


def _thresholds(found: Envelope, known: Likelihoods) -> FloatArray | None:
    """θ_x = T − 1/λ_x of an envelope's proof, where it has a positive multiplier for every possible secret."""
    proof = found.certificate
    if not isinstance(proof, EnvelopeCertificate) or proof.upper.multipliers is None:
        return None
    own = [proof.upper.multipliers[secret] for secret in known.possible]
    if min(own) <= 0:
        return None
    return np.array([float(proof.upper.ratio - 1 / value) for value in own])


def _read_gap(gap: Any) -> float:
    allowed = float_number(gap, "gap")
    if not 1e-9 <= allowed < 1:
        raise InvalidInput(f"gap must be in [1e-9, 1), got gap={allowed!r}; 1e-4 is the default.")
    return allowed


@dataclass
class Seeker:
    """Priors tried so far, each with its envelope; `tries` bounds how many."""

    channel: Channel
    delta: Fraction
    tries: int
    known: dict[Point, Envelope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best: Point | None = None

    def try_prior(self, point: Point) -> bool:
        """Whether the prior is worse than all before."""
        if point in self.known or len(self.known) >= self.tries:
            return False
        found = self.known[point] = one_prior_envelope(
            self.channel, as_prior(point, self.channel), self.delta
        )
        if self.best is not None and found.lower <= self.known[self.best].lower:
            return False
        self.best = point
        return True

    def try_near(self, poles: list[Point]) -> None:
        """From the best prior, steps towards the poles, halved when none helps."""
        for step in _STEPS:
            while any(self.try_prior(mix(self._start(), pole, step)) for pole in poles):
                pass

    def _start(self) -> Point:
        assert self.best is not None
        return self.best

    @property
    def worst(self) -> Envelope:
        """The largest envelope found."""
        return self.known[self._start()]


def poles_of(region: Region, columns: tuple[tuple[Fraction, ...], ...]) -> list[Point]:
    """Find extreme members: rarest and most likely for some outcome, heaviest on some secret."""
    found: dict[Point, None] = {}
    for column in columns[:_MOST_POLES]:
        found[region.lowest(column)[1]] = None
        found[region.highest(column)[1]] = None
    for secret in region.possible[:_MOST_POLES]:
        unit = [Fraction(place == secret) for place in range(region.size)]
        found[region.highest(unit)[1]] = None
    return list(found)[:_MOST_POLES]


def rare_points(region: Region, columns: tuple[tuple[Fraction, ...], ...], delta: Fraction) -> list[Point]:
    """Find members under which outcomes, one or the rarest few together, have probability δ exactly.

    An outcome leaks the more the rarer it is, and below δ it counts for less: the worst prior may be this narrow ridge.
    """
    middle = region.inside()
    least = sorted(columns, key=lambda column: region.lowest(column)[0])[:_MOST_POLES]
    together = [
        tuple(sum(entries, Fraction(0)) for entries in zip(*least[:count], strict=True))
        for count in range(2, len(least))
    ]
    found: dict[Point, None] = {}
    for column in (*least, *together):
        (low, point), high = region.lowest(column), dot(column, middle)
        if low < delta < high:
            found[mix(point, middle, (delta - low) / (high - low))] = None
    return list(found)[:_MOST_POLES]


def seek(seeker: Seeker, region: Region, columns: tuple[tuple[Fraction, ...], ...]) -> None:
    """Try a member inside, the poles, their mean, members with outcomes as rare as δ, and steps between the poles."""
    poles = poles_of(region, columns)
    for point in (region.inside(), mean(poles), *poles, *rare_points(region, columns, seeker.delta)):
        seeker.try_prior(point)
    seeker.try_near(poles)


@dataclass(frozen=True, slots=True)
class Cell:
    """A simplex of priors on which no envelope exceeds log(bound), by these thresholds (None: no lift exceeds it)."""

    points: Simplex
    path: Path
    bound: float
    thresholds: FloatArray | None

    def multipliers(self) -> Multipliers:
        """Compute λ_x at the cell's own bound; they serve any larger one too."""
        if self.thresholds is None:
            return None
        return tuple(map(Fraction, (1 / (self.bound - self.thresholds)).tolist()))


@dataclass(frozen=True, slots=True)
class DualBound:
    """The dual value of multipliers at many priors at once, in floats: K of the possible secrets, and δ."""

    chances: FloatArray
    possible: list[int]
    delta: float

    def marginals(self, points: Simplex) -> FloatArray:
        """q_y at each point."""
        return np.array([[float(point[x]) for x in self.possible] for point in points]) @ self.chances

    def first(self, points: Simplex, path: Path) -> Cell:
        """Take the better of two bounds that need no search: no lift above it, or maximal leakage + log 1/δ."""
        peaks, least = self.chances.max(axis=0), self.marginals(points).min(axis=0)
        lifts = peaks[peaks > 0] / np.maximum(least[peaks > 0], 1e-300)
        lift = float(lifts.max()) * (1 + 1e-12)
        average = float(peaks.sum()) / (self.delta * _SAFE)
        if lift <= average:
            return Cell(points, path, lift, None)
        return Cell(points, path, average, np.zeros(len(self.possible)))

    def values(self, thresholds: FloatArray, ratio: float, marginals: FloatArray) -> FloatArray:
        """Compute Σ_y max(0, max_x (K_xy − θ_x q_y)/(T − θ_x)) at each point."""
        best = np.full(marginals.shape, 0.0)
        for chances, threshold in zip(self.chances, thresholds.tolist(), strict=True):
            np.maximum(best, (chances - threshold * marginals) / (ratio - threshold), out=best)
        return np.asarray(best.sum(axis=1))

    def value(self, thresholds: FloatArray, ratio: float, marginals: FloatArray) -> float:
        """Compute the largest of them."""
        return float(self.values(thresholds, ratio, marginals).max())

    def improve(self, cell: Cell, thresholds: FloatArray) -> Cell:
        """Lower the bound of a cell to what some thresholds prove, if that is smaller."""
        marginals = self.marginals(cell.points)
        high = cell.bound
        low = max(1.0, float(thresholds.max()) * (1 + 1e-9))
        wanted = self.delta * _SAFE
        if low >= high or self.value(thresholds, high, marginals) > wanted:
            return cell
        while high > low * (1 + 1e-10):
            middle = math.sqrt(low * high)
            low, high = (
                (low, middle) if self.value(thresholds, middle, marginals) <= wanted else (middle, high)
            )
        return Cell(cell.points, cell.path, high, thresholds)

    def refine(self, cell: Cell, target: float) -> Cell:
        """Solve programs, each at the bound that the last one proved, until the target is met or little is gained.

        A program sees the points that were worst so far, all of them where they are few.
        """
        marginals = self.marginals(cell.points)
        room = max(_MOST_ENTRIES // self.chances.size, 2)
        thresholds = np.zeros(len(self.chances)) if cell.thresholds is None else cell.thresholds
        seen = np.zeros(len(marginals), dtype=bool)
        for _ in range(_SOLVES):
            values = self.values(thresholds, cell.bound, marginals)
            fresh = room // 4 + 1 if seen.any() else room
            seen[np.argsort(-values, kind="stable")[:fresh]] = True
            suggested = self._best_thresholds(marginals[seen], cell.bound) if cell.bound > target else None
            if suggested is None:
                return cell
            better = self.improve(cell, suggested)
            if seen.all() and better.bound >= cell.bound * _GAIN:
                return better
            cell, thresholds = better, suggested
        return cell

    def _best_thresholds(self, marginals: FloatArray, ratio: float) -> FloatArray | None:
        """min over λ ≥ 0 of the largest Σ_y u_vy, with u_vy ≥ 0 and u_vy ≥ q_vy + λ_x (K_xy − T q_vy)."""
        matrix, right, cost = _program(self.chances, marginals, ratio)
        try:
            found = minimise(cost, matrix, right)
        except SolverFailure:
            return None  # no suggestion; the bound stays as it is
        multipliers = np.maximum(found.primal[: len(self.possible)], _LEAST / ratio)
        return self._lower_thresholds(
            np.minimum(ratio - 1 / multipliers, ratio * (1 - 1e-9)), marginals, ratio
        )

    def _lower_thresholds(self, thresholds: FloatArray, marginals: FloatArray, ratio: float) -> FloatArray:
        """The smallest thresholds that are worth no more than these, at any outcome of any point.

        A program leaves those that matter to no outcome anywhere, also just below T, where they keep T from falling.
        (K − θq)/(T − θ) ≤ u holds from θ = (K − Tu)/(q − u) on where u < q, and for all smaller θ elsewhere.
        """
        overall = marginals[:, None, :]  # point, secret, outcome
        worth = (self.chances - thresholds[:, None] * overall) / (ratio - thresholds[:, None])
        most = np.maximum(worth.max(axis=1, keepdims=True), 0.0)
        least = np.full(worth.shape, ratio - ratio / _LEAST)
        np.divide(self.chances - ratio * most, overall - most, out=least, where=overall > most)
        return np.asarray(np.minimum(thresholds, least.max(axis=(0, 2))))


def _program(
    chances: FloatArray, marginals: FloatArray, ratio: float
) -> tuple[object, FloatArray, FloatArray]:
    """State the linear program: columns λ of each secret, u of each point and outcome, the largest sum; rows u, sum."""
    from scipy.sparse import coo_array

    secrets, outcomes = chances.shape
    points = len(marginals)
    cells = points * outcomes
    count = cells * secrets
    gains = chances[None] - ratio * marginals[:, None, :]  # point, secret, outcome
    point, secret, outcome = (index.ravel() for index in np.indices(gains.shape))
    row = np.arange(count)
    cell = point * outcomes + outcome
    sums = np.arange(cells)
    data = np.concatenate([gains.ravel(), -np.ones(count), np.ones(cells), -np.ones(points)])
    rows = np.concatenate([row, row, count + sums // outcomes, count + np.arange(points)])
    columns = np.concatenate([secret, secrets + cell, secrets + sums, np.full(points, secrets + cells)])
    shape = (count + points, secrets + cells + 1)
    right = np.concatenate([-marginals[point, outcome], np.zeros(points)])
    return (
        coo_array((data, (rows, columns)), shape=shape).tocsr(),
        right,
        np.eye(1, shape[1], shape[1] - 1)[0],
    )


def partition(
    bound: DualBound,
    roots: list[Simplex],
    start: FloatArray | None,
    target: Callable[[Simplex], float],
    most: int,
) -> list[Cell]:
    """Cut the set into cells at the largest bound until it meets the target or there are `most` of them.

    `target` gets each cell that is about to be cut and says which ratio would be good enough now.
    """
    goal = target(roots[0])
    cells = [bound.first(root, (place,)) for place, root in enumerate(roots)]
    if start is not None:
        cells = [bound.improve(cell, start) for cell in cells]
    heap = [(-cell.bound, cell.path, cell) for cell in (bound.refine(cell, goal) for cell in cells)]
    heapq.heapify(heap)
    while -heap[0][0] > goal and len(heap) < most:
        cell = heapq.heappop(heap)[2]
        goal = target(cell.points)
        if len(cell.points) == 1:
            heapq.heappush(heap, (-cell.bound, cell.path, cell))
            break
        for side, half in enumerate(halves(cell.points)):
            child = bound.first(half, (*cell.path, side))
            if cell.thresholds is not None:
                child = bound.improve(child, cell.thresholds)
            child = bound.refine(child, goal)
            heapq.heappush(heap, (-child.bound, child.path, child))
    return [cell for _, _, cell in heap]
