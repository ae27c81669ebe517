"""The envelope over sets of priors: no prior of the set exceeds the upper end, one reaches the lower, proofs check."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_oracle import members
from strategies import exact_channels, exact_pairs
from tightlip import Channel, Prior, PriorSet, envelope, maximal_leakage, mechanism, papers
from tightlip.errors import CertificateInvalid, InvalidInput, SolverFailure, WrongType
from tightlip.model.prior_set import PriorBall, PriorList, PriorPolytope
from tightlip.robust import envelope_search as module
from tightlip.robust.certificate import CellsProof, WholeProof
from tightlip.robust.envelope_search import DualBound, partition
from tightlip.robust.envelope_search import envelope as robust_envelope
from tightlip.robust.pointwise import leakage_capacity

deltas = st.sampled_from([Fraction(1, 20), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10), Fraction(1)])


@st.composite
def cases(draw):
    channel = draw(exact_channels(inputs=draw(st.integers(2, 3))))
    n = channel.shape[0]
    kind = draw(st.sampled_from(["floor", "ball", "polytope"]))
    if kind == "floor":
        return channel, PriorSet(n, Fraction(draw(st.integers(1, 4)), 4 * n))
    if kind == "ball":
        return channel, PriorBall(Prior.uniform(n), Fraction(draw(st.integers(1, 6)), 6))
    return channel, PriorPolytope([[1] + [0] * (n - 1), [-1] + [0] * (n - 1)], ["1/2", "-1/6"])


@settings(max_examples=15)
@given(cases(), deltas)
def test_no_prior_exceeds_the_upper_end_and_the_witness_reaches_the_lower(case, delta):
    channel, prior_set = case
    found = robust_envelope(channel, prior_set, delta, gap=0.01, cells=20, tries=20)
    found.verify()
    assert found.prior in prior_set
    assert found.lower == envelope(channel, found.prior, delta).lower
    assert found.lower <= found.upper
    for masses in members(prior_set, channel.shape[0], 6):
        assert envelope(channel, Prior(masses), delta).lower <= found.upper
    assert found.upper <= leakage_capacity(channel, prior_set=prior_set).upper + 1e-11
    assert found.upper <= maximal_leakage(channel) - math.log(delta) + 1e-9


@settings(max_examples=15)
@given(exact_pairs(), deltas)
def test_one_prior_is_the_plain_envelope(pair, delta):
    channel, prior = pair
    plain = envelope(channel, prior, delta)
    for alone in (PriorBall(prior, 0), PriorList([prior])):
        found = robust_envelope(channel, alone, delta, gap=1e-7)
        assert found.lower <= plain.upper
        assert plain.lower <= found.upper
        assert found.gap < 1e-5
        found.verify()


def test_random_channels_have_close_ends():
    rng = np.random.default_rng(3)
    for n, m in ((2, 3), (3, 3), (3, 5)):
        channel = Channel(rng.dirichlet(np.full(m, 0.7), n))
        center = Prior(rng.dirichlet(np.full(n, 4.0)))
        for prior_set in (PriorSet(min_mass=0.3 / n), PriorBall(center, 0.2)):
            for delta in (0.05, 0.9):
                found = robust_envelope(channel, prior_set, delta)
                found.verify()
                assert found.gap < 2e-4
                for prior in _random_members(rng, prior_set, n):
                    assert envelope(channel, prior, delta).lower <= found.upper


def _random_members(rng, prior_set, n):
    tried = (Prior(masses) for masses in rng.dirichlet(np.full(n, 3.0), 60))
    return [prior for prior in tried if prior in prior_set][:8]


def test_uniform_prior_alone():
    channel = papers.env_example_1()
    found = robust_envelope(channel, PriorSet(min_mass="1/4"), "0.2")
    assert found.exact
    assert found.upper == pytest.approx(math.log(22 / 9), abs=1e-8)
    assert found.prior == Prior(["1/4"] * 4, labels=channel.inputs)


def test_the_worst_prior_need_not_be_a_corner():
    """Identity at δ = 1: every outcome must leak, so the likeliest secret decides, and the middle is worst."""
    found = robust_envelope(mechanism.identity(2), PriorSet(min_mass="1/10"), 1)
    assert found.prior.masses.tolist() == [Fraction(1, 2)] * 2
    assert found.exact
    assert found.upper == pytest.approx(math.log(2), abs=1e-9)
    corner = envelope(mechanism.identity(2), Prior(["1/10", "9/10"]), 1)
    assert corner.upper == pytest.approx(math.log(10 / 9), abs=1e-9)


@pytest.mark.parametrize("cells", [1, 200])
def test_the_worst_prior_may_make_an_outcome_exactly_as_rare_as_delta(cells):
    """Rarer outcomes leak more, and below δ they count for less: a ridge that steps from afar do not find."""
    channel = Channel([["100/101", "0", "1/101"], ["1/1001", "1000/1001", "0"], ["1/2", "0", "1/2"]])
    around, delta = PriorBall(Prior(["1/21", "5/21", "5/7"]), "7/10"), Fraction(1, 100)
    member = Prior(
        [Fraction(1, 3), delta * Fraction(1001, 1000), Fraction(2, 3) - delta * Fraction(1001, 1000)]
    )
    assert member in around
    found = robust_envelope(channel, around, delta, cells=cells)
    assert found.lower >= envelope(channel, member, delta).lower - 1e-9 > 4.6
    found.verify()


def test_the_ends_meet_in_a_ball_around_a_likely_secret():
    rows = [
        ["10/21", "10/21", "1/21"],
        ["10/1011", "1/1011", "1000/1011"],
        ["1/1101", "1000/1101", "100/1101"],
    ]
    found = robust_envelope(Channel(rows), PriorBall(Prior(["2/35", "6/7", "3/35"]), "7/10"), "1/1000")
    assert found.gap < 1e-3
    assert found.lower > 6.81


def test_one_set_of_multipliers_serves_a_whole_ball_around_a_certain_secret():
    """Only secret 0 can leak 1/δ; thresholds of the others may be anything, if they do not stop the proof."""
    rows = [[0, 0, 1], ["1/2", "1/2", 0], ["1000/2001", "1000/2001", "1/2001"]]
    found = robust_envelope(Channel(rows), PriorBall(Prior([0, 1, 0]), "7/10"), "1/1000")
    found.verify()
    assert found.lower == pytest.approx(math.log(1000), abs=1e-9)
    assert found.gap < 1e-6


def test_at_small_delta_it_is_the_capacity():
    channel = Channel([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    found = robust_envelope(channel, PriorSet(min_mass="1/10"), "1/100")
    capacity = leakage_capacity(channel, min_mass="1/10")
    assert found.exact
    assert found.upper == pytest.approx(capacity.upper, abs=1e-11)


def test_larger_sets_leak_no_less():
    channel = papers.env_example_1()
    ends = [
        robust_envelope(channel, PriorBall(Prior.uniform(4), radius), 0.3, cells=20, tries=40)
        for radius in (0, 0.1, 0.5, 2)
    ]
    for inner, outer in pairwise(ends):
        assert inner.lower <= outer.upper
    assert ends[0].lower < ends[-1].lower
    assert ends[-1].upper <= maximal_leakage(channel) - math.log(0.3) + 1e-9


def test_stored_floats_at_delta_one():
    channel = Channel(np.random.default_rng(1).dirichlet(np.ones(7), 3))
    found = robust_envelope(channel, PriorSet(min_mass=0.2), 1, cells=30)
    found.verify()
    assert 0 < found.lower <= found.upper < found.lower + 0.01


def test_lists_are_the_largest_of_their_envelopes():
    channel = papers.env_example_1()
    priors = [Prior(["1/4"] * 4), Prior(["1/2", "1/4", "1/8", "1/8"]), Prior(["1/8", "1/8", "1/4", "1/2"])]
    found = robust_envelope(channel, PriorList(priors), "0.2")
    own = [envelope(channel, prior, "0.2") for prior in priors]
    assert found.lower == max(one.lower for one in own)
    assert found.upper == max(one.upper for one in own)
    assert found.exact
    assert found.prior in PriorList(priors)
    found.verify()


def test_randomised_response_has_a_proof_of_another_kind():
    channel = mechanism.randomized_response(3, 1.0)
    found = robust_envelope(channel, PriorBall(Prior(["1/5", "3/10", "1/2"]), "1/10"), "0.4", cells=30)
    found.verify()
    assert found.lower >= envelope(channel, Prior(["1/5", "3/10", "1/2"]), "0.4").lower
    assert found.gap < 0.01


def test_a_ball_with_many_corners_is_proved_on_one_hull():
    rng = np.random.default_rng(3)
    channel = Channel(rng.dirichlet(np.full(8, 0.7), 8))
    center = Prior(rng.dirichlet(np.full(8, 4.0)))
    found = robust_envelope(channel, PriorBall(center, 0.05), 0.3, tries=20)
    found.verify()
    assert "1 cell of" in found.method
    assert found.gap < 0.01
    assert found.lower >= envelope(channel, center, 0.3).lower


def _box(n):
    rows = [[int(x == y) for x in range(n)] for y in range(n)]
    return PriorPolytope(rows, [Fraction(2, n)] * n)


@pytest.mark.parametrize("delta", ["1/100", "1/2", "9/10"])
def test_a_polytope_with_many_corners_is_proved_by_chords(delta):
    channel = Channel(np.random.default_rng(2).dirichlet(np.full(5, 2.0), 9))
    found = robust_envelope(channel, _box(9), delta, tries=12)
    found.verify()
    assert isinstance(found.certificate.proof, WholeProof)
    assert found.method.endswith("of 12 priors")
    assert found.upper <= leakage_capacity(channel, prior_set=_box(9)).upper
    assert envelope(channel, Prior.uniform(9), delta).lower <= found.upper
    if delta == "1/100":
        assert found.upper == leakage_capacity(channel, prior_set=_box(9)).upper
    with pytest.raises(CertificateInvalid, match="upper end fails"):
        replace(found.certificate, ratio=found.certificate.ratio * Fraction(9, 10)).verify()
    with pytest.raises(CertificateInvalid, match="too many corners"):
        replace(found.certificate, proof=CellsProof({})).verify()


def test_unbounded_lifts_leave_maximal_leakage():
    """All priors: the capacity is infinite, ℒ + log 1/δ is not."""
    channel = mechanism.identity(9)
    found = robust_envelope(channel, _box(9), "1/2", tries=6)
    assert found.upper <= math.log(18) + 1e-9
    found.verify()


def test_proofs_that_floats_cannot_find_fall_back_on_chords(monkeypatch):
    channel, prior_set = papers.env_example_1(), PriorSet(min_mass="1/8")
    close = robust_envelope(channel, prior_set, "0.2")
    monkeypatch.setattr(module, "_SLACKS", [])
    found = robust_envelope(channel, prior_set, "0.2")
    assert isinstance(found.certificate.proof, WholeProof)
    assert found.lower <= close.upper <= found.upper + 1e-4
    found.verify()


def test_a_solver_without_an_answer_leaves_the_ends_sound(monkeypatch):
    channel, prior_set = papers.env_example_1(), PriorSet(min_mass="1/8")

    def stopped(*_):
        raise SolverFailure("time limit")

    monkeypatch.setattr("tightlip.numeric.linear_program.run", stopped)
    found = robust_envelope(channel, prior_set, "0.2", cells=3)
    found.verify()
    assert found.gap > 1e-4


def test_a_ratio_is_raised_until_its_proof_holds(monkeypatch):
    monkeypatch.setattr(module, "_SLACKS", [Fraction(-1, 100), Fraction(1, 10**8)])
    found = robust_envelope(papers.env_example_1(), PriorSet(min_mass="1/8"), "0.2")
    assert isinstance(found.certificate.proof, CellsProof)
    found.verify()


def test_a_single_prior_cannot_be_cut():
    channel = Channel(np.random.default_rng(8).dirichlet(np.ones(4), 3))
    point = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    found = robust_envelope(channel, PriorBall(Prior(point), 0), 0.4, gap=1e-9)
    assert "1 cell of" in found.method
    assert found.exact
    bound = DualBound(channel.floats, [0, 1, 2], 0.4)
    [cell] = partition(bound, [(point,)], None, lambda _: 1.0, 10)
    assert math.log(cell.bound) == pytest.approx(found.upper, abs=1e-6)


def test_changed_certificates_are_refused():
    channel, prior_set = papers.env_example_1(), PriorSet(min_mass="1/8")
    found = robust_envelope(channel, prior_set, "0.9", cells=12)
    proof, own = found.certificate, found.certificate.proof
    assert isinstance(own, CellsProof)
    assert len(own.leaves) > 1
    path, multipliers = next((path, kept) for path, kept in own.leaves.items() if kept is not None)
    broken = {
        "larger lift|prove a probability": replace(proof, ratio=proof.ratio * Fraction(9, 10)),
        "is not covered": replace(proof, proof=CellsProof(_without(own.leaves, path))),
        "one positive multiplier": replace(proof, proof=CellsProof({**own.leaves, path: multipliers[1:]})),
        "positive multiplier for each": replace(
            proof, proof=CellsProof({**own.leaves, path: (Fraction(0), *multipliers[1:])})
        ),
        "not in the set": replace(proof, prior_set=PriorSet(min_mass="1/4")),
        "prove a probability of 1": replace(proof, proof=CellsProof({**own.leaves, path: None})),
        "some prior of the set has a larger lift": replace(proof, proof=WholeProof(None)),
    }
    for message, certificate in broken.items():
        with pytest.raises(CertificateInvalid, match=message):
            certificate.verify()
    with pytest.raises(CertificateInvalid, match="the certificate proves"):
        replace(found, upper=found.upper - 1e-6).verify()
    with pytest.raises(InvalidInput, match="lower must not exceed upper"):
        replace(found, upper=0.0)


def _without(leaves, path):
    return {own: kept for own, kept in leaves.items() if own != path}


def test_how_it_reads():
    found = robust_envelope(mechanism.identity(2), PriorSet(min_mass="1/10"), 1)
    assert repr(found).startswith("RobustEnvelope(delta=1, 0.693147 to 0.693148 nats, by multipliers on")
    assert found.value == found.upper
    assert found.attack is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0}, "delta must be in"),
        ({"gap": 0}, "gap must be in"),
        ({"cells": 0}, "cells must be a whole number of at least 1, got 0"),
        ({"tries": 2.5}, "tries must be a whole number of at least 1, got 2.5"),
    ],
)
def test_bad_requests(options, message):
    given_options = {"delta": "0.2", **options}
    with pytest.raises(InvalidInput, match=message):
        robust_envelope(mechanism.identity(2), PriorSet(min_mass="1/10"), **given_options)


def test_what_is_no_prior_set():
    with pytest.raises(WrongType, match="prior_set must be"):
        robust_envelope(mechanism.identity(2), Prior.uniform(2), 0.1)


def test_certificates_of_another_question_are_refused():
    """Sound proofs, but about another δ, channel, or fewer priors than the result says."""
    channel, prior_set = papers.env_example_1(), PriorSet(min_mass="1/8")
    often, seldom = (robust_envelope(channel, prior_set, delta, cells=4) for delta in ("0.9", "0.2"))
    uniform = Prior.uniform(channel.inputs)
    stranger = envelope(mechanism.identity(channel.inputs), uniform, "0.9").certificate
    responses = mechanism.randomized_response(4, 1.0)
    response = robust_envelope(responses, PriorBall(Prior.uniform(4), 0), "0.9")
    broken = [
        replace(often, delta=Fraction(1, 5)),
        replace(seldom, delta=Fraction(9, 10)),
        replace(often, certificate=replace(often.certificate, delta=Fraction(1, 5)), delta=Fraction(1, 5)),
        replace(often, certificate=replace(often.certificate, worst=seldom.certificate.worst)),
        replace(often, certificate=replace(often.certificate, worst=stranger)),
        replace(
            response,
            certificate=replace(
                response.certificate, worst=envelope(responses, Prior.uniform(4), "0.2").certificate
            ),
        ),
    ]
    for found in broken:
        with pytest.raises(CertificateInvalid, match=r"end fails|is about δ"):
            found.verify()


def test_certificates_of_lists_are_about_every_prior_of_the_list():
    channel = papers.env_example_1()
    priors = [Prior(["1/4"] * 4), Prior(["1/8", "1/8", "1/4", "1/2"])]
    found = robust_envelope(channel, PriorList(priors), "0.2")
    found.verify()
    proof = found.certificate
    kept = proof.envelopes[1]
    easier = tuple(envelope(channel, prior, "0.9").certificate for prior in priors)
    broken = {
        "2 priors, got 1": replace(proof, envelopes=(kept,)),
        "prior 0": replace(proof, envelopes=(kept, kept)),
        "upper end fails|lower end fails": replace(proof, envelopes=easier),
    }
    for message, certificate in broken.items():
        with pytest.raises(CertificateInvalid, match=message):
            certificate.verify()
