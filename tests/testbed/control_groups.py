"""Control groups of both versions: which cores a host has, and how much of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Groups of hosts outweigh whatever else runs on the machine, for what they do is
#: measured; where ``TESTBED_MODEST`` is set to anything nothing is, and they leave it
#: its share. Of version 1, then of version 2.
_WEIGHTS, _MODEST = (262144, 10000), (2048, 200)


def _weight(version: int) -> str:
    weights = _MODEST if os.environ.get("TESTBED_MODEST") else _WEIGHTS
    return str(weights[version - 1])


class TestbedError(Exception):
    """The cluster cannot be had or used; one line says why and what to do."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class Groups:
    """The control groups of one cluster.

    Attributes
    ----------
    roots : tuple of Path
        The folders the cluster's group is made in: of ``cpu`` and ``cpuset`` in
        version 1, the one tree of version 2.
    version : int
    name : str
        Of the cluster's group in them.
    """

    roots: tuple[Path, ...]
    version: int
    name: str

    def folders(self, host: str = "") -> list[Path]:
        """Return the folders of a host, of the cluster when none is named."""
        return [root / self.name / host for root in self.roots]

    def make(
        self, host: str, *, cpus: str, share: float = 1.0, period_us: int = 10000
    ) -> None:
        """Make the group of a host.

        Parameters
        ----------
        host : str
        cpus : str
            Cores as the kernel lists them, ``0-1,4``.
        share : float
            Part of one core's time that the host's processes get at most [1].
        period_us : int
            Time over which the share is kept [us].
        """
        if self.version == 2:
            self._make_v2(host, cpus, share, period_us)
        else:
            self._make_v1(host, cpus, share, period_us)

    def _make_v1(self, host: str, cpus: str, share: float, period_us: int) -> None:
        cpu, cpuset = self.roots
        mems = (cpuset / "cpuset.mems").read_text()
        for place, cores in (("", (cpuset / "cpuset.cpus").read_text()), (host, cpus)):
            folder = cpuset / self.name / place
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cpuset.cpus").write_text(cores)
            (folder / "cpuset.mems").write_text(mems)
        group = cpu / self.name
        (group / host).mkdir(parents=True, exist_ok=True)
        (group / "cpu.shares").write_text(_weight(1))
        if share < 1:
            (group / host / "cpu.cfs_period_us").write_text(str(period_us))
            quota = str(int(share * period_us))
            (group / host / "cpu.cfs_quota_us").write_text(quota)

    def _make_v2(self, host: str, cpus: str, share: float, period_us: int) -> None:
        (root,) = self.roots
        group = root / self.name
        (group / host).mkdir(parents=True, exist_ok=True)
        self.hand_on()
        _hand_on(group)
        (group / "cpu.weight").write_text(_weight(2))
        (group / host / "cpuset.cpus").write_text(cpus)
        if share < 1:
            limit = f"{int(share * period_us)} {period_us}"
            (group / host / "cpu.max").write_text(limit)

    def hand_on(self) -> None:
        """Have groups in the roots divide cores and time; version 2 must be told.

        Raises
        ------
        TestbedError
            When it refuses: a container's root may hold processes.
        """
        for root in self.roots if self.version == 2 else ():
            _hand_on(root)

    def compete(self, host: str, name: str, weight: float) -> Path:
        """Make a group inside a host's, or weigh the one there is.

        Version 2 lets a group hold processes and groups only when these are threaded.

        Parameters
        ----------
        host, name : str
        weight : float
            All its processes together count as so many in the host's group [1].

        Returns
        -------
        Path
            The file that takes the number of a process that shall compete.
        """
        inside = self.folders(host)[0] / name
        fresh = not inside.exists()
        inside.mkdir(exist_ok=True)
        if self.version == 1:
            (inside / "cpu.shares").write_text(str(max(2, round(1024 * weight))))
            return inside / "cgroup.procs"
        if fresh:
            (inside / "cgroup.type").write_text("threaded")
            (inside.parent / "cgroup.subtree_control").write_text("+cpu")
        weights = min(max(1, round(100 * weight)), 10000)
        (inside / "cpu.weight").write_text(str(weights))
        return inside / "cgroup.threads"

    def members(self, host: str, name: str = "") -> list[int]:
        """Return the processes of a host's group, or of one inside it."""
        return _members(self.folders(host)[0] / name)

    def clear(self, host: str, name: str = "", *, remove: bool = True) -> None:
        """Kill all in a host's group, or in one inside it, and remove the group."""
        for folder in self.folders(host):
            for _ in _until(60.0):
                left = _members(folder / name)
                for process in left:
                    _kill(process)
                if not left and not (remove and _removed(folder / name)):
                    break
            else:
                raise TestbedError(f"{folder / name} cannot be emptied")

    def enter(self, host: str) -> None:
        """Move this process, and what it starts from now on, into a host's group."""
        for folder in self.folders(host):
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def leave(self) -> None:
        """Move this process back to where the cluster's group was made."""
        for root in self.roots:
            try:
                (root / "cgroup.procs").write_text(str(os.getpid()))
            except OSError:
                continue

    def processes(self) -> set[int]:
        """Return all processes in the cluster's groups, this one left out."""
        found: set[int] = set()
        for folder in self.folders():
            for group in _tree(folder):
                try:
                    words = (group / "cgroup.procs").read_text().split()
                except OSError:  # gone meanwhile
                    continue
                found.update(int(word) for word in words)
        return found - {os.getpid()}

    def remove(self) -> None:
        """Kill what is left in the groups and remove them; twice does no harm."""
        self.leave()
        for _ in _until(60.0):
            for process in self.processes():
                _kill(process)
            if not any(_removed(folder) for folder in self.folders()):
                return
        names = ", ".join(str(f) for f in self.folders() if f.exists())
        raise TestbedError(f"{names} cannot be removed; see which processes it holds")


