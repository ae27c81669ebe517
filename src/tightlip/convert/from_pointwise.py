"""What a bound on pointwise maximal leakage, or on pointwise maximal cost, implies for every outcome y.

PML(ε)  max_x K_xy ≤ e^ε q_y. Only below log 1/(1−p_min) does anything finite follow: from there on a
        channel may rule a secret out, and PMC, LIP and LDP are infinite. Below it all bounds are attained, for
        every prior, by the PML-extremal mechanism K_xx = 1 − e^ε(1−p_x), K_xy = e^ε p_y.
PMC(ε)  q_y ≤ e^ε min_x K_xy. All bounds are attained together, for every prior, by two outcomes of which the
        first has lift e^−ε for every secret but the least likely one, x*, and the second for x* alone.
"""

from __future__ import annotations

from tightlip.convert._theory import (
    cap,
    largest,
    pml_from_pmc,
    read_level,
    read_mass,
    require_pmc,
    tighter,
    total,
)
from tightlip.numeric.quantity import Alip, Nats


def pml_to_pmc(epsilon: object, p_min: object) -> Nats:
    """Derive the PMC guarantee that PML(ε) implies: log p_min/(1 − e^ε (1−p_min)).

    Parameters
    ----------
    epsilon : number
        PML level in nats, below log 1/(1−p_min), exact with `log_of`.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    PreconditionFailed
        Unless ε < log 1/(1−p_min) is proved.
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Theorem 4.1.

    >>> f"{pml_to_pmc(0.2008291962, '1/5'):.6f}"
    '2.204224'
    """
    return require_pmc(read_level(epsilon), read_mass(p_min)).nats()


def pml_to_alip(epsilon: object, p_min: object) -> Alip:
    """Derive the ALIP guarantee that PML(ε) implies: (`pml_to_pmc`, ε).

    Conversely, (ε_l, ε)-ALIP with ε_l at or above the lower level is the same as PML(ε).

    Parameters
    ----------
    epsilon : number
        PML level in nats, below log 1/(1−p_min), exact with `log_of`.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Alip
        (lower, upper) in nats, rounded up. Both are attained, for every prior.

    Raises
    ------
    PreconditionFailed
        Unless ε < log 1/(1−p_min) is proved.
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.1.

    >>> from tightlip import log_of
    >>> [side.ratio for side in pml_to_alip(log_of("10/9"), "1/5")]
    [Fraction(9, 5), Fraction(10, 9)]
    """
    level, mass = read_level(epsilon), read_mass(p_min)
    lower = require_pmc(level, mass)
    return Alip(lower.nats(), tighter(level, cap(mass)).nats())


def pml_to_lip(epsilon: object, p_min: object) -> Nats:
    """Derive the LIP guarantee that PML(ε) implies: the PMC one, log p_min/(1 − e^ε (1−p_min)).

    It is never below ε: with t = e^ε, p ≥ t(1 − t(1−p)) is (t−1)((1−p)t − p) ≥ 0, true for p ≤ 1/2.

    Parameters
    ----------
    epsilon : number
        PML level in nats, below log 1/(1−p_min), exact with `log_of`.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    PreconditionFailed
        Unless ε < log 1/(1−p_min) is proved.
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.1.

    >>> pml_to_lip(0.1, 0.2) == pml_to_pmc(0.1, 0.2)
    True
    """
    return pml_to_pmc(epsilon, p_min)


def pml_to_ldp(epsilon: object, p_min: object) -> Nats:
    """Derive the LDP guarantee that PML(ε) implies: ε + log p_min/(1 − e^ε (1−p_min)).

    Parameters
    ----------
    epsilon : number
        PML level in nats, below log 1/(1−p_min), exact with `log_of`.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Nats
        Rounded up; with the exact ratio where both arguments are exact. Attained for every prior.

    Raises
    ------
    PreconditionFailed
        Unless ε < log 1/(1−p_min) is proved.
    InvalidInput
        If epsilon is negative or not a number, or p_min is no smallest mass.

    PMC paper, Corollary 3.1.

    >>> f"{pml_to_ldp(0.2008291962, '1/5'):.6f}"
    '2.405053'
    """
    level, mass = read_level(epsilon), read_mass(p_min)
    lower = require_pmc(level, mass)
    return total(lower, tighter(level, cap(mass))).nats()


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
