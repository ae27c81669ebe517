"""tightlip verify: check a certificate again, in rational arithmetic and without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tightlip.cli.channel_file import read_channel_file, read_text
from tightlip.cli.output import complain, print_json, print_text
from tightlip.errors import CertificateInvalid
from tightlip.model.jsonio import parse_json


def verify(
    certificate: Annotated[Path, typer.Argument(help="A file that `tightlip envelope --certificate` wrote.")],
    channel: Annotated[
        Path | None, typer.Option(help="The channel file that the proof must be about.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check both ends of an envelope again. Exit status 1 if the proof does not hold."""
    from tightlip.numeric.ball import log_bounds
    from tightlip.numeric.display import format_down, format_up

    try:
        proof = _read(certificate)
        proof.verify()
        if channel is not None:
            _require_about(proof, channel)
    except CertificateInvalid as error:
        complain(f"{certificate}: {error}")
        raise typer.Exit(1) from error
    lower, upper = max(log_bounds(proof.lower.ratio)[0], 0.0), max(log_bounds(proof.upper.ratio)[1], 0.0)
    mass = float(getattr(proof, "delta", None) or proof.upper.mass)
    record = {
        "valid": True,
        "delta": mass,
        "lower": lower,
        "upper": upper,
        "unit": "nats",
        "inputs": proof.digest(),
    }
    if json:
        print_json(record)
    else:
        print_text(
            f"Valid: with probability at least {mass:g} some post-processing leaks {format_down(lower)} nats, "
            f"and none leaks more than {format_up(upper)} nats so often."
        )


def _require_about(proof: Any, path: Path) -> None:
    """The hash of the channel file must be the one of the proof."""
    from tightlip.certificate.envelope import EnvelopeCertificate, input_digest
    from tightlip.envelope.randomized_response import channel_envelope, response_pair

    given = read_channel_file(path)
    prior = given.require_prior(path)
    if isinstance(proof, EnvelopeCertificate):
        digest = input_digest(given.channel, prior)
    elif response_pair(given.channel) is not None:
        own = channel_envelope(given.channel, prior, proof.delta).certificate
        digest = own.digest() if own is not None else ""
    else:
        digest = ""
    if digest != proof.digest():
        raise CertificateInvalid(f"certificate is about another channel or prior than {path}; make it again.")


def _read(path: Path) -> Any:
    from tightlip.certificate.envelope import EnvelopeCertificate
    from tightlip.certificate.randomized_response import RandomizedResponseCertificate

    text = read_text(path)
    record = parse_json(text, str(path))
    responses = isinstance(record, dict) and "alpha" in record
    return (RandomizedResponseCertificate if responses else EnvelopeCertificate).from_json(text)
