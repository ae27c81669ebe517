"""The ledger of a table: what was released so far, what may still be, and every release charged before it is drawn.

    judge     the joint leakage of everything released so far and this release, against the budget
    reserve   an entry in the store, on the disk before anything is drawn
    draw      and write the file and its receipt, which names the entry
    confirm   another entry

A reservation counts as released from the moment it is there. One that was never confirmed, since the power went in
between, still counts, until a person settles it with a reason: nobody else can know whether the file got out.
"""

from __future__ import annotations

import secrets as randomness
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from tightlip.arguments import choice, flag, instance, listed
from tightlip.arguments import path as read_path
from tightlip.auditing.joint import OtherCounts, Terms, count_secrets
from tightlip.auditing.plan import budgets_of, mechanisms_of, name_of
from tightlip.auditing.receipt import TOGETHER, Receipt, policy_digest
from tightlip.auditing.releasing import Release, write_release
from tightlip.errors import (
    BudgetExceeded,
    InvalidInput,
    LedgerInvalid,
    LedgerMoved,
    SolverFailure,
    quoted,
)
from tightlip.ledger.amount import Amount
from tightlip.ledger.chain import Entry
from tightlip.ledger.guarantees import ActsOn, Adaptive, Declared
from tightlip.ledger.plans import pack, pack_terms, unpack, unpack_terms
from tightlip.ledger.room import leave_room, refusal
from tightlip.ledger.rules import account
from tightlip.ledger.splitting import Planned, split
from tightlip.ledger.standing import Standing, level_text, read_standings, standings_of
from tightlip.ledger.store import Store
from tightlip.ledger.together import FINER, NOISE, THE_TABLE, Together, measure_together
from tightlip.numeric.ball import enclose
from tightlip.numeric.display import format_down
from tightlip.numeric.quantity import Nats
from tightlip.showing import Shown, Unit
from tightlip.table.budget import read_rules
from tightlip.table.plan import PlanKeywords, planned
from tightlip.table.policy import Policy
from tightlip.table.source import Table, open_table

if TYPE_CHECKING:
    from tightlip.protection.result import Protection

State = Literal["reserved", "released", "withdrawn"]
_SECONDS, _GAP = 2.0, 1e-2  # for what would still fit: no last word
_FREE = "(nothing)"  # terms release nothing, but a policy has a column
_TRIES = 20  # judgements of one release, each because another process was faster


@dataclass(frozen=True, slots=True)
class Recorded(Shown):
    """A release that a ledger knows of.

    Attributes
    ----------
    number : its place among all releases, from 1 on
    key : its idempotency key
    entry : the entry that it was made by
    state : "reserved" (not confirmed: it counts as released), "released", or "withdrawn" (settled: it does not count)
    plan : what was published of the table; None of a release that is known by its guarantees
    declared : those guarantees; None of a release of the table
    settled : why a person said that it was released or not
    """

    number: int
    key: str
    entry: Entry
    state: State
    plan: Policy | None
    declared: Declared | None
    settled: str | None

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.number) if self.declared is None else self.declared.name

    @property
    def counts(self) -> bool:
        """Whether it counts as released."""
        return self.state != "withdrawn"

    @property
    def standings(self) -> tuple[Standing, ...]:
        """What all releases up to this one said together, when it was made; none of one without the table."""
        return read_standings(self.entry.body.get("account", ()))


