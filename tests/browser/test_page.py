"""The page in a real browser: from a table to a safe file, by mouse or keys, on any screen, and all from here."""

import csv
import os
import random
import socket
import time
from base64 import b64decode
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import pytest

from audit_example import HOSTILE
from browser.test_audit_page import CUT_TEXTS, DARK, requested, screen_of, wait
from browser.test_audit_page import browser as browser
from contract.warnings_of_engines import IGNORED
from tightlip.page.app import create_app

pytestmark = IGNORED

STEPS = ("table", "secret", "release", "budget", "answer", "remedy", "file", "compare", "ledger", "design")
FORMULA = "=cmd|' /C calc'!A0\n\"><img src=x onerror=window.harmed=3>"
UNNAMED = """
const name = one => [...one.labels || []].map(label => label.innerText).join('')
  || one.getAttribute('aria-label') || one.getAttribute('title') || one.alt
  || (one.matches('button, a, summary') ? one.textContent : '');
const named = 'input:not([type=hidden]), select, textarea, button, a, iframe, progress, meter, summary, img';
return [...document.querySelectorAll(named)].filter(one => !name(one).trim()).map(one => one.outerHTML.slice(0, 120));
"""
CONTROLS = """
return [...document.querySelectorAll('a[href], button, input, select, summary, pre[tabindex="0"], iframe')]
  .filter(one => one.type !== 'hidden' && !one.disabled && one.checkVisibility())
  .filter(one => one.type !== 'radio' || one.checked)
  .map(one => (one.dataset.stop = one.dataset.stop || String(Math.random()), one.dataset.stop));
"""
FOCUSED = """
const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
return {stop: one.dataset.stop || '', tag: one.tagName, text: one.outerHTML.slice(0, 80),
  outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
  seen: box.width > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight};
"""
CONTRAST = """
const parse = text => {
  const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number);
  return [r, g, b, a === undefined ? 1 : a];
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * x + .7152 * y + .0722 * z;
};
const behind = one => {
  for (; one; one = one.parentElement) {
    const color = parse(getComputedStyle(one).backgroundColor);
    if (color[3] === 1) return color;
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
};
const low = [];
let count = 0;
for (const one of document.querySelectorAll('body *')) {
  const own = [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !one.checkVisibility() || one.closest(':disabled, option, datalist')) continue;
  const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  count += 1;
  if (ratio < 4.5) low.push([ratio.toFixed(2), one.tagName, one.textContent.trim().slice(0, 40)]);
}
return [count, low];
"""
WIDE = """
return [...document.querySelectorAll('body *')]
  .filter(one => one.checkVisibility() && !one.closest('.hidden, .skip, thead'))
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.outerHTML.slice(0, 100));
"""


def write_people(path):
    """People of whom some are ill: with age and sex, the plan of which gives away more than three times."""
    draw = random.Random(5)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "sex", "town", "health"])
        for place in range(240):
            age = 20 + place % 40
            health = "ill" if draw.random() < (0.6 if age > 52 else 0.08) else "well"
            rows.writerow([age, "fm"[place % 2], draw.choice(["Ely", "Rye", "Wem"]), health])


def write_hostile(path):
    """The same with names and values that attack pages, spreadsheets and forms."""
    import pyarrow
    from pyarrow import parquet

    places, values = range(60), [f"ill{HOSTILE}", FORMULA]
    columns = {
        f"age{HOSTILE}": [20 + place % 4 for place in places],
        FORMULA: [f"{'fm'[place % 2]}{FORMULA}{HOSTILE}" for place in places],
        "a%0Ab:c&d=<b>": ["{{7*7}}", "=A1<script>window.harmed=4</script>"] * 30,
        f"health{HOSTILE}": [values[place % 4 == 3 or place % 7 == 0] for place in places],
    }
    parquet.write_table(pyarrow.table(columns), path)


@contextmanager
def serving(app):
    """Serve an app to this machine from a thread; gives its address."""
    import uvicorn

    listener = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio sends small answers at once only then
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


