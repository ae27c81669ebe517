"""Policies: as code, TOML and flags."""

from fractions import Fraction

import pytest

from tightlip.errors import InvalidInput, WrongType
from tightlip.numeric.quantity import log_of
from tightlip.table.chain import Chain
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode

FULL = """
secret = ["disease", "ward"]
min_count = 5

[release.age]
bins = 10
[release.size]
bins = {width = 0.5, origin = 0.25}
[release.income]
bins = {edges = [1000, 2000]}
[release.zip]
prefix = 3
randomized_response = "log 3"
[release.job]
mapping = "jobs.csv"
level = 2
otherwise = "other"
[release.sex]
mapping = {f = "x", m = "x"}
[release.visits]
top = 20
[release.weight]
bottom = 40.5
[release.name]
suppress = true
[release.member]
randomized_response = 1.5
"""
JOBS = "job,group,sector\nnurse,care,health\nbaker,food,trade\n\n"


def policy_file(folder, text):
    (folder / "jobs.csv").write_text(JOBS)
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_full_policy_file(tmp_path):
    policy = Policy.from_toml(policy_file(tmp_path, FULL))
    jobs = Mapping({"nurse": "health", "baker": "trade"}, otherwise="other")
    assert policy == Policy(
        ["disease", "ward"],
        [
            Released("age", Bins(width=10)),
            Released("size", Bins(width=0.5, origin=0.25)),
            Released("income", Bins(edges=[1000, 2000])),
            Released("zip", Prefix(3), RandomizedResponse(log_of(3))),
            Released("job", jobs),
            Released("sex", Mapping({"f": "x", "m": "x"})),
            Released("visits", TopCode(20)),
            Released("weight", BottomCode(40.5)),
            Released("name", Suppress()),
            Released("member", Keep(), RandomizedResponse(1.5)),
        ],
        min_count=5,
    )
    assert policy.release[3].mechanism.epsilon.ratio == Fraction(3)


ROWS = """
secret = "disease"

[release.age]
top = 90
bins = 10
bottom = 18
randomized_response = 1.5
[release.zip]
prefix = 3
mapping = {012 = "north", 013 = "south"}
[release.job]
mapping = "jobs.csv"
level = 1
otherwise = "other"
then = [{mapping = {care = "c", food = "f", other = "o"}}, {prefix = 1, mapping = {c = "x"}, otherwise = "y"}]
"""


def test_recodings_in_a_row(tmp_path):
    """Keys of one table have one order, whatever theirs is; `then` comes after."""
    policy = Policy.from_toml(policy_file(tmp_path, ROWS))
    letters = Mapping({"care": "c", "food": "f", "other": "o"})
    jobs = Mapping({"nurse": "care", "baker": "food"}, otherwise="other")
    assert policy == Policy(
        "disease",
        [
            Released("age", Chain([Bins(width=10), BottomCode(18), TopCode(90)]), RandomizedResponse(1.5)),
            Released("zip", Chain([Prefix(3), Mapping({"012": "north", "013": "south"})])),
            Released("job", Chain([jobs, letters, Prefix(1), Mapping({"c": "x"}, otherwise="y")])),
        ],
    )
    assert policy.release[0].words() == (
        "age in bins of 10, bottom-coded at 18, top-coded at 90, then randomised response with ε = 1.5 nats"
    )


def test_a_short_policy_file(tmp_path):
    path = policy_file(tmp_path, 'secret = "disease"\nrelease = ["age", "zip"]\n')
    assert Policy.from_toml(path) == Policy("disease", ["age", "zip"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("secret = ", "cannot be read"),
        ("release = ['a']", "secret must be given"),
        ("secret = 's'", "release must be given"),
        ("secret = 3\nrelease = ['a']", "secret must be a column or a list"),
        ("secret = 's'\nrelease = 'a'", "release must be a table or a list"),
        ("secret = 's'\nrelease = [1]", "release must name columns by text, got 1"),
        (
            "secret = 's'\nrelease = ['a']\nmin_cuont = 5",
            r'key "min_cuont" is not there; did you mean "min_count"\?',
        ),
        ("secret = 's'\nrelease = ['a']\nmin_count = 0", "min_count must be a whole number from 1 to"),
        ("secret = 's'\nrelease = ['s']", 'must not have a secret column as it is, got "s" in both'),
        ("secret = 's'\nrelease = []", "release must have at least one column"),
        ("secret = []\nrelease = ['a']", "secret must have at least one column"),
        ("secret = 's'\nrelease = ['a', 'a']", 'each column once, got "a" twice'),
        ("secret = 's'\n[release]\na = 3", r"release\.a must be a table of settings"),
        ("secret = 's'\n[release.a]\nbin = 3", r'release\.a key "bin" is not there; did you mean "bins"\?'),
        (
            "secret = 's'\n[release.a]\nbins = 3\nprefix = 2",
            r"release\.a: prefix must be of values or groups, got it after bins",
        ),
        ("secret = 's'\n[release.a]\nsuppress = true\nprefix = 2", "suppress must stand alone"),
        (
            "secret = 's'\n[release.a]\ntop = 3\nbottom = 4",
            r"release\.a: bottom must be below top, got 4 and 3",
        ),
        ("secret = 's'\n[release.a]\nprefix = 3\nthen = [{bins = 3}]", "bins must come before prefix"),
        ("secret = 's'\n[release.a]\nprefix = 3\nthen = {bins = 3}", r"release\.a\.then must be a list of"),
        (
            "secret = 's'\n[release.a]\nprefix = 3\nthen = [{mapping = {a = 'b'}, randomized_response = 1}]",
            r'release\.a\.then key "randomized_response" is not there',
        ),
        ("secret = 's'\n[release.a]\nbins = 'x'", "bin width must be a number"),
        ("secret = 's'\n[release.a]\nbins = {widht = 3}", r'did you mean "width"\?'),
        ("secret = 's'\n[release.a]\nprefix = 0", "prefix length must be a whole number from 1 to"),
        ("secret = 's'\n[release.a]\ntop = nan", "top must be finite"),
        ("secret = 's'\n[release.a]\nsuppress = false", "suppress must be true"),
        ("secret = 's'\n[release.a]\nlevel = 2", '"level" is not there'),
        ("secret = 's'\n[release.a]\nmapping = 3", "mapping must be a file name or a table"),
        ("secret = 's'\n[release.a]\nmapping = {a = 'b'}\nlevel = 1", "level is for mapping files"),
        ("secret = 's'\n[release.a]\nmapping = 'none.csv'", "none.csv cannot be read: No such file"),
        ("secret = 's'\n[release.a]\nrandomized_response = -1", "randomized_response must be"),
        ("secret = 's'\n[release.a]\nrandomized_response = 'much'", 'or a level like "3x", "log\\(3\\)"'),
    ],
)
def test_policy_files_that_are_none(tmp_path, text, message):
    path = policy_file(tmp_path, text)
    with pytest.raises(InvalidInput, match=message) as caught:
        Policy.from_toml(path)
    assert "policy.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_policy_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInput, match=r"policy file .*none\.toml cannot be read: No such file"):
        Policy.from_toml(tmp_path / "none.toml")


