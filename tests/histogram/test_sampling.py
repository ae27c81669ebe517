"""Every sampler against a list of all histograms, by chi-square with a fixed seed."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from tightlip.errors import InvalidInput, NumericalFailure
from tightlip.histogram import chain, conditional
from tightlip.histogram.chain import chain_group_counts, split_r_hat
from tightlip.histogram.conditional import draw_given_secret
from tightlip.histogram.ratio_blocks import draw_ratio
from tightlip.histogram.sampling import uniform_histogram, uniform_in_groups
from tightlip.histogram.secret import Ratio, RatioDifference, Share
from tightlip.histogram.table import tabulate
from tightlip.histogram.weights import draw_weighted, log_gamma, log_weights
from tightlip.numeric.ball import ball
from tightlip.numeric.randomness import RandomSource


@pytest.fixture
def random():
    return RandomSource(seed_for_tests=11)


def histograms(total, cells):
    return [h for h in product(range(total + 1), repeat=cells) if sum(h) == total]


def looks_uniform(draws, possible):
    found = Counter(draws)
    assert set(found) <= set(possible)
    assert len(possible) > 1
    return chisquare([found[one] for one in possible]).pvalue > 1e-3


def domain(groups=("a", "b", "c")):
    """Cells (group, income): two incomes in each group, three in the first."""
    rows = [(group, income) for group in groups for income in ("high", "low")] + [(groups[0], "middle")]
    return tabulate({"group": ["a"], "income": ["low"]}, ["group", "income"], feasible=rows).domain


@pytest.mark.parametrize(("total", "cells"), [(4, 3), (2, 5), (5, 2), (0, 3), (3, 1)])
def test_uniform_histograms(random, total, cells):
    possible = histograms(total, cells)
    draws = [tuple(uniform_histogram(total, cells, random).tolist()) for _ in range(60 * len(possible))]
    assert looks_uniform(draws, possible) if len(possible) > 1 else set(draws) == set(possible)


def test_no_cells(random):
    assert uniform_histogram(0, 0, random).tolist() == []
    for total, cells in ((1, 0), (-1, 3)):
        with pytest.raises(InvalidInput, match=r"must have cells for its rows|total must be a whole number"):
            uniform_histogram(total, cells, random)


@pytest.mark.parametrize(("total", "cells"), [(10**6, 50), (50, 10**6), (10**6, 10**6)])
def test_large_histograms(random, total, cells):
    counts = uniform_histogram(total, cells, random)
    assert (len(counts), counts.sum(), counts.min() >= 0) == (cells, total, True)


def test_groups(random):
    groups = np.array([0, 1, 1, 0, 2], dtype=np.int8)
    possible = [h for h in histograms(6, 5) if (h[0] + h[3], h[1] + h[2], h[4]) == (2, 3, 1)]
    draws = [tuple(uniform_in_groups(groups, [2, 3, 1], random).tolist()) for _ in range(600)]
    assert looks_uniform(draws, possible)


SECRETS = [
    Share({"income": "high"}),
    Share({"group": "a", "income": "high"}),
    Ratio({"income": "high"}, {"group": ["a", "b"]}),
    Ratio({"income": "high"}, {"group": "a"}, resolution="1/3"),
    RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}),
    RatioDifference({"income": "high"}, {"group": "a"}, {"group": ["b", "c"]}, resolution="2/3"),
]


@pytest.mark.parametrize("secret", SECRETS, ids=str)
@pytest.mark.parametrize("width", [1, 2])
def test_uniform_given_a_secret(random, secret, width):
    cells = domain(("a", "b", "c") if "c" in str(secret) else ("a", "b"))
    total = 4
    grouped = secret.on(cells, total)
    everything = histograms(total, cells.size)
    place = grouped.size // 2
    wanted = range(place, min(place + width, grouped.size))
    possible = [h for h in everything if grouped.index(np.array(h)) in wanted]
    draws = [draw_given_secret(grouped, wanted, random) for _ in range(15 * len(possible))]
    assert all(draw.exact for draw in draws)
    assert looks_uniform([tuple(draw.counts.tolist()) for draw in draws], possible)


def test_rejection_is_exact_too(random, monkeypatch):
    monkeypatch.setattr(conditional, "_MOST_LISTED", 0)
    secret = RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/2")
    grouped = secret.on(domain(("a", "b")), 4)
    possible = [h for h in histograms(4, 5) if grouped.index(np.array(h)) == 2]
    draws = [draw_given_secret(grouped, range(2, 3), random) for _ in range(15 * len(possible))]
    assert {(draw.exact, draw.method) for draw in draws} == {(True, "rejection")}
    assert looks_uniform([tuple(draw.counts.tolist()) for draw in draws], possible)


@pytest.mark.parametrize("values", [range(1), range(1, 2), range(2, 3), range(2), range(1, 3), range(3)])
@pytest.mark.parametrize("whole", ["a", "b"])
def test_blocks_of_ratios(random, monkeypatch, values, whole):
    monkeypatch.setattr(conditional, "_MOST_LISTED", 0)
    grouped = Ratio({"income": "high"}, {"group": whole}, resolution="1/3").on(domain(("a", "b")), 5)
    possible = [h for h in histograms(5, 5) if grouped.index(np.array(h)) in values]
    draws = [draw_given_secret(grouped, values, random) for _ in range(10 * len(possible))]
    assert {(draw.exact, draw.method) for draw in draws} == {(True, "counting in blocks")}
    assert looks_uniform([tuple(draw.counts.tolist()) for draw in draws], possible)


def test_blocks_cover_long_intervals(random):
    """The counts of the groups, against their weights, where blocks have many rows."""
    grouped = Ratio({"income": "high"}, {"group": "a"}, resolution="1/2").on(domain(), 20)
    states = conditional._listed(grouped, 3, range(1))
    logs, _ = log_weights(states, grouped.sizes)
    expected = np.bincount(states[:, 0], np.exp(logs) / np.exp(logs).sum()) * 1500
    parts = [int(draw_ratio(grouped, range(1), random)[0]) for _ in range(1500)]
    assert chisquare(np.bincount(parts, minlength=len(expected)), expected).pvalue > 1e-3


def test_no_histogram_has_the_secret(random):
    grouped = RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}).on(domain(), 4)
    with pytest.raises(InvalidInput, match="no table of 4 rows"):
        draw_given_secret(grouped, range(grouped.size, grouped.size + 1), random)


def test_log_gamma_error_is_proved():
    values = np.array([1, 2, 3, 39, 40, 41, 100, 12345, 10**6, 2 * 10**8])
    logs, errors = log_gamma(values)
    for x, log, error in zip(values.tolist(), logs, errors, strict=True):
        assert abs(ball(x).lgamma() - ball(float(log))) <= ball(float(error))
    assert (errors < 1e-13 * (np.abs(logs) + 1) * 20).all()


def test_weights_are_numbers_of_histograms():
    states = np.array(histograms(5, 3))
    sizes = (2, 3, 1)
    listed = Counter((h[0] + h[1], h[2] + h[3] + h[4], h[5]) for h in histograms(5, 6))
    logs, errors = log_weights(states, sizes)
    ratios = np.exp(logs - logs[0])
    expected = [listed[tuple(state)] / listed[tuple(states[0].tolist())] for state in states.tolist()]
    assert ratios == pytest.approx(expected, rel=1e-12)
    assert (errors < 1e-12).all()


def test_weighted_draws(random):
    states, sizes = np.array(histograms(3, 3)), (4, 1, 2)
    draws = Counter(tuple(draw_weighted(states, sizes, random).tolist()) for _ in range(3000))
    logs, _ = log_weights(states, sizes)
    expected = np.exp(logs) / np.exp(logs).sum() * 3000
    assert chisquare([draws[tuple(state)] for state in states.tolist()], expected).pvalue > 1e-3


CHAINED = [
    SECRETS[3],
    SECRETS[5],
    RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/4"),
    RatioDifference({"income": "low"}, {"group": "a"}, {"group": "b"}, resolution="1/4"),
]


@pytest.mark.parametrize(("secret", "last"), list(zip(CHAINED, [True, False] * 2, strict=True)))
def test_the_chain_against_the_exact_distribution(secret, last):
    """Every marginal of the group counts along converged chains, against the distribution by counting."""
    grouped = secret.on(domain(("a", "b", "c")), 24)
    wanted = range(grouped.size - 1, grouped.size) if last else range(2)
    states = conditional._listed(grouped, sum(size > 0 for size in grouped.sizes), wanted)
    logs, _ = log_weights(states, grouped.sizes)
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    chains = chain._Chains(grouped, wanted, RandomSource(seed_for_tests=5))
    chains.run(512)
    trace = chains.run(6144)
    assert split_r_hat(trace) < 1.05
    assert (np.isin(grouped.index_each(chains.states), wanted)).all()
    for group in range(len(grouped.sizes)):
        exact = np.bincount(states[:, group], weights, minlength=25)
        seen = np.bincount(trace[:, :, group].astype(int).ravel(), minlength=25) / trace[:, :, 0].size
        assert np.abs(exact - seen).sum() / 2 < 0.04


def test_the_chain_reports_its_convergence(monkeypatch):
    monkeypatch.setattr(chain, "_FIRST_STEPS", 256)
    monkeypatch.setattr(chain, "_CONVERGED", 1.1)
    grouped = SECRETS[3].on(domain(), 24)
    rows, how = chain_group_counts(grouped, range(2, 3), RandomSource(seed_for_tests=5))
    assert grouped.index_each(rows[None, :])[0] == 2
    assert "R-hat 1." in how


def test_a_large_difference_goes_by_the_chain(random, monkeypatch):
    monkeypatch.setattr(chain, "_CONVERGED", 1.1)
    monkeypatch.setattr(chain, "_FIRST_STEPS", 512)
    grouped = RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/20").on(
        domain(), 2000
    )
    draw = draw_given_secret(grouped, range(38, 39), random)
    assert (draw.exact, grouped.index(draw.counts), draw.counts.sum()) == (False, 38, 2000)


def test_chains_that_disagree_are_not_used(random, monkeypatch):
    grouped = RatioDifference({"income": "high"}, {"group": "a"}, {"group": "b"}, resolution="1/20").on(
        domain(), 2000
    )
    monkeypatch.setattr(chain, "_FIRST_STEPS", 8)
    monkeypatch.setattr(chain, "_MOST_STEPS", 8)
    with pytest.raises(NumericalFailure, match="did not converge"):
        chain_group_counts(grouped, range(38, 39), random)
    monkeypatch.setattr(chain, "_START_ROUNDS", 0)
    with pytest.raises(NumericalFailure, match="to start from"):
        chain_group_counts(grouped, range(38, 39), random)


def test_r_hat():
    steady = np.random.default_rng(0).normal(size=(400, 8, 1))
    assert split_r_hat(steady) < 1.01
    apart = steady + np.arange(8)[None, :, None]
    assert split_r_hat(apart) > 2
    drifting = steady + np.linspace(0, 5, 400)[:, None, None]
    assert split_r_hat(drifting) > 1.4
    assert split_r_hat(np.ones((10, 4, 1))) == 1
    assert split_r_hat(np.ones((10, 4, 1)) * np.arange(4)[None, :, None]) == np.inf
