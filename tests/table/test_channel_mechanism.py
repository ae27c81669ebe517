"""A channel as the mechanism of a column: labels as values, files, policies in and out, refusals, draws."""

import hashlib
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.errors import CertificateInvalid, InvalidInput, WrongType
from tightlip.numeric.randomness import RandomSource
from tightlip.table import ChannelMechanism, Policy, Prefix, RandomizedResponse, Released, policy_toml
from tightlip.table.chance import NoiseKernel
from tightlip.table.kinds import code_label
from tightlip.table.mechanism import MOST_ENTRIES, ColumnChannel
from tightlip.table.policy_file import read_released
from tightlip.table.publish import publish
from tightlip.table.source import open_table

pytestmark = IGNORED

ROWS = [["1/2", 0, "1/2"], [0, "1/3", "2/3"]]
SEXES = tl.Channel(ROWS, inputs=["f", "m"], outputs=["woman", "man", None])


def saved(folder, channel=SEXES, name="mechanism.json"):
    channel.save(folder / name)
    return folder / name


def toml(folder, setting, name="plan.toml"):
    path = folder / name
    path.write_text(f'secret = "ill"\n[release.sex]\nchannel = {setting}\n', encoding="utf-8")
    return path


def test_labels_are_the_texts_of_values():
    """As a release shows them: whole numbers without a point, booleans in small letters, None is missing."""
    given_ = tl.Channel(
        np.eye(5), inputs=[3, 2.0, 0.5, True, None], outputs=["a", 7, False, 1e300, "(missing)"]
    )
    found = ChannelMechanism(given_).kernel
    assert tuple(found.inputs) == ("3", "2", "0.5", "true", None)
    assert tuple(found.outputs) == ("a", "7", "false", "1e+300", None)
    assert found.is_exact


def test_a_channel_is_a_mechanism_wherever_one_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    wanted = Policy("ill", [Released("sex", mechanism=ChannelMechanism(SEXES))])
    assert Policy("ill", [Released("sex", mechanism=SEXES)]) == wanted
    assert Policy.from_flags(["ill"], ["sex"], randomize=["sex=channel mechanism.json"]) == wanted
    for setting in (SEXES, ChannelMechanism(SEXES), tmp_path / "mechanism.json", "channel mechanism.json"):
        audit = tl.audit(PEOPLE, "ill", ["sex"], randomize={"sex": setting})
        assert audit.policy == wanted
    noisy = tl.audit(PEOPLE, "ill", ["sex"], randomize={"sex": RandomizedResponse(1)}).policy
    assert noisy == Policy("ill", [Released("sex", mechanism=RandomizedResponse(1))])
    assert hash(wanted) == hash(Policy("ill", [Released("sex", mechanism=SEXES)]))


def test_words_name_the_numbers_and_the_file(tmp_path):
    assert (
        Released("sex", mechanism=SEXES).words() == "sex as it is, then a channel from 2 values to 3 outcomes"
    )
    found = ChannelMechanism.from_file(saved(tmp_path))
    assert found.words() == "a channel from 2 values to 3 outcomes (mechanism.json)"
    assert found == ChannelMechanism(SEXES)
    assert found.sha256 == hashlib.sha256((tmp_path / "mechanism.json").read_bytes()).hexdigest()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
labels = st.one_of(texts, st.none(), st.integers(2, 9), st.booleans(), st.floats(10, 12))


@st.composite
def channels(draw):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rows = draw(
        st.lists(
            st.lists(st.integers(0, 9), min_size=shape[1], max_size=shape[1]).filter(any),
            min_size=shape[0],
            max_size=shape[0],
        )
    )
    exact = [[Fraction(entry, sum(row)) for entry in row] for row in rows]
    if draw(st.booleans()):
        exact = [[float(entry) for entry in row] for row in exact]
    as_text = {"unique_by": lambda label: None if label is None else code_label(label, "label")}
    names = [draw(st.lists(labels, min_size=size, max_size=size, **as_text)) for size in shape]
    return tl.Channel(exact, *names)


