"""What a server does with readers that take nothing, or take it slowly."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.responses import Response, StreamingResponse

from skelgen.server import idle_connections
from skelgen.server.idle_connections import OpeningProtocol

#: More than what the system keeps of a connection [bytes].
_LARGE = 64 << 20
_LONG_S = 120
_GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Answering:
    """A server whose answers are large, and what became of them."""

    def __init__(self, *, streams: bool) -> None:
        self.streams = streams
        self.begun, self.ended = threading.Event(), threading.Event()
        self.parts = 0

    async def __call__(self, scope, receive, send) -> None:
        self.begun.set()
        try:
            answer = (
                StreamingResponse(self._parts())
                if self.streams
                else Response(bytes(_LARGE))
            )
            await answer(scope, receive, send)
        finally:
            self.ended.set()

    def _parts(self) -> Iterator[bytes]:
        for _ in range(_LARGE >> 16):
            self.parts += 1
            yield bytes(1 << 16)


@contextlib.contextmanager
def answering(app: Answering) -> Iterator[tuple[int, uvicorn.Server]]:
    opened = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=OpeningProtocol, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
    thread.start()
    try:
        yield opened.getsockname()[1], server
    finally:
        server.should_exit = server.force_exit = True
        thread.join(30)
        opened.close()


def connections(server: uvicorn.Server, count: int) -> None:
    """Wait until a server has so many."""
    end = time.monotonic() + _LONG_S
    while len(server.server_state.connections) != count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("streams", [True, False])
def test_a_reader_that_never_reads_is_cut_off(monkeypatch, streams):
    monkeypatch.setattr(idle_connections, "_READING_S", 0.3)
    app = Answering(streams=streams)
    with (
        answering(app) as (port, server),
        socket.create_connection(("127.0.0.1", port), timeout=_LONG_S) as client,
    ):
        client.sendall(_GET)
        assert app.begun.wait(_LONG_S)
        connections(server, 0)
        assert app.ended.wait(_LONG_S)
        read = 0
        with contextlib.suppress(ConnectionError):
            while part := client.recv(1 << 20):
                read += len(part)
    assert read < _LARGE
    if streams:
        assert app.parts < _LARGE >> 16


@pytest.mark.parametrize("streams", [True, False])
def test_a_reader_that_goes_on_gets_all(monkeypatch, streams):
    monkeypatch.setattr(idle_connections, "_READING_S", 20.0)
    read, asked = 0, _GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n")
    with (
        answering(Answering(streams=streams)) as (port, _),
        socket.create_connection(("127.0.0.1", port), timeout=_LONG_S) as client,
    ):
        client.sendall(asked)
        while part := client.recv(1 << 20):
            read += len(part)
    assert read > _LARGE
