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
_REPEAT = "; repeat for several columns."

Address = Annotated[
    str, typer.Argument(help="A CSV, Parquet, DuckDB or SQLite file, or postgresql://… with --table.")
]
TableName = Annotated[str | None, typer.Option("--table", metavar="NAME", help="Which table of a database.")]

Secret = Annotated[str | None, _planned(metavar="COLUMNS", help="Secret columns, comma-separated.")]
Statistic = Annotated[
    str | None,
    _planned(
        metavar="COLUMNS",
        help="Secret columns to add SML about, as statistics of all secret columns together.",
    ),
]
Release = Annotated[str | None, _planned(metavar="COLUMNS", help="Columns to be released, comma-separated.")]
PolicyFile = Annotated[
    Path | None, _planned(metavar="FILE", help="The planned release as a TOML file instead.")
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
        metavar="COLUMN=LEVEL", help=f"Randomised response at a level, in nats without unit: sex=1.5{_REPEAT}"
    ),
]
MinCount = Annotated[
    int | None,
    _planned(
        "--min-count", metavar="NUMBER", help="Cells of fewer people are hidden: released together as one."
    ),
]

Delta = Annotated[
    str,
    _asked(
        metavar="PROBABILITY", help="The share of people for whom a larger leak may be accepted: 0.01 is 1 %."
    ),
]
Budget = Annotated[
    str | None,
    _asked(
        metavar="LEVEL",
        help="Largest leakage allowed: 3x, log(3), '2 bits' or '1.5 nats'. Exit status 1 if not met.",
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
