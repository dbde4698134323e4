"""How soon, and how well, do phases tell the time of an application? SET and PETE.

``python benchmarks/phase_runner.py [--apps heat2d,...] [--busy] [--keep FOLDER]``

LAMMPS (where it is installed) and the examples are recorded twice on 2 ranks, quiet;
the phases are those of the faster run, for times of a disturbed one say how it was
disturbed. Then `skelgen measure` and the whole application take turns, three of each,
now one first and now the other, so that drift of the machine meets both: each round
gives SET and the predicted time (PAET) over the application's time (AET), medians are
shown, and the errors of all rounds. With ``--busy`` all runs are on two hosts of a test
cluster (tests/testbed: root, control groups), one core each, and in the rounds the
first host is busy with another process. The goal is SET/AET of at most 10 % where
weights are 30 and more, and an error of at most 5 % quiet, 10 % beside the busy
process. About 4 minutes for lammps,heat2d,two_phases, 6 with ``--busy``. With
``--keep`` a run that was stopped goes on where it was. ``--pairs FILE`` adds each
prediction and its truth to a file that `skelgen trust learn` reads.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.skeletons import BIN, EXAMPLES, Application, applications
from skelgen.launch.hosts import parse_hosts
from skelgen.launch.json_lines import JsonLines
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import find_mpi
from tests.testbed.cluster import Cluster, lacking

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
class Place:
    """Where applications run: here, or on the hosts of a test cluster."""

    folder: Path
    cluster: Cluster | None = None

    def run(self, *words: str) -> str:
        options: dict[str, Any] = {"text": True, "timeout": LIMIT_S}
        options |= {"cwd": self.folder, "capture_output": True, "env": {**os.environ}}
        if self.cluster is None:
            done = subprocess.run(words, check=False, **options)
        else:
            # Asked for its CPU time, Linux gives a rank's core to a competitor earlier.
            options["env"] |= {"SKELGEN_CPU_TIME": "0", **self.cluster.environment()}
            done = self.cluster.run("head", words, **options)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            sys.exit(f"phase_runner: {' '.join(words)}: {said[-1] if said else '?'}")
        return str(done.stdout)

    def skelgen(self, *words: str) -> dict[str, Any]:
        place = words.index("--") if "--" in words else len(words)
        line = ("skelgen", *words[:place], "--json", *words[place:])
        return dict(json.loads(self.run(*line)))

    def record(self, application: Application, target: str) -> dict[str, Any]:
        """Record the application; return its time without launching [s]."""
        hosts = parse_hosts(",".join(self.cluster.hosts)) if self.cluster else ()
        launcher = launcher_of(find_mpi())
        line = launcher.arguments(application.command, ranks=RANKS, hosts=hosts)
        self.skelgen("record", "--force", "-o", target, "--", *line)
        return {"time_s": self.skelgen("info", target)["application_s"]}


@dataclass(frozen=True, slots=True)
class Trial:
    """One application; what was measured before is known."""

    application: Application
    place: Place
    log: JsonLines
    pairs: JsonLines | None = None

    def once(self, step: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do what was not done before; return what it told."""
        key = {"application": self.application.name, "step": step}
        for line in self.log.values():
            if key.items() <= line.items():
                return line
        line = key | work()
        self.log.append(line)
        return line

    def pair(self, told: dict[str, Any], aet_s: float) -> dict[str, Any]:
        """Return a prediction and its truth, as `skelgen trust learn` reads them."""
        return {
            "method": "phases",
            "application": self.application.name,
            "family": find_mpi().kind.title,
            "predicted_s": told["paet_s"],
            "truth_s": aet_s,
            "measured_p5_s": told["measured_p5_s"],
            "measured_p95_s": told["measured_p95_s"],
        }

    def sign(self) -> str:
        """Record the application and store the phases of its fastest run."""
        name = self.application.name
        runs = [f"{name}-{number}.run" for number in range(REFERENCES)]
        times_s = {
            run: self.once(run, partial(self.place.record, self.application, run))
            for run in runs
        }
        best = min(runs, key=lambda run: float(times_s[run]["time_s"]))
        self.place.skelgen("phases", best, "--force", "-o", f"{name}.sig")
        return f"{name}.sig"

    def rounds(self, signature: str) -> Iterator[tuple[dict[str, Any], float]]:
        """Measure and run in turn; yield what was measured, and AET [s]."""
        name = self.application.name
        for number in range(ROUNDS):
            measure, run = f"measure-{number}", f"run-{number}"
            steps = {
                measure: partial(self.place.skelgen, "measure", signature),
                run: partial(self.place.record, self.application, f"{name}-round.run"),
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
            self.application.name,
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
    parser.add_argument("--apps", default=",".join(["lammps", *PROGRAMS]))
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
    pairs = JsonLines(options.pairs) if options.pairs else None
    try:
        with shared(options.busy) as cluster:
            place = Place(folder, cluster)
            log = JsonLines(folder / "results.jsonl")
            log.begin(keep=True)
            if pairs is not None:
                pairs.begin(keep=True)
            print(HEAD.strip(), flush=True)
            wanted = set(options.apps.split(","))
            for one in applications(folder, wanted, PROGRAMS):
                more = LAMMPS_SIZE if one.name == "lammps" else ()
                application = replace(one, command=(*one.command, *more))
                show(Trial(application, place, log, pairs))
    finally:
        shutil.rmtree(temporary)


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
