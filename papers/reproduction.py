"""What a reproduction is: data, pictures, and what the paper says beside what is computed.

A module of this folder has `reproduce(quick) -> Reproduction`, and can be run: `python -m papers.env_figure2` prints
its data as CSV and the comparison after it; `--chart FOLDER` draws each panel there. With `quick` it computes some of
the same rows in a few seconds, for the tests.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
"""One row of data: numbers and texts by the name of the column; the same columns in every row."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A statement of a paper beside what is computed.

    Attributes
    ----------
    what : the quantity, with where it stands in the paper
    printed : what the paper says, as it says it; "read off the figure: …" where only a picture says it
    computed : what is computed
    agrees : whether the two agree, to the digits that are printed
    why : where they do not, what is wrong; not shown where they do
    """

    what: str
    printed: str
    computed: str
    agrees: bool
    why: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "agrees", bool(self.agrees))  # NumPy's truth values cannot be kept as JSON


@dataclass(frozen=True, slots=True)
class Value:
    """A number that a paper states beside the computed one: a row of the data and one of the comparison.

    Attributes
    ----------
    place : where it stands: "Example 1"
    quantity : what it is
    text : the number, as the paper writes it
    printed, computed : the numbers; two rationals are compared as such, others to nine digits
    log : whether these are ratios, and their logarithms are meant, in nats
    why : where they differ, what is wrong
    """

    place: str
    quantity: str
    text: str
    printed: Fraction | float
    computed: Fraction | float
    log: bool = False
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the two are the same."""
        if all(isinstance(one, Fraction | int) for one in (self.printed, self.computed)):
            return self.printed == self.computed
        return math.isclose(self.printed, self.computed, rel_tol=1e-9, abs_tol=1e-12)

    def row(self) -> Row:
        """Both numbers, as floats."""
        numbers = [math.log(one) if self.log else float(one) for one in (self.printed, self.computed)]
        return {**point(self.place, self.quantity, "", numbers[1]), "paper": numbers[0]}

    def compared(self) -> Compared:
        """Both, in words."""
        what, computed = f"{self.place}: {self.quantity}", _shown(self.computed, self.log)
        return Compared(what, self._printed(), computed, self.agrees, self.why)

    def _printed(self) -> str:
        """What the paper says, with its number where the paper has a formula."""
        number = self.row()["paper"]
        plain = re.fullmatch(r"(log )?[\d./()]+|.*=.*", self.text)
        return self.text if plain or math.isinf(number) else f"{self.text} = {number:.6g}"


def point(place: str, quantity: str, at: float | str, computed: float) -> Row:
    """Make a row with the columns of `Value.row`, for a point of a curve that no paper has as a number."""
    return {"place": place, "quantity": quantity, "at": at, "paper": "", "computed": computed}


def _shown(value: Fraction | float, log: bool) -> str:
    if log and value == 1:
        return "0"
    if isinstance(value, Fraction | int):
        exact, number = f"{'log ' if log else ''}{value}", math.log(value) if log else float(value)
        return exact if exact == f"{number:.6g}" else f"{exact} = {number:.6g}"
    return f"{math.log(value) if log else value:.10g}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: `chart` is what an Altair chart makes, its specification in Vega-Lite."""

    title: str
    chart: dict[str, Any]

    def svg(self) -> str:
        """Draw it, without a browser."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self.chart))


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A figure, an example or an experiment of a paper.

    Attributes
    ----------
    title : paper and place: "ENV Figure 1"
    shows : what it shows, in a sentence or two
    rows : the data; the first columns say which panel and curve
    panels : pictures, in order
    compared : what the paper says beside what is computed
    choices : what the paper leaves out, what was chosen and what that changes; empty where nothing
    """

    title: str
    shows: str
    rows: Sequence[Row]
    panels: Sequence[Panel]
    compared: Sequence[Compared]
    choices: str = ""

    def csv(self) -> str:
        """The data; numbers to 12 digits, which the stored values are compared with."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _digits(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    def text(self) -> str:
        """The comparison, a line each."""
        lines = [self.title, self.shows]
        for one in self.compared:
            lines.append(f"{'same' if one.agrees else 'NOT THE SAME'}: {one.what}")
            lines.append(f"    paper: {one.printed}; computed: {one.computed}")
            lines += [] if one.agrees else [f"    {one.why}"]
        return "\n".join([*lines, *([f"Chosen: {self.choices}"] if self.choices else [])]) + "\n"


def _digits(value: Any) -> Any:
    return f"{value:.12g}" if isinstance(value, float) else value


def main(reproduce: Callable[[bool], Reproduction]) -> None:
    """Run one reproduction: CSV on standard output, the comparison on standard error."""
    parser = argparse.ArgumentParser(description="Print the data of a figure as CSV, and how it compares.")
    parser.add_argument("--chart", type=Path, help="a folder; each panel is drawn there as SVG")
    parser.add_argument("--quick", action="store_true", help="a part of the data, in a few seconds")
    options = parser.parse_args()
    found = reproduce(options.quick)
    sys.stdout.write(found.csv())
    sys.stderr.write(found.text())
    if options.chart is not None:
        options.chart.mkdir(parents=True, exist_ok=True)
        for place, panel in enumerate(found.panels, start=1):
            (options.chart / f"{place}.svg").write_text(panel.svg())
