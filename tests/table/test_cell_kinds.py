"""Kinds of cells, counted by an engine, against cells counted one by one; and population risks from weights."""

from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from contract.store import stored
from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.cell_kinds import MOST_COLUMNS, CellCounter, count_kinds, population_risks
from tightlip.table.plan import planned
from tightlip.table.source import open_table

pytestmark = IGNORED
ENGINES = ["arrow", "duckdb", "sqlite"]
MISSING = {"b": ["-9"], "text": ["?"]}


def people(seed, rows=400):
    """Texts and reals with gaps; `many` has more values than one query has columns of counts."""
    draw = np.random.default_rng(seed)
    one = {
        "a": draw.choice([0.5, 1.0, 2.25, 7.0, -3.5], rows),
        "b": draw.choice(["x", "X", "y ", "-9", "?"], rows),
        "text": draw.choice(["ill", "well", "?", ""], rows, p=[0.2, 0.6, 0.1, 0.1]),
        "real": draw.choice([0.1, 0.30000000000000004, 5.0], rows),
        "many": [f"v{place}" for place in draw.integers(0, MOST_COLUMNS + 30, rows)],
    }
    gaps = {name: draw.random(rows) < 0.1 for name in one}
    return pd.DataFrame(
        {name: [None if gap else v for v, gap in zip(one[name], gaps[name], strict=True)] for name in one}
    )


def arrow(frame, **more):
    reals = {"a", "real", "w"}
    columns = {
        name: pa.array(
            [None if pd.isna(value) else value for value in frame[name]],
            pa.float64() if name in reals else pa.string(),
        )
        for name in frame
    }
    return pa.table(columns | more)


def label(value, column):
    """The label of a value by other means than the library's; codes of missing values are missing."""
    if pd.isna(value) or value in MISSING.get(column, ()):
        return None
    return format(Decimal(repr(float(value))).normalize(), "f") if isinstance(value, float) else value


def cells_of(frame, secret, release):
    """How many cells have each combination of counts by secret, by going through the rows."""
    held = defaultdict(Counter)
    for row in frame.to_dict("records"):
        cell, own = (tuple(label(row[name], name) for name in names) for names in (release, secret))
        held[cell][own] += 1
    return Counter(frozenset(counts.items()) for counts in held.values())


def told(kinds):
    """The same from kinds of cells."""
    held = [{} for _ in kinds.cells]
    for secret, kind, count in zip(kinds.secret_of, kinds.kind_of, kinds.count, strict=True):
        each, rest = divmod(int(count), int(kinds.cells[kind]))
        own = kinds.secrets[secret]
        assert rest == 0 < each
        held[kind][own] = held[kind].get(own, 0) + each
    found = Counter()
    for counts, many in zip(held, kinds.cells.tolist(), strict=True):
        found[frozenset(counts.items())] += many
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("secret", "release"),
    [
        (["text"], ["a", "b"]),
        (["real"], ["a", "b"]),
        (["text", "real"], ["b"]),
        (["many"], ["a", "b"]),
        (["many", "text"], ["b"]),
        (["text"], ["many", "a", "b"]),
    ],
    ids=["text", "real", "two", "many", "two of many", "small cells"],
)
def test_kinds_are_those_of_counting_every_cell(engine, secret, release, tmp_path, request):
    for seed in range(2):
        frame = people(seed)
        policy = planned(
            secret, release, missing={name: MISSING[name] for name in MISSING if name in [*secret, *release]}
        )
        with open_table(stored(engine, request, tmp_path, f"t{seed}", arrow(frame))) as table:
            found = count_kinds(CellCounter.of(table, policy).query(secret, release))
        assert told(found) == cells_of(frame, secret, release)
        assert (found.total, len(set(found.secrets))) == (len(frame), len(found.secrets))
        if len(found.secrets) <= MOST_COLUMNS:
            assert len(found.cells) == len(told(found))  # each kind once


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_are_left_out_are_not_counted(engine, tmp_path, request):
    frame = people(3)
    policy = planned(["text"], ["a", "b"], where=["a >= 1", "b != X"], missing=MISSING)
    kept = frame[(frame["a"] >= 1) & frame["b"].notna() & ~frame["b"].isin(["X", "-9"])]
    with open_table(stored(engine, request, tmp_path, "t", arrow(frame))) as table:
        counter = CellCounter.of(table, policy)
        found = count_kinds(counter.query(["text"], ["a", "b"]))
        assert counter.require_secrets(policy) == len(kept)
    assert told(found) == cells_of(kept, ["text"], ["a", "b"])
    assert 0 < found.total == len(kept) < len(frame)


