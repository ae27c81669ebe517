"""The proof of the statistic leakage of a plain mapping, input → output: a matching and a vertex cover.

Lower end. A selection of one input for each secret that reaches `total` different outputs.
Upper end. Some outputs (the cover). Every other output adds to Σ_y max_g only through secrets that have an input
with an output outside the cover, each by one: no selection reaches more than their number plus the cover's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from tightlip.certificate.record import kind_digest, read_certificate, written_certificate
from tightlip.certificate.statistic import SelectionProof, read_labels
from tightlip.certificate.statistic_table import MAXIMAL
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.labels import Label, Labels
from tightlip.numeric.ball import log_bounds

FORMAT = "tightlip statistic leakage of a map certificate 2"


@dataclass(frozen=True, slots=True)
class CoverProof:
    """No selection reaches more than `total` outputs."""

    total: int
    outputs: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class MapCertificate:
    """Both ends, with the output and the secret of each input."""

    outputs: tuple[Label, ...]
    secret: tuple[Label, ...]
    lower: SelectionProof
    upper: CoverProof

    @property
    def kind(self) -> Literal["statistic maximal leakage"]:
        """The number that it bounds: Π, as of other channels."""
        return MAXIMAL

    def verify(self) -> None:
        """Count both ends again.

        Raises
        ------
        CertificateInvalid
            Naming the end that fails.
        """
        if len(self.outputs) != len(self.secret) or not self.outputs:
            raise CertificateInvalid(
                f"there must be inputs and a secret for each, got {len(self.outputs)} and {len(self.secret)}."
            )
        rows = self.lower.rows
        if any(not 0 <= row < len(self.outputs) for row in rows) or len(
            {self.secret[row] for row in rows}
        ) != len(rows):
            raise CertificateInvalid("lower end fails: the selection must have one input for each secret.")
        reached = len({self.outputs[row] for row in rows})
        if reached < self.lower.total:
            raise CertificateInvalid(
                f"lower end fails: the selection reaches {reached} outputs, not {self.lower.total}."
            )
        cover = set(self.upper.outputs)
        outside = {
            secret for secret, output in zip(self.secret, self.outputs, strict=True) if output not in cover
        }
        if len(cover) + len(outside) > self.upper.total:
            raise CertificateInvalid(
                f"upper end fails: the cover has {len(cover) + len(outside)} members, not {self.upper.total}."
            )

    def ends(self) -> tuple[float, float]:
        """The two ends in nats that the proof gives, rounded outward."""
        lower, upper = max(self.lower.total, Fraction(1)), Fraction(max(self.upper.total, 1))
        return log_bounds(lower)[0], log_bounds(upper)[1]

    def digest(self) -> str:
        """A hash of the kind, the outputs and secrets that the proof is about."""
        return map_digest(self.outputs, self.secret)

    def to_json(self) -> str:
        """The certificate as JSON text, with everything needed to check it."""
        return written_certificate(
            self,
            FORMAT,
            {
                "outputs": _json(self.outputs),
                "secret": _json(self.secret),
                "lower": {"total": int(self.lower.total), "rows": list(self.lower.rows)},
                "upper": {"total": self.upper.total, "outputs": _json(self.upper.outputs)},
            },
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> MapCertificate:
        """Read what `to_json` wrote; the hash must fit the outputs and secrets inside."""
        keys = {"outputs", "secret", "lower", "upper"}
        return read_certificate(text, FORMAT, [MAXIMAL], keys, _from_record, about="outputs and secrets")


def map_digest(outputs: Sequence[Label], secret: Sequence[Label]) -> str:
    """SHA-256 of the kind, and of the output and the secret of each input."""
    return kind_digest(MAXIMAL, {"outputs": _json(outputs), "secret": _json(secret)})


def _json(labels: Sequence[Label]) -> list[Any]:
    return Labels(tuple(labels), given=True).to_json() or []


def _from_record(record: dict[str, Any]) -> MapCertificate:
    lower, upper = record["lower"], record["upper"]
    rows = tuple(_whole(row) for row in lower["rows"])
    return MapCertificate(
        read_labels(record["outputs"], "outputs"),
        read_labels(record["secret"], "secret"),
        SelectionProof(Fraction(_whole(lower["total"])), rows),
        CoverProof(_whole(upper["total"]), read_labels(upper["outputs"], "outputs")),
    )


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"totals and rows must be whole numbers, got {quoted(value)}")
    return value
