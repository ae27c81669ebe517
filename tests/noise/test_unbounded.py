"""The attack on unbounded secrets, rebuilt and measured by quadrature."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import pytest
from scipy import stats

from noise_oracle import mass_in, noise_law
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import DistributionSecret, GaussianSecret, UniformSecret
from tightlip.noise import unbounded
from tightlip.noise.dispatch import envelope as noise_envelope
from tightlip.noise.unbounded import unbounded_attack, unbounded_envelope

NORMAL = AdditiveNoise(GaussianSecret(1), Gaussian(1))


def measured(attack):
    """Leakage of every outcome and their total probability, by quadrature only."""
    secret, noise = attack.release.secret, attack.release.noise
    law = noise_law(noise)
    levels, total = [], 0.0
    for far, piece, suspect in zip(attack.far, attack.middle, attack.suspects, strict=True):
        mass = mass_in(secret, noise, *far) + mass_in(secret, noise, *piece)
        hit = sum(law.cdf(b - suspect) - law.cdf(a - suspect) for a, b in (far, piece))
        levels.append(math.log(hit / mass))
        total += mass
    return levels, total


def disjoint(attack):
    cells = [*attack.far, *attack.middle]
    return all(b <= c or d <= a for (a, b), (c, d) in combinations(cells, 2))


def test_spec_example_beats_log_2_over_delta():
    attack = unbounded_attack(NORMAL, "0.3", 3)
    levels, total = measured(attack)
    assert attack.symbols == 3
    assert total >= 0.3
    assert min(levels) == pytest.approx(math.log(10), abs=2e-6)
    assert attack.lower <= min(levels) + 1e-9
    assert attack.lower > math.log(2 / 0.3) + 0.4
    assert disjoint(attack)


def test_the_counterexample_as_the_specification_writes_it():
    law = stats.norm(0, math.sqrt(2))
    far = [(10, 20), (20, 30), (-20, -10)]
    cuts = law.ppf([0.35, 0.45, 0.55, 0.65])
    for (a, b), (c, d) in zip(far, pairwise(cuts), strict=True):
        mass = law.cdf(b) - law.cdf(a) + law.cdf(d) - law.cdf(c)
        hit = stats.norm.cdf(5) - stats.norm.cdf(-5)
        assert math.log(hit / mass) == pytest.approx(2.3026, abs=1e-4)


@pytest.mark.parametrize("noise", [Gaussian(2), Laplace("1/3")], ids=repr)
@pytest.mark.parametrize(("delta", "symbols"), [("0.01", 1), ("0.3", 8), ("1", 5), ("0.99999", 3)])
def test_any_level_is_reached(noise, delta, symbols):
    attack = unbounded_attack(AdditiveNoise(GaussianSecret(3, -8), noise), delta, symbols)
    assert attack.lower == pytest.approx(math.log(symbols / float(delta)), abs=2e-3)
    assert disjoint(attack)
    levels, total = measured(attack)
    assert attack.lower <= min(levels) + 1e-7
    assert total >= float(delta) - 1e-9


@pytest.mark.parametrize(
    "law",
    [stats.expon(), stats.gumbel_l(2, 3), stats.t(3), stats.weibull_max(1.5)],
    ids=lambda law: law.dist.name,
)
def test_scipy_distributions_unbounded_on_either_side(law):
    attack = unbounded_attack(AdditiveNoise(DistributionSecret(law), Gaussian(1)), "0.3", 2)
    assert attack.lower == pytest.approx(math.log(2 / 0.3), abs=0.02)
    assert attack.lower < math.log(2 / 0.3)
    assert disjoint(attack)
    levels, total = measured(attack)
    assert attack.lower <= min(levels) + 1e-7
    assert total >= 0.3


def test_whole_line_with_a_left_tail():
    law = DistributionSecret(stats.weibull_max(1.5))
    attack = unbounded_attack(AdditiveNoise(law, Laplace(1)), 1, 2)
    cells = sorted([*attack.far, *attack.middle])
    assert cells[0][0] == -math.inf
    assert cells[-1][1] == math.inf
    assert all(left[1] == right[0] for left, right in pairwise(cells))
    assert attack.lower == pytest.approx(math.log(2), abs=2e-2)


@pytest.mark.parametrize("adversary", ["any", "deterministic"])
def test_the_envelope_is_infinite_and_says_how(adversary):
    found = noise_envelope(NORMAL, "0.1", adversary=adversary)
    assert found.lower == found.upper == found.value == math.inf
    assert found.adversary == adversary
    assert "unbounded_attack" in found.method
    assert found.gap == 0


def test_binary_is_log_1_over_delta():
    found = unbounded_envelope(NORMAL, "0.1", "binary")
    assert found.lower <= math.log(10) <= found.upper
    tail = stats.norm(0, math.sqrt(2)).isf(0.1)
    assert math.log(stats.norm.sf(tail - 40) / 0.1) == pytest.approx(found.upper)


def test_bad_input():
    with pytest.raises(PreconditionFailed, match="unbounded support"):
        unbounded_attack(AdditiveNoise(UniformSecret(0, 1), Gaussian(1)), "0.1", 2)
    for symbols in (0, True, 1.5, 10**6):
        with pytest.raises(InvalidInput, match="symbols"):
            unbounded_attack(NORMAL, "0.1", symbols)
    heavy = AdditiveNoise(DistributionSecret(stats.t(0.5)), Gaussian(1))
    with pytest.raises(InvalidInput, match="1e9 noise widths"):
        unbounded_attack(heavy, "0.001", 2)


def test_overlapping_cells_prove_nothing():
    attack = unbounded_attack(NORMAL, "0.1", 2)
    assert unbounded._certify(NORMAL, attack.delta, list(attack.far), [attack.far[0], (0.0, 1.0)]) is None
    assert unbounded._certify(NORMAL, attack.delta, list(attack.far), [(1.0, 1.0), (2.0, 3.0)]) is None


def test_what_cannot_be_certified_is_refused(monkeypatch):
    monkeypatch.setattr(unbounded, "_SLACKS", (-0.5,))
    with pytest.raises(NumericalFailure, match="larger delta"):
        unbounded_attack(NORMAL, "0.1", 2)
