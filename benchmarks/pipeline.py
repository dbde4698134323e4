"""How fast and how large is the way from a trace to a skeleton?

``python benchmarks/pipeline.py [--trace ring] [--least 1e5] [--largest 1e7]``

Traces of 1e5 to 1e7 events of a ring exchange with a reduction, or of another kind
(`shared/pipeline_traces.py`): 10,000 pending requests, 1,000 communicators; K = 100.
Each is compiled in a process of its own, because memory is measured by its peak. The
rate is that of CPU seconds, which a loaded machine changes little; all is
single-threaded. `share` is the CPU time of each stage. Less than two minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import reader
from benchmarks.shared import pipeline_traces
from skelgen.pipeline.garbage_pause import uncollected
from tests.trace_writer import RankWriter

SCALE = 100.0


def ring(writer: RankWriter, iteration: int) -> None:
    """Exchange with both neighbours of a ring, then reduce: six calls."""
    right, left = (writer.rank + 1) % writer.ranks, (writer.rank - 1) % writer.ranks
    reader.exchange(writer, ((right, 1), (left, 0)), ((right, 0), (left, 1)))
    writer.event(
        "MPI_Waitall", 30, 4000, flags="COMPLETES", count_a=4, requests=[4, 3, 2, 1]
    )
    writer.event("MPI_Allreduce", 90_000, 7000, count_a=1, type_a=8, op=3)


reader.PATTERNS["ring"] = ring


@uncollected()  # as `build` is
def compile_trace(
    folder: Path, lap: Callable[[str], None] = lambda name: None
) -> dict[str, str]:
    """Take a trace through all stages; return the files of the skeleton.

    `lap` is told the name of each stage when it is done.
    """
    from skelgen.events import collect
    from skelgen.events.durations import with_durations
    from skelgen.matching import match
    from skelgen.matching.equal_families import with_one_for_equal
    from skelgen.reference.calibration import ComputeCalibration, Mix
    from skelgen.signature import Provenance, summarise
    from skelgen.signature.write import signature_text
    from skelgen.skeleton.emit.skeleton_files import render
    from skelgen.skeleton.plan import plan
    from skelgen.symbols.cluster import clusters_of, with_times
    from skelgen.trace import open_trace

    events = with_durations(collect(open_trace(folder)))
    lap("read")
    matched = [match(events.calls, completions=False, narrow=True)]
    lap("match")
    calls = with_one_for_equal(events.calls, matched[0])
    symbols = with_times(clusters_of(calls, matched.pop()), events)
    del calls
    lap("symbols")
    strings = [symbols.symbol[a:b] for a, b in pairwise(events.calls.first)]
    nests = folded(string[string >= 0] for string in strings)
    lap("fold")
    nobody = Provenance("ring", (), "", "", "", "", (), (events.calls.ranks,))
    signature = summarise(events, symbols, nests, nobody)
    del events, symbols, strings, nests
    lap("summary")
    made = plan(signature, SCALE)
    lap("plan")
    speed = ComputeCalibration(
        Mix(1.0, 0.0, 0.0), (1000.0, 0.0, 0.0), 0.02, 0.08, 2, "", ""
    )
    files = dict(render(made, calibration=speed))
    lap("render")
    files["signature.yaml"] = signature_text(signature)
    lap("write")
    return files


def folded(strings: Iterable[NDArray[np.int32]]) -> list[Any]:
    """Fold each rank's string; equal ones once, as a build does."""
    from skelgen.loops import fold

    known: dict[bytes, Any] = {}
    found = []
    for string in strings:
        key = hashlib.blake2b(string.data).digest()
        if key not in known:
            known[key] = fold(string)
        found.append(known[key])
    return found


class Laps:
    """CPU time of each stage [s], and the peak that it leaves [bytes]."""

    def __init__(self) -> None:
        self.taken: dict[str, float] = {}
        self.peaks: dict[str, int] = {}
        self.start, self.before = time.process_time(), peak_bytes()

    def __call__(self, name: str) -> None:
        self.taken[name] = time.process_time() - self.start - sum(self.taken.values())
        self.peaks[name] = peak_bytes() - self.before


def peak_bytes() -> int:
    """Return the largest memory that this process has had [bytes]."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(folder: Path) -> None:
    """Print what compiling a trace took, as JSON."""
    with tempfile.TemporaryDirectory() as small:
        reader.write(Path(small), "ring", 2000, 2)
        compile_trace(Path(small))  # load kernels and modules
    laps, start = Laps(), time.perf_counter()
    compile_trace(folder, laps)
    seconds = time.perf_counter() - start
    peak = max(laps.peaks.values())
    print(json.dumps({"taken": laps.taken, "seconds": seconds, "peak_bytes": peak}))


def write(folder: Path, kind: str, events: int, ranks: int) -> None:
    """Write a trace of about so many events."""
    if kind in reader.PATTERNS:
        reader.write(folder, kind, events, ranks)
        return
    for rank in range(ranks):
        writer = RankWriter(rank, ranks, unit_shift=3, cost_ps=17_000)
        writer.event("MPI_Init", 0, 1000)
        pipeline_traces.TRACES[kind](writer, events // ranks)
        writer.finish()
        writer.save(folder)


def table(kind: str, least: int, largest: int, ranks: int) -> None:
    print(
        f"{'events':>11}{'seconds':>10}{'cpu':>8}{'M events/cpu s':>16}{'B/event':>9}"
        "  share of cpu"
    )
    events = least
    while events <= largest:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), kind, events, ranks)
            command = [sys.executable, __file__, "--measure", folder]
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=True
            )
        result = json.loads(done.stdout)
        cpu = sum(result["taken"].values())
        shares = ", ".join(
            f"{name} {100 * part / cpu:.0f} %" for name, part in result["taken"].items()
        )
        print(
            f"{events:>11,}{result['seconds']:>10.2f}{cpu:>8.2f}"
            f"{events / cpu / 1e6:>16.2f}"
            f"{result['peak_bytes'] / events:>9.0f}  {shares}",
            flush=True,
        )
        events *= 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ("ring", *pipeline_traces.TRACES)
    parser.add_argument("--trace", choices=kinds, default="ring")
    parser.add_argument("--least", type=float, default=1e5)
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
    else:
        table(given.trace, int(given.least), int(given.largest), given.ranks)


if __name__ == "__main__":
    main()
