"""What a protection promises, so that whoever uses its recoding again can check it; no value of the table."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tightlip.auditing.counted import counts_digest
from tightlip.numeric.parse import exact_text
from tightlip.numeric.quantity import exact_ratio
from tightlip.protection.facts import level_text
from tightlip.protection.limits import Limit
from tightlip.table.promise import Promise, PromisedLimit

if TYPE_CHECKING:
    from tightlip.protection.result import Protection


def promise_of(found: Protection) -> Promise:
    """List the limits that hold for every value of the secret columns that they are about.

    Where others are on single values, the promise is for these counts alone.
    """
    limits = found.certificate.table.limits
    rules = {(found.secrets[limit.secret][0], limit.kind, _level(limit)): limit for limit in limits.limits}
    whole = {rule: limit for rule, limit in rules.items() if _holds_for_all(found, limit)}
    return Promise(
        tuple(PromisedLimit(*rule) for rule in whole),
        str(limits.exposed),
        found.certificate.least,
        None if len(whole) == len(rules) else counts_digest(found.counted),
    )


def _holds_for_all(found: Protection, limit: Limit) -> bool:
    """Whether a limit, set on every value of its secret columns, asks for no more than is kept."""
    limits, subject = found.certificate.table.limits, found.secrets[limit.secret][0]
    known = {one.secret: one for one in limits.limits if one.floor == limit.floor}
    for secret, (own, _) in enumerate(found.secrets):
        if own == subject:
            prior = Fraction(int(limits.counts[secret].sum()), limits.total)
            same = Limit.of(secret, limit.kind, limit.level, prior)
            kept = known.get(secret)
            if not same.void and (kept is None or not _as_tight(kept, same)):
                return False
    return True


def _level(limit: Limit) -> str:
    """Write a level so that it is read back exactly."""
    if limit.kind == "cap" or exact_ratio(limit.level) is not None:
        return level_text(limit)
    return f"{exact_text(Fraction(limit.level))} nats"


def _as_tight(one: Limit, two: Limit) -> bool:
    return one.inside >= two.inside if one.floor else one.inside <= two.inside
