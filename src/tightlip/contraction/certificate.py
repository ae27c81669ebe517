"""The proofs of contraction coefficients, checked in rationals and in ball arithmetic.

Notation: K channel, rows scaled to sum to 1; a, b two of its rows; Q the prior, q = QK.

Total variation and E_γ: one pair of rows reaches the lower end; all pairs are computed again for the upper one
(total_variation.py). Both in rationals of the entries as stored.

χ², KL and H². Lower end: distributions P, Q with D(PK‖QK) ≥ η·D(P‖Q), in balls. Over all inputs the three
coefficients agree, so that χ² proves each; towards Q it still proves a lower end of each, as P may be as near to Q
along P − Q as one likes. Upper end, over all inputs and for KL and H² also towards a prior: a pair of rows has at most
1 − (Σ√(ab))², and at most what a tangent of the concave h has at an end of [0, 1] (chi_squared.py); tangents in balls.
For χ² towards Q: η bounds the squared maximal correlation if

    η diag(Q) − M is positive definite,   M_xx' = Σ_y Q_x K_xy K_x'y Q_x'/q_y − Q_x Q_x'

(or the same with the roles of secrets and outcomes exchanged, whichever are fewer). A matrix A is positive definite if
for some X the matrix X A Xᵀ is dominated by its positive diagonal; X comes from floats, the product is in balls.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np

from tightlip.certificate.base import Certificate, Claim, channel_json, kind_digest
from tightlip.contraction.chi_squared import contenders, stationary
from tightlip.contraction.result import Coefficient
from tightlip.contraction.total_variation import (
    EXACT_IN_FLOATS,
    excess,
    largest_excess,
    largest_variation,
    total_variation,
)
from tightlip.errors import CertificateInvalid, ShapeMismatch, quoted
from tightlip.model.channel import Channel, align
from tightlip.model.labels import Label
from tightlip.model.matrix import dense, dense_row
from tightlip.model.prior import Prior
from tightlip.numeric.ball import Ball, ball
from tightlip.numeric.display import format_exactly
from tightlip.numeric.parse import FloatArray, exact_text, number
from tightlip.numeric.quantity import Probability

DOBRUSHIN: Final = "Dobrushin coefficient"
E_GAMMA: Final = "E_gamma contraction"
CHI_SQUARED: Final = "chi-squared contraction"
KL: Final = "KL contraction"
HELLINGER: Final = "Hellinger contraction"
TOWARDS: Final = " towards a prior"
_OVER_ALL = (CHI_SQUARED, KL, HELLINGER)
_PRECISIONS = 128, 512, 2048  # bits; a proof that holds does so by far more than the first leaves open
_SMALLEST = 1e-300  # of a pivot of X, which is only a guess

Divergence = Literal["chi2", "kl", "h2"]
_DIVERGENCES: dict[str, Divergence] = {CHI_SQUARED: "chi2", KL: "kl", HELLINGER: "h2"}


class CoefficientCertificate(Certificate):
    """A proof of both ends of a contraction coefficient of a channel."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of the dataclasses below

        @property
        def channel(self) -> Channel:
            """The channel."""

        @property
        def lower(self) -> Fraction:
            """The lower end."""

        @property
        def upper(self) -> Fraction:
            """The upper end."""

    def claim(self) -> Claim:
        """Tell both ends."""
        lower, upper = Probability.of(self.lower, "down"), Probability.of(self.upper)
        return Claim(self.kind, float(lower), float(upper), unit=None, gamma=self._gamma())

    def verify(self) -> None:
        """Check both ends in rational or ball arithmetic."""
        if not 0 <= self.lower <= self.upper <= 1:
            raise CertificateInvalid(
                f"both ends fail: they must be in order and in [0, 1], got {format_exactly(self.lower)} and "
                f"{format_exactly(self.upper)}."
            )
        self._check()
        if self.lower and not self._reaches():
            raise CertificateInvalid(
                f"lower end fails: its witness does not reach {format_exactly(self.lower)}."
            )
        if self.upper < 1 and not self._bounds():
            raise CertificateInvalid(f"upper end fails: {format_exactly(self.upper)} is not proved.")

    def _gamma(self) -> Fraction | None:
        return None

    @abstractmethod
    def _check(self) -> None:
        """Refuse parts that do not go together."""

    @abstractmethod
    def _reaches(self) -> bool:
        """Whether the witness proves the lower end."""

    @abstractmethod
    def _bounds(self) -> bool:
        """Whether the upper end is proved."""


