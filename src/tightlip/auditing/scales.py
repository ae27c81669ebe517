"""Say what scales mean to an audit: those of released columns, declared or guessed, and the order of secrets.

`table.scale` says what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tightlip.auditing.counted import Counted
from tightlip.auditing.lattice import number_of
from tightlip.table.chain import steps_of
from tightlip.table.mapping import Mapping as Groups
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Secret
from tightlip.table.recoding import Keep, Prefix
from tightlip.table.scale import Order, Scale, find_scale, name_of_scale


def scales_of(policy: Policy, counted: Counted, kinds: Mapping[str, str]) -> dict[str, tuple[Scale, bool]]:
    """Find the scale of every released column, and whether it was declared.

    Parameters
    ----------
    counted : counts of the policy
    kinds : the kind of each column of the table
    """
    return {column: (scale, how == "declared") for column, scale, how in _found(policy, counted, kinds)}


def scale_words(policy: Policy, counted: Counted, kinds: Mapping[str, str]) -> str:
    """Say the scale of every released column, and what a guess was made from.

    For example "AGEP numeric (guessed), SEX nominal (guessed: 2 distinct whole numbers), EDU ordinal (declared)".
    """
    return ", ".join(f"{column} {scale} ({how})" for column, scale, how in _found(policy, counted, kinds))


def _found(policy: Policy, counted: Counted, kinds: Mapping[str, str]) -> Iterator[tuple[str, Scale, str]]:
    for item in policy.release:
        values = counted.values[counted.columns.index(item.column)]
        declared, kind = policy.scales.get(item.column), kinds.get(item.column, "text")
        scale, how = find_scale(declared, item.recoding, kind, values)
        yield item.column, name_of_scale(scale), how


def order_of(seen: Counted, policy: Policy, kinds: Mapping[str, str]) -> list[int] | None:
    """List the secrets from the lowest to the highest, by place; None where no order is declared.

    Groups, "(other)" and missing values have no place in an order, nor has a secret of several columns. A guess gives
    none: whether codes are near each other is for the owner to say.

    Parameters
    ----------
    seen : the release as one secret sees it
    kinds : the kind of each column of the table
    """
    if len(seen.secret_columns) > 1:
        return None
    secret = policy.secret_of(seen.secret_columns[0])
    values = [seen.secret_label(place)[0] for place in range(seen.tally.shape[0])]
    scale = policy.scales.get(secret.column, "nominal")
    if scale == "nominal" or secret.values or None in values:
        return None
    if isinstance(scale, tuple):
        return _as_listed(values, scale) if secret.recoding == Keep() else None
    return _by_size(values, secret, kinds.get(secret.column, "text"))


def _as_listed(values: Sequence[Value], order: Order) -> list[int] | None:
    rank = {value: place for place, value in enumerate(order)}
    known = {*values} <= {*order}
    return sorted(range(len(values)), key=lambda place: rank[values[place] or ""]) if known else None


def _by_size(values: Sequence[Value], secret: Secret, kind: str) -> list[int] | None:
    """Numbers by their lowest; dates and booleans as they are written."""
    if kind == "text" or any(isinstance(step, (Groups, Prefix)) for step in steps_of(secret.recoding)):
        return None
    numbers = kind in ("integer", "real")
    keys: list[Any] = [number_of(value or "", kind) if numbers else value for value in values]
    return sorted(range(len(values)), key=keys.__getitem__)
