"""Replace values by groups: a mapping, or one level of a hierarchy.

Files group the values of a column at one level or several, each coarser than the one below.

CSV: a line of names, then a line for each value: the value, its group at level 1, at level 2, ….
TOML: `level = [{flu = "lungs"}, {lungs = "body"}]`, each level mapping the groups of the one below.
"""

from __future__ import annotations

import csv
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Pairs
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from tightlip import arguments
from tightlip.arguments import whole
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.display import several
from tightlip.reading import first_line, read_text
from tightlip.table.kinds import Kind
from tightlip.table.recoding import require_kind

_MAPPED, _OTHER = "m", "o"  # first letter of a key, so that no group is taken for an unmapped value


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """What a mapping file says: `levels[0]` has the values themselves, `levels[2]` their groups at level 2."""

    path: Path
    levels: tuple[dict[str, str], ...]

    @classmethod
    def from_file(cls, path: Path, level: int) -> Hierarchy:
        """Read a file that must have some level; levels above it are read as far as they group every value.

        Raises
        ------
        InvalidInput
            When the file cannot be read, gives a value two groups, or has no such level.
        """
        level = whole(level, "mapping level", 0)
        try:
            str(path).encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"mapping file {path} must have a name in UTF-8, else no policy file can name it; rename it."
            ) from error
        read = _toml_reader if path.suffix.lower() == ".toml" else _csv_reader
        try:
            groups_at = read(path)
        except InvalidInput:
            raise
        except (ValueError, csv.Error, RecursionError) as error:  # no TOML, no CSV
            raise InvalidInput(f"mapping file {path} cannot be read: {first_line(error)}.") from error
        first = groups_at(max(level, 1))
        found = [dict(zip(first, first, strict=True)), *(groups_at(below) for below in range(1, level + 1))]
        try:
            while len(found) <= _HIGHEST:
                found.append(groups_at(len(found)))
        except InvalidInput:  # that level is not there for all values
            pass
        return cls(path, tuple(found))


_HIGHEST = 20
_Groups = Callable[[int], dict[str, str]]


def _text(path: Path) -> str:
    return read_text(path, f"mapping file {path}")


def _csv_reader(path: Path) -> _Groups:
    reader = csv.reader(StringIO(_text(path), newline=""), strict=True)
    next(reader, None)
    rows = [(reader.line_num, row) for row in reader if row]

    def groups_at(level: int) -> dict[str, str]:
        groups: dict[str, str] = {}
        for line, row in rows:
            if len(row) <= level:
                raise InvalidInput(
                    f"mapping file {path} line {line} must have a group at level {quoted(level)}, "
                    f"got {several(len(row) - 1, 'level')}; add it or lower the level."
                )
            if groups.setdefault(row[0], row[level]) != row[level]:
                raise InvalidInput(f"mapping file {path} gives {quoted(row[0])} two groups; keep one.")
        return groups

    return groups_at


def _toml_reader(path: Path) -> _Groups:
    chain = tomllib.loads(_text(path)).get("level")

    def groups_at(level: int) -> dict[str, str]:
        if (
            not isinstance(chain, list)
            or not all(isinstance(step, dict) for step in chain)
            or len(chain) < level
        ):
            raise InvalidInput(
                f"mapping file {path} must have a list `level` of at least {level} tables, got {quoted(chain)}."
            )
        return _climb(chain[:level], path)

    return groups_at


