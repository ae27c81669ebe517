"""Recodings in a row: labels that are true of exactly the values that have them, on the engine and in Python alike."""

import re
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.recount import recount
from tightlip.errors import InvalidInput, WrongType
from tightlip.table.chain import Chain, in_a_row, keeps_values, steps_of
from tightlip.table.counts import count_cells
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode, plain_labels
from tightlip.table.source import open_table

pytestmark = IGNORED


def released(values, recoding, kind) -> list[str]:
    """What the engine releases for distinct values: each is its own secret."""
    table = pa.table({"x": pa.array(values, kind), "s": range(len(values))})
    with open_table(table) as opened:
        counts = count_cells(opened, Policy("s", [Released("x", recoding)]))
    shown = {
        counts.secrets[secret][0]: counts.cells[cell][0]
        for secret, cell in zip(counts.secret_of, counts.cell_of, strict=True)
    }
    return [shown[str(place)] for place in range(len(values))]


def says(label: str, value: Fraction) -> bool:
    """Whether a label is true of a number, by its own reading."""
    if found := re.fullmatch(r"([\[(])(\S+), (\S+)\)", label):
        low, high = Fraction(found[2]), Fraction(found[3])
        return (low <= value if found[1] == "[" else low < value) and value < high
    for sign, holds in {"≤": value.__le__, "≥": value.__ge__, "<": value.__lt__, ">": value.__gt__}.items():
        if label.startswith(sign):
            return holds(Fraction(label[1:]))
    return value == Fraction(label)


AGES = Chain([Bins(width=10), BottomCode(18), TopCode(95)])


def test_a_cut_bin_is_called_by_what_is_left_of_it():
    assert released([3, 18, 19, 20, 94, 95, 120], AGES, pa.int64()) == [
        "≤18",
        "≤18",
        "[19, 20)",
        "[20, 30)",
        "[90, 95)",
        "≥95",
        "≥95",
    ]
    assert released([18.0, 18.25, 20.0, 94.5], AGES, pa.float64()) == [
        "≤18",
        "(18, 20)",
        "[20, 30)",
        "[90, 95)",
    ]


def test_codes_cut_open_bins_too():
    edges = Bins(edges=[18, 65])
    assert released([17, 20, 64, 70, 90], Chain([edges, TopCode(90)]), pa.int64()) == [
        "<18",
        "[18, 65)",
        "[18, 65)",
        "[65, 90)",
        "≥90",
    ]
    assert released([1.5, 70.0, 71.0], Chain([edges, BottomCode(70)]), pa.float64()) == ["≤70", "≤70", ">70"]


def test_order_of_bins_and_codes_does_not_matter():
    assert Chain([TopCode(95), BottomCode(18), Bins(width=10)]) == AGES
    assert AGES.words() == "in bins of 10, bottom-coded at 18, top-coded at 95"
    assert hash(Chain([AGES, Mapping({"≤18": "young"}, otherwise="old")])) is not None


numbers = st.integers(-60, 60) | st.integers(-(2**61), 2**61)
reals = st.floats(-60, 60).map(lambda value: round(value, 2)) | st.floats(-1e6, 1e6)


def steps_from(data, kind):
    whole = kind == "integer"
    codes = st.integers(-50, 50) if whole else st.integers(-500, 500).map(lambda value: value / 10)
    low, high = sorted((data.draw(codes), data.draw(codes)))
    widths = st.sampled_from([1, 3, 7, 10] if whole else [0.1, 0.3, 2.5, 10])
    bins = st.one_of(
        st.none(),
        widths.map(lambda width: Bins(width=width)),
        st.lists(codes, min_size=1, max_size=4, unique=True).map(lambda edges: Bins(edges=sorted(edges))),
    )
    steps = [data.draw(bins)]
    steps.append(data.draw(st.sampled_from([None, BottomCode(low)])))
    steps.append(data.draw(st.sampled_from([None, TopCode(high)])))
    assume(low < high)
    return [step for step in steps if step is not None]


