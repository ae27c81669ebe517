"""What is said and drawn of designed mechanisms: every number on its side, every step a bound."""

import json
import re
from fractions import Fraction
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

import tightlip as tl
from tightlip.certificate.base import Claim
from tightlip.designs.certificate import DesignCertificate
from tightlip.designs.utility import GREATEST_GAIN, LEAST_LOSS
from tightlip.numeric.quantity import nats_of_bits
from tightlip.report.claims import claim_record, claim_words
from tightlip.report.design import (
    _target_words,
    binding_words,
    compared_words,
    comparison_record,
    curve_cells,
    curve_record,
    curve_title,
    design_record,
    design_text,
    headline,
    smallest_headline,
    smallest_record,
)
from tightlip.report.design_chart import channel_chart, curve_chart, distinct

PRIOR = tl.Prior({"a": "1/2", "b": "3/10", "c": "1/5"})


def numbers(text):
    return [Fraction(found) for found in re.findall(r"\d+\.\d+", text)]


def test_a_level_is_told_as_it_is():
    found = tl.design(PRIOR, ldp=1 / 3, loss="hamming")
    assert found.guarantees[0].words() == "LDP of at most 0.3333333333333333 nats"
    assert tl.design(PRIOR, pml=1, loss="hamming").guarantees[0].words() == "PML of at most 1 nat"
    read = DesignCertificate.from_json(found.certificate.to_json())
    assert claim_words(read.claim()).startswith(
        "the mechanism keeps LDP of at most 0.3333333333333333 nats and"
    )


def test_a_bound_that_is_far_is_no_best_mechanism():
    said = headline(design_record(tl.design(PRIOR, envelope=(0.5, "1/10"), loss="hamming"), "nats"))
    assert said.startswith("The mechanism found loses")


def test_a_short_number_stands_for_both_ends():
    found = tl.design(PRIOR, pml="log(2)", loss="hamming")
    told = re.fullmatch(
        r"The best mechanism loses (\S+) on average; none under PML of at most log\(2\) nats loses less "
        r"\(both proved to (\S+)\)\.",
        headline(design_record(found, "nats")),
    )
    near, far = map(Fraction, told.groups())
    assert near == Fraction(1, 5)
    assert near - far <= Fraction(found.bound) <= Fraction(found.value) <= near + far
    assert far <= Fraction(1, 10**8)


@pytest.mark.parametrize("level", ["1/3", "0.7", "log(2)", "log(7/5)", "3"])
@pytest.mark.parametrize(
    "asked", [{"loss": "hamming"}, {"gain": "hamming"}, {"utility": "mutual_information"}]
)
def test_headlines_are_true_whichever_way_they_are_told(level, asked):
    for unit in ("nats", "bits"):
        record = design_record(tl.design(PRIOR, ldp=level, **asked), unit)
        told = headline(record)
        worse = 1 if "loss" in asked else -1
        first = Fraction(re.search(r"(?:loses|gains|information of) (\S+)", told)[1])
        proved = re.search(r"both proved to (\S+)\)", told)
        last = re.search(r"(?:less|more) than (\S+?)(?: nats| bits)?\.$", told)
        room = Fraction(proved[1]) if proved else 0
        bound = first if proved else Fraction(last[1])
        assert worse * (first - Fraction(record["value"])) >= -room
        assert worse * (bound - Fraction(record["bound"])) <= room


@pytest.mark.parametrize(
    "asked", [{"loss": "absolute"}, {"gain": "hamming"}, {"utility": "mutual_information"}]
)
def test_an_envelope_first_tells_what_it_could_gain(asked):
    prior = tl.Prior({1: "1/2", 2: "3/10", 3: "1/5"})
    found = tl.design(prior, envelope=(0.5, 0.1), **asked)
    first, second = found.words().splitlines()[:2]
    assert second == headline(design_record(found, "nats"))
    assert "at δ = 0.1" in second  # the float, not its 55 digits
    reached, bound, most = (
        Fraction(re.search(pattern, first)[1])
        for pattern in (r"same level \w+ (\S+?),? ", r"(?:less|more) than (\S+?)[: ]", r"at most (\S+) ")
    )
    sign = -1 if "loss" in asked else 1
    assert sign * reached <= sign * Fraction(found.pml.value)
    assert sign * bound >= sign * Fraction(found.bound)
    assert most >= sign * (Fraction(found.bound) - Fraction(found.pml.value))
    assert f"({100 * found.possible_gain / abs(found.pml.value):.2g} %)"[:2] in first
    record = found.to_dict(unit="bits")["pml"]
    scale = np.log(2) if "utility" in asked else 1
    assert record["possible_gain"] * scale == pytest.approx(found.possible_gain)
    assert record["possible_share"] == pytest.approx(found.possible_gain / abs(found.pml.value))
    assert found._repr_html_().index("under PML of the same level") < found._repr_html_().index(
        "The mechanism found"
    )


