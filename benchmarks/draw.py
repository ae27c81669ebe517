"""Releasing values by randomised response, against the client of multi-freq-ldpy that releases one value at a time.

Claims: with 4 to 16 values, at least 20 million values a second on one core, and at least 10 times as many as
multi-freq-ldpy, called for each value as its users do. Beside it stands a loop over the same client, compiled by the
numba that it brings along. Its draws are made of floats and a Mersenne Twister, those of tightlip exact, of ChaCha20.
"""

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from numba import njit

import tightlip as tl
from benchmarks.timing import best_times

VALUES = 4_000_000
CALLS = 100_000  # values of the other, which takes longer
EPSILON = 1.0


@njit
def compiled(values: np.ndarray, size: int, epsilon: float) -> np.ndarray:
    found = np.empty(len(values), dtype=np.int64)
    for place in range(len(values)):
        found[place] = GRR_Client(values[place], size, epsilon)
    return found


def columns(size: int) -> dict[str, tuple[tl.Channel, np.ndarray]]:
    """Channels and values of three kinds: numbers from 0, other numbers and text."""
    codes = np.random.default_rng(0).integers(0, size, VALUES)
    numbers, texts = 10 * np.arange(1, size + 1), np.array([f"value {place}" for place in range(size)])
    named = {
        "whole numbers": (size, codes),
        "other numbers": (numbers, numbers[codes]),
        "text": (texts, texts[codes]),
    }
    return {
        name: (tl.mechanism.randomized_response(labels, EPSILON), values)
        for name, (labels, values) in named.items()
    }


def main() -> None:
    for size in (4, 8, 16):
        ours = columns(size)
        plain = ours["whole numbers"][1]
        few = plain[:CALLS].tolist()
        contenders = {
            name: lambda channel=channel, values=values: channel.draw(values)
            for name, (channel, values) in ours.items()
        }
        contenders["called"] = lambda few=few, size=size: [GRR_Client(value, size, EPSILON) for value in few]
        contenders["compiled"] = lambda plain=plain, size=size: compiled(plain[: 10 * CALLS], size, EPSILON)
        times = best_times(contenders, 5)
        rate = {name: VALUES / times[name] for name in ours}
        called, loop = CALLS / times["called"], 10 * CALLS / times["compiled"]
        shown = ", ".join(f"{name} {per / 1e6:.0f}" for name, per in rate.items())
        print(f"draw, {size} values, million a second: {shown} (claim: ≥ 20)")
        print(
            f"  {rate['whole numbers'] / called:.0f} times as fast as multi-freq-ldpy (claim: ≥ 10), "
            f"{rate['whole numbers'] / loop:.0f} times as fast as it in a loop that is compiled"
        )


if __name__ == "__main__":
    main()
