"""Bound this process, then become a command: executed as a script, without skelgen.

Limits and the wish to end with who started it outlive `exec`; what a thread would do
between fork and exec in their place is not safe.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

#: `PR_SET_PDEATHSIG` of Linux: a signal comes when who started this process ends.
_WITH_PARENT = 1
#: Processor time between the signal that a program can see and the end of it [s].
_LAST_S = 5


def main(words: list[str]) -> None:
    """Take the parent, limits and a command from words.

    Parameters
    ----------
    words : list of str
        Number of the parent, processor time [s], memory [bytes], niceness, command.
    """
    parent, time_s, memory_bytes, niceness = map(int, words[:4])
    os.nice(niceness)
    _limit(resource.RLIMIT_CPU, time_s, time_s + _LAST_S)
    _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes)
    _limit(resource.RLIMIT_CORE, 0, 0)
    ctypes.CDLL(None).prctl(_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the wish was known
        sys.exit(1)
    os.execv(words[4], words[4:])


def _limit(kind: int, soft: int, hard: int) -> None:
    """Set a limit, where no lower one is set."""
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


if __name__ == "__main__":
    main(sys.argv[1:])
