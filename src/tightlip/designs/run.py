"""`design`: the best mechanism for a prior, under guarantees, for a utility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tightlip.arguments import instance
from tightlip.designs.certificate import DesignCertificate
from tightlip.designs.frequency import NAME, FrequencyVariance
from tightlip.designs.guarantee import (
    Alip,
    Envelope,
    FloorPml,
    Guarantee,
    Ldp,
    Level,
    MaximalLeakage,
    SetPml,
    read_level,
    require_mixture,
    under_pml,
)
from tightlip.designs.information import read_information
from tightlip.designs.linear import ROOM
from tightlip.designs.result import Design
from tightlip.designs.utility import Found, Linear, Utility, read_linear
from tightlip.errors import InvalidInput, InvalidPrior, WrongType, quoted
from tightlip.measures.capacity import read_min_mass
from tightlip.mechanism import constant
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, match, show
from tightlip.model.prior import Prior, PriorSet, read_prior
from tightlip.model.prior_set import PriorBall, PriorList, PriorPolytope
from tightlip.numeric.display import format_about
from tightlip.numeric.parse import number

GUARANTEES = ("pml", "ldp", "pmc", "lip", "alip", "maximal_leakage", "envelope")

_THRESHOLDS = 12  # of an envelope, evenly spaced; each costs a solution
_HARDLY = 1e-6  # of what PML reaches: less than that is no gain
_NOISE = 1 + Fraction(1, 10**12)  # of a mass: floats that mean the same are no further apart


def design(
    prior: Prior | Mapping[Label, Any],
    *,
    pml: Any = None,
    ldp: Any = None,
    pmc: Any = None,
    lip: Any = None,
    alip: Any = None,
    maximal_leakage: Any = None,
    envelope: Any = None,
    min_mass: Any = None,
    priors: Any = None,
    secret: Channel | None = None,
    loss: Any = None,
    gain: Any = None,
    utility: str | None = None,
    outputs: Iterable[Label] | None = None,
) -> Design:
    """Find the best mechanism under guarantees, with a proof of how near to the best it is.

    Parameters
    ----------
    prior : Prior or mapping
        Of the secrets, all of positive mass; a mapping has a mass for each label.
    pml, ldp, pmc, lip, maximal_leakage : levels, optional
        In nats; "3x", "log(3)" and `log_of(3)` are exact. Any of them together, at least one.
    alip : pair of levels (lower, upper), optional
    envelope : pair (level, δ), optional
        No post-processing leaks more than the level with a probability above δ. PML of the same level implies it: the
        design has the one under PML beside it (`pml`), is at least as good, and tells what could be gained at most.
    min_mass : number, optional
        With `pml`: for every prior that gives each secret at least so much, (ε, c)-PML. `prior` must be one of them.
    priors : PriorSet, PriorBall, PriorList or PriorPolytope, optional
        With `pml`: for every prior of the set. `prior` is still what the utility is averaged over.
    secret : Channel, optional
        P(x | s) for each value s of a secret, with the prior's labels as outputs: `pml`, `pmc`, `lip` and `alip` are
        about s, and x is the data that is released.
    loss, gain : matrix or name
        A row for each secret and a column for each output; "hamming", "absolute", "squared" or "top-3". One of them, or
        `utility`.
    utility : "mutual_information", "chi_squared", "hellinger", "total_variation" or "frequency_variance"
        How much the output says about the secret, or how well frequencies can be estimated from outputs: N times their
        summed variance, of N people. Outputs are free.
    outputs : labels of the outputs, optional

    Returns
    -------
    Design
        `channel`, `value`, `bound`, `verify()`, `save(path)`.

    Raises
    ------
    InvalidInput
        Naming the argument.

    >>> from tightlip import Prior, log_of
    >>> found = design(Prior(["1/2", "3/10", "1/5"]), pmc=log_of(2), loss="hamming")
    >>> found.value, found.channel.matrix[1].tolist()
    (0.31000000000000005, [Fraction(1, 4), Fraction(13, 20), Fraction(1, 10)])
    >>> found.verify()
    """
    task = read_task(
        prior,
        pml=pml,
        ldp=ldp,
        pmc=pmc,
        lip=lip,
        alip=alip,
        maximal_leakage=maximal_leakage,
        envelope=envelope,
        min_mass=min_mass,
        priors=priors,
        secret=secret,
        loss=loss,
        gain=gain,
        utility=utility,
        outputs=outputs,
    )
    return task.solve()


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A prior, guarantees and a utility, read and checked."""

    prior: Prior
    guarantees: tuple[Guarantee, ...]
    utility: Utility

    @property
    def room(self) -> Fraction:
        """How far channels stay inside: floats are measured with floats."""
        return Fraction(0) if self.prior.is_exact else ROOM

    def under(self, **asked: Any) -> Task:
        """Take the same prior and utility under other guarantees, as `design` has them."""
        levels = {name: asked.get(name) for name in GUARANTEES}
        beside = {name: asked.get(name) for name in ("min_mass", "priors", "secret")}
        return replace(self, guarantees=read_guarantees(self.prior, levels, **beside))

    def solve(self) -> Design:
        """Find the mechanism and prove it."""
        masses = tuple(self.prior.exact().masses)
        finds = [self.utility.find(masses, own, self.room) for own in self._variants()]
        plain = under_pml(self.guarantees)
        beside = None if plain is None else replace(self, guarantees=plain).solve()
        worth, found = max(
            ((self.utility.worth(masses, own.kernel), own) for own in finds), key=lambda pair: pair[0]
        )
        if beside is not None:
            other = _taken_over(finds[0], beside)
            known = self.utility.worth(masses, other.kernel)
            # what is hardly better is not worth the weaker promise
            if worth <= known + _HARDLY * abs(known):
                worth, found = known, other
        bound = max(self.utility.bound(masses, found.guarantees, found.proof), worth)
        lower, upper = (-bound, -worth) if self.utility.minimised else (worth, bound)
        proof = DesignCertificate(
            self.prior,
            found.guarantees,
            self.utility,
            found.kernel,
            found.proof,
            lower + 0.0,
            upper + 0.0,
            None if beside is None else beside.certificate,
        )
        return Design(
            proof.channel,
            self.prior,
            found.guarantees,
            self.utility,
            proof.lower,
            proof.upper,
            found.method,
            proof,
            beside,
        )

    def _variants(self) -> list[tuple[Guarantee, ...]]:
        """List the guarantees as they are, and with thresholds of an envelope to try."""
        found = [self.guarantees]
        for place, own in enumerate(self.guarantees):
            if isinstance(own, Envelope) and isinstance(self.utility, Linear):
                tries = [replace(own, threshold=threshold) for threshold in own.thresholds(_THRESHOLDS)]
                found += [(*self.guarantees[:place], one, *self.guarantees[place + 1 :]) for one in tries]
        return found


