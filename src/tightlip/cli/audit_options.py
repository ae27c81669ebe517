"""The options of `tightlip audit`, by what they are about, and what those about the plan and the files become.

The command's signature says their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping as Named
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tightlip.cli.arguments import Unit, read_budgets
from tightlip.cli.completion import complete_columns
from tightlip.errors import InvalidInput

if TYPE_CHECKING:
    from tightlip.auditing.joint import Terms
    from tightlip.auditing.result import Audit
    from tightlip.ledger import Ledger
    from tightlip.report.audit_record import AuditReport
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table

Settings = list[str] | None

_planned = partial(typer.Option, rich_help_panel="The planned release")
_asked = partial(typer.Option, rich_help_panel="What is asked")
_written = partial(typer.Option, rich_help_panel="What is written")
_REPEAT = "; repeat for several columns."

Address = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet, DuckDB, SQLite, Excel, SPSS, Stata or SAS file; postgresql://… with --table; "
        "or - for standard input."
    ),
]
TableName = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="Which table of a database, or sheet of a workbook."),
]

Secret = Annotated[
    Settings,
    _planned(
        metavar="COLUMNS",
        autocompletion=complete_columns,
        help="Secret columns, comma-separated; DPHY=1,2 for one column of which only these values are sensitive. A "
        "name with = in it is put in double quotes. Repeat for several.",
    ),
]
NotSecret = Annotated[
    Settings,
    _planned(
        "--not-secret",
        metavar="VALUE",
        help="A value that is no secret, like 'not applicable': those who have it are left out of what is said about "
        "the column. COLUMN=VALUE for one column only; repeat for several.",
    ),
]
Where = Annotated[
    Settings,
    _planned(
        metavar="CONDITION",
        help="Only rows that satisfy it: 'AGEP >= 18', 'STATE in MA,TX', 'INC is not missing'; repeat to narrow.",
    ),
]
Missing = Annotated[
    Settings,
    _planned(metavar="COLUMN=CODES", help=f"Codes that mean missing, comma-separated: AGEP=-9{_REPEAT}"),
]
Jointly = Annotated[
    bool, _planned("--jointly", help="Judge the secret columns all together too, not each alone.")
]
SamplingWeight = Annotated[
    str | None, _planned("--weight", metavar="COLUMN", help="The column of sampling weights.")
]
Statistic = Annotated[
    str | None,
    _planned(
        metavar="COLUMNS",
        help="Secret columns to add SML about, as statistics of all secret columns together.",
    ),
]
Release = Annotated[
    Settings,
    _planned(
        metavar="COLUMNS",
        autocompletion=complete_columns,
        help="Columns to be released, comma-separated; repeat for more.",
    ),
]
PolicyFile = Annotated[
    Path | None, _planned(metavar="FILE", help="The planned release as a TOML file; flags add to it.")
]
MappingsAnywhere = Annotated[
    bool,
    _planned("--mappings-anywhere", help="Let --policy name mapping files outside its own folder."),
]
Bins = Annotated[
    Settings,
    _planned(
        metavar="COLUMN=WIDTH", help=f"Bins of a width, age=10, or cut at edges, income=1000,2000{_REPEAT}"
    ),
]
Prefix = Annotated[
    Settings, _planned(metavar="COLUMN=LENGTH", help=f"The first characters only: zip=3{_REPEAT}")
]
Top = Annotated[
    Settings,
    _planned(metavar="COLUMN=NUMBER", help=f"This number and larger ones as one value: age=90{_REPEAT}"),
]
Bottom = Annotated[
    Settings,
    _planned(metavar="COLUMN=NUMBER", help=f"This number and smaller ones as one value: age=18{_REPEAT}"),
]
Mapping = Annotated[
    Settings,
    _planned(
        "--map",
        metavar="COLUMN=FILE",
        help=f"Groups from a file, COLUMN=FILE[:LEVEL]: job=jobs.csv:2{_REPEAT}",
    ),
]
Suppress = Annotated[
    Settings, _planned(metavar="COLUMN", help=f"A released column that shows * for everybody{_REPEAT}")
]
Randomize = Annotated[
    Settings,
    _planned(
        metavar="COLUMN=LEVEL",
        help="Randomised response at a level, in nats without unit: sex=1.5; or a mechanism of your own: "
        f"'sex=channel mechanism.json'{_REPEAT}",
    ),
]
Nominal = Annotated[
    Settings,
    _planned(
        metavar="COLUMNS",
        autocompletion=complete_columns,
        help="Columns whose values are names, without an order: zip,sex.",
    ),
]
Ordinal = Annotated[
    Settings,
    _planned(
        metavar="COLUMNS",
        autocompletion=complete_columns,
        help="Columns whose values have an order, but no distances: grade.",
    ),
]
Numeric = Annotated[
    Settings,
    _planned(
        metavar="COLUMNS",
        autocompletion=complete_columns,
        help="Columns whose values are numbers, however few: children.",
    ),
]
MinCount = Annotated[
    int | None,
    _planned(
        "--min-count", metavar="NUMBER", help="Cells of fewer people are hidden: released together as one."
    ),
]

Delta = Annotated[
    str | None,
    _asked(
        metavar="PROBABILITY",
        help="The share of people for whom a larger leak may be accepted: 0.01, the default, is 1 %.",
    ),
]
Budget = Annotated[
    Settings,
    _asked(
        "--budget",
        metavar="LEVEL",
        help="Largest leakage allowed: 3x, log(3), '2 bits' or '1.5 nats', or a cap on certainty, 50%. COLUMN=LEVEL "
        "for one secret column, COLUMN=VALUE=LEVEL for one value of it; repeat for several. Exit status 1 if not met.",
    ),
]
Population = Annotated[
    bool, _asked("--population/--sample", help="The table is everyone, or a random sample of them.")
]
Confidence = Annotated[
    str | None,
    _asked(
        metavar="PROBABILITY",
        help="With --sample: all bounds hold together with this probability (default 0.95).",
    ),
]

Against = Annotated[
    list[Path] | None,
    _asked(metavar="FILE", help="Another plan, a policy file, to put beside this one; repeat for several."),
]
Seconds = Annotated[
    float | None,
    _asked(
        "--time",
        min=0,
        metavar="SECONDS",
        help="How long each stage may take (columns, envelope, remedies); what is proved by then is told.",
    ),
]
Skip = Annotated[
    str | None,
    _asked(
        metavar="STAGES", help="Stages to leave out: columns, envelope, remedies, protect; comma-separated."
    ),
]

LedgerFile = Annotated[
    Path | None,
    _asked(
        "--ledger",
        metavar="FILE",
        help="Judge it together with everything in this ledger, which has the secret and the budget.",
    ),
]

Html = Annotated[
    Path | None, _written(metavar="FILE", help="Write the report to one HTML file that works offline.")
]
Risks = Annotated[
    Path | None, _written(metavar="FILE", help="Write the risk of every row to a .csv or .parquet file.")
]
WritePolicy = Annotated[
    Path | None,
    _written(
        "--write-policy",
        metavar="FILE",
        help="With --budget: write a policy that meets it, the first remedy, as TOML.",
    ),
]
IdColumn = Annotated[
    str | None, _written("--id", metavar="COLUMN", help="With --risks: a column to keep beside each risk.")
]
ShowValues = Annotated[bool, _written("--show-values", help="Show secret values and small cells, not codes.")]
Seed = Annotated[
    int | None,
    _written(
        min=0,
        metavar="NUMBER",
        help="Makes the codes of equally large values the same again; who has it and knows the values can undo them.",
    ),
]
LeakageUnit = Annotated[Unit, _written(help="Unit of every printed leakage.")]
Json = Annotated[bool, _written("--json", help="Print one JSON object.")]
Force = Annotated[bool, _written("--force", help="Overwrite files that exist.")]


def open_ledger(path: Path | None, *, write: bool) -> Ledger | None:
    """Open the ledger that was named, if one was."""
    from tightlip.ledger import Ledger

    return None if path is None else Ledger(path, write=write)


@dataclass(frozen=True, slots=True)
class PlanFlags:
    """What was given about the plan; `others` has the flags that are keywords of `table.flags.keywords`."""

    policy: Path | None
    mappings_anywhere: bool
    secret: Settings
    release: Settings
    budget: Settings
    others: Named[str, Any]
    terms: Terms | None = None

    def plan(self) -> Policy:
        """The planned release: the policy file, and what the flags add to it; of a ledger by its terms."""
        from tightlip.table.flags import column_names, keywords, read_secret
        from tightlip.table.plan import planned
        from tightlip.table.policy_file import read_policy

        if self.policy is None and self.mappings_anywhere:
            raise InvalidInput(
                "--mappings-anywhere must be given with --policy; files named by --map may be anywhere already."
            )
        if self.policy is None and not (self.release and (self.secret or self.terms)):
            raise InvalidInput("--secret and --release must be given, or --policy; name the columns.")
        base = None
        if self.policy is not None:
            base = read_policy(
                self.policy,
                mappings_anywhere=self.mappings_anywhere,
                secrets=None if self.terms is None else self.terms.secrets,
            )
        secret: Any = [one for text in self.secret or () for one in read_secret(text)] or None
        if secret is None and base is None and self.terms is not None:
            secret = self.terms.secrets
        release = [name for text in self.release or () for name in column_names(text)] or None
        plan = planned(secret, release, base, flag="--", **keywords(**self.others))
        if self.terms is not None:
            return self.terms.judge(plan)
        if not self.budget:
            return plan
        return planned(policy=plan, budget=read_budgets(self.budget, plan.secret))


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the page, the risks and a policy go, if anywhere; `id_column` is kept beside each risk."""

    html: Path | None
    risks: Path | None
    policy: Path | None
    id_column: str | None
    force: bool

    def check(self, inputs: Named[str, list[str]], *, population: bool, budget: bool) -> None:
        """Refuse what cannot be written, and a name that is taken, used twice, that of an input or in no folder."""
        from tightlip.files import prepare_output, require_apart

        self._check_risks(population)
        if self.policy is not None and not budget:
            raise InvalidInput(
                "--write-policy must be given with --budget; it writes a policy that meets it."
            )
        paths = [path for path in (self.html, self.risks, self.policy) if path is not None]
        require_apart(paths, inputs)
        for path in paths:
            prepare_output(path, force=self.force)
        if self.html is not None and self.html.suffix.lower() not in (".html", ".htm"):
            raise InvalidInput(f"--html must end in .html, got {self.html.name}; browsers know a page by it.")

    def write(self, report: AuditReport, table: Table, plan: Policy, audit: Audit) -> dict[str, str | None]:
        """The page, a policy and the risks: the first two take their names when the risks are written.

        What shows values or rows is for the owner alone. Returns what is where; None for a policy that was not found.
        """
        from tightlip.files import whole_file
        from tightlip.report.audit_html import audit_html
        from tightlip.table.policy_file import policy_toml

        with ExitStack() as stack:
            if self.html is not None:
                page = audit_html(report)
                private = report.values_shown
                file = stack.enter_context(whole_file(self.html, force=self.force, private=private))
                file.write_text(page, encoding="utf-8")
            kept = [plan] if audit.verdict else [remedy.policy for remedy in audit.remedies]
            if self.policy is not None and kept:  # no file where nothing meets the budget
                text = policy_toml(kept[0], self.policy.parent)
                file = stack.enter_context(whole_file(self.policy, force=self.force))
                file.write_text(text, encoding="utf-8")
            if self.risks is not None:
                audit.risks().write(table, self.risks, id_column=self.id_column, force=self.force)
        asked = {"html": self.html, "risks": self.risks, "policy": self.policy}
        return {
            name: str(path) if name != "policy" or kept else None
            for name, path in asked.items()
            if path is not None
        }

    def _check_risks(self, population: bool) -> None:
        if self.risks is None:
            if self.id_column is not None:
                raise InvalidInput(
                    "--id must be given with --risks; it names the column to keep beside each risk."
                )
            return
        if not population:
            raise InvalidInput(
                "--risks must not be given with --sample; shares within a sample's cells bound nothing."
            )
        if self.risks.suffix.lower() not in (".csv", ".parquet"):
            raise InvalidInput(
                f"--risks must end in .csv or .parquet, got {self.risks.name}; choose one of these."
            )


def inputs_of(table: str, policy: Path | None, plan: Policy) -> dict[str, list[str]]:
    """The files that an audit reads, by what they are."""
    from tightlip.table.chain import steps_of
    from tightlip.table.policy import mechanism_files

    steps = [step for recoding in plan.recodings for step in steps_of(recoding)]
    hierarchies = [getattr(step, "hierarchy", None) for step in steps]
    return {
        "the table": [table],
        "the policy": [] if policy is None else [str(policy)],
        "a mapping": [str(hierarchy.path) for hierarchy in hierarchies if hierarchy is not None],
        "a mechanism": [str(path) for path, _ in mechanism_files(plan).values()],
    }
