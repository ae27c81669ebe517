"""ENV Theorem 5 on random priors: how far its bound h is below the exact envelope of randomised response.

Both sides are rationals, so "equal" means equal.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction

from papers.charts import curves
from papers.reproduction import Compared, Panel, Reproduction, Row, main
from tightlip import Prior, log_of
from tightlip.envelopes import randomized_response
from tightlip.papers.theorem5 import theorem5_bound, theorem5_condition

COUNT = 2000
DRAWN = 1300  # of the random priors, those in the data and the picture
QUICK = 60
SEED = 1
RATIOS = (3, 20, 150)  # e^ε of the worst priors
LIMIT = "log (e^ε + 1)/2"
CLOUDS = {True: "condition met (dots)", False: "not met (dots)"}


@dataclass(frozen=True)
class Case:
    """One prior, and by how many nats h is short of the envelope."""

    priors: str
    secrets: int
    epsilon: float
    delta: float
    condition: bool
    equal: bool
    short: float
    supremum: float


def compare(priors: str, masses: list[Fraction], ratio: Fraction, delta: Fraction) -> Case:
    """Compare h and the envelope for one prior; both as rationals."""
    prior, epsilon = Prior(masses), log_of(ratio)
    certificate = randomized_response(prior, epsilon, delta).certificate
    assert certificate is not None
    exact = certificate.lower.ratio
    bound = theorem5_bound(prior, epsilon, delta).ratio
    assert bound is not None
    assert bound <= exact
    return Case(
        priors,
        len(masses),
        math.log(ratio),
        float(delta),
        theorem5_condition(prior, epsilon, delta),
        bound == exact,
        math.log(exact / bound),
        math.log((ratio + 1) / 2),
    )


def random_cases(count: int, seed: int = SEED) -> Iterator[Case]:
    """Draw priors from even to very uneven (gamma weights of random shape), with δ anywhere in (0, 1]."""
    draw = random.Random(seed)
    for _ in range(count):
        secrets = draw.randint(3, 12)
        shape = 10 ** draw.uniform(-1.2, 1.2)
        weights = [1 + int(10**6 * draw.gammavariate(shape, 1)) for _ in range(secrets)]
        masses = [Fraction(weight, sum(weights)) for weight in weights]
        ratio = Fraction(round(math.exp(draw.uniform(0.2, 5)), 3))
        yield compare("random", masses, ratio, Fraction(draw.randint(1, 1000), 1000))


def worst_cases(ratio: Fraction) -> Iterator[Case]:
    """Masses (tiny, …, tiny, ½, ½) and δ = 1: h falls short by up to log (e^ε + 1)/2."""
    for secrets in (4, 8, 16, 32, 64, 128):
        tiny = Fraction(1, 10**9)
        half = (1 - (secrets - 2) * tiny) / 2
        yield compare("worst", [tiny] * (secrets - 2) + [half, half], ratio, Fraction(1))


def reproduce(quick: bool = False) -> Reproduction:
    """Draw the priors and compare; a few where it must be quick."""
    cases = list(random_cases(QUICK if quick else COUNT))
    worst = [case for ratio in RATIOS for case in worst_cases(Fraction(ratio))]
    drawn = cases[:DRAWN]
    return Reproduction(
        "ENV Theorem 5 on random priors",
        "The paper proves ε_c ≥ h under a condition on the prior, and conjectures that they are equal "
        f"there. By how much is h short of the exact envelope? {_beyond(cases, worst)}",
        [asdict(case) for case in [*drawn, *worst]],
        [
            Panel("Random priors, k from 3 to 12", _picture(drawn)),
            Panel("Masses (0+, …, 0+, ½, ½), δ = 1", _worst_picture(worst)),
        ],
        list(_remarks(cases, worst)),
        f"The paper has no experiment. Chosen: {COUNT} priors with seed {SEED}, gamma weights of shape "
        f"0.06 to 16, e^ε from 1.2 to 148, δ in thousandths; the data has the first {DRAWN}. How often the "
        "condition holds depends on that choice, that h is then exact does not: the docstring of "
        "tightlip.papers.theorem5 has the proof.",
    )


def _picture(cases: list[Case]) -> dict[str, object]:
    dots = [{"curve": CLOUDS[case.condition], "epsilon": case.epsilon, "short": case.short} for case in cases]
    edge = [
        {"curve": LIMIT, "epsilon": epsilon / 20, "short": math.log((math.exp(epsilon / 20) + 1) / 2)}
        for epsilon in range(4, 101)
    ]
    return curves(
        edge,
        "epsilon",
        "short",
        order=[LIMIT, *CLOUDS.values()],
        x_title="ε of the mechanism, nats",
        y_title="envelope − h, nats",
        dots=dots,
    )


def _worst_picture(cases: list[Case]) -> dict[str, object]:
    rows: list[Row] = []
    for case in cases:
        name = f"e^ε = {round(math.exp(case.epsilon))}"
        rows.append({"curve": name, "secrets": case.secrets, "short": case.short})
    names = [f"e^ε = {ratio}" for ratio in RATIOS]
    titles = {"x_title": "number of secrets k", "y_title": "envelope − h, nats"}
    return curves(rows, "secrets", "short", order=names, log_x=True, points=True, **titles)


def _remarks(cases: list[Case], worst: list[Case]) -> Iterator[Compared]:
    held = [case for case in cases if case.condition]
    yield Compared(
        f"under the condition h is the envelope (conjecture, after Theorem 5): {len(held)} random priors",
        "equal",
        f"equal, as rationals, in {sum(case.equal for case in held)}",
        all(case.equal for case in held),
    )
    yield Compared(
        f"h is no more than the envelope (Theorem 5 (iii)): all {len(cases) + len(worst)} priors, the "
        "condition met or not",
        "h ≤ ε_c under the condition",
        f"short by at most {max(case.short for case in cases):.4f} nats at random priors",
        all(case.short >= 0 for case in [*cases, *worst]),
    )


def _beyond(cases: list[Case], worst: list[Case]) -> str:
    """What is found where the paper says nothing."""
    shorts = [case.short for case in cases if not case.condition]
    reached = max(case.short / case.supremum for case in worst)
    return (
        "Without the condition, of which the paper says nothing, h is still a lower bound: of "
        f"{len(shorts)} random priors it is exact for {sum(short == 0 for short in shorts)}, and short by "
        f"{sum(shorts) / len(shorts):.4f} nats on average and by {max(shorts):.4f} at most. The supremum "
        f"is {LIMIT}; masses (0+, …, 0+, ½, ½) reach {reached:.0%} of it."
    )


if __name__ == "__main__":
    main(reproduce)
