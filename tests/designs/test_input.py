"""What `design` refuses, and how it reads what it is given."""

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import tightlip as tl
from tightlip.designs import compare, curve, design, smallest_budget
from tightlip.errors import InvalidInput, InvalidPrior, WrongType
from tightlip.robust import PriorBall, PriorList, PriorPolytope

PRIOR = tl.Prior({"a": 0.5, "b": 0.3, "c": 0.2})
BALL = PriorBall(PRIOR, "1/5")
POLYTOPE = PriorPolytope([[1, 0, 0], [0, -1, 0]], ["3/5", "-1/10"], min_mass="1/20", labels=["a", "b", "c"])


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"loss": "hamming"}, "a guarantee must be given"),
        ({"pml": 1.0}, "one of loss, gain and utility"),
        ({"pml": 1.0, "loss": "hamming", "gain": "hamming"}, "loss and gain"),
        ({"pml": 1.0, "loss": [[0, 1, np.nan]] * 3}, "finite"),
        ({"pml": 1.0, "loss": [[0, 1], [1, 0]]}, "one row for each of 3"),
        ({"pml": -1.0, "loss": "hamming"}, "pml"),
        ({"pml": float("nan"), "loss": "hamming"}, "pml"),
        ({"pml": float("inf"), "loss": "hamming"}, "pml"),
        ({"alip": 1.0, "loss": "hamming"}, "alip must be a pair"),
        ({"envelope": (1.0, 0), "loss": "hamming"}, "envelope"),
        ({"envelope": (1.0, 0.1), "maximal_leakage": 1.0, "loss": "hamming"}, "maximal_leakage and envelope"),
        ({"min_mass": 0.1, "ldp": 1.0, "loss": "hamming"}, "min_mass must stand beside pml"),
        ({"min_mass": 0.5, "pml": 1.0, "loss": "hamming"}, "min_mass"),
        ({"pml": 1.0, "loss": "absolute"}, "labels that are numbers"),
        ({"pml": 1.0, "gain": "absolute"}, "loss"),
        ({"pml": 1.0, "loss": "nonsense"}, "hamming"),
        ({"pml": 1.0, "loss": "top-9"}, "k of at most 3, the number of secrets, got 9"),
        ({"pml": 1.0, "loss": "Hamming"}, 'write "hamming"'),
        ({"pml": 1.0, "loss": "top-k"}, 'got "top-k"; write "top-3" where'),
        ({"pml": 1.0, "loss": "hamming", "outputs": ["a", "b", "zz"]}, 'got "zz", which is never right'),
        ({"pml": 1.0, "gain": "hamming", "outputs": ["a", "zz"]}, 'got "zz", which is never right'),
        ({"pml": 1.0, "loss": pd.DataFrame([[0, 1]] * 2, index=["a", "b"])}, 'got none for "c"'),
        ({"pml": 1.0, "loss": pd.DataFrame([[0, 1]] * 4, index=[*"abcd"])}, 'got "d"; rename it'),
        ({"pml": 1.0, "priors": 3, "loss": "hamming"}, "priors must be"),
        ({"pml": 1.0, "utility": "nonsense"}, "utility must be"),
        ({"pml": 1.0, "utility": "mutual-information"}, 'write "mutual_information"'),
        ({"pml": 1.0, "secret": tl.Channel([[1, 0, 0], [0, 1, 0]]), "loss": "hamming"}, "secret"),
        (
            {
                "pml": 0.0,
                "secret": tl.Channel([[1, 0, 0], [0, 1, 0], [0, 0, 1]], outputs=list("abc")),
                "loss": "hamming",
            },
            "positive",
        ),
    ],
)
def test_refusals_name_the_argument(asked, words):
    with pytest.raises(InvalidInput, match=words):
        design(PRIOR, **asked)


@pytest.mark.parametrize(
    ("prior", "min_mass"),
    [
        (PRIOR, 0.21),
        (tl.Prior(["1/2", "3/10", "1/5"]), "0.2000000000000001"),
        (tl.Prior([0.998, 0.001, 0.001]), "1/500"),
    ],
)
def test_a_least_mass_that_the_prior_does_not_keep_is_refused(prior, min_mass):
    for asked in ({"min_mass": min_mass}, {"priors": tl.PriorSet(min_mass=min_mass)}):
        with pytest.raises(
            InvalidPrior, match=r"min_mass must be at most the least mass of the prior.*lower it"
        ):
            design(prior, pml=1.0, loss="hamming", **asked)


