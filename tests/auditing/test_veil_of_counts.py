"""What an attack on the report found: nothing follows about small cells from differences, columns or conditions."""

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.leakage import tail_levels
from tightlip.report.audit_record import audit_report
from tightlip.report.disclosure import level_above
from tightlip.table.kinds import MISSING

pytestmark = IGNORED


def people():
    """Most people share a cell; seven have one of their own, five of them with the rare secret."""
    rows = [("common", "no")] * 300 + [("common", "yes")] * 60 + [("rare", "yes")] * 5 + [("rare", "no")] * 2
    return pd.DataFrame(rows, columns=["a", "s"])


def report_of(found, **options):
    return audit_report(found, version="0", made="2026-01-02T03:04:05Z", **options)


def test_bars_beside_a_hidden_one_are_rounded():
    view = report_of(tl.audit(people(), "s", ["a"])).views[0]
    for bars in (view.by_factor, *(one.bins for one in view.certainty)):
        counts = [bar.people.count for bar in bars]
        if None in counts:
            assert all(count is None or count % 10 == 0 for count in counts)
    shown = report_of(tl.audit(people(), "s", ["a"]), show_values=True).views[0]
    assert sum(bar.people.count for bar in shown.by_factor) == 367


def test_columns_are_told_at_fixed_levels_without_leave():
    frame = people().assign(b=np.arange(367) % 3)
    found = tl.audit(frame, "s", ["a", "b"], code_seed=1)
    levels = [float(level) for level in tail_levels()]
    for told, exact in zip(report_of(found).views[0].columns, found.deciding.columns, strict=True):
        assert told.without.value >= float(exact.without)
        assert told.alone.value in levels or told.alone.value == report_of(found).views[0].worst.leakage.value
    assert level_above(tl.log_of("7/5")).ratio == tail_levels()[2].ratio


@pytest.mark.parametrize("read", ["frame", "parquet", "csv"])
def test_reals_of_many_digits_are_compared_exactly(tmp_path, read):
    one = 0.41817215137075947  # an engine reads its decimals as a neighbour
    frame = pd.DataFrame(
        {"s": [one] * 10 + [0.25] * 10 + [0.75] * 20, "a": [1, 2] * 20, "b": [1, 1, 2, 2] * 10}
    )
    path = tmp_path / f"people.{read}"
    if read == "parquet":
        frame.to_parquet(path)
    elif read == "csv":
        frame.to_csv(path, index=False)
    table = frame if read == "frame" else path
    wanted = {
        f"s != {one!r}": 30,
        f"s <= {one!r}": 20,
        f"s = {one!r}": 10,
        f"s in {one!r},0.25": 20,
        f"s > {one!r}": 20,
    }
    for condition, rows in wanted.items():
        assert tl.audit(table, "a", ["b"], where=condition).total == rows
    found = tl.audit(table, "a", ["s"], missing={"s": [repr(one)]})
    assert set(found.deciding.counted.values[0]) == {None, "0.25", "0.75"}


def test_a_ratio_is_a_bound_between_reals():
    frame = pd.DataFrame({"s": [1 / 3, 0.5] * 6, "a": [1, 2, 2, 1] * 3})
    assert tl.audit(frame, "a", ["s"], where="s < 1/3").total == 6  # the real next to 1/3 is below it


def test_missing_values_can_be_capped():
    frame = pd.DataFrame({"s": ["x"] * 60 + [None] * 10 + ["y"] * 30, "a": ["u", "v"] * 50})
    found = tl.audit(frame, {"s": [MISSING]}, ["a"], budget="50%")
    assert found.verdict is True


def test_time_that_is_over_is_told():
    frame = people().assign(b=np.arange(367) % 3)
    found = tl.audit(frame, "s", ["a", "b"], budget="2x", seconds=0)
    assert found.verdict is False
    assert found.stopped
    assert not found.remedies
    assert (
        "time was over"
        in report_of(
            found,
        ).no_remedy
    )
    assert tl.audit(frame, "s", ["a", "b"], budget="2x").remedies


def test_a_protected_plan_is_audited_at_another_budget():
    frame = people().assign(b=np.arange(367) % 3)
    safe = tl.protect(frame, "s", ["a", "b"], "3x", seconds=1)
    found = tl.audit(frame, policy=safe.policy, budget="1.01x")
    assert found.verdict is False
    assert found.remedies == ()


def test_labels_of_local_recodings_wait_for_ten_people():
    frame = people()
    safe = tl.protect(frame, "s", ["a"], "4.9x", levels={"a": ["as is", "out"]}, randomised=True)
    counted = tl.audit(frame, policy=safe.policy).deciding.counted
    assert counted.holders is not None
    assert int(counted.holders.sum()) <= len(frame)
