"""Report what goes wrong in an engine in one line."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tightlip.errors import InvalidInput, TightlipError

_LONGEST = 200
_MEMORY = "Out of Memory Error"
NOT_UTF8 = "it has text that is not valid UTF-8; save it as UTF-8."
_SIGNS_OF_THAT = (
    "not utf-8 encoded",
    "Invalid unicode",
    "invalid unicode",
    "byte sequence mismatch",
    "codec can't decode",
    "Could not decode to UTF-8",
)
_INTERRUPTED = ("Query interrupted", "INTERRUPT Error: Interrupted!", "interrupted")  # DuckDB twice, SQLite
_OF_VALUES = ("DataError", "DateTimeException", "NumberFormatException", "ArithmeticException")
_IN_QUOTES = re.compile(r"""(?<!\w)(['"`])(.*\1|.*)""")  # to the last quote: a value may have quotes in it
_INSTALL = {"duckdb": "table", "sqlite": "table", "pyspark": "spark", "postgres": "postgres"}


def load_ibis(engine: str = "duckdb") -> Any:
    """Import Ibis, or raise InvalidInput with the line that installs what an engine needs."""
    needed = {"duckdb": ["duckdb"], "pyspark": ["pyspark"], "postgres": ["psycopg"]}.get(engine, [])
    try:
        for module in (*needed, "pyarrow"):
            importlib.import_module(module)
        return importlib.import_module("ibis")
    except ImportError as error:
        raise InvalidInput(
            f"table needs {error.name or engine}, which is not installed; "
            f"run: pip install 'tightlip[{_INSTALL[engine]}]'"
        ) from error


def load_reader(module: str, extra: str) -> Any:
    """Import what reads a kind of file, or raise InvalidInput with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"table needs {error.name or module}, which is not installed; run: pip install 'tightlip[{extra}]'"
        ) from error


@contextmanager
def engine_work(name: str, done: str = "read") -> Iterator[None]:
    """Turn whatever an engine raises into one InvalidInput that names the table.

    Engines have exceptions of many kinds (DuckDB, SQLite, psycopg, Py4J, Arrow), so all but our own are caught. Ctrl-C,
    of which some of them make an error of their own, is a KeyboardInterrupt again.
    """
    try:
        yield
    except (TightlipError, MemoryError):
        raise
    except Exception as error:
        if str(error) in _INTERRUPTED:
            raise KeyboardInterrupt from error
        raise InvalidInput(f"{name} cannot be {done}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """The first line of an engine's message, without what stands in quotes: both may show values of the table."""
    text = str(error).strip()
    if text.startswith(_MEMORY):
        return "it does not fit in memory, and rows are not put on disk; use fewer columns, Spark or more memory."
    if any(sign in text for sign in _SIGNS_OF_THAT):
        return NOT_UTF8
    if any(kind.__name__ in _OF_VALUES for kind in type(error).__mro__):
        return "a value does not fit the type of its column; convert the column, or make it text."
    first = text.splitlines()[0].strip() if text else type(error).__name__
    first = _IN_QUOTES.sub("…", first)
    if len(first) > _LONGEST:
        first = first[: _LONGEST - 1] + "…"
    return f"{first.rstrip('.;:')}; check that it is whole, of one type by column, and still there."
