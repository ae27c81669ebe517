"""MATRIX.csv: a labelled matrix, outputs in the first row and secrets in the first column; numbers are exact.

P(x | s) stands in such a file too, with the values of x in its first row and those of s in its first column.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from tightlip.errors import InvalidInput, quoted
from tightlip.model.channel import Channel
from tightlip.model.labels import Label, Labels, show
from tightlip.numeric.display import several
from tightlip.numeric.parse import number
from tightlip.reading import first_line, read_text


class MatrixFile(NamedTuple):
    """Rows in the order of the secrets, and a label for each column."""

    rows: list[list[Fraction]]
    outputs: list[Label]


def read_matrix_file(path: Path, secrets: Labels, argument: str) -> MatrixFile:
    """Read a matrix with a row for each secret, in any order; labels are compared as they are written.

    Parameters
    ----------
    path : the file, CSV with commas
    secrets : which rows there must be
    argument : what messages call it

    Raises
    ------
    InvalidInput
        Naming row and column of what is cut, ragged, repeated or no number.
    """
    name = f"{argument} file {path}"
    head, *lines = _lines(path, name)
    known, outputs = _by_text(secrets, name), _distinct(head[1][1:], f"{name} row 1")
    found: dict[int, tuple[int, list[Fraction]]] = {}
    for line, cells in lines:
        secret = _secret(cells[0], known, f"{name} row {line}", secrets)
        if secret in found:
            raise InvalidInput(
                f"{name} row {line} must be about another secret than row {found[secret][0]}, got "
                f"{quoted(cells[0])} twice; keep one."
            )
        found[secret] = line, _numbers(cells, outputs, f"{name} row {line}")
    missing = [label for place, label in enumerate(secrets) if place not in found]
    if missing:
        raise InvalidInput(
            f"{name} must have a row for each of {several(len(secrets), 'secret')}, got none for "
            f"{quoted(show(missing[0]))}; add it."
        )
    rows = [found[place][1] for place in range(len(secrets))]
    return MatrixFile(rows, [secrets[known[text]] if text in known else text for text in outputs])


def read_conditional_file(path: Path, outputs: Labels, argument: str, what: str) -> Channel:
    """Read P(x | s): a column for each x, in any order, and a row for each s, whatever they are called.

    Raises
    ------
    InvalidInput
        As `read_matrix_file`, and where the columns are not those of x.
    """
    name = f"{argument} file {path}"
    head, *lines = _lines(path, name)
    known = _by_text(outputs, name)
    columns = _distinct(head[1][1:], f"{name} row 1")
    given = {_secret(text, known, f"{name} row 1", outputs): place for place, text in enumerate(columns)}
    missing = [label for place, label in enumerate(outputs) if place not in given]
    if missing or not lines:
        lacking = f"none for {quoted(show(missing[0]))}" if missing else "no rows"
        raise InvalidInput(
            f"{name} must have a column for each of {several(len(outputs), 'secret')} of the prior, and a row for each "
            f"{what}, got {lacking}; add it."
        )
    rows = [
        (cells[0] if cells else "", _numbers(cells, columns, f"{name} row {line}")) for line, cells in lines
    ]
    try:
        return Channel(
            [[row[given[place]] for place in range(len(outputs))] for _, row in rows],
            [text for text, _ in rows],
            outputs,
        )
    except InvalidInput as error:
        raise InvalidInput(f"{name} must have a distribution in each row: {error}") from error


def _lines(path: Path, name: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, each with its number; the first one has the outputs."""
    try:
        reader = csv.reader(StringIO(read_text(path, name), newline=""), strict=True)
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InvalidInput(f"{name} cannot be read: {first_line(error)}; check that it is whole.") from error
    if not lines or len(lines[0][1]) < 2:
        raise InvalidInput(
            f"{name} must have the outputs in its first row, behind a first cell, got "
            f"{several(len(lines[0][1]) if lines else 0, 'cell')}; separate cells by commas."
        )
    return lines


def _by_text(secrets: Labels, name: str) -> dict[str, int]:
    """Where each secret stands, by how it is written; 1 and "1" are written alike."""
    known: dict[str, int] = {}
    for place, label in enumerate(secrets):
        if known.setdefault(show(label), place) != place:
            raise InvalidInput(
                f"{name} cannot tell two secrets apart that are both written {quoted(show(label))}; rename one."
            )
    return known


def _distinct(names: list[str], where: str) -> list[str]:
    seen: dict[str, int] = {}
    for place, text in enumerate(names, start=2):
        if text in seen:
            raise InvalidInput(
                f"{where} must name every output once, got {quoted(text)} in columns {seen[text]} and {place}; "
                "keep one."
            )
        seen[text] = place
    return names


def _secret(text: str, known: dict[str, int], where: str, secrets: Labels) -> int:
    if text not in known:
        raise InvalidInput(
            f"{where} must be about one of the secrets {secrets!r}, got {quoted(text)}; rename it or leave it out."
        )
    return known[text]


def _numbers(cells: list[str], outputs: list[str], where: str) -> list[Fraction]:
    if len(cells) != len(outputs) + 1:
        raise InvalidInput(
            f"{where} must have a number for each of {several(len(outputs), 'output')}, got "
            f"{len(cells) - 1}; check that the file is whole."
        )
    return [
        Fraction(number(text, f"{where} column {place} ({quoted(output)})"))
        for place, (text, output) in enumerate(zip(cells[1:], outputs, strict=True), start=2)
    ]
