"""The options of `tightlip audit`, by what they are about; the command's signature says their defaults."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tightlip.cli.arguments import Unit

Settings = list[str] | None

_planned = partial(typer.Option, rich_help_panel="The planned release")
_asked = partial(typer.Option, rich_help_panel="What is asked")
_written = partial(typer.Option, rich_help_panel="What is written")
_COLUMN = "COLUMN=VALUE; repeat for several columns."

Address = Annotated[
    str, typer.Argument(help="A CSV, Parquet, DuckDB or SQLite file, or postgresql://… with --table.")
]
TableName = Annotated[str | None, typer.Option("--table", help="Which table of a database.")]

Secret = Annotated[str | None, _planned(help="Secret columns, comma-separated.")]
Statistic = Annotated[
    str | None,
    _planned(help="Secret columns to add SML about, as statistics of all secret columns together."),
]
Release = Annotated[str | None, _planned(help="Columns to be released, comma-separated.")]
PolicyFile = Annotated[Path | None, _planned(help="The planned release as a TOML file instead.")]
Bins = Annotated[Settings, _planned(help=f"Numbers in bins of a width, or cut at edges: {_COLUMN}")]
Prefix = Annotated[Settings, _planned(help=f"The first characters only: {_COLUMN}")]
Top = Annotated[Settings, _planned(help=f"Larger numbers as one value: {_COLUMN}")]
Bottom = Annotated[Settings, _planned(help=f"Smaller numbers as one value: {_COLUMN}")]
Mapping = Annotated[Settings, _planned("--map", help="Groups from a file: COLUMN=FILE[:LEVEL].")]
Suppress = Annotated[Settings, _planned(help="A column that is released as * throughout.")]
Randomize = Annotated[Settings, _planned(help=f"Randomised response, level in nats: {_COLUMN}")]
MinCount = Annotated[int | None, _planned("--min-count", help="Cells of fewer rows are released as one.")]

Delta = Annotated[str, _asked(help="The probability of a larger leak that may be accepted.")]
Budget = Annotated[
    str | None,
    _asked(
        help="Largest leakage allowed, in nats; log(3) is exact, so is '2 bits'. Exit status 1 if not met."
    ),
]
Population = Annotated[
    bool, _asked("--population/--sample", help="The table is everyone, or a random sample of them.")
]
Confidence = Annotated[
    str | None, _asked(help="With --sample: all bounds hold together with this probability (0.95).")
]

Html = Annotated[Path | None, _written(help="Write the report to one HTML file that works offline.")]
Risks = Annotated[Path | None, _written(help="Write the risk of every row to a .csv or .parquet file.")]
WritePolicy = Annotated[
    Path | None,
    _written(
        "--write-policy", help="With --budget: write a policy that meets it, the first remedy, as TOML."
    ),
]
IdColumn = Annotated[str | None, _written("--id", help="With --risks: a column to keep beside each risk.")]
ShowValues = Annotated[bool, _written("--show-values", help="Show secret values and small cells, not codes.")]
LeakageUnit = Annotated[Unit, _written(help="Unit of every printed leakage.")]
Json = Annotated[bool, _written("--json", help="Print one JSON object.")]
Force = Annotated[bool, _written("--force", help="Overwrite files that exist.")]
