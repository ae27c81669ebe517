"""The envelope command for one noisy real value, without a channel file."""

import json
import math
import re

import pytest

import tightlip as tl
from tightlip.cli.envelope import read_release
from tightlip.cli.main import main

GAUSSIAN = ("--secret", "gaussian:1", "--noise", "gaussian:1")
COIN = ("--secret", "discrete:0=0.7,1=0.3", "--noise", "laplace:1")
WHERE_DUALS_HOLD = -math.log(0.3 + 0.7 / math.e)


def run(capsys, *arguments):
    status = main(["envelope", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def record_of(capsys, *arguments):
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(
    ("secret", "noise", "expected"),
    [
        (
            "gaussian:2",
            "laplace:1/3",
            tl.noise.AdditiveNoise(tl.noise.GaussianSecret(2), tl.noise.Laplace("1/3")),
        ),
        (
            "gaussian:0.1,-1/3",
            "gaussian:2",
            tl.noise.AdditiveNoise(tl.noise.GaussianSecret("0.1", "-1/3"), tl.noise.Gaussian(2)),
        ),
        (
            "Uniform: -1, 1",
            "gaussian:1",
            tl.noise.AdditiveNoise(tl.noise.UniformSecret(-1, 1), tl.noise.Gaussian(1)),
        ),
        (
            "bounded:0,1e3",
            "laplace:1",
            tl.noise.AdditiveNoise(tl.noise.BoundedSecret(0, 1000), tl.noise.Laplace(1)),
        ),
        (
            "discrete:0=1/3,1=2/3",
            "laplace:1",
            tl.noise.AdditiveNoise(tl.noise.DiscreteSecret([0, 1], ["1/3", "2/3"]), tl.noise.Laplace(1)),
        ),
    ],
)
def test_releases_are_read_exactly(secret, noise, expected):
    assert read_release(secret, noise) == expected


def test_infinite_with_the_attack(capsys):
    record = record_of(capsys, *GAUSSIAN, "--delta", "0.3")
    (point,) = record["points"]
    assert (point["lower"], point["upper"], point["epsilon"]["value"]) == ("inf", "inf", "inf")
    assert (record["secret"], record["noise"], record["adversary"]) == ("gaussian:1", "gaussian:1", "any")
    assert "leak at least 3.50655 nats each" in point["attack"][0]  # log(10/0.3) = 3.506557…
    out = run(capsys, *GAUSSIAN, "--delta", "0.3", "--unit", "bits")[1]
    assert out.count("infinite") == 2
    assert "5.0588" in out


def test_an_attack_that_cannot_be_certified_is_left_out(capsys):
    record = record_of(capsys, "--secret", "gaussian:1", "--noise", "gaussian:1e-12", "--delta", "0.3")
    assert record["points"][0]["upper"] == "inf"
    assert record["points"][0]["attack"] == []


def test_interval_and_binary(capsys):
    (interval,) = record_of(capsys, *GAUSSIAN, "--delta", "0.1", "--adversary", "ordered")["points"]
    assert interval["lower"] <= math.log(20) <= interval["upper"] <= interval["lower"] + 1e-14
    (event,) = record_of(capsys, *GAUSSIAN, "--delta", "0.1", "--adversary", "binary", "--unit", "bits")[
        "points"
    ]
    assert event["lower"] <= math.log2(10) <= event["upper"] <= event["lower"] + 1e-14


def test_a_bounded_secret_has_two_ends_and_a_range_to_compare_with(capsys):
    (point,) = record_of(capsys, *COIN, "--delta", "0.1", "--compare")["points"]
    assert point["lower"] <= WHERE_DUALS_HOLD <= point["upper"] <= point["lower"] + 1e-4
    assert point["compared"] == {"range": 1.0}
    assert 'points to secret "x = 1.0"' in point["attack"][0]
    (anyone,) = record_of(
        capsys, "--secret", "bounded:0,1", "--noise", "laplace:1", "--compare", "--delta", "0.1"
    )["points"]
    assert (anyone["lower"], anyone["upper"], anyone["compared"]) == (0, 1, {})


@pytest.mark.parametrize(
    "secret", ["uniform:0,0.5", "uniform:1e15,1000000000000001"]
)  # the last has numbered cells
def test_neighbouring_cells_of_an_attack_are_one_interval(capsys, secret):
    (point,) = record_of(capsys, "--secret", secret, "--noise", "laplace:1", "--delta", "0.3")["points"]
    assert point["attack"]
    for told in point["attack"]:
        assert "(-inf, " in told or ", inf) as one points to secret" in told
        assert told.count("(") <= 4


def test_cells_that_are_used_in_part_are_told(capsys):
    secret = "--secret", "uniform:0,0.5", "--noise", "laplace:1"
    (point,) = record_of(capsys, *secret, "--delta", "0.8")["points"]
    assert re.search(r"reading Y in .*\d % of the time", point["attack"][0])


def test_other_adversaries_to_compare_with(capsys):
    for adversary, others in (
        ("any", {"ordered", "event"}),
        ("deterministic", {"ordered", "event"}),
        ("ordered", {"any", "event"}),
        ("binary", {"any", "ordered"}),
    ):
        (point,) = record_of(capsys, *GAUSSIAN, "--delta", "0.1", "--adversary", adversary, "--compare")[
            "points"
        ]
        assert set(point["compared"]) == others
        assert point["compared"].get("any", "inf") == "inf"
        assert point["compared"].get("ordered", math.log(20)) == pytest.approx(math.log(20))
    row = next(line for line in run(capsys, *GAUSSIAN, "--compare")[1].splitlines() if "│  0.1 " in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "0.1",
        "infinite",
        "infinite",
        "2.99574",
        "2.30259",
    ]


def test_charts_name_what_is_infinite(capsys, tmp_path):
    picture = tmp_path / "curve.svg"
    assert run(capsys, *GAUSSIAN, "--delta", "0.1,0.5", "--chart", picture)[0] == 0
    text = picture.read_text()
    for words in ("infinite at every δ: any adversary (guaranteed)", "ordered adversary", "one event"):
        assert words in text
    assert run(capsys, *COIN, "--delta", "0.9", "--chart", tmp_path / "coin.svg")[0] == 0
    assert "infinite at every" not in (tmp_path / "coin.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either a channel file or both --secret and --noise, got neither"),
        (("x.json", *GAUSSIAN), "got a file, --secret, --noise"),
        (("x.json", *GAUSSIAN[:2]), "got a file, --secret."),
        (GAUSSIAN[:2], "got --secret."),
        (GAUSSIAN[2:], "got --noise."),
        ((*GAUSSIAN, "--adversary", "k-ary", "--symbols", "3"), "need a channel file, got --noise"),
        ((*GAUSSIAN, "--adversary", "deterministic", "--symbols", "3"), "need a channel file, got --noise"),
        (
            (*GAUSSIAN, "--delta", "0.1,0.2", "--certificate", "x.json"),
            "--certificate needs one --delta, got 2",
        ),
        ((*COIN, "--adversary", "ordered"), "use --adversary any, whose upper end also holds for intervals"),
        ((*COIN, "--adversary", "binary"), "adversary binary needs an unbounded secret"),
        (("--secret", "uniform:0,200", "--noise", "gaussian:1"), "--secret bounded:LOW,HIGH has a bound"),
        (("--secret", "cauchy:1", "--noise", "gaussian:1"), "--secret must be one of gaussian:SIGMA[,MEAN]"),
        (("--secret", "gaussian", "--noise", "gaussian:1"), "--secret must be written gaussian:SIGMA[,MEAN]"),
        (("--secret", "uniform:1", "--noise", "gaussian:1"), "--secret must be written uniform:LOW,HIGH"),
        (("--secret", "uniform:1,1", "--noise", "gaussian:1"), "a constant secret is discrete:X=1"),
        (("--secret", "gaussian:1", "--noise", "gaussian:0"), '--noise "gaussian:0": sigma must be positive'),
        (("--secret", "gaussian:nan", "--noise", "gaussian:1"), '--secret "gaussian:nan"'),
        (("--secret", "discrete:0,1", "--noise", "gaussian:1"), '--secret "discrete:0,1"'),
        (("--secret", "discrete:0=1/2,1=1/3", "--noise", "gaussian:1"), "must sum to 1"),
    ],
)
def test_bad_requests(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
