"""The page without a browser: who is let in, and the whole way from a table to a safe file."""

from __future__ import annotations

import re
import time
import warnings
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from tightlip.errors import InvalidInput
from tightlip.page.app import create_app
from tightlip.page.work import _judge_again
from tightlip.table.plan import planned
from tightlip.table.source import open_table

with warnings.catch_warnings():  # newer versions would rather have httpx2, older ones know httpx alone
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HERE = "http://127.0.0.1:8765"


def write_people(path):
    rows = [
        f"{20 + place % 40},{'mf'[place % 2]},{'ill' if place % 8 == 3 else 'well'}" for place in range(240)
    ]
    path.write_text("\n".join(["age,sex,health", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    write_people(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def app(folder):
    app = create_app(folder)
    yield app
    app.state.sessions.close()


def enter(app):
    client = TestClient(app, base_url=HERE)
    assert client.get(f"/?token={app.state.token}").status_code == 200
    return client


@pytest.fixture
def client(app):
    return enter(app)


def csrf_of(client):
    return re.search(r'data-csrf="([^"]+)"', client.get("/table").text).group(1)


def post(client, to, **fields):
    return client.post(to, data={"csrf": csrf_of(client), **fields})


def settle(client, url, seconds=60):
    """Load an address until no work is under way there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        page = client.get(url)
        if 'id="progress"' not in page.text:
            return page
        time.sleep(0.1)
    raise AssertionError(f"{url} did not end: {page.text}")


def query_of(answer):
    return urlsplit(str(answer.url)).query


STATE = "table=people.csv&secret=health&values%3Ahealth=ill&how%3Aage=bins&size%3Aage=10&how%3Asex=as+is&seconds=1"


def test_whoever_has_no_token_sees_nothing(app):
    stranger = TestClient(app, base_url=HERE)
    for path in ("/", "/table", "/static/page.js", "/job/x", "/?token=wrong", "/do/audit"):
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert "csrf" not in answer.text


def test_the_token_leaves_the_address_for_a_cookie_of_this_page_alone(app):
    client = TestClient(app, base_url=HERE)
    answer = client.get(f"/table?token={app.state.token}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/table"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "//evil.example/%2e%2e"])
def test_the_token_leads_to_no_other_place(app, path):
    client = TestClient(app, base_url=HERE)
    answer = client.get(f"{HERE}{path}?token={app.state.token}", follow_redirects=False)
    assert "evil" not in answer.headers.get("location", "")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1:1", "127.0.0.1.evil.example:8765", ""]
)
def test_other_names_for_this_machine_are_refused(client, host):
    assert client.get("/table", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
    ],
)
def test_requests_of_other_pages_are_refused(client, headers):
    for send in (client.get, client.post):
        assert send("/table", headers=headers).status_code == 403


def test_the_page_itself_may_ask(client):
    assert client.get("/table", headers={"origin": HERE, "sec-fetch-site": "same-origin"}).status_code == 200
    own = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert (
        client.post(
            "/do/table", data={"csrf": csrf_of(client), "path": "people.csv"}, headers=own
        ).status_code
        == 200
    )


@pytest.mark.parametrize(
    "path", ["/do/table", "/do/audit", "/do/file", "/do/values", "/do/cancel/x", "/upload"]
)
def test_a_change_needs_the_forms_own_token(client, path):
    for given in ({}, {"csrf": ""}, {"csrf": "é"}, {"csrf": "wrong"}):
        answer = client.post(path, data={**given, "path": "people.csv"})
        assert answer.status_code in (400, 403)
    assert client.get(path).status_code in (404, 405)


def test_every_answer_has_the_headers(client):
    for path in ("/table", "/static/page.css", "/nothing", f"/budget?{STATE}"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


def test_no_page_has_a_script_or_style_of_its_own(client):
    for step in (
        "table",
        "secret",
        "release",
        "budget",
        "answer",
        "remedy",
        "file",
        "compare",
        "ledger",
        "design",
    ):
        page = settle(client, f"/{step}?{STATE}").text
        assert re.findall(r"<script[^>]*>", page) == ['<script src="/static/page.js" defer>']
        assert "<style" not in page
        assert not re.search(r"\son\w+=|style=|javascript:|https?://(?!www\.w3)", page)


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "link.csv", "sub/link.csv", "", "."]
)
def test_files_outside_the_folder_are_not_reached(tmp_path, name):
    inner = tmp_path / "inner"
    (inner / "sub").mkdir(parents=True)
    write_people(tmp_path / "secret.csv")
    for place in ("link.csv", "sub/link.csv"):
        (inner / place).symlink_to(tmp_path / "secret.csv")
    client = enter(create_app(inner))
    assert "link.csv" not in client.get("/table").text
    answer = post(client, "/do/table", path=name)
    assert answer.status_code == 400
    assert "below the folder" in answer.text
    for setting in ("table", "policy", "ledger"):
        page = client.get("/answer", params={"table": "x.csv", setting: name})
        assert page.status_code in (200, 400)
        assert "240" not in page.text


def test_a_table_outside_the_folder_is_refused_at_the_start(tmp_path):
    from tightlip.errors import InvalidInput

    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InvalidInput, match="below the folder"):
        create_app(inner, str(write_people(tmp_path / "people.csv")))
    with pytest.raises(InvalidInput, match="folder that is there"):
        create_app(tmp_path / "nowhere")


def test_columns_are_listed_with_kinds_and_counts_and_no_values(client):
    page = settle(client, "/table?table=people.csv")
    cells = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))
    assert "age integer 40" in cells
    assert "health text 2" in cells
    assert "240 rows" in cells
    assert "well" not in page.text
    secret = settle(client, "/secret?table=people.csv")
    assert "well" not in secret.text
    post(client, "/do/values", state="table=people.csv", column="health")
    assert "well" in settle(client, "/secret?table=people.csv").text


def test_from_a_table_to_a_safe_file(client, folder):
    state = f"{STATE}&budget=1.5x"
    before = client.get(f"/answer?{state}").text
    assert (
        "tightlip audit people.csv --secret health=ill --release age,sex --bins age=10 --budget 1.5x"
        in unescape(before)
    )
    assert "[release.age]" in before
    answer = post(client, "/do/audit", state=state)
    assert dict(parse_qsl(query_of(answer))) == dict(parse_qsl(state))
    page = settle(client, f"/answer?{state}")
    assert "Do not publish as planned" in page.text
    assert 'class="answer missed"' in page.text
    assert post(client, "/do/file", state=state, file="safe.csv", which="audit").status_code == 400
    post(client, "/do/protect", state=state)
    remedy = settle(client, f"/remedy?{state}", 120)
    assert "of the detail" in remedy.text
    assert 'id="report"' in remedy.text
    post(client, "/do/file", state=state, file="safe.csv", which="protect")
    page = settle(client, f"/file?{state}")
    assert "read back and checked" in page.text
    assert (folder / "safe.csv").read_text().startswith('"age","sex"')
    assert (folder / "safe.csv").stat().st_mode & 0o077 == 0
    assert {path.name for path in folder.iterdir()} == {
        "people.csv",
        "safe.csv",
        "safe.csv.receipt.json",
        "safe.csv.html",
    }
    link = re.search(r'href="(/download/[^"]+/0)"', page.text).group(1)
    got = client.get(link)
    assert got.content == (folder / "safe.csv").read_bytes()
    assert "attachment" in got.headers["content-disposition"]
    assert enter(client.app).get(link).status_code == 404


def test_a_file_is_not_overwritten_unasked(client, folder):
    state = f"{STATE}&budget=20x"
    (folder / "safe.csv").write_text("mine")
    post(client, "/do/audit", state=state)
    assert "Can be published as planned" in settle(client, f"/answer?{state}").text
    post(client, "/do/file", state=state, file="safe.csv", which="audit")
    assert "exists already" in settle(client, f"/file?{state}").text
    assert (folder / "safe.csv").read_text() == "mine"
    post(client, "/do/file", state=state, file="people.csv", which="audit", force="yes")
    assert "would be lost" in settle(client, f"/file?{state}").text
    post(client, "/do/file", state=state, file="safe.csv", which="audit", force="yes")
    assert "Written: safe.csv" in settle(client, f"/file?{state}").text


@pytest.mark.parametrize("name", ["../out.csv", "/tmp/out.csv", "out.exe", ""])
def test_nothing_is_written_outside_the_folder(client, folder, name):
    state = f"{STATE}&budget=20x"
    post(client, "/do/audit", state=state)
    settle(client, f"/answer?{state}")
    assert post(client, "/do/file", state=state, file=name, which="audit").status_code == 400


def test_two_browsers_do_not_see_each_others_work(app):
    one, other = enter(app), enter(app)
    state = f"{STATE}&budget=20x"
    post(one, "/do/audit", state=state)
    page = settle(one, f"/answer?{state}").text
    job = re.search(r'src="/report/([^"]+)"', page).group(1)
    assert one.get(f"/report/{job}").status_code == 200
    for path in (f"/report/{job}", f"/job/{job}"):
        assert other.get(path).status_code == 404
    assert "Can be published" not in other.get(f"/answer?{state}").text
    assert post(other, f"/do/cancel/{job}").status_code == 404
    assert csrf_of(one) != csrf_of(other)


def test_a_report_has_its_own_policy_and_a_sandbox(client):
    state = f"{STATE}&budget=20x"
    post(client, "/do/audit", state=state)
    job = re.search(r'src="/report/([^"]+)"', settle(client, f"/answer?{state}").text).group(1)
    policy = client.get(f"/report/{job}").headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "frame-ancestors 'self'" in policy
    assert "allow-same-origin" not in policy


def test_an_upload_is_private_and_limited(app, client, folder):
    files = {"file": ("../<b>people.csv", (folder / "people.csv").read_bytes())}
    answer = client.post("/upload", data={"csrf": csrf_of(client)}, files=files)
    assert answer.status_code == 200
    assert "240 rows" in settle(client, str(answer.url)).text
    (kept,) = app.state.sessions.root.rglob("*people.csv")
    assert kept.stat().st_mode & 0o077 == 0
    assert "<" not in kept.name
    app.state.most_bytes = 100
    refused = client.post("/upload", data={"csrf": csrf_of(client)}, files=files)
    assert refused.status_code == 400
    assert "at most 100 bytes" in refused.text
    assert len(list(app.state.sessions.root.rglob("*people.csv"))) == 1
    assert client.post("/upload", data={"csrf": "wrong"}, files=files).status_code == 400
    assert (
        client.post("/upload", data={"csrf": csrf_of(client)}, files={"file": ("a.exe", b"x")}).status_code
        == 400
    )
    assert len(list(app.state.sessions.root.rglob("upload-*"))) == 1


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=cmd|' /C calc'!A0",
    "a\nb",
    "50%25",
    "{{7*7}}",
]


def test_a_hostile_table_does_no_harm(tmp_path):
    import pyarrow
    from pyarrow import parquet

    columns = {name: [HOSTILE[place % 6] for place in range(60)] for name in HOSTILE}
    parquet.write_table(pyarrow.table(columns), tmp_path / "odd.parquet")
    client = enter(create_app(tmp_path))
    first = settle(client, "/secret?table=odd.parquet").text
    boxes = [unescape(one) for one in re.findall(r'name="secret" value="([^"]*)"', first)]
    pairs = [("table", "odd.parquet"), ("secret", boxes[3]), ("budget", "3x"), ("seconds", "1")]
    pairs += [(f"how:{one}", "as is") for one in boxes[:3]]
    for step in (
        "table",
        "secret",
        "release",
        "budget",
        "answer",
        "remedy",
        "file",
        "compare",
        "ledger",
        "design",
    ):
        page = client.get(f"/{step}", params=pairs)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "49" not in re.sub(r"\d{3,}|[0-9a-f]{8,}", "", page.text)
    answer = client.post("/do/audit", data=dict([("csrf", csrf_of(client)), *pairs]))
    told = settle(client, str(answer.url)).text
    assert 'id="answer"' in told
    assert "<script>alert" not in told


def test_a_wrong_budget_is_told_where_it_is_given(client):
    page = client.get(f"/budget?{STATE}&budget=3")
    assert "must say what it is" in unescape(page.text)
    assert "A secret of 5 % may become 15 % likely" in client.get(f"/budget?{STATE}&budget=3x").text


def test_a_password_is_nowhere(app, client):
    answer = post(client, "/do/table", database="postgresql://me:hush@127.0.0.1:1/db", sheet="people")
    assert "hush" not in str(answer.url)
    page = settle(client, str(answer.url))
    assert "hush" not in page.text
    assert "postgresql://me:***@127.0.0.1:1/db" in page.text
    assert post(client, "/do/table", database="https://me:hush@x/").status_code == 400
    assert "hush" not in post(client, "/do/table", database="https://me:hush@x/").text
    assert "hush" not in repr(app.state.sessions._known)


def test_a_cancelled_search_keeps_the_best_proved_so_far(client, folder):
    rows = [f"{p % 83},{p % 61},{p % 7},{p * p % 11 % 3}" for p in range(6000)]
    (folder / "large.csv").write_text("\n".join(["a,b,c,s", *rows, ""]))
    state = "table=large.csv&secret=s&how%3Aa=as+is&how%3Ab=as+is&how%3Ac=as+is&budget=1.5x&seconds=300"
    post(client, "/do/protect", state=state)
    page = client.get(f"/remedy?{state}").text
    job = re.search(r'data-job="([^"]+)"', page).group(1)
    until = time.monotonic() + 60
    while "keeps" not in client.get(f"/job/{job}").json()["words"] and time.monotonic() < until:
        time.sleep(0.1)
    post(client, f"/do/cancel/{job}", state=state, back="remedy")
    page = settle(client, f"/remedy?{state}", 60)
    assert "of the detail" in page.text


def test_every_step_answers_without_computing(client):
    """How fast that is, benchmarks/page.py measures."""
    settle(client, f"/release?{STATE}")
    for step in ("table", "secret", "release", "budget", "answer", "remedy", "file"):
        assert client.get(f"/{step}?{STATE}").status_code == 200


def test_plans_are_put_side_by_side(client):
    post(client, "/do/keep", state=f"{STATE}&budget=3x", **{"as": "by tens"})
    state = f"{STATE.replace('=10', '=20')}&budget=3x&against=kept%3Aby+tens"
    post(client, "/do/compare", state=state)
    page = settle(client, f"/compare?{state}").text
    assert "by tens" in page
    assert "this plan" in page
    assert page.count("within budget") + page.count("over budget") == 2


def test_a_change_that_the_audit_found_is_put_beside_the_plan(client):
    state = f"{STATE}&budget=1.5x"
    post(client, "/do/audit", state=state)
    assert 'id="remedies"' in settle(client, f"/answer?{state}").text
    assert post(client, "/do/keep", state=state, remedy="99").status_code == 400
    assert post(client, "/do/keep", state=state, remedy="../1").status_code == 400
    beside = query_of(post(client, "/do/keep", state=state, remedy="1"))
    post(client, "/do/compare", state=beside)
    page = settle(client, f"/compare?{beside}").text
    assert page.count("over budget") >= 1
    assert page.count("within budget") == 1


def test_a_release_is_charged_to_a_ledger(client, folder):
    state = f"{STATE}&budget=4x"
    post(client, "/do/ledger", state=state, file="study.ledger")
    settle(client, f"/ledger?{state}")
    assert (folder / "study.ledger").is_file()
    state = f"{STATE}&ledger=study.ledger"
    for place in (1, 2):
        post(client, "/do/audit", state=state)
        assert 'class="answer met"' in settle(client, f"/answer?{state}").text
        post(client, "/do/file", state=state, file=f"q{place}.csv", which="audit")
        assert f"Written: q{place}.csv" in settle(client, f"/file?{state}").text
    post(client, "/do/account", state=state)
    assert 'id="account"' in settle(client, f"/ledger?{state}").text


def test_a_mechanism_is_designed_for_a_column(client, folder):
    asked = {"column": "sex", "guarantee": "ldp", "level": "log(3)", "utility": "mutual-information"}
    post(client, "/do/design", state="table=people.csv", file="mechanism.json", **asked)
    page = settle(client, "/design?table=people.csv").text
    assert "mechanism.json" in page
    assert (folder / "mechanism.json").is_file()


def test_a_designed_mechanism_is_part_of_a_plan(client, folder):
    asked = {"column": "sex", "guarantee": "ldp", "level": "log(3)", "utility": "mutual-information"}
    post(client, "/do/design", state="table=people.csv", file="mechanism.json", **asked)
    settle(client, "/design?table=people.csv")
    state = "table=people.csv&secret=health&how%3Asex=randomize&size%3Asex=channel+mechanism.json&budget=20x"
    assert "mechanism.json" in client.get(f"/answer?{state}").text
    post(client, "/do/audit", state=state)
    assert "Can be published" in settle(client, f"/answer?{state}").text


def test_a_mechanism_outside_the_folder_is_not_read(client, folder):
    (folder.parent / "other.json").write_text("{}")
    for name in ("../other.json", "/etc/passwd.json", "channel ../other.json", "channel /etc/hostname"):
        page = client.get(
            "/answer",
            params=[*parse_qsl("table=people.csv&secret=health&how:sex=randomize"), ("size:sex", name)],
        )
        assert "below the folder" in page.text


def test_the_trade_off_stands_beside_the_budget(client):
    state = f"{STATE.replace('values', 'ignored')}&budget=1.5x"
    post(client, "/do/protect", state=state, back="budget")
    page = settle(client, f"/budget?{state}", 120)
    assert 'id="curve"' in page.text
    assert "Show this budget" in page.text
    picture = client.get(re.search(r'src="(/picture/[^"]+)"', page.text).group(1))
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert 'id="curve"' in client.get(f"/budget?{state.replace('1.5x', '2x')}").text


SEXES = "table=people.csv&secret=health&how%3Asex=as+is&budget=3x"


@pytest.mark.parametrize("which", ["audit", "protect"])
def test_a_table_that_changed_since_it_was_judged_is_not_written(client, folder, which):
    step = {"audit": "answer", "protect": "remedy"}[which]
    post(client, f"/do/{which}", state=SEXES)
    settle(client, f"/{step}?{SEXES}")
    rows = [f"{20 + place % 40},{'mf'[place % 2]},{('well', 'ill')[place % 2]}" for place in range(240)]
    (folder / "people.csv").write_text("\n".join(["age,sex,health", *rows, ""]), encoding="utf-8")
    post(client, "/do/file", state=SEXES, file="safe.csv", which=which)
    assert "has changed since" in settle(client, f"/file?{SEXES}").text
    assert not (folder / "safe.csv").exists()


@pytest.mark.parametrize("later", ['budget = "100x"\n[release.age]\n', 'budget = "1.01x"\n[release.sex]\n'])
@pytest.mark.parametrize("which", ["audit", "protect"])
def test_a_policy_that_changed_since_it_was_judged_is_not_written(client, folder, which, later):
    state, plan = "table=people.csv&policy=plan.toml", folder / "plan.toml"
    plan.write_text('secret = "health"\nbudget = "3x"\n[release.sex]\n', encoding="utf-8")
    post(client, f"/do/{which}", state=state)
    settle(client, f"/{'answer' if which == 'audit' else 'remedy'}?{state}")
    before = plan.read_text(encoding="utf-8")
    plan.write_text(f'secret = "health"\n{later}', encoding="utf-8")
    answer = post(client, "/do/file", state=state, file="safe.csv", which=which)
    assert answer.status_code == 400
    assert "the plan must be the one that was judged" in answer.text
    plan.write_text(before, encoding="utf-8")
    post(client, "/do/file", state=state, file="safe.csv", which=which)
    settle(client, f"/file?{state}")
    assert (folder / "safe.csv").exists()


@pytest.mark.parametrize(
    "more", ["&min_count=5", "&where=age+%3E+25", "&how%3Aage=bins&size%3Aage=20&budget=9x"]
)
def test_what_was_audited_is_what_is_written(client, folder, more):
    state = SEXES + more
    post(client, "/do/audit", state=state)
    settle(client, f"/answer?{state}")
    post(client, "/do/file", state=state, file="safe.csv", which="audit")
    page = settle(client, f"/file?{state}").text
    assert (folder / "safe.csv").exists(), page


@pytest.mark.parametrize("number", ["9" * 5000, "1" * 19])
def test_numbers_that_nobody_means_are_told(client, number):
    assert client.get(f"/answer?{STATE}&min_count={number}").status_code == 200
    assert client.get(f"/download/x/{number}").status_code == 404
    length = client.post("/do/audit", content=b"", headers={"content-length": number})
    assert length.status_code == 413


def test_a_boundary_that_is_none_is_told(client):
    kind = {"content-type": f"multipart/form-data; boundary={'a' * 5000}"}
    assert client.post("/upload", content=b"x", headers=kind).status_code == 400


def test_an_error_that_should_not_happen_has_the_headers_and_tells_nothing(app, monkeypatch):
    client = TestClient(app, base_url=HERE, raise_server_exceptions=False)
    client.get(f"/?token={app.state.token}")
    monkeypatch.setattr("tightlip.page.pages.TABLES", None)
    answer = client.get("/table")
    assert answer.status_code == 500
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "Traceback" not in answer.text


def test_work_that_waits_is_not_endless(app, client, monkeypatch):
    monkeypatch.setattr("tightlip.page.jobs.Job._run", lambda *_: None)
    answers = [client.get(f"/table?table=people.csv&name=n{place}").status_code for place in range(70)]
    assert answers.count(200) == 64
    assert answers[-1] == 400
    assert enter(app).get("/table?table=people.csv").status_code == 200


def test_rows_whose_counts_are_not_known_are_audited_again(folder):
    with open_table(folder / "people.csv") as table:
        _judge_again(table, planned("health", ["sex"], budget="3x"))
        with pytest.raises(InvalidInput, match="has changed since it was audited"):
            _judge_again(table, planned("health", ["age"], budget="1.5x"))
