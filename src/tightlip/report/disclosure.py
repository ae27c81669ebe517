"""Veil an audit without leave to show values: codes in place of names, ranges in place of small counts.

Every secret is "secret 3" and every cell of fewer than ten people "cell 17"; people are counted before noise, which
gives every value to many. Larger cells are called by their released values, which are meant for publication. Codes
hide names, not shares: who knows how frequent a secret is may recognise it by its share.

Nothing is told from which the size of a cell under ten people follows. A posterior c/n with n < 10 gives n away, and so
does a leakage beside the prior. So both are told as ranges, the same whatever the data: shares between 1/9, 1/4, 1/2,
3/4 and 1, each of which at least five sizes can have. Shares of 0 and 1 are told as they are, since every size can have
them. The worst leakage is a range where its cell is small, and so is every amount that could be the same one: those
above the range's lower end. Fewer than ten people are told as that.

What officers know by other names follows the same rule where some cell is small: α and t-closeness are told as the
upper end of their range, β-likeness and δ-disclosure follow from the leakage that is told, and entropy l-diversity is
rounded down to a whole number. k-anonymity, the risks that are 1/k, distinct l-diversity and the numbers of people who
are unique or in cells below 3, 5 and 10 are told as they are: a release is judged by them, and they say how many people
are in small cells, not which cells these are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from tightlip.auditing.counted import SMALL, SUPPRESSED, UNNAMED
from tightlip.auditing.leakage import tail_levels
from tightlip.auditing.result import (
    AttackGroup,
    Audit,
    CellRisk,
    ColumnEffect,
    Finding,
    Remedy,
    SecretView,
    TailPoint,
)
from tightlip.auditing.view import UNSEEN
from tightlip.envelopes.result import Envelope
from tightlip.numeric.display import several
from tightlip.numeric.quantity import Nats, Probability
from tightlip.numeric.rounding import up
from tightlip.report.amounts import in_words
from tightlip.table.chain import steps_of
from tightlip.table.mapping import Mapping
from tightlip.table.policy_file import policy_toml

_LONGEST = 40
_EDGES = tuple(map(Fraction, ("1/9", "1/4", "1/2", "3/4", "1")))
_Found = TypeVar("_Found", Finding, CellRisk)


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a report about one view uses."""

    audit: Audit
    view: SecretView
    show_values: bool = False

    def secret(self, place: int) -> str:
        """Name a secret: its values, or "secret 3"."""
        if not self.show_values:
            return f"secret {place + 1}"
        return secret_name(self.view.counted.secret_columns, self.view.counted.secret_label(place))

    def cell(self, place: int) -> str:
        """Name a cell: its released values where it is large or values may be shown, or "cell 17"."""
        if place == UNSEEN:
            return "a released value outside the sample"
        counted = self.view.counted
        code = counted.codes[place][0]
        if code == SUPPRESSED:
            return "the cell of all suppressed people"
        named = code != UNNAMED and self.shows(place)
        own = cell_name(counted.columns, counted.cell_label(place) or ()) if named else f"cell {place + 1}"
        # of small cells their number, beside those of people, would tell their size
        alike = int(counted.tally.cells[place]) - 1 if self.shows(place) else 0
        return f"{own} and {several(alike, 'cell')} like it" if alike else own

    def shows(self, place: int) -> bool:
        """Whether a cell may be called by its values: many people have them, or values may be shown."""
        return self.show_values or self.view.counted.holders_of(place) >= SMALL


def has_small_cells(view: SecretView) -> bool:
    """Whether some cell of a view has fewer than ten people."""
    counted = view.counted
    return bool(((counted.tally.sizes if counted.holders is None else counted.holders) < SMALL).any())


def secret_name(columns: Sequence[str], label: Sequence[str | None]) -> str:
    """Name a secret by its values: one of a single column, or a combination."""
    if len(columns) > 1:
        return cell_name(columns, label)
    column = _plain(columns[0])
    return f"{column} missing" if label[0] is None else f'{column} "{_plain(label[0])}"'


