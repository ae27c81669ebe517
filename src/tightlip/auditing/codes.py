"""The order in which secrets and cells are numbered, so that a code gives nothing away.

Secrets are numbered from the most to the least frequent, cells from the largest to the smallest. Shares and sizes are
shown next to the codes anyway, so this order adds nothing to them. Alphabetical order would: who knows that a secret is
"no" or "yes" could read the codes. Equally frequent ones are therefore shuffled, by the system's randomness unless a
seed is given.
"""

from __future__ import annotations

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.tally import Places


def coded(counted: Counted, seed: int | None = None, *, cells: bool = True) -> Counted:
    """The same release with cells and secrets in the order of their codes.

    Parameters
    ----------
    seed : int, optional
        Makes the order of ties repeatable; whoever knows the seed and the values can then undo it.
    cells : bool
        Whether cells are numbered anew, or keep their places.
    """
    generator = np.random.default_rng(seed)
    secrets = by_size(counted.tally.of_secret.tolist(), generator)
    sizes = counted.tally.of_cell
    places = by_size(sizes.tolist(), generator) if cells else np.arange(len(sizes))
    return counted.reordered(places, secrets)


def by_size(sizes: list[int], generator: np.random.Generator) -> Places:
    """Places from the largest size down, ties in random order."""
    shuffled = generator.permutation(len(sizes)).tolist()
    return np.array(sorted(shuffled, key=lambda place: -sizes[place]), dtype=np.intp)
