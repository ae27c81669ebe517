"""tightlip verify: check a certificate again, in rational arithmetic and without a solver."""

from __future__ import annotations

from collections.abc import Iterable
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
        print_json({"valid": True, "kind": proof.kind, **record, "unit": "nats", "inputs": proof.digest()})
    else:
        print_text(f"Valid: {words}")


def _envelope(proof: Any) -> tuple[dict[str, Any], str]:
    """What the proof of an envelope says at its probability, that of the upper end.

    δ is told from below where an attack has at least that probability, from above where none has it.
    """
    from tightlip.certificate import envelope, ordered
    from tightlip.envelopes.result import proved_ends
    from tightlip.numeric.display import format_down, format_sides, format_up
    from tightlip.report.amounts import delta_json, float_json

    adversary, whose = {
        envelope.KIND: ("any", "post-processing"),
        ordered.KIND: ("ordered", "monotone function of the outcome"),
    }[proof.kind]
    delta = proof.delta if hasattr(proof, "delta") else proof.upper.mass
    lower, upper = proved_ends(proof, delta)
    ends = {"lower": float_json(lower), "upper": float_json(upper)}
    record = {"adversary": adversary, **delta_json(delta), **ends}
    if not delta:
        return record, f"no {whose} ever leaks more than {format_up(upper)} nats."
    below, above = format_sides(delta)
    return record, (
        f"with probability at least {below} some {whose} leaks {format_down(lower)} nats, "
        f"and none leaks more than {format_up(upper)} nats with probability {above} or more."
    )


def _statistic(proof: Any) -> tuple[dict[str, Any], str]:
    """What the proof of a statistic leakage says, in the words of its kind."""
    from tightlip.certificate.statistic_table import COST, MAXIMAL
    from tightlip.numeric.display import format_down, format_up
    from tightlip.numeric.unit import with_unit
    from tightlip.report.amounts import float_json

    meaning = {
        MAXIMAL: "how much easier the release makes it to guess the secret",
        COST: "how much easier the release makes it to name a secret that is not the true one",
    }[proof.kind]
    lower, upper = proof.ends()
    least, most = with_unit(format_down(lower), "nats"), with_unit(format_up(upper), "nats")
    return {"lower": float_json(lower), "upper": float_json(upper)}, (
        f"the {proof.kind}, {meaning}, is at least {least} under some prior and at most {most} under every prior."
    )


def _require_about(proof: Any, path: Path) -> None:
    """The hash of the channel file must be the one of the proof."""
    if _digest_of(proof, path) != proof.digest():
        raise CertificateInvalid(
            f"certificate is about another channel, prior or secret than {path}; make it again."
        )


def _digest_of(proof: Any, path: Path) -> str | None:
    """The hash that a proof of the same kind about the channel file has; None where there is none."""
    from tightlip.certificate.envelope import input_digest
    from tightlip.certificate.randomized_response import RandomizedResponseCertificate, response_digest
    from tightlip.certificate.statistic import StatisticCertificate, statistic_digest
    from tightlip.certificate.statistic_map import MapCertificate
    from tightlip.envelopes.response import response_pair
    from tightlip.model.align import align

    given = read_channel_file(path)
    if isinstance(proof, StatisticCertificate):
        return statistic_digest(proof.kind, given.channel, given.secret or tuple(given.channel.inputs))
    if isinstance(proof, MapCertificate):
        return None
    prior = given.require_prior(path)
    if not isinstance(proof, RandomizedResponseCertificate):
        return input_digest(proof.kind, given.channel, prior)
    pair = response_pair(given.channel)
    return None if pair is None else response_digest(*pair, align(prior, given.channel))


def _read(path: Path) -> Any:
    from tightlip.certificate import envelope, ordered, randomized_response, statistic, statistic_map

    text = read_text(path)
    forms: dict[Any, Any] = {
        envelope.FORMAT: envelope.EnvelopeCertificate,
        ordered.FORMAT: ordered.OrderedCertificate,
        randomized_response.FORMAT: randomized_response.RandomizedResponseCertificate,
        statistic.FORMAT: statistic.StatisticCertificate,
        statistic_map.FORMAT: statistic_map.MapCertificate,
    }
    record = parse_json(text, str(path))
    form = record.get("format") if isinstance(record, dict) else None
    if isinstance(form, str) and form not in forms and form.rpartition(" ")[0] in _without_version(forms):
        raise InvalidInput(
            f"{path} must be a certificate of this version of tightlip, got format {quoted(form)}; make it again."
        )
    if not isinstance(form, str) or form not in forms:
        raise InvalidInput(
            f"{path} must be a certificate, which --certificate of `tightlip envelope` or `tightlip sml` writes, "
            f"got {'no format' if form is None else f'format {quoted(form)}'}; a channel file goes to --channel."
        )
    try:
        return forms[form].from_json(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def _without_version(forms: Iterable[str]) -> set[str]:
    return {form.rpartition(" ")[0] for form in forms}
