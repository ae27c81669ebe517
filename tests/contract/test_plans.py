"""Which rows count, which codes mean missing and what is secret, alike on every engine and in all that is done."""

import datetime as dt
from collections import Counter

import numpy as np
import pyarrow.parquet
import pytest

from contract.people import ROWS, UNORDERED
from contract.test_every_engine import as_counter, plain, thirty
from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.cell_kinds import CellCounter, count_kinds
from tightlip.table.chain import Chain
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import OTHER, Policy, Released, Secret
from tightlip.table.publish import publish, rows_of
from tightlip.table.recoding import Bins, BottomCode, Prefix, TopCode
from tightlip.table.risk import CellRisks, write_risks

pytestmark = IGNORED

MISSING = {
    "age": ["89", "-30"],
    "job": ["NA", "nurse "],
    "weight": [0.1],
    "born": ["2000-02-29"],
    "disease": ["none"],
}
WHERE = [
    "age < 90.5",
    "job != Nurse",
    "weight >= -0.3",
    "born in 1999-12-31,2000-01-01",
    "member is not missing",
]
PLAN = Policy(
    [Secret("disease", values=["flu"], not_secret=["(missing)"]), "member"],
    [Released("age", Bins(width=30, origin=5)), "job", Released("born", Prefix(4))],
    where=WHERE,
    missing=MISSING,
)


def meant(row):
    """A row as the plan sees it, by other means than the library's; None where it is left out."""
    codes = {name: {str(code) for code in own} for name, own in MISSING.items()}
    seen = {name: None if plain(value) in codes.get(name, ()) else value for name, value in row.items()}
    kept = (
        seen["age"] is not None
        and seen["age"] < 90.5
        and seen["job"] not in (None, "Nurse")
        and seen["weight"] is not None
        and seen["weight"] >= -0.3
        and seen["born"] in (dt.date(1999, 12, 31), dt.date(2000, 1, 1))
        and seen["member"] is not None
    )
    return seen if kept else None


SEEN = [seen for seen in map(meant, ROWS) if seen is not None]


def secret_of(seen):
    return {"flu": "flu", None: None}.get(seen["disease"], OTHER), plain(seen["member"])


def cell_of(seen):
    return thirty(seen["age"]), seen["job"], str(seen["born"])[:4]


def test_a_plan_is_counted_alike(table):
    counts = count_cells(table, PLAN)
    assert 4 < len(SEEN) < len(ROWS)
    assert as_counter(counts) == Counter((secret_of(seen), cell_of(seen)) for seen in SEEN)
    assert counts.total == len(SEEN) == table.under(PLAN).rows()


def test_a_plan_is_published_and_told_of_the_same_rows(table, engine, tmp_path):
    publish(table, PLAN, tmp_path / "safe.parquet", keep=["id", "weight"], with_secret=True)
    found = pyarrow.parquet.read_table(tmp_path / "safe.parquet").to_pylist()
    wanted = [
        dict(zip(("age", "job", "born"), cell_of(seen), strict=True))
        | dict(zip(("disease", "member"), secret_of(seen), strict=True))
        | {"id": seen["id"], "weight": seen["weight"] + 0.0}
        for seen in SEEN
    ]
    order = (lambda row: row["id"]) if engine in UNORDERED else (lambda row: 0)
    assert sorted(found, key=order) == sorted(wanted, key=order)
    counts = count_cells(table, PLAN)
    sizes = counts.sizes()
    risks = CellRisks(counts, np.ones(len(sizes)), counts.count / sizes[counts.cell_of])
    write_risks(table, PLAN, risks, tmp_path / "risks.parquet", id_column="id")
    told = pyarrow.parquet.read_table(tmp_path / "risks.parquet").to_pylist()
    together = Counter(map(cell_of, SEEN))
    expected = [(seen["id"], together[cell_of(seen)]) for seen in SEEN]
    assert sorted((row["id"], row["cell_size"]) for row in told) == sorted(expected)


