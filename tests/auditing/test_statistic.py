"""SML about a column of the secret: from its definition on the rows of a table, through every door of the audit."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import audit_oracle as oracle
import statistic_oracle
import tightlip as tl
from audit_example import example_audit
from tightlip.auditing.plan import stages_of
from tightlip.auditing.run import audit
from tightlip.auditing.sample import SampleMode
from tightlip.auditing.view import statistic_of
from tightlip.errors import InvalidInput, WrongType
from tightlip.report.audit_words import paragraphs
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released


def frame(seed, rows=60):
    generator = np.random.default_rng(seed)
    columns = {"ill": "abc", "rich": "ny", "zip": "123", "sex": "fm"}
    found = {name: generator.choice(list(values), rows) for name, values in columns.items()}
    found["zip"] = np.where((found["ill"] == "a") & (generator.random(rows) < 0.7), "1", found["zip"])
    return pd.DataFrame(found)


def by_definition(joint, place):
    """e^Π over every selection: rows are the whole secrets, the secret is the part at `place`."""
    prior, cells = oracle.margins(joint)
    whole = sorted(prior)
    rows = [[joint.get((theta, y), Fraction(0)) / prior[theta] for y in cells] for theta in whole]
    return statistic_oracle.largest_total(rows, [theta[place] for theta in whole])


def rows_of(table):
    return [tuple(row) for row in table[["ill", "rich", "zip", "sex"]].itertuples(index=False)]


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_largest_sum_over_all_selections(seed):
    table = frame(seed)
    found = audit(table, ["ill", "rich"], ["zip", "sex"], statistic=["ill", "rich"])
    joint = oracle.joint_of(rows_of(table), secrets=2)
    for place, name in enumerate(("ill", "rich")):
        sml = found.views[name].sml
        assert (sml.exact, sml.ratio) == (True, by_definition(joint, place))
        sml.verify()
        assert found.views[name].maximal_leakage <= sml.value <= found.deciding.maximal_leakage
    assert found.deciding.sml is None


def test_noise_and_hidden_cells_are_part_of_the_channel():
    table = frame(7)
    noisy = Policy(
        ["ill", "rich"],
        [Released("zip"), Released("sex", mechanism=RandomizedResponse(tl.log_of(3)))],
        min_count=9,
        statistic="ill",
    )
    joint = oracle.suppress(oracle.joint_of(rows_of(table), secrets=2), len(table), 9)
    joint = oracle.randomise(joint, 1, ["f", "m"], Fraction(3))
    assert audit(table, policy=noisy).views["ill"].sml.ratio == by_definition(joint, 0)


def test_a_column_made_from_the_other_is_a_statistic_of_it():
    table = pd.DataFrame({"x": list("aabbccdd") * 3, "y": list("11121323") * 3})
    table["g"] = table["x"].map({"a": "low", "b": "low", "c": "high", "d": "high"})
    found = audit(table, ["x", "g"], ["y"], statistic="g")
    joint = oracle.joint_of([tuple(row) for row in table[["x", "g", "y"]].itertuples(index=False)], secrets=2)
    assert found.views["g"].sml.ratio == by_definition(joint, 1)


def test_the_selection_names_secrets_and_rows_by_their_places():
    found = audit(frame(1), ["ill", "rich"], ["zip", "sex"], statistic="ill")
    view = found.views["ill"]
    for secret, row in view.sml.selection.items():
        joint = found.views["ill × rich"].counted
        assert joint.secret_label(row)[0] == view.counted.secret_label(secret)[0]


def test_counts_stored_as_floats_are_enclosed(monkeypatch):
    found = audit(frame(2), ["ill", "rich"], ["zip", "sex"], statistic="ill")
    exact = found.views["ill"].sml
    monkeypatch.setattr("tightlip.auditing.tally.EXACT_ENTRIES", 1)
    floats = statistic_of(found.views["ill × rich"].counted, found.views["ill"].counted)
    assert floats.ratio is None
    assert floats.lower <= exact.lower <= exact.upper <= floats.upper <= exact.upper + 1e-12
    assert "widened" in floats.method
    floats.verify()


def test_it_is_told_in_words():
    audited = example_audit(secrets=2, statistic="rich")
    told = next(text for text in paragraphs(audited) if "SML" in text)
    assert told.startswith("About rich: as a statistic of ill × rich: whatever is believed about ill × rich")
    assert "(SML, exact)" in told
    assert "SML" not in " ".join(paragraphs(example_audit(secrets=2)))


def test_ends_that_did_not_meet_are_both_told():
    audited = example_audit(secrets=2, statistic="rich")
    view = audited.views["rich"]
    apart = replace(view.sml, lower=0.0, exact=False, ratio=None)
    views = audited.views | {"rich": replace(view, sml=apart)}
    told = next(text for text in paragraphs(replace(audited, views=views)) if "SML" in text)
    assert "(SML, proved; some prior reaches 1x (0 nats))" in told


@pytest.mark.parametrize(
    ("secret", "statistic", "kind", "message"),
    [
        (["ill", "rich"], "zip", InvalidInput, "statistic must name secret columns"),
        (["ill", "rich"], ["ill", "ill"], InvalidInput, "each column once"),
        ("ill", "ill", InvalidInput, "one of several secret columns"),
        (["ill", "rich"], True, WrongType, "statistic must be a list of columns"),
        (["ill", "rich"], [1], WrongType, "by text"),
    ],
)
def test_what_is_no_statistic_is_refused(secret, statistic, kind, message):
    with pytest.raises(kind, match=message):
        Policy(secret, ["zip"], statistic=statistic)


def test_what_a_sample_cannot_have():
    plan = Policy(["ill", "rich"], ["zip"], statistic="ill")
    with pytest.raises(InvalidInput, match="for a population only"):
        audit(frame(0), policy=plan, sample=SampleMode())


def test_a_statistic_can_be_given_beside_a_policy():
    table, plan = frame(0), Policy(["ill", "rich"], ["zip"])
    found = audit(table, policy=plan, statistic="ill")
    assert [name for name, view in found.views.items() if view.sml is not None] == ["ill"]
    again = audit(table, policy=replace(plan, statistic=("ill",)))
    assert found.views["ill"].sml.ratio == again.views["ill"].sml.ratio
    assert "ill × rich" in found.views
    assert list(audit(table, policy=plan).views) == ["ill", "rich"]
    more = audit(table, policy=replace(plan, statistic=("ill",)), statistic="rich")
    assert more.policy.statistic == ("ill", "rich")


@pytest.mark.parametrize("sample", [None, SampleMode()])
@pytest.mark.parametrize("budget", [None, 0.01])
def test_stages_are_told_in_the_order_that_is_promised(sample, budget):
    seen = []
    statistic = "ill" if sample is None else ()
    plan = Policy(["ill", "rich"], ["zip", "sex"], statistic=statistic)
    audit(frame(3), policy=plan, sample=sample, budget=budget, on_stage=seen.append)
    assert seen == stages_of(plan, sample=sample is not None, budget=budget is not None)
    assert ("statistic ill" in seen) == (sample is None)
