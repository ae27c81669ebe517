"""Excel workbooks: the same counts as the CSV file, every cell accounted for, and nothing of a damaged file."""

import csv
import datetime as dt
import io
import random
import re
import sys
import zipfile
from collections import Counter

import pytest

openpyxl = pytest.importorskip("openpyxl", reason="pip install 'tightlip[test]'")
xlsxwriter = pytest.importorskip("xlsxwriter", reason="pip install 'tightlip[test]'")
xlwt = pytest.importorskip("xlwt", reason="pip install 'tightlip[test]'")

from tightlip.errors import InvalidInput  # noqa: E402
from tightlip.table.counts import count_cells  # noqa: E402
from tightlip.table.policy import Policy  # noqa: E402
from tightlip.table.source import open_table  # noqa: E402

NAMES = ["age", "weight", "zip", "born", "member", "ill"]
ROWS = [
    (
        [20, 31, -1, None][place % 4],
        [0.1, 2.5, 1e-7][place % 3],
        ["01234", "Köln", " a", None, "=1+1", "TRUE"][place * 7 % 6],
        dt.date(1904, 2, 28) + dt.timedelta(days=place % 5),
        place % 2 == 0,
        place * place % 3,
    )
    for place in range(60)
]


def write_xlsx(path, rows=(NAMES, *ROWS), change=None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
        for cell in book.active[book.active.max_row]:
            if isinstance(cell.value, str) and cell.value.startswith("=1"):
                cell.data_type = "s"  # a text, not a formula
    if change is not None:
        change(book)
    book.save(path)
    return path


def write_xls(path, rows=(NAMES, *ROWS), change=None):
    book = xlwt.Workbook()
    sheet, dates = book.add_sheet("Sheet"), xlwt.easyxf(num_format_str="yyyy-mm-dd")
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            if value is not None:
                style = [dates] if isinstance(value, dt.date) else []
                sheet.write(number, column, value, *style)
    if change is not None:
        change(book)
    book.save(str(path))
    return path


WRITERS = {"people.xlsx": write_xlsx, "people.xls": write_xls}


@pytest.fixture(params=WRITERS)
def file(request, tmp_path):
    return WRITERS[request.param](tmp_path / request.param)


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(
            [NAMES, *(["" if value is None else value for value in row] for row in ROWS)]
        )
    return path


def counted(path, release=("age", "weight", "zip", "born", "member"), table=None):
    with open_table(path, table=table) as opened:
        counts = count_cells(opened, Policy("ill", list(release)))
    triples = zip(counts.cell_of, counts.secret_of, counts.count, strict=True)
    return Counter({(counts.cells[cell], counts.secrets[secret]): int(n) for cell, secret, n in triples})


def refused(path, *used, table=None):
    with pytest.raises(InvalidInput) as caught, open_table(path, table=table) as opened:
        opened.plain_columns(used)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kinds(path):
    with open_table(path) as opened:
        return opened.columns


def values(path, name):
    with open_table(path) as opened:
        return opened.fetch(opened.expression)[opened.physical[name]].to_pylist()


def test_counts_are_those_of_the_same_table_as_csv(file, plain):
    assert counted(file) == counted(plain)
    assert kinds(file) == kinds(plain)


def test_rows_are_in_the_order_of_the_file(file):
    with open_table(file) as table:
        ages = table.expression.order_by(table.ordered_by).select(table.physical["age"])
        assert table.fetch(ages)["c0"].to_pylist() == [row[0] for row in ROWS]


def counted_or_refused(path):
    try:
        return counted(path)
    except InvalidInput:
        return None


def test_no_part_of_a_file_is_read(file):
    data, whole = file.read_bytes(), counted(file)
    for cut in sorted({*range(1, len(data), len(data) // 50), *range(len(data) - 30, len(data))}):
        file.write_bytes(data[:cut])
        found = counted_or_refused(file)
        assert found is None or (file.suffix == ".xls" and found == whole), cut  # which ends with filling


def test_a_damaged_workbook_is_never_read_as_another(tmp_path):
    path = write_xlsx(tmp_path / "people.xlsx")
    data, whole = path.read_bytes(), counted(path)
    chance, found = random.Random(1), []
    for _ in range(300):
        hurt = bytearray(data)
        hurt[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(hurt)
        found.append(counted_or_refused(path))
    assert all(one in (None, whole) for one in found)  # dates of parts, and the like, change nothing
    assert found.count(None) > 150


def test_several_sheets_need_a_name(tmp_path):
    def more(book):
        book.create_sheet("other people").append(["ill", "zip"])
        for place in range(4):
            book["other people"].append([place % 2, "x"])

    path = write_xlsx(tmp_path / "people.xlsx", change=more)
    assert 'has the sheets "Sheet", "other people"; name one with the option table' in refused(path)
    assert counted(path, ["zip"], table="other people") == {(("x",), ("0",)): 2, (("x",), ("1",)): 2}
    assert sum(counted(path, table="Sheet").values()) == 60
    assert "sheet of" in refused(path, table="Other people")

    def more_xls(book):
        book.add_sheet("b")

    assert 'has the sheets "Sheet", "b"' in refused(write_xls(tmp_path / "people.xls", change=more_xls))


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
class TestWhatIsNoTable:
    def at(self, tmp_path, write):
        return tmp_path / next(name for name, one in WRITERS.items() if one is write)

    def test_text_and_numbers_in_one_column(self, tmp_path, write):
        path = write(self.at(tmp_path, write), [["zip", "ill"], ["01", 1], ["02", 2], [3, 1]])
        assert 'column "zip" has type text and numbers (rows 2 and 4)' in refused(path, "zip")
        with open_table(path) as opened:  # in nobody's way who does not use it
            assert opened.plain_columns(["ill"])

    def test_numbers_and_booleans_in_one_column(self, tmp_path, write):
        path = write(self.at(tmp_path, write), [["a"], [1], [True]])
        assert "numbers and booleans (rows 2 and 3)" in refused(path, "a")

    @pytest.mark.parametrize("names", [["a", None, "c"], ["a", "  ", "c"], ["a", True, "c"], ["a", "b"]])
    def test_a_column_without_a_name(self, tmp_path, write, names):
        path = write(self.at(tmp_path, write), [names, [1, 2, 3]])
        letter = "B" if len(names) == 3 else "C"
        assert f"must have a name in the first row of every column, got none in column {letter}" in refused(
            path
        )

    def test_a_name_twice(self, tmp_path, write):
        assert 'got "a" twice' in refused(write(self.at(tmp_path, write), [["a", "a"], [1, 2]]))

    def test_numbers_as_names(self, tmp_path, write):
        assert kinds(write(self.at(tmp_path, write), [[2020, 0.5], [1, 2]])) == {
            "2020": "integer",
            "0.5": "integer",
        }

    def test_an_empty_row_before_others(self, tmp_path, write):
        path = self.at(tmp_path, write)
        assert "no empty row before others, got row 3" in refused(write(path, [["a"], [1], [None], [2]]))
        assert "no empty row before others, got row 1" in refused(write(path, [[None], ["a"], [2]]))

    def test_no_cells(self, tmp_path, write):
        assert "got an empty sheet" in refused(write(self.at(tmp_path, write), []))

    def test_names_alone(self, tmp_path, write):
        with open_table(write(self.at(tmp_path, write), [["a", "b"]])) as opened:
            assert (opened.rows(), [*opened.physical]) == (0, ["a", "b"])

    def test_dates_with_times(self, tmp_path, write):
        path = self.at(tmp_path, write)
        rows = [["d", "e"], [dt.datetime(2020, 1, 1), 1], [dt.datetime(2020, 1, 1, 12), 1]]
        assert "dates with a time of day, or times (first in row 3)" in refused(write(path, rows), "d")
        assert values(write(path, rows[:2]), "d") == [dt.date(2020, 1, 1)]


def test_merged_cells_are_refused(tmp_path):
    def merge(book):
        book.active.merge_cells("B4:C5")

    assert 'no merged cells, got some at "B4"' in refused(write_xlsx(tmp_path / "a.xlsx", change=merge))

    def merge_xls(book):
        book.get_sheet(0).merge(3, 4, 7, 8)

    assert 'no merged cells, got some at "H4"' in refused(write_xls(tmp_path / "a.xls", change=merge_xls))


def test_errors_are_not_missing_values(tmp_path):
    def spoil(book):
        book.active["A3"] = "#N/A"

    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"], [1, 2], [1, 2]], spoil)
    assert 'the error "#N/A" (first in row 3)' in refused(path, "a")

    def spoil_xls(book):
        book.get_sheet(0).row(5).set_cell_error(0, "#DIV/0!")

    path = write_xls(tmp_path / "a.xls", [["a"], *[[1]] * 4], spoil_xls)
    assert "the error #DIV/0! (first in row 6)" in refused(path, "a")


def rewritten(path, member, change):
    """Change the text of one part of a workbook."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, change(text.decode()).encode() if name == member else text)
    path.write_bytes(out.getvalue())
    return path


SHEET = "xl/worksheets/sheet1.xml"


def test_formulas_have_the_values_that_are_stored(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"], ["=2+1", 2], ["=2+2", 2]])
    assert "formulas whose values are not stored" in refused(path, "a")
    assert "(first in row 2)" in refused(path, "a")
    with open_table(path) as opened:
        assert opened.plain_columns(["b"])

    def worked_out(text):
        assert "<v/>" in text or "<v />" in text or "<v></v>" in text
        return re.sub(r"<v ?/>|<v></v>", "<v>4</v>", text)

    assert values(rewritten(path, SHEET, worked_out), "a") == [4, 4]
    without = re.compile("<f>.*?</f><v>4</v>")
    assert "not stored" in refused(
        rewritten(path, SHEET, lambda text: without.sub("<f>1</f>", text, count=1)), "a"
    )


def test_empty_cells_and_empty_texts_are_not_merged(tmp_path):
    rows = [["a", "b"], ["x", 1], [None, 2], ["DEL", 3]]

    def emptied(text):
        return text.replace("DEL", "")

    path = rewritten(write_xlsx(tmp_path / "a.xlsx", rows), SHEET, emptied)
    assert "missing values of several kinds (empty cells, empty texts)" in refused(path, "a")
    rows[2][0] = "x"
    path = rewritten(write_xlsx(tmp_path / "a.xlsx", rows), SHEET, emptied)
    assert values(path, "a") == ["x", "x", None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('r="A2"', 'r="A3"'),  # a cell twice, or out of order: readers keep one of them
        ('r="B2"', 'r="A2"'),
        ('r="A2"', ""),
        ("<v>7</v>", "<v>seven</v>"),
        ("<v>7</v>", "<v>1e999x</v>"),
        ('t="inlineStr"', 't="strange"'),
    ],
)
def test_a_sheet_that_readers_would_take_differently_is_refused(tmp_path, old, new):
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b"], [7, "x"], [8, "y"]])

    def changed(text):
        assert old in text
        return text.replace(old, new, 1)

    assert "no whole Excel workbook" in refused(rewritten(path, SHEET, changed), "a", "b")


def test_a_date_is_a_whole_day_however_little_is_missing(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["d"], [dt.date(2020, 1, 1)]])
    assert values(path, "d") == [dt.date(2020, 1, 1)]
    path = rewritten(path, SHEET, lambda text: text.replace("<v>43831</v>", "<v>43831.000000001</v>"))
    assert "dates with a time of day, or times (first in row 2)" in refused(path, "d")


def test_days_since_1904(tmp_path):
    def since(book):
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904

    path = write_xlsx(tmp_path / "a.xlsx", [["d"], [dt.date(2020, 1, 1)]], since)
    assert values(path, "d") == [dt.date(2020, 1, 1)]


@pytest.mark.parametrize("text", ["a\nb", "  a  ", "tab\there", "<&>\"'", "e\u0301", "\u4e16"])
def test_texts_are_as_another_reader_finds_them(tmp_path, text):
    path = write_xlsx(tmp_path / "a.xlsx", [["a"], [text]])
    assert values(path, "a") == [openpyxl.load_workbook(path).active["A2"].value]


def test_what_another_program_writes(tmp_path, plain):
    """XlsxWriter shares texts, as Excel does, and stores the values of formulas."""
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path, {"default_date_format": "dd.mm.yyyy"}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate([NAMES, *ROWS]):
            for column, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(number, column, value)
                elif number and column == 5:
                    sheet.write_formula(number, column, "=MOD(A1, 3)", None, value)
                elif value is not None:
                    sheet.write(number, column, value)
        sheet.write_rich_string(0, 6, "no", book.add_format({"bold": True}), "te")
        sheet.write_formula(1, 6, '=""', None, "")
        sheet.set_row(3, None, None, {"hidden": True})
        sheet.write_blank(90, 9, None, book.add_format({"bold": True}))
    assert counted(path) == counted(plain)
    assert "formulas whose values are not stored" in kinds(path)["note"]  # an empty text, written as nothing
    assert {name: kind for name, kind in kinds(path).items() if name != "note"} == kinds(plain)


def test_large_whole_numbers(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a", "b", "c"], [1, 1, 7], [2, 2.5, 8]])

    def grown(text):
        return text.replace("<v>1</v>", "<v>9007199254740993</v>")

    path = rewritten(path, SHEET, grown)
    assert values(path, "a") == [2**53 + 1, 2]
    assert "whole numbers beyond 2^53 beside others" in refused(path, "b")


def test_minus_zero_is_not_zero(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", [["a"], [0], [7]])
    path = rewritten(path, SHEET, lambda text: text.replace("<v>7</v>", "<v>-0</v>"))
    with open_table(path) as opened:
        opened.plain_columns(["a"])
        with pytest.raises(InvalidInput, match="both 0 and −0"):
            opened.require_one_spelling(["a"])


def test_a_password_is_told(tmp_path):
    path = write_xls(tmp_path / "a.xlsx")  # a workbook with a password is a compound file too
    data = path.read_bytes()
    path.write_bytes(data.replace("Workbook".encode("utf-16-le"), "Encrypte".encode("utf-16-le")))
    assert "protected by a password" in refused(path)


@pytest.mark.parametrize("name", ["a.ods", "a.xlsb"])
def test_other_spreadsheets_are_refused(tmp_path, name):
    write_xlsx(tmp_path / "a.xlsx").rename(tmp_path / name)
    assert "save it as .xlsx" in refused(tmp_path / name)


def test_other_zip_files_are_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people.csv", "a,b\n1,2\n")
    assert "no whole Excel workbook" in refused(path)
    path = path.rename(tmp_path / "a.zip")
    assert "packed with zip" in refused(path)


def test_a_missing_reader_is_told_with_the_line_that_installs_it(file, monkeypatch):
    module = "xlrd" if file.suffix == ".xls" else "python_calamine"
    monkeypatch.setitem(sys.modules, module, None)
    assert f"needs {module}, which is not installed; run: pip install 'tightlip[office]'" in refused(file)
