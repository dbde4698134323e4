"""What probes have cost in the last hour, and what they may still cost."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from skelgen.monitor.folders import writing

_HOUR_S = 3600.0
#: Costs within this time are one entry [s].
_ENTRY_S = 60.0
#: An account that is longer than this is none of ours [bytes].
_MOST_BYTES = 100_000


class Account:
    """Bytes that were sent and received for probes; never more than the limit an hour.

    Bytes are taken before a probe and given back after it where it needed fewer. The
    account is kept in a file: a monitor that starts again goes on with it.

    Parameters
    ----------
    limit_bytes : float
        For any time of an hour.
    path : Path
    wall, clock : callable
        Return seconds since 1970 in UTC, and a time that does not jump [s].
    """

    def __init__(
        self,
        limit_bytes: float,
        path: Path,
        *,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit_bytes = int(limit_bytes)
        self._path, self._wall, self._clock = path, wall, clock
        self._lock = threading.Lock()
        self._entries = deque(self._read())  # begin, end [s], bytes

    def spent(self) -> int:
        """Return the bytes of the last hour."""
        with self._lock:
            return self._spent()

    def take(self, wanted: int) -> int:
        """Take bytes for a probe; return how many it may have, perhaps fewer.

        Raises
        ------
        MachineError
            When the account cannot be written.
        """
        with self._lock:
            taken = max(0, min(wanted, self.limit_bytes - self._spent()))
            self._add(taken)
            self._write()
        return taken

    def give_back(self, taken: int, used: int) -> None:
        """Give back what a probe did not use of what it took last.

        Raises
        ------
        MachineError
        """
        with self._lock:
            begin, _, count = self._entries.pop()
            count -= max(0, taken - used)
            # Bytes were on the way until now.
            self._entries.append((begin, self._clock(), count))
            self._write()

    def _spent(self) -> int:
        now = self._clock()
        while self._entries and now - self._entries[0][1] > _HOUR_S:
            self._entries.popleft()
        return sum(count for _, _, count in self._entries)

    def _add(self, count: int) -> None:
        now = self._clock()
        if self._entries and now - self._entries[-1][0] < _ENTRY_S:
            begin, _, before = self._entries.pop()
            self._entries.append((begin, now, before + count))
        else:
            self._entries.append((now, now, count))

    def _read(self) -> list[tuple[float, float, int]]:
        """Return what an earlier monitor spent; all, when nobody can say it."""
        now, wall = self._clock(), self._wall()
        try:
            with self._path.open(encoding="ascii") as file:
                said = json.loads(file.read(_MOST_BYTES))
            ages = [(max(0.0, wall - float(end)), int(count)) for end, count in said]
            if not all(count >= 0 for _, count in ages):
                raise ValueError("a negative cost")
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, OverflowError, RecursionError):
            return [(now, now, self.limit_bytes)]
        ages.sort(reverse=True)
        return [(now - age, now - age, count) for age, count in ages]

    def _write(self) -> None:
        now, wall = self._clock(), self._wall()
        said = [[round(wall - now + end, 1), count] for _, end, count in self._entries]
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with writing(self._path):
            handle = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
            )
            with os.fdopen(handle, "w") as file:
                json.dump(said, file)
            beside.replace(self._path)
