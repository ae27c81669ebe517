"""Linear designs against the program written out, in every guarantee and several together."""

import json
from fractions import Fraction

import numpy as np
import pytest

import design_oracle as oracle
import tightlip as tl
from tightlip.certificate.base import kind_digest
from tightlip.designs import design
from tightlip.designs.certificate import DesignCertificate
from tightlip.designs.guarantee import Alip, SetPml, Side
from tightlip.designs.linear import Kernel, Prices, keeps, proves
from tightlip.errors import CertificateInvalid
from tightlip.robust import PriorBall, PriorList, PriorPolytope, PriorSet

KINDS = ("pml", "pmc", "ldp", "lip", "alip", "min_mass", "maximal_leakage", "several", "secret", "priors")


def _case(kind, seed):
    """Draw a prior, gains, the arguments of `design`, rows for the oracle, and a total."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    size, outputs, level = int(rng.integers(2, 6)), int(rng.integers(1, 6)), float(rng.uniform(0.05, 2.0))
    masses = rng.dirichlet(np.ones(size))
    gains = rng.normal(size=(size, outputs))
    rows, total = oracle.rows_of, None
    if kind in ("pml", "pmc", "ldp"):
        return masses, gains, {kind: level}, rows(kind, masses, level), total
    if kind == "lip":
        both = np.concatenate([rows("pml", masses, level), rows("pmc", masses, level)])
        return masses, gains, {"lip": level}, both, total
    if kind == "alip":
        both = np.concatenate([rows("pml", masses, level), rows("pmc", masses, level / 2)])
        return masses, gains, {"alip": (level / 2, level)}, both, total
    if kind == "min_mass":
        c = float(rng.uniform(0.1, 1.0) * masses.min())
        return masses, gains, {"pml": level, "min_mass": c}, rows(kind, masses, level, c=c), total
    if kind == "maximal_leakage":
        return masses, gains, {kind: level}, np.zeros((1, size)), np.exp(level)
    if kind == "several":
        both = np.concatenate([rows("pml", masses, level), rows("ldp", masses, 1.5 * level)])
        several = {"pml": level, "ldp": 1.5 * level, "maximal_leakage": 0.8 * level}
        return masses, gains, several, both, np.exp(0.8 * level)
    if kind == "secret":
        given, weights = rng.dirichlet(np.ones(size), size=3), rng.dirichlet(np.ones(3))
        masses = weights @ given
        about = tl.Channel(given)
        return masses, gains, {"pml": level, "secret": about}, rows(kind, masses, level, given=given), total
    listed = rng.dirichlet(np.ones(size), size=3)
    several = {"pml": level, "priors": PriorList([tl.Prior(own) for own in listed])}
    return masses, gains, several, rows(kind, masses, level, priors=listed), total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_program_written_out(kind, seed):
    masses, gains, guarantees, rows, total = _case(kind, seed)
    found = design(tl.Prior(masses), gain=gains, **guarantees)
    best = oracle.best_gain(masses, gains, rows, total)
    scale = np.abs(gains).max()
    assert found.lower <= best + 1e-7 * scale
    assert found.upper >= best - 1e-7 * scale
    assert found.gap <= 1e-6 * scale
    found.verify()


@pytest.mark.parametrize("kind", ["pml", "pmc", "ldp", "several"])
@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_of_extreme_columns_is_no_better(kind, seed):
    masses, gains, guarantees, rows, total = _case(kind, seed)
    if total is not None:
        guarantees.pop("maximal_leakage")
    columns = oracle.vertices(masses, rows)
    worths = (columns @ (masses[:, None] * gains)).max(axis=1)
    best = oracle.best_mixture(masses, worths, columns)
    found = design(tl.Prior(masses), gain=gains, **guarantees)
    assert found.value == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_measured_levels_are_kept(seed):
    rng = np.random.default_rng(seed)
    prior, level = tl.Prior(rng.dirichlet(np.ones(7))), float(rng.uniform(0.1, 2))
    loss = rng.random((7, 7))
    for name, measure in (
        ("pml", lambda own: tl.pml(own, prior).worst),
        ("pmc", lambda own: tl.pmc(own, prior).worst),
        ("ldp", lambda own: tl.ldp(own)),
        ("lip", lambda own: tl.lip(own, prior)),
        ("maximal_leakage", lambda own: tl.maximal_leakage(own, prior)),
    ):
        found = design(prior, loss=loss, **{name: level})
        assert float(measure(found.channel)) <= level
    least = min(0.05, float(prior.min_mass))
    found = design(prior, loss=loss, pml=level, min_mass=least)
    assert float(tl.leakage_capacity(found.channel, min_mass=least).value) <= level
    found = design(prior, loss=loss, alip=(level, level / 2))
    measured = tl.alip(found.channel, prior)
    assert float(measured.lower) <= level
    assert float(measured.upper) <= level / 2


def test_an_exact_prior_and_level_give_an_exact_guarantee():
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    found = design(prior, pml=tl.log_of("3/2"), loss="hamming")
    assert tl.pml(found.channel, prior).worst.ratio <= Fraction(3, 2)
    assert sum(found.channel.matrix[0]) == 1


@pytest.mark.parametrize(
    "priors",
    [
        PriorBall(tl.Prior(["1/5", "3/10", "1/10", "2/5"]), "1/5"),
        PriorPolytope([[1, 0, 0, 0], [0, -1, 0, 0]], ["3/10", "-1/5"], min_mass="1/20"),
        PriorSet(min_mass="1/10"),
    ],
)
def test_sets_of_priors(priors):
    prior = tl.Prior(["1/5", "3/10", "1/10", "2/5"])
    loss = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    found = design(prior, pml=0.4, priors=priors, loss=loss)
    found.verify()
    assert float(tl.leakage_capacity(found.channel, prior_set=priors).value) <= 0.4
    assert found.gap <= 1e-6
    # a set says more than the prior alone, and less than no knowledge
    assert design(prior, pml=0.4, loss=loss).value <= found.value + 1e-6
    assert found.value <= design(prior, ldp=0.4, loss=loss).value + 1e-6


def test_an_envelope_gains_over_pml_and_is_proved_to_gain_no_more():
    rng = np.random.default_rng(5)
    prior, gain = tl.Prior(rng.dirichlet(np.ones(6))), rng.random((6, 6))
    plain = design(prior, gain=gain, pml=0.5)
    found = design(prior, gain=gain, envelope=(0.5, "1/10"))
    found.verify()
    assert tl.envelope(found.channel, prior, "1/10").upper <= 0.5 + 1e-9
    assert plain.value - 1e-9 <= found.value <= found.bound
    assert found.bound <= design(prior, gain=gain, maximal_leakage=0.5 + np.log(1.1)).bound + 1e-6


def test_every_part_of_a_proof_counts():
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    found = design(prior, pml=0.5, gain=[[3, 1, 0], [0, 2, 1], [1, 0, 4]])
    proof = found.certificate
    problem = found.utility.problem(proof.masses, proof.guarantees)
    assert keeps(problem, proof.kernel)
    assert proves(problem, proof.proof)
    heavier = proof.kernel.weights.copy()
    heavier[0, 0] += 10**9
    heavier[1, 0] -= 10**9
    assert not keeps(problem, Kernel(heavier, proof.kernel.scale))
    prices = proof.proof
    for name in ("secrets", "upper"):
        parts = {own: getattr(prices, own) for own in ("secrets", "total", "upper", "lower", "positive")}
        parts[name] = parts[name] * (1 - 1e-6)
        assert not proves(problem, Prices(**parts))


@pytest.mark.parametrize(
    "entry",
    [None, "nan", float("nan"), float("inf"), True, [0.5], 10**400],
    ids=lambda entry: repr(entry)[:8],
)
@pytest.mark.parametrize(
    "asked", [{"loss": "hamming"}, {"utility": "mutual_information"}, {"utility": "frequency_variance"}]
)
def test_a_proof_has_numbers_only(asked, entry, tmp_path):
    found = design(tl.Prior(["1/2", "3/10", "1/5"]), ldp=0.5, **asked)
    place = tmp_path / "proof.json"
    found.save(place)
    record = json.loads(place.read_text())
    for key in record["proof"]:
        changed = json.loads(place.read_text())
        part = changed["proof"][key]
        while isinstance(part, list) and part and isinstance(part[-1], list):
            part = part[-1]
        if not isinstance(part, list):
            changed["proof"][key] = entry
        elif part:
            part[-1] = entry
        else:
            continue
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        with pytest.raises((CertificateInvalid, tl.errors.InvalidInput), match=r"finite|JSON|too large"):
            tl.load(tmp_path / "changed.json")


@pytest.mark.parametrize("change", ["weights", "claim", "proof", "guarantees", "scale", "utility", "prior"])
def test_a_changed_file_is_refused(change, tmp_path):
    found = design(tl.Prior(["1/2", "3/10", "1/5"]), ldp=0.5, loss="hamming")
    place = tmp_path / "proof.json"
    found.save(place)
    tl.load(place).verify()
    record = json.loads(place.read_text())
    if change == "weights":
        record["weights"][0][0] += 1
        record["weights"][1][0] -= 1
    elif change == "claim":
        record["claim"] = [record["claim"][0] + 1e-6, record["claim"][1]]
    elif change == "proof":
        record["proof"]["secrets"][0] -= 1e-6
    elif change == "guarantees":
        record["guarantees"][0]["epsilon"] = "1/4"
    elif change == "scale":
        record["scale"] += 1
    elif change == "utility":
        record["utility"]["matrix"][0][1] = "1/2"
    else:
        record["prior"] = ["2/5", "2/5", "1/5"]
    place.write_text(json.dumps(record))
    with pytest.raises(CertificateInvalid):
        tl.load(place).verify()


def test_no_price_proves_less_than_a_channel_gains():
    # weak duality in rationals: whatever prices prove, admissible channels stay below
    rng = np.random.default_rng(2)
    for _ in range(20):
        size = int(rng.integers(2, 5))
        prior, gain = tl.Prior(rng.dirichlet(np.ones(size))), rng.normal(size=(size, 3))
        one = design(prior, pml=0.3, ldp=1.0, gain=gain)
        proof = one.certificate
        problem = one.utility.problem(proof.masses, proof.guarantees)
        shaken = proof.proof.secrets + rng.normal(size=size) * 0.05
        prices = Prices(shaken, 0.0, *(getattr(proof.proof, own) for own in ("upper", "lower", "positive")))
        if proves(problem, prices):
            assert prices.bound(problem.rows(Side.OUTER)) >= proof.kernel.gain(problem)


def _forged(found, change):
    """Write a certificate, change it and give it the hash that fits."""
    record = json.loads(found.certificate.to_json())
    change(record)
    about = {key: record[key] for key in ("prior", "secrets", "guarantees", "utility")}
    return json.dumps({**record, "inputs": kind_digest(record["kind"], about)})


def _renamed(record):
    record["utility"]["name"] = "hamming"


def _turned(record):
    record["guarantees"][0]["secrets"]["inputs"].reverse()


@pytest.mark.parametrize(
    ("asked", "change"),
    [
        ({"pml": 0.5, "loss": [[0, 0, 0]] * 3}, _renamed),
        ({"pml": 0.5, "priors": PriorBall(tl.Prior({"a": 0.5, "b": 0.3, "c": 0.2}), 0.1)}, _turned),
        ({"pml": 0.5, "min_mass": "1/10"}, lambda record: record["guarantees"][0].update(min_mass="1/2")),
        ({"pml": 0.5, "min_mass": "1/10"}, lambda record: record["guarantees"][0].update(min_mass="-1")),
        ({"envelope": (0.5, "1/10")}, lambda record: record["guarantees"][0].update(delta="3/2")),
        ({"pml": 0.5}, lambda record: record["guarantees"][0].update(upper=None)),
        (
            {
                "pml": 0.5,
                "secret": tl.Channel(
                    [["3/4", "1/8", "1/8"], ["1/4", "19/40", "11/40"]], outputs=["a", "b", "c"]
                ),
            },
            lambda record: record["guarantees"][0]["about"]["outputs"].reverse(),
        ),
    ],
)
def test_what_a_forger_calls_by_another_name_is_refused(asked, change):
    prior = tl.Prior(["1/2", "3/10", "1/5"], labels=["a", "b", "c"])
    found = design(prior, **{"loss": "hamming", **asked})
    DesignCertificate.from_json(_forged(found, lambda record: None)).verify()
    with pytest.raises(CertificateInvalid):
        DesignCertificate.from_json(_forged(found, change)).verify()


@pytest.mark.parametrize(
    ("counts", "asked", "value"),
    [
        ((10, 7), {"pmc": "19/5x", "loss": "hamming"}, Fraction(700, 5491)),
        ((5, 3), {"lip": "32/5x", "loss": "hamming"}, None),
        ((10, 7), {"pmc": "29/10x", "loss": "hamming"}, None),
        ((3, 4, 1, 12, 9), {"maximal_leakage": "17/10x", "loss": "hamming"}, Fraction(107, 290)),
        ((4, 11, 2, 6, 2), {"lip": "12/5x", "loss": "squared"}, None),
        ((5, 9), {"alip": ("9/2x", "18/5x"), "gain": [[-5, 9], [2, -4]]}, None),
        (
            (2, 4, 5),
            {
                "alip": ("29/5x", "9/2x"),
                "ldp": "14/5x",
                "pmc": "61/10x",
                "gain": [[1, 3, 5], [4, 8, -4], [6, -3, 8]],
            },
            None,
        ),
        (
            (2, 7),
            {"lip": "61/10x", "maximal_leakage": "19/5x", "pml": "11/2x", "gain": [[-4, -2], [5, 1]]},
            None,
        ),
    ],
)
def test_where_rounding_ends_the_interior_point_early_the_ends_still_meet(counts, asked, value):
    prior = tl.Prior.from_counts(counts, exact=True, labels=list(range(len(counts))))
    found = design(prior, **asked)
    found.verify()
    assert found.gap <= 1e-7 * abs(found.value)
    if value is not None:
        assert found.value == pytest.approx(float(value), rel=1e-9)


@pytest.mark.parametrize(
    ("counts", "asked"),
    [
        ((10, 5, 3, 2), {"ldp": "6x"}),
        ((27, 15, 13), {"ldp": "21/10x"}),
        ((20, 10, 26, 21), {"pmc": "6/5x", "lip": "26/5x"}),
    ],
)
def test_no_output_is_hardly_ever_published(counts, asked):
    found = design(tl.Prior.from_counts(counts, exact=True), loss="hamming", **asked)
    peaks = np.asarray(found.channel.floats).max(axis=0)
    assert ((peaks == 0) | (peaks > 1e-5)).all()
    assert found.gap <= 1e-7 * found.value


def test_small_designs_have_simple_numbers():
    """Of several optima a vertex: here every secret names one of the two likeliest, truly with probability 3/4."""
    found = design(
        tl.Prior.from_counts([2890, 2261, 1170, 493, 310, 92, 84], exact=True), ldp="3x", loss="hamming"
    )
    published = np.asarray(found.channel.floats)
    assert published.shape[1] == 2
    assert np.abs(np.abs(published - 0.5) - 0.25).max() < 1e-9


def _written(prior, guarantee, path):
    """Write the proof of a design that `design` would not make."""
    from tightlip.designs.run import Task, read_utility

    Task(prior, (guarantee,), read_utility(prior, loss="hamming")).solve().save(path)
    return path.read_text()


def test_a_certificate_about_priors_that_rule_a_secret_out_is_refused(tmp_path):
    priors = tl.robust.PriorList([tl.Prior(["1/2", "1/2"]), tl.Prior(["1", "0"])])
    guarantee = SetPml(tl.log_of(2), priors, tl.mechanism.constant(2)).refine([[1, 1]])
    text = _written(tl.Prior.uniform(2), guarantee, tmp_path / "proof.json")
    with pytest.raises(CertificateInvalid, match="every secret a positive mass"):
        DesignCertificate.from_json(text)


def test_a_certificate_about_a_secret_that_does_not_lead_to_the_prior_is_refused(tmp_path):
    about = tl.Channel([["1", "0", "0"], ["1", "0", "0"]])
    text = _written(tl.Prior(["1/4", "1/4", "1/2"]), Alip(None, tl.log_of(2), about), tmp_path / "proof.json")
    with pytest.raises(CertificateInvalid, match="must be a mixture of the rows of secret"):
        DesignCertificate.from_json(text)


@pytest.mark.parametrize("asked", [{"loss": "hamming"}, {"utility": "mutual_information"}])
def test_a_certificate_without_a_guarantee_is_refused(asked):
    found = design(tl.Prior.uniform(3), ldp=1, **asked)
    with pytest.raises(CertificateInvalid, match="there must be a guarantee"):
        DesignCertificate.from_json(_forged(found, lambda record: record.update(guarantees=[])))


@pytest.mark.parametrize(
    "asked",
    [
        {"pml": 40, "ldp": 1},
        {"lip": 100, "ldp": 1},
        {"ldp": 35, "pml": 0.5},
        {"ldp": 40, "pmc": 0.5},
        {"alip": (0.5, 50)},
        {"pml": 40, "maximal_leakage": 0.5},
        {"pml": 300, "min_mass": "1/10", "ldp": 1},
        {"ldp": 400, "maximal_leakage": 0.3},
    ],
)
@pytest.mark.parametrize("good_for", [{"gain": "hamming"}, {"utility": "frequency_variance"}])
def test_a_level_that_forbids_nothing_changes_nothing(asked, good_for):
    prior = tl.Prior(["1/2", "3/10", "1/5"])
    found = design(prior, **asked, **good_for)
    found.verify()
    assert found.relative_gap <= 1e-9
    small = {name: level for name, level in asked.items() if name != "min_mass" and level in (0.5, 1, 0.3)}
    rest = design(prior, **(small or {"pmc": 0.5}), **good_for)
    assert found.value == pytest.approx(rest.value, rel=1e-9)


@pytest.mark.parametrize("factor", ["2", "10", "1000"])
def test_bounds_with_tame_factors_are_those_that_they_stand_for(factor):
    """What is more than the sum of all entries bounds nothing; as a cone, nothing changes."""
    from tightlip.designs.guarantee import Upper

    masses = tuple(map(Fraction, ("1/2", "3/10", "1/5")))
    upper = Upper(tuple(Fraction(factor) * mass for mass in masses), Fraction(3))
    rng = np.random.default_rng(5)
    for side in Side:
        tamed = upper.tamed(side)
        assert min(tamed.row) <= 1
        for column in rng.integers(0, 20, (200, 3)).tolist() + np.eye(3, dtype=int).tolist():
            kept = [
                max(column)
                <= sum(u * k for u, k in zip(own.row, column, strict=True)) + own.floor * min(column)
                for own in (upper, tamed)
            ]
            assert kept[0] == kept[1]


def test_a_bound_by_the_least_entry_is_stricter_for_channels_and_looser_for_bounds():
    from tightlip.designs.guarantee import Upper

    upper = Upper((Fraction(0),) * 2, Fraction(10**20))
    inner, outer = upper.tamed(Side.INNER), upper.tamed(Side.OUTER)
    assert inner.floor < upper.floor
    assert outer.row == (1, 1)
    assert Upper((Fraction(0),) * 2, Fraction(10**6)).tamed(Side.INNER).floor == 10**6


def test_where_the_interior_point_stops_early_the_program_is_written_out():
    """Pairs of 19 secrets are told by ten outputs: log 10 of maximal leakage is enough for no loss at all."""
    masses = [Fraction(1, 2**place) for place in range(19)]
    found = design(
        tl.Prior([mass / sum(masses) for mass in masses]), maximal_leakage=2.5985962188274967, loss="top-2"
    )
    found.verify()
    assert found.value == found.bound == 0
