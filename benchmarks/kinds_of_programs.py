"""Does every kind of program get a good answer? A small program of each kind.

``python benchmarks/kinds_of_programs.py [--kinds sleeping,...] [--mpis mpich,openmpi]``

``benchmarks/program_kinds`` has a C program for each kind that is not a regular code:
polling, few long steps, levels of a grid, hardly any calls, a long set-up, sleep, waits
for a disk, polls with sleep between them, blocks that change, a master that probes,
messages and operations in no order, polls amid work. Each is recorded on 2 ranks; then
application, skeleton and `skelgen measure` take turns, three of each, so that drift of
the machine meets all. A row says how long the skeleton takes of application time / K,
how long its signature and its C are, how often phases find what the program does again
and again beside how often it does so, and the error of `measure` against the plain
runs. Goals: skeletons within 10 % of 1/K, at most 2,000 items and 3,000 lines, phases
as known, `measure` within 5 % or refused before it starts because it does not pay.
About 3 minutes for each kind and MPI. With ``--keep FOLDER`` a run that was stopped
goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.launch.json_lines import JsonLines
from tests.mpis import BIN, MPIS, TestMpi

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "benchmarks/program_kinds"
RANKS, ROUNDS, SCALING_FACTOR = 2, 3, 5
#: What takes longer hangs [s].
LIMIT_S = 900.0

HEAD = """
| kind | MPI | application | of 1/K | items | lines of C | phases | error of measure \
| SET / AET | verdict |
|---|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of program.

    Attributes
    ----------
    source : str
        Name of its C file.
    arguments : tuple of str
    repeats : int
        How often it does what it does again and again; 0 where it does not.
    """

    source: str
    arguments: tuple[str, ...]
    repeats: int


#: Each runs for 5 to 10 s on two quiet cores of 2.6 GHz.
KINDS = {
    "polling sweep": Kind("polling_sweep", ("600", "40", "250"), 600),
    "40 steps": Kind("time_steps", ("40", "150", "12"), 40),
    "87 steps": Kind("time_steps", ("87", "70", "12"), 87),
    "300 steps": Kind("time_steps", ("300", "20", "12"), 300),
    "multigrid": Kind("multigrid", ("350", "5000"), 350),
    "embarrassingly parallel": Kind("embarrassingly_parallel", ("6",), 0),
    "six iterations": Kind("six_iterations", ("6", "900"), 6),
    "long set-up": Kind("long_setup", ("60", "1700", "60"), 60),
    "sleeping": Kind("sleeping", ("350", "10", "6000"), 350),
    "sleeping polls": Kind("sleeping_polls", ("1000", "200", "6000"), 250),
    "disk waits": Kind("disk_waits", ("500", "256", "8000"), 500),
    "adaptive mesh": Kind("adaptive_mesh", ("1200", "700", "8"), 1200),
    "task pool": Kind("task_pool", ("3000", "1000"), 2999),
    "work in ticks": Kind("work_in_ticks", ("12000", "5"), 12000),
    "work and test": Kind("work_and_test", ("3000", "20"), 3000),
    "sparse exchange": Kind("sparse_exchange", ("3000", "2000"), 3000),
    "event simulation": Kind("event_simulation", ("2500", "1000"), 2500),
    "changing operations": Kind("changing_operations", ("3000", "2000"), 0),
}


@dataclass(frozen=True, slots=True)
class Refused:
    """A command that ended with an error: its exit code and what it said."""

    code: int
    said: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One kind under one MPI; what was measured before is known.

    Arguments are those of the kind where there are no others.
    """

    name: str
    mpi: TestMpi
    folder: Path
    log: JsonLines
    arguments: tuple[str, ...] | None = None

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def stem(self) -> str:
        return self.name.replace(" ", "-")

    def run(self, *words: str) -> str | Refused:
        """Run a command; return what it printed."""
        environment = {**os.environ, "MPICC": str(self.mpi.compiler)}
        before = (str(self.mpi.compiler.parent), str(BIN))
        environment["PATH"] = ":".join((*before, os.environ["PATH"]))
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            return Refused(done.returncode, said[-1] if said else "")
        return done.stdout

    def skelgen(self, *words: str) -> dict[str, Any]:
        """Run a command of skelgen; return its answer, or how it was refused."""
        place = words.index("--") if "--" in words else len(words)
        told = self.run("skelgen", *words[:place], "--json", *words[place:])
        if isinstance(told, Refused):
            return {"refused": told.said, "code": told.code}
        return dict(json.loads(told))

    def once(self, step: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do what was not done before; return what it told."""
        key = {"kind": self.name, "mpi": self.mpi.name, "step": step}
        for line in self.log.values():
            if key.items() <= line.items():
                return line
        line = key | work()
        self.log.append(line)
        return line

    def prepare(self) -> dict[str, Any]:
        """Compile, record, build and find phases."""
        source = PROGRAMS / f"{self.kind.source}.c"
        compiler = str(self.mpi.compiler)
        line = [compiler, "-std=c11", "-O2", str(source), "-o", self.kind.source]
        self._must(self.run(*line))
        self._record("recorded")
        run = f"{self.stem}-recorded.run"
        words = ["build", run, "--scale", str(SCALING_FACTOR), "--force"]
        built = self.skelgen(*words, "-o", f"{self.stem}.skel")
        if "refused" not in built:
            self._must(self.run("make", "-s", "-C", f"{self.stem}.skel"))
            text = (self.folder / f"{self.stem}.skel/skeleton.c").read_text()
            built["lines"] = text.count("\n")
        phases = self.skelgen("phases", run, "--force", "-o", f"{self.stem}.sig")
        return {"built": built, "phases": phases}

    def _must(self, told: str | Refused) -> str:
        if isinstance(told, Refused):
            sys.exit(f"kinds_of_programs: {self.name}, {self.mpi.name}: {told.said}")
        return told

    def _launch(self) -> list[str]:
        arguments = self.arguments or self.kind.arguments
        program = (f"./{self.kind.source}", *arguments)
        return [*self.mpi.launcher, "-n", str(RANKS), *program]

    def _record(self, step: str) -> dict[str, Any]:
        """Run the application under the recorder; return its inner time [s]."""
        target = f"{self.stem}-{step}.run"
        told = self.skelgen("record", "--force", "-o", target, "--", *self._launch())
        if "refused" in told:
            sys.exit(f"kinds_of_programs: {self.name}: {told['refused']}")
        return {"time_s": self.skelgen("info", target)["application_s"]}

    def _skeleton(self) -> dict[str, Any]:
        line = [*self.mpi.launcher, "-n", str(RANKS), f"{self.stem}.skel/skeleton"]
        told = self._must(self.run(*line))
        return {"time_s": float(json.loads(told.splitlines()[-1])["seconds"])}

    def rounds(self, *, with_skeleton: bool) -> Iterator[dict[str, dict[str, Any]]]:
        """Run application, skeleton and `measure` in turn."""
        steps: dict[str, Callable[[], dict[str, Any]]] = {
            "application": partial(self._record, "round"),
            "measure": partial(self.skelgen, "measure", f"{self.stem}.sig"),
        }
        if with_skeleton:
            steps["skeleton"] = self._skeleton
        for number in range(ROUNDS):
            order = list(steps)[:: 1 if number % 2 else -1]
            yield {step: self.once(f"{step}-{number}", steps[step]) for step in order}


def occurrences(phases: dict[str, Any], repeats: int) -> str:
    """Say how often phases find what repeats, next to how often it does.

    What repeats may be several phases, such as steps with output and those without. So
    the largest phase counts, and with it those of equal calls.
    """
    if "refused" in phases:
        return "refused"
    found = phases["phases"]
    if not found:
        return f"none of {repeats}" if repeats else "none"
    largest = max(found, key=lambda one: one["share"])
    alike = [one for one in found if one["share"] >= 0.01]
    every = sum(one["weight"] for one in alike)
    text = f"{largest['weight']:.0f}"
    if len(alike) > 1:
        text = f"{every:.0f} ({', '.join(str(round(one['weight'])) for one in alike)})"
    return f"{text} of {repeats}"


def row(trial: Trial) -> str:
    """Measure one kind under one MPI; return its row."""
    prepared = trial.once("prepared", trial.prepare)
    built = prepared["built"]
    rounds = list(trial.rounds(with_skeleton="refused" not in built))
    truth_s = statistics.median(one["application"]["time_s"] for one in rounds)
    if "refused" in built:
        kept = ["refused", "-", "-"]
    else:
        skeleton_s = statistics.median(one["skeleton"]["time_s"] for one in rounds)
        share = skeleton_s * built["scaling_factor"] / truth_s
        kept = [f"{share:.1%}", str(built["signature_items"]), str(built["lines"])]
    cells = [
        trial.name,
        "Open MPI" if len(trial.mpi.launcher) > 1 else "MPICH",
        f"{truth_s:.2f} s",
        *kept,
        occurrences(prepared["phases"], trial.kind.repeats),
        *measured(rounds, truth_s),
    ]
    return f"| {' | '.join(cells)} |"


def measured(rounds: Sequence[dict[str, dict[str, Any]]], truth_s: float) -> list[str]:
    """Return the error of `measure`, its cost and its verdict."""
    told = [one["measure"] for one in rounds]
    answers = [one for one in told if "refused" not in one]
    if not answers:
        return ["-", "-", f"refused: {told[0]['refused'][:60]}"]
    paet_s = statistics.median(one["paet_s"] for one in answers)
    set_s = statistics.median(one["set_s"] for one in answers)
    verdicts = ", ".join(sorted({str(one["verdict"]) for one in answers}))
    return [f"{paet_s / truth_s - 1:+.1%}", f"{set_s / truth_s:.0%}", verdicts]


def chosen(names: str) -> list[TestMpi]:
    """Return the first MPI of each family that is asked for."""
    found = []
    for name in names.split(","):
        wants = {"mpich": 1, "openmpi": 2}.get(name)
        if wants is None:
            sys.exit(f"kinds_of_programs: --mpis {name}: expected mpich or openmpi")
        family = [one for one in MPIS if min(len(one.launcher), 2) == wants]
        if not family:
            print(f"{name} is not installed: left out", file=sys.stderr)
        # The one of this environment comes first.
        family.sort(key=lambda one: one.compiler.parent != BIN)
        found += family[:1]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--mpis", default="mpich,openmpi")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    names = options.kinds.split(",")
    if unknown := sorted({*names} - {*KINDS}):
        parser.error(f"--kinds {unknown[0]}: expected some of {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        print(HEAD, flush=True)
        for mpi in chosen(options.mpis):
            here = folder / mpi.name
            here.mkdir(parents=True, exist_ok=True)
            log = JsonLines(folder / "kinds.jsonl")
            for name in names:
                print(row(Trial(name, mpi, here, log)), flush=True)


if __name__ == "__main__":
    main()
