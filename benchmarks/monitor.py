"""What does a monitor cost, and is its available CPU what a process then gets?

``python benchmarks/monitor.py cost [--seconds 300] [--processes 1000] [--watch 0]``
``python benchmarks/monitor.py availability [--windows 2] [--window 10]``
``python benchmarks/monitor.py links [--probes 5]``
``python benchmarks/monitor.py weather [--seconds 120] [--hold 5s,15s] [--seed 1]``

*cost*: a monitor with its default interval of 10 s next to so many sleeping processes:
its CPU time as part of one core, its memory, its context switches; first on an idle
machine, then with a busy process on each core. The goals: 0.1 % of a core, 40 MB, and
less than 0.2 % for an application on all cores. Time that the monitor takes from one
core delays a program that synchronises all of them by just as much, so its share of a
core, with what each of its switches costs, bounds the slowdown.

*availability*: on a host of the test cluster (root, control groups of version 1) each
load is set up: 0 to 3 busy processes in the same group, in a group beside it with
weights of 1:10 to 10:1, and quotas of 20 to 100 %, on one core and on two. A sample
over a window is followed by a process that spins for as long; its share of the core is
the truth. The goal is 5 points in 90 % of the windows. In the last load processes live
for moments only, in a group whose use nobody counts: nothing but spins sees them. Half
an hour.

*links*: see ``benchmarks/shared/monitor_links.py``; two minutes.

*weather*: monitors of two hosts of the test cluster, whose loads change all the time
(``python -m tests.testbed weather``), against the log of what was left of each host.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shared.monitor_links import links
from benchmarks.shared.monitor_weather import under_weather
from tests.testbed.cluster import Cluster, lacking

WHAT = ("all", "cost", "availability", "links", "weather")
ROOT = Path(__file__).resolve().parent.parent
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
#: The goals: part of a core, bytes, part of the time, points.
COST, MEMORY, SLOWDOWN, POINTS, INSIDE = 0.001, 40e6, 0.002, 0.05, 0.90
#: What a context switch costs an application, its caches included [s].
SWITCH_S = 10e-6


# What it costs


@contextlib.contextmanager
def sleeping(count: int) -> Iterator[None]:
    """Have so many processes sleep."""
    script = f"for i in $(seq {count}); do sleep 100000 & done; echo ready; wait"
    line = ["setsid", "sh", "-c", script]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def spinning(count: int) -> Iterator[None]:
    """Have so many processes compute."""
    line = [sys.executable, "-c", BUSY]
    started = [subprocess.Popen(line) for _ in range(count)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process has used so far: CPU time [s], memory [bytes], switches."""

    cpu_s: float
    memory: int
    switches: int


def spent(pid: int) -> Spent:
    """Return what a process has used."""
    line = Path(f"/proc/{pid}/schedstat").read_text().split()
    facts = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    switches = sum(
        int(facts[f"{kind}_ctxt_switches"]) for kind in ("voluntary", "nonvoluntary")
    )
    return Spent(int(line[0]) / 1e9, 1024 * int(facts["VmHWM"].split()[0]), switches)


def cost(seconds: float, processes: int, watched: int) -> None:
    """Print what a monitor costs."""
    cores = len(os.sched_getaffinity(0))
    print(
        f"{processes} sleeping processes, {watched} watched, {cores} cores, "
        f"{seconds:g} s each"
    )
    print(f"{'load':>16}{'of a core':>11}{'memory':>10}{'switches':>10}{'slows':>9}")
    with tempfile.TemporaryDirectory() as folder, sleeping(processes):
        for name, busy in (("idle", 0), ("all cores busy", cores)):
            with (
                spinning(busy),
                sleepers(watched),
                started(Path(folder) / str(busy), watched) as pid,
            ):
                time.sleep(15)  # the first look at all threads
                begin, before = time.monotonic(), spent(pid)
                time.sleep(seconds)
                after, passed_s = spent(pid), time.monotonic() - begin
            share = (after.cpu_s - before.cpu_s) / passed_s
            rate = (after.switches - before.switches) / passed_s
            slows = share + rate * SWITCH_S
            print(
                f"{name:>16}{share:>10.4%} {after.memory / 1e6:>6.1f} MB"
                f"{rate:>8.2f}/s{slows:>9.4%}"
            )
    print(f"goals: {COST:.1%} of a core, {MEMORY / 1e6:.0f} MB, slows < {SLOWDOWN:.1%}")


@contextlib.contextmanager
def sleepers(count: int) -> Iterator[None]:
    """Have so many ranks of an application run, which the monitor watches."""
    code = "import time; time.sleep(1e6)"
    line = ["skelgen-watched", "-c", code]
    begun = [
        subprocess.Popen(
            line,
            executable=sys.executable,
            env={**os.environ, "PMI_SIZE": str(count), "PMI_RANK": str(rank)},
        )
        for rank in range(count)
    ]
    try:
        yield
    finally:
        for one in begun:
            one.kill()
            one.wait()


