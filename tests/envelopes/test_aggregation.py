"""Groups of outcomes against the program over the outcomes themselves."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import tightlip as tl
from tightlip import papers
from tightlip.envelopes.exact import Release, Solver
from tightlip.envelopes.limits import LIMITS
from tightlip.errors import CertificateInvalid


def crowded(seed: int, secrets: int = 4, outcomes: int = 300) -> tuple[tl.Channel, tl.Prior]:
    generator = np.random.default_rng(seed)
    rows = generator.dirichlet(np.full(outcomes, 0.3), size=secrets)
    return tl.Channel(rows), tl.Prior(generator.dirichlet(np.full(secrets, 3.0)))


ALWAYS_GROUPED = replace(LIMITS, aggregated_outcomes=0, aggregated_per_secret=0, split_off=10)
ONLY_PAIRS_THAT_OCCUR = replace(ALWAYS_GROUPED, complete_pairs=0)


def envelope(channel, prior, delta, limits=LIMITS):
    return Solver(Release.of(channel, prior, limits)).envelope(Fraction(delta), 1e-9)


class TestAgainstTheProgramOverOutcomes:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("delta", [0.02, 0.3, 0.9, 1.0])
    def test_same_interval(self, seed, delta):
        channel, prior = crowded(seed)
        plain = envelope(channel, prior, delta)
        grouped = envelope(channel, prior, delta, replace(LIMITS, aggregated_outcomes=0, split_off=10))
        grouped.verify()
        assert grouped.lower <= plain.upper
        assert plain.lower <= grouped.upper
        assert grouped.gap <= 2e-9

    def test_pairs_that_are_left_out_keep_it_sound(self):
        channel, prior = crowded(7, secrets=5, outcomes=80)
        thinned = np.where(channel.matrix > 0.01, channel.matrix, 0.0)
        sparse = tl.Channel(csr_array(thinned / thinned.sum(axis=1, keepdims=True)))
        whole = [envelope(sparse, prior, delta, ALWAYS_GROUPED) for delta in (0.1, 0.7)]
        for point, delta in zip(whole, (0.1, 0.7), strict=True):
            partial = envelope(sparse, prior, delta, ONLY_PAIRS_THAT_OCCUR)
            partial.verify()
            assert partial.lower <= point.upper
            assert point.lower <= partial.upper

    @pytest.mark.parametrize("seed", range(8))
    def test_a_secret_with_room_for_more_keeps_it_sound(self, seed):
        """Groups let it swallow what it never causes; of the outcomes' own pairs these are left out."""
        generator = np.random.default_rng(seed)
        rows = generator.dirichlet(np.full(40, 0.3), 5) * (generator.random((5, 40)) < 0.4)
        rows[0] = np.eye(40)[0]
        prior = tl.Prior(np.array([0.001, 0.3, 0.2, 0.4, 0.099]))
        sparse = tl.Channel(csr_array(rows / rows.sum(axis=1, keepdims=True)))
        for delta in (0.1, 0.4, 0.8):
            envelope(sparse, prior, delta, ONLY_PAIRS_THAT_OCCUR).verify()


def test_merging_adds_up():
    channel, prior = crowded(1, outcomes=12)
    whole = Release.of(channel, prior).pairs
    labels = np.arange(12) % 5
    merged = whole.merge(labels)
    assert merged.outcomes == 5
    assert merged.chance.reshape(5, 4)[2] == pytest.approx(channel.matrix[:, [2, 7]].sum(axis=1))
    assert merged.marginal.sum() == pytest.approx(1)


class TestFailureProbabilityProvesItsOwnEnds:
    @pytest.fixture
    def found(self):
        return tl.failure_probability(papers.env_example_1(), tl.Prior.uniform(4), 0.5)

    def test_as_found(self, found):
        found.verify()

    @pytest.mark.parametrize(
        "change",
        [{"upper": 0.3}, {"lower": 0.5}, {"epsilon": 0.4}, {"epsilon": 0.6}],
    )
    def test_other_ends_are_refused(self, found, change):
        with pytest.raises(CertificateInvalid, match="end fails"):
            replace(found, **change).verify()

    def test_nothing_leaks_more(self):
        found = tl.failure_probability(papers.env_example_1(), tl.Prior.uniform(4), tl.log_of(4))
        found.verify()
        assert (found.lower, found.upper) == (0, 0)
        assert found.certificate.upper.ratio == Fraction(4)
        with pytest.raises(CertificateInvalid, match="upper end fails"):
            replace(found, epsilon=1.0).verify()
