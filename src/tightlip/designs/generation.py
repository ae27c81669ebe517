"""Column generation for f-informations: the best mixture of extreme columns, in floats.

    maximise Σ_i λ_i φ(v_i)   over columns v_i of the cone with p·v_i = 1, λ ≥ 0, Σ_i λ_i v_i = 1

has as many columns as there are sets of secrets. A master program holds some of them; its prices w ask for columns with
φ(v) > w·v, which lists or knapsacks find (`searches`). The first columns are sets of the best mass, chosen at
random: where secrets are many, their mixtures are optimal to many digits. Prices between the master's and those of the
best bound so far keep it from wandering. A bound that needs no prices (`chords`) may end the search before they ask for
anything. Another level of a guarantee has the same sets, but for a few secrets: there a search goes on from the columns
of the level before.

What comes back is a suggestion: `information` repairs the channel, and `pricing` proves what the prices say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tightlip.designs.chords import Ceiling
from tightlip.designs.f_information import Information
from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import TOLERANCE, new_solver, run
from tightlip.numeric.parse import FloatArray

CLOSE = 1e-8  # relative gap at which the search ends
_ROUNDS = 300  # of the master program; each takes some hundredths of a second at a hundred secrets
_FOLLOWED = 12  # of them where a search goes on from another level; one or two are the rule
_CLIMBED = 3  # of them where columns are looked for by climbing, which proves no bound that could end it
_NOISE = 1e-3  # of the prices, where their own find nothing
_STALL, _SHRINK = 12, 0.9  # rounds, and the part of the gap that must not be left after them
_NEARLY = 1e-6  # relative gap at which a search through all columns may end so
_MIX = 0.5  # of the best prices so far in those that are tried first
_WORTH = 1e-10  # a reduced cost, relative to the optimum, that is no improvement
_DEAR = 1e6  # prices, of what is reached, from which nothing can be foreseen
_TIGHT = 1e-7  # of a row: what the solver may leave of it
_UNUSED = 1e-11  # of the largest probability of an output: what the solver takes for nothing
_POOL = 2  # columns for each secret that another level goes on with; more make its master slow, fewer its search long
_TRIES = 6  # pricings in a row with prices that vary at random before none is taken to be left


class Search(ABC):
    """Where columns of one kind of cone come from."""

    __slots__ = ()
    rounds: ClassVar[int] = _ROUNDS
    exhaustive: ClassVar[bool] = True  # whether `price` finds the best column, but for the rounding of a grid
    exact: ClassVar[bool] = False  # whether no column is left that is better where it finds none
    masses: FloatArray

    @property
    @abstractmethod
    def total(self) -> float | None:
        """What the columns' largest entries, times their shares, may sum to; its price comes last."""

    @abstractmethod
    def start(self, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Make columns to begin with, for which prices may be a guess."""

    def refit(self, columns: FloatArray) -> FloatArray:
        """Write columns of a stricter level for this one, which allows them as they are."""
        return columns

    def flipped(self, columns: FloatArray) -> FloatArray:
        """Make columns of those that there are, each with one secret at the other end."""
        ends = columns.max(axis=1, keepdims=True), columns.min(axis=1, keepdims=True)
        other = np.where(2 * columns > sum(ends), 0.0, 2 * ends[0])
        flips = np.repeat(columns[:, None, :], columns.shape[1], axis=1)
        every = np.arange(columns.shape[1])
        flips[:, every, every] = other
        flips = flips.reshape(-1, columns.shape[1])
        return self.refit(flips[flips.any(axis=1)])

    def carried(self, columns: FloatArray, prices: FloatArray, draws: np.random.Generator) -> FloatArray:
        """Make more columns to begin with of those of a stricter level, or of its prices."""
        return self.start(prices, draws)

    @abstractmethod
    def price(self, prices: FloatArray) -> tuple[FloatArray, float]:
        """Find columns with φ(v) − w·v large, and about how large it can be."""


class Mixture(NamedTuple):
    """The best mixture of columns: these, their shares, prices that may prove it good, and what another level needs.

    Prices of the best bound that was seen come first, those of the mixture last. The pool are columns near to it. The
    trend are prices of the level before and of this one, for a unit of the value, which is what is reached.
    """

    columns: FloatArray
    shares: FloatArray
    prices: list[FloatArray]
    pool: FloatArray
    value: float
    trend: tuple[FloatArray, ...]

    def next_prices(self) -> FloatArray:
        """Guess the prices of the next level, for a unit of what it reaches: prices change evenly."""
        return np.asarray(2 * self.trend[-1] - self.trend[0]) if len(self.trend) > 1 else self.trend[-1]


def generate(
    search: Search,
    utility: Information,
    masses: FloatArray,
    known: Ceiling,
    *,
    before: Mixture | None = None,
    close: float = CLOSE,
) -> Mixture:
    """Find the best mixture of columns up to a relative gap, from random ones or from what a stricter level left."""
    width = len(masses) + (search.total is not None)
    if before is not None and len(before.trend[-1]) != width:
        before = None  # a level before had a total, or had none
    taken = None if before is None else _taken(search, utility, masses, known, before, close)
    if taken is not None:
        return taken
    draws, secrets, master = np.random.default_rng(0), len(masses), _Master(utility, masses, search.total)
    guess = np.zeros(width)
    guess[:secrets] = known.prices
    if before is None:
        master.add(np.concatenate([np.ones((1, secrets)), search.start(guess, draws)]))
    else:
        guess = before.value * before.next_prices()
        master.add(search.refit(before.columns), basic=True)
        begin = search.carried(before.pool, guess, draws)
        master.add(np.concatenate([np.ones((1, secrets)), search.refit(before.pool), begin]))
    best, bound, tries, gaps = None, known.bound, 0, []
    # under a total few levels are solved
    quick = before is None or search.total is not None
    rounds = search.rounds if quick else _FOLLOWED if search.exhaustive else _CLIMBED
    for _ in range(rounds):
        value, prices = master.solve()
        gaps.append(bound - value)
        stalled = len(gaps) > _STALL and gaps[-1] > _SHRINK * gaps[-1 - _STALL]
        if search.exact:
            # the last prices of all prove the bound, however long others proved nothing
            stalled &= gaps[-1] <= _NEARLY * bound
        if bound < np.inf and (gaps[-1] <= close * max(bound, 0.0) or stalled):
            break
        if search.exact:
            asked = prices
        elif before is not None and search.exhaustive and len(gaps) == 1:
            asked = guess
        else:
            asked = _asked(prices, best, tries, draws)
        columns, beyond = search.price(asked)
        if search.exhaustive and asked @ master.limits + beyond < bound:
            best, bound = asked.copy(), float(asked @ master.limits + beyond)
            best[:secrets] += beyond * masses
        worths = utility.of_columns(columns, masses) - master.entries(columns) @ prices
        better = worths > _WORTH * max(value, 1e-300)
        tries = 0 if better.any() else tries + 1
        if tries >= (1 if search.exact else _TRIES):
            break
        master.add(columns[better])
    else:
        value, prices = master.solve()
    proofs = [own for own in (best, prices) if own is not None]
    trend = (*(() if before is None else before.trend[-1:]), unit_prices(proofs[0], value))
    own = [one[:secrets] for one in proofs]
    return Mixture(*master.mixture(), own, master.nearest(prices), value, trend)


def _taken(
    search: Search, utility: Information, masses: FloatArray, known: Ceiling, before: Mixture, close: float
) -> Mixture | None:
    """Take the sets of a stricter level, if they make a channel near enough to what is known to bound all.

    Under LDP they always make one: shares a_S ≥ 0 with Σ a_S 1_S = c have Σ a_S (1 + (t − 1) 1_S) constant for every t.
    """
    if search.total is not None:
        return None
    columns = search.refit(before.columns)
    shares: Any = np.linalg.lstsq(columns.T, np.ones(len(masses)), rcond=None)[0]
    value = float(utility.of_columns(columns, masses) @ shares)
    if shares.min() < 0 or known.bound - value > close * known.bound:
        return None
    if np.abs(columns.T @ shares - 1).max() > _TIGHT:
        return None
    return before._replace(columns=columns, shares=shares, value=value)


def entries_of(columns: FloatArray, total: float | None) -> FloatArray:
    """Write what columns put into the rows of the program: one for each secret, and one for their largest entries.

    A column of nothing is what a total leaves over.
    """
    if total is None:
        return columns
    peaks = columns.max(axis=1, keepdims=True)
    return np.concatenate([columns, np.where(peaks > 0, peaks, 1.0)], axis=1)


def limits_of(masses: FloatArray, total: float | None) -> FloatArray:
    """Write what the rows sum to."""
    return np.ones(len(masses)) if total is None else np.append(np.ones(len(masses)), total)


def unit_prices(prices: FloatArray, value: float) -> FloatArray:
    """Take prices for a unit of what is reached; nothing where that is nothing, but for roundings."""
    return prices / value if 0 < np.abs(prices).sum() <= _DEAR * value else np.zeros_like(prices)


def _asked(prices: FloatArray, best: FloatArray | None, tries: int, draws: np.random.Generator) -> FloatArray:
    """Mix prices of the best bound into the master's first; then its own are tried, then others near them."""
    asked = prices if tries or best is None else _MIX * best + (1 - _MIX) * prices
    if tries > 1:
        asked = asked * (1 + _NOISE * 0.1**tries * draws.standard_normal(len(asked)))
    return asked


class _Master:
    """The program over the columns so far; HiGHS goes on from its last basis.

    Columns are scaled to a largest entry of 1, and worths to one of 1 at first: HiGHS refuses entries beyond 1e15, and
    takes what is worth less than its tolerance for nothing.
    """

    def __init__(self, utility: Information, masses: FloatArray, total: float | None) -> None:
        self._utility, self._masses, self._solver = utility, masses, new_solver(1e-9)
        # dense programs, solved again and again: there is nothing to presolve
        self._solver.setOptionValue("presolve", "off")
        # columns are added, so that the last basis stays feasible
        self._solver.setOptionValue("simplex_strategy", 4)
        self._columns, self._shares, self._unit = np.zeros((0, len(masses))), np.zeros(0), 0.0
        self._known: set[bytes] = set()
        self._total, self.limits = total, limits_of(masses, total)
        nothing = np.array([], dtype=np.int32), np.array([])
        for _ in masses:
            self._solver.addRow(1.0, 1.0, 0, *nothing)
        if total is not None:
            self._solver.addRow(0.0, total, 0, *nothing)

    def entries(self, columns: FloatArray) -> FloatArray:
        """Write what columns put into the rows of the program."""
        return entries_of(columns, self._total)

    def add(self, columns: FloatArray, *, basic: bool = False) -> None:
        """Add columns that are not there yet; the first ones may be a basis to begin with."""
        import highspy

        fresh = []
        for column, rounded in zip(columns, np.round(columns, 12), strict=True):
            key = rounded.tobytes()
            if key not in self._known:
                self._known.add(key)
                fresh.append(column)
        if not fresh:
            return
        added = np.array(fresh)
        self._columns = np.concatenate([self._columns, added])
        sizes = added.max(axis=1, keepdims=True)
        worths = self._utility.of_columns(added, self._masses) / sizes[:, 0]
        self._unit = self._unit or float(worths.max()) or 1.0
        costs, added = -worths / self._unit, self.entries(added) / sizes
        places = np.nonzero(added)
        starts = np.searchsorted(places[0], np.arange(len(added))).astype(np.int32)
        most = np.full(len(added), highspy.kHighsInf)
        rows, values = places[1].astype(np.int32), added[places]
        status = self._solver.addCols(
            len(added), costs, np.zeros(len(added)), most, len(values), starts, rows, values
        )
        if status == highspy.HighsStatus.kError:
            raise SolverFailure(
                f"the master program refused columns with worths up to {float(np.abs(costs).max()):.3g} for a largest "
                "entry of 1."
            )
        if basic:
            basis, at = highspy.HighsBasis(), highspy.HighsBasisStatus
            count = min(len(added), len(self.limits))
            basis.col_status = [at.kBasic] * count + [at.kLower] * (len(added) - count)
            basis.row_status = [at.kLower] * count + [at.kBasic] * (len(self.limits) - count)
            # a basis that is refused costs time alone
            self._solver.setBasis(basis)

    def solve(self) -> tuple[float, FloatArray]:
        """Return the value and the prices of the rows."""
        try:
            found = run(self._solver, "the master program")
        except SolverFailure:
            # stuck in degenerate steps: looser, and presolved after all
            self._solver.setOptionValue("presolve", "on")
            for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
                self._solver.setOptionValue(name, TOLERANCE)
            found = run(self._solver, "the master program")
        self._shares = found.primal / self._columns.max(axis=1)
        return -found.cost * self._unit, -found.duals * self._unit

    def mixture(self) -> tuple[FloatArray, FloatArray]:
        """Return the columns in use and their shares, solved once more for digits that the solver does not give."""
        sizes = self._columns.max(axis=1)
        # a column of a secret of hardly any mass has hardly any share
        used = self._shares * sizes > _UNUSED * (self._shares * sizes).max()
        columns, shares, sizes = self._columns[used], self._shares[used], sizes[used]
        rows = self.entries(columns).T
        tight = self.limits - rows @ shares <= _TIGHT  # a total may have room
        better: Any = np.linalg.lstsq(rows[tight] / sizes, self.limits[tight], rcond=None)[0] / sizes
        if len(shares) <= tight.sum() and better.min() >= 0:
            shares = better
        return columns, shares

    def nearest(self, prices: FloatArray) -> FloatArray:
        """Return the columns that are near to being used, by what they lack of their price."""
        lacks = self.entries(self._columns) @ prices - self._utility.of_columns(self._columns, self._masses)
        return self._columns[np.argsort(lacks)[: _POOL * len(self._masses)]]
