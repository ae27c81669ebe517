"""What several releases publish together, alike on every engine."""

from collections import Counter

from contract.people import ROWS
from contract.test_every_engine import plain
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.joint import Terms, count_jointly
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, Prefix

pytestmark = IGNORED

TERMS = Terms.of(Policy("disease", ["age"]))
PLANS = {
    "1": Policy("disease", [Released("age", Bins(width=30)), "member"]),
    "2": Policy("disease", [Released("age", Bins(width=30, origin=5))], where="job != Nurse"),
    "3": Policy("disease", [Released("born", Prefix(4)), "age"], min_count=2),
}


def bin_of(age, origin):
    return None if age is None else (age - origin) // 30


def joint(row, sizes):
    """What is published of a row by all three, by other means than the library's."""
    second = ("yes", bin_of(row["age"], 5)) if row["job"] not in (None, "Nurse") else ("no", None)
    own = (None if row["born"] is None else str(row["born"])[:4], row["age"])
    return bin_of(row["age"], 0), row["member"], second, own if sizes[own] >= 2 else "hidden"


def test_joint_cells(table):
    sizes = Counter((None if row["born"] is None else str(row["born"])[:4], row["age"]) for row in ROWS)
    wanted = Counter((plain(row["disease"]), joint(row, sizes)) for row in ROWS)
    counted = count_jointly(table, TERMS, PLANS).cells.counted
    assert sorted(counted.tally.count.tolist()) == sorted(wanted.values())
    assert counted.tally.shape[1] == len({cell for _, cell in wanted})
