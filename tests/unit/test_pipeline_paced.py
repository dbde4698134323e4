"""`push` and `pull` end where a server is too slow."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from skelgen.cli.main import run
from skelgen.errors import MachineError
from skelgen.pipeline import server_client
from skelgen.pipeline.paced import Pace
from skelgen.pipeline.server_client import ServerClient, server_address


@contextlib.contextmanager
def _dripping(before: bytes, drip: bytes, *, reads: bool = True):
    """Give the address of a server that says something, and then a byte at a time."""
    over = threading.Event()

    def answer(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            while reads and b"\r\n\r\n" not in client.recv(1 << 16):
                pass
            client.sendall(before)
            while not over.wait(0.01):
                client.sendall(drip)

    def accept(opened: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = opened.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    opened = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(opened,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    finally:
        over.set()
        opened.shutdown(socket.SHUT_RDWR)
        opened.close()


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
@pytest.mark.parametrize("words", [("push",), ("pull",)])
def test_a_server_that_drips_bytes_is_given_up_in_one_line(
    tmp_path, capsys, monkeypatch, before, words
):
    monkeypatch.setattr(server_client, "_ANSWER_S", 0.3)
    table = tmp_path / "runs.csv"
    last = ["x"] if words == ("pull",) else [str(table), "--app", "lu"]
    monkeypatch.setenv("SKELGEN_TOKEN", "x")
    table.write_text("time_s,ranks\n1,2\n")
    with _dripping(before, b"1") as url:
        assert run([*words, url, *last]) == 4
    text = capsys.readouterr().err.strip()
    assert "too slow: " in text and "run the same command again" in text
    assert "\n" not in text


def test_a_server_that_reads_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr(server_client, "_ANSWER_S", 0.3)
    monkeypatch.setattr(server_client, "_FLOOR", 1 << 30)
    large = bytes(64 << 20)
    with _dripping(b"", b"", reads=False) as url:
        client = ServerClient(server_address(url), "x")
        with pytest.raises(MachineError, match="too slow"):
            client.ask("POST", "/api/runs", large)


def test_the_end_of_an_exchange_moves_on_with_its_bytes():
    pace = Pace("http://x", 1000.0, 100.0)
    assert 900 < pace.left_s() <= 1000
    pace.moved(100_000)
    assert 1900 < pace.left_s() <= 2000
