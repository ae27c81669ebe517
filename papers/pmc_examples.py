"""PMC, the numerical examples: Examples 1 to 6, the conversions of Section V, and the remarks around them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.special import ndtr

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, Value, main, point
from tightlip import Channel, Prior, ldp, log_of, pmc, pml
from tightlip.convert import ldp_to_pmc, ldp_to_pml, pml_to_ldp, pml_to_pmc
from tightlip.measures import maximal_cost_leakage, posterior
from tightlip.mechanism import pml_extremal, randomized_response
from tightlip.noise import (
    AdditiveNoise,
    DiscreteSecret,
    Gaussian,
    Laplace,
    UniformSecret,
    gaussian_pmc_bounds,
    gaussian_pmc_tail,
    laplace_mean_pmc,
    pmc_supremum,
)
from tightlip.noise import pmc as noise_pmc
from tightlip.papers import pmc_countable

PRIOR = Prior(["1/2", "3/10", "1/5"])
FOUR = Prior(["3/10", "3/10", "1/5", "1/5"])
COIN = DiscreteSecret([-1, 1], ["1/2", "1/2"])
BERNOULLI = DiscreteSecret([0, 1], ["7/10", "3/10"])
UNIT = UniformSecret(0, 1)
MEANS = ["differential privacy", "Bernoulli(0.3) data", "uniform data"]
GAUSSIAN = ["upper end of (17)", "X = ±1", "X uniform on [−1, 1]", "lower end of (17)"]
ORDERS = (1.0, 2.0, math.inf)


def example_3() -> Iterator[Value]:
    """Randomised response, ε_r = 1."""
    found = pmc(randomized_response(3, 1.0), PRIOR)
    for place, mass in enumerate(PRIOR.floats.tolist()):
        printed = math.log1p(mass * math.expm1(1))
        yield Value(
            "Example 3",
            f"PMC({place + 1}), P = {mass:g}",
            "log(1 + P(e^ε_r − 1))",
            printed,
            float(found.values[place]),
        )
    yield Value(
        "Example 3", "ε-PMC", "log(1 + max P(e^ε_r − 1))", math.log1p(0.5 * math.expm1(1)), float(found.worst)
    )


def example_4() -> Iterator[Value]:
    """The extremal mechanism with e^ε_u = 6/5, and the conversions that it reaches."""
    level = log_of("6/5")
    channel = pml_extremal(FOUR, level)
    costs = pmc(channel, FOUR)
    for place, mass in enumerate(FOUR.masses.tolist()):
        printed = mass / (1 - Fraction(6, 5) * (1 - mass))
        yield Value(
            "Example 4",
            f"PMC({place + 1}), P = {mass}",
            "log P/(1 − e^ε_u(1 − P))",
            printed,
            costs.ratios[place],
            log=True,
        )
    yield Value(
        "Example 4", "ε-PMC", "log p_min/(1 − e^ε_u(1 − p_min))", Fraction(5), costs.worst.ratio, log=True
    )
    yield Value(
        "Example 4", "ε-PML", "ε_u = log 6/5", Fraction(6, 5), pml(channel, FOUR).worst.ratio, log=True
    )
    yield Value(
        "Theorem 4, 1", "PMC from PML(log 6/5)", "log 5", Fraction(5), pml_to_pmc(level, FOUR).ratio, log=True
    )
    yield Value(
        "Corollary 3",
        "LDP from PML(log 6/5)",
        "ε_l* + ε_u = log 6",
        Fraction(6),
        pml_to_ldp(level, FOUR).ratio,
        log=True,
    )
    yield Value(
        "Remark 6",
        "LDP of the extremal mechanism, which reaches it",
        "log 6",
        Fraction(6),
        ldp(channel).ratio,
        log=True,
    )


def section_5() -> Iterator[Value]:
    """From LDP, and the uniform binary secret."""
    found = ldp_to_pml(log_of(3), FOUR).ratio
    yield Value(
        "Proposition 1",
        "PML from LDP(log 3), p_min = 1/5",
        "−log(p + e^−ε(1 − p))",
        Fraction(15, 7),
        found,
        log=True,
    )
    found = ldp_to_pmc(log_of(3), FOUR).ratio
    yield Value(
        "Proposition 3",
        "PMC from LDP(log 3), p_min = 1/5",
        "log(e^ε − p(e^ε − 1))",
        Fraction(13, 5),
        found,
        log=True,
    )
    yield from _binary()
    certain = Channel([[1, 0], ["1/2", "1/2"]])
    cost = float(pmc(certain, Prior(["9/10", "1/10"])).worst)
    yield Value("Section VI", "PMC of a binary secret that an outcome gives away", "∞", math.inf, cost)


def _binary() -> Iterator[Value]:
    """The uniform binary secret, e^ε_u = 3/2."""
    even, level = Prior.uniform(2), log_of("3/2")
    channel = pml_extremal(even, level)
    for name, computed, text, printed in (
        ("PMC", pmc(channel, even).worst.ratio, "ε_l* = log 2", 2),
        ("LDP", ldp(channel).ratio, "ε_l* + ε_u = log 3", 3),
    ):
        yield Value(
            "Corollary 4",
            f"{name} of the extremal mechanism, e^ε_u = 3/2",
            text,
            Fraction(printed),
            computed,
            log=True,
        )
    yield Value(
        "footnote 5",
        "ε_r of the binary extremal mechanism, e^ε = 3/2",
        "ε + log 2/(2 − e^ε) (as the scan reads) = log 6",
        Fraction(6),
        ldp(channel).ratio,
        log=True,
        why="it is ε + log 1/(2 − e^ε); perhaps a reading error of the scan",
    )


def example_5() -> Iterator[Value]:
    """Laplace noise with b = ½ on the mean of two values in [0, 1], so that nb = d − c = 1."""
    found = float(laplace_mean_pmc(UNIT, 2, 0.5))
    yield Value(
        "Example 5", "sup PMC, uniform data", "log(nb/(d−c)·(e^((d−c)/nb) − 1))", math.log(math.e - 1), found
    )
    ends = math.log(0.7 + 0.3 * math.e), math.log(0.7 * math.e + 0.3)
    found = float(laplace_mean_pmc(BERNOULLI, 2, 0.5))
    yield Value(
        "Example 5, (13) and (14)", "sup PMC, Bernoulli(0.3) data", "the larger of the two", max(ends), found
    )
    for y, place, end in ((3.0, "Example 5, (13)", ends[0]), (-2.0, "Example 5, (14)", ends[1])):
        found = float(noise_pmc(AdditiveNoise(BERNOULLI, Laplace(1)), y))
        yield Value(place, f"PMC({y:g}), Bernoulli(0.3) data, n = b = 1", "the formula", end, found)


def example_6() -> Iterator[Value]:
    """Gaussian noise with σ = 1 on |X| ≤ 1."""
    for y in (0.5, 3.0):
        found = gaussian_pmc_bounds(1, 1, y)
        yield Value("Example 6, (17)", f"lower end at y = {y:g}", "A|y|/σ²", y, found.lower)
        yield Value(
            "Example 6, (17)", f"upper end at y = {y:g}", "A(A + 4|y|)/2σ²", (1 + 4 * y) / 2, found.upper
        )
    found = float(pmc_supremum(AdditiveNoise(COIN, Gaussian(1))))
    yield Value("Example 6", "sup PMC", "∞", math.inf, found)


def means() -> Iterator[Row]:
    """Example 5 with b = ½ against the number of values."""
    for n in range(1, 21):
        values = [2 / n, float(laplace_mean_pmc(BERNOULLI, n, 0.5)), float(laplace_mean_pmc(UNIT, n, 0.5))]
        for name, value in zip(MEANS, values, strict=True):
            yield point("Example 5, b = 1/2", name, float(n), value)


def outcomes() -> Iterator[Row]:
    """Example 6 against the outcome."""
    wide = UniformSecret(-1, 1)
    for step in range(-40, 41):
        y = step / 10
        ends = gaussian_pmc_bounds(1, 1, y)
        exact = [float(noise_pmc(AdditiveNoise(secret, Gaussian(1)), y)) for secret in (COIN, wide)]
        for name, value in zip(GAUSSIAN, [ends.upper, *exact, ends.lower], strict=True):
            yield point("Example 6, A = σ = 1", name, y, value)


def reproduce(quick: bool = False) -> Reproduction:
    """Compute every example; without the curves where it must be quick."""
    values = [*example_3(), *example_4(), *section_5(), *example_5(), *example_6()]
    by_count, by_outcome = ([], []) if quick else (list(means()), list(outcomes()))
    remarks = [
        *_adversaries(),
        *_response(),
        *_jensen(),
        *_countable(),
        *_laplace(),
        *_tail(),
        *_ends(by_outcome),
    ]
    return Reproduction(
        "PMC examples",
        "Examples 1 to 6 with numbers, the conversions of Section V on the priors of Figure 1, and what "
        "the text says between them.",
        [value.row() for value in values] + by_count + by_outcome,
        [] if quick else [_mean_panel(by_count), _outcome_panel(by_outcome)],
        [value.compared() for value in values] + remarks,
        "The examples have letters only. Chosen: P = (0.5, 0.3, 0.2) and ε_r = 1 (Examples 1 to 3), P = "
        "(0.3, 0.3, 0.2, 0.2) of Figure 1 with e^ε_u = 6/5, below 1/(1 − 0.2) (Example 4), n = 2, b = ½ "
        "on [0, 1] (Example 5), A = σ = 1 (Example 6). In Example 5 the law of the data decides how much "
        "is left of the DP level: the picture has two.",
    )


def _mean_panel(rows: list[Row]) -> Panel:
    titles = {"x_title": "number of values n", "y_title": "largest PMC, nats"}
    picture = curves(rows, "at", "computed", by="quantity", order=MEANS, log_x=True, points=True, **titles)
    return Panel("Example 5: Laplace noise, b = ½, on the mean of n values in [0, 1]", picture)


def _outcome_panel(rows: list[Row]) -> Panel:
    picture = curves(
        rows, "at", "computed", by="quantity", order=GAUSSIAN, x_title="outcome y", y_title="PMC(y), nats"
    )
    return Panel("Example 6: Gaussian noise, A = σ = 1, and (17)", picture)


def _adversaries() -> Iterator[Compared]:
    """Examples 1 and 2: least expected cost before an outcome and after it."""
    channel = randomized_response(3, 1.0)
    found = pmc(channel, PRIOR)
    costs, after = found.values, [posterior(channel, PRIOR, outcome).floats for outcome in found.outcomes]
    before, support = PRIOR.floats, np.arange(3.0)
    for what, least in (
        (
            "Example 1: L_1 and L_2 distance to X in {0, 1, 2}",
            [lambda p, k=k: _distance(p, support, k) for k in (1, 2)],
        ),
        (
            "Example 2: α-loss, α = 1, 2 and ∞",
            [lambda p, order=order: _alpha_loss(p, order) for order in ORDERS],
        ),
    ):
        ratios = [[math.log(cost(before) / cost(row)) for row in after] for cost in least]
        inside = all((np.array(row) <= costs + 1e-12).all() for row in ratios)
        yield Compared(
            f"{what}: prior cost over posterior cost of these adversaries; 3-RR, ε_r = 1, P = (0.5, 0.3, "
            "0.2)",
            "at most e^PMC(y)",
            "; ".join(f"{max(row):.4f}" for row in ratios) + f" nats at most, against {max(costs):.4f}",
            inside,
        )


def _distance(masses: np.ndarray, support: np.ndarray, order: int) -> float:
    """The least E|X − w|^p over w: the median or the mean."""
    if order == 1:
        return min(float(masses @ np.abs(support - w)) for w in support)
    return float(masses @ support**2 - (masses @ support) ** 2)


def _alpha_loss(masses: np.ndarray, order: float) -> float:
    """The least expected α-loss: entropy, α/(α − 1)·(1 − ‖P‖_α), or 1 − max P."""
    if order == 1:
        return float(-(masses @ np.log(masses)))
    if math.isinf(order):
        return float(1 - masses.max())
    return float(order / (order - 1) * (1 - (masses**order).sum() ** (1 / order)))


def _response() -> Iterator[Compared]:
    levels = []
    for rare in (10, 10**3, 10**5):
        prior = Prior([1 - Fraction(2, rare), Fraction(1, rare), Fraction(1, rare)])
        levels.append(float(pmc(randomized_response(3, 1.0), prior).worst))
    yield Compared(
        "Example 3: ε-PMC of 3-RR with ε_r = 1 is below ε_r, and tends to it as max P → 1",
        "tends to 1",
        ", ".join(f"{level:.5f}" for level in levels) + " at max P = 0.8, 0.998, 0.99998",
        levels == sorted(levels) and 1 - 1e-4 < levels[-1] < 1,
    )


def _jensen() -> Iterator[Compared]:
    channel = randomized_response(3, 1.0)
    for name, prior in (("uniform", Prior.uniform(3)), ("(0.5, 0.3, 0.2)", PRIOR)):
        least, mean = float(maximal_cost_leakage(channel)), float(pmc(channel, prior).mean())
        yield Compared(
            f"after (9): maximal cost leakage is below the mean of PMC; 3-RR, ε_r = 1, prior {name}",
            "strictly below",
            f"{least:.6f} and {mean:.6f} nats",
            least < mean - 1e-12,
            "equal where PMC is the same for all outcomes",
        )


def _countable() -> Iterator[Compared]:
    found = []
    for size in (5, 10, 20):
        channel, prior = pmc_countable(size)
        found.append((pmc(channel, prior).worst, pml(channel, prior).worst, ldp(channel)))
    for what, place in (
        ("Theorem 5: bounded PMC implies bounded PML", 1),
        ("Theorem 6: bounded PMC implies a finite LDP", 2),
    ):
        levels = [float(row[place]) for row in found]
        same = all(row[0].ratio == 2 for row in found)
        yield Compared(
            f"{what}; p_i = 2^−i, K = ½·1{{x = y}} + ½p_y, cut at 5, 10 and 20 secrets",
            "bounded",
            f"PMC is {'always log 2' if same else 'not constant'}; "
            + ", ".join(f"{level:.2f}" for level in levels)
            + " nats",
            levels[2] - levels[1] < levels[1] - levels[0],  # each cut is twice the one before
            "true on finite alphabets; on countable ones it grows without limit",
        )


def _laplace() -> Iterator[Compared]:
    values = [float(laplace_mean_pmc(data, 2, 0.5)) for data in (UNIT, BERNOULLI)]
    yield Compared(
        "Example 5: the PMC of every data point is at most the DP level (d − c)/(nb); uniform and "
        "Bernoulli(0.3), n = 2, b = ½",
        "at most 1",
        " and ".join(f"{value:.6f}" for value in values),
        max(values) <= 1,
    )


def _tail() -> Iterator[Compared]:
    """(18) for X = ±1, σ = 1: PMC(y) = log (e^{2|y|} + 1)/2 rises in |y|, so its tail is one of |Y|."""
    for beta in (4.0, 8.0):
        edge = math.log(2 * math.exp(beta + 0.5) - 1) / 2
        assert math.isclose(
            float(noise_pmc(AdditiveNoise(COIN, Gaussian(1)), edge)), beta + 0.5, rel_tol=1e-9
        )
        exact, bound = float(ndtr(1 - edge) + ndtr(-1 - edge)), float(gaussian_pmc_tail(1, 1, beta))
        yield Compared(
            f"Example 6, (18): P{{PMC(Y) > β + r/2}} for X = ±1, r = 1, β = {beta:g}",
            f"at most 2 exp(−β²/8r(r + 1)) = {bound:.4f}",
            f"{exact:.3g}",
            exact <= bound,
        )


def _ends(rows: list[Row]) -> Iterator[Compared]:
    if rows:
        upper, coin, wide, lower = (
            np.array([row["computed"] for row in rows if row["quantity"] == name]) for name in GAUSSIAN
        )
        inside = all(((lower <= one + 1e-9) & (one <= upper + 1e-9)).all() for one in (coin, wide))
        yield Compared(
            "Example 6: (17) holds for X = ±1 and X uniform, y from −4 to 4",
            "between the ends",
            f"{'between' if inside else 'not between'}; the upper end is "
            f"{(upper - np.maximum(coin, wide)).min():.2f} or more above",
            inside,
        )
    inner = DiscreteSecret(["-1/2", "1/2"], ["1/2", "1/2"])
    exact, lower_end = (
        float(noise_pmc(AdditiveNoise(inner, Gaussian(1)), 0.5)),
        gaussian_pmc_bounds(1, 1, 0.5).lower,
    )
    yield Compared(
        "Example 6: the lower end of (17) for every zero-mean |X| ≤ A; X = ±½, A = 1, y = ½",
        f"at least {lower_end:g}",
        f"{exact:.4f}",
        exact >= lower_end,
        "needs both ends ±A in the support, which the infimum over [−A, A] takes for granted",
    )


if __name__ == "__main__":
    main(reproduce)
