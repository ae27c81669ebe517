"""Deterministic adversaries: the best map of outcomes to symbols without randomness.

Merging (restricted.py) keeps a map deterministic, so the best one is a set U of outcomes with P(U) ≥ δ, cut into bad
cells, and one cell with all other outcomes. With r(B) the ratio e^ℓ of cell B,
    best(U) = max over cells B of U that hold its first outcome of min(r(B), best(U∖B))
runs over all set partitions of all U in 3^M steps. All of it is done in rationals; where there are too many outcomes
a search is labelled as the heuristic it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.envelopes.restricted import Rationals, general_upper, read_symbols
from tightlip.envelopes.result import Envelope, read_delta, rest_label
from tightlip.measures.joint import ExactJoint, FloatJoint, exact_sum, join
from tightlip.model.channel import Channel
from tightlip.model.matrix import dense_columns
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray

_MOST_OUTCOMES = 13  # 3^13 = 1.6 million steps, 28 million set partitions
_STEPS = 36  # bisections of the search

Cells = list[list[int]]


def deterministic_attack(
    channel: Channel, prior: Prior, delta: object, *, symbols: int | None = None
) -> Envelope:
    """ε_d(δ): the largest leakage that a deterministic map of the outcome reaches with probability δ.

    Parameters
    ----------
    channel : Channel
    prior : Prior
    delta : number in (0, 1]
    symbols : int, optional
        At most so many symbols; any number by default.

    Returns
    -------
    Envelope
        In nats. With at most 13 possible outcomes all set partitions are searched in rationals: the ends
        differ by rounding only and `method` says "enumeration". With more, `method` says "heuristic", `lower`
        is what the attack found reaches, and `upper` a bound that no adversary exceeds.

    >>> from tightlip import Prior, papers
    >>> deterministic_attack(papers.env_example_1(), Prior.uniform(4), "1/5")
    Envelope(delta=1/5, 0.182321 to 0.182322 nats, adversary: deterministic, by enumeration of set partitions)
    """
    wanted, count = read_delta(delta), read_symbols(symbols)
    joint = join(channel, prior)
    size = len(joint.places)
    few = count if count is not None and count < size else None
    suffix = "" if few is None else f" with at most {few} symbols"
    if size <= _MOST_OUTCOMES:
        ratio, cells = _enumerate(Rationals.of(joint), wanted, few)
        lower, upper = (max(0.0, end) for end in log_bounds(ratio))
        method = f"enumeration of set partitions{suffix}"
    else:
        cells = _search(joint, wanted, few)
        ratio = _evaluate(joint, cells, wanted)
        lower = max(0.0, log_bounds(ratio)[0])
        upper = general_upper(channel, prior, wanted, joint, few)
        method = f"heuristic: greedy cover and bisection{suffix}; upper end from general bounds"
    attack = _deterministic_channel(channel, joint, cells, ratio)
    return Envelope(wanted, lower, upper, method, "deterministic", attack)


def _enumerate(exact: Rationals, delta: Fraction, symbols: int | None) -> tuple[Fraction, Cells]:
    """Enumerate partitions for the best ratio and its cells, the rest last."""
    masses = _subset_sums(exact.marginal)
    peaks = np.max([_subset_sums(row) for row in exact.rows], axis=0)
    ratios = [peak / mass for peak, mass in zip(peaks[1:], masses[1:], strict=True)]
    levels = sorted(set(ratios))
    position = {ratio: rank for rank, ratio in enumerate(levels)}
    ranks = np.array([-1, *(position[ratio] for ratio in ratios)], dtype=np.int64)
    best, cut = _covers(ranks, len(exact.marginal), symbols)
    reach = np.array([mass >= min(delta, masses[-1]) for mass in masses], dtype=bool)
    value = np.where(reach, best[-1 if symbols is None else -2], -1)
    value[-1] = best[-1, -1]  # all symbols bad: no rest needed
    chosen = int(np.argmax(value))
    layer = best.shape[0] - (1 if symbols is None or chosen == len(value) - 1 else 2)
    cells = _cells(cut, chosen, layer, symbols is not None)
    rest = (len(value) - 1) & ~chosen
    return levels[value[chosen]], [_members(cell) for cell in [*cells, *([rest] if rest else [])]]


def _subset_sums(values: Sequence[Fraction]) -> NDArray[Any]:
    """Add up over each set of places, sets being read as binary numbers."""
    sums = np.array([Fraction(0)], dtype=object)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _covers(
    ranks: NDArray[np.int64], size: int, symbols: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """best[j, U]: the largest least rank of at most j cells that make up U (any number where symbols is None).

    Row 0 is no cells at all; cut[j, U] is the cell of U's first outcome.
    """
    layers = 1 if symbols is None else symbols
    best = np.full((layers + 1, 1 << size), -1, dtype=np.int64)
    best[:, 0] = np.iinfo(np.int64).max
    cut = np.zeros_like(best)
    earlier = best[1:] if symbols is None else best[:-1]
    for subset in range(1, 1 << size):
        first = subset & -subset
        cells = _subsets(subset ^ first) | first
        values = np.minimum(ranks[cells], earlier[:, subset ^ cells])
        pick = values.argmax(axis=1)
        best[1:, subset] = values[np.arange(layers), pick]
        cut[1:, subset] = cells[pick]
    return best, cut


def _subsets(subset: int) -> NDArray[np.int64]:
    found = np.zeros(1, dtype=np.int64)
    while subset:
        bit = subset & -subset
        found = np.concatenate([found, found | bit])
        subset ^= bit
    return found


def _cells(cut: NDArray[np.int64], subset: int, layer: int, counted: bool) -> list[int]:
    cells = []
    while subset:
        cells.append(int(cut[layer, subset]))
        subset ^= cells[-1]
        layer -= counted
    return cells


def _members(subset: int) -> list[int]:
    return [place for place in range(subset.bit_length()) if subset >> place & 1]


def _search(joint: ExactJoint | FloatJoint, delta: Fraction, symbols: int | None) -> Cells:
    """Cells from the highest level at which a greedy cover has mass δ; at worst the best single event."""
    rows = dense_columns(joint.given_matrix, joint.places).astype(np.float64)
    marginal = joint.probabilities()
    wanted = min(float(delta), float(marginal.sum())) * (1 - 1e-12)
    orders = 6 if rows.size <= 100_000 else 1
    low, high, found = 1.0, float((rows.max(axis=0) / marginal).max()), None
    for _ in range(_STEPS):
        middle = math.sqrt(low * high) if found is not None else low + (high - low) / 2
        owners = _any_cover(rows, marginal, middle, wanted, symbols, orders)
        if owners is None:
            high = middle
        else:
            low, found = middle, owners
    candidates = [_single_event(rows, marginal, wanted)] if symbols != 1 else [np.zeros(len(marginal), int)]
    if found is not None:
        candidates.append(found)
    return max(map(_group_by_owner, candidates), key=lambda cells: _evaluate(joint, cells, delta))


def _any_cover(
    rows: FloatArray, marginal: FloatArray, level: float, wanted: float, symbols: int | None, orders: int
) -> NDArray[np.int64] | None:
    """Owners of a cover at this level, from several orders; None if no order has the mass."""
    rng = np.random.default_rng(0)
    for attempt in range(orders):
        noise = 1.0 if attempt == 0 else rng.uniform(0.5, 1.5, len(marginal))
        owners = _cover(rows, marginal, level, wanted, np.arange(len(rows)), noise)
        if symbols is not None and not _fits(owners, symbols):
            held = np.bincount(owners + 1, weights=marginal, minlength=len(rows) + 1)[1:]
            few = np.argsort(-held)[: symbols - 1]
            owners = _cover(rows, marginal, level, wanted, few, noise)
        if marginal[owners >= 0].sum() >= wanted:
            return owners
    return None


def _fits(owners: NDArray[np.int64], symbols: int) -> bool:
    return len(np.unique(owners)) <= symbols


def _cover(
    rows: FloatArray,
    marginal: FloatArray,
    level: float,
    wanted: float,
    suspects: NDArray[np.intp],
    noise: FloatArray | float,
) -> NDArray[np.int64]:
    """Give each outcome to the suspect it costs least while the suspect's pool of slack lasts; −1 is the rest."""
    owners = np.full(len(marginal), -1)
    if not len(suspects):
        return owners
    slack = rows[suspects] - level * marginal
    peak = slack.max(axis=0)
    owners[peak >= 0] = slack.argmax(axis=0)[peak >= 0]
    pools = np.bincount(owners[peak >= 0], weights=peak[peak >= 0], minlength=len(suspects))
    mass = float(marginal[peak >= 0].sum())
    for place in np.argsort(-peak / marginal * noise, kind="stable").tolist():
        if mass >= wanted:
            break
        left = np.where(pools + slack[:, place] >= 0, slack[:, place], -np.inf)
        owner = int(left.argmax())
        if owners[place] < 0 and left[owner] > -np.inf:
            owners[place] = owner
            pools[owner] += slack[owner, place]
            mass += marginal[place]
    owners[owners >= 0] = suspects[owners[owners >= 0]]
    return owners


