"""The account of several releases is never below what they leak together, and is attained where a rule is tight."""

import math
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_oracle import World, mean, worst
from strategies import distributions
from tightlip import Channel, Nats, Prior, envelope, log_of
from tightlip.errors import InvalidInput, TightlipError
from tightlip.ledger.guarantees import Declared, Measured
from tightlip.ledger.rules import account
from tightlip.numeric.ball import log_exceeds
from tightlip.numeric.rounding import float_below

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
    if draw(st.booleans()):  # as floats, rounded up
        guarantees = {kind: float(level) for kind, level in guarantees.items()}
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
    p_min = data.draw(st.sampled_from([None, min(world.prior), float_below(min(world.prior))]))
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


def test_levels_of_one_kind_add_and_are_attained():
    """Two randomised responses on two secrets, uniform: LDP adds, and PML and PMC follow from the sum."""
    rows = {3: [["3/4", "1/4"], ["1/4", "3/4"]], 2: [["2/3", "1/3"], ["1/3", "2/3"]]}
    world = World([Fraction(1, 2)] * 2, [[Fraction(1)]] * 2)
    world.releases = [("secret", [list(map(Fraction, row)) for row in matrix]) for matrix in rows.values()]
    entries = [Declared(str(ratio), {"ldp": log_of(ratio)}, acts_on="secret") for ratio in rows]
    found = account(declared=entries, p_min="1/2")
    truth = worst(world.likelihoods().values(), world.prior)
    assert [getattr(found, kind).value.ratio for kind in KINDS[:3]] == list(truth[:3])
    assert (found.ldp.rule, truth[2]) == ("sum", 6)


@settings(max_examples=60, deadline=None)
@given(distributions(3, positive=True), st.integers(2, 9), st.integers(2, 9))
def test_one_level_beside_ldp_is_attained_for_every_prior(prior, first, second):
    """The least likely secret is raised by PML e^−PML = v ≥ p and then by LDP, or lowered by PMC and then by LDP."""
    p, place = min(prior), prior.index(min(prior))
    lift = min(Fraction(first), 1 / p) if first % 2 else Fraction(1) + (1 / p - 1) / first
    rest = (1 - p * lift) / (1 - p)
    low = Fraction(1, first)
    cases = {
        "pml": (
            [lift if s == place else rest for s in range(3)],
            [1 if s == place else Fraction(1, second) for s in range(3)],
        ),
        "pmc": (
            [low if s == place else (1 - p * low) / (1 - p) for s in range(3)],
            [Fraction(1, second) if s == place else 1 for s in range(3)],
        ),
    }
    for kind, (one, two) in cases.items():
        joint = [a * b for a, b in zip(one, two, strict=True)]
        truth = worst([joint], prior)[KINDS.index(kind)]
        alone = worst([one], prior)[KINDS.index(kind)]
        for acts_on, other in (("secret", "secret"), ("secret", "unknown"), ("record", "unknown")):
            entries = [
                Declared("first", {kind: log_of(alone)}, acts_on=other),
                Declared("second", {"ldp": log_of(second)}, acts_on=acts_on),
            ]
            assert getattr(account(declared=entries, p_min=p), kind).value.ratio == truth


def halves():
    """16 equally likely secrets, and two releases that each tell whether the secret is in a half; one is in both."""
    both = range(8), range(7, 15)
    return [[[int(s in half), int(s not in half)] for s in range(16)] for half in both]


def test_pml_does_not_add():
    world = World(
        [Fraction(1, 16)] * 16, [[Fraction(1)]] * 16, releases=[("secret", half) for half in halves()]
    )
    assert [levels_of(world, place)[0] for place in (0, 1)] == [2, 2]
    assert worst(world.likelihoods().values(), world.prior)[0] == 16
    entries = [Declared(name, {"pml": log_of(2)}, acts_on="secret") for name in "ab"]
    found = account(declared=entries, p_min="1/16")
    assert (found.pml.value.ratio, found.pml.rule, found.pml.uncovered) == (16, "cap", ("a", "b"))
    assert account(declared=entries).pml.value == math.inf


def test_pmc_does_not_add():
    """A secret of mass 1/10 is raised twice, all others are halved twice: the mean of the squares counts."""
    prior = [Fraction(1, 10), Fraction(9, 10)]
    vector = [Fraction(11, 2), Fraction(1, 2)]
    assert worst([vector], prior)[1] == 2
    assert worst([[a * a for a in vector]], prior)[1] == 13
    entries = [Declared(name, {"pmc": log_of(2)}, acts_on="secret") for name in "ab"]
    assert account(declared=entries, p_min="1/10").pmc.value.ratio >= 13


