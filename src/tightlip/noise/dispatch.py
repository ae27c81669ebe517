"""The envelope of one noisy real value: which result applies to which secret and adversary, and how they compare.

| secret | any, deterministic | interval | binary |
|---|---|---|---|
| GaussianSecret | infinite, with the attack | exact (`monotone`) | log 1/δ |
| unbounded, Gaussian noise, Var[X|Y=y] ≤ ¾σ_N² | infinite, with the attack | exact, log 2/δ | log 1/δ |
| GaussianMixture, DistributionSecret, unbounded | infinite, with the attack | bracket (`intervals`) | log 1/δ |
| UniformSecret, DiscreteSecret, DistributionSecret, bounded | bracket (`bounded`) | bracket | refused |
| BoundedSecret | the range over every distribution | the same | refused |

Interval post-processing of Laplace noise on any but a GaussianSecret is refused.
"""

from __future__ import annotations

import math

from tightlip.arguments import choice
from tightlip.certificate.recomputation import (
    NOISE_BINARY_ENVELOPE,
    NOISE_DETERMINISTIC_ENVELOPE,
    NOISE_ENVELOPE,
    NOISE_ORDERED_ENVELOPE,
    certify_by_recomputation,
)
from tightlip.envelopes.result import ADVERSARIES, Adversary, Envelope, read_delta
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import BoundedSecret
from tightlip.noise.bounded import CELLS, bounded_envelope
from tightlip.noise.monotone import interval_envelope
from tightlip.noise.pointwise import require_release
from tightlip.noise.unbounded import UnboundedAttack, unbounded_attack, unbounded_envelope
from tightlip.numeric.quantity import Nats

_KINDS: dict[Adversary, str] = {
    "any": NOISE_ENVELOPE,
    "deterministic": NOISE_DETERMINISTIC_ENVELOPE,
    "ordered": NOISE_ORDERED_ENVELOPE,
    "binary": NOISE_BINARY_ENVELOPE,
}
_OTHERS: dict[str, Adversary] = {"any": "any", "ordered": "ordered", "event": "binary"}
_SYMBOLS = 10  # of the example of an attack without end


def envelope(
    release: AdditiveNoise, delta: object, *, adversary: Adversary = "any", cells: int = CELLS
) -> Envelope:
    """Compute ε(δ) of a noisy real value: the largest leakage some post-processing reaches with probability δ, in nats.

    Parameters
    ----------
    release : secret and noise
    delta : probability in (0, 1]; text like "0.1" is exact
    adversary : whose post-processing is meant: "any", "deterministic", "ordered" (monotone functions of Y)
        or "binary" (one event)
    cells : how finely Y is cut where there are two ends; they close in as it grows

    Returns
    -------
    Envelope in nats; `adversary` says whom it is for, `method` what is proved and how.

    Raises
    ------
    PreconditionFailed
        Where nothing is known for this secret and adversary; the message says what to use instead.
    InvalidInput, WrongType
        When an argument cannot be used.

    Reference: GAU paper, corrected; see the table at the top of this module.

    >>> from tightlip.noise import Gaussian
    >>> from tightlip.noise import GaussianSecret
    >>> release = AdditiveNoise(GaussianSecret(1), Gaussian(1))
    >>> envelope(release, "0.1").value, envelope(release, "0.1", adversary="ordered").value
    (inf nats, 2.9957322735539913 nats)
    """
    require_release(release)
    choice(adversary, "adversary", tuple(_KINDS))
    found = _envelope(release, delta, adversary, cells)
    return certify_by_recomputation(_KINDS[adversary], found, release=release, delta=found.delta, cells=cells)


def _envelope(release: AdditiveNoise, delta: object, adversary: Adversary, cells: int) -> Envelope:
    if adversary == "ordered":
        return interval_envelope(release, delta, cells=cells)
    if any(math.isinf(end) for end in release.secret.support):
        return unbounded_envelope(release, delta, adversary)
    if adversary == "binary":
        raise PreconditionFailed(
            f"adversary binary needs an unbounded secret, got {type(release.secret).__name__}; "
            'use adversary="any", whose upper end also holds for one event.'
        )
    return bounded_envelope(release, delta, adversary=adversary, cells=cells)


def comparisons(
    release: AdditiveNoise, delta: object, *, adversary: Adversary | None = None
) -> dict[str, Nats]:
    """Compute the guarantees at δ for every adversary of whom something is known, by name, in nats, rounded up.

    "range" is against any adversary and for every secret in the same range, where the secret has one; "any", "ordered"
    and "event" are about the secret itself. The one that is compared with them may be named, and is then left out; a
    deterministic adversary does as well as any, since Y is continuous.

    >>> from tightlip import noise
    >>> sorted(comparisons(noise.AdditiveNoise(noise.GaussianSecret(1), noise.Gaussian(1)), "1/10"))
    ['any', 'event', 'ordered']
    """
    require_release(release)
    wanted = read_delta(delta)
    if adversary is not None:
        choice(adversary, "adversary", ADVERSARIES)
    own = "any" if adversary == "deterministic" else adversary
    found = {}
    low, high = release.secret.support
    if math.isfinite(low) and low < high and not isinstance(release.secret, BoundedSecret):
        anyone = AdditiveNoise(BoundedSecret(low, high), release.noise)
        found["range"] = envelope(anyone, wanted).value
    for name, other in _OTHERS.items():
        if other == own:
            continue
        try:
            found[name] = envelope(release, wanted, adversary=other).value
        except PreconditionFailed:  # nothing is known of this adversary for this secret
            continue
    return found


def endless_attack(release: AdditiveNoise, delta: object) -> UnboundedAttack | None:
    """Build the attack that has no bound, at one size; None where its numbers cannot be certified."""
    try:
        return unbounded_attack(release, delta, _SYMBOLS)
    except (InvalidInput, NumericalFailure):
        return None
