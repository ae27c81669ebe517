"""What local differential privacy implies: max_{x,x'} K_xy/K_x'y ≤ e^ε for every outcome y.

All bounds of this file are attained together, for every prior, by binary randomized response
between the least likely secret and the rest: K(1|x*) = e^ε/(1+e^ε), K(1|x) = 1/(1+e^ε).
"""

from __future__ import annotations

from tightlip.convert._theory import pmc_from_ldp, pml_from_ldp, read_level, read_mass
from tightlip.numeric.quantity import Alip, Nats


def ldp_to_pml(epsilon: object, p_min: object) -> Nats:
    """Derive the PML guarantee that LDP(ε) implies: −log(p_min + e^−ε (1−p_min)).

    Parameters
    ----------
    epsilon : number
        LDP level in nats, exact with `log_of`; infinite gives log 1/p_min.
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

    PMC paper, Proposition 1.

    >>> from tightlip import log_of
    >>> ldp_to_pml(log_of(4), "1/3").ratio
    Fraction(2, 1)
    """
    return pml_from_ldp(read_level(epsilon), read_mass(p_min)).nats()


def ldp_to_pmc(epsilon: object, p_min: object) -> Nats:
    """Derive the PMC guarantee that LDP(ε) implies: log(e^ε − p_min (e^ε − 1)).

    Parameters
    ----------
    epsilon : number
        LDP level in nats, exact with `log_of`; infinite gives infinite.
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

    PMC paper, Proposition 3.

    >>> from tightlip import log_of
    >>> ldp_to_pmc(log_of(4), "1/3").ratio
    Fraction(3, 1)
    """
    return pmc_from_ldp(read_level(epsilon), read_mass(p_min)).nats()


def ldp_to_alip(epsilon: object, p_min: object) -> Alip:
    """Derive the ALIP guarantee that LDP(ε) implies: (`ldp_to_pmc`, `ldp_to_pml`).

    Parameters
    ----------
    epsilon : number
        LDP level in nats, exact with `log_of`.
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

    PMC paper, Propositions 1 and 3.

    >>> ldp_to_alip(0, 0.2)
    Alip(lower=0.0 nats, upper=0.0 nats)
    """
    return Alip(ldp_to_pmc(epsilon, p_min), ldp_to_pml(epsilon, p_min))


def ldp_to_lip(epsilon: object, p_min: object) -> Nats:
    """Derive the LIP guarantee that LDP(ε) implies: the PMC one, log(e^ε − p_min (e^ε − 1)).

    The arithmetic mean p + (1−p)e^ε of 1 and e^ε is never below their harmonic mean
    1/(p + (1−p)e^−ε), so the PMC side is the larger.

    Parameters
    ----------
    epsilon : number
        LDP level in nats, exact with `log_of`; infinite gives infinite.
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

    PMC paper, Proposition 1.

    >>> f"{ldp_to_lip(1.0, 0.2):.6f}"
    '0.864840'
    """
    return ldp_to_pmc(epsilon, p_min)
