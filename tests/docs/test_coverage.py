"""docs/coverage.md has one row for each result of the papers, and both pages of the papers point to what there is."""

import ast
import importlib
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = {
    "ENV": "Definition 1-5, Theorem 1-5, Lemma 1-3, Corollary 1, Example 1-4, Algorithm 1, Figure 1-2, Appendix C-B",
    "DOB": "Definition 1-2, Theorem 1-3, Proposition 1-3, Lemma 1-4, Corollary 1-2, Example 1-3, Remark 1-2, Figure 1",
    "SML": "Definition 1, Theorem 1-4, Proposition 1-8, Lemma 1-2, Property 1, Algorithm 1, Figure 1-9, "
    "Appendix H-D, Appendix I",
    "PMC": "Definition 1-12, Theorem 1-6, Proposition 1-3, Lemma 1-2, Corollary 1-5, Example 1-6, Remark 1-6, Figure 1",
    "GAU": "Definition 1, Theorem 2-3, Definition 4, Theorem 5-6, Lemma 1-8, Corollary 1, Figure 1",
}
VERDICTS = re.compile(
    r"yes$|yes, with a condition: |yes; |no: |not reproduced: |not covered: |proof step, not computed"
)


def listed(paper: str) -> list[str]:
    """The results of a paper, one by one."""
    found = []
    for part in RESULTS[paper].split(", "):
        kind, _, numbers = part.partition(" ")
        ends = re.fullmatch(r"(\d+)-(\d+)", numbers)
        found += [f"{kind} {n}" for n in range(int(ends[1]), int(ends[2]) + 1)] if ends else [part]
    return found


def tables(page: str) -> dict[str, list[list[str]]]:
    """The cells of each row below the heading, by the first word of the section."""
    found: dict[str, list[list[str]]] = {}
    for section in (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n## ")[1:]:
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in section.splitlines()
            if line.startswith("|")
        ]
        found[section.split(":")[0]] = rows[2:]
    return found


COVERAGE = tables("coverage.md")
ROWS = [(paper, *row) for paper, rows in COVERAGE.items() for row in rows]


def mistakes() -> list[list[str]]:
    """The rows of docs/papers.md that tell of a claim or an expectation."""
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if len(row) == 3 and row[1].strip() != "verdict"]


@cache
def names_in(file: str) -> frozenset[str]:
    """The tests of a file as pytest names them, without parameters."""
    found = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return frozenset(name for name in found if name.split("::")[-1].startswith("test_"))


def named_tests(text: str) -> list[str]:
    """Every test that a text names in backticks."""
    return re.findall(r"`(tests/[^`]+)`", text)


def require_test(name: str) -> None:
    file, _, test = name.partition("::")
    assert (ROOT / file).exists(), f"{name} is in no file"
    assert test in names_in(file), f"{name} is no test"


def resolve(name: str) -> None:
    """Follow a public name: tl.pml, tightlip.papers.compare, tl.measures.PointwiseLeakage.tail."""
    first, *parts = name.split(".")
    assert first in ("tl", "tightlip"), f"{name} must begin with tl or tightlip"
    module, found = "tightlip", importlib.import_module("tightlip")
    for part in parts:
        if not hasattr(found, part):
            importlib.import_module(f"{module}.{part}")
        found, module = getattr(found, part), f"{module}.{part}"


@pytest.mark.parametrize("paper", RESULTS)
def test_every_result_has_one_row(paper):
    rows = Counter(row[0] for row in COVERAGE[paper])
    assert rows == Counter(listed(paper))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:2]))
def test_a_row_points_to_what_there_is(row):
    _, _, says, where, test, holds = row
    assert says
    assert VERDICTS.match(holds)
    for name in re.findall(r"`([^`]+)`", where):
        if "/" in name:
            assert (ROOT / name).exists(), f"{name} is no file"
        elif not re.search(r'["=]', name):  # an argument is no name
            resolve(name)
    names = named_tests(test)
    for name in names:
        require_test(name)
    assert names or holds.startswith(("not covered: ", "proof step")), "a verdict needs its test"
    assert not holds.startswith(("no: ", "yes, with")) or "](papers.md)" in holds


def about(claim: str, paper: str, result: str) -> bool:
    """Whether a row of docs/papers.md is about a result: "GAU Theorems 2 and 3, Corollary 1" is about three."""
    kind, _, number = result.partition(" ")
    several = rf"{kind}s? [^.;:(]*?\b{re.escape(number)}\b(?!\d)"
    return claim.startswith(paper) and re.search(several, claim) is not None


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "papers.md" in row[-1]], ids=lambda row: " ".join(row[:2])
)
def test_a_verdict_that_points_to_the_mistakes_has_one_there(row):
    paper, result = row[:2]
    if (paper, result) == ("GAU", "Lemma 4"):  # it speaks of Theorem 2, whose proof it is a part of
        result = "Theorem 2"
    assert any(about(claim, paper, result) for claim, *_ in mistakes())


@pytest.mark.parametrize("row", mistakes(), ids=lambda row: row[0][:60])
def test_each_mistake_names_the_test_that_shows_it(row):
    names = named_tests(row[2])
    assert names
    for name in names:
        require_test(name)


def test_there_are_mistakes_of_every_paper():
    assert len(mistakes()) > 35
    assert {claim.split()[0].strip(",:") for claim, *_ in mistakes()} >= set(RESULTS)
