"""Say a protection in words, each sentence written here and nowhere else: what is kept rounded down, bounds up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightlip.auditing.counted import SMALL
from tightlip.auditing.plan import name_of
from tightlip.auditing.result import Finding
from tightlip.numeric.display import format_about, format_count, format_down, format_exactly, format_up
from tightlip.numeric.quantity import Nats
from tightlip.protection.facts import promised_levels
from tightlip.protection.limits import Limit
from tightlip.protection.result import Protection
from tightlip.report.amounts import (
    Unit,
    about,
    at_least,
    at_most,
    both_sides,
    budget_words,
    by_factor,
    factor,
    in_words,
    join_names,
    leakage,
    posterior_words,
    times,
)

_CLOSE = 1e-3  # of the detail: the gap to which an optimum is sought
_MOST_VALUES = 12
NOT_SHOWN = "–"


def headline(found: Protection, worst: Finding) -> str:
    """Say in one sentence what is kept, and what the release does at worst, or that several limits hold."""
    if not found.kept:
        return _nothing_words(found, worst)
    detail = "weighted detail" if weights_words(found) else "detail"
    kept = f"The release keeps {at_least(found.kept)} of the {detail} ({about(found.information)} of the information)"
    if not worst.leakage:
        return f"{kept} and gives nothing away about {_secret(found)}."
    if found.budget is None and found.certificate.table.limits.limits:
        return f"{kept}{_several_words(found)}."
    return (
        f"{kept}; no published value makes a secret ({_secret(found)}) more than {times(factor(worst.leakage))} as "
        "likely."
    )


def _nothing_words(found: Protection, worst: Finding) -> str:
    """Say that nothing is kept, and what that gives away: the columns that are kept in any case may say something."""
    if found.fixed.words:
        return (
            f"The release keeps no detail beside {_fixed_names(found)}, as drawn: none that says more was found within "
            f"the budget. No published value makes a secret ({_secret(found)}) more than "
            f"{times(factor(worst.leakage))} as likely."
        )
    if not worst.leakage:
        return (
            f"Nothing is published: no release that says something was found within the budget, and one that says "
            f"nothing gives nothing away about {_secret(found)}."
        )
    return (
        "The release keeps no detail: none that says more was found within the budget. No published value makes a "
        f"secret ({_secret(found)}) more than {times(factor(worst.leakage))} as likely."
    )


def _several_words(found: Protection) -> str:
    """Say that the limits hold, and for whom; a single one is said in full."""
    promised = promises(found)
    told = (
        promised[0]
        if len(promised) == 1
        else f"{'both' if len(promised) == 2 else f'all {len(promised)}'} limits hold"
    )
    who = f"for {_protected(found)}, " if found.exposed else ""
    return f"; {who}{told}"


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
    what = f"more than {_fixed_names(found)}" if found.fixed.words else what
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
    """Say which limits the release keeps, each of them, and for whom."""
    limits = found.certificate.table.limits
    groups = [] if found.certificate.least <= 1 else [_groups_words(found)]
    if not limits.limits:
        return " ".join(["The budget holds nothing back: no value could exceed it.", *map(_sentence, groups)])
    if found.budget is not None:
        within = f"Within the budget of {budget_words(found.budget, unit)} ({by_factor(found.budget)})."
        return " ".join([within, *map(_sentence, groups)])
    promised = "; ".join([*promises(found), *groups])
    if not limits.exposed:
        return f"Within the budget, for everybody: {promised}."
    if not found.exposed:
        return f"Within the budget, for everybody ({exactly(limits.exposed)} of people were allowed above): {promised}."
    return (
        f"Within the budget for {_protected(found)}: {promised}. {exactly(limits.exposed)} of people were "
        "allowed above."
    )


def promises(found: Protection) -> list[str]:
    """Say each limit as it was asked for: about which secret columns, and what no published value does to them."""
    return list(dict.fromkeys(_promise_words(*one) for one in promised_levels(found)))


def _promise_words(subject: Sequence[str], of_value: bool, kind: str, level: float | Fraction) -> str:
    name = _quoted_name(subject)
    who = f"one value of {name} becomes" if of_value else f"no {name} becomes"
    if kind == "cap":
        most = exactly(Fraction(level))
        return f"{who} at most {most} likely" if of_value else f"{who} more than {most} likely"
    most = factor(level if isinstance(level, Nats) else Nats(float(level)))
    how = f"{most} times less likely" if kind == "pmc" else f"{times(most)} as likely"
    return f"{who} {'at most' if of_value else 'more than'} {how}"


def exactly(share: Fraction) -> str:
    """Write a share that was given, in per cent, in full where that is short.

    >>> exactly(Fraction(1, 20)), exactly(Fraction(1, 3))
    ('5 %', '33.3334 %')
    """
    return both_sides(share)[1]


def _groups_words(found: Protection) -> str:
    return f"at least {found.certificate.least} people share every published value"


def plan_lines(found: Protection) -> list[str]:
    """Say the planned release, a line for each column, and how many people must share a value."""
    groups = [] if found.certificate.least <= 1 else [_groups_words(found)]
    return [*(item.words() for item in found.plan.release), *groups]


def _protected(found: Protection) -> str:
    return f"all but {at_most(found.exposed)} of people"


def reader_status(found: Protection, *, neighbour: bool) -> str:
    """Say whether a reader is protected against, in a word or with the exception."""
    if neighbour and found.by_chance:
        return "not protected"
    return f"protected for {_protected(found)}" if found.exposed else "protected"


def exception_words(found: Protection, worst: Finding) -> str:
    """Say what the people who were allowed to be above the budget have to expect; empty where there are none."""
    if not found.exposed:
        return ""
    return (
        f" This does not hold for {at_most(found.exposed)} of people: they are published beyond the limits, with "
        f"values that may give their secret away entirely; at worst one is {times(factor(worst.leakage))} as likely."
    )


def reader_words(found: Protection, worst: Finding, *, with_secret: bool) -> str:
    """Say what a reader of a released value is, and what of their view is covered."""
    drawn = {*found.counted.columns} & {*found.counted.secret_columns}
    secret = (
        f"The file has the secret ({_secret(found)}) beside it: who can tell which row is a person's reads it there, "
        "and is not this reader."
        if with_secret
        else f"The secret ({_secret(found)}) stays at home{', but for what is drawn of it' if drawn else ''}."
    )
    return (
        "The reader sees what is published for one person, and may know how common every combination of values and "
        f"secrets is. {secret} All numbers here are exact for this reader.{exception_words(found, worst)}"
    )


def neighbour_words(found: Protection, worst: Finding) -> str:
    """Say whether somebody who knows the person's own columns is covered."""
    others = [name for name in found.counted.columns if name not in found.counted.secret_columns]
    columns = join_names(others) if others else "columns"
    who = (
        f"The neighbour knows somebody's own {columns} exactly, and {_secret(found)} is published beside the released "
        "columns."
    )
    if found.by_chance:
        instead = (
            "A release that is not drawn by chance, and without mechanisms on columns, protects."
            if found.fixed.words
            else "A release that is not drawn by chance (the default) protects."
        )
        return (
            f"{who} This release draws what it publishes by chance, which does not protect against the neighbour: "
            f"never publish {_secret(found)} beside it. {instead}"
        )
    return (
        f"{who} People with the same values are always published alike, so the neighbour learns which group the person "
        f"is in and no more: the shares of {_secret(found)} in that group, which keep the same limits."
        f"{exception_words(found, worst)}"
    )


