"""Lower bounds on the risk against the best procedure, found by enumeration."""

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning_oracle import COSTS, bayes_risk, laws, table
from strategies import distributions, exact_channels
from tightlip import Channel, Prior, log_of
from tightlip.errors import InvalidInput, WrongType
from tightlip.measures.local import ldp
from tightlip.papers import duchi_bound
from tightlip.planning.privacy import KnownChannel, LocalPrivacy, PmlPrivacy
from tightlip.planning.risk import PrivateStudy, risk_lower_bound
from tightlip.planning.study import Study
from tightlip.robust.pointwise import leakage_capacity

HALF = Fraction(1, 2)


@st.composite
def mechanisms(draw, secrets, *, positive):
    """Channels that depend on the earlier releases: each step picks one of three by the history."""
    outcomes = draw(st.integers(2, 3))
    channels = [draw(exact_channels(secrets, outcomes, positive=positive)) for _ in range(3)]
    return channels, lambda history: channels[sum(history) % 3].matrix.tolist()


def weights_of(size, chosen):
    return [Fraction(1, len(chosen)) if place in chosen else Fraction(0) for place in range(size)]


def check(study, privacy, samples, found, cost):
    """Every method's bound is at most the Bayes risk of the weights that it rests on."""
    bound = risk_lower_bound(study, privacy, samples)
    size = len(study.hypotheses)
    for entry in bound.methods:
        chosen = range(size) if entry.pair is None else entry.pair
        assert Fraction(entry.value) <= bayes_risk(found, weights_of(size, chosen), cost), entry
    assert bound.value == max(entry.value for entry in bound.methods)


@settings(max_examples=60)
@given(st.data())
def test_no_interactive_procedure_under_a_level_beats_the_bound(data):
    secrets, samples = data.draw(st.integers(2, 4)), data.draw(st.integers(0, 3))
    loss = data.draw(st.sampled_from(["absolute", "squared", "zero-one"]))
    size = data.draw(st.integers(2, 4))
    masses = [data.draw(distributions(secrets, positive=True)) for _ in range(size)]
    parameters = [(Fraction(data.draw(st.integers(-4, 4))),) for _ in range(size)]
    study = Study([Prior(row) for row in masses], parameters=parameters, loss=loss)
    channels, channel_after = data.draw(mechanisms(secrets, positive=True))
    found = laws(masses, channel_after, samples)
    cost = COSTS[loss](parameters)
    local = LocalPrivacy(log_of(max(ldp(channel).ratio for channel in channels)))
    check(study, local, samples, found, cost)
    for mass in (min(min(row) for row in masses), Fraction(1, 2 * secrets)):
        worst = max(leakage_capacity(channel, min_mass=mass).ratio for channel in channels)
        check(study, PmlPrivacy(log_of(worst), mass), samples, found, cost)


@settings(max_examples=40)
@given(st.data())
def test_pml_levels_with_zeros_in_the_channel(data):
    secrets, samples = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3))
    masses = [data.draw(distributions(secrets, positive=True)) for _ in range(2)]
    study = Study([Prior(row) for row in masses], loss="zero-one")
    channels, channel_after = data.draw(mechanisms(secrets, positive=False))
    found = laws(masses, channel_after, samples)
    mass = min(min(row) for row in masses)
    worst = max(leakage_capacity(channel, min_mass=mass).ratio for channel in channels)
    check(study, PmlPrivacy(log_of(worst), mass), samples, found, COSTS["zero-one"](None))


@settings(max_examples=40)
@given(st.data())
def test_a_known_channel_up_to_six_samples(data):
    channel = data.draw(exact_channels(3, 2))
    samples = data.draw(st.integers(0, 6))
    masses = [data.draw(distributions(3)) for _ in range(3)]
    study = Study([Prior(row) for row in masses], loss="zero-one")
    found = laws(masses, lambda history: channel.matrix.tolist(), samples)
    check(study, channel, samples, found, COSTS["zero-one"](None))


@settings(max_examples=30)
@given(st.data())
def test_assouad_on_a_square(data):
    loss = data.draw(st.sampled_from(["absolute", "squared", "hamming"]))
    low, high = [Fraction(0), Fraction(-1)], [Fraction(1), Fraction(data.draw(st.integers(0, 3)))]
    parameters = data.draw(st.permutations(list(product(*zip(low, high, strict=True)))))
    masses = [data.draw(distributions(3, positive=True)) for _ in parameters]
    channel = data.draw(exact_channels(3, 2, positive=True))
    study = Study([Prior(row) for row in masses], parameters=[list(p) for p in parameters], loss=loss)
    samples = data.draw(st.integers(0, 4))
    found = laws(masses, lambda history: channel.matrix.tolist(), samples)
    for privacy in (channel, LocalPrivacy(ldp(channel))):
        assert any(entry.method == "assouad" for entry in risk_lower_bound(study, privacy, 1).methods)
        check(study, privacy, samples, found, COSTS[loss](parameters))


