"""The design command."""

import json
import re
from fractions import Fraction

import pytest

import tightlip as tl
from tightlip.cli.main import main

PRIOR = {"a": "1/2", "b": "3/10", "c": "1/5"}
DISTANCE = "secret,a,b,c\nb,1,0,1\na,0,1,2\nc,2,1,0\n"
LOSS = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinic.json").write_text(json.dumps({"prior": PRIOR}))
    (tmp_path / "distance.csv").write_text(DISTANCE)
    return tmp_path


def run(capsys, *arguments):
    status = main(["design", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def refused(capsys, *arguments):
    """Exit 2, one line on stderr, nothing on stdout; the line."""
    status, out, err = run(capsys, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    return err


def test_the_command_of_the_guide(capsys, here):
    words = "clinic.json --ldp 1 --loss distance.csv --out mechanism.json --curve --chart tradeoff.html"
    status, out, err = run(capsys, *words.split())
    assert (status, err) == (0, "")
    lines = out.splitlines()
    best = tl.design(tl.Prior(PRIOR), ldp=1, loss=LOSS)
    assert lines[0] == (
        "The best mechanism loses 0.468942 on average; none under LDP of at most 1 nat loses less than 0.468941."
    )
    assert best.value <= 0.468942
    assert best.bound >= 0.468941
    assert "against every adversary who sees one output, whatever he knows beforehand." in lines[1]
    assert "releasing nothing loses 0.7 on average, and releasing the truth 0." in out
    assert "is at the bound of LDP of at most 1 nat for b, c." in out
    assert "Expected loss at 50 levels of LDP" in out
    assert lines[-2:] == ["Wrote the mechanism: mechanism.json.", "Wrote the picture: tradeoff.html."]
    channel, prior, _ = tl.load(here / "mechanism.json")
    assert prior == tl.Prior(PRIOR)
    assert channel.is_exact
    assert tl.ldp(channel) <= 1
    assert main(["measure", "mechanism.json"]) == 0
    assert "script" in (here / "tradeoff.html").read_text()


def test_what_is_written_is_a_mechanism_of_a_policy(capsys, here):
    assert run(capsys, "clinic.json", "--ldp", "1", "--loss", "hamming", "--out", "mechanism.json")[0] == 0
    found = tl.table.ChannelMechanism.from_file(here / "mechanism.json", sha256=None)
    assert list(found.kernel.inputs) == ["a", "b", "c"]


def test_json(capsys):
    status, out, err = run(capsys, "clinic.json", "--pmc", "log(2)", "--loss", "hamming", "--json")
    record = json.loads(out)
    assert (status, err) == (0, "")
    assert record["value"] == pytest.approx(0.31)
    assert record["value"] == record["upper"] >= Fraction(31, 100) >= record["lower"] == record["bound"]
    assert record["mechanism"]["channel"][1] == ["1/4", "13/20", "1/10"]
    assert record["prior"] == {"prior": ["1/2", "3/10", "1/5"], "labels": ["a", "b", "c"]}
    assert (record["nothing"], record["truth"], record["unit"]) == (0.5, 0, "nats")
    assert record["utility"] == {"words": "expected hamming loss", "minimised": True, "unit": None}
    assert [own["words"] for own in record["guarantees"]] == ["PMC of at most log(2) nats"]
    assert {own["output"] for own in record["binding"]} == {"a", "b", "c"}
    assert record["files"] == {}


def test_the_proof_is_verified_and_a_changed_one_is_not(capsys, here):
    command = ("clinic.json", "--pml", "1", "--gain", "hamming", "--certificate", "proof.json")
    assert run(capsys, *command)[0] == 0
    assert main(["verify", "proof.json"]) == 0
    said = capsys.readouterr().out
    found = tl.design(tl.Prior(PRIOR), pml="1", gain="hamming")
    assert said.startswith(
        "Valid: the mechanism keeps PML of at most 1 nat and gains at least 0.826193 on average, and none that keeps it"
    )
    assert found.lower >= 0.826193
    assert "gains more than 0.826194. All of this is about the prior a: 1/2, b: 3/10, c: 1/5." in said
    record = json.loads((here / "proof.json").read_text())
    for change in (
        {"claim": [record["claim"][0] + 1e-6, record["claim"][1]]},
        {"scale": record["scale"] + 1},
    ):
        (here / "proof.json").write_text(json.dumps(record | change))
        assert main(["verify", "proof.json"]) == 1
        assert capsys.readouterr().err.count("\n") == 1
    assert "exists already" in refused(capsys, *command)
    assert run(capsys, *command, "--force")[0] == 0


def test_an_envelope_begins_with_what_it_could_gain(capsys, here):
    words = ["clinic.json", "--envelope", "0.5,0.1", "--loss", "hamming"]
    status, out, _ = run(capsys, *words, "--certificate", "proof.json")
    assert status == 0
    best = tl.design(tl.Prior(PRIOR), envelope=(0.5, "0.1"), loss="hamming")
    first, second = out.splitlines()[:2]
    assert first == best.words().splitlines()[0]
    assert "at most 0.0845896 (25 %) to gain" in first
    assert second.startswith("The mechanism found loses")
    record = json.loads(run(capsys, *words, "--json")[1])["pml"]
    assert record["possible_gain"] == best.possible_gain
    assert (record["value"], record["bound"], record["gained"]) == (
        best.pml.value,
        best.pml.bound,
        best.gained,
    )
    assert (
        json.loads(run(capsys, "clinic.json", "--pml", "1", "--loss", "hamming", "--json")[1])["pml"] is None
    )
    assert main(["verify", "proof.json"]) == 0
    assert "Over a mechanism under PML of the same level" in capsys.readouterr().out
    assert main(["verify", "proof.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pml"] == {"lower": best.pml.lower, "upper": best.pml.upper}
    assert told["guarantees"] == ["envelope of at most 0.5 nats at δ = 1/10"]
    proof = json.loads((here / "proof.json").read_text())
    proof["pml"]["claim"][1] -= 1e-6
    (here / "proof.json").write_text(json.dumps(proof))
    assert main(["verify", "proof.json"]) == 1


ABOUT = "state,c,a,b\nill,0.1,0.8,0.1\nwell,0.3,0.2,0.5\n"


def test_a_secret_of_which_the_column_is_data(capsys, here):
    (here / "about.csv").write_text(ABOUT)
    given = tl.Channel(
        [["0.8", "0.1", "0.1"], ["0.2", "0.5", "0.3"]], inputs=["ill", "well"], outputs=["a", "b", "c"]
    )
    given.save(here / "about.json")
    best = tl.design(tl.Prior(PRIOR), pml="0.3", secret=given, loss="hamming")
    for name in ("about.csv", "about.json"):
        out = run(capsys, *f"clinic.json --pml 0.3 --secret {name} --loss hamming --json".split())[1]
        record = json.loads(out)
        assert record["value"] == best.value
        assert record["guarantees"][0]["about"] == given.to_dict()
    words = ["clinic.json", "--secret", "about.csv", "--loss", "hamming"]
    assert "is enough" in run(capsys, *words, "--smallest", "pml", "--at-most", "0.2")[1]
    assert run(capsys, *words, "--pml", "0.3,1", "--curve")[0] == 0
    assert "must stand beside one of --pml, --pmc, --lip, --alip" in refused(capsys, *words, "--ldp", "1")
    said = refused(capsys, *words, "--pml", "1", "--out", "about.csv", "--force")
    assert "is the secret, which is read" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "s,a,b\nx,0.5,0.5\n",
            'must have a column for each of 3 secrets of the prior, and a row for each value s, got none for "c"',
        ),
        ("s,a,b,c\n", "got no rows"),
        ("s,a,b,d\nx,0.5,0.3,0.2\n", 'row 1 must be about one of the secrets ["a", "b", "c"], got "d"'),
        ("s,a,b,c\nx,0.5,0.3\n", "row 2 must have a number for each of 3 outputs, got 2"),
        ("s,a,b,c\nx,0.5,0.3,0.1\n", "must have a distribution in each row: channel row 0"),
        ("s,a,b,c\nx,0.5,0.3,0.2\nx,0.5,0.3,0.2\n", "must have a distribution in each row"),
        ("s,a,b,c\nx,0.6,0.2,0.2\n", "prior must be a mixture of the rows of secret"),
    ],
)
def test_bad_secrets(capsys, here, text, words):
    (here / "about.csv").write_text(text)
    assert words in refused(
        capsys, *["clinic.json", "--pml", "1", "--secret", "about.csv", "--loss", "hamming"]
    )


PRIORS = "prior,c,a,b\nlast year,0.1,0.6,0.3\neven,1/3,1/3,1/3\n"


def test_priors_of_a_list(capsys, here):
    (here / "priors.csv").write_text(PRIORS)
    priors = [tl.Prior(own, ["a", "b", "c"]) for own in (["0.6", "0.3", "0.1"], ["1/3", "1/3", "1/3"])]
    best = tl.design(tl.Prior(PRIOR), pml="0.3", priors=tl.robust.PriorList(priors), loss="hamming")
    words = ["clinic.json", "--priors", "priors.csv", "--loss", "hamming"]
    record = json.loads(run(capsys, *words, "--pml", "0.3", "--json", "--certificate", "proof.json")[1])
    assert record["value"] == best.value
    assert record["guarantees"][0]["words"] == "PML of at most 0.3 nats for every prior of a list of 2"
    assert run(capsys, *words, "--pml", "0.3")[0] == 0
    assert main(["verify", "proof.json"]) == 0
    told = run(capsys, *words, "--pml", "0.3,1", "--curve")[1]
    assert "at 2 levels of PML for every prior of a list of 2" in told
    enough = run(capsys, *words, "--smallest", "pml", "--at-most", "0.2", "--quiet")[1]
    assert "nats for every prior of a list of 2 is enough" in enough
    assert "--priors must stand beside --pml, got no --pml" in refused(capsys, *words, "--ldp", "1")
    said = refused(capsys, *words, "--pml", "1", "--min-mass", "0.1")
    assert "at most one of --min-mass, --priors and --secret, got --min-mass and --priors" in said
    said = refused(capsys, *words, "--pml", "1", "--out", "priors.csv", "--force")
    assert "is the priors, which is read" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prior,a,b\nx,0.5,0.5\n", 'and a row for each prior, got none for "c"'),
        ("prior,a,b,c\n", "got no rows"),
        ("prior,a,b,c\nx,0.5,0.3\n", "row 2 must have a number for each of 3 outputs, got 2"),
        ("prior,a,b,c\nx,0.5,0.3,0.1\n", "must have a distribution in each row"),
        ("prior,a,b,c\nx,0.5,0.5,0\n", "got 0 for c in prior 1 of 1"),
    ],
)
def test_bad_priors(capsys, here, text, words):
    (here / "priors.csv").write_text(text)
    assert words in refused(
        capsys, *["clinic.json", "--pml", "1", "--priors", "priors.csv", "--loss", "hamming"]
    )


