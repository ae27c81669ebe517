"""Say a protection in words, each sentence written here and nowhere else: what is kept rounded down, bounds up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightlip.auditing.counted import SMALL
from tightlip.auditing.plan import name_of
from tightlip.auditing.result import Finding
from tightlip.numeric.display import format_about, format_count, format_down, format_up, several
from tightlip.numeric.quantity import Nats
from tightlip.protection.limits import Limit
from tightlip.protection.result import Protection
from tightlip.report.amounts import (
    Unit,
    about,
    at_least,
    at_most,
    budget_words,
    by_factor,
    factor,
    leakage,
    posterior_words,
)

_CLOSE = 1e-3  # of the detail: the gap to which an optimum is sought
NOT_SHOWN = f"(fewer than {SMALL} people)"


def headline(found: Protection, worst: Finding) -> str:
    """Say in one sentence what is kept, and what the release does at worst."""
    kept = f"keeps {at_least(found.kept)} of the detail ({about(found.information)} of the information)"
    if not found.kept:
        kept = "keeps nothing: only a release that says nothing was found"
    if not worst.leakage:
        return f"The release {kept} and gives nothing away about {_secret(found)}."
    return (
        f"The release {kept}; no published value makes a secret ({_secret(found)}) more than "
        f"{factor(worst.leakage)} times as likely."
    )


def bound_words(found: Protection) -> str:
    """Say how much any truthful release could keep."""
    most = at_most(found.bound)
    return (
        f"At most {most} of the detail could be kept: this is proved for every truthful release over these levels and "
        "limits, drawn by chance or not."
    )


def search_words(found: Protection) -> str:
    """Say whether the search ended, how far from the bound, and, if nothing is released, from what budget on it is."""
    return f"{_ended_words(found)}{least_words(found)}"


def least_words(found: Protection) -> str:
    """Say from what budget on something can be released, between its two ends, where nothing is."""
    if found.least is None:
        return ""
    lower, upper = found.least.lower, found.enough
    low = found.budget_at(lower, up=False) or f"a factor of {format_down(lower)}"
    what = "something" if not found.kept else "more than the columns that are kept"
    loosened = "" if found.budget_at(lower) else ", by which all limits are loosened together,"
    if found.least.upper is not None and upper is None:
        return (
            f" Within this budget {what} can be released, but the search did not find it; give it more time."
        )
    if upper is None:
        return f" Below {low}{loosened} nothing can be released." if lower > 1 else ""
    high = found.budget_at(upper) or f"a factor of {format_up(upper)}"
    if high == (found.budget_at(lower) or f"a factor of {format_up(lower)}"):
        return f" The least budget at which {what} can be released{loosened} is {high}."
    if lower > 1:
        return f" The least budget at which {what} can be released{loosened} is between {low} and {high}."
    return f" A budget of {high} is enough to release {what}; a smaller one may be."


def _ended_words(found: Protection) -> str:
    left = at_most(found.gap)
    if found.randomised or (found.finished and found.gap < _CLOSE):
        return f"No other release over these levels can keep more than {left} of the detail beyond this one."
    rest = f"another release could keep at most {left} of the detail more"
    if found.finished:
        return f"The search ended by itself; {rest}, and perhaps none that is not drawn by chance does."
    return f"The search was stopped when its time was used up; {rest}."


def verdict(found: Protection, unit: Unit) -> str:
    """Say which limits the release keeps."""
    limits = found.certificate.table.limits
    if not limits.limits:
        return "The budget holds nothing back: no value could exceed it."
    if found.budget is not None:
        return f"Within the budget of {budget_words(found.budget, unit)} ({by_factor(found.budget)})."
    kept = f"Within the budget: {several(len(limits.limits), 'limit')} on what a value may say, kept by every one"
    if not limits.exposed:
        return f"{kept}."
    return f"{kept}, except for {at_most(found.exposed)} of people; {at_most(limits.exposed)} were allowed."


def reader_words(found: Protection) -> str:
    """Say what a reader of a released value is, and that they are covered."""
    return (
        f"The reader sees what is published for one person, and may know how common every combination of values and "
        f"secrets is. The secret ({_secret(found)}) stays at home. All numbers here are exact for this reader."
    )


def neighbour_words(found: Protection) -> str:
    """Say whether somebody who knows the person's own columns is covered."""
    columns = _join(found.counted.columns)
    who = (
        f"The neighbour knows somebody's own {columns} exactly, and {_secret(found)} is published beside the released "
        "columns."
    )
    if found.randomised:
        return (
            f"{who} This release draws what it publishes by chance, which does not protect against the neighbour: "
            f"never publish {_secret(found)} beside it. A release that is not drawn by chance (the default) protects."
        )
    return (
        f"{who} People with the same values are always published alike, so the neighbour learns which group the person "
        f"is in and no more: the shares of {_secret(found)} in that group, which keep the same limits."
    )


def outside_words() -> list[str]:
    """Say what no number here covers."""
    return [
        "A neighbour who reasons about why this recoding was chosen: it was optimised with the secrets in view, so the "
        "choice itself can hint at them. The reader knows all shares anyway and learns nothing from it.",
        "Several releases about the same people: each may keep its limits and both together not. Judge them together.",
        "People who are related in the table: everybody is taken one at a time.",
    ]


