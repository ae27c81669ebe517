"""The result of protecting a table: a release, what it keeps, and the proof of both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tightlip.auditing.counted import Counted
from tightlip.auditing.leakage import cell_pml
from tightlip.auditing.plan import about, name_of
from tightlip.auditing.tally import Tally
from tightlip.model.channel import Channel
from tightlip.numeric.quantity import Nats
from tightlip.protection.certificate import ReleaseCertificate
from tightlip.protection.kernel import Kernel
from tightlip.protection.levels import ColumnLevels
from tightlip.protection.values import Values
from tightlip.table.mechanism import Value
from tightlip.table.policy import Policy


@dataclass(frozen=True, eq=False)
class Protection:
    """A truthful release of a table under a budget.

    Attributes
    ----------
    kept : linear detail that it keeps, in [0, 1], rounded down
    bound : what no truthful release over these levels can keep under this budget, rounded up
    levels : the levels of each released column
    randomised : whether a cell may be published as different values
    certificate : the proof of both
    """

    counted: Counted
    plan: Policy
    levels: tuple[ColumnLevels, ...]
    values: Values
    certificate: ReleaseCertificate
    randomised: bool
    finished: bool

    @classmethod
    def of(cls, counted: Counted, plan: Policy, levels: tuple[ColumnLevels, ...], names: Any, values: Values, certificate: ReleaseCertificate, *, randomised: bool, finished: bool) -> Protection:
        """Read off what was found."""
        return cls(counted, plan, levels, values, certificate, randomised, finished)

    @property
    def kept(self) -> float:
        """The linear detail kept, rounded down."""
        return self.certificate.lower

    @property
    def bound(self) -> float:
        """The linear detail that no truthful release over these levels exceeds."""
        return self.certificate.upper

    @property
    def gap(self) -> float:
        """How much more detail another release could keep, at most."""
        return max(0.0, self.bound - self.kept)

    @property
    def kernel(self) -> Kernel:
        """What is published for each cell."""
        return self.certificate.kernel

    def verify(self) -> None:
        """Check in whole numbers that the release keeps its budget, what it keeps, and the bound; without a solver."""
        self.certificate.verify()

    def save(self, path: Any, *, force: bool = False) -> None:
        """Write the certificate; it holds counts of the table under codes, but no values."""
        self.certificate.save(path, force=force)

    def published_label(self, value: int) -> tuple[Value, ...]:
        """What is published, by column."""
        node = self.values.nodes[self.values.node[value]]
        codes = self.counted.codes[self.values.first[value]]
        return tuple(column.labels[level][code] for column, level, code in zip(self.levels, node, codes, strict=True))

    @cached_property
    def release_counts(self) -> Counted:
        """The counts of what is published, multiplied by the kernel's scale."""
        kernel, tally = self.kernel, self.counted.tally
        used, place = np.unique(kernel.value, return_inverse=True)
        start = np.searchsorted(kernel.cell, np.arange(tally.shape[1] + 1))
        width = np.diff(start)[tally.cell]
        pair = np.repeat(np.arange(len(tally.cell)), width)
        offset = np.arange(len(pair)) - np.repeat(np.cumsum(width) - width, width)
        entry = start[tally.cell[pair]] + offset
        count = tally.count[pair].astype(object) * kernel.weight[entry].astype(object)
        joined = Tally.of(tally.secret[pair], place[entry], count, (tally.shape[0], len(used)))
        labels = [self.published_label(int(value)) for value in used]
        values, codes = [], np.zeros((len(labels), len(self.levels)), dtype=np.int64)
        for column in range(len(self.levels)):
            known: dict[Value, int] = {}
            codes[:, column] = [known.setdefault(label[column], len(known)) for label in labels]
            values.append(tuple(known))
        from dataclasses import replace

        return replace(self.counted, values=tuple(values), codes=codes, tally=joined)

    @property
    def leakage(self) -> Nats:
        """The worst leakage of a published value about all secret columns together, exactly."""
        leak = cell_pml(self.release_counts.tally)
        return leak.value(leak.worst_first(1)[0])

    @property
    def channel(self) -> Channel:
        """P(published value | secret)."""
        return self.release_counts.tally.channel()

    @property
    def information(self) -> float:
        """I(X; Y)/H(X): the share of the information about a row's cell that is published, to nearest."""
        people, kernel = self.counted.tally.of_cell.astype(np.float64), self.kernel
        shares = people / people.sum()
        chance = kernel.weight / kernel.scale
        joint = shares[kernel.cell] * chance
        marginal = np.bincount(kernel.value, joint, len(self.values))
        marginal = marginal[marginal > 0]
        entropy = -float(shares @ np.log(shares))
        found = -float(marginal @ np.log(marginal)) + float(joint @ np.log(chance))
        return found / entropy if entropy > 0 else 1.0
