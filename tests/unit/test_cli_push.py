"""`skelgen push` and `pull`: each row once, whatever is cut off, and clear refusals."""

from __future__ import annotations

import contextlib
import http.server
import json
import ssl
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import InputError, MachineError, UsageError
from skelgen.pipeline import push, server_client
from skelgen.pipeline.server_client import ServerClient, server_address
from skelgen.progress import NO_PROGRESS
from skelgen.server import tokens
from skelgen.server.settings import UploadBounds
from skelgen.server.tokens import Right
from skelgen.store import Series, open_store
from skelgen.store.formats.typed_values import NOTHING
from tests.listening_server import cutting, free_port, listening
from tests.visitors import fill, serve

ROWS = 60


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(server_client, "_WAITS_S", (0.0,) * 5)


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "site.db"
    fill(found)
    return found


@pytest.fixture
def table(tmp_path):
    lines = ["time_s,ranks,n,started"]
    lines += [f"{n + 1},2,{n},{1.7e9 + n:.0f}" for n in range(ROWS)]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def token(monkeypatch, place):
    text = tokens.add_token("bob", Right.ADD)
    monkeypatch.setenv("SKELGEN_TOKEN", text)
    return text


@pytest.fixture
def url(place, token):
    with listening(serve(place)) as name:
        yield f"http://{name}"


def runs_of(place, application="lu"):
    with open_store(str(place), make=False) as store:
        return store.runs(application)


def said(capsys) -> str:
    return capsys.readouterr().err.strip()


