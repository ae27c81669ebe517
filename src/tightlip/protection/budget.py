"""Read budgets: what a published value may say about the secrets, as people say it.

A budget is a level ("3x", "log(3)", "1 nat": nobody's secret becomes more than 3 times as likely), a cap ("50%":
nobody's becomes more than that likely), or a mapping of secret columns to such, or of a column's values to such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import about
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import exact_level
from tightlip.protection.limits import Kind, Limit, Limits
from tightlip.table.policy import require_known

Subject = tuple[str, ...]
_Rule = tuple[Subject, tuple[str | None, ...] | None, Kind, float | Fraction]


def read_limits(
    counted: Counted, budget: Any, pmc: Any, delta: Any
) -> tuple[Limits, tuple[tuple[Subject, int], ...]]:
    """The limits of budgets on counts, and for each row of the counts which secret it is of: its subject and place."""
    rules = [*_read(counted, budget, "budget"), *(_read(counted, pmc, "pmc") if pmc is not None else [])]
    subjects = list(dict.fromkeys(rule[0] for rule in rules))
    tables = {subject: about(counted, subject) for subject in subjects}
    rows, first = [], {}
    names: list[tuple[Subject, int]] = []
    for subject, seen in tables.items():
        first[subject] = len(names)
        matrix = np.zeros(seen.tally.shape, dtype=np.int64)
        matrix[seen.tally.secret, seen.tally.cell] = seen.tally.count
        rows.append(matrix)
        names += [(subject, place) for place in range(len(matrix))]
    counts, people = np.vstack(rows), counted.tally.of_cell.astype(np.int64)
    total = int(people.sum())
    limits = []
    for subject, value, kind, level in rules:
        seen = tables[subject]
        for place in range(seen.tally.shape[0]):
            if value is None or seen.secret_label(place) == value:
                row = first[subject] + place
                limits.append(Limit.of(row, kind, level, Fraction(int(counts[row].sum()), total)))
    share = Fraction(0) if delta is None else read_delta(repr(delta) if isinstance(delta, float) else delta)
    return Limits(counts, people, _tightest(limits), share), tuple(names)


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


def _read(counted: Counted, budget: Any, argument: str) -> list[_Rule]:
    """Read a budget, or a list of budgets that must all be kept."""
    rules: list[_Rule] = []
    for one in _several(budget):
        if isinstance(one, Mapping):
            rules += _read_columns(counted, one, argument)
        else:
            rules.append((counted.secret_columns, None, *_amount(one, argument)))
    if not rules:
        raise InvalidInput(
            f'{argument} must say something, got nothing in it; write "3x" or {{"disease": "3x"}}.'
        )
    return rules


def _read_columns(counted: Counted, budget: Mapping[Any, Any], argument: str) -> Iterator[_Rule]:
    """Read the budgets of secret columns, and of values of them."""
    for column, own in budget.items():
        require_known(column, counted.secret_columns, f"secret column of {argument}")
        known = counted.secret_values[counted.secret_columns.index(column)]
        for one in _several(own):
            if not isinstance(one, Mapping):
                yield (column,), None, *_amount(one, f"{argument} of {column}")
                continue
            for value, levels in one.items():
                if value not in known:
                    raise InvalidInput(
                        f"{argument} of {quoted(column)} must name values that occur, got {quoted(value)}; check it."
                    )
                for level in _several(levels):
                    yield (column,), (value,), *_amount(level, f"{argument} of {column}")


def given_levels(budget: Any, secret_columns: Subject) -> Iterator[tuple[Subject, bool, Any]]:
    """List the levels of a budget that was read: about which secret columns, whether of one value, and as given."""
    for one in _several(budget):
        if not isinstance(one, Mapping):
            yield secret_columns, False, one
            continue
        for column, own in one.items():
            for level in _several(own):
                named = level.values() if isinstance(level, Mapping) else [[level]]
                for levels in named:
                    for each in _several(levels):
                        yield (column,), isinstance(level, Mapping), each


def asked_levels(
    budget: Any, pmc: Any, secret_columns: Subject
) -> Iterator[tuple[Subject, bool, Kind, float | Fraction]]:
    """List the limits of budgets that were read: about which secret columns, whether of one value, kind and level."""
    for argument, given in (("budget", budget), ("pmc", pmc)):
        for subject, of_value, level in () if given is None else given_levels(given, secret_columns):
            yield subject, of_value, *_amount(level, argument)


def _several(budget: Any) -> Sequence[Any]:
    return budget if isinstance(budget, (list, tuple)) else [budget]


def _amount(level: Any, argument: str) -> tuple[Kind, float | Fraction]:
    if isinstance(level, str) and level.strip().endswith("%"):
        if argument.startswith("pmc"):
            raise InvalidInput(f'{argument} must be a level like "3x", got {quoted(level)}.')
        share = Fraction(number(level.strip()[:-1], argument)) / 100
        if not 0 < share <= 1:
            raise InvalidInput(
                f"{argument} must be a cap of more than 0 % and at most 100 %, got {quoted(level)}."
            )
        return "cap", share
    return ("pmc" if argument.startswith("pmc") else "pml"), exact_level(level, argument, rounding="down")
