"""How many private samples a study needs at least, and the table of a study protocol.

The table has, for each privacy level, the risk that remains and the samples that are needed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.numeric.parse import number
from tightlip.numeric.rounding import float_above
from tightlip.planning.privacy import LocalPrivacy, Privacy, as_privacy
from tightlip.planning.risk import PrivateStudy, RiskBound, read_samples
from tightlip.planning.study import Study
from tightlip.showing import Charted, Shown, Tabled

# times any positive float it is far beyond e^-800, so what is left here is left for ever
_FOREVER = 1 << 1100
_MOST = 1 << 1023  # the largest number that is returned, so that it is a float too
_POINTS = 50  # of a curve of risks; each takes as long as a row of the table
_LONGEST = 700.0  # e to this is still a float


def samples_needed(study: Study, privacy: Privacy | Channel, target_risk: Any) -> float:
    """Bound the sample size: the number below which no procedure has a risk of at most `target_risk`.

    It is necessary, not sufficient: with one sample fewer the lower bound is above the target, and fewer samples
    never help. Since the bound is rounded down, the number may be too small by rounding, never too large.

    Returns
    -------
    float
        A whole number, or infinite where the releases never tell the hypotheses apart (an int where finite). At
        most 2^1023, which is too small where more are needed.

    >>> from tightlip import Prior
    >>> from tightlip.planning import LocalPrivacy
    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    >>> samples_needed(study, LocalPrivacy(1.0), "1/20"), samples_needed(study, LocalPrivacy(0), "1/20")
    (114, inf)
    """
    return least_samples(PrivateStudy.of(study, privacy), read_target(target_risk))


def least_samples(study: PrivateStudy, target: Fraction) -> float:
    """Compute `samples_needed` for a study whose divergences are known already."""
    return _first(lambda samples: Fraction(study.risk(samples).value) <= target)


def read_target(target_risk: Any) -> Fraction:
    """Read a target risk: positive, in the unit of the loss."""
    target = Fraction(number(target_risk, "target_risk"))
    if target <= 0:
        raise InvalidInput(
            f"target_risk must be positive, got {quoted(target_risk)}; no study has a risk of 0."
        )
    if target > sys.float_info.max:
        raise InvalidInput(
            f"target_risk must be at most {sys.float_info.max:.3g}, got {quoted(target_risk)}; scale the loss."
        )
    return target


def effective_samples(privacy: Privacy | Channel, secrets: int, samples: int) -> float:
    """Compute n·η_KL, rounded up: n private samples bring no more KL between two hypotheses than this many open ones.

    An upper bound on what the samples are worth for telling hypotheses apart; no procedure is promised to
    get that much out of them.

    >>> from tightlip import log_of
    >>> from tightlip.planning import LocalPrivacy
    >>> effective_samples(LocalPrivacy(log_of(3)), 4, 1000)
    250.0
    """
    return float_above(Fraction(as_privacy(privacy).contraction(secrets)) * read_samples(samples))


def _first(enough: Callable[[int], bool]) -> float:
    """Find the smallest n with enough(n), by doubling and bisection; the one before is checked not to be enough."""
    if enough(0):
        return 0
    if not enough(_FOREVER):
        return math.inf
    if not enough(_MOST):
        return _MOST
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class PlanRow(Shown):
    """One privacy level of a plan.

    Attributes
    ----------
    privacy : the level
    contraction : η_KL, an upper bound on KL(PK‖QK)/KL(P‖Q)
    effective_samples : n·η_KL, rounded up
    risk : the lower bound on the risk at n samples, by every method
    samples_needed : the number of samples below which the target is out of reach; None without a target
    factor : that number divided by the one without privacy; None where one of them is missing, 0 or infinite
    """

    privacy: Privacy
    contraction: float
    effective_samples: float
    risk: RiskBound
    samples_needed: float | None
    factor: float | None


class PlanTable(tuple[PlanRow, ...], Charted, Tabled):
    """The rows of a plan, the last one without privacy, and what was asked.

    Attributes
    ----------
    study, samples, target_risk : as given; the target is None where none was
    """

    study: Study
    samples: int
    target_risk: Fraction | None

    def __new__(
        cls, rows: Iterable[PlanRow], study: Study, samples: int, target_risk: Fraction | None
    ) -> Self:
        """Keep what was asked beside the rows."""
        self = super().__new__(cls, rows)
        self.study, self.samples, self.target_risk = study, samples, target_risk
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.study, self.samples, self.target_risk

    def risk_curves(self) -> tuple[list[int], Mapping[str, list[float]]]:
        """Numbers of people up to ten times those planned, and the lower bound on the risk of each level there.

        The least risk falls with people, so each bound holds for fewer people too.
        """
        most = min(math.log(max(self.samples, 10) * 10), _LONGEST)
        counts = sorted({round(math.exp(most * place / _POINTS)) for place in range(_POINTS + 1)})
        plans = [PrivateStudy.of(self.study, row.privacy) for row in self]
        return counts, {plan.privacy.words: [plan.risk(count).value for count in counts] for plan in plans}


def plan_table(
    study: Study, levels: Iterable[Privacy | Channel], samples: int, *, target_risk: Any = None
) -> PlanTable:
    """Tabulate a study: a row for each privacy level, and a last one without privacy to compare with.

    `factor` compares two lower bounds of the same kind. It is the price of privacy as far as these bounds know
    it, not a bound on the ratio of the numbers that are truly needed.

    >>> from tightlip import Prior
    >>> study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    >>> for row in plan_table(study, [LocalPrivacy(1), LocalPrivacy(2)], 10, target_risk="1/20"):
    ...     print(row.privacy.words, round(row.risk.value, 3), row.samples_needed)
    LDP ε = 1 0.316 114
    LDP ε = 2 0.213 42
    no privacy 0.146 24
    """
    count = read_samples(samples)
    target = None if target_risk is None else read_target(target_risk)
    chosen = [
        *(
            as_privacy(level, f"levels entry {place}")
            for place, level in enumerate(listed(levels, "levels", "privacy levels"))
        ),
        LocalPrivacy(math.inf),
    ]
    plans = [PrivateStudy.of(study, level) for level in chosen]
    numbers = [None if target is None else least_samples(plan, target) for plan in plans]
    rows = [
        PlanRow(
            plan.privacy,
            plan.privacy.contraction(study.secrets),
            effective_samples(plan.privacy, study.secrets, count),
            plan.risk(count),
            number,
            _factor(number, numbers[-1]),
        )
        for plan, number in zip(plans, numbers, strict=True)
    ]
    return PlanTable(rows, study, count, target)


def _factor(private: float | None, plain: float | None) -> float | None:
    if not private or not plain or math.isinf(private) or math.isinf(plain):
        return None
    return float_above(Fraction(int(private), int(plain)))
