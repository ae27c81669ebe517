"""Numbers that bring labels along are read by label, whatever library they come from."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tightlip as tl
from tightlip.errors import InvalidInput, InvalidLabels, ShapeMismatch, WrongType

ANSWERS = ["no"] * 30 + ["yes"] * 70
CHANNEL = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["well", "ill"], outputs=["no", "yes"])
PRIOR = tl.Prior({"well": "4/5", "ill": "1/5"})
WANTED = [Fraction(1, 10), Fraction(9, 10)]
COUNTED = {
    "dict": {"yes": 70, "no": 30},
    "pandas": pd.Series(ANSWERS).value_counts(),
    "pandas, reset": pd.Series(ANSWERS).value_counts().reset_index(),
    "polars": pl.Series(ANSWERS).value_counts(sort=True),
    "arrow": pa.array(ANSWERS[::-1]).value_counts(),
    "categories": pd.Series(ANSWERS, dtype="category").value_counts(),
}


@pytest.mark.parametrize("counts", COUNTED.values(), ids=COUNTED)
def test_counts_of_every_library(counts):
    assert tl.planning.estimate_frequencies(counts, CHANNEL).values.tolist() == WANTED
    assert tl.Prior.from_counts(counts, exact=True).mass("yes") == Fraction(7, 10)
    assert tl.Prior.from_counts(counts).mass("no") == 0.3


@pytest.mark.parametrize("make", [list, np.array, pl.Series, pa.array, tuple])
def test_without_labels_the_position_counts(make):
    assert tl.planning.estimate_frequencies(make([30, 70]), CHANNEL).values.tolist() == WANTED
    assert tl.Prior.from_counts(make([3, 7]), labels=["a", "b"]).mass("b") == 0.7
    assert tl.event_leakage(CHANNEL, PRIOR, make([0.0, 1.0])) == tl.event_leakage(CHANNEL, PRIOR, [0.0, 1.0])


def test_an_outcome_that_nobody_gave_counts_as_zero():
    assert tl.planning.estimate_frequencies(pd.Series(["yes"] * 9).value_counts(), CHANNEL).samples == 9


def test_the_default_index_is_labels_too():
    """A sorted column whose labels were dropped looks like one in the channel's order."""
    counted = pd.Series(ANSWERS).value_counts().reset_index()["count"]
    with pytest.raises(
        InvalidLabels, match=r"counts must be about the outcomes \[.no., .yes.\] only, got 0; .*list"
    ):
        tl.planning.estimate_frequencies(counted, CHANNEL)
    plain = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert tl.planning.estimate_frequencies(pd.Series([30, 70]), plain).values.tolist() == WANTED
    assert (
        tl.planning.estimate_frequencies(pd.Series([70, 30], index=[1, 0]), plain).values.tolist() == WANTED
    )
    with pytest.raises(ShapeMismatch, match="prior labels must be the channel's inputs"):
        tl.pml(CHANNEL, tl.Prior(pd.Series([0.5, 0.5])))
    assert tl.Prior(pd.Series([0.25, 0.75]), labels=["a", "b"]).mass("b") == 0.75


def test_weights_of_an_event():
    wanted = tl.event_leakage(CHANNEL, PRIOR, {"no": 0.25, "yes": 1.0})
    assert tl.event_leakage(CHANNEL, PRIOR, pd.Series([1.0, 0.25], index=["yes", "no"])) == wanted
    alone = tl.event_leakage(CHANNEL, PRIOR, {"yes"})
    assert tl.event_leakage(CHANNEL, PRIOR, pd.Series([True, False], index=["yes", "no"])) == alone
    assert tl.event_leakage(CHANNEL, PRIOR, np.array(["yes"])) == alone
    assert tl.event_leakage(CHANNEL, PRIOR, pa.array(["yes"])) == alone
    with pytest.raises(InvalidLabels, match="event must be about the outcomes"):
        tl.event_leakage(CHANNEL, PRIOR, pd.Series([1.0, 0.25]))


