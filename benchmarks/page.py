"""The page over a table of ten million rows: every step while nothing is computed, and the first picture of it.

Claim: a step answers within 200 ms, whatever the size of the table, for what is counted is counted elsewhere.
"""

import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

from benchmarks.timing import best_times

ROWS = 10_000_000
STEPS = ("table", "secret", "release", "budget", "answer", "remedy", "file", "compare", "ledger", "design")
SAID = "table=large.parquet&secret=health&how%3Aage=bins&size%3Aage=10&how%3Asex=as+is&budget=3x"
PAINT = """
const [page] = performance.getEntriesByType('navigation');
const found = performance.getEntriesByName('first-contentful-paint')[0];
return found ? [page.responseStart, found.startTime] : null;
"""


def write_large(path: Path, rows: int) -> None:
    """People with age, sex, place and health, made by DuckDB without ever being in memory as a whole."""
    import duckdb

    duckdb.sql(
        f"""copy (select (18 + hash(i) % 70)::int as age, if(hash(i + 1) % 2 = 0, 'f', 'm') as sex,
        (hash(i + 2) % 1000)::int as place, if(hash(i + 3) % 20 = 0, 'ill', 'well') as health
        from range({rows}) as made(i)) to '{path}' (format parquet)"""
    )


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve the page from a thread."""
    import uvicorn

    listener = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio sends small answers at once only then
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def get(client: Any, path: str) -> str:
    answer = client.get(path)
    answer.raise_for_status()
    return str(answer.text)


def settle(client: Any, path: str) -> float:
    """Seconds until no work is under way at an address."""
    began = time.perf_counter()
    while 'id="progress"' in get(client, path):
        time.sleep(0.05)
    return time.perf_counter() - began


def first_paints(base: str, token: str, stack: ExitStack) -> dict[str, float] | None:
    """Seconds from asking to the first picture of each step in Chromium; None where there is no browser."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None or find_spec("selenium") is None:
        return None
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
        options.add_argument(switch)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    stack.callback(browser.quit)
    found = {}
    browser.get(f"{base}/?token={quote(token)}")
    for step in STEPS:
        browser.get(f"{base}/{step}?{SAID}")
        time.sleep(0.3)
        found[step] = (browser.execute_script(PAINT) or [0, float("nan")])[1] / 1000
    return found


def main(rows: int = ROWS) -> None:
    import httpx

    from tightlip.page.app import create_app

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_large(folder / "large.parquet", rows)
        app = create_app(folder)
        base = stack.enter_context(serving(app))
        client = stack.enter_context(httpx.Client(base_url=base, follow_redirects=True, timeout=600))
        client.get("/", params={"token": app.state.token})
        began = time.perf_counter()
        client.get(f"/table?{SAID}")
        first = time.perf_counter() - began
        counted = settle(client, f"/table?{SAID}")
        csrf = re.search(r'data-csrf="([^"]+)"', client.get("/table").text)
        assert csrf is not None
        client.post("/do/audit", data={"csrf": csrf.group(1), "state": SAID})
        while_busy = best_times({step: partial(get, client, f"/{step}?{SAID}") for step in STEPS}, 1)
        audited = settle(client, f"/answer?{SAID}")
        times = best_times({step: partial(get, client, f"/{step}?{SAID}") for step in STEPS}, 5)
        paints = first_paints(base, app.state.token, stack)
    print(f"page over {rows:,} rows: the first answer after {1000 * first:.1f} ms, columns counted after")
    print(f"  {counted:.1f} s and the plan audited {audited:.1f} s later, both elsewhere")
    for step in STEPS:
        paint = "" if paints is None else f", first paint {1000 * paints[step]:.1f} ms"
        print(
            f"  {step}: {1000 * times[step]:.1f} ms, {1000 * while_busy[step]:.1f} ms during an audit{paint}"
        )
    worst = max(times.values())
    print(f"  slowest step: {worst / 0.2:.2f} times 200 ms (claim: at most 1)")


if __name__ == "__main__":
    main()
