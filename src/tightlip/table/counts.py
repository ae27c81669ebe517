"""Count how many rows have each secret in each released cell: grouped by the engine, coded the same for every engine.

Keys travel without missing values, since some engines' ways to Python turn whole numbers with gaps into floats: where a
key is missing stands in bit masks beside them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag, instance, whole
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_count
from tightlip.table.chain import keeps_values, steps_of
from tightlip.table.condition import conditions_text
from tightlip.table.embedded import ROW
from tightlip.table.failure import engine_work
from tightlip.table.kinds import MISSING, Kind, is_value
from tightlip.table.mapping import Mapping
from tightlip.table.policy import OTHER, Policy, Secret, require_known
from tightlip.table.recoding import Keep, Recoding
from tightlip.table.scale import Declared, require_listed, require_scale
from tightlip.table.source import Table

Codes = NDArray[np.int64]
Label = str | None

GAP_BITS = 60  # of a mask, so that it stays a positive 64-bit number
GROUPS_PER_CELL = 20  # pairs of secret and cell, on average, that a limit on cells allows
MAX_CELLS = 250_000
MOST_CELLS = 10**12  # that can be asked for: engines count in 64 bits
_DENSE = 10_000_000
_MOST_KEPT = 5_000_000  # of 20 groups each: more do not fit into memory here
_MOST_NAMED = 1_000_000  # values of a column that are called by their names here, to see which are one


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A recoded column, as an Ibis expression on the table, and how its values are called.

    Of a secret with named values the key is a place among `names`. Where `scale` lists values, others are refused.
    """

    column: str
    expression: Any
    recoding: Recoding
    kind: Kind
    names: tuple[Label, ...] | None = None
    scale: Declared | None = None

    def label(self, value: Any) -> Label:
        """Return the released value as people read it; None for a missing one that has a name of its own."""
        if self.names is not None:
            return self.names[int(value)]
        try:
            return str(self.recoding.label(value, self.kind))
        except InvalidInput as error:
            raise InvalidInput(f"column {quoted(self.column)}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Grouped counts: for each group a code in each key, its count, and the keys as they travel (`arrow`)."""

    labels: list[list[Label]]
    codes: list[Codes]
    count: Codes
    arrow: Any


def keys_of(table: Table, policy: Policy) -> list[Key]:
    """List the keys to count by: the secret columns, then the released ones, after their recodings.

    The table must be the one of the policy, `table.under(policy)`.
    """
    table.plain_columns(policy.columns)  # all at once, so that a file is read once
    columns = [item.column for item in policy.release]
    keys = _recoded_keys(table, policy, columns, policy.recodings[len(policy.secret) :])
    return [*secret_keys(table, policy), *(_by_label(table, key) for key in keys)]


def secret_keys(table: Table, policy: Policy) -> list[Key]:
    """List the keys of the secret columns of a policy."""
    keys = _recoded_keys(table, policy, policy.secret, policy.recodings[: len(policy.secret)])
    return [_named_key(table, key, item) for key, item in zip(keys, policy.secrets, strict=True)]


def _recoded_keys(
    table: Table, policy: Policy, columns: Sequence[str], recodings: Sequence[Recoding]
) -> list[Key]:
    assert table is table.under(policy)
    for name in policy.scales:
        require_known(name, [*table.physical, *table.refused], "scales column")
    plain = table.plain_columns(columns)
    kept = [name for name, recoding in zip(columns, recodings, strict=True) if keeps_values(recoding)]
    table.require_one_spelling(kept)
    keys = []
    for name, recoding, (column, kind) in zip(columns, recodings, plain, strict=True):
        recoding.require(name, kind)
        scale = _scale_of(policy, name, kind)
        keys.append(Key(name, recoding.key(column, kind), recoding, kind, scale=scale))
    return keys


def _scale_of(policy: Policy, name: str, kind: Kind) -> Declared | None:
    """The declared scale of a column, which its kind must allow; what is no secret has no place in an order."""
    scale = policy.scales.get(name)
    if scale is not None:
        require_scale(scale, name, kind)
    if isinstance(scale, tuple) and name in policy.secret:
        return (*scale, *policy.secret_of(name).not_secret)
    return scale


def _labels_of(table: Table, key: Key) -> dict[Any, Label]:
    """What each value of a key is called, in the order of values; asked of the engine."""
    found = table.select({"k": key.expression})
    with engine_work(table.name, "counted"):
        distinct = table.fetch(found.filter(found["k"].notnull()).distinct().limit(_MOST_NAMED + 1))["k"]
    if len(distinct) > _MOST_NAMED:
        raise InvalidInput(
            f"column {quoted(key.column)} must have at most {format_count(_MOST_NAMED)} values where some are named or "
            "joined, got more; recode it first, with bins or a prefix."
        )
    return {value: key.label(value) for value in sorted(distinct.to_pylist())}


def _by_label(table: Table, key: Key) -> Key:
    """The key with one value for each label: those that later recodings join are one to the engine too.

    So the engine counts what is released, and refuses a value without a group, also where no label comes back.
    """
    import ibis

    if not any(isinstance(step, Mapping) for step in steps_of(key.recoding)):
        return key
    alike: dict[Label, list[Any]] = {}
    for value, label in _labels_of(table, key).items():
        alike.setdefault(label, []).append(value)
    joined = [values for values in alike.values() if len(values) > 1]
    if not joined:
        return key
    branches = [
        (key.expression.isin(others), ibis.literal(first, key.expression.type())) for first, *others in joined
    ]
    return replace(key, expression=ibis.cases(*branches, else_=key.expression))


def _named_key(table: Table, key: Key, secret: Secret) -> Key:
    """The key of a secret: where values are named, the place of the named one, or of what all others count as.

    Which keys have which names is asked of the engine first: only `label` knows, and the order of values is that of
    keys.
    """
    import ibis

    if not secret.values:
        return _by_label(table, key)
    labels = _labels_of(table, key)
    _require_listed(key, labels.values())
    members = {value: label for value, label in labels.items() if label in secret.named}
    places = {label: place for place, label in enumerate(dict.fromkeys(members.values()))}
    branches = [(is_value(key.expression, value), places[label]) for value, label in members.items()]
    names: list[Label] = [*places, OTHER]
    if MISSING in secret.named:
        branches.append((key.expression.isnull(), len(names)))
        names.append(None)
    rest = ibis.literal(len(places), "int64")
    if not branches:
        return Key(key.column, ibis.ifelse(key.expression.isnull(), rest, rest), Keep(), "integer", (OTHER,))
    chosen = ibis.cases(*branches, else_=rest).cast("int64")
    return Key(key.column, chosen, Keep(), "integer", tuple(names))


class TooManyCells(InvalidInput):
    """There are more cells than are worth bringing to Python; the engine can still count their kinds."""


def count_groups(table: Table, keys: Sequence[Key], limit: int) -> Groups:
    """Count the rows of each combination of keys in the engine.

    Raises
    ------
    TooManyCells
        When there are more combinations than the limit; they are not even fetched.
    InvalidInput
        When there are no rows.
    """
    names = [f"k{place}" for place in range(len(keys))]
    chosen = table.select({name: key.expression for name, key in zip(names, keys, strict=True)})
    tallied = chosen.group_by(names).aggregate(n=chosen.count())
    with engine_work(table.name, "counted"):
        arrow = table.fetch(tallied.select(**without_gaps(tallied, names), n=tallied["n"]).limit(limit + 1))
    table.require_unchanged()
    if arrow.num_rows > limit:
        raise TooManyCells(
            f"release must have at most {format_count(limit)} combinations of secret and released values, got more; "
            "coarsen or drop columns."
        )
    if not arrow.num_rows and table.where:
        raise InvalidInput(
            f"where must be satisfied by some row, got none in {table.name} for {conditions_text(table.where)}; "
            "check columns and values."
        )
    if not arrow.num_rows:
        raise InvalidInput(f"{table.name} has no rows; there is nothing to count.")
    found = [_encode(arrow, place, key) for place, key in enumerate(keys)]
    for key, (labels, _) in zip(keys, found, strict=True):
        _require_listed(key, labels)
    count = arrow["n"].to_numpy().astype(np.int64)
    return Groups([labels for labels, _ in found], [codes for _, codes in found], count, arrow)


def _require_listed(key: Key, labels: Iterable[Label]) -> None:
    """Refuse values of a column that a list in order does not have; of one that is recoded, groups are counted."""
    if isinstance(key.scale, tuple) and key.recoding == Keep():
        require_listed(key.scale, key.column, labels)


def without_gaps(expression: Any, names: Sequence[str]) -> dict[str, Any]:
    """Keys with something in place of missing values, and bit masks m0, m1, … of where they are missing."""
    import ibis

    filled: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    for place, name in enumerate(names):
        column = expression[name]
        filled[name] = column.fill_null(
            "" if column.type().is_string() else ibis.literal(0).cast(column.type())
        )
        mask, bit = f"m{place // GAP_BITS}", 1 << (place % GAP_BITS)
        missing = ibis.ifelse(column.isnull(), ibis.literal(bit, "int64"), ibis.literal(0, "int64"))
        masks[mask] = masks[mask] + missing if mask in masks else missing
    return filled | masks


def _encode(arrow: Any, place: int, key: Key) -> tuple[list[Label], Codes]:
    """Number the labels of a key in the order of its values, missing first."""
    mask = arrow[f"m{place // GAP_BITS}"].to_numpy().astype(np.int64, copy=False)
    missing = (mask >> (place % GAP_BITS)) & 1 == 1
    encoded = arrow[f"k{place}"].combine_chunks().dictionary_encode()
    values = encoded.dictionary.to_pylist()
    places = encoded.indices.to_numpy().astype(np.int64)
    occurring = np.flatnonzero(np.bincount(places[~missing], minlength=len(values)))
    present = sorted(occurring.tolist(), key=values.__getitem__)
    code_of: dict[Label, int] = {None: 0} if missing.any() else {}
    lookup = np.zeros(len(values), dtype=np.int64)
    for value in present:
        lookup[value] = code_of.setdefault(key.label(values[value]), len(code_of))
    return list(code_of), np.where(missing, 0, lookup[places])


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts:
    """Counts as triples: count[i] rows have the secret secrets[secret_of[i]] in the cell cells[cell_of[i]].

    Attributes
    ----------
    secrets : the distinct secret values, one entry for each secret column; None is missing
    cells : the distinct combinations of released values likewise; the suppressed one, always last, is the empty tuple
    secret_of, cell_of, count : int64 arrays, sorted by cell and then secret; every count is at least 1
    total : number of rows
    suppressed : place of the suppressed cell; None where there is none

    Order is the same on every engine: by column, missing first, numbers by size, texts by code point.
    """

    secrets: list[tuple[Label, ...]]
    cells: list[tuple[Label, ...]]
    secret_of: Codes
    cell_of: Codes
    count: Codes
    total: int
    suppressed: int | None

    def sizes(self) -> Codes:
        """Count the rows in each cell."""
        sizes = np.zeros(len(self.cells), dtype=np.int64)
        np.add.at(sizes, self.cell_of, self.count)
        return sizes

    def same_as(self, other: CellCounts) -> bool:
        """Whether both count the same."""
        return (
            (self.secrets, self.cells, self.suppressed) == (other.secrets, other.cells, other.suppressed)
            and np.array_equal(self.secret_of, other.secret_of)
            and np.array_equal(self.cell_of, other.cell_of)
            and np.array_equal(self.count, other.count)
        )


def count_cells(
    table: Table,
    policy: Policy,
    *,
    max_cells: int = MAX_CELLS,
    max_groups: int | None = None,
    check: bool = True,
) -> CellCounts:
    """Count a table's rows by secret and released cell, after the policy's recodings and suppression.

    Randomised response is not applied: it turns these counts into a channel later. `check` is whether the secrets are
    still to be checked: some of those of a plan need not have every value that is no secret.

    Raises
    ------
    TooManyCells
        When there are more than `max_cells` cells, or `max_groups` pairs of secret and cell.
    InvalidInput
        When a column is not there or of no use, the table is empty, or a secret column has one value only.

    >>> import pyarrow
    >>> from tightlip import open_table
    >>> rows = pyarrow.table({"age": [31, 35, 47], "ill": ["no", "yes", "no"]})
    >>> counts = count_cells(open_table(rows), Policy("ill", ["age"]))
    >>> counts.cells, counts.secrets
    ([('31',), ('35',), ('47',)], [('no',), ('yes',)])
    """
    whole(max_cells, "max_cells", 1, MOST_CELLS)
    instance(table, Table, "table", "use open_table(path)")
    instance(policy, Policy, "policy", "write Policy(secret, release)")
    flag(check, "check")
    if max_groups is not None:
        whole(max_groups, "max_groups", 1, MOST_CELLS)
    rows = table.under(policy)
    limit = max_cells * GROUPS_PER_CELL if max_groups is None else max_groups
    groups = count_groups(rows, keys_of(rows, policy), limit)
    if check:
        require_secrets(policy, groups.labels, rows.physical)
    return cells_of_groups(groups, policy, max_cells, check=False)[0]


def require_few_cells(table: Table, policy: Policy, max_cells: int) -> None:
    """Refuse a release of more cells than can be counted in memory; quicker than counting them.

    Raises
    ------
    TooManyCells
    """
    rows = table.under(policy)
    keys = keys_of(rows, policy)[len(policy.secret) :]
    chosen = rows.select({f"k{place}": key.expression for place, key in enumerate(keys)})
    some = chosen.limit(max_cells + 1)
    with engine_work(table.name, "counted"):
        # a small table is not asked twice
        many = max_cells < _size(table, some) and _size(table, chosen.distinct().limit(max_cells + 1))
    if many > max_cells:
        raise TooManyCells(
            f"release must have at most {format_count(max_cells)} combinations of values, got more; "
            "coarsen or drop columns."
        )


def _size(table: Table, rows: Any) -> int:
    return int(table.fetch(rows.aggregate(n=rows.count()))["n"][0].as_py())


def count_values(table: Table, names: Sequence[str]) -> Groups:
    """Count a table's rows by the values of some columns, as they are.

    A field of a CSV file is called what the file writes, whatever else is in its column; elsewhere the column's type,
    which no row decides, says how values are called.
    """
    return count_groups(table, _plain_keys(table, names), _MOST_KEPT * GROUPS_PER_CELL)


def first_row(table: Table, names: Sequence[str], found: Groups, place: int) -> int | None:
    """Find the first row, counted from 1, of a group that `count_values` found; None where rows are not numbered so."""
    ordered = table.in_order()
    if table.loose or ordered.ordered_by is None:
        return None
    with suppress(Exception):  # it would only have helped to find the row
        keys = enumerate(_plain_keys(ordered, names))
        same = [key.expression == found.arrow[f"k{number}"][place].as_py() for number, key in keys]
        rows = ordered.expression.filter(same)
        first = int(ordered.fetch(rows.aggregate(n=rows[ROW].min()))["n"][0].as_py())
        return first if table.parquet is not None else first + 1  # DuckDB counts the rows of those from 1
    return None


def _plain_keys(table: Table, names: Sequence[str]) -> list[Key]:
    plain = table.plain_columns(names)
    table.require_one_spelling(names)
    if table.csv is not None:
        plain = [(table.expression[table.physical[name]], "text") for name in names]
    return [Key(name, column, Keep(), kind) for name, (column, kind) in zip(names, plain, strict=True)]


def cells_of_groups(
    groups: Groups, policy: Policy, max_cells: int, *, check: bool = True
) -> tuple[CellCounts, Codes]:
    """Counted cells, and for each group the place of its triple; `check` is whether secrets are still to be checked."""
    secret_columns = len(policy.secret)
    if check:
        require_secrets(policy, groups.labels)
    secrets, secret_of = combine(groups.labels[:secret_columns], groups.codes[:secret_columns])
    widths = [len(own) for own in groups.labels[secret_columns:]]
    many = len(combine_codes(groups.codes[secret_columns:], widths)[0])
    if many > max_cells:
        raise TooManyCells(
            f"release must have at most {format_count(max_cells)} combinations of values, got {format_count(many)}; "
            "coarsen or drop columns."
        )
    cells, cell_of = combine(groups.labels[secret_columns:], groups.codes[secret_columns:])
    counts, triple_of = _add_up(secrets, cells, secret_of, cell_of, groups.count)
    if policy.min_count is None:
        return counts, triple_of
    hidden, place = _hide_cells(counts, policy.min_count)
    return hidden, place[triple_of]


def require_secrets(policy: Policy, labels: Sequence[list[Label]], columns: Collection[str] = ()) -> None:
    """Refuse secrets of one value, and named values that nobody has: one that was mistyped would count as others.

    `columns` are those of the table: a value of that name is meant for another secret.
    """
    for secret, known in zip(policy.secrets, labels, strict=False):
        names = {MISSING if label is None else label for label in known}
        if None in known and MISSING in known:
            raise InvalidInput(
                f"secret column {quoted(secret.column)} must not have the value {quoted(MISSING)} beside missing ones; "
                "map it to another."
            )
        for value in secret.named:
            if value not in names and value not in policy.not_secret:
                other = "it is a column; repeat --secret for another column"
                raise InvalidInput(
                    f"secret column {quoted(secret.column)} must have every value that is named, got none that is "
                    f"{quoted(value)}; {other if value in columns else 'check how it is written'}."
                )
        if sum(not secret.leaves_out(label) for label in known) < 2:
            left = " besides those that are not secret" if secret.not_secret else ""
            raise InvalidInput(
                f"secret column {quoted(secret.column)} must have at least two values{left}, got one; name another."
            )
    everywhere = {
        MISSING if label is None else label for own in labels[: len(policy.secrets)] for label in own
    }
    for value in policy.not_secret:
        if value not in everywhere:
            raise InvalidInput(
                f"not_secret must occur in a secret column, got {quoted(value)} in none; check how it is written."
            )


def hide_small_cells(counts: CellCounts, min_count: int | None) -> CellCounts:
    """Suppress small cells: people in cells of fewer than `min_count` are put in one cell that shows nothing."""
    return counts if min_count is None else _hide_cells(counts, min_count)[0]


def _hide_cells(counts: CellCounts, least: int) -> tuple[CellCounts, Codes]:
    """Put all cells of fewer than `least` rows into one, the last; and the new place of each triple."""
    kept = counts.sizes() >= least
    if kept.all():
        return counts, np.arange(len(counts.count))
    cells = [*(counts.cells[place] for place in np.flatnonzero(kept)), ()]
    new = np.where(kept, np.cumsum(kept) - 1, kept.sum())
    found, place = _add_up(
        counts.secrets, cells, counts.secret_of, new[counts.cell_of], counts.count, int(kept.sum())
    )
    return found, place


def _add_up(
    secrets: list[tuple[Label, ...]],
    cells: list[tuple[Label, ...]],
    secret_of: Codes,
    cell_of: Codes,
    count: Codes,
    suppressed: int | None = None,
) -> tuple[CellCounts, Codes]:
    """Add up the counts of equal triples; and the place of each among the distinct ones."""
    places, triple_of = _distinct(cell_of * len(secrets) + secret_of, len(cells) * len(secrets))
    total = np.zeros(len(places), dtype=np.int64)
    np.add.at(total, triple_of, count)
    counts = CellCounts(
        secrets, cells, places % len(secrets), places // len(secrets), total, int(total.sum()), suppressed
    )
    return counts, triple_of


def combine_codes(codes: Sequence[Codes], widths: Sequence[int]) -> tuple[Codes, Codes]:
    """The distinct combinations of some codes in order, each below its width, and which one each entry has."""
    combined, span = codes[0], widths[0]
    for more, width in zip(codes[1:], widths[1:], strict=True):
        if span * width >= 2**62:
            distinct, combined = _distinct(combined, span)
            span = len(distinct)
        combined, span = combined * width + more, span * width
    return _distinct(combined, span)


def combine(labels: Sequence[list[Label]], codes: Sequence[Codes]) -> tuple[list[tuple[Label, ...]], Codes]:
    """List the distinct combinations of some keys in order, and which one each group has."""
    distinct, place = combine_codes(codes, [len(names) for names in labels])
    first = np.empty(len(distinct), dtype=np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    columns = [
        [names[code] for code in own[first].tolist()] for names, own in zip(labels, codes, strict=True)
    ]
    return list(zip(*columns, strict=True)), place


def _distinct(values: Codes, span: int) -> tuple[Codes, Codes]:
    """The distinct values below `span` in order, and the place of each value; without sorting where that is quicker."""
    if span > _DENSE:
        found, place = np.unique(values, return_inverse=True)
        return found, place
    seen = np.zeros(span, dtype=bool)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[values]
