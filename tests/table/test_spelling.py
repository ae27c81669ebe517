"""Numbers and booleans of a CSV file: what the file tells apart is not counted as one."""

import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, BottomCode, TopCode
from tightlip.table.source import open_table

pytestmark = IGNORED


def opened(folder, *values):
    path = folder / "people.csv"
    rows = [f"{value},{'yes' if place else 'no'}\n" for place, value in enumerate(values)]
    path.write_text("size,ill\n" + "".join(rows))
    return open_table(path)


@pytest.mark.parametrize(
    "values",
    [
        ("1.10", "1.1"),
        ("1.0", "1", "2.5"),
        ("-0", "0", "0.5"),
        ("1e5", "100000", "0.5"),
        ("TRUE", "true"),
        ('"a"', "a"),
        ('"7"', "7"),
        ('"2024-02-29"', "2024-02-29"),
        ("x", "", '""'),
    ],
)
def test_one_value_written_in_two_ways_is_refused_where_it_is_kept(tmp_path, values):
    with (
        opened(tmp_path, *values) as table,
        pytest.raises(
            InvalidInput,
            match=r'"size" writes one \w+ in several ways|"size" writes one value, .* both in double quotes',
        ),
    ):
        count_cells(table, Policy("ill", ["size"]))


def test_quotes_around_some_values_only_are_read(tmp_path):
    with opened(tmp_path, '"a,b"', "c", '"a,b"', '"d ""e"""', '""') as table:
        assert count_cells(table, Policy("ill", ["size"])).cells == [(None,), ("a,b",), ("c",), ('d "e"',)]


def test_values_below_a_top_are_kept_too(tmp_path):
    with opened(tmp_path, "1.10", "1.1", "2.5") as table:
        for recoding in (TopCode(2), BottomCode(1)):
            with pytest.raises(InvalidInput, match="in several ways"):
                count_cells(table, Policy("ill", [Released("size", recoding)]))


def test_it_is_no_matter_where_the_column_is_recoded(tmp_path):
    with opened(tmp_path, "1.10", "1.1", "2.5") as table:
        cells = count_cells(table, Policy("ill", [Released("size", Bins(width=1))])).cells
    assert cells == [("[1, 2)",), ("[2, 3)",)]


@pytest.mark.parametrize(
    "values",
    [
        ("0.12345678901234567891", "0.12345678901234567892"),
        ("1e-400", "0", "0.5"),
        ("4e-324", "5e-324", "0.5"),
        ("0.30000000000000004", "0.300000000000000041"),
    ],
)
def test_numbers_that_are_one_float_are_text(tmp_path, values):
    with opened(tmp_path, *values) as table:
        assert table.columns["size"] == "text"
        assert len(count_cells(table, Policy("ill", ["size"])).cells) == len(values)


@pytest.mark.parametrize(
    "values", [("0.30000000000000004", "0.1"), ("1.50", "2.25"), ("0.0", "-2.5e-10"), ("1e+20", "0.000001")]
)
def test_numbers_as_programs_write_them_are_numbers(tmp_path, values):
    with opened(tmp_path, *values) as table:
        assert table.columns["size"] == "real"
        assert len(count_cells(table, Policy("ill", ["size"])).cells) == len(values)
