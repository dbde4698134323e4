"""Measure the link to another monitor: how long a byte takes, what a stream gets.

After small round trips a stream of bytes goes one way and then the other. Who receives
it counts. The rate is that of the second half of the time: a new stream begins slowly,
and shapers let the first bytes pass at once, so the first half says nothing.
"""

from __future__ import annotations

import contextlib
import hmac
import math
import os
import socket
import statistics
import struct
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from skelgen.monitor.thresholds import (
    FEWEST_PROBE_TRIPS,
    LONGEST_TRIPS_S,
    PROBE_TRIPS,
    SHORTEST_STREAM_S,
    STREAM_OVERHEAD,
    STREAM_TRIPS,
)

#: Round trips that are answered at most.
_MOST_TRIPS = 32
#: A stream is made of blocks; the first byte of each says whether it is the last one.
BLOCK_BYTES = 16_384
_MORE, _LAST = 0, 1
#: Bytes that are sent or received by one system call at most.
_PIECE_BYTES = 16 * BLOCK_BYTES
#: Bytes that wait for the network: fewer, and the stream ends when it shall.
_WAITING_BYTES = 4 * BLOCK_BYTES
#: Counts closer than this are one [s]: a bound of memory.
_STEP_S = 2e-4
#: What a probe costs besides its streams.
TALK_BYTES = 10_000
_WORD = struct.Struct("!BQQ")
_CODE = 32
_ASK, _GRANT, _RATE = 1, 2, 3


class ProbeError(Exception):
    """A probe failed; the message says why."""


@dataclass(frozen=True, slots=True)
class LinkProbe:
    """What a probe found.

    Attributes
    ----------
    latency_s : float
        Half of the median round trip [s].
    bandwidth_bytes_per_s : float
        Of the slower direction [bytes/s].
    """

    latency_s: float
    bandwidth_bytes_per_s: float


class ProvenConnection:
    """A connection to a monitor that has shown that it knows the secret.

    Parameters
    ----------
    connection : socket
    key : bytes
        Of this talk.
    caller : bool
        Whether this side called.
    limit_s : float
        Time that the whole probe may take [s].
    """

    def __init__(
        self, connection: socket.socket, key: bytes, *, caller: bool, limit_s: float
    ) -> None:
        self._socket, self._key = connection, key
        self._end_s = time.monotonic() + limit_s
        self._own, self._others = (b"c", b"a") if caller else (b"a", b"c")
        self._sent = self._received = 0
        self.cost_bytes = float(TALK_BYTES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError, AttributeError):
            connection.setsockopt(
                socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _WAITING_BYTES
            )

    @property
    def left_s(self) -> float:
        """Return the time that is left [s]."""
        return self._end_s - time.monotonic()

    def say(self, kind: int, one: int, other: int = 0) -> None:
        """Say a word: two numbers, with a code that nobody else can make."""
        word = _WORD.pack(kind, one, other)
        self._sent += 1
        self.send(word + self._code(self._own, self._sent, word))

    def hear(self, kind: int) -> tuple[int, int]:
        """Return the numbers of the word that has to come now."""
        said = self.receive(_WORD.size + _CODE)
        word, code = said[: _WORD.size], said[_WORD.size :]
        self._received += 1
        if not hmac.compare_digest(
            code, self._code(self._others, self._received, word)
        ):
            raise ProbeError("it said what it should not")
        found, one, other = _WORD.unpack(word)
        if found != kind:
            raise ProbeError("it said something else than expected")
        return one, other

    def _code(self, side: bytes, number: int, word: bytes) -> bytes:
        text = side + number.to_bytes(8, "big") + word
        return hmac.digest(self._key, text, "sha256")

    def send(self, data: bytes | memoryview) -> None:
        """Send all of some bytes."""
        view = memoryview(data)
        while view:
            view = view[self.push(view) :]

    def receive(self, count: int) -> bytes:
        """Return exactly so many bytes."""
        data = bytearray(count)
        view = memoryview(data)
        while view:
            view = view[self.pull(view) :]
        return bytes(data)

    def push(self, view: memoryview) -> int:
        """Send some bytes; return how many."""
        return self._in_time(lambda: self._socket.send(view))

    def pull(self, view: memoryview) -> int:
        """Receive some bytes; return how many."""
        if not (count := self._in_time(lambda: self._socket.recv_into(view))):
            raise ProbeError("it ended the connection")
        return count

    def _in_time(self, action: Callable[[], int]) -> int:
        if (left_s := self.left_s) <= 0:
            raise ProbeError("it took too long")
        try:
            self._socket.settimeout(left_s)
            return action()
        except TimeoutError as error:
            raise ProbeError("it took too long") from error
        except OSError as error:
            raise ProbeError(error.strerror or str(error)) from error


