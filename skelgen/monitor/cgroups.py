"""Find our control group, and read what the kernel says of groups.

In version 1 each controller has a tree of its own, in version 2 there is one; both may
be mounted. In a container only the part of the tree is seen that is mounted there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.monitor.counters import core_list

#: Weight of a thread of ordinary priority, of a group by default, in each version.
_UNIT = {1: 1024.0, 2: 100.0}
#: Of a group that may only use what is left over.
_IDLE = 3.0 / 1024


def read(path: str) -> str:
    """Return the text of a file of the kernel, with few system calls.

    Raises
    ------
    OSError
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(handle, 1 << 16):
            parts.append(part)
        return b"".join(parts).decode("ascii", "replace")
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True)
class Tree:
    """Where control groups are found.

    Attributes
    ----------
    version : int
        1 or 2; 0 where there are none.
    folders : tuple of str
        From the root, or what is seen as root, to the group that shares its time among
        new processes.
    usage, cpuset, memory : tuple of str
        The same groups, or ours alone, in the trees of these controllers; empty where
        they are not the same as those in `folders`, or not mounted.
    leaf : str
        Our group; below the last of `folders` where that shares for groups below it.
    whole : bool
        Whether the first of `folders` is the root of the machine.
    """

    version: int
    folders: tuple[str, ...]
    usage: tuple[str, ...] = ()
    cpuset: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    leaf: str = ""
    whole: bool = True


def find_tree(cgroups: str, mounts: str, *, root: str = "") -> Tree:
    """Find our control group.

    Parameters
    ----------
    cgroups : str
        Text of ``/proc/self/cgroup``.
    mounts : str
        Text of ``/proc/self/mountinfo``.
    root : str
        What stands before all paths; for samples of other machines.
    """
    paths: dict[str, str] = {}
    for line in cgroups.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    places = mounted(mounts, root)

    def chain(controller: str) -> tuple[str, ...]:
        if controller not in paths or controller not in places:
            return ()
        seen_from, at = places[controller]
        return _chain(paths[controller], seen_from, root + at)

    if first := chain("cpu"):
        usage = chain("cpuacct")
        same = paths.get("cpuacct") == paths["cpu"] and len(usage) == len(first)
        return Tree(
            1,
            first,
            usage if same else (),
            chain("cpuset"),
            chain("memory"),
            first[-1],
            os.path.exists(f"{first[0]}/release_agent"),  # noqa: PTH110
        )
    if not (whole := chain("")):
        return Tree(0, ())
    sharing = [whole[0]]
    for folder in whole[1:]:
        if not os.path.exists(f"{folder}/cpu.weight"):  # noqa: PTH110
            break
        sharing.append(folder)
    rooted = not os.path.exists(f"{whole[0]}/cgroup.type")  # noqa: PTH110
    return Tree(2, tuple(sharing), tuple(sharing), whole, whole, whole[-1], rooted)


def mounted(mounts: str, root: str) -> dict[str, tuple[str, str]]:
    """Return for each controller which group is mounted, and where; "" is version 2."""
    found: dict[str, tuple[str, str]] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.partition(" ")
        words = before.split()
        if len(words) < 5 or not os.path.isdir(root + words[4]):  # noqa: PTH112
            continue
        if kind == "cgroup2":
            found.setdefault("", (words[3], words[4]))
        elif kind == "cgroup":
            for name in options.split()[-1].split(","):
                found.setdefault(name, (words[3], words[4]))
    return found


def _chain(path: str, seen_from: str, at: str) -> tuple[str, ...]:
    """Return the folders from a mounted group down to ours."""
    inside = path.removeprefix(seen_from.rstrip("/")) if seen_from != "/" else path
    if inside == path and seen_from != "/":
        inside = "/"  # ours is not below what is mounted
    names = [name for name in inside.split("/") if name]
    if ".." in names:
        names = []
    folders = [at]
    for name in names:
        folders.append(f"{folders[-1]}/{name}")
    seen = [one for one in folders if os.path.isdir(one)]  # noqa: PTH112
    return tuple(seen)


