"""Scales of columns: declared, guessed, written and read, and what they refuse."""

import os

import pandas as pd
import pytest

import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.scales import scale_words, scales_of
from tightlip.errors import InvalidInput, WrongType
from tightlip.report.disclosure import remedy_toml
from tightlip.table.chain import Chain
from tightlip.table.counts import count_cells
from tightlip.table.flags import policy_flags, policy_from_flags
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_toml
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode
from tightlip.table.scale import MOST_CODES, Scales, guess_scale, merge_scales, require_fit
from tightlip.table.source import open_table

ORDER = ["low", "middle", "high"]


@pytest.mark.parametrize(
    ("kind", "values", "scale"),
    [
        ("text", ["1", "2"], "nominal"),
        ("boolean", ["true", "false"], "nominal"),
        ("date", ["2024-01-01"], "ordinal"),
        ("real", ["1"], "numeric"),
        ("integer", [], "nominal"),
        ("integer", [None, *range(1, MOST_CODES + 1)], "nominal"),
        ("integer", [None, *range(1, MOST_CODES + 2)], "numeric"),
        ("integer", [str(code) for code in range(10115, 10200)], "nominal"),
        ("integer", [*range(9990, 10010)], "numeric"),
        ("integer", [*range(100, 200)], "numeric"),
        ("integer", [*range(1000, 1100)], "nominal"),
        ("integer", [*range(1930, 2010)], "numeric"),
        ("integer", [*range(-1999, -1900)], "numeric"),
    ],
)
def test_guesses(kind, values, scale):
    assert guess_scale(kind, values) == scale


def test_a_policy_holds_scales_that_never_change():
    policy = Policy("s", ["edu", "age"], scales={"edu": ORDER, "age": "numeric"})
    assert policy.scales == {"age": "numeric", "edu": tuple(ORDER)}
    assert policy == Policy("s", ["edu", "age"], scales={"age": "numeric", "edu": tuple(ORDER)})
    assert hash(policy) == hash(Policy("s", ["edu", "age"], scales=policy.scales))
    assert policy != Policy("s", ["edu", "age"])
    assert Policy("s", ["age"]).scales == {}


@pytest.mark.parametrize(
    ("scales", "error", "message"),
    [
        ("age", WrongType, "scales must map columns to scales"),
        (["age"], WrongType, "scales must map columns to scales"),
        ({1: "nominal"}, WrongType, "scales must name columns by text, got 1"),
        ({"age": "interval"}, InvalidInput, 'one of "nominal", "ordinal", "numeric" or a list'),
        ({"age": None}, InvalidInput, 'scales of "age" must be one of'),
        ({"age": ["low"]}, WrongType, "must list two values or more as text"),
        ({"age": [1, 2]}, WrongType, "write numbers in quotes"),
        ({"age": ["a", "b", "a"]}, InvalidInput, 'must list each value once, got "a" twice'),
    ],
)
def test_scales_that_are_none(scales, error, message):
    with pytest.raises(error, match=message):
        Policy("s", ["age"], scales=scales)


def test_merging_what_is_declared_by_column_and_by_scale():
    found = merge_scales({"edu": ORDER}, nominal=["zip", "sex"], ordinal="grade", numeric=("age",))
    assert isinstance(found, Scales)
    assert dict(found) == {
        "age": "numeric",
        "edu": tuple(ORDER),
        "grade": "ordinal",
        "sex": "nominal",
        "zip": "nominal",
    }
    assert merge_scales() == {}
    with pytest.raises(InvalidInput, match='numeric must be of columns declared once, got "zip" twice'):
        merge_scales(nominal="zip", numeric=["age", "zip"])
    with pytest.raises(WrongType, match="ordinal must be a list of columns"):
        merge_scales(ordinal=3)


@pytest.mark.parametrize(
    ("scale", "recoding", "lacks"),
    [
        ("nominal", Bins(width=10), "an order"),
        ("nominal", Bins(edges=[1, 2]), "an order"),
        ("nominal", TopCode(9), "an order"),
        ("nominal", Chain([Bins(width=10), Mapping({"a": "b"})]), "an order"),
        ("ordinal", Bins(width=10), "distances"),
        ("ordinal", Chain([Bins(width=10), TopCode(90)]), "distances"),
        (("1", "2"), BottomCode(1), "an order by size"),
        ("numeric", Prefix(2), "text"),
    ],
)
def test_recodings_that_do_not_fit(scale, recoding, lacks):
    message = (
        f'needs .*{lacks}.*, got it on column "c", which is declared .*; change the recoding or the scale'
    )
    with pytest.raises(InvalidInput, match=message):
        Policy("s", [Released("c", recoding)], scales={"c": scale})


