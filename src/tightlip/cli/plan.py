"""tightlip plan: what a private study can find out at best, and how many people it needs at least."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli.arguments import read_channel_file, read_levels, read_text
from tightlip.cli.output import print_json, print_text
from tightlip.errors import InvalidInput, TightlipError
from tightlip.files import require_apart, whole_file
from tightlip.model.jsonio import as_object, check_keys
from tightlip.model.labels import label_from_json, labels_from_json
from tightlip.model.prior import Prior
from tightlip.numeric.parse import number
from tightlip.planning.privacy import KnownChannel, LocalPrivacy, PmlPrivacy, Privacy
from tightlip.planning.samples import read_target
from tightlip.planning.study import Study


class Currency(StrEnum):
    """What ε is about."""

    ldp = "ldp"
    pml = "pml"


def plan(
    study: Annotated[Path, typer.Argument(help="A study file: hypotheses and a loss; - is stdin.")],
    samples: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="n: people who send one release each.")
    ],
    epsilon: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="Levels in nats, comma-separated; log(3) is exact.")
    ] = None,
    currency: Annotated[Currency, typer.Option(help="ε-LDP, or (ε, c)-PML.")] = Currency.ldp,
    min_mass: Annotated[
        str | None,
        typer.Option(
            "--min-mass", metavar="MASS", help="c of (ε, c)-PML: every prior mass is at least this."
        ),
    ] = None,
    channel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A channel file that everyone uses, instead of --epsilon."),
    ] = None,
    target_risk: Annotated[
        str | None,
        typer.Option("--target-risk", metavar="RISK", help="Also the people needed for this risk."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw risk against n to .html, .svg or .png.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """The smallest risk any procedure can promise, and the number of people needed, for each privacy level."""
    from tightlip.planning.samples import plan_table
    from tightlip.report.chart import check_chart_path, save_chart
    from tightlip.report.plan import plan_chart, plan_record, plan_text

    require_apart([chart], {"the study": [study], "the channel file": [channel]})
    if chart is not None:
        check_chart_path(chart, force=force)
    levels = _levels(epsilon, currency, min_mass, channel)
    target = None if target_risk is None else read_target(target_risk)
    found = plan_table(read_study_file(study), levels, samples, target_risk=target)
    record = plan_record(found)
    if chart is not None:
        with whole_file(chart, force=force) as file:
            save_chart(plan_chart(found), file)
        record["chart"] = str(chart)
    print_json(record) if json else print_text(plan_text(record), wrote={"the picture": record.get("chart")})


def _levels(
    epsilon: str | None, currency: Currency, min_mass: str | None, channel: Path | None
) -> list[Privacy]:
    if (epsilon is None) == (channel is None):
        raise InvalidInput("give --epsilon or --channel, and not both.")
    if (currency is Currency.pml) != (min_mass is not None):
        raise InvalidInput("--min-mass and --currency pml belong together; give both or neither.")
    if channel is not None:
        if min_mass is not None:
            raise InvalidInput("--min-mass cannot be used with --channel; a channel is known, not bounded.")
        return [KnownChannel(read_channel_file(channel).channel)]
    assert epsilon is not None
    if min_mass is None:
        return [LocalPrivacy(level) for level in read_levels(epsilon)]
    mass = Fraction(number(min_mass, "min-mass"))
    return [PmlPrivacy(level, mass) for level in read_levels(epsilon)]


def read_study_file(path: Path) -> Study:
    """Read and check a study file."""
    record = as_object(read_text(path), str(path), {"hypotheses"}, {"loss", "separation", "labels"})
    entries = record["hypotheses"]
    if not isinstance(entries, list):
        raise InvalidInput(f'{path}: "hypotheses" must be a list of objects; see docs/planning.md.')
    labels = labels_from_json(record.get("labels"), "labels")
    read = [_hypothesis(entry, place, labels) for place, entry in enumerate(entries)]
    known = [parameter is not None for _, parameter, _ in read]
    if any(known) and not all(known):
        raise InvalidInput(f'{path}: hypothesis {known.index(False)} must have a "parameter", as others do.')
    return Study(
        [prior for prior, _, _ in read],
        parameters=[parameter for _, parameter, _ in read] if any(known) else None,
        loss=record.get("loss"),
        separation=record.get("separation"),
        names=[name for _, _, name in read],
    )


def _hypothesis(entry: Any, place: int, labels: list[Any] | None) -> tuple[Prior, Any, Any]:
    what = f"hypothesis {place}"
    record = check_keys(entry, what, {"prior"}, {"name", "parameter"})
    masses = record["prior"]
    try:
        prior = Prior(masses, None if isinstance(masses, dict) else labels)
    except TightlipError as error:
        raise type(error)(f"{what}: {error}") from error
    return prior, record.get("parameter"), label_from_json(record.get("name", place))
