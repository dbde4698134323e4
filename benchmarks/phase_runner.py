"""How soon, and how well, do phases tell the time of an application? SET and PETE.

``python benchmarks/phase_runner.py [--apps heat2d,...] [--busy] [--keep FOLDER]``
``python benchmarks/phase_runner.py --accuracy [--apps fft2d,...] [--stretch 0.5]``

LAMMPS (where it is installed) and the examples, or with ``--accuracy`` the programs of
benchmarks/accuracy that are installed, are recorded twice on 2 ranks, quiet;
the phases are those of the faster run, for times of a disturbed one say how it was
disturbed. Then `skelgen measure` and the whole application take turns, three of each,
now one first and now the other, so that drift of the machine meets both: each round
gives SET and the predicted time (PAET) over the application's time (AET), medians are
shown, and the errors of all rounds. With ``--busy`` all runs are on two hosts of a test
cluster (tests/testbed: root, control groups), one core each, and in the rounds the
first host is busy with another process. The goal is SET/AET of at most 10 % where
weights are 30 and more, and an error of at most 5 % quiet, 10 % beside the busy
process. About 4 minutes for lammps,heat2d,two_phases, 6 with ``--busy``; a program of
``--accuracy`` takes its time 6 times. With ``--keep`` a run that was stopped goes on
where it was. ``--pairs FILE`` adds each prediction and its truth to a file that
`skelgen trust learn` reads.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accuracy.applications import PrepareError, read_applications
from benchmarks.accuracy.measure import RunError
from benchmarks.skeletons import BIN, EXAMPLES, applications
from skelgen.launch.hosts import parse_hosts
from skelgen.launch.json_lines import JsonLines
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import Mpi, find_mpi
from tests.testbed.cluster import Cluster, lacking

LISTED = Path(__file__).resolve().parent / "accuracy/applications.yaml"
RANKS, REFERENCES, ROUNDS = 2, 2, 3
#: A quarter of a minute is enough; and two phases in turn, O(n) and O(n^2).
PROGRAMS = EXAMPLES | {
    "heat2d": ("1024", "10000"),
    "two_phases": ("4000", "400", "40"),
}
LAMMPS_SIZE = ("-var", "x", "0.6")
#: What takes longer hangs [s].
LIMIT_S = 600.0

HEAD = """
| application | weights | AET | SET | SET / AET | PAET | error | errors | trusted |
|---|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to measure.

    Attributes
    ----------
    name : str
    command : tuple of str
        Behind the launcher and the number of ranks.
    folder : Path
        Where it lies and runs.
    mpi : Mpi
        Its own.
    ranks : int
    environment : mapping of str to str
        Variables of all its runs.
    """

    name: str
    command: tuple[str, ...]
    folder: Path
    mpi: Mpi
    ranks: int = RANKS
    environment: Mapping[str, str] = field(default_factory=dict)


def examples(folder: Path, wanted: set[str] | None) -> Iterator[Program]:
    """Yield LAMMPS and the examples, compiled."""
    mpi = find_mpi()
    for one in applications(folder, wanted or {"lammps", *PROGRAMS}, PROGRAMS):
        more = LAMMPS_SIZE if one.name == "lammps" else ()
        yield Program(one.name, (*one.command, *more), folder, mpi)


def of_accuracy(
    folder: Path, wanted: set[str] | None, stretch: float
) -> Iterator[Program]:
    """Yield the programs of benchmarks/accuracy, as they are made; say what lacks."""
    listed = read_applications(LISTED, sorted(wanted or ()), stretch)
    for one in listed:
        if lacks := one.lacking():
            print(f"left out: {lacks}", file=sys.stderr)
            continue
        place = folder / one.name
        try:
            one.make(place)
        except PrepareError as error:
            print(f"left out: {one.name}: {error}", file=sys.stderr)
            continue
        yield Program(
            one.name,
            tuple(one.words(one.command)),
            place,
            one.installed_mpi(),
            one.ranks,
            dict(one.environment),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program runs: here, or on the hosts of a test cluster."""

    program: Program
    cluster: Cluster | None = None

    def run(self, *words: str) -> str:
        folder = self.program.folder
        options: dict[str, Any] = {"text": True, "timeout": LIMIT_S}
        options |= {"cwd": folder, "capture_output": True}
        # Built and launched by the first on PATH, which has to be of its own MPI.
        path = f"{self.program.mpi.launcher.parent}:{os.environ['PATH']}"
        options["env"] = {**os.environ, "PATH": path, **self.program.environment}
        if self.cluster is None:
            done = subprocess.run(words, check=False, **options)
        else:
            # Asked for its CPU time, Linux gives a rank's core to a competitor earlier.
            options["env"] |= {"SKELGEN_CPU_TIME": "0", **self.cluster.environment()}
            done = self.cluster.run("head", words, **options)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise RunError(f"{' '.join(words)}: {said[-1] if said else '?'}")
        return str(done.stdout)

    def skelgen(self, *words: str) -> dict[str, Any]:
        place = words.index("--") if "--" in words else len(words)
        line = ("skelgen", *words[:place], "--json", *words[place:])
        return dict(json.loads(self.run(*line)))

    def record(self, target: str) -> dict[str, Any]:
        """Record the program; return its time without launching [s]."""
        hosts = parse_hosts(",".join(self.cluster.hosts)) if self.cluster else ()
        one = self.program
        launcher = launcher_of(one.mpi)
        line = launcher.arguments(one.command, ranks=one.ranks, hosts=hosts)
        self.skelgen("record", "--force", "-o", target, "--", *line)
        return {"time_s": self.skelgen("info", target)["application_s"]}