@pytest.mark.parametrize(
    ("least", "scope"), [("0.1", "every prior with masses of at least 1/10"), ("0", "every prior")]
)
def test_a_level_says_of_which_priors_it_is(capsys, least, scope):
    words = ["clinic.json", "--min-mass", least, "--loss", "hamming"]
    assert f"levels of PML for {scope}:" in run(capsys, *words, "--pml", "0.3,1", "--curve")[1]
    said = run(capsys, *words, "--smallest", "pml", "--at-most", "0.2", "--quiet")[1]
    assert f"nats for {scope} is enough" in said


def test_a_target_in_bits(capsys):
    words = [
        "clinic.json",
        "--smallest",
        "pml",
        "--utility",
        "mutual-information",
        "--unit",
        "bits",
        "--at-least",
    ]
    half, whole = (json.loads(run(capsys, *words, text, "--json")[1]) for text in ("0.5", "1"))
    assert (half["target"], whole["target"]) == (0.5, 1)
    assert half["design"]["value"] >= 0.5 > half["refuted"]
    # PML of log 2 allows an output for each half of the mass, which says one bit
    assert whole["upper"] == pytest.approx(1, rel=1e-5)
    assert "a mutual information of at least 0.5 bits" in run(capsys, *words, "0.5", "--quiet")[1]


