"""How does the compiler grow with the number of ranks? Time, memory, size of results.

``python benchmarks/many_ranks.py [--ranks 64,256,1024,4096] [--processes 2]``

A stencil code on a grid without periods: each rank computes for a random time,
exchanges with up to four neighbours, reduces within its row and over all ranks. The
traces are written here (4 bytes an event, in the folder for temporary files), then
compiled in a process of their own, because memory is measured by its peak; in brackets
is the peak that each stage leaves. With `--processes N` the whole build then runs as
`mpirun -n 1` to `-n N`, with the peak of each process, the interpreter and all
libraries in it. Some minutes and 5 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.trace_writer import RankWriter

SCALE = 100.0
#: Gap before an iteration: three bytes, in units of 4 ns [units].
_USUAL_GAP = 250_000
#: Calls of an iteration of a rank in the middle.
LONGEST = 11
#: Calls of a rank of which one iteration in `SCALE` can be kept: a build asks for it.
LEAST_EVENTS = round(LONGEST * SCALE)


def stencil(writer: RankWriter, neighbours: list[tuple[int, int]]) -> None:
    """Compute, exchange with neighbours, reduce in the row and over all ranks.

    `neighbours` are ranks and the direction that leads to them, 0 to 3.
    """
    gap = _USUAL_GAP
    for peer, direction in neighbours:
        writer.event(
            "MPI_Irecv",
            gap,
            60,
            flags="CREATES",
            site=16,
            peer=peer,
            tag=direction ^ 1,
            count_b=1000,
            type_b=8,
        )
        gap = 40
    for peer, direction in neighbours:
        writer.event(
            "MPI_Isend",
            40,
            200,
            flags="CREATES",
            site=32,
            peer=peer,
            tag=direction,
            count_a=1000,
            type_a=8,
        )
    ages = list(range(2 * len(neighbours), 0, -1))
    writer.event(
        "MPI_Waitall",
        30,
        4000,
        flags="COMPLETES",
        site=48,
        count_a=len(ages),
        requests=ages,
    )
    writer.event("MPI_Allreduce", 90, 3000, comm=2, site=64, count_a=1, type_a=8, op=3)
    writer.event("MPI_Allreduce", 90, 7000, site=80, count_a=1, type_a=8, op=3)


def write_rank(folder: Path, rank: int, grid: tuple[int, int], events: int) -> None:
    """Write the file of one rank: some iterations, then their bytes with other gaps."""
    rows, columns = grid
    row, column = divmod(rank, columns)
    steps = [(0, -1), (0, 1), (-1, 0), (1, 0)]
    neighbours = [
        ((row + down) * columns + column + right, direction)
        for direction, (down, right) in enumerate(steps)
        if 0 <= row + down < rows and 0 <= column + right < columns
    ]
    writer = RankWriter(rank, rows * columns, unit_shift=3, cost_ps=17_000)
    writer.event("MPI_Init", 0, 1000)
    writer.comm(2, range(row * columns, (row + 1) * columns), sequence=0)
    writer.event("MPI_Comm_split", 100, 900, site=8, extras={"object": 2})
    last: bytes | None = None
    chunk, done = b"", 0
    while chunk != last:  # until shapes and counts are predicted
        done += 1
        last, begin = chunk, len(writer.out)
        before = (writer.events, writer.now, writer.requests)
        stencil(writer, neighbours)
        chunk = bytes(writer.out[begin:])
    calls, units, requests = (
        now - then
        for now, then in zip(
            (writer.events, writer.now, writer.requests), before, strict=True
        )
    )
    repeats = events // LONGEST - done
    random = np.random.default_rng(rank)
    slow = random.uniform(0.8, 1.2)  # each rank has its share of the work
    gaps = (_USUAL_GAP * slow * random.uniform(0.9, 1.1, repeats)).astype("<u4")
    body = np.tile(np.frombuffer(chunk, np.uint8), (repeats, 1))
    body[:, 1:4] = gaps.view(np.uint8).reshape(repeats, 4)[:, :3]
    writer.out += body.tobytes()
    writer.events += repeats * calls
    writer.now += repeats * (units - _USUAL_GAP) + int(gaps.sum())
    writer.requests += repeats * requests
    writer.finish()
    writer.save(folder)


def write(folder: Path, ranks: int, events: int) -> None:
    """Write a run on a grid that is as square as it can be."""
    rows = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
    for rank in range(ranks):
        write_rank(folder, rank, (rows, ranks // rows), events)


def measure(folder: Path) -> None:
    """Print what compiling a trace took, as JSON."""
    from benchmarks.pipeline import Laps, compile_trace

    with tempfile.TemporaryDirectory() as small:
        write(Path(small), 4, 2000)
        compile_trace(Path(small))  # load kernels and modules
    laps = Laps()
    files = compile_trace(folder, laps)
    result = {"taken": laps.taken, "peaks": laps.peaks, "files": files}
    print(json.dumps(result))


def build(folder: Path, output: Path) -> None:
    """Build with the processes of this launch; print what each of them took."""
    from benchmarks.pipeline import peak_bytes
    from skelgen.pipeline.build import BuildOptions
    from skelgen.pipeline.build import build as run_build
    from skelgen.pipeline.build_team import team as run_team

    options = BuildOptions(SCALE, None, None, None, strict=False)
    start = time.perf_counter()
    with run_team() as team:
        run_build(folder, output, options=options, team=team)
        taken = time.process_time(), peak_bytes()
        everyone = team.gather(taken)
    if everyone:
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "processes": everyone}))


def run(command: list[str]) -> Any:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def compile_time_s(code: str, folder: Path) -> float:
    """Return how long the MPI compiler takes for a skeleton [s]."""
    (folder / "skeleton.c").write_text(code)
    start = time.perf_counter()
    compiler = Path(sys.executable).with_name("mpicc")
    words = [str(compiler), "-O2", "-o", "skeleton", "skeleton.c", "-lm"]
    subprocess.run(words, cwd=folder, check=True)
    return time.perf_counter() - start


def report(ranks: int, events: int, processes: int) -> None:
    """Print how one trace is compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder, trace = Path(name), Path(name) / "run"
        write(trace, ranks, events)
        size = sum(path.stat().st_size for path in trace.iterdir())
        own = [sys.executable, __file__]
        found = run([*own, "--measure", str(trace)])
        code = found["files"]["skeleton.c"]
        calls = count_events(trace)
        stages = ", ".join(
            f"{stage} {taken:.1f} s ({found['peaks'][stage] / 1e6:.0f} MB)"
            for stage, taken in found["taken"].items()
        )
        peak = max(found["peaks"].values())
        print(
            f"{ranks:,} ranks, {calls:,} events, trace {size / 1e6:.0f} MB: "
            f"{sum(found['taken'].values()):.1f} s of processor time, peak "
            f"{peak / 1e6:.0f} MB ({peak / calls:.0f} B/event, "
            f"{peak / ranks / 1e3:.0f} kB/rank)\n  after {stages}\n"
            f"  signature.yaml {len(found['files']['signature.yaml']) / 1e3:.0f} kB, "
            f"skeleton.c {len(code) / 1e3:.0f} kB in {code.count(chr(10)):,} lines, "
            f"compiled in {compile_time_s(code, folder):.1f} s",
            flush=True,
        )
        for number in range(1, processes + 1):
            launch = [str(Path(sys.executable).with_name("mpirun")), "-n", str(number)]
            words = ["--build", str(trace), str(folder / f"skel{number}")]
            found = run([*launch, *own, *words])
            each = ", ".join(
                f"{peak / 1e6:.0f} MB and {cpu:.1f} s"
                for cpu, peak in found["processes"]
            )
            print(f"  mpirun -n {number}: {found['seconds']:.1f} s; {each}", flush=True)


def count_events(trace: Path) -> int:
    from skelgen.trace import open_trace

    return open_trace(trace).events


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="64,256,1024,4096")
    parser.add_argument("--events", type=float, default=1e4)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--build", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.processes and given.events < LEAST_EVENTS:
        parser.error(
            f"--events is {given.events:g}: give {LEAST_EVENTS} or more to --processes"
        )
    if given.measure:
        measure(given.measure)
    elif given.build:
        build(*given.build)
    else:
        for ranks in map(int, given.ranks.split(",")):
            report(ranks, int(given.events), given.processes)


if __name__ == "__main__":
    main()
