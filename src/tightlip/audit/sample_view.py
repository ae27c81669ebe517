"""One secret's view of a release when the rows are a sample: confidence bounds in the place of exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tightlip.audit.counted import Counted
from tightlip.audit.result import CellRisk, Certified, ColumnEffect, Finding, SecretView, TailPoint
from tightlip.audit.sample import SampleBounds, SampleMode, sample_bounds
from tightlip.audit.view import WORST_CELLS
from tightlip.envelope.result import Envelope
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import log_up

UNSEEN = -1  # a cell outside the sample
_TELLING = 0.5  # a bound says something if it is below this part of what any cell may leak, or so near to the lower one


def sample_view(
    counted: Counted,
    delta: Fraction,
    budget: Nats | None,
    *,
    error: float,
    mode: SampleMode,
    columns: tuple[ColumnEffect, ...],
) -> SecretView:
    """Bound the release as one secret sees it, at an error probability for everything in the view."""
    bounds = sample_bounds(counted.tally, error, budget, cells_complete=mode.cells_complete)
    upper = bounds.mean_of_worst(delta)
    worst = _worst(bounds, mode)
    return SecretView(
        name=" × ".join(counted.secret_columns),
        counted=counted,
        shares=tuple(
            Probability.of(counted.tally.prior_of(at), "nearest") for at in range(counted.tally.shape[0])
        ),
        worst=worst,
        at_least=_nats(float(bounds.cells.lower.max()), "down"),
        tail=_tail(bounds),
        envelope=_envelope(bounds, delta, min(upper, worst.leakage), mode),
        attack=(),
        pmc=_ruled_out(bounds),
        maximal_leakage=bounds.mean_of_worst(Fraction(1)),
        ldp=Nats(math.inf),
        sml=None,
        share_above_budget=None if budget is None else Probability.of(bounds.above_level(budget)),
        worst_cells=_worst_cells(bounds),
        columns=columns,
        certified=_certified(bounds, mode),
    )


def sampled_envelope(counted: Counted, delta: Fraction, error: float, mode: SampleMode) -> Nats:
    """An upper confidence bound on the envelope at δ, by itself."""
    bounds = sample_bounds(counted.tally, error, cells_complete=mode.cells_complete)
    return bounds.mean_of_worst(delta)


def _nats(ratio: float, rounding: str) -> Nats:
    lower, upper = log_bounds(Fraction(ratio))
    return Nats(lower, None, "down") if rounding == "down" else Nats(upper)


def _worst(bounds: SampleBounds, mode: SampleMode) -> Finding:
    """The largest leakage that is not excluded; without a complete list of cells it may be in one that was not seen."""
    cells = bounds.cells
    if mode.cells_complete:
        cell = int(np.argmax(cells.upper))
        secret, posterior = int(cells.secret[cell]), Probability(float(cells.posterior[cell]))
        lift = _nats(float(cells.upper[cell]), "up")
        return Finding(cell, secret, lift, _prior_in_scope(bounds, secret), posterior)
    secret = int(np.argmin(bounds.prior_lower))
    return Finding(
        UNSEEN, secret, _nats(bounds.most, "up"), _prior_in_scope(bounds, secret), Probability(1.0)
    )


def _prior_in_scope(bounds: SampleBounds, secret: int) -> Probability:
    """What the bounds on a secret divide by: its proved share, or the smallest in scope, rounded as the scope is."""
    proved = float(bounds.prior_proved[secret])
    return Probability(proved, rounding="down") if proved > bounds.rarest else Probability(bounds.rarest)


def _tail(bounds: SampleBounds) -> tuple[TailPoint, ...]:
    points = [
        TailPoint(level, Probability.of(above), Probability.of(at_least, "down"))
        for level, above, at_least in zip(bounds.levels, bounds.above, bounds.at_least, strict=True)
    ]
    shown = next((place for place, point in enumerate(points) if not point.above), len(points) - 1)
    return tuple(points[: shown + 1])


def _envelope(bounds: SampleBounds, delta: Fraction, upper: Nats, mode: SampleMode) -> Envelope:
    method = f"confidence bounds at {mode.confidence:g} from tails of the leakage; no attack is written out"
    return Envelope(delta, min(bounds.reached(delta), float(upper)), float(upper), method)


def _ruled_out(bounds: SampleBounds) -> Finding:
    """The secret that a cell surely makes least likely; what else is excluded cannot be bounded from a sample."""
    cells = bounds.cells
    fall = np.where(cells.absent >= 0, bounds.prior_proved[cells.absent] / cells.absent_post, 0.0)
    cell = int(np.argmax(fall))
    secret = int(cells.absent[cell])
    if secret < 0:  # every cell has every secret
        return Finding(cell, 0, Nats(math.inf), Probability(float(bounds.prior_proved[0])), Probability(1.0))
    prior = Probability(float(bounds.prior_proved[secret]), rounding="down")
    return Finding(cell, secret, Nats(math.inf), prior, Probability(float(cells.absent_post[cell])))


def _worst_cells(bounds: SampleBounds) -> tuple[CellRisk, ...]:
    cells, size = bounds.cells, bounds.tally.of_cell
    order = np.lexsort((-size, -cells.upper))[:WORST_CELLS]
    leakage = np.maximum(log_up(cells.upper[order]), 0.0)
    return tuple(
        CellRisk(
            cell,
            float(size[cell]),
            Nats(amount),
            secret,
            _prior_in_scope(bounds, secret),
            Probability(cells.posterior[cell]),
        )
        for cell, amount, secret in zip(
            order.tolist(), leakage.tolist(), cells.secret[order].tolist(), strict=True
        )
    )


def _certified(bounds: SampleBounds, mode: SampleMode) -> Certified:
    cells = bounds.cells
    open_ = np.flatnonzero(
        (cells.upper >= _TELLING / bounds.prior_lower.min()) & (cells.upper > cells.lower / _TELLING)
    )
    return Certified(
        confidence=mode.confidence,
        rarest=Probability(bounds.rarest),
        uncertified_cells=len(open_),
        uncertified_share=Probability.of(bounds.tally.share_of(open_)),
    )
