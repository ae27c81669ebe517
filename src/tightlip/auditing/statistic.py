"""Statistic maximal leakage (SML) about one secret column, a statistic of all secret columns together.

The release depends on the whole secret θ = (a, b, …); one of its columns, g(θ) = a, is asked about. With K(y | θ) of
the audited release, for θ that occur,

    Π = max over one θ_a for each value a of  log Σ_y max_a K(y | θ_a):

how much easier the release makes it to guess a, for the worst prior of the whole secret. Cells with proportional
counts are merged first; that multiplies each maximum, so no sum changes. Channels stored as floats are within a
relative 2⁻⁵⁰ of the counts, and so is every sum; both ends are widened by more than that.
"""

from __future__ import annotations

from dataclasses import replace

from tightlip.auditing.counted import Counted, proportional_groups
from tightlip.auditing.tally import ROUNDED
from tightlip.numeric.rounding import down, up
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.result import StatisticLeakage

WORK = 1_500.0  # millions of entries for each statistic column; more may bring ends together that are apart
_SLACK = float(4 * ROUNDED)


def statistic_of(release: Counted, view: Counted, *, work: float = WORK) -> StatisticLeakage:
    """SML of a release about the secret columns that a view of it is about, with proved ends.

    Parameters
    ----------
    release : the release as the whole secret sees it
    view : the same release about some of the secret columns, in its own order of secrets
    work : millions of entries to read in search of ends that meet; they are sound wherever it stops

    Returns
    -------
    StatisticLeakage
        Its labels are places: of secrets in `view`, and of rows in `release`.
    """
    columns = [release.secret_columns.index(column) for column in view.secret_columns]
    place_of = {tuple(codes): place for place, codes in enumerate(view.secret_codes.tolist())}
    groups = [place_of[tuple(codes)] for codes in release.secret_codes[:, columns].tolist()]
    channel = release.tally.with_cells(proportional_groups(release.tally)).channel()
    found = statistic_maximal_leakage(channel, groups, work=work)
    return found if channel.is_exact else _widened(found)


def _widened(found: StatisticLeakage) -> StatisticLeakage:
    return replace(
        found,
        lower=max(down(found.lower - _SLACK), 0.0),
        upper=up(found.upper + _SLACK),
        method=f"{found.method}; ends widened by {_SLACK:.1e} for counts stored as floats",
        ratio=None,
    )