@pytest.mark.parametrize("measure", [tl.measures.gain_leakage, tl.measures.cost_leakage])
def test_rows_of_gains_and_costs(measure):
    rows = np.array([[0.0, 2.0, 3.0], [5.0, 1.0, 1.0]])
    wanted = measure(CHANNEL, PRIOR, rows)
    frame = pd.DataFrame(rows[::-1], index=["ill", "well"], columns=["a", "b", "c"])
    assert measure(CHANNEL, PRIOR, frame).values.tolist() == wanted.values.tolist()
    assert measure(CHANNEL, PRIOR, pl.DataFrame(rows)).values.tolist() == wanted.values.tolist()
    assert (
        measure(CHANNEL, PRIOR, pa.table({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})).values.tolist()
        == wanted.values.tolist()
    )
    with pytest.raises(InvalidLabels, match="must be about the secrets"):
        measure(CHANNEL, PRIOR, pd.DataFrame(rows))
    with pytest.raises(InvalidLabels, match=r"labels of .* must be distinct"):
        measure(CHANNEL, PRIOR, pd.DataFrame(rows, index=["ill", "ill"]))


def test_secrets_of_the_rows():
    rows = [["7/10", "3/10"], ["1/10", "9/10"], ["1/2", "1/2"]]
    channel = tl.Channel(rows, inputs=["a", "b", "c"])
    wanted = tl.statistic_maximal_leakage(channel, ["x", "y", "y"])
    given = pd.Series(["y", "y", "x"], index=["c", "b", "a"])
    assert tl.statistic_maximal_leakage(channel, given).ratio == wanted.ratio
    assert tl.statistic.ldp(channel, given) == tl.statistic.ldp(channel, ["x", "y", "y"])
    assert tl.statistic_maximal_leakage(channel, pa.array(["x", "y", "y"])).ratio == wanted.ratio
    for bad in (given.reset_index(drop=True), given.iloc[:2], given.rename({"a": "z"})):
        with pytest.raises(InvalidLabels, match="secret must"):
            tl.statistic_maximal_leakage(channel, bad)


def test_inputs_of_a_map():
    outputs = pd.Series([1, 1, 2], index=["a", "b", "c"])
    secret = pd.Series(["y", "x", "y"], index=["c", "a", "b"])
    found = tl.statistic.maximal_leakage_of_map(outputs, secret)
    assert (found.ratio, dict(found.selection)) == (2, {"x": "a", "y": "c"})
    frame = pd.DataFrame({"out": [1, 1, 2], "secret": ["x", "y", "y"]})
    assert tl.statistic.maximal_leakage_of_map(frame["out"], frame["secret"]).selection["x"] == 0
    with pytest.raises(WrongType, match="both have labels"):
        tl.statistic.maximal_leakage_of_map(outputs, ["x", "y", "y"])


@pytest.mark.parametrize("labels", [{"x", "y"}, frozenset("xy")])
def test_sets_have_no_order(labels):
    for call in (
        lambda: tl.Prior([0.1, 0.9], labels=labels),
        lambda: tl.Prior.uniform(labels),
        lambda: tl.Channel([[1, 0], [0, 1]], inputs=labels),
        lambda: tl.mechanism.randomized_response(labels, 1),
        lambda: tl.mechanism.binary_randomized_response(1, labels),
        lambda: tl.statistic_maximal_leakage(CHANNEL, labels),
        lambda: tl.planning.estimate_frequencies({30, 70}, CHANNEL),
        lambda: tl.envelopes.composition_bound({0.1, 0.2}, 0.1),
    ):
        with pytest.raises(WrongType, match="list"):
            call()


@pytest.mark.parametrize(
    "secret", [np.ma.array(["a", "b"], mask=[False, True]), np.ma.array([1, 2], mask=[0, 1])]
)
def test_masked_secrets_are_refused(secret):
    with pytest.raises(InvalidInput, match="secret must not be masked"):
        tl.statistic_maximal_leakage(CHANNEL, secret)
    with pytest.raises(InvalidInput, match="inputs must not be masked"):
        tl.Channel([[1, 0], [0, 1]], inputs=secret)


