"""What is published for each cell, in whole numbers, repaired until it keeps every limit exactly.

A kernel gives each cell whole weights on values that contain it; they add up to `scale`, and K(y | x) = weight/scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import Places
from tightlip.numeric.parse import FloatArray
from tightlip.protection.limits import Limits, risky_cells
from tightlip.protection.values import Values

SCALE = 2**30  # of randomised kernels: fine enough that rounding costs less detail than any gap asked for
_NOTHING = 1e-6  # a share that an interior point gives to what it does not use
_SIMPLE = 1_000  # the largest denominator of a share that is taken for a simple fraction
_MOST_REPAIRS = 20
_MOST_MIXES = 25


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """Pairs of value and cell with whole weights, sorted by cell and then value; those of a cell sum to `scale`."""

    value: Places
    cell: Places
    weight: NDArray[np.int64]
    scale: int

    @classmethod
    def of(cls, value: Places, cell: Places, weight: NDArray[np.int64], scale: int) -> Kernel:
        """Add up equal pairs, and leave out those without weight."""
        width = int(value.max()) + 1 if len(value) else 1
        keys, place = np.unique(cell * width + value, return_inverse=True)
        added = np.zeros(len(keys), dtype=np.int64)
        np.add.at(added, place, weight)
        kept = added > 0
        return cls((keys % width)[kept], (keys // width)[kept], added[kept], scale)

    @classmethod
    def assign(cls, chosen: Places) -> Kernel:
        """The deterministic kernel: cell x is published as value chosen[x]."""
        return cls(chosen, np.arange(len(chosen)), np.ones(len(chosen), dtype=np.int64), 1)

    @property
    def deterministic(self) -> bool:
        """Whether each cell is wholly published as one value."""
        return len(self.cell) == len(np.unique(self.cell))

    def detail(self, limits: Limits, detail: FloatArray) -> float:
        """The detail kept, in floats."""
        return (
            float((limits.amounts[self.cell] * detail[self.value]) @ (self.weight / self.scale)) / limits.size
        )

    def broken(self, limits: Limits, values: Values) -> NDArray[np.bool_]:
        """Which limits (rows) which values (columns) break, exactly; an exposed cell as it is breaks none."""
        found = limits.broken(self.value, self.cell, self.weight, len(values))
        if limits.exposed:
            alone = np.bincount(values.value, minlength=len(values)) == 1
            found[:, alone] = False
        return found


def round_kernel(
    values: Values, limits: Limits, value: Places, cell: Places, share: FloatArray, base: Kernel
) -> Kernel:
    """Round shares to whole weights, and repair what breaks a limit: risky cells there say nothing instead.

    If too many risky cells then say nothing, everybody says nothing with a small probability: publishing nothing mostly
    keeps every limit with room to spare. Where that does not help, `base` is the answer, which keeps them.
    """
    kept = np.flatnonzero(share > _NOTHING)
    value, cell, share = value[kept], cell[kept], share[kept]
    total = np.bincount(cell, share, len(limits.people))
    simple = _simple(value, cell, share / total[cell], len(limits.people))
    if simple is not None and exposed_share(simple, values, limits) <= limits.exposed:
        return simple
    weight = np.floor(SCALE * share / total[cell]).astype(np.int64)
    rest = SCALE - np.bincount(cell, weight, len(limits.people)).astype(np.int64)
    order = np.lexsort((share, cell))
    last = order[np.append(np.flatnonzero(np.diff(cell[order])), len(order) - 1)]
    weight[last] += rest[cell[last]]
    kernel = _expose_few(Kernel.of(value, cell, weight, SCALE), values, limits)
    for step in range(_MOST_MIXES):
        kernel = _repair(kernel, values, limits)
        if (
            not kernel.broken(limits, values).any()
            and exposed_share(kernel, values, limits) <= limits.exposed
        ):
            return kernel
        kernel = _mix(kernel, values, limits, SCALE >> (_MOST_MIXES - step))
    return base


def _simple(value: Places, cell: Places, share: FloatArray, cells: int) -> Kernel | None:
    """The kernel of the simple fractions that shares stand for, if they do: some keep a limit exactly."""
    parts, scale = {}, 1
    for one in np.unique(share).tolist():
        parts[one] = Fraction(one).limit_denominator(_SIMPLE)
        scale = math.lcm(scale, parts[one].denominator)
        if scale > SCALE:
            return None
    weight = np.array([int(parts[one] * scale) for one in share.tolist()], dtype=np.int64)
    found = Kernel.of(value, cell, weight, scale)
    sums = np.zeros(cells, dtype=np.int64)
    np.add.at(sums, found.cell, found.weight)
    return found if (sums == scale).all() else None


def _repair(kernel: Kernel, values: Values, limits: Limits) -> Kernel:
    """Withdraw cells from values that break a limit, until only the value that says nothing may break one."""
    for attempt in range(_MOST_REPAIRS):
        broken = kernel.broken(limits, values)
        broken[:, values.last] = False
        if not broken.any():
            break
        kernel = _withdraw(kernel, values, limits, broken, wholly=attempt > _MOST_REPAIRS // 2)
    return kernel


def _withdraw(
    kernel: Kernel, values: Values, limits: Limits, broken: NDArray[np.bool_], *, wholly: bool
) -> Kernel:
    """Take from values that break a limit as much of their risky cells as is needed, or all that is in them."""
    excess, weight = limits.excess(), kernel.weight.copy()
    starts = np.argsort(kernel.value, kind="stable")
    begin = np.searchsorted(kernel.value[starts], np.arange(len(values) + 1))
    for limit, place in zip(*np.nonzero(broken), strict=True):
        own = starts[begin[place] : begin[place + 1]]
        over = excess[limit, kernel.cell[own]]
        held = over * weight[own]
        risk, room = held[held > 0].sum(), -held[held < 0].sum()
        keep = 0.0 if wholly or risk <= 0 else min(room / risk, 1.0) * (1 - 1e-7)
        taken = own if wholly else own[over > 0]
        weight[taken] = np.floor(weight[taken] * keep).astype(np.int64)
    given = kernel.scale - np.bincount(kernel.cell, weight, len(limits.people)).astype(np.int64)
    back = np.flatnonzero(given)
    return Kernel.of(
        np.append(kernel.value, values.last[back]),
        np.append(kernel.cell, back),
        np.append(weight, given[back]),
        kernel.scale,
    )


def _expose_few(kernel: Kernel, values: Values, limits: Limits) -> Kernel:
    """Publish nothing for some of the exposed, where rounding exposed more people than are allowed."""
    if not limits.exposed:
        return kernel
    alone = np.bincount(values.value, minlength=len(values)) == 1
    out = np.flatnonzero(alone[kernel.value] & risky_cells(limits)[kernel.cell])
    allowed = limits.exposed * limits.total * kernel.scale
    shown = (
        int((limits.people[kernel.cell[out]].astype(object) * kernel.weight[out].astype(object)).sum())
        if len(out)
        else 0
    )
    if shown <= allowed:
        return kernel
    weight = kernel.weight.copy()
    weight[out] = [int(one * allowed / shown) for one in weight[out].tolist()]
    return Kernel.of(
        np.append(kernel.value, values.last[kernel.cell[out]]),
        np.append(kernel.cell, kernel.cell[out]),
        np.append(weight, kernel.weight[out] - weight[out]),
        kernel.scale,
    )


def _mix(kernel: Kernel, values: Values, limits: Limits, part: int) -> Kernel:
    """Publish nothing with probability part/(part + scale), else as before; weights keep their scale."""
    kept = [weight * kernel.scale // (kernel.scale + part) for weight in kernel.weight.tolist()]
    weight = np.array(kept, dtype=np.int64)
    rest = kernel.scale - np.bincount(kernel.cell, weight, len(limits.people)).astype(np.int64)
    return Kernel.of(
        np.append(kernel.value, values.last),
        np.append(kernel.cell, np.arange(len(rest))),
        np.append(weight, rest),
        kernel.scale,
    )


def exposed_share(kernel: Kernel, values: Values, limits: Limits) -> Fraction:
    """The share of people whose published value breaks a limit, exactly."""
    broken = np.asarray(limits.broken(kernel.value, kernel.cell, kernel.weight, len(values)).any(axis=0))
    out = np.flatnonzero(broken[kernel.value])
    people: Any = limits.people[kernel.cell[out]].astype(object) * kernel.weight[out].astype(object)
    return Fraction(int(people.sum()) if len(out) else 0, limits.total * kernel.scale)
