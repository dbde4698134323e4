"""How fast does a store take runs in and give them back, and what do many writers lose?

``python benchmarks/store.py [--rows 100000] [--seconds 60] [--kills 200]``
``    [--writers 16] [--postgresql URL]``

One table for 100,000 runs of ten applications with three inputs each: added in one go,
added from a CSV file by the command, with its start, those of one application listed,
and a prediction for each hundredth of them compared with what happened, as `store
record` does it. One for sixteen writer processes that add a run at a time for so many
seconds, with the store kept open, and as jobs do it: opened for each run. Before them stand
processes that only append lines to files of their own: what they wait is the
machine's. One for the
same while a random writer is killed every second and another one begins; after each
kill the store is checked, while the others write. A run counts as lost when the
writer's `add` had returned and the store does not have it.

``--postgresql`` does all this in a PostgreSQL database, too; it must hold no store that
matters. With ``--json`` the numbers are printed for other programs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.pipeline import track_record
from skelgen.store import Condition, Prediction, Run, open_store
from skelgen.store.checking import check_store
from skelgen.trust import Interval

#: Runs that a writer adds before it opens the store again.
KEPT_OPEN, AS_JOBS = 10**9, 1
#: One of so many runs was predicted.
_EACH = 100
#: What a writer waits between two runs while others are killed [s]: so that a check,
#: which reads the whole store, takes no minutes in the end.
PAUSE_S = 0.01
#: Kills before the store is counted and another one is begun.
KILLS_OF_A_STORE = 20
_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Written:
    """What writers did.

    Attributes
    ----------
    store, way : str
    seconds : float
    rows : int
        That the store had in the end.
    lost, twice : int
        Rows.
    longest_s, p999_s : float
        Wait of a writer for one row, with what it took to open the store [s].
    absorb_s : float
        What the first reader took to see all rows [s].
    kills, sound : int
        Writers that were killed, and checks that found nothing.
    """

    store: str
    way: str
    seconds: float
    rows: int
    lost: int
    twice: int
    longest_s: float
    p999_s: float
    absorb_s: float
    kills: int = 0
    sound: int = 0


def runs(count: int) -> Iterator[Run]:
    """Make runs of ten applications with three inputs each."""
    drawn = random.Random(1)
    for number in range(count):
        yield Run(
            application=f"application-{number % 10}",
            time_s=drawn.uniform(1.0, 100.0),
            ranks=8 << number % 4,
            inputs=(
                ("n", float(drawn.randrange(1000, 10_000))),
                ("steps", float(drawn.randrange(10, 100))),
                ("tolerance", drawn.random()),
            ),
            hosts=(f"node{number % 64:02d}", f"node{number % 64 + 1:02d}"),
            started=1.7e9 + number,
            source=f"runs.csv line {number + 2}",
        )


def measure_import(place: str, count: int) -> dict[str, float]:
    """Add runs to an empty store in one go, and list those of one application."""
    rows = list(runs(count))
    begin_s = time.perf_counter()
    with open_store(place) as store:
        added = store.add(rows)
    add_s = time.perf_counter() - begin_s
    assert len(added.added) == count, f"{len(added.already)} were there already"
    listed: dict[str, float] = {"rows": count, "add_s": add_s}
    for name, where in (
        ("list_s", []),
        ("list_where_s", [Condition("n", ">=", 9000.0)]),
    ):
        begin_s = time.perf_counter()
        with open_store(place) as store:
            found = store.runs("application-3", where)
        listed[name] = time.perf_counter() - begin_s
        listed[name.replace("_s", "_rows")] = len(found)
    predictions = [predicted(run) for run in rows[::_EACH]]
    with open_store(place) as store:
        kept = store.add(predictions)
    begin_s = time.perf_counter()
    records = track_record(place)
    listed["record_s"] = time.perf_counter() - begin_s
    listed["record_rows"] = sum(one.happened for one in records)
    assert listed["record_rows"] == len(predictions)
    with open_store(place) as store:
        store.remove([entry.run for entry in (*added.added, *kept.added)])
    return listed


def measure_csv(place: str, count: int, folder: Path) -> float:
    """Return what the command takes that adds a CSV file of the same runs [s]."""
    path = folder / "runs.csv"
    with path.open("w") as file:
        file.write("app,time_s,ranks,n,steps,tolerance,hosts,started\n")
        for one in runs(count):
            inputs = ",".join(str(value) for _, value in one.inputs)
            file.write(
                f"{one.application},{one.time_s},{one.ranks},{inputs},"
                f"{' '.join(one.hosts)},{one.started}\n"
            )
    line = [sys.executable, "-m", "skelgen", "store", "add", str(path)]
    begin_s = time.perf_counter()
    subprocess.run([*line, "--store", place], capture_output=True, check=True)
    csv_s = time.perf_counter() - begin_s
    with open_store(place) as store:
        added = [run.identity for run in store.runs()]
        assert len(added) == count
        store.remove(added)
    return csv_s


def predicted(run: Run) -> Prediction:
    """Return a prediction of a run, made just before it began."""
    return Prediction(
        method="phases",
        application=run.application,
        interval=Interval(0.9 * run.time_s, run.time_s, 1.1 * run.time_s),
        made=run.started - 0.5,
        inputs=run.inputs,
        ranks=run.ranks,
        hosts=run.hosts,
        source=run.source,
    )


def write(
    place: str, application: str, log: Path, each: int, until: float, pause_s: float
) -> None:
    """Add a run at a time until then; log each with the wait for it once it is in."""
    with log.open("w", buffering=1) as said:
        number = 0
        while time.monotonic() < until:
            opened_s = begin_s = time.monotonic()
            with open_store(place) as store:
                for _ in range(each):
                    source = f"{log.name}-{number}"
                    row = Run(application, 1.0, inputs=(("n", 1.0),), source=source)
                    assert len(store.add([row]).added) == 1
                    said.write(f"{source} {time.monotonic() - begin_s:.6f}\n")
                    number += 1
                    if time.monotonic() >= until:
                        break
                    time.sleep(pause_s)
                    begin_s = time.monotonic()
            if each == AS_JOBS and not pause_s:  # a job has closed the store, too
                said.write(f"{source} {time.monotonic() - opened_s:.6f}\n")


def append(log: Path, each: int, until: float) -> None:
    """Append a line at a time until then: what a writer waits for this machine only."""
    own = log.with_name(f"{log.name}.lines")
    line = b"x" * 250 + b"\n"
    with log.open("w", buffering=1) as said:
        while time.monotonic() < until:
            begin_s = time.monotonic()
            with own.open("ab", buffering=0) as file:
                for _ in range(each):
                    file.write(line)
                    said.write(f"x {time.monotonic() - begin_s:.6f}\n")
                    if time.monotonic() >= until:
                        break
                    begin_s = time.monotonic()


def measure_appends(folder: str, writers: int, seconds: float, each: int) -> Written:
    """Let processes append lines to files of their own: what this machine makes wait."""
    with tempfile.TemporaryDirectory(dir=folder) as logs:
        until = time.monotonic() + seconds
        processes = [
            _fork.Process(target=append, args=(Path(logs) / str(number), each, until))
            for number in range(writers)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        for lines in Path(logs).glob("*.lines"):
            lines.unlink()
        _, waits = said_in(Path(logs))
    return Written(
        store="no store",
        way="kept open" if each == KEPT_OPEN else "as jobs",
        seconds=seconds,
        rows=len(waits),
        lost=0,
        twice=0,
        longest_s=waits[-1],
        p999_s=waits[int(len(waits) * 0.999)],
        absorb_s=0.0,
    )


def begin(
    place: str, application: str, logs: Path, each: int, until: float, pause_s: float
) -> multiprocessing.process.BaseProcess:
    """Begin a writer."""
    log = logs / uuid.uuid4().hex
    process = _fork.Process(
        target=write, args=(place, application, log, each, until, pause_s)
    )
    process.start()
    return process


def said_in(logs: Path) -> tuple[set[str], list[float]]:
    """Return the rows that writers say they added, and how long each took [s]."""
    rows: set[str] = set()
    waits: list[float] = []
    for log in logs.iterdir():
        for line in log.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                source, wait_s = line.split()
                rows.add(source)
                waits.append(float(wait_s))
    return rows, sorted(waits)


def written(
    place: str, way: str, application: str, logs: Path, seconds: float
) -> Written:
    """Compare what writers say with what the store has."""
    said, waits = said_in(logs)
    begin_s = time.perf_counter()
    with open_store(place) as store:
        store.count()
        absorb_s = time.perf_counter() - begin_s
        found = [run.source for run in store.runs(application)]
    return Written(
        store="PostgreSQL" if "://" in place else "SQLite",
        way=way,
        seconds=seconds,
        rows=len(found),
        lost=len(said - set(found)),
        twice=len(found) - len(set(found)),
        longest_s=waits[-1],
        p999_s=waits[int(len(waits) * 0.999)],
        absorb_s=absorb_s,
    )


def measure_writers(
    place: str, writers: int, seconds: float, each: int, way: str
) -> Written:
    """Let writers add runs at the same time."""
    application = f"writers-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory() as folder:
        open_store(place).close()
        until = time.monotonic() + seconds
        processes = [
            begin(place, application, Path(folder), each, until, 0.0)
            for _ in range(writers)
        ]
        for process in processes:
            process.join()
            assert process.exitcode == 0
        return written(place, way, application, Path(folder), seconds)


def measure_kills(place: str, writers: int, kills: int) -> Written:
    """Kill a random writer every second, begin another, and check the store."""
    application = f"killed-{uuid.uuid4().hex}"
    drawn = random.Random(1)
    sound = 0
    with tempfile.TemporaryDirectory() as folder:
        begin_s = time.monotonic()
        until = begin_s + 1e6

        def another() -> multiprocessing.process.BaseProcess:
            each = drawn.choice((KEPT_OPEN, AS_JOBS))
            return begin(place, application, Path(folder), each, until, PAUSE_S)

        processes = [another() for _ in range(writers)]
        for _ in range(kills):
            time.sleep(1.0)
            killed = processes.pop(drawn.randrange(len(processes)))
            end(killed)
            health = check_store(place)
            sound += health.sound
            for problem in health.problems:
                print(problem, file=sys.stderr)
            processes.append(another())
        for process in processes:
            end(process)
        seconds = time.monotonic() - begin_s
        result = written(place, "killed", application, Path(folder), seconds)
    return Written(**{**asdict(result), "kills": kills, "sound": sound})


def end(process: multiprocessing.process.BaseProcess) -> None:
    """Kill a process of ours."""
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def joined(parts: list[Written]) -> Written:
    """Return the sum of what happened to several stores."""
    return Written(
        store=parts[0].store,
        way=parts[0].way,
        seconds=sum(part.seconds for part in parts),
        rows=sum(part.rows for part in parts),
        lost=sum(part.lost for part in parts),
        twice=sum(part.twice for part in parts),
        longest_s=max(part.longest_s for part in parts),
        p999_s=max(part.p999_s for part in parts),
        absorb_s=max(part.absorb_s for part in parts),
        kills=sum(part.kills for part in parts),
        sound=sum(part.sound for part in parts),
    )


def print_import(name: str, found: dict[str, float]) -> None:
    """Print what adding and listing took."""
    print(f"\n{name}: {found['rows']:,} runs x 3 inputs")
    print(f"{'':34}{'runs':>10}{'time':>10}")
    for what, rows, key in (
        ("added in one go", "rows", "add_s"),
        ("store add of a CSV file", "rows", "csv_s"),
        ("listed, one application", "list_rows", "list_s"),
        ("listed, one application, n>=9000", "list_where_rows", "list_where_s"),
        ("predictions compared", "record_rows", "record_s"),
    ):
        print(f"{what:34}{found[rows]:>10,.0f}{found[key]:>8.2f} s", flush=True)


def print_head(writers: int) -> None:
    """Print the head of the table of `print_written`."""
    print(f"\n{writers} writer processes, a run at a time")
    print(
        f"{'store':12}{'way':12}{'time':>7}{'rows':>10}{'rows/s':>8}{'lost':>6}"
        f"{'twice':>6}{'longest':>11}{'99.9 %':>10}{'absorbed':>10}{'sound':>10}",
        flush=True,
    )


def print_written(one: Written) -> None:
    """Print what became of the rows of many writers."""
    sound = f"{one.sound}/{one.kills}" if one.kills else ""
    print(
        f"{one.store:12}{one.way:12}{one.seconds:>5.0f} s{one.rows:>10,}"
        f"{one.rows / one.seconds:>8,.0f}{one.lost:>6}{one.twice:>6}"
        f"{one.longest_s * 1e3:>8.1f} ms{one.p999_s * 1e3:>7.1f} ms"
        f"{one.absorb_s:>8.2f} s{sound:>10}",
        flush=True,
    )


def measure_all_writers(
    place: Callable[[], str], arguments: argparse.Namespace
) -> Iterator[Written]:
    """Measure many writers; `place` names a new store each time, if it can."""
    for each, way in ((KEPT_OPEN, "kept open"), (AS_JOBS, "as jobs")):
        if arguments.seconds:
            yield measure_writers(
                place(), arguments.writers, arguments.seconds, each, way
            )
    left, parts = arguments.kills, []
    while left > 0:
        kills = min(left, KILLS_OF_A_STORE)
        parts.append(measure_kills(place(), arguments.writers, kills))
        left -= kills
    if parts:
        yield joined(parts)


def measure_all_appends(
    folder: str, arguments: argparse.Namespace
) -> Iterator[Written]:
    """Measure what the writers of `measure_all_writers` wait for the machine only."""
    for each in (KEPT_OPEN, AS_JOBS):
        if arguments.seconds:
            yield measure_appends(folder, arguments.writers, arguments.seconds, each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--postgresql", metavar="URL")
    parser.add_argument(
        "--only", choices=("sqlite", "postgresql"), help="leave the other one out"
    )
    parser.add_argument("--folder", help="where the files of SQLite go")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        places: dict[str, Callable[[], str]] = {
            "SQLite": lambda: f"{folder}/{uuid.uuid4().hex}/runs.db"
        }
        if arguments.postgresql:
            places["PostgreSQL"] = lambda: arguments.postgresql
        if arguments.only:
            places = {n: p for n, p in places.items() if n.lower() == arguments.only}
        imports = {}
        for name, place in places.items():
            if not arguments.rows:
                continue
            imports[name] = measure_import(place(), arguments.rows)
            csv_s = measure_csv(place(), arguments.rows, Path(folder))
            imports[name]["csv_s"] = csv_s
            if not arguments.json:
                print_import(name, imports[name])
        if not arguments.json:
            print_head(arguments.writers)
        writers = []
        measures = [measure_all_appends(folder, arguments)]
        measures += [measure_all_writers(one, arguments) for one in places.values()]
        for one in itertools.chain.from_iterable(measures):
            writers.append(asdict(one))
            if not arguments.json:
                print_written(one)
    if arguments.json:
        print(json.dumps({"import": imports, "writers": writers}))


if __name__ == "__main__":
    main()
