"""What the envelope of one noisy value may be compared with: other adversaries, and every secret in its range."""

from __future__ import annotations

import math

from tightlip.arguments import choice
from tightlip.envelopes.result import ADVERSARIES, Adversary, read_delta
from tightlip.errors import InvalidInput, NumericalFailure, PreconditionFailed
from tightlip.model.noise import AdditiveNoise
from tightlip.model.secret import BoundedSecret
from tightlip.noise.dispatch import envelope
from tightlip.noise.pointwise import require_release
from tightlip.noise.unbounded import UnboundedAttack, unbounded_attack
from tightlip.numeric.quantity import Nats

_OTHERS: dict[str, Adversary] = {"any": "any", "ordered": "ordered", "event": "binary"}
_SYMBOLS = 10  # of the example of an attack without end


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
    """The attack that has no bound, at one size; None where its numbers cannot be certified."""
    try:
        return unbounded_attack(release, delta, _SYMBOLS)
    except (InvalidInput, NumericalFailure):
        return None
