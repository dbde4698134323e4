"""How fast is writing a run for other tools, and how much memory does it take?

``python benchmarks/export.py [--largest 1e6] [--ranks 4] [--formats tit,paraver]
[--twin]``

Traces of 1e5 events, ten times as many and so on up to the largest are made by
repeating the bytes of one iteration of a halo exchange: messages to two neighbours,
one of them received from anybody, a completion of all and a reduction. Each is
exported whole in a process of its own. Memory is the most that belongs to the process
alone (RssAnon) and the most with mapped files (VmRSS), both sampled: neither may depend
on the number of events, but that the first reading maps the file of one rank after the
other. `--twin` also writes 3e4 events with the plain Python twin, in between: how many
times as long its processor time is for an event. Last comes what the OTF2 library alone
takes for the same records. About five minutes; otf2 is left out where its library is
missing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.reader import exchange
from tests.trace_writer import RankWriter

ROOT = Path(__file__).resolve().parent.parent
#: What git does not see, also when a run is killed.
BUILD = ROOT / "benchmarks/build"

WARM_UP = 30  # iterations after which the bytes of the next one stay the same
CALLS = 8
FORMATS = ("perfetto", "paraver", "tit", "otf2")


def iteration(writer: RankWriter) -> None:
    """Exchange with two neighbours, then reduce."""
    rank, ranks = writer.rank, writer.ranks
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    writer.event(
        "MPI_Irecv",
        40,
        60,
        flags="CREATES WILD_SOURCE",
        peer=-3,
        tag=1,
        count_b=1000,
        type_b=8,
    )
    exchange(writer, [(left, 2)], [(left, 1), (right, 2)])
    writer.event(
        "MPI_Waitall",
        30,
        4000,
        flags="COMPLETES",
        count_a=4,
        requests=[1, 2, 3, 4],
        extras={"statuses": [(3, right, 1)]},
    )
    for _ in range(2):
        writer.event("MPI_Allreduce", 90_000, 7000, count_a=1, type_a=8, op=3)
    writer.event("MPI_Send", 40, 60, peer=-2, tag=1, count_a=1, type_a=8)


def write(folder: Path, events: int, ranks: int) -> None:
    """Write a trace of about so many events."""
    for rank in range(ranks):
        writer = RankWriter(rank, ranks, unit_shift=3, cost_ps=17_000)
        writer.event("MPI_Init", 0, 1000)
        for _ in range(WARM_UP):
            iteration(writer)
        before = (len(writer.out), writer.events, writer.now, writer.requests)
        iteration(writer)
        chunk = bytes(writer.out[before[0] :])
        assert writer.events - before[1] == CALLS
        repeats = max(events // ranks // CALLS - WARM_UP - 1, 0)
        writer.out += chunk * repeats
        writer.events += repeats * CALLS
        writer.now += repeats * (writer.now - before[2])
        writer.requests += repeats * (writer.requests - before[3])
        writer.finish()
        writer.save(folder)


def export(folder: Path, name: str, output: Path) -> None:
    """Export in this process and print what it took."""
    from skelgen.pipeline.export import export as run_export

    begin = time.process_time()
    result = run_export(folder, name, output, force=True, most_events=0)
    taken = time.process_time() - begin
    assert not result.notes, result.notes
    facts = {"seconds": taken, "events": result.events, "bytes": result.size_bytes}
    facts["records"] = sum(result.records.values())
    print(json.dumps(facts))


def twin_s(folder: Path, name: str, output: Path) -> float:
    """Return what the plain Python twin takes for an event [s]."""
    from skelgen.progress import NO_PROGRESS
    from skelgen.trace import open_trace
    from tests.twins.export_rows.run import TraceStreams

    write_twin = importlib.import_module(f"tests.twins.export_rows.{name}").write
    output.mkdir()
    begin = time.process_time()
    run = TraceStreams(open_trace(folder), output, NO_PROGRESS)
    write_twin(run, output / "run.json" if name == "perfetto" else output)
    taken = time.process_time() - begin
    shutil.rmtree(output)
    return taken / run.trace.events


def library_s(output: Path, records_per_event: float) -> float:
    """Return what the OTF2 library alone takes for the records of an event [s]."""
    from skelgen.export import otf2_library as otf2
    from skelgen.export.otf2_archive import opened
    from skelgen.export.otf2_events import Otf2Events
    from skelgen.export.text import RecordRows

    output.mkdir()
    key = np.arange(1 << 20)
    rows = [
        RecordRows(key, otf2.ENTER, [0, 100 * key, 1]),
        RecordRows(key, otf2.ISEND, [0, 100 * key, 1, 0, 1, 8000, key]),
        RecordRows(key, otf2.LEAVE, [0, 100 * key + 40, 1]),
    ]
    with opened(output) as archive:
        otf2.check(otf2.library().OTF2_Archive_OpenEvtFiles(archive))
        events = Otf2Events(archive, 1)
        events.open(0)
        begin = time.process_time()
        events.write(rows)
        taken = time.process_time() - begin
        events.close()
        otf2.check(otf2.library().OTF2_Archive_CloseEvtFiles(archive))
    shutil.rmtree(output)
    return taken / len(rows) / len(key) * records_per_event


def measured(folder: Path, name: str, output: Path) -> dict[str, float]:
    """Export in a process of its own and watch its memory."""
    words = [sys.executable, __file__, "--export", str(folder), name, str(output)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        own = mapped = 0
        while process.poll() is None:
            now_own, now_mapped = memory_kib(process.pid)
            own, mapped = max(own, now_own), max(mapped, now_mapped)
            time.sleep(0.02)
        assert process.stdout is not None
        text = process.stdout.read()
    if process.returncode:
        sys.exit(f"{name} failed")
    return {**json.loads(text), "own": own / 1024, "mapped": mapped / 1024}


def memory_kib(pid: int) -> tuple[int, int]:
    """Return the memory of a process: its own, and with mapped files [KiB]."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0
    rows = dict(line.split(":", 1) for line in text.splitlines())
    own, mapped = (rows.get(name, "0").split()[0] for name in ("RssAnon", "VmRSS"))
    return int(own), int(mapped)