def call(line: ProvenConnection, most_bytes: int, most_s: float) -> LinkProbe:
    """Measure a link, as the side that called.

    Parameters
    ----------
    line : ProvenConnection
    most_bytes : int
        That the probe may cost here.
    most_s : float
        Longest time of a stream [s].

    Raises
    ------
    ProbeError
    """
    trip_s = _round_trip_s(line)
    stream_s = min(
        max(STREAM_TRIPS * trip_s, SHORTEST_STREAM_S), most_s, line.left_s / 4
    )
    line.say(_ASK, most_bytes, int(stream_s * 1e6))
    allowed = _one_way(min(most_bytes, line.hear(_GRANT)[0]))
    _give(line, allowed, stream_s)
    there = float(line.hear(_RATE)[0])
    back = _take(line, allowed)
    if not min(there, back) > 0:
        raise ProbeError("the stream was too short to be measured")
    return LinkProbe(trip_s / 2, min(there, back))


def answer(line: ProvenConnection, grant: Callable[[int], int], most_s: float) -> None:
    """Take part in a probe, as the side that was called.

    Parameters
    ----------
    line : ProvenConnection
    grant : callable
        Given the bytes that the probe wants to cost, returns those that it may.
    most_s : float
        Longest time of a stream [s].

    Raises
    ------
    ProbeError
    """
    for _ in range(_MOST_TRIPS):
        said = line.receive(1)
        if said == b".":
            break
        line.send(said)
    else:
        raise ProbeError("too many round trips")
    wanted, time_us = line.hear(_ASK)
    granted = grant(wanted)
    line.say(_GRANT, granted)
    allowed = _one_way(granted)
    line.say(_RATE, int(_take(line, allowed)))
    _give(line, allowed, min(time_us / 1e6, most_s))


def _one_way(cost_bytes: int) -> int:
    """Return how many bytes may go each way when all may cost so many.

    Raises
    ------
    ProbeError
    """
    count = int((cost_bytes - TALK_BYTES) / 2 / STREAM_OVERHEAD)
    if count < 4 * BLOCK_BYTES:
        raise ProbeError("the limit of bytes per hour is reached")
    return count - count % BLOCK_BYTES


def _round_trip_s(line: ProvenConnection) -> float:
    """Return the median time of small round trips [s]."""
    times: list[float] = []
    begin_s = time.monotonic()
    while len(times) < PROBE_TRIPS:
        before_s = time.monotonic()
        line.send(b"p")
        if line.receive(1) != b"p":
            raise ProbeError("it said something else than expected")
        now_s = time.monotonic()
        times.append(now_s - before_s)
        if len(times) >= FEWEST_PROBE_TRIPS and now_s - begin_s > LONGEST_TRIPS_S:
            break
    line.send(b".")
    return statistics.median(times[1:])


def _give(line: ProvenConnection, most_bytes: int, stream_s: float) -> None:
    """Send a stream for some time, or until so many bytes are sent."""
    data = bytearray(os.urandom(_PIECE_BYTES + BLOCK_BYTES))
    data[::BLOCK_BYTES] = bytes([_MORE]) * (len(data) // BLOCK_BYTES)
    view, last = memoryview(data), most_bytes - BLOCK_BYTES
    sent, end_s = 0, time.monotonic() + stream_s
    try:
        while sent < last and (time.monotonic() < end_s or sent % BLOCK_BYTES):
            at = sent % BLOCK_BYTES
            count = min(_PIECE_BYTES, last - sent)
            if time.monotonic() >= end_s:
                count = BLOCK_BYTES - at
            sent += line.push(view[at : at + count])
        data[0] = _LAST
        line.send(view[:BLOCK_BYTES])
    finally:
        line.cost_bytes += STREAM_OVERHEAD * (sent + BLOCK_BYTES)


def _take(line: ProvenConnection, most_bytes: int) -> float:
    """Receive a stream; return the rate of its second half [bytes/s].

    0 where it came all at once.
    """
    view = memoryview(bytearray(_PIECE_BYTES))
    times, counts, total, end = array("d"), array("d"), 0, math.inf
    try:
        while total < end:
            room = view[: min(_PIECE_BYTES, most_bytes + 1 - total)]
            before, total = total, total + line.pull(room)
            now_s = time.monotonic()
            if not times or now_s - times[-1] > _STEP_S:
                times.append(now_s)
                counts.append(total)
            for at in range(-before % BLOCK_BYTES, total - before, BLOCK_BYTES):
                if view[at] == _LAST:
                    end = before + at + BLOCK_BYTES
            if total > min(end, most_bytes):
                raise ProbeError("it sent more than it may")
    finally:
        line.cost_bytes += STREAM_OVERHEAD * total
    if now_s > times[-1]:
        times.append(now_s)
        counts.append(total)
    return second_half_rate(times, counts)


def second_half_rate(times: array[float], counts: array[float]) -> float:
    """Return the rate of a stream in the second half of its time [bytes/s].

    0 where all came at once.

    Parameters
    ----------
    times : array of float
        Rising [s].
    counts : array of float
        Bytes that had arrived by then.

    Examples
    --------
    100 bytes at once and then 10 each second:

    >>> times = array("d", [0, 1, 2, 3, 4])
    >>> second_half_rate(times, array("d", [100, 110, 120, 130, 140]))
    10.0
    """
    if len(times) < 2:
        return 0.0
    middle = bisect_left(times, (times[0] + times[-1]) / 2, hi=len(times) - 2)
    return (counts[-1] - counts[middle]) / (times[-1] - times[middle])