@given(channels(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_written_reads_back(tmp_path_factory, channel, in_file):
    folder = tmp_path_factory.mktemp("policy")
    mechanism = ChannelMechanism.from_file(saved(folder, channel)) if in_file else ChannelMechanism(channel)
    policy = Policy("ill", [Released("sex", Prefix(2), mechanism)])
    policy.save(folder / "plan.toml")
    assert Policy.from_toml(folder / "plan.toml") == policy
    assert ("mechanism.json" in (folder / "plan.toml").read_text()) == in_file


def test_a_file_is_named_as_seen_from_the_policy_with_its_digest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plans" / "found").mkdir(parents=True)
    path = saved(tmp_path / "plans" / "found")
    policy = Policy.from_toml(toml(tmp_path / "plans", '"found/mechanism.json"'))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    relative = ChannelMechanism.from_file("plans/found/mechanism.json")
    text = policy_toml(Policy("ill", [Released("sex", mechanism=relative)]), "plans")
    assert f'channel = {{file = "found/mechanism.json", sha256 = "{digest}"}}' in text
    (tmp_path / "plans" / "again.toml").write_text(text)
    assert Policy.from_toml(tmp_path / "plans" / "again.toml") == policy
    elsewhere = policy_toml(policy, tmp_path / "plans" / "found" / "deeper")
    assert "mechanism.json" not in elsewhere
    assert 'inputs = ["f", "m"]' in elsewhere
    assert 'outputs = ["woman", "man", "(missing)"]' in elsewhere


def test_a_file_that_changed_is_not_taken_for_the_one_that_was_audited(tmp_path):
    path = saved(tmp_path)
    plan = tmp_path / "plan.toml"
    Policy("ill", [Released("sex", mechanism=ChannelMechanism.from_file(path))]).save(plan)
    tl.Channel([[1, 0], [0, 1]], inputs=["f", "m"], outputs=["f", "m"]).save(path, force=True)
    with pytest.raises(
        InvalidInput, match=r"mechanism\.json is not the one that its policy was written with"
    ):
        Policy.from_toml(plan)
    path.unlink()
    with pytest.raises(InvalidInput, match=r"mechanism file .*mechanism\.json cannot be read: No such file"):
        Policy.from_toml(plan)


def test_the_file_stays_in_the_folder_of_the_policy(tmp_path):
    (tmp_path / "plans").mkdir()
    saved(tmp_path)
    for setting in ('"../mechanism.json"', '{file = "../mechanism.json"}'):
        plan = toml(tmp_path / "plans", setting)
        with pytest.raises(
            InvalidInput, match=r"release\.sex\.channel must be a file in the policy's folder or below"
        ):
            Policy.from_toml(plan)
        assert Policy.from_toml(plan, mappings_anywhere=True).release[0].mechanism == ChannelMechanism(SEXES)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("3", r'channel must be a file like "mechanism\.json", or a table, got 3'),
        ("{}", r"channel must be a file like"),
        ('"none.json"', r"mechanism file .*none\.json cannot be read: No such file"),
        ('""', "cannot be read: Is a directory"),
        ('{file = "mechanism.json", sha = "0"}', "must be a table of file and sha256"),
        ("{file = 3}", "must be a table of file and sha256"),
        ('{file = "mechanism.json", sha256 = 3}', "sha256 of a channel must be text, got 3"),
        ('{file = "mechanism.json", sha256 = "00"}', "is not the one that its policy was written with"),
        ('{channel = [["1/2"]], inputs = ["f"], outputs = ["x"]}', "must sum to 1"),
        ('{channel = [["1"]], inputs = ["f"]}', "outputs of a channel on a column must be named"),
        ('{channel = [["1"]], inputs = ["f"], outputs = ["x"], prior = ["1"]}', "prior"),
        ('"damaged.json"', r"damaged\.json"),
        ('"prior.json"', 'must have the key "channel" or "counts"'),
        ('"certificate.json"', "certificate"),
        ('"unnamed.json"', r"unnamed\.json: inputs of a channel on a column must be named, got none for 2"),
        ('"twins.json"', r'twins\.json: outputs of a channel on a column must differ as text, got "1" twice'),
        ('"twins-in.json"', r'inputs of a channel on a column must differ as text, got "\(missing\)" twice'),
        (
            '"pairs.json"',
            r"inputs of a channel on a column must be values as text or numbers, got \('f', 'm'\)",
        ),
    ],
    ids=str,
)
def test_what_is_no_channel_on_a_column_is_refused(tmp_path, setting, message):
    path = saved(tmp_path)
    (tmp_path / "damaged.json").write_text(path.read_text()[:-9])
    (tmp_path / "prior.json").write_text('{"prior": ["1/2", "1/2"]}')
    (tmp_path / "certificate.json").write_text('{"format": "tightlip nonsense 1"}')
    square = [["1/2", "1/2"], ["1/2", "1/2"]]
    tl.Channel(square).save(tmp_path / "unnamed.json")
    tl.Channel(square, ["f", "m"], [1, "1"]).save(tmp_path / "twins.json")
    tl.Channel(square, [None, "(missing)"], ["f", "m"]).save(tmp_path / "twins-in.json")
    tl.Channel(square, [("f", "m"), "m"], ["f", "m"]).save(tmp_path / "pairs.json")
    with pytest.raises((InvalidInput, CertificateInvalid), match=message) as caught:
        Policy.from_toml(toml(tmp_path, setting))
    assert "\n" not in str(caught.value)
    assert "plan.toml" in str(caught.value)


