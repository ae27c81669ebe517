"""How good is ENV Theorem 5? Random priors against the exact envelope of randomised response.

    python experiments/theorem5.py --count 6000 --data theorem5.json --plot theorem5.svg

Both sides are rationals, so "equal" means equal. The plot needs altair and vl-convert-python.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from tightlip.envelopes.response import randomized_response as randomized_response_envelope
from tightlip.model.prior import Prior
from tightlip.numeric.quantity import log_of
from tightlip.papers.theorem5 import theorem5_bound, theorem5_condition


@dataclass(frozen=True)
class Case:
    """One prior, and by how many nats h is short of the envelope."""

    secrets: int
    epsilon: float
    delta: float
    condition: bool
    equal: bool
    short: float
    supremum: float


def compare(masses: list[Fraction], ratio: Fraction, delta: Fraction) -> Case:
    """h and the envelope for one prior; both as rationals."""
    prior, epsilon = Prior(masses), log_of(ratio)
    certificate = randomized_response_envelope(prior, epsilon, delta).certificate
    assert certificate is not None
    exact = certificate.lower.ratio
    bound = theorem5_bound(prior, epsilon, delta).ratio
    assert bound is not None
    assert bound <= exact
    return Case(
        len(masses),
        math.log(ratio),
        float(delta),
        theorem5_condition(prior, epsilon, delta),
        bound == exact,
        math.log(exact / bound),
        math.log((ratio + 1) / 2),
    )


def random_cases(count: int, seed: int) -> Iterator[Case]:
    """Priors from even to very uneven (gamma weights of random shape), δ anywhere in (q_1, 1]."""
    draw = random.Random(seed)
    for _ in range(count):
        secrets = draw.randint(3, 12)
        shape = 10 ** draw.uniform(-1.2, 1.2)
        weights = [1 + int(10**6 * draw.gammavariate(shape, 1)) for _ in range(secrets)]
        masses = [Fraction(weight, sum(weights)) for weight in weights]
        ratio = Fraction(round(math.exp(draw.uniform(0.2, 5)), 3))
        yield compare(masses, ratio, Fraction(draw.randint(1, 1000), 1000))


def worst_family(ratio: Fraction) -> Iterator[Case]:
    """Masses (tiny, …, tiny, ½, ½) and δ = 1: h falls short by up to log (e^ε + 1)/2."""
    for secrets in (4, 8, 16, 32, 64, 128):
        tiny = Fraction(1, 10**9)
        half = (1 - (secrets - 2) * tiny) / 2
        yield compare([tiny] * (secrets - 2) + [half, half], ratio, Fraction(1))


def table(cases: list[Case], family: list[Case]) -> str:
    """The result as text."""
    lines = ["condition   cases   equal   short: mean      largest"]
    for holds in (True, False):
        group = [case for case in cases if case.condition is holds]
        short = [case.short for case in group] or [0.0]
        equal, mean = sum(case.equal for case in group), sum(short) / len(short)
        name = "holds" if holds else "fails"
        lines.append(f"{name:9} {len(group):7} {equal:7}    {mean:9.4f}    {max(short):9.4f}")
    lines.append("")
    lines.append("masses (tiny, …, tiny, ½, ½), δ = 1:   k   ε   short   supremum")
    for case in family:
        lines.append(f"{case.secrets:40} {case.epsilon:5.2f} {case.short:7.4f} {case.supremum:8.4f}")
    return "\n".join(lines) + "\n"


def plot(cases: list[Case], path: Path) -> bool:
    """Shortfall against ε, with its supremum; False where altair is not installed."""
    try:
        altair: Any = import_module("altair")
        import_module("vl_convert")  # altair needs it to write files
    except ImportError:
        return False
    rows: list[dict[str, Any]] = [asdict(case) for case in cases]
    base = altair.Chart(altair.Data(values=rows))
    points = base.mark_circle(size=12, opacity=0.5).encode(
        x=altair.X("epsilon:Q", title="ε of the mechanism, nats"),
        y=altair.Y("short:Q", title="envelope − h, nats"),
        color=altair.Color("condition:N", title="condition holds"),
    )
    limit = base.mark_line(color="black").encode(x="epsilon:Q", y="supremum:Q")
    (points + limit).properties(width=480, height=300, title="How far ENV Theorem 5 falls short").save(path)
    return True


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description="ENV Theorem 5 against the exact envelope.")
    parser.add_argument("--count", type=int, default=6000, help="random priors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="write the cases here, as JSON")
    parser.add_argument("--plot", type=Path, help="write a plot here (.svg or .png)")
    options = parser.parse_args(arguments)
    cases = list(random_cases(options.count, options.seed))
    family = [case for ratio in (3, 20, 150) for case in worst_family(Fraction(ratio))]
    sys.stdout.write(table(cases, family))
    if options.data:
        record = {"random": [asdict(case) for case in cases], "family": [asdict(case) for case in family]}
        options.data.write_text(json.dumps(record, indent=1) + "\n")
    if options.plot and not plot(cases, options.plot):
        sys.stdout.write("no plot: pip install altair vl-convert-python\n")


if __name__ == "__main__":
    main()
