"""The proof of both ends of a statistic leakage.

Notation: K channel as the rationals that are stored, one secret for each row. A selection is one row r_g for each
secret g. With W = K (statistic maximal leakage Π) or W = −K (statistic cost leakage Π_inf) both ask for the largest

    F = Σ_y max_g W(r_g, y):   Π = log F,   Π_inf = −log(−F).

Lower end. A selection; its F is added up again.

Upper end. For any prices u_y, and rows restricted to some `allowed` ones,

    F ≤ Σ_y u_y + Σ_g max_{allowed r of g} Σ_y (W_ry − u_y)_+ .

A tree covers all selections: at a split on a row, either the row is its secret's choice or it is not; each leaf has
prices that prove the bound for the rows it still allows. One leaf alone is the dual of the linear relaxation; for a
deterministic channel prices 0 and 1 are a vertex cover, whose size is that of the largest matching (Kőnig).

All of it in exact arithmetic: a channel's entries, the total of a selection, the bound of prices (`Table`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.certificate.rational import rational
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.channel import Channel
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import Label, Labels, labels_from_json
from tightlip.model.matrix import Matrix, is_sparse
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import number

Prices = tuple[Fraction, ...]
Kind = Literal["statistic maximal leakage", "statistic cost leakage"]
MAXIMAL: Final = "statistic maximal leakage"
COST: Final = "statistic cost leakage"


@dataclass(frozen=True, slots=True)
class Split:
    """Either `row` is the choice of its secret (node `chosen`), or it is not (node `others`)."""

    row: int
    chosen: int
    others: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """The bound of the rows allowed here is proved by the prices at this place of the list."""

    prices: int


@dataclass(frozen=True, slots=True)
class SelectionProof:
    """The selection, a row for each secret, has the total F."""

    total: Fraction
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PriceProof:
    """No selection has more than the total; the first of `nodes` is the root of the tree."""

    total: Fraction
    prices: tuple[Prices, ...]
    nodes: tuple[Split | Leaf, ...]


@dataclass(frozen=True, slots=True)
class StatisticCertificate(Certificate):
    """Both ends, with the channel and the secrets they are about; `secret` has a label for each row."""

    FORMAT: ClassVar[str] = "tightlip statistic leakage certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (MAXIMAL, COST)
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "secret", "lower", "upper"})
    ABOUT: ClassVar[str] = "channel and secrets"

    channel: Channel
    secret: tuple[Label, ...]
    kind: Kind
    lower: SelectionProof
    upper: PriceProof

    def verify(self) -> None:
        """Check both ends in rational arithmetic.

        Raises
        ------
        CertificateInvalid
            Naming the inequality that fails.
        """
        if len(self.secret) != self.channel.shape[0]:
            raise CertificateInvalid(
                f"there must be a secret for each of {self.channel.shape[0]} rows, got {len(self.secret)}."
            )
        table = Table.of(self.channel, self.secret, self.kind)
        _check_selection(self.lower, table)
        _check_tree(self.upper, table)

    def claim(self) -> Claim:
        """Tell both ends in nats."""
        if self.kind == MAXIMAL:
            return Claim(self.kind, _nats(self.lower.total)[0], _nats(self.upper.total)[1])
        least, most = -self.upper.total, -self.lower.total
        upper = _nats(1 / least)[1] if least > 0 else math.inf
        return Claim(self.kind, _nats(1 / most)[0] if most > 0 else math.inf, upper)

    def digest(self) -> str:
        """Hash the kind, the channel and the secrets that the proof is about."""
        return statistic_digest(self.kind, self.channel, self.secret)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel and the secrets of a file, each row its own where there are none."""
        return statistic_digest(self.kind, channel, secret or tuple(channel.inputs))

    def parts(self) -> dict[str, Any]:
        """Write the channel, the secrets and both ends as JSON values."""
        upper = {
            "total": _text(self.upper.total),
            "prices": [[_text(price) for price in prices] for prices in self.upper.prices],
            "nodes": [
                node.prices if isinstance(node, Leaf) else [node.row, node.chosen, node.others]
                for node in self.upper.nodes
            ],
        }
        return {
            "channel": self.channel.to_dict(),
            "secret": _secret_json(self.secret),
            "lower": {"total": _text(self.lower.total), "rows": list(self.lower.rows)},
            "upper": upper,
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> StatisticCertificate:
        """Read what `parts` wrote."""
        return _from_record(record)


def statistic_digest(kind: Kind, channel: Channel, secret: Sequence[Label]) -> str:
    """Hash (SHA-256) a kind of statistic leakage, a channel and the secret of each row."""
    return kind_digest(kind, {"channel": channel_json(channel), "secret": _secret_json(secret)})


def read_labels(values: Any, argument: str) -> tuple[Label, ...]:
    """Read labels of a certificate; those that look different must be different, which 1 and true are not."""
    labels = tuple(labels_from_json(values, argument) or ())
    if len(set(labels)) != len({json.dumps(value, sort_keys=True) for value in values or ()}):
        raise ValueError(f"{argument} must not have labels as alike as 1 and true")
    return labels


def _nats(ratio: Fraction) -> tuple[float, float]:
    """Bracket the logarithm; a leakage is at least 0, whatever the last digit of stored floats says."""
    return log_bounds(max(ratio, Fraction(1)))


def _check_selection(proof: SelectionProof, table: Table) -> None:
    inside = all(0 <= row < len(table.rows) for row in proof.rows)
    chosen = set(proof.rows)
    if (
        not inside
        or len(proof.rows) != len(table.groups)
        or any(len(chosen.intersection(rows)) != 1 for rows in table.groups)
    ):
        raise CertificateInvalid("lower end fails: the selection must have one row for each secret.")
    total = table.total(proof.rows)
    if total < rational(proof.total):
        raise CertificateInvalid(
            f"lower end fails: the selection has the total {_about(total)}, not {format_exactly(proof.total)}."
        )


def _check_tree(proof: PriceProof, table: Table) -> None:
    owner = {row: group for group, rows in enumerate(table.groups) for row in rows}
    if any(len(each) != table.outputs for each in proof.prices):
        raise CertificateInvalid(
            f"upper end fails: there must be a price for each of {table.outputs} outputs."
        )
    prices = [PriceList.of(each) for each in proof.prices]
    gains: list[dict[int, Any]] = [{} for _ in prices]
    limit = rational(proof.total)
    waiting: list[tuple[int, dict[int, frozenset[int]]]] = [(0, {})]  # a node, and secrets with fewer rows
    reached: set[int] = set()
    while waiting:
        place, narrowed = waiting.pop()
        if place in reached:
            raise CertificateInvalid(f"upper end fails: node {place} of the tree must be reached once.")
        reached.add(place)
        node = proof.nodes[place] if 0 <= place < len(proof.nodes) else None
        if isinstance(node, Split):
            waiting += _parts(node, place, narrowed, owner, table)
            continue
        if node is None or not 0 <= node.prices < len(prices):
            raise CertificateInvalid(
                f"upper end fails: node {place} of the tree is missing or has no prices."
            )
        known, total = gains[node.prices], prices[node.prices].total
        for group, rows in enumerate(table.groups):
            allowed = narrowed.get(group, rows)
            for row in allowed:
                if row not in known:
                    known[row] = table.gain(row, prices[node.prices])
            total += max(known[row] for row in allowed)
        if total > limit:
            raise CertificateInvalid(
                f"upper end fails: the prices of node {place} prove {_about(total)}, not {format_exactly(proof.total)}."
            )


def _parts(
    node: Split, place: int, narrowed: dict[int, frozenset[int]], owner: dict[int, int], table: Table
) -> list[tuple[int, dict[int, frozenset[int]]]]:
    group = owner.get(node.row)
    rows = frozenset() if group is None else narrowed.get(group, frozenset(table.groups[group]))
    rest = rows - {node.row}
    if group is None or node.row not in rows or not rest or min(node.chosen, node.others) <= place:
        raise CertificateInvalid(f"upper end fails: node {place} must split the rows of a secret in two.")
    one = {**narrowed, group: frozenset({node.row})}
    return [(node.chosen, one), (node.others, {**narrowed, group: rest})]


def _from_record(record: dict[str, Any]) -> StatisticCertificate:
    channel = Channel.from_dict(record["channel"])
    lower, upper = record["lower"], record["upper"]
    return StatisticCertificate(
        channel,
        read_labels(record["secret"], "secret"),
        record["kind"],
        SelectionProof(_read(lower["total"]), tuple(_whole(row) for row in lower["rows"])),
        PriceProof(
            _read(upper["total"]),
            tuple(tuple(_read(price) for price in prices) for prices in upper["prices"]),
            tuple(_node(node) for node in upper["nodes"]),
        ),
    )


def _node(value: Any) -> Split | Leaf:
    if isinstance(value, list):
        row, chosen, others = (_whole(part) for part in value)
        return Split(row, chosen, others)
    return Leaf(_whole(value))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"rows and nodes must be whole numbers, got {quoted(value)}")
    return value


