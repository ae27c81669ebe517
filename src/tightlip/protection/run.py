"""Protect a table: find the truthful release that keeps most detail under a budget, and prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from tightlip.arguments import flag, instance, whole
from tightlip.auditing.counted import Counted
from tightlip.auditing.plan import mechanisms_of, require_unweighted
from tightlip.errors import InvalidInput, WrongType, quoted
from tightlip.numeric.parse import float_number, number
from tightlip.protection.base import base_release
from tightlip.protection.budget import read_limits
from tightlip.protection.certificate import Prices, ReleaseCertificate, upper_bound
from tightlip.protection.certificate import Table as Proof
from tightlip.protection.clock import Deadline, Effort
from tightlip.protection.fixed import FixedColumns
from tightlip.protection.kernel import Kernel, round_kernel
from tightlip.protection.least import Least, least_loosening
from tightlip.protection.levels import ColumnLevels, choose_levels
from tightlip.protection.past import PAST, Past
from tightlip.protection.program import Program
from tightlip.protection.rays import exact_kernel
from tightlip.protection.result import Protection
from tightlip.protection.rough import MANY, solve_roughly
from tightlip.protection.search import Assignment
from tightlip.protection.values import Codes, Values
from tightlip.table.counts import count_cells
from tightlip.table.plan import PlanKeywords, planned, require_keywords
from tightlip.table.policy import Policy, Released
from tightlip.table.source import Table, open_table

OnProgress = Callable[[str, float, float], None]
_SHORTEST, _LONGEST = 20.0, 80.0  # seconds
_PAIRS_A_SECOND = 20_000  # that a table may take longer for
_SLOWER = 3  # times as long as on an idle core is waited for a slow machine
_BOUND_PART = 0.5  # of the time is for the bound at most, where a deterministic release is searched for too


def silent(stage: str, kept: float, bound: float) -> None:
    """Tell nobody."""


def protect(
    table: Any,
    secret: Any = None,
    release: Iterable[str | Released] | None = None,
    budget: Any = None,
    *,
    policy: Policy | None = None,
    levels: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    randomised: bool = False,
    pmc: Any = None,
    delta: Any = None,
    min_count: int | None = None,
    gap: float = 1e-3,
    seconds: float | None = None,
    earlier: Mapping[str, Policy] | None = None,
    on_progress: OnProgress = silent,
    **plan: Unpack[PlanKeywords],
) -> Protection:
    """Find the truthful release of a table that keeps most detail under a budget.

    Parameters
    ----------
    table : Table or anything `open_table` takes
    secret, release : column names (or `Secret` and `Released`), or {"DPHY": ["1"]}: a column and its sensitive values
        Of a column with a mechanism what is drawn is published as it stands, and protected is what is published beside
        it: the others, cell by cell, by what was drawn.
    policy : Policy
        What is planned; all else that is said of the plan adds to it (see `plan`).
    budget : level, cap, or mapping of secret columns (and their values) to such; or a list of these, all to be kept
        "3x": nobody's secret becomes more than 3 times as likely; "50%": nobody's becomes more than that likely, or no
        named value of it does. A level is for each secret column, and for all together where the plan says `jointly`.
    levels : mapping of released column to its levels, finest first; optional
        {"age": ["as is", 5, 10, "out"], "zip": ["as is", "prefix 3", "out"], "town": "towns.csv"}; chosen where left
        out.
    weights : mapping of released column to how much it matters; 1 where left out
    randomised : whether one cell may be published as different values, by chance
        Keeps more, and protects against a reader of published values alone; see docs/protect.md.
    pmc : level or mapping, optional
        What may not be ruled out: no secret becomes less likely than by this factor.
    delta : share of people whose published value may exceed the budget; none where left out
    min_count : int, optional
        The fewest people who share a published value; of a deterministic release.
    gap : relative gap of detail to which the randomised optimum is sought
    seconds : how much is searched for a deterministic release, in seconds of an idle core, about; by the size of the
        table where left out, 20 to 80
        Work is counted, so that the same table gives the same release on every machine that takes less than three times
        as long. When it is done, or after Ctrl-C, the best so far is returned with its proof and its gap.
    earlier : mapping of names to policies, optional
        What was released of the same people before: the budget is then for all of it together, by whoever links rows.
        A `Ledger` knows these.
    on_progress : callable, optional
        Is told the stage, the detail kept and the bound so far.
    plan : bins={"age": 10}, prefix, top, bottom, mapping, suppress, randomize, where, missing, not_secret, jointly
        What else is planned, in the words of the flags and of policy files; see docs/policy.md.

    Returns
    -------
    Protection

    Raises
    ------
    InvalidInput
        When the plan does not fit the table, or even publishing nothing exceeds the budget, or what mechanisms draw
        does alone.
    """
    require_keywords(protect, plan, PlanKeywords.__annotations__)
    wanted = _protectable(planned(secret, release, policy, budget=budget, delta=delta, **plan))
    fewest = wanted.min_count if min_count is None else min_count
    asked = Request.of(
        wanted.budget or None,
        pmc,
        wanted.delta,
        fewest,
        weights=weights,
        randomised=randomised,
        gap=gap,
        seconds=seconds,
        on_progress=on_progress,
    )
    _require_no_groups(wanted, asked.least)
    released = _read_earlier(earlier)
    with nullcontext(table) if isinstance(table, Table) else open_table(table) as opened:
        counts = count_cells(opened, replace(wanted, min_count=None))
        counted = Counted.of(counts, wanted.secret, [item.column for item in wanted.release])
        chosen = choose_levels(wanted, counted, opened.under(wanted).kinds(wanted.columns), levels)
        past = Past.of(opened, wanted, released) if released else None
    given = {
        "budget": wanted.budget,
        "pmc": pmc,
        "delta": wanted.delta if delta is None else delta,
        "min_count": fewest,
        "levels": levels,
    }
    return replace(protect_counts(counted, wanted, chosen, asked, past), source=table, given=given)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a release, besides its columns and their levels; see `protect`.

    `least` is the fewest people who may share a published value.
    """

    budget: Any
    pmc: Any = None
    delta: Any = None
    least: int = 1
    weights: Mapping[str, Any] | None = None
    randomised: bool = False
    gap: float = 1e-3
    seconds: float | None = None
    on_progress: OnProgress = silent

    @classmethod
    def of(cls, budget: Any, pmc: Any, delta: Any, fewest: Any, **options: Any) -> Request:
        """Read the arguments of `protect`, or refuse them; budgets are read with the counts that they are about."""
        if budget is None:
            raise InvalidInput('budget must be given, got none; write budget="3x".')
        flag(options["randomised"], "randomised")
        options["gap"] = _amount(options["gap"], "gap")
        if options["seconds"] is not None:
            options["seconds"] = _amount(options["seconds"], "seconds")
        tell = options["on_progress"]
        if not callable(tell):
            raise WrongType(
                f"on_progress must be a function of stage, kept and bound, got {quoted(tell)}; leave it out."
            )
        least = 1 if fewest is None else whole(fewest, "min_count", 1)
        if least > 1 and options["randomised"]:
            raise InvalidInput(
                "min_count is for deterministic releases, got a randomised one; leave one of them out."
            )
        return cls(budget, pmc, delta, least, **options)


