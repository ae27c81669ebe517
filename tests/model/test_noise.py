"""Noise and release models: immutable, and fail-closed."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import pytest

from tightlip.errors import InvalidInput, WrongType
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import UniformSecret


@pytest.mark.parametrize(("make", "name"), [(Gaussian, "sigma"), (Laplace, "scale")])
@pytest.mark.parametrize("bad", [0, -1.0, 0.0, "-1/3"])
def test_scale_must_be_positive(make, name, bad):
    with pytest.raises(InvalidInput, match=f"{name} must be positive, got {name}=.*; without noise"):
        make(bad)


@pytest.mark.parametrize("make", [Gaussian, Laplace])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scale_must_be_finite(make, bad):
    with pytest.raises(InvalidInput, match="must be finite"):
        make(bad)


@pytest.mark.parametrize("make", [Gaussian, Laplace])
@pytest.mark.parametrize("bad", [None, [1.0], True, 1j])
def test_scale_must_be_a_number(make, bad):
    with pytest.raises(WrongType, match=r"sigma|scale"):
        make(bad)


@pytest.mark.parametrize(
    ("bad", "remedy"), [(1e200, "larger unit"), (1e-200, "smaller unit"), (10**400, "1e400")]
)
def test_scale_must_fit(bad, remedy):
    with pytest.raises(InvalidInput, match=remedy):
        Gaussian(bad)


def test_exact_scales_stay_exact():
    assert Gaussian("1/3").sigma == Fraction(1, 3)
    assert Laplace("1/3").width == Fraction(1, 3)
    assert type(Gaussian(Fraction(1, 2)).width) is float


def test_models_are_values():
    release = AdditiveNoise(UniformSecret(0, 1), Laplace(2))
    assert release == AdditiveNoise(UniformSecret(0.0, 1.0), Laplace(2.0))
    assert hash(release) == hash(AdditiveNoise(UniformSecret(0, 1), Laplace(2)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.noise = Gaussian(1)  # type: ignore[misc]


def test_swapped_arguments_are_named():
    with pytest.raises(WrongType, match=r"secret must be one of GaussianSecret.*DistributionSecret"):
        AdditiveNoise(Gaussian(1), UniformSecret(0, 1))
    with pytest.raises(WrongType, match=r"noise must be Gaussian\(sigma\) or Laplace\(scale\), got 0.5"):
        AdditiveNoise(UniformSecret(0, 1), 0.5)
