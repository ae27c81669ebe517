"""tightlip envelope: the leakage that survives post-processing, exact and proved.

Of a channel file, or of one noisy real value, which --secret and --noise write on the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli.arguments import Unit, read_channel_file, read_probabilities
from tightlip.cli.output import print_json, print_text, progress
from tightlip.envelopes.result import Adversary
from tightlip.errors import InvalidInput, PreconditionFailed, quoted
from tightlip.files import prepare_output, require_apart, whole_file
from tightlip.model.noise import AdditiveNoise, Gaussian, Laplace
from tightlip.model.secret import BoundedSecret, DiscreteSecret, GaussianSecret, UniformSecret
from tightlip.showing import Unit as LeakageUnit

_IN_PYTHON = {  # what messages advise, and how it is written here
    "DiscreteSecret([x], [1])": "discrete:X=1",
    'adversary="any"': "--adversary any",
    "BoundedSecret has": "--secret bounded:LOW,HIGH has",
}


def _discrete(*atoms: str) -> DiscreteSecret:
    pairs: list[tuple[Any, str, Any]] = [atom.partition("=") for atom in atoms]
    return DiscreteSecret([point for point, _, _ in pairs], [mass for _, _, mass in pairs])


Kind = tuple[str, range, Callable[..., Any]]

_SECRETS: dict[str, Kind] = {
    "gaussian": ("gaussian:SIGMA[,MEAN]", range(1, 3), GaussianSecret),
    "uniform": ("uniform:LOW,HIGH", range(2, 3), UniformSecret),
    "bounded": ("bounded:LOW,HIGH", range(2, 3), BoundedSecret),
    "discrete": ("discrete:X=P,X=P,…", range(1, 1_000_000), _discrete),
}
_NOISES: dict[str, Kind] = {
    "gaussian": ("gaussian:SIGMA", range(1, 2), Gaussian),
    "laplace": ("laplace:SCALE", range(1, 2), Laplace),
}
SECRET_FORMS = ", ".join(form for form, _, _ in _SECRETS.values())
NOISE_FORMS = ", ".join(form for form, _, _ in _NOISES.values())


def read_release(secret: str, noise: str) -> AdditiveNoise:
    """Read the release that two texts describe; all numbers are exact.

    >>> read_release("uniform:0,1/3", "laplace:0.5")
    AdditiveNoise(secret=UniformSecret(low=0.0, high=Fraction(1, 3)), noise=Laplace(scale=0.5))
    """
    return AdditiveNoise(_read(secret, "--secret", _SECRETS), _read(noise, "--noise", _NOISES))


def envelope_of_noise(
    secret: str, noise: str, deltas: list[Fraction], adversary: Adversary, *, unit: LeakageUnit, compare: bool
) -> tuple[dict[str, Any], list[Any]]:
    """Solve for the envelope of one noisy value; its record and its points."""
    from tightlip.noise.dispatch import comparisons, endless_attack
    from tightlip.noise.dispatch import envelope as noise_envelope
    from tightlip.report.envelope import envelope_record, noise_attack_words

    release = read_release(secret, noise)
    steps = (noise_envelope(release, delta, adversary=adversary) for delta in deltas)
    try:
        found = progress(steps, len(deltas), "envelope")
    except PreconditionFailed as error:
        raise InvalidInput(_as_options(error)) from error
    endless = [endless_attack(release, point.delta) if math.isinf(point.upper) else None for point in found]
    attacks = [noise_attack_words(point, attack, unit) for point, attack in zip(found, endless, strict=True)]
    compared = [comparisons(release, delta, adversary=adversary) for delta in deltas] if compare else None
    record = envelope_record(found, attacks, compared, unit=unit)
    return {"secret": secret, "noise": noise, **record}, found


def _read(text: str, option: str, kinds: dict[str, Kind]) -> Any:
    name, _, rest = text.strip().partition(":")
    if name.strip().lower() not in kinds:
        forms = ", ".join(form for form, _, _ in kinds.values())
        raise InvalidInput(f"{option} must be one of {forms}, got {quoted(text)}.")
    form, counts, make = kinds[name.strip().lower()]
    parts = [part.strip() for part in rest.split(",")] if rest.strip() else []
    if len(parts) not in counts:
        raise InvalidInput(f"{option} must be written {form}, got {quoted(text)}.")
    try:
        return make(*parts)
    except InvalidInput as error:
        raise InvalidInput(f"{option} {quoted(text)}: {_as_options(error)}") from error


def _as_options(error: InvalidInput) -> str:
    message = str(error)
    for python, option in _IN_PYTHON.items():
        message = message.replace(python, option)
    return message


def envelope(
    channel: Annotated[
        Path | None, typer.Argument(help="A channel file, as for `measure`; - is stdin.")
    ] = None,
    delta: Annotated[
        str, typer.Option(metavar="PROBABILITIES", help="Failure probabilities, comma-separated.")
    ] = "0.01,0.1,0.5",
    adversary: Annotated[Adversary, typer.Option(help="Whose post-processing; binary is one event.")] = "any",
    symbols: Annotated[
        int | None,
        typer.Option(metavar="K", help="How many symbols a k-ary or deterministic adversary may use."),
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="SECRET", help=f"Instead of a file, a real secret: {SECRET_FORMS}.")
    ] = None,
    noise: Annotated[
        str | None, typer.Option(metavar="NOISE", help=f"The noise that is added to it: {NOISE_FORMS}.")
    ] = None,
    unit: Annotated[Unit, typer.Option(help="Unit of every printed leakage.")] = Unit.nats,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Add bounds and the DP level; with --noise, other adversaries.")
    ] = False,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the curve to a .html, .svg or .png file.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the proof for `tightlip verify` (one --delta).",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
) -> None:
    """The largest leakage that some post-processing of the release reaches with probability at least delta.

    Of a channel file, or of one real number with noise: --secret and --noise. The ordered adversary
    sees a monotone function of the outcome; the outcomes of a file are ordered as listed.
    """
    from tightlip.report.chart import check_chart_path, save_chart
    from tightlip.report.envelope import envelope_chart, envelope_text

    deltas = read_probabilities(delta, or_one=True)
    _check_request(channel, secret, noise, adversary, symbols)
    require_apart([chart, certificate], {"the channel file": [channel]})
    if chart is not None:
        check_chart_path(chart, force=force)
    if certificate is not None:
        _check_certificate(certificate, deltas, force)
    compared = compare or chart is not None
    if secret is not None and noise is not None:
        record, points = envelope_of_noise(
            secret, noise, deltas, adversary, unit=unit.value, compare=compared
        )
    else:
        assert channel is not None
        record, points = _of_channel(channel, deltas, adversary, symbols, unit=unit.value, compare=compared)
    with ExitStack() as written:  # both files or none
        if certificate is not None and points[0].certificate is not None:
            file = written.enter_context(whole_file(certificate, force=force))
            file.write_text(points[0].certificate.to_json(), encoding="utf-8")
            record["certificate"] = str(certificate)
        if chart is not None:
            save_chart(envelope_chart(record), written.enter_context(whole_file(chart, force=force)))
            record["chart"] = str(chart)
    print_json(record) if json else print_text(
        envelope_text(record),
        wrote={"the proof": record.get("certificate"), "the picture": record.get("chart")},
    )


def _of_channel(
    path: Path,
    deltas: list[Fraction],
    adversary: Adversary,
    symbols: int | None,
    *,
    unit: LeakageUnit,
    compare: bool,
) -> tuple[dict[str, Any], list[Any]]:
    from tightlip.envelopes.adversaries import envelope_points
    from tightlip.envelopes.known_bounds import comparisons
    from tightlip.report.envelope import attack_words, envelope_record

    given = read_channel_file(path)
    prior = given.require_prior(path)
    order = sorted(set(deltas), reverse=True)  # an attack for a larger δ serves a smaller one
    found = envelope_points(given.channel, prior, order, adversary=adversary, symbols=symbols)
    points = progress(found, len(order), "envelope")
    by_delta = {point.delta: point for point in points}
    wanted = [by_delta[delta] for delta in deltas]
    attacks = [attack_words(point, given.channel.inputs) for point in wanted]
    compared = [comparisons(given.channel, prior, delta) for delta in deltas] if compare else None
    return envelope_record(wanted, attacks, compared, unit=unit, symbols=symbols), wanted


def _check_request(
    channel: Path | None, secret: str | None, noise: str | None, adversary: Adversary, symbols: int | None
) -> None:
    if (channel is None) == (noise is None) or (secret is None) != (noise is None):
        given = [
            name for name, value in (("a file", channel), ("--secret", secret), ("--noise", noise)) if value
        ]
        raise InvalidInput(
            f"give either a channel file or both --secret and --noise, got {', '.join(given) or 'neither'}."
        )
    if adversary == "k-ary" and symbols is None:
        raise InvalidInput("--adversary k-ary needs --symbols, got none; write --symbols 3.")
    if symbols is not None and adversary not in ("k-ary", "deterministic"):
        raise InvalidInput(
            f"--symbols is for --adversary k-ary or deterministic, got {adversary}; leave it out."
        )
    if noise is not None and (adversary == "k-ary" or symbols is not None):
        raise InvalidInput(
            "--symbols and --adversary k-ary need a channel file, got --noise; use --adversary any, whose bound holds."
        )


def _check_certificate(path: Path, deltas: list[Fraction], force: bool) -> None:
    if len(deltas) != 1:
        raise InvalidInput(
            f"--certificate needs one --delta, got {len(deltas)}; a proof is about one number."
        )
    prepare_output(path, force=force)
