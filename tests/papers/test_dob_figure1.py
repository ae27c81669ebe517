"""The data of DOB Figure 1: no random pair exceeds a bound, and how much of each bound is reached."""

import pytest
from papers.dob_figure1 import ASOODEH, DUCHI, EXACT, OURS, Sample, figure

from tightlip import ldp
from tightlip.contraction import block_kernel, divergence_bound, ldp_kl_bound
from tightlip.numeric.quantity import log_of
from tightlip.papers import dob_example_2_circulant, dob_example_2_two_level, duchi_bound
from tightlip.robust import leakage_capacity


@pytest.mark.parametrize("seed", [1, 2])
def test_no_pair_exceeds_a_bound_and_the_bounds_are_as_tight_as_claimed(seed):
    first, second = figure(3000, seed)
    assert not any(first.exceeded().values())
    assert not any(second.exceeded().values())
    share = first.tightness()
    assert 0.9 < share[OURS] <= 1
    assert share[EXACT] == share[OURS]  # m* = 0 for both kernels
    assert 0.1 < share[ASOODEH] < 0.4
    assert share[DUCHI] < 0.01
    assert 0.5 < second.tightness()[OURS] <= 1
    assert set(second.bounds) == {OURS, EXACT}  # no finite LDP level to compare with


def test_the_kernels_are_those_of_example_2():
    one, two = dob_example_2_two_level(), dob_example_2_circulant()
    assert leakage_capacity(one, min_mass="1/20").ratio == leakage_capacity(two, min_mass="1/10").ratio
    assert (ldp(one).ratio, ldp(two)) == (15, float("inf"))
    assert (one.matrix == block_kernel(10, log_of("10/3"), "1/20", 5).matrix).all()


def test_a_pair_above_a_bound_is_counted():
    one = Sample("", "kl", [(0.1, 0.5), (0.15, 3.0), (0.3, 0.6)], [0.2, 0.4], {OURS: [1.0, 2.0]})
    assert one.exceeded() == {OURS: 1}
    assert one.tightness() == {OURS: 3.0}


@pytest.mark.parametrize(
    ("other", "below", "above"),
    [
        (lambda tv: duchi_bound(log_of(15), tv), "0.00109", "0.0011"),
        (lambda tv: ldp_kl_bound(log_of(15), tv, "1/20"), "0.0284", "0.0285"),
    ],
    ids=["Duchi", "Asoodeh"],
)
def test_the_bound_of_corollary_1_is_looser_than_those_from_ldp_at_small_distances(other, below, above):
    """Linear in TV against quadratic."""

    def paper(tv):
        return divergence_bound("kl", 10, log_of("10/3"), "1/20", tv=tv, gamma="paper")

    assert other(below) < paper(below)
    assert other(above) > paper(above)
