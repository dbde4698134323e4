"""Those who call: few of them, for a short time, until they show that they know us."""

from __future__ import annotations

import math
import selectors
import socket
import time
from dataclasses import dataclass, field

from skelgen.monitor import handshake
from skelgen.monitor.handshake import StrangerError

#: Callers who have not shown yet that they know the secret, and their time [s].
MOST_CALLERS, _PATIENCE_S = 8, 5.0
#: So many callers are let in within a second; others wait.
_CALLERS_PER_S = 10


@dataclass(frozen=True, slots=True)
class KnownCaller:
    """A caller who knows the secret.

    Attributes
    ----------
    connection : socket
    key : bytes
        Of this talk.
    """

    connection: socket.socket
    key: bytes


@dataclass(slots=True)
class _Caller:
    """One who called and has not shown yet that he knows the secret."""

    connection: socket.socket
    end_s: float
    said: bytearray = field(default_factory=bytearray)
    answer: bytes = b""

    @property
    def wanted(self) -> int:
        """Return how many bytes are still to come."""
        last = handshake.LAST_BYTES if self.answer else 0
        return handshake.HELLO_BYTES + last - len(self.said)


class Callers:
    """Those who called and have not shown yet that they know the secret.

    Parameters
    ----------
    selector : BaseSelector
        Says when one of them speaks.
    key : bytes
        Of all monitors.
    place : int
        Of this host in the sorted list of hosts.
    """

    def __init__(
        self, selector: selectors.BaseSelector, key: bytes, place: int
    ) -> None:
        self._selector, self._key, self._place = selector, key, place
        self._callers: dict[int, _Caller] = {}
        self._let_in_s, self._let_in = -math.inf, 0

    def __len__(self) -> int:
        return len(self._callers)

    def left_s(self) -> float:
        """Return how long nobody has to go [s]; inf when nobody is there."""
        ends_s = [caller.end_s for caller in self._callers.values()]
        return max(0.0, min(ends_s, default=math.inf) - time.monotonic())

    def let_in(self, door: socket.socket) -> None:
        """Let a caller in; when there are too many the first of them has to go."""
        now_s = time.monotonic()
        if now_s - self._let_in_s >= 1:
            self._let_in_s, self._let_in = now_s, 0
        self._let_in += 1
        if self._let_in > _CALLERS_PER_S:
            time.sleep(1.0)  # of strangers there is no end
            return
        try:
            connection, _ = door.accept()
        except OSError:
            return
        connection.setblocking(False)
        if len(self._callers) >= MOST_CALLERS:
            self._forget(next(iter(self._callers)))
        self._callers[connection.fileno()] = _Caller(connection, now_s + _PATIENCE_S)
        self._selector.register(connection, selectors.EVENT_READ)

    def hear(self, number: int) -> KnownCaller | None:
        """Hear more of what a caller says; return who has shown that he knows us."""
        if not (caller := self._callers.get(number)):
            return None  # he had to go
        try:
            said = caller.connection.recv(caller.wanted)
            if not said:
                raise StrangerError("it went away")
            caller.said += said
            if caller.wanted:
                return None
            first = bytes(caller.said[: handshake.HELLO_BYTES])
            if not caller.answer:
                self._answer(caller, first)
                return None
            last = bytes(caller.said[handshake.HELLO_BYTES :])
            handshake.check_last(self._key, first, caller.answer, last)
        except BlockingIOError:
            return None
        except (OSError, StrangerError):
            self._forget(number)
            return None
        del self._callers[number]
        self._selector.unregister(caller.connection)
        key = handshake.talk_key(self._key, first, caller.answer)
        return KnownCaller(caller.connection, key)

    def _answer(self, caller: _Caller, first: bytes) -> None:
        """Answer a hello.

        Raises
        ------
        OSError, StrangerError
        """
        if handshake.caller_of(self._key, first, self._place) >= self._place:
            raise StrangerError("of two hosts the first one calls")
        caller.answer = handshake.welcome(self._key, first)
        caller.connection.send(caller.answer)

    def forget_late(self) -> None:
        """Leave those who took too long."""
        now_s = time.monotonic()
        for number, caller in list(self._callers.items()):
            if now_s >= caller.end_s:
                self._forget(number)

    def close(self) -> None:
        """Leave all."""
        for number in list(self._callers):
            self._forget(number)

    def _forget(self, number: int) -> None:
        caller = self._callers.pop(number)
        self._selector.unregister(caller.connection)
        caller.connection.close()
