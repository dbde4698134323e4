"""Is what the monitor says of a link what ``tc`` set, and what a stream gets?

``python benchmarks/monitor.py links [--probes 5]``

On two hosts of the test cluster (root) the link gets each rate in turn. Probes follow
each other, first on the quiet link, then next to a TCP stream in the same direction.
The goal is 10 % of the link's rate. ``tc`` counts 1514 bytes of which a stream gets
1448, so 95.6 % is the most that can be found. What a stream of 5 s gets next to the
other one is the truth for the last columns.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.testbed.cluster import Cluster, lacking

RATES = ("10mbit", "30mbit", "100mbit", "300mbit", "1gbit")
GOAL = 0.10
ROOT = Path(__file__).resolve().parents[2]
_PROBER = """
import json, sys, threading, time
from pathlib import Path
from skelgen.monitor.links import agreed
from skelgen.monitor.prober import Prober
host, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
folder.mkdir(exist_ok=True)
links = agreed(["h1", "h2"], 1e12, 120)
prober = Prober(links, "a secret of sixteen", host, folder, threading.Lock())
if not count:
    prober.start()
    print("ready", flush=True)
    time.sleep(1e6)
for _ in range(count):
    begin, had = time.monotonic(), time.process_time()
    cost, found = prober.probe("h2", 10**9)
    took, cpu = time.monotonic() - begin, time.process_time() - had
    rate = found.bandwidth_bytes_per_s
    print(json.dumps([rate, found.latency_s, cost, took, cpu]))
"""
#: Takes streams, and says how fast each was after its first second.
_SINK = """
import socket, threading, time
def take(connection):
    begin = first = time.monotonic()
    total = 0
    while got := len(connection.recv(1 << 18)):
        now = time.monotonic()
        if now - begin < 1:
            first = now
        else:
            total += got
    connection.sendall(b"%f" % (total / max(now - first, 1e-9)))
door = socket.create_server(("", 5001), backlog=8)
print("ready", flush=True)
while True:
    threading.Thread(target=take, args=[door.accept()[0]], daemon=True).start()
"""
_STREAM = """
import socket, sys, time
connection = socket.create_connection(("h2", 5001))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 1 << 16)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    connection.sendall(bytes(1 << 14))
connection.shutdown(socket.SHUT_WR)
print(connection.recv(100).decode())
"""


class Two:
    """Two hosts of the cluster, the second of which answers."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder

    def command(self, host: str, code: str, *words: str) -> subprocess.Popen[str]:
        """Run Python on a host."""
        return subprocess.Popen(
            self._cluster.words(host, [sys.executable, "-c", code, *words]),
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @contextlib.contextmanager
    def running(self, host: str, code: str, *words: str) -> Iterator[None]:
        """Have Python run on a host, from the moment on in which it says something."""
        with self.command(host, code, *words) as process:
            try:
                if "ready" in code:
                    assert process.stdout is not None
                    process.stdout.readline()
                yield
            finally:
                os.killpg(process.pid, signal.SIGKILL)

    def answering(self) -> contextlib.AbstractContextManager[None]:
        return self.running("h2", _PROBER, "h2", str(self._folder / "h2"), "0")

    def probes(self, count: int) -> list[list[float]]:
        """Return rate, latency, cost, time and CPU time of each probe."""
        words = ["h1", str(self._folder / "h1"), str(count)]
        with self.command("h1", _PROBER, *words) as process:
            said, _ = process.communicate()
        return [json.loads(line) for line in said.splitlines()]

    def stream_bytes_per_s(self, seconds: float) -> float:
        """Return what a stream gets."""
        with self.command("h1", _STREAM, str(seconds)) as process:
            said, _ = process.communicate()
        return float(said)


def links(count: int) -> None:
    """Print what probes found next to what was set."""
    if reason := lacking():
        sys.exit(f"monitor: {reason}")
    cluster, errors = Cluster("monitor"), []
    print(
        f"{'tc':>8}{'probe':>8}{'worst':>8}{'latency':>9}{'cost':>10}{'time':>8}"
        f"{'CPU':>8}   next to a stream:{'probe':>7}{'stream':>8}{'latency':>9}"
        f"{'cost':>9}{'time':>8}"
    )
    with tempfile.TemporaryDirectory() as folder, cluster.used(2):
        two = Two(cluster, Path(folder))
        with two.answering(), two.running("h2", _SINK):
            for text in RATES:
                cluster.link("all", text)
                number = float(text.removesuffix("mbit").removesuffix("gbit"))
                rate = number * (1e9 if text.endswith("gbit") else 1e6) / 8
                quiet = two.probes(count)
                errors += [abs(found[0] / rate - 1) for found in quiet]
                with two.running("h1", _STREAM, "1e6"):
                    time.sleep(3)
                    busy = two.probes(3)
                    truth = two.stream_bytes_per_s(5)
                _row(text, rate, quiet, busy, truth)
    print(
        f"{len(errors)} probes of quiet links: within {GOAL:.0%} of the link's rate "
        f"{statistics.fmean(error <= GOAL for error in errors):.0%}"
    )


def _row(
    text: str,
    rate: float,
    quiet: list[list[float]],
    busy: list[list[float]],
    truth: float,
) -> None:
    middle = [statistics.median(column) for column in zip(*quiet, strict=True)]
    worst = max((found[0] / rate - 1 for found in quiet), key=abs)
    beside = [statistics.median(column) for column in zip(*busy, strict=True)]
    print(
        f"{text:>8}{middle[0] / rate:>8.1%}{worst:>+8.1%}{1e6 * middle[1]:>6.0f} us"
        f"{middle[2] / 1e6:>7.2f} MB{middle[3]:>6.2f} s{1e3 * middle[4]:>5.0f} ms"
        f"{'':>20}{beside[0] / rate:>7.1%}{truth / rate:>8.1%}"
        f"{1e3 * beside[1]:>6.1f} ms{beside[2] / 1e6:>6.2f} MB{beside[3]:>6.2f} s",
        flush=True,
    )
