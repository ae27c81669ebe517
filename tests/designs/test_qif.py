"""Small designs under LDP against the program of qif, where it is installed."""

import numpy as np
import pytest

import tightlip as tl
from tightlip.designs import design

# qif changes how numpy prints fractions everywhere
printed = np.get_printoptions()
qif = pytest.importorskip("qif", reason="qif is not installed; pip install qif")
np.set_printoptions(**printed)


@pytest.mark.parametrize("seed", range(8))
def test_equals_the_program_of_qif(seed):
    rng = np.random.default_rng(seed)
    size, level = int(rng.integers(2, 8)), float(rng.uniform(0.2, 2))
    prior, loss = tl.Prior(rng.dirichlet(np.ones(size))), rng.random((size, size))
    channel = qif.mechanism.d_privacy.min_loss_given_d(
        prior.floats, size, lambda one, two: level * (one != two), lambda x, y: float(loss[x, y])
    )
    reached = float((prior.floats[:, None] * np.asarray(channel) * loss).sum())
    found = design(prior, ldp=level, loss=loss)
    assert found.value == pytest.approx(reached, abs=1e-6)
    assert found.bound <= reached + 1e-9
