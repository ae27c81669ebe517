"""The filter in floats: what it passes holds in rationals, and it passes what the search proves."""

import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlip as tl
from tightlip.certificate.attack import Attack
from tightlip.certificate.envelope import EnvelopeCertificate, LowerProof, UpperProof
from tightlip.certificate.rational import RationalRelease
from tightlip.envelopes.adversaries import envelope, envelope_curve


def release(seed, secrets=6, outcomes=7):
    generator = np.random.default_rng(seed)
    channel = tl.Channel(generator.dirichlet(np.full(outcomes, 0.3) + 1e-3, secrets))
    return channel, tl.Prior(generator.dirichlet(np.ones(secrets)))


def surely_holds(certificate, numbers):
    return certificate.surely_holds(numbers)


def holds(certificate):
    try:
        certificate.verify()
    except tl.errors.CertificateInvalid:
        return False
    return True


def test_it_passes_what_the_search_proves():
    channel, prior = release(1, 30, 30)
    points = envelope_curve(channel, prior, np.linspace(0.05, 0.95, 19))
    numbers = RationalRelease.of(channel, prior)
    passed = [surely_holds(point.certificate, numbers) for point in points]
    assert sum(passed) >= 15
    assert all(holds(point.certificate) for point in points)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["0.05", "0.3", "0.7"]),
    st.integers(-60, 60),
    st.sampled_from(["upper ratio", "upper mass", "lower ratio", "lower mass"]),
    st.sampled_from([1e-16, 1e-15, 1e-13, 1e-10]),
)
def test_what_it_passes_holds(seed, delta, steps, what, unit):
    channel, prior = release(seed)
    certificate = envelope(channel, prior, delta).certificate
    end, field = what.split()
    proof = getattr(certificate, end)
    moved = getattr(proof, field) * (1 + Fraction(unit) * steps)
    changed = replace(certificate, **{end: replace(proof, **{field: moved})})
    if surely_holds(changed, RationalRelease.of(channel, prior)):
        changed.verify()


def test_several_are_told_apart():
    channel, prior = release(5, 12, 15)
    good = [point.certificate for point in envelope_curve(channel, prior, np.linspace(0.05, 0.95, 12))]
    numbers = RationalRelease.of(channel, prior)
    alone = [surely_holds(certificate, numbers) for certificate in good]
    assert sum(alone) >= 10
    more = Fraction(1001, 1000)
    low = [replace(one, lower=replace(one.lower, ratio=one.lower.ratio * more)) for one in good]
    rare = [replace(one, lower=replace(one.lower, mass=one.lower.mass * more)) for one in good]
    high = [replace(one, upper=replace(one.upper, mass=one.upper.mass / more)) for one in good]
    other = envelope(*release(6, 12, 4), "1/2").certificate
    mixed = [one for four in zip(good, low, rare, high, strict=True) for one in (*four, other)]
    told = [surely_holds(certificate, numbers) for certificate in mixed]
    assert told[0::5] == alone
    assert not any(any(told[place::5]) for place in (1, 4))  # of the others some have mass to spare
    assert all(holds(certificate) for certificate, good in zip(mixed, told, strict=True) if good)


def test_the_largest_lift_is_checked_exactly():
    channel, prior = release(5, 12, 15)
    certificate = envelope(channel, prior, "0.0001").certificate
    numbers = RationalRelease.of(channel, prior)
    assert certificate.upper.multipliers is None
    assert surely_holds(certificate, numbers)
    for factor in (1 - Fraction(1, 10**30), Fraction(9, 10)):
        less = replace(certificate.upper, ratio=certificate.upper.ratio * factor)
        assert not surely_holds(replace(certificate, upper=less), numbers)
        assert not holds(replace(certificate, upper=less))