@settings(max_examples=30)
@given(st.data())
def test_tables_of_losses_and_of_separations(data):
    losses = [[Fraction(data.draw(st.integers(0, 6))) for _ in range(3)] for _ in range(3)]
    masses = [data.draw(distributions(2, positive=True)) for _ in range(3)]
    channel = data.draw(exact_channels(2, 2, positive=True))
    priors = [Prior(row) for row in masses]
    found = laws(masses, lambda history: channel.matrix.tolist(), 2)
    study = Study(priors, loss=losses)
    check(study, channel, 2, found, table(losses))
    looser = Study(priors, separation=study.gaps)
    check(looser, channel, 2, found, table(losses))
    assert risk_lower_bound(looser, channel, 2).value <= risk_lower_bound(study, channel, 2).value


def fano_study():
    """Eight hypotheses that a release hardly tells apart."""
    masses = [[Fraction(1, 8)] * 8 for _ in range(8)]
    for place, row in enumerate(masses):
        row[place] += Fraction(7, 80)
        for other in range(8):
            row[other] -= Fraction(1, 80) if other != place else 0
    return masses


def test_fano_wins_for_many_hypotheses_and_stays_below_the_truth():
    masses = fano_study()
    study = Study([Prior(row) for row in masses], loss="zero-one")
    channel = Channel([[HALF if x == y else Fraction(1, 14) for y in range(8)] for x in range(8)])
    bound = risk_lower_bound(study, channel, 3)
    assert bound.method == "fano"
    truth = bayes_risk(
        laws(masses, lambda _: channel.matrix.tolist(), 3), [Fraction(1, 8)] * 8, COSTS["zero-one"](None)
    )
    assert 0.9 * truth < bound.value <= truth


def test_assouad_adds_up_what_le_cam_takes_one_at_a_time():
    """Two coordinates, each moving mass between two secrets of its own."""
    step = Fraction(1, 40)
    masses, points = [], list(product((0, 1), repeat=2))
    for point in points:
        row = []
        for bit in point:
            row += [Fraction(1, 4) + (2 * bit - 1) * step, Fraction(1, 4) - (2 * bit - 1) * step]
        masses.append(row)
    study = Study(
        [Prior(row) for row in masses], parameters=[list(point) for point in points], loss="absolute"
    )
    bound = risk_lower_bound(study, LocalPrivacy(1), 20)
    assert bound.method == "assouad"
    assert bound.value > 1.5 * bound.by("le cam, hellinger") * HALF
    assert bound.by("assouad") > bound.by("le cam, coupling")


EXAMPLE = Study(
    [Prior(["1/5", "3/10", "1/4", "1/4"]), Prior(["3/10", "1/5", "1/4", "1/4"])],
    parameters=[0, 1],
    loss="absolute",
    names=["low", "high"],
)


def test_no_release_leaves_half_the_gap_and_bretagnolle_huber_a_quarter():
    for privacy in (LocalPrivacy(0), PmlPrivacy(0, "1/10"), Channel([[1], [1], [1], [1]])):
        bound = risk_lower_bound(EXAMPLE, privacy, 10**6)
        assert (bound.value, bound.by("bretagnolle-huber")) == (0.5, 0.25)
        assert bound.pair == ("low", "high")
    assert risk_lower_bound(EXAMPLE, LocalPrivacy(5), 0).value == 0.5


def test_bounds_fall_with_samples_and_with_epsilon():
    def values(level, samples):
        return {entry.method: entry.value for entry in PrivateStudy.of(EXAMPLE, level).risk(samples).methods}

    levels = [LocalPrivacy(e) for e in (0, 0.1, 0.5, 1, 2, 5, math.inf)]
    masses = [PmlPrivacy(e, "1/10") for e in (0, 0.1, 0.5, 1, 1.5, 2, math.inf)]
    for family in (levels, masses):
        found = [values(level, 50) for level in family]
        for weaker, stronger in pairwise(found):
            assert all(stronger[name] <= weaker[name] * (1 + 1e-12) for name in weaker)
    counts = [values(LocalPrivacy(1), samples) for samples in (0, 1, 2, 10, 100, 1000)]
    for fewer, more in pairwise(counts):
        assert all(more[name] <= fewer[name] for name in fewer)


