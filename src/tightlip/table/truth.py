"""Whether a published value is true of a row: what the forms of labels say, without the recoding that made them."""

from __future__ import annotations

import re
from collections.abc import Collection

from tightlip.errors import InvalidInput
from tightlip.numeric.parse import number
from tightlip.table.mechanism import Value

_NUMBER = r"[-+]?[0-9][0-9.eE+-]*"
_INTERVAL = re.compile(rf"([\[(])({_NUMBER}), ({_NUMBER})\)")
_SIDE = re.compile(rf"([<≤≥>])({_NUMBER})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PART_OF_DATE = re.compile(r"[0-9]{4}(-Q[1-4]|-[0-9]{2})?")


def says_truth(
    label: Value, value: Value, known: Collection[Value], *, shortened: bool = False
) -> bool | None:
    """Whether a label is true of a value; None where it is the name of a group, which only the recoding explains.

    Parameters
    ----------
    known : the values of the column: one of them is never the name of a group
    shortened : whether the first characters of a value stand alone, without "…"

    >>> says_truth("[20, 30)", "25", ["25"]), says_truth("20", "25", ["20", "25"]), says_truth("young", "25", ["25"])
    (True, False, None)
    """
    if label == value or (label is not None and {*label} == {"*"} and label not in known):
        return True
    if label is None or value is None:
        return None if label is not None and label not in known else False
    if label in known:
        return False
    if shortened:
        return value.startswith(label)
    if label.endswith("…"):
        return value.startswith(label[:-1])
    if _DATE.fullmatch(value) and _PART_OF_DATE.fullmatch(label):
        return label in (value[:4], value[:7], f"{value[:4]}-Q{(int(value[5:7]) + 2) // 3}")
    return _of_number(label, value)


def _of_number(label: str, value: str) -> bool | None:
    """Whether an interval has a number; another number is never true of it."""
    try:
        own = number(value, "value")
    except InvalidInput:
        return None
    if found := _INTERVAL.fullmatch(label):
        low, high = number(found[2], "label"), number(found[3], "label")
        return bool((low <= own if found[1] == "[" else low < own) and own < high)
    if found := _SIDE.fullmatch(label):
        end = number(found[2], "label")
        return bool({"<": own < end, "≤": own <= end, "≥": own >= end, ">": own > end}[found[1]])
    return False if re.fullmatch(_NUMBER, label) else None
