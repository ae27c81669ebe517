"""The synthetic example: as its script makes it, with the planted cell in it."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from contract.warnings_of_engines import IGNORED
from tightlip.table.counts import count_cells
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins
from tightlip.table.source import open_table

pytestmark = IGNORED

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDS = EXAMPLES / "health_records.csv"


def test_the_file_is_what_the_script_makes(tmp_path):
    made = tmp_path / "made.csv"
    subprocess.run(
        [sys.executable, EXAMPLES / "make_health_records.py", made], check=True, capture_output=True
    )
    assert made.read_bytes() == RECORDS.read_bytes()
    assert RECORDS.stat().st_size < 300_000


def test_kinds():
    with open_table(RECORDS) as table:
        kinds = table.columns
    assert kinds == {
        "id": "text",
        "age": "integer",
        "sex": "text",
        "zip": "text",  # some start with 0
        "occupation": "text",
        "weight": "real",
        "smoker": "boolean",
        "last_visit": "date",
        "disease": "text",
    }


def test_the_planted_cell_leaks_most():
    policy = Policy("disease", [Released("age", Bins(width=10)), "sex", "zip"])
    with open_table(RECORDS) as table:
        counts = count_cells(table, policy)
    assert counts.total == 3000
    of_secret = np.bincount(counts.secret_of, weights=counts.count)
    gain = counts.count / counts.sizes()[counts.cell_of] * counts.total / of_secret[counts.secret_of]
    worst = int(np.argmax(gain))
    assert counts.cells[counts.cell_of[worst]] == ("[60, 70)", "m", "10439")
    assert counts.secrets[counts.secret_of[worst]] == ("HIV",)
    assert counts.count[worst] == counts.sizes()[counts.cell_of[worst]] == 5
