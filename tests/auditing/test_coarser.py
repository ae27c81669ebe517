"""Coarser recodings: each follows from the counted values, as the engine would count it, and names no rare value."""

import datetime

import pandas as pd
import pytest

import audit_oracle as oracle
from tightlip.auditing.counted import Counted
from tightlip.auditing.lattice import coarser
from tightlip.table.chain import Chain
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_toml
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode, plain_labels
from tightlip.table.source import open_table


def counted(values):
    return Counted.of(oracle.counts_of([("x", value) for value in values]), ["s"], ["c"])


def recodings(recoding, kind, values, declared=None):
    found = coarser(Released("c", recoding), kind, counted(values), declared)
    return [level.recoding for level in found]


def test_prefixes_shorten():
    assert recodings(Prefix(3), "text", ["abc", "abd"]) == [Prefix(2), Prefix(1)]
    assert recodings(Keep(), "text", ["10115", "20095"])[0] == Prefix(4)
    assert recodings(Keep(), "date", ["2024-01-05"]) == [Prefix(7), Prefix(4)]


def test_bins_double_and_edges_thin_out():
    found = recodings(Bins(width=5, origin=2), "integer", ["[2, 7)"])
    assert found[:2] == [Bins(width=10, origin=2), Bins(width=20, origin=2)]
    edges = ["<1", "[1, 2)", "[2, 3)", "[3, 4)", "≥4"]
    found = recodings(Bins(edges=[1, 2, 3, 4]), "integer", edges)
    assert found == [Bins(edges=[2, 4]), Bins(edges=[4])]


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [(["18", "90"], "integer", 2), (["0.5", "3"], "real", 0.05), (["0", "1000"], "real", 20)],
)
def test_numbers_get_bins(values, kind, first):
    found = recodings(Keep(), kind, values, "numeric")
    widths = [item.width for item in found if isinstance(item, Bins)]
    assert widths[0] == first
    assert widths == sorted(widths)


def test_codes_are_joined_like_texts_until_they_are_declared_otherwise():
    sexes = ["1"] * 30 + ["2"] * 20 + ["3"] * 12 + ["4"] * 3
    assert recodings(Keep(), "integer", sexes)[0] == Mapping(
        {"1": "1", "2": "2", "3": "3"}, otherwise="other"
    )
    assert any(isinstance(item, Bins) for item in recodings(Keep(), "integer", sexes, "numeric"))
    zips = [str(10115 + 37 * place) for place in range(60)]
    assert recodings(Keep(), "integer", zips)[0] == Prefix(4)
    assert not any(isinstance(item, Bins) for item in recodings(Keep(), "integer", zips))
    ages = [str(age) for age in range(20, 80)]
    assert not any(isinstance(item, Bins) for item in recodings(Keep(), "integer", ages, "nominal"))
    assert recodings(Keep(), "real", ["0.5", "1.5"], "nominal") == []


def test_neighbours_are_joined_in_order():
    """The shortest runs of ten people or more; then runs are joined two by two."""
    grades = [str(grade) for grade, many in enumerate([3, 12, 2, 11, 10, 1, 40]) for _ in range(many)]
    assert recodings(Keep(), "integer", grades, "ordinal") == [Bins(edges=[2, 4, 5]), Bins(edges=[4])]
    even = [str(grade) for grade in range(5) for _ in range(10)]
    assert recodings(Keep(), "integer", even, "ordinal") == [Bins(edges=[2, 4]), Bins(edges=[4])]
    assert recodings(Bins(edges=[1, 2, 4]), "integer", ["<1", "[1, 2)"], "ordinal") == [Bins(edges=[2])]
    sizes = [str(size / 2) for size in range(4) for _ in range(10)]
    assert recodings(Keep(), "real", sizes, "ordinal") == [Bins(edges=[1.0])]
    assert recodings(Keep(), "integer", ["1"] * 12 + ["2"] * 12 + ["3"], "ordinal") == [Bins(edges=[2])]
    assert recodings(Keep(), "integer", ["1", "2", "3"], "ordinal") == []
    assert recodings(Keep(), "date", ["2024-01-05"] * 20, "ordinal") == [Prefix(7), Prefix(4)]


