"""What protecting would keep, where an audit finds that the budget is not met: a quick deterministic release."""

from __future__ import annotations

import math
from typing import Literal

from tightlip.auditing.plan import mechanisms_of
from tightlip.auditing.result import Audit
from tightlip.errors import InvalidInput, SolverFailure
from tightlip.protection.levels import choose_levels
from tightlip.protection.result import Protection
from tightlip.protection.run import Request, protect_counts

MOST_PAIRS = 40_000  # of cell and combination of levels; the bound alone then takes a few seconds
_GAP = 1e-2  # of the bound: an advice is not the last word

Reason = Literal["sample", "noise", "local", "large", "failed"]


def advise(audit: Audit, *, seconds: float = 2.0, most_pairs: int = MOST_PAIRS) -> Protection | Reason | None:
    """Protect the table of an audit that does not meet its budget, quickly.

    Parameters
    ----------
    seconds : how long the release is searched for, about
    most_pairs : of cell and combination of levels; beyond, nothing is searched for

    Returns
    -------
    Protection, or why there is none; None where nothing has to change
    """
    if audit.verdict is not False:
        return None
    if audit.mode == "sample":
        return "sample"
    if mechanisms_of(audit.policy):
        return "noise"
    if audit.policy.local is not None:
        return "local"
    if audit.counted is None:
        return "large"
    try:
        levels = choose_levels(audit.policy, audit.counted, audit.kinds, None)
        if math.prod(len(column.words) for column in levels) * len(audit.counted.codes) > most_pairs:
            return "large"
        asked = Request(audit.policy.budget, least=audit.policy.min_count or 1, gap=_GAP, seconds=seconds)
        return protect_counts(audit.counted, audit.policy, levels, asked)
    except (InvalidInput, SolverFailure):
        # an audit does not fail because there is no advice
        return "failed"
