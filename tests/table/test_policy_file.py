"""A policy written as TOML reads back as the same policy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlip.errors import WrongType
from tightlip.numeric.quantity import log_of
from tightlip.table.chain import Chain
from tightlip.table.flags import policy_flags, policy_from_flags
from tightlip.table.mapping import Mapping
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_toml
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, Suppress, TopCode

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
whole = st.integers(-(10**6), 10**6)
numbers = whole | st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
prefixes = st.integers(1, 9).map(Prefix)
bins = st.one_of(
    st.builds(lambda width, origin: Bins(width=width, origin=origin), st.integers(1, 99), whole),
    st.lists(numbers, min_size=1, max_size=4, unique=True).map(lambda edges: Bins(edges=sorted(edges))),
)
mappings = st.builds(
    lambda groups, rest: Mapping(groups, otherwise=rest),
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), names, min_size=1, max_size=3),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
)
ends = st.lists(numbers, min_size=2, max_size=2, unique=True).map(
    lambda ends: [BottomCode(min(ends)), TopCode(max(ends))]
)
rows = st.one_of(
    st.builds(lambda first, codes, last: [first, *codes, *last], bins, ends, st.lists(mappings, max_size=2)),
    ends,
    st.builds(lambda first, last: [first, *last], prefixes, st.lists(mappings, min_size=1, max_size=2)),
    st.builds(
        lambda first, then, last: [first, then, *last], mappings, prefixes, st.lists(mappings, max_size=2)
    ),
)
recodings = st.one_of(
    st.just(Keep()),
    st.just(Suppress()),
    prefixes,
    numbers.map(TopCode),
    numbers.map(BottomCode),
    bins,
    mappings,
    rows.map(Chain),
)
noises = st.one_of(
    st.none(),
    st.floats(0, 50).map(RandomizedResponse),
    st.fractions(1, 20).map(lambda ratio: RandomizedResponse(log_of(ratio))),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(names, min_size=2, max_size=4, unique=True), st.data())
def test_what_is_written_reads_back(tmp_path_factory, columns, data):
    items = [Released(column, data.draw(recodings), data.draw(noises)) for column in columns[1:]]
    several = data.draw(st.booleans())
    secret = (
        [columns[0], columns[0] + " too"] if several and columns[0] + " too" not in columns else columns[0]
    )
    statistic = columns[0] if isinstance(secret, list) and data.draw(st.booleans()) else ()
    least = data.draw(st.none() | st.integers(1, 99))
    policy = Policy(secret, items, min_count=least, statistic=statistic)
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(policy_toml(policy), encoding="utf-8", newline="")
    found = Policy.from_toml(path)
    assert found == policy
    for one, other in zip(found.release, policy.release, strict=True):
        if other.mechanism is not None:
            ratio = getattr(other.mechanism.epsilon, "ratio", None)
            assert ratio is None or one.mechanism.epsilon.ratio == ratio


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_mapping_from_a_file_is_named_as_seen_from_the_policy(tmp_path, monkeypatch, level):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plans" / "maps").mkdir(parents=True)
    jobs = tmp_path / "plans" / "maps" / "jobs.csv"
    jobs.write_text("job,group,sector\nnurse,care,health\nbaker,food,trade\n")
    for file in ("plans/maps/jobs.csv", jobs):
        policy = Policy("ill", [Released("job", Mapping.from_file(file, level=level, otherwise="other"))])
        path = tmp_path / "plans" / "policy.toml"
        path.write_text(policy_toml(policy, "plans"))
        assert Policy.from_toml(path) == policy
        assert "nurse" not in path.read_text()


def test_a_mapping_from_elsewhere_is_written_out(tmp_path):
    """A policy's files are below its folder, so that this one can be read as it is."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "jobs.csv").write_text("job,group\nnurse,care\nbaker,food\n")
    policy = Policy("ill", [Released("job", Mapping.from_file(tmp_path / "jobs.csv"))])
    path = tmp_path / "plans" / "policy.toml"
    path.write_text(policy_toml(policy, path.parent))
    assert Policy.from_toml(path) == policy
    assert 'nurse = "care"' in path.read_text()


def test_what_is_no_recoding_is_not_written():
    with pytest.raises(
        WrongType, match=r"recoding must be one that a policy file can hold, got .*; use bins"
    ):
        policy_toml(Policy("ill", [Released("job", object())]))


@pytest.mark.parametrize(
    "recoding",
    [
        Bins(width=10),
        Bins(width=2.5),
        Bins(edges=[18]),
        Bins(edges=[18, 65]),
        Prefix(3),
        TopCode(90),
        BottomCode(-1),
        Suppress(),
        Chain([Bins(width=10), BottomCode(18), TopCode(90)]),
        Chain([BottomCode(18), TopCode(90.5)]),
    ],
)
def test_flags_say_the_same_policy(recoding):
    policy = Policy("s=t", [Released("a=b", recoding), "c"], min_count=4)
    words = policy_flags(policy)
    named = {"--secret": '"s=t"', "--release": "a=b,c", "--min-count": "4"}
    flags = dict(zip(words[::2], words[1::2], strict=True))
    assert named.items() <= flags.items()
    own = {flag.removeprefix("--"): [text] for flag, text in flags.items() if flag not in named}
    assert policy_from_flags(["s=t"], ["a=b", "c"], min_count=4, **own) == policy


def test_flags_say_a_prefix_and_a_mapping(tmp_path):
    (tmp_path / "areas.csv").write_text("zip,area\n0,north\n1,south\n")
    mapping = Mapping.from_file(tmp_path / "areas.csv")
    flags = policy_flags(Policy("s", [Released("zip", Chain([Prefix(1), mapping]))]))
    assert flags[4:] == ["--prefix", "zip=1", "--map", f"zip={tmp_path / 'areas.csv'}:1"]
    assert policy_flags(Policy("s", [Released("zip", Chain([mapping, mapping]))])) is None
    assert policy_flags(Policy("s", [Released("zip", Chain([mapping, Prefix(1)]))])) is None


def test_what_flags_cannot_say():
    assert policy_flags(Policy("s", [Released("a", Bins(width=10, origin=5))])) is None
    assert policy_flags(Policy("s", [Released("a", Mapping({"x": "y"}))])) is None
