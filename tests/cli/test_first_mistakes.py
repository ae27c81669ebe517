"""What a first user mistypes: each message names the option, the place and what to write."""

import pytest

import tightlip as tl
from tightlip.cli.main import main
from tightlip.errors import InvalidInput
from tightlip.table.policy import Released

ROWS = "age,walk,see,pay\n" + "31,1,2,N\n42,2,1,100\n53,2,2,200\n64,2,2,300\n" * 5


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    (tmp_path / "groups.csv").write_text("31,young\n42,old\n53,old\n64,old\n")
    (tmp_path / "short.csv").write_text("age,group,more\n31,young\n")
    return "t.csv"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("--secret walk=1,see", 'none that is "see"; it is a column; repeat --secret for another column.'),
        ("--secret walk=1,9", 'none that is "9"; check how it is written.'),
        ("--secret walk --map age=groups.csv", "(line 1 of groups.csv was taken for names)"),
        ("--secret walk --map age=short.csv:2", "line 2 must have a group at level 2, got 1 level; add it"),
        ("--secret walk --map age", '--map must be COLUMN=FILE, got "age".'),
        ("--secret walk=1 --budget 3%", "% of all people have one of its values; raise it, or set a factor."),
        ("--secret walk --budget 3%", "name the sensitive values (--secret COLUMN=VALUE), or set a factor."),
        ("--secret walk=1 --budget walk=2=3x", 'got "2", which is not among them ("1"); name it too.'),
        ("--secret walk --bins age=0", '--bins of column "age": bin width must be positive, got 0.'),
        ("--secret walk --bins age=ten", '--bins of column "age" must be a number, got "ten"; write 10.'),
        ("--secret walk --release pay --bins pay=9", "or say which codes are missing (--missing pay=CODE)."),
        ("--secret walk --prefix age=0", '--prefix of column "age": prefix length must be a whole number'),
    ],
)
def test_a_flag_that_does_not_fit_is_told_what_to_write(table, capsys, given, told):
    words = given.split()
    assert main(["audit", table, "--release", "age", *words]) == 2
    assert told in capsys.readouterr().err


def test_only_options_that_look_alike_are_proposed(table, capsys):
    assert main(["audit", table, "--relase", "age"]) == 2
    said = capsys.readouterr().err
    assert "--release" in said
    assert "--delta" not in said


def test_a_receipt_is_proposed_where_there_is_one(table, tmp_path, capsys):
    assert main(["verify", table]) == 2
    assert "receipt.json" not in capsys.readouterr().err
    (tmp_path / "t.csv.receipt.json").write_text("{}")
    assert main(["verify", table]) == 2
    assert "verify its receipt, t.csv.receipt.json." in capsys.readouterr().err


def test_the_time_is_told_whatever_the_verdict(table, capsys):
    for budget, status in (("2x", 1), ("20x", 0)):
        assert (
            main(["audit", table, "--secret", "walk", "--release", "age", "--budget", budget, "-v"]) == status
        )
        assert capsys.readouterr().err.endswith(" s in all\n")
    assert main(["audit", table, "--secret", "wlk", "--release", "age", "-v"]) == 2
    assert "in all" not in capsys.readouterr().err


@pytest.mark.parametrize("call", [tl.audit, tl.protect])
def test_an_unknown_keyword_is_told_as_python_does_with_the_nearest_name(table, call):
    with pytest.raises(TypeError) as caught:
        call(table, "walk", ["age"], buget="3x")
    assert str(caught.value) == (
        f"{call.__name__}() got an unexpected keyword argument 'buget'; did you mean 'budget'?"
    )


def test_a_value_in_the_name_of_a_secret_is_told_how_python_has_it(table):
    with pytest.raises(InvalidInput, match=r'as \{"walk": \["1"\]\}\.'):
        tl.audit(table, "walk=1", ["age"])
    assert tl.audit(table, {"walk": ["1"]}, "age").policy.release == (Released("age"),)
