"""Say a budget before anything is counted, and how far a search is: what the page shows beside its controls."""

from __future__ import annotations

from fractions import Fraction

from tightlip.errors import InvalidInput
from tightlip.numeric.ball import exp_bounds
from tightlip.numeric.budget import Allowed
from tightlip.numeric.quantity import Probability
from tightlip.report.amounts import percent

_PRIORS = (Fraction(1, 100), Fraction(1, 20), Fraction(1, 5))  # rare, uncommon and common secrets
_MOST = 50.0  # nats, at which everything is certain
FACTORS = ("5/4", "3/2", "7/4", "2", "5/2", "3", "4", "5", "6", "8", "10", "15", "20", "50", "100")
BUDGETS = tuple(f"{float(Fraction(one)):g}x" for one in FACTORS)


def budget_sentence(budget: str) -> str:
    """Say what a budget allows, for secrets that are rare and common.

    >>> budget_sentence("3x")
    'A secret of 5 % may become 15 % likely; one of 1 % may become 3 %, and one of 20 % may become 60 %.'
    >>> budget_sentence("30%")
    "Nobody's secret may become more than 30 % likely."
    """
    allowed = Allowed.read(budget, "budget", bare=False)
    if allowed.kind == "cap":
        return (
            f"Nobody's secret may become more than {percent(Probability.of(Fraction(allowed.level)))} likely."
        )
    level = allowed.nats()
    times = level.ratio or Fraction(exp_bounds(min(float(level), _MOST))[1])
    rare, middle, common = (percent(Probability.of(min(Fraction(1), times * one))) for one in _PRIORS)
    others = f"one of 1 % may become {rare}, and one of 20 % may become {common}"
    return f"A secret of 5 % may become {middle} likely; {others}."


def budget_example(budget: str) -> str:
    """Say a budget by one example, or nothing where it is none.

    >>> budget_example("2x"), budget_example("x")
    ('a secret of 5 % may become 10 % likely', '')
    """
    try:
        said = budget_sentence(budget)
    except InvalidInput:
        return ""
    return said[0].lower() + said[1:].partition(";")[0].rstrip(".")


def progress_words(stage: str, kept: float, bound: float) -> str:
    """Say how far a search is.

    >>> progress_words("search", 0.5, 0.75)
    'search: keeps 50.00 %, at most 75.00 % possible'
    """
    return f"{stage}: keeps {100 * kept:.2f} %, at most {100 * bound:.2f} % possible"
