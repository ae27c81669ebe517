"""The envelope over a set of priors: sup over p of ε_c(δ; p), between two proved ends.

Lower end: the envelope, with its attack, under one prior of the set, found by a search. Upper end: multipliers that are
valid for every prior of the set (proof.py), on cells of the set (cells.py) where it has few corners, and by chords on
the whole set where it has many. A list of priors is no search: the largest of its envelopes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tightlip.arguments import whole
from tightlip.certificate.envelope import EnvelopeCertificate
from tightlip.certificate.rational import rational
from tightlip.envelopes.adversaries import envelope as one_prior_envelope
from tightlip.envelopes.result import Envelope, read_delta
from tightlip.errors import CertificateInvalid, InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.prior_set import AnyPriorSet, PriorList
from tightlip.numeric.display import several
from tightlip.numeric.parse import FloatArray, float_number
from tightlip.robust.cells import DualBound, partition
from tightlip.robust.certificate import ListCertificate, RegionCertificate, RobustCertificate
from tightlip.robust.corners import Cover, Simplex, cover_of
from tightlip.robust.proof import CellsProof, Chords, Likelihoods, WholeProof
from tightlip.robust.region import Region, mean, region_of
from tightlip.robust.result import RobustEnvelope, log_ends
from tightlip.robust.worst_prior import Seeker, seek

_SLACKS = [Fraction(1, 10**power) for power in (12, 10, 8)]
_LEAST_DELTA = 1e-300  # the search divides by it in floats
_MOST_WORK = 100_000  # numbers looked at in all cells

Upper = tuple[CellsProof | WholeProof, Fraction, str]


def envelope(
    channel: Channel,
    prior_set: AnyPriorSet,
    delta: Any,
    *,
    gap: float = 1e-4,
    cells: int = 200,
    tries: int = 120,
) -> RobustEnvelope:
    """sup over the priors of a set of ε_c(δ): the largest leakage that survives with probability δ under some prior.

    Parameters
    ----------
    channel : Channel
    prior_set : PriorSet, PriorBall, PriorList or PriorPolytope
    delta : probability in (0, 1]
    gap : float
        The relative gap between the ends of e^ε at which the search may stop.
    cells, tries : int
        The most cells for the upper end (fewer for a large channel) and the most priors tried for the lower one.

    Returns
    -------
    RobustEnvelope
        Two sound ends in nats, never one number that pretends to be exact; the prior and attack that reach the lower
        one; a certificate of both.

    >>> from tightlip import papers, PriorSet
    >>> found = envelope(papers.env_example_1(), PriorSet(min_mass="1/8"), "0.2")
    >>> round(found.lower, 3), found.upper - found.lower < 2e-4, found.prior in PriorSet(min_mass="1/8")
    (0.968, True, True)
    >>> found.verify()
    """
    wanted, allowed = read_delta(delta), _read_gap(gap)
    if wanted < _LEAST_DELTA:
        raise InvalidInput(
            f"delta must be at least {_LEAST_DELTA}, got {quoted(delta)}; robust_maximal_leakage is for no δ at all."
        )
    region = region_of(prior_set, channel)
    if isinstance(region, tuple):
        assert isinstance(prior_set, PriorList)
        return _over_list(channel, prior_set, wanted)
    known = Likelihoods.of(channel, region)
    mass = known.reachable(wanted)
    cover, most, allowed_tries = cover_of(region), _count(cells, "cells"), _count(tries, "tries")
    seeker = Seeker(channel, wanted, tries=allowed_tries)
    if cover is not None and cover.divisible:
        seeker.tries = -(-allowed_tries // 2)  # the other half for the middles of cells
    seek(seeker, region, known.columns)
    seeker.tries = allowed_tries
    uppers = [] if cover is None else _by_cells(cover, region, known, mass, seeker, allowed, most)
    if cover is None or not cover.divisible or not uppers:
        uppers.append(_by_chords(region, known, mass, seeker))
    proof, ratio, how = min(uppers, key=lambda upper: upper[1])
    certificate = RegionCertificate(channel, prior_set, wanted, seeker.worst.proof(), ratio, proof)
    return _result(certificate, seeker.worst, f"{how}; lower end the worst of {len(seeker.known)} priors")


def _over_list(channel: Channel, priors: PriorList, delta: Fraction) -> RobustEnvelope:
    found = [one_prior_envelope(channel, prior, delta) for prior in priors]
    certificate = ListCertificate(channel, priors, delta, tuple(one.proof() for one in found))
    worst = next(one for one in found if one.certificate is certificate.witness)
    return _result(certificate, worst, f"the largest of {len(found)} envelopes")


def _result(certificate: RobustCertificate, worst: Envelope, method: str) -> RobustEnvelope:
    upper = log_ends(certificate.upper_ratio)[1]
    return RobustEnvelope(
        delta=certificate.delta,
        lower=min(worst.lower, upper),
        upper=upper,
        method=method,
        prior=certificate.prior,
        attack=worst.attack,
        certificate=certificate,
    )


def _by_cells(
    cover: Cover, region: Region, known: Likelihoods, mass: Fraction, seeker: Seeker, gap: float, most: int
) -> list[Upper]:
    """By multipliers for each cell; none where floats have too few digits to find any that hold."""
    chances = np.array([[float(column[x]) for column in known.columns] for x in known.possible])
    bound = DualBound(chances, list(known.possible), float(mass))

    def target(cell: Simplex) -> float:
        seeker.try_prior(mean(cell))
        return math.exp(seeker.worst.lower) * (1 + gap)

    affordable = max(_MOST_WORK // (chances.size * len(cover.cells[0])), 1) if cover.divisible else 1
    found = partition(bound, cover.cells, _thresholds(seeker.worst, known), target, min(most, affordable))
    proof = CellsProof({cell.path: cell.multipliers() for cell in found})
    largest = Fraction(max(cell.bound for cell in found))
    for slack in _SLACKS:  # the ratio is raised by as little as makes the proof hold in rationals
        ratio = largest * (1 + slack)
        try:
            proof.check(region, known, ratio, mass)
        except CertificateInvalid:
            continue
        return [(proof, ratio, f"multipliers on {several(len(found), 'cell')} of the set")]
    return []


def _by_chords(region: Region, known: Likelihoods, mass: Fraction, seeker: Seeker) -> Upper:
    """By one set of multipliers for the whole set, or none."""
    chords = Chords(region, known)
    peaks = (max(column[secret] for secret in known.possible) for column in known.columns)
    ratio = sum(peaks, Fraction(0)) / mass
    proof, how = WholeProof((1 / ratio,) * len(known.possible)), "maximal leakage + log 1/δ"
    lift = chords.lift()
    if lift is not None and lift < ratio:
        proof, ratio, how = WholeProof(None), lift, "leakage capacity"
    thresholds = _thresholds(seeker.worst, known)
    if thresholds is not None:
        better = _chord_ratio(chords, thresholds, mass, math.exp(seeker.worst.lower), ratio)
        if better is not None:
            proof, ratio, how = (*better, "multipliers of the worst prior found, by chords")
    return proof, ratio, f"{how}, on the set uncut"


def _chord_ratio(
    chords: Chords, thresholds: FloatArray, mass: Fraction, low: float, most: Fraction
) -> tuple[WholeProof, Fraction] | None:
    """The smallest ratio below `most` that these thresholds prove by chords."""
    own = [Fraction(value) for value in thresholds.tolist()]
    found = None
    low, high = max(low, float(thresholds.max()) * (1 + 1e-9)), float(most)
    while high > low * (1 + 1e-7):
        middle = Fraction(math.sqrt(low * high))
        multipliers = tuple(1 / (middle - value) for value in own)
        if chords.total(multipliers, middle) <= rational(mass):
            found, high = (WholeProof(multipliers), middle), float(middle)
        else:
            low = float(middle)
    return found


def _thresholds(found: Envelope, known: Likelihoods) -> FloatArray | None:
    """θ_x = T − 1/λ_x of an envelope's proof, where it has a positive multiplier for every possible secret."""
    proof = found.certificate
    if not isinstance(proof, EnvelopeCertificate) or proof.upper.multipliers is None:
        return None
    own = [proof.upper.multipliers[secret] for secret in known.possible]
    if min(own) <= 0:
        return None
    return np.array([float(proof.upper.ratio - 1 / value) for value in own])


def _read_gap(gap: Any) -> float:
    allowed = float_number(gap, "gap")
    if not 1e-9 <= allowed < 1:
        raise InvalidInput(f"gap must be in [1e-9, 1), got gap={allowed!r}; 1e-4 is the default.")
    return allowed


def _count(value: Any, argument: str) -> int:
    return whole(value, argument, 1)
