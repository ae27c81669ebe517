"""Ledgers of a small table whose numbers are known; `text` goes into every name of columns, keys and reasons."""

import pyarrow as pa

from tightlip.ledger import Ledger
from tightlip.numeric.quantity import log_of
from tightlip.table.policy import Policy

# of 80 people 20 are ill: of the old 10 of 20, of the young 10 of 60; half of the ill and half of the others are women
GROUPS = {("old", "F"): (5, 5), ("old", "M"): (5, 5), ("young", "F"): (5, 25), ("young", "M"): (5, 25)}


def example_table(text=""):
    rows = [
        (age, sex, ill)
        for (age, sex), (yes, no) in GROUPS.items()
        for ill, count in (("yes", yes), ("no", no))
        for _ in range(count)
    ]
    return pa.table(dict(zip(_columns(text), map(list, zip(*rows, strict=True)), strict=True)))


def _columns(text):
    return f"age{text}", f"sex{text}", f"ill{text}"


def example_ledger(folder, text="", *, budget="3x"):
    """A ledger without a release, and its table."""
    table = example_table(text)
    return Ledger.create(folder / "people.ledger", table, _columns(text)[2], budget), table


def release(ledger, table, folder, name, text="", *, key=None, columns=None, **options):
    """Release one column under a key that is its name."""
    columns = [f"{name}{text}"] if columns is None else columns
    plan = Policy(list(ledger.secrets), columns, **options)
    where = folder / f"{key or name}{len(ledger.releases())}.csv"
    return ledger.release(table, plan, where, key=f"{key or name}{text}"[:200])


def lose(ledger, table, folder, name, monkeypatch, text=""):
    """Release a column, and lose the power before it is confirmed."""

    def stop(self, receipt):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("tightlip.ledger.ledger.Charge.confirm", stop)
        try:
            release(ledger, table, folder, name, text)
        except KeyboardInterrupt:
            return ledger.releases()[-1]
    raise AssertionError("it was confirmed")


def survey(ratio="6/5", name="survey", **options):
    """What `Ledger.declare` takes."""
    return {"name": name, "guarantees": {"ldp": log_of(ratio)}, **options}
