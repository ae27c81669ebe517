"""Samples of a plan with noise: the bound on a posterior by brute force, and what noise buys."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from sample_oracle import Claims, Population
from tightlip.auditing.sample import Errors, SampleMode, _largest_posterior, release_bounds
from tightlip.errors import InvalidInput
from tightlip.table.mechanism import RandomizedResponse

WHOLE = st.integers(0, 6)


@given(
    st.lists(st.tuples(WHOLE, WHOLE), min_size=4, max_size=4), st.sampled_from(["1", "3/2", "4"]), st.data()
)
@settings(max_examples=80)
def test_a_noisy_posterior_is_the_formula_and_stays_below_its_bound(table, odds, data):
    """table[v] = people of value v with and without the secret, for two columns of two values."""
    total = sum(map(sum, table))
    odds = Fraction(odds)
    if not total:
        return
    kappa = odds**2 - 1
    w = data.draw(st.integers(0, 3))
    weight = [odds ** ((v // 2 == w // 2) + (v % 2 == w % 2)) for v in range(4)]
    p = Fraction(sum(held for held, _ in table), total)
    m = sum((weight[v] - 1) * Fraction(table[v][0], total) for v in range(4))
    g = sum((weight[v] - 1) * Fraction(sum(table[v]), total) for v in range(4))
    posterior = Fraction(
        sum(weight[v] * table[v][0] for v in range(4)), sum(weight[v] * sum(table[v]) for v in range(4))
    )
    assert posterior == (p + m) / (1 + g)
    assert 0 <= m <= min(kappa * p, g)
    assert g <= m + kappa * (1 - p)
    looser = [data.draw(st.sampled_from([0, Fraction(1, 10), 2])) for _ in range(3)]
    share, extra = min(float(p + looser[0]), 1.0), float(m + looser[1])
    least = max(float(g - looser[2]), 0.0)
    bound = _largest_posterior(np.array([share]), np.array([extra]), np.array([least]), float(kappa))[0]
    assert float(posterior) <= bound * (1 + 1e-12)
    response = share * float(1 + kappa) / (1 + share * float(kappa))
    assert bound <= min(response, 1) * (1 + 1e-9) + 1e-300  # what differential privacy alone would promise


def drawn(masses, odds, rows, **options):
    claims = Claims(Population(masses), odds, mode=SampleMode(0.95, **options))
    return claims.audited(claims.population.draw(rows, np.random.default_rng(1))).deciding


TELLING = [[0.45, 0.05], [0.05, 0.45]]


def test_noise_on_every_column_bounds_the_worst_leakage_for_cells_never_seen():
    view = drawn(TELLING, {"c0": "2"}, 5000)
    cap = np.log(2 / (1 + float(view.worst.prior)))  # of any release with differential privacy log 2
    assert np.log(4 / 3) * 0.9 < view.worst.leakage <= cap + 1e-12
    assert view.ldp.ratio == 2
    assert view.pmc.leakage.ratio == 2
    assert view.at_least > 0.1
    true = np.log((2 * 0.9 + 0.1) / 1.5)
    assert view.at_least <= true <= view.worst.leakage
    assert drawn(TELLING, {}, 5000).worst.leakage > 0.6


def test_bounds_of_the_plan_without_noise_hold_too():
    weak = [[0.26, 0.24], [0.24, 0.26]]
    loud, plain = drawn(weak, {"c0": "1000"}, 3000), drawn(weak, {}, 3000)
    assert loud.envelope.upper < plain.envelope.upper * 1.3
    assert loud.maximal_leakage < plain.maximal_leakage * 1.3


def test_many_values_are_judged_by_the_noise_where_the_sample_is_too_small():
    masses = np.full((2, 300, 2), 1.0)
    masses[0, :, 0] = 1.2
    noisy, plain = (drawn(masses, odds, 2000) for odds in ({"c0": "2"}, {}))
    assert noisy.envelope.upper < plain.envelope.upper
    assert noisy.share_above_budget < plain.share_above_budget


def test_noise_beyond_all_measure_is_refused():
    claims = Claims(Population(np.ones((2, 2, 2, 2))), dict.fromkeys(("c0", "c1", "c2"), 10**40))
    counted = claims.population.draw(100, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="at most 230 nats"):
        claims.audited(counted)


def test_a_column_of_one_value_has_no_noise():
    counted = Population(np.ones((2, 1, 2))).draw(100, np.random.default_rng(0))
    odds, errors = {"c0": Fraction(3)}, Errors(0.01, 0.04)
    noise = {"c0": RandomizedResponse(tl.log_of(3))}
    found = release_bounds(counted, counted.randomise(noise), odds, errors, SampleMode())
    assert found.before is None
    assert found.upper_envelope(Fraction(1)) == release_bounds(
        counted, counted, {}, errors, SampleMode()
    ).upper_envelope(Fraction(1))
    assert isinstance(found.upper_envelope(Fraction(1)), tl.numeric.quantity.Nats)
