"""Coarser recodings of one released column, from the finest change to the roughest."""

from __future__ import annotations

import math

from tightlip.audit.counted import Counted
from tightlip.table.bins import Bins
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Released
from tightlip.table.recoding import Keep, Prefix, Recoding

_STEPS = 5
_LONGEST_PREFIX = 12
_FEW = 3


def coarser(item: Released, kind: str, counted: Counted) -> list[Recoding]:
    """What else could be released of a column, a few at most; none where no coarsening is known.

    Bins double, edges thin out, prefixes shorten. Values released as they are get bins (numbers), prefixes (text
    of one length, dates), or the rarest of them become one.
    """
    recoding = item.recoding
    if isinstance(recoding, Prefix):
        return _prefixes(recoding.length)
    if isinstance(recoding, Bins):
        return _wider(recoding)
    if not isinstance(recoding, Keep):
        return []
    labels = [value for value in counted.values[counted.columns.index(item.column)] if value is not None]
    if kind in ("integer", "real"):
        return _bins_for([float(label) for label in labels], whole=kind == "integer")
    if kind == "date":
        return [Prefix(7), Prefix(4)]
    lengths = {len(label) for label in labels}
    if len(lengths) == 1 and 2 < min(lengths) <= _LONGEST_PREFIX:
        return _prefixes(min(lengths))
    return _rare_together(item.column, counted) if len(labels) > _FEW else []


def _prefixes(length: int) -> list[Recoding]:
    return [Prefix(shorter) for shorter in range(length - 1, max(length - 1 - _STEPS, 0), -1)]


def _wider(bins: Bins) -> list[Recoding]:
    if bins.width is not None:
        return [Bins(width=bins.width * 2**step, origin=bins.origin) for step in range(1, _STEPS + 1)]
    found, edges = list[Recoding](), bins.edges or ()
    while len(edges) > 1:
        edges = edges[1::2]
        found.append(Bins(edges=edges))
    return found


def _bins_for(values: list[float], *, whole: bool) -> list[Recoding]:
    """Bins of 2, 5, 10, 20, … steps of ten that cut the range into 50 to 2 parts."""
    spread = max(values, default=0.0) - min(values, default=0.0)
    if not spread > 0:
        return []
    low = math.floor(math.log10(spread / 50))
    widths = [step * 10.0**power for power in range(low, low + 4) for step in (1, 2, 5)]
    fit = [width for width in widths if spread / 50 <= width <= spread and (not whole or width >= 2)]
    return [Bins(width=int(width) if width >= 1 else float(f"{width:.0e}")) for width in fit]


def _rare_together(column: str, counted: Counted) -> list[Recoding]:
    """Keep half, a quarter, … of the values, the most frequent ones; the others become one."""
    alone = counted.keeping([column])
    sizes = alone.tally
    named = [(int(sizes.of_cell[cell]), alone.cell_label(cell)) for cell in range(sizes.shape[1])]
    ranked = [
        label[0] for _, label in sorted(named, key=lambda one: -one[0]) if label and label[0] is not None
    ]
    other = "other"
    while other in ranked:
        other += "'"
    found, keep = list[Recoding](), len(ranked)
    while keep > 1 and len(found) < _STEPS:
        keep = math.ceil(keep / 2)
        found.append(Mapping({value: value for value in ranked[:keep]}, otherwise=other))
    return found
