"""Every reproduction gives its stored values again, and the page shows each with what differs."""

import csv
import math
from pathlib import Path

import pytest
from papers.__main__ import FOLDER, modules, reproduce
from papers.page import PAPERS, render

VALUES = FOLDER / "values"


def _same(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-7, abs_tol=1e-9)
    except ValueError:
        return one == other


@pytest.fixture(scope="module", params=modules())
def found(request):
    return request.param, reproduce(request.param)


def test_a_reproduction_gives_its_stored_values_again(found):
    name, one = found
    now = list(csv.reader(one.csv().splitlines()))
    stored = list(csv.reader((VALUES / f"{name}.csv").read_text().splitlines()))
    assert now[0] == stored[0]
    assert len(now) == len(stored)
    differing = [
        (place, a, b)
        for place, (row, old) in enumerate(zip(now[1:], stored[1:], strict=True), start=1)
        for a, b in zip(row, old, strict=True)
        if not _same(a, b)
    ]
    assert not differing


def test_what_differs_says_why(found):
    _, one = found
    assert one.compared
    assert all(row.agrees or row.why for row in one.compared)


def test_the_page_shows_it(found):
    name, one = found
    page = render({name: one}, {name: 0.0})
    assert one.title.split()[0] in PAPERS
    assert page.count("<svg") == len(one.panels)
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")
    assert f"{sum(not row.agrees for row in one.compared)} are not what the paper says" in page


def test_stored_values_are_of_reproductions_alone():
    assert {Path(path).stem for path in VALUES.iterdir()} == set(modules())