def _climb(chain: Sequence[dict[str, str]], path: Path) -> dict[str, str]:
    for value, group in (pair for step in chain for pair in step.items()):
        if not isinstance(group, str):
            raise WrongType(
                f"mapping file {path} must map from text to text, got {quoted(value)}: {quoted(group)}; "
                "write numbers in quotes."
            )
    groups = dict(chain[0])
    for step in chain[1:]:
        for value, group in groups.items():
            if group not in step:
                raise InvalidInput(
                    f"mapping file {path} must map {quoted(group)} at the next level; add it there."
                )
            groups[value] = step[group]
    return groups


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
    hierarchy: Hierarchy | None = field(compare=False, repr=False)
    level: int = field(compare=False, repr=False)

    def __init__(
        self,
        groups: Pairs[str, str],
        *,
        otherwise: str | None = None,
        hierarchy: Hierarchy | None = None,
        level: int = 1,
    ) -> None:
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
        object.__setattr__(self, "hierarchy", hierarchy)
        object.__setattr__(self, "level", level)

    @classmethod
    def from_file(cls, path: str | Path, *, level: int = 1, otherwise: str | None = None) -> Mapping:
        """Read one level of a mapping file, CSV or TOML (see above); level 0 has the values themselves.

        Raises
        ------
        InvalidInput
            When the file cannot be read, gives a value two groups, or has no such level.
        """
        return cls._at(Hierarchy.from_file(arguments.path(path, "path"), level), level, otherwise)

    @classmethod
    def _at(cls, hierarchy: Hierarchy, level: int, otherwise: str | None) -> Mapping:
        return cls(hierarchy.levels[level], otherwise=otherwise, hierarchy=hierarchy, level=level)

    def higher(self) -> list[Mapping]:
        """List the levels of its file above this one, the next first; none for a mapping without a file."""
        if self.hierarchy is None:
            return []
        above = range(self.level + 1, len(self.hierarchy.levels))
        return [self._at(self.hierarchy, level, self.otherwise) for level in above]

    def require(self, name: str, kind: Kind) -> None:
        """Reals have no values to list."""
        require_kind("mapping", name, kind, ("text", "integer", "boolean", "date"))

    def key(self, column: Any, kind: Kind) -> Any:
        """Return the group, after a letter that tells whether there is one."""
        import ibis

        members: dict[str, list[str]] = {}
        for value, group in self.groups:
            members.setdefault(group, []).append(value)
        text = column.cast("string")
        branches = [(text.isin(values), _MAPPED + group) for group, values in members.items()]
        rest = ibis.literal(_OTHER) + (text if self.otherwise is None else self.otherwise)
        return ibis.cases((text.isnull(), ibis.null("string")), *branches, else_=rest)

    def plain_keys(self, values: Sequence[Any], kind: Kind) -> list[Any]:
        """Recode values in Python alike, given as their labels."""
        return [self._plain_key(value) for value in values]

    def _plain_key(self, value: str) -> str:
        place = bisect_left(self.groups, (value,))
        if place < len(self.groups) and self.groups[place][0] == value:
            return _MAPPED + self.groups[place][1]
        return _OTHER + (value if self.otherwise is None else self.otherwise)

    def label(self, key: Any, kind: Kind) -> str:
        """Return the group."""
        if key[0] == _OTHER and self.otherwise is None:
            raise InvalidInput(  # without the value, which may be one that only few people have
                f"mapping must have a group for every value, got none for some{self._names_words()}; add them or set "
                "otherwise."
            )
        return str(key[1:])

    def _names_words(self) -> str:
        """What became of the first line of a CSV file: who forgot the names there misses a value."""
        if self.hierarchy is None or self.hierarchy.path.suffix.lower() == ".toml":
            return ""
        return f" (line 1 of {self.hierarchy.path.name} was taken for names)"

    def words(self) -> str:
        """Say it in words."""
        file = "" if self.hierarchy is None else f" ({self.hierarchy.path.name}, level {self.level})"
        rest = "" if self.otherwise is None else f", others to {quoted(self.otherwise)}"
        if all(value == group for value, group in self.groups):
            kept = f"as it is for {len(self.groups)} value{'s' if len(self.groups) > 1 else ''}"
            return f"{kept}{file}{rest}"
        count = len({group for _, group in self.groups})
        return f"mapped to {count} group{'s' if count > 1 else ''}{file}{rest}"
