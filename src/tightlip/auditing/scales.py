"""List the scale of every released column, and whether it was declared or guessed (see `table.scale`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tightlip.auditing.counted import Counted
from tightlip.table.policy import Policy
from tightlip.table.scale import Scale, find_scale, name_of_scale


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
