"""Solve for the envelope of a tally at δ, sound for the true counts, with its attack in terms of released cells.

Cells with proportional counts are merged first, in whole numbers; that changes nothing about the envelope.

Large channels are stored as floats. Entries and masses are then off by a relative u = 2⁻⁵³ at most (rows miss the sum
1 by so little that model/normalize.py leaves them as they are), so for every attack the ratio of a symbol is off by
(1 + u)²/(1 − u) at most and its probability by (1 ± u)². Besides, δ·e^{ε_c(δ)} never falls as δ grows: an attack of
mass m < δ becomes one of mass δ by adding to each symbol, in proportion, what the attack left aside, and its ratios
fall by m/δ at most. So moving δ by a factor (1 ± u)² moves ε_c by no more than that factor's logarithm, and ends that
are proved for the floats as stored hold, widened by 8u, for the counts.

That they are proved for the floats as stored rests on the certificate, however the attack was found: up to
`Limits.verified_pairs` pairs envelopes/exact.py checks it in rationals before it is returned, beyond it is checked
here, up to `Limits.rational_pairs`. Larger ones are left out; then the ends rest on floats with a margin for every
rounding (envelopes/dual.py, envelopes/attack.py). The margin of 2⁻⁴⁵ is 256u: more than is needed, and too little to be
seen.

Very many cells need no other way. The program is solved over groups of cells (envelopes/aggregation.py), which is a
post-processing, and the thresholds that this finds are evaluated on every cell. That is never worse than what could be
proved by splitting cells onto a grid of posteriors: see docs/envelope.md. Very many secrets are in suspects.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from tightlip.auditing.counted import proportional_groups
from tightlip.auditing.result import AttackGroup, SecretView
from tightlip.auditing.suspects import Solved, certify_ends, most_suspects, solve_by_suspects
from tightlip.auditing.tally import ROUNDED, Places, Tally, divide
from tightlip.envelopes.exact import GAP, Release, Solver, envelope_points
from tightlip.envelopes.limits import LIMITS, Effort, Limits
from tightlip.envelopes.result import CLOSED_FORMS, COLUMN_GENERATION, Envelope
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.numeric.deadline import NEVER, Deadline
from tightlip.numeric.display import format_up
from tightlip.numeric.parse import float_number
from tightlip.numeric.rounding import down, up
from tightlip.statistic.result import StatisticLeakage

Ends = TypeVar("Ends", Envelope, StatisticLeakage)

_LARGE = 100_000
_LARGE_GAP = 1e-6
_SLACK = float(4 * ROUNDED)
_REACHES = 1 - 1e-9
_CHECKED_A_SECOND = 1_000_000  # secrets times cells of a certificate, about
_IN_FLOATS = "bounds proved in floats, without a certificate in rationals"
_CURVE = tuple(Fraction(text) for text in ("1/1000", "1/300", "1/100", "1/30", "1/10", "1/4", "1/2", "1"))
_CURVE_PAIRS = 5_000  # beyond it eight more envelopes take seconds; a picture is not worth them


def tally_envelope(
    tally: Tally, delta: Fraction, *, seconds: float | None = None, limits: Limits = LIMITS
) -> tuple[Envelope, tuple[AttackGroup, ...]]:
    """Solve for ε_c(δ) of the release, with sound ends, and group the cells of its attack, the likeliest first.

    Parameters
    ----------
    seconds : how long the search may take, about; then the best ends that are proved are returned, with 0 closed forms.
        Without it the work is counted, so that two runs give the same.
    limits : of that work, and of the sizes up to which all secrets are solved for at once

    Returns
    -------
    Envelope and AttackGroups
        With a certificate that was checked in rationals, or without one where that takes too long; `method` then
        speaks of bounds.
    """
    until = NEVER if seconds is None else Deadline.after(_read_seconds(seconds))
    groups = proportional_groups(tally)
    reduced = _merge(tally, groups)
    if len(reduced.count) > limits.searched_pairs:
        limits = replace(limits, pivot_work=0.0)
    if reduced.shape[0] <= most_suspects(limits, reduced.shape[1]):
        found = _solve(reduced, delta, limits, until)
        attack, found = found.attack, _checked(found, reduced, limits, until)
    else:
        found, solved = _by_suspects(reduced, delta, limits, until)
        attack, groups = solved.found.attack, solved.groups[groups]
    listed = () if attack is None else attack_groups(tally, groups, attack, found.lower)
    return found, listed


def _merge(tally: Tally, groups: Places) -> Tally:
    """Merge proportional cells, where there are any."""
    return tally if int(groups.max()) + 1 == len(groups) else tally.with_cells(groups)


def _solve(
    tally: Tally, delta: Fraction, limits: Limits, until: Deadline, *, by_program: bool = False
) -> Envelope:
    """Solve for all secrets of a tally at once; `by_program` lets closed forms of whole channels aside."""
    channel, prior = tally.channel(), tally.prior()
    gap = GAP if len(tally.count) <= _LARGE else _LARGE_GAP
    if by_program:
        found = Solver(Release.of(channel, prior, limits), until).envelope(delta, gap)
    else:
        found = next(envelope_points(channel, prior, [delta], gap=gap, limits=limits, until=until))
    return found if channel.is_exact else widen_ends(found)


def _by_suspects(tally: Tally, delta: Fraction, limits: Limits, until: Deadline) -> tuple[Envelope, Solved]:
    """Solve for few secrets at a time; both ends are proved on the way, and by a certificate if that is quick."""
    each = replace(limits, pivot_work=limits.pivot_work / limits.suspect_rounds)

    def solve(few: Tally) -> Solved:
        groups = proportional_groups(few)
        return Solved(_solve(_merge(few, groups), delta, each, until, by_program=True), groups)

    ends = solve_by_suspects(tally, delta, solve, gap=_LARGE_GAP, limits=limits, effort=Effort(each, until))
    way = COLUMN_GENERATION if ends.solves else CLOSED_FORMS
    method = f"{way} for {len(ends.suspects)} suspects among {tally.shape[0]} secrets"
    if ends.upper > ends.lower + 2 * _LARGE_GAP:
        method += f"; the ends could not be brought closer than {format_up(ends.upper - ends.lower, 2)} nats"
        method += f", since {ends.stopped}" if ends.stopped else ""
    found = Envelope(delta, ends.lower, ends.upper, method, solves=ends.solves)
    certificate = certify_ends(tally, ends, delta) if _has_time(tally, limits, until) else None
    if certificate is None:
        return replace(found, method=f"{method}; {_IN_FLOATS}"), ends.best
    lower, upper = certificate.ends_at(delta)
    found = replace(found, lower=lower, upper=upper, certificate=certificate)
    return (found if certificate.channel.is_exact else widen_ends(found)), ends.best


def _checked(found: Envelope, tally: Tally, limits: Limits, until: Deadline) -> Envelope:
    """Check a certificate in rationals, or leave it out where that takes too long: margins in floats prove its ends."""
    if found.certificate is None or math.prod(tally.shape) <= limits.verified_pairs:
        return found
    if _has_time(tally, limits, until):
        found.certificate.verify()
        return found
    return replace(found, certificate=None, witness=None, method=f"{found.method}; {_IN_FLOATS}")


def _has_time(tally: Tally, limits: Limits, until: Deadline) -> bool:
    """Whether a certificate about so many secrets and cells can be checked in rationals; small ones always can."""
    quick = min(limits.rational_pairs, until.left() * _CHECKED_A_SECOND)
    return math.prod(tally.shape) <= max(quick, limits.verified_pairs)


def _read_seconds(seconds: object) -> float:
    found = float_number(seconds, "seconds")
    if not found >= 0:
        raise InvalidInput(
            f"seconds must be 0 or more, got seconds={quoted(seconds)}; 0 asks for closed forms alone."
        )
    return found


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


def attack_groups(tally: Tally, groups: Places, attack: Channel, lower: float) -> tuple[AttackGroup, ...]:
    """List the cells behind each symbol of an attack that leaks as much as the lower end, in floats.

    The attack is one on merged cells: cell y as groups[y].
    """
    from scipy.sparse import csc_array, csr_array

    weights = csr_array(attack.floats)
    shares = csc_array(weights[groups])
    # entries of one place add up
    places, shape = (tally.secret, groups[tally.cell]), (tally.shape[0], weights.shape[0])
    reached = csc_array(csr_array((tally.chances(), places), shape=shape) @ weights)
    mass = shares.T @ divide(tally.of_cell, tally.total)
    found = []
    for symbol in np.flatnonzero(mass > 0).tolist():
        own = slice(reached.indptr[symbol], reached.indptr[symbol + 1])
        best = int(np.argmax(reached.data[own]))
        secret, lift = int(reached.indices[own][best]), float(reached.data[own][best]) / float(mass[symbol])
        if lift >= np.exp(lower) * _REACHES:
            used = slice(shares.indptr[symbol], shares.indptr[symbol + 1])
            prior = float(tally.prior_of(secret))
            found.append(
                AttackGroup(
                    secret=secret,
                    cells=tuple(np.sort(shares.indices[used]).tolist()),
                    split=bool((shares.data[used] < _REACHES).any()),
                    probability=float(mass[symbol]),
                    prior=prior,
                    posterior=min(prior * lift, 1.0),
                )
            )
    return tuple(sorted(found, key=lambda group: -group.probability))
