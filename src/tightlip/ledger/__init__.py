"""What was released of a table so far, what that gives away together, and what may still be released."""

from __future__ import annotations

from tightlip.ledger.guarantees import Declared, Measured
from tightlip.ledger.ledger import Ledger, Recorded
from tightlip.ledger.rules import Account, Charge, account
from tightlip.ledger.splitting import Planned, split
from tightlip.ledger.standing import Standing
from tightlip.ledger.together import SecretAccount, Together

__all__ = [
    "Account",
    "Charge",
    "Declared",
    "Ledger",
    "Measured",
    "Planned",
    "Recorded",
    "SecretAccount",
    "Standing",
    "Together",
    "account",
    "split",
]
