"""Values replaced by groups: a mapping, or one level of a hierarchy."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping as Pairs
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.table.kinds import Kind
from tightlip.table.recoding import require_kind, require_whole

_MAPPED, _OTHER = "m", "o"  # first letter of a key, so that no group is taken for an unmapped value


@dataclass(frozen=True, slots=True)
class Mapping:
    """Release the group of each value; values are written as their labels ("7", "true", "2024-02-29").

    A value without a group is released as `otherwise`. Without that it is refused, so that a forgotten value does not
    slip into the release. Missing values stay missing.

    >>> Mapping({"flu": "lungs", "asthma": "lungs"}, otherwise="other").words()
    'mapped to 1 group, others to "other"'
    """

    groups: tuple[tuple[str, str], ...]
    otherwise: str | None

    def __init__(self, groups: Pairs[str, str], *, otherwise: str | None = None) -> None:
        if not isinstance(groups, Pairs) or not groups:
            raise WrongType(f"mapping must have a group for at least one value, got {quoted(groups)}.")
        for value, group in (*groups.items(), *([] if otherwise is None else [("otherwise", otherwise)])):
            if not isinstance(value, str) or not isinstance(group, str):
                raise WrongType(
                    f"mapping must be from text to text, got {quoted(value)}: {quoted(group)}; "
                    "write numbers in quotes."
                )
        object.__setattr__(self, "groups", tuple(sorted(groups.items())))
        object.__setattr__(self, "otherwise", otherwise)

    @classmethod
    def from_file(cls, path: str | Path, *, level: int = 1, otherwise: str | None = None) -> Mapping:
        """Read a mapping or a hierarchy from a CSV or TOML file.

        CSV: a line of names, then one line for each value: the value, its group at level 1, at level 2, ….
        TOML: `level = [{flu = "lungs"}, {lungs = "body"}]`, each level mapping the groups of the one below.

        Raises
        ------
        InvalidInput
            When the file cannot be read, gives a value two groups, or has no such level.
        """
        path = Path(path)
        require_whole(level, "mapping level", 1)
        read = _from_toml if path.suffix.lower() == ".toml" else _from_csv
        try:
            return cls(read(path, level), otherwise=otherwise)
        except InvalidInput:
            raise
        except (
            OSError,
            ValueError,
            csv.Error,
            RecursionError,
        ) as error:  # of values: no UTF-8, no TOML, a NUL in the name
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise InvalidInput(f"mapping file {path} cannot be read: {reason}.") from error

    def require(self, name: str, kind: Kind) -> None:
        """Reals have no values to list."""
        require_kind("mapping", name, kind, ("text", "integer", "boolean", "date"))

    def key(self, column: Any, kind: Kind) -> Any:
        """The group, after a letter that tells whether there is one."""
        import ibis

        members: dict[str, list[str]] = {}
        for value, group in self.groups:
            members.setdefault(group, []).append(value)
        text = column.cast("string")
        branches = [(text.isin(values), _MAPPED + group) for group, values in members.items()]
        rest = ibis.literal(_OTHER) + (text if self.otherwise is None else self.otherwise)
        return ibis.cases((text.isnull(), ibis.null("string")), *branches, else_=rest)

    def label(self, key: Any, kind: Kind) -> str:
        """The group."""
        if (
            key[0] == _OTHER and self.otherwise is None
        ):  # the value itself may be one that only few people have
            raise InvalidInput(
                "mapping must have a group for every value, got none for some; add them or set otherwise."
            )
        return str(key[1:])

    def words(self) -> str:
        """In words."""
        count = len({group for _, group in self.groups})
        rest = "" if self.otherwise is None else f", others to {quoted(self.otherwise)}"
        return f"mapped to {count} group{'s' if count > 1 else ''}{rest}"


def _from_csv(path: Path, level: int) -> dict[str, str]:
    groups: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, strict=True)
        next(rows, None)
        for row in rows:
            if not row:
                continue
            if len(row) <= level:
                raise InvalidInput(
                    f"mapping file {path} line {rows.line_num} must have a group at level {level}, "
                    f"got {len(row) - 1} levels; add it or lower the level."
                )
            if groups.setdefault(row[0], row[level]) != row[level]:
                raise InvalidInput(f"mapping file {path} gives {quoted(row[0])} two groups; keep one.")
    return groups


def _from_toml(path: Path, level: int) -> dict[str, str]:
    with path.open("rb") as file:
        chain = tomllib.load(file).get("level")
    if not isinstance(chain, list) or not all(isinstance(step, dict) for step in chain) or len(chain) < level:
        raise InvalidInput(
            f"mapping file {path} must have a list `level` of at least {level} tables, got {quoted(chain)}."
        )
    return _climb(chain[:level], path)


def _climb(chain: Sequence[dict[str, str]], path: Path) -> dict[str, str]:
    groups = dict(chain[0])
    for step in chain[1:]:
        for value, group in groups.items():
            if not isinstance(group, str) or group not in step:
                raise InvalidInput(
                    f"mapping file {path} must map {quoted(group)} at the next level; add it there."
                )
            groups[value] = step[group]
    return groups