def _read(value: Any) -> Fraction:
    return Fraction(number(value, "certificate"))


def _text(value: Fraction) -> float | str:
    """Write a float where the rational is one exactly, text otherwise."""
    nearest = nearest_float(value)
    return nearest if Fraction(nearest) == value else number_to_json(value)


def _secret_json(secret: Sequence[Label]) -> list[Any]:
    return Labels(tuple(secret), given=True).to_json() or []


def _about(value: Any) -> str:
    return format_exactly(exact_fraction(value))


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices made ready: as rationals, as floats where they all are floats, their sum, and the gain of a zero row."""

    exact: list[Any]
    floats: list[float] | None
    total: Any
    base: Any

    @classmethod
    def of(cls, prices: Sequence[Fraction]) -> PriceList:
        """Convert once what every row needs."""
        exact = [rational(price) for price in prices]
        floats = [nearest_float(price) for price in prices]
        same = all(Fraction(near) == price for near, price in zip(floats, prices, strict=True))
        zero = rational(0.0)
        base = sum((-price for price in exact if price < 0), zero)
        return cls(exact, floats if same else None, sum(exact, zero), base)


@dataclass(frozen=True, slots=True)
class Table:
    """W as stored (floats, or flint rationals): for each row the nonzero entries, and the rows of each secret."""

    rows: list[list[tuple[int, Any]]]
    groups: list[list[int]]
    outputs: int
    in_floats: bool

    @classmethod
    def of(cls, channel: Channel, secret: Sequence[Label], kind: Kind) -> Table:
        """Read a channel exactly."""
        sign = 1 if kind == MAXIMAL else -1
        read = rational if channel.is_exact else float
        rows = [[(place, sign * read(entry)) for place, entry in row] for row in _entries(channel.matrix)]
        groups: dict[Label, list[int]] = {}
        for place, label in enumerate(secret):
            groups.setdefault(label, []).append(place)
        return cls(rows, list(groups.values()), channel.shape[1], not channel.is_exact)

    def total(self, selection: Sequence[int]) -> Any:
        """F of a selection."""
        return sum(self.peaks(selection), rational(0.0))

    def peaks(self, selection: Sequence[int]) -> list[Any]:
        """max_g W(r_g, y) for each output, in rationals."""
        best: list[Any] = [None] * self.outputs
        seen = [0] * self.outputs
        for row in selection:
            for place, entry in self.rows[row]:
                seen[place] += 1
                if best[place] is None or entry > best[place]:
                    best[place] = entry
        found = (
            entry if entry is not None and (count == len(selection) or entry > 0) else 0.0
            for entry, count in zip(best, seen, strict=True)
        )
        return [rational(entry) if isinstance(entry, float) else entry for entry in found]

    def gain(self, row: int, prices: PriceList) -> Any:
        """Σ_y (W_ry − u_y)_+, in rationals; floats are compared as floats, which is exact and fast."""
        total = prices.base
        by_float = self.in_floats and prices.floats is not None
        compared = prices.floats if by_float else prices.exact
        assert compared is not None
        for place, stored in self.rows[row]:
            entry = rational(stored) if self.in_floats and not by_float else stored
            price = compared[place]
            if entry > price:
                total += (rational(entry) if by_float else entry) - prices.exact[place]
            if price < 0:
                total += prices.exact[place]
        return total

    def bound(self, prices: PriceList, allowed: Sequence[Sequence[int]]) -> Any:
        """Σ_y u_y + Σ_g max_{allowed r of g} Σ_y (W_ry − u_y)_+."""
        return sum((max(self.gain(row, prices) for row in rows) for rows in allowed), prices.total)


def exact_fraction(value: Any) -> Fraction:
    """Convert a flint rational to a Fraction."""
    return Fraction(int(value.p), int(value.q))


def nearest_float(value: Fraction) -> float:
    """Round a rational to a near float, 0 where there is none of that size."""
    return float(value) if abs(value) < 10**300 else 0.0


def _entries(matrix: Matrix) -> Iterator[Iterator[tuple[int, float | Fraction]]]:
    if is_sparse(matrix):
        for start, end in zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True):
            places, entries = matrix.indices[start:end].tolist(), matrix.data[start:end].tolist()
            yield ((place, entry) for place, entry in zip(places, entries, strict=True) if entry)
    else:
        for row in matrix:
            yield ((place, entry) for place, entry in enumerate(row.tolist()) if entry)
