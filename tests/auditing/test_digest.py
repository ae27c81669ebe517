"""The fingerprint of the counts: of what is in them, not of the order they came in."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd

from tightlip.auditing.counted import counts_digest
from tightlip.auditing.run import audit
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins

PEOPLE = pd.DataFrame(
    {
        "age": [31, 38, 31, 52, 52, 39],
        "sex": ["f", "m", "f", None, "m", "f"],
        "ill": ["flu", 'no "flu"', "flu", "grün", "flu", "flu"],
    }
)
PLAN = Policy("ill", [Released("age", Bins(width=10)), "sex"])


def test_it_can_be_had_by_other_means():
    frame = PEOPLE.assign(age=[f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in PEOPLE["age"]])
    rows = frame[["ill", "age", "sex"]].astype(object).where(frame.notna(), None).itertuples(index=False)
    counts = pd.Series(list(map(tuple, rows))).value_counts()
    lines = sorted(json.dumps([*row, int(count)]) + "\n" for row, count in counts.items())
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert counts_digest(audit(PEOPLE, policy=PLAN).counted) == expected


def test_order_does_not_matter_and_one_row_does():
    digest = counts_digest(audit(PEOPLE, policy=PLAN).counted)
    shuffled = PEOPLE.iloc[[3, 5, 0, 1, 4, 2]]
    assert counts_digest(audit(shuffled, policy=PLAN).counted) == digest
    found = audit(PEOPLE, policy=PLAN).counted
    cells, secrets = (np.arange(size)[::-1] for size in found.tally.shape[::-1])
    assert counts_digest(found.reorder(cells, secrets)) == digest
    changed = PEOPLE.assign(ill=[*PEOPLE["ill"][:-1], "grün"])
    assert counts_digest(audit(changed, policy=PLAN).counted) != digest


def test_it_is_of_what_was_counted_not_of_what_is_released():
    hidden = audit(PEOPLE, policy=replace(PLAN, min_count=2))
    assert counts_digest(hidden.counted) == counts_digest(audit(PEOPLE, policy=PLAN).counted)
