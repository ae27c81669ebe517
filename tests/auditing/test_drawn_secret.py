"""A secret column that is released too, through a mechanism: judged, protected, released and charged like any other."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pandas as pd
import pytest

import tightlip as tl
from tightlip.auditing.joint import Terms
from tightlip.auditing.recount import recount
from tightlip.errors import InvalidInput
from tightlip.ledger.together import measure_together
from tightlip.table import Policy, RandomizedResponse, Released, Secret, Suppress
from tightlip.table.policy import undrawn
from tightlip.table.publish import publish

ROWS = pd.DataFrame(
    {
        "ill": ["flu"] * 5 + ["none"] * 9 + ["cold"] * 4 + ["n/a"] * 2,
        "sex": ["f", "m", "f", "f", "m"] + ["f"] * 4 + ["m"] * 5 + ["m", "m", "m", "f"] + ["f", "m"],
    }
)
ODDS = {
    "flu": {"a": Fraction(1, 2), "b": Fraction(1, 2)},
    "none": {"a": Fraction(1, 4), "b": Fraction(3, 4)},
    "cold": {"a": Fraction(2, 3), "b": Fraction(1, 3)},
    "n/a": {"a": Fraction(1, 5), "b": Fraction(4, 5)},
}
CHANNEL = tl.Channel(
    [[str(odds["a"]), str(odds["b"])] for odds in ODDS.values()], inputs=list(ODDS), outputs=["a", "b"]
)


def worst_lift(secret_of, released, gone=()):
    """max P(y | s)/P(y) by definition, for people as rows and the probabilities of what each one's row may say."""
    people = [row for row in ROWS.itertuples() if row.ill not in gone]
    joint, whole = Counter(), Counter()
    for row in people:
        for value, chance in released(row).items():
            joint[secret_of(row), value] += chance
            whole[value] += chance
    held = Counter(map(secret_of, people))
    return max(chance / held[s] / (whole[y] / len(people)) for (s, y), chance in joint.items())


def drawn_with_sex(row):
    return {(value, row.sex): chance for value, chance in ODDS[row.ill].items()}


def test_audit_is_exact_about_what_is_drawn_of_a_secret():
    plain = tl.audit(ROWS, secret="ill", release=["ill", "sex"], randomize={"ill": CHANNEL})
    assert plain.views["ill"].worst.leakage.ratio == worst_lift(lambda row: row.ill, drawn_with_sex)
    named = Policy([Secret("ill", values=["flu"], not_secret=["n/a"])], [Released("ill", mechanism=CHANNEL)])
    expected = worst_lift(lambda row: row.ill == "flu", lambda row: ODDS[row.ill], gone=["n/a"])
    assert tl.audit(ROWS, policy=named).views["ill"].worst.leakage.ratio == expected


def test_a_recoding_of_a_column_that_is_both_is_of_what_is_released():
    groups = {"flu": "ill", "cold": "ill", "none": "well", "n/a": "well"}
    channel = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["ill", "well"], outputs=["ill", "well"])
    found = tl.audit(ROWS, secret="ill", release="ill", mapping={"ill": groups}, randomize={"ill": channel})
    odds = {"ill": {0: Fraction(3, 4), 1: Fraction(1, 4)}, "well": {0: Fraction(1, 4), 1: Fraction(3, 4)}}
    expected = worst_lift(lambda row: row.ill, lambda row: odds[groups[row.ill]])
    assert found.views["ill"].worst.leakage.ratio == expected


def test_a_secret_is_not_released_as_it_is():
    for release in ("ill", ["sex", "ill"], [Released("ill")]):
        with pytest.raises(InvalidInput, match=r'as it is, got "ill" in both; drop it from one, or give it'):
            tl.audit(ROWS, secret="ill", release=release)
    with pytest.raises(InvalidInput, match="secret column as it is"):
        tl.audit(ROWS, secret="ill", release=["ill", "sex"], randomize={"sex": 1.0})


def test_protect_publishes_what_is_drawn_and_recodes_the_rest():
    found = tl.protect(
        ROWS, secret="ill", release=["ill", "sex"], randomize={"ill": CHANNEL}, budget="2.2x", seconds=5
    )
    assert tl.audit(ROWS, policy=found.policy).views["ill"].worst.leakage == found.leakage
    assert found.leakage.ratio <= Fraction(11, 5)
    found.verify()


def test_policy_file_release_and_receipt(tmp_path):
    CHANNEL.save(tmp_path / "own.json")
    (tmp_path / "plan.toml").write_text(
        'where = "sex = f"\n[secret.ill]\nnot_secret = ["n/a"]\n[release.ill]\nchannel = "own.json"\n'
    )
    plan = Policy.from_toml(tmp_path / "plan.toml")
    plan.save(tmp_path / "again.toml")
    assert Policy.from_toml(tmp_path / "again.toml") == plan
    tl.release(ROWS, plan, tmp_path / "out.csv")
    shown = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert list(shown.columns) == ["ill"]
    assert {*shown["ill"]} <= {"a", "b"}
    assert len(shown) == (ROWS.sex == "f").sum()
    tl.load(tmp_path / "out.csv.receipt.json").verify()
    with pytest.raises(InvalidInput, match="with_secret must not be set"):
        tl.release(ROWS, plan, tmp_path / "both.csv", with_secret=True)


