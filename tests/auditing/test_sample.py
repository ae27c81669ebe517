"""Samples: every claim of an audit holds, all of them together, as often as is said."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from audit_oracle import counts_of
from sample_oracle import Claims, Population
from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml, tail_levels
from tightlip.auditing.run import audit, audit_counts
from tightlip.auditing.sample import SampleMode, exceeds, levels_with, prior_bounds, sample_bounds
from tightlip.auditing.tally import Tally
from tightlip.numeric.quantity import Nats
from tightlip.report.audit_words import paragraphs, verdict
from tightlip.table.policy import Policy

DELTA = Fraction(1, 20)


def few_cells(generator):
    return Population(generator.dirichlet(np.full(12, 2.0)).reshape(3, 2, 2))


def rare_cells(generator):
    """Thirty-nine rare values, each telling its secret for sure."""
    masses = np.zeros((2, 40))
    masses[:, 0] = 0.4, 0.44
    masses[generator.integers(0, 2, 39), np.arange(1, 40)] = 0.004
    return Population(masses)


def rare_secrets(generator):
    shares = [0.6, 0.3, 0.07, 0.02, 0.009, 0.001]
    return Population([share * generator.dirichlet(np.full(4, 0.5)) for share in shares])


def nearly_certain(_):
    return Population(np.eye(3) + 1e-4)


def two_secrets(generator):
    return Population(generator.dirichlet(np.full(2 * 3 * 3, 0.4)).reshape(2, 3, 3), secrets=2)


POPULATIONS = [
    (few_cells, 300),
    (rare_cells, 200),
    (rare_secrets, 400),
    (nearly_certain, 100),
    (two_secrets, 200),
]


@pytest.mark.parametrize(("population", "rows"), POPULATIONS)
@pytest.mark.parametrize("odds", [{}, {"c0": "3"}])
def test_all_claims_hold_together_often_enough(population, rows, odds):
    generator = np.random.default_rng(20)
    claims = Claims(population(generator), odds, mode=SampleMode(0.5))
    found = [claims.false_ones(rows, generator) for _ in range(6)]
    false = [wrong for wrong in found if wrong]
    assert len(false) <= 5, false  # at confidence one half, all six fail in one case of 64 at most


@pytest.mark.parametrize("odds", [{"c0": "2", "c1": "3/2"}, {"c1": "20"}, {"c0": "1"}])
def test_all_claims_hold_together_with_any_noise(odds):
    generator = np.random.default_rng(21)
    claims = Claims(few_cells(generator), odds, mode=SampleMode(0.5))
    false = [wrong for wrong in (claims.false_ones(2000, generator) for _ in range(2)) if wrong]
    assert len(false) <= 1


def sample_of(masses, rows, generator):
    counts = generator.multinomial(rows, np.ravel(masses)).reshape(np.shape(masses))
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    secret, cell = np.nonzero(counts)
    return Tally.of(secret, cell, counts[secret, cell], counts.shape)


def bounds_of(tally, error, budget=None, **options):
    priors = prior_bounds(tally.of_secret, tally.total, error / 4)
    return sample_bounds(tally, priors, error * 3 / 4, budget, **options)


def test_a_plug_in_would_break_the_promise_that_the_bounds_keep():
    generator = np.random.default_rng(3)
    masses = np.array([[0.126, 0.374], [0.074, 0.426]])  # the first cell has lift 1.26, just above 5/4
    claims, level = Claims(Population(masses), mode=SampleMode(0.8)), tl.log_of("5/4")
    short = sum(cell_pml(sample_of(masses, 300, generator)).tail(level) == 0 for _ in range(40))
    assert short > 0.2 * 40  # more often than allowed
    assert sum(bool(claims.false_ones(300, generator)) for _ in range(10)) <= 2 + 3 * 1.3


def test_more_rows_bring_the_bounds_closer():
    generator = np.random.default_rng(4)
    masses = np.array([[0.3, 0.1], [0.2, 0.4]])
    found = [
        bounds_of(sample_of(masses, rows, generator), 0.05).upper_envelope(Fraction(1, 2))
        for rows in (200, 20000)
    ]
    prior = masses.sum(axis=1)
    true = tl.envelope(tl.Channel(masses / prior[:, None]), tl.Prior(prior), Fraction(1, 2)).upper
    assert found[0] > found[1] > 0
    assert bounds_of(sample_of(masses, 10**6, generator), 0.05).above_level(tl.log_of(2)) < Fraction(1, 1000)
    assert found[1] < true + 0.5


def test_lower_bounds_find_a_real_leak():
    generator = np.random.default_rng(6)
    masses = np.array([[0.1, 0.0, 0.4], [0.0, 0.1, 0.4]])
    bounds = bounds_of(sample_of(masses, 5000, generator), 0.05)
    assert 1.7 < bounds.cells.lower.max() <= 2.0
    assert 1.7 < bounds.cells.lower.max() <= bounds.cells.upper.max()
    assert bounds.lower_envelope(Fraction(1, 10)) >= float(np.log(1.5)) - 1e-12
    assert bounds.lower_envelope(Fraction(1, 2)) == 0.0


def test_complete_cells_bound_the_worst_leakage_by_those_seen():
    generator = np.random.default_rng(7)
    tally = sample_of(np.array([[0.25, 0.25], [0.2, 0.3]]), 5000, generator)
    some, every = (bounds_of(tally, 0.05, cells_complete=complete) for complete in (False, True))
    assert every.most < 1.5 < 1.9 < some.most
    assert every.upper_envelope(DELTA) < some.upper_envelope(DELTA)


def test_the_budget_is_one_of_the_levels_and_rounded_to_the_safe_side():
    generator = np.random.default_rng(8)
    tally = sample_of(np.array([[0.25, 0.25], [0.2, 0.3]]), 5000, generator)
    bounds = bounds_of(tally, 0.05, Nats(0.3))
    assert 0.3 in [float(level) for level in bounds.levels]
    assert bounds.above_level(Nats(0.3)) <= bounds.above[0]
    assert bounds_of(tally, 0.05, tl.log_of(2)).levels == tail_levels()
    assert bounds.above_level(Nats(0.0)) == bounds.above[0]


def test_secrets_too_rare_for_the_sample_are_out_of_scope():
    tally = Tally.of([0, 1, 2], [0, 0, 1], [600, 399, 1], (3, 2))
    bounds = bounds_of(tally, 0.05)
    assert bounds.priors.proved[2] == 0.0
    assert bounds.priors.lower[2] == bounds.priors.rarest
    assert bounds.most < 200


def test_sample_mode_reads():
    assert SampleMode("0.9").confidence == 0.9


def test_levels_are_compared_exactly_where_floats_are_equal():
    close = tl.log_of(2 - Fraction(1, 10**30))
    assert float(close) == float(tl.log_of(2))
    assert exceeds(tl.log_of(2), close)
    assert [level.ratio for level in levels_with(close)[3:5]] == [close.ratio, 2]
    just_below, just_above = Nats(0.6931471805599453), Nats(0.6931471805599454)
    assert exceeds(tl.log_of(2), just_below)
    assert exceeds(just_above, tl.log_of(2))
    assert not exceeds(tl.log_of(2), just_above)
    assert not exceeds(Nats(0.0), tl.log_of(1))
    assert levels_with(just_above)[3:5] == (tl.log_of(2), just_above)
    assert levels_with(just_below)[3:5] == (just_below, tl.log_of(2))


@pytest.mark.parametrize("budget", [800.0, 1e6, tl.log_of(10**400)])
def test_budgets_beyond_all_floats_are_kept(budget):
    tally = Tally.of([0, 1, 0, 1], [0, 0, 1, 1], [50, 30, 30, 50], (2, 2))
    bounds = bounds_of(tally, 0.05, budget if isinstance(budget, Nats) else Nats(budget))
    assert bounds.above[-1] == bounds.at_least[-1] == 0
    assert bounds.upper_envelope(DELTA) == bounds_of(tally, 0.05, tl.log_of(10**6)).upper_envelope(DELTA)


def test_whatever_is_made_of_a_release_leaks_less_often_than_its_worst_part_allows():
    """Against every way to merge the cells of small populations, by brute force."""
    generator = np.random.default_rng(5)
    for _ in range(20):
        masses = generator.dirichlet(np.full(8, 0.6)).reshape(2, 4)
        bounds = exact_bounds(masses)
        for groups in np.ndindex(3, 3, 3, 3):
            merged = np.zeros((2, 3))
            np.add.at(merged.T, list(groups), masses.T)
            merged = merged[:, merged.sum(axis=0) > 0]
            cell = merged.sum(axis=0)
            lifts = (merged / masses.sum(axis=1)[:, None] / cell).max(axis=0)
            for level, allowed in zip(bounds.levels, bounds.after_processing(bounds.levels), strict=True):
                assert cell[lifts > float(level.ratio) * (1 + 1e-9)].sum() <= float(allowed) + 1e-9


def exact_bounds(masses):
    """The bounds of a population as if its tails were known."""
    prior, cell = masses.sum(axis=1), masses.sum(axis=0)
    lifts = (masses / prior[:, None] / cell).max(axis=0)
    tally = Tally.of([0, 1], [0, 0], [1, 1], (2, 1))
    levels = tail_levels()
    above = tuple(Fraction(min(cell[lifts > float(level.ratio)].sum(), 1.0)) for level in levels)
    return replace(bounds_of(tally, 0.05), most=float(lifts.max()), levels=levels, above=above)


def test_every_bound_about_a_secret_has_the_scope_that_is_told():
    """The release of one column is the whole release: nothing about it may rest on a narrower scope."""
    rows = [("r", "tell")] * 12 + [("x", "u"), ("y", "v"), ("x", "v"), ("y", "u")] * 497
    found = audit(pd.DataFrame(rows, columns=["s", "a"]), "s", ["a"], sample=SampleMode(), delta="1/1000")
    rarest = float(found.deciding.certified.rarest)
    assert found.deciding.columns[0].alone >= np.log(
        1 / rarest
    )  # a secret of that share may be told for sure


def test_a_secret_that_is_in_scope_only_by_itself_decides_the_verdict():
    """Joint secrets are all too rare to judge, while a tenth of the people are told apart by one of the columns."""
    rows = [("xy"[place >= 200], str(place), "uv"[place >= 200]) for place in range(2000)]
    counted = Counted.of(counts_of(rows, 2), ["s", "name"], ["a"])
    found = audit_counts(
        counted,
        Policy(["s", "name"], ["a"], jointly=True),
        kinds={},
        delta=DELTA,
        budget=tl.log_of("23/2"),
        sample=SampleMode(cells_complete=True),
    )
    joint, one, _ = [float(view.share_above_budget) for view in found.views.values()]
    assert joint == 0 < one
    assert found.verdict is False
    assert "could not be proved to be at most 5 %" in verdict(found)
    assert "at most 0 %" not in verdict(found)


def test_a_prior_out_of_scope_is_not_promised_anything():
    frame = pd.DataFrame({"s": list("xxxxxxyyyyyy"), "a": list("uuuvvvuuvvvv")})
    found = audit(frame, "s", ["a"], sample=SampleMode(0.5))
    told = " ".join(paragraphs(found))
    assert found.deciding.certified.rarest > 0.05
    assert "prior 5 %" not in told
    assert "can rise" not in told  # to 100 %, which says nothing
