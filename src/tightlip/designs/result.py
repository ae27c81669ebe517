"""A designed mechanism: the channel, what it is worth, and a bound on what any other is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from tightlip.arguments import choice
from tightlip.designs.certificate import DesignCertificate
from tightlip.designs.guarantee import Guarantee, Rows, Side, all_rows, secret_of
from tightlip.designs.utility import Utility
from tightlip.errors import CertificateInvalid
from tightlip.model.channel import Channel
from tightlip.model.labels import Label
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about, several
from tightlip.numeric.proved import Proved
from tightlip.numeric.rounding import down, up
from tightlip.showing import Charted, Tabled, Unit

_TIGHT = 1e-6  # of a column's largest entry: what lies this near to a bound is at it


@dataclass(frozen=True, slots=True)
class Binding:
    """A bound that an output reaches.

    Attributes
    ----------
    output : the output
    probability : how often it is published
    guarantee : the guarantee that binds
    secrets : those whose probability of this output is as large, or as small, as it allows; of a guarantee about a
        secret s of which x is the data, values of s
    """

    output: Label
    probability: float
    guarantee: str
    secrets: tuple[Label, ...]


class Told:
    """What can be said in sentences."""

    __slots__ = ()

    def words(self, *, unit: Unit = "nats") -> str:
        """What is reached and kept, and what is possible, a sentence a line."""
        from tightlip.report import design

        choice(unit, "unit", get_args(Unit))
        return design.words(self, unit)

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Design(Proved, Told, Charted, Tabled):
    """A mechanism under guarantees, and a proof of how near it is to the best one.

    Attributes
    ----------
    channel : the mechanism, in rationals; it keeps every guarantee exactly
    prior : of the secrets
    guarantees : what it keeps, and against whom
    utility : what it is good for
    value : what the channel reaches: its expected loss rounded up, its gain or information rounded down
    bound : what no channel under these guarantees can beat, rounded to the safe side
    lower, upper : the two, in order
    gap, relative_gap : their distance, and as a share of the value
    method : how the channel was found
    certificate : the proof of both
    pml : of a design under an envelope, the one under PML of the same level in its place, which implies it; or None
    """

    channel: Channel
    prior: Prior
    guarantees: tuple[Guarantee, ...]
    utility: Utility
    lower: float
    upper: float
    method: str
    certificate: DesignCertificate = field(repr=False)
    pml: Design | None = field(default=None, repr=False)

    @property
    def value(self) -> float:
        """What the channel reaches."""
        return self.upper if self.utility.minimised else self.lower

    @property
    def bound(self) -> float:
        """What no channel under these guarantees can beat."""
        return self.lower if self.utility.minimised else self.upper

    @property
    def secret(self) -> Channel | None:
        """P(x | s) of the secret s that a guarantee is about, where x is only the data; None where x is the secret."""
        return secret_of(self.guarantees)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the value; 0 where there is none."""
        return self.gap / abs(self.value) if self.value else (0.0 if not self.gap else np.inf)

    @property
    def possible_gain(self) -> float | None:
        """How much better than `pml` a design under the envelope could be at most, rounded up; None without one."""
        return None if self.pml is None else _ahead(self.bound, self.pml, up)

    @property
    def gained(self) -> float | None:
        """How much better than `pml` this design is, rounded down; None without one."""
        return None if self.pml is None else _ahead(self.value, self.pml, down)

    def verify(self) -> None:
        """Check the proof in exact or outward-rounded arithmetic, and that it is of these ends; that of `pml` too.

        Raises
        ------
        CertificateInvalid
            Naming what fails.
        """
        Proved.verify(self)
        if self.pml is not None:
            if self.pml.certificate is not self.certificate.pml:
                raise CertificateInvalid(
                    "the design under PML must have the proof that is beside this one's."
                )
            self.pml.verify()

    def binding(self) -> list[Binding]:
        """List which outputs and secrets are at the bound of which guarantee, the likeliest outputs first."""
        matrix = dense(self.channel.floats)
        masses = self.prior.floats / self.prior.floats.sum()
        found: list[Binding] = []
        for own in self.guarantees:
            rows = all_rows([own], tuple(self.prior.exact().masses), Side.INNER)
            about = secret_of([own])
            secrets = self.channel.inputs if about is None else about.inputs
            for place, output in enumerate(self.channel.outputs):
                column = matrix[:, place]
                # about a secret there are bounds from above, one for each of its values, and then as many from below
                at = dict.fromkeys(secrets[place % len(secrets)] for place in _at_bounds(rows, column))
                if at:
                    found.append(Binding(output, float(masses @ column), own.words(), tuple(at)))
        return sorted(found, key=lambda one: -one.probability)

    def certain(self) -> list[tuple[Label, Label]]:
        """List the outputs that only one secret has, each with it: whoever sees one is certain of the secret."""
        if len(self.channel.inputs) < 2:
            return []
        having = [np.flatnonzero(column).tolist() for column in dense(self.channel.exact().matrix).T]
        return [
            (output, self.channel.inputs[secrets[0]])
            for output, secrets in zip(self.channel.outputs, having, strict=True)
            if len(secrets) == 1
        ]

    def unused(self) -> list[Label]:
        """List the outputs that a loss or gain knows and the mechanism never publishes."""
        used = set(self.channel.outputs)
        return [output for output in self.utility.outputs(self.certificate.kernel) if output not in used]

    def __repr__(self) -> str:
        beat = "at least" if self.utility.minimised else "at most"
        words = "; ".join(own.words() for own in self.guarantees)
        secrets, outputs = self.channel.shape
        noun = "secret" if self.secret is None else "value"
        return (
            f"Design({self.utility.words()} {format_about(self.value)}, {beat} {format_about(self.bound)} possible; "
            f"{words}; {several(secrets, noun)} → {several(outputs, 'output')}, by {self.method})"
        )


def _ahead(value: float, plain: Design, rounded: Callable[[float], float]) -> float:
    """Compute by how much a value is better than that of another design, which is at least 0; rounded."""
    better = plain.value - value if plain.utility.minimised else value - plain.value
    return max(rounded(better), 0.0) if value != plain.value else 0.0


def _at_bounds(rows: Rows, column: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    """List the secrets whose entry of a column is at a bound, or which of the bounds r·k ≥ 0 the column is at."""
    largest, least = float(column.max()), float(column.min())
    room = _TIGHT * largest
    at: set[int] = set()
    if largest - least <= room:
        return []
    for own in rows.upper:
        limit = float(np.array(own.row, dtype=np.float64) @ column) + float(own.floor) * least
        if not own.own and largest >= limit - room:
            at.update(np.flatnonzero(column >= limit - room).tolist())
    for row in rows.lower:
        limit = float(np.array(row, dtype=np.float64) @ column)
        at.update(np.flatnonzero(column <= limit + room).tolist())
    for place, row in enumerate(rows.positive):
        if float(np.array(row, dtype=np.float64) @ column) <= room:
            at.add(place)
    return sorted(at)
