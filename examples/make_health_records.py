"""Make health_records.csv: a synthetic table to try the audit on. No row is of a real person.

    python examples/make_health_records.py [FILE]

3,000 people of an invented district, with an id, age, sex, zip code, occupation, a weight in kg, whether they smoke,
the day of the last visit, and a diagnosis. Diagnoses depend on age, sex and smoking roughly as they do in life; the
numbers are made up. The same seed always makes the same file.

Planted: zip code 10439 is a small village, and all of its five men aged 60 to 69 have HIV, which few others have. Who
knows that somebody is such a man knows his diagnosis, although no single column gives it away. An audit of age (in
bins of 10), sex and zip code must find this cell.
"""

import csv
import random
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

SEED = 20240229
ROWS = 3000
COLUMNS = ["id", "age", "sex", "zip", "occupation", "weight", "smoker", "last_visit", "disease"]
ZIPS = {"10115": 30, "10117": 22, "10119": 18, "10243": 14, "10245": 10, "02625": 4, "02627": 2}
VILLAGE = "10439"
OCCUPATIONS = ["clerk", "teacher", "nurse", "builder", "driver", "engineer", "cook", "farmer"]


def disease(generator: random.Random, age: int, sex: str, smoker: bool) -> str:
    """Draw a diagnosis from made-up odds."""
    odds = {
        "none": 60.0,
        "flu": 10.0,
        "asthma": 6.0 + 6.0 * smoker,
        "diabetes": 0.2 * max(0, age - 25),
        "heart disease": (0.25 if sex == "m" else 0.15) * max(0, age - 40) * (1.6 if smoker else 1.0),
        "cancer": 0.12 * max(0, age - 30) * (1.8 if smoker else 1.0),
        "depression": 6.0 + 2.0 * (sex == "f"),
        "HIV": 1.5 if 18 <= age < 70 else 0.2,
    }
    return generator.choices(list(odds), weights=list(odds.values()))[0]


def person(generator: random.Random) -> dict[str, object]:
    """One person of the district."""
    age = min(95, max(0, round(generator.gauss(42, 21))))
    sex = generator.choice("fm")
    smoker = age >= 16 and generator.random() < 0.24
    grown = min(age, 18) / 18
    weight = round(3.5 + grown * generator.gauss(62 if sex == "f" else 76, 11), 1)
    return {
        "age": age,
        "sex": sex,
        "zip": generator.choices(list(ZIPS), weights=list(ZIPS.values()))[0],
        "occupation": generator.choice(OCCUPATIONS) if 18 <= age < 67 else "",  # missing for the others
        "weight": max(2.5, weight) if generator.random() < 0.97 else "",
        "smoker": str(smoker).lower(),
        "last_visit": date(2024, 1, 1) - timedelta(days=int(generator.expovariate(1 / 300))),
        "disease": disease(generator, age, sex, smoker),
    }


def villager(generator: random.Random, number: int) -> dict[str, object]:
    """One person of the village; the first five are the planted ones."""
    found = person(generator) | {"zip": VILLAGE}
    if number < 5:
        return found | {"age": 60 + 2 * number, "sex": "m", "occupation": "", "disease": "HIV"}
    if found["sex"] == "m" and 60 <= int(str(found["age"])) < 70:
        found["sex"] = "f"
    return found


def records() -> Iterator[dict[str, object]]:
    """All people in random order, numbered."""
    generator = random.Random(SEED)
    people = [villager(generator, number) for number in range(40)]
    people += [person(generator) for _ in range(ROWS - len(people))]
    generator.shuffle(people)
    for number, found in enumerate(people, start=1):
        yield {"id": f"P{number:04d}"} | found


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("health_records.csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records())
    print(f"{target}: {ROWS} synthetic people, none of them real")


if __name__ == "__main__":
    main()
