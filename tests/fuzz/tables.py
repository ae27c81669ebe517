"""Table files, whole and damaged: refused, or counted as a plain reader of the same file counts."""

import gzip
import re
import sqlite3
import zlib
from collections import Counter
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet

from fuzz.damage import damaged
from fuzz.plain_csv import Refused, plain_rows, refuse_two_ways, written
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
# other fields that CSV files may have in place of ages
_FIELDS = [
    _AGES,
    ["1.5", "2", "-0.25", "1e3", None],
    ["1.1", "1.10", "2"],
    ["0", "-0", "0.5"],
    ["true", "false", None],
    ["TRUE", "true", "False"],
    ["2024-02-29", "2024-02-30", None],
    ["007", "7", " 7"],
    ["12345678901234567", "12345678901234568", "1.5"],
]
_NOTES = ["", "x", "it's", "a;b|c,d\te", 'say "no"', "\r", "ü\n"]
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# statistics in a Parquet footer: largest, smallest, how many are missing, and the first two again; of text not twice
_OF_NUMBERS = re.compile(
    rb"([<\x1c]\x18\x08)(.{8})(\x18\x08)(.{8})(\x16)([\0-\x7f])(\x28\x08)(.{8})(\x18\x08)(.{8})", re.S
)
_OF_TEXT = re.compile(rb"([<\x1c]\x36)([\0-\x7f])(\x28[\x01-\x7f])(.)", re.S)
_POLICY = Policy("ill", ["age", "town"])


def people(random, ages=_AGES):
    """Random rows; the secret has at least two values, as an audit needs."""
    rows = [
        (random.choice(ages), random.choice(_TOWNS), random.choice(["yes", "no", None]))
        for _ in range(random.randint(1, 40))
    ]
    return [*rows, (ages[0], "Bern", "yes"), (ages[0], "Bern", "no")]


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
    """CSV, also packed: refused where a plain reader of the rules refuses it, and only there."""
    rows = [
        (*row, random.choice(_NOTES))
        for row in people(random, random.choice([_AGES, random.choice(_FIELDS)]))
    ]
    data = written(random, [*_COLUMNS, "note"], rows)
    packed = random.random() < 0.3
    path = folder / ("people.csv.gz" if packed else "people.csv")
    if packed:
        half = random.randrange(len(data)) if random.random() < 0.2 else 0
        data = b"".join(gzip.compress(part) for part in (data[:half], data[half:]))
        data += random.choice([b"", b"", b"", bytes(3), b"more"])
    path.write_bytes(damaged(random, data) if random.random() < 0.35 else data)
    found = counted(path)
    try:
        expected, unsure = _read_csv(path.read_bytes(), packed)
    except Refused:
        assert found is None
        return
    if found is None:
        assert unsure
    else:
        assert shape(found) == shape(expected)
        assert called(found) == called(expected)


def _read_csv(data, packed):
    """What a file says by the rules, and whether it may be refused all the same."""
    try:
        text = (gzip.decompress(data) if packed else data).decode()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise Refused("cut, changed or no text") from error
    rows = plain_rows(text, _COLUMNS)
    columns = list(zip(*rows, strict=True))
    unsure = [refuse_two_ways(column) for column in columns]
    if not columns or len({text for text, _ in columns[-1]}) < 2:
        raise Refused("fewer than two secrets")
    return labelled([[text or None for text, _ in row] for row in rows]), any(unsure)


def called(counts):
    """What cells and secrets are called, but for the spelling of numbers and booleans."""
    return {(tuple(map(_spelling, cell)), _spelling(secret)) for cell, (secret,) in counts}


def _spelling(label):
    if label is not None and label.lower() in ("true", "false"):
        return label.lower()
    return float(label) if label is not None and _NUMBER.fullmatch(label) else label


