"""How much a search may do, counted in entries it reads, so that two runs of one problem stop at the same place."""

from __future__ import annotations

import math
import time

from tightlip.errors import InvalidInput
from tightlip.numeric.parse import float_number

WORK = 4_000.0  # millions of entries, half a minute; more of them may bring ends together that are apart
CALL = 5_000  # entries that could be read in the time that a pass over a few of them takes anyway
_MILLION = 1_000_000


class Work:
    """What has been done of what is allowed: millions of entries and, if wanted, seconds; by these two runs may differ.

    Attributes
    ----------
    stopped : what was used up when somebody asked, in words; empty while both are left
    """

    def __init__(self, millions: object = WORK, time_limit: object = None) -> None:
        self._millions = _amount(millions, "work", "millions of entries")
        self._seconds = math.inf if time_limit is None else _amount(time_limit, "time_limit", "seconds")
        self._started = time.monotonic() if time_limit is not None else 0.0
        self._done = 0.0
        self.stopped = ""

    def add(self, entries: float) -> None:
        """Count entries that are read."""
        self._done += entries / _MILLION

    def left(self, share: float = 1.0) -> bool:
        """Whether less than a share of the work, and of the time, is used up."""
        if self._done >= share * self._millions:
            used = f"after {self._millions:g} million entries"
        elif self._seconds < math.inf and time.monotonic() - self._started >= share * self._seconds:
            used = f"after {self._seconds:g} seconds"
        else:
            return True
        if share == 1:
            self.stopped = used
        return False


def _amount(given: object, name: str, of: str) -> float:
    found = float_number(given, name)
    if found < 0:
        raise InvalidInput(f"{name} must be a non-negative number of {of}, got {found!r}.")
    return found
