"""Run applications and skeletons in turn under each scenario."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.accuracy.applications import Application, PrepareError
from benchmarks.accuracy.machine import stolen, ticks
from benchmarks.accuracy.order import Design, trials
from benchmarks.accuracy.results import (
    APPLICATION,
    FITTED,
    PAPER,
    SMALL,
    TOUCHED,
    Key,
    Log,
    Refusal,
    Run,
)
from skelgen.errors import ApplicationError
from skelgen.launch.hosts import parse_hosts, place
from skelgen.launch.launchers import launcher_of
from skelgen.launch.process import run as run_command
from skelgen.prediction.skeleton_file import load
from skelgen.prediction.skeleton_output import shares
from tests.testbed.cluster import Cluster
from tests.testbed.scenarios import Scenario

BIN = Path(sysconfig.get_path("scripts"))

#: A skeleton may take this many times its quiet time and as long besides [1, s].
_PATIENCE, _PATIENCE_S = 40.0, 30.0
_ARITHMETIC = "100,0,0"
#: A run that is disturbed each time is made so often.
_ATTEMPTS = 3
#: `skelgen mix` runs a short application for as long as it measures parts, which takes
#: minutes, and so many times all of that [1, s].
_RUNS_OF_MIX, _MIX_S = 2, 900.0

#: Asked for its CPU time, Linux gives a rank's core to a competitor earlier.
_UNDISTURBED = {"SKELGEN_CPU_TIME": "0"}


class RunError(Exception):
    """A program failed; one line says which and what it wrote."""


class BudgetSpentError(Exception):
    """The time for this call is over."""


@dataclass(slots=True)
class Bench:
    """What is measured, and on what.

    Attributes
    ----------
    cluster : Cluster
        With its hosts up.
    hosts : tuple of str
        Their names.
    folder : Path
        Applications, skeletons and traces; kept, so that a run can go on.
    design : Design
    stamp : str
        What is recorded and built depends on it: made with another one, it goes.
    quiet, slow : str
        Rates of the links.
    limit_s : float
        Longest run of an application [s].
    end_s : float
        When no further block begins, on the monotonic clock [s].
    known : dict of Key to Run
        Runs that are made.
    log : Log
    """

    cluster: Cluster
    hosts: tuple[str, ...]
    folder: Path
    design: Design
    stamp: str
    quiet: str
    slow: str
    limit_s: float
    end_s: float
    known: dict[Key, Run]
    log: Log
    _applied: Scenario | None = field(default=None, init=False)
    _refused: set[tuple[Application, str, float]] = field(
        default_factory=set, init=False
    )

    def measure(self, one: Application, repeat: int) -> None:
        """Make all runs of an application's repeat that are not known yet."""
        small = bool(one.small)
        for scenario, keys in trials(self.design, one.name, repeat, small=small):
            missing = [key for key in keys if key not in self.known]
            if not missing or (scenario.hosts and not one.one_rank):
                continue
            if time.monotonic() > self.end_s:
                raise BudgetSpentError
            placed = one.on(len(scenario.hosts)) if scenario.hosts else one
            self.prepare(placed, scenario)
            for key in missing:
                self._trial(placed, scenario, key)

    def prepare(self, one: Application, scenario: Scenario) -> None:
        """Record the application where the scenario runs it, and build skeletons."""
        folder = self._folder(one)
        try:
            one.make(folder, self.stamp)
        except PrepareError as error:
            raise RunError(str(error)) from error
        target = folder / "run"
        methods = self.design.methods(scenario)
        built = all((self._skeleton(one, *m) / "skeleton").exists() for m in methods)
        if built:
            return
        self.share(scenario.reference)
        if not target.exists():
            unfinished = folder / "unfinished"
            self._recorded(one, one.command, scenario, unfinished, whole=True)
            unfinished.rename(target)
            tell(f"{one.name}, {one.ranks} ranks: recorded")
        for what, length_s in methods:
            self._build(one, scenario, what, length_s)

    def _build(
        self, one: Application, scenario: Scenario, what: str, length_s: float
    ) -> None:
        """Build one skeleton, unless that was done before or cannot be."""
        target = self._skeleton(one, what, length_s)
        if (target / "skeleton").exists() or self._is_refused(one, what, length_s):
            return
        line = ["skelgen", "build", "run", "--force", "-o", str(target)]
        line += ["--target-time", f"{length_s:g}s"]
        try:
            if what == FITTED:
                self._fit_mix(one)
            else:
                mix = TOUCHED if what == TOUCHED else _ARITHMETIC
                line += ["--compute-mix", mix]
            if what == PAPER:
                line += ["--method", PAPER]
            self._at_head(line, one, self.limit_s)
            compiler = f"MPICC={one.installed_mpi().compiler}"
            make = ["make", "-s", "-C", str(target), compiler]
            self._at_head(make, one, self.limit_s)
        except RunError as error:
            key = Key(one.name, scenario.reference.name, what, length_s, 0)
            self._refuse(one, key, str(error))

    def _fit_mix(self, one: Application) -> None:
        """Fit the mix of the application's computation, unless that was done.

        Beside the cluster: `skelgen mix` chooses the cores of its competitors itself.
        """
        if not (self._folder(one) / "run/mix.json").exists():
            launcher = launcher_of(one.installed_mpi())
            line = launcher.arguments(one.words(one.command), ranks=one.ranks)
            limit_s = 3 * _RUNS_OF_MIX * self.limit_s + _MIX_S
            words = ["skelgen", "mix", "run", "--runs", str(_RUNS_OF_MIX), "--", *line]
            self._command(words, one, limit_s)

    def _trial(self, one: Application, scenario: Scenario, key: Key) -> None:
        """Make one run, again when it was disturbed; the least disturbed counts."""
        tried: list[Run] = []
        for _ in range(_ATTEMPTS):
            if (run := self._attempt(one, scenario, key)) is None:
                return
            tried.append(run)
            if not run.disturbed:
                return
        best = min(tried, key=lambda run: run.steal)
        if best is not tried[-1]:
            self.known[key] = best
            self.log.run(key, best)  # the last line counts

    def _attempt(self, one: Application, scenario: Scenario, key: Key) -> Run | None:
        """Make one run; a skeleton that fails is left out from then on."""
        if self._is_refused(one, key.what, key.length_s):
            return None
        before = ticks()
        try:
            self.share(scenario)
            seconds, mpi_share = self._run(one, scenario, key)
            part = self._part(one, key)
        except RunError as error:
            if key.what == APPLICATION:
                raise
            self._refuse(one, key, str(error))
            return None
        run = Run(seconds, mpi_share, stolen(before), part)
        self.known[key] = run
        self.log.run(key, run)
        what = f"{key.what} {key.length_s:g} s" if key.length_s else key.what
        lost = f", disturbed: {run.steal:.0%} stolen" if run.disturbed else ""
        tell(f"{one.name}, {scenario.name}, {what}: {seconds:.3f} s{lost}")
        return run

    def _run(
        self, one: Application, scenario: Scenario, key: Key
    ) -> tuple[float, float]:
        """Make one run; return its time [s] and the share of MPI in it [1]."""
        folder = self._folder(one)
        if key.what in (APPLICATION, SMALL):
            text = one.command if key.what == APPLICATION else one.small
            try:
                return self._recorded(one, text, scenario, folder / "truth")
            finally:
                shutil.rmtree(folder / "truth", ignore_errors=True)
        binary = self._skeleton(one, key.what, key.length_s) / "skeleton"
        limit_s = _PATIENCE * key.length_s + _PATIENCE_S
        line = self._launch(one, [str(binary)], scenario)
        try:
            seconds, _, inside = shares(self._at_head(line, one, limit_s), binary)
        except ApplicationError as error:
            raise RunError(str(error)) from error
        return seconds, inside

    def _part(self, one: Application, key: Key) -> float:
        """Return the part of the application's time a skeleton was built for [1]."""
        if not key.length_s:
            return 0.0
        facts = load(self._skeleton(one, key.what, key.length_s))
        return facts.expected_s / facts.application_s

    def _recorded(
        self,
        one: Application,
        text: str,
        scenario: Scenario,
        target: Path,
        *,
        whole: bool = False,
    ) -> tuple[float, float]:
        """Run a command under the recorder; return time [s] and share of MPI [1].

        Whole recordings have samples of CPU time and of memory, as those of users do.
        """
        line = ["skelgen", "record", "--force", "-o", str(target), "--"]
        line += self._launch(one, one.words(text), scenario)
        self._at_head(line, one, self.limit_s, {} if whole else _UNDISTURBED)
        # Competing hosts outweigh what is outside the cluster.
        info = ["skelgen", "info", "--json", str(target)]
        facts = self._at_head(info, one, self.limit_s)
        said = json.loads(facts)
        return float(said["application_s"]), float(said["mpi_share"])

    def _launch(
        self, one: Application, program: Sequence[str], scenario: Scenario
    ) -> list[str]:
        """Return the command that spreads ranks over the scenario's hosts."""
        names = scenario.hosts or self.hosts
        each = math.ceil(one.ranks / len(names))
        listed = ",".join(f"{name}:{each}" for name in names)
        hosts = place(one.ranks, parse_hosts(listed))
        launcher = launcher_of(one.installed_mpi())
        return launcher.arguments(program, ranks=one.ranks, hosts=hosts)

    def _at_head(
        self,
        words: Sequence[str],
        one: Application,
        limit_s: float,
        settings: Mapping[str, str] = _UNDISTURBED,
    ) -> str:
        """Run a command where launchers belong; return what it printed.

        What does not end within its limit [s] is ended with all its ranks: with the
        hosts they are on, which start again. So they do when one has stopped, and the
        command gets a second chance.
        """
        again = False
        while True:
            process = subprocess.Popen(
                self.cluster.words("head", words),
                cwd=self._folder(one),
                env=self._environment(one, {**self.cluster.environment(), **settings}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                output, errors = process.communicate(timeout=limit_s)
                if not process.returncode:
                    return output
                why = _complaint(words, process.returncode, output, errors)
            except subprocess.TimeoutExpired:
                why = (
                    f"did not end within {limit_s:g} s and was ended with all its ranks"
                )
            stopped = self.stopped()
            if stopped or process.poll() is None:
                self.renew()
                process.communicate()
            if again or not stopped:
                raise RunError(why)
            tell(f"{one.name}: {', '.join(stopped)} stopped; all hosts start again")
            again = True

    def _command(self, words: Sequence[str], one: Application, limit_s: float) -> None:
        """Run a command beside the cluster; all that it started ends with it."""
        done = run_command(
            words,
            timeout_s=limit_s,
            environment=self._environment(one, {}),
            folder=self._folder(one),
        )
        if done.timed_out:
            raise RunError(f"did not end within {limit_s:g} s and was ended")
        if done.exit_code:
            said = done.exit_code, done.output, done.errors
            raise RunError(_complaint(words, *said))

    def _environment(
        self, one: Application, cluster: Mapping[str, str]
    ) -> dict[str, str]:
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, **cluster, "PATH": path, **dict(one.environment)}

    def stopped(self) -> list[str]:
        """Return the hosts that answer no more."""
        return [
            host
            for host in self.hosts
            if self.cluster.run(host, ["true"], capture_output=True).returncode
        ]

    def renew(self) -> None:
        """End everything in the cluster and start its hosts again, shared as before."""
        self.cluster.up(len(self.hosts))
        self._apply()

    def share(self, scenario: Scenario) -> None:
        """Share the cluster as a scenario says."""
        if scenario != self._applied:
            self._applied = scenario
            self._apply()

    def _apply(self) -> None:
        if self._applied:
            self._applied.apply(self.cluster, quiet=self.quiet, slow=self.slow)

    def _folder(self, one: Application) -> Path:
        return self.folder / one.name / f"{one.ranks}-ranks"

    def _skeleton(self, one: Application, what: str, length_s: float) -> Path:
        return self._folder(one) / f"{what}-{length_s:g}s"

    def _is_refused(self, one: Application, what: str, length_s: float) -> bool:
        return (one, what, length_s) in self._refused

    def _refuse(self, one: Application, key: Key, why: str) -> None:
        what, length_s = key.what, key.length_s
        self._refused.add((one, what, length_s))
        self.log.refused(Refusal(one.name, key.scenario, what, length_s, why))
        tell(f"{one.name}, {key.scenario}, {what} {length_s:g} s: left out: {why}")


def _complaint(words: Sequence[str], code: int, output: str, errors: str) -> str:
    """Say in one line how a command failed."""
    said = (errors.strip() or output.strip()).splitlines()
    why = said[-1] if said else f"exit code {code}"
    return f"{Path(words[0]).name} {words[1]}: {why}"


def tell(line: str) -> None:
    """Say on stderr how far the run is."""
    print(line, file=sys.stderr, flush=True)
