"""What a release makes of people: the detail of each column, factors before and after, what rows become.

The content of column c that is kept is Σ_x P(x) Σ_y K(y | x) log 1/P(y_c) over H(X_c), with P(y_c) the share of all
people whose value of the column is in what is published for it: 1 where the column is published as it is, 0 where it is
left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.leakage import CellLeakage, cell_pml, finding, tail_levels
from tightlip.auditing.plan import applying, worst_leakage_of
from tightlip.auditing.result import Finding
from tightlip.auditing.tally import Places, divide, sum_by
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats, Probability
from tightlip.protection.detail import Detail
from tightlip.protection.values import Codes, Values
from tightlip.table.local import Cell

if TYPE_CHECKING:
    from tightlip.protection.budget import Subject
    from tightlip.protection.result import Protection

_MOST_PAIRS = 1_000_000  # of cell and combination of levels; whole columns are then recoded within seconds


@dataclass(frozen=True, slots=True)
class ColumnDetail:
    """What is kept of one released column.

    Attributes
    ----------
    column : its name
    kept : the share of its own content that is published, to nearest
    levels : each of its levels in words, finest first, with the share of people for whom it is published so
    """

    column: str
    kept: float
    levels: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class FactorShare:
    """P{leakage > level} before and after, exactly: of the columns at their finest level, and of what is published."""

    level: Nats
    before: Probability
    after: Probability


@dataclass(frozen=True, slots=True)
class Worst:
    """The released value that leaks most, and how many people share it (expected, where it is drawn by chance)."""

    found: Finding
    people: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """One combination of levels that is published, and the largest group that is.

    Attributes
    ----------
    levels : the level of each column, in words
    people : how many people are published so (expected, where it is drawn by chance)
    before, after : the released values of a row, and what is published for it
    holders : how many people have the values before, and how many share those after
    """

    levels: tuple[str, ...]
    people: float
    before: Cell
    after: Cell
    holders: tuple[float, float]


@dataclass(frozen=True, slots=True)
class WholeColumns:
    """One recoding of whole columns, the same for everybody: its worst leakage, and the detail that it keeps."""

    levels: tuple[str, ...]
    leakage: Nats
    kept: float


def column_details(found: Protection) -> tuple[ColumnDetail, ...]:
    """Compute what is kept of each released column that is not fixed, in the plan's order."""
    table, kernel, share = found.certificate.table, found.kernel, _shares(found)
    level = _levels(found)
    people = table.limits.amounts
    details = []
    for place, column in enumerate(found.levels):
        if column.fixed:
            continue
        code = table.codes[:, place]
        content = np.array([_content(codes, code, people) for codes in table.levels[place]])
        whole = float((people / people.sum()) @ content[0][code])
        published = float(share @ content[level[:, place], code[kernel.cell]])
        by_level = np.bincount(level[:, place], share, len(column.words))
        details.append(
            ColumnDetail(
                column.column,
                min(published / whole, 1.0) if whole > 0 else 1.0,
                tuple(zip(column.words, np.minimum(by_level, 1.0).tolist(), strict=True)),
            )
        )
    return tuple(details)


def _content(level: Codes, code: Codes, people: FloatArray) -> FloatArray:
    """−log of the share of people in the group of each value of a column."""
    having = np.bincount(code, people, len(level))
    groups = np.bincount(level, having)
    return np.asarray(np.log(people.sum() / groups[level]))


def _shares(found: Protection) -> FloatArray:
    """The share of people of each pair of the kernel."""
    kernel, people = found.kernel, found.certificate.table.limits.amounts
    return np.asarray(people[kernel.cell] / people.sum() * (kernel.weight / kernel.scale))


def _levels(found: Protection) -> NDArray[np.int64]:
    """The level of every column (columns) that each pair of the kernel (rows) publishes."""
    return np.array(found.values.nodes, dtype=np.int64)[found.values.node[found.kernel.value]]


def factor_shares(found: Protection, subject: Subject) -> tuple[FactorShare, ...]:
    """Compute by how much released values multiply the probability of a secret, before and after.

    Levels are fixed, whatever the data, up to the first that nothing exceeds before.
    """
    before, after = (_leakage(found, subject, published=published) for published in (False, True))
    shares = []
    for level in tail_levels():
        shares.append(FactorShare(level, before.tail(level), after.tail(level)))
        if not shares[-1].before and not shares[-1].after:
            break
    return tuple(shares)


