"""What is left of a budget: for a release that must fit beside all others, and in the words of a refusal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tightlip.errors import BudgetExceeded
from tightlip.ledger.amount import Amount
from tightlip.ledger.guarantees import Declared
from tightlip.ledger.rules import account
from tightlip.ledger.together import SecretAccount, Together
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.budget import Allowed
from tightlip.numeric.display import format_down, format_up
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import Nats
from tightlip.table.budget import Rule


def leave_room(rules: Sequence[Rule], declared: Sequence[Declared]) -> tuple[Rule, ...]:
    """Tighten a budget for the table's releases so that it is kept together with releases known by their guarantees.

    With LDP λ of all those together, no posterior of the table's releases grows by more than e^λ through them (see
    `rules`), so that a level ε is kept where the table's releases keep ε − λ, and a cap c where they keep c·e^−λ.

    Raises
    ------
    BudgetExceeded
        When those releases have no LDP, or leave nothing.
    """
    if not declared:
        return tuple(rules)
    charge = account(declared=declared).ldp
    if math.isinf(charge.value):
        raise BudgetExceeded(
            f"no release fits beside {', '.join(charge.uncovered)}: without LDP between any two records, what others "
            "published of these people may tell everything; declare its LDP, or release nothing."
        )
    decay = Amount.of(charge.value).decay()
    return tuple(replace(rule, allowed=_shrunk(rule.allowed, decay, charge.value)) for rule in rules)


def _shrunk(allowed: Allowed, decay: Fraction, taken: Nats) -> Allowed:
    """What is left of one level or cap, rounded down."""
    if allowed.kind == "cap":
        return Allowed.read(f"{exact_text(Fraction(allowed.level) * decay * 100)}%")
    level = allowed.nats()
    ratio = level.ratio if level.ratio is not None else Fraction(exp_bounds(float(level))[0])
    left = ratio * decay
    if left < 1:
        raise BudgetExceeded(
            f"nothing is left: what others published may make a secret {_factor(taken)} times as likely, and the "
            f"budget is {_factor(level, up=False)} times; release nothing."
        )
    return Allowed.read(f"factor {left}")


def _factor(level: Nats, *, up: bool = True) -> str:
    """A level as a factor, rounded up or down."""
    if math.isinf(level):
        return "any number of"
    ends = (level.ratio, level.ratio) if level.ratio is not None else exp_bounds(float(level))
    return format_up(ends[1], 4) if up else format_down(ends[0], 4)


def refusal(name: str, before: Together | None, after: Together, fitting: str) -> str:
    """Say what is spent, what a release asks, what is left, and what would still fit."""
    now = after.deciding
    spent = None if before is None else before.secrets.get(now.name)
    known = "" if now.upper == now.lower or not now.rules.pml.uncovered else _open(now)
    over = (
        ""
        if not now.over
        else f", and more than is allowed would be said of {format_up(100 * now.over, 3)} % of people"
    )
    return (
        f"{name} does not allow this release: about {now.name}, {_spent(spent)}, and with it at most "
        f"{_factor(now.upper)} times as likely{over}{known}; {_allowed(now, spent)}. {fitting}"
    )


def _spent(spent: SecretAccount | None) -> str:
    if spent is None:
        return "nothing was released yet"
    return f"what was released makes a secret at most {_factor(spent.upper)} times as likely"


def _allowed(now: SecretAccount, spent: SecretAccount | None) -> str:
    if now.level is None:
        return "the budget is a cap, or is about single values"
    used = Amount() if spent is None else Amount.of(spent.upper)
    room = Amount.of(now.level)
    left = (
        "nothing is left"
        if used.exceeds(room)
        else f"a factor of {_factor(_difference(room, used), up=False)} is left"
    )
    return f"the budget is {_factor(now.level, up=False)} times, so that {left}"


def _difference(room: Amount, used: Amount) -> Nats:
    return Amount(room.plain - used.plain, room.ratio / used.ratio).nats()


def _open(now: SecretAccount) -> str:
    return f" (no rule covers {', '.join(now.rules.pml.uncovered)})"
