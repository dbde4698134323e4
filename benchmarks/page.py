"""Time, memory and size of the page of a run, by the number of its calls.

    python benchmarks/page.py [calls ...] [--ranks 16,1024] [--waits | --whole]

The calls are made up, so that no trace has to be recorded: iterations of computation
that drifts and jitters, two receives and sends, Waitall, and every tenth time an
Allreduce. `timeline` is the time from these calls in memory to the timeline, `page`
that from there to the text of the page. `memory` is what both take beyond the calls.

With `--whole` the calls are those of a stencil code in a trace on disk (4 bytes a call,
in the folder for temporary files), and `skelgen info` reads it and writes its page: the
way that people wait for. `CPU` is its CPU time, which a loaded machine changes little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from benchmarks import many_ranks
from benchmarks.signature import PROVENANCE, halo, signature_of
from skelgen.events import SHAPE_DTYPE, Calls, Communicator, Events
from skelgen.matching import match
from skelgen.signature import Signature
from skelgen.symbols.cluster import cluster
from skelgen.timeline import timeline_of
from skelgen.web.page import page_of
from skelgen.web.render import render_page

FUNCTIONS = ("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce")
BODY = np.array([0, 0, 1, 1, 2] * 9 + [0, 0, 1, 1, 3], np.uint32)
#: Calls of a rank that are made at a time.
_BLOCK = 1 << 20


def made_up(total: int, ranks: int) -> Events:
    """Make this many calls, in place: 20 bytes each."""
    each = max(total // ranks, 1)
    count = each * ranks
    enter, leave = np.empty(count, np.int64), np.empty(count, np.int64)
    shape = np.empty(count, np.uint32)
    for rank in range(ranks):
        rng, now = np.random.default_rng(rank), 0
        for begin in range(0, each, _BLOCK):
            here = np.arange(begin, min(begin + _BLOCK, each))
            kind = BODY[here % len(BODY)]
            gap = rng.integers(60, 200, len(here))
            starts = here % 5 == 0
            drift = 1 + 0.3 * np.sin(here[starts] * 20.0 / each)
            gap[starts] = 40_000 * drift * rng.normal(1, 0.05, int(starts.sum()))
            inside = rng.integers(300, 900, len(here))
            inside[kind == 2] *= 8
            inside[kind == 3] *= 30
            ends = now + np.cumsum(gap + inside)
            rows = slice(rank * each + begin, rank * each + begin + len(here))
            leave[rows], enter[rows], shape[rows] = ends, ends - inside, kind
            now = int(ends[-1])
    return _events(enter, leave, shape, ranks)


def _events(enter: Any, leave: Any, shape: Any, ranks: int) -> Events:
    shapes = np.zeros(len(FUNCTIONS), SHAPE_DTYPE)
    shapes["function"] = np.arange(len(FUNCTIONS))
    nothing = np.zeros(0, np.int64)
    first = np.linspace(0, len(shape), ranks + 1).astype(np.int64)
    calls = Calls(
        first=first,
        shape=shape,
        size_bytes=nothing,
        ages=np.zeros(0, np.uint32),
        age_first=np.zeros(2, np.int64),
        age_values=nothing,
        vector_call=nothing,
        vectors=np.empty((0, 2), object),
        shapes=shapes,
        communicators=(Communicator(0, -1, "world", tuple(range(ranks))),),
        functions=FUNCTIONS,
    )
    return Events(
        calls=calls,
        enter_ns=enter,
        leave_ns=leave,
        compute_ns=nothing,
        begin_ns=np.zeros(ranks, np.int64),
        end_ns=leave[first[1:] - 1].copy(),
        tail_ns=np.zeros(ranks, np.int64),
        tail_asleep_ns=np.zeros(ranks, np.int64),
        sites=(),
    )


def small_signature() -> Signature:
    """Make a signature for the rest of the page, which does not grow with the run."""
    events = halo(100_000)
    symbols = cluster(events, match(events.calls))
    return replace(signature_of(events, symbols), provenance=PROVENANCE)


def main() -> None:
    """Print a line for each number of calls and of ranks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("calls", type=float, nargs="*", default=[1e6, 1e7, 1e8])
    parser.add_argument("--ranks", default="16,1024")
    parser.add_argument("--waits", action="store_true", help="every 5th call waits")
    parser.add_argument("--whole", action="store_true", help="skelgen info on a trace")
    options = parser.parse_args()
    if options.whole:
        whole_pages(options.calls, list(map(int, options.ranks.split(","))))
        return
    signature = small_signature()
    print(
        f"{'calls':>11} {'ranks':>6} {'timeline':>9} {'page':>7} {'memory':>8} "
        f"{'pieces':>8} {'joined below':>13} {'page':>8}"
    )
    for total in map(int, options.calls):
        for ranks in map(int, options.ranks.split(",")):
            events = made_up(total, ranks)
            waits = None
            if options.waits:
                waits = np.where(events.calls.shape > 1, 2000, 0)
            _line(events, waits, signature)


def whole_pages(totals: list[float], numbers: list[int]) -> None:
    """Print a line for each trace whose page `skelgen info` writes."""
    print(
        f"{'calls':>11} {'ranks':>6} {'trace':>9} {'time':>8} {'CPU':>8} {'peak':>8} "
        f"{'page':>8}"
    )
    for total in map(int, totals):
        for ranks in numbers:
            with tempfile.TemporaryDirectory() as folder:
                many_ranks.write(Path(folder), ranks, total // ranks)
                _whole_line(Path(folder), ranks)


def _whole_line(folder: Path, ranks: int) -> None:
    trace_bytes = sum(file.stat().st_size for file in folder.iterdir())
    command = [sys.executable, "-m", "skelgen", "info", str(folder), "--json"]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.load(process.stdout)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    taken_s = time.perf_counter() - begun
    assert process.returncode == 0
    page_bytes = (folder / "report.html").stat().st_size
    print(
        f"{told['events']:11,} {ranks:6} {trace_bytes / 1e6:6.0f} MB {taken_s:6.1f} s "
        f"{used.ru_utime + used.ru_stime:6.1f} s {used.ru_maxrss / 1e6:5.2f} GB "
        f"{page_bytes / 1e6:5.2f} MB",
        flush=True,
    )


def _line(events: Events, waits: Any, signature: Signature) -> None:
    tracemalloc.start()
    begun = time.perf_counter()
    timeline = timeline_of(events, waits)
    assert timeline is not None
    collected = time.perf_counter()
    text = render_page(page_of(signature, timeline=timeline))
    done = time.perf_counter()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pieces = sum(lane.pieces for lane in timeline.lanes)
    print(
        f"{len(events.calls):11,} {events.calls.ranks:6} {collected - begun:7.2f} s "
        f"{done - collected:5.2f} s {memory / 1e6:5.0f} MB {pieces:8,} "
        f"{timeline.width_ns / 1e3:10,.1f} us {len(text.encode()) / 1e6:5.2f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
