"""SML, the numbers in its text: Theorem 4, Propositions 3 to 5, Appendix I."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip.histogram import HistogramSpace, Quantization, greedy_maxl
from tightlip.histogram.support import unlisted_privacy
from tightlip.papers import (
    MisspecifiedSupport,
    compare,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    proposition3_quantization,
)

TOTAL, KNOWN, SECRETS = 48842, 22381, 60
MISSING = (5, 20, 100)
STEPS = [step * TOTAL // 10 for step in range(51)]  # invalid combinations, up to 5τ
BOUNDS = ["first bound", "second bound", "log s"]


def appendix_bounds(missing: int, invalid: int) -> list[float]:
    """Both bounds of Proposition 4 in nats, one bin, and log s."""
    first = missing * math.log1p(TOTAL / (TOTAL + KNOWN + invalid - 2))
    second = (
        1 + SECRETS - SECRETS * ((KNOWN + invalid - 1) / (TOTAL + KNOWN + missing + invalid - 2)) ** missing
    )
    return [first, math.log(second), math.log(SECRETS)]


def rows() -> Iterator[Row]:
    """Appendix I, and the other numbers, each with what the paper prints."""
    for missing in MISSING:
        for invalid in STEPS:
            for curve, value in zip(BOUNDS, appendix_bounds(missing, invalid), strict=True):
                yield {"example": f"App. I, {missing} missing", "curve": curve, "x": invalid, "value": value}
    for example, printed, computed in numbers():
        yield {"example": example, "curve": "printed", "x": "", "value": float(printed)}
        yield {"example": example, "curve": "computed", "x": "", "value": float(computed)}


def printed_distortion(total: int, cells: int, bin_size: int) -> Fraction:
    """SML Theorem 4's distortion of quantization as printed."""
    return Fraction(1, 2) + Fraction(cells * (bin_size // 2) - total, 2 * total * (cells - 1))


def numbers() -> Iterator[tuple[str, float | Fraction, float | Fraction]]:
    """An example each: where it stands, what is printed, what is true."""
    yield "V-A: feasible combinations of age and registration", 3, len(_voting())
    yield "VI-C: largest SML of a share, bits", 16, math.log2(TOTAL + 1)
    yield "VI-D: largest SML of the difference, nats", 4.09, math.log(SECRETS)
    yield "App. I: bound at 20 missing, 5τ invalid, nats", 2.88, min(appendix_bounds(20, 5 * TOTAL))
    for total, cells, size in ((4, 3, 1), (11, 3, 4)):
        true = Quantization(HistogramSpace(total, cells), size).distortion.upper.fraction
        assert true is not None
        yield f"Theorem 4: τ={total}, d={cells}, I={size}", printed_distortion(total, cells, size), true
    case = compare(HistogramSpace(11, 3), 2)
    assert case.ratio is not None
    yield "Theorem 4: RR over QM at τ=11, d=3, I=2, at least", 1, case.ratio
    support = MisspecifiedSupport(total=4, known=2, spurious=0, missing=1)
    worst = misspecified_quantization_distortion(support, 1).upper.fraction
    assert worst is not None
    yield "App. H-D: QM at most, τ=4, I=1, d̂=2, one missing", printed_distortion(4, 3, 1), worst
    census = MisspecifiedSupport(TOTAL, KNOWN - 5, 0, 5)
    yield "Proposition 3: QM loses at most, bits, 5 missing", 5, proposition3_quantization(census).in_bits()
    leak = unlisted_privacy(1, [1, 9], [1, 0], 2, 2, share=True).upper.ratio
    assert leak is not None
    yield "Proposition 4: QM, e^Π at most, g₂ = {e₁, e₁₁}", Fraction(10, 9), leak
    yield "Proposition 5: RR, e^Π at least, τ=14, d̂=2, m=75, ε=0", 14.85664, _response_at_most(14, 2)
    last = misspecified_quantization_privacy(MisspecifiedSupport(1, 2, 0, 2), 2)
    yield "Proposition 5: QM, e^Π at least, τ=1, I=2", Fraction(4, 3), math.exp(last.upper)
    alone = greedy_maxl(HistogramSpace(2, 2), [[2, 0], [1, 1], [0, 2]])
    yield "VI-A: MaxL with Θ' = Θ, distortion", 0, float(alone.distortion.upper)


def _response_at_most(total: int, known: int) -> Fraction:
    """Bound e^Π of randomised response with ε = 0 and many missing cells: a table with g units has τ − g for them."""

    def histograms(extra: int) -> int:
        return math.comb(total + known + extra - 1, total)

    return 1 + sum(1 - Fraction(histograms(0), histograms(total - g)) for g in range(total + 1))


def _voting() -> list[tuple[bool, bool]]:
    """(adult, registered): nobody under 18 is registered."""
    return [
        (adult, registered)
        for adult in (True, False)
        for registered in (True, False)
        if adult or not registered
    ]


WHY = {
    "Theorem 4: τ=": "A factor 2 is lost; every histogram listed gives the computed value.",
    "Theorem 4: RR": "It rests on the lost factor 2.",
    "App. H-D": "It rests on the lost factor 2.",
    "Proposition 4": "It needs the share of a listed cell, and is printed for any secret.",
    "Proposition 5: RR": "It gives missing cells to tables that have no units left for them.",
    "Proposition 5: QM": "It counts τI/2s free units in every bin, and the last one has fewer.",
    "VI-A: MaxL": "The worst-case rule stops at the histogram (1, 1).",
}


def reproduce(quick: bool = False) -> Reproduction:
    """Compute all; it is quick."""
    del quick
    found = list(rows())
    panels = []
    for missing in MISSING:
        own = [row for row in found if row["example"] == f"App. I, {missing} missing"]
        axes = {"x_title": "invalid combinations", "y_title": "SML at most, nats"}
        panels.append(Panel(f"App. I, {missing} missing", curves(own, "x", "value", order=BOUNDS, **axes)))
    return Reproduction(
        "SML examples",
        "Numbers that stand in the text, beside what is computed, and Appendix I: both bounds of "
        "Proposition 4 as invalid "
        "combinations are inserted (τ = 48842, d̂₀ = 22381, s = 60, one bin).",
        found,
        panels,
        [*map(_compared, numbers()), *_appendix()],
        "Appendix I leaves the number of bins open; its 2.88 needs one bin.",
    )


def _compared(example: tuple[str, float | Fraction, float | Fraction]) -> Compared:
    name, printed, computed = example
    if name.startswith("Proposition 3"):
        agrees = float(computed) <= float(printed)
    elif "largest" in name:
        agrees = math.floor(100 * computed) == 100 * printed or round(computed) == printed
    else:
        agrees = math.isclose(float(printed), float(computed), abs_tol=0.001)
    why = next((text for start, text in WHY.items() if name.startswith(start)), "")
    return Compared(name, f"{float(printed):.6g}", f"{float(computed):.6g}", agrees, "" if agrees else why)


def _appendix() -> Iterator[Compared]:
    alpha = math.log(SECRETS) / math.log1p(TOTAL / (TOTAL + KNOWN))
    yield Compared(
        "App. I: bounds fall below α missing combinations, and are log s from α on",
        "5 missing: linear; 20 missing: concave from 4.09 to 2.88; 100 missing: log s",
        f"α = {alpha:.2f} with one bin, so 20 are above it",
        False,
        "Its general statement has log s at 20 missing, its own 2.88 is the first bound, which is "
        "convex; the second bound "
        f"is between {appendix_bounds(20, 5 * TOTAL)[1]:.2f} and {appendix_bounds(20, TOTAL)[1]:.2f}.",
    )
    slope = 5 * TOTAL / ((2 * TOTAL + KNOWN - 2) * (TOTAL + KNOWN - 2))
    start, end = appendix_bounds(5, 0)[0], appendix_bounds(5, 20_000)[0]
    line = start - 20_000 * slope
    yield Compared(
        "App. I: at 5 missing the bound falls linearly, 0 to 20,000 invalid",
        f"{start:.3f} to {line:.3f} by the linear term",
        f"{start:.3f} to {end:.3f}",
        round(end, 2) == round(line, 2),
        "" if round(end, 2) == round(line, 2) else "20,000 is not small beside 71,223: the curve is convex.",
    )


if __name__ == "__main__":
    main(reproduce)
