"""Releases into a new Postgres table: what is in it, when it is there, and how its receipt is checked."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import tightlip as tl
from contract.people import ROWS
from contract.test_publish import in_order, text, thirty
from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.table.outputs import PostgresOutput
from tightlip.table.policy import Policy, Released
from tightlip.table.postgres import PostgresForm
from tightlip.table.publish import publish
from tightlip.table.recoding import Bins
from tightlip.table.source import open_table

pytestmark = IGNORED


@pytest.fixture
def database(postgres_server, tmp_path, monkeypatch):
    """The server, in a working folder of our own; tables that tests make go afterwards."""
    monkeypatch.chdir(tmp_path)
    before = tables(postgres_server)
    yield postgres_server
    for name in tables(postgres_server) - before:
        ask(postgres_server, f'DROP TABLE "{name}"')


def ask(server, query):
    import psycopg

    with psycopg.connect(server.url) as connection:
        found = connection.execute(query)
        return found.fetchall() if found.description else None


def tables(server):
    return {name for (name,) in ask(server, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def rows(server, name="release"):
    import psycopg
    from psycopg.rows import dict_row

    with psycopg.connect(server.url, row_factory=dict_row) as connection:
        return connection.execute(f'SELECT * FROM "{name}"').fetchall()


def test_from_every_engine(table, engine, database):
    policy = Policy("disease", ["job", Released("age", Bins(width=30))])
    output = PostgresOutput(database.url, f"from {engine}")
    done = publish(table, policy, output, keep=["id", "weight", "member"], with_secret=True)
    wanted = [
        {
            "id": row["id"],
            "job": row["job"],
            "age": thirty(row["age"]),
            "weight": None if row["weight"] is None else row["weight"] + 0.0,
            "member": None if row["member"] is None else text(row["member"]).lower(),
            "disease": row["disease"],
        }
        for row in ROWS
    ]
    found = rows(database, f"from {engine}")
    assert [*found[0]] == list(done.columns)
    assert in_order(engine, found, wanted)
    assert done.path is None


NAMES = ['a"b', "x; DROP TABLE release; --", "line\nbreak", "%s {table}", "A", "a"]
VALUES = ["'; --", 'say "hi"', "two\r\nlines", "=1+1", "\\.", "\\N", "", "∅", None, "a,b"]


def test_odd_names_and_values(database):
    people = pa.table(dict.fromkeys(NAMES, VALUES * 2) | {"ill": ["y", "n"] * 10})
    tl.release(people, Policy("ill", NAMES[:3]), database.url, keep=NAMES[3:], out_table="odd % {} name")
    assert rows(database, "odd % {} name") == people.select(NAMES).to_pylist()
    assert Path("odd % {} name.receipt.json").exists()


def test_numbers_and_one_column_with_gaps(database):
    numbers = pa.table(
        {
            "a": ["x", None, "x", "y"],
            "n": [2**63 - 1, None, -(2**63), 0],
            "r": [0.1, 1e308, None, 5e-324],
            "ill": ["y", "n"] * 2,
        }
    )
    tl.release(numbers, Policy("ill", ["a"]), database.url, keep=["n", "r"], out_table="numbers").verify()
    assert rows(database, "numbers") == numbers.select(["a", "n", "r"]).to_pylist()
    tl.release(numbers, Policy("ill", ["a"]), database.url).verify()
    assert rows(database) == numbers.select(["a"]).to_pylist()


PEOPLE = pa.table(
    {"age": [30, 31, 30, None, 47] * 4, "sex": ["f", "m", "", None] * 5, "ill": ["y", "n"] * 10}
)
POLICY = Policy("ill", ["age", "sex"])


def release(database, **options):
    return tl.release(PEOPLE, POLICY, database.url, **options)


def test_a_table_that_is_there_stays(database):
    ask(database, "CREATE TABLE release AS SELECT 1 AS mine")
    for force in (False, True):
        with pytest.raises(InvalidInput, match="exists already, and tables are not overwritten") as caught:
            release(database, force=force)
        assert "\n" not in str(caught.value)
    assert rows(database) == [{"mine": 1}]
    assert not list(Path.cwd().iterdir())


@pytest.mark.parametrize(
    ("source", "options", "problem"),
    [
        (PEOPLE.rename_columns(["age", "sex" * 30, "ill"]), {}, "column must be a name of 1 to 63 bytes"),
        (PEOPLE.rename_columns(["age", "xmin", "ill"]), {}, r"database failed \(DuplicateColumn\)"),
        (PEOPLE.set_column(1, "sex", pa.array(["a\0b"] * 20)), {}, "cannot be written: its database failed"),
        (PEOPLE, {"out_table": "é" * 32}, "out_table must be a name of 1 to 63 bytes"),
        (PEOPLE, {"out_table": ""}, "out_table must be a name"),
        (PEOPLE, {"out_table": "a/b"}, "receipt must be given"),
        (PEOPLE, {"receipt": "none/receipt.json"}, "there is no folder"),
        (PEOPLE, {"keep": ["weight"]}, "weight"),
    ],
)
def test_what_is_refused_leaves_nothing(database, source, options, problem):
    before = tables(database)
    policy = Policy("ill", [source.column_names[1]])
    with pytest.raises(InvalidInput, match=problem) as caught:
        tl.release(source, policy, database.url, **options)
    assert "\n" not in str(caught.value)
    assert tables(database) == before
    assert not list(Path.cwd().iterdir())


def test_a_database_that_is_not_there(tmp_path):
    pytest.importorskip("psycopg")
    url = f"postgresql://me:hunter2@/db?host={tmp_path}"
    with pytest.raises(InvalidInput, match='"release" of Postgres database "db" cannot be reached') as caught:
        tl.release(PEOPLE, POLICY, url, receipt=tmp_path / "receipt.json")
    assert "hunter2" not in str(caught.value)
    assert not list(tmp_path.iterdir())


class _Damaged(PostgresForm):
    """A form that writes something else than it is given."""

    def __init__(self, damage):
        self.damage = damage

    def write(self, draft, schema, batches, note):
        super().write(draft, schema, (self.damage(batch) for batch in batches), note)


@pytest.mark.parametrize(
    "damage", [lambda rows: rows.take(pa.array([1, 0, *range(2, 20)])), lambda rows: rows.slice(1)]
)
def test_a_table_that_is_not_what_was_decided_is_not_kept(database, damage):
    before = tables(database)
    with open_table(PEOPLE) as table, pytest.raises(InvalidInput, match="does not read back"):
        publish(table, POLICY, PostgresOutput(database.url, "release", _Damaged(damage)))
    assert tables(database) == before


def test_a_seed_is_told_in_the_comment(database):
    release(database, seed_for_tests=3)
    release(database, out_table="other")
    comments = "SELECT relname, obj_description(oid) FROM pg_class WHERE relname IN ('release', 'other')"
    found = dict(ask(database, comments))
    assert found["other"] is None
    assert found["release"].startswith("tightlip unsafe: drawn with a seed")


def test_a_receipt_knows_its_table_again(database):
    """Wherever the server moves rows, and not when one is changed, lost, doubled or of another type."""
    done = release(database)
    done.verify()
    record = json.loads(Path("release.receipt.json").read_text())
    assert record["files"]["output"] == {
        "name": "release",
        "database": "postgres",
        "sha256": done.published.sha256,
    }
    ask(database, "UPDATE release SET age = age WHERE sex = 'f'")
    assert rows(database) != PEOPLE.select(["age", "sex"]).to_pylist()
    done.verify()
    for change in [
        "UPDATE release SET sex = 'f' WHERE sex = ''",
        "INSERT INTO release VALUES (NULL, NULL)",
        "ALTER TABLE release RENAME sex TO gender",
        "ALTER TABLE release ALTER age TYPE bigint USING age::bigint",
        "ALTER TABLE release ADD more text",
        "DELETE FROM release WHERE age IS NULL",
    ]:
        ask(database, f"DROP TABLE release; {_copy(database)}")
        done.verify()
        ask(database, change)
        with pytest.raises(CertificateInvalid, match="is not the output that the receipt was made for"):
            done.verify()
    ask(database, "DROP TABLE release")
    with pytest.raises(InvalidInput, match="is not there"):
        done.verify()


def _copy(database):
    """SQL that makes the released table anew."""
    listed = ", ".join(
        f"({'NULL' if age is None else repr(str(age))}, {'NULL' if sex is None else repr(sex)})"
        for age, sex in zip(PEOPLE["age"].to_pylist(), PEOPLE["sex"].to_pylist(), strict=True)
    )
    return f"CREATE TABLE release (age text, sex text); INSERT INTO release VALUES {listed}"


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def files(database):
    lines = [f"{20 + place % 30},{'fm'[place % 2]},{place % 3}" for place in range(300)]
    Path("people.csv").write_text("\n".join(["age,sex,ill", *lines]) + "\n")
    Path("plan.toml").write_text('secret = ["ill"]\n[release.age]\nbins = 10\n[release.sex]\n')
    url = database.url.replace("tester@", "tester:hunter2@")
    asked = ["--secret", "ill", "--release", "age,sex", "--budget", "3x", "--seconds", "0.2"]
    commands = {
        "release": ["release", "table", "people.csv", "--policy", "plan.toml", "--out", url],
        "protect": ["protect", "people.csv", *asked, "--out", url],
    }
    return url, commands


@pytest.mark.parametrize("command", ["release", "protect"])
def test_commands_write_and_verify_and_tell_no_password(capsys, database, files, command):
    url, commands = files
    status, out, err = run(capsys, *commands[command], "--out-table", "safe")
    assert (status, err) == (0, "")
    words = " ".join(out.split())
    assert "read back and checked" in words
    assert 'Wrote the rows: "safe" of Postgres database "postgres".' in words
    assert "Wrote the receipt: safe.receipt.json." in words
    assert len(rows(database, "safe")) == 300
    assert "hunter2" not in out + Path("safe.receipt.json").read_text()
    assert ":***@" in json.loads(Path("safe.receipt.json").read_text())["command"]
    status, out, err = run(capsys, "verify", "safe.receipt.json", "--database", url)
    assert (status, err) == (0, "")
    assert out.startswith("Unchanged: the files are as they were")
    status, out, err = run(capsys, "verify", "safe.receipt.json")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "--database" in err
    ask(database, "DELETE FROM safe WHERE ctid = '(0,1)'")
    status, out, err = run(capsys, "verify", "safe.receipt.json", "--database", url)
    assert (status, out, err.count("\n")) == (1, "", 1)
    status, _, err = run(capsys, *commands[command], "--out-table", "safe", "--force")
    assert status == 2
    assert "exists already" in err


def test_options_that_do_not_fit(capsys, database, files):
    url, commands = files
    status, _, err = run(capsys, *commands["release"][:-1], "safe.csv", "--out-table", "safe")
    assert status == 2
    assert "out_table is for Postgres databases" in err
    assert run(capsys, *commands["release"][:-1], "safe.csv")[0] == 0
    status, _, err = run(capsys, "verify", "safe.csv.receipt.json", "--database", url)
    assert status == 2
    assert "one of a file" in err


def test_into_the_database_that_is_read(database):
    """The reader's transaction and the writer's do not wait for each other."""
    with open_table(database.url, table="people") as table:
        safe = tl.protect(table, "disease", ["age"], "3x", seconds=0.2)
        done = safe.release(database.url, out_table="safe")
    done.verify()
    assert len(rows(database, "safe")) == len(ROWS)
