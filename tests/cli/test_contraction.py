"""The contraction command."""

import json

import pytest

import tightlip as tl
from tightlip.cli.main import main

EXAMPLE = {
    "prior": "uniform",
    "inputs": ["a", "b", "c"],
    "channel": [["1/2", "1/2", "0"], ["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]],
}


@pytest.fixture
def channel_file(tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps(EXAMPLE))
    return str(path)


def run(capsys, *arguments):
    status = main(["contraction", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_channel_json(capsys, channel_file):
    status, out, err = run(capsys, channel_file, "--min-mass", "1/10", "--gamma", "2,3/2", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    found = record["coefficients"]
    assert (found["tv"]["exact"], found["tv"]["pair"]) == ("1/2", ["a", "b"])
    assert found["kl"]["lower"] <= 0.5 <= found["kl"]["value"]
    assert found["prior"]["value"] == pytest.approx(14 / 65)
    assert found["E_2"]["exact"] == found["E_3/2"]["exact"] == "1/2"
    assert (record["capacity"]["ratio"], record["capacity"]["outcome"], record["capacity"]["secret"]) == (
        "6",
        2,
        "b",
    )
    assert record["capacity"]["prior"] == ["4/5", "1/10", "1/10"]
    assert record["bounds"]["tv"]["exact"] == "25/26"
    assert record["ldp"]["value"] == "inf"


def test_an_exact_coefficient_is_shown_exactly(capsys, tmp_path):
    path = tmp_path / "channel.json"
    path.write_text(json.dumps({"channel": [["9/10", "1/10"], ["1/10", "9/10"]]}))
    assert "│ 0.8 │ 0.8 │" in " ".join(run(capsys, path)[1].split())


def test_channel_text_and_bits(capsys, channel_file):
    out = " ".join(run(capsys, channel_file, "--min-mass", "0.1")[1].split())
    assert "a and b" in out
    assert "1.79176 nats, at outcome 2 about secret b; LDP: infinite." in out
    assert "reach it for no q" in out
    bits = json.loads(run(capsys, channel_file, "--min-mass", "0.1", "--unit", "bits", "--json")[1])
    assert bits["capacity"]["value"] == pytest.approx(2.5849625)
    assert bits["bounds"]["epsilon"] == pytest.approx(1.7917595)  # levels of bounds stay in nats


def test_without_a_smallest_mass_any_prior_is_meant(capsys, channel_file):
    record = json.loads(run(capsys, channel_file, "--json")[1])
    assert record["capacity"]["value"] == "inf"
    assert record["bounds"]["constants"]["kl"]["exact"] == "inf"
    assert record["bounds"]["tv"]["value"] == 1


def test_level(capsys):
    status, out, _ = run(capsys, "--n", 10, "--epsilon", "log(10/3)", "--min-mass", "0.05", "--json")
    bounds = json.loads(out)["bounds"]
    assert (status, bounds["tv"]["exact"], bounds["block_kernels"]) == (0, "7/8", [4, 6])
    assert bounds["constants"]["kl"]["exact"] == pytest.approx(0.8582255964, abs=1e-9)
    assert bounds["constants"]["h2"]["paper"] == pytest.approx(0.4207143601, abs=1e-9)
    text = " ".join(run(capsys, "--n", 4, "--epsilon", "0.1", "--min-mass", "0.1")[1].split())
    assert "ε = 0.1 nats" in text
    assert "0.0054" in text
    assert "0.0321" in text


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_charts(capsys, channel_file, tmp_path, suffix):
    picture = tmp_path / f"picture{suffix}"
    command = (channel_file, "--min-mass", "1/10", "--chart", picture)
    assert run(capsys, *command)[0] == 0
    assert len(picture.read_bytes()) > 3000
    assert list(tmp_path.glob(".*")) == []
    assert "exists already" in run(capsys, *command)[2]
    assert run(capsys, *command, "--force")[0] == 0


def test_the_chart_of_an_infinite_level_stops_somewhere(capsys, channel_file, tmp_path):
    picture = tmp_path / "picture.svg"
    assert run(capsys, channel_file, "--chart", picture)[0] == 0
    assert picture.stat().st_size > 3000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--n and --epsilon"),
        (("--n", "3"), "--n and --epsilon"),
        (("FILE", "--n", "3"), "--n cannot be used with a channel file"),
        (("FILE", "--epsilon", "1"), "--epsilon cannot be used with"),
        (("--n", "3", "--epsilon", "1", "--gamma", "2"), "--gamma cannot be used without"),
        (("--n", "3", "--epsilon", "1", "--min-mass", "0.5"), "1/3"),
        (("--n", "1", "--epsilon", "1"), "at least 2"),
        (("--n", "3", "--epsilon", "-1"), "negative"),
        (("FILE", "--gamma", "0.5"), "at least 1"),
        (("FILE", "--chart", "x.pdf"), "must end in"),
        (("missing.json",), "cannot be read"),
    ],
)
def test_bad_requests(capsys, channel_file, arguments, words):
    status, out, err = run(capsys, *(channel_file if part == "FILE" else part for part in arguments))
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_labels_that_would_garble_the_terminal_are_shown_harmlessly(capsys, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({**EXAMPLE, "inputs": ["\x1b[31mred", "[bold]b", "c"]}))
    out = run(capsys, path, "--min-mass", "0.1")[1]
    assert "\x1b[31m" not in out
    assert "[bold]b" in out
    assert tl.__version__


def test_a_level_beyond_every_float_is_refused(capsys):
    status, out, err = run(capsys, "--n", 3, "--epsilon", "1e400", "--json")
    assert (status, out) == (2, "")
    assert "write inf for no bound" in err
    assert run(capsys, "--n", 3, "--epsilon", "inf", "--json")[0] == 0
