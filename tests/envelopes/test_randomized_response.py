"""The closed form of randomised response against a linear program, definitions and its own certificate."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import eye

from tightlip import Channel, Prior, log_of, pml
from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.certificate.randomized_response import (
    Outcomes,
    RandomizedResponseCertificate,
    ResponseLowerProof,
)
from tightlip.envelopes.response import (
    _envelope_of,
    channel_envelope,
    response_entries,
    response_pair,
)
from tightlip.envelopes.response import (
    randomized_response as randomized_response_envelope,
)
from tightlip.errors import CertificateInvalid, InvalidInput, ShapeMismatch, WrongType
from tightlip.mechanism import randomized_response


def best_probability(rows, masses, ratio):
    """max P{ℓ(Z) ≥ log ratio} by a linear program, from the definition."""
    support = masses > 0
    rows, masses = rows[support], masses[support]
    q = masses @ rows
    secrets, outcomes = rows.shape
    limits, slack = [], []
    for y in range(outcomes):
        limit = np.zeros((secrets, outcomes))
        limit[:, y] = 1
        limits.append(limit.ravel())
    for x in range(secrets):
        row = np.zeros((secrets, outcomes))
        row[x] = ratio * q - rows[x]
        slack.append(row.ravel())
    bounds = np.concatenate([np.ones(outcomes), np.zeros(secrets)])
    return -linprog(-np.tile(q, secrets), A_ub=np.array(limits + slack), b_ub=bounds).fun


def definition(alpha, beta, masses, delta):
    """max_j min{α/q_j, τ_j}, every j in turn."""
    total = sum(masses)
    q = sorted(beta * total + (alpha - beta) * mass for mass in masses if mass)
    idle = [beta * total] * sum(1 for mass in masses if not mass)
    delta = min(delta, sum(q) + sum(idle))
    best = 0
    for count in range(1, len(q) + 1):
        missing = delta - sum(q[:count])
        number = Fraction(0)
        for probability in idle + q[count:]:
            if missing > 0 and probability:
                number += min(Fraction(1), missing / probability)
                missing -= probability
        spare = math.inf if delta <= sum(q[:count]) else (count * alpha + beta * number) / delta
        best = max(best, min(alpha / q[count - 1], spare))
    return best


@st.composite
def settings_of_response(draw):
    weights = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3, 5, 20, 400]), min_size=1, max_size=7).filter(any))
    ratio = draw(st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3), Fraction(30), Fraction(10**6)]))
    delta = draw(st.sampled_from([Fraction(step, 20) for step in range(1, 21)]))
    return [Fraction(weight, sum(weights)) for weight in weights], ratio, delta


@settings(max_examples=150, deadline=None)
@given(settings_of_response())
def test_it_is_the_definition_and_its_proof_holds(setting):
    masses, ratio, delta = setting
    found = randomized_response_envelope(Prior(masses), log_of(ratio), delta)
    certificate = found.certificate
    found.verify()
    expected = definition(certificate.alpha, certificate.beta, masses, delta)
    assert certificate.lower.ratio == certificate.upper.ratio == expected
    assert found.lower <= math.log(expected) + 1e-15
    assert found.gap <= 4e-16 * max(1, found.upper)


@settings(max_examples=60, deadline=None)
@given(settings_of_response())
def test_it_agrees_with_a_linear_program(setting):
    masses, ratio, delta = setting
    found = randomized_response_envelope(Prior(masses), log_of(ratio), delta)
    rows = randomized_response(len(masses), log_of(ratio)).floats
    floats = np.array([float(mass) for mass in masses])
    best = math.exp(found.upper)
    assert best_probability(rows, floats, best * (1 - 1e-7)) >= float(delta) - 1e-6
    assert best_probability(rows, floats, best * (1 + 1e-6)) <= float(delta) + 1e-8


@settings(max_examples=100, deadline=None)
@given(settings_of_response())
def test_the_general_certificate_accepts_attack_and_multipliers(setting):
    masses, ratio, delta = setting
    prior, channel = Prior(masses), randomized_response(len(masses), log_of(ratio))
    found = randomized_response_envelope(prior, log_of(ratio), delta)
    mine = found.certificate
    higher = mine.upper.ratio * (1 + Fraction(1, 10**9 + 7))
    multipliers = None
    if mine.upper.price is not None:
        multipliers = tuple(multiplier(mine, higher, mass) for mass in masses)
    suspects = tuple(None if name == "rest" else name for name in found.attack.outputs)
    EnvelopeCertificate(
        channel,
        prior,
        UpperProof(higher, delta, multipliers),
        LowerProof(mine.lower.ratio, delta, Attack.of(found.attack), suspects),
    ).verify()
    leak = pml(channel.post_process(found.attack), prior)
    bad = [p for p, r in zip(leak.probabilities, leak.ratios, strict=True) if r >= mine.lower.ratio]
    assert sum(bad) >= float(delta) - 1e-12


def multiplier(certificate, ratio, mass):
    outcomes = Outcomes.of(certificate.alpha, certificate.beta, certificate.prior)
    q, price = outcomes.probability(mass), certificate.upper.price
    if ratio * q < certificate.alpha:
        return price
    return price * (ratio * q - certificate.beta) / (ratio * q - certificate.alpha)


@pytest.mark.parametrize(
    ("delta", "expected"), [(0.25, 0.7046054709), (0.4, 0.5842647782), (0.9, 0.3798854930)]
)
def test_reference_values(delta, expected):
    found = randomized_response_envelope(Prior([0.2, 0.3, 0.5]), 1.0, delta)
    found.verify()
    assert found.upper == pytest.approx(expected, abs=1e-10)
    assert 0 <= found.gap <= 1e-15


def test_below_the_rarest_outcome_it_is_the_pml():
    alpha, beta = math.e / (math.e + 2), 1 / (math.e + 2)
    found = randomized_response_envelope(Prior([0.5, 0.2, 0.3]), 1.0, 0.1)
    assert found.upper == pytest.approx(math.log(alpha / (beta + (alpha - beta) * 0.2)), abs=1e-14)
    assert found.certificate.upper.price is None


def test_uniform_and_useless_channels_are_flat():
    for delta in ("1/100", "1/2", 1):
        assert (
            randomized_response_envelope(Prior.uniform(4), log_of(3), delta).certificate.lower.ratio == 2
        )  # log kα
        found = randomized_response_envelope(Prior(["1/4", "3/4", "0"]), 0.0, delta)
        assert (found.lower, found.upper) == (0.0, 0.0)
        found.verify()


def test_a_single_secret_leaks_nothing():
    for masses in (["1"], ["1", "0", "0"]):
        found = randomized_response_envelope(Prior(masses), 2.0, 1)
        found.verify()
        assert (found.lower, found.upper) == (0.0, 0.0) or found.upper < 1e-15


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1e-300, 1e-17, 0.1, 0.3, 1.0]), min_size=2, max_size=9).filter(any),
    st.sampled_from([0.0, 1e-12, 0.7, 3.0, 40.0, 680.0]),
    st.sampled_from([1e-300, 1e-3, 0.3, 0.7, 1 - 2**-53, 1.0]),
)
def test_floats_are_taken_as_the_rationals_they_store(weights, epsilon, delta):
    prior = Prior(np.array(weights) / sum(weights))
    found = randomized_response_envelope(prior, epsilon, delta)
    found.verify()
    alpha, beta = response_entries(len(prior), epsilon)
    masses = [Fraction(mass) for mass in prior.masses.tolist()]
    assert found.certificate.lower.ratio == definition(alpha, beta, masses, Fraction(delta))
    assert 0 <= found.lower <= found.upper


@pytest.mark.parametrize("exact", [False, True])
def test_a_million_secrets(exact):
    prior = Prior.uniform(10**6) if exact else Prior(np.random.default_rng(0).dirichlet(np.ones(10**6)))
    found = randomized_response_envelope(prior, 3.0, 0.9)
    found.verify()
    assert found.gap <= 1e-15
    assert found.attack is None
    assert "not written out" in found.method


def ratio_of(channel):
    """α/β of a channel that is recognised."""
    pair = response_pair(channel)
    return pair and (pair[0] / pair[1] if pair[1] else math.inf)


def test_channels_are_recognised():
    exact = randomized_response(3, log_of(5))
    assert ratio_of(exact) == 5
    assert response_pair(randomized_response(4, 1.0)) == response_entries(4, 1.0)
    assert ratio_of(Channel(eye(5, format="csr"))) == math.inf
    assert ratio_of(Channel(np.eye(2))) == math.inf
    assert ratio_of(Channel([["1/2", "1/2"], ["1/2", "1/2"]])) == 1
    for other in (
        [[0.2, 0.8], [0.8, 0.2]],
        [[0.7, 0.3], [0.4, 0.6]],
        [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]],
        [[0.5, 0.5]],
        [[1.0]],
        [["1/2", "1/2", "0"], ["1/2", "1/2", "0"], ["0", "1/2", "1/2"]],
    ):
        assert ratio_of(Channel(other)) is None
    sparse = Channel(eye(3, format="csr")).floats.tolil()
    sparse[0, 0], sparse[0, 1] = 0.5, 0.5
    assert ratio_of(Channel(sparse.tocsr())) is None
    permuted = Channel(eye(3, format="csr")[[1, 2, 0]])
    assert ratio_of(permuted) is None
    full = Channel(Channel([[0.75, 0.25], [0.25, 0.75]]).floats)
    assert ratio_of(full) == 3


def test_of_a_channel():
    channel = randomized_response(["a", "b", "c"], 1.0)
    prior = Prior({"c": 0.5, "a": 0.2, "b": 0.3})
    found = channel_envelope(channel, prior, 0.4)
    assert found.upper == randomized_response_envelope(Prior([0.2, 0.3, 0.5]), 1.0, 0.4).upper
    assert found.attack.inputs == ["a", "b", "c"]
    identity = channel_envelope(Channel(np.eye(3)), Prior([0.5, 0.5, 0.0]), 1)
    identity.verify()
    assert identity.certificate.lower.ratio == 2
    with pytest.raises(InvalidInput, match="use the general envelope"):
        channel_envelope(Channel([[0.2, 0.8], [0.8, 0.2]]), Prior.uniform(2), 0.5)


def test_bad_input_is_refused():
    prior = Prior.uniform(3)
    with pytest.raises(InvalidInput, match="delta must be in"):
        randomized_response_envelope(prior, 1.0, 0)
    with pytest.raises(InvalidInput, match="epsilon must be at most 680"):
        randomized_response_envelope(prior, 800.0, 0.5)
    with pytest.raises(InvalidInput, match="finite non-negative"):
        randomized_response_envelope(prior, -1.0, 0.5)
    with pytest.raises(WrongType, match="write Prior"):
        randomized_response_envelope([0.5, 0.5], 1.0, 0.5)
    with pytest.raises(WrongType, match="write Channel"):
        response_pair([[1]])
    with pytest.raises(ShapeMismatch, match="as many as secrets"):
        _envelope_of(0.5, 0.25, prior, 0.5, randomized_response(2, 1.0).outputs)


CASES = [
    (Prior(["1/10", "3/10", "3/5"]), log_of(2), "2/5"),
    (Prior([0.0, 0.2, 0.2, 0.6]), 1.0, 0.7),
    (Prior.uniform(3), 1.0, 0.5),
]


@pytest.mark.parametrize("case", CASES)
def test_certificates_survive_json(case):
    certificate = randomized_response_envelope(*case).certificate
    again = RandomizedResponseCertificate.from_json(certificate.to_json())
    assert again == certificate
    again.verify()


def test_certificates_that_were_changed_are_refused():
    certificate = randomized_response_envelope(*CASES[0]).certificate
    record = json.loads(certificate.to_json())
    for key, value, message in (
        ("alpha", "3/5", "was changed"),
        ("prior", {"prior": ["1/3", "1/3", "1/3"]}, "was changed"),
        ("delta", "x", "malformed"),
        ("upper", {"ratio": "2"}, "malformed"),
        ("lower", None, "malformed"),
    ):
        with pytest.raises(CertificateInvalid, match=message):
            RandomizedResponseCertificate.from_json(json.dumps({**record, key: value}))
    with pytest.raises(InvalidInput, match="format must be"):
        RandomizedResponseCertificate.from_json(json.dumps({**record, "format": "other"}))


def test_false_proofs_fail():
    good = randomized_response_envelope(Prior(["1/10", "3/10", "3/5"]), log_of(9), "7/10").certificate
    flat = randomized_response_envelope(*CASES[2]).certificate
    ratio, less, more = good.upper.ratio, Fraction(999, 1000), Fraction(1001, 1000)
    for bad, message in (
        (replace(good, alpha=good.alpha * less), "rows that sum to 1"),
        (replace(good, alpha=good.beta, beta=good.alpha), "beta ≤ alpha"),
        (replace(good, delta=Fraction(2)), "delta must be in"),
        (replace(good, upper=replace(good.upper, ratio=ratio * less)), "price proves"),
        (replace(good, upper=replace(good.upper, price=good.upper.price * 2)), "price proves"),
        (replace(good, upper=replace(good.upper, price=good.upper.price / 9)), "price proves"),
        (replace(good, upper=replace(good.upper, price=Fraction(0))), "must be positive"),
        (replace(good, upper=replace(good.upper, price=None)), "lift above"),
        (replace(good, upper=replace(good.upper, ratio=Fraction(1, 9))), "below a lift"),
        (replace(flat, upper=replace(flat.upper, ratio=flat.upper.ratio * less)), "lift above"),
        (replace(good, lower=replace(good.lower, ratio=ratio * more)), "use up"),
        (replace(good, lower=ResponseLowerProof(ratio, Fraction(1), Fraction(1))), "use up"),
        (replace(good, lower=replace(good.lower, ratio=ratio * 9)), "no outcome has a lift"),
        (replace(good, lower=replace(good.lower, fraction=Fraction(-1))), "fraction in"),
        (replace(good, lower=replace(good.lower, fraction=good.lower.fraction / 2)), "has probability"),
    ):
        with pytest.raises(CertificateInvalid, match=message):
            bad.verify()
