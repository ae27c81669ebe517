"""tightlip convert: what one privacy guarantee implies about another."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import typer

from tightlip.cli.arguments import Unit, read_levels
from tightlip.cli.output import print_json, print_text
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number
from tightlip.numeric.quantity import Nats


class Guarantee(StrEnum):
    """Privacy guarantees that convert into each other."""

    ldp = "ldp"
    pml = "pml"
    pmc = "pmc"
    lip = "lip"
    alip = "alip"


def convert(
    guarantee: Annotated[
        Guarantee, typer.Argument(help="The guarantee that is known.", case_sensitive=False)
    ],
    epsilon: Annotated[
        str, typer.Argument(help="Its level in nats; log(3) is exact; alip takes two: lower,upper.")
    ],
    to: Annotated[
        Guarantee | None,
        typer.Option(help="The guarantee wanted; all of them by default.", case_sensitive=False),
    ] = None,
    min_mass: Annotated[
        str | None,
        typer.Option(
            "--min-mass", metavar="MASS", help="The smallest prior mass of any secret, like 0.2 or 1/5."
        ),
    ] = None,
    unit: Annotated[Unit, typer.Option(help="Unit of the printed results.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Convert one guarantee into another, with its precondition checked."""
    from tightlip.report.conversion import conversion_record, conversion_text

    levels = read_levels(epsilon)
    wanted = 2 if guarantee is Guarantee.alip else 1
    if len(levels) != wanted:
        raise InvalidInput(
            f"epsilon must be {'a pair lower,upper' if wanted == 2 else 'one number'} for {guarantee.value}, "
            f"got {quoted(epsilon)}."
        )
    results = _results(guarantee, levels, min_mass, to)
    record = conversion_record(guarantee.value, levels, min_mass, results, unit.value)
    print_json(record) if json else print_text(conversion_text(record))


def _results(
    guarantee: Guarantee, levels: list[Nats | Fraction], min_mass: str | None, to: Guarantee | None
) -> dict[str, tuple[Any, str]]:
    """For each guarantee wanted, its amount and the reason."""
    from tightlip import convert as conversions

    if min_mass is None:
        return _for_any_prior(guarantee, levels, to)
    mass = number(min_mass, "min-mass")
    known = conversions.implied(guarantee.value, levels if len(levels) == 2 else levels[0], mass)
    if to is None:
        return {
            kind.value: (getattr(known, kind.value), getattr(known.why, kind.value)) for kind in Guarantee
        }
    if to is not guarantee:  # the function for one pair refuses where its theorem does not apply
        getattr(conversions, f"{guarantee.value}_to_{to.value}")(*levels, mass)
    return {to.value: (getattr(known, to.value), getattr(known.why, to.value))}


def _for_any_prior(
    guarantee: Guarantee, levels: list[Nats | Fraction], to: Guarantee | None
) -> dict[str, tuple[Any, str]]:
    from tightlip import convert as conversions

    if guarantee in (Guarantee.pml, Guarantee.pmc):
        raise InvalidInput(
            f"--min-mass must be given, got none: what {guarantee.value} implies depends on the smallest prior mass."
        )
    targets = list(Guarantee) if to is None else [to]
    if to is guarantee:
        raise InvalidInput(f"--to must differ from {guarantee.value} when --min-mass is not given.")
    if guarantee is Guarantee.ldp:  # both formulas grow to ε as the smallest mass falls to 0
        pair = conversions.lip_to_alip(levels[0])
        amounts = {"ldp": pair.upper, "pml": pair.upper, "pmc": pair.lower, "lip": pair.upper, "alip": pair}
        why = "PMC paper, Propositions 1 and 3, for any prior"
        return {kind.value: (amounts[kind.value], "given" if kind is guarantee else why) for kind in targets}
    return {kind.value: _by_definition(guarantee, kind, levels) for kind in targets}


def _by_definition(guarantee: Guarantee, kind: Guarantee, levels: list[Nats | Fraction]) -> tuple[Any, str]:
    """What LIP or ALIP implies about another guarantee, or itself, for any prior."""
    from tightlip import convert as conversions

    if kind is guarantee:
        given = [conversions.lip_to_alip(level).upper for level in levels]
        return (conversions.Alip(*given) if kind is Guarantee.alip else given[0]), "given"
    return getattr(conversions, f"{guarantee.value}_to_{kind.value}")(*levels), "definition, for any prior"
