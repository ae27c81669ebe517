"""Split a budget over planned releases so that their account meets it, proved in rationals.

LDP and maximal leakage add, so parts with Π e^part ≤ e^budget meet it. For PML and PMC the part of one release may be
of that kind, while the others keep to LDP; where the smallest mass is known, more LDP fits when all keep to it:

    PML ≤ B  if  LDP ≤ log (1−p)/(e^−B − p)        PMC ≤ B  if  LDP ≤ log (e^B − p)/(1−p)

Parts are logarithms of rationals, rounded down; a root that is rational is taken exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from tightlip.arguments import choice, is_list, listed, whole
from tightlip.convert._theory import read_mass
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed, quoted
from tightlip.ledger.amount import Amount
from tightlip.ledger.guarantees import Kind
from tightlip.numeric.ball import ball, enclose_exactly, log_exceeds
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats, exact_level

_BITS = 64  # of a part that is no exact root: more would lose less of the budget, and make longer fractions
_MOST_ROOT_BITS = 4096  # beyond which no exact root is looked for
_MOST_PARTS = 10_000
_MOST_NATS = 10_000  # e^budget is written out


@dataclass(frozen=True, slots=True)
class Planned:
    """What a planned release may use: `kind` at `level`, rounded down, with its exact ratio."""

    kind: Kind
    level: Nats


def split(
    budget: object, parts: int | Sequence[object], kind: Kind = "ldp", *, p_min: object = None
) -> tuple[Planned, ...]:
    """Split a budget over planned releases, equally or by weights.

    Parameters
    ----------
    budget : number of nats
        The total that shall be met, as `level` reads it; exact with `log_of`.
    parts : int, or list of positive numbers
        How many releases, or the weight of each.
    kind : "ldp", "maximal_leakage", "pml" or "pmc"
        What the budget is about.
    p_min : number or Prior, optional
        For "pml" and "pmc": smallest positive mass. Then every part is LDP; without it the first is of the kind itself.

    Returns
    -------
    tuple of Planned
        Releases that keep to these, on the same records with randomness of their own or independently given the secret,
        meet the budget together, as `account` finds.

    Raises
    ------
    InvalidInput
        If the budget is not positive and finite, or there is no part.
    PreconditionFailed
        If a budget of PML is at least log 1/p_min, which no release exceeds.

    >>> from tightlip import log_of
    >>> [part.level.ratio for part in split(log_of(9), 2)]
    [Fraction(3, 1), Fraction(3, 1)]
    >>> [part.kind for part in split("1 bit", [2, 1], "pml")]
    ['pml', 'ldp']
    """
    choice(kind, "kind", get_args(Kind))
    shares = _shares(parts)
    total = _read_budget(budget)
    kinds: list[Kind] = [kind] * len(shares)
    if kind in ("pml", "pmc"):
        kinds[1:] = ["ldp"] * (len(shares) - 1)
        if p_min is not None:
            total, kinds = _as_ldp(total, kind, p_min), ["ldp"] * len(shares)
    ratios = [_share(total, share) for share in shares]
    if log_exceeds(math.prod(ratios) / total.ratio, total.plain):
        raise NumericalFailure("parts must not exceed the budget together; this is a bug in split.")
    return tuple(Planned(one, Nats.of_ratio(ratio, "down")) for one, ratio in zip(kinds, ratios, strict=True))


def _shares(parts: object) -> list[Fraction]:
    if not is_list(parts):
        return [Fraction(1, whole(parts, "parts", 1, _MOST_PARTS))] * whole(parts, "parts", 1, _MOST_PARTS)
    given = listed(parts, "parts", "weights")
    weights = [Fraction(number(weight, f"parts entry {place}")) for place, weight in enumerate(given)]
    if not weights:
        raise InvalidInput("parts must name at least one release, got none; write 2, or [2, 1] for weights.")
    for place, weight in enumerate(weights):
        if weight <= 0:
            raise InvalidInput(
                f"parts entry {place} must be a positive weight, got {quoted(given[place])}; "
                "leave out a release that gets nothing."
            )
    return [weight / sum(weights) for weight in weights]


def _read_budget(budget: object) -> Amount:
    """Read a total that must not be exceeded: what is irrational is rounded down."""
    value = exact_level(budget, "budget", rounding="down")
    if not 0 < value <= _MOST_NATS:
        raise InvalidInput(
            f"budget must be above 0 and at most {_MOST_NATS} nats, got {quoted(budget)}; there is nothing to split."
        )
    return Amount.of(value)


def _as_ldp(budget: Amount, kind: Kind, p_min: object) -> Amount:
    """The LDP, or a little less, that implies the budget of PML or PMC."""
    mass = read_mass(p_min).value
    decay = 1 / budget.ratio if not budget.plain else enclose_exactly(lambda: (-budget.ball()).exp())[1]
    if mass == 1 or (kind == "pml" and decay <= mass):
        raise PreconditionFailed(
            f"budget of {kind.upper()} must be below what everything tells, got {float(budget.nats())!r} nats with "
            f"p_min = {quoted(mass)}; no release exceeds it, so there is nothing to split."
        )
    return Amount(ratio=(1 - mass) / (decay - mass) if kind == "pml" else (1 / decay - mass) / (1 - mass))


def _share(total: Amount, share: Fraction) -> Fraction:
    """e^(total · share), or a rational a little below it."""
    if not total.plain:
        root = _power(total.ratio, share)
        if root is not None:
            return root
    above = enclose_exactly(lambda: (total.ball() * ball(share)).expm1())[0]
    shift = _BITS + max(0, above.denominator.bit_length() - above.numerator.bit_length())
    return 1 + Fraction(math.floor(above * 2**shift), 2**shift)


def _power(ratio: Fraction, share: Fraction) -> Fraction | None:
    """ratio^share, where that is a rational."""
    bits = max(ratio.numerator.bit_length(), ratio.denominator.bit_length())
    if bits * share.numerator > _MOST_ROOT_BITS:
        return None
    raised = ratio**share.numerator
    above, below = (_root(number, share.denominator) for number in (raised.numerator, raised.denominator))
    return None if above is None or below is None else Fraction(above, below)


def _root(value: int, degree: int) -> int | None:
    """The whole root of a whole number, by bisection; None where there is none."""
    if degree >= value.bit_length():  # that of 2 is already larger
        return 1 if value == 1 else None
    low, high = 1, 1 << -(-value.bit_length() // degree)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**degree < value else (low, middle)
    return low if low**degree == value else None