def test_what_is_given_in_python_is_checked_alike():
    with pytest.raises(WrongType, match="kernel must be a Channel"):
        ChannelMechanism(ROWS)
    wide = tl.Channel(np.full((1, MOST_ENTRIES + 1), 1 / (MOST_ENTRIES + 1)), outputs=range(MOST_ENTRIES + 1))
    with pytest.raises(InvalidInput, match=r"at most 1000000 entries, got 1 × 1000001; recode"):
        ChannelMechanism(wide)
    settings_ = {"randomized_response": 1, "channel": SEXES}
    with pytest.raises(InvalidInput, match="must have one mechanism, got randomized_response and channel"):
        read_released("sex", settings_, None)


def test_a_certificate_about_a_channel_has_it_too(tmp_path):
    """What an envelope's proof is about can be released as it is."""
    prior = tl.Prior({"f": "1/2", "m": "1/2"})
    channel = tl.Channel([["2/3", "1/3"], ["1/4", "3/4"]], inputs=["f", "m"], outputs=["f", "m"])
    tl.envelope(channel, prior, "1/10").certificate.save(tmp_path / "proof.json")
    assert ChannelMechanism.from_file(tmp_path / "proof.json").kernel == channel


# --- on a table ---

PEOPLE = pa.table({"sex": ["f", "m", "f", "m", "f", "f"] * 20, "ill": ["y", "n", "n", "n", "y", "n"] * 20})


def published(folder, people, policy, name="safe.parquet", **more):
    with open_table(people) as table:
        done = publish(table, policy, folder / name, **more)
    return done, pyarrow.parquet.read_table(folder / name).to_pylist()


@pytest.mark.parametrize(
    ("sex", "message"),
    [
        (["f", "x", "y"], "for every value that occurs, got none for 2 of 3; recode them"),
        (
            ["f", "m", None],
            r"for every value that occurs, got none for missing ones; add the input null \(None\)",
        ),
        (["F", "m"], "got none for 1 of 2"),
    ],
)
def test_values_without_an_input_are_refused_and_not_shown(tmp_path, sex, message):
    people = pa.table({"sex": sex, "ill": ["y", "n", "n"][: len(sex)]})
    policy = Policy("ill", [Released("sex", mechanism=SEXES)])
    for call in (
        lambda: published(tmp_path, people, policy),
        lambda: tl.audit(people, policy=policy),
        lambda: tl.release(people, policy, tmp_path / "safe.parquet"),
    ):
        with pytest.raises(InvalidInput, match=message) as caught:
            call()
        assert 'a channel from 2 values to 3 outcomes on column "sex": ' in str(caught.value)
        assert '"x"' not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("values", "inputs"),
    [
        ([1, 2, None], [1, "2", None]),
        ([1.0, 2.5, None], ["1", 2.5, "(missing)"]),
        ([True, False, None], ["true", False, None]),
        (["1", "", None], [1, "", None]),
    ],
)
def test_numbers_and_missing_values_find_their_inputs(tmp_path, values, inputs):
    people = pa.table({"sex": values * 3, "ill": ["y", "n", "n"] * 3})
    told = tl.Channel(np.eye(3), inputs=inputs, outputs=["one", "two", "none"])
    _, rows = published(tmp_path, people, Policy("ill", [Released("sex", mechanism=told)]))
    assert [row["sex"] for row in rows] == ["one", "two", "none"] * 3


def test_the_recoded_value_goes_into_the_channel(tmp_path):
    people = pa.table({"zip": ["012", "019", "023"], "ill": ["y", "n", "y"]})
    told = tl.Channel([[1], [1], [1]], inputs=["01", "02", "99"], outputs=["here"])
    done, rows = published(tmp_path, people, Policy("ill", [Released("zip", Prefix(2), told)]))
    assert [row["zip"] for row in rows] == ["here"] * 3
    assert not done.deterministic


