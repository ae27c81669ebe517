"""What commands print: one JSON object, or text; errors are one line on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console, RenderableType


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on stdout and nothing else."""
    sys.stdout.write(json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def print_text(content: RenderableType) -> None:
    """Text for people; plain when stdout is not a terminal."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    console.print(content)


def complain(message: str) -> None:
    """One line on stderr."""
    sys.stderr.write("tightlip: " + " ".join(message.split()) + "\n")
