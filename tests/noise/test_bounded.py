"""Bounded secrets: both ends against a brute-force program on a fine discretisation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, linprog
from scipy.sparse import block_diag, hstack, identity, vstack

from noise_oracle import density_at, mass_in
from tightlip.envelopes.result import Envelope
from tightlip.errors import InvalidInput, PreconditionFailed, SolverFailure
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianSecret,
    UniformSecret,
)
from tightlip.noise import attack as noise_attack
from tightlip.noise.attack import OutcomeCells, best_attack
from tightlip.noise.bounded import Dual, bounded_envelope, extend_dual, upper_end
from tightlip.noise.dispatch import envelope as noise_envelope
from tightlip.noise.grid import NoiseGrid

UNIT = AdditiveNoise(UniformSecret(-1, 1), Gaussian(1))
COIN = DiscreteSecret([0, 1, 3], ["0.2", "0.3", "0.5"])
RELEASES = [
    UNIT,
    AdditiveNoise(UniformSecret(2, 8), Gaussian(1)),
    AdditiveNoise(UniformSecret(-1, 1), Laplace(0.5)),
    AdditiveNoise(COIN, Gaussian(1)),
    AdditiveNoise(COIN, Laplace("1/3")),
    AdditiveNoise(DistributionSecret(stats.beta(2, 5)), Gaussian(0.5)),
    AdditiveNoise(DistributionSecret(stats.beta(2, 2)), Laplace(0.5)),
]


def sampled(secret, count=4000):
    """Places and masses of X: its atoms, or equally likely quantiles."""
    if isinstance(secret, DiscreteSecret):
        return np.array(secret.points, dtype=float), np.array(secret.masses, dtype=float)
    low, high = (float(end) for end in secret.support)
    law = getattr(secret, "distribution", stats.uniform(low, high - low))
    return law.ppf((np.arange(count) + 0.5) / count), np.full(count, 1 / count)


def brute_force(release, delta, cells=100, suspects=21):
    """ε_c(δ) of a discretisation in plain floats: an independent program, bisected."""
    secret, width = release.secret, float(release.noise.width)
    low, high = (float(end) for end in secret.support)
    spread = stats.norm if isinstance(release.noise, Gaussian) else stats.laplace
    edges = np.linspace(low - 7 * width, high + 7 * width, cells + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    places, masses = sampled(secret)
    spots = places if isinstance(secret, DiscreteSecret) else np.linspace(low, high, suspects)

    def rows(points):
        return np.diff(spread.cdf((edges - points[:, None]) / width), axis=1)

    K, q = rows(spots), masses @ rows(places)
    count = len(spots)

    def value(t):
        gains = K - t * q
        caps = hstack([identity(cells)] * count)
        sums = block_diag([-row[None, :] for row in gains])
        limits = np.concatenate([np.ones(cells), np.zeros(count)])
        found = linprog(-np.tile(q, count), A_ub=vstack([caps, sums]).tocsr(), b_ub=limits)
        return -found.fun

    left, right = 1.0, 20.0
    while right - left > 2e-3 * left:
        middle = math.sqrt(left * right)
        left, right = (middle, right) if value(middle) >= delta else (left, middle)
    return math.log(left)


@pytest.mark.parametrize("release", RELEASES, ids=lambda r: f"{type(r.secret).__name__}-{r.noise}")
def test_both_ends_enclose_the_brute_force(release):
    found = bounded_envelope(release, "0.2", cells=60)
    expected = brute_force(release, 0.2)
    assert found.lower - 0.02 <= expected <= found.upper + 1e-9
    assert found.gap < 0.05 * found.upper
    assert "certified" in found.method
    assert found.adversary == "any"


@pytest.mark.parametrize("delta", ["0.3", "0.1", "0.01"])
def test_gap_at_sigma_equal_to_the_range_and_two_tails_are_optimal(delta):
    found = bounded_envelope(UNIT, delta)
    assert found.gap < 0.002 * found.lower  # asked: 0.01

    def excess(u):
        return stats.norm.pdf(u) - u * stats.norm.sf(u)

    def beyond(u):  # P{Y > u} for X uniform on [−1, 1]
        return (excess(u - 1) - excess(u + 1)) / 2

    # one tail for each end of the range: P{Y > u} = δ/2 leaks log P{N > u − 1}/(δ/2)
    at = brentq(lambda u: beyond(u) - float(delta) / 2, 0, 6)
    two_tails = math.log(stats.norm.sf(at - 1) / (float(delta) / 2))
    assert found.lower - 1e-4 <= two_tails <= found.upper + 1e-9


def test_both_ends_close_in_as_the_cells_grow():
    found = [bounded_envelope(UNIT, "0.1", cells=cells) for cells in (25, 50, 100)]
    gaps = [one.gap for one in found]
    assert all(later < 0.6 * before for before, later in pairwise(gaps))
    assert max(one.lower for one in found) <= min(one.upper for one in found)


@pytest.mark.parametrize("delta", ["0.2", "1"])
@pytest.mark.parametrize("release", RELEASES[2:5], ids=lambda r: f"{type(r.secret).__name__}-{r.noise}")
def test_the_attack_does_what_it_says(release, delta):
    """Rebuild every outcome of the returned channel by quadrature."""
    found = bounded_envelope(release, delta, cells=10)  # Laplace cells are split into parts
    attack = found.attack
    law = stats.norm if isinstance(release.noise, Gaussian) else stats.laplace
    cells = [tuple(float(end) for end in str(name).strip("()").split(", ")) for name in attack.inputs]
    q = np.array([mass_in(release.secret, release.noise, a, b) for a, b in cells])
    assert q.sum() == pytest.approx(1, abs=1e-6)
    total = 0.0
    for symbol, name in enumerate(attack.outputs):
        if name == "nothing":
            continue
        x, width = float(str(name).removeprefix("x = ")), float(release.noise.width)
        hits = np.array([law.cdf((b - x) / width) - law.cdf((a - x) / width) for a, b in cells])
        weights = attack.matrix[:, symbol]
        if math.log((weights @ hits) / (weights @ q)) >= found.lower - 1e-6:
            total += weights @ q
    assert total >= float(delta) - 1e-6


@pytest.mark.parametrize("release", RELEASES, ids=lambda r: f"{type(r.secret).__name__}-{r.noise}")
def test_grid_bounds_hold(release):
    """f_Y at nodes and masses between them, against quadrature."""
    grid = NoiseGrid.over(release, release.secret, 20, 5.0)
    start, width = float(release.secret.support[0]), float(release.noise.width)
    low, high = grid.masses()
    for i in np.linspace(0, len(grid.nodes) - 2, 8).astype(int):
        a, b = start + width * grid.nodes[i], start + width * grid.nodes[i + 1]
        f = density_at(release.secret, release.noise, a) * width
        assert grid.below[i] <= f * (1 + 1e-7) + 1e-14
        assert f * (1 - 1e-7) - 1e-14 <= grid.above[i]
        if b - a > 1e-6:
            mass = mass_in(release.secret, release.noise, a, b)
            assert low[i] - 1e-9 <= mass <= high[i] + 1e-9


@pytest.mark.parametrize("release", RELEASES, ids=lambda r: f"{type(r.secret).__name__}-{r.noise}")
def test_dual_integral_is_above_a_fine_riemann_sum(release):
    grid = NoiseGrid.over(release, release.secret, 30, 6.0)
    start, width = float(release.secret.support[0]), float(release.noise.width)
    rng = np.random.default_rng(5)
    dual = Dual(grid, 1 + rng.exponential(0.5, len(grid.low)))
    ys = np.linspace(grid.nodes[0], grid.nodes[-1], 1501)
    places, masses = sampled(release.secret)
    law = stats.norm if isinstance(release.noise, Gaussian) else stats.laplace
    overall = masses @ law.pdf(ys - (places[:, None] - start) / width)
    best = np.zeros_like(ys)
    for mu, left, right in zip(dual.multipliers, grid.low, grid.high, strict=True):
        for x in (left, (left + right) / 2, right):
            best = np.maximum(best, mu / 2 * law.pdf(ys - x) - (mu - 1) * overall)
    riemann = float(np.sum(best[1:] + best[:-1]) / 2 * (ys[1] - ys[0]))
    assert riemann * (1 - 1e-3) <= dual.value(2.0)


def test_multipliers_of_one_give_the_closed_form():
    """λ = 1/t: D(t) = e^ℒ/t."""
    grid = NoiseGrid.over(UNIT, UNIT.secret, 100, 7.0)
    found = Dual(grid, np.ones(len(grid.low))).value(3.0)
    assert found == pytest.approx((1 + 2 / math.sqrt(2 * math.pi)) / 3, rel=1e-4)
    assert found > (1 + 2 / math.sqrt(2 * math.pi)) / 3


def test_deterministic_is_the_same_and_says_why():
    anyone = noise_envelope(UNIT, "0.3", cells=30)
    plain = noise_envelope(UNIT, "0.3", adversary="deterministic", cells=30)
    assert (plain.lower, plain.upper) == (anyone.lower, anyone.upper)
    assert plain.adversary == "deterministic"
    assert "deterministic" in plain.method


def test_scale_and_place_do_not_matter():
    moved = bounded_envelope(AdditiveNoise(UniformSecret(5, 9), Gaussian(2)), "0.1", cells=40)
    here = bounded_envelope(UNIT, "0.1", cells=40)
    assert (moved.lower, moved.upper) == (here.lower, here.upper)
    far = bounded_envelope(AdditiveNoise(UniformSecret(2**52, 2**52 + 2), Gaussian(1)), "0.1", cells=40)
    assert far.lower == pytest.approx(here.lower, abs=1e-9)
    assert str(far.attack.inputs[3]).startswith("3: ")


def test_bounded_secret_is_the_range_over_every_distribution():
    found = noise_envelope(AdditiveNoise(BoundedSecret(-1, 1), Gaussian(1)), "0.1")
    assert found.lower == 0
    assert found.upper == pytest.approx(math.log(1 + 2 / math.sqrt(2 * math.pi)) + math.log(10), abs=1e-12)
    assert bounded_envelope(UNIT, "0.1", cells=30).upper <= found.upper
    laplace = noise_envelope(AdditiveNoise(BoundedSecret(-1, 1), Laplace(4)), "0.1")
    assert laplace.upper == 0.5  # the range over b
    wide = noise_envelope(AdditiveNoise(BoundedSecret(-9, 9), Laplace(1)), "0.5")
    assert wide.upper == pytest.approx(math.log(20))


def test_constant_secret_and_a_pair_by_hand():
    constant = bounded_envelope(AdditiveNoise(DiscreteSecret([2], [1]), Gaussian(1)), "0.1")
    assert constant.upper == 0
    pair = bounded_envelope(
        AdditiveNoise(DiscreteSecret([0, 40], ["1/4", "3/4"]), Gaussian(1)), "0.1", cells=60
    )
    assert pair.lower == pytest.approx(math.log(4), abs=1e-4)  # the rarer value shows itself
    assert pair.upper == pytest.approx(math.log(4), abs=0.02)


def test_a_dual_that_holds_right_at_its_start_ends():
    found = bounded_envelope(
        AdditiveNoise(DiscreteSecret([0, 1], ["0.7", "0.3"]), Laplace(1)), "0.1", cells=50
    )
    truth = -math.log(0.3 + 0.7 / math.e)  # all outcomes beyond 1 leak as much as any
    assert found.lower <= truth <= found.upper <= truth + 1e-5


def test_many_atoms_share_the_multipliers_of_the_suspects():
    atoms = DiscreteSecret(np.linspace(-1, 1, 101).tolist(), [1 / 101] * 101)
    found = bounded_envelope(AdditiveNoise(atoms, Gaussian(1)), "0.1", cells=100)
    assert found.gap < 0.01
    assert found.upper == pytest.approx(bounded_envelope(UNIT, "0.1", cells=100).upper, abs=0.02)


@pytest.mark.parametrize("noise", [Gaussian(1), Laplace(1)])
@pytest.mark.parametrize(("span", "gap"), [("0.01", 0.01), ("0.001", 0.02), ("1e-6", 1)])
def test_a_secret_much_narrower_than_the_noise(noise, span, gap):
    """The nodes beyond the secret must not become as narrow as the secret: their number would have no limit."""
    release = AdditiveNoise(DiscreteSecret([0, span], [0.5, 0.5]), noise)
    found = bounded_envelope(release, "0.3", cells=50)
    assert 0 < found.lower < found.upper < 25 * float(Fraction(span))
    assert found.gap < gap * found.upper
    grid = NoiseGrid.over(release, release.secret, 50, 5.0)
    assert len(grid.nodes) < 20_000


@pytest.mark.parametrize("noise", [Gaussian(1), Laplace(1)])
def test_the_smallest_delta(noise):
    found = bounded_envelope(AdditiveNoise(UniformSecret(0, 1), noise), "1e-20", cells=20)
    assert found.gap < 0.1


def test_bad_input():
    with pytest.raises(PreconditionFailed, match="bounded support"):
        bounded_envelope(AdditiveNoise(GaussianSecret(1), Gaussian(1)), "0.1")
    with pytest.raises(PreconditionFailed, match="100 noise widths"):
        bounded_envelope(AdditiveNoise(UniformSecret(0, 300), Gaussian(1)), "0.1")
    with pytest.raises(PreconditionFailed, match=r"1e-06 to 100 noise widths, got 1e-09"):
        bounded_envelope(AdditiveNoise(UniformSecret(0, "1e-9"), Gaussian(1)), "0.1")
    with pytest.raises(PreconditionFailed, match="at least 1e-20 for a bracket, got delta=1e-400"):
        bounded_envelope(UNIT, "1e-400")
    with pytest.raises(PreconditionFailed, match='adversary="any"'):
        noise_envelope(UNIT, "0.1", adversary="binary")
    for cells in (3, True, 2.5, 10**6):
        with pytest.raises(InvalidInput, match="cells"):
            bounded_envelope(UNIT, "0.1", cells=cells)


def test_solver_failure_is_not_an_answer(monkeypatch):
    bare = Envelope(Fraction(1, 10), 0.0, 1.0, "no proof")
    monkeypatch.setattr(noise_attack, "envelope", lambda *args, **options: bare)
    with pytest.raises(SolverFailure, match="no multipliers"):
        bounded_envelope(UNIT, "0.1", cells=20)


def test_a_useless_attack_or_dual_proves_only_what_is_always_true(monkeypatch):
    grid = NoiseGrid.over(UNIT, UNIT.secret, 30, 6.0)
    cells = OutcomeCells.of(grid, 30)
    found = best_attack(cells, Fraction(1, 10))
    assert upper_end(extend_dual(grid, found), Fraction(0), 1.0, 0.5) is None
    monkeypatch.setattr(noise_attack, "_measure", lambda *args: ([], Fraction(1)))
    assert bounded_envelope(UNIT, "0.1", cells=20).lower == 0


def test_a_range_of_many_laplace_widths_has_close_ends():
    """beta(2, 2) on [−.2, 3], scale .2: cells and suspects are split after the search; the ends were .049 apart."""
    secret = DistributionSecret(stats.beta(2, 2, loc=-0.2, scale=3.2))
    found = bounded_envelope(AdditiveNoise(secret, Laplace("0.2")), "0.9", cells=100)
    assert 1.88 < found.lower < 1.887 < found.upper < 1.892
    assert found.gap < 0.01


def test_laplace_masses_of_cells_are_sharp():
    release = RELEASES[2]
    low, high = NoiseGrid.over(release, release.secret, 20, 5.0).masses()
    assert 0 <= high.sum() - low.sum() < 1e-3


@pytest.mark.parametrize(
    ("release", "told"),
    [
        (AdditiveNoise(UniformSecret(-1, 1), Gaussian(4)), False),
        (AdditiveNoise(DistributionSecret(stats.beta(2, 2, loc=-0.2, scale=3.2)), Laplace(0.2)), True),
    ],
)
def test_the_method_says_how_far_apart_ends_are_that_are_not_close(release, told):
    found = noise_envelope(release, "0.9", cells=50)
    assert (
        (found.upper - found.lower > 3e-3)
        == told
        == ("nats apart, other numbers of cells may" in found.method)
    )
