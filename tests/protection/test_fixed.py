"""Protect beside columns that mechanisms draw: against joints by hand, all releases listed, and a whole program."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.sample import SampleMode
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.protection.certificate import ReleaseCertificate
from tightlip.protection.kernel import Kernel
from tightlip.protection.run import protect
from tightlip.table import ChannelMechanism, Policy, RandomizedResponse, Released

pytestmark = IGNORED

LEVELS = {"age": ["as is", 2, "out"]}
TOWNS = tl.Channel(
    [["3/4", "1/8", "1/8"], ["1/4", "1/2", "1/4"]], inputs=["a", "b"], outputs=["a", "b", "lost"]
)
FINE = Fraction(3**33, 2**53)
FINEST = tl.Channel([[FINE, 1 - FINE], ["1/2", "1/2"]], inputs=["a", "b"], outputs=["a", "b"])
GAPS = tl.Channel(
    [["1/2", "1/2", 0], [0, "2/3", "1/3"]], inputs=["a", "b"], outputs=["only a", "both", "only b"]
)


def tiny(seed: int, rows: int = 12) -> pd.DataFrame:
    """A table of few cells, whose secret depends on them."""
    draw = np.random.default_rng(seed)
    age, town = draw.integers(0, 3, rows), draw.choice(["a", "b"], rows)
    town[:2] = ["a", "b"]
    ill = np.where(draw.random(rows) < 0.2 + 0.4 * (age == 2) + 0.2 * (town == "a"), "yes", "no")
    ill[:2] = ["yes", "no"]
    return pd.DataFrame({"age": age, "town": town, "ill": ill})


def plan_of(channel: tl.Channel | RandomizedResponse) -> Policy:
    return Policy("ill", ["age", Released("town", mechanism=channel)])


def drawn(table: pd.DataFrame, channel: tl.Channel) -> dict[tuple[str, int, str], Fraction]:
    """By hand: how many people of each secret have each age and drawn town, on average."""
    found: Counter[tuple[str, int, str]] = Counter()
    for age, town, ill in table.itertuples(index=False):
        row = channel.matrix[list(channel.inputs).index(town)]
        for outcome, chance in zip(channel.outputs, row, strict=True):
            found[ill, age, outcome] += Fraction(chance)
    return {key: mass for key, mass in found.items() if mass}


class Oracle:
    """The cells (age, drawn town), what can truthfully be said of ages beside a town, and detail, by definition."""

    def __init__(self, table: pd.DataFrame, channel: tl.Channel) -> None:
        self.joint = drawn(table, channel)
        self.total = Fraction(len(table))
        self.cells = sorted({(age, town) for _, age, town in self.joint})
        self.secrets = Counter(table.ill)
        self.ages = Counter(table.age)
        self.values = sorted(
            {
                (
                    frozenset(
                        age for age, other in self.cells if other == town and age // width == own // width
                    ),
                    town,
                )
                for own, town in self.cells
                for width in (1, 2, 100)
            },
            key=lambda value: (value[1], sorted(value[0])),
        )

    def people(self, cell: tuple[int, str]) -> Fraction:
        return sum((self.held(secret, cell) for secret in self.secrets), Fraction(0))

    def held(self, secret: str, cell: tuple[int, str]) -> Fraction:
        return self.joint.get((secret, *cell), Fraction(0))

    def excess(self, secret: str, cell: tuple[int, str], factor: Fraction) -> Fraction:
        """n_s − e^ε P(s) n: what the sum over a published value must not have above 0."""
        return self.held(secret, cell) - factor * self.secrets[secret] / self.total * self.people(cell)

    def content(self, value: tuple[frozenset[int], str]) -> float:
        return -math.log(sum(self.ages[age] for age in value[0]) / self.total)

    @property
    def whole(self) -> float:
        return -sum(size * math.log(size / self.total) for size in self.ages.values())

    def inside(self, cell: tuple[int, str]) -> list[tuple[frozenset[int], str]]:
        return [value for value in self.values if cell[0] in value[0] and cell[1] == value[1]]

    def best_deterministic(self, factor: Fraction) -> float | None:
        """Every assignment of cells to values, drawn town by drawn town, which do not touch each other."""
        best = 0.0
        for town in sorted({town for _, town in self.cells}):
            own = [cell for cell in self.cells if cell[1] == town]
            found = [
                sum(
                    float(self.people(cell)) * self.content(value)
                    for cell, value in zip(own, chosen, strict=True)
                )
                for chosen in product(*map(self.inside, own))
                if self.keeps(dict(zip(own, chosen, strict=True)), factor)
            ]
            if not found:
                return None
            best += max(found)
        return best / self.whole

    def keeps(self, chosen: dict[tuple[int, str], tuple[frozenset[int], str]], factor: Fraction) -> bool:
        return all(
            sum(self.excess(secret, cell, factor) for cell, own in chosen.items() if own == value) <= 0
            for value in set(chosen.values())
            for secret in self.secrets
        )

    def best_randomised(self, factor: Fraction) -> float | None:
        pairs = [(value, cell) for cell in self.cells for value in self.inside(cell)]
        rows = [
            [float(self.excess(secret, cell, factor)) if own == value else 0.0 for own, cell in pairs]
            for value in self.values
            for secret in self.secrets
        ]
        equal = [[float(cell == own) for _, own in pairs] for cell in self.cells]
        cost = [-float(self.people(cell)) * self.content(value) / self.whole for value, cell in pairs]
        found = linprog(cost, rows, [0.0] * len(rows), equal, [1.0] * len(self.cells))
        return -found.fun if found.status == 0 else None


def joint_of(
    table: pd.DataFrame, channel: tl.Channel, policy: Policy
) -> dict[tuple[str, tuple[str, ...]], Fraction]:
    """By hand, from the rows and the recoding alone: P(secret, published value) times the number of people."""
    local = policy.local
    assert local is not None
    place = {cell: at for at, cell in enumerate(local.cells)}
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for age, town, ill in table.itertuples(index=False):
        row = channel.matrix[list(channel.inputs).index(town)]
        for outcome, chance in zip(channel.outputs, row, strict=True):
            if not chance:
                continue
            for entry in np.flatnonzero(local.cell == place[str(age), outcome]).tolist():
                weight = Fraction(int(local.weight[entry]), local.scale)
                found[ill, local.published[local.value[entry]]] += Fraction(chance) * weight
    return found


def worst_lift(joint: dict[tuple[str, tuple[str, ...]], Fraction]) -> Fraction:
    """max P(s | y) / P(s)."""
    secrets, values, total = Counter(), Counter(), sum(joint.values())
    for (secret, value), mass in joint.items():
        secrets[secret] += mass
        values[value] += mass
    return max(mass * total / (secrets[s] * values[y]) for (s, y), mass in joint.items())


@pytest.mark.parametrize("channel", [TOWNS, FINEST, GAPS], ids=["towns", "finest", "gaps"])
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(3, 2), Fraction(2)])
@pytest.mark.parametrize("seed", range(3))
def test_deterministic_is_the_best_of_all(seed: int, factor: Fraction, channel: tl.Channel) -> None:
    table = tiny(seed)
    best = Oracle(table, channel).best_deterministic(factor)
    if best is None:
        with pytest.raises(
            InvalidInput, match=r'budget must be one that a channel .* on "town" would keep alone'
        ):
            protect(table, policy=plan_of(channel), budget=f"factor {factor}", levels=LEVELS)
        return
    found = protect(table, policy=plan_of(channel), budget=f"factor {factor}", levels=LEVELS, seconds=5)
    assert found.kept == pytest.approx(best, abs=1e-9)
    assert found.kept <= best + 1e-12 <= found.bound + 2e-12
    assert found.leakage.ratio == worst_lift(joint_of(table, channel, found.policy)) <= factor


@pytest.mark.parametrize("channel", [TOWNS, FINEST, GAPS], ids=["towns", "finest", "gaps"])
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(3, 2), Fraction(2)])
@pytest.mark.parametrize("seed", range(3))
def test_randomised_is_the_optimum_of_the_whole_program(
    seed: int, factor: Fraction, channel: tl.Channel
) -> None:
    table = tiny(seed)
    optimum = Oracle(table, channel).best_randomised(factor)
    if optimum is None:
        with pytest.raises(InvalidInput, match="would keep alone"):
            protect(table, policy=plan_of(channel), budget=f"factor {factor}", levels=LEVELS, randomised=True)
        return
    found = protect(table, policy=plan_of(channel), budget=f"factor {factor}", levels=LEVELS, randomised=True)
    assert found.kept <= optimum + 1e-9
    assert found.bound >= optimum - 1e-9
    assert found.bound - found.kept <= 1e-3
    assert found.leakage.ratio == worst_lift(joint_of(table, channel, found.policy)) <= factor


@pytest.mark.parametrize("randomised", [False, True])
@pytest.mark.parametrize("channel", [TOWNS, FINEST], ids=["towns", "finest"])
def test_an_audit_of_the_policy_says_the_same(channel: tl.Channel, randomised: bool) -> None:
    table = tiny(7, 60)
    found = protect(
        table, policy=plan_of(channel), budget="3/2x", levels=LEVELS, randomised=randomised, seconds=2
    )
    audit = tl.audit(table, policy=found.policy, budget="3/2x")
    assert audit.verdict is True
    assert audit.views["ill"].worst.leakage == found.leakage
    assert audit.total == 60
    assert found.by_chance
    assert [reader["covered"] for reader in found.to_dict()["readers"]] == [True, False]
    assert "published as drawn" in str(found)
    assert "60 rows" in str(found)


def test_information_and_columns_are_of_what_is_not_drawn() -> None:
    table = tiny(3, 40)
    found = protect(table, policy=plan_of(TOWNS), budget="100x", levels=LEVELS)
    assert found.kept == 1
    assert found.information == pytest.approx(1)
    assert [column.column for column in found.columns()] == ["age"]
    assert found.levels[1].fixed
    assert found.certificate.table.weights == (1, 0)
    assert found.unit == 8


def test_several_columns_are_drawn_at_once() -> None:
    table = tiny(5, 40).assign(sex=["f", "m"] * 20)
    lost = tl.Channel([["2/3", "1/3"], ["1/3", "2/3"]], inputs=["f", "m"], outputs=["f", "m"])
    plan = Policy("ill", ["age", Released("town", mechanism=FINEST), Released("sex", mechanism=lost)])
    found = protect(table, policy=plan, budget="2x", levels=LEVELS, seconds=2)
    assert found.unit == 3 * 2**53
    assert tl.audit(table, policy=found.policy).views["ill"].worst.leakage == found.leakage
    masses: Counter[tuple[str, tuple[str, ...]]] = Counter()
    published = dict(zip(found.local.cells, found.local.value.tolist(), strict=True))
    for age, town, ill, sex in table.itertuples(index=False):
        for one, two in product(FINEST.outputs, lost.outputs):
            chance = FINEST.matrix[list(FINEST.inputs).index(town)][list(FINEST.outputs).index(one)]
            again = lost.matrix[list(lost.inputs).index(sex)][list(lost.outputs).index(two)]
            masses[ill, found.local.published[published[str(age), one, two]]] += chance * again
    assert worst_lift(masses) == found.leakage.ratio <= 2


def test_randomised_response_and_a_column_of_one_value() -> None:
    table = tiny(2, 40).assign(land="x")
    plan = Policy(
        "ill",
        [
            "age",
            Released("town", mechanism=RandomizedResponse(1.0)),
            Released("land", mechanism=RandomizedResponse(1.0)),
        ],
    )
    found = protect(table, policy=plan, budget="2x", levels=LEVELS, seconds=2)
    assert [*found.fixed.words] == ["town"]
    assert tl.audit(table, policy=found.policy).views["ill"].worst.leakage == found.leakage


def test_rows_are_drawn_once_and_recoded_by_what_was_drawn(tmp_path) -> None:
    table = tiny(11, 400)
    for randomised in (False, True):
        found = protect(
            table, policy=plan_of(TOWNS), budget="3/2x", levels=LEVELS, randomised=randomised, seconds=2
        )
        done = found.release(tmp_path / f"{randomised}.csv", seed_for_tests=1)
        done.verify()
        assert done.leakage == found.leakage
        rows = pd.read_csv(tmp_path / f"{randomised}.csv", dtype=str)
        local = found.local
        allowed = {
            (local.cells[cell], local.published[value])
            for cell, value in zip(local.cell.tolist(), local.value.tolist(), strict=True)
        }
        pairs = zip(table.age.astype(str), rows.age, rows.town, strict=True)
        assert all((((age, town), (own, town)) in allowed) for age, own, town in pairs)
        kept = (rows.town == table.town)[table.town == "a"].mean()
        assert kept == pytest.approx(3 / 4, abs=0.12)


def test_a_policy_is_written_and_read_back(tmp_path) -> None:
    table = tiny(4, 60)
    TOWNS.save(tmp_path / "mechanism.json")
    for mechanism in (ChannelMechanism(TOWNS), ChannelMechanism.from_file(tmp_path / "mechanism.json")):
        plan = Policy("ill", ["age", Released("town", mechanism=mechanism)])
        found = protect(table, policy=plan, budget="3/2x", levels=LEVELS, seconds=2)
        found.policy.save(tmp_path / "safe.toml", force=True)
        read = Policy.from_toml(tmp_path / "safe.toml")
        assert read.release == plan.release
        assert tl.audit(table, policy=read).views["ill"].worst.leakage == found.leakage
        done = tl.release(table, read, tmp_path / "safe.csv", force=True)
        assert done.leakage == found.leakage


def test_the_proof_holds_from_a_file_and_not_if_it_is_changed() -> None:
    table = tiny(1, 40)
    found = protect(table, policy=plan_of(FINEST), budget="3/2x", levels=LEVELS, randomised=True)
    text = found.certificate.to_json()
    read = ReleaseCertificate.from_json(text)
    read.verify()
    assert read.digest() == found.certificate.digest()
    assert sum(read.table.limits.people.tolist()) == 40 * 2**53
    table, limits = read.table, read.table.limits
    more = limits.counts.copy()
    more[0, 0] += 1
    coarser = (table.levels[0], (*table.levels[1], np.zeros(2, dtype=np.int64)))
    for damaged, message in (
        (replace(table, levels=coarser), "a fixed column, of weight 0, must have one level"),
        (
            replace(table, weights=(Fraction(0),) * 2),
            "the least weight of a column that is not fixed must be 1",
        ),
        (
            replace(table, limits=replace(limits, counts=more)),
            "every person must hold one secret of each kind",
        ),
    ):
        with pytest.raises(CertificateInvalid, match=message):
            replace(read, table=damaged).verify()


def test_one_weight_too_many_for_a_limit_is_refused() -> None:
    found = protect(
        tiny(1, 40), policy=plan_of(FINEST), budget="3/2x", levels={"age": ["as is", "out"]}, seconds=2
    )
    certificate = found.certificate
    assert found.kept < 1
    finest = certificate.table.detail(found.values).finest
    bare = replace(certificate, kernel=Kernel.assign(finest))
    with pytest.raises(CertificateInvalid, match="the release exceeds its budget"):
        bare.verify()


def test_exposed_people_are_as_many_as_an_audit_counts() -> None:
    table = tiny(6, 200)
    share = Fraction(1, 10)
    found = protect(table, policy=plan_of(TOWNS), budget="5/4x", delta=share, levels=LEVELS, seconds=2)
    joint = joint_of(table, TOWNS, found.policy)
    secrets, values = Counter(table.ill), Counter()
    for (_, value), mass in joint.items():
        values[value] += mass
    above = {y for (s, y), mass in joint.items() if mass * 200 / (secrets[s] * values[y]) > Fraction(5, 4)}
    assert sum(values[value] for value in above) / 200 == found.exposed <= share


def test_other_budgets_come_from_the_same_counts() -> None:
    found = protect(tiny(1, 60), policy=plan_of(TOWNS), budget="3/2x", levels=LEVELS, seconds=2)
    curve = found.trade_off(["2x", "3x"])
    assert [point.kept <= point.bound for point in curve.points] == [True] * 3
    assert curve.points[-1].kept >= found.kept - 1e-12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"min_count": 5},
            'min_count is for deterministic releases, got a channel .* on "town" too; leave one',
        ),
        (
            {"levels": {"town": ["as is", "out"]}},
            'levels must be of columns that are published truthfully, got "town"',
        ),
        ({"weights": {"town": 2}}, 'weights must be of released columns without a mechanism, got "town"'),
    ],
    ids=str,
)
def test_what_makes_no_sense_of_a_drawn_column_is_refused(given, message) -> None:
    with pytest.raises(InvalidInput, match=message):
        protect(tiny(1), policy=plan_of(TOWNS), budget="2x", **given)


def test_refusals_say_what_is_missing(tmp_path) -> None:
    table = tiny(1, 40)
    with pytest.raises(
        InvalidInput, match='must have a column to protect beside those with a mechanism, got "town"'
    ):
        protect(table, policy=Policy("ill", [Released("town", mechanism=TOWNS)]), budget="2x")
    alone = (
        tl.audit(table, policy=Policy("ill", [Released("town", mechanism=TOWNS)])).views["ill"].worst.leakage
    )
    with pytest.raises(
        InvalidInput, match=r"got 1\.0001x: what is drawn takes (.*)x for a secret"
    ) as refused:
        protect(table, policy=plan_of(TOWNS), budget="1.0001x", levels=LEVELS)
    told = float(str(refused.value).partition("takes ")[2].partition("x for")[0])
    assert float(alone.ratio) <= told <= float(alone.ratio) * (1 + 1e-5)
    assert "tightlip design --pml" in str(refused.value)
    found = protect(table, policy=plan_of(TOWNS), budget="2x", levels=LEVELS, seconds=2)
    with pytest.raises(InvalidInput, match="with_secret must not be set for a random release"):
        found.release(tmp_path / "safe.csv", with_secret=True)
    with pytest.raises(InvalidInput, match="a sample cannot bound a local recoding of what was drawn"):
        tl.audit(table, policy=found.policy, sample=SampleMode(0.95))
