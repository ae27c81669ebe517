"""What every certificate has: a kind, a check without a solver, JSON in and out, and a place in the registry.

The format says how a proof is written, the kind which number it bounds. Two kinds may have the same parts, so the
kind is read first, hashed with what the proof is about, and told in every sentence made from the certificate.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from tightlip.arguments import flag
from tightlip.arguments import path as read_path
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.files import write_whole
from tightlip.model.channel import Channel
from tightlip.model.jsonio import as_object
from tightlip.model.labels import Label
from tightlip.model.prior import Prior


@dataclass(frozen=True, slots=True)
class Claim:
    """What a certificate that holds says: the number `kind` lies in [lower, upper].

    Attributes
    ----------
    kind : the number
    lower, upper : its ends, rounded outward
    unit : "nats", or None for a number without unit
    delta : the probability of an envelope
    gamma : γ of E_γ
    symbols : how many an adversary may use, where that is limited
    fewest : how many people share a published value at least, where that is proved
    guarantees, prior : of a mechanism, what it keeps, in words, and under which prior
    secret : P(x | s), where what it keeps is about a secret s and the prior is that of the data x
    recountable : of a release, whether it can be counted again beside its table
    pml : both ends of the same number under PML of the level of an envelope, in its place
    fixed : how many columns of a release are published in any case, and need not be true
    """

    kind: str
    lower: float
    upper: float
    unit: Literal["nats"] | None = "nats"
    delta: Fraction | None = None
    gamma: Fraction | None = None
    symbols: int | None = None
    fewest: int | None = None
    guarantees: tuple[str, ...] = ()
    prior: Prior | None = None
    pml: tuple[float, float] | None = None
    fixed: int = 0
    secret: Channel | None = None
    recountable: bool = True


class Certificate(ABC):
    """A proof of both ends of a number, with everything needed to check it again without a solver.

    A class with a FORMAT of its own is found by `load` under it; `loading.py` says in which module it is.
    """

    __slots__ = ()
    registry: ClassVar[dict[str, type[Certificate]]] = {}
    FORMAT: ClassVar[str]  # how the proof is written, with a version
    KINDS: ClassVar[tuple[str, ...]]  # the numbers that this format can bound
    KEYS: ClassVar[frozenset[str]]  # of the JSON, besides "format", "kind" and "inputs"
    ABOUT: ClassVar[str]  # what the hash is of, in words
    NOUN: ClassVar[str] = "certificate"  # what messages call it

    if TYPE_CHECKING:  # a dataclass would take an inherited property for the default of its field

        @property
        def kind(self) -> str:
            """The number that it bounds."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "FORMAT" in vars(cls):
            cls.registry[cls.FORMAT] = cls

    @abstractmethod
    def verify(self) -> None:
        """Check both ends in exact or outward-rounded arithmetic.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """

    @abstractmethod
    def claim(self) -> Claim:
        """Tell what the proof says if it holds; `verify` tells whether it does.

        Raises
        ------
        CertificateInvalid
            If its parts say nothing together.
        """

    @abstractmethod
    def digest(self) -> str:
        """Hash the kind and what the proof is about."""

    @abstractmethod
    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash what a proof of the same kind about this channel file would be about; None if there can be none."""

    def found_in(self, folder: Path) -> Certificate:
        """Take the certificate as one that was found in a folder, which matters where it names files."""
        return self

    @property
    def needs_prior(self) -> bool:
        """Whether a channel file must have a prior to be what the proof is about."""
        return False

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Write the proof as JSON values, under its KEYS."""

    @classmethod
    @abstractmethod
    def from_parts(cls, record: dict[str, Any]) -> Self:
        """Read what `parts` wrote, from a record that also has the kind."""

    def to_json(self) -> str:
        """Write the certificate as JSON text."""
        record = {"format": self.FORMAT, "kind": self.kind, "inputs": self.digest(), **self.parts()}
        return json.dumps(record)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; the hash must fit what is inside. `verify` checks the proof.

        Raises
        ------
        InvalidInput
            When it is no certificate of this format.
        CertificateInvalid
            When a part of it cannot be read, or it is about something else than it states.
        """
        record = as_object(text, cls.NOUN, {"format", "kind", "inputs", *cls.KEYS}, set())
        if record["format"] != cls.FORMAT:
            raise InvalidInput(
                f"{cls.NOUN} format must be {quoted(cls.FORMAT)}, got {quoted(record['format'])}; make it again."
            )
        if record["kind"] not in cls.KINDS:
            raise CertificateInvalid(
                f"{cls.NOUN} is malformed: its kind must be {' or '.join(map(quoted, cls.KINDS))}, "
                f"got {quoted(record['kind'])}; make it again."
            )
        try:
            certificate = cls.from_parts(record)
        except KeyError as error:
            raise CertificateInvalid(
                f"{cls.NOUN} is malformed: the key {quoted(error.args[0])} is missing; make it again."
            ) from error
        except (TypeError, ValueError, ArithmeticError) as error:
            reason = str(error).rstrip(".")
            raise CertificateInvalid(f"{cls.NOUN} is malformed: {reason}; make it again.") from error
        if certificate.digest() != record["inputs"]:
            raise CertificateInvalid(
                f"{cls.NOUN} was changed: the hash of its kind, {cls.ABOUT} is not the one it states; make it again."
            )
        return certificate

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the certificate to a file that `tightlip.load` and `tightlip verify` read.

        Raises
        ------
        InvalidInput
            When the file exists and `force` is not set, or cannot be written.
        """
        write_whole(read_path(path, "path"), self.to_json(), force=flag(force, "force"))


def kind_digest(kind: str, inputs: dict[str, Any]) -> str:
    """Hash (SHA-256) which number is bounded and of what it is a number of."""
    return hashlib.sha256(json.dumps({"kind": kind, **inputs}, sort_keys=True).encode()).hexdigest()


def channel_json(channel: Channel) -> dict[str, Any]:
    """List what of a channel is hashed: entries and labels, however they are stored."""
    record = channel.to_dict()
    for key in ("sparse", "adjustment"):
        record.pop(key, None)
    return record