def has_otf2() -> bool:
    from skelgen.errors import MachineError
    from skelgen.export.otf2_library import library

    try:
        library()
    except MachineError as error:
        print(f"otf2 is left out: {error}")
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=1e6)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--twin", action="store_true")
    parser.add_argument("--export", nargs=3)
    arguments = parser.parse_args()
    if arguments.export:
        folder, name, output = arguments.export
        export(Path(folder), name, Path(output))
        return
    names = arguments.formats.split(",")
    if "otf2" in names and not has_otf2():
        names.remove("otf2")
    print("format    events    events/s   bytes/event  memory")
    largest = int(arguments.largest)
    sizes = [10**power for power in range(5, 12) if 10**power < largest]
    BUILD.mkdir(exist_ok=True)  # on the disk of the checkout: /tmp may be memory
    with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
        for events in (*sizes, largest):
            table(Path(scratch), events, arguments.ranks, names, arguments.twin)


def table(scratch: Path, events: int, ranks: int, names: list[str], twin: bool) -> None:
    """Measure all formats with so many events."""
    folder, small, output = scratch / "run", scratch / "small", scratch / "out"
    for one, least in ((folder, events), (small, 30_000)):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir()
        write(one, least, ranks)
    for name in names:
        shutil.rmtree(output, ignore_errors=True)
        output.unlink(missing_ok=True)
        found = measured(folder, name, output)
        count, seconds = found["events"], found["seconds"]
        plain = twin_s(small, name, scratch / "twin") if twin else 0.0
        print(
            f"{name:<9} {count:<9.0f} {count / seconds:<10,.0f} "
            f"{found['bytes'] / count:<12.0f} "
            f"{found['own']:.0f} MiB, {found['mapped']:.0f} MiB with files"
            + (f", {plain * count / seconds:.1f} x the twin" if twin else ""),
            flush=True,
        )
        if name == "otf2":
            alone = library_s(scratch / "library", found["records"] / count)
            print(f"          the OTF2 library alone: {1 / alone:,.0f} events/s")


if __name__ == "__main__":
    main()