def protect_counts(
    counted: Counted,
    plan: Policy,
    levels: tuple[ColumnLevels, ...],
    asked: Request,
    past: Past | None = None,
) -> Protection:
    """Protect counts of the released columns, given what their values may be published as, and what is out already."""
    fixed = FixedColumns.of(counted, plan)
    finest, codes = _at_finest(fixed.counted, levels)
    earlier = None if past is None else _past_at_finest(past, plan, levels)
    limits, secrets = read_limits(finest, plan, asked.budget, asked.pmc, asked.delta, earlier)
    unit = fixed.unit if earlier is None else earlier.unit
    proof = Proof(finest.codes, codes, _weights(asked.weights, levels), replace(limits, unit=unit))
    values = proof.values()
    base = base_release(
        proof, values, secrets, least=asked.least, randomised=asked.randomised, fixed=fixed.told()
    )
    best, finished = _search(proof, values, base, asked)
    best.verify()
    return Protection(
        counted,
        fixed,
        plan,
        levels,
        finest,
        values,
        best,
        secrets,
        asked.randomised,
        finished,
        least=_least(best, values, asked),
        past=past,
    )


def _search(proof: Proof, values: Values, base: Kernel, asked: Request) -> tuple[ReleaseCertificate, bool]:
    """Find prices and a release, with a proof that is not yet checked; and whether the search ended by itself."""
    detail, limits, tell = proof.detail(values), proof.limits, asked.on_progress
    program = Program(values, limits, detail.share(), asked.least)
    seconds = _time_for(len(program.value)) if asked.seconds is None else asked.seconds
    until = Deadline.after(max(_SLOWER * seconds, _SHORTEST))
    half = Deadline.after(until.left() * (1.0 if asked.randomised else _BOUND_PART))
    solve = Program.solve if len(program.value) < MANY else solve_roughly
    optimum = solve(program, asked.gap, half, lambda kept, bound: tell("bound", kept, bound))
    unit = detail.whole[1] / limits.total  # of the whole numbers that are counted
    prices = Prices.of(optimum.prices * unit, optimum.exposure_price * unit)
    bound = detail.most(upper_bound(proof, values, detail, prices))
    finished, kernels = optimum.finished, [base]
    if asked.randomised:
        shares = program.value[optimum.pairs], program.cell[optimum.pairs], optimum.share
        kernels += [round_kernel(values, limits, *shares, base)]
        exact = exact_kernel(values, limits, *shares)
        kernels += [] if exact is None else [exact]
    close = asked.randomised and finished and max(map(detail.kept, kernels)) >= (1 - 2 * asked.gap) * bound
    if base.deterministic and not close:
        search = Assignment(program, optimum, asked.least)
        search.chosen = base.value
        effort = Effort(0.0 if optimum.stopped else seconds, until)
        kernel, ended = search.search(effort, lambda kept: tell("search", kept, bound))
        kernels.append(kernel)
        finished = finished and ended
    kernel = max(kernels, key=detail.kept)
    return ReleaseCertificate(proof, kernel, prices, detail.kept(kernel), bound, asked.least), finished


