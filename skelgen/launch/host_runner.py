"""What runs a program on hosts: the launcher of this machine, or a batch system.

Those who measure say what shall run where; a `Runner` knows how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher, for_ranks
from skelgen.launch.process import Finished, Started


class Running(Protocol):
    """A program that was started and may have ended meanwhile."""

    def poll(self) -> Finished | None:
        """Return how it ended, None while it waits or runs.

        Called often, so it returns at once: whoever must ask a batch system does so
        at intervals of its own. A run whose time is over is ended here, with all its
        ranks, and returned with ``timed_out``. Asked again it answers the same.
        """

    def stop(self) -> None:
        """End it with all its ranks; does no harm when it has ended."""


class Runner(Protocol):
    """What starts programs on hosts."""

    def start(
        self,
        program: Sequence[str],
        *,
        ranks: int,
        hosts: Sequence[Host],
        environment: Mapping[str, str],
        limit_s: float | None,
    ) -> Running:
        """Start an MPI program and return without waiting for it.

        What goes wrong with one run (a host that cannot be reached, a job that is
        refused) is told by its `Finished`: an exit code that is not 0, and in
        ``errors`` a line that names the host where it is known.

        Parameters
        ----------
        program : sequence of str
            Program and its arguments.
        ranks : int
        hosts : sequence of Host
            With the ranks of each, as `place` returns them; when empty this machine,
            or what a batch system chooses.
        environment : mapping
            Variables that the ranks get in addition.
        limit_s : float or None
            Longest time it may run; time in a queue does not count [s].

        Raises
        ------
        MachineError
            When nothing can be started at all: no launcher, no batch system.
        """


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Starts the command of a launcher here: mpirun, or srun in an allocation.

    Attributes
    ----------
    launcher : Launcher
        With the options of the user.
    """

    launcher: Launcher

    def arguments(
        self,
        program: Sequence[str],
        *,
        ranks: int,
        hosts: Sequence[Host],
        environment: Mapping[str, str],
    ) -> list[str]:
        """Return the launcher's command; parameters as those of `start`."""
        variables = for_ranks(environment)
        words = self.launcher.typed(self.launcher.words[1:], variables)
        launcher = self.launcher.with_words(words)
        return launcher.arguments(program, ranks=ranks, hosts=hosts)

    def start(
        self,
        program: Sequence[str],
        *,
        ranks: int,
        hosts: Sequence[Host],
        environment: Mapping[str, str],
        limit_s: float | None,
    ) -> Started:
        """Start the launcher's command."""
        return Started(
            self.arguments(program, ranks=ranks, hosts=hosts, environment=environment),
            timeout_s=limit_s,
            environment=environment,
        )
