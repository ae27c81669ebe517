"""Every engine publishes the same of every row, whatever the policy and the form of the file."""

import sqlite3
from collections import Counter

import numpy as np
import pyarrow.parquet

import tightlip as tl
from contract.people import ROWS, UNORDERED
from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.publish import publish
from tightlip.table.recoding import Bins, Keep, Prefix

pytestmark = IGNORED

COLUMNS = ["job", "age", "born"]


def text(value):
    return None if value is None else str(value)


def year(value):
    return None if value is None else str(value)[:4]


def thirty(value):
    return None if value is None else f"[{value // 30 * 30}, {value // 30 * 30 + 30})"


def in_order(engine, found, wanted):
    """Compare rows; engines without an order give them in any."""
    if engine in UNORDERED:
        found, wanted = (sorted(map(repr, (sorted(row.items()) for row in rows))) for rows in (found, wanted))
    return found == wanted


def test_recodings_with_kept_columns_and_the_secret(table, engine, tmp_path):
    policy = Policy("disease", ["job", Released("age", Bins(width=30)), Released("born", Prefix(4))])
    done = publish(
        table, policy, tmp_path / "safe.parquet", keep=["id", "weight", "member"], with_secret=True
    )
    assert done.columns == ("id", "job", "age", "weight", "member", "born", "disease")
    wanted = [
        row
        | {
            "age": thirty(row["age"]),
            "born": year(row["born"]),
            "member": None if row["member"] is None else str(row["member"]).lower(),
            "weight": None if row["weight"] is None else row["weight"] + 0.0,
        }
        for row in ROWS
    ]
    assert in_order(engine, pyarrow.parquet.read_table(tmp_path / "safe.parquet").to_pylist(), wanted)


def rule(cell):
    """A local recoding that any program can follow: each cell by its own values."""
    job, age, born = cell
    if job is None or len(job) % 2:
        return (job, "*", year(born))
    return ("*", age, born)


def recoding(counts, scale, pairs) -> LocalRecoding:
    listed = [(at, value, weight) for at, cell in enumerate(counts.cells) for value, weight in pairs(cell)]
    published = list(dict.fromkeys(value for _, value, _ in listed))
    places = [[at, published.index(value), weight] for at, value, weight in listed]
    cell, value, weight = np.array(places).T
    return LocalRecoding(tuple(COLUMNS), tuple(counts.cells), tuple(published), cell, value, weight, scale)


def test_a_local_recoding_into_a_database(table, engine, tmp_path):
    counts = count_cells(table, Policy("disease", COLUMNS))
    local = recoding(counts, 1, lambda cell: [(rule(cell), 1)])
    publish(table, Policy("disease", COLUMNS, local=local), tmp_path / "safe.sqlite", keep=["id"])
    connection = sqlite3.connect(tmp_path / "safe.sqlite")
    found = {row[0]: row[1:] for row in connection.execute("SELECT id, job, age, born FROM release")}
    connection.close()
    assert found == {row["id"]: rule((row["job"], text(row["age"]), text(row["born"]))) for row in ROWS}


def test_random_recodings_and_noise_stay_within_their_support(table, engine, tmp_path):
    counts = count_cells(table, Policy("disease", COLUMNS))
    local = recoding(counts, 4, lambda cell: [(cell, 3), (("out",) * 3, 1)])
    publish(table, Policy("disease", COLUMNS, local=local), tmp_path / "safe.parquet", keep=["id"])
    by_id = {row["id"]: row for row in ROWS}
    seen = Counter()
    for row in pyarrow.parquet.read_table(tmp_path / "safe.parquet").to_pylist():
        own = by_id[row.pop("id")]
        out = row["job"] == "out"
        assert row == {name: "out" if out else text(own[name]) for name in COLUMNS}
        seen[out] += 1
    assert 0 < seen[True] < seen[False]
    noisy = Policy("disease", [Released("member", Keep(), RandomizedResponse(1.0)), "job"], min_count=3)
    publish(table, noisy, tmp_path / "noisy.csv", seed_for_tests=1)
    assert len((tmp_path / "noisy.csv").read_text().splitlines()) == len(ROWS) + 1


def input_of(value):
    """A label of a channel: numbers, booleans and None as they are, others as text."""
    return value if value is None or isinstance(value, int | float) else str(value)


def test_a_channel_knows_values_of_every_kind_by_their_labels(table, engine, tmp_path):
    """Numbers, booleans, dates and missing values alike; each outcome tells which input it came from."""
    names = ["job", "age", "member", "born", "weight"]
    labels = {name: list(dict.fromkeys(input_of(row[name]) for row in ROWS)) for name in names}
    noise = {
        name: tl.Channel(
            [[("1/2" if at // 2 == place else 0) for at in range(2 * len(own))] for place in range(len(own))],
            inputs=own,
            outputs=[f"{place} {side}" for place in range(len(own)) for side in "ab"],
        )
        for name, own in labels.items()
    }
    policy = Policy("disease", [Released(name, Keep(), own) for name, own in noise.items()])
    publish(table, policy, tmp_path / "safe.parquet", keep=["id"])
    by_id = {row["id"]: row for row in ROWS}
    for row in pyarrow.parquet.read_table(tmp_path / "safe.parquet").to_pylist():
        own = by_id[row["id"]]
        for name in names:
            assert row[name][:-2] == str(labels[name].index(input_of(own[name])))
