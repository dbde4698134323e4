"""Have the store take what was watched, by a process of its own.

The monitor stays small: what joins the sightings of runs and knows the store is
started when a run has ended, and ends when the store has it. Sightings stay in their
files until then, so nothing is lost when that fails; it is tried again later.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable, Sequence

#: The first pause after a failure, and the longest [s].
_PAUSE_S, _LONGEST_S = 60.0, 3600.0


def command() -> list[str]:
    """Return what joins the sightings that are seen here and adds runs to the store."""
    return [sys.executable, "-m", "skelgen", "monitor", "runs"]


class Hander:
    """Starts that process, one at a time.

    Parameters
    ----------
    line : sequence of str
        What is started.
    clock : callable
        Returns a time that does not jump [s].
    """

    def __init__(
        self,
        line: Sequence[str],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line, self._clock = list(line), clock
        self._child = 0
        self._done = 0
        self._asked = 0
        self._failures = 0
        self._next_s = -math.inf

    def step(self, ended: int) -> None:
        """Go on: see whether the process has ended, or start it.

        Parameters
        ----------
        ended : int
            So many sightings of runs have ended so far.
        """
        now_s = self._clock()
        if self._child and not self._collected(now_s):
            return
        if ended > self._done and now_s >= self._next_s:
            self._asked = ended
            self._start(now_s)

    def _start(self, now_s: float) -> None:
        actions = [
            (os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1)
        ]
        try:
            self._child = os.posix_spawn(
                self._line[0], self._line, os.environ, file_actions=actions
            )
        except OSError:
            self._failed(now_s)

    def _collected(self, now_s: float) -> bool:
        """Say whether the process has ended."""
        code = 1
        with contextlib.suppress(ChildProcessError):
            child, status = os.waitpid(self._child, os.WNOHANG)
            if not child:
                return False
            code = os.waitstatus_to_exitcode(status)
        self._child = 0
        if code:
            self._failed(now_s)
        else:
            self._failures, self._done = 0, self._asked
        return True

    def _failed(self, now_s: float) -> None:
        self._next_s = now_s + min(_PAUSE_S * 2**self._failures, _LONGEST_S)
        self._failures += 1
