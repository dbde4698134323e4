"""How fast and how large is reading a trace? Events per second and memory per event.

``python benchmarks/reader.py [--largest 1e7] [--ranks 2]``

Traces of 1e5 to 1e7 events are made by repeating the bytes of one loop iteration; the
prediction of shapes and counts is then that of a long loop. `halo`: nonblocking
messages, a completion of all and a reduction; `tags`: each message has a tag of its
own. Each is opened and collected in a process of its own, because memory is measured
by its peak; the fastest of three counts (processor time, so that other programs disturb
less). About one minute.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.trace_writer import RankWriter

WARM_UP = 30  # iterations after which the bytes of the next one stay the same


def exchange(
    writer: RankWriter,
    receives: Sequence[tuple[int, int]],
    sends: Sequence[tuple[int, int]],
) -> None:
    """Begin to receive and to send 1000 values, each with a peer and a tag."""
    for peer, tag in receives:
        writer.event(
            "MPI_Irecv",
            40,
            60,
            flags="CREATES",
            peer=peer,
            tag=tag,
            count_b=1000,
            type_b=8,
        )
    for peer, tag in sends:
        writer.event(
            "MPI_Isend",
            40,
            300,
            flags="CREATES",
            peer=peer,
            tag=tag,
            count_a=1000,
            type_a=8,
        )


def halo(writer: RankWriter, iteration: int) -> None:
    """Exchange with four neighbours, then reduce: ten calls."""
    neighbours = [(tag % writer.ranks, tag) for tag in range(4)]
    exchange(writer, neighbours, neighbours)
    writer.event(
        "MPI_Waitall",
        30,
        4000,
        flags="COMPLETES",
        count_a=8,
        requests=[8, 7, 6, 5, 4, 3, 2, 1],
    )
    writer.event("MPI_Allreduce", 90_000, 7000, count_a=1, type_a=8, op=3)


def tags(writer: RankWriter, iteration: int) -> None:
    """Send and receive with a tag that counts the iterations."""
    tag = 1000 + iteration
    writer.event(
        "MPI_Send", 500, 300, peer=0, tag=tag, varies="TAG", count_a=10, type_a=8
    )
    writer.event(
        "MPI_Recv", 500, 900, peer=0, tag=tag, varies="TAG", count_b=10, type_b=8
    )


PATTERNS: dict[str, Callable[[RankWriter, int], None]] = {"halo": halo, "tags": tags}


def write(folder: Path, pattern: str, events: int, ranks: int) -> None:
    """Write a trace of about so many events."""
    for rank in range(ranks):
        writer = RankWriter(rank, ranks, unit_shift=3, cost_ps=17_000)
        writer.event("MPI_Init", 0, 1000)
        for iteration in range(WARM_UP):
            PATTERNS[pattern](writer, iteration)
        before = (len(writer.out), writer.events, writer.now, writer.requests)
        PATTERNS[pattern](writer, WARM_UP)
        chunk = bytes(writer.out[before[0] :])
        calls = writer.events - before[1]
        repeats = max(events // ranks // calls - WARM_UP - 1, 0)
        writer.out += chunk * repeats
        writer.events += repeats * calls
        writer.now += repeats * (writer.now - before[2])
        writer.requests += repeats * (writer.requests - before[3])
        writer.finish()
        writer.save(folder)


def read(folder: Path) -> None:
    """Read a trace and print what it took."""
    from skelgen.events import collect
    from skelgen.trace import open_trace

    with tempfile.TemporaryDirectory() as small:
        write(Path(small), "halo", 1000, 1)
        collect(open_trace(Path(small)))  # load kernels and modules
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    trace = open_trace(folder)
    opened = time.process_time()
    events = collect(trace)
    end = time.process_time()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert not trace.warnings, trace.warnings
    assert not events.warnings, events.warnings
    result = {
        "events": trace.events,
        "trace_bytes": trace.size_bytes,
        "open_s": opened - begin,
        "collect_s": end - opened,
        "peak_bytes": 1024 * (after - before),
    }
    print(json.dumps(result))


def measured(folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--read", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def table(largest: int, ranks: int) -> None:
    head = ("pattern", "events", "file B/event", "open M/s", "collect M/s", "both M/s")
    print(*(f"{word:>12}" for word in (*head, "peak B/event")))
    for pattern in PATTERNS:
        events = 100_000
        while events <= largest:
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder), pattern, events, ranks)
                one = min(
                    (measured(Path(folder)) for _ in range(3)),
                    key=lambda run: run["open_s"] + run["collect_s"],
                )
            count = one["events"]
            cells = (
                f"{one['trace_bytes'] / count:.2f}",
                f"{count / one['open_s'] / 1e6:.1f}",
                f"{count / one['collect_s'] / 1e6:.1f}",
                f"{count / (one['open_s'] + one['collect_s']) / 1e6:.1f}",
                f"{one['peak_bytes'] / count:.1f}",
            )
            print(*(f"{cell:>12}" for cell in (pattern, int(count), *cells)))
            events *= 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read:
        read(given.read)
    else:
        table(int(given.largest), given.ranks)


if __name__ == "__main__":
    main()
