"""Written releases: what is in the file, by what odds, and what is refused."""

import csv
import sqlite3
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import chisquare

from contract.warnings_of_engines import IGNORED
from tightlip.errors import InvalidInput
from tightlip.numeric.quantity import log_of
from tightlip.numeric.randomness import RandomSource
from tightlip.table.chance import CellKernel, NoiseKernel, PairCounts, below
from tightlip.table.counts import count_cells
from tightlip.table.forms import FORMS
from tightlip.table.local import LocalRecoding
from tightlip.table.mechanism import ColumnChannel, ColumnMechanism, RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.publish import publish
from tightlip.table.recoding import Bins, Keep
from tightlip.table.source import open_table

pytestmark = IGNORED

PEOPLE = pa.table(
    {
        "nr": list(range(12)),
        "age": [30, 31, 30, None, 47, 31, 30, 30, 47, 31, None, 30],
        "sex": ["f", "m", "=1+1", "f", None, "m", "f", "", "f", "m", "f", "f"],
        "weight": [1.5, None, -0.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.1],
        "ill": ["yes", "no", "no", "yes", "no", "no", "yes", "no", "no", "yes", None, "no"],
    }
)


def read(path) -> list[dict]:
    """The rows of a file by other means than the library's; None is missing."""
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pylist()
    if path.suffix == ".csv":
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        return table.to_dict("records")
    with duckdb.connect(path) if path.suffix == ".duckdb" else sqlite3.connect(path) as connection:
        found = connection.execute("SELECT * FROM release")
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def local_of(table, columns, choose, scale=1) -> LocalRecoding:
    """A local recoding: `choose` lists what a cell is published as, with whole weights."""
    cells = count_cells(table, Policy("ill", columns)).cells
    pairs = [(at, value, weight) for at, cell in enumerate(cells) for value, weight in choose(cell)]
    published = list(dict.fromkeys(value for _, value, _ in pairs))
    return LocalRecoding(
        tuple(columns),
        tuple(cells),
        tuple(published),
        np.array([at for at, _, _ in pairs]),
        np.array([published.index(value) for _, value, _ in pairs]),
        np.array([weight for _, _, weight in pairs]),
        scale,
    )