class Visit:
    """A browser at the page."""

    def __init__(self, browser, base, app, folder):
        self.browser, self.base, self.app, self.folder = browser, base, app, folder

    def enter(self):
        """Begin as a browser that was never here."""
        self.browser.get("about:blank")
        self.browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
        for kind in ("browser", "performance"):
            self.browser.get_log(kind)
        self.browser.get(f"{self.base}/?token={self.app.state.token}")
        return self

    def one(self, css):
        return self.browser.find_element("css selector", css)

    def all(self, css):
        return self.browser.find_elements("css selector", css)

    def run(self, script, *given):
        return self.browser.execute_script(script, *given)

    def wait(self, script):
        wait(self.browser, lambda: self.run(f"return document.readyState === 'complete' && {script}"))

    def settle(self):
        """Wait until the page follows no work."""
        self.wait("!document.getElementById('progress')")

    def click(self, css):
        """Click what leads to another page, and wait for it."""
        self.run("window.left = true; document.querySelector(arguments[0]).scrollIntoView()", css)
        self.one(css).click()
        self.wait("!window.left")

    def go(self, path):
        self.browser.get(self.base + path)
        return self

    def open(self, name):
        """Choose a file in the first step."""
        field = self.one("#path")
        field.clear()
        field.send_keys(name)
        self.click("#choose-file button")
        self.wait("document.querySelector('#columns') && !document.getElementById('progress')")

    @property
    def step(self):
        return urlsplit(self.browser.current_url).path.strip("/")

    @property
    def query(self):
        return urlsplit(self.browser.current_url).query

    @property
    def said(self):
        return dict(parse_qsl(self.query))

    def errors(self):
        return self.browser.get_log("browser")

    def foreign(self):
        """Addresses other than those of the page that were asked for."""
        return {
            one for one in requested(self.browser) if not one.startswith((f"{self.base}/", "data:", "about:"))
        }

    def picture(self, name):
        """Keep pictures where TIGHTLIP_PICTURES names a folder: of a screen and a phone, light and dark."""
        folder = os.environ.get("TIGHTLIP_PICTURES")
        if not folder:
            return
        place = (
            "const one = document.querySelector('label[for=path]'); if (one) one.textContent = arguments[0]"
        )
        self.run(place, "File, below /home/ana/study")
        for width in (1280, 390):
            for color in ("light", "dark"):
                with looking(self, features=DARK if color == "dark" else []), screen_of(self.browser, width):
                    self.run("scrollTo(0, 0); document.activeElement.blur()")
                    height = self.run("return document.documentElement.scrollHeight")
                    with screen_of(self.browser, width, min(height, 1700)):
                        time.sleep(0.5)  # charts of a report are drawn anew
                        asked = {"format": "webp", "quality": 80}
                        made = self.browser.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]
                path = Path(folder) / f"page-{name}{'' if width > 600 else '-phone'}-{color}.webp"
                path.write_bytes(b64decode(made))


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("folder")
    write_people(folder / "people.csv")
    write_hostile(folder / "odd.parquet")
    app = create_app(folder)
    with serving(app) as base:
        yield Visit(browser, base, app, folder)


@pytest.fixture
def visit(served):
    return served.enter()


@pytest.fixture(scope="module", params=["plain", "hostile"])
def worked(request, served):
    """The whole way from the first step to a file, by the mouse; then the query it ended with."""
    plain = request.param == "plain"
    visit, out = served.enter(), f"safe-{request.param}.csv"
    picture = visit.picture if plain else lambda name: None
    assert visit.step == "table"
    visit.open("people.csv" if plain else "odd.parquet")
    picture("table")
    visit.click("#next")
    visit.settle()
    secret, others = visit.all("input[name=secret]")[3], 3
    secret.click()
    assert secret.is_selected()
    visit.run("document.querySelector('#column').selectedIndex = 3")
    visit.click("#show-values")
    visit.settle()
    shown = visit.one("#values table").text
    assert visit.all("input[name=secret]")[3].is_selected()
    if plain:
        visit.all("#secrets tbody tr")[3].find_element("css selector", "input[name^=values]").send_keys("ill")
    picture("secret")
    visit.click("#next")
    visit.settle()
    assert len(visit.all("#released tbody tr")) == others
    for place, row in enumerate(visit.all("#released tbody tr")):
        how = "bins" if place == 0 and plain else "as is"
        row.find_element("css selector", f"option[value='{how}']").click()
        if how == "bins":
            row.find_element("css selector", "input[name^=size]").send_keys("5")
    picture("release")
    visit.click("#next")
    field = visit.one("#budget")
    field.clear()
    field.send_keys("2x")
    visit.one("#seconds").send_keys("1")
    visit.click("#next")
    visit.click("#run")
    visit.wait("document.querySelector('#answer')")
    visit.settle()
    answer = visit.one("#answer").text
    picture("answer")
    query = visit.query
    visit.go(f"/remedy?{query}").click("#run")
    visit.wait("document.querySelector('#answer')")
    visit.settle()
    picture("remedy")
    visit.go(f"/budget?{query}")
    picture("budget")
    visit.go(f"/remedy?{query}").click("#next")
    visit.one("#file").clear()
    visit.one("#file").send_keys(out)
    visit.click("#write")
    visit.wait("document.querySelector('#written')")
    picture("file")
    told = {"answer": answer, "values": shown, "written": visit.one("#written").text}
    logs = {"errors": visit.errors(), "foreign": visit.foreign()}
    for step in ("compare", "ledger", "design"):
        visit.go(f"/{step}?{query}")
        visit.settle()
        picture(step)
    return visit, query, visit.folder / out, told | logs


