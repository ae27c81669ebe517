"""What bounds on both sides of the information density imply: −ε_l ≤ i(x;y) ≤ ε_u.

The definition alone gives PML(ε_u), PMC(ε_l), LIP of the larger and LDP of the sum. With the
prior each side may improve the other, by Theorem 4; the two improved levels are attained for
every prior. Their sum is attained for every prior on three or more secrets: put one secret at
e^ε_u and another at e^−ε_l. The rest can balance them when p_x ≤ (1−e^−ε_l)/(e^ε_u−e^−ε_l) for
the first or p_x' ≤ (e^ε_u−1)/(e^ε_u−e^−ε_l) for the second, besides the same for the least likely
secret, which holds; the two right sides sum to 1, so a second secret of mass ≤ 1/2 meets one.

For two secrets (p, 1−p) with p < 1/2 the sum is not attained in general: p = 1/10, LIP(log 2)
has sum log 4, and enumerating the extreme lifts gives LDP(log 9/4). p_min alone does not tell
two secrets from more, so the sum is what is returned.
"""

from __future__ import annotations

from tightlip.convert._theory import Amount, Mass, largest, ldp_from_alip, read_level, read_mass, refine
from tightlip.numeric.quantity import Nats


def _read(lower: object, upper: object, p_min: object) -> tuple[Amount, Amount, Mass | None]:
    mass = None if p_min is None else read_mass(p_min)
    return read_level(lower, "lower"), read_level(upper, "upper"), mass


def alip_to_pml(lower: object, upper: object, p_min: object = None) -> Nats:
    """Derive the PML guarantee that (ε_l, ε_u)-ALIP implies: ε_u, or with p_min min(ε_u, `pmc_to_pml`(ε_l)).

    Parameters
    ----------
    lower : number
        ε_l in nats, bounds −i (the PMC side); may be infinite.
    upper : number
        ε_u in nats, bounds i (the PML side); may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up. With p_min it is attained for every prior.

    Raises
    ------
    InvalidInput
        If a level is negative or not a number, or p_min is no smallest mass.

    The definition; PMC paper, Theorem 4.2.

    >>> from tightlip import log_of
    >>> alip_to_pml(log_of(2), log_of(3), "1/4").ratio, alip_to_pml(log_of(2), log_of(3)).ratio
    (Fraction(5, 2), Fraction(3, 1))
    """
    return refine(*_read(lower, upper, p_min))[1].nats()


def alip_to_pmc(lower: object, upper: object, p_min: object = None) -> Nats:
    """Derive the PMC guarantee that (ε_l, ε_u)-ALIP implies: ε_l, or with p_min min(ε_l, `pml_to_pmc`(ε_u)).

    Parameters
    ----------
    lower : number
        ε_l in nats, bounds −i (the PMC side); may be infinite.
    upper : number
        ε_u in nats, bounds i (the PML side); may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; infinite where ε_l is and ε_u ≥ log 1/(1−p_min). With p_min attained for every prior.

    Raises
    ------
    InvalidInput
        If a level is negative or not a number, or p_min is no smallest mass.

    The definition; PMC paper, Theorem 4.1.

    >>> alip_to_pmc("inf", 0.1), alip_to_pmc(2.0, 0.1)
    (inf nats, 2.0 nats)
    >>> f"{alip_to_pmc('inf', 0.1, 0.2):.6f}"
    '0.545907'
    """
    return refine(*_read(lower, upper, p_min))[0].nats()


def alip_to_lip(lower: object, upper: object, p_min: object = None) -> Nats:
    """Derive the LIP guarantee that (ε_l, ε_u)-ALIP implies: the larger of `alip_to_pmc` and `alip_to_pml`.

    Parameters
    ----------
    lower : number
        ε_l in nats, bounds −i (the PMC side); may be infinite.
    upper : number
        ε_u in nats, bounds i (the PML side); may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up. With p_min it is attained for every prior.

    Raises
    ------
    InvalidInput
        If a level is negative or not a number, or p_min is no smallest mass.

    The definition; PMC paper, Theorem 4.

    >>> alip_to_lip(2.0, 0.1), alip_to_lip(2.0, 0.1, 0.2) < 0.546
    (2.0 nats, True)
    """
    return largest(*refine(*_read(lower, upper, p_min)))


def alip_to_ldp(lower: object, upper: object, p_min: object = None) -> Nats:
    """Derive the LDP guarantee that (ε_l, ε_u)-ALIP implies: ε_l + ε_u, or with p_min the sum of the improved two.

    Parameters
    ----------
    lower : number
        ε_l in nats, bounds −i (the PMC side); may be infinite.
    upper : number
        ε_u in nats, bounds i (the PML side); may be infinite.
    p_min : number or Prior, optional
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up. With p_min it is attained for every prior on three or more secrets and for the
        uniform one on two; not in general on two secrets (top of this file). Without p_min it is
        not attained where one level forces the other below what was given.

    Raises
    ------
    InvalidInput
        If a level is negative or not a number, or p_min is no smallest mass.

    PMC paper, before Corollary 3 (ALIP to LDP); Theorem 4.

    >>> alip_to_ldp(2.0, 0.5)
    2.5 nats
    >>> from tightlip import log_of
    >>> alip_to_ldp(log_of(2), log_of(3), "1/4").ratio
    Fraction(5, 1)
    """
    return ldp_from_alip(*_read(lower, upper, p_min)).nats()