def _taken_over(found: Found, beside: Design) -> Found:
    """Take the mechanism of PML for an envelope without threshold, whose bounds on channels are the same."""
    return found._replace(kernel=beside.certificate.kernel, method=f"PML of the same level: {beside.method}")


def read_task(
    prior: Prior | Mapping[Label, Any],
    *,
    min_mass: Any = None,
    priors: Any = None,
    secret: Channel | None = None,
    loss: Any = None,
    gain: Any = None,
    utility: str | None = None,
    outputs: Iterable[Label] | None = None,
    **levels: Any,
) -> Task:
    """Read a prior, guarantees and a utility, as `design` has them."""
    unknown = [name for name in levels if name not in GUARANTEES]
    if unknown:
        known = (*GUARANTEES, "min_mass", "priors", "secret", "loss", "gain", "utility", "outputs")
        raise InvalidInput(
            f"arguments must be some of {', '.join(known)}, got {quoted(unknown[0])}; write pml=1.0 for a guarantee."
        )
    prior = _positive(prior)
    read = read_utility(prior, loss=loss, gain=gain, utility=utility, outputs=outputs)
    guarantees = read_guarantees(prior, levels, min_mass=min_mass, priors=priors, secret=secret)
    return Task(prior, guarantees, read)


def read_utility(
    prior: Prior | Mapping[Label, Any],
    *,
    loss: Any = None,
    gain: Any = None,
    utility: Any = None,
    outputs: Iterable[Label] | None = None,
) -> Utility:
    """Read what a mechanism is to be good for."""
    prior = _positive(prior)
    given = {"loss": loss, "gain": gain, "utility": utility}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise InvalidInput(
            f"one of loss, gain and utility must be given, got {' and '.join(named) or 'none'}; "
            'write loss="hamming".'
        )
    if utility is None:
        return read_linear(prior.labels, loss=loss, gain=gain, outputs=outputs)
    if outputs is not None:
        raise InvalidInput("outputs must not be given with utility: they are free; leave them out.")
    found = FrequencyVariance() if utility == NAME else read_information(utility)
    found.require(prior)
    return found


