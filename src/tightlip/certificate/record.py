"""Writing a certificate and reading it back: its format, its kind, the hash of what it says, and its own keys.

The format says how a proof is written, the kind which number it bounds. Two kinds may have the same parts, so the
kind is read first, hashed with the channel that it is about, and told in every sentence made from the certificate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeVar

from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.jsonio import as_object


class _Hashed(Protocol):
    @property
    def kind(self) -> str: ...

    def digest(self) -> str: ...


Proof = TypeVar("Proof", bound=_Hashed)


def written_certificate(certificate: _Hashed, form: str, parts: dict[str, Any]) -> str:
    """The JSON text that `read_certificate` takes."""
    record = {"format": form, "kind": certificate.kind, "inputs": certificate.digest(), **parts}
    return json.dumps(record)


def kind_digest(kind: str, inputs: dict[str, Any]) -> str:
    """SHA-256 of which number is bounded and of what it is a number of."""
    return hashlib.sha256(json.dumps({"kind": kind, **inputs}, sort_keys=True).encode()).hexdigest()


def read_certificate(
    text: str | bytes,
    form: str,
    kinds: Collection[str],
    keys: set[str],
    build: Callable[[dict[str, Any]], Proof],
    *,
    about: str,
) -> Proof:
    """The certificate that a JSON text holds.

    Parameters
    ----------
    text : what `to_json` of the certificate wrote
    form : the format that it must state
    kinds : the numbers that this format can bound, of which it must state one
    keys : those that it has besides "format", "kind" and "inputs"
    build : makes the certificate from the record
    about : what the hash is of, in words

    Raises
    ------
    InvalidInput
        When it is no certificate of this format.
    CertificateInvalid
        When a part of it cannot be read, or it is about something else than it states.
    """
    record = as_object(text, "certificate", {"format", "kind", "inputs", *keys}, set())
    if record["format"] != form:
        raise InvalidInput(
            f"certificate format must be {quoted(form)}, got {quoted(record['format'])}; make it again."
        )
    if record["kind"] not in kinds:
        raise CertificateInvalid(
            f"certificate is malformed: its kind must be {' or '.join(map(quoted, kinds))}, "
            f"got {quoted(record['kind'])}; make it again."
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
            f"certificate was changed: the hash of its kind, {about} is not the one it states; make it again."
        )
    return certificate