JOINED = Policy(
    [
        "disease",
        Secret("member", Chain([Mapping({"true": "a", "false": "b"}), Mapping({"a": "c", "b": "d"})])),
    ],
    [
        Released(
            "age",
            Chain(
                [
                    Bins(width=30),
                    BottomCode(-25),
                    TopCode(60),
                    Mapping({"≥60": "end", "≤-25": "end"}, otherwise="middle"),
                ]
            ),
        ),
        Released("job", Chain([Prefix(1), Mapping({"n": "N", "N": "N"}, otherwise="rest")])),
    ],
)


def joined_cell(row):
    age, job = row["age"], row["job"]
    return (
        age if age is None else "end" if age >= 60 or age <= -25 else "middle",
        job if job is None else "N" if job[:1] in ("n", "N") else "rest",
    )


def test_cells_that_recodings_in_a_row_join_are_one_to_the_engine(table):
    """Kinds of cells come back without labels, so the engine itself must group by what is released."""
    member = {True: "c", False: "d", None: None}
    rows = Counter(((row["disease"], member[row["member"]]), joined_cell(row)) for row in ROWS)
    assert as_counter(count_cells(table, JOINED)) == rows
    kinds = count_kinds(CellCounter.of(table, JOINED).query(["member"], ["age", "job"]))
    found = Counter()
    for kind, many in enumerate(kinds.cells.tolist()):
        own = np.flatnonzero(kinds.kind_of == kind)
        pairs = zip(kinds.secret_of[own].tolist(), (kinds.count[own] // many).tolist(), strict=True)
        found[frozenset((kinds.secrets[secret][0], count) for secret, count in pairs)] += many
    cells = {}
    for ((_, secret), cell), count in rows.items():
        cells.setdefault(cell, Counter())[secret] += count
    assert found == Counter(frozenset(own.items()) for own in cells.values())


def test_a_value_without_a_group_is_refused_where_only_kinds_come_back(table):
    for recoding in (Mapping({"N": "x"}), Chain([Prefix(1), Mapping({"N": "x"})])):
        policy = Policy("disease", [Released("job", recoding)])
        with pytest.raises(
            InvalidInput, match="mapping must have a group for every value, got none for some"
        ):
            count_kinds(CellCounter.of(table, policy).query(["disease"], ["job"]))


def test_a_value_that_is_not_listed_is_refused_where_only_kinds_come_back(table):
    policy = Policy("disease", ["job"], scales={"job": ["nurse", "cook"]})
    with pytest.raises(InvalidInput, match='scales of "job" must list every value that occurs'):
        CellCounter.of(table, policy).require_secrets(policy)


def test_rows_are_found_again_in_their_order(table, engine):
    if engine in UNORDERED:
        return
    groups, group = rows_of(table, PLAN, 1000)
    found = [
        tuple(groups.labels[place][codes[one]] for place, codes in enumerate(groups.codes)) for one in group
    ]
    assert found == [(*secret_of(seen), *cell_of(seen)) for seen in SEEN]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"where": "age < -1000"}, "where must be satisfied by some row, got none"),
        ({"where": "job < a"}, "only numbers and dates have an order"),
        ({"where": "aeg = 1"}, 'did you mean "age"'),
        ({"missing": {"agee": ["1"]}}, 'did you mean "age"'),
        ({"secret": {"disease": ["flue"]}}, 'must have every value that is named, got none that is "flue"'),
        ({"not_secret": "N"}, 'not_secret must occur in a secret column, got "N" in none'),
    ],
)
def test_what_does_not_fit_the_table_is_refused(table, engine, changes, message):
    if engine not in ("csv", "sqlite", "polars", "postgres"):  # it is decided before engines differ
        return
    given = {"secret": "disease", "release": ["born"]} | changes
    with pytest.raises(InvalidInput, match=message):
        count_cells(table, Policy(given.pop("secret"), given.pop("release"), **given))
