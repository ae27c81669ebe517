"""What local information privacy implies: |i(x;y)| ≤ ε for every secret and outcome.

LIP(ε) is (ε, ε)-ALIP. With the prior only the PML side can improve, from ε = log (1−p_min)/p_min
on: the PMC that PML(ε) implies is never below ε (`pml_to_lip` has the proof).
"""

from __future__ import annotations

from tightlip.convert._theory import Amount, Mass, ldp_from_alip, read_level, read_mass, refine
from tightlip.numeric.alip import Alip
from tightlip.numeric.quantity import Nats


def _read(epsilon: object, p_min: object) -> tuple[Amount, Amount, Mass | None]:
    level = read_level(epsilon)
    return level, level, None if p_min is None else read_mass(p_min)


def lip_to_alip(epsilon: object, p_min: object = None) -> Alip:
    """Derive the ALIP guarantee that LIP(ε) implies: (ε, ε), or with p_min (ε, min(ε, `pmc_to_pml`(ε))).

    Parameters
    ----------
    epsilon : number
        LIP level in nats, exact with `log_of`; may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Alip
        (lower, upper) in nats, rounded up. With p_min both are attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    The definition; PMC paper, Theorem 4.2.

    >>> lip_to_alip(0.5)
    Alip(lower=0.5 nats, upper=0.5 nats)
    """
    lower, upper = refine(*_read(epsilon, p_min))
    return Alip(lower.nats(), upper.nats())


def lip_to_pml(epsilon: object, p_min: object = None) -> Nats:
    """Derive the PML guarantee that LIP(ε) implies: ε, or with p_min min(ε, `pmc_to_pml`(ε)).

    Parameters
    ----------
    epsilon : number
        LIP level in nats, exact with `log_of`; may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up. With p_min it is attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    The definition; PMC paper, Theorem 4.2.

    >>> from tightlip import log_of
    >>> lip_to_pml(log_of(9), "1/4").ratio
    Fraction(11, 3)
    """
    return lip_to_alip(epsilon, p_min).upper


def lip_to_pmc(epsilon: object, p_min: object = None) -> Nats:
    """Derive the PMC guarantee that LIP(ε) implies: ε, which no prior on two or more secrets improves.

    Parameters
    ----------
    epsilon : number
        LIP level in nats, exact with `log_of`; may be infinite.
    p_min : number or Prior, optional
        Changes nothing, except 1 (one single secret), where the answer is 0.

    Returns
    -------
    Nats
        Rounded up; attained for every prior.

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    The definition.

    >>> lip_to_pmc(0.5, 0.2)
    0.5 nats
    """
    return lip_to_alip(epsilon, p_min).lower


def lip_to_ldp(epsilon: object, p_min: object = None) -> Nats:
    """Derive the LDP guarantee that LIP(ε) implies: 2ε, or with p_min ε + min(ε, `pmc_to_pml`(ε)).

    Parameters
    ----------
    epsilon : number
        LIP level in nats, exact with `log_of`; may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up. With p_min it is attained for every prior on three or more secrets and for the
        uniform one on two; not in general on two secrets: masses (1/10, 9/10) and LIP(log 2) give
        LDP(log 9/4), not LDP(log 4).

    Raises
    ------
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, after Proposition 1 (LIP to LDP); Theorem 4.2.

    >>> lip_to_ldp(0.5)
    1.0 nats
    >>> from tightlip import log_of
    >>> lip_to_ldp(log_of(9), "1/4").ratio
    Fraction(33, 1)
    """
    return ldp_from_alip(*_read(epsilon, p_min)).nats()
