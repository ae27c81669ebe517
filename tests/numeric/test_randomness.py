"""Randomness: the generator is ChaCha20, and every draw is exact."""

import copy
import multiprocessing
import os
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from tightlip.errors import InvalidInput, NumericalFailure, WrongType
from tightlip.numeric import randomness
from tightlip.numeric.ball import ball
from tightlip.numeric.randomness import RandomSource, _key


@pytest.fixture
def random():
    return RandomSource(seed_for_tests=4)


def looks_uniform(counts, expected=None):
    return chisquare(counts, expected).pvalue > 1e-3


def chacha20_block(key, counter):
    """RFC 8439's block function with a 64-bit counter and a zero nonce, as sixteen 32-bit words."""
    mask = 0xFFFFFFFF
    constants = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start = constants + [key >> 32 * i & mask for i in range(8)] + [counter & mask, counter >> 32, 0, 0]
    words = list(start)

    def mix(target, source, other, turn):
        words[target] = (words[target] + words[source]) & mask
        word = words[other] ^ words[target]
        words[other] = (word << turn | word >> 32 - turn) & mask

    columns = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
    diagonals = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
    for _ in range(10):
        for a, b, c, d in columns + diagonals:
            for turn_d, turn_b in ((16, 12), (8, 7)):
                mix(a, b, d, turn_d)
                mix(c, d, b, turn_b)
    return [(word + first) & mask for word, first in zip(words, start, strict=True)]


def test_the_stream_is_chacha20():
    words = [word for counter in range(3) for word in chacha20_block(_key(7), counter)]
    expected = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
    assert RandomSource(seed_for_tests=7).words(24).tolist() == expected


def test_fresh_sources_differ_and_seeded_ones_repeat():
    assert len({RandomSource().bits(256) for _ in range(5)}) == 5
    assert RandomSource(seed_for_tests=1).bits(256) == RandomSource(seed_for_tests=1).bits(256)
    assert RandomSource(seed_for_tests=1).bits(256) != RandomSource(seed_for_tests=2).bits(256)
    for seed in (True, "1", 1.0):
        with pytest.raises(WrongType, match="seed_for_tests must be an integer"):
            RandomSource(seed_for_tests=seed)


def child_draws(source, send):
    send.send(source.bits(256))


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_processes_draw_from_streams_of_their_own(start):
    """A source that other processes inherit or are sent draws something else in each of them, and here."""
    context, source = multiprocessing.get_context(start), RandomSource()
    source.bits(8)
    drawn = []
    for _ in range(3):
        receive, send = context.Pipe(duplex=False)
        child = context.Process(target=child_draws, args=(source, send))
        child.start()
        drawn.append(receive.recv())
        child.join()
    assert len({*drawn, source.bits(256)}) == 4


def fork_and_draw(source):
    """What a forked child draws, and what a fork of that child does."""
    receive, send = os.pipe()
    if (child := os.fork()) == 0:
        os.write(send, f"{source.bits(256)} ".encode())
        if (grandchild := os.fork()) == 0:
            os.write(send, f"{source.bits(256)}".encode())
            os._exit(0)
        os.waitpid(grandchild, 0)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(send)
    with os.fdopen(receive) as file:
        return [int(text) for text in file.read().split()]


def test_forks_of_forks():
    source = RandomSource()
    assert len({*fork_and_draw(source), source.bits(256)}) == 3


@pytest.mark.parametrize("blind", ["getpid", "_forks"])
def test_forks_are_noticed_in_two_ways(monkeypatch, blind):
    """By Python's word of it where a container numbers processes anew, by the number where Python was not told."""
    if blind == "getpid":
        monkeypatch.setattr(os, "getpid", lambda: 1)
    else:
        monkeypatch.setattr(randomness, "_process", lambda: (os.getpid(), 0))
    source = RandomSource()
    assert len({*fork_and_draw(source), source.bits(256)}) == 3