def test_levels_about_the_secret_do_not_add_where_data_are_shared():
    """A bit of the secret hidden by a bit of the record, and that bit: each alone says nothing about the secret.

    With a little noise each still says nothing, and together they have LDP log 113/15.
    """
    half, quarter = Fraction(1, 2), Fraction(1, 16)
    world = World([half, half], [[half, half, 0, 0], [0, 0, half, half]])  # record x = 2·secret + bit
    pad = [[1 - quarter, quarter], [quarter, 1 - quarter]]
    world.releases = [
        ("record", [pad[x % 2] for x in range(4)]),
        (
            "record",
            [[1 - quarter, quarter] if (x // 2) ^ (x % 2) == 0 else [quarter, 1 - quarter] for x in range(4)],
        ),
    ]
    assert [levels_of(world, place)[2] for place in (0, 1)] == [1, 1]
    together = worst(world.likelihoods().values(), world.prior)[2]
    assert together == Fraction(113, 15)
    wrong = [Declared(name, {"ldp": log_of("9/8")}, acts_on="secret") for name in "ab"]
    assert account(declared=wrong).ldp.value.ratio < together
    unknown = [Declared(name, {"ldp": log_of("9/8")}, acts_on="unknown") for name in "ab"]
    found = account(declared=unknown)
    assert (found.ldp.value, found.ldp.uncovered, found.ldp.rule) == (math.inf, ("a", "b"), "none")
    about = [Declared(name, {"pml": log_of("9/8")}) for name in "ab"]
    found = account(declared=about, p_min="1/2")
    assert covers(found.pml, worst(world.likelihoods().values(), world.prior)[0])
    assert (found.ldp.value, found.ldp.uncovered) == (math.inf, ("a", "b"))
    right = [Declared(name, {"ldp": log_of(15)}) for name in "ab"]
    assert account(declared=right).ldp.value.ratio >= together
    measured = Measured(ZERO, ZERO, ZERO, ZERO)
    assert account(measured, unknown[:1], p_min="1/2").pml.rule == "cap"
    assert account(measured, right[:1], p_min="1/2").ldp.value.ratio == 15 >= together


def test_a_single_release_keeps_its_own_levels():
    measured = Measured(log_of(3), "inf", "inf", log_of(2), {"1/10": log_of("5/2")})
    found = account(measured, p_min="1/4", delta="1/10")
    assert [getattr(found, kind).rule for kind in KINDS] == ["given", "none", "none", "given"]
    assert (found.envelope.value.ratio, found.envelope.rule) == (Fraction(5, 2), "given")
    assert found.pmc.uncovered == ("table",)
    assert account().pml.value == 0


def test_the_table_s_envelope_is_shifted_by_the_ldp_of_others():
    measured = Measured(log_of(50), "inf", "inf", log_of(20), {"1/10": log_of(9), "1/20": log_of(12)})
    found = account(measured, [Declared("noise", {"ldp": log_of(2)})], p_min="1/100", delta="1/10").envelope
    assert (found.value.ratio, found.rule) == (24, "shift")
    assert {use.kind for use in found.uses} == {"envelope", "ldp"}


def test_one_single_secret_leaks_nothing():
    entries = [Declared("a", {"sml": 1.0}, statistic="mean"), Declared("b", {"pml": 2.0}, adaptive="yes")]
    found = account(declared=entries, p_min=1, delta=0.1)
    assert [getattr(found, kind).value for kind in (*KINDS, "envelope")] == [0] * 5


@st.composite
def histories(draw):
    """Two releases of one way; of the second, one matrix for each outcome of the first."""
    secrets, size = 2, 3
    prior = draw(distributions(secrets, positive=True))
    records = [draw(distributions(size)) for _ in range(secrets)]
    how = draw(st.sampled_from(["secret", "record"]))
    rows = secrets if how == "secret" else size
    first = draw(matrices(rows, positive=True))
    return prior, records, how, first, [draw(matrices(rows, positive=True)) for _ in first[0]]


def own_levels(world, place):
    how, matrix = world.releases[place]
    if how == "secret":
        return levels_of(world, place)
    return worst(list(zip(*matrix, strict=True)), [Fraction(1, len(matrix))] * len(matrix))


@settings(max_examples=80, deadline=None)
@given(histories(), st.sampled_from(["ldp", "pml"]))
def test_the_chosen_release_s_level_bounds_what_was_published(history, kind):
    prior, records, how, first, later = history
    place = KINDS.index(kind)
    for y, second in enumerate(later):
        world = World(prior, records, releases=[(how, first), (how, second)])
        levels = [own_levels(world, 0)[2], own_levels(world, 1)[2 if how == "record" else place]]
        kinds = ["ldp", "ldp" if how == "record" else kind]
        if 1 in levels:
            continue
        entries = [
            Declared("first", {kinds[0]: log_of(levels[0])}, acts_on=how),
            Declared("second", {kinds[1]: log_of(levels[1])}, acts_on=how, adaptive="yes"),
        ]
        found = account(declared=entries, p_min=min(prior))
        published = [vector for (one, _), vector in world.likelihoods().items() if one == y]
        truth = worst(published, prior)
        assert all(
            covers(getattr(found, kind), ratio) for kind, ratio in zip(KINDS[:3], truth[:3], strict=True)
        )
        assert found.pml.holds == "for what was published"
        assert found.maximal_leakage.uncovered == ("second",)


@settings(max_examples=80, deadline=None)
@given(histories())
def test_levels_of_every_history_bound_averages_too(history):
    prior, records, how, first, later = history
    worlds = [World(prior, records, releases=[(how, first), (how, second)]) for second in later]
    levels = [own_levels(worlds[0], 0)[3], max(own_levels(world, 1)[3] for world in worlds)]
    if 1 in levels:
        return
    entries = [
        Declared("first", {"maximal_leakage": log_of(levels[0])}, acts_on=how),
        Declared("second", {"maximal_leakage": log_of(levels[1])}, acts_on=how, adaptive="every history"),
    ]
    vectors = [
        vector
        for y, world in enumerate(worlds)
        for (one, _), vector in world.likelihoods().items()
        if one == y
    ]
    found = account(declared=entries, p_min=min(prior), delta="1/10")
    assert covers(found.maximal_leakage, worst(vectors, prior)[3])
    assert found.maximal_leakage.holds == "for every outcome"
    joint = Channel(list(zip(*vectors, strict=True)))
    assert found.envelope.value >= envelope(joint, Prior(prior), "1/10").lower


def test_averages_of_the_chosen_release_do_not_add():
    """A first release that says little; after one outcome the second says little too, after the other everything."""
    high, low, even = Fraction(9, 16), Fraction(7, 16), [Fraction(1, 2)] * 2
    vectors = [[high * high, low * low], [high * low, low * high], [low, 0], [0, high]]
    weak = worst([[high, low], [low, high]], even)[3]
    assert worst(vectors, even)[3] > weak**2
    entries = [
        Declared(name, {"maximal_leakage": log_of(weak)}, acts_on="secret", adaptive=how)
        for name, how in (("a", "no"), ("b", "yes"))
    ]
    assert account(declared=entries).maximal_leakage.value == math.inf
    found = account(declared=entries, p_min="1/2", delta="1/2")
    assert (found.maximal_leakage.value.ratio, found.maximal_leakage.rule) == (2, "cap")
    assert (found.envelope.value.ratio, found.envelope.uncovered) == (2, ("b",))


def test_sml_adds_by_statistic_and_says_nothing_about_people():
    entries = [
        Declared("a", {"sml": log_of(2)}, statistic="mean"),
        Declared("b", {"sml": log_of(3)}, statistic="mean", adaptive="every history"),
    ]
    found = account(declared=entries, p_min="1/8")
    assert (found.sml["mean"].value.ratio, found.sml["mean"].rule) == (6, "sum")
    assert (found.pml.value.ratio, found.pml.rule, found.pml.uncovered) == (8, "cap", ("a", "b"))
    others = [
        Declared("c", {"sml": log_of(2)}, statistic="mean", adaptive="yes"),
        Declared("c", {"sml": log_of(2)}, statistic="mean", acts_on="unknown"),
        Declared("c", {"sml": log_of(2)}, statistic="share"),
        Declared("c", {"ldp": log_of(2)}),
    ]
    for other in others:
        charge = account(declared=[*entries, other]).sml["mean"]
        assert (charge.value, charge.uncovered) == (math.inf, ("c",))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_order_of_entries_says_nothing(data):
    level = st.sampled_from([log_of(2), log_of("9/8"), 0.1, 0.5])
    entries = []
    for place in range(data.draw(st.integers(2, 4))):
        acts_on = data.draw(st.sampled_from(["secret", "record", "unknown"]))
        kinds = data.draw(st.sets(st.sampled_from(KINDS), min_size=1))
        guarantees = {kind: data.draw(level) for kind in kinds}
        mass = None
        if acts_on == "secret" and data.draw(st.booleans()):
            guarantees["min_mass_pml"], mass = (
                data.draw(level),
                Fraction(1, data.draw(st.sampled_from([20, 60]))),
            )
        entries.append(Declared(str(place), guarantees, acts_on=acts_on, min_mass=mass))
    found = account(declared=entries, p_min="1/10", delta="1/10")
    for order in permutations(entries):
        assert account(declared=list(order), p_min="1/10", delta="1/10") == found


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_many_parts_are_never_below_what_all_orders_give(data):
    """Beyond the number of parts of which all orders are tried, few are; adding a release never lowers an account."""
    entries = []
    for place in range(8):
        kind = data.draw(st.sampled_from(["ldp", "pml", "min_mass_pml"]))
        mass = Fraction(1, 30 + place) if kind == "min_mass_pml" else None
        level = data.draw(st.sampled_from([log_of("9/8"), log_of("5/4"), 0.2]))
        entries.append(Declared(str(place), {kind: level}, acts_on="secret", min_mass=mass))
    few = [account(declared=entries[:n], p_min="1/20") for n in (5, 6, 7, 8)]
    for kind in KINDS:
        values = [float(getattr(one, kind).value) for one in few]
        assert all(a <= b * (1 + 1e-12) for a, b in pairwise(values)), kind


def test_the_chain_takes_the_masses_that_are_left():
    """PML log 11/10 leaves masses of 7/40 of 1/4; a release that needs more is put together by LDP instead."""
    little = Declared("b", {"pml": log_of("11/10")}, acts_on="secret")
    assert account(declared=[little], p_min="1/4").pmc.value.ratio == Fraction(10, 7)

    def beside(mass):
        much = Declared("a", {"min_mass_pml": log_of("3/2")}, acts_on="secret", min_mass=mass)
        found = account(declared=[much, little], p_min="1/4").pml
        return found.value.ratio, found.rule

    assert beside("7/40") == (Fraction(33, 20), "chain")
    assert beside("8/40") == (
        1 / (Fraction(1, 4) + Fraction(7, 11) * (Fraction(2, 3) - Fraction(1, 4))),
        "lead",
    )


def test_the_chain_needs_the_masses():
    """The first release makes the least likely secret rarer than the second one's level allows for."""
    prior = [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    first, second = [Fraction(1, 10), Fraction(1), Fraction(1)], [1, 1, 0]
    corners = [[Fraction(1, 2) if s == top else Fraction(1, 4) for s in range(3)] for top in range(3)]
    assert max(worst([second], corner)[0] for corner in corners) == 2
    assert worst([first], prior)[0] == Fraction(40, 31)
    together = worst([[a * b for a, b in zip(first, second, strict=True)]], prior)[0]
    assert together == Fraction(40, 11) > 2 * Fraction(40, 31)
    entries = [
        Declared("first", {"pml": log_of("40/31")}, acts_on="secret"),
        Declared("second", {"min_mass_pml": log_of(2)}, acts_on="secret", min_mass="1/4"),
    ]
    assert account(declared=entries, p_min="1/4").pml.value.ratio >= together


def test_levels_add_exactly():
    twice = [Declared(name, {"ldp": "log(2)"}) for name in "ab"]
    assert account(declared=twice).ldp.value.ratio == 4
    tenths = [Declared(str(place), {"ldp": 0.1}) for place in range(10)]
    value = account(declared=tenths).ldp.value
    assert Fraction(value) >= 10 * Fraction(0.1) > Fraction(math.nextafter(value, 0))


@pytest.mark.parametrize(
    "level",
    [
        math.nan,
        -0.1,
        math.inf,
        0,
        0.0,
        5e-324,
        log_of(1),
        log_of("1/2"),
        "log(1)",
        True,
        None,
        Nats(0.5, rounding="down"),
    ],
)
def test_levels_that_charge_nothing_or_anything_are_refused(level):
    with pytest.raises(TightlipError, match=r'guarantees of "survey", ldp'):
        Declared("survey", {"ldp": level})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"dp": 1.0},), "guarantees"),
        (({},), "guarantees"),
        (({"ldp": 1.0}, {"acts_on": "table"}), "acts_on"),
        (({"ldp": 1.0}, {"adaptive": "maybe"}), "adaptive"),
        (({"min_mass_pml": 1.0}, {"acts_on": "secret"}), "min_mass"),
        (({"ldp": 1.0}, {"min_mass": "1/4"}), "min_mass"),
        (({"min_mass_pml": 1.0}, {"acts_on": "secret", "min_mass": 0.7}), "min_mass"),
        (({"min_mass_pml": 1.0}, {"min_mass": "1/4"}), "acts_on"),
        (({"sml": 1.0},), "statistic"),
        (({"ldp": 1.0}, {"statistic": "mean"}), "statistic"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, words):
    guarantees, options = (*arguments, {})[:2]
    with pytest.raises(InvalidInput, match=words):
        Declared("survey", guarantees, **options)


def test_names_are_told_apart():
    with pytest.raises(InvalidInput, match="declared entry 1"):
        account(declared=[Declared("a", {"ldp": 1.0}), Declared("a", {"ldp": 1.0})])
    with pytest.raises(InvalidInput, match="measured"):
        account(1.0)
