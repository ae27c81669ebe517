"""An attack as a proof holds it: what it gives of which outcome to which symbol.

Of a hundred outcomes and symbols only a few hundred pairs matter, and a curve has hundreds of proofs, so the Channel is
made when somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightlip.errors import InvalidInput
from tightlip.model.channel import Channel
from tightlip.model.labels import Labels
from tightlip.model.matrix import is_sparse
from tightlip.model.normalize import TOLERANCE

_MOST_DENSE = 4_000_000
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Attack:
    """A post-processing of outcomes: the entries that are not 0, each once; `inputs` and `outputs` are its labels.

    Raises
    ------
    InvalidInput
        When the entries are no channel: what does not share each outcome out proves nothing.
    """

    outcomes: Places
    symbols: Places
    shares: NDArray[Any]
    inputs: Labels
    outputs: Labels

    def __post_init__(self) -> None:
        height, width = self.shape
        given = self._sum_shares(self.outcomes, height)
        if given is None or self._sum_shares(self.symbols, width) is None:
            raise InvalidInput(
                f"attack must have an outcome below {height} and a symbol below {width} for each of its "
                f"{len(self.shares)} shares."
            )
        pairs = np.sort(self.outcomes * width + self.symbols)
        if not (len(pairs) and (pairs[1:] > pairs[:-1]).all() and self.shares.min() > 0):
            raise InvalidInput("attack must have shares above 0, each pair of outcome and symbol once.")
        missed = np.abs(given - 1)
        if not missed.max() <= TOLERANCE:
            worst = int(missed.argmax())
            raise InvalidInput(
                f"attack must share out each outcome, got {given[worst]:.12g} of outcome {self.inputs[worst]!r}."
            )

    def _sum_shares(self, places: Places, size: int) -> NDArray[np.float64] | None:
        """Add up the shares of each place; None if there is not one place below the size for each."""
        if len(places) != len(self.shares) or places.max(initial=0) >= size:
            return None
        try:
            return np.bincount(places, self.shares.astype(np.float64, copy=False), size).astype(np.float64)
        except ValueError:  # a place below 0
            return None

    @classmethod
    def of(cls, channel: Channel) -> Attack:
        """List the entries of a channel from outcomes to symbols."""
        matrix = channel.matrix
        if is_sparse(matrix):
            entries = matrix.tocoo()
            outcomes, symbols, shares = entries.row.astype(np.intp), entries.col.astype(np.intp), entries.data
        else:
            outcomes, symbols = (matrix != 0).nonzero()
            shares = matrix[outcomes, symbols]
        found = cls(outcomes, symbols, shares, channel.inputs, channel.outputs)
        vars(found)["channel"] = channel
        return found

    @property
    def shape(self) -> tuple[int, int]:
        """How many outcomes and symbols there are."""
        return len(self.inputs), len(self.outputs)

    @cached_property
    def channel(self) -> Channel:
        """The same as a channel."""
        return Channel(self._matrix(), self.inputs, self.outputs)

    def _matrix(self) -> Any:
        if len(self.inputs) * len(self.outputs) > _MOST_DENSE:
            from scipy.sparse import coo_array

            return coo_array((self.shares, (self.outcomes, self.symbols)), shape=self.shape).tocsr()
        matrix = np.zeros(self.shape, dtype=self.shares.dtype)
        matrix[self.outcomes, self.symbols] = self.shares
        return matrix

    def __eq__(self, other: object) -> bool:
        return self.channel == other.channel if isinstance(other, Attack) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.channel)
