"""One clear line, and nothing partial left behind."""

import pytest

from tightlip.errors import InvalidInput, WrongType
from tightlip.table.failure import engine_work
from tightlip.table.whole_file import whole_file


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
