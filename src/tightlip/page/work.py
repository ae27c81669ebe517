"""What jobs do: calls of the library, whose answers are left as files and short records; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl

from tightlip.errors import InvalidInput
from tightlip.page.places import Folder
from tightlip.page.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlip.auditing.result import Audit
    from tightlip.ledger import Ledger
    from tightlip.protection.curve import Curve
    from tightlip.protection.result import Protection
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table

REPORT, POLICY, PROOF, CURVE = "report.html", "policy.toml", "proof.json", "curve.svg"
_MOST_PAIRS = 500_000  # of value and cell: beyond, another point of the curve would take too long
_SECONDS = 1.0  # for each of its points
_SEARCH = 20.0  # seconds for a search where nothing is said
_MOST_VALUES = 1000  # of a column that are listed when they are asked for

Task = Mapping[str, Any]


class Speaker(Protocol):
    """Who listens to a job; `stopped` says whether it was asked to end with what it has."""

    stopped: bool

    def tell(self, words: str, share: float | None = None) -> None:
        """Hear how far the work is."""

    def found(self, **found: Any) -> None:
        """Hear what was found."""


@contextmanager
def _opened(task: Task) -> Iterator[Table]:
    """Open the table of a task; messages and reports call it what people see."""
    from tightlip.errors import TightlipError
    from tightlip.table.source import open_table

    address, shown = task["address"], task["shown"]
    try:
        with open_table(address, table=_state(task).get("name") or None) as table:
            yield replace(table, name=table.name.replace(address, shown))
    except TightlipError as error:
        error.args = (str(error).replace(address, shown), *error.args[1:])
        raise


def _state(task: Task) -> State:
    return State.read(parse_qsl(task["state"]))


def _ledger(task: Task, *, write: bool = False) -> Ledger | None:
    from tightlip.ledger import Ledger

    return Ledger(task["ledger"], write=write) if task.get("ledger") else None


def _plan(task: Task, ledger: Ledger | None) -> Policy:
    return plan_of(_state(task), Folder(Path(task["folder"])), task["policy"], ledger)


def plan_of(state: State, folder: Folder, policy: str | Path | None, ledger: Ledger | None) -> Policy:
    """Plan the release of a state: its policy file, what was said, and the terms of its ledger.

    Raises
    ------
    InvalidInput
        When that is no plan.
    """
    from tightlip.table.policy import Policy

    base = Policy.from_toml(policy) if policy else None
    if ledger is None:
        return state.plan(base, folder.inside)
    if base is None and state.released and not state.listed("secret"):
        base = ledger.terms.plan(list(state.released))
    return ledger.terms.judge(state.plan(base, folder.inside, budget=False))


def plan_digest(plan: Policy) -> str:
    """Hash all that a plan says, its budget too, to tell whether it is still the one that was judged."""
    import hashlib

    from tightlip.auditing.receipt import policy_digest
    from tightlip.table.policy_file import policy_toml

    said = policy_digest(plan) + policy_toml(replace(plan, local=None))
    return hashlib.sha256(said.encode()).hexdigest()


def read_facts(task: Task, speaker: Speaker) -> None:
    """Read the columns: their names at once, kinds and numbers of values as they come."""
    from tightlip.report.amounts import printable
    from tightlip.table.facts import column_facts

    speaker.tell("opening")
    with _opened(task) as table:
        names = [*table.physical, *table.refused]
        speaker.found(columns=names, labels=list(map(printable, names)))
        known: list[dict[str, Any]] = []
        for one in column_facts(table):
            known.append(asdict(one))
            speaker.found(facts=known)
            speaker.tell(f"column {len(known)} of {len(names)}", len(known) / max(1, len(names)))
        speaker.found(rows=table.rows())


def read_values(task: Task, speaker: Speaker) -> None:
    """Read the values of one column, because somebody asked to see them."""
    from tightlip.table.facts import common_values

    speaker.tell("reading")
    with _opened(task) as table:
        speaker.found(values=common_values(table, task["column"], _MOST_VALUES))


def run_audit(task: Task, speaker: Speaker) -> None:
    """Audit the plan, with what a ledger knows of earlier releases."""
    from tightlip.auditing.plan import stages_of
    from tightlip.auditing.run import audit
    from tightlip.report.audit import write_page
    from tightlip.report.audit_record import audit_report
    from tightlip.report.together import with_together

    book = _ledger(task)
    plan = _plan(task, book)
    stages = [*stages_of(plan, budget=bool(plan.budget)), "ledger", "report"]

    def tell(name: str) -> None:
        speaker.tell(name, stages.index(name) / len(stages) if name in stages else None)

    with _opened(task) as table:
        found = audit(table, policy=plan, on_stage=tell)
        speaker.found(verdict=found.verdict, rows=found.total)
        together = None
        if book is not None:
            tell("ledger")
            together = book.what_if(table, plan)[-1]
    tell("report")
    report = audit_report(found.with_curves(), table=task["shown"], command=task["command"])
    if together is not None and book is not None:
        report = with_together(report, together, book.terms, show_values=False)
    out = Path(task["out"])
    write_page(report, out / REPORT, force=True)
    plan.save(out / POLICY, force=True)
    met = found.verdict is not False and (together is None or together.kept is not False)
    speaker.found(
        headline=report.headline,
        met=met if plan.budget else None,
        lines=[*(report.together or ()), *report.todo[: len(report.todo) - len(report.remedies)]],
        report=True,
        remedies=_remedies(found, out),
        plan=plan_digest(plan),
        counts=None if found.counted is None else found.digest(),
    )


def _remedies(found: Audit, out: Path) -> list[dict[str, str]]:
    """Leave the changes that meet the budget as policy files."""
    from tightlip.report.audit_record import change_report

    listed = []
    for place, remedy in enumerate(found.remedies, 1):
        remedy.policy.save(out / f"remedy-{place}.toml", force=True)
        told = change_report(found, remedy, unit="nats")
        listed.append({"words": told.change, "kept": told.kept.words})
    return listed


def run_protect(task: Task, speaker: Speaker) -> None:
    """Find the release that keeps most detail; an interrupt ends the search with the best so far."""
    from tightlip.auditing.counted import counts_digest
    from tightlip.protection.run import protect
    from tightlip.report.page_words import progress_words

    state, book = _state(task), _ledger(task)
    plan = _plan(task, book)

    def tell(stage: str, kept: float, bound: float) -> None:
        speaker.tell(progress_words(stage, kept, bound), min(1.0, kept / bound) if bound > 0 else 0.0)

    seconds = float(state.get("seconds") or _SEARCH)
    asked: dict[str, Any] = {"seconds": seconds, "on_progress": tell, "randomised": bool(state.get("chance"))}
    speaker.tell("counting")
    with _opened(task) as table:
        search = protect if book is None else book.protect
        found = search(table, policy=plan, **asked)
    speaker.found(plan=plan_digest(plan), counts=counts_digest(found.counted))
    _leave_protection(found, task, speaker, None)
    speaker.tell("other budgets")
    curve = _curve(found, stopped=speaker.stopped)
    if curve is not None:
        _draw(curve, Path(task["out"]) / CURVE)
        _leave_protection(found, task, speaker, curve)


def _leave_protection(found: Protection, task: Task, speaker: Speaker, curve: Curve | None) -> None:
    """Leave report, policy and proof, and say the answer."""
    from tightlip.report.protect import protect_record, write_page

    out = Path(task["out"])
    report = protect_record(found, table=task["shown"], command=task["command"], curve=curve)
    write_page(report, out / REPORT, force=True)
    record = report.to_dict()
    if curve is None:
        found.policy.save(out / POLICY, force=True)
        found.save(out / PROOF, force=True)
    speaker.found(
        headline=report.headline,
        verdict=report.verdict,
        bound=report.bound_words,
        search=report.search,
        finished=found.finished,
        report=True,
        columns_kept=record["columns"],
        examples=record["examples"],
        examples_note=report.examples_note,
        figures=record["figures"],
        readers=record["readers"],
        trade_off=None if curve is None else record["trade_off"],
        trade_note=report.trade_note,
        picture=curve is not None and len(curve.points) > 1,
        kept=found.kept > 0,
    )


def _curve(found: Protection, *, stopped: bool) -> Curve | None:
    """Other budgets for the picture, where that does not take long; an interrupt leaves them out."""
    if found.budget is None or stopped or len(found.values.cell) > _MOST_PAIRS:
        return None
    try:
        return found.trade_off(seconds=_SECONDS)
    except KeyboardInterrupt:
        return None


def _draw(curve: Curve, path: Path) -> None:
    """Leave the picture of the trade-off."""
    from tightlip.report.chart import save_chart

    if len(curve.points) > 1:
        save_chart(curve.chart(), path)


def write_file(task: Task, speaker: Speaker) -> None:
    """Write the rows that were judged, the receipt and the report; charged to a ledger first, where there is one."""
    from tightlip.auditing.releasing import Facts, write_release
    from tightlip.files import prepare_output, require_apart
    from tightlip.report.table_release import table_release_lines, table_release_record
    from tightlip.table.outputs import output_of
    from tightlip.table.policy import Policy

    book, out, force = _ledger(task, write=True), Path(task["file"]), bool(task["force"])
    policy = Policy.from_toml(task["release"])
    policy = policy if book is None else book.terms.judge(policy)
    page = out.with_name(f"{out.name}.html")
    require_apart(
        [out, page, output_of(out).receipt], {"the table": [task["address"]], "the ledger": [task["ledger"]]}
    )
    prepare_output(page, force=force)
    facts = Facts(task["counts"], command=task["command"], files={"policy": Path(task["release"])})
    charge = None if book is None else book.charge(key=task["key"], command=task["command"])
    options: dict[str, Any] = {"keep": [], "with_secret": False, "force": force, "seed_for_tests": None}
    speaker.tell("writing")
    with _opened(task) as table:
        if task["counts"] is None:
            _judge_again(table, policy)
        done = write_release(table, policy, out, None, facts, charge, out_table=None, **options)
    record = table_release_record(done, unit="nats")
    _copy_report(Path(task["report"]), page, force=force)
    lines = [line.replace(str(out), out.name) for line in table_release_lines(record)]
    speaker.found(lines=lines, files=[str(out), record["receipt"], str(page)])


def _judge_again(table: Table, policy: Policy) -> None:
    """Audit what is written, where there are too many counts to tell whether they are those that were audited."""
    from tightlip.auditing.run import audit

    if audit(table, policy=policy, skip=("columns", "remedies", "protect")).verdict is not True:
        raise InvalidInput(f"{table.name} has changed since it was audited; audit it again.")


def _copy_report(source: Path, page: Path, *, force: bool) -> None:
    from tightlip.files import write_whole

    write_whole(page, source.read_text(encoding="utf-8"), force=force, private=True)


def run_compare(task: Task, speaker: Speaker) -> None:
    """Put plans side by side."""
    from tightlip.auditing.comparison import compare
    from tightlip.auditing.run import audit
    from tightlip.report.amounts import printable
    from tightlip.report.comparison import NAMES, plan_lines
    from tightlip.table.policy import Policy

    plan = _plan(task, _ledger(task))
    others = {name: Policy.from_toml(path) for name, path in task["against"].items()}
    audits = {}
    with _opened(task) as table:
        for place, (name, one) in enumerate(({"this plan": plan} | others).items()):
            speaker.tell(f"auditing {printable(name)}", place / (1 + len(others)))
            judged = one if one.budget else replace(one, budget=plan.budget)
            audits[name] = audit(table, policy=judged, skip=("columns", "remedies", "protect"))
    lines = [printable(line.cells()) for line in plan_lines(compare(audits))]
    speaker.found(names=NAMES, rows=lines)


def show_account(task: Task, speaker: Speaker) -> None:
    """Show what a ledger knows; the table is not needed."""
    from tightlip.report.ledger import ledger_record, write_page

    book = _ledger(task)
    if book is None:
        raise InvalidInput("a ledger must be chosen, got none; go back a step.")
    speaker.tell("reading")
    report = ledger_record(book, command=task["command"])
    write_page(report, Path(task["out"]) / REPORT, force=True)
    speaker.found(headline=report.headline, kept=report.kept, lines=list(report.todo), report=True)


def create_ledger(task: Task, speaker: Speaker) -> None:
    """Create the ledger of the table: what is secret, and the budget, as the steps say."""
    from tightlip.ledger import Ledger
    from tightlip.report.ledger_words import created_words

    plan = _plan(task, None)
    options: dict[str, Any] = {
        "delta": plan.delta,
        "where": plan.where,
        "missing": plan.missing,
        "jointly": plan.jointly,
    }
    speaker.tell("counting")
    with _opened(task) as table:
        made = Ledger.create(
            task["file"], table, plan.secrets, plan.budget, not_secret=plan.not_secret, **options
        )
    speaker.found(words=created_words(made).replace(str(task["file"]), Path(task["file"]).name))


def run_design(task: Task, speaker: Speaker) -> None:
    """Design the best mechanism for a column, and write it as a file that a plan can name."""
    from tightlip.designs import design
    from tightlip.files import write_whole
    from tightlip.model.channel_file import channel_file_text
    from tightlip.model.prior import Prior
    from tightlip.report.design import design_record, headline, sentences
    from tightlip.table.facts import common_values

    speaker.tell("counting")
    with _opened(task) as table:
        counted = common_values(table, task["column"], _MOST_VALUES)
    prior = Prior.from_counts(dict(counted), exact=True)
    speaker.tell("designing")
    made = design(prior, **{task["guarantee"]: task["level"]}, utility=task["utility"].replace("-", "_"))
    record = design_record(made, "nats")
    text = channel_file_text(made.channel, made.prior, None)
    write_whole(Path(task["file"]), text + "\n", force=False, private=True)
    speaker.found(headline=headline(record), lines=list(sentences(record)), files=[task["file"]])


KINDS: Mapping[str, Callable[[Task, Speaker], None]] = {
    "facts": read_facts,
    "values": read_values,
    "audit": run_audit,
    "protect": run_protect,
    "release": write_file,
    "compare": run_compare,
    "account": show_account,
    "ledger": create_ledger,
    "design": run_design,
}