def _single_event(rows: FloatArray, marginal: FloatArray, wanted: float) -> NDArray[np.int64]:
    """Take the outcomes of largest lift for one secret, until they have the mass."""
    best, event = -1.0, np.zeros(0, dtype=np.intp)
    for row in rows:
        order = np.argsort(-row / marginal)
        masses = np.cumsum(marginal[order])
        count = min(int(np.searchsorted(masses, wanted)), len(row) - 1) + 1
        ratio = float(row[order[:count]].sum() / masses[count - 1])
        if ratio > best:
            best, event = ratio, order[:count]
    owners = np.full(len(marginal), -1)
    owners[event] = 0
    return owners


def _group_by_owner(owners: NDArray[np.int64]) -> Cells:
    """Group outcomes to cells by owner, the rest last."""
    names = [name for name in np.unique(owners) if name >= 0]
    groups = [np.flatnonzero(owners == name).tolist() for name in [*names, -1]]
    return [group for group in groups if group]


def _evaluate(joint: ExactJoint | FloatJoint, cells: Cells, delta: Fraction) -> Fraction:
    """Compute the right quantile of a deterministic map, as a ratio, from the stored numbers."""
    weighed = (_weigh_cell(joint, cell) for cell in cells)
    found = sorted(((max(likelihoods) / mass, mass) for likelihoods, mass in weighed), reverse=True)
    total = Fraction(0)
    for ratio, mass in found:
        total += mass
        if total >= delta:
            return ratio
    return found[-1][0]


