"""What is out already: protecting a table given earlier releases of it.

Whoever reads the new release reads the earlier ones too, and may link their rows. With z what these published of a
person, and K(y | x) the new release, which does not know z where it was drawn, they see (y, z):

    P(s | y, z) = Σ_x n_s(x, z) K(y | x) / Σ_x n(x, z) K(y | x),

n_s(x, z) = Σ over people of cell x and secret s of the chance that z was published of them. So a limit b on a secret s
becomes one for each z, Σ_x (n_s(x, z) − b·n(x, z)) K(y | x) ≤ 0, with P(s) as before: linear in K, so that
programs and proofs are those of any table. In `Limits` each z is a subject, to which the people count who have it.

A limit that no cell exceeds for some z is left out: no sum of its cells does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.joint import Terms, count_jointly, joint_name, plain
from tightlip.auditing.tally import Places, group_rows
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_count
from tightlip.table.policy import Policy
from tightlip.table.source import Table

PAST = "(released earlier)"
_NEW = "new"
_MOST = 100_000_000  # entries of secrets by earlier values by cells: 8 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """What earlier releases published, beside the cells of a plan.

    Attributes
    ----------
    counted : counts by the plan's columns, before anything is drawn of them, and by what was published earlier
        (`PAST`), in people times `unit`
    unit : what a person counts for
    """

    counted: Counted
    unit: int

    @classmethod
    def of(cls, table: Table, plan: Policy, earlier: Mapping[str, Policy]) -> Past:
        """Count what earlier releases published together with the columns of a plan.

        Raises
        ------
        InvalidInput
            When there are too many cells, or the plan is of other people than the earlier releases.
        """
        if any(item.column == PAST for item in plan.release):
            raise InvalidInput(
                f"release must not have a column {quoted(PAST)} beside earlier releases; rename it."
            )
        terms, new = Terms.of(plan), _NEW
        while new in earlier:
            new += "er"
        known = {name: terms.judge(replace(one, budget=())) for name, one in earlier.items()}
        found = count_jointly(table, terms, {new: plain(plan), **known}).cells
        if found.counted is None:
            raise InvalidInput(
                "release must have fewer combinations with what was released earlier, got more than fit into memory; "
                "coarsen or drop columns."
            )
        own = [joint_name(new, item.column) for item in plan.release]
        counted = found.counted
        places = [counted.columns.index(name) for name in own]
        others = [at for at in range(len(counted.columns)) if at not in places]
        kind = group_rows(counted.codes[:, others])[1]
        many = int(kind.max()) + 1
        joined = replace(
            counted,
            columns=(*(item.column for item in plan.release), PAST),
            values=(*(counted.values[at] for at in places), tuple(map(str, range(many)))),
            codes=np.column_stack([counted.codes[:, places], kind]),
            holders=None,
        )
        return cls(joined, joined.tally.total // found.rows)

    def drawn(self, counted: Counted) -> Past:
        """The same with counts of drawn columns in place of those before."""
        return Past(counted, self.unit * (counted.tally.total // self.counted.tally.total))


def split_by_past(counted: Counted) -> tuple[Places, Places, int]:
    """Split cells of counts that end with `PAST`: the cell without it, what was published earlier, and of how many."""
    assert counted.columns[-1] == PAST
    _, cell = group_rows(counted.codes[:, :-1])
    return cell, counted.codes[:, -1].astype(np.intp), len(counted.values[-1])


def require_few(secrets: int, earlier: int, cells: int) -> None:
    """Refuse more limits than fit into memory.

    Raises
    ------
    InvalidInput
    """
    if secrets * earlier * cells > _MOST:
        raise InvalidInput(
            f"release must have fewer cells beside what was released earlier, got {format_count(cells)} beside "
            f"{format_count(earlier)} values of that; coarsen its levels or drop columns."
        )
