"""Sample sizes, effective samples, the table, and the corrected Example 3 of the DOB paper."""

import math
from fractions import Fraction

import pytest

from planning_oracle import COSTS, bayes_risk, laws
from tightlip import Channel, Prior, log_of
from tightlip.contraction.bounds import divergence_bound
from tightlip.errors import InvalidInput
from tightlip.mechanism import identity, randomized_response
from tightlip.numeric.rounding import float_above, float_below
from tightlip.planning.privacy import KnownChannel, LocalPrivacy, PmlPrivacy, Separation
from tightlip.planning.risk import fano_error, overlaps, risk_lower_bound
from tightlip.planning.samples import effective_samples, plan_table, samples_needed
from tightlip.planning.study import Study
from tightlip.robust.pointwise import leakage_capacity

DELTA = Fraction(1, 20)
QUARTER = Fraction(1, 4)
MASSES = [
    [QUARTER - DELTA, QUARTER + DELTA, QUARTER, QUARTER],
    [QUARTER + DELTA, QUARTER - DELTA, QUARTER, QUARTER],
]
EXAMPLE3 = Study([Prior(row) for row in MASSES], parameters=[0, 1], loss="absolute")


def test_example_3_has_twice_the_distance_and_a_quarter_of_the_gap():
    separation = LocalPrivacy(math.inf).separation(*EXAMPLE3.hypotheses)
    assert separation.tv == float(2 * DELTA)  # the paper says δ
    level = PmlPrivacy(log_of(2), "1/10")
    kl = level.separation(*EXAMPLE3.hypotheses).kl
    for samples in (0, 1, 7):
        bound = risk_lower_bound(EXAMPLE3, level, samples).by("bretagnolle-huber")
        assert bound == pytest.approx(math.exp(-samples * kl) / 4, rel=1e-12)


def test_the_printed_bound_of_example_3_fails_for_a_real_channel():
    """Every channel is (log 1/c, c)-PML, also the identity; with TV = δ its KL is above the bound, with 2δ below."""
    delta, mass = Fraction(6, 25), Fraction(1, 100)
    swing = [delta, -delta, Fraction(0), Fraction(0)]
    one, two = (Prior([QUARTER + sign * move for move in swing]) for sign in (-1, 1))
    kl = KnownChannel(identity(4)).separation(one, two).kl
    level = log_of(100)
    assert leakage_capacity(identity(4), min_mass=mass).ratio == level.ratio
    printed, corrected = (
        divergence_bound("kl", 4, level, mass, tv=tv, gamma="paper") for tv in (delta, 2 * delta)
    )
    assert (round(float(printed), 3), round(kl, 3)) == (1.098, 1.868)
    assert kl < corrected
    assert kl <= PmlPrivacy(level, mass).separation(one, two).kl


def test_corollary_1_tightens_in_example_3_from_0358_to_0061():
    """e^ε = 2, c = 1/10: η·TV·log Γ with η = 5/11, TV = 1/10; Γ = 11/5 in the paper, 1 + TV(e^ε − m*) = 8/7 here."""
    growth, mass, tv = Fraction(2), Fraction(1, 10), 2 * DELTA
    eta = (growth - 1) / (growth * (1 - 4 * mass) + 1)
    least = (1 - 3 * mass * growth) / (1 - 3 * mass)
    papers, ours = 1 + (1 - 4 * mass) * growth, 1 + tv * (growth - least)
    assert (eta, papers, ours) == (Fraction(5, 11), Fraction(11, 5), Fraction(8, 7))
    level = PmlPrivacy(log_of(growth), mass)
    printed = divergence_bound("kl", 4, log_of(growth), mass, tv=tv, gamma="paper")
    found = level.separation(*EXAMPLE3.hypotheses).kl
    assert printed == pytest.approx(float(eta * tv) * math.log(papers), rel=1e-12)
    assert found == pytest.approx(float(eta * tv) * math.log(ours), rel=1e-12)
    assert (round(printed, 4), round(found, 4)) == (0.0358, 0.0061)


def test_the_distance_aware_bound_is_far_below_the_papers_for_close_hypotheses():
    close = [
        Prior([QUARTER - d, QUARTER + d, QUARTER, QUARTER]) for d in (Fraction(1, 1000), -Fraction(1, 1000))
    ]
    ours = PmlPrivacy(1, "1/10").separation(*close).kl
    papers = divergence_bound("kl", 4, 1, "1/10", tv="1/500", gamma="paper")
    assert ours < papers / 100


def test_a_quarter_of_the_gap_is_no_target_for_bretagnolle_huber():
    """The paper's R* ≤ 1/4 asks for nothing once the constant is right; 1/8 asks for log 2 over KL."""
    level = PmlPrivacy(log_of(2), "1/10")
    assert risk_lower_bound(EXAMPLE3, level, 1).by("bretagnolle-huber") <= 0.25
    kl = level.separation(*EXAMPLE3.hypotheses).kl
    assert samples_needed(EXAMPLE3, level, "1/8") >= math.log(2) / kl


def test_the_number_is_the_first_that_the_bound_allows():
    for level in (LocalPrivacy(1), PmlPrivacy(0.3, "1/10"), randomized_response(4, 1.0)):
        wanted = samples_needed(EXAMPLE3, level, "1/20")
        assert risk_lower_bound(EXAMPLE3, level, wanted).value <= 0.05
        assert Fraction(risk_lower_bound(EXAMPLE3, level, wanted - 1).value) > Fraction(1, 20)