def test_a_least_mass_above_the_prior_is_refused(capsys):
    assert "--min-mass must be at most the least mass of the prior, 0.2 of c, got" in refused(
        capsys, *["clinic.json", "--pml", "1", "--min-mass", "0.3", "--loss", "hamming"]
    )


def test_a_channel_in_the_file_is_compared(capsys, here):
    given = {"prior": PRIOR, "channel": [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]}
    (here / "given.json").write_text(json.dumps(given))
    out = run(capsys, "given.json", "--ldp", "log(2)", "--gain", "hamming")[1]
    assert "The channel of the file keeps the guarantee (PML 0.510826 nats" in out
    out = run(capsys, "given.json", "--ldp", "log(3/2)", "--pml", "1", "--gain", "hamming", "--unit", "bits")[
        1
    ]
    assert "The channel of the file does not keep the guarantees" in out
    assert "LDP 1 bit" in out
    (own,) = json.loads(run(capsys, "given.json", "--ldp", "log(2)", "--gain", "hamming", "--json")[1])[
        "compared"
    ]
    assert (own["keeps"], own["levels"]["ldp"]["ratio"]) == (True, "2")


def test_levels_of_a_trade_off(capsys, here):
    words = [
        "clinic.json",
        "--ldp",
        "0.5,1,2",
        "--curve",
        "--gain",
        "hamming",
        "--chart",
        "few.svg",
        "--json",
    ]
    record = json.loads(run(capsys, *words)[1])
    for point in record["points"]:
        best = tl.design(tl.Prior(PRIOR), ldp=point["level_words"], gain="hamming")
        assert point["value"] <= best.bound
        assert point["bound"] >= best.value
    assert [point["level_words"] for point in record["points"]] == ["0.5", "1", "2"]
    assert "<svg" in (here / "few.svg").read_text()
    beside = json.loads(
        run(
            capsys, *["clinic.json", "--ldp", "1,2", "--pml", "0.3", "--curve", "--gain", "hamming", "--json"]
        )[1]
    )
    assert beside["others"] == ["PML of at most 0.3 nats"]


