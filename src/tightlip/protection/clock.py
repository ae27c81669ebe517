"""How long a search may take: an answer that was stopped says so, and how far it may be from the best."""

from __future__ import annotations

from tightlip.numeric.deadline import Deadline

__all__ = ["Deadline", "Effort"]

_COLUMNS_A_SECOND = 70_000  # that a solver goes through between two looks, about


class Effort:
    """What a search may do, counted in looks of a solver at its limits, so that two machines stop at the same place.

    It is told in seconds of an idle core: a look takes the longer, the larger the program. Only a machine that is much
    slower ends a search by the clock, at `until`.
    """

    def __init__(self, seconds: float, until: Deadline) -> None:
        self._seconds, self.until = seconds, until

    def left(self) -> float:
        """The seconds of an idle core that are left."""
        return self._seconds if self.until.left() > 0 else 0.0

    def looks(self, columns: int, seconds: float) -> float:
        """How many looks at a program of so many columns take so many seconds, of those that are left."""
        return max(1.0, min(seconds, self.left()) * _COLUMNS_A_SECOND / max(columns, 1))

    def spend(self, looks: float, columns: int) -> None:
        """Count what was done."""
        self._seconds -= max(looks, 1) * max(columns, 1) / _COLUMNS_A_SECOND
