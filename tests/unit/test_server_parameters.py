"""Hostile words in every parameter: requests are made from the table of addresses."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest

from skelgen.server.routes import ROUTES
from skelgen.store import open_store
from tests.visitors import fill, serve

#: Paths that lead out, and what a system, a shell, a template or SQL would obey.
TRAVERSALS = (
    *("..", "../../etc/passwd", "/etc/passwd", "....//....//etc/passwd"),
    *("..\\..\\etc\\passwd", "file:///etc/passwd", "%2e%2e%2fetc%2fpasswd"),
    *("~root/.ssh/id_rsa", "/proc/self/environ", "run-1000-2/../../x"),
)
CODE = (
    *("__import__('os').system('touch hacked')", "().__class__.__bases__"),
    *("$(touch hacked)", "`touch hacked`", "; touch hacked", "| touch hacked"),
    *("{{ 7*7 }}", "'; DROP TABLE rows; --", "' OR 1=1 --", "9**9**9**9"),
    *("--store=/etc/passwd", "-v", "@/etc/passwd", "n=" + "(" * 400),
)
HEADERS = ("x\r\nSet-Cookie: evil=1", "x\nLocation: //evil.example", "//evil.example")
#: Fields of the forms: any route may get any of them.
FIELDS = ("app", "time", "inputs", "ranks", "hosts", "system", "started", "status")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "store.db"
    fill(found)
    return found


def is_refused_or_text(answer, tmp_path) -> None:
    """Check that an answer obeyed nothing."""
    assert answer.status_code < 500, answer.text
    assert "root:" not in answer.text
    assert "Traceback" not in answer.text
    assert "evil" not in answer.headers.get("set-cookie", "")
    assert re.match("(/[^/\\\\].*|/)?$", answer.headers.get("location", ""))
    assert not (tmp_path / "hacked").exists()


def shown(route) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", [one for one in ROUTES if "{" in one.path], ids=shown)
def test_no_named_part_of_an_address_is_obeyed(place, tmp_path, route):
    served = serve(place)
    browser, form = served.browser(), served.visitor().form
    bearer = {"Authorization": f"Bearer {served.token}"} if route.is_api else {}
    for word in (*TRAVERSALS[1:], *CODE, *HEADERS, "a\0b"):  # a client takes ".." away
        path = re.sub(r"\{[^}]*\}", quote(word, safe=""), route.path)
        data = {"form_token": form} if route.changes and not route.is_api else None
        answer = browser.request(route.method, path, headers=bearer, data=data)
        is_refused_or_text(answer, tmp_path)
        assert answer.status_code >= 400, (path, answer.text)
    with open_store(str(place), make=False) as store:
        assert store.count("heat") == 12


#: Answered by a process of its own, which takes seconds: one word of each sort.
APART = {"/api/model/coupling"}


@pytest.mark.parametrize("route", [one for one in ROUTES if one.query], ids=shown)
def test_no_word_of_a_query_is_obeyed(place, tmp_path, route):
    browser = serve(place).browser()
    words = (*TRAVERSALS, *CODE, *HEADERS)
    if route.path in APART:
        words = (TRAVERSALS[1], CODE[0], CODE[-2], HEADERS[0])
    for at, name in enumerate(route.query):
        # Of each name every second word: its neighbours get the others.
        for word in words[at % 2 :: 2] if len(route.query) > 1 else words:
            usual = {"app": "heat"} if "app" in route.query and name != "app" else {}
            answer = browser.get(route.path, params={**usual, name: word})
            is_refused_or_text(answer, tmp_path)


@pytest.mark.parametrize(
    "route",
    [one for one in ROUTES if one.changes and not one.is_api and "{" not in one.path],
    ids=shown,
)
@pytest.mark.parametrize("name", FIELDS)
def test_no_field_of_a_form_is_obeyed(place, tmp_path, route, name):
    served = serve(place)
    browser, form = served.browser(), served.visitor().form
    usual = {"app": "new", "time": "1s", "form_token": form}
    # Of each field every second word: its neighbours get the others.
    words = (*TRAVERSALS, *CODE, *HEADERS, "a\0b")
    for word in words[FIELDS.index(name) % 2 :: 2]:
        answer = browser.post(route.path, data={**usual, name: word})
        is_refused_or_text(answer, tmp_path)


@pytest.mark.parametrize("name", ["identity", "application", "source", "executable"])
def test_no_member_of_a_sent_row_is_obeyed(place, tmp_path, name):
    served = serve(place)
    client = served.client(Authorization=f"Bearer {served.token}")
    usual = {"row": "run", "application": "new", "time_s": 1.0}
    for word in (*TRAVERSALS, *CODE, *HEADERS, "a\0b", "x" * 5000):
        line = json.dumps({**usual, name: word}).encode()
        is_refused_or_text(client.post("/api/runs", content=line), tmp_path)
    assert {one.name for one in tmp_path.iterdir()} <= {
        *("state", "store.db", "store.db-wal", "store.db-shm", "store.db.spool")
    }


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "X"])
def test_other_methods_change_nothing(place, method):
    browser = serve(place).browser()
    own = {(one.method, one.path) for one in ROUTES}
    for path in ("/", "/runs", "/runs/run-1000-2", "/api/runs", "/api/runs/run-1000-2"):
        answer = browser.request(method, path)
        pattern = path.replace("run-1000-2", "{identity}")
        assert answer.status_code == (401 if (method, pattern) in own else 405)
    with open_store(str(place), make=False) as store:
        assert store.count("heat") == 12
