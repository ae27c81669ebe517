"""What publishing part of a table gives away: the audit of a population or a sample."""

from __future__ import annotations

from tightlip.auditing.result import Audit
from tightlip.auditing.risk import AuditRisks, cell_risks
from tightlip.auditing.run import audit
from tightlip.auditing.sample import SampleMode

__all__ = [
    "Audit",
    "AuditRisks",
    "SampleMode",
    "audit",
    "cell_risks",
]
