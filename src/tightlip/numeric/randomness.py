"""Randomness that protects people: ChaCha20 keyed by the operating system, and draws that are exact.

Every draw is a function of fair bits only. Integers come by rejection, probabilities by comparing bits with the
number, so no modulo and no float rounds a probability. A reproducible source exists for tests and says so in its name.

No two sources have a key in common, whatever is done to them: one that is used on both sides of a fork gets a new key
in the child, and a copy or a pickle of one is a source of its own. Two releases from one key would tell more than they
say.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.arguments import whole
from tightlip.errors import InvalidInput, NumericalFailure, WrongType, quoted
from tightlip.numeric.ball import Ball, ball

Integers = NDArray[np.int64]

_LARGEST_RANGE = 1 << 63
_MAX_BITS = 1 << 16
_SPARSE = 64  # a mark per position costs a byte, a drawn position eight and a sort


class RandomSource:
    """A stream of fair bits: ChaCha20 with a fresh 256-bit key from the operating system.

    Parameters
    ----------
    seed_for_tests : int, optional
        Makes the stream reproducible. Whoever knows the seed can undo a release made with it, so it is for
        tests only. Forked processes then go on with one stream, and a copy starts it anew.

    Raises
    ------
    WrongType
        When the seed is not an integer.

    >>> RandomSource(seed_for_tests=1).below(10**30) == RandomSource(seed_for_tests=1).below(10**30)
    True
    >>> RandomSource().below(10**30) == RandomSource().below(10**30)
    False
    """

    __slots__ = ("_process", "_seed", "_stream")

    def __init__(self, *, seed_for_tests: int | None = None) -> None:
        self._seed = seed_for_tests
        self._set_key()

    @property
    def seeded(self) -> bool:
        """Whether the stream is one for tests, which protects nobody."""
        return self._seed is not None

    def words(self, count: int) -> NDArray[np.uint64]:
        """Draw `count` independent 64-bit words."""
        if self._process != _process() and not self.seeded:
            self._set_key()
        drawn: NDArray[np.uint64] = self._stream.random_raw(count)
        return drawn

    def __reduce__(self) -> tuple[Callable[[int | None], RandomSource], tuple[int | None]]:
        return _again, (self._seed,)  # the key is in no copy and in no pickle

    def _set_key(self) -> None:
        from randomgen import ChaCha

        self._stream: Any = ChaCha(key=_key(self._seed), rounds=20)
        self._process = _process()

    def bits(self, count: int) -> int:
        """Draw a uniform integer of `count` bits."""
        words = -(-count // 64)
        return int.from_bytes(self.words(words).astype("<u8").tobytes(), "little") >> (64 * words - count)

    def below(self, bound: int) -> int:
        """Draw a uniform integer in 0 … bound − 1, of any size: drawn again until it is below.

        Raises
        ------
        InvalidInput
            When the bound is not a positive integer.
        """
        _require_positive(bound)
        width = (bound - 1).bit_length()
        while (drawn := self.bits(width)) >= bound:
            pass
        return drawn

    def below_each(self, bound: int, count: int) -> Integers:
        """Draw `count` independent uniform integers in 0 … bound − 1, for a bound up to 2⁶³.

        Raises
        ------
        InvalidInput
            When the bound is not a positive integer up to 2⁶³.
        """
        _require_positive(bound)
        if bound > _LARGEST_RANGE:
            raise InvalidInput(f"bound must be at most 2**63, got {quoted(bound)}; draw one at a time.")
        shift = np.uint64(64 - max((bound - 1).bit_length(), 1))
        kept: list[NDArray[np.uint64]] = []
        missing = count
        while missing > 0:
            drawn = self.words(missing + missing // 8 + 8) >> shift
            kept.append(drawn[drawn < bound][:missing])
            missing -= len(kept[-1])
        return np.concatenate(kept or [np.zeros(0, dtype=np.uint64)]).astype(np.int64)

    def happens_between(self, bounds: Callable[[int], tuple[int, int]]) -> bool:
        """True with exactly the probability p that `bounds` encloses ever more narrowly, however irrational.

        Parameters
        ----------
        bounds : called with a number of bits b, gives integers low ≤ p·2ᵇ ≤ high

        Raises
        ------
        NumericalFailure
            When 65536 bits of a uniform number do not tell it from p.
        """
        drawn, known, wanted = 0, 0, 64
        while wanted <= _MAX_BITS:
            drawn, known = drawn << (wanted - known) | self.bits(wanted - known), wanted
            low, high = bounds(wanted)
            if drawn < low:
                return True
            if drawn >= high:
                return False
            wanted *= 2
        raise NumericalFailure(f"a probability could not be told from a draw with {_MAX_BITS} bits.")

    def happens_enclosed(self, probability: Callable[[], Ball]) -> bool:
        """True with exactly the probability that a ball expression encloses.

        The expression is evaluated anew at each precision, as in `enclose`.

        >>> RandomSource().happens_enclosed(lambda: ball(0))
        False
        """

        def bounds(bits: int) -> tuple[int, int]:
            from flint import ctx

            with ctx.workprec(bits + 64):
                value = probability() * ball(1 << bits)
                return int(value.lower().floor().unique_fmpz()), int(value.upper().ceil().unique_fmpz())

        return self.happens_between(bounds)

    def choose(self, count: int, population: int) -> Integers:
        """Draw `count` different positions among 0 … population − 1, every set equally likely, in ascending order.

        Missing positions are drawn with replacement until none is missing; that keeps the first different ones of
        an endless sequence, and those are a uniform set. Where more than half are wanted the others are drawn.
        Memory is O(count).

        Raises
        ------
        InvalidInput
            When count is not in 0 … population.
        """
        if not 0 <= count <= population:
            raise InvalidInput(f"count must be in 0 … population={population}, got {count}.")
        if population > _SPARSE * count:
            return self._choose_sparsely(count, population)
        fewer = min(count, population - count)
        marked = np.zeros(population, dtype=bool)
        missing = fewer
        while missing:
            marked[self.below_each(population, missing)] = True
            missing = fewer - int(np.count_nonzero(marked))
        return np.flatnonzero(marked if fewer == count else ~marked).astype(np.int64)

    def _choose_sparsely(self, count: int, population: int) -> Integers:
        chosen: Integers = np.zeros(0, dtype=np.int64)
        while len(chosen) < count:
            drawn = np.sort(np.concatenate([chosen, self.below_each(population, count - len(chosen))]))
            chosen = drawn[np.concatenate([[True], drawn[1:] != drawn[:-1]])]
        return chosen


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """What a forked child does not share with its parent.

    The number of the process alone can come again, as in a container of its own; the count misses forks that Python is
    not told of.
    """
    return os.getpid(), _forks


def _again(seed_for_tests: int | None) -> RandomSource:
    return RandomSource(seed_for_tests=seed_for_tests)


def _key(seed_for_tests: int | None) -> int:
    if seed_for_tests is None:
        return int.from_bytes(os.urandom(32), "little")
    if isinstance(seed_for_tests, bool) or not isinstance(seed_for_tests, int):
        raise WrongType(f"seed_for_tests must be an integer, got {quoted(seed_for_tests)}.")
    text = f"tightlip seed for tests {seed_for_tests}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")


def _require_positive(bound: object) -> None:
    whole(bound, "bound", 1)
