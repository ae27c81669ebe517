"""Reading what a command is given: a file, or standard input."""

from __future__ import annotations

from pathlib import Path

from tightlip import reading
from tightlip.model.channel_file import ChannelFile, channel_file_of
from tightlip.model.jsonio import parse_json


def read_channel_file(path: Path) -> ChannelFile:
    """Read and check a channel file; - is standard input."""
    return channel_file_of(parse_json(read_text(path), str(path)), str(path))


def read_text(path: Path) -> str:
    """The text of a channel, a study or a certificate; - is standard input."""
    return reading.read_standard_input() if str(path) == "-" else reading.read_text(path, most=reading.LARGE)