def test_outputs_that_give_a_secret_away_are_told():
    told = tl.design(PRIOR, pml="log(5)", loss="hamming").words()
    assert "Every output is published for one secret only: whoever sees it is certain of the secret." in told
    some = tl.design(PRIOR, pml="log(3)", gain=[[3, 0, 0], [0, 1, 1], [0, 1, 1]])
    assert "Output a (for a) is published for one secret only" in some.words()
    dropped = tl.design(PRIOR, pml="log(2)", loss="hamming")
    assert f"Never published: {', '.join(dropped.unused())}." in dropped.words()
    assert str(dropped) == dropped.words()
    assert repr(dropped).startswith("Design(")


ABOUT = tl.Channel(
    [["4/5", "1/10", "1/10"], ["1/5", "1/2", "3/10"]], inputs=["ill", "well"], outputs=["a", "b", "c"]
)
GIVES = "certain of that value, and learns no more of the secret than is guaranteed."


def test_data_are_not_called_the_secret():
    found = tl.design(PRIOR, pml="0.5", secret=ABOUT, loss="hamming")
    told = found.words()
    assert f"are each published for one value of the data only: whoever sees it is {GIVES}" in told
    assert re.search(r"is at the bound of PML of at most 0\.5 nats about the secret for (ill|well)\.", told)
    open_ = tl.design(PRIOR, pml="2", secret=ABOUT, loss="hamming")
    every = f"Every output is published for one value of the data only: whoever sees it is {GIVES}"
    assert every in open_.words()
    assert "<th>data</th>" in found._repr_html_()
    assert "3 values →" in repr(found)
    chart = channel_chart(found).to_dict()
    assert "P(output | data)" in json.dumps(chart)
    assert '"title": "secret"' not in json.dumps(chart)
    curve = tl.designs.curve(PRIOR, pml=["0.1", "1"], secret=ABOUT, loss="hamming")
    assert curve.secret == ABOUT
    record = curve_record(curve, "nats")
    assert curve_title(record).endswith("at 2 levels of PML about the secret")
    assert curve_cells(record, 5)[0][0] == "PML about the secret (nats)"
    assert "PML about the secret of at most (nats)" in json.dumps(curve_chart(record).to_dict())
    beside = tl.designs.curve(PRIOR, ldp=["0.1", "1"], pml=1, secret=ABOUT, loss="hamming")
    assert beside.secret is None
    assert curve_title(curve_record(beside, "nats")).endswith(
        "of LDP, and PML of at most 1 nat about the secret"
    )
    least = tl.designs.smallest_budget(PRIOR, "pml", secret=ABOUT, loss="hamming", loss_at_most=0.2)
    assert " nats about the secret is enough" in smallest_headline(smallest_record(least, "nats"))
    compared = tl.designs.compare(
        {"truth": tl.mechanism.identity([*"abc"])}, PRIOR, pml=1, secret=ABOUT, loss="hamming"
    )
    assert "(of the data: PML 1.6" in compared_words(comparison_record(compared, "nats"))[0]


@pytest.mark.parametrize("asked", [{"pml": "0.1"}, {"pmc": "0.1"}, {"lip": "0.1"}])
def test_what_is_at_a_bound_about_a_secret_is_a_value_of_it(asked):
    found = tl.design(PRIOR, secret=ABOUT, loss="hamming", **asked)
    bound = found.binding()
    assert bound
    columns = dict(zip(found.channel.outputs, found.channel.floats.T, strict=True))
    for one in bound:
        means = dict(zip(ABOUT.inputs, ABOUT.floats @ columns[one.output], strict=True))
        lifts = {s: abs(np.log(mean / one.probability)) for s, mean in means.items()}
        assert {s for s, lift in lifts.items() if lift > 0.0999} >= {*one.secrets}
        assert all(lifts[s] == pytest.approx(0.1, rel=1e-4) for s in one.secrets)


