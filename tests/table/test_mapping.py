"""Mappings and hierarchies."""

import pyarrow as pa
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput, WrongType
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Keep, Prefix, Suppress, TopCode, plain_labels
from tightlip.table.source import open_table

pytestmark = IGNORED

TABLE = pa.table(
    {"job": ["nurse", "baker", None, "judge"], "ill": [1, 2, 1, 2], "size": [0.5, 1.5, 2.5, 3.5]}
)


def cells(recoding, column="job"):
    with open_table(TABLE) as table:
        return count_cells(table, Policy("ill", [Released(column, recoding)])).cells


def test_a_forgotten_value_is_refused():
    with pytest.raises(
        InvalidInput, match='column "job": mapping must have a group for every value, got none for some'
    ) as caught:
        cells(Mapping({"nurse": "care", "baker": "food"}))
    assert "judge" not in str(caught.value)


def test_groups_that_are_no_text(tmp_path):
    (tmp_path / "jobs.toml").write_text('level = [{nurse = [1]}, {care = "health"}]')
    with pytest.raises(WrongType, match="from text to text"):
        Mapping.from_file(tmp_path / "jobs.toml", level=2)


def test_names_and_files_beyond_all_reason(tmp_path):
    with pytest.raises(InvalidInput, match="path must be a name that a file can have"):
        Mapping.from_file(tmp_path / "a\0b.csv")
    for name, read in (("deep.toml", Mapping.from_file), ("plan.toml", Policy.from_toml)):
        (tmp_path / name).write_text("level = " + "[" * 100_000)
        with pytest.raises(InvalidInput, match="cannot be read"):
            read(tmp_path / name)


def test_prefixes_that_no_engine_could_count():
    with pytest.raises(InvalidInput, match="from 1 to 1000000000, got"):
        Prefix(10**20)


def test_a_group_called_as_the_rest_is_the_same_released_value():
    assert cells(Mapping({"nurse": "other"}, otherwise="other")) == [(None,), ("other",)]


def test_hierarchies_by_level(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(
        'level = [{nurse = "care", baker = "food", judge = "law"}, {care = "one", food = "two", law = "two"}]'
    )
    assert cells(Mapping.from_file(path)) == [(None,), ("care",), ("food",), ("law",)]
    assert cells(Mapping.from_file(path, level=2)) == [(None,), ("one",), ("two",)]
    with pytest.raises(InvalidInput, match="at least 3 tables"):
        Mapping.from_file(path, level=3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("jobs.csv", "job,group\nnurse,care\nnurse,food\n", 'gives "nurse" two groups'),
        ("jobs.csv", "job,group\nnurse\n", "line 2 must have a group at level 1, got 0 levels"),
        ("jobs.csv", "job,group\n", "at least one value"),
        ("jobs.csv", 'job,group\n"nurse,care\n', "cannot be read"),
        ("jobs.csv", b"job,group\n\xff,care\n", "cannot be read"),
        ("jobs.toml", "level = 3", "must have a list `level`"),
        ("jobs.toml", "level = [{a = 3}]", "from text to text"),
        ("jobs.toml", "level = ", "cannot be read"),
    ],
)
def test_mapping_files_that_are_none(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInput, match=message):
        Mapping.from_file(path)


def test_a_chain_with_a_missing_link(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text('level = [{a = "b"}, {c = "d"}]')
    with pytest.raises(InvalidInput, match='must map "b" at the next level'):
        Mapping.from_file(path, level=2)


@pytest.mark.parametrize("groups", [{}, [("a", "b")], {1: "b"}, {"a": None}])
def test_mappings_of_the_wrong_type(groups):
    with pytest.raises(WrongType):
        Mapping(groups)


def test_kinds_that_do_not_fit():
    with pytest.raises(InvalidInput, match="mapping is for columns of kind text, integer, boolean, date"):
        cells(Mapping({"0.5": "x"}, otherwise="y"), "size")
    with pytest.raises(InvalidInput, match="prefix is for"):
        cells(Prefix(1), "size")
    with pytest.raises(InvalidInput, match="top is for"):
        cells(TopCode(1), "job")
    with open_table(TABLE) as table, pytest.raises(InvalidInput, match=r'top must be whole for column "ill"'):
        count_cells(table, Policy("job", [Released("ill", TopCode(1.5))]))


JOBS = "job,group,sector\nnurse,care,health\nbaker,food,trade\njudge,law,trade\n"


def test_level_0_has_the_values_and_knows_what_is_above(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    mapping = Mapping.from_file(path, level=0, otherwise="rest")
    assert cells(mapping) == [(None,), ("baker",), ("judge",), ("nurse",)]
    assert [(higher.level, higher.otherwise) for higher in mapping.higher()] == [(1, "rest"), (2, "rest")]
    assert mapping.words() == 'as it is for 3 values (jobs.csv, level 0), others to "rest"'
    assert mapping.higher()[1].words() == 'mapped to 2 groups (jobs.csv, level 2), others to "rest"'
    assert mapping.higher()[1].higher() == []
    assert Mapping({"a": "b"}).higher() == []
    with pytest.raises(InvalidInput, match="mapping level must be a whole number of at least 0"):
        Mapping.from_file(path, level=-1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jobs.csv", "job,group,sector\nnurse,care,health\nbaker,food\n"),
        ("jobs.csv", "job,group,sector\nnurse,care,health\nnurse,care,state\n"),
        ("jobs.toml", 'level = [{nurse = "care", baker = "food"}, {care = "health"}]'),
        ("jobs.toml", 'level = [{nurse = "care"}, {care = 3}]'),
    ],
)
def test_a_level_that_does_not_group_every_value_is_not_climbed_to(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    assert Mapping.from_file(path).higher() == []
    with pytest.raises(InvalidInput):
        Mapping.from_file(path, level=2)


@pytest.mark.parametrize(
    "recoding", [Keep(), Suppress(), Prefix(2), Mapping({"nurse": "care"}, otherwise="")]
)
def test_values_in_python_are_released_as_the_engine_does(recoding):
    released = set(plain_labels(recoding, ["nurse", "baker", "judge"], "text"))
    assert released == {cell for (cell,) in cells(recoding) if cell is not None}
