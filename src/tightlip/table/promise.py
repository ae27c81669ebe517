"""What was promised of a local recoding when it was found, so that it is kept on another table too, or refused.

It is in the metadata of the recoding's file and names no secret value: limits that are on single values are replaced by
the digest of the counts, the only ones that the recoding is then for.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PromisedLimit:
    """What a published value may say about some secret columns: "pml" or "pmc" with a level, "cap" with a share."""

    about: tuple[str, ...]
    kind: str
    level: str


@dataclass(frozen=True, slots=True)
class Promise:
    """What a release by a recoding keeps.

    Attributes
    ----------
    limits : on every value of the secret columns that they are about
    exposed : the share of people whose published value may break a limit, as a ratio
    fewest : people who share a published value
    counts : the digest of the counts that it is for; any where it is None
    """

    limits: tuple[PromisedLimit, ...]
    exposed: str = "0"
    fewest: int = 1
    counts: str | None = None

    def to_json(self) -> str:
        """Write it as JSON text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Promise:
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidInput
            When it is no promise.
        """
        try:
            return cls._of(**json.loads(text))
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            raise InvalidInput(
                "the promise of a local recoding cannot be read; protect the table again."
            ) from error

    @classmethod
    def _of(cls, limits: list[dict[str, Any]], exposed: str, fewest: int, counts: str | None) -> Promise:
        found = tuple(
            PromisedLimit(tuple(map(str, one["about"])), str(one["kind"]), str(one["level"]))
            for one in limits
        )
        return cls(found, str(Fraction(exposed)), int(fewest), None if counts is None else str(counts))
