"""Replays time-independent traces with SimGrid, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

SMPIRUN = shutil.which("smpirun")
MISSING = "no smpirun: SimGrid is not installed (Debian: libsimgrid-dev)"

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-{last}" speed="1Gf" bw="10GBps"
    lat="1us"/>
</platform>
"""
_ACTION = re.compile(r"\[smpi_replay/VERBOSE\] (\d+) (\w+)")
_TIME = re.compile(r"Simulation time ([\d.]+)")


def replay(listing: Path, ranks: int) -> tuple[Counter[tuple[int, str]], float]:
    """Replay a trace; return the actions that were done and the time it says [s].

    A platform with a host of 1 Gflop/s for each rank is made beside the trace.
    """
    folder = listing.parent
    (folder / "platform.xml").write_text(PLATFORM.format(last=ranks - 1))
    hosts = "".join(f"node-{rank}\n" for rank in range(ranks))
    (folder / "hosts").write_text(hosts)
    assert SMPIRUN is not None
    done = subprocess.run(
        [
            *(SMPIRUN, "-np", str(ranks), "-platform", "platform.xml"),
            *("-hostfile", "hosts", "-replay", listing.name),
            "--log=smpi_replay.thres:verbose",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text[-2000:]
    time = _TIME.search(text)
    assert time, text[-2000:]
    actions = Counter((int(rank), verb) for rank, verb in _ACTION.findall(text))
    return actions, float(time[1])


def written(listing: Path) -> Counter[tuple[int, str]]:
    """Count the actions that a trace holds, but for those without a log line."""
    counts: Counter[tuple[int, str]] = Counter()
    for name in listing.read_text().split():
        for line in (listing.parent / name).read_text().splitlines():
            rank, verb, *_ = line.split()
            if verb not in ("init", "finalize"):
                counts[int(rank), verb] += 1
    return counts
