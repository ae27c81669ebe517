"""What publishing part of a table gives away: the audit of a population or a sample, and the receipt of a release."""

from __future__ import annotations

from tightlip.auditing.classical import Classical, IdentityRisks, PopulationSizes, classical_measures
from tightlip.auditing.comparison import Comparison, compare
from tightlip.auditing.receipt import Receipt
from tightlip.auditing.releasing import Release
from tightlip.auditing.result import Audit
from tightlip.auditing.risk import AuditRisks, cell_risks
from tightlip.auditing.run import audit
from tightlip.auditing.sample import SampleMode

__all__ = [
    "Audit",
    "AuditRisks",
    "Classical",
    "Comparison",
    "IdentityRisks",
    "PopulationSizes",
    "Receipt",
    "Release",
    "SampleMode",
    "audit",
    "cell_risks",
    "classical_measures",
    "compare",
]
