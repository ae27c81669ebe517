"""Take a file that is dropped on the page: streamed to the disk, private, and never more than a limit."""

from __future__ import annotations

import re
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tightlip.errors import InvalidInput
from tightlip.page.places import TABLES

if TYPE_CHECKING:
    from starlette.requests import Request

MOST = 20 * 2**30  # bytes of a file
_SMALL = 10_000  # bytes of a field that is no file
_NAME = re.compile(r"[^\w .()+-]")


@dataclass(slots=True)
class _Upload:
    """A form as it comes in: the field `csrf` first, then the file."""

    folder: Path
    csrf: str
    most: int
    header: bytes = b""
    headers: dict[str, bytes] = field(default_factory=dict)
    value: bytes = b""
    part: str = ""
    allowed: bool = False
    name: str = ""
    size: int = 0
    file: BinaryIO | None = None

    def callbacks(self) -> Any:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    @property
    def path(self) -> Path:
        return self.folder / self.name

    def _begin(self) -> None:
        self.headers, self.value, self.part, self.header = {}, b"", "", b""

    def _field(self, data: bytes, start: int, end: int) -> None:
        self.header += data[start:end]

    def _value(self, data: bytes, start: int, end: int) -> None:
        self.value += data[start:end]

    def _header_end(self) -> None:
        self.headers[self.header.decode("latin-1").lower()] = self.value
        self.header, self.value = b"", b""

    def _headers(self) -> None:
        from python_multipart.multipart import parse_options_header

        options = parse_options_header(self.headers.get("content-disposition", b""))[1]
        self.part = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options or self.part != "file":
            return
        if not self.allowed:
            raise InvalidInput("this form did not come from the page; load the page again.")
        if self.file is not None:
            raise InvalidInput("one file must be given, got several; drop one at a time.")
        self.name = safe_name(options[b"filename"].decode("utf-8", "replace"))
        self.file = self.path.open("xb")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self.part != "file" or self.file is None:
            self.value += data[start:end]
            if len(self.value) > _SMALL:
                raise InvalidInput("a field of this form is too large; load the page again.")
            return
        self.size += end - start
        if self.size > self.most:
            raise InvalidInput(
                f"the file must have at most {self.most} bytes, got more; put it into the page's folder and choose it."
            )
        self.file.write(data[start:end])

    def _end(self) -> None:
        if self.part == "csrf":
            self.allowed = secrets.compare_digest(self.value, self.csrf.encode())
        self.value = b""


def safe_name(given: str) -> str:
    """Make a name of a file that harms nobody, with the ending that tells what it is.

    >>> safe_name("../../etc/<b>.csv"), safe_name("C:\\\\a\\\\people.CSV")
    ('_b_.csv', 'people.CSV')
    """
    name = _NAME.sub("_", given.replace("\\", "/").rpartition("/")[2]).lstrip(". ")[-100:].lstrip(". ")
    if not name.lower().endswith(TABLES):
        raise InvalidInput(
            f"the file must be a table, got a name that does not end with one of {', '.join(TABLES)}; save it as one."
        )
    return name


async def take_upload(request: Request, folder: Path, csrf: str, most: int = MOST) -> Path:
    """Store the file of a form in a new folder of the session.

    Raises
    ------
    InvalidInput
        When it is too large, no table by its name, or not from the page; nothing of it then stays.
    """
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, parse_options_header

    options = parse_options_header(request.headers.get("content-type", ""))[1]
    if b"boundary" not in options:
        raise InvalidInput("a file must be sent as a form; load the page again.")
    place = folder / f"upload-{secrets.token_hex(8)}"
    place.mkdir(mode=0o700)
    upload = _Upload(place, csrf, most)
    try:
        parser = MultipartParser(options[b"boundary"], upload.callbacks())
        async for chunk in request.stream():
            parser.write(chunk)
        parser.finalize()
        if upload.file is None:
            raise InvalidInput("a file must be chosen, got none; drop one on the page.")
    except BaseException as error:
        _close(upload)
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, (FormParserError, OSError)):
            raise InvalidInput("the file did not arrive whole; send it again.") from error
        raise
    _close(upload)
    upload.path.chmod(0o600)
    return upload.path


def _close(upload: _Upload) -> None:
    if upload.file is not None:
        upload.file.close()
