"""Writing a certificate and reading it back: its format, the hash of what it is about, and its own keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.jsonio import as_object


class _Hashed(Protocol):
    def digest(self) -> str: ...


Proof = TypeVar("Proof", bound=_Hashed)


def written_certificate(certificate: _Hashed, form: str, parts: dict[str, Any]) -> str:
    """The JSON text that `read_certificate` takes."""
    return json.dumps({"format": form, "inputs": certificate.digest(), **parts})


def read_certificate(
    text: str | bytes, form: str, keys: set[str], build: Callable[[dict[str, Any]], Proof], *, about: str
) -> Proof:
    """The certificate that a JSON text holds.

    Parameters
    ----------
    text : what `to_json` of the certificate wrote
    form : the format that it must state
    keys : those that it has besides "format" and "inputs"
    build : makes the certificate from the record
    about : what the hash is of, in words

    Raises
    ------
    InvalidInput
        When it is no certificate of this format.
    CertificateInvalid
        When a part of it cannot be read, or it is about something else than it states.
    """
    record = as_object(text, "certificate", {"format", "inputs", *keys}, set())
    if record["format"] != form:
        raise InvalidInput(
            f"certificate format must be {quoted(form)}, got {quoted(record['format'])}; make it again."
        )
    try:
        certificate = build(record)
    except KeyError as error:
        raise CertificateInvalid(
            f"certificate is malformed: the key {quoted(error.args[0])} is missing; make it again."
        ) from error
    except (TypeError, ValueError, ArithmeticError) as error:
        reason = str(error).rstrip(".")
        raise CertificateInvalid(f"certificate is malformed: {reason}; make it again.") from error
    if certificate.digest() != record["inputs"]:
        raise CertificateInvalid(
            f"certificate was changed: the hash of its {about} is not the one it states; make it again."
        )
    return certificate
