"""One clear line, and nothing partial left behind."""

import os
import stat

import pytest

from tightlip.errors import InvalidInput, WrongType
from tightlip.files import whole_file
from tightlip.table.counts import count_cells
from tightlip.table.failure import engine_work
from tightlip.table.policy import Policy
from tightlip.table.source import open_table


def test_only_the_first_line_of_an_engine_is_shown_and_not_all_of_a_long_one():
    with pytest.raises(InvalidInput) as caught, engine_work("people.csv"):
        raise RuntimeError("x" * 1000 + "\nOriginal Line: a row of the table")
    assert str(caught.value).startswith("people.csv cannot be read: xxx")
    assert len(str(caught.value)) < 320
    assert "Original" not in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        "[CAST_INVALID_INPUT] The value 'O'TOKEN' of the type \"STRING\" cannot be cast",
        'invalid input syntax for type integer: "TOKEN"',
        "cannot read `TOKEN",
    ],
)
def test_what_an_engine_quotes_is_not_shown(message):
    with pytest.raises(InvalidInput) as caught, engine_work("t"):
        raise RuntimeError(message)
    assert "TOKEN" not in str(caught.value)
    assert message[:11] in str(caught.value)


def test_an_engine_that_says_nothing_is_named_by_its_error():
    with (
        pytest.raises(InvalidInput, match="t cannot be counted: KeyError; check"),
        engine_work("t", "counted"),
    ):
        raise KeyError


def test_our_own_errors_and_lack_of_memory_pass_unchanged():
    for error in (WrongType("ours"), MemoryError()):
        with pytest.raises(type(error)) as caught, engine_work("t"):
            raise error
        assert caught.value is error


def test_a_folder_half_written_is_removed(tmp_path):
    def fail():
        with whole_file(tmp_path / "out.parquet", force=False) as partial:
            partial.mkdir()
            (partial / "part-0").write_text("rows")
            raise InvalidInput("stopped")

    with pytest.raises(InvalidInput, match="stopped"):
        fail()
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with (
        pytest.raises(InvalidInput, match=r"out\.csv cannot be written: No such file"),
        whole_file(tmp_path / "out.csv", force=False),
    ):
        pass  # nothing was written, so nothing can take the name


def test_a_name_taken_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out.csv"

    def race():
        with whole_file(path, force=False) as partial:
            partial.write_text("ours")
            path.write_text("theirs")

    with pytest.raises(InvalidInput, match="exists already"):
        race()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "theirs"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("4,5", "line 3 must have 3 fields, got 2"),
        ("4,5,6,7", "line 3 must have 3 fields, got 4"),
        ('4,"5,6', "the field in double quotes on line 3 has no end"),
    ],
)
def test_a_line_of_another_length_is_named_and_not_shown(tmp_path, line, said):
    path = tmp_path / "people.csv"
    path.write_text(f"a,b,c\n1,2,3\n{line}\n6,7,8\n")
    with pytest.raises(InvalidInput) as caught:
        count_cells(open_table(path), Policy("a", ["b"]))
    assert str(caught.value).startswith(f"{path} cannot be read: {said}; ")
    assert "Error" not in str(caught.value)
    assert line not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
@pytest.mark.parametrize("folder", [False, True])
def test_what_is_private_is_closed_to_others_from_the_start(tmp_path, folder):
    path = tmp_path / "out"
    with whole_file(path, force=False, private=True) as partial:
        assert stat.S_IMODE(partial.parent.stat().st_mode) == 0o700
        assert partial.parent.parent == tmp_path
        if folder:
            partial.mkdir()
            (partial / "part").write_text("rows")
        else:
            partial.write_text("rows")
    assert stat.S_IMODE(path.stat().st_mode) == (0o700 if folder else 0o600)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
def test_what_is_not_private_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with whole_file(tmp_path / "out", force=False) as partial:
            partial.write_text("words")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_nothing_private_is_left_behind(tmp_path):
    def fail():
        with whole_file(tmp_path / "out.csv", force=False, private=True) as partial:
            partial.write_text("rows")
            raise InvalidInput("stopped")

    with pytest.raises(InvalidInput, match="stopped"):
        fail()
    assert not list(tmp_path.iterdir())
