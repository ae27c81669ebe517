"""Fixed columns: what is published of a row in any case, as it stands; protecting chooses what is published beside it.

A fixed column Z has one level and is never generalised. Here it is what a mechanism M(z | a) draws from the value a of
a released column, which stays at home. Let X be the other columns. z is drawn first, once for each row, and (y, z) is
then published with probability K(y | x, z), y ∋ x. Whoever sees it sees a release of a table whose cells are (x, z),
in which

    n_s(x, z) = Σ_a n_s(x, a) M(z | a)

people hold the secret s: P(s | y, z) = Σ_x n_s(x, z) K(y | x, z) / Σ_x n(x, z) K(y | x, z). So limits, programs and
proofs are those of any table. Multiplied by `unit`, the denominators of the mechanisms, the counts are whole numbers.

Detail is counted of the other columns alone, since there is no choice about fixed ones, and what is drawn need not be
true. A release that says nothing about X still publishes z: a budget that z exceeds alone cannot be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import mechanisms_of
from tightlip.errors import InvalidInput, quoted
from tightlip.table.policy import Policy

AS_DRAWN = "as drawn"


@dataclass(frozen=True, slots=True, eq=False)
class FixedColumns:
    """The fixed columns of a plan, and the counts of cells that have their published values.

    Attributes
    ----------
    counted : in people times `unit`; where no column is fixed, the counts of the plan
    words : of each fixed column what makes it so, in words
    unit : what a person counts for
    """

    counted: Counted
    words: Mapping[str, str]
    unit: int

    @classmethod
    def of(cls, counted: Counted, plan: Policy) -> FixedColumns:
        """Fix the columns that mechanisms of a plan draw, given counts before anything is drawn.

        Raises
        ------
        InvalidInput
            When a mechanism is not for the values of its column, there are too many cells, or no column is left.
        """
        drawn = {
            column: mechanism
            for column, mechanism in mechanisms_of(plan).items()
            if mechanism.acts_on(counted.values[counted.columns.index(column)])
        }
        if not drawn:
            return cls(counted, {}, 1)
        if len(drawn) == len(counted.columns):
            raise InvalidInput(
                f"release must have a column to protect beside those with a mechanism, got "
                f"{', '.join(map(quoted, drawn))} only; release another one, or use `tightlip release table`."
            )
        found = counted.randomise(drawn)
        words = {column: mechanism.words() for column, mechanism in drawn.items()}
        return cls(found, words, found.tally.total // counted.tally.total)

    def told(self) -> str:
        """Say what makes columns fixed, for messages."""
        return " and ".join(f"{words} on {quoted(column)}" for column, words in self.words.items())
