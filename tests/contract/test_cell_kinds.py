"""Every engine counts the same kinds of cells, against cells counted one by one in plain Python."""

from collections import Counter, defaultdict

import pytest

from contract.people import ROWS
from contract.test_every_engine import plain
from contract.warnings_of_engines import IGNORED
from tightlip.table.cell_kinds import CellCounter, count_kinds, population_risks
from tightlip.table.plan import planned

pytestmark = IGNORED


def cells_of(secret, release, rows=ROWS):
    held = defaultdict(Counter)
    for row in rows:
        cell = tuple(plain(row[name]) for name in release)
        held[cell][tuple(plain(row[name]) for name in secret)] += 1
    return Counter(frozenset(counts.items()) for counts in held.values())


def told(kinds):
    held = defaultdict(dict)
    for secret, kind, count in zip(kinds.secret_of, kinds.kind_of, kinds.count, strict=True):
        held[kind][kinds.secrets[secret]] = int(count) // int(kinds.cells[kind])
    return Counter(
        frozenset(held[kind].items()) for kind, many in enumerate(kinds.cells.tolist()) for _ in range(many)
    )


@pytest.mark.parametrize(
    ("secret", "release"),
    [
        (["disease"], ["job", "age"]),
        (["weight"], ["member"]),
        (["job"], ["born", "member"]),
        (["age"], ["job"]),
        (["member"], ["weight"]),
        (["disease", "born"], ["member"]),
    ],
    ids=lambda names: "+".join(names),
)
def test_kinds_of_cells(table, secret, release):
    found = count_kinds(CellCounter.of(table, planned(secret, release)).query(secret, release))
    assert told(found) == cells_of(secret, release)
    assert (found.total, len(found.cells)) == (len(ROWS), len(cells_of(secret, release)))


def test_kinds_of_some_rows(table):
    policy = planned(["disease"], ["job", "member"], where=["age >= 29"])
    rows = [row for row in ROWS if row["age"] is not None and row["age"] >= 29]
    found = count_kinds(CellCounter.of(table, policy).query(["disease"], ["job", "member"]))
    assert told(found) == cells_of(["disease"], ["job", "member"], rows)


def test_population_risks(table):
    """The number of a row is its weight."""
    cells = defaultdict(list)
    for row in ROWS:
        cells[plain(row["born"])].append(row["id"])
    found = population_risks(table, planned(["disease"], ["born"], weight="id"))
    mean = sum(len(own) / sum(own) for own in cells.values()) / len(ROWS)
    assert found.people == sum(row["id"] for row in ROWS)
    assert found.journalist == pytest.approx(max(1 / sum(own) for own in cells.values()), rel=1e-8)
    assert found.marketer == pytest.approx(mean, rel=1e-8)
