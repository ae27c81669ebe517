"""The program as people run it: what it prints, where, and its exit status."""

import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import tightlip as tl
from tightlip.cli.main import main

EXAMPLE = {
    "prior": {"a": "1/5", "b": "4/5"},
    "channel": [["3/4", "1/4"], ["1/4", "3/4"]],
    "outputs": ["+", "-"],
}


@pytest.fixture(autouse=True)
def _plain_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def channel_file(tmp_path):
    def write(record, name="channel.json"):
        path = tmp_path / name
        path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
        return str(path)

    return write


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def refused(capsys, *arguments):
    """Exit 2, one line on stderr, nothing on stdout; the line."""
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("tightlip: ")
    assert err.count("\n") == 1
    return err


class TestMeasure:
    def test_json_holds_every_measure(self, capsys, channel_file):
        status, out, err = run(capsys, "measure", channel_file(EXAMPLE), "--json")
        record = json.loads(out)
        assert (status, err) == (0, "")
        channel, prior = tl.Channel(EXAMPLE["channel"], ["a", "b"], ["+", "-"]), tl.Prior(EXAMPLE["prior"])
        expected = {
            "pml": tl.pml(channel, prior).worst,
            "pmc": tl.pmc(channel, prior).worst,
            "maximal_leakage": tl.maximal_leakage(channel),
            "maximal_cost_leakage": tl.measures.maximal_cost_leakage(channel),
            "maximal_realizable_cost": tl.measures.maximal_realizable_cost(channel, prior),
            "ldp": tl.ldp(channel),
            "lip": tl.lip(channel, prior),
            "alip_lower": tl.alip(channel, prior).lower,
            "alip_upper": tl.alip(channel, prior).upper,
        }
        assert {name: entry["value"] for name, entry in record["measures"].items()} == expected
        assert all(entry["unit"] == "nats" and entry["ratio"] for entry in record["measures"].values())
        assert record["measures"]["pml"]["outcome"] == "+"
        assert record["levels"][0]["pml_tail"] == {"value": 0.35000000000000003, "exact": "7/20"}
        assert [entry["delta"] for entry in record["quantiles"]] == [0.1, 0.05, 0.01]
        assert [entry["outcome"] for entry in record["outcomes"]] == ["+", "-"]
        assert record["headline"] == (
            'The largest factor: outcome "+" raises the probability of secret "a" from 20 % to 42.9 %. '
            'The most certain guess: outcome "-" makes secret "b" 92.4 % likely (80 % before).'
        )

    def test_text_says_the_same(self, capsys, channel_file):
        status, out, err = run(capsys, "measure", channel_file(EXAMPLE))
        assert (status, err) == (0, "")
        for part in ("from 20 % to 42.9 %", "nats", "0.762141", "15/7", "P(PML > ε)", "worst first", "exact"):
            assert part in out

    def test_bits(self, capsys, channel_file):
        _, out, _ = run(capsys, "measure", channel_file(EXAMPLE), "--json", "--unit", "bits")
        record = json.loads(out)
        assert record["measures"]["ldp"]["value"] == pytest.approx(math.log2(3))
        assert record["measures"]["ldp"]["unit"] == "bits"
        assert record["outcomes"][0]["pml"] == pytest.approx(math.log2(15 / 7))
        _, text, _ = run(capsys, "measure", channel_file(EXAMPLE), "--unit", "bits")
        assert "bits" in text
        assert "nats" not in text

    def test_infinite_is_said_as_infinite(self, capsys, channel_file):
        record = {"prior": "uniform", "channel": [[1, 0], [0, 1]]}
        _, out, _ = run(capsys, "measure", channel_file(record), "--json")
        assert json.loads(out)["measures"]["ldp"]["value"] == "inf"
        _, text, _ = run(capsys, "measure", channel_file(record))
        assert "infinite" in text

    def test_floats_adjustments_and_silence(self, capsys, channel_file):
        record = {"prior": [0.5, 0.5 + 4e-10], "channel": [[0.3, 0.7], [0.3, 0.7 + 5e-10]]}
        out = " ".join(run(capsys, "measure", channel_file(record))[1].split())
        assert "by a factor of at most 1.00001 from 50 %" in out
        assert "The channel was off by 5e-10 and was renormalised." in out
        assert "The prior was off by 4e-10 and was renormalised." in out
        assert "floats, rounded up" in out
        same = {"prior": [0.5, 0.5], "channel": [[0.3, 0.7], [0.3, 0.7]]}
        assert "No outcome says anything" in run(capsys, "measure", channel_file(same))[1]
        telling = {"prior": [0.05, 0.95], "channel": [[0.9, 0.1], [0.2, 0.8]]}
        assert "from 5 % to 19.2 %" in run(capsys, "measure", channel_file(telling))[1]

    def test_counts_give_channel_and_prior(self, capsys, channel_file):
        counts = {"counts": [[3, 1], [4, 12]], "inputs": ["a", "b"], "outputs": ["+", "-"]}
        found = json.loads(run(capsys, "measure", channel_file(counts), "--json")[1])
        wanted = json.loads(run(capsys, "measure", channel_file(EXAMPLE), "--json")[1])
        assert found["measures"] == wanted["measures"]

    def test_standard_input(self, capsys, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(EXAMPLE)))
        assert json.loads(run(capsys, "measure", "-", "--json")[1])["measures"]["ldp"]["ratio"] == "3"

    def test_the_headline_does_not_hide_certainty_or_exclusion(self, capsys, channel_file):
        record = {
            "prior": {"sick": "0.5", "well": "0.4999999", "odd": "0.0000001"},
            "channel": [["0.99", "0.01"], ["0.01", "0.99"], [1, 0]],
            "outputs": ["x", "y"],
        }
        said = json.loads(run(capsys, "measure", channel_file(record), "--json")[1])["headline"]
        assert "The most certain guess: outcome " in said
        assert "99 % likely (50 % before)." in said
        assert 'Outcome "y" rules out secret "odd".' in said

    @pytest.mark.parametrize("width", ["40", "60", "200"])
    def test_narrow_terminals_never_cut_a_guarantee(self, capsys, channel_file, monkeypatch, width):
        monkeypatch.setenv("COLUMNS", width)
        assert "…" not in run(capsys, "measure", channel_file(EXAMPLE))[1]

    def test_many_outcomes_are_cut_unless_all_are_asked_for(self, capsys, channel_file):
        size = 30
        rows = [[(1 + (row + column) % 3) for column in range(size)] for row in range(2)]
        rows = [[f"{entry}/{sum(row)}" for entry in row] for row in rows]
        path = channel_file({"prior": "uniform", "channel": rows})
        assert "20 of 30; --all shows every one" in run(capsys, "measure", path)[1]
        assert "--all" not in run(capsys, "measure", path, "--all")[1]

    def test_prior_forms(self, capsys, channel_file):
        wanted = json.loads(run(capsys, "measure", channel_file(EXAMPLE), "--json")[1])["measures"]
        forms = (
            {**EXAMPLE, "prior": ["1/5", "4/5"], "inputs": ["a", "b"]},
            {**EXAMPLE, "prior": {"b": "4/5", "a": "1/5"}, "inputs": ["a", "b"]},
            {**EXAMPLE, "prior": ["4/5", "1/5"], "labels": ["b", "a"], "inputs": ["a", "b"]},
        )
        for form in forms:
            assert json.loads(run(capsys, "measure", channel_file(form), "--json")[1])["measures"] == wanted
        numbered = {**EXAMPLE, "prior": {"2": "4/5", "1": "1/5"}, "inputs": [1, 2]}
        found = json.loads(run(capsys, "measure", channel_file(numbered), "--json")[1])["measures"]
        assert found["pml"]["value"] == wanted["pml"]["value"]
        assert found["pml"]["secret"] == 1

    @pytest.mark.parametrize(
        ("record", "message"),
        [
            ({"channel": [[1]]}, 'must have the key "prior"'),
            ({"prior": [1]}, 'must have the key "channel" or "counts"'),
            ({"counts": [[1]], "channel": [[1]]}, "and not both"),
            ({"counts": [[1]], "prior": [1]}, "the row totals are the prior"),
            ({"counts": [[1, 2], [0, 0]]}, "counts row 1 (1) must not be all zero"),
            ({"prior": "flat", "channel": [[1]]}, '"uniform", got "flat"'),
            ({"prior": [1], "channel": [[1]], "colour": 1}, 'unknown key "colour"'),
            ({"prior": [0.5, 0.5], "channel": [[1]]}, "one mass for each of 1 channel rows, got 2"),
            ({"prior": [0.5, 0.4], "channel": [[1], [1]]}, "prior must sum to 1 within 1e-09, got 0.9"),
            ({"prior": [0.5, 0.5], "channel": [[1, 0], [0.5, 0.4]]}, "channel row 1 must sum to 1"),
            ({"prior": [3, 4], "channel": [[1], [1]]}, "got 7; divide counts by their sum."),
            ({"prior": [1], "channel": [[3, 4]]}, "got 7; divide counts by their sum."),
            (
                {"prior": [1], "channel": [[1]], "secret": [1, 2]},
                "secret must be a list with one label for each",
            ),
            ("{", "must be valid JSON"),
            ("[]", "must be an object"),
            ('{"prior": [1], "channel": [[NaN]]}', "finite numbers only, got NaN"),
            ('{"prior": [1], "prior": [1], "channel": [[1]]}', 'distinct keys, got "prior" twice'),
        ],
    )
    def test_bad_files(self, capsys, channel_file, record, message):
        assert message in refused(capsys, "measure", channel_file(record))

    def test_unreadable_files(self, capsys, tmp_path):
        assert "No such file" in refused(capsys, "measure", str(tmp_path / "nothing.json"))
        assert "Is a directory" in refused(capsys, "measure", str(tmp_path))
        broken = tmp_path / "latin.json"
        broken.write_bytes(b'{"prior": ["\xe9"]}')
        assert "must be UTF-8 text, got byte 0xe9 at position 12" in refused(capsys, "measure", str(broken))

    @pytest.mark.parametrize(
        ("option", "value", "message"),
        [
            ("--delta", "0", "delta must be strictly between 0 and 1, got 0"),
            ("--delta", "", "delta must be one or more numbers"),
            ("--delta", "x", 'delta must be a finite number, got "x"'),
            ("--epsilon", "-1", "epsilon must not be negative"),
            ("--epsilon", "log(0)", "ratio must be positive"),
            ("--epsilon", "inf", "finite non-negative number of nats"),
            ("--unit", "decibels", "decibels"),
        ],
    )
    def test_bad_options(self, capsys, channel_file, option, value, message):
        assert message in refused(capsys, "measure", channel_file(EXAMPLE), option, value)

    def test_labels_can_do_no_harm_in_the_terminal(self, capsys, channel_file):
        record = {**EXAMPLE, "outputs": ["[red]x[/red]", "\x1b[31mred\nline"]}
        _, out, _ = run(capsys, "measure", channel_file(record))
        assert "\x1b" not in out
        assert "[red]x[/red]" in out


