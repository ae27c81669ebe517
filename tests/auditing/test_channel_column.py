"""A channel on a column, audited, compared, remedied and released: by definition in rationals, and what is refused."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit_oracle as oracle
import tightlip as tl
from contract.warnings_of_engines import IGNORED
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pmc, cell_pml
from tightlip.auditing.plan import apply_policy
from tightlip.auditing.receipt import policy_digest
from tightlip.auditing.run import audit_counts
from tightlip.auditing.sample import SampleMode
from tightlip.errors import CertificateInvalid, InvalidInput
from tightlip.report.audit_words import change_words
from tightlip.report.disclosure import remedy_toml
from tightlip.table import ChannelMechanism, Policy, Released

pytestmark = IGNORED

ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from(["0", "1", None])),
    min_size=2,
    max_size=30,
)
INPUTS, OUTPUTS = ["0", None, "1", "never"], ["1", "other", None, "0", "lost"]


def with_zeros(width):
    row = st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=width, max_size=width).filter(any)
    return row.map(lambda weights: [Fraction(weight, sum(weights)) for weight in weights])


def through(joint, place, channel):
    """By hand: the joint of secret and published cell; hidden cells (None) stay."""
    found = Counter()
    for (x, y), mass in joint.items():
        if y is None:
            found[x, y] += mass
            continue
        row = channel.matrix[list(channel.inputs).index(y[place])]
        for outcome, chance in zip(channel.outputs, row, strict=True):
            found[x, (*y[:place], outcome, *y[place + 1 :])] += mass * chance
    return {pair: mass for pair, mass in found.items() if mass}


def counted_of(rows):
    return Counted.of(oracle.counts_of(rows), ["s"], ["a", "b"][: len(rows[0]) - 1])


def by_cell(counted, leak):
    return {counted.cell_label(cell): leak.ratio(cell) for cell in range(counted.tally.shape[1])}


@given(ROWS, st.lists(with_zeros(5), min_size=4, max_size=4), st.none() | st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_a_release_through_a_channel_is_the_definition(rows, matrix, min_count):
    channel = tl.Channel(matrix, INPUTS, OUTPUTS)
    plan = Policy("s", ["a", Released("b", mechanism=channel)], min_count=min_count)
    joint = through(oracle.suppress(oracle.joint_of(rows), len(rows), min_count or 0), 1, channel)
    found = apply_policy(counted_of(rows), plan)
    assert by_cell(found, cell_pml(found.tally)) == oracle.lifts(joint)
    assert by_cell(found, cell_pmc(found.tally)) == oracle.costs(joint)


TABLE = pa.table(
    {
        "age": ["young", "young", "old", "old", "old", None] * 10,
        "town": ["n", "s"] * 30,
        "ill": ["flu", "none", "none", "flu", "flu", "none", "none", "none", "flu", "none"] * 6,
    }
)
AGES = tl.Channel(
    [["1/2", "1/2", 0, 0], ["1/5", 0, "3/5", "1/5"], [0, 0, "1/7", "6/7"]],
    inputs=["old", "young", None],
    outputs=["A", "old", "B", None],
)


def rows_of(table, *columns):
    return list(zip(*(table[column].to_pylist() for column in columns), strict=True))


def test_an_audit_has_the_leakage_of_the_joint():
    plan = Policy("ill", [Released("age", mechanism=AGES), "town"])
    found = tl.audit(TABLE, policy=plan, delta="1/10", budget="1.05x", skip="remedies")
    joint = through(oracle.joint_of(rows_of(TABLE, "ill", "age", "town")), 0, AGES)
    view, lifts = found.views["ill"], oracle.lifts(joint)
    assert view.worst.leakage.ratio == max(lifts.values())
    assert view.maximal_leakage.ratio == oracle.maximal_leakage(joint)
    assert view.share_above_budget.fraction == oracle.tail(joint, Fraction(21, 20))
    envelope = tl.envelope(*channel_and_prior(joint), "1/10")
    assert view.envelope.lower <= envelope.upper
    assert envelope.lower <= view.envelope.upper
    alone = {effect.column: effect.alone.ratio for effect in view.columns}
    ages = through(oracle.joint_of(rows_of(TABLE, "ill", "age")), 0, AGES)
    assert alone["age"] == max(oracle.lifts(ages).values())


def channel_and_prior(joint):
    prior, cells = oracle.margins(joint)
    names = list(prior)
    rows = [[joint.get((x, y), Fraction(0)) / prior[x] for y in cells] for x in names]
    return tl.Channel(rows), tl.Prior([prior[x] for x in names])


def test_floats_are_the_rationals_that_they_make():
    floats = tl.Channel([[0.1, 0.9], [0.7, 0.3], [0.25, 0.75]], ["old", "young", None], ["A", "B"])
    found = tl.audit(TABLE, policy=Policy("ill", [Released("age", mechanism=floats)]))
    joint = through(oracle.joint_of(rows_of(TABLE, "ill", "age")), 0, floats.exact())
    assert found.views["ill"].worst.leakage.ratio == max(oracle.lifts(joint).values())


def test_holders_of_an_outcome_are_those_of_its_likeliest_value_and_its_name():
    """An outcome may be called like a value that it does not mean: neither may be one that few people have."""
    swap = tl.Channel([[0, 1], [1, 0]], ["few", "many"], ["few", "many"])
    rows = [("x", "many")] * 30 + [("y", "many")] * 30 + [("x", "few")] * 3
    found = apply_policy(counted_of(rows), Policy("s", [Released("a", mechanism=swap)]))
    held = {found.cell_label(cell): found.holders_of(cell) for cell in range(2)}
    assert held == {("few",): 3, ("many",): 3}
    other = tl.Channel([[0, 1, 0], ["1/2", "1/4", "1/4"]], ["few", "many"], ["A", "many", "B"])
    found = apply_policy(counted_of(rows), Policy("s", [Released("a", mechanism=other)]))
    held = {found.cell_label(cell): found.holders_of(cell) for cell in range(3)}
    assert held == {("A",): 60, ("many",): 3, ("B",): 60}
    table = pa.table({"a": [row[1] for row in rows], "s": [row[0] for row in rows]})
    said = str(tl.audit(table, "s", ["a"], randomize={"a": swap}))
    assert "cell 2" in said
    assert "a = " not in said


def test_remedies_leave_the_column_out_or_recode_to_inputs():
    """No coarser value is one of the channel's, so the column stays or goes; noise of its own kind there is none."""
    plan = Policy("ill", [Released("age", mechanism=AGES), "town"])
    found = tl.audit(TABLE, policy=plan, budget="1.3x")
    assert found.verdict is False
    changes = [change_words(plan, remedy) for remedy in found.remedies]
    assert changes
    assert all("age" not in change or "leave out age" in change for change in changes)
    for remedy in found.remedies:
        again = tl.audit(TABLE, policy=remedy.policy, budget="1.3x")
        assert again.verdict is True
        kept = [item.mechanism for item in remedy.policy.release if item.column == "age"]
        assert kept in ([], [ChannelMechanism(AGES)])


