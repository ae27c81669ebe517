"""tightlip sml: what a release tells about one known secret of its input, proved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tightlip.cli.arguments import Unit, read_channel_file
from tightlip.cli.output import print_json, print_text
from tightlip.statistic.work import WORK


def sml(
    channel: Annotated[Path, typer.Argument(help='A channel file, perhaps with "secret"; - is stdin.')],
    unit: Annotated[Unit, typer.Option(help="Unit of every printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    work: Annotated[
        float,
        typer.Option(
            metavar="MILLIONS",
            help="How far to search for ends that meet, in millions of entries read; they are sound wherever it stops.",
        ),
    ] = WORK,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop the search by the clock too; then two runs may differ."),
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Add related measures.")] = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof for `tightlip verify`.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Statistic maximal leakage: how much easier a release makes it to guess the secret, for the worst prior.

    The file's "secret" has a label for each row of the channel; without it each row is a secret of its own.
    """
    from tightlip.files import write_whole
    from tightlip.report.statistic import statistic_record, statistic_text
    from tightlip.statistic.maximal import statistic_maximal_leakage
    from tightlip.statistic.relations import comparisons

    if certificate is not None:
        _require_free(certificate, channel, force=force)
    given = read_channel_file(channel)
    found = statistic_maximal_leakage(given.channel, given.secret, work=work, time_limit=time_limit)
    related = comparisons(given.channel, given.secret, work=work, time_limit=time_limit) if compare else None
    record = statistic_record(found, related, unit=unit.value)
    if certificate is not None:
        write_whole(certificate, found.certificate.to_json(), force=force)
        record["certificate"] = str(certificate)
    print_json(record) if json else print_text(
        statistic_text(record), wrote={"the proof": record.get("certificate")}
    )


def _require_free(certificate: Path, channel: Path, *, force: bool) -> None:
    from tightlip.files import prepare_output, require_apart

    prepare_output(certificate, force=force)
    require_apart([certificate], {"the channel file": [channel]})
