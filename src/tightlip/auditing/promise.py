"""Check on a table what was promised of a recoding when it was found, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted, counts_digest
from tightlip.auditing.leakage import cell_pmc, cell_pml
from tightlip.auditing.plan import about, apply_policy, left_out, name_of, sensitive
from tightlip.auditing.tally import Tally
from tightlip.errors import BudgetExceeded, InvalidInput, quoted
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import exact_level, level_words
from tightlip.table.policy import Policy
from tightlip.table.promise import PromisedLimit


def require_promise(counted: Counted, policy: Policy, table: str) -> None:
    """Refuse to release counts by a recoding that keeps on them less than was promised of it.

    Raises
    ------
    BudgetExceeded
        Naming what is not kept.
    """
    promise = None if policy.local is None else policy.local.promise
    if policy.local is None or promise is None:
        return
    if promise.counts not in (None, counts_digest(counted)):
        raise _broken("a budget for single values of the secret, on the table that was protected", table)
    published = apply_policy(counted, policy)
    # of a random release, which promises no smallest group, a value may be published for less than a person on average
    if promise.fewest > 1 and int(published.tally.of_cell.min()) < promise.fewest * policy.local.scale:
        raise _broken(f"that {promise.fewest} people share every published value", table)
    above = np.zeros(published.tally.shape[1], dtype=bool)
    for limit in promise.limits:
        above |= values_above(published, limit, policy)
    if published.tally.share_of(np.flatnonzero(above)) > Fraction(promise.exposed):
        levels = " and ".join(f"{_words(one)} about {name_of(one.about)}" for one in promise.limits)
        few = "" if promise.exposed == "0" else f", but for a share of {promise.exposed} of the people,"
        raise _broken(f"{levels}{few}", table)


def _broken(promised: str, table: str) -> BudgetExceeded:
    return BudgetExceeded(
        f"policy promises {promised}, which its release of {table} would not keep; protect the table again."
    )


def _words(limit: PromisedLimit) -> str:
    if limit.kind == "cap":
        return f"at most {limit.level}"
    words = level_words(_level(limit))
    return words if words.startswith("log") else f"{words} nats"


def _level(limit: PromisedLimit) -> float | Fraction:
    return exact_level(limit.level, "promised level", rounding="down")


def values_above(published: Counted, limit: PromisedLimit, policy: Policy) -> NDArray[np.bool_]:
    """Decide exactly which published values break a limit, among the people to whom it applies.

    A cap is about the named values of a secret, where some are named.
    """
    for column in limit.about:
        if column not in published.secret_columns:
            raise InvalidInput(
                f"policy must have the secret column {quoted(column)}, which its recoding was made for; add it."
            )
    seen = about(published, limit.about)
    gone = left_out(seen, policy)
    above = np.zeros(published.tally.shape[1], dtype=bool)
    if gone.all():
        return above
    tally, left = seen.tally.without_secrets(gone)
    above[left] = _cells_above(tally, limit, sensitive(seen, policy)[~gone])
    return above


def _cells_above(tally: Tally, limit: PromisedLimit, capped: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if limit.kind == "cap":
        share = Fraction(number(limit.level.strip().removesuffix("%"), "promised cap")) / 100
        above = np.zeros(tally.shape[1], dtype=bool)
        held = tally.count.astype(object) * share.denominator > (
            tally.of_cell[tally.cell].astype(object) * share.numerator
        )
        above[tally.cell[held & capped[tally.secret]]] = True
        return above
    leak = {"pml": cell_pml, "pmc": cell_pmc}.get(limit.kind)
    if leak is None:
        raise InvalidInput(f"the promise of a local recoding has an unknown limit, got {quoted(limit.kind)}.")
    return leak(tally).above(_level(limit))
