"""Files of SPSS, Stata and SAS: the same counts as the CSV file, the codes they store, and nothing of a cut file."""

import csv
import datetime as dt
import struct
from collections import Counter

import pandas as pd
import pytest

pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'tightlip[statistics]'")

from sas_writer import write_sas7bdat  # noqa: E402
from tightlip.errors import InvalidInput  # noqa: E402
from tightlip.table.counts import count_cells  # noqa: E402
from tightlip.table.policy import Policy  # noqa: E402
from tightlip.table.source import open_table  # noqa: E402

NAMES = ["age", "weight", "job", "born", "ill"]
_DAY = dt.date(1960, 1, 1)
ROWS = [
    (
        [20, 31, -1, None][place % 4],
        [0.1, 2.5, 0.30000000000000004][place % 3],
        ["nurse", "Nurse", "O'Brien", None][place * 7 % 4],
        dt.date(1959, 12, 30) + dt.timedelta(days=place % 5),
        place * place % 3,
    )
    for place in range(60)
]


def frame():
    return pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in _columns()}).astype(
        {"age": float, "weight": float, "ill": float}
    )


def _columns():
    return zip(NAMES, zip(*ROWS, strict=True), strict=True)


def _write_sas(path):
    rows = [(age, weight, job or "", (born - _DAY).days, ill) for age, weight, job, born, ill in ROWS]
    return write_sas7bdat(path, zip(NAMES, [None, None, 8, "DATE9.", None], strict=True), rows)


WRITERS = {
    "people.sav": lambda path: pyreadstat.write_sav(frame(), path),
    "packed.sav": lambda path: pyreadstat.write_sav(frame(), path, row_compress=True),
    "people.zsav": lambda path: pyreadstat.write_sav(frame(), path, compress=True),
    "people.dta": lambda path: pyreadstat.write_dta(frame(), path),
    "stata13.dta": lambda path: pyreadstat.write_dta(frame(), path, version=13),
    "stata10.dta": lambda path: pyreadstat.write_dta(frame(), path, version=10),
    "people.xpt": lambda path: pyreadstat.write_xport(frame(), path, file_format_version=8),
    "five.xpt": lambda path: pyreadstat.write_xport(frame(), path, file_format_version=5),
    "people.sas7bdat": _write_sas,
}


@pytest.fixture(params=WRITERS)
def file(request, tmp_path):
    path = tmp_path / request.param
    WRITERS[request.param](path)
    return path


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(
            [NAMES, *(["" if value is None else value for value in row] for row in ROWS)]
        )
    return path


def counted(path, release=("age", "weight", "job", "born"), secret="ill"):
    with open_table(path) as table:
        counts = count_cells(table, Policy(secret, list(release)))
    triples = zip(counts.cell_of, counts.secret_of, counts.count, strict=True)
    return Counter({(counts.cells[cell], counts.secrets[secret]): int(n) for cell, secret, n in triples})


def counted_or_refused(path):
    try:
        return counted(path)
    except InvalidInput:
        return None


def refused(path, *used):
    with pytest.raises(InvalidInput) as caught, open_table(path) as table:
        table.plain_columns(used)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_counts_are_those_of_the_same_table_as_csv(file, plain):
    assert counted(file) == counted(plain)
    with open_table(file) as table, open_table(plain) as other:
        assert table.columns == other.columns
        assert table.rows() == 60


def test_rows_are_in_the_order_of_the_file(file):
    with open_table(file) as table:
        found = table.fetch(
            table.expression.order_by(table.ordered_by).select(table.physical["age"], table.physical["born"])
        )
        assert [(row[0], row[3]) for row in ROWS] == [tuple(row.values()) for row in found.to_pylist()]


@pytest.fixture(params=[name for name in WRITERS if not name.endswith(".xpt")])
def counting(request, tmp_path):
    """A file that says how many rows it has, or where it ends."""
    path = tmp_path / request.param
    WRITERS[request.param](path)
    return path


