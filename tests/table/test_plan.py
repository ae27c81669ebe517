"""Plans: keywords, flags and policy files say the same, and add up by one rule."""

from fractions import Fraction

import pyarrow as pa
import pytest

from tightlip.cli.audit_options import PlanFlags
from tightlip.errors import InvalidInput, WrongType
from tightlip.numeric.budget import Allowed
from tightlip.table.budget import Rule
from tightlip.table.chain import Chain
from tightlip.table.counts import count_cells
from tightlip.table.flags import keywords, policy_flags, read_secret
from tightlip.table.mapping import Mapping
from tightlip.table.plan import planned
from tightlip.table.policy import OTHER, Policy, Released, Secret
from tightlip.table.policy_file import policy_toml
from tightlip.table.recoding import Bins, BottomCode, Keep, Prefix, TopCode
from tightlip.table.source import open_table

FILE = """
secret = ["ward"]
where = ["AGEP >= 18"]
min_count = 5
budget = ["3x", {ward = "2 nats"}]
delta = "0.01"
weight = "PWGT"

[missing]
AGEP = ["-9"]

[release.AGEP]
bins = 10
[release.SEX]
"""
RICH = Policy(
    [
        "ward",
        Secret("DPHY", values=["1"], not_secret=["N"]),
        Secret("INC", Chain([Bins(width=1000), TopCode(9000)])),
        {"=a,": ["x,y", '"']},
    ],
    [Released("AGEP", Chain([Bins(width=10), BottomCode(18), TopCode(90)])), "SEX"],
    not_secret=["b", "a=b"],
    where=["AGEP >= 18", 'ST in MA,"a, b"', "INC is not missing"],
    missing={"AGEP": [-9, "n/a"], "odd=": ["="]},
    min_count=5,
    budget=["3x", {"ward": "50%"}, {"DPHY": {"1": "log(2)"}}, {"INC": 0.1}],
    delta=0.05,
    jointly=True,
    weight="PWGT",
    scales={"AGEP": "numeric", "INC": "numeric", "SEX": "nominal", "odd, =": "nominal"},
)


def test_a_rich_policy_is_written_and_read_back(tmp_path):
    path = tmp_path / "plan.toml"
    RICH.save(path)
    again = Policy.from_toml(path)
    assert again == RICH
    assert policy_toml(again, tmp_path) == path.read_text(encoding="utf-8")
    assert again.delta == Fraction(1, 20)
    assert again.budget[3].allowed.level == 0.1


def test_a_rich_policy_as_flags():
    words = policy_flags(RICH)
    assert words[-2:] == ["--weight", "PWGT"]
    assert "--jointly" in words
    flat = [word for word in words if word != "--jointly"]
    given = {}
    for flag, text in zip(flat[::2], flat[1::2], strict=True):
        given.setdefault(flag, []).append(text)
    others = {"bins": given["--bins"], "where": given["--where"], "missing": given["--missing"]}
    others |= {"not_secret": given["--not-secret"], "min_count": 5, "jointly": True, "weight": "PWGT"}
    others |= {"delta": given["--delta"][0], "top": given["--top"], "bottom": given["--bottom"]}
    others |= {"nominal": given["--nominal"], "numeric": given["--numeric"]}
    flags = PlanFlags(None, False, given["--secret"], given["--release"], given["--budget"], others)
    assert flags.plan() == RICH