@pytest.mark.parametrize(
    ("scale", "recoding"),
    [
        ("nominal", Prefix(2)),
        ("nominal", Mapping({"1": "a"})),
        ("nominal", Suppress()),
        ("ordinal", Bins(edges=[1, 2])),
        ("ordinal", Chain([BottomCode(1), TopCode(3)])),
        ("ordinal", Prefix(4)),
        (("1", "2"), Mapping({"1": "a"})),
        ("numeric", Chain([Bins(width=10), TopCode(90)])),
        ("numeric", Chain([Mapping({"1": "J11"}), Prefix(1)])),
        ("numeric", Keep()),
    ],
)
def test_recodings_that_fit(scale, recoding):
    require_fit(scale, "c", recoding)


FRAME = pd.DataFrame(
    {
        "s": list("xy") * 30,
        "age": [20 + place for place in range(60)],
        "sex": [1 + place % 2 for place in range(60)],
        "edu": [ORDER[place % 3] for place in range(60)],
        "size": [place / 7 for place in range(60)],
    }
)


def count(release, **scales):
    with open_table(FRAME) as table:
        policy = Policy("s", release, scales=scales)
        kinds = table.kinds(policy.columns)
        return policy, Counted.of(count_cells(table, policy), ["s"], policy.columns[1:]), kinds


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ({"edu": "numeric"}, 'column "edu" is declared numeric, got kind text'),
        ({"edu": "ordinal"}, r'"edu" is declared ordinal, got text.*scales = \{"edu" = \["low"'),
        ({"size": ["1", "2"]}, 'scales of "size" must not list values, got kind real'),
        (
            {"edu": ["low", "high"]},
            "must list every value that occurs, got 1 that it does not list; add them",
        ),
        ({"s": ["x", "z"]}, 'scales of "s" must list every value that occurs'),
        ({"edo": "nominal"}, r'scales column "edo" is not there; did you mean "edu"\?'),
    ],
)
def test_scales_that_the_table_contradicts(scales, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        count(["edu", "size"], **scales)
    assert "middle" not in str(caught.value).replace('["low", "middle", "high"]', "")


def test_a_column_that_is_not_in_use_may_have_a_scale():
    count(["age"], edu=ORDER, sex="nominal")


def test_what_the_report_is_told():
    found = count(["age", "sex", "edu", "size"], edu=ORDER)
    assert scales_of(*found) == {
        "age": ("numeric", False),
        "sex": ("nominal", False),
        "edu": ("ordinal", True),
        "size": ("numeric", False),
    }
    assert scale_words(*found) == (
        "age numeric (guessed), sex nominal (guessed: 2 distinct whole numbers), edu ordinal (declared), "
        "size numeric (guessed)"
    )
    binned = count([Released("sex", Bins(width=2)), Released("age", Prefix(1))])
    assert scale_words(*binned) == "sex numeric (guessed: in bins of 2), age nominal (guessed)"


def test_policy_files_and_flags(tmp_path):
    scales = {"edu": ORDER, "sex": "nominal", "age, years": "numeric"}
    policy = Policy("s", ["edu", "sex", "age, years"], scales=scales)
    path = tmp_path / "policy.toml"
    path.write_text(policy_toml(policy))
    assert Policy.from_toml(path) == policy
    assert '[scales]\n"age, years" = "numeric"\nedu = ["low", "middle", "high"]\n' in path.read_text()
    assert policy_flags(policy) is None
    plain = Policy("s", ["a", "b", "c, d"], scales={"a": "nominal", "b": "nominal", "c, d": "ordinal"})
    assert policy_flags(plain)[4:] == ["--nominal", "a,b", "--ordinal", '"c, d"']
    read = policy_from_flags(["s"], ["a", "b", "c, d"], nominal=["a,b"], ordinal=['"c, d"'])
    assert read == plain
    path.write_text('secret = "s"\nrelease = ["a"]\nscales = ["a"]\n')
    with pytest.raises(WrongType, match=r"policy\.toml: scales must map columns"):
        Policy.from_toml(path)


def words(release, **scales):
    """The levels that protect chooses."""
    policy = Policy("s", release, scales=scales)
    found = tl.protect(FRAME, policy=policy, budget="3x", seconds=0.1)
    return {column.column: column.words for column in found.levels}


def test_levels_of_protect():
    assert words(["sex", "edu"]) == {"sex": ("as is", "out"), "edu": ("as is", "out")}
    assert words(["edu"], edu=ORDER) == {"edu": ("as is", "mapped to 2 groups", "out")}
    assert "in bins of 10" in words(["age"])["age"]
    assert words(["age"], age="ordinal")["age"][:2] == ("as is", "cut at 30, 40, 50, 60, 70")
    assert words(["size"], size="nominal")["size"] == ("as is", "out")


def test_given_levels_that_do_not_fit_a_declared_scale():
    policy = Policy("s", ["age"], scales={"age": "nominal"})
    with pytest.raises(InvalidInput, match='"in bins of 10" needs values with an order'):
        tl.protect(FRAME, policy=policy, budget="3x", levels={"age": ["as is", 10, "out"]})


def test_given_levels_may_be_coded_at_the_ends():
    ends = Chain([Bins(width=20), BottomCode(25), TopCode(70)])
    found = tl.protect(FRAME, "s", ["age"], "3x", levels={"age": [TopCode(70), ends, "out"]}, seconds=0.1)
    assert found.levels[0].words == ("top-coded at 70", ends.words(), "out")
    assert set(found.levels[0].labels[1]) == {"≤25", "[26, 40)", "[40, 60)", "[60, 70)", "≥70"}


def test_an_audit_offers_neighbours_of_an_order():
    """Of low and middle together half are x, as of everybody; of high too."""
    people = [
        *["lowx"] * 30,
        *["lowy"] * 10,
        *["middlex"] * 10,
        *["middley"] * 30,
        *["highx"] * 20,
        *["highy"] * 20,
    ]
    frame = pd.DataFrame({"s": [one[-1] for one in people], "edu": [one[:-1] for one in people]})
    policy = Policy("s", ["edu"], scales={"edu": ORDER})
    found = tl.audit(frame, policy=policy, budget="1.2x")
    joined = Mapping({"low": "low to middle", "middle": "low to middle", "high": "high"})
    best = found.remedies[0]
    assert (best.policy, float(best.leakage)) == (
        Policy("s", [Released("edu", joined)], scales=policy.scales, budget="1.2x"),
        0,
    )
    assert remedy_toml(found, best) is None
    assert "low to middle" in remedy_toml(found, best, show_values=True)
    apart = tl.audit(frame, policy=Policy("s", ["edu"]), budget="1.2x")
    assert all(remedy.policy.release[0].recoding == Keep() for remedy in apart.remedies)


def test_adult():
    """Ages in bins and coded at both ends as pandas counts them; guesses that one would make by hand."""
    folder = os.environ.get("TIGHTLIP_ADULT")
    if folder is None:
        assert os.environ.get("CI") != "true", "set TIGHTLIP_ADULT to the folder of adult.data"
        pytest.skip("set TIGHTLIP_ADULT to the folder of adult.data")
    names = {0: "age", 3: "education", 4: "years", 6: "job", 9: "sex", 12: "hours"}
    found = pd.read_csv(f"{folder}/adult.data", header=None, skipinitialspace=True)[[*names]]
    adult = found.rename(columns=names)
    coded = Chain([Bins(width=10), BottomCode(22), TopCode(75)])
    edges = [-1, 22, 29, 39, 49, 59, 69, 74, 200]
    labels = ["≤22", "[23, 30)", "[30, 40)", "[40, 50)", "[50, 60)", "[60, 70)", "[70, 75)", "≥75"]
    with open_table(adult) as table:
        counts = count_cells(table, Policy("job", [Released("age", coded)]))
        policy = Policy("job", ["age", "education", "years", "sex", "hours"])
        counted = Counted.of(count_cells(table, policy), ["job"], policy.columns[1:])
        scales = scales_of(policy, counted, table.kinds(policy.columns))
    by_hand = pd.cut(adult["age"], edges, labels=labels).value_counts()
    assert dict(zip((cell for (cell,) in counts.cells), counts.sizes().tolist(), strict=True)) == dict(
        by_hand
    )
    assert {column: scale for column, (scale, _) in scales.items()} == {
        "age": "numeric",
        "education": "nominal",
        "years": "numeric",
        "sex": "nominal",
        "hours": "numeric",
    }
