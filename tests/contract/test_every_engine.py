"""What every engine must do, against counts made in plain Python."""

import csv
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow.parquet
import pytest

from contract.people import KINDS, ROWS, UNORDERED
from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.table.chain import Chain
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode
from tightlip.table.risk import CellRisks, write_risks

pytestmark = IGNORED


def plain(value: object) -> str | None:
    """The label of a value, by other means than the library's."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = format(Decimal(repr(value)).normalize(), "f")
        return "0" if text == "-0" else text
    return str(value)


def tenth(value: float) -> str:
    """The bin of width 1/10 that a number lies in; edges and value are the decimals as written."""
    place = floor(Fraction(repr(value)) * 10)
    return f"[{plain(float(Fraction(place, 10)))}, {plain(float(Fraction(place + 1, 10)))})"


def thirty(value: int) -> str:
    low = (value - 5) // 30 * 30 + 5
    return f"[{low}, {low + 30})"


def coded_thirty(value: int) -> str:
    """Bins of 30 from 0, the first of which starts above what is coded, the third ends below."""
    if value <= -1:
        return "≤-1"
    return "≥89" if value >= 89 else f"[{value // 30 * 30}, {min(value // 30 * 30 + 30, 89)})"


def coded_tenth(value: float) -> str:
    if value <= 0:
        return "≤0"
    label = "≥1" if value >= 1 else tenth(value)
    return "(0, 0.1)" if label == "[0, 0.1)" else label


GROUPS = {"nurse": "care", "Nurse": "care", "O'Brien; --": "care", "\u00e9": "é-group"}
RECODINGS = {
    "job kept": ("job", Keep(), plain),
    "age kept": ("age", Keep(), plain),
    "weight kept": ("weight", Keep(), plain),
    "member kept": ("member", Keep(), plain),
    "born kept": ("born", Keep(), plain),
    "job prefix": ("job", Prefix(2), lambda v: v[:2]),
    "age prefix": ("age", Prefix(1), lambda v: str(v)[:1]),
    "born year": ("born", Prefix(4), lambda v: str(v)[:4]),
    "job mapped": ("job", Mapping(GROUPS, otherwise="care?"), lambda v: GROUPS.get(v, "care?")),
    "member mapped": ("member", Mapping({"true": "yes", "false": "no"}), lambda v: "yes" if v else "no"),
    "age bins": ("age", Bins(width=30, origin=5), thirty),
    "age edges": (
        "age",
        Bins(edges=[0, 29.5, 90]),
        lambda v: "<0" if v < 0 else "[0, 29.5)" if v < 29.5 else "[29.5, 90)" if v < 90 else "≥90",
    ),
    "weight bins": ("weight", Bins(width=0.1), tenth),
    "weight edges": (
        "weight",
        Bins(edges=[-0.3, 0.3]),
        lambda v: "<-0.3" if v < -0.3 else "[-0.3, 0.3)" if v < 0.3 else "≥0.3",
    ),
    "age top": ("age", TopCode(89), lambda v: "≥89" if v >= 89 else plain(v)),
    "weight bottom": ("weight", BottomCode(0.1), lambda v: "≤0.1" if v <= 0.1 else plain(v)),
    "age in bins and coded": ("age", Chain([Bins(width=30), BottomCode(-1), TopCode(89)]), coded_thirty),
    "weight in bins and coded": ("weight", Chain([Bins(width=0.1), BottomCode(0), TopCode(1)]), coded_tenth),
    "weight coded at both ends": (
        "weight",
        Chain([BottomCode(0), TopCode(2.5)]),
        lambda v: "≤0" if v <= 0 else "≥2.5" if v >= 2.5 else plain(v),
    ),
    "age edges, coded and mapped": (
        "age",
        Chain([Bins(edges=[0, 30]), TopCode(89), Mapping({"<0": "odd", "≥89": "old"}, otherwise="else")]),
        lambda v: "odd" if v < 0 else "old" if v >= 89 else "else",
    ),
    "job prefix mapped": (
        "job",
        Chain([Prefix(2), Mapping({"nu": "care", "Nu": "care", "=1": "sum"}, otherwise="rest")]),
        lambda v: {"nu": "care", "Nu": "care", "=1": "sum"}.get(v[:2], "rest"),
    ),
    "born mapped twice": (
        "born",
        Chain([Prefix(4), Mapping({"1999": "last", "2000": "this"}), Mapping({"last": "a", "this": "b"})]),
        lambda v: "a" if v.year == 1999 else "b",
    ),
}


def expected(policy, labels) -> Counter:
    """Rows by secret and cell; `labels` maps released columns to label functions."""
    found: Counter = Counter()
    for row in ROWS:
        secret = tuple(plain(row[name]) for name in policy.secret)
        cell = tuple(
            None if row[item.column] is None else labels[item.column](row[item.column])
            for item in policy.release
        )
        found[secret, cell] += 1
    return found


def as_counter(counts) -> Counter:
    triples = zip(counts.secret_of, counts.cell_of, counts.count, strict=True)
    return Counter({(counts.secrets[s], counts.cells[c]): int(n) for s, c, n in triples})


def test_kinds_and_rows(table):
    assert table.columns == KINDS
    assert table.rows() == len(ROWS)


def rounds() -> list[dict]:
    """The recodings in few policies, each with every column once at most: a count on Spark takes seconds."""
    found: list[dict] = []
    for column, recoding, label in RECODINGS.values():
        target = next((one for one in found if column not in one), None)
        if target is None:
            found.append(target := {})
        target[column] = (recoding, label)
    return found


@pytest.mark.parametrize("recodings", rounds(), ids=range(len(rounds())))
def test_recodings_of_every_kind(table, recodings):
    policy = Policy("disease", [Released(column, recoding) for column, (recoding, _) in recodings.items()])
    counts = count_cells(table, policy)
    assert as_counter(counts) == expected(policy, {column: label for column, (_, label) in recodings.items()})
    assert counts.total == len(ROWS)


def test_all_columns_at_once_with_two_secrets(table):
    policy = Policy(
        ["disease", "member"], ["job", "age", "weight", Released("born", Keep(), RandomizedResponse(1.0))]
    )
    counts = count_cells(table, policy)
    assert as_counter(counts) == expected(policy, dict.fromkeys(("job", "age", "weight", "born"), plain))
    assert counts.secret_of.dtype == counts.cell_of.dtype == counts.count.dtype == np.int64
    places = list(zip(counts.cell_of, counts.secret_of, strict=True))
    assert places == sorted(set(places))


def test_order_is_by_value_and_missing_first(table):
    counts = count_cells(table, Policy("disease", ["age"]))
    ages = sorted({row["age"] for row in ROWS} - {None})
    assert counts.cells == [(None,), *((str(age),) for age in ages)]
    assert counts.secrets == [(None,), ("asthma",), ("flu",), ("none",)]


def test_suppressed_columns_and_small_cells(table):
    policy = Policy("disease", ["born", Released("job", Suppress())], min_count=15)
    counts = count_cells(table, policy)
    sizes = Counter(plain(row["born"]) for row in ROWS)
    kept = sorted((born for born, size in sizes.items() if size >= 15), key=lambda v: (v is not None, v))
    assert 0 < len(kept) < len(sizes)
    assert counts.cells == [*((born, "*") for born in kept), ()]
    assert counts.suppressed == len(kept)
    assert counts.sizes().tolist() == [*(sizes[born] for born in kept), len(ROWS) - sum(map(sizes.get, kept))]


def risks_of(counts) -> CellRisks:
    sizes = counts.sizes()
    leakage = np.linspace(0.5, 3.0, len(sizes))
    leakage[-1] = np.inf
    return CellRisks(counts, leakage, counts.count / sizes[counts.cell_of])


RISK_POLICY = Policy(
    ["disease", "member"],
    ["job", Released("weight", Bins(width=0.1)), Released("age", TopCode(89))],
    min_count=2,
)


def expected_risks(risks) -> list[tuple[int, int, float, float]]:
    """id, cell size, leakage and posterior of each row in the order of the input."""
    labels = {"job": plain, "weight": tenth, "age": RECODINGS["age top"][2]}
    counts = risks.counts
    cell_place = {cell: place for place, cell in enumerate(counts.cells)}
    triple_place = {
        (counts.secrets[s], int(c)): place
        for place, (s, c) in enumerate(zip(counts.secret_of, counts.cell_of, strict=True))
    }
    found = []
    for row in ROWS:
        secret = tuple(plain(row[name]) for name in RISK_POLICY.secret)
        cell = tuple(
            None if row[i.column] is None else labels[i.column](row[i.column]) for i in RISK_POLICY.release
        )
        place = cell_place.get(cell, counts.suppressed)
        triple = triple_place[secret, place]
        found.append((row["id"], int(counts.sizes()[place]), risks.leakage[place], risks.posterior[triple]))
    return found


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_risks_come_back_for_every_row_in_order(table, engine, form, tmp_path):
    risks = risks_of(count_cells(table, RISK_POLICY))
    path = tmp_path / f"risks.{form}"
    write_risks(table, RISK_POLICY, risks, path, id_column="id")
    wanted = expected_risks(risks)
    if engine in UNORDERED:
        wanted.sort()
    if form == "csv":
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
        found = [(int(i), int(n), float(leak), float(post)) for i, n, leak, post in rows]
    else:
        read = pyarrow.parquet.read_table(path)
        header, found = read.column_names, [tuple(row.values()) for row in read.to_pylist()]
        assert str(read.schema.field("id").type) == "int64"
    assert header == ["id", "cell_size", "leakage_nats", "posterior"]
    assert found == wanted
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_text_ids_are_defused_in_csv_only(table, engine, tmp_path):
    policy = Policy("disease", ["age"])
    risks = risks_of(count_cells(table, policy))
    if engine in UNORDERED:
        with pytest.raises(
            InvalidInput, match=r"distinct value in every row, got \"job\" with 9 values in 60 rows"
        ):
            write_risks(table, policy, risks, tmp_path / "risks.csv", id_column="job")
        with pytest.raises(InvalidInput, match="keeps no order of rows; name a column"):
            write_risks(table, policy, risks, tmp_path / "risks.csv")
        assert not list(tmp_path.iterdir())
        return
    write_risks(table, policy, risks, tmp_path / "risks.csv", id_column="job")
    write_risks(table, policy, risks, tmp_path / "risks.parquet", id_column="job")
    with (tmp_path / "risks.csv").open(newline="") as file:
        defused = [row["job"] for row in csv.DictReader(file)]
    jobs = [row["job"] for row in ROWS]
    assert defused == ["'=1+1" if job == "=1+1" else job or "" for job in jobs]
    assert pyarrow.parquet.read_table(tmp_path / "risks.parquet")["job"].to_pylist() == jobs


def test_unknown_columns_are_refused_with_near_matches(table):
    with pytest.raises(InvalidInput, match=r'"diseese" is not there; did you mean "disease"\?'):
        count_cells(table, Policy("diseese", ["age"]))
