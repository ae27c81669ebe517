"""The planned release as `tightlip audit` is told it: a policy file, or flags."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tightlip.cli.audit_options import Settings
from tightlip.errors import InvalidInput, quoted

if TYPE_CHECKING:
    from tightlip.table.policy import Policy


@dataclass(frozen=True, slots=True)
class PlanFlags:
    """What was given; `recodings` holds the flags about single columns, by name."""

    policy: Path | None
    mappings_anywhere: bool
    secret: str | None
    statistic: str | None
    release: str | None
    min_count: int | None
    recodings: Mapping[str, Settings]

    def plan(self) -> Policy:
        """The planned release, from the policy file or from the flags, not both."""
        from tightlip.table.policy import Policy

        if self.policy is not None:
            self._require_no_flags(self.policy)
            return Policy.from_toml(self.policy, mappings_anywhere=self.mappings_anywhere)
        if self.mappings_anywhere:
            raise InvalidInput(
                "--mappings-anywhere must be given with --policy; files named by --map may be anywhere already."
            )
        if self.secret is None or self.release is None:
            raise InvalidInput("--secret and --release must be given, or --policy; name the columns.")
        flags = {
            "mapping" if flag == "map" else flag: values or () for flag, values in self.recodings.items()
        }
        return Policy.from_flags(
            columns(self.secret),
            columns(self.release),
            statistic=[] if self.statistic is None else columns(self.statistic),
            min_count=self.min_count,
            **flags,
        )

    def _require_no_flags(self, policy: Path) -> None:
        given = {"secret": self.secret, "statistic": self.statistic, "release": self.release}
        for flag, value in {**given, "min-count": self.min_count, **self.recodings}.items():
            if value is not None:
                raise InvalidInput(f"--{flag} must not be given with --policy; write it into {policy}.")


def columns(text: str) -> list[str]:
    """Names separated by commas; a name with a comma in it, or a space at its start, is put in double quotes.

    >>> columns('age, zip,"income, net"," sex"')
    ['age', 'zip', 'income, net', ' sex']
    """
    rows = list(csv.reader([text], skipinitialspace=True))
    names = [name for row in rows for name in row]
    if not names or not all(name.strip() for name in names):
        raise InvalidInput(f"columns must be names separated by commas, got {quoted(text)}.")
    return names
