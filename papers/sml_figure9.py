"""SML Figure 9: privacy and distortion when feasible combinations are missing from the list, five million rows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip.histogram import HistogramSpace
from tightlip.papers import (
    MisspecifiedSupport,
    misspecified_quantization_distortion,
    misspecified_quantization_privacy,
    misspecified_response_distortion,
    misspecified_response_privacy,
)

TOTAL, FEASIBLE, INVALID = 5_000_000, 100, 40
MISSING = (5, 10, 20)
BITS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 22)
CURVES = [
    "quantization",
    "randomised response",
    "quantization, as printed, lower",
    "quantization, as printed, upper",
]


def printed(cells: int, bin_size: int) -> float:
    """SML Theorem 4's distortion of quantization as printed, at some number of cells."""
    return 0.5 + (cells * (bin_size // 2) - TOTAL) / (2 * TOTAL * (cells - 1))


def rows(missing: int) -> Iterator[Row]:
    """Both mechanisms at each level: ends of the leakage in bits, and of the distortion."""
    support = MisspecifiedSupport(TOTAL, FEASIBLE - missing, INVALID, missing)
    size_log = HistogramSpace(TOTAL, support.estimated).size_log().upper
    for bits in BITS:
        bin_size = max(1, -(-support.secrets // 2**bits))
        leak = misspecified_quantization_privacy(support, bin_size)
        cost = misspecified_quantization_distortion(support, bin_size)
        ends = _bits(leak)
        yield _row(missing, CURVES[0], bits, ends, float(cost.lower), float(cost.upper))
        for curve, cells in ((CURVES[2], support.estimated), (CURVES[3], support.widest)):
            yield _row(missing, curve, bits, ends, *(printed(cells, bin_size),) * 2)
        epsilon = size_log + math.log((2**bits - 1) / (support.secrets - 2**bits))
        cost = misspecified_response_distortion(support, epsilon)
        response = _bits(misspecified_response_privacy(support, epsilon))
        yield _row(missing, CURVES[1], bits, response, float(cost.lower), float(cost.upper))


def _bits(leak: object) -> tuple[float, float]:
    return float(leak.lower) / math.log(2), float(leak.upper) / math.log(2)  # type: ignore[attr-defined]


def _row(missing: int, curve: str, level: int, bits: tuple[float, float], low: float, high: float) -> Row:
    return {
        "missing": missing,
        "curve": curve,
        "level": level,
        "bits_lower": bits[0],
        "bits_upper": bits[1],
        "distortion_lower": low,
        "distortion_upper": high,
    }


def reproduce(quick: bool = False) -> Reproduction:
    """Compute every panel; the first alone where it must be quick."""
    found = [row for missing in MISSING[: 1 if quick else None] for row in rows(missing)]
    panels = []
    for missing in dict.fromkeys(row["missing"] for row in found):
        own = [row for row in found if row["missing"] == missing]
        chart = curves(
            own,
            "bits_upper",
            "distortion_upper",
            order=CURVES,
            x_title="SML at most, bits",
            y_title="worst-case expected total variation",
        )
        panels.append(Panel(f"{missing} missing", chart))
    return Reproduction(
        "SML Figure 9",
        "Leakage against distortion of quantization and randomised response when the holder's list misses feasible "
        "combinations: five million rows, 100 feasible combinations, 40 invalid ones inserted.",
        found,
        panels,
        list(_remarks(found)),
        "The secret is the share of a listed combination. The levels are those that the bins, or the "
        "response, would have "
        "with a right list; the leakage is between two proved ends, equal up to three missing combinations.",
    )


def _remarks(found: list[Row]) -> Iterator[Compared]:
    value = {(row["missing"], row["curve"], row["level"]): row for row in found}
    for missing in dict.fromkeys(row["missing"] for row in found):
        quantized, response = (value[missing, curve, 13] for curve in CURVES[:2])
        yield Compared(
            f"Figure 9, {missing} missing: quantization outperforms randomised response below 21 bits",
            f"by the printed formula its distortion is {value[missing, CURVES[3], 13]['distortion_upper']:.2f}",
            f"at level 13: quantization {quantized['distortion_upper']:.5f} at {quantized['bits_upper']:.2f} bits, "
            f"randomised response {response['distortion_upper']:.5f} at {response['bits_upper']:.2f} bits",
            False,
            "The factor 2 that Theorem 4 has lost is the whole of the difference.",
        )
    least = [
        value[missing, CURVES[0], 1]["bits_upper"] for missing in dict.fromkeys(r["missing"] for r in found)
    ]
    yield Compared(
        "Figure 9: the least achievable leakage grows with the missing combinations",
        "grows",
        ", ".join(f"{bits:.2f} bits" for bits in least),
        least == sorted(least),
    )


if __name__ == "__main__":
    main(reproduce)