def test_a_claim_says_that_the_guarantee_is_about_a_secret():
    claim = tl.design(PRIOR, pml="0.3", secret=ABOUT, loss="hamming").certificate.claim()
    assert claim_words(claim).endswith(
        " All of this is about data of the prior a: 1/2, b: 3/10, c: 1/5, and about a secret (ill, well) with "
        "P(data | secret) as the file has it."
    )
    assert claim_record(claim)["about"] == ABOUT.to_dict()
    plain = claim_record(tl.design(PRIOR, pml="0.3", loss="hamming").certificate.claim())
    assert "about" not in plain


def test_levels_stay_in_nats_beside_bits():
    curve = tl.designs.curve(PRIOR, ldp=["1/2", "log(3)"], utility="mutual_information")
    record = curve_record(curve, "bits")
    assert (record["unit"], record["level_unit"]) == ("bits", "nats")
    columns, rows = curve_cells(record, 5)
    assert columns[0] == "LDP (nats)"
    assert [row[0] for row in rows] == ["0.5", "log(3)"]
    assert all(cell.endswith(" bits") for row in rows for cell in row[1:])


@pytest.mark.parametrize("target", [0.1274813, 1 / 3])
def test_a_target_is_told_as_it_was_given(target):
    found = tl.designs.smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most=target)
    assert f"loss of at most {target!r};" in smallest_headline(smallest_record(found, "nats"))


def test_a_target_that_is_just_reached_is_not_told_as_a_decimal_below_it():
    record = {"target": 0.1274813, "design": {"value": 0.1274813}}
    low, high = map(Fraction, _target_words(record).split(" to "))
    assert low < Fraction(0.1274813) < high


@pytest.mark.parametrize("name", ["{}", "a secret of a long name {}"])
def test_the_mechanism_fits_into_a_terminal(name):
    prior = tl.Prior({name.format(place): "1/10" for place in range(10)})
    record = design_record(tl.design(prior, ldp=12, gain="hamming"), "nats")
    for width in (80, 110):
        console = Console(width=width, record=True, file=StringIO())
        console.print(design_text(record))
        lines = console.export_text().splitlines()
        rows = [line for line in lines if line.startswith("│")]
        assert len(rows) == (10 if name == "{}" else len(rows))
        assert max(map(len, rows)) <= width
        assert "6.14e-06" in rows[0]
        assert any("rarer outputs not shown here. --json has all." in line for line in lines)


def test_shares_are_told_as_they_were_given():
    words = [
        tl.design(PRIOR, pml=1, min_mass=mass, loss="hamming").guarantees[0].words() for mass in (0.1, "1/10")
    ]
    assert [own.rpartition(" ")[2] for own in words] == ["0.1", "1/10"]
    long = tl.design(PRIOR, envelope=(1, Fraction(1, 3) + Fraction(1, 10**30)), loss="hamming").guarantees[0]
    told = Fraction(long.words().rpartition(" ")[2])
    assert long.delta <= told <= long.delta + Fraction(1, 10**11)


def test_nobody_is_at_a_bound_where_nothing_is_released():
    record = design_record(tl.design(PRIOR, ldp=0, loss="hamming"), "nats")
    assert binding_words(record) == ["No output is at the bound of a guarantee."]


def test_ends_of_the_smallest_budget():
    found = tl.designs.smallest_budget(PRIOR, "ldp", loss="hamming", loss_at_most=0.3)
    for unit in ("nats", "bits"):
        record = smallest_record(found, unit)
        upper, target, lower = numbers(smallest_headline(record))
        assert (lower < upper, target) == (True, Fraction("0.3"))
        assert upper >= Fraction(record["upper"]) >= Fraction(found.upper)
        assert lower <= Fraction(record["lower"])


@pytest.mark.parametrize("asked", [{"loss": "hamming"}, {"gain": "hamming"}])
def test_steps_of_the_picture_are_bounds(asked):
    found = tl.designs.curve(PRIOR, ldp=["0.5", "1", "2"], **asked)
    chart = curve_chart(curve_record(found, "nats")).to_dict()
    worse = max if "loss" in asked else min
    for layer in chart["layer"][:2]:
        step, rows = layer["mark"]["interpolate"], layer["data"]["values"]
        for left, right in pairwise(rows):
            if left["curve"] != right["curve"]:
                continue
            drawn = left if step == "step-after" else right
            true = tl.design(PRIOR, ldp=(left["level"] + right["level"]) / 2, **asked)
            if drawn["curve"] == "reached":
                assert worse(drawn["value"], true.bound) == drawn["value"]
            else:
                assert worse(drawn["value"], true.value) == true.value


