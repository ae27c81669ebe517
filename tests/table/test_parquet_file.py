"""Parquet files that lie: counted as Arrow reads them, or refused."""

import random
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy
from tightlip.table.source import open_table

pytestmark = IGNORED

TWO_READERS = "two readers, DuckDB and Arrow"


def written(path, values, **options):
    """A file of a released column of these values and of a secret one."""
    table = pa.table({"age": values, "ill": [f"s{place % 2}" for place in range(len(values))]})
    parquet.write_table(table, path, **{"use_dictionary": False, "compression": "none"} | options)
    return path


def footer_of(path) -> tuple[bytes, bytes]:
    """The bytes before the footer, and the footer."""
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:start], content[start:]


def lie(path, truth: bytes, lies: bytes):
    """Change the footer, which keeps its length."""
    data, footer = footer_of(path)
    assert truth in footer
    path.write_bytes(data + footer.replace(truth, lies))
    return path


def counted(path) -> Counter:
    with open_table(path) as table:
        counts = count_cells(table, Policy("ill", ["age"]))
    triples = zip(counts.cell_of, counts.secret_of, counts.count, strict=True)
    return Counter({(*counts.cells[c], *counts.secrets[s]): int(n) for c, s, n in triples})


def read_by_arrow(path) -> Counter:
    table = parquet.read_table(path)
    table.validate(full=True)
    rows = zip(table["age"].to_pylist(), table["ill"].to_pylist(), strict=True)
    return Counter((None if age is None else str(age), ill) for age, ill in rows)


def whole(value: int) -> bytes:
    return value.to_bytes(8, "little")


@pytest.mark.parametrize(
    ("values", "truth", "lies"),
    [
        ([0, 256], whole(256), whole(1)),  # the largest value
        ([-256, 0], (-256).to_bytes(8, "little", signed=True), whole(0)),  # the smallest
        ([None, 0], whole(0) + b"\x16\x02", whole(0) + b"\x16\x00"),  # how many are missing
        ([None, 7, 7], whole(7) + b"\x16\x02", whole(7) + b"\x16\x06"),
        (["a", "zzz"], b"\x03zzz", b"\x03aaa"),
    ],
    ids=["largest", "smallest", "none missing", "all missing", "last text"],
)
def test_statistics_are_not_believed(tmp_path, values, truth, lies):
    path = written(tmp_path / "people.parquet", values)
    expected = read_by_arrow(path)
    assert counted(lie(path, truth, lies)) == read_by_arrow(path) == expected
    assert len(expected) == len(set(zip(values, range(len(values)), strict=True)))


def test_statistics_are_not_believed_on_a_connection_from_outside(tmp_path):
    import ibis

    path = lie(written(tmp_path / "people.parquet", [0, 256]), whole(256), whole(1))
    backend = ibis.duckdb.connect()
    backend.con.execute("SET disabled_optimizers = 'top_n'")
    assert counted(backend.read_parquet(path)) == read_by_arrow(path)
    kept = backend.con.execute("SELECT current_setting('disabled_optimizers')").fetchone()[0]
    assert "top_n" in kept.split(",")
    backend.disconnect()


def refused(path, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        counted(path)
    assert "\n" not in str(caught.value)


def test_decimals_larger_than_their_digits(tmp_path):
    """Which DuckDB cuts to 16 bits."""
    values = pa.array([Decimal("0.00"), Decimal("0.01")], pa.decimal128(4, 2))
    path = written(tmp_path / "people.parquet", values, store_decimal_as_integer=True, write_statistics=False)
    content = path.read_bytes()
    page = bytes(4) + (1).to_bytes(4, "little")
    assert content.count(page) == 1
    path.write_bytes(content.replace(page, bytes(4) + (65536).to_bytes(4, "little")))
    assert parquet.read_table(path)["age"].to_pylist() == [Decimal(0), Decimal("655.36")]
    refused(path, TWO_READERS)


def test_two_declarations_of_one_type(tmp_path):
    """The older one says 8 bits and is believed by DuckDB, the newer one says 16 and is believed by Arrow."""
    path = written(tmp_path / "people.parquet", pa.array([0, 256], pa.int16()))
    lie(path, b"\x25\x20", b"\x25\x1e")
    assert parquet.read_table(path)["age"].to_pylist() == [0, 256]
    refused(path, TWO_READERS)


def agrees(path) -> bool:
    """Whether a file is counted as Arrow reads it; False where it is refused."""
    try:
        found = counted(path)
    except InvalidInput:
        return False
    assert found == read_by_arrow(path)
    return True


def test_row_counts_that_do_not_fit(tmp_path):
    """Two groups of 4 and 2 rows: one byte says that there are 3 in the first, or in a column of it."""
    path = written(tmp_path / "people.parquet", [1, 2, 3, 4, 5, 6], row_group_size=4)
    data, footer = footer_of(path)
    said = []
    for place in range(len(footer) - 8):
        if footer[place] == 8:
            path.write_bytes(data + footer[:place] + b"\x06" + footer[place + 1 :])
            try:
                assert counted(path) == read_by_arrow(path)
            except InvalidInput as error:
                said.append(str(error))
    assert sum(TWO_READERS in message for message in said) == 3  # the group's, and one of each column


def test_footers_with_any_byte_changed(tmp_path):
    values = [0, 256, None, 3, 3, -7, 70_000, 0]
    path = written(tmp_path / "people.parquet", values, row_group_size=5, use_dictionary=["ill"])
    data, footer = footer_of(path)
    random_ = random.Random(13)
    found = []
    for _ in range(60):
        place = random_.randrange(len(footer) - 8)
        path.write_bytes(data + footer[:place] + bytes([random_.randrange(256)]) + footer[place + 1 :])
        found.append(agrees(path))
    assert {True, False} == set(found)


def test_a_file_that_is_replaced_is_not_counted(tmp_path):
    path = written(tmp_path / "people.parquet", [1, 2, 3])
    with open_table(path) as table:
        assert table.columns["age"] == "integer"
        written(path, [4, 4, 4])
        with pytest.raises(InvalidInput, match="has changed since it was opened"):
            count_cells(table, Policy("ill", ["age"]))


def test_honest_files_of_every_kind_are_read(tmp_path):
    import datetime as dt

    nan = float("nan")
    columns = {
        "dictionary": pa.array(["a", None, "b"]).dictionary_encode(),
        "large": pa.array(["a", None, "b"], pa.large_string()),
        "float": pa.array([0.1, nan, 2], pa.float32()),
        "double": pa.array([0.1, nan, nan]),
        "small": pa.array([1, None, 255], pa.uint8()),
        "flag": pa.array([True, None, False]),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(9, 2)),
        "a.b": pa.array([1, 2, 3]),
    }
    path = tmp_path / "people.parquet"
    for version in ("1.0", "2.0"):
        parquet.write_table(
            pa.table(columns | {"ill": ["yes", "no", "no"]}),
            path,
            data_page_version=version,
            row_group_size=2,
        )
        for name in columns:
            with open_table(path) as table:
                assert count_cells(table, Policy("ill", [name])).total == 3


def test_a_column_of_nothing(tmp_path):
    """What PyArrow writes where every value is missing has a type of its own."""
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"age": pa.nulls(4), "ill": ["yes", "no"] * 2}), path)
    with open_table(path) as table:
        assert count_cells(table, Policy("ill", ["age"])).cells == [(None,)]
