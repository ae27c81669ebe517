"""Cases found by trying to make a number wrong."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.sparse import csr_array

import tightlip as tl
from exact_oracle import at_least_log
from tightlip.cli.main import main
from tightlip.numeric.parse import exact_text
from tightlip.report.measurement import headline


def test_side_information_without_labels_keeps_the_priors_labels():
    prior = tl.Prior({"b": "1/10", "a": "9/10"})
    silent = tl.Channel([["1/2", "1/2"]] * 2)
    channel = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["a", "b"])
    plain = tl.pml(channel, prior).ratios
    assert (
        tl.measures.conditional_pml(channel, prior, side=silent, given=0).ratios
        == plain
        == (Fraction(15, 14), Fraction(5, 2))
    )


def test_a_positive_profile_is_never_reported_as_zero():
    channel, epsilon = tl.Channel([[1.0, 1e-323], [1.0, 1.5e-323]]), 0.36461536937315553
    assert tl.ldp(channel) > epsilon
    assert tl.measures.privacy_profile(channel, epsilon) > 0


def test_the_rational_branch_respects_the_error_of_a_posterior():
    a, first, second = 4.5513508337943043e-290, 0.7651655798303363, 0.5987355835592182
    channel, prior = tl.Channel([[1.0, 0.0], [0.5, 0.5]]), tl.Prior([1.0, a])
    side = tl.Channel([[first, 1 - first], [second, 1 - second]])
    found = tl.measures.conditional_pml(channel, prior, side=side, given=0).value_of(1)
    weights = Fraction(1.0) * Fraction(first), Fraction(a) * Fraction(second)
    lift = sum(weights) / weights[1]
    assert at_least_log(float(found), lift)
    assert found == pytest.approx(666.4795250765804)


def test_levels_and_thresholds_given_as_text_are_exact():
    tenth = Fraction(1, 10)
    channel = tl.Channel([["99/100", "1/100"], ["1/1000000", "999999/1000000"]])
    with ctx.workprec(200):
        truth = arb(fmpq(99, 100)) - (arb(fmpq(847, 100))).exp() * arb(fmpq(1, 10**6))
        assert arb(float(tl.measures.privacy_profile(channel, "8.47"))) >= truth
    leak = tl.pml(channel, tl.Prior.uniform(2))
    assert leak.tail("0.1").fraction == leak.tail(tenth).fraction == 1
    bound = tl.measures.dp_tail_bound(
        tl.log_of(3), Fraction(2, 3) * (Fraction(1, 2) + Fraction(1, 10**18)), 2
    )
    assert bound > 0.5


def test_the_largest_is_chosen_by_exact_ratios():
    tiny = Fraction(1, 10**25)
    a, b = Fraction(9, 16), Fraction(4, 16)
    c = 3 * (Fraction(6, 16) - tiny) - a - b
    channel, prior = tl.Channel([[a, 1 - a], [b, 1 - b], [c, 1 - c]]), tl.Prior.uniform(3)
    ends = tl.alip(channel, prior)
    assert tl.lip(channel, prior).ratio == max(ends.lower.ratio, ends.upper.ratio)
    first = tl.Channel([["1/2", "1/2"], ["1/2", "1/2"]], outputs=["u", "v"])
    nearly = {
        "u": tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
        "v": tl.Channel([[Fraction(3, 4) + tiny, Fraction(1, 4) - tiny], ["1/4", "3/4"]]),
    }
    assert tl.measures.conditional_maximal_leakage(first, nearly).ratio == Fraction(3, 2) + tiny


def test_conditional_maximal_leakage_matches_labels_before_restricting():
    first = tl.Channel([[1, 0], [0, 1], [0, 1]], inputs=["a", "b", "c"], outputs=["u", "v"])
    prior = tl.Prior({"c": "1/2", "a": "1/2", "b": 0})
    assert tl.measures.conditional_maximal_leakage(first, tl.mechanism.identity(3), prior).ratio == 1


def test_merging_many_sparse_columns_keeps_the_stated_bound():
    size = 200_000
    rows = np.repeat([[0.1 / size], [0.9 / size]], size, axis=1)
    channel = tl.Channel(csr_array(np.concatenate([rows, [[0.9], [0.1]]], axis=1)))
    prior = tl.Prior([0.5, 0.5])
    reduced = channel.reduce()
    assert reduced.shape == (2, 2)
    assert tl.pml(reduced, prior).worst == pytest.approx(tl.pml(channel, prior).worst, abs=4e-12)


class TestHeadline:
    def said(self, channel, prior):
        return headline(tl.measure(channel, prior))

    def test_an_excluded_secret_is_not_silence(self):
        rare = Fraction(1, 10**13)
        channel, prior = tl.Channel([[rare, 1 - rare], [0, 1]]), tl.Prior([1 - rare, rare])
        assert self.said(channel, prior) == 'Outcome "0" rules out secret "1".'

    def test_a_secret_that_becomes_less_likely(self):
        rare = Fraction(1, 10**13)
        channel = tl.Channel([[2 * rare, 1 - 2 * rare], [rare, 1 - rare]])
        assert "divides the probability of secret" in self.said(channel, tl.Prior([1 - rare, rare]))

    def test_underflow_does_not_hide_certainty(self):
        said = self.said(tl.Channel([[1.0, 0.0], [1.0, 1e-200]]), tl.Prior([1.0, 1e-200]))
        assert "from less than 1e-12 % to 100 %." in said

    def test_numbers_beyond_the_float_range(self):
        tiny = Fraction(1, 10**400)
        channel = tl.Channel([[1 - tiny, tiny], [1, 0]])
        said = self.said(channel, tl.Prior([tiny * tiny, 1 - tiny * tiny]))
        assert "to 100 %." in said


class TestEdges:
    def test_cdf_of_sums_above_one(self):
        q = 2.0**-50
        leak = tl.pml(tl.Channel([[1 + q, 1e-30], [1 + q, 0.0]]), tl.Prior([0.5 + q / 2] * 2))
        assert leak.cdf(0.3) == 1

    def test_levels_beyond_the_float_range(self):
        q = 1 + 2.0**-50
        channel, prior = tl.Channel([[q, 0.0], [0.0, q]]), tl.Prior([0.5, 0.5])
        assert tl.measures.privacy_profile(channel, 1000.0) == 1
        assert tl.measures.psi2(channel, prior, 1000.0) == 0
        assert tl.measures.psi1(channel, prior, tl.log_of(10**400)) == 0
        assert tl.pml(channel, prior).tail(10**400) == 0

    def test_functions_whose_rows_exceed_one(self):
        q = 2.0**-50
        prior = tl.Prior([1 - q, q])
        found = tl.measures.function_cost_leakage(
            tl.mechanism.identity(2), prior, tl.Channel([[1 + q, 0.0], [0.0, 1.0]])
        )
        assert not np.isnan(found.values).any()

    def test_payoffs_of_any_size(self):
        channel, prior = tl.Channel([[0.75, 0.25], [0.25, 0.75]]), tl.Prior([0.5, 0.5])
        for unit in (np.finfo(float).max, 1e-300, 5e-324):
            assert tl.measures.gain_leakage(channel, prior, np.eye(2) * unit).worst == pytest.approx(
                math.log(1.5)
            )
        for unit in ("1e400", "1e-400"):
            assert tl.measures.gain_leakage(channel, prior, [[unit, 0], [0, unit]]).worst == pytest.approx(
                math.log(1.5)
            )
        with pytest.raises(tl.errors.InvalidInput, match="too small for a float"):
            tl.measures.cost_leakage(channel, prior, [["1e-400", 1], [1, "1e-400"]])

    def test_gain_witness_of_masses_too_small(self):
        channel, prior = tl.Channel([[0.75, 0.25], [0.25, 0.75]]), tl.Prior([1.0, 5e-324])
        with pytest.raises(tl.errors.InvalidInput, match=r"use prior\.exact\(\)"):
            tl.measures.pml_gain_witness(channel, prior)

    def test_lists_of_numpy_integers_are_as_ambiguous_as_any(self):
        channel, prior = tl.Channel([[0.75, 0.25], [0.25, 0.75]]), tl.Prior([0.5, 0.5])
        with pytest.raises(tl.errors.InvalidLabels, match="labels or weights"):
            tl.event_leakage(channel, prior, [np.int64(0), np.int64(1)])

    def test_density_of_nearly_equal_entries(self):
        entries = np.array([[1e-300], [np.nextafter(1e-300, 1)]])
        channel = tl.Channel(np.concatenate([entries, [[1.0], [1.0]]], axis=1))
        values = tl.information_density(channel, tl.Prior([0.5, 0.5])).values[:, 0]
        assert np.abs(values).max() <= 2.3e-16

    def test_json_numbers_that_floats_round_to_zero_are_refused(self, tmp_path, capsys):
        path = tmp_path / "tiny.json"
        path.write_text('{"prior": [0.5, 0.5], "channel": [[1e-400, 1], [0.5, 0.5]]}')
        assert main(["measure", str(path)]) == 2
        assert 'rounds to 0, got 1e-400; write it as text, "1e-400"' in capsys.readouterr().err

    def test_rationals_of_thousands_of_digits_in_the_report(self, tmp_path, capsys):
        path = tmp_path / "long.json"
        tiny = Fraction(1, 10**3000)
        record = {
            "prior": ["1e-3000", exact_text(1 - tiny)],
            "channel": [["1/3", "2/3"], ["1e-3000", exact_text(1 - tiny)]],
        }
        path.write_text(json.dumps(record))
        assert main(["measure", str(path)]) == 0
        assert main(["measure", str(path), "--json"]) == 0
        assert "Traceback" not in capsys.readouterr().err
