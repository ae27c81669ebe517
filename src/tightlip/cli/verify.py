"""tightlip verify: check a certificate again, in rational arithmetic and without a solver."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tightlip.cli.arguments import read_channel_file, read_text
from tightlip.cli.output import complain, print_json, print_text
from tightlip.errors import CertificateInvalid, InvalidInput

if TYPE_CHECKING:
    from tightlip.auditing.receipt import Receipt
    from tightlip.auditing.recount import Recount
    from tightlip.certificate.base import Certificate


def verify(
    certificate: Annotated[
        Path,
        typer.Argument(
            help="A file that --certificate of a command, or save() in Python, wrote; or a receipt."
        ),
    ],
    channel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The channel file that the proof must be about.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a receipt: postgresql://… where the written table is."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Of a receipt: the table that was released; what was written is counted again.",
        ),
    ] = None,
    table_name: Annotated[
        str | None,
        typer.Option("--table-name", metavar="NAME", help="With --table: which table of a database."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check both ends of a proved number again. Exit status 1 if the proof does not hold.

    Of a receipt, which anybody can write, the files are compared with what
    it says of them; with --table their values and leakage are counted again.
    """
    from rich.text import Text

    from tightlip.certificate.loading import certificate_of
    from tightlip.report.claims import claim_record, claim_words, recount_record, recount_words

    _require_no_release(certificate)
    _require_no_ledger(certificate)
    try:
        proof = certificate_of(read_text(certificate), str(certificate))
        if database is not None:
            proof = _receipt(proof, "--database").reached_at(database)
        counted = None if table is None else _recount(_receipt(proof, "--table"), table, table_name)
        proof.verify()
        claim = proof.claim()
        if channel is not None:
            _require_about(proof, channel)
    except CertificateInvalid as error:
        complain(f"{certificate}: {error}")
        raise typer.Exit(1) from error
    proved = counted is not None or proof.NOUN != "receipt"
    if json:
        record = {"valid": True if proved else None, **claim_record(claim), "inputs": proof.digest()}
        print_json(record if counted is None else record | {"counted_again": recount_record(counted)})
    else:
        words = claim_words(claim) if counted is None else recount_words(counted)
        verdict = f"{'Valid' if proved else 'Unchanged'}: {words}"
        print_text(Text(verdict), verdict=verdict)


def _require_no_release(path: Path) -> None:
    """Refuse a released file itself, with the name of its receipt where that is there."""
    from tightlip.table.forms import FORMS

    if path.suffix.lower() in FORMS:
        receipt = Path(f"{path}.receipt.json")
        remedy = f"verify its receipt, {receipt}" if receipt.is_file() else "give the file that proves it"
        raise InvalidInput(f"{path} must be a certificate or a receipt, got the name of a table; {remedy}.")


def _require_no_ledger(path: Path) -> None:
    """Refuse a ledger, which has a command of its own."""
    if not path.is_file():  # a pipe would be waited for
        return
    with suppress(OSError), path.open("rb") as file:
        if file.read(16) == b"SQLite format 3\0":
            raise InvalidInput(
                f"{path} must be a certificate or a receipt, got a database; of a ledger use tightlip ledger verify."
            )


def _receipt(proof: Certificate, option: str) -> Receipt:
    """Refuse an option about receipts for a proof."""
    from tightlip.auditing.receipt import Receipt

    if not isinstance(proof, Receipt):
        raise InvalidInput(f"{option} is for receipts of released tables, got a proof; leave it out.")
    return proof


def _recount(receipt: Receipt, table: str, name: str | None) -> Recount:
    from tightlip.auditing.recount import recount
    from tightlip.cli.table_input import open_input

    with open_input(table, table=name) as opened:
        return recount(receipt, opened)


def _require_about(proof: Certificate, path: Path) -> None:
    """The hash of the channel file must be the one of the proof."""
    given = read_channel_file(path)
    if proof.needs_prior:
        given.require_prior(path)
    if proof.digest_for(*given) != proof.digest():
        raise CertificateInvalid(
            f"certificate is about another channel, prior or secret than {path}; make it again."
        )
