"""A part of every reproduction gives its stored values again, and the page shows each with what differs."""

import csv
import math
import os

import pytest
from papers.__main__ import FOLDER, can_run, modules, reproduce
from papers.page import PAPERS, render

from papers import cache

VALUES = FOLDER / "values"


def _same(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-7, abs_tol=1e-9)
    except ValueError:
        return one == other


@pytest.fixture(scope="module", params=modules())
def found(request):
    if not can_run(request.param):
        if os.environ.get("CI") == "true":
            pytest.fail("TIGHTLIP_ADULT must name the folder of the Adult table in CI")
        pytest.skip("set TIGHTLIP_ADULT to the folder with adult.data and adult.test")
    return request.param, reproduce(request.param, quick=True)


def test_rows_are_those_that_are_stored(found):
    name, one = found
    now = list(csv.reader(one.csv().splitlines()))
    stored = list(csv.reader((VALUES / f"{name}.csv").read_text().splitlines()))
    assert now[0] == stored[0]
    assert len(now) > 1
    waiting = iter(stored[1:])  # the rows are some of the stored ones, in their order
    missing = [row for row in now[1:] if not any(all(map(_same, row, old)) for old in waiting)]
    assert not missing


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
    assert {path.stem for path in VALUES.iterdir()} == set(modules())


def test_what_is_kept_is_of_the_same_code_and_data(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_path", lambda name: tmp_path / f"{name}.json")
    one = reproduce("env_figure2", quick=True)
    assert cache.load("env_figure2") is None
    cache.keep("env_figure2", one, 1.5)
    assert cache.load("env_figure2") == (one, 1.5)
    monkeypatch.setenv("TIGHTLIP_ADULT", str(tmp_path))
    (tmp_path / "adult.data").write_text("other data")
    assert cache.load("env_figure2") is None