@pytest.mark.parametrize("kind", ["integer", "real"])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_label_is_true_of_its_values_and_of_no_others(kind, data):
    """Also: keys in Python are the engine's, and what is coded or in another bin has another label."""
    steps = steps_from(data, kind)
    assume(len(steps) > 1)
    values = data.draw(
        st.lists(numbers if kind == "integer" else reals, min_size=2, max_size=25, unique=True)
    )
    values = sorted({value + 0 for value in values} | {step.at for step in steps if hasattr(step, "at")})
    values = [int(value) if kind == "integer" else float(value) for value in values]
    chain = Chain(data.draw(st.permutations(steps)))
    labels = released(values, chain, pa.int64() if kind == "integer" else pa.float64())
    assert labels == plain_labels(chain, values, kind)
    for label in labels:
        assert [says(label, Fraction(repr(value))) for value in values] == [own == label for own in labels]


def test_far_values_are_coded_before_they_are_put_in_bins():
    narrow = Chain([Bins(width=0.1), BottomCode(0), TopCode(90)])
    values = [-1e300, float("-inf"), 0.05, 1e300, float("inf")]
    assert released(values, narrow, pa.float64()) == ["≤0", "≤0", "(0, 0.1)", "≥90", "≥90"]
    whole = Chain([Bins(width=10), BottomCode(0)])
    assert released([-(2**63) + 1, 5, 2**62], whole, pa.int64())[:2] == ["≤0", "[1, 10)"]
    with pytest.raises(InvalidInput, match=r"bins of width 0\.1 are too narrow"):
        released([1.0, -1e300], Chain([Bins(width=0.1), TopCode(90)]), pa.float64())


def test_each_step_takes_the_label_of_the_one_before():
    areas = Chain([Prefix(1), Mapping({"0": "north", "1": "south"}), Mapping({"north": "n"}, otherwise="o")])
    assert released(["012", "034", "199"], areas, pa.string()) == ["n", "n", "o"]
    assert areas.words() == (
        'first 1 character, then mapped to 2 groups, then mapped to 1 group, others to "o"'
    )
    ages = Chain([Bins(width=10), TopCode(30), Mapping({"≥30": "old"}, otherwise="young")])
    assert released([5, 25, 31], ages, pa.int64()) == ["young", "young", "old"]
    groups = Chain([Mapping({"flu": "J11", "cold": "J00", "cut": "S01"}), Prefix(1)])
    assert released(["flu", "cold", "cut"], groups, pa.string()) == ["J", "J", "S"]


def test_missing_values_stay_missing():
    table = pa.table({"x": pa.array([None, 5, 95]), "s": [1, 2, 3]})
    with open_table(table) as opened:
        counts = count_cells(opened, Policy("s", [Released("x", AGES)]))
    assert counts.cells == [(None,), ("≤18",), ("≥95",)]


def test_a_forgotten_value_is_refused_at_every_step():
    chain = Chain([Mapping({"flu": "lungs", "cut": "skin"}), Mapping({"lungs": "in"})])
    with pytest.raises(InvalidInput, match='column "x": mapping must have a group for every value') as caught:
        released(["flu", "cut"], chain, pa.string())
    assert "skin" not in str(caught.value)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "steps must be two recodings or more, got 0"),
        ([Bins(width=1)], "two recodings or more, got 1; a single one stands alone"),
        ([Bins(width=10), Suppress()], "suppress must stand alone"),
        ([Keep(), Prefix(2)], "keep must stand alone"),
        ([Bins(width=5), Bins(width=10)], "bins must be given once in a row, got it twice; keep one"),
        ([TopCode(9), BottomCode(1), TopCode(8)], "top must be given once"),
        ([Bins(width=10), Prefix(1)], "prefix must be of values or groups, got it after bins"),
        ([Prefix(3), Prefix(2)], "got it after prefix; keep one of the two"),
        ([Prefix(3), Bins(width=10)], "bins must come before prefix, which releases text"),
        ([Mapping({"a": "1"}), TopCode(3)], "top must come before mapping"),
        ([BottomCode(90), TopCode(18)], "bottom must be below top, got 90 and 18"),
        ([BottomCode(18), TopCode(18)], "bottom must be below top"),
    ],
)
def test_rows_that_make_no_sense(steps, message):
    with pytest.raises(InvalidInput, match=message):
        Chain(steps)


