"""Table files, whole and damaged: refused, or counted as a plain reader of the same file counts."""

import csv
import gzip
import io
import re
import sqlite3
from collections import Counter
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet

from fuzz.damage import damaged
from tightlip.errors import TightlipError
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

_COLUMNS = ("age", "town", "ill")
_TOWNS = [
    "Bern",
    "bern",
    " Bern",
    "Köln",
    "a,b",
    'x"y',
    "two\nlines",
    "NULL",
    "nan",
    "01",
    "1",
    "=1+1",
    "\u202eabc",
    None,
]
_AGES = [0, 1, -1, 30, 31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), None]
_EMPTY_IN_QUOTES = re.compile(r'(^|,)""(,|\r?$)', re.M)
_POLICY = Policy("ill", ["age", "town"])


def people(random):
    """Random rows; the secret has at least two values, as an audit needs."""
    rows = [
        (random.choice(_AGES), random.choice(_TOWNS), random.choice(["yes", "no", None]))
        for _ in range(random.randint(1, 40))
    ]
    return [*rows, (30, "Bern", "yes"), (30, "Bern", "no")]


def counted(path):
    """Rows by cell and secret as tightlip counts them; None where it refuses the file."""
    try:
        with open_table(path) as table:
            counts = count_cells(table, _POLICY)
    except TightlipError as error:
        said = str(error)
    else:
        triples = zip(counts.cell_of, counts.secret_of, counts.count, strict=True)
        return Counter({(counts.cells[cell], counts.secrets[secret]): int(n) for cell, secret, n in triples})
    assert "\n" not in said
    return None


def labelled(rows):
    """The same by hand."""
    text = [tuple(None if value is None else str(value) for value in row) for row in rows]
    return Counter(((age, town), (ill,)) for age, town, ill in text)


def shape(counts):
    """How rows fall into cells and secrets, whatever these are called."""
    cells, secrets = {}, {}
    for (cell, secret), count in counts.items():
        cells.setdefault(cell, []).append(count)
        secrets.setdefault(secret, []).append(count)
    return tuple(sorted(sorted(part) for part in parts.values()) for parts in (cells, secrets))


def fuzz_csv(random, folder):
    """CSV, also compressed: compared by shape, since a column of numbers drops their spelling."""
    rows = people(random)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=random.choice(["\n", "\r\n"]))
    writer.writerow(_COLUMNS)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    data = text.getvalue().encode()
    packed, hurt = random.random() < 0.3, random.random() < 0.7
    path = folder / ("people.csv.gz" if packed else "people.csv")
    data = gzip.compress(data) if packed else data
    path.write_bytes(damaged(random, data) if hurt else data)
    found = counted(path)
    if not hurt:
        assert found is not None
    expected = _read_csv(path, packed)
    if found is not None and expected is not None:
        assert shape(found) == shape(expected)


def _read_csv(path, packed):
    """What Python's reader makes of a file; None where the two read differently by design.

    Those are: lines of other lengths, empty lines, empty fields in quotes, mixed line ends.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        text = data.decode()
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, EOFError, ValueError, csv.Error, gzip.zlib.error):
        return None
    header = rows[0] if rows else []
    plain = "\r" not in text.replace("\r\n", "") and "\0" not in text and not _EMPTY_IN_QUOTES.search(text)
    if not plain or {len(row) for row in rows} != {len(header)} or not set(_COLUMNS) <= set(header):
        return None
    places = [header.index(name) for name in _COLUMNS]
    return labelled([[row[place] or None for place in places] for row in rows[1:]])


def fuzz_parquet(random, folder):
    """Parquet, against PyArrow."""
    rows = people(random)
    path = folder / "people.parquet"
    types = zip(zip(*rows, strict=True), (pa.int64(), pa.string(), pa.string()), strict=True)
    table = pa.table([pa.array(column, kind) for column, kind in types], names=_COLUMNS)
    hurt = random.random() < 0.7
    pyarrow.parquet.write_table(
        table,
        path,
        row_group_size=random.choice([3, 1000]),
        use_dictionary=random.random() < 0.5,
        compression=random.choice(["none", "snappy", "zstd"]),
        write_statistics=not hurt,
    )
    if not hurt:
        assert counted(path) == labelled(rows)
        return
    path.write_bytes(damaged(random, path.read_bytes()))
    found, expected = counted(path), _read_parquet(path)
    if found is not None and expected is not None:
        assert found == labelled(expected)


def _read_parquet(path):
    """What PyArrow reads; None where it refuses the file, since DuckDB checks less of a page than it does."""
    try:
        found = pyarrow.parquet.read_table(path).to_pylist()
    except (pa.ArrowException, OSError, ValueError):
        return None
    return [tuple(row[name] for name in _COLUMNS) for row in found]


def fuzz_duckdb(random, folder):
    """A DuckDB file has checksums: what is not refused is what was written."""
    rows = people(random)
    path = folder / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people (age BIGINT, town VARCHAR, ill VARCHAR)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    hurt = random.random() < 0.7
    if hurt:
        path.write_bytes(damaged(random, path.read_bytes()))
    found = counted(path)
    assert found == labelled(rows) or (hurt and found is None)


def fuzz_sqlite(random, folder):
    """SQLite, against Python's module; a file has no checksums, but both read the same bytes."""
    rows = people(random)
    path = folder / "people.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (age INTEGER, town TEXT, ill TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
    if random.random() < 0.3:
        assert counted(path) == labelled(rows)
        return
    path.write_bytes(damaged(random, path.read_bytes()))
    found = counted(path)
    if found is not None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            assert found == labelled(connection.execute("SELECT age, town, ill FROM people").fetchall())
