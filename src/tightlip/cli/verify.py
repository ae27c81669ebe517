"""tightlip verify: check a certificate again, in rational arithmetic and without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tightlip.cli.arguments import read_channel_file, read_text
from tightlip.cli.output import complain, print_json, print_text
from tightlip.errors import CertificateInvalid, InvalidInput

if TYPE_CHECKING:
    from tightlip.certificate.base import Certificate


def verify(
    certificate: Annotated[
        Path, typer.Argument(help="A file that --certificate of a command, or save() in Python, wrote.")
    ],
    channel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The channel file that the proof must be about.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a receipt: postgresql://… where the written table is."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check both ends of a proved number again. Exit status 1 if the proof does not hold."""
    from tightlip.certificate.loading import certificate_of
    from tightlip.report.claims import claim_record, claim_words

    _require_no_release(certificate)
    try:
        proof = certificate_of(read_text(certificate), str(certificate))
        if database is not None:
            proof = _at(proof, database)
        proof.verify()
        claim = proof.claim()
        if channel is not None:
            _require_about(proof, channel)
    except CertificateInvalid as error:
        complain(f"{certificate}: {error}")
        raise typer.Exit(1) from error
    if json:
        print_json({"valid": True, **claim_record(claim), "inputs": proof.digest()})
    else:
        print_text(f"Valid: {claim_words(claim)}")


def _require_no_release(path: Path) -> None:
    """Refuse a released file itself, with the name of its receipt."""
    from tightlip.table.forms import FORMS

    if path.suffix.lower() in FORMS:
        raise InvalidInput(
            f"{path} must be a certificate or a receipt, got the name of a table; verify its receipt, "
            f"{path}.receipt.json."
        )


def _at(proof: Certificate, database: str) -> Certificate:
    """The receipt, with its table looked for at an address."""
    from tightlip.auditing.receipt import Receipt

    if not isinstance(proof, Receipt):
        raise InvalidInput("--database is for receipts of a Postgres table, got a proof; leave it out.")
    return proof.reached_at(database)


def _require_about(proof: Certificate, path: Path) -> None:
    """The hash of the channel file must be the one of the proof."""
    given = read_channel_file(path)
    if proof.needs_prior:
        given.require_prior(path)
    if proof.digest_for(*given) != proof.digest():
        raise CertificateInvalid(
            f"certificate is about another channel, prior or secret than {path}; make it again."
        )