def test_seeded_sources_repeat_in_children():
    source = RandomSource(seed_for_tests=5)
    child, _ = fork_and_draw(source)
    assert child == source.bits(256)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_have_keys_of_their_own(again):
    source = RandomSource()
    twin = again(source)
    assert len({source.bits(256), twin.bits(256), again(source).bits(256)}) == 3
    seeded = RandomSource(seed_for_tests=5)
    assert again(seeded).bits(256) == seeded.bits(256)


def test_pickles_hold_no_key():
    assert len(pickle.dumps(RandomSource())) < 100


def test_threads_share_no_bits():
    source = RandomSource()
    with ThreadPoolExecutor(4) as pool:
        drawn = np.concatenate(list(pool.map(source.words, [5000] * 40)))
    assert len(np.unique(drawn)) == len(drawn)


@given(st.integers(1, 1 << 200))
@settings(max_examples=50)
def test_integers_are_below_their_bound(bound):
    assert 0 <= RandomSource().below(bound) < bound


def test_integers_are_uniform(random):
    assert looks_uniform(np.bincount([random.below(7) for _ in range(7000)], minlength=7))
    assert looks_uniform(np.bincount(random.below_each(5, 5000), minlength=5))
    assert looks_uniform(np.bincount([random.bits(3) for _ in range(4000)], minlength=8))


def test_rejection_leaves_no_modulo_bias(random):
    """A bound of 3/4 of a power of two, reduced by modulo, would give the first third twice as often."""
    bound = 3 << 62
    thirds = np.bincount([random.below(bound) * 3 // bound for _ in range(3000)], minlength=3)
    assert looks_uniform(thirds)
    thirds = np.bincount(random.below_each(3 << 61, 3000) >> 61, minlength=3)
    assert looks_uniform(thirds)


def test_edges_of_bounds(random):
    assert random.below(1) == 0
    assert random.below_each(1, 4).tolist() == [0, 0, 0, 0]
    assert random.below_each(9, 0).tolist() == []
    assert random.below_each(1 << 63, 1000).min() >= 0
    assert random.bits(0) == 0
    for bound in (0, -1, True, 2.0):
        with pytest.raises(InvalidInput, match="bound must be a whole number of at least 1"):
            random.below(bound)
    with pytest.raises(InvalidInput, match=r"at most 2\*\*63"):
        random.below_each((1 << 63) + 1, 1)


def test_irrational_coins(random):
    chance = np.exp(-1)
    heads = sum(random.happens_enclosed(lambda: ball(-1).exp()) for _ in range(3000))
    assert looks_uniform([heads, 3000 - heads], [3000 * chance, 3000 * (1 - chance)])


def test_coins_ask_for_more_bits_only_while_undecided(random):
    asked = []

    def bounds(bits):
        asked.append(bits)
        return (0, 1 << bits) if bits < 256 else (1 << bits, 1 << bits)

    assert random.happens_between(bounds)
    assert asked == [64, 128, 256]
    with pytest.raises(NumericalFailure, match="could not be told"):
        random.happens_between(lambda bits: (0, 1 << bits))


@pytest.mark.parametrize(("count", "population"), [(2, 6), (4, 6), (2, 200)])
def test_sets_are_uniform(random, count, population):
    draws = 20 * len(list(combinations(range(population), count))) if population < 10 else 4000
    drawn = Counter(tuple(random.choose(count, population).tolist()) for _ in range(draws))
    if population < 10:
        assert looks_uniform([drawn[chosen] for chosen in combinations(range(population), count)])
    else:
        places = np.bincount([place for chosen in drawn.elements() for place in chosen], minlength=population)
        assert looks_uniform(places)


@given(st.integers(0, 300), st.integers(0, 40000))
@settings(max_examples=40)
def test_sets_have_different_sorted_members(count, more):
    chosen = RandomSource().choose(count, count + more)
    assert len(chosen) == count
    assert (np.diff(chosen) > 0).all()
    assert not count or 0 <= chosen[0] <= chosen[-1] < count + more


def test_impossible_sets(random):
    for count in (-1, 4):
        with pytest.raises(InvalidInput, match="count must be in"):
            random.choose(count, 3)
