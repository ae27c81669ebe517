"""tightlip design: the best mechanism under guarantees, with a proof that none is better."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from tightlip.cli.arguments import Unit, read_prior_file
from tightlip.cli.design_options import (
    Guarantees,
    as_options,
    is_file,
    read_guarantees,
    read_priors,
    read_secret,
    read_target,
    read_utility,
    refuse_target,
    require_guarantee,
    require_one_utility,
    require_pml,
)
from tightlip.cli.output import print_json, print_text, stage_bar
from tightlip.errors import InvalidInput
from tightlip.files import prepare_output, require_apart, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlip.designs.result import Design
    from tightlip.model.channel_file import PriorFile
    from tightlip.showing import Unit as LeakageUnit

_GIVEN = "The channel of the file"
_READING, _TRACING, _DESIGNING, _SEARCHING, _WRITING = (
    "reading",
    "trade-off",
    "designing",
    "searching",
    "writing",
)
_MECHANISM, _PROOF, _PICTURE = "the mechanism", "the proof", "the picture"


def design(
    channel: Annotated[
        Path,
        typer.Argument(
            help="A JSON file with a prior; a channel in it is compared with the best one at a level. - is stdin."
        ),
    ],
    pml: Annotated[str | None, typer.Option(metavar="LEVEL", help="PML of at most so many nats.")] = None,
    ldp: Annotated[str | None, typer.Option(metavar="LEVEL", help="Local differential privacy.")] = None,
    pmc: Annotated[str | None, typer.Option(metavar="LEVEL", help="PMC of at most so many nats.")] = None,
    lip: Annotated[str | None, typer.Option(metavar="LEVEL", help="Local information privacy.")] = None,
    alip: Annotated[str | None, typer.Option(metavar="LOWER,UPPER", help="The same with two levels.")] = None,
    maximal_leakage: Annotated[
        str | None, typer.Option("--maximal-leakage", metavar="LEVEL", help="Maximal leakage.")
    ] = None,
    envelope: Annotated[
        str | None,
        typer.Option(metavar="LEVEL,DELTA", help="What post-processing leaks, but for a share DELTA."),
    ] = None,
    min_mass: Annotated[
        str | None,
        typer.Option(
            "--min-mass", metavar="MASS", help="With --pml: for every prior whose masses are at least this."
        ),
    ] = None,
    priors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --pml: for every prior of a .csv file, with the secrets in its first row and a prior in each "
            "further one, behind its name.",
        ),
    ] = None,
    secret: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --pml, --pmc, --lip or --alip, which are then about s: P(x|s), a .csv file with the values x of "
            "the prior in its first row and those of s in its first column, or a channel file.",
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            metavar="LOSS",
            help="What is to be small: hamming, absolute, squared, top-3, or a .csv file with the outputs in its "
            "first row and the secrets in its first column.",
        ),
    ] = None,
    gain: Annotated[str | None, typer.Option(metavar="GAIN", help="What is to be large, likewise.")] = None,
    utility: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="mutual-information, chi-squared, hellinger or total-variation, to be large; "
            "frequency-variance, to be small.",
        ),
    ] = None,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="The trade-off too, at levels like --ldp 0.5,1,2, or around a single one."
        ),
    ] = False,
    smallest: Annotated[
        str | None,
        typer.Option(metavar="GUARANTEE", help="Find the least level of pml, ldp, … that reaches a target."),
    ] = None,
    at_most: Annotated[
        str | None, typer.Option("--at-most", metavar="VALUE", help="With --smallest: the target of a loss.")
    ] = None,
    at_least: Annotated[
        str | None,
        typer.Option("--at-least", metavar="VALUE", help="With --smallest: that of a gain or utility."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the mechanism as a channel file, with the prior."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the proof for `tightlip verify`.")
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the trade-off, or the mechanism, to .html, .svg or .png."),
    ] = None,
    unit: Annotated[
        Unit,
        typer.Option(
            help="Unit of informations, of --at-least of one, of measured levels and of the least one; levels that "
            "are given stay in nats."
        ),
    ] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """Design the best mechanism: the least loss or the largest gain under guarantees, with a proof.

    The file needs a prior only, {"prior": {name: mass}}. Levels are in nats; "3x" and "log(3)" are exact.
    The mechanism keeps its guarantees exactly, and no other one under them is better than the bound.
    """
    good_for = require_one_utility({"loss": loss, "gain": gain, "utility": utility})
    levels = {"pml": pml, "ldp": ldp, "pmc": pmc, "lip": lip, "alip": alip}
    levels |= {"maximal_leakage": maximal_leakage, "envelope": envelope}
    if smallest is not None and curve:
        raise InvalidInput("--curve must not be given with --smallest; drop one of them.")
    kept = read_guarantees(levels, curve=curve)
    require_pml({"min_mass": min_mass, "priors": priors}, kept, smallest)
    if smallest is None:
        require_guarantee(kept)
        refuse_target(at_most, at_least)
    files = {_MECHANISM: out, _PROOF: certificate, _PICTURE: chart}
    sources = {"the channel file": channel, "the priors": priors, "the secret": secret}
    _check_files(files, sources, good_for, one=kept.single, force=force)
    work = [_SEARCHING] if smallest is not None else [_TRACING] * curve + [_DESIGNING] * kept.single
    with stage_bar([_READING, *work, _WRITING]) as tell:
        tell(_READING)
        given = read_prior_file(channel)
        try:
            if min_mass is not None:
                kept.asked["min_mass"] = min_mass
            if priors is not None:
                kept.asked["priors"] = read_priors(priors, given.prior.labels)
            if secret is not None:
                kept.asked["secret"] = read_secret(secret, kept, smallest, given.prior.labels)
            asked = read_utility(*good_for, given.prior.labels)
            if smallest is None:
                found = _design(given, kept, asked, unit.value, tell)
            else:
                target = read_target(*good_for, at_most, at_least, unit.value)
                tell(_SEARCHING)
                found = _smallest(given, smallest, kept, asked | target, unit.value)
        except InvalidInput as error:
            raise InvalidInput(as_options(error)) from error
        tell(_WRITING)
        found.write(files, force=force)
    wrote = {what: None if path is None else str(path) for what, path in files.items()}
    if json:
        print_json(found.record | {"files": {what: path for what, path in wrote.items() if path}})
    else:
        print_text(found.text, verdict=found.verdict, wrote=wrote)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found: a mechanism, a trade-off, or both; as a record, as text, and in a line."""

    made: Design | None
    points: dict[str, Any] | None
    record: dict[str, Any]
    text: RenderableType
    verdict: str

    def write(self, files: dict[str, Path | None], *, force: bool) -> None:
        """Write the files that are asked for, all of them or none."""
        from tightlip.model.channel_file import channel_file_text
        from tightlip.report.chart import save_chart

        with ExitStack() as written:
            paths = {
                what: written.enter_context(whole_file(path, force=force))
                for what, path in files.items()
                if path is not None
            }
            if _MECHANISM in paths and self.made is not None:
                text = channel_file_text(self.made.channel, self.made.prior, None)
                paths[_MECHANISM].write_text(text + "\n", encoding="utf-8")
            if _PROOF in paths and self.made is not None:
                paths[_PROOF].write_text(self.made.certificate.to_json(), encoding="utf-8")
            if _PICTURE in paths:
                save_chart(self._chart(paths[_PICTURE]), paths[_PICTURE])

    def _chart(self, path: Path) -> Any:
        """Draw the trade-off where there is one; a page is as wide as its reader's."""
        from tightlip.report.design_chart import WIDTH, channel_chart, curve_chart

        width = "container" if path.suffix.lower() == ".html" else WIDTH
        if self.points is not None:
            return curve_chart(self.points, width)
        assert self.made is not None
        return channel_chart(self.made, width)