class TestConvert:
    def test_one_target(self, capsys):
        status, out, err = run(capsys, "convert", "ldp", "1.0", "--to", "pml", "--min-mass", "0.2", "--json")
        record = json.loads(out)
        assert (status, err) == (0, "")
        assert record["value"] == pytest.approx(-math.log(0.2 + 0.8 * math.exp(-1)))
        assert record["implied"][0]["guarantee"] == "PML"
        assert record["given"] == {
            "guarantee": "LDP",
            "epsilon": [1.0],
            "epsilon_exact": ["1"],
            "words": ["1"],
            "unit": "nats",
        }

    def test_exact_levels(self, capsys):
        _, out, _ = run(capsys, "convert", "pml", "log(6/5)", "--to", "pmc", "--min-mass", "1/5", "--json")
        assert json.loads(out)["implied"][0]["amounts"][0]["ratio"] == "5"

    def test_everything_implied(self, capsys):
        _, out, _ = run(capsys, "convert", "pml", "1.0", "--min-mass", "0.2")
        for part in ("What PML 1 nat implies", "infinite", "nats is not below log", "LDP", "ALIP"):
            assert part in out

    def test_bits_and_pairs(self, capsys):
        command = (
            "convert",
            "alip",
            "0.5,0.25",
            "--to",
            "ldp",
            "--min-mass",
            "0.1",
            "--unit",
            "bits",
            "--json",
        )
        assert json.loads(run(capsys, *command)[1])["value"] == pytest.approx(0.75 / math.log(2))
        pair = json.loads(
            run(capsys, "convert", "ldp", "1", "--to", "alip", "--min-mass", "0.2", "--json")[1]
        )["value"]
        assert pair[0] > pair[1]

    def test_definitions_need_no_prior(self, capsys):
        assert json.loads(run(capsys, "convert", "lip", "0.5", "--to", "ldp", "--json")[1])[
            "value"
        ] == pytest.approx(1)
        assert "any prior" in run(capsys, "convert", "alip", "0.5,0.2")[1]
        assert json.loads(run(capsys, "convert", "LDP", "0.5", "--to", "PML", "--json")[1])["value"] == 0.5
        assert "for any prior" in run(capsys, "convert", "ldp", "0.5")[1]

    def test_what_is_given_is_shown_as_given(self, capsys):
        lines = run(capsys, "convert", "pml", "0.1", "--min-mass", "0.2")[1].splitlines()
        assert any("0.1 " in line and "given" in line for line in lines)
        bits = run(capsys, "convert", "lip", "log(3)", "--unit", "bits")[1].splitlines()
        assert any("1.58497 " in line and "given" in line for line in bits)  # log2(3) = 1.584962…

    @pytest.mark.parametrize("given", [("ldp", "1"), ("lip", "1"), ("alip", "0.5,1")])
    @pytest.mark.parametrize("prior", [(), ("--min-mass", "0.4")])
    def test_what_is_given_has_a_row(self, capsys, given, prior):
        implied = json.loads(run(capsys, "convert", *given, *prior, "--json")[1])["implied"]
        assert [entry["guarantee"] for entry in implied] == ["LDP", "PML", "PMC", "LIP", "ALIP"]
        own = next(entry for entry in implied if entry["guarantee"] == given[0].upper())
        if not prior:
            assert own["why"] == "given"
            assert [amount["value"] for amount in own["amounts"]] == [float(x) for x in given[1].split(",")]

    def test_natural_logarithms_have_two_names(self, capsys):
        one, two = (run(capsys, "convert", "ldp", f"{name}(3)", "--json")[1] for name in ("log", "ln"))
        assert one == two

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ("pml", "1", "--to", "pmc", "--min-mass", "0.2"),
                "must be below log 1/(1−p_min) = 0.223143551314",
            ),
            (("pml", "1", "--to", "pmc"), "--min-mass must be given"),
            (("ldp", "1", "--to", "pml", "--min-mass", "0.7"), "or 1 for one single secret, got 7/10"),
            (("ldp", "1,2", "--min-mass", "0.2"), 'must be one number for ldp, got "1,2"'),
            (("alip", "1", "--min-mass", "0.2"), 'must be a pair lower,upper for alip, got "1"'),
            (("lip", "1", "--to", "lip"), "--to must differ from lip"),
            (("xyz", "1", "--min-mass", "0.2"), "xyz"),
            (("ldp", "nan", "--min-mass", "0.2"), 'finite number, got "nan"'),
            (("ldp",), "Missing argument"),
        ],
    )
    def test_refusals(self, capsys, arguments, message):
        assert message in refused(capsys, "convert", *arguments)