class TestNotSure:
    CHANNEL, PRIOR = release(3)
    CERTIFICATE = envelope(CHANNEL, PRIOR, "0.5").certificate
    NUMBERS = RationalRelease.of(CHANNEL, PRIOR)

    def test_untouched(self):
        assert surely_holds(self.CERTIFICATE, self.NUMBERS)

    @pytest.mark.parametrize(
        "change",
        [
            lambda upper: replace(upper, ratio=upper.ratio * Fraction(999, 1000)),
            lambda upper: replace(upper, ratio=Fraction(-1)),
            lambda upper: replace(upper, mass=upper.mass * Fraction(999, 1000)),
            lambda upper: replace(upper, multipliers=upper.multipliers[:-1]),
            lambda upper: replace(upper, multipliers=(0.0, *upper.multipliers[1:])),
            lambda upper: replace(upper, multipliers=(-1.0, *upper.multipliers[1:])),
            lambda upper: replace(upper, multipliers=(float("nan"), *upper.multipliers[1:])),
            lambda upper: replace(upper, multipliers=(float("inf"), *upper.multipliers[1:])),
            lambda upper: replace(upper, multipliers=None),
        ],
    )
    def test_upper_ends(self, change):
        assert not surely_holds(replace(self.CERTIFICATE, upper=change(self.CERTIFICATE.upper)), self.NUMBERS)

    @pytest.mark.parametrize(
        "change",
        [
            lambda lower: replace(lower, ratio=lower.ratio * Fraction(1001, 1000)),
            lambda lower: replace(lower, mass=lower.mass * Fraction(1001, 1000)),
            lambda lower: replace(lower, suspects=(99, *lower.suspects[1:])),
            lambda lower: replace(lower, suspects=(-1, *lower.suspects[1:])),
            lambda lower: replace(lower, suspects=lower.suspects[1:]),
            lambda lower: replace(lower, attack=Attack.of(tl.mechanism.randomized_response(4, 1.0))),
        ],
    )
    def test_lower_ends(self, change):
        assert not surely_holds(replace(self.CERTIFICATE, lower=change(self.CERTIFICATE.lower)), self.NUMBERS)

    def test_an_impossible_suspect(self):
        channel, _ = release(3)
        prior = tl.Prior([0.0, 0.2, 0.2, 0.2, 0.2, 0.2])
        found = envelope(channel, prior, "0.5").certificate
        numbers = RationalRelease.of(channel, prior)
        assert surely_holds(found, numbers)
        blamed = replace(found.lower, suspects=(0, *found.lower.suspects[1:]))
        assert not surely_holds(replace(found, lower=blamed), numbers)

    def test_other_outcomes(self):
        channel = tl.Channel(self.CHANNEL.matrix, None, list("abcdefg"))
        numbers = RationalRelease.of(channel, self.PRIOR)
        assert not surely_holds(replace(self.CERTIFICATE, channel=channel), numbers)

    def test_numbers_too_small_for_floats(self):
        channel = tl.Channel([[1e-290, 0.5, 0.5], [0.0, 0.4, 0.6], [0.0, 0.3, 0.7]])
        numbers = RationalRelease.of(channel, tl.Prior.uniform(3))
        assert not surely_holds(self.CERTIFICATE, numbers)

    def test_lifts_too_large_for_floats(self):
        channel = tl.Channel([[0.0, 1.0], [1.0, 0.0]])
        assert not RationalRelease.of(channel, tl.Prior([1.0, 5e-324])).normal

    def test_sums_too_large_for_floats(self):
        channel = tl.Channel([[0.1] * 9 + [0.1 + 8e-16]] * 2)  # q adds up to a little more than 1
        lower = LowerProof(Fraction(1), Fraction(1, 2), Attack.of(tl.Channel(np.ones((10, 1)))), (0,))
        numbers, slope = RationalRelease.of(channel, tl.Prior.uniform(2)), sys.float_info.max * (1 - 1e-14)
        for _ in range(100):
            upper = UpperProof(Fraction(1, 10**300), Fraction(10**308), (slope, slope))
            certificate = EnvelopeCertificate(channel, tl.Prior.uniform(2), upper, lower)
            assert not surely_holds(certificate, numbers)
            slope = math.nextafter(slope, math.inf)