def cuts(data, last=40):
    return sorted({*range(1, len(data), max(1, len(data) // 60)), *range(len(data) - last, len(data))})


def test_no_part_of_a_file_is_read(counting):
    data, whole = counting.read_bytes(), counted(counting)
    for cut in cuts(data):
        counting.write_bytes(data[:cut])
        assert counted_or_refused(counting) in (None, whole), (
            cut
        )  # what is lost may be labels that nobody reads


def test_no_part_of_a_row_of_a_transport_file_is_read(tmp_path):
    path = tmp_path / "people.xpt"
    for version in (5, 8):
        pyreadstat.write_xport(frame(), path, file_format_version=version)
        data = path.read_bytes()
        start, width = data.index(b"HEADER RECORD*******OBS") + 80, 8 * 4 + 5
        for cut in cuts(data, last=100):
            path.write_bytes(data[:cut])
            rows = (cut - start) // width
            if (
                version == 5
                and cut >= start
                and cut % 80 == 0
                and data[start + rows * width : cut].strip() == b""
            ):
                continue  # it ends between two rows: no reader can tell
            assert refused(path, "age"), cut


def test_a_transport_file_that_ends_between_two_rows_is_whole_as_a_csv_file_is(tmp_path):
    path = tmp_path / "people.xpt"
    table = pd.DataFrame({"a": [float(place) for place in range(40)], "b": [1.0] * 40})
    pyreadstat.write_xport(table, path, file_format_version=5)
    data = path.read_bytes()
    path.write_bytes(data[:-80])
    with open_table(path) as opened:
        assert opened.rows() == 35
    pyreadstat.write_xport(table, path, file_format_version=8)
    path.write_bytes(path.read_bytes()[:-80])
    assert "no whole SAS transport file" in refused(path, "a")


def test_blanks_that_may_be_rows_are_refused(tmp_path):
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(pd.DataFrame({"a": ["x", "y", ""]}), path, file_format_version=5)
    assert "blanks at its end may be rows" in refused(path, "a")


def test_several_tables_in_a_transport_file_are_refused(tmp_path):
    path = tmp_path / "people.xpt"
    pyreadstat.write_xport(frame(), path, file_format_version=5)
    data = path.read_bytes()
    path.write_bytes(data + data[240:])
    assert "must hold one table, got several" in refused(path, "age")


def test_an_spss_file_that_does_not_count_its_rows_is_refused(tmp_path):
    path = tmp_path / "people.sav"
    pyreadstat.write_sav(frame(), path)
    data = bytearray(path.read_bytes())
    assert struct.unpack("<i", data[80:84]) == (60,)
    data[80:84] = struct.pack("<i", -1)
    path.write_bytes(data)
    assert "does not say how many rows it has" in refused(path, "age")


def test_codes_are_read_and_not_their_labels(tmp_path):
    table = pd.DataFrame({"sex": [1.0, 2.0, 3.0, 1.0], "ill": ["yes", "no", "no", "no"]})
    labels = {"sex": {1.0: "f", 2.0: "m", 3.0: "m"}}
    pyreadstat.write_sav(table, tmp_path / "a.sav", variable_value_labels=labels)
    pyreadstat.write_dta(
        table.astype({"sex": "int32"}),
        tmp_path / "a.dta",
        variable_value_labels={"sex": {1: "f", 2: "m", 3: "m"}},
    )
    for path in (tmp_path / "a.sav", tmp_path / "a.dta"):
        with open_table(path) as opened:
            assert opened.labelled == ("sex",)
            assert opened.columns["sex"] == "integer"
        assert {cell for cell, _ in counted(path, ["sex"])} == {("1",), ("2",), ("3",)}


def test_a_declared_missing_value_of_spss_is_a_value(tmp_path):
    path = tmp_path / "a.sav"
    table = pd.DataFrame({"x": [1.0, -99.0, None, -98.0], "t": ["a", "NA", "", "a"], "ill": [1.0, 2, 1, 2]})
    pyreadstat.write_sav(table, path, missing_ranges={"x": [{"lo": -99, "hi": -98}], "t": ["NA"]})
    found = {cell for cell, _ in counted(path, ["x", "t"])}
    assert found == {("1", "a"), ("-99", "NA"), (None, None), ("-98", "a")}


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ([1, "a", None, 2], "(., .a)"),
        ([1, "a", "b", 2], "(.a, .b)"),
        ([None, "a", None, "z"], "(., .a, .z)"),
    ],
)
def test_several_kinds_of_missing_are_not_merged(tmp_path, values, kinds):
    path = tmp_path / "a.dta"
    tags = sorted({value for value in values if isinstance(value, str)})
    table = pd.DataFrame({"x": pd.Series(values, dtype=object), "ill": [1, 2, 1, 2]})
    pyreadstat.write_dta(table, path, missing_user_values={"x": tags})
    assert f"missing values of several kinds {kinds}" in refused(path, "x")
    with open_table(path) as opened:  # which stands in nobody's way who does not use it
        assert opened.plain_columns(["ill"])


def test_one_kind_of_missing_is_missing(tmp_path):
    path = tmp_path / "a.dta"
    table = pd.DataFrame({"x": pd.Series([1, "a", "a", 2], dtype=object), "ill": [1, 2, 1, 2]})
    pyreadstat.write_dta(table, path, missing_user_values={"x": ["a"]})
    assert {cell for cell, _ in counted(path, ["x"])} == {("1",), ("2",), (None,)}


def test_kinds_of_missing_of_sas_are_not_merged(tmp_path):
    rows = [(1, 1, 1), (b"A", b"A", 2), (None, b"A", 1), (2, 2, 2)]
    path = write_sas7bdat(tmp_path / "a.sas7bdat", [("x", None), ("y", None), ("ill", None)], rows)
    assert "missing values of several kinds (., .a)" in refused(path, "x")
    assert {cell for cell, _ in counted(path, ["y"])} == {("1",), ("2",), (None,)}


def test_kinds_of_missing_in_a_transport_file_are_not_merged(tmp_path):
    path = tmp_path / "a.xpt"
    table = pd.DataFrame({"x": [1.0, None, None, 0.0], "y": [1.0, None, None, 2.0], "ill": [1.0, 2, 1, 2]})
    pyreadstat.write_xport(table, path, file_format_version=5)
    data = bytearray(path.read_bytes())
    start = data.index(b"HEADER RECORD*******OBS") + 80
    for place in (24, 32, 56):  # x of the second row, and y of the second and the third
        assert data[start + place : start + place + 8] == b".\0\0\0\0\0\0\0"
        data[start + place] = ord("B")
    path.write_bytes(data)
    assert "missing values of several kinds (., .b)" in refused(path, "x")
    assert {cell for cell, _ in counted(path, ["y"])} == {("1",), ("2",), (None,)}


def test_dates_are_whole_days_and_times_are_refused(tmp_path):
    path = tmp_path / "a.sav"
    table = pd.DataFrame({"d": [13166064000.0, 13166064000.5], "t": [1.0, 2.0], "e": [13166064000.0, None]})
    pyreadstat.write_sav(table, path, variable_format={"d": "DATE11", "t": "DATETIME20", "e": "ADATE10"})
    assert "dates with a time of day (first in row 2)" in refused(path, "d")
    assert "dates with times (DATETIME20)" in refused(path, "t")
    with open_table(path) as opened:
        assert opened.columns["e"] == "date"
        assert opened.fetch(opened.expression)["c2"].to_pylist() == [dt.date(2000, 1, 1), None]


@pytest.mark.parametrize("form", ["%tc", "%tm", "%tq"])
def test_other_units_of_stata_are_refused(tmp_path, form):
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(pd.DataFrame({"d": [480.0, 481.0]}), path, variable_format={"d": form})
    assert f"dates with times ({form})" in refused(path, "d")


def test_a_day_beyond_the_calendar_is_refused(tmp_path):
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(pd.DataFrame({"d": [86400.0 * 10**7]}), path, variable_format={"d": "DATE11"})
    assert "dates before the year 1 or after 9999" in refused(path, "d")


def test_whole_numbers_are_integers_and_others_stay_as_they_are(tmp_path):
    path = tmp_path / "a.sav"
    table = pd.DataFrame(
        {"code": [1.0, 2.0], "large": [2.0**53, 2.0**60], "zero": [0.0, -0.0], "share": [1.0, 0.5]}
    )
    pyreadstat.write_sav(table, path)
    with open_table(path) as opened:
        kinds = opened.columns
        opened.plain_columns(["zero"])
        with pytest.raises(InvalidInput, match="0 and −0"):
            opened.require_one_spelling(["zero"])
    assert kinds == {"code": "integer", "large": "real", "zero": "real", "share": "real"}


@pytest.mark.parametrize("name", ["people.sav", "people.zsav", "people.dta"])
def test_texts_are_unicode(tmp_path, name):
    path = tmp_path / name
    write = pyreadstat.write_dta if name.endswith("dta") else pyreadstat.write_sav
    write(pd.DataFrame({"t": ["Köln", "\u4e16\u754c", "e\u0301"], "ill": [1, 2, 1]}), path)
    assert {cell for cell, _ in counted(path, ["t"])} == {("Köln",), ("\u4e16\u754c",), ("e\u0301",)}


def test_texts_of_stata_keep_their_blanks(tmp_path):
    path = tmp_path / "a.dta"
    pyreadstat.write_dta(pd.DataFrame({"t": ["a", "a ", "A"], "ill": [1, 2, 1]}), path)
    assert {cell for cell, _ in counted(path, ["t"])} == {("a",), ("a ",), ("A",)}


def test_a_portable_file_is_refused(tmp_path):
    path = tmp_path / "a.por"
    pyreadstat.write_por(pd.DataFrame({"X": [1.0]}), path)
    assert "got a .por file; save it as .sav" in refused(path)


def test_a_file_with_a_password_is_refused(tmp_path):
    path = tmp_path / "a.sav"
    path.write_bytes(b"\x1c" + bytes(7) + b"ENCRYPTEDSAV" + bytes(100))
    assert "protected by a password; save it without one" in refused(path)


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "a.sas7bdat", "a.xpt", "a.xlsx", "a.xls"])
def test_a_name_that_lies_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text("age,ill\n1,2\n")
    assert "got none of these" in refused(path)


def test_a_table_is_no_sheet(file):
    with pytest.raises(InvalidInput, match="is for databases and workbooks"):
        open_table(file, table="x")


def test_a_missing_reader_is_told_with_the_line_that_installs_it(file, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    assert "needs pyreadstat, which is not installed; run: pip install 'tightlip[statistics]'" in refused(
        file
    )