def test_from_a_table_to_a_safe_file(worked):
    _, _, out, told = worked
    assert "publish" in told["answer"]
    assert "read back and checked" in told["written"]
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) > 20
    assert len(rows[0]) == 3
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]
    assert "ill" in told["values"]
    assert told["errors"] == []
    assert told["foreign"] == set()


def test_nothing_in_the_table_becomes_markup(worked):
    visit, query, _, _ = worked
    visit.errors()
    for step in STEPS:
        visit.go(f"/{step}?{query}")
        visit.settle()
        assert visit.run("return window.harmed") is None
        assert visit.all("img:not([src^='/']), b, [onerror], [onload], script:not([src])") == []
        assert not visit.run("return document.body.innerText.match(/(^|[^0-9])49([^0-9]|$)/) !== null"), step
    assert visit.errors() == []
    assert visit.foreign() == set()


def test_the_report_in_its_frame_draws_and_stays_there(worked):
    visit, query, _, _ = worked
    for step in ("answer", "remedy"):
        visit.go(f"/{step}?{query}")
        visit.browser.switch_to.frame(visit.one("#report"))
        try:
            visit.wait("document.documentElement.dataset.charts === 'drawn'")
            assert visit.run("return window.harmed") is None
            assert visit.run("return window.origin") == "null"
            assert visit.run("try { return parent.document.title } catch { return '' }") == ""
        finally:
            visit.browser.switch_to.default_content()
    assert visit.errors() == []


def test_steps_back_and_forth_and_a_reload_keep_what_was_said(worked):
    visit, query, _, _ = worked
    said = sorted(parse_qsl(query))
    for step in ("table", "secret", "release", "budget", "answer", "remedy", "file"):
        visit.click(f"#step-{step}")
        visit.settle()
        assert visit.step == step
        assert sorted(parse_qsl(visit.query)) == said
    visit.browser.back()
    visit.browser.refresh()
    assert visit.step == "remedy"
    assert visit.all("#answer")
    for step in ("secret", "release", "budget", "answer"):
        visit.go(f"/{step}?{query}")
        visit.settle()
        if step != "answer":
            visit.click("#next")
            visit.settle()
            assert sorted(parse_qsl(visit.query)) == said
    assert visit.all("#answer")


def test_every_control_has_a_name(worked):
    visit, query, _, _ = worked
    for step in STEPS:
        visit.go(f"/{step}?{query}")
        visit.settle()
        assert visit.run(UNNAMED) == [], step
        assert len(visit.all("h1")) == 1
        assert visit.run("return document.documentElement.lang") == "en"
        ids = visit.run("return [...document.querySelectorAll('[id]')].map(one => one.id)")
        assert len(ids) == len(set(ids)), step


@pytest.mark.parametrize("color", ["light", "dark"])
def test_text_stands_out_from_its_ground(worked, color):
    visit, query, _, _ = worked
    with looking(visit, features=DARK if color == "dark" else []):
        for step in STEPS:
            visit.go(f"/{step}?{query}")
            visit.settle()
            count, low = visit.run(CONTRAST)
            assert count > 10
            assert low == [], step
        ground = visit.run("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground.strip("rgb()").split(", "))) < 200) == (color == "dark")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(worked, width):
    visit, query, _, _ = worked
    with screen_of(visit.browser, width):
        for step in STEPS:
            visit.go(f"/{step}?{query}")
            visit.settle()
            assert visit.run("return document.documentElement.scrollWidth") <= width, step
            assert visit.run(WIDE) == [], step
            assert visit.run(CUT_TEXTS) == [], step


def test_paper_has_the_answer_and_no_buttons(worked):
    visit, query, _, _ = worked
    with looking(visit, media="print", features=DARK):
        for step in ("answer", "remedy", "file"):
            visit.go(f"/{step}?{query}")
            shown = "return [...document.querySelectorAll(arguments[0])].filter(one => one.checkVisibility()).length"
            assert visit.run(shown, "nav, button, iframe, footer") == 0
            assert visit.run(shown, "h1, section.answer") >= 2
            kept = "return [...document.querySelectorAll('tr, .answer')].map(one => getComputedStyle(one).breakInside)"
            assert set(visit.run(kept)) == {"avoid"}
            colors = (
                "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
            )
            assert visit.run(colors) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]


