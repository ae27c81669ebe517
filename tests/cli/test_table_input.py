"""Tables from standard input, packed files and statistics programs, through the commands."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

import pyarrow.csv
import pyarrow.parquet
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

TEXT = "age,zip,ill\n" + "".join(
    f"{20 + place % 5 * 10},{place % 3},{'yes' if place % 10 < 3 else 'no'}\n" for place in range(210)
)
PLAN = ["--secret", "ill", "--release", "age,zip"]


def parquet_bytes():
    table = pyarrow.csv.read_csv(io.BytesIO(TEXT.encode()))
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def workbook_bytes():
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for number, line in enumerate(TEXT.splitlines()):
        age, place, ill = line.split(",")
        book.active.append([age, place, ill] if number == 0 else [int(age), int(place), ill])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


SENT = {
    "CSV": TEXT.encode,
    "gzip": lambda: gzip.compress(TEXT.encode()),
    "Parquet": parquet_bytes,
    "Excel": workbook_bytes,
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    return path


@pytest.fixture
def send(monkeypatch, tmp_path):
    """Put bytes on standard input, and temporary files where they can be seen."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return place

    return put


def run(capsys, *words):
    status = main([str(word) for word in words])
    told = capsys.readouterr()
    return status, told.out, told.err


def numbers(text):
    """What an audit found, without where and when."""
    record = json.loads(text)
    return {key: record[key] for key in ("rows", "headline", "verdict")}


@pytest.mark.parametrize("kind", SENT)
def test_standard_input_is_audited_as_the_file_is(capsys, file, send, kind):
    place = send(SENT[kind]())
    options = [*PLAN, "--budget", "2x", "--json", "--show-values", "--seed", "1"]
    status, out, err = run(capsys, "audit", "-", *options)
    of_file = run(capsys, "audit", file, *options)
    assert (status, err) == (of_file[0], "")
    assert numbers(out) == numbers(of_file[1])
    assert json.loads(out)["table"] == "standard input"
    assert list(place.iterdir()) == []


def test_risks_of_standard_input(capsys, file, send, tmp_path):
    place = send(TEXT.encode())
    assert run(capsys, "audit", "-", *PLAN, "--risks", tmp_path / "one.csv")[0] == 0
    assert run(capsys, "audit", file, *PLAN, "--risks", tmp_path / "two.csv")[0] == 0
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()
    assert list(place.iterdir()) == []


def test_standard_input_is_protected_and_released(capsys, send, tmp_path):
    place, policy, out = send(TEXT.encode()), tmp_path / "plan.toml", tmp_path / "safe.csv"
    command = [
        "protect",
        "-",
        *PLAN,
        "--budget",
        "2x",
        "--seconds",
        "2",
        "--policy-out",
        policy,
        "--out",
        out,
    ]
    status, said, err = run(capsys, *command)
    assert (status, err) == (0, "")
    assert "Counting standard input;" in said
    send(TEXT.encode())
    again = tmp_path / "again.csv"
    assert run(capsys, "release", "table", "-", "--policy", policy, "--out", again)[0] == 0
    assert again.read_text() == out.read_text()
    send(TEXT.encode())
    status, said, err = run(capsys, "verify", f"{out}.receipt.json", "--table", "-")
    assert (status, said[:6], err) == (0, "Valid:", "")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input is empty; a CSV file starts with a line of column names"),
        (b"age,zip,ill\n1,2\n", "standard input cannot be read: line 2 must have 3 fields, got 2"),
        (b'age,zip,ill\n1,2,"no', "standard input cannot be read: the field in double quotes on line 2"),
        (gzip.compress(TEXT.encode())[:-9], "standard input cannot be read: it is no whole gzip file"),
        (gzip.compress(TEXT.encode()) + b"more", "standard input cannot be read: it is no whole gzip file"),
        (b"PAR1" + bytes(100), "standard input cannot be read:"),
        (b"PK\3\4" + bytes(100), "standard input cannot be read: it is no whole Excel workbook"),
        (b"age,zip\n1,2\n", '"ill"'),
    ],
)
def test_what_is_cut_or_damaged_is_refused_and_nothing_stays(capsys, send, content, said):
    place = send(content)
    status, out, err = run(capsys, "audit", "-", *PLAN)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert str(place) not in err
    assert list(place.iterdir()) == []


