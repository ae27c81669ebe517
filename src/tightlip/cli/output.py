"""What commands print: one JSON object, or text; errors are one line on stderr."""

from __future__ import annotations

import json
import os
import sys
from io import TextIOWrapper
from typing import Any

from rich.console import Console, RenderableType


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on stdout and nothing else."""
    sys.stdout.write(json.dumps(record, ensure_ascii=not _speaks_unicode(), allow_nan=False, indent=2) + "\n")
    sys.stdout.flush()


def print_text(content: RenderableType) -> None:
    """Text for people; plain when stdout is not a terminal, and never stopped by its encoding."""
    if isinstance(sys.stdout, TextIOWrapper) and not _speaks_unicode():
        sys.stdout.reconfigure(errors="replace")
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 110
    console = Console(highlight=False, width=wide)
    console.print(content)
    sys.stdout.flush()


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") in {"utf8", "utf16", "utf32"}


def complain(message: str) -> None:
    """One line on stderr."""
    sys.stderr.write("tightlip: " + " ".join(message.split()) + "\n")