def test_the_tab_key_reaches_every_control_and_shows_where_it_is(worked):
    visit, query, _, _ = worked
    for step in STEPS:
        visit.go(f"/{step}?{query}")
        visit.settle()
        visit.run("for (const one of document.querySelectorAll('iframe')) one.remove()")  # a page of its own
        visit.run("for (const one of document.querySelectorAll('details')) one.open = true")
        expected = visit.run(CONTROLS)
        reached = []
        for _ in range(len(expected) + 5):
            press(visit.browser, "TAB")
            at = visit.run(FOCUSED)
            if at["tag"] == "BODY" or at["stop"] in reached:
                break
            reached.append(at["stop"])
            assert at["outlined"], (step, at)
            assert at["seen"], (step, at)
        assert reached == expected, step


def test_keys_alone_lead_from_the_table_to_the_answer(visit):
    tab_to(visit, "#path")
    press(visit.browser, "people.csv", "ENTER")
    visit.wait("document.querySelector('#columns')")
    visit.settle()
    for step, css in (("table", "#next"), ("secret", "[name=secret][value=health]")):
        assert visit.step == step
        tab_to(visit, css)
        press(visit.browser, "ENTER" if css == "#next" else "SPACE")
        visit.wait("location.pathname === '/secret'")
        visit.settle()
    press(visit.browser, "ENTER")
    visit.wait("location.pathname === '/release' && document.querySelector('#released')")
    visit.settle()
    tab_to(visit, "select[name='how:sex']")
    press(visit.browser, "as", "TAB", "ENTER")
    visit.wait("location.pathname === '/budget'")
    tab_to(visit, "#slider")
    words = visit.one("#budget-words").text
    press(visit.browser, "ARROW_RIGHT")
    assert visit.one("#budget-words").text != words
    assert visit.one("#slider").get_attribute("aria-valuetext") == visit.one("#budget-words").text
    budget = visit.one("#budget").get_attribute("value")
    press(visit.browser, "TAB", "ENTER")
    visit.wait("location.pathname === '/answer'")
    assert visit.said == {"table": "people.csv", "secret": "health", "how:sex": "as is", "budget": budget}
    tab_to(visit, "#run")
    press(visit.browser, "ENTER")
    visit.wait("document.querySelector('#answer')")
    assert "health" in visit.one("#answer").text
    assert visit.errors() == []


def test_what_was_not_sent_yet_goes_along(visit):
    visit.go("/secret?table=people.csv")
    visit.wait("document.querySelector('#secrets')")
    visit.settle()
    visit.one("[name=secret][value=health]").click()
    visit.one("[name='values:health']").send_keys("ill")
    visit.click("#step-release")
    assert visit.said == {"table": "people.csv", "secret": "health", "values:health": "ill"}
    visit.one("[name='how:age'] option[value=bins]").click()
    visit.one("[name='size:age']").send_keys("10")
    visit.click("#step-secret")
    assert visit.said["size:age"] == "10"
    assert visit.one("[name=secret][value=health]").is_selected()


def test_what_was_said_while_columns_are_counted_is_kept(visit):
    sessions = visit.app.state.sessions
    with sessions.turns.short, sessions.turns.short:  # nobody counts meanwhile
        visit.go("/secret?table=people.csv")
        (cookie,) = visit.browser.get_cookies()
        (job,) = sessions.find(cookie["value"]).jobs.values()
        job.found["columns"] = ["age", "sex", "town", "health"]
        visit.browser.refresh()
        assert visit.all("#progress")
        visit.one("[name=secret][value=health]").click()
    visit.settle()
    assert visit.said == {"table": "people.csv", "secret": "health"}
    assert visit.one("[name=secret][value=health]").is_selected()


