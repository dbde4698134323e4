"""How much memory and time does a long run of few ranks take?

``python benchmarks/long_runs.py [--events 1e7,1e8] [--what info,build,phases]
[--ranks 1] [--memory 2e9]``

Traces of a ring exchange with a reduction (six calls an iteration) are written by
repeating the bytes of one iteration, without ever being in memory. Each command runs in
a process of its own, because memory is measured by its peak (interpreter and libraries
included: about 60 MB). Rates are those of processor time. `info` writes its page, too.
1e8 events are a file of 0.7 GB and take about two minutes.

With ``--memory`` each command may have so many bytes, files that it maps included: it
runs in a control group of that limit, which needs root.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import pipeline, reader
from tests.trace_writer import RankWriter

#: What git does not see: /tmp may be memory.
BUILD = Path(__file__).resolve().parent / "build"


def write(folder: Path, events: int, rank: int, ranks: int) -> None:
    """Write the trace of a rank with about so many events."""
    writer = RankWriter(rank, ranks, unit_shift=3, cost_ps=17_000)
    writer.event("MPI_Init", 0, 1000)
    for iteration in range(reader.WARM_UP):
        pipeline.ring(writer, iteration)
    before = (len(writer.out), writer.events, writer.now, writer.requests)
    pipeline.ring(writer, reader.WARM_UP)
    begin, end = before[0], len(writer.out)
    chunk, calls = bytes(writer.out[begin:end]), writer.events - before[1]
    repeats = max(events // calls - reader.WARM_UP - 1, 0)
    writer.events += repeats * calls
    writer.now += repeats * (writer.now - before[2])
    writer.requests += repeats * (writer.requests - before[3])
    writer.finish()
    at_once = 1 << 16
    path = writer.save(folder)
    data = path.read_bytes()
    end += len(data) - len(writer.out)
    with path.open("wb") as file:
        file.write(data[:end])
        for _ in range(repeats // at_once):
            file.write(chunk * at_once)
        file.write(chunk * (repeats % at_once))
        file.write(data[end:])


def info(folder: Path) -> None:
    from skelgen.events.summary import summary_of
    from skelgen.pipeline.run_page import recording_of_run
    from skelgen.pipeline.run_reading import read_run
    from skelgen.trace import open_trace

    run = open_trace(folder)
    reading = read_run(run)
    summary = summary_of(run, reading.totals)
    assert not summary.warnings, summary.warnings
    recording_of_run(run, reading, summary)


def build(folder: Path) -> None:
    pipeline.compile_trace(folder)


def phases(folder: Path) -> None:
    from skelgen.pipeline.phases import of_run

    of_run(folder)


WHAT = {"info": info, "build": build, "phases": phases}


def measure(what: str, folder: Path) -> None:
    """Do it in this process and print what it took."""
    start, begin = time.perf_counter(), time.process_time()
    WHAT[what](folder)
    taken = {
        "cpu_s": time.process_time() - begin,
        "seconds": time.perf_counter() - start,
        "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(taken))


@contextmanager
def limited(memory: float | None) -> Iterator[Path | None]:
    """Give the file that takes processes which may have so much memory [bytes]."""
    if memory is None:
        yield None
        return
    mounted = Path("/sys/fs/cgroup")
    older = mounted / "memory"
    group = (older if older.is_dir() else mounted) / f"long_runs-{os.getpid()}"
    group.mkdir()
    try:
        limit = "memory.limit_in_bytes" if older.is_dir() else "memory.max"
        (group / limit).write_text(str(int(memory)))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def run(what: str, folder: str, group: Path | None) -> dict[str, float]:
    """Measure a command in a process of its own."""
    command = [sys.executable, __file__, "--measure", what, folder]
    if group is not None:
        command = ["sh", "-c", f'echo $$ > {group}; exec "$@"', "sh", *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", default="1e7,1e8")
    parser.add_argument("--what", default="info,build,phases")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--memory", type=float, help="limit of a command [bytes]")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure[0], Path(given.measure[1]))
        return
    print(
        f"{'':8}{'events':>15}{'seconds':>9}{'cpu':>9}{'M/cpu s':>9}"
        f"{'peak MB':>9}{'B/event':>9}"
    )
    BUILD.mkdir(exist_ok=True)
    for events in given.events.split(","):
        with (
            tempfile.TemporaryDirectory(dir=BUILD) as folder,
            limited(given.memory) as group,
        ):
            for rank in range(given.ranks):
                of_rank = int(float(events)) // given.ranks
                write(Path(folder), of_rank, rank, given.ranks)
            for what in given.what.split(","):
                taken = run(what, folder, group)
                print(
                    f"{what:8}{int(float(events)):>15,}{taken['seconds']:>9.1f}"
                    f"{taken['cpu_s']:>9.1f}"
                    f"{float(events) / taken['cpu_s'] / 1e6:>9.2f}"
                    f"{taken['peak'] / 1e6:>9.0f}"
                    f"{taken['peak'] / float(events):>9.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
