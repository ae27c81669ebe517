"""Where V can jump: only where a secret's largest lift is passed, since the secret then takes part no more."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

_CLEAR = 1e-7  # so far above a jump a solver is not misled by it


@dataclass(frozen=True, slots=True)
class Jumps:
    """The possible jumps of V in rising order, and the relative step that counts as beside one."""

    places: list[float]
    step: float

    def between(self, low: float, high: float) -> list[float]:
        """Those from `low` on and below `high`."""
        return self.places[bisect_left(self.places, low) : bisect_left(self.places, high)]

    def before(self, jump: float) -> float:
        """Just below a jump."""
        return jump * (1 - self.step / 2)

    def after(self, jump: float) -> float:
        """Just above a jump; a solver sees no closer."""
        return jump * (1 + 1.5 * self.step)

    def clear_of(self, jump: float) -> float:
        """So far above a jump that a solver surely sees it."""
        return jump * (1 + max(_CLEAR, 1.5 * self.step))

    def just_below(self, ratio: float) -> float | None:
        """The jump that a ratio is just above."""
        found = self.between(ratio * (1 - 2 * self.step), ratio)
        return found[-1] if found else None

    def smooth_around(self, ratio: float) -> tuple[float, float]:
        """The nearest ratios, below and above, beside a jump."""
        above = bisect_left(self.places, ratio)
        lowest = self.after(self.places[above - 1]) if above else 1.0
        highest = self.before(self.places[above]) if above < len(self.places) else math.inf
        return min(lowest, ratio), max(highest, ratio)