def test_fewer_samples_than_needed_truly_miss_the_target():
    channel = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    masses = [[Fraction(1, 5), Fraction(4, 5)], [Fraction(4, 5), Fraction(1, 5)]]
    study = Study([Prior(row) for row in masses], loss="zero-one")
    wanted = samples_needed(study, channel, "1/5")
    assert 3 <= wanted <= 8
    truth = bayes_risk(
        laws(masses, lambda _: channel.matrix.tolist(), wanted - 1),
        [Fraction(1, 2)] * 2,
        COSTS["zero-one"](None),
    )
    assert truth > Fraction(1, 5)


def test_easy_and_impossible_targets():
    assert samples_needed(EXAMPLE3, LocalPrivacy(1), 0.5) == 0
    assert samples_needed(EXAMPLE3, LocalPrivacy(0), 0.49) == math.inf
    assert samples_needed(EXAMPLE3, LocalPrivacy(1e-150), 0.1) > 10**290
    same = Study([Prior(["1/2", "1/2"])] * 2, parameters=[0, 1], loss="absolute")
    assert samples_needed(same, LocalPrivacy(math.inf), "1/4") == math.inf
    for target in (0, -1):
        with pytest.raises(InvalidInput, match="positive"):
            samples_needed(EXAMPLE3, LocalPrivacy(1), target)
    with pytest.raises(InvalidInput, match="scale the loss"):
        samples_needed(EXAMPLE3, LocalPrivacy(1), "1e400")


def test_effective_samples_are_rounded_up_and_bound_the_divergence():
    assert effective_samples(LocalPrivacy(log_of(3)), 4, 1000) == 250
    assert effective_samples(LocalPrivacy(0), 4, 1000) == 0
    channel = randomized_response(4, 1.0)
    worth = effective_samples(channel, 4, 100)
    private = KnownChannel(channel).separation(*EXAMPLE3.hypotheses).kl
    plain = LocalPrivacy(math.inf).separation(*EXAMPLE3.hypotheses).kl
    assert 100 * private <= worth * plain
    assert Fraction(effective_samples(LocalPrivacy(1), 4, 7)) >= 7 * Fraction(LocalPrivacy(1).contraction(4))


def test_table_ends_without_privacy():
    rows = plan_table(
        EXAMPLE3, [LocalPrivacy(0), LocalPrivacy(1), PmlPrivacy(1, "1/10")], 100, target_risk="1/20"
    )
    assert [row.privacy.words for row in rows] == [
        "LDP ε = 0",
        "LDP ε = 1",
        "PML ε = 1, c = 1/10",
        "no privacy",
    ]
    assert (rows[0].samples_needed, rows[0].factor) == (math.inf, None)
    assert rows[1].factor == pytest.approx(rows[1].samples_needed / rows[3].samples_needed)
    assert rows[3].factor == 1
    assert rows[1].samples_needed > rows[2].samples_needed > rows[3].samples_needed
    assert all(row.samples_needed is None and row.factor is None for row in plan_table(EXAMPLE3, [], 5))


def test_overlaps_at_the_edges():
    apart = Separation(1.0, 2.0, math.inf, math.inf)
    assert set(overlaps(apart, 1).values()) == {0.0}
    assert overlaps(apart, 0)["coupling"] == 1
    tiny = Separation(1e-300, 1e-300, 1e-300, 1e-300)
    for value in overlaps(tiny, 10).values():
        assert value < 1  # rounded down, never to a certainty
    assert overlaps(Separation(0.5, 0.1, 5.0, 5.0), 10**6)["kl"] == 0


def test_fano_is_sharp_for_symmetric_channels_and_zero_beyond():
    """k-ary randomised response of a uniform J meets Fano's inequality with equality."""
    truth, size = 0.6, 5
    other = (1 - truth) / (size - 1)
    information = math.log(size) + truth * math.log(truth) + (size - 1) * other * math.log(other)
    found = fano_error(size, information)
    assert 1 - truth - 1e-9 < found <= 1 - truth + 1e-12
    assert fano_error(size, math.log(size) + 1e-9) == 0
    assert fano_error(size, math.inf) == 0
    assert Fraction(fano_error(3, 0.0)) <= Fraction(2, 3)


def test_outward_floats():
    for value in (Fraction(1, 3), -Fraction(1, 3), Fraction(10**400), -Fraction(10**400), Fraction(0)):
        low, high = float_below(value), float_above(value)
        assert low <= value <= high
    assert math.isinf(float_above(Fraction(10**400)))
    assert math.isfinite(float_below(Fraction(10**400)))


def test_numbers_of_people_that_no_float_holds_are_cut_down():
    """At ε = 1e-200 some 10⁴⁰⁰ people are needed; what is said stays a necessary number that can be a float."""
    study = Study([Prior(["1/2", "1/2"]), Prior(["1/4", "3/4"])], loss="zero-one")
    row = plan_table(study, [LocalPrivacy(1e-200)], 10, target_risk="1/20")[0]
    assert row.samples_needed == 2**1023
    assert risk_lower_bound(study, LocalPrivacy(1e-200), row.samples_needed).value > 0.05
    assert row.factor is not None
    assert math.isfinite(row.factor)