def test_a_remedy_that_would_name_values_is_not_told(tmp_path):
    plan = Policy("ill", [Released("age", mechanism=AGES), "town"])
    found = tl.audit(TABLE, policy=plan, budget="1.3x")
    assert len(found.remedies) == 2
    for remedy in found.remedies:
        assert remedy_toml(found, remedy) is None
        assert '"young"' in (remedy_toml(found, remedy, show_values=True) or "")
    AGES.save(tmp_path / "m.json")
    named = Policy(
        "ill", [Released("age", mechanism=ChannelMechanism.from_file(tmp_path / "m.json")), "town"]
    )
    found = tl.audit(TABLE, policy=named, budget="1.3x")
    for remedy in found.remedies:
        assert "young" not in (remedy_toml(found, remedy, folder=tmp_path) or "young")


def test_plans_are_compared():
    noisy, plain = Policy("ill", [Released("age", mechanism=AGES)]), Policy("ill", ["age"])
    found = tl.compare({"noisy": noisy, "plain": plain}, table=TABLE).columns()
    assert found["worst_leakage"][0] < found["worst_leakage"][1]
    assert found["detail"][0] < found["detail"][1] == 1


def test_samples_refuse_it_in_words_and_protect_wants_more():
    plan = Policy("ill", [Released("age", mechanism=AGES)])
    with pytest.raises(
        InvalidInput, match="a sample can bound randomised response only, got a channel from 3 values"
    ):
        tl.audit(TABLE, policy=plan, sample=SampleMode())
    with pytest.raises(
        InvalidInput, match='a column to protect beside those with a mechanism, got "age" only'
    ):
        tl.protect(TABLE, policy=plan, budget="3x")


def test_one_value_is_randomised_and_says_nothing():
    counted = counted_of([("x", "old"), ("y", "old")] * 5)
    found = audit_counts(
        counted, Policy("s", [Released("a", mechanism=AGES)]), kinds={}, delta=Fraction(1, 2)
    )
    view = found.views["s"]
    assert view.worst.leakage.ratio == 1
    assert {view.counted.cell_label(cell) for cell in range(view.counted.tally.shape[1])} <= {
        ("A",),
        ("old",),
    }


