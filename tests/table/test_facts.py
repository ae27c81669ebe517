"""What is in the columns of a table, on several engines, against plain Python."""

import pytest

from tightlip.table.facts import column_facts, common_values
from tightlip.table.source import open_table

AGES = [31, 35, None, 31, 47, 31]
NAMES = ["a", "b", "c", "a", "<b>", "a"]


@pytest.fixture(params=["csv", "frame"])
def table(request, tmp_path):
    import pyarrow

    rows = pyarrow.table({"age": AGES, "name": NAMES})
    if request.param == "frame":
        return open_table(rows)
    path = tmp_path / "people.csv"
    lines = [f'{"" if age is None else age},"{name}"' for age, name in zip(AGES, NAMES, strict=True)]
    path.write_text("\n".join(["age,name", *lines, ""]))
    return open_table(path)


def test_kinds_and_numbers_of_values(table):
    found = {one.column: (one.kind, one.distinct) for one in column_facts(table)}
    assert found == {"age": ("integer", 3), "name": ("text", 4)}


def test_the_values_that_most_rows_have(table):
    assert common_values(table, "age", 1) == [("31", 3)]
    assert dict(common_values(table, "age")) == {"31": 3, "35": 1, "47": 1, "(missing)": 1}


def test_many_columns_are_read_in_parts(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{place}" for place in range(20)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 20) + "\n")
    with open_table(path) as table:
        assert [one.column for one in column_facts(table)] == names