def test_fewer_columns_of_a_plan_are_counted_alone():
    frame = people(4)
    policy = planned(["text", "real"], ["a", "b"], missing=MISSING)
    with open_table(arrow(frame)) as table:
        counter = CellCounter.of(table, policy)
        for secret, release in ((["real"], ["b"]), (["text"], ["a"]), (["text", "real"], ["a", "b"])):
            assert told(count_kinds(counter.query(secret, release))) == cells_of(frame, secret, release)


def require_secrets(table, policy):
    return CellCounter.of(table, policy).require_secrets(policy)


def test_secrets_are_checked_without_counting_cells():
    with open_table(arrow(people(5))) as table:
        assert require_secrets(table, planned({"text": ["ill"]}, ["a"])) == 400
        with pytest.raises(InvalidInput, match="must have every value that is named, got none that is"):
            require_secrets(table, planned({"text": ["il"]}, ["a"]))
        with pytest.raises(InvalidInput, match="at least two values"):
            require_secrets(table, planned(["text"], ["a"], where=["text == ill"]))


def risks_of(frame, release, min_count):
    """1/F in the worst cell, and its mean over rows, by definition; small cells are one."""
    cells = defaultdict(list)
    for row in frame.to_dict("records"):
        cells[tuple(label(row[name], name) for name in release)].append(Fraction(row["w"]))
    small = [weights for weights in cells.values() if len(weights) < min_count]
    shown = [weights for weights in cells.values() if len(weights) >= min_count]
    shown += [[weight for weights in small for weight in weights]] if small else []
    worst = max(1 / sum(weights) for weights in shown)
    mean = sum(len(weights) / sum(weights) for weights in shown) / len(frame)
    return sum(sum(weights) for weights in shown), worst, mean


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("min_count", [None, 12, 1000])
def test_population_risks_are_those_of_adding_up_weights(engine, min_count, tmp_path, request):
    frame = people(6)
    frame["w"] = np.random.default_rng(6).choice([1.5, 20.25, 3.7, 100.1], len(frame))
    policy = planned(["text"], ["a", "b"], missing=MISSING, weight="w", min_count=min_count)
    with open_table(stored(engine, request, tmp_path, "t", arrow(frame))) as table:
        found = population_risks(table, policy)
        assert population_risks(table, planned(["text"], ["a", "b"])) is None
    everybody, worst, mean = risks_of(frame, ["a", "b"], min_count or 0)
    assert found.people == pytest.approx(float(everybody), rel=1e-12)
    for told_risk, exact in ((found.journalist, worst), (found.marketer, mean)):
        assert exact <= Fraction(told_risk) <= exact * (1 + Fraction(1, 10**8))


def test_a_weight_below_one_is_a_risk_of_at_most_one():
    frame = people(7, rows=20).assign(w=0.01)
    with open_table(arrow(frame)) as table:
        found = population_risks(table, planned(["text"], ["a", "b"], weight="w"))
    assert (found.journalist, found.marketer) == (1.0, 1.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("inf"), float("nan")])
def test_weights_that_are_none_are_refused(bad):
    frame = people(8)
    frame["w"] = 2.0
    columns = arrow(frame).drop_columns("w")
    table = columns.append_column("w", pa.array([bad, *[2.0] * (len(frame) - 1)], pa.float64()))
    with (
        open_table(table) as opened,
        pytest.raises(InvalidInput, match="weight must be a positive number in every row"),
    ):
        population_risks(opened, planned(["text"], ["a"], weight="w"))


def test_a_weight_is_a_number():
    with (
        open_table(arrow(people(9))) as table,
        pytest.raises(InvalidInput, match="must be a column of numbers"),
    ):
        population_risks(table, planned(["text"], ["a"], weight="b"))