def fuzz_parquet(random, folder):
    """Parquet, against PyArrow: lies about values change nothing, and what it refuses is refused."""
    rows = people(random)
    path = folder / "people.parquet"
    types = zip(zip(*rows, strict=True), (pa.int64(), pa.string(), pa.string()), strict=True)
    table = pa.table([pa.array(column, kind) for column, kind in types], names=_COLUMNS)
    pyarrow.parquet.write_table(
        table,
        path,
        row_group_size=random.choice([3, 1000]),
        use_dictionary=random.random() < 0.5,
        compression=random.choice(["none", "snappy", "zstd"]),
        data_page_version=random.choice(["1.0", "2.0"]),
        write_statistics=random.random() < 0.8,
        write_page_index=random.random() < 0.3,
    )
    if random.random() < 0.5:
        path.write_bytes(_lying(random, path.read_bytes()))
    if random.random() < 0.4:
        assert counted(path) == labelled(rows)
        return
    path.write_bytes(_damaged_parquet(random, path.read_bytes()))
    found, expected = counted(path), _read_parquet(path)
    assert found is None or (expected is not None and found == labelled(expected))


def _lying(random, data):
    """Other largest and smallest values and counts of missing ones in the footer's statistics, of numbers and texts."""

    def other(found):
        age = random.choice(_AGES[:-1]).to_bytes(8, "little", signed=True)
        lies = {8: age, 1: bytes([random.randrange(128)])}
        return b"".join(lies[len(part)] if place % 2 else part for place, part in enumerate(found.groups()))

    data, footer = _split(data)
    return data + _OF_TEXT.sub(other, _OF_NUMBERS.sub(other, footer))


def _damaged_parquet(random, data):
    """Damage anywhere, or in the footer alone, which keeps its length."""
    if random.random() < 0.5:
        return damaged(random, data)
    data, footer = _split(data)
    changed = bytearray(footer)
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(footer) - 8)
        changed[place] = random.choice([changed[place] ^ 1 << random.randrange(8), random.randrange(256)])
    return data + bytes(changed)


def _split(data):
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    return data[:start], data[start:]


def _read_parquet(path):
    """What PyArrow reads; None where it refuses the file."""
    try:
        table = pyarrow.parquet.read_table(path, columns=list(_COLUMNS))
        table.validate(full=True)
        return [tuple(row[name] for name in _COLUMNS) for row in table.to_pylist()]
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


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


def fuzz_workbook(random, folder):
    """A workbook's parts have checksums: what is not refused is what was written."""
    import xlsxwriter

    rows = people(random, [0, 1, -1, 30, 2**53, None])
    path = folder / "people.xlsx"
    with xlsxwriter.Workbook(path, {"strings_to_formulas": False}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([_COLUMNS, *rows]):
            for place, value in enumerate(row):
                sheet.write(number, place, value)
    hurt = random.random() < 0.7
    if hurt:
        path.write_bytes(damaged(random, path.read_bytes()))
    found = counted(path)
    wanted = None if any(set(row) == {None} for row in rows[:-2]) else labelled(rows)  # an empty row
    assert found == wanted or (hurt and found is None)


def fuzz_statistics(random, folder):
    """SPSS, Stata and SAS: whole files are what was written, and of a cut one no part is read."""
    import pandas as pd
    import pyreadstat

    rows = [
        (age, town and town.strip(" "), ill) for age, town, ill in people(random, [0, 1, -1, 30, 2**53, None])
    ]
    rows = [(age, town if town and town.isascii() else None, ill) for age, town, ill in rows]
    table = pd.DataFrame(
        {name: list(column) for name, column in zip(_COLUMNS, zip(*rows, strict=True), strict=True)}
    )
    table["age"] = table["age"].astype(float)
    name, write = random.choice(
        [
            ("people.sav", pyreadstat.write_sav),
            ("people.zsav", lambda table, path: pyreadstat.write_sav(table, path, compress=True)),
            ("people.dta", pyreadstat.write_dta),
            ("people.xpt", lambda table, path: pyreadstat.write_xport(table, path, file_format_version=5)),
        ]
    )
    path = folder / name
    write(table, path)
    if random.random() < 0.4:
        assert counted(path) == labelled(rows)
        return
    data = path.read_bytes()
    path.write_bytes(damaged(random, data))
    found = counted(path)
    cut = path.read_bytes() == data[: path.stat().st_size]
    # a transport file has no number of rows
    assert not cut or name == "people.xpt" or found in (None, labelled(rows))
