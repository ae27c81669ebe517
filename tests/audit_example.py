"""An audit made from counts alone, without a table engine; `text` goes into every name and value of the table."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.run import audit_counts
from tightlip.envelopes.result import read_delta
from tightlip.numeric.quantity import log_of
from tightlip.report.audit_record import audit_report
from tightlip.table.policy import Policy

HOSTILE = (
    "\u202e</script><script>window.harmed=1</script>"
    '<img src=x onerror="window.harmed=2"><!--\'"&amp;\x1b[31m{{7*7}}'
)
VALUES = {"age": ["young", "middle", "old"], "sex": ["F", "M"], "home": ["north", "south", "west"]}
BUDGET = log_of(2)
SECRETS = {"ill": ["none", "flu", "asthma"], "rich": ["no", "yes"]}


def example_audit(
    text="", *, secrets=1, budget=BUDGET, sample=None, min_count=None, statistic=(), jointly=False
):
    """Columns of at most three values, so that no coarsening is tried."""
    columns, secret_columns = (
        [f"{name}{text}" for name in VALUES],
        [f"{name}{text}" for name in SECRETS][:secrets],
    )
    counts = _counts(text, secrets)
    return audit_counts(
        Counted.of(counts, secret_columns, columns),
        Policy(secret_columns, columns, min_count=min_count, statistic=statistic, jointly=jointly),
        kinds=dict.fromkeys(columns, "text"),
        delta=read_delta("1/100"),
        budget=budget,
        sample=sample,
        code_seed=1,
    )


def example_report(text="", *, unit="nats", show_values=True, curve=True, **options):
    audit = example_audit(text, **options)
    return audit_report(
        audit.with_curves() if curve else audit,
        table=f"people{text}.csv",
        command=f"tightlip audit people{text}.csv",
        unit=unit,
        show_values=show_values,
        version="0",
        made="2026-01-02T03:04:05Z",
    )


def example_record(text="", **options):
    """The report as JSON."""
    return example_report(text, **options).to_dict()


def _counts(text, secrets):
    """Eighteen cells; in the last one, old men in the west, are four people, none of them well."""
    cells = _labels(VALUES, text)
    held = _labels(dict(list(SECRETS.items())[:secrets]), text)
    wealth = 2 if secrets == 2 else 1
    sizes = np.array([[40 + 5 * place, 12, 6 + place] for place in range(len(cells) - 1)] + [[0, 1, 3]])
    counts = np.repeat(sizes, wealth, axis=1)
    cell_of, secret_of = np.nonzero(counts)
    return SimpleNamespace(
        secrets=held, cells=cells, secret_of=secret_of, cell_of=cell_of, count=counts[cell_of, secret_of]
    )


def _labels(values, text):
    return [tuple(f"{value}{text}" for value in row) for row in product(*values.values())]
