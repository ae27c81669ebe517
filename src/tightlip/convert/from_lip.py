"""What bounds on both sides of the information density imply: LIP, |i(x;y)| ≤ ε, and ALIP, −ε_l ≤ i(x;y) ≤ ε_u.

LIP(ε) is (ε, ε)-ALIP. With the prior only its PML side can improve, from ε = log (1−p_min)/p_min
on: the PMC that PML(ε) implies is never below ε (`pml_to_lip` has the proof).

The definition of ALIP alone gives PML(ε_u), PMC(ε_l), LIP of the larger and LDP of the sum. With the
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
from tightlip.numeric.quantity import Alip, Nats


def _read_lip(epsilon: object, p_min: object) -> tuple[Amount, Amount, Mass | None]:
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
    lower, upper = refine(*_read_lip(epsilon, p_min))
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
    return ldp_from_alip(*_read_lip(epsilon, p_min)).nats()


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
