"""Releases on listed combinations and those of the table: guarantees against explicit channels of tiny tables."""

from fractions import Fraction

import numpy as np
import pytest

import histogram_oracle as oracle
from tightlip.errors import InvalidInput, ShapeMismatch
from tightlip.histogram import Except, Ratio, RatioDifference, Share, plan_release, tabulate
from tightlip.histogram.quantization import Quantization
from tightlip.histogram.space import HistogramSpace
from tightlip.histogram.support import unlisted_privacy, with_support
from tightlip.papers import MisspecifiedSupport, misspecified_quantization_privacy, proposition4_quantization

AH, AL, BH, BL, CL, CH = [
    ("a", "high"),
    ("a", "low"),
    ("b", "high"),
    ("b", "low"),
    ("c", "low"),
    ("c", "high"),
]
SHARE = Share({"group": "a", "income": "high"})
SEVERAL = Share({"income": "high"})
RATIO = Ratio({"income": "high"}, {"group": "a"}, resolution="1/2")
GAP = RatioDifference({"income": "high"}, {"group": "a"}, {"group": Except("a")}, resolution="1/2")

CASES = [
    (SHARE, 3, 2, [AH, AL, BL, CL], [AH, AL, BH]),
    (SHARE, 4, 3, [AH, AL, BL], [AH, AL]),
    (SEVERAL, 3, 2, [AH, AL, BH, BL], [AH, AL, CL]),
    (SEVERAL, 3, 4, [AH, AL, BH, BL], [AH, AL]),
    (RATIO, 3, 2, [AH, AL, BL, BH], [AH, AL, CL]),
    (GAP, 3, 2, [AH, AL, BH, BL, CL], [AH, AL, BH, BL, CH]),
    (GAP, 3, 5, [AH, AL, BH, BL, CL], [AH, AL, BH, BL]),
    (GAP, 3, 3, [AH, AL, BH, BL], [AH, AL, BH, BL]),
]


def table(total, cells):
    return [dict(zip(("group", "income"), cells[0], strict=True))] * total


def channel(secret, total, bin_size, feasible, support, ordered):
    """Every table on the feasible cells and its release on the listed cells and its own."""
    counted, cells = with_support(tabulate(table(total, feasible), feasible=feasible), support)
    grouped = secret.on(counted.domain, total)
    width = counted.domain.size
    case = Quantization(HistogramSpace(total, width), bin_size, secrets=grouped.size)
    space = {one: grouped.index(np.array(one)) for one in oracle.histograms(total, width)}
    rows = {}
    for one, index in space.items():
        if any(np.array(one)[~cells.feasible]):
            continue
        hidden = ~cells.listed & (np.array(one) == 0)
        own = case.bin_of(index)
        wanted = [case.representative(own)] if ordered else case.members(own)
        rows[one] = oracle.uniform(
            other for other, at in space.items() if at in wanted and not any(np.array(other)[hidden])
        )
    return rows, lambda one: space[one]


@pytest.mark.parametrize(("secret", "total", "bin_size", "feasible", "support"), CASES)
@pytest.mark.parametrize("ordered", [True, False])
def test_the_guarantee_holds_for_the_listed_channel(secret, total, bin_size, feasible, support, ordered):
    rows, value = channel(secret, total, bin_size, feasible, support, ordered)
    plan = plan_release(
        table(total, feasible),
        None,
        secret,
        bin_size=bin_size,
        ordered=ordered,
        feasible=feasible,
        support=support,
    )
    truth = oracle.leakage(rows, value)
    assert plan.privacy.lower.ratio <= truth <= plan.privacy.upper.ratio
    assert plan.distortion.lower <= oracle.distortion(rows) <= plan.distortion.upper
    assert plan.domain.size == len({*feasible, *support})
    plan.privacy.verify()


def test_without_unlisted_cells_it_is_the_number_of_bins():
    plan = plan_release(
        table(3, [AH]), None, GAP, bin_size=3, feasible=[AH, AL, BH, BL], support=[AH, AL, BH, BL, CL]
    )
    assert plan.privacy.ratio == 2


@pytest.mark.parametrize("bin_size", [2, 3, 6])
@pytest.mark.parametrize(("spurious", "missing"), [(0, 1), (1, 2), (3, 5), (0, 80)])
def test_for_the_share_of_a_cell_it_is_between_the_exact_value_and_proposition_4(bin_size, spurious, missing):
    support = MisspecifiedSupport(total=8, known=3, spurious=spurious, missing=missing)
    found = unlisted_privacy(8, [1, 2 + spurious], [0, missing], 9, bin_size, share=True)
    assert misspecified_quantization_privacy(support, bin_size).lower <= found.upper
    assert found.upper <= proposition4_quantization(support, bin_size)


def test_where_proposition_4_fails_it_holds():
    # ten listed cells, an eleventh missing, g₂ = {e₁, e₁₁}, one row, one bin: 3/2
    found = unlisted_privacy(1, [1, 9], [1, 0], 2, 2, share=True)
    assert found.upper.ratio == Fraction(3, 2)


def test_draws_lie_on_listed_cells_and_those_of_the_table():
    rows = [dict(zip(("group", "income"), cell, strict=True)) for cell in (AH, AL, BH, BL, BL, CL)]
    feasible, support = [AH, AL, BH, BL, CL, ("d", "low"), ("d", "high")], [AH, AL, BH, BL, ("e", "low")]
    plan = plan_release(rows, None, GAP, bin_size=2, feasible=feasible, support=support, seed_for_tests=3)
    drawn = {row for _ in range(60) for row in plan.draw().table.rows()}
    assert drawn == {*support, CL}
    release = plan.draw()
    assert "on the 7 feasible combinations, 3 of which are not listed" in release.note
    assert release.table.domain.size == 8
    grouped = GAP.on(release.table.domain, 6)
    counts = tabulate(rows, feasible=[*feasible, ("e", "low")])
    own = GAP.on(counts.domain, 6).index(counts.counts) // 2
    assert grouped.index(release.table.counts) == min(2 * own + 1, grouped.size - 1)


def test_a_domain_tells_nothing_of_the_table():
    feasible, support = [AH, AL, BH, BL, CL], [AH, AL, BH, BL]
    plans = [
        plan_release(table(3, [cell]), None, GAP, bin_size=2, feasible=feasible, support=support)
        for cell in (AH, CL)
    ]
    assert (plans[0].domain.codes == plans[1].domain.codes).all()
    assert [plan.privacy.value for plan in plans] == [plans[0].privacy.value] * 2


@pytest.mark.parametrize(
    ("support", "error", "message"),
    [
        ([], InvalidInput, "support must have at least one row"),
        ([("a",)], ShapeMismatch, "support row 0 must have 2 values"),
        ([AH, AL, BH], InvalidInput, "support must list a combination of every group of the secret"),
    ],
)
def test_lists_that_cannot_be_used_are_refused(support, error, message):
    with pytest.raises(error, match=message):
        plan_release(table(3, [AH]), None, GAP, bin_size=2, feasible=[AH, AL, BH, BL], support=support)


def test_other_mechanisms_have_no_guarantee_with_it():
    with pytest.raises(InvalidInput, match="support must not be given for mechanism rr"):
        plan_release(table(3, [AH]), None, GAP, mechanism="rr", epsilon=1, support=[AH])


def test_cells_without_listed_ones_are_refused():
    with pytest.raises(InvalidInput, match="listed_cells must be positive"):
        unlisted_privacy(3, [1, 0], [0, 1], 4, 2)
