"""Writer processes of `benchmarks/store.py`, and what became of their rows."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skelgen.store import Run, open_store
from skelgen.store.checking import check_store

#: Runs that a writer adds before it opens the store again.
KEPT_OPEN, AS_JOBS = 10**9, 1
#: What a writer waits between two runs while others are killed [s]: so that a check,
#: which reads the whole store, takes no minutes in the end.
PAUSE_S = 0.01
#: Kills before the store is counted and another one is begun.
KILLS_OF_A_STORE = 20
#: Numbers that are summed for each line that is no store's: about 0.1 ms.
_ARITHMETIC = 4000
#: Table of such lines, and how long they are added at most [s].
_PLAIN, _PLAIN_S = "skelgen_plain_lines", 20.0
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


def append_plainly(log: Path, url: str | None, each: int, until: float) -> None:
    """Append a line at a time until then, or insert it: what nobody's code makes wait.

    Each takes as much arithmetic as a row of a store.
    """
    line = "x" * 250 + "\n"
    with log.open("w", buffering=1) as said:
        while time.monotonic() < until:
            begin_s = time.monotonic()
            with _lines_of(log, url) as put:
                for _ in range(each):
                    sum(range(_ARITHMETIC))
                    put(line)
                    said.write(f"x {time.monotonic() - begin_s:.6f}\n")
                    if time.monotonic() >= until:
                        break
                    begin_s = time.monotonic()


@contextlib.contextmanager
def _lines_of(log: Path, url: str | None) -> Iterator[Callable[[str], object]]:
    """Open a file of its own, or a table, and give what adds a line to it."""
    if url is None:
        with log.with_name(f"{log.name}.lines").open("a", buffering=1) as file:
            yield file.write
        return
    sql = f"INSERT INTO {_PLAIN} VALUES (%s)"
    with _connected(url) as connection:
        yield lambda line: connection.execute(sql, [line])


def _connected(url: str) -> Any:
    import psycopg

    return psycopg.connect(url, autocommit=True)


def measure_plain(url: str | None, writers: int, seconds: float, each: int) -> Written:
    """Let processes append lines, each to a file of its own or all to one table."""
    if url is not None:
        with _connected(url) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {_PLAIN}")
            connection.execute(f"CREATE TABLE {_PLAIN} (line TEXT)")
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / str(number) for number in range(writers)]
        until = time.monotonic() + seconds
        processes = [
            _fork.Process(target=append_plainly, args=(log, url, each, until))
            for log in logs
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            assert process.exitcode == 0
        for lines in Path(folder).glob("*.lines"):
            lines.unlink()
        _, waits = said_in(Path(folder))
    if url is not None:
        with _connected(url) as connection:
            connection.execute(f"DROP TABLE {_PLAIN}")
    return Written(
        store="one table" if url else "files",
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


def measure_all_plain(
    url: str | None, arguments: argparse.Namespace
) -> Iterator[Written]:
    """Measure what the writers of `measure_all_writers` wait for the machine only."""
    seconds = min(arguments.seconds, _PLAIN_S)
    for each in (KEPT_OPEN, AS_JOBS):
        if seconds:
            yield measure_plain(url, arguments.writers, seconds, each)
