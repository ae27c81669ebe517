"""Random channels and priors of the kinds that break naive code."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from tightlip import Channel, Prior

sizes = st.integers(2, 5)


@st.composite
def distributions(draw, size, *, positive=False):
    """Exact masses with small denominators."""
    weights = draw(st.lists(st.integers(1 if positive else 0, 12), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def exact_channels(draw, inputs=None, outputs=None, *, positive=False):
    rows = draw(sizes) if inputs is None else inputs
    columns = draw(st.integers(1, 5)) if outputs is None else outputs
    return Channel([draw(distributions(columns, positive=positive)) for _ in range(rows)])


@st.composite
def exact_priors(draw, size):
    return Prior(draw(distributions(size, positive=True)))


@st.composite
def exact_pairs(draw, **options):
    channel = draw(exact_channels(**options))
    return channel, draw(exact_priors(channel.shape[0]))


entries = st.one_of(
    st.floats(0, 1),
    st.just(0.0),
    st.floats(1e-300, 1e-290),
    st.floats(1e-18, 1e-14),
    st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 5e-324, 2.0**-1022]),
)


@st.composite
def float_rows(draw, rows, columns):
    row = st.lists(entries, min_size=columns, max_size=columns).filter(lambda weights: sum(weights) > 0.01)
    matrix = np.array([draw(row) for _ in range(rows)])
    return matrix / matrix.sum(axis=1, keepdims=True)


@st.composite
def nearly_proportional_rows(draw, rows, columns):
    """Every row the same up to the last bits: leakage near zero, where cancellation hurts."""
    base = draw(float_rows(1, columns))[0]
    noise = np.array(
        [draw(st.lists(st.integers(-3, 3), min_size=columns, max_size=columns)) for _ in range(rows)]
    )
    matrix = np.abs(base * (1 + noise * 2.0**-52))
    return matrix / matrix.sum(axis=1, keepdims=True)


@st.composite
def float_pairs(draw):
    rows, columns = draw(sizes), draw(st.integers(1, 6))
    matrix = draw(st.one_of(float_rows(rows, columns), nearly_proportional_rows(rows, columns)))
    masses = draw(
        st.lists(
            st.one_of(st.floats(0.01, 1), st.floats(1e-300, 1e-200), st.just(0.0), st.floats(1e-17, 1e-13)),
            min_size=rows,
            max_size=rows,
        ).filter(lambda weights: sum(weights) > 0.005)
    )
    return Channel(matrix), Prior(np.array(masses) / sum(masses))
