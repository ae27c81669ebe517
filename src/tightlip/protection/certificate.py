"""The proof of a protected release: that it keeps its limits, what it keeps, and what no truthful release can exceed.

Bounded is the most detail that a truthful release over some levels can keep under its limits. A kernel that keeps them,
checked in whole numbers, proves the lower end; prices prove the upper one (see `program`). Cells, values and secrets
stand as codes: the proof holds no value of the table, but it holds the table's counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from tightlip.auditing.tally import sum_by
from tightlip.certificate.base import Certificate, Claim, kind_digest
from tightlip.errors import CertificateInvalid, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.prior import Prior
from tightlip.numeric.parse import FloatArray, exact_text, number
from tightlip.numeric.quantity import Nats, exact_ratio, log_of
from tightlip.numeric.rounding import gamma, sum_up
from tightlip.protection.detail import Detail
from tightlip.protection.kernel import Kernel, exposed_share
from tightlip.protection.limits import Kind, Limit, Limits, risky_cells, whole_kind
from tightlip.protection.values import Codes, Values

KIND = "detail of a release"
MOST_PEOPLE = 1 << 900  # times the denominators of mechanisms; what is multiplied with it is a float


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a release is of: codes of cells by column, the columns' levels and weights, and the limits on the counts.

    A fixed column (see `fixed`) has one level and the weight 0.
    """

    codes: Codes
    levels: tuple[tuple[Codes, ...], ...]
    weights: tuple[Fraction, ...]
    limits: Limits

    def values(self) -> Values:
        """The generalised values."""
        return Values.of(self.codes, self.levels)

    def detail(self, values: Values) -> Detail:
        """Their content."""
        return Detail.of(values, self.codes, self.limits.people, self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Prices of limits in some values, and of exposing people: what proves the upper end."""

    value: NDArray[np.intp]
    limit: NDArray[np.intp]
    price: FloatArray
    exposure: float

    @classmethod
    def of(cls, prices: FloatArray, exposure: float) -> Prices:
        """List the prices that are not 0."""
        limit, value = np.nonzero(prices > 0)
        return cls(value, limit, prices[limit, value], exposure)


def upper_bound(table: Table, values: Values, detail: Detail, prices: Prices) -> float:
    """The detail that no truthful release exceeds, by prices whatever they are; in nats over all people, rounded up.

    Every product is rounded outward by what so many roundings can add up to, relative to the sum of sizes.
    """
    limits = replace(table.limits, unit=1)  # a bound does not depend on it, but its rounding does
    people = limits.amounts
    own = people[values.cell] * detail.upper[values.value]
    size = own.copy()
    single = np.bincount(values.value, minlength=len(values)) == 1
    # a cell that breaks a limit as it is can be published so only for people who may be exposed
    alone = single[values.value] & risky_cells(limits, outside=True)[values.cell]
    excess = limits.excess(outside=True)
    slack = limits.sizes(outside=True)
    for limit in range(len(limits.limits)):
        chosen = prices.limit == limit
        price = np.zeros(len(values))
        price[prices.value[chosen]] = prices.price[chosen]
        charged = np.where(alone, 0.0, price[values.value])
        own -= charged * excess[limit, values.cell]
        size += charged * slack[limit, values.cell]
    charged = np.where(alone, prices.exposure, 0.0) * people[values.cell]
    own, size = own - charged, size + charged
    worth = np.full(len(people), -np.inf)
    # sizes beyond all floats prove nothing
    proved = np.where(np.isfinite(size), own + gamma(8 * len(limits.limits) + 16) * size, np.inf)
    np.maximum.at(worth, values.cell, np.where(alone & (not limits.exposed), -np.inf, proved))
    exposed = prices.exposure * float(limits.exposed) * limits.size
    if np.inf in (exposed, worth.max()):
        return math.inf
    return sum_up(np.append(worth, exposed * (1 + gamma(8))))


@dataclass(frozen=True, slots=True, eq=False)
class ReleaseCertificate(Certificate):
    """Both ends of the most detail that a truthful release can keep, with all that they are about.

    `least` is the fewest people who share a published value; the bound holds for releases of smaller groups too.
    """

    FORMAT: ClassVar[str] = "tightlip release certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (KIND,)
    KEYS: ClassVar[frozenset[str]] = frozenset(
        {
            "codes",
            "levels",
            "weights",
            "counts",
            "applies",
            "limits",
            "exposed",
            "kernel",
            "scale",
            "min_count",
            "prices",
            "exposure",
            "claim",
        }
    )
    ABOUT: ClassVar[str] = "counts, levels and limits"

    table: Table
    kernel: Kernel
    prices: Prices
    lower: float
    upper: float
    least: int = 1

    @property
    def kind(self) -> str:
        """The number that it bounds."""
        return KIND

    def claim(self) -> Claim:
        """The most detail lies between the two, as a share of the whole table's."""
        fewest = self.least if self.least > 1 else None
        fixed = sum(not weight for weight in self.table.weights)
        return Claim(KIND, self.lower, self.upper, unit=None, fewest=fewest, fixed=fixed)

    def verify(self) -> None:
        """Check that the kernel is truthful and keeps every limit, how many share each value, and both ends.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        _check_table(self.table)
        values = self.table.values()
        detail = self.table.detail(values)
        check_kernel(self.kernel, values, self.table.limits)
        _check_sizes(self.kernel, self.table.limits.people, self.least)
        kept = detail.kept(self.kernel)
        if not kept >= self.lower:
            raise CertificateInvalid(f"the release keeps {kept!r} of the detail, not {self.lower!r}.")
        limits = len(self.table.limits.limits)
        if ((self.prices.limit < 0) | (self.prices.limit >= limits)).any():
            raise CertificateInvalid("prices must be of limits that are listed.")
        if not (
            (self.prices.price >= 0).all()
            and np.isfinite(self.prices.price).all()
            and 0 <= self.prices.exposure < np.inf
        ):
            raise CertificateInvalid("prices must be finite and not negative.")
        most = detail.most(upper_bound(self.table, values, detail, self.prices))
        if not most <= self.upper:
            raise CertificateInvalid(
                f"the prices prove that at most {most!r} of the detail can be kept, not {self.upper!r}."
            )

    def digest(self) -> str:
        """Hash the kind and what the proof is about."""
        about = {
            key: entry
            for key, entry in self.parts().items()
            if key in ("codes", "levels", "weights", "counts", "applies", "limits", "exposed", "min_count")
        }
        return kind_digest(KIND, about)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """A channel file is not what a release of a table is about."""
        return None

    def parts(self) -> dict[str, Any]:
        """Write the proof as JSON values."""
        limits, values = self.table.limits, self.table.values()
        secret, cell = np.nonzero(limits.counts)
        named = values.node.tolist(), values.first.tolist()
        return {
            "codes": self.table.codes.tolist(),
            "levels": [[level.tolist() for level in column] for column in self.table.levels],
            "weights": [str(weight) for weight in self.table.weights],
            "counts": [
                secret.tolist(),
                cell.tolist(),
                limits.counts[secret, cell].tolist(),
                limits.people.tolist(),
            ],
            "applies": _applies_parts(limits),
            "limits": [[limit.secret, limit.kind, *_level_parts(limit.level)] for limit in limits.limits],
            "exposed": str(limits.exposed),
            "kernel": [
                [named[0][v], named[1][v], x, w]
                for v, x, w in zip(
                    self.kernel.value.tolist(),
                    self.kernel.cell.tolist(),
                    self.kernel.weight.tolist(),
                    strict=True,
                )
            ],
            "scale": self.kernel.scale,
            "min_count": self.least,
            "prices": [
                [named[0][v], named[1][v], r, p]
                for v, r, p in zip(
                    self.prices.value.tolist(),
                    self.prices.limit.tolist(),
                    self.prices.price.tolist(),
                    strict=True,
                )
            ],
            "exposure": self.prices.exposure,
            "claim": [self.lower, self.upper],
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> ReleaseCertificate:
        """Read what `parts` wrote."""
        table = _read_table(record)
        values = table.values()
        place = {
            name: value
            for value, name in enumerate(zip(values.node.tolist(), values.first.tolist(), strict=True))
        }
        kernel = [
            (place[node, first], _whole(cell), _whole(weight))
            for node, first, cell, weight in record["kernel"]
        ]
        prices = [
            (place[node, first], _whole(limit), price) for node, first, limit, price in record["prices"]
        ]
        value, cell, weight = _columns(kernel, np.intp, np.intp, np.int64)
        priced, limit, price = _columns(prices, np.intp, np.intp, np.float64)
        lower, upper = record["claim"]
        return cls(
            table,
            Kernel(value, cell, weight, _whole(record["scale"])),
            Prices(priced, limit, price, float(record["exposure"])),
            float(lower),
            float(upper),
            _whole(record["min_count"]),
        )


def check_kernel(kernel: Kernel, values: Values, limits: Limits) -> None:
    """Refuse a kernel that is none, is not truthful, or breaks a limit; all in whole numbers."""
    cells = len(limits.people)
    if kernel.scale < 1 or (len(kernel.weight) and kernel.weight.min() < 1):
        raise CertificateInvalid("the weights of a release must be positive whole numbers.")
    if ((kernel.cell < 0) | (kernel.cell >= cells)).any():
        raise CertificateInvalid("the release must be of the cells that are listed.")
    sums = np.zeros(cells, dtype=object)
    np.add.at(sums, kernel.cell, kernel.weight.astype(object))
    if (sums != kernel.scale).any():
        raise CertificateInvalid(
            f"the weights of cell {int(np.argmax(sums != kernel.scale))} must sum to {kernel.scale}."
        )
    known = np.isin(kernel.value * cells + kernel.cell, values.value * cells + values.cell)
    if not known.all():
        raise CertificateInvalid(
            f"the release is not truthful: cell {int(kernel.cell[np.argmin(known)])} is not in the value published "
            "for it."
        )
    broken = limits.broken(kernel.value, kernel.cell, kernel.weight, len(values)).any(axis=0)
    share = exposed_share(kernel, values, limits)
    if share > limits.exposed:
        at = (
            f"value {int(np.argmax(broken))} breaks a limit"
            if not limits.exposed
            else f"a share of {share} is exposed"
        )
        raise CertificateInvalid(
            f"the release exceeds its budget: {at}, and {limits.exposed} of the people may be exposed."
        )


def _check_sizes(kernel: Kernel, people: NDArray[Any], least: int) -> None:
    """Refuse a release in which too few people share a value; more than one is asked of deterministic ones only."""
    if least < 1:
        raise CertificateInvalid(f"min_count must be at least 1, got {least}.")
    if least == 1:
        return
    if not kernel.deterministic:
        raise CertificateInvalid("min_count is for deterministic releases; this one is drawn by chance.")
    used, place = np.unique(kernel.value, return_inverse=True)
    sizes = sum_by(place, people[kernel.cell], len(used))
    if sizes.min() < least:
        value = int(used[sizes.argmin()])
        raise CertificateInvalid(
            f"value {value} is shared by {int(sizes.min())} people, fewer than min_count = {least}."
        )


def _check_table(table: Table) -> None:
    counts, people = table.limits.counts, table.limits.people
    if (counts < 0).any() or (people < 1).any() or table.limits.exposed < 0 or table.limits.exposed > 1:
        raise CertificateInvalid(
            "counts must not be negative, every cell must have people, and a share lies in [0, 1]."
        )
    if sum(people.tolist()) > MOST_PEOPLE:
        raise CertificateInvalid("there must be at most 2^900 people, times the denominators of mechanisms.")
    _check_secrets(table.limits)
    if any(not counts[limit.secret].any() for limit in table.limits.limits):
        raise CertificateInvalid("limits must be on secrets that somebody holds.")
    if len(table.weights) != len(table.levels) or table.codes.shape[1] != len(table.levels):
        raise CertificateInvalid("every column must have levels and a weight.")
    if min((weight for weight in table.weights if weight), default=Fraction(0)) != 1:
        raise CertificateInvalid("the least weight of a column that is not fixed must be 1.")
    if any(len(levels) > 1 for levels, weight in zip(table.levels, table.weights, strict=True) if not weight):
        raise CertificateInvalid("a fixed column, of weight 0, must have one level.")
    if len({tuple(row) for row in table.codes.tolist()}) != len(table.codes):
        raise CertificateInvalid("cells must differ from each other.")
    for column, levels in enumerate(table.levels):
        if not levels or len(np.unique(levels[0])) != len(levels[0]):
            raise CertificateInvalid(f"the levels of column {column} must begin with the values as they are.")


def _check_secrets(limits: Limits) -> None:
    """Refuse counts in which people hold no secret or several of one kind, of those to whom it applies."""
    counts, people = limits.counts, limits.people
    if limits.applies is None or limits.subject is None:
        held = [
            Fraction(sum(own), all_) for own, all_ in zip(counts.T.tolist(), people.tolist(), strict=True)
        ]
        if len(set(held)) != 1 or held[0].denominator != 1 or not held[0]:
            raise CertificateInvalid("every person must hold one secret of each kind.")
        return
    for subject, own in enumerate(limits.applies):
        if not np.array_equal(counts[limits.subject == subject].sum(axis=0), own):
            raise CertificateInvalid("everybody to whom a secret applies must hold one of its kind.")
        if (own > people).any():
            raise CertificateInvalid("a secret must not apply to more people than there are in a cell.")
    if limits.prior_of is not None:
        _check_same_secrets(limits.prior_of, limits.subject, limits.applies, people)


def _check_same_secrets(
    prior_of: NDArray[np.intp], subject: NDArray[np.intp], applies: NDArray[Any], people: NDArray[Any]
) -> None:
    """Refuse rows of one secret in one subject, or beside other secrets elsewhere: its prior would be another."""
    subjects: dict[tuple[int, ...], NDArray[Any]] = {}
    for place, own in enumerate(applies):
        secrets = tuple(prior_of[subject == place].tolist())
        subjects[secrets] = subjects.get(secrets, 0 * people) + own
    numbers = [number for secrets in subjects for number in secrets]
    if len({*numbers}) < len(numbers):
        raise CertificateInvalid(
            "rows of one secret must be of different subjects that have the same secrets."
        )
    if any((own > people).any() for own in subjects.values()):
        raise CertificateInvalid("a secret must not apply to more people than there are in a cell.")


def _level_parts(level: float | Fraction) -> tuple[str, str]:
    ratio = exact_ratio(level) if isinstance(level, Nats) else None
    return ("ratio", str(ratio)) if ratio is not None else ("number", exact_text(Fraction(level)))


def _applies_parts(limits: Limits) -> list[Any] | None:
    """Of each row its subject, the people to whom each subject applies, and of which secret it is where several are.

    None where all apply to everybody.
    """
    if limits.applies is None or limits.subject is None:
        return None
    same = [] if limits.prior_of is None else [limits.prior_of.tolist()]
    return [limits.subject.tolist(), limits.applies.tolist(), *same]


def _read_applies(
    parts: Any, rows: int, cells: int
) -> tuple[NDArray[Any] | None, NDArray[np.intp] | None, NDArray[np.intp] | None]:
    """Read what `_applies_parts` wrote; `_check_table` compares it with the counts."""
    if parts is None:
        return None, None, None
    subject, applies, *same = parts
    read, people = _wholes(subject), np.array([_counts(row) for row in applies], dtype=object)
    if len(read) != rows or people.shape != (len(applies), cells) or not len(applies):
        raise CertificateInvalid(
            "every secret must be of a subject, and subjects must have people in every cell."
        )
    if (read < 0).any() or (read >= len(people)).any():
        raise CertificateInvalid("secrets must be of subjects that are listed.")
    if not same:
        return people, read.astype(np.intp), None
    (one,) = same
    of = _wholes(one)
    if len(of) != rows:
        raise CertificateInvalid("every row of the counts must be of a secret.")
    return people, read.astype(np.intp), of.astype(np.intp)


def _read_level(form: str, text: str) -> float | Fraction:
    if form not in ("ratio", "number"):
        raise CertificateInvalid(f"a level must be a ratio or a number, got {quoted(form)}.")
    return log_of(Fraction(text)) if form == "ratio" else Fraction(text)


def _read_table(record: dict[str, Any]) -> Table:
    secret, cell = map(_wholes, record["counts"][:2])
    count, people = map(_counts, record["counts"][2:])
    kind = whole_kind(sum(people.tolist()))
    codes = np.array([_wholes(row) for row in record["codes"]], dtype=np.int64).reshape(len(people), -1)
    levels = tuple(tuple(map(_wholes, column)) for column in record["levels"])
    inside = (secret >= 0) & (secret < len(secret)) & (cell >= 0) & (cell < len(people))
    widths = [min((len(level) for level in column), default=0) for column in levels]
    if not inside.all() or len(widths) != codes.shape[1] or (codes < 0).any() or (codes >= widths).any():
        raise CertificateInvalid(
            "counts must be of cells that are listed, and codes of values that have levels."
        )
    counts = np.zeros((int(secret.max()) + 1, len(people)), dtype=kind)
    counts[secret, cell] = count
    applies, subject, prior_of = _read_applies(record["applies"], len(counts), len(people))
    applies = None if applies is None else applies.astype(kind)
    known = Limits(counts, people.astype(kind), (), applies=applies, subject=subject, prior_of=prior_of)
    limits = tuple(_read_limit(known, *limit) for limit in record["limits"])
    return Table(
        codes,
        levels,
        tuple(Fraction(number(weight, "weight")) for weight in record["weights"]),
        replace(known, limits=limits, exposed=Fraction(record["exposed"])),
    )


def _read_limit(known: Limits, secret: Any, kind: Any, form: str, text: str) -> Limit:
    if not 0 <= _whole(secret) < len(known.counts) or kind not in get_args(Kind):
        raise CertificateInvalid(
            f"a limit must be of a secret that is counted and of a known kind, got {kind!r}."
        )
    return Limit.of(secret, kind, _read_level(form, text), known.prior(secret))


def _counts(entries: list[Any]) -> NDArray[np.object_]:
    """Counts of any size."""
    return np.array([_whole(entry) for entry in entries], dtype=object)


def _wholes(entries: list[Any]) -> NDArray[np.int64]:
    return np.array([_whole(entry) for entry in entries], dtype=np.int64)


def _columns(rows: list[tuple[Any, ...]], *types: Any) -> tuple[NDArray[Any], ...]:
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return tuple(np.array(column, dtype=kind) for column, kind in zip(columns, types, strict=True))


def _whole(entry: object) -> int:
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise CertificateInvalid(f"a whole number is wanted, got {quoted(entry)}.")
    return entry
