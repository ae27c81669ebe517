"""A column mechanism is one class: one that src does not know is read, written, audited and strengthened.

`Erasure` releases a value with probability 1 − p and "lost" otherwise. It stands in this file alone.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit_oracle as oracle
import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pmc, cell_pml
from tightlip.auditing.plan import apply_policy
from tightlip.auditing.remedy import detail_of, entropy_of
from tightlip.auditing.run import audit_counts
from tightlip.auditing.sample import SampleMode
from tightlip.errors import InvalidInput, WrongType
from tightlip.report.audit_words import change_words, reason_words
from tightlip.table.mechanism import MECHANISMS, ColumnChannel, ColumnMechanism, RandomizedResponse
from tightlip.table.policy import Policy, Released
from tightlip.table.policy_file import policy_toml

ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from(["0", "1", None])),
    min_size=2,
    max_size=30,
)


@dataclass(frozen=True)
class Erasure(ColumnMechanism):
    probability: Fraction

    key = "erasure"
    largest_of = "no smaller probability in tenths meets the budget"

    @classmethod
    def read(cls, setting):
        return cls(Fraction(setting))

    def setting(self):
        return str(self.probability)

    def words(self):
        return f"erasure with probability {self.probability}"

    def channel(self, values):
        rows = [
            [(1 - self.probability if one == other else 0) for other in values] + [self.probability]
            for one in values
        ]
        return ColumnChannel.of((*values, "lost"), rows)

    def noisier(self):
        tenths = [Fraction(part, 10) for part in range(9, 0, -1)]
        return [Erasure(part) for part in tenths if part > self.probability]


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(MECHANISMS, Erasure.key, Erasure)


def erased(joint, place, probability):
    """By hand: the value goes, or it stays; hidden cells (None) stay."""
    found = Counter()
    for (x, y), mass in joint.items():
        if y is None:
            found[x, y] += mass
            continue
        found[x, y] += mass * (1 - probability)
        found[x, (*y[:place], "lost", *y[place + 1 :])] += mass * probability
    return {pair: mass for pair, mass in found.items() if mass}


def counted_of(rows):
    return Counted.of(oracle.counts_of(rows), ["s"], ["a", "b"][: len(rows[0]) - 1])


def by_cell(counted, leak):
    return {counted.cell_label(cell): leak.ratio(cell) for cell in range(counted.tally.shape[1])}


@given(ROWS, st.none() | st.integers(1, 5), st.sampled_from(["0", "1/3", "9/10", "1"]))
@settings(max_examples=60)
def test_a_release_with_erasure_is_the_definition(rows, min_count, probability):
    lost = Fraction(probability)
    plan = Policy("s", ["a", Released("b", mechanism=Erasure(lost))], min_count=min_count)
    joint = oracle.suppress(oracle.joint_of(rows), len(rows), min_count or 0)
    several = len({row[2] for row in rows}) > 1
    joint = erased(joint, 1, lost) if several else joint
    found = apply_policy(counted_of(rows), plan)
    assert by_cell(found, cell_pml(found.tally)) == oracle.lifts(joint)
    assert by_cell(found, cell_pmc(found.tally)) == oracle.costs(joint)


@given(ROWS)
@settings(max_examples=30)
def test_mechanisms_of_different_kinds_act_independently(rows):
    one, two = (
        Released("a", mechanism=RandomizedResponse(tl.log_of(3))),
        Released("b", mechanism=Erasure(Fraction(1, 4))),
    )
    firsts, seconds = ({row[place] for row in rows} for place in (1, 2))
    joint = oracle.joint_of(rows)
    joint = oracle.randomise(joint, 0, firsts, Fraction(3)) if len(firsts) > 1 else joint
    joint = erased(joint, 1, Fraction(1, 4)) if len(seconds) > 1 else joint
    found = apply_policy(counted_of(rows), Policy("s", [one, two]))
    assert by_cell(found, cell_pml(found.tally)) == oracle.lifts(joint)


def test_an_audit_says_what_erasure_gives_away():
    """Illness x is held by 3 of 4 in cell a and 1 of 4 in cell b; losing the value half the time changes neither."""
    rows = [("x", "a")] * 3 + [("y", "a")] + [("x", "b")] + [("y", "b")] * 3
    counted = counted_of(rows)
    plan = Policy("s", [Released("a", mechanism=Erasure(Fraction(1, 2)))])
    found = audit_counts(counted, plan, kinds={}, delta=Fraction(1, 2), budget=tl.log_of("5/4"))
    view = found.views["s"]
    assert view.worst.leakage.ratio == Fraction(3, 2)
    assert view.share_above_budget.fraction == Fraction(1, 2)
    assert view.maximal_leakage.ratio == Fraction(5, 4)
    cells = {view.counted.cell_label(cell): view.counted.holders_of(cell) for cell in range(3)}
    assert cells == {("a",): 4, ("b",): 4, ("lost",): 0}
    assert found.verdict is False


def test_a_remedy_takes_the_least_noise_of_the_columns_own_mechanism():
    """Two erased columns: with both lost often enough no cell does; leakage is of the cells that stay."""
    rows = [("x", "a")] * 3 + [("y", "a")] + [("x", "b")] + [("y", "b")] * 3

    @dataclass(frozen=True)
    class Mixing(Erasure):
        """The uniform answer instead of none, so that more of it leaks less."""

        key = "mixing"

        def channel(self, values):
            part = self.probability / len(values)
            rows = [[(1 - self.probability if i == j else 0) + part for j in values] for i in values]
            return ColumnChannel.of(values, rows)

        def words(self):
            return f"mixing with probability {self.probability}"

        def noisier(self):
            return [Mixing(one.probability) for one in Erasure.noisier(self)]

    counted = counted_of(rows)
    plan = Policy("s", [Released("a", mechanism=Mixing(Fraction(1, 10)))])
    found = audit_counts(counted, plan, kinds={}, delta=Fraction(1, 2), budget=tl.log_of("5/4"))
    assert [change_words(plan, remedy) for remedy in found.remedies] == [
        "add mixing with probability 1/2 to a"
    ]
    (remedy,) = found.remedies
    assert remedy.leakage.ratio == Fraction(5, 4)
    assert (remedy.kind, reason_words(plan, remedy)) == ("optimal", Mixing.largest_of)
    assert remedy.policy.release[0].mechanism == Mixing(Fraction(1, 2))


def test_the_detail_that_noise_leaves_is_mutual_information():
    """Erasure keeps a share 1 − p of the entropy, whatever the values are."""
    rows = [("x", "a")] * 5 + [("y", "b")] * 2 + [("y", "c")]
    plain = counted_of(rows)
    found = apply_policy(plain, Policy("s", [Released("a", mechanism=Erasure(Fraction(1, 4)))]))
    assert detail_of(found) == pytest.approx(0.75 * entropy_of(plain.tally), abs=1e-12)


def test_it_is_read_and_written_as_any_other(tmp_path):
    plan = Policy("s", [Released("a", mechanism=Erasure(Fraction(1, 3))), Released("b")])
    path = tmp_path / "plan.toml"
    path.write_text(policy_toml(plan))
    assert 'erasure = "1/3"' in path.read_text()
    assert Policy.from_toml(path) == plan
    assert Policy.from_flags(["s"], ["a", "b"], randomize=["a=erasure 1/3"]) == plan
    assert plan.release[0].words() == "a as it is, then erasure with probability 1/3"


def test_a_column_has_one_mechanism(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('secret = "s"\n[release.a]\nerasure = "1/3"\nrandomized_response = 1\n')
    with pytest.raises(
        InvalidInput, match=r"release\.a must have one mechanism, got randomized_response and erasure"
    ):
        Policy.from_toml(path)
    with pytest.raises(
        WrongType, match=r'mechanism of column "a" must be a ColumnMechanism or a Channel, got 0\.5; write'
    ):
        Released("a", mechanism=0.5)


def test_a_sample_refuses_noise_that_it_cannot_judge():
    counted = counted_of([("x", "a"), ("y", "b")] * 5)
    plan = Policy("s", [Released("a", mechanism=Erasure(Fraction(1, 2)))])
    with pytest.raises(InvalidInput, match="a sample can bound randomised response only, got erasure"):
        audit_counts(counted, plan, kinds={}, delta=Fraction(1, 2), budget=None, sample=SampleMode())


@pytest.mark.parametrize(
    "rows", [[["1/2", "1/3"]], [["3/2", "-1/2"]], [["1/2", "1/4", "1/4"]], [[0.1, 0.9]]], ids=str
)
def test_a_channel_has_rows_of_probabilities(rows):
    with pytest.raises(InvalidInput, match="channel row 0 must be 2 probabilities that sum to 1 exactly"):
        ColumnChannel.of(["a", "b"], rows)
    with pytest.raises(InvalidInput, match="outcomes must differ"):
        ColumnChannel.of(["a", "a"], [["1/2", "1/2"]])


@given(st.integers(2, 6), st.fractions(1, 50))
def test_the_compact_form_of_randomised_response_is_the_channel(count, odds):
    values = [str(place) for place in range(count)]
    compact = ColumnChannel.response(values, odds)
    rows = [[(odds if i == j else 1) / (odds + count - 1) for j in values] for i in values]
    dense = ColumnChannel.of(values, rows)
    for one in (compact, dense):
        assert [[one.probability(i, j) for j in range(count)] for i in range(count)] == rows
    assert compact.entropies() == pytest.approx(dense.entropies(), abs=1e-12)
