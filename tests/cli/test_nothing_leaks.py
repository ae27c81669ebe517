"""Without --show-values no output has a secret value or the values of a small cell: planted ones are looked for."""

import random

import numpy as np
import pyarrow.parquet
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.cli.main import main

pytestmark = IGNORED

SECRETS = ["seclupus", "secmalaria", "secnone"]
RARE = {"job": "rareastronaut", "zip": "rare99", "size": "4711.25", "born": "1901-07-13", "age": "88172635"}
PLANTED = [*SECRETS, *RARE.values(), "rareid"]


@pytest.fixture
def table(tmp_path):
    """Four hundred people; one of them has a value in every released column that nobody else has."""
    draw = random.Random(3)
    lines = ["id,job,zip,size,born,age,disease"]
    for place in range(400):
        job, home = draw.choice(["nurse", "baker", "judge", "smith"]), draw.choice(["aa11", "bb22"])
        born, age = draw.choice(["1980-01-01", "1990-02-02"]), draw.choice([30, 40])
        secret = draw.choices(SECRETS, [1, 2, 7])[0]
        lines.append(f"p{place},{job},{home},{draw.choice(['1.5', '2.5'])},{born},{age},{secret}")
    lines.append(
        f"rareid,{','.join(RARE[name] for name in ('job', 'zip', 'size', 'born', 'age'))},{SECRETS[0]}"
    )
    path = tmp_path / "patients.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(autouse=True)
def quick_library(monkeypatch):
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _: "window.vegaEmbed = async () => {};")


def everything(capsys, folder, *arguments) -> str:
    """What a command prints and writes, and its exit status."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    written = [path for path in folder.iterdir() if before.get(path) != path.read_bytes()]
    texts = [f"status {status}", captured.out, captured.err]
    for path in written:
        parquet = path.suffix == ".parquet"
        texts.append(str(pyarrow.parquet.read_table(path).to_pydict()) if parquet else path.read_text())
        path.unlink()
    return "\n".join(texts)


def command(table, *options, release="job,zip,size,born,age"):
    return "audit", table, "--secret", "disease", "--release", release, *options


def require_hidden(text):
    for word in PLANTED:
        assert word not in text, text[max(text.index(word) - 300, 0) : text.index(word) + 100]


WAYS = {
    "plain": (),
    "over budget": ("--budget", "log(2)"),
    "noise": ("--randomize", "zip=1"),
    "hidden": ("--min-count", "5", "--budget", "0.5 nats"),
    "recoded": ("--bins", "size=1", "--prefix", "born=4", "--top", "age=100"),
    "sample": ("--sample", "--budget", "1 nats"),
}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_json_and_page(capsys, table, tmp_path, options):
    given = command(table, *options, "--json", "--html", tmp_path / "report.html")
    text = everything(capsys, tmp_path, *given)
    assert text.startswith(("status 0", "status 1")), text
    assert "<h1" in text
    require_hidden(text)


def test_noise_does_not_make_a_rare_value_common(capsys, table, tmp_path):
    given = command(table, "--randomize", "job=1", "--json", release="job")
    text = everything(capsys, tmp_path, *given)
    assert "nurse" in text
    require_hidden(text)


@pytest.mark.parametrize("names", [RARE["job"], "told"])
def test_a_channel_does_not_tell_a_rare_value(capsys, table, tmp_path, names):
    """Its file may be named; what is in it, and an outcome that few people have, may not."""
    jobs = ["nurse", "baker", "judge", "smith"]
    rows = np.vstack([np.full((4, 5), 0.1) + 0.5 * np.eye(4, 5), [[0, 0, 0, 0.1, 0.9]]])
    channel = tl.Channel(rows, inputs=[*jobs, RARE["job"]], outputs=[*jobs, names])
    channel.save(tmp_path / "mechanism.json")
    page = tmp_path / "report.html"
    for randomised in (f"job=channel {tmp_path / 'mechanism.json'}", "job=1"):
        options = ("--randomize", randomised, "--budget", "1.02x", "--json", "--html", page)
        text = everything(capsys, tmp_path, *command(table, *options, release="job,zip"))
        assert text.startswith("status 1"), text
        assert "nurse" in text
        require_hidden(text)
    channel.save(tmp_path / "mechanism.json", force=True)
    text = everything(
        capsys,
        tmp_path,
        *command(table, "--randomize", f"zip=channel {tmp_path / 'mechanism.json'}", release="job,zip"),
    )
    assert text.startswith("status 2"), text
    require_hidden(text)


def test_text(capsys, table, tmp_path):
    options = ("--budget", "log(2)", "--delta", "0.1")
    require_hidden(everything(capsys, tmp_path, *command(table, *options)))
    shown = everything(capsys, tmp_path, *command(table, *options, "--show-values"))
    assert SECRETS[0] in shown
    assert RARE["job"] in shown


@pytest.mark.parametrize("column", RARE)
def test_remedies_of_each_kind_of_column(capsys, table, tmp_path, column):
    require_hidden(
        everything(capsys, tmp_path, *command(table, "--budget", "0.2 nats", "--json", release=column))
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_risks(capsys, table, tmp_path, form):
    text = everything(capsys, tmp_path, *command(table, "--risks", tmp_path / f"risks.{form}"))
    assert "leakage_nats" in text
    require_hidden(text)


def test_errors(capsys, table, tmp_path):
    (tmp_path / "jobs.csv").write_text("job,group\nnurse,care\nbaker,food\njudge,law\nsmith,iron\n")
    ways = [
        ("--map", f"job={tmp_path / 'jobs.csv'}"),
        ("--bins", "job=10"),
        ("--id", "disease", "--risks", tmp_path / "risks.csv"),
        ("--prefix", "size=2"),
    ]
    for options in ways:
        text = everything(capsys, tmp_path, *command(table, *options))
        assert text.startswith("status 2"), text
        require_hidden(text)
    table.write_text(table.read_text() + f"{RARE['job']},{SECRETS[1]}\n")
    require_hidden(everything(capsys, tmp_path, *command(table)))
    table.write_text(table.read_text() + f'"{RARE["job"]},{SECRETS[1]}\n')
    require_hidden(everything(capsys, tmp_path, *command(table)))
