"""One secret's view of a release when the table is the whole population: every number is exact or proved."""

from __future__ import annotations

from fractions import Fraction

from tightlip.auditing.counted import Counted
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
from tightlip.numeric.quantity import Nats, Probability
from tightlip.statistic.result import StatisticLeakage

WORST_CELLS = 20
_STEPS = ("1", "5/4", "3/2", "2", "5/2", "3", "4", "5", "15/2", "10")
_DECADES = 6


def tail_levels() -> tuple[Nats, ...]:
    """The levels at which tails are told: factors 1, 1.25, 1.5, 2, … up to a million; fixed, whatever the data.

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
    """The tail at the fixed levels, up to the first that nobody exceeds."""
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