def test_what_is_no_row():
    for wrong in ("bins", 3, Bins(width=3)):
        with pytest.raises(WrongType, match="steps must be a list of recodings"):
            Chain(wrong)
    with pytest.raises(WrongType, match="steps must be recodings, got 10"):
        Chain([10, TopCode(90)])


@pytest.mark.parametrize(
    ("recoding", "kind", "message"),
    [
        (AGES, "text", "bins is for columns of kind integer, real"),
        (Chain([BottomCode(0), TopCode(9.5)]), "integer", "top must be whole"),
        (Chain([TopCode(9), Mapping({"1": "a"})]), "real", "mapping is for columns of kind text"),
        (Chain([Prefix(2), Mapping({"1": "a"})]), "real", "prefix is for columns of kind text"),
    ],
)
def test_columns_that_a_row_is_not_for(recoding, kind, message):
    with pytest.raises(InvalidInput, match=message):
        recoding.require("x", kind)


def test_bins_of_reals_have_labels_to_map():
    Chain([Bins(width=0.5), Mapping({"[0, 0.5)": "low"})]).require("x", "real")


def test_helpers():
    assert in_a_row([]) == Keep()
    assert in_a_row([Prefix(2)]) == Prefix(2)
    assert in_a_row([TopCode(9), BottomCode(1)]) == Chain([BottomCode(1), TopCode(9)])
    assert steps_of(AGES) == (Bins(width=10), BottomCode(18), TopCode(95))
    assert steps_of(Keep()) == (Keep(),)
    assert [keeps_values(one) for one in (Keep(), Chain([TopCode(9), BottomCode(1)]), AGES, Prefix(2))] == [
        True,
        True,
        False,
        False,
    ]


def test_codes_beyond_what_reals_tell_apart():
    """The label belongs to the float that the engine compares with."""
    assert plain_labels(TopCode(2**53 + 1), [2.0**53], "real") == ["≥9007199254740992.0"]
    assert released([1.0, 2.0**53], TopCode(2**53 + 1), pa.float64()) == ["1", "≥9007199254740992.0"]


def test_coded_ends_that_are_spelled_in_two_ways_are_refused(tmp_path):
    """Values between the codes are released as they are, so the file would tell 1.10 from 1.1."""
    path = tmp_path / "people.csv"
    path.write_text("x,s\n1.10,1\n1.1,2\n9,1\n")
    with open_table(path) as opened:
        policy = Policy("s", [Released("x", Chain([BottomCode(0), TopCode(5)]))])
        with pytest.raises(InvalidInput, match="writes"):
            count_cells(opened, policy)
        binned = Policy("s", [Released("x", Chain([Bins(width=1), TopCode(5)]))])
        assert count_cells(opened, binned).cells == [("[1, 2)",), ("≥5",)]


def test_a_written_release_is_found_to_be_true(tmp_path):
    """Labels of cut bins are read by another program than the one that wrote them; groups of prefixes are names."""
    rows = {
        "age": [float(place) for place in range(10, 70)],
        "zip": [f"{place % 3}{place}" for place in range(60)],
        "s": [place % 2 for place in range(60)],
    }
    pyarrow.parquet.write_table(pa.table(rows), tmp_path / "people.parquet")
    ages = Chain([Bins(width=10), BottomCode(18), TopCode(55)])
    areas = Chain([Prefix(1), Mapping({"0": "north", "1": "south", "2": "west"})])
    policy = Policy("s", [Released("age", ages), Released("zip", areas)])
    policy.save(tmp_path / "plan.toml")
    done = tl.release(
        tmp_path / "people.parquet", Policy.from_toml(tmp_path / "plan.toml"), tmp_path / "out.parquet"
    )
    with open_table(tmp_path / "people.parquet") as opened:
        assert recount(done.receipt, opened).groups == ("zip",)
    shown = set(pyarrow.parquet.read_table(tmp_path / "out.parquet")["age"].to_pylist())
    assert shown == {"≤18", "(18, 20)", "[20, 30)", "[30, 40)", "[40, 50)", "[50, 55)", "≥55"}