def _design(
    given: PriorFile,
    kept: Guarantees,
    asked: dict[str, Any],
    unit: LeakageUnit,
    tell: Callable[[str], None],
) -> _Found:
    """Design one mechanism, beside the one of the file, and trace the levels where they are asked for."""
    from tightlip.report.design import curve_text, curve_title, design_text, headline

    if kept.varied is not None:
        tell(_TRACING)
    points = _trace(given, kept, asked, unit)
    if not kept.single:
        assert points is not None
        return _Found(None, points, points, curve_text(points), curve_title(points))
    tell(_DESIGNING)
    made, record = _make(given, kept, asked, unit)
    parts = [design_text(record), *([] if points is None else [Text(""), curve_text(points)])]
    told = record if points is None else record | {"curve": points}
    return _Found(made, points, told, Group(*parts), headline(record))


def _make(
    given: PriorFile, kept: Guarantees, asked: dict[str, Any], unit: LeakageUnit
) -> tuple[Design, dict[str, Any]]:
    from tightlip.designs import compare
    from tightlip.designs import design as make
    from tightlip.report.design import comparison_record, design_record

    if given.channel is None:
        made = make(given.prior, **kept.asked, **asked)
        return made, design_record(made, unit)
    compared = compare({_GIVEN: given.channel}, given.prior, **kept.asked, **asked)
    return compared.best, comparison_record(compared, unit)


def _trace(
    given: PriorFile, kept: Guarantees, asked: dict[str, Any], unit: LeakageUnit
) -> dict[str, Any] | None:
    from tightlip.designs import curve
    from tightlip.report.design import curve_record

    if kept.varied is None:
        return None
    return curve_record(curve(given.prior, **{**kept.asked, kept.varied: kept.traced()}, **asked), unit)


def _smallest(
    given: PriorFile, guarantee: str, kept: Guarantees, asked: dict[str, Any], unit: LeakageUnit
) -> _Found:
    """Find the least level that reaches the target."""
    from tightlip.designs import smallest_budget
    from tightlip.report.design import smallest_headline, smallest_record, smallest_text

    found = smallest_budget(given.prior, guarantee.replace("-", "_"), **kept.asked, **asked)
    record = smallest_record(found, unit)
    return _Found(found.design, None, record, smallest_text(record), smallest_headline(record))


def _check_files(
    files: dict[str, Path | None],
    inputs: dict[str, Path | None],
    good_for: tuple[str, str],
    *,
    one: bool,
    force: bool,
) -> None:
    """Refuse, before any work, what could not be written, and what is about one mechanism where there are many."""
    from tightlip.report.chart import check_chart_path

    name, text = good_for
    matrix = Path(text) if name != "utility" and is_file(text) else None
    read = {what: [path] for what, path in (inputs | {f"the {name}": matrix}).items()}
    require_apart(files.values(), read)
    for what, path in files.items():
        if path is None:
            continue
        if what == _PICTURE:
            check_chart_path(path, force=force)
            continue
        if not one:
            raise InvalidInput(
                f"{what} of one level can be written to {path}, got several levels; give a single one."
            )
        prepare_output(path, force=force)
