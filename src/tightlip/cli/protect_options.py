"""The options of `tightlip protect`, and what those about levels, budgets and files become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tightlip.cli.arguments import named_column
from tightlip.cli.audit_options import Settings
from tightlip.errors import InvalidInput, quoted
from tightlip.numeric.parse import number

if TYPE_CHECKING:
    from tightlip.auditing.releasing import Release
    from tightlip.ledger import Ledger
    from tightlip.protection.result import Protection
    from tightlip.report.protect import ProtectReport
    from tightlip.table.policy import Policy
    from tightlip.table.source import Table

_asked = partial(typer.Option, rich_help_panel="What is asked")
_written = partial(typer.Option, rich_help_panel="What is written")
_REPEAT = "; repeat for several columns."

Budgets = Annotated[
    list[str] | None,
    _asked(
        "--budget",
        metavar="LEVEL",
        help="What a published value may say: 3x, log(3), '2 bits', '1.5 nats', or 50% (nobody's secret becomes "
        "more certain than that). COLUMN=LEVEL for one secret column, COLUMN=VALUE=LEVEL for one of its values; "
        "repeat for several.",
    ),
]
Randomised = Annotated[
    bool,
    _asked(
        "--randomised", help="Publish by chance: keeps more, and protects from readers of the file alone."
    ),
]
LevelsOf = Annotated[
    Settings,
    _asked(
        "--levels",
        metavar="COLUMN=LEVELS",
        help="What a column may be published as, finest first: 'age=as is,5,10,out', 'zip=as is,prefix 3,out', or "
        f"a hierarchy, job=jobs.csv{_REPEAT}",
    ),
]
KeepAsIs = Annotated[
    Settings, _asked("--keep-as-is", metavar="COLUMN", help=f"A column that must stay as it is{_REPEAT}")
]
Weights = Annotated[
    Settings, _asked("--weight", metavar="COLUMN=NUMBER", help=f"How much a column matters: age=2{_REPEAT}")
]
Pmc = Annotated[
    list[str] | None,
    _asked(
        metavar="LEVEL",
        help="What may not be ruled out: no secret becomes less likely by more; COLUMN=LEVEL and COLUMN=VALUE=LEVEL "
        "as for --budget.",
    ),
]
Delta = Annotated[
    str | None, _asked(metavar="PROBABILITY", help="The share of people who may be above the budget.")
]
FewestPeople = Annotated[
    int | None,
    _asked(
        "--min-count",
        metavar="NUMBER",
        help="The fewest people who may share a published value; of releases that are not drawn by chance.",
    ),
]
Seconds = Annotated[
    float | None,
    _asked(
        metavar="NUMBER",
        help="How long to search, about; 20 to 80 by the size of the table if left out. Writing files, and other "
        "budgets for the page, comes on top.",
    ),
]
Gap = Annotated[
    float, _asked(metavar="SHARE", help="How close to the optimum: 0.001 is 0.1 % of the detail.")
]
Out = Annotated[
    str | None,
    _written(
        metavar="FILE",
        help="Write the protected rows: .csv, .parquet, .duckdb, .sqlite, or a new table of postgresql://….",
    ),
]
OutTable = Annotated[
    str | None,
    _written(
        "--out-table", metavar="NAME", help="What the new table of Postgres is called; release if left out."
    ),
]
ReceiptFile = Annotated[
    Path | None,
    _written("--receipt", metavar="FILE", help="Where the receipt goes; beside --out, of a table here."),
]
PolicyOut = Annotated[
    Path | None,
    _written("--policy-out", metavar="FILE", help="Write the policy as TOML, its recoding beside it."),
]
CertificateFile = Annotated[
    Path | None, _written("--certificate", metavar="FILE", help="Write the proof, for `tightlip verify`.")
]
WithSecret = Annotated[
    bool,
    _written("--with-secret", help="The secret columns are written too; of deterministic releases only."),
]
Keep = Annotated[
    str | None,
    _written(
        metavar="COLUMNS", help="Columns to keep as they are, comma-separated; no guarantee covers them."
    ),
]
Key = Annotated[
    str | None,
    _written("--key", metavar="NAME", help="With --ledger: the release's own name, charged once."),
]
SeedForTests = Annotated[
    int | None,
    _written(
        "--seed-for-tests", metavar="NUMBER", help="Reproducible and therefore unprotected; for tests only."
    ),
]


def read_levels(levels: Settings, as_is: Settings, released: Sequence[str]) -> dict[str, Any]:
    """Read what released columns may be published as.

    >>> read_levels(["age=as is,5,2.5,out", "job=jobs.csv"], ["sex"], ["age", "job", "sex"])
    {'age': ['as is', 5, 2.5, 'out'], 'job': 'jobs.csv', 'sex': ['as is']}
    """
    from tightlip.table.policy import require_known

    found: dict[str, Any] = {}
    for text in levels or ():
        column = named_column(text, released, "--levels column")
        parts = [part.strip() for part in text.removeprefix(f"{column}=").split(",")]
        if text == column or not all(parts):
            raise InvalidInput(f"--levels must be COLUMN=LEVEL,LEVEL,…, finest first, got {quoted(text)}.")
        if column in found:
            raise InvalidInput(f"--levels must be given once for column {quoted(column)}, got it twice.")
        alone = len(parts) == 1 and Path(parts[0]).suffix != ""
        found[column] = parts[0] if alone else [_width(part) for part in parts]
    for column in as_is or ():
        require_known(column, released, "--keep-as-is column")
        if column in found:
            raise InvalidInput(f"--keep-as-is must not be given with --levels of {quoted(column)}; drop one.")
        found[column] = ["as is"]
    return found


def _width(text: str) -> str | int | float:
    """A bin width where it is a number, else a level in words."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def read_weights(given: Settings, released: Sequence[str]) -> dict[str, Fraction]:
    """Read how much released columns matter.

    >>> read_weights(["age=2", "zip=1/2"], ["age", "zip"])
    {'age': Fraction(2, 1), 'zip': Fraction(1, 2)}
    """
    from tightlip.table.policy import require_known

    found = {}
    for text in given or ():
        column, equals, weight = text.rpartition("=")
        if not equals or not column or column in found:
            raise InvalidInput(f"--weight must be COLUMN=NUMBER, each column once, got {quoted(text)}.")
        require_known(column, released, "--weight column")
        found[column] = Fraction(number(weight, f"weight of {column}"))
    return found


