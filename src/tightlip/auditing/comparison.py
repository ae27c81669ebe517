"""Compare plans for one table: what each gives away about every secret, and how much detail it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tightlip.arguments import listed
from tightlip.auditing.remedy import detail_of
from tightlip.auditing.result import Audit, SecretView
from tightlip.auditing.run import audit
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.showing import Shown, Tabled
from tightlip.table.policy import Policy


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Shown, Tabled):
    """Audits of several plans for one table, side by side.

    Attributes
    ----------
    audits : by the name of the plan, in the order given
    """

    audits: Mapping[str, Audit]

    @property
    def detail(self) -> dict[str, float]:
        """The entropy of what each plan releases of a row, over that of the plan that releases most."""
        found = {name: detail_of(each.deciding.counted) for name, each in self.audits.items()}
        most = max(found.values())
        return {name: own / most if most else 1.0 for name, own in found.items()}

    def views(self) -> Iterable[tuple[str, Audit, SecretView]]:
        """Every view of every plan."""
        return ((name, each, view) for name, each in self.audits.items() for view in each.views.values())

    def columns(self) -> dict[str, list[Any]]:
        """Columns of a table with a row for each plan and secret; shares are of the people it applies to."""
        rows = list(self.views())
        detail = self.detail
        classical = [None if view.risk is None else view.risk.classical.identity for *_, view in rows]
        return {
            "plan": [name for name, *_ in rows],
            "secret": [view.name for *_, view in rows],
            "people": [view.people for *_, view in rows],
            "share_over_budget": [
                None if view.share_above_budget is None else float(view.share_above_budget)
                for *_, view in rows
            ],
            "worst_leakage": [float(view.worst.leakage) for *_, view in rows],
            "unique": [None if who is None else who.unique for who in classical],
            "cells": [int(view.counted.tally.cells.sum()) for *_, view in rows],
            "detail": [detail[name] for name, *_ in rows],
            "verdict": [view.verdict for *_, view in rows],
        }

    def __repr__(self) -> str:
        """Show the table of plans, with codes and ranges as in a report."""
        from tightlip.report.comparison import comparison_text

        return comparison_text(self)


def compare(
    plans: Iterable[Audit | Policy] | Mapping[str, Audit | Policy], *, table: Any = None
) -> Comparison:
    """Put plans for one table side by side.

    Parameters
    ----------
    plans : audits, or policies, which are audited now; a mapping gives them names
    table : what policies are about: anything `open_table` takes

    Raises
    ------
    InvalidInput
        When there are no plans, a policy comes without a table, or audits are of different numbers of rows.

    >>> import pyarrow
    >>> rows = pyarrow.table({"age": [31, 35, 47, 48], "ill": ["no", "yes", "no", "no"]})
    >>> as_is = audit(rows, "ill", ["age"], budget="3x")
    >>> binned = audit(rows, "ill", ["age"], budget="3x", bins={"age": 10})
    >>> compare([as_is, binned]).columns()["verdict"]
    [False, True]
    """
    if isinstance(plans, Mapping):
        named = dict(plans)
    else:
        named = {f"plan {place}": plan for place, plan in enumerate(listed(plans, "plans", "audits"), 1)}
    if not named:
        raise InvalidInput("plans must have at least one audit, got none; write compare([audit, other]).")
    audits = {str(name): _audited(plan, table) for name, plan in named.items()}
    sizes = {each.total for each in audits.values() if not each.policy.where}
    if len(sizes) > 1:
        raise InvalidInput(
            f"plans must be about one table, got audits of {' and '.join(map(str, sorted(sizes)))} rows; audit them "
            "again."
        )
    return Comparison(audits)


def _audited(plan: Any, table: Any) -> Audit:
    if isinstance(plan, Audit):
        return plan
    if not isinstance(plan, Policy):
        raise WrongType(f"plans must be audits or policies, got {quoted(plan)}; use tl.audit(table, …).")
    if table is None:
        raise InvalidInput("table must be given with policies, got none; write compare(plans, table=path).")
    return audit(table, policy=plan, skip=("remedies", "protect"))