def test_a_float_just_above_the_least_mass_is_that_mass():
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    found = design(prior, pml="log(2)", min_mass=0.2, loss="hamming")  # the float 0.2 is above one fifth
    assert found.guarantees[0].min_mass == Fraction(1, 5)
    assert tl.pml(found.channel, prior).worst.ratio <= 2


def test_a_mapping_is_a_prior():
    masses = {"a": "1/2", "b": "3/10", "c": "1/5"}
    prior, given = tl.Prior(masses), {"mine": tl.mechanism.identity(["a", "b", "c"])}
    found = design(masses, pml=1, loss="hamming")
    assert found.prior == prior
    assert found.value == design(prior, pml=1, loss="hamming").value
    assert compare(given, masses, pml=1, loss="hamming").best.prior == prior
    assert curve(masses, pml=[1], loss="hamming").points == curve(prior, pml=[1], loss="hamming").points
    with pytest.raises(InvalidInput, match="no mechanism at all"):
        smallest_budget(masses, "pml", loss=[[1, 2], [3, 1], [2, 2]], loss_at_most=0.5)
    for wrong in ([0.5, 0.5], "uniform", {}, {"a": 0.5}):
        with pytest.raises(InvalidInput, match="prior"):
            design(wrong, pml=1, loss="hamming")


def test_a_prior_with_zeros_is_refused_with_the_secret():
    with pytest.raises(InvalidPrior, match=r"0 for .*b.*restricted"):
        design(tl.Prior({"a": 0.5, "b": 0.0, "c": 0.5}), pml=1.0, loss="hamming")


def test_a_secret_whose_mixtures_are_not_the_prior_is_refused():
    about = tl.Channel([[1, 0, 0], [0, 1, 0]], outputs=["a", "b", "c"])
    with pytest.raises(InvalidInput, match="mixture"):
        design(PRIOR, pml=1.0, secret=about, loss="hamming")


def test_huge_designs_are_refused_with_what_they_take():
    prior = tl.Prior.uniform(9000)
    with pytest.raises(InvalidInput, match=r"GB and [0-9]+ minutes"):
        design(prior, ldp=1.0, loss="hamming")


@pytest.mark.parametrize(("utility", "secrets"), [("mutual_information", 3000), ("frequency_variance", 600)])
def test_huge_designs_for_other_utilities_are_refused_too(utility, secrets):
    with pytest.raises(InvalidInput, match=r"GB and [0-9]+ minutes"):
        design(tl.Prior.uniform(secrets), ldp=1.0, utility=utility)


def test_a_series_is_a_prior_and_a_list_is_none():
    named = pd.Series({"a": 0.5, "b": 0.3, "c": 0.2})
    assert design(named, ldp=1.0, loss="hamming").value == design(PRIOR, ldp=1.0, loss="hamming").value
    for other in ([0.5, 0.3, 0.2], 5, None, "abc"):
        with pytest.raises(WrongType, match="prior must be a Prior"):
            design(other, ldp=1.0, loss="hamming")


def test_labels_decide_not_positions():
    import pandas as pd

    frame = pd.DataFrame([[0, 2], [5, 1], [3, 0]], index=["c", "a", "b"], columns=["yes", "no"])
    found = design(PRIOR, ldp=1.0, loss=frame)
    same = design(PRIOR, ldp=1.0, loss=[[5, 1], [3, 0], [0, 2]], outputs=["yes", "no"])
    assert found.value == same.value
    assert set(found.channel.outputs) <= {"yes", "no"}
    assert list(found.channel.inputs) == ["a", "b", "c"]


def test_exact_numbers_stay_exact():
    found = design(tl.Prior(["1/3", "2/3"]), ldp="log(3)", loss=[["1/3", "1"], ["1", "1/7"]])
    assert found.channel.is_exact
    assert all(entry.denominator < 10 for entry in found.channel.matrix.ravel())


def test_tiny_and_large_levels_and_masses():
    for asked in ({"pml": 1e-12}, {"ldp": 1e-7}, {"pmc": 1e-9}, {"pml": 30}, {"ldp": 40}, {"lip": 1e-5}):
        found = design(tl.Prior([1e-9, 0.3, 0.7 - 1e-9]), loss="hamming", **asked)
        found.verify()
        assert found.gap <= 1e-6


