"""ENV Figure 1: the distribution of the leakage of Example 1, with its two quantiles at δ = 0.1."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from papers.charts import curves
from papers.reproduction import Panel, Reproduction, Row, Value, main
from tightlip import Prior, envelope, pml
from tightlip.measures import PointwiseLeakage
from tightlip.papers import env_example_1

DELTA = Fraction(1, 10)
END = 1.6  # nats; the picture goes a little beyond log 4
CURVES = ["C_Y(t)", "left quantile", "right quantile", "1 − δ"]


def reproduce(quick: bool = False) -> Reproduction:
    """Compute the distribution function and both quantiles; it is quick anyway."""
    leakage = pml(env_example_1(), Prior.uniform(4))
    left, right = leakage.left_quantile(DELTA), leakage.quantile(DELTA)
    jumps = sorted({0.0, *(float(value) for value in leakage.values), END})
    points = [("C_Y(t)", t, float(leakage.cdf(t))) for t in jumps]
    points += [
        (name, float(at), height)
        for name, at in zip(CURVES[1:3], (left, right), strict=True)
        for height in (0.0, 1.0)
    ]
    points += [("1 − δ", t, float(1 - DELTA)) for t in (0.0, END)]
    rows: list[Row] = [{"curve": name, "t": t, "probability": height} for name, t, height in points]
    return Reproduction(
        "ENV Figure 1",
        "The distribution function of the leakage ℓ(Y) in Example 1. At δ = 0.1 it stays at 1 − δ from "
        "the left quantile to the right one, so the two differ.",
        rows,
        [Panel("Distribution of ℓ(Y), δ = 0.1", _picture(rows))],
        [value.compared() for value in values(leakage)],
    )


def values(leakage: PointwiseLeakage) -> list[Value]:
    """What the paper says of the quantiles, and of the envelope between them."""
    left, right = leakage.left_quantile(DELTA), leakage.quantile(DELTA)
    return [
        Value("Example 2", "left quantile at δ = 0.1", "log(10/9)", Fraction(10, 9), left.ratio, log=True),
        Value("Example 2", "right quantile at δ = 0.1", "log 4", Fraction(4), right.ratio, log=True),
        Value(
            "Figure 1", "C_Y between the quantiles", "0.9", Fraction(9, 10), leakage.cdf(math.log(2)).fraction
        ),
        Value(
            "Theorem 2",
            "the envelope at δ = 0.1 closes the gap at the right quantile",
            "log 4",
            math.log(4),
            envelope(env_example_1(), Prior.uniform(4), DELTA).upper,
        ),
    ]


def _picture(rows: list[Row]) -> dict[str, Any]:
    return curves(
        rows,
        "t",
        "probability",
        order=CURVES,
        x_title="t, nats",
        y_title="probability",
        step="step-after",
        y_domain=(0.0, 1.03),
    )


if __name__ == "__main__":
    main(reproduce)
