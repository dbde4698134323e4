"""How fast does a store take runs in and give them back, and what do many writers lose?

``python benchmarks/store.py [--rows 100000] [--seconds 60] [--kills 200]``
``    [--writers 16] [--postgresql URL]``

One table for 100,000 runs of ten applications with three inputs each: added in one go,
added from a CSV file by the command, with its start, those of one application listed,
and a prediction for each hundredth of them compared with what happened, as `store
record` does it. One for sixteen writer processes that add a run at a time for so many
seconds, with the store kept open, and as jobs do it: opened and closed for each run.
Before them stand processes that only append lines to files of their own, and, with
PostgreSQL, that only insert lines into one table: what they wait is the machine's and
the server's. One for the same while a random writer is killed every second and another
one begins; after each kill the store is checked, while the others write. A run counts
as lost when the writer's `add` had returned and the store does not have it.

``--postgresql URL`` does all this in a PostgreSQL database, too; it must hold no store
that matters. ``--postgresql own`` starts a server for it, as the tests do (Debian's
package ``postgresql``), whose commits wait for the disk. With ``--json`` the numbers
are printed for other programs.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shared.store_writers import (
    measure_all_plain,
    measure_all_writers,
    print_head,
    print_written,
)
from skelgen.pipeline.store_record import track_record
from skelgen.store import Condition, Run, StoredPrediction, open_store
from skelgen.trust import Interval
from tests import postgresql

#: One of so many runs was predicted.
_EACH = 100


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


def predicted(run: Run) -> StoredPrediction:
    """Return a prediction of a run, made just before it began."""
    return StoredPrediction(
        method="phases",
        application=run.application,
        interval=Interval(0.9 * run.time_s, run.time_s, 1.1 * run.time_s),
        made=run.started - 0.5,
        inputs=run.inputs,
        ranks=run.ranks,
        hosts=run.hosts,
        source=run.source,
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--postgresql", metavar="URL|own")
    parser.add_argument(
        "--only", choices=("sqlite", "postgresql"), help="leave the other one out"
    )
    parser.add_argument("--folder", help="where the files of SQLite go")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if arguments.postgresql == "own":
            own = stack.enter_context(postgresql.server(fsync=True))
            arguments.postgresql = own.create("benchmark")
        measure(arguments)


def measure(arguments: argparse.Namespace) -> None:
    """Measure, and print the tables."""
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
        measures = []
        for name, place in places.items():
            url = place() if name == "PostgreSQL" else None
            measures.append(measure_all_plain(url, arguments))
            measures.append(measure_all_writers(place, arguments))
        for one in itertools.chain.from_iterable(measures):
            writers.append(asdict(one))
            if not arguments.json:
                print_written(one)
    if arguments.json:
        print(json.dumps({"import": imports, "writers": writers}))


if __name__ == "__main__":
    main()