def read_guarantees(
    prior: Prior,
    levels: Mapping[str, Any],
    *,
    min_mass: Any = None,
    priors: Any = None,
    secret: Channel | None = None,
) -> tuple[Guarantee, ...]:
    """Read guarantees; at least one must be given."""
    about = None if secret is None else _read_secret(secret, prior)
    found: list[Guarantee] = []
    if levels.get("pml") is not None:
        found.append(_read_pml(_level(levels["pml"], "pml", about), prior, min_mass, priors, about))
    elif min_mass is not None or priors is not None:
        given = "min_mass" if min_mass is not None else "priors"
        raise InvalidInput(f"{given} must stand beside pml, got no pml; write pml=1.0 too.")
    if levels.get("pmc") is not None:
        found.append(Alip(_level(levels["pmc"], "pmc", about), None, about))
    if levels.get("lip") is not None:
        both = _level(levels["lip"], "lip", about)
        found.append(Alip(both, both, about))
    if levels.get("alip") is not None:
        lower, upper = _pair(levels["alip"], "alip", "(lower, upper) in nats")
        found.append(Alip(_level(lower, "alip lower", about), _level(upper, "alip upper", about), about))
    if levels.get("ldp") is not None:
        found.append(Ldp(_level(levels["ldp"], "ldp")))
    if levels.get("maximal_leakage") is not None:
        found.append(MaximalLeakage(_level(levels["maximal_leakage"], "maximal_leakage")))
    if levels.get("envelope") is not None:
        found.append(_read_envelope(levels["envelope"]))
    if not found:
        raise InvalidInput(
            f"a guarantee must be given: one of {', '.join(GUARANTEES)}, got none; write pml=1.0, or ldp=1.0."
        )
    return tuple(found)


def _read_pml(level: Level, prior: Prior, min_mass: Any, priors: Any, about: Channel | None) -> Guarantee:
    """PML under the prior, under all of Q(c), or under all priors of a set."""
    given = [
        name
        for name, own in (("min_mass", min_mass), ("priors", priors), ("secret", about))
        if own is not None
    ]
    if len(given) > 1:
        raise InvalidInput(
            f"pml must have at most one of min_mass, priors and secret, got {' and '.join(given)}."
        )
    if isinstance(priors, PriorSet):
        if priors.secrets not in (None, len(prior)):
            raise InvalidInput(f"priors must be about {len(prior)} secrets, got {priors.secrets}.")
        min_mass = priors.min_mass
    if min_mass is not None:
        mass = _floor(min_mass, prior)
        return FloorPml(level, mass) if mass else Ldp(level)
    if priors is None:
        return Alip(None, level, about)
    if not isinstance(priors, (PriorBall, PriorList, PriorPolytope)):
        raise WrongType(
            f"priors must be a PriorSet, PriorBall, PriorList or PriorPolytope, got {quoted(priors)}; "
            "write PriorSet(min_mass=0.1)."
        )
    secrets = constant(prior.labels if prior.labels.given else len(prior))
    found = SetPml(level, priors, secrets)
    found.require(prior)
    return found.refine([[1] * len(prior)])


def _floor(min_mass: Any, prior: Prior) -> Fraction:
    """Read c, which the prior must keep; a float just above the least mass means that mass."""
    mass, exact = read_min_mass(min_mass, len(prior))
    masses: list[Fraction] = prior.exact().masses.tolist()
    least = min(masses)
    if mass > (least if exact and prior.is_exact else least * _NOISE):
        raise InvalidPrior(
            f"min_mass must be at most the least mass of the prior, {format_about(least)} of "
            f"{show(prior.labels[masses.index(least)])}, got {quoted(min_mass)}; the guarantee would not be about this "
            "prior: lower it, or give the secret more mass."
        )
    return min(mass, least)


def _read_envelope(value: Any) -> Envelope:
    level, delta = _pair(value, "envelope", "(level in nats, δ)")
    share = Fraction(number(delta, "envelope δ"))
    if not 0 < share < 1:
        raise InvalidInput(f"envelope δ must be in (0, 1), got {quoted(delta)}; with δ = 0 it is pml.")
    return Envelope(_level(level, "envelope level"), share)


def _read_secret(secret: object, prior: Prior) -> Channel:
    """Read P(x | s), in the order of the prior; the prior must be a mixture of its rows."""
    given = instance(secret, Channel, "secret", "write Channel(rows) with a row P(x | s) for each value s")
    order = match(prior.labels, given.outputs, "outputs of secret", "the prior's labels")
    if order is not None:
        given = Channel(given.matrix[:, order], given.inputs, prior.labels)
    require_mixture(prior, given)
    return given


def _level(value: Any, argument: str, about: Channel | None = None) -> Level:
    found = read_level(value, argument)
    if about is not None and found == 0:
        raise InvalidInput(
            f"{argument} about a secret must be positive, got 0; write 0.01 for almost nothing."
        )
    return found


def _pair(value: Any, argument: str, what: str) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise WrongType(f"{argument} must be a pair {what}, got {quoted(value)}; write (1.0, 0.5).")
    return value[0], value[1]


def _positive(given: Prior | Mapping[Label, Any]) -> Prior:
    """Read a prior that gives every secret a positive mass."""
    prior = read_prior(given)
    zeros = [label for label, mass in zip(prior.labels, prior.masses, strict=True) if not mass]
    if zeros:
        raise InvalidPrior(
            f"prior must give every secret a positive mass, got 0 for {show(zeros[0])}; a mechanism has a row for each "
            "secret that can occur: leave it out with prior.restricted(), or give it mass."
        )
    return prior
