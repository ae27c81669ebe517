"""The experiments of examples/design_tradeoffs.py, with few points: numbers against closed forms, and the page."""

import math

import pytest
from examples import design_tradeoffs as made

import tightlip as tl


@pytest.fixture(scope="module")
def experiments():
    return {run.__name__: run(3) for run in (made.hamming, made.information, made.absolute)}


def test_the_bound_on_information_has_its_reference_values():
    assert made.information_bound(1) == pytest.approx(0.1233016, abs=5e-8)
    assert made.information_bound(2.5) == pytest.approx(0.7216225, abs=5e-8)


def test_pmc_tells_the_truth_or_draws_from_the_prior(experiments):
    for point in experiments["hamming"].curves["PMC"].points:
        truth = -math.expm1(-point.level)
        masses = [float(mass) for mass in made.SKEWED.masses]
        columns = [
            [truth * (x == z) * masses[x] + (1 - truth) * masses[x] * masses[z] for x in range(5)]
            for z in range(5)
        ]
        least = 1 - sum(max(column) for column in columns)
        assert point.bound <= least + 1e-9
        assert least <= point.value + 1e-9
        assert point.value - point.bound <= experiments["hamming"].gap()


def test_pml_gains_no_more_than_its_budget(experiments):
    for point in experiments["hamming"].curves["PML"].points:
        left, gain = 1.0, 0.0
        for mass in map(float, made.SKEWED.masses):
            told = min(1.0, left / max(mass, math.exp(-point.level)))
            gain, left = gain + mass * told, left - told * max(mass, math.exp(-point.level))
        assert 1 - point.value <= gain + 1e-9


def test_no_mechanism_says_more_than_the_bound_for_every_prior(experiments):
    one = experiments["information"]
    for curve in one.curves.values():
        for point, (level, most) in zip(curve.points, one.beside["bound for every prior"], strict=True):
            assert float(point.level) == level
            assert point.value <= most
    best, usual = (
        one.curves["best, 2 secrets"],
        [made.randomized_response(2, level) for level in made.levels(3, 2.0)],
    )
    assert [point.value for point in best.points] == pytest.approx(usual, abs=1e-9)  # two secrets
    for (_, value), point in zip(
        one.beside["randomised response, 30 secrets"], one.curves["best, 30 secrets"].points, strict=True
    ):
        assert value < point.value


def test_randomised_response_has_the_information_that_the_formula_says():
    channel = tl.mechanism.randomized_response(5, 1)
    compared = tl.designs.compare(
        {"usual": channel}, tl.Prior.uniform(5), ldp=1, utility="mutual_information"
    )
    assert compared.mechanisms[0].value == pytest.approx(made.randomized_response(5, 1), abs=1e-9)


def test_numbers_are_best_off_by_little(experiments):
    one = experiments["absolute"]
    for (_, usual), ldp, pml in zip(
        one.beside["randomised response"], one.curves["LDP"].points, one.curves["PML"].points, strict=True
    ):
        assert pml.value <= ldp.bound <= ldp.value < usual


def test_the_page_is_written_and_loads_nothing(tmp_path, capsys):
    made.main([str(tmp_path / "tradeoffs.html"), "--points", "2"])
    page = (tmp_path / "tradeoffs.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3 + 7
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")
    assert capsys.readouterr().out.count("within") == 3
