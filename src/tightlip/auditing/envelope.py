"""Solve for the envelope of a tally at δ, sound for the true counts, with its attack in terms of released cells.

Cells with proportional counts are merged first, in whole numbers; that changes nothing about the envelope.

Large channels are stored as floats. Entries and masses are then off by a relative u = 2⁻⁵³ at most (rows miss the sum
1 by so little that model/normalize.py leaves them as they are), so for every attack the ratio of a symbol is off by
(1 + u)²/(1 − u) at most and its probability by (1 ± u)². Besides, δ·e^{ε_c(δ)} never falls as δ grows: an attack of
mass m < δ becomes one of mass δ by adding to each symbol, in proportion, what the attack left aside, and its ratios
fall by m/δ at most. So moving δ by a factor (1 ± u)² moves ε_c by no more than that factor's logarithm, and ends that
are proved for the floats as stored hold, widened by 8u, for the counts.

That they are proved for the floats as stored rests on the certificate, however the attack was found: up to
`Limits.verified_pairs` pairs envelopes/exact.py checks it in rationals before it is returned, beyond it is checked here
(there are at least as many entries as pairs). Where there is no certificate the ends are bounds, each rounded to its
own side (envelopes/known_bounds.py). The margin of 2⁻⁴⁵ is 256u: more than is needed, and too little to be seen.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from tightlip.auditing.counted import proportional_groups
from tightlip.auditing.result import AttackGroup, SecretView
from tightlip.auditing.tally import ROUNDED, Places, Tally
from tightlip.envelopes.adversaries import envelope
from tightlip.envelopes.exact import GAP
from tightlip.envelopes.known_bounds import bounds as envelope_bounds
from tightlip.envelopes.limits import LIMITS, Limits
from tightlip.envelopes.result import Envelope
from tightlip.model.channel import Channel
from tightlip.numeric.rounding import down, up
from tightlip.statistic.result import StatisticLeakage

Ends = TypeVar("Ends", Envelope, StatisticLeakage)

MOST_PAIRS = 4_000_000
MOST_SECRETS = 2_000
_LARGE = 100_000
_LARGE_GAP = 1e-6
_SLACK = float(4 * ROUNDED)
_REACHES = 1 - 1e-9
_CURVE = tuple(Fraction(text) for text in ("1/1000", "1/300", "1/100", "1/30", "1/10", "1/4", "1/2", "1"))
_CURVE_PAIRS = 5_000  # beyond it eight more envelopes take seconds; a picture is not worth them


def tally_envelope(
    tally: Tally, delta: Fraction, *, seconds: float | None = None, limits: Limits = LIMITS
) -> tuple[Envelope, tuple[AttackGroup, ...]]:
    """Solve for ε_c(δ) of the release, with sound ends, and group the cells of its attack, the likeliest first.

    Beyond four million pairs or two thousand secrets only bounds are given, without an attack.
    """
    groups = proportional_groups(tally)
    reduced = tally.with_cells(groups)
    channel, prior = reduced.channel(), reduced.prior()
    if len(reduced.count) > MOST_PAIRS or reduced.shape[0] > MOST_SECRETS:
        bounds = envelope_bounds(channel, prior, delta)
        lower, upper = max(bounds.lowers.values()), min(bounds.uppers.values())
        found = Envelope(
            delta, float(min(lower, upper)), float(upper), "bounds only: too many pairs to solve"
        )
    else:
        gap = GAP if len(reduced.count) <= _LARGE else _LARGE_GAP
        found = envelope(channel, prior, delta, gap=gap)
        if found.certificate is not None and math.prod(reduced.shape) > limits.verified_pairs:
            found.certificate.verify()
    attack = () if found.attack is None else attack_groups(tally, reduced, groups, found.attack, found.lower)
    return (found if channel.is_exact else widen_ends(found)), attack


def view_curve(view: SecretView) -> tuple[Envelope, ...]:
    """Compute the envelope's curve around the view's own point, δ rising, where pairs of secret and cell are few."""
    tally, own = view.counted.tally, view.envelope
    if view.certified is not None or len(tally.count) > _CURVE_PAIRS:
        return (own,)
    others = (tally_envelope(tally, delta)[0] for delta in _CURVE if delta != own.delta)
    return tuple(sorted([own, *others], key=lambda point: point.delta))


def widen_ends(found: Ends) -> Ends:
    """Widen ends that are proved for counts stored as floats until they hold for the counts."""
    return replace(
        found,
        lower=max(down(found.lower - _SLACK), 0.0),
        upper=up(found.upper + _SLACK),
        method=f"{found.method}; ends widened by {_SLACK:.1e} for counts stored as floats",
    )


def attack_groups(
    tally: Tally, reduced: Tally, groups: Places, attack: Channel, lower: float
) -> tuple[AttackGroup, ...]:
    """List the cells behind each symbol of an attack on merged cells that leaks as much as the lower end, in floats."""
    from scipy.sparse import csc_array, csr_array

    weights = csc_array(attack.floats)
    chance = csr_array((reduced.chances(), (reduced.secret, reduced.cell)), shape=reduced.shape)
    share = np.asarray(reduced.of_cell / reduced.total, dtype=np.float64)
    mass = weights.T @ share
    found = []
    for symbol in np.flatnonzero(mass > 0).tolist():
        column = weights[:, [symbol]]
        lifts = (chance @ column).toarray().ravel() / mass[symbol]
        secret = int(np.argmax(lifts))
        if lifts[secret] >= np.exp(lower) * _REACHES:
            used = np.flatnonzero(np.isin(groups, column.nonzero()[0]))
            prior = float(tally.prior_of(secret))
            found.append(
                AttackGroup(
                    secret=secret,
                    cells=tuple(used.tolist()),
                    split=bool((column.data < _REACHES).any()),
                    probability=float(mass[symbol]),
                    prior=prior,
                    posterior=min(prior * float(lifts[secret]), 1.0),
                )
            )
    return tuple(sorted(found, key=lambda group: -group.probability))