def test_infinite_epsilon_is_no_privacy():
    identity = Channel([[int(x == y) for y in range(4)] for x in range(4)])
    for samples in (1, 10, 100):
        open_ = risk_lower_bound(EXAMPLE, identity, samples).value
        for privacy in (LocalPrivacy(math.inf), LocalPrivacy("inf"), PmlPrivacy(math.inf, "1/10")):
            assert risk_lower_bound(EXAMPLE, privacy, samples).value == pytest.approx(open_, rel=1e-12)
        assert risk_lower_bound(EXAMPLE, LocalPrivacy(50), samples).value == pytest.approx(open_, rel=1e-9)
    assert LocalPrivacy(math.inf).words == "no privacy"


def test_hypotheses_outside_the_set_of_priors_lose_the_chords_only():
    inside, outside = PmlPrivacy(0.5, "1/5"), PmlPrivacy(0.5, "21/100")
    one, two = EXAMPLE.hypotheses
    assert outside.separation(one, two).kl > 2 * inside.separation(one, two).kl
    assert outside.separation(one, two).tv == pytest.approx(inside.separation(one, two).tv, rel=0.1)


def test_chords_that_know_tv_beat_the_bound_of_duchi():
    one, two = EXAMPLE.hypotheses
    for epsilon in (0.01, 0.1, 1, 3):
        separation = LocalPrivacy(epsilon).separation(one, two)
        assert separation.kl + separation.reverse_kl <= duchi_bound(epsilon, "1/10") * (1 + 1e-12)


@settings(max_examples=60)
@given(st.data())
def test_divergences_of_one_release_never_exceed_the_bounds(data):
    secrets = data.draw(st.integers(2, 4))
    channel = data.draw(exact_channels(secrets, data.draw(st.integers(2, 4))))
    one, two = (Prior(data.draw(distributions(secrets, positive=True))) for _ in range(2))
    truth = KnownChannel(channel).separation(one, two)
    mass = data.draw(st.sampled_from([min(*one.masses, *two.masses), Fraction(1, secrets), Fraction(1, 20)]))
    capacity = leakage_capacity(channel, min_mass=mass)
    levels = [LocalPrivacy(ldp(channel)), PmlPrivacy(capacity, mass), PmlPrivacy(float(capacity), mass)]
    for level in levels:
        bound = level.separation(one, two)
        # the truth is rounded up too, to a neighbouring float at most
        for name in ("tv", "h2", "kl", "reverse_kl"):
            assert getattr(truth, name) <= getattr(bound, name) * (1 + 1e-14)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: risk_lower_bound(EXAMPLE, LocalPrivacy(1), -1),
            InvalidInput,
            "whole number of at least 0, got -1",
        ),
        (lambda: risk_lower_bound(EXAMPLE, LocalPrivacy(1), 1.5), WrongType, "whole number"),
        (lambda: risk_lower_bound(EXAMPLE, LocalPrivacy(1), True), WrongType, "whole number"),
        (lambda: risk_lower_bound(EXAMPLE, 1.0, 1), WrongType, "LocalPrivacy"),
        (lambda: risk_lower_bound("study", LocalPrivacy(1), 1), WrongType, "Study"),
        (lambda: LocalPrivacy(-1), InvalidInput, "non-negative"),
        (lambda: LocalPrivacy(math.nan), InvalidInput, "non-negative"),
        (lambda: KnownChannel([[1, 0]]), WrongType, "Channel"),
        (lambda: risk_lower_bound(EXAMPLE, PmlPrivacy(1, "1/3"), 1), InvalidInput, "1/4"),
        (lambda: risk_lower_bound(EXAMPLE, Channel([[1], [1]]), 1), InvalidInput, "as many"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_disjoint_hypotheses_without_privacy_leave_no_risk():
    study = Study([Prior([1, 0]), Prior([0, 1]), Prior(["1/2", "1/2"])], loss="zero-one")
    open_ = risk_lower_bound(study, LocalPrivacy(math.inf), 5)
    assert open_.by("le cam, kl") > 0  # KL is finite towards the mixture
    two = Study([Prior([1, 0]), Prior([0, 1])], loss="zero-one")
    assert risk_lower_bound(two, LocalPrivacy(math.inf), 1).value == 0
    assert risk_lower_bound(two, LocalPrivacy(1), 1).value == pytest.approx(1 / (math.e + 1), rel=1e-12)