def test_keywords_add_to_a_policy(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(FILE)
    base = Policy.from_toml(path)
    plan = planned(
        {"DPHY": ["1"]},
        ["ST"],
        base,
        bins={"AGEP": 5},
        prefix={"ST": 2},
        top={"DPHY": 3},
        where="SEX != 1",
        missing={"AGEP": ["-8"], "ST": ["?"]},
        not_secret=["N", {"DPHY": ["2"]}],
        min_count=3,
        budget={"ward": "4x"},
        delta="0.1",
        jointly=True,
    )
    assert plan == Policy(
        [Secret("ward"), Secret("DPHY", TopCode(3), ["1"], ["2"])],
        [Released("AGEP", Bins(width=5)), "SEX", Released("ST", Prefix(2))],
        not_secret=["N"],
        where=["AGEP >= 18", "SEX != 1"],
        missing={"AGEP": ["-9", "-8"], "ST": ["?"]},
        min_count=3,
        budget=["3x", {"ward": "4x"}],
        delta="0.1",
        jointly=True,
        weight="PWGT",
    )
    assert planned(policy=base) == base
    assert planned(policy=base, budget="5x").budget == (
        Rule("ward", None, Allowed.read("2 nats")),
        Rule(None, None, Allowed.read("5x")),
    )
    again = planned({"ward": ["a"]}, ["SEX"], planned({"ward": ["b"]}, None, base))
    assert again.secret_of("ward").values == ("b", "a")
    assert again.release == base.release


def test_keywords_replace_all_recodings_and_the_scale_of_a_column():
    base = planned("ill", ["zip", "age"], bins={"zip": 1000}, top={"zip": 5000}, numeric=["zip", "age"])
    assert base.release[0].recoding == Chain([Bins(width=1000), TopCode(5000)])
    assert base.scales == {"zip": "numeric", "age": "numeric"}
    # the old scale does not fit the new recoding, nor the new scale the old one
    names = planned(policy=base, prefix={"zip": 3}, nominal="zip")
    assert names.release[0].recoding == Prefix(3)
    assert names.scales == {"zip": "nominal", "age": "numeric"}
    again = planned(None, [Released("zip", Bins(width=10))], names, scales={"zip": "numeric"})
    assert (again.release[0].recoding, again.scales["zip"]) == (Bins(width=10), "numeric")
    with pytest.raises(InvalidInput, match='"in bins of 10" needs values with an order by size'):
        planned(policy=names, bins={"zip": 10})
    with pytest.raises(InvalidInput, match=r'"in bins of 10" needs .* got it on column "ill"'):
        planned(policy=base, bins={"ill": 10}, nominal="ill")
    assert planned(policy=base) == base


def test_secrets_of_recodings_in_a_row(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        'release = ["a"]\n[secret.zip]\nprefix = 1\nmapping = {0 = "north", 1 = "north", 2 = "south"}\n'
        'then = [{mapping = {north = "cold", south = "warm"}}]\nvalues = ["cold"]\n'
    )
    policy = Policy.from_toml(path)
    inner, outer = Mapping({"0": "north", "1": "north", "2": "south"}), {"north": "cold", "south": "warm"}
    steps = Chain([Prefix(1), inner, Mapping(outer)])
    assert policy == Policy(Secret("zip", steps, values=["cold"]), ["a"])
    path.write_text(policy_toml(policy))
    assert Policy.from_toml(path) == policy
    rows = {"zip": ["00", "01", "11", "20", None, "21"], "a": ["x", "x", "y", "x", "x", "y"]}
    _, named = counted(rows, policy)
    assert named == {("cold", "x"): 2, ("cold", "y"): 1, (OTHER, "x"): 2, (OTHER, "y"): 1}
    _, each = counted(rows, Policy(Secret("zip", steps), ["a"]))
    assert each == {
        ("cold", "x"): 2,
        ("cold", "y"): 1,
        ("warm", "x"): 1,
        ("warm", "y"): 1,
        (None, "x"): 1,
    }


def test_secrets_in_a_listed_order():
    rows = {"s": ["low", "high", "N", None], "a": ["x"] * 4}
    order = {"s": ["low", "high"]}
    for secret in (Secret("s", not_secret=["N"]), Secret("s", values=["high"], not_secret=["N"])):
        assert counted(rows, Policy(secret, ["a"], scales=order))[0].total == 4
    for secret in (Secret("s"), Secret("s", values=["high"])):
        with pytest.raises(InvalidInput, match='scales of "s" must list every value that occurs, got 1'):
            counted(rows, Policy(secret, ["a"], scales=order))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"secret": None}, "secret and release must both be given"),
        ({"bins": {"aeg": 3}}, 'bins column "aeg" is not there; did you mean "age"'),
        ({"bins": {"age": 3}, "prefix": {"age": 2}}, "prefix must be of values or groups, got it after bins"),
        ({"bins": {"age": 3}, "suppress": "age"}, "release.age: suppress must stand alone"),
        ({"bins": {"age": 3}, "nominal": "age"}, "which is declared nominal"),
        ({"nominal": "age", "scales": {"age": "numeric"}}, 'nominal must be .* got "age" twice'),
        ({"not_secret": {"il": ["N"]}}, 'not_secret column "il" is not there'),
        ({"budget": {"il": "3x"}}, 'secret column of budget "il" is not there'),
        ({"weight": "age"}, "weight must be a column of its own"),
        ({"missing": ["age"]}, "missing must map columns"),
        ({"randomize": {"ill": 1}}, 'key "randomized_response" is not there'),
        ({"secret": {"ill": ["x"]}, "not_secret": "x"}, 'must not be among not_secret, got "x" in both'),
        ({"secret": {"ill": [OTHER]}}, "which all others count as"),
        ({"jointly": 1}, "jointly must be True or False"),
    ],
)
def test_plans_that_are_none(given, message):
    given = {"secret": "ill", "release": ["age"]} | given
    with pytest.raises((InvalidInput, WrongType), match=message):
        planned(given.pop("secret"), given.pop("release"), **given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget = 3", 'budget must say what it is, got 3; write "3x"'),
        ("budget = {s = 3}", "budget of s must say what it is, got 3"),
        ("budget = {t = '3x'}", 'secret column of budget "t" is not there'),
        ("where = 'a'", "where must be a condition like"),
        ("missing = ['a']", "missing must be a table of columns"),
        ("jointly = 'yes'", "jointly must be True or False"),
        ("delta = 2", r"delta must be in \(0, 1\]"),
        ("[secret.s]\nvalue = ['1']", r'secret\.s key "value" is not there; did you mean "values"'),
        ("[secret.s]\nrandomized_response = 1", "is not there"),
    ],
)
def test_policy_files_that_are_none(tmp_path, text, message):
    path = tmp_path / "plan.toml"
    secret = "" if "[secret" in text else 'secret = "s"\n'
    path.write_text(f"{secret}release = ['a']\n{text}\n")
    with pytest.raises(InvalidInput, match=message):
        Policy.from_toml(path)


