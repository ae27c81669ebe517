"""What a bound on pointwise maximal cost implies: q_y ≤ e^ε K_xy for every secret and outcome.

All bounds of this file are attained together, for every prior, by two outcomes of which the
first has lift e^−ε for every secret but the least likely one, x*, and the second for x* alone.
"""

from __future__ import annotations

from tightlip.convert._theory import largest, pml_from_pmc, read_level, read_mass, total
from tightlip.numeric.alip import Alip
from tightlip.numeric.quantity import Nats


def pmc_to_pml(epsilon: object, p_min: object) -> Nats:
    """Derive the PML guarantee that PMC(ε) implies: log (1 − e^−ε (1−p_min))/p_min.

    Parameters
    ----------
    epsilon : number
        PMC level in nats, exact with `log_of`; infinite gives log 1/p_min.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Theorem 4.2.

    >>> from tightlip import log_of
    >>> pmc_to_pml(log_of(2), "1/4").ratio
    Fraction(5, 2)
    """
    return pml_from_pmc(read_level(epsilon), read_mass(p_min)).nats()


def pmc_to_alip(epsilon: object, p_min: object) -> Alip:
    """Derive the ALIP guarantee that PMC(ε) implies: (ε, `pmc_to_pml`).

    Conversely, (ε, ε_u)-ALIP with ε_u at or above the upper level is the same as PMC(ε).

    Parameters
    ----------
    epsilon : number
        PMC level in nats, exact with `log_of`; infinite gives (∞, log 1/p_min).
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Alip
        (lower, upper) in nats, rounded up. Both are attained, for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.2.

    >>> from tightlip import log_of
    >>> [side.ratio for side in pmc_to_alip(log_of(2), "1/4")]
    [Fraction(2, 1), Fraction(5, 2)]
    """
    level, mass = read_level(epsilon), read_mass(p_min)
    upper = pml_from_pmc(level, mass)
    return Alip((upper if mass.single else level).nats(), upper.nats())


def pmc_to_lip(epsilon: object, p_min: object) -> Nats:
    """Derive the LIP guarantee that PMC(ε) implies: the larger of ε and `pmc_to_pml`.

    The PML side is the larger up to ε = log (1−p_min)/p_min, and ε itself from there on.

    Parameters
    ----------
    epsilon : number
        PMC level in nats, exact with `log_of`; infinite gives infinite.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.2.

    >>> pmc_to_lip(5.0, 0.2), pmc_to_lip(0.5, 0.2) == pmc_to_pml(0.5, 0.2)
    (5.0 nats, True)
    """
    level, mass = read_level(epsilon), read_mass(p_min)
    upper = pml_from_pmc(level, mass)
    return upper.nats() if mass.single else largest(level, upper)


def pmc_to_ldp(epsilon: object, p_min: object) -> Nats:
    """Derive the LDP guarantee that PMC(ε) implies: ε + log (1 − e^−ε (1−p_min))/p_min.

    Parameters
    ----------
    epsilon : number
        PMC level in nats, exact with `log_of`; infinite gives infinite.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.2.

    >>> from tightlip import log_of
    >>> pmc_to_ldp(log_of(2), "1/4").ratio
    Fraction(5, 1)
    """
    level, mass = read_level(epsilon), read_mass(p_min)
    upper = pml_from_pmc(level, mass)
    return upper.nats() if mass.single else total(level, upper).nats()
