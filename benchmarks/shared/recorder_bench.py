"""The program of calls that `recorder` measures, compiled and run for one MPI."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.events.clock import recording_costs
from skelgen.launch.mpi import Mpi, identify_compiler
from skelgen.launch.shim import shim
from skelgen.trace import open_trace
from tests.mpis import TestMpi

ROOT = Path(__file__).resolve().parents[2]

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
    Case("polls", "Iprobe and Test in turn"),
    Case("halo", "halo step, 4 neighbours", limit_ns=40),
    Case("pingpong", "8-byte ping-pong", ranks=2, limit_ns=40, calls=CALLS // 20),
    Case("tags", "Send, any of 1,000 tags"),
    Case("sizes", "Send, any size"),
    Case("both", "Send, any tag and size"),
    Case("sites", "Send, any of 64 sites"),
    Case("anything", "Send, any of all that"),
    Case("amr", "adaptive mesh", ranks=2, calls=CALLS // 4),
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
