"""Run programs on the test cluster, and time them from Init to Finalize."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.programs.building import Built
from skelgen.errors import ApplicationError, MachineError
from skelgen.launch.hosts import parse_hosts, place
from skelgen.launch.launchers import launcher_of
from skelgen.launch.process import run
from tests.testbed.cluster import HEAD, Cluster, lacking

_SAID = re.compile(r"timed: ([\d.]+) s")


def checked_cluster(name: str) -> Cluster:
    """Return the cluster of a name, which is not up yet.

    Raises
    ------
    MachineError
        When this machine cannot have one.
    """
    if reason := lacking():
        raise MachineError(reason)
    return Cluster(os.environ.get("TESTBED_NAME", name))


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs on a cluster that is up.

    Attributes
    ----------
    cluster : Cluster
    folder : Path
        Where they run.
    limit_s : float
        Longest run [s].
    """

    cluster: Cluster
    folder: Path
    limit_s: float = 300.0

    def seconds(
        self,
        built: Built,
        size: Sequence[str] = (),
        *,
        hosts: Sequence[str],
        per_host: int = 1,
    ) -> float:
        """Run a program; return its time from Init to Finalize [s].

        Raises
        ------
        ApplicationError
            When it fails, or does not end.
        """
        ranks = per_host * len(hosts)
        listed = ",".join(f"{one}:{per_host}" for one in hosts)
        where = place(ranks, parse_hosts(listed))
        line = launcher_of(built.mpi).arguments(
            built.preloaded(tuple(size)), ranks=ranks, hosts=where
        )
        output = self.at_head(line, f"{built.name} {' '.join(size)}")
        said = _SAID.search(output)
        if not said:
            raise ApplicationError(f"{built.name} {' '.join(size)}: it printed no time")
        return float(said[1])

    def at_head(self, words: Sequence[str], what: str) -> str:
        """Run a command where launchers belong; return what it wrote.

        Raises
        ------
        ApplicationError
            When it fails, or does not end.
        """
        path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
        done = run(
            self.cluster.words(HEAD, words),
            timeout_s=self.limit_s,
            environment={**os.environ, **self.cluster.environment(), "PATH": path},
            folder=self.folder,
        )
        if done.timed_out:
            raise ApplicationError(f"{what}: no end within {self.limit_s:g} s")
        if done.exit_code:
            raise ApplicationError(f"{what}: {done.complaint}")
        return done.output + done.errors
