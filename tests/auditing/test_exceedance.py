"""The bound on the share above a level: its parts by brute force, its promise by simulation, its width."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from benchmarks.sample_bounds import census, counted, draw
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from tightlip.auditing.exceedance import _most_rows, _odds_ratio, upper_exceedance
from tightlip.auditing.rows_needed import rows_to_decide
from tightlip.auditing.sample import (
    Errors,
    SampleMode,
    least_above,
    most_above,
    prior_bounds,
    release_bounds,
    sample_bounds,
)
from tightlip.auditing.tally import Tally

THREE = tl.log_of(3)
SHARES = st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=50)


@given(
    SHARES, SHARES, st.sampled_from(["1", "3/2", "3"]), st.fractions(0, Fraction(1, 10)), st.fractions(1, 2)
)
@settings(max_examples=200)
def test_a_larger_lift_and_larger_shares_have_a_larger_odds_ratio(q, p, level, less, more):
    """The ratio of a table with shares q, p and lift t·more is at least that of smaller shares at t."""
    t = Fraction(level)
    lift = t * more
    if lift * q >= 1 or lift * p >= 1:
        return
    both = lift * q * p
    true = both * (1 - q - p + both) / ((q - both) * (p - both))
    low = [np.array([float(share * (1 - less)) * (1 - 1e-12)]) for share in (q, p)]
    bound = float(_odds_ratio(float(t), *low)[0])
    assert float(t) <= bound <= true


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(-8, 20)), min_size=1, max_size=7), st.integers(0, 20)
)
@settings(max_examples=150)
def test_no_choice_of_cells_has_more_rows_than_the_linear_program(cells, limit):
    rows, weights = np.array(cells).T
    found = _most_rows(rows, weights.astype(float), float(limit))
    best = max(
        sum(rows[y] for y in range(len(cells)) if chosen[y])
        for chosen in product([False, True], repeat=len(cells))
        if sum(weights[y] for y in range(len(cells)) if chosen[y]) <= limit
    )
    assert best <= found <= best + max(rows)


def bound_of(tally, level, error, known=None):
    """The bound with priors that are known, so that its own error is all there is."""
    prior = np.asarray(known) if known is not None else tally.of_secret / tally.total
    seen = np.zeros(tally.shape)
    seen[tally.secret, tally.cell] = 1
    rank = np.argsort(prior)
    absent = [next((int(x) for x in rank if not seen[x, y]), -1) for y in range(tally.shape[1])]
    return upper_exceedance(tally, np.array(absent), prior, level, error)


def near_the_level(cells, tell, ill=0.1):
    """Half of the people in cells of a lift of 3/2 · tell, about the level 3/2."""
    held = np.where(np.arange(cells) < cells / 2, 1.5 * tell, 2 - 1.5 * tell) * ill
    return np.stack([(1 - held) / cells, held / cells])


@pytest.mark.parametrize(("cells", "rows"), [(4, 800), (40, 800), (400, 1200)])
def test_the_bound_keeps_its_promise_where_every_cell_is_near_the_level(cells, rows):
    """At an error of one half the bound may fail in half of all samples, here where cells are easily left out."""
    masses, generator = near_the_level(cells, 1.002), np.random.default_rng(2)
    fails = 0
    for _ in range(40):
        counts = generator.multinomial(rows, masses.ravel()).reshape(masses.shape)
        secret, cell = np.nonzero(counts)
        names, cell = np.unique(cell, return_inverse=True)
        tally = Tally.of(secret, cell, counts[counts > 0], (2, len(names)))
        fails += bound_of(tally, 1.5, 0.5, [0.9, 0.1]) < 0.5
    assert fails <= 20 + 10  # three standard errors above one half
    assert bound_of(tally, 1.5, 0.5, [0.9, 0.1]) < 1


def test_a_bound_with_errors_a_thousand_times_too_large_is_found_out():
    """The simulation above can fail: with a p-value's threshold that leaves out everything, the bound is below."""
    masses, generator = near_the_level(4, 1.002), np.random.default_rng(2)
    counts = generator.multinomial(800, masses.ravel()).reshape(masses.shape)
    secret, cell = np.nonzero(counts)
    tally = Tally.of(secret, cell, counts[counts > 0], (2, 4))
    assert bound_of(tally, 1.5, 0.5, [0.9, 0.2]) < 0.5  # priors that are not lower bounds