def test_fifty_levels_around_one(capsys):
    out = run(capsys, *["clinic.json", "--pml", "0.4", "--curve", "--loss", "hamming", "--json"])[1]
    levels = [float(point["level_words"]) for point in json.loads(out)["curve"]["points"]]
    assert (len(levels), levels[0], levels[-1]) == (50, 0.02, 0.8)


def test_the_smallest_budget(capsys, here):
    words = ["clinic.json", "--smallest", "ldp", "--at-most", "0.3", "--loss", "hamming"]
    status, out, _ = run(capsys, *words, "--certificate", "proof.json")
    assert status == 0
    assert out.startswith(
        "LDP of 1.54045 nats is enough for an expected hamming loss of at most 0.3; 1.54044 nats is not"
    )
    assert main(["verify", "proof.json"]) == 0
    capsys.readouterr()
    record = json.loads(run(capsys, *words, "--json")[1])
    assert record["lower"] < record["upper"] < record["lower"] * (1 + 1e-5)
    assert record["design"]["value"] <= 0.3 < record["refuted"]
    bits = json.loads(run(capsys, *words, "--unit", "bits", "--json")[1])
    assert bits["upper"] == pytest.approx(record["upper"] / 0.6931471805599453)
    assert (
        "no LDP is needed"
        in run(capsys, *["clinic.json", "--smallest", "ldp", "--at-most", "0.5", "--loss", "hamming"])[1]
    )


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_pictures(capsys, here, suffix):
    assert (
        run(capsys, *["clinic.json", "--pml", "1", "--loss", "hamming", "--chart"], f"heat{suffix}")[0] == 0
    )
    assert (here / f"heat{suffix}").stat().st_size > 3000
    if suffix == ".html":
        page = (here / "heat.html").read_text(encoding="utf-8")
        assert page.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n  <meta name="viewport"')
        assert "<title>The mechanism: P(output | secret)</title>" in page
    assert list(here.glob(".*")) == []


def test_quiet_leaves_the_answer(capsys):
    out = run(capsys, *["clinic.json", "--pml", "1", "--loss", "hamming", "--quiet"])[1]
    assert out.startswith("The best mechanism loses")
    assert out.count("\n") == 1


def test_large_channels_are_cut(capsys, here):
    (here / "many.json").write_text(json.dumps({"prior": "uniform", "inputs": list(range(30))}))
    out = run(capsys, "many.json", "--ldp", "1", "--loss", "absolute")[1]
    assert re.search(
        r"^18 more secrets(?: and \d+ rarer outputs?)? not shown here. --json has all.$", out, re.M
    )
    assert out.count("│ ") < 200