@contextlib.contextmanager
def started(folder: Path, watched: int) -> Iterator[int]:
    """Have a monitor run."""
    line = [sys.executable, "-m", "skelgen.monitor", "run"]
    line += ["--watch", "skelgen-watched"] if watched else []
    environment = {**os.environ, "SKELGEN_MONITOR": str(folder)}
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.terminate()


# Whether it is right


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

#: Runs in the monitor's group: a sample, then a process that spins as long, in turn.
_WATCH = """
import json, time
from skelgen.monitor.sensor import Sensor
sensor = Sensor()
time.sleep(2)
sensor.sample()
for _ in range({windows}):
    for _ in range(4):
        time.sleep({window} / 5)
        sensor.look()
    time.sleep({window} / 5)
    sample = sensor.sample()
    begin, had = time.monotonic(), time.thread_time()
    while time.monotonic() - begin < {window}:
        pass
    truth = (time.thread_time() - had) / (time.monotonic() - begin)
    print(json.dumps([sample.cpu, sample.passive, truth]), flush=True)
    sensor.sample()
"""


class Host:
    """The host of the test cluster, with a group for the monitor and one beside it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._cpu, self._set = cluster.groups.folders("h1")[:2]
        if cluster.groups.version != 1:
            sys.exit("monitor: this needs control groups of version 1")
        for name in ("own", "beside"):
            (self._cpu / name).mkdir(exist_ok=True)

    def _inside(self, group: str, code: str) -> list[str]:
        enter = f"echo $$ > {self._cpu / group}/cgroup.procs"
        line = shlex.join([sys.executable, "-c", code])
        return self._cluster.words("h1", ["sh", "-c", f"{enter} && exec {line}"])

    def windows(self, load: Load, count: int, window_s: float) -> list[list[float]]:
        """Return estimate, passive estimate and truth of each window."""
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
        busy = [
            subprocess.Popen(
                self._inside(where, code.format(allowed[at % len(allowed)])),
                start_new_session=True,
            )
            for at in range(load.busy)
        ]
        try:
            time.sleep(0.5)
            code = _WATCH.format(windows=count, window=window_s)
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(
                self._inside("own", code),
                stdout=subprocess.PIPE,
                env=environment,
                check=True,
            )
        finally:
            for one in busy:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.pid, signal.SIGKILL)
                one.wait()
        return [json.loads(line) for line in done.stdout.splitlines()]


def availability(windows: int, window_s: float, loads: Sequence[Load]) -> None:
    """Print estimates beside what a process then got."""
    if reason := lacking():
        sys.exit(f"monitor: {reason}")
    cluster = Cluster("monitor")
    errors: list[float] = []
    passive: list[float] = []
    print(f"{'load':>40}{'available':>11}{'passive':>9}{'got':>7}{'error':>8}")
    with cluster.used(1):
        host = Host(cluster)
        for load in loads:
            count = 5 * windows if load.brief else windows  # until spins tell
            for said, before, truth in host.windows(load, count, window_s):
                errors.append(abs(said - truth))
                passive.append(abs(before - truth))
                print(
                    f"{load.name:>40}{said:>11.3f}{before:>9.3f}{truth:>7.3f}"
                    f"{100 * (said - truth):>+8.1f}",
                    flush=True,
                )
    for name, found in (("corrected", errors), ("passive", passive)):
        inside = statistics.fmean(error <= POINTS for error in found)
        print(
            f"{name}: {len(found)} windows, mean error "
            f"{100 * statistics.fmean(found):.1f} points, worst {100 * max(found):.1f},"
            f" within {100 * POINTS:.0f} points {inside:.0%} (goal {INSIDE:.0%})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=WHAT, default="all")
    parser.add_argument("--seconds", type=float, help="of each cost, or of weather")
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--watch", type=int, default=0, help="watched processes")
    parser.add_argument("--windows", type=int, default=2, help="of each load")
    parser.add_argument("--window", type=float, default=10, help="[s]")
    parser.add_argument("--probes", type=int, default=5, help="of each rate")
    parser.add_argument("--only", default="", help="loads with this in their name")
    parser.add_argument("--hold", default="5s,15s", help="times of settings of weather")
    parser.add_argument("--interval", default="1s", help="of monitors under weather")
    parser.add_argument("--seed", type=int, default=1, help="of weather")
    options = parser.parse_args()
    if options.what in ("all", "cost"):
        cost(options.seconds or 300, options.processes, options.watch)
    if options.what in ("all", "links"):
        links(options.probes)
    if options.what in ("all", "weather"):
        if reason := lacking():
            sys.exit(f"monitor: {reason}")
        words = (options.hold, options.interval, options.seed)
        under_weather(options.seconds or 120, *words)
    if options.what in ("all", "availability"):
        loads = [load for load in LOADS if options.only in load.name]
        availability(options.windows, options.window, loads)


if __name__ == "__main__":
    main()
