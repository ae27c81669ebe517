"""The proof of a release: its bound against rationals, and proofs that are wrong by little."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from tightlip.certificate.loading import load
from tightlip.cli.main import main
from tightlip.errors import CertificateInvalid, TightlipError
from tightlip.protection.certificate import Prices, ReleaseCertificate, Table, upper_bound
from tightlip.protection.limits import Limit, Limits, risky_cells
from tightlip.protection.run import protect

LEVELS = {"age": ["as is", 2, 4, "out"], "town": ["as is", "out"]}


@pytest.fixture(scope="module")
def proof() -> ReleaseCertificate:
    draw = np.random.default_rng(5)
    age, town = draw.integers(0, 6, 60), draw.choice(["a", "b"], 60)
    ill = np.where(draw.random(60) < 0.2 + 0.5 * (age == 3), "yes", "no")
    table = pd.DataFrame({"age": age, "town": town, "ill": ill})
    return protect(table, "ill", ["age", "town"], "3/2x", levels=LEVELS, randomised=True).certificate


def test_it_is_written_read_and_verified(proof: ReleaseCertificate, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    proof.save(path)
    found = load(path)
    assert isinstance(found, ReleaseCertificate)
    found.verify()
    assert found.to_json() == proof.to_json()
    assert main(["verify", str(path)]) == 0


def forged(proof: ReleaseCertificate, change: object) -> ReleaseCertificate:
    """Change the written parts and read them back, whatever the hash says."""
    record = json.loads(proof.to_json())
    change(record)  # type: ignore[operator]
    return ReleaseCertificate.from_parts(record)


def _set(*path: object, value: object) -> object:
    def change(record: object) -> None:
        for key in path[:-1]:
            record = record[key]  # type: ignore[index]
        old = record[path[-1]]  # type: ignore[index]
        record[path[-1]] = value(old) if callable(value) else value  # type: ignore[index]

    return change


WRONG = {
    "weight": _set("kernel", 0, 3, value=lambda old: old - 1),
    "weight of none": _set("kernel", 0, 3, value=0),
    "cell": _set("kernel", 0, 2, value=10**6),
    "negative cell": _set("kernel", 0, 2, value=-1),
    "value": _set("kernel", value=lambda old: [[*old[-1][:2], *row[2:]] for row in old]),
    "scale": _set("scale", value=lambda old: old + 1),
    "lower": _set("claim", 0, value=lambda old: math.nextafter(old, 2)),
    "upper": _set("claim", 1, value=lambda old: math.nextafter(old, -1)),
    "lower not a number": _set("claim", 0, value=math.nan),
    "upper not a number": _set("claim", 1, value=math.nan),
    "negative price": _set("prices", 0, 3, value=lambda old: -old),
    "price not a number": _set("prices", 0, 3, value=math.nan),
    "infinite price": _set("prices", 0, 3, value=math.inf),
    "smaller price": _set("prices", value=lambda old: [[*row[:3], row[3] / 2] for row in old]),
    "limit of none": _set("prices", 0, 2, value=99),
    "exposure": _set("exposure", value=-1.0),
    "exposed": _set("exposed", value="-1/10"),
    "count": _set("counts", 2, 0, value=lambda old: old + 3),
    "negative count": _set("counts", 2, 0, value=-1),
    "people": _set("counts", 3, 0, value=lambda old: old + 1),
    "codes": _set("codes", 1, value=[0, 0]),
    "first level": _set("levels", 0, 0, value=lambda old: [0] * len(old)),
    "level": _set("limits", 0, 3, value="5/4"),
    "kind": _set("limits", 0, 1, value="pmc"),
    "kind of none": _set("limits", 0, 1, value="odd"),
    "secret": _set("limits", 0, 0, value=7),
    "weights": _set("weights", value=["1/2", "1"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_proof_that_is_wrong_by_little_is_refused(proof: ReleaseCertificate, name: str) -> None:
    with pytest.raises((TightlipError, KeyError, IndexError, ValueError, OverflowError)):
        forged(proof, WRONG[name]).verify()


@pytest.mark.parametrize("name", WRONG)
def test_a_changed_file_is_refused_in_words(proof: ReleaseCertificate, name: str, tmp_path: Path) -> None:
    record = json.loads(proof.to_json())
    WRONG[name](record)  # type: ignore[operator]
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(record))
    with pytest.raises(TightlipError):
        load(path).verify()


@pytest.fixture(scope="module")
def grouped() -> ReleaseCertificate:
    """A deterministic release in which at least four people share every value, three some cells."""
    age = [place % 8 for place in range(30)]
    ill = ["yes" if place % 4 == 0 else "no" for place in range(30)]
    table = pd.DataFrame({"age": age, "ill": ill})
    levels = {"age": ["as is", 2, 4, "out"]}
    return protect(table, "ill", ["age"], "3x", levels=levels, min_count=4, seconds=2).certificate


def test_the_fewest_who_share_a_value_are_proved(
    grouped: ReleaseCertificate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proof.json"
    grouped.save(path)
    found = load(path)
    assert found.to_json() == grouped.to_json()
    assert main(["verify", str(path)]) == 0
    assert "at least 4 people share every published value." in " ".join(capsys.readouterr().out.split())
    assert main(["verify", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["min_count"] == 4


@pytest.mark.parametrize("least", [5, 31, 0, -4, 2**70, "4", 4.0, True, None])
def test_another_fewest_is_refused(grouped: ReleaseCertificate, least: object, tmp_path: Path) -> None:
    with pytest.raises(TightlipError):
        forged(grouped, _set("min_count", value=least)).verify()
    record = json.loads(grouped.to_json()) | {"min_count": least}
    (tmp_path / "proof.json").write_text(json.dumps(record))
    with pytest.raises(TightlipError):
        load(tmp_path / "proof.json").verify()


def test_a_smaller_fewest_is_another_claim(grouped: ReleaseCertificate, tmp_path: Path) -> None:
    forged(grouped, _set("min_count", value=3)).verify()  # true, but the hash is of what was asked
    record = json.loads(grouped.to_json()) | {"min_count": 3}
    (tmp_path / "proof.json").write_text(json.dumps(record))
    with pytest.raises(CertificateInvalid, match="was changed"):
        load(tmp_path / "proof.json")


def test_a_value_that_too_few_share_is_refused(grouped: ReleaseCertificate) -> None:
    from tightlip.protection.kernel import Kernel

    values, people = grouped.table.values(), grouped.table.limits.people
    small = int(np.argmin(people))
    chosen = grouped.kernel.value.copy()
    chosen[small] = int(np.flatnonzero((np.bincount(values.value) == 1) & (values.first == small))[0])
    with pytest.raises(CertificateInvalid, match="shared by 3 people, fewer than min_count = 4"):
        replace(grouped, kernel=Kernel.assign(chosen), lower=0.0).verify()


def test_a_release_by_chance_has_no_fewest(proof: ReleaseCertificate) -> None:
    with pytest.raises(CertificateInvalid, match="drawn by chance"):
        replace(proof, least=2).verify()


def random_table(draw: np.random.Generator) -> Table:
    """Cells, levels with duplicates, limits of every kind."""
    codes = np.array([[a, b] for a in range(4) for b in range(2) if draw.random() < 0.8] or [[0, 0]])
    levels = (
        (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)),
        (np.arange(2), np.zeros(2, dtype=np.int64)),
    )
    counts = draw.integers(0, 5, (3, len(codes)))
    counts[0] += 1
    people, total = counts.sum(axis=0), int(counts.sum())
    limits = []
    for secret in range(3):
        prior = Fraction(int(counts[secret].sum()), total)
        kind = draw.choice(["pml", "cap", "pmc"])
        level = Fraction(int(draw.integers(5, 9)), 10)
        if prior:
            limits.append(Limit.of(secret, str(kind), level, prior))  # type: ignore[arg-type]
    exposed = Fraction(int(draw.integers(0, 3)), 10)
    return Table(codes, levels, (Fraction(1), Fraction(1)), Limits(counts, people, tuple(limits), exposed))


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_of_any_prices_is_above_what_rationals_give(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table = random_table(draw)
    limits, values = table.limits, table.values()
    detail = table.detail(values)
    prices = Prices.of(
        draw.exponential(1, (len(limits.limits), len(values))) * (draw.random(len(values)) < 0.7),
        float(draw.exponential()),
    )
    risky = risky_cells(limits, outside=True)
    price = {
        (int(value), int(limit)): Fraction(float(own))
        for value, limit, own in zip(prices.value, prices.limit, prices.price, strict=True)
    }
    best: dict[int, Fraction] = {}
    for value, cell in zip(values.value.tolist(), values.cell.tolist(), strict=True):
        people = int(limits.people[cell])
        worth = people * Fraction(float(detail.upper[value]))
        if len(values.cells_of(value)) == 1 and risky[cell]:
            if not limits.exposed:
                continue
            worth -= people * Fraction(prices.exposure)
        else:
            for place, limit in enumerate(limits.limits):
                over = int(limits.counts[limit.secret, cell]) / limit.outside - people
                worth -= price.get((value, place), Fraction(0)) * (-over if limit.floor else over)
        best[cell] = max(best.get(cell, worth), worth)
    exact = sum(best.values()) + Fraction(prices.exposure) * limits.exposed * limits.total
    found = upper_bound(table, values, detail, prices)
    if len(best) < len(limits.people):
        assert found == -math.inf  # some cell has no value to be published as: no release keeps the limits
    else:
        assert Fraction(found) >= exact
        assert found == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def test_a_release_that_breaks_its_limits_is_refused(proof: ReleaseCertificate) -> None:
    from tightlip.protection.kernel import Kernel

    values = proof.table.values()
    single = np.flatnonzero(np.bincount(values.value) == 1)
    place = np.zeros(len(proof.table.codes), dtype=np.intp)
    place[values.first[single]] = single
    with pytest.raises(CertificateInvalid, match="exceeds its budget"):
        replace(proof, kernel=Kernel.assign(place)).verify()


def test_public_name() -> None:
    assert tl.protect is not None