def cell_name(columns: Iterable[str], label: Iterable[str | None]) -> str:
    """Name a cell by its released values."""
    return ", ".join(
        f"{in_words(_plain(column))} = {_plain(value) if value is not None else '(missing)'}"
        for column, value in zip(columns, label, strict=True)
    )


def _plain(text: str) -> str:
    """Text on one line without control characters, cut where it is long."""
    shown = "".join(character if character.isprintable() else "�" for character in text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def veil_audit(audit: Audit) -> Audit:
    """Veil an audit as it may be told: ranges, true ones, in place of what gives away how small a small cell is."""
    return replace(audit, views={name: Veil.of(audit, view).view for name, view in audit.views.items()})


def share_range(share: Fraction) -> tuple[Fraction, Fraction]:
    """Round a share to the range that it is told as, the upper end not reached; 0 and 1 stay what they are.

    >>> [str(end) for end in share_range(Fraction(2, 7))], share_range(Fraction(1))
    (['1/4', '1/2'], (Fraction(1, 1), Fraction(1, 1)))
    """
    if share in (0, 1):
        return share, share
    high = _EDGES[0]
    if share < high:  # with noise alone: fewer than ten people have no such share
        while share < high / 2:
            high /= 2
        return high / 2, high
    return max(edge for edge in _EDGES if edge <= share), min(edge for edge in _EDGES if edge > share)


@dataclass(frozen=True, slots=True)
class Veil:
    """One view as it is told; amounts from `hidden` on are told as the range from there to the worst leakage."""

    view: SecretView
    hidden: Nats | None

    @classmethod
    def of(cls, audit: Audit, view: SecretView) -> Veil:
        """Tell every finding about a small cell of a view as a range."""
        names = Names(audit, view)
        kept = view.budget is not None and view.verdict and audit.mode == "population"
        worst = _gain(view.worst, names, view.budget.level if kept and view.budget else None)
        least = None if worst.least is None else Nats.of_ratio(_lift(worst.least, worst.prior), "down")
        bare = cls(replace(view, worst=worst), least)
        few = _Few(audit, view.people)
        told = replace(
            bare.view,
            at_least=view.at_least if least is None else min(view.at_least, least),
            tail=tuple(few.point(point) for point in view.tail),
            envelope=bare.envelope(view.envelope),
            attack=tuple(few.group(group, names) for group in view.attack),
            others=_others(view, names),
            ldp=bare.ldp(),
            share_above_budget=few.share(view.share_above_budget),
            worst_cells=tuple(_gain(risk, names, worst.leakage) for risk in view.worst_cells),
            columns=tuple(bare.effect(effect) for effect in view.columns),
        )
        return cls(told, least)

    def above(self, amount: Nats) -> Nats:
        """Raise an upper bound to the worst leakage where it is in the hidden range."""
        return self.view.worst.leakage if self.hidden is not None and amount > self.hidden else amount

    def envelope(self, point: Envelope) -> Envelope:
        """Tell a point with both ends outside the hidden range."""
        if self.hidden is None or point.upper <= self.hidden:
            return point
        upper = float(self.above(point.value))
        return replace(point, upper=upper, lower=min(point.lower, float(self.hidden)), certificate=None)

    def effect(self, effect: ColumnEffect) -> ColumnEffect:
        """Tell a column's effect with both amounts outside the hidden range; their worst cells may be small too."""
        if self.view.certified is not None:  # bounds of a sample
            return effect
        return replace(effect, alone=self._level(effect.alone), without=self._level(effect.without))

    def _level(self, amount: Nats) -> Nats:
        """An amount at a fixed level, or at the worst leakage, which is told anyway, where that is less."""
        told, worst = self.above(level_above(amount)), self.view.worst.leakage
        return min(told, worst) if amount <= worst else told

    def ldp(self) -> Nats:
        """Tell LDP, which a small cell may decide, as no more than its parts allow: PML and PMC of the worst cells."""
        view = self.view
        if self.hidden is None or math.isinf(view.ldp):
            return view.ldp
        return Nats(up(float(view.worst.leakage) + float(view.pmc.leakage)))


def level_above(amount: Nats) -> Nats:
    """Round an amount up to one of the fixed levels of tails, from which no count follows."""
    return next((level for level in tail_levels() if level >= amount), amount)


@dataclass(frozen=True, slots=True)
class _Few:
    """Shares of a population that are those of fewer than ten people."""

    audit: Audit
    people: int

    def _hides(self, share: Fraction) -> bool:
        return self.audit.mode == "population" and 0 < share * self.people < SMALL

    def share(self, share: Probability | None) -> Probability | None:
        """At most ten people's share in place of that of fewer."""
        if share is None or share.fraction is None or not self._hides(share.fraction):
            return share
        return Probability(float(Probability.of(min(Fraction(SMALL, self.people), Fraction(1)))))  # a bound

    def point(self, point: TailPoint) -> TailPoint:
        """Tell a point of the tail."""
        above = self.share(point.above)
        return (
            point
            if above is None or above is point.above
            else replace(point, above=above, at_least=Probability(0.0))
        )

    def group(self, group: AttackGroup, names: Names) -> AttackGroup:
        """Tell a group of an attack; `few` where it is one of fewer than ten people."""
        counted = names.view.counted
        held = sum(counted.holders_of(kind) * int(counted.tally.cells[kind]) for kind in group.cells)
        if names.show_values or held >= SMALL:
            return group
        return replace(group, posterior=float(share_range(Fraction(group.posterior))[0]), few=True)


def _gain(found: _Found, names: Names, most: Nats | None) -> _Found:
    """A finding with its posterior as a range, and as leakage what the range allows, or `most` where that is less."""
    if found.cell == UNSEEN or names.shows(found.cell):
        return found
    return veil_finding(found, most)


def veil_finding(found: _Found, most: Nats | None) -> _Found:
    """Tell the posterior of a small cell as a range, and as leakage what it allows, or `most` where that is less."""
    if not found.leakage:
        return found
    low, high = share_range(_exact(found.posterior))
    if low == high:
        return found
    lift = Nats.of_ratio(_lift(Probability.of(high), found.prior))
    leakage = lift if most is None else min(lift, most)
    return replace(found, leakage=leakage, posterior=Probability.of(high), least=Probability.of(low, "down"))


def _cost(found: Finding, names: Names) -> Finding:
    """The same for what can be ruled out, where a smaller posterior costs more."""
    told = _gain(found, names, None)
    if told.least is None:
        return found
    cost = Nats.of_ratio(max(_exact(found.prior) / _exact(told.least), Fraction(1)))
    return replace(told, leakage=max(found.leakage, cost))


def _others(view: SecretView, names: Names) -> dict[str, Finding]:
    """Other measures: PMC as a range; one without a rule of its own is told of cells alone that may be shown."""
    return {
        name: _cost(found, names) if name == "pmc" else found
        for name, found in view.others.items()
        if name == "pmc" or names.shows(found.cell)
    }


def _lift(posterior: Probability, prior: Probability) -> Fraction:
    return max(_exact(posterior) / _exact(prior), Fraction(1))


def _exact(share: Probability) -> Fraction:
    return Fraction(share) if share.fraction is None else share.fraction


def remedy_toml(
    audit: Audit, remedy: Remedy, *, show_values: bool = False, folder: str | Path = "."
) -> str | None:
    """Write the changed plan as TOML for a file in some folder; None where it would tell what may not be shown.

    What a remedy adds names only values that ten people or more have. A mapping or a channel that is written out in
    the plan itself, and a list of values in order, may name others, so the text is withheld unless values may be shown.
    """
    plan, changed = (zip(own.columns, own.recodings, strict=True) for own in (audit.policy, remedy.policy))
    written = {
        (column, step)
        for column, recoding in plan
        for step in steps_of(recoding)
        if isinstance(step, Mapping) and not step.hierarchy
    }
    kept = {(column, step) for column, recoding in changed for step in steps_of(recoding)}
    in_order = any(isinstance(scale, tuple) for scale in audit.policy.scales.values())
    noise = (item.mechanism for item in remedy.policy.release)
    in_noise = any(one is not None and one.names_values(Path(folder)) for one in noise)
    if not show_values and (in_order or in_noise or written & kept):
        return None
    return policy_toml(remedy.policy, folder)
