"""Policies and channel files, damaged: refused by a clear error, or read as what they say."""

import json
import tomllib
from fractions import Fraction

from fuzz.damage import damaged, damaged_json
from tightlip.cli.arguments import read_channel_file
from tightlip.errors import TightlipError
from tightlip.table.policy import Policy
from tightlip.table.policy_file import policy_toml

_HEADS = [
    'secret = "ill"\n',
    'secret = ["ill", "income"]\nstatistic = "ill"\n',
    "secret = 'ill'\nmin_count = 5\n",
]
_RELEASED = [
    "[release.age]\nbins = 10\n",
    "[release.weight]\nbins = { edges = [18, 30.5, 65] }\n",
    "[release.height]\nbins = { width = 5, origin = 2 }\n",
    "[release.zip]\nprefix = 3\n",
    '[release.sex]\nrandomized_response = "log 3"\n',
    "[release.smoker]\nbottom = 40\nrandomized_response = 1.5\n",
    '[release.ward]\nchannel = {inputs = ["a", "(missing)"], outputs = ["x"], channel = [["1"], [1]]}\n',
    "[release.job]\nsuppress = true\n",
    '[release.town]\nmapping = { Bern = "CH", "Köln" = "DE" }\notherwise = "?"\n',
    "[release.visits]\ntop = 20\n",
]
# what a sum may be off by before a file is refused
_NEAR = Fraction(1, 10**9) * 2


def fuzz_policy(random, folder):
    """A policy is refused, or TOML, and what is written of it reads back."""
    text = random.choice(_HEADS) + "".join(random.sample(_RELEASED, random.randint(1, 4)))
    hurt = random.random() < 0.8
    data = damaged(random, text.encode()) if hurt else text.encode()
    path = folder / "policy.toml"
    path.write_bytes(data)
    policy = read_or_none(Policy.from_toml, path)
    if policy is None:
        assert hurt
        return
    given = tomllib.loads(data.decode("utf-8-sig"))["release"]
    assert [item.column for item in policy.release] == list(given)
    path.write_text(policy_toml(policy), encoding="utf-8", newline="")
    assert Policy.from_toml(path) == policy


def read_or_none(read, path):
    """What is read; None where it is refused in one line."""
    try:
        return read(path)
    except TightlipError as error:
        said = str(error)
    assert "\n" not in said
    return None


def fuzz_channel(random, folder):
    """A channel file is refused, or what is read are the rows, names, prior and secrets of the file."""
    record = channel_record(random)
    path = folder / "channel.json"
    hurt = random.random() < 0.8
    text = damaged_json(random, json.dumps(record)) if hurt else json.dumps(record)
    path.write_text(text, encoding="utf-8", errors="replace")
    read = read_or_none(read_channel_file, path)
    if read is None:
        assert hurt
        return
    given = json.loads(path.read_text(encoding="utf-8-sig"))
    rows, prior, labels = _plain_channel(given)
    for row, own in zip(rows, read.channel.to_dict()["channel"], strict=True):
        assert_near(own, row)
    assert [*map(repr, read.channel.outputs)] == named(given.get("outputs") or range(len(rows[0])))
    assert [*map(repr, read.channel.inputs)] == named(_inputs(given, len(rows)))
    assert (read.prior is None) == (prior is None)
    if prior is not None:
        assert_near(read.prior.to_dict()["prior"], prior)
        assert [*map(repr, read.prior.labels)] == named(labels)
    assert (read.secret is None) == (given.get("secret") is None)
    assert read.secret is None or [*map(repr, read.secret)] == named(given["secret"])


def channel_record(random):
    """A channel file: a prior in any form, or counts; names and secrets at times."""
    size, width = random.randint(2, 3), random.randint(2, 3)
    counts = [[random.randint(0, 4) for _ in range(width - 1)] + [1] for _ in range(size)]
    masses = [random.randint(1, 4) for _ in range(size)]
    prior = [f"{mass}/{sum(masses)}" for mass in masses]
    inputs = random.choice(
        [[f"s{place}" for place in range(size)], [*range(size)], [["a", 1], None, "x"][:size]]
    )
    record = {"channel": [[f"{entry}/{sum(row)}" for entry in row] for row in counts]}
    if random.random() < 0.3:
        record["channel"] = [[entry / sum(row) for entry in row] for row in counts]
    form = random.randrange(6)
    if form < 2:
        record["prior"] = prior
    elif form == 2:
        names = [str(as_label(name)) for name in inputs]
        record["prior"] = dict(random.sample([*zip(names, prior, strict=True)], size))
    elif form == 3:
        record |= {"prior": prior, "labels": random.sample(inputs, size)}
    elif form == 4:
        record["prior"] = "uniform"
    else:
        record = {"counts": counts}
    for key, value in (("inputs", inputs), ("outputs", [f"y{place}" for place in range(width)])):
        if random.random() < 0.7:
            record[key] = value
    if random.random() < 0.3:
        record["secret"] = [random.choice(["low", "high", 1, None, ["a", 2]]) for _ in range(size)]
    return record


def _plain_channel(given):
    """Rows, prior (None where there is none) and its labels, as a file gives them."""
    if "counts" in given:
        rows = [[Fraction(entry) for entry in row] for row in given["counts"]]
        total, names = sum(map(sum, rows)), _inputs(given, len(rows))
        return (
            [[entry / sum(row) for entry in row] for row in rows],
            [sum(row) / total for row in rows],
            names,
        )
    rows = [[Fraction(entry) for entry in row] for row in given["channel"]]
    assert all(abs(sum(row) - 1) <= _NEAR for row in rows)
    prior, names = given.get("prior"), _inputs(given, len(rows))
    if prior is None:
        return rows, None, None
    if prior == "uniform":
        return rows, [Fraction(1, len(rows))] * len(rows), names
    if isinstance(prior, dict):
        by_text = {str(as_label(name)): name for name in names}
        return rows, [*map(Fraction, prior.values())], [by_text.get(key, key) for key in prior]
    return rows, [*map(Fraction, prior)], names if given.get("labels") is None else given["labels"]


def _inputs(given, size):
    if given.get("inputs") is not None:
        return given["inputs"]
    return list(given["prior"]) if isinstance(given.get("prior"), dict) else range(size)


def assert_near(found, expected):
    """Numbers are the same, but for what is divided out so that they sum to 1."""
    assert len(found) == len(expected)
    assert all(abs(Fraction(one) - other) <= _NEAR for one, other in zip(found, expected, strict=True))


def named(labels):
    """Labels of a file as they must be read, with their types: 1, true and 1.0 are three, and lists are tuples."""
    return [repr(as_label(label)) for label in labels]


def as_label(value):
    """A label as it was before JSON."""
    return tuple(map(as_label, value)) if isinstance(value, (list, tuple)) else value
