"""What models remember: corrections survive JSON, and frames bring their own labels."""

import numpy as np
import pytest

import tightlip as tl
from tightlip import papers
from tightlip.errors import InvalidLabels


class Frame:
    """What numpy and tightlip see of a pandas DataFrame."""

    def __init__(self, values, index, columns):
        self.values, self.index, self.columns = np.array(values), index, columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class Series:
    def __init__(self, values, index):
        self.values, self.index = np.array(values), index

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_adjustments_survive_json():
    channel = tl.Channel([[0.5, 0.5 + 4e-10], [0.25, 0.75]])
    again = tl.Channel.from_json(channel.to_json())
    assert again == channel
    assert again.adjustment == channel.adjustment == pytest.approx(4e-10)
    prior = tl.Prior([0.5, 0.5 + 3e-10])
    again = tl.Prior.from_json(prior.to_json())
    assert again == prior
    assert again.adjustment == prior.adjustment == pytest.approx(3e-10)
    assert "adjustment" not in tl.Prior([0.5, 0.5]).to_json()


@pytest.mark.parametrize("bad", ['"x"', "true", "-1", "2"])
def test_bad_adjustments_are_refused(bad):
    with pytest.raises(tl.errors.InvalidInput, match="adjustment must be a small non-negative number"):
        tl.Prior.from_json('{"prior": [1.0], "adjustment": ' + bad + "}")


def test_alignment_and_restriction_keep_the_adjustment():
    prior = tl.Prior({"b": 0.5, "a": 0.5 + 3e-10, "c": 0.0})
    channel = tl.Channel(np.eye(3), inputs=["a", "b", "c"])
    assert tl.measure(channel, prior).prior.adjustment == prior.adjustment > 0
    assert prior.restricted().adjustment == prior.adjustment


def test_frames_bring_their_labels():
    """Matching by position would silently mix up secrets."""
    channel = tl.Channel(Frame([[0.9, 0.1], [0.2, 0.8]], ["ill", "well"], ["+", "-"]))
    assert channel.inputs == ["ill", "well"]
    assert channel.outputs == ["+", "-"]
    prior = tl.Prior(Series([0.75, 0.25], ["well", "ill"]))
    assert tl.pml(channel, prior).values == pytest.approx(np.log([0.9 / 0.375, 0.8 / 0.625]))
    with pytest.raises(InvalidLabels, match="inputs must not be given twice"):
        tl.Channel(Frame([[1.0]], ["a"], ["b"]), inputs=["x"])
    renamed = tl.Channel(Frame([[1.0]], [0], ["b"]), inputs=["x"], outputs=["b"])
    assert (list(renamed.inputs), list(renamed.outputs)) == (["x"], ["b"])


def test_counts_from_frames_keep_their_labels():
    frame = Frame([[3, 1], [0, 4]], ["ill", "well"], ["+", "-"])
    channel = tl.Channel.from_counts(frame)
    assert (list(channel.inputs), list(channel.outputs)) == (["ill", "well"], ["+", "-"])
    assert tl.Prior.from_counts(Series([4, 6], ["a", "b"])).labels == ["a", "b"]


def test_an_unlabelled_channel_takes_its_names_from_the_prior():
    channel, prior = tl.Channel([[0.9, 0.1], [0.2, 0.8]]), tl.Prior({"ill": 0.1, "well": 0.9})
    assert tl.pml(channel, prior).worst_secret == "ill"
    witness = tl.measures.pmc_cost_witness(channel, prior, 1)
    assert tl.measures.cost_leakage(channel, prior, witness).value_of(1) == pytest.approx(
        tl.pmc(channel, prior).value_of(1)
    )


def test_a_measured_level_compares_with_an_exact_budget():
    leak = tl.pml(tl.mechanism.identity(7), tl.Prior.uniform(7))
    assert leak.worst == tl.log_of(7)
    assert leak.worst <= tl.log_of(7)


def test_a_single_label_is_an_event():
    channel, prior = papers.env_example_3(), tl.Prior.uniform(2)
    assert tl.event_leakage(channel, prior, 1).ratio == 2
    named = tl.Channel([["1/2", "1/2"], ["1/4", "3/4"]], outputs=["a", "b"])
    assert tl.event_leakage(named, prior, "a").ratio == tl.event_leakage(named, prior, {"a"}).ratio