def _members(folder: Path) -> list[int]:
    """Return the processes of a group; none when it is not there."""
    for file in ("cgroup.procs", "cgroup.threads"):  # threaded groups hide the first
        try:
            return [int(word) for word in (folder / file).read_text().split()]
        except OSError:
            continue
    return []


def _hand_on(folder: Path) -> None:
    try:
        (folder / "cgroup.subtree_control").write_text("+cpu +cpuset")
    except OSError as error:
        raise TestbedError(
            f"{folder}/cgroup.subtree_control: cannot hand on cpu and cpuset "
            f"({error.strerror}); in a container move its processes into a group below "
            "it first, or run where the tree may be written"
        ) from error


def _removed(folder: Path) -> bool:
    """Try to remove a tree of groups; say whether something is left."""
    for group in _tree(folder):
        _rmdir(group)
    return folder.exists()


def _tree(folder: Path) -> list[Path]:
    """Return a folder behind those in it; without what others remove meanwhile."""
    return [Path(path) for path, _, _ in os.walk(folder, topdown=False)]


def _rmdir(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _until(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)


def find_groups(name: str, *, mounted: Path = Path("/sys/fs/cgroup")) -> Groups:
    """Find out which version of control groups this machine has.

    Raises
    ------
    TestbedError
        When it has none that can be written.
    """
    candidates: Sequence[tuple[int, tuple[Path, ...]]] = (
        (1, (mounted / "cpu", mounted / "cpuset")),
        (2, (mounted,)),
    )
    for version, roots in candidates:
        if all((root / "cgroup.procs").exists() for root in roots):
            if version == 2 and not _controls(roots[0]) >= {"cpu", "cpuset"}:
                continue
            if not all(os.access(root, os.W_OK) for root in roots):
                raise TestbedError(f"{mounted}: not writable; root is needed")
            return Groups(roots, version, name)
    raise TestbedError(
        f"{mounted}: no control groups with cpu and cpuset; mount them, or run "
        "skelgen on real hosts"
    )


def _controls(root: Path) -> set[str]:
    return set((root / "cgroup.controllers").read_text().split())
