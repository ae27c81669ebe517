"""Turn budgets into limits: what a published value may say about each secret, of the people to whom it applies.

A level for no column in particular is for each secret column, and for all of them together where the plan asks for that
(`jointly`). A cap on certainty is about the named values of a secret, where some are named. People with a value that is
no secret (`not_secret`) are left out: a limit on a secret of such a column is about those to whom it applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import about, left_out, sensitive
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, quoted
from tightlip.protection.limits import Kind, Limit, Limits, whole_kind
from tightlip.protection.past import Past, require_few, split_by_past
from tightlip.table.budget import Rule, read_rules
from tightlip.table.kinds import MISSING
from tightlip.table.policy import Policy, require_known

Subject = tuple[str, ...]


def read_limits(
    counted: Counted, plan: Policy, budget: Any, pmc: Any, delta: Any, past: Past | None = None
) -> tuple[Limits, tuple[tuple[Subject, int], ...]]:
    """The limits of budgets on counts, and for each row of the counts which secret it is of: its subject and place.

    With a past, whose counts are at the same levels, there is one for each value that was released earlier.
    """
    asked = list(asked_limits(plan, budget, pmc))
    build = _Rows(counted, plan, tuple(dict.fromkeys(subject for subject, _, _ in asked)), past)
    limits: list[Limit] = []
    for subject, rule, kind in asked:
        limits += build.limits(subject, rule, kind)
    share = Fraction(0) if delta is None else read_delta(repr(delta) if isinstance(delta, float) else delta)
    return build.stacked(_tightest(limits), share), tuple(build.names)


def asked_limits(plan: Policy, budget: Any, pmc: Any) -> Iterator[tuple[Subject, Rule, Kind]]:
    """List what budgets ask: about which secret columns together, by which rule, and as which kind of limit."""
    for argument, given in (("budget", budget), ("pmc", pmc)):
        for rule in read_rules(given, argument):
            kind: Kind = "pmc" if argument == "pmc" else rule.allowed.kind
            if argument == "pmc" and rule.allowed.kind == "cap":
                raise InvalidInput(f'pmc must be a level like "3x", got {quoted(rule.allowed.given)}.')
            if rule.column is not None:
                require_known(rule.column, plan.secret, f"secret column of {argument}")
                yield (rule.column,), rule, kind
                continue
            for column in plan.secret:
                yield (column,), rule, kind
            if plan.jointly and len(plan.secret) > 1:
                yield plan.secret, rule, kind


class _Rows:
    """The counts of the secrets of some subjects below each other, and the people to whom each subject applies."""

    def __init__(
        self, counted: Counted, plan: Policy, subjects: Sequence[Subject], past: Past | None
    ) -> None:
        total = counted.tally.total if past is None else past.counted.tally.total
        self.plan, self.past, kind = plan, past, whole_kind(total)
        self.people = counted.tally.of_cell.astype(kind) * (total // counted.tally.total)
        self.seen = {subject: about(counted, subject) for subject in subjects}
        self.rows: dict[Subject, dict[int, list[int]]] = {}
        self.names: list[tuple[Subject, int]] = []
        self.prior_of: list[int] = []
        parts: list[NDArray[Any]] = []
        self.applies: list[NDArray[Any]] = []
        for subject, seen in self.seen.items():
            kept = np.flatnonzero(~left_out(seen, plan))
            own = self.rows[subject] = {int(place): [] for place in kept}
            first = len(self.prior_of)
            for matrix in self._matrices(subject, seen, kind):
                for place, rows in own.items():
                    rows.append(len(self.names))
                    self.names.append((subject, place))
                self.prior_of += range(first, first + len(kept))
                parts.append(matrix[kept])
                self.applies.append(matrix[kept].sum(axis=0))
        self.counts = np.vstack(parts)
        self.subject = np.repeat(np.arange(len(parts)), [len(part) for part in parts])

    def _matrices(self, subject: Subject, seen: Counted, kind: Any) -> Iterator[NDArray[Any]]:
        """Counts by secret and cell; with a past one matrix for each value that was released earlier."""
        if self.past is None:
            matrix = np.zeros(seen.tally.shape, dtype=kind)
            matrix[seen.tally.secret, seen.tally.cell] = seen.tally.count
            yield matrix
            return
        joint = about(self.past.counted, subject)
        cell, earlier, many = split_by_past(joint)
        require_few(seen.tally.shape[0], many, seen.tally.shape[1])
        of_pair = earlier[joint.tally.cell]
        order = np.argsort(of_pair, kind="stable")
        for pairs in np.split(order, np.searchsorted(of_pair[order], np.arange(1, many))):
            matrix = np.zeros(seen.tally.shape, dtype=kind)
            matrix[joint.tally.secret[pairs], cell[joint.tally.cell[pairs]]] = joint.tally.count[pairs]
            yield matrix

    def limits(self, subject: Subject, rule: Rule, kind: Kind) -> Iterator[Limit]:
        """The limits of a rule on the secrets of a subject that it is about."""
        seen = self.seen[subject]
        if rule.value is not None:
            chosen = self._named(subject, rule.value)
        elif kind == "cap":
            chosen = [place for place in self.rows[subject] if sensitive(seen, self.plan)[place]]
        else:
            chosen = [*self.rows[subject]]
        for place in chosen:
            rows = self.rows[subject][place]
            people = sum(int(self.applies[self.subject[row]].sum()) for row in rows)
            prior = Fraction(sum(int(self.counts[row].sum()) for row in rows), people)
            for row in rows:
                limit = Limit.of(row, kind, rule.allowed.level, prior)
                if self.past is None or self._matters(limit):
                    yield limit

    def _matters(self, limit: Limit) -> bool:
        """Whether some cell alone exceeds it."""
        held, people = self.counts[limit.secret].astype(object), self.applies[self.subject[limit.secret]]
        left, right = held * limit.inside.denominator, people.astype(object) * limit.inside.numerator
        return bool(((left < right) if limit.floor else (left > right)).any())

    def _named(self, subject: Subject, value: str) -> list[int]:
        known = [
            place
            for place in self.rows[subject]
            if (self.seen[subject].secret_label(place)[0] or MISSING) == value
        ]
        if not known:
            raise InvalidInput(
                f"budget of {quoted(subject[0])} must name values that occur and are secret, got {quoted(value)}; "
                "check it."
            )
        return known

    def stacked(self, limits: tuple[Limit, ...], exposed: Fraction) -> Limits:
        """All of it; where everything applies to everybody, nothing is said about whom it is about."""
        if all(np.array_equal(own, self.people) for own in self.applies):
            return Limits(self.counts, self.people, limits, exposed)
        prior_of = None if self.past is None else np.array(self.prior_of, dtype=np.intp)
        return Limits(
            self.counts, self.people, limits, exposed, np.vstack(self.applies), self.subject, prior_of
        )


def _tightest(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """The tightest limit of each secret and side; those that every share keeps are left out."""
    best: dict[tuple[int, bool], Limit] = {}
    for limit in limits:
        if not limit.void:
            key = limit.secret, limit.floor
            known = best.setdefault(key, limit)
            tighter = limit.inside > known.inside if limit.floor else limit.inside < known.inside
            best[key] = limit if tighter else known
    return tuple(best.values())
