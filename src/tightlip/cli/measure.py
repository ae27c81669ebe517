"""tightlip measure: every measure of one channel and prior."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tightlip.cli.arguments import Unit, read_channel_file, read_levels, read_probabilities
from tightlip.cli.output import print_json, print_text


def measure(
    channel: Annotated[
        Path,
        typer.Argument(
            help="A JSON file with a channel and a prior, or with counts (see above); - is stdin."
        ),
    ],
    delta: Annotated[
        str, typer.Option(metavar="PROBABILITIES", help="Probabilities for the quantiles, comma-separated.")
    ] = "0.1,0.05,0.01",
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="LEVELS", help="Levels in nats for the tails, comma-separated; log(2) is exact."
        ),
    ] = "log(2)",
    unit: Annotated[Unit, typer.Option(help="Unit of every printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List every outcome, not only the worst.")] = False,
) -> None:
    """Measure what a release gives away: PML, PMC, maximal leakage, LDP, LIP, ALIP and their tails.

    The file holds {"prior": [..] or {name: mass} or "uniform", "channel": [[..], ..], "inputs": [..],
    "outputs": [..]}, one row for each secret, or {"counts": [[..], ..]} of records, from which both follow.
    Numbers in quotes, like "1/3" or "0.1", are exact.
    """
    from tightlip.measures.summary import measure as measure_all
    from tightlip.report.measurement import measurement_record, measurement_text

    deltas, epsilons = read_probabilities(delta), read_levels(epsilon)
    given = read_channel_file(channel)
    summary = measure_all(given.channel, given.require_prior(channel))
    record = measurement_record(summary, deltas=deltas, epsilons=epsilons, unit=unit.value)
    if json:
        print_json(record)
    else:
        print_text(measurement_text(record, every_outcome=every))
