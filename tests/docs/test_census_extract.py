"""The synthetic census extract: as its script makes it, with the shares that its documentation tells."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.table.source import open_table

pytestmark = IGNORED
EXAMPLES = Path(__file__).parents[2] / "examples"
EXTRACT = EXAMPLES / "census_extract.csv"
# from which age on a question is asked; below, the answer is N
ASKED_FROM = {"MSP": 15, "EDU": 3, "EMPL": 16, "PINCP": 15, "PINCP_DECILE": 15, "DVET": 17}
ASKED_FROM |= dict.fromkeys(["DREM", "DPHY", "DEYE", "DEAR"], 5)


@pytest.fixture(scope="module")
def people():
    return pd.read_csv(EXTRACT, dtype=str, keep_default_na=False).astype({"AGEP": int})


def test_the_file_is_what_the_script_makes(tmp_path):
    made = tmp_path / "made.csv"
    subprocess.run(
        [sys.executable, EXAMPLES / "make_census_extract.py", made], check=True, capture_output=True
    )
    assert made.read_bytes() == EXTRACT.read_bytes()
    assert EXTRACT.stat().st_size < 700_000


def test_kinds():
    with open_table(EXTRACT) as table:
        kinds = dict(table.columns)
    assert len(kinds) == 24
    text = {"PUMA", "MSP", "EDU", "EMPL", "INDP_CAT", "OCC", "PINCP", "PINCP_DECILE", "POVPIP"}
    text |= {"DVET", "DREM", "DPHY", "DEYE", "DEAR"}  # N among the numbers
    assert {name for name, kind in kinds.items() if kind == "text"} == text
    assert kinds["DENSITY"] == "real"
    assert {kinds[name] for name in {*kinds} - text - {"DENSITY"}} == {"integer"}


@pytest.mark.parametrize("column", ASKED_FROM)
def test_n_is_exactly_where_a_question_is_not_asked(people, column):
    assert ((people[column] == "N") == people.AGEP.lt(ASKED_FROM[column])).all()


def test_n_of_work_and_institutions(people):
    for column in ("INDP_CAT", "OCC"):
        assert ((people[column] == "N") == (people.EMPL != "1")).all()
    assert ((people.POVPIP == "N") == (people.HOUSING_TYPE == "2")).all()


def test_shares_are_as_documented(people):
    asked = people[people.DPHY != "N"]
    held = asked.DPHY == "1"
    assert (len(people), len(asked), held.sum()) == (7300, 6918, 433)
    assert round(100 * held.mean(), 1) == 6.3
    assert held[asked.AGEP < 20].mean() < 0.01
    assert held[asked.AGEP >= 85].mean() > 1 / 3
    by_age = held.groupby(pd.cut(asked.AGEP, [0, 20, 40, 60, 75, 85, 96], right=False), observed=True).mean()
    assert by_age.is_monotonic_increasing
    assert 0.02 < (people.NPF == "-9").mean() < 0.04
    rate = held[asked.AGEP >= 60].groupby(asked.SEX).mean()
    assert rate["2"] > 1.2 * rate["1"]


def test_areas_differ_in_poverty(people):
    asked = people[people.POVPIP != "N"]
    poor = asked.POVPIP.astype(int) < 100
    assert 0.10 < poor.mean() < 0.13
    by_area = poor.groupby(asked.PUMA).mean()
    assert len(by_area) == 10
    assert by_area.max() > 1.8 * by_area.min()
