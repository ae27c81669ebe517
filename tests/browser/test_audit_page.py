"""The audit's page in a real browser: it shows the headline, answers the mouse, and loads nothing."""

import json
import os
import shutil
from contextlib import contextmanager

import pytest

from audit_example import HOSTILE, example_report
from tightlip.report.amounts import printable
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

DARK = [{"name": "prefers-color-scheme", "value": "dark"}]
CUT_CHARTS = """
return [...document.querySelectorAll('.chart')].filter(chart => {
  const place = chart.getBoundingClientRect();
  return place.width && [...chart.querySelectorAll('svg text')].some(text => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < place.left - 1 || box.right > place.right + 1);
  });
}).map(chart => chart.id);
"""
CUT_TEXTS = """
return [...document.querySelectorAll('h1, h2, h3, p, li, dt, dd, td, th, figcaption, summary, pre')]
  .filter(part => part.offsetWidth && part.scrollWidth > part.clientWidth + 1 && part.clientWidth)
  .map(part => part.textContent.slice(0, 60));
"""
FOLDED = """
return [...document.querySelectorAll('details:not(.proof) > :not(summary)')]
  .filter(part => !part.checkVisibility({contentVisibilityAuto: true}) || !part.getBoundingClientRect().height)
  .map(part => part.outerHTML.slice(0, 80));
"""


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
    return browser, path, printable(report).to_dict()


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


def test_people_columns_and_changes_answer_the_mouse(page):
    browser, _, record = page
    bars = browser.find_elements("css selector", "#people-1 .mark-rect.role-mark path")
    assert len(bars) >= len([bar for bar in record["views"][0]["by_factor"] if bar["people"]["count"]])
    assert "information kept" in hover(browser, "remedies")
    assert "people" in hover(browser, "people-1", ".mark-rect.role-mark path")
    assert "leakage" in hover(browser, "heat-1", ".mark-rect.role-mark path")


def test_nothing_in_the_table_becomes_markup(page):
    browser, _, record = page
    assert browser.execute_script("return window.harmed") is None
    assert browser.find_elements("css selector", "img, iframe, b, [onerror], [onload]") == []
    island = browser.execute_script("return document.getElementById('record').textContent")
    assert json.loads(island)["headline"] == record["headline"]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(page, width):
    browser = page[0]
    with screen_of(browser, width):
        wait(browser, lambda: browser.execute_script("return document.documentElement.scrollWidth") <= width)


@pytest.mark.parametrize("width", [390, 1280])
def test_every_chart_fills_its_place_and_cuts_no_text(page, width):
    browser = page[0]
    with screen_of(browser, width):
        browser.execute_script("window.dispatchEvent(new Event('resize'))")
        wait(browser, lambda: not browser.execute_script(CUT_CHARTS))
        sizes = browser.execute_script(
            "return [...document.querySelectorAll('.chart svg')].map(one => [one.clientWidth, one.clientHeight])"
        )
    assert sizes
    assert all(across > 250 and down > 100 for across, down in sizes), sizes


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_is_cut(page, width):
    browser = page[0]
    with screen_of(browser, width):
        assert browser.execute_script(CUT_TEXTS) == []


def test_a_phone_stacks_tables(page):
    browser = page[0]
    with screen_of(browser, 390):
        shown = browser.execute_script(
            "return [...document.querySelectorAll('table.stack tbody tr')].map(row => getComputedStyle(row).display)"
        )
    assert set(shown) <= {"block", "grid"}


def test_a_phone_shows_what_to_change_in_whole_lines(page):
    browser = page[0]
    with screen_of(browser, 390):
        widths = browser.execute_script(
            "return [...document.querySelectorAll('td.text details')].map(part => part.offsetWidth)"
        )
    assert widths
    assert min(widths) > 300


def test_no_page_break_cuts_a_card(page):
    browser = page[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for part in (".answer", ".advice", ".figures div", "figure", "tr", "li", "#command"):
            kept = browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map(card => getComputedStyle(card).breakInside)",
                part,
            )
            assert set(kept) == {"avoid"}, part
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_on_paper_everything_is_open_and_white(page):
    browser = page[0]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": DARK})
    try:
        wait(browser, lambda: browser.execute_script(FOLDED) == [])
        colors = browser.execute_script(
            "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert colors == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


def test_printing_opens_what_is_folded_and_folds_it_again(page):
    browser = page[0]
    count = "return document.querySelectorAll('details[open]').length"
    before = browser.execute_script(count)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    closed = browser.execute_script("return document.querySelectorAll('details:not([open], .proof)').length")
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert closed == 0
    assert browser.execute_script(count) == before


def test_several_secrets_fold_and_a_chart_of_a_folded_one_has_its_size(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(audit_html(example_report(secrets=2, show_values=False)), encoding="utf-8")
    browser.get(path.as_uri())
    wait(browser, lambda: browser.execute_script("return document.documentElement.dataset.charts") == "drawn")
    parts = browser.find_elements("css selector", "details.secret")
    assert [part.get_attribute("open") is not None for part in parts] == [True, False]
    parts[1].find_element("css selector", "summary").click()
    size = "return document.querySelector('#tail-2 svg').clientWidth"
    wait(browser, lambda: browser.execute_script(size) > 250)


@contextmanager
def screen_of(browser, width, height=844):
    """A screen of some width, a phone where it is narrow."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def hover(browser, chart, marks=".mark-symbol.role-mark path"):
    """Move the mouse over a mark of a chart and return what the tooltip says."""
    from selenium.webdriver.common.action_chains import ActionChains

    point = browser.find_elements("css selector", f"#{chart} {marks}")[1]
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
