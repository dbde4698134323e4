"""The CPU estimated from what other tools measure, against what a process then gets.

``python benchmarks/monitor.py sources [--windows 3] [--window 10] [--only busy]
[--results FILE --turn 4m]``

On this machine as it is, next to whatever else runs there. Of each window there are
``sar`` (two records, as ``sadc`` writes them), node_exporter (two answers) and the
monitor's own sensor. All three look at the same time. Then this process spins as long,
and its share of a core is the truth. Busy processes are in sessions of their own, as
those of other users: many kernels share time among sessions. Needs
prometheus-node-exporter and sysstat.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.shared.monitor_loads import BRIEF, BUSY
from skelgen.monitor.sensor import Sensor
from skelgen.pipeline.load_sources import import_loads
from skelgen.store import open_store

SADC = "/usr/lib/sysstat/sadc"
#: Computes for 20 ms and sleeps for 20 ms.
HALF = """
import time
while True:
    begin = time.process_time()
    while time.process_time() - begin < 0.02:
        pass
    time.sleep(0.02)
"""
BOUND = f"import os\nos.sched_setaffinity(0, [{{core}}])\n{BUSY}"
NICE = f"import os\nos.nice(10)\n{BUSY}"
#: Loads by name: the programs that run.
LOADS: dict[str, list[str]] = {
    **{f"{count} busy": [BUSY] * count for count in range(5)},
    "2 busy half the time": [HALF] * 2,
    "2 busy, nice 10": [NICE] * 2,
    "2 of moments": [BRIEF] * 2,
    "a bound one on each core": [BOUND],
}
#: Who estimates, as a field of `Estimates`.
WHO = ("monitor", "sar", "exporter")


@dataclass(frozen=True, slots=True)
class Estimates:
    """What each said for a window, and what a process then got [1]."""

    load: str
    monitor: float
    sar: float
    exporter: float
    got: float


def sources(
    windows: int, window_s: float, only: str, results: str, turn_s: float
) -> None:
    """Print estimates beside what a process then got."""
    exporter = shutil.which("prometheus-node-exporter")
    if exporter is None or not Path(SADC).exists():
        sys.exit("monitor: needs prometheus-node-exporter and sysstat (Debian)")
    with contextlib.suppress(PermissionError):
        os.setsid()
    kept = Path(results) if results else None
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    found = [Estimates(**json.loads(line)) for line in lines]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _exporter(exporter) as url:
        for name, programs in LOADS.items():
            had = sum(one.load == name for one in found)
            late = time.monotonic() - begin > turn_s
            if only not in name or had >= windows or late:
                continue
            with _running(programs):
                for at in range(windows - had):
                    place = Path(folder) / f"{name}-{at}".replace(" ", "-")
                    place.mkdir()
                    one = _window(name, window_s, url, place)
                    print(_line(one), flush=True)
                    found.append(one)
                    if kept is not None:
                        with kept.open("a") as file:
                            file.write(json.dumps(asdict(one)) + "\n")
    _summary(found)


@contextlib.contextmanager
def _exporter(program: str) -> Iterator[str]:
    """Have a node_exporter run; give its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [program, f"--web.listen-address=127.0.0.1:{port}"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(line, stdout=quiet, stderr=quiet) as process:
        try:
            time.sleep(1)
            yield f"http://127.0.0.1:{port}/metrics"
        finally:
            process.terminate()


@contextlib.contextmanager
def _running(programs: Sequence[str]) -> Iterator[None]:
    """Have programs run; one that is to be bound on each core."""
    cores = sorted(os.sched_getaffinity(0))
    codes = [
        code.replace("{core}", str(core))
        for code in programs
        for core in (cores if "{core}" in code else cores[:1])
    ]
    started = [
        subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        for code in codes
    ]
    try:
        time.sleep(1)
        yield
    finally:
        for one in started:
            os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def _window(load: str, window_s: float, url: str, folder: Path) -> Estimates:
    """Have all three look, then spin."""
    sensor = Sensor()
    time.sleep(1)
    sensor.sample()
    records, answers = folder / "sa", [folder / "a.prom", folder / "b.prom"]
    line = [SADC, str(round(window_s)), "2", str(records)]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as sadc:
        _fetch(url, answers[0])
        for _ in range(4):
            time.sleep(window_s / 5)
            sensor.look()
        time.sleep(window_s / 5)
        sample = sensor.sample()
        _fetch(url, answers[1])
        sadc.wait()
    begin, had = time.monotonic(), time.thread_time()
    while time.monotonic() - begin < window_s:
        pass
    got = (time.thread_time() - had) / (time.monotonic() - begin)
    said = _estimated(folder / "store.db", [records, *answers])
    return Estimates(load, sample.cpu, said["cpu:sar"], said["cpu:node-exporter"], got)


def _fetch(url: str, place: Path) -> None:
    with urllib.request.urlopen(url, timeout=10) as answer:
        text = answer.read()
    place.write_bytes(text)


def _estimated(store: Path, files: Sequence[Path]) -> dict[str, float]:
    """Return the latest value of each quantity that the files give."""
    found = import_loads(str(store), [str(one) for one in files], host="here")
    if found.refused:
        sys.exit(f"monitor: {found.refused[0]}")
    with open_store(str(store), make=False) as one:
        return {series.quantity: series.values[-1] for series in one.series()}


def _line(one: Estimates) -> str:
    said = "".join(f" {who} {getattr(one, who):.3f}" for who in WHO)
    return f"{one.load:>26}{said} got {one.got:.3f}"


def _summary(found: Sequence[Estimates]) -> None:
    """Print the mean of each load, and how far off each is."""
    head = "".join(f"{who:>10}" for who in WHO)
    print(f"\n{'load':>26}{'windows':>9}{'got':>7}{head}   (mean errors [points])")
    for name in dict.fromkeys(one.load for one in found):
        rows = [one for one in found if one.load == name]
        got = statistics.fmean(one.got for one in rows)
        print(f"{name:>26}{len(rows):>9}{got:>7.2f}{_errors(rows)}")
    print(f"{'all':>26}{len(found):>9}{'':>7}{_errors(found)}")
    for points in (5, 10):
        inside = "".join(f"{_inside(found, who, points / 100):>10.0%}" for who in WHO)
        print(f"{f'within {points} points':>42}{inside}")


def _errors(rows: Sequence[Estimates]) -> str:
    means = [
        statistics.fmean(abs(getattr(w, who) - w.got) for w in rows) for who in WHO
    ]
    return "".join(f"{100 * mean:>10.1f}" for mean in means)


def _inside(rows: Sequence[Estimates], who: str, most: float) -> float:
    return statistics.fmean(abs(getattr(w, who) - w.got) <= most for w in rows)
