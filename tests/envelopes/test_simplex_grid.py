"""Many uses of channels on three or four secrets: both sides of the lattice against exact rationals."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from tightlip.envelopes import compose, power, repeat
from tightlip.envelopes.simplex_envelope import Outcomes, envelope_ends, failure_ends, leakage_ends
from tightlip.envelopes.simplex_grid import ONE, Lattice, alike, choose_base, convolve, put

QUARTERS = tl.Channel(
    [["1/4", "1/4", "1/4", "1/4"], ["3/10", "1/5", "1/4", "1/4"], ["1/4", "1/4", "3/10", "1/5"]]
)
ERASED = tl.Channel([["1/2", "1/4", "1/4", 0], ["1/4", "1/4", 0, "1/2"], [0, "1/2", "1/4", "1/4"]])
PRIOR = tl.Prior(["1/5", "3/10", "1/2"])
MASSES = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]
POINTS = 1 << 10


def parts_of(*uses):
    return alike([(channel.exact().matrix, times) for channel, times in uses])


def both(parts, points=POINTS, masses=MASSES):
    return [Outcomes(convolve(parts, points, split=split), masses) for split in (False, True)]


@st.composite
def channels(draw, secrets=3):
    count = draw(st.integers(2, 4))
    entries = st.lists(st.integers(0, 6), min_size=count, max_size=count).filter(any)
    counts = [draw(entries) for _ in range(secrets)]
    return tl.Channel([[Fraction(each, sum(row)) for each in row] for row in counts])


@st.composite
def priors(draw, secrets=3):
    counts = [draw(st.integers(1, 8)) for _ in range(secrets)]
    return [Fraction(count, sum(counts)) for count in counts]


mixed = st.lists(st.tuples(channels(), st.integers(1, 3)), min_size=1, max_size=2)
deltas = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
ratios = st.fractions(1, 8, max_denominator=12)


class TestAgainstRationals:
    @given(mixed, priors(), deltas)
    @settings(max_examples=8, deadline=None)
    def test_envelope(self, uses, masses, delta):
        truth = tl.envelope(compose([power(*each) for each in uses]), tl.Prior(masses), delta)
        lower, upper = envelope_ends(*both(parts_of(*uses), masses=masses), delta)
        assert lower <= truth.upper
        assert truth.lower <= upper

    @given(mixed, priors(), ratios)
    @settings(max_examples=20, deadline=None)
    def test_failure_probability(self, uses, masses, ratio):
        truth = tl.failure_probability(
            compose([power(*each) for each in uses]), tl.Prior(masses), tl.log_of(ratio)
        )
        lower, upper = failure_ends(*both(parts_of(*uses), masses=masses), (ratio, ratio))
        assert lower <= truth.upper
        assert truth.lower <= upper

    @given(mixed)
    @settings(max_examples=20, deadline=None)
    def test_maximal_leakage(self, uses):
        truth = tl.maximal_leakage(compose([power(*each) for each in uses]))
        lower, upper = leakage_ends(*both(parts_of(*uses)))
        assert lower <= truth <= upper

    @pytest.mark.parametrize("channel", [QUARTERS, ERASED])
    @pytest.mark.parametrize("delta", [Fraction(1, 10**4), Fraction(1, 100), Fraction(1, 2)])
    def test_the_ends_are_near(self, channel, delta):
        truth = tl.envelope(power(channel, 12), PRIOR, delta)
        lower, upper = envelope_ends(*both(parts_of((channel, 12)), 1 << 13), delta)
        assert truth.lower - 5e-3 <= lower <= truth.upper
        assert truth.lower <= upper <= truth.upper + 1e-2

    @given(channels(secrets=4), priors(secrets=4), deltas)
    @settings(max_examples=8, deadline=None)
    def test_four_secrets(self, channel, masses, delta):
        """The lattice is of any dimension."""
        truth = tl.envelope(power(channel, 2), tl.Prior(masses), delta)
        lower, upper = envelope_ends(*both(parts_of((channel, 2)), masses=masses), delta)
        assert lower <= truth.upper
        assert truth.lower <= upper

    def test_more_points_narrow_the_gap(self):
        gaps = []
        for points in (1 << 9, 1 << 13):
            lower, upper = envelope_ends(*both(parts_of((QUARTERS, 40)), points), Fraction(1, 100))
            gaps.append(upper - lower)
        assert gaps[0] > 4 * gaps[1]


class TestLattice:
    @given(channels(), st.integers(1, 40))
    @settings(max_examples=20, deadline=None)
    def test_rows_sum_to_one_or_less(self, channel, uses):
        for split in (False, True):
            found = convolve(parts_of((channel, uses)), 256, split=split)
            sums = [sum(int(cells.masses[row].sum()) for cells in found.cells.values()) for row in range(3)]
            assert all(total <= ONE for total in sums)
            assert split or all(ONE - total < 1 << 40 for total in sums)
            assert found.size <= 256

    @given(channels(), st.fractions(Fraction(51, 50), 3, max_denominator=50))
    @settings(max_examples=60, deadline=None)
    def test_corners_are_points_and_sum_to_the_outcome(self, channel, base):
        ((columns, _),) = parts_of((channel, 1))
        found = put(columns, base, split=True)
        for members, cells in found.cells.items():
            wanted = [
                sum(int(column[row] * ONE) for column in columns if _support(column) == members)
                for row in range(3)
            ]
            assert all(
                0 <= want - int(own.sum()) < 40 for want, own in zip(wanted, cells.masses, strict=True)
            )
            for point, masses in zip(cells.points, cells.masses.T, strict=True):
                first = Fraction(int(masses[members[0]]))
                for secret, place in zip(members[1:], point.tolist(), strict=True):
                    assert abs(masses[secret] - first * base**place) <= 9 * (1 + base**place)

    @given(channels())
    @settings(max_examples=30, deadline=None)
    def test_coarser_points_keep_all_masses(self, channel):
        ((columns, _),) = parts_of((channel, 1))
        found = put(columns, Fraction(11, 10), split=True)
        coarse = found.coarser()
        for members, cells in found.cells.items():
            before, after = cells.masses.sum(axis=1), coarse.cells[members].masses.sum(axis=1)
            assert all(0 <= one - two <= 200 for one, two in zip(before, after, strict=True))
            for point, masses in zip(
                coarse.cells[members].points, coarse.cells[members].masses.T, strict=True
            ):
                first = Fraction(int(masses[members[0]]))
                for secret, place in zip(members[1:], point.tolist(), strict=True):
                    step = Fraction(121, 100) ** place
                    assert abs(masses[secret] - first * step) <= 99 * (1 + step)

    def test_randomized_response_lies_on_a_lattice(self):
        parts = parts_of((tl.mechanism.randomized_response(3, tl.log_of("11/10")), 60))
        assert choose_base(parts, 1 << 15) == Fraction(11, 10)
        lower, upper = envelope_ends(*both(parts, 1 << 15), Fraction(1, 100))
        assert upper - lower < 1e-8

    def test_secrets_far_less_likely_leave_the_class(self):
        tiny = Fraction(1, 10**20)
        column = (Fraction(1, 2), Fraction(1, 3), tiny)
        rest = tuple(1 - chance for chance in column)
        above, below = (put([column, rest], Fraction(2), split=split) for split in (True, False))
        assert not above.cells[0, 1].masses[2].any()
        assert below.cells[0, 1].masses[2].sum() == int(tiny * ONE)

    def test_what_is_lost_gives_secrets_away(self):
        empty = Lattice(Fraction(2), 0, 3, {}, True)
        assert np.array_equal(Outcomes(empty, MASSES).whole, np.diag([ONE] * 3))


class TestRepetition:
    def test_the_grid_is_used_where_histograms_are_many(self):
        repeated = repeat(QUARTERS, 50, points=1 << 12)
        found = repeated.envelope(PRIOR, "1/100")
        assert "likelihood ratios" in found.method
        assert 1.15 < found.lower <= found.upper < 1.19
        found.verify()
        likely = repeated.failure_probability(PRIOR, 1.1)
        assert likely.lower > Fraction(1, 100)
        assert likely.gap < 0.02
        likely.verify()
        leak = repeated.maximal_leakage()
        assert leak.gap < 0.01
        leak.verify()

    def test_fewer_uses_say_less(self):
        ends = [repeat(QUARTERS, uses, points=1 << 11).envelope(PRIOR, "1/50") for uses in (50, 100, 400)]
        assert all(one.lower <= two.upper for one, two in pairwise(ends))
        assert ends[-1].upper <= math.log(5) * (1 + 1e-12)

    def test_the_order_does_not_matter(self):
        one = repeat([QUARTERS, ERASED], [60, 2], points=POINTS)
        two = repeat([ERASED, QUARTERS, ERASED, QUARTERS], [1, 20, 1, 40], points=POINTS)
        found, other = one.envelope(PRIOR, "9/10"), two.envelope(PRIOR, "9/10")
        assert (found.lower, found.upper) == (other.lower, other.upper)
        found, other = one.maximal_leakage(), two.maximal_leakage()
        assert (found.lower, found.upper) == (other.lower, other.upper)

    def test_labels_decide(self):
        rows = QUARTERS.matrix
        named = tl.Channel(rows, inputs=["a", "b", "c"])
        turned = tl.Channel(rows[[2, 0, 1]], inputs=["c", "a", "b"])
        one, two = (repeat([named, other], [40, 40], points=POINTS) for other in (named, turned))
        prior = tl.Prior(["1/2", "1/5", "3/10"], labels=["c", "a", "b"])
        assert one.envelope(prior, "1/20").upper == two.envelope(prior, "1/20").upper

    def test_three_possible_of_more(self):
        four = tl.Channel([*QUARTERS.matrix.tolist(), [1, 0, 0, 0]])
        one = repeat(four, 60, points=POINTS).envelope(tl.Prior(["1/5", "3/10", "1/2", 0]), "1/20")
        two = repeat(QUARTERS, 60, points=POINTS).envelope(PRIOR, "1/20")
        assert (one.lower, one.upper) == (two.lower, two.upper)

    def test_four_secrets(self):
        four = tl.Channel([*QUARTERS.matrix.tolist(), ["1/5", "1/5", "3/10", "3/10"]])
        prior = tl.Prior(["1/5", "3/10", "2/5", "1/10"])
        assert repeat(four, 50).envelope(prior, "1/100").gap < 0.06
        repeated = repeat(four, 50, points=1 << 12)
        found = repeated.envelope(prior, "1/100")
        assert "pairs" in found.method
        assert 2.0 < found.lower <= found.upper < 2.2
        found.verify()
        assert repeated.maximal_leakage().gap < 0.2

    def test_no_leakage_and_everything(self):
        silent = tl.Channel([["1/7"] * 7] * 3)
        assert repeat(silent, 1000).envelope(PRIOR, "1/100").upper < 1e-6
        assert repeat(silent, 1000).maximal_leakage().upper < 1e-12
        plain = repeat([tl.mechanism.identity(3), QUARTERS], [1, 100], points=POINTS)
        found = plain.envelope(PRIOR, "1/5")
        assert found.lower == pytest.approx(math.log(5))
        assert plain.maximal_leakage().lower == pytest.approx(math.log(3))
        assert repeat(QUARTERS, 60, points=POINTS).failure_probability(PRIOR, math.log(5) + 0.1).upper == 0

    def test_ratios_that_no_float_tells_apart(self):
        tiny = Fraction(1, 10**60)
        rows = [[Fraction(1, 4) + shift, Fraction(1, 4) - shift, "1/4", "1/4"] for shift in (tiny, -tiny, 0)]
        assert repeat(tl.Channel(rows), 100).envelope(PRIOR, "1/10").upper < 1e-6

    def test_probabilities_below_the_range_of_floats(self):
        tiny = Fraction(1, 10**400)
        rows = [["1/2", "1/2", 0, 0], [1 - tiny, 0, tiny, 0], ["1/4", "1/4", "1/4", "1/4"]]
        found = repeat(tl.Channel(rows), 100, points=POINTS).envelope(PRIOR, "1/10")
        assert 0 <= found.lower <= found.upper


def test_the_search_in_floats_proves_nothing(monkeypatch):
    """A wrong proposal costs width: the ends still hold."""
    propose = Outcomes.propose

    def hopeful(self, ratio, scale):
        found = propose(self, ratio, scale)
        more = [(2 * share, owners) for share, owners in found.shares]
        return found._replace(value=0.8 * found.value, prices=found.prices * 1.1, shares=more)

    monkeypatch.setattr(Outcomes, "propose", hopeful)
    truth = tl.envelope(power(QUARTERS, 5), PRIOR, "1/10")
    lower, upper = envelope_ends(*both(parts_of((QUARTERS, 5))), Fraction(1, 10))
    assert lower <= truth.upper
    assert truth.lower <= upper


def _support(column):
    return tuple(secret for secret, chance in enumerate(column) if chance)