def test_values_listed_in_order_are_joined_as_groups():
    order = ("low", "middle", "high", "top")
    values = ["high"] * 12 + ["low"] * 11 + ["middle"] * 10
    found = recodings(Keep(), "text", values, order)
    pair = {"low": "low to middle", "middle": "low to middle"}
    assert found == [
        Mapping({"low": "low", "middle": "middle", "high": "high to top", "top": "high to top"}),
        Mapping(pair | {"high": "high to top", "top": "high to top"}),
    ]
    odd = recodings(Keep(), "text", ["a"] * 10 + ["b"] * 10 + ["a to b"] * 10, ("a", "b", "a to b"))
    assert odd == [Mapping({"a": "a to b'", "b": "a to b'", "a to b": "a to b"})]


def test_recodings_in_a_row_get_coarser_step_by_step(tmp_path):
    ages = [str(age) for age in range(20, 80) for _ in range(3)]
    ends = [BottomCode(25), TopCode(75)]
    labels = plain_labels(Chain(ends), [int(age) for age in ages], "integer")
    found = recodings(Chain(ends), "integer", labels)
    assert any(isinstance(item, Chain) and item.steps[0] == ends[0] and item != Chain(ends) for item in found)
    assert any(isinstance(item, Chain) and item.steps[1] == ends[1] and item != Chain(ends) for item in found)
    found = recodings(
        TopCode(75), "integer", plain_labels(TopCode(75), [int(age) for age in ages], "integer")
    )
    assert any(isinstance(item, Chain) and item.steps[1] == TopCode(75) for item in found)
    jobs = hierarchy(tmp_path, "n,care,health,all\nb,food,trade,all\n", level=1)
    found = recodings(Chain([Prefix(1), jobs]), "text", ["care", "food"])
    assert [item.steps[1].level for item in found] == [2, 3]
    shorter = recodings(Chain([Mapping({"x": "J11", "y": "J00"}), Prefix(2)]), "text", ["J1", "J0"])
    assert shorter == [Chain([Mapping({"x": "J11", "y": "J00"}), Prefix(1)])]


def test_ends_are_open_and_hold_enough_people():
    ages = [str(age) for age in range(20, 80) for _ in range(5)] + ["99"]
    found = recodings(Keep(), "integer", ages)
    open_ended = next(
        item for item in found if isinstance(item, Bins) and item.edges and item.edges[1] % 10 == 0
    )
    for beyond in (lambda age: age < open_ended.edges[0], lambda age: age >= open_ended.edges[-1]):
        assert sum(beyond(int(age)) for age in ages) >= 15
    assert {TopCode, BottomCode} <= {type(item) for item in found}
    for item in found:
        if isinstance(item, TopCode):
            assert item.at % 2 == 0
            assert sum(int(age) >= item.at for age in ages) >= 15


def test_rare_values_become_one_and_only_frequent_ones_are_named():
    values = ["red"] * 50 + ["green"] * 40 + ["other"] * 30 + ["violet"] * 12 + ["mauve"] * 9 + [None]
    found = recodings(Keep(), "text", values)
    assert found[0] == Mapping(
        {value: value for value in ("red", "green", "other", "violet")}, otherwise="other'"
    )
    assert found[-1] == Mapping({"red": "red"}, otherwise="other'")
    assert not any("mauve" in policy_toml(Policy("s", [Released("c", item)])) for item in found)
    assert recodings(Keep(), "text", ["a", "b", "c", "dd"]) == []


def test_nothing_is_known_for_others():
    assert recodings(Keep(), "text", ["yes", "no"]) == []
    assert recodings(Keep(), "integer", ["3"], "numeric") == []
    assert recodings(Keep(), "real", ["3", "inf"]) == []
    assert recodings(Suppress(), "integer", ["*"]) == []
    assert recodings(Mapping({"a": "b"}), "text", ["b"]) == []
    assert recodings(Bins(width=2**50), "integer", ["[0, 1125899906842624)"])[1:] == []


def hierarchy(folder, text, **options):
    path = folder / "jobs.csv"
    path.write_text("job,one,two,three\n" + text)
    return Mapping.from_file(path, **options)


