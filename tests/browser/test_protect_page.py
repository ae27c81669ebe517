"""The page of a protection in a real browser: it shows the answer, answers the mouse, and loads nothing."""

import json

import pytest

from audit_example import HOSTILE
from browser.test_audit_page import browser as browser
from browser.test_audit_page import hover, requested, wait
from protect_example import protect_report
from tightlip.report.protect import protect_html


@pytest.fixture(scope="module", params=["plain", "hostile"])
def page(request, browser, tmp_path_factory):
    """The opened report of a harmless table, and of one whose names and values attack the page."""
    path = tmp_path_factory.mktemp("report") / "safe.html"
    report = protect_report(HOSTILE if request.param == "hostile" else "", show_values=True)
    path.write_text(protect_html(report), encoding="utf-8")
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # what earlier pages said
    browser.get(path.as_uri())
    wait(browser, lambda: browser.execute_script("return document.documentElement.dataset.charts") == "drawn")
    return browser, path, report.to_dict()


def test_the_page_works_offline_and_quietly(page):
    browser, path, record = page
    assert browser.find_element("id", "verdict").text == record["verdict"]
    assert "people" in hover(browser, "factors-1")
    assert "detail kept" in hover(browser, "trade-off")
    assert len(browser.find_elements("css selector", "#columns svg .mark-rect path")) == 2
    assert browser.get_log("browser") == []
    assert requested(browser) - {path.as_uri(), "data:,"} == set()


def test_nothing_in_the_table_becomes_markup(page):
    browser, _, record = page
    assert browser.execute_script("return window.harmed") is None
    assert browser.find_elements("css selector", "img, iframe, [onerror], [onload]") == []
    island = browser.execute_script("return document.getElementById('record').textContent")
    assert json.loads(island)["kept"] == record["kept"]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    browser = page[0]
    screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        wait(browser, lambda: browser.execute_script("return document.documentElement.scrollWidth") <= width)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_no_page_break_cuts_a_card(page):
    browser = page[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for part in (".verdict", ".figures div", ".reader", "figure", "tr", "li", "#command"):
            kept = browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map(card => getComputedStyle(card).breakInside)",
                part,
            )
            assert set(kept) == {"avoid"}, part
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
