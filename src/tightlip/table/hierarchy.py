"""Files that group the values of a column, at one level or several, each coarser than the one below.

CSV: a line of names, then a line for each value: the value, its group at level 1, at level 2, ….
TOML: `level = [{flu = "lungs"}, {lungs = "body"}]`, each level mapping the groups of the one below.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.reading import first_line, read_text


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
                    f"mapping file {path} line {line} must have a group at level {level}, "
                    f"got {len(row) - 1} levels; add it or lower the level."
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
