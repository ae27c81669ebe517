"""Small matrices of people, secrets × cells, and their tallies."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tightlip.auditing.tally import Tally

FAR = 10**20


@st.composite
def counts_of_people(draw, least=0, secrets=None):
    rows, width = draw(st.integers(1, 5)) if secrets is None else secrets, draw(st.integers(1, 6))
    few = st.lists(st.integers(least, 4), min_size=width, max_size=width)
    counts = draw(st.lists(few, min_size=rows, max_size=rows))
    assume(all(map(sum, counts)) and all(map(sum, zip(*counts, strict=True))))
    return counts


def tally_of(counts, times=1, *, python=False):
    secret, cell = np.nonzero(np.array(counts, dtype=object))
    count = [counts[x][y] * times for x, y in zip(secret.tolist(), cell.tolist(), strict=True)]
    values = np.array(count, dtype=object if python or sum(count) >= 2**62 else np.int64)
    return Tally.of(secret, cell, values, np.shape(counts))
