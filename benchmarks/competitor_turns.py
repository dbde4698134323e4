"""Slowdowns beside competitors: from one run with turns, and from three whole runs.

``python benchmarks/competitor_turns.py [--kinds matrix,chasing] [--rounds 2]``

The programs of ``kinds.c`` run on core 0. In one run competitors come and go
(`skelgen mix` does this first); then it runs quiet and beside each. Both measure CPU
time, so a busy machine does no harm but by its caches. A matrix product in the caches
of a core takes as long beside both: what differs from 1 is error. A minute a program.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compute_mix import prepare
from skelgen.launch.own_launches import OwnLaunch
from skelgen.pipeline.gaps import gaps_here
from skelgen.pipeline.mix import whole_runs
from skelgen.pipeline.recorded_again import again
from skelgen.reference.competitors import Bench
from skelgen.reference.turns import TurnsSlowdown, slowdown_in_turns

#: Words behind the program, and how long a turn lasts [s].
PROGRAMS = {
    "matrix": (("matrix", "400"), 0.2),
    "triad": (("triad", "300"), 0.2),
    "stencil": (("stencil", "250"), 0.2),
    "chasing": (("chasing", "150", "3"), 0.4),
}
LIMIT_S = 300.0


def in_turns(bench: Bench, launch: OwnLaunch, lasting_s: float) -> TurnsSlowdown:
    with bench.in_turns(lasting_s) as turns:
        gaps = again(launch, gaps_here, limit_s=LIMIT_S)
        return slowdown_in_turns(gaps, turns())


def show(name: str, words: tuple[str, ...], lasting_s: float) -> None:
    """Print a row: both ways, and how long they took."""
    command = ("taskset", "-c", "0", "mpirun", "-n", "1", "./kinds", *words)
    launch, bench = OwnLaunch(command, "."), Bench.of("mpicc", 1)
    begin_s = time.monotonic()
    turns = in_turns(bench, launch, lasting_s)
    middle_s = time.monotonic()
    whole = whole_runs(bench, launch, LIMIT_S)
    end_s = time.monotonic()
    print(
        f"{name:<9}{turns.slowdown[0]:>8.3f}{turns.slowdown[1]:>8.3f}"
        f"{turns.uncertainty:>8.1%}{middle_s - begin_s:>6.0f} s"
        f"{whole[0]:>10.3f}{whole[1]:>8.3f}{end_s - middle_s:>6.0f} s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(
        f"{'program':<9}{'turns: arithmetic, memory, error, time':>40}"
        f"{'whole runs: the same':>26}"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in options.kinds.split(","):
            prepare(name, Path(folder))
            for _ in range(options.rounds):
                show(name, *PROGRAMS[name])


if __name__ == "__main__":
    main()
