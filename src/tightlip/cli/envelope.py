"""tightlip envelope: the leakage that survives any post-processing, exact and proved."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli.arguments import Unit, read_probabilities
from tightlip.cli.channel_file import read_channel_file
from tightlip.cli.output import print_json, print_text, progress
from tightlip.errors import InvalidInput
from tightlip.files import require_free, write_whole


class Adversary(StrEnum):
    """Whose post-processing is meant."""

    any = "any"
    deterministic = "deterministic"
    binary = "binary"


def envelope(
    channel: Annotated[Path, typer.Argument(help="A channel file, as for `measure`; - is stdin.")],
    delta: Annotated[
        str, typer.Option(metavar="PROBABILITIES", help="Failure probabilities, comma-separated.")
    ] = "0.01,0.1,0.5",
    adversary: Annotated[Adversary, typer.Option(help="Whose post-processing.")] = Adversary.any,
    unit: Annotated[Unit, typer.Option(help="Unit of every printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Add bounds and the DP level.")] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curve to a .html, .svg or .png file.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the proof (one --delta only) for `tightlip verify`."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """The largest leakage that some post-processing of the release reaches with probability at least delta."""
    from tightlip.report.chart import check_chart_path
    from tightlip.report.envelope import envelope_record, write_envelope_chart
    from tightlip.report.text import envelope_text

    deltas = read_probabilities(delta)
    if chart is not None:
        check_chart_path(chart, force=force)
    if certificate is not None:
        _check_certificate(certificate, deltas, adversary, force)
    given = read_channel_file(channel)
    prior = given.require_prior(channel)
    points = progress(_points(given.channel, prior, deltas, adversary), len(deltas), "envelope")
    wanted = compare or chart is not None
    record = envelope_record(given.channel, prior, points, unit=unit.value, comparisons=wanted)
    if certificate is not None and points[0].certificate is not None:
        write_whole(certificate, points[0].certificate.to_json(), force=force)
        record["certificate"] = str(certificate)
    if chart is not None:
        write_envelope_chart(record, chart)
        record["chart"] = str(chart)
    print_json(record) if json else print_text(envelope_text(record))


def _points(channel: Any, prior: Any, deltas: list[Fraction], adversary: Adversary) -> Any:
    from tightlip.envelope.binary import binary_envelope
    from tightlip.envelope.deterministic import deterministic_attack
    from tightlip.envelope.exact import envelope_points

    if adversary is Adversary.any:
        yield from envelope_points(channel, prior, deltas)
    else:
        one = binary_envelope if adversary is Adversary.binary else deterministic_attack
        for delta in deltas:
            yield one(channel, prior, delta)


def _check_certificate(path: Path, deltas: list[Fraction], adversary: Adversary, force: bool) -> None:
    if len(deltas) != 1 or adversary is not Adversary.any:
        raise InvalidInput(
            "--certificate needs one --delta and --adversary any; a proof is about one number."
        )
    require_free(path, force=force)
