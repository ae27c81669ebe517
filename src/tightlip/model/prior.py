"""What the adversary believes before the release: a distribution over secrets, or a set of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import flag, instance, whole
from tightlip.errors import InvalidInput, InvalidPrior, WrongType, quoted
from tightlip.model.jsonio import as_object, number_to_json, read_adjustment
from tightlip.model.labels import Label, Labels, choose_labels, labels_from_json, show, split_labels
from tightlip.model.matrix import freeze, multiply, nonzero_digest, same_entries
from tightlip.model.normalize import normalize_exact, normalize_floats, read_counts, shares
from tightlip.numeric.display import format_about, format_python
from tightlip.numeric.parse import (
    FloatArray,
    Numbers,
    ObjectArray,
    exact_text,
    float_number,
    number,
    numbers,
    to_floats,
)
from tightlip.showing import Tabled


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Prior(Tabled):
    """A probability distribution over secrets.

    Parameters
    ----------
    masses : sequence or mapping
        Floats, or exact numbers (Fractions, Decimals, text like "1/3"); a mapping gives labels too.
    labels : sequence, optional
        Names of the secrets; 0, 1, 2, … by default.

    Raises
    ------
    InvalidPrior
        If a mass is negative or they do not sum to 1 within 1e-9.

    >>> Prior(["1/2", "1/3", "1/6"], labels=["a", "b", "c"])
    Prior(a: 1/2, b: 1/3, c: 1/6)
    >>> Prior({"yes": 0.25, "no": 0.75}).min_mass
    0.25
    """

    labels: Labels
    adjustment: float
    _floats: FloatArray | None
    _exact: ObjectArray | None

    def __init__(self, masses: Any, labels: Iterable[Label] | None = None) -> None:
        if isinstance(masses, Prior):
            raise WrongType("prior masses must be numbers, got a Prior; use it as it is.")
        values, own = split_labels(masses, "prior")
        self._settle(numbers(values, "prior", 1), choose_labels(own, labels, "prior labels"))

    def _settle(self, read: Numbers, labels: Iterable[Label] | None) -> None:
        size = len(read.exact if read.exact is not None else read.floats)  # type: ignore[arg-type]
        named = Labels.of(labels, size, "prior labels")

        def name(_: int) -> str:
            return "prior"

        remedy = "use Prior.from_counts for counts"
        floats: FloatArray | None = None
        exact: ObjectArray | None = None
        if read.exact is not None:
            rows, adjustment = normalize_exact(read.exact[None, :], name, InvalidPrior, remedy)
            exact = freeze(rows)[0]
        else:
            assert read.floats is not None
            rows, adjustment = normalize_floats(read.floats[None, :], name, InvalidPrior, remedy)
            floats = freeze(rows)[0]
        self._fill(named, floats=floats, exact=exact, adjustment=adjustment)

    def _fill(
        self,
        labels: Labels,
        *,
        floats: FloatArray | None = None,
        exact: ObjectArray | None = None,
        adjustment: float = 0.0,
    ) -> None:
        for field, value in (
            ("labels", labels),
            ("adjustment", adjustment),
            ("_floats", floats),
            ("_exact", exact),
        ):
            object.__setattr__(self, field, value)

    @classmethod
    def uniform(cls, secrets: int | Iterable[Label]) -> Prior:
        """Equal masses on n secrets, or on the labels given; exact.

        >>> Prior.uniform(["a", "b", "c"])
        Prior(a: 1/3, b: 1/3, c: 1/3)
        """
        labels = Labels.read(secrets, "secrets")
        size = len(labels)
        self = object.__new__(cls)
        self._fill(
            labels,
            floats=freeze(np.full(size, 1 / size)),
            exact=freeze(np.full(size, Fraction(1, size), dtype=object)),
        )
        return self

    @classmethod
    def from_counts(cls, counts: Any, labels: Iterable[Label] | None = None, *, exact: bool = False) -> Prior:
        """Relative frequencies of counts (a mapping or a sequence); `exact=True` keeps them as rationals.

        >>> Prior.from_counts({"flu": 3, "cold": 9})
        Prior(flu: 0.25, cold: 0.75)
        """
        values, own = split_labels(counts, "counts")
        tallies = read_counts(values, "counts", 1)
        divided, totals = shares(tallies, "counts", exact=flag(exact, "exact"))
        if totals[0] == 0:
            raise InvalidPrior(
                "counts must have a positive sum, got 0; there is no data to make a prior from."
            )
        return cls(divided, choose_labels(own, labels, "prior labels"))

    @property
    def is_exact(self) -> bool:
        """Whether the masses are rationals."""
        return self._exact is not None

    @property
    def floats(self) -> FloatArray:
        """The masses as floats (read-only); rounded to nearest where the prior is exact."""
        if self._floats is None:
            assert self._exact is not None
            object.__setattr__(self, "_floats", freeze(to_floats(self._exact, "prior")))
        assert self._floats is not None
        return self._floats

    @property
    def masses(self) -> NDArray[Any]:
        """The masses as stored: Fractions where the prior is exact, floats otherwise (read-only)."""
        return self._exact if self._exact is not None else self.floats

    @property
    def support(self) -> NDArray[np.intp]:
        """Positions of the secrets with positive mass."""
        return np.flatnonzero(self.masses)

    @property
    def min_mass(self) -> float | Fraction:
        """The smallest positive mass, p_min in the papers."""
        smallest = self.masses[self.support].min()
        return smallest if isinstance(smallest, Fraction) else float(smallest)

    def exact(self) -> Prior:
        """Convert to rationals: each float is the rational it stores, scaled to sum to 1 exactly.

        >>> Prior([0.5, 0.5]).exact()
        Prior(0: 1/2, 1: 1/2)
        """
        if self._exact is not None:
            return self
        masses = [Fraction(mass) for mass in self.floats.tolist()]
        total = sum(masses, Fraction(0))
        return Prior(np.array([mass / total for mass in masses], dtype=object), self.labels)

    def restricted(self) -> Prior:
        """Restrict the prior to its support.

        >>> Prior([0.5, 0.0, 0.5], labels=list("abc")).restricted()
        Prior(a: 0.5, c: 0.5)
        """
        support = self.support
        if len(support) == len(self):
            return self
        return Prior(self.masses[support], self.labels.take(support)).with_adjustment(self.adjustment)

    def product(self, other: Prior) -> Prior:
        """Build the distribution of two independent secrets, labelled by pairs.

        >>> Prior(["1/2", "1/2"]).product(Prior(["1/3", "2/3"]))
        Prior((0, 0): 1/6, (0, 1): 1/3, (1, 0): 1/6, (1, 1): 1/3)
        """
        as_prior(other, "other")
        exact = self.is_exact and other.is_exact
        first, second = (self.masses, other.masses) if exact else (self.floats, other.floats)
        pairs = Labels(tuple((one, two) for one in self.labels for two in other.labels), given=True)
        return Prior(multiply(first[:, None], second, "product of priors").ravel(), pairs)

    def mass(self, label: Label) -> float | Fraction:
        """Look up the mass of one secret."""
        found = self.masses[self.labels.position(label, "label")]
        return found if isinstance(found, Fraction) else float(found)

    def to_json(self) -> str:
        """Write the prior as JSON text that `from_json` reads back without loss."""
        return json.dumps(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Write the prior as plain JSON values."""
        record: dict[str, Any] = {"prior": [number_to_json(mass) for mass in self.masses.tolist()]}
        if self.labels.given:
            record["labels"] = self.labels.to_json()
        if self.adjustment:
            record["adjustment"] = self.adjustment
        return record

    @classmethod
    def from_json(cls, text: str) -> Prior:
        """Read what `to_json` wrote.

        >>> Prior.from_json(Prior(["1/3", "2/3"]).to_json()) == Prior(["1/3", "2/3"])
        True
        """
        record = as_object(text, "prior JSON", required={"prior"}, optional={"labels", "adjustment"})
        prior = cls(record["prior"], labels_from_json(record.get("labels"), "labels"))
        return prior.with_adjustment(read_adjustment(record))

    def with_adjustment(self, adjustment: float) -> Prior:
        """Remember a correction that was made earlier."""
        off = float_number(adjustment, "adjustment")
        if off <= self.adjustment:
            return self
        return _restore(self.labels, self.masses, self.is_exact, off)

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prior):
            return NotImplemented
        return (
            self.is_exact == other.is_exact
            and self.labels == other.labels
            and same_entries(self.masses, other.masses)
        )

    def __hash__(self) -> int:
        return hash((nonzero_digest(self.masses), self.labels))

    def __repr__(self) -> str:
        shown = [
            f"{show(label)}: {_short(mass)}"
            for label, mass in zip(self.labels, self.masses[:8], strict=False)
        ]
        more = f", … {len(self)} secrets" if len(self) > 8 else ""
        off = f"; sum adjusted by {self.adjustment:.2g}" if self.adjustment > 0 else ""
        return f"Prior({', '.join(shown)}{more}{off})"

    def __reduce__(self) -> tuple[Any, ...]:
        exact = self._exact is not None
        return _restore, (self.labels, self.masses, exact, self.adjustment)


