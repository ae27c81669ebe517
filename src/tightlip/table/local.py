"""Local recoding: what is published for each cell, cell by cell, in a Parquet file beside its policy.

The file has a row for each pair of a cell and a value published for it: the cell's released values as the policy
recodes them and its mechanisms draw them ("cell " and the column's name), what is published ("published " and the
name), and a whole weight. The weights of a cell sum to the scale in the file's metadata; a cell with one row is always
published so. Missing is null. The metadata also have what was promised of it (see `promise`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.files import whole_file
from tightlip.table.mechanism import Value
from tightlip.table.promise import Promise

_FORMAT = "tightlip local recoding 1"
_CELL, _PUBLISHED = "cell ", "published "
_WEIGHT = "weight"

Cell = tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LocalRecoding:
    """What is published for each cell: pairs of cell and published value with whole weights, sorted by cell.

    Attributes
    ----------
    columns : the released columns
    cells : the cells that it is for
    published : the distinct published values
    cell, value, weight : the pairs
    scale : what the weights of each cell sum to
    path : the file that it is in, if it is in one
    promise : what releases by it keep, if that is known; others are refused
    """

    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    published: tuple[Cell, ...]
    cell: NDArray[np.intp]
    value: NDArray[np.intp]
    weight: NDArray[np.int64]
    scale: int
    path: Path | None = None
    promise: Promise | None = None

    def __post_init__(self) -> None:
        sums = np.zeros(len(self.cells), dtype=object)
        np.add.at(sums, self.cell, self.weight.astype(object))
        if self.scale < 1 or (self.weight < 1).any() or (sums != self.scale).any():
            raise InvalidInput(
                f"the weights of every cell of a local recoding must be whole numbers that sum to {self.scale}; "
                "make the recoding again."
            )
        for name, rows in (("cells", self.cells), ("published values", self.published)):
            if len(set(rows)) != len(rows) or any(len(row) != len(self.columns) for row in rows):
                raise InvalidInput(
                    f"the {name} of a local recoding must differ and have a value for each column."
                )
        if (np.diff(self.cell) < 0).any():
            raise InvalidInput("the pairs of a local recoding must be sorted by cell.")

    @property
    def deterministic(self) -> bool:
        """Whether every cell is always published alike."""
        return len(self.cell) == len(self.cells)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where the pairs of each cell begin; one more at the end."""
        return np.searchsorted(self.cell, np.arange(len(self.cells) + 1)).astype(np.intp)

    def places_of(self, cells: Sequence[Cell]) -> NDArray[np.intp]:
        """Which of its cells some cells are.

        Raises
        ------
        InvalidInput
            When one is not among them: the recoding was made for another table, or the table has changed.
        """
        known = {cell: place for place, cell in enumerate(self.cells)}
        try:
            return np.array([known[cell] for cell in cells], dtype=np.intp)
        except KeyError:
            missing = sum(cell not in known for cell in cells)
            raise InvalidInput(
                f"local recoding must have every combination of {', '.join(map(quoted, self.columns))}, got none for "
                f"{missing} of {len(cells)}; it was made for another table, or the table has changed: protect it again."
            ) from None

    def save(self, path: Path, *, force: bool = False) -> str:
        """Write it as Parquet, for the owner alone; returns the digest of the file."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        columns = {
            _CELL + name: pa.array([self.cells[at][c] for at in self.cell.tolist()], pa.string())
            for c, name in enumerate(self.columns)
        }
        columns |= {
            _PUBLISHED + name: pa.array([self.published[at][c] for at in self.value.tolist()], pa.string())
            for c, name in enumerate(self.columns)
        }
        columns[_WEIGHT] = pa.array(self.weight, pa.int64())
        metadata = {"format": _FORMAT, "scale": str(self.scale)}
        if self.promise is not None:
            metadata["promise"] = self.promise.to_json()
        with whole_file(path, force=force, private=True) as partial:
            parquet.write_table(pa.table(columns).replace_schema_metadata(metadata), partial)
        return file_digest(path)

    @classmethod
    def load(cls, path: Path, digest: str | None = None) -> LocalRecoding:
        """Read what `save` wrote; `digest` is what its policy says the file's must be.

        Raises
        ------
        InvalidInput
            When the file cannot be read, is no local recoding, or is not the one that the policy means.
        """
        import pyarrow as pa
        import pyarrow.parquet as parquet

        what = f"local recoding {path}"
        if digest is not None and file_digest(path) != digest:
            raise InvalidInput(
                f"{what} is not the one that its policy was written with; protect the table again."
            )
        try:
            found = parquet.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise InvalidInput(f"{what} cannot be read; protect the table again.") from error
        metadata = found.schema.metadata or {}
        width = (found.num_columns - 1) // 2
        names = found.column_names
        released = tuple(name.removeprefix(_CELL) for name in names[:width])
        if metadata.get(b"format") != _FORMAT.encode() or names != [
            *(_CELL + name for name in released),
            *(_PUBLISHED + name for name in released),
            _WEIGHT,
        ]:
            raise InvalidInput(
                f"{what} must be a file that `tightlip protect` wrote; protect the table again."
            )
        lists = [column.to_pylist() for column in found.columns]
        cells, cell = _number(list(zip(*lists[:width], strict=True)))
        published, value = _number(list(zip(*lists[width : 2 * width], strict=True)))
        return cls(
            released,
            cells,
            published,
            cell,
            value,
            np.array(lists[-1], dtype=np.int64),
            int(metadata[b"scale"]),
            path,
            Promise.from_json(metadata[b"promise"]) if b"promise" in metadata else None,
        )


def _number(rows: list[Cell]) -> tuple[tuple[Cell, ...], NDArray[np.intp]]:
    known: dict[Cell, int] = {}
    places = np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.intp)
    return tuple(known), places


def file_digest(path: Path) -> str:
    """Hash a file by SHA-256.

    Raises
    ------
    InvalidInput
        When it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}; check the name.") from error