def test_the_census_is_bounded_below_nine_per_cent():
    """Ten cells, 7287 rows, a secret held by 6.3 %: 6.3 % of people are above a factor of 3, and nearly all told so."""
    case, generator = census(), np.random.default_rng(0)
    found = []
    for _ in range(20):
        release = counted(draw(case, generator))
        bounds = release_bounds(release, release, {}, Errors(0.05 / 12, 0.05 * 10 / 12), SampleMode(), THREE)
        found.append(float(bounds.above_level(THREE)))
        assert bounds.at_least_above(THREE) <= 0.063
    assert np.median(found) < 0.075
    assert np.mean(np.array(found) < 0.09) >= 0.75
    assert np.mean(np.array(found) >= 0.063) >= 0.85  # 95 % and two standard errors


def test_many_small_cells_are_judged_together():
    """A thousand cells of eight rows, a tenth ill: none can be judged, but few can be above a factor of 4."""
    generator = np.random.default_rng(3)
    ill = generator.binomial(8, 0.1, 1000)
    pairs = [(1, y, int(c)) for y, c in enumerate(ill) if c] + [
        (0, y, 8 - int(c)) for y, c in enumerate(ill) if c < 8
    ]
    tally = Tally.of(*map(list, zip(*pairs, strict=True)), (2, 1000))
    priors = prior_bounds(tally.of_secret, tally.total, 0.005)
    assert most_above(tally, priors, tl.log_of(4), 0.04) < 0.16


@pytest.mark.parametrize("level", [THREE, tl.log_of("3/2")])
def test_cells_kept_as_one_column_have_the_same_bounds(level):
    """Equal cells are one column of a tally by kind; everything that is bounded is the same."""
    cells = [(6, 30), (6, 30), (6, 30), (1, 40), (1, 40), (0, 7), (0, 7), (30, 400), (25, 300)]
    pairs = [(x, y, count) for y, pair in enumerate(cells) for x, count in enumerate(pair) if count]
    tally = Tally.of(*map(list, zip(*pairs, strict=True)), (2, len(cells)))
    kinds, _ = tally.by_kind()
    assert kinds.shape[1] < tally.shape[1]
    one, other = (
        sample_bounds(t, prior_bounds(t.of_secret, t.total, 0.01), 0.04, level) for t in (tally, kinds)
    )
    assert (one.above, one.at_least, one.most) == (other.above, other.at_least, other.most)
    assert one.upper_envelope(Fraction(1, 10)) == other.upper_envelope(Fraction(1, 10))
    assert rows_to_decide(tally, level, Fraction(1, 9), Errors(0.01, 0.04)) == rows_to_decide(
        kinds, level, Fraction(1, 9), Errors(0.01, 0.04)
    )


def test_without_a_budget_the_level_of_delta_is_asked():
    tally = counted(draw(census(), np.random.default_rng(0))).tally
    priors, delta = prior_bounds(tally.of_secret, tally.total, 0.005), Fraction(1, 10)
    asked, plain = sample_bounds(tally, priors, 0.04, delta=delta), sample_bounds(tally, priors, 0.04)
    held = [
        min(float(level) for level, share in zip(b.levels, b.above, strict=True) if share <= delta)
        for b in (asked, plain)
    ]
    assert held[0] < held[1]


def scaled(tally, rows):
    factor = rows / tally.total
    count = np.rint(tally.count * factor).astype(int)
    return Tally.of(tally.secret, tally.cell, count, tally.shape)


@pytest.mark.parametrize(("delta", "side"), [("13/200", "kept"), ("1/25", "broken"), ("1/4", "decided")])
def test_rows_to_decide_are_as_many_as_the_bounds_need(delta, side):
    """Counts like those observed decide it with the rows that are told, and with a tenth fewer they do not."""
    tally, errors = counted(draw(census(), np.random.default_rng(0))).tally, Errors(0.004, 0.04)
    share, rows = rows_to_decide(tally, THREE, Fraction(delta), errors)
    assert share.fraction == Fraction(456, 7287)

    def decides(rows):
        grown = scaled(tally, rows)
        priors = prior_bounds(grown.of_secret, grown.total, errors.priors)
        low = least_above(grown, priors, THREE, errors.release)
        return (most_above(grown, priors, THREE, errors.release) <= Fraction(delta), low > Fraction(delta))

    assert (side == "decided") == (rows == tally.total)
    assert decides(rows) == (side != "broken", side == "broken")
    assert side == "decided" or decides(int(rows * 0.9)) == (False, False)


def test_no_rows_decide_what_is_exactly_as_much_as_allowed():
    tally = Tally.of([0, 1, 0, 1], [0, 0, 1, 1], [10, 30, 170, 190], (2, 2))
    share, rows = rows_to_decide(tally, tl.log_of("5/4"), Fraction(1, 10), Errors(0.01, 0.04))
    assert (share.fraction, rows) == (Fraction(1, 10), None)