def _noise(plan: Policy) -> str:
    """Say which mechanisms a plan has; nothing where it has none."""
    noisy = [item for item in plan.release if item.mechanism is not None]
    return " and ".join(
        f"{item.mechanism.words()} on {quoted(item.column)}" for item in noisy if item.mechanism
    )


@dataclass(frozen=True, slots=True)
class ProtectOutputs:
    """Where the rows, the receipt, the policy, the proof and the page go, if anywhere."""

    out: str | None
    out_table: str | None
    receipt: Path | None
    policy: Path | None
    certificate: Path | None
    html: Path | None
    keep: list[str]
    with_secret: bool
    force: bool
    seed: int | None
    key: str | None = None

    def check(self, inputs: dict[str, list[str]], plan: Policy, *, randomised: bool) -> None:
        """Refuse, before any work, what cannot be written or makes no sense."""
        from tightlip.files import prepare_output, require_apart
        from tightlip.table.outputs import output_of

        alone: dict[str, Any] = {
            "--receipt": self.receipt,
            "--keep": self.keep,
            "--with-secret": self.with_secret,
        }
        alone |= {"--seed-for-tests": self.seed, "--out-table": self.out_table, "--key": self.key}
        for option, given in alone.items():
            if self.out is None and given not in (None, [], False):
                raise InvalidInput(
                    f"{option} must be given with --out; it is about the rows that are written."
                )
        chance = "--randomised" if randomised else _noise(plan)
        if self.with_secret and chance:
            raise InvalidInput(
                f"--with-secret must not be given with {chance}, which does not protect from readers who know a "
                "person; drop one of them."
            )
        if self.html is not None and self.html.suffix.lower() not in (".html", ".htm"):
            raise InvalidInput(f"--html must end in .html, got {self.html.name}; browsers know a page by it.")
        paths = [self.html, self.certificate, self.policy]
        if self.policy is not None:
            paths.append(self.policy.with_suffix(".recoding.parquet"))
        output = None if self.out is None else output_of(self.out, self.out_table)
        if output is not None:
            paths += [output.path, self.receipt or output.receipt]
        require_apart(paths, inputs)
        if output is not None:
            output.prepare(force=self.force)
        for path in paths:
            if path is not None:
                prepare_output(path, force=self.force)

    def write(
        self,
        found: Protection,
        report: ProtectReport,
        table: Table,
        command: str,
        ledger: Ledger | None = None,
    ) -> tuple[Release | None, dict[str, str | None]]:
        """Write what was asked for, the rows last; returns what is where."""
        from tightlip.files import whole_file
        from tightlip.report.protect import write_page

        if self.certificate is not None:
            with whole_file(self.certificate, force=self.force, private=True) as file:
                file.write_text(found.certificate.to_json(), encoding="utf-8")
        if self.policy is not None:
            found.policy.save(self.policy, force=self.force)
        if self.html is not None:
            write_page(report, self.html, force=self.force)
        release = None if self.out is None else self._release(found, table, command, ledger)
        asked = {"policy": self.policy, "proof": self.certificate, "page": self.html}
        if self.policy is not None and found.policy.local is not None:
            asked["recoding"] = self.policy.with_suffix(".recoding.parquet")
        return release, {what: str(path) for what, path in asked.items() if path is not None}

    def _release(self, found: Protection, table: Table, command: str, ledger: Ledger | None) -> Release:
        from tightlip.auditing.releasing import write_release
        from tightlip.protection.facts import release_facts

        assert self.out is not None
        files: dict[str, Path] = {}
        if self.policy is not None:
            files |= {"policy": self.policy, "local recoding": self.policy.with_suffix(".recoding.parquet")}
        if self.certificate is not None:
            files["proof"] = self.certificate
        return write_release(
            table,
            found.policy,
            self.out,
            self.receipt,
            release_facts(found, command=command, files=files),
            None if ledger is None else ledger.charge(key=self.key, command=command),
            out_table=self.out_table,
            keep=self.keep,
            with_secret=self.with_secret,
            force=self.force,
            seed_for_tests=self.seed,
        )
