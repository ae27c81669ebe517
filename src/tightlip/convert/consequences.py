"""All that follows from one guarantee, with the reason for each part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from tightlip.arguments import choice
from tightlip.convert._theory import (
    Amount,
    Mass,
    cap,
    largest,
    limit_words,
    pmc_from_ldp,
    pmc_from_pml,
    pml_from_ldp,
    pml_from_pmc,
    read_level,
    read_mass,
    refine,
    tighter,
    total,
)
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.display import format_up
from tightlip.numeric.quantity import Alip, Nats

Kind = Literal["ldp", "pml", "pmc", "lip", "alip"]

_SUM = "ALIP to LDP: the sum of the PMC and the PML level"
_PAIR = "definition: the pair of the PMC and the PML level"
_LARGER = "definition: the larger of the PMC and the PML level"


@dataclass(frozen=True, slots=True)
class Reasons:
    """For each implied guarantee, the theorem that gives it or why it is infinite."""

    pml: str
    pmc: str
    lip: str
    alip: str
    ldp: str


@dataclass(frozen=True, slots=True)
class Implied:
    """The best guarantees, in nats and rounded up, that follow from the one given; infinite where none does."""

    guarantee: Kind
    pml: Nats
    pmc: Nats
    lip: Nats
    alip: Alip
    ldp: Nats
    why: Reasons


@dataclass(frozen=True, slots=True)
class _Found:
    lower: Amount
    upper: Amount
    ldp: Amount
    pml: str
    pmc: str
    by_ldp: str = _SUM


def implied(guarantee: Kind, epsilon: object, p_min: object) -> Implied:
    """Derive everything that one guarantee implies for a prior: PML, PMC, LIP, ALIP and LDP.

    Parameters
    ----------
    guarantee : "ldp", "pml", "pmc", "lip" or "alip"
        What is known of the channel.
    epsilon : number, or a pair (lower, upper) for "alip"
        Its level in nats, exact with `log_of`; may be infinite.
    p_min : number or Prior
        Smallest positive mass, in (0, 1/2], or 1 for one single secret.

    Returns
    -------
    Implied
        Nats rounded up, infinite where nothing finite follows, and `why` for each. PML, PMC, LIP and
        ALIP are attained for every prior, so no chain of conversions can lower them; so is LDP,
        except from "lip" and "alip" for two secrets that are not equally likely.

    Raises
    ------
    InvalidInput
        If the guarantee is unknown, a level is negative or not a number, or p_min is no smallest mass.

    PMC paper, Propositions 1 and 3, Theorem 4, Corollary 3.

    >>> known = implied("pml", 0.3, 0.2)
    >>> known.pml, known.pmc
    (0.3 nats, inf nats)
    >>> known.why.pmc
    'infinite: the PML level 0.3 nats is not below log 1/(1−p_min) = 0.223143 nats, so a secret may be ruled out'
    """
    choice(guarantee, "guarantee", get_args(Kind))
    levels, mass = _read(guarantee, epsilon), read_mass(p_min)
    if mass.single:
        return _finish(guarantee, _nothing(mass))
    return _finish(guarantee, _RULES[guarantee](levels, mass))


def _read(guarantee: Kind, epsilon: object) -> tuple[Amount, Amount]:
    if guarantee != "alip":
        level = read_level(epsilon)
        return level, level
    if not isinstance(epsilon, (tuple, list)) or len(epsilon) != 2:
        raise InvalidInput(
            f'epsilon must be a pair (lower, upper) for "alip", got {quoted(epsilon)}; '
            'use "lip" for one level on both sides.'
        )
    return read_level(epsilon[0], "lower"), read_level(epsilon[1], "upper")


def _finish(guarantee: Kind, found: _Found) -> Implied:
    lower, upper = found.lower.nats(), found.upper.nats()
    endless = found.pmc if found.lower.unbounded else None
    return Implied(
        guarantee,
        pml=upper,
        pmc=lower,
        lip=largest(found.lower, found.upper),
        alip=Alip(lower, upper),
        ldp=found.ldp.nats(),
        why=Reasons(found.pml, found.pmc, endless or _LARGER, endless or _PAIR, endless or found.by_ldp),
    )


def _nothing(mass: Mass) -> _Found:
    zero, reason = cap(mass), "one single secret: there is nothing to learn"
    return _Found(zero, zero, zero, reason, reason, reason)


def _of_ldp(levels: tuple[Amount, Amount], mass: Mass) -> _Found:
    level = levels[0]
    lower, upper = pmc_from_ldp(level, mass), pml_from_ldp(level, mass)
    if level.unbounded:
        reason = "infinite: the given LDP level is, so a secret may be ruled out"
        return _Found(lower, upper, level, _CAPPED, reason)
    return _Found(
        lower,
        upper,
        level,
        "PMC paper, Proposition 1: LDP to PML",
        "PMC paper, Proposition 3: LDP to PMC",
        "given",
    )


def _of_pml(levels: tuple[Amount, Amount], mass: Mass) -> _Found:
    upper = tighter(levels[1], cap(mass))
    lower = pmc_from_pml(upper, mass)
    by_pml = "given" if upper is levels[1] else _CAPPED
    by_pmc = _ruled_out(upper, mass) if lower.unbounded else "PMC paper, Theorem 4.1: PML to PMC"
    return _Found(lower, upper, total(lower, upper), by_pml, by_pmc)


def _of_pmc(levels: tuple[Amount, Amount], mass: Mass) -> _Found:
    lower = levels[0]
    upper = pml_from_pmc(lower, mass)
    if lower.unbounded:
        return _Found(lower, upper, lower, _CAPPED, "infinite: the given PMC level is")
    return _Found(lower, upper, total(lower, upper), "PMC paper, Theorem 4.2: PMC to PML", "given")


def _of_alip(levels: tuple[Amount, Amount], mass: Mass) -> _Found:
    lower, upper = refine(*levels, mass)
    by_pml = "given" if upper is levels[1] else "PMC paper, Theorem 4.2: PMC to PML"
    by_pmc = "given" if lower is levels[0] else "PMC paper, Theorem 4.1: PML to PMC"
    if levels[0].unbounded and upper is not levels[1]:
        by_pml = _CAPPED
    if lower.unbounded:
        by_pmc = _ruled_out(upper, mass)
    return _Found(lower, upper, total(lower, upper), by_pml, by_pmc)


_CAPPED = "no PML is above log 1/p_min"
_RULES = {"ldp": _of_ldp, "pml": _of_pml, "pmc": _of_pmc, "lip": _of_alip, "alip": _of_alip}


def _ruled_out(upper: Amount, mass: Mass) -> str:
    return (
        f"infinite: the PML level {format_up(upper.nats())} nats is not below "
        f"log 1/(1−p_min) = {limit_words(mass)} nats, so a secret may be ruled out"
    )
