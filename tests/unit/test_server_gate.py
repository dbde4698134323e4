"""What every request passes first, and what every answer carries."""

from __future__ import annotations

import logging
import re
import time

import pytest

from skelgen.server import routes
from skelgen.server.gate import Gate
from skelgen.server.replies import HEADERS, SCRIPT_POLICY
from skelgen.server.routes import ROUTES
from tests.visitors import BASE, NAME, fill, serve

#: What a page has that a script helps: a file of ours, and nothing in the page.
HELPED = '<script src="/script.js" defer></script>'
#: Its page has its own script and style within it, allowed by their hashes.
RECORDING = "/runs/{identity}/recording"
POLICY = "content-security-policy"
_HASH = r"'sha256-[A-Za-z0-9+/]{43}='"
OWN_BY_HASH = re.compile(
    f"default-src 'none'; script-src {_HASH}; style-src {_HASH}; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
PATHS = sorted({one.path for one in ROUTES} | {"/enter", "/nothing", "/api/nothing"})


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    found = tmp_path_factory.mktemp("served") / "store.db"
    fill(found)
    return found


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil.example:8642",
        f"evil.example@{NAME}",
        f"{NAME}.evil.example",
        f"{NAME},evil.example",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/health", "/runs", "/enter?token=x", "/api/runs"])
def test_a_name_that_is_not_the_servers_is_refused_with_or_without_a_token(
    place, host, path
):
    served = serve(place)
    for client in (served.client(), served.browser()):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "heat" not in answer.text


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://127.0.0.1:8642",
        "http://127.0.0.1:8643",
        "http://127.0.0.1:8642.evil.example",
        "http://[",
        "null",
        "file://",
        "",
    ],
)
def test_an_origin_that_is_not_the_servers_is_refused(place, origin):
    browser = serve(place).browser()
    for method, path in (("GET", "/runs"), ("POST", "/runs"), ("GET", "/health")):
        answer = browser.request(method, path, headers={"Origin": origin})
        assert answer.status_code == 403


def test_the_servers_own_origin_is_let_in(place):
    browser = serve(place).browser()
    assert browser.get("/runs", headers={"Origin": BASE}).status_code == 200
    hidden = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
    assert browser.get("/runs", headers=hidden).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_forbids_scripts_frames_and_referrers(place, path):
    served = serve(place)
    for client in (served.client(), served.browser()):
        answer = client.get(path.format(identity="run-1000-2", name="n1"))
        policy = answer.headers["content-security-policy"]
        if path == RECORDING and answer.status_code == 200:
            assert OWN_BY_HASH.fullmatch(policy)
        else:
            helped = HELPED in answer.text
            assert policy == (SCRIPT_POLICY if helped else HEADERS[POLICY])
        for name, value in HEADERS.items():
            assert name == POLICY or answer.headers[name] == value
    assert f"{HEADERS['content-security-policy']}; script-src 'self'" == SCRIPT_POLICY
    policy = HEADERS[POLICY]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "script" not in policy


def test_pages_hold_no_script_and_no_style_of_their_own(place):
    browser = serve(place).browser()
    for one in ROUTES:
        shown = one.method == "GET" and not one.is_api and one.path.startswith("/")
        if shown and not one.path.startswith(RECORDING):
            text = browser.get(one.path.format(identity="run-1000-2", name="n1")).text
            left = text.replace(HELPED, "", 1)
            assert "<script" not in left
            assert "<style" not in text
            assert " style=" not in text
            assert " on" + "click" not in text


def test_the_token_leaves_the_address_and_the_cookie_is_for_us_alone(place):
    served = serve(place, secure=True, prefix="")
    client = served.client()
    answer = client.get("/enter", params={"token": served.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/enter/on")
    cookie = answer.headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=strict", "Path=/", "Secure"):
        assert word in cookie
    assert served.token not in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_wrong_token_is_in_no_page_and_no_log(place, caplog):
    served = serve(place)
    with caplog.at_level(logging.DEBUG):
        for path in ("/enter?token=SECRET-1234", "/runs?token=SECRET-1234"):
            answer = served.client().get(path)
            assert answer.status_code == 401
            assert "SECRET" not in answer.text
        served.client(Authorization="Bearer SECRET-1234").get("/api/runs")
    assert "SECRET" not in "".join(
        one.getMessage() for one in caplog.records if one.name.startswith("skelgen")
    )


def test_a_body_is_bounded_by_what_it_says_and_by_what_it_is(place):
    served = serve(place, most_bytes=1000)
    client = served.client(Authorization=f"Bearer {served.token}")
    assert client.post("/api/runs", content=b"x" * 1001).status_code == 413

    def endless():
        for _ in range(10_000):
            yield b"x" * 100

    answer = client.post("/api/runs", content=endless())
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("the request is larger than 1000 bytes")


def test_a_request_that_takes_too_long_is_answered(place, monkeypatch):
    slow = routes.Route(
        "GET", "/slow", routes.Right.READ, lambda question: time.sleep(5) or {}
    )
    monkeypatch.setattr("skelgen.server.app.ROUTES", (slow,))
    browser = serve(place, limit_s=0.2).browser()
    answer = browser.get("/slow")
    assert answer.status_code == 503
    assert "longer than 0.2 s" in answer.text


def test_a_fault_is_a_sentence_and_no_traceback(place, monkeypatch, caplog):
    def broken(question):
        raise ZeroDivisionError("run-1000-2 SECRET")

    rows = [
        routes.Route("GET", path, routes.Right.READ, broken)
        for path in ("/broken", "/api/broken")
    ]
    monkeypatch.setattr("skelgen.server.app.ROUTES", rows)
    browser = serve(place).browser()
    page = browser.get("/broken")
    assert page.status_code == 500
    assert "Traceback" not in page.text and "SECRET" not in page.text
    problem = browser.get("/api/broken")
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["status"] == 500
    assert "SECRET" not in caplog.text


def test_only_requests_are_answered(place):
    app = serve(place).client().app
    assert isinstance(app, Gate)


@pytest.mark.parametrize(
    "part",
    ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "a%00b", "%ff",
     "a" * 300, "%0d%0aSet-Cookie:x=1", "..\\..\\x", "run-1000-2%2f..%2f..", "%25",
     "'%20OR%201=1--", "_", "%25%25"],
)  # fmt: skip
@pytest.mark.parametrize(
    "path", ["/runs/{}", "/models/{}", "/models/{}/picture.svg", "/systems/{}",
             "/api/runs/{}", "/api/models/{}", "/api/systems/{}", "/{}"]
)  # fmt: skip
def test_no_path_leads_out_of_the_table(place, path, part):
    browser = serve(place).browser()
    answer = browser.get(path.format(part))
    assert answer.status_code in (404, 200, 303)
    if answer.status_code == 200:  # the part went away before it was sent
        assert part in ("..", "%2e%2e")
    assert "root:" not in answer.text
    assert "x" not in answer.cookies


@pytest.mark.parametrize(
    "value", ["../../etc/passwd", "/etc/passwd", "a\0b", "x" * 2000]
)
@pytest.mark.parametrize(
    "route", [one for one in ROUTES if one.query], ids=lambda one: one.path
)
def test_no_word_of_a_query_is_a_path_or_a_fault(place, route, value):
    browser = serve(place).browser()
    for name in route.query:
        answer = browser.get(route.path, params={name: value})
        named = (404,) if "{" in route.path else ()  # what it is asked of is not there
        assert answer.status_code in (200, 400, 422, *named), (name, answer.text)
        assert "root:" not in answer.text
