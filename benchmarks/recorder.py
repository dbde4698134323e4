"""What does recording cost, in nanoseconds, instructions, bytes and slowdown?

``python benchmarks/recorder.py [--blocks 200] [--pairs 7] [--mpicc PATH ...]``

With each MPI found, blocks of plain calls, of recorded calls and of calls through the
least that any recorder does (recorder_floor.h) take turns in one process. What a call
costs is CPU time: the median of the differences to the plain block beside it.
Where valgrind is installed instructions are counted as well, which no other load of
the machine disturbs. Then memory with and without the recorder in turn, and what
MPI_Finalize takes beyond the library's own; what the checksum of a window costs for
each event in it, with the window in memory and not in a cache; steps of a program,
recorded and not in turn in one process; and whole programs: LAMMPS where it is
installed, heat2d.
Exact figures need a quiet machine; the tables say how far they spread.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shared.recorder_bench import (
    CASES,
    ROOT,
    STEP,
    TURNS,
    Bench,
    Case,
    bench,
    spread,
)
from benchmarks.shared.recorder_programs import slowdown_table
from tests.mpis import MPIS, with_launcher


def instructions(one: Bench, case: Case) -> dict[str, float]:
    """Count instructions of each kind of call; nothing without valgrind."""
    if (
        case.ranks > 1
        or case.name.startswith("threads")
        or not shutil.which("valgrind")
    ):
        return {}
    counts = one.folder / "callgrind"
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    subprocess.run(
        [*command, *one.words(case, 1)],
        env={**one.variables(), "SKELGEN_DIR": str(one.folder / "counted")},
        capture_output=True,
        check=True,
    )
    text = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(counts)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    functions = {
        "plain": f"plain_{case.name}",
        "recorded": f"recorded_{case.name}",
        "floor": f"floor_{case.name}_case",
    }
    found = {}
    for kind, function in functions.items():
        match = re.search(rf"^ *([\d,]+) .*:{function}\b", text, re.MULTILINE)
        if match:
            # Two blocks ran, the first of them to warm up.
            found[kind] = int(match[1].replace(",", "")) / 2 / case.calls
    return found


class Measured:
    """What runs of one case showed: its blocks' times, sizes and what traces state."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.plain: list[float] = []
        self.over: list[float] = []
        self.floor: list[float] = []
        self.bytes: list[float] = []
        self.stated: list[float] = []

    def add(self, one: Bench, blocks: int) -> None:
        """Run the case once more."""
        numbers = one.run(self.case, blocks)
        plain = numbers["plain"]
        self.plain += plain
        for kind, target in (("recorded", self.over), ("floor", self.floor)):
            target += [a - b for a, b in zip(numbers[kind], plain, strict=True)]
        threads = 4 if self.case.name.startswith("threads") else 1
        calls = self.case.ranks * threads * (blocks + 1) * self.case.calls
        self.bytes.append(one.trace_bytes() / calls)
        self.stated.append(one.stated_ns())

    def line(self, counted: dict[str, float]) -> str:
        """Return a line of the table."""
        middle = statistics.median
        cost, least = middle(self.over), middle(self.floor)
        text = (
            f"{self.case.title:24}{middle(self.plain):8.1f}"
            f"{cost:7.1f} ±{spread(self.over):5.1f}{least:8.1f}"
            f"{cost / least:7.2f}{self.case.limit_ns or '-':>7}"
            f"{middle(self.stated):8.1f}{middle(self.bytes):8.2f}"
        )
        if len(counted) < 3:
            return f"{text}{'-':>9}{'-':>7}"
        return text + (
            f"{counted['recorded'] - counted['plain']:9.0f}"
            f"{counted['floor'] - counted['plain']:7.0f}"
        )


