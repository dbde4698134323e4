"""Loads of a host of the test cluster, for what says how much a new process gets."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
BUSY = "while True: pass"
#: Processes that end before anybody looks at them.
BRIEF = """
import os, time
while True:
    if os.fork():
        os.wait()
        continue
    while time.process_time() < 0.03:
        pass
    os._exit(0)
"""
#: Spins for so long, then prints its share of a core, and what processes of others had
#: meanwhile of the cores that it may use [cores]. In the namespace of a host only the
#: processes of the benchmark are seen; `/proc/stat` counts all.
SPIN = """
import os, time
OURS = os.sched_getaffinity(0)
TICKS = os.sysconf("SC_CLK_TCK")

def had():
    total = 0
    for name in os.listdir("/proc"):
        try:
            text = open(f"/proc/{name}/stat").read() if name.isdecimal() else ""
        except OSError:
            continue
        total += sum(map(int, text.rpartition(")")[2].split()[11:15]))
    return total / TICKS

def idle():
    lines = [line.split() for line in open("/proc/stat") if line[:3] == "cpu"]
    ours = [one for one in lines if one[0][3:] and int(one[0][3:]) in OURS]
    return sum(int(one[4]) + int(one[5]) for one in ours) / TICKS

def spin(seconds):
    all_had, none_had = had(), idle()
    begin, mine = time.monotonic(), time.thread_time()
    while time.monotonic() - begin < seconds:
        pass
    share = (time.thread_time() - mine) / (time.monotonic() - begin)
    used, unused = had() - all_had, idle() - none_had
    passed = time.monotonic() - begin
    return share, max(0.0, len(OURS) - (used + unused) / passed)
"""


@dataclass(frozen=True, slots=True)
class Load:
    """A load of a host.

    Attributes
    ----------
    busy : int
        Busy processes.
    weight : float
        0: they are in the monitor's group; else in one beside it, whose weight is so
        many times that of the monitor's.
    quota : float
        Of the monitor's group [cores].
    cores : int
        That all of them may run on.
    brief : bool
        Each busy process is a row of many that live for moments.
    bound : bool
        Each busy process is bound to a core.
    """

    busy: int
    weight: float = 0.0
    quota: float = 1.0
    cores: int = 1
    brief: bool = False
    bound: bool = False

    @property
    def name(self) -> str:
        where = "in our group" if not self.weight else f"beside, weight {self.weight:g}"
        limit = f", quota {self.quota:.0%}" if self.quota < 1 else ""
        kind = "brief" if self.brief else "bound" if self.bound else "busy"
        return f"{self.busy} {kind} {where}{limit}, {self.cores} core(s)"

    @property
    def kind(self) -> str:
        """Return the row of the table to which it belongs."""
        if self.brief:
            return "brief"
        return f"{self.cores} core(s){', bound' if self.bound else ''}"


LOADS = [
    *(Load(busy) for busy in range(4)),
    *(Load(busy, w) for busy in (1, 3) for w in (0.1, 0.33, 1, 3, 10)),
    *(Load(busy, quota=quota) for quota in (0.2, 0.5, 0.8) for busy in (0, 1, 3)),
    *(Load(2, 1.0, quota) for quota in (0.2, 0.5)),
    *(Load(busy, cores=2) for busy in (1, 2, 3)),
    *(Load(2, weight, cores=2) for weight in (0.33, 1, 3)),
    *(Load(busy, cores=2, bound=True) for busy in (1, 2)),
    Load(1, brief=True),
]


class Host:
    """The host of the test cluster, with a group for the monitor and one beside it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._cpu, self._set = cluster.groups.folders("h1")[:2]
        if cluster.groups.version != 1:
            sys.exit("monitor: this needs control groups of version 1")
        for name in ("own", "beside"):
            (self._cpu / name).mkdir(exist_ok=True)

    def _inside(self, group: str, line: list[str]) -> list[str]:
        enter = f"echo $$ > {self._cpu / group}/cgroup.procs"
        return self._cluster.words(
            "h1", ["sh", "-c", f"{enter} && exec {shlex.join(line)}"]
        )

    @contextlib.contextmanager
    def under(self, load: Load) -> Iterator[None]:
        """Have a load on the host."""
        allowed = sorted(os.sched_getaffinity(0))[: load.cores]
        cpus = ",".join(map(str, allowed))
        self._set.joinpath("cpuset.cpus").write_text(cpus)
        shares = round(1024 * load.weight) if load.weight else 1024
        (self._cpu / "beside/cpu.shares").write_text(str(shares))
        period = 10000
        quota = -1 if load.quota >= 1 else round(load.quota * period)
        for name, value in (("cfs_period_us", period), ("cfs_quota_us", quota)):
            (self._cpu / f"own/cpu.{name}").write_text(str(value))
        where = "beside" if load.weight else "own"
        code = BRIEF if load.brief else BUSY
        if load.bound:
            code = f"import os\nos.sched_setaffinity(0, [{{}}])\n{BUSY}"
        lines = [
            [sys.executable, "-c", code.format(allowed[at % len(allowed)])]
            for at in range(load.busy)
        ]
        busy = [
            subprocess.Popen(self._inside(where, line), start_new_session=True)
            for line in lines
        ]
        try:
            time.sleep(0.5)
            yield
        finally:
            for one in busy:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.pid, signal.SIGKILL)
                one.wait()

    def run(self, code: str) -> list[str]:
        """Run Python in the monitor's group, and return the lines that it prints."""
        done = subprocess.run(
            self._inside("own", [sys.executable, "-c", code]),
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=True,
            text=True,
        )
        return done.stdout.splitlines()
