"""The receipt of a written release: what was asked and proved, and digests by which the files are known again.

It holds no value of the table but those that the plan itself names, to say which rows and secrets are meant. The digest
of the counts lets whoever can guess the whole table check the guess, so a receipt is as confidential as the counts are.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Mapping as Named
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import Nats
from tightlip.table.chain import in_a_row, steps_of
from tightlip.table.local import file_digest
from tightlip.table.mapping import Mapping
from tightlip.table.outputs import PostgresOutput
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_toml
from tightlip.table.postgres import stored_digest
from tightlip.table.publish import UNSAFE_NOTE, Published
from tightlip.table.recoding import Recoding
from tightlip.table.source import database_name

KIND = "release of a table"
READERS = {
    True: "who reads the file, and who besides knows the released columns of a person; not who also reasons about why "
    "this recoding was chosen, nor who reads other releases of these people",
    False: "who reads a published value and nothing else; not who knows the released columns of a person, nor who "
    "reads other releases of these people",
}
"""Who is protected, by whether the release is deterministic."""
TOGETHER = {
    True: "who reads the file and every other release in the ledger, links their rows, and besides knows the released "
    "columns of a person; not who also reasons about why these recodings were chosen",
    False: "who reads published values of this and every other release in the ledger, and links their rows; not who "
    "knows the released columns of a person",
}
"""Who is protected by an account of all releases, by whether all of them are deterministic and of one table."""
_LIBRARIES = ("tightlip", "numpy", "pyarrow", "duckdb", "ibis-framework", "randomgen")
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, eq=False)
class Receipt(Certificate):
    """What was asked, proved and written.

    Attributes
    ----------
    asked : columns, how they are released, limits
    proved : the worst leakage of a published value, who is protected from it, and what else is known of the release
    written : rows, columns, whether by chance, and whether a seed for tests makes it unsafe
    files : for each file its name, as seen from the receipt's folder, and its digest; for a table of Postgres its
        name, that of its database, and the digest of its rows
    counts, policy : digests of what was counted, and of what is published for each cell
    versions, command : with what it was made
    folder : where the files are looked for
    database : the address of the database where a table is looked for; no receipt says it
    """

    FORMAT: ClassVar[str] = "tightlip receipt 1"
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    ABOUT: ClassVar[str] = "facts and digests"
    NOUN: ClassVar[str] = "receipt"
    KEYS: ClassVar[frozenset[str]] = frozenset(
        {"asked", "proved", "written", "files", "counts", "policy", "versions", "command"}
    )

    asked: Named[str, Any]
    proved: Named[str, Any]
    written: Named[str, Any]
    files: Named[str, Named[str, str]]
    counts: str
    policy: str
    versions: Named[str, str]
    command: str | None
    folder: Path = Path()
    database: str | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """What it is of."""
        return KIND

    def claim(self) -> Claim:
        """No published value leaks more than this."""
        recountable = self.is_deterministic and not self.is_stored
        return Claim(KIND, 0.0, float(self.proved["leakage_nats"]), recountable=recountable)

    @property
    def is_deterministic(self) -> bool:
        """Whether nothing of the release was drawn by chance."""
        return self.written.get("release") == "deterministic"

    @property
    def is_stored(self) -> bool:
        """Whether the release is in a database, and not in a file."""
        return "database" in self.files["output"]

    def found_in(self, folder: Path) -> Receipt:
        """Look for the files as seen from a folder."""
        return replace(self, folder=folder)

    def reached_at(self, database: str) -> Receipt:
        """Look for the table at the address of a database.

        Raises
        ------
        InvalidInput
            When the output is a file.
        """
        if not self.is_stored:
            raise InvalidInput(
                "database is for receipts of a Postgres table, got one of a file; leave it out."
            )
        return replace(self, database=database)

    def verify(self) -> None:
        """Check that the files are those that the receipt was made for.

        Raises
        ------
        CertificateInvalid
            When one was changed.
        InvalidInput
            When one is not there.
        """
        for what, file in self.files.items():
            name, digest = self._table(file) if "database" in file else self._file(what, file)
            if digest != file["sha256"]:
                raise CertificateInvalid(
                    f"{name} is not the {what} that the receipt was made for; release it again."
                )

    def _file(self, what: str, file: Named[str, str]) -> tuple[str, str]:
        path = self.folder / file["name"]
        if not path.is_file():
            raise InvalidInput(
                f"{path}, the {what} of the receipt, is not there; put it back beside the receipt."
            )
        return str(path), file_digest(path)

    def _table(self, file: Named[str, str]) -> tuple[str, str]:
        """Look at the table; only an address that the user gave is opened."""
        name = f"table {quoted(file['name'])} of Postgres database {quoted(file['database'])}"
        if self.database is None:
            raise InvalidInput(
                f"database must be given for a receipt of {name}, got none; write --database postgresql://…, "
                "receipt.reached_at(address)."
            )
        return name, stored_digest(self.database, file["name"])

    def digest(self) -> str:
        """Hash all that it says."""
        return kind_digest(KIND, self.parts())

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """A channel file is not what a release of a table is about."""
        return None

    def parts(self) -> dict[str, Any]:
        """Write it as JSON values."""
        return {key: getattr(self, key) for key in sorted(self.KEYS)}

    def to_json(self) -> str:
        """Write it as JSON text, for people too."""
        record = {"format": self.FORMAT, "kind": self.kind, "inputs": self.digest(), **self.parts()}
        return json.dumps(record, indent=2) + "\n"

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> Receipt:
        """Read what `parts` wrote."""
        parts = {key: record[key] for key in cls.KEYS}
        for key in ("asked", "proved", "written", "files", "versions"):
            _require(isinstance(parts[key], dict), f"{key} must be an object")
        _require(not math.isnan(float(parts["proved"]["leakage_nats"])), "the leakage must be a number")
        _require("output" in parts["files"], "it must name its output")
        for what, file in parts["files"].items():
            _require(isinstance(file, dict), "files must be objects")
            more = {"database"} if what == "output" and "database" in file else set()
            _require({*file} == {"name", "sha256"} | more, "files must have name and sha256")
            for key in ("name", *more):
                _require(isinstance(file[key], str) and "\0" not in file[key], "a file's name must be text")
            _require(_is_hash(file["sha256"]), "a digest must have 64 hexadecimal digits")
        _require(
            _is_hash(parts["counts"]) and _is_hash(parts["policy"]),
            "a digest must have 64 hexadecimal digits",
        )
        return cls(**parts)


def _require(holds: bool, requirement: str) -> None:
    if not holds:
        raise CertificateInvalid(f"receipt is malformed: {requirement}; release the table again.")


def _is_hash(text: object) -> bool:
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


def asked_of(policy: Policy) -> dict[str, Any]:
    """Say in words which columns are secret, and how others are released; without values of a mapping.

    Where the plan is of some rows, has codes that mean missing, or says what counts as secret, that is there as in a
    policy file: the release is counted again by it.
    """
    released = [
        {"column": item.column, "how": item.words().removeprefix(f"{item.column} ")}
        for item in policy.release
    ]
    asked: dict[str, Any] = {"secret": list(policy.secret), "release": released}
    meant = meant_rows(policy)
    asked |= {} if meant is None else {"meant": policy_toml(meant)}
    return asked if policy.min_count is None else asked | {"min_count": policy.min_count}


def meant_rows(policy: Policy) -> Policy | None:
    """Reduce a plan to which rows and secrets are meant, the released columns as they are; None where all are."""
    released = [_plain(item, policy) for item in policy.release]
    secrets = [replace(item, recoding=_inline(item.recoding)) for item in policy.secrets]
    meant = Policy(
        policy.secret,
        released,
        secrets=secrets,
        not_secret=policy.not_secret,
        where=policy.where,
        missing=policy.missing,
    )
    return None if meant == Policy(policy.secret, released) else meant


def _plain(item: Released, policy: Policy) -> Released:
    """A released column as it is; one that is secret too as it is drawn, without the mechanism's file."""
    if item.mechanism is None or item.column not in policy.secret:
        return Released(item.column)
    return Released(item.column, mechanism=type(item.mechanism).read(item.mechanism.setting()))


