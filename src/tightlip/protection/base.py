"""The release that says least: nothing, but for exposed people where nothing breaks a limit because of them.

Publishing nothing can break a limit: a cap below what is true of everybody, or a column that must be kept, or is fixed,
and says too much alone. If some people may be exposed, let e_x be the part of cell x that is published as it is. What
is left to say nothing keeps every limit r if Σ_x a_rx (1 − e_x) ≤ 0 over the cells of each value that says nothing,
a_rx the excess of the cell. No release keeps the limits with fewer exposed than the least Σ_x n_x e_x: the values of
any other, but the exposed cells, keep them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tightlip.auditing.tally import Places, group_rows, sum_by
from tightlip.errors import InvalidInput, SolverFailure, quoted
from tightlip.numeric.display import format_up
from tightlip.numeric.linear_program import integer_program, minimise
from tightlip.numeric.parse import FloatArray
from tightlip.protection.budget import Subject
from tightlip.protection.certificate import Table
from tightlip.protection.kernel import SCALE, Kernel, exposed_share
from tightlip.protection.least import Least, least_loosening, least_words, loosening
from tightlip.protection.limits import Limit, Limits, risky_cells
from tightlip.protection.values import Values

_SECONDS = 5.0  # for an integer program, which only has to find something
_HAIR = 1e-7  # by which limits are tightened where exposure is by chance, so that rounding breaks none


def base_release(
    table: Table,
    values: Values,
    secrets: Sequence[tuple[Subject, int]],
    *,
    least: int,
    randomised: bool,
    fixed: str = "",
) -> Kernel:
    """Find the release that says least, or refuse the budget with what would be enough.

    `fixed` says what makes columns fixed, if some are (see `fixed`).

    Raises
    ------
    InvalidInput
        When it breaks a limit, or too few people share one of its values.
    """
    limits = table.limits
    nothing = Kernel.assign(values.last)
    _require_size(nothing, limits, least)
    broken = np.flatnonzero(nothing.broken(limits, values).any(axis=0))
    kernels = [nothing]
    if len(broken) and limits.exposed:
        kernels = [_exposing(values, limits, broken, least, by_chance=False), nothing]
        kernels += [_exposing(values, limits, broken, least, by_chance=True)] if randomised else []
    for kernel in kernels:
        if exposed_share(kernel, values, limits) <= limits.exposed and _fewest(kernel, limits) >= least:
            return kernel
    raise InvalidInput(_refusal(table, values, secrets, fixed, least=least, randomised=randomised))


def _fewest(kernel: Kernel, limits: Limits) -> int:
    """How many share a value at least; of a release by chance nobody asks."""
    sizes = sum_by(kernel.value, limits.people[kernel.cell], int(kernel.value.max()) + 1)
    return int(sizes[sizes > 0].min())


def _require_size(nothing: Kernel, limits: Limits, least: int) -> None:
    fewest = _fewest(nothing, limits)
    if fewest < least:
        raise InvalidInput(
            f"min_count must be at most {fewest}, which is how many share the coarsest values, got {least}; "
            "give a smaller one, or let columns that are kept be coarser or left out."
        )


def _exposing(values: Values, limits: Limits, broken: Places, least: int, *, by_chance: bool) -> Kernel:
    """Publish nothing, but expose the fewest people without whom no value of `broken` breaks a limit, if found."""
    excess, part = limits.excess(), np.zeros(len(limits.people))
    may = risky_cells(limits) & (limits.people >= least)
    for top in broken.tolist():
        cells = np.flatnonzero(values.last == top)
        own = cells[may[cells]]
        part[own] = _fewest_exposed(
            excess[:, own], excess[:, cells].sum(axis=1), limits.amounts[own], by_chance=by_chance
        )
    single = np.flatnonzero(np.bincount(values.value, minlength=len(values)) == 1)
    alone = values.last.copy()
    alone[values.first[single]] = single
    if not by_chance:
        return Kernel.assign(np.where(part > 0.5, alone, values.last))
    shown = np.minimum(np.ceil(part * SCALE), SCALE).astype(np.int64)
    places = np.arange(len(shown))
    return Kernel.of(
        np.append(alone, values.last),
        np.append(places, places),
        np.append(shown, SCALE - shown),
        SCALE,
    )


def _fewest_exposed(
    excess: FloatArray, total: FloatArray, cost: FloatArray, *, by_chance: bool
) -> FloatArray:
    """The parts of cells to expose, as a solver proposes them; none where it finds none."""
    from scipy import sparse

    width = len(cost)
    if not width:
        return cost
    try:
        if by_chance:
            matrix = sparse.vstack([sparse.csc_array(-excess), sparse.eye_array(width)])
            limits = np.append(-total - _HAIR * np.abs(excess).sum(axis=1), np.ones(width))
            return np.clip(minimise(cost, matrix, limits).primal, 0.0, 1.0)
        start = np.ones(width)
        found, *_ = integer_program(cost, -excess, -total, equal=0, start=start, seconds=_SECONDS, gap=0.0)
        return np.zeros(width) if found is None else found
    except SolverFailure:
        return np.zeros(width)


def _refusal(
    table: Table,
    values: Values,
    secrets: Sequence[tuple[Subject, int]],
    fixed: str,
    *,
    least: int,
    randomised: bool,
) -> str:
    """Say which limit even the release that says least breaks, and what would be enough."""
    limits = table.limits
    needed = loosening(limits, values.last)
    limit = limits.limits[needed.index(max(needed))]
    argument = "pmc" if limit.floor else "budget"
    subject = quoted(" × ".join(secrets[limit.secret][0]))
    needs = least_words(limit, max(needed))
    found = least_loosening(table, values, least=least, randomised=randomised)
    more = "" if found is None else _more(limits, found)
    enough = needs if needs == "none" else f"at least {needs}"
    if fixed and (told := _told_alone(table)) is not None:
        broken, alone = told
        return (
            f"{'pmc' if broken.floor else 'budget'} must be one that {fixed} would keep alone, got "
            f"{least_words(broken, Fraction(1))}: what is drawn takes {alone} for a secret of "
            f"{quoted(' × '.join(secrets[broken.secret][0]))}, whatever else is released; give at least that, or a "
            f"mechanism that tells less, as tightlip design --pml finds it{more}."
        )
    if len(np.unique(values.last)) == 1:
        return (
            f"{argument} must be one that publishing nothing meets, got one that a secret of {subject} breaks even so; "
            f"give {enough}, or one for each secret value{more}."
        )
    return (
        f"{argument} must be one that the columns that are kept meet alone, got one that they break for a secret of "
        f"{subject}; give {enough}, or let them be coarser or left out{more}."
    )


def _told_alone(table: Table) -> tuple[Limit, str] | None:
    """The limit that fixed columns alone break most, and what it would have to be; None where they keep all."""
    fixed = [column for column, weight in enumerate(table.weights) if not weight]
    needed = loosening(table.limits, group_rows(table.codes[:, fixed])[1])
    most = max(needed)
    if most <= 1:
        return None
    limit = table.limits.limits[needed.index(most)]
    return limit, least_words(limit, most)


def _more(limits: Limits, found: Least) -> str:
    """Say from what budget on more can be released than what says least."""
    one = limits.limits[0] if len({(limit.kind, limit.level) for limit in limits.limits}) == 1 else None
    if found.upper is None:
        return ""
    if one is None:
        return f"; with all limits loosened {format_up(found.upper)} times more can be released"
    high, low = least_words(one, found.upper), least_words(one, found.lower, up=False)
    known = found.lower > 1 and least_words(one, found.lower) != high
    return f"; from {high} on{f', and not below {low},' if known else ''} more can be released"
