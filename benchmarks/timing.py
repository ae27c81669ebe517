"""Timing on a noisy machine: alternate the contenders and keep the best round of each."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fresh:
    """A contender that gets something new each round, made outside the clock, so that no cache helps it."""

    prepare: Callable[[], Any]
    run: Callable[[Any], object]


def best_times(contenders: Mapping[str, Callable[[], object] | Fresh], rounds: int = 7) -> dict[str, float]:
    """Seconds of the fastest round of each contender, after one warm-up."""
    best = dict.fromkeys(contenders, float("inf"))
    for round_number in range(rounds + 1):
        for name, contender in contenders.items():
            seconds = _seconds(contender)
            if round_number:
                best[name] = min(best[name], seconds)
    return best


def _seconds(contender: Callable[[], object] | Fresh) -> float:
    if isinstance(contender, Fresh):
        given = contender.prepare()
        start = time.perf_counter()
        contender.run(given)
    else:
        start = time.perf_counter()
        contender()
    return time.perf_counter() - start
