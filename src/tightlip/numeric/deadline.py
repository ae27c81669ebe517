"""How long a search may take, by the clock."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment, on the clock of this process; without one there is no end."""

    moment: float = math.inf

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    def left(self) -> float:
        """The seconds that are left; negative when it is over."""
        return self.moment - time.monotonic()

    def before(self, seconds: float) -> Deadline:
        """The moment so many seconds earlier."""
        return Deadline(self.moment - seconds)


NEVER = Deadline()