@dataclass(frozen=True, slots=True)
class PairCertificate(CoefficientCertificate):
    """Total variation or E_γ: the positions of the two rows that reach the lower end; `gamma` is None for TV."""

    FORMAT: ClassVar[str] = "tightlip contraction by pairs certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (DOBRUSHIN, E_GAMMA)
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "gamma", "lower", "upper", "pair"})
    ABOUT: ClassVar[str] = "channel and γ"

    channel: Channel
    gamma: Fraction | None
    lower: Fraction
    upper: Fraction
    pair: tuple[int, int]

    @property
    def kind(self) -> str:
        """The number that it bounds."""
        return DOBRUSHIN if self.gamma is None else E_GAMMA

    def _gamma(self) -> Fraction | None:
        return self.gamma

    def _check(self) -> None:
        if self.gamma is not None and not 1 <= self.gamma <= EXACT_IN_FLOATS:
            raise CertificateInvalid(f"γ must be in [1, 2^51], got {format_exactly(self.gamma)}.")
        if not all(0 <= place < self.channel.shape[0] for place in self.pair):
            raise CertificateInvalid(f"lower end fails: the channel has no rows {self.pair}.")

    def _reaches(self) -> bool:
        one, two = (dense_row(self.channel.matrix, place) for place in self.pair)
        value = total_variation(one, two) if self.gamma is None else excess(one, two, self.gamma)
        return value >= self.lower

    def _bounds(self) -> bool:
        found = (
            largest_variation(self.channel)
            if self.gamma is None
            else largest_excess(self.channel, self.gamma)
        )
        return (Fraction(found.upper) if found.fraction is None else found.fraction) <= self.upper

    def digest(self) -> str:
        """A hash of the kind, the channel and γ that the proof is about."""
        return self._digest(self.channel)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str:
        """Hash the kind, the channel of a file and the same γ."""
        return self._digest(channel)

    def _digest(self, channel: Channel) -> str:
        gamma = None if self.gamma is None else exact_text(self.gamma)
        return kind_digest(self.kind, {"channel": channel_json(channel), "gamma": gamma})

    def parts(self) -> dict[str, Any]:
        """Write the channel, γ, both ends and the pair as JSON values."""
        return {
            "channel": self.channel.to_dict(),
            "gamma": None if self.gamma is None else exact_text(self.gamma),
            "lower": exact_text(self.lower),
            "upper": exact_text(self.upper),
            "pair": list(self.pair),
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> PairCertificate:
        """Read what `parts` wrote."""
        gamma, pair = record["gamma"], record["pair"]
        if len(pair) != 2 or not all(type(place) is int for place in pair):
            raise ValueError(f"the pair must be two positions of rows, got {quoted(pair)}")
        if (record["kind"] == E_GAMMA) != (gamma is not None):
            raise ValueError(f"its kind must fit its γ, got {quoted(record['kind'])}")
        return cls(
            Channel.from_dict(record["channel"]),
            None if gamma is None else _read(gamma, "gamma"),
            *_ends(record),
            (pair[0], pair[1]),
        )


@dataclass(frozen=True, slots=True)
class ContractionCertificate(CoefficientCertificate):
    """χ², KL or Hellinger, over all inputs or towards `prior`: (P, Q) that reach the lower end, None where it is 0.

    Towards a prior Q is the prior. `divergence` is that of the coefficient.
    """

    FORMAT: ClassVar[str] = "tightlip contraction certificate 2"
    KINDS: ClassVar[tuple[str, ...]] = (*_OVER_ALL, *(kind + TOWARDS for kind in _OVER_ALL))
    KEYS: ClassVar[frozenset[str]] = frozenset({"channel", "prior", "lower", "upper", "witness"})
    ABOUT: ClassVar[str] = "channel and prior"

    channel: Channel
    prior: Prior | None
    divergence: Divergence
    lower: Fraction
    upper: Fraction
    inputs: tuple[Prior, Prior] | None

    @property
    def kind(self) -> str:
        """The number that it bounds."""
        own = next(kind for kind, name in _DIVERGENCES.items() if name == self.divergence)
        return own if self.prior is None else own + TOWARDS

    @property
    def needs_prior(self) -> bool:
        """Whether it is about one prior."""
        return self.prior is not None

    def _check(self) -> None:
        try:
            own = [align(prior, self.channel) for prior in (self.inputs or ())]
            towards = None if self.prior is None else align(self.prior, self.channel)
        except ShapeMismatch as error:
            raise CertificateInvalid(f"both ends fail: {error}") from error
        if own and towards is not None and list(own[1].exact().masses) != list(towards.exact().masses):
            raise CertificateInvalid("lower end fails: its second input must be the prior.")

    def _reaches(self) -> bool:
        if self.inputs is None:
            return False
        before, after = (align(prior, self.channel).exact() for prior in self.inputs)
        allowed: set[Divergence] = {"chi2"} if self.prior is None else {"chi2", self.divergence}

        def proved() -> bool:
            rows = _rows(self.channel)
            own, other = ([ball(mass) for mass in prior.masses.tolist()] for prior in (before, after))
            moved = _through(own, rows), _through(other, rows)
            return any(_shrinks(kind, (own, other), moved, self.lower) for kind in allowed)

        return _decide(proved)

    def _bounds(self) -> bool:
        inside = self.channel
        if self.prior is not None:
            aligned = align(self.prior, self.channel)
            inside = self.channel.restricted_to(aligned)
        if bool((inside.peaks == inside.pits).all()):
            return True  # all rows are the same
        if self.prior is not None and self.divergence == "chi2":
            return _correlates_less(inside, aligned.restricted(), self.upper)
        return _pairs_below(inside, self.upper)

    def digest(self) -> str:
        """A hash of the kind, the channel and the prior that the proof is about."""
        return self._digest(self.channel, self.prior)

    def digest_for(self, channel: Channel, prior: Prior | None, secret: Sequence[Label] | None) -> str | None:
        """Hash the kind, the channel of a file and, towards a prior, its prior."""
        if self.prior is None:
            return self._digest(channel, None)
        return None if prior is None else self._digest(channel, prior)

    def _digest(self, channel: Channel, prior: Prior | None) -> str:
        masses = None if prior is None else align(prior, channel).to_dict()["prior"]
        return kind_digest(self.kind, {"channel": channel_json(channel), "prior": masses})

    def parts(self) -> dict[str, Any]:
        """Write the channel, the prior, both ends and the inputs as JSON values."""
        return {
            "channel": self.channel.to_dict(),
            "prior": None if self.prior is None else self.prior.to_dict(),
            "lower": exact_text(self.lower),
            "upper": exact_text(self.upper),
            "witness": None if self.inputs is None else [prior.to_dict() for prior in self.inputs],
        }

    @classmethod
    def from_parts(cls, record: dict[str, Any]) -> ContractionCertificate:
        """Read what `parts` wrote."""
        prior, inputs, kind = record["prior"], record["witness"], record["kind"]
        if kind.endswith(TOWARDS) != (prior is not None):
            raise ValueError(f"its kind must fit its prior, got {quoted(kind)}")
        if inputs is not None and len(inputs) != 2:
            raise ValueError(f"the inputs must be two, got {len(inputs)}")
        lower, upper = _ends(record)
        return cls(
            Channel.from_dict(record["channel"]),
            None if prior is None else _prior(prior),
            _DIVERGENCES[kind.removesuffix(TOWARDS)],
            lower,
            upper,
            None if inputs is None else (_prior(inputs[0]), _prior(inputs[1])),
        )


def ends_of(found: Coefficient) -> tuple[Fraction, Fraction]:
    """Read both ends of a coefficient as a certificate has them: its value, where it is known."""
    if found.fraction is not None:
        return found.fraction, found.fraction
    return Fraction(found.lower), Fraction(found.upper)


def _ends(record: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return _read(record["lower"], "lower"), _read(record["upper"], "upper")


def _read(value: Any, name: str) -> Fraction:
    return Fraction(number(value, name))


def _prior(record: Any) -> Prior:
    return Prior.from_json(json.dumps(record))


def _decide(proved: Callable[[], bool]) -> bool:
    """Decide whether balls prove it at some precision."""
    from flint import ctx

    for bits in _PRECISIONS:
        with ctx.workprec(bits):
            if proved():
                return True
    return False


def _rows(channel: Channel) -> list[list[Ball]]:
    """K as balls, its rows scaled to sum to 1."""
    found = []
    for place in range(channel.shape[0]):
        row = [ball(entry) for entry in dense_row(channel.matrix, place).tolist()]
        total = sum(row, ball(0))
        found.append(row if channel.is_exact else [entry / total for entry in row])
    return found


def _through(masses: list[Ball], rows: list[list[Ball]]) -> list[Ball]:
    """The distribution of the outcome."""
    return [
        sum((mass * entry for mass, entry in zip(masses, column, strict=True)), ball(0))
        for column in zip(*rows, strict=True)
    ]


Pair = tuple[list[Ball], list[Ball]]


def _shrinks(kind: Divergence, before: Pair, after: Pair, least: Fraction) -> bool:
    """Whether D(after) ≥ least · D(before) > 0 is proved."""
    first, second = _divergence(kind, *before), _divergence(kind, *after)
    if first is None or second is None:
        return False
    return bool(first > 0) and bool(second >= ball(least) * first)


def _divergence(kind: Divergence, one: list[Ball], two: list[Ball]) -> Ball | None:
    """D(one‖two), or None where it is infinite; of two equal distributions a ball around 0."""
    total = ball(0)
    for first, second in zip(one, two, strict=True):
        if first.is_zero() and second.is_zero():
            continue
        if kind == "h2":
            total += _square(first.sqrt() - second.sqrt())
        elif second.is_zero():
            return None
        elif kind == "chi2":
            total += _square(first - second) / second
        else:
            total += second if first.is_zero() else first * (first / second).log() - first + second
    return total


def _square(value: Ball) -> Ball:
    """value², also of a ball around 0, of which a power is not a number."""
    return value * value


def _pairs_below(channel: Channel, most: Fraction) -> bool:
    """Whether no two rows of the channel have max_λ h(λ) above a number.

    Pairs of rows with the same entries, in whatever order of the outcomes, are looked at once.
    """
    matrix, seen = channel.floats, set[bytes]()
    for pairs in contenders(matrix, float(Probability.of(most, "down"))):
        one, two = dense(matrix[pairs[:, 0]]), dense(matrix[pairs[:, 1]])
        for pair, weight in zip(pairs.tolist(), stationary(one, two).tolist(), strict=True):
            rows = [dense_row(channel.matrix, place) for place in pair]
            if (key := _entries(rows)) in seen:
                continue
            if not _tangent_below(channel, rows, weight, most):
                return False
            seen.add(key)
    return True


def _entries(rows: list[Any]) -> bytes:
    return repr(sorted(zip(*(row.tolist() for row in rows), strict=True))).encode()


def _tangent_below(channel: Channel, rows: list[Any], weight: float, most: Fraction) -> bool:
    """Whether the tangent of h at a weight in (0, 1) is at most a number on all of [0, 1]."""

    def proved() -> bool:
        first, second = ([ball(entry) for entry in row.tolist()] for row in rows)
        if not channel.is_exact:
            first, second = ([entry / total for entry in row] for row, total in _totals(first, second))
        share, other = ball(weight), 1 - ball(weight)
        height, slope = ball(0), ball(0)
        for one, two in zip(first, second, strict=True):
            if one.is_zero() and two.is_zero():
                continue
            square, mean = _square(one - two), share * one + other * two
            height += share * other * square / mean
            slope += square * (other * other * two - share * share * one) / (mean * mean)
        return bool(height + (slope * other).max(-slope * share) <= ball(most))

    return _decide(proved)


def _totals(*rows: list[Ball]) -> list[tuple[list[Ball], Ball]]:
    return [(row, sum(row, ball(0))) for row in rows]


def _correlates_less(channel: Channel, prior: Prior, most: Fraction) -> bool:
    """Whether the squared maximal correlation of secret and outcome is below a number."""
    occurring = channel.peaks > 0
    rows, masses = dense(channel.floats)[:, occurring], prior.floats
    few = rows.shape[0] <= rows.shape[1]
    guess = _guess(rows, masses, float(most), few=few)

    def proved() -> bool:
        from flint import arb_mat

        entries = [
            [entry for entry, kept in zip(row, occurring.tolist(), strict=True) if kept]
            for row in _rows(channel)
        ]
        own = [ball(mass) for mass in prior.exact().masses.tolist()]
        other = _through(own, entries)
        joint = [[mass * entry for entry in row] for mass, row in zip(own, entries, strict=True)]
        if few:
            scaled = [[entry / mass for entry, mass in zip(row, other, strict=True)] for row in joint]
            gram, weights = arb_mat(joint) * arb_mat(scaled).transpose(), own
        else:
            gram, weights = arb_mat(entries).transpose() * arb_mat(joint), other
        size, bound = len(weights), ball(most)
        form = arb_mat(
            [
                [
                    weights[i] * weights[j] - gram[i, j] + (bound * weights[i] if i == j else 0)
                    for j in range(size)
                ]
                for i in range(size)
            ]
        )
        change = arb_mat([[ball(entry) for entry in row] for row in guess.tolist()])
        return _is_diagonally_dominant(change * form * change.transpose())

    return _decide(proved)


def _guess(rows: FloatArray, masses: FloatArray, most: float, *, few: bool) -> FloatArray:
    """X that makes X A Xᵀ nearly the identity, from the eigenvectors of S in floats."""
    marginal = masses @ rows
    with np.errstate(all="ignore"):
        factor = np.sqrt(masses)[:, None] * rows / np.sqrt(marginal)
        root = np.sqrt(masses if few else marginal)
        gram = (factor @ factor.T if few else factor.T @ factor) - np.outer(root, root)
        values, vectors = np.linalg.eigh(np.nan_to_num(gram))
        scales = np.sqrt(np.maximum(most - values, _SMALLEST))
        return np.nan_to_num((vectors / scales).T / root)


def _is_diagonally_dominant(matrix: Any) -> bool:
    """Whether each diagonal entry exceeds the sum of its row's others in size: positive definite, if symmetric."""
    size = matrix.nrows()
    return all(
        bool(matrix[i, i] > sum((abs(matrix[i, j]) for j in range(size) if j != i), ball(0)))
        for i in range(size)
    )
