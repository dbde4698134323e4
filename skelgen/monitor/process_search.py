"""Find the processes of applications without a look at all of them.

The kernel says which number it gave to a process last. As long as that stays, no
process is new; when a few are new, only these are looked at. All are listed when many
are new, and now and then: a process may have become another program meanwhile.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skelgen.errors import UsageError
from skelgen.monitor.application_names import named
from skelgen.monitor.cgroups import mounted, processes, read
from skelgen.monitor.thresholds import LOOKS_AT_NEW, SEARCHING_COST

#: Time between samples unless told otherwise [s].
USUAL_S = 10.0
#: So many new numbers are looked at one by one.
_FEW = 200
#: All are looked at again after this, at most so often [s].
_AGAIN_S = 300.0
#: Characters of a name.
_LONGEST = 200
_GROUPS = "/sys/fs/cgroup"


@dataclass(frozen=True, slots=True)
class Watched:
    """What is watched.

    Attributes
    ----------
    names : tuple of str
        Of programs.
    cgroups : tuple of str
        Folders of control groups; each counts with all below it.
    """

    names: tuple[str, ...] = ()
    cgroups: tuple[str, ...] = ()


def watched_of(words: Sequence[str]) -> Watched:
    """Read what is to be watched: names, and control groups as ``cgroup:PATH``.

    Raises
    ------
    UsageError
        When it is nothing that can be watched.

    Examples
    --------
    >>> watched_of(["heat2d,lu", "cgroup:/sys/fs/cgroup/jobs"])
    Watched(names=('heat2d', 'lu'), cgroups=('/sys/fs/cgroup/jobs',))
    """
    names: list[str] = []
    cgroups: list[str] = []
    for word in [one for text in words for one in text.split(",")]:
        kind, colon, path = word.partition(":")
        if colon and kind == "cgroup":
            cgroups.append(_cgroup(path))
        elif not word.strip() or "/" in word or len(word) > _LONGEST:
            raise UsageError(
                f"--watch {word[:60]!r}: expected the name of a program without its "
                "folder, or cgroup:PATH"
            )
        else:
            names.append(word.strip())
    return Watched(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(cgroups)))


def _cgroup(path: str) -> str:
    """Return the folder of a control group, named by it or as in /proc/PID/cgroup."""
    if not path.startswith("/") or path == "/":
        raise UsageError(
            f"--watch cgroup:{path[:60]}: expected a path such as "
            "cgroup:/system.slice/app.service, as /proc/PID/cgroup has it"
        )
    if path.startswith(_GROUPS):
        return path
    with contextlib.suppress(OSError, ValueError):
        mounts = mounted(read("/proc/self/mountinfo"), "")
        for controller in ("cpu", "", *mounts):
            if controller in mounts:
                seen_from, at = mounts[controller]
                inside = path.removeprefix(seen_from.rstrip("/"))
                return f"{at}{inside}"
    return f"{_GROUPS}{path}"


class Finder:
    """Finds processes of watched applications, each once.

    Parameters
    ----------
    watched : Watched
    interval_s : float
        Between samples; finding pauses for so long at most [s].
    proc : str
        Where the kernel shows processes.
    clock : callable
        Returns a time that does not jump [s].
    cost : callable
        Returns the CPU time that this process has had [s].
    """

    def __init__(
        self,
        watched: Watched,
        interval_s: float,
        *,
        proc: str = "/proc",
        clock: Callable[[], float] = time.monotonic,
        cost: Callable[[], float] = time.process_time,
    ) -> None:
        self._watched, self._interval_s, self._proc = watched, interval_s, proc
        self._clock, self._cost = clock, cost
        self._own, self._user = os.getpid(), os.geteuid()
        self._last = -1
        self._seen: set[int] = set()
        self._young: dict[int, int] = {}
        self._next_s = self._again_s = -math.inf

    def find(self) -> Iterator[tuple[int, str, str]]:
        """Yield processes that are new: number, application and watched group."""
        for cgroup in self._watched.cgroups:
            name = os.path.basename(cgroup.rstrip("/"))  # noqa: PTH119
            yield from (
                (pid, name, cgroup)
                for pid in processes_below(cgroup)
                if pid != self._own
            )
        now_s = self._clock()
        if not self._watched.names or now_s < self._next_s:
            return
        before, again = self._cost(), now_s >= self._again_s
        for pid in self._candidates(now_s):
            if (known := self._name(pid)) is not None:
                self._young.pop(pid, None)
                yield pid, known, ""
        if not again:  # that is seldom enough
            pause_s = (
                (self._cost() - before) / SEARCHING_COST * self._interval_s / USUAL_S
            )
            self._next_s = now_s + min(pause_s, self._interval_s)

    def _candidates(self, now_s: float) -> list[int]:
        """Return the processes that may have become what is watched."""
        young = [pid for pid, looks in self._young.items() if looks > 0]
        self._young = {pid: self._young[pid] - 1 for pid in young}
        last = self._last_number()
        again = now_s >= self._again_s
        if not again and last == self._last >= 0:
            return young
        if not again and 0 <= self._last < last <= self._last + _FEW:
            new = [
                pid
                for pid in range(self._last + 1, last + 1)
                if os.path.isdir(f"{self._proc}/{pid}")  # noqa: PTH112
            ]
            self._seen.update(new)
        else:
            found = processes(self._proc)
            new = [pid for pid in found if again or pid not in self._seen]
            self._seen = set(found)
            if again:
                self._again_s = now_s + _AGAIN_S
        self._last = last
        self._young |= dict.fromkeys(new, LOOKS_AT_NEW)
        return sorted({*young, *new})

    def _last_number(self) -> int:
        try:
            return int(read(f"{self._proc}/loadavg").split()[4])
        except (OSError, ValueError, IndexError):
            return -1

    def _name(self, pid: int) -> str | None:
        """Return which application a process is; None: none that is watched."""
        folder = f"{self._proc}/{pid}"
        try:
            if pid == self._own or (
                self._user and os.stat(folder).st_uid != self._user  # noqa: PTH116
            ):
                self._young.pop(pid, None)
                return None
            kept, words = read(f"{folder}/comm").rstrip("\n"), words_of(self._proc, pid)
            name = named(self._watched.names, kept, words, "")
            if name is None:
                return None
            # Threads have numbers, too.
            return name if f"\nTgid:\t{pid}\n" in read(f"{folder}/status") else None
        except OSError:
            self._young.pop(pid, None)
            return None


def words_of(proc: str, pid: int) -> Sequence[str]:
    """Return the command of a process; nothing where it cannot be read."""
    try:
        text = read(f"{proc}/{pid}/cmdline")
    except OSError:
        return []
    return text.rstrip("\0").split("\0") if text else []


def variables_of(proc: str, pid: int) -> dict[str, str]:
    """Return the variables that a process was started with, as far as we may know."""
    try:
        text = read(f"{proc}/{pid}/environ")
    except OSError:
        return {}
    pairs = (one.partition("=") for one in text.split("\0"))
    return {name: value for name, equals, value in pairs if equals}


def processes_below(cgroup: str) -> list[int]:
    """Return the processes of a control group and of all groups in it."""
    found: list[int] = []
    waiting = [cgroup]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            words = read(f"{folder}/cgroup.procs").split()
            found += [pid for pid in map(int, words) if pid]
        with contextlib.suppress(OSError), os.scandir(folder) as inside:
            waiting += [e.path for e in inside if e.is_dir(follow_symlinks=False)]
    return sorted(found)
