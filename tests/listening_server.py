"""A server on a port of loopback, in this process, and a way to it that is cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

import uvicorn

from skelgen.server.app import application
from tests.visitors import Served


@contextlib.contextmanager
def listening(served: Served, **config: object) -> Iterator[str]:
    """Give the address of a server that listens meanwhile."""
    opened = socket.create_server(("127.0.0.1", 0))
    port = opened.getsockname()[1]
    names = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    served.settings = replace(served.settings, names=served.settings.names | names)
    server = uvicorn.Server(
        uvicorn.Config(
            application(served.settings, served.keyring),
            lifespan="off",
            log_config=None,
            **config,
        )
    )
    thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
        opened.close()


@dataclass
class CuttingWay:
    """A way to a server on which connections are cut.

    Attributes
    ----------
    name : str
        Host and port of the server.
    cuts : list of int
        After so many bytes to the server each connection is cut, one after the other;
        later ones are not.
    """

    name: str
    cuts: list[int]
    connections: int = 0

    def run(self, opened: socket.socket) -> None:
        """Let connections through until the socket is closed."""
        while True:
            try:
                near, _ = opened.accept()
            except OSError:
                return
            left = self.cuts.pop(0) if self.cuts else None
            self.connections += 1
            threading.Thread(target=self._pass, args=(near, left), daemon=True).start()

    def _pass(self, near: socket.socket, left: int | None) -> None:
        host, _, port = self.name.partition(":")
        far = socket.create_connection((host, int(port)))
        back = threading.Thread(target=_copy, args=(far, near), daemon=True)
        back.start()
        with contextlib.suppress(OSError):
            while part := near.recv(4096):
                if left is not None and len(part) >= left:
                    far.sendall(part[:left])
                    break
                far.sendall(part)
                left = None if left is None else left - len(part)
        for one in (near, far):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        back.join(10)
        near.close()
        far.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(4096):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


@contextlib.contextmanager
def cutting(port: int, name: str, cuts: list[int]) -> Iterator[CuttingWay]:
    """Let connections to a port through to a server, and cut them; see `CuttingWay`."""
    opened = socket.create_server(("127.0.0.1", port))
    way = CuttingWay(name, cuts)
    thread = threading.Thread(target=way.run, args=(opened,), daemon=True)
    thread.start()
    try:
        yield way
    finally:
        opened.shutdown(socket.SHUT_RDWR)
        opened.close()
        thread.join(10)