def test_a_level_that_leaves_no_room_for_floats_releases_nothing():
    # nothing is worth 0, and the truth much more: the repair of the truth has no room
    prior, gain = tl.Prior([0.5, 0.3, 0.2]), [[3, -2], [-3, 2], [-3, 2]]
    for level in (1e-13, 1e-16):
        found = design(prior, maximal_leakage=level, gain=gain)
        found.verify()
        assert found.value == 0
        curve(prior, maximal_leakage=[level, 1.0], gain=gain)


def test_masses_whose_lifts_no_float_holds_are_refused_for_informations():
    for power in (160, 320, 400):
        tiny = Fraction(1, 10**power)
        with pytest.raises(InvalidPrior, match="at least 1e-100"):
            design(tl.Prior([1 - tiny, tiny]), pml=1.0, utility="chi_squared")
    design(tl.Prior([1 - Fraction(1, 10**99), Fraction(1, 10**99)]), pml=1.0, utility="chi_squared").verify()


def test_a_prior_set_over_other_secrets_is_refused():
    with pytest.raises(InvalidInput):
        design(PRIOR, pml=1.0, priors=PriorBall(tl.Prior([0.5, 0.5]), 0.1), loss="hamming")


def test_a_target_that_conflicts_names_the_guarantee_and_the_distance():
    with pytest.raises(InvalidInput, match=r"under ldp .*away; loosen ldp"):
        smallest_budget(PRIOR, "pml", ldp=0.1, loss="hamming", loss_at_most=0.1)
    with pytest.raises(InvalidInput, match="no mechanism at all"):
        smallest_budget(PRIOR, "pml", loss=[[1, 2], [3, 1], [2, 2]], loss_at_most=0.5)
    with pytest.raises(InvalidInput, match="loss_at_most must be given"):
        smallest_budget(PRIOR, "pml", loss="hamming", gain_at_least=0.5)
    with pytest.raises(InvalidInput, match="what is looked for"):
        smallest_budget(PRIOR, "pml", pml=1.0, loss="hamming", loss_at_most=0.3)


@pytest.mark.parametrize("beside", [{"min_mass": 0.05}, {"priors": PriorBall(PRIOR, 0.1)}])
def test_a_conflict_with_pml_of_many_priors_is_told_of_pml(beside):
    with pytest.raises(InvalidInput, match=r"under pml .*away; loosen pml"):
        smallest_budget(PRIOR, "ldp", pml=0.1, loss="hamming", loss_at_most=0.05, **beside)
    with pytest.raises(InvalidInput, match=r"under ldp .*away; loosen ldp"):
        smallest_budget(PRIOR, "pml", ldp=0.1, loss="hamming", loss_at_most=0.05, **beside)


def test_a_target_that_only_the_truth_reaches_is_said_to_be_so():
    with pytest.raises(InvalidInput) as told:
        smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most=0)
    assert str(told.value) == (
        "loss_at_most must be one that some level of ldp reaches, got 0; releasing the truth reaches it, but nothing "
        "was found that does at a level of ldp up to 64 nats; raise it."
    )
    with pytest.raises(InvalidInput, match=r"got 1; releasing the truth reaches it, .* lower it"):
        smallest_budget(tl.Prior(["1/2", "1/2"]), "ldp", gain="hamming", gain_at_least=1)


def test_a_conflict_tells_the_value_that_can_be_reached():
    with pytest.raises(InvalidInput) as caught:
        smallest_budget(PRIOR, "pml", ldp=1.0, loss="hamming", loss_at_most=0.3)
    least = design(PRIOR, ldp=1.0, loss="hamming").bound
    assert f"less than {least:.6g}" in str(caught.value)


def test_the_smallest_budget_of_a_variance():
    found = smallest_budget(tl.Prior.uniform(3), "ldp", utility="frequency_variance", at_most=5)
    found.verify()
    assert found.upper == pytest.approx(found.lower, rel=1e-5)
    with pytest.raises(InvalidInput, match="at_most must be given"):
        smallest_budget(PRIOR, "ldp", utility="frequency_variance", at_least=5)


def test_the_smallest_budget_is_a_short_number():
    found = smallest_budget(PRIOR, "pml", loss="hamming", loss_at_most=0.25)
    assert max(len(repr(found.upper)), len(repr(found.lower))) <= 10


