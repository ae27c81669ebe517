"""Bound one secret's view of a release when the rows are a sample, and search for remedies, with confidence.

Remedies for a sample leave out one column or two, the only changes that are fixed before the data is seen. Which cells
are small, which values are rare and which ε would do is read off the sample, so no bound could hold for the change
that looks best. The ways to leave out columns are few and known in advance: each gets its part of the error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import about, apply_policy, odds_of, only
from tightlip.auditing.remedy import detail_of
from tightlip.auditing.result import (
    Among,
    CellRisk,
    Certified,
    ColumnEffect,
    Finding,
    Remedy,
    SecretView,
    TailPoint,
)
from tightlip.auditing.sample import Errors, SampleBounds, SampleMode, release_bounds
from tightlip.auditing.tally import divide
from tightlip.auditing.view import WORST_CELLS
from tightlip.envelopes.result import Envelope
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_exactly
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import log_up
from tightlip.table.policy import Policy

UNSEEN = -1  # a cell outside the sample
_TELLING = 0.5  # a bound says something if it is below this part of what any cell may leak, or so near to the lower one


def sample_view(
    plain: Counted,
    release: Counted,
    odds: Mapping[str, Fraction],
    delta: Fraction,
    budget: Nats | None,
    *,
    errors: Errors,
    mode: SampleMode,
    columns: tuple[ColumnEffect, ...],
) -> SecretView:
    """Bound the release as one secret sees it; `plain` are the counts before noise with the odds e^ε of columns."""
    bounds = release_bounds(plain, release, odds, errors, mode, budget)
    tally, worst = release.tally, _worst(bounds)
    local = _local_privacy(release, odds)
    return SecretView(
        name=" × ".join(release.secret_columns),
        counted=release,
        shares=tuple(Probability.of(tally.prior_of(at), "nearest") for at in range(tally.shape[0])),
        worst=worst,
        at_least=_nats(float(bounds.cells.lower.max()), "down"),
        tail=_tail(bounds),
        envelope=_envelope(bounds, delta, min(bounds.upper_envelope(delta), worst.leakage), mode),
        attack=(),
        others={"pmc": _find_ruled_out(bounds, local)},
        maximal_leakage=bounds.upper_envelope(Fraction(1)),
        ldp=local,
        sml=None,
        share_above_budget=None if budget is None else Probability.of(bounds.above_level(budget)),
        worst_cells=_worst_cells(bounds, Fraction(plain.tally.total, tally.total)),
        columns=columns,
        certified=_certify(bounds, mode),
    )


def _local_privacy(release: Counted, odds: Mapping[str, Fraction]) -> Nats:
    """LDP at most: the sum of the levels where every column has noise; a column without may exclude a secret."""
    if any(column not in odds for column in release.columns):
        return Nats(math.inf)
    return Nats.of_ratio(prod(odds.values(), start=Fraction(1)))


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
    cells, size = bounds.cells, bounds.tally.of_cell
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
        )
        for cell, amount, secret in zip(
            order.tolist(), leakage.tolist(), cells.secret[order].tolist(), strict=True
        )
    )


def _certify(bounds: SampleBounds, mode: SampleMode) -> Certified:
    cells = bounds.cells
    open_ = np.flatnonzero(
        (cells.upper >= _TELLING / bounds.priors.lower.min()) & (cells.upper > cells.lower / _TELLING)
    )
    return Certified(
        confidence=mode.confidence,
        rarest=Probability(bounds.priors.rarest),
        uncertified_cells=len(open_),
        uncertified_share=Probability.of(bounds.tally.share_of(open_)),
    )


def departures(policy: Policy) -> list[tuple[str, ...]]:
    """List the columns that could be left out, alone or two together."""
    names = [item.column for item in policy.release]
    return [gone for count in (1, 2) if count < len(names) for gone in combinations(names, count)]


def sample_remedies(
    counted: Counted,
    policy: Policy,
    subjects: Sequence[tuple[str, ...]],
    budget: Nats,
    delta: Fraction,
    errors: Errors,
    mode: SampleMode,
) -> tuple[Remedy, ...]:
    """Find columns to leave out so that a leakage above the budget has probability at most δ, surely; one before two.

    `errors` are of each change and secret; `leakage` is the largest bound on the envelope at δ.
    """
    found: list[tuple[int, Remedy]] = []
    whole = detail_of(apply_policy(counted, policy))
    for gone in departures(policy):
        if found and len(gone) > found[0][0]:
            break
        kept_columns = [item.column for item in policy.release if item.column not in gone]
        changed = only(policy, kept_columns)
        plain, release = counted.select(kept_columns), apply_policy(counted, changed)
        bounds = [
            release_bounds(
                about(plain, subject), about(release, subject), odds_of(policy), errors, mode, budget
            )
            for subject in subjects
        ]
        if all(bound.above_level(budget) <= delta for bound in bounds):
            kept = detail_of(release) / whole if whole else 0.0
            leakage = max(bound.upper_envelope(delta) for bound in bounds)
            found.append((len(gone), Remedy(changed, leakage, kept, "heuristic", Among("leave out"))))
    return tuple(sorted((remedy for _, remedy in found), key=lambda remedy: -remedy.kept))
