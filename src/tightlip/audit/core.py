"""The envelope of many cells, solved over the few that matter.

At a small δ only the most telling cells take part in an attack. The others are lumped by the secret that they point to
most; that is a post-processing, so an attack on the core is an attack on the cells. The thresholds that prove the
core's upper end are then tried on all cells, which proves some upper end for them too, and the cells that the
thresholds would use although they are lumped join the core. When there are none left, both ends are the same.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tightlip.audit.leakage import cell_pml
from tightlip.audit.tally import Places, Tally
from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.envelope.dual import proved_ratio
from tightlip.envelope.exact import envelope
from tightlip.envelope.pairs import Pairs, pairs_of
from tightlip.envelope.result import Envelope
from tightlip.measure.joint import join
from tightlip.model.channel import Channel
from tightlip.model.prior import Prior
from tightlip.numeric.ball import log_bounds
from tightlip.numeric.parse import FloatArray

MANY_CELLS = 2_000
_ROUNDS = 12
_FIRST = 3  # times δ: the probability of the cells in the first core
_ROOM = 0.8  # of the cells; a larger core is not worth it
ROUNDED = Fraction(1, 2**47)  # floats of a core and of its cells differ by less, relative


def core_envelope(
    tally: Tally, channel: Channel, prior: Prior, delta: Fraction, gap: float
) -> Envelope | None:
    """ε_c(δ) of a float channel of many cells; None where a core is no help and all must be solved at once."""
    if tally.shape[1] < MANY_CELLS or tally.shape[0] <= 2:
        return None
    pairs = pairs_of(join(channel, prior))
    leak = cell_pml(tally)
    highest = float(np.exp(leak.upper.max())) * (1 + 1e-12)
    owner = tally.secret[leak.pair]
    inside = _first_core(tally, leak.upper, delta)
    for _ in range(_ROUNDS):
        if inside.mean() > _ROOM:
            return None
        group = _lumped(inside, owner)
        core = tally.with_cells(group)
        found = envelope(core.channel(), core.prior(), delta, gap=gap / 4)
        proof = found.certificate
        if not isinstance(proof, EnvelopeCertificate) or proof.upper.multipliers is None:
            return None
        thresholds = np.array(
            [float(proof.upper.ratio - 1 / Fraction(price)) for price in proof.upper.multipliers]
        )
        proved = proved_ratio(pairs, thresholds, float(delta), 1.0, highest)
        if proved <= float(proof.lower.ratio) * (1 + gap):
            return _expanded(channel, prior, delta, proof, group, thresholds, proved)
        wanted = _wanted(pairs, thresholds, float(proof.upper.ratio), inside)
        if not wanted.any():
            return None
        inside |= wanted
    return None


def _first_core(tally: Tally, leakage: FloatArray, delta: Fraction) -> NDArray[np.bool_]:
    """The most telling cells of a few times the probability."""
    order = np.argsort(-leakage, kind="stable")
    reached = np.cumsum(np.asarray(tally.of_cell[order] / tally.total, dtype=np.float64))
    inside = np.zeros(len(order), dtype=bool)
    inside[order[: int(np.searchsorted(reached, _FIRST * float(delta))) + 1]] = True
    return inside


def _lumped(inside: NDArray[np.bool_], owner: Places) -> Places:
    """A group for each cell of the core, and one for the other cells of each secret."""
    group = np.empty(len(inside), dtype=np.intp)
    group[inside] = np.arange(inside.sum())
    group[~inside] = inside.sum() + np.unique(owner[~inside], return_inverse=True)[1]
    return group


def _wanted(
    pairs: Pairs, thresholds: FloatArray, ratio: float, inside: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Lumped cells that the thresholds would use."""
    floor = thresholds[pairs.secret]
    gain = np.maximum.reduceat((pairs.chance - floor * pairs.weight) / (ratio - floor), pairs.starts)
    return (gain > 0) & ~inside


def _expanded(
    channel: Channel,
    prior: Prior,
    delta: Fraction,
    core: EnvelopeCertificate,
    group: Places,
    thresholds: FloatArray,
    proved: float,
) -> Envelope:
    """The core's attack and thresholds as a proof about all cells."""
    from scipy.sparse import csr_array

    prices = tuple(Fraction(price) for price in (1 / (proved - thresholds)).tolist())
    rows = csr_array(core.attack.floats)[group]
    attack = Channel(rows, None, core.attack.outputs)
    ratio, mass = core.lower.ratio * (1 - ROUNDED), core.lower.mass * (1 - ROUNDED)
    lower = LowerProof(ratio, mass, Attack.of(attack), core.lower.suspects)
    certificate = EnvelopeCertificate(channel, prior, UpperProof(Fraction(proved), delta, prices), lower)
    certificate.verify()
    high = max(log_bounds(Fraction(proved))[1], 0.0)
    low = min(max(log_bounds(certificate.lower_at(delta))[0], 0.0), high)
    method = f"linear program over {int(group.max()) + 1} of {len(group)} kinds of cell, proved for all"
    return Envelope(delta, low, high, method, certificate=certificate)