def outside_words(*, past: bool = False) -> list[str]:
    """Say what no number here covers; with a past, earlier releases are."""
    others = "Other releases about the same people, but those that this one was found beside"
    return [
        "A neighbour who reasons about why this recoding was chosen: it was optimised with the secrets in view, so the "
        "choice itself can hint at them. The reader knows all shares anyway and learns nothing from it.",
        f"{others if past else 'Several releases about the same people'}: each may keep its limits and both together "
        "not. Judge them together.",
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
        f"{secret} may become at most {times(factor(level))} as likely: from {about(prior)} to not more than "
        f"{about(limit.inside)}"
    )


def gain_words(gain: float) -> str:
    """Say what loosening a limit would gain, to nearest.

    >>> gain_words(0.00052)
    'about 0.052 % of the detail'
    """
    return f"about {format_about(100 * gain, 2)} % of the detail"


def limits_note(found: Protection, binding: int) -> str:
    """Say how many limits hold detail back, and what is said of them."""
    if not binding:
        return _no_limit_words(found)
    others = len(found.certificate.table.limits.limits) - binding
    rest = (
        ""
        if not others
        else f" The {'other one holds' if others == 1 else f'other {others} hold'} nothing back."
    )
    return (
        "These limits hold detail back; loosened by one per cent, each would gain the detail beside it, by the prices "
        f"that prove the bound.{rest}"
    )


def _no_limit_words(found: Protection) -> str:
    """Say why no limit has a price: all is kept, or prices were not worked out."""
    if found.kept == 1:
        return "No limit holds detail back."
    if not found.finished:
        return "What holds detail back is not worked out; the search was stopped."
    return "Which limits hold detail back is not known: the bound is proved without any of them."


