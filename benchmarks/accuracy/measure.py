"""Run applications and skeletons in turn under each scenario."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.accuracy.applications import ROOT, Application
from benchmarks.accuracy.results import APPLICATION, SKELETON, SMALL, Key, Log, Results
from skelgen import __version__ as skelgen_version
from skelgen.launch.hosts import parse_hosts, place
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import find_mpi
from tests.testbed.cluster import Cluster
from tests.testbed.scenarios import Scenario

BIN = Path(sysconfig.get_path("scripts"))


class RunError(Exception):
    """A program failed; one line says which and what it wrote."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured, and on what.

    Attributes
    ----------
    cluster : Cluster
        With its hosts up.
    folder : Path
        Applications, skeletons and traces; kept, so that a run can go on.
    lengths_s : tuple of float
        Times of the skeletons [s].
    scenarios : tuple of Scenario
    repeats : int
    quiet, slow : str
        Rates of the links.
    """

    cluster: Cluster
    folder: Path
    lengths_s: tuple[float, ...]
    scenarios: tuple[Scenario, ...]
    repeats: int
    quiet: str
    slow: str

    def at_head(self, words: Sequence[str], folder: Path) -> str:
        """Run a command where launchers belong; return what it printed."""
        environment = {**os.environ, **self.cluster.environment()}
        environment["PATH"] = f"{BIN}{os.pathsep}{environment['PATH']}"
        done = self.cluster.run(
            "head", words, cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise RunError(f"{' '.join(words)}: {said[-1] if said else 'failed'}")
        return str(done.stdout)

    def launch(self, ranks: int, program: Sequence[str]) -> list[str]:
        """Return the command that spreads ranks over all hosts."""
        hosts = place(ranks, parse_hosts(",".join(self.cluster.hosts)))
        return launcher_of(find_mpi()).arguments(program, ranks=ranks, hosts=hosts)

    def recorded(self, one: Application, program: Sequence[str], target: Path) -> float:
        """Run a program under the recorder; return its time [s]."""
        folder = self.folder / one.name
        line = ["skelgen", "record", "--force", "-o", str(target), "--"]
        self.at_head([*line, *self.launch(one.ranks, program)], folder)
        facts = self.at_head(["skelgen", "info", "--json", str(target)], folder)
        return float(json.loads(facts)["application_s"])

    def prepare(self, one: Application) -> None:
        """Record the application and build its skeletons, unless that was done."""
        folder = self.folder / one.name
        one.make(folder)
        if not (folder / "run").exists():
            self.recorded(one, one.command, folder / "run")
        for length_s in self.lengths_s:
            target = folder / f"skeleton-{length_s:g}s"
            if not (target / "skeleton").exists():
                line = ["skelgen", "build", "run", "--force", "-o", str(target)]
                line += ["--target-time", f"{length_s:g}s"]
                self.at_head([*line, "--compute-mix", one.compute_mix], folder)
                self.at_head(["make", "-s", "-C", str(target)], folder)

    def trials(self, one: Application) -> Iterator[tuple[Scenario, Key]]:
        """Name all runs in the order that lets drift meet all of them alike."""
        for repeat in range(self.repeats):
            for scenario in self.scenarios:
                name = one.name, scenario.name
                yield scenario, Key(*name, APPLICATION, 0.0, repeat)
                for length_s in self.lengths_s:
                    yield scenario, Key(*name, SKELETON, length_s, repeat)
                if one.small:
                    yield scenario, Key(*name, SMALL, 0.0, repeat)

    def seconds(self, one: Application, key: Key) -> float:
        """Make one run and return its time [s]."""
        folder = self.folder / one.name
        if key.what == SKELETON:
            program = [f"./skeleton-{key.length_s:g}s/skeleton"]
            said = self.at_head(self.launch(one.ranks, program), folder)
            return float(json.loads(said.splitlines()[-1])["seconds"])
        program = one.command if key.what == APPLICATION else one.small
        try:
            return self.recorded(one, program, folder / "truth")
        finally:
            shutil.rmtree(folder / "truth", ignore_errors=True)

    def measure(self, one: Application, known: Results, log: Log) -> None:
        """Make all runs of an application that are not known yet."""
        missing = [t for t in self.trials(one) if t[1] not in known.seconds]
        if not missing:
            return
        self.share(self.scenarios[0])
        self.prepare(one)
        applied = None
        for scenario, key in missing:
            if scenario is not applied:
                self.share(scenario)
                applied = scenario
            seconds = self.seconds(one, key)
            log.run(key, seconds)
            what = f"{key.what} {key.length_s:g} s" if key.length_s else key.what
            tell(f"{one.name}, {scenario.name}, {what}: {seconds:.3f} s")

    def share(self, scenario: Scenario) -> None:
        """Share the cluster as a scenario says."""
        scenario.apply(self.cluster, quiet=self.quiet, slow=self.slow)

    def provenance(self) -> dict[str, Any]:
        """Say where and with what these runs are made."""
        mpi = find_mpi()
        control = ["cat", "/proc/sys/net/ipv4/tcp_congestion_control"]
        said = self.cluster.run("h1", control, capture_output=True, text=True)
        progress = {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("MPICH_", "MPIR_CVAR_", "OMPI_MCA_", "UCX_", "FI_"))
        }
        return {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "hosts": len(self.cluster.hosts),
            "links": {"quiet": self.quiet, "slow": self.slow},
            "congestion_control": said.stdout.strip(),
            "mpi": f"{mpi.kind.value} {mpi.version}",
            "progress": progress or "polling, the default",
            "kernel": platform.release(),
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "skelgen": skelgen_version,
            "commit": _commit(),
        }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(names, "unknown").strip()


def _commit() -> str:
    line = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def tell(line: str) -> None:
    """Say on stderr how far the run is."""
    print(line, file=sys.stderr, flush=True)