def worst_values(found: Protection, subject: Subject) -> tuple[Worst, Worst]:
    """Find the values that leak most about some secret columns: before, and of what is published."""
    return tuple(  # type: ignore[return-value]
        _worst(
            _leakage(found, subject, published=published), found.published_scale if published else found.unit
        )
        for published in (False, True)
    )


def _worst(leak: CellLeakage, scale: int) -> Worst:
    cell = leak.worst_first(1)[0]
    return Worst(finding(leak, cell), float(leak.tally.of_cell[cell]) / scale)


def _leakage(found: Protection, subject: Subject, *, published: bool) -> CellLeakage:
    return cell_pml(applying(found.published if published else found.finest, subject, found.plan).tally)


def patterns(found: Protection, least: int) -> tuple[Pattern, ...]:
    """List the combinations of levels that are published, by the number of people, each with an example.

    The example is the largest group whose published value, and if possible whose values before, at least `least` people
    have.
    """
    kernel, people = found.kernel, found.certificate.table.limits.amounts
    held = people[kernel.cell] * (kernel.weight / kernel.scale)
    shared = np.bincount(kernel.value, held, len(found.values))[kernel.value]
    node = found.values.node[kernel.value]
    listed = []
    for place in np.unique(node).tolist():
        own = np.flatnonzero(node == place)
        best = max(
            own.tolist(),
            key=lambda pair: (shared[pair] >= least, people[kernel.cell[pair]] >= least, held[pair]),
        )
        cell = int(kernel.cell[best])
        listed.append(
            Pattern(
                tuple(
                    column.words[at]
                    for column, at in zip(found.levels, found.values.nodes[place], strict=True)
                ),
                float(held[own].sum()),
                found.finest.cell_label(cell) or (),
                found.published_label(int(kernel.value[best])),
                (float(people[cell]), float(shared[best])),
            )
        )
    return tuple(sorted(listed, key=lambda one: -one.people))


def everything_from(found: Protection) -> Nats | None:
    """The budget from which on the table can be released as it is; None where too few people share some cell of it."""
    enough = int(found.finest.tally.of_cell.min()) >= found.certificate.least
    return found.leakage_before if enough else None


def whole_columns(found: Protection) -> tuple[WholeColumns, ...]:
    """List the best recodings of whole columns over the same levels, by leakage about all secret columns together.

    Each keeps more detail than every one that leaks less, and no group is smaller than was asked for. Empty where there
    are too many to count, or none.
    """
    table = found.certificate.table
    if len(found.values.nodes) * len(table.codes) > _MOST_PAIRS:
        return ()
    counted = sorted(_recodings(found), key=lambda one: (float(one.leakage), -one.kept))
    best: list[WholeColumns] = []
    for one in counted:
        if not best or one.kept > best[-1].kept:
            best.append(one)
    return tuple(best)


def _recodings(found: Protection) -> Iterator[WholeColumns]:
    table = found.certificate.table
    people, whole = table.limits.people, table.detail(found.values).whole[1]
    amounts = divide(people, 1)
    for node in found.values.nodes:
        values = Values.of(table.codes, [[own[at]] for own, at in zip(table.levels, node, strict=True)])
        if sum_by(values.last, people, len(values))[values.last].min() < found.certificate.least:
            continue
        detail = Detail.of(values, table.codes, people, table.weights)
        kept = float(amounts @ detail.lower[values.last]) / whole if whole > 0 else 1.0
        yield WholeColumns(
            tuple(column.words[at] for column, at in zip(found.levels, node, strict=True)),
            _worst_leakage(found, values.last),
            min(kept, 1.0),
        )


def _worst_leakage(found: Protection, group: Places) -> Nats:
    """The worst leakage where cells that are of one group are released as one."""
    finest = found.finest
    first = np.unique(group, return_index=True)[1]
    released = replace(finest, codes=finest.codes[first], tally=finest.tally.with_cells(group))
    return worst_leakage_of(released, found.plan)