def test_variances_are_drawn_by_powers_of_ten():
    found = tl.designs.curve(PRIOR, ldp=[0, 0.5, 1], utility="frequency_variance")
    chart = curve_chart(curve_record(found, "nats")).to_dict()
    assert all(layer["encoding"]["y"]["scale"] == {"type": "log"} for layer in chart["layer"])
    values = [row["value"] for layer in chart["layer"] for row in layer["data"]["values"]]
    assert values
    assert all(0 < value < 1e6 for value in values)


def test_the_heat_map_is_the_channel():
    found = tl.design(PRIOR, ldp=1, loss="hamming")
    chart = channel_chart(found).to_dict()
    values = (chart.get("data") or chart["layer"][0]["data"])["values"]
    assert {(own["secret"], own["output"]): own["probability"] for own in values} == {
        (secret, output): float(found.channel.matrix[row, column])
        for row, secret in enumerate(found.channel.inputs)
        for column, output in enumerate(found.channel.outputs)
    }
    many = tl.design(tl.Prior.uniform(50), ldp=1, loss="absolute")
    assert "10 more secrets" in json.dumps(channel_chart(many).to_dict())


def test_labels_that_look_alike_keep_their_places():
    assert distinct([1, "1", "1 (2)", ("a", 2)]) == ["1", "1 (2)", "1 (2) (2)", "(a, 2)"]


def test_a_target_in_bits_holds_of_the_decimal():
    target = nats_of_bits(Fraction(1, 2))[1]
    found = tl.designs.smallest_budget(PRIOR, "pml", utility="mutual_information", at_least=target)
    record = smallest_record(found, "bits")
    assert "a mutual information of at least 0.5 bits;" in smallest_headline(record)
    low, high = nats_of_bits(Fraction(record["target"]))
    assert found.refuted.bound < low <= high <= found.design.value
    assert record["refuted"] == pytest.approx(found.refuted.bound / np.log(2))


def test_a_claim_says_what_it_is_about():
    found = tl.design(PRIOR, ldp="log(3)", pml=1, loss="hamming")
    said = claim_words(found.certificate.claim())
    assert said.startswith(
        "the mechanism keeps PML of at most 1 nat and LDP of at most log(3) nats and loses at most "
    )
    assert said.endswith(" All of this is about the prior a: 1/2, b: 3/10, c: 1/5.")
    many = tl.design(tl.Prior.uniform(20), pml=1, loss="hamming").certificate.claim()
    assert claim_words(many).endswith("7: 1/20, 12 more secrets.")
    odd = tl.Prior({"a": 0.1, "\x1b[31mb": 0.9})
    assert "a: ≈ 0.1, " in claim_words(tl.design(odd, pml=1, loss="hamming").certificate.claim())
    assert "\x1b" not in claim_words(tl.design(odd, pml=1, loss="hamming").certificate.claim())
    beside = tl.design(PRIOR, envelope=(0.5, "1/10"), gain="hamming")
    most = re.search(r"at most (\S+) can be gained", claim_words(beside.certificate.claim()))[1]
    assert Fraction(most) >= Fraction(beside.bound) - Fraction(beside.pml.value)
    assert float(most) == pytest.approx(beside.possible_gain, rel=1e-5)


def test_claims():
    assert claim_words(Claim(LEAST_LOSS, 0.1234567, 0.2345671, unit=None)) == (
        "the mechanism keeps its guarantees and loses at most 0.234568 on average, and none that keeps them loses "
        "less than 0.123456."
    )
    assert "gains at least 0.123456 on average" in claim_words(
        Claim(GREATEST_GAIN, 0.1234567, 0.5, unit=None)
    )
    said = claim_words(Claim("greatest mutual information of a mechanism", 0.1234567, 1.0, unit="nats"))
    assert (
        "has a mutual information of at least 0.123456 nats, and none that keeps them has more than 1 nat."
        in said
    )


def test_comparisons_are_sentences():
    given = {
        "usual": tl.mechanism.randomized_response([*"abc"], tl.log_of(3)),
        "blunt": tl.mechanism.constant([*"abc"]),
    }
    first, second, third, *_ = (
        tl.designs.compare(given, PRIOR, ldp="3x", utility="mutual_information")
        .words(unit="bits")
        .splitlines()
    )
    assert first.startswith("usual keeps the guarantee (PML ")
    assert " bits; to nearest) and has " in first
    assert first.endswith(" % of what is possible over releasing nothing.")
    assert second.endswith("and has 0 bits, 0 % of what is possible over releasing nothing.")
    assert third.startswith("The best mechanism has ")
    found = tl.designs.compare(given, PRIOR, ldp="3x", utility="frequency_variance")
    usual, blunt, *_ = str(found).splitlines()
    times = float(re.search(r"takes at most (\S+) times as many people", usual)[1])
    assert (
        found.mechanisms[0].value / found.best.bound
        <= times
        <= found.mechanisms[0].value / found.best.bound * 1.001
    )
    assert "people" not in blunt


