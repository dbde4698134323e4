"""The available CPU that a monitor says, against what a process then gets.

``python benchmarks/monitor.py availability [--windows 2] [--window 10]
[--only "2 core"] [--results FILE --turn 4m]``

With ``--results`` each window is kept as a line of JSON, and what is there is not
measured again: several short turns give one table. A turn begins no load after its
time. Last comes the table of all windows, by kind of load.

*others* is the part of the cores that processes outside the benchmark had while the
process span. They are not what is measured: a monitor knows them as they were before.
So the table has a row for the windows in which they had less than 1 % of a core, too.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.shared.monitor_loads import SPIN, Host, Load
from tests.testbed.cluster import Cluster, lacking

#: The goals: points, and the part of the windows that is within them.
POINTS, INSIDE = 0.05, 0.90
#: Others had nothing to say of [cores].
QUIET = 0.01

#: Runs in the monitor's group: a sample, then a process that spins as long, in turn.
_WATCH = (
    SPIN
    + """
import json
from skelgen.monitor.sensor import Sensor
sensor = Sensor()
time.sleep(2)
sensor.sample()
for _ in range({windows}):
    for _ in range(4):
        time.sleep({window} / 5)
        sensor.look()
    time.sleep({window} / 5)
    sample = sensor.sample()
    print(json.dumps([sample.cpu, sample.passive, *spin({window})]), flush=True)
    sensor.sample()
"""
)


@dataclass(frozen=True, slots=True)
class Window:
    """What was said for a window, and what was.

    Attributes
    ----------
    load, kind : str
        Of the load: its name, and its row in the table.
    window_s : float
        Length [s].
    said, passive : float
        Available CPU, and before spins corrected it [1].
    got : float
        What a process got that wanted all of a core [1].
    others : float
        What processes outside the benchmark had meanwhile [cores].
    """

    load: str
    kind: str
    window_s: float
    said: float
    passive: float
    got: float
    others: float

    @property
    def error(self) -> float:
        """Return how far off it is [1]."""
        return self.said - self.got


def availability(
    windows: int, window_s: float, loads: Sequence[Load], results: str, turn_s: float
) -> None:
    """Print estimates beside what a process then got."""
    if reason := lacking():
        sys.exit(f"monitor: {reason}")
    kept = Path(results) if results else None
    found = _kept(kept)
    begin = time.monotonic()
    cluster = Cluster("monitor")
    with cluster.used(1):
        host = Host(cluster)
        for load in loads:
            wanted = 5 * windows if load.brief else windows  # until spins tell
            had = sum(w.load == load.name and w.window_s == window_s for w in found)
            if had >= wanted or time.monotonic() - begin > turn_s:
                continue
            for one in _measured(host, load, wanted - had, window_s):
                _print(one)
                found.append(one)
                if kept is not None:
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(one)) + "\n")
    _summary(found)


def _measured(host: Host, load: Load, count: int, window_s: float) -> list[Window]:
    """Return estimate and truth of each window of a load."""
    code = _WATCH.replace("{windows}", str(count)).replace("{window}", str(window_s))
    with host.under(load):
        lines = host.run(code)
    return [Window(load.name, load.kind, window_s, *json.loads(line)) for line in lines]


def _kept(path: Path | None) -> list[Window]:
    """Return the windows of former turns."""
    if path is None or not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Window(**json.loads(line)) for line in lines]


def _print(one: Window) -> None:
    print(
        f"{one.load:>40} said {one.said:.3f} passive {one.passive:.3f} "
        f"got {one.got:.3f} error {100 * one.error:+5.1f} others {one.others:.3f}",
        flush=True,
    )


def _summary(found: Sequence[Window]) -> None:
    """Print a row for each kind of load, and for its windows without others."""
    head = f"{'load':>24}{'windows':>9}{'mean error':>12}{'worst':>7}{'inside':>8}"
    print(f"\n{head}{'passive':>9}")
    for kind in dict.fromkeys(one.kind for one in found):
        rows = [one for one in found if one.kind == kind]
        _row(kind, rows)
        calm = [one for one in rows if one.others < QUIET]
        if 0 < len(calm) < len(rows):
            _row("without others", calm)
    print(f"goal: within {100 * POINTS:.0f} points in {INSIDE:.0%} of the windows")


def _row(name: str, rows: Sequence[Window]) -> None:
    errors = [abs(one.error) for one in rows]
    inside = statistics.fmean(error <= POINTS for error in errors)
    passive = statistics.fmean(abs(w.passive - w.got) <= POINTS for w in rows)
    print(
        f"{name:>24}{len(rows):>9}{100 * statistics.fmean(errors):>12.1f}"
        f"{100 * max(errors):>7.1f}{inside:>8.0%}{passive:>9.0%}"
    )
