"""Make census_extract.csv: a synthetic table in the manner of a census extract. No row is of a real person.

    python examples/make_census_extract.py [FILE]

7,300 people of two invented states, one by one, with 24 columns that are named and coded as such files are:

| column | what it is |
|---|---|
| PUMA | area, by state and number: six areas of state 25, four of state 48 |
| AGEP, SEX | age in years, 0 to 95; 1 man, 2 woman |
| MSP | 1 married, 2 spouse absent, 3 widowed, 4 divorced, 5 separated, 6 never married; N under 15 |
| HISP, RAC1P | 0 or 1; codes 1, 2, 3, 6, 8, 9 |
| NOC, NPF | own children and people in the family; NPF is -9 where it is missing, in 3 % of rows |
| HOUSING_TYPE, OWN_RENT | 1 household, 2 institution, 3 other; 0 neither, 1 own, 2 rent |
| DENSITY | people by square mile of the area |
| EDU | ordered codes, 1 none to 12 doctorate; N under 3 |
| EMPL | 1 works, 2 looks for work, 3 neither; N under 16 |
| INDP_CAT, OCC | groups of industries and of occupations; N for those who do not work |
| PINCP, PINCP_DECILE | income of a year, and its tenth among all; N under 15 |
| POVPIP | income of the household in per cent of the poverty line, 501 for more than 500; N in institutions |
| DVET, DREM, DPHY, DEYE, DEAR | veteran; trouble with mind, body, eyes, ears: 1 yes, 2 no; N under 17 (DVET) or 5 |
| PWGTP | sampling weight: how many people the row stands for |

Ages, areas and sexes matter for everything else roughly as they do in life; all numbers are made up. 6.3 % of those to
whom DPHY applies have it: below 1 % of those under 20, more than a third of those from 85 on. The same seed always
makes the same file, with every version of numpy: only uniform numbers are drawn, and all else is arithmetic on them.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20251117
ROWS = 7300
Column = np.ndarray[Any, np.dtype[Any]]

# area: its share of the people, its density, and how much poorer it is than others, on a scale of 0 to 1
AREAS = {
    "25-00503": (0.14, 2713.5, 0.2),
    "25-00703": (0.11, 1184.2, 0.3),
    "25-01000": (0.10, 6120.9, 0.5),
    "25-01300": (0.12, 3871.0, 0.1),
    "25-02800": (0.10, 512.6, 0.6),
    "25-03301": (0.13, 14093.4, 0.4),
    "48-00400": (0.09, 148.7, 0.8),
    "48-02509": (0.10, 2440.3, 0.3),
    "48-04604": (0.07, 3315.8, 0.7),
    "48-06702": (0.04, 61.4, 1.0),
}


def pick(uniform: Column, values: Sequence[Any], shares: Sequence[float]) -> Column:
    """Draw values with these shares."""
    places = np.searchsorted(np.cumsum(shares)[:-1], uniform, side="right")
    return np.array(values, dtype=object)[places]


def by_age(age: Column, ages: Sequence[float], levels: Sequence[float]) -> Column:
    """Join levels at some ages by lines."""
    return np.interp(age, ages, levels)


def only(values: Column, applies: Column) -> Column:
    """N where a question is not asked."""
    return np.where(applies, values.astype(object), "N")


class People:
    """All people, column by column; every question has draws of its own."""

    def __init__(self) -> None:
        self._draws = np.random.Generator(np.random.PCG64(SEED))
        self.columns: dict[str, Column] = {}
        areas = pick(self.uniform(), list(AREAS), [share for share, _, _ in AREAS.values()])
        self.columns["PUMA"] = areas
        self.poor = np.array([AREAS[area][2] for area in areas])
        ages = [0, 17, 24, 38, 52, 65, 74, 84, 95.999]
        age = np.interp(self.uniform(), [0, 0.19, 0.28, 0.46, 0.66, 0.83, 0.92, 0.98, 1], ages)
        self.age = self.columns["AGEP"] = age.astype(int)
        self.woman = self.uniform() < by_age(self.age, [0, 50, 95], [0.49, 0.51, 0.66])
        self.columns["SEX"] = np.where(self.woman, 2, 1)

    def uniform(self) -> Column:
        """One number in [0, 1) for everybody."""
        return self._draws.random(ROWS)

    def families(self) -> None:
        """Marriage, origin, families and housing."""
        age, columns = self.age, self.columns
        married, widowed = by_age(age, [17, 35, 60, 95], [0, 0.58, 0.62, 0.3]), self.uniform()
        alone = pick(self.uniform(), [6, 4, 5, 2], [0.62, 0.27, 0.06, 0.05])
        alone = np.where(age < 30, 6, alone)
        alone = np.where(
            widowed < by_age(age, [45, 70, 95], [0, 0.3, 0.9]) * (0.5 + 0.5 * self.woman), 3, alone
        )
        columns["MSP"] = only(np.where(self.uniform() < married, 1, alone), age >= 15)
        columns["HISP"] = (self.uniform() < 0.1 + 0.25 * self.poor).astype(int)
        columns["RAC1P"] = pick(self.uniform(), [1, 2, 3, 6, 8, 9], [0.74, 0.1, 0.01, 0.07, 0.04, 0.04])
        child = pick(self.uniform(), [0, 1, 2, 3, 4], [0.35, 0.3, 0.24, 0.08, 0.03])
        columns["NOC"] = np.where((age >= 20) & (age < 62), child, 0)
        size = pick(self.uniform(), [2, 3, 4, 5, 6], [0.36, 0.26, 0.23, 0.1, 0.05])
        columns["NPF"] = np.where(self.uniform() < 0.03, -9, np.where(age < 70, size, np.minimum(size, 3)))
        home = self.uniform()
        self.institution = home < by_age(age, [0, 70, 95], [0.002, 0.02, 0.18])
        other = (age >= 18) & (age < 25) & (home > 0.93)
        columns["HOUSING_TYPE"] = np.where(self.institution, 2, np.where(other, 3, 1))
        rents = self.uniform() < by_age(age, [0, 26, 60, 95], [0.35, 0.6, 0.25, 0.3]) + 0.1 * self.poor
        columns["OWN_RENT"] = np.where(self.institution | other, 0, np.where(rents, 2, 1))
        columns["DENSITY"] = np.array([AREAS[area][1] for area in columns["PUMA"]])

    def work(self) -> None:
        """Schools, work and money."""
        age, columns = self.age, self.columns
        school = by_age(age, [3, 6, 18, 22, 30, 95], [1, 2, 6, 8, 9, 8])
        spread = 7 * (self.uniform() - 0.45) * by_age(age, [5, 25], [0.1, 1])
        degree = np.clip(school + spread - 0.8 * self.poor * (age >= 18), 1, 12).astype(int)
        columns["EDU"] = only(degree, age >= 3)
        working = by_age(age, [16, 22, 55, 66, 80], [0.2, 0.78, 0.76, 0.2, 0.02]) - 0.08 * self.poor
        works = (self.uniform() < working) & ~self.institution & (age >= 16)
        looks = (self.uniform() < 0.06) & (age < 70)
        columns["EMPL"] = only(np.where(works, 1, np.where(looks, 2, 3)), age >= 16)
        columns["INDP_CAT"] = only(pick(self.uniform(), range(1, 19), [1 / 18] * 18), works)
        jobs = pick(self.uniform(), ["11", "15", "25", "29", "35", "41", "43", "47", "51", "53"], [0.1] * 10)
        columns["OCC"] = only(jobs, works)
        quantiles = [0, 4000, 11000, 19000, 27000, 36000, 47000, 60000, 80000, 118000, 390000]
        pay = np.interp(self.uniform(), np.linspace(0, 1, 11), quantiles) * (0.55 + 0.06 * degree)
        income = np.where(works, pay, by_age(age, [15, 30, 67, 95], [0.02, 0.12, 0.45, 0.4]) * pay)
        income = np.round(income * (1.1 - 0.35 * self.poor) / 100).astype(int) * 100
        columns["PINCP"] = only(income, age >= 15)
        known = np.sort(income[age >= 15])
        columns["PINCP_DECILE"] = only((np.searchsorted(known, income) * 10) // len(known), age >= 15)
        self.poverty(works)

    def poverty(self, works: Column) -> None:
        """Income of the household: that of its members, whoever is asked."""
        edges = np.array([0, 60, 100, 160, 240, 340, 430, 560])
        better = [0, 0.03, 0.07, 0.17, 0.31, 0.49, 0.65, 1]
        worse = [0, 0.13, 0.28, 0.48, 0.66, 0.81, 0.9, 1]
        hardship = np.clip(
            0.15 + 0.45 * self.poor + 0.25 * (self.age < 18) - 0.2 * works + 0.1 * self.woman, 0, 1
        )
        uniform = self.uniform()
        level = (1 - hardship) * np.interp(uniform, better, edges) + hardship * np.interp(
            uniform, worse, edges
        )
        self.columns["POVPIP"] = only(np.minimum(level.astype(int), 501), ~self.institution)

    def health(self) -> None:
        """Service, disabilities and weights."""
        age, columns = self.age, self.columns
        served = self.uniform() < by_age(age, [17, 50, 70, 95], [0.01, 0.06, 0.2, 0.35]) * (
            1 - 0.85 * self.woman
        )
        columns["DVET"] = only(np.where(served, 1, 2), age >= 17)
        harder = 0.8 + 0.3 * self.poor + 0.15 * self.woman
        body = by_age(age, [5, 25, 45, 60, 70, 80, 95], [0.004, 0.01, 0.031, 0.072, 0.134, 0.247, 0.51])
        body = self.uniform() < body * harder
        levels = {
            "DREM": by_age(age, [5, 15, 60, 80, 95], [0.03, 0.045, 0.045, 0.09, 0.25]) + 0.15 * body,
            "DPHY": body.astype(float),
            "DEYE": by_age(age, [5, 50, 80, 95], [0.008, 0.018, 0.06, 0.16]) + 0.06 * body,
            "DEAR": by_age(age, [5, 50, 80, 95], [0.005, 0.02, 0.15, 0.4]) * (1.1 - 0.3 * self.woman),
        }
        for name, level in levels.items():
            columns[name] = only(np.where(self.uniform() < level, 1, 2), age >= 5)
        columns["PWGTP"] = 5 + (240 * self.uniform() * self.uniform()).astype(int)


def extract() -> dict[str, Column]:
    """Draw everybody."""
    people = People()
    people.families()
    people.work()
    people.health()
    return people.columns


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("census_extract.csv")
    columns = extract()
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    print(f"{target}: {ROWS} synthetic people, none of them real")


if __name__ == "__main__":
    main()
