"""Sets of priors, for an adversary whose prior is only roughly known; Q(c), every mass at least c, is in prior.py.

    PriorBall      all priors within an ℓ1 distance of one prior
    PriorList      one of finitely many priors
    PriorPolytope  all priors that satisfy linear bounds

Every number counts as the rational that it stores. Members are all distributions over the same secrets.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import listed
from tightlip.errors import InvalidInput, InvalidPrior, ShapeMismatch, quoted
from tightlip.model.jsonio import check_keys, number_to_json
from tightlip.model.labels import (
    Label,
    Labels,
    choose_labels,
    column_labels,
    labelled_vector,
    labels_from_json,
    match,
    row_labels,
)
from tightlip.model.matrix import freeze
from tightlip.model.prior import Prior, PriorSet, as_prior
from tightlip.numeric.display import format_about, format_python, several
from tightlip.numeric.parse import number, numbers
from tightlip.numeric.rational_program import RationalProgram


@dataclass(frozen=True, slots=True)
class PriorBall:
    """All priors p with Σ_x |p_x − center_x| ≤ radius.

    Parameters
    ----------
    center : Prior
        Scaled to sum to 1 exactly where it holds floats.
    radius : number in [0, 2]
        An ℓ1 distance, twice the total variation: up to radius/2 of the mass may move. From 2 on it is all priors.

    >>> ball = PriorBall(Prior(["1/2", "1/2"]), "1/5")
    >>> Prior(["2/5", "3/5"]) in ball, Prior(["1/4", "3/4"]) in ball
    (True, False)
    """

    center: Prior
    radius: float | Fraction

    def __post_init__(self) -> None:
        as_prior(self.center, "center")
        radius = number(self.radius, "radius")
        if not 0 <= radius <= 2:
            raise InvalidInput(
                f"radius must be in [0, 2], got {quoted(self.radius)}; it is an ℓ1 distance, 2 is the largest."
            )
        object.__setattr__(self, "radius", radius)

    def words(self) -> str:
        """Say which priors these are, behind "every prior"."""
        return f"within ℓ1 distance {format_python(Fraction(self.radius))} of the one at the centre"

    @property
    def is_exact(self) -> bool:
        """Whether center and radius are rationals."""
        return self.center.is_exact and isinstance(self.radius, Fraction)

    def __contains__(self, prior: object) -> bool:
        """Whether a prior is in the set, decided in rationals."""
        own = _in_order(prior, self.center.labels)
        if own is None:
            return False
        pairs = zip(own, _masses(self.center), strict=True)
        return sum((abs(one - two) for one, two in pairs), Fraction(0)) <= Fraction(self.radius)


@dataclass(frozen=True, slots=True, init=False)
class PriorList:
    """One of finitely many priors, it is not known which.

    >>> len(PriorList([Prior(["1/2", "1/2"]), Prior(["1/3", "2/3"])]))
    2
    """

    priors: tuple[Prior, ...]

    def __init__(self, priors: Iterable[Prior]) -> None:
        own = tuple(listed(priors, "priors", "Priors"))
        if not own:
            raise InvalidPrior("priors must not be empty, got none; an empty set has no worst prior.")
        for place, prior in enumerate(own):
            as_prior(prior, f"priors entry {place}")
            match(own[0].labels, prior.labels, f"labels of priors entry {place}", "the first prior's labels")
        object.__setattr__(self, "priors", own)

    def words(self) -> str:
        """Say which priors these are, behind "every prior"."""
        return f"of a list of {len(self)}"

    @property
    def is_exact(self) -> bool:
        """Whether all masses are rationals."""
        return all(prior.is_exact for prior in self.priors)

    def __iter__(self) -> Iterator[Prior]:
        return iter(self.priors)

    def __len__(self) -> int:
        return len(self.priors)

    def __contains__(self, prior: object) -> bool:
        """Whether a prior has the masses of one of the list."""
        return any(_in_order(prior, one.labels) == _masses(one) for one in self.priors)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class PriorPolytope:
    """All priors p with Σ_x `rows[i][x]`·p_x ≤ `bounds[i]` for each i, and every mass at least `min_mass`.

    Parameters
    ----------
    rows, bounds : numbers
        One row for each bound, one column for each secret. An equality is a row and its negative.
    min_mass : number in [0, 1/N]
    labels : sequence, optional
        The secrets, in the order of the columns; in the channel's order by default.

    Raises
    ------
    InvalidPrior
        If no prior satisfies all of it, as the numbers are stored.

    >>> rare = PriorPolytope([[1, 0, 0], [0, 1, -1]], ["1/10", 0], labels=["ill", "old", "young"])
    >>> rare
    PriorPolytope(2 bounds on 3 secrets)
    >>> Prior(["1/10", "4/10", "5/10"], labels=["ill", "old", "young"]) in rare
    True
    """

    rows: NDArray[Any]
    bounds: NDArray[Any]
    min_mass: float | Fraction
    labels: Labels
    member: Prior = field(repr=False)

    def __init__(
        self, rows: Any, bounds: Any, *, min_mass: Any = 0, labels: Iterable[Label] | None = None
    ) -> None:
        named = choose_labels(column_labels(rows), labels, "labels")
        left = _read(rows, "rows", 2)
        names = Labels.of(row_labels(rows), len(left), "labels of rows")
        right = freeze(labelled_vector(bounds, names, "bounds", "rows"))
        size = left.shape[1]
        mass = number(min_mass, "min_mass")
        if not 0 <= mass <= Fraction(1, size):
            raise InvalidPrior(
                f"min_mass must be in [0, 1/{size}], got {quoted(min_mass)}; {size} secrets cannot all have more."
            )
        secrets = Labels.of(named, size, "labels")
        program = RationalProgram(left.tolist(), right.tolist(), Fraction(mass), size)
        if program.lack:
            raise InvalidPrior(
                "rows and bounds must leave a prior, got an empty set: every prior breaks them by at least "
                f"{format_about(program.lack)} in all; raise a bound (as text if it is meant exactly)."
            )
        member = Prior(np.array(program.corner(), dtype=object), secrets if secrets.given else None)
        values = {"rows": left, "bounds": right, "min_mass": mass, "labels": secrets, "member": member}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def words(self) -> str:
        """Say which priors these are, behind "every prior"."""
        least = f" and masses of at least {format_python(Fraction(self.min_mass))}" if self.min_mass else ""
        return f"of a polytope with {several(len(self.bounds), 'bound')}{least}"

    @property
    def is_exact(self) -> bool:
        """Whether all numbers are rationals."""
        return (
            self.rows.dtype == object and self.bounds.dtype == object and isinstance(self.min_mass, Fraction)
        )

    def __contains__(self, prior: object) -> bool:
        """Whether a prior is in the set, decided in rationals."""
        masses = _in_order(prior, self.labels)
        if masses is None or min(masses) < self.min_mass:
            return False
        return all(
            sum((Fraction(entry) * mass for entry, mass in zip(row, masses, strict=True)), Fraction(0))
            <= bound
            for row, bound in zip(self.rows.tolist(), self.bounds.tolist(), strict=True)
        )

    def __repr__(self) -> str:
        return f"PriorPolytope({len(self.bounds)} bounds on {len(self.labels)} secrets)"


AnyPriorSet = PriorSet | PriorBall | PriorList | PriorPolytope


def prior_set_to_dict(prior_set: AnyPriorSet) -> dict[str, Any]:
    """Write a set of priors as plain JSON values, under the name of its kind.

    >>> prior_set_to_dict(PriorSet(min_mass="1/10"))
    {'floor': {'secrets': None, 'min_mass': '1/10'}}
    """
    if isinstance(prior_set, PriorSet):
        return {"floor": {"secrets": prior_set.secrets, "min_mass": number_to_json(prior_set.min_mass)}}
    if isinstance(prior_set, PriorBall):
        return {"ball": {"center": prior_set.center.to_dict(), "radius": number_to_json(prior_set.radius)}}
    if isinstance(prior_set, PriorList):
        return {"list": [prior.to_dict() for prior in prior_set]}
    record: dict[str, Any] = {
        "rows": [[number_to_json(entry) for entry in row] for row in prior_set.rows.tolist()],
        "bounds": [number_to_json(bound) for bound in prior_set.bounds.tolist()],
        "min_mass": number_to_json(prior_set.min_mass),
        "labels": prior_set.labels.to_json() if prior_set.labels.given else None,
    }
    return {"polytope": record}


def prior_set_from_dict(record: Any) -> AnyPriorSet:
    """Read what `prior_set_to_dict` gave.

    >>> prior_set_from_dict(prior_set_to_dict(PriorBall(Prior(["1/2", "1/2"]), "1/5")))
    PriorBall(center=Prior(0: 1/2, 1: 1/2), radius=Fraction(1, 5))
    """
    parts = check_keys(record, "prior set", set(), {"floor", "ball", "list", "polytope"})
    if len(parts) != 1:
        raise InvalidInput(f"prior set must have one kind, got {sorted(parts)}.")
    ((kind, own),) = parts.items()
    if kind == "floor":
        return PriorSet.from_json(json.dumps(own))
    if kind == "ball":
        check_keys(own, "ball", {"center", "radius"}, set())
        return PriorBall(Prior.from_json(json.dumps(own["center"])), own["radius"])
    if kind == "list":
        return PriorList([Prior.from_json(json.dumps(prior)) for prior in listed(own, "list", "priors")])
    check_keys(own, "polytope", {"rows", "bounds", "min_mass", "labels"}, set())
    labels = labels_from_json(own["labels"], "labels")
    return PriorPolytope(own["rows"], own["bounds"], min_mass=own["min_mass"], labels=labels)


def _read(values: Any, argument: str, dimensions: int) -> NDArray[Any]:
    read = numbers(values, argument, dimensions)
    own = read.exact if read.exact is not None else read.floats
    assert own is not None
    return freeze(own)


def _masses(prior: Prior) -> list[Fraction]:
    """Rationals that sum to 1."""
    return list(prior.exact().masses)


def _in_order(prior: object, labels: Labels) -> list[Fraction] | None:
    """The masses in the order of the labels; None for what is no prior on these secrets."""
    if not isinstance(prior, Prior):
        return None
    try:
        order = match(labels, prior.labels, "prior labels", "the set's labels")
    except ShapeMismatch:
        return None
    masses = _masses(prior)
    return masses if order is None else [masses[place] for place in order]
