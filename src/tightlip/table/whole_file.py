"""Write a file or folder wholly or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tightlip.errors import InvalidInput
from tightlip.files import require_free, take_name


@contextmanager
def whole_file(path: Path, *, force: bool, private: bool = False) -> Iterator[Path]:
    """A name beside `path` to write to; what is there takes the name `path` when the block ends without an error.

    With `private` only the owner may read it, from the first byte on: it is written in a folder that is closed to
    others. Otherwise it is as open as the process's umask makes new files.

    Raises
    ------
    InvalidInput
        When the name is taken and force is not set, is that of a folder, or the place cannot be written; nothing of
        what was there is lost and nothing partial stays.
    """
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written: there is no folder {path.parent}; make it first.")
    require_free(path, force=force)
    partial = path.parent / f".{path.name[:100]}.{secrets.token_hex(8)}.partial"
    written = partial / "written" if private else partial
    try:
        if private:
            partial.mkdir(mode=0o700)
        yield written
        if private:
            written.chmod(0o700 if written.is_dir() else 0o600)
        require_free(path, force=force)
        take_name(written, path, force=force)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror or error}; check the folder and the name."
        ) from error
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
