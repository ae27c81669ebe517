"""Between the computed points too, a picture shows no more privacy than there is, and no stronger attack."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import tightlip as tl
from audit_example import example_audit, example_report
from tightlip import papers
from tightlip.auditing.envelope import tally_envelope
from tightlip.planning.risk import PrivateStudy
from tightlip.report.amounts import Amount
from tightlip.report.audit_chart import audit_pictures
from tightlip.report.chart import Bound
from tightlip.report.contraction import contraction_chart
from tightlip.report.envelope import envelope_chart, envelope_record
from tightlip.report.plan import plan_chart


def steps(chart):
    """Each curve of a chart as a function of x: the step that its interpolation draws."""
    found = {}
    for layer in chart["layer"]:
        mark = layer["mark"]
        if mark["type"] != "line":
            continue
        rows = (layer.get("data") or chart["data"])["values"]  # of a single layer the chart has the data
        fields = [layer["encoding"][axis]["field"] for axis in "xy"]
        named = layer["encoding"]["color"]["field"]
        for name in dict.fromkeys(row[named] for row in rows):
            corners = sorted(tuple(row[field] for field in fields) for row in rows if row[named] == name)
            found[name] = _step(corners, mark["interpolate"])
    return found


def _step(corners, interpolate):
    def at(x):
        if interpolate == "step-after":
            return next(y for place, y in reversed(corners) if place <= x)
        assert interpolate == "step-before"
        return next(y for place, y in corners if place >= x)

    return at


@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("above", [True, False])
def test_a_step_through_loose_points_is_a_bound(falling, above):
    def truth(x):
        return -(x**3) if falling else x**3

    bound, places = Bound(falling=falling, above=above), [0.0, 0.5, 1.0, 2.0]
    loose = [truth(x) + (1 if above else -1) * slack for x, slack in zip(places, [0, 3, 0, 0.1], strict=True)]
    drawn = _step(list(zip(places, bound.tighten(loose), strict=True)), bound.step)
    for x in (place / 50 for place in range(101)):
        assert drawn(x) >= truth(x) if above else drawn(x) <= truth(x)


def test_the_audit_s_envelope_is_a_falling_step():
    audit, report = example_audit(), example_report()
    view = report.views[0]
    curves = steps(audit_pictures(view, unit="nats")["envelope"].spec())
    for delta in ("0.0011", "0.02", "0.045", "0.0999", "1/7", "0.3", "3/4", "0.999"):
        truth = tally_envelope(audit.deciding.counted.tally, Fraction(delta))[0]
        assert curves["guaranteed"](float(Fraction(delta))) >= truth.lower
        assert curves["reached by an attack"](float(Fraction(delta))) <= truth.upper
    drawn = [curves["guaranteed"](10 ** (-3 * place / 100)) for place in range(101)]
    assert drawn == sorted(drawn)


def test_one_computed_point_bounds_all_on_its_side():
    view = example_report(curve=False).views[0]
    curves = steps(audit_pictures(view, unit="nats")["envelope"].spec())
    assert curves["guaranteed"](1.0) == view.curve[0].upper.value
    assert curves["reached by an attack"](0.01) == view.curve[0].lower.value
    with pytest.raises(StopIteration):
        curves["guaranteed"](0.009)


def test_an_infinite_guarantee_is_left_to_the_table():
    view = example_report(curve=False).views[0]
    endless = Amount("inf", "nats", "infinite")
    view = replace(view, curve=tuple(replace(point, upper=endless) for point in view.curve))
    chart = audit_pictures(view, unit="nats")["envelope"].spec()
    assert '"inf"' not in json.dumps(chart)
    assert "guaranteed" not in steps(chart)


def test_the_curves_of_an_envelope_are_bounds():
    channel, prior = papers.env_example_1(), tl.Prior.uniform(4)
    points = [tl.envelope(channel, prior, delta) for delta in ("0.5", "0.05", "0.2", "0.9")]
    compared = [tl.envelopes.comparisons(channel, prior, point.delta) for point in points]
    record = envelope_record(points, compared=compared, unit="nats")
    curves = steps(envelope_chart(record).to_dict())
    for delta in ("0.07", "0.1", "0.19", "0.3", "0.49", "0.7", "0.89"):
        place, bounds = float(delta), tl.envelopes.bounds(channel, prior, delta)
        assert curves["any adversary (guaranteed)"](place) >= tl.envelope(channel, prior, delta).lower
        assert curves["bound ℒ + log 1/δ"](place) >= bounds.maximal_leakage
        if place > 0.5:  # infinite before
            assert curves["(ε, δ)-LDP"](place) >= tl.envelopes.dp_epsilon(channel, delta, prior)
        assert curves["one event"](place) <= bounds.event
        assert curves["no post-processing"](place) <= bounds.quantile


def test_the_curves_of_a_plan_are_lower_bounds():
    study = tl.planning.Study([tl.Prior(["3/10", "7/10"]), tl.Prior(["7/10", "3/10"])], loss="zero-one")
    level = tl.planning.LocalPrivacy(1)
    drawn = plan_chart(tl.planning.plan_table(study, [level], 100)).to_dict()
    curve, plan = steps(drawn)[level.words], PrivateStudy.of(study, level)
    for people in (1, 2, 5, 17, 40, 77, 333, 900):
        assert curve(people) <= plan.risk(people).value


def test_the_curves_of_contraction_are_bounds():
    found = tl.contraction.level_bounds(10, 1.2, "1/20")
    curves = steps(contraction_chart(found).to_dict())
    for epsilon in (0.011, 0.33, 0.777, 1.1, 1.62):
        assert curves["TV, bound"](epsilon) >= tl.contraction.dobrushin_bound(10, epsilon, Fraction(1, 20))
        assert curves["KL, bound"](epsilon) >= tl.contraction.divergence_bound(
            "kl", 10, epsilon, Fraction(1, 20)
        )
