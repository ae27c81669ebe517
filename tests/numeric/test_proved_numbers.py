"""Every number between two proved ends speaks the same words, also through a pickle; a single end has a value."""

import inspect
import pickle

import pytest

import tightlip as tl
from public_calls import calls
from tightlip.contraction import divergence, divergence_bound
from tightlip.errors import InvalidInput
from tightlip.histogram import HistogramSpace
from tightlip.histogram.privacy import Distortion, Privacy
from tightlip.numeric.proved import Proved
from tightlip.planning import LocalPrivacy, Study
from tightlip.planning.risk import PrivateStudy

COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
HALF = tl.Prior.uniform(2)
RELEASE = tl.noise.AdditiveNoise(tl.noise.UniformSecret(0, 1), tl.noise.Laplace(1))
NUMBERS = {
    "divergence": (lambda: divergence(["1/2", "1/2"], ["1/4", "3/4"], "kl"), True),
    "divergence, rational": (lambda: divergence(["1/2", "1/2"], ["1/4", "3/4"], "tv"), True),
    "bounds": (lambda: tl.envelopes.bounds(COIN, HALF, "1/5"), None),
    "privacy": (lambda: Privacy.of_ratio(tl.log_of(8).ratio, "bins"), True),
    "distortion": (lambda: Distortion.of(tl.log_of("1/3").ratio, "formula"), True),
    "noise": (lambda: tl.noise.pml(RELEASE, 1), True),
    "noise, any distribution": (
        lambda: tl.noise.pml(tl.noise.AdditiveNoise(tl.noise.BoundedSecret(0, 1), tl.noise.Laplace(1)), 1),
        False,
    ),
    "size": (lambda: HistogramSpace(10, 4).size_log(), True),
    "capacity": (lambda: tl.leakage_capacity(COIN, min_mass="1/10"), True),
    "failure": (lambda: tl.failure_probability(COIN, HALF, 0.1), None),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_proved_number_has_the_same_words(name):
    make, exact = NUMBERS[name]
    found = make()
    assert isinstance(found, Proved)
    assert found.lower <= found.upper == found.value
    assert found.gap == max(found.upper - found.lower, 0)
    assert isinstance(found.method, str)
    assert found.method
    assert isinstance(found.exact, bool)
    assert exact is None or found.exact is exact
    twin = pickle.loads(pickle.dumps(found))
    assert (twin.lower, twin.upper, twin.method, twin.exact) == (
        found.lower,
        found.upper,
        found.method,
        found.exact,
    )
    if found.certificate is None:
        with pytest.raises(InvalidInput, match="has no certificate"):
            found.verify()
    else:
        found.verify()


# made by hand, of what somebody else has proved
BY_HAND = {"measures.Bound", "contraction.Coefficient", "contraction.Divergence", "Coefficient.known"}
# of functions, which no file holds: what they prove is proved by calling again, and `verify` says so
OF_FUNCTIONS = {"measures.density_pml", "measures.density_pmc", "papers.proposition8"}
# two levels rather than two ends of one number, a proof, advice where nothing can be released, or two designs
NO_NUMBER = (
    "Alip",
    "Claim",
    "Intervals",
    "Certificate",
    "Least",
    "SecretAccount",
    "SmallestBudget",
    "Standing",
)


def _parts(found):
    """A result, and what it is made of: its parts, the rows of a table, the values of a mapping."""
    yield found
    names = [] if isinstance(found, (float, Proved)) else getattr(type(found), "__dataclass_fields__", {})
    properties = ("privacy", "distortion") if type(found).__module__.startswith("tightlip.histogram") else ()
    inside = [getattr(found, name, None) for name in (*names, *properties)]
    inside += list(found) if isinstance(found, (tuple, list)) and not hasattr(found, "_fields") else []
    for part in inside:
        for each in part.values() if isinstance(part, dict) else [part]:
            if type(each).__module__.startswith("tightlip"):
                yield from _parts(each)


def _check(found, name, path):
    """Both ends, how they were found, and a proof that holds here and from a file."""
    assert found.lower <= found.upper == found.value, name
    assert isinstance(found.method, str), name
    assert isinstance(found.exact, bool), name
    found.verify()
    found.save(path, force=True)
    proof = tl.load(path)
    proof.verify()
    assert proof.to_json() == found.certificate.to_json(), name


# Ibis calls what DuckDB will remove
def test_every_public_function_returns_numbers_that_can_be_checked(tmp_path):
    seen = set()
    for call in calls():
        if call.name in BY_HAND | OF_FUNCTIONS or call.name.startswith("table."):  # these return no numbers
            continue
        for found in _parts(call()):
            seen.add(type(found))
            if isinstance(found, Proved):
                _check(found, call.name, tmp_path / "proof.json")
            elif type(found).__module__.startswith("tightlip") and hasattr(found, "lower"):
                assert not hasattr(found, "upper") or type(found).__name__.endswith(NO_NUMBER), call.name
    public = {
        each
        for space in (
            "measures",
            "envelopes",
            "noise",
            "statistic",
            "robust",
            "contraction",
            "histogram",
            "designs",
        )
        for each in vars(getattr(tl, space)).values()
        if inspect.isclass(each) and issubclass(each, Proved)
    }
    assert len(public) > 8
    assert public <= seen


def test_a_single_end_has_a_value_and_a_method():
    above = divergence_bound("kl", 4, 0.1, 0.1)
    below = PrivateStudy.of(
        Study([tl.Prior(["1/2", "1/2"]), tl.Prior(["1/4", "3/4"])], loss="zero-one"), LocalPrivacy(1.0)
    ).risk(10)
    for bound in (above, below):
        assert type(bound.value) is float
        assert bound.method
    assert above.value == above


def test_the_best_bounds_are_named():
    found = tl.envelopes.bounds(COIN, HALF, "1/5")
    assert found.method == f"{found.lower_from} and {found.upper_from}"
    assert found.value.ratio == found.upper.ratio