def test_flags_of_columns_with_odd_names():
    assert read_secret('"a=b"') == ["a=b"]
    assert read_secret('"a=b"=1,"x, y"') == [{"a=b": ["1", "x, y"]}]
    assert read_secret("a=b=c") == [{"a": ["b=c"]}]
    assert keywords(missing=['"a=b"=-9', "c=1,2", "c=3"]) == {
        "missing": {"a=b": ["-9"], "c": ["1", "2", "3"]}
    }
    with pytest.raises(InvalidInput, match="--missing must be COLUMN=CODE"):
        keywords(missing=["-9"])


def counted(rows, policy):
    counts = count_cells(open_table(pa.table(rows)), policy)
    found = {}
    for s, c, n in zip(counts.secret_of, counts.cell_of, counts.count, strict=True):
        found[counts.secrets[s][0], counts.cells[c][0]] = int(n)
    return counts, found


def test_named_values_and_all_others():
    rows = {"inc": [5, 15, 25, 15, None, 99], "a": ["x"] * 6}
    secret = Secret("inc", Bins(width=10), values=["[10, 20)"], not_secret=["[90, 100)"])
    counts, found = counted(rows, Policy([secret], ["a"]))
    assert counts.secrets == [("[10, 20)",), ("[90, 100)",), (OTHER,)]
    assert found == {("[10, 20)", "x"): 2, ("[90, 100)", "x"): 1, (OTHER, "x"): 3}
    named = Secret("inc", values=["15", "(missing)"])
    assert counted(rows, Policy([named], ["a"]))[0].secrets == [("15",), (OTHER,), (None,)]
    assert named.is_sensitive(None)
    assert not named.is_sensitive(OTHER)


def test_values_that_do_not_occur_are_refused():
    rows = {"s": ["1", "2", "N"], "t": ["a", "b", "b"], "a": ["x"] * 3}
    for secret, not_secret, message in (
        ({"s": ["3"]}, (), 'got none that is "3"'),
        (Secret("s", not_secret=["M"]), (), 'got none that is "M"'),
        (["s", "t"], ["M"], 'got "M" in none'),
        (Secret("s", not_secret=["N", "1"]), (), "at least two values besides those that are not secret"),
    ):
        with pytest.raises(InvalidInput, match=message):
            counted(rows, Policy(secret, ["a"], not_secret=not_secret))
    assert counted(rows, Policy(["s", "t"], ["a"], not_secret=["N"]))[0].total == 3


def test_a_missing_code_makes_a_csv_column_numbers(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n17,yes\nn/a,no\n-9,no\n30,yes\n")
    with open_table(path) as table:
        assert table.columns["age"] == "text"
        plan = Policy("ill", ["age"], missing={"age": ["n/a", "-9"]})
        assert table.under(plan).kinds(["age"]) == {"age": "integer"}
        assert count_cells(table, plan).cells == [(None,), ("17",), ("30",)]
        adults = planned(policy=plan, where="age >= 18", bins={"age": 10}, missing={"ill": ["?"]})
        with pytest.raises(InvalidInput, match="at least two values"):
            count_cells(table, adults)
    numbers = open_table(pa.table({"age": [1, 2], "ill": ["a", "b"]}))
    with pytest.raises(InvalidInput, match='missing must have whole numbers for column "age"'):
        count_cells(numbers, Policy("ill", ["age"], missing={"age": ["n/a"]}))


def test_a_secret_says_itself():
    assert Secret("a", Bins(width=5)).words() == "a in bins of 5"
    assert Secret("a").recoding == Keep()
    with pytest.raises(WrongType, match="secret must name columns by text"):
        Secret(3)