@dataclass(frozen=True, slots=True)
class Trial:
    """One program; what was measured before is known."""

    place: Place
    log: JsonLines
    pairs: JsonLines | None = None

    @property
    def program(self) -> Program:
        return self.place.program

    def once(self, step: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do what was not done before; return what it told."""
        key = {"application": self.program.name, "step": step}
        for line in self.log.values():
            if key.items() <= line.items():
                return line
        line = work() | key
        self.log.append(line)
        return line

    def pair(self, told: dict[str, Any], aet_s: float) -> dict[str, Any]:
        """Return a prediction and its truth, as `skelgen trust learn` reads them."""
        return {
            "method": "phases",
            "application": self.program.name,
            "family": self.program.mpi.kind.title,
            "predicted_s": told["paet_s"],
            "truth_s": aet_s,
            "measured_p5_s": told["measured_p5_s"],
            "measured_p95_s": told["measured_p95_s"],
        }

    def sign(self) -> str:
        """Record the application and store the phases of its fastest run."""
        name = self.program.name
        runs = [f"{name}-{number}.run" for number in range(REFERENCES)]
        times_s = {run: self.once(run, partial(self.place.record, run)) for run in runs}
        best = min(runs, key=lambda run: float(times_s[run]["time_s"]))
        self.place.skelgen("phases", best, "--force", "-o", f"{name}.sig")
        return f"{name}.sig"

    def rounds(self, signature: str) -> Iterator[tuple[dict[str, Any], float]]:
        """Measure and run in turn; yield what was measured, and AET [s]."""
        name = self.program.name
        for number in range(ROUNDS):
            measure, run = f"measure-{number}", f"run-{number}"
            steps = {
                measure: partial(self.place.skelgen, "measure", signature),
                run: partial(self.place.record, f"{name}-round.run"),
            }
            order = list(steps)[:: 1 if number % 2 else -1]
            told = {step: self.once(step, steps[step]) for step in order}
            yield told[measure], told[run]["time_s"]

    def row(self, signature: str) -> str:
        found, whole_s = zip(*self.rounds(signature), strict=True)
        pairs = list(zip(found, whole_s, strict=True))
        if self.pairs is not None:
            for one, aet_s in pairs:
                self.pairs.append(self.pair(one, aet_s))
        errors = [one["paet_s"] / aet_s - 1 for one, aet_s in pairs]
        shares = [one["set_s"] / aet_s for one, aet_s in pairs]
        set_s, paet_s = (
            statistics.median(one[key] for one in found) for key in ("set_s", "paet_s")
        )
        weights = sorted({phase["weight"] for phase in found[0]["phases"]})
        cells = (
            self.program.name,
            "..".join(str(one) for one in dict.fromkeys((weights[0], weights[-1]))),
            f"{statistics.median(whole_s):.2f} s",
            f"{set_s:.2f} s",
            f"{statistics.median(shares):.1%}",
            f"{paet_s:.2f} s",
            f"{statistics.median(errors):+.1%}",
            " ".join(f"{error:+.1%}" for error in errors),
            f"{sum(one['verdict'] == 'trust' for one in found)} of {ROUNDS}",
        )
        return f"| {' | '.join(cells)} |"


@contextmanager
def shared(busy: bool) -> Iterator[Cluster | None]:
    """Have a test cluster up where one is needed."""
    if not busy:
        yield None
        return
    if reason := lacking():
        sys.exit(f"phase_runner: {reason}")
    cluster = Cluster(os.environ.get("TESTBED_NAME", "phases"))
    with cluster.used(RANKS):
        yield cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", help="names; all when not given")
    parser.add_argument(
        "--accuracy", action="store_true", help="programs of benchmarks/accuracy"
    )
    parser.add_argument(
        "--stretch", type=float, default=1.0, help="multiplies the steps of these"
    )
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--keep", type=Path, help="folder for runs and results")
    parser.add_argument(
        "--pairs", type=Path, help="file for predictions with their truth"
    )
    options = parser.parse_args()
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    temporary = Path(tempfile.mkdtemp())
    kept = (options.keep or temporary).absolute()
    folder = kept / ("busy" if options.busy else "quiet")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(options.apps.split(",")) if options.apps else None
    programs = examples(folder, wanted)
    if options.accuracy:
        programs = of_accuracy(folder, wanted, options.stretch)
    try:
        with shared(options.busy) as cluster:
            compare(programs, cluster, folder / "results.jsonl", options.pairs)
    finally:
        shutil.rmtree(temporary)


def compare(
    programs: Iterable[Program],
    cluster: Cluster | None,
    results: Path,
    pairs: Path | None,
) -> None:
    """Print the table; one program that cannot be measured leaves the others alone."""
    log = JsonLines(results)
    log.begin(keep=True)
    known = JsonLines(pairs) if pairs else None
    if known is not None:
        known.begin(keep=True)
    print(HEAD.strip(), flush=True)
    failed = False
    for one in programs:
        try:
            show(Trial(Place(one, cluster), log, known))
        except RunError as error:
            failed = True
            print(f"left out: {one.name}: {error}", file=sys.stderr)
    if failed:
        sys.exit(1)


def show(trial: Trial) -> None:
    """Print the row of an application."""
    cluster = trial.place.cluster
    signature = trial.sign()
    if cluster is not None:
        cluster.load("h1", 1)
    try:
        print(trial.row(signature), flush=True)
    finally:
        if cluster is not None:
            cluster.load("h1", 0)


if __name__ == "__main__":
    main()
