"""How much may be sent: by each token in a day, and while there is room on the disk."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skelgen.server.settings import RefusedError
from skelgen.units import format_bytes

_DAY_S = 86400.0
#: Uploads at the same time, of all and of one token.
_MOST_AT_ONCE, _MOST_OF_ONE = 8, 2


class Allowance:
    """What was sent today, by the names of tokens; it begins anew with the server.

    Parameters
    ----------
    daily_bytes : int
        Of a token, in a day of UTC [bytes].
    free_bytes : int
        Room that is left on each disk [bytes].
    folders : sequence of Path
        On these disks.
    clock : callable
        Returns seconds since 1970 [s].
    """

    def __init__(
        self,
        daily_bytes: int,
        free_bytes: int,
        folders: Sequence[Path],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._daily_bytes, self._free_bytes = daily_bytes, free_bytes
        self._folders, self._clock = folders, clock
        self._lock = threading.Lock()
        self._day = 0
        self._sent: Counter[str] = Counter()
        self._now: Counter[str] = Counter()

    def left(self, name: str) -> int:
        """Return how much a token may send today [bytes]."""
        with self._lock:
            self._begin_day()
            return max(0, self._daily_bytes - self._sent[name])

    def charge(self, name: str, size_bytes: int) -> None:
        """Count what a token sends, before it is kept.

        Raises
        ------
        RefusedError
            When that is too much for today, or for the disk.
        """
        with self._lock:
            self._begin_day()
            if self._sent[name] + size_bytes > self._daily_bytes:
                raise RefusedError(
                    429,
                    f"your token has sent {format_bytes(self._sent[name])} today, of "
                    f"{format_bytes(self._daily_bytes)} that it may; go on tomorrow "
                    "(UTC), or ask who runs the server (--daily)",
                )
            self._sent[name] += size_bytes
        for folder in self._folders:
            if _free_bytes(folder) - size_bytes < self._free_bytes:
                raise full()

    @contextlib.contextmanager
    def place(self, name: str) -> Iterator[None]:
        """Let a token send files meanwhile, a few at the same time.

        Raises
        ------
        RefusedError
            When too many are sent already.
        """
        with self._lock:
            of_one, of_all = self._now[name], self._now.total()
            if of_one >= _MOST_OF_ONE or of_all >= _MOST_AT_ONCE:
                raise RefusedError(
                    429, "other files are being sent just now; try again in a minute"
                )
            self._now[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._now[name] -= 1

    def _begin_day(self) -> None:
        day = int(self._clock() // _DAY_S)
        if day != self._day:
            self._day = day
            self._sent.clear()


def full() -> RefusedError:
    """Return what is said when the disk of the server is full."""
    return RefusedError(
        507, "the server's disk is nearly full; ask who runs it to free some room"
    )


def _free_bytes(folder: Path) -> int:
    """Return the room on the disk of a folder, or of the next one above that exists."""
    for one in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(one).free
    return 0