def test_what_is_stored_is_for_its_owner_alone(send):
    from tightlip.cli.table_input import open_input

    place = send(TEXT.encode())
    with open_input("-") as table:
        (folder,) = place.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [path.read_text() for path in folder.iterdir()] == [TEXT]
        assert table.name == "standard input"
    assert list(place.iterdir()) == []


def test_a_full_disk_is_told(capsys, send, monkeypatch):
    import shutil

    def full(*_):
        raise OSError(28, "No space left on device")

    place = send(TEXT.encode())
    monkeypatch.setattr(shutil, "copyfileobj", full)
    status, _, err = run(capsys, "audit", "-", *PLAN)
    assert (status, "No space left on device" in err) == (2, True)
    assert list(place.iterdir()) == []


def test_a_pipe_ends_when_its_writer_does(file, tmp_path):
    """A real pipe, whose writer is slow."""
    line = f'(head -c 100 "{file}"; sleep 0.3; tail -c +101 "{file}") | "$@" audit - --secret ill --release age,zip -q'
    words = ["bash", "-c", line, "bash", sys.executable, "-m", "tightlip"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    found = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("No budget was set, so there is no verdict. For nobody ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"]


@pytest.mark.parametrize("cut", [0, 1, 9, 60])
def test_packed_files_end_to_end(capsys, file, tmp_path, cut):
    packed = tmp_path / "people.csv.gz"
    data = gzip.compress(TEXT.encode())
    packed.write_bytes(data[: len(data) - cut])
    options = [*PLAN, "--budget", "2x", "--show-values", "--seed", "1"]
    one = run(capsys, "audit", packed, *options, "--json", "--risks", tmp_path / "one.csv")
    two = run(capsys, "audit", file, *options, "--json", "--risks", tmp_path / "two.csv")
    safe = [
        "protect",
        packed,
        *PLAN,
        "--budget",
        "2x",
        "--seconds",
        "1",
        "--out",
        tmp_path / "safe.csv",
        "-q",
    ]
    protected = run(capsys, *safe)
    if cut:
        assert (one[0], protected[0]) == (2, 2)
        assert one[2] == protected[2]
        assert f"{packed} cannot be read: it is no whole gzip file, but cut short or changed" in one[2]
        assert not (tmp_path / "one.csv").exists()
        assert not (tmp_path / "safe.csv").exists()
    else:
        assert numbers(one[1]) == numbers(two[1])
        assert (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()
        assert protected[0] == 0
        assert len((tmp_path / "safe.csv").read_text().splitlines()) == 211


def test_labels_that_are_not_read_are_told(capsys, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    import pandas as pd

    path = tmp_path / "people.sav"
    table = pd.DataFrame({"sex": [1.0, 2.0] * 20, "ill": ["yes"] * 5 + ["no"] * 35})
    pyreadstat.write_sav(table, path, variable_value_labels={"sex": {1.0: "f", 2.0: "m"}})
    command = ["audit", path, "--secret", "ill", "--release", "sex"]
    told = 'tightlip: note: codes are counted as they are, and their labels are not read, in "sex".\n'
    assert run(capsys, *command)[2] == told
    assert run(capsys, *command, "-q")[2] == ""


def test_a_sheet_is_named_with_the_option_table(capsys, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, book = tmp_path / "people.xlsx", openpyxl.Workbook()
    for place in range(2):
        sheet = book.create_sheet(f"year {place}")
        sheet.append(["age", "ill"])
        for number in range(10 + place):
            sheet.append([number % 3, number % 2])
    book.remove(book["Sheet"])
    book.save(path)
    command = ["audit", path, "--secret", "ill", "--release", "age", "--json"]
    status, _, err = run(capsys, *command)
    assert (status, 'which has the sheets "year 0", "year 1"' in err) == (2, True)
    status, out, _ = run(capsys, *command, "--table", "year 1")
    assert (status, json.loads(out)["rows"]) == (0, 11)
