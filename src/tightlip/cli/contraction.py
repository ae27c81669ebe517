"""tightlip contraction: how much closer two inputs come behind a channel, or behind any channel of a level."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tightlip.cli.arguments import Unit, read_channel_file, read_level
from tightlip.cli.output import print_json, print_text
from tightlip.errors import InvalidInput
from tightlip.files import require_apart, whole_file
from tightlip.numeric.parse import number

if TYPE_CHECKING:
    from tightlip.contraction.summary import ContractionSummary, LevelBounds


def contraction(
    channel: Annotated[
        Path | None, typer.Argument(help="A channel file, as for `measure`; - is stdin.")
    ] = None,
    min_mass: Annotated[
        str | None,
        typer.Option(
            "--min-mass", metavar="MASS", help="c: every prior mass is at least this; 0 means any prior."
        ),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", metavar="NUMBER", help="Number of secrets, instead of a channel.")
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL", help="Level of (ε, c)-PML in nats, instead of a channel; log(10/3) is exact."
        ),
    ] = None,
    gamma: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Also E_γ, comma-separated, each at least 1.")
    ] = None,
    unit: Annotated[Unit, typer.Option(help="Unit of every printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the bounds to a .html, .svg or .png file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Contraction coefficients of a channel, or the bounds that hold for every (ε, c)-PML channel."""
    from tightlip.report.chart import check_chart_path, save_chart
    from tightlip.report.contraction import (
        contraction_chart,
        contraction_record,
        contraction_text,
        level_record,
    )

    require_apart([chart], {"the channel file": [channel]})
    if chart is not None:
        check_chart_path(chart, force=force)
    mass = Fraction(0) if min_mass is None else Fraction(number(min_mass, "min-mass"))
    if channel is not None:
        _refuse(n=n, epsilon=epsilon)
        measured = _measure_channel(channel, mass, gamma)
        record = contraction_record(measured, unit.value)
    else:
        _refuse(gamma=gamma)
        implied = _imply_bounds(n, epsilon, mass)
        record = level_record(implied, unit.value)
    if chart is not None:
        with whole_file(chart, force=force) as file:
            save_chart(contraction_chart(implied if channel is None else measured), file)
        record["chart"] = str(chart)
    print_json(record) if json else print_text(
        contraction_text(record), wrote={"the picture": record.get("chart")}
    )


def _measure_channel(path: Path, mass: Fraction, gamma: str | None) -> ContractionSummary:
    from tightlip.contraction.summary import measure

    given = read_channel_file(path)
    gammas = [Fraction(number(part.strip(), "gamma")) for part in gamma.split(",")] if gamma else []
    return measure(given.channel, given.prior, min_mass=mass, gammas=gammas)


def _imply_bounds(n: int | None, epsilon: str | None, mass: Fraction) -> LevelBounds:
    from tightlip.contraction.summary import level_bounds

    if n is None or epsilon is None:
        raise InvalidInput("give a channel file, or both --n and --epsilon (and --min-mass).")
    return level_bounds(n, read_level(epsilon), mass)


def _refuse(**options: object) -> None:
    for name, value in options.items():
        if value is not None:
            side = "without" if name == "gamma" else "with"
            raise InvalidInput(f"--{name} cannot be used {side} a channel file; drop one of them.")
