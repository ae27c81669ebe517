"""Files that people are sent: what is no regular file, too large or no text is refused, at once and by one line."""

import contextlib
import io
import os
import signal
import socket
import sys

import pytest

from tightlip import Prior
from tightlip.cli.main import main
from tightlip.errors import InvalidInput
from tightlip.histogram.table import tabulate
from tightlip.reading import is_below, open_regular, read_standard_input, read_text
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy

TABLE = "job,ill\nnurse,no\nbaker,yes\nnurse,yes\n"
POLICY = 'secret = "ill"\n[release.job]\nmapping = "jobs.csv"\n'
JOBS = "job,group\nnurse,care\nbaker,food\n"


@pytest.fixture(autouse=True)
def no_waiting():
    """A file that is waited for fails its test instead of holding up all of them."""

    def late(*_):
        raise AssertionError("waited for a file")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan").mkdir()
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "plan" / "policy.toml").write_text(POLICY)
    (tmp_path / "plan" / "jobs.csv").write_text(JOBS)
    return tmp_path


def odd_files(folder):
    """What `open` would wait for, read without end, or fill the memory with."""
    os.mkfifo(folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    with contextlib.chdir(folder):  # names of sockets are short
        server.bind("socket")
    server.close()
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("/dev/zero")
    with (folder / "huge").open("wb") as file:
        file.truncate(1 << 40)
    return [folder / name for name in ("pipe", "socket", "folder", "link", "huge")] + [
        "/dev/zero",
        "/dev/tty",
    ]


READERS = {
    "policy": lambda path: Policy.from_toml(path),
    "mapping": lambda path: Mapping.from_file(path),
    "policy command": lambda path: command("audit", "table.csv", "--policy", path),
    "mapping command": lambda path: command(
        *("audit", "table.csv", "--secret", "ill", "--release", "job", "--map", f"job={path}")
    ),
    "channel": lambda path: command("measure", path),
    "channel of envelope": lambda path: command("envelope", path, "--delta", "0.1"),
    "channel of sml": lambda path: command("sml", path),
    "channel of contraction": lambda path: command("contraction", path),
    "certificate": lambda path: command("verify", path),
    "study": lambda path: command("plan", path, "--samples", 10, "--epsilon", 1),
    "channel of plan": lambda path: command("plan", "study.json", "--samples", 10, "--channel", path),
}


class Refused(Exception):
    pass


def command(*arguments):
    """Run a command that must end with status 2 and one line."""
    captured = io.StringIO()
    before, sys.stderr = sys.stderr, captured
    try:
        status = main([str(argument) for argument in arguments])
    finally:
        sys.stderr = before
    assert (status, captured.getvalue().count("\n")) == (2, 1)
    raise Refused(captured.getvalue())


@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_of_some_size_are_read(folder, monkeypatch, reader):
    monkeypatch.chdir(folder)
    for path in odd_files(folder):
        with pytest.raises((InvalidInput, Refused)) as caught:
            READERS[reader](path)
        assert any(
            words in str(caught.value)
            for words in ("a pipe, a device", "Is a directory", "MiB, got more", "No such device")
        )


def test_tables_to_release_are_regular_files(folder):
    for path in odd_files(folder)[:4]:
        with pytest.raises(
            InvalidInput, match=r"must be a file, got a pipe or a device|Is a directory|No such device"
        ):
            tabulate(path)


def test_size_is_what_is_read_not_what_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fstat", lambda descriptor: os.stat_result((0o100600, *[0] * 9)))
    (tmp_path / "text").write_text("x" * 3000)
    with pytest.raises(InvalidInput, match="must have at most 0 MiB, got more"):
        read_text(tmp_path / "text", most=1000)


def test_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfn\xc3\xa9e\r\n")
    assert read_text(path) == "née\r\n"
    (tmp_path / "link").symlink_to(path)
    assert read_text(tmp_path / "link") == "née\r\n"
    path.write_bytes(b"ab\xff")
    with pytest.raises(
        InvalidInput, match="must be UTF-8 text, got byte 0xff at position 2; save it as UTF-8"
    ):
        read_text(path)
    for name, words in (
        ("none", "No such file"),
        ("a\0b", "none that a file can have"),
        ("x" * 5000, "too long"),
    ):
        with pytest.raises(InvalidInput, match=words) as caught:
            open_regular(tmp_path / name)
        assert len(str(caught.value)) < 700


def test_standard_input_ends(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 2000))
    with pytest.raises(InvalidInput, match="standard input must have at most"):
        read_standard_input(most=1000)
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 1000))
    assert read_standard_input(most=1000) == "x" * 1000