def test_labels_that_would_garble_the_terminal_are_shown_harmlessly(capsys, here):
    (here / "odd.json").write_text(json.dumps({"prior": {"\x1b[31mred": "1/2", "[bold]b": "1/2"}}))
    out = run(capsys, "odd.json", "--ldp", "1", "--loss", "hamming")[1]
    assert "\x1b[31m" not in out
    assert "[bold]b" in out


def test_numbers_name_secrets_too(capsys, here):
    (here / "numbers.json").write_text(json.dumps({"prior": ["1/2", "1/2"], "labels": [10, 20]}))
    (here / "own.csv").write_text(",20,10,neither\n10,1,0,1/3\n20,0,1,1/3\n")
    record = json.loads(run(capsys, "numbers.json", "--ldp", "2", "--loss", "own.csv", "--json")[1])
    assert record["mechanism"]["inputs"] == [10, 20]
    assert set(record["mechanism"]["outputs"]) <= {10, 20, "neither"}
    assert run(capsys, "numbers.json", "--ldp", "2", "--loss", "absolute")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--loss hamming", "a guarantee must be given: one of --pml, --ldp"),
        ("--ldp 1", "one of --loss, --gain and --utility must be given, got none"),
        ("--ldp 1 --loss hamming --gain hamming", "got --loss and --gain"),
        ("--ldp 1,2 --loss hamming", "--ldp must have one level, got 2; add --curve"),
        ("--ldp 1,,2 --curve --loss hamming", "number on each side of every comma"),
        ("--ldp x --loss hamming", 'ldp must be a finite number, got "x"'),
        ("--ldp -1 --loss hamming", "ldp must not be negative"),
        ("--ldp 1e5 --loss hamming", "ldp must be at most 500 nats"),
        ("--ldp inf --loss hamming", "ldp must be a finite"),
        (
            "--smallest ldp --loss hamming --at-most 0",
            "--at-most must be one that some level of ldp reaches, got 0",
        ),
        (
            "--smallest ldp --utility frequency-variance --at-most 0",
            "tightlip: --at-most must be one that some level of ldp reaches, got 0",
        ),
        ("--ldp 1 --loss Hamming", 'got "Hamming"; write "hamming"'),
        ("--ldp 1 --loss foo", "loss must be a file that ends in .csv or one of hamming"),
        ("--ldp x --loss hamming", 'tightlip: --ldp must be a finite number, got "x"'),
        (
            "--pml 1 --min-mass -0.1 --loss hamming",
            '--min-mass must be in [0, 1/3], got "-0.1"; masses are not',
        ),
        (
            "--ldp 1 --utility mutual-informations",
            'frequency-variance, got "mutual-informations"; write "mutual-inf',
        ),
        ("--smallest most --loss hamming --at-most 1", '"lip", "maximal-leakage", got "most"'),
        ("--ldp 1 --loss absolute", "must be of labels that are numbers"),
        ("--ldp 1 --loss none.csv", "--loss file none.csv cannot be read"),
        ("--ldp 1 --utility nonsense", "utility must be"),
        ("--ldp 1 --min-mass 0.1 --loss hamming", "--min-mass must stand beside --pml"),
        ("--alip 1 --loss hamming", "--alip must be a pair LOWER,UPPER"),
        ("--envelope 1,2 --loss hamming", "envelope δ must be in (0, 1)"),
        ("--ldp 0 --curve --loss hamming", "--ldp must be positive for --curve"),
        ("--ldp 1 --pml 1 --curve --loss hamming", "one guarantee with several levels, got --pml and --ldp"),
        ("--alip 1,2 --curve --loss hamming", "one guarantee with several levels, got none"),
        ("--ldp 1,2 --curve --loss hamming --out m.json", "got several levels; give a single one"),
        ("--ldp 1 --loss hamming --at-most 1", "must stand beside --smallest"),
        ("--smallest ldp --loss hamming", "must have --at-most, got none"),
        ("--smallest ldp --loss hamming --at-least 1", "must have --at-most, got --at-least"),
        ("--smallest ldp --gain hamming --at-least x", "--at-least must be a finite number"),
        ("--smallest foo --loss hamming --at-most 1", '--smallest must be one of "pml", "ldp"'),
        ("--smallest ldp --loss hamming --at-most 0.1 --curve", "--curve must not be given with --smallest"),
        (
            "--smallest ldp --loss hamming --at-most -1",
            "--at-most must be one that some level of ldp reaches, got -1; no mechanism at all reaches less than 0",
        ),
        ("--smallest ldp --pml 0.1 --loss hamming --at-most 0.1", "under pml no mechanism reaches less than"),
        ("--smallest ldp --ldp 1 --loss hamming --at-most 0.1", "ldp must not be given"),
        ("--ldp 1 --loss hamming --chart x.pdf", "must end in"),
        ("--ldp 1 --loss distance.csv --out distance.csv --force", "distance.csv is the loss, which is read"),
        ("--ldp 1 --loss hamming --out x.json --certificate x.json", "asked for twice"),
    ],
)
def test_bad_requests(capsys, arguments, words):
    assert words in refused(capsys, "clinic.json", *arguments.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must have the outputs in its first row, behind a first cell, got 0 cells"),
        ("x;a;b\na;0;1\n", "got 1 cell; separate cells by commas"),
        (",a,b\na,0,1\nb,1\nc,1,1\n", "row 3 must have a number for each of 2 outputs, got 1"),
        (",a,b\na,0,1\nb,1,nan\nc,1,1\n", 'row 3 column 3 ("b") must be a finite number, got "nan"'),
        (",a,b\na,0,1\nb,1,\nc,1,1\n", 'row 3 column 3 ("b") must be a finite number, got ""'),
        (",a,a\na,0,1\nb,1,0\nc,1,1\n", 'must name every output once, got "a" in columns 2 and 3'),
        (",a,b\na,0,1\na,1,0\nc,1,1\n", 'row 3 must be about another secret than row 2, got "a" twice'),
        (",a,b\na,0,1\nb,1,0\n", 'must have a row for each of 3 secrets, got none for "c"'),
        (",a,b\na,0,1\nb,1,0\nd,1,1\n", 'row 4 must be about one of the secrets ["a", "b", "c"], got "d"'),
        (',a,b\na,0,1\nb,1,"0\n', "check that it is whole"),
    ],
)
def test_bad_matrices(capsys, here, text, words):
    (here / "bad.csv").write_text(text)
    told = refused(capsys, "clinic.json", "--ldp", "1", "--loss", "bad.csv")
    assert words in told
    assert "--loss file bad.csv" in told


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({}, 'must have the key "prior"'),
        (
            {"prior": {"a": 1.0, "b": 0.0}},
            "got 0 for b; a mechanism has a row for each secret that can occur: leave it out",
        ),
        ({"prior": {"a": 0.5, "b": 0.4}}, "prior must sum to 1"),
        ({"prior": "uniform"}, '"inputs": [..]'),
        ({"prior": {"a": 0.5, "b": 0.5}, "labels": ["a", "b"]}, "names of its own"),
        ({"prior": [0.5, 0.5], "labels": ["a", "b"], "inputs": ["a", "b"]}, "got both"),
        ({"prior": [0.5, 0.5], "outputs": ["a"]}, 'unknown key "outputs"'),
        ({"channel": [[1]]}, 'must have the key "prior"'),
        ([], "must be an object"),
    ],
)
def test_bad_files(capsys, here, record, words):
    (here / "bad.json").write_text(json.dumps(record))
    assert words in refused(capsys, "bad.json", "--ldp", "1", "--loss", "hamming")


def test_the_file_that_is_read_is_not_written(capsys):
    assert "is read and would be lost" in refused(
        capsys, "clinic.json", "--ldp", "1", "--loss", "hamming", "--out", "clinic.json", "--force"
    )


def test_a_proof_is_of_the_mechanism_that_was_written(capsys, here):
    words = "clinic.json --ldp 1 --loss distance.csv --out mechanism.json --certificate proof.json"
    assert run(capsys, *words.split())[0] == 0
    assert main(["verify", "proof.json", "--channel", "mechanism.json"]) == 0
    assert (
        run(capsys, *["clinic.json", "--ldp", "2", "--loss", "distance.csv", "--out", "other.json"])[0] == 0
    )
    assert main(["verify", "proof.json", "--channel", "other.json"]) == 1


def test_the_smallest_level_for_a_variance(capsys):
    words = "clinic.json --utility frequency-variance --smallest ldp"
    status, out, _ = run(capsys, *words.split(), "--at-most", "5")
    assert status == 0
    assert "is enough" in out
    assert "--at-most" in refused(capsys, *words.split(), "--at-least", "5")
