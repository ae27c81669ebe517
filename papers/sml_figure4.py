"""SML Figure 4: randomised response under statistic maximal leakage and under attribute privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip.histogram import HistogramSpace, RandomizedResponse

CENSUS = HistogramSpace(48842, 22381)
EPSILON = 4
SECRETS = [2**power for power in range(1, 16)] + [48843]
LEVELS = [*range(0, 44000, 4000), 44000, 44200, 44280, 44300, *range(44305, 44341)]


def log10_leakage(secrets: int) -> float:
    """log₁₀ of the SML of randomised response with ε = 4 on all histograms: (s − 1)(e^ε − 1)/|Θ| to every digit."""
    return (math.log((secrets - 1) * math.expm1(EPSILON)) - CENSUS.size_log().upper) / math.log(10)


def on_secrets(secrets: int) -> float:
    """SML in nats if ε = 4 randomises the secret itself, |Θ'| = s: log s e^ε/(s + e^ε − 1)."""
    return math.log(secrets) + EPSILON - math.log(secrets + math.expm1(EPSILON))


def rows() -> Iterator[Row]:
    """All of both panels."""
    for secrets in SECRETS:
        yield {"panel": "a", "curve": "log₁₀ SML, all histograms", "x": secrets, "y": log10_leakage(secrets)}
    for secrets in SECRETS:
        yield {"panel": "a", "curve": "SML, the secret alone", "x": secrets, "y": on_secrets(secrets)}
        yield {"panel": "a", "curve": "attribute privacy", "x": secrets, "y": float(EPSILON)}
    for level in LEVELS:
        found = RandomizedResponse(CENSUS, level).distortion.value
        yield {"panel": "b", "curve": "randomised response", "x": level, "y": float(found)}


def reproduce(quick: bool = False) -> Reproduction:
    """Compute both panels; it is quick."""
    del quick
    found = list(rows())
    whole = [row for row in found if row["curve"].startswith("log")]
    alone = [row for row in found if row["panel"] == "a" and row not in whole]
    level = [row for row in found if row["panel"] == "b"]
    title = "number of secret values"
    return Reproduction(
        "SML Figure 4",
        "(a) The leakage of randomised response with ε = 4 as the secret takes more values, (b) its "
        "distortion as ε, its "
        "level of attribute privacy, grows: τ = 48842, d = 22381.",
        found,
        [
            Panel(
                "(a) the table that is named",
                curves(whole, "x", "y", log_x=True, x_title=title, y_title="log₁₀ of nats"),
            ),
            Panel(
                "(a) what would be visible",
                curves(alone, "x", "y", log_x=True, x_title=title, y_title="nats"),
            ),
            Panel(
                "(b) the last levels",
                curves(
                    [row for row in level if row["x"] >= 44280],
                    "x",
                    "y",
                    x_title="ε, nats",
                    y_title="worst-case expected total variation",
                ),
            ),
        ],
        list(_remarks(level)),
        "The paper does not say which space Figure 4(a) randomises. Of all histograms of the named "
        "table nothing could be "
        "seen; if ε = 4 randomises the secret alone, the curve rises as the text says, towards 4 nats.",
    )


def _remarks(level: list[Row]) -> Iterator[Compared]:
    most = log10_leakage(CENSUS.secrets)
    yield Compared(
        "Figure 4(a): SML rises visibly with the number of secrets",
        "rises visibly, read off the figure",
        f"at most 10^{most:.0f} nats for every number of secrets",
        False,
        "There are 10^19250 histograms, and the table's own has only e^4 times the weight of another.",
    )
    yield Compared(
        "Figure 4(a): attribute privacy does not vary with the number of secrets", "constant", "ε = 4", True
    )
    near = next(row["y"] for row in level if row["x"] == 44320)
    yield Compared(
        "Figure 4(b): the distortion is 1 until attribute privacy 44,320",
        "1 until 44,320",
        f"{level[0]['y']:.5f} at 0, {near:.4f} at 44,320, and half at log |Θ| = {CENSUS.size_log().upper:.1f} nats",
        round(near, 2) == 1,
    )


if __name__ == "__main__":
    main(reproduce)
