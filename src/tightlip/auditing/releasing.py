"""Release a table: write what a policy publishes of every row, and a receipt beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from tightlip.arguments import flag, instance
from tightlip.arguments import path as read_path
from tightlip.auditing.counted import Counted, counts_digest
from tightlip.auditing.plan import apply_policy, require_unweighted, worst_leakage_of
from tightlip.auditing.promise import require_promise
from tightlip.auditing.receipt import (
    Receipt,
    asked_of,
    database_of,
    named_files,
    output_named,
    policy_digest,
    proved_of,
    versions,
    written_of,
)
from tightlip.errors import InvalidInput
from tightlip.files import require_apart, whole_file
from tightlip.numeric.quantity import Nats
from tightlip.table.chain import steps_of
from tightlip.table.counts import count_cells
from tightlip.table.local import file_digest
from tightlip.table.outputs import output_of
from tightlip.table.policy import Policy, mechanism_files, require_mechanism_files
from tightlip.table.publish import Published, publish
from tightlip.table.source import Table, open_table


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """A written release.

    Attributes
    ----------
    published : what was written
    leakage : the worst leakage of a published value about all secret columns together, and about each, of the people
        to whom it applies
    receipt : what was asked, proved and written
    receipt_path : where the receipt is
    """

    published: Published
    leakage: Nats
    receipt: Receipt
    receipt_path: Path

    def verify(self) -> None:
        """Check that the files are still those that were written.

        Raises
        ------
        CertificateInvalid
            When one was changed.
        """
        self.receipt.verify()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a receipt says besides what the policy and the file say themselves.

    Attributes
    ----------
    counts : the digest that the counts must have; any where it is None
    asked, proved : more of what was asked and proved
    command : what was typed
    files : other files that belong to the release, by what they are
    """

    counts: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    proved: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    files: Mapping[str, Path] = field(default_factory=dict)


class Charge(Protocol):
    """What a release costs somewhere: it is reserved before anything is drawn, and confirmed when it is written."""

    def reserve(
        self, table: Table, policy: Policy, counts: str, options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Reserve it, or raise; returns what the receipt says of that. Options are those of `release`."""

    def confirm(self, receipt: Receipt) -> None:
        """Confirm that it is written."""


def release(
    table: Any,
    policy: Policy,
    path: str | Path,
    *,
    keep: Sequence[str] = (),
    with_secret: bool = False,
    receipt: str | Path | None = None,
    out_table: str | None = None,
    force: bool = False,
    seed_for_tests: int | None = None,
) -> Release:
    """Write what a policy publishes of every row of a table, and a receipt beside it.

    Rows come in the order of the input, where there is one. What was written is read back and checked before a file
    takes its name, which only the owner may read, or the transaction that makes a table is committed.

    Parameters
    ----------
    table : Table or anything `open_table` takes
    policy : Policy
        Recodings, hidden cells, noise, or what `protect` found.
    path : ends with .csv, .parquet, .duckdb or .sqlite; a database file is new and has one table, "release"
        Or a Postgres URL, for a new table of that database.
    keep : columns that are written as they are; no guarantee covers them
    with_secret : whether the secret columns are written too; of deterministic releases only
    receipt : where the receipt goes; beside the file where left out, as safe.csv.receipt.json
        That of a Postgres table goes to the working folder, as release.receipt.json.
    out_table : what the Postgres table is called; "release" where left out
    force : whether files that exist are replaced; a Postgres table never is
    seed_for_tests : makes what is drawn repeatable, and so protects nobody; the receipt says so

    Returns
    -------
    Release

    Raises
    ------
    BudgetExceeded
        When `protect` found the policy, and on this table it keeps less than was promised; nothing is then written.
    InvalidInput
        When the plan does not fit the table, the table changed meanwhile, or what was written is not what was decided;
        nothing is then written.
    """
    options = {"keep": keep, "with_secret": with_secret, "force": force, "seed_for_tests": seed_for_tests}
    return write_release(table, policy, path, receipt, Facts(), None, out_table=out_table, **options)


def write_release(
    table: Any,
    policy: Policy,
    path: str | Path,
    receipt: str | Path | None,
    facts: Facts,
    charge: Charge | None,
    *,
    out_table: str | None,
    **options: Any,
) -> Release:
    """Write a release and its receipt; see `release`, whose other arguments are the options.

    With a charge it is reserved after it was checked and before anything is drawn.
    """
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    require_unweighted(policy, "released")
    output = output_of(path, out_table)
    beside = output.receipt if receipt is None else read_path(receipt, "receipt")
    require_apart([output.path, beside], _inputs(table, policy, facts))
    require_mechanism_files(policy)
    force = flag(options["force"], "force")
    with (
        nullcontext(table) if isinstance(table, Table) else open_table(table) as opened,
        whole_file(beside, force=force, private=True) as partial,
    ):
        counts = count_cells(opened, replace(policy, min_count=None))
        counted = Counted.of(counts, policy.secret, [item.column for item in policy.release])
        digest = counts_digest(counted)
        if facts.counts not in (None, digest):
            raise InvalidInput(f"{opened.name} has changed since it was protected or audited; do that again.")
        require_promise(counted, policy, opened.name)
        leakage = worst_leakage(counted, policy)
        if charge is not None:
            said = charge.reserve(opened, policy, digest, options)
            facts = replace(facts, proved={**facts.proved, **said})
        made: list[Receipt] = []

        def sign(published: Published) -> None:
            require_mechanism_files(policy)
            made.append(_receipt(policy, published, leakage, digest, facts, beside.parent))
            partial.write_text(made[0].to_json(), encoding="utf-8")

        published = publish(opened, policy, output, counts=counts, before_named=sign, **options)
    if charge is not None:
        charge.confirm(made[0])
    return Release(published, leakage, made[0], beside)


def worst_leakage(counted: Counted, policy: Policy) -> Nats:
    """Compute the worst leakage of what a policy publishes of counts, about all secret columns together and each."""
    return worst_leakage_of(apply_policy(counted, policy), policy)


def _inputs(table: Any, policy: Policy, facts: Facts) -> dict[str, list[str | Path | None]]:
    """The files that are read, by what they are."""
    steps = [step for recoding in policy.recodings for step in steps_of(recoding)]
    hierarchies = [getattr(step, "hierarchy", None) for step in steps]
    return {
        "the table": [table if isinstance(table, (str, Path)) else None],
        "the local recoding": [None if policy.local is None else policy.local.path],
        "a mapping": [hierarchy.path for hierarchy in hierarchies if hierarchy is not None],
        "a mechanism": [path for path, _ in mechanism_files(policy).values()],
        "a file of this release": [*facts.files.values()],
    }


def _receipt(
    policy: Policy, published: Published, leakage: Nats, counts: str, facts: Facts, folder: Path
) -> Receipt:
    files = {what: (path, file_digest(path)) for what, path in facts.files.items()}
    if policy.local is not None and policy.local.path is not None:
        files["local recoding"] = policy.local.path, file_digest(policy.local.path)
    for column, read in mechanism_files(policy).items():
        files[f"mechanism of {column}"] = read
    return Receipt(
        asked_of(policy) | dict(facts.asked),
        proved_of(leakage, published.deterministic) | dict(facts.proved),
        written_of(published),
        {"output": output_named(published, folder)} | named_files(files, folder),
        counts,
        policy_digest(policy),
        versions(),
        facts.command,
        folder,
        database_of(published),
    )
