"""Random kernels and divergences in plain numpy, vectorised; no rounding guarantees."""

import numpy as np


def kernels(generator, count, secrets, outcomes, shape=0.5):
    """`count` random channels, some rows nearly equal."""
    found = generator.dirichlet(np.full(outcomes, shape), size=(count, secrets))
    mix = generator.random((count, 1, 1)) ** 3
    return mix * found + (1 - mix) * found[:, :1]


def capacity(found, c):
    """e^C(K, Q(c)) of each channel."""
    secrets = found.shape[1]
    below = c * found.sum(axis=1) + (1 - secrets * c) * found.min(axis=1)
    return (found.max(axis=1) / np.maximum(below, 1e-300)).max(axis=1)


def dobrushin(found):
    return 0.5 * np.abs(found[:, :, None] - found[:, None]).sum(axis=-1).max(axis=(1, 2))


def restricted_priors(generator, count, secrets, c, shape=0.5):
    return c + (1 - secrets * c) * generator.dirichlet(np.full(secrets, shape), size=count)


def divergence(p, q, kind):
    """Stable forms: every term is at least 0."""
    safe = np.maximum(q, 1e-300)
    difference = p - q
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = {
            "tv": 0.5 * np.abs(difference),
            "chi2": difference**2 / safe,
            "h2": (difference / (np.sqrt(p) + np.sqrt(safe))) ** 2,
            "kl": np.where(p > 0, p * np.log1p(difference / safe), 0.0) - difference,
        }[kind]
    return terms.sum(axis=-1)
