"""Measure one secret's view of a release.

Of a whole population every number is exact or proved; of a sample it is a confidence bound, all of them together.

Statistic maximal leakage (SML) is about one secret column, a statistic of all secret columns together. The release
depends on the whole secret θ = (a, b, …); one of its columns, g(θ) = a, is asked about. With K(y | θ) of the audited
release, for θ that occur,

    Π = max over one θ_a for each value a of  log Σ_y max_a K(y | θ_a):

how much easier the release makes it to guess a, for the worst prior of the whole secret. Cells with proportional
counts are merged first; that multiplies each maximum, so no sum changes. Channels stored as floats are within a
relative 2⁻⁵⁰ of the counts, and so is every sum; both ends are widened by more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.budget import Budget
from tightlip.auditing.certainty import FACTORS, certainty_of_holders, found_out, people_by_factor
from tightlip.auditing.classical import IdentityRisks, classical_measures
from tightlip.auditing.counted import Counted, proportional_groups
from tightlip.auditing.envelope import tally_envelope, widen_ends
from tightlip.auditing.leakage import (
    CellLeakage,
    cell_pmc,
    cell_pml,
    finding,
    local_privacy_of,
    maximal_leakage_of,
    other_findings,
    tail_levels,
)
from tightlip.auditing.plan import name_of
from tightlip.auditing.result import (
    CellRisk,
    Certified,
    ColumnEffect,
    Finding,
    HeatMap,
    PeopleAtRisk,
    SecretView,
    TailPoint,
)
from tightlip.auditing.rows_needed import rows_to_decide
from tightlip.auditing.sample import Errors, SampleBounds, SampleMode, release_bounds
from tightlip.auditing.tally import Tally, divide
from tightlip.envelopes.result import Envelope
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.numeric.display import format_exactly
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import log_up
from tightlip.statistic.maximal import statistic_maximal_leakage
from tightlip.statistic.result import StatisticLeakage
from tightlip.table.mechanism import Value

WORK = 1_500.0  # millions of entries for each statistic column; more may bring ends together that are apart
WORST_CELLS = 200  # kinds; reports group those that are told alike
UNSEEN = -1  # a cell outside the sample
FOUND_OUT = Fraction(1, 2), Fraction(9, 10)  # how likely the own secret is for those who count as found out
CERTAINTY = tuple(Fraction(tenth, 10) for tenth in range(1, 11))
_MOST_SHARES = 1_000  # of secrets, the most frequent first; nobody reads more
_TOLD_SECRETS = 50  # the most frequent, of which is told how certain they become
_TELLING = 0.5  # a bound says something if it is below this part of what any cell may leak, or so near to the lower one


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
    return found if channel.is_exact else widen_ends(replace(found, ratio=None))


def population_view(
    counted: Counted,
    scale: Fraction,
    delta: Fraction,
    budget: Budget | None,
    *,
    columns: tuple[ColumnEffect, ...],
    sml: StatisticLeakage | None = None,
    left_out: Mapping[Value, int] = {},
    sensitive: NDArray[np.bool_] | None = None,
    heat: HeatMap | None = None,
    identity: IdentityRisks | None = None,
    order: Sequence[int] | None = None,
    begin: Callable[[str], Deadline] = lambda _: NEVER,
) -> SecretView:
    """Measure the release as one secret sees it; `scale` is the number of people behind a count of 1."""
    tally, name = counted.tally, name_of(counted.secret_columns)
    begin(f"measuring {name}")
    gain, cost = cell_pml(tally), cell_pmc(tally)
    worst = finding(gain, gain.worst_first(1)[0])
    over = None if budget is None else tally.share_of(np.flatnonzero(budget.over(counted)))
    left = begin(f"envelope {name}").left()
    found, attack = tally_envelope(tally, delta, seconds=None if math.isinf(left) else max(left, 0.0))
    return SecretView(
        name=name,
        counted=counted,
        shares=_shares(tally),
        worst=worst,
        at_least=Nats.of_ratio(tally.lift(int(gain.pair[worst.cell])), "down"),
        tail=tail_of(gain),
        envelope=found,
        attack=attack,
        others=other_findings(cost),
        maximal_leakage=maximal_leakage_of(gain),
        ldp=local_privacy_of(gain, cost),
        sml=sml,
        share_above_budget=None if over is None else Probability.of(over),
        worst_cells=tuple(_risk(gain, cell, scale) for cell in gain.worst_first(WORST_CELLS)),
        columns=columns,
        people=int(tally.total * scale),
        budget=budget,
        verdict=None if over is None else not over,
        left_out=left_out,
        risk=people_at_risk(gain, scale, sensitive, identity, order),
        heat=heat,
    )


def people_at_risk(
    gain: CellLeakage,
    scale: Fraction,
    sensitive: NDArray[np.bool_] | None,
    identity: IdentityRisks | None,
    order: Sequence[int] | None = None,
) -> PeopleAtRisk:
    """Count the people whom a release exposes.

    Parameters
    ----------
    sensitive : which secrets are worth finding out; all where left out
    identity : of everybody in the release, where the secret does not apply to all of them
    order : the secrets from the lowest to the highest, where they have an order
    """
    tally = gain.tally
    few = 2 * tally.of_secret < tally.total
    meant = np.flatnonzero(few if sensitive is None else few & sensitive).tolist()
    found = {level: found_out(tally, level).by_secret for level in FOUND_OUT}
    told = range(min(tally.shape[0], _TOLD_SECRETS))
    classical = classical_measures(tally, order=order, scale=scale)
    return PeopleAtRisk(
        classical=classical if identity is None else replace(classical, identity=identity),
        holders=int(tally.of_secret[meant].sum()),
        found_out=tuple((level, sum(held[secret] for secret in meant)) for level, held in found.items()),
        by_factor=people_by_factor(gain, FACTORS),
        certainty=tuple(certainty_of_holders(tally, secret, CERTAINTY) for secret in told),
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
    many = int(gain.tally.cells[cell])
    size = float(int(gain.tally.of_cell[cell]) * scale / many)
    return CellRisk(cell, size, found.leakage, found.secret, found.prior, found.posterior, cells=many)


def _shares(tally: Tally) -> tuple[Probability, ...]:
    told = range(min(tally.shape[0], _MOST_SHARES))
    return tuple(Probability.of(tally.prior_of(secret), "nearest") for secret in told)


def sample_view(
    plain: Counted,
    release: Counted,
    odds: Mapping[str, Fraction],
    delta: Fraction,
    budget: Budget | None,
    *,
    errors: Errors,
    mode: SampleMode,
    columns: tuple[ColumnEffect, ...],
    left_out: Mapping[Value, int] = {},
) -> SecretView:
    """Bound the release as one secret sees it; `plain` are the counts before noise with the odds e^ε of columns."""
    level = None if budget is None else budget.level
    bounds = release_bounds(plain, release, odds, errors, mode, level, delta)
    above = None if level is None else Probability.of(bounds.above_level(level))
    tally, worst = release.tally, _worst(bounds)
    local = _local_privacy(release, odds)
    return SecretView(
        name=name_of(release.secret_columns),
        counted=release,
        shares=_shares(tally),
        worst=worst,
        at_least=_nats(float(bounds.cells.lower.max()), "down"),
        tail=_tail(bounds),
        envelope=_envelope(bounds, delta, min(bounds.upper_envelope(delta), worst.leakage), mode),
        attack=(),
        others={"pmc": _find_ruled_out(bounds, local)},
        maximal_leakage=bounds.upper_envelope(Fraction(1)),
        ldp=local,
        sml=None,
        share_above_budget=above,
        worst_cells=_worst_cells(bounds, Fraction(plain.tally.total, tally.total)),
        columns=columns,
        people=plain.tally.total,
        budget=budget,
        verdict=None if above is None else above <= delta,
        left_out=left_out,
        certified=_certify(bounds, mode, delta, level, errors),
    )


def _local_privacy(release: Counted, odds: Mapping[str, Fraction]) -> Nats:
    """LDP at most: the sum of the levels where every column has noise; a column without may exclude a secret."""
    if any(column not in odds for column in release.columns):
        return Nats(math.inf)
    return Nats.of_ratio(math.prod(odds.values(), start=Fraction(1)))


def _nats(ratio: float, rounding: str) -> Nats:
    lower, upper = log_bounds(Fraction(ratio))
    return Nats(lower, None, "down") if rounding == "down" else Nats(upper)


def _worst(bounds: SampleBounds) -> Finding:
    """The largest leakage that is not excluded; without a complete list of cells it may be in one that was not seen."""
    cells, most = bounds.cells, bounds.most
    cell = int(np.argmax(cells.upper))
    if most < bounds.priors.largest_lift:
        secret, posterior = int(cells.secret[cell]), Probability(float(cells.posterior[cell]))
        lift = _nats(min(float(cells.upper[cell]), most), "up")
        return Finding(cell, secret, lift, _prior_in_scope(bounds, secret), posterior)
    secret = int(np.argmin(bounds.priors.lower))
    return Finding(UNSEEN, secret, _nats(most, "up"), _prior_in_scope(bounds, secret), Probability(1.0))


def _prior_in_scope(bounds: SampleBounds, secret: int) -> Probability:
    """What the bounds on a secret divide by: its proved share, or the smallest in scope, rounded as the scope is."""
    proved, rarest = float(bounds.priors.proved[secret]), bounds.priors.rarest
    return Probability(proved, rounding="down") if proved > rarest else Probability(rarest)


def _tail(bounds: SampleBounds) -> tuple[TailPoint, ...]:
    points = [
        TailPoint(level, Probability.of(above), Probability.of(at_least, "down"))
        for level, above, at_least in zip(bounds.levels, bounds.above, bounds.at_least, strict=True)
    ]
    shown = next((place for place, point in enumerate(points) if not point.above), len(points) - 1)
    return tuple(points[: shown + 1])


def _envelope(bounds: SampleBounds, delta: Fraction, upper: Nats, mode: SampleMode) -> Envelope:
    sure = format_exactly(mode.level)
    method = f"confidence bounds at {sure} from tails of the leakage; no attack is written out"
    return Envelope(delta, min(bounds.lower_envelope(delta), float(upper)), float(upper), method)


def _find_ruled_out(bounds: SampleBounds, local: Nats) -> Finding:
    """The secret that a cell surely makes least likely; what else is excluded is bounded by noise alone."""
    cells, proved = bounds.cells, bounds.priors.proved
    fall = np.where(cells.absent >= 0, proved[cells.absent] / cells.absent_post, 0.0)
    cell = int(np.argmax(fall))
    secret = int(cells.absent[cell])
    if secret < 0:  # every cell has every secret
        return Finding(cell, 0, local, Probability(float(proved[0]), rounding="down"), Probability(1.0))
    prior = Probability(float(proved[secret]), rounding="down")
    return Finding(cell, secret, local, prior, Probability(float(cells.absent_post[cell])))


def _worst_cells(bounds: SampleBounds, scale: Fraction) -> tuple[CellRisk, ...]:
    cells, size, many = bounds.cells, bounds.tally.sizes, bounds.tally.cells
    order = np.lexsort((-divide(size, bounds.tally.total), -cells.upper))[:WORST_CELLS]
    leakage = np.maximum(log_up(np.minimum(cells.upper[order], bounds.most)), 0.0)
    return tuple(
        CellRisk(
            cell,
            float(int(size[cell]) * scale),
            Nats(amount),
            secret,
            _prior_in_scope(bounds, secret),
            Probability(cells.posterior[cell]),
            cells=int(many[cell]),
        )
        for cell, amount, secret in zip(
            order.tolist(), leakage.tolist(), cells.secret[order].tolist(), strict=True
        )
    )


def _certify(
    bounds: SampleBounds, mode: SampleMode, delta: Fraction, budget: Nats | None, errors: Errors
) -> Certified:
    cells, observed, rows = bounds.cells, None, None
    open_ = np.flatnonzero(
        (cells.upper >= _TELLING / bounds.priors.lower.min()) & (cells.upper > cells.lower / _TELLING)
    )
    if budget is not None and bounds.before is None:  # with noise, the rows are not what is released
        decided = bounds.above_level(budget) <= delta or bounds.at_least_above(budget) > delta
        observed, rows = rows_to_decide(bounds.tally, budget, delta, errors, decided=decided)
    return Certified(
        confidence=mode.confidence,
        rarest=Probability(bounds.priors.rarest),
        uncertified_cells=int(bounds.tally.cells[open_].sum()),
        uncertified_share=Probability.of(bounds.tally.share_of(open_)),
        observed_above=observed,
        rows_to_decide=rows,
    )