def test_the_smallest_budget_has_two_proved_ends():
    found = smallest_budget(PRIOR, "pml", loss="hamming", loss_at_most=0.25)
    found.verify()
    assert found.lower <= found.upper <= found.lower * (1 + 2e-6)
    assert design(PRIOR, pml=found.upper, loss="hamming").value <= 0.25
    assert design(PRIOR, pml=found.lower, loss="hamming").bound > 0.25
    assert smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most=0.9).upper == 0


@pytest.mark.parametrize("name", ["pml", "pmc", "lip", "ldp"])
def test_the_smallest_budget_about_a_secret(name):
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    secret = tl.Channel([["4/5", "1/10", "1/10"], ["1/5", "1/2", "3/10"]])
    beside = {} if name != "ldp" else {"pml": 0.5}
    found = smallest_budget(prior, name, secret=secret, loss="hamming", loss_at_most=0.4, **beside)
    found.verify()
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-5)
    free = tl.Channel([["1/2", "3/10", "1/5"]] * 2)
    assert smallest_budget(prior, "pml", secret=free, loss="hamming", loss_at_most=0.1).upper <= 1e-5


@pytest.mark.parametrize(("name", "level"), [("pml", 5), ("maximal_leakage", 3)])
def test_the_smallest_budget_of_the_best_value_is_where_it_begins(name, level):
    # the truth is allowed from log 1/p_min and from log n on, and nothing is better
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    found = smallest_budget(prior, name, loss="hamming", loss_at_most=0)
    found.verify()
    assert found.lower <= np.log(level) + 1e-12
    assert found.upper == pytest.approx(np.log(level), rel=2e-6)
    assert found.lower == pytest.approx(np.log(level), rel=1e-5)


def test_smallest_budget_is_the_inverse_of_design():
    for name in ("pml", "ldp", "pmc", "lip", "maximal_leakage"):
        value = design(PRIOR, loss="hamming", **{name: 0.4}).value
        if value == design(PRIOR, loss="hamming", **{name: 0.0}).value:
            continue
        found = smallest_budget(PRIOR, name, loss="hamming", loss_at_most=value)
        assert found.upper == pytest.approx(0.4, rel=1e-5)


@pytest.mark.parametrize("name", ["pml", "ldp", "lip"])
@pytest.mark.parametrize("envelope", [(1, 0.1), (0.3, 0.2)])
def test_an_envelope_beside_a_curve_loosens_no_bound(name, envelope):
    levels = [0.2, 0.5, 1.0]
    plain = curve(PRIOR, loss="hamming", **{name: levels}).points
    beside = curve(PRIOR, loss="hamming", envelope=envelope, **{name: levels}).points
    for level, one, other in zip(levels, plain, beside, strict=True):
        made = design(PRIOR, loss="hamming", envelope=envelope, **{name: level})
        assert other.bound >= one.bound * (1 - 2e-3)
        assert made.bound * (1 - 2e-3) <= other.bound <= made.value
        assert made.bound <= other.value


@pytest.mark.parametrize("name", ["pml", "ldp", "pmc", "lip", "maximal_leakage"])
def test_curves_enclose_the_designs(name):
    rng = np.random.default_rng(1)
    prior, loss = tl.Prior(rng.dirichlet(np.ones(6))), rng.random((6, 5))
    levels = [0.0, 0.05, 0.3, 0.7, 1.2, 2.0, 3.5, 6.0]
    found = curve(prior, loss=loss, **{name: levels[::-1]})
    assert [float(point.level) for point in found.points] == levels
    for point in found.points:
        one = design(prior, loss=loss, **{name: point.level})
        assert point.bound <= one.value
        assert one.bound <= point.value
        assert point.value - point.bound <= 2e-3
    values = [point.value for point in found.points]
    assert values == sorted(values, reverse=True)


def test_no_bound_is_beyond_the_best_output_for_each_secret():
    sizes = tl.Prior(dict.fromkeys(range(7), 1 / 7))
    levels = [0.5, 1, 2, 5, 10, 20]
    assert all(point.bound >= 0 for point in curve(sizes, pml=levels, loss="squared").points)
    assert all(point.bound >= 3 for point in curve(PRIOR, ldp=levels, loss=[[3, 9], [8, 3], [3, 4]]).points)
    assert all(
        point.bound <= 1 for point in curve(tl.Prior(["1/2", "1/2"]), ldp=levels, gain="hamming").points
    )
    assert design(PRIOR, ldp=60, loss="hamming").bound >= 0


