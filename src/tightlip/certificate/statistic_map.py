"""The proof of the statistic leakage of a plain mapping, input → output: a matching and a vertex cover.

Lower end. A selection of one input for each secret that reaches `total` different outputs.
Upper end. Some outputs (the cover). Every other output adds to Σ_y max_g only through secrets that have an input
with an output outside the cover, each by one: no selection reaches more than their number plus the cover's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.certificate.statistic import MAXIMAL, SelectionProof, read_labels
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds


@dataclass(frozen=True, slots=True)
class CoverProof:
    """No selection reaches more than `total` outputs."""

    total: int
    outputs: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class MapCertificate(Certificate):
    """Both ends, with the output and the secret of each input."""

    FORMAT: ClassVar[str] = "tightlip statistic leakage of a map certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (MAXIMAL,)
    KEYS: ClassVar[frozenset[str]] = frozenset({"outputs", "secret", "lower", "upper"})
    ABOUT: ClassVar[str] = "outputs and secrets"

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

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        lower, upper = max(self.lower.total, Fraction(1)), Fraction(max(self.upper.total, 1))
        return Claim(self.kind, log_bounds(lower)[0], log_bounds(upper)[1])

    def digest(self) -> str:
        """Hash the kind, the outputs and secrets that the proof is about."""
        return map_digest(self.outputs, self.secret)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> None:
        """Nothing: a plain mapping is no channel file."""

    def parts(self) -> dict[str, Any]:
        """Write the outputs, the secrets and both ends as JSON values."""
        return {
            "outputs": _json(self.outputs),
            "secret": _json(self.secret),
            "lower": {"total": int(self.lower.total), "rows": list(self.lower.rows)},
            "upper": {"total": self.upper.total, "outputs": _json(self.upper.outputs)},
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> MapCertificate:
        """Read what `parts` wrote."""
        lower, upper = record["lower"], record["upper"]
        rows = tuple(_whole(row) for row in lower["rows"])
        return cls(
            read_labels(record["outputs"], "outputs"),
            read_labels(record["secret"], "secret"),
            SelectionProof(Fraction(_whole(lower["total"])), rows),
            CoverProof(_whole(upper["total"]), read_labels(upper["outputs"], "outputs")),
        )


def map_digest(outputs: Sequence[Label], secret: Sequence[Label]) -> str:
    """Hash (SHA-256) the kind, and the output and the secret of each input."""
    return kind_digest(MAXIMAL, {"outputs": _json(outputs), "secret": _json(secret)})


def _json(labels: Sequence[Label]) -> list[Any]:
    return Labels(tuple(labels), given=True).to_json() or []


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"totals and rows must be whole numbers, got {quoted(value)}")
    return value
