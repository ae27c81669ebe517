"""The page of a ledger in a real browser: it shows the answer, answers the mouse, and loads nothing."""

import json

import pytest

from audit_example import HOSTILE
from browser.test_audit_page import CUT_CHARTS, CUT_TEXTS, FOLDED, hover, requested, wait
from browser.test_audit_page import browser as browser
from contract.warnings_of_engines import IGNORED
from ledger_example import example_ledger, survey
from tightlip.report.ledger import ledger_html, ledger_record
from tightlip.table.policy import Policy

pytestmark = IGNORED


@pytest.fixture(scope="module", params=["plain", "hostile"])
def page(request, browser, tmp_path_factory):
    """The opened report of a harmless ledger, and of one whose names attack the page."""
    folder = tmp_path_factory.mktemp("ledger")
    text = HOSTILE if request.param == "hostile" else ""
    key = "".join(filter(str.isprintable, text))
    ledger, table = example_ledger(folder, text)
    for name in ("sex", "age"):
        plan = Policy(f"ill{text}", [f"{name}{text}"])
        ledger.release(table, plan, folder / f"{name}.csv", key=f"{name}{key}")
    ledger.declare(**survey(name=f"survey{key}"), table=table)
    ledger.declare(**survey(name=f"poll{key}"))
    path = folder / "ledger.html"
    report = ledger_record(ledger)
    path.write_text(ledger_html(report), encoding="utf-8")
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # what earlier pages said
    browser.get(path.as_uri())
    wait(browser, lambda: browser.execute_script("return document.documentElement.dataset.charts") == "drawn")
    return browser, path, report


def test_the_page_works_offline_and_quietly(page):
    browser, path, report = page
    assert "is not known" in browser.find_element("id", "headline").text
    assert "account before → after" in hover(browser, "together-1")
    assert len(browser.find_elements("css selector", "#added tbody tr")) == len(report.releases)
    assert len(browser.find_elements("css selector", "details.release")) == len(report.releases)
    assert report.head.digest in browser.find_element("id", "head").text
    assert browser.get_log("browser") == []
    assert requested(browser) - {path.as_uri(), "data:,"} == set()


def test_nothing_in_the_ledger_becomes_markup(page):
    browser, _, report = page
    assert browser.execute_script("return window.harmed") is None
    assert browser.find_elements("css selector", "img, iframe, [onerror], [onload]") == []
    island = browser.execute_script("return document.getElementById('record').textContent")
    assert json.loads(island)["id"] == report.id


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    browser = page[0]
    screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        wait(browser, lambda: browser.execute_script("return document.documentElement.scrollWidth") <= width)
        wait(browser, lambda: browser.execute_script(CUT_CHARTS) == [])
        assert browser.execute_script(CUT_TEXTS) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_shows_what_is_folded(page):
    browser = page[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        wait(browser, lambda: browser.execute_script(FOLDED) == [])
        for part in ("figure", "tr", "li", ".figures div", ".answer"):
            kept = browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map(card => getComputedStyle(card).breakInside)",
                part,
            )
            assert set(kept) == {"avoid"}, part
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
