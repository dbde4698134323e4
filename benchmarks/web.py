"""How fast the server answers, over a store of many runs, and what memory it takes.

    python -m benchmarks.web --readers 50 --writers 5 --idle 60 [--postgresql]
    python -m benchmarks.web --runs 5000 --samples 10000 --repeats 2 --requests 100000

One server in a process of its own, asked over loopback. The time is until the whole
answer is there. `--readers` asks with several connections at once, while `--writers`
add runs; then errors and lost runs are counted.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from skelgen.store import Run, open_store

sys.path.append(str(Path(__file__).resolve().parent.parent))
from benchmarks.web_rows import made_facts, made_predictions, made_series
from tests import postgresql

PAGES = (
    *("/", "/applications", "/runs", "/runs?part=1000", "/runs?order=time_s"),
    *("/runs?app=app7&where=n%3E=1000", "/runs?where=n%3E=15000,ranks=8"),
    *("/runs?host=n3", "/runs?since=2022-01-01", "/runs/r77", "/models"),
    *("/predictions", "/systems", "/loads", "/compare?run=r1&run=r2"),
    *("/ask?app=app7&at=n=2000,ranks=8,solver=cg,steps=100", "/api/runs"),
    *("/runs?where=n=1000:2000&column=time_s&column=input.n&column=executable",),
    *("/compare?run=r77&run=r78", "/compare?run=r1&run=r2&run=r3&run=r4&run=r5"),
    *("/loads", "/loads?span=week", "/loads/picture.svg?span=week"),
    *("/loads?hosts=n1,n2&span=day&horizon=2h", "/loads?quantity=bandwidth&span=day"),
    *("/systems/n1", "/systems/n1/messages.svg", "/systems/cluster"),
    *("/systems/cluster/history?fact=clock", "/systems?with=n1&with=n2"),
    *("/predictions?method=model&verdict=trust", "/predictions/picture.svg"),
)
#: Pages that many ask for, to see whether memory grows.
SMALL = ("/models", "/runs/r77", "/systems", "/health", "/api/runs?app=app7")
_BATCH = 5000


def made_runs(count: int) -> Iterator[Run]:
    """Yield runs of 300 applications with three inputs."""
    draw = random.Random(2)
    for at in range(count):
        yield Run(
            f"app{draw.randrange(300)}",
            draw.lognormvariate(2, 1),
            ranks=draw.choice((1, 2, 4, 8, 16, 32)),
            inputs=(
                ("n", draw.randrange(1, 200) * 100.0),
                ("solver", draw.choice(("cg", "mg"))),
                ("steps", 100.0),
            ),
            hosts=(f"n{draw.randrange(64)}",),
            started=1.6e9 + draw.random() * 1e8,
            system="cluster",
            identity=f"r{at}",
        )


def fill(place: str, count: int, samples: int) -> None:
    """Make a store of so many runs and samples of loads."""
    runs = list(made_runs(count))
    with open_store(place) as store:
        for begin in range(0, count, _BATCH):
            store.add(runs[begin : begin + _BATCH])
        for series in made_series(samples):
            store.add([series])
        store.add([*made_facts(), *made_predictions()])


class Server:
    """A server in a process of its own."""

    def __init__(self, place: str) -> None:
        words = ["serve", "--store", place, "--port", "0", "--json"]
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skelgen", *words], stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        url = json.loads(self.process.stdout.readline())["url"]
        base, _, self.token = url.partition("/enter?token=")
        self.netloc = urlsplit(base).netloc
        self.get("/", self.connection())
        self.start_s = time.perf_counter() - begun

    def connection(self) -> http.client.HTTPConnection:
        """Return a connection of its own for a reader."""
        return http.client.HTTPConnection(self.netloc, timeout=60)

    def get(
        self, path: str, one: http.client.HTTPConnection, body: bytes | None = None
    ) -> tuple[int, bytes]:
        """Ask for a page, or send runs; return status and content."""
        headers = {"Authorization": f"Bearer {self.token}"}
        one.request("POST" if body else "GET", path, body, headers)
        answer = one.getresponse()
        return answer.status, answer.read()

    def memory_mb(self) -> float:
        """Return the memory that the server has in use [MB]."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(one for one in text.splitlines() if one.startswith("VmRSS"))
        return int(line.split()[1]) / 1e3

    def used_s(self) -> float:
        """Return the time of a processor that the server has used [s]."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        ticks = text.rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def end(self) -> float:
        """End the server; return how long that took [s]."""
        begun = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        return time.perf_counter() - begun


def pages(server: Server, repeats: int) -> None:
    """Print the time and size of each page."""
    one = server.connection()
    print(f"{'page':58} {'median':>8} {'p95':>8} {'size':>9}")
    for path in PAGES:
        times = []
        for _ in range(repeats):
            begun = time.perf_counter()
            status, content = server.get(path, one)
            times.append(time.perf_counter() - begun)
            assert status == 200, (path, status)
        p95 = statistics.quantiles(times, n=20)[-1]
        print(
            f"{path:58} {statistics.median(times) * 1e3:5.0f} ms {p95 * 1e3:5.0f} ms "
            f"{len(content) / 1e3:6.1f} kB"
        )


def load(server: Server, readers: int, writers: int, seconds: float) -> None:
    """Print what many readers and writers at once see."""
    until = time.perf_counter() + seconds
    times: list[float] = []
    failed: list[str] = []
    added: list[str] = []

    def read(seed: int) -> None:
        draw, one = random.Random(seed), server.connection()
        while time.perf_counter() < until:
            path, begun = draw.choice(PAGES), time.perf_counter()
            try:
                status, _ = server.get(path, one)
            except (OSError, http.client.HTTPException) as error:
                failed.append(f"{path} {error!r}")
                one = server.connection()
                continue
            times.append(time.perf_counter() - begun)
            if status != 200:
                failed.append(f"{path} {status}")

    def write(seed: int) -> None:
        one, number = server.connection(), 0
        while time.perf_counter() < until:
            name = f"w{seed}-{number}"
            facts = {"row": "run", "application": "new", "time_s": 1, "identity": name}
            status, content = server.get("/api/runs", one, json.dumps(facts).encode())
            if status == 200 and json.loads(content)["added"]:
                added.append(name)
            else:
                failed.append(f"add {status}")
            number += 1
            time.sleep(0.2)

    threads = [threading.Thread(target=read, args=(at,)) for at in range(readers)]
    threads += [threading.Thread(target=write, args=(at,)) for at in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _, content = server.get("/api/runs?app=new", server.connection())
    lost = len(added) - json.loads(content)["total"]
    times.sort()
    print(
        f"{readers} readers, {writers} writers, {seconds:g} s: {len(times)} answers, "
        f"median {statistics.median(times) * 1e3:.0f} ms, p95 "
        f"{times[int(0.95 * len(times))] * 1e3:.0f} ms, added {len(added)}, "
        f"lost {lost}, failed {len(failed)} {failed[:3]}"
    )


def growth(server: Server, requests: int) -> None:
    """Print the memory after each tenth of many requests, by four readers."""
    print(f"memory over {requests} requests: {server.memory_mb():.0f}", end="")
    for _ in range(10):

        def read() -> None:
            one = server.connection()
            for at in range(requests // 40):
                status, _ = server.get(SMALL[at % len(SMALL)], one)
                assert status == 200, (SMALL[at % len(SMALL)], status)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f" {server.memory_mb():.0f}", end="", flush=True)
    print(" MB")


def measure(place: str, options: argparse.Namespace) -> None:
    """Measure the server of a store, and print."""
    server = Server(place)
    print(f"start to the first page {server.start_s:.2f} s")
    pages(server, options.repeats)
    print(f"memory {server.memory_mb():.0f} MB")
    if options.readers:
        load(server, options.readers, options.writers, options.seconds)
        print(f"memory {server.memory_mb():.0f} MB")
    if options.requests:
        growth(server, options.requests)
    if options.idle:
        before = server.used_s()
        time.sleep(options.idle)
        used = (server.used_s() - before) / options.idle
        print(f"idle for {options.idle:g} s: {used:.2%} of a core")
    print(f"ended in {server.end():.2f} s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--readers", type=int, default=0)
    parser.add_argument("--writers", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--requests", type=int, default=0, help="see whether it grows")
    parser.add_argument("--idle", type=float, default=0.0, help="seconds of nothing")
    parser.add_argument("--postgresql", action="store_true", help="own server")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if options.postgresql:
            place = stack.enter_context(postgresql.server()).create("web")
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            place = str(Path(folder, "store.db"))
        fill(place, options.runs, options.samples)
        measure(place, options)


if __name__ == "__main__":
    main()
