"""Connections to a database that a server keeps for its next request.

A new connection takes as long as all statements of a page: the server of the database
starts a process and checks the password. Databases of a thread that are opened within
`reusing` take a connection that waits, and give it back.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Protocol

#: Connections that wait at most, how long, and how old one becomes [s].
_MOST, _IDLE_S, _AGE_S = 6, 60.0, 600.0


class KeptConnection(Protocol):
    """A connection that may wait for the next request.

    Attributes
    ----------
    since : float
        When it was made, by the clock of `time.monotonic` [s].
    """

    since: float

    def is_well(self) -> bool:
        """Say whether it works and has nothing begun, without asking its server."""

    def close(self) -> None:
        """Close it."""


class IdleConnections:
    """Connections that nobody uses now, by their place."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, str, KeptConnection]] = []
        self._lock = threading.Lock()
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, place: str) -> KeptConnection | None:
        """Return the one that was used last and works; None: there is none."""
        now, over = time.monotonic(), list[KeptConnection]()
        found = None
        with self._lock:
            left = []
            for one in reversed(self._waiting):
                at, where, connection = one
                if found is not None and now - at <= _IDLE_S:
                    left.append(one)
                elif now - at > _IDLE_S or not connection.is_well():
                    over.append(connection)
                elif where == place:
                    found = connection
                else:
                    left.append(one)
            self._waiting = left[::-1]
        _close(over)
        return found

    def give(self, place: str, connection: KeptConnection) -> None:
        """Take back a connection, or close it."""
        now = time.monotonic()
        with self._lock:
            young = now - connection.since <= _AGE_S
            keeps = not self._closed and young and len(self._waiting) < _MOST
            if keeps and connection.is_well():
                self._waiting.append((now, place, connection))
                return
        _close([connection])

    def close(self) -> None:
        """Close all of them, and those that are given back later."""
        with self._lock:
            over = [connection for _, _, connection in self._waiting]
            self._waiting, self._closed = [], True
        _close(over)


def _close(connections: list[KeptConnection]) -> None:
    for one in connections:
        one.close()


_IDLE: ContextVar[IdleConnections | None] = ContextVar("idle connections", default=None)


@contextlib.contextmanager
def reusing(idle: IdleConnections | None) -> Iterator[None]:
    """Let databases within take connections from there, and give them back."""
    token = _IDLE.set(idle)
    try:
        yield
    finally:
        _IDLE.reset(token)


def idle_connections() -> IdleConnections | None:
    """Return where connections wait; None: each is closed after its use."""
    return _IDLE.get()