_ANY: Any = object()  # not given


@dataclass(frozen=True, slots=True)
class PriorSet:
    """All priors that give each of n secrets at least `min_mass`: the set Q(c) of the papers.

    Without a number of secrets, `PriorSet(min_mass=c)`, it is about as many as the channel has.

    >>> PriorSet(4, "1/10")
    PriorSet(secrets=4, min_mass=Fraction(1, 10))
    >>> Prior([0.4, 0.3, 0.2, 0.1]) in PriorSet(min_mass=0.1)
    True
    """

    secrets: int | None = _ANY
    min_mass: float | Fraction = _ANY

    def __post_init__(self) -> None:
        if self.min_mass is _ANY:
            raise InvalidInput("min_mass must be given: the least mass of a secret; write min_mass=0.1.")
        secrets = None if self.secrets is _ANY else whole(self.secrets, "secrets", 1)
        mass, most = number(self.min_mass, "min_mass"), secrets or 1
        if not 0 < mass <= Fraction(1, most) * (1 + Fraction(1, 10**12)):
            raise InvalidPrior(
                f"min_mass must be in (0, 1/{quoted(most)}], got {quoted(self.min_mass)}; "
                f"{quoted(most)} secrets cannot all have more."
            )
        object.__setattr__(self, "secrets", secrets)
        object.__setattr__(self, "min_mass", mass)

    def __contains__(self, prior: object) -> bool:
        """Whether a prior is in the set; a float on either side makes it a comparison of floats."""
        if not isinstance(prior, Prior) or self.secrets not in (None, len(prior)):
            return False
        if prior.is_exact and isinstance(self.min_mass, Fraction):
            return bool(min(prior.masses) >= self.min_mass)
        return bool(prior.floats.min() >= float(self.min_mass))

    def words(self) -> str:
        """Say which priors these are, behind "every prior"."""
        return f"with masses of at least {format_python(Fraction(self.min_mass))}"

    def to_json(self) -> str:
        """Write the set as JSON text that `from_json` reads back without loss."""
        return json.dumps({"secrets": self.secrets, "min_mass": number_to_json(self.min_mass)})

    @classmethod
    def from_json(cls, text: str) -> PriorSet:
        """Read what `to_json` wrote.

        >>> PriorSet.from_json(PriorSet(4, "1/10").to_json())
        PriorSet(secrets=4, min_mass=Fraction(1, 10))
        """
        record = as_object(text, "prior set JSON", required={"secrets", "min_mass"}, optional=set())
        secrets = record["secrets"]
        return cls(_ANY if secrets is None else secrets, record["min_mass"])


def as_prior(value: object, argument: str = "prior") -> Prior:
    """Read a prior; masses alone are none."""
    return instance(value, Prior, argument, "write Prior(masses) or Prior.uniform(n)")


def read_prior(value: object, argument: str = "prior") -> Prior:
    """Read a prior, or masses that bring names along, as a mapping or a Series does; masses without names are none."""
    if isinstance(value, Prior) or split_labels(value, argument)[1] is None:
        return as_prior(value, argument)
    masses: Any = value
    return Prior(masses)


def _restore(labels: Labels, masses: NDArray[Any], exact: bool, adjustment: float) -> Prior:
    """A prior from a pickle or a copy, read-only again."""
    prior: Prior = object.__new__(Prior)
    own = freeze(masses.copy())
    prior._fill(labels, floats=None if exact else own, exact=own if exact else None, adjustment=adjustment)
    return prior


def _short(mass: Any) -> str:
    text = exact_text(mass) if isinstance(mass, Fraction) else format_about(mass)
    return text if len(text) <= 24 else "≈" + format_about(mass)
