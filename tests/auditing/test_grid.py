"""Very many cells: no grid of posteriors proves more than thresholds that are evaluated on the cells themselves."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import grid_oracle as oracle
from tightlip.auditing.envelope import tally_envelope
from tightlip.auditing.tally import Tally

TABLES = st.integers(2, 4).flatmap(
    lambda secrets: st.lists(
        st.lists(st.integers(0, 12), min_size=secrets, max_size=secrets).filter(any), min_size=2, max_size=9
    ).filter(lambda cells: all(map(any, zip(*cells, strict=True))))
)
DELTAS = st.sampled_from(["1/50", "1/5", "1/2", "1"]).map(Fraction)


def tally_of(cells):
    counts = np.array(cells, dtype=np.int64).T
    secret, cell = np.nonzero(counts)
    return Tally.of(secret, cell, counts[secret, cell], counts.shape)


def envelope(tally, delta):
    return tally_envelope(tally, delta)[0]


def dual_value(tally, multipliers, ratio):
    """Σ_y max(0, max_x λ_x K_xy + (1 − λ_x T) q_y), in rationals."""
    worth = Fraction(0)
    for cell in oracle.cells_of(tally):
        share = Fraction(sum(cell.values()), tally.total)
        chances = [Fraction(cell.get(x, 0), int(tally.of_secret[x])) for x in range(tally.shape[0])]
        worth += max(
            [
                Fraction(0),
                *(
                    Fraction(m) * k + (1 - Fraction(m) * ratio) * share
                    for m, k in zip(multipliers, chances, strict=True)
                ),
            ]
        )
    return worth


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=7), st.integers(1, 50))
@settings(max_examples=200)
def test_pieces_are_whole_points_of_the_grid_and_add_up_to_the_cell(counts, fineness):
    found = oracle.pieces(counts, fineness)
    assert all(mass > 0 and min(point) >= 0 and sum(point) == fineness for mass, point in found)
    assert sum(mass for mass, _ in found) == sum(counts)
    assert len(found) <= len(counts)
    added = [sum(mass * point[place] for mass, point in found) for place in range(len(counts))]
    assert added == [fineness * count for count in counts]
    # a piece is nearer to the cell than the grid is wide
    assert all(
        abs(part * sum(counts) - fineness * count) < 2 * sum(counts)
        for _, point in found
        for part, count in zip(point, counts, strict=True)
    )


@given(TABLES, st.sampled_from([1, 2, 3, 5, 16]))
@settings(max_examples=40)
def test_a_split_release_has_the_same_priors(cells, fineness):
    tally = tally_of(cells)
    split = oracle.split_cells(tally, fineness)
    assert split.total == fineness * tally.total
    assert split.of_secret.tolist() == [fineness * size for size in tally.of_secret.tolist()]


@given(TABLES, DELTAS, st.sampled_from([1, 2, 3, 8]))
@settings(max_examples=40, deadline=None)
def test_grouped_and_split_cells_bound_the_envelope(cells, delta, fineness):
    tally = tally_of(cells)
    exact = envelope(tally, delta)
    lower = envelope(tally.with_cells(np.array(oracle.group_cells(tally, fineness))), delta)
    upper = envelope(oracle.split_cells(tally, fineness), delta)
    assert lower.lower <= exact.upper
    assert exact.lower <= upper.upper
    finer = envelope(
        oracle.split_cells(tally, 2 * fineness), delta
    )  # its triangles lie within those of the coarser grid
    assert finer.lower <= upper.upper


@given(TABLES, DELTAS, st.sampled_from([1, 2, 3, 8]))
@settings(max_examples=40, deadline=None)
def test_prices_of_a_split_release_prove_no_less_on_the_cells_themselves(cells, delta, fineness):
    tally = tally_of(cells)
    split = oracle.split_cells(tally, fineness)
    proof = envelope(split, delta).certificate.upper
    multipliers = getattr(proof, "multipliers", None)
    if multipliers is not None:
        worth = dual_value(tally, multipliers, proof.ratio)
        assert worth <= dual_value(split, multipliers, proof.ratio) <= delta


def test_the_ends_of_a_grid_close_slowly():
    generator = np.random.default_rng(4)
    tally = tally_of(generator.integers(1, 40, size=(60, 3)).tolist())
    delta = Fraction(1, 10)
    exact = envelope(tally, delta)
    gaps = []
    for fineness in (4, 16, 64):
        grouped = tally.with_cells(np.array(oracle.group_cells(tally, fineness)))
        ends = envelope(grouped, delta).lower, envelope(oracle.split_cells(tally, fineness), delta).upper
        assert ends[0] <= exact.upper
        assert exact.lower <= ends[1]
        gaps.append(ends[1] - ends[0])
    assert gaps == sorted(gaps, reverse=True)
    assert exact.gap < 1e-8 < 1e-4 < gaps[-1] < 0.05 < gaps[0]
