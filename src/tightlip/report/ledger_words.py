"""Say what a ledger knows: what all releases give away together, what is left, and by which rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from tightlip.numeric.display import format_count, several
from tightlip.numeric.quantity import Nats
from tightlip.report.amounts import Unit, both_sides, budget_words, factor, factor_first, join_names, times

if TYPE_CHECKING:
    from tightlip.ledger.chain import Entry
    from tightlip.ledger.guarantees import Declared
    from tightlip.ledger.ledger import Ledger, Recorded
    from tightlip.table.policy import Policy

State = Literal["kept", "exceeded", "not known", "no budget", "nothing released"]

STATES: dict[State, str] = {
    "kept": "the budget is kept",
    "exceeded": "the budget is exceeded",
    "not known": "whether the budget is kept is not known",
    "no budget": "it has no budget",
    "nothing released": "nothing is spent",
}
PROTECT_BESIDE = (
    "Publish less: tightlip protect with the same --ledger finds what keeps most detail beside what is out "
    "already."
)
_KINDS = {
    "ldp": "LDP",
    "pml": "PML",
    "pmc": "PMC",
    "lip": "local information privacy",
    "maximal_leakage": "maximal leakage",
    "min_mass_pml": "PML",
    "sml": "statistic maximal leakage",
}
_RULES = {
    "given": "it is what {names} says, measured",
    "sum": "the levels of {names} are added",
    "lead": "the level of one and the LDP of all others are put together, of {names}",
    "chain": "levels are added that hold for the probabilities left by what came before, of {names}",
    "conversion": "levels of another kind are converted, of {names}",
    "mean": "the average is at most the worst case, of {names}",
    "tail": "maximal leakage bounds what is likely, of {names}",
    "shift": "the envelope of the table and the LDP of all others are put together, of {names}",
    "cap": "nobody can learn more than everything",
    "none": "no rule bounds it",
}
_HOLDS = {
    "for every outcome": "It holds for everything that could have been published.",
    "for what was published": (
        "It holds for what was published, and not for everything that could have been: a release was chosen after "
        "others had been read, and only the level of the chosen one is known."
    ),
}
_ACTS_ON = {
    "secret": "drawn from the secret alone",
    "record": "drawn from each person's record with randomness of its own",
    "unknown": "it may share data and randomness with other releases",
}
_ADAPTIVE = {
    "no": "",
    "every history": "chosen after earlier releases; its levels hold whatever they had been",
    "yes": "chosen after earlier releases had been read",
}

NOT_MEASURED = "not measured"
CLOCK_BACK = "the clock went back: an earlier entry has a later time"
READER = "The reader of all releases"
_READER = (
    "somebody who has all releases, may link their rows by order or by what they hold, and knows how common each "
    "secret is in the table."
)
_PROTECTED: dict[State, str] = {
    "kept": "Everybody is protected, as the budget says, against",
    "exceeded": "Not everybody is protected, as the budget says, against",
    "not known": "It is not known whether everybody is protected, as the budget says, against",
    "no budget": "No budget says how everybody shall be protected against",
    "nothing released": "Nothing is released yet; the account will be about",
}
OUTSIDE = (
    "What was published of the same people and is in no entry of this ledger.",
    "A reader who knows more of a person than the releases say, unless all of them are deterministic: then knowing the "
    "released columns of a person adds nothing.",
    "An older copy of the ledger that was put back: only a head that was written down, or a receipt, tells it.",
)
HEAD_NOTE = (
    "Write down the number and the digest of the last entry, away from the ledger: they tell a copy in which an entry "
    "up to there was changed or is missing."
)
PRIVACY_NOTE = (
    "Levels may be about few people, and whoever can guess the table could check the guess with a digest: keep this "
    "among those who may see the table."
)


def share_words(delta: Fraction) -> str:
    """Write δ in per cent.

    >>> share_words(Fraction(1, 100))
    '1 %'
    """
    return both_sides(delta)[1]


def all_releases(count: int) -> tuple[str, bool]:
    """Say how many releases there are, and whether they are several.

    >>> all_releases(1), all_releases(2), all_releases(3)
    (('The one release', False), ('Both releases', True), ('All 3 releases', True))
    """
    if count == 1:
        return "The one release", False
    return ("Both releases" if count == 2 else f"All {format_count(count)} releases"), True


def effect_words(secret: str, lower: Nats, upper: Nats, state: State, *, several: bool) -> str:
    """Say what releases make of a secret.

    >>> low, high = Nats.of_ratio(Fraction(2), "down"), Nats.of_ratio(Fraction(5, 2))
    >>> effect_words("ill", low, high, "kept", several=True)
    'together make no ill more than 2.5 times as likely'
    >>> effect_words("ill", low, high, "exceeded", several=False)
    'makes some ill at least twice as likely'
    """
    start = "together make" if several else "makes"
    if state == "exceeded":
        return f"{start} some {secret} at least {times(factor(lower, up=False))} as likely"
    if math.isinf(upper):
        return f"{start} some {secret} likelier by a factor that no rule bounds"
    if not upper:
        return f"{start} no {secret} likelier"
    return f"{start} no {secret} more than {times(factor(upper))} as likely"


def headline(who: str, effect: str, budget: str | None, state: State) -> str:
    """Answer: what all releases together make of the secret that decides, and whether the budget is kept.

    >>> headline("Both releases of a.csv", "together make no ill likelier", "3x", "kept")
    'Both releases of a.csv together make no ill likelier (budget 3x): the budget is kept.'
    """
    allowed = "" if budget is None else f" (budget {budget})"
    return f"{who} {effect}{allowed}: {STATES[state]}."


def nothing_headline(table: str, budget: str | None) -> str:
    """Answer where nothing counts as released."""
    left = "." if budget is None else f": the whole budget ({budget}) is left."
    return f"Nothing of {table} counts as released{left}"


def unmeasured_headline(who: str, several: bool, names: Sequence[str], budget: str | None) -> str:
    """Answer where a release counts after the last account.

    >>> unmeasured_headline("Both releases of a.csv", True, ["poll"], "3x")
    'What both releases of a.csv give away together is not known (budget 3x): poll was not measured.'
    """
    gives = "give away together" if several else "gives away"
    allowed = "" if budget is None else f" (budget {budget})"
    return (
        f"What {who[0].lower()}{who[1:]} {gives} is not known{allowed}: {join_names(names)} was not measured."
    )


def measure_words(names: Sequence[str]) -> str:
    """Say how an account that is missing is made."""
    return (
        f"No account was made with {join_names(names)}, since the table was not at hand: tightlip audit of the next "
        "plan with --ledger measures all releases anew."
    )


def superset_words(names: Sequence[str]) -> str:
    """Say that the account has more in it than counts now."""
    were = "was" if len(names) == 1 else "were"
    return (
        f"The account was made when {join_names(names)}, withdrawn since, still counted: what is out says no more than "
        f"it, and how much less was not measured since {'it' if len(names) == 1 else 'they'} {were} withdrawn."
    )


def spent_words(lower: Nats | None, upper: Nats, unit: Unit) -> str:
    """Write what is spent: one amount where its ends look the same, otherwise both.

    >>> spent_words(Nats.of_ratio(Fraction(2), "down"), Nats.of_ratio(Fraction(3)), "nats")
    'between 2x (0.693 nats) and 3x (1.1 nats)'
    """
    above = factor_first(upper, unit)
    if lower is not None and lower.ratio is not None and lower.ratio == upper.ratio:
        return above
    if not lower:
        return "no bound is known" if math.isinf(upper) else f"at most {above}"
    below = factor_first(lower, unit)
    return f"at least {below}" if math.isinf(upper) else f"between {below} and {above}"


def level_words(level: Nats, unit: Unit) -> str:
    """Write a bound from above; infinite ones bound nothing."""
    return "no bound" if math.isinf(level) else f"at most {factor_first(level, unit)}"


def left_words(left: Nats | None, state: State, unit: Unit) -> str:
    """Write what is left of a budget, rounded down."""
    if left is None:
        return {"exceeded": "nothing", "not known": "not known"}.get(state, "not one level")
    return f"at least {factor_first(left, unit)}" if left else "nothing"


def left_meaning(left: Nats | None) -> str:
    """Say what may still be released."""
    if not left:
        return "what one more release would add: tightlip audit with --ledger"
    return (
        "a release drawn from each person's record, with randomness of its own and no larger LDP between any two "
        "records, keeps the budget; others: tightlip audit with --ledger"
    )


def rule_words(rule: str, uses: Sequence[str], reason: str) -> str:
    """Say which rule decided, of which releases, and its precondition.

    >>> rule_words("given", ["the table"], "")
    'Decided by: it is what the table says, measured.'
    """
    names = join_names(list(uses)) if uses else "the releases"
    because = f" ({reason})" if reason else ""
    return f"Decided by: {_RULES.get(rule, rule).format(names=names)}{because}."


def holds_words(holds: str) -> str:
    """Say for which outcomes the account holds."""
    return _HOLDS.get(holds, holds)


def uncovered_words(uncovered: Sequence[str], rule: str) -> str | None:
    """Say which releases no rule covers.

    >>> uncovered_words(["poll", "the table"], "cap")
    'No rule covers poll and the table together: for all that is known, everything may be told.'
    """
    if not uncovered:
        return None
    known = "for all that is known, everything may be told" if rule == "cap" else "nothing bounds this"
    names = join_names(list(uncovered))
    if len(uncovered) == 1:
        return f"Of {names} no finite level is known that others can be added to: {known}."
    return f"No rule covers {names} together: {known}."


def state_words(release: Recorded) -> str:
    """Say whether a release is out, and who said so."""
    if release.state == "reserved":
        return "reserved, and was never confirmed: settle it; until then it counts as released"
    if release.settled is None:
        return release.state
    counts = "" if release.counts else "; it does not count"
    return f"{release.state}, as was settled{counts}: {release.settled}"


def plan_lines(plan: Policy) -> list[str]:
    """Say what a plan publishes, a line for each column; a condition on a secret is told without its values."""
    lines = [item.words() for item in plan.release]
    if plan.local is not None:
        drawn = "" if plan.local.deterministic else ", with chance"
        lines.append(f"recoded cell by cell{drawn}")
    if plan.min_count is not None:
        lines.append(f"cells of fewer than {plan.min_count} rows released as one")
    lines += [
        f"rows selected by {one.column}, which is secret"
        if one.column in plan.secret
        else f"rows where {one}"
        for one in plan.where
    ]
    return lines


def declared_lines(declared: Declared, unit: Unit) -> list[str]:
    """Say what is known of a release by its guarantees."""
    lines = [_guarantee(declared, kind, level, unit) for kind, level in declared.guarantees.items()]
    return [*lines, _ACTS_ON[declared.acts_on]]


def _guarantee(declared: Declared, kind: str, level: Nats, unit: Unit) -> str:
    about = f" about {declared.statistic}" if kind == "sml" else ""
    mass = "" if kind != "min_mass_pml" else f", for probabilities of at least {declared.min_mass}"
    return f"{_KINDS[kind]}{about} at most {factor_first(level, unit)}{mass}"


def reader_words(state: State) -> str:
    """Say who is protected against whom."""
    return f"{_PROTECTED[state]} {_READER}"


def adaptive_words(adaptive: str) -> str | None:
    """Say whether a release was chosen after others."""
    return _ADAPTIVE.get(adaptive) or None


def budget_level(level: Nats, unit: Unit, *, kept: bool) -> str:
    """Write the level of a budget: its factor, then in its unit.

    >>> budget_level(Nats.of_ratio(Fraction(3)), "nats", kept=True)
    '3x (1.09862 nats)'
    """
    return f"{factor(level, up=kept)}x ({budget_words(level, unit, kept=kept)})"


def added_words(before: Nats | None, after: Nats | None, unit: Unit) -> str:
    """Say an account before and after a release.

    >>> added_words(Nats(0.0, Fraction(1)), None, "nats")
    '1x (0 nats) → not measured'
    """
    told = [NOT_MEASURED if one is None else factor_first(one, unit) for one in (before, after)]
    return " → ".join(told)


def created_words(ledger: Ledger) -> str:
    """Say what a new ledger is about."""
    return f"{ledger.path.name} keeps the account of releases about {join_names(ledger.secrets)}; it has none yet."


def verified_words(head: Entry, receipts: int) -> str:
    """Say what was checked, and what to write down."""
    known = f" and the entries that {several(receipts, 'receipt')} name" if receipts else ""
    told = (
        "" if receipts else " Without receipts an older copy that was put back is not told from the ledger."
    )
    return f"Valid: {several(head.seq, 'entry', 'entries')}{known}, the last {head.digest}.{told}"


def recorded_words(found: Recorded) -> str:
    """Say that a declared release is recorded, and what that makes of the budget."""
    words = f"Release {found.number} is recorded: {found.name}."
    if not found.standings:
        return f"{words} The account was not measured with it: give --table."
    if any(one.kept is False for one in found.standings):
        return f"{words} It is not known that the budget is kept with it."
    return f"{words} The budget is kept with it."