def _least(best: ReleaseCertificate, values: Values, asked: Request) -> Least | None:
    """What would let something be released, where nothing is."""
    if (best.kernel.value != values.last[best.kernel.cell]).any():
        return None
    return least_loosening(best.table, values, least=asked.least, randomised=asked.randomised)


def _time_for(pairs: int) -> float:
    """How long a table deserves, in seconds."""
    return min(max(_SHORTEST, pairs / _PAIRS_A_SECOND), _LONGEST)


def _amount(value: object, argument: str) -> float:
    read = float_number(value, argument)
    if read < 0:
        raise InvalidInput(f"{argument} must not be negative, got {quoted(value)}; leave it out.")
    return read


def _weights(given: Mapping[str, Any] | None, levels: tuple[ColumnLevels, ...]) -> tuple[Fraction, ...]:
    """How much columns matter, relative to the one that matters least; fixed ones do not."""
    if given is not None and not isinstance(given, Mapping):
        raise WrongType(
            f'weights must be a mapping of columns to numbers, got {quoted(given)}; write {{"age": 2}}.'
        )
    names = [column.column for column in levels if not column.fixed]
    for name in given or {}:
        if name not in names:
            raise InvalidInput(
                f"weights must be of released columns without a mechanism, got {quoted(name)}; release it so, or "
                "leave it out."
            )
    read = [Fraction(number((given or {}).get(name, 1), f"weight of {name}")) for name in names]
    for name, weight in zip(names, read, strict=True):
        if weight <= 0:
            raise InvalidInput(
                f"weight of {quoted(name)} must be positive, got {quoted(str(weight))}; a column that does not matter "
                "need not be released."
            )
    relative = dict(zip(names, (weight / min(read) for weight in read), strict=True))
    return tuple(relative.get(column.column, Fraction(0)) for column in levels)


def _at_finest(
    counted: Counted, levels: tuple[ColumnLevels, ...]
) -> tuple[Counted, tuple[tuple[Codes, ...], ...]]:
    """Counts at the first level of every column, and the codes of each level for the values that are then counted."""
    values, groups, codes = [], [], []
    for column in levels:
        own = tuple(dict.fromkeys(column.labels[0]))
        first = [column.labels[0].index(label) for label in own]
        values.append(own)
        groups.append(column.codes()[0])
        codes.append(tuple(level[first] for level in column.codes()))
    return counted.recode([column.column for column in levels], values, groups), tuple(codes)


def _read_earlier(earlier: object) -> dict[str, Policy]:
    """Read what was released before, by name."""
    if earlier is None:
        return {}
    if not isinstance(earlier, Mapping):
        raise WrongType(
            f'earlier must map names to policies, got {quoted(earlier)}; write {{"first": policy}}.'
        )
    for name, plan in earlier.items():
        instance(name, str, "a name of earlier", "name releases by text")
        instance(plan, Policy, f"earlier {quoted(name)}", "write Policy(secret, release)")
    return dict(earlier)


def _past_at_finest(past: Past, plan: Policy, levels: tuple[ColumnLevels, ...]) -> Past:
    """What is out already, beside cells at the first level of every column."""
    drawn = past.drawn(FixedColumns.of(past.counted, plan).counted)
    values, groups = [], []
    for column in levels:
        values.append(tuple(dict.fromkeys(column.labels[0])))
        groups.append(column.codes()[0])
    earlier = drawn.counted.values[-1]
    columns = [*(column.column for column in levels), PAST]
    finest = drawn.counted.recode(columns, [*values, earlier], [*groups, np.arange(len(earlier))])
    return replace(drawn, counted=finest)


def _protectable(plan: Policy) -> Policy:
    """Refuse a plan that is protected already, or weighted."""
    require_unweighted(plan, "protected")
    if plan.local is not None:
        raise InvalidInput(
            "policy must say what is planned, got one that is protected already; leave its local recoding out."
        )
    return plan


def _require_no_groups(plan: Policy, least: int) -> None:
    """Refuse to promise how many share a value that is drawn by chance."""
    for column, mechanism in mechanisms_of(plan).items():
        if least > 1:
            raise InvalidInput(
                f"min_count is for deterministic releases, got {mechanism.words()} on {quoted(column)} too; leave one "
                "of them out."
            )
