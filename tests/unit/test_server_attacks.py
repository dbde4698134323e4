"""What attackers tried against a running server."""

from __future__ import annotations

import asyncio
import json
import shutil

import pytest
import uvicorn
from uvicorn.server import ServerState

from skelgen.server import idle_connections
from skelgen.server.listening import Listening, bound, file_of, unbind
from skelgen.server.tokens import Right, access_file, add_token
from skelgen.store import Run, open_store
from skelgen.store.lines import to_line
from tests.visitors import fill, serve


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "store.db"
    fill(found)
    return found


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


async def _plain(scope, receive, send):
    await asyncio.sleep(0.5)  # longer than a first request may be waited for
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"there"})


async def _told(words: bytes) -> bytes:
    """Send words to a server, and return all that it says until it closes."""
    config = uvicorn.Config(
        _plain, http=idle_connections.OpeningProtocol, lifespan="off"
    )
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: idle_connections.OpeningProtocol(config, state, {}), "127.0.0.1", 0
    )
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(words)
        async with asyncio.timeout(30):
            found = await reader.read()
        writer.close()
        return found


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\nHost: a"])
def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch, words):
    monkeypatch.setattr(idle_connections, "_OPENING_S", 0.1)
    assert asyncio.run(_told(words)) == b""


def test_a_request_that_came_in_time_may_take_longer(monkeypatch):
    monkeypatch.setattr(idle_connections, "_OPENING_S", 0.1)
    words = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert b"there" in asyncio.run(_told(words))


@pytest.mark.parametrize("path", ["/runs", "/api/runs"])
def test_a_filter_of_many_conditions_is_refused(place, path):
    served = serve(place)
    few, many = (",".join(["n>0"] * count) for count in (20, 21))
    browser = served.browser()
    assert browser.get(path, params={"where": few}).status_code == 200
    answer = browser.get(path, params={"where": many})
    assert answer.status_code == 400
    assert "at most 20 conditions" in answer.text


def test_a_form_is_read_up_to_its_bound_only(place):
    client = serve(place).client()
    answer = client.post("/enter", data={"token": "x" * (65 << 10)})
    assert answer.status_code == 413


def test_the_api_changes_nothing_by_a_cookie_and_other_credentials(place):
    browser = serve(place).browser()
    basic = {"Authorization": "Basic x"}
    assert browser.post("/api/runs", content=b"", headers=basic).status_code == 401


def test_a_store_that_is_gone_is_not_made_anew(place, tmp_path):
    served = serve(place)
    browser, visitor = served.browser(), served.visitor()
    line = json.dumps(to_line(Run("heat", 1.0, ranks=1, identity="one")))
    bearer = {"Authorization": f"Bearer {served.token}"}
    typed = {"app": "heat", "time": "1s", "ranks": "1", "form_token": visitor.form}
    shutil.move(place, tmp_path / "moved.db")
    sent = served.client().post("/api/runs", content=line, headers=bearer)
    assert sent.status_code == 422, sent.text
    assert browser.post("/runs", data=typed).status_code == 422
    assert not place.exists()
    shutil.move(tmp_path / "moved.db", place)
    again = served.client().post("/api/runs", content=line, headers=bearer)
    assert again.status_code == 200, again.text
    assert browser.post("/runs", data=typed).status_code == 303


def test_tokens_that_others_may_read_now_count_no_more(place):
    served = serve(place)
    token = add_token("ada", Right.READ)
    browser = served.browser(token)
    assert browser.get("/runs").status_code == 200
    access_file().chmod(0o644)
    assert browser.get("/runs").status_code >= 400
    refused = served.client().post("/enter", data={"token": token})
    assert refused.status_code in (422, 503)
    assert "fault of skelgen" not in refused.text


def test_a_folder_of_tokens_that_others_may_change_is_refused(place):
    served = serve(place)
    browser = served.browser(add_token("ada", Right.READ))
    access_file().parent.chmod(0o777)
    access_file().touch()  # it is read again
    assert browser.get("/api/runs").status_code == 503


def test_the_socket_of_another_server_stays(tmp_path):
    path = tmp_path / "s"
    where = Listening(unix=path, names=("site.example",))
    first = bound(where)
    own = file_of(where)
    first.close()
    second = bound(where)
    unbind(where, own)
    assert path.exists()
    unbind(where, file_of(where))
    assert not path.exists()
    second.close()


def test_no_name_brings_control_characters_onto_a_page(place, tmp_path):
    hidden = "a\x1b[31m\x0b\u202egnp\u2066\x85b"
    with open_store(str(place)) as store:
        row = Run(hidden, 1.0, ranks=1, identity="odd", hosts=(hidden,))
        refused = store.add([row]).refused
    browser = serve(place).browser()
    pages = ["/applications", "/runs", "/ask", *([] if refused else ["/runs/odd"])]
    for path in pages:
        text = browser.get(path).text
        assert not set("\x1b\x0b\u202e\u2066\x85") & set(text), path