def _weigh_cell(joint: ExactJoint | FloatJoint, cell: list[int]) -> tuple[list[Fraction], Fraction]:
    """Compute the probability of a cell given each possible secret, and of the cell."""
    likelihoods = [
        exact_sum(row) for row in dense_columns(joint.given_matrix, joint.places[np.asarray(cell)])
    ]
    weights = (Fraction(mass) for mass in joint.given_weights.tolist())
    return likelihoods, sum((p * entry for p, entry in zip(weights, likelihoods, strict=True)), Fraction(0))


def _deterministic_channel(
    channel: Channel, joint: ExactJoint | FloatJoint, cells: Cells, ratio: Fraction
) -> Channel:
    """Write the attack down: one symbol for each secret that a cell of this ratio points to, and one for the rest."""
    owned: dict[int, list[int]] = {}
    for cell in cells:
        likelihoods, mass = _weigh_cell(joint, cell)
        peak = max(likelihoods)
        owned.setdefault(likelihoods.index(peak) if peak >= ratio * mass else -1, []).extend(cell)
    rest = owned.pop(-1, None)
    names = [joint.secrets[secret] for secret in owned]
    groups = list(owned.values())
    if rest is not None:
        groups, names = [*groups, rest], [*names, rest_label(names)]
    rows = np.zeros((channel.shape[1], len(groups)))
    rows[:, -1] = 1.0  # also the impossible outcomes
    for symbol, group in enumerate(groups):
        places = joint.places[np.asarray(group)]
        rows[places, -1], rows[places, symbol] = 0.0, 1.0
    return Channel(rows, channel.outputs, names)