def pattern_names(levels: Sequence[str], columns: Sequence[str]) -> str:
    """Say a combination of levels: the columns that are changed, and how.

    >>> pattern_names(("in bins of 5", "as is", "out"), ("age", "zip", "sex"))
    'age in bins of 5; sex left out'
    """
    said = {"as is": "", "out": "left out"}
    parts = [
        f"{in_words(column)} {said.get(level, level)}"
        for column, level in zip(columns, levels, strict=True)
        if level != "as is"
    ]
    return "; ".join(parts) if parts else "everything as it is"


def weights_words(found: Protection) -> str:
    """Say how much columns matter, relative to the one that matters least; empty where all matter alike."""
    columns = zip(found.levels, found.certificate.table.weights, strict=True)
    weights = {column.column: weight for column, weight in columns if not column.fixed}
    if all(weight == 1 for weight in weights.values()):
        return ""
    told = [f"{in_words(column)} {format_exactly(weight)}" for column, weight in weights.items()]
    return f"Detail is weighted: {', '.join(told)}."


def fixed_words(found: Protection) -> str:
    """Say which columns are drawn and published in any case, and what detail is then; empty where none is."""
    if not found.fixed.words:
        return ""
    told = "; ".join(f"{in_words(column)}: {in_words(words)}" for column, words in found.fixed.words.items())
    return (
        f"Drawn first, once for each row, and published as drawn, so not true of everybody: {told}. Detail, "
        "information and the bound are of the other columns, which are published truthfully, by what was drawn too."
    )


def _fixed_names(found: Protection) -> str:
    return join_names(tuple(found.fixed.words))


def detail_words(found: Protection) -> list[str]:
    """Say what detail, information and levels mean."""
    weighted = (
        [
            f"{weights_words(found)} A column of weight w adds, w − 1 times, the logarithm of 1 over the share of all "
            "people whose value of the column is one that those have of whom the published value is true."
        ]
        if weights_words(found)
        else []
    )
    return [
        "The detail of a published value is the logarithm of 1 over the share of all people whom it is true of: the "
        "rarer, the more it says. Relative to the table as it is, whose detail is 100 %; nothing has 0 %.",
        *weighted,
        *([fixed_words(found)] if found.fixed.words else []),
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
    rows = format_count(int(found.counted.tally.total))
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
    return f"{'' if worst.least is None else 'at most '}{times(factor(worst.leakage))} as likely"


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


def no_curve_words() -> str:
    """Say why there is no trade-off."""
    return "The limits are not one level for all secrets together, so there is no curve of budget against detail."


def trade_words(*, whole_columns: bool = True, alone: bool = False) -> str:
    """Say what the picture of a trade-off shows; `alone` is whether it has one budget only."""
    whole = (
        "Recoding whole columns, the same for everybody, is what one would do without protect. "
        if whole_columns
        else ""
    )
    if alone and not whole_columns:
        return "Other budgets were not worked out."
    rest = (
        "Other budgets were not worked out."
        if alone
        else "Computed at the dots. Steps hold in between, since a larger budget never keeps less; where no bound is "
        "drawn, none was worked out."
    )
    return f"How much detail can be kept if no secret may become more than so many times as likely. {whole}{rest}"


def examples_note(left_out: int, people: str) -> str:
    """Say what the list of changes has, and what it leaves out."""
    rest = (
        "" if left_out <= 0 else f" Rarer ones, {left_out} in number and {people} of people, are not listed."
    )
    return (
        f"The most frequent changes first. * is a value that is left out; {NOT_SHOWN} stands where fewer than {SMALL} "
        f"people share an example.{rest}"
    )


def joined_words(name: str, apart: Sequence[str]) -> str:
    """Say what a name stands for that joins all values but some.

    >>> joined_words("other", ["nurse", "baker"])
    'other is every value but nurse and baker'
    """
    more = len(apart) - _MOST_VALUES
    listed = [*apart[:_MOST_VALUES], *([f"{more} more"] if more > 0 else [])]
    return f"{in_words(name)} is every value but {join_names(listed)}"


def kept_note(columns: Sequence[str]) -> str:
    """Say which columns of the file nothing here covers."""
    return f"Kept as in the table, and covered by no guarantee: {join_names(columns)}."


def secret_note(found: Protection) -> str:
    """Say that the secret is in the file."""
    return f"The file has {_secret(found)} beside the released columns."


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _secret(found: Protection) -> str:
    return _quoted_name(found.counted.secret_columns)


def _quoted_name(columns: Sequence[str]) -> str:
    return name_of(tuple(in_words(column) for column in columns))
