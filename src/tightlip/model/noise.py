"""Additive noise: the release Y = X + N of a real secret X, with N independent of X.

    AdditiveNoise(secret, noise)       noise: Gaussian(sigma) | Laplace(scale)

The objects describe; `tightlip.noise.pointwise` computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from tightlip.errors import WrongType, quoted
from tightlip.model.secret import (
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
    GaussianMixture,
    GaussianSecret,
    Secret,
    UniformSecret,
    as_gaussian,
)
from tightlip.numeric.parse import Real, positive

_SECRETS = (
    GaussianSecret,
    GaussianMixture,
    UniformSecret,
    BoundedSecret,
    DiscreteSecret,
    DistributionSecret,
)
_WITHOUT_NOISE = "without noise the secret itself is released"


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal noise with density exp(−n²/2σ²)/(σ√(2π)).

    Parameters
    ----------
    sigma : standard deviation, positive; a float, a Fraction or text like "1/3"

    Raises
    ------
    InvalidInput
        When sigma is not a positive finite number.

    >>> Gaussian(2)
    Gaussian(sigma=2.0)
    """

    sigma: Real

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma", _WITHOUT_NOISE))

    @property
    def width(self) -> Real:
        """The unit in which distances to an outcome count: σ."""
        return self.sigma


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise with density exp(−|n|/b)/(2b).

    Parameters
    ----------
    scale : b, positive (the standard deviation is b√2); a float, a Fraction or text like "1/3"

    Raises
    ------
    InvalidInput
        When scale is not a positive finite number.

    >>> Laplace(0.5)
    Laplace(scale=0.5)
    """

    scale: Real

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale", _WITHOUT_NOISE))

    @property
    def width(self) -> Real:
        """The unit in which distances to an outcome count: b."""
        return self.scale


Noise = Gaussian | Laplace


@dataclass(frozen=True, slots=True)
class AdditiveNoise:
    """The release of a real secret with independent noise added.

    Parameters
    ----------
    secret : GaussianSecret, GaussianMixture, UniformSecret, BoundedSecret, DiscreteSecret or DistributionSecret;
        a scipy normal becomes the GaussianSecret that it is
    noise : Gaussian or Laplace

    Raises
    ------
    WrongType
        When either is something else, for example the two are swapped.

    >>> AdditiveNoise(UniformSecret(0, 1), Laplace(0.5))
    AdditiveNoise(secret=UniformSecret(low=0.0, high=1.0), noise=Laplace(scale=0.5))
    """

    secret: Secret
    noise: Noise

    def __post_init__(self) -> None:
        require_secret(self.secret)
        _require_noise(self.noise)
        object.__setattr__(self, "secret", as_gaussian(self.secret))


def require_secret(secret: object, argument: str = "secret") -> None:
    """Refuse anything that is not a secret of `tightlip.model.secret`."""
    if not isinstance(secret, _SECRETS):
        names = ", ".join(kind.__name__ for kind in _SECRETS)
        raise WrongType(
            f"{argument} must be one of {names}, got {quoted(secret)}; "
            "wrap a scipy.stats distribution in DistributionSecret."
        )


def _require_noise(noise: object) -> None:
    if not isinstance(noise, (Gaussian, Laplace)):
        raise WrongType(
            f"noise must be Gaussian(sigma) or Laplace(scale), got {quoted(noise)}; "
            "give its scale to one of the two."
        )
