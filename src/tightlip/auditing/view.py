"""Measure one secret's view of a release when the table is the whole population: every number is exact or proved.

Statistic maximal leakage (SML) is about one secret column, a statistic of all secret columns together. The release
depends on the whole secret θ = (a, b, …); one of its columns, g(θ) = a, is asked about. With K(y | θ) of the audited
release, for θ that occur,

    Π = max over one θ_a for each value a of  log Σ_y max_a K(y | θ_a):

how much easier the release makes it to guess a, for the worst prior of the whole secret. Cells with proportional
counts are merged first; that multiplies each maximum, so no sum changes. Channels stored as floats are within a
relative 2⁻⁵⁰ of the counts, and so is every sum; both ends are widened by more than that.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tightlip.auditing.counted import Counted, proportional_groups
from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.leakage import (
    CellLeakage,
    cell_pmc,
    cell_pml,
    finding,
    local_privacy_of,
    maximal_leakage_of,
    other_findings,
)
from tightlip.auditing.plan import OnStage, name_of, silent
from tightlip.auditing.result import CellRisk, ColumnEffect, Finding, SecretView, TailPoint
from tightlip.auditing.tally import ROUNDED
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import down, up
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.result import StatisticLeakage

WORK = 1_500.0  # millions of entries for each statistic column; more may bring ends together that are apart
_SLACK = float(4 * ROUNDED)
WORST_CELLS = 20
_STEPS = ("1", "5/4", "3/2", "2", "5/2", "3", "4", "5", "15/2", "10")
_DECADES = 6


def statistic_of(release: Counted, view: Counted, *, work: float = WORK) -> StatisticLeakage:
    """Bound SML of a release about the secret columns that a view of it is about, with proved ends.

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
    return found if channel.is_exact else _widen_ends(found)


def _widen_ends(found: StatisticLeakage) -> StatisticLeakage:
    return replace(
        found,
        lower=max(down(found.lower - _SLACK), 0.0),
        upper=up(found.upper + _SLACK),
        method=f"{found.method}; ends widened by {_SLACK:.1e} for counts stored as floats",
        ratio=None,
    )


def tail_levels() -> tuple[Nats, ...]:
    """List the levels at which tails are told: factors 1, 1.25, 1.5, 2, … up to a million; fixed, whatever the data.

    >>> [str(level.ratio) for level in tail_levels()[:4]]
    ['1', '5/4', '3/2', '2']
    """
    ratios = sorted({Fraction(step) * 10**decade for decade in range(_DECADES) for step in _STEPS})
    return tuple(Nats.of_ratio(ratio) for ratio in ratios)


def population_view(
    counted: Counted,
    scale: Fraction,
    delta: Fraction,
    budget: Nats | None,
    *,
    columns: tuple[ColumnEffect, ...],
    sml: StatisticLeakage | None = None,
    on_stage: OnStage = silent,
) -> SecretView:
    """Measure the release as one secret sees it; `scale` is the number of people behind a count of 1."""
    tally, name = counted.tally, name_of(counted.secret_columns)
    on_stage(f"measuring {name}")
    gain, cost = cell_pml(tally), cell_pmc(tally)
    worst = finding(gain, gain.worst_first(1)[0])
    on_stage(f"envelope {name}")
    found, attack = tally_envelope(tally, delta)
    return SecretView(
        name=name,
        counted=counted,
        shares=tuple(Probability.of(tally.prior_of(place), "nearest") for place in range(tally.shape[0])),
        worst=worst,
        at_least=Nats.of_ratio(_ratio(worst), "down"),
        tail=tail_of(gain),
        envelope=found,
        attack=attack,
        others=other_findings(cost),
        maximal_leakage=maximal_leakage_of(gain),
        ldp=local_privacy_of(gain, cost),
        sml=sml,
        share_above_budget=None if budget is None else gain.tail(budget),
        worst_cells=tuple(_risk(gain, cell, scale) for cell in gain.worst_first(WORST_CELLS)),
        columns=columns,
    )


def tail_of(gain: CellLeakage) -> tuple[TailPoint, ...]:
    """Compute the tail at the fixed levels, up to the first that nobody exceeds."""
    points = []
    for level in tail_levels():
        above = gain.tail(level)
        assert above.fraction is not None
        points.append(TailPoint(level, above, Probability.of(above.fraction, "down")))
        if not above.fraction:
            break
    return tuple(points)


def _risk(gain: CellLeakage, cell: int, scale: Fraction) -> CellRisk:
    found = finding(gain, cell)
    size = float(int(gain.tally.of_cell[cell]) * scale)
    return CellRisk(cell, size, found.leakage, found.secret, found.prior, found.posterior)


def _ratio(found: Finding) -> Fraction:
    assert found.leakage.ratio is not None
    return found.leakage.ratio
