"""What protect keeps of real tables, against what a user would use instead.

Linear detail and information I(X; Y)/H(X) of the randomised optimum, the deterministic release, the best recoding of
whole columns over the same levels, cells of few people hidden, and Mondrian-style splitting; and CPU time. The time of
the randomised optimum is set against one call of HiGHS over all pairs, by its own choice of method.
Adult is read from the folder that TIGHTLIP_ADULT names, and left out without one.
"""

import math
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tightlip.errors import SolverFailure
from tightlip.numeric.linear_program import minimise
from tightlip.protection.kernel import Kernel
from tightlip.protection.limits import risky_cells
from tightlip.protection.rows import Rows
from tightlip.protection.run import protect

HEALTH = Path(__file__).parents[1] / "examples" / "health_records.csv"
HEALTH_LEVELS = {
    "age": ["as is", 2, 5, 10, 20, 40, "out"],
    "zip": ["as is", "prefix 4", "prefix 3", "prefix 2", "prefix 1", "out"],
    "sex": ["as is", "out"],
}
LONGEST = 60.0  # seconds for one call of the solver over all pairs
STUDIED = ["Bachelors", "Masters", "Doctorate", "Prof-school", "Assoc-acdm", "Assoc-voc", "Some-college"]
MARRIED = ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"]


def adult():
    """Adult's training part, with two groups for education and marital status."""
    path = Path(os.environ["TIGHTLIP_ADULT"]) / "adult.data"
    places = {0: "age", 3: "education", 5: "marital", 9: "sex", 14: "income"}
    table = pd.read_csv(path, header=None, skipinitialspace=True, usecols=list(places)).rename(columns=places)
    table = table.dropna(subset=["income"])
    levels = {
        "age": ["as is", 5, 10, 20, "out"],
        "education": ["as is", _two(table.education, STUDIED), "out"],
        "marital": ["as is", _two(table.marital, MARRIED), "out"],
        "sex": ["as is", "out"],
    }
    return table, levels


def _two(column, inside):
    return {value: "in" if value in inside else "not in" for value in column.unique()}


def kept(found, chosen):
    """Linear detail and information of a release that publishes chosen[x] for cell x, where it keeps the budget."""
    limits, values = found.certificate.table.limits, found.values
    kernel = Kernel.assign(chosen)
    if kernel.broken(limits, values).any():
        return None
    people = limits.people / limits.total
    used = np.bincount(chosen, people)
    used = used[used > 0]
    detail = found.certificate.table.detail(values).kept(kernel)
    return detail, float(used @ np.log(used)) / float(people @ np.log(people))


def at_node(found, node):
    """The value of each cell at a node."""
    values, table = found.values, found.certificate.table
    columns = [levels[at][code] for levels, at, code in zip(table.levels, node, table.codes.T, strict=True)]
    groups = pd.MultiIndex.from_arrays(columns).factorize()[0]
    known = {values.cells_of(value).tobytes(): value for value in range(len(values))}
    members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
    chosen = np.zeros(len(groups), dtype=np.intp)
    for own in members:
        chosen[own] = known[own.astype(np.intp).tobytes()]
    return chosen


def global_recoding(found):
    """The best node of all: every column at one level."""
    made = (kept(found, at_node(found, node)) for node in found.values.nodes)
    return max(filter(None, made), default=(0.0, 0.0))


def hide_small(found):
    """Hide cells of few people: the smallest threshold that keeps the budget."""
    limits, values = found.certificate.table.limits, found.values
    finest = at_node(found, values.nodes[0])
    for least in range(2, int(limits.people.max()) + 2):
        result = kept(found, np.where(limits.people < least, values.last, finest))
        if result is not None:
            return result
    return 0.0, 0.0


def mondrian(found):
    """Split the whole table by one column to its next finer level as long as all parts keep the budget."""
    table, values = found.certificate.table, found.values
    limits, known = table.limits, {}
    for value in range(len(values)):
        known[values.cells_of(value).tobytes()] = value
    chosen = values.last.copy()
    todo = [(np.arange(len(limits.people)), tuple(len(levels) - 1 for levels in table.levels))]
    while todo:
        cells, node = todo.pop()
        for column in np.argsort([-at / len(levels) for at, levels in zip(node, table.levels, strict=True)]):
            if not node[column]:
                continue
            finer = (*node[:column], node[column] - 1, *node[column + 1 :])
            group = table.levels[column][node[column] - 1][table.codes[cells, column]]
            parts = [cells[group == one] for one in np.unique(group)]
            if all(_keeps(limits, part) for part in parts):
                todo += [(part, finer) for part in parts]
                break
        else:
            chosen[cells] = known[cells.astype(np.intp).tobytes()]
    return kept(found, chosen) or (0.0, 0.0)


def _keeps(limits, cells):
    people = int(limits.people[cells].sum())
    return all(one.kept_by(int(limits.counts[one.secret, cells].sum()), people) for one in limits.limits)


def whole_program(found):
    """The linear program over all pairs in one call: CPU seconds and what it keeps; None where it was stopped."""
    limits, values = found.certificate.table.limits, found.values
    detail = found.certificate.table.detail(values).share()
    alone = np.bincount(values.value, minlength=len(values)) == 1
    pairs = np.flatnonzero(~(alone[values.value] & risky_cells(limits)[values.cell]))
    value, cell = values.value[pairs], values.cell[pairs]
    people = limits.people.astype(np.float64)
    rows = Rows.of(value, cell, np.zeros(len(pairs), dtype=bool), people, limits.excess(), 0.0)
    start = time.process_time()
    try:
        cost = minimise(
            -people[cell] * detail[value], rows.matrix, rows.limits, equal=rows.cells, seconds=LONGEST
        ).cost
    except SolverFailure:
        cost = None
    return time.process_time() - start, len(pairs), None if cost is None else -cost / limits.total


def compare(name, table, secret, levels, budget):
    """Print one table and budget."""
    found, seconds = {}, {}
    for kind in ("randomised", "deterministic"):
        start = time.process_time()
        found[kind] = protect(
            table, secret, list(levels), f"{budget} nats", levels=levels, randomised=kind == "randomised"
        )
        seconds[kind] = time.process_time() - start
    one = found["randomised"]
    rows = {kind: (own.kept, own.information) for kind, own in found.items()}
    rows |= {
        "best global recoding": global_recoding(one),
        "small cells hidden": hide_small(one),
        "Mondrian": mondrian(one),
    }
    print(f"{name}, {budget} nats: at most {math.ceil(one.bound * 1e4) / 1e4} can be kept")
    for kind, (detail, information) in rows.items():
        spent = f"  {seconds[kind]:.1f} s of CPU" if kind in seconds else ""
        print(f"  {kind:22} detail {detail:.3f}  information {information:.3f}{spent}")
    plain, pairs, detail = whole_program(one)
    ratio = plain / seconds["randomised"]
    if detail is None:
        print(
            f"  all {pairs} pairs at once: stopped after {plain:.0f} s of CPU, more than {ratio:.1f} times as long"
        )
    else:
        print(
            f"  all {pairs} pairs at once: detail {detail:.3f}, {plain:.1f} s of CPU, {ratio:.1f} times as long"
        )


def main() -> None:
    """Print all."""
    print("protect: what is kept under a budget")
    for budget in (1.5, 1.0):
        compare("health records", HEALTH, "disease", HEALTH_LEVELS, budget)
    if "TIGHTLIP_ADULT" in os.environ:
        table, levels = adult()
        for budget in (1.0, 0.5):
            compare("Adult", table, "income", levels, budget)


if __name__ == "__main__":
    main()