@pytest.mark.parametrize("form", ["parquet", "duckdb", "sqlite"])
def test_recodings_in_order_with_kept_columns_and_the_secret(tmp_path, form):
    policy = Policy("ill", ["sex", Released("age", Bins(width=10))])
    path = tmp_path / f"safe.{form}"
    with open_table(PEOPLE) as table:
        done = publish(table, policy, path, keep=["weight", "nr"], with_secret=True)
    bins = {30: "[30, 40)", 31: "[30, 40)", 47: "[40, 50)", None: None}
    assert read(path) == [row | {"age": bins[row["age"]]} for row in PEOPLE.to_pylist()]
    assert done.columns == ("nr", "age", "sex", "weight", "ill")
    assert (done.rows, done.kept, done.deterministic, done.seeded) == (12, ("weight", "nr"), True, False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_csv_tells_missing_from_empty_and_defuses_formulas(tmp_path):
    with open_table(PEOPLE) as table:
        publish(table, Policy("ill", ["sex"]), tmp_path / "safe.csv", keep=["weight"])
    lines = (tmp_path / "safe.csv").read_text().splitlines()
    assert lines[:5] == ['"sex","weight"', '"f",1.5', '"m",', '"\'=1+1",-0.5', '"f",2']
    assert lines[5] == ",3"
    assert lines[8] == '"",6'


def test_other_columns_are_dropped(tmp_path):
    with open_table(PEOPLE) as table:
        publish(table, Policy("ill", ["sex"]), tmp_path / "safe.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "safe.parquet").column_names == ["sex"]


def test_small_cells_show_nothing(tmp_path):
    with open_table(PEOPLE) as table:
        publish(table, Policy("ill", ["sex", "age"], min_count=3), tmp_path / "safe.parquet")
    cells = Counter((row["sex"], row["age"]) for row in PEOPLE.to_pylist())
    wanted = [
        {"age": "*", "sex": "*"}
        if cells[row["sex"], row["age"]] < 3
        else {"age": str(row["age"]), "sex": row["sex"]}
        for row in PEOPLE.to_pylist()
    ]
    assert read(tmp_path / "safe.parquet") == wanted


def test_a_local_recoding_is_followed_cell_by_cell(tmp_path):
    def choose(cell):
        age, sex = cell
        return [((age, sex) if sex == "m" else ("*", sex), 1)]

    with open_table(PEOPLE) as table:
        policy = Policy("ill", ["age", "sex"], local=local_of(table, ["age", "sex"], choose))
        publish(table, policy, tmp_path / "safe.parquet", with_secret=True)
    for row, given in zip(read(tmp_path / "safe.parquet"), PEOPLE.to_pylist(), strict=True):
        assert row["age"] == (str(given["age"]) if given["sex"] == "m" else "*")
        assert (row["sex"], row["ill"]) == (given["sex"], given["ill"])


def many(rows: int) -> pa.Table:
    draw = np.random.default_rng(3)
    age = draw.integers(0, 4, rows)
    return pa.table({"age": age, "ill": np.where(draw.random(rows) < 0.2 * age, "yes", "no")})


def test_frequencies_of_a_random_recoding(tmp_path):
    """By chi-square against the weights, cell by cell, whatever the secret."""
    people = many(20_000)
    odds = {
        "0": {"0": 5, "low": 2, "*": 3},
        "1": {"1": 9, "low": 1},
        "2": {"2": 1, "*": 9},
        "3": {"3": 10},
    }
    with open_table(people) as table:
        recoding = local_of(
            table, ["age"], lambda cell: [((label,), n) for label, n in odds[cell[0]].items()], 10
        )
        policy = Policy("ill", ["age"], local=recoding)
        done = publish(table, policy, tmp_path / "safe.parquet", seed_for_tests=8)
    assert done.seeded
    assert not done.deterministic
    shown = pyarrow.parquet.read_table(tmp_path / "safe.parquet")
    assert b"seed" in shown.schema.metadata[b"tightlip unsafe"]
    joined = pd.DataFrame(
        {"age": people["age"].to_numpy(), "ill": people["ill"].to_pylist(), "shown": shown["age"].to_pylist()}
    )
    for (age, _), own in joined.groupby(["age", "ill"]):
        wanted = odds[str(age)]
        found = own["shown"].value_counts()
        assert set(found.index) <= set(wanted)
        if len(wanted) > 1:
            expected = [len(own) * n / 10 for n in wanted.values()]
            assert chisquare([found.get(label, 0) for label in wanted], expected).pvalue > 1e-3


class Lossy(ColumnMechanism):
    """A value is lost with chance 1/4, and told as its neighbour with 1/4."""

    key = "lossy"

    @classmethod
    def read(cls, setting):
        raise NotImplementedError

    def setting(self):
        raise NotImplementedError

    def words(self):
        return "lossy"

    def channel(self, values):
        rows = []
        for place in range(len(values)):
            row = [Fraction(0)] * (len(values) + 1)
            row[place] += Fraction(1, 2)
            row[(place + 1) % len(values)] += Fraction(1, 4)
            row[-1] += Fraction(1, 4)
            rows.append(row)
        return ColumnChannel.of([*values, "lost"], rows)


@pytest.mark.parametrize(
    "mechanism", [RandomizedResponse(log_of(3)), RandomizedResponse(0.7), RandomizedResponse(60.0), Lossy()]
)
def test_frequencies_of_noise(tmp_path, mechanism):
    people = many(6_000)
    policy = Policy("ill", [Released("age", Keep(), mechanism)])
    with open_table(people) as table:
        publish(table, policy, tmp_path / "safe.csv", seed_for_tests=5)
    shown = [row["age"] for row in read(tmp_path / "safe.csv")]
    channel = mechanism.channel(["0", "1", "2", "3"])
    for value in range(4):
        own = Counter(
            text for text, age in zip(shown, people["age"].to_pylist(), strict=True) if age == value
        )
        chances = {label: channel.probability(value, place) for place, label in enumerate(channel.outcomes)}
        possible = [label for label, chance in chances.items() if chance > 1e-12]
        assert set(own) <= {label for label, chance in chances.items() if chance}
        if len(possible) > 1:
            expected = [float(chances[label]) * own.total() for label in possible]
            assert chisquare([own[label] for label in possible], expected, sum_check=False).pvalue > 1e-3


def test_two_noisy_columns_are_independent_and_hidden_cells_stay_hidden(tmp_path):
    rows = 8_000
    people = pa.table(
        {
            "a": ["x", "y"] * (rows // 2) + ["x"],
            "b": ["u"] * rows + ["v"],
            "c": ["k"] * rows + ["k"],
            "ill": [str(place % 4 // 2) for place in range(rows + 1)],
        }
    )
    noise = RandomizedResponse(log_of(3))
    policy = Policy("ill", [Released("a", Keep(), noise), Released("b", Keep(), noise), "c"], min_count=2)
    with open_table(people) as table:
        publish(table, policy, tmp_path / "safe.parquet", seed_for_tests=2)
    shown = pyarrow.parquet.read_table(tmp_path / "safe.parquet").to_pandas()
    assert shown.iloc[-1].tolist() == ["*", "*", "*"]
    told = Counter(zip(shown.a[:-1] == people["a"].to_pandas()[:-1], shown.b[:-1] == "u", strict=True))
    expected = [rows * a * b / 16 for a, b in ((3, 3), (3, 1), (1, 3), (1, 1))]
    found = [told[key] for key in ((True, True), (True, False), (False, True), (False, False))]
    assert chisquare(found, expected).pvalue > 1e-3


def test_draws_are_not_repeated_unless_a_seed_is_given(tmp_path):
    policy = Policy("ill", [Released("age", Keep(), RandomizedResponse(0.5))])
    with open_table(many(300)) as table:
        for name, seed in (("a", None), ("b", None), ("c", 1), ("d", 1)):
            publish(table, policy, tmp_path / f"{name}.csv", seed_for_tests=seed)
    a, b, c, d = ((tmp_path / f"{name}.csv").read_bytes() for name in "abcd")
    assert a != b
    assert c == d


def test_whole_numbers_below_any_bound():
    source = RandomSource(seed_for_tests=4)
    assert below(source, 3, 1000).max() == 2
    large = below(source, 3 << 70, 1000)
    assert max(large.tolist()) < 3 << 70
    assert max(large.tolist()) > 2 << 70


def test_a_kernel_with_weights_near_the_largest():
    """Sums over all cells run over 64 bits; those of one cell do not."""
    half = (1 << 62) - 1
    kernel = CellKernel(
        (0,),
        (("a",), ("b",)),
        np.arange(6),
        np.arange(0, 13, 2),
        np.array([0, 1] * 6),
        np.full(12, half, dtype=np.int64),
        2 * half,
    )
    drawn = kernel.draw(np.repeat(np.arange(6), 1000), RandomSource(seed_for_tests=1)).reshape(6, -1)
    assert ((drawn.mean(axis=1) > 0.4) & (drawn.mean(axis=1) < 0.6)).all()


@pytest.mark.parametrize(
    ("outcomes", "problem"),
    [
        ([0] * 50 + [1] * 50, None),
        ([0] * 95 + [1] * 5, "too often or too rarely"),
        ([0] * 50 + [1] * 49 + [2], "not true of it"),
        ([0] * 100, "too often or too rarely"),
    ],
)
def test_what_does_not_follow_its_kernel_is_refused(outcomes, problem):
    channel = ColumnChannel.of(["a", "b", "c"], [["1/2", "1/2", 0], [0, 0, 1]])
    part = NoiseKernel.of(0, ["a", "b"], channel, np.array([0]))
    counts = PairCounts(part)
    counts.add(np.zeros(100, dtype=np.intp), np.array(outcomes))
    if problem is None:
        counts.check(np.array([100]), 1)
    else:
        with pytest.raises(InvalidInput, match=problem):
            counts.check(np.array([100]), 1)


class _Damaged:
    """A form that writes something else than it is given."""

    def __init__(self, damage):
        self.damage, self.inner = damage, FORMS[".parquet"]

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def write(self, path, schema, batches, note):
        self.inner.write(path, schema, (self.damage(batch) for batch in batches), note)


def swap(table):
    return table.take(pa.array([1, 0, *range(2, len(table))]))


def lie(table):
    return table.set_column(0, "age", pa.array(["31", *table["age"].to_pylist()[1:]]))


@pytest.mark.parametrize(
    "damage", [swap, lie, lambda table: table.slice(1), lambda table: pa.concat_tables([table, table])]
)
def test_a_file_that_is_not_what_was_decided_is_removed(tmp_path, monkeypatch, damage):
    monkeypatch.setitem(FORMS, ".parquet", _Damaged(damage))
    with open_table(PEOPLE) as table, pytest.raises(InvalidInput, match=r"does not (read back|follow)"):
        publish(table, Policy("ill", ["age"]), tmp_path / "safe.parquet")
    assert not list(tmp_path.iterdir())


def test_what_is_refused_before_anything_is_written(tmp_path):
    noisy = Policy("ill", [Released("age", Keep(), RandomizedResponse(1.0))])
    plain = Policy("ill", ["age"])
    with open_table(PEOPLE) as table:
        cases = [
            (noisy, "safe.csv", {"with_secret": True}, "must not be set for a random release"),
            (plain, "safe.xlsx", {}, r"ends with \.csv, \.parquet, \.duckdb, \.sqlite"),
            (plain, "safe.csv", {"keep": ["ill"]}, "which is secret; write it with"),
            (plain, "safe.csv", {"keep": ["age"]}, "which is released"),
            (plain, "safe.csv", {"keep": ["wieght"]}, 'did you mean "weight"'),
            (plain, "none/safe.csv", {}, "there is no folder"),
            (plain, "safe.csv", {"seed_for_tests": "x"}, "must be an integer"),
        ]
        for policy, name, options, problem in cases:
            with pytest.raises(InvalidInput, match=problem):
                publish(table, policy, tmp_path / name, **options)
            assert not list(tmp_path.iterdir())
        (tmp_path / "safe.csv").write_text("mine")
        with pytest.raises(InvalidInput, match="exists already"):
            publish(table, plain, tmp_path / "safe.csv")
    assert (tmp_path / "safe.csv").read_text() == "mine"


def test_a_table_that_changed_is_refused(tmp_path):
    policy = Policy("ill", ["age"])
    with open_table(PEOPLE) as before, open_table(PEOPLE.slice(1)) as after:
        with pytest.raises(InvalidInput, match="has changed since it was counted"):
            publish(after, policy, tmp_path / "safe.csv", counts=count_cells(before, policy))
        recoding = local_of(after, ["age", "sex"], lambda cell: [(cell, 1)])
        other = Policy("ill", ["age", "sex"], local=recoding)
        publish(before, other, tmp_path / "safe.csv")
    unknown = PEOPLE.set_column(1, "age", pa.array([99] * 12))
    with open_table(unknown) as table, pytest.raises(InvalidInput, match="made for another table"):
        publish(table, other, tmp_path / "other.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["safe.csv"]


def test_a_table_that_changes_while_it_is_written_is_refused(tmp_path):
    """A row comes between counting and writing."""
    path = tmp_path / "people.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE people AS SELECT i % 3 AS age, i % 2 AS ill FROM range(30) t(i)")
    import ibis

    backend = ibis.duckdb.connect(path)
    form = FORMS[".parquet"]

    def change(table):
        backend.raw_sql("INSERT INTO people VALUES (1, 1)")

    with open_table(backend.table("people")) as table:
        import tightlip.table.publish as module

        counted = module._Plan.of(table, Policy("ill", ["age"]), [], False, 100)
        change(table)
        writing = module._Writing(counted, form, RandomSource())
        form.write(tmp_path / "out.parquet", writing.schema, writing.batches(table), None)
        with pytest.raises(InvalidInput, match="has changed since it was counted"):
            writing.check(table, tmp_path / "out.parquet")
    backend.disconnect()


@pytest.mark.parametrize("form", ["csv", "parquet", "duckdb", "sqlite"])
def test_odd_names_and_values(tmp_path, form):
    """Names and texts that could be taken for SQL, formulas or the ends of lines come back as they are."""
    names = ['a"b', "x; DROP TABLE release; --", "line\nbreak", "=1+1", "é"]
    values = ["'; --", 'say "hi"', "two\r\nlines", "=cmd|' /C calc'!A0", "-5", "-5.5e3", "", "∅", None, "a,b"]
    people = pa.table(dict.fromkeys(names, values * 2) | {"ill": ["y", "n"] * 10})
    path = tmp_path / f"safe.{form}"
    with open_table(people) as table:
        publish(table, Policy("ill", names[:3]), path, keep=names[3:])
    if form == "csv":
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
        assert header == [*names[:3], "'=1+1", "é"]
        defused = ["'=cmd|' /C calc'!A0" if text and text[0] == "=" else text or "" for text in values]
        assert rows == [[text] * 5 for text in defused * 2]
    else:
        assert read(path) == people.select(names).to_pylist()


def test_names_that_a_file_does_not_tell_apart(tmp_path):
    people = pa.table({"age": [1, 2], "Age": [1, 1], "=a": [1, 2], "'=a": [1, 2], "ill": ["y", "n"]})
    with open_table(people) as table:
        for form in ("duckdb", "sqlite"):
            with pytest.raises(InvalidInput, match="must differ in the file too"):
                publish(table, Policy("ill", ["age", "Age"]), tmp_path / f"safe.{form}")
        with pytest.raises(InvalidInput, match="must differ in the file too"):
            publish(table, Policy("ill", ["=a", "'=a"]), tmp_path / "safe.csv")
        publish(table, Policy("ill", ["=a", "'=a", "age", "Age"]), tmp_path / "safe.parquet")


def test_values_that_csv_does_not_tell_apart(tmp_path):
    people = pa.table({"a": ["=1", "'=1", "=1"], "ill": ["y", "n", "y"]})
    with open_table(people) as table:
        with pytest.raises(InvalidInput, match=r'"a" has values that are written alike'):
            publish(table, Policy("ill", ["a"]), tmp_path / "safe.csv")
        publish(table, Policy("ill", ["a"]), tmp_path / "safe.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["safe.parquet"]


def test_one_column_of_csv_has_no_empty_lines(tmp_path):
    """A missing value is read again as one, by our own reader and by others, which leave out empty lines."""
    people = pa.table({"a": [None, "x", None, "x", "y", None], "ill": ["y", "n"] * 3})
    path = tmp_path / "safe.csv"
    with open_table(people) as table:
        publish(table, Policy("ill", ["a"]), path)
    assert path.read_text() == '"a"\n""\n"x"\n""\n"x"\n"y"\n""\n'
    assert pd.read_csv(path).a.isna().tolist() == people["a"].is_null().to_pylist()
    with open_table(path) as table:
        [(column, _)] = table.plain_columns(["a"])
        table.require_one_spelling(["a"])
        assert table.fetch(table.expression.select(a=column))["a"].to_pylist() == people["a"].to_pylist()


def test_one_column_of_csv_with_an_empty_text_is_refused_before_it_is_written(tmp_path):
    people = pa.table({"a": ["", "x", None, "x"], "n": [1, 2, 3, 4], "ill": ["y", "n"] * 2})
    with open_table(people) as table:
        with pytest.raises(InvalidInput, match=r'"a" has an empty text, which a CSV file of one column'):
            publish(table, Policy("ill", ["a"]), tmp_path / "safe.csv")
        assert not list(tmp_path.iterdir())
        publish(table, Policy("ill", ["a"]), tmp_path / "safe.csv", keep=["n"])
        publish(table, Policy("ill", ["a"]), tmp_path / "safe.parquet")
    assert (tmp_path / "safe.csv").read_text() == '"a","n"\n"",1\n"x",2\n,3\n"x",4\n'


def marks(path) -> str:
    """What the file says besides rows."""
    if path.suffix == ".parquet":
        return str(pyarrow.parquet.read_schema(path).metadata or "")
    if path.suffix == ".duckdb":
        with duckdb.connect(path) as connection:
            return str(connection.execute("SELECT comment FROM duckdb_tables()").fetchone())
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT sql FROM sqlite_master").fetchone()[0]


@pytest.mark.parametrize("form", ["parquet", "duckdb", "sqlite"])
def test_a_seed_is_told_in_the_file(tmp_path, form):
    with open_table(PEOPLE) as table:
        for seed in (None, 3):
            path = tmp_path / f"safe{seed}.{form}"
            publish(table, Policy("ill", ["sex", "age"]), path, keep=["weight"], seed_for_tests=seed)
            assert ("tightlip unsafe" in marks(path)) == (seed is not None)
            assert len(read(path)) == 12
