"""The plane of (PML, PMC) levels: which guarantee implies which, as in Figure 1 of the PMC paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tightlip.arguments import whole
from tightlip.convert._theory import (
    Mass,
    at_least,
    cap,
    limit_of,
    pmc_from_pml,
    pml_from_pmc,
    read_level,
    read_mass,
)
from tightlip.errors import InvalidInput
from tightlip.numeric.parse import FloatArray
from tightlip.numeric.quantity import Nats, level

Stronger = Literal["pml", "pmc", "equivalent", "neither"]


_MOST_POINTS = 10**6  # of a curve: more than any picture shows, less than fills the memory


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Points (pml, pmc) of a curve in nats; read-only arrays of equal length."""

    pml: FloatArray
    pmc: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Figure 1: where PML(ε_u) and PMC(ε_l) imply each other, for priors with smallest mass p_min.

    Attributes
    ----------
    p_min : float
    blue : Curve
        Points (ε_u, ε_l*(ε_u)), PMC rounded up: on and above it PML(ε_u) implies PMC(ε_l).
    orange : Curve
        Points (ε_u*(ε_l), ε_l), PML rounded up: on it and to its right PMC(ε_l) implies PML(ε_u).
    limit : float
        log 1/(1−p_min), the ε_u at which the blue curve goes to infinity.
    ceiling : Nats
        log 1/p_min, the ε_u that the orange curve approaches, which no channel exceeds.
    """

    p_min: float
    blue: Curve
    orange: Curve
    limit: float
    ceiling: Nats


def region(p_min: object, *, points: int = 101, largest_pmc: object = 5.0) -> Region:
    """Compute the two curves of Figure 1 and their limits; between them neither guarantee implies the other.

    Both curves start at (0, 0) and are sampled evenly in ε_l up to `largest_pmc`:
    ε_l*(ε_u) = log p/(1 − e^ε_u (1−p)) and ε_u*(ε_l) = log (1 − e^−ε_l (1−p))/p.

    Parameters
    ----------
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2].
    points : int
        Points per curve, at least 2.
    largest_pmc : number
        Largest ε_l drawn, positive and finite, in nats.

    Returns
    -------
    Region
        Levels in nats; each curve's second coordinate is computed from the first and rounded up.

    Raises
    ------
    InvalidInput
        If p_min is no smallest mass of two or more secrets, points < 2 or largest_pmc is not positive.

    PMC paper, Theorem 4 and Figure 1.

    >>> picture = region("1/5", points=3, largest_pmc=2.0)
    >>> picture.orange.pml.round(4)
    array([0.    , 1.2609, 1.4948])
    >>> f"{picture.limit:.4f}, {picture.ceiling:.4f}"
    '0.2231, 1.6094'
    """
    mass = read_mass(p_min)
    if mass.single:
        raise InvalidInput("p_min must be at most 1/2 for a picture, got 1; one single secret leaks nothing.")
    levels = np.linspace(0.0, _read_largest(largest_pmc), whole(points, "points", 2, _MOST_POINTS))
    ceiling = cap(mass).nats()
    return Region(float(mass.value), _blue(levels, mass), _orange(levels, mass), limit_of(mass), ceiling)


def _read_largest(largest_pmc: object) -> float:
    largest = float(level(largest_pmc, "largest_pmc"))
    if largest == 0:
        raise InvalidInput("largest_pmc must be positive, got 0.0; it is the top of the picture in nats.")
    return largest


def _blue(levels: FloatArray, mass: Mass) -> Curve:
    p = float(mass.value)
    # the inverse of ε_l*, so that the points spread over the curve and not along its asymptote
    pml = np.log1p(-p * np.exp(-levels)) - math.log1p(-p)
    pml[0] = 0.0
    pmc = [float(pmc_from_pml(read_level(float(each)), mass).nats()) for each in pml]
    return _curve(pml, np.array(pmc))


def _orange(levels: FloatArray, mass: Mass) -> Curve:
    pml = [float(pml_from_pmc(read_level(float(each)), mass).nats()) for each in levels]
    return _curve(np.array(pml), levels)


def _curve(pml: FloatArray, pmc: FloatArray) -> Curve:
    pml.flags.writeable = pmc.flags.writeable = False
    return Curve(pml, pmc)


def compare(epsilon_pml: object, epsilon_pmc: object, p_min: object) -> Stronger:
    """Decide which of PML(ε_u) and PMC(ε_l) is the stronger guarantee for a prior with smallest mass p_min.

    "pml" if every channel that meets PML(ε_u) meets PMC(ε_l), i.e. ε_l ≥ ε_l*(ε_u); "pmc" if the
    other way round, i.e. ε_u ≥ ε_u*(ε_l); "equivalent" if both; "neither" if none. The
    conversions are attained for every prior, so this is an "if and only if".

    Ties count as implied (a point on the blue curve is "pml") and are decided without tolerance: in
    rationals for exact levels (`log_of`) and masses, else by balls. Floats, other than 0 and ∞, lie on
    no curve exactly; a level rounded up from a conversion lies on its implied side. One single secret,
    or two guarantees that every channel meets, are "equivalent".

    Parameters
    ----------
    epsilon_pml, epsilon_pmc : number
        Levels in nats; may be infinite.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    "pml", "pmc", "equivalent" or "neither"

    Raises
    ------
    InvalidInput
        If a level is negative or not a number, or p_min is no smallest mass.

    PMC paper, Theorem 4, Figure 1 and Corollary 4.

    >>> compare(0.1, 1.0, 0.2), compare(1.5, 0.5, 0.2), compare(0.2, 0.5, 0.2)
    ('pml', 'pmc', 'neither')
    """
    upper, lower = read_level(epsilon_pml, "epsilon_pml"), read_level(epsilon_pmc, "epsilon_pmc")
    mass = read_mass(p_min)
    by_pml = at_least(lower, pmc_from_pml(upper, mass))
    by_pmc = at_least(upper, pml_from_pmc(lower, mass))
    if by_pml and by_pmc:
        return "equivalent"
    if by_pml:
        return "pml"
    return "pmc" if by_pmc else "neither"
