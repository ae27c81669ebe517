"""The account of several releases is never below what they leak together, and is attained where a rule is tight."""

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_oracle import World, mean, worst
from strategies import distributions
from tightlip import Channel, Nats, Prior, envelope, log_of
from tightlip.ledger.guarantees import Declared, Measured
from tightlip.ledger.rules import account
from tightlip.numeric.ball import log_exceeds

KINDS = ("pml", "pmc", "ldp", "maximal_leakage")
ZERO = Nats.of_ratio(Fraction(1))


def covers(charge, ratio):
    """Whether the charge is at least log ratio, decided exactly."""
    if math.isinf(charge.value):
        return True
    if ratio is None:
        return False
    if charge.value.ratio is not None:
        return charge.value.ratio >= ratio
    return not log_exceeds(ratio, float(charge.value))


def nats(ratio):
    return Nats(math.inf) if ratio is None else log_of(ratio)


def stated(ratios, kinds=KINDS):
    """Those levels that can be stated: finite and not 0."""
    return {
        kind: log_of(ratio)
        for kind, ratio in zip(KINDS, ratios, strict=True)
        if kind in kinds and ratio not in (None, 1)
    }


@st.composite
def matrices(draw, rows, *, positive=None):
    positive = draw(st.booleans()) if positive is None else positive
    columns = draw(st.integers(2, 3))
    return [draw(distributions(columns, positive=positive)) for _ in range(rows)]


@st.composite
def worlds(draw):
    """A world with a measured release of the record, and one or two others of each way to depend on it."""
    secrets, size = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    prior = draw(distributions(secrets, positive=True))
    records = [draw(distributions(size)) for _ in range(secrets)]
    coin = draw(distributions(2, positive=True))
    rows = {"secret": secrets, "record": size, "shared": 2 * size}
    ways = draw(st.lists(st.sampled_from(["secret", "record", "shared"]), min_size=1, max_size=3))
    return World(prior, records, coin, [(how, draw(matrices(rows[how]))) for how in ways])


def levels_of(world, place):
    return worst(world.likelihoods([place]).values(), world.prior)


def entry_of(draw, world, place):
    """State a random part of what is true of a release; None where nothing is to be stated."""
    how, matrix = world.releases[place]
    true = levels_of(world, place)
    kinds = draw(st.sets(st.sampled_from(KINDS), min_size=1))
    guarantees = stated(true, kinds)
    if how == "record":
        columns = list(zip(*matrix, strict=True))
        between = worst(columns, [Fraction(1, len(matrix))] * len(matrix))
        guarantees = stated(true, kinds & {"pml", "pmc"})
        guarantees |= stated(between, kinds & {"ldp", "maximal_leakage"})
    guarantees = guarantees or {"pml": log_of(max(true[0], 2))}
    acts_on = "unknown" if how == "shared" else how
    return Declared(f"{how} {place}", guarantees, acts_on=acts_on)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_account_is_below_what_the_releases_leak_together(data):
    world = data.draw(worlds())
    measured, first = None, 0
    if world.releases[0][0] != "secret" and data.draw(st.booleans()):
        measured, first = Measured(*map(nats, levels_of(world, 0))), 1
    entries = [entry_of(data.draw, world, place) for place in range(first, len(world.releases))]
    p_min = data.draw(st.sampled_from([None, min(world.prior)]))
    found = account(measured, entries, p_min=p_min)
    truth = worst(world.likelihoods().values(), world.prior)
    for kind, ratio in zip(KINDS, truth, strict=True):
        assert covers(getattr(found, kind), ratio), kind


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_envelope_is_below_the_one_of_the_joint_release(data):
    world = data.draw(worlds())
    how = world.releases[0][0]
    if how == "secret":
        world.releases[0] = ("record", data.draw(matrices(len(world.records[0]))))
    world.releases = world.releases[:2]
    delta = data.draw(st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(1, 2)]))
    prior = Prior(world.prior)

    def channel(places):
        columns = [vector for vector in world.likelihoods(places).values() if any(vector)]
        return Channel(list(zip(*columns, strict=True)))

    deltas = [delta, delta / 2, delta / 4, delta / 16]
    own = {smaller: envelope(channel([0]), prior, smaller).value for smaller in deltas}
    measured = Measured(*map(nats, levels_of(world, 0)), own)
    entries = [entry_of(data.draw, world, place) for place in range(1, len(world.releases))]
    found = account(measured, entries, p_min=prior, delta=delta)
    assert found.envelope.value >= envelope(channel(None), prior, delta).lower


def posterior_masses(vector, prior):
    return [p * a / mean(vector, prior) for p, a in zip(prior, vector, strict=True)]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_levels_for_all_priors_with_large_masses_are_chained_soundly(data):
    """(ε,c)-PML, computed at the corners of the priors with masses ≥ c: all c but one."""
    secrets = data.draw(st.integers(2, 3))
    prior = data.draw(distributions(secrets, positive=True))
    world = World(prior, [[Fraction(1)]] * secrets)
    entries = []
    for place in range(data.draw(st.integers(2, 3))):
        matrix = data.draw(matrices(secrets))
        world.releases.append(("secret", matrix))
        mass = min(prior) * data.draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 5)]))
        corners = [
            [1 - (secrets - 1) * mass if s == top else mass for s in range(secrets)] for top in range(secrets)
        ]
        columns = [column for column in zip(*matrix, strict=True) if any(column)]
        level = max(worst(columns, corner)[0] for corner in corners)
        if level > 1:
            guarantees = {"min_mass_pml": log_of(level)} | stated(
                levels_of(world, place), data.draw(st.sets(st.sampled_from(("pml", "ldp"))))
            )
            entries.append(Declared(f"{place}", guarantees, acts_on="secret", min_mass=mass))
    found = account(declared=entries, p_min=min(prior))
    truth = worst(world.likelihoods().values(), world.prior)
    for kind, ratio in zip(KINDS, truth, strict=True):
        assert covers(getattr(found, kind), ratio), kind
