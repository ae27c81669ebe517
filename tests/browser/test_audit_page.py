"""The audit's page in a real browser: it shows the headline, answers the mouse, and loads nothing."""

import json
import os
import shutil

import pytest

from audit_example import HOSTILE, example_report
from tightlip.report.audit_html import audit_html

SWITCHES = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1280,1000",
]


def required(program, package):
    found = shutil.which(program)
    if found is None:
        missing = f"needs {program} (Debian: apt-get install {package})"
        without = os.environ.get("TIGHTLIP_NO_BROWSER")  # .ci/run sets it where none can be installed
        pytest.fail(missing) if os.environ.get("CI") == "true" and not without else pytest.skip(missing)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = required("chromium", "chromium"), required("chromedriver", "chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield session
    session.quit()


@pytest.fixture(scope="module", params=["plain", "hostile"])
def page(request, browser, tmp_path_factory):
    """The opened report of a harmless table, and of one whose names and values attack the page."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    report = example_report(text=HOSTILE if request.param == "hostile" else "")
    path.write_text(audit_html(report), encoding="utf-8")
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # what earlier pages said
    browser.get(path.as_uri())
    wait(browser, lambda: browser.execute_script("return document.documentElement.dataset.charts") == "drawn")
    return browser, path, report.to_dict()


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30).until(lambda _: condition())


def test_the_page_works_offline_and_quietly(page):
    browser, path, record = page
    for name, words in {"headline": record["headline"], "verdict": record["verdict"]["words"]}.items():
        assert browser.find_element("id", name).text == words
    tooltips = [hover(browser, chart) for chart in ("tail-1", "envelope-1")]
    assert "chance of a larger leak" in tooltips[0]
    assert "leakage ε" in tooltips[1]
    assert browser.get_log("browser") == []
    assert requested(browser) - {path.as_uri(), "data:,"} == set()


def test_nothing_in_the_table_becomes_markup(page):
    browser, _, record = page
    assert browser.execute_script("return window.harmed") is None
    assert browser.find_elements("css selector", "img, iframe, b, [onerror], [onload]") == []
    island = browser.execute_script("return document.getElementById('record').textContent")
    assert json.loads(island)["headline"] == record["headline"]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    browser = page[0]
    screen = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        wait(browser, lambda: browser.execute_script("return document.documentElement.scrollWidth") <= width)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_shows_what_to_change_in_whole_lines(page):
    browser = page[0]
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        widths = browser.execute_script(
            "return [...document.querySelectorAll('td.text details')].map(part => part.offsetWidth)"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert widths
    assert min(widths) > 300


def test_no_page_break_cuts_a_card(page):
    browser = page[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for part in (".verdict", ".figures div", "figure", "tr", "li", "#command"):
            kept = browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map(card => getComputedStyle(card).breakInside)",
                part,
            )
            assert set(kept) == {"avoid"}, part
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def hover(browser, chart):
    """Move the mouse over a point of a chart and return what the tooltip says."""
    from selenium.webdriver.common.action_chains import ActionChains

    point = browser.find_elements("css selector", f"#{chart} .mark-symbol.role-mark path")[1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    tooltip = "return (document.querySelector('#vg-tooltip-element.visible') || {}).innerText || ''"
    wait(browser, lambda: browser.execute_script(tooltip))
    return browser.execute_script(tooltip)


def requested(browser):
    """Every address the page asked for; the browser's own pages (chrome://) may still be loading."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    return {address for address in sent if not address.startswith("chrome")}