def test_a_table_is_pushed_once_and_known_the_second_time(url, place, table, capsys):
    words = ["push", url, str(table), "--app", "lu", "--input", "steps=5", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert (len(told["added"]), told["already"], told["refused"]) == (ROWS, [], [])
    assert told["address"] == f"{url}/runs"
    found = runs_of(place)
    assert {one.author for one in found} == {"bob"}
    assert {dict(one.inputs)["steps"] for one in found} == {5.0}
    assert run(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["added"], len(again["already"])) == ([], ROWS)
    assert len(runs_of(place)) == ROWS


def test_what_is_pushed_is_what_store_add_adds(url, place, table, tmp_path):
    other = tmp_path / "other.db"
    assert run(["push", url, str(table), "--app", "lu"]) == 0
    assert run(["store", "add", str(table), "--app", "lu", "--store", str(other)]) == 0
    pushed = [one.identity for one in runs_of(place)]
    assert pushed == [one.identity for one in runs_of(other)]


def test_the_name_of_its_own_of_a_server_is_this_machine(place, table, token):
    served = serve(place)
    with listening(served) as name:
        port = name.partition(":")[2]
        own = f"skelgen-x.localhost:{port}"
        assert server_address(f"http://{own}").reached == "127.0.0.1"
        with pytest.raises(InputError, match="this name is not"):
            _push(f"http://{own}", token, table)
    assert runs_of(place) == []


def test_one_run_gets_the_address_of_its_page(url, tmp_path, capsys):
    file = tmp_path / "one.csv"
    file.write_text("app,time_s,ranks,id\nlu,1,2,a b/c\n")
    assert run(["push", url, str(file)]) == 0
    assert f"{url}/runs/a%20b%2Fc" in capsys.readouterr().out


def _push(address, token, table, waits=lambda _: None):
    client = ServerClient(server_address(address), token, wait=waits)
    with contextlib.closing(client):
        known = replace(NOTHING, application="lu")
        return push.push(client, [str(table)], known, {}, progress=NO_PROGRESS)


@pytest.mark.parametrize("cut", [0, 300, 900, 2500])
def test_a_push_goes_on_over_cut_connections(place, table, token, monkeypatch, cut):
    monkeypatch.setattr(push, "_PART_ROWS", 10)
    served = serve(place)
    opened = free_port()
    served.settings = _named(served.settings, f"127.0.0.1:{opened}")
    with (
        listening(served) as name,
        cutting(opened, name, [6000, cut + 1, cut + 1, cut + 1]) as way,
    ):
        found = _push(f"http://127.0.0.1:{opened}", token, table)
    assert way.connections > 1
    assert len(found.added.added) + len(found.added.already) == ROWS
    assert len(runs_of(place)) == ROWS
    assert not found.added.refused


def test_a_push_that_gave_up_goes_on_when_it_is_given_again(
    place, table, token, monkeypatch
):
    monkeypatch.setattr(push, "_PART_ROWS", 10)
    served = serve(place)
    opened = free_port()
    served.settings = _named(served.settings, f"127.0.0.1:{opened}")
    with listening(served) as name:
        with cutting(opened, name, [9000, 1, 1, 1, 1, 1, 1]):
            with pytest.raises(MachineError, match="run the same command again"):
                _push(f"http://127.0.0.1:{opened}", token, table)
            begun = len(runs_of(place))
        assert 0 < begun < ROWS
        served.settings = _named(served.settings, name)
        found = _push(f"http://{name}", token, table)
    assert len(found.added.already) == begun
    assert len(found.added.added) == ROWS - begun
    assert len(runs_of(place)) == ROWS


def _named(settings, name):
    return replace(settings, names=settings.names | {name})


def test_long_series_and_models_are_pushed_too(url, place, tmp_path, monkeypatch):
    source = tmp_path / "source.db"
    times = tuple(1.7e9 + 600.0 * step for step in range(1000))
    with open_store(str(source)) as store:
        store.add([Series("n1", "cpu", times, (0.5,) * 1000)])
    fill(source)
    run(["model", "fit", "--app", "heat", "--name", "h", "--family", "normal-form",
         "--store", str(source)])  # fmt: skip
    run(["store", "export", "-o", str(tmp_path / "out"), "--store", str(source)])
    assert run(["push", url, str(tmp_path / "out")]) == 0
    with open_store(str(place), make=False) as store:
        (series,) = store.series()
        (model,) = store.models()
    assert series.times == times
    assert '"author":"bob"' in model.document.replace(" ", "")


def test_a_mistake_is_found_before_anything_is_sent(url, place, tmp_path, capsys):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("app,time_s,ranks\nlu,1,2\n")
    bad.write_text("app,time_s,ranks\nlu,never,2\n")
    assert run(["push", url, str(good), str(bad)]) == 3
    assert "bad.csv: line 2" in said(capsys)
    assert len(runs_of(place)) == 1


@pytest.mark.parametrize(
    ("token", "code", "words"),
    [("wrong", 2, "does not know this token"), ("", 2, "a token is needed"),
     ("a\nb", 2, "the token is none"), ("ä", 2, "the token is none")],
)  # fmt: skip
def test_a_wrong_token_is_said_in_a_line_and_never_shown(
    url, table, capsys, monkeypatch, token, code, words
):
    monkeypatch.setenv("SKELGEN_TOKEN", token)
    assert run(["push", url, str(table), "--app", "lu"]) == code
    text = said(capsys)
    assert words in text
    assert "\n" not in text
    assert not token or token not in text.replace("does not know this token", "")


def test_a_token_that_only_reads_is_told_before_the_run_is_read(
    url, capsys, monkeypatch
):
    monkeypatch.setenv("SKELGEN_TOKEN", tokens.add_token("eve", Right.READ))
    assert run(["push", url, "no-such-file"]) == 2
    assert "allows to read, this needs add" in said(capsys)


def test_a_server_that_only_reads_says_so(place, token, table, capsys):
    with listening(serve(place, Right.READ)) as name:
        assert run(["push", f"http://{name}", str(table), "--app", "lu"]) == 2
    assert "lets nobody add" in said(capsys)


def test_a_file_with_the_token_has_to_be_private(url, table, tmp_path, capsys, token):
    file = tmp_path / "token"
    file.write_text(token + "\n")
    file.chmod(0o644)
    words = ["push", url, str(table), "--app", "lu", "--token-file", str(file)]
    assert run(words) == 2
    assert f"chmod 600 {file}" in said(capsys)
    file.chmod(0o600)
    assert run(words) == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [("http://127.0.0.1:1/enter?token=SECRET", "holds a token"),
     ("https://me:SECRET@site.example/", "holds a token or a password"),
     ("http://site.example/skelgen", "others could read the token"),
     ("http://10.0.0.1", "others could read the token"),
     ("ftp://site.example", "no address of a server"),
     ("site.example", "no address of a server"),
     ("http://[", "is no address"),
     ("http://127.0.0.1:x", "is no address"),
     ("https://", "no address of a server")],
)  # fmt: skip
def test_an_address_that_is_none_or_unsafe_is_refused(
    table, token, capsys, address, words
):
    assert run(["push", address, str(table)]) == 2
    text = said(capsys)
    assert words in text
    assert "SECRET" not in text


def test_addresses_are_read_with_prefix_and_port():
    assert server_address("https://site.example/p/").url == "https://site.example/p"
    assert server_address("http://[::1]:80").url == "http://[::1]"
    assert server_address("http://n1:8642", insecure=True).port == 8642
    with pytest.raises(UsageError):
        server_address("https://x/#a")


def test_a_server_that_is_not_there_is_said_at_once(table, token, capsys):
    port = free_port()
    assert run(["push", f"http://127.0.0.1:{port}", str(table), "--app", "lu"]) == 4
    assert "no connection" in said(capsys)


def test_what_is_too_much_for_today_is_not_begun(place, table, token, capsys):
    served = serve(place, uploads=UploadBounds(daily_bytes=1000))
    with listening(served) as name:
        assert run(["push", f"http://{name}", str(table), "--app", "lu"]) == 3
    assert "may send" in said(capsys)
    assert runs_of(place) == []