def test_curves_of_sets_and_several_guarantees():
    found = curve(PRIOR, pml=[0.2, 0.6, 1.0], ldp=1.5, min_mass=0.1, loss="hamming")
    assert [own.key for own in found.others] == ["ldp"]
    for point in found.points:
        one = design(PRIOR, pml=point.level, ldp=1.5, min_mass=0.1, loss="hamming")
        assert point.bound <= one.value
        assert one.bound <= point.value


@pytest.mark.parametrize("priors", [BALL, POLYTOPE])
@pytest.mark.parametrize("levels", [{"pml": [0.3, 0.5, 1.0]}, {"pml": 0.5, "ldp": [0.6, 2.0]}])
def test_curves_keep_every_prior_of_a_set(priors, levels):
    found = curve(PRIOR, priors=priors, loss="hamming", **levels)
    for point in found.points:
        one = design(PRIOR, priors=priors, loss="hamming", **{**levels, found.guarantee: point.level})
        assert point.bound <= one.value
        assert one.bound <= point.value
        assert point.value - point.bound <= 2e-3


@pytest.mark.parametrize("asked", [{"ldp": 1.0}, {"ldp": [1.0], "pml": [1.0]}, {"ldp": []}])
def test_a_curve_needs_one_list(asked):
    with pytest.raises(InvalidInput, match="levels"):
        curve(PRIOR, loss="hamming", **asked)


def test_compare_tells_shares_of_the_possible():
    given = {
        "response": tl.mechanism.randomized_response(["a", "b", "c"], tl.log_of(2)),
        "nothing": tl.mechanism.constant(["a", "b", "c"]),
        "truth": tl.mechanism.identity(["a", "b", "c"]),
    }
    found = compare(given, PRIOR, ldp=tl.log_of(2), gain="hamming")
    response, nothing, truth = found.mechanisms
    assert [own.keeps for own in found.mechanisms] == [True, True, False]
    assert 0 <= response.share <= 1
    assert nothing.share == 0
    assert truth.share > 1
    assert response.levels["ldp"] == pytest.approx(np.log(2))
    with pytest.raises(InvalidInput, match="prior's secrets"):
        compare({"other": tl.mechanism.identity(2)}, PRIOR, ldp=1.0, gain="hamming")
    (first,) = compare([given["truth"]], PRIOR, ldp=tl.log_of(2), gain="hamming").mechanisms
    assert first.name == "mechanism 1"
    assert first.value == truth.value
    with pytest.raises(InvalidInput, match="at least one channel, got none"):
        compare([], PRIOR, ldp=1.0, gain="hamming")


def test_a_comparison_tells_values_where_there_are_no_shares():
    given = {
        "rr": tl.mechanism.randomized_response(["a", "b", "c"], 1),
        "flat": tl.mechanism.constant([*"abc"]),
    }
    found = compare(given, PRIOR, ldp=0.5, utility="frequency_variance")
    assert found.mechanisms[0].share is None
    assert re.fullmatch(
        rf"DesignComparison\(.+: best {found.best.value:.6g}; rr {found.mechanisms[0].value:.6g} "
        r"\(breaks a guarantee\); flat inf\)",
        repr(found),
    )


def test_randomised_response_of_a_float_level_keeps_it():
    for level in (0.1, 0.5, 1.0, 1.7, 3.0):
        given = {"response": tl.mechanism.randomized_response(["a", "b", "c"], level)}
        assert compare(given, PRIOR, ldp=level, loss="hamming").mechanisms[0].keeps


def test_compare_decides_envelopes_by_the_best_threshold():
    rng = np.random.default_rng(1)
    prior, gain = tl.Prior(rng.dirichlet(np.ones(5)).tolist()), rng.random((5, 5))
    asked = {"envelope": (0.5, "1/5"), "gain": gain}
    best = design(prior, **asked)
    assert best.guarantees[0].threshold is not None
    given = {"best": best.channel, "truth": tl.mechanism.identity(5)}
    assert [own.keeps for own in compare(given, prior, **asked).mechanisms] == [True, False]


