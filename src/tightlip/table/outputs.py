"""Where a release goes: to a file, which takes its name when it is checked, or to a new table of Postgres."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tightlip import arguments
from tightlip.errors import InvalidInput, quoted
from tightlip.files import prepare_output, whole_file
from tightlip.table.forms import TABLE, Form, form_of
from tightlip.table.postgres import Draft, PostgresForm, draft_table, require_name, table_name
from tightlip.table.source import is_postgres


class Output(ABC):
    """A place for a release, and the form that it has there."""

    form: Form

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages and reports call it; no password."""

    @property
    @abstractmethod
    def path(self) -> Path | None:
        """The file, if it is one."""

    @property
    @abstractmethod
    def receipt(self) -> Path:
        """Where its receipt goes unless that is said."""

    @abstractmethod
    def prepare(self, *, force: bool) -> None:
        """Refuse, before any work, what cannot be written."""

    @abstractmethod
    def draft(self, *, force: bool) -> AbstractContextManager[Any]:
        """Begin what the form writes and reads; it is kept when the block ends without an error."""


@dataclass(frozen=True, slots=True)
class FileOutput(Output):
    """A file that only its owner may read."""

    file: Path
    form: Form

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.file)

    @property
    def path(self) -> Path:
        """The file."""
        return self.file

    @property
    def receipt(self) -> Path:
        """Beside it."""
        if not self.file.name:
            raise InvalidInput(f"path must name a file, got {quoted(str(self.file))}.")
        return self.file.with_name(f"{self.file.name}.receipt.json")

    def prepare(self, *, force: bool) -> None:
        """Refuse, before any work, what cannot be written."""
        prepare_output(self.file, force=force)

    def draft(self, *, force: bool) -> AbstractContextManager[Path]:
        """Begin the file, which takes its name at the end."""
        return whole_file(self.file, force=force, private=True)


@dataclass(frozen=True, slots=True)
class PostgresOutput(Output):
    """A table that is there when its transaction is committed, and not before; none is overwritten."""

    url: str = field(repr=False)
    table: str
    form: Form = field(default_factory=PostgresForm)

    @property
    def name(self) -> str:
        """Table and database."""
        return table_name(self.url, self.table)

    @property
    def path(self) -> None:
        """None: it is no file."""
        return

    @property
    def receipt(self) -> Path:
        """In the working folder, by the table's name."""
        name = f"{self.table}.receipt.json"
        if Path(name).name != name or not arguments.usable_name(name):
            raise InvalidInput(
                f"receipt must be given for table {quoted(self.table)}, whose name is no file's; name a file."
            )
        return Path(name)

    def prepare(self, *, force: bool) -> None:
        """Refuse a table that is there or cannot be made, by making it and taking it back."""
        with draft_table(self.url, self.table) as draft, draft.work():
            draft.create([])

    @contextmanager
    def draft(self, *, force: bool) -> Iterator[Draft]:
        """Begin a transaction, which is committed at the end."""
        with draft_table(self.url, self.table) as draft:
            yield draft
            draft.commit()


def output_of(path: Any, table: str | None = None) -> Output:
    """Read where a release shall go: the name of a file, or the address of a Postgres database.

    Parameters
    ----------
    table : what a new table of Postgres is called; "release" where left out

    Raises
    ------
    InvalidInput
        When it is neither, or a table is named for a file.

    >>> output_of("safe.csv").receipt.name, output_of("postgresql://me:pass@host/db", "safe").name
    ('safe.csv.receipt.json', '"safe" of Postgres database "db"')
    """
    if isinstance(path, str) and is_postgres(path):
        name = TABLE if table is None else arguments.instance(table, str, "out_table", "name it by text")
        require_name(name, "out_table")
        return PostgresOutput(path, name)
    place = arguments.path(path, "path")
    form = form_of(place)
    if table is not None:
        raise InvalidInput(f"out_table is for Postgres databases, got the file {place.name}; leave it out.")
    return FileOutput(place, form)
