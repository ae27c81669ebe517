"""The entry of this package: the envelope against the adversary that one names.

| adversary | who | how |
|---|---|---|
| any | any randomised function of the outcome | `exact`, with a short proof |
| ordered | deterministic monotone functions of outcomes ordered as listed | `ordered`, with a short proof |
| deterministic | functions without randomness, to at most `symbols` symbols if given | `deterministic` |
| k-ary | randomised functions to at most `symbols` symbols | `kary` |
| binary | one randomised event | `binary` |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tightlip.arguments import choice
from tightlip.certificate.recomputation import (
    BINARY_ENVELOPE,
    DETERMINISTIC_ENVELOPE,
    K_ARY_ENVELOPE,
    certify_by_recomputation,
)
from tightlip.envelopes.binary import binary_envelope, binary_envelope_curve
from tightlip.envelopes.curve import EnvelopeCurve
from tightlip.envelopes.deterministic import deterministic_attack
from tightlip.envelopes.exact import GAP
from tightlip.envelopes.exact import envelope_points as any_points
from tightlip.envelopes.kary import kary_attack
from tightlip.envelopes.ordered import ordered_points
from tightlip.envelopes.result import ADVERSARIES, Adversary, Envelope, read_delta, read_deltas
from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel, align
from tightlip.model.prior import Prior


def envelope(
    channel: Channel,
    prior: Prior,
    delta: Any,
    *,
    adversary: Adversary = "any",
    symbols: int | None = None,
    gap: float = GAP,
) -> Envelope:
    """Compute the PML envelope ε(δ): the largest leakage that some post-processing reaches with probability δ.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : probability in (0, 1]
    adversary : whose post-processing is meant: "any", "ordered" (monotone functions of outcomes ordered as listed),
        "deterministic", "k-ary" or "binary" (one event)
    symbols : how many symbols a k-ary adversary may use; a deterministic one may use any number without it
    gap : the relative gap allowed between the ends of e^ε against any post-processing; the other adversaries' ends are
        as close as they can be made

    Returns
    -------
    Envelope
        Two sound ends in nats, the attack that reaches the lower one, and for "any" and "ordered" the certificate of
        both.

    Raises
    ------
    InvalidInput, WrongType
        When an argument cannot be used, or `symbols` is missing or given to an adversary that has no use for it.

    Reference: ENV paper; proofs in docs/envelope.md.

    >>> from tightlip import papers, Prior
    >>> channel, prior = papers.env_example_1(), Prior.uniform(4)
    >>> found = envelope(channel, prior, "0.2")
    >>> round(float(found.value), 9), round(found.gap, 6)
    (0.893817876, 0.0)
    >>> found.verify()
    >>> envelope(channel, prior, "0.2", adversary="binary")
    Envelope(delta=1/5, 0.510825 to 0.510826 nats, adversary: binary, by sorting outcomes by lift)
    """
    (found,) = envelope_points(
        channel, prior, [read_delta(delta)], adversary=adversary, symbols=symbols, gap=gap
    )
    return found


def envelope_curve(
    channel: Channel,
    prior: Prior,
    deltas: Iterable[Any],
    *,
    adversary: Adversary = "any",
    symbols: int | None = None,
    gap: float = GAP,
) -> EnvelopeCurve:
    """Compute the envelope at several δ, in the order given; work is shared between them.

    The points are those of `envelope`; those of a binary adversary are without their attacks. Against any
    post-processing and up to 10⁵ pairs of secret and outcome each point's proof is checked before it is returned: in
    floats with a bound on every rounding, and in rationals where these cannot tell. `verify()` of a point does it in
    rationals.

    >>> from tightlip import papers, Prior
    >>> curve = envelope_curve(papers.env_example_1(), Prior.uniform(4), ["0.1", "0.5"])
    >>> [round(point.upper, 6) for point in curve]
    [1.386294, 0.412845]
    """
    wanted = read_deltas(deltas)
    _check_adversary(adversary, symbols)
    if adversary == "binary":
        points = iter(binary_envelope_curve(channel, prior, wanted))
        return EnvelopeCurve(_recomputed(points, BINARY_ENVELOPE, channel, prior))
    # an attack for a larger δ serves a smaller one
    order = sorted(dict.fromkeys(wanted), key=float, reverse=True)
    points = envelope_points(channel, prior, order, adversary=adversary, symbols=symbols, gap=gap)
    found = dict(zip(order, points, strict=True))
    return EnvelopeCurve(found[delta] for delta in wanted)


def envelope_points(
    channel: Channel,
    prior: Prior,
    deltas: Iterable[Any],
    *,
    adversary: Adversary = "any",
    symbols: int | None = None,
    gap: float = GAP,
) -> Iterator[Envelope]:
    """Find the points of a curve one after the other, with attacks, in the order given; falling δ is fastest."""
    wanted = read_deltas(deltas)
    _check_adversary(adversary, symbols)
    if adversary == "any":
        return any_points(channel, prior, wanted, gap=gap)
    if adversary == "ordered":
        return ordered_points(channel, prior, wanted)
    if adversary == "binary":
        events = (binary_envelope(channel, prior, delta) for delta in wanted)
        return _recomputed(events, BINARY_ENVELOPE, channel, prior)
    many = adversary == "k-ary"
    attack = kary_attack if many else deterministic_attack
    found = (attack(channel, prior, delta, symbols=symbols) for delta in wanted)
    kind = K_ARY_ENVELOPE if many else DETERMINISTIC_ENVELOPE
    return _recomputed(found, kind, channel, prior, symbols=symbols)


def _recomputed(
    points: Iterator[Envelope], kind: str, channel: Channel, prior: Prior, **options: Any
) -> Iterator[Envelope]:
    """The points, each with a certificate that finds it again."""
    own = {"channel": channel, "prior": align(prior, channel), **options}
    return (certify_by_recomputation(kind, point, delta=point.delta, **own) for point in points)


def _check_adversary(adversary: Adversary, symbols: int | None) -> None:
    choice(adversary, "adversary", ADVERSARIES)
    if adversary == "k-ary" and symbols is None:
        raise InvalidInput('symbols must be given for adversary "k-ary", got None; write symbols=2.')
    if symbols is not None and adversary not in ("k-ary", "deterministic"):
        raise InvalidInput(
            f'symbols must be left out for adversary "{adversary}", got symbols={symbols!r}; it is for "k-ary" and '
            '"deterministic".'
        )