def test_mapping_files_are_below_the_policy(folder):
    path = folder / "plan" / "policy.toml"
    assert Policy.from_toml(path).release[0].recoding.groups == (("baker", "food"), ("nurse", "care"))
    (folder / "plan" / "more").mkdir()
    (folder / "plan" / "more" / "jobs.csv").write_text(JOBS)
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "plan" / "out.csv").symlink_to(folder / "jobs.csv")
    (folder / "plan" / "in.csv").symlink_to(folder / "plan" / "jobs.csv")
    (folder / "plan" / "up").symlink_to(folder)
    (folder / "plans").mkdir()  # a name that begins alike
    (folder / "plans" / "jobs.csv").write_text(JOBS)
    inside = ("jobs.csv", "more/jobs.csv", "more/../jobs.csv", "in.csv", str(folder / "plan" / "jobs.csv"))
    outside = ("../jobs.csv", "out.csv", "up/jobs.csv", str(folder / "jobs.csv"), "../plans/jobs.csv")
    for name in inside:
        path.write_text(POLICY.replace("jobs.csv", name))
        Policy.from_toml(path)
    for name in outside:
        path.write_text(POLICY.replace("jobs.csv", name))
        with pytest.raises(
            InvalidInput, match=r"release\.job\.mapping must be a file in the policy's folder"
        ):
            Policy.from_toml(path)
        Policy.from_toml(path, mappings_anywhere=True)


def test_a_linked_folder_is_the_policys_folder(folder):
    (folder / "elsewhere").symlink_to(folder / "plan")
    Policy.from_toml(folder / "elsewhere" / "policy.toml")
    assert is_below(folder / "elsewhere" / "jobs.csv", folder / "plan")
    assert not is_below(folder / "a\0b", folder)


def test_the_flag_for_mappings_elsewhere(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "jobs.csv").write_text(JOBS)
    (folder / "plan" / "policy.toml").write_text(POLICY.replace("jobs.csv", "../jobs.csv"))
    given = ["audit", "table.csv", "--policy", "plan/policy.toml"]
    assert main(given) == 2
    assert "--mappings-anywhere" in capsys.readouterr().err
    assert main([*given, "--mappings-anywhere", "--json"]) == 0
    assert "--mappings-anywhere" in capsys.readouterr().out
    flags = ["audit", "table.csv", "--secret", "ill", "--release", "job", "--map", "job=jobs.csv"]
    assert main(flags) == 0
    capsys.readouterr()
    assert main([*flags, "--mappings-anywhere"]) == 2
    assert "must be given with --policy" in capsys.readouterr().err


LONG = "9" * 2_000_000
HOSTILE = {
    "policy, decimal": ("audit", f'secret = "ill"\nmin_count = {LONG}\n[release.job]\n'),
    "policy, hexadecimal": ("audit", f'secret = "ill"\nmin_count = 0x{LONG}\n[release.job]\n'),
    "policy, level": ("audit", f'secret = "ill"\n[release.job]\nmapping = "jobs.csv"\nlevel = 0x{LONG}\n'),
    "policy, edge": ("audit", f'secret = "ill"\n[release.job]\nbins = {{edges = [0x{LONG}]}}\n'),
    "policy, text": ("audit", f'secret = "ill"\n[release.job]\nrandomized_response = "log {LONG}"\n'),
    "policy, name": ("audit", f'secret = "ill"\n[release.job]\nmapping = "{LONG}"\n'),
    "channel, number": ("measure", f'{{"prior": [0.5, 0.5], "channel": [[{LONG}], [1]]}}'),
    "channel, real": ("measure", f'{{"prior": [0.5, 0.5], "channel": [[{LONG}.0], [1]]}}'),
    "channel, tiny": ("measure", f'{{"prior": [0.5, 0.5], "channel": [[0.{"0" * 10**6}1], [1]]}}'),
    "channel, text": ("measure", f'{{"prior": ["1/{LONG}", 0.5], "channel": [[1], [1]]}}'),
    "channel, decimal text": ("measure", f'{{"prior": ["0.{LONG}", 0.5], "channel": [[1], [1]]}}'),
    "certificate": ("verify", f'{{"format": {LONG}}}'),
    "nested": ("verify", "[" * 10**6),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_numbers_of_millions_of_digits_are_refused(folder, monkeypatch, case):
    monkeypatch.chdir(folder)
    name, text = HOSTILE[case]
    (folder / "file").write_text(text)
    (folder / "jobs.csv").write_text(JOBS)
    given = ("table.csv", "--policy", "file") if name == "audit" else ("file",)
    with pytest.raises(Refused) as caught:
        command(name, *given)
    assert len(str(caught.value)) < 1500


def test_numbers_have_a_length():
    with pytest.raises(InvalidInput, match="must be written with at most 100000 characters, got 2000002"):
        Prior([f"1/{LONG}", 1])