def test_a_single_value_is_published_as_an_outcome_too(tmp_path):
    """Randomised response leaves such a column as it is; a channel has names of its own."""
    people = pa.table({"sex": ["f"] * 400, "ill": ["y", "n"] * 200})
    policy = Policy("ill", [Released("sex", mechanism=SEXES)])
    _, rows = published(tmp_path, people, policy, seed_for_tests=1)
    assert {row["sex"] for row in rows} == {"woman", None}
    assert tl.audit(people, policy=policy).views["ill"].worst.leakage == 0


def test_hidden_cells_may_look_like_an_outcome(tmp_path):
    people = pa.table(
        {"sex": ["f"] * 50 + ["m"] * 50 + ["m"], "b": ["u"] * 100 + ["v"], "ill": ["y"] * 99 + ["n"] * 2}
    )
    told = tl.Channel([["1/2", "1/2"], [0, 1]], inputs=["f", "m"], outputs=["woman", "*"])
    policy = Policy("ill", [Released("sex", mechanism=told), "b"], min_count=2)
    _, rows = published(tmp_path, people, policy, seed_for_tests=1)
    assert rows[-1] == {"sex": "*", "b": "*"}
    assert {row["sex"] for row in rows[50:]} == {"*"}
    assert 10 < sum(row["sex"] == "woman" for row in rows[:50]) < 40


@st.composite
def odd_channels(draw):
    """With denominators beyond 64 bits now and then."""
    size, wide = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    most = draw(st.sampled_from([3, 10**25]))
    weights = st.lists(st.integers(0, most), min_size=wide, max_size=wide).filter(any)
    return [
        [Fraction(one, sum(row)) for one in row]
        for row in draw(st.lists(weights, min_size=size, max_size=size))
    ]


@given(odd_channels())
@settings(max_examples=25, deadline=None)
def test_draws_have_the_odds_of_the_channel(rows):
    """Only outcomes of positive probability, as often as they should."""
    values, outcomes = [str(at) for at in range(len(rows))], [f"o{at}" for at in range(len(rows[0]))]
    channel = ChannelMechanism(tl.Channel(rows, values, outcomes)).channel(values)
    kernel = NoiseKernel.of(0, values, channel, np.arange(len(values)))
    for place, row in enumerate(rows):
        drawn = kernel.draw(np.full(4_000, place), RandomSource(seed_for_tests=place))
        found = Counter(kernel.outcomes[at][0] for at in drawn.tolist())
        chances = {name: chance for name, chance in zip(outcomes, row, strict=True) if chance}
        assert {*found} <= {*chances}
        often = [name for name, chance in chances.items() if 4_000 * chance > 5]
        if len(often) > 1 and len(often) == len(chances):
            expected = [4_000 * float(chances[name]) for name in often]
            assert chisquare([found[name] for name in often], expected, sum_check=False).pvalue > 1e-6


@given(odd_channels(), st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_an_outcome_stands_for_the_value_that_makes_it_likeliest(rows, people):
    outcomes = [str(at) for at in range(len(rows[0]))]
    found = ColumnChannel.of(outcomes, rows).likeliest(np.array(people[: len(rows)])).tolist()
    for outcome, value in enumerate(found):
        own = [row[outcome] for row in rows]
        assert own[value] == max(own)
        assert people[value] == min(people[at] for at in range(len(rows)) if own[at] == max(own))


def test_the_channel_has_the_rows_of_the_values_and_no_outcome_that_they_cannot_have():
    found = ChannelMechanism(SEXES).channel(["m"])
    assert found.outcomes == ("man", None)
    assert [found.probability(0, at) for at in range(2)] == [Fraction(1, 3), Fraction(2, 3)]
    floats = tl.Channel([[0.1, 0.9]], inputs=["m"], outputs=["a", "b"])
    exact = floats.exact().matrix[0]
    again = ChannelMechanism(floats).channel(["m"])
    assert [again.probability(0, at) for at in range(2)] == exact.tolist()


def test_a_channel_file_of_other_names_is_read_as_the_file_says(tmp_path):
    """Its prior may name the inputs, as in docs/channel-file.md."""
    record = {"prior": {"f": "1/2", "m": "1/2"}, "channel": [["1", "0"], ["0", "1"]], "outputs": ["a", "b"]}
    (tmp_path / "mechanism.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(record).encode())
    found = Policy.from_toml(toml(tmp_path, '"mechanism.json"'))
    assert tuple(found.release[0].mechanism.kernel.inputs) == ("f", "m")
    found.save(tmp_path / "again.toml")
    assert Policy.from_toml(tmp_path / "again.toml") == found
