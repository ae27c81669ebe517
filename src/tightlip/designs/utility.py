"""What a mechanism is good for: losses and gains of its outputs.

A loss or a gain is a matrix: a row for each secret x, a column for each output y, and Σ_x p_x Σ_y K_xy g(x, y) counts.
Outputs are what is published, or the best guess of whoever sees what is published: outputs for which the same guess is
best can be merged, and no guarantee minds, so the best mechanism for guessing (a Bayes gain with free outputs) needs an
output for each guess and no more.

    hamming     1 unless the output is the secret           absolute   |x − y|, squared   (x − y)², of numbers
    top-k       1 unless the secret is among the k that the output names
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from itertools import combinations
from operator import mul
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from tightlip.designs.closed import candidates
from tightlip.designs.guarantee import Guarantee, Side, Vector
from tightlip.designs.linear import (
    Kernel,
    Prices,
    Problem,
    Whole,
    find,
    proves,
    truth_prices,
    whole,
)
from tightlip.designs.tracing import trace
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.jsonio import number_to_json
from tightlip.model.labels import (
    Label,
    Labels,
    choose_labels,
    column_labels,
    labelled_matrix,
    labels_from_json,
    show,
)
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import FloatArray, number
from tightlip.numeric.rounding import float_above, float_below

LEAST_LOSS = "least loss of a mechanism"
GREATEST_GAIN = "greatest gain of a mechanism"
GREATEST = "greatest {} of a mechanism"  # of an information, by its words
NAMED = ("hamming", "absolute", "squared", "top-k")

_TOP = re.compile(r"top-([1-9][0-9]*)")
_MOST_MEMORY = 12e9  # bytes; beyond, a design is refused with what it would take
_ARRAYS = 64  # of the size of the channel, that the interior point holds at once
_BOUNDS = 6  # dense rows of Newton's matrix for each output
_FLOPS = 4e9  # a second, of one core
_ROUNDS = 40  # of the interior point, as a rule
_LARGEST = 10**100  # of an entry; sums and products of such numbers are still floats
_MOST_SETS = 20_000  # outputs of top-k, one for each set of k secrets


class Found(NamedTuple):
    """A mechanism that was found: guarantees as they were written out, the channel, what proves the bound, and how."""

    guarantees: tuple[Guarantee, ...]
    kernel: Kernel
    proof: Any
    method: str


class Utility(ABC):
    """What a mechanism is good for; `worth` is larger for better mechanisms, the `value` told may be its negative."""

    __slots__ = ()
    registry: ClassVar[dict[str, type[Utility]]] = {}
    key: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.registry[cls.key] = cls

    @property
    @abstractmethod
    def kind(self) -> str:
        """The number that a certificate bounds."""

    @property
    @abstractmethod
    def minimised(self) -> bool:
        """Whether the value is a loss: smaller is better."""

    @property
    def unit(self) -> Literal["nats"] | None:
        """The unit of the value, where it is an amount of information."""
        return None

    @abstractmethod
    def words(self) -> str:
        """Say what the value is."""

    @abstractmethod
    def find(self, masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Found:
        """Find a mechanism that is best or nearly so."""

    @abstractmethod
    def worth(self, masses: Vector, kernel: Kernel) -> float:
        """Evaluate a channel, rounded down."""

    @abstractmethod
    def potential(self, masses: Vector, kernel: Kernel) -> float:
        """Evaluate a channel with outcomes of its own, whatever they are best taken for, rounded down."""

    @abstractmethod
    def bound(self, masses: Vector, guarantees: tuple[Guarantee, ...], proof: Any) -> float:
        """Bound the worth of every channel that keeps the guarantees, by a proof that is checked; rounded up."""

    @abstractmethod
    def trace(
        self, masses: Vector, guarantees: Sequence[tuple[Guarantee, ...]], room: Fraction
    ) -> list[tuple[float, float]]:
        """Bound the best worth from both sides under each of several guarantees, which differ in a rising level."""

    def require(self, prior: Prior) -> None:
        """Refuse what cannot be meant of this prior; what was read from arguments can."""
        return

    @abstractmethod
    def outputs(self, kernel: Kernel) -> Labels:
        """Name the outputs of a channel that was found."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values, with its key."""

    @classmethod
    @abstractmethod
    def from_dict(cls, record: dict[str, Any]) -> Utility:
        """Read what `to_dict` gave."""

    @abstractmethod
    def proof_to_dict(self, proof: Any) -> dict[str, Any]:
        """Write what proves the bound as JSON values."""

    @abstractmethod
    def proof_from_dict(self, record: dict[str, Any]) -> Any:
        """Read what `proof_to_dict` gave."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear(Utility):
    """An expected loss or gain.

    Attributes
    ----------
    name : "hamming", …, or "given"
    matrix : a row for each secret, a column for each output, as rationals
    labels : of the outputs
    minimised : whether it is a loss
    """

    key = "linear"
    name: str
    matrix: Whole
    labels: Labels
    minimised: bool

    @property
    def kind(self) -> str:
        """The number that a certificate bounds."""
        return LEAST_LOSS if self.minimised else GREATEST_GAIN

    def words(self) -> str:
        """Say what the value is."""
        noun = "loss" if self.minimised else "gain"
        return f"expected {noun}" if self.name == "given" else f"expected {self.name} {noun}"

    def problem(
        self, masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction = Fraction(0)
    ) -> Problem:
        """State the linear program."""
        return Problem(masses, -self.matrix if self.minimised else self.matrix, guarantees, room)

    def find(self, masses: Vector, guarantees: tuple[Guarantee, ...], room: Fraction) -> Found:
        """Find a mechanism by a closed form or by the linear program, with prices."""
        problem = self.problem(masses, guarantees, room)
        closed = list(candidates(problem))
        for name, kernel in closed:
            if name == "truth":
                return Found(
                    guarantees, kernel, truth_prices(problem), "closed form: the best output for each secret"
                )
        refined, kernel, prices = find(problem)
        method = "nothing can be released" if refined.silent else "linear program"
        for name, other in closed:
            if other.gain(problem) >= kernel.gain(problem):
                kernel, method = other, f"closed form: {name}"
        return Found(refined.guarantees, kernel, prices, method)

    def worth(self, masses: Vector, kernel: Kernel) -> float:
        """Compute the expected gain, rounded down."""
        if (len(masses), len(kernel.weights)) != self.matrix.shape:
            raise CertificateInvalid(
                "a loss or gain must have a row for each secret and a column for each output of the mechanism."
            )
        return float_below(kernel.gain(self.problem(masses, ())))

    def potential(self, masses: Vector, kernel: Kernel) -> float:
        """Compute the expected gain with the best output for each outcome, rounded down."""
        values, unit = whole(self.problem(masses, ()).weighted())
        best = (values @ kernel.weights.T).max(axis=0).tolist()
        return float_below(Fraction(sum(best), unit * kernel.scale))

    def bound(self, masses: Vector, guarantees: tuple[Guarantee, ...], proof: Any) -> float:
        """Check the prices and sum them, rounded up."""
        if len(masses) != self.matrix.shape[0]:
            raise CertificateInvalid("a loss or gain must have a row for each secret.")
        problem = self.problem(masses, guarantees)
        if not isinstance(proof, Prices) or not proves(problem, proof):
            raise CertificateInvalid("the prices prove no bound: an output gains more than they allow.")
        return min(float_above(proof.bound(problem.rows(Side.OUTER))), self._most(masses))

    def _most(self, masses: Vector) -> float:
        """Compute the gain of the best output for each secret, which nothing exceeds, rounded up."""
        sign, best = (-1, np.min) if self.minimised else (1, np.max)
        return float_above(sign * sum(map(mul, masses, best(self.matrix, axis=1).tolist()), Fraction(0)))

    def trace(
        self,
        masses: Vector,
        guarantees: Sequence[tuple[Guarantee, ...]],
        room: Fraction,
    ) -> list[tuple[float, float]]:
        """Solve the levels one after the other."""
        first, most = self.problem(masses, guarantees[0], room), self._most(masses)
        ends = trace([replace(first, guarantees=own) for own in guarantees])
        return [(worth, min(bound, most)) for worth, bound in ends]

    def require(self, prior: Prior) -> None:
        """A matrix with a name must be the one of that name."""
        if self.name == "given":
            return
        top = _TOP.fullmatch(self.name) is not None
        named = _named(
            self.name, "loss" if self.minimised else "gain", prior.labels, None if top else self.labels
        )
        if named.labels != self.labels or named.matrix.tolist() != self.matrix.tolist():
            raise InvalidInput(f"a matrix that is called {quoted(self.name)} must be that one.")

    def outputs(self, kernel: Kernel) -> Labels:
        """Return the labels of the matrix."""
        return self.labels

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON values."""
        rows = [[number_to_json(entry) for entry in row] for row in self.matrix.tolist()]
        labels = self.labels.to_json() if self.labels.given else None
        return {
            "kind": self.key,
            "name": self.name,
            "matrix": rows,
            "outputs": labels,
            "minimised": self.minimised,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Linear:
        """Read what `to_dict` gave."""
        matrix = _exact_matrix(np.array(record["matrix"], dtype=object))
        labels = Labels.of(labels_from_json(record["outputs"], "outputs"), matrix.shape[1], "outputs")
        if not isinstance(record["minimised"], bool) or not isinstance(record["name"], str):
            raise ValueError("a loss or gain must have a name and say which of the two it is")
        return cls(record["name"], matrix, labels, record["minimised"])

    def proof_to_dict(self, proof: Prices) -> dict[str, Any]:
        """Write prices as JSON values."""
        return {
            "secrets": proof.secrets.tolist(),
            "total": proof.total,
            "upper": proof.upper.tolist(),
            "lower": proof.lower.tolist(),
            "positive": proof.positive.tolist(),
        }

    def proof_from_dict(self, record: dict[str, Any]) -> Prices:
        """Read what `proof_to_dict` gave."""
        upper, lower, positive = (
            read_proof(record[name], name, 2) for name in ("upper", "lower", "positive")
        )
        secrets, total = read_proof(record["secrets"], "secrets", 1), read_proof(record["total"], "total", 0)
        return Prices(secrets, total.item(), upper, lower, positive)


def read_proof(values: Any, what: str, axes: int) -> FloatArray:
    """Read numbers of a proof from JSON values: one, a list or a matrix; what is no finite number is refused.

    >>> read_proof([1, 0.5], "secrets", 1).tolist()
    [1.0, 0.5]
    """
    found = np.array(values, dtype=object)
    wrong = [one for one in found.ravel().tolist() if type(one) not in (int, float) or not math.isfinite(one)]
    if wrong or found.ndim != axes:
        shape = ("a number", "a list of numbers", "a matrix of numbers")[axes]
        raise ValueError(
            f"{what} of a proof must be {shape}, all finite" + (f", got {quoted(wrong[0])}" if wrong else "")
        )
    return found.astype(np.float64)


def require_size(secrets: int, outputs: int) -> None:
    """Refuse a design that does not fit, with what it would take, before anything of its size is made."""
    seconds = _ROUNDS * 2.0 * secrets**2 * outputs * _BOUNDS / _FLOPS
    require_room(f"{secrets} secrets and {outputs} outputs", 8.0 * secrets * outputs * _ARRAYS, seconds)


def require_room(size: str, memory: float, seconds: float) -> None:
    """Refuse a design that takes too many bytes, and say so and how long it would take."""
    if memory > _MOST_MEMORY:
        raise InvalidInput(
            f"a design of {size} must fit into memory, got one that takes about {memory / 1e9:.0f} GB and "
            f"{seconds / 60:.0f} minutes; merge secrets that are alike, or outputs."
        )


def read_linear(
    secrets: Labels, *, loss: Any = None, gain: Any = None, outputs: Iterable[Label] | None = None
) -> Linear:
    """Read a loss or a gain: a name, or a matrix with a row for each secret."""
    argument, given = ("loss", loss) if gain is None else ("gain", gain)
    if isinstance(given, str):
        return _require_range(_named(given, argument, secrets, outputs), argument)
    read = labelled_matrix(given, secrets, argument, "secrets")
    require_size(len(secrets), read.shape[1])
    matrix = _exact_matrix(read)
    names = choose_labels(column_labels(given), outputs, "outputs")
    if names is None and matrix.shape[1] == len(secrets):
        return _require_range(Linear("given", matrix, secrets, gain is None), argument)
    labels = Labels.of(names, matrix.shape[1], "outputs")
    return _require_range(Linear("given", matrix, labels, gain is None), argument)


def _require_range(found: Linear, argument: str) -> Linear:
    """Refuse entries that floats cannot hold beside others."""
    largest = max((abs(entry) for entry in found.matrix.ravel().tolist()), default=Fraction(0))
    if largest > _LARGEST:
        raise InvalidInput(
            f"{argument} must have entries up to {_LARGEST:.0e} in size, got {format_about(largest, 3)}; "
            "divide all of them by the same number."
        )
    return found


def _named(name: str, argument: str, secrets: Labels, outputs: Iterable[Label] | None) -> Linear:
    labels = secrets if outputs is None else Labels.read(outputs, "outputs")
    require_size(len(secrets), len(labels))
    if found := _TOP.fullmatch(name):
        return _top(int(found.group(1)), argument, secrets, outputs)
    if name == "hamming":
        known = {*secrets}
        wrong = [label for label in labels if label not in known]
        if wrong:
            raise InvalidInput(
                f"outputs must be secrets where {argument} is hamming, got {quoted(wrong[0])}, which is never right; "
                "leave it out, or give a matrix."
            )
        hits = [[Fraction(int(one == two)) for two in labels] for one in secrets]
        matrix = np.array(hits, dtype=object).reshape(len(secrets), len(labels))
        return Linear(name, 1 - matrix if argument == "loss" else matrix, labels, argument == "loss")
    if name in ("absolute", "squared"):
        if argument == "gain":
            raise InvalidInput(
                f"gain must be hamming, top-k or a matrix, got {quoted(name)}; write loss={quoted(name)}."
            )
        rows, columns = _numbers(secrets, name), _numbers(labels, name)
        power = 1 if name == "absolute" else 2
        matrix = np.array([[abs(one - two) ** power for two in columns] for one in rows], dtype=object)
        return Linear(name, matrix.reshape(len(rows), len(columns)), labels, True)
    near = get_close_matches(name.lower(), [own for own in NAMED if own != "top-k"], n=1)
    remedy = f"write {quoted(near[0])}" if near else 'write "top-3" where three secrets are named'
    raise InvalidInput(
        f"{argument} must be a matrix or one of {', '.join(NAMED)}, got {quoted(name)}; {remedy}."
    )


def _top(size: int, argument: str, secrets: Labels, outputs: Iterable[Label] | None) -> Linear:
    """Name sets of so many secrets; labels are tuples of theirs."""
    if outputs is not None:
        raise InvalidInput(
            "outputs must not be given with top-k: they are the sets of k secrets; leave them out."
        )
    if size > len(secrets):
        raise InvalidInput(
            f"{argument} top-k must have a k of at most {len(secrets)}, the number of secrets, got {size}; lower it."
        )
    if math.comb(len(secrets), size) > _MOST_SETS:
        raise InvalidInput(
            f"{argument} top-{size} must have at most {_MOST_SETS} sets of secrets, got "
            f"{math.comb(len(secrets), size)} of {len(secrets)} secrets; choose a k with fewer sets."
        )
    sets = list(combinations(range(len(secrets)), size))
    hits = np.array(
        [[Fraction(int(secret in own)) for own in sets] for secret in range(len(secrets))], dtype=object
    )
    labels = [secrets[own[0]] if size == 1 else tuple(secrets[place] for place in own) for own in sets]
    matrix = hits.reshape(len(secrets), len(sets))
    return Linear(
        f"top-{size}",
        1 - matrix if argument == "loss" else matrix,
        Labels.of(labels, len(sets), "outputs"),
        argument == "loss",
    )


def _numbers(labels: Labels, name: str) -> list[Fraction]:
    """Read labels as numbers."""
    found = []
    for label in labels:
        try:
            found.append(Fraction(number(label, "label")))
        except InvalidInput:
            raise InvalidInput(
                f"loss {quoted(name)} must be of labels that are numbers, got {show(label)}; "
                "give a matrix of losses, or numbers as labels."
            ) from None
    return found


def _exact_matrix(values: np.ndarray[Any, Any]) -> Whole:
    if values.ndim != 2 or not values.size:
        raise InvalidInput(
            "a loss or gain must be a matrix with a row for each secret and a column for each output."
        )
    found = np.empty(values.size, dtype=object)
    found[:] = [Fraction(number(entry, "entry")) for entry in values.ravel().tolist()]
    return found.reshape(values.shape)
