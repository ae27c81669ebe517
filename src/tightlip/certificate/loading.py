"""Reading files back: a certificate of any kind, or a channel file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from tightlip.arguments import path as read_path
from tightlip.certificate.base import Certificate
from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel_file import ChannelFile, channel_file_of
from tightlip.model.jsonio import parse_json
from tightlip.reading import LARGE, read_text

# Which module has the class of a format, without its version; those further up register when they are imported.
_HOMES = {
    "tightlip envelope certificate": "tightlip.certificate.envelope",
    "tightlip ordered envelope certificate": "tightlip.certificate.ordered",
    "tightlip randomized response certificate": "tightlip.certificate.randomized_response",
    "tightlip recomputation certificate": "tightlip.certificate.recomputation",
    "tightlip statistic leakage certificate": "tightlip.certificate.statistic",
    "tightlip statistic leakage of a map certificate": "tightlip.certificate.statistic_map",
    "tightlip design certificate": "tightlip.designs.certificate",
    "tightlip release certificate": "tightlip.protection.certificate",
    "tightlip contraction certificate": "tightlip.contraction.certificate",
    "tightlip contraction by pairs certificate": "tightlip.contraction.certificate",
    "tightlip robust envelope certificate": "tightlip.robust.certificate",
    "tightlip robust envelope over a list certificate": "tightlip.robust.certificate",
    "tightlip robust leakage certificate": "tightlip.robust.leakage_certificate",
    "tightlip receipt": "tightlip.auditing.receipt",
}


def load(path: Any) -> Certificate | ChannelFile:
    """Read a channel file or a certificate, whichever the file is.

    Parameters
    ----------
    path : of a file that `save` of a channel, a result or a certificate wrote, or that follows docs/channel-file.md

    Returns
    -------
    ChannelFile
        `(channel, prior, secret)`; prior and secret are None where the file has none.
    Certificate
        Not checked yet: its `verify()` does.

    Raises
    ------
    InvalidInput
        When the file cannot be read or is neither.
    CertificateInvalid
        When it is a certificate that was changed.
    """
    place = read_path(path, "path")
    return load_text(read_text(place, most=LARGE), str(place))


def load_text(text: str, name: str) -> Certificate | ChannelFile:
    """Read a channel file or a certificate, given its text; `name` is what messages call it. See `load`."""
    record = parse_json(text, name)
    if isinstance(record, dict) and "format" in record:
        return certificate_of(text, name)
    return channel_file_of(record, name)


def certificate_of(text: str, name: str) -> Certificate:
    """Read the certificate that a JSON text holds, of whatever kind; `name` is what messages call it."""
    record = parse_json(text, name)
    form = record.get("format") if isinstance(record, dict) else None
    family = form.rpartition(" ")[0] if isinstance(form, str) else None
    if family not in _HOMES:
        got = "no format" if form is None else f"format {quoted(form)}"
        raise InvalidInput(
            f"{name} must be a certificate, which --certificate of `tightlip design`, `envelope` or `sml` writes, or a "
            f"receipt, got {got}; a channel file goes to --channel."
        )
    import_module(_HOMES[family])
    known = Certificate.registry.get(str(form))
    if known is None:
        raise InvalidInput(
            f"{name} must be a certificate of this version of tightlip, got format {quoted(form)}; make it again."
        )
    try:
        return known.from_json(text).found_in(Path(name).parent)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from error