def test_ledger_charges_what_is_drawn_of_a_secret(tmp_path):
    with tl.Ledger.create(tmp_path / "own.ledger", ROWS, secret="ill", budget="9x") as ledger:
        plan = Policy("ill", [Released("ill", mechanism=CHANNEL)])
        for name in ("first", "second"):
            ledger.release(ROWS, plan, tmp_path / f"{name}.csv", key=name)
        spent = ledger.account(ROWS)
    twice = {s: {(y, z): odds[y] * odds[z] for y, z in product("ab", repeat=2)} for s, odds in ODDS.items()}
    assert spent.audit.views["ill"].worst.leakage.ratio == worst_lift(
        lambda row: row.ill, lambda row: twice[row.ill]
    )


def test_protect_beside_what_was_drawn_of_the_secret_before():
    plan = Policy("ill", [Released("ill", mechanism=CHANNEL)])
    opened, level = tl.open_table(ROWS), Fraction(5, 2)
    for release, randomize in ((["sex"], {}), (["ill", "sex"], {"ill": CHANNEL})):
        asked = {"release": release, "randomize": randomize, "earlier": {"first": plan}, "seconds": 5}
        found = tl.protect(ROWS, secret="ill", budget="5/2x", **asked)
        terms = Terms.of(plan)
        plans = {
            name: terms.judge(one)
            for name, one in (("first", plan), ("new", replace(found.policy, budget=())))
        }
        joint = measure_together(opened, terms, plans).audit.views["ill"].worst.leakage.ratio
        assert worst_lift(lambda row: row.ill, lambda row: ODDS[row.ill]) <= joint <= level


def test_joint_cells_that_do_not_fit_have_sound_ends():
    opened = tl.open_table(ROWS)
    plan = Policy("ill", [Released("ill", mechanism=CHANNEL), Released("sex")])
    terms = Terms.of(plan)
    plans = {name: terms.judge(plan) for name in ("first", "second")}
    exact = measure_together(opened, terms, plans).secrets["ill"]
    rough = measure_together(opened, terms, plans, limits={"max_cells": 8}).secrets["ill"]
    assert rough.lower <= exact.upper <= rough.upper


def test_what_is_drawn_of_a_secret_is_not_compared_with_the_table(tmp_path):
    ROWS.to_csv(tmp_path / "people.csv", index=False)
    channel = tl.Channel([[1, 0], [0, 1], [1, 0], [0, 1]], inputs=list(ODDS), outputs=["a", "b"])
    plan = Policy("ill", [Released("ill", mechanism=channel)])
    tl.release(tmp_path / "people.csv", plan, tmp_path / "out.csv")
    with pytest.raises(InvalidInput, match="drawn by chance"):
        recount(tl.load(tmp_path / "out.csv.receipt.json"), tl.open_table(tmp_path / "people.csv"))


def test_what_is_not_drawn_yet_is_not_published(tmp_path):
    plan = Policy("ill", undrawn([Released("ill", mechanism=CHANNEL)]))
    with pytest.raises(InvalidInput, match='must have the mechanism of "ill", got none yet'):
        publish(tl.open_table(ROWS), plan, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_mechanism_that_is_said_elsewhere_is_one():
    expected = (
        tl.audit(ROWS, secret="ill", release="ill", randomize={"ill": CHANNEL}).views["ill"].worst.leakage
    )
    for given in (
        {"secret": "ill", "release": [Released("ill")]},
        {"secret": "ill", "policy": Policy("sex", ["ill"])},
        {"secret": "ill", "release": ["ill"], "policy": Policy("sex", ["ill"])},
    ):
        found = tl.audit(ROWS, randomize={"ill": CHANNEL}, **given)
        assert found.views["ill"].worst.leakage == expected


def test_a_mechanism_that_has_nothing_to_draw_from(tmp_path):
    """Of one value randomised response draws nothing; words, receipts and files are right all the same."""
    plan = Policy("ill", [Released("ill", Suppress(), RandomizedResponse(1.0))])
    assert "neighbour" in str(tl.protect(ROWS, policy=plan, budget="2x", seconds=5))
    ROWS.to_csv(tmp_path / "people.csv", index=False)
    tl.release(tmp_path / "people.csv", plan, tmp_path / "out.csv")
    with pytest.raises(InvalidInput, match="a secret column through a mechanism"):
        recount(tl.load(tmp_path / "out.csv.receipt.json"), tl.open_table(tmp_path / "people.csv"))
    with pytest.raises(InvalidInput, match="with_secret must not be set where a secret column is released"):
        tl.release(ROWS, plan, tmp_path / "both.csv", with_secret=True)


def test_a_ledger_recodes_what_is_released(tmp_path):
    groups = {"flu": "ill", "cold": "ill", "none": "well", "n/a": "well"}
    with tl.Ledger.create(tmp_path / "own.ledger", ROWS, secret="ill", budget="9x") as ledger:
        plan = ledger.plan(["ill"], mapping={"ill": groups}, randomize={"ill": 1.0})
        assert ledger.what_if(ROWS, plan)[-1].kept
