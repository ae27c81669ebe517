"""An audit in words: a headline and paragraphs, guarantees rounded up and attacks down.

Nothing here shows a secret value or the values of a small cell unless `show_values` is set.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tightlip.audit.names import Names
from tightlip.audit.result import AttackGroup, Audit, Finding, SecretView, risen
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.display import format_about, format_down, format_up
from tightlip.numeric.quantity import Nats, Probability, Unit

_MOST_GROUPS = 3
_MOST_CELLS = 3
_MOST_REMEDIES = 3
_TYPICAL = Fraction(1, 20)
_SHORT = {"up": format_up, "down": format_down, "nearest": format_about}


def headline(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> str:
    """One sentence: the worst that the release does."""
    view = audit.joint
    if audit.mode == "sample":
        return _sample_headline(audit, view)
    if not view.worst.leakage:
        return f"The release gives nothing away about {view.name}."
    names = Names(audit, view, show_values)
    worst = view.worst
    return (
        f"In the worst case, {names.cell(worst.cell)}, the release raises the probability of "
        f"{names.secret(worst.secret)} from {about(worst.prior)} to {about(worst.posterior)}: "
        f"{times(worst.leakage)}, {leakage_words(worst.leakage, unit)}."
    )


def paragraphs(audit: Audit, *, show_values: bool = False, unit: Unit = "nats") -> list[str]:
    """The audit in a few paragraphs: verdict, then each view, then what to change and what the numbers mean."""
    found = [verdict(audit, unit=unit)] if audit.verdict is not None else []
    for view in audit.views.values():
        names = Names(audit, view, show_values)
        found += [f"About {view.name}: {part}" for part in _about_view(audit, view, names, unit)]
    found += remedy_words(audit, unit=unit)
    return [*found, *_reading(audit, show_values)]


def verdict(audit: Audit, *, unit: Unit = "nats") -> str:
    """Whether the budget is kept, and by how many people not."""
    assert audit.budget is not None
    budget = leakage_words(audit.budget, unit)
    view = audit.joint
    share = view.share_above_budget
    assert share is not None
    if audit.mode == "sample":
        told = f"a leakage above the budget of {budget} has probability at most {up(share)}"
        kept = "kept" if audit.verdict else "not shown to be kept"
        return f"The budget is {kept}: with {sure(audit)} confidence {told} (allowed: {about(audit.delta)})."
    if audit.verdict:
        most = leakage_words(view.worst.leakage, unit)
        return f"The budget of {budget} is kept: no released value leaks more than {most}."
    return f"The budget of {budget} is not kept: {up(share)} of people are in cells that leak more."


def remedy_words(audit: Audit, *, unit: Unit = "nats") -> list[str]:
    """What to change, at most three ways; empty where nothing is wrong or asked."""
    if audit.verdict is not False:
        return []
    if not audit.remedies:
        return ["No change of the plan was found that meets the budget and still releases something."]
    after = "worst leakage" if audit.mode == "population" else f"envelope at {about(audit.delta)} at most"
    return [
        f"To meet the budget: {remedy.change}; {after} {leakage_words(remedy.leakage, unit)}, keeps "
        f"{about(remedy.kept)} of the detail ({_kind_words(remedy.kind)})."
        for remedy in audit.remedies[:_MOST_REMEDIES]
    ]


def attack_words(audit: Audit, view: SecretView, *, show_values: bool = False) -> list[str]:
    """The attack behind the envelope, a line for each of its likeliest groups."""
    names = Names(audit, view, show_values)
    lines = [_group_words(group, names) for group in view.attack[:_MOST_GROUPS]]
    more = len(view.attack) - _MOST_GROUPS
    return [*lines, f"{more} more group{'s' if more > 1 else ''} like these."] if more > 0 else lines


def _group_words(group: AttackGroup, names: Names) -> str:
    shown = ", ".join(f"[{names.cell(cell)}]" for cell in group.cells[:_MOST_CELLS])
    rest = f" and {len(group.cells) - _MOST_CELLS} more" if len(group.cells) > _MOST_CELLS else ""
    split = ", some of them only with a certain probability," if group.split else ""
    return (
        f"Grouping {shown}{rest}{split} tells a stranger that the secret is {names.secret(group.secret)} with "
        f"probability at least {down(group.posterior)} instead of {about(group.prior)}; "
        f"it happens to {about(group.probability)} of people."
    )


def _about_view(audit: Audit, view: SecretView, names: Names, unit: Unit) -> list[str]:
    parts = [_worst_words(audit, view, names, unit), _tail_words(view), _envelope_words(audit, view, unit)]
    parts += attack_words(audit, view, show_values=names.show_values)
    parts += [_cost_words(audit, view, names, unit), _average_words(audit, view, unit)]
    return [*parts, _column_words(audit, view, unit)]


def _worst_words(audit: Audit, view: SecretView, names: Names, unit: Unit) -> str:
    worst = view.worst
    most, risk = leakage_words(worst.leakage, unit), risen(_TYPICAL, worst.leakage)
    cap = f" By this factor a secret of 5 % of people would rise to at most {up(risk)}." if risk < 1 else ""
    if audit.mode == "sample":
        known = f" The worst leaks at least {leakage_words(view.at_least, unit)}." if view.at_least else ""
        return f"no released value leaks more than {most}.{cap}{known}"
    return (
        f"the worst leakage is {most}, {names.cell(worst.cell)}, where {names.secret(worst.secret)} "
        f"rises from {about(worst.prior)} to {about(worst.posterior)}.{cap}"
    )


def _tail_words(view: SecretView) -> str:
    wanted = {Fraction(ratio) for ratio in (2, 5, 10, 100)}
    told = [point for point in view.tail if point.level.ratio in wanted and point.above > 0]
    if not told:
        return f"nobody's cell multiplies a secret's probability by more than {times(view.worst.leakage, bare=True)}."
    parts = [
        f"{up(point.above)} by more than {format_about(float(point.level.ratio or 1))}" for point in told
    ]
    return f"share of people whose cell multiplies the probability of some secret: {', '.join(parts)}."


def _envelope_words(audit: Audit, view: SecretView, unit: Unit) -> str:
    found = view.envelope
    reached = leakage_words(Nats(found.lower, rounding="down"), unit)
    return (
        f"whatever is done with the release, a leakage above {leakage_words(found.epsilon, unit)} stays less likely "
        f"than {about(audit.delta)} (envelope; at least {reached} can be reached)."
    )


def _cost_words(audit: Audit, view: SecretView, names: Names, unit: Unit) -> str:
    cost: Finding = view.pmc
    where = f"{names.cell(cost.cell)} makes {names.secret(cost.secret)}"
    if audit.mode == "sample":
        if cost.posterior >= cost.prior:
            return "the sample does not prove that any secret can be ruled out, nor that none can."
        return f"{where} less likely: from at least {down(cost.prior)} to at most {up(cost.posterior)}."
    if math.isinf(cost.leakage):
        return f"{where} impossible ({about(cost.prior)} of people have it): it can be ruled out."
    return (
        f"nothing can be ruled out; {where} less likely by at most {times(cost.leakage, bare=True)} "
        f"(PMC {leakage_words(cost.leakage, unit)})."
    )


def _average_words(audit: Audit, view: SecretView, unit: Unit) -> str:
    local = leakage_words(view.ldp, unit)
    if math.isinf(view.ldp):
        local += ": some cell " + ("excludes" if audit.mode == "population" else "may exclude") + " a secret"
    average = leakage_words(view.maximal_leakage, unit)
    text = f"maximal leakage (average) is at most {average}; local differential privacy is {local}."
    if view.sml is None:
        return text
    return f"{text} Statistic maximal leakage is at most {leakage_words(view.sml.value, unit)}."


def _column_words(audit: Audit, view: SecretView, unit: Unit) -> str:
    what = "worst leakage" if audit.mode == "population" else "bound on the envelope"
    parts = [
        f"{effect.column} (alone {leakage_words(effect.alone, unit)}, without it {leakage_words(effect.without, unit)})"
        for effect in view.columns
    ]
    return f"released columns by what they add, {what}: {'; '.join(parts)}."


def _sample_headline(audit: Audit, view: SecretView) -> str:
    known = [(view.worst.leakage, Probability(0.0))]
    known += [(point.level, point.above) for point in view.tail if point.above <= audit.delta]
    level, above = min(known)
    return (
        f"With {sure(audit)} confidence, the release multiplies the probability of a secret ({view.name}) "
        f"by at most {times(level, bare=True)} for all but {up(above)} of people."
    )


def _reading(audit: Audit, show_values: bool) -> list[str]:
    found = []
    if audit.mode == "population":
        found.append(
            f"The table of {audit.total} rows counts as the whole population; the numbers are exact."
        )
    else:
        found += [_certified_words(view, audit) for view in audit.views.values()]
    if not show_values:
        found.append(
            "Secret values and cells of fewer than 10 people are shown as codes, numbered by size; "
            "equal sizes are numbered at random."
        )
    return found


def _certified_words(view: SecretView, audit: Audit) -> str:
    found = view.certified
    assert found is not None
    text = (
        f"The {audit.total} rows count as a sample; all bounds hold together with {sure(audit)} confidence. "
        f"About {view.name} they cover secrets held by at least {up(found.rarest)} of the population."
    )
    if not found.uncertified_cells:
        return text
    return f"{text} {found.uncertified_cells} cells ({up(found.uncertified_share)} of rows) are too small to certify."


def _kind_words(kind: str) -> str:
    return "the least change of its kind" if kind == "optimal" else "found by a heuristic search"


def leakage_words(amount: Nats, unit: Unit = "nats") -> str:
    """An amount with its unit, rounded to the side it was rounded to.

    >>> leakage_words(Nats(0.51234567)), leakage_words(Nats(0.51234567, rounding="down"), "bits")
    ('0.512346 nats', '0.739158 bits')
    """
    value = amount.in_bits() if unit == "bits" else float(amount)
    return "infinite" if math.isinf(value) else f"{_SHORT[amount.rounding](value)} {unit}"


def times(amount: Nats, *, bare: bool = False) -> str:
    """e^amount, rounded up: "12 times", or bare "a factor 12"."""
    if math.isinf(amount):
        return "any factor"
    factor = format_up(amount.ratio or Fraction(exp_bounds(float(amount))[1]), 3)
    return f"a factor {factor}" if bare else f"{factor} times"


def sure(audit: Audit) -> str:
    """The confidence of a sample in percent."""
    return f"{format_down(100 * (audit.confidence or 0.0))} %"


def about(share: float | Fraction) -> str:
    """A share in percent, to nearest."""
    exact = share.exact if isinstance(share, Probability) and share.exact is not None else Fraction(share)
    return f"{format_about(float(100 * exact), 3)} %"


def up(share: float | Fraction) -> str:
    """A share in percent, rounded up."""
    exact = share.exact if isinstance(share, Probability) and share.exact is not None else Fraction(share)
    return f"{format_up(100 * exact, 3)} %"


def down(share: float | Fraction) -> str:
    """A share in percent, rounded down, less the rounding of sums."""
    return f"{format_down(Fraction(share) * 100 * (1 - Fraction(1, 10**9)), 3)} %"
