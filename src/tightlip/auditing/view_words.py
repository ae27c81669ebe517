"""What an audit says about one secret, a sentence for each finding: guarantees rounded up, attacks down.

Nothing here shows a secret value or the values of a small cell unless `show_values` is set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tightlip.auditing.names import SMALL, Names
from tightlip.auditing.phrases import (
    about,
    at_least,
    at_most,
    both_sides,
    by_factor,
    factor,
    leakage,
    no_more,
    reached,
    surely,
)
from tightlip.auditing.result import AttackGroup, Audit, SecretView, risen
from tightlip.numeric.display import format_about, several
from tightlip.numeric.quantity import Nats
from tightlip.numeric.unit import Unit

_MOST_GROUPS = 3
_MOST_CELLS = 3
_TYPICAL = Fraction(1, 20)
_TOLD_FACTORS = frozenset({2, 5, 10, 100})


@dataclass(frozen=True, slots=True)
class ViewWords:
    """The sentences about one view, without a capital, so that they can follow "About disease: "."""

    audit: Audit
    view: SecretView
    show_values: bool = False
    unit: Unit = "nats"

    def sentences(self) -> list[str]:
        """Worst case, tail, envelope with its attack, what can be ruled out, averages, columns."""
        first = [self._worst(), self._tail(), self._envelope()]
        last = [self._ruled_out(), self._average(), *self._statistic(), self._columns()]
        return [*first, *self.attack(), *last, *self._certified()]

    def attack(self) -> list[str]:
        """The attack behind the envelope, a line for each of its likeliest groups."""
        lines = [self._group(group) for group in self.view.attack[:_MOST_GROUPS]]
        more = len(self.view.attack) - _MOST_GROUPS
        return [*lines, f"{more} more group{'s' if more > 1 else ''} like these."] if more > 0 else lines

    @property
    def _names(self) -> Names:
        return Names(self.audit, self.view, self.show_values)

    def _told(self, amount: Nats) -> str:
        return leakage(amount, self.unit)

    def _worst(self) -> str:
        worst, names = self.view.worst, self._names
        certified = self.view.certified
        prior = _TYPICAL if certified is None else max(_TYPICAL, Fraction(certified.rarest))
        typical = risen(prior, worst.leakage)
        cap = (
            f" A secret with prior {at_most(prior)} can rise to at most {at_most(typical)}."
            if typical < 1
            else ""
        )
        if self.audit.mode == "sample":
            proved = self.view.at_least
            known = f" The worst leaks at least {self._told(proved)}." if proved else ""
            return f"no released value leaks more than {self._told(worst.leakage)}.{cap}{known}"
        up_to = "" if worst.least is None else "at most "
        return (
            f"the worst leakage is {up_to}{self._told(worst.leakage)}, {names.cell(worst.cell)}, where "
            f"{names.secret(worst.secret)} rises from {about(worst.prior)} to "
            f"{reached(worst.posterior, worst.least)}.{cap}"
        )

    def _tail(self) -> str:
        told = [point for point in self.view.tail if point.level.ratio in _TOLD_FACTORS and point.above]
        if not told:
            most = by_factor(self.view.worst.leakage)
            return f"nobody's cell multiplies a secret's probability by more than {most}."
        parts = [
            f"{no_more(point.above)} by more than {format_about(float(point.level.ratio or 1))}"
            for point in told
        ]
        return f"share of people whose cell multiplies the probability of some secret: {', '.join(parts)}."

    def _envelope(self) -> str:
        found = self.view.envelope
        attained = self._told(Nats(found.lower, rounding="down"))
        below, above = both_sides(self.audit.delta)
        often = "" if below == above else f" with probability {below}"
        return (
            f"whatever is done with the release, a leakage above {self._told(found.value)} stays less likely than "
            f"{above} (envelope; at least {attained} can be reached{often})."
        )

    def _group(self, group: AttackGroup) -> str:
        names = self._names
        shown = ", ".join(f"[{names.cell(cell)}]" for cell in group.cells[:_MOST_CELLS])
        rest = f" and {len(group.cells) - _MOST_CELLS} more" if len(group.cells) > _MOST_CELLS else ""
        split = ", some of them only with a certain probability," if group.split else ""
        people = f"fewer than {SMALL} people" if group.few else f"{about(group.probability)} of people"
        return (
            f"grouping {shown}{rest}{split} tells a stranger that the secret is {names.secret(group.secret)} with "
            f"probability at least {surely(group.posterior)} instead of {about(group.prior)}; "
            f"it happens to {people}."
        )

    def _ruled_out(self) -> str:
        cost, names = self.view.pmc, self._names
        cell, secret = names.cell(cost.cell), names.secret(cost.secret)
        if self.audit.mode == "sample":
            if cost.posterior >= cost.prior:
                return "the sample does not prove that any secret can be ruled out, nor that none can."
            prior, posterior = at_least(cost.prior), at_most(cost.posterior)
            return (
                f"the value {cell} makes {secret} less likely: from at least {prior} to at most {posterior}."
            )
        if math.isinf(cost.leakage):
            held = about(cost.prior)
            return (
                f"secrets can be ruled out: nobody in {cell} has {secret}, which {held} of all people have."
            )
        return (
            f"nothing can be ruled out; {cell} makes {secret} less likely by at most {by_factor(cost.leakage)} "
            f"(PMC {self._told(cost.leakage)})."
        )

    def _average(self) -> str:
        local = self._told(self.view.ldp)
        if math.isinf(self.view.ldp):
            local += (
                f": some cell {'excludes' if self.audit.mode == 'population' else 'may exclude'} a secret"
            )
        return (
            f"maximal leakage (average) is at most {self._told(self.view.maximal_leakage)}; "
            f"local differential privacy is {local}."
        )

    def _statistic(self) -> list[str]:
        """What is learnt about a statistic of the whole secret, whatever its prior."""
        found = self.view.sml
        if found is None:
            return []
        whole, attained = self.audit.joint.name, self._told(Nats(found.lower, rounding="down"))
        sure = "exact" if found.exact else f"proved; some prior reaches {attained}"
        return [
            f"as a statistic of {whole}: whatever is believed about {whole} beforehand, the release makes "
            f"{self.view.name} at most {factor(found.value)} times as easy to guess, {self._told(found.value)} "
            f"(SML, {sure})."
        ]

    def _columns(self) -> str:
        what = "worst leakage" if self.audit.mode == "population" else "bound on the envelope"
        parts = [
            f"{effect.column} (alone {self._told(effect.alone)}, without it {self._told(effect.without)})"
            for effect in self.view.columns
        ]
        return f"released columns by what they add, {what}: {'; '.join(parts)}."

    def _certified(self) -> list[str]:
        """What a sample cannot say."""
        found = self.view.certified
        if found is None:
            return []
        covered = f"the bounds cover secrets held by at least {at_most(found.rarest)} of the population"
        if not found.uncertified_cells:
            return [f"{covered}."]
        cells, share = several(found.uncertified_cells, "cell"), at_most(found.uncertified_share)
        are, them = ("is", "it") if found.uncertified_cells == 1 else ("are", "them")
        return [
            f"{covered}; {cells} ({share} of the rows) {are} too small to certify: the sample says no more about "
            f"{them} than about any other."
        ]
