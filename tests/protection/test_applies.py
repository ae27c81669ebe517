"""Limits about the people to whom a secret applies, named values and several secrets, against obvious programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.protection.certificate import ReleaseCertificate
from tightlip.protection.run import protect
from tightlip.table.policy import Secret

from .test_optimum import LEVELS, counts_of, detail, statements, tiny

Held = dict[str, int]


def with_structural(seed: int, rows: int = 10) -> pd.DataFrame:
    """Some people to whom the secret does not apply: most of town b."""
    table = tiny(seed, rows)
    draw = np.random.default_rng(seed + 100)
    out = draw.random(rows) < np.where(table.town == "b", 0.6, 0.2)
    out[:2] = False
    table.loc[out, "ill"] = "N"
    table.loc[2, "ill"] = "N"
    return table


def factor_kept(factor: Fraction) -> Callable[[Held, Held], bool]:
    """No secret is more than so many times as frequent among those to whom it applies; nobody of N is counted."""

    def kept(held: Held, all_: Held) -> bool:
        people, total = (sum(n for secret, n in own.items() if secret != "N") for own in (held, all_))
        return all(
            Fraction(held[secret] * total) <= factor * all_[secret] * people
            for secret in all_
            if secret != "N"
        )

    return kept


def cap_kept(held: Held, all_: Held) -> bool:
    """At most 60 % of those to whom it applies have the named value; of the others nothing is asked."""
    return held["yes"] * 10 <= 6 * (held["yes"] + held["no"])


BUDGETS: dict[str, tuple[Any, Any, Callable[[Held, Held], bool]]] = {
    "factor 5/4": (Secret("ill", not_secret=["N"]), "factor 5/4", factor_kept(Fraction(5, 4))),
    "factor 2": (Secret("ill", not_secret=["N"]), "factor 2", factor_kept(Fraction(2))),
    "named values": (Secret("ill", values=["yes"], not_secret=["N"]), "3/2x", factor_kept(Fraction(3, 2))),
    "cap of named values": (Secret("ill", values=["yes"], not_secret=["N"]), "60%", cap_kept),
}


def best_release(
    table: pd.DataFrame, kept: Callable[[Held, Held], bool]
) -> tuple[float, dict[str, list[int]]]:
    """The most detail of all deterministic releases, listed one by one; −1 where none keeps the budget."""
    cells, values = statements(table)
    counts = counts_of(table, cells)
    all_ = {secret: sum(own) for secret, own in counts.items()}
    best, known = -1.0, dict[tuple[int, ...], bool]()
    for chosen in product(*([value for value in values if cell in value] for cell in range(len(cells)))):
        groups: dict[frozenset[int], list[int]] = {}
        for cell, value in enumerate(chosen):
            groups.setdefault(value, []).append(cell)
        for members in map(tuple, groups.values()):
            if members not in known:
                known[members] = kept({s: sum(own[c] for c in members) for s, own in counts.items()}, all_)
        if all(known[tuple(members)] for members in groups.values()):
            best = max(best, detail(counts, list(chosen)))
    return best, counts


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", BUDGETS)
def test_no_deterministic_release_is_better(name: str, seed: int) -> None:
    secret, budget, kept = BUDGETS[name]
    table = with_structural(seed)
    best, _ = best_release(table, kept)
    if best < 0:
        with pytest.raises(InvalidInput, match="must be one that publishing nothing meets"):
            protect(table, secret, ["age", "town"], budget, levels=LEVELS, seconds=5)
        return
    found = protect(table, secret, ["age", "town"], budget, levels=LEVELS, seconds=5)
    found.verify()
    assert found.kept <= best + 1e-12
    assert found.bound >= best - 1e-12
    assert found.kept == pytest.approx(best, abs=5e-3)
    again = ReleaseCertificate.from_json(found.certificate.to_json())
    again.verify()
    assert again.digest() == found.certificate.digest()


@pytest.mark.parametrize("seed", range(3))
def test_a_randomised_release_is_the_optimum_of_the_whole_program(seed: int) -> None:
    table, factor = with_structural(seed, 14), Fraction(3, 2)
    cells, values = statements(table)
    counts = counts_of(table, cells)
    people = [sum(own[cell] for own in counts.values()) for cell in range(len(cells))]
    applies = [counts["yes"][cell] + counts["no"][cell] for cell in range(len(cells))]
    total = sum(people)
    pairs = [(place, cell) for place, value in enumerate(values) for cell in sorted(value)]
    content = [-math.log(sum(people[c] for c in value) / total) for value in values]
    whole = sum(size * -math.log(size / total) for size in people)
    rows = []
    for place in range(len(values)):
        for secret in ("yes", "no"):
            bound = float(factor) * sum(counts[secret]) / sum(applies)
            rows.append([(counts[secret][c] - bound * applies[c]) * (p == place) for p, c in pairs])
    equal = [[float(c == cell) for _, c in pairs] for cell in range(len(cells))]
    best = linprog(
        [-people[c] * content[p] / whole for p, c in pairs],
        rows,
        [0.0] * len(rows),
        equal,
        [1.0] * len(cells),
    )
    secret = Secret("ill", not_secret=["N"])
    found = protect(table, secret, ["age", "town"], f"factor {factor}", levels=LEVELS, randomised=True)
    found.verify()
    assert found.bound >= -best.fun - 1e-9
    assert found.kept == pytest.approx(-best.fun, abs=5e-3)


def test_a_proof_about_other_people_is_refused() -> None:
    table = with_structural(1)
    found = protect(table, Secret("ill", not_secret=["N"]), ["age", "town"], "2x", levels=LEVELS, seconds=1)
    record = json.loads(found.certificate.to_json())
    assert record["applies"] is not None

    def changed(change: Callable[[Any], None]) -> ReleaseCertificate:
        other = json.loads(json.dumps(record))
        change(other["applies"])
        other["inputs"] = ReleaseCertificate.from_parts(other).digest()
        return ReleaseCertificate.from_json(json.dumps(other))

    changed(lambda applies: None).verify()
    for change, words in (
        (lambda applies: applies[1][0].__setitem__(0, applies[1][0][0] + 1), "must hold one of its kind"),
        (lambda applies: applies[0].__setitem__(0, 7), "subjects that are listed"),
        (lambda applies: applies[0].pop(), "every secret must be of a subject"),
        (lambda applies: applies[1][0].pop(), "every secret must be of a subject|malformed"),
    ):
        with pytest.raises(CertificateInvalid, match=words):
            changed(change).verify()


def test_what_is_said_is_about_those_to_whom_it_applies() -> None:
    table = with_structural(2, 60)
    found = protect(table, Secret("ill", not_secret=["N"]), ["age", "town"], "3/2x", levels=LEVELS, seconds=1)
    own = table[table.ill != "N"]
    cells = {cell: found.local.published[value] for cell, value in _published(found).items()}
    shown = [str(cells[str(age), town]) for age, town in zip(own.age, own.town, strict=True)]
    factors = own.ill.groupby(np.array(shown)).value_counts(normalize=True) / own.ill.value_counts(
        normalize=True
    )
    assert math.exp(found.leakage) == pytest.approx(factors.max())
    assert factors.max() <= 1.5


def _published(found: Any) -> dict[tuple[str, str], int]:
    local = found.local
    return {
        local.cells[cell]: value
        for cell, value in zip(local.cell.tolist(), local.value.tolist(), strict=True)
    }


def test_several_secrets_are_judged_together_only_when_asked() -> None:
    draw = np.random.default_rng(5)
    table = tiny(5, 200)
    table["rich"] = np.where(draw.random(200) < 0.3 + 0.3 * (table.age == 3), "y", "n")
    budget, released = Fraction(5, 4), ["age", "town"]
    each = protect(table, ["ill", "rich"], released, f"factor {budget}", levels=LEVELS, seconds=2)
    both = protect(
        table, ["ill", "rich"], released, f"factor {budget}", levels=LEVELS, seconds=2, jointly=True
    )
    for column in ("ill", "rich"):
        assert each.leakage_about((column,)).ratio <= budget
        assert both.leakage_about((column,)).ratio <= budget
    assert both.leakage.ratio <= budget < each.leakage.ratio
    assert both.kept < each.kept
    assert {subject for subject, _ in each.secrets} == {("ill",), ("rich",)}
