"""What the ways to execute the phases of an application have in common."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from skelgen.launch.command import LaunchCommand
from skelgen.launch.host_runner import Runner, Running
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import FluxRun, Srun, for_ranks
from skelgen.launch.process import Started
from skelgen.launch.shim import mpi_of

#: How launchers are told of other hosts, in their words and in files.
_HOSTS = re.compile(
    r"(^| )--?((hosts?|H)[ =](?!localhost(:\d+)?( |$))"
    r"|(f|(default-)?hostfile|machinefile)[ =])"
)


@dataclass(frozen=True, slots=True)
class Application:
    """The application as it is to be launched.

    Attributes
    ----------
    launch : LaunchCommand
    ranks : int
    folder : Path or None
        Working directory; skelgen's own when None.
    environment : tuple of (str, str)
        Variables of the recording that are not set now.
    hosts : tuple of Host
        With the ranks of each; where the command says when empty.
    runner : Runner or None
        Starts it on hosts; the command runs as it was typed when None.
    workspace : Path or None
        Folder that all hosts see, for the files of the run; a temporary one when None,
        or when it cannot be written.
    files : tuple of str
        Its program and input as recorded; unknown when empty.
    """

    launch: LaunchCommand
    ranks: int
    folder: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()
    hosts: tuple[Host, ...] = ()
    runner: Runner | None = None
    workspace: Path | None = None
    files: tuple[str, ...] = ()

    @property
    def place(self) -> Path:
        """Return the working directory."""
        return (self.folder or Path.cwd()).absolute()

    @property
    def mpi(self) -> str:
        """Return name and version of the MPI that runs it."""
        return mpi_of(self.launch).title

    @property
    def elsewhere(self) -> bool:
        """Return whether ranks may run on other hosts than this one."""
        return (
            self.runner is not None
            or isinstance(self.launch.launcher, Srun | FluxRun)
            or _HOSTS.search(" ".join(self.launch.options)) is not None
        )

    def command(self, variables: Mapping[str, str]) -> list[str]:
        """Return the launch as it was typed, with variables that only the ranks get."""
        return self.launch.running(
            self._program(variables), variables=for_ranks(dict(self.environment))
        )

    def start(
        self, variables: Mapping[str, str], *, limit_s: float | None
    ) -> Started | Running:
        """Start it with variables that the ranks, and only they, get in addition."""
        settings = dict(self.environment)
        if self.runner is not None:
            # A launcher on hosts may start its ranks in another folder.
            place = ["-C", str(self.folder)] if self.folder is not None else []
            return self.runner.start(
                self._program(variables, *place),
                ranks=self.ranks,
                hosts=self.hosts,
                environment=settings,
                limit_s=limit_s,
            )
        return Started(
            self.command(variables),
            timeout_s=limit_s,
            environment=settings,
            folder=self.folder,
        )

    def _program(self, variables: Mapping[str, str], *place: str) -> list[str]:
        """Let ``env`` set variables: a recorder in the launcher would load MPI there.

        Libraries that the user preloads come behind the recorder.
        """
        before = os.environ.get("LD_PRELOAD")
        pairs = [
            f"{name}={text}:{before}"
            if before and name == "LD_PRELOAD"
            else f"{name}={text}"
            for name, text in variables.items()
        ]
        return ["env", *place, *pairs, *self.launch.program]


@dataclass(frozen=True, slots=True, eq=False)
class WantedOccurrence:
    """An occurrence of a phase that is to be measured.

    Attributes
    ----------
    phase : int
        Its number in the signature, from 1.
    occurrence : int
        Among the occurrences of its phase, from 0.
    begin, end : (ranks,) int64 arrays
        Event counts of each rank, as `skelgen.phases.counts` defines them.
    warm : (ranks,) int64 array
        Where a checkpoint is taken: the begin of an occurrence before it, so that
        caches are warm when it begins.
    calls : tuple of str
        MPI functions of the phase on the smallest rank that takes part.
    """

    phase: int
    occurrence: int
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    warm: NDArray[np.int64]
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """An occurrence that was measured.

    Attributes
    ----------
    phase, occurrence : int
        As in `WantedOccurrence`.
    time_s : float
        Mean of the ranks [s]: from the end of the last call before it to that of the
        last call in it.
    """

    phase: int
    occurrence: int
    time_s: float


@dataclass(frozen=True, slots=True)
class BackendProbe:
    """Whether a backend works here.

    Attributes
    ----------
    works : bool
    text : str
        One line: what was found, or why it does not work and what helps.
    """

    works: bool
    text: str


class Session(Protocol):
    """An application that is under way to its phases."""

    @property
    def probes_s(self) -> tuple[tuple[float, ...], ...]:
        """Return how long a fixed piece of arithmetic took between them [s].

        For each rank, in their order; empty where nothing was probed.
        """

    def request(self, wanted: WantedOccurrence) -> None:
        """Wait until an occurrence can be restored: was measured, or has an image.

        Called for each that was given to `Backend.launch`, in their order.

        Raises
        ------
        ApplicationError
            When a rank dies, the application ends before, or the time is over.
        """

    def restore(self, wanted: WantedOccurrence) -> Measured:
        """Measure an occurrence that was requested; may be called again.

        A backend without images returns what was measured in passing.
        """

    def stop(self) -> None:
        """End all that still runs and remove what was written; does no harm twice."""


class Backend(Protocol):
    """A way to execute the phases of an application."""

    name: ClassVar[str]

    def probe(self, application: Application) -> BackendProbe:
        """Find out whether it works for an application here, in a second or two."""

    def launch(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        *,
        limit_s: float,
    ) -> Session:
        """Start the application under the recorder.

        Parameters
        ----------
        application : Application
        wanted : sequence of WantedOccurrence
            In the order of the run.
        limit_s : float
            Longest time until the last of them [s].

        Raises
        ------
        MachineError
            When it cannot be started.
        """
