"""Check a Parquet file: trusted are rows that DuckDB and Arrow, two independent readers, both find in it.

A footer is written by whoever wrote the file. Its statistics (smallest and largest value, how many are missing) are
claims, and DuckDB is told not to use them (see `embedded`). Types, row counts and places of pages are needed to read
anything. Where they lie, readers differ: a decimal too large for its declared digits, two declarations of one type, row
groups whose columns differ in length. Whoever receives the file may have either reader, so it is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tightlip.errors import InvalidInput, quoted
from tightlip.reading import stamp
from tightlip.table.embedded import neutral_names

_BATCH = 100_000  # rows in memory at a time


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFile:
    """A file as it was when it was opened.

    Attributes
    ----------
    physical : the file's column names and those that DuckDB knows them by. They come from the file itself: where two
        differ by case only, or not at all, DuckDB makes others up
    stamp : what changes when somebody writes to the file or puts another in its place
    """

    path: Path
    physical: dict[str, str]
    stamp: tuple[int, ...]
    _compared: set[str] = field(default_factory=set)

    @classmethod
    def open(cls, path: Path) -> ParquetFile:
        """Read the column names."""
        import pyarrow.parquet as parquet

        before = stamp(path)
        return cls(path, neutral_names(parquet.read_schema(path).names, str(path)), before)

    def require_same(self, backend: Any, expression: Any, names: Collection[str]) -> None:
        """Refuse columns that DuckDB (`expression`) and Arrow read differently; each column is compared once.

        Raises
        ------
        InvalidInput
            When they do.
        """
        import pyarrow.parquet as parquet

        new = [name for name in dict.fromkeys(names) if name not in self._compared]
        if not new:
            return
        with (
            parquet.ParquetFile(self.path) as file,
            backend.to_pyarrow_batches(
                expression.select(*(self.physical[name] for name in new)), chunk_size=_BATCH
            ) as reader,
        ):
            read = file.iter_batches(batch_size=_BATCH, columns=new)
            for one, other in _align_batches((batch.select(new) for batch in read), reader):
                for place, name in enumerate(new):
                    if one is None or other is None or not _same(one.column(place), other.column(place)):
                        raise self._two_readings(name)
            # after reading, which refuses what is malformed: asking for it would end the whole program
            if short := _find_uneven(file.metadata, new):
                raise self._two_readings(short)
        self._compared.update(new)

    def require_unchanged(self) -> None:
        """Refuse a file that is not what it was when it was opened."""
        if stamp(self.path) != self.stamp:
            raise InvalidInput(f"{self.path} has changed since it was opened; read it again.")

    def _two_readings(self, name: str) -> InvalidInput:
        return InvalidInput(
            f"{self.path} cannot be trusted: two readers, DuckDB and Arrow, find different values or numbers of rows "
            f"in column {quoted(name)}; write the file anew."
        )


def _find_uneven(footer: Any, names: Collection[str]) -> str | None:
    """A column that has not one value for each row of every group, so that readers would cut or shift rows; if any."""
    places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    whole = sum(group.num_rows for group in groups) == footer.num_rows
    for name in names:
        if not whole or any(group.column(places[name]).num_values != group.num_rows for group in groups):
            return name
    return None


def _align_batches(left: Iterator[Any], right: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Cut two streams of batches so that pairs have equally many rows; None for one that ends before the other."""
    streams = [iter(left), iter(right)]
    rest: list[Any] = [None, None]
    while True:
        for place, stream in enumerate(streams):
            while rest[place] is None or not rest[place].num_rows:
                rest[place] = next(stream, None)
                if rest[place] is None:
                    break
        if rest[0] is None and rest[1] is None:
            return
        if rest[0] is None or rest[1] is None:
            yield rest[0], rest[1]
            return
        size = min(batch.num_rows for batch in rest)
        yield rest[0].slice(0, size), rest[1].slice(0, size)
        rest = [batch.slice(size) for batch in rest]


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays hold the same values, NaN by its bits; a value that the other's type cannot hold is none."""
    import pyarrow as pa

    if pa.types.is_null(one.type):
        return bool(other.null_count == len(other))
    if pa.types.is_dictionary(one.type):
        one = one.cast(one.type.value_type)
    try:
        other = other.cast(one.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    bits = {pa.float32(): pa.int32(), pa.float64(): pa.int64(), pa.float16(): pa.int16()}.get(one.type)
    if bits is not None:
        one, other = one.view(bits), other.view(bits)
    return bool(one.equals(other))
