"""What a bound on pointwise maximal leakage implies: max_x K_xy ≤ e^ε q_y for every outcome y.

Only below log 1/(1−p_min) does anything finite follow: from there on a channel may rule a
secret out, and PMC, LIP and LDP are infinite. Below it all bounds are attained, for every
prior, by the PML-extremal mechanism K_xx = 1 − e^ε(1−p_x), K_xy = e^ε p_y.
"""

from __future__ import annotations

from tightlip.convert._theory import cap, read_level, read_mass, require_pmc, tighter, total
from tightlip.numeric.alip import Alip
from tightlip.numeric.quantity import Nats


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
