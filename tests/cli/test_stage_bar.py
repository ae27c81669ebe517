"""The bar of named stages: on a terminal, after a while, gone at the end, whatever happens."""

import io
import sys
import time

import pytest

from tightlip.cli import output as module


class Terminal(io.StringIO):
    def isatty(self):
        return True


def as_terminal(monkeypatch, patience=0.0):
    """Set in the test itself, as pytest puts its own stderr between a fixture and the test."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(module, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_stages_are_counted_and_named(monkeypatch):
    terminal = as_terminal(monkeypatch)
    with module.stage_bar(["counting", "envelope [bold]x", "writing"]) as tell:
        tell("counting")
        wait_until(lambda: "counting" in terminal.getvalue())
        tell("envelope [bold]x")
        wait_until(lambda: "envelope [bold]x" in terminal.getvalue())
        assert "1/3" in terminal.getvalue()
        tell("something else")
        wait_until(lambda: "something else" in terminal.getvalue())
    assert terminal.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # the cursor is back, the line is gone


def test_short_work_shows_nothing(monkeypatch):
    terminal = as_terminal(monkeypatch, patience=60.0)
    with module.stage_bar(["counting"]) as tell:
        tell("counting")
    assert terminal.getvalue() == ""


def test_it_ends_when_the_work_fails(monkeypatch):
    terminal = as_terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        _fail_once_shown(terminal)
    assert "\x1b[?25h" in terminal.getvalue()


def _fail_once_shown(terminal):
    with module.stage_bar(["counting"]) as tell:
        tell("counting")
        wait_until(lambda: "counting" in terminal.getvalue())
        raise ZeroDivisionError


def test_without_a_terminal_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with module.stage_bar(["counting"]) as tell:
        tell("counting")
    assert sys.stderr.getvalue() == ""
