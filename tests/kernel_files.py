"""Pretended machines: the files of a kernel, for what reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_V2_MOUNT = "29 22 0:26 {root} {at} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
_V1_MOUNT = "3{n} 31 0:3{n} {root} {at} rw,relatime - cgroup cgroup rw,{options}\n"


@dataclass
class Machine:
    """Files below a folder, as a machine has them below its root.

    Attributes
    ----------
    root : Path
    cores : dict
        Counters of each [1/100 s].
    affinity : dict
        Cores that a thread may use, where these are not all.
    """

    root: Path
    cores: dict[int, list[int]] = field(default_factory=dict)
    affinity: dict[int, set[int]] = field(default_factory=dict)

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def group(self, path: str, files: Mapping[str, str]) -> None:
        """Make a control group with files."""
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            self.write(f"{path}/{name}", text + "\n")

    def use(self, core: int, **ticks: int) -> None:
        """Let time pass on a core: user, idle, steal, soft [1/100 s]."""
        counts = self.cores.setdefault(core, [0] * 10)
        for name, more in ticks.items():
            at = ["user", "nice", "system", "idle", "wait", "hard", "soft", "steal"]
            counts[at.index(name)] += more
        lines = [
            f"cpu{n} {' '.join(map(str, c))}" for n, c in sorted(self.cores.items())
        ]
        total = [sum(column) for column in zip(*self.cores.values(), strict=True)]
        head = f"cpu  {' '.join(map(str, total))}"
        self.write(
            "proc/stat", "\n".join([head, *lines, "intr 1 2 3", "ctxt 9"]) + "\n"
        )

    def thread(
        self,
        number: int,
        ticks: int,
        *,
        nice: int = 0,
        policy: int = 0,
        session: int = 1,
    ) -> None:
        """Have a thread with so much CPU time [1/100 s]."""
        fields = ["R", "1", "1", str(session), *["0"] * 7, str(ticks), "0", *["0"] * 3]
        fields += [str(nice), *["0"] * 19, "0", "0", str(policy), "0", "0"]
        text = f"{number} (a (b) c) {' '.join(fields)}\n"
        self.write(f"proc/{number}/task/{number}/stat", text)

    def begin(self, *, groups: str, mounts: str) -> None:
        """Write what every machine has."""
        self.write("proc/self/cgroup", groups)
        self.write("proc/self/mountinfo", mounts)
        self.write("proc/loadavg", "0.42 1.19 1.47 3/95 8875\n")
        self.write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 8000000 kB\n")
        self.write("proc/sys/kernel/sched_autogroup_enabled", "0\n")
        self.network(1000, 2000)
        self.pressure(0)

    def network(self, received: int, sent: int) -> None:
        """Have so many bytes gone through eth0."""
        zeros = "0 0 0 0 0 0 0"
        text = (
            "Inter-|   Receive\n face |bytes\n"
            f"    lo: 7 {zeros} 7 {zeros}\n"
            f"  eth0: {received} {zeros} {sent} {zeros}\n"
        )
        self.write("proc/net/dev", text)

    def pressure(self, microseconds: int) -> None:
        """Have some thread waited for so long [us]."""
        self.write(
            "proc/pressure/cpu",
            f"some avg10=0.00 avg60=0.00 avg300=0.00 total={microseconds}\n"
            "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        )


def stat_v2(used_s: float) -> str:
    """Return a ``cpu.stat`` of version 2."""
    return (
        f"usage_usec {round(used_s * 1e6)}\nuser_usec 1\nsystem_usec 1\n"
        "nr_periods 10\nnr_throttled 2\nthrottled_usec 5"
    )


class V2(Machine):
    """A machine with version 2: systemd, four cores, a job of Slurm beside services.

    The monitor is in the job, which has cores 0 and 1.
    """

    TOP = "sys/fs/cgroup"
    JOB = f"{TOP}/system.slice/slurmstepd.scope/job_7"

    def up(self, *, quota: str = "max 100000", weight: int = 100) -> V2:
        """Write its files."""
        self.begin(
            groups="0::/system.slice/slurmstepd.scope/job_7\n",
            mounts=_V2_MOUNT.format(root="/", at="/sys/fs/cgroup"),
        )
        inner = {"cgroup.type": "domain", "cpu.max": "max 100000", "cpu.idle": "0"}
        self.group(
            self.TOP,
            {
                "cgroup.controllers": "cpuset cpu io memory pids",
                "cpuset.cpus.effective": "0-3",
                "cpu.stat": stat_v2(0),
                "cgroup.threads": "2\n3",
            },
        )
        for name in ("user.slice", "init.scope"):
            self.group(
                f"{self.TOP}/{name}",
                {
                    **inner,
                    "cpu.weight": "100",
                    "cpu.stat": stat_v2(0),
                    "cpuset.cpus.effective": "0-3",
                    "cgroup.threads": "",
                },
            )
        for path in ("system.slice", "system.slice/slurmstepd.scope"):
            self.group(
                f"{self.TOP}/{path}",
                {
                    **inner,
                    "cpu.weight": "100",
                    "cpu.stat": stat_v2(0),
                    "cpuset.cpus.effective": "0-3",
                    "cgroup.threads": "",
                },
            )
        self.group(
            self.JOB,
            {
                **inner,
                "cpu.max": quota,
                "cpu.weight": str(weight),
                "cpu.stat": stat_v2(0),
                "cpuset.cpus.effective": "0-1",
                "cgroup.threads": "100\n101",
                "memory.max": "4000000000",
                "memory.current": "1500000000",
                "memory.stat": "anon 7\ninactive_file 500000000",
            },
        )
        for core in range(4):
            self.use(core, user=100, idle=100)
        return self

    def used(self, group: str, seconds: float) -> None:
        """Have a group had so much CPU time, and no more [s]."""
        self.write(f"{self.TOP}/{group}/cpu.stat", stat_v2(seconds) + "\n")


def v1_mounts(at: str = "/sys/fs/cgroup", seen_from: str = "/") -> str:
    """Return the mounts of version 1 as Debian has them."""
    names = {"cpu,cpuacct": "cpu,cpuacct", "cpuset": "cpuset", "memory": "memory"}
    return "".join(
        _V1_MOUNT.format(n=n, root=seen_from, at=f"{at}/{folder}", options=options)
        for n, (folder, options) in enumerate(names.items(), start=2)
    ) + _V2_MOUNT.format(root="/", at=f"{at}/unified")