def limit_words(limit: Limit, secret: str, prior: Fraction) -> str:
    """Say what a limit allows for one secret."""
    if limit.kind == "cap":
        return f"{secret} may become at most {about(limit.inside)} likely; {about(prior)} of people have it"
    level = limit.level if isinstance(limit.level, Nats) else Nats(float(limit.level))
    if limit.kind == "pmc":
        return (
            f"{secret} may become at most {factor(level)} times less likely: from {about(prior)} to not less than "
            f"{about(limit.inside)}"
        )
    return (
        f"{secret} may become at most {factor(level)} times as likely: from {about(prior)} to not more than "
        f"{about(limit.inside)}"
    )


def gain_words(gain: float) -> str:
    """Say what loosening a limit would gain, to nearest.

    >>> gain_words(0.00052)
    'about 0.052 % of the detail'
    """
    return f"about {format_about(100 * gain, 2)} % of the detail"


def limits_note(binding: int, limits: int) -> str:
    """Say how many limits hold detail back, and what is said of them."""
    if not binding:
        return "No limit holds detail back."
    others = limits - binding
    rest = (
        ""
        if not others
        else f" The {'other one holds' if others == 1 else f'other {others} hold'} nothing back."
    )
    return (
        "These limits hold detail back; loosened by one per cent, each would gain the detail beside it, by the prices "
        f"that prove the bound.{rest}"
    )


def pattern_names(levels: Sequence[str], columns: Sequence[str]) -> str:
    """Say a combination of levels: the columns that are changed, and how.

    >>> pattern_names(("in bins of 5", "as is", "out"), ("age", "zip", "sex"))
    'age in bins of 5; sex left out'
    """
    said = {"as is": "", "out": "left out"}
    parts = [
        f"{column} {said.get(level, level)}"
        for column, level in zip(columns, levels, strict=True)
        if level != "as is"
    ]
    return "; ".join(parts) if parts else "everything as it is"


def detail_words() -> list[str]:
    """Say what detail, information and levels mean."""
    return [
        "The detail of a published value is the logarithm of 1 over the share of all people whom it is true of: the "
        "rarer, the more it says. Relative to the table as it is, whose detail is 100 %; nothing has 0 %.",
        "Information is the share of what a row's values tell that what is published for it still tells, I(X; Y)/H(X).",
        "Truthful: what is published for a row is true of it. It is made of the levels listed above, one for each "
        "column, cell by cell, not the same for everybody.",
        "The factor of a published value is by how much seeing it multiplies the probability of the secret that it "
        "points to most (pointwise maximal leakage, PML).",
        "Bounds and leakages are rounded up, what is kept is rounded down.",
    ]


def proof_words() -> str:
    """Say what was proved, and how to check it."""
    return (
        "That every limit is kept, what is kept, and the bound were checked again without a solver when this was "
        "written. The certificate holds the table's counts under codes; save it and check it with: "
        "tightlip verify FILE"
    )


def basis(found: Protection) -> str:
    """Say what the numbers are about."""
    rows = format_count(int(found.finest.tally.total))
    return f"The table of {rows} rows counts as the whole population; the numbers are exact."


def coded() -> str:
    """Say what is not shown."""
    return (
        "Secret values are shown as codes, numbered by size. What fewer than "
        f"{SMALL} people share is not shown."
    )


def worst_words(worst: Finding, unit: Unit) -> str:
    """Say what the value that leaks most does."""
    return f"{times_words(worst)}, {shift_words(worst, unit)}"


def times_words(worst: Finding) -> str:
    """Say by how much the value that leaks most multiplies a probability."""
    return f"{'' if worst.least is None else 'at most '}{factor(worst.leakage)} times as likely"


def shift_words(worst: Finding, unit: Unit) -> str:
    """Say from where to where a probability moves, and the leakage."""
    up_to = "" if worst.least is None else "at most "
    return (
        f"from {about(worst.prior)} to {posterior_words(worst.posterior, worst.least)} "
        f"({up_to}{leakage(worst.leakage, unit)})"
    )


def factor_name(level: Nats) -> str:
    """Write a fixed level as a factor.

    >>> factor_name(Nats.of_ratio(Fraction(5, 4)))
    '1.25'
    """
    return factor(level) if level.ratio is None else format_up(level.ratio)


def factors_note(name: str) -> str:
    """Say what the picture of factors shows."""
    return (
        f"The share of people whose released value multiplies the probability of any {name} by at most so much: of the "
        "columns as they are, and as they are published. Counted at the steps; in between it is at least that."
    )


def curve_note(found: Protection, points: int) -> str:
    """Say what the picture of the trade-off shows, and what is not in it."""
    if found.budget is None:
        return "The limits are not one level for all secrets together, so there is no curve of budget against detail."
    return trade_words() + ("" if points > 1 else " Other budgets are worked out on demand (trade_off).")


def trade_words() -> str:
    """Say what the picture of a trade-off shows."""
    return (
        "How much detail can be kept if no secret may become more than so many times as likely. Recoding whole "
        "columns, the same for everybody, is what one would do without protect. Computed at the dots; steps hold in "
        "between, since a larger budget never keeps less."
    )


def _secret(found: Protection) -> str:
    return name_of(found.counted.secret_columns)


def _join(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
