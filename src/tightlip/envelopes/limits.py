"""Set the limits of the envelope's solver: every tuning constant, with what it trades.

No value here can make a result unsound. Each end of a bracket is proved apart from how it was found (dual.py,
attack.py) and a result's certificate is checked again, so a limit trades time against the gap that is left, or memory
against time. Constants on which soundness rests, bounds on roundings, stand beside the proof that uses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlip.numeric.deadline import NEVER, Deadline


@dataclass(frozen=True, slots=True)
class Limits:
    """Limit the work of one envelope; tests and experiments pass others, `LIMITS` are the defaults."""

    # --- the linear program ---

    # More pairs of secret and outcome than this: only pairs with K > 0 become columns, which saves memory and may
    # leave a gap.
    complete_pairs: int = 5_000_000
    # Columns of largest lift for each outcome and each secret to begin with: more make the first solves slower and
    # save some of them.
    first_columns: int = 4
    # Columns added at once for each outcome: more make solves slower and rounds of pricing fewer, above all where many
    # columns of an outcome are worth nearly the same.
    added_columns: int = 10
    # The same when columns are priced for the first time: far from the optimum many seem to be of use that are not.
    first_added_columns: int = 3
    # Columns whose reduced cost misses 0 by at most this much of q are added with those that improve: most would be
    # priced in at a neighbouring ratio.
    added_within: float = 0.3
    # Values of columns that differ by less, times the number of secrets, are tied, and outcomes prefer different
    # secrets among them; without it many secrets that are nearly alike take hundreds of rounds.
    tie: float = 1e-12
    # More columns than this for each row: those whose reduced cost is below −`dropped_below` of q are dropped between
    # two δ. Fewer make a solve faster and the next pricing slower.
    columns_per_row: int = 3
    dropped_below: float = 0.3
    # The same while a search goes on, since each pivot looks at all columns; only in its first solves, as columns that
    # are dropped may come again.
    crowded_columns_per_row: int = 10
    crowded_dropped_below: float = 0.03
    dropping_solves: int = 60

    # --- rounds ---

    # Solves for the first δ of a search, and for later ones, which begin near their answer: past these the gap stays.
    first_solves: int = 120
    later_solves: int = 15
    # Solves in a row that neither narrow the bracket nor add columns before the search gives up.
    stalls: int = 4
    # Pivots times rows of all solves for one δ, in millions: past these the gap stays. About a minute and a half, which
    # no table of some thousand secrets and cells has needed; counted, so that a busy machine gives the same result.
    pivot_work: float = 2_000.0

    # --- root finding ---

    # A value of V so near 0 or 1 (relatively) says nothing about its slope.
    flat: float = 1e-9
    # Solves in a row that may gain little before the bracket is bisected.
    slow_steps: int = 2
    # So few breakpoints in a bracket, or on the way to the next ratio, are looked at one by one.
    few_breakpoints: int = 2
    several_breakpoints: int = 8
    # With nothing known of V, a bracket wider than this (as a factor) is bisected first.
    wide: float = 1.03
    # A bracket narrower than this is bisected at its breakpoints instead of in the middle.
    narrow: float = 1.01
    # A secant is trusted unless it meets δ within this share of one of its ends, where V may be flat.
    secant_margin: float = 0.05
    # So far above a breakpoint (relatively) a solver is not misled by it; closer only where that has been tried.
    clear: float = 1e-7

    # --- the parametric predictor ---

    # Terms of the power series around a basis, at first and at most; each is one solve with the basis's factors.
    # With at most 0 there is no predictor, and each point of a curve takes several solves more.
    first_terms: int = 3
    most_terms: int = 16
    # How far from its ratio a series is trusted, as a share of the ratio.
    series_reach: float = 0.1
    # The last term of V may be as large, of δ, for the series to count as complete.
    series_rest: float = 1e-11
    # A weight below −`basis_ended` stops a series early, one below −`basis_negative` rejects what it proposes: the
    # basis is feasible no more.
    basis_ended: float = 1e-3
    basis_negative: float = 1e-9
    # Steps and relative accuracy of Newton's method on a series; the square of the latter is below rounding.
    newton_steps: int = 20
    newton_digits: float = 1e-9

    # --- attacks ---

    # An attack that misses the ratio it was found at by less is not repaired.
    ratio_missed: float = 1e-11
    # An attack that misses δ by less first takes outcomes too rare for a solver to see.
    mass_missed: float = 1e-9

    # --- aggregation of outcomes ---

    # More outcomes than this, in all and for each secret: the program is solved over groups of outcomes. Smaller
    # programs are faster without.
    aggregated_outcomes: int = 4000
    aggregated_per_secret: int = 16
    # Rounds of splitting groups before the gap stays.
    rounds: int = 40
    # Outcomes nearest to a tie that are split off in each round: more make programs larger and rounds fewer.
    split_off: int = 500
    # Groups for each secret to begin with.
    first_groups: int = 16

    # --- suspects, where there are very many secrets (auditing/suspects.py) ---

    # Secrets that are solved for at once: more make programs larger, fewer make rounds more. With many cells there are
    # fewer of them, so that all pairs fit into `complete_pairs`, but not less than the second number.
    suspects: int = 1_000
    least_suspects: int = 20
    # Secrets added in one round, or half as many as there are if that is more.
    added_suspects: int = 100
    # Rounds, and pairs of secret and cell in all of them: past these the gap stays.
    suspect_rounds: int = 12
    suspect_pairs: int = 100_000_000

    # --- what is returned ---

    # Up to so many pairs every certificate is checked before it is returned; larger ones rest on the margins in floats
    # until `verify()` is called, which may take longer than the search.
    verified_pairs: int = 100_000
    # Up to so many secrets times cells an audit checks its certificate too; ten seconds for ten million. Larger ones
    # are left out.
    rational_pairs: int = 25_000_000
    # More pairs that occur in an audit: closed forms alone, since the arrays of a search may not fit into 8 GB.
    searched_pairs: int = 40_000_000


LIMITS = Limits()
OUT_OF_TIME: Final = "the time was used up"
OUT_OF_WORK: Final = "the work allowed for one search was used up"


class Effort:
    """What the search for one δ may still do: pivots are counted, and a clock is looked at where somebody set one."""

    def __init__(self, limits: Limits = LIMITS, until: Deadline = NEVER) -> None:
        self._left, self._until = limits.pivot_work * 1e6, until

    @property
    def seconds(self) -> float:
        """The seconds that are left, at least 0; infinite without a clock."""
        return max(self._until.left(), 0.0)

    def pivots(self, rows: int) -> int:
        """How many pivots of a program of so many rows are left."""
        return int(min(max(self._left, 0.0) / rows, 2**31 - 1))

    def spend(self, pivots: int, rows: int) -> None:
        """Count what was done; a solve without a pivot is work too."""
        self._left -= max(pivots, 1) * rows

    @property
    def ended_by(self) -> str:
        """What is used up, in words; empty while both are left."""
        if self.seconds <= 0:
            return OUT_OF_TIME
        return "" if self._left > 0 else OUT_OF_WORK
