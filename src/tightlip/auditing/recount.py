"""Count a released file again beside the table that it was made of: what a receipt states, found out without it.

A receipt is not signed: whoever can write it can write another one. What is said here rests on the two tables alone; of
the receipt come only the names of columns and the numbers that are then compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import worst_leakage_of
from tightlip.auditing.promise import values_above
from tightlip.auditing.receipt import Receipt
from tightlip.auditing.tally import Tally, group_rows
from tightlip.errors import CertificateInvalid, InvalidInput, TightlipError, quoted
from tightlip.numeric.quantity import Nats
from tightlip.table.forms import Form, form_of
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_from_text
from tightlip.table.promise import PromisedLimit
from tightlip.table.publish import rows_of
from tightlip.table.source import Table
from tightlip.table.truth import says_truth

_MOST_CELLS = 5_000_000  # of the table as it is


@dataclass(frozen=True, slots=True)
class Recount:
    """What a released file and its table say.

    Attributes
    ----------
    rows : how many both have
    secret, released, kept : columns; those that are kept are covered by no guarantee
    leakage : the worst leakage of a published value about all secret columns together and each, counted
    groups : released columns with names of groups, which only the recoding explains
    single : whether the budget had limits on single values, which a receipt does not name
    """

    rows: int
    secret: tuple[str, ...]
    released: tuple[str, ...]
    kept: tuple[str, ...]
    leakage: Nats
    groups: tuple[str, ...]
    single: bool


def recount(receipt: Receipt, table: Table) -> Recount:
    """Compare a deterministic release with the table it was made of, row by row.

    Raises
    ------
    CertificateInvalid
        When a file was changed, a published value is not true of its row, or leaks more than the receipt states.
    InvalidInput
        When rows cannot be compared: the release is drawn by chance or in Postgres, or the table has no order.
    """
    receipt.verify()
    try:
        return _recount(receipt, table)
    except TightlipError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise CertificateInvalid(
            "receipt is malformed: it does not say what was released; release the table again."
        ) from error


def _recount(receipt: Receipt, table: Table) -> Recount:
    path = _require_comparable(receipt, table)
    secret, released = tuple(receipt.asked["secret"]), _released(receipt)
    kept = tuple(receipt.written["kept_without_guarantee"])
    policy = _meant(receipt, secret, released)
    groups, group = rows_of(table, policy, _MOST_CELLS)
    columns = tuple(map(str, receipt.written["columns"]))
    labels, codes = _published(path, columns, released)
    if len(codes) != len(group):
        raise _false(path, f"has {len(codes)} rows, and {table.name} {len(group)}")
    before = np.column_stack(groups.codes)[group]
    own = before[:, len(secret) :]
    _require_secrets(path, columns, secret, groups.labels, before)
    named = []
    for place, column in enumerate(released):
        known = groups.labels[len(secret) + place]
        if _names_groups(path, column, known, own[:, place], labels[place], codes[:, place], receipt):
            named.append(column)
    if len(group_rows(np.column_stack([own, codes]))[0]) != len(group_rows(own)[0]):
        raise _false(path, "publishes rows that are alike in different ways")
    published = _count(secret, groups.labels, before[:, : len(secret)], released, labels, codes)
    worst = worst_leakage_of(published, policy)
    if float(worst) > float(receipt.proved["leakage_nats"]):
        raise _false(path, f"has a value that leaks {float(worst):.6g} nats, more than the receipt states")
    single = _require_limits(receipt, published, policy, path)
    return Recount(len(group), secret, released, kept, worst, tuple(named), single)


def _false(path: Path, what: str) -> CertificateInvalid:
    return CertificateInvalid(f"{path} {what}; do not rely on it, release the table again.")


def _require_comparable(receipt: Receipt, table: Table) -> Path:
    output = receipt.files["output"]
    if receipt.is_stored:
        raise InvalidInput(
            "table must not be given for a release in Postgres, whose rows have no order to compare them by; leave it "
            "out."
        )
    if not receipt.is_deterministic:
        raise InvalidInput(
            "table must not be given for a release drawn by chance: what it leaks is in the probabilities, which two "
            "files do not tell; leave it out, and audit the policy."
        )
    if {*receipt.asked["secret"]} & {item["column"] for item in receipt.asked["release"]}:
        raise InvalidInput(
            "table must not be given for a release of a secret column through a mechanism; leave it out, and audit the "
            "policy."
        )
    if table.in_order().ordered_by is None:
        raise InvalidInput(
            f"{table.name} must have an order of rows, to compare them one by one; use its file."
        )
    return receipt.folder / output["name"]


def _released(receipt: Receipt) -> tuple[str, ...]:
    """The columns of the file that a guarantee covers."""
    others = {*receipt.asked["secret"], *receipt.written["kept_without_guarantee"]}
    return tuple(str(name) for name in receipt.written["columns"] if name not in others)


def _published(
    path: Path, columns: Sequence[str], released: Sequence[str]
) -> tuple[list[list[Value]], NDArray[np.int64]]:
    """What the file shows in each released column, and for each row which of it."""
    import pyarrow as pa

    form: Form = form_of(path)
    names = form.shape(pa.schema([(name, pa.string()) for name in columns]).empty_table()).column_names
    if form.contents(path) != names:
        raise _false(path, "has other columns or tables than the receipt names")
    wanted = [names[columns.index(name)] for name in released]
    batches = [
        batch.select(wanted) for batch in form.read(path, pa.schema([(name, pa.string()) for name in wanted]))
    ]
    rows = pa.concat_tables(batches)
    labels, codes = [], []
    for name in wanted:
        encoded = rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
        labels.append(encoded.dictionary.to_pylist())
        codes.append(encoded.indices.to_numpy().astype(np.int64))
    return labels, np.column_stack(codes)


def _require_secrets(
    path: Path,
    columns: Sequence[str],
    secret: Sequence[str],
    known: Sequence[Sequence[Value]],
    before: NDArray[np.int64],
) -> None:
    """Refuse secret columns of the file that are not those of the table."""
    for place, name in enumerate(secret):
        if name in columns:
            (shown,), codes = _published(path, columns, [name])
            for value, label in np.unique(np.column_stack([before[:, place], codes]), axis=0).tolist():
                if known[place][value] not in (shown[label], (shown[label] or "").removeprefix("'")):
                    raise _false(path, f"publishes in column {quoted(name)} what is not true of a row")


def _names_groups(
    path: Path,
    column: str,
    known: Sequence[Value],
    own: NDArray[np.int64],
    labels: Sequence[Value],
    codes: NDArray[np.int64],
    receipt: Receipt,
) -> bool:
    """Refuse a column that says what is not true; whether some of what it says are names of groups."""
    how = {item["column"]: item["how"] for item in receipt.asked["release"]}
    shortened = re.fullmatch("first [0-9]+ characters?", str(how.get(column, ""))) is not None
    found, values = set(), frozenset(known)
    for value, label in np.unique(np.column_stack([own, codes]), axis=0).tolist():
        shown = labels[label]
        truth = says_truth(shown, known[value], values, shortened=shortened)
        defused = path.suffix.lower() == ".csv" and shown is not None and shown.startswith("'")
        if not truth and defused and shown not in values:
            truth = says_truth(shown[1:], known[value], values, shortened=shortened)
        if truth is False:
            raise _false(path, f"publishes in column {quoted(column)} what is not true of a row")
        found.add(truth)
    return None in found


def _count(
    secret: Sequence[str],
    known: Sequence[Sequence[Value]],
    secrets: NDArray[np.int64],
    released: Sequence[str],
    labels: Sequence[Sequence[Value]],
    codes: NDArray[np.int64],
) -> Counted:
    """Count the secrets of the table by what the file publishes."""
    first, holder = group_rows(secrets)
    kinds, cell = group_rows(codes)
    tally = Tally.of(holder, cell, np.ones(len(codes), dtype=np.int64), (len(first), len(kinds)))
    return Counted(
        tuple(released),
        tuple(map(tuple, labels)),
        codes[kinds],
        tuple(secret),
        tuple(tuple(known[place]) for place in range(len(secret))),
        secrets[first],
        tally,
    )


def _meant(receipt: Receipt, secret: tuple[str, ...], released: tuple[str, ...]) -> Policy:
    """Read which rows and secrets are meant, of the columns in the order of the file."""
    text = receipt.asked.get("meant")
    if text is None:
        return Policy(secret, released)
    policy = policy_from_text(str(text))
    if policy.secret != secret or {item.column for item in policy.release} != {*released}:
        raise ValueError("the plan is of other columns")
    return replace(policy, release=tuple(map(Released, released)))


def _require_limits(receipt: Receipt, published: Counted, policy: Policy, path: Path) -> bool:
    """Refuse a file that breaks a limit that was asked for; whether there were limits on single values too."""
    asked = receipt.asked
    above = np.zeros(published.tally.shape[1], dtype=bool)
    single = False
    for argument in ("budget", "pmc"):
        for one in asked.get(argument, ()):
            if one["of"] != "every value":
                single = True
                continue
            limit = PromisedLimit(tuple(one["about"]), _kind(argument, one["level"]), str(one["level"]))
            above |= values_above(published, limit, policy)
    allowed = Fraction(asked.get("share_of_people_above", 0))
    if published.tally.share_of(np.flatnonzero(above)) > allowed:
        raise _false(path, "has values that exceed the budget of the receipt")
    fewest = int(asked.get("min_count", 1)) if "limits" in asked else 1
    if int(published.tally.of_cell.min()) < fewest:
        raise _false(path, f"has values that fewer than {fewest} people share")
    return single


def _kind(argument: str, level: Any) -> str:
    if argument == "pmc":
        return "pmc"
    return "cap" if str(level).strip().endswith("%") else "pml"