def test_a_mechanism_that_keeps_a_level_is_not_told_above_it():
    given = {"own": tl.design(PRIOR, ldp=1.0, loss="hamming").channel}
    compared = tl.designs.compare(given, PRIOR, ldp=1.0, loss="hamming")
    assert compared.mechanisms[0].keeps
    assert "LDP 1 nat," in str(compared)
    assert "on average, all but 0.0001 % of what is possible over releasing nothing." in str(compared)


def test_levels_in_nats_are_told_as_factors_too():
    assert (
        "LDP of at most 3 nats, a factor of 20.1, against" in tl.design(PRIOR, ldp=3, loss="hamming").words()
    )
    assert "log(3) nats, against" in tl.design(PRIOR, ldp="3x", loss="hamming").words()
    both = tl.design(PRIOR, alip=("0.5", "0.7"), loss="hamming").words()
    assert "0.7 nats above, a factor of 1.65 and a factor of 2.02, against" in both


def test_what_stands_beside_an_envelope_is_named():
    told = tl.design(PRIOR, envelope=(0.5, 0.1), pmc=0.7, loss="hamming").words()
    assert "none under the envelope and PMC of at most 0.7 nats can" in told


def test_what_keeps_guarantees_exactly_is_told_as_hardly_anything():
    from tightlip.report.design import _entry

    assert _entry("1/3") == "1/3"
    assert _entry("1/100000000000000000") == _entry(1e-17) == "<1e-09"
    assert _entry(0) == "0"


def test_variances_say_of_how_many_people_they_are():
    assert "it is an N-th of that" in tl.design(PRIOR, ldp=1, utility="frequency_variance").words()


def test_pictures_of_mechanisms_say_what_they_keep_and_reach():
    found = tl.design(PRIOR, ldp="1/10", pml=1, loss="hamming")
    drawn = channel_chart(found).to_dict()
    assert drawn["title"]["subtitle"] == [
        f"expected hamming loss: {found.value:.6g}",
        "PML of at most 1 nat",
        "LDP of at most 0.1 nats",
    ]
    scale = drawn["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == [0, float(found.channel.floats.max())]


def test_priors_that_are_not_those_of_the_file_are_told():
    near = tl.robust.PriorList([tl.Prior(["1/10", "1/5", "7/10"], labels=[*"abc"])])
    told = tl.design(PRIOR, pml="2x", priors=near, loss="hamming").words()
    assert "is not among these: under it they promise nothing" in told
    both = tl.robust.PriorList([*near, PRIOR])
    assert "not among these" not in tl.design(PRIOR, pml="2x", priors=both, loss="hamming").words()
    assert "not among these" not in tl.design(PRIOR, pml="2x", min_mass="1/20", loss="hamming").words()


def test_an_envelope_that_gains_hardly_anything_takes_the_mechanism_of_pml():
    prior = tl.Prior({"diabetes": "1/10", "heart": "3/20", "none": "3/4"})
    found = tl.design(prior, envelope=(1e-6, 0.1), loss="hamming")
    found.verify()
    assert found.channel == found.pml.channel
    assert found.gained == 0


def test_designs_are_compared_as_their_channels_are():
    found = tl.design(PRIOR, ldp=1, loss="hamming")
    one, two = tl.designs.compare([found, found.channel], PRIOR, ldp=1, loss="hamming").mechanisms
    assert one.value == two.value


def test_a_target_beside_what_the_truth_has_names_the_number_to_ask_for():
    prior = tl.Prior(["1/10", "2/10", "3/10", "4/10"])
    with pytest.raises(tl.errors.InvalidInput, match=r"raise it to 0\.70000001\.$"):
        tl.designs.smallest_budget(prior, "pml", utility="frequency_variance", at_most=0.7)
    found = tl.designs.smallest_budget(prior, "pml", utility="frequency_variance", at_most=0.70000001)
    assert found.upper == pytest.approx(np.log(10), rel=1e-4)


def test_a_total_that_is_used_up_is_not_told_as_if_nothing_were():
    told = tl.design(tl.Prior.uniform(3), maximal_leakage=0.3, utility="mutual_information").words()
    assert told.endswith("maximal leakage is bounded for all of them together.")