def weight_of(folder: str, version: int) -> float:
    """Return the weight of a group; 1 is that of a thread of ordinary priority."""
    try:
        if int(read(f"{folder}/cpu.idle")):
            return _IDLE
    except (OSError, ValueError):
        pass  # older kernels have none
    name = "cpu.shares" if version == 1 else "cpu.weight"
    try:
        return max(int(read(f"{folder}/{name}")) / _UNIT[version], 1e-6)
    except (OSError, ValueError):
        return 1.0


def quota_of(folder: str, version: int) -> float:
    """Return how many cores a group may use at most [cores]; inf: all."""
    try:
        if version == 2:
            most, period = read(f"{folder}/cpu.max").split()
        else:
            most = read(f"{folder}/cpu.cfs_quota_us").strip()
            period = read(f"{folder}/cpu.cfs_period_us").strip()
        return math.inf if most == "max" or int(most) < 0 else int(most) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf  # the root has none


def cores_of(folder: str, version: int) -> frozenset[int] | None:
    """Return the cores that a group may use, None where it does not say so."""
    names = ["cpuset.cpus.effective"]
    if version == 1:
        names = ["cpuset.effective_cpus", "cpuset.cpus"]
    for name in names:
        try:
            if found := core_list(read(f"{folder}/{name}")):
                return found
        except (OSError, ValueError):
            continue
    return None


def used_s(folder: str, version: int, cores: frozenset[int]) -> tuple[float, float]:
    """Return the CPU time that a group has had, and that on some cores [s].

    Version 2 does not say on which: then the second is nan.

    Raises
    ------
    OSError, ValueError
        When it cannot be read.
    """
    if version == 1:
        per_core = [int(t) for t in read(f"{folder}/cpuacct.usage_percpu").split()]
        ours = sum(t for at, t in enumerate(per_core) if at in cores)
        return sum(per_core) / 1e9, ours / 1e9
    for line in read(f"{folder}/cpu.stat").splitlines():
        if line.startswith("usage_usec "):
            return int(line.split()[1]) / 1e6, math.nan
    raise ValueError(f"{folder}/cpu.stat: no usage_usec")


def children(folder: str) -> list[str]:
    """Return the groups in a group; none where it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return [one.path for one in found if one.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def threads(folder: str) -> list[int]:
    """Return the threads directly in a group, those that we can see."""
    for name in ("tasks", "cgroup.threads", "cgroup.procs"):
        try:
            return [int(word) for word in read(f"{folder}/{name}").split() if int(word)]
        except (OSError, ValueError):
            continue
    return []


def threads_below(folder: str) -> list[int]:
    """Return the threads in a group and in all groups in it."""
    found = threads(folder)
    for child in children(folder):
        found += threads_below(child)
    return found


def processes(proc: str) -> list[int]:
    """Return all processes that we can see."""
    return [int(name) for name in os.listdir(proc) if name.isdecimal()]  # noqa: PTH208


def threads_of(proc: str, processes: Sequence[int]) -> frozenset[int]:
    """Return the threads of some processes."""
    found: set[int] = set()
    for one in processes:
        try:
            names = os.listdir(f"{proc}/{one}/task")  # noqa: PTH208
        except OSError:
            continue  # it has ended
        found.update(int(name) for name in names)
    return frozenset(found)


def memory_left(folders: Sequence[str], version: int) -> float:
    """Return what limits of groups leave for new memory [bytes]; inf: no limit.

    Files that were read and are kept in memory give way to programs.
    """
    left = math.inf
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        )
    for folder in folders:
        try:
            limit = read(f"{folder}/{names[0]}").strip()
            if limit == "max" or int(limit) > 1 << 60:
                continue
            used = int(read(f"{folder}/{names[1]}"))
            facts = dict(
                line.split(" ", 1)
                for line in read(f"{folder}/memory.stat").splitlines()
            )
            left = min(left, max(0, int(limit) - used + int(facts[names[2]])))
        except (OSError, ValueError, KeyError):
            continue
    return left