class TestProgram:
    def test_version_help_and_unknown_commands(self, capsys):
        assert run(capsys, "--version")[:2] == (0, f"tightlip {tl.__version__}\n")
        status, out, _ = run(capsys, "--help")
        assert status == 0
        assert "measure" in out
        assert "No such command 'measured'" in refused(capsys, "measured")

    @pytest.mark.parametrize(
        "command",
        ["audit", "measure", "envelope", "verify", "sml", "contraction", "plan", "convert", "design"],
    )
    def test_help_speaks_of_what_to_write(self, capsys, command):
        out = run(capsys, command, "--help")[1]
        usage = next(line for line in out.splitlines() if "Usage:" in line)
        assert not any(kind in out for kind in ("list[", "<bool>"))
        assert "{" not in usage
        options = [line for line in out.splitlines() if line.lstrip("│ *").startswith("--")]
        assert not [line for line in options if "<str>" in line or "<path>" in line or "<int>" in line]
        assert "--help" in out

    def test_help_of_a_group(self, capsys):
        assert "<bool>" not in run(capsys, "release", "histogram", "--help")[1]

    def test_as_a_module(self, channel_file):
        done = subprocess.run(
            [sys.executable, "-m", "tightlip", "measure", channel_file(EXAMPLE), "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["measures"]["ldp"]["ratio"] == "3"
        assert done.stderr == ""

    @pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
    def test_any_output_encoding(self, channel_file, encoding):
        done = subprocess.run(
            [sys.executable, "-m", "tightlip", "measure", channel_file(EXAMPLE)],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            check=True,
        )
        assert b"0.762141" in done.stdout
        assert done.stderr == b""

    def test_output_that_cannot_be_written(self, channel_file):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "tightlip", "measure", channel_file(EXAMPLE), "--json"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert done.returncode == 2
        assert done.stderr.startswith("tightlip: cannot write the output")

    def test_no_arguments_is_help(self, capsys):
        status, out, err = run(capsys)
        assert (status, err) == (0, "")
        assert "measure" in out

    def test_the_shipped_example_works(self, capsys):
        shipped = Path(__file__).parents[2] / "examples" / "clinic.json"
        _, out, _ = run(capsys, "measure", str(shipped))
        assert 'outcome "tablet A" raises the probability of secret "diabetes" from 10 % to 70 %' in out

    def test_interruption(self, capsys, monkeypatch, channel_file):
        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("tightlip.measures.summary.join", interrupt)
        status, out, _ = run(capsys, "measure", channel_file(EXAMPLE))
        assert (status, out) == (130, "")

    def test_an_abort_is_told_in_one_line(self, capsys, monkeypatch):
        def abort(**_):
            raise typer.Abort

        monkeypatch.setattr("tightlip.cli.main.app", abort)
        assert run(capsys, "measure") == (130, "", "tightlip: interrupted.\n")

    def test_memory_running_out_is_told_in_one_line(self, capsys, monkeypatch, channel_file):
        def exhaust(*_):
            raise MemoryError

        monkeypatch.setattr("tightlip.measures.summary.join", exhaust)
        assert "not enough memory" in refused(capsys, "measure", channel_file(EXAMPLE))
