"""What does a monitor cost, and is its available CPU what a process then gets?

``python benchmarks/monitor.py cost [--seconds 300] [--processes 1000] [--watch 0]``
``python benchmarks/monitor.py availability [--windows 2] [--window 10]
[--only "2 core"] [--results FILE --turn 4m]``
``python benchmarks/monitor.py links [--probes 5]``
``python benchmarks/monitor.py sources [--windows 3] [--window 10] [--results FILE]``
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
an hour, or several turns: see ``benchmarks/shared/monitor_availability.py``.

*sources*: the CPU estimated from sar and node_exporter, the same way, on this machine
as it is; see ``benchmarks/shared/monitor_sources.py``. Six minutes.

*links*: see ``benchmarks/shared/monitor_links.py``; two minutes.

*weather*: monitors of two hosts of the test cluster, whose loads change all the time
(``python -m tests.testbed weather``), against the log of what was left of each host.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shared.monitor_availability import availability
from benchmarks.shared.monitor_links import links
from benchmarks.shared.monitor_loads import BUSY, LOADS
from benchmarks.shared.monitor_sources import sources
from benchmarks.shared.monitor_weather import under_weather
from skelgen.units import parse_seconds
from tests.testbed.cluster import lacking

WHAT = ("all", "cost", "availability", "links", "sources", "weather")
#: The goals: part of a core, bytes, part of the time.
COST, MEMORY, SLOWDOWN = 0.001, 40e6, 0.002
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=WHAT, default="all")
    parser.add_argument("--seconds", type=float, help="of each cost, or of weather")
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--watch", type=int, default=0, help="watched processes")
    parser.add_argument("--windows", type=int, help="of each load")
    parser.add_argument("--window", type=float, default=10, help="[s]")
    parser.add_argument("--probes", type=int, default=5, help="of each rate")
    parser.add_argument("--only", default="", help="loads with this in their name")
    parser.add_argument("--results", default="", help="keep windows here, go on there")
    parser.add_argument("--turn", default="1d", help="begin no load after this time")
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
    windows, window_s, kept = options.windows, options.window, options.results
    turn_s = parse_seconds(options.turn)
    if options.what == "sources":
        sources(windows or 3, window_s, options.only, kept, turn_s)
    if options.what in ("all", "availability"):
        loads = [load for load in LOADS if options.only in load.name]
        availability(windows or 2, window_s, loads, kept, turn_s)


if __name__ == "__main__":
    main()
