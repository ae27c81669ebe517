"""How often the bound of a sample on the share of people above the budget holds, and how far it is from the truth.

Claim: whole audits of samples, everything that they state included, keep their confidence; 95 % bounds on the share
above the budget are within a few points of the truth where cells are large. Populations are known: a census with an
illness that grows with age, one secret held by 6.3 %, ten cells; the Adult table (TIGHTLIP_ADULT names its folder),
resampled; one with two thousand cells.

Printed are the true share, the share in the samples, the bounds from above (median, and the worst of all samples), how
often they hold, and the same for the bound from below.
"""

import csv
import os
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.run import audit_counts
from tightlip.auditing.sample import SampleMode
from tightlip.table.policy import Policy

DELTA = Fraction(1, 100)
AGE, EDUCATION, MARITAL, OCCUPATION, SEX, INCOME = 0, 3, 5, 6, 9, 14  # columns of adult.data


@dataclass(frozen=True)
class Case:
    """A population: masses by secret and two released columns; rows to draw, and the budget as a factor."""

    name: str
    masses: NDArray[np.float64]
    rows: int
    budget: Fraction

    def share_above(self, masses: NDArray[np.float64]) -> float:
        """The share of people whose cell leaks more than the budget."""
        joint = masses.reshape(len(masses), -1) / masses.sum()
        cell = joint.sum(axis=0)
        lift = (joint / joint.sum(axis=1)[:, None]).max(axis=0)
        return float(cell[lift > float(self.budget) * cell * (1 + 1e-12)].sum())


def census() -> Case:
    """Prevalence 1 % … 30 % by age in bins of 20 and sex; 6.3 % of people are in cells above a factor of 3."""
    people = np.array([[0.112, 0.108], [0.132, 0.131], [0.135, 0.136], [0.098, 0.085], [0.036, 0.027]])
    ill = np.array([[0.010, 0.012], [0.020, 0.024], [0.048, 0.052], [0.120, 0.140], [0.270, 0.300]])
    return Case("census", np.stack([people * (1 - ill), people * ill]), 7287, Fraction(3))


def many_cells() -> Case:
    """Two thousand cells of unequal size; in one of ten the secret of a tenth is four times as frequent."""
    generator = np.random.default_rng(1)
    people = generator.dirichlet(np.full(2000, 0.7)).reshape(100, 20)
    held = np.where(generator.random((100, 20)) < 0.1, 0.3, 0.075)
    return Case("2000 cells", np.stack([people * (1 - held), people * held]), 20_000, Fraction(2))


def adult(name: str, columns: tuple[int, int], budget: str, rows: int) -> Case:
    """Income in the Adult table by two columns, ages in bins of ten."""
    with (Path(os.environ["TIGHTLIP_ADULT"]) / "adult.data").open(newline="") as file:
        people = [[value.strip() for value in row] for row in csv.reader(file) if row]
    for person in people:
        person[AGE] = str(int(person[AGE]) // 10)
    counts = Counter((person[INCOME], *(person[column] for column in columns)) for person in people)
    values = [sorted({key[place] for key in counts}) for place in range(3)]
    masses = np.array([[[counts[a, b, c] for c in values[2]] for b in values[1]] for a in values[0]])
    return Case(name, masses.astype(float), rows, Fraction(budget))


def cases() -> list[Case]:
    found = [census(), many_cells()]
    if "TIGHTLIP_ADULT" in os.environ:
        found += [
            adult("Adult: age × sex", (AGE, SEX), "3/2", 7287),
            adult("Adult: education × sex", (EDUCATION, SEX), "2", 7287),
            adult("Adult: education × occupation", (EDUCATION, OCCUPATION), "2", 20_000),
        ]
    return found


def draw(case: Case, generator: np.random.Generator) -> NDArray[np.int64]:
    shares = case.masses / case.masses.sum()
    return generator.multinomial(case.rows, shares.ravel()).reshape(shares.shape)


def counted(counts: NDArray[np.int64]) -> Counted:
    """Counts by secret and two columns, as an engine would have counted them."""
    cells = [tuple(map(int, cell)) for cell in np.argwhere(counts.sum(axis=0) > 0)]
    place = {cell: at for at, cell in enumerate(cells)}
    seen = np.argwhere(counts > 0).tolist()
    found = SimpleNamespace(
        secrets=[(str(secret),) for secret in range(len(counts))],
        cells=[tuple(map(str, cell)) for cell in cells],
        secret_of=[secret for secret, *_ in seen],
        cell_of=[place[first, second] for _, first, second in seen],
        count=[int(counts[tuple(pair)]) for pair in seen],
    )
    return Counted.of(found, ["s"], ["a", "b"])


def bounds_of(case: Case, counts: NDArray[np.int64], confidence: float) -> tuple[float, float]:
    """The bounds of a whole audit on the share above the budget, from below and from above."""
    found = audit_counts(
        counted(counts),
        Policy("s", ["a", "b"]),
        kinds={},
        delta=DELTA,
        budget=tl.log_of(case.budget),
        sample=SampleMode(confidence),
    ).deciding
    at = [point.at_least for point in found.tail if point.level.ratio == case.budget]
    return float(at[0]) if at else 0.0, float(found.share_above_budget or 0.0)


def main(samples: int = 10) -> None:
    print(f"share above the budget, {samples} samples each:")
    print("case, confidence                     truth  sample  at most  (worst)  holds  at least  holds")
    for case in cases():
        true, generator = case.share_above(case.masses), np.random.default_rng(0)
        drawn = [draw(case, generator) for _ in range(samples)]
        seen = np.median([case.share_above(counts.astype(float)) for counts in drawn])
        for confidence in (0.95, 0.5):
            lower, upper = np.array([bounds_of(case, counts, confidence) for counts in drawn]).T
            shown = [true, seen, np.median(upper), upper.max()]
            low = f"{np.median(lower):9.2%} {np.mean(lower <= true):6.0%}"
            told = " ".join(f"{share:7.2%}" for share in shown)
            print(f"{case.name:30} {confidence:.2f} {told} {np.mean(upper >= true):8.0%} {low}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
