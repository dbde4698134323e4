"""What a running server does with bytes that are no good request."""

from __future__ import annotations

import contextlib
import socket

import pytest

from tests.servers import LONG_S, Server
from tests.visitors import fill


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("wire") / "store.db"
    fill(place)
    with Server("--store", str(place), "--port", "0") as found:
        yield found


def name_of(server: Server) -> str:
    return server.base.removeprefix("http://")


def told(server: Server, words: bytes) -> bytes:
    """Send bytes to a server, and return all that it answers until it closes."""
    host, _, port = name_of(server).rpartition(":")
    with socket.create_connection((host, int(port)), timeout=LONG_S) as client:
        found = b""
        with contextlib.suppress(ConnectionError):  # it closes on what it does not read
            client.sendall(words)
            while part := client.recv(1 << 16):
                found += part
        return found


def head(server: Server, *lines: str, first: str = "GET /runs HTTP/1.1") -> bytes:
    """Return the head of a request of somebody who may do everything."""
    known = (f"Host: {name_of(server)}", f"Authorization: Bearer {server.token}")
    end = ("Connection: close", "", "")
    return "\r\n".join([first, *known, *lines, *end]).encode()


def statuses(answer: bytes) -> list[int]:
    """Return the status of each answer."""
    parts = answer.split(b"HTTP/1.1 ")[1:]
    return [int(one[:3]) for one in parts]


def test_a_good_request_is_answered(server):
    assert statuses(told(server, head(server))) == [200]


@pytest.mark.parametrize(
    "line",
    [
        "Host: evil.example",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: -1",
        "Content-Length: 1e3",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked, gzip",
        "X: a\0b",
        "X : a",
        " folded: a",
        "no colon",
        "Cookie: " + "a" * 300_000,
        "\r\n".join(f"X{at}: y" for at in range(30_000)),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_shows_nothing(server, line):
    answer = told(server, head(server, line))
    assert [one for one in statuses(answer) if one < 400] == []
    assert b"run-1000-2"[:8] not in answer


@pytest.mark.parametrize(
    "first",
    [
        "GET http://evil.example/runs HTTP/1.1",
        "GET //evil.example/runs HTTP/1.1",
        "GET /runs/../../etc/passwd HTTP/1.1",
        "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1",
        "GET /runs\0 HTTP/1.1",
        "CONNECT evil.example:443 HTTP/1.1",
        "TRACE / HTTP/1.1",
        "PRI * HTTP/2.0",
        "GET /" + "a" * 20_000 + " HTTP/1.1",
        "\x16\x03\x01\x02",
    ],
)
def test_a_first_line_that_is_no_address_of_ours_is_refused(server, first):
    answer = told(server, head(server, first=first))
    assert all(one >= 400 for one in statuses(answer)), answer[:200]
    assert b"run-1000" not in answer and b"root:" not in answer


def test_a_second_request_inside_the_first_is_not_answered(server):
    inner = head(server, first="DELETE /api/runs/run-1000-2 HTTP/1.1")
    length = f"Content-Length: {len(inner)}"
    first = "POST /api/runs HTTP/1.1"
    answer = told(server, head(server, length, first=first) + inner)
    assert len(statuses(answer)) == 1
    assert b"run-1000-2" in told(server, head(server, first="GET /api/runs HTTP/1.1"))


def test_a_name_with_line_ends_is_no_header(server):
    path = "/enter?token=x%0d%0aSet-Cookie:%20evil=1"
    for target in (path, "/runs/x%0d%0aLocation:%20//evil.example"):
        answer = told(server, head(server, first=f"GET {target} HTTP/1.1"))
        above = answer.partition(b"\r\n\r\n")[0].lower()
        assert b"evil" not in above


def test_an_endless_body_is_cut_off(server):
    first, chunked = "POST /api/runs HTTP/1.1", "Transfer-Encoding: chunked"
    host, _, port = name_of(server).rpartition(":")
    block = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with socket.create_connection((host, int(port)), timeout=LONG_S) as client:
        client.sendall(head(server, chunked, first=first))
        sent = 0
        try:
            while sent < 64 << 20:
                client.sendall(block)
                sent += len(block)
        except OSError:  # it closed the connection
            pass
        assert sent < 64 << 20


def test_slow_readers_and_writers_keep_nobody_out(server):
    host, _, port = name_of(server).rpartition(":")
    slow = []
    for at in range(60):
        one = socket.create_connection((host, int(port)), timeout=LONG_S)
        begun = head(server, "Content-Length: 1000", first="POST /api/runs HTTP/1.1")
        one.sendall(begun + b"x" if at % 2 else begun[: at + 5])
        slow.append(one)
    try:
        # It is accepted after these, which have their turn first.
        assert statuses(told(server, head(server))) == [200]
    finally:
        for one in slow:
            one.close()
    assert statuses(told(server, head(server))) == [200]
