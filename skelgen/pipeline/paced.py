"""Exchanges with a server that have to go on at some speed, and so have an end."""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any

from skelgen.errors import MachineError
from skelgen.units import format_bytes

#: Bytes that are sent between two looks at the clock.
_PIECE = 16 << 10


class Pace:
    """The end of a request and its answer, which moves on with each byte.

    Parameters
    ----------
    url : str
        For messages.
    first_s : float
        Time without any byte [s].
    floor : float
        What has to come or go on average beyond it [bytes/s].
    """

    def __init__(self, url: str, first_s: float, floor: float) -> None:
        self._url, self._first_s, self._floor = url, first_s, floor
        self._begun, self._moved = time.monotonic(), 0

    def moved(self, size_bytes: int) -> None:
        """Count bytes that were sent or read [bytes]."""
        self._moved += size_bytes

    def left_s(self) -> float:
        """Return the time until the end [s].

        Raises
        ------
        MachineError
            When there is none left.
        """
        end = self._begun + self._first_s + self._moved / self._floor
        left_s = end - time.monotonic()
        if left_s <= 0:
            raise self.too_slow()
        return left_s

    def too_slow(self) -> MachineError:
        """Return what is said when the time is over."""
        taken_s = time.monotonic() - self._begun
        return MachineError(
            f"{self._url}: too slow: {format_bytes(self._moved)} in {taken_s:.0f} s, "
            f"expected an answer in {self._first_s:g} s and "
            f"{format_bytes(self._floor)}/s; see that the server runs there, and run "
            "the same command again: it goes on"
        )

    def pieces(self, body: bytes, taken: socket.socket) -> Iterator[bytes]:
        """Yield a body in pieces, for each of which there is the time that is left."""
        for begin in range(0, len(body), _PIECE):
            taken.settimeout(self.left_s())
            piece = body[begin : begin + _PIECE]
            yield piece
            self.moved(len(piece))


class PacedResponse(HTTPResponse):
    """An answer of which every byte is read at a pace: status, headers and body."""

    def __init__(
        self, pace: Pace, taken: socket.socket, *words: Any, **more: Any
    ) -> None:
        super().__init__(taken, *words, **more)
        self.fp.close()
        self.fp = io.BufferedReader(_PacedReads(taken, pace))


class _PacedReads(io.RawIOBase):
    """Reads of a socket, each within the time that is left."""

    def __init__(self, taken: socket.socket, pace: Pace) -> None:
        self._socket, self._pace = taken, pace
        self._raw = taken.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(self._pace.left_s())
        try:
            count = self._raw.readinto(buffer) or 0
        except TimeoutError as error:
            raise self._pace.too_slow() from error
        self._pace.moved(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()