def test_hierarchies_are_climbed_level_by_level(tmp_path):
    lines = "nurse,care,health,all\nbaker,food,trade,all\ncook,food,trade,all\n"
    found = coarser(
        Released("c", hierarchy(tmp_path, lines, level=0)), "text", counted(["nurse", "baker", "cook", None])
    )
    assert [level.recoding.level for level in found] == [1, 2, 3]
    values = counted(["nurse", "baker", "cook", None]).values[0]
    assert dict(zip(values, found[0].labels, strict=True)) == {
        None: None,
        "nurse": "care",
        "baker": "food",
        "cook": "food",
    }
    one = Released("c", hierarchy(tmp_path, lines, level=1, otherwise="other"))
    found = coarser(one, "text", counted(["care", "food", "other"]))
    assert found[0].labels == tuple(
        {"care": "health", "food": "trade"}.get(v, v) for v in ("care", "food", "other")
    )


def test_a_level_that_splits_a_group_is_not_climbed_to(tmp_path):
    lines = "nurse,care,health,all\nguard,care,state,all\n"
    item = Released("c", hierarchy(tmp_path, lines, level=1))
    assert [level.recoding.level for level in coarser(item, "text", counted(["care"]))] == [3]


FRAME = pd.DataFrame(
    {
        "s": list("xy") * 150,
        "age": [20 + (7 * place) % 61 for place in range(300)],
        "size": [((13 * place) % 97) / 10 - 2 for place in range(300)],
        "zip": [f"{10000 + (37 * place) % 400}" for place in range(300)],
        "born": [datetime.date(1950 + place % 50, 1 + place % 12, 1 + place % 28) for place in range(300)],
        "job": [f"job {place % 40 if place % 3 else place % 4}" for place in range(300)],
    }
)
FRAME.loc[::17, ["size", "job"]] = None


@pytest.mark.parametrize(
    ("column", "recoding"),
    [
        ("age", Keep()),
        ("age", Bins(width=3, origin=1)),
        ("age", Bins(edges=[25.5, 30, 41.5, 60, 70])),
        ("age", TopCode(75)),
        ("age", BottomCode(22.0)),
        ("age", Prefix(2)),
        ("age", Chain([Bins(width=3, origin=1), BottomCode(24), TopCode(71)])),
        ("age", Chain([Bins(edges=[25.5, 30, 41.5, 60]), BottomCode(24), TopCode(71)])),
        ("age", Chain([BottomCode(24), TopCode(71)])),
        ("size", Chain([Bins(width=0.3), BottomCode(-1.1), TopCode(6.5)])),
        ("size", Chain([Bins(edges=[-0.7, 0.3, 1.1, 3.3]), BottomCode(-0.2), TopCode(4)])),
        ("size", Chain([BottomCode(-1.1), TopCode(6.5)])),
        ("zip", Chain([Mapping({f"{10000 + n}": f"{n:03}" for n in range(400)}), Prefix(2)])),
        ("size", Keep()),
        ("size", Bins(width=0.1)),
        ("size", Bins(width=0.3, origin=0.1)),
        ("size", Bins(edges=[-0.7, 0.3, 1.1, 3.3])),
        ("size", TopCode(6.5)),
        ("size", BottomCode(-1.1)),
        ("zip", Keep()),
        ("zip", Prefix(4)),
        ("born", Keep()),
        ("job", Keep()),
    ],
)
def test_every_level_is_what_the_engine_counts(column, recoding):
    require_levels_as_counted(column, recoding, None)


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        ("age", "ordinal"),
        ("size", "ordinal"),
        ("zip", tuple(sorted(FRAME["zip"].unique()))),
        ("job", (*(f"job {place}" for place in range(40)), "job 99")),
    ],
)
def test_every_level_of_a_declared_scale_is_what_the_engine_counts(column, declared):
    require_levels_as_counted(column, Keep(), declared)


def require_levels_as_counted(column, recoding, declared):
    with open_table(FRAME) as table:
        item = Released(column, recoding)
        kind = table.columns[column]
        before = count_cells(table, Policy("s", [item]))
        found = Counted.of(before, ["s"], [column])
        levels = coarser(item, kind, found, declared)
        assert levels
        for level in levels:
            after = count_cells(table, Policy("s", [Released(column, level.recoding)]))
            sizes = {}
            for (label,), size in zip(before.cells, before.sizes().tolist(), strict=True):
                new = level.labels[found.values[0].index(label)]
                sizes[new] = sizes.get(new, 0) + size
            assert sizes == {
                cell: size for (cell,), size in zip(after.cells, after.sizes().tolist(), strict=True)
            }
