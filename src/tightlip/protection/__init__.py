"""The best truthful release of a table under a budget: what may be published for each person, proved and written."""

from __future__ import annotations

from tightlip.protection.curve import Curve, CurvePoint, trade_off
from tightlip.protection.overview import ColumnDetail, WholeColumns
from tightlip.protection.result import Binding, Protection
from tightlip.protection.run import protect

__all__ = [
    "Binding",
    "ColumnDetail",
    "Curve",
    "CurvePoint",
    "Protection",
    "WholeColumns",
    "protect",
    "trade_off",
]
