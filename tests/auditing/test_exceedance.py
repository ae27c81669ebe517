"""The bound on the share above a level: its parts by brute force, its promise by simulation, its width."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from benchmarks.sample_bounds import census, counted, draw
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, nchypergeom_fisher

import tightlip as tl
from tightlip.auditing import exceedance
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
from tightlip.numeric.proportions import clopper_pearson, lower_shares

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


def tally_of(counts):
    secret, cell = np.nonzero(counts)
    return Tally.of(secret, cell, counts[secret, cell], counts.shape)


def by_definition(counts, level, prior, error):
    """The largest s, on a grid, for which some set of cells may be B and have probability s: all sets are tried."""
    total, sizes = counts.sum(), counts.sum(axis=0)
    q = lower_shares(sizes, total, exceedance._MARGINS * error)
    cells = range(len(sizes))
    above = [x for x in range(len(prior)) if level * prior[x] < 1]
    tails = [
        max(
            (
                min(
                    table_tail(counts[x, y], counts[x].sum(), sizes[y], total, odds(level, q[y], prior[x]))
                    / 0.9,
                    binom.cdf(counts[x, y], sizes[y], level * prior[x]) / 0.1,
                )
                for x in above
            ),
            default=0.0,
        )
        for y in cells
    ]
    reach = [log_bet(counts[:, y], level, prior, above) for y in cells]
    limit = -np.log(exceedance._TOGETHER * error / 2)
    best = 0.0
    for s in np.linspace(0.004, 1, 250):
        cuts = [tails[y] > exceedance._CELLS * error * sizes[y] / (total * s) for y in cells]
        sets = [
            b
            for size in range(len(sizes) + 1)
            for b in combinations([y for y in cells if cuts[y]], size)
            if all(sum(reach[y][bet] for y in b) < limit for bet in (0, 1))
        ]
        rows = max(sum(sizes[y] for y in b) for b in sets)
        best = s if binom.cdf(rows, total, s) > exceedance._ROWS * error else best
    return best


def table_tail(count, first, second, total, odds):
    return nchypergeom_fisher(total, first, second, odds).cdf(count)


def odds(t, q, p):
    return t * (1 - q - p + t * q * p) / ((1 - t * q) * (1 - t * p)) if t * q < 1 else np.inf


def log_bet(counts, level, prior, above):
    found = []
    for tilt, staked in exceedance._BETS:
        ratios = [
            tilt ** int(counts[x])
            * ((1 - tilt * level * prior[x]) / (1 - level * prior[x])) ** int(counts.sum() - counts[x])
            for x in above
        ]
        found.append(np.log(1 - staked + staked * min(ratios)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_what_trying_every_set_of_cells_gives(seed):
    """Never below the definition; above it by the linear program's fraction of a cell at most."""
    generator = np.random.default_rng(seed)
    sizes = generator.multinomial(600, generator.dirichlet(np.full(6, 1.5))) + 8
    held = np.clip(generator.choice([0.04, 0.1, 0.3], (1, 6)) + generator.normal(0, 0.02, (1, 6)), 0.01, 1)
    ill = np.minimum(generator.binomial(sizes, held[0]) + 1, sizes - 1)
    counts, error = np.stack([sizes - ill, ill]), float(generator.choice([0.05, 0.5]))
    found = bound_of(tally_of(counts), 2.0, error, [0.85, 0.1])
    exact = by_definition(counts, 2.0, [0.85, 0.1], error)
    assert exact - 1e-9 <= found
    assert found <= exact + 0.004 + sizes.max() / sizes.sum()


def test_the_bound_fails_as_rarely_as_it_says_where_one_cell_is_near_the_level():
    """Two cells, one barely above the level: it is often left out, though not more often than the error allows."""
    masses, generator, error = np.array([[0.26, 0.64], [0.0451, 0.0549]]), np.random.default_rng(2), 0.2
    share, prior = masses[:, 0].sum(), masses.sum(axis=1)
    level = float(masses[1, 0] / share / prior[1]) - 1e-3
    drawn = [generator.multinomial(2000, masses.ravel()).reshape(2, 2) for _ in range(100)]
    fails = sum(bound_of(tally_of(counts), level, error, prior) < share for counts in drawn)
    assert 4 <= fails <= 20 + 12  # the error is 20 %, with three standard errors; and it is used


def test_where_cells_are_far_from_the_level_only_the_number_of_rows_is_unsure():
    tally = tally_of(np.array([[200, 1000, 5000], [800, 20, 10]]))
    rows = clopper_pearson(1000, tally.total, Fraction(exceedance._ROWS) * Fraction(1, 20))[1]
    assert bound_of(tally, 3.0, 0.05) == pytest.approx(rows, rel=1e-9)


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


def test_the_bound_does_not_depend_on_the_order_of_secrets():
    """Of rare secrets that tie at the scope's end, the one of fewest rows is the hardest to exclude from a cell."""
    counts = np.array([[58, 162], [2, 7], [0, 5], [0, 3]])
    found = set()
    for order in permutations(range(4)):
        own = counts[list(order)]
        secret, cell = np.nonzero(own)
        tally = Tally.of(secret, cell, own[secret, cell], own.shape)
        found.add(most_above(tally, prior_bounds(tally.of_secret, tally.total, 0.001), tl.log_of(2), 0.01))
    assert len(found) == 1
    assert min(found) > 0.25  # it was .011 where the more frequent of the two came first
