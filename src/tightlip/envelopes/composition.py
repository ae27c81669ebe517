"""Several releases about one secret: the joint channel where it is small, a bound where it is not.

Joint outcomes that say the same about the secret (proportional columns) are merged, which changes no
envelope, so `envelope(compose([first, second]), prior, delta)` is exact for the whole. Where the joint
channel is too large, or later releases depend on earlier ones, maximal leakage adds up (ENV, section IV-A):
    ε_c(δ) ≤ Σ_i ℒ(Y_i | Y^{i−1}) + log 1/δ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from tightlip.arguments import listed, whole
from tightlip.envelopes.histograms import exact_histograms, float_histograms, histogram_count
from tightlip.envelopes.result import read_delta
from tightlip.errors import InvalidInput, ShapeMismatch, quoted
from tightlip.model.channel import Channel, as_channel
from tightlip.model.labels import Label, match
from tightlip.model.matrix import REDUCE_TOLERANCE, dense, merge_proportional, multiply
from tightlip.numeric.ball import Ball, ball, enclose
from tightlip.numeric.quantity import Nats, exact_ratio, level

_MAX_FLOATS = 5_000_000
_MAX_RATIONALS = 1_000_000


def compose(channels: Sequence[Channel]) -> Channel:
    """Compose channels that run independently on one secret, joint outcomes that say the same merged.

    Parameters
    ----------
    channels : sequence of Channel
        With the same secrets. Exact if all are exact; floats are merged within a relative 1e-12, as
        `Channel.reduce` does.

    Returns
    -------
    Channel
        An outcome is labelled by the first joint outcome (y₁, …, y_n) of those merged into it.

    Raises
    ------
    ShapeMismatch
        If the secrets differ, or the joint channel is too large.
    InvalidInput
        If a probability is too small for a float.

    >>> from tightlip import Channel
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], outputs=["h", "t"])
    >>> compose([coin, coin]).outputs
    [('h', 'h'), ('h', 't'), ('t', 't')]
    """
    parts = _read(channels)
    exact = all(part.is_exact for part in parts)
    first = parts[0]
    rows, labels = _merge_outcomes(_rows(first, first, exact), [(label,) for label in first.outputs])
    for part in parts[1:]:
        other, names = _merge_outcomes(_rows(part, first, exact), list(part.outputs))
        columns = rows.shape[1] * other.shape[1]
        _require_size(rows.shape[0], columns, exact, "composed channel")
        joint = multiply(rows[:, :, None], other[:, None, :], "composed channel")
        pairs = [(*earlier, name) for earlier in labels for name in names]
        rows, labels = _merge_outcomes(joint.reshape(-1, columns), pairs)
    return Channel(rows, first.inputs, labels)


def power(channel: Channel, uses: int) -> Channel:
    """Compose a channel with itself, run `uses` times independently on one secret, by the histogram of its outcomes.

    Parameters
    ----------
    channel : Channel
        Reduced first. Entries of the result are rationals if it is exact, and otherwise floats with a
        relative error of (2m + 2)·2⁻⁵³ for m reduced outcomes.
    uses : int
        At least 1.

    Returns
    -------
    Channel
        C(n + m − 1, m − 1) outcomes, or fewer where histograms say the same, labelled by how often each
        reduced outcome came up.

    Raises
    ------
    ShapeMismatch
        If there would be too many histograms.
    InvalidInput
        If a probability is too small for a float.

    >>> from tightlip import Channel
    >>> power(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), 2).matrix[0]
    array([Fraction(9, 16), Fraction(3, 8), Fraction(1, 16)], dtype=object)
    """
    as_channel(channel)
    uses = whole(uses, "uses", 1)
    rows, _ = _merge_outcomes(_rows(channel, channel, channel.is_exact), list(channel.outputs))
    _require_size(
        rows.shape[0],
        histogram_count(uses, rows.shape[1]),
        channel.is_exact,
        f"uses={quoted(uses)}: the channel",
    )
    spread = exact_histograms if channel.is_exact else float_histograms
    joint, labels = spread(rows, uses)
    return Channel(joint, channel.inputs, labels)


def composition_bound(leakages: Iterable[float], delta: object) -> Nats:
    """Bound ε_c(δ) ≤ Σ_i ℒ(Y_i | Y^{i−1}) + log 1/δ for releases that may depend on earlier ones, rounded up.

    Parameters
    ----------
    leakages : numbers of nats
        Of each release, its (conditional) maximal leakage, as `maximal_leakage` and
        `conditional_maximal_leakage` give it; one rounded down is refused.
    delta : number
        In (0, 1].

    >>> from tightlip import Channel
    >>> from tightlip import maximal_leakage
    >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> composition_bound([maximal_leakage(coin)] * 2, "1/10").ratio
    Fraction(45, 2)
    """
    amounts = [
        _leakage(amount, place)
        for place, amount in enumerate(listed(leakages, "leakages", "numbers of nats"))
    ]
    if not amounts:
        raise InvalidInput("leakages must not be empty, got none; give one for each release.")
    wanted = read_delta(delta)
    ratios = [exact_ratio(amount) for amount in amounts]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) == len(amounts):
        return Nats.of_ratio(math.prod(known, start=Fraction(1)) / wanted)
    rest = [float(amount) for amount, ratio in zip(amounts, ratios, strict=True) if ratio is None]

    def total() -> Ball:
        logarithms = ball(math.prod(known, start=Fraction(1)) / wanted).log()
        return sum((ball(amount) for amount in rest), logarithms)

    return Nats(max(0.0, enclose(total)[1]))


def _leakage(amount: object, place: int) -> float:
    value = level(amount, f"leakages entry {place}")
    if isinstance(value, Nats) and value.ratio is None and value.rounding != "up":
        raise InvalidInput(
            f"leakages entry {place} must be rounded up to bound anything, got {float(value)!r} rounded "
            f"{value.rounding}; give the guarantee, not the attack."
        )
    return value


def _read(channels: Sequence[Channel]) -> list[Channel]:
    parts = [
        as_channel(part, f"channels entry {place}")
        for place, part in enumerate(listed(channels, "channels", "Channels"))
    ]
    if not parts:
        raise InvalidInput("channels must not be empty, got none; give at least one.")
    return parts


def _rows(part: Channel, first: Channel, exact: bool) -> Any:
    """Put the entries in the order of the first channel's secrets."""
    rows = dense(part.matrix if exact else part.floats)
    order = match(first.inputs, part.inputs, "inputs of a later channel", "the first channel's inputs")
    return rows if order is None else rows[order]


def _merge_outcomes(rows: Any, labels: list[Label]) -> tuple[Any, list[Label]]:
    merged, groups = merge_proportional(rows, REDUCE_TOLERANCE)
    return merged, [labels[group[0]] for group in groups]


def _require_size(rows: int, columns: int, exact: bool, what: str) -> None:
    most = _MAX_RATIONALS if exact else _MAX_FLOATS
    if rows * columns > most:
        kind = "rational" if exact else "float"
        raise ShapeMismatch(
            f"{what} would have {rows} × {quoted(columns)} {kind} entries, more than {most}; "
            "use composition_bound, which adds maximal leakages, instead."
        )