def calls_table(one: Bench, blocks: int) -> Iterator[str]:
    """Yield the lines about single calls.

    The cases run in turn, so that a busy moment of the machine meets all of them.
    """
    rows = [Measured(case) for case in CASES]
    for _ in range(TURNS):
        for row in rows:
            row.add(one, blocks // TURNS)
    yield (
        f"{'':24}{'plain':>8}{'recorded':>14}{'floor':>8}{'ratio':>7}{'limit':>7}"
        f"{'stated':>8}{'bytes':>8}{'instructions':>16}"
    )
    yield (
        f"{'':24}{'[ns]':>8}{'over plain':>14}{'[ns]':>8}{'':7}{'[ns]':>7}"
        f"{'[ns]':>8}{'/call':>8}{'recorded floor':>16}"
    )
    for row in rows:
        yield row.line(instructions(one, row.case))


def step_line(one: Bench, blocks: int) -> str:
    """Say how much longer steps of a program take when they are recorded, in turn."""
    row = Measured(STEP)
    for _ in range(TURNS):
        row.add(one, blocks // TURNS)
    slower = [100 * a / b for a, b in zip(row.over, row.plain, strict=True)]
    error = 2 * 1.25 * 1.48 * spread(slower) / len(slower) ** 0.5  # of a median, 95 %
    return (
        f"step of heat2d, 256 x 256 points on 2 ranks: "
        f"{9e-3 * statistics.median(row.plain):.1f} us, recorded "
        f"{statistics.median(slower):+.2f} % ± {error:.2f} (limit 1)"
    )


def checks_line(one: Bench) -> str:
    """Say what the checksum of a window costs for each event in it."""
    program = one.folder / "checks"
    source = str(ROOT / "benchmarks/recorder_checks.c")
    command = [str(one.mpi.compiler), "-O2", source, "-o", str(program), "-lpthread"]
    subprocess.run(command, check=True)
    words = [str(program), str(one.folder / "window"), str(4 * TURNS)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    times = [float(line.split()[1]) for line in done.stdout.splitlines()]
    case = next(c for c in CASES if c.name == "halo")
    one.run(case, 20)
    size = one.trace_bytes() / (21 * case.calls)
    window_ns = statistics.median(times)
    return (
        f"checksum of a window of 1 MiB {window_ns / 1e3:.0f} us "
        f"± {spread(times) / 1e3:.0f}: {window_ns * size / 2**20:.2f} ns for an event "
        f"of {size:.1f} bytes (limit 0.5), no instruction of a call"
    )


def memory_line(one: Bench) -> str:
    """Say what the recorder adds to memory and to MPI_Finalize."""
    case = next(c for c in CASES if c.name == "halo")
    added: dict[str, list[float]] = defaultdict(list)
    for _ in range(TURNS):
        plain = one.run(case, 20, recorded=False)
        recorded = one.run(case, 20)
        added["memory"].append(recorded["memory"][0] - plain["memory"][0])
        added["finalize"].append(recorded["finalize"][0] - recorded["library"][0])
    return (
        f"memory of a rank +{statistics.median(added['memory']) / 1024:.1f} MiB "
        f"(limit 8), MPI_Finalize +{statistics.median(added['finalize']) / 1e6:.2f} ms "
        f"± {spread(added['finalize']) / 1e6:.2f} (limit 10)"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blocks", type=int, default=200, help="blocks of each kind")
    parser.add_argument("--pairs", type=int, default=7, help="runs of whole programs")
    parser.add_argument("--mpicc", type=Path, action="append", help="only this MPI")
    options = parser.parse_args()
    begin = time.monotonic()
    for mpi in [with_launcher(path) for path in options.mpicc or []] or MPIS:
        with tempfile.TemporaryDirectory() as name:
            print(f"\n{mpi.compiler}")
            one = bench(mpi, Path(name))
            for line in calls_table(one, options.blocks):
                print(line, flush=True)
            print(step_line(one, options.blocks), flush=True)
            print(memory_line(one), flush=True)
            print(checks_line(one), flush=True)
            if options.pairs > 1:
                for line in slowdown_table(one, options.pairs):
                    print(line, flush=True)
    print(f"\n{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
