"""What is true of a population, by definition, beside everything that the audit of a sample claims about it."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np

import tightlip as tl
from tightlip.auditing.counted import Counted
from tightlip.auditing.run import audit_counts
from tightlip.auditing.sample import SampleMode
from tightlip.table.mechanism import RandomizedResponse
from tightlip.table.policy import Policy, Released

SLACK = 1e-9  # of the truth, which is in floats


class Population:
    """Masses by value: one axis for each secret column, then one for each released column."""

    def __init__(self, masses, secrets=1):
        self.masses = np.asarray(masses) / np.sum(masses)
        self.secrets = [f"s{place}" for place in range(secrets)]
        self.columns = [f"c{place}" for place in range(self.masses.ndim - secrets)]

    def draw(self, rows, generator):
        """The counts of a sample; None where it has one secret only, which the table layer refuses."""
        counts = generator.multinomial(rows, self.masses.ravel()).reshape(self.masses.shape)
        width = len(self.secrets)
        seen = np.argwhere(counts > 0)
        if any(len(set(seen[:, place].tolist())) < 2 for place in range(width)):
            return None
        pairs = [(tuple(map(str, row[width:])), tuple(map(str, row[:width]))) for row in seen.tolist()]
        cells, names = sorted({cell for cell, _ in pairs}), sorted({name for _, name in pairs})
        places = {cell: at for at, cell in enumerate(cells)}, {name: at for at, name in enumerate(names)}
        triples = sorted(
            (places[0][cell], places[1][name], int(counts[tuple(row)]))
            for (cell, name), row in zip(pairs, seen, strict=True)
        )
        found = SimpleNamespace(
            secrets=names,
            cells=cells,
            cell_of=[cell for cell, _, _ in triples],
            secret_of=[name for _, name, _ in triples],
            count=[count for _, _, count in triples],
        )
        return Counted.of(found, self.secrets, self.columns)

    def joint(self, subject, columns, odds):
        """{(secret, cell)} as a matrix with its labels, after randomised response on some columns."""
        masses = self.masses
        for name, ratio in odds.items():
            axis = len(self.secrets) + self.columns.index(name)
            size = masses.shape[axis]
            kernel = (np.ones((size, size)) + (float(ratio) - 1) * np.eye(size)) / (float(ratio) + size - 1)
            masses = np.moveaxis(np.tensordot(masses, kernel, (axis, 0)), -1, axis)
        names = [*self.secrets, *self.columns]
        kept = [names.index(name) for name in (*subject, *columns)]
        masses = masses.sum(axis=tuple(at for at in range(masses.ndim) if at not in kept))
        sides = masses.shape[: len(subject)], masses.shape[len(subject) :]
        secrets, cells = ([tuple(map(str, label)) for label in product(*map(range, side))] for side in sides)
        matrix = masses.reshape(len(secrets), len(cells))
        held, used = matrix.sum(axis=1) > 0, matrix.sum(axis=0) > 0
        labels = [name for name, keep in zip(secrets, held, strict=True) if keep]
        return matrix[held][:, used], labels, [cell for cell, keep in zip(cells, used, strict=True) if keep]


class Claims:
    """Audits of samples of one population under one plan, and which of their claims are false."""

    def __init__(self, population, odds=None, delta="1/20", budget="3/2", mode=None):
        self.population, self.odds = population, {name: Fraction(o) for name, o in (odds or {}).items()}
        self.delta, self.budget, self.mode = Fraction(delta), Fraction(budget), mode or SampleMode(0.5)
        self.known = {}

    def audited(self, counted):
        release = [
            Released(name, mechanism=RandomizedResponse(tl.log_of(self.odds[name])))
            if name in self.odds
            else Released(name)
            for name in counted.columns
        ]
        policy = Policy(counted.secret_columns, release)
        return audit_counts(
            counted,
            policy,
            kinds={},
            delta=self.delta,
            budget=tl.log_of(self.budget),
            sample=self.mode,
        )

    def false_ones(self, rows, generator):
        """The names of the false claims of one audit; None where no sample could be audited."""
        counted = self.population.draw(rows, generator)
        if counted is None:
            return None
        found = self.audited(counted)
        wrong = set()
        for view in found.views.values():
            wrong |= {name for name, holds in self._about(view) if not holds}
        kept = [self._kept(view, counted.columns) for view in found.views.values()]
        wrong |= {"verdict"} if found.verdict and not all(kept) else set()
        for remedy in found.remedies:
            columns = [item.column for item in remedy.policy.release]
            kept = [self._kept(view, columns) for view in found.views.values()]
            largest = max(self._envelope(view, columns).lower for view in found.views.values())
            wrong |= set() if all(kept) and largest <= remedy.leakage + SLACK else {"remedy"}
        return wrong

    def _truth(self, view, columns):
        """Matrix and labels, and the lifts of each cell: over secrets in scope, and over all."""
        subject = view.counted.secret_columns
        odds = {name: ratio for name, ratio in self.odds.items() if name in columns}
        key = subject, tuple(columns), float(view.certified.rarest)
        if key not in self.known:
            matrix, secrets, cells = self.population.joint(subject, columns, odds)
            prior, cell = matrix.sum(axis=1), matrix.sum(axis=0)
            lifts = matrix / prior[:, None] / cell
            scope = prior >= float(view.certified.rarest)
            held = np.vstack([lifts[scope], np.ones(len(cell))]).max(axis=0)
            self.known[key] = matrix, secrets, cells, scope, held, lifts.max(axis=0)
        return self.known[key]

    def _envelope(self, view, columns):
        """The true envelope; where secrets are out of scope, what releasing the cells reaches about the others."""
        matrix, _, _, scope, held, _ = self._truth(view, columns)
        key = "envelope", view.counted.secret_columns, tuple(columns), tuple(scope)
        if key not in self.known:
            prior, cell = matrix.sum(axis=1), matrix.sum(axis=0)
            if scope.all():
                channel = tl.Channel(matrix / prior[:, None])
                self.known[key] = tl.envelope(channel, tl.Prior(prior), self.delta)
            else:
                order = np.argsort(-held)
                place = np.searchsorted(np.cumsum(cell[order]), float(self.delta) - 1e-12)
                self.known[key] = SimpleNamespace(lower=float(np.log(held[order][place])), upper=np.inf)
        return self.known[key]

    def _kept(self, view, columns):
        matrix, _, _, _, held, _ = self._truth(view, columns)
        share = matrix.sum(axis=0)[held > float(self.budget) * (1 + SLACK)].sum()
        return share <= float(self.delta) + SLACK

    def _about(self, view):
        columns = view.counted.columns
        matrix, secrets, cells, _, held, every = self._truth(view, columns)
        prior, cell = matrix.sum(axis=1), matrix.sum(axis=0)
        envelope = self._envelope(view, columns)
        yield "worst", np.log(held.max()) <= view.worst.leakage + SLACK
        yield "at least", view.at_least <= np.log(every.max()) + SLACK
        yield "maximal leakage", np.log((held * cell).sum()) <= view.maximal_leakage + SLACK
        yield "envelope", envelope.lower <= view.envelope.upper + SLACK
        yield "attack", view.envelope.lower <= envelope.upper + SLACK
        if np.isfinite(view.ldp):
            chance = matrix / prior[:, None]
            yield "ldp", np.log((chance.max(axis=0) / chance.min(axis=0)).max()) <= view.ldp + SLACK
            yield "pmc bound", np.log((cell / chance.min(axis=0)).max()) <= view.pmc.leakage + SLACK
        above = cell[held > float(self.budget) * (1 + SLACK)].sum()
        yield "share above budget", above <= view.share_above_budget + SLACK
        for point in view.tail:
            ratio = float(point.level.ratio)
            yield "tail", cell[held > ratio * (1 + SLACK)].sum() <= point.above + SLACK
            yield "tail from below", point.at_least <= cell[every > ratio * (1 - SLACK)].sum() + SLACK
        for risk in view.worst_cells:
            y = cells.index(view.counted.cell_label(risk.cell))
            x = secrets.index(view.counted.secret_label(risk.secret))
            yield "worst cells", np.log(held[y]) <= risk.leakage + SLACK
            yield "posterior", matrix[x, y] / cell[y] <= risk.posterior + SLACK
        y = cells.index(view.counted.cell_label(view.pmc.cell))
        x = secrets.index(view.counted.secret_label(view.pmc.secret))
        ruled = view.pmc.prior <= prior[x] + SLACK and matrix[x, y] / cell[y] <= view.pmc.posterior + SLACK
        yield "ruled out", ruled
        for effect in view.columns:
            rest = [name for name in columns if name != effect.column]
            yield "alone", self._envelope(view, [effect.column]).lower <= effect.alone + SLACK
            if rest:
                yield "without", self._envelope(view, rest).lower <= effect.without + SLACK