def test_flags(tmp_path):
    (tmp_path / "jobs.csv").write_text(JOBS)
    columns = ["a=b", "size", "zip", "visits", "weight", "job", "sector", "name", "plain"]
    policy = Policy.from_flags(
        ["disease"],
        columns,
        bins=["a=b=10", "size=0.5,1,"],
        prefix=["zip=3"],
        top=["visits=20"],
        bottom=["weight=40.5"],
        mapping=[f"job={tmp_path / 'jobs.csv'}", f"sector={tmp_path / 'jobs.csv'}:2"],
        suppress=["name"],
        randomize=["zip=log 3", "plain=0.5"],
        min_count=3,
    )
    assert policy == Policy(
        "disease",
        [
            Released("a=b", Bins(width=10)),
            Released("size", Bins(edges=[0.5, 1])),
            Released("zip", Prefix(3), RandomizedResponse(log_of(3))),
            Released("visits", TopCode(20)),
            Released("weight", BottomCode(40.5)),
            Released("job", Mapping({"nurse": "care", "baker": "food"})),
            Released("sector", Mapping({"nurse": "health", "baker": "trade"})),
            Released("name", Suppress()),
            Released("plain", Keep(), RandomizedResponse(0.5)),
        ],
        min_count=3,
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"bins": ["age"]}, r'--bins must be COLUMN=WIDTH, got "age"'),
        ({"bins": ["age=x"]}, r'--bins of column "age" must be a number, got "x"'),
        ({"bins": ["aeg=3"]}, r'--bins column "aeg" is not there; did you mean "age"\?'),
        ({"bins": ["age=3", "age=4"]}, "once for column"),
        ({"bins": ["age=3"], "prefix": ["age=4"]}, r"release\.age: prefix must be of values or groups"),
        ({"suppress": ["none"]}, "--suppress column"),
        ({"prefix": ["age=1.5"]}, "prefix length"),
    ],
)
def test_flags_that_are_none(flags, message):
    with pytest.raises(InvalidInput, match=message):
        Policy.from_flags(["ill"], ["age"], **flags)


def test_flags_release_each_column_once():
    with pytest.raises(InvalidInput, match='each column once, got "age" twice'):
        Policy.from_flags(["ill"], ["age", "age"])


def test_one_released_column_is_a_list_of_one():
    assert Policy("ill", "age") == Policy("ill", Released("age")) == Policy("ill", ["age"])
    with pytest.raises(WrongType, match="release must be a list of columns"):
        Policy("ill", 3)
    with pytest.raises(WrongType, match="must name columns by text"):
        Policy([3], ["age"])


def test_words():
    released = Released("zip", Prefix(1), RandomizedResponse(0.5))
    assert released.words() == "zip first 1 character, then randomised response with ε = 0.5 nats"
    assert [r.words() for r in (Suppress(), TopCode(9), BottomCode(1))] == [
        "suppressed",
        "top-coded at 9",
        "bottom-coded at 1",
    ]
    assert Mapping({"a": "x", "b": "y"}).words() == "mapped to 2 groups"


@pytest.mark.parametrize("known", [[], ["alpha"], [f"column {place}" for place in range(20)]])
def test_unknown_names_show_what_there_is(known):
    from tightlip.table.policy import require_known

    with pytest.raises(InvalidInput, match="is not there; there are") as caught:
        require_known("zzz", known, "column")
    assert len(str(caught.value)) < 200


def test_unknown_names_differing_in_case_come_first():
    from tightlip.table.policy import require_known

    with pytest.raises(InvalidInput, match=r'did you mean "AGE"\?'):
        require_known("age", ["aged", "AGE"], "column")