def test_exact_channels_too():
    channel = tl.Channel([["1/7", "2/7", "4/7"], ["3/7", "3/7", "1/7"], ["1/3", "1/3", "1/3"]])
    prior = tl.Prior(["1/10", "3/10", "6/10"])
    certificate = envelope(channel, prior, "0.37").certificate
    numbers = RationalRelease.of(channel, prior)
    slightly_worse = replace(certificate.lower, ratio=certificate.lower.ratio * (1 - Fraction(1, 10**12)))
    higher = replace(certificate.upper, ratio=certificate.upper.ratio * (1 + Fraction(1, 10**9)))
    assert surely_holds(replace(certificate, lower=slightly_worse, upper=higher), numbers)


class TestNumbersThatFloatsLose:
    """Each passes if a number is taken for 0 or left out, and fails in rationals."""

    CHANNEL = tl.Channel([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]])
    PRIOR = tl.Prior([0.25, 0.5, 0.25])
    UPPER = UpperProof(Fraction(3), Fraction(2), (1.0, 1.0, 1.0))
    SILENT = LowerProof(Fraction(9, 10), Fraction(1, 100), Attack.of(tl.Channel([[1.0, 0.0]] * 3)), (0, None))
    TINY = Fraction(1, 10**400)

    def refused(self, upper=UPPER, lower=SILENT, channel=CHANNEL, prior=PRIOR):
        certificate = EnvelopeCertificate(channel, prior, upper, lower)
        with pytest.raises(tl.errors.CertificateInvalid):
            certificate.verify()
        return not surely_holds(certificate, RationalRelease.of(channel, prior))

    def test_the_rest_holds(self):
        certificate = EnvelopeCertificate(self.CHANNEL, self.PRIOR, self.UPPER, self.SILENT)
        certificate.verify()
        assert surely_holds(certificate, RationalRelease.of(self.CHANNEL, self.PRIOR))

    def test_a_share_that_underflows(self):
        attack = tl.Channel([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 5e-324, 1.0]])
        assert self.refused(lower=LowerProof(Fraction(1), Fraction(1, 100), Attack.of(attack), (0, 0, None)))

    def test_an_outcome_that_underflows(self):
        rare = self.TINY
        channel = tl.Channel(
            [[Fraction(1, 2), Fraction(1, 2), 0], [Fraction(1, 2), Fraction(1, 2) - rare, rare]]
        )
        attack = tl.Channel([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        lower = LowerProof(Fraction(1), Fraction(1, 100), Attack.of(attack), (0, 0, None))
        upper = replace(self.UPPER, multipliers=(1.0, 1.0))
        assert self.refused(upper=upper, lower=lower, channel=channel, prior=tl.Prior(["1/2", "1/2"]))

    def test_masses_next_to_nothing(self):
        nobody = replace(self.SILENT, mass=self.TINY, suspects=(None, None))
        assert self.refused(lower=nobody)
        below = UpperProof(Fraction(100), -self.TINY, (1e3, 1e3, 1e3))
        assert self.refused(upper=below)

    def test_a_multiplier_that_is_no_number(self):
        prior = tl.Prior([0.0, 0.5, 0.5])
        lower = replace(self.SILENT, suspects=(1, None))
        for odd in (float("inf"), float("nan")):
            upper = replace(self.UPPER, multipliers=(odd, 1.0, 1.0))
            assert self.refused(upper=upper, lower=lower, prior=prior)

    @pytest.mark.parametrize(
        ("end", "change"),
        [
            ("upper", {"ratio": Fraction(10**400)}),
            ("upper", {"mass": Fraction(10**400)}),
            ("upper", {"multipliers": (Fraction(10**400), 1.0, 1.0)}),
            ("upper", {"multipliers": (1.7e308, 1.7e308, 1.7e308)}),
            ("lower", {"ratio": Fraction(10**400)}),
            ("lower", {"mass": Fraction(10**400)}),
        ],
    )
    def test_numbers_that_no_float_holds_are_not_sure(self, end, change):
        proofs = {"upper": self.UPPER, "lower": self.SILENT}
        proofs[end] = replace(proofs[end], **change)
        certificate = EnvelopeCertificate(self.CHANNEL, self.PRIOR, **proofs)
        assert not surely_holds(certificate, RationalRelease.of(self.CHANNEL, self.PRIOR))
