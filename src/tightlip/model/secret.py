"""Real secrets: what is known of the value before anything is released.

GaussianSecret(sigma, mean)      normal
GaussianMixture(weights, means, deviations)   mixture of normals
UniformSecret(low, high)         uniform
BoundedSecret(low, high)         only the range is known
DiscreteSecret(points, masses)   finitely many values
DistributionSecret(distribution) any continuous scipy.stats distribution
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, WrongType, quoted
from tightlip.model.labels import Label, Labels, places_of, split_labels
from tightlip.numeric.display import format_about, format_python
from tightlip.numeric.parse import Real, numbers, positive, real

_CONSTANT = "a constant secret is DiscreteSecret([x], [1])"
_INTEGRATED = frozenset(
    {"genhyperbolic", "geninvgauss", "levy_stable", "norminvgauss", "skewnorm", "studentized_range"}
)  # scipy finds their cdf by quadrature, at least in places
_SUM_SLACK = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class GaussianSecret:
    """A normal secret, X ~ N(mean, sigma²).

    Raises
    ------
    InvalidInput
        When sigma is not a positive finite number or mean is not finite.

    >>> GaussianSecret(1).support
    (-inf, inf)
    """

    sigma: Real
    mean: Real = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma", _CONSTANT))
        object.__setattr__(self, "mean", real(self.mean, "mean"))

    @property
    def support(self) -> tuple[Real, Real]:
        """The smallest interval that holds the secret."""
        return -math.inf, math.inf


@dataclass(frozen=True, slots=True)
class _Range:
    low: Real
    high: Real

    def __post_init__(self) -> None:
        low, high = real(self.low, "low"), real(self.high, "high")
        if low >= high:
            raise InvalidInput(
                f"low must be below high, got low={float(low)!r} and high={float(high)!r}; "
                f"swap them, or if they are equal: {_CONSTANT}."
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def support(self) -> tuple[Real, Real]:
        """The smallest interval that holds the secret."""
        return self.low, self.high


@dataclass(frozen=True, slots=True)
class UniformSecret(_Range):
    """A secret that is uniform on [low, high].

    Raises
    ------
    InvalidInput
        When an end is not finite or low is not below high.

    >>> UniformSecret(0, "1/3")
    UniformSecret(low=0.0, high=Fraction(1, 3))
    """


@dataclass(frozen=True, slots=True)
class BoundedSecret(_Range):
    """A secret of which only the range [low, high] is known: it may have any distribution there.

    Raises
    ------
    InvalidInput
        When an end is not finite or low is not below high.

    >>> BoundedSecret(-1, 1).support
    (-1.0, 1.0)
    """


@dataclass(frozen=True, slots=True)
class DiscreteSecret:
    """A secret with finitely many values.

    Parameters
    ----------
    points : different finite numbers
    masses : their probabilities; floats, Fractions or text, summing to 1 within 1e-9
        A dict from point to mass, or a pandas Series with the points or the index of `points` as its index, is read
        by label.

    Raises
    ------
    ShapeMismatch
        When there are not as many masses as points.
    InvalidInput, InvalidPrior
        When a point repeats, a mass is negative, or the masses do not sum to 1.

    >>> DiscreteSecret([0, 1], ["0.7", "0.3"]).support
    (0.0, 1.0)
    """

    points: Sequence[Real]
    masses: Sequence[Real]

    def __post_init__(self) -> None:
        given, own = split_labels(self.points, "points")
        points = tuple(real(x, f"points entry {i}") for i, x in enumerate(_vector(given, "points")))
        _require_different(points)
        masses = _masses(self.masses, points, own)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "masses", masses)
        _require_distribution(masses)

    @property
    def atoms(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The points of positive mass in ascending order, as exact pairs (point, mass) of total mass 1."""
        total = sum((Fraction(mass) for mass in self.masses), Fraction(0))
        pairs = zip(self.points, self.masses, strict=True)
        return tuple(sorted((Fraction(x), Fraction(mass) / total) for x, mass in pairs if mass > 0))

    @property
    def support(self) -> tuple[Real, Real]:
        """The smallest interval that holds the secret."""
        held = [x for x, mass in zip(self.points, self.masses, strict=True) if mass > 0]
        return min(held), max(held)


