"""Coarser recodings: each merges values of the one before, none invents a new cut."""

import pytest

import audit_oracle as oracle
from tightlip.audit.coarser import coarser
from tightlip.audit.counted import Counted
from tightlip.table.bins import Bins
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Released
from tightlip.table.recoding import Keep, Prefix, TopCode


def counted(values):
    return Counted.of(oracle.counts_of([("x", value) for value in values]), ["s"], ["c"])


def test_prefixes_shorten():
    found = coarser(Released("c", Prefix(3)), "text", counted(["abc", "abd"]))
    assert found == [Prefix(2), Prefix(1)]
    assert coarser(Released("c"), "text", counted(["10115", "20095"]))[0] == Prefix(4)
    assert coarser(Released("c"), "date", counted(["2024-01-05"])) == [Prefix(7), Prefix(4)]


def test_bins_double_and_edges_thin_out():
    assert coarser(Released("c", Bins(width=5, origin=2)), "integer", counted(["1"]))[:2] == [
        Bins(width=10, origin=2),
        Bins(width=20, origin=2),
    ]
    assert coarser(Released("c", Bins(edges=[1, 2, 3, 4])), "integer", counted(["1"])) == [
        Bins(edges=[2, 4]),
        Bins(edges=[4]),
    ]


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [(["18", "90"], "integer", 2), (["0.5", "3"], "real", 0.05), (["0", "1000"], "real", 20)],
)
def test_numbers_get_bins(values, kind, first):
    found = coarser(Released("c"), kind, counted(values))
    assert found[0] == Bins(width=first)
    assert [item.width for item in found] == sorted(item.width for item in found)
    for item in found:
        item.require("c", kind)


def test_rare_values_become_one():
    values = ["red"] * 5 + ["green"] * 4 + ["other"] * 3 + ["violet"] * 2 + [None]
    found = coarser(Released("c"), "text", counted(values))
    assert found[0] == Mapping({"red": "red", "green": "green"}, otherwise="other'")
    assert found[-1] == Mapping({"red": "red"}, otherwise="other'")


def test_nothing_is_known_for_others():
    assert coarser(Released("c", TopCode(5)), "integer", counted(["1"])) == []
    assert coarser(Released("c", Keep()), "text", counted(["yes", "no"])) == []
    assert coarser(Released("c"), "integer", counted(["3"])) == []