def test_a_row_that_is_too_long_is_refused_and_others_are_sent(
    place, token, tmp_path, capsys
):
    file = tmp_path / "runs.csv"
    names = ",".join(f"input{n}" for n in range(200))
    file.write_text(
        f"app,time_s,ranks,{names}\nlu,1,2,{','.join('w' * 50 for _ in range(200))}\n"
        f"lu,2,2,{','.join('1' for _ in range(200))}\n"
    )
    with listening(serve(place, most_bytes=9000)) as name:
        assert run(["push", f"http://{name}", str(file)]) == 3
    assert "the server takes" in said(capsys)
    assert len(runs_of(place)) == 1


class _Odd(http.server.BaseHTTPRequestHandler):
    status, content, kind = 200, b"{}", "application/json"

    def do_GET(self):
        self.send_response(self.status)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(self.content)))
        self.send_header("Location", "http://evil.example/")
        self.end_headers()
        self.wfile.write(self.content)

    do_POST = do_GET  # noqa: N815 -- as the library calls it

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(
    ("status", "content", "code", "words"),
    [
        (200, b"{}", 3, "is older than this skelgen"),
        (200, b'{"api": 2, "version": "9.9"}', 3, "is newer than this skelgen"),
        (200, b'{"api": 0, "version": "0.1"}', 3, "is older than this skelgen"),
        (404, b'{"detail": "there is no such page"}', 3, "is older than this skelgen"),
        (404, b"<html>", 3, "is it the address of skelgen serve"),
        (200, b"\xff", 3, "UTF-8"),
        (200, b"[" * 100_000, 3, ""),
        (301, b"", 2, "is sent nowhere else"),
        (421, b'{"detail": "this name is not the server\'s"}', 3, "this name is not"),
        (500, b'{"detail": "a fault\\u001b[31m of skelgen"}', 4, "a fault"),
        (503, b'{"detail": "its disk is full"}', 4, "its disk is full"),
    ],
)
def test_odd_servers_are_said_in_a_line(
    token, table, capsys, status, content, code, words
):
    handler = type("_One", (_Odd,), {"status": status, "content": content})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert run(["push", url, str(table), "--app", "lu"]) == code
        server.shutdown()
    text = said(capsys)
    assert words in text
    assert "\n" not in text and "\x1b" not in text


def test_runs_are_pulled_as_lines_that_store_add_takes(url, place, tmp_path, capsys):
    out, other = tmp_path / "runs.jsonl", tmp_path / "other.db"
    names = ["run-1000-2", "run-1000-4"]
    assert run(["pull", url, *names, "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ids"] == names
    assert run(["store", "add", str(out), "--store", str(other)]) == 0
    assert len(runs_of(other, "heat")) == 2
    assert run(["pull", url, *names, "-o", str(out)]) == 2, "it is there already"
    capsys.readouterr()
    assert run(["pull", url, names[1]]) == 0
    assert json.loads(capsys.readouterr().out)["identity"] == names[1]
    assert run(["pull", url, "nothing"]) == 3
    assert "nothing: there is no such" in said(capsys)


def test_a_model_is_pulled_by_its_name_and_predicts(url, place, tmp_path, capsys):
    run(["model", "fit", "--app", "heat", "--name", "h", "--family", "normal-form",
         "--store", str(place)])  # fmt: skip
    out = tmp_path / "h.json"
    assert run(["pull", url, "h", "-o", str(out)]) == 0
    assert run(["model", "predict", str(out), "--at", "n=2000,ranks=4"]) == 0
    capsys.readouterr()
    assert run(["pull", url, "h", "run-1000-2", "-o", str(tmp_path / "x")]) == 2
    assert "pull each model by itself" in said(capsys)


def test_tls_is_verified_and_an_authority_can_be_given(
    place, token, table, tmp_path, capsys
):
    key, certificate = tmp_path / "k.pem", tmp_path / "c.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=x",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out",
         str(certificate)],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl is missing")
    tls = {"ssl_certfile": str(certificate), "ssl_keyfile": str(key)}
    with listening(serve(place, secure=True), **tls) as name:
        words = ["push", f"https://{name}", str(table), "--app", "lu"]
        assert run(words) == 4
        assert "its certificate does not count" in said(capsys)
        assert runs_of(place) == []
        assert run([*words, "--ca", str(certificate)]) == 0
        assert run([*words, "--ca", str(tmp_path / "nothing")]) == 2
    assert isinstance(ssl.create_default_context(), ssl.SSLContext)
    assert len(runs_of(place)) == ROWS


def test_push_needs_nothing_of_the_extra(tmp_path):
    program = """if True:
        import sys
        sys.modules["starlette"] = sys.modules["uvicorn"] = None
        from skelgen.cli.main import run
        sys.exit(run(["push", "http://127.0.0.1:1", "x"]))
    """
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"SKELGEN_TOKEN": "x", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.returncode == 4, done.stderr
    assert "no connection" in done.stderr
    assert Path(tmp_path).exists()
