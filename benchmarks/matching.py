"""How fast do calls become whole matched events with ticks, and in how much memory?

``python benchmarks/matching.py [--calls 100000,1000000,10000000] [--ranks 2,8]``

A halo program: each rank posts two receives and two sends, waits for all, and
reduces. Bytes per call are the peak of memory beyond the calls themselves, the
results included. Every row is a process of its own; about one minute.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen import ticks
from skelgen.events import Calls
from skelgen.matching import match
from tests import builders

ITERATION = """
  Irecv from=-1 tag=1 bytes=800 as=a
  Irecv from=+1 tag=2 bytes=800 as=b
  Isend to=+1 tag=1 bytes=800 as=c
  Isend to=-1 tag=2 bytes=800 as=d
  Waitall of=a,b,c,d
  Allreduce bytes=8 op=1
"""


def halo(ranks: int, length: int) -> Calls:
    """Make the calls of a halo program of about `length` calls, all ranks."""
    once = builders.calls(f"rank 0-{ranks - 1}\n{ITERATION}")
    per_rank = len(once) // ranks
    trips = max(1, length // len(once))

    def repeat(column: Any) -> Any:
        return np.tile(column.reshape(ranks, per_rank), (1, trips)).reshape(-1)

    return dataclasses.replace(
        once,
        first=once.first * trips,
        shape=repeat(once.shape),
        size_bytes=repeat(once.size_bytes),
        ages=repeat(once.ages),
    )


def memory_bytes(name: str) -> int:
    """Read a line of this process's status, such as VmRSS."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def measure(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """Return what some work returns, its time [s] and its peak of memory [bytes]."""
    before = memory_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    start = time.perf_counter()
    result = work()
    elapsed = time.perf_counter() - start
    return result, elapsed, memory_bytes("VmHWM") - before


def row(ranks: int, length: int) -> str:
    """Measure all steps on one program."""
    calls = halo(ranks, length)
    matching, match_s, match_bytes = measure(lambda: match(calls))
    placed, ticks_s, ticks_bytes = measure(lambda: ticks.place(calls, matching))
    _, order_s, order_bytes = measure(
        lambda: ticks.linear_extension(calls, matching, placed)
    )
    cells = [f"{ranks:5d} {len(calls):10d}"]
    for elapsed, size in (
        (match_s, match_bytes),
        (ticks_s, ticks_bytes),
        (order_s, order_bytes),
    ):
        cells.append(f"{len(calls) / elapsed / 1e6:8.1f} {size / len(calls):8.1f}")
    return "  ".join(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", default="100000,1000000,10000000")
    parser.add_argument("--ranks", default="2,8")
    given = parser.parse_args()
    print("million calls per second, and bytes per call at the peak")
    print(f"{'ranks':>5} {'calls':>10}  {'matching':^17}  {'ticks':^17}  {'order':^17}")
    for ranks in map(int, given.ranks.split(",")):
        for length in map(int, given.calls.split(",")):
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                print(pool.apply(row, (ranks, length)), flush=True)


if __name__ == "__main__":
    main()