def test_work_is_cancelled(visit):
    rows = [f"{p % 83},{p % 61},{p % 7},{p * p % 11 % 3}" for p in range(6000)]
    (visit.folder / "large.csv").write_text("\n".join(["a,b,c,s", *rows, ""]), encoding="utf-8")
    said = "table=large.csv&secret=s&how%3Aa=as+is&how%3Ab=as+is&how%3Ac=as+is&budget=1.5x&seconds=300"
    visit.go(f"/remedy?{said}").click("#run")
    assert visit.all("#progress")
    visit.wait("document.querySelector('#progress-words').textContent.length > 0")
    visit.browser.refresh()
    assert visit.one("#progress progress").is_displayed()
    while visit.all("#cancel"):  # twice ends it at once
        visit.click("#cancel")
    assert sorted(parse_qsl(visit.query)) == sorted(parse_qsl(said))
    visit.settle()
    assert visit.all("#run")
    assert visit.errors() == []


def test_two_tabs_keep_their_work_apart(visit):
    plans = {"sex": "budget=20x&how%3Asex=as+is", "age": "budget=1.1x&how%3Aage=as+is"}
    common = "table=people.csv&secret=health"
    tabs, answers = {visit.browser.current_window_handle: "sex"}, {}
    try:
        visit.browser.switch_to.new_window("tab")
        tabs[visit.browser.current_window_handle] = "age"
        for tab, name in tabs.items():
            visit.browser.switch_to.window(tab)
            visit.go(f"/answer?{common}&{plans[name]}").click("#run")
        for tab, name in tabs.items():
            visit.browser.switch_to.window(tab)
            visit.wait("document.querySelector('#answer')")
            answers[name] = visit.one("#answer").text
            assert f"how:{name}" in visit.said
    finally:
        first, second = tabs
        visit.browser.switch_to.window(second)
        visit.browser.close()
        visit.browser.switch_to.window(first)
    assert "Can be published as planned" in answers["sex"]
    assert "Do not publish as planned" in answers["age"]


def test_a_table_that_is_gone_is_told(visit):
    path = visit.folder / "passing.csv"
    write_people(path)
    visit.open("passing.csv")
    said = "table=passing.csv&secret=health&how%3Asex=as+is&budget=3x"
    visit.go(f"/answer?{said}")
    path.unlink()
    visit.click("#run")
    visit.wait("document.querySelector('#problem')")
    words = visit.one("#problem").text
    assert "passing.csv" in words
    assert "Traceback" not in visit.browser.page_source
    assert "should not happen" not in words
    for step in STEPS:
        visit.go(f"/{step}?{said}")
        visit.settle()
        assert visit.all("h1")
        assert "Internal" not in visit.browser.page_source


def test_a_table_that_was_never_there_is_told(visit):
    visit.go("/secret?table=nowhere.csv")
    visit.wait("document.querySelector('#problem')")
    assert "nowhere.csv" in visit.one("#problem").text
    assert str(visit.folder) not in visit.one("#problem").text
    visit.go("/nothing")
    assert visit.one("#problem").text == "nothing is here."


def test_a_database_that_is_gone_is_told_without_its_password(visit):
    visit.one("#database").send_keys("postgresql://me:hush@127.0.0.1:1/people")
    visit.one("#database-table").send_keys("patients")
    visit.click("#choose-database button")
    visit.wait("document.querySelector('#problem')")
    assert 'Postgres database "people" cannot be reached' in visit.one("#problem").text
    assert "hush" not in visit.browser.page_source + visit.browser.current_url


def test_a_file_is_taken_from_elsewhere(visit, tmp_path):
    write_people(tmp_path / "mine.csv")
    visit.one("#file").send_keys(str(tmp_path / "mine.csv"))
    visit.click("#upload button")
    visit.wait("document.querySelector('#columns')")
    visit.settle()
    assert "240 rows" in visit.one("main").text
    assert str(tmp_path) not in visit.browser.page_source
    assert visit.errors() == []
    visit.go("/table")
    (tmp_path / "odd.exe").write_bytes(b"MZ")
    visit.one("#file").send_keys(str(tmp_path / "odd.exe"))
    visit.one("#upload button").click()
    visit.wait("document.querySelector('#upload-words').textContent.includes('.csv')")


@contextmanager
def looking(visit, **media):
    """Look at the page in dark colours, or on paper."""
    visit.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        yield
    finally:
        visit.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        ActionChains(browser).send_keys(getattr(Keys, key, key)).perform()


def tab_to(visit, css):
    """Press Tab until something has the focus."""
    for _ in range(60):
        press(visit.browser, "TAB")
        if visit.run("return document.activeElement.matches(arguments[0])", css):
            return
    raise AssertionError(f"{css} is not reached")
