"""The risk of each row about several secrets, and of cells that only the engine has, against pandas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.risk import AuditRisks
from tightlip.table.source import open_table

pytestmark = IGNORED
LEAST = 12


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(1)
    rows = 2000
    found = pd.DataFrame(
        {
            "id": np.arange(rows),
            "a": draw.integers(0, 30, rows),
            "b": draw.integers(0, 4, rows),
            "s": draw.choice(["x", "y", "N", None], rows, p=[0.2, 0.6, 0.1, 0.1]),
            "t": draw.integers(0, 3, rows),
        }
    )
    found.loc[::17, "b"] = -9
    return found


def cells_of(frame, least):
    """The released cell of each row by a name; small ones are one."""
    key = frame["a"].astype(str) + "/" + frame["b"].replace(-9, "missing").astype(str)
    return key.where(key.map(key.value_counts()) >= least, "*")


def check(written, key, secret, applies, name=""):
    """Compare the columns of one secret with what pandas makes of the rows to whom it applies."""
    held, own = key[applies], secret[applies].astype(str)
    table = pd.crosstab(held, own, normalize="index")
    leakage = np.log((table / own.value_counts(normalize=True)).max(axis=1))
    posterior = [table.at[cell, value] for cell, value in zip(held, own, strict=True)]
    rows = applies.to_numpy()
    assert written[f"posterior{name}"].to_numpy()[rows] == pytest.approx(np.array(posterior), rel=1e-12)
    told = written[f"leakage_nats{name}"].to_numpy()
    assert told[rows] == pytest.approx(held.map(leakage).to_numpy(), abs=1e-12)
    assert (told[rows] >= held.map(leakage).to_numpy() - 1e-15).all()
    assert written[f"posterior{name}"].isna().to_numpy()[~rows].all()
    everywhere = key.map(leakage).to_numpy()  # what the cell says of others in it
    assert np.array_equal(np.isnan(told), np.isnan(everywhere))


def write(risks, frame, path, **options):
    with open_table(frame) as table:
        risks.write(table, path, **options)
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_two_secrets_each_have_their_own_columns(frame, tmp_path, suffix):
    found = tl.audit(
        frame,
        ["s", "t"],
        ["a", "b"],
        min_count=LEAST,
        not_secret={"s": ["N"]},
        missing={"b": [-9]},
        budget="2x",
        skip="remedies",
    )
    written = write(found.risks(), frame, tmp_path / f"risks.{suffix}", id_column="id")
    key, everybody = cells_of(frame, LEAST), pd.Series(True, index=frame.index)
    assert written["id"].tolist() == frame["id"].tolist()
    assert written["cell_size"].tolist() == key.map(key.value_counts()).tolist()
    assert (key == "*").any()
    secret = frame["s"].fillna("(missing)")
    check(written, key, secret, secret != "N", "_s")
    check(written, key, frame["t"], everybody, "_t")
    for name in ("s", "t"):
        worst = np.nanmax(written[f"leakage_nats_{name}"])
        assert found.views[name].worst.leakage <= worst <= found.views[name].worst.leakage + 1e-13


@pytest.mark.parametrize("least", [None, LEAST])
def test_one_secret_whose_cells_stay_in_the_engine(frame, tmp_path, least):
    found = tl.audit(
        frame, "s", ["a", "b"], min_count=least, missing={"b": [-9]}, skip=["columns", "envelope", "remedies"]
    )
    here = found.risks()
    assert here.cells is not None
    there = replace(found, counted=None).risks()
    assert there.cells is None
    written = write(there, frame, tmp_path / "there.csv")
    key, secret = cells_of(frame, least or 0), frame["s"].fillna("(missing)")
    check(written, key, secret, pd.Series(True, index=frame.index))
    pd.testing.assert_frame_equal(written, write(here, frame, tmp_path / "here.csv"))


def test_a_cell_in_which_the_secret_applies_to_nobody_has_no_risk(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3, 3], "s": ["x", "y", "x", "x", "N", "N"]})
    found = tl.audit(frame, "s", ["a"], not_secret={"s": ["N"]})
    written = write(found.risks(), frame, tmp_path / "risks.csv")
    assert written["cell_size"].tolist() == [2] * 6
    assert written["leakage_nats"].isna().tolist() == [False] * 4 + [True] * 2
    assert written["posterior"].isna().tolist() == [False] * 4 + [True] * 2
    assert written["posterior"].tolist()[:4] == [0.5, 0.5, 1.0, 1.0]


def test_a_table_that_changed_is_refused(frame, tmp_path):
    found = tl.audit(frame, ["s", "t"], ["a", "b"], skip=["columns", "envelope", "remedies"])
    assert isinstance(found.risks(), AuditRisks)
    other = frame.assign(t=frame["t"].replace(2, 1))
    with open_table(other) as table, pytest.raises(tl.errors.InvalidInput, match="changed"):
        found.risks().write(table, tmp_path / "risks.csv")
    assert not (tmp_path / "risks.csv").exists()
