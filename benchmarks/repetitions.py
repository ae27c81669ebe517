"""Many uses of one mechanism against Google's dp-accounting (privacy loss distributions, its default grid of 1e-4).

Claim: our upper end of ε, which is proved, is smaller, and found sooner, for randomised response and normal noise, 10
to 1000 uses and δ from 1e-5 to 1e-9; our lower end beside it shows that hardly anything is left to gain. Laplace noise
has neither closed form nor grid: both numbers agree to 2e-5, and whole numbers take longer than floats. The numbers of
dp-accounting are floats whose Fourier transforms have no stated error.

dp-accounting wants an attrs older than others do, so it is in no extra: `pip install dp-accounting` in an environment
of its own beside tightlip, then `python -m benchmarks.repetitions`.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import tightlip as tl
from benchmarks.timing import best_times

USES = (10, 100, 1000)
DELTAS = (Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**9))
FLIPPED = Fraction(9, 20)
SIGMA, SCALE = 20, 20


def mechanisms() -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    """Ours, and theirs of a module of theirs."""
    keep, between = 1 - FLIPPED, tl.noise.BoundedSecret(0, 1)
    coin = tl.Channel([[keep, FLIPPED], [FLIPPED, keep]])
    return {
        "randomised response": (coin, lambda pld: pld.from_randomized_response(float(2 * FLIPPED), 2)),
        f"normal noise, σ = {SIGMA}": (
            tl.noise.AdditiveNoise(between, tl.noise.Gaussian(SIGMA)),
            lambda pld: pld.from_gaussian_mechanism(SIGMA),
        ),
        f"Laplace noise, b = {SCALE}": (
            tl.noise.AdditiveNoise(between, tl.noise.Laplace(SCALE)),
            lambda pld: pld.from_laplace_mechanism(SCALE),
        ),
    }


def ours(mechanism: Any, uses: int) -> list[tl.measures.Bound]:
    found = tl.envelopes.repeat(mechanism, uses)
    return [found.epsilon(delta) for delta in DELTAS]


def theirs(pld: Any, make: Callable[[Any], Any], uses: int) -> list[float]:
    found = make(pld).self_compose(uses)
    return [found.get_epsilon_for_delta(float(delta)) for delta in DELTAS]


def report(pld: Any, name: str, uses: int) -> None:
    mechanism, make = mechanisms()[name]
    proved, other = ours(mechanism, uses), theirs(pld, make, uses)
    for delta, own, their in zip(DELTAS, proved, other, strict=True):
        print(
            f"{name}, {uses} uses, δ = {float(delta):.0e}: {own.lower:.9f} to {own.upper:.9f} proved, "
            f"{their:.9f} by dp-accounting ({'+' if their >= own.upper else ''}{their - own.upper:.1e})"
        )
    times = best_times({"ours": lambda: ours(mechanism, uses), "theirs": lambda: theirs(pld, make, uses)}, 3)
    print(
        f"{name}, {uses} uses: {times['ours']:.3f} s, dp-accounting {times['theirs']:.3f} s, "
        f"ratio {times['theirs'] / times['ours']:.2f}"
    )


def main() -> None:
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        print("many uses: dp-accounting is not installed; see benchmarks/repetitions.py")
        return
    for name in mechanisms():
        for uses in USES:
            report(pld, name, uses)


if __name__ == "__main__":
    main()
