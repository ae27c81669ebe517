"""The five papers reproduced: one module for each figure and each group of examples; `python -m papers` runs all."""

from __future__ import annotations

from papers.reproduction import Compared, Panel, Reproduction

__all__ = ["Compared", "Panel", "Reproduction"]
