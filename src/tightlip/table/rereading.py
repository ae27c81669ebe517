"""Compare a release, read back, with what was decided: the same values in the same order, and outcomes of its parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.categorical import Places
from tightlip.table.forms import Form

Codes = NDArray[np.intp]


def not_as_decided() -> InvalidInput:
    """Refuse a file that has other rows than were written; returns the error."""
    return InvalidInput(
        "the written file does not read back as what was written; nothing was kept, release it again or write Parquet."
    )


class Outcomes:
    """Which outcome of a part the rows of a file show.

    `names`, `at` and `labels` are the columns that the part publishes: what they are called, their places in the file,
    and what they can show; `codes` has the outcomes as places among these.
    """

    def __init__(
        self, names: Sequence[str], at: Sequence[int], labels: Sequence[Any], codes: Codes, form: Form
    ) -> None:
        import pyarrow as pa

        self.at = at
        self.shown = [form.shape(pa.table({"": own})).column(0).combine_chunks() for own in labels]
        for name, own in zip(names, self.shown, strict=True):
            if len(own.unique()) != len(own):
                raise InvalidInput(
                    f"column {quoted(name)} has values that are written alike, with an "
                    "apostrophe before what a spreadsheet would run; write Parquet."
                )
        keys = self._keys([codes[:, column] for column in range(len(at))])
        self.order = np.argsort(keys)
        self.keys = keys[self.order]

    def _keys(self, codes: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """One number for each combination of codes."""
        key, span = np.zeros(len(codes[0]), dtype=np.int64), 1
        for own, labels in zip(codes, self.shown, strict=True):
            span *= len(labels)
            key = key.astype(object) if span >= 1 << 62 else key
            key = key * len(labels) + own
        return key

    def places(self, batch: Any) -> Places:
        """The outcome of each row.

        Raises
        ------
        InvalidInput
            When a row shows what none is.
        """
        import pyarrow.compute as compute

        codes = []
        for at, labels in zip(self.at, self.shown, strict=True):
            found = compute.index_in(batch.column(at), value_set=labels)
            if found.null_count:
                raise not_as_decided()
            codes.append(found.to_numpy().astype(np.int64))
        keys = self._keys(codes)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        if (self.keys[place] != keys).any():
            raise not_as_decided()
        return self.order[place]


class Digests:
    """Running hashes of columns, however rows are batched: of what is missing, lengths of texts, and the values."""

    def __init__(self, width: int) -> None:
        self.columns = [tuple(hashlib.sha256() for _ in range(3)) for _ in range(width)]

    def add(self, table: Any) -> None:
        """Go on with the rows of an Arrow table."""
        import pyarrow as pa

        for (gaps, lengths, values), column in zip(self.columns, table.columns, strict=True):
            gaps.update(column.is_null().to_numpy().tobytes())
            if pa.types.is_string(column.type):
                for own in column.fill_null("").chunks:
                    ends, text = _buffers(own)
                    lengths.update(np.diff(ends).tobytes())
                    values.update(text)
            else:
                form = "<f8" if pa.types.is_floating(column.type) else "<i8"
                values.update(column.fill_null(pa.scalar(0, column.type)).to_numpy().astype(form).tobytes())

    def hashes(self) -> list[tuple[bytes, ...]]:
        """The hashes so far."""
        return [tuple(one.digest() for one in column) for column in self.columns]


def _buffers(texts: Any) -> tuple[NDArray[np.int32], memoryview]:
    """Where the texts of an Arrow array end, from the start of the first one on, and all of them together."""
    _, offsets, text = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    if text is None or not len(texts):
        return ends, memoryview(b"")
    return ends, memoryview(text)[ends[0] : ends[-1]]
