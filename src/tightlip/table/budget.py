"""Read the budget of a planned release: what it may say, about which secret column, and of which of its values.

A budget is one level ("3x", "50%", see `numeric.budget`), which every secret column must keep; a mapping of secret
columns to levels, or to a mapping of their values to levels; or a list of these, all of which must be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tightlip.arguments import is_list, listed
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.budget import Allowed


@dataclass(frozen=True, slots=True)
class Rule:
    """What is allowed about one secret column (None: about each of them), or about one of its values."""

    column: str | None
    value: str | None
    allowed: Allowed


def read_rules(budget: Any, argument: str = "budget", *, bare: bool = True) -> tuple[Rule, ...]:
    """Read a budget; None is none.

    Parameters
    ----------
    bare : whether a number without unit is in nats, or refused

    >>> [(rule.column, rule.value, rule.allowed.given) for rule in read_rules(["3x", {"ill": {"flu": "50%"}}])]
    [(None, None, '3x'), ('ill', 'flu', '50%')]
    """
    if budget is None:
        return ()
    rules = tuple(dict.fromkeys(_rules(budget, argument, bare)))
    if not rules and not isinstance(budget, tuple):  # a policy without a budget has an empty tuple
        raise InvalidInput(
            f'{argument} must say something, got nothing in it; write "3x" or {{"disease": "3x"}}.'
        )
    return rules


def _rules(budget: Any, argument: str, bare: bool) -> Iterator[Rule]:
    for one in _several(budget, argument):
        if isinstance(one, Rule):
            yield one
        elif not isinstance(one, Mapping):
            yield Rule(None, None, Allowed.read(one, argument, bare=bare))
        else:
            for column, own in one.items():
                yield from _column_rules(_name(column, argument), own, f"{argument} of {column}", bare)


def _column_rules(column: str, own: Any, argument: str, bare: bool) -> Iterator[Rule]:
    for one in _several(own, argument):
        if not isinstance(one, Mapping):
            yield Rule(column, None, Allowed.read(one, argument, bare=bare))
            continue
        for value, levels in one.items():
            for level in _several(levels, argument):
                yield Rule(column, _name(value, argument), Allowed.read(level, argument, bare=bare))


def _several(budget: Any, argument: str) -> Sequence[Any]:
    return listed(budget, argument, "levels") if is_list(budget) else [budget]


def _name(name: Any, argument: str) -> str:
    if not isinstance(name, str):
        raise WrongType(
            f"{argument} must name columns and values by text, got {quoted(name)}; put it in quotes."
        )
    return name


def replace_rules(old: Iterable[Rule], new: Sequence[Rule]) -> tuple[Rule, ...]:
    """Put new rules in the place of those about the same column and value, and beside all others."""
    said = {(rule.column, rule.value) for rule in new}
    return (*(rule for rule in old if (rule.column, rule.value) not in said), *new)


def as_given(rules: Iterable[Rule]) -> list[Any]:
    """Write rules as the list that `read_rules` reads back as the same ones.

    >>> as_given(read_rules({"ill": ["3x", {"flu": "50%"}]}))
    [{'ill': '3x'}, {'ill': {'flu': '50%'}}]
    """
    found: list[Any] = []
    for rule in rules:
        given = rule.allowed.given
        own = given if rule.value is None else {rule.value: given}
        found.append(own if rule.column is None else {rule.column: own})
    return found