def test_shares_of_the_possible_are_rounded_down():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        prior, gain = tl.Prior(rng.dirichlet(np.ones(3)).tolist()), rng.random((3, 3))
        channel = tl.mechanism.randomized_response(3, float(rng.uniform(0.001, 0.4)))
        found = compare({"one": channel}, prior, ldp=0.5, gain=gain)
        masses, rows = prior.exact().masses, channel.exact().matrix
        weighted = masses[:, None] * np.array([[Fraction(entry) for entry in row] for row in gain.tolist()])
        worth = sum((weighted.T @ rows).max(axis=0))
        nothing, share = max(weighted.sum(axis=0)), found.mechanisms[0].share
        if share is not None:
            exact = (worth - nothing) / (Fraction(found.best.bound) - nothing)
            assert exact - Fraction(1, 10**5) <= Fraction(share) <= exact


def test_outputs_that_are_certain_and_outputs_that_never_come():
    # under PML of log 3 only a, of mass 1/2, can become certain: the others would become 10/3 and 5 times as likely
    found = design(
        tl.Prior({"a": "1/2", "b": "3/10", "c": "1/5"}), pml="log(3)", gain=[[3, 0, 0], [0, 1, 1], [0, 1, 1]]
    )
    columns = dict(zip(found.channel.outputs, found.channel.matrix.T.tolist(), strict=True))
    alone = {
        output: [x for x, entry in zip("abc", column, strict=True) if entry]
        for output, column in columns.items()
    }
    assert found.certain() == [(output, xs[0]) for output, xs in alone.items() if len(xs) == 1]
    assert ("a", "a") in found.certain()
    assert sorted([*found.unused(), *columns]) == ["a", "b", "c"]
    assert design(tl.Prior(["1"]), pml=1, loss="hamming").certain() == []


def test_what_binds():
    found = design(PRIOR, ldp=tl.log_of(3), gain=[[1, 0, 0], [0, 2, 0], [0, 0, 3]])
    bound = found.binding()
    assert bound
    for one in bound:
        column = found.channel.floats[:, list(found.channel.outputs).index(one.output)]
        assert column.max() == pytest.approx(3 * column.min(), rel=1e-5)


@pytest.mark.parametrize(
    "priors",
    [
        PriorBall(tl.Prior(["1/2", "1/2", "0"]), 0),
        PriorPolytope([[0, 0, 1]], [0]),
        PriorList([tl.Prior.uniform(3), tl.Prior(["1/2", "1/2", "0"])]),
    ],
)
def test_sets_of_priors_that_rule_a_secret_out_are_refused(priors):
    """PML says nothing of such a secret: a channel that tells it apart keeps the guarantee and is better."""
    with pytest.raises(InvalidPrior, match="every secret a positive mass, got 0 for 2 in"):
        design(tl.Prior.uniform(3), pml="3/2x", priors=priors, loss="hamming")


def test_sets_in_which_a_secret_may_be_impossible_are_fine():
    for priors in (PriorBall(tl.Prior(["1/2", "1/2", "0"]), "1/10"), PriorPolytope([[0, 0, 1]], ["1/10"])):
        found = design(tl.Prior.uniform(3), pml="3/2x", priors=priors, loss="hamming")
        found.verify()
        assert tl.robust.leakage_capacity(found.channel, prior_set=priors).upper <= np.log(1.5) + 1e-12


def test_one_secret_has_nothing_to_tell_under_any_guarantee():
    for utility in ("frequency_variance", "mutual_information"):
        for asked in (
            {"pml": "1/10", "min_mass": "4/5"},
            {"ldp": 1},
            {"pml": 1, "min_mass": "1/2", "lip": 1},
        ):
            found = design(tl.Prior(["1"]), utility=utility, **asked)
            found.verify()
            assert found.value == 0


def test_levels_of_a_curve_that_share_a_float_are_in_order():
    fl = float(np.log(3))  # e to it is 3 + 2.7e-16
    for levels in ([fl, "log(3)"], ["log(3)", fl]):
        first, second = curve(tl.Prior.uniform(2), ldp=levels, utility="frequency_variance").points
        assert first.level == tl.log_of(3)
        assert first.level.ratio == 3
        assert getattr(second.level, "ratio", None) is None
        # randomised response with a factor of 3 + 27e-17 keeps the second level
        factor = 3 + Fraction(27, 10**17)
        assert Fraction(second.bound) <= 1 / (2 * ((factor - 1) / (factor + 1)) ** 2)
