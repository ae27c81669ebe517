"""Keep to one folder: every file that the page reads or writes is below it, wherever links lead."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tightlip.arguments import usable_name
from tightlip.errors import InvalidInput, quoted

_MOST = 500  # files that are listed; others can be named
_LOOKED_AT = 20_000  # files that are looked at, so that the page answers at once
_DEEPEST = 3  # folders below the folder that are listed
_TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_BASES = (".parquet", ".duckdb", ".sqlite", ".db")
TABLES: tuple[str, ...] = (
    *_TEXTS,
    *_BASES,
    ".xlsx",
    ".xlsm",
    ".xls",
    ".sav",
    ".zsav",
    ".dta",
    ".sas7bdat",
    ".xpt",
)


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder that was given at the start, with all links resolved."""

    path: Path

    @classmethod
    def of(cls, path: str | Path) -> Folder:
        """Take a folder that is there.

        Raises
        ------
        InvalidInput
            When it is none.
        """
        found = Path(path)
        if not found.is_dir():
            raise InvalidInput(
                f"folder must be a folder that is there, got {quoted(str(path))}; make it first."
            )
        return cls(found.resolve())

    def inside(self, name: str) -> Path:
        """Find a file below the folder by its name seen from there.

        Raises
        ------
        InvalidInput
            When the name leads out of the folder, by itself or by a link.
        """
        if not name or not usable_name(name) or Path(name).is_absolute() or ".." in Path(name).parts:
            raise self._outside(name)
        try:
            found = (self.path / name).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise self._outside(name) from error
        if not found.is_relative_to(self.path) or found == self.path:
            raise self._outside(name)
        return found

    def name_of(self, path: Path) -> str:
        """Say where a file is, seen from the folder.

        Raises
        ------
        InvalidInput
            When it is not below the folder.
        """
        found = path.resolve()
        if not found.is_relative_to(self.path) or found == self.path:
            raise self._outside(str(path))
        return found.relative_to(self.path).as_posix()

    def listed(self, endings: tuple[str, ...]) -> list[str]:
        """List files by their endings, those of links that lead out left out."""
        found = []
        for name in islice(self._walk(), _LOOKED_AT):
            if name.lower().endswith(endings):
                try:
                    self.inside(name)
                except InvalidInput:
                    continue
                found.append(name)
                if len(found) == _MOST:
                    break
        return sorted(found)

    def _walk(self) -> Iterator[str]:
        for place, folders, files in os.walk(self.path):
            here = Path(place).relative_to(self.path)
            deep = len(here.parts) >= _DEEPEST
            folders[:] = [] if deep else sorted(one for one in folders if not one.startswith("."))
            yield from ((here / one).as_posix() for one in sorted(files) if not one.startswith("."))

    def _outside(self, name: str) -> InvalidInput:
        return InvalidInput(
            f"a file must be below the folder that the page was started with, got {quoted(name)}; copy it there."
        )
