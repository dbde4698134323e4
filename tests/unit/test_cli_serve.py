"""The command that serves a store: it starts, says where, and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import sys
import threading
from pathlib import Path

import httpx2 as httpx
import pytest

from skelgen.cli.main import run
from skelgen.store import open_store
from tests.processes import comes_true
from tests.servers import LONG_S, Server
from tests.visitors import fill


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def place(tmp_path, state):
    found = tmp_path / "store.db"
    fill(found)
    return found


def test_a_server_says_in_one_line_where_it_is_and_ends_by_a_signal(place, state):
    with Server("--store", str(place), "--port", "0") as server:
        assert {*server.ready} == {"format", "url", "pid", "store", "read_only"}
        assert server.ready["pid"] == server.process.pid
        assert server.ready["store"] == str(place)
        assert server.ready["read_only"] is False
        (file,) = (state / "serve").glob("*.html")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        way = server.url[server.url.index("/enter") :]
        assert way in file.read_text()
        with httpx.Client(follow_redirects=True) as client:
            entered = client.get(server.url)
            assert "Going on" in entered.text
            assert "token" not in str(entered.url)
            base = server.url.partition("/enter")[0]
            assert "run-1000-2"[:8] in client.get(f"{base}/runs").text
            assert client.get(base, headers={"Host": "evil.example"}).status_code == 421
        assert server.end() == (0, "")
    assert not list((state / "serve").glob("*.html"))


def test_ctrl_c_is_the_usual_end(place):
    with Server("--store", str(place), "--port", "0") as server:
        assert server.end(signal.SIGINT) == (0, "")


def is_deaf(name: str, port: int) -> bool:
    """Say whether nothing listens there any more."""
    try:
        socket.create_connection((name, port), timeout=LONG_S).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_request_that_has_begun_is_finished_when_the_server_ends(place):
    with Server("--store", str(place), "--port", "0") as server:
        base, _, token = server.url.partition("/enter?token=")
        name, port = base.removeprefix("http://").split(":")
        line = b'{"row": "run", "application": "late", "time_s": 1, "identity": "l"}'
        head = (
            f"POST /api/runs HTTP/1.1\r\nHost: {name}:{port}\r\nAuthorization: Bearer "
            f"{token}\r\nContent-Length: {len(line)}\r\nExpect: 100-continue\r\n\r\n"
        )
        with socket.create_connection((name, int(port)), timeout=LONG_S) as client:
            client.sendall(head.encode())
            assert client.recv(100).startswith(b"HTTP/1.1 100")  # it reads the body now
            client.sendall(line[:10])
            server.process.send_signal(signal.SIGTERM)
            assert comes_true(lambda: is_deaf(name, int(port)))
            client.sendall(line[10:])
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        _, err = server.process.communicate(timeout=LONG_S)
        assert (server.process.returncode, err) == (0, "")
    with open_store(str(place)) as store:
        assert store.count("late") == 1


def test_a_server_behind_a_proxy_listens_on_a_socket(place, tmp_path):
    path = tmp_path / "s"
    words = ("--unix", str(path), "--name", "site.example", "--prefix", "/p")
    with Server("--store", str(place), *words, "--read-only") as server:
        assert server.url.startswith("https://site.example/p/enter?token=")
        assert server.ready["read_only"] is True
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(
            transport=transport, base_url="http://site.example"
        ) as client:
            assert client.get("/p/health").json() == {"status": "ok"}
            entered = client.get(server.url.replace("https", "http", 1))
            assert "Secure" in entered.headers["set-cookie"]
            assert "Path=/p" in entered.headers["set-cookie"]
        assert server.end()[0] == 0
    assert not path.exists()


def test_many_ask_at_once_while_the_command_line_adds(place):
    with Server("--store", str(place), "--port", "0") as server:
        base, _, token = server.url.partition("/enter?token=")
        headers = {"Authorization": f"Bearer {token}"}
        statuses: list[int] = []

        def read() -> None:
            with httpx.Client(headers=headers, timeout=LONG_S) as client:
                for path in ("/runs", "/api/runs", "/", "/predictions"):
                    statuses.append(client.get(f"{base}{path}").status_code)

        readers = [threading.Thread(target=read) for _ in range(8)]
        for one in readers:
            one.start()
        words = ["store", "add", "--store", str(place), "--app", "new", "--time", "2s"]
        assert run(words) == 0
        for one in readers:
            one.join()
        assert statuses == [200] * 32
        found = httpx.get(f"{base}/api/runs?app=new", headers=headers).json()
        assert found["total"] == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--store", "none.db"], 3, "there is no store yet"),
        (["--store", "text.db"], 3, "text.db"),
        (["--store", "mysql://x"], 2, "expected a file or postgresql"),
        (["--host", "0.0.0.0"], 2, "who could read the tokens"),
        (["--prefix", "x y"], 2, "--prefix x y"),
        (["--tls-certificate", "none.pem"], 2, "both"),
        (["--unix", "s"], 2, "needs --name"),
        (["--port", "70000"], 2, "65535"),
    ],
)
def test_what_cannot_be_served_is_one_line(
    place, tmp_path, monkeypatch, capsys, words, code, said
):
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("no store")
    more = [] if "--store" in words else ["--store", str(place)]
    assert run(["serve", *words, *more]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_taken_port_is_one_line(place, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert run(["serve", "--store", str(place), "--port", port]) == 4
    assert "--port 0 takes a free one" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(place, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["serve", "--store", str(place)]) == 4
    assert "pip install 'skelgen[web]'" in capsys.readouterr().err
    assert run(["serve", "token", "list"]) == 0


def test_check_says_what_is_shown_to_whom_and_starts_nothing(place, capsys):
    assert run(["serve", "token", "add", "ada", "--right", "add", "--json"]) == 0
    token = json.loads(capsys.readouterr().out)["token"]
    words = ["serve", "--check", "--store", str(place), "--port", "0"]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["open"] == ["/health", "/style.css", "/script.js", "/icon.svg"]
    assert {"name": "ada", "right": "add"} in found["tokens"]
    assert "POST /api/runs" in found["rights"]["add"]
    assert run([*words, "--read-only", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "add" not in found["rights"]
    assert {"name": "ada", "right": "read"} in found["tokens"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "programs and users of this machine only" in out
    assert token not in out


def test_tokens_are_added_listed_and_removed(state, capsys):
    assert run(["serve", "token", "list"]) == 0
    assert "no tokens" in capsys.readouterr().out
    assert run(["serve", "token", "add", "ada"]) == 0
    assert "read" in capsys.readouterr().out
    assert run(["serve", "token", "list", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["tokens"]
    assert (one["name"], one["right"]) == ("ada", "read")
    assert run(["serve", "token", "remove", "ada", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == "ada"
    assert run(["serve", "token", "remove", "ada"]) == 3
    assert run(["serve", "token", "add", "ada", "--right", "root"]) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may have all ports")
def test_a_port_of_the_administrator_is_one_line(place, capsys):
    assert run(["serve", "--store", str(place), "--port", "80"]) == 4
    assert "take one above 1023" in capsys.readouterr().err


def test_a_demo_shows_an_example_of_its_own_that_goes_with_the_server(place):
    with Server("--demo", "--port", "0") as server:
        shown = Path(server.ready["store"])
        assert shown.exists()
        assert shown != place
        base, _, token = server.url.partition("/enter?token=")
        headers = {"Authorization": f"Bearer {token}"}
        asked = "api/ask?app=matrix-product&at=n=1200,ranks=8"
        found = httpx.get(f"{base}/{asked}", headers=headers, timeout=LONG_S).json()
        assert found["unit"] == "s"
        assert 0.3 < found["value"] < 2.0
        assert server.end() == (0, "")
        assert not shown.parent.exists()


def test_a_demo_takes_no_other_store(place, capsys):
    assert run(["serve", "--demo", "--store", str(place)]) == 2
    assert "leave out --store" in capsys.readouterr().err