def _inline(recoding: Recoding) -> Recoding:
    """Mappings without their files: a receipt stands alone."""
    return in_a_row(
        Mapping(dict(step.groups), otherwise=step.otherwise) if isinstance(step, Mapping) else step
        for step in steps_of(recoding)
    )


def proved_of(leakage: Nats, deterministic: bool) -> dict[str, Any]:
    """Say how much a published value leaks at most, and who is protected."""
    # JSON has no infinity
    amount = float(leakage) if math.isfinite(leakage) else "inf"
    return {"leakage_nats": amount, "protects_against": READERS[deterministic]}


def written_of(published: Published) -> dict[str, Any]:
    """Say what the file has, and what no guarantee covers."""
    return {
        "rows": published.rows,
        "columns": list(published.columns),
        "kept_without_guarantee": list(published.kept),
        "release": "deterministic" if published.deterministic else "random",
        "unsafe": UNSAFE_NOTE if published.seeded else None,
    }


def output_named(published: Published, folder: Path) -> dict[str, str]:
    """Name what was written: a file as seen from a folder, a table by its name and that of its database."""
    output = published.output
    if isinstance(output, PostgresOutput):
        database = database_name(output.url)
        return {"name": output.table, "database": database, "sha256": published.sha256}
    assert output.path is not None
    return named_files({"output": (output.path, published.sha256)}, folder)["output"]


def database_of(published: Published) -> str | None:
    """The address of the database that was written to, if it was one."""
    return published.output.url if isinstance(published.output, PostgresOutput) else None


def named_files(files: Named[str, tuple[Path, str]], folder: Path) -> dict[str, dict[str, str]]:
    """Name files as seen from a folder, with their digests."""
    return {
        what: {"name": Path(os.path.relpath(path, folder)).as_posix(), "sha256": digest}
        for what, (path, digest) in files.items()
    }


def versions() -> dict[str, str]:
    """List with what it was made."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def policy_digest(policy: Policy) -> str:
    """Hash what a policy says, its mechanisms in full, and what its local recoding publishes for each cell."""
    said: list[Any] = [policy.secret, [item.words() for item in policy.release], policy.min_count]
    meant = meant_rows(policy)
    said += [] if meant is None else [policy_toml(meant)]
    kernels = [item.mechanism.setting() for item in policy.release if item.mechanism is not None]
    said += [kernels] if kernels else []
    local = policy.local
    if local is not None:
        said += [local.columns, local.cells, local.published, local.scale]
        said += [local.cell.tolist(), local.value.tolist(), local.weight.tolist()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