class Ledger:
    """What was released of one table so far, in one file; a context manager.

    Made by `Ledger.create`. Every method reads the file anew, so that other processes may use it too.

    Attributes
    ----------
    path : where it is
    id : what tells it from every other ledger
    terms : what is secret, of which rows, and what may be said of it
    """

    def __init__(self, path: str | Path, *, write: bool = True) -> None:
        """Open a ledger and check it.

        Raises
        ------
        LedgerInvalid
            When it is damaged, was changed, or is none.
        """
        self._store = Store.open(path, write=write)
        self.path, self.id = self._store.path, self._store.id
        self.terms = unpack_terms(self._first["terms"])

    @classmethod
    def create(
        cls,
        path: str | Path,
        table: Any,
        secret: Any,
        budget: Any,
        *,
        delta: Any = None,
        where: Any = (),
        missing: Any = (),
        not_secret: Any = (),
        jointly: bool = False,
    ) -> Ledger:
        """Create the ledger of a table.

        Parameters
        ----------
        path : a name that is free
        table : Table or anything `open_table` takes
        secret, budget, delta, where, missing, not_secret, jointly : as in `Policy`

        Raises
        ------
        InvalidInput
            When the name is taken, or the secret or the budget does not fit the table.
        """
        plan = Policy(
            secret,
            [_FREE],
            budget=budget,
            delta=delta,
            where=where,
            missing=missing,
            not_secret=not_secret,
            jointly=jointly,
        )
        terms = Terms.of(plan)
        if not terms.budget:
            raise InvalidInput('budget must be given, got none; write budget="3x".')
        with _opened(table) as opened:
            rows, digest = count_secrets(opened, terms)
            body = {"terms": pack_terms(terms), "table": opened.name, "rows": rows, "secrets": digest}
        Store.create(path, body)
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open."""

    def __repr__(self) -> str:
        counted = sum(one.counts for one in self.releases())
        return f"Ledger({str(self.path)!r}: {counted} releases about {', '.join(self.secrets)})"

    @property
    def _first(self) -> Mapping[str, Any]:
        return self._store.entries()[0].body

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret columns."""
        return tuple(item.column for item in self.terms.secrets)

    def entries(self) -> tuple[Entry, ...]:
        """All entries there are now."""
        return self._store.entries()

    def releases(self) -> tuple[Recorded, ...]:
        """All releases there are now, in their order."""
        return self._releases(self._store.entries())

    def _releases(self, entries: Sequence[Entry]) -> tuple[Recorded, ...]:
        confirmed = {entry.key for entry in entries if entry.kind == "confirm"}
        settled = {entry.key: entry.body for entry in entries if entry.kind == "settle"}
        retracted = {entry.key: entry.body for entry in entries if entry.kind == "retract"}
        found: list[Recorded] = []
        for entry in entries:
            if entry.kind not in ("reserve", "declare"):
                continue
            said = (settled if entry.kind == "reserve" else retracted).get(entry.key)
            state: State = "released" if entry.kind == "declare" or entry.key in confirmed else "reserved"
            # whoever wrote it after all knows better than who settled it
            if said is not None and (state == "reserved" or entry.kind == "declare"):
                state = "released" if said["released"] else "withdrawn"
            plan = self._plan(entry) if entry.kind == "reserve" else None
            declared = _read_declared(entry) if entry.kind == "declare" else None
            reason = None if said is None else str(said["reason"])
            found.append(Recorded(len(found) + 1, entry.key, entry, state, plan, declared, reason))
        return tuple(found)

    def _plan(self, entry: Entry) -> Policy:
        return unpack({name: self._store.content(digest) for name, digest in entry.files.items()})

    def plan(self, release: Any = None, policy: Policy | None = None, **keywords: Any) -> Policy:
        """Plan a release by the terms of the ledger: its secrets, rows and budget in place of the plan's own.

        Parameters
        ----------
        release, policy, keywords : as in `table.planned`, without secret and budget

        Raises
        ------
        InvalidInput
            When the plan is about another secret.
        """
        named = self.terms.secrets if policy is None else None
        return self.terms.judge(planned(named, release, policy, **keywords))

    def account(self, table: Any) -> Together:
        """Measure what all releases so far give away together.

        Raises
        ------
        InvalidInput
            When nothing was released of the table yet, or it is not the table of the ledger.
        """
        return self.what_if(table, ())[-1]

    def what_if(self, table: Any, plans: Policy | Iterable[Policy]) -> tuple[Together, ...]:
        """Measure what all releases so far and some plans would give away together; nothing is charged.

        Parameters
        ----------
        table : the table of the ledger, or anything `open_table` takes
        plans : one after the other

        Returns
        -------
        tuple of Together
            One after each plan: the last is after all of them. Of no plans, what is released already.
        """
        several = [plans] if isinstance(plans, Policy) else listed(plans, "plans", "policies")
        judged = [self.terms.judge(instance(one, Policy, "plans", "write Policy(…)")) for one in several]
        past = self.releases()
        with _opened(table) as opened:
            self._require_table(opened)
            if not judged and not any(one.counts and one.plan is not None for one in past):
                raise InvalidInput(
                    f"plans must have a plan while nothing was released, got none: {self.path} has no account yet; "
                    "give one."
                )
            found = []
            for many in range(min(1, len(judged)), len(judged) + 1):
                new = {f"plan {place + 1}": plan for place, plan in enumerate(judged[:many])}
                found.append(self._measure(opened, past, new, "no"))
        return tuple(found)

    def _measure(
        self,
        table: Table,
        past: Sequence[Recorded],
        new: Mapping[str, Policy],
        adaptive: Adaptive,
        more: Sequence[Declared] = (),
    ) -> Together:
        """Measure what counts as released, some plans, and more releases that are known by their guarantees."""
        counting = [one for one in past if one.counts]
        plans = {one.name: one.plan for one in counting if one.plan is not None} | dict(new)
        declared = [*(one.declared for one in counting if one.declared is not None), *more]
        ways = {adaptive, *(one.entry.body.get("adaptive", "no") for one in counting if one.plan is not None)}
        way: Any = next((one for one in ("yes", "every history") if one in ways), "no")
        known = {one.name: one.entry.body["counts"] for one in counting if one.plan is not None}
        try:
            found = measure_together(table, self.terms, plans, declared, adaptive=way, known=known)
        except OtherCounts as other:
            raise _other_table(self.path, table, f"release {other} was made of") from other
        for one in counting:
            self._require_joint_counts(one, plans, found, table)
        return found

    def _require_joint_counts(
        self, one: Recorded, plans: Mapping[str, Policy], found: Together, table: Table
    ) -> None:
        """Refuse a table in which each release has the same counts, and several together have not."""
        of, known = one.entry.body.get("joint_of", ()), one.entry.body.get("joint")
        if known is None or found.cells is None or not {*of} <= {*plans}:
            return
        if found.cells.digest(of) not in (None, known):
            raise _other_table(self.path, table, f"releases {', '.join(of)} were made of")

    def _require_table(self, table: Table) -> None:
        _, digest = count_secrets(table, self.terms)
        if digest != self._first["secrets"]:
            raise _other_table(self.path, table, f"the ledger is about, which has {self._first['rows']} rows")

    def release(
        self,
        table: Any,
        policy: Policy,
        path: str | Path,
        *,
        key: str | None = None,
        adaptive: Adaptive = "no",
        **options: Any,
    ) -> Release:
        """Write what a policy publishes of the table, charged before it is drawn; see `tightlip.release`.

        Parameters
        ----------
        key : the release's own name, by which it is charged once
        adaptive : whether it was chosen after looking at what earlier releases published; see docs/ledger.md
        options : as in `tightlip.release`; keep is not among them, since no account covers kept columns

        Raises
        ------
        BudgetExceeded
            When everything released so far and this release would say more than the budget allows; nothing is charged
            or written.
        InvalidInput
            As in `tightlip.release`; what was reserved stays spent until it is settled.
        """
        from tightlip.auditing.releasing import Facts

        receipt, out_table = options.pop("receipt", None), options.pop("out_table", None)
        given = {"keep": (), "with_secret": False, "force": False, "seed_for_tests": None} | options
        charge = self.charge(key=key, adaptive=adaptive)
        judged = self.terms.judge(instance(policy, Policy, "policy", "write Policy(secret, release)"))
        return write_release(table, judged, path, receipt, Facts(), charge, out_table=out_table, **given)

    def protect(
        self, table: Any, release: Any = None, *, policy: Policy | None = None, **options: Any
    ) -> Protection:
        """Find the release that keeps most detail and fits beside all that is released already; see `tightlip.protect`.

        Parameters
        ----------
        release, policy : what is planned; the secret is the ledger's
        options : as in `tightlip.protect`; a budget is kept besides that of the ledger, so that something is left

        Returns
        -------
        Protection
            `release` writes it, with `charge=ledger.charge()`.

        Raises
        ------
        BudgetExceeded
            When what is released already leaves nothing.
        """
        from tightlip.protection.run import protect as run_protect

        about = {key: options.pop(key) for key in (*PlanKeywords.__annotations__,) if key in options}
        plan = self.plan(release, policy, **about)
        if plan.where != self.terms.where:
            raise InvalidInput(
                "where must be left out of what is protected beside other releases, got a plan of some people only; "
                "plan it for all, or use ledger.release."
            )
        counting = [one for one in self.releases() if one.counts]
        declared = [one.declared for one in counting if one.declared is not None]
        earlier = {one.name: one.plan for one in counting if one.plan is not None}
        asked = (*self.terms.budget, *read_rules(options.pop("budget", None)))
        planned_ = replace(plan, budget=leave_room(asked, declared), delta=None)
        if options.get("pmc") is not None:
            options["pmc"] = leave_room(read_rules(options["pmc"], "pmc"), declared)
        with _opened(table) as opened:
            self._require_table(opened)
            if earlier and self._measure(opened, counting, {}, "no").kept is False:
                raise BudgetExceeded(
                    f"{self.path} leaves nothing: what was released already says more than the budget allows."
                )
            found = run_protect(opened, policy=planned_, earlier=earlier, **options)
        return replace(found, source=table)

    def refusal(self, table: Table, policy: Policy, after: Together) -> str:
        """Say why a release does not fit, and which one would."""
        past = [one for one in self.releases() if one.counts]
        plans = any(one.plan is not None for one in past)
        before = self._measure(table, past, {}, "no") if plans else None
        return refusal(str(self.path), before, after, self._fitting(table, policy))

    def _fitting(self, table: Table, policy: Policy) -> str:
        """Say how much of the planned columns would still fit, if that is quickly found."""
        plan = replace(policy, local=None, min_count=None)
        try:
            found = self.protect(table, policy=plan, seconds=_SECONDS, gap=_GAP)
        except BudgetExceeded as error:
            return str(error)
        except (InvalidInput, SolverFailure):
            return "No release of these columns that fits was found."
        if not found.kept:
            return "Nothing of these columns still fits."
        return (
            f"Of these columns, {format_down(100 * Fraction(found.kept), 3)} % of the detail still fit: "
            "tightlip protect with the same --ledger finds it."
        )

    def charge(
        self, *, key: str | None = None, adaptive: Adaptive = "no", command: str | None = None
    ) -> Charge:
        """Prepare to charge one release, which `write_release` then does."""
        return Charge(self, randomness.token_hex(8) if key is None else key, adaptive, command)

    def declare(
        self,
        name: str,
        guarantees: Mapping[Any, Any],
        *,
        acts_on: ActsOn = "record",
        adaptive: Adaptive = "no",
        min_mass: Any = None,
        statistic: str | None = None,
        table: Any = None,
    ) -> Recorded:
        """Record a release that is known by its guarantees only, such as somebody else's.

        It is out already, so it is recorded whatever the budget says.

        Parameters
        ----------
        name : how the account calls it
        guarantees, acts_on, adaptive, min_mass, statistic : see `Declared`
            {"ldp": "log(3)"}; by default of a release that is drawn from each person's record.
        table : the table of the ledger, to measure the account anew
        """
        how: dict[str, Any] = {"acts_on": acts_on, "adaptive": adaptive, "min_mass": min_mass}
        declared = Declared(name, guarantees, **how, statistic=statistic)
        if name.isdecimal():
            raise InvalidInput(
                f"name must not be a number, which releases of the table have, got {quoted(name)}."
            )
        while True:
            entries = self._store.entries()
            past = self._releases(entries)
            if (
                name in (THE_TABLE, FINER)
                or name.startswith(NOISE)
                or any(name in (one.name, one.key) for one in past)
            ):
                raise InvalidInput(f"name must be new, got {quoted(name)} again; choose another.")
            body = _declared_body(declared)
            if table is not None:
                body["account"] = self._with_declared(table, past, declared)
            try:
                self._store.append("declare", name, body, after=entries[-1].digest)
            except LedgerMoved:
                continue
            return self.releases()[len(past)]

    def _with_declared(
        self, table: Any, past: Sequence[Recorded], declared: Declared
    ) -> list[dict[str, Any]]:
        with _opened(table) as opened:
            self._require_table(opened)
            if not any(one.counts and one.plan is not None for one in past):
                return []
            found = self._measure(opened, past, {}, "no", [declared])
        return [standing.to_body() for standing in standings_of(found)]

    def split(self, table: Any, parts: int | Sequence[Any]) -> tuple[Planned, ...]:
        """Split what is left of the budget over planned releases, equally or by weights: the LDP that each may have.

        Releases drawn from people's records with randomness of their own that keep to these meet the budget together
        with everything released so far: PML and the LDP of all others add (see `rules`).

        Raises
        ------
        InvalidInput
            When the budget is not one level, or nothing is left.
        """
        budgets = {name_of(subject): own for subject, own in budgets_of(self.terms.plan([_FREE])).items()}
        if any(
            rule.allowed.kind == "cap" or rule.labels is not None
            for own in budgets.values()
            for rule in own.rules
        ):
            raise InvalidInput("budget must be one level to be split, got a cap or one for single values.")
        counting = [one for one in self.releases() if one.counts]
        if any(one.plan is not None for one in counting):
            spent = {name: Amount.of(own.upper) for name, own in self.account(table).secrets.items()}
        else:
            declared = [one.declared for one in counting if one.declared is not None]
            spent = dict.fromkeys(budgets, Amount.of(account(declared=declared).pml.value))
        rooms = {name: Amount.of(own.level) for name, own in budgets.items() if own.level is not None}
        if any(spent[name].endless or not room.exceeds(spent[name]) for name, room in rooms.items()):
            raise InvalidInput(f"{self.path} has nothing left of its budget; there is nothing to split.")
        left = [room - spent[name] for name, room in rooms.items()]
        least = next(one for one in left if not any(one.exceeds(other) for other in left))
        return split(Nats.of_ratio(least.ratio, "down") if not least.plain else enclose(least.ball)[0], parts)

    def words(self, *, unit: Unit = "nats") -> str:
        """The answer, what is to do, and what is spent and left of each secret, a line each; no table is needed."""
        from tightlip.report import ledger

        choice(unit, "unit", get_args(Unit))
        return ledger.words(self, unit=unit)

    def to_dict(self, *, unit: Unit = "nats") -> dict[str, Any]:
        """Everything the report shows, as JSON takes it: that of `tightlip ledger show --json`."""
        from tightlip.report import ledger

        choice(unit, "unit", get_args(Unit))
        return ledger.ledger_record(self, unit=unit).to_dict()

    def to_html(self, path: str | Path, *, unit: Unit = "nats", force: bool = False) -> None:
        """Write the report as one HTML file that works offline, for the owner alone; no table is needed.

        Parameters
        ----------
        path : ends with .html
        unit : "nats" or "bits"
        force : whether a file that exists is replaced

        Raises
        ------
        InvalidInput
            When it cannot be written, or with the line to run, where the charting library is not installed.
        """
        from tightlip.report import ledger

        choice(unit, "unit", get_args(Unit))
        ledger.write_html(self, path, unit=unit, force=flag(force, "force"))

    def chart(self, secret: str | None = None, *, unit: Unit = "nats") -> Any:
        """Draw what all releases said together, release by release; by default about the secret that decides."""
        from tightlip.report import ledger

        choice(unit, "unit", get_args(Unit))
        return ledger.chart(self, secret, unit)

    def _repr_html_(self) -> str:
        """The answer, and what each release added, for a notebook; every name is escaped."""
        from tightlip.report import ledger

        return ledger.card(self).html()

    def settle(self, key: str, *, released: bool, reason: str) -> Recorded:
        """Settle a release that was reserved and never confirmed: a person says whether it got out, and why so.

        One that was declared by mistake is settled as not released.

        Raises
        ------
        InvalidInput
            When there is no such reservation, it was confirmed or settled, or no reason is given.
        """
        flag(released, "released")
        instance(reason, str, "reason", "say what is known of it")
        if not reason.strip():
            raise InvalidInput("reason must say what is known of it, got nothing; write a sentence.")
        entries = self._store.entries()
        past = self._releases(entries)
        meant = [one for one in past if key in (one.key, str(one.number))]
        found = meant[0] if len(meant) == 1 else None
        retracts = found is not None and found.declared is not None and found.counts and not released
        if found is None or found.settled is not None or (found.state != "reserved" and not retracts):
            open_ = [
                f"{one.number} ({one.key})" for one in past if one.state == "reserved" and not one.settled
            ]
            raise InvalidInput(
                f"key must be of one release that is reserved and not confirmed, got {quoted(key)}; "
                f"there {'are ' + ', '.join(open_) if open_ else 'is none'}."
            )
        body = {"released": released, "reason": reason}
        kind = "settle" if found.declared is None else "retract"
        self._store.append(kind, found.key, body, after=entries[-1].digest)
        return self.releases()[found.number - 1]

    def verify(self, receipts: Iterable[Any] = ()) -> None:
        """Check the whole file, and that it has the entries that some receipts name.

        Only receipts tell an older copy that was put back, or a history written anew, from the true one.

        Raises
        ------
        LedgerInvalid
            Naming what is wrong.
        """
        self._store.verify([head_of(receipt, self) for receipt in receipts])
        for one in self.releases():
            _ = one.standings


