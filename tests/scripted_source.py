"""A source of randomness whose bits are chosen: the first draws of numbers that are known in full."""

import numpy as np

from tightlip.numeric.randomness import RandomSource


class Scripted(RandomSource):
    """A source that gives the words it was told to, and no others."""

    __slots__ = ("left",)

    def __init__(self, words):
        super().__init__()
        self.left = [int(word) for word in words]

    def words(self, count):
        given, self.left = self.left[:count], self.left[count:]
        assert len(given) == count, "more words were asked for than there are"
        return np.array(given, dtype=np.uint64)


def words_of(number, size, bits):
    """What a drawer that looks up `bits` bits is given where its uniform number is number/2^size, size = 64·n."""
    first = number >> size - 64
    pieces = (first >> 48) * 0x0001_0001_0001_0001  # four draws share a word, each gets these bits
    rest = (first & (1 << 64 - bits) - 1) << bits
    return [
        pieces,
        rest,
        *((number >> size - 64 * place) & (1 << 64) - 1 for place in range(2, size // 64 + 1)),
    ]
