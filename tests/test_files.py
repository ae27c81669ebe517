"""What killed and forked writers leave behind; the rest of the writer is tested in table/test_failure.py."""

import os
import signal
import subprocess
import sys

import pytest

from tightlip import files
from tightlip.errors import InvalidInput
from tightlip.files import prepare_output, require_apart, whole_file, write_whole

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such locks")

_WRITER = """
import sys, time
from pathlib import Path
from tightlip.files import whole_file
with whole_file(Path(sys.argv[1]), force=False, private=True) as written:
    written.write_text("rows")
    print("written", flush=True)
    time.sleep(600)
"""


def writer(path):
    """A process that has written half of a file."""
    process = subprocess.Popen([sys.executable, "-c", _WRITER, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "written\n"
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_writer_left_goes_when_the_folder_is_used_again(tmp_path):
    end(writer(tmp_path / "risks.csv"))
    assert len(names(tmp_path)) == 1
    prepare_output(tmp_path / "other.csv", force=False)
    assert names(tmp_path) == []


def test_what_a_living_writer_has_made_stays(tmp_path):
    process = writer(tmp_path / "risks.csv")
    try:
        left = names(tmp_path)
        write_whole(tmp_path / "other.csv", "text", force=False)
        assert names(tmp_path) == sorted([*left, "other.csv"])
    finally:
        end(process)


def test_what_others_named_alike_stays(tmp_path):
    (tmp_path / ".tightlip-notes.partial").mkdir()
    (tmp_path / f".tightlip-{'0' * 16}.partial").write_text("a file")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f".tightlip-{'1' * 16}.partial").symlink_to(tmp_path / "elsewhere")
    before = names(tmp_path)
    prepare_output(tmp_path / "out.csv", force=False)
    assert names(tmp_path) == before


@pytest.mark.parametrize("leaves", ["normally", "by an error"])
def test_a_forked_child_leaves_its_parents_file_alone(tmp_path, leaves):
    program = f"""
import os, sys
from pathlib import Path
from tightlip.files import whole_file
folder = Path(sys.argv[1])
child = None
try:
    with whole_file(folder / "out.csv", force=False) as written:
        written.write_text("half")
        child = os.fork()
        if child == 0 and {leaves == "by an error"}:
            sys.exit(0)
        if child:
            os.waitpid(child, 0)
            assert not (folder / "out.csv").exists() and written.read_text() == "half"
            written.write_text("whole")
finally:
    if child == 0:
        os._exit(0)
"""
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True)
    assert names(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "whole"


def test_a_folder_cleared_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    taken = []

    def clear_first(folder):
        if not taken:
            taken.append(folder)
            folder.rmdir()
        return lock(folder)

    lock = files._lock
    monkeypatch.setattr(files, "_lock", clear_first)
    write_whole(tmp_path / "out.csv", "text", force=False)
    assert names(tmp_path) == ["out.csv"]


def test_without_locks_nothing_is_cleared(tmp_path, monkeypatch):
    end(writer(tmp_path / "risks.csv"))
    left = names(tmp_path)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    write_whole(tmp_path / "out.csv", "text", force=False)
    assert names(tmp_path) == sorted([*left, "out.csv"])


def test_names_as_long_as_file_systems_allow(tmp_path):
    name = "ü" * 125 + ".csv"
    write_whole(tmp_path / name, "text", force=False)
    assert names(tmp_path) == [name]


def test_a_writer_asked_to_stop_leaves_nothing(tmp_path):
    def interrupted():
        with whole_file(tmp_path / "out.csv", force=False) as written:
            written.write_text("half")
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


def test_a_folder_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="there is no folder"):
        prepare_output(tmp_path / "file" / "out.csv", force=False)


def test_no_output_is_an_input_or_another_output(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    two.write_text("read")
    require_apart([one, None], {"the table": [two, None, "postgresql://host/two"]})
    with pytest.raises(
        InvalidInput, match="two is the table, which is read and would be lost; choose another"
    ):
        require_apart([one, two], {"the policy": [None], "the table": [str(two)]})
    with pytest.raises(InvalidInput, match="one is asked for twice"):
        require_apart([one, tmp_path / "." / "one"], {})