@dataclass(eq=False)
class Charge:
    """One release on its way: judged and reserved before it is drawn, confirmed when it is written."""

    ledger: Ledger
    key: str
    adaptive: Adaptive
    command: str | None = None
    reserved: Entry | None = None
    together: Together | None = None

    def reserve(
        self, table: Table, policy: Policy, counts: str, options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Judge a release and reserve it, on the disk; returns what the receipt says of that.

        Raises
        ------
        BudgetExceeded
            When the budget would not be kept; nothing is reserved.
        InvalidInput
            When the key was used, columns are kept, or the table is another one.
        """
        _require_accountable(options)
        ledger = self.ledger
        _require_judged(ledger.terms, policy)
        ledger._require_table(table)
        for _ in range(_TRIES):
            entries = ledger._store.entries()
            past = ledger._releases(entries)
            self._require_new(past)
            name = str(len(past) + 1)
            found = ledger._measure(table, past, {name: policy}, self.adaptive)
            if found.kept is False:
                raise BudgetExceeded(ledger.refusal(table, policy, found))
            body = self._body(policy, counts, found, with_secret=options["with_secret"])
            _require_no_secret_beside_draws(body, past)
            try:
                entry = ledger._store.append(
                    "reserve", self.key, body, after=entries[-1].digest, files=pack(policy)
                )
            except LedgerMoved:
                continue
            self.reserved, self.together = entry, found
            ledger_part = {"id": ledger.id, "entry": entry.seq, "digest": entry.digest}
            random = body["random"] or any(one.entry.body.get("random") for one in past if one.counts)
            return {
                "ledger": ledger_part | {"account": body["account"]},
                "protects_against": TOGETHER[not random and not any(one.declared for one in past)],
            }
        raise InvalidInput(f"{ledger.path} is written to all the time; try again.")

    def _require_new(self, past: Sequence[Recorded]) -> None:
        for one in past:
            if one.key == self.key:
                what = {
                    "reserved": "was reserved and never confirmed; settle it first",
                    "released": "is released already and was charged once: nothing is left to do",
                    "withdrawn": "was withdrawn; a new release has a new key",
                }
                raise InvalidInput(f"key {quoted(self.key)} of release {one.number} {what[one.state]}.")

    def _body(self, policy: Policy, counts: str, found: Together, *, with_secret: bool) -> dict[str, Any]:
        return {
            "once": randomness.token_hex(16),  # another process with the same key and plan draws anew
            "with_secret": with_secret,
            "counts": counts,
            "policy": policy_digest(policy),
            "joint": None if found.cells is None else found.cells.digest(found.digests),
            "joint_of": list(found.digests),
            "random": bool(mechanisms_of(policy))
            or (policy.local is not None and not policy.local.deterministic),
            "adaptive": self.adaptive,
            "command": self.command,
            "account": [standing.to_body() for standing in standings_of(found)],
        }

    def confirm(self, receipt: Receipt) -> None:
        """Confirm that the release is written."""
        assert self.reserved is not None
        store = self.ledger._store
        output = receipt.files["output"]
        body = {"receipt": receipt.digest(), "output": output["name"], "sha256": output["sha256"]}
        while True:
            try:
                store.append("confirm", self.key, body, after=store.head.digest)
            except LedgerMoved:
                continue
            return


def _require_accountable(options: Mapping[str, Any]) -> None:
    """Refuse what no account covers."""
    if options["keep"]:
        raise InvalidInput(
            f"keep must be left out with a ledger, got {', '.join(map(quoted, options['keep']))}: what is published as "
            "it is counts; release it."
        )
    if options["seed_for_tests"] is not None:
        raise InvalidInput(
            "seed_for_tests must be left out with a ledger: whoever knows the seed can undo what it draws."
        )


def _require_judged(terms: Terms, policy: Policy) -> None:
    """Refuse a plan that is not by the terms of the ledger, whose account would be of something else."""
    own: dict[str, Any] = {
        "budget": policy.budget,
        "delta": policy.delta,
        "jointly": policy.jointly,
        "statistic": policy.statistic,
    }
    if replace(terms.judge(policy), **own) != policy:
        raise InvalidInput(
            "policy must be about the secrets, rows and missing codes of the ledger, got others; use ledger.plan, "
            "ledger.protect or ledger.release."
        )


def _require_no_secret_beside_draws(body: Mapping[str, Any], past: Sequence[Recorded]) -> None:
    """Refuse secrets whose rows can be linked to what was drawn: each shows what was drawn for a known secret."""
    others = [one.entry.body for one in past if one.counts and one.plan is not None]
    for secret, drawn in (([body], others), (others, [body])):
        if any(one["with_secret"] for one in secret) and any(one["random"] for one in drawn):
            raise InvalidInput(
                "with_secret must not be set beside a random release, whose rows can be linked: each would show what "
                "was published for a known secret; leave the secret out, or make all releases deterministic."
            )


def head_of(receipt: Any, ledger: Ledger) -> tuple[int, str]:
    """Read which entry of a ledger a receipt names.

    Raises
    ------
    InvalidInput
        When it names none, or one of another ledger.
    """
    from tightlip.certificate.loading import load

    found = receipt if isinstance(receipt, Receipt) else load(read_path(receipt, "receipt"))
    said = found.proved.get("ledger") if isinstance(found, Receipt) else None
    if not isinstance(said, Mapping):
        raise InvalidInput(
            f"receipt must be of a release that a ledger has, got {quoted(receipt)}; leave it out."
        )
    if said.get("id") != ledger.id:
        raise LedgerInvalid(
            f"{ledger.path} is not the ledger of the receipt, which names another ({said.get('id')}); look for that."
        )
    return said.get("entry"), said.get("digest")  # type: ignore[return-value]


def _opened(table: Any) -> Any:
    return nullcontext(table) if isinstance(table, Table) else open_table(table)


def _other_table(path: Path, table: Table, what: str) -> InvalidInput:
    return InvalidInput(
        f"{table.name} is not the table that {what}, or it has changed; an account of {path} needs that table: put it "
        "back, or keep a new ledger for the new one and declare there what was released of the old one."
    )


def _declared_body(declared: Declared) -> dict[str, Any]:
    return {
        "guarantees": {kind: level_text(level) for kind, level in declared.guarantees.items()},
        "acts_on": declared.acts_on,
        "adaptive": declared.adaptive,
        "min_mass": None if declared.min_mass is None else str(declared.min_mass),
        "statistic": declared.statistic,
    }


def _read_declared(entry: Entry) -> Declared:
    from tightlip.ledger.standing import read_text

    body = entry.body
    return Declared(
        entry.key,
        {kind: read_text(level) for kind, level in body["guarantees"].items()},
        acts_on=body["acts_on"],
        adaptive=body["adaptive"],
        min_mass=body["min_mass"],
        statistic=body["statistic"],
    )
