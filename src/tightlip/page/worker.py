"""Do one job in a process of its own: a task as JSON on stdin, what is found as lines of JSON on stdout.

An interrupt ends a search with the best that is proved, as Ctrl-C does on the command line.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tightlip.errors import TightlipError
from tightlip.page import work

_UNEXPECTED = "an error that should not happen ({name}); please tell the project how you came here."


class Speaker:
    """Says how far the work is and what was found; the page listens."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.stopped = stream, False

    def stop(self, *_: object) -> NoReturn:
        """Take an interrupt: searches end with the best that they have, all else ends."""
        self.stopped = True
        raise KeyboardInterrupt

    def tell(self, words: str, share: float | None = None) -> None:
        """Say how far the work is: in words, and as a share where one is known."""
        self._say({"told": {"words": words, "share": share}})

    def found(self, **found: Any) -> None:
        """Say what was found."""
        self._say({"found": found})

    def end(self, status: str, error: str | None = None) -> None:
        """Say how it ended."""
        self._say({"ended": status, "error": error})

    def _say(self, record: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(record) + "\n")
        self._stream.flush()


def main() -> None:
    """Read a task, do it, and say how it ended."""
    os.umask(0o077)
    task = json.loads(sys.stdin.read())
    speaker = Speaker(sys.stdout)
    signal.signal(signal.SIGINT, speaker.stop)
    try:
        work.KINDS[task["kind"]](task, speaker)
    except KeyboardInterrupt:
        speaker.end("cancelled")
    except (TightlipError, MemoryError, OSError) as error:
        speaker.end("failed", str(error) or "not enough memory for this input.")
    except Exception as error:
        (Path(task["out"]) / "trace.txt").write_text(traceback.format_exc(), encoding="utf-8")
        speaker.end("failed", _UNEXPECTED.format(name=type(error).__name__))
    else:
        speaker.end("done")


if __name__ == "__main__":
    main()
