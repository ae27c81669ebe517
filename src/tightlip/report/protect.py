"""Show a protection in a few words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from tightlip.files import write_whole
from tightlip.numeric.display import format_down, format_up
from tightlip.report.amounts import Unit, leakage

if TYPE_CHECKING:
    from tightlip.protection.result import Protection


@dataclass(frozen=True, slots=True)
class ProtectReport:
    """What is kept, the bound and the worst leakage."""

    kept: float
    bound: float
    leakage: str
    kind: str
    finished: bool

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON takes it."""
        return asdict(self)


def protect_record(found: Protection, *, unit: Unit = "nats", **_: Any) -> ProtectReport:
    """Record a protection."""
    kind = "randomised" if found.randomised else "deterministic"
    return ProtectReport(found.kept, found.bound, leakage(found.leakage, unit), kind, found.finished)


def protect_text(report: ProtectReport) -> RenderableType:
    """Say the answer."""
    kept, bound = format_down(100 * report.kept, 4), format_up(100 * report.bound, 4)
    said = f"Keeps {kept} % of the detail; no truthful release keeps more than {bound} %."
    stopped = "" if report.finished else " The search was stopped; this is the best found so far."
    return Group(Text(said + stopped), Text(f"Worst leakage of a published value: {report.leakage}."))


def write_page(report: ProtectReport, path: Path, *, force: bool) -> None:
    """Write the words as a page."""
    write_whole(path, f"<!doctype html><title>Protected</title><pre>{report.to_dict()}</pre>\n", force=force)
