"""Given mechanisms beside the best one: which guarantees they keep, and what share of the possible they reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightlip.arguments import listed
from tightlip.designs.guarantee import Envelope
from tightlip.designs.linear import Kernel, Problem, keeps, whole
from tightlip.designs.result import Design, Told
from tightlip.designs.run import read_task
from tightlip.errors import InvalidInput, quoted
from tightlip.measures.local import ldp
from tightlip.measures.maximal import maximal_leakage
from tightlip.measures.pointwise import pmc, pml
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Label, match
from tightlip.model.matrix import dense
from tightlip.model.prior import Prior
from tightlip.numeric.display import format_about
from tightlip.numeric.quantity import Nats
from tightlip.numeric.rounding import down, up
from tightlip.showing import Charted, Tabled

_NOTHING = 1e-9  # of the value: where no more than this can be had, there is nothing to share


@dataclass(frozen=True, slots=True)
class ComparedMechanism:
    """A given mechanism.

    Attributes
    ----------
    name : as given
    keeps : whether it keeps every guarantee, decided in rationals; an envelope by the best threshold that all secrets
        share, which suffices
    value : what it reaches, of losses and gains with the best output for each of its outcomes; rounded as a design's
    share : the share of the possible that it reaches: 0 is releasing nothing, 1 the bound; rounded down, and None where
        nothing is as good as anything
    levels : its PML, PMC, LDP and maximal leakage, in nats
    """

    name: str
    keeps: bool
    value: float
    share: float | None
    levels: dict[str, Nats]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignComparison(Told, Charted, Tabled):
    """Given mechanisms beside the best one.

    Attributes
    ----------
    best : the design under the guarantees
    nothing : the value of releasing nothing
    mechanisms : the given ones, in their order
    """

    best: Design
    nothing: float
    mechanisms: tuple[ComparedMechanism, ...]

    def __repr__(self) -> str:
        parts = [
            f"{own.name} {format_about(own.value)}{'' if own.share is None else f', {own.share:.1%} of the possible'}"
            f"{'' if own.keeps else ' (breaks a guarantee)'}"
            for own in self.mechanisms
        ]
        best = f"best {format_about(self.best.value)}"
        return f"DesignComparison({self.best.utility.words()}: {'; '.join([best, *parts])})"


def compare(
    mechanisms: Iterable[Channel | Design] | Mapping[str, Channel | Design],
    prior: Prior | Mapping[Label, Any],
    **asked: Any,
) -> DesignComparison:
    """Compare given mechanisms with the best one under guarantees.

    Parameters
    ----------
    mechanisms : channels or designs, their inputs the secrets of the prior; a mapping gives them names
    prior : Prior or mapping, as for `design`
    **asked : as for `design`: guarantees and the utility

    Returns
    -------
    DesignComparison

    Raises
    ------
    InvalidInput
        When a mechanism is not about the prior's secrets.

    >>> from tightlip import Prior, log_of, mechanism
    >>> prior = Prior(["1/2", "3/10", "1/5"])
    >>> given = {"randomised response": mechanism.randomized_response(3, log_of(2))}
    >>> found = compare(given, prior, ldp=log_of(2), utility="mutual_information")
    >>> found.words().splitlines()[0].rpartition(", ")[2]
    '96.33 % of what is possible over releasing nothing.'
    """
    if isinstance(mechanisms, Mapping):
        given = dict(mechanisms)
    else:
        every = enumerate(listed(mechanisms, "mechanisms", "channels"), 1)
        given = {f"mechanism {place}": channel for place, channel in every}
    if not given:
        raise InvalidInput(
            "mechanisms must have at least one channel, got none; write compare([channel], prior, …)."
        )
    task = read_task(prior, **asked)
    prior, best = task.prior, task.solve()
    masses = tuple(prior.exact().masses)
    silent = Kernel(np.ones((1, len(masses)), dtype=object), 1)
    nothing, sign = task.utility.potential(masses, silent), -1 if task.utility.minimised else 1
    possible, room = up(sign * best.bound - nothing), _NOTHING * max(abs(nothing), abs(best.bound))
    found = []
    for name, channel in given.items():
        channel = channel.channel if isinstance(channel, Design) else channel
        kernel = _kernel(name, channel, prior)
        worth = task.utility.potential(masses, kernel)
        empty = np.zeros((len(masses), len(kernel.weights)), dtype=object)
        # what nothing is worth is rounded down too: here it is to be large
        share = max(down(down(worth - up(nothing)) / possible), 0.0) if room < possible < np.inf else None
        fitted = tuple(
            own.fitted(masses, kernel.weights.tolist(), kernel.scale) if isinstance(own, Envelope) else own
            for own in task.guarantees
        )
        found.append(
            ComparedMechanism(
                str(name),
                keeps(Problem(masses, empty, fitted), kernel),
                sign * worth,
                share,
                {
                    "pml": pml(channel, prior).worst,
                    "pmc": pmc(channel, prior).worst,
                    "ldp": ldp(channel),
                    "maximal_leakage": maximal_leakage(channel, prior),
                },
            )
        )
    return DesignComparison(best, sign * nothing, tuple(found))


def _kernel(name: object, channel: object, prior: Prior) -> Kernel:
    """Write a channel in whole numbers, in the order of the prior."""
    given = as_channel(channel, f"mechanisms[{quoted(name)}]").exact()
    try:
        order = match(prior.labels, given.inputs, f"inputs of {quoted(name)}", "the prior's labels")
    except InvalidInput as error:
        raise InvalidInput(f"mechanism {quoted(name)} must be about the prior's secrets: {error}") from error
    rows = dense(given.matrix)
    return Kernel(*whole(np.array((rows if order is None else rows[order]).T, dtype=object)))