@pytest.fixture
def plan(tmp_path):
    AGES.save(tmp_path / "mechanism.json")
    path = tmp_path / "plan.toml"
    path.write_text('secret = "ill"\n[release.age]\nchannel = "mechanism.json"\n[release.town]\n')
    return Policy.from_toml(path)


def test_a_release_is_drawn_and_its_receipt_knows_the_mechanism(tmp_path, plan):
    many = pa.concat_tables([TABLE] * 40)
    done = tl.release(many, plan, tmp_path / "safe.parquet")
    done.verify()
    assert done.leakage.ratio == tl.audit(many, policy=plan).views["ill"].worst.leakage.ratio
    assert done.receipt.asked["release"][0]["how"].endswith(
        "a channel from 3 values to 4 outcomes (mechanism.json)"
    )
    shown = pyarrow.parquet.read_table(tmp_path / "safe.parquet")["age"].to_pylist()
    found = Counter(zip(many["age"].to_pylist(), shown, strict=True))
    for (value, outcome), count in found.items():
        chance = AGES.matrix[list(AGES.inputs).index(value), list(AGES.outputs).index(outcome)]
        rows = many["age"].to_pylist().count(value)
        assert chance > 0
        assert abs(count - rows * chance) < 6 * (rows * chance * (1 - chance)) ** 0.5
    assert len(found) == int((AGES.matrix != 0).sum())
    tl.Channel([[1], [1], [1]], AGES.inputs, ["A"]).save(tmp_path / "mechanism.json", force=True)
    with pytest.raises(
        CertificateInvalid, match=r"mechanism\.json is not the mechanism of age that the receipt"
    ):
        done.verify()


def test_a_mechanism_that_changed_after_it_was_read_is_not_released(tmp_path, plan):
    path = tmp_path / "mechanism.json"
    tl.Channel([[1], [1], [1]], AGES.inputs, ["A"]).save(path, force=True)
    with pytest.raises(InvalidInput, match=r'mechanism\.json of column "age" has changed since it was read'):
        tl.release(TABLE, plan, tmp_path / "safe.csv")
    path.unlink()
    with pytest.raises(InvalidInput, match=r"mechanism file .*mechanism\.json cannot be read"):
        tl.release(TABLE, plan, tmp_path / "safe.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"plan.toml"}


def test_the_mechanism_is_not_written_over(tmp_path, plan):
    with pytest.raises(InvalidInput, match="a mechanism"):
        tl.release(TABLE, plan, tmp_path / "safe.csv", receipt=tmp_path / "mechanism.json", force=True)


def test_the_digest_of_a_policy_is_of_the_whole_channel():
    """Words alone are those of every channel of that size."""
    other = tl.Channel(AGES.matrix[[1, 0, 2]], AGES.inputs, AGES.outputs)
    one, two, again = (
        policy_digest(Policy("ill", [Released("age", mechanism=own)])) for own in (AGES, other, AGES)
    )
    assert one == again != two


def test_the_secret_is_not_written_beside_it(tmp_path, plan):
    with pytest.raises(InvalidInput, match="with_secret must not be set for a random release"):
        tl.release(TABLE, plan, tmp_path / "safe.csv", with_secret=True)


@pytest.mark.parametrize("other", [False, True])
def test_coarser_values_must_be_inputs(other):
    """Rare jobs are joined as "other" only if the channel has that input; each change meets the budget on the table."""
    jobs = [f"job {at}" for at in range(6)]
    table = pa.table(
        {
            "job": [job for at, job in enumerate(jobs) for _ in range(12 + 20 * at)],
            "ill": [("flu" if nr < 3 + at else "none") for at in range(6) for nr in range(12 + 20 * at)],
        }
    )
    inputs = [*jobs, "other"] if other else jobs
    size = len(inputs)
    rows = [[Fraction(9 * (x == y) + 1, size + 9) for y in range(size)] for x in range(size)]
    plan = Policy("ill", [Released("job", mechanism=tl.Channel(rows, inputs, inputs))])
    found = tl.audit(table, policy=plan, budget="1.4x")
    assert found.verdict is False
    joined = [remedy for remedy in found.remedies if "other" in change_words(plan, remedy)]
    assert bool(joined) == other
    for remedy in found.remedies:
        assert tl.audit(table, policy=remedy.policy, budget="1.4x").verdict is True
