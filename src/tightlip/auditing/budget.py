"""Judge cells by budgets: what a released value may say about a secret, decided in whole numbers.

A budget is a level (no secret becomes more than e^ε times as likely) or a cap (no secret becomes likelier than that),
about every value of the secret or about some. With c_xy people of secret x among the n_y of a cell, n_x in all and n
people, a cap of a/b is exceeded where b·c_xy > a·n_y, and a level where n c_xy / (n_x n_y) > e^ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.tally import Places, Tally
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.budget import Allowed
from tightlip.numeric.display import format_exactly, format_up
from tightlip.numeric.quantity import Nats, exact_ratio
from tightlip.table.mechanism import Value

Label = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is allowed about some values of a secret, by label; about all of them where `labels` is None."""

    allowed: Allowed
    labels: frozenset[Label] | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What cells may say about one secret; all rules must be kept."""

    rules: tuple[Rule, ...]

    @property
    def level(self) -> Nats | None:
        """The smallest level about every value; None where there is none."""
        return min((rule.allowed.nats() for rule in self.rules if _is_level(rule)), default=None)

    def require_possible(self, counted: Counted) -> None:
        """Refuse values that do not occur, and a cap that a value exceeds whatever is released."""
        name = " × ".join(counted.secret_columns)
        labels = [] if all(map(_is_level, self.rules)) else _labels(counted)
        for rule in self.rules:
            for label in (rule.labels or frozenset()).difference(labels):
                raise InvalidInput(
                    f"budget of {quoted(name)} must name values that occur, got {quoted(label[0])}; check it."
                )
            if rule.allowed.kind == "cap":
                held = [counted.tally.prior_of(place) for place in _meant(rule, labels)]
                if max(held) > rule.allowed.level:
                    named = rule.labels is not None
                    remedy = "raise it" if named else "name the sensitive values (--secret COLUMN=VALUE)"
                    raise InvalidInput(
                        f"the cap of {format_exactly(100 * Fraction(rule.allowed.level))} % on {quoted(name)} cannot "
                        f"be kept, since {format_up(100 * max(held), 3)} % of all people have one of its values; "
                        f"{remedy}, or set a factor."
                    )

    def over(self, counted: Counted) -> NDArray[np.bool_]:
        """Decide exactly which cells say more than is allowed."""
        tally, level = counted.tally, self.level
        over = np.zeros(tally.shape[1], dtype=bool) if level is None else cell_pml(tally).above(level)
        labels = [] if all(map(_is_level, self.rules)) else _labels(counted)
        for rule in self.rules:
            if not _is_level(rule):
                pairs = np.flatnonzero(np.isin(tally.secret, _meant(rule, labels)))
                over[tally.cell[pairs[_exceeds(tally, pairs, rule.allowed)]]] = True
        return over


REFERENCE = Budget((Rule(Allowed.read("2x")),))
"""What columns are ranked by where no budget was set: the people about whom something becomes twice as likely."""


def _labels(counted: Counted) -> list[Label]:
    return [counted.secret_label(place) for place in range(counted.tally.shape[0])]


def _is_level(rule: Rule) -> bool:
    return rule.allowed.kind == "pml" and rule.labels is None


def _meant(rule: Rule, labels: list[Label]) -> list[int]:
    return [place for place, label in enumerate(labels) if rule.labels is None or label in rule.labels]


def _exceeds(tally: Tally, pairs: Places, allowed: Allowed) -> NDArray[np.bool_]:
    """Which pairs of secret and cell exceed a cap, or the level of a value."""
    if allowed.kind == "cap":
        cap = Fraction(allowed.level)
        held, people = tally.count[pairs].astype(object), tally.of_cell[tally.cell[pairs]].astype(object)
        return np.asarray(held * cap.denominator > people * cap.numerator, dtype=bool)
    level = allowed.nats()
    wanted, known = exact_ratio(level), dict[Fraction, bool]()
    lifts = [tally.lift(pair) for pair in pairs.tolist()]
    for lift in lifts:
        if lift not in known:
            known[lift] = log_exceeds(lift, level) if wanted is None else lift > wanted
    return np.array([known[lift] for lift in lifts], dtype=bool)
