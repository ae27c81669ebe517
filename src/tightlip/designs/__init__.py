"""The best mechanism under a guarantee, with a proof that it is the best."""

from __future__ import annotations

from tightlip.designs.certificate import DesignCertificate
from tightlip.designs.comparison import ComparedMechanism, DesignComparison, compare
from tightlip.designs.result import Binding, Design
from tightlip.designs.run import design
from tightlip.designs.tradeoff import DesignCurve, DesignPoint, SmallestBudget, curve, smallest_budget

__all__ = [
    "Binding",
    "ComparedMechanism",
    "Design",
    "DesignCertificate",
    "DesignComparison",
    "DesignCurve",
    "DesignPoint",
    "SmallestBudget",
    "compare",
    "curve",
    "design",
    "smallest_budget",
]
