"""A view of a population: every number against its definition, the envelope against the true counts."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import audit_oracle as oracle
import tightlip as tl
from tightlip.auditing.budget import Budget, Rule
from tightlip.auditing.counted import Counted
from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.leakage import cell_pml, tail_levels
from tightlip.auditing.result import largest_posterior
from tightlip.auditing.tally import Tally
from tightlip.auditing.view import population_view, tail_of
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.envelopes.limits import LIMITS
from tightlip.numeric.budget import Allowed
from tightlip.numeric.quantity import Nats

ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from("01")), min_size=3, max_size=40
).filter(lambda rows: len({row[0] for row in rows}) > 1)


def view_of(rows, delta=Fraction(1, 10), budget=None):
    counted = Counted.of(oracle.counts_of(rows), ["s"], ["a", "b"])
    rules = None if budget is None else Budget((Rule(Allowed.read(budget)),))
    return counted, population_view(counted, Fraction(1), delta, rules, columns=())


@given(ROWS)
@settings(max_examples=30)
def test_a_view_is_the_definition(rows):
    counted, view = view_of(rows, budget=tl.log_of(2))
    joint = oracle.joint_of(rows)
    prior, cell = oracle.margins(joint)
    lifts = oracle.lifts(joint)
    assert view.worst.leakage.ratio == max(lifts.values())
    assert lifts[counted.cell_label(view.worst.cell)] == max(lifts.values())
    assert view.worst.posterior.fraction / view.worst.prior.fraction == max(lifts.values())
    assert view.worst.prior.fraction == prior[counted.secret_label(view.worst.secret)]
    assert view.at_least <= view.worst.leakage
    assert [point.above.fraction for point in view.tail] == [
        oracle.tail(joint, point.level.ratio) for point in view.tail
    ]
    assert view.tail[-1].above == 0
    assert view.share_above_budget.fraction == oracle.tail(joint, 2)
    assert view.maximal_leakage.ratio == oracle.maximal_leakage(joint)
    costs = oracle.costs(joint)
    if None in costs.values():
        found = (counted.secret_label(view.pmc.secret), counted.cell_label(view.pmc.cell))
        assert view.pmc.leakage == np.inf
        assert found not in joint
        others = [prior[x] for x in prior for y in cell if (x, y) not in joint]
        assert view.pmc.prior.fraction == max(others)
    else:
        assert view.pmc.leakage.ratio == max(costs.values())
    assert [risk.size for risk in view.worst_cells] == [
        cell[counted.cell_label(risk.cell)] * len(rows) for risk in view.worst_cells
    ]


@given(ROWS, st.sampled_from(["1/100", "1/10", "1/2", "1"]))
@settings(max_examples=25)
def test_the_envelope_is_that_of_the_exact_channel_and_its_groups_reach_it(rows, delta):
    counted, view = view_of(rows, Fraction(delta))
    exact = tl.envelope(counted.tally.channel(), counted.tally.prior(), delta)
    assert view.envelope.lower <= exact.upper
    assert exact.lower <= view.envelope.upper
    for group in view.attack:
        assert np.log(group.posterior / group.prior) >= view.envelope.lower - 1e-8
        assert group.cells
    assert sum(group.probability for group in view.attack) >= float(Fraction(delta)) - 1e-9


def test_the_attack_says_when_it_splits_cells():
    rows = [("x", "a", "0")] * 3 + [("y", "a", "0")] + [("x", "b", "0")] * 4 + [("y", "b", "0")] * 8
    _, view = view_of(rows, Fraction(3, 10))
    whole = [group for group in view_of(rows, Fraction(1, 4))[1].attack if not group.split]
    assert [group.cells for group in whole] == [(0,)]
    assert any(group.split for group in view.attack)


@pytest.mark.parametrize("delta", ["1/50", "1/3", "1"])
def test_float_envelopes_hold_for_the_true_counts(monkeypatch, delta):
    generator = np.random.default_rng(9)
    counts = generator.integers(0, 9, size=(4, 60))
    counts[:, 0] = 3
    secret, cell = np.nonzero(counts)
    tally = Tally.of(secret, cell, counts[secret, cell], counts.shape)
    exact, _ = tally_envelope(tally, Fraction(delta))
    assert "widened" not in exact.method
    monkeypatch.setattr("tightlip.auditing.tally.EXACT_ENTRIES", 0)
    rounded, _ = tally_envelope(tally, Fraction(delta))
    assert "widened" in rounded.method
    assert rounded.lower <= exact.upper
    assert exact.lower <= rounded.upper
    assert abs(rounded.upper - exact.upper) < 1e-8
    rounded.verify()


@pytest.mark.parametrize("delta", ["1/100", "1/5", "9/10"])
def test_large_tables_are_checked_in_rationals_too(monkeypatch, delta):
    generator = np.random.default_rng(2)
    counts = generator.integers(0, 6, size=(4, 120)) * (generator.random((4, 120)) < 0.5)
    counts[0, counts.sum(axis=0) == 0] = 1
    secret, cell = np.nonzero(counts)
    tally = Tally.of(secret, cell, counts[secret, cell], counts.shape)
    exact, _ = tally_envelope(tally, Fraction(delta))
    checked = []
    verify = EnvelopeCertificate.verify
    monkeypatch.setattr("tightlip.auditing.tally.EXACT_ENTRIES", 0)
    monkeypatch.setattr(EnvelopeCertificate, "verify", lambda self: (checked.append(1), verify(self)))
    found, attack = tally_envelope(tally, Fraction(delta), limits=replace(LIMITS, verified_pairs=10))
    assert checked
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.gap < 1e-6
    assert sum(group.probability for group in attack) >= float(Fraction(delta)) * (1 - 1e-9)


def test_channel_and_prior_of_a_view():
    _, view = view_of([("x", "a", "0"), ("y", "a", "0"), ("y", "b", "1")])
    assert tl.pml(view.channel, view.prior).worst.ratio == view.worst.leakage.ratio


def test_a_tail_ends_where_nobody_leaks_more_also_where_floats_are_equal():
    big = 10**40  # the worst lift is 2 + 1/big, whose logarithm has the same float as log 2
    tally = Tally.of([0, 1], [0, 1], np.array([big, big + 1], dtype=object), (2, 2))
    gain = cell_pml(tally)
    assert gain.value(0) == tl.log_of(2)
    assert [point.level.ratio for point in tail_of(gain)[-2:]] == [2, Fraction(5, 2)]
    assert [point.above.fraction for point in tail_of(gain)[-2:]] == [Fraction(big, 2 * big + 1), 0]


def test_levels_are_fixed_and_exact():
    levels = tail_levels()
    assert levels[0].ratio == 1
    assert levels[-1].ratio == 10**6
    assert list(levels) == sorted(levels)


def test_a_posterior_is_capped_and_rounded_up():
    assert largest_posterior(Fraction(1, 20), tl.log_of(4)).fraction == Fraction(1, 5)
    assert largest_posterior(0.5, tl.log_of(4)) == 1
    assert largest_posterior(0.05, Nats(np.inf)) == 1
    assert largest_posterior(0.05, 2.1) >= 0.05 * np.exp(2.1)
