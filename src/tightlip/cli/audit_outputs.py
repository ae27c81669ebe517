"""The files that `tightlip audit` writes: checked before any work, then all or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tightlip.errors import InvalidInput

if TYPE_CHECKING:
    from tightlip.auditing.result import Audit
    from tightlip.report.audit_record import AuditReport
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the page, the risks and a policy go, if anywhere; `id_column` is kept beside each risk."""

    html: Path | None
    risks: Path | None
    policy: Path | None
    id_column: str | None
    force: bool

    def check(self, inputs: Mapping[str, list[str]], *, population: bool, budget: str | None) -> None:
        """Refuse what cannot be written, and a name that is taken, used twice, that of an input or in no folder."""
        self._check_risks(population)
        if self.policy is not None and budget is None:
            raise InvalidInput(
                "--write-policy must be given with --budget; it writes a policy that meets it."
            )
        paths = [path for path in (self.html, self.risks, self.policy) if path is not None]
        for place, path in enumerate(paths):
            if path.resolve() in [other.resolve() for other in paths[:place]]:
                raise InvalidInput(f"{path} is asked for twice; give each output a name of its own.")
            self._check_path(path, inputs)
        if self.html is not None and self.html.suffix.lower() not in (".html", ".htm"):
            raise InvalidInput(f"--html must end in .html, got {self.html.name}; browsers know a page by it.")

    def write(self, report: AuditReport, table: Table, plan: Policy, audit: Audit) -> dict[str, str | None]:
        """The page, a policy and the risks: the first two take their names when the risks are written.

        What shows values or rows is for the owner alone. Returns what is where; None for a policy that was not found.
        """
        from tightlip.files import whole_file
        from tightlip.report.audit_html import audit_html
        from tightlip.table.policy_text import policy_toml

        with ExitStack() as stack:
            if self.html is not None:
                page = audit_html(report)
                private = report.values_shown
                file = stack.enter_context(whole_file(self.html, force=self.force, private=private))
                file.write_text(page, encoding="utf-8")
            kept = [plan] if audit.verdict else [remedy.policy for remedy in audit.remedies]
            if self.policy is not None and kept:  # no file where nothing meets the budget
                text = policy_toml(kept[0], self.policy.parent)
                file = stack.enter_context(whole_file(self.policy, force=self.force))
                file.write_text(text, encoding="utf-8")
            if self.risks is not None:
                audit.risks().write(table, self.risks, id_column=self.id_column, force=self.force)
        asked = {"html": self.html, "risks": self.risks, "policy": self.policy}
        return {
            name: str(path) if name != "policy" or kept else None
            for name, path in asked.items()
            if path is not None
        }

    def _check_risks(self, population: bool) -> None:
        if self.risks is None:
            if self.id_column is not None:
                raise InvalidInput(
                    "--id must be given with --risks; it names the column to keep beside each risk."
                )
            return
        if not population:
            raise InvalidInput(
                "--risks must not be given with --sample; shares within a sample's cells bound nothing."
            )
        if self.risks.suffix.lower() not in (".csv", ".parquet"):
            raise InvalidInput(
                f"--risks must end in .csv or .parquet, got {self.risks.name}; choose one of these."
            )

    def _check_path(self, path: Path, inputs: Mapping[str, list[str]]) -> None:
        from tightlip.files import prepare_output

        for what, files in inputs.items():
            if any(os.path.exists(file) and path.exists() and path.samefile(file) for file in files):
                raise InvalidInput(f"{path} must not be {what} itself; choose another name.")
        prepare_output(path, force=self.force)


def files_read(table: str, policy: Path | None, plan: Policy) -> dict[str, list[str]]:
    """The files that an audit reads, by what they are."""
    hierarchies = [getattr(item.recoding, "hierarchy", None) for item in plan.release]
    return {
        "the table": [table],
        "the policy": [] if policy is None else [str(policy)],
        "a mapping": [str(hierarchy.path) for hierarchy in hierarchies if hierarchy is not None],
    }