@dataclass(frozen=True, slots=True)
class GaussianMixture:
    """A secret that is one of finitely many normals, Σ_k weight_k N(mean_k, deviation_k²).

    Parameters
    ----------
    weights : probabilities of the components; floats, Fractions or text, summing to 1 within 1e-9
    means : their means
    deviations : their standard deviations, positive

    Raises
    ------
    ShapeMismatch
        When there are not as many weights and deviations as means.
    InvalidInput, InvalidPrior
        When a deviation is not positive, a weight is negative, or the weights do not sum to 1.

    >>> GaussianMixture(["1/2", "1/2"], [-1, 1], [1, 2]).components[0]
    (Fraction(1, 2), Fraction(-1, 1), Fraction(1, 1))
    """

    weights: Sequence[Real]
    means: Sequence[Real]
    deviations: Sequence[Real]

    def __post_init__(self) -> None:
        means = tuple(real(x, f"means entry {i}") for i, x in enumerate(_vector(self.means, "means")))
        deviations = tuple(
            positive(x, f"deviations entry {i}", "a component without spread is an atom: use DiscreteSecret")
            for i, x in enumerate(_vector(self.deviations, "deviations"))
        )
        weights = _vector(self.weights, "weights")
        for name, given in (("weights", weights), ("deviations", deviations)):
            if len(given) != len(means):
                raise ShapeMismatch(
                    f"{name} must have one entry per mean, got {len(given)} {name} and {len(means)} means; "
                    "give every component a weight, a mean and a deviation."
                )
        _require_distribution(weights, "weights")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "deviations", deviations)

    @property
    def components(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """The different components of positive weight, as exact (weight, mean, deviation) of total weight 1."""
        total = sum((Fraction(weight) for weight in self.weights), Fraction(0))
        merged: dict[tuple[Fraction, Fraction], Fraction] = {}
        for weight, mean, deviation in zip(self.weights, self.means, self.deviations, strict=True):
            if weight > 0:
                place = Fraction(mean), Fraction(deviation)
                merged[place] = merged.get(place, Fraction(0)) + Fraction(weight) / total
        return tuple((weight, *place) for place, weight in sorted(merged.items()))

    @property
    def support(self) -> tuple[Real, Real]:
        """The smallest interval that holds the secret."""
        return -math.inf, math.inf


@dataclass(frozen=True, slots=True)
class DistributionSecret:
    """A secret with any frozen continuous distribution of scipy.stats.

    What is trusted: its `cdf` left and its `sf` right of the median, up to a relative error of
    `cdf_error`, and up to an absolute 2⁻⁵⁰ more unless scipy is known to be accurate far out in both
    tails of that distribution. Results are intervals that hold for every distribution within that error.

    Parameters
    ----------
    distribution : a frozen scipy.stats distribution, such as scipy.stats.beta(2, 5)
    cdf_error : relative error of its cdf and sf, between 1e-13 and 0.01

    Raises
    ------
    WrongType
        When it is not frozen, is discrete or multivariate.
    InvalidInput
        When its parameters are invalid, it has no cdf of its own, or its cdf is found by quadrature
        and cdf_error does not say so.

    >>> from scipy.stats import beta
    >>> DistributionSecret(beta(2, 5)).support
    (0.0, 1.0)
    """

    distribution: Any
    cdf_error: float = 1e-11

    def __post_init__(self) -> None:
        _require_frozen(self.distribution)
        error = real(self.cdf_error, "cdf_error")
        if not 1e-13 <= error <= 0.01:
            raise InvalidInput(
                f"cdf_error must be in [1e-13, 0.01], got cdf_error={float(error)!r}; "
                "scipy promises no more than about 1e-13."
            )
        name = self.distribution.dist.name
        if name in _INTEGRATED and error < 1e-6:
            raise InvalidInput(
                f"cdf_error must be at least 1e-6 for {name}, got cdf_error={float(error)!r}; "
                "scipy finds its cdf by quadrature, state how far you trust it."
            )
        object.__setattr__(self, "cdf_error", float(error))

    @property
    def support(self) -> tuple[Real, Real]:
        """The interval that scipy states as the support."""
        low, high = self.distribution.support()
        return float(low), float(high)


Secret = (
    GaussianSecret | GaussianMixture | UniformSecret | BoundedSecret | DiscreteSecret | DistributionSecret
)


def as_gaussian(secret: Secret) -> Secret:
    """Return the GaussianSecret that a scipy normal or a mixture of one component is; others as they are.

    >>> from scipy.stats import norm
    >>> as_gaussian(DistributionSecret(norm(3, scale=2)))
    GaussianSecret(sigma=2.0, mean=3.0)
    """
    if isinstance(secret, GaussianMixture) and len(secret.components) == 1:
        _, mean, sigma = secret.components[0]
        return GaussianSecret(sigma, mean)
    if isinstance(secret, DistributionSecret):
        from scipy.stats import norm

        if type(secret.distribution.dist) is type(norm):
            _, loc, scale = shapes_of(secret.distribution)
            return GaussianSecret(scale, loc)
    return secret


def shapes_of(distribution: Any) -> tuple[tuple[float, ...], float, float]:
    """Read the shape parameters, loc and scale of a frozen scipy distribution.

    >>> from scipy.stats import beta
    >>> shapes_of(beta(2, 5, scale=3))
    ((2.0, 5.0), 0.0, 3.0)
    """
    shapes, loc, scale = distribution.dist._parse_args(*distribution.args, **distribution.kwds)
    return tuple(map(float, shapes)), float(loc), float(scale)


def _vector(values: Sequence[Real], argument: str) -> tuple[Any, ...]:
    read = numbers(values, argument, 1)
    return tuple((read.floats if read.floats is not None else read.exact).tolist())  # type: ignore[union-attr]


def _masses(masses: Any, points: Sequence[Real], own: list[Label] | None) -> tuple[Real, ...]:
    """The mass of each point: by the labels that both have, by the points where masses alone have labels."""
    values, labels = split_labels(masses, "masses")
    read = _vector(values, "masses")
    if labels is not None:
        names = Labels.of(points if own is None else own, len(points), "labels of points")
        read = tuple(read[place] for place in places_of(names, labels, "masses", "points"))
    if len(points) != len(read):
        raise ShapeMismatch(
            f"masses must have one entry per point, got {len(read)} masses and {len(points)} points; "
            "give a mass to every point."
        )
    return read


def _require_different(points: Sequence[Real]) -> None:
    seen: dict[Real, int] = {}
    for i, x in enumerate(points):
        if x in seen:
            raise InvalidInput(
                f"points entry {i} must differ from the others, got {float(x)!r} as in entry {seen[x]}; "
                "add up the masses of equal points."
            )
        seen[x] = i


def _require_distribution(masses: Sequence[Real], argument: str = "masses") -> None:
    for i, mass in enumerate(masses):
        if mass < 0:
            given = format_python(Fraction(mass))
            raise InvalidPrior(f"{argument} entry {i} must be at least 0, got {given}; remove it.")
    total = sum((Fraction(mass) for mass in masses), Fraction(0))
    if abs(total - 1) > _SUM_SLACK:
        raise InvalidPrior(
            f"{argument} must sum to 1 within 1e-9, got {format_about(total)}; divide counts by their total first."
        )


def _require_frozen(distribution: Any) -> None:
    got = f"got {quoted(distribution)}"
    if hasattr(distribution, "pmf"):
        raise WrongType(f"distribution must be continuous, {got}; use DiscreteSecret(points, masses).")
    if not all(hasattr(distribution, name) for name in ("dist", "logcdf", "logsf", "ppf", "isf", "support")):
        raise WrongType(
            f"distribution must be a frozen scipy.stats distribution, {got}; "
            "call it with its parameters, as in scipy.stats.norm(0, 1)."
        )
    low, high = distribution.support()
    if _size(low) != 1 or _size(high) != 1 or not low < high:
        raise InvalidInput(
            f"distribution must have valid scalar parameters, got support {quoted((low, high))}; "
            "check shape, loc and scale."
        )
    from scipy.stats import rv_continuous

    kind = type(distribution.dist)
    if kind._cdf is rv_continuous._cdf and kind._logcdf is rv_continuous._logcdf:
        raise InvalidInput(
            f"distribution must have a cdf of its own, {quoted(kind.__name__)} integrates its density to about "
            "1e-8 only; give the class a _cdf method."
        )


def _size(value: Any) -> int:
    return int(getattr(value, "size", 1))
