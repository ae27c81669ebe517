"""Show plans side by side: a line for each plan and secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from tightlip.report.amounts import Unit, about, printable
from tightlip.report.audit_words import ViewWords, allowed_words
from tightlip.report.disclosure import veil_audit

if TYPE_CHECKING:
    from rich.table import Table

    from tightlip.auditing.comparison import Comparison

NAMES = ("plan", "secret", "budget", "over the budget", "worst factor", "unique people", "detail", "verdict")
_WIDE = 160  # columns of the text of a comparison; longer cells are folded
_VERDICTS = {True: "within budget", False: "over budget", None: "no budget"}


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One plan and one secret."""

    plan: str
    secret: str
    budget: str
    over: str
    worst: str
    unique: str
    detail: str
    verdict: str
    met: bool | None

    def cells(self) -> tuple[str, ...]:
        """Return what stands in a table under `NAMES`."""
        return (
            self.plan,
            self.secret,
            self.budget,
            self.over,
            self.worst,
            self.unique,
            self.detail,
            self.verdict,
        )


def plan_lines(found: Comparison, *, show_values: bool = False, unit: Unit = "nats") -> Iterator[PlanLine]:
    """Say every plan and secret in a line; codes and ranges as in a report."""
    detail = found.detail
    for name, audit in found.audits.items():
        told = audit if show_values else veil_audit(audit)
        for view in told.views.values():
            words = ViewWords(told, view, show_values, unit)
            over = words.over()
            identity = None if view.risk is None else view.risk.classical.identity
            yield PlanLine(
                plan=name,
                secret=view.name,
                budget="none" if view.budget is None else allowed_words(view.budget),
                over="" if over is None else over.words,
                worst=words.amount(view.worst.leakage),
                unique="" if identity is None else words.everybody(identity.unique).words,
                detail=about(detail[name]),
                verdict=_VERDICTS[view.verdict],
                met=view.verdict,
            )


def comparison_table(lines: tuple[PlanLine, ...]) -> Table:
    """Lay plans out side by side; detail is that of the plan that releases most."""
    from tightlip.report.tables import plain_table

    title = "Plans side by side (detail: what is released of a row, of the most detailed plan)"
    return plain_table(title, NAMES, [printable(line.cells()) for line in lines])


def comparison_text(found: Comparison) -> str:
    """Write plans side by side in lines of text, a plan and a secret in each."""
    from rich.console import Console

    console = Console(file=StringIO(), width=_WIDE, color_system=None, force_jupyter=False)
    with console.capture() as captured:
        console.print(comparison_table(tuple(plan_lines(found))))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
