"""Policies, certificates and channel files, damaged: refused by a clear error, or read as what they say."""

import contextlib
import io
import json
import tomllib
from fractions import Fraction

import tightlip as tl
from fuzz.damage import damaged, damaged_json
from tightlip.cli.channel_file import read_channel_file
from tightlip.cli.main import main
from tightlip.errors import TightlipError
from tightlip.table.policy import Policy
from tightlip.table.policy_text import policy_toml

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
    "[release.job]\nsuppress = true\n",
    '[release.town]\nmapping = { Bern = "CH", "Köln" = "DE" }\notherwise = "?"\n',
    "[release.visits]\ntop = 20\n",
]


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
    given = tomllib.loads(data.decode())["release"]
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
    """A channel is refused, or its rows are those of the file and sum to one."""
    record = _channel(random)
    path = folder / "channel.json"
    path.write_text(damaged_json(random, json.dumps(record)), encoding="utf-8", errors="replace")
    read = read_or_none(read_channel_file, path)
    if read is None:
        return
    given = json.loads(path.read_text(encoding="utf-8-sig"))["channel"]
    rows = [[Fraction(entry) for entry in row] for row in given]
    for row, own in zip(rows, read.channel.to_dict()["channel"], strict=True):
        assert abs(sum(row) - 1) <= Fraction(1, 10**9)
        assert all(abs(entry - Fraction(other)) <= 1e-9 for entry, other in zip(row, own, strict=True))


def _channel(random):
    size, width = random.randint(2, 3), random.randint(2, 3)
    rows = [[random.randint(0, 4) for _ in range(width - 1)] + [1] for _ in range(size)]
    masses = [random.randint(1, 4) for _ in range(size)]
    return {
        "prior": [f"{mass}/{sum(masses)}" for mass in masses],
        "channel": [[f"{entry}/{sum(row)}" for entry in row] for row in rows],
        "inputs": [f"s{place}" for place in range(size)],
        "outputs": [f"y{place}" for place in range(width)],
    }


def fuzz_certificate(random, folder):
    """A proof is refused, or what it says of the channel is true."""
    record = _channel(random)
    channel, path = folder / "channel.json", folder / "proof.json"
    channel.write_text(json.dumps(record))
    kernel, prior = (
        tl.Channel(record["channel"], record["inputs"], record["outputs"]),
        tl.Prior(record["prior"], record["inputs"]),
    )
    if random.random() < 0.5:
        true = tl.envelope(kernel, prior, Fraction(random.randint(1, 9), 10))
        delta = float(true.delta)
    else:
        true, delta = tl.statistic_maximal_leakage(kernel), None
    if true.certificate is None:
        return
    text = true.certificate.to_json()
    path.write_text(
        damaged_json(random, text) if random.random() < 0.9 else text, encoding="utf-8", errors="replace"
    )
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(["verify", str(path), "--channel", str(channel), "--json"])
    assert status in (0, 1, 2)
    assert status == 0 or said.getvalue().count("\n") == 1
    if status == 0:
        _check_claim(json.loads(shown.getvalue()), true, delta)


def _check_claim(claim, true, delta):
    """The claim must hold at its own δ: an envelope falls with δ, so one end can be compared on each side."""
    own = claim.get("delta")
    if own is None or own <= delta:
        assert float(claim["upper"]) >= true.lower
    if own is None or own >= delta:
        assert float(claim["lower"]) <= true.upper
