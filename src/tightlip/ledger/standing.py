"""What a ledger remembers of an account: levels as exact text, so that a page of it needs no table.

A level is written as "log(3/2)" where e^level is rational, as a rational number of nats otherwise, or as "inf".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.errors import LedgerInvalid
from tightlip.ledger.rules import Charge
from tightlip.ledger.together import SecretAccount, Together
from tightlip.numeric.quantity import Nats, Probability, Rounding
from tightlip.showing import Shown

_MOST_DIGITS = 200  # of a ratio; longer ones are remembered as the float that bounds them


@dataclass(frozen=True, slots=True)
class Standing(Shown):
    """What all releases up to some entry said together about one secret.

    Attributes
    ----------
    secret : the secret column, or "a × b"
    lower, upper : the worst leakage was proved to be between these
    envelope, pmc, ldp, maximal_leakage : what else was proved, from above; `envelope` at the ledger's δ
    over : the share of people above the budget; None where it was not known
    kept : whether the budget was proved to be kept; None without one
    level : the budget as a level, if it has one
    rule, reason, holds, uses, uncovered : which rule decided the worst leakage; see `rules.Charge`
    """

    secret: str
    lower: Nats
    upper: Nats
    envelope: Nats
    pmc: Nats
    ldp: Nats
    maximal_leakage: Nats
    over: Probability | None
    kept: bool | None
    level: Nats | None
    rule: str
    reason: str
    holds: str
    uses: tuple[str, ...]
    uncovered: tuple[str, ...]

    @classmethod
    def of(cls, account: SecretAccount) -> Standing:
        """Remember an account."""
        rules = account.rules
        assert rules.envelope is not None
        pml: Charge = rules.pml
        return cls(
            account.name,
            account.lower,
            account.upper,
            account.envelope[1],
            rules.pmc.value,
            rules.ldp.value,
            rules.maximal_leakage.value,
            account.over,
            account.kept,
            account.level,
            pml.rule,
            pml.reason,
            pml.holds,
            tuple(use.name for use in pml.uses),
            pml.uncovered,
        )

    def to_body(self) -> dict[str, Any]:
        """Write it as a body has it."""
        levels = {name: level_text(getattr(self, name)) for name in _UP}
        return {
            "secret": self.secret,
            "lower": level_text(self.lower),
            **levels,
            "over": None if self.over is None else str(_share(self.over)),
            "kept": self.kept,
            "level": None if self.level is None else level_text(self.level),
            "rule": self.rule,
            "reason": self.reason,
            "holds": self.holds,
            "uses": list(self.uses),
            "uncovered": list(self.uncovered),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Standing:
        """Read what `to_body` wrote."""
        try:
            return cls(
                secret=str(body["secret"]),
                lower=read_text(body["lower"], "down"),
                **{name: read_text(body[name]) for name in _UP},
                over=None if body["over"] is None else Probability.of(Fraction(body["over"])),
                kept=body["kept"],
                level=None if body["level"] is None else read_text(body["level"], "down"),
                rule=str(body["rule"]),
                reason=str(body["reason"]),
                holds=str(body["holds"]),
                uses=tuple(map(str, body["uses"])),
                uncovered=tuple(map(str, body["uncovered"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerInvalid(
                "an account in the ledger cannot be read; it was made by another version of tightlip: use that."
            ) from error


_UP = ("upper", "envelope", "pmc", "ldp", "maximal_leakage")


def standings_of(together: Together) -> tuple[Standing, ...]:
    """Remember what all releases together say about each secret."""
    return tuple(map(Standing.of, together.secrets.values()))


def _share(share: Probability) -> Fraction:
    return Fraction(float(share)) if share.fraction is None else share.fraction


def level_text(level: Nats) -> str:
    """Write a level exactly.

    >>> from tightlip import log_of
    >>> level_text(log_of("3/2")), level_text(Nats(0.5)), level_text(Nats(math.inf))
    ('log(3/2)', '1/2', 'inf')
    """
    if math.isinf(level):
        return "inf"
    if level.ratio is not None:
        ratio = str(level.ratio)
        if len(ratio) <= _MOST_DIGITS:
            return f"log({ratio})"
    return str(Fraction(float(level)))


def read_text(text: str, rounding: Rounding = "up") -> Nats:
    """Read what `level_text` wrote.

    >>> read_text("log(3/2)").ratio, read_text("1/2"), read_text("inf")
    (Fraction(3, 2), 0.5 nats, inf nats)
    """
    if text == "inf":
        return Nats(math.inf)
    if text.startswith("log(") and text.endswith(")"):
        return Nats.of_ratio(Fraction(text[4:-1]), rounding)
    return Nats(float(Fraction(text)), rounding=rounding)


def read_standings(bodies: Sequence[Mapping[str, Any]]) -> tuple[Standing, ...]:
    """Read the account of an entry."""
    return tuple(map(Standing.from_body, bodies))