def test_a_frame_is_no_list_of_labels():
    """Going through it would give its columns."""
    frame = pd.DataFrame({"x": ["a", "b"], "y": ["a", "c"]})
    for given in (frame, pl.DataFrame(frame), pa.table(frame)):
        with pytest.raises((ShapeMismatch, WrongType), match="secret must be"):
            tl.statistic_maximal_leakage(CHANNEL, given)
        with pytest.raises(WrongType, match="inputs must be a sequence"):
            tl.Channel([[1, 0], [0, 1]], inputs=given)


def test_frames_bring_labels_to_a_channel():
    frame = pd.DataFrame([[0.1, 0.9], [0.8, 0.2]], index=["ill", "well"], columns=["+", "-"])
    channel = tl.Channel(frame)
    assert (list(channel.inputs), list(channel.outputs)) == (["ill", "well"], ["+", "-"])
    assert tl.Channel(frame, inputs=["ill", "well"]) == channel
    with pytest.raises(InvalidLabels, match="inputs must not be given twice"):
        tl.Channel(frame, inputs=["well", "ill"])
    for library in (pl.DataFrame, pa.Table.from_pandas):
        assert tl.Channel(library(frame.reset_index(drop=True))).outputs == ["+", "-"]
    rows = [pd.Series([0.5, 0.5], index=["+", "-"]), pd.Series([0.1, 0.9], index=["-", "+"])]
    with pytest.raises(WrongType, match="channel entry 0 must be a number or a list"):
        tl.Channel(rows)


def test_bounds_of_a_polytope():
    rows = pd.DataFrame([[1, 0], [0, 1]], index=["ill", "well"], columns=["a", "b"])
    found = tl.robust.PriorPolytope(rows, pd.Series(["3/4", "1/2"], index=["well", "ill"]))
    assert found.bounds.tolist() == [Fraction(1, 2), Fraction(3, 4)]
    with pytest.raises(InvalidLabels, match="bounds must"):
        tl.robust.PriorPolytope(rows, {"ill": 1, "old": 1})


def test_masses_of_points():
    wanted = tl.noise.DiscreteSecret([0, 1], [0.75, 0.25])
    assert tl.noise.DiscreteSecret([0, 1], {1: 0.25, 0: 0.75}) == wanted
    assert tl.noise.DiscreteSecret([0, 1], pd.Series({1: 0.25, 0: 0.75})) == wanted
    frame = pd.DataFrame({"x": [0, 1], "mass": [0.75, 0.25]})
    assert tl.noise.DiscreteSecret(frame["x"], frame["mass"].iloc[::-1]) == wanted
    with pytest.raises(InvalidLabels, match="masses must"):
        tl.noise.DiscreteSecret([0, 1], {1: 0.25, 2: 0.75})


def test_what_a_study_is_told_about_its_hypotheses():
    priors = [tl.Prior(["1/2", "1/2"]), tl.Prior(["1/4", "3/4"])]
    wanted = tl.planning.Study(priors, parameters=["1/2", "1/4"], loss="absolute", names=["fair", "bent"])
    for parameters in ({"bent": "1/4", "fair": "1/2"}, pd.Series(["1/4", "1/2"], index=["bent", "fair"])):
        assert (
            tl.planning.Study(priors, parameters=parameters, loss="absolute", names=["fair", "bent"])
            == wanted
        )
    table = pd.DataFrame([[0, 1], [2, 0]], index=["bent", "fair"], columns=["say bent", "say fair"])
    assert tl.planning.Study(priors, loss=table, names=["fair", "bent"]) == tl.planning.Study(
        priors, loss=[[2, 0], [0, 1]], names=["fair", "bent"]
    )
    gaps = pd.DataFrame([[0, 1, 2], [1, 0, 3], [2, 3, 0]], index=list("abc"), columns=list("abc"))
    three = [*priors, tl.Prior(["1/3", "2/3"])]
    turned = tl.planning.Study(
        three, separation=gaps.loc[["c", "a", "b"], ["b", "c", "a"]], names=list("abc")
    )
    assert turned == tl.planning.Study(three, separation=gaps.to_numpy().tolist(), names=list("abc"))
