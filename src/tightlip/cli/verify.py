"""tightlip verify: check a certificate again, in rational arithmetic and without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli.channel_file import read_channel_file, read_text
from tightlip.cli.output import complain, print_json, print_text
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.jsonio import parse_json


def verify(
    certificate: Annotated[
        Path, typer.Argument(help="A file that --certificate of `tightlip envelope` or `sml` wrote.")
    ],
    channel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The channel file that the proof must be about.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check both ends of an envelope or a statistic leakage again. Exit status 1 if the proof does not hold."""
    try:
        proof = _read(certificate)
        proof.verify()
        record, words = _statistic(proof) if hasattr(proof, "ends") else _envelope(proof)
        if channel is not None:
            _require_about(proof, channel)
    except CertificateInvalid as error:
        complain(f"{certificate}: {error}")
        raise typer.Exit(1) from error
    if json:
        print_json({"valid": True, **record, "unit": "nats", "inputs": proof.digest()})
    else:
        print_text(f"Valid: {words}")


def _envelope(proof: Any) -> tuple[dict[str, Any], str]:
    """What the proof of an envelope says at its probability, that of the upper end."""
    from tightlip.certificate.ordered import OrderedCertificate
    from tightlip.envelope.result import proved_ends
    from tightlip.numeric.display import format_about, format_down, format_up

    delta = proof.delta if hasattr(proof, "delta") else proof.upper.mass
    lower, upper = proved_ends(proof, delta)
    adversary, whose = "any", "post-processing"
    if isinstance(proof, OrderedCertificate):
        adversary, whose = "interval", "monotone function of the outcome"
    record = {"adversary": adversary, "delta": float(delta), "lower": lower, "upper": upper}
    if not delta:
        return record, f"no {whose} ever leaks more than {format_up(upper)} nats."
    return record, (
        f"with probability at least {format_about(delta)} some {whose} leaks {format_down(lower)} nats, "
        f"and none leaks more than {format_up(upper)} nats so often."
    )


def _statistic(proof: Any) -> tuple[dict[str, Any], str]:
    """What the proof of a statistic leakage says."""
    from tightlip.numeric.display import format_down, format_up
    from tightlip.report.amounts import float_json

    lower, upper = proof.ends()
    return {"lower": float_json(lower), "upper": float_json(upper)}, (
        f"some prior makes the release leak {format_down(lower)} nats about the secret, "
        f"and none more than {format_up(upper)} nats."
    )


def _require_about(proof: Any, path: Path) -> None:
    """The hash of the channel file must be the one of the proof."""
    from tightlip.certificate.envelope import EnvelopeCertificate, input_digest
    from tightlip.certificate.ordered import OrderedCertificate
    from tightlip.certificate.statistic import StatisticCertificate, statistic_digest
    from tightlip.certificate.statistic_map import MapCertificate
    from tightlip.envelope.randomized_response import channel_envelope, response_pair

    given = read_channel_file(path)
    if isinstance(proof, StatisticCertificate):
        digest = statistic_digest(given.channel, given.secret or tuple(given.channel.inputs))
    elif isinstance(proof, MapCertificate):
        digest = ""
    elif isinstance(proof, (EnvelopeCertificate, OrderedCertificate)):
        digest = input_digest(given.channel, given.require_prior(path))
    elif response_pair(given.channel) is not None:
        own = channel_envelope(given.channel, given.require_prior(path), proof.delta).certificate
        digest = own.digest() if own is not None else ""
    else:
        digest = ""
    if digest != proof.digest():
        raise CertificateInvalid(
            f"certificate is about another channel, prior or secret than {path}; make it again."
        )


def _read(path: Path) -> Any:
    from tightlip.certificate import envelope, ordered, randomized_response, statistic, statistic_map

    text = read_text(path)
    kinds: dict[Any, Any] = {
        envelope.FORMAT: envelope.EnvelopeCertificate,
        ordered.FORMAT: ordered.OrderedCertificate,
        randomized_response.FORMAT: randomized_response.RandomizedResponseCertificate,
        statistic.FORMAT: statistic.StatisticCertificate,
        statistic_map.FORMAT: statistic_map.MapCertificate,
    }
    record = parse_json(text, str(path))
    form = record.get("format") if isinstance(record, dict) else None
    if not isinstance(form, str) or form not in kinds:
        raise InvalidInput(
            f"{path} must be a certificate, which --certificate of `tightlip envelope` or `tightlip sml` writes, "
            f"got {'no format' if form is None else f'format {quoted(form)}'}; a channel file goes to --channel."
        )
    try:
        return kinds[form].from_json(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
